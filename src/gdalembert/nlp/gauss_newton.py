"""One Gauss–Newton step of an optimal control problem as one call of C: ``c/gauss_newton.c`` has what it is made of."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
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
_TURNED, _LEAST_LENGTH = 0.3, 1 / 16
"""The cosine between two steps beyond which they go on, or to and fro, and the least length of those that do."""
_DESCENT, _SHORTEST = 1e-4, 1e-4
"""The part of the gain of a line search that must be had, and the least length that it takes."""
_KEPT, _FALLS, _MOST_RAISED = 1e-6, 0.9, 1e6
"""The violation of soft limits that counts as none, by what it falls if a larger weight helps, and the largest one."""
_OUTCOMES = ("", "is not finite", "is out of all proportion", "cannot be evaluated")


class Sizes(NamedTuple):
    """Numbers of entries of a plan.

    Attributes:
        nx, state: of a step of the state, and of the state. ``nu``: of inputs. ``eliminated``: of eliminated unknowns.
        intervals: N. ``rows``, ``squares``: of G and of S.
        free: the entries of the first step that are variables.
    """

    nx: int
    state: int
    nu: int
    eliminated: int
    intervals: int
    rows: int
    squares: int
    free: tuple[int, ...] = ()


class _Function(ctypes.Structure):
    _fields_ = [("of", ctypes.c_void_p), ("arrays", ctypes.c_int64), ("array", ctypes.c_void_p)]


class _Sparse(ctypes.Structure):
    _fields_ = [("entries", ctypes.c_int64), ("place", ctypes.c_void_p), ("entry", ctypes.c_void_p)]


ARRAYS = (
    *("x", "u", "w", "y", "z", "change", "next_x", "next_u", "next_w", "L", "K", "k", "A", "b", "H", "g", "cost"),
    *("G", "lower", "upper", "S", "s", "w_s", "J", "j"),
)
_SPARSE = ("E", "F", "R", "D")
_FUNCTIONS = ("stage", "jump", "start", "retract")
_POINTERS = (*ARRAYS, "x_0", "w1", "w2", "order", *_SPARSE, "set", "lands", *_FUNCTIONS, "program", "memory")
_NUMBERS = ("penalty", "first_gap", "weight", "raised", "step", "gap", "infeasibility", "iterations")


class _Tick(ctypes.Structure):
    _fields_ = [
        ("n", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in _POINTERS),
        *((name, ctypes.c_double) for name in _NUMBERS),
    ]


class GaussNewton:
    """A plan, the quadratic program about it, and its next one.

    Functions read and write arrays by the names of their inputs and outputs: those that ``c/gauss_newton.c`` names, and
    ``others``. An array of one dimension is the same for all stages, any other has a row for each of N + 1.

    Args:
        sizes: of the plan. ``order``: of the eliminated unknowns in L.
        others: further arrays of Functions by name, which the caller fills.

    Attributes:
        sizes, qp: the quadratic program.
        arrays: by name.
        order, functions, patterns, tick: as given, and all of it as C takes it.
        set, lands: of each of N + 1 stages its set, and of N intervals the set of the jump behind it, or −1.
    """

    def __init__(
        self, sizes: Sizes, order: Sequence[int], others: Mapping[str, Array], *, penalty: float, first_gap: float
    ) -> None:
        self.sizes, n = sizes, sizes.intervals
        self.qp = StageQP(sizes.nx, sizes.nu, n, rows=sizes.rows, free=sizes.free)
        nx, m, squares, wide = sizes.nx, sizes.eliminated, sizes.squares, self.qp.wide
        shapes: dict[str, tuple[int, ...]] = {"x": (sizes.state,), "u": (sizes.nu,), "w": (m,)}
        shapes |= {f"next_{name}": shape for name, shape in shapes.items()}
        shapes |= {"y": (sizes.state,), "z": (wide,), "change": (m,), "cost": (1,), "J": (nx, nx), "j": (nx,)}
        shapes |= {"L": (m, m), "K": (m, wide), "k": (m,)}
        shapes |= {"S": (squares, wide), "s": (squares,), "w_s": (squares,)}
        self.arrays: dict[str, Array] = {name: aligned(n + 1, *shape) for name, shape in shapes.items()}
        self.arrays |= {"x_0": aligned(sizes.state), "delta": aligned(nx)}
        self.arrays |= {name: self.qp.memory[name] for name in ("A", "b", "H", "g", "G", "lower", "upper")}
        self.arrays |= others
        self.arrays["x_next"] = self.arrays["x"][1:]
        self.set, self.lands = np.zeros(n + 1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        self._library = _library(sizes)
        self._kept: list[Any] = []
        self.tick = _Tick(n=n, penalty=penalty, first_gap=first_gap, raised=1.0)
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

        ``sparse``: of E, F, R and D by name the pattern of each set.
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

    def settle(self, iterations: int, plain: int, searched: int, small: float, check: Callable[[], None]) -> str:
        """Take steps until one is small; why the last one was not taken, or "" if it was.

        The weight of soft limits follows the cost, which may be less than their forces: a plan that settles beyond them
        is settled again with ten times the weight for as long as it comes nearer, and ticks keep the factor.

        Args:
            iterations: of the interior point. ``small``: the size of a step, relative to the plan.
            plain, searched: steps without and with a line search, at most.
            check: called before each step; it may raise.
        """
        tick, names, former = self.tick, ("weight", "raised", *self.found), np.inf
        tick.weight, tick.raised = 0.0, 1.0
        while True:  # returns where a larger weight is of no use
            plan = {name: self.arrays[name].copy() for name in ("x", "u", "w", "cost")}
            numbers = [getattr(tick, name) for name in names]
            if former < np.inf:
                tick.weight, tick.raised = 0.0, 10 * tick.raised
            reason = self._settle(iterations, plain, searched, small, check)
            is_settled, violation = not reason and tick.step < small, float(self._beyond(self.arrays["z"]).max())
            if former < np.inf and not (is_settled and violation < _FALLS * former):
                for name, values in plan.items():
                    self.arrays[name][:] = values
                for name, number in zip(names, numbers, strict=True):
                    setattr(tick, name, number)
                return ""
            if tick.penalty or not is_settled or violation < _KEPT or tick.raised >= _MOST_RAISED:
                return reason
            former = violation

    def _settle(self, iterations: int, plain: int, searched: int, small: float, check: Callable[[], None]) -> str:
        """The same, with one factor of the weight.

        A step that turns back against the one before it halves the length of steps, one that goes on doubles it: full
        ones go to and fro for ever where limits are reached with the one sign and the other. None is larger than the
        plan: from a guess at rest, that of a skate leads to 1e9 m. Where so many ``plain`` steps do not settle, up to
        ``searched`` more are halved until they lower the cost with the penalties of soft limits and of gaps, as the
        quadratic program says that they do (Nocedal and Wright 2006, 18.3).
        """
        length, former, gap_weight, defined = 1.0, np.zeros_like(self.arrays["z"]), 0.0, self.prepare(0)
        for count in range(plain + searched):
            check()
            plan = [self.arrays[name].copy() for name in "xuw"]
            reason = self.step(iterations) if defined else _OUTCOMES[3]
            if reason or self.tick.step < small:
                return reason
            z, change = self.arrays["z"].copy(), self.arrays["change"].copy()
            turn, sizes = float(np.sum(z * former)), float(np.linalg.norm(z) * np.linalg.norm(former))
            if abs(turn) > _TURNED * sizes:
                length = max(length / 2, _LEAST_LENGTH) if turn < 0 else min(2 * length, 1.0)
            former, merit, gain = z, np.inf, 0.0
            if count >= plain:
                length, gap = 1.0, self._gap(self.arrays["delta"])
                cost = self._penalized_cost(0 * z)
                gain = cost - self._penalized_cost(z)
                gap_weight = max(gap_weight, -2 * gain / gap) if gap else gap_weight
                merit, gain = cost + gap_weight * gap, gain + gap_weight * gap
            part = min(length, 1 / self.tick.step)
            while True:
                if part < 1:
                    self._retract(plan, part * z, part * change)
                defined = self.prepare(0)
                if defined and count >= plain - 1:  # a merit is one of x and u, whose w solve their equations
                    self.arrays["w"][:-1] += self.arrays["k"][:-1]
                    defined = self.prepare(0)
                gap = self._gap((1 - part) * self.arrays["delta"])
                if self._penalized_cost(0 * z) + gap_weight * gap < merit - _DESCENT * part * gain or part < _SHORTEST:
                    break
                part /= 2
        return ""

    def _retract(self, plan: Sequence[Array], z: Array, change: Array) -> None:
        """Move from another plan by z and the change of w."""
        retract = self.functions["retract"][0]
        for name, values in zip("xuw", retract.batch(*plan, z, change) if retract else plan, strict=True):
            self.arrays[name][:] = values

    def _gap(self, start: Array) -> float:
        """The sum of what is left to the start and between stages."""
        return float(np.abs(start).sum() + np.abs(self.qp.offset).sum())

    def _penalized_cost(self, z: Array) -> float:
        """The cost at z with the penalties of soft limits, as the quadratic program has it."""
        memory = self.qp.memory
        hessian = np.triu(self.qp.hessian)
        x = z[:, : hessian.shape[1]]
        twice = np.einsum("ki,kij,kj->", x, hessian, x) - np.einsum("ki,kii,ki->", x, hessian, x) / 2
        beyond = self._beyond(z)
        penalties = np.sum(beyond * (memory["w1"] + memory["w2"] * beyond / 2))
        return float(self.cost + np.sum(memory["g"] * z) + twice + penalties)

    def _beyond(self, z: Array) -> Array:
        """The violations of soft limits at z, as the quadratic program has them, a row for each instant."""
        memory, first, count = self.qp.memory, self.qp.wide, self.sizes.rows
        values = np.zeros_like(memory["lower"])
        values[:, :first] = z
        values[:, first : first + count] = np.einsum("kri,ki->kr", memory["G"], z)
        beyond = np.maximum(np.maximum(memory["lower"] - values, values - memory["upper"]), 0.0)
        beyond[0, self.sizes.nu : self.sizes.nu + self.sizes.nx] *= memory["free"]  # the others are given
        beyond[:, memory["w1"] < 0] = 0.0
        return np.asarray(beyond)

    @property
    def found(self) -> dict[str, float]:
        """The size of the last step relative to the plan, and the parts of the gap and of violations that it leaves."""
        return {name: getattr(self.tick, name) for name in ("step", "gap", "infeasibility")}

    @property
    def iterations(self) -> int:
        """The number of iterations of the interior point in the last step."""
        return int(self.tick.iterations)

    @property
    def cost(self) -> float:
        """The cost of the plan before the last step."""
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
    text = source_of(__package__, macros_of(sizes), "stage_qp.c", "functions.c", "gauss_newton.c")

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
    """The macros of ``c/gauss_newton.c`` and ``c/stage_qp.c`` by name."""
    of_qp = {"NX": sizes.nx, "NU": sizes.nu, "NG": sizes.rows, "FREE": int(bool(sizes.free))}
    return of_qp | {"STATE": sizes.state, "ELIMINATED": sizes.eliminated, "SQUARES": sizes.squares}
