"""Real-time iterations of robots with quaternions, contacts and schedules of contacts, beside IPOPT."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.dynamics.constraints.constraint_types import RowSelection
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from tests.helpers.models import relative_error
from tests.helpers.ocp import biped

N, H = 6, 0.02
FEET = ("left", "right")
DRIVES = ("left_hip", "left_knee", "right_hip", "right_knee")


MODEL = biped()
DYN = gd.NewtonEuler(MODEL)
KIN = gd.Kinematics(MODEL)
STANDING = pin.integrate(MODEL, pin.neutral(MODEL), np.r_[np.zeros(6), 0.2, -0.4, 0.2, -0.4])
MOST = 8.0


def robot(feet: Sequence[str]) -> gd.ConstrainedDynamics:
    return gd.ConstrainedDynamics(DYN, [gd.Contact(foot, "3D") for foot in feet])


def problem_on(feet: Sequence[str], *, mu: float | None = None, **options: Any) -> ocp.Problem:
    """The base follows a pose, with small torques."""
    bounds = ocp.Bounds.of(DYN, u=dict.fromkeys(DYN.actuator_names[:6], (0.0, 0.0)) | dict.fromkeys(DRIVES, MOST))
    problem = ocp.Problem(robot(feet) if feet else DYN, N * H, N, bounds=bounds, degree=2, **options)
    problem.start(problem.parameter("q0", MODEL.nq), problem.parameter("v0", MODEL.nv))
    problem.parameter("pose", 7, at="grid")

    def away(q: ca.MX, pose: ca.MX) -> ca.MX:
        return ca.sumsqr(KIN.difference(ca.vertcat(pose, ca.DM(STANDING[7:])), q))

    small = problem.integral(lambda v: 1e-2 * ca.sumsqr(v)) + problem.integral(
        lambda u, a: 1e-3 * ca.sumsqr(u) + 1e-6 * ca.sumsqr(a)
    )
    problem.minimize(50 * problem.integral(away) + small)
    problem.guess(
        ocp.Guess(np.array([0.0, N * H]), *(np.tile(x, (2, 1)) for x in (STANDING, *np.zeros((2, 10)), np.zeros(10))))
    )
    if mu is not None:
        problem.friction(mu)
    return problem


def numbers() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    v = np.array(robot(FEET).consistent_velocity(STANDING, 0.1 * rng.normal(size=MODEL.nv)))
    poses = [
        pin.integrate(MODEL, STANDING, np.r_[0.02 * k, 0.01 * k, 0, 0.02 * k, 0, 0.03 * k, 0, 0, 0, 0])
        for k in range(N + 1)
    ]
    return {"q0": STANDING, "v0": v, "pose": np.array(poses)[:, :7].T}


def by_ipopt(schedule: Sequence[Sequence[str]], values: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The same discretisation by hand, with q, v, a, f and u as variables."""
    opti, nv = ca.Opti(), MODEL.nv
    q, v, cost = ca.MX(ca.DM(values["q0"])), ca.MX(ca.DM(values["v0"])), ca.MX(0)
    states, inputs, held = [q], [], None

    def off(q: ca.MX, v: ca.MX, pose: np.ndarray) -> ca.MX:
        goal = ca.vertcat(ca.DM(pose), ca.DM(STANDING[7:]))
        return 50 * ca.sumsqr(KIN.difference(goal, q)) + 1e-2 * ca.sumsqr(v)

    for k, feet in enumerate(schedule):
        con = robot(feet).damped(1 / H)
        if held is not None and not set(feet) <= set(held):
            v = con.impact(q, v)[0]
        held = feet
        a, u, f = opti.variable(nv), opti.variable(4), opti.variable(con.nc)
        opti.set_initial(f, 5.0)
        tau = ca.vertcat(ca.DM(6, 1), u)
        middle, rate = KIN.integrate(q, H / 2 * v + H**2 / 4 * a), v + H / 2 * a
        opti.subject_to(con.inverse_dynamics(middle, rate, a, f) == tau)
        if con.nc:
            opti.subject_to(con.acceleration_error(middle, rate, a) == 0)
        opti.subject_to(opti.bounded(-MOST, u, MOST))
        between = (values["pose"][:, k] + values["pose"][:, k + 1]) / 2
        cost += H / 3 * (1 if k else 0.5) * off(q, v, values["pose"][:, k]) + 2 * H / 3 * off(middle, rate, between)
        cost += H * (1e-3 * ca.sumsqr(u) + 1e-6 * ca.sumsqr(a))
        moved, after = opti.variable(MODEL.nq), opti.variable(nv)
        opti.set_initial(moved, STANDING)
        opti.subject_to(moved == KIN.integrate(q, H * v + H**2 / 2 * a))
        opti.subject_to(after == v + H * a)
        q, v = moved, after
        states.append(q)
        inputs.append(u)
    opti.minimize(cost + H / 6 * off(q, v, values["pose"][:, -1]))
    opti.solver("ipopt", {"expand": True, "print_time": False, "ipopt.print_level": 0, "ipopt.tol": 1e-11})
    found = opti.solve()
    return found.value(ca.horzcat(*states)).T, found.value(ca.horzcat(*inputs)).T


