"""The constraints of a problem by name: added to its ``Opti``, and how far a solution violates them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.arrays import Array

Bound = Array | ca.MX
"""A number for each row, or an expression of parameters."""
MOTION = "the equations of motion"
"""The name of what the transcription itself asks for."""
_PATH = "path"
"""How the names of paths begin."""


class Constraints:
    """Bounds of rows of expressions, a column for each instant.

    Args:
        opti: the ``casadi.Opti`` that they are added to.
    """

    def __init__(self, opti: ca.Opti) -> None:
        self._opti = opti
        self._rows: dict[str, tuple[ca.MX, Bound, Bound]] = {}
        self._own: dict[int, str] = {}

    def claim(self) -> None:
        """Count the constraints that the ``Opti`` has now among those of the problem."""
        for number in range(len(self._opti.advanced.constraints())):
            self._own.setdefault(number, MOTION)

    def note(self, name: str, x: ca.MX) -> None:
        """Count violations of x = 0, which holds by constraints that were added elsewhere."""
        zero = np.zeros(x.shape[0])
        self._rows[name] = x, zero, zero

    def bound(
        self,
        name: str,
        x: ca.MX,
        lower: Bound,
        upper: Bound,
        leeway: ca.MX | None = None,
        *,
        labels: Sequence[str] | None = None,
    ) -> None:
        """lower ≤ x ≤ upper in each column; rows without a finite bound are left out.

        ``leeway``: by how much each column may violate inequalities (1 × n); none by default. ``labels``: names of the
        rows; by default that of all.
        """
        self._rows[name] = x, lower, upper
        for i in range(x.shape[0]):
            low, high = _entry(lower, i), _entry(upper, i)
            if low is None and high is None:
                continue
            self._own[len(self._opti.advanced.constraints())] = labels[i] if labels else name
            if lower is upper or (isinstance(low, float) and low == high):
                self._opti.subject_to(x[i, :] == (low if isinstance(low, ca.MX) else np.full((1, x.shape[1]), low)))
            else:
                by = 0.0 if leeway is None else leeway
                ends = -np.inf if low is None else low - by, np.inf if high is None else high + by
                self._opti.subject_to(self._opti.bounded(ends[0], x[i, :], ends[1]))

    def label(self, opti: ca.OptiAdvanced, number: int, row: int) -> tuple[str, bool]:
        """The name of a constraint of the ``Opti``, and whether the user asked for it. ``row``: its first one."""
        name = self._own.get(number)
        if name is not None:
            return name, name.startswith(_PATH)
        called = re.search(r"called from (.+):(\d+)", opti.g_describe(row))
        place = f" of {Path(called[1]).name}, line {called[2]}," if called else f" {number}"
        return f"opti.subject_to{place}", True

    def next_path(self) -> str:
        """The name of the next path."""
        return f"{_PATH} {sum(name.startswith(_PATH) for name in self._rows) + 1}"

    def violations(self, opti: ca.OptiAdvanced) -> dict[str, ca.MX]:
        """The largest violation of each constraint, as an expression; those of ``opti.subject_to`` together.

        ``opti``: the problem, baked.
        """
        found = {}
        for name, (x, lower, upper) in self._rows.items():
            low, high = (
                ca.repmat(ca.MX(ca.DM(b) if isinstance(b, np.ndarray) else b), 1, x.shape[1]) for b in (lower, upper)
            )
            over = ca.fmax(low - x, x - high)
            found[name] = ca.fmax(ca.mmax(over), 0) if x.numel() else ca.MX(0)
        others = [opti.get_meta_con(x) for i, x in enumerate(opti.constraints()) if i not in self._own]
        if rows := [row for each in others for row in range(each.start, each.stop)]:
            over = ca.fmax(opti.lbg[rows] - opti.g[rows], opti.g[rows] - opti.ubg[rows])
            found["opti.subject_to"] = ca.fmax(ca.mmax(over), 0)
        return found


def _entry(bound: Bound, i: int) -> float | ca.MX | None:
    """One row of a bound; ``None`` if it is infinite."""
    if isinstance(bound, ca.MX):
        return bound[i]
    return float(bound[i]) if np.isfinite(bound[i]) else None


def same_bounds(lower: Bound, upper: Bound) -> bool:
    """Whether two bounds make an equation of some row."""
    if isinstance(lower, ca.MX) or isinstance(upper, ca.MX):
        return lower is upper
    return bool(np.any(lower == upper))


def path_bounds(lower: npt.ArrayLike, upper: npt.ArrayLike, size: int) -> tuple[Array, Array]:
    """The bounds of an expression with so many entries, a matrix column by column.

    Raises:
        ArgumentTypeError, ArgumentError: if they cannot be used.
    """
    low, high = (path_bound(name, bound, size) for name, bound in (("lower", lower), ("upper", upper)))
    if np.any(low > high):
        raise ArgumentError(f"path: a lower bound is above the upper one: {low} and {high}")
    if not np.any(np.isfinite(low) | np.isfinite(high)):
        raise ArgumentError("path: neither lower nor upper is finite; give one of them")
    return low, high


def path_bound(name: str, bound: Any, size: int) -> Array:
    """One bound, a number for each entry.

    Raises:
        ArgumentTypeError, ArgumentError: if it cannot be used.
    """
    array = numbers(f"path: {name}", bound, finite=False)
    if np.any(np.isnan(array)):
        raise ArgumentError(f"path: {name} is not a number; give numbers, or leave it out")
    if array.size not in (1, size):
        raise ArgumentError(f"path: {name} has {array.size} numbers; give {size}, or one")
    return np.broadcast_to(array.ravel(order="F"), size)


def symbolic_bounds(lower: Any, upper: Any, size: int) -> tuple[Bound, Bound]:
    """As :func:`path_bounds`, where expressions of parameters may be among them.

    Raises:
        ArgumentTypeError, ArgumentError: if they cannot be used.
    """
    if not isinstance(lower, ca.MX) and not isinstance(upper, ca.MX):
        return path_bounds(lower, upper, size)
    found: list[Bound] = []
    for name, bound in (("lower", lower), ("upper", upper)):
        if not isinstance(bound, ca.MX):
            found.append(path_bound(name, bound, size))
            continue
        if bound.numel() not in (1, size):
            raise ArgumentError(f"path: {name} has {bound.numel()} entries; give {size}, or one")
        found.append(ca.repmat(bound, size, 1) if bound.numel() == 1 else ca.vec(bound))
    return (found[0], found[0]) if lower is upper else (found[0], found[1])
