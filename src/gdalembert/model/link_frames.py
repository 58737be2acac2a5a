"""The choice of link frames: a joint leaves part of its link frame free, and the choice makes many constants zero.

A joint that turns about z moves its link in the same way, whichever point of the axis is the origin and wherever x
points. A link whose children's axes are all parallel to its own may keep the axes of its joint: then its constants
turn, and what is passed from link to link does not.

The search takes candidates from the geometry (feet of common normals, projections of origins, common normals, principal
directions) and finds the cheapest combination over the whole tree by dynamic programming, from the tips to the base.
The cost counts what Newton–Euler spends on constants that are not zero. The number of candidates is limited, and with
it the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.model.inertia import transformed
from gdalembert.model.joints import JointType
from gdalembert.model.rounding import clean_product
from gdalembert.spatial.arrays import Array

# Operations of inverse_dynamics for a number that is not zero:
_COORDINATE = 10  # of h or p: in U x and in x × f
_PRODUCT = 7  # J_xy, J_xz, J_yz in the moment
_MOMENT = 4  # J_xx, J_yy in the moment
_OFFSET = 2  # q + angle
_VECTORS = 5  # ω, U z, ẍ, f, n go from link to link and are turned,
_TURN = 6  # two components of them,
_ROTATION = 15  # or three, by nine numbers
_PASSED = 2  # p in the other Functions, for each link further out

_MOST_CANDIDATES = 12
_REACH = 4.0  # how far an origin may slide, in lengths that are there; far away, digits are lost


@dataclass(frozen=True)
class LinkGeometry:
    """The geometry of a link for the search: z of its frame is the axis of its joint."""

    parent: int  # index of the parent, −1 for the universe
    type: JointType
    placement: Array  # of the joint frame in the parent's link frame, 4 × 4
    body: Any  # pseudo-inertia, 4 × 4: an array, or an SX

    frame: Array = field(default_factory=lambda: np.eye(4))  # of all this, in the link frame as given, 4 × 4
    is_known: bool = True

    def with_generic_body(self) -> LinkGeometry:
        """The link with numbers that are zero where its body is, if that consists of symbols."""
        if not isinstance(self.body, ca.SX):
            return self
        symbols = ca.symvar(self.body)
        values = [ca.SX(float(np.sqrt(2 + k))) for k in range(len(symbols))]
        (body,) = ca.substitute([self.body], symbols, values)
        return replace(self, body=ca.evalf(body).full(), is_known=not symbols)

    @property
    def turns(self) -> bool:
        """True if the joint is revolute, so that any point of the axis can be the origin."""
        return self.type.is_revolute

    @property
    def parallel(self) -> bool:
        """True if z is the parent's z."""
        return not self.placement[:2, 2].any() and bool(self.placement[2, 2] > 0)


@dataclass(frozen=True)
class LinkFrame:
    """A frame in a link, its origin at ``slide`` on z, turned about z by ``angle``; and whether the link keeps the axes
    of its joint."""

    slide: float = 0.0
    angle: float = 0.0
    keeps_joint_axes: bool = False

    @property
    def matrix(self) -> Array:
        """The frame in the link (4 × 4)."""
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, self.slide], [0, 0, 0, 1]])

    @property
    def inverse(self) -> Array:
        """The link in the frame, 4 × 4."""
        return LinkFrame(-self.slide, -self.angle).matrix

    def body(self, link: LinkGeometry) -> Any:
        """The pseudo-inertia of a link in this frame."""
        return transformed(self.inverse, link.body)


AS_GIVEN = LinkFrame()


def placed(parent: LinkFrame, link: LinkGeometry, frame: LinkFrame) -> tuple[Array, float]:
    """The placement of a joint between two frames (4 × 4), and the offset of q.

    A rotation R = F Rz(angle) is split where that makes more of F zero: x of F is the common normal of both axes.
    """
    placement = clean_product(parent.inverse, link.placement, frame.matrix)
    r = placement[:3, :3]
    if not link.turns or np.count_nonzero(r) == 3:
        return placement, 0.0
    z = r[:, 2]
    x = np.array([-z[1], z[0], 0]) / np.hypot(z[0], z[1]) if z[:2].any() else np.array([1.0, 0, 0])
    fixed = np.column_stack([x, np.cross(z, x), z])
    turn = fixed.T @ r
    placement[:3, :3] = fixed
    return placement, float(np.arctan2(turn[1, 0], turn[0, 0]))


def choose(links: Sequence[LinkGeometry], *, keep_axes: bool = True) -> list[LinkFrame]:
    """The frame of each link in the cheapest combination; links come after their parents, and may keep their axes."""
    links = [link.with_generic_body() for link in links]
    children: list[list[int]] = [[] for _ in links]
    outward = [1] * len(links)  # links in each subtree
    for i, link in reversed(list(enumerate(links))):
        if link.parent >= 0:
            children[link.parent].insert(0, i)
            outward[link.parent] += outward[i]
    feet = _feet(links, children)
    candidates = [
        _candidates(link, [links[c] for c in children[i]], feet[i], keep_axes) if link.turns else [AS_GIVEN]
        for i, link in enumerate(links)
    ]

    # From the tips on: the best of each link depends on its parent alone, where all combinations are 12 to the n.
    best: list[list[int]] = [[] for _ in links]  # of each link for every candidate of its parent
    cost: list[list[float]] = [[] for _ in links]
    for i, link in reversed(list(enumerate(links))):
        frames = candidates[i]
        subtree = [_body_cost(link, frame) + sum(cost[c][k] for c in children[i]) for k, frame in enumerate(frames)]
        for above in candidates[link.parent] if link.parent >= 0 else [AS_GIVEN]:
            coordinate = _COORDINATE + _PASSED * outward[i]
            options = zip(subtree, frames, strict=True)
            totals = [outer + _placement_cost(link, coordinate, above, frame) for outer, frame in options]
            best[i].append(totals.index(min(totals)))
            cost[i].append(min(totals))

    chosen: list[int] = []
    for i, link in enumerate(links):
        chosen.append(best[i][chosen[link.parent] if link.parent >= 0 else 0])
    return [candidates[i][k] for i, k in enumerate(chosen)]


