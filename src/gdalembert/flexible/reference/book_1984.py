"""4 × 4 recursion for flexible links (Book, Recursive Lagrangian dynamics of flexible manipulator arms, 1984).

The transforms of a chain are X_1, X_2, …, alternately those of joints (P A Q) and of stations (E), and
W_k = W_{k−1} X_k. Outward, with gravity as an acceleration −g of the base (Book 1984),

    Ẇ_k = Ẇ_{k−1} X_k + W_{k−1} Ẋ_k        Ẅ_k = Ẅ_{k−1} X_k + 2 Ẇ_{k−1} Ẋ_k + W_{k−1} Ẍ_k

    F = Ẅ D + 2 Ẇ Σ ḟ_j N_jᵀ + W Σ f̈_j N_jᵀ   of a link        F = Ẅ J   of a body on a station

inward, summed over all X_{k+1} that follow X_k,

    Z_k = F_kᵀ + Σ X_{k+1} Z_{k+1}        tau_c = Tr(W_{k−1} ∂X_k/∂q_c Z_k)

to which the inertia of the mode's own link adds

    tau_r = Tr[(Ẅ N_r + 2 Ẇ Σ ḟ_k C_kr + W Σ f̈_k C_kr) Wᵀ]

Where R_E = I + [ϑ×], W is not a rigid motion, and nothing here assumes that it is. Where X is one,
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
from gdalembert.dynamics.newton_euler.deformed_inertia import weighted
from gdalembert.dynamics.sources import Source
from gdalembert.flexible.link_model import LinkModel
from gdalembert.flexible.reference.foreshortening import ForeshorteningProjection, velocities
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.rounding import clean_matrix
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
class FrameMotion:
    """W, Ẇ, Ẅ of a frame; 4 × 4 each."""

    w: Matrix
    rate: Matrix
    second_rate: Matrix


class Transform(ABC):
    """X of a joint or of a station."""

    x: Matrix

    @abstractmethod
    def carry(self, base: FrameMotion) -> FrameMotion:
        """The motion of the frame behind X, from that of the frame before it."""

    @abstractmethod
    def efforts(self, base: FrameMotion, moved: FrameMotion, z: Matrix) -> Matrix:
        """Tr(W_{k−1} ∂X_k/∂q_c Z_k) of each coordinate c."""


@dataclass(frozen=True)
class Rigid(Transform):
    """Ẋ = X V, Ẍ = X (V² + V̇)."""

    x: Matrix
    v: Matrix
    v_rate: Matrix

    def carry(self, base: FrameMotion) -> FrameMotion:
        w, carried = base.w @ self.x, base.rate @ self.x
        second_rate = base.second_rate @ self.x + carried @ (2 * self.v) + w @ (self.v @ self.v + self.v_rate)
        return FrameMotion(w, carried + w @ self.v, second_rate)


@dataclass(frozen=True)
class JointTransform(Rigid):
    """P A Q of a joint; Ŝ in clamped axes, one for each column."""

    twists: list[Matrix]

    @staticmethod
    def of(link: LinkModel, q: Matrix, v: Matrix, a: Matrix) -> JointTransform:
        """From the joint's own coordinates."""
        linear, angular = link.type.subspace(q)
        q_matrix, q_inverse = link.clamped, np.linalg.inv(link.clamped)
        twists = [
            spatial.constant(clean_matrix(q_inverse @ np.array(spatial.twist(linear[:, k], angular[:, k])) @ q_matrix))
            for k in range(link.type.nv)
        ]
        moved = spatial.transform(*link.type.placement(q))
        return JointTransform(
            spatial.constant(link.placement) @ moved @ spatial.constant(q_matrix),
            weighted(twists, v),
            weighted(twists, a),
            twists,
        )

    def efforts(self, base: FrameMotion, moved: FrameMotion, z: Matrix) -> Matrix:
        y = z @ moved.w
        return ca.vertcat(*(ca.dot(twist.T, y) for twist in self.twists))


@dataclass(frozen=True)
class RotatedStation(Rigid):
    """E of a station that turns by R_E = exp([ϑ×])."""

    deflection: Deflection
    f: Matrix

    @staticmethod
    def of(deflection: Deflection, f: Matrix, v: Matrix, a: Matrix) -> RotatedStation:
        """From modal coordinates and their rates."""
        r, p = deflection.placement(f)
        displacement = deflection.displacement(f)
        omega = deflection.angular_velocity(f, v)
        linear = r.T @ (displacement @ v)
        # d/dt (R_Eᵀ ṗ) = R_Eᵀ p̈ − ω × R_Eᵀ ṗ
        linear_rate = r.T @ (displacement @ a + deflection.displacement_rate(v) @ v) - ca.cross(omega, linear)
        return RotatedStation(
            spatial.transform(r, p),
            spatial.twist(linear, omega),
            spatial.twist(linear_rate, deflection.angular_acceleration(f, v, a)),
            deflection,
            f,
        )

    def efforts(self, base: FrameMotion, moved: FrameMotion, z: Matrix) -> Matrix:
        force, moment = _wrench(z @ moved.w)
        turned = self.x[:3, :3] @ force
        return self.deflection.displacement(self.f).T @ turned + self.deflection.modal_forces(self.f, moment)


