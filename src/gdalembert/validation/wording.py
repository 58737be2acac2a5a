"""Names of joints and numbers in the sentences of a diagnosis."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gdalembert.validation.states import Mask


def listed(given: Iterable[str], most: int = 8) -> str:
    """Separated by commas; only so many of them."""
    items = list(given)
    return ", ".join(items) if len(items) <= most else f"{', '.join(items[:most])} and {len(items) - most} more"


def joints(where: Mask, names: tuple[str, ...]) -> str:
    """Those where the mask (nv) is true."""
    if np.all(where) and len(names) > 1:
        return "every joint"
    return f"joint {listed([repr(names[j]) for j in np.flatnonzero(where)])}"


def entries(where: Mask, names: tuple[str, ...]) -> str:
    """Of a matrix, where the mask (nv × nv) is true."""
    return listed([f"{names[i]!r} × {names[j]!r}" for i, j in np.argwhere(where)])


def symmetric_entries(where: Mask, names: tuple[str, ...]) -> str:
    """Of a symmetric matrix: those of the upper triangle, or the one row and column that all of them are in."""
    if np.all(where) and len(names) > 1:
        return "at every joint"
    for j, name in enumerate(names):
        others = np.delete(np.delete(where, j, axis=0), j, axis=1)
        if np.sum(where) > 2 and not np.any(others):
            return f"in the row and column of joint {name!r}"
    return f"at {entries(np.triu(where), names)}"


def sentence(what: str, predicate: str) -> str:
    """Subject and predicate; the verb of the predicate ("is", "has") agrees with the subject."""
    if what.endswith("terms"):
        verb, _, rest = predicate.partition(" ")
        return f"{what} {'are' if verb == 'is' else 'have'} {rest}"
    return f"{what} {predicate}"


def vector(values: Iterable[float]) -> str:
    """In parentheses, to 6 digits."""
    return f"({', '.join(number(x) for x in values)})"


def number(value: float) -> str:
    """To 6 digits; rounding noise is 0."""
    return f"{0.0 if abs(value) < 1e-9 else value:.6g}"
