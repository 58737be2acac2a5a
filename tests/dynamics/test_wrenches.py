"""External wrenches as inputs: against Pinocchio's fext, against joint_torques, and bad input."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
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
from tests.dynamics.test_derivatives import DIFFERENCED, acceleration, call, jacobian
from tests.helpers.models import CONSTANT_SUBSPACE, JOINTS, MIMICABLE, QUICK_JOINTS, build, relative_error, states
from tests.helpers.paths import ROOT
from tests.helpers.sets import quick, with_extras
from tests.helpers.validated_arms import bending, planar, twisting
from tests.helpers.validated_arms import robot as spatial_robot

FORMULATIONS = sorted(gd.formulations())
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

REFERENCES = (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED, pin.WORLD)

Given = dict[str, pin.ReferenceFrame]
Vector = np.ndarray


def references(model: pin.Model) -> Given:
    """A wrench in each reference, each at another body, the last ones of the model."""
    bodies = [frame.name for frame in model.frames if frame.name.startswith("body_")]
    return dict(zip(bodies[::-1], (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED, pin.WORLD), strict=False))


def fext(model: pin.Model, q: Vector, given: Given, wrenches: Vector) -> pin.StdVec_Force:
    """The wrenches as Pinocchio takes them: on each joint, in the axes and about the origin of its frame."""
    data, forces = model.createData(), [pin.Force.Zero() for _ in range(model.njoints)]
    pin.framesForwardKinematics(model, data, q)
    for (name, reference), wrench in zip(given.items(), wrenches.T, strict=True):
        index = model.getFrameId(name)
        frame, placement, force = model.frames[index], data.oMf[index], pin.Force(wrench)
        if reference == pin.LOCAL_WORLD_ALIGNED:
            force = pin.SE3(placement.rotation, np.zeros(3)).actInv(force)
        elif reference == pin.WORLD:
            force = placement.actInv(force)
        forces[frame.parentJoint] += frame.placement.act(force)
    return pin.StdVec_Force(forces)


def rnea(model: pin.Model, q: Vector, v: Vector, a: Vector, given: Given, wrenches: Vector) -> Vector:
    return pin.rnea(model, model.createData(), q, v, a, fext(model, q, given, wrenches))


def samples(model: pin.Model, number: int, columns: int, seed: int = 0) -> list[tuple[Vector, ...]]:
    rng = np.random.default_rng(seed)
    return [(*state, 5 * rng.normal(size=(6, columns))) for state in states(model, rng, number)]


def check_dynamics(model: pin.Model, name: str, given: Given, number: int = 2) -> None:
    dyn = gd.formulations()[name](model, clean=0, wrenches=given)
    for q, v, a, wrenches in samples(model, number, len(given)):
        tau = rnea(model, q, v, a, given, wrenches)
        assert relative_error(dyn.inverse_dynamics(q, v, a, wrenches).full().ravel(), tau) < EXACT
        conditioned = max(EXACT, 1e-15 * np.linalg.cond(dyn.mass_matrix(q).full()))
        assert relative_error(dyn.forward_dynamics(q, v, tau, wrenches).full().ravel(), a) < conditioned
        xdot = dyn.state_derivative(np.concatenate([q, v]), tau, wrenches).full().ravel()
        assert relative_error(xdot[model.nq :], a) < conditioned
        if model.nvExtended == model.nv:  # pin.aba has no mimic joints
            theirs = pin.aba(model, model.createData(), q, v, tau, fext(model, q, given, wrenches))
            assert relative_error(dyn.forward_dynamics(q, v, tau, wrenches).full().ravel(), theirs) < conditioned


def check_derivatives(model: pin.Model, name: str, frames: Sequence[str], number: int = 1) -> None:
    """With wrenches in LOCAL, which Pinocchio holds constant in the axes of the joint."""
    given = dict.fromkeys(frames, pin.LOCAL)
    dyn, data = gd.formulations()[name](model, clean=0, wrenches=given), model.createData()
    for q, v, a, wrenches in samples(model, number, len(given)):
        forces = fext(model, q, given, wrenches)
        truth = [x.copy() for x in pin.computeRNEADerivatives(model, data, q, v, a, forces)[:2]]
        for ours, theirs in zip(call(dyn.inverse_dynamics_derivatives, q, v, a, wrenches), truth, strict=True):
            assert relative_error(ours, theirs) < EXACT
        tau = pin.rnea(model, data, q, v, a, forces).copy()
        truth = [x.copy() for x in pin.computeABADerivatives(model, data, q, v, tau, forces)]
        for ours, theirs in zip(call(dyn.forward_dynamics_derivatives, q, v, tau, wrenches), truth, strict=True):
            assert relative_error(ours, theirs) < EXACT


def check_derivatives_by_differences(model: pin.Model, name: str, given: Given) -> None:
    dyn, nv = gd.formulations()[name](model, clean=0, wrenches=given), model.nv
    q, v, a, wrenches = samples(model, 1, len(given))[0]
    dtau_dq, dtau_dv = call(dyn.inverse_dynamics_derivatives, q, v, a, wrenches)
    moved = jacobian(lambda d: rnea(model, pin.integrate(model, q, d), v, a, given, wrenches), nv)
    assert relative_error(dtau_dq, moved) < DIFFERENCED
    assert relative_error(dtau_dv, jacobian(lambda d: rnea(model, q, v + d, a, given, wrenches), nv)) < DIFFERENCED

    def accelerated(x: Vector, y: Vector) -> Vector:
        push = rnea(model, x, y, 0 * a, given, wrenches) - rnea(model, x, y, 0 * a, {}, np.zeros((6, 0)))
        return acceleration(model, x, y, tau - push)

    tau = rnea(model, q, v, a, given, wrenches)
    da_dq, da_dv, _ = call(dyn.forward_dynamics_derivatives, q, v, tau, wrenches)
    assert relative_error(da_dq, jacobian(lambda d: accelerated(pin.integrate(model, q, d), v), nv)) < DIFFERENCED
    assert relative_error(da_dv, jacobian(lambda d: accelerated(q, v + d), nv)) < DIFFERENCED

    lam = np.random.default_rng(1).normal(size=nv)
    first = dyn.inverse_dynamics_derivatives
    qq, qv, vv, aq = call(dyn.inverse_dynamics_hessian, q, v, a, lam, wrenches)
    by_q = jacobian(lambda d: lam @ call(first, pin.integrate(model, q, d), v, a, wrenches)[0], nv)
    assert relative_error(qq, (by_q + by_q.T) / 2) < DIFFERENCED
    bare = call(gd.formulations()[name](model, clean=0).inverse_dynamics_hessian, q, v, a, lam)
    for ours, theirs in zip((qv, vv, aq), bare[1:], strict=True):
        assert relative_error(ours, theirs) < EXACT


# Against Pinocchio.


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("joint", quick(JOINTS, *QUICK_JOINTS))
def test_each_joint_type(joint: str, name: str) -> None:
    model = build(np.random.default_rng(1), ["RX", joint, "RevoluteUnaligned", "PY"], [0, 1, 2, 1])
    check_dynamics(model, name, references(model))


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("joint", quick(MIMICABLE, "RUBZ"))
def test_each_mimicked_joint_type(joint: str, name: str) -> None:
    """With wrenches on the joint that mimics and on the one that is mimicked."""
    model = build(np.random.default_rng(3), ["RX", joint, "Spherical"], [0, 1, 2], mimic=2)
    model.addBodyFrame("body_of_mimic", model.njoints - 1, pin.SE3.Random(), 0)
    check_dynamics(model, name, references(model))


@pytest.mark.parametrize("joint", quick(CONSTANT_SUBSPACE, "HelicalUnaligned", "RUBX", "Spherical"))
def test_derivatives_of_each_joint_type(joint: str) -> None:
    model = build(np.random.default_rng(1), ["RX", joint, "RevoluteUnaligned", "PY"], [0, 1, 2, 1])
    check_derivatives(model, "newton_euler", [*references(model)])


@pytest.mark.parametrize("joint", quick(JOINTS, "Planar", "SphericalZYX"))
def test_derivatives_of_each_joint_type_against_differences(joint: str) -> None:
    """In all references: WORLD and LOCAL_WORLD_ALIGNED keep their direction, which Pinocchio's fext does not."""
    model = build(np.random.default_rng(2), ["RX", joint, "RUBY"], [0, 1, 2])
    check_derivatives_by_differences(model, "newton_euler", references(model))


