"""Real-time iterations: the same optimum as by IPOPT, closed loops, limits, and what is refused."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, SolutionWarning, UnsupportedError
from gdalembert.ocp.real_time import solver as real_time
from gdalembert.ocp.real_time.solver import RealTimeSolver
from gdalembert.ocp.solution import RealTimeSolution
from tests.helpers.linkages import closed_four_bar, four_bar
from tests.helpers.models import relative_error
from tests.helpers.ocp import slider

ARM = gd.load_urdf("two_link_arm", check="off")
DYN = gd.NewtonEuler(ARM)
PLACE = gd.Kinematics(ARM).frame_placement(ARM.nframes - 1)


def reaching(dyn: Any = DYN, intervals: int = 8, **options: Any) -> ocp.Problem:
    """The hand follows a reference from a measured state."""
    problem = ocp.Problem(dyn, 0.4, intervals, **options)
    nv = dyn.tree.nv
    problem.start(problem.parameter("q0", nv), problem.parameter("v0", nv))
    problem.parameter("target", 2, at="grid")
    weight = problem.parameter("weight")
    place = problem.integral(lambda q, target: ca.sumsqr(PLACE(q[:2])[[0, 2], 3] - target))
    effort = problem.integral(lambda u: 1e-3 * ca.sumsqr(u)) + problem.integral(lambda v: ca.dot(v, v) / 50)
    problem.minimize(100 * weight * place + effort + 2 * ca.sumsqr(problem.v[:, -1]))
    return problem


def numbers(nv: int = 2, n: int = 8) -> dict[str, Any]:
    target = np.array([[0.6], [0.3]]) + np.linspace(0, 0.1, n + 1)
    return {"q0": [0.2, 0.4] + [0.0] * (nv - 2), "v0": np.full(nv, 0.1), "target": target, "weight": 1.5}


def by_ipopt(values: dict[str, Any], bounds: ocp.Bounds | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The same problem by ipopt: it is that of degree 1."""
    found = reaching(bounds=bounds, degree=1).solver("ipopt", {"ipopt.tol": 1e-11})(**values)
    return found.q, found.u


# The optimum


@pytest.mark.system
@pytest.mark.parametrize("most", [np.inf, 12.0])
def test_the_first_call_finds_the_optimum(most: float) -> None:
    bounds = None if np.isinf(most) else ocp.Bounds.of(DYN, u=dict.fromkeys(DYN.actuator_names, most))
    solver = reaching(bounds=bounds).solver("rti", {"first_gap": 1e-9})
    found = solver(**numbers())
    q, u = by_ipopt(numbers(), bounds)
    assert found.solved
    assert relative_error(found.q, q) < 1e-4  # where the steps end, and the interior point
    assert relative_error(found.u, u) < 1e-4
    if np.isfinite(most):
        assert np.abs(u).max() > most - 1e-3
        assert np.abs(found.u).max() <= most


@pytest.mark.system
def test_a_tick_is_one_step_of_many() -> None:
    """From its last plan, to the optimum of another start in some calls."""
    solver, values = reaching().solver("rti", {"levenberg_marquardt": 0.0}), numbers()
    solver(**values)
    other = values | {"q0": [0.25, 0.3], "v0": [0.0, 0.2]}
    errors = []
    q, _ = by_ipopt(other)
    for _ in range(5):
        found = solver(**other)
        assert found.status == "Real_Time_Iteration"
        assert found.iterations <= 3
        errors.append(np.abs(found.q - q).max())
    assert errors[0] < 0.02
    assert errors[-1] < 0.1 * errors[0]
    assert found.q[0] == pytest.approx(other["q0"], abs=1e-3)


