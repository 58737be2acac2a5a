"""Configurations at random, and the gaps of shapes at them, of many configurations at once."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.distances.closest import PlacedBox, Rounded, closest
from gdalembert.distances.placed import LinkShape, RobotWithShapes
from gdalembert.distances.shapes import Box, Capsule, Shape, Sphere
from gdalembert.model.configuration import reached
from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array


class SampledTree:
    """A tree at configurations at random, within limits, and the placements of links there, once they are asked for."""

    def __init__(self, tree: Tree, lower: Array, upper: Array, count: int, seed: int) -> None:
        self.tree, self._limits, self._count, self._seed = tree, (lower, upper), count, seed

    @cached_property
    def q(self) -> Array:
        """The configurations (N × nq)."""
        return configurations(self.tree, *self._limits, self._count, self._seed)

    @cached_property
    def _placements(self) -> tuple[Array, Array]:
        """Rotations (N × links × 3 × 3) and translations (N × links × 3)."""
        symbol = ca.SX.sym("q", self.tree.nq)
        placed = [ca.densify(ca.vertcat(ca.vec(r.T), p)) for r, p in self.tree.placements(symbol)]
        of_all = ca.Function("placements", [symbol], [ca.densify(ca.SX(ca.vertcat(*placed)))])
        values = of_all.map(len(self.q))(self.q.T).full().T.reshape(len(self.q), -1, 12)
        return values[:, :, :9].reshape(len(self.q), -1, 3, 3), values[:, :, 9:]

    def placement(self, link: int, chosen: Any = slice(None)) -> tuple[Array, Array]:
        """Rotations and translations of a link, at all configurations or those chosen."""
        if link < 0:
            count = len(self.q[chosen])
            return np.broadcast_to(np.eye(3), (count, 3, 3)), np.zeros((count, 3))
        rotations, translations = self._placements
        return rotations[chosen, link], translations[chosen, link]

    def segment(self, link: int, capsule: Any, chosen: Any = slice(None)) -> tuple[Array, Array, float]:
        """Starts, directions and radius of a capsule or a sphere in the universe."""
        r, x = self.placement(link, chosen)
        a, b = (capsule.centre,) * 2 if isinstance(capsule, Sphere) else (capsule.a, capsule.b)
        return r @ a + x, r @ (b - a), capsule.radius

    def box(self, link: int, box: Box, chosen: Any = slice(None)) -> tuple[Array, Array, Array]:
        """Rotations, centres and half sizes of a box in the universe."""
        r, x = self.placement(link, chosen)
        return r @ box.placement[:3, :3], r @ box.placement[:3, 3] + x, box.half_sizes

    def gap(self, first: tuple[int, Shape], second: tuple[int, Shape], count: int) -> Array:
        """The gap of two shapes on links at the first configurations."""
        if all(isinstance(shape, Capsule | Sphere) for _, shape in (first, second)):
            one, other = (self.segment(*placed, slice(count)) for placed in (first, second))
            return capsule_gaps(*one, *other)[0]
        for (link, shape), (on, box) in ((first, second), (second, first)):
            if isinstance(shape, Capsule | Sphere) and isinstance(box, Box):
                return box_gaps(*self.segment(link, shape, slice(count)), *self.box(on, box, slice(count)))[0]
        symbol = ca.SX.sym("q", self.tree.nq)
        robot = RobotWithShapes(self.tree, symbol)
        gap = closest(*(robot.placed(LinkShape("", *placed)) for placed in (first, second))).gap
        return np.asarray(ca.Function("gap", [symbol], [ca.densify(gap)]).map(count)(self.q[:count].T).full()[0])


class Surroundings:
    """Capsules, spheres and boxes around a link, in its frame, of many configurations."""

    def __init__(self) -> None:
        self._rounded, self._boxes = list[tuple[Array, ...]](), list[tuple[Array, ...]]()

    def add(self, sampled: SampledTree, link: int, other: int, shape: Any, chosen: Any) -> None:
        """Add a shape of another link, as it is at configurations."""
        r, x = sampled.placement(link, chosen)
        if isinstance(shape, Box):
            rotation, centre, half_sizes = sampled.box(other, shape, chosen)
            local = np.einsum("kji,kjl->kil", r, rotation), np.einsum("kji,kj->ki", r, centre - x)
            self._boxes.append((*local, np.broadcast_to(half_sizes, x.shape)))
        else:
            start, way, radius = sampled.segment(other, shape, chosen)
            start, way = (np.einsum("kij,ki->kj", r, y) for y in (start - x, way))
            self._rounded.append((start, way, np.full(len(x), radius)))

    @cached_property
    def _joined(self) -> tuple[list[Array], ...]:
        return tuple(
            [np.concatenate(parts) for parts in zip(*placed, strict=True)] for placed in (self._rounded, self._boxes)
        )

    def gaps(self, x: Array) -> tuple[Array, Array, Array]:
        """Those of a capsule of these ends and radius (7), with shares and normals, as :func:`capsule_gaps`: of rounded
        shapes first, and then of boxes, each in the order in which they were added."""
        found = [
            of(x[:3], x[3:6] - x[:3], x[6], *placed)
            for of, placed in zip((capsule_gaps, box_gaps), self._joined, strict=True)
            if placed
        ]
        gaps, shares, normals = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return gaps, shares, normals


def capsule_gaps(
    p: Array, a: Array, r: float | Array, o: Array, b: Array, s: float | Array
) -> tuple[Array, Array, Array]:
    """Gaps of capsules from p along a and from o along b, row by row, as :func:`closest.closest` has them.

    Also the shares of a at which they are closest, and the unit normals from the second.
    """
    apart = p - o
    aa, bb, ab = (np.einsum("...i,...i->...", x, y) for x, y in ((a, a), (b, b), (a, b)))
    on_a, on_b = (np.einsum("...i,...i->...", x, apart) for x in (a, b))
    aa, bb = np.maximum(aa, 1e-100), np.maximum(bb, 1e-100)
    share = np.clip((ab * on_b - on_a * bb) / np.maximum(aa * bb * (1 + 1e-12) - ab * ab, 1e-200), 0.0, 1.0)
    other = np.clip((ab * share + on_b) / bb, 0.0, 1.0)
    share = np.clip((ab * other - on_a) / aa, 0.0, 1.0)
    way = apart + share[..., None] * a - other[..., None] * b
    distance = np.linalg.norm(way, axis=-1)
    return distance - r - s, share, way / np.maximum(distance, 1e-30)[..., None]


def box_gaps(
    p: Array, a: Array, r: float | Array, rotation: Array, centre: Array, half_sizes: Array
) -> tuple[Array, Array, Array]:
    """Gaps of capsules from p along a, beside boxes, row by row, with shares and normals as :func:`capsule_gaps`."""
    if not len(centre):
        return np.zeros(0), np.zeros(0), np.zeros((0, 3))
    start, way = (np.einsum("kji,kj->ki", rotation, np.broadcast_to(x, centre.shape)) for x in (p - centre, a))
    values: Any = _beside_box()(start.T, way.T, np.broadcast_to(half_sizes, centre.shape).T).full()
    return values[0] - r, values[1], np.einsum("kij,jk->ki", rotation, values[2:])


@cache
def _beside_box() -> ca.Function:
    """(start, way, half_sizes) → gap of a segment in the frame of a box, share of the way, and normal."""
    start, way = ca.SX.sym("start", 3), ca.SX.sym("way", 3)
    half_sizes: Any = ca.SX.sym("half_sizes", 3)
    length = ca.sqrt(ca.dot(way, way) + 1e-30)
    segment = Rounded(-1, [start, start + way], 0.0, length, way / length)
    pair = closest(segment, PlacedBox(-1, ca.DM.eye(3), ca.DM.zeros(3, 1), half_sizes))
    share = ca.dot(pair.of_first[0].place - start, way) / (length * length)
    return ca.Function("beside_box", [start, way, half_sizes], [ca.vertcat(pair.gap, share, pair.normal)])


def configurations(tree: Tree, lower: Array, upper: Array, count: int, seed: int) -> Array:
    """Configurations (N × nq) spread evenly within limits of q.

    A joint without limits turns once about, or moves 1 m either way; a free-flyer, springs, and modes without limits
    stay at rest.
    """
    rng = np.random.default_rng(seed)
    v, q = rng.uniform(-1, 1, (count, tree.nv)), np.zeros((count, tree.nq))
    for joint in tree.independent_joints:
        still = joint.type.is_free or joint.type.is_modal or joint.type.springs_at is not None
        v[:, joint.columns] *= 0 if still else np.pi if joint.type.can_rotate else 1
    q = reached(tree, v)
    for joint in tree.independent_joints:
        if joint.type.velocity_is_rate:
            for k in range(joint.idx_q, joint.idx_q + joint.type.nq):
                if np.isfinite(upper[k] - lower[k]) and upper[k] - lower[k] < 1e6:
                    q[:, k] = rng.uniform(lower[k], upper[k], count)
    return q
