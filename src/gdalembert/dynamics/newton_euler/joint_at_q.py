"""A joint at q: the element that moves one station, its link; its columns, and how they change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.composite import nothing
from gdalembert.dynamics.newton_euler.displacements import Displacement, Field, InMotion, Rates, pushed_by, under
from gdalembert.dynamics.newton_euler.elements import ElementAtQ, Placement, Station
from gdalembert.dynamics.newton_euler.links import NO_TURN, Full, Link, LinkMotion, Rotation, moved
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import symbols
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class JointAtQ(ElementAtQ):
    """A joint; its frame is at the origin of its link."""

    link: Link
    carrier_turn: Rotation = field(default=NO_TURN, kw_only=True)  # from the axes of its carrier into upright ones

    @property
    def moves_one_body(self) -> bool:
        return True

    @property
    def rate(self) -> float:
        return self.link.rate

    @property
    def _keeps_columns(self) -> bool:
        """True if the frame has the axes before the turn of the link."""
        return self.is_upright and self.carrier_turn is NO_TURN

    @cached_property
    def frame(self) -> Placement:
        if self._keeps_columns:
            return self.link.fixed, self.link.origin
        if self.carrier_turn is NO_TURN:
            return self.link.placement
        return Full(self.carrier_turn @ (self.link.rotation @ ca.DM.eye(3))), self.carrier_turn @ self.link.origin

    @cached_property
    def stations(self) -> Sequence[Station]:
        turn, every_rate = self.link.turn if self._keeps_columns else NO_TURN, ca.DM.eye(self.joint.type.nv)
        return (Station(self.index, turn, _NULL, self.link.columns, every_rate),)

    def motions(self, carrier: LinkMotion, v: Matrix, a: Matrix) -> Sequence[LinkMotion]:
        return (moved(self.link, carrier, v, a),)

    def demanded(
        self, carrier: LinkMotion, v: Matrix, a: Matrix, borne: Sequence[Wrench] = ()
    ) -> tuple[Wrench, Matrix]:
        wrench = sum(borne, nothing())
        return wrench.to_parent(*self.link.placement), self.link.torque(wrench)

    def levers(self, omega: Matrix, v: Matrix, times: float) -> tuple[Matrix, Sequence[Matrix]]:
        (fixed, origin), (station,) = self.frame, self.stations
        sliding = fixed @ (station.turn @ self.link.velocity(times * v).linear)
        return ca.cross(times * omega, origin) + sliding, (_NULL,)

    def displaced(self, at: InMotion) -> Sequence[Displacement]:
        link, e, (station,), (borne,), (aligned,) = self.link, self.link.columns, self.stations, at.borne, at.aligned
        to_frame = NO_TURN if self._keeps_columns else link.turn.T
        fields = displacement_of_joint(link, (at.carrier, *at.stations), at.v, at.a, at.times)
        wrench, aligned = borne.turned(station.turn), [each.turned(to_frame) for each in aligned]
        pushed, turning = pushed_by(e, aligned)
        stiffness = turning.T @ e.angular + stiffness_of_joint(link, under(aligned, wrench))
        in_frame, n = tuple(each.turned(to_frame) for each in fields), self.joint.type.nv
        return (Displacement(in_frame, e.carry(wrench) - pushed, ca.DM(3, n), turning, stiffness),)

    def column_rates(self, v: Matrix) -> Sequence[Motion]:
        return (self.link.column_rates(v),)

    def rates_beyond_displacement(self, v: Matrix) -> Sequence[Motion]:
        return (rate_beyond_displacement(self.link, v),)

    def upright(self, carrier: Rotation) -> tuple[ElementAtQ, Sequence[Rotation]]:
        return replace(self, is_upright=True, carrier_turn=carrier), (NO_TURN,)


def displacement_of_joint(
    link: Link, motions: Sequence[LinkMotion], v: Matrix, a: Matrix, times: int
) -> tuple[Field, ...]:
    """ė, for sums of ẋ, or ė + e′ and e″, for twice ẋ: of a joint, in its axes, from the motions of its two links."""
    (parent, own), to_joint, e, relative = motions, link.fixed.T, link.columns, link.velocity(v)
    omega, sliding, none = to_joint @ parent.omega, spatial.skew(relative.linear), ca.DM(*e.linear.shape)

    def spun(x: Matrix) -> Matrix:
        return to_joint @ (parent.spin @ (link.fixed @ x))

    if link.joint.type.has_constant_subspace:  # L̇ = Ω × σ, L̈ = Ω × dσ/dt, and σ and dσ/dt are in p̈ as well
        first, carried = Motion(-sliding @ e.angular, none), spatial.skew(omega) @ e.angular
        point = spatial.skew(to_joint @ (parent.acceleration + parent.spin @ link.origin))
        linear = spun(e.linear) - 2 * sliding @ carried + point @ e.angular
        second = Field(linear, spun(e.angular), carried)
    else:
        rates = rates_of_joint(link, v, a)
        first, second = rates.first, rates.second_rate(omega, spun, own.acceleration)
    rate = link.column_rates(v) + first if times == 2 else link.column_rates(v)
    turning = spatial.skew(times * omega + relative.angular)
    velocity = Field(turning @ e.linear + rate.linear, turning @ e.angular + rate.angular, e.angular)
    return (velocity, second)[:times]


def rate_beyond_displacement(link: Link, v: Matrix) -> Motion:
    """ė − e′ of the columns of a joint, in its axes: zero where v = dq/dt."""
    none = Motion(ca.DM(*link.columns.linear.shape), ca.DM(*link.columns.angular.shape))
    if link.joint.type.nv == 1:
        return none
    beyond = link.velocity(v).cross(link.columns)
    if link.joint.type.has_constant_subspace:
        return beyond
    by_q = rates_of_joint(link, v, ca.DM(*v.shape)).first  # L̇ + σ × Ω is left where σ × Ω is in both
    sliding = spatial.skew(link.velocity(v).linear)
    return beyond + link.column_rates(v) - (by_q + Motion(sliding @ link.columns.angular, none.angular))


def rates_of_joint(link: Link, v: Matrix, a: Matrix) -> Rates:
    """The rates of a joint's columns, in link axes, by differentiation of S v and S a + dS/dt v."""
    joint, e = link.joint, link.columns
    s = symbols(q=joint.type.nq, v=joint.type.nv, a=joint.type.nv)
    columns, rates = joint.type.subspace(s["q"]), joint.type.subspace_rate(s["q"], s["v"])
    velocity = [half @ s["v"] for half in columns]
    change = [half @ s["a"] + rate @ s["v"] for half, rate in zip(columns, rates, strict=True)]
    slopes = [ca.jacobian(x, s["q"]) @ tangent_map(link, s["q"]) for x in (*velocity, *change)]
    graph = ca.Function("rates", list(s.values()), [*velocity, change[0], *slopes])
    sigma, omega, slip, *by_q = graph(link.configuration, joint.velocity(v), joint.velocity(a))
    spin, sliding = spatial.skew(omega), spatial.skew(sigma)
    linear = by_q[2] - sliding @ by_q[1] + spin @ by_q[0] - spatial.skew(slip + spin @ sigma) @ e.angular
    first, second = Motion(by_q[0] - sliding @ e.angular, by_q[1]), Motion(linear, by_q[3] + spin @ by_q[1])
    return Rates(e, first, second)


def tangent_map(link: Link, q: ca.SX) -> ca.SX:
    """T of dq/dt = T(q) v of a joint."""
    v = ca.SX.sym("v", link.joint.type.nv)
    return ca.jacobian(link.joint.type.configuration_rate(q, v), v)


def stiffness_of_joint(link: Link, wrench: Wrench) -> Matrix:
    """∂/∂q of Sᵀ (f; n) under a wrench that turns with the link (nv × nv); zero where columns are constant."""
    joint = link.joint
    if joint.type.has_constant_subspace:
        return ca.DM(joint.type.nv, joint.type.nv)
    s = symbols(q=joint.type.nq, wrench=6)
    linear, angular = joint.type.subspace(s["q"])
    work = linear.T @ s["wrench"][:3] + angular.T @ s["wrench"][3:]
    stiffness = ca.jacobian(work, s["q"]) @ tangent_map(link, s["q"])
    return ca.Function("stiffness", list(s.values()), [stiffness])(link.configuration, wrench.vector)