@pytest.mark.system
def test_an_integral_of_all_is_that_of_its_parts() -> None:
    """Squares of q and v are seen at the grid, whatever stands beside them in an integral."""

    def plan(*parts: Callable[..., ca.MX]) -> ocp.Solution:
        problem = ocp.Problem(DYN, 0.4, 8)
        problem.start(problem.parameter("q0", 2), problem.parameter("v0", 2))
        problem.minimize(sum((problem.integral(part) for part in parts), ca.MX(0)))
        return problem.solver("rti")(q0=[0.2, 0.4], v0=[0.5, 0.1])

    def together(q: ca.MX, v: ca.MX, u: ca.MX) -> ca.MX:
        return 100 * ca.sumsqr(q - 0.5) + ca.sumsqr(v) + 1e-3 * ca.sumsqr(u)

    whole = plan(together)
    parts = plan(lambda q: 100 * ca.sumsqr(q - 0.5), lambda v: ca.sumsqr(v), lambda u: 1e-3 * ca.sumsqr(u))
    assert relative_error(whole.u, parts.u) < 1e-10
    assert whole.cost == pytest.approx(parts.cost, rel=1e-12)


@pytest.mark.system
def test_a_plan_says_how_far_it_is_beyond_its_paths() -> None:
    """Of limits and expressions with parameters: at the grid as the values say, and as a motion of ipopt does."""

    def problem() -> ocp.Problem:
        made = reaching(degree=1)
        centre, radius = made.parameter("centre", 2), made.parameter("radius")
        distance = ca.Function(
            "distance",
            [q := ca.MX.sym("q", 2), c := ca.MX.sym("c", 2)],
            [ca.norm_2(PLACE(q)[[0, 2], 3] - c)],
            ["q", "centre"],
            ["d"],
        )
        made.path(distance, lower=radius, at="grid")
        assert centre.shape == (2, 1)
        return made

    solver, hand = problem().solver("rti"), PLACE([0.2, 0.4]).full()[[0, 2], 3]
    far = numbers() | {"centre": hand + 5.0, "radius": 0.1}
    assert solver(**far).violations["path 1"] == 0
    with warnings.catch_warnings():  # of the violations that are left, as the case may be
        warnings.simplefilter("ignore", ocp.SolutionWarning)
        plan = solver(**far | {"centre": hand, "radius": 0.15})
    distances = [np.linalg.norm(PLACE(q).full()[[0, 2], 3] - hand) for q in plan.q[1:]]
    assert plan.violations["path 1"] == pytest.approx(0.15 - min(distances), abs=1e-12)
    assert plan.violations["path 1"] > 0.01
    assert plan.constraint_violation >= plan.violations["path 1"]
    assert plan.excess["path 1"] >= 0.1
    assert "path 1" in str(plan)


@pytest.mark.system
def test_what_is_computed_later_is_of_its_tick() -> None:
    """Stages, violations and accuracy are computed when they are read: of the plan as it was, not of later ones."""
    solver, later = reaching().solver("rti"), reaching().solver("rti")
    kicked = numbers() | {"v0": [3.0, -2.0]}
    for each in (solver, later):
        each(**numbers())
    at_once, deferred = solver(**kicked), later(**kicked)
    expected = {name: getattr(at_once, name) for name in ("violations", "step_error", "length_violation")}
    stages = np.concatenate([at_once.stages.q, at_once.stages.v, at_once.stages.a])
    later(**numbers(), shift=2)
    assert np.array_equal(np.concatenate([deferred.stages.q, deferred.stages.v, deferred.stages.a]), stages)
    assert {name: getattr(deferred, name) for name in expected} == expected
    plan = later(**kicked)
    again = pickle.loads(pickle.dumps(plan))
    assert str(again) == str(plan) == str(replace(plan, status=plan.status))
    assert again.violations == later.last.violations
    interrupted = iter([KeyboardInterrupt])

    def deferred() -> dict[str, Any]:
        for error in interrupted:
            raise error
        return {"violations": {}}

    twice = RealTimeSolution.of({}, deferred)
    with pytest.raises(KeyboardInterrupt):
        _ = twice.violations
    assert twice.violations == {}
    with pytest.raises(ValueError, match="read-only"):
        plan.q[0] = 0.0
    with pytest.raises(AttributeError, match="has no attribute 'voilations'"):
        _ = plan.voilations


