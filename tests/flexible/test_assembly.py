"""Where beams run, what stands where on them, what they replace, and what does not fit."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import (
    ArgumentError,
    ArgumentTypeError,
    BeamWarning,
    TipWarning,
    UnknownNameError,
    UnsupportedError,
)
from gdalembert.model import Tree, read_tree
from gdalembert.spatial.arrays import homogeneous
from tests.helpers.models import relative_error

TIGHT = 1e-12
FLAT = gd.Beam(None, 0.6, EI_z=10.0)
SPATIAL = gd.Beam(None, 0.6, EI_y=12.0, EI_z=10.0, GJ=5.0)
SECOND = gd.Beam(0.8, 0.45, EI_z=10.0)
TWO = "two_link_flexible"

CRANE = """<robot name="crane"><link name="ground"/>
<link name="boom"><inertial><origin xyz="0.6 0 0"/><mass value="1.2"/>
 <inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="bracket"><inertial><origin xyz="0.1 0 0"/><mass value="0.2"/>
 <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="camera"/><link name="nose"/>
<link name="hook"><inertial><origin xyz="0 0 -0.2"/><mass value="0.7"/>
 <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="mirror"><inertial><origin xyz="0 0 0.1"/><mass value="0.3"/>
 <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slew" type="revolute"><parent link="ground"/><child link="boom"/><axis xyz="0 0 1"/>
 <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="bracket_joint" type="fixed"><parent link="boom"/><child link="bracket"/><origin xyz="0.5 0 0"/></joint>
<joint name="camera_joint" type="fixed"><parent link="bracket"/><child link="camera"/><origin xyz="0.2 0.1 0"/></joint>
<joint name="nose_joint" type="fixed"><parent link="boom"/><child link="nose"/><origin xyz="1.2 0 0"/></joint>
<joint name="swing" type="revolute"><parent link="boom"/><child link="hook"/><origin xyz="0.9 0.1 0"/>
 <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="tilt" type="revolute"><parent link="bracket"/><child link="mirror"/><origin xyz="0.1 0 0.1"/>
 <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint></robot>"""


def crane() -> pin.Model:
    return gd.load_urdf(CRANE)


def quietly(model: pin.Model | Tree, links: dict[str, gd.FlexibleLink], **options: object) -> gd.FlexibleArm:
    """Not told what beams replace."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* is now a beam")
        return gd.FlexibleArm(model, links, **options)


def clamped(arm: gd.FlexibleArm, link: str) -> np.ndarray:
    """The clamped frame of a flexible link in the link frame."""
    name = arm.flexibility.beams[link].root
    root = next(frame for frame in arm.tree.frames if frame.name == name)
    return homogeneous(root.rotation, root.translation)


def abscissae(arm: gd.FlexibleArm, link: str) -> dict[int, float]:
    """Where the root and the stations of a link stand, by the index of the joint."""
    joint, inverse = arm.flexibility.beams[link].link, np.linalg.inv(clamped(arm, link))
    places = {k: (inverse @ np.append(arm.tree.joints[k].type.origin, 1))[0] for k in arm.tree.stations(joint)}
    return {joint: 0.0} | {k: round(float(x), 14) for k, x in places.items()}


def stands(arm: gd.FlexibleArm, link: str = "boom") -> dict[str, float]:
    """Abscissae of all frames on a link."""
    at = abscissae(arm, link)
    return {frame.name: at[frame.joint] for frame in arm.tree.frames if frame.joint in at}


def carriers(arm: gd.FlexibleArm, link: str = "boom") -> dict[str, float]:
    """Abscissae of all joints on a link."""
    at = abscissae(arm, link)
    return {j.name: at[j.parent] for j in arm.tree.joints if j.parent in at and not j.type.is_modal}


# Where the beam runs.


def test_the_length_comes_from_the_model() -> None:
    """To the only child joint; to a named frame of a last link; the same robot as with lengths written out."""
    tip = gd.FlexibleLink(replace(SECOND, length=None), to="tip")
    found = gd.FlexibleArm(gd.load_urdf(TWO), {"link1": gd.FlexibleLink(FLAT), "link2": tip})
    given = {"link1": gd.FlexibleLink(FLAT.with_length(1.0)), "link2": gd.FlexibleLink(SECOND)}
    wanted = gd.FlexibleArm(gd.load_urdf(TWO), given)
    assert found.flexibility.beams["link1"].length == 1.0
    assert found.flexibility.beams["link2"].length == 0.8
    q = np.random.default_rng(0).normal(size=found.tree.nq) * np.array([1, 1, *[0.01] * 8])
    # both have the modes of what their link carries: the second one nothing but frames
    assert found.layout == wanted.layout
    assert np.array_equal(found.mass_matrix(q).full(), wanted.mass_matrix(q).full())


