"""All links of a tree in the axes of its first link, about that link's origin.

A link frame may be fixed anywhere in its link: also where the first link's frame is at this instant. Then R = 1 and
p = 0 for all further links, and what rises from joint to joint is neither turned nor shifted. Instead m, h, J and the
columns of each link are, once, and have no zeros any more: this is for long chains. (Ours.)
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.crba import Composite
from gdalembert.dynamics.newton_euler.links import Link, place
from gdalembert.dynamics.newton_euler.rotations import NO_TURN, Full, Rotation
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion

_NULL = ca.DM(3, 1)


def place_in_root_axes(tree: Tree, q: Matrix) -> list[Link]:
    """All links at q; for joints whose columns are constant."""
    links = place(tree, q)
    placements: dict[int, tuple[Rotation, Matrix]] = {}
    placed: list[Link] = []
    for i, link in enumerate(links):
        if link.joint.parent < 0:
            placements[i] = NO_TURN, _NULL
            placed.append(link)
            continue
        rotation, origin = placements[link.joint.parent]
        turned = Full((link.rotation.T @ (rotation.T @ ca.DM.eye(3))).T)
        placements[i] = turned, origin + rotation @ link.origin
        placed.append(seen_from_root(link, *placements[i]))
    return placed


def seen_from_root(link: Link, r: Rotation, p: Matrix) -> Link:
    """A link that stands at (R, p) in the axes of the root, in these axes."""
    body = Composite(link.mass, link.first, link.second).turned(r).shifted(p)
    angular = r @ link.columns.angular
    columns = Motion(r @ link.columns.linear + spatial.skew(p) @ angular, angular)
    return replace(
        link, turn=NO_TURN, fixed=NO_TURN, origin=_NULL, columns=columns, first=body.first, second=body.second
    )