@pytest.mark.parametrize("joint", quick(MIMICABLE, "RUBZ"))
def test_derivatives_of_each_mimicked_joint_type_against_differences(joint: str) -> None:
    model = build(np.random.default_rng(3), ["RX", joint, "Spherical"], [0, 1, 2], mimic=2)
    model.addBodyFrame("body_of_mimic", model.njoints - 1, pin.SE3.Random(), 0)
    check_derivatives_by_differences(model, "newton_euler", references(model))


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in FORMULATIONS if name != "newton_euler"])
def test_derivatives_of_the_other_formulations(name: str) -> None:
    model = build(np.random.default_rng(2), ["RX", "Planar", "RUBY"], [0, 1, 2])
    check_derivatives_by_differences(model, name, references(model))
    check_derivatives(model, name, [*references(model)])


@pytest.mark.parametrize("reference", quick(REFERENCES, pin.LOCAL_WORLD_ALIGNED))
def test_derivatives_of_a_branched_robot_that_flies(reference: pin.ReferenceFrame) -> None:
    """With several wrenches on each branch."""
    model = build(np.random.default_rng(7), ["FreeFlyer", "RX", "PZ", "RevoluteUnaligned"], [0, 1, 1, 2])
    frames = [f"body_{k}" for k in range(4)]
    model.addBodyFrame("body_again", 4, pin.SE3.Random(), 0)
    check_derivatives_by_differences(model, "newton_euler", dict.fromkeys([*frames, "body_again"], reference))


