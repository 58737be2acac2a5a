"""Statics: signs and frames against Pinocchio, the source's example and its misprints, and bad input."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.dynamics.wrenches import joint_torques, payload_torques, transform_twist, transform_wrench
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
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

TIGHT = 1e-12
REFERENCES = (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED)


def robot(joint: str) -> pin.Model:
    rng = np.random.default_rng(3)
    model = build(rng, ["RX", joint, "RevoluteUnaligned"], [0, 1, 2])
    model.addFrame(pin.Frame("tool", 3, 0, placement(rng), pin.FrameType.OP_FRAME))
    return model


def branched(seed: int) -> pin.Model:
    """Six random joints that hang on each other in an order that is not depth first, and one that mimics."""
    rng = np.random.default_rng(seed)
    names = ["FreeFlyer", *rng.choice(sorted(JOINTS), 4), *rng.choice(MIMICABLE, 1)]
    model = build(rng, names, [0, 1, 1, 2, 3, 2], mimic=6)
    assert not is_depth_first(model)
    model.addFrame(pin.Frame("tool", model.njoints - 1, 0, placement(rng), pin.FrameType.OP_FRAME))
    model.addFrame(pin.Frame("ground", 0, 0, placement(rng), pin.FrameType.OP_FRAME))
    return model


def vector(value: ca.DM) -> np.ndarray:
    return value.full().ravel()


# Joint torques.


def test_several_wrenches_add() -> None:
    model = branched(1)
    frames = ["tool", model.frames[3].name, "ground"]
    references = dict(zip(frames, REFERENCES, strict=True))
    rng = np.random.default_rng(3)
    for q, _, _ in states(model, rng, 2):
        wrenches = rng.normal(size=(6, 3))
        for sides in ("robot", "environment"):
            by_frame = joint_torques(model, references, exerted_by=sides)(q=q, wrenches=wrenches)["tau"]
            alone = [joint_torques(model, *item, exerted_by=sides) for item in references.items()]
            assert relative_error(by_frame, sum(f(q, w) for f, w in zip(alone, wrenches.T, strict=True))) < TIGHT
        listed = joint_torques(model, frames, pin.WORLD)(q, wrenches)
        alone = [joint_torques(model, frame, pin.WORLD) for frame in frames]
        assert relative_error(listed, sum(f(q, w) for f, w in zip(alone, wrenches.T, strict=True))) < TIGHT


def test_one_frame_of_a_list_takes_a_column() -> None:
    torques = joint_torques(two_link_arm(), ["tool"], pin.LOCAL)
    assert torques.name_in() == ["q", "wrenches"]
    assert vector(torques([0, 0], [0, 1, 0, 0, 0, 0])).tolist() == [2, 1]


def test_a_wrench_on_the_ground_needs_no_torque() -> None:
    model = branched(0)
    for reference in REFERENCES:
        tau = joint_torques(model, "ground", reference)(pin.neutral(model), np.ones(6))
        assert np.array_equal(tau.full(), np.zeros((model.nv, 1)))


def two_link_arm() -> pin.Model:
    """Two revolute joints about z, links of 1 m along x, a tool at the end."""
    model = pin.Model()
    model.name = "arm"
    reach = pin.SE3(np.eye(3), np.array([1.0, 0, 0]))
    for k, at in enumerate((pin.SE3.Identity(), reach)):
        joint = model.addJoint(k, pin.JointModelRZ(), at, f"joint{k + 1}")
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    model.addFrame(pin.Frame("tool", 2, 0, reach, pin.FrameType.OP_FRAME))
    return model


def test_singular_configuration() -> None:
    """Stretched out, the arm bears a force along itself without torque, and cannot move that way; bent, it must act."""
    model = two_link_arm()
    torques = joint_torques(model, "tool", pin.LOCAL_WORLD_ALIGNED)
    along = np.array([np.cos(0.3), np.sin(0.3), 0, 0, 0, 0])
    stretched, bent = np.array([0.3, 0]), np.array([0.3, 0.5])
    assert np.abs(torques(stretched, along).full()).max() < 1e-15
    assert np.abs(torques(bent, along).full()).max() > 0.4
    j = Kinematics(model).frame_jacobian("tool", pin.LOCAL_WORLD_ALIGNED)(stretched).full()
    assert np.abs(along @ j).max() < 1e-15
    assert np.linalg.matrix_rank(j[:2]) == 1
    # out of the plane nothing needs torque, anywhere
    for wrench in np.eye(6)[2:5]:
        assert np.abs(torques(bent, wrench).full()).max() == 0


def test_by_hand() -> None:
    """1 N sideways at the tool of the arm, stretched out along x: 2 N m and 1 N m."""
    tau = joint_torques(two_link_arm(), "tool", pin.LOCAL)([0, 0], [0, 1, 0, 0, 0, 0])
    assert vector(tau).tolist() == [2, 1]


def test_joint_torques_are_a_named_graph() -> None:
    model = gd.load_urdf("panda7", check="off")
    limits = {pin.LOCAL: 128, pin.WORLD: 126, pin.LOCAL_WORLD_ALIGNED: 159}
    for reference, limit in limits.items():
        for side in ("robot", "environment"):
            graph = joint_torques(model, "flange", reference, exerted_by=side)
            assert (graph.name(), graph.name_in(), graph.name_out()) == ("joint_torques", ["q", "wrench"], ["tau"])
            assert count(graph)["instructions"] <= limit
    held = payload_torques(model, "flange", 2.0)
    assert (held.name(), held.name_in(), held.name_out()) == ("payload_torques", ["q"], ["tau"])
    assert count(held)["instructions"] <= 90
    q, wrench = ca.MX.sym("q", 7), ca.MX.sym("wrench", 6)
    assert joint_torques(model, "flange", pin.LOCAL)(q, wrench).shape == (7, 1)


# Payload.


def test_payload_at_the_origin_of_the_frame_and_without_mass() -> None:
    model = robot("RY")
    q = pin.neutral(model)
    force = np.concatenate([-2 * model.gravity.linear, np.zeros(3)])
    wanted = joint_torques(model, "tool", pin.LOCAL_WORLD_ALIGNED)(q, force)
    assert relative_error(vector(payload_torques(model, "tool", 2)(q)), vector(wanted)) < TIGHT
    assert np.array_equal(payload_torques(model, "tool", 0, [[1], [2], [3]])(q).full(), np.zeros((3, 1)))


# Transformation of wrenches and twists.


def random_transforms() -> list[pin.SE3]:
    rng = np.random.default_rng(9)
    return [pin.SE3.Identity(), *(placement(rng) for _ in range(5))]


def test_transforms_are_pinocchios() -> None:
    rng = np.random.default_rng(10)
    for at in random_transforms():
        wrench, twist = pin.Force(rng.normal(size=6)), pin.Motion(rng.normal(size=6))
        for transform, x in ((transform_wrench, wrench), (transform_twist, twist)):
            seen = transform(x, at)
            assert isinstance(seen, np.ndarray)
            assert seen.shape == (6,)
            assert relative_error(seen, at.actInv(x).vector) < TIGHT
            # every way to give the same numbers
            for same in (x.vector, x.vector.tolist(), x.vector[:, None], ca.DM(x.vector)):
                for t in (at.homogeneous, at.homogeneous.tolist(), ca.DM(at.homogeneous)):
                    assert np.array_equal(transform(same, t), seen)
            assert relative_error(transform(seen, at.inverse()), x.vector) < TIGHT


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
@pytest.mark.parametrize("transform", [transform_wrench, transform_twist])
def test_transforms_of_symbols(transform: Any, kind: Any) -> None:
    at = random_transforms()[1]
    x, t, numbers = kind.sym("x", 6), kind.sym("t", 4, 4), np.arange(1.0, 7.0)
    for given, placed in ((x, at), (x, t), (numbers, t), (x, ca.DM(at.homogeneous))):
        seen = transform(given, placed)
        assert type(seen) is kind
        assert seen.shape == (6, 1)
        assert seen.sparsity().is_dense()
        value = ca.Function("value", [x, t], [seen])(numbers, at.homogeneous)
        assert relative_error(vector(value), transform(numbers, at)) < TIGHT


def test_example_4_9() -> None:
    """The source's numbers (lb, in), and its formulas for what it leaves to the reader."""
    f, m = np.array([0, 10, 0]), np.array([0, 0, 20])
    n, o, a, p = np.array([0, 0, 1]), np.array([1, 0, 0]), np.array([0, 1, 0]), np.array([3, 5, 8])
    t = np.vstack([np.column_stack([n, o, a, p]), [0, 0, 0, 1]])
    moment = np.cross(f, p) + m
    assert np.cross(f, p).tolist() == [80, 0, -30]
    assert moment.tolist() == [80, 0, -10]
    wanted = [n @ f, o @ f, a @ f, n @ moment, o @ moment, a @ moment]
    assert wanted == [0, 0, 10, -10, 80, 0]
    assert transform_wrench([*f, *m], t).tolist() == wanted


