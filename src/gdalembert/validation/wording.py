"""Names of joints and numbers in the sentences of a diagnosis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gdalembert.model.tree import Tree
from gdalembert.validation.states import Mask


def listed(given: Iterable[str], most: int = 8) -> str:
    """Separated by commas; only so many of them."""
    items = list(given)
    return ", ".join(items) if len(items) <= most else f"{', '.join(items[:most])} and {len(items) - most} more"


def joints(where: Mask, names: tuple[str, ...], order: Sequence[int]) -> str:
    """Those where the mask (nv) is true, in an order of all of them."""
    if np.all(where) and len(names) > 1:
        return "every joint"
    return f"joint {listed([repr(names[j]) for j in order if where[j]])}"


def entries(where: Mask, names: tuple[str, ...], order: Sequence[int]) -> str:
    """Of a matrix, where the mask (nv × nv) is true; those of the first joints of the order first."""
    rank = np.argsort(order)
    found = sorted(np.argwhere(where).tolist(), key=lambda entry: sorted(rank[entry]))
    return listed([f"{names[i]!r} × {names[j]!r}" for i, j in found])


def symmetric_entries(where: Mask, names: tuple[str, ...], order: Sequence[int]) -> str:
    """Of a symmetric matrix: those of the upper triangle, or the one row and column that all of them are in."""
    if np.all(where) and len(names) > 1:
        return "at every joint"
    for j, name in enumerate(names):
        others = np.delete(np.delete(where, j, axis=0), j, axis=1)
        if np.sum(where) > 2 and not np.any(others):
            return f"in the row and column of joint {name!r}"
    return f"at {entries(np.triu(where), names, order)}"


def outermost_first(where: Mask, tree: Tree) -> list[int]:
    """The entries of v: first those of wrong joints that no other wrong joint is mounted on, all from the tips inwards.

    Errors travel to the ancestors of the joint where they are made.
    """
    inner: set[int] = set()
    wrong = [any(where[k] for k in joint.columns) for joint in tree.joints]
    for joint, is_wrong in zip(tree.joints, wrong, strict=True):
        parent = joint.parent if is_wrong else -1
        while parent >= 0:
            inner |= set(tree.joints[parent].columns)
            parent = tree.joints[parent].parent
    return sorted(range(len(where)), key=lambda k: (k in inner, -k))


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