@dataclass(frozen=True)
class ShearedStation(Transform):
    """E of a station with R_E = I + [ϑ×]: ∂E/∂f_j = [[ϑ_j×], ∂p/∂f_j; 0, 0]."""

    x: Matrix
    rate: Matrix
    second_rate: Matrix
    translation: Matrix  # ∂p/∂f
    rotation: Matrix  # Θ

    @staticmethod
    def of(deflection: Deflection, f: Matrix, v: Matrix, a: Matrix) -> ShearedStation:
        """From modal coordinates and their rates."""
        u, theta = deflection.displacement(f), spatial.constant(deflection.rotation)
        return ShearedStation(
            deflection.transform(f),
            spatial.twist(u @ v, theta @ v),
            spatial.twist(u @ a + deflection.displacement_rate(v) @ v, theta @ a),
            u,
            theta,
        )

    def carry(self, base: FrameMotion) -> FrameMotion:
        return FrameMotion(
            base.w @ self.x,
            base.rate @ self.x + base.w @ self.rate,
            base.second_rate @ self.x + base.rate @ (2 * self.rate) + base.w @ self.second_rate,
        )

    def efforts(self, base: FrameMotion, moved: FrameMotion, z: Matrix) -> Matrix:
        force, moment = _wrench(z @ base.w)
        return self.translation.T @ force + self.rotation.T @ moment


def _wrench(y: Matrix) -> tuple[Matrix, Matrix]:
    """The force and the moment whose work on a twist [[ω×], x; 0, 0] is Tr(twist Y)."""
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

    def demand(self, motion: FrameMotion, v: Matrix, a: Matrix) -> Matrix:
        """F."""
        n_rate, n_second_rate = weighted(self.n, 2 * v), weighted(self.n, a)
        return motion.second_rate @ self.d + motion.rate @ n_rate.T + motion.w @ n_second_rate.T

    def modal_forces(self, motion: FrameMotion, v: Matrix, a: Matrix, exact: bool) -> Matrix:
        """Tr[(Ẅ N_r + 2 Ẇ Σ ḟ_k C_kr + W Σ f̈_k C_kr) Wᵀ] of each mode; Tr(X N Wᵀ) = Σ_ab N_ab (Xᵀ W)_ab."""
        modes = range(self.inertia.modes)
        metric = ca.DM.eye(4) if exact else motion.w.T @ motion.w  # C_kr multiplies RᵀR only
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
class MovingLink:
    """A link with its joint and its stations, at q, v, a."""

    base: FrameMotion  # of the station that carries the joint
    joint: JointTransform
    motion: FrameMotion  # of the clamped frame
    integrals: Integrals
    transforms: Sequence[RotatedStation | ShearedStation]  # of the stations
    stations: list[FrameMotion]

    @staticmethod
    def of(link: LinkModel, base: FrameMotion, q: Matrix, v: Matrix, a: Matrix, exact: bool) -> MovingLink:
        """The link, from the motion of the station that carries its joint."""
        joint = JointTransform.of(link, link.joint_configuration(q), *map(link.joint_velocity, (v, a)))
        motion = joint.carry(base)
        f, f_rates = link.modal_configuration(q), [link.modal_velocity(x) for x in (v, a)]
        of_kind = RotatedStation.of if exact else ShearedStation.of
        transforms = [of_kind(station.deflection(exact=exact), f, *f_rates) for station in link.stations]
        stations = [transform.carry(motion) for transform in transforms]
        return MovingLink(base, joint, motion, Integrals.of(link.inertia, f), transforms, stations)


def inverse_dynamics(
    links: Sequence[LinkModel], gravity: npt.ArrayLike, q: Matrix, v: Matrix, a: Matrix, *, exact: bool = True
) -> Matrix:
    """tau = M a + C + G of all joints and modes; without stiffness, damping and rotors.

    Args:
        links: parents before children.
        gravity: acceleration (3, m/s²).
        q, v, a: joints and modes, see :class:`~gdalembert.flexible.link_model.LinkModel`; entries behind them are not
            read.
        exact: R_E = exp([ϑ×]); otherwise I + [ϑ×].
    """
    projection, nv = ForeshorteningProjection.of(links), velocities(links)
    gamma = projection.jacobian(q)
    free = projection.configuration(q), gamma @ v[:nv], gamma @ a[:nv] + projection.bias(v)
    return gamma.T @ _free_inverse_dynamics(projection.free, gravity, *free, exact)


def _free_inverse_dynamics(
    links: Sequence[LinkModel], gravity: npt.ArrayLike, q: Matrix, v: Matrix, a: Matrix, exact: bool
) -> Matrix:
    """tau of links without foreshortening."""
    moving: list[MovingLink] = []
    universe = FrameMotion(ca.DM.eye(4), _NULL, -spatial.translation(spatial.constant(gravity)))
    for link in links:
        base = universe if link.parent < 0 else moving[link.parent].stations[link.parent_station]
        moving.append(MovingLink.of(link, base, q, v, a, exact))

    tau: list[Matrix] = [ca.DM(1, 1)] * velocities(links)
    # Z of each station, first of the bodies on it alone: F = Ẅ J
    z = [
        [spatial.constant(s.body) @ motion.second_rate.T for s, motion in zip(link.stations, at.stations, strict=True)]
        for link, at in zip(links, moving, strict=True)
    ]
    for i, link in reversed(list(enumerate(links))):
        at, rates = moving[i], (link.modal_velocity(v), link.modal_velocity(a))
        modal = at.integrals.modal_forces(at.motion, *rates, exact)
        z_link = at.integrals.demand(at.motion, *rates).T
        for transform, motion, z_station in zip(at.transforms, at.stations, z[i], strict=True):
            modal = modal + transform.efforts(at.motion, motion, z_station)
            z_link = z_link + transform.x @ z_station
        efforts = at.joint.efforts(at.base, at.motion, z_link)
        for k in range(link.type.nv):
            tau[link.idx_v + k] = efforts[k]
        for k, column in enumerate(link.mode_columns):
            tau[column] = modal[k]
        if link.parent >= 0:
            z[link.parent][link.parent_station] = z[link.parent][link.parent_station] + at.joint.x @ z_link
    return ca.vertcat(*tau)
