"""Solvers that are built once: parameters, warm starts, shifts, failures, generated code."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, UnknownNameError
from gdalembert.nlp.entries import NOWHERE, IntervalIndex
from tests.helpers.models import relative_error
from tests.helpers.ocp import quadrotor, slider, turning
from tests.helpers.sets import quick

ARM = gd.load_urdf("two_link_arm")
DYN, PLACE = gd.NewtonEuler(ARM), gd.Kinematics(ARM).frame_placement("tip")


def reaching(**options: Any) -> ocp.Problem:
    """The arm's hand reaches a target from a measured state."""
    problem = ocp.Problem(DYN, 0.6, 6, bounds=ocp.Bounds.of(DYN, ARM), **options)
    target = problem.parameter("target", 2)
    problem.start(problem.parameter("q0", 2), problem.parameter("v0", 2))
    effort = problem.integral(lambda u: 1e-4 * ca.sumsqr(u)) + problem.integral(lambda v: 0.1 * ca.sumsqr(v))
    problem.minimize(problem.integral(lambda q: 10 * ca.sumsqr(PLACE(q)[[0, 2], 3] - target)) + effort)
    return problem


def numbers(angle: float = 0.0) -> dict[str, Any]:
    return {"q0": [angle, 0.4], "v0": [0.1, -0.2], "target": [0.6, 0.3]}


def same(one: ocp.Solution, other: ocp.Solution, tolerance: float = 1e-5) -> None:
    """To the tolerance of the solver, 1e-8 of a problem it scales."""
    assert one.cost == pytest.approx(other.cost, rel=1e-6)
    for name in ("q", "v", "u"):
        assert relative_error(getattr(one, name), getattr(other, name)) < tolerance


def test_a_solution_at_its_bounds_is_stationary() -> None:
    """With the multipliers of the bounds; the effort without them would be 3.6 N."""
    model = slider()
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, 1.0, 6, bounds=ocp.Bounds.of(dyn, model))
    problem.start([0.0])
    problem.end([0.3])
    problem.minimize(problem.integral(lambda u: u**2))
    solver = problem.solver()
    assert np.abs(solver().u).max() == pytest.approx(3.0, abs=1e-6)
    assert solver.stationarity() < 1e-6  # the solver's tolerance


# Parameters.


def test_parameters_are_the_numbers_that_they_stand_for() -> None:
    """A problem with these numbers written into it has the same solution."""
    dyn = gd.NewtonEuler(slider())

    def problem(end: Any, weight: Any, most: Any, made: ocp.Problem) -> ocp.Problem:
        made.start([0.0], 0.0)
        made.end(end)
        made.path(lambda v: v, upper=most)
        made.minimize(made.integral(lambda u, a: weight * u**2 + a**2))
        return made

    plain = problem([0.5], 0.3, 0.6, ocp.Problem(dyn, 1.0, 8)).solve()
    other = ocp.Problem(dyn, 1.0, 8)
    goal, weight, most = (other.parameter(name) for name in ("goal", "weight", "most"))
    solver = problem(goal, weight, most, other).solver()
    same(solver(goal=0.5, weight=0.3, most=0.6), plain)
    assert solver(goal=0.1, most=5).q[-1, 0] == pytest.approx(0.1, abs=1e-8)
    same(solver(goal=0.5, most=0.6), plain)
    same(other.solve(goal=0.5, weight=0.3, most=0.6), plain)


def test_references_are_interpolated_between_the_instants_of_the_grid() -> None:
    """The least squares from a straight line of q are that line: no force is needed."""
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 4)
    problem.parameter("line", 1, at="grid")
    problem.start([0.0], v=None)
    away = problem.integral(lambda q, line: (q - line) ** 2)
    problem.minimize(away + 1e-6 * problem.integral(lambda u: u**2))
    found = problem.solver()(line=np.linspace(0, 0.8, 5))
    np.testing.assert_allclose(found.q.ravel(), np.linspace(0, 0.8, 5), rtol=0, atol=1e-6)
    by_time = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 4)
    by_time.start([0.0], v=None)
    away = by_time.integral(lambda q, t: (q - 0.8 * t) ** 2)
    by_time.minimize(away + 1e-6 * by_time.integral(lambda u: u**2))
    same(by_time.solve(), found)


