"""load_urdf: what it refuses (word by word), what it doubts, and what the shipped robots are."""

import os
import pickle
import re
import warnings
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UrdfError, UrdfWarning
from gdalembert.model.load_urdf import MAX_LINKS, MAX_SIZE, load_urdf, robots
from gdalembert.model.urdf_joints import MAX_DEPTH
from tests.helpers.paths import ROOT

BAD = Path(__file__).parent / "bad_urdfs"
SHIPPED = ROOT / "urdf"


def of_others(path):
    """A URDF of the package example-robot-data."""
    return Path(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")) / path


NOT_FINITE = "is not a finite number; write digits only, no units"
TYPES = "continuous, fixed, floating, planar, prismatic, revolute"
MIMICS = "Pinocchio can mimic revolute and prismatic joints by each other, and continuous by continuous"
PLANAR = (
    "but Pinocchio moves a planar joint in its x-y plane; "
    'turn <origin> so that z is the normal, and give <axis xyz="0 0 1"/>'
)

REFUSED = {
    "armature_fixed": ("joint 'elbow'", "is fixed and has the armature 0.1; leave that out"),
    "armature_mimic": ("joint 'finger'", "mimics 'elbow' and has the armature 0.1; give 'elbow' multiplier² times it"),
    "armature_negative": ("joint 'elbow'", "armature is negative (-0.1); give at least 0"),
    "armature_word": ("joint 'elbow'", "<dynamics armature='0.1 kg'> has 2 numbers; give 1"),
    "axis_huge": ("joint 'elbow'", "axis is too long (0, 0, 1e+200); give a unit vector"),
    "axis_without_xyz": ("joint 'elbow'", "<axis> has no xyz; add it"),
    "axis_zero": ("joint 'elbow'", "axis is zero (0, 0, 0); give a unit vector"),
    "child_unknown": ("joint 'elbow'", "its child link 'lowr' does not exist; nearest: 'lower'"),
    "child_without_link": ("joint 'elbow'", 'names no child link; give <child link="…"/>'),
    "damping_word": ("joint 'elbow'", f"<dynamics damping='low'> {NOT_FINITE}"),
    "detached_loop": (None, "has a loop of links ('upper', 'lower') without a root; a URDF is a tree"),
    "doctype": (None, "has a document type (<!DOCTYPE …>), which is not part of URDF; remove it"),
    "empty": (None, "is not well-formed XML: no element found: line 1, column 0"),
    "friction_negative": ("joint 'elbow'", "friction is negative (-1); give at least 0"),
    "inertia_incomplete": ("link 'lower'", "<inertia> has no ixy; add it"),
    "inertia_missing": ("link 'lower'", "<inertial> has no <inertia>; add it"),
    "inertia_negative": (
        "link 'lower'",
        "has the negative principal moment -0.1 kg m²; check the values and signs of <inertia>",
    ),
    "inertia_word": ("link 'lower'", f"<inertia ixz='o'> {NOT_FINITE}"),
    "inertial_origin": ("link 'lower'", f"<origin xyz='0 0 inf'> {NOT_FINITE}"),
    "inertial_twice": ("link 'lower'", "has <inertial> 2 times; keep one"),
    "joint_named_universe": ("joint 'universe'", "has a name that Pinocchio uses itself; rename it"),
    "joint_to_itself": (None, "has a loop of links ('upper') without a root; a URDF is a tree"),
    "joint_twice": ("joint 'elbow'", "its name is used twice; names must be unique"),
    "joint_without_name": ("joint number 1", "has no name; give it one"),
    "limit_effort": ("joint 'elbow'", "<limit> has no effort; add it"),
    "limit_missing": ("joint 'elbow'", "has no <limit>; give lower, upper, effort and velocity, or make it continuous"),
    "limit_missing_prismatic": ("joint 'elbow'", "has no <limit>; give lower, upper, effort and velocity"),
    "limit_negative": ("joint 'elbow'", "effort is negative (-10); give at least 0"),
    "limit_word": ("joint 'elbow'", f"<limit upper='pi'> {NOT_FINITE}"),
    "link_twice": ("link 'lower'", "its name is used twice; names must be unique"),
    "link_without_name": ("link number 2", "has no name; give it one"),
    "loop": (None, "has a loop of links ('upper', 'lower') without a root; a URDF is a tree"),
    "malformed": (None, "is not well-formed XML: mismatched tag: line 3, column 2"),
    "mass_as_text": ("link 'lower'", "<mass> has no value; add it"),
    "mass_empty": ("link 'lower'", "<mass value=''> has 0 numbers; give 1"),
    "mass_hex": ("link 'lower'", f"<mass value='0x10'> {NOT_FINITE}"),
    "mass_missing": ("link 'lower'", "<inertial> has no <mass>; add it"),
    "mass_nan": ("link 'lower'", f"<mass value='nan'> {NOT_FINITE}"),
    "mass_negative": ("link 'lower'", "mass is negative (-1 kg); give at least 0"),
    "mass_outside": ("link 'lower'", "<mass> outside <inertial> counts for nothing; move it inside"),
    "mass_overflow": ("link 'lower'", f"<mass value='1e400'> {NOT_FINITE}"),
    "mass_unit": ("link 'lower'", f"<mass value='1.0kg'> {NOT_FINITE}"),
    "mimic_circle": ("joint 'finger'", "mimics 'knuckle' in a circle; let one of its joints mimic none"),
    "mimic_continuous": ("joint 'finger'", f"is revolute and mimics 'elbow', which is continuous; {MIMICS}"),
    "mimic_fixed": ("joint 'finger'", f"is revolute and mimics 'elbow', which is fixed; {MIMICS}"),
    "mimic_floating": ("joint 'finger'", f"is floating and mimics 'elbow', which is revolute; {MIMICS}"),
    "mimic_itself": ("joint 'finger'", "mimics itself; name another joint"),
    "mimic_later": (
        "joint 'elbow'",
        "mimics 'finger', which Pinocchio visits later (depth first); "
        "let 'finger' mimic 'elbow' in its place, or load with mimic=False",
    ),
    "mimic_planar": ("joint 'finger'", f"is planar and mimics 'elbow', which is revolute; {MIMICS}"),
    "mimic_unknown": ("joint 'finger'", "mimics 'elbo', which does not exist; nearest: 'elbow'"),
    "mimic_without_joint": ("joint 'finger'", "<mimic> has no joint; name the one to follow"),
    "mimic_word": ("joint 'finger'", f"<mimic multiplier='two'> {NOT_FINITE}"),
    "mimic_zero": ("joint 'finger'", "mimics with multiplier 0, so that it never moves; make it fixed"),
    "no_links": (None, "has no links; a robot needs at least one"),
    "not_a_robot": (
        None,
        "its root element is <sdf>, not <robot>; this is SDF, which the wheel of pin is built without; convert it to a "
        "URDF",
    ),
    "origin_comma": ("joint 'elbow'", f"<origin xyz='0, 0, 1'> {NOT_FINITE}"),
    "origin_count": ("joint 'elbow'", "<origin xyz='0 0'> has 2 numbers; give 3"),
    "origin_rpy": ("joint 'elbow'", f"<origin rpy='0 0 90deg'> {NOT_FINITE}"),
    "parent_missing": ("joint 'elbow'", "<joint> has no <parent>; add it"),
    "parent_unknown": ("joint 'elbow'", "its parent link 'uper' does not exist; nearest: 'upper'"),
    "planar_axis": ("joint 'elbow'", f"axis is (0, 1, 0), {PLANAR}"),
    "planar_axis_missing": ("joint 'elbow'", f"<axis> is missing, which means (1, 0, 0), {PLANAR}"),
    "quaternion_and_rpy": ("joint 'elbow'", "has both rpy and quat_xyzw; keep one"),
    "quaternion_version": ("joint 'elbow'", 'quat_xyzw is ignored before URDF 1.1; give rpy, or <robot version="1.1">'),
    "quaternion_zero": ("joint 'elbow'", "quat_xyzw is zero; give a unit quaternion"),
    "two_parents": ("link 'hand'", "is the child of two joints, 'elbow' and 'wrist'; a URDF is a tree"),
    "two_roots": (None, "has 2 root links ('upper', 'hand'); join all but one to a parent"),
    "type_missing": ("joint 'elbow'", f"has no type; give one of {TYPES}"),
    "type_unknown": ("joint 'elbow'", f"type 'spherical' is not known; give one of {TYPES}"),
    "version": (None, "its URDF version '2.0' is not known; known are 1.0, 1.1 and 1.2"),
    "xacro_command": (None, "holds the xacro command <xacro:property>; run xacro first"),
    "xacro_argument": (None, "holds the xacro expression '$(optenv X 0) 0 0'; run xacro first"),
    "xacro_expression": (None, "holds the xacro expression '${m}'; run xacro first"),
}

INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="5"/>'
AXIS = '<axis xyz="0 0 1"/>'
REVOLUTE = AXIS + LIMIT


def link(name, inner=INERTIAL):
    return f'<link name="{name}">{inner}</link>'


def joint(name, parent, child, inner=REVOLUTE, kind="revolute"):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


def robot(*parts, head='<robot name="arm">'):
    return head + "".join(parts) + "</robot>"


def arm(inner=REVOLUTE, kind="revolute", lower=INERTIAL):
    return robot(link("upper"), link("lower", lower), joint("elbow", "upper", "lower", inner, kind))


def inertial(mass, xx, yy, zz, xyz="0 0 0"):
    tensor = f'<inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/>'
    return f'<inertial><origin xyz="{xyz}"/><mass value="{mass}"/>{tensor}</inertial>'


def gripper(first="revolute", second="revolute", mimic='joint="thumb" multiplier="-2" offset="0.1"', extra=""):
    return robot(
        link("palm"),
        link("a"),
        link("b"),
        joint("thumb", "palm", "a", kind=first),
        joint("zeigefinger", "palm", "b", REVOLUTE + f"<mimic {mimic}/>" + extra, kind=second),
    )


# Refused, whatever `check` says.


def test_every_bad_file_is_in_the_table():
    assert {file.stem for file in BAD.glob("*.urdf")} == set(REFUSED)


@pytest.mark.parametrize("check", ["strict", "warn", "off"])
@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_words(name, check, capfd):
    element, reason = REFUSED[name]
    with pytest.raises(UrdfError) as caught:
        load_urdf(BAD / f"{name}.urdf", check=check)
    error = caught.value
    assert str(error) == f"{name}.urdf: {element}: {reason}" if element else f"{name}.urdf: {reason}"
    assert (error.source, error.element, error.reason) == (f"{name}.urdf", element, reason)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert capfd.readouterr() == ("", "")  # nothing is left to the C++ parser's own complaints


def test_the_text_itself_is_refused_like_a_file():
    with pytest.raises(UrdfError) as caught:
        load_urdf((BAD / "axis_zero.urdf").read_text())
    assert str(caught.value) == "<text>: joint 'elbow': axis is zero (0, 0, 0); give a unit vector"


def chain(length, kind="fixed"):
    parts = [link("0")]
    for i in range(1, length + 1):
        parts += [link(i), joint(f"j{i}", i - 1, i, kind=kind)]
    return robot(*parts)


def test_a_chain_that_could_crash_the_parser():
    assert load_urdf(chain(MAX_DEPTH)).nv == 0
    with pytest.raises(
        UrdfError, match=r"joint 'j1001': is more than 1000 joints from the root; the C\+\+ parser could"
    ):
        load_urdf(chain(MAX_DEPTH + 1))


def with_number(old, new):
    text = (SHIPPED / "puma560.urdf").read_text(encoding="utf-8")
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize("value", ["1e308", "-1e308", "1e31", "9" * 300])
@pytest.mark.parametrize("old", ['ixz="0"', 'mass value="17.4"', 'armature="4.71"', 'origin xyz="0.068 0.006 0.2275"'])
def test_enormous_numbers_are_refused_before_they_overflow(old, value):
    key, number = old.split("=", 1)
    new = f'{key}="{value} {number.split()[1]} 0"' if " 0.006 " in old else f'{key}="{value}"'
    with pytest.raises(UrdfError, match=r"> is (too large; give numbers up to 1e\+30|not a finite number)") as caught:
        load_urdf(with_number(old, new))
    assert len(str(caught.value)) < 300


def test_the_largest_numbers_have_finite_composite_inertias():
    text = with_number('mass value="17.4"', 'mass value="1e30"')
    text = text.replace('origin xyz="0.068 0.006 0.2275"', 'origin xyz="1e30 1e30 -1e30"')
    model = load_urdf(text, check="off")
    assert all(np.isfinite(body.toDynamicParameters()).all() for body in model.inertias)
    assert np.isfinite(pin.crba(model, model.createData(), pin.neutral(model))).all()


def test_limits_may_be_as_large_as_numbers_go():
    model = load_urdf(with_number('effort="', 'effort="1e308" unread="'), check="off")
    assert model.effortLimit.max() == 1e308


LONG = "x" * 5_000_000


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('mass value="', 'mass value="' + "9" * 5_000_000),
        ('xyz="', 'xyz="' + "1 " * 2_500_000),
        ('name="', f'name="{LONG}'),
        ('link name="', f'link name="{LONG}'),
        ('parent link="', f'parent link="{LONG}'),
        ('parent link="', f'parent link="{LONG[:900]}'),
        ('type="', f'type="{LONG}'),
        ('mass value="', f'mass value="${{{LONG}'),
        ("<robot ", f'<robot version="{LONG}" '),
        ("<robot ", f"<{LONG} "),
    ],
)
def test_long_texts_are_cut_in_messages(old, new):
    with pytest.raises(UrdfError) as caught:
        load_urdf(with_number(old, new).replace("</robot>", f"</{LONG}>" if new[0:2] == "<x" else "</robot>"))
    assert len(str(caught.value)) < 300


