"""The explicit equations of motion of Cetinkunt and Book (1988) in trace form, corrected.

Joint i is element 2i − 1, link i is element 2i. W_{2i−1} is the clamped frame of link i, W_{2i−1} A_{2i} that of a
station on it, 4 × 4 each; C, C_j and C_jk are the integrals over a link. For every body b (a link, or the bodies on a
station)

    D = C + Σ f_j (C_j + C_jᵀ) + ΣΣ f_j f_k C_jk        N_r = C_r + Σ f_k C_kr                 (CB20, CB21)

    M_cd = Σ_b Tr(W_{b,d} D_b W_{b,c}ᵀ)     M_cr = Tr(W_{,c} N_r Wᵀ)     M_rt = Tr(W C_rt Wᵀ)      (CB32)

    V_c = Σ_b Tr(Ω_b D_b W_{b,c}ᵀ) + 2 Σ ḟ_j Tr(W_{,c} N_j Ẇᵀ),   Ω = ΣΣ W_{,cd} q̇_c q̇_d          (CB33)
    V_r = Tr(Ω N_r Wᵀ) + 2 Σ ḟ_k Tr(Ẇ C_kr Wᵀ)

    G_c = −gᵀ Σ_b W_{b,c} D_b e_4           G_r = −gᵀ W N_rᵀ e_4                                  (CB34)

c and d are the coordinates proximal to the body, joints and modes, r and t the modes of its own link;
W_{,c} = ∂W/∂q_c, e_4 = (0, 0, 0, 1)ᵀ. Corrections of the print: the order of the indices of C_kr, which matters
in space; the mirror image of M_cr below the diagonal; the last two terms of V_r; the sign of G. Trees, bodies on any
station, and foreshortening are ours; with foreshortening the equations are those of all shapes, projected
(:mod:`gdalembert.flexible.reference.foreshortening`).

These equations are a reference, to read and to test the recursion with: they grow with the cube of the number of links.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.sources import Source
from gdalembert.flexible.reference.foreshortening import ForeshorteningProjection
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import directional_derivative

SOURCE = Source(
    "cetinkunt1988",
    "article",
    "Symbolic Modeling and Dynamic Simulation of Robotic Manipulators with Compliant Links and Joints",
    ("S. Cetinkunt", "W. J. Book"),
    "flexible links and joints",
    {"journal": "Robotics and Computer-Integrated Manufacturing", "year": "1988"},
    equations="equations of motion of flexible links and joints, corrected and generalised",
)


@dataclass(frozen=True)
class MovingBody:
    """A link with its modes, or the rigid bodies on one station, which have no modes of their own."""

    w: Matrix  # W_{2i−1} of a link, W_{2i−1} A_{2i} of bodies on a station
    derivatives: dict[int, Matrix]  # W_{,c} by proximal coordinate c (index in v)
    d: Matrix  # D
    n: list[Matrix]  # N_r of each mode of the link
    inertia: ModalInertia | None  # C_jk
    modes: range  # the indices of the modes in v

    def second(self, j: int, k: int) -> Matrix:
        """C_jk of modes j and k."""
        assert self.inertia is not None
        return spatial.constant(self.inertia.second[j, k])


def trace(a: Matrix, b: Matrix, c: Matrix) -> Matrix:
    """Tr(A B Cᵀ)."""
    return ca.dot(a @ b, c)


def add(m: Matrix, i: int, j: int, entry: Matrix) -> None:
    """Add to m_ij and m_ji; once on the diagonal."""
    m[i, j] += entry
    if i != j:
        m[j, i] += entry


class SymbolicRobot:
    """All bodies at symbols q and v."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.nv = tree, tree.nv
        self.q, self.v = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv)
        self.rate = tree.configuration_rate(self.q, self.v)
        self.bodies: list[MovingBody] = []
        placed: dict[int, tuple[Matrix, list[int]]] = {-1: (ca.DM.eye(4), [])}  # W, and the proximal coordinates
        for i, joint in enumerate(tree.joints):
            below, proximal = placed[joint.parent]
            # W_{2i−1} = W_{2(i−1)} P A_{2i−1}, W_{2i} = W_{2i−1} E_{2i}
            w, proximal = below @ spatial.transform(*joint.placement(self.q)), proximal + list(joint.columns)
            placed[i] = w, proximal
            body = spatial.constant(joint.pseudo_inertia)
            if (inertia := tree.assumed_modes.get(i)) is not None:
                station = tree.joints[tree.first_station(i)]
                f, modes = station.configuration(self.q), range(inertia.modes)
                first = [spatial.constant(x) for x in inertia.first]
                n, d = list(first), body
                for j in modes:
                    d = d + f[j] * (first[j] + first[j].T)
                    for k in modes:
                        n[j] = n[j] + f[k] * spatial.constant(inertia.second[k, j])
                        d = d + f[j] * f[k] * spatial.constant(inertia.second[j, k])
                derivatives = self._derivatives(w, proximal)
                self.bodies.append(MovingBody(w, derivatives, d, n, inertia, station.columns))
            elif body.nnz():
                self.bodies.append(MovingBody(w, self._derivatives(w, proximal), body, [], None, range(0)))

    def _derivatives(self, w: Matrix, proximal: list[int]) -> dict[int, Matrix]:
        """∂W/∂q_c; the derivative by the angle where q holds its (cos, sin)."""
        every = ca.jacobian(ca.vec(w), self.q) @ ca.jacobian(self.rate, self.v)
        return {c: ca.reshape(every[:, c], 4, 4) for c in proximal}

    def rates(self, body: MovingBody) -> tuple[Matrix, Matrix]:
        """Ẇ = Σ W_{,c} q̇_c and Ω = ΣΣ W_{,cd} q̇_c q̇_d, summed over all proximal coordinates."""
        w_rate = sum((w_c * self.v[c] for c, w_c in body.derivatives.items()), start=ca.SX(4, 4))
        return w_rate, directional_derivative(w_rate, self.q, self.rate)


