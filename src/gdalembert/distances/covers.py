"""Covers: capsules and boxes around meshes, and the proof that nothing of a mesh is outside.

Both are convex: they hold a triangle if they hold its corners. A mesh is cut by planes, triangles at the plane being
cut in two, and each part has a capsule or a box of its own; so the union of these holds every triangle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gdalembert.distances.shapes import Box, Capsule, HalfSpace, Shape, Sphere
from gdalembert.errors import ModelError, UnsupportedError
from gdalembert.spatial.arguments import required
from gdalembert.spatial.arrays import Array

Triangles = npt.NDArray[np.int64]
_SIDES = 16
"""Sides of the prism around a cylinder, a cone or an ellipsoid: its capsule is at most 2 % too wide."""
_TRIED_CUTS, _SLICES = 4, (3, 4)
"""Of the cuts of a part in two, those whose rough capsules are smallest; and numbers of slices, for what is flat."""
_SECTORS, _OUT, _RIM = 5, 1.1, 1.02
"""Pairs of opposite sectors of what is round: boxes around those of a disc stand out of it by 5 %, one box by 41 %.
And, in radii, the length from which something stands out of what is round, and where it is cut off, past the rim."""
_CUTS = np.linspace(0.2, 0.8, 7)
"""Where planes cut a part, over its extent along each of its principal axes."""
_HEIGHTS, _TURNS = 1 - (2 * np.arange(200) + 1) / 200, np.pi * (1 + 5**0.5) * (np.arange(200) + 0.5)
_DIRECTIONS = np.column_stack([*(np.sqrt(1 - _HEIGHTS**2) * (np.cos(_TURNS), np.sin(_TURNS))), _HEIGHTS])
"""Directions that are spread evenly, on a spiral."""
_FACES, _ALIKE = 6, 1 - 1e-4
"""The number of faces along which boxes are tried, and the cosine between normals that count as one."""
_ROUNDING = 1 + 1e-12
_FINE = 1e-30
"""Added to squared lengths [m²], which may be 0."""


class Surface(NamedTuple):
    """A mesh: its corners (n × 3) [m], and those of each triangle."""

    points: Array
    triangles: Triangles

    def beyond(self, normal: Array, offset: float) -> Surface:
        """Part on the side of a plane to which its normal points."""
        height = self.points @ normal - offset
        inside = height[self.triangles] >= 0
        count = inside.sum(axis=1)
        points, kept, known = [self.points], [self.triangles[count == 3]], len(self.points)
        for number in (1, 2):  # corners inside: the lonely corner comes first, inside or not
            crossing = self.triangles[count == number]
            lonely = np.argmax(inside[count == number] == (number == 1), axis=1)
            first, *others = (crossing[np.arange(len(crossing)), (lonely + k) % 3] for k in range(3))
            ends = []
            for other in others:
                share = (height[first] / (height[first] - height[other]))[:, None]
                points.append(self.points[first] + share * (self.points[other] - self.points[first]))
                ends.append(known + np.arange(len(crossing)))
                known += len(crossing)
            if number == 1:
                kept.append(np.column_stack([first, *ends]))
            else:
                kept += [np.column_stack([*others, ends[1]]), np.column_stack([others[0], ends[1], ends[0]])]
        used, triangles = np.unique(np.vstack(kept), return_inverse=True)
        return Surface(np.vstack(points)[used], triangles.reshape(-1, 3))


class CoveredPart:
    """Surfaces of one link that one capsule or box covers, or one shape that needs no cover.

    Attributes:
        capsule: the smallest one at first; whoever has a better one replaces it.
        in_box: whether the smallest box is the cover, not the capsule.
    """

    def __init__(self, surfaces: Sequence[Surface], exact: Shape | None = None, *, in_box: bool = False) -> None:
        self.surfaces, self.exact, self.in_box = tuple(surfaces), exact, in_box
        self._capsule: Capsule | None = None

    @cached_property
    def corners(self) -> Array:
        """The corners of the convex hull (n × 3)."""
        return hull_corners(np.vstack([surface.points for surface in self.surfaces]))

    @property
    def capsule(self) -> Capsule:
        if self._capsule is None:
            self._capsule = smallest_capsule(self.corners)
        return self._capsule

    @capsule.setter
    def capsule(self, capsule: Capsule) -> None:
        self._capsule = capsule

    @cached_property
    def box(self) -> Box:
        return smallest_box(self.corners)

    @property
    def shape(self) -> Shape:
        if self.exact is not None:
            return self.exact
        return self.box if self.in_box else self.capsule

    @property
    def outside(self) -> float:
        """Distance of the farthest corner from the cover [m], outwards; at most 0, which proves the cover."""
        points = np.vstack([surface.points for surface in self.surfaces])
        if self.in_box:
            local = (points - self.box.placement[:3, 3]) @ self.box.placement[:3, :3]
            return float((np.abs(local) - self.box.half_sizes).max())
        ways = nearest_on_segment(points, self.capsule.a, self.capsule.b)[1]
        return float((np.linalg.norm(ways, axis=1) - self.capsule.radius).max())

    @cached_property
    def cuts(self) -> list[tuple[CoveredPart, ...]]:
        """The parts of several cuts: in two by planes across principal axes, in equal slices, or between surfaces."""
        if self.exact is not None:
            return []
        halves, slices = list[tuple[CoveredPart, ...]](), list[tuple[CoveredPart, ...]]()
        for axis in principal_axes(self.corners):
            low, high = (self.corners @ axis).min(), (self.corners @ axis).max()
            halves += [self._sliced(axis, [low + share * (high - low)]) for share in _CUTS]
            slices += [self._sliced(axis, np.linspace(low, high, count + 1)[1:-1]) for count in _SLICES]
        if len(self.surfaces) > 1:
            for i, surface in enumerate(self.surfaces):
                halves.append((CoveredPart([surface]), CoveredPart([*self.surfaces[:i], *self.surfaces[i + 1 :]])))
        halves.sort(key=lambda parts: sum(_rough_volume(part.corners) for part in parts))
        return [parts for parts in (*halves[:_TRIED_CUTS], *slices) if len(parts) > 1]

    @cached_property
    def round_pieces(self) -> list[list[CoveredPart]]:
        """Covers by this part, and by that which is round about an axis of the frame and what stands out of it.

        The frame is that of the joint: a motor is round about it, and a plug or the rest of the arm stands out.
        """
        covers = [[self]]
        for axis in np.eye(3):
            low, high = (self.corners @ axis).min(), (self.corners @ axis).max()
            reach = min(-low, high)
            if reach > 0 and max(-low, high) > _OUT * reach:
                sign = 1.0 if high > reach else -1.0
                covers.append(list(self._sliced(sign * axis, [_RIM * reach])))
        return covers

    @cached_property
    def boxes(self) -> list[list[CoveredPart]]:
        """Covers by boxes: of the round pieces, the first also in sectors about an axis of the frame."""
        pieces = CoveredPart(self.surfaces, in_box=True).round_pieces
        sectors = [[*first._star(np.roll(np.eye(3), k, axis=0)), *rest] for first, *rest in pieces for k in range(3)]
        return [*pieces, *sectors]

    @cached_property
    def lengths(self) -> list[list[CoveredPart]]:
        """Covers by the round pieces, and these with the last, as the rest of an arm, cut in two."""
        pieces = CoveredPart(self.surfaces).round_pieces  # not this part, which other pairs may have
        return [*pieces, *([*first, *cut] for *first, last in pieces for cut in last.cuts[:_TRIED_CUTS])]

    def _star(self, axes: Array) -> list[CoveredPart]:
        """The parts in opposite sectors about the last of three axes (rows) through the origin, in boxes."""
        angles = np.pi * (np.arange(_SECTORS + 1) - 0.5) / _SECTORS
        normals = [np.cos(angle) * axes[1] - np.sin(angle) * axes[0] for angle in angles]
        parts = []
        for low, high in pairwise(normals):
            surfaces = []
            for sign in (1.0, -1.0):
                within = [surface.beyond(sign * low, 0.0) for surface in self.surfaces]
                surfaces += [surface.beyond(-sign * high, 0.0) for surface in within]
            if surfaces := [surface for surface in surfaces if len(surface.triangles)]:
                parts.append(CoveredPart(surfaces, in_box=True))
        return parts

    def _sliced(self, axis: Array, offsets: Iterable[float]) -> tuple[CoveredPart, ...]:
        """The parts between planes across an axis."""
        parts, rest = [], list(self.surfaces)
        for offset in (*offsets, np.inf):
            below = rest if np.isinf(offset) else [surface.beyond(-axis, -offset) for surface in rest]
            rest = [] if np.isinf(offset) else [surface.beyond(axis, offset) for surface in rest]
            below, rest = ([surface for surface in side if len(surface.triangles)] for side in (below, rest))
            if below:
                parts.append(CoveredPart(below, in_box=self.in_box))
        return tuple(parts)


def principal_axes(points: Array) -> Array:
    """Unit vectors along which points are spread most, less and least, as rows."""
    return np.asarray(np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2])


def volume(capsule: Capsule) -> float:
    """Volume of a capsule [m³]."""
    return volume_and_gradient(np.concatenate([capsule.a, capsule.b, [capsule.radius]]))[0]


def volume_and_gradient(x: Array) -> tuple[float, Array]:
    """The volume of a capsule [m³] by its ends and radius (7), and its gradient."""
    way, radius = x[3:6] - x[:3], x[6]
    length = float(np.linalg.norm(way))
    by_end = np.pi * radius**2 * way / (length + _FINE)
    gradient = np.concatenate([-by_end, by_end, [2 * np.pi * radius * (length + 2 * radius)]])
    return float(np.pi * radius**2 * (length + 4 / 3 * radius)), gradient


def _rough_volume(points: Array) -> float:
    """Volume of the smallest capsule along a principal axis through the middle of the points."""
    least = np.inf
    for axis in principal_axes(points):
        along = points @ axis
        across = points - np.outer(along, axis)
        radius = float(np.linalg.norm(across - (across.max(axis=0) + across.min(axis=0)) / 2, axis=1).max())
        length = max(float(np.ptp(along)) - 2 * radius, 0.0)
        least = min(least, float(np.pi * radius**2 * (length + 4 / 3 * radius)))
    return least


Cost = Callable[[Array], tuple[float, Array]]
"""Of the ends and the radius of a capsule (7): the cost, and its gradient."""


def best_capsule(corners: Array, begin: Capsule, cost: Cost) -> Capsule:
    """The capsule around points (n × 3) of least cost that sequential quadratic programming finds from another one.

    The simplex of Nelder and Mead over the two ends, with the radius that they need, takes ten times as long, and its
    capsules of the Panda are up to 11 % larger.
    """
    scipy = required("Distances: covers", "scipy.optimize", "distances")
    outer = corners[np.unique(np.argmax(corners @ _DIRECTIONS.T, axis=0))]  # of thousands; all decide on the radius

    def gaps(x: Array) -> tuple[Array, Array]:
        share, way = nearest_on_segment(outer, x[:3], x[3:6])
        distance = np.linalg.norm(way, axis=1)
        normal = way / (distance + _FINE)[:, None]
        slopes = np.column_stack([(1 - share)[:, None] * normal, share[:, None] * normal, np.ones(len(outer))])
        return x[6] - distance, slopes

    rule = {"type": "ineq", "fun": lambda x: gaps(x)[0], "jac": lambda x: gaps(x)[1]}
    first = np.concatenate([begin.a, begin.b, [begin.radius]])
    options = {"maxiter": 100, "ftol": 1e-6}
    x = scipy.minimize(cost, first, jac=True, method="SLSQP", constraints=rule, options=options).x
    return around(corners, x[:3], x[3:6])


def nearest_on_segment(points: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """The shares of a segment at which it is nearest to points (n × 3), and the ways from there to the points."""
    way, apart = b - a, points - a
    share = np.clip(apart @ way / (way @ way + _FINE), 0.0, 1.0)
    return share, apart - share[:, None] * way


def around(points: Array, a: Array, b: Array) -> Capsule:
    """The capsule of two ends with the radius that points (n × 3) need."""
    radius = float(np.linalg.norm(nearest_on_segment(points, a, b)[1], axis=1).max())
    return Capsule(a, b, max(radius, 1e-9) * _ROUNDING)


def smallest_capsule(corners: Array) -> Capsule:
    """The capsule of least volume around points (n × 3), of the minima from each principal axis.

    trimesh's minimum cylinder with a half-ball at each end, as PyRoki has it, lost: the ends stand out by a radius.
    """
    middle, minima = corners.mean(axis=0), list[Capsule]()
    scale = _rough_volume(corners) + _FINE

    def size(x: Array) -> tuple[float, Array]:
        value, gradient = volume_and_gradient(x)
        return value / scale, gradient / scale

    for axis in principal_axes(corners):
        along = (corners - middle) @ axis
        across = float(np.linalg.norm(corners - middle - np.outer(along, axis), axis=1).max())
        inset = min(across, float(np.ptp(along)) / 2)
        begin = around(corners, middle + axis * (along.min() + inset), middle + axis * (along.max() - inset))
        minima.append(best_capsule(corners, begin, size))
    return min(minima, key=volume)


def smallest_box(corners: Array) -> Box:
    """The box of least volume around points (n × 3) of those with a side along an axis of the frame, a principal axis,
    or the normal of a large face of their hull, and another along an edge of their projection on that side."""
    least, best = np.inf, (np.eye(3), np.zeros(3), np.zeros(3))
    for normal in np.vstack([np.eye(3), principal_axes(corners), *_large_faces(corners)]):
        first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
        first /= np.linalg.norm(first)
        plane = np.column_stack([first, np.cross(normal, first)])
        flat = hull_corners(corners @ plane)  # of a plane, in order
        edges = np.vstack([np.eye(2), np.roll(flat, -1, axis=0) - flat])
        edges = edges[(lengths := np.linalg.norm(edges, axis=1)) > 0] / lengths[lengths > 0, None]
        along = flat @ edges.T
        across = flat @ (edges @ np.array([[0.0, 1.0], [-1.0, 0.0]])).T
        k = int(np.argmin(areas := np.ptp(along, axis=0) * np.ptp(across, axis=0)))
        if (size := float(areas[k] * np.ptp(corners @ normal))) < least:
            side = plane @ edges[k]
            axes = np.column_stack([side, np.cross(normal, side), normal])
            low, high = (corners @ axes).min(axis=0), (corners @ axes).max(axis=0)
            least, best = size, (axes, axes @ (low + high) / 2, (high - low) / 2)
    placement = np.eye(4)
    placement[:3, :3], placement[:3, 3] = best[:2]
    return Box(placement, best[2] * _ROUNDING + 1e-12)


def _large_faces(corners: Array) -> Array:
    """Unit normals (n × 3) of the largest faces of the convex hull; none if the points are flat."""
    spatial = required("Distances: covers", "scipy.spatial", "distances")
    try:
        hull = spatial.ConvexHull(corners)
    except (spatial.QhullError, ValueError):
        return np.zeros((0, 3))
    a, b, c = np.moveaxis(corners[hull.simplices], 1, 0)
    areas, normals = np.linalg.norm(np.cross(b - a, c - a), axis=1), np.zeros((0, 3))
    alike = hull.equations[:, :3] @ hull.equations[:, :3].T > _ALIKE
    for _ in range(_FACES):
        k = int(np.argmax(alike @ areas))
        normals = np.vstack([normals, hull.equations[k, :3]])
        areas = np.where(alike[k], 0.0, areas)
    return normals


def hull_corners(points: Array) -> Array:
    """The points of the convex hull; all points if they are flat."""
    spatial = required("Distances: covers", "scipy.spatial", "distances")
    try:
        return np.asarray(points[spatial.ConvexHull(points).vertices])
    except (spatial.QhullError, ValueError):
        return np.unique(points, axis=0)


def exact_shape(item: Any) -> Shape | None:
    """The shape of a ``pin.GeometryObject`` in the frame of its joint; ``None`` if it is one to be covered.

    Raises:
        UnsupportedError: if it is what has no volume and no capsules around it, as a plane.
    """
    import coal

    solid, r, x = item.geometry, item.placement.rotation, item.placement.translation
    if isinstance(solid, coal.ShapeBase) and solid.getSweptSphereRadius() > 0:
        raise UnsupportedError(
            f"Distances: {item.name!r} has a swept sphere radius of {solid.getSweptSphereRadius()} m, which covers do "
            "not have; make the shape itself larger"
        )
    if isinstance(solid, coal.Sphere):
        return Sphere(x, solid.radius)
    if isinstance(solid, coal.Capsule):
        return Capsule(x - r[:, 2] * solid.halfLength, x + r[:, 2] * solid.halfLength, solid.radius)
    if isinstance(solid, coal.Box):
        return Box(item.placement, np.ravel(solid.halfSide))
    if isinstance(solid, coal.Halfspace):
        return HalfSpace(solid.n, solid.d).placed(r, x)
    return None


def surface_of(item: Any) -> Surface:
    """The surface of a ``pin.GeometryObject`` in the frame of its joint; of a round one, a surface around it.

    Raises:
        ModelError: if a mesh has no triangles.
        UnsupportedError: if the object has no surface that capsules cover, as a plane or an octree.
    """
    import coal

    solid = item.geometry
    if isinstance(solid, coal.BVHModelBase):
        points = np.asarray(solid.vertices(), dtype=float).reshape(-1, 3)  # meshScale is in them
        corners = [[(t := solid.tri_indices(k))[0], t[1], t[2]] for k in range(solid.num_tris)]
        triangles = np.array(corners, dtype=np.int64).reshape(-1, 3)
    elif (around := _points_around(solid)) is not None:
        spatial = required("Distances: covers", "scipy.spatial", "distances")
        points, triangles = around, np.zeros((0, 3), dtype=np.int64)
        if len(points) > 3:
            triangles = np.asarray(spatial.ConvexHull(points).simplices, dtype=np.int64)
    else:
        raise UnsupportedError(
            f"Distances: {item.name!r} is a {type(solid).__name__}, which no capsules cover; leave it out of the "
            "geometry, or give a half-space or a mesh"
        )
    if not len(triangles):
        raise ModelError(
            f"Distances: the mesh of {item.name!r} has no triangles; look at {item.meshPath or 'its file'}"
        )
    if not np.isfinite(points).all():
        raise ModelError(f"Distances: the mesh of {item.name!r} has corners that are not finite; mend its file")
    return Surface(points @ item.placement.rotation.T + item.placement.translation, triangles)


def _points_around(solid: Any) -> Array | None:
    """Points whose convex hull holds a convex solid; ``None`` for what has none."""
    import coal

    if isinstance(solid, coal.ConvexBase):
        return np.asarray(solid.points(), dtype=float).reshape(-1, 3)
    if isinstance(solid, coal.Box):
        return np.array(list(product((-1.0, 1.0), repeat=3))) * np.ravel(solid.halfSide)
    angles = 2 * np.pi * np.arange(_SIDES) / _SIDES
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(_SIDES)])
    around, top = ring / np.cos(np.pi / _SIDES), np.array([0.0, 0.0, 1.0])
    if isinstance(solid, coal.Cylinder):
        return np.vstack([solid.radius * around + sign * solid.halfLength * top for sign in (-1, 1)])
    if isinstance(solid, coal.Cone):
        return np.vstack([solid.radius * around - solid.halfLength * top, [solid.halfLength * top]])
    if isinstance(solid, coal.Ellipsoid):
        spatial = required("Distances: covers", "scipy.spatial", "distances")
        heights = np.pi / _SIDES * np.arange(1 - _SIDES // 2, _SIDES // 2)
        ball = np.vstack([*(np.cos(h) * ring + np.sin(h) * top for h in heights), [top, -top]])
        # the hull of points of a ball is within it; as much larger as its nearest face is nearer, it is around it
        return np.asarray(ball / -spatial.ConvexHull(ball).equations[:, 3].max() * np.ravel(solid.radii))
    return None
