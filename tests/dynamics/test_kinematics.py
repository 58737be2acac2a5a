"""Kinematics: names and frames, integrate and difference, where Pinocchio is wrong, sizes and refusals."""

from __future__ import annotations

import itertools
import pickle

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, ArgumentTypeError, ModelError, UnknownNameError
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.spatial.instructions import count
from tests.helpers.models import (
    JOINTS,
    MIMICABLE,
    build,
    is_depth_first,
    placement,
    relative_error,
    states,
)
from tests.helpers.sets import quick

TIGHT = 1e-12
REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)


def with_frames(model: pin.Model, rng: np.random.Generator) -> pin.Model:
    """Frames of the types that the model does not have yet, on the universe, the first joint and the last one."""
    for joint in (1, model.njoints - 1):
        model.addJointFrame(joint)
    kinds = (pin.FrameType.OP_FRAME, pin.FrameType.FIXED_JOINT, pin.FrameType.SENSOR)
    for joint, kind in zip((0, 1, model.njoints - 1), kinds, strict=True):
        model.addFrame(pin.Frame(f"{kind.name}_{joint}", joint, 0, placement(rng), kind))
    return model


def chain(joint: str) -> pin.Model:
    rng = np.random.default_rng(3)
    return with_frames(build(rng, ["RX", joint, "RevoluteUnaligned"], [0, 1, 2]), rng)


def branched(seed: int) -> pin.Model:
    """Six random joints that hang on each other in an order that is not depth first, and one that mimics."""
    rng = np.random.default_rng(seed)
    names = ["FreeFlyer", *rng.choice(sorted(JOINTS), 4), *rng.choice(MIMICABLE, 1)]
    model = build(rng, names, [0, 1, 1, 2, 3, 2], mimic=6)
    assert not is_depth_first(model)
    return with_frames(model, rng)


@pytest.mark.parametrize("joint", ["SphericalZYX", "Universal", "Ellipsoid", "Composite"])
def test_pinocchio_has_no_rate_of_motion_subspaces(joint: str) -> None:
    """It fails when Pinocchio is fixed; then these joints belong to the tests above."""
    model = chain(joint)
    q, v, _ = states(model, np.random.default_rng(5), 1)[0]
    data, index = model.createData(), model.nframes - 1
    pin.computeJointJacobiansTimeVariation(model, data, q, v)
    pin.updateFramePlacements(model, data)
    wrong = pin.getFrameJacobianTimeVariation(model, data, index, pin.WORLD)
    assert np.abs(Kinematics(model).frame_jacobian_rate(index, pin.WORLD)(q, v).full() - wrong).max() > 0.1


def test_pinocchio_has_no_rate_of_jacobians_with_mimic() -> None:
    """It fails when Pinocchio is fixed."""
    model = branched(0)
    q, v, _ = states(model, np.random.default_rng(5), 1)[0]
    data, index = model.createData(), model.nframes - 1
    pin.computeJointJacobiansTimeVariation(model, data, q, v)
    pin.updateFramePlacements(model, data)
    wrong = pin.getFrameJacobianTimeVariation(model, data, index, pin.LOCAL)
    assert np.abs(Kinematics(model).frame_jacobian_rate(index, pin.LOCAL)(q, v).full() - wrong).max() > 0.1


@pytest.mark.parametrize("model", [chain("FreeFlyer"), branched(2), *quick([chain("Ellipsoid"), branched(0)])])
def test_placements_of_joints_and_of_several_frames(model: pin.Model) -> None:
    kin, data, last = Kinematics(model, clean=0).by_index(), model.createData(), model.nframes - 1
    q = states(model, np.random.default_rng(3), 1)[0][0]
    pin.framesForwardKinematics(model, data, q)
    for joint, name in enumerate(model.names):
        for given in (joint, str(name)):
            assert relative_error(kin.joint_placement(given)(q).full(), data.oMi[joint].homogeneous) < TIGHT
    frames = (last, 0, 2, last)
    for index, found in zip(frames, kin.frame_placements(frames)(q), strict=True):
        assert relative_error(found.full(), data.oMf[index].homogeneous) < TIGHT
    (alone,) = kin.frame_placements([last])(q)
    assert relative_error(alone.full(), data.oMf[last].homogeneous) < TIGHT
    (mapped,) = kin.frame_placements([last]).map(2)(np.column_stack([q, q]))
    assert relative_error(mapped.full(), np.hstack([alone.full()] * 2)) < TIGHT
    target = data.oMf[2]
    error = kin.frame_error(last)(q, target.homogeneous).full().ravel()
    # a logarithm near pi loses a digit in Pinocchio
    assert relative_error(error, pin.log6(data.oMf[last].actInv(target)).vector) < 1e-11
    assert np.abs(kin.frame_error(last)(q, data.oMf[last].homogeneous).full()).max() < 1e-14


REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)


@pytest.mark.parametrize("joint", quick(JOINTS, "RX", "Ellipsoid", "Composite"))
def test_kinematic_regressors_are_pinocchios(joint: str) -> None:
    model = chain(joint)
    kin, data, last, tip = (
        Kinematics(model, clean=0).by_index(),
        model.createData(),
        model.nframes - 1,
        model.njoints - 1,
    )
    q, at = states(model, np.random.default_rng(1), 1)[0][0], pin.exp6(np.linspace(0.1, 0.6, 6))
    pin.framesForwardKinematics(model, data, q)
    for reference in REFERENCES:
        for frame in (last, 1):
            wanted = pin.computeFrameKinematicRegressor(model, data, frame, reference)
            assert relative_error(kin.frame_kinematic_regressor(frame, reference)(q).full(), wanted) < TIGHT
        for given in ((), (at,)):
            wanted = pin.computeJointKinematicRegressor(model, data, tip, reference, *given)
            assert relative_error(kin.joint_kinematic_regressor(tip, reference, *given)(q).full(), wanted) < TIGHT
    by_name = kin.joint_kinematic_regressor(model.names[tip], pin.LOCAL, at.homogeneous)
    assert relative_error(by_name(q).full(), kin.joint_kinematic_regressor(tip, pin.LOCAL, at)(q).full()) == 0


@pytest.mark.parametrize("model", [chain("Composite"), branched(0), branched(2)])
def test_a_kinematic_regressor_is_how_placements_move_the_frame(model: pin.Model) -> None:
    """By differences; Pinocchio refuses models with mimic joints."""
    kin, last, data = Kinematics(model, clean=0), model.nframes - 1, model.createData()
    q = states(model, np.random.default_rng(1), 1)[0][0]
    pin.framesForwardKinematics(model, data, q)

    def placed(joint: int, twist: np.ndarray) -> np.ndarray:
        changed = model.copy()
        changed.jointPlacements[joint] = model.jointPlacements[joint] * pin.exp6(twist)
        moved = changed.createData()
        pin.framesForwardKinematics(changed, moved, q)
        return np.asarray(pin.log6(data.oMf[last].actInv(moved.oMf[last])).vector)

    h = 1e-4
    columns = [(placed(j, h * e) - placed(j, -h * e)) / (2 * h) for j in range(1, model.njoints) for e in np.eye(6)]
    found = kin.frame_kinematic_regressor(last, pin.LOCAL)(q).full()
    assert relative_error(found, np.column_stack(columns)) < 1e-9  # differences, with an error of h²
    if model.parents[-1] != model.njoints - 2:
        assert any(not np.any(block) for block in np.hsplit(found, model.njoints - 1))


def test_several_frames_share_what_they_have_in_common() -> None:
    model = gd.load_urdf("panda7", check="off")
    kin = Kinematics(model)
    both = kin.frame_placements(["flange", "joint6"]).n_instructions()
    assert both <= kin.frame_placement("flange").n_instructions() + 24 < 200


def test_inverse_kinematics_by_the_error_of_a_frame() -> None:
    kin, rng = Kinematics(gd.load_urdf("puma560", check="off")), np.random.default_rng(0)
    error, jacobian = kin.frame_error("tool"), kin.frame_jacobian("tool", pin.LOCAL)
    for _ in range(5):
        start = np.array([0.3, -0.8, 0.5, 0.4, 0.9, 0.2])
        target = kin.frame_placement("tool")(start + 0.3 * rng.normal(size=6))
        q = start
        for _ in range(12):  # Gauss–Newton
            q = q + np.linalg.solve(jacobian(q).full(), error(q, target).full().ravel())
        assert np.abs(error(q, target).full()).max() < 1e-12


