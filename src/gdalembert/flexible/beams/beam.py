"""The beam of a flexible link: its length, its cross sections and material, and their stiffness and mass.

The beam lies along x of its clamped frame, from 0 to its length; y and z are the principal axes of the cross section,
σ_y and σ_z offsets from its centre. I_z = ∫σ_y² dA resists bending in y, and I_y = ∫σ_z² dA bending in z. (Cetinkunt
and Book 1988, eqs. 27 and 29, print the opposite pairing.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.flexible.beams.quadrature import Quadrature, converged
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.spatial.arguments import Property, choice, evaluate, listed, number, numbers
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.brief import Brief

_UNITS = {"mass_per_length": "kg/m", "EI_y": "N m²", "EI_z": "N m²", "EA": "N", "GJ": "N m²", "GA_y": "N", "GA_z": "N"}
_JY_JZ = ("section_inertia j_y", "section_inertia j_z")


def _abscissae(eta: npt.ArrayLike) -> Array:
    return np.atleast_1d(numbers("Beam: eta", eta))


def _dimension(name: str, value: Property, eta: Array) -> Array:
    return evaluate(f"Beam: {name}", "m", value, eta)


@dataclass(frozen=True)
class Tube:
    """A round section; without a wall it is solid. Shear areas κ A are Cowper's (1966), here and of rectangles."""

    outer_diameter: Property
    wall: Property | None

    def radii(self, eta: Array) -> tuple[Array, Array]:
        """Outer and inner radii [m] at abscissae (m,)."""
        outer = _dimension("outer_diameter", self.outer_diameter, eta) / 2
        if self.wall is None:
            return outer, np.zeros_like(outer)
        wall = _dimension("wall", self.wall, eta)
        thick = wall > outer * (1 + ROUND_OFF)
        if thick.any():
            k = int(thick.argmax())
            raise ArgumentError(
                f"Beam: wall: {wall[k]:g} m is more than the radius of {outer[k]:g} m at {eta[k]:g} m; "
                "give at most the radius"
            )
        return outer, np.maximum(outer - wall, 0)

    def radius(self, eta: Array) -> Array:
        """The radii of circles about the sections [m]."""
        return self.radii(eta)[0]

    def of(self, quantity: str, eta: Array, poisson_ratio: float) -> Array:
        outer, inner = self.radii(eta)
        area, ratio = np.pi * (outer - inner) * (outer + inner), (inner / outer) ** 2
        if quantity == "shear":
            bent = (7 + 6 * poisson_ratio) * (1 + ratio) ** 2 + (20 + 12 * poisson_ratio) * ratio
            return np.asarray(6 * (1 + poisson_ratio) * (1 + ratio) ** 2 / bent * area)
        second = area * (outer**2 + inner**2) / 4
        return {"area": area, "i_y": second, "i_z": second, "torsion": 2 * second}[quantity]


@dataclass(frozen=True)
class Rectangle:
    """A solid section, its width along y and its height along z."""

    width: Property
    height: Property

    def sides(self, eta: Array) -> tuple[Array, Array]:
        """Width along y and height along z [m] at abscissae (m,)."""
        return _dimension("width", self.width, eta), _dimension("height", self.height, eta)

    def radius(self, eta: Array) -> Array:
        """The radii of circles about the sections [m]."""
        return np.asarray(np.hypot(*self.sides(eta)) / 2)

    def of(self, quantity: str, eta: Array, poisson_ratio: float) -> Array:
        width, height = self.sides(eta)
        if quantity == "torsion":
            a, b = np.maximum(width, height), np.minimum(width, height)
            k = np.arange(1.0, 2001.0, 2.0)[:, None]  # the rest of the series is below 1e-14
            series = np.sum(np.tanh(k * np.pi * a / (2 * b)) / k**5, axis=0)
            return np.asarray(a * b**3 * (1 / 3 - 64 * b / (np.pi**5 * a) * series))
        if quantity == "shear":
            return 10 * (1 + poisson_ratio) / (12 + 11 * poisson_ratio) * width * height
        return {"area": width * height, "i_y": width * height**3 / 12, "i_z": height * width**3 / 12}[quantity]


@dataclass(frozen=True)
class SectionProperty:
    """A property of a cross section with variable dimensions, as a function of the abscissa."""

    section: Tube | Rectangle
    quantity: str
    factor: float
    poisson_ratio: float

    def __call__(self, eta: Any) -> Array:
        at = np.atleast_1d(np.asarray(eta, dtype=float))
        return np.asarray(self.factor * self.section.of(self.quantity, at, self.poisson_ratio))


