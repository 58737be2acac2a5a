"""``examples/five_bar_robot.py``: the closed loop reaches its points, by the torques of virtual work."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from tests.helpers.models import relative_error
from tests.helpers.scripts import example

pytestmark = pytest.mark.extras

SCRIPT = example("five_bar_robot")


@pytest.fixture(scope="module")
def planned() -> Any:
    return SCRIPT.plan(61)


def circles(x: float, hand: np.ndarray, side: float) -> tuple[float, float]:
    """The angles of an arm's bars, the second against the first, by the law of cosines; its elbow on a side."""
    way = hand - [x, 0]
    d = np.linalg.norm(way)
    inner = np.arccos((SCRIPT.INNER**2 + d**2 - SCRIPT.OUTER**2) / (2 * SCRIPT.INNER * d))
    outer = np.arccos((d**2 - SCRIPT.INNER**2 - SCRIPT.OUTER**2) / (2 * SCRIPT.INNER * SCRIPT.OUTER))
    return float(np.arctan2(way[1], way[0]) + side * inner), float(-side * outer)


@pytest.mark.parametrize("point", [SCRIPT.PICK, SCRIPT.PLACE], ids=["pick", "place"])
def test_inverse_kinematics_is_that_of_two_triangles(point: np.ndarray) -> None:
    q = SCRIPT.inverse_kinematics(point)
    expected = [*circles(0.0, point, 1.0), *circles(SCRIPT.APART, point, -1.0)]
    assert relative_error(q, expected) < 1e-11  # a residual of 1e-12 m on levers of 0.25 m
    assert relative_error(SCRIPT.hand(SCRIPT.rigid(), [q])[0], point) < 1e-12


def test_torques_are_those_of_virtual_work(planned: Any) -> None:
    """Of the energy of both motors' angles, by Lagrange's equations in closed form; no gravity acts in the plane."""
    motors, speeds, accelerations = (ca.SX.sym(name, 2) for name in "qva")
    (left, right), outer = ca.vertsplit(motors), SCRIPT.OUTER
    elbows = [
        x + SCRIPT.INNER * ca.vertcat(ca.cos(q), ca.sin(q)) for x, q in (([0, 0], left), ([SCRIPT.APART, 0], right))
    ]
    between = elbows[1] - elbows[0]
    d = ca.norm_2(between)
    normal = ca.vertcat(-between[1], between[0]) / d
    hand = (elbows[0] + elbows[1]) / 2 + ca.sqrt(outer**2 - d**2 / 4) * normal
    kinetic = 0.5 * SCRIPT.TOOL * speed(hand, motors, speeds)
    for angle, elbow in zip((left, right), elbows, strict=True):
        own = 0.27 * SCRIPT.INNER * SCRIPT.INNER**2 / 3
        kinetic += 0.5 * own * ca.jtimes(angle, motors, speeds) ** 2
        bar = hand - elbow
        turning = ca.sumsqr(ca.jtimes(bar, motors, speeds)) / outer**2
        mass = 0.27 * outer
        kinetic += 0.5 * mass * (speed(elbow + bar / 2, motors, speeds) + outer**2 / 12 * turning)
    # the tool is a body on the left outer bar
    kinetic += 0.5 * 1e-4 * ca.sumsqr(ca.jtimes(hand - elbows[0], motors, speeds)) / outer**2
    momentum = ca.gradient(kinetic, speeds)
    rate = ca.jtimes(momentum, motors, speeds) + ca.jtimes(momentum, speeds, accelerations)
    tau = ca.Function("tau", [motors, speeds, accelerations], [rate - ca.gradient(kinetic, motors)])
    way, s = (planned.q[-1] - planned.q[0])[SCRIPT.MOTORS], planned.t / SCRIPT.DURATION
    a = np.outer(60 * s * (1 - s) * (1 - 2 * s), way) / SCRIPT.DURATION**2
    found = tau(planned.q[:, SCRIPT.MOTORS].T, planned.v[:, SCRIPT.MOTORS].T, a.T).full().T
    assert relative_error(planned.u, found) < 1e-9  # a residual of 1e-12 m, times accelerations of 200 rad/s²


def speed(point: ca.SX, q: ca.SX, v: ca.SX) -> ca.SX:
    """The square of the velocity of a point."""
    return ca.sumsqr(ca.jtimes(point, q, v))


def test_the_rigid_robot_follows_its_plan(planned: Any) -> None:
    dyn = SCRIPT.rigid()
    motion = SCRIPT.follow(dyn, planned)
    off, after = SCRIPT.errors(dyn, motion, planned)
    assert off.max() < 1e-7  # m: the spline through 61 samples of the torques
    assert after < 1e-7
    assert motion.constraint_drift.max() < 1e-9
    assert motion.relative_balance < 1e-6


def test_flexible_bars_become_rigid(planned: Any) -> None:
    worst = []
    for stiffer in (1.0, 10.0, 100.0):
        dyn = SCRIPT.flexible(stiffer)
        motion = SCRIPT.follow(dyn, planned)
        off, _ = SCRIPT.errors(dyn, motion, planned)
        assert motion.constraint_drift.max() < 1e-9
        assert motion.relative_balance < 1e-6
        worst.append(off.max())
    assert worst[0] > 5e-3
    assert worst[0] / worst[1] == pytest.approx(10, rel=0.4)  # the softest vibrates most
    assert worst[1] / worst[2] == pytest.approx(10, rel=0.2)


def test_the_flexible_robot_is_a_kkt_system(planned: Any) -> None:
    """Its forward dynamics solves M a − Jᵀ f = tau − nle, J a = −bias − damping J v − stiffness c."""
    rng = np.random.default_rng(0)
    con = SCRIPT.closed(SCRIPT.flexible())
    dyn = con.dynamics
    q = np.concatenate([planned.q[20], 0.01 * rng.normal(size=4)])
    v, tau = rng.normal(size=8), rng.normal(size=8)
    m, j = dyn.mass_matrix(q).full(), con.jacobian(q).full()
    rows = [0, 1]  # the third, across the plane, is zero
    target = con.bias_acceleration(q, v) + con.damping * con.velocity(q, v) + con.stiffness * con.residual(q)
    kkt = np.block([[m, -j[rows].T], [j[rows], np.zeros((2, 2))]])
    right = np.concatenate([tau - dyn.nle(q, v).full().ravel(), -target.full().ravel()[rows]])
    solved = np.linalg.solve(kkt, right)
    a, forces = (x.full().ravel() for x in con.forward_dynamics(q, v, tau))
    assert relative_error(a, solved[:8]) < 1e-10  # M has a condition of 1e5
    assert relative_error(forces[rows], solved[8:]) < 1e-10
    assert abs(forces[2]) < 1e-12
