"""The Coriolis matrix and the derivatives of inverse dynamics, by composite bodies in motion.

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
coordinates with v = dq/dt. With the columns e_i of motion subspaces, and sums over all points below both joints

    C_ij = Σ m e_i·ė_j
    ∂tau_i/∂v_j = Σ m e_i·(ė_j + e_j′)         ∂tau_i/∂q_j = Σ m e_i·e_j″ + e_i·(e_j × W_j)

W_j is the wrench that subtree j needs; it is turned and shifted for the joints above j alone. (Where v = dq/dt, ė_j =
e_j′ and ∂tau/∂v = 2 C.) Where e_i depends on q, ∂tau_i/∂q_j has (∂e_i/∂q_j)·W_i besides.

Fields of the lower joint rise to the upper one as wrenches. For those of the upper joint the wrench (f; n) of the lower
column rises, with η = Σ m ẋ × e_j. What the stations of a link and its own body add for a mode is summed before it
rises, so that a link passes on one column for each mode.

(Ours. Axes as in :mod:`~gdalembert.dynamics.newton_euler.crba`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.crba import Composite, at_rates, composites
from gdalembert.dynamics.newton_euler.links import (
    NO_TURN,
    UNLOADED,
    Aligned,
    Full,
    Link,
    LinkMotion,
    Loads,
    Motions,
    Placing,
    Rotation,
    place,
)
from gdalembert.dynamics.newton_euler.rnea import joint_wrenches
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ, Station
from gdalembert.dynamics.newton_euler.strained_segment import StrainedStation
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import symbols
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class CompositeRate:
    """r = Σ m ẋ and R = Σ m ẋ xᵀ of a moving subtree, in the axes of its root link."""

    first: Matrix
    second: Matrix

    def __add__(self, other: CompositeRate) -> CompositeRate:
        return CompositeRate(self.first + other.first, self.second + other.second)

    def turned(self, r: Rotation) -> CompositeRate:
        """A rotation into other axes, R x for x."""
        return CompositeRate(r @ self.first, r.conjugate(self.second))

    def to_parent(self, link: Link, body: Composite, lever_rate: Matrix) -> CompositeRate:
        """The masses about the parent's origin, which the own one leaves at ``lever_rate``, in parent's axes."""
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
        """A rotation into other axes, R x for x."""
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
    """Displacements along the coordinates of a joint, or of a station along the modes of its link."""

    columns: Motion  # e, 3 × k each
    weights: Matrix  # the columns in each of n coordinates, k × n
    fields: tuple[Field, ...]  # of e, 3 × k each

    def work(self, wrench: Wrench) -> Matrix:
        """Work on each coordinate (n rows)."""
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


def rate_beyond_displacement(link: Link, q: Matrix, v: Matrix) -> Motion:
    """ė − e′ of the columns of a joint, in its axes: zero where v = dq/dt."""
    none = Motion(ca.DM(*link.columns.linear.shape), ca.DM(*link.columns.angular.shape))
    if link.joint.type.nv == 1:
        return none
    beyond = link.velocity(v).cross(link.columns)
    if link.joint.type.has_constant_subspace:
        return beyond
    by_q = rates_of_joint(link, q, v, ca.DM(*v.shape)).first  # L̇ + σ × Ω is left where σ × Ω is in both
    sliding = spatial.skew(link.velocity(v).linear)
    return beyond + link.column_rates(q, v) - (by_q + Motion(sliding @ link.columns.angular, none.angular))


def displacement_of_station(station: Station, link: LinkMotion, v: Matrix, a: Matrix, times: int) -> Displacement:
    """Displacements of a station along the modes of its link, in link axes.

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
class InwardColumns:
    """What a joint, or the modes of a link, pass on to the joints above."""

    fields: tuple[Wrench, ...]  # the wrenches that each field of theirs needs
    column: Wrench  # the wrenches that their columns need
    eta: Matrix  # η of their columns
    turning: Matrix  # what a turn of the joint above adds to the torque of each column, by wrenches that do not turn

    def __add__(self, other: InwardColumns) -> InwardColumns:
        fields = tuple(one + two for one, two in zip(self.fields, other.fields, strict=True))
        return InwardColumns(fields, self.column + other.column, self.eta + other.eta, self.turning + other.turning)

    def turned(self, r: Rotation) -> InwardColumns:
        """A rotation into other axes, R x for x."""
        fields = tuple(wrench.turned(r) for wrench in self.fields)
        return InwardColumns(fields, self.column.turned(r), r @ self.eta, r @ self.turning)

    def shifted(self, p: Matrix, p_rate: Matrix) -> InwardColumns:
        """A shift to a point from which the origin is seen at p and leaves at p_rate."""
        fields = tuple(wrench.about(-p) for wrench in self.fields)
        eta = self.eta + spatial.skew(p_rate) @ self.column.force
        return InwardColumns(fields, self.column.about(-p), eta, self.turning)


