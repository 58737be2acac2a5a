"""Elements at q: coordinates that move stations against the station that carries them.

A joint moves one station, its link; the modes of a link, or the strain of a segment, move sections of it. An element
stands at its frame (F, o) on its carrier, and its stations at (T, p) in that frame, where they move by the columns e
per unit of its rates. All that a recursion knows of an element is

    outward     the motions of its stations, from that of its carrier
    inward      the wrench that it needs of its carrier, and its efforts, under the wrenches that its stations bear
    its mass    m, h and J, the wrench P that its frame needs per unit of its second rates, and M of these alone

Springs and dampers of its coordinates are forces like others (:mod:`gdalembert.dynamics.forces`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import casadi as ca

from gdalembert.dynamics.newton_euler.composite import MASSLESS, Composite, nothing
from gdalembert.dynamics.newton_euler.displacements import (
    AT_REST,
    CompositeRate,
    Displacement,
    Field,
    InMotion,
    InwardColumns,
    pushed_by,
    under,
)
from gdalembert.dynamics.newton_euler.links import NO_TURN, Full, LinkMotion, Rotation
from gdalembert.model.tree import Element, Joint
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench

Placement: TypeAlias = tuple[Rotation, Matrix]
"""R and p."""

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class Station:
    """A link or a section that an element moves, in the frame of the element.

    Attributes:
        index: of the station in the tree.
        turn, origin: T and p, the station in the frame.
        columns: e, 3 × k each. ``weights``: the columns in each of the n rates (k × n).
    """

    index: int
    turn: Rotation
    origin: Matrix
    columns: Motion
    weights: Matrix

    @cached_property
    def motions(self) -> Motion:
        """The motions of the station per unit of each rate, 3 × n each."""
        return self.columns.times(self.weights)

    def work(self, wrench: Wrench) -> Matrix:
        """The efforts of wrenches about the station, in the axes of the frame, per unit of rate (n rows)."""
        return self.weights.T @ wrench.work(self.columns.linear, self.columns.angular)


@dataclass(frozen=True)
class ElementAtQ(ABC):
    """An element at q; one that has no more is without mass, and stands where its carrier does.

    Attributes:
        element: its place in the tree.
        joint: that has its coordinates.
        is_upright: whether a joint's frame has the axes before the turn of its link, which leave its columns as they
            are, and sections have those of their link; else all stations have axes of their own.
    """

    element: Element
    joint: Joint
    is_upright: bool = field(default=False, kw_only=True)

    @property
    def index(self) -> int:
        """Of the joint that has its coordinates."""
        return self.element.index

    @property
    def carrier(self) -> int:
        """The station that carries it; −1 is the universe."""
        return self.element.carrier

    @property
    def rate(self) -> float:
        """How many times v its stations move along their columns."""
        return 1.0

    def velocity(self, v: Matrix) -> Matrix:
        """Its rates (n)."""
        return self.rate * self.joint.velocity(v)

    @property
    def frame(self) -> Placement:
        """F and o."""
        return NO_TURN, _NULL

    @property
    @abstractmethod
    def stations(self) -> Sequence[Station]:
        """What it moves."""

    @property
    def body(self) -> Composite:
        """m, h and J of its own mass, in its frame."""
        return MASSLESS

    @property
    def columns(self) -> Wrench:
        """P (3 × n each), in its frame."""
        return nothing(self.joint.type.nv)

    @property
    def own(self) -> Matrix:
        """M (n × n)."""
        return ca.DM(self.joint.type.nv, self.joint.type.nv)

    @property
    def moves_one_body(self) -> bool:
        """Whether all that it moves is on one station, with which its frame moves, and it has no mass of its own."""
        return False

    @abstractmethod
    def motions(self, carrier: LinkMotion, v: Matrix, a: Matrix) -> Sequence[LinkMotion]:
        """The motions of its stations, in their axes, from that of its carrier."""

    @abstractmethod
    def demanded(
        self, carrier: LinkMotion, v: Matrix, a: Matrix, borne: Sequence[Wrench] = ()
    ) -> tuple[Wrench, Matrix]:
        """The wrench that it needs of its carrier, about the carrier's origin, and its efforts (n).

        Its stations bear wrenches, in their axes; without these it is what its own mass needs.
        """

    @abstractmethod
    def levers(self, omega: Matrix, v: Matrix, times: float) -> tuple[Matrix, Sequence[Matrix]]:
        """Velocities, so many times: of its frame against a carrier that turns with ω, and of its stations against it.

        Those of origins, in the axes of the carrier and in those of the frame.
        """

    def body_rate(self, omega: Matrix, v: Matrix, times: float) -> CompositeRate:
        """Σ m ẋ and Σ m ẋ xᵀ of its own mass, so many times, on a carrier that turns with ω."""
        return AT_REST

    def eta(self, carrier: LinkMotion, v: Matrix, times: float) -> Matrix:
        """η (3 × n) of its own mass, with so many times the velocities."""
        return ca.DM(3, self.joint.type.nv)

    @abstractmethod
    def displaced(self, at: InMotion) -> Sequence[Displacement]:
        """Its stations, displaced along their columns, in its frame."""

    def rates_beyond_displacement(self, v: Matrix) -> Sequence[Motion]:
        """ė − e′ of its stations (3 × n each), in its frame: zero where v = dq/dt."""
        n = self.joint.type.nv
        return [Motion(ca.DM(3, n), ca.DM(3, n)) for _ in self.stations]

    def column_rates(self, v: Matrix) -> Sequence[Motion]:
        """ė of its stations (3 × n each) as seen from them: zero where columns are constant in their axes."""
        n = self.joint.type.nv
        return [Motion(ca.DM(3, n), ca.DM(3, n)) for _ in self.stations]

    def own_displaced(self, at: InMotion) -> tuple[InwardColumns, list[Matrix]]:
        """What rises from its own mass, displaced along its coordinates, and its block of each matrix (n × n)."""
        n = self.joint.type.nv
        own = [ca.DM(n, n)] * at.times
        return InwardColumns((nothing(n),) * at.times, nothing(n), ca.DM(3, n), ca.DM(3, n)), own

    @abstractmethod
    def upright(self, carrier: Rotation) -> tuple[ElementAtQ, Sequence[Rotation]]:
        """The element on a carrier whose axes are turned, where sections have the axes of its frame; and their turns.

        What sections carry is turned into the axes of their link at once, by one rotation: for sums over subtrees.
        """


class ElementSection(Protocol):
    """A section of a body that deforms, in the axes of its link: R and p, and how it moves."""

    @property
    def rotation(self) -> Matrix: ...

    @property
    def origin(self) -> Matrix: ...

    @property
    def translations_and_turns(self) -> tuple[Motion, Matrix]: ...

    def motion(self, link: LinkMotion, v: Matrix, a: Matrix) -> LinkMotion: ...

    def lever_rate(self, omega: Matrix, v: Matrix, times: float) -> Matrix: ...

    def fields(self, link: LinkMotion, v: Matrix, a: Matrix, times: int) -> tuple[Field, ...]: ...


class Deformed(Protocol):
    """The mass of a body that deforms, with what is fixed to its link, in the axes of the link about its origin."""

    @property
    def body(self) -> Composite: ...

    @property
    def columns(self) -> Wrench: ...

    @property
    def own(self) -> Matrix: ...

    def rates(self, omega: Matrix, v: Matrix, times: float) -> tuple[Matrix, Matrix]: ...

    def in_motion(self, link: LinkMotion, v: Matrix, a: Matrix) -> DeformedInMotion: ...


class DeformedInMotion(Protocol):
    """Wrenches and efforts that its mass needs as its coordinates are displaced."""

    @property
    def columns(self) -> Wrench: ...

    def eta(self, times: float) -> Matrix: ...

    def rates(self, times: float) -> Wrench: ...

    def second_rates(self) -> Wrench: ...

    def by_v(self, times: float) -> Matrix: ...

    def by_f(self, borne: Sequence[tuple[Any, Wrench]]) -> Matrix: ...


@dataclass(frozen=True)
class DeformingAtQ(ElementAtQ):
    """A body that deforms with coordinates of its own, and the sections of it that carry others."""

    deformed: Deformed
    sections: Sequence[ElementSection]

    @cached_property
    def stations(self) -> Sequence[Station]:
        turns = [NO_TURN if self.is_upright else Full(section.rotation) for section in self.sections]
        each = zip(self.element.stations, turns, self.sections, strict=True)
        return [Station(i, turn, section.origin, *section.translations_and_turns) for i, turn, section in each]

    @property
    def body(self) -> Composite:
        return self.deformed.body

    @property
    def columns(self) -> Wrench:
        return self.deformed.columns

    @property
    def own(self) -> Matrix:
        return self.deformed.own

    def motions(self, carrier: LinkMotion, v: Matrix, a: Matrix) -> Sequence[LinkMotion]:
        rates = self.joint.velocity(v), self.joint.velocity(a)
        return [section.motion(carrier, *rates) for section in self.sections]

    def levers(self, omega: Matrix, v: Matrix, times: float) -> tuple[Matrix, Sequence[Matrix]]:
        return _NULL, [section.lever_rate(omega, self.joint.velocity(v), times) for section in self.sections]

    def body_rate(self, omega: Matrix, v: Matrix, times: float) -> CompositeRate:
        return CompositeRate(*self.deformed.rates(omega, self.joint.velocity(v), times))

    def eta(self, carrier: LinkMotion, v: Matrix, times: float) -> Matrix:
        rates = self.joint.velocity(v)
        return self.deformed.in_motion(carrier, rates, rates).eta(times)

    def displaced(self, at: InMotion) -> Sequence[Displacement]:
        """Its sections, in link axes, in which translations do not turn with a section, but what it bears does.

        What this works on columns that change is the part of the body of the link.
        """
        found = []
        rates = self.joint.velocity(at.v), self.joint.velocity(at.a)
        for section, station, borne, alongside in zip(self.sections, self.stations, at.borne, at.aligned, strict=True):
            e, weights, r = station.columns, station.weights, Full(section.rotation)
            aligned = [each.turned(r) for each in alongside]
            carried, (pushed, turning) = e.carry(borne.turned(r)), pushed_by(e, aligned)
            _, turned = pushed_by(Motion(ca.DM(*e.linear.shape), e.angular), aligned)
            stiffness = weights.T @ (turned.T @ e.angular) @ weights
            fields = section.fields(at.carrier, *rates, at.times)
            found.append(Displacement(fields, carried - pushed, carried.force, turning, stiffness))
        return found

    def own_displaced(self, at: InMotion) -> tuple[InwardColumns, list[Matrix]]:
        v, a = self.joint.velocity(at.v), self.joint.velocity(at.a)
        modes, times = self.deformed.in_motion(at.carrier, v, a), at.times
        fields, own = [modes.rates(times)], [modes.by_v(times)]
        if times == 2:
            borne = []  # the force in link axes and the moment in station axes that each section bears
            for section, wrench, aligned in zip(self.sections, at.borne, at.aligned, strict=True):
                r = Full(section.rotation)
                force = under([each.turned(r) for each in aligned], wrench.turned(r)).force
                borne.append((section, Wrench(force, under(aligned, wrench).moment)))
            fields, own = [*fields, modes.second_rates()], [*own, modes.by_f(borne)]
        return InwardColumns(tuple(fields), modes.columns, modes.eta(times), ca.DM(3, v.shape[0])), own

    def upright(self, carrier: Rotation) -> tuple[ElementAtQ, Sequence[Rotation]]:
        return replace(self, is_upright=True), [Full(section.rotation) for section in self.sections]
