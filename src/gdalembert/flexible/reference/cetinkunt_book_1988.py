"""The explicit equations of motion of Cetinkunt and Book (1988) in trace form, corrected.

Joint i is element 2i − 1, link i is element 2i. W_{2i−1} is the clamped frame of link i, W_{2i−1} A_{2i} that of a
section of it, 4 × 4 each; C, C_j and C_jk are the integrals over a link. Of every body b, link or bodies on a section,

    D = C + Σ f_j (C_j + C_jᵀ) + ΣΣ f_j f_k C_jk        N_r = C_r + Σ f_k C_kr                 (CB20, CB21)

    M_cd = Σ_b Tr(W_{b,d} D_b W_{b,c}ᵀ)     M_cr = Tr(W_{,c} N_r Wᵀ)     M_rt = Tr(W C_rt Wᵀ)      (CB32)

    V_c = Σ_b Tr(Ω_b D_b W_{b,c}ᵀ) + 2 Σ ḟ_j Tr(W_{,c} N_j Ẇᵀ),   Ω = ΣΣ W_{,cd} q̇_c q̇_d          (CB33)
    V_r = Tr(Ω N_r Wᵀ) + 2 Σ ḟ_k Tr(Ẇ C_kr Wᵀ)

    G_c = −gᵀ Σ_b W_{b,c} D_b e_4           G_r = −gᵀ W N_rᵀ e_4                                  (CB34)

c and d are the coordinates proximal to the body, joints and modes, r and t the modes of its own link;
W_{,c} = ∂W/∂q_c, e_4 = (0, 0, 0, 1)ᵀ. Corrected against the print are the order of the indices of C_kr, which matters
in space, the mirror image of M_cr below the diagonal, the last two terms of V_r, and the sign of G. Ours
are trees, bodies on any section, and foreshortening: the equations are those of all shapes, projected
(:mod:`gdalembert.flexible.reference.foreshortening`).

These equations are for reading, and for tests of what runs faster: they grow like the cube of the number of links.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.dynamics.sources import Source
from gdalembert.flexible.deflection import Deflection
from gdalembert.flexible.element import Coordinates, Element, ModalInertia, Station
from gdalembert.flexible.reference.foreshortening import Untied
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

_BASE = ca.DM.eye(4)
_ALONG = np.array([1.0, 0.0, 0.0])


@dataclass(frozen=True)
class Body:
    """A link with its modes, or the rigid bodies on one section of a link, which have none of their own.

    Attributes:
        w: W_{2i−1} of a link, W_{2i−1} A_{2i} of bodies on a section.
        derivatives: W_{,c} by proximal coordinate c (index in v).
        d: D. ``n``: N_r of each own mode. ``inertia``: C_jk.
        modes: where the own modes stand in v.
    """

    w: Matrix
    derivatives: dict[int, Matrix]
    d: Matrix
    n: list[Matrix]
    inertia: ModalInertia | None
    modes: range

    def second(self, j: int, k: int) -> Matrix:
        """C_jk of own modes j and k."""
        assert self.inertia is not None
        return spatial.constant(self.inertia.second[j, k])


def trace(a: Matrix, b: Matrix, c: Matrix) -> Matrix:
    """Tr(A B Cᵀ)."""
    return ca.dot(a @ b, c)


def add(m: Matrix, i: int, j: int, entry: Matrix) -> None:
    """To m_ij and to m_ji; once to the diagonal."""
    m[i, j] += entry
    if i != j:
        m[j, i] += entry


class Robot:
    """All bodies at symbolic q, and how q changes with v."""

    def __init__(self, elements: Sequence[Element], exact: bool) -> None:
        self.elements = elements
        self.coordinates = Coordinates.of(elements)
        self.q = ca.SX.sym("q", self.coordinates.nq)
        self.v = ca.SX.sym("v", self.coordinates.nv)
        self.bodies: list[Body] = []
        sections: list[list[tuple[Matrix, list[int]]]] = []
        for element in elements:
            below, proximal = (_BASE, []) if element.parent < 0 else sections[element.parent][element.attached]
            # W_{2i−1} = W_{2(i−1)} P A_{2i−1} Q
            joint = spatial.transform(*element.type.placement(self.coordinates.joint(element, self.q)))
            w = below @ spatial.constant(element.placement) @ joint @ spatial.constant(element.clamped)
            proximal = proximal + [element.idx_v + k for k in range(element.type.nv)]
            self.bodies.append(self._link(element, w, proximal))
            f, modes = self.coordinates.modes(element, self.q), self.bodies[-1].modes
            on_link = [(w @ _section(s, exact).transform(f), proximal + list(modes)) for s in element.stations]
            sections.append(on_link)
            for (w_section, upto), station in zip(on_link, element.stations, strict=True):
                body = spatial.constant(station.body)
                if body.nnz():
                    self.bodies.append(Body(w_section, self._derivatives(w_section, upto), body, [], None, range(0)))

    @property
    def rate(self) -> ca.SX:
        """dq/dt."""
        rate = ca.SX(self.coordinates.nq, 1)
        for e in self.elements:
            own = self.coordinates.joint(e, self.q)
            rate[e.idx_q : e.idx_q + e.type.nq] = e.type.configuration_rate(own, self.coordinates.joint_rate(e, self.v))
            first = e.first_mode + self.coordinates.behind
            rate[first : first + e.inertia.modes] = self.coordinates.modal_rate(e, self.v)
        return rate

    def _link(self, element: Element, w: Matrix, proximal: list[int]) -> Body:
        f, inertia = self.coordinates.modes(element, self.q), element.inertia
        modes = range(inertia.modes)
        first = [spatial.constant(x) for x in inertia.first]
        n, d = list(first), spatial.constant(inertia.rigid)
        for j in modes:
            d = d + f[j] * (first[j] + first[j].T)
            for k in modes:
                n[j] = n[j] + f[k] * spatial.constant(inertia.second[k, j])
                d = d + f[j] * f[k] * spatial.constant(inertia.second[j, k])
        own = range(element.first_mode, element.first_mode + inertia.modes)
        return Body(w, self._derivatives(w, proximal), d, n, inertia, own)

    def _derivatives(self, w: Matrix, proximal: list[int]) -> dict[int, Matrix]:
        """∂W/∂q_c; of a coordinate that is stored as (cos, sin) the derivative by the angle."""
        every = ca.jacobian(ca.vec(w), self.q) @ ca.jacobian(self.rate, self.v)
        return {c: ca.reshape(every[:, c], 4, 4) for c in proximal}

    def rates(self, body: Body) -> tuple[Matrix, Matrix]:
        """Ẇ = Σ W_{,c} q̇_c and Ω = ΣΣ W_{,cd} q̇_c q̇_d, sums over all proximal coordinates."""
        w_rate = sum((w_c * self.v[c] for c, w_c in body.derivatives.items()), start=ca.SX(4, 4))
        return w_rate, directional_derivative(w_rate, self.q, self.rate)


def _section(s: Station, exact: bool) -> Deflection:
    """A station in the clamped frame; its constants may be symbols."""
    return Deflection(s.position, s.translation, s.rotation, s.shortening, _ALONG, exact)


def mass_matrix(elements: Sequence[Element], q: Matrix, *, exact: bool = True) -> Matrix:
    """M (CB32), nv × nv.

    Args:
        elements: parents before children.
        q: joints and modes, see :class:`~gdalembert.flexible.element.Element`.
        exact: R_E = exp([ϑ×]), or else I + [ϑ×].
    """
    untied = Untied.of(elements)
    gamma = untied.jacobian(q)
    return gamma.T @ _evaluated(free_mass_matrix, untied, exact, untied.configuration(q)) @ gamma


def coriolis_vector(elements: Sequence[Element], q: Matrix, v: Matrix, *, exact: bool = True) -> Matrix:
    """V = C(q, q̇) (CB33), nv; arguments as :func:`mass_matrix`."""
    untied = Untied.of(elements)
    gamma, free = untied.jacobian(q), untied.configuration(q)
    m = _evaluated(free_mass_matrix, untied, exact, free)
    return gamma.T @ (_evaluated(free_coriolis_vector, untied, exact, free, gamma @ v) + m @ untied.bias(v))


def gravity_vector(elements: Sequence[Element], gravity: npt.ArrayLike, q: Matrix, *, exact: bool = True) -> Matrix:
    """G (CB34), nv; ``gravity`` is an acceleration (3, m/s²), other arguments as :func:`mass_matrix`."""
    untied = Untied.of(elements)
    own = partial(free_gravity_vector, gravity=spatial.constant(gravity))
    return untied.jacobian(q).T @ _evaluated(own, untied, exact, untied.configuration(q))


def free_mass_matrix(robot: Robot) -> Matrix:
    """CB32 of all shapes at symbols."""
    m = ca.SX(robot.coordinates.nv, robot.coordinates.nv)
    for b in robot.bodies:
        for (c, w_c), (d, w_d) in combinations_with_replacement(b.derivatives.items(), 2):
            add(m, c, d, trace(w_d, b.d, w_c))
        for c, w_c in b.derivatives.items():
            for r, n_r in zip(b.modes, b.n, strict=True):
                add(m, c, r, trace(w_c, n_r, b.w))
        for (r, at_r), (t, at_t) in combinations_with_replacement(enumerate(b.modes), 2):
            add(m, at_r, at_t, trace(b.w, b.second(r, t), b.w))
    return m


def free_coriolis_vector(robot: Robot) -> Matrix:
    """CB33 of all shapes at symbols."""
    velocity_vector = ca.SX(robot.coordinates.nv, 1)
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


def free_gravity_vector(robot: Robot, gravity: ca.DM) -> Matrix:
    """CB34 of all shapes at symbols."""
    g, e4 = ca.vertcat(gravity, 0), ca.DM([0, 0, 0, 1])
    torques = ca.SX(robot.coordinates.nv, 1)
    for b in robot.bodies:
        for c, w_c in b.derivatives.items():
            torques[c] -= ca.dot(g, w_c @ b.d @ e4)
        for r, n_r in zip(b.modes, b.n, strict=True):
            torques[r] -= ca.dot(g, b.w @ n_r.T @ e4)
    return torques


def _evaluated(equations: Callable[[Robot], Matrix], untied: Untied, exact: bool, *arguments: Matrix) -> Matrix:
    """Equations that differentiate by symbols, at arguments of any kind."""
    robot = Robot(untied.elements, exact)
    symbols = [robot.q, robot.v][: len(arguments)]
    return ca.Function("equations", symbols, [ca.densify(equations(robot))])(*arguments)
