"""The sentences about what is wrong, for torque functions and for formulations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import function
from gdalembert.validation.validate import validate
from tests.helpers.models import build
from tests.helpers.sets import quick
from tests.helpers.torque_functions import (
    ONE,
    PUMA,
    TRUE,
    ZERO,
    Array,
    Broken,
    Torque,
    changed,
    gravity,
    mimic_model,
    rnea,
    undefined_beyond,
    velocity,
)

ROW = np.zeros((6, 6))
ROW[2, :] = ROW[:, 2] = 0.3
OFF = np.zeros((6, 6))
OFF[1, 4] = 0.3
_FORWARD = {f"forward_dynamics_derivatives ({of})" for of in ("q", "v", "Minv")}
_ALL = ", ".join(f"'joint{k + 1}' ({x:.6g} kg m²)" for k, x in enumerate(PUMA.armature))
_MINUS_3 = ", ".join(f"'joint{k + 1}' (-3 kg m²)" for k in range(6))


def _set(name: str, value: Array) -> Callable[[pin.Model], None]:
    return lambda model: setattr(model, name, value)


def _field(*g: float) -> Callable[[pin.Model], None]:
    return lambda model: setattr(model.gravity, "linear", np.array(g))


def _heavier(model: pin.Model) -> None:
    model.inertias[3].mass *= 1.5


def _moved(model: pin.Model) -> None:
    model.jointPlacements[3].translation += [0.01, 0, 0]


def _centrifugal(q: Array, v: Array) -> Array:
    return np.asarray(sum(velocity(q, v * e) for e in ONE))


WRONG: dict[str, tuple[Torque, set[str], list[str]]] = {
    "armature missing": (
        changed(_set("armature", PUMA.armature * [1, 1, 1, 0, 1, 1])),
        {"tau", "M"},
        ["armature is missing at joint 'joint4' (0.2 kg m²)"],
    ),
    "armature twice": (
        changed(_set("armature", PUMA.armature * [1, 1, 1, 1, 2, 2])),
        {"tau", "M"},
        ["armature is counted twice at joint 'joint5' (0.179 kg m²), 'joint6' (0.193 kg m²)"],
    ),
    "another armature": (
        lambda q, v, a: TRUE(q, v, a) + 0.05 * ONE[4] * a,
        {"tau", "M"},
        ["mass matrix is off by a constant, as if the armature were different, at joint 'joint5' (+0.05 kg m²)"],
    ),
    "gravity sign": (changed(_field(0, 0, 9.81)), {"tau", "g"}, ["gravity has the opposite sign"]),
    "gravity missing": (changed(_field(0, 0, 0)), {"tau", "g"}, ["gravity is missing"]),
    "gravity 9.8": (
        changed(_field(0, 0, -9.8)),
        {"tau", "g"},
        ["gravity acts as in a field of (0, 0, -9.8) m/s²; the model's is (0, 0, -9.81)"],
    ),
    "gravity axis": (
        changed(_field(0, -9.81, 0)),
        {"tau", "g"},
        ["gravity acts as in a field of (0, -9.81, 0) m/s²; the model's is (0, 0, -9.81)"],
    ),
    "gravity sign at one joint": (
        lambda q, v, a: TRUE(q, v, a) - 2 * gravity(q) * ONE[1],
        {"tau", "g"},
        ["gravity has the opposite sign at joint 'joint2'"],
    ),
    "velocity twice": (
        lambda q, v, a: TRUE(q, v, a) + velocity(q, v),
        {"tau", "C v"},
        ["velocity terms are 2 times Pinocchio's"],
    ),
    "velocity missing": (
        lambda q, v, a: TRUE(q, v, a) - velocity(q, v),
        {"tau", "C v"},
        ["velocity terms are missing"],
    ),
    "velocity half at one joint": (
        lambda q, v, a: TRUE(q, v, a) - 0.5 * velocity(q, v) * ONE[2],
        {"tau", "C v"},
        ["velocity terms are 0.5 times Pinocchio's at joint 'joint3'"],
    ),
    "damping": (
        lambda q, v, a: TRUE(q, v, a) + 0.5 * ONE[1] * v,
        {"tau", "C v"},
        [
            "velocity terms contain damping proportional to v, which Pinocchio's rnea does not have, at joint 'joint2' "
            "(0.5)",
        ],
    ),
    "friction": (
        lambda q, v, a: TRUE(q, v, a) + 0.5 * (ONE[1] + ONE[4]) * np.sign(v),
        {"tau", "C v"},
        ["velocity terms are wrong at joint 'joint5', 'joint2'"],
    ),
    "centrifugal alone": (
        lambda q, v, a: TRUE(q, v, a) - velocity(q, v) + _centrifugal(q, v),
        {"tau", "C v"},
        ["velocity terms are the centrifugal terms (v_j²) alone: the products v_j v_k are missing"],
    ),
    "products alone": (
        lambda q, v, a: TRUE(q, v, a) - _centrifugal(q, v),
        {"tau", "C v"},
        ["velocity terms are the products v_j v_k alone: the centrifugal terms (v_j²) are missing"],
    ),
    "mass matrix twice": (
        lambda q, v, a: 2 * TRUE(q, ZERO, a) - gravity(q) + velocity(q, v),
        {"tau", "M"},
        ["mass matrix is 2 times Pinocchio's"],
    ),
    "row of the mass matrix": (
        lambda q, v, a: TRUE(q, v, a) + ROW @ a,
        {"tau", "M"},
        ["mass matrix is wrong in the row and column of joint 'joint3'"],
    ),
    "one entry of the mass matrix": (
        lambda q, v, a: TRUE(q, v, a) + OFF @ a,
        {"tau", "M"},
        ["mass matrix is not symmetric: wrong at 'joint2' × 'joint5', right at the transposed entry"],
    ),
    "another body": (
        changed(_heavier),
        {"tau", "M", "C v", "g"},
        [
            "mass matrix is wrong at 'joint3' × 'joint3', 'joint2' × 'joint3', 'joint1' × 'joint3', "
            "'joint2' × 'joint2', 'joint1' × 'joint2', 'joint1' × 'joint1'",
            "velocity terms are wrong at joint 'joint3', 'joint2', 'joint1'",
            "gravity is wrong at joint 'joint3', 'joint2'",
            "another mass, centre of mass or inertia of the body at joint 'joint3' explains all of it",
        ],
    ),
    "another geometry": (
        changed(_moved),
        {"tau", "M", "C v", "g"},
        [
            "mass matrix is wrong at 'joint2' × 'joint5', 'joint1' × 'joint5', 'joint2' × 'joint4', "
            "'joint1' × 'joint4', 'joint2' × 'joint3', 'joint2' × 'joint2', 'joint1' × 'joint2', 'joint1' × 'joint1'",
            "velocity terms are wrong at joint 'joint5', 'joint4', 'joint3', 'joint2', 'joint1'",
            "gravity is wrong at joint 'joint2'",
        ],
    ),
    "sign of one torque": (
        lambda q, v, a: TRUE(q, v, a) * (1 - 2 * ONE[1]),
        {"tau", "M", "C v", "g"},
        ["tau has the opposite sign at joint 'joint2'"],
    ),
    "other units": (
        lambda q, v, a: 1000 * TRUE(q, v, a),
        {"tau", "M", "C v", "g"},
        ["tau is 1000 times Pinocchio's"],
    ),
    "other order": (
        lambda q, v, a: TRUE(q, v, a)[[0, 2, 1, 3, 4, 5]],
        {"tau", "M", "C v", "g"},
        ["tau is in another order: joint 'joint3' in the place of 'joint2', 'joint2' in the place of 'joint3'"],
    ),
    "not a number": (
        undefined_beyond,
        {"tau", "M", "C v", "g", "tau = M a + C v + g"},
        ["tau at rest is not finite at joint 'joint3', in some states"],
    ),
    "not a number in motion": (
        lambda q, v, a: TRUE(q, v, a) + (np.inf if np.any(v) else 0.0),
        {"tau", "C v", "tau = M a + C v + g"},
        ["velocity terms are not finite at every joint, in some states"],
    ),
    "not linear": (
        lambda q, v, a: TRUE(q, v, a) + 0.1 * ONE[4] * a**2,
        {"tau", "M", "tau = M a + C v + g"},
        ["tau is not linear in a, or its mass matrix depends on v, at joint 'joint5'"],
    ),
    "mass matrix of q and v": (
        lambda q, v, a: TRUE(q, v, a) + 0.1 * ONE[4] * a * v,
        {"tau", "tau = M a + C v + g"},
        ["tau is not linear in a, or its mass matrix depends on v, at joint 'joint5'"],
    ),
    "small": (
        lambda q, v, a: TRUE(q, v, a) + 3e-8,
        {"tau", "g"},
        [
            "differences are small, at most 3.0e-08: due to rounding, or to constants that were cleaned or rounded, "
            "rather than to a wrong formula"
        ],
    ),
    "everything": (
        lambda q, v, a: np.zeros(6),
        {"tau", "M", "C v", "g"},
        ["tau is missing"],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_torques_are_explained(name: str) -> None:
    system, failed, sentences = WRONG[name]
    report = validate(system, PUMA, samples=100)
    assert {check.name for check in report.checks if not check.ok} == failed
    if name != "small":
        assert list(report.diagnosis) == sentences
    else:
        assert report.diagnosis[0].partition(", at most")[0] == "differences are small"


def test_gravity_that_the_model_does_not_have() -> None:
    weightless = PUMA.copy()
    weightless.gravity.linear = np.zeros(3)
    report = validate(TRUE, weightless, samples=20)
    assert report.diagnosis == ("gravity acts as in a field of (0, 0, -9.81) m/s²; the model's is (0, 0, 0)",)


def test_armature_of_a_sliding_joint_is_a_mass() -> None:
    model = build(np.random.default_rng(1), ["PX", "RY"], [0, 1])
    model.armature = np.array([0.5, 0.0])
    without = model.copy()
    without.armature = np.zeros(2)
    report = validate(rnea(without), model, samples=20)
    assert report.diagnosis == ("armature is missing at joint 'PX_0' (0.5 kg)",)


@pytest.mark.long
def test_a_fault_at_few_states_is_explained() -> None:
    """The states of the worst errors are examined, however late they come."""
    report = validate(lambda q, v, a: TRUE(q, v, a) - 2 * gravity(q) * (q[2] > 3), PUMA, samples=2000, seed=1)
    assert not report.ok
    assert report["g"].state.q[2] > 3
    assert report.diagnosis[0].startswith("gravity is wrong at joint 'joint5', 'joint4', 'joint3', 'joint2'")


def test_mimic_models_are_diagnosed() -> None:
    """Without the search for another body, for which Pinocchio has no regressor."""
    model = mimic_model()
    model.inertias[2].lever += [0.1, 0.2, 0.3]
    report = validate(rnea(mimic_model()), model, samples=20)
    assert [sentence.partition(" wrong")[0] for sentence in report.diagnosis] == [
        "mass matrix is",
        "velocity terms are",
        "gravity is",
    ]


@pytest.mark.parametrize("spoil", [lambda tau: tau.astype(np.float32), lambda tau: tau * (1 + 5e-7)])
def test_small_differences_are_called_small(spoil: Callable[[np.ndarray], np.ndarray]) -> None:
    data = PUMA.createData()
    report = validate(lambda q, v, a: spoil(pin.rnea(PUMA, data, q, v, a).copy()), PUMA, samples=20)
    assert not report.ok
    assert len(report.diagnosis) == 1
    assert report.diagnosis[0].startswith("differences are small, at most ")


@pytest.mark.long
def test_joints_in_their_own_places_are_in_no_other_order() -> None:
    """An offset that is small beside the largest torques, but not beside those of every state."""
    data = PUMA.createData()
    report = validate(lambda q, v, a: pin.rnea(PUMA, data, q, v, a) + 5e-5, PUMA, samples=100)
    assert not report.ok
    assert report.diagnosis
    assert not any("another order" in sentence for sentence in report.diagnosis)


class WithoutArmature(Broken):
    @property
    def _armature(self) -> ca.DM:
        return ca.DM(6, 1)

    @property
    def _armature_matrix(self) -> ca.DM:
        return ca.DM(6, 6)


class UpsideDown(Broken):
    def __init__(self, model: pin.Model) -> None:
        super().__init__(model)
        self.tree = dataclasses.replace(self.tree, gravity=-self.tree.gravity)


class WrongGravityFunction(Broken):
    @cached_property
    def generalized_gravity(self) -> ca.Function:
        s = self.symbols("q")
        return function("g", s, {"g": -super().generalized_gravity(s["q"])})


class WrongEntry(Broken):
    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        m = super().mass_matrix_expression(q)
        m[2, 3] *= 2
        m[3, 2] *= 2
        return m


class Asymmetric(Broken):
    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        m = super().mass_matrix_expression(q)
        m[2, 3] += q[1]
        return m


class Indefinite(Broken):
    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        return super().mass_matrix_expression(q) - 3 * ca.DM.eye(6)


class Undefined(Broken):
    @cached_property
    def mass_matrix(self) -> ca.Function:
        s = self.symbols("q")
        return function("mass_matrix", s, {"M": super().mass_matrix(s["q"]) * ca.sqrt(s["q"][0])})


class HalfCoriolis(Broken):
    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return 0.5 * super().coriolis_matrix_expression(q, v)


class OtherCoriolis(Broken):
    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        idle = ca.vertcat(ca.horzcat(v[1], -v[0], ca.DM(1, 4)), ca.DM(5, 6))
        return super().coriolis_matrix_expression(q, v) + idle


class NoBias(Broken):
    def forward_dynamics_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        return ca.solve(self.mass_matrix_expression(q) + self._armature_matrix, tau)


class InverseWithoutArmature(Broken):
    @cached_property
    def mass_matrix_inverse(self) -> ca.Function:
        s = self.symbols("q")
        return function("mass_matrix_inverse", s, {"Minv": ca.inv(self.mass_matrix_expression(s["q"]))})


class KineticWithoutArmature(Broken):
    @cached_property
    def kinetic_energy(self) -> ca.Function:
        s = self.symbols("q", "v")
        return function("kinetic_energy", s, {"kinetic": self.kinetic_energy_expression(s["q"], s["v"])})


class HalfKinetic(Broken):
    def kinetic_energy_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return 0.5 * super().kinetic_energy_expression(q, v) - 0.25 * ca.dot(self._armature, v * v)


class OtherKinetic(Broken):
    def kinetic_energy_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return super().kinetic_energy_expression(q, v) + v[0]


class PotentialDownwards(Broken):
    @cached_property
    def potential_energy(self) -> ca.Function:
        s = self.symbols("q")
        return function("potential_energy", s, {"potential": -super().potential_energy(s["q"])})


class NleWithoutGravity(Broken):
    @cached_property
    def nle(self) -> ca.Function:
        s = self.symbols("q", "v")
        gravity_torque = super().generalized_gravity(s["q"])
        return function("nle", s, {"nle": super().nle(s["q"], s["v"]) - gravity_torque})


class WrongStateDerivative(Broken):
    entry = 1

    @cached_property
    def state_derivative(self) -> ca.Function:
        x, u = ca.SX.sym("x", 12), ca.SX.sym("u", 6)
        xdot = super().state_derivative(x, u)
        xdot[self.entry] *= 2
        return function("state_derivative", {"x": x, "u": u}, {"xdot": xdot})


class WrongStateAcceleration(WrongStateDerivative):
    entry = 7


BROKEN: dict[type[gd.Dynamics], tuple[set[str], list[str]]] = {
    WithoutArmature: (
        {"inverse_dynamics", "mass_matrix", "mass_matrix_inverse", "kinetic_energy", *_FORWARD},
        [
            f"armature is missing at joint {_ALL} (in inverse_dynamics, mass_matrix)",
            "armature is missing (in kinetic_energy)",
        ],
    ),
    UpsideDown: (
        {
            "inverse_dynamics",
            "nle",
            "generalized_gravity",
            "forward_dynamics",
            "state_derivative (a)",
            "potential_energy",
            "forward_dynamics_derivatives (q)",
        },
        [
            "gravity has the opposite sign (in inverse_dynamics, nle, generalized_gravity)",
            "potential energy has the opposite sign (in potential_energy)",
        ],
    ),
    WrongGravityFunction: ({"generalized_gravity"}, ["gravity has the opposite sign (in generalized_gravity)"]),
    WrongEntry: (
        {"mass_matrix", "mass_matrix_inverse", "dM/dt - 2C skew", *_FORWARD},
        ["mass matrix is wrong at 'joint3' × 'joint4' (in mass_matrix)"],
    ),
    Asymmetric: (
        {"mass_matrix", "M symmetric", "dM/dt - 2C skew"},
        ["mass matrix is not symmetric: wrong at 'joint3' × 'joint4', right at the transposed entry (in mass_matrix)"],
    ),
    Indefinite: (
        {"mass_matrix", "mass_matrix_inverse", "M positive definite", *_FORWARD},
        [f"mass matrix is off by a constant, as if the armature were different, at joint {_MINUS_3} (in mass_matrix)"],
    ),
    Undefined: (
        {"mass_matrix", "M symmetric", "M positive definite", "dM/dt - 2C skew"},
        ["mass matrix is not finite at every joint, in some states (in mass_matrix)"],
    ),
    HalfCoriolis: (
        {"coriolis_matrix", "dM/dt - 2C skew"},
        ["velocity terms are 0.5 times Pinocchio's (in coriolis_matrix)"],
    ),
    OtherCoriolis: (
        {"dM/dt - 2C skew"},
        [
            "C v is right but dM/dt − 2C is not skew: C is not the matrix of the trace form (Christoffel "
            "symbols), worst at 'joint1' × 'joint1' (in dM/dt - 2C skew)"
        ],
    ),
    NoBias: (
        {"forward_dynamics", "state_derivative (a)"},
        ["forward_dynamics does not invert inverse_dynamics, which is right, worst at 'joint3' (in forward_dynamics)"],
    ),
    InverseWithoutArmature: (
        {"mass_matrix_inverse"},
        [
            "mass_matrix_inverse is not the inverse of mass_matrix, which is right, worst at 'joint6' × 'joint6' "
            "(in mass_matrix_inverse)"
        ],
    ),
    KineticWithoutArmature: ({"kinetic_energy"}, ["armature is missing (in kinetic_energy)"]),
    HalfKinetic: ({"kinetic_energy"}, ["kinetic energy is 0.5 times Pinocchio's (in kinetic_energy)"]),
    OtherKinetic: (
        {"kinetic_energy"},
        ["kinetic energy is not ½ v·M v, though mass_matrix is right (in kinetic_energy)"],
    ),
    PotentialDownwards: ({"potential_energy"}, ["potential energy has the opposite sign (in potential_energy)"]),
    NleWithoutGravity: ({"nle"}, ["gravity is missing (in nle)"]),
    WrongStateDerivative: (
        {"state_derivative (dq/dt)"},
        ["dq/dt is not the rate of q at the velocity v, worst at 'joint2' (in state_derivative (dq/dt))"],
    ),
    WrongStateAcceleration: (
        {"state_derivative (a)"},
        ["a is wrong, though forward_dynamics is right, worst at 'joint2' (in state_derivative (a))"],
    ),
}


@pytest.mark.parametrize("broken", quick(BROKEN), ids=lambda cls: cls.__name__)
def test_wrong_formulations_are_explained(broken: type[gd.Dynamics]) -> None:
    failed, sentences = BROKEN[broken]
    report = validate(broken(PUMA), PUMA, samples=100)
    assert {check.name for check in report.checks if not check.ok} == failed
    assert list(report.diagnosis) == sentences
