"""Optimal control problems: optima known by heart, bounds of models, and what is said when something is wrong."""

from __future__ import annotations

import dataclasses
import pickle
import warnings
from collections.abc import Callable

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.ocp.guess import typical_sizes
from gdalembert.ocp.solution import between
from gdalembert.spatial.arrays import Array
from tests.helpers import models
from tests.helpers.paths import ROOT


def slider(mass: float = 2.0, effort: float = 3.0) -> pin.Model:
    """A mass that slides along x."""
    model = pin.Model()
    model.name = "slider"
    joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slide")
    model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    model.effortLimit, model.velocityLimit = np.array([effort]), np.array([10.0])
    model.lowerPositionLimit, model.upperPositionLimit = np.array([-4.0]), np.array([5.0])
    return model


def renamed(model: pin.Model) -> pin.Model:
    other = model.copy()
    other.name = "other"
    return other


def turning(joint: pin.JointModel, inertia: float = 0.5) -> gd.NewtonEuler:
    """A body that turns about its centre of mass."""
    model = pin.Model()
    model.name = "turning"
    model.gravity = pin.Motion.Zero()
    index = model.addJoint(0, joint, pin.SE3.Identity(), "turn")
    model.appendBodyToJoint(index, pin.Inertia(1.0, np.zeros(3), inertia * np.eye(3)), pin.SE3.Identity())
    return gd.NewtonEuler(model)


# Optima that are known.


@pytest.mark.parametrize("control", ["linear", "constant"])
def test_least_effort_of_a_mass(control: str) -> None:
    """∫ u² dt from rest to rest is 12 m² d²/T³, u = 6 m d (1 − 2 t/T)/T²; held over N intervals 1 / (1 − 1/N²) more."""
    mass, distance, duration, n = 2.0, 0.7, 1.5, 10
    problem = ocp.Problem(gd.NewtonEuler(slider(mass)), duration, n, control=control, degree=2)
    problem.start([0.0])
    problem.end([distance])
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    least = 12 * mass**2 * distance**2 / duration**3
    expected = least if control == "linear" else least / (1 - 1 / n**2)
    assert solution.cost == pytest.approx(expected, rel=1e-8)  # the solver's own tolerance
    if control == "linear":
        u = 6 * mass * distance * (1 - 2 * solution.t / duration) / duration**2
        np.testing.assert_allclose(solution.u.ravel(), u, rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", ["collocation", "rk4"])
def test_least_time_of_a_mass(method: str) -> None:
    """Full force, and full force back: T = 2 √(m d / u_max)."""
    model = slider(2.0, 3.0)
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, (0.1, 10.0), 8, bounds=ocp.Bounds.of(dyn, model), method=method)
    problem.start([0.0])
    problem.end([1.5])
    problem.minimize(problem.duration)
    solution = problem.solve()
    assert solution.duration == pytest.approx(2 * np.sqrt(2.0 * 1.5 / 3.0), rel=1e-6)
    np.testing.assert_allclose(solution.u.ravel(), [3] * 4 + [-3] * 4, rtol=0, atol=1e-4)


def test_least_time_within_a_velocity() -> None:
    """Full force, the largest velocity, full force back: T = d/v + m v/u."""
    model = slider(2.0, 3.0)
    dyn = gd.NewtonEuler(model)
    bounds = ocp.Bounds.of(dyn, model, v={"slide": 0.75})
    problem = ocp.Problem(dyn, (0.1, 10.0), 10, bounds=bounds)
    problem.start([0.0])
    problem.end([1.5])
    problem.minimize(problem.duration)
    solution = problem.solve()
    # 0.5 s of 2.5 s are two of ten intervals
    assert solution.duration == pytest.approx(1.5 / 0.75 + 2 * 0.75 / 3, rel=1e-6)
    assert solution.v.max() == pytest.approx(0.75, rel=1e-6)
    assert solution.excess == {} or max(solution.excess.values()) < 1e-7


@pytest.mark.parametrize("joint", [pin.JointModelRUBZ(), pin.JointModelSpherical(), pin.JointModelFreeFlyer()])
def test_least_effort_of_a_turn(joint: pin.JointModel) -> None:
    """About one axis, across the places where angles jump: 12 I² θ²/T³."""
    dyn = turning(joint)
    kinematics = gd.Kinematics(dyn.tree)
    axis = np.zeros(dyn.tree.nv)
    axis[-1] = 1.0
    neutral = np.zeros(dyn.tree.nq)
    neutral[0 if dyn.tree.nq == 2 else -1] = 1
    start, end = (kinematics.integrate(neutral, angle * axis).full().ravel() for angle in (2.0, 4.4))
    free = {f"turn[{i}]": (-10.0, 10.0) for i in range(6)} if dyn.tree.nv == 6 else {}
    problem = ocp.Problem(dyn, 1.2, 12, control="linear", bounds=ocp.Bounds.of(dyn, u=free))
    problem.start(start)
    problem.end(end)
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    solution = problem.solve()
    assert solution.cost == pytest.approx(12 * 0.5**2 * 2.4**2 / 1.2**3, rel=1e-6)  # a quaternion is no polynomial
    assert solution.length_violation < 1e-9
    apart = kinematics.difference(end, solution.q[-1]).full()
    assert abs(apart).max() < 1e-8