@dataclass(frozen=True)
class Turned:
    """What the columns of a joint or a station do to the wrench W of their subtree: they turn it, or parts of it."""

    passed_on: Wrench  # what that adds to the wrench of the last field, for the joints above
    transmitted: Matrix  # what it adds to the force of that wrench, for the coordinates of the joint or station itself
    turning: Matrix  # what a turn of the joint above adds to the torque of each column, as in InwardColumns
    stiffness: Matrix  # what it adds to the diagonal block of the matrix of the last field


@dataclass(frozen=True)
class Blocks:
    """Blocks (i, j) of matrices per unit of rate, one for each field, as columns rise; those of modes at a station."""

    robot: RobotAtQ
    sums: Moving
    displacements: dict[int, Displacement] = field(default_factory=dict)  # of joints and stations, from the base on
    found: tuple[list[tuple[int, int, Matrix]], ...] = field(default_factory=lambda: ([], []))  # of each field

    def of(self, state: DisplacedRobot) -> tuple[Matrix, ...]:
        """The matrices (nv × nv each)."""
        robot = self.robot
        for j, column, inward, own in self.risen(state):
            self._add(column, column, own)
            if column != j:  # modes, which meet the joint of their own link, too
                inward = inward.turned(robot.upright[j].turn)
                self._add_pair(j, column, inward)
            for i, here in self._carry_inward(j, inward):
                self._add_pair(i, column, here)
        return tuple(robot.tree.matrix(at_rates(robot.links, blocks)) for blocks in self.found)

    def risen(self, state: DisplacedRobot) -> Iterator[tuple[int, int, InwardColumns, list[Matrix]]]:
        """Link j, a joint whose columns rise from it, those columns, and their own block of each matrix.

        The columns of joint j are in its axes, before its turn; those of the modes of link j, whose joint is its first
        station, are in link axes.
        """
        robot, sums = self.robot, self.sums
        for j, link in enumerate(robot.upright):
            if j in robot.stations:
                continue
            body, rate = sums.bodies[j].turned(link.turn), sums.rates[j].turned(link.turn)
            yield j, j, *self._displaced(j, body, rate, *state.joint(j))
            if j not in robot.bodies:
                continue
            inward, own = state.body(j)
            for s in robot.tree.stations(j):
                here, parts = self._displaced(s, sums.bodies[s], sums.rates[s], *state.station(s))
                own = [one + other for one, other in zip(own, parts, strict=True)]
                inward = inward + here.shifted(robot.stations[s].origin, sums.lever_rates[s])
            yield j, robot.tree.first_station(j), inward, own

    def _displaced(
        self, i: int, body: Composite, rate: CompositeRate, moved: Displacement, turned: Turned
    ) -> tuple[InwardColumns, list[Matrix]]:
        """What rises from a joint or a station, and its own block of each matrix."""
        self.displacements[i] = moved
        *wrenches, last = (each.wrench(body, rate) for each in moved.fields)
        transmitted = (*wrenches, replace(last, force=last.force + turned.transmitted))
        own = [moved.work(wrench.times(moved.weights)) for wrench in transmitted]
        own[-1] = own[-1] + turned.stiffness
        fields = tuple(wrench.times(moved.weights) for wrench in (*wrenches, last + turned.passed_on))
        column, eta = body.wrench(moved.columns).times(moved.weights), rate.eta(moved.columns) @ moved.weights
        return InwardColumns(fields, column, eta, turned.turning @ moved.weights), own

    def _add(self, i: int, j: int, blocks: Sequence[Matrix]) -> None:
        """One block of each matrix."""
        for found, block in zip(self.found, blocks, strict=False):
            found.append((i, j, block))

    def _add_pair(self, i: int, column: int, here: InwardColumns) -> None:
        """The blocks of a column with a joint above it, in its axes, or with a station, in those of its link."""
        robot, above = self.robot, self.displacements[i]
        row = robot.tree.first_station(robot.links[i].joint.parent) if i in robot.stations else i
        self._add(row, column, [above.work(wrench) for wrench in here.fields])
        met = [above.weights.T @ each.meet(here.column, here.eta) for each in above.fields]
        met[-1] = met[-1] + above.weights.T @ (above.columns.angular.T @ here.turning)
        self._add(column, row, [block.T for block in met])

    def _carry_inward(self, j: int, inward: InwardColumns) -> Iterator[tuple[int, InwardColumns]]:
        """What rises from link j, at each joint above, in its axes, and at each station, in those of its link."""
        links, lever_rates = self.robot.upright, self.sums.lever_rates
        while (i := links[j].joint.parent) >= 0:
            inward = inward.turned(links[j].fixed).shifted(links[j].origin, lever_rates[j])
            if i in self.robot.stations:
                yield i, inward
                inward, i = inward.shifted(links[i].origin, lever_rates[i]), links[i].joint.parent
            j, inward = i, inward.turned(links[i].turn)
            yield j, inward


