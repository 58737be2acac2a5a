"""Motions that contacts and loops hold: forces, ends, independent equations, friction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, UnknownNameError, UnsupportedError
from gdalembert.ocp.system.steps import anchored_part
from tests.helpers.linkages import closed_four_bar, five_bar_loop, four_bar, four_bar_loop
from tests.helpers.models import relative_error
from tests.helpers.sets import quick

FIRST, SECOND = 2.0, 3.0  # kg
WAY, TIME = 0.7, 1.5
RADIUS, INERTIA = 0.2, 0.05


def two_sliders(**options: Any) -> gd.ConstrainedDynamics:
    """Masses on one line, pinned together; only the first one is driven."""
    model = pin.Model()
    model.name = "sliders"
    for name, mass in (("first", FIRST), ("second", SECOND)):
        joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), np.eye(3)), pin.SE3.Identity())
        model.addFrame(pin.Frame(f"{name} pin", joint, 0, pin.SE3.Identity(), pin.OP_FRAME))
    dyn = gd.NewtonEuler(model, actuation=np.eye(2)[:, :1], **options)
    return gd.ConstrainedDynamics(dyn, [gd.Loop("first pin", "second pin", "3D")], regularization=1e-6)


def sliding(**options: Any) -> ocp.Problem:
    problem = ocp.Problem(two_sliders(), TIME, 6, control="linear", degree=2, **options)
    problem.start([0.0, 0.0])
    problem.end([WAY, WAY])
    problem.minimize(problem.integral(lambda u: u**2))
    return problem


def crank(intervals: int = 12) -> ocp.Problem:
    """From one angle of a crank to another, with the least torque at it."""
    model = four_bar()
    dyn = gd.NewtonEuler(model, actuation=np.eye(3)[:, :1])
    loop = gd.Loop("coupler end", "rocker end", "3D")
    problem = ocp.Problem(gd.ConstrainedDynamics(dyn, [loop], regularization=1e-6), 0.8, intervals)
    problem.start(closed_four_bar(0.5))
    problem.end(closed_four_bar(1.5))
    problem.minimize(problem.integral(lambda u: u**2))
    return problem


def smallest_singular_value(problem: ocp.Problem) -> float:
    """Of the derivatives of all equations by the variables that are not fixed, each row of unit length."""
    solver = problem.solver()
    solution = solver()
    nlp, (z, p) = solver._nlp, (solver._found[0], solver._iterate[1])
    limits = nlp.limits(p=p)
    moving = (limits["lbx"].full() < limits["ubx"].full()).ravel()
    jacobian = ca.Function("J", [nlp.problem["x"], nlp.problem["p"]], [ca.jacobian(nlp.problem["g"], nlp.problem["x"])])
    rows = jacobian(z, p).full()[nlp.equal][:, moving]
    assert solution.solved
    return float(np.linalg.svd(rows / np.linalg.norm(rows, axis=1)[:, None], compute_uv=False)[-1])


def test_two_pinned_masses_move_as_one() -> None:
    """The least ∫ u² dt is 12 m² d² / T³, u falls along a line, and the pin pulls the second mass."""
    solution = sliding().solve()
    mass = FIRST + SECOND
    assert solution.cost == pytest.approx(12 * (mass * WAY) ** 2 / TIME**3, rel=1e-9)
    line = 6 * mass * WAY / TIME**2 * (1 - 2 * solution.t / TIME)
    assert relative_error(solution.u[:, 0], line) < 1e-8  # the solver's own tolerance
    pulled = np.zeros((len(solution.stages.a), 3))
    pulled[:, 0] = -SECOND * solution.stages.a[:, 1]
    assert relative_error(solution.stages.forces, pulled) < 1e-8
    assert solution.violations["contacts and loops"] < 1e-9


def wheel(**options: Any) -> gd.ConstrainedDynamics:
    """A disk in the plane of x and z, driven by a torque, that rolls on the ground."""
    model, parent = pin.Model(), 0
    for name, joint in (("x", pin.JointModelPX()), ("z", pin.JointModelPZ()), ("turn", pin.JointModelRY())):
        parent = model.addJoint(parent, joint, pin.SE3.Identity(), name)
    model.appendBodyToJoint(parent, pin.Inertia(FIRST, np.zeros(3), INERTIA * np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("centre", parent, 0, pin.SE3.Identity(), pin.OP_FRAME))
    rolls = gd.Contact("centre", "rolling", np.zeros(3), radius=RADIUS, axle=(0, 1, 0))
    dyn = gd.NewtonEuler(model, actuation=np.eye(3)[:, 2:])
    return gd.ConstrainedDynamics(dyn, [rolls], regularization=1e-6)


@pytest.mark.long
def test_a_wheel_rolls_by_the_least_torque() -> None:
    """Its turn is no unknown of its own, so that its inertia adds to its mass: I / r²; the ground bears the weight."""
    problem = ocp.Problem(wheel(), TIME, 6, control="linear", degree=2)
    problem.start([0.0, RADIUS, 0.0])
    problem.end({"x": WAY}, 0.0)
    problem.friction(1.0)
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    arm = (FIRST + INERTIA / RADIUS**2) * RADIUS
    assert solution.cost == pytest.approx(12 * (arm * WAY) ** 2 / TIME**3, rel=1e-7)
    assert relative_error(solution.q[:, 2], solution.q[:, 0] / RADIUS) < 1e-7
    assert relative_error(solution.stages.forces[:, 2], np.full(12, 9.81 * FIRST)) < 1e-7
    assert np.abs(solution.simulate().q - solution.q).max() < 1e-6


def test_a_mass_slides_on_a_plane() -> None:
    """A force along x moves a mass without weight up a slope of 45°, which pushes back by F / √2."""
    model, parent = pin.Model(), 0
    for name, joint in (("x", pin.JointModelPX()), ("z", pin.JointModelPZ())):
        parent = model.addJoint(parent, joint, pin.SE3.Identity(), name)
    model.appendBodyToJoint(parent, pin.Inertia(FIRST, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("mass", parent, 0, pin.SE3.Identity(), pin.OP_FRAME))
    model.gravity = pin.Motion.Zero()
    slides = gd.Contact("mass", "1D", np.zeros(3), normal=(-1, 0, 1))
    con = gd.ConstrainedDynamics(gd.NewtonEuler(model, actuation=np.eye(2)[:, :1]), [slides])
    problem = ocp.Problem(con, TIME, 6, control="linear", degree=2)
    problem.start([0.0, 0.0])
    problem.end([WAY, WAY])
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    assert solution.cost == pytest.approx(12 * (2 * FIRST * WAY) ** 2 / TIME**3, rel=1e-7)
    assert relative_error(solution.stages.forces, solution.stages.u / np.sqrt(2)) < 1e-7
    assert solution.violations["contacts and loops"] < 1e-9


def test_places_are_known_of_contacts_with_an_anchor() -> None:
    dyn = two_sliders().dynamics
    held, free = gd.Contact("first pin", "3D", anchor=np.zeros(3)), gd.Contact("second pin", "3D")
    one, none, both = (
        gd.ConstrainedDynamics(dyn, each, regularization=1e-6) for each in ([held], [free], [held, free])
    )
    assert anchored_part(one) is one
    assert not anchored_part(none).constraints
    part = anchored_part(both)
    assert part.constraints == (held,)
    assert part.regularization == both.regularization


@pytest.mark.long
def test_a_linkage_moves_as_its_constrained_dynamics_and_its_simulation() -> None:
    problem = crank()
    solution = problem.solve()
    con, stages = problem.dyn, solution.stages
    a, forces = con.forward_dynamics(stages.q.T, stages.v.T, con.dynamics.actuation @ stages.u.T)
    assert relative_error(stages.a, a.full().T) < 1e-6  # of the solver's 1e-8, through M⁻¹
    assert relative_error(stages.forces, forces.full().T) < 1e-6
    assert solution.violations["contacts and loops"] < 1e-8
    assert 1e-12 < solution.constraint_drift < 1e-4
    assert solution.step_error < 1e-4
    motion = solution.simulate()
    assert np.abs(motion.q - solution.q).max() < 1e-5
    assert np.abs(solution.q[-1] - closed_four_bar(1.5)).max() < 1e-7
    angles = np.array([closed_four_bar(crank) for crank in solution.q[:, 0]])
    assert np.abs(angles - solution.q).max() < 1e-7


@pytest.mark.long
def test_errors_of_the_steps_fall_with_the_order_of_the_method() -> None:
    """Moving the ends of the steps onto the constraints leaves the order of Gauss, 6 of 3 stages."""
    costs = [crank(n).solve(options={"ipopt.tol": 1e-11}).step_error for n in (4, 8)]
    assert costs[0] / costs[1] > 2**4


ENDS: dict[str, Callable[[ocp.Problem], None]] = {
    "all": lambda problem: None,
    "the crank": lambda problem: problem.end({"crank": 1.5}, {"crank": 0.0}),
    "crank and rocker": lambda problem: problem.end(
        {"crank": 1.5, "rocker": float(closed_four_bar(1.5)[2])}, {"rocker": 0.0}
    ),
    "v alone": lambda problem: problem.end(None, 0.0),
    "the crank of the start": lambda problem: problem.start({"crank": 0.5}),
}


@pytest.mark.long
@pytest.mark.parametrize("ends", quick(ENDS, "v alone"))
def test_equations_are_independent_whatever_the_ends_fix(ends: str) -> None:
    """The linear independence of constraint gradients; where rows depend, the last singular value is 1e-16."""
    problem = crank(4)
    ENDS[ends](problem)
    assert smallest_singular_value(problem) > 1e-6


@pytest.mark.long
def test_ends_by_name_are_those_of_the_whole_configuration() -> None:
    by_name = crank(6)
    by_name.end({"crank": 1.5}, {"crank": 0.0})
    one, other = crank(6).solve(), by_name.solve()
    assert other.cost == pytest.approx(one.cost, rel=1e-7)
    assert np.abs(other.q - one.q).max() < 1e-6


@pytest.mark.long
def test_fatrop_finds_what_ipopt_finds() -> None:
    one, other = crank(6).solve(), crank(6).solve("fatrop")
    assert other.cost == pytest.approx(one.cost, rel=1e-6)
    assert relative_error(other.stages.forces, one.stages.forces) < 1e-4  # the solvers' own tolerances


@pytest.mark.long
def test_a_solver_is_built_once_for_many_starts() -> None:
    problem = crank(6)
    problem.start(problem.parameter("q0", 3))
    solver = problem.solver()
    for angle in (0.4, 0.6):
        plan = solver(q0=closed_four_bar(angle))
        fresh = crank(6)
        fresh.start(closed_four_bar(angle))
        assert plan.cost == pytest.approx(fresh.solve().cost, rel=1e-6)


@pytest.mark.long
def test_a_receding_horizon_of_a_linkage_begins_at_its_last_plan() -> None:
    problem = crank(8)
    problem.start(problem.parameter("q0", 3), problem.parameter("v0", 3))
    problem.end(None, None)
    problem.minimize(problem.integral(lambda q, u: 100 * (q[0] - 1.2) ** 2 + 1e-2 * u**2))
    solver, con = problem.solver(), problem.dyn
    q, v, plans = closed_four_bar(0.5), np.zeros(3), []
    for tick in range(4):
        plans.append(solver(q0=q, v0=v, shift=min(tick, 1)))
        q = con.closed_configuration(plans[-1].q[1])
        v = con.consistent_velocity(q, plans[-1].v[1])
    assert all(plan.solved for plan in plans)
    assert max(plan.iterations for plan in plans[1:]) <= plans[0].iterations / 2
    at = {"q0": plans[-1].q[0], "v0": plans[-1].v[0]}
    found = solver.function()(**at, z0=solver._found[0])
    assert float(found["cost"]) == pytest.approx(plans[-1].cost, rel=1e-5)


def measured_five_bar() -> ocp.Problem:
    problem = ocp.Problem(five_bar_loop(), 0.2, 2, degree=2)
    problem.start(problem.parameter("q0", 4), problem.parameter("v0", 4))
    problem.minimize(problem.integral(lambda q, v, u: (q[0] - 2.0) ** 2 + ca.sumsqr(v) + 1e-2 * ca.sumsqr(u)))
    return problem


HANDS = np.array([2.0, -1.2, 1.1, 1.2])


@pytest.mark.long
def test_a_measured_start_is_moved_onto_the_constraints() -> None:
    """As closed_configuration and consistent_velocity do; the solution says how far."""
    problem = measured_five_bar()
    solver, con = problem.solver(), problem.dyn
    q = con.closed_configuration(HANDS) + 1e-3 * np.array([1.0, -1.0, 1.0, 1.0])
    near = con.closed_configuration(q)
    v = con.consistent_velocity(near, [1.0, 0.0, 0.0, 0.0]) + np.array([0.1, 0.0, 0.0, 0.0])
    plan = solver(q0=q, v0=v)
    assert relative_error(plan.q[0], near) < 1e-12
    assert relative_error(plan.v[0], con.consistent_velocity(near, v)) < 1e-12
    assert plan.corrections["q of start"] == pytest.approx(np.abs(near - q).max(), rel=1e-6)
    assert plan.corrections["v of start"] == pytest.approx(np.abs(plan.v[0] - v).max(), rel=1e-6)
    assert max(plan.violations.values()) < 1e-8
    again = problem.solve(q0=near, v0=plan.v[0])
    assert max(again.corrections.values()) < 1e-12
    assert again.cost == pytest.approx(plan.cost, rel=1e-7)


@pytest.mark.long
@pytest.mark.parametrize(
    ("far", "unit"), [({"q0": HANDS + np.array([0.3, 0, 0, 0])}, "m"), ({"v0": [2.0, 0, 0, 0]}, "m/s")]
)
def test_a_measured_start_far_from_the_constraints_is_a_tick_that_fails(far: dict[str, Any], unit: str) -> None:
    problem = measured_five_bar()
    solver, closed = problem.solver(), {"q0": problem.dyn.closed_configuration(HANDS), "v0": np.zeros(4)}
    message = rf"start of the motion: [qv] violates Loop\('a2 end', 'b2 end', '3D'\) by [0-9.]+ {unit}; take [a-z_]+\("
    with pytest.raises(ArgumentError, match=f"^{message}"):
        solver(**closed | far)
    plan = solver(**closed)
    with pytest.warns(ocp.SolutionWarning, match=rf"^linkage: {message}.*\); the last plan, shifted by 1 intervals"):
        failed = solver(**far, shift=1)
    assert (failed.solved, failed.status, failed.iterations) == (False, "Invalid_Start", 0)
    np.testing.assert_array_equal(failed.u[0], plan.u[1])
    assert solver(**closed).solved


@pytest.mark.long
def test_parameters_of_a_robot_are_those_of_its_constraints_too() -> None:
    con = two_sliders(parameters=["inertia"])
    problem = ocp.Problem(con, TIME, 4, control="linear", degree=2, p={"second.m": 4.0})
    problem.start([0.0, 0.0])
    problem.end([WAY, WAY])
    problem.minimize(problem.integral(lambda u: u**2))
    for mass in (4.0, 1.0):
        solution = problem.solve(p={"second.m": mass})
        assert solution.cost == pytest.approx(12 * ((FIRST + mass) * WAY) ** 2 / TIME**3, rel=1e-7)
    assert np.abs(solution.simulate().q - solution.q).max() < 1e-6


# Friction.


def block(**options: Any) -> gd.ConstrainedDynamics:
    """A body of 2 kg with three translations and a contact at its origin, driven along x alone."""
    model = pin.Model()
    model.name = "block"
    joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "body")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("foot", joint, 0, pin.SE3(pin.utils.rotate("x", 0.4), np.zeros(3)), pin.OP_FRAME))
    return gd.ConstrainedDynamics(gd.NewtonEuler(model), [gd.Contact("foot", "3D", anchor=np.zeros(3), **options)])


def sole() -> gd.ConstrainedDynamics:
    """A free body on a sole."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("sole", joint, 0, pin.SE3.Identity(), pin.OP_FRAME))
    driven = gd.NewtonEuler(model, actuation=np.eye(6))
    return gd.ConstrainedDynamics(driven, [gd.Contact("sole", "6D", anchor=pin.SE3.Identity())])