def mass_matrix(tree: Tree, q: Matrix) -> Matrix:
    """M (CB32), nv × nv."""
    projection = ForeshorteningProjection.of(tree)
    gamma = projection.jacobian(q)
    return gamma.T @ _evaluated(free_mass_matrix, projection, projection.configuration(q)) @ gamma


def coriolis_vector(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """V = C(q, q̇) (CB33), nv."""
    projection = ForeshorteningProjection.of(tree)
    gamma, free = projection.jacobian(q), projection.configuration(q)
    m = _evaluated(free_mass_matrix, projection, free)
    return gamma.T @ (_evaluated(free_coriolis_vector, projection, free, gamma @ v) + m @ projection.bias(v))


def gravity_vector(tree: Tree, q: Matrix) -> Matrix:
    """G (CB34), nv."""
    projection = ForeshorteningProjection.of(tree)
    free_gravity = partial(free_gravity_vector, gravity=spatial.constant(tree.gravity))
    return projection.jacobian(q).T @ _evaluated(free_gravity, projection, projection.configuration(q))


def free_mass_matrix(robot: SymbolicRobot) -> Matrix:
    """CB32 of independent shapes, at symbols."""
    m = ca.SX(robot.nv, robot.nv)
    for b in robot.bodies:
        for (c, w_c), (d, w_d) in combinations_with_replacement(b.derivatives.items(), 2):
            add(m, c, d, trace(w_d, b.d, w_c))
        for c, w_c in b.derivatives.items():
            for r, n_r in zip(b.modes, b.n, strict=True):
                add(m, c, r, trace(w_c, n_r, b.w))
        for (r, at_r), (t, at_t) in combinations_with_replacement(enumerate(b.modes), 2):
            add(m, at_r, at_t, trace(b.w, b.second(r, t), b.w))
    return m


def free_coriolis_vector(robot: SymbolicRobot) -> Matrix:
    """CB33 of independent shapes, at symbols."""
    velocity_vector = ca.SX(robot.nv, 1)
    for b in robot.bodies:
        w_rate, omega = robot.rates(b)
        f_rates = [robot.v[r] for r in b.modes]
        for c, w_c in b.derivatives.items():
            velocity_vector[c] += trace(omega, b.d, w_c)
            for j, fj_rate in enumerate(f_rates):
                velocity_vector[c] += 2 * fj_rate * trace(w_c, b.n[j], w_rate)
        for r, at_r in enumerate(b.modes):
            velocity_vector[at_r] += trace(omega, b.n[r], b.w)
            for k, fk_rate in enumerate(f_rates):
                velocity_vector[at_r] += 2 * fk_rate * trace(w_rate, b.second(k, r), b.w)
    return velocity_vector


def free_gravity_vector(robot: SymbolicRobot, gravity: ca.DM) -> Matrix:
    """CB34 of independent shapes, at symbols."""
    g, e4 = ca.vertcat(gravity, 0), ca.DM([0, 0, 0, 1])
    torques = ca.SX(robot.nv, 1)
    for b in robot.bodies:
        for c, w_c in b.derivatives.items():
            torques[c] -= ca.dot(g, w_c @ b.d @ e4)
        for r, n_r in zip(b.modes, b.n, strict=True):
            torques[r] -= ca.dot(g, b.w @ n_r.T @ e4)
    return torques


def _evaluated(
    equations: Callable[[SymbolicRobot], Matrix],
    projection: ForeshorteningProjection,
    *arguments: Matrix,
) -> Matrix:
    """Evaluate equations that differentiate by symbols at arguments of any kind."""
    robot = SymbolicRobot(projection.free)
    symbols = [robot.q, robot.v][: len(arguments)]
    return ca.Function("equations", symbols, [ca.densify(equations(robot))])(*arguments)
