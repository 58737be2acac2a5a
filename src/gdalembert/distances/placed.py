"""Shapes on the links of a robot: where they are at q, and how the gap of a pair changes with v."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.distances.closest import Closest, Material, Placed, PlacedBox, PlacedHalfSpace, Rounded
from gdalembert.distances.shapes import Box, Capsule, HalfSpace, Shape, Sphere
from gdalembert.flexible.centreline import AxisPiece
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.spatial_vectors import Motion

_DEGENERATE, _SHORTEST = 1e-30, 1e-15
"""What is added to squared lengths [m²], and the least length [m]: the ends of a capsule may be one point."""


class LinkShape(NamedTuple):
    """A shape with a name, on a link of a tree (−1: the universe); a class stands for one whose numbers are inputs."""

    name: str
    link: int
    shape: Shape | type[Shape] | AxisPiece


class RobotWithShapes:
    """A tree at q, and what of its motion gaps need."""

    def __init__(self, tree: Tree, q: ca.SX) -> None:
        self._tree, self._q = tree, q
        self._links = tree.placements(q)
        self._axes: dict[int, tuple[list[Matrix], list[Matrix]]] = {}

    def _link(self, link: int) -> tuple[Matrix, Matrix]:
        return self._links[link] if link >= 0 else (ca.DM.eye(3), ca.DM(3, 1))

    def placed(self, body: LinkShape, numbers: ca.SX | None = None) -> Placed:
        """A shape in the universe; ``numbers``: of one that is an input, as :attr:`Shape.numbers`."""
        shape, link = body.shape, body.link
        if isinstance(shape, type):
            assert numbers is not None
            parts = ca.vertsplit(numbers, np.cumsum([0, *shape.sizes.values()]).tolist())
            return _in_universe(shape, dict(zip(shape.sizes, parts, strict=True)))
        if isinstance(shape, AxisPiece):
            return self._on_axis(link, shape)
        return _on_link(shape, link, *self._link(link))

    def _on_axis(self, link: int, piece: AxisPiece) -> Rounded:
        if link not in self._axes:
            (rotation, translation), behind = self._link(link), self._tree.nq - self._tree.nv
            f = self._q[piece.columns.start + behind : piece.columns.stop + behind]
            axis = piece.points(f)
            placed = [translation + rotation @ point for point in ca.horzsplit(axis)]
            self._axes[link] = placed, [rotation @ slope for slope in ca.vertsplit(ca.jacobian(axis, f), 3)]
        points, slopes = (of_all[piece.first : piece.first + 2] for of_all in self._axes[link])
        moved = [list(zip(piece.columns, ca.horzsplit(slope), strict=True)) for slope in slopes]
        way = points[1] - points[0]
        length = _length(way)
        return Rounded(link, points, piece.radius, length, way / length, moved)

    @cached_property
    def _columns(self) -> list[Motion]:
        """The columns of each joint, in WORLD."""
        placements = zip(self._tree.joints, self._links, strict=True)
        return [Motion(*joint.subspace(self._q)).to_parent(*placed) for joint, placed in placements]

    def slopes(self, closest: Closest) -> Matrix:
        """The derivative of a gap by v (1 × nv): u · (∂x/∂q − ∂y/∂q)."""
        row: list[Matrix] = [ca.SX(1, 1)] * self._tree.nv
        for joint, point, share in self._moved(closest):
            columns, moment = self._columns[joint], ca.cross(point, closest.normal)
            values = share * (columns.linear.T @ closest.normal + columns.angular.T @ moment)
            for k, column in enumerate(self._tree.joints[joint].columns):
                row[column] = row[column] + values[k]
        for points, sign in _sides(closest):
            for point in points:
                for column, velocity in point.deformation:
                    row[column] = row[column] + sign * point.share * ca.dot(velocity, closest.normal)
        return ca.horzcat(*row)

    def _moved(self, closest: Closest) -> Iterator[tuple[int, Matrix, Matrix]]:
        """The joints that move a point of one shape and not those of the other: index, point, and its share.

        Those that move both turn them about each other, and the normal is along the way between them.
        """
        carriers = {point.carrier for points, _ in _sides(closest) for point in points}
        everywhere = set.intersection(*(set(self._tree.path(carrier)) for carrier in carriers))
        for points, sign in _sides(closest):
            for point in points:
                for joint in self._tree.path(point.carrier):
                    if joint not in everywhere:
                        yield joint, point.place, sign * point.share

    def slopes_by(self, closest: Closest, symbols: ca.SX) -> Matrix:
        """The derivative of a gap by symbols in the placements of joints, at points that are fixed in their links."""
        row = ca.SX(1, symbols.numel())
        for points, sign in _sides(closest):
            for point in points:
                rotation, translation = self._link(point.carrier)
                known = ca.SX.sym("local", 3), ca.SX.sym("normal", 3)
                height = ca.dot(known[1], rotation @ known[0] + translation)
                values = [rotation.T @ (point.place - translation), closest.normal]
                slope = ca.substitute(ca.jacobian(ca.SX(height), symbols), ca.vertcat(*known), ca.vertcat(*values))
                row += sign * point.share * slope
        return row


def _sides(closest: Closest) -> tuple[tuple[list[Material], float], tuple[list[Material], float]]:
    return (closest.of_first, 1.0), (closest.of_second, -1.0)


def _on_link(shape: Shape, link: int, rotation: Matrix, translation: Matrix) -> Placed:
    """A shape of numbers on a link with this placement."""
    if isinstance(shape, Sphere):
        return Rounded(link, [translation + rotation @ spatial.constant(shape.centre)], shape.radius)
    if isinstance(shape, Capsule):
        ends = [translation + rotation @ spatial.constant(end) for end in (shape.a, shape.b)]
        length = max(float(np.linalg.norm(shape.b - shape.a)), _SHORTEST)
        return Rounded(link, ends, shape.radius, length, rotation @ spatial.constant((shape.b - shape.a) / length))
    if isinstance(shape, Box):
        placement = spatial.constant(shape.placement)
        centre = translation + rotation @ placement[:3, 3]
        return PlacedBox(link, rotation @ placement[:3, :3], centre, ca.DM(shape.half_sizes))
    assert isinstance(shape, HalfSpace)
    normal = rotation @ spatial.constant(shape.normal)
    return PlacedHalfSpace(link, normal, shape.offset + ca.dot(normal, translation))


def _in_universe(kind: type[Shape], numbers: Mapping[str, Matrix]) -> Placed:
    """A shape whose numbers are symbols."""
    if kind is Sphere:
        return Rounded(-1, [numbers["centre"]], numbers["radius"])
    if kind is Capsule:
        way = numbers["b"] - numbers["a"]
        length = _length(way)
        return Rounded(-1, [numbers["a"], numbers["b"]], numbers["radius"], length, way / length)
    return PlacedHalfSpace(-1, numbers["normal"] / _length(numbers["normal"]), numbers["offset"])


def _length(x: Matrix) -> Matrix:
    return ca.sqrt(ca.dot(x, x) + _DEGENERATE)


def numbers_of(placed: Placed) -> Matrix:
    """Numbers that make a shape in the universe of a placed one, by :func:`shape_of`."""
    if isinstance(placed, Rounded):
        return ca.vertcat(*placed.ends, placed.radius)
    if isinstance(placed, PlacedBox):
        return ca.vertcat(ca.vec(placed.rotation), placed.centre)
    return ca.vertcat(placed.normal, placed.offset)


def shape_of(placed: Placed, numbers: Array) -> Shape:
    """A shape in the universe, of the values of :func:`numbers_of`."""
    if isinstance(placed, Rounded):
        ends, radius = numbers[:-1].reshape(-1, 3), numbers[-1]
        return Sphere(ends[0], radius) if placed.is_point else Capsule(ends[0], ends[1], radius)
    if isinstance(placed, PlacedBox):
        placement = np.eye(4)
        placement[:3] = numbers.reshape(4, 3).T
        return Box(placement, placed.half_sizes.full().ravel())
    return HalfSpace(numbers[:3], numbers[3])


def slopes_by_numbers(kind: type[Shape], closest: Closest, numbers: Matrix) -> Matrix:
    """The derivative of a gap by the numbers of its second shape (1 × n), as they are in :attr:`Shape.numbers`."""
    normal, place = closest.normal.T, closest.of_second[0].place
    if kind is Sphere:
        return ca.horzcat(-normal, -1)
    if kind is HalfSpace:  # of the normal that is made of unit length
        across = place - ca.dot(place, closest.normal) * closest.normal
        return ca.horzcat(across.T / _length(numbers[:3]), -1)
    way = numbers[3:6] - numbers[:3]
    share = ca.dot(place - numbers[:3], way) / (ca.dot(way, way) + _DEGENERATE)
    return ca.horzcat(-(1 - share) * normal, -share * normal, -1)