@pytest.mark.system
def test_few_iterations_find_the_first_u_of_a_kicked_robot() -> None:
    """Where limits of u hold; a search that begins close to them does not get there."""
    found = []
    for iterations in (3, 60):
        bounds = ocp.Bounds.of(DYN, u=dict.fromkeys(DYN.actuator_names, 12.0))
        solver = reaching(bounds=bounds).solver("rti", {"iterations": iterations})
        solver(**numbers())
        found.append(solver(**numbers() | {"v0": [-2.0, 1.0]}))
    assert np.abs(found[1].u).max() > 12 - 1e-3
    assert np.abs(found[0].u[0] - found[1].u[0]).max() < 0.01


@pytest.mark.system
def test_the_stages_obey_the_equations_of_motion() -> None:
    found = reaching().solver("rti")(**numbers())
    stages = found.stages
    tau = np.array(
        [DYN.inverse_dynamics(*each).full().ravel() for each in zip(stages.q, stages.v, stages.a, strict=True)]
    )
    assert relative_error(tau, found.u) < 1e-5
    assert found.duration == pytest.approx(0.4)
    assert found.step_error < 0.05


@pytest.mark.system
def test_preparation_and_feedback_are_a_call() -> None:
    one, other, values = reaching().solver("rti"), reaching().solver("rti"), numbers()
    for each in (one, other):
        each(**values)
    next_start = {"q0": [0.21, 0.41], "v0": [0.2, 0.1]}
    whole = one(shift=1, **next_start)
    other.prepare(shift=1)
    fed = other(**next_start)
    assert np.array_equal(whole.q, fed.q)
    assert np.array_equal(whole.u, fed.u)
    moved = values["target"] + 0.05
    other.prepare(shift=1)
    late = other(target=moved, **next_start)  # which is not only of the start: linearised again
    one.prepare(shift=1, target=moved)
    assert np.array_equal(late.q, one(**next_start).q)
    with pytest.raises(ArgumentError, match="prepare: there is no plan yet; call the solver first"):
        reaching().solver("rti").prepare()


@pytest.mark.system
def test_a_shift_repeats_the_last_instant() -> None:
    """Also of u and of a, which it has not."""
    solver = reaching().solver("rti")
    plan = solver(**numbers())
    for by in (1, 3):
        before = solver._u[:-1].copy(), solver._a[:-1].copy(), solver._q.copy()
        solver._steps.prepare(by)
        for rows, old in zip((solver._u[:-1], solver._a[:-1], solver._q), before, strict=True):
            assert np.array_equal(rows, np.vstack([old[by:], np.tile(old[-1], (by, 1))]))
    assert plan.stats.keys() == {"step", "gap", "infeasibility"}


# Closed loops


def followed(
    solver: RealTimeSolver, dyn: Any, q: np.ndarray, ticks: int, h: float, values: Callable[[float], Any]
) -> tuple[np.ndarray, np.ndarray]:
    """States, and u, of a robot under the first u of each plan."""
    x_0, held, steps = ca.SX.sym("x", 2 * dyn.tree.nv), ca.SX.sym("u", dyn.nu), 200
    move = ca.Function("move", [x_0, held], [ocp.rk4(dyn)(x_0, held, h / steps)[0]]).mapaccum(steps)
    x, states, inputs = np.concatenate([q, np.zeros(dyn.tree.nv)]), [], []
    for k in range(ticks):
        u = solver(q0=x[: len(q)], v0=x[len(q) :], shift=int(k > 0), **values(k * h)).u[0]
        x = move(x, ca.repmat(u, 1, steps))[:, -1].full().ravel()
        states.append(x)
        inputs.append(u)
    return np.array(states), np.array(inputs)


