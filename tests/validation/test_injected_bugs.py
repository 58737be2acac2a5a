"""Bugs that are easily made, or easily missed: whether they are found, and what is said of them.

With those of ``test_diagnosis`` they are 70, of which 69 are found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.spatial.functions import function
from gdalembert.validation.validate import validate
from tests.helpers.models import build
from tests.helpers.sets import quick
from tests.helpers.torque_functions import PUMA, TRUE, Array, Broken, Torque, rnea
from tests.validation.test_diagnosis import BROKEN, WRONG

DYNAMICS = gd.NewtonEuler(PUMA)
LEG = build(np.random.default_rng(8), ["FreeFlyer"] + ["RX", "RY", "RZ"] * 2, [0, 1, 2, 3, 1, 5, 6])
"""A base with two legs, of which the second one is wrong."""


class TwiceTheDerivatives(Broken):
    @cached_property
    def inverse_dynamics_derivatives(self) -> ca.Function:
        s = self.symbols("q", "v", "a")
        dtau_dq, dtau_dv = super().inverse_dynamics_derivatives(*s.values())
        return function("derivatives", s, {"dtau_dq": 2 * dtau_dq, "dtau_dv": dtau_dv})


class AccelerationDerivatives(Broken):
    """With the wrong sign."""

    @cached_property
    def forward_dynamics_derivatives(self) -> ca.Function:
        s = self.symbols("q", "v", "tau")
        da_dq, da_dv, inverse = super().forward_dynamics_derivatives(*s.values())
        return function("derivatives", s, {"da_dq": da_dq, "da_dv": -da_dv, "Minv": inverse})


class InverseOfDerivatives(Broken):
    @cached_property
    def forward_dynamics_derivatives(self) -> ca.Function:
        s = self.symbols("q", "v", "tau")
        da_dq, da_dv, inverse = super().forward_dynamics_derivatives(*s.values())
        inverse[0, 1] *= 1.001
        return function("derivatives", s, {"da_dq": da_dq, "da_dv": da_dv, "Minv": inverse})


def where(is_wrong: Callable[[Array, Array], Any], factor: float = 1.5) -> Torque:
    """Wrong by a factor at some states alone."""
    return lambda q, v, a: TRUE(q, v, a) * (factor if is_wrong(q, v) else 1.0)


def near_pi(angle: float) -> Torque:
    return where(lambda q, v: abs(abs(q[1]) - np.pi) < angle)


def not_a_number_once() -> Torque:
    calls = iter(range(10**6))
    return lambda q, v, a: TRUE(q, v, a) * (np.nan if next(calls) == 300 else 1.0)


def of_model(model: pin.Model, change: Callable[[pin.Model], None]) -> Torque:
    other = model.copy()
    change(other)
    return rnea(other)


def transposed(model: pin.Model) -> None:
    model.jointPlacements[2].rotation = model.jointPlacements[2].rotation.T.copy()


def without_lever(model: pin.Model) -> None:
    model.inertias[7].lever = np.zeros(3)


def product_of_inertia(model: pin.Model) -> None:
    inertia = model.inertias[3].inertia.copy()
    inertia[0, 1] = inertia[1, 0] = inertia[0, 1] + 1e-3
    model.inertias[3] = pin.Inertia(model.inertias[3].mass, model.inertias[3].lever, inertia)


def without_gyration(q: Array, v: Array, a: Array) -> Array:
    """ω × q̇ is left out at the end of the second leg: the velocity terms are those of a joint that stands still."""
    tau, index = TRUE_LEG(q, v, a), LEG.idx_vs[7]
    still = v * (np.arange(LEG.nv) != index)
    zero = np.zeros(LEG.nv)
    return tau - TRUE_LEG(q, v, zero) + TRUE_LEG(q, still, zero)


TRUE_LEG = rnea(LEG)


def as_wxyz(q: Array, v: Array, a: Array) -> Array:
    return TRUE_LEG(np.concatenate([q[:3], q[[4, 5, 6, 3]], q[7:]]), v, a)


def in_order_twice(q: Array, v: Array, a: Array) -> Array:
    """As if (w, x, y, z) were given."""
    return TRUE_LEG(np.concatenate([q[:3], q[[6, 3, 4, 5]], q[7:]]), v, a)


def classical(q: Array, v: Array, a: Array) -> Array:
    return TRUE_LEG(q, v, a - np.concatenate([np.cross(v[3:6], v[:3]), np.zeros(LEG.nv - 3)]))


def transposed_coriolis(q: Array, v: Array, a: Array) -> Array:
    c = DYNAMICS.coriolis_matrix(q, v).full()
    return TRUE(q, v, a) + (c.T - c) @ v


@dataclass(frozen=True)
class Bug:
    """A wrong system, its model, and how the first sentence about it begins."""

    system: Any
    sentence: str
    model: pin.Model = PUMA


BUGS: dict[str, Bug] = {
    "fast": Bug(where(lambda q, v: abs(v).max() > 10), "tau is not linear"),
    "very fast": Bug(where(lambda q, v: abs(v).max() > 100), "tau is not linear"),
    "near pi": Bug(near_pi(0.1), "mass matrix is wrong at 'joint6' × 'joint6'"),
    "at pi": Bug(near_pi(0.001), "mass matrix is wrong at 'joint6' × 'joint6'"),
    "at zero": Bug(where(lambda q, v: not q.any()), "mass matrix is wrong at 'joint6' × 'joint6'"),
    "near zero": Bug(where(lambda q, v: abs(q).max() < 0.05), "mass matrix is wrong at 'joint6' × 'joint6'"),
    "small angle": Bug(where(lambda q, v: abs(q[1]) < 1e-3, 1 + 1e-6), "differences are small"),
    "derivatives": Bug(
        TwiceTheDerivatives(PUMA), "inverse_dynamics_derivatives are not the derivatives of inverse_dynamics"
    ),
    "derivatives of a": Bug(AccelerationDerivatives(PUMA), "forward_dynamics_derivatives are not −M⁻¹ times"),
    "inverse beside derivatives": Bug(InverseOfDerivatives(PUMA), "forward_dynamics_derivatives are not −M⁻¹ times"),
    "transposed frame": Bug(
        of_model(PUMA, transposed), "the rotation of the joint frame of 'joint2' in its parent is transposed"
    ),
    "transposed C": Bug(transposed_coriolis, "velocity terms are Cᵀ v: the Coriolis matrix is transposed"),
    "v and a exchanged": Bug(lambda q, v, a: TRUE(q, a, v), "v and a are exchanged"),
    "not a number once": Bug(not_a_number_once(), "mass matrix is not finite"),
    "degrees": Bug(lambda q, v, a: TRUE(np.deg2rad(q), v, a), "angles are read in degrees"),
    "sign of q": Bug(lambda q, v, a: TRUE(q * [1, 1, -1, 1, 1, 1], v, a), "q of joint 'joint3' has the opposite sign"),
    "offset of q": Bug(lambda q, v, a: TRUE(q + 0.1 * np.eye(6)[2], v, a), "q is zero in another configuration"),
    "q clipped": Bug(lambda q, v, a: TRUE(np.clip(q, -2, 2), v, a), "mass matrix is wrong at"),
    "one velocity product": Bug(
        lambda q, v, a: TRUE(q, v, a) + 0.01 * v[0] * v[1] * np.eye(6)[3], "velocity terms are wrong at joint 'joint4'"
    ),
    "product of inertia": Bug(of_model(PUMA, product_of_inertia), "mass matrix is wrong at 'joint1' × 'joint1'"),
    "order of a quaternion": Bug(
        as_wxyz, "the quaternion (x, y, z, w) of joint 'FreeFlyer_0' is read as (w, x, y, z)", LEG
    ),
    "a quaternion in order twice": Bug(
        in_order_twice, "the quaternion (x, y, z, w) of joint 'FreeFlyer_0' is read as (y, z, w, x)", LEG
    ),
    "v × ω of the base": Bug(classical, "ω × v of the free-flyer 'FreeFlyer_0' is left out", LEG),
    "relative error 1e-10": Bug(where(lambda q, v: True, 1 + 1e-10), "", PUMA),
}
MISSED = {"relative error 1e-10"}
"""Cleaned constants may have that effect."""


def test_70_of_71_bugs_are_found() -> None:
    assert len(WRONG) + len(BROKEN) + len(BUGS) == 71
    assert len(MISSED) == 1


@pytest.mark.parametrize("name", quick(BUGS, "fast", "at pi", "transposed C", "order of a quaternion"))
def test_bugs_are_found_and_named(name: str) -> None:
    bug = BUGS[name]
    report = validate(bug.system, bug.model, samples=200)
    assert report.ok == (name in MISSED)
    if name not in MISSED:
        assert report.diagnosis[0].startswith(bug.sentence)


def test_entries_of_one_joint_are_not_explained_apart() -> None:
    """In world axes, some entries of the base's torque lack gravity, which is not what is wrong."""

    def in_world_axes(q: Array, v: Array, a: Array) -> Array:
        tau, rotation = TRUE_LEG(q, v, a), pin.Quaternion(q[6], q[3], q[4], q[5]).toRotationMatrix()
        return np.concatenate([rotation @ tau[:3], rotation @ tau[3:6], tau[6:]])

    report = validate(in_world_axes, LEG, samples=40)
    assert not report.ok
    assert not any("missing" in sentence or "opposite" in sentence for sentence in report.diagnosis)


@pytest.mark.parametrize(
    ("wrong", "joints"),
    [(of_model(LEG, without_lever), "'RZ_6', 'RY_5', 'RX_4'"), (without_gyration, "'RY_5', 'RX_4', 'FreeFlyer_0[5]'")],
    ids=["lever", "gyration"],
)
def test_the_outermost_joint_comes_first(wrong: Torque, joints: str) -> None:
    """It is the one where the error is made (or its parent: ω × q̇ has no moment about its own axis)."""
    report = validate(wrong, LEG, samples=40)
    velocity = next(sentence for sentence in report.diagnosis if sentence.startswith("velocity terms are wrong"))
    assert velocity.startswith(f"velocity terms are wrong at joint {joints}")
