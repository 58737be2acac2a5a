"""One Gauss–Newton step of an optimal control problem as one call of C: ``c/gauss_newton.c`` has what it is made of."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.compilation.compiled_function import CompiledFunction
from gdalembert.compilation.machine_code import aligned, opened, source_of
from gdalembert.nlp.stage_qp import StageQP
from gdalembert.spatial.arrays import Array

LARGEST = 1e6
"""A step, relative to the plan, that no plan survives."""
_OUTCOMES = ("", "is not finite", "is out of all proportion", "cannot be evaluated")


class Sizes(NamedTuple):
    """Of a plan: of a step of the state and of the state, of inputs and eliminated unknowns, and of rows of G and S."""

    nx: int
    state: int
    nu: int
    eliminated: int
    intervals: int
    rows: int
    squares: int


class _Function(ctypes.Structure):
    _fields_ = [("of", ctypes.c_void_p), ("arrays", ctypes.c_int64), ("array", ctypes.c_void_p)]


class _Sparse(ctypes.Structure):
    _fields_ = [("entries", ctypes.c_int64), ("place", ctypes.c_void_p), ("entry", ctypes.c_void_p)]


ARRAYS = (
    *("x", "u", "w", "y", "z", "change", "next_x", "next_u", "next_w", "L", "K", "k", "A", "b", "H", "g", "cost"),
    *("G", "lower", "upper", "S", "s", "w_s", "J", "j"),
)
_SPARSE = ("E", "F", "D")
_FUNCTIONS = ("stage", "jump", "start", "retract")
_POINTERS = (*ARRAYS, "x_0", "w1", "w2", "order", *_SPARSE, "set", "lands", *_FUNCTIONS, "program", "memory")
_NUMBERS = ("penalty", "first_gap", "weight", "step", "gap", "infeasibility", "iterations")


class _Tick(ctypes.Structure):
    _fields_ = [
        ("n", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in _POINTERS),
        *((name, ctypes.c_double) for name in _NUMBERS),
    ]


class GaussNewton:
    """A plan, the quadratic program about it, and its next one.

    Functions read and write arrays by the names of their inputs and outputs: what ``c/gauss_newton.c`` names, and what
    ``given`` has. An array of one dimension is the same for all stages, any other has a row for each of N + 1.

    Args:
        sizes: of the plan. ``order``: of the eliminated unknowns in L.
        given: further arrays of Functions by name, which the caller fills.

    Attributes:
        sizes, qp: the quadratic program.
        arrays: by name.
        order, functions, patterns, tick: as given, and all of it as C takes it.
        set, lands: of each of N + 1 stages its set, and of N intervals the set of the jump behind it, or −1.
    """

    def __init__(
        self, sizes: Sizes, order: Sequence[int], given: Mapping[str, Array], *, penalty: float, first_gap: float
    ) -> None:
        self.sizes, n = sizes, sizes.intervals
        self.qp = StageQP(sizes.nx, sizes.nu, n, rows=sizes.rows)
        nx, m, squares, wide = sizes.nx, sizes.eliminated, sizes.squares, self.qp.wide
        shapes: dict[str, tuple[int, ...]] = {"x": (sizes.state,), "u": (sizes.nu,), "w": (m,)}
        shapes |= {f"next_{name}": shape for name, shape in shapes.items()}
        shapes |= {"y": (sizes.state,), "z": (wide,), "change": (m,), "cost": (1,), "J": (nx, nx), "j": (nx,)}
        shapes |= {"L": (m, m), "K": (m, wide), "k": (m,)}
        shapes |= {"S": (squares, wide), "s": (squares,), "w_s": (squares,)}
        self.arrays: dict[str, Array] = {name: aligned(n + 1, *shape) for name, shape in shapes.items()}
        self.arrays |= {"x_0": aligned(sizes.state), "delta": aligned(nx)}
        self.arrays |= {name: self.qp.memory[name] for name in ("A", "b", "H", "g", "G", "lower", "upper")}
        self.arrays |= given
        self.arrays["x_next"] = self.arrays["x"][1:]
        self.set, self.lands = np.zeros(n + 1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        self._library = _library(sizes)
        self._kept: list[Any] = []
        self.tick = _Tick(n=n, penalty=penalty, first_gap=first_gap)
        self.order = np.array(order, dtype=np.int64)
        self.tick.order = self.order.ctypes.data
        for name in ARRAYS:
            setattr(self.tick, name, self.arrays[name].ctypes.data)
        for name in ("w1", "w2", "x_0"):
            setattr(self.tick, name, self.qp.memory[name].ctypes.data)
        self.tick.set, self.tick.lands = self.set.ctypes.data, self.lands.ctypes.data
        self.tick.program = ctypes.addressof(self.qp.program)
        self.tick.memory = self.qp.workspace.ctypes.data
        self.qp.soften(1.0, 1.0)
        self._delta = self.arrays["delta"].ctypes.data

    def connect(
        self,
        stages: Sequence[CompiledFunction],
        sparse: Mapping[str, Sequence[ca.Sparsity]],
        jumps: Sequence[CompiledFunction | None],
        start: CompiledFunction,
        retract: CompiledFunction,
    ) -> None:
        """Take the Functions: of each set its stage, and its jump, if it is ever jumped to.

        ``sparse``: of E, F and D by name the pattern of each set.
        """
        for name, patterns in sparse.items():
            self.arrays[name] = aligned(len(self.set), max(pattern.nnz() for pattern in patterns))
            entries = (_Sparse * len(patterns))(*(self._pattern(name, pattern) for pattern in patterns))
            self._kept.append(entries)
            setattr(self.tick, name, ctypes.addressof(entries))
        self.functions: dict[str, Sequence[CompiledFunction | None]] = {"stage": stages, "jump": jumps}
        self.functions |= {"start": [start], "retract": [retract]}
        self.patterns = sparse
        for name, functions in self.functions.items():
            table = (_Function * len(functions))(*map(self._function, functions))
            self._kept.append(table)
            setattr(self.tick, name, ctypes.addressof(table))

    def prepare(self, shift: int) -> bool:
        """Cut off the first intervals, the last instant standing for those behind it, and make the quadratic program
        about the plan; whether its Functions could be evaluated.
        """
        return not self._library.gauss_newton_prepare(ctypes.byref(self.tick), shift)

    def step(self, iterations: int, shift: int | None = None) -> str:
        """Move the plan to the minimum from ``arrays["x_0"]`` on; why it was not moved, or "" if it was.

        With ``shift`` after :meth:`prepare`, in one call of C, which nothing interrupts.
        """
        tick, library = ctypes.byref(self.tick), self._library
        if shift is None:
            return _OUTCOMES[library.gauss_newton_step(tick, self._delta, iterations, LARGEST)]
        return _OUTCOMES[library.gauss_newton_tick(tick, self._delta, shift, iterations, LARGEST)]

    @property
    def found(self) -> dict[str, float]:
        """Of the last step: its size relative to the plan, and what is left of the gap and of violations."""
        return {name: getattr(self.tick, name) for name in ("step", "gap", "infeasibility")}

    @property
    def iterations(self) -> int:
        """Of the interior point in the last step."""
        return int(self.tick.iterations)

    @property
    def cost(self) -> float:
        """Of the plan before the last step."""
        return float(self.arrays["cost"].sum())

    def _pattern(self, name: str, pattern: ca.Sparsity) -> _Sparse:
        places = np.column_stack(pattern.get_triplet()).astype(np.int64)
        self._kept.append(places)
        return _Sparse(len(places), places.ctypes.data, self.arrays[name].ctypes.data)

    def _function(self, function: CompiledFunction | None) -> _Function:
        if function is None:
            return _Function(None, 0, None)
        ports = []
        for name, shape in (*function.inputs.items(), *function.outputs.items()):
            array = self.arrays[name]
            ports += [array.ctypes.data, math.prod(shape) if array.ndim > 1 else 0]
        table = np.array(ports, dtype=np.int64)
        self._kept += [function, table]
        return _Function(function.address, len(ports) // 2, table.ctypes.data)


def _library(sizes: Sizes) -> ctypes.CDLL:
    text = source_of(__package__, macros_of(sizes), "stage_qp.c", "gauss_newton.c")

    def usable(path: Path) -> ctypes.CDLL:
        library = ctypes.CDLL(str(path))
        pointer, integer, real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
        arguments = {
            "prepare": (pointer, integer),
            "step": (pointer, pointer, integer, real),
            "tick": (pointer, pointer, integer, integer, real),
        }
        for name, types in arguments.items():
            function = getattr(library, f"gauss_newton_{name}")
            function.argtypes, function.restype = types, integer
        return library

    return opened("rti", text, usable)


def macros_of(sizes: Sizes) -> dict[str, int]:
    of_qp = {"NX": sizes.nx, "NU": sizes.nu, "NG": sizes.rows}
    return of_qp | {"STATE": sizes.state, "ELIMINATED": sizes.eliminated, "SQUARES": sizes.squares}
