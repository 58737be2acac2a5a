"""Iterations, builds and first steps as a line on stderr: of every solver, and that they change no solution."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.ocp import ContactSchedule, Phases, Problem, Scenarios
from gdalembert.ocp.solvers.registry import SOLVERS as REGISTERED
from tests.helpers.sets import quick
from tests.helpers.signals import assert_ends
from tests.helpers.terminals import Terminal, without_seconds
from tests.ocp.test_interrupts import FOR_EVER, SOLVERS, hopeless

pytestmark = pytest.mark.filterwarnings("ignore:.*steps are too coarse")

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
ARM = gd.NewtonEuler(gd.load_urdf("two_link_arm"))


def swing(**options: Any) -> Problem:
    """From a start that is a parameter, by the least effort."""
    problem = Problem(ARM, 1.0, 8, **options)
    problem.start(problem.parameter("q0", 2), [0.0, 0.0])
    problem.end([0.5, 0.3], [0.0, 0.0])
    problem.squares(lambda u: u)
    return problem


def told(capfd: Capture) -> list[str]:
    out, err = capfd.readouterr()
    assert out == ""
    return [without_seconds(line) for line in err.splitlines()]


def iterations_of(solution: Any) -> str:
    return f"{solution.iterations} iterations, cost {solution.cost:.6g}, violation {solution.constraint_violation:.1e}"


@pytest.mark.parametrize("name", quick(SOLVERS, "ipopt", "fatrop"))
def test_a_solution_is_the_same_bit_by_bit(name: str, capfd: Capture) -> None:
    silent = swing().solve(name, q0=[0.1, 0.0])
    assert told(capfd) == []
    problem = swing()
    shown = problem.solve(name, progress=True, q0=[0.1, 0.0])
    assert told(capfd) == [f"two_link_arm: build of {name}", f"two_link_arm: {name}: {iterations_of(shown)}"]
    again = problem.solve(name, q0=[0.1, 0.0])
    assert told(capfd) == []
    for other in (shown, again):
        assert other.iterations == silent.iterations
        for quantity in ("q", "v", "u"):
            np.testing.assert_array_equal(getattr(other, quantity), getattr(silent, quantity))


@pytest.mark.parametrize("name", quick(SOLVERS, "ipopt"))
def test_calls_of_a_solver_speak_and_find_the_same(name: str, capfd: Capture) -> None:
    """The first and a warm one, which is another solver of CasADi."""
    quiet, speaking = swing().solver(name), swing().solver(name, progress=True)
    assert told(capfd) == [f"two_link_arm: build of {name}"]
    for q0 in ([0.0, 0.0], [0.1, 0.0]):
        expected, found = quiet(q0=q0, shift=0), speaking(q0=q0, shift=0)
        np.testing.assert_array_equal(found.u, expected.u)
        assert told(capfd) == [f"two_link_arm: {name}: {iterations_of(found)}"]
    speaking.progress = False
    speaking(q0=[0.2, 0.0])
    assert told(capfd) == []


@pytest.mark.parametrize("name", quick(SOLVERS, "ipopt", "fatrop"))
def test_iterations_move_the_line(name: str, monkeypatch: Patch) -> None:
    """Each with the cost and the violation where it is."""
    problem = swing()
    monkeypatch.setattr("gdalembert.spatial.progress._MOVES", 0.0)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", seen := Terminal())
    solution = problem.solve(name, progress=True, q0=[0.0, 0.0])
    states = [state for state in seen.states if ": iteration " in state]
    assert len(states) >= solution.iterations
    assert states[0].startswith(f"two_link_arm: {name}: iteration 0, cost ")
    assert states[-1].split(", ")[1] == f"cost {solution.cost:.6g}"
    assert float(states[0].split("violation ")[1]) > 1e3 * float(states[-1].split("violation ")[1])


@pytest.mark.parametrize("name", quick(SOLVERS, "ipopt"))
def test_a_solver_with_a_time_limit_speaks_too(name: str, capfd: Capture) -> None:
    solution = swing().solve(name, {"max_wall_time": 60.0}, progress=True, q0=[0.0, 0.0])
    assert told(capfd)[1] == f"two_link_arm: {name}: {iterations_of(solution)}"


@pytest.mark.parametrize("name", quick(SOLVERS, "ipopt", "fatrop"))
def test_a_signal_ends_a_solve_that_speaks(name: str, monkeypatch: Patch) -> None:
    """What it raises is told behind the end of the line, even where it is written at each iteration."""
    monkeypatch.setattr("gdalembert.spatial.progress._MOVES", 0.0)
    solver = hopeless(name).solver(name, FOR_EVER[name], progress=True)
    monkeypatch.setattr(sys, "stderr", seen := Terminal())
    assert_ends(solver, 0.2)
    assert solver.last is None
    assert seen.getvalue().endswith("\n")
    assert "\n" not in seen.getvalue()[:-1]


def test_an_error_finds_the_line_ended(monkeypatch: Patch) -> None:
    monkeypatch.setattr(sys, "stderr", seen := Terminal())
    with pytest.raises(gd.errors.OptimizationError):
        swing().solve("ipopt", {"ipopt.max_iter": 1}, progress=True, q0=[0.0, 0.0])
    assert seen.getvalue().count("\n") == 2
    assert seen.states[-1].startswith("two_link_arm: ipopt: 1 iterations, cost")
    assert seen.getvalue().endswith("\n")


def test_only_true_or_false_is_taken() -> None:
    solver, steps = swing().solver(), swing(degree=1).solver("rti")
    for each in (solver, steps):
        with pytest.raises(gd.errors.ArgumentTypeError, match=r"^solver\.progress is 'x'; give True or False$"):
            each.progress = "x"
        assert each.progress is False
    with pytest.raises(gd.errors.ArgumentTypeError, match=r"^Problem: progress is 1; give True or False$"):
        swing(progress=1)


def test_machine_code_of_a_problem_speaks(capfd: Capture) -> None:
    """Where it is compiled or found: of the steps, and of what is added."""
    problem = swing(compiled=True, progress=True)
    assert set(told(capfd)) == {f"two_link_arm: machine code of {graph}" for graph in ("stage", "expression")}
    problem.integral(lambda q: q[0] * q[1])
    assert set(told(capfd)) == {"two_link_arm: machine code of expression"}
    swing(compiled=True)
    assert told(capfd) == []


def test_compiled_steps_speak(capfd: Capture) -> None:
    solution = swing(compiled=True).solve(progress=True, q0=[0.0, 0.0])
    assert told(capfd)[-1] == f"two_link_arm: ipopt: {iterations_of(solution)}"


@pytest.mark.long
def test_other_solvers_of_casadi_tell_the_end(capfd: Capture) -> None:
    """Of their iterations nothing is known."""
    solution = swing().solve("sleqp", progress=True, q0=[0.0, 0.0])
    assert told(capfd)[-1].endswith(iterations_of(solution))


@pytest.mark.long
def test_real_time_iterations_tell_of_their_build_and_first_steps(capfd: Capture) -> None:
    solver, quiet = swing(degree=1).solver("rti", progress=True), swing(degree=1).solver("rti")
    assert told(capfd) == ["two_link_arm: build of rti"]
    plan, expected = solver(q0=[0.0, 0.0]), quiet(q0=[0.0, 0.0])
    np.testing.assert_array_equal(plan.u, expected.u)
    (line,) = told(capfd)
    assert line.startswith("two_link_arm: first steps: step ")
    solver(q0=[0.1, 0.0])
    assert told(capfd) == []  # a tick is short
    solver.progress = False
    solver(q0=[0.0, 0.0], guess=plan)
    assert told(capfd) == []


def joined(kind: Callable[[Any], Any]) -> Any:
    first, last = Problem(ARM, 0.5, 4), Problem(ARM, 0.5, 4)
    for problem in (first, last):
        problem.squares(lambda u: u)
    first.start([0.0, 0.0], [0.0, 0.0])
    last.end([0.5, 0.3], [0.0, 0.0])
    if kind is Scenarios:
        first.end([0.5, 0.3], [0.0, 0.0])
        last.start([0.0, 0.0], [0.0, 0.0])
    return kind([first, last])


@pytest.mark.parametrize("kind", [Phases, Scenarios])
def test_joined_problems_speak(kind: Callable[[Any], Any], capfd: Capture) -> None:
    solution = joined(kind).solve(progress=True)
    assert told(capfd) == ["two_link_arm: build of ipopt", f"two_link_arm: ipopt: {iterations_of(solution)}"]


@pytest.mark.parametrize("name", ["ipopt", pytest.param("rti", marks=pytest.mark.long)])
def test_schedules_speak(name: str, capfd: Capture) -> None:
    gait = ContactSchedule({"one": swing(degree=1), "other": swing(degree=1)})
    schedule = ["one"] * 4 + ["other"] * 4
    gait.solve(schedule, name, progress=True, q0=[0.0, 0.0])
    assert told(capfd)[0] == f"two_link_arm: build of {name}"
    gait.solve(schedule, name, q0=[0.0, 0.0])
    assert told(capfd) == []
    solver = gait.solver(name, progress=True)
    solver(schedule=schedule, q0=[0.0, 0.0])
    *_, last = told(capfd)
    assert last.startswith("two_link_arm: first steps: step " if name == "rti" else "two_link_arm: ipopt: ")


@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda problem: problem.solve(progress=1, q0=[0.0, 0.0]), "solve: progress is 1"),
        (lambda problem: problem.solver(progress="yes"), "solver: progress is 'yes'"),
        (lambda problem: ContactSchedule({"one": problem}).solver(progress=2), "solver: progress is 2"),
    ],
)
def test_progress_is_true_or_false(call: Callable[[Problem], object], where: str) -> None:
    with pytest.raises(gd.errors.ArgumentTypeError, match=rf"^{where}; give True or False$"):
        call(swing())


def test_no_parameter_has_its_name() -> None:
    with pytest.raises(gd.errors.ArgumentError, match=r"^parameter: 'progress' is the name of"):
        swing().parameter("progress")


def test_a_registered_solver_need_not_know_of_it(capfd: Capture, monkeypatch: Patch) -> None:
    def make(problem: Problem, options: Mapping[str, Any]) -> Any:
        return problem.nonlinear_solver("ipopt", options).cold

    monkeypatch.setitem(REGISTERED, "mine", make)
    swing().solver("mine", progress=True)
    assert told(capfd) == ["two_link_arm: build of mine"]
