"""Several scenarios under one u."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.ocp.problems.joined import COSTS
from tests.helpers.ocp import slider
from tests.helpers.sets import quick

MASSES = (1.0, 1.5, 3.0)


def loaded(mass: float, weight: float = 1.0, **options: object) -> ocp.Problem:
    """A mass that is pushed towards 1 m in 1 s, with little effort."""
    dyn = gd.NewtonEuler(slider(), parameters={"inertia": True})
    bounds = ocp.Bounds.of(dyn, slider(effort=20.0))
    settings = {"bounds": bounds, "p": {"slide.m": mass}} | options
    problem = ocp.Problem(dyn, settings.pop("duration", 1.0), settings.pop("intervals", 6), **settings)
    problem.start([0.0])
    problem.path(lambda q: q, upper=1.3)
    miss = ca.sumsqr(problem.q[0, -1] - 1) + ca.sumsqr(problem.v[0, -1])
    problem.minimize(weight * (miss + problem.integral(lambda u: 1e-3 * ca.sumsqr(u))))
    return problem


@pytest.mark.long
def test_one_force_for_several_masses_is_that_of_a_robot_of_several_sliders() -> None:
    """The same as one robot, whose three sliders one actuator pushes."""
    found = ocp.Scenarios([loaded(mass) for mass in MASSES], cost="sum").solve()
    model = pin.Model()
    for mass in MASSES:
        joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), f"slide {mass}")
        model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    dyn = gd.NewtonEuler(model, actuation=np.ones((3, 1)))
    together = ocp.Problem(dyn, 1.0, 6, bounds=ocp.Bounds.of(dyn, u={"u[0]": 20.0}))
    together.start(np.zeros(3))
    together.path(lambda q: q, upper=1.3)
    miss = ca.sumsqr(together.q[:, -1] - 1) + ca.sumsqr(together.v[:, -1])
    together.minimize(miss + together.integral(lambda u: 3e-3 * ca.sumsqr(u)))
    one = together.solve()
    # both to the tolerance of the solver
    assert found.cost == pytest.approx(one.cost, rel=1e-7)
    assert found.u == pytest.approx(one.u, abs=1e-4)
    assert np.column_stack([each.q for each in found.scenarios]) == pytest.approx(one.q, abs=1e-5)
    assert found.costs.sum() == pytest.approx(found.cost, rel=1e-12)
    assert [each.parameters["slide.m"] for each in found.scenarios] == list(MASSES)


def test_each_scenario_moves_as_its_robot() -> None:
    found = ocp.Scenarios([loaded(mass) for mass in MASSES]).solve()
    assert found.cost == pytest.approx(found.costs.mean(), rel=1e-12)
    assert found.constraint_violation < 1e-7
    assert found.step_error < 1e-7
    assert not found.excess
    for again, plan in zip(found.simulate(), found.scenarios, strict=True):
        assert np.array_equal(plan.u, found.u)
        assert again.q[-1] == pytest.approx(plan.q[-1], abs=1e-6)
    assert "in 3 scenarios" in str(found)


@pytest.mark.long
def test_the_worst_is_the_largest_cost_and_less_than_that_of_the_mean() -> None:
    worst, mean = (ocp.Scenarios([loaded(mass) for mass in MASSES], cost=cost).solve() for cost in ("worst", "mean"))
    assert worst.cost == pytest.approx(worst.costs.max(), abs=1e-6)
    assert worst.costs.max() < mean.costs.max() - 1e-3
    assert worst.costs.mean() > mean.costs.mean()
    large = ocp.Scenarios([loaded(mass, 1e4) for mass in MASSES], cost="worst").solve()
    assert large.cost - large.costs.mean() > 10
    assert large.u == pytest.approx(worst.u, abs=1e-3)  # the solver's tolerance


@pytest.mark.long
def test_the_worst_takes_about_as_long_as_the_mean() -> None:
    """Three joints of a PUMA carry 0, 2 and 5 kg from one start to one place, as near as one u can."""
    model = gd.load_urdf("puma560_3")
    dyn = gd.NewtonEuler(model, parameters={"payload": ["wrist"]})
    place = gd.Kinematics(model).frame_placement("wrist")
    goal = place([0.7, -0.1, 0.6])[:3, 3]
    found = {}
    for cost in ("mean", "worst"):
        problems = [ocp.Problem(dyn, 0.6, 15, p={"wrist.m": mass}) for mass in (0.0, 2.0, 5.0)]
        for problem in problems:
            problem.start([0.2, -0.4, 0.9])
            miss = ca.sumsqr(place(problem.q[:, -1])[:3, 3] - goal)
            problem.minimize(miss + 1e-5 * problem.integral(lambda u: ca.sumsqr(u)))
        found[cost] = ocp.Scenarios(problems, cost=cost).solve()
    worst, mean = found["worst"], found["mean"]
    assert worst.iterations <= 3 * mean.iterations
    assert worst.costs.max() < 0.8 * mean.costs.max()
    assert worst.cost == pytest.approx(worst.costs.max(), abs=1e-7)  # the solver's tolerance


@pytest.mark.long
def test_p_of_the_scenarios_may_change_and_parameters_are_shared() -> None:
    problems = [loaded(mass) for mass in MASSES[:2]]
    for problem in problems:
        problem.start(problem.parameter("q0", 1))
    scenarios = ocp.Scenarios(problems)
    found = scenarios.solve(p=[{"slide.m": 2.0}, None], q0=[0.5])
    assert [each.p[0] for each in found.scenarios] == [2.0, 1.5]
    assert [each.q[0, 0] for each in found.scenarios] == pytest.approx([0.5, 0.5])
    assert scenarios.solve(q0=[0.5]).scenarios[0].p[0] == 2.0


@pytest.mark.long
@pytest.mark.parametrize("cost", quick(COSTS, "worst"))
def test_a_solver_of_scenarios_is_built_once_and_shifted(cost: str) -> None:
    problems = [loaded(mass) for mass in MASSES]
    for problem in problems:
        problem.start(problem.parameter("q0"), problem.parameter("v0"))
    scenarios = ocp.Scenarios(problems, cost=cost)
    solver = scenarios.solver()
    first = solver(q0=0.0, v0=0.0)
    assert first.cost == pytest.approx(scenarios.solve(q0=0.0, v0=0.0).cost, rel=1e-6)
    again = solver()
    assert again.iterations <= first.iterations / 2
    with pytest.warns(ocp.SolutionWarning, match=r"slider: the solver stopped .*; the last plan, shifted by 2 interva"):
        failed = solver(q0=-50.0, shift=2)
    assert failed.u.ravel() == pytest.approx(again.u[[2, 3, 4, 5, 5, 5], 0], abs=1e-12)
    assert [each.q[0, 0] for each in failed.scenarios] == pytest.approx([each.q[2, 0] for each in again.scenarios])
    other = solver(q0=0.2, v0=0.1, p=[{"slide.m": 1.2}, None, None])
    assert [each.p[0] for each in other.scenarios] == [1.2, *MASSES[1:]]
    assert solver.value(problems[2].q[0, -1]) == pytest.approx(other.scenarios[2].q[-1, 0])
    assert scenarios.value(problems[2].q[0, 0]) == pytest.approx(0.0)
    found = solver.function()(q0=0.2, v0=0.1, z0=solver._found[0])
    assert float(found["cost"]) == pytest.approx(other.cost, rel=1e-6)
    assert np.abs(found["u"].full().T - other.u).max() < 1e-4  # the solver's tolerance
    assert found["q"].shape == (3, 7)


@pytest.mark.long
def test_design_and_free_duration_are_shared() -> None:
    """A brake of the least mean effort, for two starts: one weight, one duration."""
    design = {"slide.m": (0.5, 4.0)}
    problems = [loaded(2.0, duration=(0.5, 2.0), design=design, intervals=4) for _ in range(2)]
    problems[1].start([0.3])
    for problem in problems:
        miss = problem.integral(lambda q: ca.sumsqr(q - 0.6))
        problem.minimize(miss + 0.1 * (problem.p[0] - 2.5) ** 2 + (problem.duration - 1) ** 2)
    found = ocp.Scenarios(problems).solve()
    one, other = found.scenarios
    assert one.p[0] == other.p[0]
    assert 0.5 < one.p[0] < 4
    assert one.duration == other.duration == found.duration
    assert 0.5 < one.duration < 2


def _other_actuators() -> ocp.Problem:
    return ocp.Problem(gd.NewtonEuler(gd.load_urdf("two_link_arm")), 1.0, 6)


def _without_cost() -> ocp.Problem:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 6)
    problem.start([0.0])
    return problem


REFUSED = [
    (lambda p: ocp.Scenarios(p), "ArgumentTypeError", "Scenarios: got Problem; give a list of gd.ocp.Problem"),
    (lambda p: ocp.Scenarios([p]), "ArgumentError", "Scenarios: give at least two problems, each once"),
    (lambda p: ocp.Scenarios([p, p]), "ArgumentError", "Scenarios: give at least two problems, each once"),
    (lambda p: ocp.Scenarios([p, loaded(1.0)], cost="least"), "ArgumentError", "least"),
    (lambda p: ocp.Scenarios([p, loaded(1.0, intervals=5)]), "ArgumentError", "intervals of scenario 2: 5, of the"),
    (lambda p: ocp.Scenarios([p, loaded(1.0, duration=2.0)]), "ArgumentError", "duration of scenario 2: (2.0, 2.0"),
    (lambda p: ocp.Scenarios([p, loaded(1.0, control="linear")]), "ArgumentError", "control of scenario 2: linear"),
    (lambda p: ocp.Scenarios([p, _other_actuators()]), "ArgumentError", "actuators of scenario 2: ('joint1', "),
    (
        lambda p: ocp.Scenarios([p, loaded(1.0)]).solve("fatrop"),
        "UnsupportedError",
        "fatrop: scenarios are not one",
    ),
    (
        lambda p: ocp.Scenarios([p, loaded(1.0)]).solve(p={"slide.m": 1}),
        "ArgumentTypeError",
        "p: got dict; give a l",
    ),
    (lambda p: ocp.Scenarios([p, loaded(1.0)]).solve(p=[1]), "ArgumentError", "Scenarios: p has 1 entries; give"),
    (
        lambda p: ocp.Scenarios([p, loaded(1.0)]).solve(goal=1),
        "UnknownNameError",
        "no parameter of the prob",
    ),
    (
        lambda p: ocp.Scenarios([p, _without_cost()]).solve(),
        "ArgumentError",
        "scenario 2 minimises nothing",
    ),
]


@pytest.mark.parametrize(("use", "error", "message"), quick(REFUSED, REFUSED[1], REFUSED[4], REFUSED[-1]))
def test_wrong_use_is_refused_in_one_sentence(use: Callable[[ocp.Problem], object], error: str, message: str) -> None:
    with pytest.raises(getattr(gd.errors, error)) as caught:
        use(loaded(1.0))
    assert message in str(caught.value)


def test_scenarios_that_have_no_solution_say_which() -> None:
    """No one force brings masses of 1 and 3 kg to rest at different places, at whose bounds they stay."""
    problems = [loaded(mass) for mass in (1.0, 3.0)]
    for problem in problems:
        problem.end([1.0])
    with pytest.raises(ocp.OptimizationError, match=r"scenario [12]: ") as caught:
        ocp.Scenarios(problems).solve(options={"ipopt.max_iter": 30})
    assert not caught.value.solution.solved
    assert caught.value.solution.constraint_violation > 1e-3