def test_a_free_flyer_ends_where_it_shall() -> None:
    dyn = turning(pin.JointModelFreeFlyer())
    free = {f"turn[{i}]": (-10.0, 10.0) for i in range(6)}
    problem = ocp.Problem(dyn, 1.2, 6, bounds=ocp.Bounds.of(dyn, u=free))
    problem.start([0, 0, 0, 0, 0, 0, 1])
    problem.end([0.3, -0.2, 0.5, np.sin(0.5), 0, 0, np.cos(0.5)])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    reached = problem.solve().q[-1]
    np.testing.assert_allclose(reached, [0.3, -0.2, 0.5, np.sin(0.5), 0, 0, np.cos(0.5)], rtol=0, atol=1e-8)


def test_a_flexible_joint_moves_without_vibration() -> None:
    """A motor drives a load by a spring: both end at rest, and the same u moves both as one mass."""
    model = slider(2.0)
    arm = gd.FlexibleArm(model, joints={"slide": gd.FlexibleJoint(stiffness=50.0, rotor_inertia=1.0)})
    problem = ocp.Problem(arm, 1.5, 30, control="linear")
    problem.start([0.0, 0.0])
    problem.end([0.5, 0.5])
    problem.minimize(problem.integral(lambda u: u**2))
    motion = problem.solve().simulate()
    assert motion.energy[-1] < 1e-8 * motion.energy.max()
    # the same u on a rigid body of the whole mass: ∬ u is the same distance
    rigid = gd.simulate(gd.NewtonEuler(slider(3.0)), np.zeros(2), motion.t, motion.u)
    assert rigid.q[-1, 0] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("continuous", [False, True])
def test_modes_have_sizes_of_their_own(continuous: bool) -> None:
    """f/K, f/√(K M), f/M, where f are the forces of the guess; in q they stand behind a pair (cos, sin) too."""
    beams = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
    links = {name: gd.FlexibleLink(beam, bending_y=gd.modes.hermite()) for name, beam in beams.items()}
    urdf = (ROOT / "urdf" / "two_link_flexible.urdf").read_text(encoding="utf-8")
    if continuous:
        urdf = urdf.replace('name="joint2" type="revolute"', 'name="joint2" type="continuous"')
    arm = gd.FlexibleArm(gd.load_urdf(urdf, check="off"), links)
    q_start = np.array([0.0, 1.0, *np.zeros(5)] if continuous else np.zeros(6))
    way = np.array([0.8, -0.6, 0, 0, 0, 0])
    q_end = gd.Kinematics(arm.tree).integrate(q_start, way).full().ravel()
    motion = ocp.rest_to_rest(arm, q_start, q_end, 2.0, samples=21)
    q, v, a = typical_sizes(arm, motion, 2.0)
    force = np.abs(arm.inverse_dynamics(motion.q.T, motion.v.T, motion.a.T).full()).max(axis=1)[2:]
    assert q[:-4].tolist() == [1] * (2 + continuous)
    np.testing.assert_allclose(q[-4:] * np.diag(arm.stiffness_matrix)[2:], force, rtol=1e-9)
    np.testing.assert_allclose(v[2:] ** 2, q[-4:] * a[2:], rtol=1e-12)
    assert v[:2].tolist() == [1, 1]
    np.testing.assert_allclose(a[2:] * np.diag(arm.mass_matrix(q_start).full())[2:], force, rtol=1e-9)


def test_methods_find_the_same_optimum() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    costs: list[float] = []
    for options in ({}, {"scheme": "radau"}, {"method": "rk4"}, {"degree": 5}):
        problem = ocp.Problem(dyn, 0.4, 20, **options)
        problem.start([0.1, 0.2])
        problem.end([0.5, 0.9])
        problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
        costs.append(problem.solve().cost)
    # orders 6, 5, 4 and 10 with steps of 20 ms
    for cost, tolerance in zip(costs, (5e-7, 5e-6, 1e-4), strict=False):
        assert cost == pytest.approx(costs[-1], rel=tolerance)


def test_the_optimum_is_better_than_its_neighbours() -> None:
    """A smooth change of the motion with the same ends costs more, by its second variation."""
    model = gd.load_urdf("puma560")
    dyn = gd.NewtonEuler(model)
    q0, q1 = np.zeros(6), np.full(6, 0.4)
    problem = ocp.Problem(dyn, 1.0, 20)
    problem.start(q0)
    problem.end(q1)

    def effort(u: ca.MX) -> ca.MX:
        return ca.sumsqr(u / ca.DM(model.effortLimit))

    problem.minimize(problem.integral(effort))
    best = problem.solve()
    costs = []
    for size in (-0.01, 0.01):
        moved = ocp.Problem(dyn, 1.0, 20)
        moved.start(q0)
        moved.end(q1)
        moved.opti.subject_to(moved.q[1, 10] == best.q[10, 1] + size)
        moved.minimize(moved.integral(effort))
        moved.guess(best)
        costs.append(moved.solve().cost - best.cost)
    assert min(costs) > 0
    assert costs[0] == pytest.approx(costs[1], rel=0.2)  # a parabola, but for the third variation