@dataclass(frozen=True)
class Beam(Brief):
    """A straight beam. Each property is a number, or a function of the abscissa η [m] (a tapered beam).

    Beams are equal by value, whatever their ``section``. They can be hashed and pickled if their functions can.

    Attributes:
        length: l [m]; ``None``: taken from the link of the arm that uses the beam (:meth:`with_length`).
        mass_per_length: μ [kg/m].
        EI_y, EI_z: bending stiffness against bending in z and in y [N m²]: I_y = ∫σ_z² dA, I_z = ∫σ_y² dA. ``None``
            if the beam is rigid in that direction.
        EA: axial stiffness [N]; needed for modes in extension only.
        GJ: Saint-Venant's torsional stiffness [N m²]; needed for modes in torsion only.
        GA_y, GA_z: shear stiffness in y and in z [N], correction factor included; needed for shear of rods only.
        section_inertia: (j_y, j_z) = (∫ρσ_z² dA, ∫ρσ_y² dA) [kg m]; zero for the line of mass of the source (CB14).
        breaks: abscissae [m] where a function jumps or has a kink (a stepped beam); integrals are split there.
        section: the tube or bar of :meth:`tube`, :meth:`round` and :meth:`rectangle`, for plots; otherwise ``None``.

    Raises:
        ArgumentTypeError: if an argument is neither a number nor a function.
        ArgumentError: if a number is not finite, or not positive (section inertias may be zero), or a break lies
            outside the beam.
    """

    length: Any
    mass_per_length: Property
    EI_y: Property | None = None
    EI_z: Property | None = None
    EA: Property | None = None
    GJ: Property | None = None
    section_inertia: tuple[Property, Property] = (0.0, 0.0)
    breaks: tuple[float, ...] = ()
    section: Tube | Rectangle | None = field(default=None, compare=False, repr=False, kw_only=True)
    GA_y: Property | None = field(default=None, kw_only=True)
    GA_z: Property | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        def settle(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        if self.length is not None:
            settle("length", number("Beam: length", self.length, "m"))
        for name, unit in _UNITS.items():
            value = getattr(self, name)
            if not callable(value) and not (value is None and name != "mass_per_length"):
                settle(name, number(f"Beam: {name}", value, unit))
        if len(pair := listed(self.section_inertia) or []) != 2:
            raise ArgumentTypeError(f"Beam: section_inertia: got {shown(self.section_inertia)}; give (j_y, j_z) [kg m]")
        named = zip(_JY_JZ, pair, strict=True)
        pair = [j if callable(j) else number(f"Beam: {name}", j, "kg m", inclusive=True) for name, j in named]
        settle("section_inertia", tuple(pair))
        if not isinstance(self.section, Tube | Rectangle | None):
            raise ArgumentTypeError(f"Beam: section: got {shown(self.section)}; leave it out, or take Beam.tube(…)")
        if listed(self.breaks) is None:
            raise ArgumentTypeError(f"Beam: breaks: got {shown(self.breaks)}; give a sequence of abscissae [m]")
        settle("breaks", tuple(sorted(number("Beam: breaks", b, "m") for b in self.breaks)))
        if self.breaks and self.length is not None and self.breaks[-1] >= self.length:
            raise ArgumentError(f"Beam: breaks: {self.breaks[-1]:g} m lies outside the beam of {self.length:g} m")

    def with_length(self, length: float) -> Beam:
        """The beam with a length [m]."""
        return replace(self, length=length)

    def require_length(self) -> float:
        """The length [m].

        Raises:
            ArgumentError: if the beam has none yet.
        """
        if self.length is None:
            raise ArgumentError("Beam: it has no length before an arm gives it one; ask with_length(…) [m]")
        return float(self.length)

    def along(self, name: str, eta: npt.ArrayLike) -> Array:
        """The values of a property (``"EI_z"``, …) at abscissae (m,).

        Raises:
            ArgumentError: if the beam does not have it, or a function returns an invalid value.
        """
        if (value := getattr(self, choice("Beam: along", name, tuple(_UNITS)))) is None:
            raise ArgumentError(f"Beam: {name} is needed for these modes; give it [{_UNITS[name]}]")
        return evaluate(f"Beam: {name}", _UNITS[name], value, _abscissae(eta))

    def section_inertias(self, eta: npt.ArrayLike) -> tuple[Array, Array]:
        """j_y and j_z [kg m] at abscissae (m,)."""
        at = _abscissae(eta)
        both = zip(_JY_JZ, self.section_inertia, strict=True)
        j_y, j_z = (evaluate(f"Beam: {name}", "kg m", value, at, inclusive=True) for name, value in both)
        return j_y, j_z

    @cached_property
    def pseudo_inertia(self) -> Array:
        """C (4 × 4) of the undeformed beam, in the clamped frame, section inertia included."""
        end = self.require_length()

        def moments(panels: int) -> tuple[list[Array], list[Array]]:
            over = Quadrature.of(0, end, panels, self.breaks)
            mu, (j_y, j_z) = self.along("mass_per_length", over.points), self.section_inertias(over.points)
            values = np.array([mu, mu * over.points, mu * over.points**2, j_z, j_y]) @ over.weights
            return [values], [values]

        m, mx, mxx, zz, yy = converged("Beam", moments, 4)[0][0]
        return frozen([[mxx, 0, 0, mx], [0, zz, 0, 0], [0, 0, yy, 0], [mx, 0, 0, m]])

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.pseudo_inertia[3, 3])

    @property
    def center_of_mass(self) -> Array:
        """Centre of mass in the clamped frame (3, m)."""
        return frozen(self.pseudo_inertia[:3, 3] / self.mass)

    @staticmethod
    def tube(
        length: float | None,
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
            length: [m], or ``None``, as in :class:`Beam`.
            outer_diameter, wall: [m]; a wall as thick as the radius makes a solid bar.
            density: ρ [kg/m³].
            youngs_modulus: E [Pa].
            shear_modulus: G [Pa]; or
            poisson_ratio: ν, with G = E / (2 (1 + ν)). Without either, the beam has no GJ, GA_y and GA_z. These two
                are κ G A, with Cowper's shear coefficient κ(ν) of the section (The shear coefficient in Timoshenko's
                beam theory, Journal of Applied Mechanics, 1966), which is that of isotropic materials: where a
                ``shear_modulus`` means ν = E / (2 G) − 1 above 0.5, as of fibre composites, the beam has neither.
            breaks: as in :class:`Beam`.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument is invalid; the message names it.
        """
        sides = {"outer_diameter": outer_diameter, "wall": wall}
        material = density, youngs_modulus, shear_modulus, poisson_ratio
        return _built("Beam.tube", length, Tube(outer_diameter, wall), sides, breaks, *material)

    @staticmethod
    def round(
        length: float | None,
        diameter: Property,
        *,
        density: float,
        youngs_modulus: float,
        shear_modulus: float | None = None,
        poisson_ratio: float | None = None,
        breaks: Sequence[float] = (),
    ) -> Beam:
        """A solid round bar; arguments, and materials without GA_y and GA_z, as in :meth:`tube`."""
        material = density, youngs_modulus, shear_modulus, poisson_ratio
        return _built("Beam.round", length, Tube(diameter, None), {"diameter": diameter}, breaks, *material)

    @staticmethod
    def rectangle(
        length: float | None,
        width: Property,
        height: Property,
        *,
        density: float,
        youngs_modulus: float,
        shear_modulus: float | None = None,
        poisson_ratio: float | None = None,
        breaks: Sequence[float] = (),
    ) -> Beam:
        """A rectangular bar, its width [m] along y and its height [m] along z.

        Other arguments, and materials without GA_y and GA_z, are as in :meth:`tube`.

        With sides a ≥ b, Saint-Venant's torsion constant is
        J = a b³ (1/3 − 64 b / (π⁵ a) Σ_{k odd} tanh(k π a / 2b) / k⁵).
        """
        sides, material = {"width": width, "height": height}, (density, youngs_modulus, shear_modulus, poisson_ratio)
        return _built("Beam.rectangle", length, Rectangle(width, height), sides, breaks, *material)


def _built(
    context: str,
    length: float | None,
    section: Tube | Rectangle,
    dimensions: Mapping[str, Property],
    breaks: Any,
    density: float,
    youngs_modulus: float,
    shear_modulus: float | None,
    poisson_ratio: float | None,
) -> Beam:
    rho, e = number(f"{context}: density", density, "kg/m³"), number(f"{context}: youngs_modulus", youngs_modulus, "Pa")
    if shear_modulus is not None and poisson_ratio is not None:
        raise ArgumentError(f"{context}: got a shear_modulus and a poisson_ratio; give one of them")
    g, nu = shear_modulus, 0.0
    if g is not None:
        g = number(f"{context}: shear_modulus", g, "Pa")
        nu = e / (2 * g) - 1
    elif poisson_ratio is not None:
        if (nu := number(f"{context}: poisson_ratio", poisson_ratio, least=-1.0)) > 0.5:
            raise ArgumentError(f"{context}: poisson_ratio: got {nu:g}; give a number above -1, at most 0.5")
        g = e / (2 * (1 + nu))
    for name, value in dimensions.items():
        if not callable(value):
            number(f"{context}: {name}", value, "m")
    changes = any(map(callable, dimensions.values()))

    def of(quantity: str, factor: float) -> Property:
        along = SectionProperty(section, quantity, factor, nu)
        return along if changes else float(along(0.0)[0])

    stiffness = {"EI_y": of("i_y", e), "EI_z": of("i_z", e), "EA": of("area", e)}
    if g is not None:
        stiffness["GJ"] = of("torsion", g)
        if -1 < nu <= 0.5 * (1 + ROUND_OFF):  # Cowper's coefficient is that of isotropic materials
            stiffness |= {"GA_y": of("shear", g), "GA_z": of("shear", g)}
    inertia = of("i_y", rho), of("i_z", rho)
    return Beam(
        length,
        of("area", rho),
        section_inertia=inertia,
        breaks=breaks,
        section=section,
        **stiffness,
    )
