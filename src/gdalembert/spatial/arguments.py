"""What is checked of a user's numbers and functions of the abscissa."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.spatial.arrays import Array, frozen

Property: TypeAlias = float | Callable[[Any], Any]
"""A number, or a function of the abscissa η [m] that takes a NumPy array, or a single number, of it."""


def number(what: str, value: Any, unit: str = "", *, least: float = 0.0, inclusive: bool = False) -> float:
    """One finite number above (or, inclusive, at least) a limit.

    Raises:
        ArgumentTypeError: if it is no number.
        ArgumentError: if it is out of range.
    """
    given = f" [{unit}]" if unit else ""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentTypeError(f"{what}: expected a number{given}, got {value!r}")
    if not math.isfinite(value) or value < least or (value == least and not inclusive):
        limit = f"at least {least:g}" if inclusive else f"above {least:g}"
        raise ArgumentError(f"{what}: got {value!r}; give one finite number{given}, {limit}")
    return float(value)


def evaluate(what: str, unit: str, given: Property, eta: Array, *, inclusive: bool = False) -> Array:
    """The values of a property at abscissae (m,), checked."""
    if not callable(given):
        return np.full(eta.shape, given)
    try:
        found = given(eta)
    except (TypeError, ValueError):  # a function of single numbers
        found = [given(float(x)) for x in eta]
    try:
        values = np.broadcast_to(np.asarray(found, dtype=float), eta.shape)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{what}: expected one number [{unit}] for each abscissa, got {found!r}") from None
    wrong = ~np.isfinite(values) | (values < 0) | ((values == 0) & (not inclusive))
    if wrong.any():
        k = int(wrong.argmax())
        limit = "at least 0" if inclusive else "above 0"
        raise ArgumentError(f"{what}: {values[k]:.6g} at {eta[k]:.6g} m; it must be finite [{unit}] and {limit}")
    return values


def numbers(what: str, given: npt.ArrayLike) -> Array:
    """Finite numbers, frozen.

    Raises:
        ArgumentTypeError: if they are none.
        ArgumentError: if one is not finite.
    """
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{what}: expected numbers, got {given!r}") from None
    if not np.all(np.isfinite(array)):
        raise ArgumentError(f"{what}: one is not finite; give finite numbers")
    return frozen(array)
