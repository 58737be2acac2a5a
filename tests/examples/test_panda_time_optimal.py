"""``examples/panda_time_optimal.py``: what it shows is right."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("panda_time_optimal")
INTERVALS = 16


@pytest.fixture(scope="module")
def model() -> pin.Model:
    return SCRIPT.build()


@pytest.fixture(scope="module")
def full(model: pin.Model) -> ocp.Solution:
    return SCRIPT.fastest(model, INTERVALS, full=True)


@pytest.fixture(scope="module")
def empty(model: pin.Model, full: ocp.Solution) -> ocp.Solution:
    return SCRIPT.fastest(model, INTERVALS, full=False, guess=full)


def angles(model: pin.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Between the axis of the glass and what the water feels [degrees], by Pinocchio."""
    data, glass = model.createData(), model.getFrameId("glass")
    found = []
    for each in zip(q, v, a, strict=True):
        pin.forwardKinematics(model, data, *each)
        pin.updateFramePlacements(model, data)
        acceleration = pin.getFrameClassicalAcceleration(model, data, glass, pin.LOCAL_WORLD_ALIGNED).linear
        felt = data.oMf[glass].rotation.T @ (acceleration - model.gravity.linear)
        found.append(np.degrees(np.arccos(-felt[2] / np.linalg.norm(felt))))
    return np.array(found)


def test_it_arrives_within_the_limits(model: pin.Model, full: ocp.Solution, empty: ocp.Solution) -> None:
    data = model.createData()
    for solution in (full, empty):
        stages = solution.stages
        tau = np.array([pin.rnea(model, data, *each) for each in zip(stages.q, stages.v, stages.a, strict=True)])
        # the solver's tolerance is 1e-8, of a problem it scales
        assert np.abs((tau - stages.u) / model.effortLimit).max() < 1e-6
        assert np.abs(tau / model.effortLimit).max() < 1 + 1e-6
        assert np.abs(stages.v / model.velocityLimit).max() < 1 + 1e-6
        assert np.all((stages.q > model.lowerPositionLimit) & (stages.q < model.upperPositionLimit))
        np.testing.assert_allclose(solution.q[[0, -1]], [SCRIPT.START, SCRIPT.END], rtol=0, atol=1e-7)
        np.testing.assert_allclose(solution.v[[0, -1]], 0, rtol=0, atol=1e-7)
        assert solution.status == "Solve_Succeeded"


def test_nothing_is_spilt(model: pin.Model, full: ocp.Solution) -> None:
    """Neither in the plan nor, between its points, in the simulation; and no more caution than that."""
    planned = angles(model, full.stages.q, full.stages.v, full.stages.a)
    assert planned.max() < SCRIPT.PLANNED + 1e-3
    assert np.mean(planned > SCRIPT.PLANNED - 0.1) > 0.5
    _, q, v, a = SCRIPT.replay(full, np.linspace(0, full.duration, 501))
    assert angles(model, q, v, a).max() < SCRIPT.SPILL


def test_the_empty_glass_would_spill_and_is_faster(model: pin.Model, full: ocp.Solution, empty: ocp.Solution) -> None:
    assert angles(model, empty.stages.q, empty.stages.v, empty.stages.a).max() > 40
    bound = (np.abs(SCRIPT.END - SCRIPT.START) / model.velocityLimit).max()
    assert bound == pytest.approx(1.6 / 2.175, rel=1e-12)
    assert bound < empty.duration < 0.77 < 1.12 * empty.duration < full.duration < 0.88


def test_limits_are_reached(model: pin.Model, full: ocp.Solution) -> None:
    """Nearly all the time a joint is nearly as fast as it can be, and once one is as strong."""
    assert np.abs(full.u / model.effortLimit).max() > 0.999
    fastest = np.abs(full.stages.v / model.velocityLimit).max(axis=1)
    assert np.mean(fastest > 0.9) > 0.85


def test_the_guess_spills_nothing(model: pin.Model) -> None:
    """It is slow, and the glass stands upright in it."""
    motion = ocp.rest_to_rest(gd.NewtonEuler(model), SCRIPT.START, SCRIPT.END, 3.0)
    assert angles(model, motion.q, motion.v, motion.a).max() < SCRIPT.SPILL
    assert angles(model, motion.q, 0 * motion.v, 0 * motion.a).max() < 1e-5


def test_the_force_that_the_water_feels(model: pin.Model) -> None:
    rng = np.random.default_rng(3)
    q = np.array([pin.randomConfiguration(model) for _ in range(5)])
    v, a = rng.normal(size=(2, 5, model.nv))
    force = SCRIPT.specific_force(model)(q.T, v.T, a.T).full().T
    np.testing.assert_allclose(SCRIPT.lean(force), angles(model, q, v, a), rtol=0, atol=1e-9)
    np.testing.assert_allclose(SCRIPT.specific_force(model)(SCRIPT.START, 0, 0).full().ravel(), [0, 0, -1], atol=1e-12)


def test_the_simulated_motion_is_the_planned_one(full: ocp.Solution, empty: ocp.Solution) -> None:
    for solution in (full, empty):
        motion, q, v, _ = SCRIPT.replay(solution, np.linspace(0, solution.duration, 501))
        # what 16 intervals leave of the equations of motion
        assert np.abs(motion.q[-1] - SCRIPT.END).max() < 1e-3
        assert motion.max_balance < 1e-6
        assert max(solution.bounds.excess(q, v).values(), default=0.0) < 0.1