def test_long_names_of_robots_and_files_are_cut_in_messages():
    with pytest.raises(UnknownNameError) as unknown:
        load_urdf(LONG)
    with pytest.raises(UrdfError) as missing:
        load_urdf("/x" * 100_000)
    assert max(len(str(caught.value)) for caught in (unknown, missing)) < 11_000


def test_sizes_are_looked_at_first(tmp_path, monkeypatch):
    link, joint = (
        '<link name="l{}"/>',
        '<joint name="j{0}" type="fixed"><parent link="l{0}"/><child link="l{1}"/></joint>',
    )
    many = "".join(link.format(k) + joint.format(k, k + 1) for k in range(MAX_LINKS + 1))
    assert len(many) < MAX_SIZE
    monkeypatch.setattr(pin, "buildModelFromXML", None)
    with pytest.raises(UrdfError, match=f"^<text>: has {MAX_LINKS + 1} links; at most {MAX_LINKS} are read$"):
        load_urdf(f"<robot>{many}</robot>")
    message = r"is larger than 10 MB; give the URDF of one robot, without meshes$"
    with pytest.raises(UrdfError, match=f"^<text>: {message}"):
        load_urdf(f"<robot>{many}</robot>{' ' * MAX_SIZE}")
    with pytest.raises(UrdfError, match=f"^zero: {message}"):
        load_urdf("/dev/zero")  # which has no end


