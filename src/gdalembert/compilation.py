"""Functions at C speed: C code from CasADi, the machine's compiler, a cache of libraries, NumPy arrays in and out.

A library is found by what determines it: the C code, the command and what the compiler says of itself and of the
machine under these flags. Its file is named after its own contents, and appears under that name in one step: several
processes may build the same library at once, and a damaged file is seen and built anew.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, UnknownNameError

Array = npt.NDArray[np.float64]

_COMPILERS = ("cc", "gcc", "clang")
_FLAGS = (("-O3", "-march=native"), ("-O3",))  # the second where a compiler does not know the first
_REMEDY = "install one, as with 'apt install gcc', 'xcode-select --install' or 'conda install c-compiler'"
_INTERPRETER = "or choose CasADi's interpreter: compile(function, interpreter=True)"
_FLOAT = np.dtype(np.float64)


class CompilationError(GdalembertError, RuntimeError):
    """A Function that cannot be compiled on this machine.

    Attributes:
        name: of the Function.
        reason: what is missing or went wrong, and what to do.
    """

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason
        super().__init__(f"{name}: {reason}")

    def __reduce__(self) -> tuple[type[CompilationError], tuple[str, str]]:
        return CompilationError, (self.name, self.reason)


def compile(
    function: ca.Function,
    *,
    compiler: str | None = None,
    flags: str | Sequence[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    interpreter: bool = False,
) -> CompiledFunction:
    """The Function as machine code, called with NumPy arrays.

    Args:
        function: any ``casadi.Function`` that CasADi can write in C; symbols, derivatives and graphs stay with it.
        compiler: a command that takes gcc's options; by default ``$CC``, else the first of cc, gcc and clang.
        flags: by default ``-O3 -march=native``: the library is for processors like this one (others have their own
            in the same cache). ``"-O3"`` is for every processor of the kind; ``"-O1"`` compiles huge graphs sooner.
        cache: folder of the libraries; by default ``$GDALEMBERT_CACHE``, else ``gdalembert`` in the user's cache
            folder. It may be emptied at any time, and is safe with several processes.
        interpreter: evaluate by CasADi's virtual machine instead, which needs no compiler: the same calls, slower.

    Raises:
        ArgumentTypeError: if it is not a ``casadi.Function``.
        ArgumentError: if the interpreter is given a compiler, flags or a cache.
        CompilationError: if there is no compiler, if it fails, or if the cache cannot be written.
    """
    if not isinstance(function, ca.Function):
        raise ArgumentTypeError(
            f"compile takes a casadi.Function, as dyn.inverse_dynamics, not {type(function).__name__}"
        )
    options = {"compiler": compiler, "flags": flags, "cache": cache}
    if not interpreter:
        return CompiledFunction(function, _compiled(function, compiler, flags, cache), options)
    if needless := [name for name, value in options.items() if value is not None]:
        raise ArgumentError(f"interpreter=True compiles nothing; drop {' and '.join(needless)}")
    return CompiledFunction(function, _Interpreter(_row_major(function)), {"interpreter": True})


class CompiledFunction:
    """A Function of real arrays: ``f(q, v, a)``, or ``f.batch(Q, V, A)`` for many states at once.

    A column of the ``casadi.Function`` is an array (n,), any other matrix is (rows, columns), sparse or not. Inputs
    are arrays or lists of exactly these shapes, by position or by name, and none may be left out. One output comes as
    an array, several as a tuple; they are the caller's own. ``out`` (an array, or a tuple) takes them instead.

    Any number of threads may call it. A single call keeps Python's global lock, a batch releases it.

    Attributes:
        function: the ``casadi.Function`` it was made of.
        library: the file of the machine code; ``None`` for the interpreter.
        inputs: shapes of the inputs by name, in order.
        outputs: shapes of the outputs by name, in order.
    """

    function: ca.Function
    library: Path | None
    inputs: Mapping[str, tuple[int, ...]]
    outputs: Mapping[str, tuple[int, ...]]

    def __init__(self, function: ca.Function, code: _Code, options: Mapping[str, Any]) -> None:
        self.function, self.library = function, code.path
        self._name, self._code, self._options = function.name(), code, options
        self.inputs = {name: _shape(function.size_in(name)) for name in function.name_in()}
        self.outputs = {name: _shape(function.size_out(name)) for name in function.name_out()}
        self._holes = {name: _holes(function.sparsity_in(name)) for name in self.inputs}
        # Where an array must be looked at before it is copied, no array has the shape that needs no look.
        self._plain = [None if np.any(self._holes[name]) else shape for name, shape in self.inputs.items()]
        self._idle: list[tuple[list[Array], list[Array], Callable[[], int]]] = []

    def __call__(self, /, *inputs: npt.ArrayLike, out: Any = None, **named: npt.ArrayLike) -> Any:
        """One evaluation.

        Raises:
            ArgumentError: if an input is missing or given twice, if a shape is wrong, or if the evaluation fails.
            ArgumentTypeError: if an input does not hold real numbers.
            UnknownNameError: if there is no input of that name.
        """
        if named or len(inputs) != len(self._plain):
            inputs = self._in_order(inputs, named)
        try:
            place = self._idle.pop()  # one for each call under way: threads and signal handlers do not meet
        except IndexError:
            place = self._new_place()
        arguments, results, run = place
        try:
            for k, x in enumerate(inputs):
                if x.__class__ is np.ndarray and x.dtype is _FLOAT and x.shape == self._plain[k]:  # type: ignore[union-attr]
                    arguments[k][...] = x
                else:
                    arguments[k][...] = self._checked(k, x)
            if run():
                raise ArgumentError(f"{self._name}: the evaluation fails at these inputs")
            if out is not None:
                for given, result in zip(self._checked_out(out), results, strict=True):
                    given[...] = result
                return out
            return results[0].copy() if len(results) == 1 else tuple([result.copy() for result in results])
        finally:
            self._idle.append(place)

    def batch(self, /, *inputs: npt.ArrayLike, threads: int | None = 1, out: Any = None, **named: npt.ArrayLike) -> Any:
        """N evaluations in one call: inputs (N, …), outputs (N, …); an input without N is the same for all of them.

        Args:
            inputs: by position or by name (``named``).
            threads: how many share the work; ``None`` is one for each core. The interpreter gains nothing from them.
            out: C-contiguous arrays that take the outputs.

        Raises:
            ArgumentError: as a single call; also if the inputs differ in N, or none has it.
            ArgumentTypeError, UnknownNameError: as a single call.
        """
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise ArgumentError(f"{self._name}: threads is {threads!r}; give a positive number, or None for all cores")
        arrays = [self._checked(k, x, batch=True) for k, x in enumerate(self._in_order(inputs, named))]
        shapes = list(self.inputs.values())
        counts = {
            name: len(x) for name, shape, x in zip(self.inputs, shapes, arrays, strict=True) if x.ndim > len(shape)
        }
        if len(set(counts.values())) != 1:
            seen = ", ".join(f"{name} has {count}" for name, count in counts.items()) or "no input has several"
            raise ArgumentError(f"{self._name}: inputs of a batch have the same number of states, but {seen}")
        n = next(iter(counts.values()))
        if out is None:
            results = [np.empty((n, *shape)) for shape in self.outputs.values()]
        else:
            results = self._checked_out(out, n)
            arrays = [x.copy() if any(np.may_share_memory(x, y) for y in results) else x for x in arrays]
        arrays = [np.broadcast_to(x, (n, *shape)) for x, shape in zip(arrays, shapes, strict=True)]
        parts = min(threads or os.cpu_count() or 1, max(n, 1))
        cuts = [slice(n * k // parts, n * (k + 1) // parts) for k in range(parts)]
        runs = [
            self._code.bind(cut.stop - cut.start, [x[cut] for x in arrays], [y[cut] for y in results]) for cut in cuts
        ]
        if parts == 1:
            codes = [run() for run in runs]
        else:
            with ThreadPoolExecutor(parts) as pool:
                codes = list(pool.map(lambda run: run(), runs))
        for cut, code in zip(cuts, codes, strict=True):
            if code:
                raise ArgumentError(f"{self._name}: the evaluation fails at state {cut.start + code - 1}")
        if out is not None:
            return out
        return results[0] if len(results) == 1 else tuple(results)

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(compile, **self._options), (self.function,)

    def __repr__(self) -> str:
        inputs, outputs = (
            ", ".join(f"{name} {shape}" for name, shape in ports.items()) for ports in (self.inputs, self.outputs)
        )
        return f"CompiledFunction({self._name}: {inputs} -> {outputs}; {'C' if self.library else 'interpreter'})"

    def _new_place(self) -> tuple[list[Array], list[Array], Callable[[], int]]:
        """Arrays for one evaluation, and what evaluates from these to those."""
        arguments, results = (
            [np.zeros((1, *shape)) for shape in ports.values()] for ports in (self.inputs, self.outputs)
        )
        run = self._code.bind(1, arguments, results)
        return [x[0] for x in arguments], [y[0] for y in results], run

    def _in_order(self, inputs: tuple[npt.ArrayLike, ...], named: Mapping[str, npt.ArrayLike]) -> tuple[Any, ...]:
        """All inputs, in the Function's order."""
        wanted = ", ".join(f"{name} {shape}" for name, shape in self.inputs.items())
        if len(inputs) > len(self.inputs):
            raise ArgumentError(f"{self._name} takes {len(self.inputs)} inputs ({wanted}), not {len(inputs)}")
        given = dict(zip(self.inputs, inputs, strict=False))
        for name in named:
            if name not in self.inputs:
                raise UnknownNameError(f"input of {self._name}", name, self.inputs)
            if name in given:
                raise ArgumentError(f"{self._name}: input {name!r} is given by position and by name")
        given.update(named)
        if missing := [repr(name) for name in self.inputs if name not in given]:
            raise ArgumentError(f"{self._name}: {', '.join(missing)} missing; give {wanted}")
        return tuple(given[name] for name in self.inputs)

    def _checked(self, k: int, x: Any, *, batch: bool = False) -> Array:
        """Input k as a contiguous array of the right shape."""
        name, shape = list(self.inputs.items())[k]
        try:
            array = np.asarray(x)
        except Exception:
            array = np.empty((), dtype=object)
        if array.dtype.kind not in "fiub":
            raise ArgumentTypeError(f"{self._name}: input {name!r} is not made of real numbers: {type(x).__name__}")
        array = np.ascontiguousarray(array, dtype=_FLOAT) if array.ndim else array.astype(_FLOAT).reshape(1)
        if array.shape != shape and not (batch and array.ndim == len(shape) + 1 and array.shape[1:] == shape):
            many = f" or (N, {', '.join(map(str, shape))})" if batch else ""
            hint = "" if batch or array.shape[1:] != shape else "; several states at once go to batch"
            raise ArgumentError(f"{self._name}: input {name!r} has shape {np.shape(x)}, not {shape}{many}{hint}")
        if np.any(array[..., self._holes[name]]):
            raise ArgumentError(f"{self._name}: input {name!r} is not 0 everywhere outside the Function's sparsity")
        return array

    def _checked_out(self, out: Any, *n: int) -> list[Array]:
        """``out`` as one array for each output."""
        arrays = [out] if isinstance(out, np.ndarray) else list(out)
        shapes = [(*n, *shape) for shape in self.outputs.values()]
        fit = len(arrays) == len(shapes) and all(
            isinstance(x, np.ndarray) and x.dtype == _FLOAT and x.shape == shape and x.flags.carray
            for x, shape in zip(arrays, shapes, strict=True)
        )
        if not fit:
            raise ArgumentError(
                f"{self._name}: out must be writable C-contiguous float64 of shape {', '.join(map(str, shapes))}"
            )
        return arrays