def test_a_taper_runs_along_the_length_of_the_model() -> None:
    """Functions are of the abscissa in m, whatever the length."""
    tube = {"density": 2700.0, "youngs_modulus": 7e10}
    taper = gd.Beam.round(None, lambda eta: 0.03 - 0.01 * eta, **tube)
    dyn = quietly(gd.load_urdf(TWO), {"link1": gd.FlexibleLink(taper)})
    wanted = gd.Beam.round(1.0, lambda eta: 0.03 - 0.01 * eta, **tube)
    at = np.linalg.inv(clamped(dyn, "link1"))
    found = at @ dyn.tree.modal[0].rigid @ at.T
    assert relative_error(found, gd.FlexibleLink(wanted, gd.modes.hermite()).inertia().rigid) < TIGHT


def test_a_beam_to_one_of_several() -> None:
    """Others stand where they lie along it, what is fixed to each other on one section; beyond the tip on the tip."""
    dyn = quietly(crane(), {"boom": gd.FlexibleLink(FLAT, to="swing")})
    length = np.hypot(0.9, 0.1)
    assert dyn.flexibility.beams["boom"].length == pytest.approx(length, rel=1e-15)
    at = stands(dyn)
    along = 0.5 * 0.9 / length
    assert {at[n] for n in ("bracket", "bracket_joint", "camera", "camera_joint")} == {at["bracket"]}
    assert at["bracket"] == pytest.approx(along, rel=1e-15)
    assert at["nose"] == at["boom tip"] == pytest.approx(length, rel=1e-15)
    assert at["boom"] == at["boom root"] == 0
    masses = {eta: dyn.tree.joints[k].mass for k, eta in abscissae(dyn, "boom").items() if eta}
    assert masses[at["bracket"]] == pytest.approx(0.2, rel=1e-15)
    assert sum(masses.values()) == pytest.approx(0.2, rel=1e-15)
    attached = carriers(dyn)
    assert attached["swing"] == at["nose"]
    assert attached["tilt"] == at["bracket"]  # it stands on the bracket


def test_what_is_said_of_one_holds_for_all_that_is_fixed_to_it() -> None:
    for name in ("bracket", "bracket_joint", "camera", "tilt"):
        link = gd.FlexibleLink(FLAT, to="nose", children={name: 0.7, "swing": "tip"})
        at = stands(quietly(crane(), {"boom": link}))
        assert at["bracket"] == at["camera"] == 0.7
    arm = quietly(crane(), {"boom": gd.FlexibleLink(FLAT, to="camera", children={"swing": "tip"})})
    # the end stands on the tip, with its bracket
    assert stands(arm)["bracket"] == pytest.approx(arm.flexibility.beams["boom"].length, rel=1e-14)


def test_a_beam_may_run_on_behind_its_only_joint() -> None:
    """With a root and a length: the joint stands where it lies, and is bent as the beam is there."""
    link = gd.FlexibleLink(FLAT.with_length(1.2), gd.modes.hermite(), root=np.eye(4))
    arm = quietly(gd.load_urdf(TWO), {"link1": link})
    assert carriers(arm, "link1") == {"joint2": 1.0}
    assert stands(arm, "link1")["link1 tip"] == 1.2


def test_a_child_on_the_tip_is_there_to_rounding() -> None:
    """Beyond the tip by 1e-6 of the length, as of numbers that were rounded, it stands on it; farther it is refused."""
    near, far = (CRANE.replace('xyz="0.9 0.1 0"', f'xyz="{1.2 * (1 + beyond)!r} 0.1 0"') for beyond in (5e-7, 5e-6))
    link = gd.FlexibleLink(FLAT, to="nose")
    assert carriers(quietly(gd.load_urdf(near), {"boom": link}))["swing"] == 1.2
    with pytest.raises(ArgumentError, match=r"child joint 'swing' lies at 1.20001 m, beyond the tip"):
        gd.FlexibleArm(gd.load_urdf(far), {"boom": link})