def test_entities_are_never_expanded():
    levels = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(20))
    with pytest.raises(UrdfError, match="has a document type"):
        load_urdf(f'<!DOCTYPE robot [<!ENTITY e0 "ha">{levels}]><robot name="&e20;"/>')


@pytest.mark.parametrize(
    "data", [b"\xff\xfe<", b'<robot name="\xe9"/>', b'<?xml version="1.0" encoding="foo"?><robot/>']
)
def test_bytes_that_are_no_text(data, tmp_path):
    file = tmp_path / "odd.urdf"
    file.write_bytes(data)
    with pytest.raises(UrdfError, match=r"^odd\.urdf: is not well-formed XML: "):
        load_urdf(file)


def test_a_joint_may_not_take_the_name_of_the_root_joint():
    text = robot(link("upper"), link("lower"), joint("root_joint", "upper", "lower"))
    assert load_urdf(text).nv == 1
    with pytest.raises(UrdfError, match="joint 'root_joint': has a name that Pinocchio uses itself; rename it"):
        load_urdf(text, pin.JointModelFreeFlyer())


def test_what_pinocchio_refuses_is_a_urdf_error_too(monkeypatch):
    def refuse(*_):
        raise ValueError("first line\nthe reason\n")

    monkeypatch.setattr(pin, "buildModelFromXML", refuse)
    with pytest.raises(UrdfError, match=r"^<text>: Pinocchio refuses it: the reason$"):
        load_urdf(arm())


# Doubtful: a warning, an error or silence.

IDLE = (
    "no moving inertia, so that the robot has kinematics and statics, but no dynamics; for that give the links "
    '<inertial>, the joints <dynamics armature="…"/>, or the formulation parameters={"inertia": True}'
)
TRIANGLE = "a principal moment exceeds the sum of the other two, as in no real body"
DOUBTFUL = {
    TRIANGLE: (arm(lower=inertial(1, 0.1, 0.1, 0.3)), "link 'lower'"),
    IDLE: (arm(lower=inertial(1, 0, 0, 0, xyz="0 0 0.3")), "joint 'elbow'"),  # a point on the axis
    "<axis> is missing, which means (1, 0, 0)": (arm(LIMIT), "joint 'elbow'"),
    "the axis is not a unit vector; it is normalised": (arm('<axis xyz="0 3 4"/>' + LIMIT), "joint 'elbow'"),
    "the lower limit is above the upper limit": (
        arm(AXIS + '<limit lower="1" upper="-1" effort="10" velocity="5"/>'),
        "joint 'elbow'",
    ),
    "<limit> has neither lower nor upper, which means the range [0, 0]": (
        arm(AXIS + '<limit effort="10" velocity="5"/>'),
        "joint 'elbow'",
    ),
    "damping and friction are kept in the model, but tau is without them unless friction='model' is given": (
        arm(REVOLUTE + '<dynamics damping="0.1"/>'),
        "joint 'elbow'",
    ),
    "damping and friction of a planar joint are lost; give them to the robot, friction={joint: …}": (
        arm('<axis xyz="0 0 1"/><dynamics damping="0.1"/>', "planar"),
        "joint 'elbow'",
    ),
    "damping and friction of a joint that mimics another are lost; give 'thumb' multiplier² × damping and "
    "|multiplier| × friction": (
        gripper(extra='<dynamics friction="0.1"/>'),
        "joint 'zeigefinger'",
    ),
    'gear and rotor inertia are ignored; reflected inertia goes into <dynamics armature="…"/>': (
        arm().replace(
            "</robot>",
            '<transmission name="drive"><actuator name="motor"><mechanicalReduction>100</mechanicalReduction>'
            "</actuator></transmission></robot>",
        ),
        "transmission 'drive'",
    ),
    "has a negative principal moment, but the rigid body it is part of has none": (
        robot(
            link("upper"),
            link("lower"),
            link("antenna", inertial(0.01, 0.001, 0.001, -0.001)),
            joint("elbow", "upper", "lower"),
            joint("clamp", "lower", "antenna", "", "fixed"),
        ),
        "link 'antenna'",
    ),
}


