"""The undeformed arm: the rigid robot whose flexible links are replaced by rigid beams, for ``pin.rnea``."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError
from gdalembert.flexible.assembly import Assembly
from gdalembert.flexible.element import Element, Station
from gdalembert.flexible.flexible_arm import FlexibleArm
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array
from gdalembert.validation.states import States
from gdalembert.validation.wording import listed


class UndeformedArm:
    """The arm with modes and their rates at zero, and with rotors that turn with their joints.

    Attributes:
        model: the given one, with rigid beams in place of its flexible links, and rotors added to its armature.

    Raises:
        ArgumentError: if the arm was made from another model.
    """

    def __init__(self, arm: FlexibleArm, model: pin.Model, tree: Tree) -> None:
        _check_joints(arm, tree)
        self._assembly, self._nq, self._nv = arm.assembly, arm.tree.nq, arm.tree.nv
        self.model = _with_rigid_links(arm.assembly, model)

    @property
    def velocity_map(self) -> Array:
        """G (nv × nv of the model): v of the arm is G times v of the model; torques are Gᵀ times the arm's."""
        g = np.eye(self._nv, self.model.nv)
        for element in self._assembly.elements:
            if element.name in self._assembly.rotors:
                g[rotor_index(self._assembly, element), element.idx_v] = 1.0
        return g

    def states(self, states: States) -> tuple[States, States]:
        """The model's part of the arm's states, and the arm's states that belong to it."""
        model, g = self.model, self.velocity_map
        own = States(states.q[:, : model.nq], states.v[:, : model.nv], states.a[:, : model.nv])
        q = np.zeros_like(states.q)
        q[:, : model.nq] = own.q
        for element in self._assembly.elements:
            if element.name in self._assembly.rotors:
                q[:, rotor_index(self._assembly, element) + self._nq - self._nv] = own.q[:, element.idx_q]
        return own, States(q, own.v @ g.T, own.a @ g.T)


def rotor_index(assembly: Assembly, element: Element) -> int:
    """The index in v of the rotor of a flexible joint."""
    return assembly.nv - len(assembly.rotors) + assembly.rotors.index(element.name)


def _with_rigid_links(assembly: Assembly, model: pin.Model) -> pin.Model:
    rigid = model.copy()
    armature = np.array(model.armature)
    for element in assembly.elements:
        if element.inertia.modes:
            rigid.inertias[model.getJointId(element.name)] = _rigid_body(element)
        own = element.idx_v
        # a rotor without an inertia of its own has the joint's armature, which the model already includes
        if element.name in assembly.rotors and not (armature[own] > 0 and assembly.armature[own] == 0):
            armature[own] += assembly.armature[rotor_index(assembly, element)]
    rigid.armature = armature
    return rigid


def _rigid_body(element: Element) -> pin.Inertia:
    """The undeformed link with everything that is attached to it, in the link frame."""

    def at(station: Station) -> Array:
        placement = np.eye(4)
        placement[:3, 3] = station.position
        return np.asarray(placement @ station.body @ placement.T)

    body = element.inertia.rigid + sum(at(station) for station in element.stations)
    in_link = element.clamped @ body @ element.clamped.T
    return pin.Inertia.FromPseudoInertia(pin.PseudoInertia.FromMatrix((in_link + in_link.T) / 2))


def _check_joints(arm: FlexibleArm, tree: Tree) -> None:
    elements = arm.assembly.elements
    own, given = [e.name for e in elements], [joint.name for joint in tree.joints]
    if own != given:
        raise ArgumentError(
            f"the arm was made from {arm.tree.name!r} with the joints {listed(map(repr, own))}; {tree.name!r} has "
            f"{listed(map(repr, given))}; give the model that the arm was made from"
        )
    for element, joint in zip(elements, tree.joints, strict=True):
        if type(element.type) is not type(joint.type) or element.parent != joint.parent:
            raise ArgumentError(
                f"joint {joint.name!r} of {tree.name!r} is {_described(joint, given)}; that of the arm is "
                f"{_described(element, own)}; give the model that the arm was made from"
            )


def _described(joint: Joint | Element, names: list[str]) -> str:
    return f"{type(joint.type).__name__} on {names[joint.parent] if joint.parent >= 0 else 'the universe'!r}"
