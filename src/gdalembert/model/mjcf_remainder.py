"""Parts of an MJCF file that a ``pin.Model`` cannot hold: those refused, and the line to write for the rest.

Whatever of a ``mujoco.MjModel`` enters MuJoCo's inverse dynamics is part of the ``pin.Model``, or is refused here, or
is an element of ours, which the line names: springs and friction of joints, loops (``connect``, ``weld``), and joints
that follow others (a linear equality).
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn, Protocol

import numpy as np
import pinocchio as pin

from gdalembert.errors import MjcfError, quoted
from gdalembert.spatial.arrays import Array


class BuiltRobot(Protocol):
    """The model that was built, and where MuJoCo's joints, bodies and sites are in it."""

    model: pin.Model
    joints: list[int]
    names: list[str]
    bodies: list[str]
    sites: dict[int, int]

    def kind(self, joint: int) -> str: ...
    def add_frame(self, name: str, body: int, at: pin.SE3) -> int: ...


def disabled(mujoco: ModuleType, mj: Any, name: str) -> bool:
    """True if a flag of ``<option><flag/></option>`` is off."""
    return bool(mj.opt.disableflags & getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))


def joint_transmissions(mujoco: ModuleType) -> tuple[int, ...]:
    """The numbers of the transmissions by which an actuator acts on one joint."""
    return int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT)


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
            "are part of no formulation; set both to 0, in the file or in the opt of a mujoco.MjModel",
        )
    weightless = None if disabled(mujoco, mj, "GRAVITY") or not mj.opt.gravity.any() else first(mj.body_gravcomp)
    if weightless is not None:
        factor = mj.body_gravcomp[weightless]
        refuse(
            f"body {quoted(mj.body(weightless).name or f'body{weightless}')}",
            f"gravcomp={factor:g} lifts it by a force, which is no part of a pin.Model; leave gravcomp out, and "
            "subtract what your actuators take over from tau",
        )
    if (body := first(mj.body_plugin + 1)) is not None:
        refuse(
            f"body {quoted(mj.body(body).name or f'body{body}')}", "has a plugin, whose forces are not known; remove it"
        )
    if not np.all(mj.flex_rigid):
        refuse("flex", "is deformable, and no formulation has its vertices; remove it")
    _check_joints(mujoco, mj, refuse, first, springs, dampers)
    of_tendons = {
        "armature": mj.tendon_armature,
        "frictionloss": mj.tendon_frictionloss,
        "stiffness": np.column_stack([mj.tendon_stiffness, mj.tendon_stiffnesspoly]) * springs,
        "damping": np.column_stack([mj.tendon_damping, mj.tendon_dampingpoly]) * dampers,
    }
    for quantity, values in of_tendons.items():
        if mj.ntendon and (tendon := first(values)) is not None:
            name = quoted(mj.tendon(tendon).name or f"tendon{tendon}")
            refuse(f"tendon {name}", f"has {quantity}, which is part of no formulation; remove it")


def _joint_name(mj: Any, joint: int) -> str:
    """A joint's name, or that of its body."""
    return (
        quoted(mj.joint(joint).name)
        if mj.joint(joint).name
        else f"of body {quoted(mj.body(mj.jnt_bodyid[joint]).name)}"
    )


def _check_joints(mujoco: ModuleType, mj: Any, refuse: Any, first: Any, springs: bool, dampers: bool) -> None:
    """Refuse springs, dampers and armatures that no joint of ours has."""
    free, ball = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL
    of_dof = mj.jnt_type[mj.dof_jntid] if mj.nv else np.zeros(0)
    turning = np.isin(mj.jnt_type, [free, ball])
    of_world = "along the axes of the world, which a pin.Model cannot say; remove it, or write <freejoint/>"
    of_joints = (
        ("has a plastic spring (springyield), which no formulation has; remove it", mj.jnt_springyield * springs),
        ("has a polynomial spring; give one stiffness", mj.jnt_stiffnesspoly * springs),
        (
            "is free or a ball and has a spring, for which q − rest has no meaning; remove it",
            mj.jnt_stiffness * turning * springs,
        ),
    )
    of_dofs = (
        ("has polynomial damping; give one number", mj.dof_dampingpoly * dampers),
        (f"is free and has armature {of_world}", mj.dof_armature * (of_dof == free)),
        (f"is free and has frictionloss {of_world}", mj.dof_frictionloss * (of_dof == free)),
    )
    for reason, values in of_joints:
        if mj.njnt and (joint := first(values)) is not None:
            refuse(f"joint {_joint_name(mj, joint)}", reason)
    for reason, values in of_dofs:
        if mj.nv and (dof := first(values)) is not None:
            refuse(f"joint {_joint_name(mj, int(mj.dof_jntid[dof]))}", reason)
    transmissions = joint_transmissions(mujoco)
    for a in range(mj.nactuator):
        at_joint = mj.actuator_trntype[a] in transmissions and not turning[mj.actuator_trnid[a, 0]]
        element = f"actuator {quoted(mj.actuator(a).name or f'actuator{a}')}"
        if dampers and mj.actuator_dampingpoly[a].any():
            refuse(element, "has polynomial damping; give one number")
        if not at_joint and (mj.actuator_armature[a] or mj.actuator_damping[a] * dampers):
            refuse(element, "has armature or damping and moves no hinge or slide; remove it")


