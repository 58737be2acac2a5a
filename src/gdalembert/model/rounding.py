"""Rounding noise in the numbers of a model: all tolerances side by side, and the functions that remove the noise.

Three kinds of noise: of numbers that somebody wrote down with some digits, of numbers that we computed, and of whole
matrices that should be singular. Tolerances of a method (quadrature, modes, pruning, validation) stand with the method.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gdalembert.spatial.arrays import Array

_EPS = float(np.finfo(float).eps)

# Numbers that somebody wrote down.
DOUBTFUL = 1e-3
"""How far, relatively, a URDF's axis may lie from unit length (the parser normalises it), and its largest principal
moment above the sum of the others, without a doubt: published tables have three digits."""
NEGLIGIBLE = 1e-6
"""Below this part of the lengths around it a length is zero: a vector so short has no direction."""
SAME_PLACE = 1e-12
"""How far a placement may lie from the identity [m, rad] and be it: Pinocchio composes it of others."""
MOMENT_TOLERANCE = 1e-9
"""How far below zero a mass or principal moment may lie, relative to the largest, and be zero: differences of numbers
with nine digits."""
NOISE_PER_MASS = 1e-15
"""Resolution per mass [m²]: published tensors "of zero" hold 1e-20 kg m², and real bodies far more than this."""
CLEANED = 1e-11
"""What cleaning takes away by default: a rpy of 1.57079632679 is π/2."""
MOST_CLEANED = 1e-6
"""The most that it takes away: a larger number was meant."""
LARGEST = 1e30
"""The largest mass, length or moment of inertia [SI units] that is a number of a robot, and of which m l² is finite."""

# Numbers that we computed, in double precision.
SAME = 1e-15
"""Relative difference of two numbers that rounding alone tells apart: some units in the last place."""
ROUND_OFF = 1e-12
"""How far, relatively, a length or a time may pass a limit and count as on it: sums of many numbers are off by less."""
ORTHOGONALITY_ERROR = 4e-16
"""By how much more than before R Rᵀ may differ from 1 when R was cleaned: two units in the last place of 1."""
ENTRY_ERROR = 4 * _EPS
"""What the entries of a computed matrix may be off by, relative to the largest of them."""
PRODUCT_ERROR = 8 * _EPS
"""What the entries of a product of a few matrices may be off by, relative to the same product of magnitudes."""

# Matrices.
NO_INERTIA = 1e-14
"""What the least eigenvalue of a joint's own block of M may be and be zero, relative to the products in its sum."""
SINGULAR = 1e-13
"""Resolution of all of M, scaled to a diagonal of ones: a sum of many more."""


def known_digits(values: Array, errors: Array) -> Array:
    """Values rounded to the decimal digits that their errors leave."""
    rounded = [
        round(float(x), -math.ceil(math.log10(error))) if error > 0 else x
        for x, error in zip(values.ravel(), errors.ravel(), strict=True)
    ]
    return np.array(rounded, dtype=float).reshape(values.shape)


def drop(values: Array, least: float | Array) -> Array:
    """Zero in place of all that is not larger."""
    return np.where(np.abs(values) <= least, 0.0, values)


def clean_matrix(x: Array) -> Array:
    """Zero in place of what is rounding noise beside the largest entry."""
    return drop(x, ENTRY_ERROR * np.abs(x).max(initial=0))


def clean_product(left: Array, middle: Array, right: Array) -> Array:
    """The product left @ middle @ right, with zero in place of what its rounding error may have made of it."""
    return drop(left @ middle @ right, PRODUCT_ERROR * (np.abs(left) @ np.abs(middle) @ np.abs(right)))


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
    before, after = (float(np.abs(r @ r.T - np.eye(3)).max()) for r in (rotation, cleaned))
    return cleaned if after - before <= ORTHOGONALITY_ERROR else rotation


def clean_inertia(inertia: Array, tolerance: float) -> Array:
    """Zeros in place of products of inertia I_ij within tolerance sqrt(I_ii I_jj), or rounding of the largest."""
    moments = np.maximum(np.diag(inertia), 0)
    noise = np.maximum(tolerance * np.sqrt(np.outer(moments, moments)), ENTRY_ERROR * moments.max())
    return np.where(np.eye(3, dtype=bool), inertia, drop(inertia, noise))


def least_moment(inertia: npt.NDArray[np.floating], mass: float) -> float:
    """The smallest principal moment [kg m²] of a tensor; 0 if it is negative by no more than rounding noise."""
    moments = np.linalg.eigvalsh(inertia)
    return 0.0 if moments[0] >= -moment_noise(moments, mass) else float(moments[0])


def exceeds_the_others(inertia: npt.NDArray[np.floating], mass: float) -> bool:
    """True if a principal moment exceeds the sum of the other two without a doubt, as in no real body."""
    moments = np.linalg.eigvalsh(inertia)
    others = moments[0] + moments[1]
    return bool(moments[2] - others > DOUBTFUL * others + moment_noise(moments, mass))


def moment_noise(moments: npt.NDArray[np.floating], mass: float) -> float:
    """The largest rounding noise in principal moments [kg m²]."""
    return max(MOMENT_TOLERANCE * float(np.abs(moments).max()), NOISE_PER_MASS * mass)
