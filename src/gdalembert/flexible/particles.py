"""The mass of a beam that shortens, as particles (ours).

With foreshortening the mass at r moves back by σ(r) = Σ_b g_b r_b, g_b = ½ fᵀ S_b f, which is affine in r̂ = (r; 1)
(:class:`~gdalembert.flexible.link_model.ModalInertia`). Let k particles have the moments of the mass, Σ m_i r̂_i r̂_iᵀ =
∫ r̂ r̂ᵀ dm, and move in each mode as its affine fit. What the modes move besides, φ_j minus its fit, has no moment with
r̂, and so none with σ: it does not feel that the link shortens. The particles and this remainder have the kinetic energy
and the weight of the link, and shortening is a matter of the particles alone, which move like stations without bodies:

    p_i = r_i + Σ f_j u_ij − ½ (fᵀ S_i f) e_x        S_i = Σ_b S_b r̂_ib
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gdalembert.flexible.link_model import ModalInertia, Station
from gdalembert.model.rounding import drop
from gdalembert.spatial.arrays import Array, frozen

_SINGULAR = 1e-12
"""Of second moments of mass, scaled to a diagonal of ones: below it masses lie on a plane, a line, or at a point."""
_ROUNDING = 1e-14
"""What a difference of integrals may be, relative to the integrals, and be zero."""


def lumped(inertia: ModalInertia) -> tuple[ModalInertia, tuple[Station, ...]]:
    """What does not shorten of a link, without stretches, and the particles that do, as stations with a mass.

    A link that does not shorten stays as it is.
    """
    n = inertia.modes
    if inertia.shapes == n:
        return inertia, ()
    moments = inertia.second[n:, n:, 0, 0]  # ∫ r̂_b r̂_c dm; the last function is 1
    values, mass = _quadrature(moments)
    fit = np.linalg.pinv(moments, rcond=_SINGULAR, hermitian=True) @ values
    places = np.einsum("bac,bi->ia", inertia.first[n:, :, :1], fit)  # r̂_i
    motions = np.einsum("jbac,bi->jia", inertia.second[:n, n:, :, :1], fit)
    remainder = replace(
        inertia,
        rigid=_difference(inertia.rigid, mass * places.T @ places),
        first=_difference(inertia.first[:n], mass * np.einsum("ia,jib->jab", places, motions)),
        second=_difference(inertia.second[:n, :n], mass * np.einsum("jia,kib->jkab", motions, motions)),
        shortening=np.zeros((0, n, n)),
    )
    body = np.diag([0.0, 0.0, 0.0, mass])
    shortenings = np.einsum("bjk,bi->ijk", inertia.shortening, values)
    particles = (
        Station(frozen(r[:3]), frozen(u[:, :3].T), np.zeros((3, n)), frozen(s), body)
        for r, u, s in zip(places, motions.transpose(1, 0, 2), shortenings, strict=True)
    )
    return remainder, tuple(particles)


def _quadrature(moments: Array) -> tuple[Array, float]:
    """The values of functions at k particles (b × k), k the rank of their moments, and the mass of each of them.

    Any A with A Aᵀ = moments will do; the row of the last function, which is 1, is made constant by a reflection.
    """
    scale = np.sqrt(np.where(moments.diagonal() > 0, moments.diagonal(), 1.0))
    sizes, vectors = np.linalg.eigh(moments / np.outer(scale, scale))
    kept = sizes > _SINGULAR
    root = scale[:, None] * vectors[:, kept] * np.sqrt(sizes[kept])
    equal = np.full(root.shape[1], np.sqrt(moments[-1, -1] / root.shape[1]))
    normal = root[-1] - equal
    if (length := np.linalg.norm(normal)) > _ROUNDING * equal[0]:
        normal = normal / length
        root = root - 2 * np.outer(root @ normal, normal)
    return root / equal[0], float(equal[0] ** 2)


def _difference(whole: Array, part: Array) -> Array:
    return frozen(drop(whole - part, _ROUNDING * np.abs(whole).max(initial=0)))
