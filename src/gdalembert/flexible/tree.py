"""A flexible robot as a tree: stations are joints that the modes move.

A station of a flexible link is a joint on that link with the modes as its coordinates (:class:`Deflection`); several
stations of one link share them, as a mimic joint shares those of another. What a tree of rigid bodies cannot say, the
inertia of the modes themselves, stands beside it (:class:`ModalInertia`).

All is in frames of our own, which nothing shows outside: z of a link lies on its joint's axis, x as near to the beam as
that allows, and stations have the axes of their link. The line mass on a revolute axis belongs to both links of the
joint and moves towards the base, as in :mod:`gdalembert.dynamics.newton_euler.base_parameters`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.flexible.deflection import Deflection
from gdalembert.flexible.deformed_inertia import deformed
from gdalembert.flexible.element import Element, ModalInertia, without_rounding
from gdalembert.model.joints import JointType, Prismatic, Revolute
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, frozen, homogeneous, turned_to


@dataclass(frozen=True, eq=False)
class ModalTree(Tree):
    """A tree whose links bend."""

    is_rigid: ClassVar[bool] = False

    modal_inertias: tuple[tuple[int, ModalInertia], ...] = ()

    @property
    def modal(self) -> dict[int, ModalInertia]:
        """The inertia of the modes, by the index of the link's joint."""
        return dict(self.modal_inertias)

    def first_moment(self, q: Matrix) -> Matrix:
        stations = {j.parent: j for j in reversed(self.joints) if isinstance(j.type, Deflection)}
        total: Matrix = ca.DM(3, 1)
        for i, (joint, (r, p)) in enumerate(zip(self.joints, self.placements(q), strict=True)):
            body = spatial.constant(joint.pseudo_inertia)
            moment: Matrix = body[:3, 3]
            if i in self.modal:
                moment = deformed(self.modal[i], stations[i].configuration(q)).first
            total = total + r @ moment + float(body[3, 3]) * p
        return total


@dataclass(frozen=True)
class FlexibleTree:
    """The tree, and where elements stand in it.

    Attributes:
        tree: joints and stations, each after what it stands on.
        links: of each element: the index of its joint.
        stations: of each element: the indices of its stations but for the root.
    """

    tree: ModalTree
    links: tuple[int, ...]
    stations: tuple[tuple[int, ...], ...]

    @property
    def modal(self) -> Mapping[int, ModalInertia]:
        """Of each flexible element, by the index of its joint: the inertia of its modes, in our frame."""
        return self.tree.modal

    def first_station(self, link: int) -> int:
        """The station whose coordinates are the modes of the link."""
        return self.stations[self.links.index(link)][0]


@dataclass(frozen=True)
class Attachment:
    """A frame by name: on which element, on which of its stations, and its placement there (4 × 4)."""

    name: str
    element: int
    station: int
    placement: Array


