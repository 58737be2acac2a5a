"""The 3-D view: bodies, tubes, frames and motions; the page it serves; and pictures of a real browser (system)."""

from __future__ import annotations

import dataclasses
import pickle
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import casadi as ca
import coal
import matplotlib.image
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.cli.options import configuration
from gdalembert.cli.view import joint_sweep
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, UrdfWarning
from gdalembert.flexible.centreline import centreline
from gdalembert.viewer import Viewer, viewer
from gdalembert.viewer.loading import visuals
from gdalembert.viewer.motion import frame_times, motion_of
from gdalembert.viewer.primitives import color_of, extent, primitives
from gdalembert.viewer.scene import Scene
from gdalembert.viewer.tube import profile_of
from tests.helpers.models import JOINTS, inertia, placement, relative_error
from tests.helpers.paths import ROOT

ROUNDING = 1e-13
"""Of lengths of some metres, through a few rotations."""


def every_joint(seed: int) -> pin.Model:
    """One after the other, with frames between."""
    rng, model = np.random.default_rng(seed), pin.Model()
    parent = 0
    for name, make in JOINTS.items():
        parent = model.addJoint(parent, make(rng), placement(rng), name)
        model.appendBodyToJoint(parent, inertia(rng), pin.SE3.Identity())
        model.addFrame(pin.Frame(f"frame {name}", parent, 0, placement(rng), pin.FrameType.OP_FRAME))
    return model


def flexible() -> tuple[gd.FlexibleArm, dict[str, gd.FlexibleLink]]:
    links = {
        "link1": gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0)),
        "link2": gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=10.0)),
    }
    return gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links), links


def bent(arm: gd.FlexibleArm, size: float = 1.0) -> np.ndarray:
    """Pulled at its tip."""
    q = np.array([0.4, -0.9, *np.zeros(arm.tree.nq - 2)])
    return arm.static_deflection(q, "link2 tip", [0, size, 0, 0, 0, 0], reference=pin.LOCAL_WORLD_ALIGNED)


def placed(scene: Scene, q: np.ndarray) -> dict[str, pin.SE3]:
    """Of each body, by name."""
    scene.place(q)
    data = scene.visual_model.createData()
    pin.updateGeometryPlacements(scene.model, scene.data, scene.visual_model, data)
    return {body.name: at for body, at in zip(scene.visual_model.geometryObjects, data.oMg, strict=True)}


# ---- where things are


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


# ---- tubes


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_the_tube_is_around_the_bent_line(scale: float) -> None:
    arm, links = flexible()
    scene, q = Scene(arm), bent(arm)
    shown = scene.exaggerated(q, scale)
    assert np.array_equal(shown[:2], q[:2])
    assert relative_error(shown[2:], scale * q[2:]) < ROUNDING
    for tube, name in zip(scene.tubes, links, strict=True):
        length, n = arm.assembly.spans[name].length, len(tube.profile.points)
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


MATERIAL = {"density": 2700.0, "youngs_modulus": 70e9}


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
    points = profile_of(beam, np.array([0.0, 1.0]), 0.7).points
    assert relative_error(points[..., 0].max(axis=1), y) < ROUNDING
    assert relative_error(points[..., 1].max(axis=1), z) < ROUNDING


def test_the_numbers_of_a_thin_tube_are_drawn_as_the_solid_bar_with_its_gyration() -> None:
    tube = gd.Beam.tube(1.0, 0.1, 0.003, **MATERIAL)
    numbers = gd.Beam(1.0, tube.mass_per_length, section_inertia=tube.section_inertia)
    points = profile_of(numbers, np.zeros(1), 0.7).points
    assert points.max() == pytest.approx(np.sqrt(0.05**2 + 0.047**2), rel=1e-12)


def test_inertias_of_a_section_are_about_y_and_z() -> None:
    """j_y is that of the extent along z: of the rectangle b × h they are μ h²/12 and μ b²/12."""
    for section_inertia, y, z in (
        ((0.6 * 0.02**2 / 12, 0.6 * 0.06**2 / 12), 0.03, 0.01),
        ((0.6 * 0.02**2 / 12, 0.0), 0.7, 0.7),  # one of them is not enough
    ):
        points = profile_of(gd.Beam(1.0, 0.6, section_inertia=section_inertia), np.zeros(1), 0.7).points
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