@pytest.mark.system
def test_a_panda_follows_within_its_limits() -> None:
    model = gd.load_urdf("panda7")
    dyn, place = gd.NewtonEuler(model), gd.Kinematics(model).frame_placement("flange")
    home, h, n = np.array([0, -0.6, 0, -2.2, 0, 1.6, 0.785]), 0.05, 20
    problem = ocp.Problem(dyn, n * h, n, bounds=ocp.Bounds.of(dyn, model))
    problem.start(problem.parameter("q0", 7), problem.parameter("v0", 7))
    problem.parameter("target", 3, at="grid")
    there = problem.integral(lambda q, target: 100 * ca.sumsqr(place(q)[:3, 3] - target))
    rest = problem.integral(lambda v: 1e-2 * ca.sumsqr(v)) + problem.integral(lambda u: 1e-6 * ca.sumsqr(u))
    problem.minimize(there + rest)
    begin = place(home).full()[:3, 3]

    def target(t: np.ndarray) -> np.ndarray:
        return (begin + np.stack([0 * t, 0.2 * np.sin(2 * t), 0.1 * (1 - np.cos(2 * t))], -1)).T

    grid = h * np.arange(n + 1)
    states, u = followed(problem.solver("rti"), dyn, home, 40, h, lambda t: {"target": target(t + grid)})
    at = np.array([place(x[:7]).full()[:3, 3] for x in states])
    errors = np.linalg.norm(at - target(h * np.arange(1, 41)).T, axis=1)
    assert np.median(errors[10:]) < 1e-3
    assert np.all(np.abs(u) <= model.effortLimit)


@pytest.mark.system
@pytest.mark.filterwarnings("ignore::gdalembert.errors.TipWarning")
def test_a_flexible_arm_moves_its_tip() -> None:
    model = gd.load_urdf("two_link_flexible")
    beams = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
    links = {name: gd.FlexibleLink(beam, gd.modes.hermite(), modal_damping=0.02) for name, beam in beams.items()}
    dyn = gd.FlexibleArm(model, links)
    nv, h, n = dyn.tree.nv, 0.05, 20
    tip = gd.Kinematics(dyn.tree).frame_placement(len(dyn.tree.frames) - 1)
    problem = ocp.Problem(dyn, n * h, n, quasi_static=None)
    problem.start(problem.parameter("q0", nv), problem.parameter("v0", nv))
    goal = tip(np.r_[0.4, 0.3, np.zeros(nv - 2)]).full()[:3, 3]
    away = problem.integral(lambda q: 100 * ca.sumsqr(tip(q)[:3, 3] - goal))
    rest = problem.integral(lambda v: 0.1 * ca.sumsqr(v[:2])) + problem.integral(lambda u: 0.1 * ca.sumsqr(u))
    problem.minimize(away + rest)
    states, _ = followed(problem.solver("rti"), dyn, np.zeros(nv), 50, h, lambda t: {})
    assert np.linalg.norm(tip(states[-1][:nv]).full()[:3, 3] - goal) < 1e-3
    assert np.abs(states[-1][nv : nv + 2]).max() < 0.02


@pytest.mark.system
def test_a_start_may_be_an_expression_of_parameters() -> None:
    """Of arrays that need no check, too; integers and complex numbers are checked."""
    problem = ocp.Problem(DYN, 0.4, 8)
    half, turned = problem.parameter("half", 2), problem.parameter("turned", 2)
    problem.start(2 * half, -turned)
    problem.minimize(problem.integral(lambda q: ca.sumsqr(q)) + problem.integral(lambda u: 1e-2 * ca.sumsqr(u)))
    solver = problem.solver("rti")
    for k in range(4):
        given = np.array([0.1, 0.05 * k]), np.array([0.2, -0.1 * k])
        plan = solver(half=given[0], turned=given[1])
        assert plan.q[0] == pytest.approx(2 * given[0], abs=1e-12)
        assert plan.v[0] == pytest.approx(-given[1], abs=1e-12)
    plan = solver(half=np.array([0, 1]), turned=np.zeros(2))
    assert plan.q[0] == pytest.approx([0, 2], abs=1e-12)
    with pytest.raises(TypeError, match="half"):
        solver(half=np.array([0.1j, 0.0]), turned=np.zeros(2))


# Limits


