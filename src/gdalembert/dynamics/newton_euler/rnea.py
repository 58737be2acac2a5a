"""The recursion of Newton and Euler."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.links import UNLOADED, Loads, Motions
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.dynamics.newton_euler.strained_segment import StrainedStation
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench

_NULL = ca.DM(3, 1)


def inverse_dynamics(tree: Tree, q: Matrix, v: Matrix, a: Matrix, loads: Loads = UNLOADED) -> Matrix:
    """tau of joints and modes (nv), gravity included."""
    robot = RobotAtQ.of(tree, q)
    motions = robot.motions(q, v, a)
    _, torques = joint_wrenches(robot, motions, v, a, loads.on(tree, robot.links))
    return tree.vector(torques) - loads.world_torques(tree, robot.links)


def joint_wrenches(
    robot: RobotAtQ, motions: Motions, v: Matrix, a: Matrix, acting: Sequence[Wrench] | None = None
) -> tuple[list[Wrench], list[Matrix]]:
    """Inward: the wrench that each joint passes on to its link, and the torques of joints and modes.

    Wrenches are in link axes about the link origin, and those that act from outside, too. The torques of the modes of
    a link stand at the stations that they move.
    """
    wrenches, torques = robot.demands(motions, v, a, segments=False)
    carried: dict[int, list[tuple[StrainedStation, Wrench]]] = {i: [] for i in robot.segments}
    if acting is not None:
        wrenches = [wrench - other for wrench, other in zip(wrenches, acting, strict=True)]
    for i, link in robot.inward():
        if i in carried:  # a segment and what its stations carry in one sweep
            v_i, a_i = (robot.modal_velocity(i, x) for x in (v, a))
            wrench, torques[robot.tree.first_station(i)] = robot.segments[i].demanded(motions[i], v_i, a_i, carried[i])
            wrenches[i] += wrench
        station = robot.stations.get(i)
        if isinstance(station, StrainedStation):
            carried[link.joint.parent].append((station, wrenches[i]))
        elif station is not None:
            torques[i] = torques[i] + station.modal_forces(wrenches[i])
            wrenches[link.joint.parent] += wrenches[i].turned(station.rotation).about(-station.origin)
        else:
            torques[i] = link.torque(wrenches[i])
            if link.joint.parent >= 0:
                wrenches[link.joint.parent] += wrenches[i].to_parent(*link.placement)
    return wrenches, torques


def gravity_torques(tree: Tree, q: Matrix) -> Matrix:
    """g, nv: each joint bears the weight of its subtree, whose mass and h = Σ m x are all that matters."""
    robot = RobotAtQ.of(tree, q)
    links = robot.upright
    bodies = [robot.bodies.get(i, link) for i, link in enumerate(links)]
    masses, firsts = tree.suffix_sums([body.mass for body in bodies]), [body.first for body in bodies]
    for i, link in reversed(list(enumerate(links))):
        if link.joint.parent >= 0:
            firsts[link.joint.parent] += link.rotation @ firsts[i] + masses[i] * link.origin
    supports: list[Matrix] = []  # −g in link axes, the acceleration that supports a mass
    torques: list[Matrix] = [ca.DM(link.joint.type.nv, 1) for link in links]
    for i, link in enumerate(links):
        above = supports[link.joint.parent] if link.joint.parent >= 0 else Gravity(tree).base_acceleration
        support = link.rotation.T @ above
        supports.append(support)
        weight = Wrench(masses[i] * support, ca.cross(firsts[i], support))
        if i in robot.stations:
            torques[i] = torques[i] + robot.stations[i].work(weight)
        else:
            torques[i] = link.torque(weight)
        if i in robot.bodies:
            first = tree.first_station(i)
            torques[first] = robot.bodies[i].columns.force.T @ support
    return tree.vector(torques)


def kinetic_energy(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """½ Σ (m |ẋ|² + 2 ẋ·(ω × h + P ḟ) + ω·(I ω + 2 H ḟ) + ḟ·M_ff ḟ), f of links with modes."""
    robot = RobotAtQ.of(tree, q)
    motions = robot.motions(q, v, ca.DM(tree.nv, 1), _NULL)
    twice: Matrix = 0
    for i, body in enumerate(robot.inertias):
        omega, velocity = motions[i].omega, motions[i].velocity
        momentum, spin = ca.cross(omega, body.first), spatial.inertia_of(body.second) @ omega
        if i in robot.bodies:
            bent, rate = robot.bodies[i], robot.modal_velocity(i, v)
            momentum, spin = momentum + bent.columns.force @ rate, spin + 2 * (bent.columns.moment @ rate)
            twice += ca.dot(rate, bent.own @ rate)
        twice += ca.dot(velocity, body.mass * velocity + 2 * momentum) + ca.dot(omega, spin)
    return twice / 2
