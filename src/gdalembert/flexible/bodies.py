"""Rigid bodies on flexible links."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.spatial.arrays import Array, frozen


def pseudo_inertia(what: str, body: Any) -> Array:
    """The 4 × 4 matrix ∫ x̂ x̂ᵀ dm of a ``pin.Inertia``, about the origin of its frame.

    Raises:
        ArgumentTypeError: if it is none.
        ArgumentError: if it is no inertia of a body.
    """
    if not isinstance(body, pin.Inertia):
        raise ArgumentTypeError(f"{what}: expected a pin.Inertia, got {body!r}")
    mass, lever, tensor = float(body.mass), np.array(body.lever), np.array(body.inertia)
    if not (math.isfinite(mass) and np.all(np.isfinite(lever)) and np.all(np.isfinite(tensor))):
        raise ArgumentError(f"{what}: a number is not finite; give a pin.Inertia of finite numbers")
    least = float(np.linalg.eigvalsh(tensor)[0])
    if mass < 0 or least < -1e-9 * max(float(np.abs(tensor).max()), 1e-12):
        raise ArgumentError(
            f"{what}: its mass is {mass:g} kg and its least principal moment {least:g} kg m²; give at least 0"
        )
    second = np.trace(tensor) / 2 * np.eye(3) - tensor + mass * np.outer(lever, lever)
    return frozen(np.block([[second, mass * lever[:, None]], [mass * lever[None], mass]]))