def test_an_end_of_some_entries_and_of_a_frame() -> None:
    dyn = gd.NewtonEuler(ARM)
    problem = ocp.Problem(dyn, 0.5, 5)
    problem.start([0.1, 0.2])
    problem.end({"joint2": problem.parameter("elbow")}, v={"joint2": 0.5})
    height = gd.Kinematics(ARM).frame_placement("tip")
    level = problem.parameter("level")
    problem.path(lambda q: height(q)[2, 3], level, level, at="end")
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    solution = problem.solve(elbow=0.3, level=-0.1)
    assert solution.q[-1, 1] == pytest.approx(0.3, abs=1e-8)
    assert solution.v[-1, 1] == pytest.approx(0.5, abs=1e-8)
    assert abs(solution.v[-1, 0]) > 1e-3
    assert float(height(solution.q[-1])[2, 3]) == pytest.approx(-0.1, abs=1e-7)
    assert max(solution.violations.values()) < 1e-7


def test_another_start_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 6)
    problem.start([0.0])
    problem.end([0.5])
    problem.minimize(problem.integral(lambda u: u**2))
    first = problem.solve()
    with monkeypatch.context() as without:
        without.setattr("gdalembert.ocp.program.Program", None)
        problem.start([0.2], v=0.3)
        assert problem.solve().q[0, 0] == pytest.approx(0.2, abs=1e-9)
        problem.start([0.0])
        same(problem.solve(), first)
    problem.end(None)  # other entries: built again
    assert problem.solve().cost < first.cost


def test_a_start_that_is_measured_may_be_outside_the_bounds() -> None:
    """The bounds at that instant make way, and the report says so."""
    model = slider()
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, 1.0, 6, bounds=ocp.Bounds.of(dyn, model, q={"slide": (-0.5, 0.5)}))
    problem.start(problem.parameter("q0"), problem.parameter("v0"))
    problem.end([0.0])
    problem.minimize(problem.integral(lambda u: u**2))
    solver = problem.solver()
    assert solver(q0=0.3, v0=0.0).constraint_violation < 1e-7
    outside = ocp.Problem(dyn, 2.0, 6, bounds=problem.bounds, bounds_at="grid")
    outside.start(outside.parameter("q0"), 0.0)
    outside.end([0.0])
    outside.minimize(outside.integral(lambda u: u**2))
    assert outside.solver()(q0=0.51).violations["bounds of q at the grid"] == pytest.approx(0.01, abs=1e-7)


@pytest.mark.parametrize("name", quick(["ipopt", "fatrop"], "ipopt"))
@pytest.mark.parametrize("at", quick([None, "grid"], "grid"))
def test_a_start_that_is_measured_may_violate_paths(at: str | None, name: str) -> None:
    """As it may violate bounds; numbers may not."""
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 4, degree=1)
    problem.start(problem.parameter("q0"), problem.parameter("v0"))
    problem.path(lambda q, v: q**2 + 0.01 * v, upper=0.25, at=at)
    problem.minimize(problem.integral(lambda q: (q - 0.8) ** 2) + problem.integral(lambda u: 1e-3 * u**2))
    solver = problem.solver(name)
    inside = solver(q0=0.45, v0=0.0)
    assert inside.violations["path 1"] < 1e-6
    outside = solver(q0=0.51, v0=0.0)
    assert outside.solved
    assert outside.violations["path 1"] == pytest.approx(0.51**2 - 0.25, rel=1e-6)
    assert (outside.q[1:, 0] ** 2 + 0.01 * outside.v[1:, 0]).max() < 0.25 + 1e-6
    problem.start([0.51])
    with pytest.raises(ocp.OptimizationError, match="path 1 by"):
        problem.solve(name)
    with pytest.raises(ArgumentError, match=r"^solver: start or end fix other entries"):
        solver()


