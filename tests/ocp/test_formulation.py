"""How a problem is said: squares, rows of one instant and of several, and its nonlinear program."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, ArgumentTypeError
from tests.helpers.ocp import slider

DYN = gd.NewtonEuler(gd.load_urdf("horn_leg"))
GOAL = ca.DM([1.0, 0.5, 0.2])
QUIET = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}


def begun() -> tuple[ocp.Problem, ca.MX]:
    problem = ocp.Problem(DYN, 1.0, 6, degree=2)
    problem.start([0.1, 0.2, 0.1])
    return problem, problem.parameter("w")


def said_by_squares() -> ocp.Problem:
    problem, w = begun()
    problem.squares(lambda u: u, [0.1, 0.2, 0.3])
    problem.squares(lambda q: q - GOAL, w)
    problem.squares(lambda q, v: ca.vertcat(q - GOAL, v), 10, at="end")
    problem.squares(lambda v: ca.log(1 + v[0] ** 2), at=-3)
    return problem


def said_by_integrals() -> ocp.Problem:
    problem, w = begun()
    cost = problem.integral(lambda u: ca.dot(ca.DM([0.1, 0.2, 0.3]), u**2))
    cost += w * problem.integral(lambda q: ca.sumsqr(q - GOAL))
    cost += 10 * (ca.sumsqr(problem.q[:, -1] - GOAL) + ca.sumsqr(problem.v[:, -1]))
    problem.minimize(cost + ca.log(1 + problem.v[0, 4] ** 2) ** 2)
    return problem


@pytest.mark.parametrize("name", ["ipopt", "fatrop"])
def test_squares_are_integrals_of_squares(name: str) -> None:
    one, other = (problem.solve(name, w=3.0) for problem in (said_by_squares(), said_by_integrals()))
    assert one.cost == pytest.approx(other.cost, rel=1e-12)
    assert np.abs(one.q - other.q).max() < 1e-12


def test_squares_stand_beside_what_is_minimised() -> None:
    costs = []
    for by_squares in (False, True):
        problem, _ = begun()
        force = problem.integral(lambda u: ca.sumsqr(u))
        if by_squares:
            problem.squares(lambda q: q - GOAL, 5.0)
            problem.minimize(2 * force)
            problem.minimize(force)  # in place of the last
        else:
            problem.minimize(force + 5 * problem.integral(lambda q: ca.sumsqr(q - GOAL)))
        costs.append(problem.solve(w=1.0).cost)
    assert costs[1] == pytest.approx(costs[0], rel=1e-12)


@pytest.mark.system
@pytest.mark.long
def test_real_time_iterations_settle_at_the_same_squares() -> None:
    problem, w = begun()
    problem.squares(lambda u: u, [0.1, 0.2, 0.3])
    problem.squares(lambda q: q - GOAL, w)
    solver = problem.solver("rti")
    for _ in range(20):
        plan = solver(w=3.0)
    other, w = begun()
    cost = other.integral(lambda u: ca.dot(ca.DM([0.1, 0.2, 0.3]), u**2)) + w * other.integral(
        lambda q: ca.sumsqr(q - GOAL)
    )
    other.minimize(cost)
    iterated = other.solver("rti")
    for _ in range(20):
        expected = iterated(w=3.0)
    assert np.abs(plan.q - expected.q).max() < 1e-12


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"weight": -1}, ArgumentError, "squares: weight: got -1; give none below 0"),
        ({"weight": [1, 2]}, ArgumentError, "squares: weight has shape"),
        ({"weight": "heavy"}, ArgumentTypeError, "squares: weight: expected numbers"),
        ({"weight": ca.MX.sym("w", 3)}, ArgumentError, "squares: weight: got an expression of shape"),
        ({"weight": ca.MX.sym("z")}, ArgumentError, "squares: the cost has the symbol 'z', which is none"),
        ({"at": "middle"}, ArgumentError, "squares: at: got 'middle'; give 'start' or 'end'"),
        ({"at": 7}, ArgumentError, "squares: at: got 7; give an integer from -7 to 6"),
        ({"residual": 1.0}, ArgumentTypeError, ""),
    ],
)
def test_squares_that_cannot_be_are_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    problem, _ = begun()
    with pytest.raises(error, match=f"^{message}"):
        problem.squares(**{"residual": lambda u: u} | arguments)
    with pytest.raises(ArgumentError, match="nothing is to be minimised"):
        problem.solve(w=1.0)


@pytest.mark.parametrize("name", ["ipopt", "fatrop"])
@pytest.mark.parametrize("k", [3, -4, "end"])
def test_rows_of_one_instant(k: int | str, name: str) -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 6, degree=2)
    problem.start([0.0])
    problem.at(k, lambda q, v: ca.vertcat(q, v), [0.3, -np.inf], [0.3, 0.1])
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve(name)
    column = 6 if k == "end" else 3
    assert solution.q[column, 0] == pytest.approx(0.3, abs=1e-8)  # the tolerance of the solvers
    assert solution.v[column, 0] == pytest.approx(0.1, abs=1e-6)
    assert max(solution.violations.values()) < 1e-7


def test_paths_at_an_end_have_what_instants_have() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 6, degree=2)
    problem.start([0.0])
    problem.end([0.1])
    problem.squares(lambda u: u)
    problem.path(lambda u: u, 0.3, 0.3, at="start")
    problem.path(lambda u, t: u - t, -1.2, -1.2, at="end")
    solution = problem.solve()
    assert solution.u[[0, -1], 0] == pytest.approx([0.3, -0.2], abs=1e-8)  # the tolerance of the solver


def test_relations_of_several_instants() -> None:
    """Its end is where it begins, which may be anywhere."""
    dyn = gd.NewtonEuler(slider())
    problem = ocp.Problem(dyn, 1.0, 6, degree=2)
    problem.start(None, v=[1.0])
    problem.guess(ocp.rest_to_rest(dyn, [0.5], [0.5], duration=1.0))
    problem.subject_to(problem.q[:, -1] == problem.q[:, 0])
    problem.subject_to(problem.q[:, 0] + problem.q[:, 3] >= 1.0)
    problem.minimize(problem.integral(lambda u: u**2) + problem.integral(lambda q: q**2))
    solution = problem.solve()
    assert solution.q[-1, 0] == pytest.approx(solution.q[0, 0], abs=1e-8)
    assert solution.q[0, 0] + solution.q[3, 0] == pytest.approx(1.0, abs=1e-7)
    with pytest.raises(gd.errors.UnsupportedError, match="the intervals 0 and 6 are connected by subject_to 1"):
        problem.solve("fatrop")
    problem.start([0.5], v=[1.0])
    with pytest.raises(gd.errors.UnsupportedError, match="subject_to"):
        problem.solver("rti")


def test_a_solver_of_ones_own_solves_the_program() -> None:
    problem = said_by_squares()
    problem.path(lambda q: q[1] + q[2], upper=0.5, at="grid")
    nlp = problem.nlp(w=3.0)
    solver = ca.nlpsol("solver", "ipopt", nlp.problem, QUIET)
    solution = nlp.solution(solver(**nlp.arguments)["x"], solver.stats())
    expected = problem.solve(w=3.0)
    assert solution.solved
    assert solution.status == "Solve_Succeeded"
    assert solution.cost == pytest.approx(expected.cost, rel=1e-8)  # the tolerance of IPOPT
    assert len(nlp.names) == nlp.problem["g"].numel()
    assert nlp.names[-1] == "path 1 at grid point 6"
    with pytest.raises(ArgumentError, match=r"^solution: x has shape \(2,\)"):
        nlp.solution([1.0, 2.0])
    with pytest.raises(ArgumentError, match="'w'"):
        said_by_squares().nlp()
