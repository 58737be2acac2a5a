"""Recursive Newton–Euler: inverse dynamics."""

from __future__ import annotations

from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.external import UNLOADED, Loads
from gdalembert.flexible.newton_euler.deformed_arm import DeformedArm
from gdalembert.flexible.tree import FlexibleTree
from gdalembert.spatial.algebra import Matrix


def inverse_dynamics(tree: FlexibleTree, q: Matrix, v: Matrix, a: Matrix, loads: Loads = UNLOADED) -> Matrix:
    """tau of the links and modes (nv), gravity included; without stiffness, damping and armature."""
    arm = DeformedArm.of(tree, q)
    motions = arm.motions(q, v, a, Gravity(tree).base_acceleration)
    wrenches, torques = arm.demands(motions, v, a)
    wrenches = [wrench - acting for wrench, acting in zip(wrenches, loads.on(tree, arm.links), strict=True)]
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
    return tree.vector(torques) - tree.vector(loads.world_torques(tree, arm.links))
