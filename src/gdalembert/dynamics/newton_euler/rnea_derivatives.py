"""The Coriolis matrix and the derivatives of inverse dynamics, by composite bodies in motion.

With the columns e_i of motion subspaces, the fields of what they add to velocities and accelerations
(:mod:`~gdalembert.dynamics.newton_euler.derivatives`), and sums over all points below both joints

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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.crba import Composite, at_rates
from gdalembert.dynamics.newton_euler.derivatives import (
    CompositeRate,
    Displacement,
    Moving,
    displacement_of_joint,
    displacement_of_station,
    modes_in_motion,
    moving,
    stiffness_of_joint,
)
from gdalembert.dynamics.newton_euler.external import UNLOADED, Aligned, Loads
from gdalembert.dynamics.newton_euler.links import Motions, Placing, place
from gdalembert.dynamics.newton_euler.rnea import joint_wrenches
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.dynamics.newton_euler.rotations import NO_TURN, Full, Rotation
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class Rising:
    """What a joint, or the modes of a link, pass on to the joints above.

    Attributes:
        fields: wrenches of their fields. ``column``, ``eta``: the wrench and η of their columns.
        turning: for each column what a turn of the joint above adds to its torque, by wrenches that do not turn.
    """

    fields: tuple[Wrench, ...]
    column: Wrench
    eta: Matrix
    turning: Matrix

    def __add__(self, other: Rising) -> Rising:
        fields = tuple(one + two for one, two in zip(self.fields, other.fields, strict=True))
        return Rising(fields, self.column + other.column, self.eta + other.eta, self.turning + other.turning)

    def turned(self, r: Rotation) -> Rising:
        """The same in other axes, R x for x."""
        fields = tuple(wrench.turned(r) for wrench in self.fields)
        return Rising(fields, self.column.turned(r), r @ self.eta, r @ self.turning)

    def shifted(self, p: Matrix, p_rate: Matrix) -> Rising:
        """The same about a point from which the origin is seen at p and leaves at p_rate."""
        fields = tuple(wrench.about(-p) for wrench in self.fields)
        eta = self.eta + spatial.skew(p_rate) @ self.column.force
        return Rising(fields, self.column.about(-p), eta, self.turning)

    def gathered(self, weights: Matrix) -> Rising:
        """Of coordinates from those of their columns (k × n weights)."""
        fields = tuple(wrench.times(weights) for wrench in self.fields)
        return Rising(fields, self.column.times(weights), self.eta @ weights, self.turning @ weights)


@dataclass(frozen=True)
class Turned:
    """What the columns of a joint or a station do to the wrench W of their subtree: they turn it, or parts of it.

    Attributes:
        passed_on: what has to be passed on besides. ``felt``: the force of it that the own coordinates feel.
        turning: as of :class:`Rising`.
        stiffness: what is in the own block besides.
    """

    passed_on: Wrench
    felt: Matrix
    turning: Matrix
    stiffness: Matrix


@dataclass(frozen=True)
class Blocks:
    """Blocks (i, j) of matrices per unit of rate, one for each field, as columns rise; those of modes at a station.

    Attributes:
        robot, sums: at q, and in motion.
        displacements: by joint and station, those above before those below.
        found: the blocks of each field.
    """

    robot: RobotAtQ
    sums: Moving
    displacements: dict[int, Displacement] = field(default_factory=dict)
    found: tuple[list[tuple[int, int, Matrix]], ...] = field(default_factory=lambda: ([], []))

    def of(self, state: DisplacedRobot) -> tuple[Matrix, ...]:
        """The matrices (nv × nv each)."""
        robot, sums = self.robot, self.sums
        for j, link in enumerate(robot.upright):
            if j in robot.stations:
                continue
            body, rate = sums.bodies[j].turned(link.turn), sums.rates[j].turned(link.turn)
            rising, own = self._displaced(j, body, rate, *state.joint(j))
            self._add(j, j, own)
            for i, here in self._rise(j, rising):
                self._add_pair(i, j, here)
            if j not in robot.bodies:
                continue
            rising, own = state.body(j)
            for s in robot.tree.stations(j):
                here, parts = self._displaced(s, sums.bodies[s], sums.rates[s], *state.station(s))
                own = [one + other for one, other in zip(own, parts, strict=True)]
                rising = rising + here.shifted(robot.stations[s].origin, sums.lever_rates[s])
            modes, rising = robot.tree.first_station(j), rising.turned(link.turn)
            self._add(modes, modes, own)
            for i, here in [(j, rising), *self._rise(j, rising)]:
                self._add_pair(i, modes, here)
        return tuple(robot.tree.matrix(at_rates(robot.links, blocks)) for blocks in self.found)

    def _displaced(
        self, i: int, body: Composite, rate: CompositeRate, moved: Displacement, turned: Turned
    ) -> tuple[Rising, list[Matrix]]:
        """What rises from a joint or a station, and its own block of each matrix."""
        self.displacements[i] = moved
        *wrenches, last = (each.wrench(body, rate) for each in moved.fields)
        felt = (*wrenches, replace(last, force=last.force + turned.felt))
        own = [moved.work(wrench.times(moved.weights)) for wrench in felt]
        own[-1] = own[-1] + turned.stiffness
        column, eta = body.wrench(moved.columns), rate.eta(moved.columns)
        rising = Rising((*wrenches, last + turned.passed_on), column, eta, turned.turning)
        return rising.gathered(moved.weights), own

    def _add(self, i: int, j: int, blocks: Sequence[Matrix]) -> None:
        """One block of each matrix."""
        for found, block in zip(self.found, blocks, strict=False):
            found.append((i, j, block))

    def _add_pair(self, i: int, column: int, here: Rising) -> None:
        """The blocks of a column with a joint above it, in its axes, or with a station, in those of its link."""
        robot, above = self.robot, self.displacements[i]
        row = robot.tree.first_station(robot.links[i].joint.parent) if i in robot.stations else i
        self._add(row, column, [above.work(wrench) for wrench in here.fields])
        met = [above.weights.T @ each.meet(here.column, here.eta) for each in above.fields]
        met[-1] = met[-1] + above.weights.T @ (above.columns.angular.T @ here.turning)
        self._add(column, row, [block.T for block in met])

    def _rise(self, j: int, rising: Rising) -> Iterator[tuple[int, Rising]]:
        """What rises from link j, at each joint above, in its axes, and at each station, in those of its link."""
        links, lever_rates = self.robot.upright, self.sums.lever_rates
        while (i := links[j].joint.parent) >= 0:
            rising = rising.turned(links[j].fixed).shifted(links[j].origin, lever_rates[j])
            if i in self.robot.stations:
                yield i, rising
                rising, i = rising.shifted(links[i].origin, lever_rates[i]), links[i].joint.parent
            j, rising = i, rising.turned(links[i].turn)
            yield j, rising


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

    Args:
        loads: LOCAL wrenches, which move with their links as W_j does, and LOCAL_WORLD_ALIGNED ones.
        placed: in which axes; under loads in link axes.
    """
    robot = RobotAtQ.of(tree, q, placed)
    motions = robot.motions(q, v, a, Gravity(tree).base_acceleration)
    wrenches, _ = joint_wrenches(robot, motions, v, a, loads.given_in([pin.LOCAL]).on(tree, robot.links))
    state = DisplacedRobot(robot, q, v, a, motions, wrenches, loads.aligned(tree, robot.links), times=2)
    by_v, by_q = Blocks(robot, moving(robot, motions, v, times=2)).of(state)  # sums of twice ẋ
    return by_q, by_v


