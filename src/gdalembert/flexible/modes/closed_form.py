"""Powers, static shapes and sines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError
from gdalembert.flexible.modes.clamped import clamped_clamped
from gdalembert.flexible.modes.mode_set import ModeSet
from gdalembert.spatial.arguments import integer, numbers
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True)
class Powers(ModeSet):
    """ξ^first, ξ^(first + 1), …, ξ = η/l."""

    normalisation: ClassVar[str] = "unit value at the tip"
    first: int
    count: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"power {p}" for p in range(self.first, self.first + self.count))

    @property
    def panels(self) -> int:
        return 1 + (self.first + self.count) // 10

    def _derivative(self, order: int, eta: Array, length: float) -> Array:
        powers = range(self.first, self.first + self.count)
        falling = np.array([math.perm(p, order) for p in powers], dtype=float)[:, None]
        exponents = np.array([max(p - order, 0) for p in powers])[:, None]
        result: Array = falling * (eta / length) ** exponents / length**order
        return result


def polynomial(n: int) -> ModeSet:
    """ξ², ξ³, … (n of them), for bending; unit tip displacement, coordinates in m; ill-conditioned above n = 8."""
    return Powers(2, integer("polynomial: n", n, 1))


def from_coefficients(coefficients: npt.ArrayLike) -> ModeSet:
    """The polynomials Σ c_k ξ^k: coefficients n × K, or K of one, from c_0; normalised as they are.

    The root of the beam is clamped: c_0 is zero, and in bending c_1 too.

    Raises:
        ArgumentTypeError: if coefficients are not numbers.
        ArgumentError: if one is not finite, or there are none.
    """
    given = np.atleast_2d(numbers("from_coefficients: coefficients", coefficients))
    if given.ndim != 2 or not given.size:
        raise ArgumentError(f"from_coefficients: got shape {given.shape}; give n × K coefficients of ξ⁰, ξ¹, …")
    return Powers(0, given.shape[1]).combined(given)


def polynomial_torsion(n: int) -> ModeSet:
    """ξ, ξ², … (n of them), for torsion (coordinates in rad) or extension (in m); unit value at the tip."""
    return Powers(1, integer("polynomial_torsion: n", n, 1))


def linear() -> ModeSet:
    """ξ: uniform twist or strain, the exact static shape of a uniform beam; unit value at the tip."""
    return Powers(1, 1)


@dataclass(frozen=True)
class Hermite(ModeSet):
    """3ξ² − 2ξ³ and l (ξ³ − ξ²)."""

    normalisation: ClassVar[str] = "unit displacement of the tip (coordinate in m), unit slope of the tip (in rad)"

    @property
    def names(self) -> tuple[str, ...]:
        return "tip displacement", "tip slope"

    @property
    def panels(self) -> int:
        return 1

    def _derivative(self, order: int, eta: Array, length: float) -> Array:
        square, cube = Powers(2, 2)._derivative(order, eta, length)
        return np.array([3 * square - 2 * cube, length * (cube - square)])


def hermite() -> ModeSet:
    """The two static shapes: 3ξ² − 2ξ³, unit tip displacement [m], and l (ξ³ − ξ²), unit tip slope [rad]."""
    return Hermite()


def craig_bampton(n_interior: int) -> ModeSet:
    """:func:`hermite`, and so many modes of :func:`clamped_clamped`; none is allowed."""
    n = integer("craig_bampton: n_interior", n_interior, 0)
    return Hermite() + clamped_clamped(n) if n else Hermite()


@dataclass(frozen=True)
class Sine(ModeSet):
    """sin((2j − 1) π η / 2l)."""

    normalisation: ClassVar[str] = "∫φ² dη = l/2"
    count: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"sine {j}" for j in range(1, self.count + 1))

    @property
    def roots(self) -> tuple[float, ...]:
        return tuple((j - 0.5) * math.pi for j in range(1, self.count + 1))

    @property
    def panels(self) -> int:
        return self.count + 1

    def _derivative(self, order: int, eta: Array, length: float) -> Array:
        roots = np.array(self.roots)[:, None]
        x = roots * (eta / length)
        shape = (np.sin(x), np.cos(x), -np.sin(x), -np.cos(x))[order % 4]
        result: Array = (roots / length) ** order * shape
        return result


def sine(n: int) -> ModeSet:
    """The first n eigenmodes in torsion (coordinates in rad) or extension (in m) of a uniform beam with a free tip.

    sin((2j − 1) π η / 2l); ∫φ² dη = l/2, ±1 at the tip.
    """
    return Sine(integer("sine: n", n, 1))
