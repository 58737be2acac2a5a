"""The factorization of mass matrices: M = Lᵀ D L, from the last row up.

In a tree the last rows belong to the leaves: eliminated in this order, no entry of M that is structurally zero fills in
(Featherstone's branch-induced sparsity).
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca

from gdalembert.errors import UnsupportedError
from gdalembert.spatial.algebra import Matrix, symmetric
from gdalembert.spatial.algebra import rows as matrix_of
from gdalembert.spatial.functions import function


class Factorization:
    """The factors M = Lᵀ D L of a symmetric positive definite M (n × n): D diagonal, L lower triangular, with ones.

    M⁻¹ B is ``finish(half_solve(B))``; Bᵀ M⁻¹ C is Yᵀ ``divide(half_solve(C))`` with Y = ``half_solve(B)``. Half solves
    keep the structural zeros of a column whose rows lie on one path from the root.

    With ``kept`` rows left at the root, N = ``half_inverse`` makes N M Nᵀ = diag(A, D) with a dense A of these rows.

    Attributes:
        kept: the number of first rows that are not eliminated.
        pivots: the diagonal of D (n), and of A.

    Raises:
        UnsupportedError: if an entry of the diagonal of M is structurally zero.
    """

    def __init__(self, m: Matrix, kept: int = 0) -> None:
        pattern = m.sparsity()
        if (empty := next((k for k in range(m.shape[0]) if not pattern.has_nz(k, k)), None)) is not None:
            raise UnsupportedError(
                f"the matrix to be inverted is structurally singular: entry ({empty}, {empty}) is zero in every state; "
                f"of a mass matrix, no torque depends on a[{empty}]"
            )
        # Not ca.ldl, which begins at the first row, the root of a tree, so that zeros fill in.
        rows = [{i: m[k, i] for i in range(k + 1) if pattern.has_nz(k, i)} for k in range(m.shape[0])]
        self.kept = kept
        self.pivots: list[Matrix] = [row.pop(k) for k, row in enumerate(rows)]
        self._rows, self._factors = rows, [dict[int, Matrix]()] * len(rows)
        for k in reversed(range(kept, len(rows))):
            # One division for each entry, not a reciprocal: what shares divisors is found when a Function is made.
            self._factors[k] = {i: entry / self.pivots[k] for i, entry in rows[k].items()}
            for i, factor in self._factors[k].items():
                self.pivots[i] = self.pivots[i] - factor * rows[k][i]
                for j in (j for j in rows[k] if j < i):
                    rows[i][j] = rows[i].get(j, ca.DM(1, 1)) - factor * rows[k][j]

    @property
    def remainder(self) -> Matrix:
        """The remainder A (kept × kept), symmetric."""
        rows = [{**row, k: pivot} for k, (row, pivot) in enumerate(zip(self._rows, self.pivots, strict=True))]
        n, zero = range(self.kept), ca.DM(1, 1)
        return matrix_of(*([rows[max(i, j)].get(min(i, j), zero) for j in n] for i in n))

    def half_solve(self, b: Matrix) -> Matrix:
        """The product Y = L⁻ᵀ B (n × k)."""
        rows = _rows_of(b)
        for k in reversed(range(len(rows))):
            for i, factor in self._factors[k].items():
                rows[i] = rows[i] - factor * rows[k]
        return ca.vertcat(ca.DM(0, b.shape[1]), *rows)

    def divide(self, y: Matrix) -> Matrix:
        """The product D⁻¹ Y (n × k)."""
        rows = (row / pivot for row, pivot in zip(_rows_of(y), self.pivots, strict=True))
        return ca.vertcat(ca.DM(0, y.shape[1]), *rows)

    def finish(self, y: Matrix) -> Matrix:
        """The product L⁻¹ D⁻¹ Y (n × k)."""
        rows = _rows_of(self.divide(y))
        for k, factors in enumerate(self._factors):
            for i, factor in factors.items():
                rows[k] = rows[k] - factor * rows[i]
        return ca.vertcat(ca.DM(0, y.shape[1]), *rows)

    def solve(self, b: Matrix) -> Matrix:
        """The solution X = M⁻¹ B (n × k)."""
        return self.finish(self.half_solve(b))

    @cached_property
    def half_inverse(self) -> Matrix:
        """The matrix N = L⁻ᵀ (n × n), with M⁻¹ = Nᵀ D⁻¹ N.

        Nᵀ D⁻¹ ``half_solve(b)`` is M⁻¹ b too. From one branch of a tree to another it takes as many products as there
        are joints above both, where ``finish`` takes those of the other branch besides.
        """
        return self.half_solve(ca.DM.eye(len(self.pivots)))

    @property
    def inverse(self) -> Matrix:
        """The inverse M⁻¹ (n × n), exactly symmetric."""
        return symmetric(self.half_inverse.T @ self.divide(self.half_inverse))


def symmetric_solve(m: Matrix, b: Matrix) -> Matrix:
    """Solve M X = B (n × k) for a symmetric positive definite M (n × n)."""
    return Factorization(m).solve(b)


def constrained_solve(m: Matrix, r: Matrix, j: Matrix, s: Matrix, damping: Matrix) -> tuple[Matrix, Matrix]:
    """Solve M x = r + Jᵀ f, J x + damping f = s, for a symmetric positive definite M (n × n)."""
    factorization = Factorization(m)
    half, half_r = factorization.half_solve(j.T), factorization.half_solve(r)
    inner = half.T @ factorization.divide(half) + damping * ca.DM.eye(j.shape[0])
    f = symmetric_solve(symmetric(inner), s - half.T @ factorization.divide(half_r))
    return factorization.finish(half_r + half @ f), f


def constrained_solution(pattern: ca.Sparsity, rows: int) -> ca.Function:
    """Make :func:`constrained_solve` a Function (M, r, J, s, damping) → x, f, for M of a pattern and a dense J."""
    n = pattern.size1()
    arguments = {"M": ca.SX.sym("M", pattern), "r": ca.SX.sym("r", n), "J": ca.SX.sym("J", rows, n)}
    arguments |= {"s": ca.SX.sym("s", rows), "damping": ca.SX.sym("damping")}
    return function(
        "constrained_solution", arguments, dict(zip("xf", constrained_solve(*arguments.values()), strict=True))
    )


def dense_inverse(m: Matrix) -> Matrix:
    """The inverse M⁻¹ (n × n) of a symmetric positive definite M without zeros, exactly symmetric.

    Where M has zeros, :attr:`Factorization.inverse` takes fewer operations.
    """
    return symmetric(Factorization(m).solve(ca.DM.eye(m.shape[0])))


def _rows_of(x: Matrix) -> list[Matrix]:
    """The rows of a matrix, which may have none: a joint that cannot move."""
    return list(ca.vertsplit(x)) if x.shape[0] else []
