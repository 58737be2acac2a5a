"""Motions (linear; angular) and wrenches (force; moment), and how they are seen from another frame.

A frame placed at (R, p) has the axes R and the origin p, in the axes and from the origin that it is placed in.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import casadi as ca

from gdalembert.spatial.algebra import Matrix, skew


class _Pair:
    """Two vectors, 3 each, or 3 × n for n of them side by side."""

    def __iter__(self) -> Iterator[Matrix]:
        return iter(vars(self).values())

    def __add__(self, other: Self) -> Self:
        return type(self)(*(x + y for x, y in zip(self, other, strict=True)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(*(x - y for x, y in zip(self, other, strict=True)))

    def __neg__(self) -> Self:
        return type(self)(*(-x for x in self))

    def times(self, weights: Matrix) -> Self:
        """The sums of these, 3 × n, each times its entry of a column of weights (n × m)."""
        return type(self)(*(x @ weights for x in self))

    def turned(self, r: Matrix) -> Self:
        """Vectors in other axes, R x for x."""
        return type(self)(*(r @ x for x in self))

    @abstractmethod
    def about(self, p: Matrix) -> Self:
        """The motion of the point p, or the wrench about it, in the same axes."""

    def seen_from(self, r: Matrix, p: Matrix) -> Self:
        """Vectors in the axes and about the origin of a frame placed at (R, p)."""
        return self.about(p).turned(r.T)

    def to_parent(self, r: Matrix, p: Matrix) -> Self:
        """Vectors, given in a frame placed at (R, p), in the axes and about the origin that it is placed in."""
        return self.turned(r).about(-p)

    @property
    def vector(self) -> Matrix:
        """The stacked vectors, 6 or 6 × n: linear, or the force, first."""
        return ca.vertcat(*self)


@dataclass(frozen=True)
class Motion(_Pair):
    """A twist or its rate, (linear; angular)."""

    linear: Matrix
    angular: Matrix

    def cross(self, other: Motion) -> Motion:
        """The rate of ``other`` carried along by this twist."""
        turning = skew(self.angular)
        return Motion(turning @ other.linear + skew(self.linear) @ other.angular, turning @ other.angular)

    def carry(self, wrench: Wrench) -> Wrench:
        """The rate of a wrench (3 and 3) carried along by each of these twists."""
        force, moment = skew(wrench.force), skew(wrench.moment)
        return Wrench(-force @ self.angular, -moment @ self.angular - force @ self.linear)

    def carrying(self, wrenches: Wrench) -> Wrench:
        """The rates of wrenches (3 × n each) carried along by this twist."""
        turning, sliding = skew(self.angular), skew(self.linear)
        return Wrench(turning @ wrenches.force, turning @ wrenches.moment + sliding @ wrenches.force)

    def about(self, p: Matrix) -> Motion:
        return Motion(self.linear - skew(p) @ self.angular, self.angular)


@dataclass(frozen=True)
class Wrench(_Pair):
    """Force and moment about the origin of the axes that both are given in."""

    force: Matrix
    moment: Matrix

    def about(self, p: Matrix) -> Wrench:
        return Wrench(self.force, self.moment - skew(p) @ self.force)

    def work(self, linear: Matrix, angular: Matrix) -> Matrix:
        """The product Sᵀ (f; m), S = (linear; angular): the work on each motion of a joint."""
        return linear.T @ self.force + angular.T @ self.moment
