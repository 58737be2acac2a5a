"""The mass of a beam that shortens, as particles (ours).

With foreshortening the mass at r moves back by σ(r) = Σ_b g_b r_b, g_b = ½ fᵀ S_b f, which is affine in r̂ = (r; 1)
(:class:`~gdalembert.model.modal_inertia.ModalInertia`). Let k particles have the moments of the mass, Σ m_i r̂_i r̂_iᵀ =
∫ r̂ r̂ᵀ dm, and move in each mode as its affine fit. What the modes move besides, φ_j minus its fit, has no moment with
r̂, and so none with σ: it does not feel that the link shortens. The particles and this remainder have the kinetic energy
and the weight of the link, and shortening is a matter of the particles alone, which move like stations without bodies:

    p_i = r_i + Σ f_j u_ij − ½ (fᵀ S_i f) e_x        S_i = Σ_b S_b r̂_ib
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.rounding import drop
from gdalembert.spatial.arrays import Array, frozen

_SINGULAR = 1e-12
"""Of second moments of mass, scaled to a diagonal of ones: below it masses lie on a plane, a line, or at a point."""
_BALANCED = 0.01
"""The least product of the shares in the mass of a particle at rest and of the others: one without mass would lie at
infinity."""
_ROUNDING = 1e-14
"""What a difference of integrals may be, relative to the integrals, and be zero."""


def lumped(inertia: ModalInertia, beam: Array) -> tuple[ModalInertia, tuple[tuple[float, Deflection], ...]]:
    """What does not shorten of a link, without stretches, and the particles that do: a mass [kg], and how it moves.

    A link that does not shorten stays as it is.

    Args:
        inertia: of the link.
        beam: e_x, the unit vector along the undeformed beam (3), in the frame of the integrals.
    """
    n = inertia.modes
    if inertia.shapes == n:
        return inertia, ()
    along = np.append(beam, 0.0)
    moments = np.einsum("bcij,i,j->bc", inertia.second[n:, n:], along, along)  # ∫ r̂_b r̂_c dm; the last function is 1
    inverse = np.linalg.pinv(moments, rcond=_SINGULAR, hermitian=True)
    affine = np.einsum("jbac,c,bd->jad", inertia.second[:n, n:], along, inverse)  # u_j = affine_j r_b
    values, masses = _quadrature(moments, affine.reshape(-1, len(moments)))
    places = _cleaned(np.einsum("bac,c,bi->ia", inertia.first[n:], along, inverse @ values))  # r̂_i
    motions = _cleaned(np.einsum("jab,bi->jia", affine, values))
    remainder = replace(
        inertia,
        rigid=_difference(inertia.rigid, np.einsum("i,ia,ib->ab", masses, places, places)),
        first=_difference(inertia.first[:n], np.einsum("i,ia,jib->jab", masses, places, motions)),
        second=_difference(inertia.second[:n, :n], np.einsum("i,jia,kib->jkab", masses, motions, motions)),
        shortening=np.zeros((0, n, n)),
    )
    shortenings = np.einsum("bjk,bi->ijk", inertia.shortening, values)
    particles = (
        (float(m), Deflection(frozen(r[:3]), frozen(u[:, :3].T), frozen(np.zeros((3, n))), frozen(s), frozen(beam)))
        for m, r, u, s in zip(masses, places, motions.transpose(1, 0, 2), shortenings, strict=True)
    )
    return remainder, tuple(particles)


def _quadrature(moments: Array, motions: Array) -> tuple[Array, Array]:
    """The values of functions at k particles (b × k), k the rank of their moments, and the masses of these (k).

    Any A with A Aᵀ = moments will do. Reflections turn it so that one particle stays where it is in one of the motions,
    which are sums of the functions (rows of b), and the others have equal masses. Of the motions it is the one that
    leaves the masses least different.
    """
    scale = np.sqrt(np.where(moments.diagonal() > 0, moments.diagonal(), 1.0))
    sizes, vectors = np.linalg.eigh(moments / np.outer(scale, scale))
    kept = sizes > _SINGULAR
    root = scale[:, None] * vectors[:, kept] * np.sqrt(sizes[kept])

    def at_rest(motion: Array) -> Array:
        """The direction of a particle that does not move; its length is the root of the mass of that particle."""
        moving = root.T @ motion
        return np.asarray(root[-1] - moving * (moving @ root[-1]) / max(moving @ moving, np.finfo(float).tiny))

    def balance(direction: Array) -> float:
        share = direction @ direction / moments[-1, -1]
        return float(share * (1 - share))

    others, direction = slice(None), max(map(at_rest, motions), key=balance)
    if balance(direction) > _BALANCED:
        root, others = _reflected(root, np.eye(len(direction))[0], direction), slice(1, None)
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
