"""The beam of a flexible link: its length, and the stiffness and mass of its cross sections.

The beam lies along x of its clamped frame, from 0 to its length; y and z are the principal axes of the cross section,
σ_y and σ_z offsets from its centre. I_z = ∫σ_y² dA resists bending in y, and I_y = ∫σ_z² dA bending in z. (Cetinkunt
and Book 1988, eqs. 27 and 29, print the opposite pairing.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.flexible.beams.cross_sections import Material, Rectangle, SectionProperty, Tube, material_of
from gdalembert.flexible.beams.quadrature import POINTS, Quadrature, converged
from gdalembert.spatial.arguments import Property, evaluate, number
from gdalembert.spatial.arrays import Array, frozen

__all__ = ["POINTS", "Beam", "Property", "Quadrature", "converged", "evaluate", "number"]

_UNITS = {"mass_per_length": "kg/m", "EI_y": "N m²", "EI_z": "N m²", "EA": "N", "GJ": "N m²"}
_JY_JZ = ("section_inertia j_y", "section_inertia j_z")


@dataclass(frozen=True)
class Beam:
    """A straight beam. Each property is a number, or a function of the abscissa η [m] (a tapered beam).

    Beams are equal by value, whatever their ``section``. They can be hashed and pickled if their functions can.

    Attributes:
        length: l [m]; ``None``: taken from the link of the arm that uses the beam (:meth:`with_length`).
        mass_per_length: μ [kg/m].
        EI_y, EI_z: bending stiffness against bending in z and in y [N m²]: I_y = ∫σ_z² dA, I_z = ∫σ_y² dA. ``None``
            if the beam is rigid in that direction.
        EA: axial stiffness [N]; needed for modes in extension only.
        GJ: Saint-Venant's torsional stiffness [N m²]; needed for modes in torsion only.
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

    def __post_init__(self) -> None:
        def settle(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        if self.length is not None:
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
        if not isinstance(self.section, Tube | Rectangle | None):
            raise ArgumentTypeError(f"Beam: section: got {self.section!r}; leave it out, or take Beam.tube(…)")
        if not isinstance(self.breaks, Sequence | np.ndarray) or isinstance(self.breaks, str):
            raise ArgumentTypeError(f"Beam: breaks: got {self.breaks!r}; give a sequence of abscissae [m]")
        settle("breaks", tuple(sorted(number("Beam: breaks", b, "m") for b in self.breaks)))
        if self.breaks and self.length is not None and self.breaks[-1] >= self.length:
            raise ArgumentError(f"Beam: breaks: {self.breaks[-1]:g} m lies outside the beam of {self.length:g} m")

    def with_length(self, length: float) -> Beam:
        """The same beam with a length [m]."""
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
        """C (4 × 4) of the undeformed beam, in the clamped frame, section inertia included."""

        end = self.require_length()

        def moments(panels: int) -> tuple[Array, Array]:
            over = Quadrature.of(0, end, panels, self.breaks)
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
            poisson_ratio: ν, with G = E / (2 (1 + ν)). Without either, the beam has no GJ.
            breaks: as in :class:`Beam`.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument is invalid; the message names it.
        """
        material = material_of("Beam.tube", density, youngs_modulus, shear_modulus, poisson_ratio)
        return _built(length, Tube(outer_diameter, wall), material, breaks)

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
        """A solid round bar; arguments as in :meth:`tube`."""
        material = material_of("Beam.round", density, youngs_modulus, shear_modulus, poisson_ratio)
        return _built(length, Tube(diameter, None), material, breaks)

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
        """A rectangular bar, its width [m] along y and its height [m] along z; other arguments as in :meth:`tube`.

        With sides a ≥ b, Saint-Venant's torsion constant is
        J = a b³ (1/3 − 64 b / (π⁵ a) Σ_{k odd} tanh(k π a / 2b) / k⁵).
        """
        material = material_of("Beam.rectangle", density, youngs_modulus, shear_modulus, poisson_ratio)
        return _built(length, Rectangle(width, height), material, breaks)


def _built(length: float | None, section: Tube | Rectangle, material: Material, breaks: Sequence[float]) -> Beam:
    for name, value in section.dimensions.items():
        if not callable(value):
            number(f"{material.where}: {name}", value, "m")
    changes = any(map(callable, section.dimensions.values()))

    def of(quantity: str, factor: float) -> Property:
        along = SectionProperty(section, quantity, factor)
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
        section=section,
    )
