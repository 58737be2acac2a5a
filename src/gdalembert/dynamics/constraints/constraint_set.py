"""The constraints of a robot together: residual, Jacobian, accelerations, and what stabilises them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.dynamics.constraints.constraint_types import Frame6D, Point3D, RowSelection
from gdalembert.dynamics.constraints.relative_motion import (
    FramePair,
    MotionAtPoint,
    PointMotion,
    RelativeMotion,
    WorldAlignedMotion,
)
from gdalembert.errors import ArgumentError
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.factorization import Factorization, dense_inverse
from gdalembert.spatial.spatial_vectors import Wrench


def motion_type(pair: FramePair) -> type[RelativeMotion]:
    """The relative motion of which the rows of a pair are."""
    if isinstance(pair.holds, Point3D):
        return PointMotion
    if isinstance(pair.holds, Frame6D):
        return WorldAlignedMotion if pair.holds.is_world_aligned else RelativeMotion
    return SelectedMotion


def residual(tree: Tree, pair: FramePair, q: Matrix) -> Matrix:
    """The residual c of a pair, whose rate is E where c is 0; refused where it is not known where the frame is held."""
    if not pair.is_anchored:
        raise ArgumentError(f"{pair.name} has no anchor, so that its residual is not known; take anchored(q)")
    return motion_type(pair).residual(pair, tree, q)


@dataclass(frozen=True)
class Selection:
    """ChosenRows that a type selects, of twists in some axes about the origin of the first frame."""

    holds: RowSelection
    second_to_axes: Matrix  # R (3 × 3), from the axes of the second frame to these
    r: Matrix  # R and x of the first frame, seen from the second [m]
    x: Matrix
    unit: float = 1.0  # of lengths in these axes [m]

    @property
    def rows(self) -> Matrix:
        """S (rows × 6), of twists in these axes."""
        return self._in_these_axes(self.holds.selection(self.r, self.x))

    def acceleration(self, first: MotionAtPoint, second: MotionAtPoint) -> Matrix:
        """Acceleration Ė = S Ẇ + Ṡ W of both frames, the entries being those in the axes of the second frame."""
        e, turning = first.twist - second.twist, ca.DM(3, 1)
        rate = RelativeMotion.acceleration(first, second) + ca.vertcat(ca.cross(e.angular, e.linear), turning)
        seen = e.turned(self.second_to_axes.T)
        selection_rate = self.holds.selection_rate(self.r, self.x, self.unit * seen.linear, seen.angular)
        return self.rows @ rate + self._in_these_axes(selection_rate) @ e.vector

    def _in_these_axes(self, rows: Matrix) -> Matrix:
        return ca.horzcat(self.unit * (rows[:, :3] @ self.second_to_axes.T), rows[:, 3:] @ self.second_to_axes.T)


class SelectedMotion(RelativeMotion):
    """ChosenRows of the motion of the first frame against the second, in the axes of the second."""

    is_in_common_link = True
    has_derivatives = False

    @staticmethod
    def type_of(pair: FramePair) -> RowSelection:
        """The type of constraint of a pair, one of selected rows."""
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
        motion_type = SelectedMotion.type_of(self.pair)
        return Selection(motion_type, self.second_to_common, *self.pair.first_in_second(self.tree, self.q))

    @property
    def jacobian(self) -> Matrix:
        return self._selection.rows @ super().jacobian

    def bias(self, v: Matrix) -> Matrix:
        return self._selection.acceleration(*self.instants(v))

    def from_first_frame(self, x: Matrix) -> Matrix:
        return x

    def to_first_frame(self, x: Matrix) -> Matrix:
        return x


@dataclass(frozen=True)
class ConstraintSet:
    """Constraints c(q) = 0 with rate E = J v, and the acceleration that is asked for instead of Ė = J a + J̇ v = 0:

        J a + J̇ v + damping E + stiffness c = 0                                       (Baumgarte 1972)

    ChosenRows of points and frames are in the axes of the first frame of each pair.
    """

    pairs: tuple[FramePair, ...]  # the frames that are held together
    stiffness: Array  # for each row [1/s²]
    damping: Array  # for each row [1/s]
    regularization: float  # μ of (J M⁻¹ Jᵀ + μ) f = …, for constraints that are redundant [1/kg, 1/(kg m²)]; 0 for none
    restitution: Array  # for each row, the part of its velocity that an impact gives back

    @property
    def rows(self) -> list[int]:
        """The number of scalar constraints of each pair."""
        return [pair.rows for pair in self.pairs]

    @property
    def is_holonomic(self) -> npt.NDArray[np.bool_]:
        """True for each row that is the rate of a residual."""
        return np.array([is_rate for pair in self.pairs for is_rate in pair.holds.is_holonomic], dtype=bool)

    @property
    def each(self) -> list[ConstraintSet]:
        """Each constraint alone."""
        if not self.pairs:
            return []
        ends = np.cumsum(self.rows)[:-1]
        gains = (np.split(x, ends) for x in (self.stiffness, self.damping, self.restitution))
        parts = zip(self.pairs, *gains, strict=True)
        return [ConstraintSet((pair,), k, d, self.regularization, e) for pair, k, d, e in parts]

    def split(self, x: Matrix) -> list[Matrix]:
        """The rows of each pair."""
        return list(ca.vertsplit(x, list(accumulate(self.rows, initial=0)))) if self.pairs else []

    def motions(self, tree: Tree, q: Matrix) -> list[RelativeMotion]:
        """The relative motion of each pair, in axes of its own."""
        return [motion_type(pair).of(tree, pair, q) for pair in self.pairs]

    def residual(self, tree: Tree, q: Matrix) -> Matrix:
        """The residual c (rows)."""
        return ca.vertcat(*(residual(tree, pair, q) for pair in self.pairs))

    def jacobian(self, tree: Tree, q: Matrix) -> Matrix:
        """The Jacobian J (rows × nv), in the axes of the first frames."""
        rows = (m.to_first_frame(m.jacobian) for m in self.motions(tree, q))
        return ca.vertcat(ca.DM(0, tree.nv), *rows)

    def bias_acceleration(self, tree: Tree, q: Matrix, v: Matrix) -> Matrix:
        """The acceleration J̇ v (rows) at a = 0."""
        return ca.vertcat(*(m.to_first_frame(m.bias(v)) for m in self.motions(tree, q)))

    def velocity(self, tree: Tree, q: Matrix, v: Matrix) -> Matrix:
        """The velocity E = J v (rows)."""
        return ca.vertcat(*(m.to_first_frame(m.jacobian @ v) for m in self.motions(tree, q)))

    def correction(self, tree: Tree, q: Matrix, v: Matrix) -> Matrix:
        """The correction damping E + stiffness c (rows), structurally zero where there is neither."""
        total: Matrix = ca.DM(sum(self.rows), 1)
        if self.damping.any():
            total = total + spatial.constant(self.damping) * self.velocity(tree, q, v)
        if self.stiffness.any():
            errors = (
                residual(tree, pair, q) if stiffness.nnz() else ca.DM(pair.rows, 1)
                for pair, stiffness in zip(self.pairs, self.split(spatial.constant(self.stiffness)), strict=True)
            )
            total = total + spatial.constant(self.stiffness) * ca.vertcat(*errors)
        return total

    def acceleration_error(self, tree: Tree, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        """The error J a + J̇ v + damping E + stiffness c (rows) of an acceleration a."""
        motions = self.motions(tree, q)
        rates = (m.to_first_frame(m.jacobian @ a + m.bias(v)) for m in motions)
        return ca.vertcat(*rates) + self.correction(tree, q, v)

    def wrenches(self, tree: Tree, q: Matrix, forces: Matrix) -> tuple[list[int], Matrix]:
        """The frames that the forces act on, and the wrench on each in its own axes (6 × n)."""
        frames, wrenches = [], []
        for pair, force in zip(self.pairs, self.split(forces), strict=True):
            both = zip(motion_type(pair).wrenches(pair, tree, q, force), pair.frames(tree), strict=True)
            for index, (wrench, frame) in zip((pair.first, pair.second), both, strict=True):
                if frame.joint >= 0:
                    frames.append(index)
                    wrenches.append(wrench)
        return frames, ca.horzcat(ca.DM(6, 0), *(wrench.vector for wrench in wrenches))

    def torques(self, tree: Tree, q: Matrix, forces: Matrix) -> Matrix:
        """Jᵀ f (nv), as the forces act on the robot."""
        parts = zip(self.motions(tree, q), self.split(forces), strict=True)
        return sum((m.jacobian.T @ m.from_first_frame(f) for m, f in parts), ca.DM(tree.nv, 1))

    @property
    def proximal_steps(self) -> int:
        """The number of solutions for f, from 0 on; each divides the error of a regularized solution by G/μ."""
        return 3 if self.regularization else 1

    def solve(self, g: Matrix, target: Matrix, scale: Matrix | None = None) -> Matrix:
        """The forces f of G f = target, G = J M⁻¹ Jᵀ; with a regularization by proximal steps from f = 0,

            (G + μ) f_k+1 = target + μ f_k,

        μ being scaled as the rows of G where they are in another unit than those of this set.
        """
        mu = self.regularization * ca.diag(ca.DM.ones(g.shape[0]) if scale is None else scale * scale)
        factors = Factorization(g + ca.sparsify(mu))
        f = factors.solve(target)
        for _ in range(self.proximal_steps - 1):
            f = factors.solve(target + mu @ f)
        return f

    def inverse(self, g: Matrix) -> Matrix:
        """(G + μ)⁻¹, exactly symmetric."""
        return dense_inverse(g + self.regularization * ca.DM.eye(g.shape[0]))


@dataclass(frozen=True)
class ConstraintJacobian:
    """J of constraints at q, with rows in axes of the pairs' own, where it has the fewest terms.

    Of links that turn to first order only they are in the axes of the first frames: there forces and rates make the
    same power all the same.
    """

    constraints: ConstraintSet
    tree: Tree
    q: Matrix

    @cached_property
    def motions(self) -> list[RelativeMotion]:
        """The relative motion of each pair."""
        return self.constraints.motions(self.tree, self.q)

    @cached_property
    def matrix(self) -> Matrix:
        """The Jacobian J (rows × nv)."""
        return self._rows(motion.jacobian for motion in self.motions)

    def bias(self, v: Matrix) -> Matrix:
        """The acceleration J̇ v (rows) at a = 0."""
        return self._rows(motion.bias(v) for motion in self.motions)

    def _rows(self, parts: Iterable[Matrix]) -> Matrix:
        """ChosenRows of each pair from those in its own axes."""
        if self.tree.is_first_order:
            parts = (motion.to_first_frame(part) for motion, part in zip(self.motions, parts, strict=True))
        return ca.vertcat(*parts)

    def from_first_frames(self, x: Matrix) -> Matrix:
        """ChosenRows in the axes of the first frames, in those here."""
        parts = zip(self.motions, self.constraints.split(x), strict=True)
        return x if self.tree.is_first_order else ca.vertcat(*(motion.from_first_frame(part) for motion, part in parts))

    def to_first_frames(self, x: Matrix) -> Matrix:
        """ChosenRows in the axes here, in those of the first frames."""
        parts = zip(self.motions, self.constraints.split(x), strict=True)
        return x if self.tree.is_first_order else ca.vertcat(*(motion.to_first_frame(part) for motion, part in parts))

    def solve(self, m: Matrix, r: Matrix, s: Matrix) -> tuple[Matrix, Matrix]:
        """Accelerations a, and forces f in the axes of the first frames, of columns r (nv) and s (in the axes here):

            M a − Jᵀ f = r           J a = s           M = Lᵀ D L

        X = L⁻ᵀ Jᵀ keeps the zeros of the branches of the tree, and G = J M⁻¹ Jᵀ = Xᵀ D⁻¹ X.
        """
        mass = Factorization(m)
        half, y = mass.half_solve(self.matrix.T), mass.half_solve(r)
        scaled = mass.divide(half)
        f = self.constraints.solve(spatial.symmetric(half.T @ scaled), s - scaled.T @ y)
        return mass.finish(y + half @ f), self.to_first_frames(f)
