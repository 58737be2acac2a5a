"""The control of a motion: u as an expression of (t, x) and of numbers that are constant between two output times.

Feedback may depend on the parameters p of the robot, too, which are constant in a motion. Where wrenches act on the
robot, u here is what drives it in all: the efforts of the actuators, then the wrenches, column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.simulation.grid import Grid
from gdalembert.spatial.arguments import real
from gdalembert.spatial.arrays import Array

Law = Callable[[float, Array, Array], npt.ArrayLike] | Callable[[float, Array, Array, Array], npt.ArrayLike]
"""(t, q, v) → u, or (t, q, v, p) → u."""


@dataclass(frozen=True)
class Driver:
    """An argument of ``simulate`` that drives the robot: u (nu), or wrenches (6 × n).

    Attributes:
        name: of the argument. ``shape``: of its value at one time.
    """

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return int(np.prod(self.shape))

    @property
    def described(self) -> str:
        """Its shape in words: ``2``, ``6 × 2``."""
        return " × ".join(map(str, self.shape))

    def rows(self, values: Array, times: int | None = None) -> Array | None:
        """Its value at one time, or at some times, as vectors (size) or (times × size); ``None`` for other shapes.

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
class Failure:
    """What went wrong in Python callables: the first exception, and the reason in words."""

    error: BaseException | None = None
    reason: str = ""


@dataclass(frozen=True)
class ZeroOrderHold:
    """One row of u for each output time, held until the next one."""

    table: Array
    law: ClassVar[PythonLaw | None] = None
    """The Python callable, if u is one that is evaluated within the intervals."""

    @property
    def numbers(self) -> int:
        """How many constant numbers an interval needs."""
        return int(self.table.shape[1])

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX, called: ca.MX | None = None) -> ca.MX:
        """u within an interval; with ``called`` in place of what the Python callable returns."""
        return numbers

    def interval(self, k: int, x: Array) -> Array:
        """The constant numbers of the interval that starts at output time k in the state x."""
        return np.asarray(self.table[k])

    def at(self, k: int, t: float, x: Array) -> Array:
        """u at output time k and just after it."""
        return np.asarray(self.table[k])

    def before(self, k: int, u: Array) -> Array:
        """u just before output time k > 0; ``u`` has the rows of all output times."""
        return np.asarray(u[k - 1])


@dataclass(frozen=True)
class FirstOrderHold(ZeroOrderHold):
    """One row of u for each output time, linear in between."""

    t: Array

    @property
    def numbers(self) -> int:
        return 2 * int(self.table.shape[1]) + 1

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX, called: ca.MX | None = None) -> ca.MX:
        n = self.table.shape[1]
        return numbers[:n] + (t - numbers[2 * n]) * numbers[n : 2 * n]

    def interval(self, k: int, x: Array) -> Array:
        slope = (self.table[k + 1] - self.table[k]) / (self.t[k + 1] - self.t[k])
        return np.concatenate([self.table[k], slope, self.t[k : k + 1]])

    def before(self, k: int, u: Array) -> Array:
        return np.asarray(u[k])


@dataclass(frozen=True)
class ContinuousFeedback:
    """A ``casadi.Function`` (t, x) → u or (t, x, p) → u, or a Python callable wrapped as one.

    Attributes:
        p: the inputs behind t and x.
    """

    function: ca.Function
    p: tuple[Array, ...] = ()
    numbers: int = 0

    @property
    def law(self) -> PythonLaw | None:
        return self.function if isinstance(self.function, PythonFeedback) else None

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX, called: ca.MX | None = None) -> ca.MX:
        return ca.vec(self.function(t, x, *self.p)) if called is None or self.law is None else called

    def interval(self, k: int, x: Array) -> Array:
        return np.empty(0)

    def at(self, k: int, t: float, x: Array) -> Array:
        return np.asarray(self.function(t, x, *self.p).full().ravel(order="F"))

    def before(self, k: int, u: Array) -> Array:
        return np.asarray(u[k])


@dataclass(frozen=True)
class SampledFeedback:
    """A Python callable that is called at the samples of a grid only; its value is held until the next one."""

    sampled: PythonFeedback
    grid: Grid
    numbers: int
    values: dict[int, Array] = field(default_factory=dict)
    law: ClassVar[PythonLaw | None] = None

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX, called: ca.MX | None = None) -> ca.MX:
        return numbers

    def interval(self, k: int, x: Array) -> Array:
        return self.at(k, float(self.grid.t[k]), x)

    def at(self, k: int, t: float, x: Array) -> Array:
        if k not in self.values:  # called once at each time, and in this order: it may have a memory
            self.values[k] = self.sampled.value(t, x) if self.grid.is_sample[k] else self.values[k - 1]
        return self.values[k]

    def before(self, k: int, u: Array) -> Array:
        return np.asarray(u[k - 1])


