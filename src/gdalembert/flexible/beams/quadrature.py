"""Integrals along a beam, exact to rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.spatial.arrays import Array, frozen

POINTS = 20
"""Gauss points on each panel of a quadrature."""

_SETTLED, _DOUBTFUL, _DOUBLINGS = 1e-13, 1e-9, 7


@lru_cache
def _gauss() -> tuple[Array, Array, Array]:
    """Gauss' rule on [0, 1]: the points x, their weights, and the matrix of ∫₀^{x_k} from the values at the points."""
    t, w = np.polynomial.legendre.leggauss(POINTS)
    p = np.polynomial.legendre.legvander(t, POINTS)
    # ∫₋₁ᵗ P_d = (P_d+1 − P_d−1) / (2d + 1), and the Lagrange polynomial i is w_i Σ_d (d + ½) P_d(t_i) P_d(t)
    below = np.column_stack([-np.ones(POINTS), p[:, : POINTS - 1]])
    return frozen((t + 1) / 2), frozen(w / 2), frozen((p[:, 1:] - below) @ (p[:, :POINTS] * w[:, None]).T / 4)


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Gauss–Legendre on the panels between ``edges`` [m]: exact to rounding where a function is smooth on each."""

    edges: Array

    @staticmethod
    def of(start: float, end: float, panels: int, breaks: Sequence[float] | Array = ()) -> Quadrature:
        """Equal panels, split at the abscissae where a function may jump."""
        inside = [b for b in breaks if start < b < end]
        return Quadrature(np.unique([*np.linspace(start, end, panels + 1), *inside]))

    @cached_property
    def points(self) -> Array:
        """Abscissae (m,)."""
        return (self.edges[:-1, None] + np.diff(self.edges)[:, None] * _gauss()[0]).ravel()

    @cached_property
    def weights(self) -> Array:
        """Weights of the points (m,)."""
        return (np.diff(self.edges)[:, None] * _gauss()[1]).ravel()

    def running(self, values: Array) -> Array:
        """The integrals from the start to each point, from values (…, m) at the points."""
        shape = values.shape
        by_panel = values.reshape(*shape[:-1], -1, POINTS)
        widths = np.diff(self.edges)
        within = np.einsum("kl,...pl,p->...pk", _gauss()[2], by_panel, widths)
        whole = np.einsum("l,...pl,p->...p", _gauss()[1], by_panel, widths)
        before = np.cumsum(whole, axis=-1) - whole
        result: Array = (before[..., None] + within).reshape(shape)
        return result


def converged(
    context: str, integrals: Callable[[int], tuple[Sequence[Array], Sequence[Array]]], panels: int
) -> tuple[Sequence[Array], Sequence[Array]]:
    """The integrals and their magnitudes ∫|…|, with the number of panels doubled until they converge.

    Raises:
        ArgumentError: if they do not converge to 1e-9 of their magnitude.
    """
    values, _ = integrals(panels)
    change = math.inf
    for _ in range(_DOUBLINGS):
        panels *= 2
        coarse = values
        values, sizes = integrals(panels)
        changes = [
            np.divide(np.abs(fine - before), size, out=np.zeros_like(size), where=size > 0).max(initial=0)
            for fine, before, size in zip(values, coarse, sizes, strict=True)
        ]
        if (change := float(np.max(changes))) <= _SETTLED:
            return values, sizes
    if not change <= _DOUBTFUL:
        raise ArgumentError(
            f"{context}: the integrals along the beam still change by {change:.1e} of their size on {panels} panels; "
            "name the abscissae where its properties jump as breaks=(…)"
        )
    return values, sizes
