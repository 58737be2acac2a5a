"""From a URDF to a ``pin.Model``: the shipped robots, and checks before Pinocchio's parser reads one."""

from __future__ import annotations

import os
import warnings
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, get_args

import pinocchio as pin

from gdalembert import errors
from gdalembert.errors import ArgumentTypeError, UrdfError, quoted
from gdalembert.model.from_pinocchio import idle_joints, read_tree
from gdalembert.model.rounding import least_moment
from gdalembert.model.urdf_checks import MAX_SIZE, CheckedUrdf
from gdalembert.spatial.arguments import choice

Check = Literal["strict", "warn", "off"]


def robots() -> tuple[str, ...]:
    """Names of the robots that come with the package, sorted; ``urdf/README.md`` says where their numbers come from."""
    return tuple(sorted(Path(file.name).stem for file in robot_folder().iterdir() if file.name.endswith(".urdf")))


def load_urdf(
    source: str | os.PathLike[str],
    root_joint: pin.JointModel | None = None,
    mimic: bool = True,
    check: Check = "warn",
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
            principal moment in a rigid body that has none): ``"warn"`` gives a ``UrdfWarning`` per kind, ``"strict"``
            refuses, ``"off"`` is silent. The shipped robots are vetted, published violations included: about them
            ``"warn"`` is silent and only ``"strict"`` speaks.

    Returns:
        A plain ``pin.Model``, joints in Pinocchio's order: depth first, siblings by the names of their joints.

    Raises:
        UrdfError: whatever ``check`` says, if the text is malformed or not a URDF, has unprocessed xacro, values that
            are not finite numbers up to 1e30, negative mass, principal moments or armature, a zero axis, a planar joint
            not in the x-y plane, joints that are not one tree or lie more than 1000 deep, an impossible mimic joint, or
            a joint that moves no inertia; or if it is larger than 10 MB or has more than 5000 links.
        UnknownNameError: if there is no robot of that name.
        ArgumentTypeError, ArgumentError: for arguments of the wrong type or value.
    """
    choice("load_urdf: check", check, get_args(Check))
    if not isinstance(mimic, bool):
        raise ArgumentTypeError(f"mimic must be True or False, not {type(mimic).__name__}")
    _check_root_joint(root_joint)
    data, name, stem, shipped = read_source(source)
    checked = CheckedUrdf(data, name, stem, mimic)
    model = _build(checked, root_joint)
    _check_inertias(checked, model)
    for reason, elements in checked.warnings.items():
        if check == "strict":
            raise UrdfError(name, elements[0], reason)
        if check == "warn" and not shipped:
            warnings.warn(f"{name}: {_list(elements)}: {reason}", errors.UrdfWarning, stacklevel=2)
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
    try:
        with path.open("rb") as file:
            return file.read(MAX_SIZE + 1), path.name, path.stem, False
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UrdfError(errors.shortened(str(source), 10_000), None, f"cannot be read: {reason}") from None


def _check_root_joint(joint: object) -> None:
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
        reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
        raise UrdfError(checked.source, None, f"Pinocchio refuses it: {reason}") from error
    for name in ("universe", "root_joint"):  # which Pinocchio gives itself, and does not look for in the URDF
        if list(model.names).count(name) > 1:
            raise UrdfError(checked.source, f"joint {quoted(name)}", "has a name that Pinocchio uses itself; rename it")
    for name, armature in checked.armature.items():
        joint = model.joints[model.getJointId(name)]
        model.armature[joint.idx_v : joint.idx_v + joint.nv] = armature
    return model


def _check_inertias(checked: CheckedUrdf, model: pin.Model) -> None:
    """Refuse a negative principal moment, unless what its link is fixed to makes up for it, and an idle joint."""
    for name, moment in checked.negative.items():
        link = f"link {quoted(name)}"
        joint = model.frames[model.getFrameId(name, pin.FrameType.BODY)].parentJoint
        if joint and least_moment(model.inertias[joint].inertia, model.inertias[joint].mass) < 0:
            reason = f"has the negative principal moment {moment:.6g} kg m²; check the values and signs of <inertia>"
            raise UrdfError(checked.source, link, reason)
        reason = "has a negative principal moment, but the rigid body it is part of has none"
        checked.warnings.setdefault(reason, []).append(link)
    try:
        idle = idle_joints(read_tree(model, dynamics=False)) if model.nv else ()
    except errors.ModelError as error:
        raise UrdfError(checked.source, None, str(error)) from error
    if idle:
        raise UrdfError(
            checked.source,
            f"joint {quoted(idle[0])}",
            "moves no inertia, so that the mass matrix is singular; give the links it moves a mass and inertia, "
            'the joint <dynamics armature="…"/>, or make it fixed; if the armature is to be identified, '
            "give a first guess, there or in model.armature of pin.buildModelFromUrdf(path)",
        )


def _list(elements: list[str]) -> str:
    kind = elements[0].partition(" ")[0]
    names = [element.partition(" ")[2] for element in elements]
    if len(names) == 1:
        return elements[0]
    return f"{len(names)} {kind}s ({', '.join(names[:8])}{', …' if len(names) > 8 else ''})"
