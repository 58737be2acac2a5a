"""A Cosserat rod as a link: geometrically exact, with strain as the unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.flexible.beam_link import BeamLink, Where
from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.flexible_link import FlexibleLink
from gdalembert.flexible.rods.joints import RodJoints, clamped_mass_matrix
from gdalembert.flexible.rods.segments import STRAINS, Settings
from gdalembert.flexible.station import Station, root
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import Property, evaluate, integer, number
from gdalembert.spatial.arrays import Array, frozen

MOST = 20
"""The highest degree; integrals of higher ones lose digits."""


@dataclass(frozen=True, eq=False)
class CosseratRod(BeamLink):
    """A flexible link that bends, twists and stretches as far as it likes (Renda et al. 2020, Boyer et al. 2021).

    The strain of each segment is a polynomial of the abscissa, and its coefficients are the coordinates: of strain s
    and of Legendre's polynomial P_d, segment by segment, strain by strain, with rising degree. Positions and rotations
    follow without a limit of small deflections. Coordinates are measured from the rod at rest: q = 0 has no stress.

    Where the beam runs, what it replaces and how it is damped is as of :class:`~gdalembert.FlexibleLink`.

    Attributes:
        beam: with a length or without.
        segments: number of pieces of equal length, each with coordinates of its own.
        degree: of the polynomials; 0 is piecewise constant strain.
        strains: those that the rod has, of ``"torsion"`` [rad/m], ``"bending_y"``, ``"bending_z"`` (curvature towards y
            and towards z, with EI_z and EI_y [1/m]), ``"elongation"``, ``"shear_y"``, ``"shear_z"``. It is rigid
            against the others.
        rest: strain of the unloaded rod, by name, also of strains that it does not have otherwise: a number, or a
            function of the abscissa η [m].
        to, root, children, hub, keep_body, tip_body, modal_damping, rayleigh: as in :class:`BeamLink`; ``rayleigh=(0,
            β)`` is Kelvin–Voigt's damping.

    Raises:
        ArgumentTypeError: if an argument is of the wrong type.
        ArgumentError: if a value is invalid, or the beam has no stiffness for a strain.
    """

    beam: Beam
    segments: int = 1
    degree: int = 3
    strains: tuple[str, ...] = ("torsion", "bending_y", "bending_z")
    rest: Mapping[str, Property] | None = field(default=None)

    def __post_init__(self) -> None:
        if not isinstance(self.beam, Beam):
            raise ArgumentTypeError(f"CosseratRod: expected a Beam, got {self.beam!r}")
        object.__setattr__(self, "segments", integer("CosseratRod: segments", self.segments, 1))
        object.__setattr__(self, "degree", integer("CosseratRod: degree", self.degree, 0, MOST))
        object.__setattr__(self, "strains", self._strains())
        object.__setattr__(self, "rest", self._rest())
        self._settle()
        for where in self.children.values():
            if self.has_length:
                self.station(where)
        number_of_modes = self.segments * len(self.strains) * (self.degree + 1)
        if isinstance(self.modal_damping, tuple) and len(self.modal_damping) != number_of_modes:
            raise ArgumentError(
                f"modal_damping: got {len(self.modal_damping)} ratios; give one, or one for each of the "
                f"{number_of_modes} coordinates"
            )

    def _strains(self) -> tuple[str, ...]:
        given: Any = self.strains
        known = ", ".join(map(repr, STRAINS))
        if isinstance(given, str) or not isinstance(given, tuple | list):
            raise ArgumentTypeError(f"CosseratRod: strains: got {given!r}; give some of ({known})")
        if not given:
            raise ArgumentError(f"CosseratRod: strains: got none; give some of ({known})")
        for name in given:
            if not isinstance(name, str) or name not in STRAINS:
                raise ArgumentError(f"CosseratRod: strains: got {name!r}; give some of ({known})")
            if given.count(name) > 1:
                raise ArgumentError(f"CosseratRod: strains: got {name!r} {given.count(name)} times; give it once")
            if getattr(self.beam, STRAINS[name][3]) is None:
                raise ArgumentError(
                    f"CosseratRod: strains: {name!r} needs the stiffness {STRAINS[name][3]} of the beam; give it, as "
                    f"by dataclasses.replace(beam, {STRAINS[name][3]}=…), or leave {name!r} out"
                )
        return tuple(given)

    def _rest(self) -> dict[str, Property]:
        given: Any = {} if self.rest is None else self.rest
        if not isinstance(given, Mapping):
            raise ArgumentTypeError(f"CosseratRod: rest: got {given!r}; give {{strain: number or function of η [m]}}")
        found: dict[str, Property] = {}
        for name, value in given.items():
            if name not in STRAINS:
                known = ", ".join(map(repr, STRAINS))
                raise ArgumentError(f"CosseratRod: rest: got {name!r}; give some of ({known})")
            what = f"CosseratRod: rest[{name!r}]"
            found[name] = value if callable(value) else number(what, value, least=-np.inf)
            if name == "elongation" and not callable(value) and value <= -1:
                raise ArgumentError(f"{what}: got {value:g}; give more than -1, where the rod has no length")
        return found

    @property
    def settings(self) -> Settings:
        """What the rod says of its segments."""
        rest = {
            name: partial(evaluate, f"CosseratRod: rest[{name!r}]", "1/m", value, least=-np.inf)
            for name, value in (self.rest or {}).items()
            if callable(value) or value
        }
        return Settings(self.segments, self.strains, self.degree, rest)

    @property
    def has_length(self) -> bool:
        return self.beam.length is not None

    @property
    def length(self) -> float:
        return self.beam.require_length()

    def with_length(self, length: float) -> CosseratRod:
        """The same rod with a beam of a length [m]."""
        return replace(self, beam=self.beam.with_length(length))

    @property
    def body(self) -> Array:
        return self.beam.pseudo_inertia

    @property
    def shears(self) -> bool:
        """Whether the rod has shear strain in both directions in which it bends."""
        return all(self.strains.count(f"shear_{x}") >= self.strains.count(f"bending_{x}") for x in "yz")

    def station(self, where: Where) -> Station:
        """The section at ``"root"``, ``"tip"`` or an abscissa [m], straight and without modes.

        Raises:
            ArgumentError: if it does not lie on the rod.
        """
        eta = {"root": 0.0, "tip": self.length}[where] if isinstance(where, str) else where
        if eta > self.length * (1 + ROUND_OFF):
            raise ArgumentError(f"station: {eta:g} m does not lie on the link, which is {self.length:g} m long")
        at = root(0)
        return replace(at, position=np.array([eta, 0.0, 0.0]))

    def damping_matrix(self) -> Array:
        """D (n × n) of the coordinates of the bare rod, straight and clamped at its root; zero without damping.

        Raises:
            ArgumentError: if ``modal_damping`` is given and a coordinate has no inertia of its own.
        """
        if self.rayleigh is None and self.modal_damping is None:
            n = len(self.mode_names)
            return frozen(np.zeros((n, n)))
        made = RodJoints.of(self.beam, self.settings, np.eye(4), {})
        return self.damping(clamped_mass_matrix(made), made.stiffness)

    @property
    def mode_names(self) -> tuple[str, ...]:
        """``"torsion P0"``, …, of several segments ``"segment 1 torsion P0"``, …"""
        return tuple(name for names in self.settings.names for name in names)


Links: TypeAlias = Mapping[str, FlexibleLink | CosseratRod]
"""The flexible links of an arm, by the name of their body frame."""


def sections(rod: CosseratRod, etas: Array, q: Matrix) -> list[tuple[Matrix, Matrix]]:
    """R and p of sections of a rod in the clamped frame, at coordinates q.

    Args:
        rod: with a length.
        etas: abscissae (m,) [m], rising.
        q: (n).

    Raises:
        ArgumentError: if an abscissa does not lie on the rod.
    """
    found: list[tuple[Matrix, Matrix]] = []
    root: tuple[Matrix, Matrix] = (ca.DM.eye(3), ca.DM(3, 1))
    for eta in etas:
        rod.station(float(eta))
    for part in rod.settings.along(rod.beam, np.eye(4)):
        segment = part.segment()
        own, q = ca.vertsplit(q, [0, segment.coordinates, q.shape[0]])
        end = part.start + part.length
        on_segment = [x for x in etas[len(found) :] if x <= end * (1 + ROUND_OFF)]
        placed = [part.station(segment, float(x), ()).placement(own) for x in (*on_segment, end)]
        *here, root = [(root[0] @ r, root[1] + root[0] @ p) for r, p in placed]
        found += here
    return found