def flexible_tree(
    elements: Sequence[Element],
    *,
    name: str,
    nq: int,
    nv: int,
    armature: Array,
    gravity: Array,
    exact: bool = True,
    regrouped: bool = True,
    attachments: Sequence[Attachment] = (),
    rotors: Sequence[str] = (),
) -> FlexibleTree:
    """The tree of elements, parents first.

    Args:
        elements: joints with their links.
        name, nq, nv, armature, gravity: of the whole, modes and rotors included.
        exact: whether stations turn by a rotation.
        regrouped: whether masses move towards the base; if not, masses and frames are those of the elements.
        attachments: the frames.
        rotors: names of rotors, the last entries of v: they move nothing but their armature.
    """
    ours = [_own_frame(element) for element in elements]
    clamped = [np.linalg.inv(own) @ element.clamped for own, element in zip(ours, elements, strict=True)]

    def moves(i: int, k: int) -> bool:
        """Whether the modes move station k of element i."""
        return k > 0 and elements[i].inertia.modes > 0

    def stands(i: int, k: int) -> Array:
        """The frame of station k of element i: in that of its joint if it moves, otherwise in our frame of the link."""
        if moves(i, k):
            return _turned(clamped[i])
        return np.asarray(clamped[i] @ homogeneous(np.eye(3), elements[i].stations[k].position))

    bodies = [
        [stands(i, k) @ station.body @ stands(i, k).T for k, station in enumerate(element.stations)]
        for i, element in enumerate(elements)
    ]
    inertias = []
    for i, element in enumerate(elements):
        seen = _seen(element.inertia, clamped[i])
        at_rest = [body for k, body in enumerate(bodies[i]) if not moves(i, k)]
        inertias.append(replace(seen, rigid=without_rounding(sum(at_rest, seen.rigid))))
    placements = []
    for own, element in zip(ours, elements, strict=True):
        under = stands(element.parent, element.attached) if element.parent >= 0 else np.eye(4)
        placements.append(without_rounding(under @ element.placement @ own))
    for i, element in reversed(list(enumerate(elements))):
        moved = _on_axis(element.type, inertias[i].rigid) if regrouped else np.zeros((4, 4))
        inertias[i] = replace(inertias[i], rigid=inertias[i].rigid - moved)
        if element.parent < 0:
            continue
        passed_on = placements[i] @ moved @ placements[i].T
        if moves(element.parent, element.attached):
            bodies[element.parent][element.attached] = bodies[element.parent][element.attached] + passed_on
        else:
            parent = inertias[element.parent]
            inertias[element.parent] = replace(parent, rigid=parent.rigid + passed_on)

    joints: list[Joint] = []
    links: list[int] = []
    stations: list[tuple[int, ...]] = []
    for i, element in enumerate(elements):
        below = -1
        if element.parent >= 0:
            k = element.attached
            below = stations[element.parent][k - 1] if moves(element.parent, k) else links[element.parent]
        links.append(len(joints))
        joints.append(
            _joint(
                element.name,
                _about_z(element.type),
                below,
                placements[i],
                inertias[i].rigid,
                element.idx_q,
                element.idx_v,
            )
        )
        first = len(joints)
        for k, station in enumerate(element.stations):
            if not moves(i, k):
                continue
            deflection = Deflection.of(station, clamped[i][:3, :3], clamped[i][:3, 3], exact=exact)
            joint = _joint(
                f"{element.name} station {k}",
                deflection,
                links[i],
                np.eye(4),
                bodies[i][k],
                element.first_mode + nq - nv,
                element.first_mode,
            )
            joints.append(joint if k == 1 else replace(joint, scaling=1.0, offset=0.0))
        stations.append(tuple(range(first, len(joints))))

    for k, rotor in enumerate(rotors):
        place = nv - len(rotors) + k
        joints.append(
            _joint(f"{rotor} rotor", Revolute((0.0, 0.0, 1.0)), -1, np.eye(4), np.zeros((4, 4)), place + nq - nv, place)
        )

    frames = []
    for a in attachments:
        if a.element < 0:
            frames.append(Frame(a.name, -1, frozen(a.placement[:3, :3]), frozen(a.placement[:3, 3])))
            continue
        placed = without_rounding(stands(a.element, a.station) @ a.placement)
        index = stations[a.element][a.station - 1] if moves(a.element, a.station) else links[a.element]
        frames.append(Frame(a.name, index, frozen(placed[:3, :3]), frozen(placed[:3, 3])))
    tree = ModalTree(
        name=name,
        nq=nq,
        nv=nv,
        joints=tuple(joints),
        links=tuple(links),
        joint_names=tuple(e.name for e in elements),
        armature=frozen(armature),
        gravity=frozen(gravity),
        frames=tuple(frames),
        modal_inertias=tuple((links[i], inertia) for i, inertia in enumerate(inertias) if inertia.modes),
    )
    return FlexibleTree(tree, tuple(links), tuple(stations))


def _joint(
    name: str, joint_type: JointType, parent: int, placement: Array, body: Array, idx_q: int, idx_v: int
) -> Joint:
    return Joint(
        name=name,
        type=joint_type,
        parent=parent,
        rotation=frozen(placement[:3, :3]),
        translation=frozen(placement[:3, 3]),
        pseudo_inertia=frozen(without_rounding(body)),
        idx_q=idx_q,
        idx_v=idx_v,
    )


def _own_frame(element: Element) -> Array:
    """Our frame in the link frame: z on the joint's axis, x along the beam where it is at right angles to that."""
    own = np.eye(4)
    if isinstance(element.type, Revolute | Prismatic):
        axis = np.array(element.type.axis)
        beam = element.clamped[:3, 0]
        across = beam - axis * (axis @ beam)
        if element.inertia.modes and np.linalg.norm(across) > 1e-6:
            x = across / np.linalg.norm(across)
            own[:3, :3] = np.column_stack([x, np.cross(axis, x), axis])
        else:
            own[:3, :3] = turned_to(axis)
    return own


def _about_z(joint_type: JointType) -> JointType:
    if isinstance(joint_type, Revolute | Prismatic):
        return replace(joint_type, axis=(0.0, 0.0, 1.0))
    return joint_type


def _on_axis(joint_type: JointType, body: Array) -> Array:
    """The line mass that moves with the parent as well."""
    moved = np.zeros((4, 4))
    if isinstance(joint_type, Revolute):
        on_axis = np.ix_((2, 3), (2, 3))
        moved[on_axis] = body[on_axis]
    return moved


def _seen(inertia: ModalInertia, frame: Array) -> ModalInertia:
    """The integrals seen in a frame in which the clamped frame stands at ``frame``."""

    def moved(x: Array) -> Array:
        return without_rounding(frame @ x @ frame.T)

    return ModalInertia(
        moved(inertia.rigid),
        moved(inertia.first),
        moved(inertia.second),
        inertia.shortening,
        inertia.stiffness,
    )


def _turned(frame: Array) -> Array:
    """Its rotation alone, 4 × 4."""
    return homogeneous(frame[:3, :3], np.zeros(3))
