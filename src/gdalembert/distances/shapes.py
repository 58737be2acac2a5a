"""Shapes: spheres, capsules, boxes and half-spaces, whose gaps have closed forms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError
from gdalembert.spatial.arguments import checked_transform, number, vector
from gdalembert.spatial.arrays import Array, ByValue, frozen
from gdalembert.spatial.brief import Brief


class Shape(ByValue, Brief, ABC):
    """A solid in a frame: that of a link, or of the universe for obstacles.

    ``sizes``: how many numbers each of its attributes has, where these can be inputs; none for a box.
    """

    sizes: ClassVar[dict[str, int]] = {}

    @property
    def numbers(self) -> Array:
        """Numbers of the shape as an input has them, attribute by attribute."""
        return np.concatenate([np.ravel(getattr(self, name)) for name in self.sizes])

    @abstractmethod
    def placed(self, rotation: Array, translation: Array) -> Any:
        """The same solid in a frame in which its own has this placement."""


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A ball.

    Args:
        centre: (3) [m]. ``radius``: [m].

    Raises:
        ArgumentTypeError, ArgumentError: if these are no such numbers, or the radius is not positive.
    """

    centre: Array
    radius: float
    sizes: ClassVar[dict[str, int]] = {"centre": 3, "radius": 1}

    def __init__(self, centre: npt.ArrayLike, radius: float) -> None:
        _set(self, centre=vector("Sphere: centre", centre, 3), radius=number("Sphere: radius", radius, "m"))

    def placed(self, rotation: Array, translation: Array) -> Sphere:
        return Sphere(rotation @ self.centre + translation, self.radius)


@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """A cylinder with a half-ball at each end: all that is within its radius of a segment.

    Args:
        a, b: the ends of the segment (3 each) [m]. ``radius``: [m].

    Raises:
        ArgumentTypeError, ArgumentError: if these are no such numbers, or the radius is not positive.
    """

    a: Array
    b: Array
    radius: float
    sizes: ClassVar[dict[str, int]] = {"a": 3, "b": 3, "radius": 1}

    def __init__(self, a: npt.ArrayLike, b: npt.ArrayLike, radius: float) -> None:
        ends = {name: vector(f"Capsule: {name}", x, 3) for name, x in (("a", a), ("b", b))}
        _set(self, **ends, radius=number("Capsule: radius", radius, "m"))

    def placed(self, rotation: Array, translation: Array) -> Capsule:
        return Capsule(rotation @ self.a + translation, rotation @ self.b + translation, self.radius)


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A cuboid.

    Args:
        placement: of its centre and axes (4 × 4, or a ``pin.SE3``). ``half_sizes``: along its axes (3) [m].

    Raises:
        ArgumentTypeError, ArgumentError: if these are no such numbers, or a half size is not positive.
    """

    placement: Array
    half_sizes: Array

    def __init__(self, placement: Any, half_sizes: npt.ArrayLike) -> None:
        matrix = getattr(placement, "homogeneous", placement)
        sizes = vector("Box: half_sizes", half_sizes, 3)
        if (sizes <= 0).any():
            raise ArgumentError(f"Box: half_sizes are {sizes}; give three positive numbers [m]")
        _set(self, placement=checked_transform("Box: placement", matrix, expected="a 4 × 4 matrix"), half_sizes=sizes)

    def placed(self, rotation: Array, translation: Array) -> Box:
        moved = np.eye(4)
        moved[:3, :3], moved[:3, 3] = rotation, translation
        return Box(moved @ self.placement, self.half_sizes)


@dataclass(frozen=True, eq=False)
class HalfSpace(Shape):
    """All points with normal · x ≤ offset, as a floor.

    Args:
        normal: out of the solid (3), of any length but 0, which is made 1. ``offset``: [m], of the normal of length 1.

    Raises:
        ArgumentTypeError, ArgumentError: if these are no such numbers.
    """

    normal: Array
    offset: float
    sizes: ClassVar[dict[str, int]] = {"normal": 3, "offset": 1}

    def __init__(self, normal: npt.ArrayLike, offset: float = 0.0) -> None:
        direction = vector("HalfSpace: normal", normal, 3)
        length = float(np.linalg.norm(direction))
        if not length:
            raise ArgumentError("HalfSpace: normal is zero; give the direction out of the solid")
        _set(self, normal=direction / length, offset=number("HalfSpace: offset", offset, "m", least=-np.inf))

    def placed(self, rotation: Array, translation: Array) -> HalfSpace:
        normal = rotation @ self.normal
        return HalfSpace(normal, self.offset + float(normal @ translation))


def _set(shape: Shape, **attributes: Any) -> None:
    for name, value in attributes.items():
        object.__setattr__(shape, name, frozen(value) if isinstance(value, np.ndarray) else value)
