"""Shapes from a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError
from gdalembert.flexible.modes.mode_set import ModeSet
from gdalembert.spatial.arguments import number, numbers
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True)
class Sampled(ModeSet):
    """Piecewise cubic shapes through values with slopes at abscissae [m]."""

    normalisation: ClassVar[str] = "as sampled"
    abscissae: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    slopes: tuple[tuple[float, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"sampled {j + 1}" for j in range(len(self.values)))

    @property
    def panels(self) -> int:
        return 1

    def breaks(self, length: float) -> tuple[float, ...]:
        return self.abscissae[1:-1]

    def _derivative(self, order: int, eta: Array, length: float) -> Array:
        knots = np.array(self.abscissae)
        if abs(knots[-1] - length) > 1e-9 * length:
            raise ArgumentError(
                f"sampled: the last abscissa is {knots[-1]:g} m and the beam is {length:g} m long; sample up to its tip"
            )
        k = np.clip(np.searchsorted(knots, eta, side="right") - 1, 0, len(knots) - 2)
        h = np.diff(knots)[k]
        f, df = np.array(self.values), np.array(self.slopes)
        rise = (f[:, k + 1] - f[:, k]) / h
        c2, c3 = (3 * rise - 2 * df[:, k] - df[:, k + 1]) / h, (df[:, k] + df[:, k + 1] - 2 * rise) / h**2
        coefficients = (f[:, k], df[:, k], c2, c3)
        t, total = eta - knots[k], np.zeros((len(f), eta.size))
        for power in range(order, 4):
            total += math.perm(power, order) * coefficients[power] * t ** (power - order)
        return total


def sampled(
    abscissae: npt.ArrayLike,
    values: npt.ArrayLike,
    slopes: npt.ArrayLike | None = None,
    *,
    root_slope: float | None = 0.0,
) -> ModeSet:
    """Shapes from a table, normalised as it is.

    Args:
        abscissae: 0 … l [m], rising (m,).
        values: n × m; m for a single shape.
        slopes: derivatives with respect to η, n × m: the shapes are then Hermite's cubics. Without them the shapes are
            cubic splines, not-a-knot at the tip.
        root_slope: of a spline at the root: zero for bending; ``None`` for torsion and extension: not-a-knot.

    Raises:
        ArgumentTypeError: if they are not numbers.
        ArgumentError: if shapes or counts do not fit, a number is not finite, or abscissae do not rise from 0.
    """
    eta, f = numbers("sampled: abscissae", abscissae), np.atleast_2d(numbers("sampled: values", values))
    if eta.ndim != 1 or eta.size < 2 or eta[0] != 0 or np.any(np.diff(eta) <= 0):
        raise ArgumentError(f"sampled: abscissae: got {np.array2string(eta, threshold=8)}; give 0 … l [m], rising")
    if f.ndim != 2 or f.shape[1] != eta.size or not f.size:
        raise ArgumentError(f"sampled: values: got shape {f.shape}; give n × {eta.size}, one for each abscissa")
    if slopes is None:
        df = _spline_slopes(eta, f, root_slope)
    elif (df := np.atleast_2d(numbers("sampled: slopes", slopes))).shape != f.shape:
        raise ArgumentError(f"sampled: slopes: got shape {df.shape}; give {f.shape[0]} × {f.shape[1]}, as values")
    return Sampled(tuple(eta.tolist()), tuple(map(tuple, f.tolist())), tuple(map(tuple, df.tolist())))


def _spline_slopes(eta: Array, f: Array, root_slope: float | None) -> Array:
    """Slopes at the knots that make the curvature continuous."""
    m, h = eta.size, np.diff(eta)
    least = 4 if root_slope is None else 3
    if m < least:
        raise ArgumentError(f"sampled: {m} abscissae are too few for a spline; give at least {least}, or slopes")
    a, b, rise = np.zeros((m, m)), np.zeros((m, len(f))), (np.diff(f, axis=1) / h).T
    for k in range(1, m - 1):
        a[k, k - 1 : k + 2] = h[k], 2 * (h[k - 1] + h[k]), h[k - 1]
        b[k] = 3 * (h[k] * rise[k - 1] + h[k - 1] * rise[k])
    # not-a-knot: the third derivative of the last two pieces, or the first two, is one
    a[-1, -3:], b[-1] = _one_cubic(h[-2], h[-1], rise[-2], rise[-1])
    if root_slope is None:
        a[0, :3], b[0] = _one_cubic(h[0], h[1], rise[0], rise[1])
    else:
        a[0, 0], b[0] = 1, number("sampled: root_slope", root_slope, least=-math.inf)
    return np.asarray(np.linalg.solve(a, b).T, dtype=np.float64)


def _one_cubic(h0: float, h1: float, rise0: Array, rise1: Array) -> tuple[Array, Array]:
    """(d0 + d1 − 2 rise0) / h0² = (d1 + d2 − 2 rise1) / h1² as a row for (d0, d1, d2) and a right-hand side."""
    return np.array([h1**2, h1**2 - h0**2, -(h0**2)]), 2 * (h1**2 * rise0 - h0**2 * rise1)
