"""Shapes in closed form (powers, static shapes, sines, eigenmodes of a uniform beam), by functions, and by a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.flexible.modes.mode_set import ModeSet
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.spatial.arguments import call_of, integer, number, numbers
from gdalembert.spatial.arrays import Array

MOST = 1000
"""Modes of a set; more have integrals that no computer holds."""


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
        return np.asarray(falling * (eta / length) ** exponents / length**order)


def polynomial(n: int) -> ModeSet:
    """ξ², ξ³, … (n of them), for bending; unit tip displacement, coordinates in m; ill-conditioned above n = 8."""
    return Powers(2, integer("polynomial: n", n, 1, MOST))


def from_coefficients(coefficients: npt.ArrayLike) -> ModeSet:
    """The polynomials Σ c_k ξ^k: coefficients n × K, or K of one, from c_0; normalised as they are.

    The root of the beam is clamped: c_0 is zero, and in bending c_1 too.

    Raises:
        ArgumentTypeError: if coefficients are not numbers.
        ArgumentError: if one is not finite, or there are none.
    """
    checked = np.atleast_2d(numbers("from_coefficients: coefficients", coefficients))
    if checked.ndim != 2 or not checked.size:
        raise ArgumentError(f"from_coefficients: got shape {checked.shape}; give n × K coefficients of ξ⁰, ξ¹, …")
    return Powers(0, checked.shape[1]).combined(checked)


def polynomial_torsion(n: int) -> ModeSet:
    """ξ, ξ², … (n of them), for torsion (coordinates in rad) or extension (in m); unit value at the tip."""
    return Powers(1, integer("polynomial_torsion: n", n, 1, MOST))


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
    n = integer("craig_bampton: n_interior", n_interior, 0, MOST)
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
        return np.asarray((roots / length) ** order * shape)


def sine(n: int) -> ModeSet:
    """The first n eigenmodes in torsion (coordinates in rad) or extension (in m) of a uniform beam with a free tip.

    sin((2j − 1) π η / 2l); ∫φ² dη = l/2, ±1 at the tip.
    """
    return Sine(integer("sine: n", n, 1, MOST))


@dataclass(frozen=True)
class Clamped(ModeSet):
    """cosh x − cos x − s (sinh x − sin x), x = β η, times a factor: eigenmodes of a beam clamped at the root.

    Attributes:
        tip: ``"free"``, ``"clamped"`` or ``"loaded"``.
        count: number of shapes, from the lowest.
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

    @cached_property
    def roots(self) -> tuple[float, ...]:
        load = self.mass_ratio, self.inertia_ratio
        return tuple(_root(j, self.tip, *load) for j in range(1, self.count + 1))

    @cached_property
    def _coefficients(self) -> tuple[Array, Array, Array]:
        """(1 − s) e^{βl}, s, and the factor of each shape; 1 − s, of the size of e^{−βl}, is taken in closed form."""
        roots = np.array(self.roots)
        e, sign = np.exp(-roots), (-1.0) ** np.arange(self.count)
        m, j = self.mass_ratio * roots, self.inertia_ratio * roots**3
        if self.tip == "clamped":  # φ(l) = 0: s = (ch − c) / (sh − s)
            c, s = 1 / np.cosh(roots), -sign * np.tanh(roots)
            growing = (c - s - e) / ((1 - e * e) / 2 - s * e)
        else:  # φ'''(l) = −m̄ β⁴ l φ(l): s = (sh − s + m̄ x (ch − c)) / (ch + c + m̄ x (sh − s)), never 0 / 0
            free = self.tip == "free"
            c, s = (-1 / np.cosh(roots), sign * np.tanh(roots)) if free else (np.cos(roots), np.sin(roots))
            growing = (e + c + s + m * (c - s - e)) / ((1 + e * e) / 2 + c * e + m * ((1 - e * e) / 2 - s * e))
        ratio = 1 - growing * e
        if self.tip != "loaded":
            return growing, ratio, np.ones_like(roots)
        even, odd = (growing + (1 + ratio) * e) / 2, (growing - (1 + ratio) * e) / 2
        u, du = even - c + ratio * s, odd + s + ratio * c
        d2u, d3u = even + c - ratio * s, odd - s - ratio * c
        # 4 ∫φ² dx of a function with φ'''' = φ (Rayleigh), plus the load
        norm = (3 * u * d3u + roots * (u * u - 2 * du * d3u + d2u * d2u) - du * d2u) / 4 + m * u * u + j * du * du
        return growing, ratio, np.sqrt(roots / norm)

    @property
    def panels(self) -> int:
        return self.count + 1

    def _derivative(self, order: int, eta: Array, length: float) -> Array:
        roots = np.array(self.roots)[:, None]
        growing, s, factor = (column[:, None] for column in self._coefficients)
        x = roots * (eta / length)
        # by cosh and sinh themselves, which cancel, mode 10 would be off by 4e-4 of its tip, and mode 12 by 0.2
        rising, falling = growing * np.exp(x - roots), (1 + s) * np.exp(-x)
        even, odd = (rising + falling) / 2, (rising - falling) / 2  # cosh x − s sinh x, sinh x − s cosh x
        sine, cosine = np.sin(x), np.cos(x)
        shape = (even - cosine + s * sine, odd + sine + s * cosine, even + cosine - s * sine, odd - sine - s * cosine)
        return np.asarray(factor * (roots / length) ** order * shape[order % 4])


