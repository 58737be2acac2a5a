"""When a tensor is that of a body."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

MOMENT_TOLERANCE = 1e-9
"""How far below zero a principal moment may lie, relative to the largest, and be rounding noise."""

NOISE_PER_MASS = 1e-15
"""The same per mass [m²]: published tensors "of zero" hold 1e-20 kg m², and real bodies far more than this."""


def least_moment(inertia: npt.NDArray[np.floating], mass: float) -> float:
    """The smallest principal moment [kg m²] of a tensor; 0 if it is negative by no more than rounding noise."""
    moments = np.linalg.eigvalsh(inertia)
    return 0.0 if moments[0] >= -moment_noise(moments, mass) else float(moments[0])


def moment_noise(moments: npt.NDArray[np.floating], mass: float) -> float:
    """How large rounding noise in principal moments can be [kg m²]."""
    return max(MOMENT_TOLERANCE * float(np.abs(moments).max()), NOISE_PER_MASS * mass)
