"""Derivatives of forward dynamics with constraints, by the implicit function theorem.

    M da = dtau − ∂tau/∂q dq − ∂tau/∂v dv + ∂(Jᵀ f)/∂q dq + Jᵀ df
    J da = −∂e/∂q dq − ∂e/∂v dv                   e = J a + J̇ v + damping E + stiffness c

Of a free base a part of da is known (:mod:`~gdalembert.dynamics.free_base`), as if nothing held it. That part satisfies
the first equation, so that the constraints have to undo J of it and nothing else.

The KKT system and its inverse are

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

from gdalembert import spatial
from gdalembert.dynamics.constraints.constraint_set import ConstraintJacobian, ConstraintSet
from gdalembert.dynamics.constraints.relative_motion import RelativeMotion
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.free_base import FreeBases
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix, symmetric
from gdalembert.spatial.factorization import Factorization, dense_inverse
from gdalembert.spatial.functions import derivative_along, symbols


def constrained_dynamics_derivatives(
    robot: Dynamics, constraints: ConstraintSet, q: Matrix, v: Matrix, tau: Matrix, wrenches: Matrix
) -> Matrix:
    """∂a (nv) above ∂f (n), side by side by q in the tangent space, by v and by tau (3 nv columns)."""
    tree, nv, free = robot.tree, robot.tree.nv, FreeBases.of(robot.tree)
    rows = ConstraintJacobian.of(constraints, tree, q)
    m = robot.mass_matrix_expression(q) + robot._armature_matrix
    kkt = KKTInverse(m, rows.matrix, constraints.inverse, rows.to_first_frames)

    a, slow = ca.SX.sym("a", nv), v - free.linear @ v
    links_dq, links_dv = robot.inverse_dynamics_derivatives_expression(q, slow, a, wrenches)
    known_dq, known_dv = free.derivatives(q, v)
    drift = known_dv @ (v - slow)
    at_rest = robot.generalized_gravity_expression(q) + robot.wrench_torque_expression(q, wrenches)
    bias = at_rest + 0.5 * (links_dv @ slow) + robot.force_torque_expression(q, v)  # C v is quadratic in v
    error = rows.bias(v) + rows.from_first_frames(constraints.correction(tree, q, v)) + rows.matrix @ drift

    links_dq += (robot.wrench_stiffness_expression(q, wrenches) - links_dq) @ free.pose
    links_dv -= links_dv @ free.linear
    force_dq, force_dv = robot.force_derivatives_expression(q, v)
    mu, zero = constraints.regularization, ca.DM(rows.matrix.shape[0], 3 * nv)
    forces, loads = zero[:, 0], zero
    for _ in range(constraints.proximal_steps):
        classical, forces = kkt.solve(tau - bias, mu * rows.from_first_frames(forces) - error)
        moved, error_dq, error_dv = _of_constraints(rows, tree, q, v, classical + drift, forces)
        links_here = ca.substitute(links_dq, a, classical)
        torques = ca.horzcat(moved - links_here - force_dq, -links_dv - force_dv, ca.DM.eye(nv))
        errors = ca.horzcat(error_dq + rows.matrix @ known_dq, error_dv + rows.matrix @ known_dv, zero[:, :nv])
        rates, loads = kkt.solve(torques, mu * rows.from_first_frames(loads) - ca.cse([errors])[0])
    by_q, by_v, by_tau = ca.horzsplit(rates, nv)
    return ca.vertcat(ca.horzcat(known_dq + by_q, known_dv + by_v, symmetric(by_tau)), loads)


def _of_constraints(
    rows: ConstraintJacobian, tree: Tree, q: Matrix, v: Matrix, a: Matrix, forces: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    """∂(Jᵀ f)/∂q, and ∂e/∂q and ∂e/∂v in the axes of the pairs; f is given in the axes of the first frames."""
    constraints = rows.constraints
    if tree.is_first_order:  # S is not the derivative of the placement to the last digit
        moved, error_dq, error_dv = _by_differentiation(constraints, tree, q, v, a, forces)
        return moved, rows.from_first_frames(error_dq), rows.from_first_frames(error_dv)
    parts = zip(constraints.each, rows.motions, constraints.split(forces), strict=True)
    moved, *errors = zip(*(_of_constraint(*part, q, v, a) for part in parts), strict=True)
    return sum(moved, ca.DM(tree.nv, tree.nv)), *(ca.vertcat(*each) for each in errors)


def _of_constraint(
    alone: ConstraintSet, motion: RelativeMotion, f: Matrix, q: Matrix, v: Matrix, a: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    """The same of one constraint."""
    if not motion.has_derivatives:
        return _by_differentiation(alone, motion.tree, q, v, a, f)
    found = motion.derivatives(v, a)
    by_q, by_v = found.acceleration_dq, found.acceleration_dv
    if alone.damping.any():
        damping = ca.diag(spatial.constant(alone.damping))
        by_q += motion.from_first_frame(damping @ motion.to_first_frame(found.velocity_dq))
        by_v += motion.from_first_frame(damping @ motion.to_first_frame(motion.jacobian))
    if alone.stiffness.any():
        stiffness = ca.diag(spatial.constant(alone.stiffness))
        by_q += motion.from_first_frame(stiffness @ motion.residual_derivative())
    return motion.torque_derivatives(motion.from_first_frame(f)), by_q, by_v


def _by_differentiation(
    constraints: ConstraintSet, tree: Tree, q: Matrix, v: Matrix, a: Matrix, forces: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    """The same by algorithmic differentiation, in the axes of the first frames."""
    s = symbols(q=tree.nq, v=tree.nv, a=tree.nv, forces=forces.shape[0])
    tangent = tree.tangent_map(s["q"])
    error = ca.cse([ca.SX(constraints.acceleration_error(tree, s["q"], s["v"], s["a"]))])[0]
    torque = ca.cse([ca.SX(constraints.torques(tree, s["q"], s["forces"]))])[0]
    directions = ca.diagcat(tangent, ca.DM.eye(tree.nv))
    by_q, by_v = ca.horzsplit(derivative_along(error, ca.vertcat(s["q"], s["v"]), directions), tree.nv)
    graph = [derivative_along(torque, s["q"], tangent), by_q, by_v]
    moved, error_dq, error_dv = ca.Function("by_differentiation", list(s.values()), graph)(q, v, a, forces)
    return moved, error_dq, error_dv


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