def test_frames_on_the_universe_stand_still() -> None:
    model = chain("Spherical")
    kin, (q, v, a) = Kinematics(model), states(model, np.random.default_rng(0), 1)[0]
    at = model.frames[model.getFrameId("OP_FRAME_0")].placement
    assert relative_error(kin.frame_placement("OP_FRAME_0")(q).full(), at.homogeneous) < TIGHT
    assert np.array_equal(kin.frame_placement("universe")(q).full(), np.eye(4))
    for reference in REFERENCES:
        assert np.array_equal(kin.frame_jacobian("OP_FRAME_0", reference)(q).full(), np.zeros((6, model.nv)))
        assert np.array_equal(kin.frame_velocity("OP_FRAME_0", reference)(q, v).full(), np.zeros((6, 1)))
        assert np.array_equal(kin.frame_acceleration("OP_FRAME_0", reference)(q, v, a).full(), np.zeros((6, 1)))


def same_quaternions(kin: Kinematics, q: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """q with the quaternions of the same rotations that lie nearer to those of the reference."""
    q = q.copy()
    for joint in kin.tree.joints:
        if type(joint.type).__name__ in ("Spherical", "FreeFlyer"):
            own = slice(joint.idx_q + joint.type.nq - 4, joint.idx_q + joint.type.nq)
            q[own] *= np.sign(q[own] @ reference[own])
    return q


@pytest.mark.parametrize("model", [*map(chain, sorted(JOINTS)), branched(1)])
def test_integrate_and_difference_equal_pinocchio(model: pin.Model) -> None:
    kin, rng = Kinematics(model), np.random.default_rng(2)
    for q, v, _ in states(model, rng, 5):
        for scale in (0, 1e-3, 1, 10):
            reached = kin.integrate(q, scale * v).full().ravel()
            wanted = pin.integrate(model, q, scale * v)
            assert relative_error(same_quaternions(kin, reached, wanted), wanted) < TIGHT
        other = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        assert relative_error(kin.difference(q, other).full().ravel(), pin.difference(model, q, other)) < TIGHT
        # small steps against the truth: Pinocchio loses up to nine digits there
        for scale in (0, 1e-12, 1e-9, 1e-6, 1e-3):
            back = kin.difference(q, kin.integrate(q, scale * v)).full().ravel()
            assert np.abs(back - scale * v).max() < 1e-14


def test_quaternion_of_a_long_way_is_continuous_in_v() -> None:
    model = build(np.random.default_rng(0), ["FreeFlyer"], [0])
    q, turn = pin.neutral(model), np.array([0, 0, 0, 0, 0, 1.5 * np.pi])
    ours, pinocchio = Kinematics(model).integrate(q, turn).full().ravel(), pin.integrate(model, q, turn)
    assert relative_error(ours[3:], -pinocchio[3:]) < TIGHT
    # and both are the same way from q
    difference = Kinematics(model).difference
    assert relative_error(difference(q, ours).full(), difference(q, pinocchio).full()) < TIGHT


@pytest.mark.parametrize("joint", ["RUBY", "Planar", "Spherical", "FreeFlyer", "Composite"])
def test_derivatives_of_integrate_and_difference_at_and_near_zero(joint: str) -> None:
    model = build(np.random.default_rng(6), [joint], [0])
    kin = Kinematics(model)
    q, v = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)

    def derivative(expression: ca.SX, x: ca.SX) -> ca.SX:
        return ca.jacobian(ca.vec(expression), x)

    reached = kin.integrate(q, v)
    tower = [reached, derivative(reached, v), derivative(derivative(reached, v), v)]
    graphs = [ca.Function("tower", [q, v], [ca.vec(level)]) for level in tower]
    there_and_back = derivative(kin.difference(q, reached), v)
    identity = ca.Function("identity", [q, v], [there_and_back])
    zero = ca.Function("zero", [q, v], [derivative(there_and_back, v)])
    q0, direction = (states(model, np.random.default_rng(7), 1)[0])[:2]
    for scale in (0, 1e-160, 1e-12, 1e-8, 1e-5, 1e-2, 0.3, 1):
        at = scale * direction
        assert relative_error(identity(q0, at).full(), np.eye(model.nv)) < 1e-14
        assert relative_error(zero(q0, at).full(), np.zeros((model.nv**2, model.nv))) < 1e-13
        for lower, upper in itertools.pairwise(graphs):
            h = 1e-3
            ahead = [[lower(q0, at + k * h * unit).full().ravel() for k in (-2, -1, 1, 2)] for unit in np.eye(model.nv)]
            # central differences of fourth order: error ~ h⁴/30
            fd = np.array([(x[0] - 8 * x[1] + 8 * x[2] - x[3]) / (12 * h) for x in ahead]).T.ravel(order="F")
            assert relative_error(upper(q0, at).full().ravel(), fd) < 1e-11


