"""The inertia of a deformed link: integrals that depend on the modal coordinates (CB20, CB21)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from gdalembert import spatial
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
    def translation(self) -> Matrix:
        """P, 3 × n."""
        return ca.horzcat(ca.DM(3, 0), *(x[3, :3].T for x in self.fields))

    @property
    def moments(self) -> Matrix:
        """H, 3 × n: ∫ h × φ_r."""
        return ca.horzcat(ca.DM(3, 0), *(crossed(x[:3, :3]) for x in self.fields))

    @property
    def columns(self) -> Wrench:
        """The wrench at the joint of the link per unit of modal acceleration."""
        return Wrench(self.translation, self.moments)


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