def _feet(links: Sequence[LinkGeometry], children: list[list[int]]) -> list[list[float]]:
    """Feet on each axis: of neighbouring origins, and of the common normals with children's axes."""
    feet: list[list[float]] = []
    for link, below in zip(links, children, strict=True):
        here = [0.0, -float(link.placement[:3, 2] @ link.placement[:3, 3])]
        for placement in (links[c].placement for c in below):
            z, p = placement[:3, 2], placement[:3, 3]
            here.append(float(p[2]))
            if z[:2].any():
                here.append(float(p[2] - z[2] * (z[:2] @ p[:2]) / (z[:2] @ z[:2])))
        feet.append(here)
    steps = [(i, link.parent, float(link.placement[2, 3])) for i, link in enumerate(links) if link.parent >= 0]
    parallel = [step for step in steps if links[step[0]].parallel]
    for i, parent, height in reversed(parallel):
        feet[parent] = _nearest([*feet[parent], *(foot + height for foot in feet[i])])
    for i, parent, height in parallel:
        feet[i] = _nearest([*feet[i], *(foot - height for foot in feet[parent])])
    return feet


def _nearest(feet: Sequence[float]) -> list[float]:
    """Points nearest to the origin, each once."""
    return sorted(_distinct(feet), key=abs)[:_MOST_CANDIDATES]


def _candidates(
    link: LinkGeometry, children: Sequence[LinkGeometry], feet: Sequence[float], keep_axes: bool = True
) -> list[LinkFrame]:
    """Candidate frames of a link that turns: origins at the feet, or where a product of inertia is zero."""
    keeps = keep_axes and all(child.turns and child.parallel for child in children)
    angles = [0.0]
    for child in children:
        z, p = child.placement[:3, 2], child.placement[:3, 3]
        angles.append(np.arctan2(p[1], p[0]) if child.parallel else np.arctan2(z[0], -z[1]))
    if keeps and link.is_known:
        j = link.body
        angles += [np.arctan2(j[1, 3], j[0, 3]), np.arctan2(2 * j[0, 1], j[0, 0] - j[1, 1]) / 2]
    reach = _REACH * max(float(np.abs(x.placement[:3, 3]).max()) for x in (link, *children))
    frames = []
    for angle in _distinct(map(_to_a_quarter_turn, angles)):
        body = LinkFrame(angle=angle).body(link)
        slides = _distinct([*feet, *(body[k, 2] / body[k, 3] for k in (0, 1) if link.is_known and body[k, 3])])
        frames += [LinkFrame(slide, angle, keeps) for slide in slides if abs(slide) <= reach]
    return frames[:_MOST_CANDIDATES]


def _to_a_quarter_turn(angle: float) -> float:
    """The angle without quarter turns, from −π/4 to π/4; a small one keeps its digits."""
    return float(angle - np.pi / 2 * np.floor((angle + np.pi / 4) / (np.pi / 2)))


def _body_cost(link: LinkGeometry, frame: LinkFrame) -> float:
    if link.parent < 0 and link.turns:  # only its moment about a fixed axis is asked for
        return 0.0
    j = frame.body(link)
    if not frame.keeps_joint_axes:
        products = np.count_nonzero([j[0, 1], j[0, 2], j[1, 2]])
        moments = np.count_nonzero([j[0, 0], j[1, 1]])
        return float(_COORDINATE * np.count_nonzero(j[:3, 3]) + _PRODUCT * products + _MOMENT * moments)
    in_plane = 0 if j[0, 0] == j[1, 1] and not j[0, 1] else 5 if not j[0, 1] else 8
    across = _COORDINATE * _after_turn(j[:2, 3]) + _PRODUCT * _after_turn(j[:2, 2])
    turning = _to_turn(j[:2, 3]) + _to_turn(j[:2, 2]) + in_plane
    return across + _PRODUCT * (in_plane > 0) + 2 * _MOMENT + turning


def _placement_cost(link: LinkGeometry, coordinate: float, parent: LinkFrame, frame: LinkFrame) -> float:
    if link.parent < 0:  # nothing is passed on
        return 0.0
    placement, angle = placed(parent, link, frame)
    r, p = np.abs(placement[:3, :3]), placement[:3, 3]
    slanted = np.count_nonzero(r != np.round(r))
    rotation = 0 if slanted == 0 else _TURN if slanted == 4 else _ROTATION
    turn = _TURN if link.turns and not frame.keeps_joint_axes else 0
    cost = _VECTORS * (rotation + turn) + _OFFSET * (angle != 0)
    if not parent.keeps_joint_axes:
        return float(cost + coordinate * np.count_nonzero(p))
    sum_of_angles = _TURN
    return cost + sum_of_angles + _to_turn(p[:2]) + coordinate * (_after_turn(p[:2]) + bool(p[2]))


def _to_turn(pair: Array) -> int:
    """Operations that turn two constants."""
    return (0, 2, 6)[np.count_nonzero(pair)]


def _after_turn(pair: Array) -> int:
    """The number of two constants that are not zero after a turn."""
    return 2 if pair.any() else 0


def _distinct(values: Iterable[float]) -> list[float]:
    kept: list[float] = []
    for value in values:
        if all(abs(value - other) > 1e-9 for other in kept):
            kept.append(float(value))
    return kept