def test_pinocchio_finds_the_same_torques() -> None:
    model = gd.load_urdf("panda7")
    dyn = gd.NewtonEuler(model)
    q0 = np.array([0, -0.6, 0, -2.0, 0, 1.5, 0])
    problem = ocp.Problem(dyn, 1.5, 20, bounds=ocp.Bounds.of(dyn, model))
    problem.start(q0)
    problem.end(q0 + 0.3)
    problem.minimize(problem.integral(lambda a: ca.sumsqr(a)))
    stages = problem.solve().stages
    data = model.createData()
    tau = np.array([pin.rnea(model, data, q, v, a) for q, v, a in zip(stages.q, stages.v, stages.a, strict=True)])
    np.testing.assert_allclose(tau, stages.u, rtol=0, atol=1e-5)  # the solver's own tolerance


# Expressions along the path.


def test_a_path_is_kept() -> None:
    """The tip of a two-link arm stays below a height, which the free optimum passes."""
    model = gd.load_urdf("two_link_arm")
    dyn = gd.NewtonEuler(model)
    tip = gd.Kinematics(model).frame_placement(model.frames[model.nframes - 1].name)

    def solved(keep: Callable[[ocp.Problem], None]) -> ocp.Solution:
        problem = ocp.Problem(dyn, 1.0, 20)
        problem.start([0.0, 0.0])
        problem.end([1.2, -0.4])
        problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
        keep(problem)
        return problem.solve()

    def heights(solution: ocp.Solution) -> Array:
        data = model.createData()
        found = []
        for q in solution.stages.q:
            pin.framesForwardKinematics(model, data, q)
            found.append(data.oMf[model.nframes - 1].translation[0])
        return np.array(found)

    free = heights(solved(lambda problem: None))
    lowest, highest = free.min(), free.max()
    limit = lowest + 0.03 * (highest - lowest)
    kept = heights(solved(lambda problem: problem.path(lambda q: tip(q)[0, 3], lower=max(limit, free[-1] - 1e-3))))
    assert kept.min() > lowest - 1e-9


def test_a_path_may_be_an_equation() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider(2.0)), 1.5, 4)
    problem.start([0.0])
    problem.path(lambda u: u, 2.5, 2.5)
    problem.minimize(problem.integral(lambda v: v**2))
    solution = problem.solve()
    np.testing.assert_allclose(solution.u, 2.5, rtol=1e-9)
    assert solution.v[-1, 0] == pytest.approx(2.5 * 1.5 / 2.0, rel=1e-9)


def test_a_path_of_a_matrix_has_bounds_in_its_shape() -> None:
    """Forces from −2 to 3 at 2 kg, as the columns of a matrix have them: T² = 2 d (m/3 + m/2), turned at 0.4 T."""
    problem = ocp.Problem(gd.NewtonEuler(slider(2.0)), (0.1, 10.0), 10)
    problem.start([0.0])
    problem.end([0.5])
    problem.path(lambda v, u: ca.blockcat([[v, u], [-v, -u]]), upper=[[1.0, 3.0], [0.5, 2.0]])
    problem.minimize(problem.duration)
    solution = problem.solve()
    assert solution.duration == pytest.approx(np.sqrt(2 * 0.5 * (2 / 3 + 2 / 2)), rel=1e-6)


def test_a_path_at_the_grid() -> None:
    """The fastest of 1.5 d/T is at the middle, which is an instant of the grid."""
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 2, control="linear")
    problem.start([0.0], v=None)
    problem.end([1.0], v=None)
    problem.path(lambda q, v: q + v, upper=1.2, at="grid")
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    assert (solution.q + solution.v).max() == pytest.approx(1.2, abs=1e-7)


@pytest.mark.parametrize("bounds_at", ["stages", "grid"])
@pytest.mark.parametrize(("what", "limit"), [("q", 0.95), ("v", 1.4)])
def test_bounds_hold_at_the_stages_unless_the_grid_is_asked_for(what: str, limit: float, bounds_at: str) -> None:
    """q = 4 t (1 − t) and v = 6 t (1 − t) are largest at a half, between the instants of the grid, but at a stage."""
    dyn = gd.NewtonEuler(slider())
    options = {} if bounds_at == "stages" else {"bounds_at": bounds_at}  # the stages are the default
    bounds = ocp.Bounds.of(dyn, **{what: {"slide": limit}})
    problem = ocp.Problem(dyn, 1.0, 3, bounds=bounds, control="linear", **options)
    problem.start([0.0], v=4.0 if what == "q" else 0.0)
    problem.end([0.0 if what == "q" else 1.0], v=-4.0 if what == "q" else 0.0)
    problem.minimize(problem.integral(lambda u: u**2))
    solution, free = problem.solve(), 1.0 if what == "q" else 1.5
    largest = getattr(solution.stages, what).max()
    assert largest == pytest.approx(limit if bounds_at == "stages" else free, abs=1e-6)
    if bounds_at == "grid":
        name = "slide" if what == "q" else "rate of slide"
        assert solution.excess == {name: pytest.approx(free - limit, abs=1e-6)}


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


def test_functions_are_expressions_too() -> None:
    model = slider()
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, 1.0, 10)
    problem.start([0.0])
    problem.end([1.0])
    problem.path(dyn.kinetic_energy, upper=1.3)
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    energies = 0.5 * 2.0 * solution.stages.v**2
    assert energies.max() == pytest.approx(1.3, rel=1e-6)


