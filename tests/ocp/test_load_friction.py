"""Plans of a robot whose friction grows with the load, beside Pinocchio's forward dynamics under the same friction."""

from __future__ import annotations

from itertools import pairwise

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import gdalembert as gd
from gdalembert import ocp

MODEL = gd.load_urdf("two_link_arm")
VISCOUS, COULOMB, LOAD, SMOOTHING = (np.array(x) for x in ((1.0, 0.5), (0.5, 0.2), (0.3, 0.2), (0.2, 0.2)))
ROUNDED = 0.01
FRICTION = {
    f"joint{k + 1}": gd.Friction(VISCOUS[k], COULOMB[k], load=LOAD[k], smoothing=SMOOTHING[k]) for k in range(2)
}
START, END = np.array([-1.2, 0.4]), np.array([-0.6, 0.8])


def least_effort(friction: dict[str, gd.Friction]) -> ocp.Solution:
    problem = ocp.Problem(gd.NewtonEuler(MODEL, friction=friction), 0.6, 20)
    problem.start(START)
    problem.end(END)
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    return problem.solve()


def acceleration(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """a with the transmitted torque x, whose friction is a part of |x|: the root of x + friction(x) = tau."""
    direction = np.tanh(v / SMOOTHING)
    most = np.abs(tau) / (1 - LOAD) + np.abs(VISCOUS * v) + 10 * COULOMB

    def left(x: float, k: int) -> float:
        return float(
            x + VISCOUS[k] * v[k] + (COULOMB[k] + LOAD[k] * (np.hypot(x, ROUNDED) - ROUNDED)) * direction[k] - tau[k]
        )

    transmitted = [brentq(left, -2 * most[k], 2 * most[k], args=(k,), xtol=1e-12) for k in range(2)]
    return np.asarray(pin.aba(MODEL, MODEL.createData(), q, v, np.array(transmitted)))


@pytest.mark.long
def test_a_plan_leads_where_pinocchio_does() -> None:
    """Its torques in another integrator, interval by interval, to the accuracy of the plan; without friction they do
    not."""
    for friction in (FRICTION, {}):
        plan, x = least_effort(friction), np.concatenate([START, [0.0, 0.0]])
        for u, span in zip(plan.u, pairwise(plan.t), strict=True):
            x = solve_ivp(rates, span, x, args=(u,), rtol=1e-8, atol=1e-9).y[:, -1]
        if friction:
            assert np.abs(x[:2] - plan.simulate().q[-1]).max() < 1e-5
            assert np.abs(x[:2] - END).max() < 2 * plan.step_error < 0.01
        else:
            assert np.abs(x[:2] - END).max() > 0.1


def rates(_: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    return np.concatenate([x[2:], acceleration(x[:2], x[2:], u)])
