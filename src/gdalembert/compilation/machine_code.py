"""Machine code of a Function: C code from CasADi, the machine's C compiler, and a cache of libraries.

A library is found by what determines it: the graph, what writes its C code, the command, and the compiler's own macros
under these flags, which name its version and the processor. Its file is named after its contents and appears all at
once: several processes may build the same library, and a damaged one is detected and built again.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import inspect
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from gdalembert.compilation.cache import Cache, remove
from gdalembert.compilation.vector_code import vector_code
from gdalembert.errors import CompilationError
from gdalembert.spatial.arrays import Array

TIME_LIMIT = 600.0
"""How long the compiler may run by default [s]."""
_COMPILERS = ("cc", "gcc", "clang")
Loaded = TypeVar("Loaded")
One = Callable[[tuple[Any, ...], tuple[Array, ...]], int]
"""Evaluates one state from all inputs to all outputs; returns 0, or another number if inputs must be checked first."""
# Python's stable ABI is declared here, for its headers are seldom installed where there is a compiler.
_PYTHON = (
    *("PyTuple_Size", "PyTuple_GetItem", "PyObject_GetBuffer", "PyBuffer_Release"),
    *("PyErr_Clear", "PyLong_FromLongLong", "PyCFunction_NewEx", "PyObject_Type", "Py_DecRef"),
)


@dataclass(frozen=True)
class Use:
    """What a compiler is wanted for.

    Attributes:
        name: of the Function or of the caller, for messages.
        level: of optimisation, for which the processor is named too, where the compiler knows it.
        without, slow: what to do without a compiler, and if it takes too long.
    """

    name: str
    level: str = "-O3"
    without: str = "CasADi's interpreter needs no compiler: compile(function, interpreter=True)"
    slow: str = "give a larger time_limit, or flags='-O1', which is faster for large graphs"


@dataclass(frozen=True)
class Compiler:
    """A compiler with flags that it knows, and the macros that it predefines: its version, and the processor."""

    use: Use
    command: tuple[str, ...]
    flags: tuple[str, ...]
    macros: str
    time_limit: float

    def build(self, source: str, folder: Path) -> Path:
        """The library of a C source, compiled in a folder; OSError if that cannot be written."""
        code, library = folder / "function.c", folder / "function.so"
        code.write_text(source, encoding="utf-8")
        words = [*self.command, "-shared", "-fPIC", "-o", library.name, code.name, *self.flags, "-lm"]
        status, _, errors = _run(self.use, words, self.time_limit, folder)
        if status:
            raise _failure(self.use, self.command, status, errors)
        if not library.is_file():
            reason = f"{self.command[0]} reports success, but writes no library; {self.use.without}"
            raise CompilationError(self.use.name, reason)
        return library


def find_compiler(
    use: Use, asked: str = "", flags: str | Sequence[str] | None = None, time_limit: float = TIME_LIMIT
) -> Compiler:
    """The compiler asked for, or ``$CC``, or the first there is."""
    asked = (asked or os.environ.get("CC", "")).strip()
    commands = (_words(use.name, each) for each in ((asked,) if asked else _COMPILERS))
    if (command := next((words for words in commands if shutil.which(words[0])), None)) is None:
        sought = repr(asked) if asked else f"{', '.join(_COMPILERS)} ($CC is not set)"
        how = "'apt install gcc', 'xcode-select --install' or 'conda install c-compiler'"
        raise CompilationError(use.name, f"no C compiler: looked for {sought}; install one ({how}); {use.without}")
    known = [(use.level, "-march=native"), (use.level,)] if flags is None else [_words(use.name, flags)]
    for options in known:
        ask = [*command, *options, "-dM", "-E", "-x", "c", os.devnull]
        status, macros, errors = _run(use, ask, time_limit)
        if not status:
            return Compiler(use, command, options, macros, time_limit)
    raise _failure(use, command, status, errors)


def _words(name: str, text: str | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(text, str):
        return tuple(text)
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        hint = "write it as a shell would take it"
        raise CompilationError(name, f"the compiler or its flags {text!r} cannot be read: {error}; {hint}") from None


def _failure(use: Use, command: Sequence[str], status: int, errors: str) -> CompilationError:
    lines = errors.strip().splitlines() or [f"exit status {status}"]
    first = next((line for line in lines if "error" in line), lines[0])
    return CompilationError(use.name, f"{command[0]} fails: {first.strip()}; {use.without}")


def _run(use: Use, command: Sequence[str], time_limit: float, folder: Path | None = None) -> tuple[int, str, str]:
    """The exit status, output and errors of the compiler."""
    english = {**os.environ, "LC_ALL": "C"}
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=english,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # so that it can be killed together with the programs that it starts
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CompilationError(use.name, f"{command[0]} does not run: {reason}; {use.without}") from error
    with process:
        try:
            output, errors = process.communicate(timeout=time_limit)
        except BaseException as error:
            if os.name == "posix":
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            reason = f"{command[0]} is not done after {time_limit:g} s; {use.slow}"
            raise CompilationError(use.name, reason) from None
    return process.returncode, output, errors


def row_major(function: ca.Function) -> ca.Function:
    """The Function of vectors that hold matrices row by row, zeros and all, as NumPy does; named for its C code."""
    kind: Any = ca.SX if function.is_a("SXFunction") else ca.MX
    sizes = [function.size_in(i) for i in range(function.n_in())]
    vectors = [kind.sym(f"x{i}", rows * columns) for i, (rows, columns) in enumerate(sizes)]
    matrices = [ca.reshape(x, columns, rows).T for x, (rows, columns) in zip(vectors, sizes, strict=True)]
    return ca.Function("gdalembert_evaluate", vectors, [ca.vec(ca.densify(y).T) for y in function.call(matrices)])


def shape_of(size: tuple[int, int]) -> tuple[int, ...]:
    rows, columns = size
    return (rows,) if columns == 1 else (rows, columns)


class Library:
    """Machine code: CasADi's for one state, that of :func:`vector_code` for many, and ``c/call.c`` around them.

    Attributes:
        width: the number of states that :meth:`many` evaluates at once.
    """

    def __init__(self, path: Path) -> None:
        self.path: Path | None = path
        holding = ctypes.PyDLL(str(path))
        shares_memory = holding.gdalembert_shares_memory()
        holding.gdalembert_one.restype = ctypes.py_object
        python = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in _PYTHON]
        python.append(ctypes.c_void_p(id(np.ndarray)))
        self.one: One = holding.gdalembert_one((ctypes.c_void_p * len(python))(*python))
        self.width: int = holding.gdalembert_width()
        self._many = (holding if shares_memory else ctypes.CDLL(str(path))).gdalembert_together
        self._many.restype = ctypes.c_longlong

    def many(self, n: int, inputs: Sequence[Array], outputs: Sequence[Array]) -> int:
        """n states (n, …); k + 1 if state k fails, -1 without memory."""
        steps = [(x.ctypes.data, x.strides[0] // x.itemsize) for x in (*inputs, *outputs)]
        task = np.array([n, *(number for step in steps for number in step)], dtype=np.int64)
        return int(self._many(ctypes.c_void_p(task.ctypes.data)))


def _source(function: ca.Function, graph: ca.Function) -> str:
    """The C code of a Function, whose graph is :func:`row_major`."""
    generator = ca.CodeGenerator("gdalembert")
    generator.add(graph)
    code, vectors = generator.dump(), vector_code(graph)
    sizes = [function.size_in(i) for i in range(function.n_in())]
    sizes += [function.size_out(i) for i in range(function.n_out())]
    shapes = ", ".join(f"{{{len(shape_of(size))}, {size[0]}, {size[1]}}}" for size in [*sizes, (0, 0)])
    shares_memory = int("_alloc_mem" in code)  # solvers; their memory is handed out without a lock
    return f"""{code}