@pytest.mark.parametrize("reason", DOUBTFUL)
def test_doubtful(reason):
    text, element = DOUBTFUL[reason]
    with pytest.warns(UrdfWarning) as caught:
        warned = load_urdf(text)
    assert [str(warning.message) for warning in caught] == [f"<text>: {element}: {reason}"]
    assert caught[0].filename == __file__
    with pytest.raises(UrdfError) as refused:
        load_urdf(text, check="strict")
    assert (refused.value.element, refused.value.reason) == (element, reason)
    assert load_urdf(text, check="off") == warned == pin.buildModelFromXML(text, True)


def turned(rpy: str) -> str:
    """An arm whose elbow stands at these angles."""
    return arm(f'<origin xyz="0.1 0 0" rpy="{rpy}"/>' + REVOLUTE)


ROUGH = (
    "rpy misses a multiple of π/4 or π/6 by less than 0.0001 rad, in {}; with round_angles=0.0001, rotations of joints "
    "have {} more zeros, and graphs are smaller: 'gdalembert info' counts their instructions"
)


@pytest.mark.parametrize(
    ("rpy", "meant", "angles", "zeros"),
    [
        ("1.5708 0 0", (np.pi / 2, 0, 0), "1 angle", 2),
        ("0 -3.1416 0", (0, -np.pi, 0), "1 angle", 2),
        ("-1.57 0 1.5708", (-1.57, 0, np.pi / 2), "1 angle", 3),
        ("1.5708 0 -0.7854", (np.pi / 2, 0, -np.pi / 4), "2 angles", 3),
    ],
)
def test_angles_of_few_digits_are_taken_for_multiples_on_request(rpy, meant, angles, zeros):
    with pytest.warns(UrdfWarning) as caught:
        as_given = load_urdf(turned(rpy))
    assert [str(warning.message) for warning in caught] == [f"<text>: joint 'elbow': {ROUGH.format(angles, zeros)}"]
    rounded = load_urdf(turned(rpy), check="strict", round_angles=1e-4)
    assert rounded.jointPlacements[1].rotation == pytest.approx(pin.rpy.rpyToMatrix(*meant), abs=1e-15)
    assert as_given.jointPlacements[1].rotation == pytest.approx(
        pin.rpy.rpyToMatrix(*map(float, rpy.split())), abs=1e-15
    )


