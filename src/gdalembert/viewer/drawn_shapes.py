"""Shapes of distances on the page: translucent solids, and lines with numbers between those that are near."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.distances.distances import Distances
from gdalembert.distances.shapes import Box, Capsule, HalfSpace, Shape, Sphere
from gdalembert.errors import ArgumentError
from gdalembert.model.tree import Tree
from gdalembert.spatial.arguments import instance, number, vector
from gdalembert.spatial.arrays import Array, turned_to
from gdalembert.viewer.scene import color_of

Obstacles = npt.ArrayLike | Callable[[float], npt.ArrayLike]
"""The numbers of obstacles that are inputs, or t [s] → these."""
_OPACITY = 0.35
_LINE = (194, 64, 77)
"""The colour of lines between closest points."""
_AROUND, _ALONG = 20, 6
"""Points around a capsule, and circles of each of its half-balls."""
_STEP = 1e-3
"""Lengths are drawn in such steps, relative to the scene: an axis between moving ends keeps its mesh."""


class DrawnShapes:
    """The shapes of a ``gd.Distances`` in the scene of a server of viser.

    Args:
        shapes: those of the robot and of its surroundings. ``obstacles``: the numbers of those that are inputs.
        near: gaps below it have a line and a number [m]. ``size``: of the scene [m].

    Raises:
        ArgumentTypeError, ArgumentError: if the shapes are of another robot, or numbers are missing or no such numbers.
    """

    def __init__(
        self, server: Any, tree: Tree, shapes: Distances, obstacles: Obstacles | None, near: float, size: float
    ) -> None:
        instance("Viewer: shapes", shapes, Distances, "a gd.Distances")
        if (shapes.tree.nq, shapes.tree.nv) != (tree.nq, tree.nv):
            raise ArgumentError(
                f"Viewer: shapes are of {shapes.tree.name} with {shapes.tree.nq} entries of q, and {tree.name} has "
                f"{tree.nq}; give the gd.Distances of this robot"
            )
        if "p" in shapes.distance.name_in():
            raise ArgumentError("Viewer: shapes have parameters p; give gd.Distances of a robot without any")
        if (obstacles is None) == bool(shapes.inputs):
            wanted = f"are {sum(shapes.inputs.values())} numbers or a function of t" if shapes.inputs else "are none"
            raise ArgumentError(f"Viewer: obstacles that are inputs of the shapes {wanted}; give obstacles= so")
        self._count = sum(shapes.inputs.values())
        if obstacles is not None and not callable(obstacles):
            vector("Viewer: obstacles", obstacles, self._count)
        self._near = number("Viewer: near", near, "m", inclusive=True)
        self._server, self._shapes, self._obstacles, self._size = server, shapes, obstacles, size
        self._solids: list[Any] = []
        self._labels: dict[tuple[str, str], Any] = {}
        look = {"thickness": 2.0, "thickness_units": "screen", "visible": False}
        self._lines = server.scene.add_line_segments("/shapes/gaps", np.zeros((1, 2, 3)), _LINE, **look)

    def draw(self, q: Array, time: float) -> None:
        """Place all shapes, lines and numbers at a configuration and a time of the motion [s]."""
        moving = self._obstacles(time) if callable(self._obstacles) else self._obstacles
        arguments = [q] if moving is None else [q, vector("Viewer: obstacles", moving, self._count)]
        bodies = self._shapes.bodies(*arguments)
        for k, body in enumerate(bodies):
            assert isinstance(body.shape, Shape)
            vertices, faces, placement = mesh(body.shape, self._size)
            vertices = vertices.astype(np.float32)
            if k == len(self._solids):
                color, name = color_of(body.link), f"/shapes/{k}"
                look = {"color": color, "opacity": _OPACITY, "side": "double", "cast_shadow": False}
                self._solids.append(self._server.scene.add_mesh_simple(name, vertices, faces, **look))
            solid = self._solids[k]
            if not np.array_equal(solid.vertices, vertices):
                solid.vertices = vertices
            solid.position = placement.translation
            solid.wxyz = pin.Quaternion(placement.rotation).coeffs()[[3, 0, 1, 2]]
        self._draw_gaps(arguments)

    def _draw_gaps(self, arguments: list[Array]) -> None:
        gaps = self._shapes.distance(*arguments).full().ravel()
        first, second = (points.full().T for points in self._shapes.closest(*arguments))
        least: dict[tuple[str, str], int] = {}
        for k in np.argsort(-gaps):  # the last one of two names is the least
            if gaps[k] <= self._near:
                least[self._shapes.pairs[k]] = int(k)
        rows = list(least.values())
        self._lines.visible = bool(rows)
        if rows:
            self._lines.points = np.stack([first[rows], second[rows]], axis=1).astype(np.float32)
        for pair in least.keys() - self._labels.keys():
            self._labels[pair] = self._server.scene.add_label(f"/shapes/gap {len(self._labels)}", "")
        for pair, label in self._labels.items():
            label.visible = pair in least
            if pair in least:
                k = least[pair]
                label.text, label.position = f"{1e3 * gaps[k]:.0f} mm", (first[k] + second[k]) / 2


def mesh(shape: Shape, size: float) -> tuple[Array, Array, pin.SE3]:
    """Vertices (n × 3) and triangles of a shape about its own placement, and this placement in the universe.

    A half-space is the square around the point of its face that is nearest to the origin, with sides of twice the size.
    """
    if isinstance(shape, Box):
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * shape.half_sizes
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return corners, _triangles(quads), pin.SE3(shape.placement)
    if isinstance(shape, HalfSpace):
        corners = size * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
        placement = pin.SE3(turned_to(shape.normal), shape.offset * shape.normal)
        return corners, _triangles([(0, 1, 2, 3)]), placement
    if isinstance(shape, Sphere):
        return *_capsule(0.0, shape.radius), pin.SE3(np.eye(3), shape.centre)
    assert isinstance(shape, Capsule)
    way = shape.b - shape.a
    length = float(np.linalg.norm(way))
    rotation = turned_to(way / length) if length > 0 else np.eye(3)
    step = _STEP * size
    return *_capsule(step * round(length / step), shape.radius), pin.SE3(rotation, (shape.a + shape.b) / 2)


def _capsule(length: float, radius: float) -> tuple[Array, Array]:
    """A capsule along z about its middle: circles from its lowest to its highest point."""
    angles = np.linspace(-np.pi / 2, 0, _ALONG + 1)
    angles = np.concatenate([angles, -angles[::-1]])
    heights = radius * np.sin(angles) + length / 2 * np.repeat([-1, 1], _ALONG + 1)
    around = 2 * np.pi * np.arange(_AROUND) / _AROUND
    circles = radius * np.cos(angles)[:, None, None] * np.column_stack([np.cos(around), np.sin(around)])
    vertices = np.concatenate([circles, np.broadcast_to(heights[:, None, None], (*circles.shape[:2], 1))], axis=2)
    m = _AROUND
    quads = [
        (k * m + i, k * m + (i + 1) % m, (k + 1) * m + (i + 1) % m, (k + 1) * m + i)
        for k in range(len(angles) - 1)
        for i in range(m)
    ]
    return vertices.reshape(-1, 3), _triangles(quads)


def _triangles(quads: list[tuple[int, int, int, int]]) -> Array:
    return np.array([face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))])