# ---- motions


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


class Clock:
    """A clock that goes when one sleeps, and ``cost`` when a frame is shown."""

    def __init__(self, cost: float) -> None:
        self.now, self.cost = 100.0, cost

    def monotonic(self) -> float:
        return self.now

    def sleep(self, pause: float) -> None:
        self.now += pause


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


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[float, float]]]:
    """Clock and first coordinate of each frame."""

    def run(cost: float, **options: float) -> list[tuple[float, float]]:
        clock, seen = Clock(cost), []
        monkeypatch.setattr(viewer, "time", clock)

        def show(self: Viewer, q: np.ndarray) -> None:
            seen.append((clock.now - 100, q[0]))
            clock.now += clock.cost

        with Viewer("cart_pendulum", port=0) as shown:
            monkeypatch.setattr(Viewer, "show", show)
            shown.play(([0.0, 1.0], [[0.0, 0.0], [2.0, 0.0]]), **options)
        return seen

    return run


def test_play_keeps_time(played: Callable[..., list[tuple[float, float]]]) -> None:
    seen = np.array(played(0.01, speed=0.5, fps=10))
    assert relative_error(seen[:, 0], np.arange(21) / 10) < 1e-12
    assert relative_error(seen[:, 1], np.arange(21) / 10) < 1e-12


def test_play_leaves_late_frames_out(played: Callable[..., list[tuple[float, float]]]) -> None:
    seen = np.array(played(0.35, fps=10))
    assert len(seen) < 6
    assert np.all(np.abs(2 * seen[:-1, 0] - seen[:-1, 1]) <= 2 * 0.1 + 1e-12)
    assert seen[-1, 1] == 2


# ---- bodies of URDFs

BODIES = """<robot name="lamp"><link name="foot"><visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 0.5"/><geometry>{}</geometry>
<material name="green"><color rgba="0 1 0 1"/></material></visual></link>
<joint name="hinge" type="continuous"><parent link="foot"/><child link="arm"/><axis xyz="1 0 0"/></joint></robot>"""


def test_bodies_of_the_urdf_are_used() -> None:
    text = BODIES.format('<cylinder radius="0.1" length="1"/>')
    model = gd.load_urdf(text, check="off")
    scene = Scene(model, visual_model=visuals(text, model))
    foot, arm = scene.visual_model.geometryObjects
    assert isinstance(foot.geometry, coal.Box)
    assert (arm.geometry.radius, arm.geometry.halfLength) == (0.1, 0.5)
    assert np.array_equal(arm.meshColor, [0, 1, 0, 1])
    at = placed(scene, np.array([0.0, 1.0]))[arm.name]  # a quarter turn
    assert relative_error(at.translation, [0, -0.5, 0]) < ROUNDING
    with Viewer(text, port=0) as shown:
        assert len(shown.scene.visual_model.geometryObjects) == 2


def test_bodies_without_a_material_have_the_colors_of_their_links() -> None:
    text = BODIES.format('<cylinder radius="0.1" length="1"/>')
    text = text.replace('<material name="green"><color rgba="0 1 0 1"/></material>', "")
    model = gd.load_urdf(text, check="off")
    foot, arm = Scene(model, visual_model=visuals(text, model)).visual_model.geometryObjects
    assert foot.meshColor == pytest.approx([*color_of(-1), 1])
    assert arm.meshColor == pytest.approx([*color_of(0), 1])


def test_bodies_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "lamp.urdf"
    path.write_text(BODIES.format('<mesh filename="package://lamp/arm.stl"/>'))
    model = gd.load_urdf(path, check="off")
    with pytest.warns(UrdfWarning, match=r"^lamp.urdf: its visual bodies cannot be read \(.*arm.stl.*package_dirs="):
        assert visuals(path, model) is None
    mesh = tmp_path / "lamp" / "arm.stl"
    mesh.parent.mkdir()
    mesh.write_text(
        "solid arm\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
        "endsolid arm\n"
    )
    assert visuals(path, model, [tmp_path]).ngeoms == 2
    with Viewer(path, port=0, package_dirs=[tmp_path]) as shown:
        assert len(shown.scene.visual_model.geometryObjects) == 2


