"""Solutions: stages, what is reported of them, and simulations with the same u."""

from __future__ import annotations

import dataclasses
import pickle
import warnings

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.ocp.solution import Accuracy, FollowedPath
from gdalembert.ocp.system.system import System
from tests.helpers.ocp import slider, turning

# Expressions along the path.


@pytest.mark.parametrize("control", ["linear", "constant"])
def test_stages_lie_on_the_motion(control: str) -> None:
    """u of a stage is that of its time, and v is a polynomial of the second degree at most in each interval."""
    problem = ocp.Problem(gd.NewtonEuler(slider(2.0)), 1.5, 4, control=control)
    problem.start([0.0])
    problem.end([0.7])
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    t, interval = solution.stages.t.ravel(), np.repeat(np.arange(4), 3)
    assert np.all(np.diff(t) > 0)
    within = t - solution.t[interval]
    if control == "constant":
        u, slope = solution.u[interval, 0], np.zeros(12)
    else:
        slope = np.diff(solution.u[:, 0])[interval] / np.diff(solution.t)[interval]
        u = solution.u[interval, 0] + slope * within
    np.testing.assert_allclose(solution.stages.u.ravel(), u, rtol=0, atol=1e-9)
    v = solution.v[interval, 0] + (solution.u[interval, 0] * within + slope * within**2 / 2) / 2.0
    np.testing.assert_allclose(solution.stages.v.ravel(), v, rtol=0, atol=1e-7)  # the solver's own tolerance


def test_a_stiff_spring_of_a_rigid_robot_is_resolved() -> None:
    """100 rad/s in intervals of 0.4 s: sixteen steps of Runge and Kutta in one would be 1e9 off."""
    dyn = gd.NewtonEuler(slider(), springs={"slide": (2e4, 0.0)})
    problem = ocp.Problem(dyn, 0.8, 2, degree=9, control="linear")
    problem.start([0.0])
    problem.end([0.001], v=None)
    problem.minimize(problem.integral(lambda u: u**2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ocp.SolutionWarning)
        assert problem.solve().step_error < 10


# What is reported.


def test_what_cannot_be_reached_is_said() -> None:
    model = slider(2.0, 3.0)
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, 0.5, 10, bounds=ocp.Bounds.of(dyn, model))
    problem.start([0.0])
    problem.end([3.0])
    problem.minimize(problem.integral(lambda u: u**2))
    with pytest.raises(
        ocp.OptimizationError, match=r"slider: the solver stopped with '.*' after \d+ iterations"
    ) as caught:
        problem.solve()
    assert caught.value.solution.constraint_violation > 0.1
    assert caught.value.solution.q.shape == (11, 1)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_steps_that_are_too_coarse_are_said() -> None:
    """A rotor of 16 Hz against its joint in steps of 100 ms: the steps' equations hold, those of the motion do not."""
    arm = gd.FlexibleArm(slider(), joints={"slide": gd.FlexibleJoint(stiffness=1e4, rotor_inertia=1.0)})

    def problem(n: int) -> ocp.Problem:
        made = ocp.Problem(arm, 1.0, n, degree=1)
        made.start([0.0, 0.0])
        made.end([0.5, 0.5])
        made.minimize(made.integral(lambda u: u**2))
        return made

    with pytest.warns(ocp.SolutionWarning, match="slider: the steps are too coarse"):
        coarse = problem(10).solve()
    fine = problem(200).solve()
    assert coarse.step_error > 0.01 > fine.step_error


def test_excess_between_grid_points_is_said() -> None:
    model = slider(2.0, 3.0)
    dyn = gd.NewtonEuler(model)
    bounds = ocp.Bounds.of(dyn, model, q={"slide": (-4.0, 1.0)}, u={"slide": 100.0})
    problem = ocp.Problem(dyn, 1.0, 2, bounds=bounds, bounds_at="grid")
    problem.start([0.0], v=8.0)
    problem.end([0.0], v=None)
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    assert solution.q.max() <= 1 + 1e-7
    t = np.arange(17) / 32  # sixteen steps in an interval of half a second
    assert solution.excess["slide"] == pytest.approx((8 * t + solution.u[0, 0] / 2.0 * t**2 / 2).max() - 1, rel=1e-9)
    assert list(solution.excess) == ["slide"]
    assert f"slide {solution.excess['slide']:.2g} beyond its bound between grid points" in str(solution)


@pytest.mark.parametrize("scheme", ["legendre", "radau"])
def test_unit_lengths_stay(scheme: str) -> None:
    """Displacements turn a quaternion by another one, whatever the scheme."""
    problem = ocp.Problem(turning(pin.JointModelSpherical()), 1.2, 4, degree=2, scheme=scheme)
    problem.start([0, 0, 0, 1])
    problem.end([np.sin(0.6), 0, 0, np.cos(0.6)])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    solution = problem.solve()
    assert np.abs(np.linalg.norm(problem.value(problem.q), axis=0) - 1).max() < 1e-12
    assert solution.length_violation < 1e-12
    assert f"unit lengths off by {solution.length_violation:.1e}" in str(solution)
    np.testing.assert_allclose(np.linalg.norm(solution.q, axis=1), 1, rtol=0, atol=1e-15)


