"""Constraints of the user that follow from others are named where a solve fails or is slow."""

from __future__ import annotations

import warnings

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.nlp import dependence
from gdalembert.nlp.dependence import Active, dependent
from gdalembert.nlp.entries import Label

AT_ONCE = {"ipopt.max_iter": 0}


def leg() -> pin.Model:
    """A trunk on a leg, one above the other."""
    model = pin.Model()
    for name, parent, mass in (("trunk", 0, 2.0), ("leg", 1, 0.5)):
        joint = model.addJoint(parent, pin.JointModelPZ(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("foot", joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    return model


def stance(model: pin.Model) -> ocp.Problem:
    """The trunk rises 0.1 m, its foot on the ground."""
    air = gd.NewtonEuler(model, actuation=[[0.0], [1.0]])
    contact = gd.Contact("foot", "3D", anchor=np.zeros(3))
    problem = ocp.Problem(gd.ConstrainedDynamics(air, [contact], regularization=1e-6), 0.5, 3, degree=2)
    problem.start([0.5, -0.5])
    problem.end({"trunk": 0.6})
    problem.minimize(problem.integral(lambda u: 1e-3 * u**2))
    return problem


def hints(problem: ocp.Problem | ocp.Phases) -> tuple[str, ...]:
    """What is said where the solver stops at once."""
    with pytest.raises(ocp.OptimizationError) as caught:
        problem.solve(options=AT_ONCE)
    found: tuple[str, ...] = caught.value.solution.hints
    assert all(hint in str(caught.value) for hint in found)
    return found


def test_an_equation_that_a_contact_implies_is_named() -> None:
    model = leg()
    assert hints(stance(model)) == ()
    problem, place = stance(model), gd.Kinematics(model).frame_placement("foot")
    problem.subject_to(place(problem.q[:, 2])[2, 3] == 0)
    (hint,) = hints(problem)
    assert "subject_to 1 at grid point 2 follows from Contact('foot', '3D') at grid point 2: " in hint
    assert hint.endswith("leave it out")


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 0.0), (0.0, np.inf)])
def test_a_path_that_a_contact_implies_is_named(lower: float, upper: float) -> None:
    model = leg()
    problem, place = stance(model), gd.Kinematics(model).frame_placement("foot")
    problem.path(lambda q: place(q)[2, 3], lower, upper, at="grid")
    (hint,) = hints(problem)
    assert hint.startswith("path 1 at grid point ")
    assert "follows from Contact('foot', '3D') at grid point " in hint
    assert "more of its rows do" in hint


def test_a_path_that_a_motion_may_leave_is_not_named() -> None:
    problem = stance(leg())
    problem.path(lambda q: q[0] + q[1], -0.2, 0.2)
    problem.subject_to(problem.q[0, 1] - problem.q[1, 1] == 1.05)
    assert hints(problem) == ()


@pytest.mark.long
def test_of_two_equal_equations_the_second_is_named() -> None:
    problem = stance(leg())
    for factor in (1.0, 2.0):
        problem.subject_to(factor * (problem.q[0, 1] - problem.q[1, 1]) == factor * 1.05)
    (hint,) = hints(problem)
    first, _, second = hint.partition(" follows from ")
    assert "subject_to 2" in first
    assert "subject_to 1" in second


@pytest.mark.long
def test_an_equation_of_one_variable_that_is_fixed_already_hinders_no_solver() -> None:
    problem = stance(leg())
    problem.path(lambda q: 2 * q[0], 1.2, 1.2, at="end")
    assert hints(problem) == ()


@pytest.mark.long
def test_a_slow_solve_warns_and_a_quick_one_does_not_look(monkeypatch: pytest.MonkeyPatch) -> None:
    model = leg()
    problem, place = stance(model), gd.Kinematics(model).frame_placement("foot")
    problem.subject_to(place(problem.q[:, 2])[2, 3] == 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert problem.solve().hints == ()
    monkeypatch.setattr("gdalembert.nlp.solver.SLOW", 0)
    with pytest.warns(ocp.SolutionWarning, match=r"follows from Contact\('foot', '3D'\) at grid point 2"):
        assert problem.solve().hints
    with pytest.warns(ocp.SolutionWarning, match="follows from Contact"):
        assert problem.solver()().hints


@pytest.mark.long
def test_what_the_next_phase_implies_is_named() -> None:
    model = leg()
    place = gd.Kinematics(model).frame_placement("foot")
    first, second = stance(model), stance(model)
    first.end(None, None)
    second.start(None, None)
    first.subject_to(place(first.q[:, -1])[2, 3] == 0)
    (hint,) = hints(ocp.Phases([first, second]))
    assert hint.startswith("phase 1: subject_to 1")
    assert "follows from phase 1: Contact('foot', '3D')" in hint


@pytest.mark.long
def test_scenarios_are_checked_too() -> None:
    model = leg()
    place = gd.Kinematics(model).frame_placement("foot")
    problems = [stance(model), stance(model)]
    problems[1].subject_to(place(problems[1].q[:, 2])[2, 3] == 0)
    (hint,) = hints(ocp.Scenarios(problems))
    assert hint.startswith("scenario 2: subject_to 1")
    assert "follows from scenario 2: Contact('foot', '3D') at grid point 2" in hint


def test_rows_beyond_floating_point_are_not_compared() -> None:
    labels = [Label("a", "", False), Label("b", "", True)]
    rows = ca.DM([[1.0, 0.0], [np.nan, 1.0]])
    assert dependent(Active(rows, labels, [True, True])) == []
    assert dependent(Active(ca.DM([[1.0, 0.0], [1.0, 0.0]]), labels, [True, True])) != []
    assert dependence.SLOW == 50  # as docs/solvers.md says


@pytest.mark.long
@pytest.mark.parametrize("redundant", [False, True])
def test_a_hop_that_lands_twice_over_is_named(redundant: bool) -> None:
    """A foot at z = 0 at the end of the flight, which the contact and the end of the landing imply."""
    model = leg()
    place = gd.Kinematics(model).frame_placement("foot")
    air = gd.NewtonEuler(model, actuation=[[0.0], [1.0]])
    ground = gd.ConstrainedDynamics(air, [gd.Contact("foot", "3D")], regularization=1e-6)
    stroke = ocp.Bounds.of(air, q={"leg": (-0.7, -0.3)}, u={"leg": 150.0})
    problems = [ocp.Problem(robot, (0.05, 0.6), 5, bounds=stroke) for robot in (ground, air, ground)]
    start, flight, landing = problems
    start.start([0.5, -0.5])
    landing.end([0.5, -0.5])
    flight.subject_to(flight.q[0, 2] >= 0.75)
    if redundant:
        flight.subject_to(place(flight.q[:, -1])[2, 3] == 0)
    for problem in problems:
        problem.minimize(problem.integral(lambda u: 1e-3 * u**2))
    for problem in (start, landing):
        problem.friction(0.6)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            solution = ocp.Phases(problems).solve()
            said = [str(warning.message) for warning in caught]
        except gd.errors.OptimizationError as error:  # rounding decides whether IPOPT comes through dependent rows
            assert redundant
            solution, said = error.solution, [str(error)]
    assert len(said) == len(solution.hints) == redundant
    assert (solution.iterations > dependence.SLOW) == redundant
    for each in said:
        assert "phase 2: subject_to " in each
        assert "at grid point 5 follows from phase 3: Contact('foot', '3D')" in each