def test_packages_are_looked_for_beside_the_urdf(tmp_path: Path) -> None:
    path, mesh = tmp_path / "lamp.urdf", tmp_path / "lamp" / "arm.stl"
    path.write_text(BODIES.format('<mesh filename="package://lamp/arm.stl"/>'))
    mesh.parent.mkdir()
    mesh.write_text(
        "solid arm\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
        "endsolid arm\n"
    )
    found = visuals(path, gd.load_urdf(path, check="off"))
    assert found is not None
    assert found.ngeoms == 2


def test_a_urdf_that_only_speaks_of_bodies_has_none() -> None:
    text = (ROOT / "urdf" / "cart_pendulum.urdf").read_text(encoding="utf-8")
    text = text.replace("</robot>", "<!-- no <visual> here -->\n</robot>")
    assert visuals(text, gd.load_urdf(text)) is None


def test_a_viewer_that_cannot_be_filled_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    own = Viewer.close
    monkeypatch.setattr(Viewer, "close", lambda self: (closed.append(self.url), own(self)))
    bodies = pin.GeometryModel()
    bodies.addGeometryObject(pin.GeometryObject("egg", 1, 0, pin.SE3.Identity(), coal.Ellipsoid(1, 2, 3)))
    with pytest.raises(UnsupportedError):
        Viewer(gd.load_urdf("cart_pendulum"), visual_model=bodies, port=0)
    (url,) = closed
    with socket.socket() as probe:
        assert probe.connect_ex(("localhost", int(url.rpartition(":")[2]))) != 0


def test_a_shape_that_the_visualizer_does_not_know() -> None:
    model = gd.load_urdf("cart_pendulum")
    bodies = pin.GeometryModel()
    bodies.addGeometryObject(pin.GeometryObject("egg", 1, 0, pin.SE3.Identity(), coal.Ellipsoid(1, 2, 3)))
    with pytest.raises(
        UnsupportedError,
        match=r"cart_pendulum: a body cannot be shown .*egg.*; to have cylinders and boxes, give the pin",
    ):
        Viewer(model, visual_model=bodies, port=0)


@pytest.mark.parametrize(("name", "bodies"), [("ur5", 7), ("panda", 11)])
def test_collada_meshes_are_shown(name: str, bodies: int) -> None:
    """By ``pycollada``: each body of the URDF is a mesh on the page, where Pinocchio has it."""
    path, model = robots.path(name), robots.load(name)
    share = path.parents[4]  # of package://example-robot-data
    given = visuals(path, model, [share])
    assert given is not None
    assert {Path(body.meshPath).suffix for body in given.geometryObjects} == {".dae"}
    q = np.random.default_rng(0).uniform(-1, 1, model.nq)
    data, there = model.createData(), given.createData()
    pin.updateGeometryPlacements(model, data, given, there, q)
    with Viewer(model, q=q, visual_model=given, port=0) as shown:
        nodes = [node for key, node in shown.visualizer.frames.items() if key.startswith("pinocchio/visual/")]
        assert [type(node).__name__ for node in nodes] == ["GlbHandle"] * bodies
        for node, at in zip(nodes, there.oMg, strict=True):
            assert relative_error(node.position, at.translation) < ROUNDING


# ---- the page


def test_it_serves_a_page_until_it_is_closed(capfd: pytest.CaptureFixture[str]) -> None:
    with Viewer("puma560", port=0, frames=True) as shown:
        port = int(shown.url.rpartition(":")[2])
        with urllib.request.urlopen(shown.url, timeout=20) as page:
            assert page.status == 200
        shown.show([0.1] * 6)
        assert np.array_equal(shown.q, [0.1] * 6)
    with socket.socket() as probe:
        assert probe.connect_ex(("localhost", port)) != 0
    assert capfd.readouterr() == ("", "")


