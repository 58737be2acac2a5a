"""What a user passes, as CasADi matrices: symbols (SX, MX), and numbers as DM, which meets either kind; lazy lists."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import numbers, vector


def matrix(what: str, given: Any, rows: int, columns: int = 1) -> Matrix:
    """Numbers, symbols, lists of both, or a spatial object, as a matrix (rows × columns); a column may lie as a row.

    Raises:
        ArgumentTypeError, ArgumentError: if it is nothing of that, has another shape, or a number is not finite.
    """
    x = _casadi(what, given)
    if columns == 1 and x.shape == (1, rows):
        x = x.T
    if x.shape != (rows, columns):
        got, wanted = (f"{m} × {n}" for m, n in (x.shape, (rows, columns)))
        raise ArgumentError(f"{what}: got {got} entries; give {wanted}")
    return x


def _casadi(what: str, given: Any) -> Matrix:
    """A copy, since entries of matrices of CasADi can be written."""
    if not isinstance(given, ca.SX | ca.MX):
        given = getattr(given, "vector", getattr(given, "homogeneous", given))
    if isinstance(given, ca.SX | ca.MX):
        copy: Matrix = given[:, :]
        return copy
    if isinstance(given, np.ndarray) and given.dtype == object:
        given = given.tolist()
    if isinstance(given, list | tuple) and _has_matrices(given):
        rows = [each if isinstance(each, list | tuple) else [each] for each in given]
        try:
            given = ca.vertcat(*(ca.horzcat(*row) for row in rows))
        except (NotImplementedError, RuntimeError):
            raise ArgumentTypeError(
                f"{what}: cannot be made one matrix of SX or MX; give rows of equal length"
            ) from None
    if isinstance(given, ca.SX | ca.MX):
        return given
    values = numbers(what, given, expected="numbers, SX or MX")
    if values.ndim > 2:
        raise ArgumentError(f"{what}: got numbers of shape {values.shape}; give a matrix")
    return Numbers(values)


def _has_matrices(given: Any) -> bool:
    if isinstance(given, list | tuple):
        return any(_has_matrices(each) for each in given)
    return isinstance(given, ca.SX | ca.MX | ca.DM)


def shape_of(given: Any) -> tuple[int, ...]:
    """The shape of a matrix, a list or an object, also of lists of matrices; of unequal rows, the number of these."""
    given = getattr(given, "np", given)
    if hasattr(given, "shape"):
        return tuple(given.shape)
    if not isinstance(given, list | tuple):
        return np.shape(given)
    shapes = {shape_of(row) if isinstance(row, list | tuple | np.ndarray) else () for row in given}
    return (len(given), *(shapes.pop() if len(shapes) == 1 else ()))


def is_constant(x: Matrix) -> bool:
    """Whether a matrix consists of numbers."""
    return isinstance(x, ca.DM) or not ca.symvar(x)


def number_of(x: Matrix) -> Any:
    """The numbers of a constant matrix: an array, a column as a vector, a single one as a float."""
    values = ca.evalf(x).full()
    return values.item() if values.size == 1 else values.ravel() if values.shape[1] == 1 else values


def is_same(x: Matrix, y: Matrix) -> bool:
    """Whether two matrices are the same expression, or equal numbers; slices of MX that were made anew are the same."""
    alike = type(x) is type(y) or (isinstance(x, ca.DM) and isinstance(y, ca.DM))
    return alike and x.shape == y.shape and bool(ca.is_equal(x, y, 3))


def index_of(what: str, given: Any, length: int) -> int:
    """An index from 0 to length − 1; a negative one counts from the end.

    Raises:
        ArgumentError: if it is out of range.
    """
    try:
        return range(length)[operator.index(given)]
    except (IndexError, TypeError):
        unknown = "; an unknown name has this index" if isinstance(given, int) and given == length else ""
        raise ArgumentError(f"{what}[{given}]: give an index from 0 to {length - 1}{unknown}") from None


def _entry(x: ca.DM, index: Any) -> Any:
    """What an index reads: a float, or a matrix of a slice."""
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


class Column(ca.DM):
    """A vector of an object, such as ``model.lowerPositionLimit``; what is written into an entry is written there."""

    def __init__(self, owner: Any, name: str) -> None:
        super().__init__(getattr(owner, name))
        self._given = owner, name

    def __getitem__(self, index: Any) -> Any:
        return _entry(super().__getitem__(index), index)

    def __setitem__(self, index: Any, x: Any) -> None:
        length = ca.DM.__getitem__(self, index).numel()
        values = vector(f"model.{self._given[1]}", x, length, finite=False, repeat=True)
        super().__setitem__(index, values)
        setattr(*self._given, self.full().ravel())


class Items(Sequence[Any]):
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
        """All items."""
        return list(self)


class StdVec(list[Any]):
    """A list, also of (size, value)."""

    def __init__(self, *given: Any, size: int = 0, value: Any = None) -> None:
        if len(given) == 2:
            size, value = given
        super().__init__(given[0] if len(given) == 1 else [value] * size)

    def tolist(self) -> list[Any]:
        return list(self)
