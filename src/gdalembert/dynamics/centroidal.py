"""Momentum of a whole robot, its centre of mass, and what both are in terms of v and a.

The momentum about a point and its rate are the wrenches that all links together need,

    h(q, v) = F(q, 0, v)            ḣ = F(q, v, a) about the centre of mass

F(q, v, a) being the sum of the wrenches of Newton–Euler's recursion at the base, without gravity: F is linear in a, and
at rest it is what takes the links from rest to v in unit time. About the origin of the universe, ḣ is the same F about
that point; about the centre of mass too, since its velocity is parallel to the linear momentum. The columns of the map
of h = A v are the wrenches that the composite body of each joint needs for the joint's columns. All this runs on links
with base parameters (:mod:`gdalembert.model.regrouping`): the masses on the axes of joints on the
base, which they leave out, stand still and have no part in it but in the centre of mass. (Ours.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.frame_motion import of_columns
from gdalembert.dynamics.newton_euler.crba import Composite, composites, modal_columns
from gdalembert.dynamics.newton_euler.rnea import joint_wrenches
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.errors import ModelError, UnsupportedError
from gdalembert.model.configuration import neutral
from gdalembert.model.regrouping import PreparedTree, RegroupedTree, prepare
from gdalembert.model.rounding import ENTRY_ERROR, drop
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import derivative_along, directional_derivative
from gdalembert.spatial.spatial_vectors import Wrench

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
