"""Subtrees in motion, and the fields of vectors that displacements of them add to velocities and accelerations.

A *field* gives each point x of a subtree a vector:

    φ(x) = linear + angular × x + carried × ẋ

x is seen from the origin of the subtree's root link, ẋ is its velocity against that origin. With the sums over the
subtree m, h = Σ m x, J = Σ m x xᵀ, r = Σ m ẋ, R = Σ m ẋ xᵀ, a field needs the wrench Σ m φ, Σ x × m φ. The wrench
(f; n) and η = Σ m ẋ × e of a column e of a joint of the subtree give Σ m φ·e = linear·f + angular·n + carried·η.

A column e(x) = L + Ω × x displaces a subtree. ė is its rate as it turns with its link; e′ and e″ are the first and
second rate of the displacement, about a point that moves with it. With ω and U = [α×] + [ω×][ω×] of what carries the
joint, rates L̇, Ω̇, … in its axes, and the acceleration p̈ of the origin

    e′ = L′ + Ω′ × x + Ω × ẋ                        L′ = L̇ + ω × L            Ω′ = Ω̇ + ω × Ω
    e″ = L″ + Ω″ × x + Ω′ × 2ẋ + Ω × (ẍ − p̈)        L″ = L̈ + 2 ω × L̇ + U L    Ω″ = Ω̈ + 2 ω × Ω̇ + U Ω

Ω × ẍ turns the wrench that the subtree needs, and is left out of the fields of e″. Modes have ė = e′, as all
coordinates with v = dq/dt. (Ours. Axes as in :mod:`~gdalembert.dynamics.newton_euler.crba`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.crba import Composite, composites
from gdalembert.dynamics.newton_euler.deformed_inertia import DeformedLink, crossed, weighted
from gdalembert.dynamics.newton_euler.links import Link, LinkMotion, Motions
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ, Station
from gdalembert.dynamics.newton_euler.rotations import Rotation
from gdalembert.dynamics.newton_euler.strained_segment import StrainedSegment, StrainedStation
from gdalembert.dynamics.newton_euler.straining import Straining
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import symbols
from gdalembert.spatial.spatial_vectors import Motion, Wrench


@dataclass(frozen=True)
class CompositeRate:
    """r = Σ m ẋ and R = Σ m ẋ xᵀ of a moving subtree, in the axes of its root link."""

    first: Matrix
    second: Matrix

    def __add__(self, other: CompositeRate) -> CompositeRate:
        return CompositeRate(self.first + other.first, self.second + other.second)

    def turned(self, r: Rotation) -> CompositeRate:
        """The same in other axes, R x for x."""
        return CompositeRate(r @ self.first, r.conjugate(self.second))

    def to_parent(self, link: Link, body: Composite, lever_rate: Matrix) -> CompositeRate:
        """The same masses about the parent's origin, which the own one leaves at ``lever_rate``, in parent's axes."""
        turned, p = self.turned(link.rotation), link.origin
        shifted = link.rotation @ body.first + body.mass * p
        return CompositeRate(
            turned.first + body.mass * lever_rate, turned.second + lever_rate @ shifted.T + turned.first @ p.T
        )

    def wrench(self, carried: Matrix) -> Wrench:
        """The wrench that fields carried × ẋ need in the subtree."""
        return Wrench(-spatial.skew(self.first) @ carried, spatial.inertia_of(self.second) @ carried)

    def eta(self, e: Motion) -> Matrix:
        """η = Σ m ẋ × e of columns e."""
        return spatial.skew(self.first) @ e.linear + spatial.inertia_of(self.second.T) @ e.angular


@dataclass(frozen=True)
class Moving:
    """All subtrees in motion: their sums, and the velocity of each link origin against the parent's, in its axes."""

    bodies: list[Composite]
    rates: list[CompositeRate]
    lever_rates: list[Matrix]


