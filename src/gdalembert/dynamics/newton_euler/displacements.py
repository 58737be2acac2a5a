"""Displacements of moving subtrees: fields on them, and what rises from the columns of an element.

The equations are those of :mod:`~gdalembert.dynamics.newton_euler.rnea_derivatives`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.composite import Composite
from gdalembert.dynamics.newton_euler.links import Aligned, LinkMotion, Rotation
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class CompositeRate:
    """r = Σ m ẋ and R = Σ m ẋ xᵀ of a moving subtree, in the axes of its root link."""

    first: Matrix
    second: Matrix

    def __iter__(self) -> Iterator[Matrix]:
        return iter((self.first, self.second))

    def __add__(self, other: CompositeRate) -> CompositeRate:
        return CompositeRate(self.first + other.first, self.second + other.second)

    def turned(self, r: Rotation) -> CompositeRate:
        """A rotation into other axes, R x for x."""
        return CompositeRate(r @ self.first, r.conjugate(self.second))

    def to_parent(self, r: Rotation, p: Matrix, body: Composite, p_rate: Matrix) -> CompositeRate:
        """The masses about an origin from which their own is seen at p and leaves at p_rate, R x for x."""
        turned = self.turned(r)
        shifted = r @ body.first + body.mass * p
        return CompositeRate(turned.first + body.mass * p_rate, turned.second + p_rate @ shifted.T + turned.first @ p.T)

    def wrench(self, carried: Matrix) -> Wrench:
        """The wrench that fields carried × ẋ need in the subtree."""
        return Wrench(-spatial.skew(self.first) @ carried, spatial.inertia_of(self.second) @ carried)

    def eta(self, e: Motion) -> Matrix:
        """η = Σ m ẋ × e of columns e."""
        return spatial.skew(self.first) @ e.linear + spatial.inertia_of(self.second.T) @ e.angular


AT_REST = CompositeRate(_NULL, ca.DM(3, 3))


@dataclass(frozen=True)
class Field:
    """linear + angular × x + carried × ẋ, 3 × k each for k fields side by side."""

    linear: Matrix
    angular: Matrix
    carried: Matrix

    def turned(self, r: Rotation) -> Field:
        """A rotation into other axes, R x for x."""
        return Field(r @ self.linear, r @ self.angular, r @ self.carried)

    def times(self, x: Matrix) -> Field:
        """The sums of these, each times its entry of a column of x."""
        return Field(self.linear @ x, self.angular @ x, self.carried @ x)

    def wrench(self, body: Composite, rate: CompositeRate) -> Wrench:
        """The wrench that the fields need in a subtree."""
        return body.wrench(Motion(self.linear, self.angular)) + rate.wrench(self.carried)

    def meet(self, column: Wrench, eta: Matrix) -> Matrix:
        """Σ m φ·e of the fields (rows) with columns e of a joint further out, from their wrench and η."""
        return self.linear.T @ column.force + self.angular.T @ column.moment + self.carried.T @ eta


@dataclass(frozen=True)
class Rates:
    """Columns with rates in the axes of what carries them, 3 × k each: (L; Ω), (L̇; Ω̇), (L̈; Ω̈)."""

    columns: Motion
    first: Motion
    second: Motion

    def rate(self, omega: Matrix, times: float = 1) -> Field:
        """e′ for so many times ẋ, for sums of as many times ẋ."""
        e, turning = self.columns, spatial.skew(omega)
        linear = spatial.skew(times * omega) @ e.linear + times * self.first.linear
        return Field(linear, times * (turning @ e.angular + self.first.angular), e.angular)

    def second_rate(self, omega: Matrix, spun: Callable[[Matrix], Matrix], point: Matrix) -> Field:
        """e″, for sums of twice ẋ, from ω and U x of the carrier, and p̈."""
        e, first, second, turning = self.columns, self.first, self.second, spatial.skew(2 * omega)
        return Field(
            spun(e.linear) + turning @ first.linear + second.linear + spatial.skew(point) @ e.angular,
            spun(e.angular) + turning @ first.angular + second.angular,
            self.rate(omega).angular,
        )


@dataclass(frozen=True)
class InwardColumns:
    """Wrenches and sums that an element passes on to the elements above."""

    fields: tuple[Wrench, ...]  # the wrenches that each field of theirs needs
    column: Wrench  # the wrenches that their columns need
    eta: Matrix  # η of their columns
    turning: Matrix  # what a turn of the element above adds to the torque of each column, by wrenches that do not turn

    def __add__(self, other: InwardColumns) -> InwardColumns:
        fields = tuple(one + two for one, two in zip(self.fields, other.fields, strict=True))
        return InwardColumns(fields, self.column + other.column, self.eta + other.eta, self.turning + other.turning)

    def turned(self, r: Rotation) -> InwardColumns:
        """A rotation into other axes, R x for x."""
        fields = tuple(wrench.turned(r) for wrench in self.fields)
        return InwardColumns(fields, self.column.turned(r), r @ self.eta, r @ self.turning)

    def shifted(self, p: Matrix, p_rate: Matrix) -> InwardColumns:
        """A shift to a point from which the origin is seen at p and leaves at p_rate."""
        fields = tuple(wrench.about(-p) for wrench in self.fields)
        eta = self.eta + spatial.skew(p_rate) @ self.column.force
        return InwardColumns(fields, self.column.about(-p), eta, self.turning)


@dataclass(frozen=True)
class Displacement:
    """A station displaced along its columns: the fields on its subtree, and how they turn the wrench W that it bears.

    Attributes:
        fields: ė, or ė + e′ and e″, 3 × k each.
        passed_on: what the turned wrench adds to that of the last field, for the elements above.
        transmitted: what it adds to the force of that wrench, for the coordinates themselves.
        turning: what a turn of the element above adds to the torque of each column, as in InwardColumns.
        stiffness: what it adds to the diagonal block of the matrix of the last field (n × n).
    """

    fields: tuple[Field, ...]
    passed_on: Wrench
    transmitted: Matrix
    turning: Matrix
    stiffness: Matrix


@dataclass(frozen=True)
class InMotion:
    """An element in motion, and what its stations bear: wrenches that turn with them, and those that do not.

    Attributes:
        carrier: the motion of its carrier. ``stations``: of its stations. ``v``, ``a``: of the robot.
        borne: on each station, in its axes. ``aligned``: on each station, in the axes before its turn.
        times: 1 for the fields ė and sums of ẋ, which C is made of; 2 for ė + e′ and e″, and sums of twice ẋ.
    """

    carrier: LinkMotion
    stations: Sequence[LinkMotion]
    v: Matrix
    a: Matrix
    borne: Sequence[Wrench]
    aligned: Sequence[Sequence[Aligned]]
    times: int


def pushed_by(e: Motion, aligned: Sequence[Aligned]) -> tuple[Wrench, Matrix]:
    """The moments Σ δx × f of columns e, and η = Σ m × angular − δx × f (3 × k each), of wrenches that do not turn.

    As joint i moves the points x_k of a joint j at or below it, or above it,

        ∂tau_j/∂q_i = … + angular_i·η_j          ∂tau_i/∂q_j = … − angular_i·Σ δx × f
    """
    pushed = turning = ca.DM(*e.angular.shape)
    for each in aligned:
        carried = -spatial.skew(each.wrench.force) @ (e.linear - spatial.skew(each.lever) @ e.angular)
        pushed = pushed + carried
        turning = turning - carried + spatial.skew(each.wrench.moment) @ e.angular
    return Wrench(ca.DM(*pushed.shape), pushed), turning


def under(aligned: Sequence[Aligned], wrench: Wrench) -> Wrench:
    """The wrench that a subtree needs, under wrenches that do not turn as well."""
    for lever, other in aligned:
        wrench = wrench - other.about(-lever)
    return wrench