def test_an_integral_is_that_of_the_motion() -> None:
    """The work of u is the energy gained."""
    model = gd.load_urdf("puma560")
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, 1.0, 20)
    problem.start(np.zeros(6))
    problem.end(np.full(6, 0.4))
    work = problem.integral(lambda u, v: ca.dot(u, v))
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    solution = problem.solve()
    gained = float(dyn.potential_energy(solution.q[-1]) - dyn.potential_energy(solution.q[0]))
    assert float(problem.opti.debug.value(work)) == pytest.approx(gained, rel=1e-6)  # quadrature of order 6


def test_a_path_of_q_and_v_holds_at_the_grid_too() -> None:
    """What a path forbids at the end cannot be reached, and it is said which."""
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 10)
    problem.start([0.0], v=0.0)
    problem.end([0.5], v=3.0)
    problem.path(lambda v: v**2, upper=1.0)
    problem.minimize(problem.integral(lambda u: u**2))
    with pytest.raises(ocp.OptimizationError, match=r"constraints violated by .*path 1 by") as caught:
        problem.solve(options={"ipopt.max_iter": 100})
    assert caught.value.solution.violations["path 1"] > 0.1


def test_bounds_that_contradict_are_said() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 10)
    problem.start([0.0])
    problem.end([0.5], v=3.0)
    problem.path(lambda v: v, upper=1.0)
    problem.minimize(problem.integral(lambda u: u**2))
    with pytest.raises(
        ocp.OptimizationError, match=r"after 0 iterations .* ends, bounds and paths contradict each other"
    ):
        problem.solve()


def test_excess_of_a_path_is_that_of_the_motion() -> None:
    """A parabola that the three instants of the grid let pass."""
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 2)
    problem.start([0.0], v=8.0)
    problem.end([0.0], v=None)
    problem.path(lambda q, scale=2.0: scale * q, upper=2.0, at="grid")
    problem.minimize(problem.integral(lambda u: u**2))
    solution = problem.solve()
    t = np.arange(17) / 32
    top = (8 * t + solution.u[0, 0] / 2.0 * t**2 / 2).max()
    assert solution.excess == {"path 1": pytest.approx(2 * top - 2, rel=1e-9)}


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": [[0.0], [np.nan], [1.0]]}, "Guess: q: one is not finite; give finite numbers"),
        ({"t": [0.0, 1.0]}, "Guess: q has the shape (3, 1); give a row for each of 2 times"),
        ({"t": [0.0, 1.0, 1.0]}, "Guess: t must be at least two times [s], each later than the last"),
    ],
)
def test_wrong_guesses(change: dict[str, object], message: str) -> None:
    rows = {"t": [0.0, 1.0, 2.0], **{name: np.zeros((3, 1)) for name in ("q", "v", "a", "u")}} | change
    with pytest.raises(gd.errors.GdalembertError) as caught:
        ocp.Guess(**{name: np.array(value) for name, value in rows.items()})
    assert str(caught.value) == message


def test_a_singular_mass_matrix_is_refused_before_anything_is_solved() -> None:
    """A point mass on its own axis, below a slider without a mass."""
    model = slider()
    turn = model.addJoint(1, pin.JointModelRX(), pin.SE3.Identity(), "turn")
    model.appendBodyToJoint(turn, pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
    with pytest.raises(gd.errors.GdalembertError, match="singular"):
        ocp.Problem(gd.NewtonEuler(model), 1.0, 5)


# Bounds.


def test_bounds_are_those_of_the_model() -> None:
    model = gd.load_urdf("puma560")
    bounds = ocp.Bounds.of(gd.NewtonEuler(model), model, v={model.names[2]: 0.5}, u={model.names[3]: (-7, 8)})
    np.testing.assert_array_equal(bounds.q_lower, model.lowerPositionLimit)
    np.testing.assert_array_equal(bounds.q_upper, model.upperPositionLimit)
    np.testing.assert_array_equal(bounds.v_upper, np.where(np.arange(6) == 1, 0.5, model.velocityLimit))
    np.testing.assert_array_equal(bounds.v_lower, -bounds.v_upper)
    np.testing.assert_array_equal(bounds.u_upper, np.where(np.arange(6) == 2, 8, model.effortLimit))
    np.testing.assert_array_equal(bounds.u_lower, np.where(np.arange(6) == 2, -7, -model.effortLimit))
    assert bounds.u_names == tuple(list(model.names)[1:])


def test_bounds_of_an_arm_leave_its_modes_alone() -> None:
    model = gd.load_urdf("two_link_flexible")
    beam = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0), bending_y=gd.modes.clamped_free(2))
    arm = gd.FlexibleArm(model, {"link1": beam}, {"joint2": gd.FlexibleJoint(stiffness=10.0, rotor_inertia=0.1)})
    bounds = ocp.Bounds.of(arm, model)
    assert bounds.q_names == bounds.v_names == arm.layout
    assert bounds.u_names == ("joint1", "joint2")
    np.testing.assert_array_equal(np.isfinite(bounds.q_upper), [True, True, False, False, False])
    np.testing.assert_array_equal(np.isfinite(bounds.v_upper), [True, True, False, False, False])
    np.testing.assert_array_equal(bounds.u_upper, model.effortLimit)


