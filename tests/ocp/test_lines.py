"""Four problems in few lines of gd.ocp, and in plain ``casadi.Opti`` beside them: what both find, and how many lines.

Those of the quadrotor and of Talos in ``Opti`` are in the examples; those of the cart-pendulum and of the five-bar
robot are here.
"""

from __future__ import annotations

import re
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from tests.helpers.paths import ROOT
from tests.helpers.scripts import example, lines_of

CART, FIVE, QUAD, TALOS = (
    example(name) for name in ("cart_pendulum_swing_up", "five_bar_robot", "quadrotor_to_pose", "talos_on_one_foot")
)
MOST = 15


def cart_with_opti(dyn: gd.Dynamics, n: int) -> float:
    """The swing-up by Runge–Kutta steps of order 4, as ``swing_up``: ∫ force² dt."""
    opti, h = ca.Opti(), CART.DURATION / n
    x, u = opti.variable(4, n + 1), opti.variable(1, n + 1)
    middle = (u[:, :-1] + u[:, 1:]) / 2

    def rate(state: ca.MX, force: ca.MX) -> ca.MX:
        return dyn.state_derivative(state, ca.vertcat(force, ca.DM(1, n)))

    k1 = rate(x[:, :-1], u[:, :-1])
    k2 = rate(x[:, :-1] + h / 2 * k1, middle)
    k3 = rate(x[:, :-1] + h / 2 * k2, middle)
    k4 = rate(x[:, :-1] + h * k3, u[:, 1:])
    opti.subject_to(x[:, 1:] == x[:, :-1] + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    opti.subject_to([x[:, 0] == [*CART.DOWN, 0, 0], x[:, n] == [*CART.UP, 0, 0]])
    opti.subject_to(opti.bounded(-CART.TRACK, x[0, :], CART.TRACK))
    opti.subject_to(opti.bounded(-2 * np.pi, x[1, :], 2 * np.pi))
    opti.subject_to(opti.bounded(-CART.FORCE, u, CART.FORCE))
    cost = h / 3 * ca.sum2(u[:, :-1] ** 2 + u[:, :-1] * u[:, 1:] + u[:, 1:] ** 2)
    opti.minimize(cost)
    guess = CART.pumped(dyn, n)
    opti.set_initial(x, np.hstack([guess.q, guess.v]).T)
    opti.set_initial(u, guess.u[:, :1].T)
    opti.solver("ipopt", QUAD.QUIET)
    return float(opti.solve().value(cost))


def five_bar_with_opti(n: int) -> float:
    """The least ∫ |u|² dt by steps of first order, as ``least_effort``, without the row of the pin across the plane."""
    con, opti, h = FIVE.closed(FIVE.rigid()), ca.Opti(), FIVE.DURATION / n
    start, end = FIVE.inverse_kinematics(FIVE.PICK), FIVE.inverse_kinematics(FIVE.PLACE)
    q, v, a = opti.variable(4, n + 1), opti.variable(4, n + 1), opti.variable(4, n)
    u, pin_force = opti.variable(2, n), opti.variable(2, n)
    tau = con.inverse_dynamics(q[:, :-1], v[:, :-1], a, ca.vertcat(pin_force, ca.DM(1, n)))
    opti.subject_to(tau == con.dynamics.actuation @ u)
    opti.subject_to([v[:, 1:] == v[:, :-1] + h * a, q[:, 1:] == q[:, :-1] + h * v[:, 1:]])
    opti.subject_to(con.residual(q[:, 1:])[:2, :] == 0)
    opti.subject_to([q[:, 0] == start, v[:, 0] == 0, v[FIVE.MOTORS, n] == 0])
    opti.subject_to(q[FIVE.MOTORS, n] == end[FIVE.MOTORS])
    cost = h * ca.sumsqr(u)
    opti.minimize(cost)
    opti.set_initial(q, start[:, None] + (end - start)[:, None] * np.linspace(0, 1, n + 1))
    opti.solver("ipopt", QUAD.QUIET)
    return float(opti.solve().value(cost))


HERE = Path(__file__)
EXAMPLES = ROOT / "examples"
FUNCTIONS = {
    "quadrotor": ((EXAMPLES / "quadrotor_to_pose.py", "with_ocp"), (EXAMPLES / "quadrotor_to_pose.py", "with_opti")),
    "cart-pendulum": ((EXAMPLES / "cart_pendulum_swing_up.py", "swing_up"), (HERE, "cart_with_opti")),
    "Talos on one foot": (
        (EXAMPLES / "talos_on_one_foot.py", "plan_with_ocp"),
        (EXAMPLES / "talos_on_one_foot.py", "plan"),
    ),
    "five-bar robot": ((EXAMPLES / "five_bar_robot.py", "least_effort"), (HERE, "five_bar_with_opti")),
}


def test_the_page_has_the_lines_of_each_problem() -> None:
    text = (ROOT / "docs" / "optimal_control.md").read_text(encoding="utf-8")
    text = text[text.index("| problem | lines by") :].split("\n\n")[0]
    said = {
        name: (int(one), int(other))
        for name, one, other in re.findall(r"^\| ([^|`]+) \| (\d+) \| (\d+) \|", text, re.M)
    }
    counted = {name: tuple(lines_of(*each) for each in both) for name, both in FUNCTIONS.items()}
    assert said == counted
    assert all(3 < by_ocp <= MOST and by_ocp < by_opti for by_ocp, by_opti in counted.values())


@pytest.mark.long
def test_the_cart_is_the_same_both_ways() -> None:
    """Steps of 30 ms, of order 4 and of order 6."""
    dyn = gd.NewtonEuler(gd.load_urdf("cart_pendulum"))
    solution = CART.swing_up(dyn, CART.bounds(dyn), 100)
    assert cart_with_opti(dyn, 100) == pytest.approx(solution.cost, rel=2e-3)  # bounds between the grid differ


@pytest.mark.long
def test_the_five_bar_robot_is_the_same_both_ways() -> None:
    """Steps of first order: twice the cost of half the step, less that of the step, leaves errors of second order."""
    solution = FIVE.least_effort(30)
    limit = 2 * five_bar_with_opti(80) - five_bar_with_opti(40)
    assert limit == pytest.approx(solution.cost, rel=3e-3)  # u is held for 10 ms
    assert np.abs(solution.simulate().q - solution.q).max() < 1e-5
    planned = FIVE.plan(51)
    assert solution.cost < np.trapezoid((planned.u**2).sum(axis=1), planned.t)


@pytest.mark.long
def test_the_quadrotor_is_the_same_both_ways() -> None:
    model = QUAD.build()
    solution = QUAD.with_ocp(gd.NewtonEuler(model, actuation=QUAD.B), 20)
    costs = [QUAD.DURATION / n * float((QUAD.with_opti(model, n).u ** 2).sum()) for n in (40, 80)]
    assert 2 * costs[1] - costs[0] == pytest.approx(solution.cost, rel=5e-3)


@pytest.mark.extras
def test_talos_is_the_same_both_ways() -> None:
    """Collocation holds u for 40 ms, which costs some hundredths more than steps of 10 ms and less."""
    model, standing = TALOS.build()
    start = TALOS.balanced(model, standing)
    place = gd.Kinematics(model).frame_placement(TALOS.TIP)
    target = place(start).full()[:3, 3] + TALOS.REACH
    solution = TALOS.plan_with_ocp(model, start, target, 5)
    plans = [TALOS.plan(model, start, target, n, 0.2 / n) for n in (10, 20)]
    costs = [
        0.2 / plan.a.shape[1] * float((plan.v**2).sum() + TALOS.SMALL_ACCELERATION * (plan.a**2).sum())
        for plan in plans
    ]
    assert 1 < solution.cost / (2 * costs[1] - costs[0]) < 1.07
    assert np.abs(place(solution.q[-1]).full()[:3, 3] - target).max() < 1e-7
    assert solution.violations["contacts and loops"] < 1e-8
    wrench = solution.stages.forces
    for i, share in TALOS.BOUNDED.items():
        assert np.all(np.abs(wrench[:, i]) <= share * wrench[:, 2] + 1e-4)  # of 1000 N
    assert np.abs(solution.u[:, :6]).max() == 0
    data = model.createData()
    frame = model.frames[model.getFrameId(TALOS.SOLE)]
    fext = [pin.Force.Zero() for _ in range(model.njoints)]
    fext[frame.parentJoint] = frame.placement.act(pin.Force(wrench[3]))
    stages = solution.stages
    assert np.abs(pin.rnea(model, data, stages.q[3], stages.v[3], stages.a[3], fext) - stages.u[3]).max() < 1e-5
