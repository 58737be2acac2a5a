"""Integrals over the mass of a link with modes, and of a strain segment (exact for its interpolated centreline).

The mass of a beam that shortens is that of particles (ours). With foreshortening the mass at r moves back by σ(r) =
Σ_b g_b r_b, g_b = ½ fᵀ S_b f, which is affine in r̂ = (r; 1) (:class:`ModalInertia`). Let k particles have the moments
of the mass, Σ m_i r̂_i r̂_iᵀ = ∫ r̂ r̂ᵀ dm, and move in each mode as its affine fit. What the modes move besides, φ_j minus
its fit, has no moment with r̂, and so none with σ: it does not feel that the link shortens. The particles and this
remainder have the kinetic energy and the weight of the link, and shortening is a matter of the particles alone, which
move like stations without bodies:

    p_i = r_i + Σ f_j u_ij − ½ (fᵀ S_i f) e_x        S_i = Σ_b S_b r̂_ib
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.joints.strain_segment import SegmentAtQ, StrainSegment, weighted_sum
from gdalembert.model.rounding import clean_matrix, drop
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, ByValue, frozen

_SINGULAR = 1e-12
"""Resolution of second moments of mass, scaled to a diagonal of ones: below it masses lie on a plane or a line."""
_BALANCED = 0.01
"""The least product of the shares in the mass of a particle at rest and of the others: one without mass would lie at
infinity."""
_ROUNDING = 1e-14
"""What a difference of integrals may be, relative to the integrals, and be zero."""


@dataclass(frozen=True, eq=False)
class ModalInertia(ByValue):
    """Integrals over the mass of a link, in a frame that is fixed at its root: that of the link, or the clamped frame.

    (CB20, CB29; section inertia and shortening are ours.)

    r̂ = (r; 1) is an undeformed point and φ̂_j = (φ_j; 0) its displacement in *shape* j. The first n shapes are the
    modes, with the modal coordinates f. The others are stretches along the beam by which a bent beam shortens; their
    coordinates follow from f: −½ fᵀ S_b f.

    Attributes:
        rigid: C = ∫ r̂ r̂ᵀ dm (4 × 4): the pseudo-inertia of the undeformed link.
        first: C_j = ∫ r̂ φ̂_jᵀ dm of all shapes (N × 4 × 4).
        second: C_jk = ∫ φ̂_j φ̂_kᵀ dm of all shapes (N × N × 4 × 4), C_kj = C_jkᵀ.
        shortening: S_b (N − n matrices, n × n, symmetric) of the stretches, which are in proportion to coordinates of
            r, the last one to 1; none without foreshortening.
        stiffness: K_f (n × n).
    """

    rigid: Array
    first: Array
    second: Array
    shortening: Array
    stiffness: Array

    @property
    def modes(self) -> int:
        """The number of coordinates n."""
        return len(self.stiffness)

    @property
    def shapes(self) -> int:
        """The number of shapes N."""
        return len(self.first)

    def scaled(self, factor: float) -> ModalInertia:
        """The link with its mass multiplied by a factor."""
        return replace(self, rigid=factor * self.rigid, first=factor * self.first, second=factor * self.second)

    def placed(self, frame: Array) -> ModalInertia:
        """The integrals in a frame in which their own is placed at ``frame`` (4 × 4)."""

        def moved(x: Array) -> Array:
            return frozen(clean_matrix(frame @ x @ frame.T))

        return replace(self, rigid=moved(self.rigid), first=moved(self.first), second=moved(self.second))

    def lumped(self, beam: Array) -> tuple[ModalInertia, tuple[tuple[float, Deflection], ...]]:
        """The part of it that does not shorten, without stretches, and the particles that do: a mass [kg], its motion.

        A link that does not shorten stays as it is. e_x is ``beam``, the unit vector along it, undeformed (3).
        """
        n = self.modes
        if self.shapes == n:
            return self, ()
        along = np.append(beam, 0.0)
        moments = np.einsum("bcij,i,j->bc", self.second[n:, n:], along, along)  # ∫ r̂_b r̂_c dm; the last function is 1
        inverse = np.linalg.pinv(moments, rcond=_SINGULAR, hermitian=True)
        affine = np.einsum("jbac,c,bd->jad", self.second[:n, n:], along, inverse)  # u_j = affine_j r_b
        values, masses = _quadrature(moments, affine.reshape(-1, len(moments)))
        places = _cleaned(np.einsum("bac,c,bi->ia", self.first[n:], along, inverse @ values))  # r̂_i
        motions = _cleaned(np.einsum("jab,bi->jia", affine, values))
        rigid, first, second = self.rigid, self.first[:n], self.second[:n, :n]
        remainder = replace(
            self,
            rigid=_cleaned(rigid - np.einsum("i,ia,ib->ab", masses, places, places), rigid),
            first=_cleaned(first - np.einsum("i,ia,jib->jab", masses, places, motions), first),
            second=_cleaned(second - np.einsum("i,jia,kib->jkab", masses, motions, motions), second),
            shortening=np.zeros((0, n, n)),
        )
        shortenings = np.einsum("bjk,bi->ijk", self.shortening, values)
        particles = (
            (float(m), Deflection(frozen(r[:3]), frozen(u[:, :3].T), frozen(np.zeros((3, n))), frozen(s), frozen(beam)))
            for m, r, u, s in zip(masses, places, motions.transpose(1, 0, 2), shortenings, strict=True)
        )
        return remainder, tuple(particles)

    def first_moment(self, f: Matrix) -> Matrix:
        """The first moment Σ g_j ∫ φ_j dm (3, kg m): what the coordinates f add to that of the undeformed link."""
        g = self.coordinates(f)
        return sum((spatial.constant(x)[3, :3].T * g[j] for j, x in enumerate(self.first)), ca.DM(3, 1))

    def coordinates(self, f: Matrix) -> Matrix:
        """The coordinates g = (f, −½ fᵀ S_b f) of all shapes (N)."""
        return ca.vertcat(f, *(-ca.dot(f, spatial.constant(s) @ f) / 2 for s in self.shortening))

    def coordinates_jacobian(self, f: Matrix) -> Matrix:
        """The Jacobian ∂g/∂f (N × n)."""
        return ca.vertcat(ca.DM.eye(self.modes), *(-(spatial.constant(s) @ f).T for s in self.shortening))

    def coordinates_bias(self, v: Matrix) -> Matrix:
        """The vector Σ ∂²g/∂f_j∂f_k ḟ_j ḟ_k (N): the acceleration of g where f̈ = 0."""
        stretches = (-ca.dot(v, spatial.constant(s) @ v) for s in self.shortening)
        return ca.vertcat(ca.DM(self.modes, 1), *stretches)


@dataclass(frozen=True, eq=False)
class SegmentInertia(ByValue):
    """The mass of a strain segment, whose centreline is at h(s) = o + Σ a_j(s) t_j (ours).

    Unit masses at z_k = Σ_j L_jk t_j have the second moments of the centreline, ∫ μ a aᵀ ds = L Lᵀ; ∫ μ a ds = L β.

    Attributes:
        segment: the segment.
        mass: ∫ μ ds.
        particles: L (nodes × nodes), lower triangular. ``weights``: β (nodes).
        sections: ∫ σ σᵀ dm of the cross sections at the nodes, in link axes (nodes × 3 × 3).
        stiffness: K (n × n).
    """

    segment: StrainSegment
    mass: float
    particles: Array
    weights: Array
    sections: Array
    stiffness: Array

    @property
    def modes(self) -> int:
        """The number of coordinates n."""
        return self.segment.coordinates

    @property
    def rigid(self) -> Array:
        """The pseudo-inertia (4 × 4) at q = 0, in link axes about the link origin."""
        whole = ca.DM(self.pseudo_inertia(SegmentAtQ(self.segment, ca.DM.zeros(self.modes))))
        return frozen(clean_matrix(whole.full()))

    def placed(self, frame: Array) -> SegmentInertia:
        """The inertia in another frame, in which its frame has the placement ``frame`` (4 × 4)."""
        r = frame[:3, :3]
        sections = frozen([clean_matrix(r @ section @ r.T) for section in self.sections])
        return replace(self, segment=self.segment.placed(frame), sections=sections)

    def scaled(self, factor: float) -> SegmentInertia:
        """The segment with its mass multiplied by a factor."""
        root, mass, sections = math.sqrt(factor), factor * self.mass, frozen(factor * self.sections)
        particles, weights = frozen(root * self.particles), frozen(root * self.weights)
        return replace(self, mass=mass, particles=particles, weights=weights, sections=sections)

    def lumped(self, beam: Array) -> tuple[SegmentInertia, tuple[tuple[float, Deflection], ...]]:
        """The segment, and no particles: its centreline shortens by itself."""
        return self, ()

    def points(self, tangents: list[Matrix]) -> list[Matrix]:
        """The points z_k of tangents, or of their derivatives."""
        return [weighted_sum(column[k:], tangents[k:]) for k, column in enumerate(self.particles.T)]

    @property
    def first_moments(self) -> Array:
        """The first moments L β = ∫ μ a ds (nodes)."""
        return self.particles @ self.weights

    def weighted(self, tangents: list[Matrix]) -> list[Matrix]:
        """The sums Σ_k (L Lᵀ)_jk x_k of tangents, or of their derivatives."""
        return [weighted_sum(row, tangents) for row in self.particles @ self.particles.T]

    def pseudo_inertia(self, at: SegmentAtQ) -> Matrix:
        """The pseudo-inertia ∫ ĥ ĥᵀ dm (4 × 4), in link axes about the link origin."""
        root, points = spatial.constant(self.segment.origin), self.points(at.tangents)
        first = weighted_sum(self.weights, points)
        sections = zip(at.rotations, map(spatial.constant, self.sections), strict=True)
        second = sum((spatial.outer(z) for z in points), ca.DM(3, 3))
        second = sum((spatial.congruence(r, section) for r, section in sections), second)
        lever = (first + self.mass / 2 * root) @ root.T
        first = first + self.mass * root
        return spatial.rows((second + lever + lever.T, first), (first.T, self.mass))

    def first_moment(self, f: Matrix) -> Matrix:
        """The change of the first moment from f = 0 to the coordinates f (3, kg m)."""
        return self.pseudo_inertia(SegmentAtQ(self.segment, f))[:3, 3] - spatial.constant(self.rigid)[:3, 3]


def _quadrature(moments: Array, motions: Array) -> tuple[Array, Array]:
    """The values of functions at k particles (b × k), k the rank of their moments, and the masses of these (k).

    Any A with A Aᵀ = moments will do. Reflections turn it so that one particle stays where it is in one of the motions,
    which are sums of the functions (rows of b), and the others have equal masses. Of the motions it is the one that
    leaves the masses least different.
    """
    scale = np.sqrt(np.where(moments.diagonal() > 0, moments.diagonal(), 1.0))
    sizes, vectors = np.linalg.eigh(moments / np.outer(scale, scale))
    kept = sizes > _SINGULAR
    root = scale[:, None] * vectors[:, kept] * np.sqrt(sizes[kept])

    def at_rest(motion: Array) -> Array:
        """The direction of a particle that does not move; its length is the root of the mass of that particle."""
        moving = root.T @ motion
        return np.asarray(root[-1] - moving * (moving @ root[-1]) / max(moving @ moving, np.finfo(float).tiny))

    def balance(direction: Array) -> float:
        share = direction @ direction / moments[-1, -1]
        return float(share * (1 - share))

    others, direction = slice(None), max(map(at_rest, motions), key=balance)
    if balance(direction) > _BALANCED:
        root, others = _reflected(root, np.eye(len(direction))[0], direction), slice(1, None)
    rest = root[:, others]
    root[:, others] = _reflected(rest, np.ones(rest.shape[1]), rest[-1])
    return root / root[-1], root[-1] ** 2


def _reflected(matrix: Array, one: Array, other: Array) -> Array:
    """The matrix times the reflection that exchanges the directions of two vectors."""
    normal = one / np.linalg.norm(one) - other / np.linalg.norm(other)
    if (length := np.linalg.norm(normal)) <= _ROUNDING:
        return matrix
    normal = normal / length
    return np.asarray(matrix - 2 * np.outer(matrix @ normal, normal))


def _cleaned(x: Array, beside: Array | None = None) -> Array:
    """Zero in place of what is rounding noise beside x, or beside other numbers."""
    size = np.abs(x if beside is None else beside).max(initial=0)
    return frozen(drop(x, _ROUNDING * float(size)))
