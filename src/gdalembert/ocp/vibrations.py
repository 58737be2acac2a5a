"""Natural modes of a mass and a stiffness matrix."""

from __future__ import annotations

import numpy as np

from gdalembert.spatial.arrays import Array


def vibrations(mass: Array, stiffness: Array) -> tuple[Array, Array]:
    """ω² and mass-normalised shapes Ψ of M and the symmetric part of K; zero where K drives away."""
    half = np.linalg.inv(np.linalg.cholesky(mass))
    squares, vectors = np.linalg.eigh(half @ (stiffness + stiffness.T) @ half.T / 2)
    return np.maximum(squares, 0.0), half.T @ vectors
