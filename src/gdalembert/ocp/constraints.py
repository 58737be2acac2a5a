"""The constraints of a problem by name: added to its ``Opti``, and how far a solution violates them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError
from gdalembert.ocp.bounds import NEGLIGIBLE
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.arrays import Array, frozen


class Constraints:
    """Bounds of rows of expressions, a column for each instant.

    Args:
        opti: the ``casadi.Opti`` that they are added to.
    """

    def __init__(self, opti: ca.Opti) -> None:
        self._opti = opti
        self._rows: dict[str, tuple[ca.MX, Array, Array]] = {}
        self._paths: dict[str, tuple[ca.Function, Array, Array]] = {}

    def fix(self, name: str, x: ca.MX, value: npt.ArrayLike) -> None:
        """x = value, in one column."""
        self._opti.subject_to(x == value)
        self.note(name, x, value)

    def note(self, name: str, x: ca.MX, value: npt.ArrayLike) -> None:
        """Count violations of x = value, which holds by constraints that were added elsewhere."""
        self._rows[name] = x, frozen(value), frozen(value)

    def bound(self, name: str, x: ca.MX, lower: Array, upper: Array) -> None:
        """lower ≤ x ≤ upper in each column; infinite bounds are left out."""
        self._rows[name] = x, lower, upper
        for i in np.flatnonzero(np.isfinite(lower) | np.isfinite(upper)).tolist():
            if lower[i] == upper[i]:
                self._opti.subject_to(x[i, :] == np.full((1, x.shape[1]), lower[i]))
            else:
                self._opti.subject_to(self._opti.bounded(float(lower[i]), x[i, :], float(upper[i])))

    def next_path(self) -> str:
        """The name of the next path."""
        return f"path {sum(name.startswith('path') for name in self._rows) + 1}"

    def follow(self, name: str, graph: ca.Function, lower: Array, upper: Array) -> None:
        """Keep the expression of a path of q, v and p, for :meth:`excess`."""
        self._paths[name] = graph, lower, upper

    def violations(self, value: Callable[[Any], Array]) -> dict[str, float]:
        """The largest violation of each constraint, by the values of expressions."""
        found = {}
        for name, (rows, lower, upper) in self._rows.items():
            x = value(rows).reshape(rows.shape)
            over = np.maximum(lower[:, None] - x, x - upper[:, None])
            found[name] = float(over.max(initial=0.0))
        return found

    def excess(self, q: Array, v: Array, p: Array) -> dict[str, float]:
        """By how much a motion, N × nq and N × nv, of a robot with p (n_p) leaves the bounds of paths of q and v."""
        found, rows = {}, {"q": q.T, "v": v.T, "p": np.tile(p[:, None], (1, len(q)))}
        for name, (graph, lower, upper) in self._paths.items():
            x = graph(*(rows[key] for key in graph.name_in())).full()
            over = float(np.maximum(lower[:, None] - x, x - upper[:, None]).max())
            if over > NEGLIGIBLE:
                found[name] = over
        return found


def path_bounds(lower: npt.ArrayLike, upper: npt.ArrayLike, size: int) -> tuple[Array, Array]:
    """The bounds of an expression with so many entries, a matrix column by column.

    Raises:
        ArgumentTypeError, ArgumentError: if they cannot be used.
    """
    ends = []
    for name, bound in (("lower", lower), ("upper", upper)):
        array = numbers(f"path: {name}", bound, finite=False)
        if np.any(np.isnan(array)):
            raise ArgumentError(f"path: {name} is not a number; give numbers, or leave it out")
        if array.size not in (1, size):
            raise ArgumentError(f"path: {name} has {array.size} numbers; give {size}, or one")
        ends.append(np.broadcast_to(array.ravel(order="F"), size))
    low, high = ends
    if np.any(low > high):
        raise ArgumentError(f"path: a lower bound is above the upper one: {low} and {high}")
    if not np.any(np.isfinite(low) | np.isfinite(high)):
        raise ArgumentError("path: neither lower nor upper is finite; give one of them")
    return low, high
