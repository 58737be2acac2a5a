"""Fixed ends of real-time iterations where contacts hold, and in schedules, beside IPOPT."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError
from tests.helpers.models import relative_error
from tests.ocp.test_contact_schedules import HOPPER, LIMITED
from tests.ocp.test_real_time_contacts import DRIVES, DYN, FEET, KIN, MODEL, STANDING, robot

pytestmark = pytest.mark.system
N = 6
TIGHT = {"ipopt.tol": 1e-11}
EXACT = {"first_gap": 1e-8, "iterations": 60, "levenberg_marquardt": 0.0}


def top() -> pin.Model:
    """A body on its tip."""
    model = pin.Model()
    model.name = "top"
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(base, pin.Inertia(2.0, np.zeros(3), 0.05 * np.eye(3)), pin.SE3.Identity())
    tip = pin.SE3(np.eye(3), np.array([0.1, 0.0, -0.3]))
    model.addFrame(pin.Frame("tip", base, 0, tip, pin.FrameType.OP_FRAME))
    return model


TOP = top()
AT = TOP.frames[TOP.getFrameId("tip")].placement.translation


def turned(*rotation: float) -> np.ndarray:
    """q of the body, turned about its tip."""
    turn = pin.exp3(np.array(rotation))
    return np.concatenate([AT - turn @ AT, pin.Quaternion(turn).coeffs()])


def turning(end: Any, v: Any = 0.0) -> ocp.Problem:
    """The body turns to the goal, which is an end that the contact leaves three of six directions."""
    dyn = gd.NewtonEuler(TOP, actuation=np.eye(6))
    con = gd.ConstrainedDynamics(dyn, [gd.Contact("tip", "3D", AT)])
    problem = ocp.Problem(con, 0.5, N, degree=1)
    problem.start(turned(0, 0, 0), np.zeros(6))
    problem.end(problem.parameter("goal", 7) if end is None else end, v)
    problem.squares(lambda u: u)
    problem.squares(lambda v: v, 0.3)
    return problem


def settled(solver: Any, **values: Any) -> Any:
    """The plan after ticks that change nothing."""
    for _ in range(12):
        plan = solver(**values)
    return plan


def assert_one(plan: Any, other: Any, tolerance: float = 1e-6) -> None:
    assert plan.solved
    assert abs(plan.cost - other.cost) < tolerance * other.cost
    for one, two in zip(getattr(plan, "phases", [plan]), getattr(other, "phases", [other]), strict=True):
        for name in ("q", "v", "u"):
            assert relative_error(getattr(one, name), getattr(two, name)) < tolerance, name


@pytest.mark.parametrize("v", [0.0, pytest.param(None, marks=pytest.mark.long)])
def test_a_body_on_its_tip_ends_with_a_rotation(v: Any) -> None:
    goal = turned(0.3, -0.4, 0.5)
    plan, other = settled(turning(goal, v).solver("rti", EXACT)), turning(goal, v).solver("ipopt", TIGHT)()
    assert_one(plan, other)
    rotation = pin.log3(pin.XYZQUATToSE3(plan.q[-1]).rotation.T @ pin.XYZQUATToSE3(goal).rotation)
    assert np.abs(rotation).max() < 1e-3  # beside the drift of the contact in six steps, which moves all of q
    assert plan.violations["q of end"] < 1e-7


@pytest.mark.long
def test_an_end_of_parameters_moves_from_tick_to_tick() -> None:
    solver, other = turning(None).solver("rti", EXACT), turning(None).solver("ipopt", TIGHT)
    for goal in (turned(0.3, -0.4, 0.5), turned(-0.2, 0.4, 0.6)):
        assert_one(settled(solver, goal=goal), other(goal=goal))
    former = solver.last
    with pytest.raises(ArgumentError, match="end: q"):
        solver(goal=2 * goal)
    assert solver.last is former
    assert_one(solver(), former)


def standing(problem: ocp.Problem, height: float) -> None:
    """The base of a biped, which follows its feet, ends higher or lower."""
    problem.start(STANDING, np.zeros(MODEL.nv))
    problem.squares(lambda u: u[6:], 1e-3)
    problem.squares(lambda v: v)
    problem.squares(lambda q: KIN.difference(STANDING, q), 50)
    problem.end({"base[2]": height}, 0.0)


@pytest.mark.long
def test_a_biped_ends_at_rest_on_its_feet() -> None:
    """v is fixed of ten entries, of which the feet fix six."""
    bounds = ocp.Bounds.of(DYN, u=dict.fromkeys(DYN.actuator_names[:6], (0.0, 0.0)) | dict.fromkeys(DRIVES, 30.0))
    problem = ocp.Problem(robot(FEET), 0.12, N, bounds=bounds, degree=1)
    standing(problem, STANDING[2] - 0.005)
    plan = settled(problem.solver("rti", EXACT | {"penalty": 1000.0, "first_gap": 1e-6}))
    assert_one(plan, problem.solver("ipopt", TIGHT)())
    assert max(plan.violations[f"{key} of end"] for key in "qv") < 1e-6


@pytest.mark.parametrize("free", ["v", "q and v"])
def test_a_start_beside_a_contact_may_be_free(free: str) -> None:
    """The body begins where the contact lets it: turned, and at a velocity, as the cost asks for."""
    con = gd.ConstrainedDynamics(gd.NewtonEuler(TOP, actuation=np.eye(6)), [gd.Contact("tip", "3D", AT)])
    problem, goal = ocp.Problem(con, 0.5, N, degree=1), turned(0.2, 0.1, 0.0)
    problem.start(turned(0, 0, 0) if free == "v" else None, None)
    problem.squares(lambda q: q[:6] - goal[:6], 100)
    problem.squares(lambda v: v, 0.3)
    problem.squares(lambda u: u)
    problem.squares(lambda q: q[3:6] - np.array([0.2, 0.0, 0.1]), 30, at="start")
    away = turned(0.1, 0.05, 0.0) + np.array([0.02, -0.03, 0.01, 0, 0, 0, 0])  # which the contact does not allow
    rest = np.zeros((2, 6))
    problem.guess(ocp.Guess(np.array([0.0, 0.5]), np.array([away, away]), rest, rest, rest))
    options = EXACT | {"penalty": 1000.0, "first_gap": 1e-6}
    plan = settled(problem.solver("rti", options))
    assert_one(plan, problem.solver("ipopt", TIGHT)())
    assert np.abs(plan.q[0, :3] + pin.Quaternion(plan.q[0, 3:]).matrix() @ AT - AT).max() < 1e-9
    assert plan.violations["contacts and loops: velocities at the start"] < 1e-9
    assert np.abs(plan.v[0]).max() > 0.1


def hopping(stands: bool, end: float) -> ocp.Problem:
    con = gd.ConstrainedDynamics(HOPPER, [gd.Contact("foot", "3D", rows=("z",))])
    problem = ocp.Problem(con if stands else HOPPER, N * 0.03, N, bounds=LIMITED, degree=1)
    problem.start([0.5, 0.0], 0.0)
    problem.squares(lambda q: q[1])
    problem.squares(lambda v: v, 0.1)
    problem.squares(lambda u: u, 1e-3)
    problem.end({"body": end}, None)
    return problem


@pytest.mark.parametrize("names", [["stance"] * 2 + ["flight"] * 4, ["stance"] * 2 + ["flight"] * 2 + ["stance"] * 2])
def test_a_schedule_ends_as_its_last_problem_says(names: list[str]) -> None:
    """On the foot or above it; the start is that of the first problem."""
    gait = ocp.ContactSchedule({"stance": hopping(True, 0.52), "flight": hopping(False, 0.56)})
    plan = settled(gait.solver("rti", EXACT | {"penalty": 10.0}), schedule=names)
    assert_one(plan, gait.solve(names, options=TIGHT))
    assert plan.phases[-1].q[-1, 0] == pytest.approx({"stance": 0.52, "flight": 0.56}[names[-1]], abs=1e-7)


@pytest.mark.long
def test_the_end_of_a_schedule_changes_with_it() -> None:
    gait = ocp.ContactSchedule({"stance": hopping(True, 0.52), "flight": hopping(False, 0.56)})
    solver = gait.solver("rti", EXACT | {"penalty": 10.0})
    for last in ("flight", "stance", "flight"):
        names = ["stance"] * 4 + [last] * 2
        assert_one(settled(solver, schedule=names), gait.solve(names, options=TIGHT))


@pytest.mark.long
def test_phases_end_on_their_feet() -> None:
    problems = []
    for stands, duration, intervals in ((True, 0.12, 4), (False, 0.2, 7), (True, 0.15, 3)):
        problem = ocp.Problem(hopping(stands, 0.52).dyn, duration, intervals, bounds=LIMITED, degree=1)
        problem.squares(lambda q: q[0] - 0.6, 100)
        problem.squares(lambda v: v, 0.1)
        problem.squares(lambda u: u, 1e-3)
        problems.append(problem)
    problems[0].start([0.5, 0.0])
    problems[0].end({"body": 0.53}, None)
    problems[-1].end({"body": 0.52}, None)
    phases = ocp.Phases(problems)
    assert_one(settled(phases.solver("rti", EXACT)), phases.solve(options=TIGHT), 1e-5)
