"""``examples/ur5_inverse_kinematics.py``: the targets are reached, by Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from tests.helpers.scripts import example

SCRIPT = example("ur5_inverse_kinematics")


def off(model: pin.Model, frame: str, q: np.ndarray, target: np.ndarray) -> float:
    """The norm of Pinocchio's log6."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return float(np.linalg.norm(pin.log6(data.oMf[model.getFrameId(frame)].actInv(pin.SE3(target))).vector))


def targets(model: pin.Model, frame: str, number: int) -> list[np.ndarray]:
    rng, place = np.random.default_rng(0), gd.Kinematics(model).frame_placement(frame)
    return [place(rng.uniform(-np.pi, np.pi, model.nq)).full() for _ in range(number)]


def test_a_puma_reaches_six_targets() -> None:
    model, home = gd.load_urdf("puma560"), np.array([0, -0.7, 2.5, 0, 0.7, 0])
    goals = targets(model, "tool", 6)
    answers = SCRIPT.reach(model, "tool", goals, home)
    assert max(off(model, "tool", a.q, goal) for a, goal in zip(answers, goals, strict=True)) < 1e-8
    assert max(a.starts for a in answers) <= 4
    assert np.median([a.iterations for a in answers]) <= 20


def test_the_answer_is_near_and_half_a_turn_is_no_obstacle() -> None:
    """A target that is where the robot is takes no way; one turned by 180° about the last axis takes half a turn."""
    model, home = gd.load_urdf("puma560"), np.array([0.3, -0.7, 2.5, 0.2, 0.7, 0.1])
    here = gd.Kinematics(model).frame_placement("tool")(home).full()
    turned = here @ np.diag([-1.0, -1, 1, 1])
    stay, turn = SCRIPT.reach(model, "tool", [here, turned], home)
    assert np.abs(stay.q - home).max() < 1e-9
    assert off(model, "tool", turn.q, turned) < 1e-8
    assert stay.iterations <= 1


@pytest.mark.extras
def test_a_ur5_reaches_twenty_targets() -> None:
    model = SCRIPT.build()
    goals = targets(model, SCRIPT.FRAME, 20)
    answers = SCRIPT.reach(model, SCRIPT.FRAME, goals, SCRIPT.HOME)
    assert max(off(model, SCRIPT.FRAME, a.q, goal) for a, goal in zip(answers, goals, strict=True)) < 1e-8
    assert sum(a.starts == 1 for a in answers) >= 15
    assert np.median([a.iterations for a in answers]) <= 15
    assert all(np.abs(a.q).max() <= np.pi for a in answers)
