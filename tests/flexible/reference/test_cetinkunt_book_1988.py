"""The explicit equations against Lagrange's equations of clouds of mass points, and rigid robots in Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert.flexible.reference.cetinkunt_book_1988 import coriolis_vector, gravity_vector, mass_matrix
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.spatial.arrays import Array
from tests.helpers.arms import BY_EXACTNESS, CASES, KINEMATICS, QUICK_CASES, Arm, LinkModel, arm, case, state, tree_of
from tests.helpers.models import relative_error
from tests.helpers.reference_arms import lagrange, rigid_model
from tests.helpers.sets import quick

TIGHT = 1e-12


def explicit(robot: Arm, x: Array, v: Array, exact: bool) -> tuple[Array, Array, Array]:
    """M, V, G at nv coordinates x."""
    tree, q = tree_of(robot.links, robot.gravity, BY_EXACTNESS[exact]), ca.DM(robot.configuration(x))
    return (
        mass_matrix(tree, q).full(),
        coriolis_vector(tree, q, ca.DM(v)).full().ravel(),
        gravity_vector(tree, q).full().ravel(),
    )


@pytest.mark.parametrize(("exact", "shortening"), KINEMATICS)
@pytest.mark.parametrize("name", quick(CASES, *QUICK_CASES))
def test_lagrange(name: str, exact: bool, shortening: bool) -> None:
    robot = case(name, shortening=shortening)
    reference = lagrange(robot, exact=exact)
    for seed in (1, 2):
        x, v, _ = state(robot, seed)
        values = explicit(robot, x, v, exact)
        for value, expected in zip(values, reference.evaluated(x, v), strict=True):
            assert relative_error(value, expected) < TIGHT
        m, _, _ = values
        assert relative_error(0.5 * v @ m @ v, float(reference.energy(x, v))) < TIGHT
        assert relative_error(m, m.T) < 1e-14
        assert np.linalg.eigvalsh(m)[0] > 0


@pytest.mark.parametrize(("exact", "shortening"), KINEMATICS)
@pytest.mark.parametrize("name", quick(CASES, "two planar"))
def test_rigid_limit(name: str, exact: bool, shortening: bool) -> None:
    """At f = 0, ḟ = 0 the joints feel what those of the rigid robot feel; without modes that is all there is."""
    robot = case(name, shortening=shortening, seed=1)
    model, where = rigid_model(robot)
    x, v, _ = state(robot, 1)
    x, v = np.where(robot.modal, 0, x), np.where(robot.modal, 0, v)
    m, c, g = explicit(robot, x, v, exact)
    q, data = x[where], model.createData()
    expected_g = pin.computeGeneralizedGravity(model, data, q).copy()
    # not by crba, which takes for granted that joints were added depth first
    columns = [pin.rnea(model, data, q, 0 * q, unit) - expected_g for unit in np.eye(model.nv)]
    assert relative_error(m[np.ix_(where, where)], columns) < TIGHT
    assert relative_error((c + g)[where], pin.nonLinearEffects(model, data, q, v[where])) < TIGHT
    assert relative_error(g[where], expected_g) < TIGHT


@pytest.mark.long
@pytest.mark.parametrize("name", ["two planar", "two spatial"])
def test_foreshortening_to_leading_order(name: str) -> None:
    """Against points that shorten by s itself, the rows of the modes are wrong by O(f²), those of the joints by O(f³).

    Without any shortening both are wrong by one order more: that is what foreshortening is for.
    """
    robot = case(name, shortening=True)
    reference = lagrange(case(name, shortening=True, fit=False), exact=True)
    without = replace(robot, links=tuple(unshortened(link) for link in robot.links))
    x, v, a = state(robot, 1, size=1.0)

    def differences(other: Arm, size: float) -> tuple[float, float]:
        """Of the joints and of the modes, at modal coordinates, rates and accelerations of the given size."""
        scale = np.where(robot.modal, size, 1.0)
        taus = [
            m @ (scale * a) + c + g
            for m, c, g in (explicit(other, scale * x, scale * v, True), reference.evaluated(scale * x, scale * v))
        ]
        difference = np.abs(taus[0] - taus[1])
        return float(difference[~robot.modal].max()), float(difference[robot.modal].max())

    orders = {
        label: [np.log2(b / c) for b, c in zip(differences(other, 2e-3), differences(other, 1e-3), strict=True)]
        for label, other in (("fit", robot), ("without", without))
    }
    np.testing.assert_allclose(orders["fit"], [3, 2], atol=0.1)
    np.testing.assert_allclose(orders["without"], [2, 1], atol=0.1)


def unshortened(link: LinkModel) -> LinkModel:
    n, inertia = link.inertia.modes, link.inertia
    linear = ModalInertia(
        inertia.rigid, inertia.first[:n], inertia.second[:n, :n], np.zeros((0, n, n)), inertia.stiffness
    )
    stations = tuple(replace(s, shortening=0 * s.shortening) for s in link.stations)
    return replace(link, inertia=linear, stations=stations)


def test_arguments_of_every_kind() -> None:
    """Numbers, SX and MX give the same; (cos, sin) need not be a symbol of its own."""
    robot = arm(0, ["continuous", "revolute"], [2, 1])
    tree = tree_of(robot.links, robot.gravity)
    x, v, _ = state(robot, 1)
    expected = explicit(robot, x, v, True)
    for kind in (ca.SX, ca.MX):
        q, rate = kind.sym("q", robot.nq), kind.sym("v", robot.nv)
        outputs = [
            mass_matrix(tree, q),
            coriolis_vector(tree, q, rate),
            gravity_vector(tree, q),
        ]
        values = ca.Function("explicit", [q, rate], outputs)(robot.configuration(x), v)
        for value, reference in zip(values, expected, strict=True):
            assert relative_error(value.full(), reference.reshape(value.shape)) < TIGHT