def test_invariants_and_virtual_work() -> None:
    """f·f, f·m and the work do not change; the printed δW = tau_Bᵀ D_B and Fᵀ = F_B J_B of 4.6 are misprints."""
    rng = np.random.default_rng(11)
    for at in random_transforms()[1:]:
        wrench, displacement = rng.normal(size=6), rng.normal(size=6)
        seen, moved = transform_wrench(wrench, at), transform_twist(displacement, at)
        assert seen[:3] @ seen[:3] == pytest.approx(wrench[:3] @ wrench[:3], rel=TIGHT)
        assert seen[:3] @ seen[3:] == pytest.approx(wrench[:3] @ wrench[3:], rel=1e-10)
        # δW = Fᵀ D = F_Bᵀ D_B: a B wrench goes with a B displacement, nothing else
        work = wrench @ displacement
        assert seen @ moved == pytest.approx(work, rel=1e-10)
        assert abs(seen @ displacement - work) > 1e-3
        assert abs(wrench @ moved - work) > 1e-3
        # Fᵀ = F_Bᵀ J_B with D_B = J_B D, so that F_B = J_B⁻ᵀ F; not Fᵀ = J_B F_B
        j = np.column_stack([transform_twist(column, at) for column in np.eye(6)])
        r, p = at.rotation, at.translation
        assert relative_error(j, np.block([[r.T, -r.T @ pin.skew(p)], [np.zeros((3, 3)), r.T]])) < TIGHT
        assert relative_error(seen @ j, wrench) < TIGHT
        assert relative_error(np.linalg.solve(j.T, wrench), seen) < TIGHT
        assert relative_error(j @ seen, wrench) > 1e-3


