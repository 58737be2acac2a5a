"""The one place that makes ``casadi.Function`` objects, named and dense, and what evaluates them."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, reason_of, shown
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import MASKED, is_masked
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.instructions import eliminate_common_subexpressions
from gdalembert.spatial.interrupts import interruptible

_THREADS = min(4, os.cpu_count() or 1)
_MATRICES = (ca.DM, ca.SX, ca.MX)
_READY = frozenset((*_MATRICES, float, int, np.float64))
"""Types of arguments that CasADi takes as they are."""
_NUMBERS = frozenset((ca.DM, float, int, np.float64))
"""Those with which it runs no Python, and loses nothing that signal handlers raise."""


class Function(ca.Function):
    """A ``casadi.Function`` whose call takes Pinocchio's objects and lists of symbols, too.

    A ``pin.SE3`` is its 4 × 4 matrix, a ``pin.Motion`` or ``pin.Force`` its vector, a ``pin.Inertia`` its ten dynamic
    parameters; a list of SX or MX is a column, a list of lists a matrix. What CasADi makes of a Function (``map``,
    ``expand``, …) is its own, and takes matrices alone.

    Raises:
        ArgumentError, ArgumentTypeError: by a call, if an argument cannot be used, or their number is wrong.
        UnknownNameError: by a call, if no input has the name of an argument.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for given in (*args, *kwargs.values()):
            if type(given) not in _NUMBERS or (type(given) is ca.DM and given.is_empty()):
                return self._converted(args, kwargs)
        return self._called(args, kwargs)

    @interruptible
    def _converted(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """A call with arguments that CasADi converts, where it loses what signal handlers raise."""
        for given in (*args, *kwargs.values()):
            if _is_misread(given):
                self._checked(kwargs or dict(zip(self.name_in(), args, strict=False)), len(args) or self.n_in())
        return self._called(args, kwargs)

    def _called(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except (NotImplementedError, RuntimeError, TypeError):
            if args and kwargs:
                raise
            given = kwargs or dict(zip(self.name_in(), args, strict=False))
            matrices = self._checked(given, len(args) or self.n_in())
            if all(matrices[name] is value for name, value in given.items()):
                raise
        return super().__call__(**matrices) if kwargs else super().__call__(*matrices.values())

    def _checked(self, given: Mapping[str, Any], number: int) -> dict[str, Any]:
        """The arguments as CasADi takes them, or a refusal in one sentence."""
        inputs, name = self.name_in(), self.name()
        if number != len(inputs):
            raise ArgumentError(f"{name} takes {len(inputs)} arguments, {', '.join(inputs)}, and got {number}")
        found: dict[str, Any] = {}
        for own, value in given.items():
            if own not in inputs:
                raise UnknownNameError(f"input of {name}", own, inputs)
            found[own] = matrix = _matrix(value)
            wanted = " × ".join(map(str, self.size_in(own)))
            if is_masked(value):
                raise ArgumentError(f"{name}: {own}: {MASKED}")
            if (
                not isinstance(matrix, (*_MATRICES, np.ndarray, int, float, np.number))
                or not _is_real(matrix)
                or _is_nothing(matrix)
            ):
                raise ArgumentTypeError(f"{name}: {own} is {shown(value)}; give {wanted} numbers or symbols")
            if 0 in _shape(matrix) and self.numel_in(own):
                raise ArgumentError(f"{name}: {own} is empty; give {wanted}")
            if not _fits(shape := _shape(matrix), self.size_in(own)):
                raise ArgumentError(f"{name}: {own} has shape {' × '.join(map(str, shape))}; give {wanted}")
        check_one_kind(name, found)
        return found


def _is_misread(given: Any) -> bool:
    """Whether CasADi would take something else for it: zeros for what is empty and for an iterator, what is masked, or
    nothing at all, which it says in many lines."""
    if isinstance(given, _MATRICES):
        return bool(given.is_empty())
    if isinstance(given, np.ndarray):
        return not given.size or _is_nothing(given) or not _is_real(given) or is_masked(given)
    if isinstance(given, list | tuple):
        return not given or any(type(x) not in _READY and _is_misread(x) for x in given)
    return hasattr(given, "__next__") or (isinstance(given, Sequence) and not given)


def _is_nothing(given: Any) -> bool:
    """Whether an array holds a single object, as ``np.array(None)``."""
    return isinstance(given, np.ndarray) and given.dtype == object and not given.ndim


def _is_real(given: Any) -> bool:
    """Whether an array is of numbers, or of objects, which may be symbols; anything else is."""
    return not isinstance(given, np.ndarray) or given.dtype.kind in "fiubO"


def check_one_kind(where: str, given: Mapping[str, Any]) -> None:
    """Refuse SX beside MX."""
    kinds = {type(x).__name__: name for name, x in given.items() if isinstance(x, ca.SX | ca.MX)}
    if len(kinds) > 1:
        raise ArgumentTypeError(f"{where}: {kinds['SX']} is SX and {kinds['MX']} is MX; give symbols of one kind")


class TupleFunction(Function):
    """A Function whose call by position gives a tuple, also of a single output."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = super().__call__(*args, **kwargs)
        return (found,) if args and self.n_out() == 1 else found

    def map(self, *args: Any) -> Any:
        """As that of CasADi; of a number of states it is a Function whose call gives a tuple again."""
        found = super().map(*args)
        return TupleFunction(found) if isinstance(found, ca.Function) else found


def _matrix(given: Any) -> Any:
    """A matrix of one of Pinocchio's objects, or of a list; anything else as it is."""
    if isinstance(given, _MATRICES):
        return given
    if isinstance(given, int) and not isinstance(given, bool):  # which may have more digits than those of CasADi
        return float(given) if abs(given) <= sys.float_info.max else math.inf if given > 0 else -math.inf
    if hasattr(given, "toDynamicParameters"):
        return given.toDynamicParameters()
    for attribute in ("vector", "homogeneous"):  # a Motion has both
        if hasattr(given, attribute):
            return getattr(given, attribute)
    if isinstance(given, np.ndarray) and given.dtype.kind == "O" and given.ndim:
        given = given.tolist()
    if isinstance(given, list | tuple):
        try:
            rows = [list(row) if isinstance(row, list | tuple | np.ndarray) else [row] for row in given]
            return ca.blockcat(rows)
        except (NotImplementedError, RuntimeError, TypeError):
            return given
    return given


def _shape(matrix: Any) -> tuple[int, ...]:
    """Rows and columns; those of a vector of NumPy are a column's."""
    shape = matrix.shape if isinstance(matrix, _MATRICES) else np.shape(matrix)
    return (*shape, 1, 1)[:2] if len(shape) < 2 else tuple(shape)


def _fits(shape: tuple[int, ...], wanted: tuple[int, int]) -> bool:
    """Whether CasADi takes a shape: the same, a number, nothing, a row for a column, or several matrices in a row."""
    if shape in (wanted, (1, 1)) or 0 in shape or (shape == wanted[::-1] and 1 in shape):
        return True
    return len(shape) == 2 and shape[0] == wanted[0] and wanted[1] > 0 and shape[1] % wanted[1] == 0


def function(
    name: str, inputs: Mapping[str, ca.SX], outputs: Mapping[str, Matrix], kind: type[Function] = Function
) -> ca.Function:
    """A Function with named inputs and outputs; every output is dense, so that its shape is all a caller must know.

    A ``casadi.Function`` behaves as CasADi's functions do: it takes numbers, SX or MX, by position or by name; a
    missing keyword is 0, a scalar is broadcast. It takes a ``pin.SE3`` and lists of symbols, too (:class:`Function`).

    Raises:
        ArgumentError: if an output has a symbol that is not among the inputs.
    """
    dense = [ca.densify(ca.SX(output)) for output in outputs.values()]
    arguments = list(inputs.values())
    try:
        small = eliminate_common_subexpressions(arguments, dense)
    except RuntimeError as error:
        free = ca.Function(name, arguments, dense, {"allow_free": True}).get_free()
        if not free:
            raise
        raise ArgumentError(
            f"{name}: its expression has the symbol {free[0]}, which is none of its inputs {', '.join(inputs)}; give a "
            "number in its place, or make it a parameter"
        ) from error
    return kind(name, arguments, small, list(inputs), list(outputs))


def symbols(**lengths: int) -> dict[str, ca.SX]:
    """Symbolic vectors by name."""
    return {name: ca.SX.sym(name, length) for name, length in lengths.items()}


def directional_derivative(expression: ca.SX, x: ca.SX, direction: ca.SX) -> ca.SX:
    """d/ds expression(x + s direction) at s = 0."""
    return ca.jtimes(expression, x, direction)


def derivative_along(expression: Matrix, x: Matrix, directions: Matrix) -> Matrix:
    """∂expression/∂x @ directions, differentiated forward (column by column) or in reverse (row by row).

    Which makes the smaller graph depends on the expression, so both are tried.
    """
    forward = ca.jtimes(expression, x, directions)
    reverse = ca.jtimes(expression, x, ca.DM.eye(expression.shape[0]), True).T @ directions
    return smaller(forward, reverse)


def smaller(one: Matrix, other: Matrix) -> Matrix:
    """The one of two equal expressions that has fewer operations; the first that consists of numbers, if one does."""
    for each in (one, other):
        if isinstance(each, ca.DM):
            return each
    return min(ca.cse([one])[0], ca.cse([other])[0], key=ca.n_nodes)


class BatchFunction:
    """A Function of vectors, with the one output ``shape`` (nothing, n, or n × n), at many states in one call.

    Functions without Python in them are spread over threads.
    """

    def __init__(self, function: ca.Function, *shape: int) -> None:
        self._function, self._shape = function, shape
        self._mapped: dict[int, ca.Function] = {}
        self._p: Array | None = None

    def at(self, p: Array | None) -> BatchFunction:
        """The Function of all inputs but the last one, which is p at every state; ``None``: of all inputs."""
        twin = copy(self)
        twin._p = p
        return twin

    def __call__(self, *columns: Array) -> Array:
        n = len(columns[0])
        if self._p is not None:
            columns = (*columns, np.broadcast_to(self._p, (n, len(self._p))))
        try:
            if n not in self._mapped:
                threads = ("thread", _THREADS) if self._function.is_a("SXFunction") and n >= _THREADS > 1 else ()
                self._mapped[n] = self._function.map(n, *threads)
            values = self._evaluated(self._mapped[n], columns)
        except RuntimeError as error:
            reason = reason_of(error)
            raise ArgumentError(f"the Function {self._function.name()!r} cannot be evaluated: {reason}") from error
        if not self._shape:
            return np.asarray(values[:, 0])
        side_by_side = values.reshape(n, -1, self._shape[0]).transpose(0, 2, 1)
        return np.asarray(side_by_side.reshape(n, *self._shape))

    def _evaluated(self, mapped: ca.Function, columns: Sequence[Array]) -> Array:
        """Outputs by columns in a row for each state. Arrays of CasADi become those of NumPy by lists of Python, which
        takes longer than the evaluation: dense ones are read and written where they are."""
        n = len(columns[0])
        if not all(
            each.is_dense() for each in (*map(mapped.sparsity_in, range(mapped.n_in())), mapped.sparsity_out(0))
        ):
            values = mapped(*(column.T for column in columns)).full()
            return np.asarray(values.reshape(len(values), n, -1).transpose(1, 2, 0).reshape(n, -1))
        arguments = [np.ascontiguousarray(column, dtype=float) for column in columns]
        values = np.zeros((n, mapped.numel_out(0) // n))
        evaluation = Evaluation(mapped, arguments, [values])
        evaluation.evaluate()
        if evaluation.failed():
            raise RuntimeError("its evaluation fails")
        return values


class Evaluation:
    """A Function whose inputs are read from arrays, and whose outputs are written to others, at each call.

    The arrays are C-contiguous and hold as many numbers as the inputs and outputs have nonzeros, by columns.
    ``evaluate`` raises RuntimeError where the Function does; ``failed`` is 0 if the last evaluation did not fail.
    """

    def __init__(self, function: ca.Function, arguments: Sequence[Array], results: Sequence[Array]) -> None:
        self.arguments, self.results = arguments, results
        buffer, self.evaluate = function.buffer()
        self.failed = buffer.ret
        for setter, arrays in ((buffer.set_arg, arguments), (buffer.set_res, results)):
            for i, array in enumerate(arrays):
                setter(i, memoryview(array))  # type: ignore[arg-type, call-arg]  # CasADi has no types

    def rows(self, *inputs: Array) -> list[Array]:
        """The outputs (N × …) at each row of the inputs, of which one without rows is the same at all of them."""
        varying = [(into, given) for into, given in zip(self.arguments, inputs, strict=True) if given.ndim > 1]
        for into, given in zip(self.arguments, inputs, strict=True):
            if given.ndim == 1:
                into[:] = given
        found = [np.zeros((len(varying[0][1]), len(result))) for result in self.results]
        for k in range(len(found[0])):
            for into, given in varying:
                into[:] = given[k]
            self.evaluate()
            for values, result in zip(found, self.results, strict=True):
                values[k] = result
        return found