FEET = {
    "panda7": ["flange"],
    "ur5": ["tool0", "forearm_link"],
    "solo12": ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"],
    "talos": ["left_sole_link", "right_sole_link"],
}


@pytest.mark.long
@pytest.mark.parametrize("robot", ["panda7", *with_extras(["ur5", "solo12", "talos"])])
def test_robots(robot: str) -> None:
    model = load(robot)
    for reference in (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED):
        check_dynamics(model, "newton_euler", dict.fromkeys(FEET[robot], reference), number=1)
    check_dynamics(model, "lagrange_euler", dict.fromkeys(FEET[robot], pin.WORLD), number=1)


@pytest.mark.long
@pytest.mark.parametrize("robot", ["panda7", *with_extras(["ur5", "solo12", "talos"])])
def test_derivatives_of_robots(robot: str) -> None:
    check_derivatives(load(robot), "newton_euler", FEET[robot])


# The second way.


@pytest.mark.parametrize("reference", [pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED])
def test_inverse_dynamics_have_the_torques_of_the_environment(reference: pin.ReferenceFrame) -> None:
    model = load("panda7")
    dyn = gd.NewtonEuler(model, clean=0, wrenches={"flange": reference})
    bare = gd.NewtonEuler(model, clean=0)
    of_wrench = gd.joint_torques(model, "flange", reference, exerted_by="environment", clean=0)
    jacobian_of = gd.Kinematics(model, clean=0).frame_jacobian("flange", reference)
    q, w = ca.SX.sym("q", 7), ca.SX.sym("w", 6)
    stiffness = ca.Function("stiffness", [q, w], [-ca.jacobian(jacobian_of(q).T @ w, q)])
    for x, v, a, wrenches in samples(model, 2, 1):
        tau = bare.inverse_dynamics(x, v, a) + of_wrench(x, wrenches)
        assert relative_error(dyn.inverse_dynamics(x, v, a, wrenches), tau) < TIGHT
        by_q = dyn.inverse_dynamics_derivatives(x, v, a, wrenches)[0] - bare.inverse_dynamics_derivatives(x, v, a)[0]
        assert relative_error(by_q, stiffness(x, wrenches)) < TIGHT


