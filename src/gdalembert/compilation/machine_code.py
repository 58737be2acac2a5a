"""Machine code of a Function: C code from CasADi, the machine's compiler, and a cache of libraries.

A library is found by what determines it: the graph, what writes its C code, the command, and the compiler's own macros
under these flags, which name its version and the processor. Its file is named after its contents and appears all at
once: several processes may build the same library, and a damaged one is detected and built again.
"""

from __future__ import annotations

import ctypes
import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from gdalembert.compilation.cache import Cache, remove
from gdalembert.compilation.compiler import TIME_LIMIT, Compiler, Use, find_compiler
from gdalembert.compilation.vector_code import vector_code
from gdalembert.errors import CompilationError
from gdalembert.spatial.arrays import Array

Loaded = TypeVar("Loaded")
One = Callable[[tuple[Any, ...], tuple[Array, ...]], int]
"""Evaluates one state from all inputs to all outputs; returns 0, or another number if inputs must be checked first."""
# Python's stable ABI is declared here, for its headers are seldom installed where there is a compiler.
_PYTHON = (
    *("PyTuple_Size", "PyTuple_GetItem", "PyObject_GetBuffer", "PyBuffer_Release"),
    *("PyErr_Clear", "PyLong_FromLongLong", "PyCFunction_NewEx", "PyObject_Type", "Py_DecRef"),
)


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


def _key(graph: ca.Function) -> str:
    """All that determines the C code of a graph."""
    writers = (inspect.getsource(sys.modules[name]) for name in (__name__, vector_code.__module__))
    texts = map(_text, ("call.c", "vectors.h", "batch.c"))
    return "\0".join((graph.serialize(), ca.CasadiMeta.version(), *writers, *texts))


def load_library(
    function: ca.Function,
    compiler: str = "",
    flags: str | Sequence[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    time_limit: float = TIME_LIMIT,
) -> Library:
    """The library of a Function, from the cache or built now.

    Raises:
        CompilationError: if there is no compiler, if it fails, or if the cache cannot be used.
    """
    graph = row_major(function)
    tool = find_compiler(Use(function.name()), compiler, flags, time_limit)
    return load(tool, cache, _key(graph), lambda: _source(function, graph), Library)


def load(
    tool: Compiler,
    cache: str | os.PathLike[str] | None,
    determines: str,
    source: Callable[[], str],
    open_library: Callable[[Path], Loaded],
) -> Loaded:
    """What a library gives when it is opened; from the cache, or built now.

    Args:
        tool: the compiler.
        cache: the folder; by default that of the user.
        determines: all that determines the C code.
        source: writes the C code.
        open_library: raises OSError, AttributeError or RuntimeError for a library of something else.

    Raises:
        CompilationError: if the compiler fails, or the cache cannot be used.
    """
    key = hashlib.sha256("\0".join((determines, *tool.key)).encode()).hexdigest()
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

    Raises:
        CompilationError: if there is no compiler, if it fails or takes more than ten minutes, or if the cache cannot be
            used.
    """
    tool = find_compiler(Use(where, "-O1", "drop compiled=True", "drop compiled=True, or take fewer or smaller parts"))
    by_jacobian = {"enable_forward": False}
    options: dict[str, Any] = by_jacobian | {"is_diff_in": function.is_diff_in(), "reverse_options": by_jacobian}
    determines = (function.serialize(), str(order), ca.CasadiMeta.version(), inspect.getsource(sys.modules[__name__]))

    def source() -> str:
        return _source_with_derivatives(function, order)

    def opened(path: Path) -> ca.Function:
        return ca.external(function.name(), str(path), options)

    return load(tool, None, "\0".join(determines), source, opened)


def _source_with_derivatives(function: ca.Function, order: int) -> str:
    """C code of a Function and its derivatives, by the names under which CasADi looks for them."""
    generator = ca.CodeGenerator("gdalembert")
    for each in (function, function.jacobian()):
        generator.add(each)
    if order > 1:
        adjoint = function.reverse(1)
        for each in (adjoint, adjoint.jacobian()):
            generator.add(each)
    return generator.dump()
