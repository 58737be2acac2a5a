"""``examples/talos_on_one_foot.py``: the plan obeys the equations of motion and what the ground can bear."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("talos_on_one_foot")
PORTED_BY_HAND = 3094  # instructions of a step of the same problem, composed by a user


@pytest.fixture(scope="module")
def robot() -> tuple[pin.Model, np.ndarray]:
    model, standing = SCRIPT.build()
    return model, SCRIPT.balanced(model, standing)


@pytest.fixture(scope="module")
def target(robot: tuple[pin.Model, np.ndarray]) -> np.ndarray:
    return placement(*robot, SCRIPT.TIP).translation + SCRIPT.REACH


@pytest.fixture(scope="module")
def plan(robot: tuple[pin.Model, np.ndarray], target: np.ndarray) -> object:
    return SCRIPT.plan(*robot, target)


def placement(model: pin.Model, q: np.ndarray, frame: str) -> pin.SE3:
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return data.oMf[model.getFrameId(frame)].copy()


def test_ipopt_needs_few_iterations_and_small_graphs(robot: tuple[pin.Model, np.ndarray], plan: object) -> None:
    assert plan.iterations <= 30
    assert SCRIPT.instructions(*robot) <= PORTED_BY_HAND


def test_the_start_is_balanced(robot: tuple[pin.Model, np.ndarray]) -> None:
    model, start = robot
    com = pin.centerOfMass(model, model.createData(), start)
    assert np.abs(com[:2] - placement(model, start, SCRIPT.SOLE).translation[:2]).max() < 1e-8
    assert start[3:7] == pytest.approx([0, 0, 0, 1], abs=1e-9)


def test_the_tip_is_at_its_target_at_rest(
    robot: tuple[pin.Model, np.ndarray], target: np.ndarray, plan: object
) -> None:
    assert np.abs(placement(robot[0], plan.q[:, -1], SCRIPT.TIP).translation - target).max() < 1e-8
    assert np.abs(plan.v[:, [0, -1]]).max() < 1e-6


def test_the_sole_does_not_slip(robot: tuple[pin.Model, np.ndarray], plan: object) -> None:
    first, *others = (placement(robot[0], q, SCRIPT.SOLE) for q in plan.q.T)
    assert max(np.abs(pin.log6(first.actInv(other)).vector).max() for other in others) < 1e-8


def test_the_steps_are_those_of_pinocchio(robot: tuple[pin.Model, np.ndarray], plan: object) -> None:
    """Semi-implicit steps of 10 ms, and pin.rnea with the wrench on the sole."""
    model, h = robot[0], SCRIPT.STEP
    data, frame = model.createData(), model.frames[model.getFrameId(SCRIPT.SOLE)]
    for k, wrench in enumerate(plan.wrench.T):
        q, v, a = plan.q[:, k], plan.v[:, k], plan.a[:, k]
        assert np.abs(plan.v[:, k + 1] - v - h * a).max() < 1e-8
        moved = pin.integrate(model, q, h * plan.v[:, k + 1])
        assert np.abs(pin.difference(model, moved, plan.q[:, k + 1])).max() < 1e-8
        fext = [pin.Force.Zero() for _ in range(model.njoints)]
        fext[frame.parentJoint] = frame.placement.act(pin.Force(wrench))
        tau = pin.rnea(model, data, q, v, a, fext)
        # the solver's tolerance is 1e-8 of forces of 1000 N
        assert np.abs(tau[:6]).max() < 1e-5
        assert np.abs(tau - plan.tau[:, k]).max() < 1e-7
        assert np.abs(tau[6:] / model.effortLimit[6:]).max() < 1 + 1e-6


def test_the_ground_can_bear_it(plan: object) -> None:
    """It pushes, within the friction cone, at a point below the sole; and one torque is at its limit."""
    normal = plan.wrench[2]
    assert normal.min() > 100
    for entry, share in SCRIPT.BOUNDED.items():
        assert np.all(np.abs(plan.wrench[entry]) <= share * normal + 1e-4)
