"""What counts as rounding noise: every tolerance of the package's numbers side by side, and what removes the noise."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gdalembert.spatial.arrays import Array

_EPS = float(np.finfo(float).eps)

MOST_CLEANED = 1e-6
"""The largest tolerance of cleaning: beyond it a number is not noise but a choice."""

PRODUCT_ERROR = 8 * _EPS
"""What a product of a few matrices may lose, relative to the same product of magnitudes."""

MOMENT_TOLERANCE = 1e-9
"""How far below zero a principal moment may lie, relative to the largest, and be rounding noise."""

NOISE_PER_MASS = 1e-15
"""The same per mass [m²]: published tensors "of zero" hold 1e-20 kg m², and real bodies far more than this."""


def known_digits(values: Array, errors: Array) -> Array:
    """Values rounded to the decimal digits that their errors leave."""
    rounded = [
        round(float(x), -math.ceil(math.log10(error))) if error > 0 else x
        for x, error in zip(values.ravel(), errors.ravel(), strict=True)
    ]
    return np.array(rounded, dtype=float).reshape(values.shape)


def drop(values: Array, least: float) -> Array:
    """Zero in place of all that is not larger."""
    return np.where(np.abs(values) <= least, 0.0, values)


def clean_unit_vector(axis: Array, tolerance: float) -> Array:
    """Zeros in place of what lies within the tolerance of them; what then stands alone becomes ±1."""
    cleaned = drop(axis, tolerance)
    return np.sign(cleaned) if np.count_nonzero(cleaned) == 1 else cleaned


def clean_rotation(rotation: Array, tolerance: float) -> Array:
    """Zeros and ones in place of what lies within the tolerance of them, where the rotation stays orthogonal."""
    cleaned = drop(rotation, tolerance)
    alone = (np.count_nonzero(cleaned, axis=0) == 1)[None, :] & (np.count_nonzero(cleaned, axis=1) == 1)[:, None]
    cleaned = np.where(alone, np.sign(cleaned), cleaned)
    # dropping an entry of size ε among others makes R Rᵀ differ from 1 by ε, beside its own zeros only by ε²
    bent = np.abs(cleaned @ cleaned.T - np.eye(3)).max() - np.abs(rotation @ rotation.T - np.eye(3)).max()
    return cleaned if bent <= 4e-16 else rotation


def clean_inertia(inertia: Array, tolerance: float) -> Array:
    """Zeros in place of products of inertia within the tolerance of the largest moment."""
    return np.where(np.eye(3, dtype=bool), inertia, drop(inertia, tolerance * float(inertia.max())))


def least_moment(inertia: npt.NDArray[np.floating], mass: float) -> float:
    """The smallest principal moment [kg m²] of a tensor; 0 if it is negative by no more than rounding noise."""
    moments = np.linalg.eigvalsh(inertia)
    return 0.0 if moments[0] >= -moment_noise(moments, mass) else float(moments[0])


def moment_noise(moments: npt.NDArray[np.floating], mass: float) -> float:
    """How large rounding noise in principal moments can be [kg m²]."""
    return max(MOMENT_TOLERANCE * float(np.abs(moments).max()), NOISE_PER_MASS * mass)
