"""Real-time iterations of phases of fixed lengths, beside IPOPT."""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import SolutionWarning
from tests.helpers.models import relative_error
from tests.helpers.ocp import biped, slider, turning
from tests.ocp.test_contact_schedules import HOPPER, LIMITED, TIGHT

pytestmark = pytest.mark.system
PUMA = gd.NewtonEuler(gd.load_urdf("puma560_3"))


def at_most(effort: float) -> ocp.Bounds:
    return ocp.Bounds.of(PUMA, u=dict.fromkeys(PUMA.actuator_names, effort))


def via() -> ocp.Phases:
    """Past a place, at a time of a parameter's; limits, a path and lengths differ, and the last u is limited."""
    reach = ocp.Problem(PUMA, 1.0, 10, bounds=at_most(40.0), degree=1)
    leave = ocp.Problem(PUMA, 0.6, 8, bounds=at_most(22.0), degree=1)
    for problem, weight in ((reach, 1.0), (leave, 2.0)):
        problem.squares(lambda v: v, 0.1 * weight)
        problem.squares(lambda u: u, 1e-3)
    reach.start(reach.parameter("q0", 3), np.zeros(3))
    reach.end(reach.parameter("place", 3), None)
    reach.path(lambda q: q[1] - q[0], -0.02, 0.2)
    line = leave.parameter("line", 3, at="grid")
    leave.squares(lambda q, line: q - line, 30.0)
    leave.squares(lambda q, t: q[:2] - t, 20.0, at=3)
    leave.at(-1, lambda v: v[0], 0.1)
    assert line.shape == (3, 9)
    return ocp.Phases([reach, leave])


VIA = {"q0": [0.01, 0.0, 0.0], "place": [0.5, 0.5, 0.3], "line": np.linspace([0.5, 0.5, 0.3], [0.2, 0.2, 0.2], 9).T}


def hop(*, anchored: bool = True) -> ocp.Phases:
    """A landing is an impact, on an anchor or wherever the foot is."""
    anchor = np.zeros(3) if anchored else None
    held = gd.ConstrainedDynamics(HOPPER, [gd.Contact("foot", "3D", anchor, rows=("z",))])
    problems = []
    for robot, duration, intervals in ((held, 0.12, 4), (HOPPER, 0.2, 7), (held, 0.15, 3)):
        problem = ocp.Problem(robot, duration, intervals, bounds=LIMITED, degree=1)
        problem.squares(lambda q: q[0] - 0.6, 100)
        problem.squares(lambda q: q[1])
        problem.squares(lambda v: v, 0.1)
        problem.squares(lambda u: u, 1e-3)
        problems.append(problem)
    problems[0].start([0.5, 0.0])
    problems[-1].squares(lambda v: v[0] - 1.0, at="end")
    return ocp.Phases(problems)


def settled(solver: Any, **values: Any) -> ocp.PhasesSolution:
    plan = solver(**values)
    for _ in range(30):
        former, plan = plan.cost, solver(**values)
        if abs(plan.cost - former) < 1e-13 * abs(plan.cost):
            break
    return plan


def assert_one_optimum(phases: ocp.Phases, tolerance: float, apart: float = 1e-4, **values: Any) -> ocp.PhasesSolution:
    plan = phases.solve(options=TIGHT, **values)
    other = settled(phases.solver("rti", {"iterations": 60}), **values)
    assert abs(other.cost - plan.cost) < tolerance * plan.cost
    assert abs(sum(each.cost for each in other.phases) - other.cost) < 1e-12 * other.cost
    for one, two in zip(plan.phases, other.phases, strict=True):
        assert abs(one.cost - two.cost) < 1e3 * tolerance * plan.cost
        for name in ("t", "q", "v", "u"):
            assert relative_error(getattr(one, name), getattr(two, name)) < apart, name
    for hit, expected in zip(other.impulses, plan.impulses, strict=True):
        assert np.abs(hit - expected).max(initial=0) < apart
    assert other.constraint_violation < 1e-6
    return other


def test_phases_without_contacts_have_one_optimum() -> None:
    """Limits that differ are active in each; 4e-7 of them are IPOPT's own."""
    plan = assert_one_optimum(via(), 5e-7, **VIA)
    assert [np.abs(each.u).max() > limit - 1e-4 for each, limit in zip(plan.phases, (40, 22), strict=True)] == [
        True
    ] * 2
    assert np.abs(plan.phases[0].q[-1] - VIA["place"]).max() < 1e-8


