"""Functions at C speed, or by CasADi's interpreter: NumPy arrays in and out, one state or many per call."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.compilation.cache import DAY
from gdalembert.compilation.machine_code import (
    REALS,
    TIME_LIMIT,
    Compiler,
    Library,
    Reals,
    load_library,
    row_major,
    shape_of,
)
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.spatial.arguments import MASKED, choice, flag, is_masked
from gdalembert.spatial.arguments import numbers as numbers_of
from gdalembert.spatial.functions import Evaluation
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.progress import progress as show_progress

Part = TypeVar("Part")
_KINDS: dict[str, tuple[Any, str]] = {
    "compiler": (str, "the name or path of a compiler"),
    "flags": (str | list | tuple, "a text, or a list of texts"),
    "cache": (str | os.PathLike, "the path of a folder"),
    "time_limit": (int | float, "seconds"),
}
"""The types of options, and what they are."""


OUTPUTS = ("full", "nonzeros", "upper")
"""Entries of a matrix that are written: all, those that are not always zero, or these of its upper triangle."""
_ASYMMETRY = 1e-9
"""Relative: a matrix whose transpose differs by more is not symmetric."""


def share(work: Callable[[Part], None], parts: Sequence[Part]) -> None:
    """Do the work of all parts, the first one here, and raise what the earliest part raises."""
    # by threads and not by processes: machine code runs without Python's lock, and arrays need not be copied
    first, *others = parts
    futures = [_pool().submit(work, part) for part in others]
    try:
        work(first)
    finally:
        wait(futures)
    for future in futures:
        future.result()


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(4 * (os.cpu_count() or 1), "gdalembert")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads are not forked


@interruptible
def compile(
    function: ca.Function,
    *,
    compiler: str | None = None,
    flags: str | Sequence[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    interpreter: bool = False,
    output: str = "full",
    dtype: str | type = "float64",
    progress: bool = False,
) -> CompiledFunction:
    """The Function as machine code, called with NumPy arrays.

    Args:
        function: any ``casadi.Function`` that CasADi can write in C. CasADi's own solvers check less in C.
        compiler: a command that takes gcc's options; by default ``$CC``, else the first of cc, gcc and clang, else
            that of the package ziglang.
        flags: by default ``-O3 -march=native``, for processors like this one (others get their own library in the same
            cache). ``"-O3"`` suits every processor of the family; ``"-O1"`` compiles huge graphs faster. Batches
            evaluate as many states at once as a register of the processor holds, 2 to 16; ``-DWIDTH=1`` and
            ``-ffast-math`` evaluate them one after the other.
        cache: folder of the libraries; by default ``$GDALEMBERT_CACHE``, else ``gdalembert`` in the user's cache
            folder. It is made for its owner alone, and refused if another user could write code there. Above 1 GB, the
            libraries that were not used for the longest time are removed. It may be emptied at any time, as
            ``gdalembert cache --clear`` does.
        time_limit: time that the compiler may run [s]; by default 600, at most a day.
        interpreter: evaluate by CasADi's virtual machine, without a compiler: the same calls, slower.
        output: what is written of matrices: ``"full"``; ``"nonzeros"``: the entries that are not always zero, an array
            (n,); ``"upper"``: these of the upper triangle of symmetric matrices. ``f.places[name].full(numbers)`` makes
            the matrix of them. Columns are always written in full.
        dtype: the type of all arrays, ``"float64"`` or ``"float32"``, of which a register holds twice as many. Batches
            compute in it; single calls, the interpreter, and all calls of a Function of MX compute in float64 and
            round.
        progress: show the progress of a build on stderr.

    Raises:
        ArgumentTypeError: if it is not a ``casadi.Function``, or an option has the wrong type.
        ArgumentError: if the upper triangle is asked for of a matrix that is not symmetric, if the interpreter is given
            an option of the compiler, or the time limit is out of range.
        CompilationError: if there is no compiler, if it fails or takes too long, or if the cache cannot be used.
    """
    if not isinstance(function, ca.Function):
        kind = type(function).__name__
        raise ArgumentTypeError(f"compile takes a casadi.Function, as dyn.inverse_dynamics, not {kind}")
    options: dict[str, Any] = {"compiler": compiler, "flags": flags, "cache": cache, "time_limit": time_limit}
    options = {name: value for name, value in options.items() if value is not None}
    _check(options, interpreter, progress)
    choice("compile: output", output, OUTPUTS)
    real = dtype_name("compile", dtype)
    graph, places = packed(function, output)
    again = functools.partial(compile, function, **options, interpreter=interpreter, output=output, dtype=real)
    if interpreter:
        return CompiledFunction(graph, _Interpreter(graph), real, places, again)
    tool = Compiler(function.name(), time_limit=time_limit or TIME_LIMIT).find(compiler, flags)
    with show_progress(f"compile {function.name()}", shown=progress) as line:
        library = load_library(graph, tool, cache, real)
        line.show("")
    return CompiledFunction(graph, library, real, places, again)


def _check(options: Mapping[str, Any], interpreter: bool, progress: bool) -> None:
    """Refuse options of the compiler that are of the wrong type, out of range, or given to the interpreter."""
    for name, value in options.items():
        words = value if isinstance(value, list | tuple) else ()
        if not isinstance(value, _KINDS[name][0]) or not all(isinstance(word, str) for word in words):
            raise ArgumentTypeError(f"compile: {name} is {shown(value)}; give {_KINDS[name][1]}")
    flag("compile: interpreter", interpreter)
    flag("compile: progress", progress)
    if not 0 < (seconds := options.get("time_limit", DAY)) <= DAY:
        raise ArgumentError(f"compile: time_limit is {seconds!r}; give seconds above 0 and at most {DAY:g}")
    if interpreter and options:
        raise ArgumentError(f"the interpreter compiles nothing; drop {', '.join(options)}")


def dtype_name(context: str, dtype: npt.DTypeLike) -> str:
    """The name of a type of numbers that C has; an ArgumentError if it is none."""
    try:
        name = np.dtype(dtype).name
    except (TypeError, ValueError):
        name = ""
    if dtype is None or name not in REALS:
        raise ArgumentError(f"{context}: dtype is {shown(dtype)}; give {' or '.join(map(repr, REALS))}")
    return name


class CompiledFunction:
    """A Function of real arrays: ``f(q, v, a)`` for one state, ``f.batch(Q, V, A)`` for many.

    A column of the ``casadi.Function`` is an array (n,), any other matrix is (rows, columns), sparse or not. Inputs
    are arrays or lists of exactly these shapes, by position or by name; none may be left out. p (n_p,), of a robot with
    parameters, is one of them: ``dyn.parameters.vector({name: value})`` makes it of names. One output is an array,
    several are a tuple; they belong to the caller. ``out``, an array or a tuple of arrays, receives the outputs
    instead: of ``dtype``, C-contiguous, of the right shapes. Numbers are converted to float64; a Function of float32
    refuses arrays whose numbers it would have to round, and rounds those of lists.

    A batch of a Function of SX, as all of ``dyn`` are, evaluates several states at once (SIMD). It equals the single
    calls up to rounding, and the numbers of a state do not depend on the other states.

    Any number of threads may call it at once. A single call keeps Python's global lock, as a batch of up to a million
    instructions does; a larger batch releases it.

    Attributes:
        function: the ``casadi.Function`` that it evaluates.
        dtype: the type of all arrays.
        library: the file of its machine code; ``None`` for the interpreter.
        width: the number of states that a batch evaluates at once; 1 where it evaluates one after the other.
        inputs: the shape of each input by name, in order.
        outputs: the shape of each output by name, in order.
        places: places of the numbers of matrices whose entries are written in part.
    """

    def __init__(
        self,
        function: ca.Function,
        code: Library | _Interpreter,
        dtype: str,
        places: Mapping[str, Places],
        again: functools.partial[CompiledFunction],
    ) -> None:
        self.function, self.library, self.width = function, code.path, code.width
        self.dtype: np.dtype[np.floating[Any]] = np.dtype(dtype)
        self.inputs = {name: shape_of(function.size_in(name)) for name in function.name_in()}
        self.outputs = {name: shape_of(function.size_out(name)) for name in function.name_out()}
        self._name, self._code, self.places, self._again = function.name(), code, places, again
        self._structural_zeros = {
            name: (ca.DM(function.sparsity_in(name), 1).full() == 0).reshape(shape)
            for name, shape in self.inputs.items()
            if not function.sparsity_in(name).is_dense()
        }
        self._one, self._first, self._last = code.one, code.first, code.last
        if self._structural_zeros:
            self._one = self._first = self._last = _must_check
        self._empty = np.empty if dtype == "float64" else functools.partial(np.empty, dtype=dtype)
        self._names, self._shapes = tuple(self.inputs), tuple(self.inputs.values())
        self._dimensions = tuple(map(len, self._shapes))
        self._only = next(iter(self.outputs.values())) if len(self.outputs) == 1 else None

    def __call__(self, /, *inputs: npt.ArrayLike, out: Any = None, **named: npt.ArrayLike) -> Any:
        """Evaluate one state.

        Raises:
            ArgumentError: if an input is missing, given twice or of the wrong shape, or if the evaluation fails.
            ArgumentTypeError: if an input does not hold real numbers.
            UnknownNameError: if there is no input of that name.
        """
        if named:
            inputs = self._in_order(inputs, named)
        if out is not None:  # the fast path, for inputs that are arrays as they should be
            if not self._one(inputs, out if isinstance(out, tuple) else (out,)):
                return out
        elif self._only is not None:
            result = self._empty(self._only)
            if not self._one(inputs, (result,)):
                return result
        else:
            several = tuple([self._empty(shape) for shape in self.outputs.values()])
            if not self._one(inputs, several):
                return several
        inputs = self._in_order(inputs, {})
        results = self._results(out)
        arrays = _unaliased([self._checked(k, x) for k, x in enumerate(inputs)], results)
        if self._code.one(tuple(arrays), tuple(results)):
            self._evaluate(slice(0, 1), [x[np.newaxis] for x in arrays], [y[np.newaxis] for y in results])
        return _returned(results, out)

    def batch(
        self, /, *inputs: npt.ArrayLike, threads: int | None = 1, out: Any = None, axis: int = 0, **named: npt.ArrayLike
    ) -> Any:
        """Evaluate N states: inputs (N, …) and outputs (N, …); an input without N is the same for all of them.

        So p (n_p,) are the parameters of all states, and p (N, n_p) has a row for each.

        Args:
            inputs: inputs by position, or by name (``named``).
            threads: the number of threads that share the work, ``None`` for one per core. They are started once, and
                pay off from some tenths of a millisecond of work on, but not for the interpreter.
            out: receives the outputs, as in a single call.
            axis: that of the states: 0, or -1 for inputs (…, N) and outputs (…, N), which are not transposed.

        Raises:
            ArgumentError: as for a single call; also if the inputs differ in N, or none of them has N.
            ArgumentTypeError, UnknownNameError: as for a single call.
        """
        if named:
            inputs = self._in_order(inputs, named)
        if not isinstance(axis, int | np.integer) or axis not in (0, -1):
            raise ArgumentError(f"{self._name}: axis is {shown(axis)}; give 0 for states (N, …), or -1 for (…, N)")
        if isinstance(threads, int) and threads == 1:  # the fast path, for few states in arrays as they should be
            if out is not None:
                if not (self._last if axis else self._first)(inputs, out if type(out) is tuple else (out,)):
                    return out
            elif (few := self._few(inputs, axis)) is not None:
                return few
        if threads is not None and not (isinstance(threads, int) and threads > 0):
            raise ArgumentError(
                f"{self._name}: threads is {shown(threads)}; give a positive integer, or None for all cores"
            )
        arrays = [self._checked(k, x, axis) for k, x in enumerate(self._in_order(inputs, {}))]
        shapes = self.inputs.values()
        counts = {name: len(x) for name, shape, x in zip(self.inputs, shapes, arrays, strict=True) if x.shape != shape}
        if len(set(counts.values())) != 1:
            seen = ", ".join(f"{name!r} has {n}" for name, n in counts.items()) or "each input is of one state"
            raise ArgumentError(f"{self._name}: the inputs of a batch must have one number of states, but {seen}")
        n = next(iter(counts.values()))
        results = self._results(out, n, axis)
        arrays = [np.broadcast_to(x, (n, *shape)) for x, shape in zip(_unaliased(arrays, results), shapes, strict=True)]
        rows = [np.moveaxis(y, axis, 0) for y in results]
        evaluate = functools.partial(self._evaluate, arrays=arrays, results=rows)
        width, several = self.width, threads or os.cpu_count() or 1
        size = width * max(1, -(-n // (width * several)))  # so that only the last part may end within a vector
        share(evaluate, [slice(k, min(k + size, n)) for k in range(0, max(n, 1), size)])
        return _returned(results, out)

    def _few(self, inputs: tuple[Any, ...], axis: int) -> Any:
        """New outputs of few states by one call of C; ``None`` if the inputs must be checked."""
        for x, dimensions in zip(inputs, self._dimensions):  # noqa: B905  # C sees whether one is missing
            # and not isinstance: a masked array is one, too, and has to be refused
            if type(x) is np.ndarray and x.ndim > dimensions:
                results = tuple([self._empty(shape) for shape in self._stacked(x.shape[axis], axis)])
                break
        else:
            return None
        if (self._last if axis else self._first)(inputs, results):
            return None
        return results[0] if self._only is not None else results

    def _stacked(self, n: int, axis: int) -> list[tuple[int, ...]]:
        """The shapes of the outputs of many states."""
        return [(*shape, n) if axis else (n, *shape) for shape in self.outputs.values()]

    @property
    def address(self) -> int:
        """Address of the machine code of many states, for other machine code; 0 of the interpreter."""
        return self._code.address

    def __reduce__(self) -> tuple[Any, ...]:
        return self._again, ()

    def __repr__(self) -> str:
        kind = "interpreter" if self.library is None else "C"
        kind += "" if self.dtype == np.float64 else f", {self.dtype}"
        return f"CompiledFunction({self._name}: {_listed(self.inputs)} -> {_listed(self.outputs)}; {kind})"

    def _evaluate(self, part: slice, arrays: list[Reals], results: list[Reals]) -> None:
        """Evaluate states, from arrays (N, …) to results (N, …)."""
        code = self._code.many(part.stop - part.start, [x[part] for x in arrays], [y[part] for y in results])
        if code < 0:
            raise MemoryError(self._name)
        if code:
            raise ArgumentError(f"{self._name}: the evaluation fails at state {part.start + code - 1}")

    def _in_order(self, inputs: tuple[npt.ArrayLike, ...], named: Mapping[str, npt.ArrayLike]) -> tuple[Any, ...]:
        """All inputs, in the Function's order."""
        try:
            ordered = (*inputs, *map(named.__getitem__, self._names[len(inputs) :]))
            if len(ordered) == len(inputs) + len(named) == len(self._names):
                return ordered
        except KeyError:  # the messages are below
            pass
        values = dict(zip(self.inputs, inputs, strict=False))
        for name in named:
            if name not in self.inputs:
                raise UnknownNameError(f"input of {self._name}", name, self.inputs)
        wrong = [f"{len(inputs)} inputs are given"] if len(inputs) > len(self.inputs) else []
        wrong += [f"{name!r} is given twice" for name in named if name in values]
        values.update(named)
        wrong += [f"{name!r} is missing" for name in self.inputs if name not in values]
        if wrong:
            raise ArgumentError(f"{self._name}: {', '.join(wrong)}; give {_listed(self.inputs)}")
        return tuple(values[name] for name in self.inputs)

    def _checked(self, k: int, x: Any, axis: int | None = None) -> Reals:
        """Input k as an array of the right shape; of many states, whose axis is given, they come first."""
        name, shape = self._names[k], self._shapes[k]
        if is_masked(x):
            raise ArgumentError(f"{self._name}: input {name!r}: {MASKED}")
        try:
            array = np.asarray(x)
        except Exception:  # of ragged lists, or raised by a symbol
            array = np.empty(0, dtype=object)
        if array.dtype.kind not in "fiub":
            raise ArgumentTypeError(f"{self._name}: input {name!r} does not hold real numbers: {type(x).__name__}")
        if self.dtype == np.float32 and hasattr(x, "dtype") and not np.can_cast(array.dtype, self.dtype):
            raise ArgumentTypeError(
                f"{self._name}: input {name!r} is {array.dtype}, and numbers of this Function are float32; give "
                f"{name}.astype('float32')"
            )
        array = np.ascontiguousarray(array, dtype=self.dtype)  # a lone number becomes (1,)
        if axis is not None and array.ndim > len(shape):
            array = np.moveaxis(array, axis, 0)
        if array.shape != shape and (axis is None or array.shape[1:] != shape):
            sizes = ", ".join(map(str, shape))
            many = "" if axis is None else f" or ({sizes}, N)" if axis else f" or (N, {sizes})"
            hint = "; many states go to batch" if axis is None and array.shape[1:] == shape else ""
            raise ArgumentError(f"{self._name}: input {name!r} has shape {np.shape(x)}, not {shape}{many}{hint}")
        if name in self._structural_zeros and np.any(array[..., self._structural_zeros[name]]):
            raise ArgumentError(f"{self._name}: input {name!r} has a number where the Function's sparsity has none")
        return array

    def _results(self, out: Any, n: int | None = None, axis: int = 0) -> list[Reals]:
        """One array for each output, of one state or of n: new ones, or those of ``out``."""
        shapes = [*self.outputs.values()] if n is None else self._stacked(n, axis)
        if out is None:
            return [self._empty(shape) for shape in shapes]
        arrays = list(out) if isinstance(out, list | tuple) else [out]
        if not all(isinstance(y, np.ndarray) and y.dtype == self.dtype and y.flags.carray for y in arrays) or (
            [y.shape for y in arrays] != shapes
        ):
            wanted = ", ".join(map(str, shapes))
            raise ArgumentError(f"{self._name}: out must be writable, C-contiguous and {self.dtype}, of shape {wanted}")
        return arrays


