"""Preparation of a tree with modes for recursions: link frames of our own, particles, and mass moved to the parent.

**Frames.** z of a link lies on its joint's axis, x as near to its beam as that allows; stations have the axes of their
link. **Mass.** The mass of a link that shortens is that of particles (:mod:`gdalembert.model.particles`), which are
further stations. The line mass on a revolute axis belongs to both links of the joint and moves to the parent, as in
:mod:`gdalembert.model.regrouping`. What a prismatic joint shares stays: on a station without inertia of its own it
would cost more than it saves; and so do symbols, since moving them costs more than it saves. **Numbers.** The constants
of stations have the digits that rounding has left them, so that 1 and 0.9999999999999998 are one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.model.inertia import difference, transformed
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.joints.strain_segment import StrainStation
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.particles import lumped
from gdalembert.model.rounding import NEGLIGIBLE, PRODUCT_ERROR, clean_matrix, clean_product, known_digits
from gdalembert.model.segment_inertia import SegmentInertia
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.arrays import Array, frozen, homogeneous, turned_to

ModalType = Deflection | StrainStation


def prepare_modes(tree: Tree) -> Tree:
    """The same robot, to rounding, in link frames of our own, with particles, and with less inertia on each link."""
    return _regrouped(_rounded(_with_particles(_in_own_frames(tree))))


def _in_own_frames(tree: Tree) -> Tree:
    axes: list[Array] = []
    for i, joint in enumerate(tree.joints):
        axes.append(axes[joint.parent] if joint.type.is_modal else _link_axes(tree, i))
    return replace(
        tree,
        joints=tuple(
            _seen_from(joint, axes[joint.parent] if joint.parent >= 0 else np.eye(3), own)
            for joint, own in zip(tree.joints, axes, strict=True)
        ),
        frames=tuple(_frame_seen_from(frame, axes) for frame in tree.frames),
        modal_inertias=tuple((i, inertia.placed(_inverse(axes[i]))) for i, inertia in tree.modal_inertias),
    )


def _link_axes(tree: Tree, i: int) -> Array:
    """The rotation of our frame of a link in its frame."""
    joint = tree.joints[i]
    if joint.type.axis is None:
        return np.eye(3)
    axis = np.array(joint.type.axis)
    for beam in [own.beam for k in tree.stations(i) if isinstance(own := tree.joints[k].type, ModalType)][:1]:
        across = beam - axis * (axis @ beam)
        if np.linalg.norm(across) > NEGLIGIBLE:
            x = across / np.linalg.norm(across)
            return np.column_stack([x, np.cross(axis, x), axis])
    return turned_to(axis)


def _inverse(axes: Array) -> Array:
    return homogeneous(axes.T, np.zeros(3))


def _seen_from(joint: Joint, parent: Array, own: Array) -> Joint:
    """A joint between links in other axes."""
    body = transformed(_inverse(own), joint.pseudo_inertia)
    if isinstance(joint.type, ModalType):
        return replace(joint, type=joint.type.seen_from(own), pseudo_inertia=body)
    placement = clean_product(_inverse(parent), homogeneous(joint.rotation, joint.translation), _inverse(own).T)
    return replace(
        joint,
        type=joint.type.with_axis((0.0, 0.0, 1.0)),
        rotation=frozen(placement[:3, :3]),
        translation=frozen(placement[:3, 3]),
        pseudo_inertia=body,
    )


def _frame_seen_from(frame: Frame, axes: Sequence[Array]) -> Frame:
    if frame.joint < 0:
        return frame
    placement = clean_matrix(_inverse(axes[frame.joint]) @ homogeneous(frame.rotation, frame.translation))
    return replace(frame, rotation=frozen(placement[:3, :3]), translation=frozen(placement[:3, 3]))


def _with_particles(tree: Tree) -> Tree:
    """The tree in which particles carry the mass of links that shorten, as stations behind all others."""
    joints = list(tree.joints)
    inertias: list[tuple[int, ModalInertia | SegmentInertia]] = []
    for i, inertia in tree.modal_inertias:
        if isinstance(inertia, SegmentInertia):
            inertias.append((i, inertia))
            continue
        tip = tree.joints[tree.first_station(i)]
        remainder, particles = lumped(inertia, tree.sections(i)[0].beam)
        inertias.append((i, remainder))
        if particles:
            taken = inertia.rigid - remainder.rigid
            joints[i] = replace(joints[i], pseudo_inertia=_less(joints[i].pseudo_inertia, taken))
            joints += [_particle(tip, k, *each) for k, each in enumerate(particles, 1)]
    return replace(tree, joints=tuple(joints), modal_inertias=tuple(inertias))


def _rounded(tree: Tree) -> Tree:
    """The tree whose stations have constants of as many digits as rounding has left them."""

    def rounded(x: Array) -> Array:
        return frozen(known_digits(x, np.full(x.shape, PRODUCT_ERROR * np.abs(x).max(initial=0))))

    def section(of: Deflection) -> Deflection:
        moves, turns, shortens = map(rounded, (of.translation, of.rotation, of.shortening))
        return replace(of, translation=moves, rotation=turns, shortening=shortens)

    types = (section(each.type) if isinstance(each.type, Deflection) else each.type for each in tree.joints)
    return replace(tree, joints=tuple(replace(each, type=own) for each, own in zip(tree.joints, types, strict=True)))


def _particle(tip: Joint, k: int, mass: float, motion: Deflection) -> Joint:
    """A particle of the link of a station, whose modal coordinates it shares."""
    return replace(
        tip,
        name=f"{tip.name} particle {k}",
        type=motion,
        pseudo_inertia=frozen(np.diag([0.0, 0.0, 0.0, mass])),
        scaling=1.0,
        offset=0.0,
    )


def _regrouped(tree: Tree) -> Tree:
    bodies = [joint.pseudo_inertia for joint in tree.joints]
    for i, joint in reversed(list(enumerate(tree.joints))):
        if not joint.type.is_revolute or isinstance(bodies[i], ca.SX):
            continue
        shared = joint.type.inertia_shared_with_parent(bodies[i])
        bodies[i] = _less(bodies[i], shared)
        if joint.parent >= 0:
            placement = homogeneous(joint.rotation, joint.translation)
            bodies[joint.parent] = bodies[joint.parent] + placement @ shared @ placement.T
    joints = zip(tree.joints, bodies, strict=True)
    return replace(tree, joints=tuple(replace(joint, pseudo_inertia=_cleaned(body)) for joint, body in joints))


def _less(body: Array | ca.SX, part: Array) -> Any:
    return _cleaned(difference(body, part))


def _cleaned(body: Array | ca.SX) -> Any:
    return body if isinstance(body, ca.SX) else frozen(clean_matrix(body))
