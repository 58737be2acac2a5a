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
from gdalembert.dynamics.newton_euler.composite import MASSLESS, Composite, nothing
from gdalembert.dynamics.newton_euler.crba import column_wrenches
from gdalembert.dynamics.newton_euler.displacements import InwardColumns
from gdalembert.dynamics.newton_euler.elements import ElementAtQ, Station
from gdalembert.dynamics.newton_euler.links import Full
from gdalembert.dynamics.newton_euler.rnea import joint_wrenches
from gdalembert.dynamics.newton_euler.rnea_derivatives import Blocks, DisplacedRobot, Moving, moving
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
    """Centre of mass c (3) in the universe."""
    return tree.first_moment(q) / _mass(tree)


def center_of_mass_jacobian(tree: Tree, q: Matrix) -> Matrix:
    """Derivative ∂c/∂q (3 × nv), in the tangent space of q."""
    if tree.is_first_order:
        return derivative_along(ca.cse([center_of_mass(tree, q)])[0], q, tree.tangent_map(q))
    # and for other trees 139 instructions in place of 123 (PUMA 560)
    return centroidal_map(tree, q)[:3, :] / _mass(tree)


def center_of_mass_velocity(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """Velocity dc/dt (3) of the centre of mass."""
    if tree.is_first_order:
        return directional_derivative(center_of_mass(tree, q), q, tree.configuration_rate(q, v))
    return centroidal_momentum(tree, q, v)[:3] / _mass(tree)


def center_of_mass_acceleration(tree: Tree, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
    """Acceleration d²c/dt² (3) of the centre of mass."""
    if tree.is_first_order:
        state: Matrix = ca.vertcat(q, v)
        rate: Matrix = ca.vertcat(tree.configuration_rate(q, v), a)
        return directional_derivative(center_of_mass_velocity(tree, q, v), state, rate)
    return centroidal_momentum_rate(tree, q, v, a)[:3] / _mass(tree)


@dataclass(frozen=True)
class _Robot:
    """The links at q, with base parameters, in frames and a unit of length of our own."""

    links: RobotAtQ  # forces are ``unit`` times those in SI units; moments and torques are the same
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
        robot = cls(RobotAtQ.of(prepared, q), unit, mass, _NULL)
        if isinstance(q, ca.DM) or not known:
            return robot
        q_0 = neutral(tree)
        whole, moving = tree.first_moment(q_0).full(), cls.at(tree, q_0).first_moment.full()
        noise = ENTRY_ERROR * (np.abs(whole).max() + np.abs(moving).max() + mass)  # kg times 1 m
        return replace(robot, standing=spatial.constant(drop(whole - moving, noise)))

    @property
    def first_moment(self) -> Matrix:
        """First moment Σ m x (3, kg m) of all links, in the universe."""
        return self.links.upright.composites[-1].first / self.unit + self.standing

    @property
    def center(self) -> Matrix:
        """The centre of mass (3), in the unit of length of the links."""
        return self.first_moment / (self.mass * self.unit)

    def in_si(self, wrench: Wrench) -> Matrix:
        """A wrench (6) in SI units."""
        return ca.vertcat(wrench.force / self.unit, wrench.moment)


def centroidal_map(tree: Tree, q: Matrix) -> Matrix:
    """Map A (6 × nv) of h = A v."""
    robot = _Robot.at(tree, q)
    links, placed = robot.links.upright, {-1: (ca.DM.eye(3), -robot.center)}  # about the centre of mass
    columns: list[tuple[Joint, Matrix]] = []
    for element in links.elements:
        frame = _on_carrier(placed[element.carrier], element)
        for station in element.stations:
            placed[station.index] = _at_station(frame, station)
        _, needed = column_wrenches(element, links.composites)
        columns.append((element.joint, element.rate * robot.in_si(needed.to_parent(*frame))))
    return of_columns(tree.nv, 6, columns)


def _on_carrier(carrier: tuple[Matrix, Matrix], element: ElementAtQ) -> tuple[Matrix, Matrix]:
    """R and p of the frame of an element, from those of its carrier."""
    (above, p), (fixed, origin) = carrier, element.frame
    return (fixed.T @ above.T).T, p + above @ origin


def _at_station(frame: tuple[Matrix, Matrix], station: Station) -> tuple[Matrix, Matrix]:
    """R and p of a station, from those of the frame of its element."""
    r, p = frame
    return (station.turn.T @ r.T).T, p + r @ station.origin


def centroidal_momentum(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """Momentum h (6) about the centre of mass."""
    # by a sweep from rest; the map times v has 423 instructions in place of 320 (PUMA 560)
    return centroidal_momentum_rate(tree, q, ca.DM(tree.nv, 1), v)


def centroidal_momentum_rate(tree: Tree, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
    """Rate dh/dt (6) of the momentum."""
    robot = _Robot.at(tree, q)
    wrenches, _ = joint_wrenches(robot.links, robot.links.motions(v, a, _NULL), v, a)
    return robot.in_si(wrenches[-1].about(robot.center))


def centroidal_map_rate(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """Rate dA/dt (6 × nv) of the map."""
    robot = _Robot.at(tree, q)
    # CasADi's derivative of the map has 815 instructions in place of 699 (PUMA 560)
    if all(element.moves_one_body for element in robot.links.elements):
        return of_columns(tree.nv, 6, _rates_of_rigid_columns(robot, v))
    columns: list[tuple[Joint, Matrix]] = []
    for element, inward in _RobotInMotion.of(robot, v).columns():
        (rate,) = inward.fields
        columns.append((element.joint, element.rate * robot.in_si(rate + _moment(inward.eta))))
    return of_columns(tree.nv, 6, columns)


def _rates_of_rigid_columns(robot: _Robot, v: Matrix) -> Iterator[tuple[Joint, Matrix]]:
    """The columns of dA/dt of a robot without other masses than those of rigid bodies.

    Fields would do as well; of legs and arms their graphs are 1.2 to 1.4 times larger.
    """
    links, changes = robot.links.upright, _rates_of_composites(robot.links.upright, v)
    center_rate = changes[-1].first / (robot.mass * robot.unit**2)
    placed, twists = {-1: (ca.DM.eye(3), -robot.center)}, {-1: Motion(-center_rate, _NULL)}
    for element in links.elements:
        (station,), (e_rate,) = element.stations, element.column_rates(v)
        frame = _on_carrier(placed[element.carrier], element)
        i, twist = station.index, twists[element.carrier].seen_from(*element.frame)
        twist = twist + station.motions.times(element.velocity(v))
        body, change = (x[i].turned(station.turn) for x in (links.composites, changes))
        rate = change.wrench(station.columns) + body.wrench(e_rate) + twist.carrying(body.wrench(station.columns))
        placed[i], twists[i] = _at_station(frame, station), twist.turned(station.turn.T)
        yield element.joint, element.rate * robot.in_si(rate.to_parent(*frame))


def _rates_of_composites(robot: RobotAtQ, v: Matrix) -> dict[int, Composite]:
    """The rates of m, h and J of the subtree of each link, seen from the link; −1 is the universe."""
    rates: dict[int, Composite] = dict.fromkeys(robot.rigid, MASSLESS)
    for element in robot.inward():
        for station in element.stations:
            body, change = (x[station.index].turned(station.turn) for x in (robot.composites, rates))
            change += body.carried(station.motions.times(element.velocity(v)))
            rates[element.carrier] += change.to_parent(*element.frame)
    return rates


def _moment(columns: Matrix) -> Wrench:
    """Wrenches that are moments alone."""
    return Wrench(ca.DM(*columns.shape), columns)


@dataclass(frozen=True)
class _RobotInMotion:
    """The robot at (q, v, a), with the change of the momentum and of its rate by each column of its elements."""

    robot: _Robot
    state: DisplacedRobot
    sums: Moving

    @classmethod
    def of(cls, robot: _Robot, v: Matrix, a: Matrix | None = None) -> _RobotInMotion:
        """The robot in motion; with an acceleration, columns are displaced too, and velocities counted twice."""
        links = robot.links
        motions = links.motions(v, ca.DM(*v.shape) if a is None else a, _NULL)
        if a is None:
            return cls(robot, DisplacedRobot.without_wrenches(links, v, motions), moving(links, motions, v))
        wrenches, _ = joint_wrenches(links, motions, v, a)
        state = DisplacedRobot(links, v, a, motions, wrenches, [()] * len(links.links), times=2)
        return cls(robot, state, moving(links, motions, v, times=2))

    @property
    def force(self) -> Matrix:
        """The rate of the linear momentum (3), in the universe."""
        return self.state.wrenches[-1].force

    @property
    def momentum(self) -> Matrix:
        """The linear momentum (3) in the universe, as many times as the velocities count."""
        return self.sums.rates[-1].first

    def columns(self) -> Iterator[tuple[ElementAtQ, InwardColumns]]:
        """The columns that each element passes inward, about the centre of mass, in the universe.

        With an acceleration their fields are ė + e′, e″ and twice e′, else ė alone.
        """
        robot, links = self.robot, self.robot.links.upright
        placed = {-1: (ca.DM.eye(3), -robot.center)}
        p_rates = {-1: -self.momentum / (robot.mass * robot.unit**2)}
        for element, inward, _ in Blocks(links, self.sums).risen(self.state):
            carrier, frame = placed[element.carrier], _on_carrier(placed[element.carrier], element)
            p_rate = p_rates[element.carrier] + carrier[0] @ self.sums.frame_rates[element.index]
            for station in element.stations:
                placed[station.index] = _at_station(frame, station)
                p_rates[station.index] = p_rate + frame[0] @ self.sums.lever_rates[station.index]
            if self.state.times == 2:
                twice, _ = inward.fields
                inward = replace(inward, fields=(*inward.fields, twice - self._beyond(element)))
            yield element, inward.turned(Full(frame[0])).shifted(frame[1], p_rate)

    def _beyond(self, element: ElementAtQ) -> Wrench:
        """The wrenches that ė − e′ needs, in the frame of the element."""
        beyond = nothing(element.joint.type.nv)
        for station, columns in zip(element.stations, element.rates_beyond_displacement(self.state.v), strict=True):
            body = self.robot.links.upright.composites[station.index].turned(station.turn)
            beyond += body.wrench(columns)
        return beyond


def centroidal_dynamics_derivatives(
    tree: Tree, q: Matrix, v: Matrix, a: Matrix
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Derivatives ∂h/∂q, ∂ḣ/∂q, ∂ḣ/∂v and ∂ḣ/∂a (6 × nv each), in the tangent space of q."""
    # by fields; CasADi's derivatives of h and ḣ have 3303 instructions in place of 1904 (PUMA 560)
    moved = _RobotInMotion.of(_Robot.at(tree, q), v, a)
    robot, pull = moved.robot, spatial.skew(moved.force / (moved.robot.mass * moved.robot.unit**2))
    columns: tuple[list[tuple[Joint, Matrix]], ...] = ([], [], [], [])
    for element, inward in moved.columns():
        by_v, by_q, displaced = inward.fields
        by_q = by_q + _moment(pull @ inward.column.force)  # −∂c/∂q × F
        displaced = (displaced - _moment(inward.eta)).times(ca.DM.eye(element.joint.type.nv) / 2)
        for blocks, part in zip(columns, (displaced, by_q, by_v, inward.column), strict=True):
            blocks.append((element.joint, element.rate * robot.in_si(part)))
    by_q, rate_by_q, rate_by_v, rate_by_a = (of_columns(tree.nv, 6, blocks) for blocks in columns)
    return by_q, rate_by_q, rate_by_v, rate_by_a
