"""Rows that a type of constraint selects of the motion of a frame against another, in the axes of the second."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from gdalembert.dynamics.constraints.chains import Instant
from gdalembert.dynamics.constraints.constraint_types import Frame6D, Point3D, RowSelection
from gdalembert.dynamics.constraints.relative_motion import (
    FramePair,
    PointMotion,
    RelativeMotion,
    WorldAlignedMotion,
)
from gdalembert.errors import ArgumentError
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench


def motion_type(pair: FramePair) -> type[RelativeMotion]:
    """The relative motion of which the rows of a pair are."""
    if isinstance(pair.holds, Point3D):
        return PointMotion
    if isinstance(pair.holds, Frame6D):
        return WorldAlignedMotion if pair.holds.is_world_aligned else RelativeMotion
    return SelectedMotion


def residual(tree: Tree, pair: FramePair, q: Matrix) -> Matrix:
    """c of a pair, whose rate is E where c is 0.

    Raises:
        ArgumentError: if it is not known where the frame is held.
    """
    if not pair.is_anchored:
        raise ArgumentError(f"{pair.name} has no anchor, so that its residual is not known; take anchored(q)")
    return motion_type(pair).residual(pair, tree, q)


@dataclass(frozen=True)
class Selection:
    """Rows that a type selects, of twists in some axes about the origin of the first frame.

    Attributes:
        holds: what the constraint holds.
        axes: from those of the second frame to these (3 × 3).
        r, x: the first frame, seen from the second [m].
        unit: of lengths in these axes [m].
    """

    holds: RowSelection
    axes: Matrix
    r: Matrix
    x: Matrix
    unit: float = 1.0

    @property
    def rows(self) -> Matrix:
        """S (rows × 6), of twists in these axes."""
        return self._in_these_axes(self.holds.selection(self.r, self.x))

    def acceleration(self, first: Instant, second: Instant) -> Matrix:
        """Ė of both frames: S Ẇ + Ṡ W, the entries being those in the axes of the second frame."""
        e, turning = first.twist - second.twist, ca.DM(3, 1)
        rate = RelativeMotion.acceleration(first, second) + ca.vertcat(ca.cross(e.angular, e.linear), turning)
        seen = e.turned(self.axes.T)
        selection_rate = self.holds.selection_rate(self.r, self.x, self.unit * seen.linear, seen.angular)
        return self.rows @ rate + self._in_these_axes(selection_rate) @ e.vector

    def _in_these_axes(self, rows: Matrix) -> Matrix:
        return ca.horzcat(self.unit * (rows[:, :3] @ self.axes.T), rows[:, 3:] @ self.axes.T)


class SelectedMotion(RelativeMotion):
    """Rows of the motion of the first frame against the second, in the axes of the second."""

    is_in_common_link = True
    has_derivatives = False

    @staticmethod
    def type_of(pair: FramePair) -> RowSelection:
        """The type of a pair."""
        assert isinstance(pair.holds, RowSelection)
        return pair.holds

    @staticmethod
    def residual(pair: FramePair, tree: Tree, q: Matrix) -> Matrix:
        return SelectedMotion.type_of(pair).residual(*pair.first_in_second(tree, q))

    @staticmethod
    def wrenches(pair: FramePair, tree: Tree, q: Matrix, f: Matrix) -> tuple[Wrench, Wrench]:
        r, x = pair.first_in_second(tree, q)
        both = SelectedMotion.type_of(pair).selection(r, x).T @ f
        wrench = Wrench(both[:3], both[3:])
        return wrench.turned(r.T), (-wrench).about(-x)

    @cached_property
    def _selection(self) -> Selection:
        own = SelectedMotion.type_of(self.pair)
        return Selection(own, self.second_rotation, *self.pair.first_in_second(self.tree, self.q))

    @property
    def jacobian(self) -> Matrix:
        return self._selection.rows @ super().jacobian

    def bias(self, v: Matrix) -> Matrix:
        return self._selection.acceleration(*self.instants(v))

    def from_first_frame(self, x: Matrix) -> Matrix:
        return x

    def to_first_frame(self, x: Matrix) -> Matrix:
        return x
