"""Strain segments at q: their stations and their inertia, with the interface of a flexible link in assumed modes.

With U, ω of the sections and the particles z_k of :class:`~gdalembert.model.modal_inertia.SegmentInertia` (ours):

    ẗ_j = R_j (U_j ν_j + 2 ω_j × ν̇_j + ν̈_j)        z̈_k = Σ_j L_jk ẗ_j
    f   = ∫ (ẍ + ḧ) dm = m ẍ + Σ β_k z̈_k              f_j = ∫ a_j (ẍ + ḧ) dm = Σ_k L_jk (z̈_k + β_k ẍ)
    g   = Σ (∂t_j/∂q)ᵀ f_j + W_jᵀ m_j                 n   = Σ t_j × f_j + R_j m_j

with the moments m_j = vee(U_j J_j − (U_j J_j)ᵀ) of the cross sections at the nodes, J_j = ∫ σ σᵀ dm.

In motion displacements along the coordinates turn the sections by columns Ω_j and move the tangents by T_j. Vectors are
in link axes; ′ is a rate seen from axes that do not turn. Displacement and time can be interchanged: the accelerations
of the tangents change by the second rates of these columns (ours),

    Ω_j = Σ Γ_i             Γ_i = R_i J_l ∂ψ/∂q, of the steps i before node j
    T_j  = Ω_j × t_j + R_j ∂ν_j/∂q
    T_j″ = Ω_j″ × t_j + 2 Ω_j′ × ṫ_j + Ω_j × ẗ_j + R_j U_j ∂ν_j/∂q

and so, with M_jk = Σ L L and the moments J_j of the cross sections, do the forces and moments by

    F_j = Σ M_jk T_k″       N_j = (tr J_j − J_j) Ω_j″ + 2 (tr J̇_j − J̇_j) Ω_j′ + Ω_j × m_j        J̇_j = [ω_j×] J_j

Rates alone change them by 2 (Σ M_jk T_k′, (tr J_j − J_j) Ω_j′ + (tr J̇_j − J̇_j) Ω_j). Loads that stand, f_j and the
moments C_i that the steps pass on, work on columns that change:

    ∂(Γ_iᵀ C_i)/∂q = Γ_iᵀ (∂C_i/∂q + C_i × Ω_i+1) + ∂(∂ψ/∂qᵀ J_rᵀ c_i)/∂q,        c_i = R_i+1ᵀ C_i held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.composite import Composite
from gdalembert.dynamics.newton_euler.displacements import (
    CompositeRate,
    Displacement,
    Field,
    InMotion,
    InwardColumns,
    pushed_by,
    under,
)
from gdalembert.dynamics.newton_euler.elements import DeformingAtQ
from gdalembert.dynamics.newton_euler.links import Full, LinkMotion, Spin, spin_of
from gdalembert.model.joints.strain_segment import SegmentAtQ, StrainStation, Turn, sums, weighted_sum
from gdalembert.model.modal_inertia import SegmentInertia
from gdalembert.model.rounding import ENTRY_ERROR, drop
from gdalembert.model.tree import Element, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.spatial_vectors import Motion, Wrench


@dataclass(frozen=True)
class SegmentRates:
    """The first and the second rates of the columns of a segment (3 × n each), in link axes.

    They are seen from axes that do not turn; the link moves so, and the coordinates with v and a.
    """

    at: SegmentAtQ
    link: LinkMotion
    v: Matrix
    a: Matrix

    @cached_property
    def _sections(self) -> list[tuple[Matrix, Spin]]:
        """ω and U of the sections, in their axes."""
        omegas = self.at.sections(self.link.omega, self.v)
        alphas = self.at.accelerations(self.link.omega, self.link.alpha, self.v, self.a)
        return [(omega, spin_of(alpha, omega)) for omega, alpha in zip(omegas, alphas, strict=True)]

    def of_step(self, turn: Turn, node: int) -> tuple[Matrix, Matrix]:
        """Γ′ and Γ″ of a step from a node."""
        of_carrier = (self.link.omega, self.link.spin) if self.at.axis is not None else self._sections[node]
        return turn.rates_turned_by(self.at.rotations[node], *of_carrier, self.v, self.a)

    @cached_property
    def angular(self) -> tuple[list[Matrix], list[Matrix]]:
        """Ω_j′ and Ω_j″."""
        steps = [self.of_step(turn, node) for node, turn in enumerate(self.at.turns)]
        first, second = (sums([step[k] for step in steps], self.at.segment.coordinates) for k in (0, 1))
        return first, second

    @cached_property
    def tangents(self) -> tuple[list[Matrix], list[Matrix]]:
        """T_j′ and T_j″."""
        at, (first, second), omega = self.at, self.angular, self.link.omega
        rates = at.tangent_rates(omega, self.v)
        accelerations = at.tangent_accelerations(omega, self.link.alpha, self.v, self.a)
        found: tuple[list[Matrix], list[Matrix]] = ([], [])
        for j, (t, turned) in enumerate(zip(at.tangents, at.angular_columns, strict=True)):
            t, rate, again = (spatial.skew(x) for x in (t, rates[j], accelerations[j]))
            r, own, (omega, spin) = at.rotations[j], at.strain_columns[j], self._sections[j]
            found[0].append(r @ (spatial.skew(omega) @ own) - t @ first[j] - rate @ turned)
            found[1].append(r @ (spin @ own) - t @ second[j] - 2 * rate @ first[j] - again @ turned)
        return found


@dataclass(frozen=True)
class StrainedStation:
    """A station of a strain segment at q, in link axes."""

    station: StrainStation
    at: SegmentAtQ

    @cached_property
    def rotation(self) -> Matrix:
        """R."""
        return self.station.rotation(self.at)

    @cached_property
    def origin(self) -> Matrix:
        """p."""
        return spatial.constant(self.at.segment.origin) + self.station.sum(self.at.tangents)

    @cached_property
    def columns(self) -> Motion:
        """The motions of the station per unit of each rate, ∂p/∂q and Ω."""
        return Motion(self.station.sum(self.at.tangent_columns), self.station.angular_columns(self.at))

    @property
    def translations_and_turns(self) -> tuple[Motion, Matrix]:
        """The columns, and their weights in each coordinate: 1."""
        return self.columns, ca.DM.eye(self.station.nv)

    def motion(self, link: LinkMotion, v: Matrix, a: Matrix) -> LinkMotion:
        """The motion of the station from that of its link, with the rates v of the strain and their rates a."""
        node, r = self.station.node, self.rotation
        omega = self.at.sections(link.omega, v)[node]
        alpha = self.at.accelerations(link.omega, link.alpha, v, a)[node]
        if (turn := self.station.turn(self.at)) is not None:
            alpha = turn.carried_acceleration(omega, alpha, v, a)
            omega = turn.carried_velocity(omega, v)
        velocity = r.T @ (link.velocity + self.lever_rate(link.omega, v))
        return LinkMotion(omega, alpha, spin_of(alpha, omega), velocity, r.T @ self.acceleration(link, v, a))

    def lever_rate(self, omega: Matrix, v: Matrix, times: float = 1) -> Matrix:
        """The velocity of the origin against that of the link, so many times, in link axes."""
        root = ca.cross(omega, spatial.constant(self.at.segment.origin))
        return times * (root + self.station.sum(self.at.tangent_rates(omega, v)))

    def acceleration(self, link: LinkMotion, v: Matrix, a: Matrix) -> Matrix:
        """Acceleration of the origin, in link axes."""
        root = link.acceleration + link.spin @ spatial.constant(self.at.segment.origin)
        return root + self.station.sum(self.at.tangent_accelerations(link.omega, link.alpha, v, a))

    def fields(self, link: LinkMotion, v: Matrix, a: Matrix, times: int) -> tuple[Field, ...]:
        """The fields of its columns on a link in motion: ė, or ė + e′ and e″."""
        turned, (first, second) = self.columns.angular, self.rates(link, v, a)
        linear = second.linear + spatial.skew(self.acceleration(link, v, a)) @ turned
        velocity = Field(times * first.linear, times * first.angular, turned)
        return (velocity, Field(linear, second.angular, first.angular))[:times]

    def rates(self, link: LinkMotion, v: Matrix, a: Matrix) -> tuple[Motion, Motion]:
        """The first and the second rate of the columns, seen from axes that do not turn."""
        station, rates = self.station, SegmentRates(self.at, link, v, a)
        angular = [each[station.node] for each in rates.angular]
        if (turn := station.turn(self.at)) is not None:
            angular = [x + y for x, y in zip(angular, rates.of_step(turn, station.node), strict=True)]
        first, second = (station.sum(each) for each in rates.tangents)
        return Motion(first, angular[0]), Motion(second, angular[1])


@dataclass
class Carried:
    """The forces f_j conjugate to the tangents, in link axes, and the moments m_j on sections, in section axes."""

    at: SegmentAtQ
    forces: list[Matrix]
    moments: list[Matrix]
    between: Matrix = 0
    """Modal forces of moments on stations between nodes, by their own steps."""

    def bear(self, station: StrainedStation, force: Matrix, moment: Matrix) -> Carried:
        """Add a force on a station, in link axes, and a moment, in station axes."""
        own = station.station
        if (turn := own.turn(self.at)) is not None:
            self.between, moment = self.between + turn.effort(moment), turn.rotation @ moment
        self.forces = [f + float(x) * force if x else f for x, f in zip(own.weights, self.forces, strict=True)]
        self.moments = [m + moment if j == own.node else m for j, m in enumerate(self.moments)]
        return self


@dataclass(frozen=True)
class StrainAtQ(DeformingAtQ):
    """The strain of a segment of a rod, at the root of its link."""

    # Derivatives are by hand: CasADi's of what a segment demands make those of tau of a spatial rod 1.67 times as large
    # (53,000 instructions in place of 31,700), as they repeat for each coordinate what all share, the moments of each
    # step and the sums over nodes. Of a planar rod they are 1.10 times as large, but it needs no lines of its own here.

    sections: Sequence[StrainedStation]
    remainder: Array  # pseudo-inertia (4 × 4) of what is on the link beside the segment
    at: SegmentAtQ

    @classmethod
    def of(cls, element: Element, tree: Tree, q: Matrix) -> StrainAtQ:
        joint, body = tree.joints[element.index], tree.joints[element.carrier].pseudo_inertia
        rigid = element.inertia.rigid  # which the undeformed link has in its own
        remainder = drop(body - rigid, ENTRY_ERROR * np.abs(rigid).max())
        at = SegmentAtQ(element.inertia.segment, joint.configuration(q))
        sections = [StrainedStation(station, at) for station in element.types(tree)]
        return cls(element, joint, tree, q, sections, remainder, at)

    @property
    def inertia(self) -> SegmentInertia:
        """Inertia of the segment."""
        inertia: SegmentInertia = self.element.inertia
        return inertia

    @property
    def root(self) -> Matrix:
        """The root of the segment."""
        return spatial.constant(self.at.segment.origin)

    @cached_property
    def body(self) -> Composite:
        whole = spatial.constant(self.remainder) + self.inertia.pseudo_inertia(self.at)
        return Composite(whole[3, 3], whole[:3, 3], whole[:3, :3])

    @cached_property
    def own(self) -> Matrix:
        """M_ff (n × n)."""
        total: Matrix = ca.DM(self.inertia.modes, self.inertia.modes)
        for z in self.inertia.points(self.at.tangent_columns):
            total = total + z.T @ z
        for omega, moment in zip(self.at.angular_columns, self.section_columns, strict=True):
            total = total + omega.T @ moment
        return spatial.symmetric(total)

    @cached_property
    def section_inertias(self) -> list[Matrix]:
        """∫ σ σᵀ dm of the cross sections at the nodes, in link axes."""
        each = zip(self.at.rotations, self.inertia.sections, strict=True)
        return [spatial.congruence(r, spatial.constant(section)) for r, section in each]

    def section_rates(self, omega: Matrix, v: Matrix) -> list[Matrix]:
        """∫ dσ/dt σᵀ dm, where the link turns with ω."""
        each = zip(self.at.rotations, self.at.sections(omega, v), self.section_inertias, strict=True)
        return [spatial.skew(r @ turning) @ section for r, turning, section in each]

    @cached_property
    def section_columns(self) -> list[Matrix]:
        """The moments of the cross sections at the nodes per unit of each second rate (3 × n each)."""
        columns = self.at.angular_columns
        if self.at.axis is None:
            return [
                spatial.inertia_of(section) @ omega
                for section, omega in zip(self.section_inertias, columns, strict=True)
            ]
        each = zip(self.at.rotations, self.inertia.sections, columns, strict=True)  # R leaves columns as they are
        return [r @ (spatial.inertia_of(spatial.constant(section)) @ omega) for r, section, omega in each]

    def body_rate(self, omega: Matrix, v: Matrix, times: float) -> CompositeRate:
        v = self.joint.velocity(v)
        at, inertia, root = self.at, self.inertia, self.root
        body, turning = spatial.constant(self.remainder), spatial.skew(omega)
        points, rates = inertia.points(at.tangents), inertia.points(at.tangent_rates(omega, v))
        moved, slid = weighted_sum(inertia.weights, rates), turning @ root
        first = turning @ body[:3, 3] + inertia.mass * slid + moved
        second = turning @ body[:3, :3] + moved @ root.T
        second = second + slid @ (inertia.mass * root + weighted_sum(inertia.weights, points)).T
        for z, rate in zip(points, rates, strict=True):
            second = second + rate @ z.T
        return CompositeRate(times * first, times * sum(self.section_rates(omega, v), second))

    @cached_property
    def columns(self) -> Wrench:
        at = self.at
        columns = self.inertia.points(at.tangent_columns)
        force = weighted_sum(self.inertia.weights, columns)
        moment = spatial.skew(self.root) @ force
        for z, column in zip(self.inertia.points(at.tangents), columns, strict=True):
            moment = moment + spatial.skew(z) @ column
        for column in self.section_columns:
            moment = moment + column
        return Wrench(force, moment)

    def demanded(
        self, carrier: LinkMotion, v: Matrix, a: Matrix, borne: Sequence[Wrench] = ()
    ) -> tuple[Wrench, Matrix]:
        v, a = self.joint.velocity(v), self.joint.velocity(a)
        supported, accelerations = self._accelerations(carrier, v, a)
        remains = self.inertia.mass - float(self.inertia.weights @ self.inertia.weights)
        force = weighted_sum(self.inertia.weights, accelerations) + remains * supported
        acting = self.acting(carrier, v, a)
        for section, wrench in zip(self.sections, borne, strict=False):
            on_section = section.rotation @ wrench.force
            acting, force = acting.bear(section, on_section, wrench.moment), force + on_section
        g, moment = self.at.efforts(acting.forces, acting.moments)
        rod, body = Wrench(force, moment + ca.cross(self.root, force)), spatial.constant(self.remainder)
        return rod + carrier.demanded(body[3, 3], body[:3, 3], body[:3, :3]), g + acting.between

    def eta(self, carrier: LinkMotion, v: Matrix, times: float) -> Matrix:
        return self._in_motion(carrier, v, v).eta(times)

    def _in_motion(self, carrier: LinkMotion, v: Matrix, a: Matrix) -> Straining:
        return Straining(self, carrier, self.joint.velocity(v), self.joint.velocity(a))

    def displaced(self, at: InMotion) -> Sequence[Displacement]:
        """Sections of the segment, in link axes: translations do not turn with a section, but what it bears does.

        What this works on columns that change is the part of the body of the link.
        """
        displacements = []
        rates = self.joint.velocity(at.v), self.joint.velocity(at.a)
        for section, borne, alongside in zip(self.sections, at.borne, at.aligned, strict=True):
            e, r = section.columns, Full(section.rotation)
            aligned = [wrench.turned(r) for wrench in alongside]
            carried, (pushed, turning) = e.carry(borne.turned(r)), pushed_by(e, aligned)
            _, turned = pushed_by(Motion(ca.DM(*e.linear.shape), e.angular), aligned)
            fields = section.fields(at.carrier, *rates, at.times)
            stiffness = turned.T @ e.angular
            displacements.append(Displacement(fields, carried - pushed, carried.force, turning, stiffness))
        return displacements

    def own_displaced(self, at: InMotion) -> tuple[InwardColumns, list[Matrix]]:
        straining, times = self._in_motion(at.carrier, at.v, at.a), at.times
        fields, own = [straining.rates(times)], [straining.by_v(times)]
        if times == 2:
            borne = []  # the force in link axes and the moment in station axes that each section bears
            for section, wrench, aligned in zip(self.sections, at.borne, at.aligned, strict=True):
                r = Full(section.rotation)
                force = under([other.turned(r) for other in aligned], wrench.turned(r)).force
                borne.append((section, Wrench(force, under(aligned, wrench).moment)))
            fields, own = [*fields, straining.second_rates()], [*own, straining.by_f(borne)]
        still = ca.DM(3, self.joint.type.nv)
        return InwardColumns(tuple(fields), straining.columns, straining.eta(times), still), own

    def _accelerations(self, motion: LinkMotion, v: Matrix, a: Matrix) -> tuple[Matrix, list[Matrix]]:
        """Accelerations of the root, and of the particles, z̈_k + β_k ẍ."""
        supported = motion.acceleration + motion.spin @ self.root
        tangents = self.inertia.points(self.at.tangent_accelerations(motion.omega, motion.alpha, v, a))
        each = zip(tangents, self.inertia.weights, strict=True)
        return supported, [z + float(beta) * supported for z, beta in each]

    def acting(self, motion: LinkMotion, v: Matrix, a: Matrix) -> Carried:
        """Forces and moments that the motion of the segment demands."""
        at, (_, each) = self.at, self._accelerations(motion, v, a)
        forces = [weighted_sum(row[: j + 1], each[: j + 1]) for j, row in enumerate(self.inertia.particles)]
        turning = zip(at.sections(motion.omega, v), at.accelerations(motion.omega, motion.alpha, v, a), strict=True)
        each_section = zip(turning, map(spatial.constant, self.inertia.sections), strict=True)
        return Carried(at, forces, [spin_of(alpha, omega).moment(j) for (omega, alpha), j in each_section])


@dataclass(frozen=True)
class Straining:
    """The strain segment of a link in motion, with the rates v of its coordinates and their rates a."""

    body: StrainAtQ
    motion: LinkMotion
    v: Matrix
    a: Matrix

    @cached_property
    def _rates(self) -> SegmentRates:
        return SegmentRates(self.body.at, self.motion, self.v, self.a)

    @cached_property
    def _sections(self) -> list[tuple[Matrix, Matrix]]:
        """tr J − J and tr J̇ − J̇ of the cross sections."""
        moments = zip(self.body.section_inertias, self.body.section_rates(self.motion.omega, self.v), strict=True)
        return [(spatial.inertia_of(j), spatial.inertia_of(rate)) for j, rate in moments]

    def _moment(self, root: Matrix, levers: list[Matrix], sections: list[Matrix]) -> Matrix:
        """Σ of levers × tangents that move by T, and sections that turn by Ω (3 × n)."""
        at, inertia = self.body.at, self.body.inertia
        found = spatial.skew(root) @ weighted_sum(inertia.first_moments, at.tangent_columns)
        for x, column in zip(inertia.weighted(levers), at.tangent_columns, strict=True):
            found = found + spatial.skew(x) @ column
        return sum((j @ turned for j, turned in zip(sections, at.angular_columns, strict=True)), found)

    @cached_property
    def columns(self) -> Wrench:
        """The wrench at the joint of the link per unit of each second rate."""
        # By weighted tangents, which derivatives need besides; M alone takes a sixth less by particles.
        at, sections = self.body.at, [inertia for inertia, _ in self._sections]
        force = weighted_sum(self.body.inertia.first_moments, at.tangent_columns)
        return Wrench(force, self._moment(self.body.root, at.tangents, sections))

    def eta(self, times: float) -> Matrix:
        """η (3 × n) of the columns, with so many times the velocities."""
        rates, sections = self.body.at.tangent_rates(self.motion.omega, self.v), [x.T for _, x in self._sections]
        return times * self._moment(ca.cross(self.motion.omega, self.body.root), rates, sections)

    def _demands(self, k: int) -> tuple[list[Matrix], list[Matrix]]:
        """F_j and N_j of rates alone (k = 1, once), or of second rates (2), without what turns with the sections."""
        turns, tangents = [self.body.at.angular_columns, *self._rates.angular], self._rates.tangents[k - 1]
        each = zip(self._sections, turns[k], turns[k - 1], strict=True)
        return self.body.inertia.weighted(tangents), [j @ x + k * rate @ y for (j, rate), x, y in each]

    def _wrench(self, k: int, forces: list[Matrix], moments: list[Matrix]) -> Wrench:
        """The wrench at the joint of the link (3 × n each)."""
        force = weighted_sum(self.body.inertia.first_moments, self._rates.tangents[k - 1])
        moment = spatial.skew(self.body.root) @ force
        for t, f, m in zip(self.body.at.tangents, forces, moments, strict=True):
            moment = moment + spatial.skew(t) @ f + m
        return Wrench(force, moment)

    def rates(self, times: float) -> Wrench:
        """The wrenches of e′ (3 × n each), with so many times the velocities."""
        wrench = self._wrench(1, *self._demands(1))
        return Wrench(times * wrench.force, times * wrench.moment)

    def by_v(self, times: float) -> Matrix:
        """The modal forces of e′ (n × n)."""
        return times * self.body.at.efforts_of_columns(*self._demands(1))

    def second_rates(self) -> Wrench:
        """The wrenches of e″, with what displaced points need already (3 × n each)."""
        at, acting = self.body.at, self.body.acting(self.motion, self.v, self.a)
        forces, moments = self._demands(2)
        for j, (f, m) in enumerate(zip(acting.forces, acting.moments, strict=True)):
            turned = spatial.skew(at.rotations[j] @ m) @ at.angular_columns[j]
            moments[j] = moments[j] - spatial.skew(f) @ at.tangent_columns[j] - turned
        return self._wrench(2, forces, moments)

    def by_f(self, borne: Sequence[tuple[StrainedStation, Wrench]]) -> Matrix:
        """∂/∂f of the modal forces (n × n), with those of the forces and moments that stations bear.

        Such forces are in link axes and keep their direction there; moments are in station axes and turn with them.
        """
        at, acting = self.body.at, self.body.acting(self.motion, self.v, self.a)
        forces, moments = self._demands(2)
        found: Matrix = 0
        for station, wrench in borne:
            acting = acting.bear(station, wrench.force, wrench.moment)
            if (turn := station.station.turn(at)) is not None:
                node, moment = station.station.node, station.rotation @ wrench.moment
                moments[node] = moments[node] - spatial.skew(moment) @ turn.turned_by(at.rotations[node])
                found = found + turn.effort_stiffness(wrench.moment)
        for j, force in enumerate(acting.forces):
            moments[j] = moments[j] - spatial.skew(force) @ (at.rotations[j] @ at.strain_columns[j])
            forces[j] = forces[j] + spatial.skew(force) @ at.angular_columns[j]
        for j, moment in enumerate(at.passed_on(acting.forces, acting.moments)[1:]):
            moments[j] = moments[j] - spatial.skew(at.rotations[j + 1] @ moment) @ at.turn_columns[j]
            found = found + at.turns[j].effort_stiffness(moment)
        return found + at.efforts_of_columns(forces, moments)
