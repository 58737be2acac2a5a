"""acados: the optima of IPOPT, from the program of stages; and the expressions of an AcadosModel."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, OptimizationError, UnsupportedError
from tests.helpers.models import relative_error
from tests.helpers.ocp import turning
from tests.ocp.test_one_optimum import PROBLEMS


@pytest.mark.long
def test_explicit_and_implicit_dynamics_are_pinocchios(monkeypatch: pytest.MonkeyPatch) -> None:
    model = gd.load_urdf("puma560")
    dyn = gd.NewtonEuler(model, parameters={"armature": True}, actuation=2 * np.eye(6))
    found = ocp.acados_expressions(dyn)
    functions = [
        ca.Function("explicit", [found.x, found.u, found.p], [found.f_expl_expr]),
        ca.Function("implicit", [found.x, found.xdot, found.u, found.p], [found.f_impl_expr]),
    ]
    rng = np.random.default_rng(0)
    q, v, u = rng.normal(size=(3, 6))
    x, p = np.r_[q, v], dyn.parameters.values
    rate = np.r_[v, pin.aba(model, model.createData(), q, v, 2 * u)]
    assert relative_error(functions[0](x, u, p).full().ravel(), rate) < 1e-9  # the default cleaning
    assert np.abs(functions[1](x, rate, u, p).full()).max() < 1e-8  # the same, N m
    assert found.name == "puma560"
    assert found.u_labels == list(model.names[1:])
    assert (len(found.x_labels), found.x_labels[0]) == (12, model.names[1])
    package = ModuleType("acados_template")
    vars(package)["AcadosModel"] = SimpleNamespace
    monkeypatch.setitem(sys.modules, "acados_template", package)
    made = found.model()
    assert made.f_impl_expr is found.f_impl_expr
    assert made.x_labels == found.x_labels


def test_what_acados_cannot_take(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedError, match=r"^turning: joint 'turn' has unit lengths in q, which acados' integ"):
        ocp.acados_expressions(turning(pin.JointModelSpherical()))
    monkeypatch.setitem(sys.modules, "acados_template", None)
    with pytest.raises(UnsupportedError, match=r"^acados needs the Python package acados_template"):
        ocp.acados_expressions(gd.NewtonEuler(gd.load_urdf("two_link_arm"))).model()


def two_links(degree: int = 3, duration: float | tuple[float, float] = 1.0, **options: object) -> ocp.Problem:
    """Limits of u and v, a path, one at each end and rows of an instant are active."""
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    bounds = ocp.Bounds.of(dyn, u=dict.fromkeys(dyn.actuator_names, 20.0), v=dict.fromkeys(dyn.coordinate_names, 2.5))
    problem = ocp.Problem(dyn, duration, 12, bounds=bounds, degree=degree, **options)  # type: ignore[arg-type]
    problem.start(problem.parameter("q0", 2))
    problem.end([1.2, -0.7])
    problem.squares(lambda u: u, 1e-3)
    problem.squares(lambda v: v, 0.1)
    return problem


def one_cost() -> ocp.Problem:
    problem = ocp.Problem(gd.NewtonEuler(gd.load_urdf("two_link_arm")), 1.0, 12, degree=1)
    problem.start([0.0, 0.0])
    problem.squares(lambda u: u)
    return problem


def limited(degree: int = 3, **options: object) -> ocp.Problem:
    problem = two_links(degree, **options)  # type: ignore[arg-type]
    problem.path(lambda q: q[0] + q[1], upper=0.6)
    problem.path(lambda v: v[0], upper=0.0, at="end")
    problem.at(6, lambda q: q[0], 0.3, 0.4)
    return problem


def reaching() -> ocp.Problem:
    """A hand reaches for a point: squares whose curvature is indefinite."""
    model = gd.load_urdf("puma560")
    dyn = gd.NewtonEuler(model)
    place = gd.Kinematics(model).frame_placement(model.frames[-1].name)
    start = np.full(6, 0.3)
    target = place(start)[:3, 3].full().ravel() + np.array([0.1, -0.2, 0.1])
    problem = ocp.Problem(dyn, 1.0, 10, bounds=ocp.Bounds.of(dyn, model), degree=2)
    problem.start(start)
    problem.squares(lambda q: place(q)[:3, 3] - target, 100.0)
    problem.squares(lambda u: u, 1e-4)
    problem.squares(lambda q, v: ca.vertcat(10 * (place(q)[:3, 3] - target), v), 10.0, at="end")
    return problem


def agree(problem: ocp.Problem, tolerance: float = 1e-7, **values: object) -> ocp.Solution:
    """The solution of acados, which has the cost of IPOPT's: to its bounds, which are relaxed by 1e-8."""
    cost = problem.solve("ipopt", {"ipopt.tol": 1e-11}, **values).cost  # type: ignore[arg-type]
    found = problem.solve("acados", **values)  # type: ignore[arg-type]
    assert abs(found.cost - cost) < tolerance * abs(cost), (found.cost, cost)
    assert found.constraint_violation < 1e-8
    return found


