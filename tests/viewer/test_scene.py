"""The scene: where bodies, frames and tubes of flexible links are, and motions frame by frame."""

from __future__ import annotations

import dataclasses
import pickle

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.cli.view import joint_sweep
from gdalembert.errors import ArgumentTypeError
from gdalembert.flexible.centreline import centreline
from gdalembert.viewer.scene import Scene, frame_times, motion_of, profile_of
from tests.helpers.models import relative_error
from tests.helpers.ocp import slider
from tests.helpers.viewer import ROUNDING, bent, every_joint, flexible

pytestmark = pytest.mark.extras
MATERIAL = {"density": 2700.0, "youngs_modulus": 70e9}


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


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_the_tube_is_around_the_bent_line(scale: float) -> None:
    arm, links = flexible()
    scene, q = Scene(arm), bent(arm)
    shown = scene.exaggerated(q, scale)
    assert np.array_equal(shown[:2], q[:2])
    assert relative_error(shown[2:], scale * q[2:]) < ROUNDING
    for tube, name in zip(scene.tubes, links, strict=True):
        length, n = arm.flexibility.beams[name].length, len(tube.profile)
        rings = tube.vertices(shown)[: n * 24].reshape(n, 24, 3)
        line = centreline(arm, name, np.linspace(0, length, n))(shown)[0].full()
        assert relative_error(rings.mean(axis=1), line.T) < ROUNDING
        radii = np.linalg.norm(rings - line.T[:, None], axis=2)
        assert relative_error(radii, np.full_like(radii, 0.016 * length)) < ROUNDING
        tip = arm.tip_placement(name)(shown).full()
        assert relative_error(rings[-1].mean(axis=0), tip[:3, 3]) < ROUNDING
        assert np.abs((rings[-1] - tip[:3, 3]) @ tip[:3, 0]).max() < ROUNDING


def test_the_tube_of_a_straight_link_is_a_cylinder() -> None:
    arm, _ = flexible()
    tube = Scene(arm).tubes[0]
    points = tube.vertices(np.zeros(arm.tree.nq))
    assert points[:, 0].min() == 0
    assert points[:, 0].max() == pytest.approx(1, abs=0)
    radii = np.linalg.norm(points[:, 1:], axis=1)
    assert relative_error(radii, np.full_like(radii, 0.016)) < ROUNDING


