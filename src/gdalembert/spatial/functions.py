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
        for argument in (*args, *kwargs.values()):
            if type(argument) not in _NUMBERS or (type(argument) is ca.DM and argument.is_empty()):
                return self._converted(args, kwargs)
        return self._called(args, kwargs)

    @interruptible
    def _converted(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """A call with arguments that CasADi converts, where it loses what signal handlers raise."""
        for argument in (*args, *kwargs.values()):
            if _is_misread(argument):
                self._checked(kwargs or dict(zip(self.name_in(), args, strict=False)), len(args) or self.n_in())
        return self._called(args, kwargs)

    def _called(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except (NotImplementedError, RuntimeError, TypeError):
            if args and kwargs:
                raise
            values_by_name = kwargs or dict(zip(self.name_in(), args, strict=False))
            matrices = self._checked(values_by_name, len(args) or self.n_in())
            if all(matrices[name] is value for name, value in values_by_name.items()):
                raise
        return super().__call__(**matrices) if kwargs else super().__call__(*matrices.values())

    def _checked(self, values_by_name: Mapping[str, Any], number: int) -> dict[str, Any]:
        """The arguments as CasADi takes them, or a refusal in one sentence."""
        inputs, name = self.name_in(), self.name()
        if number != len(inputs):
            raise ArgumentError(f"{name} takes {len(inputs)} arguments, {', '.join(inputs)}, and got {number}")
        matrices: dict[str, Any] = {}
        for key, value in values_by_name.items():
            if key not in inputs:
                raise UnknownNameError(f"input of {name}", key, inputs)
            matrices[key] = matrix = _matrix(value)
            wanted = " × ".join(map(str, self.size_in(key)))
            if is_masked(value):
                raise ArgumentError(f"{name}: {key}: {MASKED}")
            if (
                not isinstance(matrix, (*_MATRICES, np.ndarray, int, float, np.number))
                or not _is_real(matrix)
                or _is_nothing(matrix)
            ):
                raise ArgumentTypeError(f"{name}: {key} is {shown(value)}; give {wanted} numbers or symbols")
            if 0 in _shape(matrix) and self.numel_in(key):
                raise ArgumentError(f"{name}: {key} is empty; give {wanted}")
            if not _fits(shape := _shape(matrix), self.size_in(key)):
                raise ArgumentError(f"{name}: {key} has shape {' × '.join(map(str, shape))}; give {wanted}")
        check_one_kind(name, matrices)
        return matrices


def _is_misread(argument: Any) -> bool:
    """True if CasADi would read an argument as something else: zeros for what is empty and for an iterator, numbers
    for masked entries; or would refuse it, and say so in many lines."""
    if isinstance(argument, _MATRICES):
        return bool(argument.is_empty())
    if isinstance(argument, np.ndarray):
        return not argument.size or _is_nothing(argument) or not _is_real(argument) or is_masked(argument)
    if isinstance(argument, list | tuple):
        return not argument or any(type(x) not in _READY and _is_misread(x) for x in argument)
    return hasattr(argument, "__next__") or (isinstance(argument, Sequence) and not argument)


def _is_nothing(argument: Any) -> bool:
    """True for an array that holds a single object, as ``np.array(None)``."""
    return isinstance(argument, np.ndarray) and argument.dtype == object and not argument.ndim


def _is_real(argument: Any) -> bool:
    """True for an array of numbers, or of objects, which may be symbols; and for what is no array."""
    return not isinstance(argument, np.ndarray) or argument.dtype.kind in "fiubO"


def check_one_kind(context: str, values_by_name: Mapping[str, Any]) -> None:
    """Refuse symbols of both kinds, SX beside MX."""
    kinds = {type(x).__name__: name for name, x in values_by_name.items() if isinstance(x, ca.SX | ca.MX)}
    if len(kinds) > 1:
        raise ArgumentTypeError(f"{context}: {kinds['SX']} is SX and {kinds['MX']} is MX; give symbols of one kind")


class TupleFunction(Function):
    """A Function whose call by position gives a tuple, also of a single output."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        outputs = super().__call__(*args, **kwargs)
        return (outputs,) if args and self.n_out() == 1 else outputs

    def map(self, *args: Any) -> Any:
        """Map the Function as CasADi does; over a number of states it is one whose call gives a tuple again."""
        mapped = super().map(*args)
        return TupleFunction(mapped) if isinstance(mapped, ca.Function) else mapped


def _matrix(argument: Any) -> Any:
    """A matrix of one of Pinocchio's objects, or of a list; anything else as it is."""
    if isinstance(argument, _MATRICES):
        return argument
    if isinstance(argument, int) and not isinstance(argument, bool):  # which may have more digits than those of CasADi
        return float(argument) if abs(argument) <= sys.float_info.max else math.inf if argument > 0 else -math.inf
    if hasattr(argument, "toDynamicParameters"):
        return argument.toDynamicParameters()
    for attribute in ("vector", "homogeneous"):  # a Motion has both
        if hasattr(argument, attribute):
            return getattr(argument, attribute)
    if isinstance(argument, np.ndarray) and argument.dtype.kind == "O" and argument.ndim:
        argument = argument.tolist()
    if isinstance(argument, list | tuple):
        try:
            rows = [list(row) if isinstance(row, list | tuple | np.ndarray) else [row] for row in argument]
            return ca.blockcat(rows)
        except (NotImplementedError, RuntimeError, TypeError):
            return argument
    return argument


def _shape(matrix: Any) -> tuple[int, ...]:
    """Rows and columns; those of a vector of NumPy are a column's."""
    shape = matrix.shape if isinstance(matrix, _MATRICES) else np.shape(matrix)
    return (*shape, 1, 1)[:2] if len(shape) < 2 else tuple(shape)


def _fits(shape: tuple[int, ...], wanted: tuple[int, int]) -> bool:
    """True if CasADi takes a shape: the same, a number, nothing, a row for a column, or several matrices in a row."""
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
    """Symbolic vectors by name, of these lengths."""
    return {name: ca.SX.sym(name, length) for name, length in lengths.items()}


def directional_derivative(expression: ca.SX, x: ca.SX, direction: ca.SX) -> ca.SX:
    """The derivative d/ds expression(x + s direction) at s = 0."""
    return ca.jtimes(expression, x, direction)


def derivative_along(expression: Matrix, x: Matrix, directions: Matrix) -> Matrix:
    """The product ∂expression/∂x @ directions, differentiated forward (column by column) or in reverse (row by row).

    Which makes the smaller graph depends on the expression, so both are tried.
    """
    forward = ca.jtimes(expression, x, directions)
    reverse = ca.jtimes(expression, x, ca.DM.eye(expression.shape[0]), True).T @ directions
    return smaller(forward, reverse)


def smaller(one: Matrix, other: Matrix) -> Matrix:
    """The one of two equal expressions that has fewer operations; the first that consists of numbers, if one does."""
    for expression in (one, other):
        if isinstance(expression, ca.DM):
            return expression
    # After cse: what is written twice is made once in the end.
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
            pattern.is_dense() for pattern in (*map(mapped.sparsity_in, range(mapped.n_in())), mapped.sparsity_out(0))
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
        # Not by a call, which makes DM of arrays number by number.
        buffer, self.evaluate = function.buffer()
        self.failed = buffer.ret
        for setter, arrays in ((buffer.set_arg, arguments), (buffer.set_res, results)):
            for i, array in enumerate(arrays):
                setter(i, memoryview(array))  # type: ignore[arg-type, call-arg]  # CasADi has no types

    def rows(self, *inputs: Array) -> list[Array]:
        """The outputs (N × …) at each row of the inputs, of which one without rows is the same at all of them."""
        varying = [(buffer, values) for buffer, values in zip(self.arguments, inputs, strict=True) if values.ndim > 1]
        for buffer, samples in zip(self.arguments, inputs, strict=True):
            if samples.ndim == 1:
                buffer[:] = samples
        outputs = [np.zeros((len(varying[0][1]), len(result))) for result in self.results]
        for k in range(len(outputs[0])):
            for buffer, samples in varying:
                buffer[:] = samples[k]
            self.evaluate()
            for values, result in zip(outputs, self.results, strict=True):
                values[k] = result
        return outputs
