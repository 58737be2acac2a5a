"""Cross sections of beams and their material: area, second moments and Saint-Venant's torsion constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.spatial.arguments import Property, evaluate, number
from gdalembert.spatial.arrays import Array


class CrossSection(Protocol):
    def area(self, eta: Array) -> Array: ...
    def i_y(self, eta: Array) -> Array: ...
    def i_z(self, eta: Array) -> Array: ...
    def torsion(self, eta: Array) -> Array: ...

    @property
    def dimensions(self) -> dict[str, Property]: ...


def _dimension(name: str, value: Property, eta: Array) -> Array:
    return evaluate(f"Beam: {name}", "m", value, eta)


@dataclass(frozen=True)
class Tube:
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

    def radii(self, eta: Array) -> tuple[Array, Array]:
        """Outer and inner radii [m] at abscissae (m,).

        Raises:
            ArgumentError: if the wall is thicker than the radius, or a dimension is not finite and positive.
        """
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

    def area(self, eta: Array) -> Array:
        outer, inner = self.radii(eta)
        return np.pi * (outer - inner) * (outer + inner)

    def i_y(self, eta: Array) -> Array:
        outer, inner = self.radii(eta)
        return self.area(eta) * (outer**2 + inner**2) / 4

    def i_z(self, eta: Array) -> Array:
        return self.i_y(eta)

    def torsion(self, eta: Array) -> Array:
        return 2 * self.i_y(eta)


@dataclass(frozen=True)
class Rectangle:
    width: Property
    height: Property

    @property
    def dimensions(self) -> dict[str, Property]:
        return {"width": self.width, "height": self.height}

    def sides(self, eta: Array) -> tuple[Array, Array]:
        """Width along y and height along z [m] at abscissae (m,)."""
        return _dimension("width", self.width, eta), _dimension("height", self.height, eta)

    def area(self, eta: Array) -> Array:
        width, height = self.sides(eta)
        return width * height

    def i_y(self, eta: Array) -> Array:
        width, height = self.sides(eta)
        return width * height**3 / 12

    def i_z(self, eta: Array) -> Array:
        width, height = self.sides(eta)
        return height * width**3 / 12

    def torsion(self, eta: Array) -> Array:
        width, height = self.sides(eta)
        a, b = np.maximum(width, height), np.minimum(width, height)
        k = np.arange(1.0, 2001.0, 2.0)[:, None]  # the rest of the series is below 1e-14
        series = np.sum(np.tanh(k * np.pi * a / (2 * b)) / k**5, axis=0)
        result: Array = a * b**3 * (1 / 3 - 64 * b / (np.pi**5 * a) * series)
        return result


@dataclass(frozen=True)
class SectionProperty:
    """A property of a cross section with variable dimensions, as a function of the abscissa."""

    section: CrossSection
    quantity: str
    factor: float

    def __call__(self, eta: Any) -> Array:
        values: Array = self.factor * getattr(self.section, self.quantity)(np.atleast_1d(np.asarray(eta, dtype=float)))
        return values


@dataclass(frozen=True)
class Material:
    where: str
    density: float
    youngs_modulus: float
    shear_modulus: float | None


def material_of(
    where: str, density: float, youngs_modulus: float, shear_modulus: float | None, poisson_ratio: float | None
) -> Material:
    rho, e = number(f"{where}: density", density, "kg/m³"), number(f"{where}: youngs_modulus", youngs_modulus, "Pa")
    if shear_modulus is not None and poisson_ratio is not None:
        raise ArgumentError(f"{where}: got a shear_modulus and a poisson_ratio; give one of them")
    if shear_modulus is not None:
        return Material(where, rho, e, number(f"{where}: shear_modulus", shear_modulus, "Pa"))
    if poisson_ratio is None:
        return Material(where, rho, e, None)
    nu = number(f"{where}: poisson_ratio", poisson_ratio, least=-1.0)
    if nu > 0.5:
        raise ArgumentError(f"{where}: poisson_ratio: got {nu:g}; give a number above -1, at most 0.5")
    return Material(where, rho, e, e / (2 * (1 + nu)))