def test_the_surface_is_closed_and_faces_outward() -> None:
    arm, _ = flexible()
    tube = Scene(arm).tubes[0]
    points, faces = tube.vertices(np.zeros(arm.tree.nq)), tube.faces
    corners = points[faces]
    volume = np.einsum("ki,ki->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    prism = 24 / 2 * np.sin(2 * np.pi / 24) * 0.016**2  # a polygon of 24 corners, 1 m long
    assert volume == pytest.approx(prism, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("beam", "y", "z"),
    [
        (gd.Beam.round(1.0, 0.04, **MATERIAL), [0.02, 0.02], [0.02, 0.02]),
        (gd.Beam.tube(None, 0.1, 0.003, **MATERIAL).with_length(1.0), [0.05, 0.05], [0.05, 0.05]),
        (gd.Beam.rectangle(1.0, 0.06, 0.02, **MATERIAL), [0.03, 0.03], [0.01, 0.01]),
        (gd.Beam.rectangle(1.0, lambda x: 0.06 - 0.04 * x, 0.02, **MATERIAL), [0.03, 0.01], [0.01, 0.01]),
        (gd.Beam.tube(1.0, lambda x: 0.1 - 0.06 * x, 0.003, **MATERIAL), [0.05, 0.02], [0.05, 0.02]),
        (gd.Beam(1.0, 0.6, EI_y=3.0, EI_z=27.0, EA=1e4), [0.09, 0.09], [0.03, 0.03]),
        (gd.Beam(1.0, 0.6, EI_z=10.0), [0.7, 0.7], [0.7, 0.7]),
    ],
    ids=["round", "tube", "rectangle", "tapered rectangle", "tapered tube", "stiffness alone", "nothing"],
)
def test_sections(beam: gd.Beam, y: list[float], z: list[float]) -> None:
    """Half widths at root and tip."""
    points = profile_of(beam, np.array([0.0, 1.0]), 0.7)
    assert relative_error(points[..., 0].max(axis=1), y) < ROUNDING
    assert relative_error(points[..., 1].max(axis=1), z) < ROUNDING


def test_the_numbers_of_a_thin_tube_are_drawn_as_the_solid_bar_with_its_gyration() -> None:
    tube = gd.Beam.tube(1.0, 0.1, 0.003, **MATERIAL)
    numbers = gd.Beam(1.0, tube.mass_per_length, section_inertia=tube.section_inertia)
    points = profile_of(numbers, np.zeros(1), 0.7)
    assert points.max() == pytest.approx(np.sqrt(0.05**2 + 0.047**2), rel=1e-12)


def test_inertias_of_a_section_are_about_y_and_z() -> None:
    """j_y is that of the extent along z: of the rectangle b × h they are μ h²/12 and μ b²/12."""
    for section_inertia, y, z in (
        ((0.6 * 0.02**2 / 12, 0.6 * 0.06**2 / 12), 0.03, 0.01),
        ((0.6 * 0.02**2 / 12, 0.0), 0.7, 0.7),  # one of them is not enough
    ):
        points = profile_of(gd.Beam(1.0, 0.6, section_inertia=section_inertia), np.zeros(1), 0.7)
        assert points[0].max(axis=0) == pytest.approx([y, z], rel=1e-12)


def test_an_arm_that_was_pickled_is_drawn_with_the_links_that_it_was_made_of() -> None:
    arm, links = flexible()
    copied, q = pickle.loads(pickle.dumps(arm)), bent(arm)
    for again, tube in zip(Scene(copied, links=links).tubes, Scene(arm).tubes, strict=True):
        assert np.array_equal(again.vertices(q), tube.vertices(q))
    rigid = gd.FlexibleArm(gd.load_urdf("cart_pendulum"))
    assert len(Scene(pickle.loads(pickle.dumps(rigid))).tubes) == len(Scene(rigid).tubes) == 1  # the slide


def test_a_section_counts_for_pictures_alone() -> None:
    tube = gd.Beam.tube(1.0, 0.1, 0.003, **MATERIAL)
    bare = dataclasses.replace(tube, section=None)
    assert (tube, hash(tube), repr(tube)) == (bare, hash(bare), repr(bare))
    assert pickle.loads(pickle.dumps(tube)).section == tube.section != bare.section
    with pytest.raises(ArgumentTypeError, match=r"Beam: section: got 'tube'; leave it out, or take Beam\.tube\(…\)"):
        gd.Beam(1.0, 0.6, section="tube")  # type: ignore[arg-type]


def test_times_of_frames() -> None:
    clock, times = frame_times(1.0, 2.0, 0.5, 10.0)
    assert relative_error(clock, np.arange(21) / 10) < 1e-15
    assert relative_error(times, 1 + np.arange(21) / 20) < 1e-15
    clock, times = frame_times(0.0, 0.25, 1.0, 10.0)
    assert relative_error(clock, [0, 0.1, 0.2, 0.25]) < 1e-15
    assert (times[0], times[-1]) == (0, 0.25)
    clock, _ = frame_times(0.0, 0.1 * 3, 1.0, 10.0)  # which is 0.30000000000000004
    assert relative_error(clock, [0, 0.1, 0.2, 0.3]) < 1e-15


def test_between_rows_on_the_configuration_space() -> None:
    model = every_joint(1)
    scene = Scene(model)
    q = np.array([pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq)) for _ in range(3)])
    start, end, at = motion_of(scene.tree, ([0.0, 1.0, 3.0], q))
    assert (start, end) == (0, 3)
    # pin.integrate chooses its own sign of a quaternion: compare the rotations that the joints make
    data = model.createData()
    for time, k, share in ((0.0, 0, 0.0), (0.25, 0, 0.25), (2.0, 1, 0.5), (3.0, 1, 1.0)):
        scene.place(at(time))
        pin.forwardKinematics(model, data, pin.interpolate(model, q[k], q[k + 1], share))
        for joint, own in enumerate(scene.tree.links, start=1):
            # differences of two quaternions lose what arccos near its end loses
            assert relative_error(scene.data.oMi[own + 1].homogeneous, data.oMi[joint].homogeneous) < 1e-9


def test_a_simulation_is_asked_at_its_times() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("cart_pendulum"))
    motion = gd.simulate(dyn, [0, 2.0, 0, 0], np.linspace(0.5, 1.5, 11))
    start, end, at = motion_of(dyn.tree, motion)
    assert (start, end) == (0.5, 1.5)
    assert np.array_equal(at(0.777), motion.at(0.777)[0])


def test_a_solution_is_a_motion() -> None:
    problem = gd.ocp.Problem(gd.NewtonEuler(gd.load_urdf("two_link_arm")), 0.5, 5)
    problem.start([0.0, 0.0], [0.0, 0.0])
    problem.end([0.2, 0.1], [0.0, 0.0])
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)))
    solution = problem.solve()
    start, end, at = motion_of(solution.dyn.tree, solution)
    assert (start, end) == (0.0, 0.5)
    assert at(float(solution.t[2])) == pytest.approx(solution.q[2], abs=1e-15)
    assert at(0.5) == pytest.approx([0.2, 0.1], abs=1e-8)


def test_phases_are_a_motion() -> None:
    dyn = gd.NewtonEuler(slider())
    first, second = (gd.ocp.Problem(dyn, duration, 2, degree=1) for duration in (0.5, 0.25))
    first.start([0.0])
    second.end([0.2])
    second.minimize(second.integral(lambda u: u**2))
    solution = gd.ocp.Phases([first, second]).solve()
    start, end, at = motion_of(dyn.tree, solution)
    assert (start, end) == (0.0, 0.75)
    assert relative_error(at(0.625), solution.phases[1].q[1]) < 1e-12
    assert relative_error(at(0.5), solution.phases[0].q[-1]) < 1e-8  # of the solver
