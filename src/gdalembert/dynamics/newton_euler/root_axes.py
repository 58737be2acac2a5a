"""All links of a tree in the axes of its first link, about that link's origin.

A link frame may be fixed anywhere in its link: also where the first link's frame is at this instant. Then R = 1 and
p = 0 for all further links, and what rises from joint to joint is neither turned nor shifted. Instead m, h, J and the
columns of each link are, once, and have no zeros any more: this is for long chains. (Ours.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.crba import Composite
from gdalembert.dynamics.newton_euler.links import Link, place
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.dynamics.newton_euler.rotations import NO_TURN, Full, Product, Rotation
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion

_NULL = ca.DM(3, 1)


Placement: TypeAlias = tuple[Rotation, Matrix]
"""R and p."""


def placed_by(parent: Placement, link: Link) -> Placement:
    """A link in the axes that its parent is placed in."""
    (rotation, origin), is_turned = parent, not (link.fixed is NO_TURN and link.turn is NO_TURN)
    turned = Full((link.rotation.T @ (rotation.T @ ca.DM.eye(3))).T) if is_turned else rotation
    return turned, origin + rotation @ link.origin


def axes_of(robot: RobotAtQ) -> list[Placement]:
    """Links and stations in the axes of the first link of their tree."""
    found: list[Placement] = []
    for i, link in robot:
        if link.joint.parent < 0:
            found.append((NO_TURN, _NULL))
        elif i in robot.stations:
            (rotation, origin), station = found[link.joint.parent], robot.stations[i]
            found.append((Product(rotation, Full(station.rotation)), origin + rotation @ station.origin))
        else:
            found.append(placed_by(found[link.joint.parent], link))
    return found


def place_in_root_axes(tree: Tree, q: Matrix) -> list[Link]:
    """All links at q; for joints whose columns are constant."""
    placements: list[Placement] = []
    placed: list[Link] = []
    for link in place(tree, q):
        is_root = link.joint.parent < 0
        placements.append((NO_TURN, _NULL) if is_root else placed_by(placements[link.joint.parent], link))
        placed.append(link if is_root else seen_from_root(link, *placements[-1]))
    return placed


def seen_from_root(link: Link, r: Rotation, p: Matrix) -> Link:
    """A link that stands at (R, p) in the axes of the root, in these axes."""
    body = Composite(link.mass, link.first, link.second).turned(r).shifted(p)
    angular = r @ link.columns.angular
    columns = Motion(r @ link.columns.linear + spatial.skew(p) @ angular, angular)
    return replace(
        link, turn=NO_TURN, fixed=NO_TURN, origin=_NULL, columns=columns, first=body.first, second=body.second
    )
