"""Solvers that users register."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, ArgumentTypeError, SolutionWarning
from gdalembert.nlp.backends import Backend
from gdalembert.ocp.solvers.registry import SOLVERS
from tests.helpers.ocp import slider


def rest() -> ocp.Problem:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 4)
    problem.start(problem.parameter("q0"))
    problem.end([1.0])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    return problem


@ocp.solver("by nlpsol")
def by_nlpsol(problem: Any, options: Mapping[str, Any]) -> Any:
    def solve(**values: Any) -> ocp.Solution:
        nlp = problem.nlp(**values)
        known = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"} | dict(options)
        solver = ca.nlpsol("solver", "ipopt", nlp.problem, known)
        found: ocp.Solution = nlp.solution(solver(**nlp.arguments)["x"], solver.stats())
        return found

    return solve


def test_a_registered_solver_is_asked_by_its_name() -> None:
    known = rest().solve(q0=0.2).cost
    problem = rest()
    assert problem.solve("by nlpsol", {"ipopt.tol": 1e-10}, q0=0.2).cost == pytest.approx(known, rel=1e-7)
    assert problem.solver("by nlpsol")(q0=0.2).cost == pytest.approx(known, rel=1e-7)
    with pytest.raises(ArgumentError, match=r"^value: the last solve was by 'by nlpsol'"):
        problem.value(problem.q[0, 1])


def test_a_registered_solver_may_be_one_of_the_nonlinear_program() -> None:
    """By the same means as ours: here IPOPT that sees the Hessian of its own derivatives."""

    class Approximate(ocp.Solver[ocp.Solution]):
        @classmethod
        def form(cls, name: str) -> Backend:
            return Backend({"ipopt.hessian_approximation": "limited-memory", "ipopt.print_level": 0, "ipopt.sb": "yes"})

        def _made(self, leash: Any, *, warm: bool = False) -> Any:
            known = {"print_time": False, **self._backend.options, **self._options}
            return ca.nlpsol("solver", "ipopt", self._problem, known)

    def make(problem: Any, options: Mapping[str, Any]) -> Any:
        return problem.nonlinear_solver("approximate", options, Approximate)

    try:
        ocp.solver("approximate")(make)
        assert rest().solve("approximate", q0=0.2).cost == pytest.approx(rest().solve(q0=0.2).cost, rel=1e-7)
    finally:
        SOLVERS.pop("approximate", None)


@pytest.mark.system
def test_ends_that_are_other_numbers_are_those_of_the_next_solve() -> None:
    """What a registered solver read of them when it was built holds no more."""
    problem = rest()
    problem = ocp.Problem(problem.dyn, 1.0, 4, degree=1)
    problem.squares(lambda u: u)
    for start, end in ((0.1, 1.0), (0.2, 1.0), (0.2, 0.9)):
        problem.start([start])
        problem.end([end])
        plan = problem.solve("rti")
        assert plan.q[[0, -1], 0] == pytest.approx([start, end], abs=1e-7)  # of steps that are small


@pytest.mark.system
def test_limits_that_rti_exceeds_are_told() -> None:
    problem = rest()
    far = ocp.Problem(problem.dyn, 0.1, 4, degree=1)
    far.start([0.0])
    far.path(lambda v: v, upper=1.0)
    far.end([0.5], None)
    far.squares(lambda u: u)
    with pytest.warns(
        SolutionWarning, match=r"violated by .*, since real-time iterations take limits and ends as soft"
    ):
        plan = far.solve("rti")
    assert plan.constraint_violation > 1e-3


def test_what_a_maker_returns_is_called() -> None:
    ocp.solver("nothing")(lambda problem, options: None)
    try:
        for make in (
            lambda: rest().solver("nothing"),
            lambda: rest().solve("nothing", q0=0.0),
            lambda: ocp.ContactSchedule({"one": rest()}).solver("nothing"),
        ):
            with pytest.raises(
                ArgumentTypeError, match=r"^solver: what is registered as 'nothing' returned None; return a function"
            ):
                make()
    finally:
        SOLVERS.pop("nothing", None)


def test_a_name_is_of_one_function() -> None:
    assert ocp.solver("by nlpsol")(by_nlpsol) is by_nlpsol
    with pytest.raises(
        ArgumentError, match=r"^solver 'rti': gdalembert\.ocp\.solvers\.registry\.real_time has that name"
    ):
        ocp.solver("rti")(by_nlpsol)
    with pytest.raises(
        ArgumentTypeError, match=r"^solver 'few': \S+\(problem, options\): .*; give a function of these$"
    ):
        ocp.solver("few")(lambda problem: None)
    for name, make in (("", by_nlpsol), (3, by_nlpsol), ("number", 3)):
        with pytest.raises(ArgumentTypeError, match=r"^solver"):
            ocp.solver(name)(make)  # type: ignore[arg-type, type-var]
    assert [*SOLVERS] == ["rti", "acados", "by nlpsol"]
    assert len(SOLVERS) == 3


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ArgumentError, match="CasADi has no solver 'by hand'"):
        rest().solve("by hand", q0=0.0)