def test_inputs_may_be_fixed_in_some_phases() -> None:
    """u is 0 in the second one, of one entry in the third one; a phase of one interval."""
    problems = []
    for duration, intervals, most in ((0.3, 1, (40, 40, 40)), (0.2, 3, (0, 0, 0)), (0.5, 6, (30, 0, 5))):
        bounds = ocp.Bounds.of(PUMA, u={name: float(x) for name, x in zip(PUMA.actuator_names, most, strict=True)})
        problem = ocp.Problem(PUMA, duration, intervals, bounds=bounds, degree=1)
        problem.squares(lambda q: q - 0.1, 3.0)
        problem.squares(lambda v: v, 0.1)
        problem.squares(lambda u: u, 1e-3)
        problems.append(problem)
    problems[0].start(np.zeros(3))
    plan = assert_one_optimum(ocp.Phases(problems), 1e-6)
    assert not plan.phases[1].u.any()
    assert not plan.phases[2].u[:, 1].any()


def test_bodies_turn_past_an_orientation() -> None:
    dyn = turning(pin.JointModelSpherical())
    problems = [ocp.Problem(dyn, duration, n, degree=1) for duration, n in ((1.0, 5), (2.0, 4))]
    for problem in problems:
        problem.squares(lambda u: u)
        problem.squares(lambda v: v, 0.1)
    problems[0].start([0.0, 0.0, 0.0, 1.0])
    problems[0].end([0.0, np.sin(0.4), 0.0, np.cos(0.4)], None)
    problems[1].end([0.0, 0.0, np.sin(0.75), np.cos(0.75)])
    plan = assert_one_optimum(ocp.Phases(problems), 1e-7)
    assert abs(plan.phases[1].v[0]).max() > 0.1


def test_parameters_of_the_robot_are_those_of_all_phases() -> None:
    dyn = gd.NewtonEuler(slider(), parameters={"inertia": True})
    problems = [ocp.Problem(dyn, duration, n, degree=1) for duration, n in ((1.0, 5), (2.0, 4))]
    for problem in problems:
        problem.squares(lambda q: q - 1)
        problem.squares(lambda u: u)
    problems[0].start([0.0])
    phases = ocp.Phases(problems)
    costs = [phases.solve(options=TIGHT, p={"slide.m": mass}).cost for mass in (1.0, 5.0)]
    assert costs[1] > 1.5 * costs[0]
    assert phases.solve("rti", p={"slide.m": 5.0}).cost == pytest.approx(costs[1], rel=1e-9)


@pytest.mark.parametrize("anchored", [True, False])
def test_a_landing_has_one_optimum(anchored: bool) -> None:
    plan = assert_one_optimum(hop(anchored=anchored), 1e-8, apart=1e-6)
    assert plan.impulses[2] > 1.0
    assert plan.impulses[0].size == plan.impulses[1].size == 0


def step(mu: float) -> ocp.Phases:
    """The right foot of a biped lifts and lands elsewhere, while the left one stays."""
    model = biped()
    dyn = gd.NewtonEuler(model)
    bounds = ocp.Bounds.of(dyn, u=dict.fromkeys(dyn.actuator_names, 40.0))
    q = pin.neutral(model)
    left, right = gd.Contact("left", "3D"), gd.Contact("right", "3D")
    both, one = gd.ConstrainedDynamics(dyn, [left, right]), gd.ConstrainedDynamics(dyn, [left])
    bent, problems = np.array([0.1, 0.2, -0.1, 0.3]), []
    for robot, duration, intervals in ((both, 0.08, 4), (one, 0.15, 5), (both, 0.1, 4)):
        problem = ocp.Problem(robot, duration, intervals, bounds=bounds, degree=1)
        problem.squares(lambda q: q[:3], 20.0)
        problem.squares(lambda q: q[7:] - bent, 1.0)
        problem.squares(lambda v: v, 0.1)
        problem.squares(lambda u: u, 1e-3)
        problem.friction(mu)
        problems.append(problem)
    problems[0].start(q)
    problems[1].squares(lambda v: v[0] - 0.3, 2.0, at="end")
    return ocp.Phases(problems)


