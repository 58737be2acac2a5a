"""Reading of a URDF as a ``pin.Model``: the shipped robots, and a guard before Pinocchio's parser.

Pinocchio's parser is silent where it hurts: ``mass="1.0kg"`` (or ``" 1 "``) loads as a massless link, the axis of a
planar joint is ignored, a planar joint that mimics is made free, the links of a detached loop vanish, a zero axis stays
zero. So every number is read here, checked, and written again in the shortest form that reads back to the same double.
"""

from __future__ import annotations

import math
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, NamedTuple, Never, get_args
from xml.parsers import expat

import numpy as np
import pinocchio as pin

from gdalembert import errors
from gdalembert.errors import ArgumentError, ArgumentTypeError, UrdfError, quoted, reason_of, shown
from gdalembert.model.from_pinocchio import idle_joints, read_tree
from gdalembert.model.rounding import CLEANED, DOUBTFUL, LARGEST, NEGLIGIBLE, exceeds_the_others, least_moment
from gdalembert.model.urdf_joints import (
    UrdfJoint,
    check_mimic_joints,
    compose_mimic_joints,
    depth_first,
    mimicked_first,
)
from gdalembert.spatial.arguments import choice, warn
from gdalembert.spatial.interrupts import interruptible

Check = Literal["strict", "warn", "off"]
MAX_SIZE = 10_000_000
"""Longest text of a URDF [bytes or characters]: what the largest robots need many times over."""
MAX_LINKS = 5000
"""Most links, and most joints."""
MAX_NAME = 1000
"""Longest name."""
MEANT = 1e-4
"""Distance of an angle from a multiple of π/4 or π/6 that is taken for lack of digits [rad]."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_TYPES = ("continuous", "fixed", "floating", "planar", "prismatic", "revolute")
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_OTHER_FORMATS = {
    "mujoco": "this is MJCF: read it by gd.load_mjcf",
    "sdf": "this is SDF, which the wheel of pin is built without; convert it to a URDF",
}
"""What to do about the root elements of other formats."""


def robots() -> tuple[str, ...]:
    """Names of the robots that come with the package, sorted; ``urdf/README.md`` says where their numbers come from."""
    return tuple(sorted(Path(file.name).stem for file in robot_folder().iterdir() if file.name.endswith(".urdf")))


@interruptible
def load_urdf(
    source: str | os.PathLike[str],
    root_joint: pin.JointModel | None = None,
    mimic: bool = True,
    check: Check = "warn",
    round_angles: float = 0.0,
) -> pin.Model:
    """Read a robot, refusing early and in words what Pinocchio's parser would get wrong.

    Lengths are in m, angles in rad, masses in kg, moments of inertia in kg m² about the centre of mass. The rotor
    inertia that a gear reflects to its joint, which URDF has no place for, is read from
    ``<dynamics armature="…"/>`` (kg m²; kg for a prismatic joint) into ``model.armature``, for all velocities of the
    joint; it is part of the mass matrix and of tau.

    What Pinocchio reads but does not use in ``rnea``: ``damping`` and ``friction``, as ``model.damping`` and
    ``model.friction``; ``friction="model"`` of a formulation or an arm puts them into tau. What it does not read: those
    of mimicking, floating and planar joints; ``<transmission>``, with the rotor inertia and gear ratio in it, and
    ``<safety_controller>``. Meshes are not opened.

    Args:
        source: a name from :func:`robots`, a path, or the text of a URDF (a string that contains ``<``).
        root_joint: how the root link moves, for example ``pin.JointModelFreeFlyer()``; ``None`` fixes it to the world.
        mimic: ``True`` makes mimic joints follow the joint they mimic, ``False`` lets them move freely.
        check: what to do about a URDF that can be loaded but is doubtful (a principal moment larger than the sum of
            the others by more than 0.1 %, an axis missing or not of unit length, limits in the wrong order or
            missing, damping and friction, a transmission or a ``<mimic>`` that is ignored, a link with a negative
            principal moment in a rigid body that has none, joints that move no inertia, which leaves kinematics and
            statics, a right angle of a joint written as 1.5708): ``"warn"`` gives a ``UrdfWarning`` per kind,
            ``"strict"`` refuses, ``"off"`` is silent. The shipped robots are vetted, published violations included:
            about them ``"warn"`` is silent and only ``"strict"`` speaks.
        round_angles: angles of ``rpy`` within it of a multiple of π/4 or π/6 are taken for that multiple [rad], at most
            0.1. Rotations then have zeros, and graphs are smaller: of a URDF that writes 1.5708, 1e-4 changes tau by
            some 1e-6 of its size.

    Returns:
        A plain ``pin.Model``: joints in Pinocchio's order (depth first, siblings by name), mimicked branches first.

    Raises:
        UrdfError: whatever ``check`` says, if the text is malformed or not a URDF, has unprocessed xacro, values that
            are not finite numbers up to 1e30, negative mass, principal moments or armature, a zero axis, a planar joint
            not in the x-y plane, joints that are not one tree or lie more than 1000 deep, or an impossible mimic joint;
            or if it is larger than 10 MB or has more than 5000 links.
        UnknownNameError: if there is no robot of that name.
        ArgumentTypeError, ArgumentError: for arguments of the wrong type or value.
    """
    choice("load_urdf: check", check, get_args(Check))
    if not isinstance(mimic, bool):
        raise ArgumentTypeError(f"mimic must be True or False, not {type(mimic).__name__}")
    check_root_joint(root_joint)
    data, name, stem, shipped = read_source(source)
    if not isinstance(round_angles, int | float) or not 0 <= round_angles <= 0.1:
        raise ArgumentError(f"load_urdf: round_angles: got {shown(round_angles)}; give an angle from 0 to 0.1 rad")
    checked = CheckedUrdf(data, name, stem, mimic, round_angles)
    model = _build(checked, root_joint)
    _check_inertias(checked, model)
    _tell_doubts(checked, "off" if shipped and check == "warn" else check)
    return model


def robot_folder() -> Traversable:
    """Folder of the shipped robots: in the installed package, or in the checkout beside ``src``."""
    installed = resources.files("gdalembert") / "urdf"
    return installed if installed.is_dir() else Path(__file__).resolve().parents[3] / "urdf"


def read_source(source: object) -> tuple[str | bytes, str, str, bool]:
    """The URDF, what errors call it, a name for the robot, and whether it is a shipped one."""
    if isinstance(source, str) and "<" in source:
        return source, "<text>", "robot", False
    if isinstance(source, str) and source in robots():
        return (robot_folder() / f"{source}.urdf").read_bytes(), f"{source}.urdf", source, True
    if isinstance(source, pin.Model):
        raise ArgumentTypeError("expected a URDF, got a pin.Model; it needs no loading, pass it on as it is")
    if not isinstance(source, str | os.PathLike):
        raise ArgumentTypeError(f"expected a robot's name, a path or the text of a URDF, got {type(source).__name__}")
    path = Path(os.fsdecode(source))
    bare = isinstance(source, str) and not path.suffix and len(path.parts) < 2
    if bare and not (source and os.path.exists(source)):
        raise errors.UnknownNameError("shipped robot", str(source), robots())
    return read_file(source, UrdfError), path.name, path.stem, False


def read_file(source: str | os.PathLike[str], refusal: Callable[[str, None, str], Exception]) -> bytes:
    """The first bytes of a file, one more than the largest that is read."""
    try:
        with open(os.fsdecode(source), "rb") as file:
            return file.read(MAX_SIZE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise refusal(errors.shortened(str(source), 10_000), None, f"cannot be read: {reason}") from None


def check_root_joint(joint: object) -> None:
    """Refuse what is no joint model."""
    if joint is None:
        return
    if isinstance(joint, type) and joint.__name__.startswith("JointModel"):
        raise ArgumentTypeError(f"root_joint is the class {joint.__name__}; call it: pin.{joint.__name__}()")
    try:
        pin.JointModel(joint)
    except TypeError:
        raise ArgumentTypeError(
            f"root_joint must be a joint model such as pin.JointModelFreeFlyer(), not {type(joint).__name__}"
        ) from None


def _build(checked: CheckedUrdf, root_joint: pin.JointModel | None) -> pin.Model:
    root = () if root_joint is None else (root_joint,)
    try:
        model = pin.buildModelFromXML(checked.text, *root, checked.mimic)
    except Exception as error:
        reason = reason_of(error)
        raise UrdfError(checked.source, None, f"Pinocchio refuses it: {reason}") from error
    for index, name in enumerate(model.names):
        model.names[index] = checked.renamed.get(name, name)
    for frame in model.frames:
        if frame.type in (pin.FrameType.JOINT, pin.FrameType.FIXED_JOINT):
            frame.name = checked.renamed.get(frame.name, frame.name)
    for name in ("universe", "root_joint"):  # which Pinocchio gives itself, and does not look for in the URDF
        if list(model.names).count(name) > 1:
            raise UrdfError(checked.source, f"joint {quoted(name)}", "has a name that Pinocchio uses itself; rename it")
    for name, armature in checked.armature.items():
        joint = model.joints[model.getJointId(name)]
        model.armature[joint.idx_v : joint.idx_v + joint.nv] = armature
    return model


def _check_inertias(checked: CheckedUrdf, model: pin.Model) -> None:
    """Refuse a negative principal moment, unless what its link is fixed to makes up for it; note idle joints."""
    for name, moment in checked.negative.items():
        link = f"link {quoted(name)}"
        joint = model.frames[model.getFrameId(name, pin.FrameType.BODY)].parentJoint
        if joint and least_moment(model.inertias[joint].inertia, model.inertias[joint].mass) < 0:
            reason = f"has the negative principal moment {moment:.6g} kg m²; check the values and signs of <inertia>"
            raise UrdfError(checked.source, link, reason)
        reason = "has a negative principal moment, but the rigid body it is part of has none"
        checked.warnings.setdefault(reason, []).append(link)
    try:
        idle = idle_joints(read_tree(model)) if model.nv else ()
    except errors.ModelError as error:
        raise UrdfError(checked.source, None, str(error)) from error
    for name in idle:
        checked.warn(
            f"joint {quoted(name)}",
            "no moving inertia, so that the robot has kinematics and statics, but no dynamics; for that give the links "
            '<inertial>, the joints <dynamics armature="…"/>, or the formulation parameters={"inertia": True}',
        )


def _tell_doubts(checked: CheckedUrdf, check: Check) -> None:
    for reason, elements in checked.warnings.items():
        if check == "strict":
            raise UrdfError(checked.source, _list(elements), reason)
        if check == "warn":
            warn(f"{checked.source}: {_list(elements)}: {reason}", errors.UrdfWarning)


def _list(elements: list[str]) -> str:
    kind = elements[0].partition(" ")[0]
    names = [element.partition(" ")[2] for element in elements]
    if len(names) == 1:
        return elements[0]
    return f"{len(names)} {kind}s ({', '.join(names[:8])}{', …' if len(names) > 8 else ''})"


class _Attribute(NamedTuple):
    """An attribute that holds numbers; without a default it must be there. ``name`` and ``unit`` are for messages."""

    size: int = 1
    default: float | None = None
    signed: bool = True
    name: str = ""
    unit: str = ""


_ATTRIBUTES = {
    "xyz": _Attribute(size=3),
    "rpy": _Attribute(size=3),
    "quat_xyzw": _Attribute(size=4),
    "value": _Attribute(signed=False, name="mass", unit=" kg"),
    **{key: _Attribute() for key in _MOMENTS},
    **{key: _Attribute(default=0.0) for key in ("lower", "upper")},
    **{key: _Attribute(signed=False) for key in ("effort", "velocity")},
    **{key: _Attribute(default=0.0, signed=False) for key in ("armature", "damping", "friction")},
    "multiplier": _Attribute(default=1.0),
    "offset": _Attribute(default=0.0),
}


def _parse(data: str | bytes, source: str) -> ET.Element:
    """The root of the document. Names keep their prefix: the C++ parser knows no namespaces either."""
    if len(data) > MAX_SIZE:
        hint = "give the URDF of one robot, without meshes"
        raise UrdfError(source, None, f"is larger than {MAX_SIZE / 1e6:g} MB; {hint}")

    def refuse_doctype(*_: object) -> None:
        # Without it there are no entities to expand, neither from files nor by the million.
        raise UrdfError(source, None, "has a document type (<!DOCTYPE …>), which is not part of URDF; remove it")

    builder = ET.TreeBuilder()
    parser = expat.ParserCreate()
    # Not ET.XMLParser: it makes {uri}tag of prefixes, and expands entities.
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(data.lstrip(), True)
    except UrdfError:
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise UrdfError(source, None, f"is not well-formed XML: {error}") from None
    root: ET.Element = builder.close()
    for node in root.iter():
        if node.tag.startswith("xacro:"):
            raise UrdfError(source, None, f"holds the xacro command <{errors.shortened(node.tag)}>; run xacro first")
        for key, value in node.attrib.items():
            if "${" in value or ("$(" in value and key != "filename"):  # meshes are not opened
                raise UrdfError(source, None, f"holds the xacro expression {quoted(value)}; run xacro first")
            if len(value) > MAX_NAME and key in ("name", "link", "joint"):
                attribute = f"<{errors.shortened(node.tag)} {key}={quoted(value)}>"
                raise UrdfError(source, None, f"{attribute} is too long; give names of at most {MAX_NAME} characters")
    if root.tag != "robot":
        hint = _OTHER_FORMATS.get(root.tag, "this is not a URDF")
        raise UrdfError(source, None, f"its root element is <{errors.shortened(root.tag)}>, not <robot>; {hint}")
    return root


class CheckedUrdf:
    """A URDF that may go to the C++ parser: one pass over it reads, refuses, warns, and writes the clean copy.

    Args:
        data: its text. ``source``: what errors call it. ``name``: the robot's, if it has none itself.
        mimic: whether mimic joints shall mimic. ``round_angles``: as of :func:`load_urdf` [rad].

    Attributes:
        name: of the robot. ``text``: what the parser gets.
        renamed: the joints' names by those in the text, where these are others.
        armature: rotor inertia of each joint that has one [kg m², kg for a prismatic joint].
        rough: joints with angles that seem to be multiples of π/4 or π/6: how many, and how many entries of their
            rotations would then be 0.
        negative: links whose own tensor has a negative principal moment [kg m²]; they are wrong only if the rigid
            body they are part of is.
        warnings: what is probably not meant: reason -> elements.
    """

    def __init__(self, data: str | bytes, source: str, name: str, mimic: bool, round_angles: float) -> None:
        self.source, self.mimic, self.round_angles = source, mimic, round_angles
        self.rough: dict[str, tuple[int, int]] = {}
        self.armature: dict[str, float] = {}
        self.negative: dict[str, float] = {}
        self.warnings: dict[str, list[str]] = {}
        self.renamed: dict[str, str] = {}
        root = _parse(data, source)
        self.name, self.version = root.get("name") or name, root.get("version", "1.0")
        if self.version not in ("1.0", "1.1", "1.2"):
            self.refuse(None, f"its URDF version {quoted(self.version)} is not known; known are 1.0, 1.1 and 1.2")
        clean = ET.Element("robot", name=self.name, version=self.version)
        links = self.unique("link", root)
        if not links:
            self.refuse(None, "has no links; a robot needs at least one")
        for link, node in links.items():
            self.link(link, node, ET.SubElement(clean, "link", name=link))
        nodes = self.unique("joint", root)
        copies = {joint: ET.SubElement(clean, "joint", name=joint) for joint in nodes}
        joints = [self.joint(joint, node, copies[joint]) for joint, node in nodes.items()]
        joints = compose_mimic_joints(joints, self.refuse)
        for joint in joints:
            if joint.mimics is not None:
                multiplier, offset = _text(joint.multiplier), _text(joint.offset)
                ET.SubElement(copies[joint.name], "mimic", joint=joint.mimics, multiplier=multiplier, offset=offset)
        by_name = depth_first(list(links), joints, self.refuse)
        order = mimicked_first(by_name)
        check_mimic_joints(order, self.refuse)
        if order != by_name:
            self.rename(order, copies)
        self.transmissions(root)
        angles, zeros = (sum(counts) for counts in zip((0, 0), *self.rough.values(), strict=True))
        for element in self.rough:
            self.warn(
                element,
                f"rpy misses a multiple of π/4 or π/6 by less than {MEANT:g} rad, in {angles} "
                f"{'angle' if angles == 1 else 'angles'}; with round_angles={MEANT:g}, rotations of joints have "
                f"{zeros} more zeros, and graphs are smaller: 'gdalembert info' counts their instructions",
            )
        self.text = ET.tostring(clean, encoding="unicode")

    def refuse(self, element: str | None, reason: str) -> Never:
        raise UrdfError(self.source, element, reason)

    def warn(self, element: str, reason: str) -> None:
        self.warnings.setdefault(reason, []).append(element)

    def rename(self, order: Sequence[UrdfJoint], copies: dict[str, ET.Element]) -> None:
        """Number the joints, so that Pinocchio, which visits siblings by name, comes to them in this order."""
        numbers = {joint.name: f"{number:05}" for number, joint in enumerate(order)}
        # Behind Pinocchio its joints cannot be exchanged: transforms, limits and frames go by their indices.
        self.renamed = {number: name for name, number in numbers.items()}
        for name, copy in copies.items():
            copy.set("name", numbers[name])
            for mimic in copy.iter("mimic"):
                mimic.set("joint", numbers[mimic.attrib["joint"]])

    # Reading elements and numbers.

    def unique(self, tag: str, root: ET.Element) -> dict[str, ET.Element]:
        nodes_by_name: dict[str, ET.Element] = {}
        nodes = root.findall(tag)
        if len(nodes) > MAX_LINKS:
            self.refuse(None, f"has {len(nodes)} {tag}s; at most {MAX_LINKS} are read")
        for number, node in enumerate(nodes, start=1):
            name = node.get("name")
            if not name:
                self.refuse(f"{tag} number {number}", "has no name; give it one")
            if name in nodes_by_name:
                self.refuse(f"{tag} {quoted(name)}", "its name is used twice; names must be unique")
            nodes_by_name[name] = node
        return nodes_by_name

    def only(self, element: str, node: ET.Element, tag: str) -> ET.Element | None:
        children = node.findall(tag)
        if len(children) > 1:
            self.refuse(element, f"has <{tag}> {len(children)} times; keep one")
        return children[0] if children else None

    def needed(self, element: str, node: ET.Element, tag: str) -> ET.Element:
        child = self.only(element, node, tag)
        if child is None:
            self.refuse(element, f"<{node.tag}> has no <{tag}>; add it")
        return child

    def numbers(self, element: str, node: ET.Element, key: str) -> list[float]:
        """The numbers of an attribute."""
        known, text = _ATTRIBUTES[key], node.get(key)
        if text is None and known.default is not None:
            return [known.default]
        if text is None:
            self.refuse(element, f"<{node.tag}> has no {key}; add it")
        words = text.split()
        if len(words) != known.size:
            self.refuse(element, f"<{node.tag} {key}={quoted(text)}> has {len(words)} numbers; give {known.size}")
        # float() alone takes 1_000, inf and nan.
        values = [float(word) if _NUMBER.fullmatch(word) else math.nan for word in words]
        if not all(map(math.isfinite, values)):
            self.refuse(
                element, f"<{node.tag} {key}={quoted(text)}> is not a finite number; write digits only, no units"
            )
        if node.tag not in ("axis", "limit") and max(map(abs, values)) > LARGEST:  # a direction, and bounds, may be
            self.refuse(element, f"<{node.tag} {key}={quoted(text)}> is too large; give numbers up to {LARGEST:g}")
        if not known.signed and values[0] < 0:
            self.refuse(element, f"{known.name or key} is negative ({values[0]:g}{known.unit}); give at least 0")
        return values

    def copied(self, element: str, node: ET.Element, clean: ET.Element, *keys: str) -> list[float]:
        """The number of each of these attributes, which is written to the clean copy as well."""
        values = [self.numbers(element, node, key)[0] for key in keys]
        ET.SubElement(clean, node.tag, dict(zip(keys, map(_text, values), strict=True)))
        return values

    def origin(self, element: str, node: ET.Element, clean: ET.Element) -> None:
        origin = self.only(element, node, "origin")
        if origin is None:
            return
        attributes = {
            key: self.numbers(element, origin, key) for key in ("xyz", "rpy", "quat_xyzw") if key in origin.attrib
        }
        if "quat_xyzw" in attributes:
            if self.version == "1.0":
                self.refuse(element, 'quat_xyzw is ignored before URDF 1.1; give rpy, or <robot version="1.1">')
            if "rpy" in attributes:
                self.refuse(element, "has both rpy and quat_xyzw; keep one")
            if math.hypot(*attributes["quat_xyzw"]) < NEGLIGIBLE:
                self.refuse(element, "quat_xyzw is zero; give a unit quaternion")
        if "rpy" in attributes:
            rpy = attributes["rpy"] = [_rounded(angle, self.round_angles) for angle in attributes["rpy"]]
            meant = [_rounded(angle, MEANT) if abs(angle) > MEANT else angle for angle in rpy]
            zeros = _zeros(meant) - _zeros(rpy)
            if zeros > 0 and node.tag == "joint":
                missed = np.abs(np.subtract(meant, rpy)) > CLEANED
                self.rough[element] = int(np.count_nonzero(missed)), zeros
        ET.SubElement(clean, "origin", {key: _text(*values) for key, values in attributes.items()})

    # Links.

    def link(self, name: str, node: ET.Element, clean: ET.Element) -> None:
        element = f"link {quoted(name)}"
        for stray in ("mass", "inertia"):
            if node.find(stray) is not None:
                self.refuse(element, f"<{stray}> outside <inertial> counts for nothing; move it inside")
        inertial = self.only(element, node, "inertial")
        if inertial is None:
            return
        copy = ET.SubElement(clean, "inertial")
        self.origin(element, inertial, copy)
        (mass,) = self.copied(element, self.needed(element, inertial, "mass"), copy, "value")
        xx, xy, xz, yy, yz, zz = self.copied(element, self.needed(element, inertial, "inertia"), copy, *_MOMENTS)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if (least := least_moment(tensor, mass)) < 0:
            self.negative[name] = least
        elif exceeds_the_others(tensor, mass):
            self.warn(element, "a principal moment exceeds the sum of the other two, as in no real body")

    # Joints.

    def joint(self, name: str, node: ET.Element, clean: ET.Element) -> UrdfJoint:
        element = f"joint {quoted(name)}"
        kind = node.get("type")
        if kind not in _TYPES:
            fault = "has no type" if kind is None else f"type {quoted(kind)} is not known"
            self.refuse(element, f"{fault}; give one of {', '.join(_TYPES)}")
        clean.set("type", kind)
        ends = {tag: self.needed(element, node, tag).get("link", "") for tag in ("parent", "child")}
        for tag, link in ends.items():
            if not link:
                self.refuse(element, f'names no {tag} link; give <{tag} link="…"/>')
            ET.SubElement(clean, tag, link=link)
        self.origin(element, node, clean)
        mimics, *relation = self.mimicked(element, node, kind)
        if kind != "fixed":
            self.axis(element, node, kind, clean)
            self.limit(element, node, kind, clean)
        self.dynamics(element, node, kind, mimics, clean)
        return UrdfJoint(name, element, kind, ends["parent"], ends["child"], mimics, *relation)

    def mimicked(self, element: str, node: ET.Element, kind: str) -> tuple[str | None, float, float]:
        """The joint that this one mimics, multiplier and offset."""
        mimic = self.only(element, node, "mimic")
        if mimic is None or kind == "fixed":  # as a locked finger that kept its <mimic>
            return None, 1.0, 0.0
        if not self.mimic:
            self.warn(element, "<mimic> is ignored, because mimic=False was asked for")
            return None, 1.0, 0.0
        name = mimic.get("joint")
        if not name:
            self.refuse(element, "<mimic> has no joint; name the one to follow")
        (multiplier,), (offset,) = (self.numbers(element, mimic, key) for key in ("multiplier", "offset"))
        if multiplier == 0:
            self.refuse(element, "mimics with multiplier 0, so that it never moves; make it fixed")
        return name, multiplier, offset

    def axis(self, element: str, node: ET.Element, kind: str, clean: ET.Element) -> None:
        axis = self.only(element, node, "axis")
        if kind == "floating":
            return
        xyz = [1.0, 0.0, 0.0] if axis is None else self.numbers(element, axis, "xyz")
        length = math.hypot(*xyz)
        shown = f"({', '.join(f'{x:g}' for x in xyz)})"
        if not NEGLIGIBLE < length < 1 / NEGLIGIBLE:
            fault = "zero" if length < 1 else "too long"
            self.refuse(element, f"axis is {fault} {shown}; give a unit vector")
        if kind == "planar":
            if xyz[2] <= 0 or math.hypot(xyz[0], xyz[1]) > NEGLIGIBLE * length:
                hint = 'turn <origin> so that z is the normal, and give <axis xyz="0 0 1"/>'
                reading = f"axis is {shown}" if axis is not None else f"<axis> is missing, which means {shown}"
                self.refuse(element, f"{reading}, but Pinocchio moves a planar joint in its x-y plane; {hint}")
            return
        if axis is None:
            self.warn(element, "<axis> is missing, which means (1, 0, 0)")
        elif abs(length - 1) > DOUBTFUL:
            self.warn(element, "the axis is not a unit vector; it is normalised")
        ET.SubElement(clean, "axis", xyz=_text(*xyz))

    def limit(self, element: str, node: ET.Element, kind: str, clean: ET.Element) -> None:
        limit = self.only(element, node, "limit")
        bounded = kind in ("revolute", "prismatic")
        if limit is None:
            if bounded:
                other = ", or make it continuous" if kind == "revolute" else ""
                self.refuse(element, f"has no <limit>; give lower, upper, effort and velocity{other}")
            return
        lower, upper, *_ = self.copied(element, limit, clean, "lower", "upper", "effort", "velocity")
        if bounded and lower > upper:
            self.warn(element, "the lower limit is above the upper limit")
        if bounded and "lower" not in limit.attrib and "upper" not in limit.attrib:
            self.warn(element, "<limit> has neither lower nor upper, which means the range [0, 0]")

    def dynamics(self, element: str, node: ET.Element, kind: str, mimics: str | None, clean: ET.Element) -> None:
        dynamics = self.only(element, node, "dynamics")
        if dynamics is None:
            return
        (armature,) = self.numbers(element, dynamics, "armature")
        if armature and kind == "fixed":
            self.refuse(element, f"is fixed and has the armature {armature:g}; leave that out")
        if armature and mimics is not None:
            hint = f"give {quoted(mimics)} multiplier² times it"
            self.refuse(element, f"mimics {quoted(mimics)} and has the armature {armature:g}; {hint}")
        if armature:
            self.armature[node.attrib["name"]] = armature
        if kind == "fixed" or not any(self.copied(element, dynamics, clean, "damping", "friction")):
            return
        if mimics is not None:
            hint = f"give {mimics!r} multiplier² × damping and |multiplier| × friction"
            self.warn(element, f"damping and friction of a joint that mimics another are lost; {hint}")
        elif kind in ("floating", "planar"):
            hint = "give them to the robot, friction={joint: …}"
            self.warn(element, f"damping and friction of a {kind} joint are lost; {hint}")
        else:
            hint = "but tau is without them unless friction='model' is given"
            self.warn(element, f"damping and friction are kept in the model, {hint}")

    def transmissions(self, root: ET.Element) -> None:
        hint = 'reflected inertia goes into <dynamics armature="…"/>'
        for node in root.findall("transmission"):
            ratios = [(part.text or "").strip() for part in node.iter("mechanicalReduction")]
            geared = any(not _NUMBER.fullmatch(ratio) or float(ratio) != 1 for ratio in ratios)
            if geared or any("inertia" in part.tag.lower() for part in node.iter()):
                self.warn(f"transmission {quoted(node.get('name', ''))}", f"gear and rotor inertia are ignored; {hint}")


def _rounded(angle: float, tolerance: float) -> float:
    """The nearest multiple of π/4 or π/6 for an angle within a tolerance of it."""
    nearest = min((round(angle / unit) * unit for unit in (np.pi / 4, np.pi / 6)), key=lambda x: abs(x - angle))
    return float(nearest) if abs(nearest - angle) <= tolerance else angle


def _zeros(rpy: Sequence[float]) -> int:
    """Entries of the rotation by these angles that cleaning takes for 0."""
    return int(np.count_nonzero(np.abs(pin.rpy.rpyToMatrix(*rpy)) < CLEANED))


def _text(*values: float) -> str:
    # repr is the shortest text that reads back to the same double; %.17g writes 0.1 in 17 digits.
    return " ".join(map(repr, values))
