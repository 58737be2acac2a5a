"""Problems of robots with parameters: fixed, set anew before a solve, and optimised (co-design)."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, UnknownNameError, UnsupportedError
from gdalembert.symbolic import Row, from_denavit_hartenberg
from tests.helpers.models import relative_error
from tests.helpers.ocp import slider

LOAD = pin.Inertia(0.8, np.array([0.05, 0.0, 0.02]), 0.003 * np.eye(3)).toDynamicParameters()


def arm() -> tuple[pin.Model, gd.NewtonEuler]:
    """The two-link arm with a load, rotors and gravity as parameters."""
    model = gd.load_urdf("two_link_arm")
    return model, gd.NewtonEuler(model, parameters={"payload": ["tip"], "armature": True, "gravity": True})


def lift(dyn: Dynamics, method: str = "collocation", **given: Any) -> ocp.Problem:
    """Little effort and speed from rest to rest, against gravity: without the speed the arm whirls."""
    problem = ocp.Problem(dyn, 0.8, 8, method=method, **given)
    problem.start([-0.4, 0.0])
    problem.end([0.2, -0.5])
    problem.minimize(problem.integral(lambda u, v: ca.sumsqr(u) + 10 * ca.sumsqr(v)))
    return problem


def assert_same(one: ocp.Solution, other: ocp.Solution) -> None:
    """To the tolerance of the solver, 1e-8."""
    assert one.cost == pytest.approx(other.cost, rel=1e-7)
    for name in ("q", "v", "u"):
        assert relative_error(getattr(one, name), getattr(other, name)) < 1e-5
    assert one.step_error == pytest.approx(other.step_error, rel=1e-3)


# Fixed numbers.


@pytest.mark.long
@pytest.mark.parametrize("method", ["collocation", "rk4"])
def test_fixed_p_is_the_robot_that_has_it(method: str) -> None:
    model, dyn = arm()
    p = dyn.parameters.vector([*LOAD, 0.1, 0.05, 0.0, 0.0, -3.7])
    solution = lift(dyn, method, p=p).solve()
    np.testing.assert_array_equal(solution.p, p)
    assert_same(solution, lift(dyn.at(p), method).solve())
    assert_same(solution, lift(gd.NewtonEuler(dyn.parameters.write(model, p)), method).solve())
    assert solution.constraint_violation < 1e-8
    assert max(solution.violations.values()) < 1e-7
    nominal = lift(dyn, method).solve()
    np.testing.assert_array_equal(nominal.p, dyn.parameters.values)
    assert nominal.cost != pytest.approx(solution.cost, rel=0.1)


@pytest.mark.long
def test_steps_at_p_are_those_of_the_robot_that_has_it() -> None:
    _, dyn = arm()
    p = dyn.parameters.vector([*LOAD, 0.1, 0.05, 0.0, 0.0, -3.7])
    rng = np.random.default_rng(0)
    for make, unknowns in ((ocp.rk4, []), (ocp.collocation, [rng.normal(size=(2, 3))])):
        given = [rng.normal(size=4), *unknowns, rng.normal(size=2), 0.05]
        step, other = make(dyn), make(dyn.at(p))
        assert step.name_in()[-1] == "p"
        for x, y in zip(step(*given, p), other(*given), strict=True):
            assert relative_error(x.full(), y.full()) < 1e-12


def test_a_guess_holds_the_load() -> None:
    _, dyn = arm()
    p = dyn.parameters.vector({"tip.m": 2.0})
    ends = [0.3, -0.2], [0.3, -0.2]
    guess = ocp.rest_to_rest(dyn, *ends, p=p)
    np.testing.assert_allclose(guess.u[0], dyn.generalized_gravity(ends[0], p).full().ravel(), rtol=1e-12)
    np.testing.assert_array_equal(guess.u, ocp.rest_to_rest(dyn, *ends, p={"tip.m": 2.0}).u)


# Set anew.


@pytest.mark.long
def test_a_solve_at_another_p_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    _, dyn = arm()
    problem = lift(dyn, p={"tip.m": 0.5})
    first = problem.solve()
    monkeypatch.setattr("gdalembert.ocp.program.Program", None)
    second = problem.solve(p={"gravity.z": -3.7})
    again = problem.solve(p={"gravity.z": dyn.parameters.values[-1]})
    monkeypatch.undo()
    assert second.parameters["tip.m"] == 0.5
    assert second.parameters["gravity.z"] == -3.7
    assert_same(second, lift(dyn, p={"tip.m": 0.5, "gravity.z": -3.7}).solve())
    assert_same(again, first)
    # other options are another solver
    with pytest.raises(ocp.OptimizationError):
        problem.solve(options={"ipopt.max_iter": 1})


@pytest.mark.parametrize("built", [False, True])
def test_p_holds_until_it_is_given_again(built: bool) -> None:
    """As the parameters of the problem do; at first it is that of the problem."""
    dyn = gd.NewtonEuler(slider(2.0), parameters=["inertia", "armature"])
    problem = ocp.Problem(dyn, 1.0, 2, p={"slide.armature": 0.4})
    problem.start([0.0])
    problem.end({"slide": problem.parameter("goal")})
    problem.minimize(problem.integral(lambda u: u**2))
    solve = problem.solver() if built else problem.solve
    solve(goal=0.5)
    given = [{"slide.m": 3.0}, None, {"slide.armature": 0.1}, None, dyn.parameters.values]
    found = [solve(p=p) for p in given]
    assert [each.parameters["slide.m"] for each in found] == [3.0, 3.0, 3.0, 3.0, 2.0]
    assert [each.parameters["slide.armature"] for each in found] == [0.4, 0.4, 0.1, 0.1, 0.0]
    assert [each.q[-1, 0] for each in found] == pytest.approx([0.5] * 5)


@pytest.mark.long
def test_what_was_found_is_judged_at_its_p() -> None:
    _, dyn = arm()
    solution = lift(dyn).solve(p={"tip.m": 1.5})
    motion = solution.simulate()
    assert motion.p[dyn.parameters.index("tip.m")] == 1.5
    assert np.abs(motion.q[-1] - solution.q[-1]).max() < 5e-3  # the steps are off by 3e-4 of the velocity
    robot = solution.robot
    assert relative_error(solution.simulate(robot).x, motion.x) < 1e-6  # other steps of the integrator
    tau = robot.inverse_dynamics(*(rows[0] for rows in solution.stages[1:4])).full().ravel()
    np.testing.assert_allclose(tau, solution.stages.u[0], rtol=1e-6)
    assert np.abs(solution.simulate(dyn).q[-1] - solution.q[-1]).max() > 0.05  # without the load
    copy = pickle.loads(pickle.dumps(solution))
    np.testing.assert_array_equal(copy.p, solution.p)


def test_expressions_take_p() -> None:
    """A bound of the kinetic energy, at every load."""
    _, dyn = arm()

    def largest(solution: ocp.Solution) -> float:
        p = np.tile(solution.p[:, None], (1, len(solution.stages.q)))
        return float(dyn.kinetic_energy(solution.stages.q.T, solution.stages.v.T, p).full().max())

    problem = lift(dyn)
    free = largest(problem.solve(p={"tip.m": 1.0}))
    problem.path(dyn.kinetic_energy, upper=0.9 * free)
    assert largest(problem.solve(p={"tip.m": 1.0})) == pytest.approx(0.9 * free, abs=1e-6)
    assert largest(problem.solve(p={"tip.m": 0.1})) < 0.8 * free
    with pytest.raises(ArgumentError, match=r"^an expression at the stages of p alone is the same all the time; take"):
        problem.path(lambda p: p[0], upper=1.0)


# Co-design: optima that are known.


@pytest.mark.long
def test_counterweights_balance_the_arm() -> None:
    """Held at rest, the arm needs no torque if each link and all it carries have their centre of mass on the axis."""
    model = gd.load_urdf("two_link_arm")  # rods of 3 kg, 0.5 m and 1.5 kg, 0.4 m
    for name, joint, x in (("weight1", 1, -0.3), ("weight2", 2, -0.1)):
        model.addFrame(pin.Frame(name, joint, 0, pin.SE3(np.eye(3), np.array([x, 0, 0])), pin.FrameType.OP_FRAME))
    dyn = gd.NewtonEuler(model, parameters={"payload": ["weight1", "weight2"]})
    design = {"weight1.m": (0.0, 30.0), "weight2.m": (0.0, 10.0)}
    problem = ocp.Problem(dyn, 0.5, 4, design=design)
    problem.start([0.3, 0.5])
    problem.end([0.3, 0.5])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    solution = problem.solve()
    second = 1.5 * 0.2 / 0.1
    first = (3 * 0.25 + (1.5 + second) * 0.5) / 0.3
    assert solution.parameters["weight2.m"] == pytest.approx(second, rel=1e-6)
    assert solution.parameters["weight1.m"] == pytest.approx(first, rel=1e-6)
    assert solution.cost < 1e-8
    assert solution.violations["bounds of p"] == 0
    still = gd.NewtonEuler(dyn.parameters.write(model, solution.p))
    assert np.abs(still.generalized_gravity([0.3, 0.5]).full()).max() < 1e-4  # N m, of 23 N m without weights
    assert problem.solve(p={"weight1.m": 25.0}).parameters["weight1.m"] == pytest.approx(first, rel=1e-6)


@pytest.mark.parametrize("method", ["collocation", "rk4"])
def test_a_spring_that_swings_the_mass(method: str) -> None:
    """Half a period of √(k/m) about the middle needs no force: k = m (π/T)², rest d/2."""
    mass, distance, duration = 2.0, 0.7, 1.5
    dyn = gd.NewtonEuler(slider(mass), springs={"slide": (1.0, 0.1)}, parameters=["springs"])
    design = {"slide.stiffness": (0.0, 50.0), "slide.rest": (-1.0, 1.0)}
    problem = ocp.Problem(dyn, duration, 12, method=method, design=design)
    problem.start([0.0])
    problem.end([distance])
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    # an error of the steps of 1e-6 in the frequency
    assert solution.parameters["slide.stiffness"] == pytest.approx(mass * (np.pi / duration) ** 2, rel=1e-4)
    assert solution.parameters["slide.rest"] == pytest.approx(distance / 2, rel=1e-4)
    assert solution.cost < 1e-6
    assert np.abs(solution.simulate().q[-1] - distance).max() < 1e-4


def test_a_mass_that_costs_what_it_saves() -> None:
    """∫ u² dt = 12 m² d²/T³ beside w/m: m³ = w T³/(24 d²); other parameters stay what the solve is given."""
    distance, duration, w = 0.7, 1.5, 3.0
    model = slider(2.0)
    dyn = gd.NewtonEuler(model, parameters=["inertia", "armature"])
    problem = ocp.Problem(dyn, duration, 10, control="linear", degree=2, design={"slide.m": (0.1, 50.0)})
    problem.start([0.0])
    problem.end([distance])
    m = problem.p[dyn.parameters.index("slide.m")]
    problem.minimize(problem.integral(lambda u: u**2) + w / m)
    solution = problem.solve()
    best = (w * duration**3 / (24 * distance**2)) ** (1 / 3)
    assert solution.parameters["slide.m"] == pytest.approx(best, rel=1e-6)
    assert solution.cost == pytest.approx(12 * best**2 * distance**2 / duration**3 + w / best, rel=1e-8)
    with_rotor = problem.solve(p={"slide.armature": 0.4})
    assert with_rotor.parameters["slide.armature"] == 0.4
    x = with_rotor.parameters["slide.m"]  # 24 (m + 0.4) d²/T³ = w/m²
    assert 24 * (x + 0.4) * distance**2 / duration**3 == pytest.approx(w / x**2, rel=1e-6)


def test_a_length_that_swings_in_time() -> None:
    """A small half swing of a pendulum takes π √(a/g): the length a is a parameter of a symbolic tree."""
    duration, angle = 0.8, 0.01
    tree = from_denavit_hartenberg([Row(a="a_1", mass="m_1")], gravity=(0, -9.81, 0))
    dyn = tree.dynamics(gd.NewtonEuler)
    problem = ocp.Problem(dyn, duration, 8, p={"a_1": 1.0, "m_1": 2.0}, design={"a_1": (0.1, 3.0)})
    problem.start([-np.pi / 2 - angle])
    problem.end([-np.pi / 2 + angle])
    problem.minimize(1e6 * problem.integral(lambda u: u**2))
    solution = problem.solve()
    # an amplitude of 0.01 rad makes the swing 6e-6 longer
    assert solution.parameters["a_1"] == pytest.approx(9.81 * (duration / np.pi) ** 2, rel=1e-4)
    assert solution.parameters["m_1"] == 2.0


def test_an_optimum_that_no_body_has_is_a_warning() -> None:
    dyn = gd.NewtonEuler(slider(2.0), parameters=["inertia"])
    problem = ocp.Problem(dyn, 1.5, 5, design={"slide.m": (-1.0, 5.0)})
    problem.start([0.0])
    problem.end([0.7])
    m = problem.p[dyn.parameters.index("slide.m")]
    problem.minimize(problem.integral(lambda u: u**2) + (m + 0.5) ** 2 * 1e4)
    with pytest.warns(
        ocp.SolutionWarning, match=r"slider: the optimum of p: joint 'slide': with this p its link has the "
    ):
        problem.solve()


def test_an_optimum_at_its_bound_is_that_of_a_robot() -> None:
    """IPOPT leaves it 1e-8 of its size below 0, an armature that no robot has."""
    problem = ocp.Problem(
        gd.NewtonEuler(slider(2.0), parameters=["armature"]), 1.0, 2, design={"slide.armature": (0.0, 1.0)}
    )
    problem.start([0.0])
    problem.end([0.5])
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    assert solution.parameters["slide.armature"] == 0.0
    assert solution.simulate().q[-1, 0] == pytest.approx(0.5, abs=1e-6)


# Refusals.


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"p": {"tip.m": -9.0}},
            ArgumentError,
            "Problem: joint 'joint2': with this p its link has the negative mass -7.5",
        ),
        ({"p": [1.0]}, ArgumentError, r"Problem: p has shape \(1,\); give \(15,\)"),
        ({"p": {"tip": 1.0}}, UnknownNameError, "no parameter named 'tip'; nearest: "),
        ({"design": {"tip": (0, 1)}}, UnknownNameError, "no parameter named 'tip'; nearest: "),
        ({"design": {"tip.m": 1.0}}, ArgumentTypeError, r"Problem: design: 'tip.m': got 1.0; give \(lower, upper\)"),
        (
            {"design": {"tip.m": (2, 1)}},
            ArgumentError,
            r"Problem: design: 'tip.m': got \(2, 1\); give lower below upper",
        ),
        ({"design": ["tip.m"]}, ArgumentTypeError, r"Problem: design=\['tip.m'\]; give \{name of a parameter: "),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(given: Any, error: type[Exception], message: str) -> None:
    _, dyn = arm()
    with pytest.raises(error, match=f"^{message}") as caught:
        lift(dyn, **given)
    assert "\n" not in str(caught.value)


def test_a_solve_refuses_what_a_problem_does() -> None:
    _, dyn = arm()
    problem = lift(dyn)
    with pytest.raises(
        ArgumentError, match=r"^solve: joint 'joint1' has the negative armature -1 with this p; give at"
    ):
        problem.solve(p={"joint1.armature": -1.0})
    plain = lift(dyn.at())
    with pytest.raises(ArgumentError, match=r"^solve: p is given, but two_link_arm has no parameters; drop p, or make"):
        plain.solve(p={"tip.m": 1.0})
    with pytest.raises(UnknownNameError, match=r"no parameter named 'tip.m'; there are none"):
        lift(dyn.at(), design={"tip.m": (0, 1)})
    with pytest.raises(ArgumentError, match=r"^rest_to_rest: p is given, but"):
        ocp.rest_to_rest(dyn.at(), [0, 0], [1, 1], p=[1.0])


@pytest.mark.parametrize("wrong", [{"guess": object()}, {"p": [1.0, 2.0]}, {"goal": 1.0}, {"q0": "far"}])
def test_the_parameters_of_a_call_that_is_refused_are_not_the_last_ones(wrong: dict[str, Any]) -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 2, degree=1)
    problem.start(problem.parameter("q0"))
    speed = problem.parameter("speed")
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)) + (problem.v[:, -1] - speed) ** 2)
    solver = problem.solver()
    first = solver(q0=0.1, speed=0.0)
    with pytest.raises(GdalembertError):
        solver(**{"q0": 0.3, "speed": 1.0} | wrong)
    assert solver.last is first
    assert solver().q[0] == pytest.approx(0.1, rel=1e-12)


@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_solver_is_not_copied(take: Any) -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 2, degree=1)
    problem.start([0.0])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    with pytest.raises(UnsupportedError, match=r"^Solver: it works in memory of its own, and cannot be copied"):
        take(problem.solver())
