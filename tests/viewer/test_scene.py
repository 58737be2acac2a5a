"""Where bodies and frames of a scene are, and what they are called."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.cli.view import joint_sweep
from gdalembert.viewer.scene import Scene
from tests.helpers.models import relative_error
from tests.helpers.viewer import ROUNDING, every_joint, flexible

pytestmark = pytest.mark.extras


@pytest.mark.parametrize("seed", range(3))
def test_joints_are_where_pinocchio_has_them(seed: int) -> None:
    model = every_joint(seed)
    data, scene = model.createData(), Scene(model)
    q = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
    pin.forwardKinematics(model, data, q)
    scene.place(q)
    for joint, own in enumerate(scene.tree.links, start=1):
        assert relative_error(scene.data.oMi[own + 1].homogeneous, data.oMi[joint].homogeneous) < ROUNDING


def test_frames_are_where_pinocchio_has_them() -> None:
    model = every_joint(4)
    names = [f.name for f in model.frames if f.name.startswith("frame ")]
    data, scene = model.createData(), Scene(model, frames=names)
    q = pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
    pin.framesForwardKinematics(model, data, q)
    scene.place(q)
    pin.updateFramePlacements(scene.model, scene.data)
    assert len(names) == len(scene.model.frames) - 1 > 10
    for k, name in enumerate(names, start=1):
        there = data.oMf[model.getFrameId(name)]
        assert relative_error(scene.data.oMf[k].homogeneous, there.homogeneous) < ROUNDING


def test_neutral_is_pinocchios() -> None:
    model = every_joint(0)
    assert np.array_equal(Scene(model).neutral, pin.neutral(model))


def test_mimic_joints_follow() -> None:
    text = """<robot name="gripper"><link name="palm"/>
    <link name="one"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    </link><link name="two"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
    </inertial></link>
    <joint name="first" type="revolute"><parent link="palm"/><child link="one"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    <joint name="second" type="revolute"><parent link="palm"/><child link="two"/><axis xyz="0 0 1"/>
    <origin xyz="1 0 0"/><mimic joint="first" multiplier="-1" offset="0.1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    model = gd.load_urdf(text)
    scene, data = Scene(model), model.createData()
    pin.forwardKinematics(model, data, np.array([0.3]))
    scene.place(np.array([0.3]))
    for joint in (1, 2):
        assert relative_error(scene.data.oMi[joint].homogeneous, data.oMi[joint].homogeneous) < ROUNDING
    t, q = joint_sweep(model, scene.neutral)
    assert q.shape == (33, 1)
    assert (t[-1], q.max(), q.min()) == (4.0, 1.0, -1.0)


def test_every_shipped_robot_and_formulation_has_bodies() -> None:
    for name in gd.robots():
        model = gd.load_urdf(name)
        names = [body.name for body in Scene(model).visual_model.geometryObjects]
        assert len(set(names)) == len(names) > model.njoints - 1
    same = [body.name for body in Scene(gd.LagrangeEuler(model)).visual_model.geometryObjects]
    assert same == names


def test_names_with_slashes_are_single_nodes() -> None:
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "left/knee")
    at = pin.SE3(np.eye(3), np.array([0, 0, 1.0]))
    model.addFrame(pin.Frame("left/foot", 1, 0, at, pin.FrameType.OP_FRAME))
    scene = Scene(model, frames=True)
    assert scene.labels == ["", "left/foot"]
    names = [body.name for body in scene.visual_model.geometryObjects] + [f.name for f in scene.model.frames]
    assert not any("/" in name for name in names)


def test_frames_at_the_same_place_share_a_label() -> None:
    scene = Scene(gd.load_urdf("puma560"), frames=True)
    assert [x for x in scene.labels if x] == ["joint1, joint2", "joint3", "joint4, joint5, joint6, tool_joint"]
    assert Scene(gd.load_urdf("puma560"), frames=["tool"]).labels == ["", "tool"]
    assert Scene(gd.load_urdf("puma560")).labels == [""]


def test_particles_that_carry_the_mass_of_a_beam_are_not_drawn() -> None:
    arm, _ = flexible()
    bodies = [body.name for body in Scene(arm).visual_model.geometryObjects]
    assert bodies == ["base foot", "joint1 joint", "joint2 joint", "joint2 station 1 body"]  # the payload