def test_erratum_of_the_hand_jacobian() -> None:
    """4.5 writes the Jacobian of frame 6 for that of the hand: they agree only where the frames do."""
    model = robot("RY")
    rng, kin = np.random.default_rng(12), Kinematics(model)
    q = states(model, rng, 1)[0][0]
    model.addJointFrame(3)
    tool, last = (
        Kinematics(model).frame_jacobian(name, pin.LOCAL)(q).full() for name in ("tool", "RevoluteUnaligned_2")
    )
    assert relative_error(tool, last) > 1e-3
    at = kin.tree.frames[-1]
    placed = pin.SE3(at.rotation, at.translation)
    assert relative_error(np.column_stack([transform_twist(c, placed) for c in last.T]), tool) < TIGHT


# Bad input.

T = np.eye(4)
SKEWED, LEFT, TURNED, LONG, HOLE = (np.eye(4) for _ in range(5))
SKEWED[0, 1] = 0.5
LEFT[2, 2] = -1
TURNED[3] = (0, 0, 0, 2)
LONG[:3, :3] *= 2
HOLE[1, 3] = np.inf
X = np.zeros(6)
SIX = "a wrench has six, (f_x, f_y, f_z, m_x, m_y, m_z)"
NUMBERS = "numbers, or one SX or MX (casadi.vertcat)"
SX6, MX6 = ca.SX.sym("x", 6), ca.MX.sym("x", 6)


