"""Lagrange–Euler equations in trace form (lectures on Niku, Introduction to Robotics, ch. 4).

    tau_i = Σ_k D_ik a_k + I_i(act) a_i + Σ_k Σ_m h_ikm v_k v_m + c_i

    D_ik  = Σ_j Tr(U_jk J_j U_jiᵀ)       h_ikm = Σ_j Tr(U_jkm J_j U_jiᵀ)       c_i = −Σ_j m_j g⁴ U_ji r̄_j

A_j is the 4 × 4 placement of link j, J_j its constant 4 × 4 pseudo-inertia about the link-frame origin, and

    U_ji = Q̂_i A_j,     U_jkm = Q̂_m Q̂_k A_j  (m at or above k; the other way round below),

with Q̂_i the 4 × 4 twist of one column of joint i's motion subspace in base axes: [[z×], p × z] of a rotary joint,
[[0], z] of a prismatic one. What all links of a subtree share is summed once, from the tips to the base:

    P_i = Σ_{j ≥ i} A_j J_j A_jᵀ         D_ik = Tr(Q̂_k P_max Q̂_iᵀ)
    W_i = Σ_{j ≥ i} Ä_j J_j A_jᵀ         tau_i = Tr(W_i Q̂_iᵀ)

Ours: the composite sums, trees, joints of several columns, and the choice of base frame: the inertial frame that
coincides with the root link of the branch at this instant. D and h do not depend on it, c only by the direction of g.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.sources import Source
from gdalembert.dynamics.wrenches import NO_WRENCHES
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import function

_NULL = ca.DM(4, 4)


@dataclass(frozen=True)
class HomogeneousLink:
    """A link and the joint that moves it, in base axes; all matrices are 4 × 4."""

    a: Matrix  # A_j
    p: Matrix  # A_j J_j A_jᵀ
    q_hat: list[Matrix]  # Q̂ of each column of the joint
    gravity: Matrix  # g (3)


def place(tree: Tree, q: Matrix) -> list[HomogeneousLink]:
    """Placement of all links at q: A_j, A_j J_j A_jᵀ and Q̂."""
    links: list[HomogeneousLink] = []
    for joint in tree.joints:
        r, p = joint.placement(q)
        if joint.parent < 0:
            a, gravity = ca.DM.eye(4), r.T @ spatial.constant(tree.gravity)
        else:
            parent = links[joint.parent]
            a, gravity = parent.a @ spatial.transform(r, p), parent.gravity
        j = spatial.congruence(a, spatial.constant(joint.pseudo_inertia))
        links.append(HomogeneousLink(a, j, twists(a, *joint.subspace(q)), gravity))
    return links


def twists(a: Matrix, linear: Matrix, angular: Matrix) -> list[Matrix]:
    """Twists Q̂ in base axes of columns (linear, angular; 3 × n) given in the axes of a link at A."""
    r, p = a[:3, :3], a[:3, 3]
    w = r @ angular
    x = r @ linear - spatial.cross_columns(w, p)
    return [spatial.twist(x[:, k], w[:, k]) for k in range(w.shape[1])]


def commutator(x: Matrix, y: Matrix) -> Matrix:
    """The commutator x y − y x of two twists."""
    return x @ y - y @ x


def weighted(matrices: list[Matrix], weights: Matrix) -> Matrix:
    """The sum Σ_k matrices_k weights_k."""
    return sum((matrix * weights[k] for k, matrix in enumerate(matrices)), _NULL)


def move(tree: Tree, links: list[HomogeneousLink], q: Matrix, v: Matrix, a: Matrix) -> list[tuple[Matrix, Matrix]]:
    """Twists V_j and their rates V̇_j: dA_j/dt = V_j A_j and d²A_j/dt² = (V̇_j + V_j²) A_j."""
    motions: list[tuple[Matrix, Matrix]] = []
    for joint, link in zip(tree.joints, links, strict=True):
        velocity, acceleration = motions[joint.parent] if joint.parent >= 0 else (_NULL, _NULL)
        added, rates = weighted(link.q_hat, joint.velocity(v)), twists(link.a, *joint.subspace_rate(q, v))
        acceleration = acceleration + weighted(link.q_hat, joint.velocity(a)) + commutator(velocity, added)
        motions.append((velocity + added, acceleration + weighted(rates, joint.velocity(v))))
    return motions


def traces(x: Matrix, q_hats: list[Matrix]) -> Matrix:
    """Traces Tr(X Q̂ᵀ) for each column of a joint."""
    return ca.vertcat(*(ca.dot(x, q_hat) for q_hat in q_hats))


def mass_matrix(tree: Tree, links: list[HomogeneousLink]) -> Matrix:
    """Mass matrix D_ik = Tr(Q̂_k P_max Q̂_iᵀ), nv × nv."""
    p = tree.suffix_sums([link.p for link in links])
    columns = [[q_hat @ p_j for q_hat in link.q_hat] for link, p_j in zip(links, p, strict=True)]
    return tree.symmetric_matrix(
        (i, j, ca.horzcat(*(traces(column, links[i].q_hat) for column in columns[j]))) for i, j in tree.pairs()
    )


def gravity_torques(tree: Tree, links: list[HomogeneousLink]) -> Matrix:
    """Gravity c_i = −g⁴ Q̂_i Σ_j m_j A_j r̄_j, nv; m_j A_j r̄_j is the last column of A_j J_j A_jᵀ."""
    p = zip(links, tree.suffix_sums([link.p for link in links]), strict=True)
    return tree.vector([traces(-spatial.translation(link.gravity) @ p_i, link.q_hat) for link, p_i in p])


@dataclass(frozen=True)
class Column:
    """One velocity of one joint: entry ``at`` of v, ``k`` among the joint's own, and its Q̂."""

    joint: int
    k: int
    at: int
    q_hat: Matrix


