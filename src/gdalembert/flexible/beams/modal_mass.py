"""Modal mass, and the eigenmodes of a link with its root clamped."""

from __future__ import annotations

import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.flexible.beams.mass_points import skews
from gdalembert.flexible.link_model import Station
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.spatial.arrays import Array

_DEPENDENT = 1e-12
"""Relative: the rounding error that remains of ∫φ² of a linear combination of other shapes."""


def modal_mass(inertia: ModalInertia, *loads: Station) -> Array:
    """M_ff = [Tr C_jk] of the undeformed link, with the bodies on the stations ``loads`` (n × n)."""
    mass: Array = np.einsum("jkaa->jk", inertia.second[: inertia.modes, : inertia.modes])
    for load in loads:
        fields = np.zeros((inertia.modes, 4, 4))
        fields[:, :3, :3], fields[:, :3, 3] = skews(load.rotation.T), load.translation.T
        mass = mass + np.einsum("jab,bc,kac->jk", fields, load.body, fields)
    return (mass + mass.T) / 2


def eigenmodes(inertia: ModalInertia, *loads: Station) -> tuple[Array, Array]:
    """ω (n, rad/s), rising, and mass-normalised Ψ (n × n) of K_f ψ = ω² M_ff ψ, M_ff with the loads.

    Raises:
        ArgumentError: if a mode moves no inertia.
    """
    mass = modal_mass(inertia, *loads)
    if (j := dependent(mass)) is not None:
        raise ArgumentError(
            f"mode {j + 1} moves no inertia of its own, so that the link alone has no frequencies; give "
            "the beam a section_inertia, count a body on the tip, or damp by rayleigh="
        )
    inverse = np.linalg.inv(np.linalg.cholesky(mass))
    vectors = inverse.T @ np.linalg.eigh(inverse @ inertia.stiffness @ inverse.T)[1]
    # eigenvalues lose digits by their ratio to the largest one; Rayleigh quotients keep them all
    squares = np.sum(vectors * (inertia.stiffness @ vectors), axis=0) / np.sum(vectors * (mass @ vectors), axis=0)
    return np.sqrt(squares), vectors


def largest_eigenvalue(stiffness: Array, load: Array) -> float:
    """The largest λ with λ K − A singular."""
    half = np.linalg.inv(np.linalg.cholesky(stiffness))
    return float(np.linalg.eigvalsh(half @ load @ half.T)[-1])


def dependent(gram: Array, threshold: float = _DEPENDENT) -> int | None:
    """The first shape that is zero or a linear combination of those before it, from the products ∫φ_j φ_k."""
    diagonal = gram.diagonal()
    if not np.all(diagonal > 0):
        return int(np.argmax(~(diagonal > 0)))
    scaled = gram / np.sqrt(np.outer(diagonal, diagonal))
    for j in range(len(gram)):
        left = scaled[j, j]
        if not left > threshold:
            return j
        scaled = scaled - np.outer(scaled[:, j], scaled[j]) / left
    return None
