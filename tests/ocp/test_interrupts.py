"""What ends a solver from outside: signals, in whatever it does, and its budget of wall time."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, UnsupportedError
from tests.helpers.ocp import slider
from tests.helpers.sets import quick
from tests.helpers.signals import Alarm, assert_ends, rings

SOLVERS = ("ipopt", "fatrop", "sqpmethod")
DYN = gd.NewtonEuler(slider())
FOR_EVER: dict[str, dict[str, Any]] = {
    "ipopt": {f"ipopt.{name}": 10**9 for name in ("max_iter", "watchdog_shortened_iter_trigger")}
    | {f"ipopt.{name}": 1e-300 for name in ("tol", "dual_inf_tol", "compl_inf_tol", "constr_viol_tol")}
    | {"ipopt.tiny_step_tol": 0.0, "ipopt.acceptable_iter": 0, "ipopt.diverging_iterates_tol": 1e300},
    "fatrop": {"fatrop.max_iter": 10**9},
    "sqpmethod": {"max_iter": 10**9, "min_step_size": 0.0},
}


def hopeless(name: str) -> ocp.Problem:
    """A motion that needs larger torques, which this solver does not find out, at least in ten seconds."""
    dyn = gd.NewtonEuler(gd.load_urdf("puma560_3" if name == "fatrop" else "two_link_arm"))
    problem = ocp.Problem(dyn, 1.0, {"fatrop": 10, "ipopt": 40}.get(name, 8))
    problem.start(np.zeros(dyn.tree.nq))
    problem.end([0.8, -0.6, 0.6] if name == "fatrop" else [2.0, -1.0])
    most = 1.0 if name == "fatrop" else 0.01
    problem.path(lambda u: u, -most, most)
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    return problem


def moving() -> ocp.Problem:
    """To 0.5 m from a measured position."""
    problem = ocp.Problem(DYN, 1.0, 8)
    problem.start(problem.parameter("q0"))
    problem.end([0.5])
    problem.minimize(problem.integral(lambda u, v: u**2 + ca.cos(v)))
    return problem


@pytest.mark.parametrize("name", quick(SOLVERS, "ipopt", "fatrop"))
def test_a_signal_ends_a_solve(capfd: pytest.CaptureFixture[str], name: str) -> None:
    solver = hopeless(name).solver(name, FOR_EVER[name])
    assert_ends(solver, 0.2)
    assert solver.last is None
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", SOLVERS)
def test_signals_end_loops(name: str) -> None:
    """Each of them; the last solution stays, and the next solve knows of nothing."""
    solver = moving().solver(name)
    first = solver(q0=0.0)
    for after in (0.01, 0.05, 0.13):
        assert_ends(lambda: solver(q0=0.01), after)
        assert solver.last is not None
        assert solver.last.solved
    assert solver(q0=0.0).cost == pytest.approx(first.cost, rel=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("name", SOLVERS)
def test_ten_of_ten_signals_end_loops(name: str) -> None:
    solver = moving().solver(name)
    solver(q0=0.0)
    for after in np.linspace(0.02, 0.5, 10):
        assert_ends(lambda: solver(q0=0.01, shift=1), after)


@pytest.mark.long
@pytest.mark.parametrize("name", SOLVERS)
def test_ctrl_c_ends_a_program(name: str) -> None:
    program = (
        "from tests.ocp.test_interrupts import moving\n"
        f"solver = moving().solver({name!r})\n"
        "solver(q0=0.0)\n"
        "print('begun', flush=True)\n"
        "while True:\n"
        "    solver(q0=0.01)\n"
    )
    command = [sys.executable, "-W", "error", "-c", "import signal; signal.signal(2, signal.default_int_handler)\n"]
    command[-1] += program
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert said.strip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize("name", quick(SOLVERS, "ipopt"))
def test_a_signal_within_a_callback_of_the_user_ends_a_solve(name: str) -> None:
    calls = []

    class Cost(ca.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.construct("cost", {"enable_fd": True})

        def eval(self, arg: Any) -> Any:
            calls.append(arg)
            if len(calls) == 5:
                signal.raise_signal(signal.SIGALRM)
            return [arg[0] ** 2]

    cost, problem = Cost(), ocp.Problem(DYN, 1.0, 2, degree=1)
    problem.start([0.0])
    problem.minimize(problem.integral(lambda u: (u - 1) ** 2) + cost(problem.u[0]))
    options = {"ipopt.hessian_approximation": "limited-memory"} if name == "ipopt" else {}
    with rings(), pytest.raises(Alarm, match=r"^ring"):
        problem.solve(name, options)


def phases() -> Callable[[], object]:
    first, second = (ocp.Problem(DYN, 0.5, 4) for _ in range(2))
    first.start(first.parameter("q0"))
    second.end([0.5])
    for each in (first, second):
        each.minimize(each.integral(lambda u: u**2))
    solver = ocp.Phases([first, second]).solver()
    return lambda: solver(q0=0.0)


def scenarios() -> Callable[[], object]:
    dyn = gd.NewtonEuler(slider(), parameters=["inertia"])
    problems = [ocp.Problem(dyn, 1.0, 4, p={"slide.m": mass}) for mass in (1.0, 2.0)]
    for each in problems:
        each.start(each.parameter("q0"))
        each.minimize(each.integral(lambda q, u: (q - 0.5) ** 2 + 0.1 * u**2))
    solver = ocp.Scenarios(problems).solver()
    return lambda: solver(q0=0.0)


def excitation() -> Callable[[], object]:
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model, parameters={"base": True})
    return lambda: gd.identification.excitation(dyn, model, period=4.0, harmonics=3, acceleration=20.0, starts=2)


@pytest.mark.long
@pytest.mark.parametrize("prepare", [phases, scenarios, excitation])
def test_signals_end_loops_of_joined_problems_and_of_excitations(prepare: Callable[[], Callable[[], object]]) -> None:
    work = prepare()
    work()
    for after in (0.03, 0.1, 0.31):
        assert_ends(work, after)


@pytest.mark.long
@pytest.mark.parametrize("name", SOLVERS)
def test_no_signal_is_lost_where_a_problem_is_built(name: str) -> None:
    model = gd.load_urdf("puma560_3")
    problem = ocp.Problem(gd.NewtonEuler(model), 1.0, 6)
    problem.start(np.zeros(3))
    problem.end([0.8, -0.6, 0.6])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    for after in np.linspace(0.01, 0.5, 12):
        assert_ends(lambda: problem.solver(name), after)


@pytest.mark.long
def test_a_signal_ends_a_simulation_whose_control_solves() -> None:
    """A receding horizon in a simulation; the motion so far is there."""
    solver = moving().solver("fatrop")
    solver(q0=0.0)

    def plan(t: float, q: Any, v: Any) -> Any:
        if t > after:
            signal.setitimer(signal.ITIMER_REAL, 1e-3)
        return solver(q0=q).u[0]

    for after in (0.15, 0.45):
        with rings(), pytest.raises(Alarm) as caught:
            gd.simulate(DYN, [0.0, 0.0], np.linspace(0, 1e3, 10001), plan, hold=True)
        assert after < caught.value.result.t[-1] < 1e3  # type: ignore[attr-defined]


def test_an_exception_that_ends_a_solver_is_never_the_last_plan() -> None:
    """As of a Callback, not of a signal: IPOPT tells no more than that there was one."""
    fails: list[bool] = []

    class Cost(ca.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.construct("cost", {"enable_fd": True})

        def eval(self, arg: Any) -> Any:
            if fails and fails.pop():
                raise KeyboardInterrupt
            return [arg[0] ** 2]

    cost, problem = Cost(), ocp.Problem(DYN, 1.0, 2, degree=1)
    problem.start(problem.parameter("q0"))
    problem.minimize(problem.integral(lambda u: (u - 1) ** 2) + cost(problem.u[0]))
    solver = problem.solver("ipopt", {"ipopt.hessian_approximation": "limited-memory"})
    plan = solver(q0=0.0)
    fails.append(True)
    message = (
        "^slider: the solver stopped with 'NonIpopt_Exception_Thrown' after 0 iterations and 1 s of motion: an exc"
    )
    with pytest.raises(ocp.OptimizationError, match=message):
        solver(q0=0.1)
    assert solver.last is plan


@pytest.mark.parametrize("name", ["ipopt", "fatrop"])
def test_other_threads_solve_without_signals(name: str) -> None:
    solver, found = moving().solver(name), []
    thread = threading.Thread(target=lambda: found.append(solver(q0=0.0)))
    thread.start()
    thread.join()
    assert found[0].cost == pytest.approx(solver(q0=0.0).cost, rel=1e-6)


# The budget of wall time.


@pytest.mark.parametrize("name", quick(SOLVERS, "fatrop", "sqpmethod"))
def test_a_budget_of_wall_time_ends_a_solve(capfd: pytest.CaptureFixture[str], name: str) -> None:
    problem = hopeless(name)
    with pytest.raises(ocp.OptimizationError, match="the solver stopped with 'Maximum_WallTime_Exceeded'") as caught:
        problem.solve(name, FOR_EVER[name] | {"max_wall_time": 0.05})
    assert caught.value.solution.iterations > 0
    assert np.abs(caught.value.solution.u).max() > 0
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", quick(SOLVERS, "fatrop"))
def test_the_last_plan_stands_for_one_that_takes_too_long(name: str) -> None:
    problem = moving()
    start = problem.solver(name)(q0=0.0)
    solver = problem.solver(name, {"max_wall_time": 1e-9})
    assert problem.solver(name, {"max_wall_time": 60.0})(q0=0.0).iterations == start.iterations
    solver.last, solver._found = start, _found(problem.solver(name), start)
    with pytest.warns(ocp.SolutionWarning, match="stopped with 'Maximum_WallTime_Exceeded' after 0 it.*the last plan"):
        late = solver(q0=0.3)
    assert (late.status, late.solved) == ("Maximum_WallTime_Exceeded", False)
    np.testing.assert_allclose(late.q, start.q, rtol=0, atol=1e-9)


def _found(solver: Any, start: ocp.Solution) -> Any:
    solver(q0=0.0)
    return solver._found


@pytest.mark.parametrize(
    ("name", "budget", "error", "message"),
    [
        ("ipopt", 0, ArgumentError, r"solve: options: max_wall_time: got 0; give one finite number \[s\], above 0"),
        ("fatrop", "1 s", ArgumentTypeError, r"solve: options: max_wall_time: expected a number \[s\], got '1 s'"),
        ("blocksqp", 1, UnsupportedError, "solve: 'blocksqp' takes no max_wall_time; give 'ipopt', 'fatrop', 'sqpm"),
    ],
)
def test_budgets_that_cannot_be_kept(name: str, budget: Any, error: type[GdalembertError], message: str) -> None:
    with pytest.raises(error, match=f"^{message}"):
        moving().solver(name, {"max_wall_time": budget})


@pytest.mark.parametrize("name", ["fatrop", "sqpmethod"])
def test_the_function_of_a_solver_has_no_python_in_it(name: str) -> None:
    solver = moving().solver(name, {"max_wall_time": 60.0})
    solver(q0=0.0)
    function = solver.function(warm=True)
    assert float(function(q0=0.0, **solver.begin())["violation"]) < 1e-6
    function.serialize()  # not of a Callback