class Remainder:
    """Parts of a file that a model lacks, as code.

    Attributes:
        springs: stiffness and rest by MuJoCo's number of the joint. ``lossy``: whether joints have damping or friction.
        loops: code of loops. ``couplings``: (c, o) of joints with q_1 = c q_2 + o, by 1 and 2.
    """

    def __init__(self, mujoco: ModuleType, mj: Any, source: str, robot: BuiltRobot) -> None:
        self.mujoco, self.mj, self.source, self.robot = mujoco, mj, source, robot
        model = robot.model
        stiff = () if disabled(mujoco, mj, "SPRING") else np.flatnonzero(mj.jnt_stiffness)
        self.springs = {int(j): (float(mj.jnt_stiffness[j]), float(mj.qpos_spring[mj.jnt_qposadr[j]])) for j in stiff}
        self.lossy = bool(np.any(model.damping) or np.any(model.upperDryFrictionLimit))
        self.loops: list[str] = []
        self.couplings: dict[int, dict[int, tuple[float, float]]] = {}
        if not (disabled(mujoco, mj, "EQUALITY") or disabled(mujoco, mj, "CONSTRAINT")):
            for k in np.flatnonzero(mj.eq_active0):
                self._add_equality(int(k))

    def line(self) -> str:
        """The line to write, with what it is for; empty if nothing is lacking."""
        parts, options, code = [], [], self._mimics()
        if code:
            parts.append("equalities of joints")
        if self.springs:
            parts.append("springs")
            options.append(f"springs={ {self.robot.names[j]: spring for j, spring in self.springs.items()} }")
        if self.lossy:
            parts.append("friction")
            options.append("friction='model'")
        if self.loops:
            parts.append("loops")
        if options or self.loops:
            code.append(f"dyn = gd.NewtonEuler({', '.join(['model', *options])})")
        if self.loops:
            rows = ", regularization=1e-6" if self._loops_are_redundant() else ""
            code.append(f"con = gd.ConstrainedDynamics(dyn, [{', '.join(self.loops)}]{rows})")
        if not parts:
            return ""
        listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)
        return f"a pin.Model does not apply the {listed} of the file; to have them, write {'; '.join(code)}"

    # Equalities.

    def _loops_are_redundant(self) -> bool:
        """True if rows of the loops depend on each other at ``qpos0``, as those of a planar mechanism do."""
        mujoco, mj = self.mujoco, self.mj
        # Dense: efc_J of a sparse one has a pattern of its own for each row.
        kind, mj.opt.jacobian = mj.opt.jacobian, mujoco.mjtJacobian.mjJAC_DENSE
        try:
            data = mujoco.MjData(mj)
            mujoco.mj_fwdPosition(mj, data)
        finally:
            mj.opt.jacobian = kind
        loops = [mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD]
        equalities = np.flatnonzero(data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        # Other rows, of limits and friction, have the numbers of joints in efc_id.
        is_loop = np.isin(mj.eq_type[data.efc_id[equalities]], loops)
        rows = np.reshape(data.efc_J, (-1, mj.nv))[equalities[is_loop]]
        return len(rows) > 0 and int(np.linalg.matrix_rank(rows, 1e-9)) < len(rows)

    def _add_equality(self, k: int) -> None:
        mj, kinds = self.mj, self.mujoco.mjtEq
        kind, name = int(mj.eq_type[k]), mj.equality(k).name or f"equality{k}"
        if kind == kinds.mjEQ_JOINT:
            self._couple(k, name)
        elif kind in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
            self._add_loop(k, name, "6D" if kind == kinds.mjEQ_WELD else "3D")
        else:
            equality = str(kinds(kind).name).removeprefix("mjEQ_").lower()
            raise MjcfError(
                self.source, f"equality {quoted(name)}", f"is a {equality}, which no constraint has; remove it"
            )

    def _add_loop(self, k: int, name: str, kind: str) -> None:
        """A loop of two sites, or of frames that are added to the two bodies."""
        mj, data = self.mj, self.mj.eq_data[k]
        ends = int(mj.eq_obj1id[k]), int(mj.eq_obj2id[k])
        if int(mj.eq_objtype[k]) == self.mujoco.mjtObj.mjOBJ_SITE:
            sites = [self._site_frame(site) for site in ends]
            frames = sites
        elif kind == "6D":
            places = placement(data[3:6], data[6:10]), pin.SE3(np.eye(3), np.array(data[:3]))
            frames = [self._end(name, body, place) for body, place in zip(ends, places, strict=True)]
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
        """Let one joint follow another one: q1 − ref1 = c0 + c1 (q2 − ref2)."""
        mj = self.mj
        element = f"equality {quoted(name)}"
        j1, j2, (c0, c1, *rest) = int(mj.eq_obj1id[k]), int(mj.eq_obj2id[k]), map(float, mj.eq_data[k, :5])
        if j2 < 0 or c1 == 0:
            hint = "make it fixed, by removing the joint from its body"
            raise MjcfError(self.source, element, f"holds joint {quoted(self.robot.names[j1])} where it is; {hint}")
        if any(rest):
            hint = "a joint of Pinocchio can follow another one linearly alone; give two numbers of polycoef"
            raise MjcfError(self.source, element, f"is a polynomial of degree above 1; {hint}")
        ref1, ref2 = (float(mj.qpos0[mj.jnt_qposadr[j]]) for j in (j1, j2))
        offset = ref1 + c0 - c1 * ref2
        if j2 in self._connected(j1):
            raise MjcfError(self.source, element, "closes a circle of joints that follow each other; remove it")
        self.couplings.setdefault(j1, {})[j2] = c1, offset
        self.couplings.setdefault(j2, {})[j1] = 1 / c1, -offset / c1

    def _connected(self, leader: int) -> dict[int, tuple[float, float]]:
        """Scaling and offset of the joints that move with one, itself the first."""
        relations, ahead = {leader: (1.0, 0.0)}, [leader]
        for other in ahead:
            for j, (c, o) in self.couplings.get(other, {}).items():
                if j not in relations:  # q_j = (q_other − o) / c
                    scaling, offset = relations[other]
                    relations[j] = scaling / c, (offset - o) / c
                    ahead.append(j)
        return relations

    def _mimics(self) -> list[str]:
        """Code that makes joints follow the first of those that they move with.

        Pinocchio forgets the armature, damping and friction of a joint that follows: the joint that it follows takes
        them, and its spring, over.
        """
        model, joints, before, code = self.robot.model, self.robot.joints, list[str](), list[str]()
        followers = set[int]()
        for leader in sorted(self.couplings):
            for j, (scaling, offset) in sorted(self._connected(leader).items()):
                if leader in followers or j == leader:
                    continue
                followers.add(j)
                of_leader, of_follower = (model.joints[joints[k]].idx_v for k in (leader, j))
                for name, factor in _CONSTANTS.items():
                    if value := factor(scaling) * float(getattr(model, name)[of_follower]):
                        before.append(f"model.{name}[{of_leader}] += {value!r}")
                if j in self.springs:
                    self._take_over_spring(leader, j, scaling, offset)
                numbers = f"{joints[leader]}, {joints[j]}, {scaling!r}, {offset!r}"
                code.append(f"model = pin.transformJointIntoMimic(model, {numbers})")
        return before + code

    def _take_over_spring(self, leader: int, follower: int, scaling: float, offset: float) -> None:
        """Add the energy ½ k (s q + o − rest)² to the spring of the joint that is followed."""
        stiffness, rest = self.springs.pop(follower)
        k, x = self.springs.get(leader, (0.0, 0.0))
        added = stiffness * scaling**2
        self.springs[leader] = k + added, (k * x + stiffness * scaling * (rest - offset)) / (k + added)


_CONSTANTS: dict[str, Callable[[float], float]] = {
    "armature": lambda scaling: scaling**2,
    "damping": lambda scaling: scaling**2,
    "upperDryFrictionLimit": abs,
    "lowerDryFrictionLimit": abs,
}
"""Constants of joints, and by how much more a joint has of them that another one follows."""