@pytest.mark.parametrize("rpy", ["1.57079632679 0 0", "0.00005 0 0", "0.3 0.2 0.1", "1.57 0 0", "0.5236 0.2 0.1"])
def test_angles_that_no_rounding_makes_smaller_are_silent(rpy):
    """They are exact but for rounding, lie near 0, are no multiples, or leave a rotation without zeros."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_urdf(turned(rpy))


def test_the_rounded_angle_is_within_the_tolerance():
    assert np.array_equal(
        load_urdf(turned("1.57 0 0.00005"), round_angles=1e-3).jointPlacements[1].rotation,
        pin.rpy.rpyToMatrix(np.pi / 2, 0, 0),
    )
    kept = load_urdf(turned("1.57 0 0"), check="off", round_angles=1e-4).jointPlacements[1].rotation
    assert kept == pytest.approx(pin.rpy.rpyToMatrix(1.57, 0, 0), abs=1e-15)


def test_rounded_angles_make_graphs_small():
    """The xarm7 as published writes 1.5708 at six of its seven joints; so does this arm."""
    text = chain(7, "revolute").replace("<parent", '<origin xyz="0 0.1 0.3" rpy="1.5708 0 0"/><parent')
    counts = []
    for angle in (0.0, 1e-4):
        dyn = gd.NewtonEuler(load_urdf(text, check="off", round_angles=angle))
        counts.append([f.n_instructions() for f in (dyn.inverse_dynamics, dyn.mass_matrix)])
    assert counts[1][0] < 0.9 * counts[0][0]
    assert counts[1][1] < 0.8 * counts[0][1]


def test_ignored_mimic_is_doubtful():
    with pytest.warns(UrdfWarning, match="^<text>: joint 'zeigefinger': <mimic> is ignored, because mimic=False"):
        model = load_urdf(gripper(), mimic=False)
    assert model.nv == 2
    with pytest.raises(UrdfError, match="because mimic=False was asked for"):
        load_urdf(gripper(), mimic=False, check="strict")
    assert load_urdf(gripper(), mimic=False, check="off") == model


def test_one_warning_of_a_kind():
    text = chain(20, "revolute").replace(LIMIT, LIMIT + '<dynamics friction="0.1"/>')
    with pytest.warns(UrdfWarning) as caught:
        load_urdf(text)
    names = ", ".join(f"'j{i}'" for i in range(1, 9))
    what = "damping and friction are kept in the model, but tau is without them unless friction='model' is given"
    assert [str(warning.message) for warning in caught] == [f"<text>: 20 joints ({names}, …): {what}"]


@pytest.mark.parametrize(
    "text",
    [
        arm('<axis xyz="0.577 0.577 0.577"/>' + LIMIT),
        arm(lower=inertial(1, 0.1, 0.1, 0.2001)),
        arm(REVOLUTE + '<dynamics damping="0" friction="0"/>'),
        arm().replace(
            "</robot>", "<transmission><mechanicalReduction>1.0</mechanicalReduction></transmission></robot>"
        ),
        arm(lower=inertial(1, 0.1, 0.1, -1e-12, xyz="1 0 0")),
        arm(lower=inertial(1, 0, 0, -1e-16, xyz="1 0 0")),
        gripper(second="fixed"),
        arm('<axis xyz="0 0 1"/><limit effort="1" velocity="1"/>', "continuous"),
    ],
)
def test_no_doubt_about_rounding_and_what_changes_nothing(text):
    assert load_urdf(text, check="strict").nv == 1


# Read like Pinocchio does, where Pinocchio is right.


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous", "floating", "planar"])
@pytest.mark.parametrize("root", [None, pin.JointModelFreeFlyer(), pin.JointModelPlanar()])
def test_joint_types_and_root_joint(kind, root):
    text = arm(REVOLUTE, kind)
    model = load_urdf(text, root)
    assert model == pin.buildModelFromXML(text, *([] if root is None else [root]), True)
    assert model.name == "arm"
    assert model.njoints == (2 if root is None else 3)


@pytest.mark.parametrize("xyz", ["0 0 2", "3 -4 12", "0.577 0.577 0.577"])
def test_an_axis_is_normalised(xyz):
    model = load_urdf(arm(f'<axis xyz="{xyz}"/>{LIMIT}'), check="off")
    data = model.createData()
    pin.forwardKinematics(model, data, np.array([0.7]))
    axis = np.array(xyz.split(), dtype=float)
    np.testing.assert_allclose(data.oMi[1].rotation, pin.exp3(0.7 * axis / np.linalg.norm(axis)), atol=1e-15)


def test_numbers_may_stand_between_blanks():
    model = load_urdf(arm(lower=inertial(" 1.5\n", 0.1, 0.1, " .1e0 ", "\t1  2\n3 ")))
    assert model.inertias[1].mass == 1.5  # to the C++ parser alone a mass with a blank is 0
    np.testing.assert_array_equal(model.inertias[1].lever, [1, 2, 3])
    assert model.inertias[1].inertia[2, 2] == 0.1


def test_text_around_the_robot():
    text = f'\ufeff<?xml version="1.0" encoding="utf-8"?><!-- {{xacro}} -->{arm()}\n'
    assert load_urdf(text) == load_urdf("\n  " + text[1:]) == load_urdf(arm())
    drake = '<robot name="arm" xmlns="http://drake" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    assert load_urdf(arm().replace('<robot name="arm">', drake)) == load_urdf(arm())


def test_quaternions_of_urdf_1_1():
    text = arm('<origin quat_xyzw="0 0 1 1"/>' + REVOLUTE).replace("<robot ", '<robot version="1.1" ')
    rotation = load_urdf(text).jointPlacements[1].rotation
    np.testing.assert_allclose(rotation, pin.exp3(np.array([0, 0, np.pi / 2])), atol=1e-15)


def test_what_is_not_dynamics_does_not_matter(capfd):
    extras = '<visual><origin xyz="?"/><geometry><box/></geometry></visual><collision/>'
    text = arm(lower=INERTIAL + extras).replace("</robot>", '<material name="m"/><material name="m"/></robot>')
    assert load_urdf(text) == load_urdf(arm())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("kind", "nv"), [("fixed", 0), ("floating", 6)])
def test_what_a_joint_has_no_use_for_does_not_matter(kind, nv):
    losses = '<dynamics damping="0.1"/>' if kind == "fixed" else ""
    assert load_urdf(arm('<axis xyz="0 0 0"/>' + losses, kind), check="strict").nv == nv


def test_a_robot_without_a_name_is_called_after_its_file(tmp_path):
    nameless = arm().replace(' name="arm"', "", 1)
    assert load_urdf(nameless).name == "robot"
    (tmp_path / "left_arm.urdf").write_text(nameless)
    assert load_urdf(tmp_path / "left_arm.urdf").name == "left_arm"


def test_a_robot_that_does_not_move():
    model = load_urdf(robot(link("box")))
    assert (model.nv, model.existBodyName("box")) == (0, True)
    assert load_urdf(robot(link("box")), pin.JointModelFreeFlyer()).inertias[1].mass == 1


def test_a_massless_link_keeps_its_inertia():
    model = load_urdf(arm(lower=inertial(0, 0.01, 0.02, 0.03)))
    assert pin.crba(model, model.createData(), np.zeros(1)) == 0.03


ARMATURE = '<dynamics armature="0.25"/>'


@pytest.mark.parametrize(
    ("kind", "nv"), [("revolute", 1), ("prismatic", 1), ("continuous", 1), ("planar", 3), ("floating", 6)]
)
def test_armature(kind, nv):
    model = load_urdf(arm(REVOLUTE + ARMATURE, kind), pin.JointModelFreeFlyer(), check="strict")
    np.testing.assert_array_equal(model.armature, [0.0] * 6 + [0.25] * nv)


def test_armature_makes_an_idle_joint_move_something():
    assert load_urdf(arm(REVOLUTE + ARMATURE, lower="")).armature == [0.25]


# Mimic joints.


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("revolute", "revolute"),
        ("revolute", "prismatic"),
        ("prismatic", "revolute"),
        ("prismatic", "prismatic"),
        ("continuous", "continuous"),
    ],
)
def test_mimic(first, second):
    text = gripper(first, second)
    model = load_urdf(text)
    assert model == pin.buildModelFromXML(text, True)
    assert (model.nv, model.njoints) == (1, 3)
    data = model.createData()
    pin.forwardKinematics(model, data, np.array([0.3] if first != "continuous" else [np.cos(0.3), np.sin(0.3)]))
    moved = data.oMi[2].translation if second == "prismatic" else pin.log3(data.oMi[2].rotation)
    np.testing.assert_allclose(moved, [0, 0, -2 * 0.3 + 0.1], atol=1e-15)


def test_a_mimic_of_a_mimic_is_composed():
    """In any order of the file, and as a joint that mimics the first one directly."""
    knuckle = '<mimic joint="finger" multiplier="3" offset="0.5"/>'
    finger = '<mimic joint="elbow" multiplier="-2" offset="0.1"/>'
    direct = '<mimic joint="elbow" multiplier="-12" offset="2.1"/>'

    def text(order, last='<mimic joint="knuckle" multiplier="2" offset="0.5"/>'):
        joints = {
            "elbow": joint("elbow", "palm", "a"),
            "finger": joint("finger", "a", "b", REVOLUTE + finger),
            "knuckle": joint("knuckle", "b", "c", REVOLUTE + knuckle),
            "tip": joint("tip", "c", "d", REVOLUTE + last, kind="prismatic"),
        }
        return robot(*map(link, ("palm", "a", "b", "c", "d")), *(joints[name] for name in order))

    names = ["elbow", "finger", "knuckle", "tip"]
    model = load_urdf(text(names))
    assert model.nv == 1
    pairs = [(joint.extract().scaling, joint.extract().offset) for joint in list(model.joints)[2:]]
    np.testing.assert_allclose(pairs, [(-2, 0.1), (-6, 0.8), (-12, 2.1)], rtol=1e-15)
    assert load_urdf(text(names[::-1])) == model
    same = load_urdf(text(names, direct))
    np.testing.assert_allclose(same.joints[4].extract().offset, model.joints[4].extract().offset, rtol=1e-15)


def test_what_is_mimicked_comes_first():
    """Where Pinocchio, which visits branches by name, would come to it later: deep in branches, with fixed links."""
    follow = REVOLUTE + '<mimic joint="thumb" multiplier="-2" offset="0.1"/>'

    def text(palm, a, b, dash="-"):
        return robot(
            *map(link, ("root", "palm", "a", "b", "c", "d", "e")),
            joint("wrist", "root", "palm"),
            joint(palm, "palm", "a", ARMATURE, kind="fixed") if dash == "+" else joint(palm, "palm", "a", kind="fixed"),
            joint(a, "a", "b", follow),
            joint(b, "palm", "c"),
            joint("thumb", "c", "d", REVOLUTE + ARMATURE),
            joint("tip", "b", "e"),
        )

    late, early = load_urdf(text("first", "finger", "second")), load_urdf(text("third", "finger", "second"))
    assert list(late.names) == ["universe", "wrist", "second", "thumb", "finger", "tip"]
    assert list(late.names) == list(early.names)
    assert [f.name for f in late.frames] == [f.name.replace("third", "first") for f in early.frames]
    q = np.array([0.1, 0.2, 0.3, 0.4])
    one, other = (pin.rnea(model, model.createData(), q, q, q) for model in (late, early))
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(late.armature, early.armature)
    assert late.armature.any()


def test_branches_that_mimic_each_other_are_refused():
    """Neither can come first."""
    with pytest.raises(UrdfError, match="joint 'a1': mimics 'b2', which Pinocchio visits later"):
        load_urdf(
            robot(
                *map(link, ("palm", "a", "b", "c", "d")),
                joint("a1", "palm", "a", REVOLUTE + '<mimic joint="b2"/>'),
                joint("a2", "a", "b"),
                joint("b1", "palm", "c", REVOLUTE + '<mimic joint="a2"/>'),
                joint("b2", "c", "d"),
            )
        )


def test_armature_on_a_joint_that_does_not_mimic_after_all():
    model = load_urdf(gripper(extra=ARMATURE), mimic=False, check="off")
    np.testing.assert_array_equal(model.armature, [0, 0.25])


# Arguments.


def test_source_by_name_path_and_text(tmp_path, monkeypatch):
    model = load_urdf("puma560")
    file = SHIPPED / "puma560.urdf"
    for source in (file, str(file), file.read_text()):
        assert load_urdf(source, check="off") == model
    (tmp_path / "mine.urdf").write_text(arm())
    (tmp_path / "plain").write_text(arm())
    monkeypatch.chdir(tmp_path)
    assert load_urdf("mine.urdf") == load_urdf("./plain") == load_urdf("plain") == load_urdf(os.curdir + "/mine.urdf")


def test_robots():
    assert robots() == (
        "cart_pendulum",
        "horn_arm_offset",
        "horn_leg",
        "horn_leg_loads",
        "panda7",
        "puma560",
        "puma560_3",
        "shala_likaj_rpr",
        "two_link_arm",
        "two_link_flexible",
    )


def test_robots_of_an_installed_package(tmp_path, monkeypatch):
    (tmp_path / "urdf").mkdir()
    (tmp_path / "urdf" / "wheel.urdf").write_text(arm())
    monkeypatch.setattr("gdalembert.model.load_urdf.resources.files", lambda package: tmp_path)
    assert robots() == ("wheel",)
    assert load_urdf("wheel").nv == 1


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("puma56", "no shipped robot named 'puma56'; nearest: 'puma560', 'puma560_3'"),
        (
            "",
            "no shipped robot named ''; known: 'cart_pendulum', 'horn_arm_offset', 'horn_leg', 'horn_leg_loads', "
            "'panda7', 'puma560', 'puma560_3', 'shala_likaj_rpr', …",
        ),
    ],
)
def test_unknown_names(source, message):
    with pytest.raises(UnknownNameError) as caught:
        load_urdf(source)
    assert str(caught.value) == message
    assert caught.value.name == source


@pytest.mark.parametrize(
    "source", ["nowhere.urdf", "nowhere/puma560", Path("nowhere"), "two\0parts.urdf", "x" * 5000 + ".urdf"]
)
def test_paths_that_are_not_there(source):
    with pytest.raises(UrdfError) as caught:
        load_urdf(source)
    assert str(caught.value).startswith(f"{source}: cannot be read: ")


def test_a_directory(tmp_path):
    with pytest.raises(UrdfError, match="cannot be read: Is a directory"):
        load_urdf(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (
            (pin.Model(),),
            ArgumentTypeError,
            "expected a URDF, got a pin.Model; it needs no loading, pass it on as it is",
        ),
        ((b"<robot/>",), ArgumentTypeError, "expected a robot's name, a path or the text of a URDF, got bytes"),
        ((None,), ArgumentTypeError, "expected a robot's name, a path or the text of a URDF, got NoneType"),
        (
            ("puma560", pin.JointModelFreeFlyer),
            ArgumentTypeError,
            "root_joint is the class JointModelFreeFlyer; call it: pin.JointModelFreeFlyer()",
        ),
        (
            ("puma560", "free"),
            ArgumentTypeError,
            "root_joint must be a joint model such as pin.JointModelFreeFlyer(), not str",
        ),
        (("puma560", None, "no"), ArgumentTypeError, "mimic must be True or False, not str"),
        (
            ("puma560", None, True, "loud"),
            ArgumentError,
            "load_urdf: check: got 'loud'; give 'strict', 'warn' or 'off'",
        ),
        (
            ("puma560", None, True, np.array([])),
            ArgumentError,
            "load_urdf: check: got array([], dtype=float64); give 'strict', 'warn' or 'off'",
        ),
        (
            ("puma560", None, True, "warn", 1.0),
            ArgumentError,
            "load_urdf: round_angles: got 1.0; give an angle from 0 to 0.1 rad",
        ),
        (
            ("puma560", None, True, "warn", "1e-4"),
            ArgumentError,
            "load_urdf: round_angles: got '1e-4'; give an angle from 0 to 0.1 rad",
        ),
    ],
)
def test_wrong_arguments(arguments, kind, message):
    with pytest.raises(kind) as caught:
        load_urdf(*arguments)
    assert str(caught.value) == message


def test_other_formats_are_named():
    """What is said of them is so: the wheel has no parser of SDF."""
    assert not pin.WITH_SDFORMAT
    with pytest.raises(UrdfError, match=r"this is MJCF: read it by gd\.load_mjcf$"):
        load_urdf("<mujoco/>")
    with pytest.raises(UrdfError, match="root element is <model>, not <robot>; this is not a URDF"):
        load_urdf("<model/>")


def test_every_joint_without_inertia_is_named():
    chain_of_links = [link(k, "") for k in range(13)]
    joints = [joint(f"j{k}", k, k + 1) for k in range(12)]
    shown = "12 joints ('j0', 'j1', 'j2', 'j3', 'j4', 'j5', 'j6', 'j7', …)"
    with pytest.warns(UrdfWarning) as caught:
        load_urdf(robot(*chain_of_links, *joints))
    assert [str(warning.message) for warning in caught] == [f"<text>: {shown}: {IDLE}"]
    with pytest.raises(UrdfError) as refused:
        load_urdf(robot(*chain_of_links, *joints), check="strict")
    assert str(refused.value) == f"<text>: {shown}: {IDLE}"


@pytest.mark.extras
def test_no_robot_of_others_is_refused_for_want_of_inertia():
    """Whatever Pinocchio reads, without the inertia of its links: its kinematics is Pinocchio's."""
    loaded, refused = 0, list[str]()
    for file in sorted(of_others(".").rglob("*.urdf")):
        text = re.sub("<inertial.*?</inertial>", "", file.read_text(errors="replace"), flags=re.DOTALL)
        try:
            theirs = pin.buildModelFromXML(text, True)
        except Exception:
            continue
        try:
            model = load_urdf(text, check="off")
        except UrdfError as error:
            refused.append(str(error))
            continue
        assert model == theirs
        if model.nv:
            loaded += 1
            q = pin.randomConfiguration(model) if np.all(np.isfinite(model.upperPositionLimit)) else pin.neutral(model)
            data = model.createData()
            pin.framesForwardKinematics(model, data, q)
            frame = model.nframes - 1
            placement = gd.Kinematics(model, clean=0).frame_placement(frame)(q).full()
            np.testing.assert_allclose(placement, data.oMf[frame].homogeneous, rtol=0, atol=1e-12)
    assert loaded > 30
    assert not [error for error in refused if "inertia" in error]