def test_bounds_of_manifolds() -> None:
    """Unit lengths have none, and nothing drives a free-flyer."""
    model = models.build(np.random.default_rng(0), ["FreeFlyer", "RUBX", "RX"], [0, 1, 2])
    model.lowerPositionLimit, model.upperPositionLimit = np.full(10, -1.01), np.full(10, 1.01)
    model.effortLimit, model.velocityLimit = np.full(8, 5.0), np.full(8, 3.0)
    bounds = ocp.Bounds.of(gd.NewtonEuler(model), model)
    assert np.flatnonzero(np.isfinite(bounds.q_upper)).tolist() == [0, 1, 2, 9]
    assert bounds.passive == tuple(f"FreeFlyer_0[{i}]" for i in range(6))
    assert bounds.q_names[7:] == ("RUBX_1[0]", "RUBX_1[1]", "RX_2")


def test_no_limit_of_a_model_is_infinite() -> None:
    model = slider()
    model.effortLimit = np.array([np.finfo(float).max])
    bounds = ocp.Bounds.of(gd.NewtonEuler(model), model)
    assert bounds.u_upper == np.inf
    assert bounds.u_lower == -np.inf


def test_what_follows_another_joint_has_no_bounds_of_its_own() -> None:
    model = models.build(np.random.default_rng(0), ["RX", "PY"], [0, 1], mimic=1)
    bounds = ocp.Bounds.of(gd.NewtonEuler(model), q={"RX_0": 0.5})
    assert bounds.q_names == bounds.v_names == bounds.u_names == ("RX_0", "PY_1")
    assert bounds.q_upper.tolist() == [0.5, np.inf]


def test_excess_is_what_lies_beyond_either_bound() -> None:
    """q from −4 to 5 and v from −10 to 10, and a millionth is nothing."""
    model = slider()
    bounds = ocp.Bounds.of(gd.NewtonEuler(model), model)
    assert bounds.excess([[5 + 5e-7], [-4 - 5e-7]], [[10 + 5e-7], [0.0]]) == {}
    above = bounds.excess([[5.25], [5.125], [0.0]], [[0.0], [10.5], [0.0]])
    assert above == {"slide": 0.25, "rate of slide": 0.5}
    below = bounds.excess([[-4.25], [5.125], [0.0]], [[0.0], [-10.5], [10.25]])
    assert below == {"slide": 0.25, "rate of slide": 0.5}