def test_a_beam_along_the_axis_of_its_joint() -> None:
    """No direction across it is nearest to the axis; the clamped frame is one all the same."""
    rolled = CRANE.replace('<axis xyz="0 0 1"/>', '<axis xyz="1 0 0"/>')
    dyn = quietly(gd.load_urdf(rolled), {"boom": gd.FlexibleLink(FLAT, to="nose")})
    found = clamped(dyn, "boom")
    assert np.array_equal(found[:, 0], [1, 0, 0, 0])
    assert np.array_equal(found[:3, :3].T @ found[:3, :3], np.eye(3))
    assert np.linalg.det(found) == 1


def test_stations_share_the_modes_of_their_link() -> None:
    """However many there are, a mode is strained once."""
    dyn = quietly(crane(), {"boom": gd.FlexibleLink(SPATIAL, gd.modes.hermite(), gd.modes.hermite(), to="nose")})
    assert len(dyn.tree.stations(dyn.tree.links[0])) > 1
    q = np.array([0.3, -0.2, 0.5, 0.01, 0.02, -0.03, 0.04])
    elastic = dyn.stiffness_matrix @ q
    assert relative_error(float(dyn.elastic_energy(q)), 0.5 * q @ elastic) < TIGHT
    held = dyn.nle(q, np.zeros(7)).full().ravel() - dyn.generalized_gravity(q).full().ravel()
    # a difference of forces, of which gravity is the smaller
    assert relative_error(held, elastic) < TIGHT


@pytest.mark.parametrize("link", [
    gd.FlexibleLink(SPATIAL, gd.modes.hermite(), gd.modes.hermite(), to="swing"),
    gd.FlexibleLink(SPATIAL, gd.modes.hermite(), to="nose", children={"bracket": "root"}),
    gd.FlexibleLink(SPATIAL.with_length(0.7), gd.modes.hermite(), root=np.eye(4), children={"swing": "tip"}),
    gd.FlexibleLink(SPATIAL, gd.modes.hermite(), root=pin.SE3(np.eye(3), np.array([0.1, 0.05, 0])), to="nose"),
])  # fmt: skip
def test_nothing_moves_where_nothing_bends(link: gd.FlexibleLink) -> None:
    """Frames of the undeformed arm are the model's; and with the own body kept and a beam of no mass, so is M."""
    model = crane()
    aside = pin.SE3(pin.exp3(np.array([0.3, -0.2, 0.5])), np.array([1.0, 2, 3]))
    model.addFrame(pin.Frame("aside", 0, 0, aside, pin.FrameType.OP_FRAME))
    light = replace(link.beam, mass_per_length=1e-15, section_inertia=(0.0, 0.0))
    dyn = gd.FlexibleArm(model, {"boom": replace(link, beam=light, keep_body=True)})
    q = np.zeros(dyn.tree.nq)
    q[:3] = 0.3, -0.7, 0.4
    data = model.createData()
    pin.framesForwardKinematics(model, data, q[:3])
    for k, frame in enumerate(model.frames):
        found = gd.Kinematics(dyn.tree).by_index().frame_placement(k)(q).full()
        assert relative_error(found, data.oMf[k].homogeneous) < TIGHT, frame.name
    assert relative_error(dyn.mass_matrix(q).full()[:3, :3], pin.crba(model, data, q[:3])) < TIGHT


def test_root_and_end() -> None:
    """With a root the beam ends where its end lies along x, however far beside it."""
    at = pin.SE3(np.eye(3), np.array([0.1, 0.05, 0.0]))
    dyn = quietly(crane(), {"boom": gd.FlexibleLink(FLAT, to="swing", root=at)})
    assert dyn.flexibility.beams["boom"].length == pytest.approx(0.8, rel=1e-15)
    placed = dyn.tip_placement("boom")(np.zeros(dyn.tree.nq)).full()
    assert np.abs(placed[:3, 3] - [0.9, 0.05, 0]).max() < 1e-15


def test_a_child_may_stand_off_a_shorter_beam_if_that_is_said() -> None:
    link = gd.FlexibleLink(FLAT.with_length(0.9), children={"joint2": "tip"})
    dyn = quietly(gd.load_urdf(TWO), {"link1": link})
    (child,) = (joint for joint in dyn.tree.joints if joint.name == "joint2")
    assert child.parent == dyn.tree.first_station(0)
    assert np.abs(child.translation - [0.1, 0, 0]).max() < 1e-15


