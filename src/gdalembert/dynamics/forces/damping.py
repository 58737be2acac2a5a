"""Viscous damping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.forces.force import Force
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, ByValue


@dataclass(frozen=True, eq=False)
class Damping(ByValue, Force):
    """Viscous damping: torque D v.

    Attributes:
        matrix: D (nv × nv), symmetric and positive semidefinite [N m s/rad, N s/m].
    """

    name: ClassVar[str] = "damping"

    matrix: Array

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """D v."""
        return spatial.constant(self.matrix) @ v

    def derivatives(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """0 and D."""
        return ca.DM(*self.matrix.shape), spatial.constant(self.matrix)

    @property
    def damping(self) -> Array:
        """D."""
        return self.matrix

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """vᵀ D v [W]."""
        return ca.dot(v, self.torque(q, v))
