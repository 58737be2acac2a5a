"""simulate with external wrenches: given in every way, beside the motion that the same torques make, and their work."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, SimulationError, UnknownNameError
from gdalembert.simulation.result import Simulation
from tests.helpers.models import build, relative_error
from tests.helpers.sets import quick
from tests.helpers.validated_arms import planar

MODEL = gd.load_urdf("two_link_arm")
GIVEN = {"tip": pin.LOCAL_WORLD_ALIGNED, "link1": pin.LOCAL}
X0 = np.array([0.3, -0.8, 1.0, 0.5])
TIMES = np.linspace(0, 0.4, 9)
PUSH = np.array([[3.0, 1.0], [2.0, -1.0], [1.0, 0.5], [0.2, 0.0], [0.1, 0.3], [0.4, -0.2]])
FIXED: dict[str, Any] = {"method": "rk4", "step": 0.01}
"""The same steps for all: motions differ by rounding alone."""

ROBOT, BARE = gd.NewtonEuler(MODEL, wrenches=GIVEN), gd.NewtonEuler(MODEL)


def torques() -> ca.Function:
    """(q, wrenches) → Jᵀ w, the second way."""
    q, w = ca.SX.sym("q", 2), ca.SX.sym("w", 6, 2)
    tau = sum(gd.joint_torques(MODEL, *item)(q, w[:, k]) for k, item in enumerate(GIVEN.items()))
    return ca.Function("torques", [q, w], [tau])


PUSHED = torques()


def assert_same(motion: Simulation, other: Simulation) -> None:
    for name in ("q", "v", "a", "a_before", "kinetic", "potential", "work"):
        # half a second of motion multiplies rounding errors by less than a hundred
        assert relative_error(getattr(motion, name), getattr(other, name)) < 1e-11, name


def at(t: float) -> np.ndarray:
    return PUSH * np.cos(5 * t)


ROWS = np.array([at(t) for t in TIMES])


def linear(t: float) -> np.ndarray:
    """The rows of the wrenches at a time between them."""
    k = min(int(np.searchsorted(TIMES, t, side="right")) - 1, len(TIMES) - 2)
    s = (t - TIMES[k]) / (TIMES[k + 1] - TIMES[k])
    return (1 - s) * ROWS[k] + s * ROWS[k + 1]


def as_function() -> ca.Function:
    t, x = ca.MX.sym("t"), ca.MX.sym("x", 4)
    return ca.Function("wrenches", [t, x], [ca.DM(PUSH) * ca.cos(5 * t)])


@pytest.mark.parametrize(
    ("wrenches", "law"),
    [
        (PUSH, lambda t: PUSH),
        (ca.DM(PUSH), lambda t: PUSH),
        (ROWS, linear),
        (as_function(), at),
        (lambda t, q, v: at(t), at),
        (lambda t, q, v: ca.DM(at(t)), at),
    ],
    ids=["constant", "DM", "rows", "Function", "callable", "callable of DM"],
)
@pytest.mark.parametrize("u", [[1.0, -0.5], lambda t, q, v: -2 * v], ids=["constant u", "feedback u"])
def test_wrenches_move_the_robot_as_their_torques_do(wrenches: Any, law: Any, u: Any) -> None:
    def tau(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array(u(t, q, v) if callable(u) else u) + PUSHED(q, law(t)).full().ravel()

    motion = gd.simulate(ROBOT, X0, TIMES, u, wrenches=wrenches, **FIXED)
    assert_same(motion, gd.simulate(BARE, X0, TIMES, tau, **FIXED))
    assert motion.u.shape == (9, 2)
    assert relative_error(motion.wrenches, np.array([law(t) for t in TIMES])) < 1e-14


PUSHES = {"constant": PUSH, "rows": ROWS, "function": as_function(), "python": lambda t, q, v: at(t)}
INTEGRATED = [("constant", "adams"), ("rows", "radau"), ("function", "auto"), ("python", "bdf"), ("python", "radau")]


@pytest.mark.parametrize(("wrenches", "method"), quick(INTEGRATED, *INTEGRATED[1:3]))
def test_the_balance_has_the_work_of_wrenches(wrenches: str, method: str) -> None:
    motion = gd.simulate(ROBOT, X0, TIMES, lambda t, q, v: -v, wrenches=PUSHES[wrenches], method=method)
    assert motion.relative_balance < 1e-6
    assert abs(motion.work[-1]) > 0.1
    assert "work of u, wrenches" in str(motion)
    fine = gd.simulate(ROBOT, X0, TIMES, lambda t, q, v: -v, wrenches=PUSHES[wrenches], method="rk4", step=0.001)
    assert relative_error(motion.x, fine.x) < 1e-6


def test_without_wrenches_they_are_zero() -> None:
    motion = gd.simulate(ROBOT, X0, TIMES, **FIXED)
    assert_same(motion, gd.simulate(BARE, X0, TIMES, **FIXED))
    assert not motion.wrenches.any()
    assert gd.simulate(BARE, X0, TIMES, **FIXED).wrenches.shape == (9, 6, 0)


def test_constant_wrenches_do_work_too() -> None:
    motion = gd.simulate(ROBOT.under(PUSH), X0, TIMES, **FIXED)
    assert_same(motion, gd.simulate(ROBOT, X0, TIMES, wrenches=PUSH, **FIXED))
    assert motion.relative_balance < 1e-6


def test_rows_are_held_with_hold() -> None:
    motion = gd.simulate(ROBOT, X0, TIMES, wrenches=ROWS, hold=True, **FIXED)
    x = X0
    for k in range(len(TIMES) - 1):
        x = gd.simulate(ROBOT, x, TIMES[k : k + 2], wrenches=ROWS[k], **FIXED).x[-1]
        assert relative_error(motion.x[k + 1], x) < 1e-11
    assert np.array_equal(motion.wrenches, ROWS)


def test_a_sampled_controller_meets_continuous_wrenches() -> None:
    """Rows are linear between output times also where the controller acts between them."""
    seen: list[float] = []

    def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        seen.append(t)
        return -2 * v

    for wrenches in (ROWS, lambda t, q, v: linear(t)):
        seen.clear()
        motion = gd.simulate(ROBOT, X0, TIMES, controller, wrenches=wrenches, period=0.02, **FIXED)
        assert np.allclose(seen, np.arange(0, 0.401, 0.02))
        assert motion.relative_balance < 1e-6
        if wrenches is ROWS:
            first = motion
    assert_same(motion, first)


def test_one_wrench_needs_no_axis_of_its_own() -> None:
    robot = gd.NewtonEuler(MODEL, wrenches={"tip": pin.LOCAL})
    column = PUSH[:, 0]
    motion = gd.simulate(robot, X0, TIMES, wrenches=column[:, None], **FIXED)
    for other in (column, np.tile(column, (9, 1)), ca.DM(column), lambda t, q, v: column):
        assert_same(gd.simulate(robot, X0, TIMES, wrenches=other, **FIXED), motion)


def test_wrenches_beside_parameters() -> None:
    robot = gd.NewtonEuler(MODEL, wrenches=GIVEN, parameters=["gravity"])
    p = {"gravity.y": -1.6}
    motion = gd.simulate(robot, X0, TIMES, wrenches=lambda t, q, v, p: p[1] * at(t), p=p, **FIXED)
    other = gd.simulate(robot.at(p), X0, TIMES, wrenches=lambda t, q, v: -1.6 * at(t), **FIXED)
    assert_same(motion, other)


def test_a_robot_that_flies_is_pushed() -> None:
    """A force on a body without gravity moves its centre of mass by ½ f/m t²."""
    model = build(np.random.default_rng(0), ["FreeFlyer"], [0])
    model.gravity, model.armature = pin.Motion.Zero(), np.zeros(6)
    robot = gd.NewtonEuler(model, wrenches={"body_0": pin.LOCAL_WORLD_ALIGNED})
    force, mass = np.array([1.0, -2.0, 0.5]), model.inertias[1].mass
    motion = gd.simulate(robot, np.concatenate([pin.neutral(model), np.zeros(6)]), 1.0, wrenches=[*force, 0, 0, 0])
    com = gd.Kinematics(model).center_of_mass
    moved = (com(motion.q[-1]) - com(motion.q[0])).full().ravel()
    assert relative_error(moved, force / mass / 2) < 1e-7
    assert motion.relative_balance < 1e-6


@pytest.mark.filterwarnings("ignore:link .* its body of")
def test_a_push_at_the_tip_of_a_flexible_arm() -> None:
    robot = planar(wrenches={"link2 tip": pin.LOCAL_WORLD_ALIGNED})
    x0 = np.zeros(robot.tree.nq + robot.tree.nv)
    motion = gd.simulate(robot, x0, 0.2, wrenches=[0, 0.5, 0, 0, 0, 0])
    assert motion.relative_balance < 1e-5
    assert motion.work[-1] > 1e-4


@pytest.mark.parametrize(
    ("wrenches", "error", "message"),
    [
        (np.zeros((6, 3)), ArgumentError, r"wrenches has shape \(6, 3\); give \(6, 2\) for a constant, or \(9, 6, 2\)"),
        (np.zeros(6), ArgumentError, r"simulate: wrenches has shape \(6,\); give \(6, 2\)"),
        ("push", ArgumentTypeError, "simulate: wrenches is 'push'; give real numbers, a casadi.Function"),
        (np.full((6, 2), np.nan), ArgumentError, "simulate: wrenches"),
        (lambda t: PUSH, ArgumentTypeError, r"wrenches takes 1 argument; give wrenches\(t, q, v\)$"),
        (lambda t, q, v: [0.0], ArgumentError, r"wrenches\(t, q, v\) returned \[0.0\] at t = 0 s; return 6 × 2 finite"),
        (
            ca.Function("f", [ca.MX.sym("t")], [0]),
            ArgumentError,
            r"give a Function \(t, x\[4\]\) -> \(wrenches\[6x2\]\)",
        ),
    ],
)
def test_bad_wrenches_are_refused_in_one_sentence(wrenches: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gd.simulate(ROBOT, X0, TIMES, wrenches=wrenches)


def test_a_robot_without_wrenches_says_so() -> None:
    for robot in (BARE, ROBOT.under(PUSH)):
        with pytest.raises(ArgumentError, match="wrenches are given, but two_link_arm takes none; drop them, or make"):
            gd.simulate(robot, X0, TIMES, wrenches=PUSH)


@pytest.mark.parametrize("method", ["radau", "adams"])
def test_what_a_callable_raises_is_the_cause(method: str) -> None:
    def push(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if t > 0.2:
            raise UnknownNameError("wind", "north", ["south"])
        return PUSH

    with pytest.raises(SimulationError, match="wrenches raised an exception, see above") as caught:
        gd.simulate(ROBOT, X0, TIMES, lambda t, q, v: -v, wrenches=push, method=method)
    assert isinstance(caught.value.__cause__, UnknownNameError)
    assert caught.value.t == pytest.approx(0.2)