# The shipped robots, against their sources.


def rod(mass, length, axis):
    moments = np.full(3, mass * length**2 / 12)
    moments[axis] = 0
    return moments


RX = np.array([[1, 0, 0], [0, np.cos(0.5), np.sin(0.5)], [0, -np.sin(0.5), np.cos(0.5)]])  # by −β about x
PUMA = [
    (0, (0, 0, 0), (0, 0, 0.35), 1.14),
    (17.40, (0.068, 0.006, 0.2275), (0.130, 0.524, 0.539), 4.71),
    (4.80, (0, -0.070, 0.014), (0.066, 0.0125, 0.086), 0.83),
    (0.82, (0, 0, -0.019), (1.8e-3, 1.8e-3, 1.3e-3), 0.200),
    (0.34, (0, 0, 0), (0.3e-3, 0.3e-3, 0.4e-3), 0.179),
    (0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3), 0.193),
]
COLUMN = (8, (0, 0, -0.3), (8 * (3 * 0.1**2 + 0.6**2) / 12, 8 * (3 * 0.1**2 + 0.6**2) / 12, 8 * 0.1**2 / 2), 0)
BODIES = {  # mass, centre of mass, moments about it (or the tensor), armature
    "puma560": PUMA,
    "puma560_3": PUMA[:3],
    "two_link_arm": [(3, (0.25, 0, 0), rod(3, 0.5, 0), 0), (1.5, (0.2, 0, 0), rod(1.5, 0.4, 0), 0)],
    "cart_pendulum": [(2, (0, 0, 0), (0, 0, 0), 0), (0.5, (0, 0, -0.6), (0, 0, 0), 0)],
    "shala_likaj_rpr": [
        (6, (0.02, -0.015, -0.18 + 0.4), (0.08, 0.07, 0.03), 0),
        (4, RX @ (0.03, -0.02, -0.12), RX @ np.diag((0.05, 0.045, 0.02)) @ RX.T, 0),
        (2, (0.015, 0.025, -0.1 + 0.25), (0.012, 0.01, 0.005), 0),
    ],
    "horn_leg": [COLUMN, (3, (0, 0, 0.25), rod(3, 0.5, 2), 0), (2, (0, 0, 0.3), rod(2, 0.6, 2), 0)],
    "horn_arm_offset": [COLUMN, (3, (0, 0.15, 0.25), rod(3, 0.5, 2), 0), (2, (0, 0.1, 0.3), rod(2, 0.6, 2), 0)],
    "horn_leg_loads": [  # a rod with a point load at its end: about the common centre
        COLUMN,
        (4.5, (0, 0, (3 * 0.25 + 1.5 * 0.5) / 4.5), rod(3, 0.5, 2) + 3 * 1.5 / 4.5 * 0.25**2 * np.array([1, 1, 0]), 0),
        (2.8, (0, 0, (2 * 0.3 + 0.8 * 0.6) / 2.8), rod(2, 0.6, 2) + 2 * 0.8 / 2.8 * 0.3**2 * np.array([1, 1, 0]), 0),
    ],
    "two_link_flexible": [(0.6, (0.5, 0, 0), rod(0.6, 1, 0), 0), (0.36, (0.4, 0, 0), rod(0.36, 0.8, 0), 0)],
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_of_the_shipped_robots(name):
    model = load_urdf(name)
    assert model.name == name
    assert model.nq == model.nv == len(BODIES[name]) == model.njoints - 1
    for body, armature, (mass, com, inertia, rotor) in zip(
        model.inertias[1:], model.armature, BODIES[name], strict=True
    ):
        assert body.mass == pytest.approx(mass, abs=1e-15)
        np.testing.assert_allclose(body.lever, com, atol=1e-15)
        tensor = np.diag(inertia) if np.ndim(inertia) == 1 else inertia
        np.testing.assert_allclose(body.inertia, tensor, atol=1e-15)
        assert armature == rotor


@pytest.mark.extras
def test_the_panda_is_that_of_example_robot_data():
    file = of_others("panda_description/urdf/panda.urdf")
    full = pin.buildModelFromXML(file.read_text(), False)
    fingers = [full.getJointId(f"panda_finger_joint{i}") for i in (1, 2)]
    theirs, ours = pin.buildReducedModel(full, fingers, pin.neutral(full)), load_urdf("panda7")
    assert ours.njoints == theirs.njoints == 8
    for i in range(1, 8):
        assert ours.joints[i] == theirs.joints[i]
        np.testing.assert_allclose(ours.inertias[i].matrix(), theirs.inertias[i].matrix(), rtol=0, atol=1e-15)
        np.testing.assert_allclose(ours.jointPlacements[i], theirs.jointPlacements[i], rtol=0, atol=1e-15)
    for limit in ("lowerPositionLimit", "upperPositionLimit", "upperEffortLimit", "upperVelocityLimit"):
        np.testing.assert_array_equal(getattr(ours, limit), getattr(theirs, limit))
    assert not np.any(ours.armature)


def placed(name, frame, q):
    """Where a frame of a shipped robot is."""
    model = load_urdf(name)
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array(q, dtype=float))
    assert model.existFrame(frame)
    return data.oMf[model.getFrameId(frame)]


