"""Shapes in closed form: powers, static shapes, sines, and the eigenmodes of a uniform beam clamped at its root."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError
from gdalembert.flexible.modes.mode_set import ModeSet
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.spatial.arguments import integer, number, numbers
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
    names: ClassVar[tuple[str, ...]] = ("tip displacement", "tip slope")
    panels: ClassVar[int] = 1

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


@dataclass(frozen=True)
class Clamped(ModeSet):
    """cosh x − cos x − s (sinh x − sin x), x = β η, times a factor: eigenmodes of a beam clamped at the root.

    Attributes:
        tip: ``"free"``, ``"clamped"`` or ``"loaded"``.
        count: how many, from the lowest.
        mass_ratio, inertia_ratio: m_t/(μ l) and j_t/(μ l³) of a loaded tip.
    """

    normalisation: ClassVar[str] = (
        "∫φ² dη = l; with a loaded tip ∫φ² dη + m_t/μ φ(l)² + j_t/μ φ'(l)² = l; modal coordinates in m"
    )
    tip: str
    count: int
    mass_ratio: float = 0.0
    inertia_ratio: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"clamped-{self.tip} {j}" for j in range(1, self.count + 1))

    @property
    def roots(self) -> tuple[float, ...]:
        return _roots(self)

    @property
    def panels(self) -> int:
        return self.count + 1

    def _derivative(self, order: int, eta: Array, length: float) -> Array:
        roots = np.array(self.roots)[:, None]
        growing, s, factor = (column[:, None] for column in _coefficients(self))
        x = roots * (eta / length)
        rising, falling = growing * np.exp(x - roots), (1 + s) * np.exp(-x)
        even, odd = (rising + falling) / 2, (rising - falling) / 2  # cosh x − s sinh x, sinh x − s cosh x
        sine, cosine = np.sin(x), np.cos(x)
        shape = (even - cosine + s * sine, odd + sine + s * cosine, even + cosine - s * sine, odd - sine - s * cosine)
        result: Array = factor * (roots / length) ** order * shape[order % 4]
        return result


@lru_cache
def _fixed_point(j: int, tip: str) -> float:
    """The root of 1 ± cos x cosh x = 0 next to (j ∓ ½) π, by a contraction to less than a third at each step."""
    start = (j - 0.5) * math.pi if tip == "free" else (j + 0.5) * math.pi
    sign = 1 if j % 2 else -1
    x = start
    for _ in range(60):
        x = start + sign * math.asin(1 / math.cosh(x))
    return x


@lru_cache
def _roots(modes: Clamped) -> tuple[float, ...]:
    if modes.tip != "loaded":
        return tuple(_fixed_point(j, modes.tip) for j in range(1, modes.count + 1))
    return tuple(_loaded_root(j, modes.mass_ratio, modes.inertia_ratio) for j in range(1, modes.count + 1))


def _loaded_root(j: int, mass: float, inertia: float) -> float:
    """The j-th root with a loaded tip, by bisection of the number of roots below (Wittrick and Williams 1971)."""
    low, high = 0.0, _fixed_point(j, "free") * (1 + ROUND_OFF)  # a load lowers every root
    while low < (middle := (low + high) / 2) < high:
        if _roots_below(middle, mass, inertia) < j:
            low = middle
        else:
            high = middle
    return high


def _roots_below(x: float, mass: float, inertia: float) -> int:
    """How many roots lie below: those with a clamped tip, and the negative eigenvalues of the tip's dynamic stiffness.

    That stiffness is, over EI/l and in units of l,
    [[x³ (c th + s) / d − m̄ x⁴, −x² s th / d], [−x² s th / d, x (s − c th) / d − j̄ x⁴]], d = 1/ch − c.
    """
    c, s, th, reciprocal = math.cos(x), math.sin(x), math.tanh(x), 1 / math.cosh(x)
    below = 0
    while below < x / math.pi and _fixed_point(below + 1, "clamped") < x:
        below += 1
    d = reciprocal - c
    if d == 0:
        return below
    characteristic = (
        reciprocal
        + c
        + mass * x * (c * th - s)
        - inertia * x**3 * (c * th + s)
        + mass * inertia * x**4 * (reciprocal - c)
    )
    if characteristic * d < 0:  # the determinant of the stiffness
        return below + 1
    trace = (x**3 * (c * th + s) + x * (s - c * th)) / d - (mass + inertia) * x**4
    return below + (2 if trace < 0 else 0)


@lru_cache
def _coefficients(modes: Clamped) -> tuple[Array, Array, Array]:
    """(1 − s) e^{βl}, s, and the factor of each shape. 1 − s is of the size of e^{−βl}: it is taken in closed form."""
    roots = np.array(modes.roots)
    e, sign = np.exp(-roots), (-1.0) ** np.arange(modes.count)
    m, j = modes.mass_ratio * roots, modes.inertia_ratio * roots**3
    if modes.tip == "clamped":  # φ(l) = 0: s = (ch − c) / (sh − s)
        c, s = 1 / np.cosh(roots), -sign * np.tanh(roots)
        growing = (c - s - e) / ((1 - e * e) / 2 - s * e)
    else:  # φ'''(l) = −m̄ β⁴ l φ(l): s = (sh − s + m̄ x (ch − c)) / (ch + c + m̄ x (sh − s)), never 0 / 0
        free = modes.tip == "free"
        c, s = (-1 / np.cosh(roots), sign * np.tanh(roots)) if free else (np.cos(roots), np.sin(roots))
        growing = (e + c + s + m * (c - s - e)) / ((1 + e * e) / 2 + c * e + m * ((1 - e * e) / 2 - s * e))
    ratio = 1 - growing * e
    if modes.tip != "loaded":
        return growing, ratio, np.ones_like(roots)
    even, odd = (growing + (1 + ratio) * e) / 2, (growing - (1 + ratio) * e) / 2
    u, du = even - c + ratio * s, odd + s + ratio * c
    d2u, d3u = even + c - ratio * s, odd - s - ratio * c
    # 4 ∫φ² dx of a function with φ'''' = φ (Rayleigh), plus the load
    norm = (3 * u * d3u + roots * (u * u - 2 * du * d3u + d2u * d2u) - du * d2u) / 4 + m * u * u + j * du * du
    return growing, ratio, np.sqrt(roots / norm)


def clamped_free(n: int) -> ModeSet:
    """The first n eigenmodes of a bare beam: 1 + cos βl cosh βl = 0; ∫φ² dη = l, φ(l) = ±2; coordinates in m.

    They have no moment and no shear at the tip: for a link that carries something, take :func:`craig_bampton`.
    """
    return Clamped("free", integer("clamped_free: n", n, 1))


def clamped_clamped(n: int) -> ModeSet:
    """The first n eigenmodes with both ends clamped: 1 − cos βl cosh βl = 0; ∫φ² dη = l; coordinates in m.

    They do not move the tip: alone, they leave everything that the link carries as on a rigid link.
    """
    return Clamped("clamped", integer("clamped_clamped: n", n, 1))


def clamped_tip(n: int, mass_ratio: float, inertia_ratio: float = 0.0) -> ModeSet:
    """The first n eigenmodes of a uniform beam with a body on its tip.

    Args:
        n: how many.
        mass_ratio: m_t/(μ l), the mass of the body over that of the beam.
        inertia_ratio: j_t/(μ l³), j_t being the moment of inertia about the axis of bending, through the tip (the
            body's centre of mass is taken to lie there).

    Shapes are orthogonal in the mass of beam and body together: ∫φ² dη + m_t/μ φ(l)² + j_t/μ φ'(l)² = l; modal
    coordinates in m. The body itself has to be given to the link, too.
    """
    mass = number("clamped_tip: mass_ratio", mass_ratio, inclusive=True)
    inertia = number("clamped_tip: inertia_ratio", inertia_ratio, inclusive=True)
    return Clamped("loaded", integer("clamped_tip: n", n, 1), mass, inertia)
