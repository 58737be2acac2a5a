"""Actuators: B of tau = B u, and the names of the entries of u."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

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


def actuator_names(b: Array, coordinates: Sequence[str]) -> tuple[str, ...]:
    """A name for each column of B (nv × nu): that of its coordinate, or ``u[k]``.

    A column has the name of a coordinate if its only non-zero entry is there, and no other column has that name.
    """
    rows = [np.flatnonzero(column) for column in b.T]
    alone = [coordinates[int(row[0])] if len(row) == 1 else None for row in rows]
    count = Counter(alone)
    return tuple(f"u[{k}]" if name is None or count[name] > 1 else name for k, name in enumerate(alone))
