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
from typing import Protocol, Self, TypeAlias

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
from gdalembert.dynamics.newton_euler.links import NO_TURN, Full, LinkMotion, Rotation, Spin
from gdalembert.model.tree import Element, Joint, Tree
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
        """The index of the joint that has its coordinates."""
        return self.element.index

    @property
    def carrier(self) -> int:
        """The station that carries it; −1 is the universe."""
        return self.element.carrier

    @property
    def rate(self) -> float:
        """The factor from v to the rates at which its stations move along their columns."""
        return 1.0

    def velocity(self, v: Matrix) -> Matrix:
        """Rates of the element (n)."""
        return self.rate * self.joint.velocity(v)

    @property
    def frame(self) -> Placement:
        """F and o."""
        return NO_TURN, _NULL

    @property
    @abstractmethod
    def stations(self) -> Sequence[Station]:
        """The links or sections that it moves."""

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
        """True if all that it moves is on one station, with which its frame moves, and it has no mass of its own."""
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
        """Stations of the element, displaced along their columns, in its frame."""

    def rates_beyond_displacement(self, v: Matrix) -> Sequence[Motion]:
        """ė − e′ of its stations (3 × n each), in its frame: zero where v = dq/dt."""
        n = self.joint.type.nv
        return [Motion(ca.DM(3, n), ca.DM(3, n)) for _ in self.stations]

    def column_rates(self, v: Matrix) -> Sequence[Motion]:
        """ė of its stations (3 × n each) as seen from them: zero where columns are constant in their axes."""
        n = self.joint.type.nv
        return [Motion(ca.DM(3, n), ca.DM(3, n)) for _ in self.stations]

    def own_displaced(self, at: InMotion) -> tuple[InwardColumns, list[Matrix]]:
        """Wrenches that rise from its own mass, displaced along its coordinates, and its blocks (n × n) of matrices."""
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


@dataclass(frozen=True)
class DeformingAtQ(ElementAtQ):
    """A body that deforms with coordinates of its own, and the sections of it that carry others.

    What is fixed to its link belongs to it: m, h, J, P and M are in the axes of the link about its origin.

    Attributes:
        tree, q: of the robot.
        sections: its stations.
    """

    tree: Tree
    q: Matrix
    sections: Sequence[ElementSection]

    @classmethod
    @abstractmethod
    def of(cls, element: Element, tree: Tree, q: Matrix) -> Self:
        """The element at q."""

    @cached_property
    def stations(self) -> Sequence[Station]:
        turns = [NO_TURN if self.is_upright else Full(section.rotation) for section in self.sections]
        parts = zip(self.element.stations, turns, self.sections, strict=True)
        return [Station(i, turn, section.origin, *section.translations_and_turns) for i, turn, section in parts]

    def motions(self, carrier: LinkMotion, v: Matrix, a: Matrix) -> Sequence[LinkMotion]:
        rates = self.joint.velocity(v), self.joint.velocity(a)
        return [section.motion(carrier, *rates) for section in self.sections]

    def levers(self, omega: Matrix, v: Matrix, times: float) -> tuple[Matrix, Sequence[Matrix]]:
        return _NULL, [section.lever_rate(omega, self.joint.velocity(v), times) for section in self.sections]

    def displaced(self, at: InMotion) -> Sequence[Displacement]:
        """Sections of the element, in link axes, with the wrenches on them that do not turn."""
        displacements = []
        rates = self.joint.velocity(at.v), self.joint.velocity(at.a)
        for section, station, alongside in zip(self.sections, self.stations, at.aligned, strict=True):
            e, weights = station.columns, station.weights
            aligned = [wrench.turned(Full(section.rotation)) for wrench in alongside]
            turns, held = Motion(ca.DM(*e.linear.shape), e.angular), nothing(e.linear.shape[1])
            for lever, wrench in aligned:
                held += turns.carry(wrench).about(-lever)
            stiffness = weights.T @ (e.angular.T @ held.moment) @ weights
            fields = section.fields(at.carrier, *rates, at.times)
            displacements.append(Displacement(fields, held, held.force, pushed_by(e, aligned)[1], stiffness))
        return displacements

    def own_displaced(self, at: InMotion) -> tuple[InwardColumns, list[Matrix]]:
        """CasADi's derivatives of what it demands, under wrenches that turn with its sections."""
        # Derivatives by hand made those of tau of arms in modes 4 to 8 % smaller, those of forward dynamics 2 to 3 %,
        # for a hundred lines more. Fields of sections stay by hand: with CasADi's it would be 9 to 14 %.
        borne = [under(aligned, wrench).vector for aligned, wrench in zip(at.aligned, at.borne, strict=True)]
        spin, carrier = at.carrier.spin, at.carrier
        moving = (carrier.omega, carrier.alpha, spin.matrix, spin.differences, carrier.acceleration)
        values = [ca.SX(value) for value in (self.q, at.v, at.a, *moving, *borne)]
        inputs = [ca.SX.sym("x", value.sparsity()) for value in values]
        (q, v, a, omega, alpha, *turning, acceleration), wrenches = inputs[:8], inputs[8:]
        motion = LinkMotion(omega, alpha, Spin(*turning), _NULL, acceleration)
        on_sections = [Wrench(wrench[:3], wrench[3:]) for wrench in wrenches]
        wrench, efforts = self.of(self.element, self.tree, q).demanded(motion, v, a, on_sections)
        coordinates = (self.joint.velocity(v), self.joint.configuration(q))[: at.times]
        slopes = [ca.jacobian(ca.SX(x), y) for y in coordinates for x in (*wrench, efforts)]
        slopes = [ca.sparsify(at.times / 2 * slope) for slope in ca.substitute(slopes, inputs, values)]
        fields = tuple(Wrench(*slopes[k : k + 2]) for k in range(0, len(slopes), 3))
        still = ca.DM(3, self.joint.type.nv)
        return InwardColumns(fields, self.columns, self.eta(carrier, at.v, at.times), still), slopes[2::3]

    def upright(self, carrier: Rotation) -> tuple[ElementAtQ, Sequence[Rotation]]:
        return replace(self, is_upright=True), [Full(section.rotation) for section in self.sections]