@pytest.mark.system
@pytest.mark.filterwarnings("ignore::gdalembert.ocp.SolutionWarning")
def test_a_start_beyond_limits_comes_back_and_paths_are_kept() -> None:
    dyn = gd.NewtonEuler(model := slider())
    problem = ocp.Problem(dyn, 2.0, 20, bounds=ocp.Bounds.of(dyn, model, q={"slide": (-1.0, 0.5)}))
    problem.start(problem.parameter("q0"), problem.parameter("v0"))
    problem.path(lambda v: v, upper=0.8)
    problem.minimize(problem.integral(lambda q: (q - 2) ** 2) + problem.integral(lambda u: 1e-3 * u**2))
    solver = problem.solver("rti", {"iterations": 30})
    inside = solver(q0=-0.5, v0=0.0)
    assert inside.q.max() < 0.5 + 1e-3
    assert inside.v.max() < 0.8 + 1e-3
    assert inside.v.max() > 0.7
    for _ in range(3):
        beyond = solver(q0=0.4, v0=1.5)  # 1.5 m/s² brake it after 0.75 m
    assert beyond.solved
    assert 0.9 < beyond.q.max() < 1.3
    assert beyond.q[-1, 0] < 0.55
    assert np.abs(beyond.u).max() <= 3.0


@pytest.mark.system
def test_parameters_of_the_robot_are_inputs() -> None:
    dyn = gd.NewtonEuler(slider(), parameters={"inertia": ["slide"]})
    problem = ocp.Problem(dyn, 1.0, 10)
    problem.start(problem.parameter("q0"))
    problem.minimize(problem.integral(lambda q: (q - 1) ** 2) + problem.integral(lambda u: 1e-2 * u**2))
    solver = problem.solver("rti")
    light = solver(q0=0.0, p={"slide.m": 1.0}, guess=None)
    heavy = problem.solver("rti")(q0=0.0, p={"slide.m": 4.0})
    assert heavy.p[0] == 4.0
    for mass, found in ((1.0, light), (4.0, heavy)):
        assert found.u == pytest.approx(mass * found.stages.a, abs=1e-4)


@pytest.mark.system
def test_numbers_that_overflow_leave_the_last_plan() -> None:
    solver, values = reaching().solver("rti"), numbers()
    plan = solver(**values)
    with pytest.warns(ocp.SolutionWarning, match="two_link_arm: the step is out of all proportion; the last plan"):
        stands = solver(**values | {"v0": [1e200, 0.0]})
    assert not stands.solved
    assert np.array_equal(stands.q, plan.q)
    assert solver(**values).solved
    with pytest.raises(ocp.OptimizationError):
        reaching().solver("rti")(**values | {"v0": [1e200, 0.0]})


@pytest.mark.system
@pytest.mark.parametrize(("name", "far"), [("target", 1e200), ("weight", 1e308)])
def test_costs_beyond_the_largest_number_are_finite(name: str, far: float) -> None:
    """With a plan, and without one."""
    solver, values = reaching().solver("rti"), numbers()
    solver(**values)
    outlandish = values | {name: np.full(np.shape(values[name]), far)}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        plans = [solver(**outlandish)]
    assert [str(each.message) for each in told] == ["two_link_arm: the step is not finite; the last plan stands for it"]
    with pytest.raises(ocp.OptimizationError, match="'Invalid_Number_Detected'") as error:
        reaching().solver("rti")(**outlandish)
    plans.append(error.value.solution)
    for plan in plans:
        assert plan.cost > 1e299
        assert np.isfinite([plan.cost, *plan.stats.values(), *plan.violations.values()]).all()
        assert all(np.isfinite(x).all() for x in (plan.q, plan.v, plan.u, *plan.stages))


