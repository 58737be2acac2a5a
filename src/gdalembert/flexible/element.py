"""The numbers of a flexible robot: joint by joint, each with the link that it moves.

Frames of a link: the *link frame* is moved by the joint; the *clamped frame* B stands at the root of the beam, fixed in
the link frame, x along the undeformed beam, y and z along the principal axes of the section; a *station* is a section
of the beam with its own frame, which is B shifted along the beam when nothing is deformed, and moves with the modes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.model.joints import JointType
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, ByValue


@dataclass(frozen=True, eq=False)
class Station:
    """A section of a link, where children, frames and rigid bodies are attached. n is the number of modes.

    Attributes:
        position: undeformed, in the clamped frame (3, m).
        translation: U, displacement per unit of each modal coordinate (3 × n).
        rotation: Θ, small rotation vector of the section per unit of each modal coordinate (3 × n).
        shortening: s (n × n, symmetric): foreshortening moves the section by −½ fᵀ s f along x; zero to leave it out.
        body: pseudo-inertia (4 × 4) of the rigid bodies on it, in the station's frame.
    """

    position: Array
    translation: Array
    rotation: Array
    shortening: Array
    body: Array


def root(modes: int, body: Array | None = None) -> Station:
    """The root of a link with so many modes, which does not move in the clamped frame."""
    none = np.zeros((3, modes))
    return Station(np.zeros(3), none, none, np.zeros((modes, modes)), np.zeros((4, 4)) if body is None else body)


@dataclass(frozen=True, eq=False)
class ModalInertia(ByValue):
    """Integrals over the mass of a link, in its clamped frame (CB20, CB29; section inertia and shortening are ours).

    r̂ = (r; 1) is an undeformed point, φ̂_j = (φ_j; 0) its displacement in *shape* j. The first n shapes are the modes,
    with the modal coordinates f. By others a bent beam shortens: stretches along x, with coordinates that follow,
    −½ fᵀ S_b f.

    Attributes:
        rigid: C = ∫ r̂ r̂ᵀ dm (4 × 4): the pseudo-inertia of the undeformed link.
        first: C_j = ∫ r̂ φ̂_jᵀ dm of all shapes (N × 4 × 4).
        second: C_jk = ∫ φ̂_j φ̂_kᵀ dm of all shapes (N × N × 4 × 4), C_kj = C_jkᵀ.
        shortening: S_b (N − n matrices, n × n, symmetric); none to leave it out.
        stiffness: K_f (n × n).
    """

    rigid: Array
    first: Array
    second: Array
    shortening: Array
    stiffness: Array

    @property
    def modes(self) -> int:
        """n."""
        return len(self.stiffness)

    @property
    def shapes(self) -> int:
        """N."""
        return len(self.first)

    def coordinates(self, f: Matrix) -> Matrix:
        """g = (f, −½ fᵀ S_b f) of all shapes (N)."""
        return ca.vertcat(f, *(-ca.dot(f, spatial.constant(s) @ f) / 2 for s in self.shortening))

    def coordinates_jacobian(self, f: Matrix) -> Matrix:
        """∂g/∂f (N × n)."""
        return ca.vertcat(ca.DM.eye(self.modes), *(-(spatial.constant(s) @ f).T for s in self.shortening))

    def coordinates_bias(self, v: Matrix) -> Matrix:
        """Σ ∂²g/∂f_j∂f_k ḟ_j ḟ_k (N): what g accelerates with when f does not."""
        follow = (-ca.dot(v, spatial.constant(s) @ v) for s in self.shortening)
        return ca.vertcat(ca.DM(self.modes, 1), *follow)


def rigid_link(body: Array) -> ModalInertia:
    """The case without modes: a pseudo-inertia (4 × 4)."""
    none = np.zeros((0, 0))
    return ModalInertia(body, np.zeros((0, 4, 4)), np.zeros((0, 0, 4, 4)), np.zeros((0, 0, 0)), none)


@dataclass(frozen=True, eq=False)
class Element:
    """A joint and the link that it moves.

    Attributes:
        name: of the joint.
        type: its motion (revolute or prismatic).
        parent: index of the parent element, −1 for the universe.
        attached: index of the parent's station that the joint stands on; 0 is the root.
        placement: P, the joint frame in that station's frame (4 × 4).
        clamped: Q, the clamped frame in the link frame (4 × 4).
        inertia: of the link.
        stations: root first.
        idx_q, idx_v: where the joint's coordinates start in q and v.
        first_mode: where the modal coordinates start in v; in q they start ``nq − nv`` of the robot later.
    """

    name: str
    type: JointType
    parent: int
    attached: int
    placement: Array
    clamped: Array
    inertia: ModalInertia
    stations: tuple[Station, ...]
    idx_q: int
    idx_v: int
    first_mode: int
    mode_names: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Coordinates:
    """Which entries of q and v are whose."""

    nv: int
    behind: int

    @classmethod
    def of(cls, elements: Sequence[Element]) -> Coordinates:
        """Those of a robot: joints, and modes."""
        return cls(sum(e.type.nv + e.inertia.modes for e in elements), sum(e.type.nq - e.type.nv for e in elements))

    @property
    def nq(self) -> int:
        """Length of q."""
        return self.nv + self.behind

    def joint(self, element: Element, q: Matrix) -> Matrix:
        """Of q the joint's own."""
        return q[element.idx_q : element.idx_q + element.type.nq]

    def modes(self, element: Element, q: Matrix) -> Matrix:
        """Of q the modal coordinates f."""
        first = element.first_mode + self.behind
        return q[first : first + element.inertia.modes]

    def joint_rate(self, element: Element, v: Matrix) -> Matrix:
        """Of v (or a) the joint's own."""
        return v[element.idx_v : element.idx_v + element.type.nv]

    def modal_rate(self, element: Element, v: Matrix) -> Matrix:
        """Of v (or a) the modes' own."""
        return v[element.first_mode : element.first_mode + element.inertia.modes]


def without_rounding(x: Array) -> Array:
    """Zero in place of what is rounding beside the largest number."""
    return np.where(np.abs(x) <= 4 * np.finfo(float).eps * np.abs(x).max(initial=0), 0.0, x)
