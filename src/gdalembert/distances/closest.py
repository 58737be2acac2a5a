"""Gaps between placed shapes, and where they are closest: closed forms, exact where the shapes are apart.

Points within a radius of a segment or of a point are *rounded* shapes: capsules and spheres. Two of them are closest
where their segments are (Ericson 2005, 5.1.9); a segment and a box where the convex function t → d(x(t), box)² has its
minimum (ours, :func:`_nearest_on_line`). A gap is negative where shapes overlap, and its size is there that of one
way out of the overlap, not always the shortest. With u the unit normal from the second shape to the first, and x, y the
points of both that are closest,

    d = u · (x − y) − r₁ − r₂        ∂d/∂q = u · (∂x/∂q − ∂y/∂q)

where x and y are points fixed in their bodies: that they move along the bodies does not count (the envelope theorem).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import casadi as ca

from gdalembert.spatial.algebra import Matrix

_TOUCHING = 1e-18
"""What is added to squares of distances [m²], so that the gap of axes that touch has a derivative, 0."""
_DEGENERATE = 1e-9
"""What is added to directions [m], so that those of no length divide nothing by 0; gaps change by its square."""


Deformation = Sequence[tuple[int, Matrix]]
"""Columns of v that move a point beside its carrier, as modes do, each with its velocity per unit (3)."""


class Material(NamedTuple):
    """A point of a body.

    Attributes:
        carrier: the link of the tree in which it is fixed, or −1.
        share: that in a point between several.
        place: in the universe. ``deformation``: what moves it in its carrier.
    """

    carrier: int
    share: Matrix
    place: Matrix
    deformation: Deformation = ()


class Rounded(NamedTuple):
    """All points within a radius of a point, or of the segment between two.

    Attributes:
        carrier: the link in which the ends are fixed, or move by their ``deformations``.
        length: between the ends [m], a number on a rigid link. ``direction``: to the second, of length 1.
    """

    carrier: int
    ends: Sequence[Matrix]
    radius: Matrix
    length: Matrix = 0.0
    direction: Matrix = 0.0
    deformations: Sequence[Deformation] = ()

    @property
    def is_point(self) -> bool:
        return len(self.ends) == 1

    def at(self, along: Matrix, place: Matrix) -> list[Material]:
        """The point between both ends, so far from the first [m]."""
        if not self.deformations:
            return [Material(self.carrier, 1.0, place)]
        shares = (1 - along / self.length, along / self.length)
        return [Material(self.carrier, *point) for point in zip(shares, self.ends, self.deformations, strict=True)]


class PlacedBox(NamedTuple):
    """A box: its axes as columns of a rotation, its centre, and its half sizes."""

    carrier: int
    rotation: Matrix
    centre: Matrix
    half_sizes: ca.DM


class PlacedHalfSpace(NamedTuple):
    """All points with normal · x ≤ offset."""

    carrier: int
    normal: Matrix
    offset: Matrix


Placed = Rounded | PlacedBox | PlacedHalfSpace


class Closest(NamedTuple):
    """The gap of two shapes, the unit normal from the second to the first, and the points of both that make it."""

    gap: Matrix
    normal: Matrix
    of_first: list[Material]
    of_second: list[Material]

    def swapped(self) -> Closest:
        return Closest(self.gap, -self.normal, self.of_second, self.of_first)


def closest(first: Placed, second: Placed) -> Closest:
    """Closest points of two shapes; two half-spaces have no gap."""
    if isinstance(first, Rounded):
        if isinstance(second, Rounded):
            return _of_rounded(first, second)
        return _to_box(first, second) if isinstance(second, PlacedBox) else _to_half_space(first, second)
    if isinstance(second, Rounded) or isinstance(first, PlacedHalfSpace):
        return closest(second, first).swapped()
    return _of_boxes(first, second) if isinstance(second, PlacedBox) else _box_to_half_space(first, second)


def on_surfaces(first: Placed, second: Placed, pair: Closest) -> tuple[Matrix, Matrix]:
    """The points of both surfaces that are closest; that of an axis is its radius away, along the normal."""
    if isinstance(first, Rounded) or (isinstance(first, PlacedBox) and not isinstance(second, Rounded)):
        on_first = _surface_point(first, pair.of_first, -pair.normal)
        return on_first, on_first - pair.gap * pair.normal
    on_second = _surface_point(second, pair.of_second, pair.normal)
    return on_second + pair.gap * pair.normal, on_second


def _surface_point(shape: Placed, points: list[Material], outwards: Matrix) -> Matrix:
    place = sum(point.share * point.place for point in points)
    return place + shape.radius * outwards if isinstance(shape, Rounded) else place


def _clamped(along: Matrix, length: Matrix) -> Matrix:
    return ca.fmin(length, ca.fmax(0, along))


def _of_rounded(first: Rounded, second: Rounded) -> Closest:
    apart = first.ends[0] - second.ends[0]
    s: Matrix = 0.0
    t: Matrix = 0.0
    if first.is_point and not second.is_point:
        t = _clamped(ca.dot(second.direction, apart), second.length)
    elif second.is_point and not first.is_point:
        s = _clamped(-ca.dot(first.direction, apart), first.length)
    elif not first.is_point:
        a, b = first.direction, second.direction
        ab, along_a, along_b = ca.dot(a, b), ca.dot(a, apart), ca.dot(b, apart)
        # parallel axes have 0 / 0 without the last term, and any s is right
        s = _clamped((ab * along_b - along_a) / (1 + 1e-12 - ab * ab), first.length)
        t = _clamped(ab * s + along_b, second.length)
        s = _clamped(ab * t - along_a, first.length)
    on_first, on_second = s * first.direction, t * second.direction
    x, y = first.ends[0] + on_first, second.ends[0] + on_second
    way = apart + on_first - on_second  # not x − y: gaps alone need neither
    distance = ca.sqrt(ca.dot(way, way) + _TOUCHING)
    return Closest(distance - (first.radius + second.radius), way / distance, first.at(s, x), second.at(t, y))


def _nearest_on_line(start: Matrix, direction: Matrix, half_sizes: Matrix) -> Matrix:
    """−t of the point start + t direction that is nearest to a box, in the axes of the box; direction has length 1.

    The squared distance is Σ d_i² dist(t, [lo_i, hi_i])², the i-th coordinate being within the box from lo_i to hi_i.
    If the intervals have no t in common, that which ends first (at H, weight w) and that which begins last (at L,
    weight w') are apart, the minimum lies between, and with the mean t₀ = (w H + w' L) / (w + w') of both

        t = Σ d_i² clamp(t₀, lo_i, hi_i)

    which is the minimum of all three: at the third interval either t₀ is within, or it pulls from its nearer end. If
    they have some t in common, t₀ is one of those. (Sorting the six ends takes 60 instructions more.)
    """
    lows, highs, weights = [], [], []
    for i in range(3):  # of −t, which takes two instructions less
        d = direction[i] + _DEGENERATE
        inverse = 1 / d
        middle, reach = start[i] * inverse, ca.fabs(half_sizes[i] * inverse)
        lows.append(middle - reach)
        highs.append(middle + reach)
        weights.append(d * d)
    (first, w), (last, of_last) = (
        _extreme(ends, weights, is_least) for ends, is_least in ((highs, True), (lows, False))
    )
    mean = (w * first + of_last * last) / (w + of_last)
    pulls = (x * ca.fmin(ca.fmax(mean, low), high) for x, low, high in zip(weights, lows, highs, strict=True))
    return sum(pulls)


def _extreme(values: Sequence[Matrix], weights: Sequence[Matrix], is_least: bool) -> tuple[Matrix, Matrix]:
    """The least or the largest of three values, and its weight; of equal ones, which pull together, the sum."""
    choose = ca.fmin if is_least else ca.fmax
    value = choose(choose(values[0], values[1]), values[2])
    return value, sum((x == value) * weight for x, weight in zip(values, weights, strict=True))


def _outside(point: Matrix, half_sizes: Matrix) -> tuple[Matrix, Matrix]:
    """The signed distance of a point from a box, in its axes, and its gradient."""
    beyond = ca.fabs(point) - half_sizes
    within = ca.fmin(beyond, 0)
    out = beyond - within  # not fmax(beyond, 0), which takes NaN for 0
    distance = ca.sqrt(ca.dot(out, out) + _TOUCHING)
    deepest = ca.fmax(ca.fmax(beyond[0], beyond[1]), beyond[2])
    gradient = ca.if_else(deepest > 0, out / distance, beyond >= deepest)
    return distance + ca.fmax(ca.fmax(within[0], within[1]), within[2]), ca.sign(point) * gradient


def _to_box(first: Rounded, box: PlacedBox) -> Closest:
    # of a box that stands, the product of each, since boxes that are turned alike share the first; of one that moves,
    # that takes 15 instructions more
    moves, x = box.carrier >= 0, first.ends[0]
    s: Matrix = 0.0
    start = box.rotation.T @ (x - box.centre) if moves else box.rotation.T @ x - box.rotation.T @ box.centre
    if not first.is_point:
        direction = box.rotation.T @ first.direction
        back = ca.fmax(-first.length, ca.fmin(0, _nearest_on_line(start, direction, box.half_sizes)))
        start, x, s = start - back * direction, x - back * first.direction, -back
    distance, gradient = _outside(start, box.half_sizes)
    return Closest(distance - first.radius, box.rotation @ gradient, first.at(s, x), [Material(box.carrier, 1.0, x)])


def _to_half_space(first: Rounded, solid: PlacedHalfSpace) -> Closest:
    heights = [ca.dot(solid.normal, end) for end in first.ends]
    height, x = heights[0], first.ends[0]
    s: Matrix = 0.0
    if not first.is_point:
        s = first.length * (heights[1] < heights[0])
        height, x = ca.fmin(*heights), x + s * first.direction
    gap = height - solid.offset - first.radius
    return Closest(gap, solid.normal, first.at(s, x), [Material(solid.carrier, 1.0, x)])


def _box_to_half_space(box: PlacedBox, solid: PlacedHalfSpace) -> Closest:
    normal = box.rotation.T @ solid.normal
    lowest = -ca.sign(normal) * box.half_sizes
    x = box.centre + box.rotation @ lowest
    gap = ca.dot(solid.normal, box.centre) + ca.dot(normal, lowest) - solid.offset
    return Closest(gap, solid.normal, [Material(box.carrier, 1.0, x)], [Material(solid.carrier, 1.0, x)])


def _of_boxes(first: PlacedBox, second: PlacedBox) -> Closest:
    """The nearest of the 24 edges of both to the other box: two boxes are closest, or overlap, at an edge of one.

    Both materials are at the point of the first box: along the normal they may be anywhere.
    """
    ways = [(way.gap, way.normal, way.of_first[0].place) for way in (_to_box(edge, second) for edge in _edges(first))]
    of_second = [_to_box(edge, first) for edge in _edges(second)]
    ways += [(way.gap, -way.normal, way.of_first[0].place - way.gap * way.normal) for way in of_second]
    gap, normal, place = ways[0]
    for other in ways[1:]:
        is_nearer = other[0] < gap
        gap = ca.fmin(other[0], gap)
        normal, place = ca.if_else(is_nearer, other[1], normal), ca.if_else(is_nearer, other[2], place)
    return Closest(gap, normal, *([Material(box.carrier, 1.0, place)] for box in (first, second)))


def _edges(box: PlacedBox) -> list[Rounded]:
    edges = []
    for axis, signs in product(range(3), product((-1.0, 1.0), repeat=2)):
        ends = []
        for sign in (-1.0, 1.0):
            corner = list(signs)
            corner.insert(axis, sign)
            ends.append(box.centre + box.rotation @ (ca.DM(corner) * box.half_sizes))
        edges.append(Rounded(box.carrier, ends, 0.0, 2 * box.half_sizes[axis], box.rotation[:, axis]))
    return edges
