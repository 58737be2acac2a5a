"""Natural modes of a mass and a stiffness matrix."""

from __future__ import annotations

import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.physical import columns
from gdalembert.model.configuration import neutral
from gdalembert.spatial.arrays import Array


def locked_modes(dyn: Dynamics, p: Array) -> tuple[Array, Array]:
    """Frequencies [Hz] and shapes of an arm at the neutral configuration, joints locked; none of a rigid robot."""
    first, q = dyn.modes.start, neutral(dyn.tree).full().ravel()
    if first == dyn.tree.nv:
        return np.zeros(0), np.zeros((0, 0))
    mass = dyn.mass_matrix(q, *columns(p, 1)).full()[first:, first:]
    squares, shapes = vibrations(mass, dyn.force_stiffness(q, p)[first:, first:])
    return np.sqrt(squares) / (2 * np.pi), shapes


def vibrations(mass: Array, stiffness: Array) -> tuple[Array, Array]:
    """ω² and mass-normalised shapes Ψ of M and the symmetric part of K; zero where K drives away."""
    half = np.linalg.inv(np.linalg.cholesky(mass))
    squares, vectors = np.linalg.eigh(half @ (stiffness + stiffness.T) @ half.T / 2)
    return np.maximum(squares, 0.0), half.T @ vectors