# Sizes.


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


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("parameters", [["base"], {"inertia": True, "payload": ["body_2"], "gravity": True}], ids=str)
def test_wrenches_beside_parameters(parameters: Any, name: str) -> None:
    model = build(np.random.default_rng(6), ["RX", "RevoluteUnaligned", "RZ"], [0, 1, 2])
    given = references(model)
    dyn = gd.formulations()[name](model, clean=0, parameters=parameters, wrenches=given)
    for q, v, a, wrenches in samples(model, 1, len(given)):
        tau = rnea(model, q, v, a, given, wrenches)
        p = dyn.parameters.values
        assert relative_error(dyn.inverse_dynamics(q, v, a, wrenches, p).full().ravel(), tau) < EXACT
        assert relative_error(dyn.forward_dynamics(q, v, tau, wrenches, p).full().ravel(), a) < EXACT
        assert relative_error(dyn.at(p).forward_dynamics(q, v, tau, wrenches).full().ravel(), a) < EXACT


GIVEN = {"body_1": pin.LOCAL_WORLD_ALIGNED, "body_0": pin.LOCAL}


def small() -> pin.Model:
    return build(np.random.default_rng(4), ["RY", "PZ"], [0, 1])


def robot(**options: Any) -> gd.NewtonEuler:
    return gd.NewtonEuler(small(), wrenches=GIVEN, **options)


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
    by_index = gd.NewtonEuler(small(), wrenches={small().getFrameId("body_1"): pin.LOCAL})
    assert by_index.external_wrenches == dyn.external_wrenches


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_have_the_same_wrenches(copied: Any) -> None:
    dyn = robot(parameters=["gravity"])
    q, v, a, wrenches = samples(small(), 1, 2)[0]
    inputs = {"q": q, "v": v, "a": a, "wrenches": wrenches, "p": dyn.parameters.values}
    for one in (dyn, dyn.at(), dyn.under(wrenches), dyn.at({"gravity.z": -1.62}).under(wrenches)):
        again = copied(one)
        assert again.wrenches == one.wrenches
        given = {name: inputs[name] for name in one.inverse_dynamics.name_in()}
        assert again.inverse_dynamics.name_in() == [*given]
        tau = [x.inverse_dynamics(**given)["tau"].full() for x in (again, one)]
        assert np.array_equal(*tau)


def test_under_constant_wrenches_there_is_no_input() -> None:
    dyn, bare = robot(), gd.NewtonEuler(small())
    q, v, a, wrenches = samples(small(), 1, 2)[0]
    inputs = {"q": q, "v": v, "a": a, "tau": a, "lam": v, "x": np.concatenate([q, v]), "u": a}
    for name in LOADED:
        graph, fixed = getattr(dyn, name), getattr(dyn.under(wrenches), name)
        given = {key: inputs[key] for key in fixed.name_in()}
        for output in fixed.name_out():
            theirs = graph(**given, wrenches=wrenches)[output].full()
            assert relative_error(fixed(**given)[output].full(), theirs) < TIGHT
    assert relative_error(dyn.under().inverse_dynamics(q, v, a), bare.inverse_dynamics(q, v, a)) < TIGHT
    assert dyn.change_in_tau == bare.change_in_tau


def test_a_map_has_a_block_of_columns_for_each_state() -> None:
    dyn, chosen = robot(), samples(small(), 3, 2)
    q, v, a = (np.column_stack([x[k] for x in chosen]) for k in range(3))
    wrenches = np.hstack([x[3] for x in chosen])
    each = [dyn.inverse_dynamics(*x).full().ravel() for x in chosen]
    assert np.array_equal(dyn.inverse_dynamics(q, v, a, wrenches).full(), np.column_stack(each))


def test_wrenches_are_in_the_linearised_equations() -> None:
    """About a motion with constant wrenches: A has ∂a/∂q of the forward dynamics, which no wrench by itself has."""
    dyn = robot()
    q, v, u, wrenches = samples(small(), 1, 2)[0]
    for loaded, acting in ((dyn.under(wrenches), wrenches), (dyn, np.zeros((6, 2)))):
        da_dq, da_dv, inverse = call(dyn.forward_dynamics_derivatives, q, v, u, acting)
        a_matrix, b_matrix = loaded.linearize(q, v, u)
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


