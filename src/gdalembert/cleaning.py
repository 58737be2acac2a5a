"""Cleaning of constants: a rpy of 1.57079632679 is π/2, and 6e-17 is zero.

Rounding noise in a URDF's numbers makes products in a graph where a clean number makes none. What is cleaned, and by
how much, is never hidden: every change is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.joints import Helical, JointType, Prismatic, Revolute
from gdalembert.tree import Array, Frame, Joint, Tree


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

    Entries of rotations and axes that lie within ``tolerance`` of −1, 0 or 1 become that number. Entries of
    placements, centres of mass and inertias that are smaller than ``tolerance`` times the largest number of their
    kind in the whole tree become 0. Nothing else is touched: masses, armature and gravity stay as they are.

    Args:
        tree: the tree to clean.
        tolerance: relative size of what counts as noise; 0 returns the tree as it is.

    Returns:
        The cleaned tree, and every change that was made.

    Raises:
        ArgumentError: if the tolerance is not in [0, 1e-6].
    """
    if not 0 <= tolerance <= 1e-6:
        raise ArgumentError(f"clean={tolerance!r}: give a tolerance from 0 (take every bit as given) to 1e-6")
    if tolerance == 0:
        return tree, ()
    changes: list[Change] = []

    def smaller_than(scale: float) -> Callable[[Array], Array]:
        return lambda values: np.where(np.abs(values) <= tolerance * scale, 0.0, values)

    def to_units(values: Array) -> Array:
        nearest = np.clip(np.round(values), -1, 1)
        return np.where(np.abs(values - nearest) <= tolerance, nearest, values)

    def cleaned(element: str, quantity: str, before: Array, rule: Callable[[Array], Array]) -> Array:
        after = rule(before)
        for index in np.argwhere(after != before):
            position = tuple(int(k) for k in index)
            shown = ", ".join(map(str, position))
            changes.append(Change(element, f"{quantity}[{shown}]", float(before[position]), float(after[position])))
        after.setflags(write=False)
        return after

    lengths = smaller_than(_largest([np.concatenate([joint.translation, joint.com]) for joint in tree.joints]))
    inertias = smaller_than(_largest([joint.inertia for joint in tree.joints]))

    def clean_type(joint: Joint, element: str) -> JointType:
        if not isinstance(joint.type, Revolute | Prismatic | Helical):
            return joint.type
        axis = cleaned(element, "axis", np.array(joint.type.axis), to_units)
        return replace(joint.type, axis=tuple(axis.tolist()))

    def clean_joint(joint: Joint) -> Joint:
        element = f"joint {joint.name!r}"
        return replace(
            joint,
            type=clean_type(joint, element),
            rotation=cleaned(element, "rotation", joint.rotation, to_units),
            translation=cleaned(element, "translation", joint.translation, lengths),
            com=cleaned(element, "com", joint.com, lengths),
            inertia=cleaned(element, "inertia", joint.inertia, inertias),
        )

    def clean_frame(frame: Frame) -> Frame:
        element = f"frame {frame.name!r}"
        return replace(
            frame,
            rotation=cleaned(element, "rotation", frame.rotation, to_units),
            translation=cleaned(element, "translation", frame.translation, lengths),
        )

    joints, frames = tuple(map(clean_joint, tree.joints)), tuple(map(clean_frame, tree.frames))
    return replace(tree, joints=joints, frames=frames), tuple(changes)


def _largest(arrays: list[Array]) -> float:
    return max(float(np.abs(array).max()) for array in arrays)
