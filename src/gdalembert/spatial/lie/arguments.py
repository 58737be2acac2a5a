"""What the functions of ``gd.lie`` take and return: numbers as NumPy arrays, or one kind of CasADi matrix."""

from __future__ import annotations

from typing import Any

import casadi as ca

from gdalembert.errors import ArgumentError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import UNIT_ERROR, checked_rotation, checked_transform, vector

_EXPECTED = "numbers, or one SX or MX (casadi.vertcat)"


def column(what: str, given: Any, length: int) -> Matrix:
    """A vector as a column: numbers, a ``pin.Motion``, or a CasADi matrix.

    Raises:
        ArgumentTypeError, ArgumentError: if it is not one.
    """
    if isinstance(given, ca.SX | ca.MX):
        return _of_shape(what, given, length, 1)
    return ca.DM(vector(what, getattr(given, "vector", given), length))


def quaternion(what: str, given: Any) -> Matrix:
    """A unit quaternion (x, y, z, w) as a column: numbers or a CasADi matrix.

    Raises:
        ArgumentTypeError, ArgumentError: if it is not one.
    """
    x = column(what, given, 4)
    if isinstance(x, ca.DM) and not abs(float(ca.norm_2(x)) - 1) <= UNIT_ERROR:
        raise ArgumentError(f"{what}: its length is {float(ca.norm_2(x)):.9g}; normalise it")
    return x


def rotation(what: str, given: Any) -> Matrix:
    """A rotation matrix: numbers or a CasADi matrix, 3 × 3.

    Raises:
        ArgumentTypeError, ArgumentError: if it is not one.
    """
    if isinstance(given, ca.SX | ca.MX):
        return _of_shape(what, given, 3, 3)
    return ca.DM(checked_rotation(what, given, expected=_EXPECTED))


def transform(what: str, given: Any) -> Matrix:
    """A rigid motion [R p; 0 1]: numbers, a ``pin.SE3``, or a CasADi matrix, 4 × 4.

    Raises:
        ArgumentTypeError, ArgumentError: if it is not one.
    """
    if isinstance(given, ca.SX | ca.MX):
        return _of_shape(what, given, 4, 4)
    return ca.DM(checked_transform(what, given, expected=_EXPECTED))


def like(given: Any, result: Matrix) -> Any:
    """The result as what was given: a dense CasADi matrix of the same kind, else an array, a column as a vector."""
    if isinstance(given, ca.SX | ca.MX | ca.DM):
        return ca.densify(result)
    values = ca.DM(result).full()
    return values.ravel() if values.shape[1] == 1 else values


def _of_shape(what: str, given: Matrix, rows: int, columns: int) -> Matrix:
    if given.shape != (rows, columns):
        raise ArgumentError(f"{what}: got a matrix of {given.shape[0]} × {given.shape[1]}; give {rows} × {columns}")
    return given
