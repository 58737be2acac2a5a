"""Recursive Newton–Euler: inverse dynamics."""

from __future__ import annotations

from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.external import UNLOADED, Loads
from gdalembert.flexible.newton_euler.deformed_arm import DeformedArm
from gdalembert.flexible.tree import FlexibleTree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench


def inverse_dynamics(tree: FlexibleTree, q: Matrix, v: Matrix, a: Matrix, loads: Loads = UNLOADED) -> Matrix:
    """tau of the links and modes (nv), gravity included; without stiffness, damping and armature."""
    arm = DeformedArm.of(tree, q)
    motions = arm.motions(q, v, a, Gravity(tree).base_acceleration)
    wrenches, torques = arm.demands(motions, v, a)
    wrenches = [wrench - acting for wrench, acting in zip(wrenches, loads.on(tree, arm.links), strict=True)]
    _, torques = joint_wrenches(arm, wrenches, torques)
    return tree.vector(torques) - tree.vector(loads.world_torques(tree, arm.links))


def joint_wrenches(
    arm: DeformedArm, wrenches: list[Wrench], torques: list[Matrix]
) -> tuple[list[Wrench], list[Matrix]]:
    """The wrench on the subtree of each link and station, in its axes, and the torques of joints and modes.

    Args:
        arm: the robot at q.
        wrenches: that each link and station needs alone.
        torques: that the modes of each link need besides, at its first station.
    """
    wrenches, torques = list(wrenches), list(torques)
    for i, link in arm.inward():
        if i in arm.stations:
            station = arm.stations[i]
            torques[i] = torques[i] + station.deflection.modal_forces(station.f, wrenches[i].moment)
            on_link = wrenches[i].turned(station.rotation)
            torques[i] = torques[i] + station.linear.T @ on_link.force
            wrenches[link.joint.parent] += on_link.about(-station.origin)
        else:
            torques[i] = link.torque(wrenches[i])
            if link.joint.parent >= 0:
                wrenches[link.joint.parent] += wrenches[i].to_parent(*link.placement)
    return wrenches, torques
