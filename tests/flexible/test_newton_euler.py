"""The recursion with links as joints against the explicit equations, and its size."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.dynamics.newton_euler.aba import forward_dynamics
from gdalembert.dynamics.newton_euler.crba import mass_matrix
from gdalembert.dynamics.newton_euler.rnea import inverse_dynamics
from gdalembert.flexible.reference import cetinkunt_book_1988 as explicit
from gdalembert.flexible.tree import FlexibleTree, flexible_tree, regrouped
from gdalembert.model.joints import Revolute
from gdalembert.spatial.functions import function, symbols
from tests.helpers.arms import CASES, QUICK_CASES, Arm, assembly, case, row_of_links, state
from tests.helpers.models import relative_error
from tests.helpers.reference_arms import rigid_model
from tests.helpers.sets import quick

TIGHT = 1e-12


def tree_of(robot: Arm) -> FlexibleTree:
    return regrouped(flexible_tree(assembly(robot.links, robot.gravity)))


@pytest.mark.parametrize("shortening", [False, True])
@pytest.mark.parametrize("name", quick(CASES, *QUICK_CASES))
def test_explicit(name: str, shortening: bool) -> None:
    """tau = M a + V + G, M, and a of tau; at f = 0 as well, and next to it."""
    robot = case(name, shortening=shortening)
    tree = tree_of(robot)
    q, v, a = ca.SX.sym("q", robot.nq), ca.SX.sym("v", robot.nv), ca.SX.sym("a", robot.nv)
    m = explicit.mass_matrix(robot.links, q)
    bias = explicit.coriolis_vector(robot.links, q, v) + explicit.gravity_vector(robot.links, robot.gravity, q)
    found = [inverse_dynamics(tree, q, v, a), mass_matrix(tree, q)]
    both = ca.Function("both", [q, v, a], [*found, m @ a + bias, m])
    forward = ca.Function("forward", [q, v, a], [forward_dynamics(tree, q, v, a)])
    for seed, size in ((1, 1.0), (2, 1.0), (3, 1e-9), (4, 0.0)):
        x, rate, acceleration = state(robot, seed)
        x = np.where(robot.modal, size * x, x)
        tau, mass, true_tau, true_mass = both(robot.configuration(x), rate, acceleration)
        assert relative_error(tau.full(), true_tau.full()) < TIGHT
        assert relative_error(mass.full(), true_mass.full()) < TIGHT
        assert np.array_equal(mass.full(), mass.full().T)
        # a can lose as many digits as M has in its condition number
        conditioned = max(TIGHT, 1e-15 * np.linalg.cond(true_mass.full()))
        solved = forward(robot.configuration(x), rate, tau).full().ravel()
        assert relative_error(solved, acceleration) < conditioned


@pytest.mark.parametrize("name", CASES)
def test_mass_on_an_axis_has_gone_to_the_parent(name: str) -> None:
    """Of a link on a revolute joint about z, m, m z and m z² are zero, whatever it carries on its root."""
    robot = case(name)
    given = flexible_tree(assembly(robot.links, robot.gravity))
    found = regrouped(given)
    for tree in (found, given):
        for k, link in enumerate(robot.links):
            on_axis = tree.joints[tree.links[k]].pseudo_inertia[2:, 2:]
            assert on_axis.any() == (tree is given or not isinstance(link.type, Revolute))


@pytest.mark.parametrize("name", quick(CASES, *QUICK_CASES))
def test_rigid_limit(name: str) -> None:
    """At f = 0 the joints' blocks are those of the rigid robot."""
    robot = case(name, seed=1)
    model, where = rigid_model(robot)
    data = model.createData()
    x, v, a = (np.where(robot.modal, 0, part) for part in state(robot, 1))
    tree, q = tree_of(robot), ca.DM(robot.configuration(x))
    tau = inverse_dynamics(tree, q, ca.DM(v), ca.DM(a)).full().ravel()
    assert relative_error(tau[where], pin.rnea(model, data, x[where], v[where], a[where])) < TIGHT
    mass = mass_matrix(tree, q).full()
    rest = np.zeros(model.nv)  # not crba: the joints are not depth first
    weight = pin.rnea(model, data, x[where], rest, rest).copy()
    columns = [pin.rnea(model, data, x[where], rest, unit) - weight for unit in np.eye(model.nv)]
    assert relative_error(mass[np.ix_(where, where)], np.array(columns)) < TIGHT


@pytest.mark.parametrize("name", quick(CASES, *QUICK_CASES))
def test_gravity_is_the_slope_of_its_energy(name: str) -> None:
    robot = case(name, shortening=True)
    whole = flexible_tree(assembly(robot.links, robot.gravity))
    tree = regrouped(whole)
    q, rest = ca.SX.sym("q", robot.nq), ca.DM(robot.nv, 1)
    energy = -ca.dot(ca.DM(robot.gravity), whole.first_moment(q))
    v = ca.SX.sym("v", robot.nv)
    slope = ca.jtimes(energy, q, whole.configuration_rate(q, v))
    both = ca.Function("both", [q, v], [slope, ca.dot(inverse_dynamics(tree, q, rest, rest), v)])
    x, rate, _ = state(robot, 5)
    found, true = both(robot.configuration(x), rate)
    assert relative_error(found.full(), true.full()) < TIGHT


def sizes(number: int) -> dict[str, int]:
    links = row_of_links(number)
    nv = 5 * number
    tree = regrouped(flexible_tree(assembly(links, np.array([0, 0, -9.81]))))
    s = symbols(q=nv, v=nv, a=nv)
    q, v, a = s.values()
    graphs = {
        "tau": inverse_dynamics(tree, q, v, a),
        "M": mass_matrix(tree, q),
        "a": forward_dynamics(tree, q, v, a),
    }
    return {name: function(name, s, {f"{name}_": graph}).n_instructions() for name, graph in graphs.items()}


@pytest.mark.long
def test_sizes() -> None:
    """Four modes a link: what the project promises, and linear growth."""
    counts = {number: sizes(number) for number in (2, 3, 4)}
    assert counts[3]["M"] <= 3800
    for name, most in (("tau", 1200), ("a", 3400)):
        steps = [counts[3][name] - counts[2][name], counts[4][name] - counts[3][name]]
        assert max(steps) <= most
        assert abs(steps[1] - steps[0]) <= 0.05 * steps[0]
        assert counts[4][name] <= 4 * most
