"""The validator: right formulations pass, and what is wrong with a wrong one is said in words."""

from __future__ import annotations

import dataclasses
import json
import pickle
from collections.abc import Callable
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.dynamics import newton_euler
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, ValidationError
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import function
from gdalembert.testing import assert_valid
from gdalembert.validation.states import batches
from gdalembert.validation.validate import Report, validate
from tests.helpers.models import build

Array = np.ndarray
Torque = Callable[[Array, Array, Array], Array]

PUMA = gd.load_urdf("puma560")
ZERO = np.zeros(6)
ONE = np.eye(6)


def rnea(model: pin.Model) -> Torque:
    data = model.createData()
    return lambda q, v, a: pin.rnea(model, data, q, v, a)


TRUE = rnea(PUMA)


def gravity(q: Array) -> Array:
    return TRUE(q, ZERO, ZERO)


def velocity(q: Array, v: Array) -> Array:
    return TRUE(q, v, ZERO) - gravity(q)


def changed(change: Callable[[pin.Model], None]) -> Torque:
    model = PUMA.copy()
    change(model)
    return rnea(model)


def tree_model(**options: Any) -> pin.Model:
    """A free-flyer with two branches whose joints are not added depth first."""
    names = ["FreeFlyer", "RX", "Spherical", "PY", "RUBZ"]
    return build(np.random.default_rng(3), names, [0, 1, 1, 2, 3], **options)


def mimic_model() -> pin.Model:
    return build(np.random.default_rng(4), ["RX", "PZ"], [0, 1], mimic=1)


# Right ones.


@pytest.mark.parametrize("name", sorted(gd.formulations()))
@pytest.mark.parametrize("clean", [0, 1e-11])
@pytest.mark.parametrize("make", [lambda: PUMA, tree_model, mimic_model], ids=["puma560", "tree", "mimic"])
def test_right_formulations_pass(name: str, clean: float, make: Callable[[], pin.Model]) -> None:
    model = make()
    report = assert_valid(gd.formulations()[name](model, clean=clean), model, samples=100)
    assert report.ok
    assert report.diagnosis == report.not_checked == ()
    assert report.candidate == name
    assert [check.name for check in report.checks] == [
        "inverse_dynamics",
        "mass_matrix",
        "nle",
        "generalized_gravity",
        "coriolis_matrix",
        "forward_dynamics",
        "state_derivative (dq/dt)",
        "state_derivative (a)",
        "kinetic_energy",
        "potential_energy",
        "M symmetric",
        "M positive definite",
        "dM/dt - 2C skew",
    ]
    assert report["nle"].tolerance == (1e-12 if clean == 0 else 1e-9)
    assert report["forward_dynamics"].tolerance == report["state_derivative (a)"].tolerance == 1e-9
    assert report["dM/dt - 2C skew"].tolerance == 1e-11


def test_springs() -> None:
    springs = {"joint2": (30.0, 0.4)}
    dyn = gd.NewtonEuler(PUMA, springs=springs)
    assert assert_valid(dyn, PUMA, samples=50)["potential_energy"].error > 0
    assert not validate(dyn.inverse_dynamics, PUMA, samples=5).ok  # a Function's springs are not known


@pytest.mark.parametrize("model", [PUMA, tree_model(), mimic_model()], ids=["puma560", "tree", "mimic"])
def test_right_functions_and_callables_pass(model: pin.Model) -> None:
    for candidate in (gd.LagrangeEuler(model).inverse_dynamics, rnea(model)):
        report = assert_valid(candidate, model, samples=45)
        assert [check.name for check in report.checks] == ["tau", "M", "C v", "g", "tau = M a + C v + g"]
        assert all(check.tolerance == 1e-9 for check in report.checks)


def test_outputs_of_any_kind() -> None:
    f = gd.NewtonEuler(PUMA).inverse_dynamics
    for convert in (lambda x: x, lambda x: x.full(), lambda x: x.full().T, lambda x: x.full().ravel().tolist()):
        assert_valid(lambda q, v, a, convert=convert: convert(f(q, v, a)), PUMA, samples=3)


