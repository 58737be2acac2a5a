"""Strain segments in motion: what displacements along their coordinates change (ours).

Vectors are in link axes; ′ is a rate seen from axes that do not turn. Coordinates turn the sections by columns Ω_j and
move the tangents by T_j. Displacement and time can be interchanged: the accelerations of the tangents change by the
second rates of these columns,

    Ω_j = Σ Γ_i             Γ_i = R_i J_l ∂ψ/∂q, of the steps i before node j
    T_j  = Ω_j × t_j + R_j ∂ν_j/∂q
    T_j″ = Ω_j″ × t_j + 2 Ω_j′ × ṫ_j + Ω_j × ẗ_j + R_j U_j ∂ν_j/∂q

and so, with M_jk = Σ L L and the moments J_j = ∫ σ σᵀ dm of the cross sections, do the forces and moments by

    F_j = Σ M_jk T_k″       N_j = (tr J_j − J_j) Ω_j″ + 2 (tr J̇_j − J̇_j) Ω_j′ + Ω_j × m_j        J̇_j = [ω_j×] J_j

Rates alone change them by 2 (Σ M_jk T_k′, (tr J_j − J_j) Ω_j′ + (tr J̇_j − J̇_j) Ω_j). Loads that stand, f_j and the
moments C_i that the steps pass on, work on columns that change:

    ∂(Γ_iᵀ C_i)/∂q = Γ_iᵀ (∂C_i/∂q + C_i × Ω_i+1) + ∂(∂ψ/∂qᵀ J_rᵀ c_i)/∂q,        c_i = R_i+1ᵀ C_i held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.links import LinkMotion
from gdalembert.dynamics.newton_euler.strained_segment import SegmentRates, StrainedSegment
from gdalembert.model.joints.strain_segment import weighted_sum
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench


@dataclass(frozen=True)
class Straining:
    """The strain segment of a link in motion, with the rates v of its coordinates and their rates a."""

    body: StrainedSegment
    motion: LinkMotion
    v: Matrix
    a: Matrix

    @cached_property
    def _rates(self) -> SegmentRates:
        return SegmentRates(self.body.at, self.motion, self.v, self.a)

    @cached_property
    def _root(self) -> Matrix:
        """The root of the segment."""
        return spatial.constant(self.body.at.segment.origin)

    @cached_property
    def _sections(self) -> list[tuple[Matrix, Matrix]]:
        """tr J − J and tr J̇ − J̇ of the cross sections."""
        moments = zip(self.body.sections, self.body.section_rates(self.motion.omega, self.v), strict=True)
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
        at, sections = self.body.at, [inertia for inertia, _ in self._sections]
        force = weighted_sum(self.body.inertia.first_moments, at.tangent_columns)
        return Wrench(force, self._moment(self._root, at.tangents, sections))

    def eta(self, times: float = 1) -> Matrix:
        """η (3 × n) of the columns, with so many times the velocities."""
        rates, sections = self.body.at.tangent_rates(self.motion.omega, self.v), [x.T for _, x in self._sections]
        return times * self._moment(ca.cross(self.motion.omega, self._root), rates, sections)

    def _demands(self, k: int) -> tuple[list[Matrix], list[Matrix]]:
        """F_j and N_j of rates alone (k = 1, once), or of second rates (2), without what turns with the sections."""
        turns, tangents = [self.body.at.angular_columns, *self._rates.angular], self._rates.tangents[k - 1]
        each = zip(self._sections, turns[k], turns[k - 1], strict=True)
        return self.body.inertia.weighted(tangents), [j @ x + k * rate @ y for (j, rate), x, y in each]

    def _wrench(self, k: int, forces: list[Matrix], moments: list[Matrix]) -> Wrench:
        """At the joint of the link (3 × n each)."""
        force = weighted_sum(self.body.inertia.first_moments, self._rates.tangents[k - 1])
        moment = spatial.skew(self._root) @ force
        for t, f, m in zip(self.body.at.tangents, forces, moments, strict=True):
            moment = moment + spatial.skew(t) @ f + m
        return Wrench(force, moment)

    def rates(self, times: float = 1) -> Wrench:
        """The wrenches of e′ (3 × n each), with so many times the velocities."""
        wrench = self._wrench(1, *self._demands(1))
        return Wrench(times * wrench.force, times * wrench.moment)

    def by_v(self, times: float = 1) -> Matrix:
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

    def by_f(self, borne: Sequence[tuple[Any, Wrench]]) -> Matrix:
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