@lru_cache
def _fixed_point(j: int, tip: str) -> float:
    """The root of 1 ± cos x cosh x = 0 next to (j ∓ ½) π, by a contraction to less than a third at each step."""
    start = (j - 0.5) * math.pi if tip == "free" else (j + 0.5) * math.pi
    sign = 1 if j % 2 else -1
    x = start
    for _ in range(60):
        x = start + sign * math.asin(1 / math.cosh(x))
    return x


def _root(j: int, tip: str, mass: float, inertia: float) -> float:
    """The j-th root; with a loaded tip, by bisection of the number of roots below (Wittrick and Williams 1971)."""
    if tip != "loaded":
        return _fixed_point(j, tip)
    low, high = 0.0, _fixed_point(j, "free") * (1 + ROUND_OFF)  # a load lowers every root
    while low < (middle := (low + high) / 2) < high:
        if _roots_below(middle, mass, inertia) < j:
            low = middle
        else:
            high = middle
    return high


def _roots_below(x: float, mass: float, inertia: float) -> int:
    """The number of roots below: those with a clamped tip, and the negative eigenvalues of the tip's dynamic stiffness.

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


def clamped_free(n: int) -> ModeSet:
    """The first n eigenmodes of a bare beam: 1 + cos βl cosh βl = 0; ∫φ² dη = l, φ(l) = ±2; coordinates in m.

    They have no moment and no shear at the tip: for a link that carries something, take :func:`craig_bampton`.
    """
    return Clamped("free", integer("clamped_free: n", n, 1, MOST))


def clamped_clamped(n: int) -> ModeSet:
    """The first n eigenmodes with both ends clamped: 1 − cos βl cosh βl = 0; ∫φ² dη = l; coordinates in m.

    They do not move the tip: alone, they leave everything that the link carries as on a rigid link.
    """
    return Clamped("clamped", integer("clamped_clamped: n", n, 1, MOST))


def clamped_tip(n: int, mass_ratio: float, inertia_ratio: float = 0.0) -> ModeSet:
    """The first n eigenmodes of a uniform beam with a body on its tip.

    Args:
        n: number of shapes.
        mass_ratio: m_t/(μ l), the mass of the body over that of the beam.
        inertia_ratio: j_t/(μ l³), j_t being the moment of inertia about the axis of bending, through the tip (the
            body's centre of mass is taken to lie there).

    Shapes are orthogonal in the mass of beam and body together: ∫φ² dη + m_t/μ φ(l)² + j_t/μ φ'(l)² = l; modal
    coordinates in m. The body itself has to be given to the link, too.
    """
    mass = number("clamped_tip: mass_ratio", mass_ratio, inclusive=True)
    inertia = number("clamped_tip: inertia_ratio", inertia_ratio, inclusive=True)
    return Clamped("loaded", integer("clamped_tip: n", n, 1, MOST), mass, inertia)


@dataclass(frozen=True)
class Custom(ModeSet):
    """Shapes by functions of η [m]."""

    normalisation: ClassVar[str] = "as given"
    functions: tuple[tuple[Callable[[Any], Any], ...], ...]
    panels: int = 8

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"custom {j + 1}" for j in range(len(self.functions)))

    def _derivative(self, order: int, eta: Array, length: float) -> Array:
        return np.array([self._one(k, order, eta) for k in range(len(self.functions))])

    def _one(self, k: int, order: int, eta: Array) -> Array:
        derivative = ("value", "slope", "curvature")[order]
        if order >= len(self.functions[k]):
            raise ArgumentError(
                f"custom: mode {k + 1} has no {derivative}, which bending needs; give it as third function"
            )
        f = self.functions[k][order]
        with call_of(f"custom: the {derivative} of mode {k + 1}"):
            try:
                returned = f(eta)
            except (TypeError, ValueError):  # a function of single numbers
                returned = [f(float(x)) for x in eta]
        try:
            values = np.broadcast_to(np.asarray(returned, dtype=float), eta.shape)
        except (TypeError, ValueError):
            raise ArgumentTypeError(
                f"custom: the {derivative} of mode {k + 1}: expected one number for each abscissa, and "
                f"for {eta.size} of them got a {type(returned).__name__}, {returned!r:.40}"
            ) from None
        if not np.all(np.isfinite(values)):
            wrong = eta[~np.isfinite(values)][0]
            raise ArgumentError(
                f"custom: the {derivative} of mode {k + 1} is not finite at {wrong:g} m; give finite shapes"
            )
        return values

    def check_derivatives(self, context: str, length: float, *, bending: bool) -> None:
        x, w = np.polynomial.legendre.leggauss(20)
        piece = length / 16
        starts: Array = piece * np.arange(16.0)
        inner: Array = (starts[:, None] + piece * (x + 1) / 2).ravel()
        # the integral of each derivative, on short pieces, is the growth of what it is the derivative of
        for order in range(2 if bending else 1):
            grown = self._derivative(order, starts + piece, length) - self._derivative(order, starts, length)
            slopes = self._derivative(order + 1, inner, length).reshape(len(self), 16, 20) @ w * (piece / 2)
            size = np.abs(slopes).max(axis=1) + np.abs(grown).max(axis=1)
            off = np.abs(slopes - grown).max(axis=1)
            for k in np.flatnonzero(off > 1e-6 * size):
                a, b = ("value", "slope", "curvature")[order : order + 2]
                raise ArgumentError(
                    f"{context}: mode {k + 1} (custom {k + 1}): its {b} is not the derivative of its {a}, by "
                    f"{off[k] / size[k]:.1e} of their size; give (value, slope, curvature) as functions of η [m]"
                )


def custom(functions: Sequence[Sequence[Callable[[Any], Any]]], *, panels: int = 8) -> ModeSet:
    """Shapes by functions of η [m], normalised as they are.

    Args:
        functions: functions of each shape, (value, slope, curvature); torsion and extension do without the curvature.
        panels: pieces of the beam on which the shapes are smooth, to begin with; integrals take more if needed.

    Raises:
        ArgumentTypeError: if one is not a function.
        ArgumentError: if there is none.
    """
    if not isinstance(functions, Sequence) or not functions:
        raise ArgumentError(f"custom: got {shown(functions)}; give [(value, slope, curvature), …], functions of η [m]")
    for k, triple in enumerate(functions):
        if not isinstance(triple, Sequence) or len(triple) not in (2, 3) or not all(map(callable, triple)):
            raise ArgumentTypeError(
                f"custom: mode {k + 1}: got {shown(triple)}; give (value, slope, curvature), functions of η [m]"
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
        root_slope: slope of a spline at the root: zero for bending; ``None`` for torsion and extension: not-a-knot.

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