def test_a_passive_joint_gets_no_torque() -> None:
    model = gd.load_urdf("cart_pendulum")
    dyn = gd.NewtonEuler(model)
    bounds = ocp.Bounds.of(dyn, model, u={"swing": 0.0})
    assert bounds.passive == ("swing",)
    problem = ocp.Problem(dyn, 1.0, 20, bounds=bounds)
    problem.start([0.0, 0.0])
    problem.end([0.3, 0.0])
    problem.minimize(problem.integral(lambda u: u[0] ** 2))
    solution = problem.solve()
    assert not solution.u[:, 1].any()
    assert np.abs(solution.simulate().q[-1] - [0.3, 0.0]).max() < 1e-5  # steps of 50 ms


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda d, m: ocp.Bounds.of(d, gd.load_urdf("puma560")),
            "Bounds.of: the model is 'puma560' with nv = 6, the dynamics are of 'slider' with 1; give the model of the "
            "dynamics",
        ),
        (
            lambda d, m: ocp.Bounds.of(d, renamed(m)),
            "Bounds.of: the model is 'other' with nv = 1, the dynamics are of 'slider' with 1; give the model of the "
            "dynamics",
        ),
        (
            lambda d, m: ocp.Bounds.of(d, "slider"),
            "Bounds.of: model is a str; give the pin.Model of the dynamics",
        ),
        (lambda d, m: ocp.Bounds.of(d, q={"slid": 1.0}), "no entry of q named 'slid'; nearest: 'slide'"),
        (lambda d, m: ocp.Bounds.of(d, q=[1.0]), "Bounds.of: q=[1.0]; give {name: (lower, upper)}"),
        (
            lambda d, m: ocp.Bounds.of(d, v={"slide": (1, 2, 3)}),
            "Bounds.of: v: 'slide': (1, 2, 3); give (lower, upper)",
        ),
        (
            lambda d, m: ocp.Bounds.of(d, v={"slide": 0.0}),
            "slider: joint 'slide': its velocity has the bounds (0, 0); give others, as v={'slide': (lower, upper)}",
        ),
        (
            lambda d, m: ocp.Bounds.of(d, q={"slide": (2.0, 1.0)}),
            "slider: joint 'slide': its position has the bounds (2, 1); give others, as q={'slide': (lower, upper)}",
        ),
        (
            lambda d, m: ocp.Bounds.of(d, u={"slide": (float("nan"), 1.0)}),
            "slider: joint 'slide': its effort has the bounds (nan, 1); give others, as u={'slide': (lower, upper)}",
        ),
        (lambda d, m: ocp.Problem(d, 1.0, 0), "intervals=0: give an integer of at least 1"),
        (lambda d, m: ocp.Problem(d, 1.0, 2.5), "intervals=2.5: give an integer of at least 1"),
        (lambda d, m: ocp.Problem(d, -1.0, 5), "duration: got -1.0; give one finite number [s], above 0"),
        (
            lambda d, m: ocp.Problem(d, (2.0, 1.0), 5),
            "duration=(2.0, 1.0): give one number [s], or (shortest, longest)",
        ),
        (
            lambda d, m: ocp.Problem(d, (0.0, 1.0), 5),
            "duration=(0.0, 1.0): give one number [s], or (shortest, longest)",
        ),
        (lambda d, m: ocp.Problem(d, 1.0, 5, method="euler"), "method='euler': give 'collocation' or 'rk4'"),
        (lambda d, m: ocp.Problem(d, 1.0, 5, control="smooth"), "control='smooth': give 'constant' or 'linear'"),
        (lambda d, m: ocp.Problem(d, 1.0, 5, bounds_at="all"), "bounds_at='all': give 'stages' or 'grid'"),
        (lambda d, m: ocp.Problem(d, 1.0, 5, bounds=m).start, "bounds: expected Bounds.of(dyn, model), got Model"),
        (
            lambda d, m: ocp.Problem(d, 1.0, 5, bounds=ocp.Bounds.of(turning(pin.JointModelRX()))),
            "the bounds are not those of slider; make them by Bounds.of(dyn, model)",
        ),
        (lambda d, m: ocp.Problem(m, 1.0, 5), "Problem takes a Dynamics, as gd.NewtonEuler(model), not Model"),
        (
            lambda d, m: ocp.rest_to_rest(d, [0], [1], samples=1),
            "rest_to_rest: samples=1; give an integer of at least 2",
        ),
        (lambda d, m: ocp.rest_to_rest(d, [0, 1], [1]), "rest_to_rest: q_start has the shape (2,); give (1,)"),
        (lambda d, m: ocp.rest_to_rest(d, [0], [[1]]), "rest_to_rest: q_end has the shape (1, 1); give (1,)"),
    ],
)
def test_wrong_arguments(call: Callable[[gd.Dynamics, pin.Model], object], message: str) -> None:
    model = slider()
    with pytest.raises(gd.errors.GdalembertError) as caught:
        call(gd.NewtonEuler(model), model)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.start([1.0, 2.0]), "start: q has the shape (2,); give (1,)"),
        (lambda p: p.start([-7.0]), "start: q of 'slide' is -7, outside its bounds (-4, 5)"),
        (lambda p: p.start([7.0]), "start: q of 'slide' is 7, outside its bounds (-4, 5)"),
        (lambda p: p.end([1.0], v=20.0), "end: v of 'slide' is 20, outside its bounds (-10, 10)"),
        (lambda p: p.end([np.nan]), "end: q: one is not finite; give finite numbers"),
        (lambda p: (p.end([1.0]), p.end([2.0])), "end was called before; make a new Problem for other ends"),
        (lambda p: p.path(3.0), "3.0 is no expression; give a casadi.Function, or a callable of q, v, a, u"),
        (
            lambda p: p.path(lambda x: x),
            "an expression at the stages has the inputs ['x']; give them names among ['q', 'v', 'a', 'u']",
        ),
        (
            lambda p: p.path(lambda u: u, at="grid"),
            "an expression at the grid has the inputs ['u']; give them names among ['q', 'v']",
        ),
        (
            lambda p: p.path(lambda q: 1.0),
            "an expression depends on none of its inputs; write it with the inputs it is given",
        ),
        (lambda p: p.path(lambda q: (q, q)), "an expression has one value; pick it, as lambda q, v: f(q, v)[0]"),
        (lambda p: p.path(lambda q: q, [0, 1]), "path: lower has 2 numbers; give 1, or one"),
        (lambda p: p.path(lambda q: q, 1, 0), "path: a lower bound is above the upper one: [1.] and [0.]"),
        (lambda p: p.path(lambda q: q), "path: neither lower nor upper is finite; give one of them"),
        (lambda p: p.path(lambda q: q, np.nan), "path: lower is not a number; give numbers, or leave it out"),
        (
            lambda p: p.path(lambda v: v <= 1.2),
            "an expression is a comparison; give what is compared, with its bounds as lower and upper",
        ),
        (
            lambda p: p.minimize(1.0),
            "minimize: nothing can change it; give one of duration, where it is free, q, v, u, or an integral",
        ),
        (lambda p: p.minimize(p.q), "minimize: the cost has 6 entries; give one, as ca.sum1 of them"),
        (lambda p: p.integral(lambda q: "x"), "an expression gives 'x'; give a number or a matrix of CasADi's"),
        (lambda p: p.path(lambda q: q, "low"), "path: lower='low'; give numbers"),
        (lambda p: p.path(lambda q: q, at="ends"), "path: at='ends'; give 'stages' or 'grid'"),
        (
            lambda p: p.guess(ocp.rest_to_rest(gd.NewtonEuler(gd.load_urdf("puma560")), np.zeros(6), np.ones(6))),
            "guess: it has nq, nv, nu = (6, 6, 6); slider has (1, 1, 1)",
        ),
        (lambda p: p.guess([1.0]), "guess takes a Guess, a Simulation or a Solution, not list"),
        (lambda p: p.solve(), "nothing is to be minimised; call minimize(problem.duration) or of an integral"),
        (
            lambda p: (p.minimize(p.duration), p.solve()),
            "there is no motion to start from; call guess(…), or start(q) or end(q)",
        ),
    ],
)
def test_wrong_problems(call: Callable[[ocp.Problem], object], message: str) -> None:
    model = slider()
    dyn = gd.NewtonEuler(model)
    with pytest.raises(gd.errors.GdalembertError) as caught:
        call(ocp.Problem(dyn, (0.5, 2.0), 5, bounds=ocp.Bounds.of(dyn, model)))
    assert str(caught.value) == message


