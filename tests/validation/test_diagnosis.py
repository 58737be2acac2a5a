"""Wrong torque functions, and what the report says about them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest

from gdalembert.validation.validate import validate
from tests.helpers.models import build
from tests.helpers.torque_functions import (
    ONE,
    PUMA,
    TRUE,
    ZERO,
    Array,
    Torque,
    changed,
    gravity,
    mimic_model,
    rnea,
    undefined_beyond,
    velocity,
)


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


def test_joints_in_their_own_places_are_in_no_other_order() -> None:
    """An offset that is small beside the largest torques, but not beside those of every state."""
    data = PUMA.createData()
    report = validate(lambda q, v, a: pin.rnea(PUMA, data, q, v, a) + 5e-5, PUMA, samples=100)
    assert not report.ok
    assert report.diagnosis
    assert not any("another order" in sentence for sentence in report.diagnosis)