def moving(robot: RobotAtQ, motions: Motions, v: Matrix, times: float = 1) -> Moving:
    """The subtrees of links and stations, with so many times their velocities."""
    links, bodies = robot.upright, composites(robot)
    omegas = {i: times * motion.omega for i, motion in motions.items()}
    omegas |= {i: station.rotation @ omegas[i] for i, station in robot.stations.items()}
    lever_rates: list[Matrix] = []
    rates: list[CompositeRate] = []
    for i, link in enumerate(links):
        if i in robot.stations:
            omega = motions[link.joint.parent].omega
            lever_rates.append(robot.stations[i].lever_rate(omega, link.joint.velocity(v), times))
        else:
            sliding = link.rotation @ link.velocity(times * v).linear
            lever_rates.append(ca.cross(omegas[link.joint.parent], link.origin) + sliding)
        if i in robot.bodies:
            rates.append(CompositeRate(*robot.bodies[i].rates(motions[i].omega, robot.modal_velocity(i, v), times)))
        else:
            rates.append(CompositeRate(ca.cross(omegas[i], link.first), spatial.skew(omegas[i]) @ link.second))
    for i, link in reversed(list(enumerate(links))):
        if link.joint.parent >= 0:
            rates[link.joint.parent] += rates[i].to_parent(link, bodies[i], lever_rates[i])
    return Moving(bodies, rates, lever_rates)


@dataclass(frozen=True)
class Field:
    """linear + angular × x + carried × ẋ, 3 × k each for k fields side by side."""

    linear: Matrix
    angular: Matrix
    carried: Matrix

    def turned(self, r: Rotation) -> Field:
        """The same in other axes, R x for x."""
        return Field(r @ self.linear, r @ self.angular, r @ self.carried)

    def times(self, x: Matrix) -> Field:
        """The sums of these, each times its entry of a column of x."""
        return Field(self.linear @ x, self.angular @ x, self.carried @ x)

    def wrench(self, body: Composite, rate: CompositeRate) -> Wrench:
        """The wrench that the fields need in a subtree."""
        return body.wrench(Motion(self.linear, self.angular)) + rate.wrench(self.carried)

    def meet(self, column: Wrench, eta: Matrix) -> Matrix:
        """Σ m φ·e of the fields (rows) with columns e of a joint further out, from their wrench and η."""
        return self.linear.T @ column.force + self.angular.T @ column.moment + self.carried.T @ eta


@dataclass(frozen=True)
class Displacement:
    """Displacements along the coordinates of a joint, or of a station along the modes of its link.

    Attributes:
        columns: e, 3 × k each.
        weights: the columns in each of n coordinates (k × n).
        fields: of e, 3 × k each.
    """

    columns: Motion
    weights: Matrix
    fields: tuple[Field, ...]

    def work(self, wrench: Wrench) -> Matrix:
        """Its work on each coordinate (n rows)."""
        return self.weights.T @ wrench.work(self.columns.linear, self.columns.angular)


@dataclass(frozen=True)
class Rates:
    """Columns with rates in the axes of what carries them, 3 × k each: (L; Ω), (L̇; Ω̇), (L̈; Ω̈)."""

    columns: Motion
    first: Motion
    second: Motion

    def rate(self, omega: Matrix, times: float = 1) -> Field:
        """e′ for so many times ẋ, for sums of as many times ẋ."""
        e, turning = self.columns, spatial.skew(omega)
        linear = spatial.skew(times * omega) @ e.linear + times * self.first.linear
        return Field(linear, times * (turning @ e.angular + self.first.angular), e.angular)

    def second_rate(self, omega: Matrix, spun: Callable[[Matrix], Matrix], point: Matrix) -> Field:
        """e″, for sums of twice ẋ, from ω and U x of the carrier, and p̈."""
        e, first, second, turning = self.columns, self.first, self.second, spatial.skew(2 * omega)
        return Field(
            spun(e.linear) + turning @ first.linear + second.linear + spatial.skew(point) @ e.angular,
            spun(e.angular) + turning @ first.angular + second.angular,
            self.rate(omega).angular,
        )


