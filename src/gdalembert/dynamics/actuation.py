"""Actuators: B of tau = B u."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.arrays import Array, frozen


def actuation_matrix(nv: int, given: npt.ArrayLike | None) -> Array:
    """B (nv × nu), by default 1.

    Raises:
        ArgumentTypeError: if it is not a matrix of numbers.
        ArgumentError: if it has not nv rows, no column, or a number that is not finite.
    """
    if given is None:
        return frozen(np.eye(nv))
    b = numbers("actuation", given)
    if b.ndim != 2 or b.shape[0] != nv or not b.shape[1]:
        raise ArgumentError(f"actuation: got shape {b.shape}; give B ({nv} × nu) of tau = B u")
    return b
