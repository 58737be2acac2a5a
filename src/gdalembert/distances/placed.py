"""Shapes on the links of a robot: where they are at q, and how the gap of a pair changes with v."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.distances.closest import Closest, Placed, PlacedBox, PlacedHalfSpace, Rounded
from gdalembert.distances.shapes import Box, Capsule, HalfSpace, Shape, Sphere
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion


class Body(NamedTuple):
    """A shape with a name, on a link of a tree (−1: the universe); or a kind of shape, whose numbers are an input."""

    name: str
    link: int
    shape: Shape | type[Shape]


class RobotWithShapes:
    """A tree at q, and what of its motion gaps need."""

    def __init__(self, tree: Tree, q: ca.SX) -> None:
        self._tree, self._q = tree, q
        self._links = tree.placements(q)

    def placed(self, body: Body, numbers: Matrix | None = None) -> Placed:
        """A shape in the universe; ``numbers``: of one that is an input, as :attr:`Shape.numbers`."""
        shape, link = body.shape, body.link
        if isinstance(shape, type):
            parts = ca.vertsplit(numbers, np.cumsum([0, *shape.sizes.values()]).tolist())
            return _in_universe(shape, dict(zip(shape.sizes, parts, strict=True)))
        return _on_link(shape, link, *(self._links[link] if link >= 0 else (ca.DM.eye(3), ca.DM(3, 1))))

    @cached_property
    def _columns(self) -> list[Motion]:
        """The columns of each joint, in WORLD."""
        placements = zip(self._tree.joints, self._links, strict=True)
        return [Motion(*joint.subspace(self._q)).to_parent(*placed) for joint, placed in placements]

    def slopes(self, closest: Closest) -> Matrix:
        """The derivative of a gap by v (1 × nv): of the joints that move one point and not the other."""
        row: list[Matrix] = [ca.SX(1, 1)] * self._tree.nv
        for joint, point, share in self._moved(closest):
            columns, moment = self._columns[joint], ca.cross(point, closest.normal)
            values = share * (columns.linear.T @ closest.normal + columns.angular.T @ moment)
            for k, column in enumerate(self._tree.joints[joint].columns):
                row[column] = row[column] + values[k]
        return ca.horzcat(*row)

    def _moved(self, closest: Closest) -> Iterator[tuple[int, Matrix, Matrix]]:
        """The joints that move a point of one shape and not those of the other: index, point, and its share."""
        sides = (closest.of_first, 1.0), (closest.of_second, -1.0)
        carriers = {point.carrier for points, _ in sides for point in points}
        everywhere = set.intersection(*(set(self._tree.path(carrier)) for carrier in carriers))
        for points, sign in sides:
            for point in points:
                for joint in self._tree.path(point.carrier):
                    if joint not in everywhere:
                        yield joint, point.place, sign * point.share


def _on_link(shape: Shape, link: int, rotation: Matrix, translation: Matrix) -> Placed:
    """A shape of numbers on a link with this placement."""
    if isinstance(shape, Sphere):
        return Rounded([link], [translation + rotation @ spatial.constant(shape.centre)], shape.radius)
    if isinstance(shape, Capsule):
        ends = [translation + rotation @ spatial.constant(end) for end in (shape.a, shape.b)]
        length = float(np.sum((shape.b - shape.a) ** 2))
        return Rounded([link] * 2, ends, shape.radius, length, rotation @ spatial.constant(shape.b - shape.a))
    if isinstance(shape, Box):
        placement = spatial.constant(shape.placement)
        centre = translation + rotation @ placement[:3, 3]
        return PlacedBox(link, rotation @ placement[:3, :3], centre, ca.DM(shape.half_sizes))
    assert isinstance(shape, HalfSpace)
    normal = rotation @ spatial.constant(shape.normal)
    return PlacedHalfSpace(link, normal, shape.offset + ca.dot(normal, translation))


def _in_universe(kind: type[Shape], numbers: dict[str, Matrix]) -> Placed:
    """A shape whose numbers are symbols."""
    if kind is Sphere:
        return Rounded([-1], [numbers["centre"]], numbers["radius"])
    if kind is Capsule:
        way = numbers["b"] - numbers["a"]
        return Rounded([-1, -1], [numbers["a"], numbers["b"]], numbers["radius"], ca.dot(way, way) + 1e-100, way)
    return PlacedHalfSpace(-1, numbers["normal"], numbers["offset"])
