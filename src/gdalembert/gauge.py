"""The choice of link frames: of the frames that a joint leaves free, those that make the most constants zero.

A joint that turns about z moves its link alike whichever point of the axis is the origin and wherever x points. And a
link need not take part in the turn: where no child stands at an angle to it, it may keep the axes of its joint, and its
constants turn instead of its motion.

The search takes candidates from the geometry (feet of common normals, projections of origins, common normals,
principal directions) and finds the cheapest combination over the whole tree by dynamic programming, from the tips to
the base. Cost is what ``inverse_dynamics`` of Newton–Euler spends on the constants that are not zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gdalembert.tree import Array

# Operations of inverse_dynamics for each number that is not zero ...
_COORDINATE = 10  # of h or p: x in U x, and in x × f
_PASSED = 2  # p once more, for each link further out that other Functions pass over it
_PRODUCT = 7  # J_xy, J_xz, J_yz in the moment of U J
_MOMENT = 4  # J_xx, J_yy
# ... and for turning: five vectors go from link to link, ω, U z, ẍ, f, n.
_VECTORS = 5
_TURN = 6  # two components by an angle
_OFFSET = 1  # q + angle

_MOST_CANDIDATES = 40


@dataclass(frozen=True)
class Gauge:
    """A frame in a link: its origin at ``slide`` on z, turned about z by ``angle``."""

    slide: float = 0.0
    angle: float = 0.0
    keeps: bool = False

    @property
    def frame(self) -> Array:
        """4 × 4; exactly the identity for nothing."""
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, self.slide], [0, 0, 0, 1]])

    @property
    def inverse(self) -> Array:
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.array([[c, s, 0, 0], [-s, c, 0, 0], [0, 0, 1, -self.slide], [0, 0, 0, 1]])


AS_GIVEN = Gauge()


@dataclass(frozen=True)
class Link:
    """What the search knows of a joint and its link, z on the axis."""

    parent: int
    placement: Array  # of the joint frame in the parent's link frame, 4 × 4
    body: Array  # pseudo-inertia, 4 × 4
    turns: bool  # about z

    @property
    def parallel(self) -> bool:
        """Whether z is the parent's z."""
        return not self.placement[:2, 2].any() and bool(self.placement[2, 2] > 0)


def without_rounding(left: Array, middle: Array, right: Array) -> Array:
    """left @ middle @ right, with zero in place of what is smaller than its own rounding error."""
    bound = 8 * np.finfo(float).eps * (np.abs(left) @ np.abs(middle) @ np.abs(right))
    value = left @ middle @ right
    return np.where(np.abs(value) <= bound, 0.0, value)


def placed(parent: Gauge, placement: Array, own: Gauge) -> tuple[Array, float]:
    """The placement between two gauges, and the angle that q takes over from it.

    Of the rotation R = F Rz(angle) the rest F has x on the common normal of both axes, if that makes more of it zero.
    """
    p = without_rounding(parent.inverse, placement, own.frame)
    r = p[:3, :3]
    if np.count_nonzero(r) == 3:
        return p, 0.0
    z = r[:, 2]
    x = np.array([1.0, 0, 0]) if not z[:2].any() else np.array([-z[1], z[0], 0]) / np.hypot(z[0], z[1])
    f = np.column_stack([x, np.cross(z, x), z])
    turn = f.T @ r
    return np.block([[f, p[:3, 3:]], [p[3:]]]), float(np.arctan2(turn[1, 0], turn[0, 0]))


def choose(links: Sequence[Link]) -> list[Gauge]:
    """The cheapest gauge of each link, parents before children."""
    children: list[list[int]] = [[] for _ in links]
    outward = [1] * len(links)  # how many links a subtree has
    for i, link in reversed(list(enumerate(links))):
        if link.parent >= 0:
            children[link.parent].insert(0, i)
            outward[link.parent] += outward[i]
    feet = _feet(links, children)
    candidates = []
    for i, link in enumerate(links):
        if not link.turns:
            candidates.append([AS_GIVEN])
        else:
            candidates.append(_candidates(link, [links[c] for c in children[i]], [0.0, *feet[i]]))
    totals: list[list[float]] = [[] for _ in links]
    picks: list[list[int]] = [[] for _ in links]  # of link i: its best candidate for each of its parent's
    for i in reversed(range(len(links))):
        link = links[i]
        own = [
            _link_cost(link, gauge) + sum(totals[c][k] for c in children[i]) for k, gauge in enumerate(candidates[i])
        ]
        above = candidates[link.parent] if link.parent >= 0 else [AS_GIVEN]
        for parent in above:
            costs = [
                cost + _placement_cost(link, outward[i], parent, gauge)
                for cost, gauge in zip(own, candidates[i], strict=True)
            ]
            best = int(np.argmin(costs))
            picks[i].append(best)
            totals[i].append(costs[best])
    chosen: list[int] = []
    for i, link in enumerate(links):
        chosen.append(picks[i][chosen[link.parent] if link.parent >= 0 else 0])
    return [candidates[i][k] for i, k in enumerate(chosen)]


