"""Phases: motions in sequence, with impacts where contacts take hold."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, UnknownNameError, UnsupportedError
from tests.helpers.linkages import five_bar_loop
from tests.helpers.models import relative_error
from tests.helpers.ocp import turning
from tests.helpers.paths import ROOT
from tests.helpers.sets import quick

MASS, HEIGHT = 2.0, 0.4


def monopod() -> gd.NewtonEuler:
    """A trunk of 2 kg on a rail and a foot of 0.5 kg below it, which a motor pushes away from the trunk."""
    model = pin.Model()
    model.name = "monopod"
    trunk = model.addJoint(0, pin.JointModelPZ(), pin.SE3.Identity(), "trunk")
    model.appendBodyToJoint(trunk, pin.Inertia(MASS, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    leg = model.addJoint(trunk, pin.JointModelPZ(), pin.SE3.Identity(), "leg")
    model.appendBodyToJoint(leg, pin.Inertia(0.5, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("foot", leg, 0, pin.SE3.Identity(), pin.OP_FRAME))
    model.addFrame(pin.Frame("hip", trunk, 0, pin.SE3.Identity(), pin.OP_FRAME))
    return gd.NewtonEuler(model, actuation=[[0.0], [1.0]])


def heavier() -> gd.NewtonEuler:
    model = gd.load_urdf("two_link_arm")
    model.name = "monopod"
    return gd.NewtonEuler(model)


def standing(dyn: gd.NewtonEuler, **options: Any) -> gd.ConstrainedDynamics:
    contact = gd.Contact("foot", "3D", anchor=np.zeros(3))
    return gd.ConstrainedDynamics(dyn, [contact], regularization=1e-6, **options)


def hop() -> tuple[ocp.Phases, list[ocp.Problem]]:
    """From rest on the ground up by 0.25 m and back to rest, with the least ∫ u² dt, u at most 150 N."""
    dyn = monopod()
    bounds = ocp.Bounds.of(dyn, q={"leg": (-0.7, -0.3)}, u={"leg": 150.0})
    ground, air = standing(dyn), dyn
    problems = [ocp.Problem(robot, (0.05, 0.6), 5, bounds=bounds) for robot in (ground, air, ground)]
    stance, flight, landing = problems
    stance.start([0.5, -0.5])
    landing.end([0.5, -0.5])
    flight.subject_to(flight.q[0, 2] >= 0.75)
    for problem in problems:
        problem.minimize(problem.integral(lambda u: 1e-3 * u**2))
    for problem in (stance, landing):
        problem.path(lambda forces: forces[2], 0.0)
    return ocp.Phases(problems), problems


@pytest.fixture(scope="module")
def hopped() -> ocp.PhasesSolution:
    return hop()[0].solve()


def falling(restitution: float = 0.0) -> ocp.Phases:
    """The trunk and the foot fall together, without u; the foot hits the ground and all stops."""
    dyn = monopod()
    weightless = ocp.Bounds.of(dyn, u={"leg": 1e4})
    fall = ocp.Problem(dyn, (0.1, 1.0), 3, bounds=ocp.Bounds.of(dyn, u={"leg": 0.0}))
    stop = ocp.Problem(standing(dyn, restitution=restitution), 0.2, 3, bounds=weightless)
    fall.start([0.5 + HEIGHT, -0.5])
    stop.minimize(stop.integral(lambda u: 1e-6 * u**2))
    stop.end([0.5, -0.5])
    return ocp.Phases([fall, stop])


def test_what_falls_hits_the_ground_as_in_closed_form() -> None:
    """After √(2h/g), at √(2 g h): the foot alone stops at once, and the trunk moves on."""
    solution = falling().solve()
    fall, stop = solution.phases
    speed = np.sqrt(2 * 9.81 * HEIGHT)
    assert fall.duration == pytest.approx(np.sqrt(2 * HEIGHT / 9.81), rel=1e-7)
    assert relative_error(fall.v[-1], np.array([-speed, 0.0])) < 1e-7
    assert relative_error(stop.v[0], np.array([-speed, speed])) < 1e-7
    assert relative_error(solution.impulses[1], np.array([0.0, 0.0, 0.5 * speed])) < 1e-7
    assert solution.impulses[0].size == 0


def fixed() -> ocp.Phases:
    """A hop whose phases have fixed lengths."""
    dyn = monopod()
    bounds = ocp.Bounds.of(dyn, q={"leg": (-0.7, -0.3)}, u={"leg": 150.0})
    robots, lengths = (standing(dyn), dyn, standing(dyn)), (0.2, 0.25, 0.25)
    problems = [ocp.Problem(*pair, 4, bounds=bounds, degree=2) for pair in zip(robots, lengths, strict=True)]
    problems[0].start([0.5, -0.5])
    problems[2].end([0.5, -0.5])
    for problem in problems:
        problem.squares(lambda u: u, weight=1e-3)
    for problem in problems[::2]:
        problem.friction(0.6)
    return ocp.Phases(problems)


BY_FATROP = {"fixed": fixed, "fall": falling, "hop": lambda: hop()[0]}


@pytest.mark.long
@pytest.mark.parametrize("kind", quick(BY_FATROP, "fixed"))
def test_fatrop_and_ipopt_find_one_optimum(kind: str) -> None:
    """With fixed and free durations, and an impact, whose impulses are variables of the interval behind it."""
    one, other = (BY_FATROP[kind]().solve(solver) for solver in ("ipopt", "fatrop"))
    assert other.cost == pytest.approx(one.cost, rel=1e-7)  # the tolerance of both
    assert other.constraint_violation < 1e-7
    assert other.violations.keys() >= one.violations.keys()  # what ends fix are rows of fatrop
    assert relative_error(other.impulses[-1], one.impulses[-1]) < 1e-4  # where the cost is flat
    assert relative_error(other.q, one.q) < 1e-4


@pytest.mark.long
def test_rows_of_one_phase_are_those_of_any_solver() -> None:
    """What ``Phases.subject_to`` asks of one instant connects nothing; of both ends it is refused by its name."""
    phases = fixed()
    stance, _, landing = phases.problems
    phases.subject_to(landing.v[0, 2] <= 0.1)
    phases.solver("fatrop")
    phases.subject_to(landing.q[:, -1] == stance.q[:, 0])
    with pytest.raises(
        UnsupportedError, match=r"^fatrop: the intervals 0 and 12 are connected by constraints of several phases"
    ):
        phases.solver("fatrop")


@pytest.mark.long
def test_the_function_of_phases_gives_the_whole_motion() -> None:
    solver = falling().solver()
    solution = solver()
    found = solver.function()(z0=solver._found[0])
    assert float(found["cost"]) == pytest.approx(solution.cost, rel=1e-6)
    # the solver's tolerance
    np.testing.assert_allclose(found["t"].full().ravel(), solution.t, rtol=0, atol=1e-5)
    np.testing.assert_allclose(found["q"].full().T, solution.q, rtol=0, atol=1e-5)


def sitting_down() -> ocp.Phases:
    """The foot stays on the ground; the trunk falls on a stop at 0.4 m, and both are held."""
    dyn = monopod()
    contacts = [gd.Contact("foot", "3D", anchor=np.zeros(3)), gd.Contact("hip", "3D", anchor=[0, 0, 0.4])]
    down = ocp.Problem(standing(dyn), (0.05, 1.0), 3)
    held = ocp.Problem(gd.ConstrainedDynamics(dyn, contacts, regularization=1e-6), 0.1, 2)
    down.start([0.6, -0.6])
    held.end([0.4, -0.4])
    down.path(lambda u: u[0], -30.0, 30.0)
    down.minimize(down.duration)
    held.minimize(held.integral(lambda u: u**2))
    return ocp.Phases([down, held])


@pytest.mark.long
def test_contacts_that_are_kept_get_impulses_too() -> None:
    """In the least time, by −30 N at the leg: (30 + 19.62) N pull 2 kg down by 0.2 m."""
    solution = sitting_down().solve()
    down, held = solution.phases
    pull = 30 / MASS + 9.81
    assert down.duration == pytest.approx(np.sqrt(2 * 0.2 / pull), rel=1e-6)
    hit = MASS * np.sqrt(2 * 0.2 * pull)
    assert relative_error(solution.impulses[1], np.array([0, 0, 0, 0, 0, hit])) < 1e-6
    assert np.abs(held.v).max() < 1e-8
    _, impulses = held.dyn.impact(down.q[-1], down.v[-1])
    assert relative_error(solution.impulses[1], impulses.full().ravel()) < 1e-6


@pytest.mark.long
def test_impacts_are_those_of_constrained_dynamics(hopped: ocp.PhasesSolution) -> None:
    before, after = hopped.phases[1], hopped.phases[2]
    v, impulses = after.dyn.impact(before.q[-1], before.v[-1])
    assert relative_error(after.v[0], v.full().ravel()) < 1e-6  # the solver's own tolerance
    assert relative_error(hopped.impulses[2], impulses.full().ravel()) < 1e-6
    assert np.abs(before.v[-1] - after.v[0]).max() > 0.1


@pytest.mark.long
def test_what_is_released_goes_on(hopped: ocp.PhasesSolution) -> None:
    stance, flight, _ = hopped.phases
    assert relative_error(flight.q[0], stance.q[-1]) < 1e-8
    assert relative_error(flight.v[0], stance.v[-1]) < 1e-8
    assert hopped.impulses[1].size == 0


def test_guesses_begin_on_the_way_between_configurations_that_are_known() -> None:
    """At the instants 0 and 3 of three phases of one length; where only one is known, there."""
    phases, problems = hop()
    problems[2].end([0.45, -0.45])
    phases._set_boundaries()
    at = np.array([problem._initial.nearby for problem in problems])
    way = np.outer(np.linspace(0.5, 0.45, 4), [1.0, -1.0])
    np.testing.assert_allclose(at, np.stack([way[:-1], way[1:]], axis=1), rtol=0, atol=1e-15)
    problems[2].end(None, None)
    phases._set_boundaries()
    np.testing.assert_array_equal(
        np.array([problem._initial.nearby for problem in problems]), np.tile(way[0], (3, 2, 1))
    )


def test_bodies_turn_on_their_way() -> None:
    """By a third of what they turn in all, in the first of 3 s."""
    dyn = turning(pin.JointModelSpherical())
    problems = [ocp.Problem(dyn, duration, 2) for duration in (1.0, 2.0)]
    problems[0].start([0.0, 0.0, 0.0, 1.0])
    problems[1].end([0.0, 0.0, np.sin(0.75), np.cos(0.75)])
    phases = ocp.Phases(problems)
    phases._set_boundaries()
    expected = [0.0, 0.0, np.sin(0.25), np.cos(0.25)]
    for reached in (problems[0]._initial.nearby[1], problems[1]._initial.nearby[0]):
        np.testing.assert_allclose(reached, expected, rtol=0, atol=1e-15)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::gdalembert.errors.BeamWarning", "ignore::gdalembert.errors.SolutionWarning")
def test_arms_that_bend_under_their_weight_begin_on_their_way() -> None:
    """At rest in the first phase, and all of the way in the second one, it took 74 iterations or none to be found."""
    modes = gd.modes.clamped_free(1)
    links = {}
    for name, length in (("link1", 1.0), ("link2", 0.8)):
        beam = gd.Beam.rectangle(length, width=0.006, height=0.04, density=7850.0, youngs_modulus=210e9)
        links[name] = gd.FlexibleLink(beam, bending_y=modes, bending_z=modes, modal_damping=0.01)
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links)
    problems = [ocp.Problem(arm, 1.0, 8, control="linear") for _ in range(2)]
    problems[0].start(arm.static_deflection([0.0, 0.0]))
    problems[1].end(arm.static_deflection([0.8, -0.6]))
    for problem in problems:
        problem.squares(lambda u: u)
    assert ocp.Phases(problems).solve().iterations <= 35


def test_each_phase_is_replayed_by_its_simulation(hopped: ocp.PhasesSolution) -> None:
    for motion, phase in zip(hopped.simulate(), hopped.phases, strict=True):
        assert np.abs(motion.q - phase.q).max() < 1e-5
        assert np.abs(motion.v - phase.v).max() < 1e-4
    assert max(hopped.violations.values()) < 1e-6
    assert hopped.constraint_violation < 1e-6


def test_the_whole_motion_is_in_rows(hopped: ocp.PhasesSolution) -> None:
    assert hopped.t.shape == (18,)
    assert hopped.q.shape == hopped.v.shape == (18, 2)
    assert hopped.t[-1] == pytest.approx(hopped.duration)
    assert hopped.t[5] == hopped.t[6]
    assert hopped.q[:, 0].max() >= 0.75 - 1e-7
    assert "3 phases" in str(hopped)
    assert "after impulses up to" in str(hopped)


@pytest.mark.long
def test_the_duration_of_all_phases_can_be_given(hopped: ocp.PhasesSolution) -> None:
    shorter = 0.95 * hopped.duration
    solution = ocp.Phases(hop()[1], duration=(0.1, shorter)).solve()
    assert solution.duration == pytest.approx(shorter, rel=1e-6)
    assert solution.cost > hopped.cost


@pytest.mark.long
@pytest.mark.parametrize("make", [lambda: hop()[0], falling, sitting_down], ids=["hop", "fall", "sit"])
def test_equations_of_all_phases_are_independent(make: Callable[[], ocp.Phases]) -> None:
    phases = make()
    solution = phases.solve()
    solver = phases.solver()
    found = solver()
    assert solver._found is not None
    problem, p, z = solver._nlp.problem, solver._program.current(), solver._found[0]
    jacobian = ca.Function("J", [problem["x"], problem["p"]], [ca.jacobian(problem["g"], problem["x"])])
    limits = {name: each.full().ravel() for name, each in solver._nlp.limits(p=p).items()}
    moving, equal = limits["lbx"] < limits["ubx"], limits["lbg"] == limits["ubg"]
    rows = jacobian(z, p).full()[equal][:, moving]
    assert found.cost == pytest.approx(solution.cost)
    assert np.linalg.svd(rows / np.linalg.norm(rows, axis=1)[:, None], compute_uv=False)[-1] > 1e-6


@pytest.mark.long
def test_parameters_of_phases_are_given_by_name() -> None:
    phases, (stance, *_) = hop()
    start = stance.parameter("start", 2)
    stance.start(start)
    one = phases.solve(start=[0.5, -0.5])
    other = phases.solve(start=[0.45, -0.45])
    assert one.cost != pytest.approx(other.cost, rel=1e-3)
    assert np.abs(other.q[0] - [0.45, -0.45]).max() < 1e-8
    with pytest.raises(UnknownNameError, match="parameter of the problems"):
        phases.solve(end=1.0)


@pytest.mark.long
def test_a_phase_can_be_solved_alone_afterwards(hopped: ocp.PhasesSolution) -> None:
    """There it asks again for what the phase before said of its start."""
    phases, (_, _, landing) = hop()
    solver = phases.solver()
    solver()
    landing.start({"trunk": 0.55}, None)
    alone = landing.solve()
    assert alone.violations["contacts and loops"] < 1e-8
    assert alone.q[0] == pytest.approx([0.55, -0.55])
    assert phases.solve().cost > hopped.cost
    with pytest.raises(ArgumentError, match=r"^solver: start or end fix other entries than when the solver was built"):
        solver()
    landing.start(None, None)
    assert float(solver.function()(z0=solver._found[0])["cost"]) == pytest.approx(hopped.cost, rel=1e-6)
    assert solver().cost == pytest.approx(hopped.cost, rel=1e-6)


def test_impulses_stay_in_friction_cones() -> None:
    """A foot that lands at 45° would slip: the motor must stop it before."""
    model = pin.Model()
    model.name = "thrown"
    model.gravity = pin.Motion.Zero()
    joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "body")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("foot", joint, 0, pin.SE3.Identity(), pin.OP_FRAME))
    dyn = gd.NewtonEuler(model)
    held = gd.ConstrainedDynamics(dyn, [gd.Contact("foot", "3D", anchor=np.zeros(3))])
    impulses = []
    for mu in (None, 0.5):
        flight, rest = ocp.Problem(dyn, 1.0, 3), ocp.Problem(held, 0.2, 2)
        flight.start([-1.0, 0.0, 1.0], [1.0, 0.0, -1.0])
        flight.minimize(flight.integral(lambda u: ca.sumsqr(u)))
        rest.minimize(rest.integral(lambda u: ca.sumsqr(u)))
        flight.guess(ocp.rest_to_rest(dyn, [-1.0, 0.0, 1.0], np.zeros(3)))
        if mu is not None:
            rest.friction(mu, form="circumscribed")
        rest.guess(ocp.rest_to_rest(dyn, np.zeros(3), np.zeros(3)))
        solution = ocp.Phases([flight, rest]).solve()
        assert solution.violations["friction of impulses"] < 1e-7
        impulses.append(solution.impulses[1])
    assert impulses[0] == pytest.approx([-2.0, 0.0, 2.0], abs=1e-6)
    assert abs(impulses[1][0]) == pytest.approx(0.5 * impulses[1][2], abs=1e-6)


@pytest.mark.long
def test_the_tip_of_a_flexible_arm_is_caught() -> None:
    """As by the impact of its constrained dynamics, which makes modes move."""
    text = (ROOT / "urdf" / "two_link_flexible.urdf").read_text(encoding="utf-8")
    link = gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=0.5), bending_y=gd.modes.clamped_free(1))
    arm = gd.FlexibleArm(gd.load_urdf(text, check="off"), {"link2": link})
    place = arm.tip_placement("link2")([0.5, 0.4, 0.0])[:3, 3].full().ravel()
    caught = gd.ConstrainedDynamics(arm, [gd.Contact("link2 tip", "3D", anchor=place)], regularization=1e-8)
    swing, hold = (
        ocp.Problem(robot, duration, 12, control="linear") for robot, duration in ((arm, 0.6), (caught, 0.3))
    )
    swing.start([0.2, 0.6, 0.0])
    hold.end([0.5, 0.4, 0.0])
    for problem in (swing, hold):
        problem.minimize(problem.integral(lambda u, v: ca.sumsqr(u) + 0.1 * ca.sumsqr(v[:2])))
    solution = ocp.Phases([swing, hold]).solve()
    before, after = solution.phases
    v, impulses = caught.impact(before.q[-1], before.v[-1])
    assert relative_error(after.v[0], v.full().ravel()) < 1e-6  # the solver's tolerance
    assert relative_error(solution.impulses[1], impulses.full().ravel()) < 1e-6
    assert np.abs(solution.impulses[1]).max() > 0.1
    assert abs(after.v[0, 2] - before.v[-1, 2]) > 0.1
    for motion, phase in zip(solution.simulate(), solution.phases, strict=True):
        assert np.abs(motion.q - phase.q).max() < 1e-3


def test_u_of_all_phases_is_in_rows(hopped: ocp.PhasesSolution) -> None:
    assert hopped.u.shape == (18, 1)
    assert np.array_equal(
        hopped.u[[0, 4, 5, 6]], hopped.phases[0].u[[0, 4, 4]].tolist() + hopped.phases[1].u[:1].tolist()
    )
    dyn = monopod()
    swing, rest = ocp.Problem(dyn, 0.3, 2), ocp.Problem(dyn, 0.3, 2, control="linear")
    swing.start([0.9, -0.5])
    swing.minimize(swing.integral(lambda u: u**2))
    mixed = ocp.Phases([swing, rest]).solve()
    with pytest.raises(ArgumentError, match=r"^u of phases: their actuators or their control differ"):
        _ = mixed.u


# Solvers that are built once.


def jumping() -> tuple[ocp.Phases, list[ocp.Problem]]:
    """The hop from a measured start to a height that is given."""
    phases, problems = hop()
    stance, flight, _ = problems
    stance.start(stance.parameter("q0", 2))
    flight.subject_to(flight.q[0, 2] >= flight.parameter("height"))
    return phases, problems


@pytest.mark.long
def test_a_solver_of_phases_is_built_once_and_begins_at_its_last_solution() -> None:
    phases, (_, flight, landing) = jumping()
    solver = phases.solver()
    cold = solver(q0=[0.5, -0.5], height=0.76)
    again = solver()
    assert again.iterations <= cold.iterations / 4
    assert again.cost == pytest.approx(cold.cost, rel=1e-6)
    other = solver(q0=[0.48, -0.48])
    assert other.cost == pytest.approx(phases.solve(q0=[0.48, -0.48], height=0.76).cost, rel=1e-6)
    assert other.q[0] == pytest.approx([0.48, -0.48])
    assert float(solver.value(flight.q[0, 2])) == pytest.approx(other.phases[1].q[2, 0])
    assert float(phases.value(landing.duration)) == pytest.approx(other.phases[2].duration, abs=1e-5)
    with pytest.warns(ocp.SolutionWarning, match=r"^monopod: the solver stopped with .*; the last plan stands for the"):
        failed = solver(height=3.0)
    assert not failed.solved
    assert np.array_equal(failed.q, other.q)
    assert solver(height=0.76).solved
    assert solver(guess=cold).cost == pytest.approx(other.cost, rel=1e-6)
    function = solver.function()
    assert function.name_in() == ["q0", "height", "z0", "lam_x0", "lam_g0"]
    found = function(q0=[0.48, -0.48], height=0.76, z0=solver._found[0])
    assert float(found["cost"]) == pytest.approx(other.cost, rel=1e-6)
    assert np.abs(found["t"].full().ravel() - other.t).max() < 1e-5
    assert np.abs(found["q"].full().T - other.q).max() < 1e-5


@pytest.mark.system
def test_the_code_of_phases_solves(tmp_path: Path) -> None:
    dyn = monopod()
    fall, stop = ocp.Problem(dyn, (0.1, 1.0), 2, degree=1), ocp.Problem(standing(dyn), 0.2, 2, degree=1)
    fall.start(fall.parameter("q0", 2))
    stop.end([0.5, -0.5])
    for problem in (fall, stop):
        problem.minimize(problem.integral(lambda u: 1e-3 * u**2))
    solver = ocp.Phases([fall, stop]).solver()
    expected = solver(q0=[0.9, -0.5])
    code, library, wheel = solver.generate(tmp_path / "fall.c"), tmp_path / "fall.so", Path(ca.__file__).parent
    own = [str(next(wheel.glob("libipopt.*"))), f"-Wl,-rpath,{wheel}"]
    subprocess.run(
        ["gcc", "-O0", "-shared", "-fPIC", f"-I{wheel / 'include'}", "-o", library, code, *own, "-lm"], check=True
    )
    found = ca.external("solver", str(library))(q0=[0.9, -0.5], z0=solver._found[0])
    assert relative_error(found["q"].full().T, expected.q) < 1e-5


@pytest.mark.long
def test_a_gait_ends_where_it_begins() -> None:
    """A hop in place of any height, whose states at both ends are the same; the trunk moves up by 0.5 m/s at first."""
    phases, (stance, _, landing) = hop()
    stance.start(None, {"trunk": 0.5})
    landing.end(None, None)
    phases.subject_to(landing.q[:, -1] == stance.q[:, 0])
    phases.subject_to(landing.v[0, -1] == stance.v[0, 0])
    phases.subject_to(landing.duration <= stance.duration)
    stance.guess(ocp.rest_to_rest(stance.dyn, [0.5, -0.5], [0.5, -0.5]))
    solution = phases.solve()
    assert np.abs(solution.q[-1] - solution.q[0]).max() < 1e-7
    assert solution.v[-1, 0] == pytest.approx(0.5, abs=1e-7)
    assert solution.phases[2].duration <= solution.phases[0].duration + 1e-7
    assert solution.violations["constraints of several phases"] < 1e-7


def two(**options: Any) -> list[ocp.Problem]:
    dyn = monopod()
    return [ocp.Problem(dyn, 0.5, 3), ocp.Problem(standing(dyn, **options), 0.5, 3)]


def with_cost(problems: list[ocp.Problem]) -> ocp.Phases:
    problems[0].minimize(problems[0].integral(lambda u: u**2))
    return ocp.Phases(problems)


REFUSED: dict[str, tuple[Callable[[], object], type[GdalembertError], str]] = {
    "one problem": (lambda: ocp.Phases(two()[0]), ArgumentTypeError, r"^Phases: got Problem; give a list of gd.ocp.Pr"),
    "one": (lambda: ocp.Phases(two()[:1]), ArgumentError, r"^Phases: give at least two problems, each once"),
    "twice": (lambda: ocp.Phases(two()[:1] * 2), ArgumentError, r"^Phases: give at least two problems, each once"),
    "robots": (
        lambda: ocp.Phases([two()[0], ocp.Problem(five_bar_loop(), 0.5, 3)]),
        ArgumentError,
        r"^Phases: phase 2 is of 'linkage', the first one of 'monopod'; give one robot",
    ),
    "masses": (
        lambda: ocp.Phases([two()[0], ocp.Problem(heavier(), 0.5, 3)]),
        ArgumentError,
        r"^Phases: phase 2 has another mass matrix than the first one, and momentum would jump; give one robot",
    ),
    "p of none": (lambda: falling().solve(p={"x": 1.0}), ArgumentError, r"has no parameters"),
    "rebound": (
        lambda: ocp.Phases(two(restitution=0.5)),
        ArgumentError,
        r"^monopod: its constraints have a restitution",
    ),
    "no cost": (lambda: ocp.Phases(two()).solve(), ArgumentError, r"^nothing is to be minimised; call minimize of at"),
    "no motion": (lambda: with_cost(two()).solve(), ArgumentError, r"^there is no motion to start from"),
    "duration of all, by fatrop": (
        lambda: ocp.Phases(hop()[1], duration=(0.3, 0.8)).solver("fatrop"),
        UnsupportedError,
        r"^fatrop: the intervals 0 and 10 are connected by duration; give constraints and costs of one interval each",
    ),
    "acados": (
        lambda: falling().solver("acados"),
        UnsupportedError,
        r"^acados: monopod: it takes one problem, not sev",
    ),
    "shift": (
        lambda: jumping()[0].solver()(shift=1),
        ArgumentError,
        r"^solver: shift: got 1; phases cannot be shifted",
    ),
    "no relation": (
        lambda: ocp.Phases(two()).subject_to(ca.MX.sym("w")),
        ArgumentTypeError,
        r"^subject_to: got MX\(w\); give an equation or inequality",
    ),
    "foreign": (
        lambda: ocp.Phases(x := two()).subject_to(x[0].q[0, 0] == ca.MX.sym("w")),
        ArgumentError,
        r"^subject_to: the constraint has the symbol 'w', which is in none of the phases",
    ),
    "guess": (
        lambda: jumping()[0].solver()(q0=[0.5, -0.5], height=0.7, guess=[None]),
        ArgumentTypeError,
        r"^solver: guess: got list; give a solution of these phases, or a list of 3 guesses",
    ),
    "shapes": (
        lambda: [x := two(), x[0].parameter("w", 1), x[1].parameter("w", 2), with_cost(x).solver()],
        ArgumentError,
        r"^phases: the parameter 'w' has shape \(2, 1\) in phase 2, \(1, 1\) before; of one name it is one parameter",
    ),
    "duration": (lambda: ocp.Phases(two(), duration=(2.0, 1.0)), ArgumentError, r"^duration: got \(2.0, 1.0\)"),
}


@pytest.mark.parametrize("what", quick(REFUSED, "twice", "masses", "rebound", "no motion", "foreign", "duration"))
def test_wrong_input_is_refused(what: str) -> None:
    call, kind, message = REFUSED[what]
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.long
def test_what_cannot_be_reached_has_its_last_iterate() -> None:
    phases, (stance, *_) = hop()
    stance.path(lambda v: v[0], upper=0.5)
    with pytest.raises(ocp.OptimizationError, match=r"^monopod: the solver stopped") as caught:
        phases.solve(options={"ipopt.max_iter": 60})
    assert len(caught.value.solution.phases) == 3


def brief(**second: Any) -> tuple[ocp.Problem, ocp.Problem]:
    """Phases of fixed lengths, as real-time iterations take them."""
    dyn = monopod()
    problems = ocp.Problem(dyn, 0.2, 2, degree=1), ocp.Problem(dyn, **({"duration": 0.3, "intervals": 3} | second))
    problems[0].start([0.5, -0.5])
    for problem in problems:
        problem.squares(lambda u: u)
    return problems


def test_what_real_time_iterations_cannot_take_of_phases_is_refused() -> None:
    def refused(what: str, phases: ocp.Phases, error: type[GdalembertError] = UnsupportedError) -> None:
        with pytest.raises(error, match=f"^rti: .*{what}"):
            phases.solver("rti")

    refused("a free duration", ocp.Phases(brief(duration=(0.1, 0.3))))
    refused(
        "the phases take 0.5 s, and Phases asks for 1 to 2 s", ocp.Phases(brief(), duration=(1.0, 2.0)), ArgumentError
    )
    first, last = brief()
    last.start([0.5, -0.5])
    refused("phase 2 has a start of its own", ocp.Phases([first, last]))
    first, last = brief()
    repeated = ocp.Phases([first, last])
    repeated.subject_to(last.q[:, -1] == first.q[:, 0])
    refused("rows of subject_to", repeated)
    first, last = brief(duration=0.2, intervals=2)
    for problem in (first, last):
        problem.parameter("line", at="grid")
    refused("phase 2 has the parameter 'line', as another phase", ocp.Phases([first, last]))
    idle = ocp.Problem(monopod(), 0.3, 3)
    refused("phase 2 has nothing to minimise; give it squares of u", ocp.Phases([brief()[0], idle]))
