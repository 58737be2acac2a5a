"""Preparation of a tree for recursions: link frames of our own, and base parameters in place of inertias.

Nothing of this shows outside: q, v, a, tau, M, C and g are those of the given tree.

**Frames.** z lies on the joint's axis. Origin and x are chosen so that many constants are zero
(:mod:`gdalembert.model.link_frames`). What is left of a placement's turn about z is an offset of q.

**Inertia** (regrouping to base parameters). Points on the axis of a revolute joint belong to both of its links: the
line mass (m, h_z, J_zz) moves to the parent, and is dropped where the parent is the universe. A sliding link turns with
its parent: its second moments about its centre of mass move there, and only m stays behind.

**Numbers.** If nothing slides, the most frequent length is the unit of length. Magnitudes that differ by rounding alone
become one.

**Displacements.** A placement P exp6(δ) with symbols δ (:class:`~gdalembert.model.tree.DisplacedJoint`) has the link
frames of P. Where the given frame of the link stands at A in ours, P exp6(δ) A⁻¹ = (P A⁻¹) exp6(Ad_A δ). The link keeps
its inertia, which would move with the symbols.

**Modes.** Of a link with modes, x lies as near to its beam as z allows; stations have the axes of their link. The mass
of a link that shortens is that of particles (:mod:`gdalembert.model.modal_inertia`), which are further stations. What a
prismatic joint shares with its parent stays (on a station without inertia of its own it would cost more than it saves),
and so do symbols, since moving them costs more than it saves. The constants of stations have the digits that rounding
has left them, so that 1 and 0.9999999999999998 are one number.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.model import rounding
from gdalembert.model.inertia import difference, transformed
from gdalembert.model.joints import JointType
from gdalembert.model.joints.deflection import Deflection, ModalMotion
from gdalembert.model.link_frames import AS_GIVEN, LinkFrame, LinkGeometry, choose, placed
from gdalembert.model.modal_inertia import ModalInertia, lumped
from gdalembert.model.tree import DisplacedJoint, Frame, Joint, Tree
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arrays import Array, frozen, homogeneous, turned_to
from gdalembert.spatial.lie import adjoint
from gdalembert.spatial.lie.maps import motion_exp


@dataclass(frozen=True, eq=False)
class PreparedJoint(Joint):
    """A joint between link frames of our own; its pseudo-inertia is no longer that of a single body.

    Attributes:
        frame_offset: what is added to q, the angle between the frames of the model, to make the angle between ours.
        keeps_joint_axes: whether the link keeps the axes of its joint (:mod:`gdalembert.model.link_frames`).
    """

    frame_offset: float = 0.0
    keeps_joint_axes: bool = False

    def configuration(self, q: Matrix) -> Matrix:
        coordinates = super().configuration(q)
        return self.type.integrate(coordinates, ca.DM(self.frame_offset)) if self.frame_offset else coordinates


@dataclass(frozen=True, eq=False)
class PreparedTree(Tree):
    """A robot in link frames of our own.

    Attributes:
        unit: the unit of length [m] of all lengths, of gravity, and of h and m in the pseudo-inertias, which are
            ∫ x unit and ∫ unit², all in kg m².
        links_as_given: the link frames of the model in ours (n × 4 × 4, in m).
    """

    unit: float = 1.0
    links_as_given: Array = field(default_factory=lambda: np.zeros((0, 4, 4)))

    def with_constants(self, tree: Tree) -> PreparedTree:
        """The links with the gravity and the armature of a tree, and with the frames that it has besides."""
        gravity: Any = entries(spatial.constant(tree.gravity) / self.unit)
        added = tree.frames[len(self.frames) :]
        frames = (_seen(frame, self.links_as_given[frame.joint], self.unit) for frame in added)
        return replace(self, gravity=gravity, armature=tree.armature, frames=(*self.frames, *frames))


def _seen(frame: Frame, link_to_ours: Array, unit: float = 1.0) -> Frame:
    """An operational frame of a link that stands at ``link_to_ours`` in our frame, in our unit of length."""
    if isinstance(frame.rotation, ca.SX) or isinstance(frame.translation, ca.SX):
        r, p = spatial.constant(frame.rotation), spatial.constant(frame.translation)
        if frame.joint >= 0:
            seen = spatial.constant(rounding.clean_matrix(link_to_ours))
            r, p = seen[:3, :3] @ r, seen[:3, :3] @ p + seen[:3, 3]
        return replace(frame, rotation=entries(r), translation=entries(p / unit))
    placement = homogeneous(frame.rotation, frame.translation)
    if frame.joint >= 0:
        placement = rounding.clean_matrix(link_to_ours @ placement)
        placement[:3, :3] = rounding.clean_rotation(placement[:3, :3], rounding.SAME)
    return replace(frame, rotation=frozen(placement[:3, :3]), translation=frozen(placement[:3, 3] / unit))


@dataclass(frozen=True, eq=False)
class RegroupedTree(Tree):
    """A robot whose bodies are those of no robot, but have given base parameters.

    Torques and M are right, and energies but for a constant; what a single link does is not.

    Attributes:
        prepared: the same robot in link frames of our own, with the base parameters as inertias.
    """

    prepared: PreparedTree = field(kw_only=True)


def keeps_joint_axes(joint: Joint) -> bool:
    """True if the link of a joint keeps the axes of the joint; never for a joint as the model gives it."""
    return isinstance(joint, PreparedJoint) and joint.keeps_joint_axes


def prepare(tree: Tree, *, regroup_symbols: bool = True, keep_axes: bool = True, regroup_roots: bool = True) -> Tree:
    """The robot, to rounding, in link frames of our own, with base parameters for inertias.

    Lengths (gravity, and the translations of frames, too) can be in a unit of their own. Bodies and displacements of
    joints may be symbols; a tree with other symbols in its geometry is returned as it is. ``regroup_symbols``: bodies
    that are symbols are regrouped, too, which makes them smaller, at the cost of operations on the symbols.
    ``keep_axes``: links may keep those of joints. ``regroup_roots``: what joints on the base share with it is dropped.
    """
    if isinstance(tree, RegroupedTree):
        return tree.prepared.with_constants(tree)
    if tree.modal:
        return _prepared_with_modes(tree, regroup_roots)
    if tree.is_numeric and regroup_roots:
        return _of_numbers(tree, keep_axes)
    fixed = (joint for joint in tree.joints if not isinstance(joint, DisplacedJoint))
    if any(isinstance(x, ca.SX) for joint in fixed for x in (joint.rotation, joint.translation)):
        return tree
    return _prepared(tree, regroup_symbols, keep_axes, regroup_roots)


@lru_cache(maxsize=64)
def _of_numbers(tree: Tree, keep_axes: bool) -> PreparedTree:
    # Kept, since the dynamics and the kinematics of one robot ask for the same.
    return _prepared(tree, False, keep_axes)


def _prepared(tree: Tree, regroup_symbols: bool, keep_axes: bool, regroup_roots: bool = True) -> PreparedTree:
    fixed = _undisplaced(tree)
    links = regrouped(aligned(fixed), symbols=regroup_symbols, whole=_whole(tree, regroup_roots))
    frames = choose(links, keep_axes=keep_axes)
    joints = []
    for joint, link, frame in zip(fixed.joints, links, frames, strict=True):
        placement, angle = placed(frames[link.parent] if link.parent >= 0 else AS_GIVEN, link, frame)
        changed = {
            "type": link.type,
            "rotation": frozen(rounding.clean_rotation(placement[:3, :3], rounding.SAME)),
            "translation": frozen(placement[:3, 3]),
            "pseudo_inertia": frame.body(link),
            "frame_offset": angle * sense_of(link.type),
            "keeps_joint_axes": frame.keeps_joint_axes,
        }
        joints.append(PreparedJoint(**vars(joint) | changed))
    links_as_given = frozen(
        [frame.inverse @ np.linalg.inv(link.frame) for link, frame in zip(links, frames, strict=True)]
    )
    ours = PreparedTree(**vars(tree) | {"joints": tuple(joints), "frames": (), "links_as_given": links_as_given})
    ours = with_equal_magnitudes(in_own_unit(ours)).with_constants(tree)
    if fixed is tree:
        return ours
    turns = (LinkFrame(angle=j.frame_offset * sense_of(j.type)).matrix for j in joints)
    seen = (turn @ link for turn, link in zip(turns, links_as_given, strict=True))
    return replace(ours, joints=tuple(map(_displaced, ours.joints, tree.joints, seen, [ours.unit] * len(joints))))


def _undisplaced(tree: Tree) -> Tree:
    """The tree with all joints at the placements that do not depend on symbols."""
    if not tree.has_displacements:
        return tree
    joints = (joint.undisplaced if isinstance(joint, DisplacedJoint) else joint for joint in tree.joints)
    return replace(tree, joints=tuple(joints))


def _whole(tree: Tree, regroup_roots: bool) -> set[int]:
    """The links whose bodies are not regrouped: those of displaced joints, and on request those of roots."""
    displaced = {i for i, joint in enumerate(tree.joints) if isinstance(joint, DisplacedJoint)}
    return displaced | {i for i, joint in enumerate(tree.joints) if joint.parent < 0 and not regroup_roots}


def _displaced(joint: Joint, original: Joint, link_to_ours: Array, unit: float = 1.0) -> Joint:
    """A joint of ours, with the displacement of the original, whose link frame is placed in ours [m]."""
    if not isinstance(original, DisplacedJoint):
        return joint
    seen = spatial.constant(rounding.clean_matrix(adjoint(link_to_ours))) @ original.displacement
    change = motion_exp(ca.vertcat(seen[:3] / unit, seen[3:]))
    r, p = spatial.constant(joint.rotation), spatial.constant(joint.translation)
    return replace(joint, rotation=entries(r @ change[:3, :3]), translation=entries(p + r @ change[:3, 3]))


def aligned(tree: Tree) -> list[LinkGeometry]:
    """The links in frames with z on the axis of the joint, and the origin of a sliding leaf at its centre of mass.

    Where an axis is parallel to the parent's z or to that of a sibling, z points the same way.
    """
    parents = [joint.parent for joint in tree.joints]
    links: list[LinkGeometry] = []
    aligned_to_link: list[Array] = []
    for i, joint in enumerate(tree.joints):
        in_parent = homogeneous(joint.rotation, joint.translation)
        placement = np.linalg.inv(aligned_to_link[joint.parent]) @ in_parent if joint.parent >= 0 else in_parent
        siblings = [links[k].placement[:3, 2] for k in range(i) if parents[k] == joint.parent]
        frame, joint_type = np.eye(4), joint.type
        if joint.type.axis is not None:
            axis = np.array(joint.type.axis)
            z = placement[:3, :3] @ axis
            opposite = any(np.abs(z + other).max() <= rounding.SAME for other in (np.array([0, 0, 1]), *siblings))
            sense = -1.0 if opposite else 1.0
            frame[:3, :3] = turned_to(sense * axis)
            joint_type = joint.type.with_axis((0.0, 0.0, sense))
        body = joint.pseudo_inertia
        is_known = not isinstance(body, ca.SX)
        if is_known and not joint.type.can_rotate and i not in parents and body[3, 3] > 0:
            frame[:3, 3] = body[:3, 3] / body[3, 3]
        placement = placement @ frame
        placement[:3, :3] = rounding.clean_rotation(placement[:3, :3], rounding.SAME)
        link_to_aligned = homogeneous(frame[:3, :3].T, -frame[:3, :3].T @ frame[:3, 3])
        aligned_to_link.append(frame)
        links.append(LinkGeometry(joint.parent, joint_type, placement, transformed(link_to_aligned, body), frame))
    return links


def regrouped(
    links: list[LinkGeometry], *, symbols: bool = True, sliding: bool = True, whole: Collection[int] = ()
) -> list[LinkGeometry]:
    """Links of the same motion and torques with as little inertia as possible, from the tips to the base.

    What stays on request: bodies that are symbols; what joints that are not revolute share with their parent; the
    ``whole`` bodies of some links.
    """
    bodies = [link.body for link in links]
    for i, link in reversed(list(enumerate(links))):
        stays = i in whole or (isinstance(bodies[i], ca.SX) and not symbols)
        if stays or not (sliding or link.type.is_revolute):
            continue
        moved = link.type.inertia_shared_with_parent(bodies[i])
        bodies[i] = difference(bodies[i], moved)
        if link.parent >= 0:
            bodies[link.parent] = bodies[link.parent] + transformed(link.placement, moved)
    return [replace(link, body=body) for link, body in zip(links, bodies, strict=True)]


def in_own_unit(tree: PreparedTree) -> PreparedTree:
    """The robot with the length that occurs most often as the unit of length, if nothing in it slides.

    A coordinate of 1 needs no multiplication. Torques do not change: h = ∫ x is multiplied by the unit and m by its
    square, while J is what it was.
    """
    lengths = [float(x) for joint in tree.joints if joint.parent >= 0 for x in np.abs(joint.translation) if x]
    if not lengths or any(joint.type.can_translate for joint in tree.joints):
        return tree
    lengths = [x for x in lengths if x > rounding.NEGLIGIBLE * max(lengths)]
    # By frequency: the longest would make one coordinate 1, this makes as many as can be.
    unit = max(lengths, key=lambda x: sum(np.isclose(lengths, x, rtol=rounding.SAME, atol=0)))
    scale = np.diag([1, 1, 1, unit])
    joints = (
        replace(j, translation=frozen(j.translation / unit), pseudo_inertia=transformed(scale, j.pseudo_inertia))
        for j in tree.joints
    )
    return replace(tree, joints=tuple(joints), unit=unit).with_constants(tree)


def with_equal_magnitudes(tree: PreparedTree) -> PreparedTree:
    """The robot with one magnitude for constants that differ by rounding, as those of a left and a right arm."""
    constants = [x for joint in tree.joints for x in (joint.translation, joint.pseudo_inertia)]
    numbers = [x.ravel() for x in constants if not isinstance(x, ca.SX)]
    magnitudes = np.unique(np.abs([0.0, 1.0, *np.concatenate(numbers)]))
    starts = np.append(True, np.diff(magnitudes) > rounding.SAME * magnitudes[1:])
    shared = magnitudes[starts][np.cumsum(starts) - 1]
    shared[np.isclose(shared, 1.0, rtol=rounding.SAME, atol=0)] = 1.0

    def settled(x: Array | ca.SX) -> Any:
        if isinstance(x, ca.SX):
            return x
        return frozen(np.sign(x) * shared[np.searchsorted(magnitudes, np.abs(x))])

    joints = (
        replace(joint, translation=settled(joint.translation), pseudo_inertia=settled(joint.pseudo_inertia))
        for joint in tree.joints
    )
    return replace(tree, joints=tuple(joints))


def sense_of(joint_type: JointType) -> float:
    """The sense of a joint: −1 if it moves along −z, else 1."""
    return -1.0 if joint_type.axis == (0.0, 0.0, -1.0) else 1.0


def _prepared_with_modes(original: Tree, regroup_roots: bool) -> Tree:
    """The robot, equal to rounding, in link frames of our own, with particles, and with less inertia on each link."""
    tree = _undisplaced(original)
    ours_in_link: list[Array] = []
    for i, joint in enumerate(tree.joints):
        ours_in_link.append(ours_in_link[joint.parent] if joint.type.is_modal else _link_axes(tree, i))
    link_to_ours = [homogeneous(rotation.T, np.zeros(3)) for rotation in ours_in_link]
    parent_to_ours = [link_to_ours[joint.parent] if joint.parent >= 0 else np.eye(4) for joint in tree.joints]
    joints = list(map(_between, tree.joints, parent_to_ours, link_to_ours))
    inertias = {i: inertia.placed(link_to_ours[i]) for i, inertia in tree.modal_inertias}
    for i, inertia in tuple(inertias.items()):
        tip = joints[tree.first_station(i)]
        if not isinstance(inertia, ModalInertia) or not isinstance(tip.type, Deflection):
            continue
        remainder, particles = lumped(inertia, tip.type.beam)
        inertias[i] = remainder
        if particles:
            body = difference(joints[i].pseudo_inertia, inertia.rigid - remainder.rigid)
            joints[i] = replace(joints[i], pseudo_inertia=body)
        for k, (mass, motion) in enumerate(particles, 1):  # with the modal coordinates of the stations
            body = frozen(np.diag([0.0, 0.0, 0.0, mass]))
            name = f"{tip.name} particle {k}"
            joints.append(replace(tip, name=name, type=motion, pseudo_inertia=body, scaling=1.0, offset=0.0))
    links = [LinkGeometry(j.parent, j.type, homogeneous(j.rotation, j.translation), j.pseudo_inertia) for j in joints]
    whole = _whole(original, regroup_roots)
    bodies = (link.body for link in regrouped(links, symbols=False, sliding=False, whole=whole))
    joints[: len(link_to_ours)] = map(_displaced, joints, original.joints, link_to_ours)
    return replace(
        tree,
        joints=tuple(
            replace(joint, type=_with_known_digits(joint.type), pseudo_inertia=_cleaned(body))
            for joint, body in zip(joints, bodies, strict=True)
        ),
        frames=tuple(_seen(frame, link_to_ours[frame.joint]) for frame in tree.frames),
        modal_inertias=tuple(inertias.items()),
    )


def _link_axes(tree: Tree, i: int) -> Array:
    """The rotation of our frame of a link with modes, or of one between such links, in its frame."""
    if tree.joints[i].type.axis is None:
        return np.eye(3)
    axis = np.array(tree.joints[i].type.axis)
    for beam in [motion.beam for k in tree.stations(i) if isinstance(motion := tree.joints[k].type, ModalMotion)][:1]:
        across = beam - axis * (axis @ beam)
        if np.linalg.norm(across) > rounding.NEGLIGIBLE:
            x = across / np.linalg.norm(across)
            return np.column_stack([x, np.cross(axis, x), axis])
    return turned_to(axis)


def _between(joint: Joint, parent: Array, frame: Array) -> Joint:
    """A joint between links that stand at ``parent`` and ``frame`` in our frames."""
    body = transformed(frame, joint.pseudo_inertia)
    if isinstance(joint.type, ModalMotion):
        return replace(joint, type=joint.type.seen_from(frame[:3, :3].T), pseudo_inertia=body)
    placement = rounding.clean_product(parent, homogeneous(joint.rotation, joint.translation), frame.T)
    rotation, translation = frozen(placement[:3, :3]), frozen(placement[:3, 3])
    along = joint.type.with_axis((0.0, 0.0, 1.0))
    return replace(joint, type=along, rotation=rotation, translation=translation, pseudo_inertia=body)


def _with_known_digits(motion: JointType) -> JointType:
    """A motion whose constants have as many digits as rounding has left them."""

    def rounded(x: Array) -> Array:
        return frozen(rounding.known_digits(x, np.full(x.shape, rounding.PRODUCT_ERROR * np.abs(x).max(initial=0))))

    if not isinstance(motion, Deflection):
        return motion
    moves, turns, shortens = map(rounded, (motion.translation, motion.rotation, motion.shortening))
    return replace(motion, translation=moves, rotation=turns, shortening=shortens)


def _cleaned(body: Array | ca.SX) -> Any:
    return body if isinstance(body, ca.SX) else frozen(rounding.clean_matrix(body))
