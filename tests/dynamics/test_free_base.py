"""Derivatives of forward dynamics where nothing holds the base: what is known of them, with wrenches and forces too."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.equations_of_motion import FreeBases
from gdalembert.dynamics.forces import Force
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.spatial.algebra import Matrix
from tests.dynamics.test_derivatives import EXACT, call
from tests.helpers.models import build, relative_error, states
from tests.helpers.sets import quick
from tests.laws.cases import Case, Joint
from tests.laws.laws import DIFFERENCED, jacobian
from tests.laws.machine import check

mostly_newton_euler = pytest.mark.parametrize("name", quick(sorted(gd.formulations()), "newton_euler"))


def free_robot() -> pin.Model:
    """Two limbs on a base that nothing holds."""
    model = build(np.random.default_rng(0), ["FreeFlyer", "RX", "PY"], [0, 1, 1])
    model.armature = np.concatenate([np.zeros(6), model.armature[6:]])
    return model


class Drag(Force):
    """A force element that holds the base: it feels its pose and its velocity."""

    name = "drag"

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        return ca.vertcat(0.3 * v[:6] + 0.2 * q[:6] * q[1], 0.1 * v[6:])


@pytest.mark.long
@mostly_newton_euler
def test_derivatives_with_forces_on_the_base(name: str) -> None:
    model = free_robot()
    dyn = gd.formulations()[name](model, clean=0, forces=[Drag()])
    q, v, tau = states(model, np.random.default_rng(3), 1)[0]
    da_dq, da_dv, _ = call(dyn.forward_dynamics_derivatives, q, v, tau)
    forward = dyn.forward_dynamics
    moved = jacobian(lambda d: forward(pin.integrate(model, q, d), v, tau).full().ravel(), model.nv)
    assert relative_error(da_dq, moved) < DIFFERENCED
    assert relative_error(da_dv, jacobian(lambda d: forward(q, v + d, tau).full().ravel(), model.nv)) < DIFFERENCED


def test_what_does_not_depend_on_the_base_is_zero_to_the_bit() -> None:
    model = free_robot()
    q, v, tau = states(model, np.random.default_rng(4), 1)[0]
    da_dq, da_dv, _ = call(gd.NewtonEuler(model).forward_dynamics_derivatives, q, v, tau)
    assert not da_dq[:, :3].any()
    assert not da_dq[3:, :6].any()
    assert not da_dv[3:, :3].any()
    rotation = model.jointPlacements[1].rotation @ pin.Quaternion(q[3:7]).toRotationMatrix()
    assert relative_error(da_dq[:3, 3:6], pin.skew(rotation.T @ model.gravity.linear)) < EXACT
    assert relative_error(da_dv[:3, :3], -pin.skew(v[3:6])) < EXACT


@pytest.mark.long
def test_which_bases_are_free() -> None:
    held = build(np.random.default_rng(1), ["RX", "FreeFlyer"], [0, 1])
    heavy = build(np.random.default_rng(1), ["FreeFlyer", "RX"], [0, 1])
    two = build(np.random.default_rng(1), ["FreeFlyer", "RX", "FreeFlyer"], [0, 1, 0])
    two.armature = np.zeros(two.nv)
    assert [len(FreeBases(read_tree(model)).joints) for model in (free_robot(), held, heavy, two)] == [1, 0, 0, 2]
    check(Case((Joint("FreeFlyer", 0), Joint("RX", 1, 0), Joint("FreeFlyer", 2)), "newton_euler"), "derivatives")