@pytest.mark.system
@pytest.mark.long
def test_the_first_call_finds_the_optimum_on_two_feet() -> None:
    plan = problem_on(FEET).solver("rti", {"first_gap": 1e-9})(**numbers())
    q, u = by_ipopt([FEET] * N, numbers())
    assert plan.solved
    assert relative_error(plan.q, q) < 1e-6
    assert relative_error(plan.u[:, 6:], u) < 1e-5
    assert not plan.u[:, :6].any()
    con = robot(FEET).damped(1 / H)
    for stage in zip(*plan.stages[1:], strict=True):
        q, v, a, u, forces = stage
        assert np.abs(con.inverse_dynamics(q, v, a, forces).full().ravel() - u).max() < 1e-6 * MOST
        assert np.abs(con.acceleration_error(q, v, a).full()).max() < 1e-5


@pytest.mark.system
@pytest.mark.long
def test_the_first_call_finds_the_optimum_of_a_schedule_with_an_impact() -> None:
    problems = {"both": problem_on(FEET), "left": problem_on(FEET[:1]), "none": problem_on(())}
    solver = ocp.ContactSchedule(problems).solver("rti", {"first_gap": 1e-9})
    names = ["both", "left", "left", "none", "both", "both"]
    plan = solver(**numbers(), schedule=names)
    feet = {"both": FEET, "left": FEET[:1], "none": ()}
    q, u = by_ipopt([feet[name] for name in names], numbers())
    assert plan.solved
    assert [len(phase.u) for phase in plan.phases] == [1, 2, 1, 2]
    reached = np.vstack([plan.phases[0].q[:1], *(phase.q[1:] for phase in plan.phases)])
    assert relative_error(reached, q) < 1e-6
    assert relative_error(np.vstack([phase.u[:, 6:] for phase in plan.phases]), u) < 1e-5
    before, after = plan.phases[2], plan.phases[3]
    v, impulses = robot(FEET).impact(before.q[-1], before.v[-1])
    assert relative_error(after.v[0], v.full().ravel()) < 1e-6
    assert relative_error(plan.impulses[3], impulses.full().ravel()) < 1e-4
    assert [each.size for each in plan.impulses] == [0, 0, 0, 6]
    assert plan.step_error < 0.1
    assert len(plan.simulate()) == 4


@pytest.fixture(scope="module")
def solver() -> ocp.ContactScheduleSolver:
    problems = {"both": problem_on(FEET, mu=0.6), "left": problem_on(FEET[:1], mu=0.6)}
    return ocp.ContactSchedule(problems).solver("rti")