def test_options_that_casadi_refuses() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 5)
    problem.start([0.0])
    problem.end([1.0])
    problem.minimize(problem.integral(lambda u: u**2))
    with pytest.raises(gd.errors.ArgumentError, match="CasADi refuses"):
        problem.solve(options={"ipopt.no_such_option": 1})
    with pytest.raises(gd.errors.ArgumentError, match="CasADi refuses"):
        problem.solve("no_such_solver")


def test_the_solver_is_quiet_unless_it_is_asked(capfd: pytest.CaptureFixture[str]) -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 5)
    problem.start([0.0])
    problem.end([1.0])
    problem.minimize(problem.integral(lambda u: u**2))
    problem.solve()
    assert capfd.readouterr() == ("", "")
    problem.solve(options={"print_time": True})
    assert "nlp_f" in capfd.readouterr().out


def test_a_quaternion_of_another_length_is_refused() -> None:
    problem = ocp.Problem(turning(pin.JointModelSpherical()), 1.0, 5)
    with pytest.raises(gd.errors.ArgumentError, match="q of joint 'turn' is off unit length by 1; normalise it"):
        problem.start([0, 0, 0, 2.0])
    two = ocp.Problem(gd.NewtonEuler(models.build(np.random.default_rng(0), ["RUBX", "Spherical"], [0, 1])), 1.0, 5)
    with pytest.raises(gd.errors.ArgumentError, match="q of joint 'Spherical_1' is off unit length by 1; normalise it"):
        two.end([1, 0, 0, 0, 0, 2.0])


def test_ends_that_are_refused_leave_nothing_behind() -> None:
    """The second try counts, and nothing of the first."""
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 10, control="linear")
    problem.start([0.0])
    with pytest.raises(gd.errors.ArgumentError, match="end: v has the shape"):
        problem.end([5.0], v=[0.0, 0.0])
    problem.end([0.5])
    problem.minimize(problem.integral(lambda u: u**2))
    assert problem.solve().q[-1, 0] == pytest.approx(0.5, rel=1e-9)


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


def test_unit_lengths_that_drift_are_said_and_mended() -> None:
    """Radau's collocation loses them."""
    problem = ocp.Problem(turning(pin.JointModelSpherical()), 1.2, 4, degree=2, scheme="radau")
    problem.start([0, 0, 0, 1])
    problem.end([np.sin(0.6), 0, 0, np.cos(0.6)])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    solution = problem.solve()
    drifted = np.linalg.norm(problem.opti.debug.value(problem.q), axis=0) - 1
    assert solution.length_violation == pytest.approx(abs(drifted).max(), rel=1e-6)
    assert solution.length_violation > 1e-6
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


def test_finer_steps_that_diverge_are_infinitely_far_off() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"))
    x = np.array([[0.0, 1.0, 1e100, -1e100], [0.0, 1.0, 1e100, -1e100]])
    error, _ = between(dyn, ocp.rk4(dyn), np.array([0.0, 1.0]), x, np.zeros((1, 2)), "constant")
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
    beyond = dataclasses.replace(solution, excess={"slide": 0.1, "rate of slide": 0.2})
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
    with pytest.raises(gd.errors.ArgumentError, match="samples=0: give an integer of at least 1"):
        solution.simulate(samples=0)
    problem.guess(solution)
    assert problem.solve().iterations <= solution.iterations
    problem.guess(solution.simulate())
    assert problem.solve().cost == pytest.approx(solution.cost, rel=1e-7)


# Guesses.


@pytest.mark.parametrize("name", ["puma560", "cart_pendulum"])
def test_rest_to_rest_is_a_motion(name: str) -> None:
    dyn = gd.NewtonEuler(gd.load_urdf(name))
    guess = ocp.rest_to_rest(dyn, np.zeros(dyn.tree.nq), np.full(dyn.tree.nq, 0.5), 2.0, samples=2001)
    np.testing.assert_allclose(guess.q[-1], 0.5, rtol=1e-14)
    assert not guess.v[[0, -1]].any()
    np.testing.assert_allclose(np.gradient(guess.q, guess.t, axis=0)[1:-1], guess.v[1:-1], rtol=0, atol=1e-5)
    np.testing.assert_allclose(np.gradient(guess.v, guess.t, axis=0)[1:-1], guess.a[1:-1], rtol=0, atol=1e-5)
    tau = dyn.inverse_dynamics(guess.q.T, guess.v.T, guess.a.T).full().T
    np.testing.assert_allclose(guess.u, tau, rtol=1e-12, atol=1e-12)


