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
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.compilation.cache import Cache, remove
from gdalembert.compilation.compiler import INTERPRETER, TIME_LIMIT, Compiler, find_compiler
from gdalembert.errors import CompilationError
from gdalembert.spatial.arrays import Array

One = Callable[[tuple[Any, ...], tuple[Array, ...]], int]
"""Evaluates one state from all inputs to all outputs; returns 0, or another number if inputs must be checked first."""


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
    """Machine code: CasADi's, and :data:`_C` around it."""

    def __init__(self, path: Path) -> None:
        self.path: Path | None = path
        holding = ctypes.PyDLL(str(path))
        shares_memory = holding.gdalembert_shares_memory()
        holding.gdalembert_one.restype = ctypes.py_object
        python = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in _PYTHON]
        self.one: One = holding.gdalembert_one((ctypes.c_void_p * len(python))(*python))
        self._many = (holding if shares_memory else ctypes.CDLL(str(path))).gdalembert_many
        self._many.restype = ctypes.c_longlong

    def many(self, n: int, inputs: Sequence[Array], outputs: Sequence[Array]) -> int:
        """n states (n, …); k + 1 if state k fails, -1 without memory."""
        steps = [(x.ctypes.data, x.strides[0] // x.itemsize) for x in (*inputs, *outputs)]
        task = np.array([n, *(number for step in steps for number in step)], dtype=np.int64)
        return int(self._many(ctypes.c_void_p(task.ctypes.data)))


# Python's stable ABI is declared here, for its headers are seldom installed where there is a compiler.
_PYTHON = (
    *("PyTuple_Size", "PyTuple_GetItem", "PyObject_GetBuffer", "PyBuffer_Release"),
    *("PyErr_Clear", "PyLong_FromLongLong", "PyCFunction_NewEx"),
)
_C = """
#include <stddef.h>
#include <stdlib.h>

/* task: n, then the address of each input and output and its step from state to state. */
CASADI_SYMBOL_EXPORT casadi_int gdalembert_many(const casadi_int* task) {
  casadi_int n_arg, n_res, n_iw, n_w, i, k, n = *task++, failed = 0;
  gdalembert_evaluate_work(&n_arg, &n_res, &n_iw, &n_w);
  const casadi_real** arg = (const casadi_real**) malloc(8 * (n_arg + n_res + n_iw + n_w + 1));
  if (!arg) return -1;
  casadi_real** res = (casadi_real**) (arg + n_arg);
  casadi_int* iw = (casadi_int*) (res + n_res);
  casadi_real* w = (casadi_real*) (iw + n_iw);
  int mem = gdalembert_evaluate_checkout();
  for (k = 0; k < n && !failed; ++k) {
    for (i = 0; i < N_IN; ++i) arg[i] = (const casadi_real*) task[2 * i] + k * task[2 * i + 1];
    for (i = N_IN; i < N; ++i) res[i - N_IN] = (casadi_real*) task[2 * i] + k * task[2 * i + 1];
    if (gdalembert_evaluate(arg, res, iw, w, mem)) failed = k + 1;
  }
  gdalembert_evaluate_release(mem);
  free(arg);
  return failed;
}

typedef struct {
  void *buf, *obj; ptrdiff_t len, itemsize; int readonly, ndim; char* format; ptrdiff_t *shape, *strides, *suboffsets;
  void* internal;
} buffer;
typedef struct { const char* name; void* call; int flags; const char* doc; } method;
static ptrdiff_t (*count)(void*);
static void* (*get_item)(void*, ptrdiff_t);
static int (*get_buffer)(void*, buffer*, int);
static void (*release_buffer)(buffer*);
static void (*clear_error)(void);
static void* (*new_int)(long long);

static int overlap(const buffer* x, const buffer* y) {
  const char *a = x->buf, *b = y->buf;
  return a < b + y->len && b < a + x->len;
}

/* One state, called from Python with the tuples of inputs and outputs. 0: done; otherwise they must be checked. */
static void* one(void* self, void* const* tuples, ptrdiff_t n) {
  casadi_int task[2 * N + 1] = {1}, code = 1;
  buffer held[N + 1], *b = held;
  int i, k, fit = count(tuples[0]) == N_IN && count(tuples[1]) == N - N_IN;
  for (i = 0; i < N && fit; ++i) {
    const ptrdiff_t* shape = shapes[i];
    void* array = i < N_IN ? get_item(tuples[0], i) : get_item(tuples[1], i - N_IN);
    if (get_buffer(array, b, i < N_IN ? 0x3c : 0x3d)) { /* in C order, with its format; writable */
      clear_error();
      fit = 0;
      break;
    }
    fit = b->format[0] == 'd' && !b->format[1] && b->ndim == shape[0] && b->shape[0] == shape[1] &&
          (b->ndim == 1 || b->shape[1] == shape[2]);
    task[2 * i + 1] = (casadi_int) b++->buf;
  }
  for (i = 0; i < N_IN && fit; ++i)
    for (k = N_IN; k < N; ++k) fit = fit && !overlap(held + i, held + k);
  if (fit) code = gdalembert_many(task);
  while (b > held) release_buffer(--b);
  return new_int(code);
}

CASADI_SYMBOL_EXPORT void* gdalembert_one(void* const* python) {
  static method definition = {"one", one, 0x80, 0}; /* a function of an array of arguments */
  count = python[0], get_item = python[1], get_buffer = python[2], release_buffer = python[3];
  clear_error = python[4], new_int = python[5];
  return ((void* (*)(method*, void*, void*)) python[6])(&definition, 0, 0);
}
"""


def _source(function: ca.Function, graph: ca.Function) -> str:
    """The C code of a Function, whose graph is :func:`row_major`."""
    generator = ca.CodeGenerator("gdalembert")
    generator.add(graph)
    code = generator.dump()
    sizes = [function.size_in(i) for i in range(function.n_in())]
    sizes += [function.size_out(i) for i in range(function.n_out())]
    shapes = ", ".join(f"{{{len(shape_of(size))}, {size[0]}, {size[1]}}}" for size in [*sizes, (0, 0)])
    shares_memory = int("_alloc_mem" in code)  # solvers; their memory is handed out without a lock
    return f"""{code}
#include <stddef.h>
enum {{ N_IN = {function.n_in()}, N = {len(sizes)} }};
static const ptrdiff_t shapes[][3] = {{{shapes}}};
CASADI_SYMBOL_EXPORT int gdalembert_shares_memory(void) {{ return {shares_memory}; }}{_C}"""


def _key(graph: ca.Function, compiler: Compiler) -> str:
    """All that determines the library of a graph."""
    writer = (ca.CasadiMeta.version(), inspect.getsource(sys.modules[__name__]))
    return hashlib.sha256("\0".join((graph.serialize(), *writer, *compiler.key)).encode()).hexdigest()


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
    name, graph = function.name(), row_major(function)
    tool = find_compiler(name, compiler, flags, time_limit)
    key = _key(graph, tool)
    libraries = Cache(cache, name)
    try:
        for path in libraries.libraries(key):
            try:
                return Library(path)
            except (OSError, AttributeError):  # a library of something else
                remove(path)
        with libraries.build() as folder:
            path = libraries.add(key, tool.build(_source(function, graph), folder))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CompilationError(
            name,
            f"cannot use the cache folder {libraries.folder}: {reason}; set GDALEMBERT_CACHE to a folder of your own",
        ) from error
    try:
        return Library(path)
    except (OSError, AttributeError) as error:
        remove(path)
        raise CompilationError(
            name,
            f"the library that {tool.command[0]} built does not load from {libraries.folder}: {error}; "
            f"try another compiler, or another folder for GDALEMBERT_CACHE; {INTERPRETER}",
        ) from error