def coriolis_matrix(tree: Tree, q: Matrix, v: Matrix, placed: Placing = place) -> Matrix:
    """C by composite bodies and their rates, nv × nv."""
    robot, a, none = RobotAtQ.of(tree, q, placed), ca.DM(tree.nv, 1), Wrench(_NULL, _NULL)
    motions, n = robot.motions(q, v, a, _NULL), len(robot.links)
    state = DisplacedRobot(robot, q, v, a, motions, [none] * n, [[]] * n, times=1)
    return Blocks(robot, moving(robot, motions, v)).of(state)[0]


def inverse_dynamics_derivatives(
    tree: Tree, q: Matrix, v: Matrix, a: Matrix, loads: Loads = UNLOADED, placed: Placing = place
) -> tuple[Matrix, Matrix]:
    """∂tau/∂q and ∂tau/∂v, nv × nv each, columns in the tangent space.

    Under LOCAL wrenches, which move with their links as W_j does, and LOCAL_WORLD_ALIGNED ones, all in link axes.
    """
    robot = RobotAtQ.of(tree, q, placed)
    motions = robot.motions(q, v, a)
    wrenches, _ = joint_wrenches(robot, motions, v, a, loads.given_in([pin.LOCAL]).on(tree, robot.links))
    state = DisplacedRobot(robot, q, v, a, motions, wrenches, loads.aligned(tree, robot.links), times=2)
    by_v, by_q = Blocks(robot, moving(robot, motions, v, times=2)).of(state)  # sums of twice ẋ
    return by_q, by_v


