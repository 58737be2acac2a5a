"""Motions (linear; angular) and wrenches (force; moment), and how they are seen from another frame.

A frame placed at (R, p) has the axes R and the origin p, in the axes and from the origin that it is placed in.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.spatial.algebra import Matrix


@dataclass(frozen=True)
class Motion:
    """A twist or its rate, (linear; angular): 3 each, or 3 × n for n of them side by side."""

    linear: Matrix
    angular: Matrix

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: Motion) -> Motion:
        return Motion(self.linear - other.linear, self.angular - other.angular)

    def __neg__(self) -> Motion:
        return Motion(-self.linear, -self.angular)

    def times(self, x: Matrix) -> Motion:
        """The sum of these, 3 × n, each times its entry of x (n)."""
        return Motion(self.linear @ x, self.angular @ x)

    def cross(self, other: Motion) -> Motion:
        """The rate of ``other`` carried along by this twist."""
        turning = spatial.skew(self.angular)
        return Motion(
            turning @ other.linear + spatial.skew(self.linear) @ other.angular,
            turning @ other.angular,
        )

    def carry(self, wrench: Wrench) -> Wrench:
        """The rate of a wrench (3 and 3) carried along by each of these twists."""
        force, moment = spatial.skew(wrench.force), spatial.skew(wrench.moment)
        return Wrench(-force @ self.angular, -moment @ self.angular - force @ self.linear)

    def about(self, p: Matrix) -> Motion:
        """The motion of the point p, in the same axes."""
        return Motion(self.linear - spatial.skew(p) @ self.angular, self.angular)

    def turned(self, r: Matrix) -> Motion:
        """Vectors in other axes, R x for x."""
        return Motion(r @ self.linear, r @ self.angular)

    def seen_from(self, r: Matrix, p: Matrix) -> Motion:
        """Vectors in the axes and about the origin of a frame placed at (R, p)."""
        return self.about(p).turned(r.T)

    def to_parent(self, r: Matrix, p: Matrix) -> Motion:
        """Vectors, given in a frame placed at (R, p), in the axes and about the origin that it is placed in."""
        return self.turned(r).about(-p)

    @property
    def vector(self) -> Matrix:
        """6, or 6 × n: linear first."""
        return ca.vertcat(self.linear, self.angular)


@dataclass(frozen=True)
class Wrench:
    """Force and moment about the origin of the axes that both are given in: 3 each, or 3 × n for n of them."""

    force: Matrix
    moment: Matrix

    def __add__(self, other: Wrench) -> Wrench:
        return Wrench(self.force + other.force, self.moment + other.moment)

    def __sub__(self, other: Wrench) -> Wrench:
        return Wrench(self.force - other.force, self.moment - other.moment)

    def __neg__(self) -> Wrench:
        return Wrench(-self.force, -self.moment)

    @property
    def vector(self) -> Matrix:
        """6, or 6 × n: force first."""
        return ca.vertcat(self.force, self.moment)

    def times(self, x: Matrix) -> Wrench:
        """The sums of these, 3 × n, each times its entry of a column of x (n × m)."""
        return Wrench(self.force @ x, self.moment @ x)

    def about(self, p: Matrix) -> Wrench:
        """The wrench about the point p, in the same axes: m + f × p."""
        return Wrench(self.force, self.moment - spatial.skew(p) @ self.force)

    def turned(self, r: Matrix) -> Wrench:
        """Vectors in other axes, R x for x."""
        return Wrench(r @ self.force, r @ self.moment)

    def seen_from(self, r: Matrix, p: Matrix) -> Wrench:
        """Vectors in the axes and about the origin of a frame placed at (R, p)."""
        return self.about(p).turned(r.T)

    def to_parent(self, r: Matrix, p: Matrix) -> Wrench:
        """Vectors, given in a frame placed at (R, p), in the axes and about the origin that it is placed in."""
        return self.turned(r).about(-p)

    def work(self, linear: Matrix, angular: Matrix) -> Matrix:
        """Sᵀ (f; m), S = (linear; angular): the work on each motion of a joint."""
        return linear.T @ self.force + angular.T @ self.moment