@pytest.mark.parametrize("name", ["puma560", "puma560_3"])
def test_puma_placements(name):
    q = [0.3, -0.5, 0.9, 0.4, 0.2, -0.1][: 6 if name == "puma560" else 3]
    a2, a3, d2, d4 = 0.4318, -0.02032, 0.14909, 0.43307
    (c1, c2, c23), (s1, s2, s23) = (f([q[0], q[1], q[1] + q[2]]) for f in (np.cos, np.sin))
    p2 = np.array([a2 * c1 * c2 - d2 * s1, a2 * s1 * c2 + d2 * c1, -a2 * s2])
    np.testing.assert_allclose(placed(name, "link3", q).translation, p2, atol=1e-15)
    p3 = p2 + a3 * np.array([c1 * c23, s1 * c23, -s23])
    wrist = p3 + d4 * np.array([c1 * s23, s1 * s23, c23])  # along the third column of R_3
    np.testing.assert_allclose(
        placed(name, "link4" if name == "puma560" else "wrist", q).translation, wrist, atol=1e-15
    )


def test_puma_tool():
    tool, link6 = placed("puma560", "tool", [0.1] * 6), placed("puma560", "link6", [0.1] * 6)
    np.testing.assert_allclose(link6.actInv(tool).translation, [0, 0, 0.05625], atol=1e-15)


