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
from dataclasses import replace

import casadi as ca

from gdalembert.dynamics.newton_euler.composite import Composite
from gdalembert.dynamics.newton_euler.elements import ElementAtQ, Placement, Station
from gdalembert.dynamics.newton_euler.links import NO_TURN, Link, Placing, place, together
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench

_NULL = ca.DM(3, 1)


def at_rates(links: list[Link], blocks: Iterable[tuple[int, int, Matrix]]) -> Iterator[tuple[int, int, Matrix]]:
    """Blocks (i, j, block) of the velocities v from those per unit of rate."""
    for i, j, block in blocks:
        yield i, j, links[i].rate * links[j].rate * block


def mass_matrix(tree: Tree, q: Matrix, placed: Placing = place) -> Matrix:
    """M of the elements (nv × nv) by composite bodies."""
    robot = RobotAtQ.of(tree, q, placed).upright
    return tree.symmetric_matrix(at_rates(robot.links, _blocks(robot)))


def _blocks(robot: RobotAtQ) -> Iterator[tuple[int, int, Matrix]]:
    """The blocks (i, j, M_ij) of elements, i at or above j."""
    for element in robot.elements:
        own, wrench = column_wrenches(element, robot.composites)
        yield element.index, element.index, own
        for above, station, borne in passed_inward(robot, element, wrench):
            yield above.index, element.index, station.work(borne)


def column_wrenches(element: ElementAtQ, bodies: Mapping[int, Composite]) -> tuple[Matrix, Wrench]:
    """M of an element with all that it moves, and the wrench at its frame per unit of each second rate."""
    own, wrench = element.own, element.columns
    for station in element.stations:
        body = bodies[station.index].turned(station.turn)
        on_station = body.wrench(station.columns).times(station.weights)
        own = own + station.work(on_station)
        wrench = wrench + on_station.about(-station.origin)
    return own, wrench


def passed_inward(robot: RobotAtQ, element: ElementAtQ, wrench: Wrench) -> Iterator[tuple[ElementAtQ, Station, Wrench]]:
    """The elements that carry another one, and the wrench at its frame as their stations bear it."""
    while element.carrier >= 0:
        wrench = wrench.to_parent(*element.frame)
        element, station = robot.movers[element.carrier]
        wrench = wrench.turned(station.turn)
        yield element, station, wrench
        wrench = wrench.about(-station.origin)


def axes_in_root(links: Sequence[Link]) -> list[Placement]:
    """All stations in the axes of the first link of their tree."""
    axes: list[Placement] = []
    for link in links:
        if link.joint.parent < 0:
            axes.append((NO_TURN, _NULL))
            continue
        rotation, origin = axes[link.joint.parent]
        axes.append((together(rotation, link.rotation), origin + rotation @ link.origin))
    return axes


def place_in_root_axes(tree: Tree, q: Matrix) -> list[Link]:
    """All links at q, in the axes of the first; for joints whose columns are constant."""
    links = place(tree, q)
    for i, (r, p) in enumerate(axes_in_root(links)):
        if (link := links[i]).joint.parent >= 0:
            body = Composite(link.mass, link.first, link.second).to_parent(r, p)
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
