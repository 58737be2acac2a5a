"""Composite bodies: the mass matrix."""

from __future__ import annotations

from collections.abc import Iterator

from gdalembert.dynamics.newton_euler.crba import Composite, at_rates
from gdalembert.dynamics.newton_euler.rotations import Full
from gdalembert.flexible.newton_euler.deformed_arm import DeformedArm
from gdalembert.flexible.tree import FlexibleTree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench


def mass_matrix(tree: FlexibleTree, q: Matrix) -> Matrix:
    """M of the links and modes (nv × nv) by composite bodies; the columns of the modes begin at their link."""
    arm = DeformedArm.of(tree, q)
    return tree.symmetric_matrix(at_rates(arm.links, _blocks(arm, composites(arm))))


def composites(arm: DeformedArm) -> list[Composite]:
    """The composite body of the subtree of each link and station."""
    bodies = [Composite(body.mass, body.first, body.second) for body in (arm.bodies.get(i, link) for i, link in arm)]
    for i, link in arm.inward():
        if i in arm.stations:
            station = arm.stations[i]
            bodies[link.joint.parent] += bodies[i].turned(Full(station.rotation)).shifted(station.origin)
        elif link.joint.parent >= 0:
            bodies[link.joint.parent] += bodies[i].to_parent(link)
    return bodies


def _blocks(arm: DeformedArm, bodies: list[Composite]) -> Iterator[tuple[int, int, Matrix]]:
    """The blocks (i, j, M_ij) of joints and modes, i at or above j."""
    for j, link in arm:
        if j in arm.stations:
            continue
        if j in arm.bodies:
            own, wrench = modal_columns(arm, bodies, j)
            modes = arm.tree.first_station(j)
            yield modes, modes, own
            yield j, modes, link.work(wrench)
            yield from _blocks_above(arm, j, modes, wrench.turned(link.turn))
        wrench = bodies[j].turned(link.turn).wrench(link.columns)
        yield j, j, link.work(wrench)
        yield from _blocks_above(arm, j, j, wrench)


def _blocks_above(arm: DeformedArm, i: int, column: int, wrench: Wrench) -> Iterator[tuple[int, int, Matrix]]:
    """The blocks of the joints and modes above link i, from the wrench of a column in the axes of its joint."""
    link = arm.links[i]
    while (parent := link.joint.parent) >= 0:
        wrench = wrench.to_parent(link.fixed, link.origin)
        if parent in arm.stations:
            station = arm.stations[parent]
            parent = arm.links[parent].joint.parent
            moment = station.angular.T @ wrench.moment
            wrench = wrench.turned(station.rotation)
            yield arm.tree.first_station(parent), column, station.linear.T @ wrench.force + moment
            wrench = wrench.about(-station.origin)
        link = arm.links[parent]
        yield parent, column, link.work(wrench)
        wrench = wrench.turned(link.turn)


def modal_columns(arm: DeformedArm, bodies: list[Composite], i: int) -> tuple[Matrix, Wrench]:
    """M_ff of a link with all it carries, and the wrench at its joint per unit of modal acceleration, in link axes."""
    own: Matrix = arm.bodies[i].own
    wrench = arm.bodies[i].columns
    for s in arm.tree.stations(i):
        station = arm.stations[s]
        columns = station.columns
        on_station = bodies[s].turned(Full(station.rotation)).wrench(columns)
        own = own + on_station.work(columns.linear, columns.angular)
        wrench = wrench + on_station.about(-station.origin)
    return own, wrench
