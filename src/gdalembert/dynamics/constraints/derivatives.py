"""Derivatives of forward dynamics with constraints, by the implicit function theorem.

    M da = dtau − ∂tau/∂q dq − ∂tau/∂v dv + ∂(Jᵀ f)/∂q dq + Jᵀ df
    J da = −∂e/∂q dq − ∂e/∂v dv                   e = J a + J̇ v + damping E + stiffness c

Of a free base a part of da is known (:mod:`~gdalembert.dynamics.free_base`), as if nothing held it. That part satisfies
the first equation, so that the constraints have to undo J of it and nothing else.
"""

from __future__ import annotations

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.constraints.constraint_set import ConstraintSet, HeldMotions
from gdalembert.dynamics.constraints.kkt_inverse import KKTInverse
from gdalembert.dynamics.constraints.motion_derivatives import (
    motion_derivatives,
    residual_derivative,
    torque_derivatives,
)
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.free_base import FreeBases
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix, symmetric
from gdalembert.spatial.functions import derivative_along, symbols


def constrained_dynamics_derivatives(
    robot: Dynamics, constraints: ConstraintSet, q: Matrix, v: Matrix, tau: Matrix, wrenches: Matrix
) -> Matrix:
    """∂a (nv) above ∂f (n), side by side by q in the tangent space, by v and by tau (3 nv columns)."""
    tree, nv, free = robot.tree, robot.tree.nv, FreeBases.of(robot.tree)
    held = HeldMotions.of(constraints, tree, q)
    m = robot.mass_matrix_expression(q) + robot._armature_matrix
    kkt = KKTInverse(m, held.jacobian, constraints.inverse, held.to_first_frames)

    a, slow = ca.SX.sym("a", nv), v - free.linear @ v
    links_dq, links_dv = robot.inverse_dynamics_derivatives_expression(q, slow, a, wrenches)
    known_dq, known_dv = free.derivatives(q, v)
    drift = known_dv @ (v - slow)
    at_rest = robot.generalized_gravity_expression(q) + robot.wrench_torque_expression(q, wrenches)
    bias = at_rest + 0.5 * (links_dv @ slow) + robot.force_torque_expression(q, v)  # C v is quadratic in v
    error = held.bias(q, v) + held.from_first_frames(constraints.correction(tree, q, v)) + held.jacobian @ drift

    of_constraints = _of_rigid_links if tree.is_rigid else _by_differentiation
    links_dq += (robot.wrench_stiffness_expression(q, wrenches) - links_dq) @ free.pose
    links_dv -= links_dv @ free.linear
    force_dq, force_dv = robot.force_derivatives_expression(q, v)
    mu, zero = constraints.regularization, ca.DM(held.jacobian.shape[0], 3 * nv)
    forces, loads = zero[:, 0], zero
    for _ in range(constraints.proximal_steps):
        classical, forces = kkt.solve(tau - bias, mu * held.from_first_frames(forces) - error)
        moved, error_dq, error_dv = of_constraints(held, tree, q, v, classical + drift, forces)
        links_here = ca.substitute(links_dq, a, classical)
        torques = ca.horzcat(moved - links_here - force_dq, -links_dv - force_dv, ca.DM.eye(nv))
        errors = ca.horzcat(error_dq + held.jacobian @ known_dq, error_dv + held.jacobian @ known_dv, zero[:, :nv])
        rates, loads = kkt.solve(torques, mu * held.from_first_frames(loads) - ca.cse([errors])[0])
    by_q, by_v, by_tau = ca.horzsplit(rates, nv)
    return ca.vertcat(ca.horzcat(known_dq + by_q, known_dv + by_v, symmetric(by_tau)), loads)


def _of_rigid_links(
    held: HeldMotions, tree: Tree, q: Matrix, v: Matrix, a: Matrix, forces: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    """∂(Jᵀ f)/∂q, and ∂e/∂q and ∂e/∂v in the axes of the pairs; f is given in the axes of the first frames."""
    constraints = held.constraints
    gains = (constraints.split(spatial.constant(x)) for x in (constraints.stiffness, constraints.damping))
    parts = zip(held.motions, constraints.split(forces), *gains, strict=True)
    moved, error_dq, error_dv = ca.DM(tree.nv, tree.nv), [], []
    for motion, f, stiffness, damping in parts:
        found = motion_derivatives(motion, q, v, a)
        by_q, by_v = found.acceleration_dq, found.acceleration_dv
        if damping.nnz():
            jacobian = motion.to_first_frame(motion.jacobian(tree.nv))
            by_q += motion.from_first_frame(ca.diag(damping) @ motion.to_first_frame(found.velocity_dq))
            by_v += motion.from_first_frame(ca.diag(damping) @ jacobian)
        if stiffness.nnz():
            by_q += motion.from_first_frame(ca.diag(stiffness) @ residual_derivative(motion, tree, q))
        moved += torque_derivatives(motion, q, tree.nv, motion.from_first_frame(f))
        error_dq.append(by_q)
        error_dv.append(by_v)
    return moved, ca.vertcat(*error_dq), ca.vertcat(*error_dv)


def _by_differentiation(
    held: HeldMotions, tree: Tree, q: Matrix, v: Matrix, a: Matrix, forces: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    """The same where S is not the derivative of the placement to the last digit, as of deflected links."""
    s = symbols(q=tree.nq, v=tree.nv, a=tree.nv, forces=forces.shape[0])
    tangent = tree.tangent_map(s["q"])
    error = ca.cse([held.constraints.acceleration_error(tree, s["q"], s["v"], s["a"])])[0]
    torque = ca.cse([held.constraints.torques(tree, s["q"], s["forces"])])[0]
    directions = ca.diagcat(tangent, ca.DM.eye(tree.nv))
    by_q, by_v = ca.horzsplit(derivative_along(error, ca.vertcat(s["q"], s["v"]), directions), tree.nv)
    graph = [derivative_along(torque, s["q"], tangent), by_q, by_v]
    moved, error_dq, error_dv = ca.Function("by_differentiation", list(s.values()), graph)(q, v, a, forces)
    return moved, held.from_first_frames(error_dq), held.from_first_frames(error_dv)
