"""The inertia of a strain segment: integrals over its mass, exact for the interpolated centreline."""

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
        root = math.sqrt(factor)
        return replace(
            self,
            mass=factor * self.mass,
            particles=frozen(root * self.particles),
            weights=frozen(root * self.weights),
            sections=frozen(factor * self.sections),
        )

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
        second: Matrix = ca.DM(3, 3)
        for z in points:
            second = second + spatial.outer(z)
        for r, section in zip(at.rotations, self.sections, strict=True):
            second = second + spatial.congruence(r, spatial.constant(section))
        lever = (first + self.mass / 2 * root) @ root.T
        first = first + self.mass * root
        return spatial.rows((second + lever + lever.T, first), (first.T, self.mass))

    def first_moment(self, f: Matrix) -> Matrix:
        """What the coordinates f add to the first moment at f = 0 (3, kg m)."""
        return self.pseudo_inertia(SegmentAtQ(self.segment, f))[:3, 3] - spatial.constant(self.rigid)[:3, 3]
