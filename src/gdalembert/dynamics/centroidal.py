"""Momentum of a whole robot, its centre of mass, and what both are in terms of v and a.

The momentum about a point and its rate are the wrenches that all links together need,

    h(q, v) = F(q, 0, v)            ḣ = F(q, v, a) about the centre of mass

F(q, v, a) being the sum of the wrenches of Newton–Euler's recursion at the base, without gravity: F is linear in a, and
at rest it is what takes the links from rest to v in unit time. About the origin of the universe, ḣ is the same F about
that point; about the centre of mass too, since its velocity is parallel to the linear momentum. The columns of the map
of h = A v are the wrenches that the composite body of each joint needs for the joint's columns,

    A_i = X I S        dA_i/dt = X (I̊ S + I Ṡ + V × I S)

with I̊ the rate of the composite inertia I seen from its root link, zero at the tips, V the twist of that link against
the centre of mass, and X the shift to it. A displacement of a joint moves its subtree like a rigid body, so that the
derivatives of h and ḣ are the wrenches of the fields of :mod:`~gdalembert.dynamics.newton_euler.rnea_derivatives`,

    ∂ḣ/∂v_j = Σ m (ė_j + e_j′)        ∂ḣ/∂q_j = Σ m e_j″ + e_j × F_j − ∂c/∂q_j × F        ∂h/∂q = ∂ḣ/∂v − dA/dt

All this runs on links
with base parameters (:mod:`gdalembert.model.regrouping`): the masses on the axes of joints on the
base, which they leave out, stand still and have no part in it but in the centre of mass. (Ours.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.frame_motion import of_columns
from gdalembert.dynamics.newton_euler.crba import Composite, composites, modal_columns
from gdalembert.dynamics.newton_euler.links import Full, Link
from gdalembert.dynamics.newton_euler.rnea import joint_wrenches
from gdalembert.dynamics.newton_euler.rnea_derivatives import (
    Blocks,
    DisplacedRobot,
    InwardColumns,
    Moving,
    moving,
    rate_beyond_displacement,
)
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.errors import ModelError, UnsupportedError
from gdalembert.model.configuration import neutral
from gdalembert.model.regrouping import PreparedTree, RegroupedTree, prepare
from gdalembert.model.rounding import ENTRY_ERROR, drop
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import derivative_along, directional_derivative
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)


def total_mass(tree: Tree) -> Matrix:
    """Mass of all links that a joint moves [kg]: a number, or an expression of parameters."""
    if isinstance(tree, RegroupedTree):
        raise UnsupportedError(
            f"{tree.name}: base parameters determine torques, but neither masses nor momenta; make parameters of "
            "'inertia' instead of 'base'"
        )
    mass = sum(joint.mass for joint in tree.joints)
    return mass if isinstance(mass, ca.SX) else float(mass)


def _mass(tree: Tree) -> Matrix:
    mass = total_mass(tree)
    if not isinstance(mass, ca.SX) and mass == 0:
        raise ModelError(f"{tree.name}: its links have no mass; there is no centre of mass")
    return mass


def center_of_mass(tree: Tree, q: Matrix) -> Matrix:
    """c (3) in the universe."""
    return tree.first_moment(q) / _mass(tree)


def center_of_mass_jacobian(tree: Tree, q: Matrix) -> Matrix:
    """∂c/∂q (3 × nv), in the tangent space of q."""
    if tree.is_first_order:
        return derivative_along(ca.cse([center_of_mass(tree, q)])[0], q, tree.tangent_map(q))
    return centroidal_map(tree, q)[:3, :] / _mass(tree)


def center_of_mass_velocity(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """dc/dt (3)."""
    if tree.is_first_order:
        return directional_derivative(center_of_mass(tree, q), q, tree.configuration_rate(q, v))
    return centroidal_momentum(tree, q, v)[:3] / _mass(tree)


def center_of_mass_acceleration(tree: Tree, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
    """d²c/dt² (3)."""
    if tree.is_first_order:
        state: Matrix = ca.vertcat(q, v)
        rate: Matrix = ca.vertcat(tree.configuration_rate(q, v), a)
        return directional_derivative(center_of_mass_velocity(tree, q, v), state, rate)
    return centroidal_momentum_rate(tree, q, v, a)[:3] / _mass(tree)


@dataclass(frozen=True)
class _Robot:
    """The links at q, with base parameters, in frames and a unit of length of our own."""

    links: RobotAtQ  # forces are ``unit`` times those in SI units; moments and torques are the same
    bodies: list[Composite]  # the composite body of each link's subtree
    unit: float
    mass: Matrix  # of all links [kg]
    standing: Matrix  # Σ m x (3, kg m) of the masses that base parameters leave out, in the universe

    @classmethod
    def at(cls, tree: Tree, q: Matrix) -> _Robot:
        if tree.is_first_order:
            raise UnsupportedError(
                f"{tree.name}: its links turn to first order only, and have no angular momentum; take FlexibleArm, or "
                "total_mass times center_of_mass_velocity for the linear momentum"
            )
        # of symbols nothing is left out, so that nothing has to be added again
        mass, known = _mass(tree), tree.is_numeric
        prepared = prepare(tree, regroup_symbols=known, regroup_roots=known)
        unit = prepared.unit if isinstance(prepared, PreparedTree) else 1.0
        links = RobotAtQ.of(prepared, q)
        robot = cls(links, composites(links), unit, mass, _NULL)
        if isinstance(q, ca.DM) or not known:
            return robot
        q_0 = neutral(tree)
        whole, moving = tree.first_moment(q_0).full(), cls.at(tree, q_0).first_moment.full()
        noise = ENTRY_ERROR * (np.abs(whole).max() + np.abs(moving).max() + mass)  # kg times 1 m
        return replace(robot, standing=spatial.constant(drop(whole - moving, noise)))

    @property
    def first_moment(self) -> Matrix:
        """Σ m x (3, kg m) of all links, in the universe."""
        roots = ((i, link) for i, link in self.links if link.joint.parent < 0)
        return sum((self.bodies[i].to_parent(link).first for i, link in roots), _NULL) / self.unit + self.standing

    @property
    def center(self) -> Matrix:
        """The centre of mass (3), in the own unit of length."""
        return self.first_moment / (self.mass * self.unit)

    def in_si(self, wrench: Wrench) -> Matrix:
        """(6), in SI units."""
        return ca.vertcat(wrench.force / self.unit, wrench.moment)


def centroidal_map(tree: Tree, q: Matrix) -> Matrix:
    """A (6 × nv) of h = A v."""
    robot = _Robot.at(tree, q)
    links, placed = robot.links, {-1: (ca.DM.eye(3), -robot.center)}  # about the centre of mass, in the universe's axes
    columns: list[tuple[Joint, Matrix]] = []
    for i, link in links:
        above, p = placed[link.joint.parent]
        if i in links.stations:
            station = links.stations[i]
            placed[i] = above @ station.rotation, p + above @ station.origin
            continue
        r, p = (link.fixed.T @ above.T).T, p + above @ link.origin  # of the joint, before its turn
        placed[i] = (link.turn.T @ r.T).T, p
        needed = robot.bodies[i].turned(link.turn).wrench(link.columns).to_parent(r, p)
        columns.append((link.joint, link.rate * robot.in_si(needed)))
        if i in links.bodies:
            modes, (_, needed) = links.links[links.tree.first_station(i)], modal_columns(links, robot.bodies, i)
            columns.append((modes.joint, modes.rate * robot.in_si(needed.to_parent(*placed[i]))))
    return of_columns(tree.nv, 6, columns)


def centroidal_momentum(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """h (6)."""
    return centroidal_momentum_rate(tree, q, ca.DM(tree.nv, 1), v)


def centroidal_momentum_rate(tree: Tree, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
    """dh/dt (6)."""
    robot = _Robot.at(tree, q)
    wrenches, _ = joint_wrenches(robot.links, robot.links.motions(q, v, a, _NULL), v, a)
    roots = (wrenches[i].to_parent(*link.placement) for i, link in robot.links if link.joint.parent < 0)
    return robot.in_si(sum(roots, Wrench(_NULL, _NULL)).about(robot.center))


def centroidal_map_rate(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """dA/dt (6 × nv)."""
    robot = _Robot.at(tree, q)
    rates = _rates_of_composites(robot, v)
    center_rate = rates[-1].first / (robot.mass * robot.unit**2)
    links, placed = robot.links, {-1: (ca.DM.eye(3), -robot.center, Motion(-center_rate, _NULL))}
    columns: list[tuple[Joint, Matrix]] = []
    for i, link in enumerate(links.upright):
        above, p, carrier = placed[link.joint.parent]
        r, p = (link.fixed.T @ above.T).T, p + above @ link.origin
        point = carrier.linear + ca.cross(carrier.angular, link.origin)
        twist = Motion(point, carrier.angular).turned(link.fixed.T) + _against_parent(links, i, v)
        placed[i] = (link.turn.T @ r.T).T, p, twist.turned(link.turn.T)
        if i in links.stations:
            continue
        body, e, turning = robot.bodies[i].turned(link.turn), link.columns, spatial.skew(twist.angular)
        needed = body.wrench(e)
        rate = rates[i].wrench(e) + body.wrench(link.column_rates(q, v))
        carried = Wrench(turning @ needed.force, turning @ needed.moment + spatial.skew(twist.linear) @ needed.force)
        columns.append((link.joint, link.rate * robot.in_si((rate + carried).to_parent(r, p))))
    for i, column, inward in _RobotInMotion.of(robot, q, v).columns() if links.bodies else ():
        if column != i:  # modes
            modes, (rate,) = links.links[column], inward.fields
            columns.append((modes.joint, modes.rate * robot.in_si(rate + _moment(inward.eta))))
    return of_columns(tree.nv, 6, columns)


def _moment(columns: Matrix) -> Wrench:
    """Wrenches that are moments alone."""
    return Wrench(ca.DM(*columns.shape), columns)


def _against_parent(robot: RobotAtQ, i: int, v: Matrix) -> Motion:
    """The twist of a link against its parent, in its axes before its turn, or of a station, in those of its link."""
    if (station := robot.stations.get(i)) is not None:
        return station.columns.times(robot.links[i].joint.velocity(v))
    return robot.links[i].velocity(v)


def _rates_of_composites(robot: _Robot, v: Matrix) -> dict[int, Composite]:
    """The rates of m, h and J of each subtree, seen from its root link, in its joint's axes; −1 is the universe."""
    links, none = robot.links, Composite(ca.DM(1, 1), _NULL, ca.DM(3, 3))
    rates = dict.fromkeys([-1, *range(len(links.links))], none)
    for i, body in links.bodies.items():
        first, half = body.rates(_NULL, links.modal_velocity(i, v))
        rates[i] = Composite(none.mass, first, spatial.symmetric(half + half.T))
    for i, link in reversed(list(enumerate(links.upright))):
        rates[i] = rates[i].turned(link.turn)
        moved = robot.bodies[i].turned(link.turn).carried(_against_parent(links, i, v))
        rates[link.joint.parent] += (rates[i] + moved).turned(link.fixed).shifted(link.origin)
    return rates