def test_puma_ranges_are_those_of_the_report():
    model = load_urdf("puma560")
    np.testing.assert_allclose(np.rad2deg(model.lowerPositionLimit), [-160, -225, -45, -110, -100, -266])
    np.testing.assert_allclose(np.rad2deg(model.upperPositionLimit), [160, 45, 225, 170, 100, 266])


def test_two_link_arm_placements():
    t1, t2 = 0.4, 0.8
    tip = [0.5 * np.cos(t1) + 0.4 * np.cos(t1 + t2), 0, 0.5 * np.sin(t1) + 0.4 * np.sin(t1 + t2)]
    np.testing.assert_allclose(placed("two_link_arm", "tip", [t1, t2]).translation, tip, atol=1e-15)


def test_cart_pendulum_placements():
    bob = [0.7 + 0.6 * np.sin(0.4), 0, -0.6 * np.cos(0.4)]
    np.testing.assert_allclose(placed("cart_pendulum", "bob", [0.7, 0.4]).translation, bob, atol=1e-15)


def test_rpr_placements():
    tip = placed("shala_likaj_rpr", "tip", [0.3, 0.2, 0.9])
    np.testing.assert_allclose(
        tip.rotation[:, 2], pin.exp3(np.array([0, 0, 0.3])) @ [0, np.sin(0.5), np.cos(0.5)], atol=1e-15
    )
    np.testing.assert_allclose(tip.translation, np.array([0, 0, 0.4 + 0.2]) + 0.25 * tip.rotation[:, 2], atol=1e-15)


@pytest.mark.parametrize(("name", "d3"), [("horn_leg", 0), ("horn_leg_loads", 0), ("horn_arm_offset", 0.1)])
def test_horn_placements(name, d3):
    q = [0.3, 0.5, 0.8]
    (s1, s2), (c1, c2) = np.sin(q[:2]), np.cos(q[:2])
    reach, height = 0.5 * s2 + 0.6 * np.sin(1.3), 0.5 * c2 + 0.6 * np.cos(1.3)
    tip = [reach * c1 - d3 * s1, reach * s1 + d3 * c1, height]
    np.testing.assert_allclose(placed(name, "tip", q).translation, tip, atol=1e-15)


def test_two_link_flexible_placements():
    tip = [np.cos(0.4) + 0.8 * np.cos(1.2), np.sin(0.4) + 0.8 * np.sin(1.2), 0]
    np.testing.assert_allclose(placed("two_link_flexible", "tip", [0.4, 0.8]).translation, tip, atol=1e-15)


@pytest.mark.parametrize("name", robots())
def test_shipped_robots_are_vetted(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_urdf(name)
    if name.startswith("puma560"):  # as published: only "strict" speaks
        with pytest.raises(UrdfError) as refused:
            load_urdf(name, check="strict")
        assert (refused.value.element, refused.value.reason) == ("2 links ('link1', 'link3')", TRIANGLE)
    else:
        load_urdf(name, check="strict")


# Robots of others.


@pytest.mark.parametrize(
    "path",
    [
        "panda_description/urdf/panda.urdf",
        "ur_description/urdf/ur5_robot.urdf",
        "talos_data/robots/talos_reduced.urdf",
        "anymal_b_simple_description/robots/anymal.urdf",
        "solo_description/robots/solo12.urdf",
        "go2_description/urdf/go2.urdf",
        "icub_description/robots/icub.urdf",
        "tiago_description/robots/tiago.urdf",
        "pr2_description/urdf/pr2.urdf",
        "human_description/robots/human.urdf",
        "allegro_hand_description/urdf/allegro_left_hand.urdf",
        "baxter_description/urdf/baxter.urdf",
    ],
)
@pytest.mark.extras
@pytest.mark.parametrize("root", [None, pin.JointModelFreeFlyer()])
def test_robots_of_others_are_as_pinocchio_reads_them(path, root):
    file = of_others(path)
    theirs = pin.buildModelFromXML(file.read_text(), *([] if root is None else [root]), True)
    assert load_urdf(file, root, check="off") == theirs
