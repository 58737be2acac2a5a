"""Tree: the numbers of a ``pin.Model``, in the form that every formulation uses.

A tree holds *elementary* joints only. Pinocchio's universal and spherical-ZYX joints are revolute joints in a row,
a composite joint is the row of its parts; the links between such parts are massless. A mimic joint is an ordinary
joint that shares the coordinates of the joint it mimics: ``q = scaling q_k + offset`` and S scaled alike, so that its
rows and columns simply add to those of the other (the projection Gᵀ(·)G of the free model).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.errors import UnsupportedError
from gdalembert.model import joints as jt
from gdalembert.model.inertia import center_of_mass, central_inertia, mass_of
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.modal_inertia import ModalInertia, SegmentInertia
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, ByValue, frozen

_ZERO = ca.DM(1, 1)  # structurally zero


@dataclass(frozen=True, eq=False)
class Joint(ByValue):
    """An elementary joint and the link it moves.

    Attributes:
        name: Pinocchio's name; parts of a joint that is a sequence are ``name[0]``, ``name[1]``, …
        type: the motion, see :mod:`gdalembert.model.joints`.
        parent: index of the parent in ``Tree.joints``, −1 for the universe.
        rotation, translation: the joint frame in the parent's link frame (3 × 3; 3, m).
        pseudo_inertia: J = ∫ x̂ x̂ᵀ dm with x̂ = (x, y, z, 1), of the link about its origin, in link axes (4 × 4).
            ``mass``, ``com`` and ``inertia`` are views of it.
        idx_q, idx_v: where the joint's coordinates start in q and v.
        scaling, offset: of a joint that mimics another one, else ``None``.
    """

    name: str
    type: jt.JointType
    parent: int
    rotation: Array
    translation: Array
    pseudo_inertia: Array
    idx_q: int
    idx_v: int
    scaling: float | None = None
    offset: float | None = None

    @property
    def columns(self) -> range:
        """The indices of the joint's velocities in v."""
        return range(self.idx_v, self.idx_v + self.type.nv)

    @property
    def mass(self) -> float:
        """Mass of the link [kg]."""
        mass: float = mass_of(self.pseudo_inertia)
        return mass

    @property
    def com(self) -> Array:
        """Centre of mass in the link frame (3, m)."""
        com: Array = center_of_mass(self.pseudo_inertia)
        return com

    @property
    def inertia(self) -> Array:
        """Inertia tensor about the centre of mass, axes of the link frame (3 × 3, kg m²)."""
        inertia: Array = central_inertia(self.pseudo_inertia)
        return inertia

    def configuration(self, q: Matrix) -> Matrix:
        """The joint's own part of q."""
        coordinates = q[self.idx_q : self.idx_q + self.type.nq]
        if self.scaling is None or self.offset is None:
            return coordinates
        return self.type.mimicked(coordinates, self.scaling, self.offset)

    def velocity(self, v: Matrix) -> Matrix:
        """The joint's own part of v (or of a)."""
        return v[self.idx_v : self.idx_v + self.type.nv]

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        """R (3 × 3) and p (3): the link frame in the parent's link frame."""
        r, p = self.type.placement(self.configuration(q))
        fixed = spatial.constant(self.rotation)
        return fixed @ r, spatial.constant(self.translation) + fixed @ p

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        """The linear and the angular half of S, 3 × nv each, in link axes."""
        linear, angular = self.type.subspace(self.configuration(q))
        if self.scaling is None:
            return linear, angular
        return self.scaling * linear, self.scaling * angular

    def subspace_rate(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """dS/dt in the same halves; no joint whose S depends on q can be mimicked."""
        return self.type.subspace_rate(self.configuration(q), self.velocity(v))


@dataclass(frozen=True, eq=False)
class DisplacedJoint(Joint):
    """A joint whose placement P exp6(δ) has symbols: ``rotation`` and ``translation`` are those of the product.

    Attributes:
        nominal: P (4 × 4), in the parent's link frame.
        displacement: δ (6), linear first, in the axes of the joint frame.
    """

    nominal: Array = field(kw_only=True)
    displacement: ca.SX = field(kw_only=True)

    @property
    def undisplaced(self) -> Joint:
        """The joint at P."""
        attributes = {name: value for name, value in vars(self).items() if name not in ("nominal", "displacement")}
        at_rest = {"rotation": frozen(self.nominal[:3, :3]), "translation": frozen(self.nominal[:3, 3])}
        return Joint(**attributes | at_rest)


@dataclass(frozen=True, eq=False)
class Frame(ByValue):
    """A frame fixed in a link.

    Attributes:
        name: Pinocchio's name.
        joint: index in ``Tree.joints``, −1 for the universe.
        rotation, translation: the frame in the link frame (3 × 3; 3, m).
        type: name of Pinocchio's frame type, ``"BODY"``, ``"FIXED_JOINT"`` …
        previous: index in ``Tree.frames`` of the frame that it was placed on.
        pseudo_inertia: of the body that is fixed to the link here, in this frame (4 × 4); the joint's has it in it.
    """

    name: str
    joint: int
    rotation: Array
    translation: Array
    type: str = "OP_FRAME"
    previous: int = 0
    pseudo_inertia: Array = field(default_factory=lambda: frozen(np.zeros((4, 4))), repr=False)


@dataclass(frozen=True)
class Element:
    """Coordinates, and the stations that they move: a joint moves its link, modes move the sections of their link.

    Attributes:
        carrier: the station that carries the element, −1 for the universe.
        stations: what its coordinates move, by index in ``Tree.joints``; it has the coordinates of the first.
        inertia: of its own mass, whose type is that of the element; ``None`` if it has none.
    """

    carrier: int
    stations: tuple[int, ...]
    inertia: Any = None

    @property
    def index(self) -> int:
        """The joint of the coordinates, by index in ``Tree.joints``."""
        return self.stations[0]

    def types(self, tree: Tree) -> list[Any]:
        """The motions of its stations."""
        return [tree.joints[i].type for i in self.stations]


@dataclass(frozen=True, eq=False)
class Tree(ByValue):
    """A frozen, picklable copy of what a ``pin.Model`` says about dynamics; equal if all numbers are equal.

    :func:`~gdalembert.model.from_pinocchio.read_tree` makes one of a model. Every constructor takes it in place of the
    model, so that whoever makes several objects of one model reads and checks it once.

    Attributes:
        name: of the model. ``nq, nv``: lengths of q and v.
        joints: elementary joints, a parent always before its children.
        links: for Pinocchio's joints 1, 2, …: the index in ``joints`` that carries the body.
        joint_names: Pinocchio's names of those joints.
        armature: rotor inertias (nv) that stand on the diagonal of M.
        damping, friction: viscous and Coulomb friction of the joints of the model, which are the first entries of v;
            tau has them if a robot is given ``friction="model"``.
        gravity: acceleration (3, m/s²) in the universe frame.
        frames: operational frames, in Pinocchio's order.
        modal_inertias: for each flexible link the index of its joint, and the inertia of its modes in the link frame;
            the pseudo-inertia of the joint is that of the undeformed link, with the bodies on its root.
        first_parts: where the first part of a composite joint is displaced in it, by the name of the joint.
    """

    name: str
    nq: int
    nv: int
    joints: tuple[Joint, ...]
    links: tuple[int, ...]
    joint_names: tuple[str, ...]
    armature: Array
    damping: Array
    friction: Array
    gravity: Array
    frames: tuple[Frame, ...] = field(repr=False)
    modal_inertias: tuple[tuple[int, ModalInertia | SegmentInertia], ...] = field(default=(), kw_only=True)
    first_parts: tuple[Frame, ...] = field(default=(), kw_only=True, repr=False)

    @property
    def modal(self) -> dict[int, ModalInertia | SegmentInertia]:
        """The inertia of the modes of flexible links, by the index of the link's joint."""
        return dict(self.modal_inertias)

    @property
    def assumed_modes(self) -> dict[int, ModalInertia]:
        """Modal inertias without strain segments: in assumed modes."""
        return {i: inertia for i, inertia in self.modal_inertias if isinstance(inertia, ModalInertia)}

    @property
    def elements(self) -> list[Element]:
        """The elements, each behind the one that moves its carrier."""
        elements, modal = list[Element](), self.modal
        for i, joint in enumerate(self.joints):
            if not joint.type.is_modal:
                elements.append(Element(joint.parent, (i,)))
            if i in modal:
                elements.append(Element(i, tuple(self.stations(i)), modal[i]))
        return elements

    def stations(self, link: int) -> list[int]:
        """The joints that are the stations and particles of a link, given by the index of its joint; not its root."""
        return [i for i, j in enumerate(self.joints) if j.parent == link and j.type.is_modal]

    def first_station(self, link: int) -> int:
        """The station whose coordinates are the modes of a link."""
        return self.stations(link)[0]

    def sections(self, link: int) -> list[Deflection]:
        """The motions of the stations of a flexible link, the tip's first."""
        return [motion for k in self.stations(link) if isinstance(motion := self.joints[k].type, Deflection)]

    @property
    def has_mimic(self) -> bool:
        """True if a joint shares the coordinates of another."""
        return any(joint.scaling is not None and not joint.type.is_modal for joint in self.joints)

    @property
    def has_constant_subspaces(self) -> bool:
        """True if all coordinates are those of joints whose S does not depend on q."""
        return all(joint.type.has_constant_subspace and not joint.type.is_modal for joint in self.joints)

    @property
    def is_first_order(self) -> bool:
        """True if some links turn to first order only, and have no angular momentum."""
        return any(joint.type.is_first_order for joint in self.joints)

    @property
    def independent_joints(self) -> tuple[Joint, ...]:
        """The joints with coordinates of their own, all but those that mimic another, in the order of q and v."""
        independent = (joint for joint in self.joints if joint.scaling is None)
        return tuple(sorted(independent, key=lambda joint: joint.idx_v))

    @property
    def joints_with_armature(self) -> tuple[Joint, ...]:
        """The joints that can have a rotor."""
        moving = (joint for joint in self.independent_joints if not joint.type.is_modal)
        return tuple(joint for joint in moving if joint.type.springs_at is None)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """A name for each entry of v: that of the mode, or of the joint, with ``[k]`` where the joint has several."""
        names = [""] * self.nv
        for joint in self.independent_joints:
            modes = joint.type.coordinate_names
            for k, column in enumerate(joint.columns):
                names[column] = modes[k] if modes else joint.name if joint.type.nv == 1 else f"{joint.name}[{k}]"
        return tuple(names)

    @property
    def is_numeric(self) -> bool:
        """True if all constants are numbers."""
        of_parts = (x for part in (*self.joints, *self.frames) for x in vars(part).values())
        return not any(isinstance(x, ca.SX) for x in (self.armature, self.gravity, *of_parts))

    @property
    def has_displacements(self) -> bool:
        """True if placements of joints or frames are parameters."""
        of_joints = any(isinstance(joint, DisplacedJoint) for joint in self.joints)
        return of_joints or any(isinstance(frame.rotation, ca.SX) for frame in self.frames)

    @property
    def unit(self) -> float:
        """The unit of length [m] of all lengths, and of gravity."""
        return 1.0

    @property
    def constants(self) -> Tree:
        """The tree without what a class of its own adds to the constants."""
        return self

    @property
    def symbols(self) -> ca.SX:
        """The symbols that a tree has for its constants; none where these are numbers."""
        return ca.SX(0, 1)

    @property
    def symbol_names(self) -> tuple[str, ...]:
        """A name for each of them."""
        return ()

    @property
    def symbol_values(self) -> Array:
        """A value for each of them, NaN where none is known."""
        return np.zeros(0)

    @property
    def springs(self) -> Mapping[str, tuple[Any, Any]]:
        """(stiffness, rest) of springs that belong to the robot, by joint."""
        return {}

    @property
    def rigid_joints(self) -> tuple[str, ...]:
        """The names of the joints that move links: neither stations nor springs nor rotors of flexible joints."""
        carriers = {*self.links, *(joint.parent for joint in self.joints)}
        moving = (joint for i, joint in enumerate(self.joints) if i in carriers and joint.type.nv)
        return tuple(joint.name for joint in moving if not joint.type.is_modal and joint.type.springs_at is None)

    @property
    def body_names(self) -> tuple[str, ...]:
        """The names of Pinocchio's joints whose bodies are rigid, and whole: springs move no part of them."""
        flexible = {*self.modal, *(self.joints[i].parent for i in self.springs_at_frames)}
        return tuple(name for name, i in zip(self.joint_names, self.links, strict=True) if i not in flexible)

    @property
    def springs_at_frames(self) -> set[int]:
        """The first joints of springs that stand at a frame, not at a joint, and so divide the body of a link."""
        at = {i: joint.type.springs_at for i, joint in enumerate(self.joints)}
        divided = {i for i, name in at.items() if name is not None and name not in self.joint_names}
        return {i for i in divided if at.get(self.joints[i].parent) != at[i]}

    def first_part(self, link: int) -> int:
        """The first of the elementary joints that one of Pinocchio's joints is, springs at it included.

        Args:
            link: the index of the joint that carries its link.
        """
        above = self.joints[link].parent
        if above < 0 or above in self.links or self.joints[above].type.is_modal:
            return link
        is_on_frame = self.joints[above].type.springs_at not in (None, *self.joint_names)
        return link if is_on_frame else self.first_part(above)

    def require_rigid_links(self, reason: str) -> None:
        """Raises UnsupportedError if a link has modes; the reason ends with "rigid"."""
        if self.modal:
            raise UnsupportedError(f"{self.name}: its links are flexible, and {reason}")

    def path(self, index: int) -> list[int]:
        """The joints from the universe to ``index``, which is the last of them."""
        path = []
        while index >= 0:
            path.append(index)
            index = self.joints[index].parent
        return path[::-1]

    def suffix_sums(self, values: list[Any]) -> list[Any]:
        """Sums, for each joint, of ``values`` over the links of its subtree, its own included."""
        sums = list(values)
        for i, joint in reversed(list(enumerate(self.joints))):
            if joint.parent >= 0:
                sums[joint.parent] = sums[joint.parent] + sums[i]
        return sums

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All pairs (i, j) of joints with i at or above j."""
        for j in range(len(self.joints)):
            for i in self.path(j):
                yield i, j

    def vector(self, parts: list[Matrix]) -> Matrix:
        """nv numbers from each joint's own ones; joints that share coordinates add."""
        entries: list[Matrix] = [_ZERO] * self.nv
        for joint, part in zip(self.joints, parts, strict=True):
            for k, column in enumerate(joint.columns):
                entries[column] = entries[column] + part[k]
        return ca.vertcat(*entries)

    def matrix(self, blocks: Iterable[tuple[int, int, Matrix]]) -> Matrix:
        """nv × nv numbers from blocks (i, j, block of joints i and j); structurally zero where there is none."""
        entries: list[list[Matrix]] = [[_ZERO] * self.nv for _ in range(self.nv)]
        for i, j, block in blocks:
            for k, row in enumerate(self.joints[i].columns):
                for m, column in enumerate(self.joints[j].columns):
                    entries[row][column] = entries[row][column] + block[k, m]
        return spatial.rows(*entries)

    def symmetric_matrix(self, blocks: Iterable[tuple[int, int, Matrix]]) -> Matrix:
        """Symmetric matrix of which the blocks (i, j), i at or above j, are given: M = Mᵀ exactly."""

        def both() -> Iterator[tuple[int, int, Matrix]]:
            for i, j, block in blocks:
                yield i, j, spatial.symmetric(block) if i == j else block
                if i != j:
                    yield j, i, block.T

        return self.matrix(both())

    def placements(self, q: Matrix) -> list[tuple[Matrix, Matrix]]:
        """R (3 × 3) and p (3) of each link frame in the universe frame."""
        placed: list[tuple[Matrix, Matrix]] = []
        for joint in self.joints:
            r, p = joint.placement(q)
            if joint.parent >= 0:
                r0, p0 = placed[joint.parent]
                r, p = r0 @ r, p0 + r0 @ p
            placed.append((r, p))
        return placed

    def configuration_rate(self, q: Matrix, v: Matrix) -> Matrix:
        """dq/dt (nq) of (q, v)."""
        joints = self.independent_joints
        return ca.vertcat(*(j.type.configuration_rate(j.configuration(q), j.velocity(v)) for j in joints))

    def tangent_map(self, q: ca.SX) -> ca.SX:
        """T (nq × nv) of dq/dt = T(q) v."""
        v = ca.SX.sym("v", self.nv)
        return ca.jacobian(self.configuration_rate(q, v), v)

    def first_moment(self, q: Matrix) -> Matrix:
        """Σ m r (3, kg m) of all links, in the universe frame."""
        masses = self.suffix_sums([joint.mass for joint in self.joints])
        moments = [spatial.constant(joint.pseudo_inertia)[:3, 3] for joint in self.joints]
        total: Matrix = ca.DM(3, 1)
        for i, inertia in self.modal.items():
            moments[i] = moments[i] + inertia.first_moment(self.joints[self.first_station(i)].configuration(q))
        for i, joint in reversed(list(enumerate(self.joints))):
            r, p = joint.placement(q)
            moment = r @ moments[i] + masses[i] * p
            if joint.parent >= 0:
                moments[joint.parent] = moments[joint.parent] + moment
            else:
                total = total + moment
        return total


@dataclass(frozen=True, eq=False)
class TreeOfSymbols(Tree):
    """A tree with symbols: wherever ``Tree`` has an array, this may have an ``SX``; equal to itself alone.

    Attributes:
        p: the symbols (SX, n_p) that the constants are written in, an input of every Function.
    """

    p: ca.SX

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @property
    def constants(self) -> Tree:
        return Tree(**{field.name: getattr(self, field.name) for field in fields(Tree)})

    @property
    def symbols(self) -> ca.SX:
        return self.p

    @property
    def symbol_names(self) -> tuple[str, ...]:
        return tuple(str(x) for x in ca.vertsplit(self.p))

    @property
    def symbol_values(self) -> Array:
        return np.full(self.p.numel(), np.nan)