#include <stddef.h>
enum {{ N_IN = {function.n_in()}, N = {len(sizes)} }};
static const ptrdiff_t shapes[][3] = {{{shapes}}};
CASADI_SYMBOL_EXPORT int gdalembert_shares_memory(void) {{ return {shares_memory}; }}
{_text("call.c")}
#if {int(vectors is not None)} && (!defined WIDTH || WIDTH > 1) && !defined __FAST_MATH__ /* breaks sums that round */
{_text("vectors.h")}{vectors}{_text("batch.c")}
#else
CASADI_SYMBOL_EXPORT int gdalembert_width(void) {{ return 1; }}
CASADI_SYMBOL_EXPORT casadi_int gdalembert_together(const casadi_int* task) {{ return gdalembert_in_turn(task); }}
#endif
"""


def _text(name: str) -> str:
    """A file of C code."""
    return resources.files(__package__).joinpath("c", name).read_text(encoding="utf-8")


def load_library(
    function: ca.Function,
    compiler: str = "",
    flags: str | Sequence[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    time_limit: float = TIME_LIMIT,
) -> Library:
    """The library of a Function, from the cache or built now."""
    graph = row_major(function)
    tool = find_compiler(Use(function.name()), compiler, flags, time_limit)
    writers = (inspect.getsource(sys.modules[name]) for name in (__name__, vector_code.__module__))
    texts = map(_text, ("call.c", "vectors.h", "batch.c"))
    determines = (graph.serialize(), *writers, *texts)
    return _load(tool, cache, determines, lambda: _source(function, graph), Library)


def _load(
    tool: Compiler,
    cache: str | os.PathLike[str] | None,
    determines: tuple[str, ...],
    source: Callable[[], str],
    open_library: Callable[[Path], Loaded],
) -> Loaded:
    """What a library gives when it is opened; from the cache, or built now from its source, which some texts determine.

    OSError, AttributeError and RuntimeError say that a file is no such library.
    """
    texts = (*determines, ca.CasadiMeta.version(), *tool.command, *tool.flags, tool.macros)
    key = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    libraries = Cache(cache, tool.use.name)
    try:
        for path in libraries.libraries(key):
            try:
                return open_library(path)
            except (OSError, AttributeError, RuntimeError):
                remove(path)
        with libraries.build() as folder:
            path = libraries.add(key, tool.build(source(), folder))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CompilationError(
            tool.use.name,
            f"cannot use the cache folder {libraries.folder}: {reason}; set GDALEMBERT_CACHE to a folder of your own",
        ) from error
    try:
        return open_library(path)
    except (OSError, AttributeError, RuntimeError) as error:
        remove(path)
        raise CompilationError(
            tool.use.name,
            f"the library that {tool.command[0]} built does not load from {libraries.folder}: {error}; "
            f"try another compiler, or another folder for GDALEMBERT_CACHE; {tool.use.without}",
        ) from error


def external(function: ca.Function, order: int, where: str) -> ca.Function:
    """The Function as machine code, from the cache or compiled now by ``-O1 -march=native``.

    Its derivatives have tens of thousands of instructions, for which compilers take long at higher levels.

    Args:
        function: of SX, without a state of its own; its derivatives are those of whole Jacobians.
        order: of derivatives: 1 for its Jacobian, 2 for its adjoint and the Jacobian of that, too.
        where: the caller, for messages.
    """
    tool = find_compiler(Use(where, "-O1", "drop compiled=True", "drop compiled=True, or take fewer or smaller parts"))
    by_jacobian = {"enable_forward": False}
    options: dict[str, Any] = by_jacobian | {"is_diff_in": function.is_diff_in(), "reverse_options": by_jacobian}

    def source() -> str:
        """C code of the Function and its derivatives, by the names under which CasADi looks for them."""
        generator = ca.CodeGenerator("gdalembert")
        for each in (function, *((function.reverse(1),) if order > 1 else ())):
            generator.add(each)
            generator.add(each.jacobian())
        return generator.dump()

    def opened(path: Path) -> ca.Function:
        return ca.external(function.name(), str(path), options)

    determines = (function.serialize(), str(order), inspect.getsource(sys.modules[__name__]))
    return _load(tool, None, determines, source, opened)
