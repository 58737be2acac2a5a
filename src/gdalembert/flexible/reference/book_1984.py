"""4 × 4 recursion for flexible links (Book, Recursive Lagrangian dynamics of flexible manipulator arms, 1984).

The transforms of a chain are X_1, X_2, …, alternately those of joints (P A Q) and of sections of links (E), and
W_k = W_{k−1} X_k. Outward, with gravity as an acceleration −g of the base (Book 1984),

    Ẇ_k = Ẇ_{k−1} X_k + W_{k−1} Ẋ_k        Ẅ_k = Ẅ_{k−1} X_k + 2 Ẇ_{k−1} Ẋ_k + W_{k−1} Ẍ_k

    F = Ẅ D + 2 Ẇ Σ ḟ_j N_jᵀ + W Σ f̈_j N_jᵀ   of a link        F = Ẅ J   of a body on a section

inward, summed over all X_{k+1} that stand on X_k,

    Z_k = F_kᵀ + Σ X_{k+1} Z_{k+1}        tau_c = Tr(W_{k−1} ∂X_k/∂q_c Z_k)

and the modes of a link feel their own link besides:

    tau_r = Tr[(Ẅ N_r + 2 Ẇ Σ ḟ_k C_kr + W Σ f̈_k C_kr) Wᵀ]

W is no rigid motion where R_E = I + [ϑ×]: nothing here takes it for one in that case. Where X is one,
∂X/∂q_c = X Ŝ_c with a twist Ŝ_c, and therefore W_{k−1} Ẋ_k = W_k V and W_{k−1} Ẍ_k = W_k (V² + V̇) with V = Σ Ŝ_c q̇_c.
Foreshortening is not in the source: the recursion runs over all shapes, and its result is projected
(:mod:`gdalembert.flexible.reference.foreshortening`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.dynamics.sources import Source
from gdalembert.flexible.deflection import Deflection
from gdalembert.flexible.deformed_inertia import weighted
from gdalembert.flexible.element import Coordinates, Element, ModalInertia, without_rounding
from gdalembert.flexible.reference.foreshortening import Untied
from gdalembert.spatial.algebra import Matrix

SOURCE = Source(
    "book1984",
    "article",
    "Recursive Lagrangian Dynamics of Flexible Manipulator Arms",
    ("W. J. Book",),
    "flexible links",
    {"journal": "The International Journal of Robotics Research", "year": "1984"},
)

_NULL = ca.DM(4, 4)


@dataclass(frozen=True)
class Motion:
    """W, Ẇ, Ẅ of a frame; 4 × 4 each."""

    w: Matrix
    rate: Matrix
    second_rate: Matrix


class Transform(ABC):
    """X of a joint or of a section."""

    x: Matrix

    @abstractmethod
    def carry(self, base: Motion) -> Motion:
        """The frame that X moves, from the frame that X stands on."""

    @abstractmethod
    def efforts(self, base: Motion, moved: Motion, z: Matrix) -> Matrix:
        """Tr(W_{k−1} ∂X_k/∂q_c Z_k) of each coordinate c."""


@dataclass(frozen=True)
class Rigid(Transform):
    """Ẋ = X V, Ẍ = X (V² + V̇)."""

    x: Matrix
    v: Matrix
    v_rate: Matrix

    def carry(self, base: Motion) -> Motion:
        w, carried = base.w @ self.x, base.rate @ self.x
        second_rate = base.second_rate @ self.x + carried @ (2 * self.v) + w @ (self.v @ self.v + self.v_rate)
        return Motion(w, carried + w @ self.v, second_rate)


@dataclass(frozen=True)
class JointTransform(Rigid):
    """P A Q of a joint; Ŝ in clamped axes, one for each column."""

    twists: list[Matrix]

    @staticmethod
    def of(element: Element, q: Matrix, v: Matrix, a: Matrix) -> JointTransform:
        """From the joint's own coordinates."""
        linear, angular = element.type.subspace(q)
        q_matrix, q_inverse = element.clamped, np.linalg.inv(element.clamped)
        twists = [
            spatial.constant(
                without_rounding(q_inverse @ np.array(spatial.twist(linear[:, k], angular[:, k])) @ q_matrix)
            )
            for k in range(element.type.nv)
        ]
        moved = spatial.transform(*element.type.placement(q))
        return JointTransform(
            spatial.constant(element.placement) @ moved @ spatial.constant(q_matrix),
            weighted(twists, v),
            weighted(twists, a),
            twists,
        )

    def efforts(self, base: Motion, moved: Motion, z: Matrix) -> Matrix:
        y = z @ moved.w
        return ca.vertcat(*(ca.dot(twist.T, y) for twist in self.twists))