def test_a_quaternion_is_a_parameter() -> None:
    dyn = turning(pin.JointModelSpherical())
    problem = ocp.Problem(dyn, 1.2, 6)
    problem.start(problem.parameter("q0", 4))
    problem.end(problem.parameter("q1", 4))
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    solver = problem.solver()
    turned = np.array([np.sin(0.6), 0, 0, np.cos(0.6)])
    far = r"start: q of joint 'turn' is off unit length by 1; normalise it"
    with pytest.raises(ArgumentError, match=f"^{far}"):
        solver(q0=[0, 0, 0, 2.0], q1=turned)
    solution = solver(q0=[0, 0, 0, 1 + 1e-3], q1=1.01 * turned)
    np.testing.assert_allclose(np.abs(solution.q[-1]), turned, rtol=0, atol=1e-7)
    np.testing.assert_allclose(solution.q[0], [0, 0, 0, 1], rtol=0, atol=1e-12)
    assert solution.corrections == pytest.approx({"q of start": 1e-3, "q of end": 1e-2})
    with pytest.warns(ocp.SolutionWarning, match=f"^turning: {far}; the last plan, shifted by 1 intervals, stands for"):
        failed = solver(q0=[0, 0, 0, 2.0], shift=1)
    assert (failed.solved, failed.status) == (False, "Invalid_Start")
    np.testing.assert_array_equal(failed.u[:-1], solution.u[1:])


@pytest.mark.long
def test_a_quadrotor_is_measured_by_quaternions_that_are_not_exact() -> None:
    """Of other lengths, and of the other sign in turns: both signs are the same rotation."""
    dyn = quadrotor()
    problem = ocp.Problem(dyn, 0.8, 8, bounds=ocp.Bounds.of(dyn, u=dict.fromkeys(dyn.actuator_names, (0, 4))), degree=2)
    problem.start(problem.parameter("q0", 7), problem.parameter("v0", 6))
    away = problem.integral(lambda q: ca.sumsqr(q[:3] - ca.DM([0.3, 0, 0.2])))
    problem.minimize(10 * away + problem.integral(lambda v, u: ca.sumsqr(v) + 1e-2 * ca.sumsqr(u)))
    solver, q, v, plans = problem.solver(), np.array([0, 0, 0, 0.1, 0, 0, 0.995**0.5]), np.zeros(6), []
    for tick, factor in enumerate((1.0, 1 + 1e-6, -1.0, 1 - 1e-3, -1 + 1e-3)):
        measured = np.concatenate([q[:3], factor * q[3:] / np.linalg.norm(q[3:])])
        plan = solver(q0=measured, v0=v, shift=min(tick, 1))
        assert plan.corrections["q of start"] == pytest.approx(abs(abs(factor) - 1), abs=1e-12)
        q, v = np.array(plan.q[1]), plan.v[1]
        plans.append(plan)
    assert all(plan.solved for plan in plans)
    assert max(plan.iterations for plan in plans[1:]) <= plans[0].iterations


# Warm starts.


def test_a_warm_start_needs_less_and_finds_the_same() -> None:
    solver = reaching().solver()
    cold = solver(**numbers(), guess=ocp.rest_to_rest(gd.NewtonEuler(ARM), [0, 0.4], [0, 0.4], 0.6))
    again = solver()
    assert again.iterations <= cold.iterations / 2
    same(again, cold)
    plan = solver(q0=cold.q[1], v0=cold.v[1], shift=1)
    assert plan.iterations <= 0.75 * cold.iterations
    fresh = reaching().solver()(q0=cold.q[1], v0=cold.v[1], target=[0.6, 0.3])
    same(plan, fresh, 1e-4)


def test_what_is_shifted() -> None:
    """Entries of the same kind, so many intervals later; the last of them at the end, and what is nowhere stays."""
    entries = IntervalIndex(np.array([0, 0, 1, 0, 0, 1, 0, 0, 2]), np.array([0, 0, 0, 1, 1, 1, 2, 2, NOWHERE]))
    np.testing.assert_array_equal(entries.shifted(1), [3, 4, 5, 6, 7, 5, 6, 7, 8])
    np.testing.assert_array_equal(entries.shifted(5), [6, 7, 5, 6, 7, 5, 6, 7, 8])
    np.testing.assert_array_equal(entries.shifted(0), range(9))
    assert entries.shifted(1) is entries.shifted(1)  # every tick asks for them
    assert not entries.shifted(1).flags.writeable