def _feet(links: Sequence[Link], children: list[list[int]]) -> list[list[float]]:
    """Where on each axis the neighbouring origins project to, and the common normals with the children's axes end."""
    feet: list[list[float]] = []
    for link, below in zip(links, children, strict=True):
        here = [0.0] if link.parent < 0 else [0.0, -float(link.placement[:3, 2] @ link.placement[:3, 3])]
        for child in (links[c] for c in below):
            z, p = child.placement[:3, 2], child.placement[:3, 3]
            across = 1 - z[2] ** 2
            here = [*([float(p[2] - z[2] * (z[:2] @ p[:2]) / across)] if across else []), *here, float(p[2])]
        feet.append(here)
    parallel = [
        (i, link.parent, link.placement[2, 3]) for i, link in enumerate(links) if link.parent >= 0 and link.parallel
    ]
    for i, parent, height in reversed(parallel):
        feet[parent] += [foot + height for foot in feet[i]]
    for i, parent, height in parallel:
        feet[i] += [foot - height for foot in feet[parent]]
    return feet


def _candidates(link: Link, children: Sequence[Link], slides: Sequence[float]) -> list[Gauge]:
    """Gauges of a link that turns; those with these slides, and others that make a product of inertia zero."""
    keeps = all(child.turns and child.parallel for child in children)
    angles = [0.0]
    for child in children:
        z, p = child.placement[:3, 2], child.placement[:3, 3]
        x, y = (p[0], p[1]) if child.parallel else (-z[1], z[0])
        angles.append(np.arctan2(y, x))
    if keeps:
        j = link.body
        angles += [np.arctan2(j[1, 3], j[0, 3]), np.arctan2(2 * j[0, 1], j[0, 0] - j[1, 1]) / 2]
    gauges = []
    for angle in _distinct((angle + np.pi / 4) % (np.pi / 2) - np.pi / 4 for angle in angles):  # to a quarter turn
        inverse = Gauge(0, angle).inverse
        body = without_rounding(inverse, link.body, inverse.T)
        at_product = [body[k, 2] / body[k, 3] for k in (0, 1) if body[k, 3] != 0] if len(slides) > 1 else []
        gauges += [Gauge(slide, angle, keeps) for slide in _distinct([*slides, *at_product])]
    return gauges[:_MOST_CANDIDATES]


def _distinct(values: Iterable[float]) -> list[float]:
    kept: list[float] = []
    for value in values:
        if all(abs(value - other) > 1e-9 for other in kept):
            kept.append(float(value))
    return kept


def _turned(x: float, y: float) -> tuple[int, int]:
    """How many of two components are not zero after a turn, and the operations of the turn."""
    given = (x != 0) + (y != 0)
    return (2, 6 if given == 2 else 2) if given else (0, 0)


def _link_cost(link: Link, gauge: Gauge) -> float:
    if link.parent < 0 and link.turns:  # only its moment about a fixed axis is asked for
        return 0.0
    j = without_rounding(gauge.inverse, link.body, gauge.inverse.T)
    if not gauge.keeps:
        coordinates = np.count_nonzero(j[:3, 3])
        products = np.count_nonzero([j[0, 1], j[0, 2], j[1, 2]])
        return _COORDINATE * coordinates + _PRODUCT * products + _MOMENT * np.count_nonzero(j[[0, 1], [0, 1]])
    coordinates, turning = _turned(j[0, 3], j[1, 3])
    products, more = _turned(j[0, 2], j[1, 2])
    in_plane = 0 if j[0, 1] == 0 and j[0, 0] == j[1, 1] else (8 if j[0, 1] else 5)
    products += in_plane > 0
    return _COORDINATE * coordinates + _PRODUCT * products + 2 * _MOMENT + turning + more + in_plane


def _placement_cost(link: Link, outward: int, parent: Gauge, own: Gauge) -> float:
    if link.parent < 0:
        return 0.0
    placement, angle = placed(parent, link.placement, own)
    p, r = placement[:3, 3], placement[:3, :3]
    numbers = np.count_nonzero(np.abs(r) != np.round(np.abs(r)))
    rotation = {0: 0, 4: _TURN}.get(int(numbers), 15)
    cost = _VECTORS * (rotation + (0 if own.keeps or not link.turns else _TURN)) + _OFFSET * (angle != 0)
    coordinate = _COORDINATE + _PASSED * outward
    if not parent.keeps:
        return cost + coordinate * np.count_nonzero(p)
    across, turning = _turned(p[0], p[1])
    return cost + turning + _TURN + coordinate * (across + (p[2] != 0))
