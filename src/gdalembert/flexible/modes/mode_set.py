"""Sets of shape functions: their common class, several sets joined, and linear combinations of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.spatial.arguments import integer, listed, number, numbers
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief

_ROOT = 1e-9
"""Largest value of a shape at the root, relative to its largest anywhere."""


class ModeSet(Brief, ABC):
    """Shapes along a beam, in their order. Immutable; equal, hashed and pickled by value.

    Attributes:
        normalisation: the scale of the shapes, in words.
    """

    normalisation: ClassVar[str]

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """One for each shape."""

    @property
    def roots(self) -> tuple[float, ...]:
        """β l of each shape; empty where shapes have none."""
        return ()

    @property
    @abstractmethod
    def panels(self) -> int:
        """Number of equal panels of the beam on which 20 Gauss points integrate products of two shapes to rounding."""

    def breaks(self, length: float) -> tuple[float, ...]:
        """Abscissae [m] where a derivative jumps."""
        return ()

    @abstractmethod
    def _derivative(self, order: int, eta: Array, length: float) -> Array:
        """The derivative of each shape with respect to η, n × m."""

    def __len__(self) -> int:
        return len(self.names)

    def __add__(self, other: ModeSet) -> ModeSet:
        if not isinstance(other, ModeSet):
            return NotImplemented
        return Joined(sum((modes.sets if isinstance(modes, Joined) else (modes,) for modes in (self, other)), ()))

    @property
    def _made_of(self) -> tuple[ModeSet, ...]:
        """The sets whose shapes these are made of."""
        return ()

    def value(self, abscissae: npt.ArrayLike, length: float) -> Array:
        """The shapes at abscissae (m,) [m] of a beam of a length l [m], n × m.

        Raises:
            ArgumentError: if an abscissa does not lie on the beam.
        """
        return self._derivative(0, *_on_beam(abscissae, length))

    def slope(self, abscissae: npt.ArrayLike, length: float) -> Array:
        """Derivatives of the shapes with respect to η, n × m."""
        return self._derivative(1, *_on_beam(abscissae, length))

    def curvature(self, abscissae: npt.ArrayLike, length: float) -> Array:
        """Second derivatives of the shapes with respect to η, n × m."""
        return self._derivative(2, *_on_beam(abscissae, length))

    def scaled(self, factors: npt.ArrayLike) -> ModeSet:
        """The shapes times a factor, or times one each (n); modal coordinates are divided by it.

        Raises:
            ArgumentTypeError: if factors are not numbers.
            ArgumentError: if their count does not fit, or one is zero or not finite.
        """
        checked = numbers("scaled: factors", factors)
        if checked.shape not in ((), (len(self),)):
            raise ArgumentError(f"scaled: factors: got shape {checked.shape}; give one, or {len(self)}")
        if not checked.all():
            raise ArgumentError("scaled: factors: one is 0; leave the mode out by selected")
        return self.combined(np.diag(np.broadcast_to(checked, (len(self),))))

    def selected(self, indices: int | Sequence[int]) -> ModeSet:
        """Some of the shapes, by their indices from 0, in the order given.

        Raises:
            ArgumentTypeError: if they are not integers.
            ArgumentError: if there are none, one is twice there, or there is no such shape.
        """
        chosen = [indices] if isinstance(indices, int) else listed(indices)
        if chosen is None:
            raise ArgumentTypeError(f"selected: got {shown(indices)}; give an index, or a list of them")
        kept = [integer("selected: index", k, 0) for k in chosen]
        if not kept or len(set(kept)) < len(kept) or max(kept) >= len(self):
            raise ArgumentError(f"selected: got {shown(chosen)}; give different indices from 0 to {len(self) - 1}")
        return self.combined(np.eye(len(self))[kept])

    def combined(self, coefficients: npt.ArrayLike) -> ModeSet:
        """k shapes, linear combinations of the n of this set: coefficients k × n.

        Raises:
            ArgumentTypeError: if coefficients are not numbers.
            ArgumentError: if their shape does not fit, or one is not finite.
        """
        checked = numbers("combined: coefficients", coefficients)
        if checked.ndim != 2 or checked.shape[1] != len(self) or not len(checked):
            raise ArgumentError(f"combined: coefficients: got shape {checked.shape}; give k × {len(self)}")
        return Combined(self, tuple(map(tuple, checked.tolist())))

    def check_root(self, context: str, length: float, *, bending: bool) -> None:
        """Refuse shapes that are not clamped at the root: whose value, or in bending slope, is not zero there."""
        size = np.abs(self.value(np.linspace(0, length, 101), length)).max(axis=1)
        for k, name in enumerate(self.names):
            if size[k] == 0:
                raise ArgumentError(f"{context}: mode {k + 1} ({name}) is zero all along the beam; leave it out")
        ends = [("value", self.value(0.0, length)[:, 0], 1.0)]
        if bending:
            ends.append(("slope", self.slope(0.0, length)[:, 0], length))
        for quantity, at_root, unit in ends:
            for k, name in enumerate(self.names):
                if not abs(at_root[k]) * unit <= _ROOT * size[k]:
                    raise ArgumentError(
                        f"{context}: mode {k + 1} ({name}) has the {quantity} {at_root[k]:.6g} at the root, where the "
                        f"beam is clamped; give shapes with {'value and slope' if bending else 'value'} zero there"
                    )
        self.check_derivatives(context, length, bending=bending)

    def check_derivatives(self, context: str, length: float, *, bending: bool) -> None:
        """Refuse a slope, or in bending a curvature, that is not the derivative, where it is not our own."""
        for modes in self._made_of:
            modes.check_derivatives(context, length, bending=bending)


def _on_beam(abscissae: npt.ArrayLike, length: float) -> tuple[Array, float]:
    end = number("length", length, "m")
    eta = np.atleast_1d(numbers("abscissae", abscissae, finite=False))
    if eta.ndim > 1 and eta.shape != (len(eta), 1):
        raise ArgumentError(f"abscissae have shape {eta.shape}; give (m,)")
    eta = eta.ravel()
    off = ~((eta >= -ROUND_OFF * end) & (eta <= (1 + ROUND_OFF) * end))
    if off.any():
        raise ArgumentError(f"abscissa {eta[off][0]:g} m does not lie on the beam, which goes from 0 to {end:g} m")
    return np.clip(eta, 0, end), end


@dataclass(frozen=True)
class Joined(ModeSet):
    """Several sets, one after the other."""

    normalisation: ClassVar[str] = "each set its own"
    sets: tuple[ModeSet, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for modes in self.sets for name in modes.names)

    @property
    def panels(self) -> int:
        return max(modes.panels for modes in self.sets)

    def breaks(self, length: float) -> tuple[float, ...]:
        return tuple(sorted({b for modes in self.sets for b in modes.breaks(length)}))

    def _derivative(self, order: int, eta: Array, length: float) -> Array:
        return np.vstack([modes._derivative(order, eta, length) for modes in self.sets])

    @property
    def _made_of(self) -> tuple[ModeSet, ...]:
        return self.sets


@dataclass(frozen=True)
class Combined(ModeSet):
    """Linear combinations of the shapes of a set; a multiple of one shape keeps its name and its root."""

    normalisation: ClassVar[str] = "as combined"
    of: ModeSet
    coefficients: tuple[tuple[float, ...], ...]

    @property
    def _multiples(self) -> list[int | None]:
        """Index, for each shape, of the one that it is a multiple of, if so."""
        nonzero = [np.flatnonzero(row) for row in np.array(self.coefficients)]
        return [int(row[0]) if len(row) == 1 else None for row in nonzero]

    @property
    def names(self) -> tuple[str, ...]:
        names = self.of.names
        return tuple(f"combination {j + 1}" if k is None else names[k] for j, k in enumerate(self._multiples))

    @property
    def roots(self) -> tuple[float, ...]:
        multiples = [k for k in self._multiples if k is not None]
        one_each = len(multiples) == len(self.coefficients) and self.of.roots
        return tuple(self.of.roots[k] for k in multiples) if one_each else ()

    @property
    def panels(self) -> int:
        return self.of.panels

    def breaks(self, length: float) -> tuple[float, ...]:
        return self.of.breaks(length)

    def _derivative(self, order: int, eta: Array, length: float) -> Array:
        return np.asarray(np.array(self.coefficients) @ self.of._derivative(order, eta, length))

    @property
    def _made_of(self) -> tuple[ModeSet, ...]:
        return (self.of,)
