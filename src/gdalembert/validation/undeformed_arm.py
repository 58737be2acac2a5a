"""The undeformed arm: the rigid robot whose flexible links are replaced by rigid beams, for ``pin.rnea``."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.parameters.bodies import inertia_of
from gdalembert.errors import ArgumentError
from gdalembert.flexible.assembly import Assembly
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.flexible.link_model import LinkModel, Station
from gdalembert.model.inertia import dynamic_parameters
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array
from gdalembert.validation.arm_with_parameters import assembly_at
from gdalembert.validation.states import States
from gdalembert.validation.wording import listed


class UndeformedArm:
    """The arm with modes and their rates at zero, and with rotors that turn with their joints.

    Attributes:
        model: the given one, with rigid beams in place of its flexible links, rotors added to its armature, and p.

    Raises:
        ArgumentError: if the arm was made from another model.
    """

    def __init__(self, arm: Arm, model: pin.Model, tree: Tree, p: Array | None = None) -> None:
        _check_joints(arm, tree)
        self._assembly, self._nq, self._nv = arm.assembly, arm.tree.nq, arm.tree.nv
        at_p = arm.assembly if p is None else assembly_at(arm, ca.DM(p))
        self.model = _with_rigid_links(arm.assembly, at_p, model)

    @property
    def velocity_map(self) -> Array:
        """G (nv × nv of the model): v of the arm is G times v of the model; torques are Gᵀ times the arm's."""
        g = np.eye(self._nv, self.model.nv)
        for link in self._assembly.links:
            if link.name in self._assembly.rotors:
                g[rotor_index(self._assembly, link), link.idx_v] = 1.0
        return g

    def states(self, states: States) -> tuple[States, States]:
        """The model's part of the arm's states, and the arm's states that belong to it."""
        model, g = self.model, self.velocity_map
        own = States(states.q[:, : model.nq], states.v[:, : model.nv], states.a[:, : model.nv])
        q = np.zeros_like(states.q)
        q[:, : model.nq] = own.q
        for link in self._assembly.links:
            if link.name in self._assembly.rotors:
                q[:, rotor_index(self._assembly, link) + self._nq - self._nv] = own.q[:, link.idx_q]
        return own, States(q, own.v @ g.T, own.a @ g.T)


def rotor_index(assembly: Assembly, link: LinkModel) -> int:
    """The index in v of the rotor of a flexible joint."""
    return assembly.nv - len(assembly.rotors) + assembly.rotors.index(link.name)


def _with_rigid_links(assembly: Assembly, at_p: Assembly, model: pin.Model) -> pin.Model:
    """The model with the bodies, the armature and the gravity that p changes, beside rigid beams and rotors."""
    rigid = model.copy()
    change = at_p.armature - assembly.armature
    armature = np.array(model.armature)
    for link, changed in zip(assembly.links, at_p.links, strict=True):
        if link.inertia.modes or changed is not link:
            rigid.inertias[model.getJointId(link.name)] = _rigid_body(changed)
        own = link.idx_v
        if link.name in assembly.rotors:
            rotor = rotor_index(assembly, link)
            # a rotor without an inertia of its own has the joint's armature, which the model already includes
            given = 0.0 if armature[own] > 0 and assembly.armature[own] == 0 else assembly.armature[rotor]
            armature[own] += given + change[rotor]
    rigid.armature = armature + change[: model.nv]
    rigid.gravity.linear = np.array(model.gravity.linear) + at_p.gravity - assembly.gravity
    return rigid


def _rigid_body(link: LinkModel) -> pin.Inertia:
    """The undeformed link with everything that is attached to it, in the link frame."""

    def at(station: Station) -> Array:
        placement = np.eye(4)
        placement[:3, 3] = station.position
        return np.asarray(placement @ station.body @ placement.T)

    body = link.inertia.rigid + sum(at(station) for station in link.stations)
    in_link = link.clamped @ body @ link.clamped.T
    return inertia_of(link.name, dynamic_parameters((in_link + in_link.T) / 2).full().ravel())


def _check_joints(arm: Arm, tree: Tree) -> None:
    links = arm.assembly.links
    own, given = [e.name for e in links], [joint.name for joint in tree.joints]
    if own != given:
        raise ArgumentError(
            f"the arm was made from {arm.tree.name!r} with the joints {listed(map(repr, own))}; {tree.name!r} has "
            f"{listed(map(repr, given))}; give the model that the arm was made from"
        )
    for link, joint in zip(links, tree.joints, strict=True):
        if link.type.kind != joint.type.kind or link.parent != joint.parent:
            raise ArgumentError(
                f"joint {joint.name!r} of {tree.name!r} is {_described(joint, given)}; that of the arm is "
                f"{_described(link, own)}; give the model that the arm was made from"
            )


def _described(joint: Joint | LinkModel, names: list[str]) -> str:
    return f"{joint.type.kind} on {names[joint.parent] if joint.parent >= 0 else 'the universe'!r}"
