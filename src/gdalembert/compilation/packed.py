"""Matrices as the entries that are not always zero, which a caller can do without writing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, shown
from gdalembert.spatial.arguments import numbers as numbers_of
from gdalembert.spatial.arrays import Array

OUTPUTS = ("full", "nonzeros", "upper")
"""Entries of a matrix that are written: all, those that are not always zero, or these of its upper triangle."""
_ASYMMETRY = 1e-9
"""Relative: a matrix whose transpose differs by more is not symmetric."""


class Places:
    """Places of the numbers of a packed matrix.

    Attributes:
        shape: that of the matrix. ``rows``, ``columns``: those of each number, column by column.
        mirrored: whether the matrix is symmetric, and the numbers are those of its upper triangle.
    """

    def __init__(self, pattern: ca.Sparsity, *, mirrored: bool) -> None:
        rows, columns = pattern.get_triplet()
        self.shape: tuple[int, int] = pattern.shape
        self.rows, self.columns, self.mirrored = np.array(rows, dtype=int), np.array(columns, dtype=int), mirrored

    def __len__(self) -> int:
        return len(self.rows)

    def full(self, numbers: npt.ArrayLike, *, axis: int = 0) -> npt.NDArray[np.floating[Any]]:
        """The matrix (rows, columns) of packed numbers (n,), or matrices (N, rows, columns) of (N, n).

        With ``axis=-1``, as in ``batch``, they are (rows, columns, N) of (n, N). They are float32 if the numbers are.

        Raises:
            ArgumentTypeError, ArgumentError: if they are no numbers, or their number is wrong.
        """
        if axis not in (0, -1):
            raise ArgumentError(f"full: axis is {shown(axis)}; give 0 for numbers (N, n), or -1 for (n, N)")
        packed, n = numbers_of("full", numbers, finite=False), len(self)
        several = (packed.shape[1:] if axis else packed.shape[:-1]) if packed.ndim else ()
        if packed.shape != ((n, *several) if axis else (*several, n)) or len(several) > 1:
            many = f"({n}, N)" if axis else f"(N, {n})"
            raise ArgumentError(f"full: got the shape {packed.shape}; give ({n},) or {many}")
        real = np.float32 if getattr(numbers, "dtype", None) == np.float32 else np.float64
        full = np.zeros((*self.shape, *several) if axis else (*several, *self.shape), dtype=real)
        before = () if axis else (...,)
        full[(*before, self.rows, self.columns)] = packed
        if self.mirrored:
            full[(*before, self.columns, self.rows)] = packed
        return full


def packed(function: ca.Function, output: str) -> tuple[ca.Function, Mapping[str, Places]]:
    """The Function with its matrices packed, and the places of their numbers by name; columns stay as they are.

    Raises:
        ArgumentError: if the upper triangle is asked for of a matrix that is not symmetric.
    """
    if output == "full":
        return function, {}
    kind: Any = ca.SX if function.is_a("SXFunction") else ca.MX
    symbols = [kind.sym(name, function.sparsity_in(name)) for name in function.name_in()]
    values, places = [], {}
    for name, value in zip(function.name_out(), function.call(symbols, True, False), strict=True):
        if value.shape[1] == 1:
            values.append(value)
            continue
        kept = ca.sparsify(value) if kind is ca.SX else value
        if output == "upper":
            _check_symmetric(function, name)
            kept = ca.triu(kept)
        places[name] = Places(kept.sparsity(), mirrored=output == "upper")
        values.append(kept.nz[:])
    return ca.Function(function.name(), symbols, values, function.name_in(), function.name_out()), places


def _check_symmetric(function: ca.Function, name: str) -> None:
    """Refuse a matrix that is not its transpose, at random inputs."""
    rng = np.random.default_rng(0)
    inputs = [ca.DM(function.sparsity_in(i), rng.uniform(0.1, 1.0, function.nnz_in(i))) for i in range(function.n_in())]
    matrix = function.call(inputs)[function.index_out(name)].full()
    if matrix.shape[0] != matrix.shape[1] or not _is_close(matrix, matrix.T):
        raise ArgumentError(
            f"{function.name()}: output='upper': {name} is not symmetric; take output='nonzeros', which writes both "
            "triangles"
        )


def _is_close(one: Array, other: Array) -> bool:
    return bool(np.abs(one - other).max(initial=0) <= _ASYMMETRY * np.abs(one).max(initial=0))
