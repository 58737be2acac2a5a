"""What an MJCF file says beside a ``pin.Model``: what is refused, and the line to write for the rest.

Of a ``mujoco.MjModel`` whatever enters MuJoCo's inverse dynamics is part of the ``pin.Model``, or is refused here, or is
an element of ours, which the line names: springs and friction of joints, loops (``connect``, ``weld``), and joints that
follow others (a linear equality).
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, NoReturn, Protocol

import numpy as np
import pinocchio as pin

from gdalembert.errors import MjcfError, quoted
from gdalembert.spatial.arrays import Array


class Robot(Protocol):
    """The model that was built, and where MuJoCo's joints, bodies and sites are in it."""

    model: pin.Model
    joints: list[int]
    names: list[str]
    bodies: list[str]
    sites: dict[int, int]

    def kind(self, joint: int) -> str: ...
    def body_frame(self, body: int) -> int: ...
    def add_frame(self, name: str, body: int, at: pin.SE3) -> int: ...


def disabled(mujoco: ModuleType, mj: Any, name: str) -> bool:
    """Whether a flag of ``<option><flag/></option>`` is off."""
    return bool(mj.opt.disableflags & getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))


def placement(position: Array, quaternion: Array) -> pin.SE3:
    """A placement of MuJoCo's numbers: (3) [m] and a quaternion (w, x, y, z)."""
    return pin.SE3(pin.Quaternion(*map(float, quaternion)).normalized().matrix(), np.array(position))


def check_dynamics(mujoco: ModuleType, mj: Any, source: str) -> None:
    """Refuse what acts on the robot and has no place in a ``pin.Model``, in a formulation or in constraints."""

    def refuse(element: str | None, reason: str) -> NoReturn:
        raise MjcfError(source, element, reason)

    def first(values: Array) -> int | None:
        """The first row that is not 0."""
        rows = np.flatnonzero(np.asarray(values).reshape(len(values), -1).any(axis=1))
        return int(rows[0]) if rows.size else None

    springs, dampers = (not disabled(mujoco, mj, flag) for flag in ("SPRING", "DAMPER"))
    if mj.opt.density or mj.opt.viscosity:
        refuse(
            "option",
            f"density {mj.opt.density:g} and viscosity {mj.opt.viscosity:g} are those of a fluid, whose forces "
            "are part of no formulation; set both to 0",
        )
    weightless = None if disabled(mujoco, mj, "GRAVITY") or not mj.opt.gravity.any() else first(mj.body_gravcomp)
    if weightless is not None:
        factor = mj.body_gravcomp[weightless]
        refuse(
            f"body {quoted(mj.body(weightless).name)}",
            f"gravcomp={factor:g} lifts it by a force, which is no part of a pin.Model; leave gravcomp out, and "
            "subtract what your actuators take over from tau",
        )
    if (body := first(mj.body_plugin + 1)) is not None:
        refuse(f"body {quoted(mj.body(body).name)}", "has a plugin, whose forces are not known; remove it")
    if not np.all(mj.flex_rigid):
        refuse("flex", "is deformable, and no formulation has its vertices; remove it")
    _check_joints(mujoco, mj, refuse, first, springs, dampers)
    of_tendons = {
        "armature": mj.tendon_armature,
        "frictionloss": mj.tendon_frictionloss,
        "stiffness": np.column_stack([mj.tendon_stiffness, mj.tendon_stiffnesspoly]) * springs,
        "damping": np.column_stack([mj.tendon_damping, mj.tendon_dampingpoly]) * dampers,
    }
    for what, values in of_tendons.items():
        if mj.ntendon and (tendon := first(values)) is not None:
            name = quoted(mj.tendon(tendon).name)
            refuse(f"tendon {name}", f"has {what}, which is part of no formulation; remove it")


