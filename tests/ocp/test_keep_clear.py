"""``keep_clear``: gaps that motions keep, at instants and between them, beside gaps that NumPy computes."""

from __future__ import annotations

from typing import Any

import casadi as ca
import coal
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import ocp
from gdalembert.distances.distances import Distances
from gdalembert.distances.shapes import Capsule, Sphere
from gdalembert.errors import ArgumentError, ArgumentTypeError, OptimizationError, SolutionWarning
from gdalembert.ocp.clearance import clear_path

LENGTH, RADIUS, POST, POST_RADIUS, MARGIN = 0.5, 0.04, np.array([0.6, 0.55]), 0.05, 0.02
START, END = [0.0, 0.3], [1.5, 0.3]
FAR = [-3.0, 0.0, 0.0, 0.1]


def arm(count: int = 2) -> tuple[pin.Model, pin.GeometryModel]:
    """Links in a plane, without gravity, each a capsule along x."""
    model, geometry, parent = pin.Model(), pin.GeometryModel(), 0
    model.name = "arm"
    model.gravity.linear[:] = 0.0
    axis = pin.SE3(pin.utils.rotate("y", np.pi / 2), np.array([LENGTH / 2, 0.0, 0.0]))
    for i in range(count):
        place = pin.SE3(np.eye(3), np.array([LENGTH if i else 0.0, 0.0, 0.0]))
        parent = model.addJoint(parent, pin.JointModelRZ(), place, f"joint{i + 1}")
        body = pin.Inertia(2.0, np.array([LENGTH / 2, 0.0, 0.0]), np.diag([1e-3, 0.04, 0.04]))
        model.appendBodyToJoint(parent, body, pin.SE3.Identity())
        geometry.addGeometryObject(pin.GeometryObject(f"link{i + 1}", parent, axis, coal.Capsule(RADIUS, LENGTH)))
    return model, geometry


MODEL, GEOMETRY = arm()
DYN = gd.NewtonEuler(MODEL)
DYN_STEP = ocp.rk4(DYN)
BOUNDS = ocp.Bounds.of(DYN, v=dict.fromkeys(MODEL.names[1:], (-4, 4)), u=dict.fromkeys(MODEL.names[1:], (-20, 20)))
POSTS = {"post": Capsule([*POST, -0.5], [*POST, 0.5], POST_RADIUS)}
SHAPES = Distances(MODEL, GEOMETRY, POSTS)
WITH_BALL = Distances(MODEL, GEOMETRY, POSTS | {"ball": Sphere})


def least_gap(q: np.ndarray, centres: np.ndarray, radius: float) -> float:
    """The least gap of both links and a ball or post in the plane, a row for each time."""
    least, point, angle = np.inf, np.zeros((len(q), 2)), np.zeros(len(q))
    for joint in q.T:
        angle = angle + joint
        way = LENGTH * np.column_stack([np.cos(angle), np.sin(angle)])
        part = np.clip(((centres - point) * way).sum(axis=1) / LENGTH**2, 0, 1)[:, None]
        least = min(least, np.linalg.norm(point + part * way - centres, axis=1).min())
        point = point + way
    return float(least - RADIUS - radius)


def fastest(shapes: Distances | None = SHAPES, margin: float = MARGIN, **options: Any) -> ocp.Problem:
    """From rest to rest past the post, in least time."""
    kept = {"between": options.pop("between")} if "between" in options else {}
    problem = ocp.Problem(DYN, (0.2, 3.0), 10, bounds=BOUNDS, **({"degree": 3, "control": "linear"} | options))
    problem.start(START)
    problem.end(END)
    problem.minimize(problem.duration)
    if shapes is not None:
        problem.keep_clear(shapes, margin, **kept)
    return problem


def motion_of(solution: ocp.Solution) -> np.ndarray:
    """q under its u, at 100 times an interval."""
    return solution.simulate(samples=100).q


def test_a_motion_stays_clear_between_instants() -> None:
    solution = fastest().solve()
    q = motion_of(solution)
    gap = least_gap(q, np.tile(POST, (len(q), 1)), POST_RADIUS)
    assert abs(solution.clearance.gap - gap) < 1e-4  # steps of 80 ms add up to this
    assert MARGIN - 1e-5 < solution.clearance.gap < MARGIN + 1e-3
    assert solution.clearance.pair == ("link2", "post")
    assert 0 < solution.clearance.time < solution.duration
    assert "keep_clear 1" in solution.violations