@pytest.mark.system
@pytest.mark.long
def test_forces_stay_in_their_pyramids(solver: ocp.ContactScheduleSolver) -> None:
    values = numbers()
    values["pose"] = values["pose"] + np.r_[0.05, np.zeros(6)][:, None]  # so fast that feet would slip
    values["v0"] = np.zeros(MODEL.nv)
    plan = solver(**values, schedule=["both"] * N, guess=None)
    for _ in range(5):
        plan = solver(**values, schedule=["both"] * N)
    stages = plan.phases[0].stages
    margins = []
    for q, forces in zip(plan.phases[0].q, stages.forces, strict=False):
        for k, foot in enumerate(FEET):
            force = KIN.frame_placement(foot)(q)[:3, :3].full() @ forces[3 * k : 3 * k + 3]
            margins.append(gd.friction_cone(0.6, form="inscribed")(force).full().min())
    assert min(margins) > -1e-3
    assert min(margins) < 1e-2


@pytest.mark.system
@pytest.mark.long
def test_a_schedule_moves_with_the_horizon(solver: ocp.ContactScheduleSolver) -> None:
    values, gait = numbers() | {"v0": np.zeros(MODEL.nv)}, ["both"] * 4 + ["left"] * 3 + ["both"] * 20
    first = solver(**values, schedule=gait[:N], guess=problem_on(FEET)._initial.motion(None))
    assert [phase.dyn.nc for phase in first.phases] == [6, 3]
    with pytest.raises(ArgumentError, match="solver: schedule: got 5 names; give one for each of 6 intervals"):
        solver(**values, schedule=gait[: N - 1])
    with pytest.raises(UnknownNameError, match="no problem of the schedule named 'right'; known: 'both', 'left'"):
        solver(**values, schedule=["right"] * N)
    with pytest.raises(ArgumentTypeError, match="solver: schedule: got 'both'; give a list of 6 names"):
        solver(**values, schedule="both")
    solver.prepare(schedule=gait[1 : N + 1], shift=1)
    plan = solver(**values)
    assert [len(phase.u) for phase in plan.phases] == [3, 3]
    assert plan.impulses[1].size == 0
    plan = solver(**values, schedule=gait[3 : N + 3], shift=2)
    assert [len(phase.u) for phase in plan.phases] == [1, 3, 2]
    assert plan.impulses[2].size == 6


SCHEDULED = """
#include <stdint.h>
#include <stdio.h>
extern int tick(int);
extern double tick_x_0[21], tick_x[7][21];
extern int32_t tick_set[7];
static void schedule(int from) { /* three intervals on the left foot, and then on both */
  for (int k = 0; k < 7; ++k) tick_set[k] = (k < 6 ? k : 5) + from < 3;
}
int main(void) {
  for (int i = 0; i < 21; ++i) tick_x_0[i] = tick_x[0][i];
  for (int from = 0; from < 3; ++from) {
    schedule(from);
    printf("%d", tick(from > 0));
    for (int k = 0; k < 7; ++k)
      for (int i = 0; i < 21; ++i) printf(" %.17g", tick_x[k][i]);
    printf("\\n");
  }
  const int64_t sets[3] = {-1, 2, 1000};
  int refused = 0;
  for (int i = 0; i < 3; ++i) schedule(0), tick_set[4] = sets[i], refused += tick(0) == -2;
  schedule(0), tick_set[6] = 1, refused += tick(0) == -2; /* the last interval is on both feet */
  schedule(2);
  printf("%d", refused);
  for (int i = 0; i < 2; ++i, tick_x_0[13] += 0.5) printf(" %d", tick(0));
  return 0;
}
"""


@pytest.mark.system
@pytest.mark.long
def test_generated_c_of_a_schedule_takes_the_same_steps(solver: ocp.ContactScheduleSolver, tmp_path: Path) -> None:
    values, gait = numbers() | {"v0": np.zeros(MODEL.nv)}, ["left"] * 3 + ["both"] * 20
    solver(**values, schedule=gait[:N], guess=problem_on(FEET)._initial.motion(None))
    solver.generate(tmp_path / "tick.c")
    (tmp_path / "main.c").write_text(SCHEDULED)
    command = "cc -std=c99 -O0 -march=native -Wall -Wextra -pedantic -Werror tick.c main.c -o main -lm"
    built = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not built.returncode, built.stderr
    printed = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    *steps, ended = printed
    assert ended == "4 0 3"  # it refuses what is no schedule, and tells that feet rise by 0.5 m/s
    for k, line in enumerate(steps):
        plan = solver(**values, schedule=gait[k : k + N], shift=int(k > 0))
        verdict, *x = line.split()
        assert int(verdict) == (0 if plan.solved else 4)
        wanted = solver._steps.arrays["x"].ravel()
        assert np.abs(np.array(x, dtype=float) - wanted).max() < 1e-8
    assert len(steps) == 3
    head = " ".join((tmp_path / "tick.h").read_text().split())
    assert "that of the last * interval once more: * 0 both * 1 left * There is an impact where" in head
    assert "where contacts take hold: from 1 to 0." in head
    assert "3 if the step is taken, from a start farther than 0.05 m or rad off contacts and loops" in head