@pytest.mark.system
def test_a_plan_says_how_far_its_loop_opens() -> None:
    """Steps keep velocities alone: it opens by the error of steps; here from a start that is a number."""
    dyn = gd.NewtonEuler(four_bar(), actuation=np.eye(3)[:, :1])
    con = gd.ConstrainedDynamics(dyn, [gd.Loop("coupler end", "rocker end", rows=("x", "y"))])
    problem = ocp.Problem(con, 0.4, 10)
    problem.start(closed_four_bar(0.5))
    goal = problem.integral(lambda q: 100 * (q[0] - 0.9) ** 2)
    problem.minimize(goal + problem.integral(lambda u: 1e-2 * u**2))
    plan = problem.solver("rti")()
    gaps = [np.abs(con.residual(q.T).full()).max() for q in (plan.q, plan.stages.q)]
    assert 1e-5 < plan.constraint_drift < 1e-2
    assert plan.constraint_drift == pytest.approx(max(gaps), rel=1e-12)
    assert f"contacts and loops by {plan.constraint_drift:.1e} between" in str(plan)


@pytest.mark.system
@pytest.mark.parametrize(("of_q", "of_v", "gap"), [(0.3, 0.0, "q violates Loop.* by 0.359 m"), (0, 1, "v viol.* m/s")])
def test_a_start_far_off_its_loop_is_refused_as_by_ipopt(of_q: float, of_v: float, gap: str) -> None:
    """Near ones are taken; a tick from a far one tells so."""
    dyn = gd.NewtonEuler(four_bar(), actuation=np.eye(3)[:, :1])
    con = gd.ConstrainedDynamics(dyn, [gd.Loop("coupler end", "rocker end", rows=("x", "y"))])
    problem = ocp.Problem(con, 0.4, 4)
    problem.start(problem.parameter("q0", 3), problem.parameter("v0", 3))
    problem.squares(lambda u: u)
    closed, first = np.array(closed_four_bar(0.5)), np.array([1.0, 0, 0])
    far = {"q0": closed + of_q * first, "v0": of_v * first}
    for name in ("ipopt", "rti"):
        with pytest.raises(ArgumentError, match=f"^start of the motion: {gap}; take "):
            problem.solver(name)(**far)
    solver = problem.solver("rti")
    assert solver(q0=closed + 0.01 * first, v0=0.05 * first).solved
    with pytest.warns(SolutionWarning, match=f"linkage: start of the motion: {gap}; take .*; the plan begins there$"):
        plan = solver(**far)
    assert plan.q[0] == pytest.approx(far["q0"])


@pytest.mark.system
def test_first_steps_towards_a_target_out_of_reach_settle() -> None:
    """Full steps without second derivatives of the cost go to and fro there; shorter ones find the optimum of IPOPT."""
    values = numbers() | {"target": np.full((2, 9), 30.0)}
    plan, (q, _) = reaching().solver("rti")(**values), by_ipopt(values)
    assert plan.solved
    assert plan.stats["step"] < 1e-3
    assert relative_error(plan.q, q) < 1e-3


@pytest.mark.system
def test_first_steps_that_do_not_become_small_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_time, "_FIRST_STEPS", 2)
    monkeypatch.setattr(real_time, "_SEARCHED_STEPS", 1)
    values = numbers() | {"target": np.full((2, 9), 30.0)}
    with pytest.warns(ocp.SolutionWarning, match=r"two_link_arm: the last of 3 first steps is \S+ of the plan"):
        plan = reaching().solver("rti")(**values)
    assert np.isfinite(plan.q).all()
    assert plan.stats["step"] > 1e-3


@pytest.mark.system
@pytest.mark.filterwarnings("ignore::gdalembert.ocp.SolutionWarning")
def test_squares_need_not_be_defined_where_they_do_not_count() -> None:
    """The logarithm is no number at other instants of the optimum."""
    costs = []
    for solver in ("ipopt", "rti"):
        problem = ocp.Problem(DYN, 0.8, 10, degree=1)
        problem.start([0.0, -0.3])
        problem.squares(lambda u: u)
        problem.squares(lambda q: ca.log(2 + q), 3.0, at=5)
        problem.squares(lambda q: q - 1, 30.0, at="end")
        plan = problem.solve(solver)
        costs.append(plan.cost)
    assert (2 + plan.q).min() < 0
    assert plan.stats["step"] < 1e-6
    assert costs[1] == pytest.approx(costs[0], rel=1e-7)