def test_modes_by_role() -> None:
    """What stands on the root does not bend the beam."""
    tip = gd.FlexibleLink(FLAT, to="nose", children={"bracket": "root", "swing": "root"})
    for link, carries in ((gd.FlexibleLink(FLAT, to="nose"), True), (tip, False)):
        (inertia,) = quietly(crane(), {"boom": link}).tree.modal.values()
        wanted = gd.FlexibleLink(FLAT.with_length(1.2)).by_role(carries=carries)
        assert np.array_equal(inertia.stiffness, wanted.inertia().stiffness)


@pytest.mark.parametrize(
    ("options", "carries"),
    [
        ({}, False),
        ({"tip_body": pin.Inertia(0.1, np.zeros(3), 0.01 * np.eye(3))}, True),
        ({"children": {"swing": "root", "tilt": "root", "bracket_joint": 0.5}}, True),
    ],
)
def test_modes_by_role_of_bodies(options: dict[str, object], carries: bool) -> None:
    """A body on the tip, or fixed to the beam, counts as much as a joint does."""
    given = {"to": "nose", "children": {"bracket": "root", "swing": "root"}} | options
    (found,) = quietly(crane(), {"boom": gd.FlexibleLink(FLAT, **given)}).tree.modal.values()
    wanted = gd.FlexibleLink(FLAT.with_length(1.2)).by_role(carries=carries).inertia()
    assert np.array_equal(found.stiffness, wanted.stiffness)


# What a beam replaces.


def test_the_own_body_can_stay() -> None:
    """As a hub in the clamped frame, beside the beam; then nothing is replaced, and nobody is told."""
    model = crane()
    link = gd.FlexibleLink(FLAT, gd.modes.hermite(), to="nose", keep_body=True)
    kept = gd.FlexibleArm(model, {"boom": link})
    own = pin.Inertia(1.2, np.array([0.6, 0, 0]), np.diag([0.01, 0.2, 0.2]))
    hub = quietly(model, {"boom": replace(link, keep_body=False, hub=own)})
    assert kept.replacements == ()
    assert len(hub.replacements) == 1
    q = np.array([0.3, -0.2, 0.5, 0.01, 0.02])
    assert relative_error(kept.mass_matrix(q).full(), hub.mass_matrix(q).full()) < TIGHT
    assert relative_error(kept.generalized_gravity(q).full(), hub.generalized_gravity(q).full()) < TIGHT


def test_a_hub_counts_with_its_beam() -> None:
    """Masses and centres of mass of both, in the link frame."""
    root = pin.SE3(pin.exp3(np.array([0.0, 0, np.pi / 2])), np.array([0.1, 0.2, 0.3]))
    hub = pin.Inertia(0.4, np.array([0.05, 0, 0]), 0.01 * np.eye(3))
    link = gd.FlexibleLink(
        FLAT.with_length(1.0), root=root, hub=hub, to="nose", children={"nose": "tip", "swing": "tip"}
    )
    (found,) = quietly(crane(), {"boom": link}).replacements
    assert (found.mass, found.beam_mass) == pytest.approx((1.2, 1.0), rel=1e-15)
    assert np.abs(found.com - [0.6, 0, 0]).max() < 1e-15
    assert np.abs(found.beam_com - [0.1, 0.2 + 0.6 * 0.5 + 0.4 * 0.05, 0.3]).max() < 1e-15


def test_a_link_without_mass_is_replaced() -> None:
    """Its centre of mass is nowhere; the origin stands for it."""
    bare = CRANE.replace('<origin xyz="0.6 0 0"/><mass value="1.2"/>', '<origin xyz="0.6 0 0"/><mass value="0"/>')
    (found,) = quietly(gd.load_urdf(bare), {"boom": gd.FlexibleLink(FLAT, to="nose")}).replacements
    assert found.mass == pytest.approx(0, abs=1e-15)
    assert found.beam_mass == pytest.approx(0.72, rel=1e-15)


