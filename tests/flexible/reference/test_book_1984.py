"""The 4 × 4 recursion against the explicit equations, and its size."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from gdalembert.flexible.reference.book_1984 import inverse_dynamics
from gdalembert.flexible.reference.cetinkunt_book_1988 import coriolis_vector, gravity_vector, mass_matrix
from tests.helpers.arms import BY_EXACTNESS, CASES, KINEMATICS, case, row_of_links, state, tree_of
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

TIGHT = 1e-12


@pytest.mark.parametrize(("exact", "shortening"), [*KINEMATICS, (False, True)])
@pytest.mark.parametrize("name", quick(CASES, "one spatial"))
def test_explicit(name: str, exact: bool, shortening: bool) -> None:
    """tau = M a + V + G; at f = 0 as well, and next to it."""
    robot = case(name, shortening=shortening)
    tree = tree_of(robot.links, robot.gravity, BY_EXACTNESS[exact])
    q, v, a = ca.SX.sym("q", robot.nq), ca.SX.sym("v", robot.nv), ca.SX.sym("a", robot.nv)
    explicit = mass_matrix(tree, q) @ a + coriolis_vector(tree, q, v) + gravity_vector(tree, q)
    tau = inverse_dynamics(tree, q, v, a)
    both = ca.Function("both", [q, v, a], [tau, explicit])
    for seed, size in ((1, 1.0), (2, 1.0), (3, 1e-9), (4, 0.0)):
        x, rate, acceleration = state(robot, seed)
        x = np.where(robot.modal, size * x, x)
        value, expected = both(robot.configuration(x), rate, acceleration)
        assert relative_error(value.full(), expected.full()) < TIGHT


@pytest.mark.parametrize("exact", [True, False])
def test_derivative_at_rest(exact: bool) -> None:
    """d tau / dq at f = 0, where a linearisation starts, against differences of the fourth order (which allow 1e-9)."""
    robot = case("two spatial", shortening=exact)
    tree = tree_of(robot.links, robot.gravity, BY_EXACTNESS[exact])
    q, v, a = ca.SX.sym("q", robot.nq), ca.SX.sym("v", robot.nv), ca.SX.sym("a", robot.nv)
    tau = inverse_dynamics(tree, q, v, a)
    both = ca.Function("both", [q, v, a], [tau, ca.jacobian(tau, q)])
    x, rate, acceleration = state(robot, 1)
    rest, h = np.where(robot.modal, 0, x), 1e-3
    weights = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
    differences = [
        sum(w * both(rest + k * h * unit, rate, acceleration)[0].full().ravel() for k, w in weights.items()) / h
        for unit in np.eye(robot.nq)
    ]
    _, jacobian = both(rest, rate, acceleration)
    assert relative_error(jacobian.full(), np.transpose(differences)) < 1e-9


@pytest.mark.parametrize(("exact", "most"), [(True, 1400), (False, 1100)])
def test_linear_in_the_number_of_links(exact: bool, most: int) -> None:
    """Instructions for one more link, four modes each, axes alternately z and y."""

    def size(links: int) -> int:
        row = row_of_links(links)
        nv = 5 * links
        x = [ca.SX.sym(name, nv) for name in "qva"]
        tau = ca.densify(inverse_dynamics(tree_of(row, np.array([0, 0, -9.81]), BY_EXACTNESS[exact]), *x))
        return int(ca.Function("tau", x, ca.cse([tau])).n_instructions())

    sizes = [size(links) for links in (2, 3, 4, 6)]
    assert max(sizes[1] - sizes[0], sizes[2] - sizes[1], (sizes[3] - sizes[2]) / 2) < most