def test_without_a_guard_it_does_not() -> None:
    solution = fastest(between=False).solve()
    assert solution.clearance.gap < MARGIN - 5e-3
    assert solution.excess["keep_clear 1"] > 5e-3


def test_a_motion_that_nothing_keeps_clear_has_no_clearance() -> None:
    with pytest.raises(ArgumentError, match=r"keeps nothing clear; call problem\.keep_clear"):
        _ = fastest(None).solve().clearance


def test_a_guess_gets_out_of_collision() -> None:
    problem = fastest()
    straight = ocp.rest_to_rest(DYN, START, END).q
    begun = problem._initial.motion(None).q
    gaps = [least_gap(q, np.tile(POST, (len(q), 1)), POST_RADIUS) for q in (straight, begun)]
    assert gaps[0] < 0 < MARGIN <= gaps[1]
    np.testing.assert_allclose(begun[[0, -1]], [START, END], atol=1e-12)
    clear = ocp.Guess(np.linspace(0, 1, len(begun)), begun, 0 * begun, 0 * begun, 0 * begun)
    assert problem._initial.motion(clear) is clear


def test_steps_of_a_band_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, moved = list[float](), clear_path._Band.moved

    def watched(band: clear_path._Band, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if len(q) == clear_path._INTERVALS + 1 and not v[[0, -1]].any():
            steps.append(float(np.abs(v).max()))
        return moved(band, q, v)

    monkeypatch.setattr(clear_path._Band, "moved", watched)
    fastest()._initial.motion(None)
    assert max(steps) == pytest.approx(0.5, rel=1e-12)


def test_obstacles_that_move_are_parameters_of_every_instant() -> None:
    problem = fastest(None, control="constant")
    ball = problem.parameter("ball", 4, at="grid")
    problem.keep_clear(WITH_BALL, MARGIN)
    path = np.linspace([1.1, 0.9, 0, 0.05], [0.5, 0.7, 0, 0.05], ball.shape[1]).T
    solution = problem.solve(ball=path)
    q = motion_of(solution)
    places = np.linspace(path[:2, 0], path[:2, -1], len(q))
    assert least_gap(q, places, 0.05) > MARGIN - 1e-3  # steps of 80 ms add up to this
    assert solution.clearance.gap > MARGIN - 1e-5


def test_rows_in_real_time_count_rates_of_the_last_plan() -> None:
    problem = fastest(WITH_BALL)
    gaps = problem._limited[-1].gaps
    assert gaps is not None
    h, q, v, ball = 0.05, np.array([0.4, 0.8]), np.array([1.5, -0.5]), [0.9, 0.3, 0.1, 0.1]
    graph = gaps.with_rates(h)
    d, slopes = (x.full() for x in WITH_BALL.derivatives(q, ball))
    np.testing.assert_allclose(graph(q, ball, v).full(), d - h / 2 * abs(slopes @ v[:, None]), atol=1e-14)
    symbols = [ca.MX.sym("q", 2), ca.MX.sym("v", 2)]
    value = graph(symbols[0], ball, symbols[1])
    by_q, by_v = (ca.Function("slopes", symbols, [ca.jacobian(value, x)])(q, v).full() for x in symbols)
    np.testing.assert_allclose(by_q, slopes, atol=1e-14)
    np.testing.assert_array_equal(by_v, 0.0)  # they would jump where rates change their signs


def test_real_time_iterations_stay_clear_in_a_loop() -> None:
    n, h = 20, 0.05
    problem = ocp.Problem(DYN, n * h, n, bounds=BOUNDS, degree=1)
    problem.start(problem.parameter("q0", 2), problem.parameter("v0", 2))
    problem.squares(lambda q: q - ca.DM(END))
    problem.squares(lambda v: v, 0.05)
    problem.squares(lambda u: u, 1e-4)
    problem.keep_clear(WITH_BALL, MARGIN)
    problem.guess(ocp.rest_to_rest(DYN, START, END, n * h))
    solver = problem.solver("rti")
    with pytest.raises(ArgumentError, match=r"at the start link2 is .* m inside post"):
        solver(q0=[0.6, 0.3], v0=[0, 0], ball=FAR)
    q, v, path, limited = np.array(START), np.zeros(2), list[np.ndarray](), np.zeros(4, dtype=bool)
    for _ in range(40):
        plan = solver(q0=q, v0=v, ball=FAR, shift=int(bool(path)))
        limited |= np.isfinite(solver._steps.qp.rows_lower).any(axis=0)
        for _ in range(20):
            x = DYN_STEP(np.r_[q, v], plan.u[0], h / 20)[0]
            q, v = np.split(x.full().ravel(), 2)
            path.append(q)
    with pytest.raises(ArgumentError, match=r"'ball': its radius is -0\.1 m"):
        solver(q0=q, v0=v, ball=[*FAR[:3], -0.1])
    along = np.array(path)
    assert np.abs(q - END).max() < 0.05
    assert least_gap(along, np.tile(POST, (len(along), 1)), POST_RADIUS) > MARGIN - 1e-3
    assert plan.clearance.pair[1] == "post"
    assert {WITH_BALL.pairs[k][1] for k in np.flatnonzero(limited)} == {"post"}  # the ball is far away


def test_a_floating_ball_goes_round_another() -> None:
    model, geometry = pin.Model(), pin.GeometryModel()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), 0.01 * np.eye(3)), pin.SE3.Identity())
    geometry.addGeometryObject(pin.GeometryObject("ball", joint, pin.SE3.Identity(), coal.Sphere(0.1)))
    model.gravity.linear[:] = 0.0
    dyn = gd.NewtonEuler(model, actuation=np.eye(6))
    problem = ocp.Problem(dyn, 1.0, 6, degree=2)
    problem.start([-0.5, 0.01, 0, 0, 0, 0, 1])
    problem.end([0.5, 0, 0, 0, 0, 1, 0])
    problem.squares(lambda u: u)
    problem.keep_clear(Distances(model, geometry, {"other": Sphere([0, 0, 0], 0.2)}), 0.01)
    solution = problem.solve()
    centres = solution.simulate(samples=50).q[:, :3]
    assert np.linalg.norm(centres, axis=1).min() - 0.3 > 0.01 - 1e-4  # which steps of 0.2 s are off by
    assert 0.01 - 1e-5 < solution.clearance.gap < 0.012