# What is refused


def test_a_schedule_is_of_one_robot_and_one_grid() -> None:
    other = ocp.Problem(robot(FEET), N * H, N + 1)
    with pytest.raises(ArgumentError, match="ContactSchedule: intervals of 'other' differ from those of 'both'"):
        ocp.ContactSchedule({"both": problem_on(FEET), "other": other})
    with pytest.raises(ArgumentTypeError, match=r"ContactSchedule: got list; give gd\.ocp\.Problem by names"):
        ocp.ContactSchedule([problem_on(FEET)])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="ContactSchedule: got no problems"):
        ocp.ContactSchedule({})


def test_a_restitution_and_redundant_rows_are_refused() -> None:
    for options, what in (({"restitution": 0.5}, "a restitution"), ({"regularization": 1e-6}, "redundant contacts")):
        problem = ocp.Problem(gd.ConstrainedDynamics(DYN, [gd.Contact("left", "3D")], **options), N * H, N)
        problem.start(STANDING)
        problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
        with pytest.raises(UnsupportedError, match=rf"rti: biped: the problem has {what}.*; take 'ipopt'$"):
            problem.solver("rti")


@dataclass(frozen=True)
class Skate(RowSelection):
    """A blade along x of the first frame, which moves along itself on the plane z = 0 of the second."""

    name: ClassVar[str] = "skate of a test"
    units: ClassVar[tuple[str, ...]] = ("m", "m")

    @property
    def is_holonomic(self) -> tuple[bool, ...]:
        return False, True

    def selection(self, r: Any, x: Any) -> Any:
        across = ca.vertcat(-r[1, 0], r[0, 0], 0) / ca.sqrt(r[0, 0] ** 2 + r[1, 0] ** 2)
        return ca.vertcat(ca.horzcat(across.T, ca.DM(1, 3)), ca.DM([[0, 0, 1, 0, 0, 0]]))

    def residual(self, r: Any, x: Any) -> Any:
        return ca.vertcat(0, x[2])


@pytest.mark.system
@pytest.mark.long
def test_first_steps_are_no_larger_than_the_plan() -> None:
    """A skate turns and slides, from a guess at rest: the first full step leads to 1e9 m."""
    model = pin.Model()
    model.name = "skater"
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(base, pin.Inertia(2.0, np.array([0.05, 0.1, 0.2]), 0.1 * np.eye(3)), pin.SE3.Identity())
    model.addBodyFrame("blade", base, pin.SE3.Identity(), 0)
    waist = model.addJoint(base, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0, 0, 0.3])), "waist")
    model.appendBodyToJoint(waist, pin.Inertia(1.0, np.array([0.1, 0, 0.1]), 0.05 * np.eye(3)), pin.SE3.Identity())
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model), [gd.Contact("blade", Skate.name, pin.SE3.Identity())])
    q = pin.integrate(model, pin.neutral(model), np.array([0.3, 0.8, 0, 0, 0, 0.7, 0.3]))
    v = con.impact(q, np.array([0.9, -1.3, 0, 0.4, -0.5, 0.6, 0.5]))[0].full().ravel()
    problem = ocp.Problem(con, 1.0, 12, degree=1)
    problem.start(q, v)
    problem.minimize(problem.integral(lambda u: 1e-2 * ca.sumsqr(u)) + problem.integral(lambda v: ca.sumsqr(v)))
    known = problem.solve().cost
    assert problem.solve("rti").cost == pytest.approx(known, rel=1e-6)
