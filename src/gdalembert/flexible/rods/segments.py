"""Strain segments of a beam: nodes, steps, and the integrals over mass and stiffness.

On a segment from η₀ to η₁, with x = −1 … 1, coordinate d of a strain multiplies Legendre's polynomial P_d(x). The nodes
are those of Lobatto's rule with degree + 5 points, so that M and tau are right to 1e-6 where a segment bends by half a
radian; several segments of constant strain are with 4. (By measurement; ours.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre

from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.beams.quadrature import Quadrature, converged
from gdalembert.model.joints.strain_segment import Step, StrainSegment, StrainStation
from gdalembert.model.rounding import ROUND_OFF, clean_matrix, drop
from gdalembert.model.segment_inertia import SegmentInertia
from gdalembert.spatial.arrays import Array, frozen

STRAINS = {
    "torsion": (0, 0, 1, "GJ"),
    "bending_y": (0, 2, 1, "EI_z"),
    "bending_z": (0, 1, -1, "EI_y"),
    "elongation": (1, 0, 1, "EA"),
    "shear_y": (1, 1, 1, "GA_y"),
    "shear_z": (1, 2, 1, "GA_z"),
}
"""κ (0) or ν (1), its component and sign, and the stiffness: ``bending_z`` bends towards z, as a turn about −y does."""

Rest = Mapping[str, Callable[[Array], Array]]
"""The strain at rest, as functions of the abscissae [m], by name."""


@dataclass(frozen=True, eq=False)
class BeamSegment:
    """The part of a beam between two abscissae, with strains of a degree, in the clamped frame turned by ``axes``.

    Attributes:
        beam: the whole beam. ``start``, ``length``: η₀ and η₁ − η₀ [m]. ``strains``: names. ``degree``: of each.
        rest: strain of the unloaded rod.
        axes: the clamped frame in the link frame (3 × 3). ``origin``: the root of the segment there (3, m).
    """

    beam: Beam
    start: float
    length: float
    strains: tuple[str, ...]
    degree: int
    rest: Rest
    axes: Array
    origin: Array

    @property
    def is_whole(self) -> bool:
        """Whether the rod has no other segment."""
        return self.length == self.beam.require_length()

    @property
    def nodes(self) -> Array:
        """Abscissae of the nodes, from 0 to the length [m]."""
        number = self.degree + (_NODES if self.degree or self.is_whole else _NODES - 1)
        inner = np.sort(legendre.legroots(legendre.legder([0.0] * (number - 1) + [1.0])))
        inner = (inner - inner[::-1]) / 2  # symmetric to the last bit: equal steps are the same expression
        return np.concatenate([[0.0], (inner + 1) / 2 * self.length, [self.length]])

    def segment(self) -> StrainSegment:
        """The kinematics."""
        nodes = self.nodes
        steps = [self.step(a, b) for a, b in itertools.pairwise(nodes)]
        shared = steps[: (len(steps) + 1) // 2]
        if self.degree == 0 and not self.rest:
            steps = shared + shared[: len(steps) // 2][::-1]
        tangents = frozen([self._columns(1, np.array([s]))[..., 0] for s in nodes])
        return StrainSegment(tuple(steps), tangents, frozen(self.origin))

    def step(self, a: float, b: float) -> Step:
        """The rotation from abscissa a to b of the segment [m]."""
        over = Quadrature.of(a, b, 4, np.array(self.beam.breaks) - self.start)
        columns, x = self._columns(0, over.points), (over.points - (a + b) / 2) / (b - a)
        size = np.abs(columns) @ over.weights
        powers = (columns * over.weights) @ np.column_stack([np.ones_like(x), 12 * x, 180 * x**2 - 15])
        return Step(frozen(drop(np.moveaxis(powers, 2, 0), _NOISE * size)))

    def stations(self, etas: Sequence[float]) -> list[float]:
        """Those of the abscissae of the beam [m] that lie on the segment beyond its root, after its end."""
        near, end = ROUND_OFF * self.beam.require_length(), self.start + self.length
        inside = [eta for eta in etas if self.start + near < eta < end - near]
        return [next((eta for eta in etas if abs(eta - end) <= near), end), *sorted(inside)]

    def station(self, segment: StrainSegment, eta: float, names: tuple[str, ...]) -> StrainStation:
        """The section at an abscissa of the beam [m]; ``names``: of the coordinates."""
        nodes, s = self.nodes, eta - self.start
        if abs(s - nodes).min() <= ROUND_OFF * self.length:
            s = float(nodes[abs(s - nodes).argmin()])
        node = int(np.searchsorted(nodes, s, side="right")) - 1
        weights = frozen(clean_matrix(self._weights(np.array([s]))[0]))
        step = None if nodes[node] == s else self.step(nodes[node], s)
        return StrainStation(segment, weights, node, step, frozen(self.axes[:, 0]), names)

    def inertia(self, segment: StrainSegment) -> SegmentInertia:
        """Mass and stiffness."""
        beam, n = self.beam, len(self.nodes)

        def mass(panels: int) -> tuple[Array, Array]:
            over = Quadrature.of(0.0, self.length, panels, np.array(beam.breaks) - self.start)
            at = self.start + over.points
            mu = beam.along("mass_per_length", at) * over.weights
            a = np.column_stack([self._weights(over.points), np.ones(len(at))])
            lagrange, j = self._lagrange(over.points), np.array(beam.section_inertias(at)) * over.weights
            parts = [(a.T * mu) @ a, *(x @ lagrange for x in j)]
            sizes = [(np.abs(a.T) * mu) @ np.abs(a), *(np.abs(x) @ np.abs(lagrange) for x in j)]
            return np.concatenate([x.ravel() for x in parts]), np.concatenate([x.ravel() for x in sizes])

        found = converged("CosseratRod", mass, 2)[0]
        gram, (j_y, j_z) = found[: (n + 1) ** 2].reshape(n + 1, n + 1), found[(n + 1) ** 2 :].reshape(2, n)
        particles = np.linalg.cholesky(gram[:n, :n])
        sections = [self.axes @ np.diag([0.0, zz, yy]) @ self.axes.T for yy, zz in zip(j_y, j_z, strict=True)]
        return SegmentInertia(
            segment=segment,
            mass=float(gram[n, n]),
            particles=frozen(particles),
            weights=frozen(np.linalg.solve(particles, gram[:n, n])),
            sections=frozen([clean_matrix(x) for x in sections]),
            stiffness=frozen(self._stiffness()),
        )

    def _stiffness(self) -> Array:
        """K = ∫ Φᵀ diag(GJ, EI, EA, GA) Φ ds."""

        def stiffness(panels: int) -> tuple[Array, Array]:
            over = Quadrature.of(0.0, self.length, panels, np.array(self.beam.breaks) - self.start)
            at, basis = self.start + over.points, self._basis(over.points)
            weights = [self.beam.along(STRAINS[name][3], at) * over.weights for name in self.strains]
            blocks = np.array([(basis.T * w) @ basis for w in weights])
            return blocks, np.array([(np.abs(basis.T) * w) @ np.abs(basis) for w in weights])

        blocks, sizes = converged("CosseratRod", stiffness, 2)
        count = self.degree + 1
        k = np.zeros((len(self.strains) * count,) * 2)
        for i, block in enumerate(drop(blocks, _NOISE * sizes)):
            k[i * count : (i + 1) * count, i * count : (i + 1) * count] = block
        return (k + k.T) / 2

    def _x(self, s: Array) -> Array:
        return 2 * s / self.length - 1

    def _basis(self, s: Array) -> Array:
        """P_d (m × degree + 1) at abscissae of the segment (m,)."""
        return np.asarray(legendre.legvander(self._x(s), self.degree))

    def _columns(self, kind: int, s: Array) -> Array:
        """κ (kind 0) or ν (1) per unit of each coordinate and, last, at q = 0, in link axes: 3 × (n + 1) × m."""
        count = self.degree + 1
        columns = np.zeros((3, len(self.strains) * count + 1, len(s)))
        columns[0, -1] = kind
        for i, name in enumerate(self.strains):
            own, component, sign, _ = STRAINS[name]
            if own == kind:
                columns[component, i * count : (i + 1) * count] = sign * self._basis(s).T
        for name, rest in self.rest.items():
            own, component, sign, _ = STRAINS[name]
            if own == kind:
                columns[component, -1] += sign * rest(self.start + s)
        return np.asarray(np.einsum("ab,bkm->akm", self.axes, columns))

    def _lagrange(self, s: Array) -> Array:
        """ℓ_j (m × nodes) at abscissae (m,)."""
        degree = len(self.nodes) - 1
        inverse = np.linalg.inv(legendre.legvander(self._x(self.nodes), degree))
        values: Array = legendre.legvander(self._x(s), degree) @ inverse
        return values

    def _weights(self, s: Array) -> Array:
        """a_j = ∫₀ˢ ℓ_j (m × nodes) at abscissae (m,)."""
        degree = len(self.nodes) - 1
        inverse = np.linalg.inv(legendre.legvander(self._x(self.nodes), degree))
        p = legendre.legvander(self._x(s), degree + 1)
        # ∫₋₁ˣ P_d = (P_d+1 − P_d−1) / (2d + 1)
        below = np.column_stack([-np.ones(len(s)), p[:, :degree]])
        integrals = (p[:, 1:] - below) / (2 * np.arange(degree + 1) + 1)
        return np.asarray(integrals @ inverse * self.length / 2)


_NODES = 5
"""More than the degree."""

_NOISE = 1e-14
"""Integrals below this multiple of ∫ |…| are zero (orthogonal polynomials)."""


@dataclass(frozen=True)
class Settings:
    """What a rod says of its segments: how many, the strains and their degree, and the strain at rest."""

    segments: int
    strains: tuple[str, ...]
    degree: int
    rest: Rest

    def along(self, beam: Beam, placement: Array) -> list[BeamSegment]:
        """The segments of a beam with a length, whose clamped frame is placed so in the link frame (4 × 4)."""
        own = self.strains, self.degree, self.rest, placement[:3, :3]
        length = beam.require_length() / self.segments
        roots = [placement[:3, 3], *[np.zeros(3)] * (self.segments - 1)]
        return [BeamSegment(beam, k * length, length, *own, root) for k, root in enumerate(roots)]

    @property
    def names(self) -> list[tuple[str, ...]]:
        """Of the coordinates of each segment: ``"bending_y P0"``, ``"segment 2 torsion P1"``, …"""
        each = [f"{strain} P{d}" for strain in self.strains for d in range(self.degree + 1)]
        if self.segments == 1:
            return [tuple(each)]
        return [tuple(f"segment {k} {name}" for name in each) for k in range(1, self.segments + 1)]
