"""Viscous damping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.dynamics.forces.force import Force
from gdalembert.errors import ArgumentError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.arrays import ByValue

_INDEFINITE = 1e-12
"""How far below 0 the least eigenvalue of D may lie by rounding, relative to the largest entry."""


@dataclass(frozen=True, eq=False)
class Damping(ByValue, Force):
    """Viscous damping: torque D v.

    Attributes:
        matrix: D (nv × nv), symmetric and positive semidefinite [N m s/rad, N s/m].

    Raises:
        ArgumentTypeError: if D does not consist of numbers.
        ArgumentError: if it is not a finite, symmetric, positive semidefinite matrix.
    """

    name: ClassVar[str] = "damping"

    matrix: npt.ArrayLike

    def __post_init__(self) -> None:
        d = numbers("Damping: matrix", self.matrix)
        if d.ndim != 2 or d.shape[0] != d.shape[1]:
            raise ArgumentError(f"Damping: matrix has shape {d.shape}; give D (nv × nv)")
        allowed = _INDEFINITE * np.abs(d).max(initial=0)
        if np.abs(d - d.T).max(initial=0) > allowed or np.linalg.eigvalsh(d).min(initial=0) < -allowed:
            raise ArgumentError("Damping: matrix is not symmetric and positive semidefinite; it would drive the robot")
        object.__setattr__(self, "matrix", d)

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """D v."""
        return spatial.constant(self.matrix) @ v

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """vᵀ D v [W]."""
        return ca.dot(v, self.torque(q, v))
