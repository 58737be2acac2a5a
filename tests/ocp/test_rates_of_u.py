"""``du``, the rate of u, in costs and paths: beside programs that are written by hand."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, UnsupportedError
from tests.helpers.ocp import slider

N, MASS, LIMIT = 6, 2.0, 3.0
TOLERANCES: dict[str, dict[str, Any]] = {"ipopt": {"ipopt.tol": 1e-11}, "fatrop": {"fatrop.tolerance": 1e-11}}


def moved(
    *,
    before: Any = None,
    limit: float | None = LIMIT,
    duration: float | tuple[float, float] = 1.0,
    control: str = "constant",
    **options: Any,
) -> ocp.Problem:
    """A mass from rest to rest, which costs u and its rate, and time if that is free."""
    problem = ocp.Problem(gd.NewtonEuler(slider(MASS)), duration, N, control=control, **({"degree": 2} | options))
    problem.start([0.0], u=problem.parameter("u_0") if isinstance(before, str) else before)
    problem.end([0.1])
    problem.squares(lambda u: u, 0.1)
    problem.squares(lambda du: du, 0.02)
    if isinstance(duration, tuple):
        problem.minimize(problem.duration)
    if limit is not None:
        problem.path(lambda du: du, -limit, limit)
    return problem


def by_hand(
    *,
    before: float | None = None,
    limit: float | None = LIMIT,
    duration: float | tuple[float, float] = 1.0,
    control: str = "constant",
) -> tuple[float, np.ndarray]:
    """The minimum, and u, of the same motion, which u gives in closed form."""
    linear = control == "linear"
    u, time = ca.SX.sym("u", N + linear), ca.SX.sym("T")
    total, h, q, v = ca.SX(time), time / N, ca.SX(0), ca.SX(0)
    cost, rates = ca.SX(time if isinstance(duration, tuple) else 0), []
    for k in range(N):
        begin, end = u[k], u[k + 1] if linear else u[k]
        q, v = q + h * v + h**2 * (begin / 3 + end / 6) / MASS, v + h * (begin + end) / 2 / MASS
        cost += 0.1 * h * (begin**2 + begin * end + end**2) / 3
        if linear or k or before is not None:
            rates.append((end - begin) / h if linear else (u[k] - (u[k - 1] if k else before)) / h)
    cost += 0.02 * h * sum(rate**2 for rate in rates)
    largest = np.inf if limit is None else limit
    program = {"x": ca.vertcat(u, total), "f": cost, "g": ca.vertcat(q - 0.1, v, *rates)}
    solver = ca.nlpsol("by_hand", "ipopt", program, {"print_time": False, "ipopt": {"print_level": 0, "tol": 1e-12}})
    ends = duration if isinstance(duration, tuple) else (duration, duration)
    none = [np.inf] * u.numel()
    found = solver(
        x0=[*np.linspace(0.2, -0.2, u.numel()), ends[0]],
        lbx=[*(-np.array(none)), ends[0]],
        ubx=[*none, ends[1]],
        lbg=[0, 0, *[-largest] * len(rates)],
        ubg=[0, 0, *[largest] * len(rates)],
    )
    assert solver.stats()["success"]
    return float(found["f"]), found["x"].full().ravel()[:-1]


CASES: dict[str, dict[str, Any]] = {
    "no u before": {"limit": 2.5},
    "u before": {"before": 0.3},
    "no limit": {"before": 0.3, "limit": None},
    "free duration": {"before": 0.3, "duration": (0.5, 2.0)},
    "free duration, no u before": {"limit": 2.5, "duration": (0.5, 2.0)},
}


@pytest.mark.parametrize(
    ("case", "solver"),
    [
        ("no u before", "ipopt"),
        ("no u before", "fatrop"),
        ("u before", "fatrop"),
        pytest.param("no limit", "ipopt", marks=pytest.mark.long),
        pytest.param("free duration", "ipopt", marks=pytest.mark.long),
        pytest.param("free duration", "fatrop", marks=pytest.mark.long),
        pytest.param("free duration, no u before", "ipopt", marks=pytest.mark.long),
        pytest.param("free duration, no u before", "fatrop", marks=pytest.mark.long),
    ],
)
def test_rates_of_constant_u_count_from_the_interval_before(case: str, solver: str) -> None:
    options = CASES[case]
    cost, u = by_hand(**options)
    plan = moved(**options).solve(solver, TOLERANCES[solver])
    assert plan.cost == pytest.approx(cost, rel=1e-8)  # as far as both solvers go
    assert np.abs(plan.u.ravel() - u).max() < 1e-5
    if (limit := options.get("limit", LIMIT)) is not None:  # and it is reached, from interval to interval
        rates = np.diff(plan.u.ravel()) / (plan.duration / N)
        assert np.abs(rates).max() == pytest.approx(limit, rel=1e-6)


def test_rates_of_linear_u_are_those_of_intervals() -> None:
    cost, u = by_hand(control="linear", limit=2.7)
    plan = moved(control="linear", limit=2.7).solve("ipopt", TOLERANCES["ipopt"])
    assert plan.cost == pytest.approx(cost, rel=1e-8)
    assert np.abs(plan.u.ravel() - u).max() < 1e-5
    assert np.abs(np.diff(plan.u.ravel()) * N).max() == pytest.approx(2.7, rel=1e-6)
    with pytest.raises(UnsupportedError, match=r"fatrop.*take control='constant'"):
        moved(control="linear").solve("fatrop")
    with pytest.raises(ArgumentError, match=r"start: u: with control='linear'.*problem.at\('start'"):
        moved(control="linear", before=0.3)


@pytest.mark.parametrize("options", [pytest.param({"method": "rk4"}, marks=pytest.mark.long), {"degree": 1}])
def test_rates_of_u_are_those_of_any_step(options: dict[str, Any]) -> None:
    """At midpoints alone, too, where limits hold at the grid."""
    cost, _ = by_hand(before=0.3)
    plan = moved(before=0.3, **options).solve("ipopt", TOLERANCES["ipopt"])
    assert plan.cost == pytest.approx(cost, rel=1e-8)


def test_u_before_is_a_parameter_of_each_tick() -> None:
    solver = moved(before="u_0").solver("ipopt", TOLERANCES["ipopt"])
    for u_0 in (0.3, 0.4):
        assert solver(u_0=u_0).cost == pytest.approx(by_hand(before=u_0)[0], rel=1e-8)


def test_rates_are_the_same_in_an_integral_and_in_any_cost() -> None:
    problem = moved(before=0.3, limit=None)
    whole = problem.integral(lambda u, du: 0.1 * u**2 + 0.02 * du**2)
    problem.minimize(whole)
    assert problem.solve().cost == pytest.approx(2 * by_hand(before=0.3, limit=None)[0], rel=1e-7)


def test_rates_are_minimised_in_any_cost() -> None:
    """A root of an integral is the cost of no interval: u before the motion is there all the same."""
    problem = ocp.Problem(gd.NewtonEuler(slider(MASS)), 1.0, N)
    problem.start([0.0], u=0.3)
    problem.end([0.1])
    rates = problem.integral(lambda du: du**2)
    problem.minimize(ca.sqrt(1 + rates))
    plan = problem.solve()
    by_u = np.sum((np.diff(plan.u.ravel(), prepend=0.3) * N) ** 2) / N
    assert problem.value(rates).item() == pytest.approx(by_u, rel=1e-9)
    alone = ocp.Problem(gd.NewtonEuler(slider(MASS)), 1.0, N)
    alone.start([0.0], u=0.3)
    alone.end([0.1])
    alone.squares(lambda du: du)
    assert alone.solve("fatrop").cost == pytest.approx(by_u, rel=1e-7)


def test_limits_of_a_rate_that_counts_from_nothing_hold() -> None:
    """Without u before the motion the first interval has no rate, which no limit refuses."""
    problem = ocp.Problem(gd.NewtonEuler(slider(MASS)), 1.0, N)
    problem.start([0.0])
    problem.squares(lambda u: u)
    problem.path(lambda du: du, 0.6, 1.0)
    plan = problem.solve()
    assert np.diff(plan.u.ravel()) * N == pytest.approx(np.full(N - 1, 0.6), rel=1e-6)


def test_a_stage_begins_with_u_before_it() -> None:
    stage = moved(before=0.3).stage
    assert stage.numel_in("x") == 2 + 1
    found = stage(x=[0.0, 0.0, 0.3], u=0.5, w=[0.25, 0.25])
    assert found["x_next"].full().ravel()[-1] == 0.5
    assert found["rows"].full().ravel() == pytest.approx([(0.5 - 0.3) * N], rel=1e-12)
    assert found["cost"].full().item() == pytest.approx((0.1 * 0.5**2 + 0.02 * (0.2 * N) ** 2) / N, rel=1e-12)
    without = ocp.Problem(gd.NewtonEuler(slider(MASS)), 1.0, N)
    without.squares(lambda u: u)
    assert without.stage.numel_in("x") == 2


@pytest.mark.parametrize("solver", [pytest.param("ipopt", marks=pytest.mark.long), "fatrop"])
def test_rates_go_on_from_problem_to_problem_of_a_schedule(solver: str) -> None:
    dyn, problems = gd.NewtonEuler(slider(MASS)), dict[str, ocp.Problem]()
    for name in ("one", "other"):
        problems[name] = problem = ocp.Problem(dyn, 1.0, N, degree=2)
        problem.squares(lambda u: u, 0.1)
        problem.squares(lambda du: du, 0.02)
        problem.path(lambda du: du, -LIMIT, LIMIT)
        problem.end([0.1])
    problems["one"].start([0.0], u=0.3)
    gait = ocp.ContactSchedule(problems)
    for schedule in (["one"] * 3 + ["other"] * 3, ["other"] * 2 + ["one"] * 4):
        plan = gait.solve(schedule, solver, TOLERANCES[solver])
        assert plan.cost == pytest.approx(by_hand(before=0.3)[0], rel=1e-8)


@pytest.mark.parametrize(
    ("solver", "controls"),
    [
        ("ipopt", ("constant", "constant")),
        ("fatrop", ("constant", "constant")),
        pytest.param("ipopt", ("linear", "constant"), marks=pytest.mark.long),
    ],
)
def test_rates_go_on_from_phase_to_phase(solver: str, controls: tuple[str, str]) -> None:
    """Limits of the first interval of a phase, and its cost, are those of u from the phase before."""
    dyn, problems = gd.NewtonEuler(slider(MASS)), list[ocp.Problem]()
    for control, intervals in zip(controls, (2, N - 2), strict=True):
        problems.append(ocp.Problem(dyn, intervals / N, intervals, degree=2, control=control))
        problems[-1].squares(lambda u: u, 0.1)
        problems[-1].squares(lambda du: du, 0.02)
        problems[-1].path(lambda du: du, -LIMIT, LIMIT)
    problems[0].start([0.0], u=0.3 if controls[0] == "constant" else None)
    problems[1].end([0.1])
    plan = ocp.Phases(problems).solve(solver, TOLERANCES[solver])
    last, after = plan.phases[0].u[-1, 0], plan.phases[1].u[:, 0]
    rates = np.diff(after, prepend=last) * N
    assert np.abs(rates).max() < LIMIT * (1 + 1e-7)
    assert plan.phases[1].cost == pytest.approx(np.sum(0.1 * after**2 + 0.02 * rates**2) / N, rel=1e-8)
    if controls[0] == "constant":
        assert plan.cost == pytest.approx(by_hand(before=0.3)[0], rel=1e-8)


def test_what_is_no_u_before_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"start: u has shape \(2, 1\); give \(1, 1\)"):
        moved(before=ca.MX.sym("u", 2))
    with pytest.raises(ArgumentError, match=r"start: u has shape \(2,\)"):
        moved(before=[1.0, 2.0])
    with pytest.raises(ArgumentError, match=r"'foreign'"):
        moved(before=ca.MX.sym("foreign"))
    problem = moved(before="u_0")
    with pytest.raises(ArgumentError, match="u_0"):
        problem.solve(u_0=np.nan)
