"""4 × 4 recursion for flexible links (Book, Recursive Lagrangian dynamics of flexible manipulator arms, 1984).

The transforms of a chain are X_1, X_2, …, alternately those of joints (P A) and of stations (E), and
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

The particles z_k of a strain segment, and its cross sections at the nodes, are joints with bodies of their own, moved
by their placements and columns alone (ours).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.assumed_modes import weighted
from gdalembert.dynamics.sources import Source
from gdalembert.flexible.reference.foreshortening import ForeshorteningProjection, modes_of
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import frozen

SOURCE = Source(
    "book1984",
    "article",
    "Recursive Lagrangian Dynamics of Flexible Manipulator Arms",
    ("W. J. Book",),
    "flexible links",
    {"journal": "The International Journal of Robotics Research", "year": "1984"},
)
_NULL = ca.DM(4, 4)


def with_points(tree: Tree) -> Tree:
    """The robot with the mass of strain segments on joints that share the coordinates of their segment."""
    joints = list(tree.joints)
    inertia: Any
    for i, inertia in tree.modal_inertias:
        station: Any = tree.joints[tree.first_station(i)]
        if i not in tree.assumed_modes:
            root = np.append(inertia.segment.origin, 1.0)
            at_root = (inertia.mass - inertia.weights @ inertia.weights) * np.outer(root, root)
            rest = joints[i].pseudo_inertia - inertia.rigid + at_root
            joints[i] = replace(joints[i], pseudo_inertia=frozen(rest))
            # a mass β² at z / β of each particle, and the sections at the nodes
            columns = zip(inertia.particles.T, inertia.weights, strict=True)
            points = [(column / beta, 0, np.diag([0.0, 0.0, 0.0, beta**2])) for column, beta in columns]
            points += [(0 * inertia.weights, k, np.pad(second, (0, 1))) for k, second in enumerate(inertia.sections)]
            for weights, node, body in points:
                kind = replace(station.type, weights=frozen(weights), node=node, step=None)
                joints.append(replace(station, type=kind, pseudo_inertia=frozen(body), scaling=1.0, offset=0.0))
    return replace(tree, joints=tuple(joints), modal_inertias=tuple(tree.assumed_modes.items()))


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


class Rigid(Transform):
    """Ẋ = X V, Ẍ = X (V² + V̇)."""

    v: Matrix
    v_rate: Matrix

    def carry(self, base: FrameMotion) -> FrameMotion:
        w, carried = base.w @ self.x, base.rate @ self.x
        second_rate = base.second_rate @ self.x + carried @ (2 * self.v) + w @ (self.v @ self.v + self.v_rate)
        return FrameMotion(w, carried + w @ self.v, second_rate)


class JointTransform(Rigid):
    """P A of a joint at q, v and a of the robot; Ŝ in link axes, one for each column."""

    def __init__(self, joint: Joint, q: Matrix, v: Matrix, a: Matrix) -> None:
        self.twists, twist_rates = (
            [spatial.twist(x[:, k], y[:, k]) for k in range(joint.type.nv)]
            for x, y in (joint.subspace(q), joint.subspace_rate(q, v))
        )
        self.x, rate = spatial.transform(*joint.placement(q)), joint.velocity(v)
        self.v = weighted(self.twists, rate)
        self.v_rate = weighted(self.twists, joint.velocity(a)) + weighted(twist_rates, rate)

    def efforts(self, base: FrameMotion, moved: FrameMotion, z: Matrix) -> Matrix:
        y = z @ moved.w
        return ca.vertcat(*(ca.dot(twist.T, y) for twist in self.twists))


class RotatedStation(Rigid):
    """E of a station that turns by R_E = exp([ϑ×]), at modal coordinates and their rates."""

    def __init__(self, deflection: Deflection, f: Matrix, v: Matrix, a: Matrix) -> None:
        self.deflection, self.f = deflection, f
        r, p = deflection.placement(f)
        displacement = deflection.displacement(f)
        omega = deflection.angular_velocity(f, v)
        linear = r.T @ (displacement @ v)
        # d/dt (R_Eᵀ ṗ) = R_Eᵀ p̈ − ω × R_Eᵀ ṗ
        linear_rate = r.T @ (displacement @ a + deflection.displacement_rate(v) @ v) - ca.cross(omega, linear)
        self.x, self.v = spatial.transform(r, p), spatial.twist(linear, omega)
        self.v_rate = spatial.twist(linear_rate, deflection.angular_acceleration(f, v, a))

    def efforts(self, base: FrameMotion, moved: FrameMotion, z: Matrix) -> Matrix:
        force, moment = _wrench(z @ moved.w)
        turned = self.x[:3, :3] @ force
        return self.deflection.displacement(self.f).T @ turned + self.deflection.modal_forces(self.f, moment)


class ShearedStation(Transform):
    """E of a station with R_E = I + [ϑ×]: ∂E/∂f_j = [[ϑ_j×], ∂p/∂f_j; 0, 0]."""

    def __init__(self, deflection: Deflection, f: Matrix, v: Matrix, a: Matrix) -> None:
        self.u, self.theta = u, theta = deflection.displacement(f), spatial.constant(deflection.rotation)
        self.x = deflection.transform(f)
        self.rate = spatial.twist(u @ v, theta @ v)
        self.second_rate = spatial.twist(u @ a + deflection.displacement_rate(v) @ v, theta @ a)

    def carry(self, base: FrameMotion) -> FrameMotion:
        return FrameMotion(
            base.w @ self.x,
            base.rate @ self.x + base.w @ self.rate,
            base.second_rate @ self.x + base.rate @ (2 * self.rate) + base.w @ self.second_rate,
        )

    def efforts(self, base: FrameMotion, moved: FrameMotion, z: Matrix) -> Matrix:
        force, moment = _wrench(z @ base.w)
        return self.u.T @ force + self.theta.T @ moment


def _wrench(y: Matrix) -> tuple[Matrix, Matrix]:
    """The force and the moment whose work on a twist [[ω×], x; 0, 0] is Tr(twist Y)."""
    return y[3, :3].T, ca.vertcat(y[1, 2] - y[2, 1], y[2, 0] - y[0, 2], y[0, 1] - y[1, 0])


class Integrals:
    """N_j = C_j + Σ f_k C_kj, and D = C + Y + Yᵀ with Y = ½ Σ f_j (C_j + N_j); C with the bodies on the root."""

    def __init__(self, joint: Joint, inertia: ModalInertia, f: Matrix) -> None:
        self.inertia, modes = inertia, range(inertia.modes)
        first = [spatial.constant(x) for x in inertia.first]
        self.n = [first[j] + weighted([spatial.constant(inertia.second[k, j]) for k in modes], f) for j in modes]
        y = weighted([first[j] + self.n[j] for j in modes], f / 2)
        self.d = spatial.constant(joint.pseudo_inertia) + (y + y.T)

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
            second = [spatial.constant(self.inertia.second[k, r]) for k in modes]
            return (
                ca.dot(self.n[r], metric_second_rate)
                + ca.dot(weighted(second, 2 * v), metric_rate)
                + ca.dot(weighted(second, a), metric)
            )

        return ca.vertcat(ca.DM(0, 1), *(force(r) for r in modes))


def inverse_dynamics(tree: Tree, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
    """tau = M a + C + G of all joints and modes; without stiffness, damping and armature."""
    projection = ForeshorteningProjection.of(with_points(tree))
    gamma, tree = projection.jacobian(q), projection.free
    q, v, a = projection.configuration(q), gamma @ v, gamma @ a + projection.bias(v)
    motions = {-1: FrameMotion(ca.DM.eye(4), _NULL, -spatial.translation(spatial.constant(tree.gravity)))}
    transforms: list[Transform] = []
    for i, joint in enumerate(tree.joints):
        motion: Any = joint.type
        if modes_of(tree, joint) is not None:
            kind = ShearedStation if motion.is_first_order else RotatedStation
            transforms.append(kind(motion, joint.configuration(q), joint.velocity(v), joint.velocity(a)))
        else:
            transforms.append(JointTransform(joint, q, v, a))
        motions[i] = transforms[i].carry(motions[joint.parent])

    efforts: list[Matrix] = [ca.DM(0, 1)] * len(tree.joints)
    z = [spatial.constant(joint.pseudo_inertia) @ motions[i].second_rate.T for i, joint in enumerate(tree.joints)]
    for i, inertia in tree.assumed_modes.items():
        first = tree.first_station(i)
        station = tree.joints[first]
        integrals = Integrals(tree.joints[i], inertia, station.configuration(q))
        rates = station.velocity(v), station.velocity(a)
        z[i] = integrals.demand(motions[i], *rates).T
        efforts[first] = integrals.modal_forces(motions[i], *rates, exact=not tree.is_first_order)
    for i, joint in reversed(list(enumerate(tree.joints))):
        own_efforts = transforms[i].efforts(motions[joint.parent], motions[i], z[i])
        efforts[i] = own_efforts + efforts[i] if efforts[i].numel() else own_efforts
        if joint.parent >= 0:
            z[joint.parent] = z[joint.parent] + transforms[i].x @ z[i]
    return gamma.T @ tree.vector(efforts)