@dataclass(frozen=True)
class RotatedSection(Rigid):
    """E of a section that turns by R_E = exp([ϑ×])."""

    deflection: Deflection
    f: Matrix

    @staticmethod
    def of(deflection: Deflection, f: Matrix, v: Matrix, a: Matrix) -> RotatedSection:
        """From modal coordinates and their rates."""
        r, p = deflection.placement(f)
        displacement = deflection.displacement(f)
        omega = deflection.angular_velocity(f, v)
        linear = r.T @ (displacement @ v)
        # d/dt (R_Eᵀ ṗ) = R_Eᵀ p̈ − ω × R_Eᵀ ṗ
        linear_rate = r.T @ (displacement @ a + deflection.displacement_rate(v) @ v) - ca.cross(omega, linear)
        return RotatedSection(
            spatial.transform(r, p),
            spatial.twist(linear, omega),
            spatial.twist(linear_rate, deflection.angular_acceleration(f, v, a)),
            deflection,
            f,
        )

    def efforts(self, base: Motion, moved: Motion, z: Matrix) -> Matrix:
        force, moment = _wrench(z @ moved.w)
        turned = self.x[:3, :3] @ force
        return self.deflection.displacement(self.f).T @ turned + self.deflection.modal_forces(self.f, moment)


@dataclass(frozen=True)
class ShearedSection(Transform):
    """E of a section with R_E = I + [ϑ×]: ∂E/∂f_j = [[ϑ_j×], ∂p/∂f_j; 0, 0]."""

    x: Matrix
    rate: Matrix
    second_rate: Matrix
    translation: Matrix  # ∂p/∂f
    rotation: Matrix  # Θ

    @staticmethod
    def of(deflection: Deflection, f: Matrix, v: Matrix, a: Matrix) -> ShearedSection:
        """From modal coordinates and their rates."""
        u, theta = deflection.displacement(f), spatial.constant(deflection.rotation)
        return ShearedSection(
            deflection.transform(f),
            spatial.twist(u @ v, theta @ v),
            spatial.twist(u @ a + deflection.displacement_rate(v) @ v, theta @ a),
            u,
            theta,
        )

    def carry(self, base: Motion) -> Motion:
        return Motion(
            base.w @ self.x,
            base.rate @ self.x + base.w @ self.rate,
            base.second_rate @ self.x + base.rate @ (2 * self.rate) + base.w @ self.second_rate,
        )

    def efforts(self, base: Motion, moved: Motion, z: Matrix) -> Matrix:
        force, moment = _wrench(z @ base.w)
        return self.translation.T @ force + self.rotation.T @ moment


def _wrench(y: Matrix) -> tuple[Matrix, Matrix]:
    """Force and moment that do on a twist [[ω×], x; 0, 0] the work Tr(twist Y)."""
    return y[3, :3].T, ca.vertcat(y[1, 2] - y[2, 1], y[2, 0] - y[0, 2], y[0, 1] - y[1, 0])


@dataclass(frozen=True)
class Integrals:
    """The integrals over a link at modal coordinates f, 4 × 4 each."""

    inertia: ModalInertia
    d: Matrix
    n: list[Matrix]

    @staticmethod
    def of(inertia: ModalInertia, f: Matrix) -> Integrals:
        """N_j = C_j + Σ f_k C_kj, and D = C + Y + Yᵀ with Y = ½ Σ f_j (C_j + N_j)."""
        modes = range(inertia.modes)
        first = [spatial.constant(x) for x in inertia.first]
        n = [first[j] + weighted([spatial.constant(inertia.second[k, j]) for k in modes], f) for j in modes]
        y = weighted([first[j] + n[j] for j in modes], f / 2)
        return Integrals(inertia, spatial.constant(inertia.rigid) + (y + y.T), n)

    def demand(self, motion: Motion, v: Matrix, a: Matrix) -> Matrix:
        """F."""
        n_rate, n_second_rate = weighted(self.n, 2 * v), weighted(self.n, a)
        return motion.second_rate @ self.d + motion.rate @ n_rate.T + motion.w @ n_second_rate.T

    def modal_forces(self, motion: Motion, v: Matrix, a: Matrix, exact: bool) -> Matrix:
        """Tr[(Ẅ N_r + 2 Ẇ Σ ḟ_k C_kr + W Σ f̈_k C_kr) Wᵀ] of each mode; Tr(X N Wᵀ) = Σ_ab N_ab (Xᵀ W)_ab."""
        modes = range(self.inertia.modes)
        metric = ca.DM.eye(4) if exact else motion.w.T @ motion.w  # C_kr does not see more of it than RᵀR
        metric_rate, metric_second_rate = motion.rate.T @ motion.w, motion.second_rate.T @ motion.w

        def force(r: int) -> Matrix:
            second = [spatial.constant(x) for x in self.inertia.second[:, r]]
            return (
                ca.dot(self.n[r], metric_second_rate)
                + ca.dot(weighted(second, 2 * v), metric_rate)
                + ca.dot(weighted(second, a), metric)
            )

        return ca.vertcat(ca.DM(0, 1), *(force(r) for r in modes))


