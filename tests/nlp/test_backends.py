"""The same problem by several solvers, and what they refuse."""

from __future__ import annotations

import re
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from benchmarks.common.robots import path
from gdalembert import ocp
from gdalembert.errors import ArgumentError, UnsupportedError
from tests.helpers.models import relative_error
from tests.helpers.ocp import quadrotor, slider
from tests.helpers.sets import quick

ARM = gd.load_urdf("two_link_arm")


def flight() -> ocp.Problem:
    dyn = quadrotor()
    thrusts = {f"u[{i}]": (0.0, 4.0) for i in range(4)}
    problem = ocp.Problem(dyn, 1.5, 8, bounds=ocp.Bounds.of(dyn, u=thrusts), degree=2)
    problem.start([0, 0, 0, 0, 0, 0, 1])
    problem.end([1, 0.5, 1, 0, 0, np.sin(0.5), np.cos(0.5)])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    return problem


def swing(duration: Any = 1.0, intervals: int = 6, **options: Any) -> ocp.Problem:
    dyn = gd.NewtonEuler(ARM)
    problem = ocp.Problem(dyn, duration, intervals, bounds=ocp.Bounds.of(dyn, ARM), **options)
    problem.start([0.1, 0.2])
    problem.end([0.5, 0.9])
    problem.minimize(problem.duration + problem.integral(lambda u: 1e-2 * ca.sumsqr(u)))
    return problem


def sliding() -> ocp.Problem:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 6, method="rk4")
    problem.start([0.0])
    problem.end([0.5])
    problem.path(lambda v: v, upper=0.7)
    problem.minimize(problem.integral(lambda u: u**2))
    return problem


def lightest() -> ocp.Problem:
    """∫ u² dt and the mass cost: the mass is optimised."""
    dyn = gd.NewtonEuler(slider(), parameters=["inertia"])
    problem = ocp.Problem(dyn, 1.5, 6, design={"slide.m": (0.1, 50.0)})
    problem.start([0.0])
    problem.end([0.7])
    m = problem.p[dyn.parameters.index("slide.m")]
    problem.minimize(problem.integral(lambda u: u**2) + 3 / m)
    return problem


@pytest.mark.parametrize(
    "problem", quick([flight, swing, lambda: swing((0.2, 2.0)), sliding, lightest], flight, sliding)
)
def test_fatrop_finds_what_ipopt_finds(problem: Any) -> None:
    """With a fixed and a free duration, quaternions, and a parameter of the robot."""
    made = problem()
    one, other = made.solve("ipopt"), made.solve("fatrop", {"fatrop.tolerance": 1e-8})
    assert other.cost == pytest.approx(one.cost, rel=1e-6)
    assert max(other.violations.values()) < 1e-6
    for name in ("q", "v", "u", "p"):
        assert relative_error(getattr(other, name), getattr(one, name)) < 1e-4  # the solvers' own tolerances


def test_sqpmethod_finds_what_ipopt_finds() -> None:
    made = sliding()
    one, other = made.solve("ipopt"), made.solve("sqpmethod")
    assert other.cost == pytest.approx(one.cost, rel=1e-6)
    assert relative_error(other.u, one.u) < 1e-4


@pytest.mark.parametrize(
    ("solver", "options", "message"),
    [
        ("fatrop", {"fatrop.tolerance": "x"}, "it is of another type; give a number"),
        ("fatrop", {"fatrop.max_iter": "3"}, "it is of another type; give a whole number"),
        ("fatrop", {"fatrop.spped": 1.0}, "Fatrop option not supported: spped"),
        ("ipopt", {"ipopt.tol": "x"}, "it is of another type; give a number"),
    ],
)
def test_an_option_that_a_solver_refuses_is_named(solver: str, options: dict[str, Any], message: str) -> None:
    """Of several; fatrop reads them when it is called first."""
    wanted = f"^solve: CasADi refuses '{solver}' with {re.escape(str(options))}: {message}$"
    with pytest.raises(ArgumentError, match=wanted):
        swing().solve(solver, {f"{solver}.max_iter": 20} | options)