@pytest.mark.parametrize(("heavier", "farther", "told"), [
    (1.01005, 0.0, False), (1 / 1.01005, 0.0, False), (1.0103, 0.0, True), (1 / 1.0103, 0.0, True),
    (1.0, 0.009, False), (1.0, -0.009, False), (1.0, 0.011, True), (1.0, -0.011, True),
])  # fmt: skip
def test_what_is_told_of_a_replacement(heavier: float, farther: float, told: bool) -> None:
    """A hundredth of the larger mass, or of the length between the centres of mass, is left alone."""
    beam = gd.Beam(1.0, lambda eta: 0.6 * heavier * (1 + 12 * farther * (eta - 0.5)), EI_z=10.0)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        gd.FlexibleArm(gd.load_urdf(TWO), {"link1": gd.FlexibleLink(beam, gd.modes.hermite())})
    assert len(found) == told


def test_the_users_line_is_warned_about() -> None:
    with pytest.warns(
        BeamWarning, match=r"give a hub= or tip_body= for what is left, or keep_body=True to have both$"
    ) as told:
        gd.FlexibleArm(crane(), {"boom": gd.FlexibleLink(FLAT, to="nose")})
    assert told[0].filename == __file__
    with pytest.warns(TipWarning, match="neither shift nor turn the tip") as told:
        gd.FlexibleArm(gd.load_urdf(TWO), {"link1": gd.FlexibleLink(FLAT, gd.modes.clamped_clamped(2))})
    assert told[0].filename == __file__


