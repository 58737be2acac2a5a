"""Cleaning of constants: a rpy of 1.57079632679 is π/2, and 6e-17 is zero.

Rounding noise in a URDF's numbers makes products in a graph where a clean number makes none. What is cleaned, and by
how much, is never hidden: every change is reported.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError, CleaningWarning, shown
from gdalembert.model.from_pinocchio import generic_dynamics, is_singular
from gdalembert.model.inertia import pseudo_inertia
from gdalembert.model.rounding import ENTRY_ERROR, MOST_CLEANED, clean_inertia, clean_rotation, clean_unit_vector, drop
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.arguments import warn
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.brief import Brief

_NOTICED, _NOTICED_IN_A = 1e-9, 1e-7
"""Relative change of tau and of accelerations from which on cleaning is more than rounding."""
# M⁻¹ makes more of a change: of a Kinova, 2e-12 in tau are up to 1e-8 in accelerations (the condition of M is 561)


@dataclass(frozen=True)
class Change(Brief):
    """A number that was cleaned: its element, ``"joint 'elbow'"``, its entry, ``"rotation[0, 2]"``, both numbers."""

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

    A tolerance of 0 returns the tree as it is, as does a tree with symbols. Beside the tree stands every change.
    """
    if isinstance(tolerance, bool) or not isinstance(tolerance, numbers.Real):
        raise ArgumentTypeError(f"clean={shown(tolerance)}: give a number from 0 (take every bit as given) to 1e-6")
    if not 0 <= tolerance <= MOST_CLEANED:
        raise ArgumentError(f"clean={shown(tolerance)}: give a tolerance from 0 (take every bit as given) to 1e-6")
    if tolerance == 0 or not tree.is_numeric:
        return tree, ()
    # of each link: the largest coordinate of its centre of mass and its joints, or its radius of gyration
    lengths = [max(float(np.abs(joint.com).max()), _gyration(joint)) for joint in tree.joints]
    for joint in tree.joints:
        if joint.parent >= 0:
            lengths[joint.parent] = max(lengths[joint.parent], float(np.abs(joint.translation).max()))
    changes: list[Change] = []

    def around(element: Joint | Frame, link: int) -> float:
        return max(float(np.abs(element.translation).max()), lengths[link] if link >= 0 else 0.0)

    joints = [
        _cleaned_joint(joint, tolerance, around(joint, joint.parent), on_link, changes)
        for joint, on_link in zip(tree.joints, lengths, strict=True)
    ]
    frames = [
        replace(frame, **_placement(frame, tolerance, around(frame, frame.joint), partial(_noted, changes, frame)))
        for frame in tree.frames
    ]
    return replace(tree, joints=tuple(joints), frames=tuple(frames)), tuple(changes)


def warn_of_changes(given: Tree, cleaned: Tree, changes: tuple[Change, ...], tolerance: float) -> None:
    """Warn if cleaning changes tau by more than 1e-9, or accelerations by more than 1e-7 of their size.

    They are those at rest in one configuration.

    What rounding alone does to accelerations, if M is badly conditioned, is no matter of cleaning: nothing is computed
    where cleaning takes rounding away and no more, as it does of most models.
    """
    if len(changes) == len(clean_tree(given, min(tolerance, ENTRY_ERROR))[1]):
        return
    singular, (m, g), (cleaned_m, cleaned_g) = is_singular(given), generic_dynamics(given), generic_dynamics(cleaned)
    a = np.random.default_rng(0).normal(size=given.nv)
    tau, in_a = m @ a + g, 0.0
    in_tau = _change(cleaned_m @ a + cleaned_g, tau)
    if not singular:
        in_a = _change(np.asarray(np.linalg.solve(cleaned_m, tau - cleaned_g)), a)
        if in_a > _NOTICED_IN_A:
            in_a -= _change(np.asarray(np.linalg.solve(m, tau - g)), a)
    if in_tau > _NOTICED or in_a > _NOTICED_IN_A:
        warn(
            f"{given.name}: clean={tolerance:g} changes tau by {in_tau:.1e} and accelerations by {max(in_a, 0):.1e} of "
            "their size; give a smaller tolerance, or clean=0 to take every number as it is",
            CleaningWarning,
        )


def _change(value: Array, reference: Array) -> float:
    """Relative error max|Δ| / max|reference|; 0 where tau is zero, as of a robot without inertia."""
    size = np.abs(reference).max()
    return float(np.abs(value - reference).max() / size) if size else 0.0


def _gyration(joint: Joint) -> float:
    largest = float(np.abs(np.diag(joint.inertia)).max())
    return float(np.sqrt(largest / joint.mass)) if joint.mass > 0 else 0.0


def _cleaned_joint(joint: Joint, tolerance: float, around: float, on_link: float, changes: list[Change]) -> Joint:
    """A joint without noise beside the lengths [m] around its placement, and those on its own link."""
    noted, joint_type, body = partial(_noted, changes, joint), joint.type, joint.pseudo_inertia
    if joint_type.axis is not None:
        axis = np.array(joint_type.axis)
        x, y, z = noted("axis", axis, clean_unit_vector(axis, tolerance)).tolist()
        joint_type = joint_type.with_axis((x, y, z))
    placement, before = _placement(joint, tolerance, around, noted), len(changes)
    com = noted("com", joint.com, drop(joint.com, tolerance * on_link))
    inertia = noted("inertia", joint.inertia, clean_inertia(joint.inertia, tolerance))
    if len(changes) > before:
        body = pseudo_inertia(joint.mass, com, inertia)
    return replace(joint, type=joint_type, pseudo_inertia=body, **placement)


def _placement(
    element: Joint | Frame, tolerance: float, around: float, noted: Callable[[str, Array, Array], Array]
) -> dict[str, Any]:
    """The rotation and the translation of a joint or frame, cleaned."""
    r, p = element.rotation, element.translation
    rotation = noted("rotation", r, clean_rotation(r, tolerance))
    return {"rotation": rotation, "translation": noted("translation", p, drop(p, tolerance * around))}


def _noted(changes: list[Change], element: Joint | Frame, quantity: str, before: Array, after: Array) -> Array:
    """The values after cleaning, frozen; their changes are noted."""
    owner = f"{'joint' if isinstance(element, Joint) else 'frame'} {element.name!r}"
    for index in np.argwhere(after != before):
        position = tuple(int(k) for k in index)
        entry = f"{quantity}[{', '.join(map(str, position))}]"
        changes.append(Change(owner, entry, float(before[position]), float(after[position])))
    return frozen(after)
