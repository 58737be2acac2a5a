"""The constraints of a robot together: residual, Jacobian, accelerations, and what stabilises them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.dynamics.constraints.relative_motion import FramePair, RelativeMotion
from gdalembert.dynamics.constraints.selected_rows import motion_type, residual
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.factorization import Factorization, dense_inverse


@dataclass(frozen=True)
class ConstraintSet:
    """Constraints c(q) = 0 with rate E = J v, and the acceleration that is asked for instead of Ė = J a + J̇ v = 0:

        J a + J̇ v + damping E + stiffness c = 0                                       (Baumgarte 1972)

    Rows of points and frames are in the axes of the first frame of each pair.

    Attributes:
        pairs: the frames that are held together.
        stiffness, damping: for each row [1/s², 1/s].
        regularization: μ of (J M⁻¹ Jᵀ + μ) f = …, for constraints that are redundant [1/kg, 1/(kg m²)]; 0 for none.
        restitution: for each row, the part of its velocity that an impact gives back.
    """

    pairs: tuple[FramePair, ...]
    stiffness: Array
    damping: Array
    regularization: float
    restitution: Array

    @property
    def rows(self) -> list[int]:
        """The number of scalar constraints of each pair."""
        return [pair.rows for pair in self.pairs]

    @property
    def is_holonomic(self) -> npt.NDArray[np.bool_]:
        """Whether each row is the rate of a residual."""
        return np.array([each for pair in self.pairs for each in pair.holds.is_holonomic], dtype=bool)

    @property
    def each(self) -> list[ConstraintSet]:
        """Each constraint alone."""
        ends = np.cumsum(self.rows)[:-1]
        gains = (np.split(x, ends) for x in (self.stiffness, self.damping, self.restitution))
        parts = zip(self.pairs, *gains, strict=True)
        return [ConstraintSet((pair,), k, d, self.regularization, e) for pair, k, d, e in parts]

    def split(self, x: Matrix) -> list[Matrix]:
        """The rows of each pair."""
        ends = [0]
        for n in self.rows:
            ends.append(ends[-1] + n)
        return list(ca.vertsplit(x, ends))

    def motions(self, tree: Tree, q: Matrix) -> list[RelativeMotion]:
        """The relative motion of each pair, in axes of its own."""
        return [motion_type(pair).of(tree, pair, q) for pair in self.pairs]

    def residual(self, tree: Tree, q: Matrix) -> Matrix:
        """c."""
        return ca.vertcat(*(residual(tree, pair, q) for pair in self.pairs))

    def jacobian(self, tree: Tree, q: Matrix) -> Matrix:
        """J."""
        rows = (m.to_first_frame(m.jacobian) for m in self.motions(tree, q))
        return ca.vertcat(ca.DM(0, tree.nv), *rows)

    def bias_acceleration(self, tree: Tree, q: Matrix, v: Matrix) -> Matrix:
        """J̇ v."""
        return ca.vertcat(*(m.to_first_frame(m.bias(v)) for m in self.motions(tree, q)))

    def velocity(self, tree: Tree, q: Matrix, v: Matrix) -> Matrix:
        """E."""
        return ca.vertcat(*(m.to_first_frame(m.jacobian @ v) for m in self.motions(tree, q)))

    def correction(self, tree: Tree, q: Matrix, v: Matrix) -> Matrix:
        """damping E + stiffness c, structurally zero where there is neither."""
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
        """J a + J̇ v + damping E + stiffness c."""
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
        """How often f is solved for, beginning at 0; each divides the error of a regularized solution by G/μ."""
        return 3 if self.regularization else 1

    def solve(self, g: Matrix, target: Matrix, scale: Matrix | None = None) -> Matrix:
        """f of G f = target, G = J M⁻¹ Jᵀ; with a regularization by proximal steps from f = 0,

            (G + μ) f_k+1 = target + μ f_k.

        Args:
            g, target: as above.
            scale: of the rows of G where they are in another unit than those of this set, μ being scaled alike.
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

    Attributes:
        constraints: the constraints.
        motions: the relative motion of each pair.
        is_turned: whether the rows are in axes of the pairs' own.
        matrix: J.
    """

    constraints: ConstraintSet
    motions: Sequence[RelativeMotion]
    is_turned: bool
    matrix: Matrix

    @classmethod
    def of(cls, constraints: ConstraintSet, tree: Tree, q: Matrix) -> ConstraintJacobian:
        motions = constraints.motions(tree, q)
        rows = cls(constraints, motions, not tree.is_first_order, ca.DM(0, tree.nv))
        return replace(rows, matrix=rows._rows(motion.jacobian for motion in motions))

    def bias(self, v: Matrix) -> Matrix:
        """J̇ v."""
        return self._rows(motion.bias(v) for motion in self.motions)

    def _rows(self, parts: Iterable[Matrix]) -> Matrix:
        """Rows of each pair from those in its own axes."""
        pairs = zip(self.motions, parts, strict=True)
        return ca.vertcat(*(part if self.is_turned else motion.to_first_frame(part) for motion, part in pairs))

    def from_first_frames(self, x: Matrix) -> Matrix:
        """Rows in the axes of the first frames, in those here."""
        parts = zip(self.motions, self.constraints.split(x), strict=True)
        return ca.vertcat(*(motion.from_first_frame(part) for motion, part in parts)) if self.is_turned else x

    def to_first_frames(self, x: Matrix) -> Matrix:
        """Rows in the axes here, in those of the first frames."""
        parts = zip(self.motions, self.constraints.split(x), strict=True)
        return ca.vertcat(*(motion.to_first_frame(part) for motion, part in parts)) if self.is_turned else x


@dataclass(frozen=True)
class KKTSystem:
    """The KKT system of a robot with constraints, solved by M = Lᵀ D L, with rows in axes of the pairs' own.

        M a − Jᵀ f = r           J a = s

    X = L⁻ᵀ Jᵀ keeps the zeros of the branches of the tree, and G = Xᵀ D⁻¹ X.
    """

    rows: ConstraintJacobian
    mass: Factorization
    half: Matrix
    scaled: Matrix

    @classmethod
    def of(cls, rows: ConstraintJacobian, m: Matrix) -> KKTSystem:
        """The system with M."""
        mass = Factorization(m)
        half = mass.half_solve(rows.matrix.T)
        return cls(rows, mass, half, mass.divide(half))

    def solve(self, r: Matrix, s: Matrix) -> tuple[Matrix, Matrix]:
        """a, and f in the axes of the first frames, of columns r (nv) and s (rows, in the axes of the system)."""
        y = self.mass.half_solve(r)
        g = spatial.symmetric(self.half.T @ self.scaled)
        f = self.rows.constraints.solve(g, s - self.scaled.T @ y)
        return self.mass.finish(y + self.half @ f), self.rows.to_first_frames(f)