def _must_check(inputs: tuple[Any, ...], outputs: tuple[Reals, ...]) -> int:
    """Takes the place of machine code of one state where inputs must be checked first."""
    return 1


def _unaliased(arrays: list[Reals], results: list[Reals]) -> list[Reals]:
    """The arrays, copied where a result lies in the same memory."""
    return [x.copy() if any(np.may_share_memory(x, y) for y in results) else x for x in arrays]


def _returned(results: Sequence[Reals], out: Any) -> Any:
    if out is not None:
        return out
    return results[0] if len(results) == 1 else tuple(results)


def _listed(ports: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {shape}" for name, shape in ports.items())


class _Interpreter:
    """CasADi's virtual machine."""

    path, width, address = None, 1, 0
    one = first = last = staticmethod(_must_check)

    def __init__(self, function: ca.Function) -> None:
        self._function = row_major(function)
        self._idle: list[Evaluation] = []  # as many as there were simultaneous callers

    def many(self, n: int, inputs: Sequence[Reals], outputs: Sequence[Reals]) -> int:
        """Evaluate n states (n, …); returns k + 1 if state k fails."""
        try:
            evaluation = self._idle.pop()
        except IndexError:
            sides = ([np.zeros(x.shape[1:]) for x in side] for side in (inputs, outputs))
            evaluation = Evaluation(self._function, *sides)
        arguments, results, evaluate = evaluation.arguments, evaluation.results, evaluation.evaluate
        for k in range(n):
            for x, argument in zip(inputs, arguments, strict=True):
                argument[...] = x[k]
            try:
                evaluate()
            except RuntimeError:
                return k + 1
            if evaluation.failed():
                return k + 1
            for y, result in zip(outputs, results, strict=True):
                y[k] = result
        self._idle.append(evaluation)  # after a failure it is dropped, with the state that it stopped in
        return 0


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
    if matrix.shape[0] != matrix.shape[1] or (
        np.abs(matrix - matrix.T).max(initial=0) > _ASYMMETRY * np.abs(matrix).max(initial=0)
    ):
        raise ArgumentError(
            f"{function.name()}: output='upper': {name} is not symmetric; take output='nonzeros', which writes both "
            "triangles"
        )