@pytest.mark.parametrize(
    ("form", "share"),
    quick([("inscribed", 1 / 2**0.5), ("circumscribed", 1.0), ("norm", 1.0)], ("inscribed", 1 / 2**0.5)),
)
def test_a_foot_is_pushed_as_far_as_friction_holds(form: str, share: float) -> None:
    """The weight is 2 · 9.81 N: the largest push along x is μ of it, or that of the pyramid in the cone."""
    problem = ocp.Problem(block(), 0.2, 2)
    problem.start(np.zeros(3))
    problem.end(np.zeros(3))
    problem.path(lambda u: u[1:], 0.0, 0.0)
    problem.friction(0.5, ["foot"], form=form)
    problem.minimize(-problem.integral(lambda u: u[0]))
    solution = problem.solve()
    push = 0.5 * share * 2 * 9.81
    assert relative_error(solution.u[:, 0], np.full(2, push)) < 1e-5
    world = solution.stages.forces @ pin.utils.rotate("x", 0.4).T
    assert relative_error(world, np.tile([-push, 0, 2 * 9.81], (len(world), 1))) < 1e-5
    assert solution.violations["friction of Contact('foot', '3D')"] < 1e-6


# Refusals.

REFUSED: dict[str, tuple[Callable[[], object], type[GdalembertError], str]] = {
    "method": (
        lambda: ocp.Problem(four_bar_loop(), 1.0, 4, method="rk4"),
        UnsupportedError,
        r"^linkage: method='rk4' has no forces of contacts and loops; take 'collocation'",
    ),
    "no cone": (
        lambda: sliding().friction(0.5),
        ArgumentError,
        r"^friction: the robot has no contacts; give gd.ConstrainedDynamics with gd.Contact to Problem",
    ),
    "a cone without contacts": (
        lambda: ocp.Problem(five_bar_loop().dynamics, 1.0, 4).friction(0.5),
        ArgumentError,
        r"^friction: the robot has no contacts",
    ),
    "a contact": (lambda: ocp.Problem(block(), 1.0, 4).friction(0.5, ["fot"]), UnknownNameError, "fot"),
    "contacts": (
        lambda: ocp.Problem(block(), 1.0, 4).friction(0.5, "foot"),
        ArgumentTypeError,
        r"^friction: contacts='foot'; give a list of frames",
    ),
    "a contact that bears nothing": (
        lambda: ocp.Problem(block(rows=("x", "y")), 1.0, 4).friction(0.5),
        ArgumentError,
        r"^friction: Contact\('foot', '3D', rows=\('x', 'y'\)\) bears no force along the normal",
    ),
    "a sole of a point": (
        lambda: ocp.Problem(block(), 1.0, 4).friction(0.5, half_length=0.1, half_width=0.1),
        ArgumentError,
        r"^friction: points have no half_length, half_width or sole",
    ),
    "a normal of a sole": (
        lambda: ocp.Problem(sole(), 1.0, 4).friction(0.5, normal=[1, 0, 0], half_length=0.1, half_width=0.1),
        ArgumentError,
        r"^friction: normal is of the ground under '3D' contacts, and all of these are '6D'; drop it, or give sole=",
    ),
    "mu": (lambda: ocp.Problem(block(), 1.0, 4).friction(-0.5), ArgumentError, r"^friction_cone: mu"),
    "forces without constraints": (
        lambda: ocp.Problem(five_bar_loop().dynamics, 1.0, 4).path(lambda forces: forces, 0.0),
        ArgumentError,
        r"^an expression at the stages has the inputs \['forces'\]",
    ),
}