def test_derivative_of_difference_where_both_are_equal() -> None:
    model = build(np.random.default_rng(6), ["FreeFlyer", "Planar", "RUBX"], [0, 1, 2])
    kin = Kinematics(model)
    q0, q1, v = ca.SX.sym("q0", model.nq), ca.SX.sym("q1", model.nq), ca.SX.sym("v", model.nv)
    along = ca.jtimes(kin.difference(q0, q1), q1, kin.tree.configuration_rate(q1, v))
    rate = ca.Function("rate", [q0, q1, v], [along])
    for q, v_0, _ in states(model, np.random.default_rng(8), 3):
        assert relative_error(rate(q, q, v_0).full().ravel(), v_0) < 1e-14
        opposite = q.copy()
        opposite[3:7] *= -1  # the same rotation
        assert np.abs(kin.difference(q, opposite).full()).max() < 1e-14
        assert relative_error(rate(q, opposite, v_0).full().ravel(), v_0) < 1e-14


def test_functions_are_named() -> None:
    kin, r = Kinematics(chain("Planar")), pin.LOCAL
    signatures = {
        "frame_placement": (kin.frame_placement("body_1"), "q", "T"),
        "frame_jacobian": (kin.frame_jacobian("body_1", r), "q", "J"),
        "frame_velocity": (kin.frame_velocity("body_1", r), "q v", "twist"),
        "frame_acceleration": (kin.frame_acceleration("body_1", r), "q v a", "acceleration"),
        "frame_classical_acceleration": (kin.frame_classical_acceleration("body_1", r), "q v a", "acceleration"),
        "frame_bias_acceleration": (kin.frame_bias_acceleration("body_1", r), "q v", "bias"),
        "frame_placements": (kin.frame_placements(["body_1", 0]), "q", "T_0 T_1"),
        "joint_placement": (kin.joint_placement(1), "q", "T"),
        "frame_error": (kin.frame_error("body_1"), "q T", "error"),
        "frame_jacobian_rate": (kin.frame_jacobian_rate("body_1", r), "q v", "dJ"),
        "frame_velocity_derivatives": (kin.frame_velocity_derivatives("body_1", r), "q v", "dtwist_dq dtwist_dv"),
        "frame_acceleration_derivatives": (
            kin.frame_acceleration_derivatives("body_1", r),
            "q v a",
            "dacceleration_dq dacceleration_dv dacceleration_da",
        ),
        "center_of_mass": (kin.center_of_mass, "q", "com"),
        "integrate": (kin.integrate, "q v", "q_next"),
        "difference": (kin.difference, "q0 q1", "v"),
    }
    for name, (graph, inputs, outputs) in signatures.items():
        assert (graph.name(), " ".join(graph.name_in()), " ".join(graph.name_out())) == (name, inputs, outputs)
        assert all(graph.sparsity_out(k).is_dense() for k in range(graph.n_out()))


def test_functions_are_kept() -> None:
    model = chain("PX")
    kin, index = Kinematics(model).by_index(), model.getFrameId("body_2")
    for frame in (index, np.int64(index), np.array(index)):
        assert kin.frame_placement(frame) is kin.frame_placement("body_2")
        assert kin.frame_velocity(frame, pin.WORLD) is kin.frame_velocity("body_2", pin.WORLD)
    assert kin.frame_velocity(index, pin.WORLD) is not kin.frame_velocity(index, pin.LOCAL)
    assert kin.integrate is kin.integrate


