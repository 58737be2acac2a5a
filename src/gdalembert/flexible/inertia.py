"""The inertia of a deformed link: integrals that depend on the modal coordinates (CB20; foreshortening is ours)."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.flexible.element import ModalInertia
from gdalembert.screws import Wrench
from gdalembert.spatial import Matrix


@dataclass(frozen=True)
class DeformedLink:
    """The inertia of a flexible link at modal coordinates f, in link axes about the link origin."""

    modal: ModalInertia
    mass: float
    first: Matrix  # c = ∫ h
    second: Matrix  # Σ = ∫ h hᵀ
    translation: Matrix  # P, 3 × n
    fields: list[Matrix]  # N_r, 3 × 3
    moments: Matrix  # H, 3 × n: ∫ h × φ_r
    own: ca.DM  # M_ff

    @property
    def columns(self) -> Wrench:
        """What unit accelerations of the modes ask of the link."""
        return Wrench(self.translation, self.moments)


def deformed(modal: ModalInertia, f: Matrix) -> DeformedLink:
    """Σ, c, N_r, P, H of a link that is deformed by f."""
    n = modal.modes
    first = [spatial.constant(modal.first[j]) for j in range(n)]
    fields = [
        first[j] + sum(f[k] * spatial.constant(modal.second[k, j] + modal.shortening[j, k]) for k in range(n))
        for j in range(n)
    ]
    whole: Matrix = spatial.constant(modal.rigid)
    for j in range(n):
        quadratic = sum(
            f[k] * spatial.constant(modal.second[k, j] + (modal.shortening[j, k] + modal.shortening[j, k].T) / 2)
            for k in range(n)
        )
        whole = whole + f[j] * (first[j] + first[j].T + quadratic)
    own = spatial.constant([[modal.second[j, k].trace() for k in range(n)] for j in range(n)])
    return DeformedLink(
        modal=modal,
        mass=float(modal.rigid[3, 3]),
        first=whole[:3, 3],
        second=whole[:3, :3],
        translation=ca.horzcat(*(x[3, :3].T for x in fields)),
        fields=[x[:3, :3] for x in fields],
        moments=ca.horzcat(*(crossed(x[:3, :3]) for x in fields)),
        own=own,
    )


def crossed(n: Matrix) -> Matrix:
    """∫ h × φ of N = ∫ h φᵀ."""
    return ca.vertcat(n[1, 2] - n[2, 1], n[2, 0] - n[0, 2], n[0, 1] - n[1, 0])
