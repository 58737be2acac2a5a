"""The recursion of Newton and Euler."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.external import UNLOADED, Loads
from gdalembert.dynamics.newton_euler.links import Motions, move, place
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench

_NULL = ca.DM(3, 1)


def inverse_dynamics(tree: Tree, q: Matrix, v: Matrix, a: Matrix, loads: Loads = UNLOADED) -> Matrix:
    """tau of joints and modes (nv), gravity included."""
    robot = RobotAtQ.of(tree, q)
    motions = robot.motions(q, v, a, Gravity(tree).base_acceleration)
    _, torques = joint_wrenches(robot, motions, v, a, loads.on(tree, robot.links))
    return tree.vector(torques) - tree.vector(loads.world_torques(tree, robot.links))


def joint_wrenches(
    robot: RobotAtQ, motions: Motions, v: Matrix, a: Matrix, acting: Sequence[Wrench] | None = None
) -> tuple[list[Wrench], list[Matrix]]:
    """Inward: the wrench that each joint passes on to its link, and the torques of joints and modes.

    Wrenches are in link axes about the link origin, and those that act from outside, too. The torques of the modes of
    a link stand at the stations that they move.
    """
    wrenches, torques = robot.demands(motions, v, a)
    if acting is not None:
        wrenches = [wrench - other for wrench, other in zip(wrenches, acting, strict=True)]
    for i, link in robot.inward():
        if i in robot.stations:
            station = robot.stations[i]
            on_link = wrenches[i].turned(station.rotation)
            bending = station.deflection.modal_forces(station.f, wrenches[i].moment)
            torques[i] = torques[i] + bending + station.linear.T @ on_link.force
            wrenches[link.joint.parent] += on_link.about(-station.origin)
        else:
            torques[i] = link.torque(wrenches[i])
            if link.joint.parent >= 0:
                wrenches[link.joint.parent] += wrenches[i].to_parent(*link.placement)
    return wrenches, torques


def gravity_torques(tree: Tree, q: Matrix) -> Matrix:
    """g, nv: each joint bears the weight of its subtree, whose mass and h = Σ m x are all that matters."""
    links = place(tree, q)
    masses = tree.suffix_sums([link.mass for link in links])
    firsts: list[Matrix] = [link.first for link in links]
    for i, link in reversed(list(enumerate(links))):
        if link.joint.parent >= 0:
            firsts[link.joint.parent] += link.rotation @ firsts[i] + masses[i] * link.origin
    supports: list[Matrix] = []  # −g in link axes, the acceleration that supports a mass
    for link in links:
        above = supports[link.joint.parent] if link.joint.parent >= 0 else Gravity(tree).base_acceleration
        supports.append(link.rotation.T @ above)
    return tree.vector(
        [
            link.torque(Wrench(mass * support, ca.cross(first, support)))
            for link, mass, first, support in zip(links, masses, firsts, supports, strict=True)
        ]
    )


def kinetic_energy(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """½ Σ (m |ẋ|² + 2 ẋ·(ω × h) + ω·I ω)."""
    links = place(tree, q)
    motions = move(links, q, v, ca.DM(tree.nv, 1), _NULL)
    energy: Matrix = 0
    for i, link in enumerate(links):
        omega, velocity = motions[i].omega, motions[i].velocity
        energy += 0.5 * ca.dot(velocity, link.mass * velocity + 2 * ca.cross(omega, link.first))
        energy += 0.5 * ca.dot(omega, spatial.inertia_of(link.second) @ omega)
    return energy
