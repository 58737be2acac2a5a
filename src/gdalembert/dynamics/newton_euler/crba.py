"""Composite bodies: the mass matrix (Walker and Orin's method 3, 1982).

A subtree that is locked in its pose is one body with m, h = Σ m x and J = Σ m x xᵀ. A column of the motion subspace of
its root joint moves its points x by e(x) = linear + angular × x, which needs the wrench Σ m e, Σ x × m e. With sums
over all points below both joints

    M_ij = Σ m e_i·e_j.

Everything is read and carried in the axes of the joint's frame, before its turn, which leaves the column as it is.
(Ours.)

A link frame may be fixed anywhere in its link: also where the frame of the first link of its tree is at this instant.
Then R = 1 and p = 0 for all further links, and what rises from joint to joint is neither turned nor shifted. Instead m,
h, J and the columns of each link are, once, and have no zeros any more: this is for long chains. (Ours.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.links import NO_TURN, Full, Link, Placing, Product, Rotation, place
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ, Station
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench

Placement: TypeAlias = tuple[Rotation, Matrix]
"""R and p."""

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class Composite:
    """A subtree locked in its pose: m, h = Σ m x and J = Σ m x xᵀ about the origin of its root link, in its axes."""

    mass: Matrix
    first: Matrix
    second: Matrix

    def __add__(self, other: Composite) -> Composite:
        return Composite(self.mass + other.mass, self.first + other.first, self.second + other.second)

    def turned(self, r: Rotation) -> Composite:
        """A rotation into other axes, R x for x."""
        return Composite(self.mass, r @ self.first, r.conjugate(self.second))

    def to_parent(self, link: Link) -> Composite:
        """The masses about the parent's origin, in the parent's axes."""
        return self.turned(link.rotation).shifted(link.origin)

    def shifted(self, p: Matrix) -> Composite:
        """The masses about a point from which the origin is seen at p."""
        first = self.first + self.mass * p
        second = self.second + self.first @ p.T + p @ first.T
        return Composite(self.mass, first, spatial.symmetric(second))

    def carried(self, motion: Motion) -> Composite:
        """The rates of m, h and J as a twist carries the subtree along, about a point that stands still."""
        first = self.mass * motion.linear + ca.cross(motion.angular, self.first)
        half = spatial.skew(motion.angular) @ self.second + motion.linear @ self.first.T
        return Composite(ca.DM(1, 1), first, spatial.symmetric(half + half.T))

    def wrench(self, e: Motion) -> Wrench:
        """The wrench that columns e, or other fields e.linear + e.angular × x, need in the subtree."""
        h = spatial.skew(self.first)
        return Wrench(self.mass * e.linear - h @ e.angular, h @ e.linear + spatial.inertia_of(self.second) @ e.angular)


def at_rates(links: list[Link], blocks: Iterable[tuple[int, int, Matrix]]) -> Iterator[tuple[int, int, Matrix]]:
    """Blocks (i, j, block) of the velocities v from those per unit of rate."""
    for i, j, block in blocks:
        yield i, j, links[i].rate * links[j].rate * block


def mass_matrix(tree: Tree, q: Matrix, placed: Placing = place) -> Matrix:
    """M of the links and modes (nv × nv) by composite bodies; the columns of the modes begin at their link."""
    robot = RobotAtQ.of(tree, q, placed)
    return tree.symmetric_matrix(at_rates(robot.links, _blocks(robot, composites(robot))))


def composites(robot: RobotAtQ) -> list[Composite]:
    """The composite body of the subtree of each link and station."""
    own = (robot.bodies.get(i, link) for i, link in enumerate(robot.upright))
    bodies = [Composite(body.mass, body.first, body.second) for body in own]
    for i, link in reversed(list(enumerate(robot.upright))):
        if link.joint.parent >= 0:
            bodies[link.joint.parent] += bodies[i].to_parent(link)
    return bodies


def _blocks(robot: RobotAtQ, bodies: list[Composite]) -> Iterator[tuple[int, int, Matrix]]:
    """The blocks (i, j, M_ij) of joints and modes, i at or above j."""
    for j, link in enumerate(robot.upright):
        if j in robot.stations:
            continue
        if j in robot.bodies:
            own, wrench = modal_columns(robot, bodies, j)
            modes = robot.tree.first_station(j)
            yield modes, modes, own
            yield j, modes, link.work(wrench)
            yield from _blocks_above(robot, j, modes, wrench.turned(link.turn))
        wrench = bodies[j].turned(link.turn).wrench(link.columns)
        yield j, j, link.work(wrench)
        yield from _blocks_above(robot, j, j, wrench)


def _blocks_above(robot: RobotAtQ, i: int, column: int, wrench: Wrench) -> Iterator[tuple[int, int, Matrix]]:
    """The blocks of the joints and modes above link i, from the wrench of a column in the axes of its joint."""
    links = robot.upright
    while (parent := links[i].joint.parent) >= 0:
        wrench = wrench.to_parent(links[i].fixed, links[i].origin)
        if parent in robot.stations:
            station = robot.stations[parent]
            parent = links[parent].joint.parent
            yield robot.tree.first_station(parent), column, station.work(wrench)
            wrench = wrench.about(-station.origin)
        yield parent, column, links[parent].work(wrench)
        i, wrench = parent, wrench.turned(links[parent].turn)


def modal_columns(robot: RobotAtQ, bodies: list[Composite], i: int) -> tuple[Matrix, Wrench]:
    """M_ff of a link with all it carries, and the wrench at its joint per unit of modal acceleration, in link axes."""
    own: Matrix = robot.bodies[i].own
    wrench = robot.bodies[i].columns
    for s in robot.tree.stations(i):
        station = robot.stations[s]
        columns, weights = station.translations_and_turns
        on_station = bodies[s].wrench(columns).times(weights)
        own = own + station.work(on_station)
        wrench = wrench + on_station.about(-station.origin)
    return own, wrench


def axes_in_root(links: Sequence[Link], stations: Mapping[int, Station]) -> list[Placement]:
    """Links and stations in the axes of the first link of their tree."""
    found: list[Placement] = []
    for i, link in enumerate(links):
        rotation, origin = (NO_TURN, _NULL) if link.joint.parent < 0 else found[link.joint.parent]
        if (station := stations.get(i)) is not None:
            found.append((Product(rotation, Full(station.rotation)), origin + rotation @ station.origin))
        elif link.joint.parent >= 0:
            is_turned = link.fixed is not NO_TURN or link.turn is not NO_TURN
            turned = Full((link.rotation.T @ (rotation.T @ ca.DM.eye(3))).T) if is_turned else rotation
            found.append((turned, origin + rotation @ link.origin))
        else:
            found.append((NO_TURN, _NULL))
    return found


def place_in_root_axes(tree: Tree, q: Matrix) -> list[Link]:
    """All links at q, in the axes of the first; for joints whose columns are constant."""
    links = place(tree, q)
    for i, (r, p) in enumerate(axes_in_root(links, {})):
        if (link := links[i]).joint.parent >= 0:
            body = Composite(link.mass, link.first, link.second).turned(r).shifted(p)
            links[i] = replace(
                link,
                turn=NO_TURN,
                fixed=NO_TURN,
                origin=_NULL,
                columns=link.columns.to_parent(r, p),
                first=body.first,
                second=body.second,
            )
    return links