@pytest.mark.extras
@pytest.mark.system
@pytest.mark.parametrize("make", PROBLEMS)
def test_acados_has_the_optimum_of_ipopt(make: Callable[[], ocp.Problem]) -> None:
    agree(make())


@pytest.mark.extras
@pytest.mark.system
@pytest.mark.parametrize(
    ("make", "values"),
    [
        (lambda: limited(2), {"q0": [0.1, 0.2]}),
        (lambda: limited(3, method="rk4"), {"q0": [0.1, 0.2]}),
        (lambda: two_links(1, (0.3, 3.0)), {"q0": [0.1, 0.2]}),
        (lambda: limited(1, compiled=True), {"q0": [0.1, 0.2]}),
        (reaching, {}),
    ],
    ids=["degree", "rk4", "duration", "compiled", "reaching"],
)
def test_steps_and_costs(make: Callable[[], ocp.Problem], values: dict[str, object]) -> None:
    problem = make()
    if isinstance(problem.duration, ca.MX):
        problem.minimize(problem.duration)
    agree(problem, **values)


@pytest.mark.extras
@pytest.mark.system
def test_parameters_change_and_the_last_solution_begins_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    problem = limited()
    solver = problem.solver("acados")
    assert not os.listdir(tmp_path)
    first, again = solver(q0=[0.1, 0.2]), solver()
    assert first.iterations > 0
    assert again.iterations == 0
    moved = solver(q0=[0.0, 0.1], shift=1)
    assert abs(moved.cost - agree(problem, q0=[0.0, 0.1]).cost) < 1e-9 * moved.cost
    assert moved.stats["t_wall_total"] > 0
    with pytest.raises(UnsupportedError, match=r"^function: acados is no Function"):
        solver.function()
    with pytest.raises(UnsupportedError, match=r"^stationarity: acados has no multipliers"):
        solver.stationarity()


@pytest.mark.extras
@pytest.mark.system
def test_what_acados_says_of_failures_and_options() -> None:
    problem = limited()
    with pytest.raises(
        OptimizationError, match=r"stopped with 'Maximum_Iterations_Exceeded' after 1 iterations"
    ) as found:
        problem.solve("acados", {"acados.nlp_solver_max_iter": 1}, q0=[0.1, 0.2])
    assert found.value.solution.constraint_violation > 1e-3
    free = ocp.Problem(gd.NewtonEuler(gd.load_urdf("two_link_arm")), 0.8, 12, degree=1)
    free.start([0.0, 0.0])
    free.end([0.4, -0.3])
    free.squares(lambda u: u)  # without bounds of u, steps lead where Newton's method has no root
    with pytest.raises(OptimizationError, match=r"^two_link_arm: the solver stopped with 'QP_Solver_Failed' after"):
        free.solve("acados")
    with pytest.raises(ArgumentError, match=r"^solve: acados has no option 'max_iter'; give any of alpha_min, "):
        problem.solver("acados", {"acados.max_iter": 1})
    with pytest.raises(ArgumentError, match=r"^solve: acados refuses the option hessian_approx='NEWTON': "):
        problem.solver("acados", {"hessian_approx": "NEWTON"})
    with pytest.raises(UnsupportedError, match=r"takes no max_wall_time"):
        problem.solver("acados", {"max_wall_time": 1.0})


@pytest.mark.extras
@pytest.mark.system
@pytest.mark.filterwarnings("ignore:.*steps are too coarse")
def test_an_end_without_a_cost() -> None:
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model)
    problem = gd.ocp.Problem(dyn, 0.5, 4, bounds=gd.ocp.Bounds.of(dyn, model), degree=1)
    problem.start([0.0, 0.0])
    problem.end([0.1, 0.0])
    problem.squares(lambda u: u)
    assert problem.solve("acados").cost == pytest.approx(problem.solve().cost, rel=1e-7)


@pytest.mark.long
def test_what_is_refused_without_acados(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedError, match=r"^acados: control='linear' connects intervals"):
        two_links(control="linear").solver("acados")
    schedule = ocp.ContactSchedule({"one": one_cost(), "other": one_cost()})
    for make in (
        lambda: ocp.Phases([two_links(1), two_links(1)]).solver("acados"),
        lambda: ocp.Scenarios([one_cost(), one_cost()]).solver("acados"),
        lambda: schedule.solver("acados"),
        lambda: schedule.solve(["one"] * 6 + ["other"] * 6, "acados"),
    ):
        with pytest.raises(UnsupportedError, match=r"^acados: .*: it takes one problem, not several; take 'ipopt'"):
            make()
    for name in ("acados_template", "acados", "acados.acados_template"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UnsupportedError, match=r"^acados: needs its Python package acados_template; build acados"):
        two_links(1).solver("acados")
