"""Integrals over the mass of a link with modes, and of a strain segment (exact for its interpolated centreline)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import casadi as ca

from gdalembert import spatial
from gdalembert.model.joints.strain_segment import SegmentAtQ, StrainSegment, weighted_sum
from gdalembert.model.rounding import clean_matrix
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, ByValue, frozen


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
        """n."""
        return len(self.stiffness)

    @property
    def shapes(self) -> int:
        """N."""
        return len(self.first)

    def scaled(self, factor: float) -> ModalInertia:
        """The link with its mass multiplied by a factor."""
        return replace(self, rigid=factor * self.rigid, first=factor * self.first, second=factor * self.second)

    def placed(self, frame: Array) -> ModalInertia:
        """The integrals in a frame in which their own is placed at ``frame`` (4 × 4)."""

        def moved(x: Array) -> Array:
            return frozen(clean_matrix(frame @ x @ frame.T))

        return replace(self, rigid=moved(self.rigid), first=moved(self.first), second=moved(self.second))

    def first_moment(self, f: Matrix) -> Matrix:
        """Σ g_j ∫ φ_j dm (3, kg m): what the modal coordinates f add to that of the undeformed link."""
        g = self.coordinates(f)
        return sum((spatial.constant(x[3, :3]) * g[j] for j, x in enumerate(self.first)), ca.DM(3, 1))

    def coordinates(self, f: Matrix) -> Matrix:
        """g = (f, −½ fᵀ S_b f) of all shapes (N)."""
        return ca.vertcat(f, *(-ca.dot(f, spatial.constant(s) @ f) / 2 for s in self.shortening))

    def coordinates_jacobian(self, f: Matrix) -> Matrix:
        """∂g/∂f (N × n)."""
        return ca.vertcat(ca.DM.eye(self.modes), *(-(spatial.constant(s) @ f).T for s in self.shortening))

    def coordinates_bias(self, v: Matrix) -> Matrix:
        """Σ ∂²g/∂f_j∂f_k ḟ_j ḟ_k (N): the acceleration of g where f̈ = 0."""
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
        """n."""
        return self.segment.coordinates

    @property
    def rigid(self) -> Array:
        """The pseudo-inertia (4 × 4) at q = 0, in link axes about the link origin."""
        whole = ca.DM(self.pseudo_inertia(SegmentAtQ(self.segment, ca.DM.zeros(self.modes))))
        return frozen(clean_matrix(whole.full()))

    def placed(self, frame: Array) -> SegmentInertia:
        """The inertia in a frame in which its own is placed at ``frame`` (4 × 4)."""
        r = frame[:3, :3]
        sections = frozen([clean_matrix(r @ section @ r.T) for section in self.sections])
        return replace(self, segment=self.segment.placed(frame), sections=sections)

    def scaled(self, factor: float) -> SegmentInertia:
        """The segment with its mass multiplied by a factor."""
        root, mass, sections = math.sqrt(factor), factor * self.mass, frozen(factor * self.sections)
        particles, weights = frozen(root * self.particles), frozen(root * self.weights)
        return replace(self, mass=mass, particles=particles, weights=weights, sections=sections)

    def points(self, tangents: list[Matrix]) -> list[Matrix]:
        """z_k of tangents, or of their derivatives."""
        return [weighted_sum(column[k:], tangents[k:]) for k, column in enumerate(self.particles.T)]

    @property
    def first_moments(self) -> Array:
        """L β = ∫ μ a ds (nodes)."""
        return self.particles @ self.weights

    def weighted(self, tangents: list[Matrix]) -> list[Matrix]:
        """Σ_k (L Lᵀ)_jk x_k of tangents, or of their derivatives."""
        return [weighted_sum(row, tangents) for row in self.particles @ self.particles.T]

    def pseudo_inertia(self, at: SegmentAtQ) -> Matrix:
        """∫ ĥ ĥᵀ dm (4 × 4), in link axes about the link origin."""
        root, points = spatial.constant(self.segment.origin), self.points(at.tangents)
        first = weighted_sum(self.weights, points)
        sections = zip(at.rotations, map(spatial.constant, self.sections), strict=True)
        second = sum((spatial.outer(z) for z in points), ca.DM(3, 3))
        second = sum((spatial.congruence(r, section) for r, section in sections), second)
        lever = (first + self.mass / 2 * root) @ root.T
        first = first + self.mass * root
        return spatial.rows((second + lever + lever.T, first), (first.T, self.mass))

    def first_moment(self, f: Matrix) -> Matrix:
        """What the coordinates f add to the first moment at f = 0 (3, kg m)."""
        return self.pseudo_inertia(SegmentAtQ(self.segment, f))[:3, 3] - spatial.constant(self.rigid)[:3, 3]