def velocity_tensor(tree: Tree, q: Matrix, links: list[HomogeneousLink]) -> list[Matrix]:
    """Velocity tensor h_ikm as nv matrices h_i[k, m], each nv × nv: C_ik = Σ_m h_ikm v_m.

    h_ikm = Tr(U_km P_max(i,k,m) Q̂_iᵀ), with U_km A_j = U_jkm: the sum over j is in P.
    """
    p = tree.suffix_sums([link.p for link in links])
    paths = [set(tree.path(j)) for j in range(len(links))]
    columns = [
        Column(j, k, at, links[j].q_hat[k]) for j, joint in enumerate(tree.joints) for k, at in enumerate(joint.columns)
    ]
    weighed = [i.q_hat @ p[i.joint] for i in columns]
    h: list[list[list[Matrix]]] = [[[ca.DM(1, 1)] * tree.nv for _ in range(tree.nv)] for _ in range(tree.nv)]
    # all pairs k, m, without the symmetry h_ikm = h_imk, which quasi-velocities do not have
    for k, m in itertools.product(columns, columns):
        lower = max(k.joint, m.joint)
        if min(k.joint, m.joint) not in paths[lower]:
            continue
        u_km = second_derivative(tree, q, links, k, m)
        at_lower = u_km @ p[lower]
        for i, q_hat_p in zip(columns, weighed, strict=True):
            if i.joint in paths[lower]:
                h[i.at][k.at][m.at] += ca.dot(at_lower, i.q_hat)
            elif lower in paths[i.joint]:
                h[i.at][k.at][m.at] += ca.dot(u_km, q_hat_p)
    return [spatial.rows(*h_i) for h_i in h]


def second_derivative(tree: Tree, q: Matrix, links: list[HomogeneousLink], k: Column, m: Column) -> Matrix:
    """Derivative U_km, the derivative of Q̂_k A_j along column m: Q̂_m Q̂_k with m at or above k, Q̂_k Q̂_m with m below.

    A joint whose subspace depends on q adds the derivative of its own column k.
    """
    if m.joint != k.joint:
        return k.q_hat @ m.q_hat if m.joint > k.joint else m.q_hat @ k.q_hat
    along_m = ca.DM(tree.nv, 1)
    along_m[m.at] = 1
    own_rates = twists(links[k.joint].a, *tree.joints[k.joint].subspace_rate(q, along_m))
    return m.q_hat @ k.q_hat + own_rates[k.k]


