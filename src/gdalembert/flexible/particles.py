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

from gdalembert.flexible.link_model import Station
from gdalembert.model.modal_inertia import ModalInertia
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
    values, masses = _quadrature(moments)
    fit = np.linalg.pinv(moments, rcond=_SINGULAR, hermitian=True) @ values
    places = _cleaned(np.einsum("bac,bi->ia", inertia.first[n:, :, :1], fit))  # r̂_i
    motions = _cleaned(np.einsum("jbac,bi->jia", inertia.second[:n, n:, :, :1], fit))
    remainder = replace(
        inertia,
        rigid=_difference(inertia.rigid, np.einsum("i,ia,ib->ab", masses, places, places)),
        first=_difference(inertia.first[:n], np.einsum("i,ia,jib->jab", masses, places, motions)),
        second=_difference(inertia.second[:n, :n], np.einsum("i,jia,kib->jkab", masses, motions, motions)),
        shortening=np.zeros((0, n, n)),
    )
    shortenings = np.einsum("bjk,bi->ijk", inertia.shortening, values)
    particles = (
        Station(frozen(r[:3]), frozen(u[:, :3].T), np.zeros((3, n)), frozen(s), np.diag([0.0, 0.0, 0.0, m]))
        for r, u, s, m in zip(places, motions.transpose(1, 0, 2), shortenings, masses, strict=True)
    )
    return remainder, tuple(particles)


def _quadrature(moments: Array) -> tuple[Array, Array]:
    """The values of functions at k particles (b × k), k the rank of their moments, and the masses of these (k).

    Any A with A Aᵀ = moments will do. Reflections turn it so that one particle stays at the root, where all functions
    but the last one, which is 1, are zero, and the others have equal masses.
    """
    scale = np.sqrt(np.where(moments.diagonal() > 0, moments.diagonal(), 1.0))
    sizes, vectors = np.linalg.eigh(moments / np.outer(scale, scale))
    kept = sizes > _SINGULAR
    root = scale[:, None] * vectors[:, kept] * np.sqrt(sizes[kept])
    others = slice(None)
    if len(root) == root.shape[1] > 1:
        at_root = np.linalg.solve(root, np.eye(len(root))[-1])
        root, others = _reflected(root, np.eye(len(root))[0], at_root), slice(1, None)
        root[:-1, 0] = 0.0
    rest = root[:, others]
    root[:, others] = _reflected(rest, np.ones(rest.shape[1]), rest[-1])
    return root / root[-1], root[-1] ** 2


def _reflected(matrix: Array, one: Array, other: Array) -> Array:
    """The matrix times the reflection that exchanges the directions of two vectors."""
    normal = one / np.linalg.norm(one) - other / np.linalg.norm(other)
    if (length := np.linalg.norm(normal)) <= _ROUNDING:
        return matrix
    normal = normal / length
    return np.asarray(matrix - 2 * np.outer(matrix @ normal, normal))


def _cleaned(x: Array) -> Array:
    return drop(x, _ROUNDING * float(np.abs(x).max(initial=0)))


def _difference(whole: Array, part: Array) -> Array:
    return frozen(drop(whole - part, _ROUNDING * float(np.abs(whole).max(initial=0))))