def _check_joints(mujoco: ModuleType, mj: Any, refuse: Any, first: Any, springs: bool, dampers: bool) -> None:
    """Refuse springs, dampers and armatures that no joint of ours has."""
    free, ball = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL
    of_dof = mj.jnt_type[mj.dof_jntid] if mj.nv else np.zeros(0)
    shaft = np.isin(mj.jnt_type, [free, ball])
    of_joints = (
        ("has a plastic spring (springyield)", mj.jnt_springyield * springs),
        ("has a polynomial spring; give one stiffness", mj.jnt_stiffnesspoly * springs),
        ("is free or a ball and has a spring, for which q − rest has no meaning", mj.jnt_stiffness * shaft * springs),
    )
    of_dofs = (
        ("has polynomial damping; give one number", mj.dof_dampingpoly * dampers),
        ("is free and has armature, in the axes of the world", mj.dof_armature * (of_dof == free)),
        ("is free and has frictionloss, along the axes of the world", mj.dof_frictionloss * (of_dof == free)),
    )
    for reason, values in of_joints:
        if mj.njnt and (joint := first(values)) is not None:
            refuse(f"joint {quoted(mj.joint(joint).name)}", f"{reason}, which a pin.Model cannot say; remove it")
    for reason, values in of_dofs:
        if mj.nv and (dof := first(values)) is not None:
            name = quoted(mj.joint(int(mj.dof_jntid[dof])).name)
            refuse(f"joint {name}", f"{reason}, which a pin.Model cannot say; remove it, or write <freejoint/>")
    transmissions = mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT
    for a in range(mj.nactuator):
        at_joint = mj.actuator_trntype[a] in transmissions and not shaft[mj.actuator_trnid[a, 0]]
        element = f"actuator {quoted(mj.actuator(a).name)}"
        if dampers and mj.actuator_dampingpoly[a].any():
            refuse(element, "has polynomial damping; give one number")
        if not at_joint and (mj.actuator_armature[a] or mj.actuator_damping[a] * dampers):
            refuse(element, "has armature or damping and moves no hinge or slide, which a pin.Model cannot say; remove it")


