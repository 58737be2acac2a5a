"""Composite bodies: the mass of a subtree that is locked in its pose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.links import Rotation
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class Composite:
    """A body, or a subtree locked in its pose: m, h = Σ m x and J = Σ m x xᵀ about an origin, in its axes."""

    mass: Matrix
    first: Matrix
    second: Matrix

    def __iter__(self) -> Iterator[Matrix]:
        return iter((self.mass, self.first, self.second))

    def __add__(self, other: Composite) -> Composite:
        return Composite(self.mass + other.mass, self.first + other.first, self.second + other.second)

    def turned(self, r: Rotation) -> Composite:
        """A rotation into other axes, R x for x."""
        return Composite(self.mass, r @ self.first, r.conjugate(self.second))

    def to_parent(self, r: Rotation, p: Matrix) -> Composite:
        """The masses, given in a frame placed at (R, p), in the axes and about the origin that it is placed in."""
        return self.turned(r).shifted(p)

    def shifted(self, p: Matrix) -> Composite:
        """The masses about a point from which the origin is seen at p."""
        first = self.first + self.mass * p
        second = self.second + self.first @ p.T + p @ first.T
        return Composite(self.mass, first, spatial.symmetric(second))

    def carried(self, motion: Motion) -> Composite:
        """The rates of m, h and J as a twist carries the subtree along, about a point that stands still."""
        first = self.mass * motion.linear + ca.cross(motion.angular, self.first)
        half = spatial.skew(motion.angular) @ self.second + motion.linear @ self.first.T
        return Composite(ca.DM(1, 1), first, spatial.symmetric(half + half.T))

    def wrench(self, e: Motion) -> Wrench:
        """The wrench that columns e, or other fields e.linear + e.angular × x, need in the subtree."""
        h = spatial.skew(self.first)
        return Wrench(self.mass * e.linear - h @ e.angular, h @ e.linear + spatial.inertia_of(self.second) @ e.angular)


MASSLESS = Composite(ca.DM(1, 1), _NULL, ca.DM(3, 3))


def nothing(columns: int = 1) -> Wrench:
    """Wrenches that are zero (3 × n each)."""
    return Wrench(ca.DM(3, columns), ca.DM(3, columns))