def test_a_function_that_is_not_sx() -> None:
    q, v, a = (ca.MX.sym(name, 6) for name in "qva")
    inner = gd.NewtonEuler(PUMA).inverse_dynamics
    assert_valid(ca.Function("mine", [q, v, a], [inner(q, v, a)]), PUMA, samples=7)


def test_candidate_cannot_change_the_states() -> None:
    def greedy(q: Array, v: Array, a: Array) -> Array:
        tau = TRUE(q, v, a)
        for x in (q, v, a):
            x[:] = np.nan
        return tau

    assert_valid(greedy, PUMA, samples=5)


# Wrong torques, and what is said about them.


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


def _undefined_beyond(q: Array, v: Array, a: Array) -> Array:
    tau = np.array(TRUE(q, v, a))
    tau[2] = np.nan if q[0] > 1 else tau[2]
    return tau


ROW = np.zeros((6, 6))
ROW[2, :] = ROW[:, 2] = 0.3
OFF = np.zeros((6, 6))
OFF[1, 4] = 0.3

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
        ["mass matrix is off by a constant, as another armature would have it, at joint 'joint5' (+0.05 kg m²)"],
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
        ["velocity terms contain a damping proportional to v, which Pinocchio's rnea has not, at joint 'joint2' (0.5)"],
    ),
    "friction": (
        lambda q, v, a: TRUE(q, v, a) + 0.5 * (ONE[1] + ONE[4]) * np.sign(v),
        {"tau", "C v"},
        ["velocity terms are wrong at joint 'joint2', 'joint5'"],
    ),
    "centrifugal alone": (
        lambda q, v, a: TRUE(q, v, a) - velocity(q, v) + _centrifugal(q, v),
        {"tau", "C v"},
        ["velocity terms are the centrifugal ones (v_j²) alone: products v_j v_k are missing"],
    ),
    "products alone": (
        lambda q, v, a: TRUE(q, v, a) - _centrifugal(q, v),
        {"tau", "C v"},
        ["velocity terms are products v_j v_k alone: the centrifugal ones (v_j²) are missing"],
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
        ["mass matrix is not symmetric: wrong at 'joint2' × 'joint5', right at the mirrored place"],
    ),
    "another body": (
        changed(_heavier),
        {"tau", "M", "C v", "g"},
        [
            "mass matrix is wrong at 'joint1' × 'joint1', 'joint1' × 'joint2', 'joint1' × 'joint3', "
            "'joint2' × 'joint2', 'joint2' × 'joint3', 'joint3' × 'joint3'",
            "velocity terms are wrong at joint 'joint1', 'joint2', 'joint3'",
            "gravity is wrong at joint 'joint2', 'joint3'",
            "another mass, centre of mass or inertia of the body at joint 'joint3' explains all of it",
        ],
    ),
    "another geometry": (
        changed(_moved),
        {"tau", "M", "C v", "g"},
        [
            "mass matrix is wrong at 'joint1' × 'joint1', 'joint1' × 'joint2', 'joint1' × 'joint4', "
            "'joint1' × 'joint5', 'joint2' × 'joint2', 'joint2' × 'joint3', 'joint2' × 'joint4', 'joint2' × 'joint5'",
            "velocity terms are wrong at joint 'joint1', 'joint2', 'joint3', 'joint4', 'joint5'",
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
        ["tau is in another order: joint 'joint3' at the place of 'joint2', 'joint2' at the place of 'joint3'"],
    ),
    "not a number": (
        _undefined_beyond,
        {"tau", "M", "C v", "g", "tau = M a + C v + g"},
        ["tau at rest is not finite at joint 'joint3', in some states"],
    ),
    "not a number in motion": (
        lambda q, v, a: TRUE(q, v, a) + (np.inf if np.any(v) else 0.0),
        {"tau", "C v", "tau = M a + C v + g"},
        ["velocity terms are not finite at every joint, in every state looked at"],
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
            "differences are small, at most 3.0e-08: rounding, or constants that are cleaned or rounded, "
            "rather than a wrong formula"
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
    candidate, failed, sentences = WRONG[name]
    report = validate(candidate, PUMA, samples=100)
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


def test_a_fault_at_few_states_is_explained() -> None:
    """The states at which it was worst are looked at, even if they are late."""
    report = validate(lambda q, v, a: TRUE(q, v, a) - 2 * gravity(q) * (q[2] > 3), PUMA, samples=2000, seed=1)
    assert not report.ok
    assert report["g"].state.q[2] > 3
    assert report.diagnosis[0].startswith("gravity is wrong at joint 'joint2'")


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


# Wrong formulations.


class Broken(gd.NewtonEuler):
    """Right in everything that a subclass leaves alone; without a name of its own it is not registered."""

    def forward_dynamics_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        return newton_euler.forward_dynamics(self._prepared, q, v, tau)


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


class Lopsided(Broken):
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


_ALL = ", ".join(f"'joint{k + 1}' ({x:.6g} kg m²)" for k, x in enumerate(PUMA.armature))
_MINUS_3 = ", ".join(f"'joint{k + 1}' (-3 kg m²)" for k in range(6))
BROKEN: dict[type[gd.Dynamics], tuple[set[str], list[str]]] = {
    WithoutArmature: (
        {"inverse_dynamics", "mass_matrix", "kinetic_energy"},
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
        },
        [
            "gravity has the opposite sign (in inverse_dynamics, nle, generalized_gravity)",
            "potential energy has the opposite sign (in potential_energy)",
        ],
    ),
    WrongGravityFunction: ({"generalized_gravity"}, ["gravity has the opposite sign (in generalized_gravity)"]),
    WrongEntry: (
        {"mass_matrix", "dM/dt - 2C skew"},
        ["mass matrix is wrong at 'joint3' × 'joint4' (in mass_matrix)"],
    ),
    Lopsided: (
        {"mass_matrix", "M symmetric", "dM/dt - 2C skew"},
        ["mass matrix is not symmetric: wrong at 'joint3' × 'joint4', right at the mirrored place (in mass_matrix)"],
    ),
    Indefinite: (
        {"mass_matrix", "M positive definite"},
        [f"mass matrix is off by a constant, as another armature would have it, at joint {_MINUS_3} (in mass_matrix)"],
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
            "C v is right but dM/dt − 2C is not skew: C is not the matrix of the trace form (of Christoffel's "
            "symbols), worst at joint 'joint1' × 'joint1' (in dM/dt - 2C skew)"
        ],
    ),
    NoBias: (
        {"forward_dynamics", "state_derivative (a)"},
        [
            "a is not the one that inverse_dynamics, which is right, made tau from, worst at joint 'joint3' "
            "(in forward_dynamics)"
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
        ["dq/dt is not the rate of q that v stands for, worst at joint 'joint2' (in state_derivative (dq/dt))"],
    ),
    WrongStateAcceleration: (
        {"state_derivative (a)"},
        ["a is wrong, though forward_dynamics is right, worst at joint 'joint2' (in state_derivative (a))"],
    ),
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda cls: cls.__name__)
def test_wrong_formulations_are_explained(broken: type[gd.Dynamics]) -> None:
    failed, sentences = BROKEN[broken]
    report = validate(broken(PUMA), PUMA, samples=100)
    assert {check.name for check in report.checks if not check.ok} == failed
    assert list(report.diagnosis) == sentences


def test_what_a_formulation_does_not_have_is_named() -> None:
    class OnlyTau(Broken):
        coriolis_matrix_expression = gd.Dynamics.coriolis_matrix_expression

    model = build(np.random.default_rng(0), ["RX", "Spherical"], [0, 1])
    report = assert_valid(OnlyTau(model), model, samples=5)
    assert len(report.checks) == 11
    assert report.not_checked[0].startswith("coriolis_matrix: OnlyTau: a Coriolis matrix does not follow")
    assert "  not checked: coriolis_matrix: OnlyTau" in str(report)


def test_singular_mass_matrices_are_named() -> None:
    """Two joints on one axis with next to nothing between them."""
    model = pin.Model()
    model.name = "coaxial"
    for k, moment in enumerate((5e-13, 1.0)):
        joint = model.addJoint(k, pin.JointModelRZ(), pin.SE3.Identity(), f"joint{k + 1}")
        model.appendBodyToJoint(joint, pin.Inertia(0, np.zeros(3), moment * np.eye(3)), pin.SE3.Identity())
    report = assert_valid(gd.NewtonEuler(model, clean=0), model, samples=10)
    assert report.not_checked == (
        "forward_dynamics and state_derivative (a) at 10 of 10 states, where M is singular (cond(M) > 1e12)",
    )
    assert "forward_dynamics" not in [check.name for check in report.checks]


# Reports.


@pytest.fixture(scope="module")
def failed() -> Report:
    return validate(WRONG["armature missing"][0], PUMA, samples=30, seed=7)


def test_report_names_the_worst(failed: Report) -> None:
    check = failed["M"]
    assert not failed.ok
    assert not check.ok
    assert check.joint == "joint4"
    assert check.entry == ("joint4", "joint4")
    assert check.part == "mass matrix"
    m = pin.crba(PUMA, PUMA.createData(), check.state.q)  # at the very state
    assert check.error == pytest.approx(0.2 / max(1, np.abs(m).max()))
    assert set(check.per_joint) == set(PUMA.names[1:])
    assert check.per_joint["joint4"] == check.error
    assert check.per_joint["joint1"] < 1e-12
    with pytest.raises(UnknownNameError, match="no check named 'm'; nearest: 'M'"):
        failed["m"]


def test_report_is_a_table(failed: Report) -> None:
    lines = str(failed).splitlines()
    assert lines[0] == f"puma560: {failed.candidate} against Pinocchio on 30 states (seed 7)"
    assert lines[1] == "  quantity             worst error  tolerance  worst joint"
    assert lines[3].split() == ["M", f"{failed['M'].error:.1e}", "1e-09", "joint4", "×", "joint4", "FAIL"]
    assert lines[5].split()[-1] == "ok"
    assert lines[7:] == ["FAILED: 2 of 5 checks", "  - armature is missing at joint 'joint4' (0.2 kg m²)"]
    assert str(validate(TRUE, PUMA, samples=1)).startswith("puma560: <lambda> against Pinocchio on 1 state (seed 0)")


def test_report_raises(failed: Report) -> None:
    with pytest.raises(ValidationError, match="armature is missing at joint 'joint4'") as caught:
        failed.raise_for_failure()
    assert caught.value.report is failed
    with pytest.raises(AssertionError, match="armature is missing"):
        assert_valid(WRONG["armature missing"][0], PUMA, samples=3)
    validate(TRUE, PUMA, samples=2).raise_for_failure()


def test_report_as_json(failed: Report) -> None:
    assert json.loads(json.dumps(failed.to_dict(), allow_nan=False)) == failed.to_dict()
    assert failed.to_dict()["checks"][1]["joint"] == "joint4"
    assert len(failed.to_dict()["checks"][0]["state"]["q"]) == 6
    infinite = validate(_undefined_beyond, PUMA, samples=100).to_dict()
    assert infinite["checks"][0]["error"] == infinite["checks"][0]["per_joint"]["joint3"] == "inf"
    json.dumps(infinite, allow_nan=False)


def test_report_is_picklable(failed: Report) -> None:
    again = pickle.loads(pickle.dumps(failed))
    assert again.to_dict() == failed.to_dict()
    assert str(pickle.loads(pickle.dumps(ValidationError(failed)))) == str(failed)


# States.


def test_seed_decides() -> None:
    def run(seed: int) -> dict[str, Any]:
        return validate(gd.NewtonEuler(PUMA), PUMA, samples=20, seed=seed).to_dict()

    assert run(3) == run(3)
    assert run(3)["checks"] != run(4)["checks"]


def test_states_do_not_depend_on_the_batches() -> None:
    """Nor on how many there are in all; a remainder is no special case."""
    model = tree_model()
    whole = next(batches(model, 23, 5, 100))
    assert len(whole) == 23
    for size in (1, 7, 23):
        parts = list(batches(model, 23, 5, size))
        assert sum(map(len, parts)) == 23
        for what in "qva":
            np.testing.assert_array_equal(np.vstack([getattr(part, what) for part in parts]), getattr(whole, what))
    np.testing.assert_array_equal(next(batches(model, 9, 5, 9)).q, whole[:9].q)
    np.testing.assert_allclose(np.linalg.norm(whole.q[:, 3:7], axis=1), 1)


@pytest.mark.parametrize("samples", [1, 2, 499, 500, 501, 1003])
def test_batches_with_a_remainder(samples: int) -> None:
    model = gd.load_urdf("two_link_arm")
    seen: list[Array] = []

    def candidate(q: Array, v: Array, a: Array) -> Array:
        seen.append(q)
        return TRUE_ARM(q, v, a)

    TRUE_ARM = rnea(model)
    assert assert_valid(gd.NewtonEuler(model), model, samples=samples).samples == samples
    assert_valid(candidate, model, samples=min(samples, 45))
    assert len({q.tobytes() for q in seen}) == min(samples, 45)


def test_more_samples_only_add() -> None:
    few, many = (validate(gd.NewtonEuler(PUMA), PUMA, samples=n) for n in (40, 700))
    for check in few.checks:
        assert many[check.name].error >= check.error


def test_progress(capfd: pytest.CaptureFixture[str]) -> None:
    validate(gd.NewtonEuler(PUMA), PUMA, samples=700, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert err == "\rpuma560: newton_euler: 500 of 700 states\rpuma560: newton_euler: 700 of 700 states\n"
    validate(gd.NewtonEuler(PUMA), PUMA, samples=3)
    assert capfd.readouterr() == ("", "")


# Arguments.


def test_tolerance_overrides_all() -> None:
    report = validate(gd.NewtonEuler(PUMA), PUMA, samples=5, tolerance=1e-3)
    assert {check.tolerance for check in report.checks} == {1e-3}
    report = validate(gd.NewtonEuler(PUMA), PUMA, samples=5, tolerance=1e-18)
    assert not report.ok
    assert report.diagnosis[0].startswith("differences are small, at most ")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"samples": 0}, ArgumentError, "samples is 0; give at least 1"),
        ({"samples": 2.5}, ArgumentTypeError, "samples must be an integer, not float"),
        ({"samples": True}, ArgumentTypeError, "samples must be an integer, not bool"),
        ({"seed": -1}, ArgumentError, "seed is -1; give at least 0"),
        ({"seed": None}, ArgumentTypeError, "seed must be an integer, not NoneType"),
        ({"tolerance": 0}, ArgumentError, "tolerance is 0; give a positive finite number"),
        ({"tolerance": -1e-9}, ArgumentError, "tolerance is -1e-09; give a positive finite number"),
        ({"tolerance": float("nan")}, ArgumentError, "tolerance is nan; give a positive finite number"),
        ({"tolerance": float("inf")}, ArgumentError, "tolerance is inf; give a positive finite number"),
        ({"tolerance": "1e-9"}, ArgumentTypeError, "tolerance must be a number, not str"),
        ({"progress": 1}, ArgumentTypeError, "progress must be True or False, not int"),
    ],
)
def test_bad_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        validate(TRUE, PUMA, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("against", "message"),
    [
        (None, "against is None; give the pin.Model to compare with"),
        (PUMA.createData(), "expected a pin.Model, got a pin.Data; pass the model that it was created from"),
        (read_tree(PUMA), "against must be the pin.Model, got a Tree; Pinocchio's rnea needs the model"),
        ("puma560", "expected a pin.Model, got str; load_urdf makes one from a URDF"),
    ],
    ids=["None", "Data", "Tree", "str"],
)
def test_bad_models(against: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        validate(TRUE, against)
    assert str(caught.value) == message


def _function(inputs: dict[str, int], outputs: int = 6, number: int = 1) -> ca.Function:
    symbols = [ca.SX.sym(name, length) for name, length in inputs.items()]
    names = [f"tau{k}" for k in range(number)]
    return ca.Function("mine", symbols, [ca.SX.zeros(outputs)] * number, list(inputs), names)


def _free() -> ca.Function:
    q, v, a = (ca.SX.sym(name, 6) for name in "qva")
    return ca.Function("mine", [q, v, a], [q * ca.SX.sym("mass")], ["q", "v", "a"], ["tau"], {"allow_free": True})


@pytest.mark.parametrize(
    ("candidate", "error", "message"),
    [
        (
            _function({"q": 6, "v": 6}),
            ArgumentError,
            "the Function 'mine' takes (q, v); it must take (q, v, a)",
        ),
        (
            _function({"q": 6, "a": 6, "v": 6}),
            ArgumentError,
            "the Function 'mine' takes (q, a, v); it must take (q, v, a)",
        ),
        (
            _function({"q": 5, "v": 6, "a": 6}),
            ArgumentError,
            "the Function 'mine': q is 5 × 1; for 'puma560' it must be 6 × 1",
        ),
        (
            _function({"q": 6, "v": 6, "a": 6}, outputs=7),
            ArgumentError,
            "the Function 'mine': tau is 7 × 1; for 'puma560' it must be 6 × 1",
        ),
        (
            _function({"q": 6, "v": 6, "a": 6}, number=2),
            ArgumentError,
            "the Function 'mine' has 2 outputs; it must have one, tau",
        ),
        (_free(), ArgumentError, "the Function 'mine' has free variables: mass; give them values"),
        (lambda q, v: q, ArgumentError, "the candidate takes (q, v); it must take (q, v, a)"),
        (
            gd.NewtonEuler,
            ArgumentTypeError,
            "the candidate is the class NewtonEuler; make an object of it: NewtonEuler(model)",
        ),
        (
            3,
            ArgumentTypeError,
            "cannot validate int; give a Dynamics, or a Function or callable (q, v, a) -> tau",
        ),
        (
            None,
            ArgumentTypeError,
            "cannot validate NoneType; give a Dynamics, or a Function or callable (q, v, a) -> tau",
        ),
        (
            gd.NewtonEuler(gd.load_urdf("panda7")),
            ArgumentError,
            "the candidate was made for 'panda7' with nq = 7, nv = 7; 'puma560' has nq = 6, nv = 6",
        ),
    ],
)
def test_bad_candidates(candidate: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        validate(candidate, PUMA)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("candidate", "message"),
    [
        (lambda q, v, a: q[:5], r"^the candidate gives numbers of shape \(5,\), not 6 of them, at q = \[0\.12"),
        (lambda q, v, a: 1.0, r"^the candidate gives numbers of shape \(\), not 6 of them, at q = "),
        (lambda q, v, a: np.ones((2, 3)), r"^the candidate gives numbers of shape \(2, 3\), not 6 of them, at q = "),
        (lambda q, v, a: None, r"^the candidate gives NoneType, not 6 numbers, at q = "),
        (lambda q, v, a: ca.SX.sym("x", 6), r"^the candidate gives SX, not 6 numbers, at q = "),
        (
            lambda q, v, a: q * (1 / int(0 * q[0])),
            r"^the candidate raised ZeroDivisionError: .*; at q = \[.*\], v = .*, a = ",
        ),
    ],
)
def test_candidates_that_fail_when_called(candidate: Torque, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        validate(candidate, PUMA)


def test_the_cause_of_a_failure_is_kept() -> None:
    def candidate(q: Array, v: Array, a: Array) -> Array:
        raise KeyError("joint7")

    with pytest.raises(ArgumentError, match="the candidate raised KeyError: 'joint7'; at q = ") as caught:
        validate(candidate, PUMA)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_function_that_cannot_be_evaluated() -> None:
    q, v, a = (ca.MX.sym(name, 6) for name in "qva")
    x, p = ca.MX.sym("x"), ca.MX.sym("p")
    root = ca.rootfinder("root", "newton", {"x": x, "p": p, "g": x**2 + 1 + p**2}, {"error_on_fail": True})
    mine = ca.Function("mine", [q, v, a], [q * root(x0=0.3, p=q[0])["x"]])
    with pytest.raises(ArgumentError, match="the Function 'mine' cannot be evaluated: "):
        validate(mine, PUMA, samples=2)


def test_a_formulation_of_the_wrong_shape() -> None:
    class Short(Broken):
        @cached_property
        def nle(self) -> ca.Function:
            s = self.symbols("q", "v")
            return function("nle", s, {"nle": s["v"][:5]})

    with pytest.raises(ArgumentError) as caught:
        validate(Short(PUMA), PUMA)
    assert str(caught.value) == "the candidate's nle gives 5 × 1 numbers; it must give 6 × 1"


# Small differences, and strange outputs.


@pytest.mark.parametrize("spoil", [lambda tau: tau.astype(np.float32), lambda tau: tau * (1 + 5e-7)])
def test_small_differences_are_called_small(spoil: Callable[[np.ndarray], np.ndarray]) -> None:
    data = PUMA.createData()
    report = validate(lambda q, v, a: spoil(pin.rnea(PUMA, data, q, v, a).copy()), PUMA, samples=20)
    assert not report.ok
    assert len(report.diagnosis) == 1
    assert report.diagnosis[0].startswith("differences are small, at most ")


def test_joints_in_their_own_places_are_in_no_other_order() -> None:
    """An offset that is small beside the largest torques, but not beside those of every state."""
    data = PUMA.createData()
    report = validate(lambda q, v, a: pin.rnea(PUMA, data, q, v, a) + 5e-5, PUMA, samples=100)
    assert not report.ok
    assert report.diagnosis
    assert not any("another order" in sentence for sentence in report.diagnosis)


def test_complex_torques_are_refused() -> None:
    with pytest.raises(ArgumentError, match="the candidate gives ndarray, not 6 numbers"):
        validate(lambda q, v, a: a + 1j, PUMA, samples=2)


def test_forward_dynamics_is_no_torque_function() -> None:
    with pytest.raises(ArgumentError, match=r"the Function 'forward_dynamics' takes \(q, v, tau\); it must take"):
        validate(gd.NewtonEuler(PUMA).forward_dynamics, PUMA)


def test_what_goes_wrong_in_a_users_formulation_is_said_in_words() -> None:
    class Clumsy(Broken):
        def mass_matrix_expression(self, q: Matrix) -> Matrix:
            raise KeyError("no such link")

    with pytest.raises(ArgumentError, match="the candidate's mass_matrix cannot be built: 'no such link'"):
        validate(Clumsy(PUMA), PUMA, samples=2)


def test_forward_dynamics_after_cleaning_is_judged_by_the_condition_of_the_mass_matrix() -> None:
    """rpy of 12 digits, and a free base: what cleaning changes in M comes back, cond(M) times, in a."""
    model = gd.load_urdf(robots.path("ur5"), root_joint=pin.JointModelFreeFlyer(), check="off")
    dyn = gd.NewtonEuler(model)
    assert dyn.changes
    assert_valid(dyn, model, samples=100)