@dataclass(frozen=True)
class _RobotInMotion:
    """The robot at (q, v, a), and what each column of its joints and modes does to the momentum and to its rate."""

    robot: _Robot
    state: DisplacedRobot
    sums: Moving

    @classmethod
    def of(cls, robot: _Robot, q: Matrix, v: Matrix, a: Matrix | None = None) -> _RobotInMotion:
        """With the rates of columns; for a given, with their displacements too, and twice the velocities."""
        links, times, n = robot.links, 1 if a is None else 2, len(robot.links.links)
        acceleration = ca.DM(*v.shape) if a is None else a
        motions, wrenches = links.motions(q, v, acceleration, _NULL), [Wrench(_NULL, _NULL)] * n
        if a is not None:
            wrenches, _ = joint_wrenches(links, motions, v, a)
        state = DisplacedRobot(links, q, v, acceleration, motions, wrenches, [[]] * n, times)
        return cls(robot, state, moving(links, motions, v, times))

    @property
    def _roots(self) -> list[tuple[int, Link]]:
        return [(i, link) for i, link in self.robot.links if link.joint.parent < 0]

    @property
    def force(self) -> Matrix:
        """The rate of the linear momentum (3), in the universe."""
        return sum((link.rotation @ self.state.wrenches[i].force for i, link in self._roots), _NULL)

    @property
    def momentum(self) -> Matrix:
        """The linear momentum (3), so many times, in the universe."""
        bodies, rates, levers = self.sums.bodies, self.sums.rates, self.sums.lever_rates
        return sum((rates[i].to_parent(link, bodies[i], levers[i]).first for i, link in self._roots), _NULL)

    def _beyond(self, j: int, column: int) -> Wrench:
        """What ė − e′ of a joint needs, in its axes; zero for modes."""
        link, state = self.robot.links.upright[j], self.state
        if column != j:
            n = self.robot.links.links[column].joint.type.nv
            return Wrench(ca.DM(3, n), ca.DM(3, n))
        beyond = rate_beyond_displacement(self.robot.links.links[j], state.q, state.v)
        return self.sums.bodies[j].turned(link.turn).wrench(beyond)

    def columns(self) -> Iterator[tuple[int, int, InwardColumns]]:
        """What rises from each joint, and from the modes of each link, about the centre of mass, in the universe.

        With the index of the link, and of the joint or first station whose coordinates these are.
        """
        robot, links = self.robot, self.robot.links
        risen: dict[int, list[tuple[int, InwardColumns]]] = {}
        for j, column, inward, _ in Blocks(links, self.sums).risen(self.state):
            if self.state.times == 2:
                twice, _ = inward.fields
                inward = replace(inward, fields=(*inward.fields, twice - self._beyond(j, column)))
            risen.setdefault(j, []).append((column, inward))
        placed = {-1: (ca.DM.eye(3), -robot.center, -self.momentum / (robot.mass * robot.unit**2))}
        for i, link in enumerate(links.upright):
            above, p, p_rate = placed[link.joint.parent]
            p, p_rate = p + above @ link.origin, p_rate + above @ self.sums.lever_rates[i]
            before = (link.fixed.T @ above.T).T
            placed[i] = (link.turn.T @ before.T).T, p, p_rate
            for column, inward in risen.get(i, []):
                axes = before if column == i else placed[i][0]
                yield i, column, inward.turned(Full(axes)).shifted(p, p_rate)


def centroidal_dynamics_derivatives(
    tree: Tree, q: Matrix, v: Matrix, a: Matrix
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """∂h/∂q, ∂ḣ/∂q, ∂ḣ/∂v and ∂ḣ/∂a (6 × nv each), in the tangent space of q."""
    moved = _RobotInMotion.of(_Robot.at(tree, q), q, v, a)
    robot, pull = moved.robot, spatial.skew(moved.force / (moved.robot.mass * moved.robot.unit**2))
    found: tuple[list[tuple[Joint, Matrix]], ...] = ([], [], [], [])
    for _, column, inward in moved.columns():
        by_v, by_q, displaced = inward.fields
        link = robot.links.links[column]
        by_q = by_q + _moment(pull @ inward.column.force)  # −∂c/∂q × F
        displaced = (displaced - _moment(inward.eta)).times(ca.DM.eye(link.joint.type.nv) / 2)
        for blocks, part in zip(found, (displaced, by_q, by_v, inward.column), strict=True):
            blocks.append((link.joint, link.rate * robot.in_si(part)))
    by_q, rate_by_q, rate_by_v, rate_by_a = (of_columns(tree.nv, 6, blocks) for blocks in found)
    return by_q, rate_by_q, rate_by_v, rate_by_a
