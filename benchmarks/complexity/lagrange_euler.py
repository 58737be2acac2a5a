"""Lagrange–Euler for the complexity study: the trace form as printed, and with every matrix stored.

S. B. Niku, Introduction to Robotics, ch. 4, chains of revolute joints, 4 × 4 matrices:

    U_jk  = ^0A_{k−1} Q ^{k−1}A_j                        U_jkm = ^0A_{k−1} Q ^{k−1}A_{m−1} Q ^{m−1}A_j,  k ≤ m
    D_ik  = Σ_{j ≥ max(i, k)} Tr(U_jk J_j U_jiᵀ)         h_ikm = Σ_{j ≥ max(i, k, m)} Tr(U_jkm J_j U_jiᵀ)
    H_i   = Σ_k Σ_m h_ikm v_k v_m                        c_i   = −Σ_{j ≥ i} m_j g⁴ U_ji r̄_j

U_jkm = U_jmk. c is called G here, as in RSD-TR-8-82.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from benchmarks.complexity.chain import Chain
from benchmarks.complexity.generalized_dalembert import assemble
from gdalembert import spatial
from gdalembert.spatial.algebra import Matrix

Q = spatial.twist(ca.DM(3, 1), ca.DM([0, 0, 1]))
"""d(^{i−1}A_i)/dθ_i = Q ^{i−1}A_i."""


def literal(chain: Chain, q: Matrix, v: Matrix, a: Matrix) -> dict[str, Matrix]:
    """Every U_jk and U_jkm is multiplied again wherever it stands; only the matrices ^{i−1}A_i are stored."""
    matrices, n = chain.matrices(q), len(chain.links)

    def derivative(j: int, *joints: int) -> Matrix:
        """^0A_j, differentiated with respect to each of the joints: a product from left to right."""
        product = ca.DM.eye(4)
        for i in range(1, j + 1):
            for _ in range(joints.count(i)):
                product = product @ Q
            product = product @ matrices[i]
        return product

    def inertia(i: int, k: int) -> Matrix:
        return sum(
            ca.trace(derivative(j, k) @ chain.link(j).pseudo_inertia @ derivative(j, i).T)
            for j in range(max(i, k), n + 1)
        )

    def coefficient(i: int, k: int, m: int) -> Matrix:
        """h_ikm."""
        return sum(
            ca.trace(derivative(j, k, m) @ chain.link(j).pseudo_inertia @ derivative(j, i).T)
            for j in range(max(i, k, m), n + 1)
        )

    def velocity(i: int) -> Matrix:
        return sum(coefficient(i, k, m) * v[k - 1] * v[m - 1] for k in chain.joints for m in chain.joints)

    def gravity(i: int) -> Matrix:
        return gravity_torque(chain, i, lambda j: derivative(j, i))

    return assemble(chain, a, inertia, velocity, gravity)


def gravity_torque(chain: Chain, i: int, u: Callable[[int], Matrix]) -> Matrix:
    """c_i of U_ji by j."""
    g = ca.horzcat(ca.DM(chain.gravity).T, 0)
    return -sum(
        chain.link(j).mass * (g @ (u(j) @ ca.vertcat(ca.DM(chain.link(j).com), 1)))
        for j in range(i, len(chain.links) + 1)
    )


def cached(chain: Chain, q: Matrix, v: Matrix, a: Matrix) -> dict[str, Matrix]:
    """Every U_jk, U_jk J_j and U_jkm (k ≤ m) is stored, each computed from that of link j − 1, and h_ikm = h_imk."""
    n = len(chain.links)
    placed = ca.DM.eye(4)
    first: dict[tuple[int, int], Matrix] = {}
    second: dict[tuple[int, int, int], Matrix] = {}
    for j, matrix in chain.matrices(q).items():
        turned = Q @ matrix
        for k in range(1, j):
            for m in range(k, j):
                second[j, k, m] = second[j - 1, k, m] @ matrix
            second[j, k, j] = first[j - 1, k] @ turned
            first[j, k] = first[j - 1, k] @ matrix
        first[j, j], second[j, j, j] = placed @ turned, placed @ (Q @ turned)
        placed = placed @ matrix
    weighed = {(j, i): u @ chain.link(j).pseudo_inertia for (j, i), u in first.items()}

    def inertia(i: int, k: int) -> Matrix:
        return sum(ca.dot(first[j, k], weighed[j, i]) for j in range(max(i, k), n + 1))

    def coefficient(i: int, k: int, m: int) -> Matrix:
        """h_ikm, k ≤ m."""
        return sum(ca.dot(second[j, k, m], weighed[j, i]) for j in range(max(i, m), n + 1))

    products = {(k, m): v[k - 1] * v[m - 1] * (1 if k == m else 2) for k in chain.joints for m in range(k, n + 1)}

    def velocity(i: int) -> Matrix:
        return sum(coefficient(i, k, m) * product for (k, m), product in products.items())

    def gravity(i: int) -> Matrix:
        return gravity_torque(chain, i, lambda j: first[j, i])

    return assemble(chain, a, inertia, velocity, gravity)