@dataclass(frozen=True)
class Link:
    """A link and the joint that moves it, on their way outward."""

    base: Motion
    joint: JointTransform
    motion: Motion  # of the clamped frame
    integrals: Integrals
    sections: Sequence[RotatedSection | ShearedSection]
    stations: list[Motion]

    @staticmethod
    def of(
        element: Element, base: Motion, coordinates: Coordinates, q: Matrix, v: Matrix, a: Matrix, exact: bool
    ) -> Link:
        """The next link, from the motion of the frame that its joint stands on."""
        rates = (coordinates.joint_rate(element, x) for x in (v, a))
        joint = JointTransform.of(element, coordinates.joint(element, q), *rates)
        motion = joint.carry(base)
        f = coordinates.modes(element, q)
        f_rates = [coordinates.modal_rate(element, x) for x in (v, a)]
        deflections = [Deflection.of(station, exact=exact) for station in element.stations]
        of_kind = RotatedSection.of if exact else ShearedSection.of
        sections = [of_kind(deflection, f, *f_rates) for deflection in deflections]
        stations = [section.carry(motion) for section in sections]
        return Link(base, joint, motion, Integrals.of(element.inertia, f), sections, stations)


def inverse_dynamics(
    elements: Sequence[Element], gravity: npt.ArrayLike, q: Matrix, v: Matrix, a: Matrix, *, exact: bool = True
) -> Matrix:
    """tau = M a + C + G of all joints and modes; no stiffness, no damping, no rotors.

    Args:
        elements: parents before children.
        gravity: acceleration (3, m/s²).
        q, v, a: joints and modes, see :class:`~gdalembert.flexible.element.Element`; what comes behind is not read.
        exact: R_E = exp([ϑ×]), or else I + [ϑ×].
    """
    untied, nv = Untied.of(elements), Coordinates.of(elements).nv
    gamma = untied.jacobian(q)
    free = untied.configuration(q), gamma @ v[:nv], gamma @ a[:nv] + untied.bias(v)
    return gamma.T @ _inverse_dynamics(untied.elements, gravity, *free, exact)


def _inverse_dynamics(
    elements: Sequence[Element], gravity: npt.ArrayLike, q: Matrix, v: Matrix, a: Matrix, exact: bool
) -> Matrix:
    """Of shapes that are modes of their own."""
    coordinates = Coordinates.of(elements)
    links: list[Link] = []
    root = Motion(ca.DM.eye(4), _NULL, -spatial.translation(spatial.constant(gravity)))
    for element in elements:
        base = root if element.parent < 0 else links[element.parent].stations[element.attached]
        links.append(Link.of(element, base, coordinates, q, v, a, exact))

    tau: list[Matrix] = [ca.DM(1, 1)] * coordinates.nv
    # Z of each station, first of the bodies on it alone: F = Ẅ J
    z = [
        [spatial.constant(s.body) @ motion.second_rate.T for s, motion in zip(e.stations, link.stations, strict=True)]
        for e, link in zip(elements, links, strict=True)
    ]
    for i, element in reversed(list(enumerate(elements))):
        link = links[i]
        own = coordinates.modal_rate(element, v), coordinates.modal_rate(element, a)
        modal = link.integrals.modal_forces(link.motion, *own, exact)
        z_link = link.integrals.demand(link.motion, *own).T
        for section, motion, z_section in zip(link.sections, link.stations, z[i], strict=True):
            modal = modal + section.efforts(link.motion, motion, z_section)
            z_link = z_link + section.x @ z_section
        efforts = link.joint.efforts(link.base, link.motion, z_link)
        for k in range(element.type.nv):
            tau[element.idx_v + k] = efforts[k]
        for k in range(element.inertia.modes):
            tau[element.first_mode + k] = modal[k]
        if element.parent >= 0:
            z[element.parent][element.attached] = z[element.parent][element.attached] + link.joint.x @ z_link
    return ca.vertcat(*tau)
