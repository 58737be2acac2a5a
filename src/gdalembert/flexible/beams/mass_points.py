"""A flexible link as mass points: sums over its cross sections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdalembert.spatial.arrays import Array

_SINGULAR = 1e-12
"""Of second moments of mass, relative to the largest: below it the sections lie on a line, or at a point."""


def skews(columns: Array) -> Array:
    """[ϑ×] of vectors (…, 3), (…, 3, 3)."""
    matrices = np.zeros((*columns.shape, 3))
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrices[..., a, b], matrices[..., b, a] = -columns[..., c], columns[..., c]
    return matrices


@dataclass(frozen=True, eq=False)
class MassPoints:
    """The m cross sections of a link: masses (m), positions r (m × 3), second moments about them (m × 3 × 3),
    translations u and rotations ϑ of the shapes (N × m × 3), and S_b of the stretches (:class:`ModalInertia`)."""

    masses: Array
    positions: Array
    moments: Array
    translations: Array
    rotations: Array
    shortening: Array

    @classmethod
    def of(
        cls, masses: Array, positions: Array, moments: Array, translations: Array, rotations: Array, s: Array
    ) -> MassPoints:
        """From modes that shorten the link by s_jk (n × n × m, zero without foreshortening).

        The masses shorten by the fit s_jk ≈ S_jk·(r; 1), weighted by mass. It preserves ∫ s dm and ∫ r s dm, which are
        all effects of s to second order in f. The kinetic energy remains that of a motion, so that M is positive
        definite at any f, and a beam needs two stretches instead of a shape for every product of modes.
        """
        r = np.column_stack([positions, np.ones(len(masses))])
        r = r[:, r.any(axis=0)]
        fit = np.linalg.pinv((r.T * masses) @ r, rcond=_SINGULAR, hermitian=True)
        shortening = np.einsum("ba,am,jkm->bjk", fit, r.T * masses, s)
        if not shortening.any():
            shortening, r = shortening[:0], r[:, :0]
        stretches = np.zeros((len(shortening), len(masses), 3))
        stretches[..., 0] = r.T
        return cls(
            masses,
            positions,
            moments,
            np.concatenate([translations, stretches]),
            np.concatenate([rotations, np.zeros_like(stretches)]),
            (shortening + shortening.transpose(0, 2, 1)) / 2,
        )

    def sums(self, *, absolute: bool = False) -> dict[str, Array]:
        """C, C_j, C_jk and S_b; or their magnitudes, from the absolute values of all summands."""
        m, u, moments = self.masses, self.translations, self.moments
        r, turns, n = np.column_stack([self.positions, np.ones(len(m))]), skews(self.rotations), len(u)
        if absolute:
            r, u, turns = (np.abs(each) for each in (r, u, turns))
        first, second = np.zeros((n, 4, 4)), np.zeros((n, n, 4, 4))
        rigid = np.einsum("m,ma,mb->ab", m, r, r)
        rigid[:3, :3] += moments.sum(axis=0)
        first[:, :, :3] = np.einsum("ma,jmb->jab", m[:, None] * r, u, optimize=True)
        first[:, :3, :3] += np.einsum("mac,jmbc->jab", moments, turns, optimize=True)
        second[:, :, :3, :3] = np.einsum("jma,kmb->jkab", m[:, None] * u, u, optimize=True)
        second[:, :, :3, :3] += np.einsum("jmad,kmbd->jkab", turns @ moments, turns, optimize=True)
        shortening = self.shortening
        if absolute:  # the magnitude of a fit is that of its largest entry
            largest = np.abs(shortening).max(axis=(1, 2), keepdims=True, initial=0)
            shortening = np.broadcast_to(largest, shortening.shape)
        return {"rigid": rigid, "first": first, "second": second, "shortening": shortening}
