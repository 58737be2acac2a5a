"""Cleaning of constants: a rpy of 1.57079632679 is π/2, and 6e-17 is zero.

Rounding noise in a URDF's numbers makes products in a graph where a clean number makes none. What is cleaned, and by
how much, is never hidden: every change is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.joints import JointType
from gdalembert.tree import Array, Joint, Tree


@dataclass(frozen=True)
class Change:
    """One number that was cleaned: ``joint``, what it is (``"rotation[0, 2]"``), and its two values (SI units)."""

    joint: str
    quantity: str
    before: float
    after: float

    def __str__(self) -> str:
        return f"joint {self.joint!r}: {self.quantity}: {self.before!r} -> {self.after!r}"


def clean_tree(tree: Tree, tolerance: float) -> tuple[Tree, tuple[Change, ...]]:
    """Remove rounding noise from the constants of a tree.

    Entries of rotations and axes that lie within ``tolerance`` of −1, 0 or 1 become that number. Entries of
    placements, centres of mass and inertias that are smaller than ``tolerance`` times the largest number of their
    kind in the whole tree become 0. Nothing else is touched: masses, armature, gravity and frames stay as they are.

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

    def cleaned(joint: Joint, quantity: str, before: Array, rule: Callable[[Array], Array]) -> Array:
        after = rule(before)
        for index in np.argwhere(after != before):
            position = tuple(int(k) for k in index)
            shown = ", ".join(map(str, position))
            changes.append(Change(joint.name, f"{quantity}[{shown}]", float(before[position]), float(after[position])))
        after.setflags(write=False)
        return after

    lengths = smaller_than(_largest([np.concatenate([joint.translation, joint.com]) for joint in tree.joints]))
    inertias = smaller_than(_largest([joint.inertia for joint in tree.joints]))

    def clean_type(joint: Joint) -> JointType:
        if not any(f.name == "axis" for f in fields(joint.type)):
            return joint.type
        axis = cleaned(joint, "axis", np.array(joint.type.axis), to_units)  # type: ignore[attr-defined]
        return replace(joint.type, axis=tuple(axis.tolist()))  # type: ignore[call-arg]

    joints = tuple(
        replace(
            joint,
            type=clean_type(joint),
            rotation=cleaned(joint, "rotation", joint.rotation, to_units),
            translation=cleaned(joint, "translation", joint.translation, lengths),
            com=cleaned(joint, "com", joint.com, lengths),
            inertia=cleaned(joint, "inertia", joint.inertia, inertias),
        )
        for joint in tree.joints
    )
    return replace(tree, joints=joints), tuple(changes)


def _largest(arrays: list[Array]) -> float:
    return max(float(np.abs(array).max()) for array in arrays)