@pytest.mark.parametrize(
    ("wrench", "t", "message"),
    [
        ([1, 2, 3, 4, 5], T, f"wrench: got 5 numbers; {SIX}"),
        (np.zeros((1, 6)), T, f"wrench: got numbers of shape (1, 6); {SIX}"),
        (3.0, T, f"wrench: got numbers of shape (); {SIX}"),
        ([[1, 2], [3]], T, "wrench: the rows are of unequal lengths"),
        ([0, 0, 0, 0, np.nan, 0], T, "wrench: m_y is nan; give finite numbers"),
        (pin.Force(np.array([0, np.inf, 0, 0, 0, 0])), T, "wrench: f_y is inf; give finite numbers"),
        (ca.DM([0, 0, 0, 0, 0, -np.inf]), T, "wrench: m_z is -inf; give finite numbers"),
        (SX6[:5], T, "wrench: got a matrix of 5 × 1; give 6 × 1"),
        (MX6.T, T, "wrench: got a matrix of 1 × 6; give 6 × 1"),
        (X, np.eye(3), "T: got numbers of shape (3, 3); give 4 × 4, [n o a p; 0 0 0 1]"),
        (X, ca.SX.sym("t", 3, 4), "T: got a matrix of 3 × 4; give 4 × 4, [n o a p; 0 0 0 1]"),
        (X, [[1, 0], [0]], "T: the rows are of unequal lengths"),
        (X, HOLE, "T: entry [1, 3] is inf; give finite numbers"),
        (X, TURNED, "T: its last row is [0.0, 0.0, 0.0, 2.0], not [0, 0, 0, 1]; give [n o a p; 0 0 0 1]"),
        (
            X,
            SKEWED,
            "T: its columns n, o, a are not orthonormal: n·o is 0.5, not 0; give the axes of the frame as unit vectors",
        ),
        (
            SX6,
            LONG,
            "T: its columns n, o, a are not orthonormal: n·n is 4, not 1; give the axes of the frame as unit vectors",
        ),
        (
            X,
            pin.SE3(2 * np.eye(3), np.zeros(3)),
            "T: its columns n, o, a are not orthonormal: n·n is 4, not 1; give the axes of the frame as unit vectors",
        ),
        (X, LEFT, "T: its columns n, o, a are left-handed: n × o is −a; change the sign of one of them"),
    ],
)
def test_transforms_refuse_values(wrench: Any, t: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        transform_wrench(wrench, t)
    assert str(raised.value) == message
    if not message.startswith("wrench"):
        with pytest.raises(ArgumentError) as raised:
            transform_twist(wrench, t)
        assert str(raised.value) == message


@pytest.mark.parametrize(
    ("wrench", "t", "message"),
    [
        (pin.Motion.Zero(), T, "wrench: got a pin.Motion; transform_twist is for those"),
        ("abcdef", T, f"wrench: expected {NUMBERS}, got 'abcdef'"),
        (["1"] * 6, T, f"wrench: expected {NUMBERS}, got ['1', '1', '1', '1', '1', '1']"),
        (None, T, f"wrench: expected {NUMBERS}, got None"),
        ([True] * 6, T, f"wrench: expected {NUMBERS}, got [True, True, True, True, True, True]"),
        (X, None, f"T: expected {NUMBERS}, got None"),
        (SX6, ca.MX.sym("t", 4, 4), "wrench is SX and T is MX, which CasADi cannot mix; give both as one kind"),
        (MX6, ca.SX.eye(4), "wrench is MX and T is SX, which CasADi cannot mix; give both as one kind"),
    ],
)
def test_transforms_refuse_types(wrench: Any, t: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError) as raised:
        transform_wrench(wrench, t)
    assert str(raised.value) == message


def test_twists_speak_of_twists() -> None:
    with pytest.raises(ArgumentTypeError) as raised:
        transform_twist(pin.Force.Zero(), T)
    assert str(raised.value) == "twist: got a pin.Force; transform_wrench is for those"
    with pytest.raises(ArgumentError) as refused:
        transform_twist([0, 0, 0, 0, 0, np.nan], T)
    assert str(refused.value) == "twist: w_z is nan; give finite numbers"
    with pytest.raises(ArgumentError) as refused:
        transform_twist(np.zeros(7), T)
    assert str(refused.value) == "twist: got 7 numbers; a twist has six, (v_x, v_y, v_z, w_x, w_y, w_z)"


def test_a_list_of_symbols() -> None:
    x = ca.SX.sym("x")
    with pytest.raises(ArgumentTypeError) as raised:
        transform_wrench([x, 0, 0, 0, 0, 0], T)
    assert str(raised.value) == f"wrench: expected {NUMBERS}, got [SX(x), 0, 0, 0, 0, 0]"
    assert transform_wrench(ca.vertcat(x, 0, 0, 0, 0, 0), T).shape == (6, 1)


def test_numbers_within_rounding_are_a_rotation() -> None:
    rng = np.random.default_rng(13)
    at, wrench = placement(rng), rng.normal(size=6)
    rounded = at.homogeneous.round(8)
    assert relative_error(transform_wrench(wrench, rounded), at.actInv(pin.Force(wrench)).vector) < 1e-7


@pytest.mark.parametrize("side", ["hand", "Robot", None, 1, np.array([])])
def test_exerted_by_somebody_else(side: Any) -> None:
    with pytest.raises(ArgumentError) as raised:
        joint_torques(two_link_arm(), "tool", pin.LOCAL, exerted_by=side)
    assert str(raised.value) == (
        f"exerted_by={side!r}: give 'robot' (the wrench on its surroundings, tau = Jᵀ wrench) "
        "or 'environment' (the wrench on the robot, tau = −Jᵀ wrench)"
    )


def test_frames_and_references_are_checked() -> None:
    arm = two_link_arm()
    with pytest.raises(ArgumentTypeError) as raised:
        joint_torques(arm, "tool", "LOCAL")
    assert str(raised.value) == ("reference: expected pin.LOCAL, pin.WORLD or pin.LOCAL_WORLD_ALIGNED, got 'LOCAL'")
    for make in (lambda: joint_torques(arm, "tol", pin.LOCAL), lambda: payload_torques(arm, "tol", 1)):
        with pytest.raises(UnknownNameError) as unknown:
            make()
        assert str(unknown.value) == "no frame named 'tol'; nearest: 'tool'"


@pytest.mark.parametrize(
    ("frames", "reference", "kind", "message"),
    [
        ([], pin.LOCAL, ArgumentError, "joint_torques: got no frame; give at least one"),
        (
            ["tool"],
            None,
            ArgumentTypeError,
            "reference: expected pin.LOCAL, pin.WORLD or pin.LOCAL_WORLD_ALIGNED, got ",
        ),
        (["tool", "tol"], pin.LOCAL, UnknownNameError, "no frame named 'tol'; nearest: 'tool'"),
        (
            ["tool"] * 2,
            pin.LOCAL,
            ArgumentError,
            "joint_torques: frames 'tool' and 'tool' are the same; give each once",
        ),
        (
            {"tool": "LOCAL"},
            None,
            ArgumentTypeError,
            "wrenches: frame 'tool': reference: expected pin.LOCAL, pin.WORLD",
        ),
        (
            {"tool": pin.LOCAL},
            pin.WORLD,
            ArgumentError,
            "joint_torques: got a mapping and reference=WORLD; give references by frame alone",
        ),
    ],
)
def test_several_frames_are_checked(frames: Any, reference: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as raised:
        joint_torques(two_link_arm(), frames, reference)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("mass", [-1, -1e-300, np.nan, np.inf])
def test_a_mass_that_is_none(mass: Any) -> None:
    with pytest.raises(ArgumentError) as raised:
        payload_torques(two_link_arm(), "tool", mass)
    assert str(raised.value) == f"mass: got {mass!r}; give one finite number [kg], at least 0"


def test_payloads_of_the_wrong_kind() -> None:
    arm = two_link_arm()
    for com, message in (
        ([0, 0], "center_of_mass has shape (2,); give (3,)"),
        (0.1, "center_of_mass has shape (); give (3,)"),
        ([0, np.nan, 0], "center_of_mass: y is nan; give finite numbers"),
    ):
        with pytest.raises(ArgumentError) as raised:
            payload_torques(arm, "tool", 1, com)
        assert str(raised.value) == message
    for mass in ("1 kg", [1, 2]):
        with pytest.raises(ArgumentTypeError) as refused:
            payload_torques(arm, "tool", mass)
        assert str(refused.value) == f"mass: expected a number [kg], got {mass!r}"
    with pytest.raises(ArgumentTypeError) as refused:
        payload_torques(arm, "tool", 1, "xyz")
    assert str(refused.value) == "center_of_mass: expected numbers, got 'xyz'"
