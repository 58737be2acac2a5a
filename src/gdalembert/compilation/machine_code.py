"""Machine code of a Function: C code from CasADi, the machine's C compiler, and a cache of libraries.

A library is found by what determines it: the graph, what writes its C code, the command, and the compiler's own macros
under these flags, which name its version and the processor. Its file is named after its contents and appears all at
once: several processes may build the same library, and a damaged one is detected and built again.

An SX Function is written for several states at once, too: a vector is an entry of all of them (``c/vectors.h``).
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import inspect
import itertools
import math
import os
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self, TypeVar

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.compilation.cache import Cache, remove
from gdalembert.compilation.statements import ARITHMETIC, LENGTH, Statement, body_of, places_of
from gdalembert.errors import CompilationError
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.instructions import evaluate, operations
from gdalembert.spatial.progress import current

TIME_LIMIT = 600.0
"""Time that the compiler may run by default [s]."""
_TICK = 0.5
"""How often the time that a compiler has taken is shown [s]."""
_COMPILERS = ("cc", "gcc", "clang")
_FROM_PYPI = (sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined")
"""Clang, as the package ziglang has it, without the checks that it adds to code that is not optimised."""
Loaded = TypeVar("Loaded")
Reals = npt.NDArray[np.floating[Any]]
REALS = {"float64": "double", "float32": "float"}
"""The types of numbers that a library takes and returns, and their names in C."""
Call = Callable[[tuple[Any, ...], tuple[Reals, ...]], int]
"""Evaluates states from all inputs to all outputs; returns 0, or another number if inputs must be checked first."""
# Python's stable ABI is declared here, for its headers are seldom installed where there is a compiler.
_PYTHON = (
    *("PyTuple_Size", "PyTuple_GetItem", "PyObject_GetBuffer", "PyBuffer_Release"),
    *("PyErr_Clear", "PyLong_FromLongLong", "PyCFunction_NewEx", "PyObject_Type", "Py_DecRef"),
)


@dataclass
class Compiler:
    """The machine's C compiler, once it is found.

    Attributes:
        name: that of the Function or of the caller, for messages.
        level: level of optimisation, for which the processor is named too, where the compiler knows it.
        without, slow: what to do without a compiler, and if it takes too long.
        time_limit: time that it may run [s].
        command, flags, macros: those of the compiler; macros are those that it predefines, which name its version and
            the processor.
    """

    name: str
    level: str = "-O3"
    without: str = "CasADi's interpreter needs no compiler: compile(function, interpreter=True)"
    slow: str = "give a larger time_limit, or flags='-O1', which is faster for large graphs"
    time_limit: float = TIME_LIMIT
    command: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    macros: str = ""

    def find(self, asked: str | None = None, flags: str | Sequence[str] | None = None) -> Self:
        """The compiler asked for, or ``$CC``, or the first there is, at last ziglang's, with flags that it knows."""
        asked = (asked or os.environ.get("CC", "")).strip()
        commands = [self._words(text) for text in ((asked,) if asked else _COMPILERS)]
        if not asked and find_spec("ziglang") is not None:
            commands.append(_FROM_PYPI)
        if (command := next((words for words in commands if shutil.which(words[0])), None)) is None:
            sought = repr(asked) if asked else f"{', '.join(_COMPILERS)} ($CC is not set)"
            how = "'apt install gcc', 'xcode-select --install' or 'pip install ziglang'"
            raise self.error(f"no C compiler: looked for {sought}; install one ({how}); {self.without}")
        self.command = command
        known = [(self.level, "-march=native"), (self.level,)] if flags is None else [self._words(flags)]
        for self.flags in known:
            status, self.macros, errors = self._run([*self.flags, "-dM", "-E", "-x", "c", os.devnull])
            if not status:
                return self
        raise self._failure(status, errors)

    def build(self, source: str, folder: Path) -> Path:
        """The library of a C source, compiled in a folder; OSError if that cannot be written."""
        code, library = folder / "function.c", folder / "function.so"
        code.write_text(source, encoding="utf-8")
        words = ["-shared", "-fPIC", "-o", library.name, code.name, *self.flags, "-lm"]
        status, _, errors = self._run(words, folder)
        if status:
            raise self._failure(status, errors)
        if not library.is_file():
            raise self.error(f"{self.command[0]} reports success, but writes no library; {self.without}")
        if not _is_whole(library):
            size = library.stat().st_size
            raise self.error(
                f"{self.command[0]} reports success, but writes a part of a library, of {size} bytes; look for a full "
                f"disk, or {self.without}"
            )
        return library

    def error(self, reason: str) -> CompilationError:
        """An error of the use that is made of the compiler."""
        return CompilationError(self.name, reason)

    def _failure(self, status: int, errors: str) -> CompilationError:
        lines = errors.strip().splitlines() or [f"exit status {status}"]
        first = next((line for line in lines if "error" in line), lines[0])
        return self.error(f"{self.command[0]} fails: {first.strip()}; {self.without}")

    def _words(self, text: str | Sequence[str]) -> tuple[str, ...]:
        if not isinstance(text, str):
            return tuple(text)
        try:
            return tuple(shlex.split(text))
        except ValueError as error:
            unread = f"the compiler or its flags {text!r} cannot be read: {error}"
            raise self.error(f"{unread}; write it as a shell would take it") from None

    def _run(self, words: Sequence[str], folder: Path | None = None) -> tuple[int, str, str]:
        """The exit status, output and errors of the compiler."""
        pipe, english = subprocess.PIPE, {**os.environ, "LC_ALL": "C"}
        try:
            # subprocess.run would end the compiler alone at its timeout, and not the programs that it has started
            process = subprocess.Popen(
                [*self.command, *words],
                cwd=folder,
                env=english,
                stdin=subprocess.DEVNULL,
                stdout=pipe,
                stderr=pipe,
                text=True,
                errors="replace",
                start_new_session=True,  # so that it can be killed together with the programs that it starts
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise self.error(f"{self.command[0]} does not run: {reason}; {self.without}") from error
        with process:
            try:
                output, errors = self._ended(process)
            except BaseException as error:
                if os.name == "posix":
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
                raise self.error(f"{self.command[0]} is not done after {self.time_limit:g} s; {self.slow}") from None
        return process.returncode, output, errors

    def _ended(self, process: subprocess.Popen[str]) -> tuple[str, str]:
        """The output and errors of a process that ends within the time limit, while the line of progress moves."""
        line, end = current(), time.monotonic() + self.time_limit
        while line.shown and time.monotonic() + _TICK < end:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.communicate(timeout=_TICK)
            line.move()
        return process.communicate(timeout=max(end - time.monotonic(), 0.0))


def _is_whole(library: Path) -> bool:
    """True if a library, of Linux and 64 bits, has all that its head announces: reading the rest would end the process,
    where other systems refuse to load it.
    """
    contents = library.read_bytes()
    if contents[:5] != b"\x7fELF\x02":
        return True
    if len(contents) < 64:
        return False
    order = "<" if contents[5] == 1 else ">"
    segments, sections = struct.unpack_from(f"{order}QQ", contents, 32)
    size, count, section_size, section_count = struct.unpack_from(f"{order}4H", contents, 54)
    if len(contents) < max(segments + size * count, sections + section_size * section_count):
        return False
    places = (struct.unpack_from(f"{order}Q16xQ", contents, segments + k * size + 8) for k in range(count))
    return all(first + length <= len(contents) for first, length in places)


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

    ``first`` and ``last`` take what ``one`` takes, of few states along the first axis, or the last.

    Attributes:
        width: the number of states that :meth:`many` evaluates at once.
    """

    one: Call
    first: Call
    last: Call

    def __init__(self, path: Path) -> None:
        self.path: Path | None = path
        holding = ctypes.PyDLL(str(path))
        shares_memory = holding.gdalembert_shares_memory()
        holding.gdalembert_call.restype = ctypes.py_object
        python = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in _PYTHON]
        python.append(ctypes.c_void_p(id(np.ndarray)))
        pointers = (ctypes.c_void_p * len(python))(*python)
        # by the buffers of the arrays: ca.external of the same code, which converts them to matrices, takes 267 µs for
        # tau of a PUMA 560 in place of 1.1
        self.one, self.first, self.last = (holding.gdalembert_call(pointers, k) for k in range(3))
        self.width: int = holding.gdalembert_width()
        self._many = (holding if shares_memory else ctypes.CDLL(str(path))).gdalembert_together
        self._many.restype = ctypes.c_longlong
        self.address: int = ctypes.cast(self._many, ctypes.c_void_p).value or 0

    def many(self, n: int, inputs: Sequence[Reals], outputs: Sequence[Reals]) -> int:
        """Evaluate n states (n, …), whose entries lie one step apart; k + 1 if state k fails, -1 without memory."""
        steps = [(x.ctypes.data, x.strides[0] // x.itemsize, x.strides[-1] // x.itemsize) for x in (*inputs, *outputs)]
        task = np.array([n, *(number for step in steps for number in step)], dtype=np.int64)
        return int(self._many(ctypes.c_void_p(task.ctypes.data)))


SMALL = 1_000_000
"""Instructions of a batch that keeps Python's global lock, for some tenths of a millisecond at most."""
AT_ONCE = 2000
"""Instructions of a graph from which on a single state gains nothing by all of its sines and cosines at once."""
INLINE_ANGLES = 16
"""Up to so many sines and cosines are written out in place; more would make the code too long."""

_OPERATORS = ARITHMETIC | {
    ca.OP_INV: "ALL(1.0) / {0}",
    ca.OP_CONSTPOW: "v_pow({0}, {1})",
}
_OF_ONE = (
    *("not", "fabs", "sign", "sqrt", "exp", "expm1", "log", "log1p", "erf", "floor", "ceil"),
    *("tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
_OF_TWO = (
    *("if_else_zero", "lt", "le", "eq", "ne", "and", "or", "copysign", "fmin", "fmax"),
    *("pow", "atan2", "hypot", "fmod", "remainder"),
)
_TEMPLATES = (
    _OPERATORS
    | {getattr(ca, f"OP_{name.upper()}"): f"v_{name}({{0}})" for name in _OF_ONE}
    | {getattr(ca, f"OP_{name.upper()}"): f"v_{name}({{0}}, {{1}})" for name in _OF_TWO}
)
_ANGLES = {ca.OP_SIN: "s", ca.OP_COS: "c"}
_ELSE = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST}


def vector_code(graph: ca.Function, length: int = LENGTH) -> str | None:
    """The C function ``together`` of a Function of dense vectors, in parts of so many statements.

    ``None`` if it is none of SX, or an operation cannot be written; all that it computes is one number for each state.
    """
    if not graph.is_a("SXFunction") or not set(operations(graph)) <= _TEMPLATES.keys() | _ANGLES.keys() | _ELSE:
        return None
    statements: list[Statement] = []
    number: dict[str, int] = {}  # of the statement that computes a value
    angles: dict[str, int] = {}

    def append(code: str, values: Sequence[str], operands: Sequence[str]) -> None:
        number.update(dict.fromkeys(values, len(statements)))
        statements.append(Statement(code, values, [name for name in operands if name in number]))

    def add(op: int, *operands: str) -> str:
        """Write an operation; returns its value."""
        if op not in _ANGLES:
            name = f"a{len(statements)}"
            append(f"const V {name} = {_TEMPLATES[op].format(*operands)};", [name], operands)
            return name
        k = angles.setdefault(operands[0], len(angles))
        if f"s{k}" not in number:
            append(f"V s{k}, c{k}; SINCOS({operands[0]}, &s{k}, &c{k}, large);", [f"s{k}", f"c{k}"], operands)
        return f"{_ANGLES[op]}{k}"

    inputs = _entries("x", [graph.numel_in(i) for i in range(graph.n_in())])
    results = list(itertools.chain(*evaluate(graph, inputs, _constant, add)))
    vectors = {value: k for k, value in enumerate(dict.fromkeys(results))}  # each value once
    for value, k in vectors.items():
        if value not in number:  # an input or a constant
            append("", [], [])
        statements[number.get(value, -1)].stores.append(f"y[{k}] = {value};")  # as soon as it is computed
    places = places_of(statements, number, length)
    parts = [statements[k : k + length] for k in range(0, len(statements), length)]
    arguments = "const V* restrict x, V* restrict y, V* restrict shared, I* restrict large"
    n_x, n_shared = sum(map(len, inputs)), max(places.values(), default=-1) + 1
    source = ", ".join(str(vectors[value]) for value in results)
    lines = [
        f"#define SINCOS {'v_sincos' if len(angles) <= INLINE_ANGLES else 'v_sincos_called'}",
        f"enum {{ X = {n_x}, Y = {len(vectors)}, SHARED = {n_shared} }};",
        f"static const int source[] = {{{source or 0}}};",
    ]
    for k, part in enumerate(parts):
        lines += [f"static __attribute__((noinline)) void part_{k}({arguments}) {{", *body_of(part, places, "V"), "}"]
    calls = [f"  part_{k}(x, y, shared, large);" for k in range(len(parts))]
    return "\n".join([*lines, f"static void together({arguments}) {{", *calls, "}", ""])


def _entries(vector: str, sizes: Sequence[int]) -> list[list[str]]:
    numbers = itertools.count()
    return [[f"{vector}[{next(numbers)}]" for _ in range(size)] for size in sizes]


def _constant(x: float) -> str:
    if math.isnan(x):
        return "ALL(NAN)"
    return f"ALL({x!r})" if math.isfinite(x) else f"ALL({'-' if x < 0 else ''}INFINITY)"


def angles_apart(graph: ca.Function) -> tuple[ca.Function, ca.Function] | None:
    """The angles of a Function, and the Function with their sines and cosines as two more inputs.

    ``None`` where the C library's sines, one after the other, are as fast: in long graphs, without angles, and if an
    angle is made of sines.
    """
    if not graph.is_a("SXFunction") or graph.n_instructions() >= AT_ONCE:
        return None
    inputs = [ca.SX.sym(f"x{i}", graph.numel_in(i)) for i in range(graph.n_in())]
    angles: dict[int, tuple[ca.SX, dict[int, ca.SX]]] = {}

    def operation(op: int, *operands: ca.SX) -> ca.SX:
        """The result of an operation; that of a sine or cosine is a symbol."""
        if op not in _ANGLES:
            return ca.SX.unary(op, *operands) if len(operands) == 1 else ca.SX.binary(op, *operands)
        key, symbols = operands[0].element_hash(), {code: ca.SX.sym(name) for code, name in _ANGLES.items()}
        return angles.setdefault(key, (operands[0], symbols))[1][op]

    entries = evaluate(graph, [[x[k] for k in range(x.numel())] for x in inputs], ca.SX, operation)
    results = [ca.densify(ca.vertcat(ca.SX(0, 1), *column)) for column in entries]
    made = ca.densify(ca.vertcat(*(angle for angle, _ in angles.values())))
    taken = [ca.vertcat(*(symbols[op] for _, symbols in angles.values())) for op in _ANGLES]
    if not angles or ca.depends_on(made, ca.vertcat(*taken)):
        return None
    whole = ca.Function("gdalembert_evaluate", [*inputs, *taken], results)
    return ca.Function("gdalembert_angles", inputs, [made]), whole


def _source(function: ca.Function, graph: ca.Function, dtype: str) -> str:
    """The C code of a Function, whose graph is :func:`row_major`."""
    vectors = vector_code(graph)
    split = None if vectors is None else angles_apart(graph)
    generator = ca.CodeGenerator("gdalembert")
    for part in split or (graph,):
        generator.add(part)
    code = generator.dump()
    sizes = [function.size_in(i) for i in range(function.n_in())]
    sizes += [function.size_out(i) for i in range(function.n_out())]
    shapes = ", ".join(f"{{{len(shape_of(size))}, {size[0]}, {size[1]}}}" for size in [*sizes, (0, 0)])
    shares_memory = int("_alloc_mem" in code)  # solvers; their memory is handed out without a lock
    few = SMALL // max(1, graph.n_instructions())
    evaluate = "#define evaluate gdalembert_evaluate"
    if split is not None:
        evaluate = f"enum {{ ANGLES = {split[0].numel_out(0)} }};\n{_text('angles.c')}"
    return f"""{code}
#include <stddef.h>
#define REAL {REALS[dtype]}
#define BYTES {np.dtype(dtype).itemsize}
enum {{ N_IN = {function.n_in()}, N = {len(sizes)} }};
static const ptrdiff_t shapes[][3] = {{{shapes}}};
CASADI_SYMBOL_EXPORT int gdalembert_shares_memory(void) {{ return {shares_memory}; }}
#if {int(vectors is not None)} && (!defined WIDTH || WIDTH > 1) && !defined __FAST_MATH__ /* breaks sums that round */
#define VECTORS
#define FEW {few}
{_text("vectors.h")}#else
#define FEW 0
#endif
{evaluate}
{_text("call.c")}
#ifdef VECTORS
{vectors}{_text("batch.c")}
#else
CASADI_SYMBOL_EXPORT int gdalembert_width(void) {{ return 1; }}
CASADI_SYMBOL_EXPORT casadi_int gdalembert_together(const casadi_int* task) {{ return gdalembert_in_turn(task); }}
#endif
"""


def _text(name: str) -> str:
    """The text of a file of C code."""
    return resources.files(__package__).joinpath("c", name).read_text(encoding="utf-8")


def _writers() -> str:
    """The code that writes C."""
    return "".join(inspect.getsource(sys.modules[name]) for name in (__name__, Statement.__module__))


def load_library(
    function: ca.Function, tool: Compiler, cache: str | os.PathLike[str] | None, dtype: str = "float64"
) -> Library:
    """The library of a Function of arrays of a type, from the cache or built now."""
    graph = row_major(function)
    texts = map(_text, ("call.c", "vectors.h", "angles.c", "batch.c"))
    determines = (graph.serialize(), dtype, _writers(), *texts)
    return _load(tool, cache, determines, lambda: _source(function, graph, dtype), Library)


def library_of(tool: Compiler, source: str, open_library: Callable[[Path], Loaded]) -> Loaded:
    """Open the library of a C source, from the cache or built now."""
    return _load(tool, None, (source,), lambda: source, open_library)


def source_of(package: str, macros: Mapping[str, int], *files: str) -> str:
    """C files of the folder ``c`` of a package in one, with these macros."""
    folder = resources.files(package).joinpath("c")
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in files]
    return "\n".join([*(f"#define {name} {size}" for name, size in macros.items()), *texts])


def opened(who: str, source: str, usable: Callable[[Path], ctypes.CDLL]) -> ctypes.CDLL:
    """The library of a C source, from the cache or compiled now."""
    return library_of(Compiler(who, without=f"{who} needs one").find(), source, usable)


def aligned(*shape: int) -> Array:
    """Zeros that begin at a multiple of 64 bytes."""
    size = int(np.prod(shape))
    memory = np.zeros(size + 8)
    first = -(memory.ctypes.data // 8) % 8
    return memory[first : first + size].reshape(shape)


def _load(
    tool: Compiler,
    cache: str | os.PathLike[str] | None,
    determines: tuple[str, ...],
    source: Callable[[], str],
    open_library: Callable[[Path], Loaded],
) -> Loaded:
    """Open a library from the cache, or build it now from its source, which some texts determine, and open that.

    OSError, AttributeError and RuntimeError say that a file is no such library.
    """
    # the whole of what determines the code, and no number of a version of ours, which a change may forget to raise
    texts = (*determines, ca.CasadiMeta.version(), *tool.command, *tool.flags, tool.macros)
    key = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    libraries = Cache(cache, tool.name)
    try:
        for path in libraries.libraries(key):
            try:
                return open_library(path)
            except (OSError, AttributeError, RuntimeError):
                remove(path)
        with libraries.build() as folder:
            current().show(f"C code of {tool.name}")
            code = source()
            current().show(f"{tool.command[0]} compiles {tool.name}")
            path = libraries.add(key, tool.build(code, folder))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        folder_error = f"cannot use the cache folder {libraries.folder}: {reason}"
        raise tool.error(f"{folder_error}; set GDALEMBERT_CACHE to a folder of your own") from error
    try:
        return open_library(path)
    except (OSError, AttributeError, RuntimeError) as error:
        remove(path)
        raise tool.error(
            f"the library that {tool.command[0]} built does not load from {libraries.folder}: {error}; "
            f"try another compiler, or another folder for GDALEMBERT_CACHE; {tool.without}",
        ) from error


def external(function: ca.Function, order: int, context: str) -> ca.Function:
    """The Function as machine code, from the cache or compiled now by ``-O1 -march=native``.

    Its derivatives have tens of thousands of instructions, for which compilers take long at higher levels.

    Args:
        function: a Function of SX, without a state of its own; its derivatives are those of whole Jacobians.
        order: order of derivatives: 1 for its Jacobian, 2 for its adjoint and the Jacobian of that, too.
        context: the caller, for messages.
    """
    without = "drop compiled=True"
    tool = Compiler(context, "-O1", without, f"{without}, or take fewer or smaller parts").find()
    by_jacobian = {"enable_forward": False}
    options: dict[str, Any] = by_jacobian | {"is_diff_in": function.is_diff_in(), "reverse_options": by_jacobian}

    def source() -> str:
        """C code of the Function and its derivatives, by the names under which CasADi looks for them."""
        generator = ca.CodeGenerator("gdalembert")
        for derivative in (function, *((function.reverse(1),) if order > 1 else ())):
            generator.add(derivative)
            generator.add(derivative.jacobian())
        return generator.dump()

    determines = (function.serialize(), str(order), _writers())
    return _load(tool, None, determines, source, lambda path: ca.external(function.name(), str(path), options))
