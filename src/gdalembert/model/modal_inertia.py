"""The inertia of the modes of a link: integrals over its mass."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from gdalembert import spatial
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