def by_hand() -> pin.Model:
    """A link that carries a body of which the model does not tell it."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hinge")
    model.addBodyFrame("rod", joint, pin.SE3.Identity(), 0)
    model.addBodyFrame("box", joint, pin.SE3(np.eye(3), np.array([1.0, 0, 0])), 0)
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.array([0.7, 0, 0]), np.eye(3)), pin.SE3.Identity())
    return model


def test_fixed_bodies_of_hand_made_models() -> None:
    """They stay where their frame stands: the arm is that of a URDF, which tells them apart."""
    link = gd.FlexibleLink(gd.Beam(1.0, 1.0, EI_z=10.0), to="box", foreshortening=False)
    with pytest.raises(ArgumentError, match=r"own body from what is fixed to it; .* fixed_bodies=\{'box': pin.Inert"):
        gd.FlexibleArm(by_hand(), {"rod": link})
    box = pin.Inertia(1.0, np.array([0.1, 0.02, 0]), 0.01 * np.eye(3))
    model = by_hand()
    model.inertias[1] = pin.Inertia(1.0, np.array([0.5, 0, 0]), np.diag([0.0, 1, 1]) / 12)
    model.appendBodyToJoint(1, box, pin.SE3(np.eye(3), np.array([1.0, 0, 0])))
    dyn = gd.FlexibleArm(model, {"rod": link}, fixed_bodies={"box": box})
    told = gd.FlexibleArm(
        gd.load_urdf(
            """<robot name="r"><link name="base"/><link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
            <inertia ixx="0" ixy="0" ixz="0" iyy="0.08" iyz="0" izz="0.08"/></inertial></link>
            <joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 0 1"/>
            <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
            <link name="box"><inertial><origin xyz="0.1 0.02 0"/><mass value="1"/>
            <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
            <joint name="glue" type="fixed"><parent link="rod"/><child link="box"/><origin xyz="1 0 0"/></joint>
            </robot>"""
        ),
        {"rod": link},
    )
    q = np.array([0.3, 0.05, 0.02, 0.01, 0.0])
    assert relative_error(dyn.mass_matrix(q).full(), told.mass_matrix(q).full()) < 1e-13
    crba = pin.crba(model, model.createData(), np.zeros(1))
    assert relative_error(dyn.mass_matrix(np.zeros(5)).full()[:1, :1], crba) < 1e-13
    with pytest.raises(ArgumentError, match=r"^link 'rod': what is fixed to it has 2.5 kg, and the model .* 2 kg tog"):
        gd.FlexibleArm(model, {"rod": link}, fixed_bodies={"box": pin.Inertia(2.5, np.zeros(3), np.eye(3))})


def test_an_arm_of_a_tree_is_that_of_its_model() -> None:
    """Frames of a tree tell bodies apart, and what is fixed to what, as those of the model do."""
    link = gd.FlexibleLink(FLAT, to="nose", children={"swing": "tip"})
    tree = pickle.loads(pickle.dumps(read_tree(crane())))
    of_tree, of_model = quietly(tree, {"boom": link}), quietly(crane(), {"boom": link})
    assert of_tree.tree == of_model.tree
    assert stands(of_tree) == stands(of_model)
    box = {"box": pin.Inertia(1.0, np.zeros(3), np.eye(3))}
    rod = {"rod": gd.FlexibleLink(gd.Beam(1.0, 1.0, EI_z=10.0), to="box")}
    trees = [quietly(of, rod, fixed_bodies=box).tree for of in (read_tree(by_hand()), by_hand())]
    assert trees[0] == trees[1]
    with pytest.raises(UnsupportedError, match="its links are flexible"):
        gd.FlexibleArm(of_tree.tree)


# Inertia of its own for every coordinate.


def roll(axis: tuple[float, float, float], *, continuous: bool = False) -> pin.Model:
    """Two rods on joints about z and about an axis; continuous ones about z and about x."""
    model = pin.Model()
    model.name = "roll"
    parent = 0
    for k, direction in enumerate(((0.0, 0, 1), axis)):
        at = pin.SE3(np.eye(3), np.array([float(k), 0, 0]))
        unbounded = (pin.JointModelRUBZ, pin.JointModelRUBX)[k]
        kind = unbounded() if continuous else pin.JointModelRevoluteUnaligned(np.array(direction))
        joint = model.addJoint(parent, kind, at, f"joint{k + 1}")
        model.addJointFrame(joint)
        rod = pin.Inertia(0.6, np.array([0.5, 0, 0]), np.diag([0.01, 0.05, 0.05]))
        model.appendBodyToJoint(joint, rod, pin.SE3.Identity())
        model.addBodyFrame(f"rod{k + 1}", joint, pin.SE3.Identity(), 0)
        parent = joint
    return model


TWIST = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0, GJ=5.0), gd.modes.hermite(), torsion=gd.modes.linear())
NO_INERTIA = (
    "moves no inertia of its own, so that the mass matrix is singular; a beam that twists, shears, or turns about"
)


@pytest.mark.long
def test_torsion_needs_something_to_turn() -> None:
    """A distal link is enough, unless its joint lets it turn about the beam; section inertia or armature always."""
    gd.FlexibleArm(roll((0, 1, 0)), {"rod1": TWIST})
    for continuous in (False, True):
        with pytest.raises(ArgumentError, match=f"^roll: 'rod1 t1' {NO_INERTIA}"):
            gd.FlexibleArm(roll((1, 0, 0), continuous=continuous), {"rod1": TWIST})
    with pytest.raises(ArgumentError, match=f"^roll: 'rod2 t1' {NO_INERTIA}"):
        gd.FlexibleArm(roll((0, 1, 0)), {"rod2": replace(TWIST, root=np.eye(4))})
    thick = replace(TWIST, beam=replace(TWIST.beam, section_inertia=(1e-4, 1e-4)))
    gd.FlexibleArm(roll((1, 0, 0)), {"rod1": thick, "rod2": replace(thick, root=np.eye(4))})
    geared = roll((1, 0, 0))
    geared.armature = np.array([0.0, 0.01])
    gd.FlexibleArm(geared, {"rod1": TWIST})
    point, body = (pin.Inertia(1.0, np.zeros(3), j * np.eye(3)) for j in (0.0, 0.1))
    gd.FlexibleArm(roll((0, 1, 0)), {"rod2": replace(TWIST, root=np.eye(4), tip_body=body)})
    with pytest.raises(ArgumentError, match=f"^roll: 'rod2 t1' {NO_INERTIA}"):
        gd.FlexibleArm(roll((0, 1, 0)), {"rod2": replace(TWIST, root=np.eye(4), tip_body=point)})
    twice = replace(TWIST, root=np.eye(4), tip_body=body, torsion=gd.modes.sine(2))
    with pytest.raises(ArgumentError, match=f"^roll: 'rod2 t2' {NO_INERTIA}"):
        gd.FlexibleArm(roll((0, 1, 0)), {"rod2": twice})


def test_a_model_without_links_is_told_how_to_get_them() -> None:
    """As addJoint makes it: joints, and no frames but the universe."""
    model = pin.Model()
    model.name = "bare"
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hub")
    model.appendBodyToJoint(joint, pin.Inertia(0.6, np.array([0.5, 0, 0]), 0.01 * np.eye(3)), pin.SE3.Identity())
    arm = {"hub": gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0), gd.modes.hermite())}
    with pytest.raises(ArgumentError) as refused:
        gd.FlexibleArm(model, arm)
    assert str(refused.value) == (
        "link 'hub': bare has no links, as a model made by addJoint; give them names, model.addBodyFrame('hub', "
        "joint_id, pin.SE3.Identity(), 0)"
    )
    model.addBodyFrame("hub", joint, pin.SE3.Identity(), 0)
    assert gd.FlexibleArm(model, arm).tree.nv == 3


def test_a_joint_that_only_turns_a_line_is_refused() -> None:
    """The rod turns about itself: it had inertia for that, the beam has none."""
    line = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0), gd.modes.hermite(), root=np.eye(4))
    with pytest.raises(ArgumentError, match=f"^roll: 'joint2' {NO_INERTIA}"):
        gd.FlexibleArm(roll((1, 0, 0)), {"rod2": line})


# Tip frames.


def test_names_of_the_frames_of_a_beam() -> None:
    """Behind the model's own, which keep their indices; a name that is taken is not taken twice."""
    model = gd.load_urdf(TWO)
    model.addFrame(pin.Frame("link2 tip", 1, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    dyn = gd.FlexibleArm(model, {"link2": gd.FlexibleLink(SECOND)})
    names = [frame.name for frame in dyn.tree.frames]
    assert names[: len(model.frames)] == [frame.name for frame in model.frames]
    assert names[len(model.frames) :] == ["link2 root", "link2 tip of the beam"]
    q = np.zeros(dyn.tree.nq)
    assert np.abs(dyn.tip_placement("link2")(q).full()[:3, 3] - [1.8, 0, 0]).max() < 1e-15
    model.addFrame(pin.Frame("link2 tip of the beam", 1, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    again = gd.FlexibleArm(model, {"link2": gd.FlexibleLink(SECOND)})
    assert again.tree.frames[-1].name == "link2 tip of the beam of the beam"


# What does not fit.


def mimic() -> pin.Model:
    tilt = '</joint>\n<joint name="tilt"'
    return gd.load_urdf(CRANE.replace(tilt, f'<mimic joint="tilt" multiplier="1"/>{tilt}'))


LEANING = gd.modes.custom([(lambda x: x, lambda x: 0 * x + 1, lambda x: 0 * x)])
SQUARE = gd.modes.custom([(np.square, lambda x: np.eye(3), lambda x: 2 + 0 * x)])


def two(**links: gd.FlexibleLink | gd.Beam) -> gd.FlexibleArm:
    return gd.FlexibleArm(
        gd.load_urdf(TWO), {n: gd.FlexibleLink(b) if isinstance(b, gd.Beam) else b for n, b in links.items()}
    )


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: two(link3=FLAT), UnknownNameError, r"^no link named 'link3'; nearest: 'link"),
        (lambda: two(tip=FLAT), ArgumentError, r"^link 'tip': it is fixed to link 'link2'; make that one flexible$"),
        (lambda: two(base=FLAT), ArgumentError, r"^link 'base': it is fixed to the universe, and no joint moves it; "),
        (
            lambda: gd.FlexibleArm(gd.load_urdf(TWO), {"link1": FLAT}),
            ArgumentTypeError,
            r"^link 'link1': expected a FlexibleLink or a CosseratRod, got Beam$",
        ),
        (
            lambda: two(link1=FLAT.with_length(0.9)),
            ArgumentError,
            r"^link 'link1': the beam is 0.9 m long, but its child joint 'joint2' is 1 m from the link's frame; give "
            "that length or none, say with children= where on the beam that is attached, or with to= or root=",
        ),
        (
            lambda: two(link1=gd.FlexibleLink(FLAT.with_length(0.9), root=np.eye(4))),
            ArgumentError,
            r"^link 'link1': child joint 'joint2' lies at 1 m, beyond the tip of the beam of 0.9 m; give a longer "
            r"beam, or say with children=\{'joint2': 'tip'\} that it is attached to the tip$",
        ),
        (
            lambda: two(link1=gd.FlexibleLink(FLAT, children={"joint2": 1.1})),
            ArgumentError,
            r"^link 'link1': children\['joint2'\]: 1.1 m does not lie on the link, which is 1 m long$",
        ),
        (
            lambda: two(link1=gd.FlexibleLink(FLAT, children={"joint3": "tip"})),
            UnknownNameError,
            r"^no child of link 'link1' named 'joint3'; nearest: 'joint2'",
        ),
        (
            lambda: two(link2=gd.FlexibleLink(FLAT, to="tips")),
            UnknownNameError,
            r"^no joint or frame on link 'link2' named 'tips'; nearest: 'tip'",
        ),
        (
            lambda: two(link2=FLAT),
            ArgumentError,
            r"^link 'link2': it has no child joint; say with to= on which of .*'tip' the beam ends, or give root=",
        ),
        (
            lambda: two(link2=gd.FlexibleLink(SECOND, to="tip", root=pin.SE3(np.eye(3), np.array([0.1, 0, 0])))),
            ArgumentError,
            r"^link 'link2': the beam is 0.8 m long, but 'tip' is 0.7 m along x of root=; give that length or none",
        ),
        (
            lambda: gd.FlexibleArm(crane(), {"boom": gd.FlexibleLink(FLAT.with_length(1.0))}),
            ArgumentError,
            r"^link 'boom': it has 2 child joints; say with to= on which of 'tilt', 'swing', 'bracket_joint', ",
        ),
        (
            lambda: two(link2=gd.FlexibleLink(SECOND, to="link2")),
            ArgumentError,
            r"^link 'link2': 'link2' lies in the link's frame, so that the beam has no direction; say",
        ),
        (
            lambda: two(link2=gd.FlexibleLink(FLAT, to="tip", root=np.diag([-1.0, -1, 1, 1]))),
            ArgumentError,
            r"^link 'link2': 'tip' lies at -0.8 m along x of root=, so that the beam has no length; turn",
        ),
        (
            lambda: two(link1=gd.Beam(None, 0.6)),
            ArgumentError,
            r"^link 'link1': FlexibleLink: the beam has neither EI_y nor EI_z; give one",
        ),
        (
            lambda: two(link1=gd.FlexibleLink(FLAT, modal_damping=(0.01, 0.01))),
            ArgumentError,
            r"^link 'link1': modal_damping: got 2 ratios; give one, or one for each of the 4 modes$",
        ),
        (
            lambda: two(link1=gd.FlexibleLink(FLAT, LEANING)),
            ArgumentError,
            r"^link 'link1': bending_y: mode 1 \(custom 1\) has the slope 1 at the root, where the beam is clamped",
        ),
        (
            lambda: two(link1=gd.FlexibleLink(FLAT, SQUARE)),
            ArgumentTypeError,
            r"custom: the slope of mode 1: expected one number for each abscissa",
        ),
        (
            lambda: gd.FlexibleArm(mimic(), {"boom": gd.FlexibleLink(FLAT, to="nose")}),
            UnsupportedError,
            r"^crane: mimic joints are not supported beside flexible links, joints or springs; hold them by pin\.build",
        ),
        (
            lambda: gd.FlexibleArm(gd.load_urdf(TWO), fixed_bodies={"tip": pin.Inertia.Zero()}),
            UnknownNameError,
            r"^no body that the model does not tell from a flexible link named 'tip'; there are none$",
        ),
        (
            lambda: gd.FlexibleArm(
                by_hand(), {"rod": gd.FlexibleLink(gd.Beam(1.0, 1.0, EI_z=1.0), to="box")}, fixed_bodies={"box": 2.0}
            ),
            ArgumentTypeError,
            r"^fixed_bodies\['box'\]: expected a pin.Inertia, got 2.0$",
        ),
        (
            lambda: gd.FlexibleArm(gd.load_urdf(TWO), [gd.FlexibleLink(FLAT)]),
            ArgumentTypeError,
            r"^links: expected a dict by name, got list$",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(make: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_beams_that_are_none_are_warned_about() -> None:
    stubby = gd.Beam(1.0, 0.6, EI_z=10.0, section_inertia=(0.0, 0.6 * 0.11**2))
    with pytest.warns(
        BeamWarning, match=r"^link 'link1': it is 9.09 times as long as the radius of gyration of its se"
    ):
        gd.FlexibleArm(gd.load_urdf(TWO), {"link1": gd.FlexibleLink(stubby)})
    soft = gd.Beam(1.0, 0.6, EI_z=0.7)  # μ g l⁴ / 8 EI = 1.051 m
    with pytest.warns(
        BeamWarning, match=r"^link 'link1': its own weight would bend it by 1.05 m, and it is 1 m long; c"
    ):
        gd.FlexibleArm(gd.load_urdf(TWO), {"link1": gd.FlexibleLink(soft)})
    gd.FlexibleArm(gd.load_urdf(TWO), {"link1": gd.FlexibleLink(replace(soft, EI_z=0.75))})
