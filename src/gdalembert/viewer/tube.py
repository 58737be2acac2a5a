"""SweptTube tubes: cross-sections along the centreline of a flexible link."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.beams.cross_sections import Rectangle, Tube
from gdalembert.flexible.beams.nodes import Nodes
from gdalembert.spatial.arrays import Array

_AROUND = 24


@dataclass(frozen=True, eq=False)
class Profile:
    """The outlines of n cross-sections, counter-clockwise about x: ``points`` (n × m × 2), y and z [m]."""

    points: Array
    is_round: bool

    @classmethod
    def circles(cls, radii: Array) -> Profile:
        """Circular cross-sections (n)."""
        angles = 2 * np.pi * np.arange(_AROUND) / _AROUND
        unit = np.column_stack([np.cos(angles), np.sin(angles)])
        return cls(radii[:, None, None] * unit, True)

    @classmethod
    def rectangles(cls, widths: Array, heights: Array) -> Profile:
        """Rectangular cross-sections (n), widths along y and heights along z."""
        corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) / 2
        return cls(corners * np.stack([widths, heights], axis=-1)[:, None, :], False)


def profile_of(beam: Beam | Nodes, abscissae: Array, radius: float) -> Profile:
    """The cross-sections of a beam.

    A beam with a cross-section has its own. A beam given by stiffness and inertia has those of the solid bar with the
    same radii of gyration: circles if both are the same, else rectangles.

    Args:
        beam: the beam of the link.
        abscissae: (n) [m].
        radius: radius if the beam does not determine its cross-sections [m].
    """
    if isinstance(beam, Beam):
        if isinstance(beam.section, Tube):
            return Profile.circles(beam.section.radii(abscissae)[0])
        if isinstance(beam.section, Rectangle):
            return Profile.rectangles(*beam.section.sides(abscissae))
        i_y, i_z = _gyration(beam, abscissae)
        if i_y is not None and i_z is not None:
            if np.allclose(i_y, i_z):
                return Profile.circles(2 * np.sqrt(i_y))
            return Profile.rectangles(np.sqrt(12 * i_z), np.sqrt(12 * i_y))
    return Profile.circles(np.full(len(abscissae), radius))


def _gyration(beam: Beam, abscissae: Array) -> tuple[Array | None, Array | None]:
    """∫σ_z² dA / A and ∫σ_y² dA / A [m²], or ``None`` if the beam does not determine them."""
    mu, (j_y, j_z) = beam.along("mass_per_length", abscissae), beam.section_inertias(abscissae)
    if j_y.min() > 0 and j_z.min() > 0:
        return j_y / mu, j_z / mu
    if beam.EA is not None and beam.EI_y is not None and beam.EI_z is not None:
        ea = beam.along("EA", abscissae)
        return beam.along("EI_y", abscissae) / ea, beam.along("EI_z", abscissae) / ea
    return None, None


@dataclass(frozen=True, eq=False)
class SweptTube:
    """A tube along a line that depends on q.

    Attributes:
        name: unique. ``joint``: index of the link in ``Tree.joints``, for its colour.
        line: (q) → (positions, rotations) of n sections, 3 × n and 3 × 3n, x along the tube.
        profile: the outlines of these sections.
    """

    name: str
    joint: int
    line: ca.Function
    profile: Profile

    @property
    def faces(self) -> Array:
        """Triangles (k × 3), counter-clockwise from outside: the wall, then the ends with vertices of their own."""
        n, m = self.profile.points.shape[:2]
        found: list[tuple[int, int, int]] = []
        for k in range(n - 1):
            for i in range(m):
                a, b = k * m + i, k * m + (i + 1) % m
                found += [(a, b, b + m), (a, b + m, a + m)]
        first, last = n * m, (n + 1) * m
        for i in range(1, m - 1):
            found += [(first, first + i + 1, first + i), (last, last + i, last + i + 1)]
        return np.array(found)

    def vertices(self, q: Array) -> Array:
        """Vertices (k × 3) [m] at a configuration (nq)."""
        positions, rotations = (x.full() for x in self.line(q))
        axes = rotations.T.reshape(-1, 3, 3)[:, 1:]
        wall = positions.T[:, None, :] + np.einsum("kia,kab->kib", self.profile.points, axes)
        return np.concatenate([wall.reshape(-1, 3), wall[0], wall[-1]])