@dataclass(frozen=True)
class DisplacedRobot:
    """A robot whose joints and modes are displaced, one by one."""

    robot: RobotAtQ
    q: Matrix
    v: Matrix
    a: Matrix
    motions: Motions
    wrenches: list[Wrench]  # on links and stations, under wrenches that turn with them
    aligned: list[list[Aligned]]  # wrenches that do not turn, by the joint or station that bears them
    times: int  # 1 for the fields ė and sums of ẋ, which C is made of; 2 for ė + e′ and e″, and sums of twice ẋ

    def joint(self, j: int) -> tuple[Displacement, Turned]:
        """Displacements of joint j, in the axes where its columns meet others (on a station its link's)."""
        link, n = self.robot.links[j], self.robot.links[j].joint.type.nv
        axes = link.turn.T if link.joint.parent in self.robot.stations else NO_TURN
        motions = self.motions[link.joint.parent], self.motions[j]
        fields = displacement_of_joint(link, motions, self.q, self.v, self.a, self.times)
        e, wrench = link.columns, self.wrenches[j].turned(self.robot.upright[j].turn)
        aligned = [each.turned(axes) for each in self.aligned[j]]
        pushed, turning = pushed_by(e, aligned)
        stiffness = turning.T @ e.angular + stiffness_of_joint(link, self.q, under(aligned, wrench))
        moved = Displacement(e, ca.DM.eye(n), tuple(each.turned(axes) for each in fields))
        return moved, Turned(e.carry(wrench) - pushed, ca.DM(3, n), turning, stiffness)

    def station(self, s: int) -> tuple[Displacement, Turned]:
        """Displacements of a station along the modes of its link, in link axes.

        Its translations are those in link axes, which do not turn with it; the wrench on them does. What this wrench
        works on columns that change is the part of the body of the link.
        """
        station, joint = self.robot.stations[s], self.robot.links[s].joint
        rates = joint.velocity(self.v), joint.velocity(self.a)
        moved = displacement_of_station(station, self.motions[joint.parent], *rates, self.times)
        e, weights, r = moved.columns, moved.weights, Full(station.rotation)
        aligned = [each.turned(r) for each in self.aligned[s]]
        carried, (pushed, turning) = e.carry(self.wrenches[s].turned(r)), pushed_by(e, aligned)
        _, turned = pushed_by(Motion(ca.DM(*e.linear.shape), e.angular), aligned)
        stiffness = weights.T @ (turned.T @ e.angular) @ weights
        return moved, Turned(carried - pushed, carried.force, turning, stiffness)

    def body(self, j: int) -> tuple[InwardColumns, list[Matrix]]:
        """What rises from the body of flexible link j alone, and its block of each matrix."""
        v, a = (self.robot.modal_velocity(j, x) for x in (self.v, self.a))
        modes, times = self.robot.modes_in_motion(j, self.motions[j], v, a), self.times
        fields, own = [modes.rates(times)], [modes.by_v(times)]
        if times == 2:
            borne = []  # the force in link axes and the moment in station axes that each station bears
            for s in self.robot.tree.stations(j):
                r, wrench, aligned = Full(self.robot.stations[s].rotation), self.wrenches[s], self.aligned[s]
                force = under([each.turned(r) for each in aligned], wrench.turned(r)).force
                borne.append((self.robot.stations[s], Wrench(force, under(aligned, wrench).moment)))
            fields, own = [*fields, modes.second_rates()], [*own, modes.by_f(borne)]
        return InwardColumns(tuple(fields), modes.columns, modes.eta(times), ca.DM(3, v.shape[0])), own


def pushed_by(e: Motion, aligned: Sequence[Aligned]) -> tuple[Wrench, Matrix]:
    """The moments Σ δx × f of columns e, and η = Σ m × angular − δx × f (3 × k each), of wrenches that do not turn.

    As joint i moves the points x_k of a joint j at or below it, or above it,

        ∂tau_j/∂q_i = … + angular_i·η_j          ∂tau_i/∂q_j = … − angular_i·Σ δx × f
    """
    pushed = turning = ca.DM(*e.angular.shape)
    for each in aligned:
        carried = -spatial.skew(each.wrench.force) @ (e.linear - spatial.skew(each.lever) @ e.angular)
        pushed = pushed + carried
        turning = turning - carried + spatial.skew(each.wrench.moment) @ e.angular
    return Wrench(ca.DM(*pushed.shape), pushed), turning


def under(aligned: Sequence[Aligned], wrench: Wrench) -> Wrench:
    """The wrench that a subtree needs, under wrenches that do not turn as well."""
    for lever, other in aligned:
        wrench = wrench - other.about(-lever)
    return wrench
