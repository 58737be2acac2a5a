"""Matrices as the entries that are not always zero, which a caller can do without writing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError
from gdalembert.spatial.arguments import numbers as numbers_of
from gdalembert.spatial.arrays import Array

OUTPUTS = ("full", "nonzeros", "upper")
"""What is written of a matrix: all entries, those that are not always zero, or these of its upper triangle."""
_ASYMMETRY = 1e-9
"""Relative: a matrix whose transpose differs by more is not symmetric."""


class Places:
    """Where the numbers of a packed matrix belong.

    Attributes:
        shape: of the matrix. ``rows``, ``columns``: of each number, column by column.
        mirrored: whether the matrix is symmetric, and the numbers are those of its upper triangle.
    """

    def __init__(self, pattern: ca.Sparsity, *, mirrored: bool) -> None:
        rows, columns = pattern.get_triplet()
        self.shape: tuple[int, int] = pattern.shape
        self.rows, self.columns, self.mirrored = np.array(rows, dtype=int), np.array(columns, dtype=int), mirrored

    def __len__(self) -> int:
        return len(self.rows)

    def full(self, numbers: npt.ArrayLike) -> Array:
        """The matrix (rows, columns) of packed numbers (n,), or matrices (N, rows, columns) of (N, n).

        Raises:
            ArgumentTypeError, ArgumentError: if they are no numbers, or their number is wrong.
        """
        packed = numbers_of("full", numbers, finite=False)
        if packed.ndim not in (1, 2) or packed.shape[-1] != len(self):
            raise ArgumentError(f"full: got the shape {packed.shape}; give ({len(self)},) or (N, {len(self)})")
        found = np.zeros((*packed.shape[:-1], *self.shape))
        found[..., self.rows, self.columns] = packed
        if self.mirrored:
            found[..., self.columns, self.rows] = packed
        return found


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
