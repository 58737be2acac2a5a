"""Articulated bodies, beside locked ones and beside the elimination of the mass matrix."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import spatial
from gdalembert.dynamics import recursive_newton_euler as newton_euler
from gdalembert.dynamics.newton_euler.aba import Articulated
from gdalembert.dynamics.newton_euler.crba import Composite
from gdalembert.dynamics.newton_euler.links import Link
from gdalembert.dynamics.newton_euler.rotations import NO_TURN, Full
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.spatial.spatial_vectors import Motion
from tests.helpers.models import JOINTS, QUICK_JOINTS, build, placement, relative_error, states
from tests.helpers.newton_euler import Array
from tests.helpers.sets import quick


def test_locked_bodies_are_articulated_bodies_that_do_not_give_way() -> None:
    """Both are carried to the parent alike, and ask for the same wrench."""
    rng = np.random.default_rng(10)
    joint = read_tree(build(rng, ["RX"], [0])).joints[0]
    at = placement(rng)
    link = Link(
        joint,
        NO_TURN,
        Full(ca.DM(at.rotation)),
        ca.DM(at.translation),
        Motion(0, 0),
        1.0,
        NO_TURN,
        0.0,
        ca.DM(3, 1),
        ca.DM(3, 3),
    )
    points, masses = rng.normal(size=(3, 4)), rng.uniform(1, 2, size=4)

    def both(x: Array) -> tuple[Composite, Articulated]:
        first, second = ca.DM(x @ masses), ca.DM(x @ np.diag(masses) @ x.T)
        return Composite(masses.sum(), first, second), Articulated(
            masses.sum() * ca.DM.eye(3), -ca.skew(first), spatial.inertia_of(second)
        )

    composite, articulated = both(points)
    above_composite, above_articulated = both(at.rotation @ points + at.translation[:, None])
    for found, truth in ((composite.to_parent(link), above_composite), (composite + composite, None)):
        expected = truth or Composite(2 * composite.mass, 2 * composite.first, 2 * composite.second)
        assert found.mass == pytest.approx(expected.mass)
        assert relative_error(found.first, expected.first.full()) < 1e-14
        assert relative_error(found.second, expected.second.full()) < 1e-14
    moved = articulated.to_parent(link)
    for part in ("linear", "coupling", "angular"):
        assert relative_error(getattr(moved, part), getattr(above_articulated, part).full()) < 1e-14
    e = Motion(ca.DM(rng.normal(size=(3, 2))), ca.DM(rng.normal(size=(3, 2))))
    one, other = composite.wrench(e), articulated.wrench(e.linear, e.angular)
    assert relative_error(one.force, other.force.full()) < 1e-14
    assert relative_error(one.moment, other.moment.full()) < 1e-14


@pytest.mark.parametrize("joint", quick(sorted(JOINTS), *QUICK_JOINTS))
def test_articulated_bodies_and_elimination_agree(joint: str) -> None:
    model = build(np.random.default_rng(11), ["RX", joint, "RevoluteUnaligned", joint, "RY"], [0, 1, 2, 2, 4])
    dyn = gd.NewtonEuler(model, clean=0)
    s = [ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv), ca.SX.sym("tau", model.nv)]
    ways = newton_euler.forward_dynamics(dyn._prepared[0], *s), gd.Dynamics.forward_dynamics_expression(dyn, *s)
    both = ca.Function("both", s, ways)
    for q, v, a in states(model, np.random.default_rng(12), 2):
        tau = pin.rnea(model, model.createData(), q, v, a)
        articulated, eliminated = (x.full().ravel() for x in both(q, v, tau))
        conditioned = max(1e-12, 1e-15 * np.linalg.cond(dyn.mass_matrix(q).full()))
        assert relative_error(articulated, a) < conditioned
        assert relative_error(eliminated, a) < conditioned
