"""``examples/cart_pendulum_swing_up.py``: what it shows is right."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("cart_pendulum_swing_up")
INTERVALS = 40


@pytest.fixture(scope="module")
def dyn() -> gd.Dynamics:
    return gd.NewtonEuler(gd.load_urdf("cart_pendulum"))


@pytest.fixture(scope="module")
def solution(dyn: gd.Dynamics) -> ocp.Solution:
    return SCRIPT.swing_up(dyn, SCRIPT.bounds(dyn), INTERVALS)


def test_it_gets_up_within_the_limits_by_the_force_alone(solution: ocp.Solution) -> None:
    model = gd.load_urdf("cart_pendulum")
    data = model.createData()
    stages = solution.stages
    tau = np.array([pin.rnea(model, data, *each) for each in zip(stages.q, stages.v, stages.a, strict=True)])
    # the solver's own tolerance is 1e-8, of the 12 N and of equations scaled by 12 N
    assert np.abs(tau[:, 0] - stages.u[:, 0]).max() < 1e-6
    assert np.abs(tau[:, 1]).max() < 1e-6
    assert 11.999 < np.abs(stages.u[:, 0]).max() < 12 + 1e-6
    assert 0.29 < np.abs(solution.q[:, 0]).max() < 0.3 + 1e-7
    assert np.abs(stages.q[:, 0]).max() < 0.3 + 1e-7
    np.testing.assert_allclose(solution.q[[0, -1]], [[0, 0], [0, np.pi]], rtol=0, atol=1e-8)
    np.testing.assert_allclose(solution.v[[0, -1]], 0, rtol=0, atol=1e-8)
    assert solution.status == "Solve_Succeeded"
    assert solution.constraint_violation < 1e-6


def test_limits_cost_force(dyn: gd.Dynamics, solution: ocp.Solution) -> None:
    """What is feasible within the limits is feasible without them."""
    free = SCRIPT.swing_up(dyn, SCRIPT.bounds(dyn, force=100, track=2), INTERVALS)
    assert np.abs(free.u[:, 0]).max() > 12
    assert np.abs(free.q[:, 0]).max() > 0.3
    assert 160 < free.cost < 165 < solution.cost < 230


def test_pumping_alone_does_not_do(dyn: gd.Dynamics) -> None:
    pumped = SCRIPT.pumped(dyn, INTERVALS)
    assert 1 < np.abs(pumped.q[:, 1]).max() < np.pi - 0.5
    assert np.abs(pumped.q[:, 0]).max() > 0.5


def test_the_simulated_motion_is_the_planned_one(solution: ocp.Solution) -> None:
    """Upright, an error grows e^4.5 times in a second."""
    motion = solution.simulate()
    assert np.abs(motion.q - solution.q).max() < 1e-3
    assert np.abs(motion.v[-1]).max() < 1e-3
    assert motion.max_balance < 1e-5
    excess = solution.bounds.excess(*motion.at(np.linspace(0, SCRIPT.DURATION, 2001)))
    assert max(excess.values(), default=0.0) < 1e-3


def test_the_gain_is_the_optimal_one(dyn: gd.Dynamics) -> None:
    """|1 + K (iω − A)⁻¹ b|² / F² = 1 / F² + gᴴ Q g, g = (iω − A)⁻¹ b: the return difference of what is optimal."""
    gain = SCRIPT.regulator(dyn)
    x, u = ca.SX.sym("x", 4), ca.SX.sym("u", 2)
    rate = dyn.state_derivative(x, u)
    jacobians = ca.Function("jacobians", [x, u], [ca.jacobian(rate, x), ca.jacobian(rate, u)])
    a, b = (each.full() for each in jacobians([0, np.pi, 0, 0], [0, 0]))
    assert np.linalg.eigvals(a - np.outer(b[:, 0], gain)).real.max() < -0.5
    assert np.linalg.eigvals(a).real.max() > 4
    for frequency in (0.0 + 0.1, 1.0, 5.0, 30.0):
        g = np.linalg.solve(1j * frequency * np.eye(4) - a, b[:, 0])
        left = abs(1 + gain @ g) ** 2 / SCRIPT.FORCE**2
        assert left == pytest.approx(1 / SCRIPT.FORCE**2 + (g.conj() @ SCRIPT.WEIGHTS @ g).real, rel=1e-9)


def test_it_is_held_after_a_knock(dyn: gd.Dynamics, solution: ocp.Solution) -> None:
    motion = solution.simulate()
    held = SCRIPT.hold(dyn, motion.q[-1], motion.v[-1] + [0, SCRIPT.KNOCK])
    assert np.abs(held.q[:, 1] - np.pi).max() > 0.05
    assert np.abs(held.q[-1] - SCRIPT.UP).max() < 2e-3
    assert np.abs(held.q[:, 0]).max() < SCRIPT.TRACK
    assert np.abs(held.u[:, 0]).max() <= SCRIPT.FORCE
    without = gd.simulate(dyn, (motion.q[-1], motion.v[-1] + [0, SCRIPT.KNOCK]), SCRIPT.HOLD)
    assert np.abs(without.q[-1] - SCRIPT.UP).max() > 1
