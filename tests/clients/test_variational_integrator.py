"""``examples/variational_integrator.py``: energy in a band, accuracy of order 2, momentum kept exactly."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from tests.helpers.models import inertia
from tests.helpers.scripts import example

SCRIPT = example("variational_integrator")


def test_energy_stays_within_a_band_that_shrinks_with_the_square_of_the_step() -> None:
    model = gd.load_urdf(SCRIPT.ROBOT)
    coarse, fine = (SCRIPT.swing(model, SCRIPT.START, [0, 0], SCRIPT.DURATION, h) for h in (0.01, 0.005))
    bands = [np.ptp(motion.energy) for motion in (coarse, fine)]
    assert bands[0] / bands[1] == pytest.approx(4, rel=0.1)
    assert bands[1] < 0.25  # J, of 32 J that are exchanged
    for motion in (coarse, fine):
        early, late = np.array_split(motion.energy, 2)
        assert np.ptp(late) <= np.ptp(early)
        assert late.mean() == pytest.approx(early.mean(), abs=0.05 * np.ptp(early) + 0.02)


@pytest.mark.long
def test_it_is_of_order_2() -> None:
    """Beside gd.simulate, which starts with the velocity that the first step of the other has in its middle."""
    model, q = gd.load_urdf(SCRIPT.ROBOT), SCRIPT.START
    dyn, errors = gd.NewtonEuler(model), []
    for h in (0.02, 0.01):
        v = h / 2 * dyn.forward_dynamics(q, [0, 0], [0, 0]).full().ravel()
        exact = gd.simulate(dyn, (q, [0, 0]), 0.5).q[-1]
        errors.append(np.abs(SCRIPT.swing(model, q, v, 0.5, h).q[-1] - exact).max())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.2)
    assert errors[1] < 2e-3


def test_a_free_body_keeps_its_momentum_exactly() -> None:
    """Discrete Noether theorem: D₂ of the action, seen from the universe, is the same in each step."""
    model = pin.Model()
    model.appendBodyToJoint(
        model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body"),
        inertia(np.random.default_rng(2)),
        pin.SE3.Identity(),
    )
    model.gravity.linear = np.zeros(3)
    h = 0.05
    start, v = pin.neutral(model), np.array([1, 2, -1, 3, -2, 4.0])
    motion = SCRIPT.swing(model, start, v, 2.0, h)
    dyn, kin = gd.NewtonEuler(model), gd.Kinematics(model)
    q0, q1, d = ca.SX.sym("q0", 7), ca.SX.sym("q1", 7), ca.SX.sym("d", 6)
    way = kin.difference(q0, kin.integrate(q1, d))
    action = h * dyn.kinetic_energy(kin.integrate(q0, way / 2), way / h)
    momentum = ca.Function("momentum", [q0, q1], [ca.substitute(ca.gradient(action, d), d, 0)])
    seen = [
        pin.XYZQUATToSE3(q_next).act(pin.Force(momentum(q, q_next).full().ravel())).vector
        for q, q_next in zip(motion.q[:-1], motion.q[1:], strict=True)
    ]
    # Newton's method ends at 1e-12 of a residual of the momentum, 40 times in a row
    assert np.abs(np.array(seen) - seen[0]).max() < 1e-10 * np.abs(seen[0]).max()
    assert np.abs(np.linalg.norm(motion.q[:, 3:], axis=1) - 1).max() < 1e-13
    assert np.ptp(motion.energy) < 0.01 * motion.energy.mean()