@pytest.mark.parametrize(
    "what", quick(REFUSED, "method", "no cone", "a contact", "contacts", "a sole of a point", "mu")
)
def test_wrong_input_is_refused(what: str) -> None:
    call, kind, message = REFUSED[what]
    with pytest.raises(kind, match=message):
        call()


def test_a_start_that_violates_a_constraint_is_refused() -> None:
    problem = crank(4)
    problem.start(closed_four_bar(0.5) + 0.1)
    with pytest.raises(ArgumentError, match=r"^start of the motion: q violates Loop\(.* m; take closed_configuration"):
        problem.solve()
    problem.start(closed_four_bar(0.5), [1.0, 0.0, 0.0])
    with pytest.raises(ArgumentError, match=r"^start of the motion: v violates Loop\(.* m/s; take consistent_veloc"):
        problem.solve()


@pytest.mark.long
def test_names_that_contradict_a_loop_are_a_doubt() -> None:
    problem = crank(6)
    problem.end({"crank": 1.5, "rocker": float(closed_four_bar(1.5)[2]) + 0.01}, None)
    with pytest.warns(ocp.SolutionWarning, match=r"start and end violate contacts and loops by"):
        assert problem.solve().constraint_violation > 1e-3


@pytest.mark.long
def test_names_that_contradict_a_loop_are_a_doubt_in_every_tick() -> None:
    problem = crank(6)
    problem.end({"crank": problem.parameter("crank"), "rocker": problem.parameter("rocker")}, None)
    solver, rocker = problem.solver(), float(closed_four_bar(1.5)[2])
    assert solver(crank=1.5, rocker=rocker).constraint_violation < 1e-8
    with pytest.warns(ocp.SolutionWarning, match=r"start and end violate contacts and loops by"):
        assert solver(crank=1.5, rocker=rocker + 0.01).constraint_violation > 1e-3
