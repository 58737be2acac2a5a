"""Generalized d'Alembert for the complexity study: with the sums as printed, and with every vector stored.

C. S. G. Lee, B. H. Lee, R. Nigam, RSD-TR-8-82, 1982, eqs. 28–33, chains of revolute joints. Vectors are in base axes,
or in the axes of link s after R_sᵀ. With L_is = z_{i−1} × (r_s − p_{i−1}), D symmetric:

    D_ij    = Σ_{s ≥ j} (R_sᵀ z_{i−1})·I_s (R_sᵀ z_{j−1}) + m_s L_js·L_is,  i ≤ j                     (30)
    H^tra_i = Σ_{s ≥ i} m_s a°_s·L_is                                                                 (31)
    H^rot_i = Σ_{s ≥ i} (R_sᵀ z_{i−1})·I_s R_sᵀ α°_s + (R_sᵀ z_{i−1} × R_sᵀ ω_s)·I_s R_sᵀ ω_s         (32)
    G_i     = −g·[z_{i−1} × Σ_{j ≥ i} m_j (r_j − p_{i−1})]                                            (33)

ω_s is the angular velocity of link s, and α°_s, a°_s are the accelerations of link s and of its centre of mass at θ̈ =
0. In print they are sums over the joints below s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import casadi as ca

from benchmarks.complexity.chain import Chain
from gdalembert import spatial
from gdalembert.spatial.algebra import Matrix


@dataclass(frozen=True)
class Vectors:
    """The vectors that both versions compute once: rotation, z and p by frame from 0, p_star and c by link from 1."""

    rotation: list[Matrix]
    z: list[Matrix]
    p: list[Matrix]
    p_star: dict[int, Matrix]  # p_i − p_{i−1}
    c: dict[int, Matrix]  # r_s − p_{s−1}
    axis: dict[tuple[int, int], Matrix]  # R_sᵀ z_{i−1} of (i, s), i ≤ s


def vectors(chain: Chain, q: Matrix) -> Vectors:
    """The vectors at q."""
    rotation, z, p = [ca.DM.eye(3)], [spatial.constant([0, 0, 1])], [ca.DM(3, 1)]
    p_star, c = {}, {}
    for i, a in chain.matrices(q).items():
        p_star[i] = rotation[-1] @ a[:3, 3]
        rotation.append(rotation[-1] @ a[:3, :3])
        z.append(rotation[i][:, 2])
        p.append(p[-1] + p_star[i])
        c[i] = p_star[i] + rotation[i] @ ca.DM(chain.link(i).com)
    axis = {(i, s): rotation[s].T @ z[i - 1] for s in chain.joints for i in range(1, s + 1)}
    return Vectors(rotation, z, p, p_star, c, axis)


def total(terms: Iterable[Matrix]) -> Matrix:
    """The sum of 3-vectors; zero if there are none."""
    return sum(terms, start=ca.DM(3, 1))


def assemble(
    chain: Chain,
    a: Matrix,
    inertia: Callable[[int, int], Matrix],
    velocity: Callable[[int], Matrix],
    gravity: Callable[[int], Matrix],
) -> dict[str, Matrix]:
    """D, H, G and tau of D_ij with i ≤ j, H_i and G_i."""
    n = len(chain.links)
    upper = {(i, j): inertia(i, j) for i in chain.joints for j in range(i, n + 1)}
    d = spatial.rows(*([upper[min(i, j), max(i, j)] for j in chain.joints] for i in chain.joints))
    h, g = ca.vertcat(*map(velocity, chain.joints)), ca.vertcat(*map(gravity, chain.joints))
    return {"D": d, "H": h, "G": g, "tau": d @ a + h + g}


def literal(chain: Chain, q: Matrix, v: Matrix, a: Matrix) -> dict[str, Matrix]:
    """Every sum of eqs. 30–33 is computed again wherever it stands; only the kinematics are stored."""
    w, n = vectors(chain, q), len(chain.links)

    def from_axis(i: int, s: int) -> Matrix:
        """r_s − p_{i−1}."""
        return total(w.p_star[k] for k in range(i, s)) + w.c[s]

    def partial(i: int, s: int) -> Matrix:
        return ca.cross(w.z[i - 1], from_axis(i, s))

    def omega(k: int) -> Matrix:
        return total(v[p - 1] * w.z[p - 1] for p in range(1, k + 1))

    def alpha(k: int) -> Matrix:
        return total(ca.cross(omega(p - 1), v[p - 1] * w.z[p - 1]) for p in range(2, k + 1))

    def acceleration(s: int) -> Matrix:
        arms = [(k, w.p_star[k]) for k in range(1, s)] + [(s, w.c[s])]
        return total(ca.cross(omega(k), ca.cross(omega(k), arm)) + ca.cross(alpha(k), arm) for k, arm in arms)

    def omega_in(s: int) -> Matrix:
        """R_sᵀ ω_s."""
        return total(v[p - 1] * w.axis[p, s] for p in range(1, s + 1))

    def alpha_in(s: int) -> Matrix:
        """R_sᵀ α°_s."""
        return total(
            ca.cross(v[j - 1] * w.axis[j, s], total(v[k - 1] * w.axis[k, s] for k in range(j + 1, s + 1)))
            for j in range(1, s)
        )

    def inertia(i: int, j: int) -> Matrix:
        return sum(
            ca.dot(w.axis[i, s], ca.DM(chain.link(s).inertia) @ w.axis[j, s])
            + chain.link(s).mass * ca.dot(partial(j, s), partial(i, s))
            for s in range(j, n + 1)
        )

    def velocity(i: int) -> Matrix:
        """H^tra_i + H^rot_i."""
        return sum(
            chain.link(s).mass * ca.dot(acceleration(s), partial(i, s))
            + ca.dot(w.axis[i, s], ca.DM(chain.link(s).inertia) @ alpha_in(s))
            + ca.dot(ca.cross(w.axis[i, s], omega_in(s)), ca.DM(chain.link(s).inertia) @ omega_in(s))
            for s in range(i, n + 1)
        )

    def gravity(i: int) -> Matrix:
        moment = total(chain.link(j).mass * from_axis(i, j) for j in range(i, n + 1))
        return -ca.dot(ca.DM(chain.gravity), ca.cross(w.z[i - 1], moment))

    return assemble(chain, a, inertia, velocity, gravity)


def cached(chain: Chain, q: Matrix, v: Matrix, a: Matrix) -> dict[str, Matrix]:
    """The same sums over s, with every vector in them stored; ω, α°, a° pass from link to link (Figure 2)."""
    w, n = vectors(chain, q), len(chain.links)
    axis_inertia = {(i, s): ca.DM(chain.link(s).inertia) @ axis for (i, s), axis in w.axis.items()}
    com = {s: w.p[s - 1] + w.c[s] for s in chain.joints}
    partial = {(i, s): ca.cross(w.z[i - 1], com[s] - w.p[i - 1]) for i, s in w.axis}
    partial_mass = {(i, s): chain.link(s).mass * partial[i, s] for i, s in w.axis}
    acceleration, moment = {}, {}
    omega = alpha = at_origin = ca.DM(3, 1)
    for s in chain.joints:
        turning = v[s - 1] * w.z[s - 1]
        alpha, omega = alpha + ca.cross(omega, turning), omega + turning
        acceleration[s] = at_origin + ca.cross(omega, ca.cross(omega, w.c[s])) + ca.cross(alpha, w.c[s])
        at_origin = at_origin + ca.cross(omega, ca.cross(omega, w.p_star[s])) + ca.cross(alpha, w.p_star[s])
        tensor, own = ca.DM(chain.link(s).inertia), w.rotation[s].T @ omega
        moment[s] = tensor @ (w.rotation[s].T @ alpha) + ca.cross(own, tensor @ own)

    def inertia(i: int, j: int) -> Matrix:
        return sum(
            ca.dot(w.axis[i, s], axis_inertia[j, s]) + ca.dot(partial_mass[j, s], partial[i, s])
            for s in range(j, n + 1)
        )

    def velocity(i: int) -> Matrix:
        return sum(
            ca.dot(acceleration[s], partial_mass[i, s]) + ca.dot(w.axis[i, s], moment[s]) for s in range(i, n + 1)
        )

    def gravity(i: int) -> Matrix:
        return -ca.dot(ca.DM(chain.gravity), total(partial_mass[i, s] for s in range(i, n + 1)))

    return assemble(chain, a, inertia, velocity, gravity)