def test_accepts_a_tree_pickles_and_shows_itself() -> None:
    model = gd.load_urdf("panda7", check="off")
    kin = Kinematics(model, clean=0)
    (q, _, _), r = states(model, np.random.default_rng(0), 1)[0], pin.LOCAL
    kin.frame_jacobian("flange", r)
    for other in (pickle.loads(pickle.dumps(kin)), Kinematics(read_tree(model), clean=0)):
        assert (other.tree, other.changes) == (kin.tree, ())
        assert np.array_equal(other.frame_jacobian("flange", r)(q).full(), kin.frame_jacobian("flange", r)(q).full())
    assert repr(kin) == f"Kinematics({model.name!r}, nq=7, nv=7, {model.nframes} frames)"
    assert pickle.loads(pickle.dumps(Kinematics(model))).changes == Kinematics(model).changes != ()


def test_graphs_hold_the_joints_on_the_path_only() -> None:
    """The counts of the 7-axis arm's flange, so that nobody makes them larger unawares."""
    model = gd.load_urdf("panda7", check="off")
    kin = Kinematics(model)
    names = ("jacobian", "velocity", "acceleration", "classical_acceleration", "jacobian_rate", "velocity_derivatives")
    limits = {
        pin.LOCAL: (228, 130, 262, 280, 430, 490),
        pin.WORLD: (237, 123, 237, 271, 440, 500),
        pin.LOCAL_WORLD_ALIGNED: (262, 158, 288, 296, 490, 560),
    }
    for reference, largest in limits.items():
        for name, limit in zip(names, largest, strict=True):
            assert count(getattr(kin, f"frame_{name}")("flange", reference))["instructions"] <= limit
    velocity = kin.frame_velocity(model.frames[model.getFrameId("joint2")].name, pin.LOCAL)
    assert not any(
        velocity.jac_sparsity(0, k).get_col() and velocity.jac_sparsity(0, k).get_col()[-1] > 1 for k in (0, 1)
    )


def test_an_index_that_is_a_joints_too_is_refused() -> None:
    """That of getJointId; unless it is the frame of that joint, or others have the name of the frame, too."""
    model = gd.load_urdf("panda7")
    kin, dyn, ends = Kinematics(model), gd.NewtonEuler(model), (np.zeros(3), np.zeros(3))
    for index, other in (
        (7, "joint 'joint7' has that index in model.joints"),
        (model.getJointId("joint8"), "model.getJointId gives this number for an unknown name"),
    ):
        frame = model.frames[index].name
        for ask, is_of_kinematics in (
            (lambda k: kin.frame_jacobian(k, pin.LOCAL), True),
            (kin.frame_placement, True),
            (lambda k: gd.joint_torques(model, k, pin.LOCAL), False),
            (lambda k: gd.NewtonEuler(model, wrenches={k: pin.LOCAL}), False),
            (lambda k: gd.ConstrainedDynamics(dyn, [gd.Contact(k)]), False),
            (lambda k: gd.ConstrainedDynamics(dyn, [gd.Loop("link2", k)]), False),
            (lambda k: gd.Tendon([*zip(("universe", k), ends, strict=True)]).length(model), False),
        ):
            with pytest.raises(ArgumentError) as refused:
                ask(index)
            assert str(refused.value) == (
                f"panda7: frame {index}: it is {frame!r} in model.frames, but {other}; give the frame by its name"
                f"{', or take Kinematics(model).by_index()' if is_of_kinematics else ''}"
            )
        by_index = Kinematics(model).by_index()
        assert by_index.frame_placement(index) is by_index.frame_placement(frame)
    assert kin.frame_placement(0) is kin.frame_placement("universe")
    assert kin.frame_placement(model.nframes - 1) is kin.frame_placement(model.frames[model.nframes - 1].name)
    floating = gd.load_urdf("panda7", root_joint=pin.JointModelFreeFlyer())
    assert Kinematics(floating).frame_placement(floating.getJointId("root_joint")).size_out(0) == (4, 4)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(UnknownNameError) as raised:
        Kinematics(chain("PX")).frame_placement("bodi_1")
    assert str(raised.value) == "no frame named 'bodi_1'; nearest: 'body_1', 'body_2', 'body_0'"
    assert raised.value.kind == "frame"