def test_ends_that_are_too_close_are_told() -> None:
    inside = [0.6, 0.3]
    for key in ("start", "end"):
        problem = fastest()
        getattr(problem, key)(inside)
        with pytest.raises(ArgumentError, match=f"at the {key} link2 is 0.0[0-9]* m inside post; move one of them"):
            problem.solve()
    starts = np.column_stack([np.linspace(0.3, 0.6, 301), np.full(301, 0.3)])
    gaps = [least_gap(q[None], POST[None], POST_RADIUS) for q in starts]
    gap, close = next((x, q) for x, q in zip(gaps, starts, strict=True) if 0 < x < MARGIN)
    problem = fastest()
    problem.start(close)
    with pytest.raises(ArgumentError, match=f"at the start the gap of link2 and post is {gap:.3g} m, less than the ma"):
        problem.solve()
    problem = fastest()
    problem.start(problem.parameter("q0", 2), problem.parameter("v0", 2))
    with pytest.raises(ArgumentError, match=r"at the start link2 is .* inside post"):
        problem.solve(q0=inside, v0=[0, 0])
    solver = problem.solver()
    last = solver(q0=START, v0=[0, 0])
    with pytest.warns(SolutionWarning, match=r"inside post; move one of them; the last plan stands"):
        assert solver(q0=inside, v0=[0, 0]).duration == last.duration
    assert solver(q0=START, v0=[0, 0]).solved


def walled(**options: Any) -> ocp.Problem:
    """A wall that both links would have to cross."""
    wall = Distances(MODEL, GEOMETRY, {"wall": Capsule([0.25, 0.25, 0.0], [0.9, 0.9, 0.0], 0.02)})
    problem = fastest(wall, **options)
    problem.path(lambda q: q[0], -0.5, 2.0)
    return problem


@pytest.mark.parametrize(
    ("options", "violated"),
    [
        ({"control": "constant", "method": "rk4"}, "keep_clear 1 by"),
        ({"control": "constant", "degree": 2, "between": False}, "[(]the equations of motion by [0-9.e-]+[)]"),  # jumps
    ],
)
def test_what_cannot_be_kept_is_told(options: dict[str, Any], violated: str) -> None:
    with pytest.raises(OptimizationError, match=f"{violated}.*the gap of link2 and wall is -0.06 m at [0-9.]+ s"):
        walled(**options).solve(options={"ipopt.max_iter": 30})


@pytest.mark.long
def test_a_gap_that_is_too_small_between_instants_is_told() -> None:
    """It is where the motion jumps through the wall, since no other one is found."""
    with pytest.warns(
        SolutionWarning, match="the gap of link2 and wall falls 0.08 m below its margin between instants"
    ):
        walled().solve()