def test_a_tick_that_fails_is_the_last_plan_shifted() -> None:
    dyn = gd.NewtonEuler(slider())
    problem = ocp.Problem(dyn, 1.0, 5, bounds=ocp.Bounds.of(dyn, slider()))
    problem.start(problem.parameter("q0"), problem.parameter("v0"))
    problem.minimize(problem.integral(lambda q, u: q**2 + 0.1 * u**2))
    problem.path(lambda q: q, upper=problem.parameter("most"), at="end")
    solver = problem.solver()
    with pytest.raises(ocp.OptimizationError):
        solver(q0=1.0, v0=0.0, most=-3.0)
    assert solver.last is None
    plan = solver(q0=1.0, v0=0.0, most=2.0)
    assert plan.solved
    with pytest.warns(
        ocp.SolutionWarning, match=r"slider: the solver stopped with .*; the last plan, shifted by 1 int"
    ):
        failed = solver(q0=plan.q[1], v0=plan.v[1], most=-3.0, shift=1)
    assert not failed.solved
    np.testing.assert_allclose(failed.u, plan.u[[1, 2, 3, 4, 4]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(failed.q, plan.q[[1, 2, 3, 4, 5, 5]], rtol=0, atol=1e-12)
    assert failed.violations["path 1"] > 3
    again = solver(q0=plan.q[2], v0=plan.v[2], most=2.0, shift=1)
    assert again.solved
    assert again.q[0, 0] == pytest.approx(plan.q[2, 0], abs=1e-8)


def test_a_call_that_is_refused_changes_no_parameter() -> None:
    problem = reaching(degree=1)
    solver = problem.solver()
    solver(**numbers())
    for wrong in ({"v0": [1.0, 2.0, 3.0]}, {"p": [1.0]}):
        with pytest.raises(ArgumentError):
            solver(q0=[9.0, 9.0], **wrong)
    assert solver().q[0].tolist() == pytest.approx(numbers()["q0"])


# Functions and code.


def test_the_solver_is_a_function() -> None:
    solver = reaching().solver()
    expected = solver(**numbers(), guess=ocp.rest_to_rest(gd.NewtonEuler(ARM), [0, 0.4], [0, 0.4], 0.6))
    function = solver.function()
    assert function.name_in()[:3] == ["target", "q0", "v0"]
    found = function(**numbers())
    assert relative_error(found["q"].full().T, expected.q) < 1e-5
    assert relative_error(found["u"].full().T, expected.u) < 1e-5
    assert 0 <= float(found["violation"]) < 1e-7
    far = function(**numbers() | {"q0": [0, 100]})  # has no status
    assert float(far["violation"]) > 1
    again = solver.function(warm=True)
    assert relative_error(again(**numbers(), **solver.begin())["q"].full().T, expected.q) < 1e-6


def test_the_function_says_that_an_input_is_no_number() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 4)
    problem.start([0.0])
    problem.end([0.3])
    problem.minimize(problem.parameter("weight") * problem.integral(lambda u: u**2))
    solver = problem.solver()
    solver(weight=1.0)
    assert float(solver.function()(weight=2.0, **solver.begin())["violation"]) < 1e-7
    assert float(solver.function()(weight=np.nan, **solver.begin())["violation"]) == np.inf


def test_the_function_begins_where_the_solver_does() -> None:
    solver = reaching(degree=1).solver("sqpmethod", {"max_iter": 0, "error_on_fail": False})
    with pytest.raises(ocp.OptimizationError) as stopped:
        solver(**numbers())
    found = solver.function()(**numbers(), **solver.begin())
    assert np.array_equal(found["q"].full().T, stopped.value.solution.q)
    converged = reaching(degree=1).solver("ipopt")
    plan = converged(**numbers())
    again = solver.function()(**numbers(), **converged.begin(shift=2))
    assert relative_error(again["q"].full().T[:-2], plan.q[2:]) < 1e-12


def test_code_of_the_whole_solver_and_of_its_functions(tmp_path: Path) -> None:
    text = reaching(degree=1).solver("sqpmethod").generate(tmp_path / "solver.c").read_text()
    assert "casadi_qp" in text
    with pytest.raises(ArgumentError, match=r"^generate: got 'solver'; give a file name.c in a folder that exists"):
        reaching(degree=1).solver().generate("solver")
    with pytest.raises(ArgumentTypeError, match=r"^generate: got None; give the name of a file, as 'solver.c'"):
        reaching(degree=1).solver().generate(None)  # type: ignore[arg-type]


def test_a_violated_relation_is_named() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 4)
    problem.start([0.0])
    problem.end([0.3])
    problem.subject_to(ca.sumsqr(problem.q[0, 2]) == -5.0)
    problem.minimize(problem.integral(lambda u: u**2))
    with pytest.raises(ocp.OptimizationError, match=r"subject_to 1 by "):
        problem.solve()


