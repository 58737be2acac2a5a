"""Reading of an MJCF file as a ``pin.Model``, by MuJoCo's own compiler.

Defaults, classes, frames, includes, ``inertiafromgeom``, ``settotalmass``, ``eulerseq`` and so on are MuJoCo's to
read: the model is built from the arrays of what it compiles, ``mujoco.MjModel``. What these say beside a ``pin.Model``
is in :mod:`~gdalembert.model.mjcf_remainder`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, get_args
from xml.parsers import expat

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError, MjcfError, MjcfWarning, quoted, shortened
from gdalembert.model.load_urdf import MAX_SIZE, Check, check_root_joint, load_urdf, read_file, robots
from gdalembert.model.mjcf_remainder import Remainder, check_dynamics, disabled, joint_transmissions, placement
from gdalembert.spatial.arguments import choice, required, warn
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import interruptible

_UNNAMED = "MuJoCo Model"
"""The name that MuJoCo gives a model without one."""


@interruptible
def load_mjcf(source: Any, *, root_joint: pin.JointModel | None = None, check: Check = "warn") -> pin.Model:
    """Read a robot from an MJCF file, as MuJoCo compiles it.

    Lengths are in m, angles in rad, masses in kg. Bodies, sites and keyframes keep their names, as frames and as
    ``model.referenceConfigurations``, which has MuJoCo's ``qpos0`` besides; a joint without a name gets that of its
    body and its type, as ``"thigh_hinge"``. Gravity, armature (of actuators, too), damping, frictionloss, the ranges of
    joints, and the forces that actuators of joints can exert are those of the model; ``rnea`` leaves out damping and
    friction. Contacts, sensors, the laws of actuators and the ranges of ball joints are left out.

    q is MuJoCo's qpos, with quaternions as (x, y, z, w) in place of (w, x, y, z). v, a and tau are MuJoCo's, except
    those of a free joint, of which MuJoCo takes the first three in the axes of the world, and Pinocchio in those of the
    body: with the body's rotation R, v = Rᵀ qvel, a = Rᵀ qacc − ω × v, and tau = Rᵀ qfrc.

    Args:
        source: a path, the text of an MJCF file (a string that contains ``<``), or a ``mujoco.MjModel``.
        root_joint: how the one root body that has no joint moves, from where it stands, for example
            ``pin.JointModelFreeFlyer()``; ``None`` leaves it in the world.
        check: what to do about elements that are no part of a ``pin.Model``, but arguments of a formulation or
            constraints (springs, damping and friction, connect, weld, a linear equality of joints): ``"warn"`` gives
            one ``MjcfWarning`` with the line to write, ``"strict"`` refuses, ``"off"`` is silent. So of what MuJoCo
            warns of.

    Returns:
        A plain ``pin.Model``, its joints in MuJoCo's order; several joints of a body are joints in a row.

    Raises:
        MjcfError: whatever ``check`` says, if MuJoCo refuses the file, or it has what acts on the robot and is neither
            part of a ``pin.Model`` nor an element of ours: gravcomp, fluids, springs, damping, armature and friction of
            tendons, springs of ball and free joints, polynomial or plastic springs and damping, armature and friction
            of a free joint, flexes, plugins, other equalities.
        MissingPackageError: if MuJoCo is not installed.
        ArgumentTypeError, ArgumentError: for arguments of the wrong type or value.
    """
    choice("load_mjcf: check", check, get_args(Check))
    check_root_joint(root_joint)
    mujoco = required("load_mjcf", "mujoco", "mjcf")
    with _warnings(mujoco) as said:
        mj, name = _compiled(mujoco, source)
    check_dynamics(mujoco, mj, name)
    robot = MjcfRobot(mujoco, mj, name, root_joint)
    line = Remainder(mujoco, mj, name, robot).line()
    for remark in [*(f"MuJoCo warns: {text}" for text in dict.fromkeys(said)), *([line] if line else [])]:
        if check == "strict":
            raise MjcfError(name, None, remark)
        if check == "warn":
            warn(f"{name}: {remark}", MjcfWarning)
    return robot.model


def is_mjcf(source: object) -> bool:
    """True if a text, or the file at a path, has the root element ``<mujoco>``."""
    if isinstance(source, str) and "<" in source:
        return _root_element(source) == "mujoco"
    if not isinstance(source, str | os.PathLike) or source in robots() or not os.path.isfile(source):
        return False
    try:
        return _root_element(Path(os.fsdecode(source)).read_bytes()) == "mujoco"
    except (OSError, ValueError):
        return False


def load_robot(source: str | os.PathLike[str], **options: Any) -> pin.Model:
    """A robot by its name, path or text, of a URDF or an MJCF file; ``options`` are those of its loader."""
    return load_mjcf(source, **options) if is_mjcf(source) else load_urdf(source, **options)


def _root_element(data: str | bytes) -> str | None:
    """The tag of the root element, ``None`` if there is none."""
    tags: list[str] = []

    def first(tag: str, _: object) -> None:
        tags.append(tag)
        raise StopIteration

    parser = expat.ParserCreate()
    parser.StartElementHandler = first
    with contextlib.suppress(StopIteration, expat.ExpatError, ValueError, LookupError):
        parser.Parse(data.lstrip(), True)
    return tags[0] if tags else None


@contextlib.contextmanager
def _warnings(mujoco: ModuleType) -> Iterator[list[str]]:
    """Warnings of MuJoCo, which it would otherwise write to a file in the current folder."""
    before, said = mujoco.get_mju_user_warning(), list[str]()
    mujoco.set_mju_user_warning(lambda text: said.append(" ".join(text.split())))
    try:
        yield said
    finally:
        mujoco.set_mju_user_warning(before)


def _compiled(mujoco: ModuleType, source: Any) -> tuple[Any, str]:
    """The model that MuJoCo compiles of a file, and its name in errors."""
    if isinstance(source, mujoco.MjModel):
        return source, _name_of(source, "robot")
    if isinstance(source, pin.Model):
        raise ArgumentTypeError("expected an MJCF file, got a pin.Model; it needs no loading, pass it on as it is")
    if not isinstance(source, str | os.PathLike):
        raise ArgumentTypeError(
            f"expected a path, the text of an MJCF file or a mujoco.MjModel, got {type(source).__name__}"
        )
    if source == "":
        raise ArgumentError("load_mjcf: the path is empty; give a file, or the text of one")
    if isinstance(source, str) and "<" in source:
        name, data, read = "<text>", source.lstrip(), mujoco.MjModel.from_xml_string
    else:
        path = Path(os.fsdecode(source))
        name, read = path.name, mujoco.MjModel.from_xml_path
        data = str(path)
    _check_root(name, data if name == "<text>" else read_file(source, MjcfError))
    try:
        return read(data), name
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise MjcfError(name, None, f"MuJoCo refuses it: {reason}") from error


def _check_root(name: str, data: str | bytes) -> None:
    if len(data) > MAX_SIZE:
        raise MjcfError(name, None, f"is larger than {MAX_SIZE / 1e6:g} MB; give the MJCF of one robot")
    root = _root_element(data)
    if root == "robot":
        raise MjcfError(name, None, "this is a URDF; read it by gd.load_urdf")
    if root not in (None, "mujoco"):  # MuJoCo says best what is not well-formed
        raise MjcfError(name, None, f"its root element is <{shortened(str(root))}>, not <mujoco>; this is not MJCF")


def _name_of(mj: Any, otherwise: str) -> str:
    name = bytes(mj.names).split(b"\0", 1)[0].decode("utf-8", errors="replace")
    return otherwise if name in ("", _UNNAMED) else name


class Place(NamedTuple):
    """The place of a body: the joint that moves it, its placement in that joint's frame, the index of its own frame."""

    joint: int
    placement: pin.SE3
    frame: int