class Remainder:
    """What a model lacks of a file, as code.

    Attributes:
        springs: stiffness and rest by joint. ``lossy``: whether joints have damping or friction.
        loops: code of loops. ``mimics``: code that makes joints follow others.
    """

    def __init__(self, mujoco: ModuleType, mj: Any, source: str, robot: Robot) -> None:
        self.mujoco, self.mj, self.source, self.robot = mujoco, mj, source, robot
        model = robot.model
        stiff = () if disabled(mujoco, mj, "SPRING") else np.flatnonzero(mj.jnt_stiffness)
        self.springs = {
            robot.names[j]: (float(mj.jnt_stiffness[j]), float(mj.qpos_spring[mj.jnt_qposadr[j]])) for j in stiff
        }
        self.lossy = bool(np.any(model.damping) or np.any(model.upperDryFrictionLimit))
        self.loops: list[str] = []
        self.couplings: dict[int, tuple[int, float, float]] = {}
        if not (disabled(mujoco, mj, "EQUALITY") or disabled(mujoco, mj, "CONSTRAINT")):
            for k in np.flatnonzero(mj.eq_active0):
                self._add_equality(int(k))

    def line(self) -> str:
        """What to write, with what it is for; empty if nothing is lacking."""
        parts, code = [], list(self._mimics())
        if code:
            parts.append("equalities of joints")
        options = []
        if self.springs:
            parts.append("springs")
            options.append(f"springs={self.springs!r}")
        if self.lossy:
            parts.append("damping and friction")
            options.append("friction='model'")
        if self.loops:
            parts.append("loops")
        if not parts:
            return ""
        if options or self.loops:
            code.append(f"dyn = gd.NewtonEuler({', '.join(['model', *options])})")
        if self.loops:
            code.append(f"con = gd.ConstrainedDynamics(dyn, [{', '.join(self.loops)}])")
        listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)
        return f"tau of the pin.Model is without {listed}; to have them, write {'; '.join(code)}"

    # Equalities.

    def _add_equality(self, k: int) -> None:
        mj, kinds = self.mj, self.mujoco.mjtEq
        kind, name = int(mj.eq_type[k]), mj.equality(k).name or f"equality{k}"
        if kind == kinds.mjEQ_JOINT:
            self._couple(k, name)
        elif kind in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
            self._add_loop(k, name, "6D" if kind == kinds.mjEQ_WELD else "3D")
        else:
            what = str(kinds(kind).name).removeprefix("mjEQ_").lower()
            raise MjcfError(self.source, f"equality {quoted(name)}", f"is a {what}, which no constraint has; remove it")

    def _add_loop(self, k: int, name: str, kind: str) -> None:
        """A loop of two sites, or of frames that are added to the two bodies."""
        mj, data = self.mj, self.mj.eq_data[k]
        ends = int(mj.eq_obj1id[k]), int(mj.eq_obj2id[k])
        if int(mj.eq_objtype[k]) == self.mujoco.mjtObj.mjOBJ_SITE:
            sites = [self._site_frame(site) for site in ends]
            frames = sites
        elif kind == "6D":
            frames = [self._end(name, ends[0], placement(data[3:6], data[6:10])), self.robot.body_frame(ends[1])]
        else:
            points = (pin.SE3(np.eye(3), np.array(point)) for point in (data[:3], data[3:6]))
            frames = [self._end(name, body, point) for body, point in zip(ends, points, strict=True)]
        joints = {self.robot.model.frames[frame].parentJoint for frame in frames}
        if len(joints) == 2:
            first, second = map(self._named, frames)
            self.loops.append(f"gd.Loop({first!r}, {second!r}, {kind!r})")

    def _site_frame(self, site: int) -> int:
        if site in self.robot.sites:
            return self.robot.sites[site]
        at = placement(self.mj.site_pos[site], self.mj.site_quat[site])
        return self._end(f"site{site}", int(self.mj.site_bodyid[site]), at)

    def _end(self, name: str, body: int, at: pin.SE3) -> int:
        """A frame with a name of its own, as ``"pin/rocker"``."""
        known = {frame.name for frame in self.robot.model.frames}
        unique = f"{name}/{self.robot.bodies[body]}"
        while unique in known:
            unique += "_"
        return self.robot.add_frame(unique, body, at)

    def _named(self, frame: int) -> str | int:
        """The name of a frame, or its index where another one has the same name."""
        name = self.robot.model.frames[frame].name
        return frame if [f.name for f in self.robot.model.frames].count(name) > 1 else str(name)

    def _couple(self, k: int, name: str) -> None:
        """q1 − ref1 = c0 + c1 (q2 − ref2), of which the later joint follows the other one."""
        mj = self.mj
        element = f"equality {quoted(name)}"
        j1, j2, (c0, c1, *rest) = int(mj.eq_obj1id[k]), int(mj.eq_obj2id[k]), map(float, mj.eq_data[k, :5])
        joints = [j for j in (j1, j2) if j >= 0]
        if any(self.robot.kind(j) not in ("hinge", "slide") for j in joints):
            raise MjcfError(self.source, element, "is one of ball or free joints, which cannot follow others; remove it")
        if j2 < 0 or c1 == 0:
            hint = "make it fixed, by removing the joint from its body"
            raise MjcfError(self.source, element, f"holds joint {quoted(self.robot.names[j1])} where it is; {hint}")
        if any(rest):
            hint = "a joint of Pinocchio can follow another one linearly alone; give two numbers of polycoef"
            raise MjcfError(self.source, element, f"is a polynomial of degree above 1; {hint}")
        ref1, ref2 = (float(mj.qpos0[mj.jnt_qposadr[j]]) for j in (j1, j2))
        scaling, offset = c1, ref1 + c0 - c1 * ref2
        follower, leader = (j1, j2) if j1 > j2 else (j2, j1)
        if follower == j2:
            scaling, offset = 1 / c1, -offset / c1
        if follower in self.couplings:
            joint = quoted(self.robot.names[follower])
            raise MjcfError(self.source, element, f"joint {joint} follows two joints; keep one of the equalities")
        self.couplings[follower] = (leader, scaling, offset)

    def _mimics(self) -> Iterator[str]:
        """Code, with the joints that others follow through others in a row."""
        for follower in sorted(self.couplings):
            leader, scaling, offset = self.couplings[follower]
            while leader in self.couplings:
                leader, inner, shift = self.couplings[leader]
                scaling, offset = scaling * inner, scaling * shift + offset
            numbers = f"{self.robot.joints[leader]}, {self.robot.joints[follower]}, {scaling!r}, {offset!r}"
            yield f"model = pin.transformJointIntoMimic(model, {numbers})"