@pytest.mark.long
def test_fatrop_refuses_what_connects_intervals() -> None:
    made = swing()
    made.subject_to(made.u[0, 0] == made.u[0, 3])
    with pytest.raises(UnsupportedError, match=r"^fatrop: the intervals 0 and 3 are connected by subject_to 1; "):
        made.solver("fatrop")
    made = swing()
    made.minimize(made.integral(lambda u: ca.sumsqr(u)) + ca.sumsqr(ca.diff(made.u, 1, 1)))
    with pytest.raises(UnsupportedError, match=r"^fatrop: the intervals 0 and . are connected by the cost;"):
        made.solver("fatrop")
    with pytest.raises(UnsupportedError, match=r"^fatrop: control='linear' connects intervals, each of which"):
        swing(control="linear").solver("fatrop")
    made = swing()
    made.subject_to(made.u[0, 1] == made.u[0, 0])
    with pytest.raises(UnsupportedError, match=r"^fatrop: the intervals 0 and 1 are connected by subject_to 1; give"):
        made.solver("fatrop")


def test_a_small_cost_is_as_large_as_a_barrier() -> None:
    """The factor is that of the cost at the guess, within limits; a solve does not depend on the unit of the cost."""

    def least(unit: float) -> tuple[float, ocp.Solution]:
        problem = ocp.Problem(gd.NewtonEuler(slider(2.0)), 1.0, 4)
        problem.start([0.0])
        problem.end([1.0])
        effort = problem.integral(lambda u: unit * u**2)
        problem.minimize(effort)
        solver = problem.solver()
        begin = solver._program.begin(None)
        graph = ca.Function("cost", [solver._nlp.problem["x"], solver._nlp.problem["p"]], [solver._nlp.problem["f"]])
        expected = 100 / float(graph(begin, solver._program.current()))
        assert abs(solver._factor - min(max(expected, 1.0), 1e4)) < 1e-12 * solver._factor
        return solver._factor, solver()

    (one, solution), (other, same), (far, _) = least(0.5), least(0.05), least(1e-9)
    assert abs(other / one - 10) < 1e-11
    assert far == 1e4
    assert same.iterations == solution.iterations
    assert abs(same.cost / solution.cost - 0.1) < 1e-9  # the tolerance of the solver


def test_fatrop_returns_the_cost_and_multipliers_of_the_problem() -> None:
    """Its cost is multiplied by the root of the factor; CasADi's multipliers are those of the multiplied one."""
    problem = swing()
    solver = problem.solver("fatrop")
    plan = solver()
    assert solver._factor > 2
    assert plan.cost == pytest.approx(problem.solve().cost, rel=1e-5)
    assert float(solver.function()(**solver.begin())["cost"]) == pytest.approx(plan.cost, rel=1e-5)
    assert solver.stationarity() < 1e-4


@pytest.mark.parametrize("name", ["ipopt", "fatrop"])
@pytest.mark.filterwarnings("ignore")
def test_numbers_that_are_not_finite_end_a_solve(name: str) -> None:
    """fatrop itself would go on for ever; in the second problem it meets them on its way."""
    for begin, weight in ((0.1, 1.0), (0.6, 10.0)):
        problem = ocp.Problem(gd.NewtonEuler(ARM), 0.6, 6, bounds=ocp.Bounds.of(gd.NewtonEuler(ARM), ARM))
        problem.start([begin, 0.6])
        root = problem.integral(lambda q: ca.sqrt(q[0] - 0.2))
        problem.minimize(weight * root + problem.integral(lambda u: 1e-2 * ca.sumsqr(u)))
        with pytest.raises(ocp.OptimizationError) as stopped:
            problem.solve(name, {"fatrop.max_iter": 60} if name == "fatrop" else None)
        if begin == 0.1:
            assert "derivative of them is not finite there; look at roots" in str(stopped.value)


@pytest.mark.extras
def test_fatrop_tracks_as_ipopt_does() -> None:
    """With fatrop's own tolerance of pivots it calls constraints of this arm dependent, and takes 300 iterations."""
    model = gd.load_urdf(path("ur5").parents[2] / "z1_description" / "urdf" / "z1.urdf", check="off")
    dyn, here = gd.NewtonEuler(model), np.array([0.0, 1.2, -1.2, -0.5, 0.3, 0.2, -0.5])
    problem = ocp.Problem(dyn, 0.6, 12, bounds=ocp.Bounds.of(dyn, model), degree=2)
    problem.start(here)
    problem.minimize(problem.integral(lambda q, u: ca.sumsqr(q - (here + 0.3)) + 1e-3 * ca.sumsqr(u)))
    fatrop, ipopt = problem.solve("fatrop"), problem.solve()
    assert fatrop.iterations < 40
    assert fatrop.cost == pytest.approx(ipopt.cost, rel=1e-3)  # the barriers they end at differ
