"""Optimal control problems: optima known by heart, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from tests.helpers import models
from tests.helpers.ocp import slider, turning


def renamed(model: pin.Model) -> pin.Model:
    other = model.copy()
    other.name = "other"
    return other


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


@pytest.mark.parametrize(
    "joint",
    [pin.JointModelRUBZ(), pin.JointModelSpherical(), pytest.param(pin.JointModelFreeFlyer(), marks=pytest.mark.long)],
)
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
    assert solution.cost == pytest.approx(12 * 0.5**2 * 2.4**2 / 1.2**3, rel=1e-6)  # a quaternion is not a polynomial
    assert solution.length_violation < 1e-9
    apart = kinematics.difference(end, solution.q[-1]).full()
    assert abs(apart).max() < 1e-8


@pytest.mark.parametrize(
    ("joint", "solver"),
    [
        (pin.JointModelRUBZ(), "ipopt"),
        (pin.JointModelSpherical(), "fatrop"),
        pytest.param(pin.JointModelFreeFlyer(), "ipopt", marks=pytest.mark.long),
    ],
)
def test_a_start_that_is_free_has_unit_lengths(joint: pin.JointModel, solver: str) -> None:
    """A turn that comes to rest from any orientation: I² ω²/T, and it begins ω T/2 before its end."""
    dyn = turning(joint)
    kinematics = gd.Kinematics(dyn.tree)
    rate = np.zeros(dyn.tree.nv)
    rate[-1] = 2.0
    end = np.zeros(dyn.tree.nq)
    end[0 if dyn.tree.nq == 2 else -1] = 1
    free = {f"turn[{i}]": (-10.0, 10.0) for i in range(6)} if dyn.tree.nv == 6 else {}
    problem = ocp.Problem(dyn, 1.2, 6, bounds=ocp.Bounds.of(dyn, u=free))
    problem.start(None, rate)
    problem.end(end)
    problem.squares(lambda u: u)
    solution = problem.solve(solver)
    assert solution.cost == pytest.approx(0.5**2 * 2.0**2 / 1.2, rel=1e-7)
    assert solution.length_violation < 1e-8  # which is the tolerance of the solver
    begin = kinematics.integrate(end, -0.6 * rate).full().ravel()
    assert np.abs(kinematics.difference(begin, solution.q[0]).full()).max() < 1e-5


def test_a_free_flyer_ends_where_it_shall() -> None:
    dyn = turning(pin.JointModelFreeFlyer())
    free = {f"turn[{i}]": (-10.0, 10.0) for i in range(6)}
    problem = ocp.Problem(dyn, 1.2, 6, bounds=ocp.Bounds.of(dyn, u=free))
    problem.start([0, 0, 0, 0, 0, 0, 1])
    problem.end([0.3, -0.2, 0.5, np.sin(0.5), 0, 0, np.cos(0.5)])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    reached = problem.solve().q[-1]
    np.testing.assert_allclose(reached, [0.3, -0.2, 0.5, np.sin(0.5), 0, 0, np.cos(0.5)], rtol=0, atol=1e-8)


@pytest.mark.long
@pytest.mark.parametrize("control", ["constant", "linear"])
@pytest.mark.parametrize("method", ["collocation", "rk4"])
def test_an_arm_without_a_motor_at_the_elbow_swings(method: str, control: str) -> None:
    """As the arm with both actuators of which the second is held at 0; and its u moves it to the same end."""
    model = gd.load_urdf("two_link_arm")

    def swing(dyn: gd.Dynamics, **u: float) -> ocp.Solution:
        bounds = ocp.Bounds.of(dyn, model, u=u)
        problem = ocp.Problem(dyn, 1.0, 10, bounds=bounds, method=method, control=control)
        problem.start([-np.pi / 2, 0.0])
        problem.end([0.6 - np.pi / 2, 0.0])
        problem.minimize(problem.integral(lambda u: u[0] ** 2))
        return problem.solve()

    found, held = swing(gd.NewtonEuler(model, actuation=[[1.0], [0.0]])), swing(gd.NewtonEuler(model), joint2=0.0)
    assert found.u.shape == (10 + (control == "linear"), 1)
    assert found.cost == pytest.approx(held.cost, rel=1e-8)  # the solver's own tolerance
    np.testing.assert_allclose(found.u[:, 0], held.u[:, 0], rtol=0, atol=1e-5)
    motion = found.simulate()
    apart = np.abs(np.r_[motion.q[-1] - found.q[-1], motion.v[-1]]).max()
    assert apart < (1e-4 if method == "collocation" else 0.5)  # orders 6 and 4, steps of 0.1 s
    assert found.guess().u.shape == (11, 1)


def test_actuators_in_another_order_with_gears_do_the_same() -> None:
    """Motor 0 is at joint 2 with a ratio of 4, motor 1 at joint 1, backwards; joint 1 takes all of its 60 N m."""
    model = gd.load_urdf("two_link_arm")
    gears = np.array([[0.0, -1.0], [4.0, 0.0]])
    found = []
    for dyn in (gd.NewtonEuler(model), gd.NewtonEuler(model, actuation=gears)):
        problem = ocp.Problem(dyn, (0.1, 2.0), 8, bounds=ocp.Bounds.of(dyn, model))
        problem.start([-np.pi / 2, 0.0])
        problem.end([0.0, 0.5])
        problem.minimize(problem.duration + problem.integral(lambda u, b=dyn.actuation: 1e-4 * ca.sumsqr(b @ u)))
        found.append(problem.solve())
    plain, geared = found
    assert plain.cost == pytest.approx(geared.cost, rel=1e-7)
    np.testing.assert_allclose(geared.u @ gears.T, plain.u, rtol=0, atol=1e-3)
    assert np.abs(plain.u[:, 0]).max() == pytest.approx(60, rel=1e-4)


def test_more_actuators_than_joints_share_the_effort() -> None:
    """Two motors on one slide: the least sum of squares is half of that of one."""
    costs = []
    for b in ([[1.0]], [[1.0, -1.0]]):
        problem = ocp.Problem(gd.NewtonEuler(slider(), actuation=b), 1.0, 5)
        problem.start([0.0])
        problem.end([0.5])
        problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
        solution = problem.solve()
        costs.append(solution.cost)
    assert costs[1] == pytest.approx(costs[0] / 2, rel=1e-8)
    np.testing.assert_allclose(solution.u[:, 0], -solution.u[:, 1], rtol=0, atol=1e-6)


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


@pytest.mark.long
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
        moved.subject_to(moved.q[1, 10] == best.q[10, 1] + size)
        moved.minimize(moved.integral(effort))
        moved.guess(best)
        costs.append(moved.solve().cost - best.cost)
    assert min(costs) > 0
    assert costs[0] == pytest.approx(costs[1], rel=0.2)  # a parabola, but for the third variation


@pytest.mark.long
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


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (ca.MX(3), "minimize: nothing can change the cost; give an expression of q, v, u, or an integral"),
        (
            ca.MX.sym("w") ** 2,
            "minimize: the cost has the symbol 'w', which is none of the problem; make parameters by",
        ),
    ],
)
def test_costs_of_nothing_in_the_problem_are_refused(cost: ca.MX, message: str) -> None:
    with pytest.raises(gd.errors.ArgumentError, match=message):
        ocp.Problem(gd.NewtonEuler(slider()), 1.0, 5).minimize(cost)


def test_a_singular_mass_matrix_is_refused_before_anything_is_solved() -> None:
    """A point mass on its own axis, below a slider without a mass."""
    model = slider()
    turn = model.addJoint(1, pin.JointModelRX(), pin.SE3.Identity(), "turn")
    model.appendBodyToJoint(turn, pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
    with pytest.raises(gd.errors.GdalembertError, match="singular"):
        ocp.Problem(gd.NewtonEuler(model), 1.0, 5)


# Bounds.


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
        (lambda d, m: ocp.Problem(d, 1.0, 0), "intervals: got 0; give an integer from 1 to 1000000"),
        (lambda d, m: ocp.Problem(d, 1.0, 2.5), "intervals: expected an integer, got 2.5"),
        (lambda d, m: ocp.Problem(d, [[1, 2], [3]], 5), "duration: the rows are of unequal lengths"),
        (lambda d, m: ocp.Problem(d, 1.0, 10**40), f"intervals: got {10**40}; give an integer from 1 to 1000000"),
        (lambda d, m: ocp.Problem(d, -1.0, 5), "duration: got -1.0; give one finite number [s], above 0"),
        (
            lambda d, m: ocp.Problem(d, (2.0, 1.0), 5),
            "duration: got (2.0, 1.0); give one number [s], or (shortest, longest)",
        ),
        (
            lambda d, m: ocp.Problem(d, (0.0, 1.0), 5),
            "duration: got (0.0, 1.0); give one number [s], or (shortest, longest)",
        ),
        (lambda d, m: ocp.Problem(d, 1.0, 5, method="euler"), "method: got 'euler'; give 'collocation' or 'rk4'"),
        (lambda d, m: ocp.Problem(d, 1.0, 5, control="smooth"), "control: got 'smooth'; give 'constant' or 'linear'"),
        (lambda d, m: ocp.Problem(d, 1.0, 5, bounds_at="all"), "bounds_at: got 'all'; give 'stages' or 'grid'"),
        (lambda d, m: ocp.Problem(d, 1.0, 5, bounds=m).start, "bounds: expected Bounds.of(dyn, model), got Model"),
        (
            lambda d, m: ocp.Problem(d, 1.0, 5, bounds=ocp.Bounds.of(turning(pin.JointModelRX()))),
            "the bounds are not those of slider; make them by Bounds.of(dyn, model)",
        ),
        (lambda d, m: ocp.Problem(m, 1.0, 5), "Problem takes a Dynamics, as gd.NewtonEuler(model), not Model"),
        (
            lambda d, m: ocp.rest_to_rest(d, [0], [1], samples=1),
            "rest_to_rest: samples: got 1; give an integer of at least 2",
        ),
        (lambda d, m: ocp.rest_to_rest(d, [0, 1], [1]), "rest_to_rest: q_start has shape (2,); give (1,)"),
        (lambda d, m: ocp.rest_to_rest(d, [0], [[[1]]]), "rest_to_rest: q_end has shape (1, 1, 1); give (1,)"),
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
        (lambda p: p.start([1.0, 2.0]), "start: q has shape (2,); give (1,)"),
        (lambda p: p.start([-7.0]), "start: q of 'slide' is -7, outside its bounds (-4, 5)"),
        (lambda p: p.start([7.0]), "start: q of 'slide' is 7, outside its bounds (-4, 5)"),
        (lambda p: p.end([1.0], v=20.0), "end: v of 'slide' is 20, outside its bounds (-10, 10)"),
        (lambda p: p.end([np.nan]), "end: q: entry [0] is nan; give finite numbers"),
        (lambda p: p.path(3.0), "3.0 is not an expression; give a casadi.Function, or a callable of q, v, a, u"),
        (
            lambda p: p.path(lambda x: x),
            "an expression at the stages has the inputs ['x']; give them names among ['q', 'v', 'a', 'u', 'du', 't']",
        ),
        (
            lambda p: p.path(lambda u: u, at="grid"),
            "an expression at the grid has the inputs ['u']; give them names among ['q', 'v', 't']",
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
        (lambda p: p.path(lambda q: q, "low"), "path: lower: expected numbers, got 'low'"),
        (lambda p: p.path(lambda q: q, at="ends"), "path: at: got 'ends'; give 'stages', 'grid', 'start' or 'end'"),
        (
            lambda p: p.guess(ocp.rest_to_rest(gd.NewtonEuler(gd.load_urdf("puma560")), np.zeros(6), np.ones(6))),
            "guess: it has nq, nv, nu = (6, 6, 6); slider has (1, 1, 1)",
        ),
        (lambda p: p.guess([1.0]), "guess takes a Guess, a Simulation or a Solution, not list"),
        (lambda p: p.solve(), "nothing is to be minimised; call minimize(problem.duration) or of an integral"),
        (
            lambda p: (p.minimize(p.duration), p.solve()),
            "there is no motion to start from; call guess(…), or start(q) or end(q) with all of q",
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
    with pytest.raises(gd.errors.ArgumentError, match="CasADi has no solver 'no_such_solver'; give 'ipopt'"):
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


def test_a_free_flyer_without_actuators_is_refused_at_once() -> None:
    dyn = turning(pin.JointModelFreeFlyer())
    with pytest.raises(
        gd.errors.ArgumentError,
        match=r"^turning: nothing drives it: joint 'turn' has no actuators, and all of u are held at 0; give the robot "
        r"actuation=B \(nv × nu\), or bounds u=",
    ):
        ocp.Problem(dyn, 1.0, 5)
    lifted = gd.NewtonEuler(dyn.tree, actuation=np.eye(6)[:, 2:3])
    assert ocp.Problem(lifted, 1.0, 5).u.shape == (1, 5)


def test_ends_that_are_refused_leave_nothing_behind() -> None:
    """The second try counts, and nothing of the first."""
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 10, control="linear")
    problem.start([0.0])
    with pytest.raises(gd.errors.ArgumentError, match="end: v has shape"):
        problem.end([5.0], v=[0.0, 0.0])
    problem.end([0.5])
    problem.minimize(problem.integral(lambda u: u**2))
    assert problem.solve().q[-1, 0] == pytest.approx(0.5, rel=1e-9)


# Integrals of one stage.


def test_an_integral_of_degree_1_sees_what_swings_from_instant_to_instant() -> None:
    """By midpoints alone, a mass that jumps from 1 to −1 and back would cost nothing."""
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 6, degree=1)
    problem.start([1.0])
    problem.minimize(problem.integral(lambda q: q**2) + 1e-9 * ca.sumsqr(problem.u))
    solution = problem.solve()
    assert np.abs(solution.q[1:]).max() < 0.5
    assert solution.cost > 1 / 36  # of the first instant


def test_an_integral_of_degree_1_is_exact_to_the_third_power() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 2.0, 3, degree=1)
    problem.start([0.0])
    problem.minimize(integral := problem.integral(lambda q, t: q**2 + t**3))
    solution = problem.solve()
    assert np.abs(solution.q).max() < 1e-12
    assert solution.cost == pytest.approx(4.0, rel=1e-14)
    assert float(problem.value(integral)) == pytest.approx(4.0, rel=1e-14)


def test_degree_1_says_what_its_midpoints_hide() -> None:
    problem = ocp.Problem(gd.NewtonEuler(slider()), 1.0, 4, degree=1)
    message = (
        "slider: the integral of q, u sees q and v at midpoints alone, where what swings from instant to instant is "
        "hidden; take degree=2, or terms without u"
    )
    with pytest.warns(ocp.SolutionWarning, match=f"^{message}$"):
        problem.integral(lambda q, u: (q + u) ** 2)
    with pytest.warns(ocp.SolutionWarning, match=f"^{message}$"):
        problem.squares(lambda q, u: ca.vertcat(q + u, u))
    problem.integral(lambda q, u: q**2 + u**2)
    problem.integral(lambda u: u**2)
    ocp.Problem(gd.NewtonEuler(slider()), 1.0, 4, degree=1, scheme="radau").integral(lambda q, u: q**2 + u**2)


def test_degree_1_takes_terms_of_the_state_apart() -> None:
    """Of each entry: what is added of q, v, t and parameters alone has the grid in its integral."""
    problem = ocp.Problem(gd.NewtonEuler(slider()), 2.0, 3, degree=1)
    problem.start([1.0], [0.5])
    w = problem.parameter("w")
    both = problem.integral(lambda q, v, u, t: ca.vertcat(2 - (u**2 - w * q**2) + t, v**2, 3 * u))
    apart = [
        problem.integral(lambda q, t: ca.vertcat(2 + w * q**2 + t, 0)),
        problem.integral(lambda v: ca.vertcat(0, v**2)),
        problem.integral(lambda u: ca.vertcat(-(u**2), 0, 3 * u)),
    ]
    problem.minimize(problem.integral(lambda q, u: q**2 + u**2))
    problem.solve(w=0.3)
    expected = sum(np.pad(problem.value(x).ravel(), (0, 3 - x.numel())) for x in apart)
    assert problem.value(both).ravel() == pytest.approx(expected, rel=1e-13)