@pytest.mark.system
@pytest.mark.parametrize("name", ["sqpmethod", "ipopt", "fatrop"])
def test_the_code_of_a_solver_solves(name: str, tmp_path: Path) -> None:
    """Compiled, with the libraries and headers of CasADi's wheel for those that need them."""
    solver = reaching(degree=1).solver(name)
    expected = solver(**numbers(), guess=ocp.rest_to_rest(gd.NewtonEuler(ARM), [0, 0.4], [0, 0.4], 0.6))
    code, library, wheel = solver.generate(tmp_path / "arm.c"), tmp_path / "arm.so", Path(ca.__file__).parent
    own = [str(next(wheel.glob(f"lib{name}.*"))), f"-Wl,-rpath,{wheel}"] if name != "sqpmethod" else []
    subprocess.run(
        ["gcc", "-O0", "-shared", "-fPIC", f"-I{wheel / 'include'}", "-o", library, code, *own, "-lm"], check=True
    )
    found = ca.external("solver", str(library))(**numbers())
    assert relative_error(found["q"].full().T, expected.q) < 1e-5
    assert relative_error(found["u"].full().T, expected.u) < 1e-4


def test_a_solver_keeps_the_parameters_that_it_was_built_with() -> None:
    problem = reaching()
    solver = problem.solver()
    first = solver(**numbers())
    problem.parameter("later")
    assert relative_error(solver(**numbers()).u, first.u) < 1e-4  # within the tolerance of the solver
    assert "later" not in solver.function().name_in()
    with pytest.raises(UnknownNameError, match="no parameter of the problem named 'later'"):
        solver(**numbers(), later=1.0)


def test_the_value_of_an_expression_at_the_last_iterate() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 4)
    problem.start([0.0])
    problem.end({"slide": problem.parameter("goal")})
    effort = problem.integral(lambda u: u**2)
    problem.minimize(effort)
    plan = problem.solve(goal=0.3)
    assert problem.value(effort) == pytest.approx(plan.cost)
    assert problem.value(problem.duration) == 1.0
    with pytest.raises(ArgumentTypeError, match=r"^value: expected an expression of the problem, as problem.q, got 'a"):
        problem.value("a")  # type: ignore[arg-type]
    with pytest.raises(
        ArgumentError, match=r"^value: the expression has the symbol 'w', which was not in the problem "
    ):
        problem.value(ca.MX.sym("w"))