@pytest.mark.system
@pytest.mark.filterwarnings("ignore::gdalembert.ocp.SolutionWarning")
def test_a_line_search_ends_where_plain_steps_go_to_and_fro() -> None:
    """A tip at a point: a step that is small is a point where the conditions of an optimum hold."""
    tip = np.array([np.cos(0.5) + np.cos(0.2), np.sin(0.5) + np.sin(0.2)])
    problem = ocp.Problem(DYN, 1.0, 20)
    problem.start([0.0, -0.305])  # from many others rounding decides whether it ends
    problem.squares(lambda u: u)
    place = {"lower": tip, "upper": tip, "at": "end"}
    problem.path(lambda q: ca.vertcat(ca.cos(q[0]) + ca.cos(q[0] + q[1]), ca.sin(q[0]) + ca.sin(q[0] + q[1])), **place)
    plan = problem.solve("rti")
    assert plan.stats["step"] < 1e-6
    assert plan.violations["path 1"] < 1e-8


@pytest.mark.system
def test_a_compiled_problem_takes_the_same_steps() -> None:
    """Its expressions are compiled with the stage, not each for itself."""
    costs = []
    for compiled in (False, True):
        problem = ocp.Problem(DYN, 0.4, 4, compiled=compiled)
        problem.start([0.2, 0.4])
        problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
        problem.path(lambda q: ca.sin(q[0]), -0.5, 0.5)
        problem.squares(lambda q: ca.sin(q), 2.0)
        problem.squares(lambda q: ca.cos(q), 2.0, at=2)
        costs.append(problem.solver("rti")().cost)
    assert costs[0] == costs[1]


@pytest.mark.system
def test_phases_of_compiled_problems_take_the_same_steps() -> None:
    costs = []
    for compiled in (False, True):
        problems = [ocp.Problem(DYN, 0.4, 4, degree=1, compiled=compiled) for _ in range(2)]
        problems[0].start([0.2, 0.4])
        for problem in problems:
            problem.squares(lambda u: u)
            problem.squares(lambda q: ca.sin(q), 2.0)
            problem.path(lambda q: ca.sin(q[0]), -3.0, 3.0)
        costs.append(ocp.Phases(problems).solver("rti")().cost)
    assert costs[0] == costs[1]


# What is refused


def problem_of(change: Callable[[ocp.Problem], Any], **options: Any) -> ocp.Problem:
    problem = ocp.Problem(DYN, **({"duration": 0.4, "intervals": 4} | options))
    problem.start([0.2, 0.4])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    change(problem)
    return problem


def nothing(problem: ocp.Problem) -> None: ...


def free_body(start: Any) -> ocp.Problem:
    model = pin.Model()
    model.name = "body"
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(base, pin.Inertia(2.0, np.zeros(3), 0.1 * np.eye(3)), pin.SE3.Identity())
    problem = ocp.Problem(gd.NewtonEuler(model, actuation=np.eye(6)), 0.4, 4)
    problem.start(start)
    problem.squares(lambda u: u)
    return problem


