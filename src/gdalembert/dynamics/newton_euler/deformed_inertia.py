"""The inertia of a deformed link: integrals that depend on the modal coordinates (CB20, CB21)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.links import LinkMotion
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.spatial_vectors import Wrench


@dataclass(frozen=True)
class DeformedLink:
    """The inertia of a flexible link at modal coordinates f, in link axes about the link origin."""

    modal: ModalInertia
    mass: Matrix
    first: Matrix  # c = ∫ h
    second: Matrix  # Σ = ∫ h hᵀ
    fields: list[Matrix]  # N_r = ∫ ĥ φ̂_rᵀ of each mode, 4 × 4

    @property
    def own(self) -> Matrix:
        """M_ff, entries tr C_jk."""
        return spatial.constant(np.trace(self.modal.second, axis1=2, axis2=3))

    @property
    def columns(self) -> Wrench:
        """The wrench at the joint of the link per unit of modal acceleration: P, and ∫ h × φ_r of each mode."""
        force = ca.horzcat(ca.DM(3, 0), *(x[3, :3].T for x in self.fields))
        return Wrench(force, ca.horzcat(ca.DM(3, 0), *(crossed(x[:3, :3]) for x in self.fields)))

    def rates(self, omega: Matrix, v: Matrix, times: float = 1) -> tuple[Matrix, Matrix]:
        """∫ ḣ (3) and ∫ ḣ hᵀ (3 × 3), so many times, where the link turns with ω and the modes have the rates v."""
        omega, bending = times * omega, weighted(self.fields, times * v)
        first = ca.cross(omega, self.first) + bending[3, :3].T
        return first, spatial.skew(omega) @ self.second + bending[:3, :3].T

    def demanded(self, motion: LinkMotion, v: Matrix, a: Matrix) -> tuple[Wrench, Matrix]:
        """The wrench at its joint that the motion of the link demands, and the modal forces g."""
        omega, spin = motion.omega, motion.spin
        n_rate, n_second_rate = weighted(self.fields, v), weighted(self.fields, a)
        force = (
            self.mass * motion.acceleration
            + spin @ self.first
            + 2 * ca.cross(omega, n_rate[3, :3].T)
            + n_second_rate[3, :3].T
        )
        phi = 2 * spatial.skew(omega) @ n_rate[:3, :3].T + n_second_rate[:3, :3].T
        moment = spin.moment(self.second) + crossed(phi.T) + ca.cross(self.first, motion.acceleration)

        def modal_force(r: int) -> Matrix:
            """tr(U N_r) + P_r·ẍ + 2 ω·Σ_k ḟ_k ∫ φ_k × φ_r."""
            n = self.fields[r]
            coupled = weighted([spatial.constant(x) for x in self.modal.second[:, r]], v)
            return (
                ca.trace(spin @ n[:3, :3])
                + ca.dot(n[3, :3].T, motion.acceleration)
                + 2 * ca.dot(omega, crossed(coupled))
            )

        return Wrench(force, moment), ca.vertcat(*(modal_force(r) for r in range(self.modal.modes))) + self.own @ a


def deformed(body: Array, modal: ModalInertia, f: Matrix) -> DeformedLink:
    """The inertia of a link at modal coordinates f; ``body`` is its undeformed pseudo-inertia (4 × 4)."""
    first = [spatial.constant(x) for x in modal.first]
    fields = [x + weighted([spatial.constant(y) for y in modal.second[:, r]], f) for r, x in enumerate(first)]
    half = weighted([x + y for x, y in zip(first, fields, strict=True)], f / 2)
    whole = spatial.constant(body) + half + half.T
    return DeformedLink(modal=modal, mass=whole[3, 3], first=whole[:3, 3], second=whole[:3, :3], fields=fields)


def weighted(matrices: Sequence[Matrix], weights: Matrix) -> Matrix:
    """Σ_k matrices_k weights_k, 4 × 4."""
    total: Matrix = ca.DM(4, 4)
    for k, matrix in enumerate(matrices):
        total = total + matrix * weights[k]
    return total


def crossed(n: Matrix) -> Matrix:
    """∫ h × φ of N = ∫ h φᵀ."""
    return ca.vertcat(n[1, 2] - n[2, 1], n[2, 0] - n[0, 2], n[0, 1] - n[1, 0])
