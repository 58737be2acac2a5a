"""Strain segments at q: their stations and their inertia, with the interface of a flexible link in assumed modes.

With U, ω of the sections and the particles z_k of :class:`~gdalembert.model.segment_inertia.SegmentInertia` (ours):

    ẗ_j = R_j (U_j ν_j + 2 ω_j × ν̇_j + ν̈_j)        z̈_k = Σ_j L_jk ẗ_j
    f   = ∫ (ẍ + ḧ) dm = m ẍ + Σ β_k z̈_k              f_j = ∫ a_j (ẍ + ḧ) dm = Σ_k L_jk (z̈_k + β_k ẍ)
    g   = Σ (∂t_j/∂q)ᵀ f_j + W_jᵀ m_j                 n   = Σ t_j × f_j + R_j m_j

with the moments m_j = vee(U_j J_j − (U_j J_j)ᵀ) of the cross sections at the nodes, J_j = ∫ σ σᵀ dm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.links import LinkMotion, Spin, spin_of
from gdalembert.model.joints.strain_segment import SegmentAtQ, StrainStation, Turn, sums, weighted_sum
from gdalembert.model.rounding import ENTRY_ERROR, drop
from gdalembert.model.segment_inertia import SegmentInertia
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

    def work(self, wrench: Wrench) -> Matrix:
        """(n rows) of wrenches in link axes, about the station."""
        return wrench.work(self.columns.linear, self.columns.angular)

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
        """That of the origin, in link axes."""
        root = link.acceleration + link.spin @ spatial.constant(self.at.segment.origin)
        return root + self.station.sum(self.at.tangent_accelerations(link.omega, link.alpha, v, a))

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
        """With a force on a station, in link axes, and a moment, in station axes."""
        own = station.station
        if (turn := own.turn(self.at)) is not None:
            self.between, moment = self.between + turn.effort(moment), turn.rotation @ moment
        self.forces = [f + float(x) * force if x else f for x, f in zip(own.weights, self.forces, strict=True)]
        self.moments = [m + moment if j == own.node else m for j, m in enumerate(self.moments)]
        return self

    def efforts(self) -> tuple[Matrix, Matrix]:
        """The modal forces (n), and the moment about the root of the segment."""
        g, moment = self.at.efforts(self.forces, self.moments)
        return g + self.between, moment


@dataclass(frozen=True)
class StrainedSegment:
    """The inertia of a link that carries a strain segment at its root, at q, in link axes about the link origin.

    Attributes:
        remainder: pseudo-inertia (4 × 4) of what is on the link beside the segment.
    """

    inertia: SegmentInertia
    remainder: Array
    at: SegmentAtQ

    @staticmethod
    def of(inertia: SegmentInertia, body: Array, f: Matrix) -> StrainedSegment:
        """At coordinates f, from the pseudo-inertia (4 × 4) of the link with the segment at f = 0."""
        rigid = inertia.rigid
        noise = ENTRY_ERROR * np.abs(rigid).max()
        return StrainedSegment(inertia, drop(body - rigid, noise), SegmentAtQ(inertia.segment, f))

    @cached_property
    def _whole(self) -> Matrix:
        """∫ ĥ ĥᵀ dm (4 × 4)."""
        return spatial.constant(self.remainder) + self.inertia.pseudo_inertia(self.at)

    @property
    def mass(self) -> Matrix:
        """m."""
        return self._whole[3, 3]

    @property
    def first(self) -> Matrix:
        """c = ∫ h."""
        return self._whole[:3, 3]

    @property
    def second(self) -> Matrix:
        """Σ = ∫ h hᵀ."""
        return self._whole[:3, :3]

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
    def sections(self) -> list[Matrix]:
        """∫ σ σᵀ dm of the cross sections at the nodes, in link axes."""
        each = zip(self.at.rotations, self.inertia.sections, strict=True)
        return [spatial.congruence(r, spatial.constant(section)) for r, section in each]

    def section_rates(self, omega: Matrix, v: Matrix) -> list[Matrix]:
        """∫ dσ/dt σᵀ dm, where the link turns with ω."""
        each = zip(self.at.rotations, self.at.sections(omega, v), self.sections, strict=True)
        return [spatial.skew(r @ turning) @ section for r, turning, section in each]

    @cached_property
    def section_columns(self) -> list[Matrix]:
        """The moments of the cross sections at the nodes per unit of each second rate (3 × n each)."""
        columns = self.at.angular_columns
        if self.at.axis is None:
            return [spatial.inertia_of(section) @ omega for section, omega in zip(self.sections, columns, strict=True)]
        each = zip(self.at.rotations, self.inertia.sections, columns, strict=True)  # R leaves columns as they are
        return [r @ (spatial.inertia_of(spatial.constant(section)) @ omega) for r, section, omega in each]

    def rates(self, omega: Matrix, v: Matrix, times: float = 1) -> tuple[Matrix, Matrix]:
        """∫ ḣ (3) and ∫ ḣ hᵀ (3 × 3), so many times; the link turns with ω, the coordinates have the rates v."""
        at, inertia, root = self.at, self.inertia, spatial.constant(self.at.segment.origin)
        body, turning = spatial.constant(self.remainder), spatial.skew(omega)
        points, rates = inertia.points(at.tangents), inertia.points(at.tangent_rates(omega, v))
        moved, slid = weighted_sum(inertia.weights, rates), turning @ root
        first = turning @ body[:3, 3] + inertia.mass * slid + moved
        second = turning @ body[:3, :3] + moved @ root.T
        second = second + slid @ (inertia.mass * root + weighted_sum(inertia.weights, points)).T
        for z, rate in zip(points, rates, strict=True):
            second = second + rate @ z.T
        return times * first, times * sum(self.section_rates(omega, v), second)

    @cached_property
    def columns(self) -> Wrench:
        """The wrench at the joint of the link per unit of each second rate."""
        at = self.at
        columns = self.inertia.points(at.tangent_columns)
        force = weighted_sum(self.inertia.weights, columns)
        moment = spatial.skew(spatial.constant(at.segment.origin)) @ force
        for z, column in zip(self.inertia.points(at.tangents), columns, strict=True):
            moment = moment + spatial.skew(z) @ column
        for column in self.section_columns:
            moment = moment + column
        return Wrench(force, moment)

    def demanded(
        self, motion: LinkMotion, v: Matrix, a: Matrix, carried: Sequence[tuple[StrainedStation, Wrench]] = ()
    ) -> tuple[Wrench, Matrix]:
        """The wrench at its joint that the motion of the segment demands, and the modal forces g.

        Args:
            motion: of the link. ``v, a``: the rates of q, and theirs.
            carried: stations of the segment with wrenches that they pass on, in station axes, which are borne in the
                same sweep; none by default.
        """
        root = spatial.constant(self.at.segment.origin)
        supported, each = self._accelerations(motion, v, a)
        remains = self.inertia.mass - float(self.inertia.weights @ self.inertia.weights)
        force = weighted_sum(self.inertia.weights, each) + remains * supported
        acting = self.acting(motion, v, a)
        for station, wrench in carried:
            own = station.rotation @ wrench.force
            acting, force = acting.bear(station, own, wrench.moment), force + own
        rod = force
        g, moment = acting.efforts()
        body = spatial.constant(self.remainder)
        force = force + body[3, 3] * motion.acceleration + motion.spin @ body[:3, 3]
        moment = moment + ca.cross(root, rod) + motion.spin.moment(body[:3, :3])
        return Wrench(force, moment + ca.cross(body[:3, 3], motion.acceleration)), g

    def _accelerations(self, motion: LinkMotion, v: Matrix, a: Matrix) -> tuple[Matrix, list[Matrix]]:
        """Of the root, and of the particles, z̈_k + β_k ẍ."""
        supported = motion.acceleration + motion.spin @ spatial.constant(self.at.segment.origin)
        tangents = self.inertia.points(self.at.tangent_accelerations(motion.omega, motion.alpha, v, a))
        each = zip(tangents, self.inertia.weights, strict=True)
        return supported, [z + float(beta) * supported for z, beta in each]

    def acting(self, motion: LinkMotion, v: Matrix, a: Matrix) -> Carried:
        """What the motion of the segment demands."""
        at, (_, each) = self.at, self._accelerations(motion, v, a)
        forces = [weighted_sum(row[: j + 1], each[: j + 1]) for j, row in enumerate(self.inertia.particles)]
        turning = zip(at.sections(motion.omega, v), at.accelerations(motion.omega, motion.alpha, v, a), strict=True)
        moments = [
            spin_of(alpha, omega).moment(spatial.constant(section))
            for (omega, alpha), section in zip(turning, self.inertia.sections, strict=True)
        ]
        return Carried(at, forces, moments)
