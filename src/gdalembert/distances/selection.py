"""Which covers and which pairs of a robot pay."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import coal
import numpy as np

from gdalembert.distances.placed import Body
from gdalembert.distances.shapes import *


class Selection(NamedTuple):
    rows: list[tuple[Body, Body]]
    bodies: list[Body]


def exact_shape(item: Any) -> Shape | None:
    solid, r, x = item.geometry, item.placement.rotation, item.placement.translation
    if isinstance(solid, coal.Sphere):
        return Sphere(x, solid.radius)
    if isinstance(solid, coal.Capsule):
        return Capsule(x - r[:, 2] * solid.halfLength, x + r[:, 2] * solid.halfLength, solid.radius)
    if isinstance(solid, coal.Box):
        return Box(item.placement, np.ravel(solid.halfSide))
    if isinstance(solid, coal.Halfspace):
        return HalfSpace(solid.n, solid.d).placed(r, x)
    return None


def select(tree: Any, items: Any, pairs: Any, *, bounds: Any) -> Selection:
    bodies = {name: Body(name, link, exact_shape(item)) for name, link, item in items}
    if pairs is None:
        pairs = [(a, b) for a, b in combinations(bodies, 2) if bodies[a].link != bodies[b].link]
    return Selection([(bodies[a], bodies[b]) for a, b in pairs], [b for b in bodies.values() if b.link >= 0])