REFUSED: dict[str, Callable[[], ocp.Problem]] = {
    "the problem has a free duration": lambda: problem_of(nothing, duration=(0.1, 1.0)),
    "the problem has control='linear'": lambda: problem_of(nothing, control="linear"),
    "the start fixes a part of q of 'base'": lambda: free_body({"base[1]": 0.1}),
    "the problem has rows of subject_to": lambda: problem_of(
        lambda problem: problem.subject_to(problem.q[0, 2] == 0.1)
    ),
    "a limit has the parameter 'ref' of every instant": lambda: problem_of(
        lambda problem: problem.path(lambda q: q[0], upper=problem.parameter("ref", at="grid")[-1])
    ),
    "a cost has u at the end, which is that of the interval before it; give at=3": lambda: problem_of(
        lambda problem: problem.squares(lambda u: u, at="end")
    ),
    "at 4 has u at the end": lambda: problem_of(lambda problem: problem.at(-1, lambda u: u, -1.0, 1.0)),
    "an integral of the cost is no sum of squares": lambda: problem_of(
        lambda problem: problem.minimize(problem.integral(lambda u, v: ca.dot(u, v)))
    ),
    "what is no integral in the cost has more than q and v of the end": lambda: problem_of(
        lambda problem: problem.minimize(ca.sumsqr(ca.diff(problem.u, 1, 1)))
    ),
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.system
def test_what_it_cannot_take_is_refused_by_name(what: str) -> None:
    with pytest.raises(UnsupportedError, match=what) as refused:
        REFUSED[what]().solver("rti")
    assert "take 'ipopt'" in str(refused.value)


def test_it_is_a_solver_of_one_problem() -> None:
    first, second = problem_of(nothing), problem_of(nothing)
    with pytest.raises(
        UnsupportedError, match=r"^rti: scenarios: real-time iterations are of one problem; take 'ipopt'"
    ):
        ocp.Scenarios([first, second]).solver("rti")


@pytest.mark.system
def test_solve_takes_steps_until_they_are_small() -> None:
    """From the guess, at every solve anew."""
    problem, known = reaching(), numbers()
    plan = problem.solve("rti", **known)
    assert plan.solved
    assert plan.stats["step"] < 1e-6
    other = problem.solve("rti", **known | {"target": known["target"] + 0.1})
    assert other.stats["step"] < 1e-6
    assert np.array_equal(problem.solve("rti", **known).q, plan.q)
    assert plan.cost == pytest.approx(reaching().solve(**known).cost, rel=1e-2)  # of another degree
    with pytest.raises(ArgumentError, match=r"^value: the last solve was by 'rti', which has other variables"):
        problem.value(problem.duration * problem.q[0, 0])


def test_options_are_checked() -> None:
    with pytest.raises(
        ArgumentError, match="rti: got the option 'steps'; give any of iterations, penalty, first_gap, lev"
    ):
        problem_of(nothing).solver("rti", {"steps": 3})
    with pytest.raises(ArgumentError, match="rti: iterations: got 0"):
        problem_of(nothing).solver("rti", {"iterations": 0})


@pytest.mark.system
def test_parameters_fix_the_end_from_the_first_tick_on() -> None:
    problem = ocp.Problem(gd.NewtonEuler(gd.load_urdf("two_link_arm")), 0.8, 20)
    problem.start(problem.parameter("q0", 2))
    problem.end(problem.parameter("goal", 2))
    problem.squares(lambda u: u)
    problem.squares(lambda v: v, 10)
    solver = problem.solver("rti")
    plan = solver(q0=[0.0, -0.3], goal=[0.5, -0.3])
    assert plan.solved
    assert plan.q[-1] == pytest.approx([0.5, -0.3], abs=1e-6)
    assert plan.violations["q of end"] == pytest.approx(np.abs(plan.q[-1] - [0.5, -0.3]).max(), abs=1e-15)
    for _ in range(5):
        plan = solver(q0=[0.0, -0.3], goal=[0.4, -0.2])
    assert plan.q[-1] == pytest.approx([0.4, -0.2], abs=1e-6)


@pytest.mark.system
def test_a_plan_says_by_how_much_it_misses_its_end() -> None:
    """The way is too far for the limits of v."""
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    problem = ocp.Problem(dyn, 0.5, 10, bounds=ocp.Bounds.of(dyn, v=dict.fromkeys(dyn.coordinate_names, 1.0)))
    problem.start([0.0, -0.3])
    problem.end([1.8, -0.3], None)
    problem.squares(lambda u: u, 1e-3)
    with pytest.warns(SolutionWarning, match="^two_link_arm: q of end violated by .*, since real-time iterations take"):
        plan = problem.solver("rti", {"iterations": 30})()
    assert plan.violations["q of end"] == pytest.approx(1.8 - plan.q[-1, 0], abs=1e-12)
    assert "v of end" not in plan.violations
    assert plan.constraint_violation > 0.5
