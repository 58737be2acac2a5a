"""Shapes of the user's: functions, or a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.flexible.modes.mode_set import ModeSet
from gdalembert.spatial.arguments import integer, number, numbers
from gdalembert.spatial.arrays import Array

Functions: TypeAlias = tuple[Callable[[Any], Any], ...]


@dataclass(frozen=True)
class Custom(ModeSet):
    """Shapes by functions of η [m]."""

    normalisation: ClassVar[str] = "as given"
    functions: tuple[Functions, ...]
    panels: int = 8

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"custom {j + 1}" for j in range(len(self.functions)))

    def _derivative(self, order: int, eta: Array, length: float) -> Array:
        return np.array([self._one(k, order, eta) for k in range(len(self.functions))])

    def _one(self, k: int, order: int, eta: Array) -> Array:
        what = ("value", "slope", "curvature")[order]
        if order >= len(self.functions[k]):
            raise ArgumentError(f"custom: mode {k + 1} has no {what}, which bending needs; give it as third function")
        f = self.functions[k][order]
        try:
            found = f(eta)
        except (TypeError, ValueError):  # a function of single numbers
            found = [f(float(x)) for x in eta]
        try:
            values = np.broadcast_to(np.asarray(found, dtype=float), eta.shape)
        except (TypeError, ValueError):
            raise ArgumentTypeError(
                f"custom: the {what} of mode {k + 1}: expected one number for each abscissa, and "
                f"for {eta.size} of them got a {type(found).__name__}, {found!r:.40}"
            ) from None
        if not np.all(np.isfinite(values)):
            wrong = eta[~np.isfinite(values)][0]
            raise ArgumentError(f"custom: the {what} of mode {k + 1} is not finite at {wrong:g} m; give finite shapes")
        return values

    def check_derivatives(self, where: str, length: float, *, bending: bool) -> None:
        eta, w = (np.polynomial.legendre.leggauss(20)[0] + 1) / 2, np.polynomial.legendre.leggauss(20)[1] / 2
        ends = length * np.arange(1, 17) / 16
        # the integral of each derivative, on short pieces, is the growth of what it is the derivative of
        for order in range(2 if bending else 1):
            starts = ends - length / 16
            grown = self._derivative(order, ends, length) - self._derivative(order, starts, length)
            inner = (starts[:, None] + length / 16 * eta).ravel()
            slopes = self._derivative(order + 1, inner, length).reshape(len(self), 16, 20) @ w * (length / 16)
            size = np.abs(slopes).max(axis=1) + np.abs(grown).max(axis=1)
            off = np.abs(slopes - grown).max(axis=1)
            for k in range(len(self)):
                if off[k] > 1e-6 * size[k]:
                    a, b = ("value", "slope", "curvature")[order : order + 2]
                    raise ArgumentError(
                        f"{where}: mode {k + 1} (custom {k + 1}): its {b} is not the derivative of its {a}, by "
                        f"{off[k] / size[k]:.1e} of their size; give (value, slope, curvature) as functions of η [m]"
                    )


def custom(functions: Sequence[Sequence[Callable[[Any], Any]]], *, panels: int = 8) -> ModeSet:
    """Shapes by functions of η [m], normalised as they are.

    Args:
        functions: for each shape (value, slope, curvature); torsion and extension do without the curvature.
        panels: pieces of the beam on which the shapes are smooth, to begin with; integrals take more if needed.

    Raises:
        ArgumentTypeError: if one is not a function.
        ArgumentError: if there is none.
    """
    if not isinstance(functions, Sequence) or not functions:
        raise ArgumentError(f"custom: got {functions!r}; give [(value, slope, curvature), …], functions of η [m]")
    for k, each in enumerate(functions):
        if not isinstance(each, Sequence) or len(each) not in (2, 3) or not all(map(callable, each)):
            raise ArgumentTypeError(
                f"custom: mode {k + 1}: got {each!r}; give (value, slope, curvature), functions of η [m]"
            )
    return Custom(tuple(map(tuple, functions)), integer("custom: panels", panels, 1))


@dataclass(frozen=True)
class Sampled(ModeSet):
    """Piecewise cubic shapes through values with slopes at abscissae [m]."""

    normalisation: ClassVar[str] = "as sampled"
    panels: ClassVar[int] = 1
    abscissae: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    slopes: tuple[tuple[float, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"sampled {j + 1}" for j in range(len(self.values)))

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
