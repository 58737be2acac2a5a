"""The recursion with links as joints: what regrouping leaves of their mass, and its size."""

from __future__ import annotations

import numpy as np
import pytest

from gdalembert.dynamics.newton_euler.aba import forward_dynamics
from gdalembert.dynamics.newton_euler.crba import mass_matrix
from gdalembert.dynamics.newton_euler.rnea import inverse_dynamics
from gdalembert.model.joints import Revolute
from gdalembert.model.regrouping import prepare
from gdalembert.spatial.functions import function, symbols
from tests.helpers.arms import CASES, case, row_of_links, tree_of


@pytest.mark.parametrize("name", CASES)
def test_mass_on_an_axis_has_gone_to_the_parent(name: str) -> None:
    """Of a link on a revolute joint about z, m, m z and m z² are zero, whatever it carries on its root."""
    robot = case(name)
    given = tree_of(robot.links, robot.gravity)
    found = prepare(given)
    for tree in (found, given):
        for k, link in enumerate(robot.links):
            on_axis = tree.joints[tree.links[k]].pseudo_inertia[2:, 2:]
            assert on_axis.any() == (tree is given or not isinstance(link.type, Revolute))


def sizes(number: int) -> dict[str, int]:
    links = row_of_links(number)
    nv = 5 * number
    tree = prepare(tree_of(links, np.array([0, 0, -9.81])))
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
