"""Assumed modes at q: the mass of a flexible link, and the sections that its modes move."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.composite import Composite
from gdalembert.dynamics.newton_euler.displacements import CompositeRate, Field, Rates
from gdalembert.dynamics.newton_euler.elements import DeformingAtQ
from gdalembert.dynamics.newton_euler.links import LinkMotion, spin_of
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.tree import Element, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench


@dataclass(frozen=True)
class DeflectedStation:
    """A station at modal coordinates f, in link axes."""

    deflection: Deflection
    f: Matrix
    rotation: Matrix  # R_E
    origin: Matrix  # p
    linear: Matrix  # ∂p/∂f, 3 × n
    turning: Matrix  # J_l B, 3 × m, in link axes

    @staticmethod
    def of(deflection: Deflection, f: Matrix) -> DeflectedStation:
        """The station of a deflection at the modal coordinates."""
        rotation, origin = deflection.placement(f)
        still = ca.DM(deflection.nv, 1)
        turning, *_ = deflection.turning(f, still, still)
        return DeflectedStation(deflection, f, rotation, origin, deflection.displacement(f), turning)

    @property
    def turns(self) -> Matrix:
        """Θ_B: the turns about m axes in each mode (m × n)."""
        return spatial.constant(self.deflection.turns[1])

    @property
    def _turns_apart(self) -> bool:
        """True if modes share the axes that they turn about, so that turns are fewer than modes with a turn."""
        return bool(self.turns.nnz() > self.turns.shape[0])

    @property
    def translations_and_turns(self) -> tuple[Motion, Matrix]:
        """Columns of n translations and m turns, in link axes, and the weights of these in each mode (n + m × n).

        Or those of the modes, where each of these turns about an axis of its own.
        """
        n = self.linear.shape[1]
        weights = ca.vertcat(ca.DM.eye(n), self.turns) if self._turns_apart else ca.DM.eye(n)
        return self._side_by_side(self.linear, self.turning), weights

    def _side_by_side(self, linear: Matrix, turning: Matrix) -> Motion:
        """Columns of n translations and m turns, or of the modes."""
        m, n = self.turns.shape
        if not self._turns_apart:
            return Motion(linear, turning @ self.turns)
        return Motion(ca.horzcat(linear, ca.DM(3, m)), ca.horzcat(ca.DM(3, n), turning))

    def modal_forces(self, wrench: Wrench) -> Matrix:
        """(n) of a wrench on the station, in station axes."""
        force = self.rotation @ wrench.force
        return self.deflection.modal_forces(self.f, wrench.moment) + self.linear.T @ force

    def motion(self, link: LinkMotion, v: Matrix, a: Matrix) -> LinkMotion:
        """The motion of the station from that of its link, with modal rates v and accelerations a."""
        r = self.rotation
        carried, relative = r.T @ link.omega, self.deflection.angular_velocity(self.f, v)
        omega = carried + relative
        alpha = r.T @ link.alpha + ca.cross(carried, relative) + self.deflection.angular_acceleration(self.f, v, a)
        velocity = r.T @ (link.velocity + ca.cross(link.omega, self.origin) + self.linear @ v)
        return LinkMotion(omega, alpha, spin_of(alpha, omega), velocity, r.T @ self.acceleration(link, v, a))

    def acceleration(self, link: LinkMotion, v: Matrix, a: Matrix) -> Matrix:
        """Acceleration of the origin, in link axes."""
        carried = link.acceleration + link.spin @ self.origin + 2 * ca.cross(link.omega, self.linear @ v)
        return carried + (self.linear @ a + self.deflection.displacement_bias(v))

    def lever_rate(self, omega: Matrix, v: Matrix, times: float = 1) -> Matrix:
        """The velocity of the origin against that of the link, so many times, in link axes."""
        return ca.cross(times * omega, self.origin) + times * (self.linear @ v)

    def fields(self, link: LinkMotion, v: Matrix, a: Matrix, times: int) -> tuple[Field, ...]:
        """The fields of its columns on a link in motion: ė, or ė + e′ and e″."""
        _, *turning = self.deflection.turning(self.f, v, a)
        linear = (self.deflection.displacement_rate(x) for x in (v, a))
        columns, _ = self.translations_and_turns
        rates = Rates(columns, *(self._side_by_side(x, y) for x, y in zip(linear, turning, strict=True)))
        second = rates.second_rate(link.omega, link.spin.__matmul__, self.acceleration(link, v, a))
        return (rates.rate(link.omega, times), second)[:times]


@dataclass(frozen=True)
class ModesAtQ(DeformingAtQ):
    """The modes of a flexible link at modal coordinates f, by integrals over its mass (CB20, CB21)."""

    sections: Sequence[DeflectedStation]
    mass: Matrix
    first: Matrix  # c = ∫ h
    second: Matrix  # Σ = ∫ h hᵀ
    integrals: list[Matrix]  # N_r = ∫ ĥ φ̂_rᵀ of each mode, 4 × 4

    @classmethod
    def of(cls, element: Element, tree: Tree, q: Matrix) -> ModesAtQ:
        joint, modal = tree.joints[element.index], element.inertia
        f, body = joint.configuration(q), spatial.constant(tree.joints[element.carrier].pseudo_inertia)
        first = [spatial.constant(x) for x in modal.first]
        integrals = [x + weighted([spatial.constant(y) for y in modal.second[:, r]], f) for r, x in enumerate(first)]
        half = weighted([x + y for x, y in zip(first, integrals, strict=True)], f / 2)
        whole = body + half + half.T
        sections = [DeflectedStation.of(deflection, f) for deflection in element.types(tree)]
        return cls(element, joint, tree, q, sections, whole[3, 3], whole[:3, 3], whole[:3, :3], integrals)

    @property
    def body(self) -> Composite:
        return Composite(self.mass, self.first, self.second)

    @property
    def own(self) -> Matrix:
        """M_ff, entries tr C_jk."""
        return spatial.constant(np.trace(self.element.inertia.second, axis1=2, axis2=3))

    @property
    def columns(self) -> Wrench:
        """P, and ∫ h × φ_r of each mode."""
        force = _side_by_side(x[3, :3].T for x in self.integrals)
        return Wrench(force, _side_by_side(crossed(x[:3, :3]) for x in self.integrals))

    def body_rate(self, omega: Matrix, v: Matrix, times: float) -> CompositeRate:
        omega, bending = times * omega, weighted(self.integrals, times * self.joint.velocity(v))
        first = ca.cross(omega, self.first) + bending[3, :3].T
        return CompositeRate(first, spatial.skew(omega) @ self.second + bending[:3, :3].T)

    def eta(self, carrier: LinkMotion, v: Matrix, times: float) -> Matrix:
        """∫ ḣ × φ_r of each mode."""
        turning, rates = spatial.skew(times * carrier.omega), times * self.joint.velocity(v)
        bending = (weighted([spatial.constant(x) for x in c], rates)[:3, :3].T for c in self.element.inertia.second)
        pairs = zip(self.integrals, bending, strict=True)
        return _side_by_side(crossed(turning @ n[:3, :3] + rate) for n, rate in pairs)

    def demanded(
        self, carrier: LinkMotion, v: Matrix, a: Matrix, borne: Sequence[Wrench] = ()
    ) -> tuple[Wrench, Matrix]:
        v, a = self.joint.velocity(v), self.joint.velocity(a)
        n_rate, n_second_rate = weighted(self.integrals, v), weighted(self.integrals, a)
        phi = 2 * spatial.skew(carrier.omega) @ n_rate[:3, :3].T + n_second_rate[:3, :3].T
        bending = 2 * ca.cross(carrier.omega, n_rate[3, :3].T) + n_second_rate[3, :3].T
        wrench = carrier.demanded(*self.body) + Wrench(bending, crossed(phi.T))
        forces = []
        for r, n in enumerate(self.integrals):  # tr(U N_r) + P_r·ẍ + 2 ω·Σ_k ḟ_k ∫ φ_k × φ_r
            coupled = crossed(weighted([spatial.constant(x) for x in self.element.inertia.second[:, r]], v))
            carried = ca.trace(carrier.spin @ n[:3, :3]) + ca.dot(n[3, :3].T, carrier.acceleration)
            forces.append(carried + 2 * ca.dot(carrier.omega, coupled))
        efforts = ca.vertcat(*forces) + self.own @ a
        for section, other in zip(self.sections, borne, strict=False):
            wrench += other.turned(section.rotation).about(-section.origin)
            efforts = efforts + section.modal_forces(other)
        return wrench, efforts


def weighted(matrices: Sequence[Matrix], weights: Matrix) -> Matrix:
    """Σ_k matrices_k weights_k, 4 × 4."""
    total: Matrix = ca.DM(4, 4)
    for k, matrix in enumerate(matrices):
        total = total + matrix * weights[k]
    return total


def crossed(n: Matrix) -> Matrix:
    """∫ h × φ of N = ∫ h φᵀ."""
    return ca.vertcat(n[1, 2] - n[2, 1], n[2, 0] - n[0, 2], n[0, 1] - n[1, 0])


def _side_by_side(columns: Iterable[Matrix]) -> Matrix:
    """3 × n."""
    return ca.horzcat(ca.DM(3, 0), *columns)