def test_a_name_that_several_frames_have() -> None:
    model = build(np.random.default_rng(0), ["RX", "RY"], [0, 1])
    for joint in (0, 2):
        kind = pin.FrameType.SENSOR if joint else pin.FrameType.OP_FRAME
        model.addFrame(pin.Frame("tool", joint, 0, pin.SE3.Random(), kind))
    kin, first = Kinematics(model), model.nframes - 2
    with pytest.raises(ArgumentError) as raised:
        kin.frame_jacobian("tool", pin.LOCAL)
    assert str(raised.value) == (
        f"random: frame 'tool': 2 frames have this name: {first} (on the universe), {first + 1} (on joint 'RY_1'); "
        "pass the index"
    )
    assert kin.frame_jacobian(first + 1, pin.LOCAL).size_out(0) == (6, 2)


@pytest.mark.parametrize("index", [-1, 9, 10**20])
def test_an_index_out_of_range(index: int) -> None:
    model = build(np.random.default_rng(0), ["RX", "RY"], [0, 1])
    last = model.nframes - 1
    with pytest.raises(ArgumentError) as raised:
        Kinematics(model).frame_velocity(index, pin.LOCAL)
    assert str(raised.value) == f"random: frame {index}: give an index from 0 to {last}"


def test_the_index_that_pinocchio_gives_for_an_unknown_name() -> None:
    model = build(np.random.default_rng(0), ["RX", "RY"], [0, 1])
    unknown = model.getFrameId("nobody")
    with pytest.raises(ArgumentError) as raised:
        Kinematics(model).frame_placement(unknown)
    assert str(raised.value) == (
        f"random: frame {unknown}: give an index from 0 to {unknown - 1}; "
        "model.getFrameId gives this number for an unknown name"
    )


def test_joints_that_are_not_there() -> None:
    kin = Kinematics(build(np.random.default_rng(0), ["RX", "RY"], [0, 1]))
    with pytest.raises(UnknownNameError) as raised:
        kin.joint_placement("RX_1")
    assert str(raised.value) == "no joint named 'RX_1'; nearest: 'RY_1', 'RX_0'"
    with pytest.raises(ArgumentError) as refused:
        kin.joint_placement(3)
    assert str(refused.value) == (
        "random: joint 3: give an index from 0 to 2; model.getJointId gives this number for an unknown name"
    )
    with pytest.raises(ArgumentTypeError, match=r"^joint: expected a name or an index in model\.joints, got float$"):
        kin.joint_placement(1.0)
    with pytest.raises(ArgumentError, match=r"^random: frame_placements: got no frames; give at least one$"):
        kin.frame_placements([])
    for given in ("tool", 1, None):
        with pytest.raises(ArgumentTypeError, match=r"^frame_placements: got .*; give a list of frames, by name or"):
            kin.frame_placements(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("frame", [None, 1.0, True, b"tool", [1], np.array([1]), pin.Frame(), pin.LOCAL])
def test_a_frame_that_is_neither_name_nor_index(frame: object) -> None:
    with pytest.raises(ArgumentTypeError) as raised:
        Kinematics(chain("PX")).frame_placement(frame)
    assert str(raised.value) == (f"frame: expected a name or an index in model.frames, got {type(frame).__name__}")


@pytest.mark.parametrize("reference", [None, "LOCAL", 1, pin.FrameType.BODY])
@pytest.mark.parametrize(
    "method",
    [
        "jacobian",
        "velocity",
        "acceleration",
        "classical_acceleration",
        "bias_acceleration",
        "jacobian_rate",
        "velocity_derivatives",
        "acceleration_derivatives",
    ],
)
def test_a_reference_that_is_none(method: str, reference: object) -> None:
    with pytest.raises(ArgumentTypeError) as raised:
        getattr(Kinematics(chain("PX")), f"frame_{method}")("body_1", reference)
    assert str(raised.value) == (
        f"reference: expected pin.LOCAL, pin.WORLD or pin.LOCAL_WORLD_ALIGNED, got {reference!r}"
    )


def test_no_model_and_no_mass() -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected a pin\.Model, got a pin\.Data"):
        Kinematics(chain("PX").createData())
    with pytest.raises(ArgumentError, match=r"clean=1: give a tolerance from 0"):
        Kinematics(chain("PX"), clean=1)
    model = pin.Model()
    model.name = "shaft"
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "joint")
    model.armature = np.ones(1)
    with pytest.raises(ModelError) as raised:
        _ = Kinematics(model).center_of_mass
    assert str(raised.value) == "shaft: its links have no mass; there is no centre of mass"