class LagrangeEuler(Dynamics):
    """Dynamics by the Lagrange–Euler equations in trace form (Niku, ch. 4); see the module for the equations.

    Arguments, errors and all common Functions: :class:`~gdalembert.Dynamics`.
    """

    name: ClassVar[str] = "lagrange_euler"
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "niku",
            "book",
            "Introduction to Robotics: Analysis, Control, Applications",
            ("S. B. Niku",),
            "lagrange_euler",
            equations="Lagrange-Euler equations in trace form (chapter 4)",
        ),
    )

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        """Torque tau (nv), tau_i = Tr(W_i Q̂_iᵀ); gravity accelerates all masses, −g in the last column of Ä_j.

        The base class knows the part of the wrenches, −Σ Jᵀ w, and adds armature and the other forces to the result.
        """
        links = place(self.tree, q)
        w = self.tree.suffix_sums(
            [
                (v_dot + v_j @ v_j - spatial.translation(link.gravity)) @ link.p
                for link, (v_j, v_dot) in zip(links, move(self.tree, links, q, v, a), strict=True)
            ]
        )
        tau = self.tree.vector([traces(w_i, link.q_hat) for w_i, link in zip(w, links, strict=True)])
        return tau + self.wrench_torque_expression(q, wrenches)

    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        return mass_matrix(self.tree, place(self.tree, q))

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        """Coriolis matrix C_ij = Σ_s Tr(dU_sj/dt J_s U_siᵀ) = Tr([dQ̂_j/dt P_max + Q̂_j Σ V_s P_s] Q̂_iᵀ), nv × nv."""
        tree, links = self.tree, place(self.tree, q)
        motions = move(tree, links, q, v, ca.DM(tree.nv, 1))
        p = tree.suffix_sums([link.p for link in links])
        vp = tree.suffix_sums([v_s @ link.p for link, (v_s, _) in zip(links, motions, strict=True)])
        rates: list[list[Matrix]] = []
        for joint, link, (velocity, _) in zip(tree.joints, links, motions, strict=True):
            # a single column is not turned by the joint's own motion
            turning = velocity if joint.type.nv > 1 else motions[joint.parent][0] if joint.parent >= 0 else _NULL
            subspace_rates = twists(link.a, *joint.subspace_rate(q, v))
            rates.append([commutator(turning, x) + y for x, y in zip(link.q_hat, subspace_rates, strict=True)])

        def block(i: int, j: int, s: int) -> Matrix:
            pairs = zip(rates[j], links[j].q_hat, strict=True)
            return ca.horzcat(*(traces(rate @ p[s] + q_hat @ vp[s], links[i].q_hat) for rate, q_hat in pairs))

        upper = [(i, j, block(i, j, j)) for i, j in tree.pairs()]
        return tree.matrix([*upper, *((j, i, block(j, i, j)) for i, j in tree.pairs() if i != j)])

    def kinetic_energy_expression(self, q: Matrix, v: Matrix) -> Matrix:
        """Kinetic energy K = ½ Σ_j Tr(Ȧ_j J_j Ȧ_jᵀ)."""
        links = place(self.tree, q)
        motions = move(self.tree, links, q, v, ca.DM(self.tree.nv, 1))
        return 0.5 * sum(ca.dot(v_j @ link.p, v_j) for link, (v_j, _) in zip(links, motions, strict=True))

    @cached_property
    def terms(self) -> ca.Function:
        """(q) → (D, h_1 … h_nv, c, I_act): D and each h_i are nv × nv, c and I_act nv; h_i[k, m] = h_ikm.

        Where v = dq/dt, h_ikm is Christoffel's symbol of the first kind, symmetric in k and m. For quasi-velocities
        (spherical, planar, free-flyer) it is not: k is the column, m the direction of differentiation, and
        C_ik = Σ_m h_ikm v_m still holds. Armature is in I_act alone.
        """
        s = self.symbols("q")
        tree, links = self.tree, place(self.tree, s["q"])
        tensor = velocity_tensor(tree, s["q"], links)
        d_and_h = {"D": mass_matrix(tree, links)} | {f"h_{i}": h_i for i, h_i in enumerate(tensor, 1)}
        return function("terms", s, d_and_h | {"c": gravity_torques(tree, links), "I_act": self._armature})
