"""The recursion of Newton and Euler."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.composite import nothing
from gdalembert.dynamics.newton_euler.links import UNLOADED, Loads, Motions
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench

_NULL = ca.DM(3, 1)


def inverse_dynamics(tree: Tree, q: Matrix, v: Matrix, a: Matrix, loads: Loads = UNLOADED) -> Matrix:
    """tau of joints and modes (nv), gravity included."""
    robot = RobotAtQ.of(tree, q)
    _, efforts = joint_wrenches(robot, robot.motions(v, a), v, a, loads.on(tree, robot.links))
    return robot.vector(efforts) - loads.world_torques(tree, robot.links)


def joint_wrenches(
    robot: RobotAtQ, motions: Motions, v: Matrix, a: Matrix, acting: Sequence[Wrench] = ()
) -> tuple[dict[int, Wrench], dict[int, Matrix]]:
    """The wrench, inward, that each station is passed on by its element, and the efforts of the elements.

    Wrenches are in the axes of the station about its origin, those that act from outside, too. That of the universe,
    −1, is what all its elements need of it.
    """
    wrenches, efforts = robot.demands(motions), dict[int, Matrix]()
    for i, wrench in enumerate(acting):
        wrenches[i] -= wrench
    for element in robot.inward():
        borne = [wrenches[station.index] for station in element.stations]
        needed, efforts[element.index] = element.demanded(motions[element.carrier], v, a, borne)
        wrenches[element.carrier] += needed
    return wrenches, efforts


def gravity_torques(tree: Tree, q: Matrix) -> Matrix:
    """g, nv: each element bears the weight of its subtree, whose mass and h = Σ m x are all that matters."""
    robot = RobotAtQ.of(tree, q).upright
    bodies, efforts = robot.composites, dict[int, Matrix]()
    supports = {-1: Gravity(tree).base_acceleration}  # −g in the axes of each station: what supports a mass
    for element in robot.elements:
        (fixed, _), above = element.frame, supports[element.carrier]
        support = fixed.T @ above
        effort = element.rate * (element.columns.force.T @ support)
        for station in element.stations:
            supports[station.index] = here = station.turn.T @ support
            mass, first, _ = bodies[station.index]
            weight = Wrench(mass * here, ca.cross(first, here)).turned(station.turn)
            effort = effort + element.rate * station.work(weight)
        efforts[element.index] = effort
    return robot.vector(efforts)


def kinetic_energy(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """½ Σ (m |ẋ|² + 2 ẋ·(ω × h + P ḟ) + ω·(I ω + 2 H ḟ) + ḟ·M_ff ḟ), P, H and M_ff of the own mass of elements."""
    robot = RobotAtQ.of(tree, q)
    motions = robot.motions(v, ca.DM(tree.nv, 1), _NULL)
    bodies, flows = dict(robot.rigid), {i: nothing() for i in motions}
    twice: Matrix = 0
    for element in robot.elements:
        rates, carrier = element.joint.velocity(v), element.carrier
        bodies[carrier] += element.body.to_parent(*element.frame)
        flows[carrier] += element.columns.times(rates).to_parent(*element.frame)
        twice += ca.dot(rates, element.own @ rates)
    for i, (mass, first, second) in bodies.items():
        omega, velocity, (force, moment) = motions[i].omega, motions[i].velocity, flows[i]
        momentum, spin = ca.cross(omega, first) + force, spatial.inertia_of(second) @ omega + 2 * moment
        twice += ca.dot(velocity, mass * velocity + 2 * momentum) + ca.dot(omega, spin)
    return twice / 2