@dataclass(frozen=True)
class SideBySide:
    """Two controls as one: the efforts of the actuators, then the wrenches.

    Attributes:
        split: where the entries of the second begin.
    """

    first: Control
    second: Control
    split: int

    @property
    def law(self) -> PythonLaw | None:
        laws = [control.law for control in (self.first, self.second) if control.law is not None]
        return BothLaws(*laws) if len(laws) == 2 else next(iter(laws), None)

    @property
    def numbers(self) -> int:
        return self.first.numbers + self.second.numbers

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX, called: ca.MX | None = None) -> ca.MX:
        own = (self.first, numbers[: self.first.numbers]), (self.second, numbers[self.first.numbers :])
        parts, done = [], 0
        for control, each in own:
            end = done + (control.law.nu if control.law else 0)
            parts.append(control.expression(t, x, each, None if called is None else called[done:end]))
            done = end
        return ca.vertcat(*parts)

    def interval(self, k: int, x: Array) -> Array:
        return np.concatenate([self.first.interval(k, x), self.second.interval(k, x)])

    def at(self, k: int, t: float, x: Array) -> Array:
        return np.concatenate([self.first.at(k, t, x), self.second.at(k, t, x)])

    def before(self, k: int, u: Array) -> Array:
        parts = self.first.before(k, u[:, : self.split]), self.second.before(k, u[:, self.split :])
        return np.concatenate(parts)


Control = ZeroOrderHold | FirstOrderHold | ContinuousFeedback | SampledFeedback | SideBySide


def is_sampled(control: Control) -> bool:
    """Whether a Python callable is called at the samples of a grid only."""
    if isinstance(control, SideBySide):
        return is_sampled(control.first) or is_sampled(control.second)
    return isinstance(control, SampledFeedback)


class PythonLaw(Protocol):
    """What Python callables return at (t, x)."""

    @property
    def nu(self) -> int: ...

    @property
    def failure(self) -> Failure: ...

    def value(self, t: float, x: Array) -> Array: ...


@dataclass(frozen=True)
class BothLaws:
    """What two callables return, one after the other."""

    first: PythonLaw
    second: PythonLaw

    @property
    def nu(self) -> int:
        return self.first.nu + self.second.nu

    @property
    def failure(self) -> Failure:
        return self.first.failure

    def value(self, t: float, x: Array) -> Array:
        return np.concatenate([self.first.value(t, x), self.second.value(t, x)])


class PythonFeedback(ca.Callback):
    """A Python callable as (t, x) → u; its derivatives are finite differences.

    CasADi cannot pass an exception on: the first one of all callables is kept in ``failure``, and u is NaN from then
    on, so that the integrator fails.
    """

    def __init__(self, law: Law, nq: int, nv: int, driver: Driver, failure: Failure, p: tuple[Array, ...] = ()) -> None:
        ca.Callback.__init__(self)
        self.nq, self.nv, self.nu, self.p = nq, nv, driver.size, p
        self.law: Callable[..., npt.ArrayLike] = law
        self.driver, self.failure = driver, failure
        self._nan = np.full(self.nu, np.nan)
        self.construct(driver.name, {"enable_fd": True})

    def get_n_in(self) -> int:
        return 2

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self.nq + self.nv if i else 1, 1)

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self.nu, 1)

    def _called(self, t: float, x: Array) -> Array:
        self.failure.reason = f"{self.driver.name} raised an exception, see above"
        answer = self.law(t, x[: self.nq].copy(), x[self.nq :].copy(), *(p.copy() for p in self.p))
        self.failure.reason = ""
        try:
            given = real(answer)
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"{self._said(answer, t)}; return {self.driver.described} real numbers") from None
        is_row = isinstance(answer, ca.DM) and given.shape == (1, self.nu)
        u = self.driver.rows(given.ravel() if is_row or given.shape == (self.nu, 1) else given)
        if u is None:
            raise ArgumentError(f"{self._said(answer, t)}; return {self.driver.described} finite numbers")
        if not np.isfinite(u).all():
            self.failure.reason = f"{self.driver.name} returned something not finite at t = {t:g} s"
            raise ArgumentError(f"{self._said(answer, t)}; return {self.driver.described} finite numbers")
        return u

    def _said(self, answer: Any, t: float) -> str:
        name = self.driver.name
        missing = f"{name} did not return {self.driver.described} real numbers at t = {t:g} s"
        self.failure.reason = self.failure.reason or missing
        return f"simulate: {name}(t, q, v) returned {answer!r} at t = {t:g} s"

    def value(self, t: float, x: Array) -> Array:
        """What the callable returns, or NaN."""
        try:
            if self.failure.error is None and np.all(np.isfinite(x)):
                return self._called(t, x)
        except BaseException as error:  # KeyboardInterrupt must not be lost
            self.failure.error = error
        return self._nan

    def eval(self, arg: Sequence[ca.DM]) -> list[ca.DM]:
        return [ca.DM(self.value(float(arg[0]), arg[1].full().ravel()))]