class _Code(Protocol):
    """Evaluates n states; ``path`` is the library, if there is one."""

    path: Path | None

    def bind(self, n: int, inputs: Sequence[Array], outputs: Sequence[Array]) -> Callable[[], int]:
        """What evaluates from these arrays (n, …) to those, which the caller keeps alive; k + 1 if state k fails."""


class _Interpreter:
    """CasADi's virtual machine."""

    path = None

    def __init__(self, function: ca.Function) -> None:
        self._function = function

    def bind(self, n: int, inputs: Sequence[Array], outputs: Sequence[Array]) -> Callable[[], int]:
        buffer, evaluate = self._function.buffer()
        arguments, results = ([np.zeros(x.shape[1:]) for x in arrays] for arrays in (inputs, outputs))
        for k, x in enumerate(arguments):
            buffer.set_arg(k, memoryview(x))
        for k, y in enumerate(results):
            buffer.set_res(k, memoryview(y))

        def run() -> int:
            for k in range(n):
                for x, argument in zip(inputs, arguments, strict=True):
                    argument[...] = x[k]
                evaluate()
                if buffer.ret():
                    return k + 1
                for y, result in zip(outputs, results, strict=True):
                    y[k] = result
            return 0

        return run


class _Library:
    """A loaded library, made from :data:`_C`."""

    def __init__(self, path: Path, private: bool) -> None:
        self.path: Path | None = path
        self._holding = ctypes.PyDLL(str(path)).gdalembert_run
        self._releasing = ctypes.CDLL(str(path)).gdalembert_run if private else self._holding
        self._holding.restype = self._releasing.restype = ctypes.c_longlong

    def bind(self, n: int, inputs: Sequence[Array], outputs: Sequence[Array]) -> Callable[[], int]:
        places = [(x.ctypes.data, x.strides[0] // x.itemsize) for x in (*inputs, *outputs)]
        task = np.array([n, *(number for place in places for number in place)], dtype=np.int64)
        # One state takes less time than letting another thread have the lock.
        return functools.partial(self._holding if n == 1 else self._releasing, task.ctypes.data_as(ctypes.c_void_p))


_C = """
#include <stdlib.h>

/* task: n, then of each input and output the address and the step from one state to the next.
   Gives 0, k + 1 if state k fails, -1 without memory. */
CASADI_SYMBOL_EXPORT casadi_int gdalembert_run(const casadi_int* task) {
  casadi_int n_arg, n_res, n_iw, n_w, i, k, n = *task++, failed = 0;
  const casadi_real** arg;
  casadi_real **res, *w;
  casadi_int* iw;
  int mem;
  gdalembert_evaluate_work(&n_arg, &n_res, &n_iw, &n_w);
  arg = (const casadi_real**) malloc((n_arg + n_res + n_iw + n_w + 1) * 8);
  if (!arg) return -1;
  res = (casadi_real**) (arg + n_arg);
  iw = (casadi_int*) (res + n_res);
  w = (casadi_real*) (iw + n_iw);
  mem = gdalembert_evaluate_checkout();
  for (k = 0; k < n && !failed; ++k) {
    for (i = 0; i < N_IN; ++i) arg[i] = (const casadi_real*) task[2 * i] + k * task[2 * i + 1];
    for (i = 0; i < N_OUT; ++i) res[i] = (casadi_real*) task[2 * (N_IN + i)] + k * task[2 * (N_IN + i) + 1];
    if (gdalembert_evaluate(arg, res, iw, w, mem)) failed = k + 1;
  }
  gdalembert_evaluate_release(mem);
  free(arg);
  return failed;
}
"""


def _compiled(
    function: ca.Function,
    compiler: str | None,
    flags: str | Sequence[str] | None,
    cache: str | os.PathLike[str] | None,
) -> _Library:
    """The library of a Function: from the cache, or built now."""
    name = function.name()
    generator = ca.CodeGenerator("gdalembert")
    try:
        generator.add(_row_major(function))
        source = f"{generator.dump()}\n#define N_IN {function.n_in()}\n#define N_OUT {function.n_out()}\n{_C}"
    except RuntimeError as error:
        raise CompilationError(name, f"CasADi cannot write it in C: {str(error).strip().splitlines()[-1]}") from error
    command, machine = _command(name, compiler, flags)
    folder = _cache_folder(name, cache)
    private = "_alloc_mem" not in source  # else the code shares memory between calls and wants one thread at a time
    entry = folder / hashlib.sha256("\0".join((source, *command, machine)).encode()).hexdigest()
    for path in sorted(entry.glob("*.so")):
        with contextlib.suppress(OSError, AttributeError):
            if path.stem == hashlib.sha256(path.read_bytes()).hexdigest():
                return _Library(path, private)
    path = _build(name, source, command, entry)
    try:
        return _Library(path, private)
    except (OSError, AttributeError) as error:
        raise CompilationError(
            name,
            f"the library just built does not load: {error}; set GDALEMBERT_CACHE to another folder, {_INTERPRETER}",
        ) from error


def _build(name: str, source: str, command: list[str], entry: Path) -> Path:
    """Compile into the folder ``entry``, where the library appears all at once."""
    try:
        entry.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=entry, prefix="build-") as scratch:
            code, library = Path(scratch, "function.c"), Path(scratch, "function.so")
            code.write_text(source, encoding="utf-8")
            _run(name, [*command[:1], "-shared", "-fPIC", "-o", library.name, code.name, *command[1:], "-lm"], scratch)
            path = entry / f"{hashlib.sha256(library.read_bytes()).hexdigest()}.so"
            os.replace(library, path)
            return path
    except OSError as error:
        raise CompilationError(
            name,
            f"cannot write to the cache folder {entry.parent}: {error.strerror}; "
            "set GDALEMBERT_CACHE (or cache=) to a folder of your own",
        ) from error
