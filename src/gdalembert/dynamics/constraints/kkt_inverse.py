"""The inverse of the KKT system of a robot that is held:

    M a − Jᵀ f = r               a = P r − Qᵀ s
        J a    = s               f = Q r + Γ s

P = ∂a/∂tau, Q = ∂f/∂tau, Γ = (J M⁻¹ Jᵀ)⁻¹. Columns r and s of derivatives are zero but for one branch of the tree and
the constraints that it reaches. Coordinates that move a constraint and several branches are the core c; those of the
branches b are eliminated before it (Featherstone's sparsity; the split is ours):

    N M Nᵀ = diag(A, D)          X = N Jᵀ           y = N r           t = s − X_bᵀ D⁻¹ y_b

    f = Q_c y_c + Γ t            a_c = P_c y_c − Q_cᵀ t               a_b = N_cbᵀ a_c + N_bbᵀ D⁻¹ (y_b + X_b f)

so that what is far away feels a column by y_c and t alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import casadi as ca

from gdalembert.spatial.algebra import Matrix, symmetric
from gdalembert.spatial.factorization import Factorization, dense_inverse


class KKTInverse:
    """P, Q and Γ, applied to columns r and s.

    Args:
        m, jacobian: M (nv × nv), J (n × nv).
        inverse: Γ of G = J M⁻¹ Jᵀ.
        turned: the rows of f as they are wanted, in other axes than those of J.
    """

    def __init__(
        self, m: Matrix, jacobian: Matrix, inverse: Callable[[Matrix], Matrix], turned: Callable[[Matrix], Matrix]
    ) -> None:
        core = _core(m.sparsity(), jacobian.sparsity())
        self._order = [*core, *(i for i in range(m.shape[0]) if i not in core)]
        self._blocks = [0, len(core), m.shape[0]]
        eliminated = Factorization(m[self._order, self._order], len(core))
        self._n = eliminated.half_inverse
        self._n_c, self._n_b = ca.vertsplit(self._n[:, len(core) :], self._blocks)
        self._d_inverse = ca.diag(ca.vertcat(*(1 / pivot for pivot in eliminated.pivots[len(core) :])))
        x_c, x_b = ca.vertsplit(self._n @ jacobian[:, self._order].T, self._blocks)
        self._x = self._d_inverse @ x_b

        a_inverse = dense_inverse(eliminated.remainder) if core else ca.DM(0, 0)
        rates = a_inverse @ x_c
        gamma = inverse(symmetric(x_b.T @ self._x + x_c.T @ rates))
        self._q = -gamma @ rates.T
        self._p = symmetric(a_inverse + rates @ self._q) if core else a_inverse
        self._turned_gamma, self._turned_q = turned(gamma), turned(self._q)
        self._u = turned(self._x.T @ self._n_b).T
        self._p_cb = self._p @ self._n_c + self._q.T @ (self._x.T @ self._n_b)

    def solve(self, r: Matrix, s: Matrix) -> tuple[Matrix, Matrix]:
        """a (nv × k) and f (n × k) of columns r and s."""
        y_c, y_b = ca.vertsplit(self._n @ r[self._order, :], self._blocks)
        t = ca.sparsify(s - self._x.T @ y_b)
        f = self._turned_q @ y_c + self._turned_gamma @ t
        a_c = self._p @ y_c - self._q.T @ t
        a_b = self._n_b.T @ self._d_inverse @ y_b + self._far(y_c, t, a_c, f)
        a = ca.vertcat(a_c, a_b)
        return a[[self._order.index(i) for i in range(len(self._order))], :], f

    def _far(self, y_c: Matrix, t: Matrix, a_c: Matrix, f: Matrix) -> Matrix:
        """What a_b gets from the core and the forces, or from y_c at once where it is all that there is."""
        moves = [t[:, k].nnz() > 0 for k in range(t.shape[1])]
        order = sorted(range(len(moves)), key=moves.__getitem__)
        free = moves.count(False)
        columns = ca.horzcat(
            self._p_cb.T @ y_c[:, order[:free]],
            self._n_c.T @ a_c[:, order[free:]] + self._u @ f[:, order[free:]],
        )
        return columns[:, [order.index(k) for k in range(len(order))]]


def _core(m: ca.Sparsity, jacobian: ca.Sparsity) -> list[int]:
    """The coordinates that move a constraint and more than one branch, from the patterns of M and J."""
    moving = set(jacobian.get_triplet()[1])
    return [i for i in sorted(moving) if _is_forked(m, [k for k in range(i + 1, m.shape[0]) if m.has_nz(k, i)])]


def _is_forked(m: ca.Sparsity, outward: Sequence[int]) -> bool:
    """Whether some of the coordinates further out do not move each other's links."""
    return any(not m.has_nz(k, i) for i, k in combinations(outward, 2))