@pytest.mark.long
def test_a_step_has_one_optimum() -> None:
    """The contact that stays gets impulses too, in friction cones.

    A small cost at its minimum knows motions to the root of its own accuracy.
    """
    plan = assert_one_optimum(step(0.5), 2e-8, apart=2e-3)
    hit = plan.impulses[2].reshape(2, 3)
    assert np.abs(hit).max() > 1e-3
    assert np.abs(hit[:, :2] / hit[:, 2:]).max() == pytest.approx(0.5 / np.sqrt(2), rel=1e-2)  # of a pyramid inside


def test_a_tick_takes_one_step_of_the_whole_sequence() -> None:
    """From the start as it is measured; the horizon stays."""
    solver = via().solver("rti", {"iterations": 30})
    plan = settled(solver, **VIA)
    moved = VIA | {"q0": VIA["q0"] + np.array([0.01, 0.01, 0.0])}
    tick = solver(q0=moved["q0"])
    assert tick.iterations
    assert np.abs(tick.phases[0].q[0] - moved["q0"]).max() < 1e-12
    assert np.array_equal(tick.t, plan.t)
    solver.prepare()
    prepared = solver(q0=moved["q0"])
    assert np.abs(prepared.phases[0].q[0] - moved["q0"]).max() < 1e-12
    again = solver(guess=plan, **moved)
    assert again.cost == pytest.approx(settled(solver).cost, rel=1e-6)  # both have settled
    assert via().solve("rti", **VIA).cost == pytest.approx(plan.cost, rel=1e-9)


MAIN = """
#include <stdio.h>
extern int tick(int);
extern double tick_x_0[6], tick_x[20][6], tick_u[20][3], tick_x_end[20][6], tick_line[21][3];
int main(void) {
  tick_x_0[0] = 0.06, tick_x_end[10][0] = 0.45;
  for (int k = 11; k < 21; ++k) tick_line[k][2] += 0.01;
  for (int k = 0; k < 3; ++k) {
    printf("%d", tick(0));
    for (int i = 0; i < 20; ++i) for (int j = 0; j < 6; ++j) printf(" %.17g", tick_x[i][j]);
    printf("\\n");
  }
  return tick(1) != -1 || tick(-1) != -1;
}
"""


def test_generated_c_takes_the_same_steps(tmp_path: Path) -> None:
    """Ends and parameters of every instant are in the rows of their phases, and no shift is taken."""
    solver = via().solver("rti")  # of three iterations: later ones of an interior point are more ill-conditioned
    solver(**VIA)
    assert solver.generate(tmp_path / "tick.c") == tmp_path / "tick.c"
    (tmp_path / "main.c").write_text(MAIN)
    header = (tmp_path / "tick.h").read_text()
    assert "phase 2  rows 11 to 19" in header
    assert "the last row is written by the tick." in " ".join(header.replace("*", " ").split())
    command = "cc -std=c99 -O1 -Wall -Wextra -pedantic -Werror tick.c main.c -o main -lm"
    built = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not built.returncode, built.stderr
    printed = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    line = VIA["line"] + np.array([[0.0], [0.0], [0.01]])
    for row in printed:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SolutionWarning)
            plan = solver(q0=[0.06, 0.0, 0.0], place=[0.45, 0.5, 0.3], line=line)
        verdict, *x = map(float, row.split())
        assert verdict == (0 if plan.solved else 4)
        wanted = np.concatenate([np.hstack([phase.q, phase.v]).ravel() for phase in plan.phases])
        assert np.abs(np.array(x) - wanted).max() < 1e-9 * np.abs(wanted).max()  # of other orders of sums
    assert len(printed) == 3


def test_what_is_missed_where_phases_meet_is_told() -> None:
    """A foot that cannot reach its anchor."""
    phases = hop()
    high = gd.ConstrainedDynamics(HOPPER, [gd.Contact("foot", "3D", np.array([0, 0, 30.0]), rows=("z",))])
    landing = ocp.Problem(high, 0.15, 3, bounds=LIMITED, degree=1)
    landing.squares(lambda u: u, 1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolutionWarning)
        plan = ocp.Phases([*phases.problems[:2], landing]).solver("rti")()
    assert plan.violations["contacts and loops where phases meet"] > 1.0
