"""The control of a motion: u as an expression of (t, x) and of numbers that are constant between two output times.

Feedback may depend on the parameters p of the robot, too, which are constant in a motion. Where wrenches act on the
robot, u here is what drives it in all: the efforts of the actuators, then the wrenches, column by column.
"""

from __future__ import annotations

import contextlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.spatial.arguments import MASKED, call_of, is_masked, number, numbers, real
from gdalembert.spatial.arrays import Array

Law = Callable[[float, Array, Array], npt.ArrayLike] | Callable[[float, Array, Array, Array], npt.ArrayLike]
"""(t, q, v) → u, or (t, q, v, p) → u."""
_ROUNDING = 1e-9
"""Relative to the period: an output time as near to a sample as this is that sample."""
_MOST = 10_000_000


@dataclass(frozen=True)
class Driver:
    """An argument of ``simulate`` that drives the robot, and its shape at one time: u (nu), or that of wrenches."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(np.prod(self.shape))

    def rows(self, values: Array, times: int | None = None) -> Array | None:
        """Value at one time, or at some times, as vectors (size) or (times × size); ``None`` for other shapes.

        A lone entry needs no axis of its own.
        """
        lead = () if times is None else (times,)
        wanted = (*lead, *self.shape)
        if wanted[-1] == 1 and values.shape == wanted[:-1]:
            values = values[..., None]
        if values.shape != wanted:
            return None
        return values.swapaxes(len(lead), -1).reshape(*lead, self.size)


@dataclass
class ControlFailure:
    """A failure of Python callables: the first exception, and the reason in words."""

    error: BaseException | None = None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Grid:
    """The times (N) [s] at which a motion is interrupted, rising: output times, and samples of a digital controller.

    Attributes:
        is_output, is_sample: whether each of them is an output time, and whether a callable that is held is called.
    """

    t: Array
    is_output: npt.NDArray[np.bool_]
    is_sample: npt.NDArray[np.bool_]

    @staticmethod
    def of(outputs: Array, period: float | None) -> Grid:
        """The grid of output times; a callable that is held is called at all, or each ``period`` from the first on."""
        if period is None:
            every = np.ones(len(outputs), dtype=bool)
            return Grid(outputs, every, every)
        duration = outputs[-1] - outputs[0]
        if (count := duration / number("simulate: period", period, "s")) > _MOST:
            raise ArgumentError(f"simulate: period={period:g} s makes {count:.3g} samples; give at most {_MOST:g}")
        # k periods, and not a sum of k of them, which would drift by the rounding of each
        samples = outputs[0] + period * np.arange(int(count + _ROUNDING) + 1)
        after = np.clip(np.searchsorted(outputs, samples), 1, len(outputs) - 1)
        near = np.where(samples - outputs[after - 1] < outputs[after] - samples, outputs[after - 1], outputs[after])
        samples = np.where(np.abs(samples - near) <= _ROUNDING * period, near, samples)
        t = np.union1d(outputs, samples)
        return Grid(t, np.isin(t, outputs), np.isin(t, samples))


class Control(ABC):
    """A control that drives a robot; by default the numbers of an interval, held until the next output time.

    Attributes:
        numbers: number of constants that an interval needs.
        laws: the Python callables that are evaluated within the intervals.
        key: what its expression is made of beside numbers; controls of one key have the same expression.
        is_sampled: whether a Python callable is called at the samples of a grid only.
        is_held: whether u jumps at each output time, and is constant before it.
    """

    numbers: int = 0
    laws: tuple[PythonFeedback, ...] = ()
    key: tuple[Hashable, ...] = ()
    is_sampled: bool = False
    is_held: bool = True

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX, p: ca.MX, called: ca.MX | None = None) -> ca.MX:
        """The control u within an interval; with ``called`` in place of what the Python callables return."""
        return numbers

    def interval(self, k: int, x: Array) -> Array:
        """The constant numbers of the interval that starts at output time k in the state x."""
        return self.at(k, 0.0, x)

    @abstractmethod
    def at(self, k: int, t: float, x: Array) -> Array:
        """The control u at output time k and just after it."""

    def before(self, u: Array) -> Array:
        """The control u just before each output time, from u just after them (rows)."""
        return np.vstack([u[:1], u[:-1]]) if self.is_held else u


class ZeroOrderHold(Control):
    """One row of u for each output time, held until the next one."""

    def __init__(self, table: Array) -> None:
        self.table, self.numbers = table, table.shape[1]
        self.key = ("held", self.numbers)

    def at(self, k: int, t: float, x: Array) -> Array:
        return np.asarray(self.table[k])


class FirstOrderHold(ZeroOrderHold):
    """One row of u for each output time, linear in between."""

    is_held = False

    def __init__(self, table: Array, t: Array) -> None:
        self.table, self.t, self.numbers = table, t, 2 * table.shape[1] + 1
        self.key = ("linear", self.numbers)

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX, p: ca.MX, called: ca.MX | None = None) -> ca.MX:
        n = self.table.shape[1]
        return numbers[:n] + (t - numbers[2 * n]) * numbers[n : 2 * n]

    def interval(self, k: int, x: Array) -> Array:
        slope = (self.table[k + 1] - self.table[k]) / (self.t[k + 1] - self.t[k])
        return np.concatenate([self.table[k], slope, self.t[k : k + 1]])


class ContinuousFeedback(Control):
    """A ``casadi.Function`` (t, x) → u or (t, x, p) → u, or a Python callable wrapped as one; p: behind t and x."""

    is_held = False

    def __init__(self, function: ca.Function, p: tuple[Array, ...] = ()) -> None:
        self.function, self.p = function, p
        self.laws = (function,) if isinstance(function, PythonFeedback) else ()
        self.key = tuple(law.driver for law in self.laws) or (function, len(p))

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX, p: ca.MX, called: ca.MX | None = None) -> ca.MX:
        if self.laws and called is not None:
            return called
        return ca.vec(self.function(t, x, *(p[: len(parameters)] for parameters in self.p)))

    def interval(self, k: int, x: Array) -> Array:
        return np.empty(0)

    def at(self, k: int, t: float, x: Array) -> Array:
        return np.asarray(self.function(t, x, *self.p).full().ravel(order="F"))


class SampledFeedback(Control):
    """A Python callable that is called at the samples of a grid only; its value is held until the next one."""

    is_sampled = True

    def __init__(self, sampled: PythonFeedback, grid: Grid) -> None:
        self.sampled, self.grid, self.numbers = sampled, grid, sampled.driver.size
        self.key = ("held", self.numbers)
        self._values: dict[int, Array] = {}

    def at(self, k: int, t: float, x: Array) -> Array:
        # a dictionary, since an interval that failed is integrated once more
        if k not in self._values:  # called once at each time, and in this order: it may have a memory
            here = float(self.grid.t[k])
            self._values[k] = self.sampled.value(here, x) if self.grid.is_sample[k] else self._values[k - 1]
        return self._values[k]


class SideBySide(Control):
    """Two controls as one: the efforts of the actuators, then the wrenches, which begin at the entry ``split`` of u."""

    def __init__(self, first: Control, second: Control, split: int) -> None:
        self.first, self.second, self.split = first, second, split
        self.numbers, self.laws = first.numbers + second.numbers, first.laws + second.laws
        self.key = (first.key, second.key)
        self.is_sampled = first.is_sampled or second.is_sampled

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX, p: ca.MX, called: ca.MX | None = None) -> ca.MX:
        n, of_first = self.first.numbers, sum(law.driver.size for law in self.first.laws)
        before, after = (None, None) if called is None else (called[:of_first], called[of_first:])
        return ca.vertcat(
            self.first.expression(t, x, numbers[:n], p, before), self.second.expression(t, x, numbers[n:], p, after)
        )

    def interval(self, k: int, x: Array) -> Array:
        return np.concatenate([self.first.interval(k, x), self.second.interval(k, x)])

    def at(self, k: int, t: float, x: Array) -> Array:
        return np.concatenate([self.first.at(k, t, x), self.second.at(k, t, x)])

    def before(self, u: Array) -> Array:
        return np.hstack([self.first.before(u[:, : self.split]), self.second.before(u[:, self.split :])])


class PythonFeedback(ca.Callback):
    """A Python callable as (t, x) → u; its derivatives are finite differences.

    CasADi cannot pass an exception on: the first one of all callables is kept in ``failure``, and u is NaN from then
    on, so that the integrator fails.
    """

    def __init__(
        self, law: Law, nq: int, nx: int, driver: Driver, failure: ControlFailure, p: tuple[Array, ...] = ()
    ) -> None:
        ca.Callback.__init__(self)
        self.law: Callable[..., npt.ArrayLike] = law
        self.nq, self.nx, self.driver, self.failure, self.p = nq, nx, driver, failure, p
        # derivatives for bdf, idas and collocation; radau takes differences of its own, and Adams' method none
        self.construct(driver.name, {"enable_fd": True})

    def get_n_in(self) -> int:
        return 2

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self.nx if i else 1, 1)

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self.driver.size, 1)

    def _called(self, t: float, x: Array) -> Array:
        self.failure.reason = f"{self.driver.name} raised an exception, see above"
        size = self.driver.size
        with call_of(f"simulate: {self.driver.name}(t, q, v) at t = {t:g} s"):
            answer = self.law(t, x[: self.nq].copy(), x[self.nq :].copy(), *(p.copy() for p in self.p))
        try:
            numbers = real(answer)
        except (TypeError, ValueError):
            raise ArgumentTypeError(self._said(answer, t, "real")) from None
        is_row = isinstance(answer, ca.DM) and numbers.shape == (1, size)
        u = self.driver.rows(numbers.ravel() if is_row or numbers.shape == (size, 1) else numbers)
        if u is None:
            raise ArgumentError(self._said(answer, t, "finite"))
        if not np.isfinite(u).all():
            raise ArgumentError(self._said(answer, t, "finite", "returned something not finite"))
        return u

    def _said(self, answer: Any, t: float, kind: str, fault: str = "") -> str:
        """Say what is wrong with an answer, and what to return; the fault is the reason of the failure."""
        name, wanted = self.driver.name, " × ".join(map(str, self.driver.shape))
        self.failure.reason = f"{name} {fault or f'did not return {wanted} real numbers'} at t = {t:g} s"
        return f"simulate: {name}(t, q, v) returned {answer!r} at t = {t:g} s; return {wanted} {kind} numbers"

    def value(self, t: float, x: Array) -> Array:
        """The numbers that the callable returns, or NaN."""
        try:
            if self.failure.error is None and np.all(np.isfinite(x)):
                return self._called(t, x)
        except BaseException as error:  # KeyboardInterrupt must not be lost
            self.failure.error = error
        return np.full(self.driver.size, np.nan)

    def eval(self, arg: Sequence[ca.DM]) -> list[ca.DM]:
        return [ca.DM(self.value(float(arg[0]), arg[1].full().ravel()))]


def is_python(argument: Any) -> bool:
    """True if an argument is a Python callable."""
    return callable(argument) and not isinstance(argument, ca.Function)


def control(
    dyn: Dynamics, u: Any, wrenches: Any, grid: Grid, p: Array, failure: ControlFailure, *, hold: bool, sampled: bool
) -> Control:
    """The control of a robot, from the arguments u and wrenches of ``simulate``.

    Feedback that takes the parameters is given ``p`` (n_p). A callable u is sampled with ``hold`` too; a callable of
    wrenches never is, since the surroundings are no digital controller.
    """
    times, outputs, n_p = grid.t, grid.t[grid.is_output], len(p)
    nq, nx = dyn.tree.nq, dyn.tree.nq + dyn.tree.nv

    def read(driver: Driver, argument: Any, hold: bool) -> Control:
        if argument is None:
            return ZeroOrderHold(np.zeros((len(times), driver.size)))
        if isinstance(argument, ca.Function):
            if hold:
                raise ArgumentError(
                    f"simulate: hold=True takes rows of {driver.name} or a callable, not a casadi.Function; drop hold"
                )
            return ContinuousFeedback(argument, (p,) if _graph_takes_parameters(driver, argument, nx, n_p) else ())
        if callable(argument) and not isinstance(argument, type):
            parameters = (p,) if _takes_parameters(driver, argument, bool(n_p)) else ()
            law = PythonFeedback(argument, nq, nx, driver, failure, parameters)
            return SampledFeedback(law, grid) if hold else ContinuousFeedback(law)
        table = _table(driver, argument, len(outputs))
        if table.ndim == 1:
            return ZeroOrderHold(np.tile(table, (len(times), 1)))
        if hold:
            return ZeroOrderHold(table[np.searchsorted(outputs, times, side="right") - 1])
        return FirstOrderHold(np.column_stack([np.interp(times, outputs, column) for column in table.T]), times)

    efforts = read(Driver("u", (dyn.nu,)), u, hold or sampled)
    external = dyn.external_wrenches
    if not external.is_input:
        if wrenches is not None:
            raise ArgumentError(
                f"simulate: wrenches are given, but {dyn.tree.name} takes none; drop them, or make the robot with "
                "wrenches={frame: reference}"
            )
        return efforts
    acting = read(Driver("wrenches", external.shape), wrenches, hold and not callable(wrenches))
    return SideBySide(efforts, acting, dyn.nu)


def _table(driver: Driver, values: Any, times: int) -> Array:
    """Numbers as one row, or as a row for each output time."""
    name = driver.name
    if is_masked(values):
        raise ArgumentError(f"simulate: {name}: {MASKED}")
    try:
        values = real(values.full().ravel() if isinstance(values, ca.DM) and values.is_column() else values)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"simulate: {name} is {shown(values)}; give real numbers, a casadi.Function (t, x) -> {name}, or a "
            f"callable (t, q, v) -> {name}"
        ) from None
    for lead in (None, times):
        if (table := driver.rows(values, lead)) is not None:
            numbers(f"simulate: {name}", values)
            return table
    raise ArgumentError(
        f"simulate: {name} has shape {values.shape}; give {driver.shape} for a constant, or {(times, *driver.shape)} "
        "with one row for each output time"
    )


def _graph_takes_parameters(driver: Driver, graph: ca.Function, nx: int, n_p: int) -> bool:
    """True if a Function takes (t, x, p), not (t, x)."""
    inputs = [graph.size_in(i) for i in range(graph.n_in())]
    outputs = [graph.size_out(i) for i in range(graph.n_out())]
    takes_p = bool(n_p) and len(inputs) == 3
    if inputs != [(1, 1), (nx, 1), (n_p, 1)][: 2 + takes_p] or outputs != [(*driver.shape, 1)[:2]]:
        result = f"({driver.name}[{'x'.join(map(str, driver.shape))}])"
        wanted = f"(t, x[{nx}]) -> {result}" + f" or (t, x[{nx}], p[{n_p}]) -> {result}" * bool(n_p)
        raise ArgumentError(f"simulate: {driver.name} is {graph}; give a Function {wanted}")
    return takes_p


def _takes_parameters(driver: Driver, law: Law, parametric: bool) -> bool:
    """True if a callable takes (t, q, v, p), not (t, q, v); the latter if Python does not know its signature."""
    try:
        signature = inspect.signature(law)
    except (TypeError, ValueError):
        return False
    for names in ("tqv", "tqvp")[: 1 + parametric]:
        with contextlib.suppress(TypeError):
            signature.bind(*names)
            return len(names) == 4
    name, n = driver.name, len(signature.parameters)
    wanted = f"{name}(t, q, v)" + f" or {name}(t, q, v, p)" * parametric
    raise ArgumentTypeError(f"simulate: {name} takes {n} argument{'' if n == 1 else 's'}; give {wanted}")