class MjcfRobot:
    """A ``pin.Model`` that is built body by body, in MuJoCo's order, which is depth first.

    Attributes:
        model: what is built. ``places``: of bodies, and ``sites``: indices of the frames of named sites, by MuJoCo's
            numbers of them.
        joints: Pinocchio's index of each of MuJoCo's joints.
    """

    def __init__(self, mujoco: ModuleType, mj: Any, source: str, root_joint: pin.JointModel | None) -> None:
        self.mujoco, self.mj, self.source, self.root_joint = mujoco, mj, source, root_joint
        self.model = pin.Model()
        self.model.name = _name_of(mj, "robot" if source == "<text>" else Path(source).stem)
        self.model.gravity.linear = np.zeros(3) if disabled(mujoco, mj, "GRAVITY") else np.array(mj.opt.gravity)
        self.places = [Place(0, pin.SE3.Identity(), 0)]
        self.joints: list[int] = []
        self.sites: dict[int, int] = {}
        bodies, joints = range(mj.nbody), range(mj.njnt)
        self.bodies = unique_names([mj.body(b).name for b in bodies], [f"body{b}" for b in bodies])
        of_bodies = [f"{self.bodies[mj.jnt_bodyid[j]]}_{self.kind(j)}" for j in joints]
        self.names = unique_names([mj.joint(j).name for j in joints], of_bodies)
        mounted = None if root_joint is None else self._mounted_body()
        for body in range(1, mj.nbody):
            self._add_body(body, body == mounted)
        for site in range(mj.nsite):
            if name := mj.site(site).name:
                at = placement(mj.site_pos[site], mj.site_quat[site])
                self.sites[site] = self.add_frame(name, int(mj.site_bodyid[site]), at)
        self._set_dynamics()
        self._set_efforts()
        self._set_configurations()

    def refuse(self, element: str, reason: str) -> MjcfError:
        """The error about an element."""
        return MjcfError(self.source, element, reason)

    def kind(self, joint: int) -> str:
        """The kind of a joint: ``"free"``, ``"ball"``, ``"slide"`` or ``"hinge"``."""
        return str(self.mujoco.mjtJoint(int(self.mj.jnt_type[joint])).name).removeprefix("mjJNT_").lower()

    def _mounted_body(self) -> int:
        """The root body that ``root_joint`` moves: the only one without a joint, or the only one of them with some."""
        mj = self.mj
        roots = [b for b in range(1, mj.nbody) if mj.body_parentid[b] == 0]
        fixed = [b for b in roots if not mj.body_jntnum[b] and mj.body_mocapid[b] < 0]
        carrying = {int(mj.body_rootid[mj.jnt_bodyid[j]]) for j in range(mj.njnt)}
        candidates = fixed if len(fixed) == 1 else [b for b in fixed if b in carrying]
        if len(candidates) != 1:
            bodies = ", ".join(repr(self.bodies[b]) for b in candidates[:4])
            which = f"{len(candidates)} ({bodies})" if candidates else "none"
            raise ArgumentError(
                f"load_mjcf: root_joint: it moves the root body that has no joint, and {self.source} has {which}; "
                "leave root_joint out, and write <freejoint/> into the body that shall move"
            )
        return candidates[0]

    def _add_body(self, body: int, mounted: bool) -> None:
        mj, model = self.mj, self.model
        joint, at, frame = self.places[mj.body_parentid[body]]
        at = at * placement(mj.body_pos[body], mj.body_quat[body])
        first, number = int(mj.body_jntadr[body]), int(mj.body_jntnum[body])
        inertial = placement(mj.body_ipos[body], mj.body_iquat[body])
        # By principal moments and axes: a compiled model does not keep the tensor as it was written.
        moments = pin.Inertia(float(mj.body_mass[body]), np.zeros(3), np.diag(mj.body_inertia[body]))
        if mounted:
            joint = self._add_joint("root_joint", self.root_joint, joint, at)
            frame, at = model.addJointFrame(joint, frame), pin.SE3.Identity()
        for j in range(first, first + number):
            joint_model, anchor, turned = self._joint_model(j)
            here = pin.SE3.Identity() if self.kind(j) == "free" else at * anchor * turned
            joint = self._add_joint(self.names[j], joint_model, joint, here)
            self.joints.append(joint)
            frame = model.addJointFrame(joint, frame)
            at = anchor.inverse()
        inertia = inertial.act(moments)
        if number or mounted:
            model.appendBodyToJoint(joint, inertia, at)
        else:
            fixed = pin.Frame(f"{self.bodies[body]}_fixed", joint, frame, at, pin.FrameType.FIXED_JOINT, inertia)
            frame = model.addFrame(fixed)
        frame = model.addBodyFrame(self.bodies[body], joint, at, frame)
        self.places.append(Place(joint, at, frame))

    def _add_joint(self, name: str, joint: Any, parent: int, at: pin.SE3) -> int:
        if name in self.model.names:
            raise self.refuse(f"joint {quoted(name)}", "has a name that Pinocchio uses itself; rename it")
        return int(self.model.addJoint(parent, joint, at, name))

    def _joint_model(self, j: int) -> tuple[Any, pin.SE3, pin.SE3]:
        """A joint, its anchor in the body, and the motion that takes q from ``ref`` to 0."""
        mj, kind, still = self.mj, self.kind(j), pin.SE3.Identity()
        anchor = pin.SE3(np.eye(3), np.array(mj.jnt_pos[j]))
        axis, ref = np.array(mj.jnt_axis[j]), float(mj.qpos0[mj.jnt_qposadr[j]])
        if kind == "free":
            return pin.JointModelFreeFlyer(), still, still
        if kind == "ball":
            return pin.JointModelSpherical(), anchor, still
        along = next(("XYZ"[k] for k in range(3) if np.array_equal(axis, np.eye(3)[k])), None)
        if kind == "slide":
            joint = getattr(pin, f"JointModelP{along}")() if along else pin.JointModelPrismaticUnaligned(axis)
            return joint, anchor, pin.SE3(np.eye(3), -ref * axis)
        joint = getattr(pin, f"JointModelR{along}")() if along else pin.JointModelRevoluteUnaligned(axis)
        return joint, anchor, pin.SE3(pin.exp3(-ref * axis), np.zeros(3))

    def add_frame(self, name: str, body: int, at: pin.SE3) -> int:
        """The index of a new frame on a body."""
        joint, placed, frame = self.places[body]
        return int(self.model.addFrame(pin.Frame(name, joint, frame, placed * at, pin.FrameType.OP_FRAME)))

    # Numbers of the joints.

    def columns(self, j: int) -> tuple[slice, slice]:
        """The entries of v of one of MuJoCo's joints, here and in MuJoCo."""
        joint, first = self.model.joints[self.joints[j]], int(self.mj.jnt_dofadr[j])
        return slice(joint.idx_v, joint.idx_v + joint.nv), slice(first, first + joint.nv)

    def _set_dynamics(self) -> None:
        mj, model = self.mj, self.model
        armature, damping, friction = (np.zeros(model.nv) for _ in range(3))
        lower, upper = model.lowerPositionLimit, model.upperPositionLimit
        limited = mj.jnt_limited.astype(bool) & (not disabled(self.mujoco, mj, "LIMIT"))
        for j in range(mj.njnt):
            ours, theirs = self.columns(j)
            armature[ours] = mj.dof_armature[theirs]
            damping[ours] = mj.dof_damping[theirs]
            friction[ours] = mj.dof_frictionloss[theirs]
            if self.kind(j) in ("hinge", "slide") and limited[j]:
                at = model.joints[self.joints[j]].idx_q
                lower[at], upper[at] = mj.jnt_range[j]
        for a, j, gear in self.driven():
            ours, _ = self.columns(j)
            armature[ours] += gear**2 * mj.actuator_armature[a]
            damping[ours] += gear**2 * mj.actuator_damping[a]
        model.lowerPositionLimit, model.upperPositionLimit = lower, upper
        model.armature = armature
        model.damping = np.zeros(model.nv) if disabled(self.mujoco, mj, "DAMPER") else damping
        model.upperDryFrictionLimit = np.zeros(model.nv) if disabled(self.mujoco, mj, "FRICTIONLOSS") else friction
        model.lowerDryFrictionLimit = -model.upperDryFrictionLimit

    def driven(self) -> list[tuple[int, int, float]]:
        """Actuators of one force that act on a hinge or a slide, the joint, and the ratio of their gears."""
        mj, of_joints = self.mj, joint_transmissions(self.mujoco)
        actuators = (a for a in range(mj.nactuator) if mj.actuator_trntype[a] in of_joints)
        pairs = ((a, int(mj.actuator_trnid[a, 0])) for a in actuators if mj.actuator_outnum[a] == 1)
        return [(a, j, float(mj.actuator_gear[a, 0])) for a, j in pairs if self.kind(j) in ("hinge", "slide")]

    def _set_efforts(self) -> None:
        """Bounds of the sum of the actuators' forces, where each has bounds."""
        mj, model = self.mj, self.model
        ranges: dict[int, Array] = {}
        for a, j, gear in self.driven():
            if gear != 0:
                ranges[j] = ranges.get(j, np.zeros(2)) + np.sort(gear * self._force_range(a))
        lower, upper = model.lowerEffortLimit, model.upperEffortLimit
        for j in range(mj.njnt):
            least, most = ranges.get(j, np.array([-np.inf, np.inf]))
            if mj.jnt_actfrclimited[j]:
                least, most = np.clip([least, most], *mj.jnt_actfrcrange[j])
            at, _ = self.columns(j)
            lower[at], upper[at] = np.maximum(lower[at], least), np.minimum(upper[at], most)
        model.lowerEffortLimit, model.upperEffortLimit = lower, upper

    def _force_range(self, a: int) -> Array:
        """The forces that an actuator can exert before its gear [N m, N]."""
        mj, mujoco = self.mj, self.mujoco
        force_range = np.array([-np.inf, np.inf])
        proportional = (
            mj.actuator_dyntype[a] == mujoco.mjtDyn.mjDYN_NONE
            and mj.actuator_gaintype[a] == mujoco.mjtGain.mjGAIN_FIXED
            and mj.actuator_biastype[a] == mujoco.mjtBias.mjBIAS_NONE
        )
        control = int(mj.actuator_ctrladr[a])
        if proportional and mj.actuator_ctrllimited[control]:
            force_range = np.sort(mj.actuator_gainprm[a, 0] * mj.actuator_ctrlrange[control])
        return np.clip(force_range, *mj.actuator_forcerange[a]) if mj.actuator_forcelimited[a] else force_range

    def _set_configurations(self) -> None:
        mj, configurations = self.mj, self.model.referenceConfigurations
        configurations["qpos0"] = self.configuration(mj.qpos0)
        for k in range(mj.nkey):
            if name := mj.key(k).name:
                configurations[name] = self.configuration(mj.key_qpos[k])

    def configuration(self, qpos: Array) -> Array:
        """The configuration q of MuJoCo's qpos; of ``root_joint`` the neutral one."""
        q: Array = pin.neutral(self.model)
        for j, index in enumerate(self.joints):
            joint, first = self.model.joints[index], int(self.mj.jnt_qposadr[j])
            x = np.array(qpos[first : first + joint.nq])
            if joint.nq >= 4:  # ends with a quaternion
                x[-4:] = np.roll(x[-4:], -1)
            q[joint.idx_q : joint.idx_q + joint.nq] = x
        return q


def unique_names(wanted: Sequence[str], otherwise: Sequence[str]) -> list[str]:
    """The wanted names, and others in place of empty ones, with a number where they are taken."""
    taken, names = set(wanted), list[str]()
    for name, other in zip(wanted, otherwise, strict=True):
        number, unique = 1, name or other
        while not name and unique in taken:
            number += 1
            unique = f"{other}_{number}"
        taken.add(unique)
        names.append(unique)
    return names
