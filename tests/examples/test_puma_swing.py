"""``examples/puma_swing.py``: what it shows is right."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("puma_swing")
INTERVALS = 30
DURATIONS = (1.47, 2.0, 3.0)


@pytest.fixture(scope="module")
def model() -> pin.Model:
    return gd.load_urdf("puma560")


@pytest.fixture(scope="module")
def solutions(model: pin.Model) -> dict[float, ocp.Solution]:
    dyn = gd.NewtonEuler(model)
    return {t: SCRIPT.swing(dyn, ocp.Bounds.of(dyn, model), t, INTERVALS) for t in DURATIONS}


def torques(model: pin.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    data = model.createData()
    return np.array([pin.rnea(model, data, *each) for each in zip(q, v, a, strict=True)])


@pytest.mark.parametrize("duration", DURATIONS)
def test_it_arrives_within_the_limits(model: pin.Model, solutions: dict[float, ocp.Solution], duration: float) -> None:
    solution = solutions[duration]
    stages = solution.stages
    tau = torques(model, stages.q, stages.v, stages.a)
    # the solver's tolerance is 1e-8, of equations scaled by the limits of 20 to 190 N m
    assert np.abs((tau - stages.u) / model.effortLimit).max() < 1e-7
    assert np.abs(tau / model.effortLimit).max() < 1 + 1e-7
    assert np.abs(stages.v / model.velocityLimit).max() < 1 + 1e-7
    # the solver relaxes bounds by 1e-8 of them
    assert np.maximum(model.lowerPositionLimit - stages.q, stages.q - model.upperPositionLimit).max() < 1e-7
    np.testing.assert_allclose(solution.q[[0, -1]], [SCRIPT.START, SCRIPT.END], rtol=0, atol=1e-8)
    np.testing.assert_allclose(solution.v[[0, -1]], 0, rtol=0, atol=1e-8)
    assert solution.status == "Solve_Succeeded"
    assert solution.t[-1] == pytest.approx(duration, rel=1e-12)


def test_limits_are_reached(model: pin.Model, solutions: dict[float, ocp.Solution]) -> None:
    """Velocities of three joints in 2 s; the torque of joint 1 too where there is hardly time enough."""
    fastest = np.abs(solutions[2.0].stages.v / model.velocityLimit).max(axis=0)
    assert np.all(fastest[:3] > 0.999)
    assert np.abs(solutions[1.47].u / model.effortLimit).max() > 0.99


def test_it_takes_less_effort_than_the_polynomial(model: pin.Model, solutions: dict[float, ocp.Solution]) -> None:
    dyn = gd.NewtonEuler(model)
    bounds = ocp.Bounds.of(dyn, model)
    effort, velocity, torque = SCRIPT.naive(dyn, bounds, 2.0)
    assert velocity > 1.3
    assert torque < 1
    assert solutions[2.0].cost < 0.0935 < 0.71 * effort
    effort, velocity, torque = SCRIPT.naive(dyn, bounds, 3.0)
    assert max(velocity, torque) < 1
    assert solutions[3.0].cost < 0.0860 < 0.51 * effort


def test_the_effort_of_the_polynomial(model: pin.Model) -> None:
    """By Pinocchio's torques and Gauss's rule, of s = 10 τ³ − 15 τ⁴ + 6 τ⁵."""
    dyn = gd.NewtonEuler(model)
    duration = 2.0
    points, weights = np.polynomial.legendre.leggauss(40)
    tau = (points + 1) / 2
    way = SCRIPT.END - SCRIPT.START
    q = SCRIPT.START + np.outer(10 * tau**3 - 15 * tau**4 + 6 * tau**5, way)
    v = np.outer(30 * tau**2 - 60 * tau**3 + 30 * tau**4, way) / duration
    a = np.outer(60 * tau - 180 * tau**2 + 120 * tau**3, way) / duration**2
    effort = duration / 2 * weights @ ((torques(model, q, v, a) / model.effortLimit) ** 2).sum(axis=1)
    found, velocity, _ = SCRIPT.naive(dyn, ocp.Bounds.of(dyn, model), duration)
    # the trapezoidal rule with 1001 points
    assert found == pytest.approx(effort, rel=1e-6)
    assert velocity == pytest.approx((1.875 / duration * np.abs(way) / model.velocityLimit).max(), rel=1e-12)


def test_the_way_to_the_polynomial_costs_more(model: pin.Model, solutions: dict[float, ocp.Solution]) -> None:
    """In 3 s both are within the limits, and so is every mixture of them: none of them may be better."""
    solution = solutions[3.0]
    stages = solution.stages
    naive = ocp.rest_to_rest(solution.dyn, SCRIPT.START, SCRIPT.END, 3.0, samples=4001)
    other = naive.at(stages.t.ravel() / 3.0, 3.0)
    efforts = []
    for share in (0.0, 0.01, 0.1, 0.5, 1.0):
        mixed = ((1 - share) * x + share * y for x, y in zip((stages.q, stages.v, stages.a), other, strict=False))
        tau = torques(model, *mixed) / model.effortLimit
        efforts.append(3.0 * (tau**2).sum(axis=1).mean())  # both stages of an interval weigh the same
    assert efforts[0] == pytest.approx(solution.cost, rel=1e-6)
    assert np.all(np.diff(efforts) > 0)


def test_the_simulated_motion_is_the_planned_one(solutions: dict[float, ocp.Solution]) -> None:
    for solution in solutions.values():
        motion = solution.simulate()
        # an error grows e² times in a second, as the shoulder holds the arm up
        assert np.abs(motion.q[-1] - SCRIPT.END).max() < 5e-4
        assert np.abs(motion.v[-1]).max() < 5e-3
        assert motion.max_balance < 1e-5