def displacement_of_joint(
    link: Link, motions: tuple[LinkMotion, LinkMotion], q: Matrix, v: Matrix, a: Matrix, times: int
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
        rates = rates_of_joint(link, q, v, a)
        first, second = rates.first, rates.second_rate(omega, spun, own.acceleration)
    rate = link.column_rates(q, v) + first if times == 2 else link.column_rates(q, v)
    turning = spatial.skew(times * omega + relative.angular)
    velocity = Field(turning @ e.linear + rate.linear, turning @ e.angular + rate.angular, e.angular)
    return (velocity, second)[:times]


def displacement_of_station(station: Station, link: LinkMotion, v: Matrix, a: Matrix, times: int) -> Displacement:
    """The same of a station along the modes of its link, in link axes.

    Its columns are translations and turns, or those of the modes, where each of these turns about an axis of its own.
    """
    columns, weights = station.translations_and_turns
    if isinstance(station, StrainedStation):
        first, again = station.rates(link, v, a)
        linear = again.linear + spatial.skew(station.acceleration(link, v, a)) @ columns.angular
        velocity = Field(times * first.linear, times * first.angular, columns.angular)
        return Displacement(columns, weights, (velocity, Field(linear, again.angular, first.angular))[:times])
    m, n = station.turns.shape
    _, *turning = station.deflection.turning(station.f, v, a)
    linear = (station.deflection.displacement_rate(x) for x in (v, a))
    motions = [columns]
    for x, y in zip(linear, turning, strict=True):
        motions.append(Motion(ca.horzcat(x, ca.DM(3, m)), ca.horzcat(ca.DM(3, n), y)))
    if station.turns.nnz() <= m:
        motions, weights = [each.times(weights) for each in motions], ca.DM.eye(n)
    rates = Rates(*motions)
    second = rates.second_rate(link.omega, link.spin.__matmul__, station.acceleration(link, v, a))
    return Displacement(rates.columns, weights, (rates.rate(link.omega, times), second)[:times])


def rates_of_joint(link: Link, q: Matrix, v: Matrix, a: Matrix) -> Rates:
    """The rates of a joint's columns, in link axes, by differentiation of S v and S a + dS/dt v."""
    joint, e = link.joint, link.columns
    s = symbols(q=joint.type.nq, v=joint.type.nv, a=joint.type.nv)
    columns, rates = joint.type.subspace(s["q"]), joint.type.subspace_rate(s["q"], s["v"])
    velocity = [half @ s["v"] for half in columns]
    change = [half @ s["a"] + rate @ s["v"] for half, rate in zip(columns, rates, strict=True)]
    slopes = [ca.jacobian(x, s["q"]) @ tangent_map(link, s["q"]) for x in (*velocity, *change)]
    graph = ca.Function("rates", list(s.values()), [*velocity, change[0], *slopes])
    sigma, omega, slip, *by_q = graph(*(joint.configuration(q), joint.velocity(v), joint.velocity(a)))
    spin, sliding = spatial.skew(omega), spatial.skew(sigma)
    linear = by_q[2] - sliding @ by_q[1] + spin @ by_q[0] - spatial.skew(slip + spin @ sigma) @ e.angular
    first, second = Motion(by_q[0] - sliding @ e.angular, by_q[1]), Motion(linear, by_q[3] + spin @ by_q[1])
    return Rates(e, first, second)


def tangent_map(link: Link, q: ca.SX) -> ca.SX:
    """T of dq/dt = T(q) v of a joint."""
    v = ca.SX.sym("v", link.joint.type.nv)
    return ca.jacobian(link.joint.type.configuration_rate(q, v), v)


def stiffness_of_joint(link: Link, q: Matrix, wrench: Wrench) -> Matrix:
    """∂/∂q of Sᵀ (f; n) under a wrench that turns with the link (nv × nv); zero where columns are constant."""
    joint = link.joint
    if joint.type.has_constant_subspace:
        return ca.DM(joint.type.nv, joint.type.nv)
    s = symbols(q=joint.type.nq, wrench=6)
    linear, angular = joint.type.subspace(s["q"])
    work = linear.T @ s["wrench"][:3] + angular.T @ s["wrench"][3:]
    stiffness = ca.jacobian(work, s["q"]) @ tangent_map(link, s["q"])
    return ca.Function("stiffness", list(s.values()), [stiffness])(joint.configuration(q), wrench.vector)


@dataclass(frozen=True)
class Bending:
    """The modes of a link's own body, whose points stand at h and are displaced by φ_j, in link axes.

    Attributes:
        body, motion: of the link.
        v, a: the rates of its modes, and theirs.
    """

    body: DeformedLink
    motion: LinkMotion
    v: Matrix
    a: Matrix

    @property
    def columns(self) -> Wrench:
        """The wrench at the joint of the link per unit of each second rate."""
        return self.body.columns

    @property
    def _fields(self) -> list[Matrix]:
        """∫ h φ_jᵀ."""
        return [n[:3, :3] for n in self.body.fields]

    def _with_rates(self, j: int, rates: Matrix) -> Matrix:
        """∫ φ_j ḣᵀ with rates of the modes."""
        return weighted([spatial.constant(x) for x in self.body.modal.second[j]], rates)[:3, :3]

    def eta(self, times: float = 1) -> Matrix:
        """η (3 × n) of the columns, with so many times the velocities."""
        turning, v = spatial.skew(times * self.motion.omega), times * self.v
        return _side_by_side(crossed(turning @ n + self._with_rates(j, v).T) for j, n in enumerate(self._fields))

    def rates(self, times: float = 1) -> Wrench:
        """The wrenches of e′ (3 × n each), with so many times the velocities."""
        turning = spatial.skew(times * self.motion.omega)
        return Wrench(turning @ self.columns.force, _side_by_side(crossed(n @ turning.T) for n in self._fields))

    def second_rates(self) -> Wrench:
        """The wrenches of e″, with what displaced points need already (3 × n each)."""
        turning, spin, point = spatial.skew(self.motion.omega), self.motion.spin, self.motion.acceleration
        shifts = self.columns.force

        def moment(j: int, n: Matrix) -> Matrix:
            relative = self._with_rates(j, 2 * self.v) @ turning.T + self._with_rates(j, self.a)
            return spin.moment(n + n.T) + ca.cross(shifts[:, j], point) + crossed(relative)

        return Wrench(spin @ shifts, _side_by_side(moment(j, n) for j, n in enumerate(self._fields)))

    def by_f(self, borne: Sequence[tuple[Any, Wrench]]) -> Matrix:
        """∂/∂f of the modal forces (n × n), tr(U C_jr), with those of the forces and moments that stations bear.

        Such forces are in link axes and keep their direction there; moments are in station axes and turn with them.
        """
        own = self._of_pairs(lambda c: ca.trace(self.motion.spin @ c))
        return sum((station.force_stiffness(wrench) for station, wrench in borne), own)

    def by_v(self, times: float = 1) -> Matrix:
        """∫ φ_r·(ω × φ_j), so many times (n × n)."""
        return self._of_pairs(lambda c: ca.dot(times * self.motion.omega, crossed(c)))

    def _of_pairs(self, value: Callable[[Matrix], Matrix]) -> Matrix:
        """A value of each ∫ φ_j φ_rᵀ (rows r)."""
        second = self.body.modal.second[:, :, :3, :3]
        modes = range(self.body.modal.modes)
        return spatial.rows(*([value(spatial.constant(second[j, r])) for j in modes] for r in modes))


def modes_in_motion(robot: RobotAtQ, i: int, motion: LinkMotion, v: Matrix, a: Matrix) -> Bending | Straining:
    """The modes or the strain segment of link i, from its motion, their rates and the rates of these."""
    body = robot.bodies[i]
    return Straining(body, motion, v, a) if isinstance(body, StrainedSegment) else Bending(body, motion, v, a)


def _side_by_side(columns: Iterable[Matrix]) -> Matrix:
    """3 × n."""
    return ca.horzcat(ca.DM(3, 0), *columns)
