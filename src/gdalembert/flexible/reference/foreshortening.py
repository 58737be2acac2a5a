"""Foreshortening as modes of their own, whose coordinates follow from the others.

The mass of a bent beam shortens in shapes with the coordinates −½ fᵀ S_b f. Equations of motion for linear modes hold
for all shapes at once, with coordinates g of their own; with q̇_free = Γ q̇ they are projected (d'Alembert):

    M = Γᵀ M_free Γ        V = Γᵀ (V_free + M_free Γ̇ q̇)        G = Γᵀ G_free
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from gdalembert.flexible.element import Coordinates, Element, ModalInertia, Station
from gdalembert.spatial.algebra import Matrix


@dataclass(frozen=True)
class Untied:
    """A robot with all shapes as modes.

    Attributes:
        given: the robot whose modes shorten its links.
        elements: the same joints and links, all shapes being modes.
    """

    given: Sequence[Element]
    elements: Sequence[Element]

    @classmethod
    def of(cls, given: Sequence[Element]) -> Untied:
        """From elements, parents before children."""
        first = sum(element.type.nv for element in given)
        elements: list[Element] = []
        for element in given:
            elements.append(
                replace(
                    element,
                    inertia=_free(element.inertia),
                    stations=tuple(_free_station(station, element.inertia) for station in element.stations),
                    first_mode=first,
                )
            )
            first += element.inertia.shapes
        return cls(given, elements)

    def configuration(self, q: Matrix) -> Matrix:
        """q of all shapes."""
        theirs, behind = Coordinates.of(self.given), Coordinates.of(self.elements).behind
        parts: dict[int, Matrix] = {}
        for given, element in zip(self.given, self.elements, strict=True):
            parts[element.idx_q] = theirs.joint(given, q)
            parts[element.first_mode + behind] = given.inertia.coordinates(theirs.modes(given, q))
        return _in_order(parts)

    def jacobian(self, q: Matrix) -> Matrix:
        """Γ."""
        theirs = Coordinates.of(self.given)
        rates = ca.DM.eye(theirs.nv)
        rows: dict[int, Matrix] = {}
        for given, element in zip(self.given, self.elements, strict=True):
            rows[element.idx_v] = rates[element.idx_v : element.idx_v + element.type.nv, :]
            modes = rates[given.first_mode : given.first_mode + given.inertia.modes, :]
            rows[element.first_mode] = given.inertia.coordinates_jacobian(theirs.modes(given, q)) @ modes
        return _in_order(rows)

    def bias(self, v: Matrix) -> Matrix:
        """Γ̇ q̇."""
        theirs = Coordinates.of(self.given)
        parts: dict[int, Matrix] = {}
        for given, element in zip(self.given, self.elements, strict=True):
            parts[element.idx_v] = ca.DM(element.type.nv, 1)
            parts[element.first_mode] = given.inertia.coordinates_bias(theirs.modal_rate(given, v))
        return _in_order(parts)


def _in_order(parts: Mapping[int, Matrix]) -> Matrix:
    """Below one another, by the place where each begins; links without modes have none."""
    return ca.vertcat(*(parts[start] for start in sorted(parts) if parts[start].numel()))


def _free(inertia: ModalInertia) -> ModalInertia:
    n = inertia.shapes
    return ModalInertia(inertia.rigid, inertia.first, inertia.second, np.zeros((0, n, n)), np.zeros((n, n)))


def _free_station(station: Station, inertia: ModalInertia) -> Station:
    """The others do not move it: its own shortening follows from the modes."""
    more = inertia.shapes - inertia.modes
    return replace(
        station,
        translation=np.pad(station.translation, ((0, 0), (0, more))),
        rotation=np.pad(station.rotation, ((0, 0), (0, more))),
        shortening=np.pad(station.shortening, (0, more)),
    )
