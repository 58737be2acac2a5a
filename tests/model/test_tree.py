"""Tree: what is taken from a model, and what is refused."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentTypeError, ModelError
from gdalembert.model import Tree, from_pinocchio, read_tree
from gdalembert.model.configuration import random_configuration
from gdalembert.model.from_pinocchio import generic_dynamics, idle_joints
from tests.helpers.models import JOINTS, build, inertia, placement, relative_error, states


def model(*names: str, seed: int = 0) -> pin.Model:
    return build(np.random.default_rng(seed), names, range(len(names)))


def test_a_tree_is_a_frozen_value() -> None:
    one, two = read_tree(model("RX", "Planar", "Composite")), read_tree(model("RX", "Planar", "Composite"))
    assert one == two
    assert hash(one) == hash(two)
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != read_tree(model("RX", "Planar", "Composite", seed=1))
    assert one != "a tree"
    with pytest.raises(FrozenInstanceError):
        one.nq = 3
    for tree in (one, pickle.loads(pickle.dumps(one))):
        with pytest.raises(ValueError, match="read-only"):
            tree.joints[0].com[0] = 1.0
    assert read_tree(one) is one


def test_a_tree_is_a_copy() -> None:
    given = model("RX", "RY")
    tree = read_tree(given)
    given.armature[0] = 7.0
    given.inertias[1].mass = 99.0
    assert tree != read_tree(given)
    assert tree == read_tree(model("RX", "RY"))


def test_sequences_become_elementary_joints_with_massless_links() -> None:
    tree = read_tree(model("Composite", "Universal", "RX"))
    names = [joint.name for joint in tree.joints]
    assert names == [*(f"Composite_0[{k}]" for k in range(6)), "Universal_1[0]", "Universal_1[1]", "RX_2"]
    assert tree.links == (5, 7, 8)
    assert [joint.mass == 0 for joint in tree.joints] == [True] * 5 + [False, True, False, False]
    assert tree.velocity_names == tuple(names)
    assert tree.joint_names == ("Composite_0", "Universal_1", "RX_2")


def test_velocity_names_number_the_columns_of_a_joint() -> None:
    tree = read_tree(model("Planar", "RX"))
    assert tree.velocity_names == ("Planar_0[0]", "Planar_0[1]", "Planar_0[2]", "RX_1")


def test_continuous_joints_with_any_axis_from_urdf() -> None:
    """Pinocchio shows the axis of an unaligned continuous joint nowhere but in its motion subspace."""
    text = """<robot name="c"><link name="base"/><link name="arm"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous">
    <parent link="base"/><child link="arm"/><axis xyz="0.6 0 0.8"/></joint></robot>"""
    loaded = pin.buildModelFromXML(text)
    assert read_tree(loaded).joints[0].type.axis == (0.6, 0.0, 0.8)
    for q, v, a in states(loaded, np.random.default_rng(0), 3):
        tau = pin.rnea(loaded, loaded.createData(), q, v, a)
        for cls in gd.formulations().values():
            assert relative_error(cls(loaded, clean=0).inverse_dynamics(q, v, a).full().ravel(), tau) < 1e-12


def test_a_revolute_joint_that_mimics_a_helical_one_is_revolute() -> None:
    given = model("HX", "RY")
    follower = pin.JointModelRZ()
    follower.setIndexes(1, given.joints[1].idx_q, given.joints[1].idx_v)
    rng = np.random.default_rng(0)
    added = given.addJoint(2, pin.JointModelMimic(pin.JointModel(follower), 3.0, 0.1), placement(rng), "follower")
    given.appendBodyToJoint(added, inertia(rng), placement(rng))
    assert read_tree(given).joints[2].type.is_revolute
    for q, v, a in states(given, rng, 3):
        tau = pin.rnea(given, given.createData(), q, v, a)
        assert relative_error(gd.NewtonEuler(given, clean=0).inverse_dynamics(q, v, a).full().ravel(), tau) < 1e-12


def test_reduced_models() -> None:
    full = gd.load_urdf("puma560", root_joint=pin.JointModelFreeFlyer())
    reduced = pin.buildReducedModel(full, [full.getJointId("joint3"), full.getJointId("joint5")], pin.neutral(full))
    assert reduced.nv == full.nv - 2
    for q, v, a in states(reduced, np.random.default_rng(0), 3):
        tau = pin.rnea(reduced, reduced.createData(), q, v, a)
        assert relative_error(gd.NewtonEuler(reduced, clean=0).inverse_dynamics(q, v, a).full().ravel(), tau) < 1e-12


def test_all_objects_of_one_tree_read_and_check_their_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads, read = [], from_pinocchio._read

    def counted(given: pin.Model) -> Tree:
        reads.append(given.name)
        return read(given)

    monkeypatch.setattr(from_pinocchio, "_read", counted)
    loaded = gd.load_urdf("two_link_flexible")
    assert len(reads) == 1  # what load_urdf refuses
    tree = read_tree(loaded)
    beam = gd.Beam(None, 1.0, EI_z=1e3)
    links = {"link1": gd.FlexibleLink(beam, bending_y=gd.modes.clamped_free(1), keep_body=True)}
    for build_one in (
        lambda of: gd.NewtonEuler(of).inverse_dynamics,
        lambda of: gd.Kinematics(of).frame_placement("tip"),
        lambda of: gd.joint_torques(of, "tip", pin.LOCAL),
        lambda of: gd.FlexibleArm(of, links).mass_matrix,
    ):
        build_one(tree)
        assert len(reads) == 2
        build_one(loaded)
        assert len(reads) == 3
        reads.pop()


def test_a_model_from_a_tree_and_from_a_model_are_the_same() -> None:
    given = model("RX", "RY")
    assert gd.NewtonEuler(read_tree(given)).tree == gd.NewtonEuler(given).tree


def set_mass(given: pin.Model, mass: float) -> None:
    given.inertias[1] = pin.Inertia(mass, np.zeros(3), np.eye(3))


def set_moment(given: pin.Model, moment: float) -> None:
    body = pin.Inertia(1.0, np.zeros(3), np.eye(3))
    body.inertia = np.diag([1, 1, moment])
    given.inertias[1] = body


def set_com(given: pin.Model, x: float) -> None:
    given.inertias[1] = pin.Inertia(1.0, np.array([x, 0, 0]), np.eye(3))


def set_placement(given: pin.Model, x: float) -> None:
    given.jointPlacements[2] = pin.SE3(np.eye(3), np.array([x, 0, 0]))


def set_rotation(given: pin.Model, x: float) -> None:
    given.jointPlacements[2] = pin.SE3(np.diag([1, 1, x]), np.zeros(3))


def set_armature(given: pin.Model, x: float) -> None:
    given.armature = np.array([0, x])


def set_gravity(given: pin.Model, x: float) -> None:
    given.gravity = pin.Motion(np.array([x, 0, 0]), np.zeros(3))


def set_angular_gravity(given: pin.Model, x: float) -> None:
    given.gravity = pin.Motion(np.zeros(3), np.array([x, 0, 0]))


@pytest.mark.parametrize(
    ("spoil", "number", "message"),
    [
        (set_mass, -1.0, "random: joint 'RX_0': its link has the negative mass -1 kg; give a mass of at least 0"),
        (set_mass, np.nan, r"random: joint 'RX_0': its mass is not finite: \[nan\]; give finite numbers"),
        (set_mass, 1e308, r"random: joint 'RX_0': its mass is too large: \[1e\+308\]; give numbers up to 1e\+30"),
        (set_moment, 1e308, r"random: joint 'RX_0': its inertia is too large: \[\[.*\]\]; give numbers up to 1e\+30"),
        (
            set_placement,
            1e31,
            r"random: joint 'RY_1': its translation is too large: \[1e\+31, 0.0, 0.0\]; give numbers",
        ),
        (set_moment, -0.5, "random: joint 'RX_0': its link has the negative principal moment -0.5 kg m² about the"),
        (set_com, np.inf, r"random: joint 'RX_0': its com is not finite: \[inf, 0.0, 0.0\]; give finite numbers"),
        (set_placement, np.nan, r"random: joint 'RY_1': its translation is not finite: \[nan, 0.0, 0.0\]; give finite"),
        (set_rotation, 1.1, "random: joint 'RY_1': the rotation of its placement is not orthogonal; normalise it"),
        (set_armature, -0.1, "random: joint 'RY_1': has the negative armature -0.1; give at least 0"),
        (set_armature, np.nan, r"random: its armature is not finite: \[0.0, nan\]"),
        (set_gravity, np.inf, r"random: its gravity is not finite: \[inf, 0.0, 0.0\]"),
        (set_angular_gravity, 1.0, r"random: gravity has an angular part \[1. 0. 0.\]; set it to zero"),
    ],
)
def test_numbers_without_a_meaning_are_refused(
    spoil: Callable[[pin.Model, float], None], number: float, message: str
) -> None:
    given = model("RX", "RY")
    given.armature = np.zeros(2)
    spoil(given, number)
    with pytest.raises(ModelError, match=message):
        read_tree(given)


def set_left_handed(given: pin.Model, _: float) -> None:
    given.jointPlacements[2] = pin.SE3(np.diag([1, 1, -1]), np.zeros(3))


def set_frame(given: pin.Model, x: float) -> None:
    given.frames[1].placement = pin.SE3(np.eye(3), np.array([x, 0, 0]))


def set_frame_rotation(given: pin.Model, x: float) -> None:
    given.frames[1].placement = pin.SE3(x * np.eye(3), np.zeros(3))


def set_armature_length(given: pin.Model, _: float) -> None:
    given.armature = np.ones(5)


def set_parent(given: pin.Model, joint: float) -> None:
    given.parents[1] = int(joint)


@pytest.mark.parametrize(
    ("spoil", "number", "message"),
    [
        (set_left_handed, 0, "random: joint 'RY_1': the rotation of its placement is left-handed; change the sign of"),
        (set_frame, np.nan, r"random: frame 'body_0': its translation is not finite: \[nan, 0.0, 0.0\]; give finite"),
        (
            set_frame_rotation,
            2,
            "random: frame 'body_0': the rotation of its placement is not orthogonal; normalise it",
        ),
        (set_armature_length, 0, "random: its armature has 5 entries; give nv = 2"),
        (
            set_parent,
            2,
            r"random: joint 'RX_0': its parent 2 does not come before it \(1\); build the model with addJoint",
        ),
    ],
)
def test_disorder_is_refused(spoil: Callable[[pin.Model, float], None], number: float, message: str) -> None:
    given = model("RX", "RY")
    spoil(given, number)
    with pytest.raises(ModelError, match=message):
        read_tree(given)


def test_a_composite_without_parts_is_refused() -> None:
    given = pin.Model()
    given.name = "empty"
    joint = given.addJoint(0, pin.JointModelComposite(), pin.SE3.Identity(), "hollow")
    given.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    with pytest.raises(
        ModelError, match="empty: joint 'hollow': is a composite joint without parts; add its joints fir"
    ):
        read_tree(given)


def test_a_robot_far_from_the_origin_moves_inertia_all_the_same() -> None:
    given = gd.load_urdf("panda7")
    given.jointPlacements[1] = pin.SE3(np.eye(3), np.full(3, 1e9))
    assert idle_joints(read_tree(given)) == ()


def test_kinematics_needs_no_inertia() -> None:
    given = pin.Model()
    given.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "massless")
    assert gd.Kinematics(given).frame_placement("universe")(0).full().tolist() == np.eye(4).tolist()


def test_what_is_not_a_model_is_refused() -> None:
    given = model("RX")
    with pytest.raises(ArgumentTypeError, match=r"expected a pin.Model, got a pin.Data; pass the model that it was"):
        gd.NewtonEuler(given.createData())
    with pytest.raises(ArgumentTypeError, match=r"expected a pin.Model, got str; load_urdf makes one from a URDF"):
        gd.NewtonEuler("puma560")
    with pytest.raises(ModelError, match=r"^unnamed model: has no joint that moves"):
        gd.NewtonEuler(pin.Model())


def test_messages_about_a_model_without_a_name_begin_with_words() -> None:
    given = model("RX")
    given.name = ""
    assert repr(gd.NewtonEuler(given)) == "NewtonEuler('unnamed model', nq=1, nv=1)"
    given.armature[:] = -1
    with pytest.raises(ModelError, match=r"^unnamed model: joint '.*': has the negative armature -1; give at least 0$"):
        gd.NewtonEuler(given)
    given.armature = np.zeros(2)
    with pytest.raises(ModelError, match=r"^unnamed model: its armature has 2 entries; give nv = 1$"):
        gd.NewtonEuler(given)


def test_an_axis_that_is_no_unit_vector_is_refused() -> None:
    given = pin.Model()
    given.name = "bent"
    joint = given.addJoint(0, pin.JointModelPrismaticUnaligned(np.array([1.0, 0, 0])), pin.SE3.Identity(), "slide")
    given.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    tree = read_tree(given)
    assert tree.joints[0].type.axis == (1.0, 0.0, 0.0)
    ellipsoid = pin.Model()
    joint = ellipsoid.addJoint(0, pin.JointModelEllipsoid(np.nan, 1, 1), pin.SE3.Identity(), "slide")
    ellipsoid.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    with pytest.raises(ModelError, match="joint 'slide': its Ellipsoid parameters are not finite"):
        read_tree(ellipsoid)


@pytest.mark.parametrize("joint", sorted(JOINTS))
def test_a_joint_that_moves_nothing_is_refused(joint: str) -> None:
    given = model("RX", joint)
    given.armature = np.zeros(given.nv)
    assert idle_joints(read_tree(given)) == ()
    given.inertias[2] = pin.Inertia.Zero()
    names = idle_joints(read_tree(given))
    assert names
    assert all(name.startswith(joint) for name in names)
    with pytest.raises(ModelError, match=re.escape(", ".join(map(repr, names))) + " moves? no inertia"):
        gd.NewtonEuler(given)
    given.armature = np.full(given.nv, 0.1)
    assert idle_joints(read_tree(given)) == ()


def test_a_point_mass_on_its_own_axis_moves_nothing() -> None:
    given = pin.Model()
    first = given.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "arm")
    given.appendBodyToJoint(first, pin.Inertia.Random(), pin.SE3.Identity())
    wheel = given.addJoint(first, pin.JointModelRZ(), placement(np.random.default_rng(0)), "wheel")
    given.appendBodyToJoint(wheel, pin.Inertia(1.0, np.array([0, 0, 0.3]), np.zeros((3, 3))), pin.SE3.Identity())
    assert idle_joints(read_tree(given)) == ("wheel",)


def test_a_massless_link_that_carries_mass_is_fine() -> None:
    given = model("RX", "RY", "RZ")
    given.armature = np.zeros(3)
    given.inertias[2] = pin.Inertia.Zero()
    q, v, a = states(given, np.random.default_rng(0), 1)[0]
    for cls in gd.formulations().values():
        tau = pin.rnea(given, given.createData(), q, v, a)
        assert relative_error(cls(given, clean=0).forward_dynamics(q, v, tau).full().ravel(), a) < 1e-10


def test_a_light_finger_on_a_heavy_arm_is_not_idle() -> None:
    model = pin.Model()
    arm = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "arm")
    model.appendBodyToJoint(arm, pin.Inertia(1000, np.array([0, 0, 2.0]), np.eye(3)), pin.SE3.Identity())
    finger = model.addJoint(arm, pin.JointModelRX(), pin.SE3(np.eye(3), np.array([0, 0, 2.0])), "finger")
    model.appendBodyToJoint(finger, pin.Inertia(1e-6, np.zeros(3), 1e-12 * np.eye(3)), pin.SE3.Identity())
    assert idle_joints(read_tree(model)) == ()
    q = np.array([0.1, 0.2])
    found = gd.NewtonEuler(model, clean=0).mass_matrix(q).full()
    assert found[1, 1] == pytest.approx(pin.crba(model, model.createData(), q)[1, 1], rel=1e-12, abs=0)


def test_generic_dynamics_are_those_of_pinocchio() -> None:
    """M and the torque of gravity, of a tree with a free base, far from the origin, with joints of several degrees."""
    model = build(np.random.default_rng(3), ["FreeFlyer", "RX", "Spherical", "PY", "RZ"], [0, 1, 2, 1, 0])
    model.armature = np.arange(float(model.nv))
    model.gravity.linear = np.array([1.0, -2.0, -9.0])
    tree = read_tree(model)
    q = random_configuration(tree, np.random.default_rng(20260101)).full().ravel()
    m, g = generic_dynamics(tree)
    data = model.createData()
    pin.crba(model, data, q)
    assert relative_error(m, np.triu(data.M) + np.triu(data.M, 1).T) < 1e-12
    assert relative_error(g, pin.computeGeneralizedGravity(model, data, q)) < 1e-12
