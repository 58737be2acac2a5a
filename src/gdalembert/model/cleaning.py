"""Cleaning of constants: a rpy of 1.57079632679 is π/2, and 6e-17 is zero.

Rounding noise in a URDF's numbers makes products in a graph where a clean number makes none. What is cleaned, and by
how much, is never hidden: every change is reported.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field, replace

import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.inertia import pseudo_inertia
from gdalembert.model.joints import JointType
from gdalembert.model.rounding import MOST_CLEANED, clean_inertia, clean_rotation, clean_unit_vector, drop
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.arrays import Array, frozen


@dataclass(frozen=True)
class Change:
    """One number that was cleaned: of what (``"joint 'elbow'"``), which (``"rotation[0, 2]"``), both values (SI)."""

    element: str
    quantity: str
    before: float
    after: float

    def __str__(self) -> str:
        return f"{self.element}: {self.quantity}: {self.before!r} -> {self.after!r}"


def clean_tree(tree: Tree, tolerance: float) -> tuple[Tree, tuple[Change, ...]]:
    """Remove rounding noise from the constants of a tree.

    * Rotations and axes: entries within ``tolerance`` of 0 become 0, and a ±1 that then stands alone in its row and
      column becomes exact; but only if the rotation stays orthogonal to rounding.
    * Placements and centres of mass: coordinates smaller than ``tolerance`` times the lengths of the link that they are
      on become 0: the largest coordinate of its centre of mass and of the joints on it, or its radius of gyration.
      Where the link itself stands does not count, so that a robot may stand far from the origin.
    * Inertias: products of inertia I_ij smaller than ``tolerance`` sqrt(I_ii I_jj) become 0, as do those that are
      rounding errors of the largest moment. Moments are never touched, so that no body loses its inertia beside a
      heavier one.

    Nothing else is changed: masses, armature and gravity stay as they are. Centres of mass and inertias are cleaned as
    the views that a joint has of them; a pseudo-inertia is written anew only where one of them changes.

    Args:
        tree: the tree to clean.
        tolerance: relative size of what counts as noise; 0 returns the tree as it is, as does a tree with symbols.

    Returns:
        The cleaned tree, and every change that was made.

    Raises:
        ArgumentTypeError: if the tolerance is not a number.
        ArgumentError: if it is not in [0, 1e-6].
    """
    if isinstance(tolerance, bool) or not isinstance(tolerance, numbers.Real):
        raise ArgumentTypeError(f"clean={tolerance!r}: give a number from 0 (take every bit as given) to 1e-6")
    if not 0 <= tolerance <= MOST_CLEANED:
        raise ArgumentError(f"clean={tolerance!r}: give a tolerance from 0 (take every bit as given) to 1e-6")
    if tolerance == 0 or not tree.is_numeric:
        return tree, ()
    lengths, changes = _lengths(tree), []
    joints, frames = [], []
    for joint, on_link in zip(tree.joints, lengths, strict=True):
        placed = float(np.abs(joint.translation).max())
        around = max(placed, lengths[joint.parent] if joint.parent >= 0 else 0.0)
        element = _Element(f"joint {joint.name!r}", float(tolerance), around, on_link)
        joints.append(element.joint(joint))
        changes += element.changes
    for frame in tree.frames:
        around = max(float(np.abs(frame.translation).max()), lengths[frame.joint] if frame.joint >= 0 else 0.0)
        element = _Element(f"frame {frame.name!r}", float(tolerance), around, 0.0)
        frames.append(element.frame(frame))
        changes += element.changes
    return replace(tree, joints=tuple(joints), frames=tuple(frames)), tuple(changes)


@dataclass
class _Element:
    """A joint or frame that is cleaned, and what was changed.

    The largest of the lengths [m] around its placement, and of those on its own link.
    """

    name: str
    tolerance: float
    around: float
    on_link: float
    changes: list[Change] = field(default_factory=list)

    def joint(self, joint: Joint) -> Joint:
        return replace(
            joint,
            type=self.type(joint.type),
            rotation=self.noted("rotation", joint.rotation, clean_rotation(joint.rotation, self.tolerance)),
            translation=self.coordinates("translation", joint.translation, self.around),
            pseudo_inertia=self.body(joint),
        )

    def frame(self, frame: Frame) -> Frame:
        return replace(
            frame,
            rotation=self.noted("rotation", frame.rotation, clean_rotation(frame.rotation, self.tolerance)),
            translation=self.coordinates("translation", frame.translation, self.around),
        )

    def type(self, joint_type: JointType) -> JointType:
        if joint_type.axis is None:
            return joint_type
        given = np.array(joint_type.axis)
        x, y, z = self.noted("axis", given, clean_unit_vector(given, self.tolerance)).tolist()
        return joint_type.with_axis((x, y, z))

    def body(self, joint: Joint) -> Array:
        before = len(self.changes)
        com = self.coordinates("com", joint.com, self.on_link)
        inertia = self.noted("inertia", joint.inertia, clean_inertia(joint.inertia, self.tolerance))
        if len(self.changes) == before:
            return joint.pseudo_inertia
        body: Array = pseudo_inertia(joint.mass, com, inertia)
        return body

    def coordinates(self, quantity: str, values: Array, lengths: float) -> Array:
        return self.noted(quantity, values, drop(values, self.tolerance * lengths))

    def noted(self, quantity: str, before: Array, after: Array) -> Array:
        for index in np.argwhere(after != before):
            position = tuple(int(k) for k in index)
            entry = f"{quantity}[{', '.join(map(str, position))}]"
            self.changes.append(Change(self.name, entry, float(before[position]), float(after[position])))
        return frozen(after)


def _lengths(tree: Tree) -> list[float]:
    """Length of each link: the largest coordinate of its centre of mass and its joints, or its radius of gyration."""
    lengths = [max(float(np.abs(joint.com).max()), _gyration(joint)) for joint in tree.joints]
    for joint in tree.joints:
        if joint.parent >= 0:
            lengths[joint.parent] = max(lengths[joint.parent], float(np.abs(joint.translation).max()))
    return lengths


def _gyration(joint: Joint) -> float:
    largest = float(np.abs(np.diag(joint.inertia)).max())
    return float(np.sqrt(largest / joint.mass)) if joint.mass > 0 else 0.0