def test_rest_to_rest_turns_on_the_geodesic() -> None:
    dyn = turning(pin.JointModelSpherical())
    kinematics = gd.Kinematics(dyn.tree)
    end = kinematics.integrate([0, 0, 0, 1], [0.3, -0.4, 1.2]).full().ravel()
    guess = ocp.rest_to_rest(dyn, [0, 0, 0, 1], end, samples=5)
    np.testing.assert_allclose(
        kinematics.difference(guess.q[0], guess.q[2]).full().ravel(), [0.15, -0.2, 0.6], atol=1e-14
    )
    np.testing.assert_allclose(np.linalg.norm(guess.q, axis=1), 1, rtol=1e-14)


def test_rest_to_rest_gives_the_actuators_what_they_can() -> None:
    """An elastic joint has the torque of its rotor, a rigid one its own; what a spring would have to give is lost."""
    joints = {"joint1": gd.FlexibleJoint(stiffness=50.0, rotor_inertia=0.1)}
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), joints=joints)
    guess = ocp.rest_to_rest(arm, np.zeros(3), [0.4, -0.3, 0.4], samples=5)
    tau = arm.inverse_dynamics(guess.q.T, guess.v.T, guess.a.T).full().T
    np.testing.assert_allclose(guess.u, tau[:, [2, 1]], rtol=1e-12, atol=1e-12)


def test_a_guess_has_unit_lengths_between_its_rows() -> None:
    dyn = turning(pin.JointModelSpherical())
    guess = ocp.rest_to_rest(dyn, [0, 0, 0, 1], [0, 0, 1, 0], samples=3)
    q = guess.at(np.array([0.2, 0.7]), 1.0)[0]
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1, rtol=1e-15)


def test_rest_to_rest_takes_no_quaternion_of_another_length() -> None:
    with pytest.raises(gd.errors.ArgumentError, match="rest_to_rest: q_end: q of joint 'turn' is off unit length by 1"):
        ocp.rest_to_rest(turning(pin.JointModelSpherical()), [0, 0, 0, 1], [0, 0, 0, 0])


def test_a_guess_is_stretched() -> None:
    dyn = gd.NewtonEuler(slider())
    guess = ocp.rest_to_rest(dyn, [0.0], [1.0], 1.0, samples=11)
    q, v, a, u = guess.at(np.array([0.0, 0.5, 1.0]), 2.0)
    np.testing.assert_allclose(q.ravel(), [0, 0.5, 1], atol=1e-15)
    np.testing.assert_allclose(v.ravel(), guess.v[[0, 5, 10], 0] / 2)
    np.testing.assert_allclose(a.ravel(), guess.a[[0, 5, 10], 0] / 4)
    np.testing.assert_allclose(u.ravel(), guess.u[[0, 5, 10], 0])


# rockit.


def cart() -> tuple[gd.Dynamics, ocp.Bounds]:
    model = gd.load_urdf("cart_pendulum")
    dyn = gd.NewtonEuler(model)
    return dyn, ocp.Bounds.of(dyn, model, u={"swing": 0.0})


@pytest.mark.parametrize("implicit", [True, False])
def test_rockit_finds_the_same_optimum(implicit: bool) -> None:
    import rockit

    dyn, bounds = cart()
    problem = ocp.Problem(dyn, 2.0, 40, bounds=bounds)
    problem.start([0.0, 0.0])
    problem.end([0.0, np.pi])
    problem.minimize(problem.integral(lambda u: u[0] ** 2))
    ours = problem.solve()

    other = rockit.Ocp(T=2.0)
    robot = ocp.add_to_rockit(other, dyn, bounds, implicit=implicit)
    for x in (robot.q, robot.v):
        other.subject_to(other.at_t0(x) == 0)
    other.subject_to(other.at_tf(robot.q) == ca.vertcat(0, np.pi))
    other.subject_to(other.at_tf(robot.v) == 0)
    other.add_objective(other.integral(robot.u[0] ** 2))
    other.set_initial(robot.q, ca.vertcat(0, np.pi * other.t / 2))
    other.solver("ipopt", {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"})
    other.method(
        rockit.DirectCollocation(N=40, M=1, degree=3, scheme="legendre")
        if implicit
        else rockit.MultipleShooting(N=40, M=2, intg="rk")
    )
    theirs = other.solve()
    # the same collocation, or another method of order 4 with steps of 25 ms
    assert float(theirs.value(other.objective)) == pytest.approx(ours.cost, rel=1e-8 if implicit else 1e-4)


def test_rockit_refuses_in_words() -> None:
    import rockit

    dyn, bounds = cart()
    with pytest.raises(
        gd.errors.ArgumentTypeError, match=r"add_to_rockit takes a rockit.Ocp or a stage of it, not Opti"
    ):
        ocp.add_to_rockit(ca.Opti(), dyn)
    with pytest.raises(gd.errors.ArgumentTypeError, match=r"^bounds='slider': give Bounds.of\(dyn, model\)$"):
        ocp.add_to_rockit(rockit.Ocp(T=1), dyn, "slider")
    with pytest.raises(gd.errors.UnsupportedError, match="joint 'turn' has unit lengths in q"):
        ocp.add_to_rockit(rockit.Ocp(T=1), turning(pin.JointModelSpherical()))
    with pytest.raises(gd.errors.ArgumentError, match="the bounds are not those of slider"):
        ocp.add_to_rockit(rockit.Ocp(T=1), gd.NewtonEuler(slider()), bounds)