def test_what_the_page_is_told() -> None:
    """The nodes that viser sends: as many as there are bodies and tubes, where the scene has them."""
    arm, _ = flexible()
    q = bent(arm)
    with Viewer(arm, port=0, scale=2.0) as shown:
        shown.show(q)
        drawn = shown.scene.exaggerated(q, 2.0)
        for handle, tube in zip(shown._tubes, shown.scene.tubes, strict=True):
            assert relative_error(handle.vertices, tube.vertices(drawn)) < 1e-6  # single precision
        for name, at in placed(shown.scene, drawn).items():
            node = shown.visualizer.frames[f"pinocchio/visual/{name}"]
            assert relative_error(node.position, at.translation) < ROUNDING
            assert relative_error(np.abs(node.wxyz[1:]), np.abs(pin.Quaternion(at.rotation).coeffs()[:3])) < 1e-7
        assert shown.server.scene.get_handle_by_name("/legend").text == "deflections × 2"
    with Viewer(arm, port=0) as shown:
        assert shown.server.scene.get_handle_by_name("/legend") is None


def test_export(tmp_path: Path) -> None:
    with Viewer("cart_pendulum", port=0) as shown:
        still, moving = tmp_path / "still.html", tmp_path / "moving.html"
        shown.export(still)
        assert np.array_equal(shown.q, [0, 0])
        shown.export(moving, ([0.0, 1.0], [[0.0, 0.0], [1.0, 3.0]]))
        assert np.array_equal(shown.q, [1, 3])
    assert still.read_text().startswith("<!")
    assert len(moving.read_text()) > len(still.read_text())


def test_an_exported_motion_has_the_pace_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    recorder = SimpleNamespace(insert_sleep=pauses.append, as_html=lambda: "<!doctype html>")
    with Viewer("cart_pendulum", port=0) as shown:
        monkeypatch.setattr(shown.server, "get_scene_serializer", lambda: recorder)
        shown.export(tmp_path / "x.html", ([0.0, 1.0], np.zeros((2, 2))), speed=0.5, fps=4.0)
        assert pauses == pytest.approx([0.25] * 8)
        assert (tmp_path / "x.html").read_text() == "<!doctype html>"


def test_a_motion_is_played_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    clock = Clock(0.0)
    monkeypatch.setattr(viewer, "time", clock)

    def show(self: Viewer, q: np.ndarray) -> None:
        seen.append(q[0])
        if len(seen) == 7:
            raise KeyboardInterrupt

    with Viewer("cart_pendulum", port=0) as shown:
        monkeypatch.setattr(Viewer, "show", show)
        with pytest.raises(KeyboardInterrupt):
            shown.play(([0.0, 1.0], [[0.0, 0.0], [2.0, 0.0]]), fps=2, loop=True)
    assert seen == pytest.approx([0, 1, 2, 0, 1, 2, 0])


