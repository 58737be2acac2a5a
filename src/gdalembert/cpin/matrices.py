"""Matrices and lists of a user as CasADi's: symbols (SX, MX), numbers as DM, which meets both; lists made lazily."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import numbers, vector


def matrix(argument: str, value: Any, rows: int, columns: int = 1) -> Matrix:
    """Convert numbers, symbols, lists of both, or a spatial object to a matrix (rows × columns); a row may be a column.

    Raises:
        ArgumentTypeError, ArgumentError: if it is none of these, has another shape, or a number is not finite.
    """
    x = _casadi(argument, value)
    if columns == 1 and x.shape == (1, rows):
        x = x.T
    if x.shape != (rows, columns):
        got, wanted = (f"{m} × {n}" for m, n in (x.shape, (rows, columns)))
        raise ArgumentError(f"{argument}: got {got} entries; give {wanted}")
    return x


def _casadi(argument: str, value: Any) -> Matrix:
    """Copy a value into a matrix of CasADi, whose entries its owner may write afterwards."""
    if not isinstance(value, ca.SX | ca.MX):
        value = getattr(value, "vector", getattr(value, "homogeneous", value))
    if isinstance(value, ca.SX | ca.MX):
        copy: Matrix = value[:, :]
        return copy
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.tolist()
    if isinstance(value, list | tuple) and _has_matrices(value):
        rows = [row if isinstance(row, list | tuple) else [row] for row in value]
        try:
            value = ca.vertcat(*(ca.horzcat(*row) for row in rows))
        except (NotImplementedError, RuntimeError):
            raise ArgumentTypeError(
                f"{argument}: cannot be made one matrix of SX or MX; give rows of equal length"
            ) from None
    if isinstance(value, ca.SX | ca.MX):
        return value
    array = numbers(argument, value, expected="numbers, SX or MX")
    if array.ndim > 2:
        raise ArgumentError(f"{argument}: got numbers of shape {array.shape}; give a matrix")
    return Numbers(array)


def _has_matrices(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_has_matrices, value))
    return isinstance(value, ca.SX | ca.MX | ca.DM)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a matrix, a list or an object, also of lists of matrices; of unequal rows, the number of these."""
    value = getattr(value, "np", value)
    if hasattr(value, "shape"):
        return tuple(value.shape)
    if not isinstance(value, list | tuple):
        return np.shape(value)
    shapes = {shape_of(row) if isinstance(row, list | tuple | np.ndarray) else () for row in value}
    return (len(value), *(shapes.pop() if len(shapes) == 1 else ()))


def is_constant(x: Matrix) -> bool:
    """True if a matrix has no symbols."""
    return isinstance(x, ca.DM) or not ca.symvar(x)


def number_of(x: Matrix) -> Any:
    """The numbers of a constant matrix: an array, a column as a vector, a single one as a float."""
    values = ca.evalf(x).full()
    return values.item() if values.size == 1 else values.ravel() if values.shape[1] == 1 else values


def is_same(x: Matrix, y: Matrix) -> bool:
    """True if two matrices are the same expression, or equal numbers; slices of MX that were made anew are the same."""
    alike = type(x) is type(y) or (isinstance(x, ca.DM) and isinstance(y, ca.DM))
    return alike and x.shape == y.shape and bool(ca.is_equal(x, y, 3))


def index_of(argument: str, index: Any, length: int) -> int:
    """The index from 0 to length − 1; a negative one counts from the end.

    Raises:
        ArgumentError: if it is out of range.
    """
    try:
        return range(length)[operator.index(index)]
    except (IndexError, TypeError):
        unknown = "; an unknown name has this index" if isinstance(index, int) and index == length else ""
        raise ArgumentError(f"{argument}[{index}]: give an index from 0 to {length - 1}{unknown}") from None


def _entry(x: ca.DM, index: Any) -> Any:
    """An entry as a float, or a slice as the matrix that it is."""
    indices = index if isinstance(index, tuple) else (index,)
    return float(x) if all(isinstance(k, int | np.integer) for k in indices) else x


class Numbers(ca.DM):
    """Numbers that an object has: where an entry becomes a symbol, a matrix of symbols takes their place there.

    An entry is a float, which meets symbols, NumPy and formats: of a matrix, NumPy makes an array.
    """

    owner: tuple[Any, str] | None = None

    def __getitem__(self, index: Any) -> Any:
        x = super().__getitem__(index)
        return x if self.owner is None else _entry(x, index)

    def __setitem__(self, index: Any, x: Any) -> None:
        if not isinstance(x, ca.SX | ca.MX):
            super().__setitem__(index, x)
        elif self.owner is None:
            raise ArgumentTypeError(
                f"an entry of numbers cannot become {type(x).__name__}; make the matrix of symbols, as ca.vertcat does"
            )
        else:
            changed = type(x)(ca.DM(self))
            changed[index] = x
            setattr(*self.owner, changed)


def owned(x: Any, owner: Any, name: str) -> Any:
    """A matrix that is the attribute of an object."""
    x.owner = owner, name
    return x


class OwnedVector(ca.DM):
    """A vector of an object, such as ``model.lowerPositionLimit``; what is written into an entry is written there."""

    def __init__(self, owner: Any, name: str) -> None:
        super().__init__(getattr(owner, name))
        self._attribute = owner, name

    def __getitem__(self, index: Any) -> Any:
        return _entry(super().__getitem__(index), index)

    def __setitem__(self, index: Any, x: Any) -> None:
        length = ca.DM.__getitem__(self, index).numel()
        values = vector(f"model.{self._attribute[1]}", x, length, finite=False, repeat=True)
        super().__setitem__(index, values)
        setattr(*self._attribute, self.full().ravel())


class LazyList(Sequence[Any]):
    """A list whose items are made when they are first read; ``made`` has those that were read or set.

    What is set is a value of ``kind``, or what that can be made of.
    """

    def __init__(self, name: str, length: int, make: Callable[[int], Any], kind: Callable[[Any], Any] = list) -> None:
        self.name, self._length, self._make, self._kind = name, length, make, kind
        self.made: dict[int, Any] = {}

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(self._length)[index]]
        k = index_of(self.name, index, self._length)
        if k not in self.made:
            self.made[k] = self._make(k)
        return self.made[k]

    def __setitem__(self, index: Any, x: Any) -> None:
        self.made[index_of(self.name, index, self._length)] = self._kind(x)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(self._length))

    def tolist(self) -> list[Any]:
        """All items in a list."""
        return list(self)


class StdVec(list[Any]):
    """A list that is made of another one, or of (size, value), as Pinocchio's vectors are."""

    def __init__(self, *args: Any, size: int = 0, value: Any = None) -> None:
        if len(args) == 2:
            size, value = args
        super().__init__(args[0] if len(args) == 1 else [value] * size)

    def tolist(self) -> list[Any]:
        return list(self)