def test_the_pair_that_is_next_is_told_where_none_is_too_close() -> None:
    with pytest.raises(OptimizationError, match=r"no gap is below its margin, and the gap of link[12] and post is 0."):
        fastest().solve(options={"ipopt.max_iter": 2})


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((SHAPES, -0.01), ArgumentError, r"keep_clear: margin: got -0.01; give one finite number \[m\], at least 0"),
        ((SHAPES, "1"), ArgumentTypeError, "keep_clear: margin: expected a number"),
        ((SHAPES, 0.01, "no"), ArgumentTypeError, "keep_clear: between is 'no'; give True or False"),
        ((GEOMETRY,), ArgumentTypeError, "keep_clear: got .*; give gd.Distances"),
        ((Distances(*arm(3), POSTS),), ArgumentError, "the shapes are of 'arm' .nq = 3., the problem of 'arm' .nq = 2"),
        ((WITH_BALL,), ArgumentError, "the parameter 'ball' has 3 entries, and the obstacle of this name 4 numbers"),
    ],
)
def test_bad_input_is_told(arguments: Any, error: type[Exception], message: str) -> None:
    problem = fastest(None)
    problem.parameter("ball", 3)
    between = {"between": arguments[2]} if len(arguments) > 2 else {}
    with pytest.raises(error, match=message):
        problem.keep_clear(*arguments[:2], **between)
    assert problem.solve(ball=[0, 0, 0]).solved


@pytest.mark.long
def test_fatrop_finds_the_same() -> None:
    found, expected = (fastest(control="constant").solve(name) for name in ("fatrop", "ipopt"))
    assert abs(found.duration / expected.duration - 1) < 1e-2
    assert found.clearance.gap > MARGIN - 1e-4


@pytest.mark.long
def test_phases_and_scenarios_have_a_clearance() -> None:
    middle = [0.9, 1.2]
    first, second = (fastest(control="constant") for _ in range(2))
    first.end(middle)
    second.start(middle)
    plan = ocp.Phases([first, second]).solve()
    assert plan.clearance.gap > MARGIN - 1e-5
    assert plan.clearance.gap == min(part.clearance.gap for part in plan.phases)
    near = int(np.argmin([part.clearance.gap for part in plan.phases]))
    assert plan.clearance.time == pytest.approx(plan.phases[near].clearance.time + near * plan.phases[0].duration)
    both = ocp.Scenarios([fastest(WITH_BALL, control="constant") for _ in range(2)]).solve(ball=FAR)
    assert both.clearance.gap > MARGIN - 1e-5


def test_a_margin_is_within_what_pairs_are_chosen_for() -> None:
    with pytest.raises(ArgumentError, match=r"near=0\.3"):
        fastest(margin=0.3)
    assert fastest(Distances(MODEL, GEOMETRY, POSTS, near=0.3), margin=0.3) is not None
    assert fastest(Distances(MODEL, GEOMETRY, POSTS, pairs=[("link2", "post")]), margin=0.3) is not None


def test_shapes_of_a_longer_robot_are_refused() -> None:
    longer = MODEL.copy()
    longer.jointPlacements[2] = pin.SE3(np.eye(3), np.array([LENGTH + 0.1, 0.0, 0.0]))
    with pytest.raises(ArgumentError, match=r"joint2.*elsewhere"):
        fastest(Distances(longer, GEOMETRY, POSTS))


def test_a_radius_at_run_time_is_not_negative() -> None:
    problem = fastest(WITH_BALL, control="constant")
    with pytest.raises(ArgumentError, match=r"'ball': its radius is -0\.05 m"):
        problem.solve(ball=[0.75, 0.0, 0.25, -0.05])


@pytest.mark.extras
def test_acados_finds_the_same() -> None:
    def reached(solver: str) -> ocp.Solution:
        problem = ocp.Problem(DYN, 1.0, 10, bounds=BOUNDS, degree=1)
        problem.start(START)
        problem.squares(lambda q: q - ca.DM(END), 10.0)
        problem.squares(lambda q: q - ca.DM(END), 50.0, at="end")
        problem.squares(lambda u: u, 1e-3)
        problem.keep_clear(SHAPES, MARGIN)
        return problem.solve(solver)

    found, expected = reached("acados"), reached("ipopt")
    assert found.cost == pytest.approx(expected.cost, rel=1e-6)
    assert found.clearance.gap > MARGIN - 1e-5
