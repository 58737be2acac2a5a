"""Real-time iterations of problems that have ``du``, the rate of u, beside IPOPT."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import UnsupportedError
from tests.helpers.models import relative_error
from tests.ocp.test_contact_schedules import HOP, phase

pytestmark = [pytest.mark.system, pytest.mark.filterwarnings("ignore:.*midpoints alone")]
DYN = gd.NewtonEuler(gd.load_urdf("two_link_arm", check="off"))
N, H, LIMIT = 6, 0.05, 40.0
TIGHT = {"ipopt.tol": 1e-12}
EXACT = {"first_gap": 1e-8, "iterations": 60, "levenberg_marquardt": 0.0}
VALUES = {"q0": [0.2, 0.4], "v0": [0.1, 0.1]}


def smooth(before: Any = None, most: Any = None, goal: float = 0.6) -> ocp.Problem:
    """Costs and limits of rates, of which one has q in it as well."""
    bounds = None if most is None else ocp.Bounds.of(DYN, u=most)
    problem = ocp.Problem(DYN, N * H, N, bounds=bounds, degree=1)
    u = problem.parameter("u_0", 2) if isinstance(before, str) else before
    problem.start(problem.parameter("q0", 2), problem.parameter("v0", 2), u=u)
    costs(problem, goal)
    problem.path(lambda q, du: 100 * q[0] + du[1], -60.0, 32.0)
    return problem


def costs(problem: ocp.Problem, goal: float) -> None:
    problem.squares(lambda q: q - ca.DM([goal, -goal / 2]), 100)
    problem.squares(lambda v: v, 0.05)
    problem.squares(lambda u: u, 1e-3)
    problem.squares(lambda du: du, 1e-5)
    problem.squares(lambda q, du: q + 1e-2 * du, 0.1)
    problem.path(lambda du: du, -LIMIT, LIMIT)


def settled(solver: Any, **values: Any) -> Any:
    """The plan after ticks that change nothing."""
    for _ in range(12):
        plan = solver(**values)
    return plan


def assert_one(plan: Any, other: Any) -> None:
    assert plan.solved
    assert abs(plan.cost - other.cost) < 1e-7 * other.cost
    assert relative_error(plan.u, other.u) < 1e-6
    assert relative_error(plan.q, other.q) < 1e-7


@pytest.mark.parametrize("before", [None, "u_0", pytest.param([1.0, -0.5], marks=pytest.mark.long)])
def test_rates_have_one_optimum(before: Any) -> None:
    values = VALUES | ({"u_0": [3.0, 0.5]} if before == "u_0" else {})
    other = smooth(before).solver("ipopt", TIGHT)(**values)
    plan = settled(smooth(before).solver("rti", EXACT), **values)
    assert_one(plan, other)
    given = values.get("u_0", before)
    rates = np.diff(plan.u, axis=0, **({} if given is None else {"prepend": [given]})) / H
    assert np.abs(rates).max() == pytest.approx(LIMIT, rel=1e-9)  # hard, as their penalty is larger than their force
    rows = (100 * (plan.q[:-1, 0] + plan.q[1:, 0]) / 2)[len(plan.u) - len(rates) :] + rates[:, 1]
    assert plan.constraint_violation < 1e-9
    assert np.abs(rows).max() > 10


def test_limits_of_a_rate_that_counts_from_nothing_hold() -> None:
    """Without u before the motion, the first interval has no rate, which no limit refuses."""
    problem = ocp.Problem(DYN, N * H, N, degree=1)
    problem.start([0.2, 0.4])
    problem.squares(lambda u: u)
    problem.path(lambda du: du, 6.0, 9.0)
    plan = settled(problem.solver("rti", EXACT))
    assert plan.constraint_violation < 1e-9
    assert np.diff(plan.u, axis=0).min() / H == pytest.approx(6.0, rel=1e-8)
    assert_one(plan, problem.solver("ipopt", TIGHT)())


def test_u_before_is_that_of_the_last_tick() -> None:
    solver, other = smooth("u_0").solver("rti", EXACT), smooth("u_0").solver("ipopt", TIGHT)
    values: dict[str, Any] = VALUES | {"u_0": [3.0, 0.5]}
    plan = settled(solver, **values)
    for _ in range(2):
        values = {"q0": plan.q[1], "v0": plan.v[1], "u_0": np.array(plan.u[0])}
        solver.prepare(shift=1)
        plan = solver(**values)
        assert np.abs(plan.u[0] - values["u_0"]).max() < (LIMIT + 1e-6) * H
        plan = settled(solver, **values)
        assert_one(plan, other(**values))


def test_a_tick_is_the_same_with_and_without_preparation() -> None:
    first, second = (smooth("u_0").solver("rti", {"iterations": 10}) for _ in range(2))
    for solver in (first, second):
        solver(**VALUES, u_0=[3.0, 0.5])
    now = {"q0": np.array([0.25, 0.38]), "v0": np.array([0.2, 0.0]), "u_0": np.array([2.5, 0.4])}
    first.prepare(shift=1)
    plan, other = first(**now), second(**now, shift=1)
    assert np.array_equal(plan.u, other.u)
    assert np.array_equal(plan.q, other.q)
    assert plan.q.shape == (N + 1, 2)
    assert plan.v.shape == (N + 1, 2)


def test_what_bounds_fix_has_no_rate_of_its_own() -> None:
    """An entry of u that is fixed is no state."""
    fixed: Any = {DYN.actuator_names[0]: 30.0, DYN.actuator_names[1]: (1.5, 1.5)}
    solver = smooth([1.0, 1.5], fixed).solver("rti", EXACT)
    assert solver._steps.sizes.nx == 4 + 1
    assert_one(settled(solver, **VALUES), smooth([1.0, 1.5], fixed).solver("ipopt", TIGHT)(**VALUES))
    without = ocp.Problem(DYN, N * H, N)
    without.start([0.2, 0.4], u=[1.0, 2.0])
    without.squares(lambda u: u)
    assert without.solver("rti")._steps.sizes.nx == 4


@pytest.mark.long
def test_rates_go_on_in_a_schedule() -> None:
    gait = ocp.ContactSchedule({"one": smooth("u_0"), "other": smooth("u_0", goal=0.3)})
    values = VALUES | {"u_0": [3.0, 0.5]}
    solver = gait.solver("rti", EXACT)
    for names in (["one"] * 3 + ["other"] * 3, ["other"] * 2 + ["one"] * 4):
        other = gait.solve(names, options=TIGHT, **values)
        plan = settled(solver, **values, schedule=names)
        assert abs(plan.cost - other.cost) < 1e-6 * other.cost
        for one, two in zip(plan.phases, other.phases, strict=True):
            assert relative_error(one.u, two.u) < 1e-5


@pytest.mark.long
def test_rates_go_on_behind_an_impact() -> None:
    problems = {"stance": phase(True), "flight": phase(False)}
    for problem in problems.values():
        problem.squares(lambda du: du, 1e-6)
    problems["stance"].start([0.5, 0.0], [0.0, 0.0], u=[20.0])
    gait = ocp.ContactSchedule(problems)
    other = gait.solve(HOP, options={"ipopt.tol": 1e-11})
    plan = settled(gait.solver("rti", EXACT), schedule=HOP)
    assert plan.impulses[2].size == 1
    assert abs(plan.cost - other.cost) < 1e-6 * other.cost
    for one, two in zip(plan.phases, other.phases, strict=True):
        assert relative_error(one.u, two.u) < 1e-5


@pytest.mark.long
def test_rates_go_on_from_phase_to_phase() -> None:
    problems = [ocp.Problem(DYN, duration, n, degree=1) for duration, n in ((0.3, 6), (0.2, 3))]
    for problem, goal in zip(problems, (0.4, 0.6), strict=True):
        costs(problem, goal)
    problems[0].start([0.2, 0.4], u=[3.0, 0.5])
    phases = ocp.Phases(problems)
    other, plan = phases.solve(options=TIGHT), settled(phases.solver("rti", EXACT))
    assert abs(plan.cost - other.cost) < 1e-6 * other.cost
    for one, two in zip(plan.phases, other.phases, strict=True):
        assert relative_error(one.u, two.u) < 1e-4
    problems[1].start(None, None, u=[1.0, 1.0])
    with pytest.raises(UnsupportedError, match="phase 2 has u before it; give it to the first one"):
        ocp.Phases(problems).solver("rti")


MAIN = """
#include <stdio.h>
#include <string.h>
extern int tick(int);
extern double tick_x_0[6], tick_x[7][6], tick_u[6][2];
int main(void) {
  for (int k = 0; k < 2; ++k) { /* rounding grows in those behind them */
    double u[2];
    memcpy(tick_x_0, tick_x[1], 4 * sizeof(double));
    memcpy(u, tick_u[0], sizeof u), memcpy(tick_x_0 + 4, u, sizeof u);
    printf("%d", tick(1));
    for (int i = 0; i < 6; ++i) printf(" %.17g %.17g", tick_u[i][0], tick_u[i][1]);
    printf("\\n");
  }
  return 0;
}
"""


@pytest.mark.long
def test_generated_c_takes_the_same_steps(tmp_path: Path) -> None:
    """[q; v] as measured, and behind them the u before."""
    solver = smooth("u_0").solver("rti")
    plan = solver(**VALUES, u_0=[3.0, 0.5])
    solver.generate(tmp_path / "tick.c")
    (tmp_path / "main.c").write_text(MAIN)
    command = "cc -std=c99 -O2 -Wall -Wextra -pedantic -Werror tick.c main.c -o main -lm"
    built = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not built.returncode, built.stderr
    printed = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    for line in printed:
        plan = solver(q0=plan.q[1], v0=plan.v[1], u_0=np.array(plan.u[0]), shift=1)
        verdict, *u = map(float, line.split())
        assert verdict == 0
        assert np.abs(np.array(u) - plan.u.ravel()).max() < 1e-10 * np.abs(plan.u).max()  # of other orders of sums
