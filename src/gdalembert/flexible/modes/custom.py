"""Shapes by functions of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.flexible.modes.mode_set import ModeSet
from gdalembert.spatial.arguments import integer
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
