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

Fields of the lower element rise to the upper one as wrenches. For those of the upper element the wrench (f; n) of the
lower column rises, with η = Σ m ẋ × e_j. What the stations of an element and its own mass add is summed before it
rises, so that an element passes on one column for each coordinate.

(Ours. Axes as in :mod:`~gdalembert.dynamics.newton_euler.crba`.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.composite import nothing
from gdalembert.dynamics.newton_euler.crba import at_rates
from gdalembert.dynamics.newton_euler.displacements import CompositeRate, Displacement, InMotion, InwardColumns
from gdalembert.dynamics.newton_euler.elements import ElementAtQ, Station
from gdalembert.dynamics.newton_euler.links import UNLOADED, Aligned, Loads, Motions, Placing, place
from gdalembert.dynamics.newton_euler.rnea import joint_wrenches
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class Moving:
    """All subtrees in motion, with so many times their velocities, of a robot that is upright.

    Attributes:
        rates: of the subtree of each station.
        frame_rates: the velocity of the frame of each element against its carrier, in the axes of that.
        lever_rates: the velocity of each station against the frame of its element, in its axes.
    """

    rates: dict[int, CompositeRate]
    frame_rates: dict[int, Matrix]
    lever_rates: dict[int, Matrix]


def moving(robot: RobotAtQ, motions: Motions, v: Matrix, times: float = 1) -> Moving:
    """The subtrees of all stations, with so many times their velocities."""
    upright, omegas = robot.upright, {i: robot.turns[i] @ motion.omega for i, motion in motions.items()}
    frame_rates, lever_rates = dict[int, Matrix](), dict[int, Matrix]()
    rates: dict[int, CompositeRate] = {}
    for i, (_, first, second) in upright.rigid.items():
        omega = times * omegas[i]
        rates[i] = CompositeRate(ca.cross(omega, first), spatial.skew(omega) @ second)
    for element in upright.elements:
        frame_rates[element.index], levers = element.levers(omegas[element.carrier], v, times)
        lever_rates |= zip(element.element.stations, levers, strict=True)
    for element in upright.inward():
        rate = element.body_rate(omegas[element.carrier], v, times)
        for station in element.stations:
            body, lever_rate = upright.composites[station.index], lever_rates[station.index]
            rate += rates[station.index].to_parent(station.turn, station.origin, body, lever_rate)
        body = upright.subtrees[element.index]
        rates[element.carrier] += rate.to_parent(*element.frame, body, frame_rates[element.index])
    return Moving(rates, frame_rates, lever_rates)


@dataclass(frozen=True)
class DisplacedRobot:
    """A robot whose elements are displaced, one by one."""

    robot: RobotAtQ
    v: Matrix
    a: Matrix
    motions: Motions
    wrenches: Mapping[int, Wrench]  # that stations bear, under wrenches that turn with them
    aligned: Sequence[Sequence[Aligned]]  # wrenches that do not turn, by the station that bears them
    times: int  # as of InMotion

    @staticmethod
    def without_wrenches(robot: RobotAtQ, v: Matrix, motions: Motions) -> DisplacedRobot:
        """The same equations for ė alone."""
        none = [()] * len(robot.links)
        return DisplacedRobot(robot, v, ca.DM(*v.shape), motions, dict.fromkeys(motions, nothing()), none, times=1)

    def at(self, element: ElementAtQ) -> InMotion:
        """An element in motion, and what its stations bear."""
        stations = element.element.stations
        return InMotion(
            self.motions[element.carrier],
            [self.motions[i] for i in stations],
            self.v,
            self.a,
            [self.wrenches[i] for i in stations],
            [self.aligned[i] for i in stations],
            self.times,
        )


@dataclass(frozen=True)
class Blocks:
    """Blocks (i, j) of matrices per unit of rate, one for each field, as columns rise."""

    robot: RobotAtQ  # upright
    sums: Moving
    displacements: dict[int, Displacement] = field(default_factory=dict)  # of stations, from the base on
    found: tuple[list[tuple[int, int, Matrix]], ...] = field(default_factory=lambda: ([], []))  # of each field

    def of(self, state: DisplacedRobot) -> tuple[Matrix, ...]:
        """The matrices (nv × nv each)."""
        for element, inward, own in self.risen(state):
            self._add(element, element, own)
            for above, station, here in self._carry_inward(element, inward):
                self._add_pair(above, station, element, here)
        return tuple(self.robot.tree.matrix(at_rates(self.robot.links, blocks)) for blocks in self.found)

    def risen(self, state: DisplacedRobot) -> Iterator[tuple[ElementAtQ, InwardColumns, list[Matrix]]]:
        """The columns that rise from each element, in its frame, and its own block of each matrix."""
        for element in self.robot.elements:
            at = state.at(element)
            inward, own = element.own_displaced(at)
            for station, displaced in zip(element.stations, element.displaced(at), strict=True):
                here, parts = self._of_station(station, displaced)
                own = [one + other for one, other in zip(own, parts, strict=True)]
                inward = inward + here.shifted(station.origin, self.sums.lever_rates[station.index])
            yield element, inward, own

    def _of_station(self, station: Station, displaced: Displacement) -> tuple[InwardColumns, list[Matrix]]:
        """Columns that rise from a station, about its origin, and its part of the own block of each matrix."""
        self.displacements[station.index] = displaced
        body = self.robot.composites[station.index].turned(station.turn)
        rate, weights = self.sums.rates[station.index].turned(station.turn), station.weights
        *wrenches, last = (each.wrench(body, rate) for each in displaced.fields)
        transmitted = (*wrenches, replace(last, force=last.force + displaced.transmitted))
        own = [station.work(wrench.times(weights)) for wrench in transmitted]
        own[-1] = own[-1] + displaced.stiffness
        fields = tuple(wrench.times(weights) for wrench in (*wrenches, last + displaced.passed_on))
        column, eta = body.wrench(station.columns).times(weights), rate.eta(station.columns) @ weights
        return InwardColumns(fields, column, eta, displaced.turning @ weights), own

    def _add(self, i: ElementAtQ, j: ElementAtQ, blocks: Sequence[Matrix]) -> None:
        """One block of each matrix."""
        for found, block in zip(self.found, blocks, strict=False):
            found.append((i.index, j.index, block))

    def _add_pair(self, above: ElementAtQ, station: Station, element: ElementAtQ, here: InwardColumns) -> None:
        """The blocks of an element with one above it, whose station bears what rises from it."""
        fields, weights = self.displacements[station.index].fields, station.weights
        self._add(above, element, [station.work(wrench) for wrench in here.fields])
        met = [weights.T @ each.meet(here.column, here.eta) for each in fields]
        met[-1] = met[-1] + weights.T @ (station.columns.angular.T @ here.turning)
        self._add(element, above, [block.T for block in met])

    def _carry_inward(
        self, element: ElementAtQ, inward: InwardColumns
    ) -> Iterator[tuple[ElementAtQ, Station, InwardColumns]]:
        """The elements above, and what rises to the station of each on the way, about it, in the element's frame."""
        while element.carrier >= 0:
            fixed, origin = element.frame
            inward = inward.turned(fixed).shifted(origin, self.sums.frame_rates[element.index])
            element, station = self.robot.movers[element.carrier]
            inward = inward.turned(station.turn)
            yield element, station, inward
            inward = inward.shifted(station.origin, self.sums.lever_rates[station.index])


def coriolis_matrix(tree: Tree, q: Matrix, v: Matrix, placed: Placing = place) -> Matrix:
    """C by composite bodies and their rates, nv × nv."""
    robot = RobotAtQ.of(tree, q, placed)
    motions = robot.motions(v, ca.DM(tree.nv, 1), _NULL)
    state = DisplacedRobot.without_wrenches(robot, v, motions)
    return Blocks(robot.upright, moving(robot, motions, v)).of(state)[0]


def inverse_dynamics_derivatives(
    tree: Tree, q: Matrix, v: Matrix, a: Matrix, loads: Loads = UNLOADED, placed: Placing = place
) -> tuple[Matrix, Matrix]:
    """∂tau/∂q and ∂tau/∂v, nv × nv each, columns in the tangent space.

    Under LOCAL wrenches, which move with their links as W_j does, and LOCAL_WORLD_ALIGNED ones, all in link axes.
    """
    robot = RobotAtQ.of(tree, q, placed)
    motions = robot.motions(v, a)
    wrenches, _ = joint_wrenches(robot, motions, v, a, loads.given_in([pin.LOCAL]).on(tree, robot.links))
    state = DisplacedRobot(robot, v, a, motions, wrenches, loads.aligned(tree, robot.links), times=2)
    by_v, by_q = Blocks(robot.upright, moving(robot, motions, v, times=2)).of(state)  # sums of twice ẋ
    return by_q, by_v