def test_a_fast_vibration_is_resolved() -> None:
    """195 Hz against steps of 50 ms: sixteen of Runge and Kutta in one would diverge."""
    arm = gd.FlexibleArm(slider(), joints={"slide": gd.FlexibleJoint(stiffness=1e6, rotor_inertia=1.0)})
    problem = ocp.Problem(arm, 1.0, 20, control="linear")
    problem.start([0.0, 0.0])
    problem.end([0.5, 0.5])
    problem.minimize(problem.integral(lambda u: u**2))
    assert problem.solve().step_error < 0.01


def test_excess_of_a_path_is_the_largest_at_either_bound() -> None:
    """Of several coordinates, and of an input with a value for each instant of the grid."""
    s = [ca.SX.sym(name, n) for name, n in (("q", 2), ("v", 2), ("limit", 1))]
    graph = ca.Function("path", s, [ca.vertcat(s[0][0] - s[1][1], s[0][1] * s[2])], ["q", "v", "limit"], ["path"])
    t, grid = np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0])
    q, v = np.array([[0.0, 1.0], [0.5, 2.0], [1.0, 3.0]]), np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 1.0]])
    constants = {"limit": np.array([[1.0, 3.0]])}  # 1, 2, 3
    for lower, upper, expected in (([-1.0, 0.0], [1.0, 8.0], 1.0), ([-1.0, 0.0], [1.0, 9.0], 0.5)):
        path = FollowedPath(graph, np.array(lower), np.array(upper), constants)
        assert path.excess(t, q, v, grid) == pytest.approx(expected, rel=1e-12)


def test_the_step_error_is_the_missed_part_of_the_largest_velocity() -> None:
    """Where there is one mass: without u it keeps 1 m/s, and the solution says 1.1 m/s."""
    dyn = gd.NewtonEuler(slider())
    x = np.array([[0.0, 1.0], [1.0, 1.1]])
    grid, u, system = np.array([0.0, 1.0]), np.zeros((1, 1)), System("solution", dyn)
    accuracy = Accuracy(system, ocp.Bounds.of(dyn), "constant", grid, x, u, np.zeros(0), {})
    error, t, motion = accuracy.finer_motion
    assert error == pytest.approx(0.1 / 1.1, rel=1e-12)
    np.testing.assert_allclose(motion, np.column_stack([t, np.ones(len(t))]), rtol=0, atol=1e-12)


def test_finer_steps_that_diverge_are_infinitely_far_off() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    x = np.array([[0.0, 1.0, 1e100, -1e100], [0.0, 1.0, 1e100, -1e100]])
    grid, u, system = np.array([0.0, 1.0]), np.zeros((1, 2)), System("solution", dyn)
    error, *_ = Accuracy(system, ocp.Bounds.of(dyn), "constant", grid, x, u, np.zeros(0), {}).finer_motion
    assert error == np.inf


def test_another_model_is_moved_by_the_same_u() -> None:
    """Twice the mass goes half the way; of what leaves the bounds the worst is printed."""
    problem = ocp.Problem(gd.NewtonEuler(slider(2.0)), 1.0, 5)
    problem.start([0.0])
    problem.end([0.6])
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    assert solution.simulate(gd.NewtonEuler(slider(4.0))).q[-1, 0] == pytest.approx(0.3, abs=1e-7)
    assert "unit lengths" not in str(solution)
    assert "beyond" not in str(solution)
    accuracy = dataclasses.replace(solution.accuracy)
    vars(accuracy)["excess"] = {"slide": 0.1, "rate of slide": 0.2}
    beyond = dataclasses.replace(solution, accuracy=accuracy)
    assert ", rate of slide 0.2 beyond its bound between grid points, " in str(beyond)


def test_linear_control_is_simulated_as_straight_lines() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider(2.0)), 1.0, 3, control="linear")
    problem.start([0.0])
    problem.end([0.6])
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    fine = solution.simulate(samples=4)
    np.testing.assert_allclose(fine.u.ravel(), np.interp(fine.t, solution.t, solution.u.ravel()), rtol=0, atol=1e-12)
    assert fine.q[-1, 0] == pytest.approx(0.6, abs=1e-6)  # the integrator's tolerance


def test_a_solution_pickles_guesses_and_prints() -> None:
    model = slider()
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, 1.0, 10, bounds=ocp.Bounds.of(dyn, model))
    problem.start([0.0])
    problem.end([0.3])
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    again = pickle.loads(pickle.dumps(solution))
    assert str(again) == str(solution)
    assert str(solution).startswith("slider: Solve_Succeeded after ")
    np.testing.assert_array_equal(again.simulate().x, solution.simulate().x)
    assert solution.evaluation_time > 0
    fine = solution.simulate(samples=4)
    assert len(fine.t) == 41
    np.testing.assert_allclose(fine.x[::4], solution.simulate().x, rtol=0, atol=1e-8)  # the integrator's tolerance
    np.testing.assert_array_equal(fine.u[:-1], np.repeat(solution.u, 4, axis=0))
    with pytest.raises(gd.errors.ArgumentError, match="samples: got 0; give an integer of at least 1"):
        solution.simulate(samples=0)
    problem.guess(solution)
    assert problem.solve().iterations <= solution.iterations
    problem.guess(solution.simulate())
    assert problem.solve().cost == pytest.approx(solution.cost, rel=1e-7)