def test_a_picture_is_laid_on_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the browser that came first; where it is transparent the background shows."""
    asked: list[tuple[int, int]] = []

    def render(height: int, width: int, **_: object) -> np.ndarray:
        asked.append((height, width))
        rgba = np.zeros((height, width, 4), dtype=np.uint8)
        rgba[0, :, 3], rgba[0, :, 0] = 255, 200
        rgba[1, 0] = 100, 0, 0, 51
        return rgba

    with Viewer("cart_pendulum", port=0) as shown:
        monkeypatch.setattr(
            shown.server, "get_clients", lambda: {7: SimpleNamespace(), 3: SimpleNamespace(get_render=render)}
        )
        shown.screenshot(tmp_path / "x.png", width=3, height=2)
    found = np.rint(255 * matplotlib.image.imread(tmp_path / "x.png")[..., :3])
    assert asked == [(2, 3)]
    assert found[0].tolist() == [[200, 0, 0]] * 3
    background = np.array([244, 246, 249])
    assert found[1].tolist() == np.rint([[20, 0, 0] + 0.8 * background, background, background]).tolist()


def test_lengths_of_the_grid_are_round() -> None:
    found = [viewer._round_length(x) for x in (1.0, 1.9, 2.0, 4.9, 5.0, 9.9, 0.03)]
    assert found == pytest.approx([1, 1, 2, 2, 5, 5, 0.02])


@pytest.mark.parametrize(("name", "flat"), [("two_link_flexible", True), ("puma560", False)])
def test_the_camera_sees_the_whole_robot(name: str, flat: bool) -> None:
    """What is flat it sees from above."""
    with Viewer(name, port=0) as shown:
        camera, scene = shown.server.initial_camera, shown.scene
        towards = camera.position - camera.look_at
        assert (towards[2] / np.linalg.norm(towards) > 0.7) == flat
        low, high = extent(scene.tree, scene.placements(scene.neutral))
        assert camera.look_at == pytest.approx((low + high) / 2)
        for corner in np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T:
            row, column = pixel(shown, corner)
            assert 0 < row < 600
            assert 0 < column < 900


def test_deflections_may_be_left_out() -> None:
    arm, _ = flexible()
    with Viewer(arm, port=0, q=bent(arm), scale=0) as shown:
        assert shown.server.scene.get_handle_by_name("/legend").text == "deflections × 0"


def test_the_package_does_not_need_viser() -> None:
    code = (
        "import sys; sys.modules['viser'] = None; import gdalembert as gd; "
        "assert 'gdalembert.viewer' not in sys.modules; from gdalembert.viewer import Viewer\n"
        "try: Viewer('puma560')\nexcept gd.errors.UnsupportedError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "the 3-D view needs viser: pip install 'gdalembert[viewer]'\n"


# ---- what is refused


@pytest.mark.parametrize(
    ("error", "message", "robot", "options"),
    [
        (ArgumentError, "port=70000; give a number from 0 to 65535, 0 for any", "puma560", {"port": 70000}),
        (ArgumentError, "scale: got -1", "puma560", {"scale": -1.0}),
        (UnknownNameError, "no shipped robot named 'pumma'", "pumma", {}),
        (UnknownNameError, "no frame named 'tol'; nearest: 'tool'", "puma560", {"frames": ["tol"]}),
        (ArgumentTypeError, "frames: got 'tool'; give True, False or a list of names", "puma560", {"frames": "tool"}),
        (ArgumentError, r"Viewer: q has shape \(2,\); puma560 takes \(6,\)", "puma560", {"q": [0, 0]}),
        (ArgumentError, "links: only a FlexibleArm has flexible links", "puma560", {"links": {"link1": None}}),
        (ArgumentTypeError, "visual_model: expected a pin.GeometryModel, got str", "puma560", {"visual_model": "x"}),
        (ArgumentTypeError, "expected a pin.Model, got int", 3, {}),
    ],
)
def test_refusals(error: type[Exception], message: str, robot: object, options: dict[str, object]) -> None:
    with pytest.raises(error, match=message):
        Viewer(robot, **options)


def test_lengths_that_are_not_one_are_refused() -> None:
    model = every_joint(0)
    q = pin.neutral(model)
    joint = model.joints[model.getJointId("Spherical")]
    q[joint.idx_q + 3] = 0.45
    off = "q of joint 'Spherical' is off unit length by 0.55; normalise it"
    with pytest.raises(ArgumentError, match=f"^Viewer: {off}"):
        Viewer(model, q=q, port=0)
    with Viewer(model, port=0) as shown:
        with pytest.raises(ArgumentError, match=f"^show: {off}"):
            shown.show(q)
        with pytest.raises(ArgumentError, match=f"^play: {off}"):
            shown.play(([0.0, 1.0], [pin.neutral(model), q]))


def test_a_closed_viewer_shows_nothing(tmp_path: Path) -> None:
    with Viewer("cart_pendulum", port=0) as shown:
        pass
    for name, run in (
        ("show", lambda: shown.show([0.0, 0.0])),
        ("play", lambda: shown.play(([0.0, 0.1], np.zeros((2, 2))))),
        ("export", lambda: shown.export(tmp_path / "x.html")),
        ("screenshot", lambda: shown.screenshot("x.png")),
        ("wait_for_browser", lambda: shown.wait_for_browser(0.1)),
    ):
        with pytest.raises(UnsupportedError, match=f"^{name}: the viewer of cart_pendulum is closed; make a new one$"):
            run()


def test_refusals_of_arms() -> None:
    arm, links = flexible()
    with pytest.raises(
        ArgumentError,
        match="two_link_flexible: an arm that was pickled or copied has no shapes of its modes; give links=, the dict",
    ):
        Viewer(pickle.loads(pickle.dumps(arm)))
    with pytest.raises(UnknownNameError, match="no flexible link named 'link3'"):
        Viewer(arm, links=links | {"link3": links["link1"]})
    bodies = pin.GeometryModel()
    bodies.addGeometryObject(pin.GeometryObject("box", 5, 0, pin.SE3.Identity(), coal.Box(1, 1, 1)))
    with pytest.raises(ArgumentError, match="visual_model: 'box' is on joint 5 of a model with 2"):
        Viewer(gd.load_urdf("cart_pendulum"), visual_model=bodies)


def test_refusals_of_an_open_viewer(tmp_path: Path) -> None:
    with Viewer("cart_pendulum", port=0) as shown:
        motion = gd.simulate(gd.NewtonEuler(gd.load_urdf("puma560_3")), np.zeros(6), [0, 0.01])
        for run, message in (
            (lambda: shown.show([1.0]), r"show: q has shape \(1,\); cart_pendulum takes \(2,\)"),
            (lambda: shown.show([1.0, np.nan]), "show: q: one is not finite"),
            (lambda: shown.play(motion), "play: the motion has q of 3 numbers; cart_pendulum has 2"),
            (
                lambda: shown.play(([0.0, 1.0], np.zeros((2, 3)))),
                r"play: got t of shape \(2,\) and q of shape",
            ),
            (
                lambda: shown.play(([0.0], np.zeros((1, 2)))),
                r"play: got t of shape \(1,\) and q of shape \(1, 2\); give \(N,\), N at least 2, and \(N, 2\)",
            ),
            (lambda: shown.play(([0.0, 0.0], np.zeros((2, 2)))), "play: t: 0 s comes after 0 s"),
            (lambda: shown.play(([0.0, 3.0, 2.0], np.zeros((3, 2)))), "play: t: 2 s comes after 3 s"),
            (lambda: shown.play(([0.0, 1.0], np.zeros((2, 2))), speed=0), "play: speed"),
            (lambda: shown.screenshot("x.jpg"), "screenshot: x.jpg: give a name that ends in .png"),
            (lambda: shown.screenshot("x.png", width=0), "screenshot: width=0; give a whole number of pixels"),
        ):
            with pytest.raises(ArgumentError, match=message):
                run()
        with pytest.raises(
            ArgumentTypeError, match=r"play: expected a Simulation, a Solution or a pair \(t, q\), got int"
        ):
            shown.play(3)
        with pytest.raises(UnsupportedError, match=f"screenshot: no browser shows the page; open {shown.url} first"):
            shown.screenshot(tmp_path / "x.png")
        with pytest.raises(UnsupportedError, match=f"no browser came within 0.1 s; open {shown.url}"):
            shown.wait_for_browser(0.1)


# ---- the command


def test_a_joint_sweep_stays_within_limits() -> None:
    model = gd.load_urdf("panda7")
    t, q = joint_sweep(model, pin.neutral(model))
    assert np.all(np.diff(t) > 0)
    # neutral itself lies outside the range of joint 4 (and 6), which is its own upper limit there
    inside = (model.lowerPositionLimit <= 0) & (model.upperPositionLimit >= 0)
    assert np.all(q.min(axis=0)[inside] >= np.maximum(model.lowerPositionLimit, -np.pi)[inside] - 1e-12)
    assert np.all(q.max(axis=0)[inside] <= np.minimum(model.upperPositionLimit, np.pi)[inside] + 1e-12)
    assert np.all(np.ptp(q, axis=0) > 1)
    model = every_joint(0)
    t, q = joint_sweep(model, pin.neutral(model))
    assert len(t) == 32 * model.nv + 1
    assert all(pin.isNormalized(model, row, 1e-9) for row in q)


def test_a_joint_sweep_goes_from_where_it_is_to_the_limits() -> None:
    """But for slides by no more than 1 m."""
    model = pin.Model()
    kinds = (pin.JointModelRX(), pin.JointModelPY(), pin.JointModelTranslation())
    for k, kind in enumerate(kinds):
        model.addJoint(k, kind, pin.SE3.Identity(), f"joint {k}")
    model.lowerPositionLimit = np.array([-0.5, -5.0, -0.1, -0.3, -0.5])
    model.upperPositionLimit = np.array([0.8, 5.0, 0.2, 0.4, 0.6])
    _, rows = joint_sweep(model, np.array([0.2, 0.5, 0.05, 0.1, 0.2]))
    assert rows.max(axis=0) == pytest.approx([0.8, 1.5, 0.2, 0.4, 0.6])
    assert rows.min(axis=0) == pytest.approx([-0.5, -0.5, -0.1, -0.3, -0.5])
    assert rows[0] == pytest.approx(rows[-1])


def test_configurations_of_the_command_line() -> None:
    model = gd.load_urdf("cart_pendulum")
    assert np.array_equal(configuration(model, "1,-0.5"), [1, -0.5])
    for text, message in (("1", "takes 2 finite numbers, and these are 1"), ("a,b", "give numbers, as 0,0.5,-1")):
        with pytest.raises(ArgumentError, match=message):
            configuration(model, text)


# ---- pictures


@contextmanager
def browser(shown: Viewer, profile: Path) -> Iterator[None]:
    """Debian's chromium, headless, with WebGL in software."""
    command = ["chromium", "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    process = subprocess.Popen(
        [*command, f"--user-data-dir={profile}", "--window-size=900,600", shown.url],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        shown.wait_for_browser(120)
        yield
    finally:
        process.terminate()
        process.wait(30)


def picture(shown: Viewer, path: Path) -> np.ndarray:
    shown.screenshot(path, 900, 600)
    return matplotlib.image.imread(path)[..., :3]


def pixel(shown: Viewer, point: np.ndarray) -> tuple[int, int]:
    """Row and column where the camera has a point, by the pinhole that the viewer asked for."""
    camera = shown.server.initial_camera
    z = camera.look_at - camera.position
    z /= np.linalg.norm(z)
    x = np.cross(z, [0, 0, 1])
    x /= np.linalg.norm(x)
    seen = np.array([x, np.cross(z, x), z]) @ (point - camera.position)
    focal = 300 / np.tan(camera.fov / 2)
    return round(300 + focal * seen[1] / seen[2]), round(450 + focal * seen[0] / seen[2])


def looks_like(found: np.ndarray, color: tuple[float, float, float]) -> bool:
    """Of the same hue in whatever light: the colours less their grey point the same way."""
    a, b = found - found.min(), np.array(color) - min(color)
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return bool(np.ptp(found) > 0.15 and a @ b / size > 0.97)


@pytest.mark.system
def test_the_robot_is_on_the_picture(tmp_path: Path) -> None:
    q = np.array([0.5, -0.6, 0.4, 0.0, 0.3, 0.0])
    with Viewer("puma560", port=0, q=q) as shown, browser(shown, tmp_path / "profile"):
        for number in range(2):
            image = picture(shown, tmp_path / f"{number}.png")
            at = placed(shown.scene, q)
            for name, joint in (("joint2 link 0", 1), ("joint3 link 0", 2), ("joint6 body", 5)):
                row, column = pixel(shown, at[name].translation)
                assert looks_like(image[row, column], color_of(joint)), (number, name, image[row, column])
            assert np.ptp(image[5, 5]) < 0.05  # the background is neutral
            assert image[5, 5].min() > 0.9  # and light
            q = np.array([0.2, -0.4, 0.2, 0.0, 0.0, 0.0])
            shown.show(q)


@pytest.mark.system
def test_the_arm_on_the_picture_bends(tmp_path: Path) -> None:
    arm, _ = flexible()
    tubes = {"link1": 0, "link2": 1}
    with Viewer(arm, port=0) as shown, browser(shown, tmp_path / "profile"):
        straight, curved = np.zeros(arm.tree.nq), bent(arm, 3.0)
        straight[:2] = curved[:2]
        images, tips = [], []
        for number, q in enumerate((straight, curved)):
            shown.show(q)
            images.append(picture(shown, tmp_path / f"{number}.png"))
            tips.append(pixel(shown, arm.tip_placement("link2")(q).full()[:3, 3]))
            for name, k in tubes.items():
                line = shown.scene.tubes[k].line(q)[0].full()
                for section in (12, 20, 28):
                    row, column = pixel(shown, line[:, section])
                    color = color_of(shown.scene.tubes[k].joint)
                    assert looks_like(images[-1][row, column], color), (name, section, images[-1][row, column])
    assert np.hypot(*np.subtract(*tips)) > 20
    payload = next(b for b in shown.scene.visual_model.geometryObjects if b.name.endswith("body")).meshColor[:3]
    for image, own, other in ((images[0], tips[0], tips[1]), (images[1], tips[1], tips[0])):
        assert looks_like(image[own], tuple(payload))
        assert not looks_like(image[other], tuple(payload))