def test_identification_knows_no_wrenches() -> None:
    dyn = robot(parameters=["inertia"])
    with pytest.raises(UnsupportedError, match=r"fit: the wrenches at body_1, body_0 are an input; give dyn.under\("):
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


def several(**options: Any) -> gd.FlexibleArm:
    model = spatial_robot(("continuous", "base"), ("prismatic", "l0"), ("revolute", "l1"))
    return gd.FlexibleArm(model, {"l0": bending(bending_z=None), "l2": twisting()}, clean=0, **options)


def first_order(**options: Any) -> gd.FlexibleArm:
    return planar(exact=False, **options)


@pytest.mark.filterwarnings("ignore:link .* its body of")
@pytest.mark.parametrize(
    ("arm", "frames"),
    quick(
        [
            (planar, ("link1 tip", "tip")),
            (first_order, ("link1 tip", "tip")),
            (several, ("l0 tip", "tool")),
            (several, ("l2 tip", "l1")),
        ],
        (planar, ("link1 tip", "tip")),
    ),
)
@pytest.mark.parametrize("reference", [pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED])
def test_wrenches_on_flexible_links(
    arm: Callable[..., gd.FlexibleArm], frames: tuple[str, str], reference: pin.ReferenceFrame
) -> None:
    """At tips of links and on bodies that they carry, against the transposed Jacobian."""
    dyn, bare = arm(wrenches=dict.fromkeys(frames, reference)), arm()
    nq, nv = dyn.tree.nq, dyn.tree.nv
    rng = np.random.default_rng(5)
    q, (v, a) = 0.05 * rng.normal(size=nq), rng.normal(size=(2, nv))
    if nq > nv:
        q[:2] = np.cos(0.4), np.sin(0.4)
    wrenches = rng.normal(size=(6, 2))
    x, kin = ca.SX.sym("q", nq), gd.Kinematics(dyn.tree, clean=0)
    push = sum(kin.frame_jacobian(f, reference)(x).T @ ca.DM(w) for f, w in zip(frames, wrenches.T, strict=True))
    graph = ca.Function("push", [x], [push, ca.jacobian(push, x) @ dyn.tree.tangent_map(x)])
    of_wrenches, stiffness = call(graph, q)
    tau = dyn.inverse_dynamics(q, v, a, wrenches).full()
    assert relative_error(tau, bare.inverse_dynamics(q, v, a).full() - of_wrenches) < TIGHT
    assert relative_error(dyn.forward_dynamics(q, v, tau, wrenches).full().ravel(), a) < 1e-9  # cond(M) is about 1e5
    by_q = dyn.inverse_dynamics_derivatives(q, v, a, wrenches)[0] - bare.inverse_dynamics_derivatives(q, v, a)[0]
    assert relative_error(by_q, -stiffness) < EXACT
    again = pickle.loads(pickle.dumps(dyn))
    assert np.array_equal(again.inverse_dynamics(q, v, a, wrenches).full(), tau)


@pytest.mark.filterwarnings("ignore:link .* its body of")
def test_validity_of_an_arm_with_wrenches_knows_accelerations_that_are_given() -> None:
    dyn, bare = planar(wrenches={"link1 tip": pin.LOCAL}), planar()
    q, v = np.zeros((1, dyn.tree.nq)), np.ones((1, dyn.tree.nv))
    for given in ({"a": v}, {"u": np.ones((1, dyn.nu))}):
        assert dyn.validity(q, v, **given) == bare.validity(q, v, **given)


# Errors.


FLANGE = load("panda7").getFrameId("flange")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"flansch": pin.LOCAL}, UnknownNameError, "no frame named 'flansch'; nearest: 'flange'"),
        ({99: pin.LOCAL}, ArgumentError, "panda7: frame 99: give an index from 0 to"),
        ({"flange": "LOCAL"}, ArgumentTypeError, "wrenches: frame 'flange': reference: expected pin.LOCAL, pin.WORLD"),
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
