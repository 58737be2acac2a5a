"""A flexible robot as a tree: the modes of a link move its stations, as a joint moves its link.

A station of a flexible link is a joint on that link with the modes as its coordinates (``Deflection``). The
stations of one link share them, as a mimic joint shares the coordinates of another one. So do the particles that carry
the mass of a link which shortens (:mod:`gdalembert.flexible.particles`); they come after the stations. A tree of rigid
bodies cannot hold the inertia of the modes themselves; :class:`ModalInertia` adds it, without stretches.

The tree has link frames of its own, which nothing outside sees: z of a link lies on its joint's axis, x as near to the
beam as that allows, and stations have the axes of their link.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.deformed_inertia import deformed
from gdalembert.flexible.assembly import Assembly, AttachedFrame
from gdalembert.flexible.link_model import LinkModel, Station
from gdalembert.flexible.particles import lumped
from gdalembert.model.joints import JointType, Revolute
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.rounding import NEGLIGIBLE, clean_matrix
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, frozen, homogeneous, turned_to


@dataclass(frozen=True, eq=False)
class FlexibleTree(Tree):
    """A tree with flexible links: joints, of which some are deflections.

    Attributes:
        links: for each link of the assembly the index of its joint.
        link_frames: for each link of the assembly its frame as given, in the link axes of the tree (n × 4 × 4).
    """

    is_rigid: ClassVar[bool] = False

    link_frames: Array = field(default_factory=lambda: np.zeros((0, 4, 4)))

    @property
    def rigid_joints(self) -> tuple[str, ...]:
        return self.joint_names

    @property
    def body_names(self) -> tuple[str, ...]:
        links = zip(self.joint_names, self.links, strict=True)
        return tuple(name for name, i in links if i not in self.modal)

    @property
    def joints_with_armature(self) -> tuple[Joint, ...]:
        return tuple(joint for joint in self.independent_joints if not joint.type.is_modal)

    def body_frame(self, name: str) -> tuple[int, Array]:
        k = self.joint_names.index(name)
        return self.links[k], self.link_frames[k]

    def first_moment(self, q: Matrix) -> Matrix:
        total: Matrix = ca.DM(3, 1)
        for i, (joint, (r, p)) in enumerate(zip(self.joints, self.placements(q), strict=True)):
            body = spatial.constant(joint.pseudo_inertia)
            moment: Matrix = body[:3, 3]
            if i in self.modal:
                moment = deformed(
                    joint.pseudo_inertia, self.modal[i], self.joints[self.first_station(i)].configuration(q)
                ).first
            total = total + r @ moment + body[3, 3] * p
        return total


def flexible_tree(assembly: Assembly, *, exact: bool = True) -> FlexibleTree:
    """The tree of an assembly, every body on its own link.

    Args:
        assembly: the links, parents first.
        exact: whether stations turn by a rotation; otherwise to first order.
    """
    placed: list[_TreeLink] = []
    joints: list[Joint] = []
    for link in assembly.links:
        here = _TreeLink.of(link, len(joints))
        joints += [here.link_joint(placed), *here.station_joints(exact)]
        placed.append(here)
    return FlexibleTree(
        name=assembly.name,
        nq=assembly.nq,
        nv=assembly.nv,
        joints=(*joints, *_rotor_joints(assembly)),
        links=tuple(here.joint for here in placed),
        joint_names=tuple(link.name for link in assembly.links),
        armature=assembly.armature,
        damping=assembly.joint_damping,
        friction=assembly.joint_friction,
        gravity=assembly.gravity,
        frames=tuple(_frame(frame, placed) for frame in assembly.frames),
        link_frames=frozen([np.linalg.inv(here.axes) for here in placed]),
        modal_inertias=tuple((here.joint, here.inertia) for here in placed if here.inertia.modes),
    )


def regrouped(tree: FlexibleTree) -> FlexibleTree:
    """The tree with the same torques and smaller graphs: the line mass on a revolute axis moves to the parent link.

    The axis belongs to both links of the joint, as in :mod:`gdalembert.model.regrouping`. What a
    prismatic joint shares stays: on a station without inertia of its own it would cost more than it saves.
    """
    bodies = [joint.pseudo_inertia for joint in tree.joints]
    for i, joint in reversed(list(enumerate(tree.joints))):
        if not joint.type.is_revolute:
            continue
        if isinstance(bodies[i], ca.SX):  # what moving symbols costs is more than it saves
            continue
        shared = joint.type.inertia_shared_with_parent(bodies[i])
        bodies[i] = bodies[i] - shared
        if joint.parent >= 0:
            placement = homogeneous(joint.rotation, joint.translation)
            bodies[joint.parent] = bodies[joint.parent] + placement @ shared @ placement.T
    return replace(
        tree,
        joints=tuple(
            replace(joint, pseudo_inertia=body if isinstance(body, ca.SX) else frozen(clean_matrix(body)))
            for joint, body in zip(tree.joints, bodies, strict=True)
        ),
    )


@dataclass(frozen=True)
class _TreeLink:
    """A link in the frames of the tree.

    Attributes:
        link: the link.
        joint: the index of its joint in the tree; those of its stations follow.
        axes: the tree's link frame in the link frame (4 × 4).
        clamped: the clamped frame in the tree's link frame (4 × 4).
        inertia: of the link without its particles, with the bodies on stations that are not joints, in the tree's link
            frame.
        stations: of the link, and its particles.
    """

    link: LinkModel
    joint: int
    axes: Array
    clamped: Array
    inertia: ModalInertia
    stations: tuple[Station, ...]

    @staticmethod
    def of(link: LinkModel, joint: int) -> _TreeLink:
        axes = _link_axes(link)
        clamped = np.linalg.inv(axes) @ link.clamped
        inertia, particles = lumped(link.inertia)
        here = _TreeLink(link, joint, axes, clamped, _in_frame(inertia, clamped), (*link.stations, *particles))
        fixed = [here.station_body(k) for k in range(len(here.stations)) if not here.is_joint(k)]
        return replace(here, inertia=replace(here.inertia, rigid=clean_matrix(sum(fixed, here.inertia.rigid))))

    def is_joint(self, station: int) -> bool:
        """Whether the modes move a station, so that it is a joint of the tree."""
        return station > 0 and self.link.inertia.modes > 0

    def carrier(self, station: int) -> int:
        """The joint of the tree that moves what is attached to a station."""
        return self.joint + station if self.is_joint(station) else self.joint

    def station_frame(self, station: int) -> Array:
        """The frame of a station in that of its carrier (4 × 4)."""
        if self.is_joint(station):
            return homogeneous(self.clamped[:3, :3], np.zeros(3))
        position = self.stations[station].position
        return np.asarray(self.clamped @ homogeneous(np.eye(3), position))

    def station_body(self, station: int) -> Array:
        """The pseudo-inertia (4 × 4) of the bodies on a station, in the frame of its carrier."""
        frame = self.station_frame(station)
        return np.asarray(frame @ self.stations[station].body @ frame.T)

    def link_joint(self, placed: Sequence[_TreeLink]) -> Joint:
        """The joint that moves the link, ``placed`` being the links before it."""
        link, parent, below = self.link, -1, np.eye(4)
        if link.parent >= 0:
            parent = placed[link.parent].carrier(link.parent_station)
            below = placed[link.parent].station_frame(link.parent_station)
        placement = clean_matrix(below @ link.placement @ self.axes)
        body, indices = self.inertia.rigid, (link.idx_q, link.idx_v)
        return _joint(link.name, link.type.with_axis((0.0, 0.0, 1.0)), parent, placement, body, *indices)

    def station_joints(self, exact: bool) -> Iterator[Joint]:
        """The stations and particles that the modes move; those after the first share its coordinates."""
        link = self.link
        for k, station in enumerate(self.stations):
            if self.is_joint(k):
                deflection = station.deflection(self.clamped[:3, :3], self.clamped[:3, 3], exact=exact)
                name, indices = f"{link.name} station {k}", (link.mode_idx_q, link.mode_idx_v)
                joint = _joint(name, deflection, self.joint, np.eye(4), self.station_body(k), *indices)
                yield joint if k == 1 else replace(joint, scaling=1.0, offset=0.0)


def _rotor_joints(assembly: Assembly) -> Iterator[Joint]:
    """The rotors of flexible joints, the last entries of v: they move nothing but their armature."""
    for k, rotor in enumerate(assembly.rotors, assembly.nv - len(assembly.rotors)):
        indices = (k + assembly.nq - assembly.nv, k)
        yield _joint(f"{rotor} rotor", Revolute((0.0, 0.0, 1.0)), -1, np.eye(4), np.zeros((4, 4)), *indices)


def _frame(frame: AttachedFrame, placed: Sequence[_TreeLink]) -> Frame:
    joint, placement = -1, frame.placement
    if frame.link >= 0:
        link = placed[frame.link]
        joint = link.carrier(frame.station)
        placement = clean_matrix(link.station_frame(frame.station) @ frame.placement)
    return Frame(frame.name, joint, frozen(placement[:3, :3]), frozen(placement[:3, 3]))


def _joint(
    name: str, joint_type: JointType, parent: int, placement: Array, body: Array, idx_q: int, idx_v: int
) -> Joint:
    return Joint(
        name=name,
        type=joint_type,
        parent=parent,
        rotation=frozen(placement[:3, :3]),
        translation=frozen(placement[:3, 3]),
        pseudo_inertia=frozen(clean_matrix(body)),
        idx_q=idx_q,
        idx_v=idx_v,
    )


def _link_axes(link: LinkModel) -> Array:
    """The tree's frame of a link in its link frame: z on the joint's axis, x along the beam if that is across it."""
    frame = np.eye(4)
    if link.type.axis is not None:
        axis = np.array(link.type.axis)
        beam = link.clamped[:3, 0]
        across = beam - axis * (axis @ beam)
        if link.inertia.modes and np.linalg.norm(across) > NEGLIGIBLE:
            x = across / np.linalg.norm(across)
            frame[:3, :3] = np.column_stack([x, np.cross(axis, x), axis])
        else:
            frame[:3, :3] = turned_to(axis)
    return frame


def _in_frame(inertia: ModalInertia, frame: Array) -> ModalInertia:
    """The integrals in a frame in which the clamped frame is placed at ``frame``."""

    def moved(x: Array) -> Array:
        return clean_matrix(frame @ x @ frame.T)

    return replace(inertia, rigid=moved(inertia.rigid), first=moved(inertia.first), second=moved(inertia.second))
