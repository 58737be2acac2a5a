"""Cleaning of constants: a rpy of 1.57079632679 is π/2, and 6e-17 is zero.

Rounding noise in a URDF's numbers makes products in a graph where a clean number makes none. What is cleaned, and by
how much, is never hidden: every change is reported.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace

import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.joints import JointType
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
    * Placements and centres of mass: coordinates smaller than ``tolerance`` times the lengths around them (the largest
      coordinate of the link's own placement and centre of mass and of what is placed on it) become 0.
    * Inertias: products of inertia smaller than ``tolerance`` times the largest moment of the same tensor become 0.
      Moments are never touched, so that no body loses its inertia beside a heavier one.

    Nothing else is changed: masses, armature and gravity stay as they are.

    Args:
        tree: the tree to clean.
        tolerance: relative size of what counts as noise; 0 returns the tree as it is.

    Returns:
        The cleaned tree, and every change that was made.

    Raises:
        ArgumentTypeError: if the tolerance is not a number.
        ArgumentError: if it is not in [0, 1e-6].
    """
    if isinstance(tolerance, bool) or not isinstance(tolerance, numbers.Real):
        raise ArgumentTypeError(f"clean={tolerance!r}: give a number from 0 (take every bit as given) to 1e-6")
    if not 0 <= tolerance <= 1e-6:
        raise ArgumentError(f"clean={tolerance!r}: give a tolerance from 0 (take every bit as given) to 1e-6")
    if tolerance == 0:
        return tree, ()
    changes: list[Change] = []

    def noted(element: str, quantity: str, before: Array, after: Array) -> Array:
        for index in np.argwhere(after != before):
            position = tuple(int(k) for k in index)
            shown = ", ".join(map(str, position))
            changes.append(Change(element, f"{quantity}[{shown}]", float(before[position]), float(after[position])))
        return frozen(after)

    lengths = _lengths(tree)

    def clean_joint(joint: Joint, around: float) -> Joint:
        element = f"joint {joint.name!r}"
        return replace(
            joint,
            type=clean_type(joint, element),
            rotation=noted(element, "rotation", joint.rotation, clean_rotation(joint.rotation, tolerance)),
            translation=noted(element, "translation", joint.translation, _drop(joint.translation, tolerance * around)),
            com=noted(element, "com", joint.com, _drop(joint.com, tolerance * around)),
            inertia=noted(element, "inertia", joint.inertia, _clean_inertia(joint.inertia, tolerance)),
        )

    def clean_type(joint: Joint, element: str) -> JointType:
        if joint.type.axis is None:
            return joint.type
        given = np.array(joint.type.axis)
        x, y, z = noted(element, "axis", given, _clean_unit_vector(given, tolerance)).tolist()
        return joint.type.with_axis((x, y, z))

    def clean_frame(frame: Frame) -> Frame:
        element = f"frame {frame.name!r}"
        around = max(float(np.abs(frame.translation).max()), lengths[frame.joint] if frame.joint >= 0 else 0.0)
        return replace(
            frame,
            rotation=noted(element, "rotation", frame.rotation, clean_rotation(frame.rotation, tolerance)),
            translation=noted(element, "translation", frame.translation, _drop(frame.translation, tolerance * around)),
        )

    joints = tuple(clean_joint(joint, around) for joint, around in zip(tree.joints, lengths, strict=True))
    frames = tuple(map(clean_frame, tree.frames))
    return replace(tree, joints=joints, frames=frames), tuple(changes)


def _lengths(tree: Tree) -> list[float]:
    """For each link the largest coordinate of its placement, its centre of mass, and the placements on it."""
    lengths = [float(np.abs([*joint.translation, *joint.com]).max()) for joint in tree.joints]
    for joint in tree.joints:
        if joint.parent >= 0:
            lengths[joint.parent] = max(lengths[joint.parent], float(np.abs(joint.translation).max()))
    return lengths


def _drop(values: Array, least: float) -> Array:
    """Zero in place of all that is not larger."""
    return np.where(np.abs(values) <= least, 0.0, values)


def _clean_unit_vector(axis: Array, tolerance: float) -> Array:
    cleaned = _drop(axis, tolerance)
    return np.sign(cleaned) if np.count_nonzero(cleaned) == 1 else cleaned


def clean_rotation(rotation: Array, tolerance: float) -> Array:
    """Zeros and ones in place of what lies within the tolerance of them, where the rotation stays orthogonal."""
    cleaned = _drop(rotation, tolerance)
    alone = (np.count_nonzero(cleaned, axis=0) == 1)[None, :] & (np.count_nonzero(cleaned, axis=1) == 1)[:, None]
    cleaned = np.where(alone, np.sign(cleaned), cleaned)
    # dropping an entry of size ε among others makes R Rᵀ differ from 1 by ε, beside its own zeros only by ε²
    bent = np.abs(cleaned @ cleaned.T - np.eye(3)).max() - np.abs(rotation @ rotation.T - np.eye(3)).max()
    return cleaned if bent <= 4e-16 else rotation


def _clean_inertia(inertia: Array, tolerance: float) -> Array:
    return np.where(np.eye(3, dtype=bool), inertia, _drop(inertia, tolerance * float(inertia.max())))
