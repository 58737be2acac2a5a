"""Bodies drawn from the tree alone: cylinders, boxes, spheres, slides."""

from __future__ import annotations

import coal
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.viewer.scene import Scene, extent, primitives
from tests.helpers.models import inertia, placement, relative_error
from tests.helpers.viewer import ROUNDING, flexible, placed

pytestmark = pytest.mark.extras

# ---- where things are


def test_cylinders_run_from_joint_to_joint() -> None:
    model = gd.load_urdf("panda7")
    data, scene = model.createData(), Scene(model)
    q = np.random.default_rng(0).normal(size=7)
    pin.framesForwardKinematics(model, data, q)
    at = placed(scene, q)
    sizes = {body.name: body.geometry for body in scene.visual_model.geometryObjects}
    ends = {"base link 0": (0, 1), "joint2 link 0": (2, 3), "joint3 link 0": (3, 4), "joint6 link 0": (6, 7)}
    for name, (start, end) in ends.items():
        half = np.array([0, 0, sizes[name].halfLength])
        for point, joint in ((-half, start), (half, end)):
            assert relative_error(at[name].act(point), data.oMi[joint].translation) < ROUNDING
    flange = data.oMf[model.getFrameId("flange")].translation
    last = at["joint7 link 0"].act(np.array([0, 0, sizes["joint7 link 0"].halfLength]))
    assert relative_error(last, flange) < ROUNDING


def test_joint_cylinders_lie_on_the_axes() -> None:
    model = gd.load_urdf("puma560")
    data, scene = model.createData(), Scene(model)
    q = np.random.default_rng(1).normal(size=6)
    jacobian = pin.computeJointJacobians(model, data, q)
    at = placed(scene, q)
    for k in range(6):
        joint = at[f"joint{k + 1} joint"]
        assert relative_error(joint.rotation[:, 2], jacobian[3:, k]) < ROUNDING
        assert relative_error(joint.translation, data.oMi[k + 1].translation) < ROUNDING


def test_the_last_link_is_the_box_of_its_inertia() -> None:
    model, rng = pin.Model(), np.random.default_rng(2)
    sides, at = np.array([0.1, 0.2, 0.15]), placement(rng)
    joint = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(3.0, *sides), at)
    tree = gd.NewtonEuler(model, clean=0).tree
    body = next(p for p in primitives(tree, size=2.0) if p.name == "joint body")
    assert relative_error(np.sort(2 * body.geometry.halfSide), np.sort(sides)) < ROUNDING
    # of a box whose sides differ the axes are known but for their signs and their order
    assert relative_error(np.sort(np.abs(at.rotation.T @ body.placement.rotation), axis=0)[-1], np.ones(3)) < 1e-12
    assert relative_error(body.placement.translation, at.translation) < ROUNDING
    assert np.linalg.det(body.placement.rotation) == pytest.approx(1)


def test_a_foot_stands_on_the_ground() -> None:
    scene = Scene(gd.load_urdf("panda7"))
    foot = next(body for body in scene.visual_model.geometryObjects if body.name == "base foot")
    ends = [foot.placement.act(np.array([0, 0, sign * foot.geometry.halfLength])) for sign in (-1, 1)]
    assert ends[0] == pytest.approx([0, 0, scene.ground], abs=ROUNDING)
    assert ends[1] == pytest.approx([0, 0, 0], abs=ROUNDING)


def test_what_flies_has_no_foot_and_no_joint_to_show() -> None:
    for joint in (pin.JointModelFreeFlyer(), pin.JointModelPlanar(), pin.JointModelTranslation()):
        model = pin.Model()
        index = model.addJoint(0, joint, pin.SE3.Identity(), "free")
        model.appendBodyToJoint(index, pin.Inertia.FromBox(1.0, 0.1, 0.2, 0.3), pin.SE3.Identity())
        assert [body.name for body in Scene(model).visual_model.geometryObjects] == ["free body"]


def test_point_masses_are_spheres() -> None:
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.array([0, 0, 1.0]), np.zeros((3, 3))), pin.SE3.Identity())
    body = Scene(model).visual_model.geometryObjects[-1]
    assert isinstance(body.geometry, coal.Sphere)
    assert np.array_equal(body.placement.translation, [0, 0, 1])


def test_extent_of_a_robot_that_is_a_point() -> None:
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "joint")
    scene = Scene(model)
    low, high = extent(scene.tree, scene.placements(scene.neutral))
    assert np.array_equal(low, high)
    assert scene.size == 1.0


# ---- tubes


def test_slides_of_prismatic_joints() -> None:
    model = gd.load_urdf("cart_pendulum")
    (slide,) = Scene(model).tubes
    points = slide.vertices(np.array([0.7, 0.1]))
    joint = model.joints[1].shortname()
    axis = {"X": 0, "Y": 1, "Z": 2}[joint[-1]]
    assert points[:, axis].min() == pytest.approx(0, abs=ROUNDING)
    assert points[:, axis].max() == pytest.approx(0.7)


def test_slides_on_links_that_turn() -> None:
    """From the joint frame to the link, wherever both are."""
    rng, model = np.random.default_rng(3), pin.Model()
    turning = model.addJoint(0, pin.JointModelRY(), placement(rng), "turn")
    sliding = model.addJoint(turning, pin.JointModelPX(), placement(rng), "slide")
    model.appendBodyToJoint(sliding, inertia(rng), pin.SE3.Identity())
    q, data = np.array([0.8, 0.6]), model.createData()
    pin.forwardKinematics(model, data, q)
    (slide,) = Scene(model).tubes
    start, end = slide.line(q)[0].full().T
    assert relative_error(start, data.oMi[turning].act(model.jointPlacements[sliding].translation)) < ROUNDING
    assert relative_error(end, data.oMi[sliding].translation) < ROUNDING


def test_a_cylinder_runs_to_where_a_beam_begins() -> None:
    at = pin.SE3(np.eye(3), np.array([0.2, 0.0, 0.0]))
    links = {"link1": gd.FlexibleLink(gd.Beam(0.8, 0.6, EI_z=10.0), root=at, keep_body=True)}
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links)
    scene, q = Scene(arm), np.array([0.4, -0.9, *np.zeros(arm.tree.nq - 2)])
    rod = next(body for body in scene.visual_model.geometryObjects if body.name == "joint1 link 0")
    end = placed(scene, q)[rod.name].act(np.array([0, 0, rod.geometry.halfLength]))
    beam = next(tube for tube in scene.tubes if tube.name == "link1 beam")
    assert relative_error(end, beam.line(q)[0].full()[:, 0]) < ROUNDING
    assert relative_error(end, 0.2 * np.array([np.cos(0.4), np.sin(0.4), 0])) < ROUNDING


def test_rotors_are_not_drawn() -> None:
    _, links = flexible()
    joints = {"joint2": gd.FlexibleJoint(stiffness=50.0, rotor_inertia=0.02)}
    arm = gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links, joints)
    names = [body.name for body in Scene(arm).visual_model.geometryObjects]
    assert not any("rotor" in name for name in names)
    q = np.arange(arm.tree.nq, dtype=float)
    assert np.array_equal(Scene(arm).exaggerated(q, 0.0), [0, 1, *np.zeros(8), 10])
