"""Assumed modes at q: the mass of a flexible link, and the sections that its modes move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.composite import Composite
from gdalembert.dynamics.newton_euler.displacements import Field, Rates
from gdalembert.dynamics.newton_euler.elements import DeformingAtQ
from gdalembert.dynamics.newton_euler.links import LinkMotion, spin_of
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.tree import Element, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.spatial_vectors import Motion, Wrench


@dataclass(frozen=True)
class DeformedLink:
    """The inertia of a flexible link at modal coordinates f, about the link origin: integrals (CB20, CB21)."""

    modal: ModalInertia
    mass: Matrix
    first: Matrix  # c = ∫ h
    second: Matrix  # Σ = ∫ h hᵀ
    fields: list[Matrix]  # N_r = ∫ ĥ φ̂_rᵀ of each mode, 4 × 4

    @staticmethod
    def of(modal: ModalInertia, body: Array, f: Matrix) -> DeformedLink:
        """At modal coordinates f, from the undeformed pseudo-inertia (4 × 4)."""
        first = [spatial.constant(x) for x in modal.first]
        fields = [x + weighted([spatial.constant(y) for y in modal.second[:, r]], f) for r, x in enumerate(first)]
        half = weighted([x + y for x, y in zip(first, fields, strict=True)], f / 2)
        whole = spatial.constant(body) + half + half.T
        return DeformedLink(modal, whole[3, 3], whole[:3, 3], whole[:3, :3], fields)

    @property
    def body(self) -> Composite:
        """m, c and Σ."""
        return Composite(self.mass, self.first, self.second)

    @property
    def own(self) -> Matrix:
        """M_ff, entries tr C_jk."""
        return spatial.constant(np.trace(self.modal.second, axis1=2, axis2=3))

    @property
    def columns(self) -> Wrench:
        """The wrench at the joint of the link per unit of modal acceleration: P, and ∫ h × φ_r of each mode."""
        force = _side_by_side(x[3, :3].T for x in self.fields)
        return Wrench(force, _side_by_side(crossed(x[:3, :3]) for x in self.fields))

    def rates(self, omega: Matrix, v: Matrix, times: float = 1) -> tuple[Matrix, Matrix]:
        """∫ ḣ (3) and ∫ ḣ hᵀ (3 × 3), so many times, where the link turns with ω and the modes have the rates v."""
        omega, bending = times * omega, weighted(self.fields, times * v)
        first = ca.cross(omega, self.first) + bending[3, :3].T
        return first, spatial.skew(omega) @ self.second + bending[:3, :3].T

    def in_motion(self, link: LinkMotion, v: Matrix, a: Matrix) -> Bending:
        """On a link in motion, with the rates of its modes and the rates of these."""
        return Bending(self, link, v, a)

    def demanded(self, motion: LinkMotion, v: Matrix, a: Matrix) -> tuple[Wrench, Matrix]:
        """The wrench at its joint that the motion of the link demands, and the modal forces g."""
        n_rate, n_second_rate = weighted(self.fields, v), weighted(self.fields, a)
        phi = 2 * spatial.skew(motion.omega) @ n_rate[:3, :3].T + n_second_rate[:3, :3].T
        bending = 2 * ca.cross(motion.omega, n_rate[3, :3].T) + n_second_rate[3, :3].T
        wrench = motion.demanded(self.mass, self.first, self.second) + Wrench(bending, crossed(phi.T))
        forces = []
        for r, n in enumerate(self.fields):  # tr(U N_r) + P_r·ẍ + 2 ω·Σ_k ḟ_k ∫ φ_k × φ_r
            coupled = crossed(weighted([spatial.constant(x) for x in self.modal.second[:, r]], v))
            carried = ca.trace(motion.spin @ n[:3, :3]) + ca.dot(n[3, :3].T, motion.acceleration)
            forces.append(carried + 2 * ca.dot(motion.omega, coupled))
        return wrench, ca.vertcat(*forces) + self.own @ a


@dataclass(frozen=True)
class Bending:
    """The modes of a link's own body in motion, whose points stand at h and are displaced by φ_j, in link axes."""

    body: DeformedLink
    motion: LinkMotion
    v: Matrix  # the rates of its modes
    a: Matrix  # the second rates of its modes

    @property
    def columns(self) -> Wrench:
        """The wrench at the joint of the link per unit of each second rate."""
        return self.body.columns

    @property
    def _fields(self) -> list[Matrix]:
        """∫ h φ_jᵀ."""
        return [n[:3, :3] for n in self.body.fields]

    def _with_rates(self, j: int, rates: Matrix) -> Matrix:
        """∫ φ_j ḣᵀ with rates of the modes."""
        return weighted([spatial.constant(x) for x in self.body.modal.second[j]], rates)[:3, :3]

    def eta(self, times: float = 1) -> Matrix:
        """η (3 × n) of the columns, with so many times the velocities."""
        turning, v = spatial.skew(times * self.motion.omega), times * self.v
        return _side_by_side(crossed(turning @ n + self._with_rates(j, v).T) for j, n in enumerate(self._fields))

    def rates(self, times: float = 1) -> Wrench:
        """The wrenches of e′ (3 × n each), with so many times the velocities."""
        turning = spatial.skew(times * self.motion.omega)
        return Wrench(turning @ self.columns.force, _side_by_side(crossed(n @ turning.T) for n in self._fields))

    def second_rates(self) -> Wrench:
        """The wrenches of e″, with what displaced points need already (3 × n each)."""
        turning, spin, point = spatial.skew(self.motion.omega), self.motion.spin, self.motion.acceleration
        shifts = self.columns.force

        def moment(j: int, n: Matrix) -> Matrix:
            relative = self._with_rates(j, 2 * self.v) @ turning.T + self._with_rates(j, self.a)
            return spin.moment(n + n.T) + ca.cross(shifts[:, j], point) + crossed(relative)

        return Wrench(spin @ shifts, _side_by_side(moment(j, n) for j, n in enumerate(self._fields)))

    def by_f(self, borne: Sequence[tuple[Any, Wrench]]) -> Matrix:
        """∂/∂f of the modal forces (n × n), tr(U C_jr), with those of the forces and moments that stations bear.

        Such forces are in link axes and keep their direction there; moments are in station axes and turn with them.
        """
        own = self._of_pairs(lambda c: ca.trace(self.motion.spin @ c))
        return sum((station.force_stiffness(wrench) for station, wrench in borne), own)

    def by_v(self, times: float = 1) -> Matrix:
        """∫ φ_r·(ω × φ_j), so many times (n × n)."""
        return self._of_pairs(lambda c: ca.dot(times * self.motion.omega, crossed(c)))

    def _of_pairs(self, value: Callable[[Matrix], Matrix]) -> Matrix:
        """A value of each ∫ φ_j φ_rᵀ (rows r)."""
        second = self.body.modal.second[:, :, :3, :3]
        modes = range(self.body.modal.modes)
        return spatial.rows(*([value(spatial.constant(second[j, r])) for j in modes] for r in modes))


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
        """From a deflection and the modal coordinates."""
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
        """Whether modes share the axes that they turn about, so that turns are fewer than modes with a turn."""
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

    def force_stiffness(self, wrench: Wrench) -> Matrix:
        """∂/∂f of the modal forces of a force in link axes and a moment in station axes that keep them (n × n)."""
        return self.deflection.force_stiffness(self.f, wrench.force, wrench.moment)


@dataclass(frozen=True)
class ModesAtQ(DeformingAtQ):
    """The modes of a flexible link."""

    deformed: DeformedLink
    sections: Sequence[DeflectedStation]

    @staticmethod
    def of(element: Element, tree: Tree, q: Matrix) -> ModesAtQ:
        """At q."""
        joint, types = tree.joints[element.index], element.types(tree)
        f, body = joint.configuration(q), tree.joints[element.carrier].pseudo_inertia
        sections = [DeflectedStation.of(deflection, f) for deflection in types]
        return ModesAtQ(element, joint, DeformedLink.of(element.inertia, body, f), sections)

    def demanded(
        self, carrier: LinkMotion, v: Matrix, a: Matrix, borne: Sequence[Wrench] = ()
    ) -> tuple[Wrench, Matrix]:
        wrench, forces = self.deformed.demanded(carrier, self.joint.velocity(v), self.joint.velocity(a))
        for section, other in zip(self.sections, borne, strict=False):
            wrench += other.turned(section.rotation).about(-section.origin)
            forces = forces + section.modal_forces(other)
        return wrench, forces