# Refusals.


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda p: p.parameter("q0", 2), ArgumentError, "parameter: there is a parameter 'q0' already; give"),
        (lambda p: p.parameter("u", 2), ArgumentError, "parameter: 'u' is the name of an input or output of"),
        (lambda p: p.parameter("z0", 2), ArgumentError, "parameter: 'z0' is the name of an input or output of"),
        (lambda p: p.parameter("lambda"), ArgumentTypeError, "parameter: got the name 'lambda'; give a Python identif"),
        (lambda p: p.parameter("a b"), ArgumentTypeError, "parameter: got the name 'a b'; give a Python identifier"),
        (lambda p: p.parameter("c", 0), ArgumentError, "parameter: size of 'c': got 0; give an integer of at least 1"),
        (lambda p: p.parameter("c", at="end"), ArgumentError, "parameter: at: got 'end'; give 'grid'"),
        (
            lambda p: p.start(ca.MX.sym("w", 2)),
            ArgumentError,
            "start: q: the expression has the symbol 'w', which is no",
        ),
        (lambda p: p.start(p.parameter("w", 3)), ArgumentError, r"start: q has shape \(3, 1\); give \(2, 1\)"),
        (lambda p: p.start(ca.SX.sym("w", 2)), ArgumentTypeError, "start: q: expected numbers, got "),
        (lambda p: p.start({"joint3": 1.0}), UnknownNameError, "no entry of q named 'joint3'; nearest: 'joint"),
        (lambda p: p.end({"joint2": 99.0}), ArgumentError, "end: q of 'joint2' is 99, outside its bounds"),
        (
            lambda p: p.path(lambda q: q[0] - ca.MX.sym("w"), upper=0),
            ArgumentError,
            "an expression has the symbol 'w', which is neither an input of it nor a parameter of the problem; give",
        ),
        (
            lambda p: (x := p.parameter("x", 2, at="grid"), p.path(lambda q: q - x[:, 0], upper=0)),
            ArgumentError,
            "an expression has the parameter 'x' of every instant; take it as an input, as lambda q, x: …",
        ),
        (
            lambda p: p.path(lambda q: q, upper=p.parameter("x", 3)),
            ArgumentError,
            "path: upper has 3 entries; give 2, ",
        ),
        (lambda p: p.path(lambda q: q, upper=ca.MX.sym("w")), ArgumentError, "path: the expression has the symbol 'w'"),
        (
            lambda p: p.solver()(q0=[0, 0], v0=0),
            ArgumentError,
            "solver: no value of the parameter 'target'; give target",
        ),
        (lambda p: p.solve(), ArgumentError, "solve: no value of the parameter 'target'; give target=…"),
        (
            lambda p: p.solver()(goal=1),
            UnknownNameError,
            "no parameter of the problem named 'goal'; known: 'target', 'q0'",
        ),
        (lambda p: p.solver()(q0=[0, 0, 0]), ArgumentError, r"solver: q0 has shape \(3,\); give \(2,\), or one number"),
        (lambda p: p.solver()(q0=[0, np.nan]), ArgumentError, r"solver: q0: entry \[1\] is nan; give finite numbers"),
        (
            lambda p: p.solver()(**numbers(), shift=9),
            ArgumentError,
            "solver: shift: got 9; give an integer from 0 to 6",
        ),
        (
            lambda p: (s := p.solver(), p.start(), s(**numbers())),
            ArgumentError,
            "solver: start or end fix other entries",
        ),
        (
            lambda p: p.path(lambda q: q, lower=p.parameter("x", 2, at="grid")),
            ArgumentError,
            "path: lower has the parameter 'x' of every instant; subtract it in the expression, as lambda q, x",
        ),
        (
            lambda p: p.start({"joint1": p.parameter("x", 2)}),
            ArgumentError,
            r"start: q: 'joint1' has shape \(2, 1\); give \(1, 1\)",
        ),
        (lambda p: p.solver(["ipopt"]), ArgumentError, r"solve: CasADi has no solver \['ipopt'\]; give 'ipopt', "),
        (lambda p: p.value(p.q), ArgumentError, "value: nothing was solved; call solve first"),
        (lambda p: p.solver().value(p.q), ArgumentError, "value: nothing was solved; call the solver first"),
        (
            lambda p: p.solver("ipopt", 5),
            ArgumentTypeError,
            "solver: options=5; give values by name, as {'ipopt.max_iter': 200}, or leave it out",
        ),
        (lambda p: p.solve(options={5: 1}, **numbers()), ArgumentTypeError, "solve: options={5: 1}; give values by"),
        (lambda p: p.solver("ipopt", {"ipopt.tl": 1}), ArgumentError, "solve: CasADi refuses .*: No such IPOPT option"),
        (
            lambda p: p.solver()(**numbers(), p={"tip.m": 1.0}),
            ArgumentError,
            "solver: p is given, but two_link_arm has no parameters; drop p",
        ),
        (lambda p: p.solver()(**numbers(), guess=5), ArgumentTypeError, "guess takes a Guess, a Simulation or a Sol"),
    ],
)
def test_wrong_use_is_refused_in_one_sentence(
    call: Callable[[ocp.Problem], object], error: type[GdalembertError], message: str
) -> None:
    with pytest.raises(error, match=f"^{message}") as caught:
        call(reaching(degree=1, bounds_at="grid"))
    assert "\n" not in str(caught.value)
