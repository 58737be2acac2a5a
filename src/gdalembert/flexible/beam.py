"""The beam of a flexible link: its length, and what its section resists and weighs along it.

The beam lies along x of its clamped frame, from 0 to its length; y and z are the principal axes of the section, σ_y and
σ_z offsets from its centre. What resists bending in y is I_z = ∫σ_y² dA, and in z it is I_y = ∫σ_z² dA. (The
pairing that is printed in Cetinkunt and Book 1988, eqs. 27 and 29, is the other way round.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.tree import Array, frozen

Property: TypeAlias = float | Callable[[Any], Any]
"""A number, or a function of the abscissa η [m] that takes a NumPy array, or a single number, of it."""

POINTS = 20
"""Gauss points on each panel of a quadrature."""

_SETTLED, _DOUBTFUL, _DOUBLINGS = 1e-13, 1e-9, 7


def number(what: str, value: Any, unit: str = "", *, least: float = 0.0, inclusive: bool = False) -> float:
    """One finite number above (or, inclusive, at least) a limit.

    Raises:
        ArgumentTypeError: if it is no number.
        ArgumentError: if it is out of range.
    """
    given = f" [{unit}]" if unit else ""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentTypeError(f"{what}: expected a number{given}, got {value!r}")
    if not math.isfinite(value) or value < least or (value == least and not inclusive):
        limit = f"at least {least:g}" if inclusive else f"above {least:g}"
        raise ArgumentError(f"{what}: got {value!r}; give one finite number{given}, {limit}")
    return float(value)


@lru_cache
def _gauss() -> tuple[Array, Array, Array]:
    """On [0, 1]: the points x, their weights, and the matrix of ∫₀^{x_k} from the values at the points."""
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
        """Equal panels, cut at the abscissae where a function may jump."""
        inside = [b for b in breaks if start < b < end]
        return Quadrature(np.unique([*np.linspace(start, end, panels + 1), *inside]))

    @cached_property
    def points(self) -> Array:
        """Abscissae (m,)."""
        return (self.edges[:-1, None] + np.diff(self.edges)[:, None] * _gauss()[0]).ravel()

    @cached_property
    def weights(self) -> Array:
        """(m,), for sums over the points."""
        return (np.diff(self.edges)[:, None] * _gauss()[1]).ravel()

    def running(self, values: Array) -> Array:
        """The integral from the start to each point, of values (…, m) at the points."""
        shape = values.shape
        each = values.reshape(*shape[:-1], -1, POINTS)
        widths = np.diff(self.edges)
        within = np.einsum("kl,...pl,p->...pk", _gauss()[2], each, widths)
        whole = np.einsum("l,...pl,p->...p", _gauss()[1], each, widths)
        before = np.cumsum(whole, axis=-1) - whole
        result: Array = (before[..., None] + within).reshape(shape)
        return result


def converged(what: str, integral: Callable[[int], tuple[Array, Array]], panels: int) -> tuple[Array, Array]:
    """The integrals and their magnitudes ∫|…|, on so many panels or as many times more as they need.

    Raises:
        ArgumentError: if they do not settle to 1e-9 of their magnitude.
    """
    value, _ = integral(panels)
    change = math.inf
    for _ in range(_DOUBLINGS):
        panels *= 2
        coarse = value
        value, size = integral(panels)
        change = float(np.divide(np.abs(value - coarse), size, out=np.zeros_like(size), where=size > 0).max(initial=0))
        if change <= _SETTLED:
            return value, size
    if not change <= _DOUBTFUL:
        raise ArgumentError(
            f"{what}: the integrals along the beam still change by {change:.1e} of their size on {panels} panels; "
            "name the abscissae where its properties jump as breaks=(…)"
        )
    return value, size


def evaluate(what: str, unit: str, given: Property, eta: Array, *, inclusive: bool = False) -> Array:
    """The values of a property at abscissae (m,), checked."""
    if not callable(given):
        return np.full(eta.shape, given)
    try:
        found = given(eta)
    except (TypeError, ValueError):  # a function of single numbers
        found = [given(float(x)) for x in eta]
    try:
        values = np.broadcast_to(np.asarray(found, dtype=float), eta.shape)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{what}: expected one number [{unit}] for each abscissa, got {found!r}") from None
    wrong = ~np.isfinite(values) | (values < 0) | ((values == 0) & (not inclusive))
    if wrong.any():
        k = int(wrong.argmax())
        limit = "at least 0" if inclusive else "above 0"
        raise ArgumentError(f"{what}: {values[k]:.6g} at {eta[k]:.6g} m; it must be finite [{unit}] and {limit}")
    return values


_UNITS = {"mass_per_length": "kg/m", "EI_y": "N m²", "EI_z": "N m²", "EA": "N", "GJ": "N m²"}
_JY_JZ = ("section_inertia j_y", "section_inertia j_z")


@dataclass(frozen=True)
class Beam:
    """A straight beam. Each property is a number, or a function of the abscissa η [m] (a tapered beam).

    Beams are equal by value; they can be hashed and pickled if the functions they hold can.

    Attributes:
        length: l [m].
        mass_per_length: μ [kg/m].
        EI_y, EI_z: bending stiffness against bending in z and in y [N m²]: I_y = ∫σ_z² dA, I_z = ∫σ_y² dA. ``None``
            if the beam does not bend that way.
        EA: stiffness in extension [N]; needed for modes in extension only.
        GJ: Saint-Venant's stiffness in torsion [N m²]; needed for modes in torsion only.
        section_inertia: (j_y, j_z) = (∫ρσ_z² dA, ∫ρσ_y² dA) [kg m]; zero for the massive line of the source (CB14).
        breaks: abscissae [m] where a function jumps or has a kink (a stepped beam): integrals stop there.

    Raises:
        ArgumentTypeError: if one is no number and no function.
        ArgumentError: if a number is not finite, or not positive (section inertias may be zero), or a break lies
            outside the beam.
    """

    length: float
    mass_per_length: Property
    EI_y: Property | None = None
    EI_z: Property | None = None
    EA: Property | None = None
    GJ: Property | None = None
    section_inertia: tuple[Property, Property] = (0.0, 0.0)
    breaks: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        def settle(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        settle("length", number("Beam: length", self.length, "m"))
        for name, unit in _UNITS.items():
            value = getattr(self, name)
            if not callable(value) and not (value is None and name != "mass_per_length"):
                settle(name, number(f"Beam: {name}", value, unit))
        pair = self.section_inertia
        if not isinstance(pair, Sequence | np.ndarray) or isinstance(pair, str) or len(pair) != 2:
            raise ArgumentTypeError(f"Beam: section_inertia: got {pair!r}; give (j_y, j_z) [kg m]")
        named = zip(_JY_JZ, pair, strict=True)
        settle(
            "section_inertia",
            tuple(j if callable(j) else number(f"Beam: {name}", j, "kg m", inclusive=True) for name, j in named),
        )
        settle("breaks", tuple(sorted(number("Beam: breaks", b, "m") for b in self.breaks)))
        if self.breaks and self.breaks[-1] >= self.length:
            raise ArgumentError(f"Beam: breaks: {self.breaks[-1]:g} m lies outside the beam of {self.length:g} m")

    def along(self, name: str, eta: npt.ArrayLike) -> Array:
        """The values of a property (``"EI_z"``, …) at abscissae (m,).

        Raises:
            ArgumentError: if the beam does not have it, or a function returns what it cannot be.
        """
        value = getattr(self, name)
        if value is None:
            raise ArgumentError(f"Beam: {name} is needed for these modes; give it [{_UNITS[name]}]")
        return evaluate(f"Beam: {name}", _UNITS[name], value, np.atleast_1d(np.asarray(eta, dtype=float)))

    def section_inertias(self, eta: npt.ArrayLike) -> tuple[Array, Array]:
        """j_y and j_z [kg m] at abscissae (m,)."""
        at = np.atleast_1d(np.asarray(eta, dtype=float))
        both = zip(_JY_JZ, self.section_inertia, strict=True)
        j_y, j_z = (evaluate(f"Beam: {name}", "kg m", value, at, inclusive=True) for name, value in both)
        return j_y, j_z

    @cached_property
    def pseudo_inertia(self) -> Array:
        """C (4 × 4) of the beam when rigid, in the clamped frame, section inertia included."""

        def moments(panels: int) -> tuple[Array, Array]:
            over = Quadrature.of(0, self.length, panels, self.breaks)
            mu, (j_y, j_z) = self.along("mass_per_length", over.points), self.section_inertias(over.points)
            found = np.array([mu, mu * over.points, mu * over.points**2, j_z, j_y]) @ over.weights
            return found, found

        m, mx, mxx, zz, yy = converged("Beam", moments, 4)[0]
        return frozen([[mxx, 0, 0, mx], [0, zz, 0, 0], [0, 0, yy, 0], [mx, 0, 0, m]])

    @property
    def mass(self) -> float:
        """[kg]"""
        return float(self.pseudo_inertia[3, 3])

    @property
    def center_of_mass(self) -> Array:
        """In the clamped frame (3, m)."""
        return frozen(self.pseudo_inertia[:3, 3] / self.mass)

    @staticmethod
    def tube(
        length: float,
        outer_diameter: Property,
        wall: Property,
        *,
        density: float,
        youngs_modulus: float,
        shear_modulus: float | None = None,
        poisson_ratio: float | None = None,
        breaks: Sequence[float] = (),
    ) -> Beam:
        """A round tube; the diameter and the wall [m] may be functions of η (a tapered tube).

        Args:
            length, outer_diameter, wall: [m]; a wall as thick as the radius makes it solid.
            density: ρ [kg/m³].
            youngs_modulus: E [Pa].
            shear_modulus: G [Pa]; or
            poisson_ratio: ν, with G = E / (2 (1 + ν)). With neither of them the beam has no GJ.
            breaks: as in :class:`Beam`.

        Raises:
            ArgumentTypeError, ArgumentError: if one cannot be used; the message names it.
        """
        material = _material("Beam.tube", density, youngs_modulus, shear_modulus, poisson_ratio)
        return _built(length, _Tube(outer_diameter, wall), material, breaks)

    @staticmethod
    def round(
        length: float,
        diameter: Property,
        *,
        density: float,
        youngs_modulus: float,
        shear_modulus: float | None = None,
        poisson_ratio: float | None = None,
        breaks: Sequence[float] = (),
    ) -> Beam:
        """A solid round bar; arguments as in :meth:`tube`."""
        material = _material("Beam.round", density, youngs_modulus, shear_modulus, poisson_ratio)
        return _built(length, _Tube(diameter, None), material, breaks)

    @staticmethod
    def rectangle(
        length: float,
        width: Property,
        height: Property,
        *,
        density: float,
        youngs_modulus: float,
        shear_modulus: float | None = None,
        poisson_ratio: float | None = None,
        breaks: Sequence[float] = (),
    ) -> Beam:
        """A rectangular bar, its width [m] along y and its height [m] along z; other arguments as in :meth:`tube`.

        With a ≥ b the two sides, Saint-Venant's torsion constant is
        J = a b³ (1/3 − 64 b / (π⁵ a) Σ_{k odd} tanh(k π a / 2b) / k⁵).
        """
        material = _material("Beam.rectangle", density, youngs_modulus, shear_modulus, poisson_ratio)
        return _built(length, _Rectangle(width, height), material, breaks)


class _Section(Protocol):
    def area(self, eta: Array) -> Array: ...
    def i_y(self, eta: Array) -> Array: ...
    def i_z(self, eta: Array) -> Array: ...
    def torsion(self, eta: Array) -> Array: ...

    @property
    def dimensions(self) -> dict[str, Property]: ...


def _dimension(name: str, value: Property, eta: Array) -> Array:
    return evaluate(f"Beam: {name}", "m", value, eta)


@dataclass(frozen=True)
class _Tube:
    outer_diameter: Property
    wall: Property | None

    @property
    def dimensions(self) -> dict[str, Property]:
        return (
            {"diameter": self.outer_diameter}
            if self.wall is None
            else {
                "outer_diameter": self.outer_diameter,
                "wall": self.wall,
            }
        )

    def _radii(self, eta: Array) -> tuple[Array, Array]:
        outer = _dimension("outer_diameter", self.outer_diameter, eta) / 2
        if self.wall is None:
            return outer, np.zeros_like(outer)
        wall = _dimension("wall", self.wall, eta)
        thick = wall > outer * (1 + 1e-12)
        if thick.any():
            k = int(thick.argmax())
            raise ArgumentError(
                f"Beam: wall: {wall[k]:g} m is more than the radius of {outer[k]:g} m at {eta[k]:g} m; "
                "give at most the radius"
            )
        return outer, np.maximum(outer - wall, 0)

    def area(self, eta: Array) -> Array:
        outer, inner = self._radii(eta)
        return np.pi * (outer - inner) * (outer + inner)

    def i_y(self, eta: Array) -> Array:
        outer, inner = self._radii(eta)
        return self.area(eta) * (outer**2 + inner**2) / 4

    def i_z(self, eta: Array) -> Array:
        return self.i_y(eta)

    def torsion(self, eta: Array) -> Array:
        return 2 * self.i_y(eta)


@dataclass(frozen=True)
class _Rectangle:
    width: Property
    height: Property

    @property
    def dimensions(self) -> dict[str, Property]:
        return {"width": self.width, "height": self.height}

    def _sides(self, eta: Array) -> tuple[Array, Array]:
        return _dimension("width", self.width, eta), _dimension("height", self.height, eta)

    def area(self, eta: Array) -> Array:
        width, height = self._sides(eta)
        return width * height

    def i_y(self, eta: Array) -> Array:
        width, height = self._sides(eta)
        return width * height**3 / 12

    def i_z(self, eta: Array) -> Array:
        width, height = self._sides(eta)
        return height * width**3 / 12

    def torsion(self, eta: Array) -> Array:
        width, height = self._sides(eta)
        a, b = np.maximum(width, height), np.minimum(width, height)
        k = np.arange(1.0, 2001.0, 2.0)[:, None]  # the rest of the series is below 1e-14
        series = np.sum(np.tanh(k * np.pi * a / (2 * b)) / k**5, axis=0)
        result: Array = a * b**3 * (1 / 3 - 64 * b / (np.pi**5 * a) * series)
        return result


@dataclass(frozen=True)
class _Along:
    """A property of a section of changing size, as a function of the abscissa."""

    section: _Section
    quantity: str
    factor: float

    def __call__(self, eta: Any) -> Array:
        values: Array = self.factor * getattr(self.section, self.quantity)(np.atleast_1d(np.asarray(eta, dtype=float)))
        return values


@dataclass(frozen=True)
class _Material:
    where: str
    density: float
    youngs_modulus: float
    shear_modulus: float | None


def _material(
    where: str, density: float, youngs_modulus: float, shear_modulus: float | None, poisson_ratio: float | None
) -> _Material:
    rho, e = number(f"{where}: density", density, "kg/m³"), number(f"{where}: youngs_modulus", youngs_modulus, "Pa")
    if shear_modulus is not None and poisson_ratio is not None:
        raise ArgumentError(f"{where}: got a shear_modulus and a poisson_ratio; give one of them")
    if shear_modulus is not None:
        return _Material(where, rho, e, number(f"{where}: shear_modulus", shear_modulus, "Pa"))
    if poisson_ratio is None:
        return _Material(where, rho, e, None)
    nu = number(f"{where}: poisson_ratio", poisson_ratio, least=-1.0)
    if nu > 0.5:
        raise ArgumentError(f"{where}: poisson_ratio: got {nu:g}; give a number above -1, at most 0.5")
    return _Material(where, rho, e, e / (2 * (1 + nu)))


def _built(length: float, section: _Section, material: _Material, breaks: Sequence[float]) -> Beam:
    for name, value in section.dimensions.items():
        if not callable(value):
            number(f"{material.where}: {name}", value, "m")
    changes = any(map(callable, section.dimensions.values()))

    def of(quantity: str, factor: float) -> Property:
        along = _Along(section, quantity, factor)
        return along if changes else float(along(0.0)[0])

    rho, e, g = material.density, material.youngs_modulus, material.shear_modulus
    return Beam(
        length,
        of("area", rho),
        EI_y=of("i_y", e),
        EI_z=of("i_z", e),
        EA=of("area", e),
        GJ=None if g is None else of("torsion", g),
        section_inertia=(of("i_y", rho), of("i_z", rho)),
        breaks=tuple(breaks),
    )