@dataclass(frozen=True)
class DisplacedRobot:
    """A robot whose joints and modes are displaced, one by one.

    Attributes:
        robot, q, v, a: as of inverse dynamics. ``motions``: of links and stations.
        wrenches: on links and stations, under wrenches that turn with them.
        aligned: what wrenches that do not turn each joint and station bears.
        times: 1 for the fields ė and sums of ẋ, which C is made of; 2 for ė + e′ and e″, and sums of twice ẋ.
    """

    robot: RobotAtQ
    q: Matrix
    v: Matrix
    a: Matrix
    motions: Motions
    wrenches: list[Wrench]
    aligned: list[list[Aligned]]
    times: int

    def joint(self, j: int) -> tuple[Displacement, Turned]:
        """Of joint j, in the axes in which its columns meet others: on a station those of its link, else its own."""
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
        """Of a station along the modes of its link, in link axes.

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

    def body(self, j: int) -> tuple[Rising, list[Matrix]]:
        """What rises from the body of flexible link j alone, and its block of each matrix."""
        v, a = (self.robot.modal_velocity(j, x) for x in (self.v, self.a))
        modes, times = modes_in_motion(self.robot, j, self.motions[j], v, a), self.times
        fields, own = [modes.rates(times)], [modes.by_v(times)]
        if times == 2:
            borne = [(self.robot.stations[s], self._borne(s)) for s in self.robot.tree.stations(j)]
            fields, own = [*fields, modes.second_rates()], [*own, modes.by_f(borne)]
        return Rising(tuple(fields), modes.columns, modes.eta(times), ca.DM(3, v.shape[0])), own

    def _borne(self, s: int) -> Wrench:
        """The force in link axes and the moment in station axes that station s bears."""
        r, aligned = Full(self.robot.stations[s].rotation), self.aligned[s]
        force = under([each.turned(r) for each in aligned], self.wrenches[s].turned(r)).force
        return Wrench(force, under(aligned, self.wrenches[s]).moment)


def pushed_by(e: Motion, aligned: Sequence[Aligned]) -> tuple[Wrench, Matrix]:
    """The moments Σ δx × f of columns e, and η = Σ m × angular − δx × f (3 × k each), of wrenches that do not turn.

    As joint i moves the points x_k of a joint j at or below it, or above it,

        ∂tau_j/∂q_i = … + angular_i·η_j          ∂tau_i/∂q_j = … − angular_i·Σ δx × f
    """
    pushed = turning = ca.DM(*e.angular.shape)
    for each in aligned:
        carried = each.carried(e)
        pushed = pushed + carried
        turning = turning - carried + spatial.skew(each.wrench.moment) @ e.angular
    return Wrench(ca.DM(*pushed.shape), pushed), turning


def under(aligned: Sequence[Aligned], wrench: Wrench) -> Wrench:
    """The wrench that a subtree needs, under wrenches that do not turn as well."""
    for lever, other in aligned:
        wrench = wrench - other.about(-lever)
    return wrench
