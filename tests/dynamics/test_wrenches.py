"""External wrenches as inputs: sizes, the contract, and bad input."""

from __future__ import annotations

import pickle
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common.robots import load
from gdalembert.dynamics.equations_of_motion import FUNCTIONS
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.spatial.algebra import Matrix
from tests.dynamics.test_derivatives import call
from tests.helpers.models import build, relative_error, states
from tests.helpers.paths import ROOT
from tests.helpers.sets import quick, with_extras
from tests.helpers.validated_arms import planar

LOADED = (
    "inverse_dynamics",
    "forward_dynamics",
    "state_derivative",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "inverse_dynamics_hessian",
)
"""The Functions that take wrenches."""

TIGHT = 1e-12
EXACT = 1e-11


Vector = np.ndarray


def samples(model: pin.Model, number: int, columns: int, seed: int = 0) -> list[tuple[Vector, ...]]:
    rng = np.random.default_rng(seed)
    return [(*state, 5 * rng.normal(size=(6, columns))) for state in states(model, rng, number)]


# Sizes.


FEET = {
    "panda7": ["flange"],
    "ur5": ["tool0", "forearm_link"],
    "solo12": ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"],
    "talos": ["left_sole_link", "right_sole_link"],
}


@pytest.mark.parametrize("robot", [*quick(["panda7"]), *with_extras(["solo12", "talos"])])
def test_the_page_says_how_large_the_graphs_are(robot: str) -> None:
    page = (ROOT / "docs" / "frames_and_wrenches.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    model = load(robot)
    bare = gd.NewtonEuler(model)
    checked = 0
    for name, wrenches, *numbers in rows:
        if name != robot:
            continue
        count, reference = wrenches.split()
        given = dict.fromkeys(FEET[robot][: int(count)], getattr(pin, reference))
        dyn = gd.NewtonEuler(model, wrenches=given)
        of_each = [gd.joint_torques(model, *item, exerted_by="environment") for item in given.items()]
        tau = bare.inverse_dynamics.n_instructions()
        separate = tau + sum(each.n_instructions() for each in of_each)
        own = dyn.inverse_dynamics.n_instructions()
        others = ("forward_dynamics", "inverse_dynamics_derivatives")
        pairs = [getattr(each, function).n_instructions() for function in others for each in (bare, dyn)]
        assert [*map(int, numbers)] == [tau, separate, own, *pairs]
        checked += 1
    assert checked > 0


@pytest.mark.long
def test_a_wrench_in_the_axes_of_its_frame_costs_next_to_nothing() -> None:
    """Also in the derivatives, where it moves with its link."""
    model = load("panda7")
    bare, dyn = gd.NewtonEuler(model), gd.NewtonEuler(model, wrenches={"flange": pin.LOCAL})
    for name in ("inverse_dynamics", "inverse_dynamics_derivatives"):
        one, other = (getattr(each, name).n_instructions() for each in (bare, dyn))
        assert one < other < one + 50


class Doubled(gd.NewtonEuler):
    """Torques of its own, which the recursion does not know."""

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        return 2 * super().inverse_dynamics_expression(q, v, a)

    def inverse_dynamics_derivatives_expression(self, q: Matrix, v: Matrix, a: Matrix) -> tuple[Matrix, Matrix]:
        by_q, by_v = super().inverse_dynamics_derivatives_expression(q, v, a)
        return 2 * by_q, 2 * by_v

    def forward_dynamics_expression(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        return super().forward_dynamics_expression(q, v, tau / 2)


def test_a_subclass_keeps_the_equations_that_it_writes_down() -> None:
    model = small()
    model.armature = np.zeros(2)
    bare, loaded, dyn = gd.NewtonEuler(model), gd.NewtonEuler(model, wrenches=GIVEN), Doubled(model, wrenches=GIVEN)
    q, v, a, wrenches = samples(model, 1, 2)[0]
    for name in ("inverse_dynamics", "inverse_dynamics_derivatives"):
        one, push, other = (getattr(each, name) for each in (bare, loaded, dyn))
        parts = zip(call(one, q, v, a), call(push, q, v, a, wrenches), call(other, q, v, a, wrenches), strict=True)
        for once, pushed, twice in parts:
            assert relative_error(twice, once + pushed) < TIGHT
    tau = dyn.inverse_dynamics(q, v, a, wrenches)
    assert relative_error(dyn.forward_dynamics(q, v, tau, wrenches).full().ravel(), a) < EXACT


# The contract.


GIVEN = {"body_1": pin.LOCAL_WORLD_ALIGNED, "body_0": pin.LOCAL}


def small() -> pin.Model:
    return build(np.random.default_rng(4), ["RY", "PZ"], [0, 1])


def robot(**options: Any) -> gd.NewtonEuler:
    return gd.NewtonEuler(small(), wrenches=GIVEN, **options)


@pytest.mark.long
def test_wrenches_come_before_the_parameters_of_what_they_act_on() -> None:
    dyn, bare = robot(parameters=["gravity"]), gd.NewtonEuler(small(), parameters=["gravity"])
    for name in FUNCTIONS:
        inputs, known = getattr(dyn, name).name_in(), getattr(bare, name).name_in()
        assert inputs == ([*known[:-1], "wrenches", "p"] if name in LOADED else known)
        if name in LOADED:
            assert getattr(dyn, name).size_in("wrenches") == (6, 2)
    assert "wrenches" not in dyn.terms.name_in()
    assert "wrenches" not in dyn.torque_regressor.name_in()


def test_without_wrenches_there_is_no_input() -> None:
    for given in (None, {}):
        dyn = gd.NewtonEuler(small(), wrenches=given)
        assert dyn.inverse_dynamics.name_in() == ["q", "v", "a"]
        assert dyn.wrenches == {}
        assert dyn.under() is dyn


def test_wrenches_are_read_only_and_as_given() -> None:
    given = {"body_1": pin.LOCAL}
    dyn = gd.NewtonEuler(small(), wrenches=given)
    assert dyn.wrenches == given
    assert dyn.external_wrenches.names == ("body_1",)
    with pytest.raises(TypeError):
        dyn.wrenches["body_0"] = pin.LOCAL  # type: ignore[index]
    model = gd.load_urdf("two_link_arm")
    by_name, by_index = (gd.NewtonEuler(model, wrenches={tip: pin.LOCAL}) for tip in ("tip", model.getFrameId("tip")))
    assert by_index.external_wrenches == by_name.external_wrenches


def test_wrenches_are_in_the_linearised_equations() -> None:
    """About a motion with constant wrenches: A has ∂a/∂q of the forward dynamics, which no wrench by itself has."""
    dyn = robot()
    q, v, u, wrenches = samples(small(), 1, 2)[0]
    for loaded, given, acting in (
        (dyn.under(wrenches), None, wrenches),
        (dyn, wrenches, wrenches),
        (dyn, None, np.zeros((6, 2))),
    ):
        da_dq, da_dv, inverse = call(dyn.forward_dynamics_derivatives, q, v, u, acting)
        a_matrix, b_matrix = loaded.linearize(q, v, u, wrenches=given)
        assert relative_error(a_matrix[2:], np.hstack([da_dq, da_dv])) < EXACT
        assert relative_error(b_matrix[2:], inverse) < EXACT


def test_the_efforts_that_hold_the_robot_bear_the_wrenches() -> None:
    dyn = robot()
    q, _, _, wrenches = samples(small(), 1, 2)[0]
    hold = dyn.inverse_dynamics(q, np.zeros(2), np.zeros(2), wrenches).full().ravel()
    of_rest, given = (dyn.under(wrenches).linearize(q, u=u)[0] for u in (None, hold))
    assert relative_error(of_rest, given) < TIGHT


@pytest.mark.parametrize("name", ["ocp.Problem", "ocp.rk4", "ocp.collocation", "ocp.rest_to_rest"])
def test_what_takes_no_wrenches_says_what_to_give(name: str) -> None:
    calls = {
        "ocp.Problem": lambda dyn: gd.ocp.Problem(dyn, 1.0, 3),
        "ocp.rk4": gd.ocp.rk4,
        "ocp.collocation": gd.ocp.collocation,
        "ocp.rest_to_rest": lambda dyn: gd.ocp.rest_to_rest(dyn, np.zeros(2), np.ones(2)),
    }
    with pytest.raises(UnsupportedError, match=r"at body_1, body_0 are an input; give dyn.under\(wrenches\)"):
        calls[name](robot())
    calls[name](robot().under())


def test_identification_asks_for_the_wrenches() -> None:
    dyn = robot(parameters=["inertia"])
    with pytest.raises(ArgumentError, match=r"fit: the wrenches at body_1, body_0 are an input; give Experiment\("):
        gd.identification.fit(dyn, *np.zeros((4, 5, 2)))
    with pytest.raises(UnsupportedError, match="excitation: the wrenches at body_1, body_0 are an input"):
        gd.identification.excitation(dyn, gd.ocp.Bounds.of(dyn))


@pytest.mark.extras
@pytest.mark.parametrize("implicit", [True, False])
def test_rockit_takes_the_robot_under_constant_wrenches(implicit: bool) -> None:
    import rockit

    other = rockit.Ocp(T=1.0)
    with pytest.raises(UnsupportedError, match="add_to_rockit: the wrenches at body_1, body_0 are an input"):
        gd.ocp.add_to_rockit(other, robot())
    q, v, _, u = gd.ocp.add_to_rockit(other, robot().under(np.ones((6, 2))), implicit=implicit)
    assert q.shape == v.shape == u.shape == (2, 1)


def test_a_problem_has_the_constant_wrenches() -> None:
    """The efforts that hold the robot at rest under a push."""
    dyn, wrenches = robot(), np.ones((6, 2))
    problem = gd.ocp.Problem(dyn.under(wrenches), 0.5, 4)
    problem.start([0.1, 0.2])
    problem.end([0.1, 0.2])
    problem.minimize(problem.integral(lambda v: ca.sumsqr(v)))
    hold = dyn.inverse_dynamics([0.1, 0.2], [0, 0], [0, 0], wrenches).full()
    assert relative_error(problem.solve().u, np.tile(hold.T, (4, 1))) < 1e-4  # of the solver


# Flexible arms.


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:link .* its body of")
def test_validity_of_an_arm_with_wrenches_knows_accelerations_that_are_given() -> None:
    dyn, bare = planar(wrenches={"link1 tip": pin.LOCAL}), planar()
    q, v = np.zeros((1, dyn.tree.nq)), np.ones((1, dyn.tree.nv))
    for given in ({"a": v}, {"u": np.ones((1, dyn.nu))}):
        assert dyn.validity(q, v, **given) == bare.validity(q, v, **given)


# Point forces.


POINTS: dict[str, dict[str, Any]] = {
    "forces": {"body_1": (pin.LOCAL_WORLD_ALIGNED, "3D"), "body_0": (pin.LOCAL, "3D")},
    "a mix": {"body_1": (pin.LOCAL_WORLD_ALIGNED, "3D"), "body_0": (pin.LOCAL, "6D"), "body_2": (pin.LOCAL, "3D")},
}
"""Frames at which forces act, some of them beside wrenches."""


def pushed_at_points(kind: str) -> tuple[pin.Model, dict[str, pin.ReferenceFrame], Vector, Vector]:
    """A robot, the references of the same frames, forces in the form of its input, and as wrenches (6 × n)."""
    model, given = build(np.random.default_rng(4), ["RY", "PZ", "RX"], [0, 1, 2]), POINTS[kind]
    w = np.random.default_rng(1).normal(size=(6, len(given)))
    is_force = [entry[1] == "3D" for entry in given.values()]
    w[3:, is_force] = 0
    rows = [column[: 3 if force else 6] for column, force in zip(w.T, is_force, strict=True)]
    return model, {name: entry[0] for name, entry in given.items()}, (w[:3] if all(is_force) else np.hstack(rows)), w


@pytest.mark.long
@pytest.mark.parametrize("kind", POINTS)
@pytest.mark.parametrize("name", quick(gd.formulations(), "newton_euler"))
def test_point_forces_are_wrenches_without_moments(name: str, kind: str) -> None:
    model, references, forces, w = pushed_at_points(kind)
    formulation = gd.formulations()[name]
    dyn, whole = formulation(model, wrenches=POINTS[kind]), formulation(model, wrenches=references)
    q, v, a = states(model, np.random.default_rng(2), 1)[0]
    held, constant = dyn.under(forces), whole.under(w)
    for each in LOADED:
        graph, reference = getattr(dyn, each), getattr(whole, each)
        assert graph.size_in("wrenches") == dyn.external_wrenches.shape == ((3, 2) if kind == "forces" else (12, 1))
        assert graph.n_instructions() <= reference.n_instructions()
        before = {"state_derivative": [np.hstack([q, v]), a], "inverse_dynamics_hessian": [q, v, a, a]}
        given = before.get(each, [q, v, a])
        for own, theirs in zip(graph.call([*given, forces]), reference.call([*given, w]), strict=True):
            assert relative_error(own.full(), theirs.full()) < TIGHT
        for own, theirs in zip(getattr(held, each).call(given), getattr(constant, each).call(given), strict=True):
            assert relative_error(own.full(), theirs.full()) < TIGHT


@pytest.mark.long
@pytest.mark.parametrize("kind", quick(POINTS, "forces"))
def test_point_forces_act_wherever_wrenches_do(kind: str) -> None:
    """Torques, constrained robots, pickles, motions, and the validation."""
    model, references, forces, w = pushed_at_points(kind)
    dyn, whole = gd.NewtonEuler(model, wrenches=POINTS[kind]), gd.NewtonEuler(model, wrenches=references)
    q, v, tau = states(model, np.random.default_rng(2), 1)[0]
    torques, all_six = (gd.joint_torques(model, given) for given in (POINTS[kind], references))
    assert relative_error(torques(q, forces).full(), all_six(q, w).full()) < TIGHT
    held = [gd.ConstrainedDynamics(robot, [gd.Contact("body_2", "3D")]) for robot in (dyn, whole)]
    for name in ("forward_dynamics", "forward_dynamics_derivatives"):
        for own, theirs in zip(
            getattr(held[0], name).call([q, v, tau, forces]), getattr(held[1], name).call([q, v, tau, w]), strict=True
        ):
            assert relative_error(own.full(), theirs.full()) < EXACT
    inverse = [con.inverse_dynamics(q, v, tau, [1, 2, 3], given) for con, given in zip(held, (forces, w), strict=True)]
    assert relative_error(inverse[0].full(), inverse[1].full()) < TIGHT
    again = pickle.loads(pickle.dumps(dyn.under(forces)))
    assert relative_error(again.nle(q, v).full(), dyn.nle(q, v).full()) < TIGHT
    moves = [
        gd.simulate(robot, np.hstack([q, v]), 0.02, wrenches=given)
        for robot, given in ((dyn, forces), (whole, w), (dyn, lambda t, q, v: forces))
    ]
    assert relative_error(moves[0].q, moves[1].q) < EXACT
    assert relative_error(moves[2].q, moves[1].q) < EXACT
    assert moves[0].wrenches.shape[1:] == dyn.external_wrenches.shape
    assert relative_error(moves[0].work, moves[1].work) < EXACT
    report = gd.validate(dyn, against=model, samples=3)
    assert report.ok
    assert "forward_dynamics under wrenches" in str(report)


def test_a_problem_and_an_arm_have_point_forces() -> None:
    arm, whole = (planar(wrenches={"link1 tip": given}) for given in ((pin.LOCAL, "3D"), pin.LOCAL))
    q, v, a = np.random.default_rng(0).normal(size=(3, arm.tree.nv)) * 0.1
    own, theirs = arm.inverse_dynamics(q, v, a, [1, 2, 3]), whole.inverse_dynamics(q, v, a, [1, 2, 3, 0, 0, 0])
    assert relative_error(own.full(), theirs.full()) < TIGHT
    model = small()
    pushed = gd.NewtonEuler(model, wrenches={"body_1": (pin.LOCAL_WORLD_ALIGNED, "3D")}).under([1, 2, 3])
    problem = gd.ocp.Problem(pushed, 0.5, 4)
    problem.start(q := np.array([0.3, 0.1]), np.zeros(2))
    problem.end(q, np.zeros(2))
    problem.minimize(ca.sumsqr(problem.u - pushed.inverse_dynamics(q, np.zeros(2), np.zeros(2))))
    hold = -gd.joint_torques(model, "body_1", pin.LOCAL_WORLD_ALIGNED)(q, [1, 2, 3, 0, 0, 0])
    at_rest = gd.NewtonEuler(model).generalized_gravity(q) + hold
    assert relative_error(problem.solve().u, np.tile(at_rest.full().T, (4, 1))) < 1e-6


def test_point_forces_are_refused_in_one_sentence() -> None:
    dyn = gd.NewtonEuler(small(), wrenches=POINTS["forces"])
    with pytest.raises(
        ArgumentError, match=r"got shape \(6, 2\); give \(3, 2\), a column f for each of body_1, body_0"
    ):
        dyn.under(np.zeros((6, 2)))
    with pytest.raises(ArgumentError, match=r"simulate: wrenches has shape \(6, 2\); give \(3, 2\) for a constant"):
        gd.simulate(dyn, np.zeros(4), 0.1, wrenches=np.zeros((6, 2)))
    mix = {"body_1": (pin.LOCAL, "3D"), "body_0": pin.LOCAL}
    with pytest.raises(
        ArgumentError, match=r"give \(9, 1\), one column, the rows of body_1 \(3\), body_0 \(6\) in turn"
    ):
        gd.NewtonEuler(small(), wrenches=mix).under(np.zeros((6, 2)))


# Errors.


FLANGE = load("panda7").getFrameId("flange")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"flansch": pin.LOCAL}, UnknownNameError, "no frame named 'flansch'; nearest: 'flange'"),
        ({99: pin.LOCAL}, ArgumentError, "panda7: frame 99: give an index from 0 to"),
        ({"flange": "LOCAL"}, ArgumentTypeError, "wrenches: frame 'flange': reference: expected pin.LOCAL, pin.WORLD"),
        ({"flange": (pin.LOCAL, "2D")}, ArgumentError, "wrenches: frame 'flange': got '2D'; give '3D' or '6D'"),
        ({"flange": ("3D", pin.LOCAL)}, ArgumentTypeError, "wrenches: frame 'flange': reference: expected pin.LOCAL, "),
        ({"flange": (pin.WORLD, "3D")}, ArgumentError, "a 3D force in pin.WORLD would act at the origin of the univer"),
        ({2.5: pin.LOCAL}, ArgumentTypeError, "frame: expected a name or an index"),
        (["flange"], ArgumentTypeError, "wrenches=\\['flange'\\]: give a mapping of frames to references"),
        ("flange", ArgumentTypeError, "wrenches='flange': give a mapping of frames to references"),
        ({"flange": pin.LOCAL, FLANGE: pin.WORLD}, ArgumentError, "frame 'flange' is given twice, by name and by ind"),
        ({"universe": pin.LOCAL}, ArgumentError, "wrenches: frame 'universe': no joint moves it, so that a wrench"),
        ({"link0": pin.WORLD}, ArgumentError, "wrenches: frame 'link0': no joint moves it, so that a wrench there do"),
    ],
)
def test_bad_wrenches(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gd.NewtonEuler(load("panda7"), wrenches=given)


def test_bad_constant_wrenches() -> None:
    with pytest.raises(ArgumentError, match=r"under: wrenches: got shape \(6, 3\); give \(6, 2\), a column \(f; m\)"):
        robot().under(np.zeros((6, 3)))
    with pytest.raises(ArgumentError, match="the robot takes no wrenches; give it wrenches="):
        gd.NewtonEuler(small()).under(np.zeros((6, 1)))


@pytest.mark.parametrize("reference", [pin.LOCAL, pin.LOCAL_WORLD_ALIGNED, pin.WORLD])
def test_joint_wrenches_are_the_forces_of_rnea(reference: pin.ReferenceFrame) -> None:
    model = build(np.random.default_rng(6), ["FreeFlyer", "RX", "PY", "Spherical", "RZ"], [0, 1, 2, 1, 4])
    model.armature = np.arange(1.0, model.nv + 1)  # no part of them
    data, given = model.createData(), {"body_2": reference, "body_4": reference}
    dyn = gd.NewtonEuler(model, wrenches=given)
    q, v, a, wrenches = samples(model, 1, 2)[0]
    pin.framesForwardKinematics(model, data, q)
    acting = [pin.Force.Zero() for _ in range(model.njoints)]
    for name, wrench in zip(given, wrenches.T, strict=True):
        frame = model.frames[model.getFrameId(name)]
        placed = data.oMf[model.getFrameId(name)]
        at = {pin.LOCAL: placed, pin.WORLD: pin.SE3.Identity()}.get(reference, pin.SE3(np.eye(3), placed.translation))
        acting[frame.parentJoint] += data.oMi[frame.parentJoint].actInv(at.act(pin.Force(wrench)))
    pin.rnea(model, data, q, v, a, acting)
    expected = np.array([force.vector for force in data.f])[1:].T
    assert relative_error(dyn.joint_wrenches(q, v, a, wrenches).full(), expected) < EXACT
    force, moment = gd.NewtonEuler(model).terms(q, v, a)
    unloaded = gd.NewtonEuler(model).joint_wrenches
    assert unloaded.name_in() == ["q", "v", "a"]
    assert np.array_equal(unloaded(q, v, a).full(), np.vstack([force.full(), moment.full()]))
