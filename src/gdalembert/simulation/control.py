"""What drives a motion: u as an expression of (t, x) and of numbers that are constant between two output times."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.spatial.arguments import numbers, real
from gdalembert.spatial.arrays import Array

Law = Callable[[float, Array, Array], npt.ArrayLike]
"""(t, q, v) → u."""


@dataclass(frozen=True)
class Held:
    """One row of u for each output time, held until the next."""

    table: Array

    @property
    def numbers(self) -> int:
        """How many numbers an interval has."""
        return int(self.table.shape[1])

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX) -> ca.MX:
        """u within an interval."""
        return numbers

    def interval(self, k: int, x: Array) -> Array:
        """The numbers of the interval that starts at output time k, with the state x."""
        return np.asarray(self.table[k])

    def at(self, k: int, t: float, x: Array) -> Array:
        """u at output time k, and just after it."""
        return np.asarray(self.table[k])

    def before(self, k: int, u: Array) -> Array:
        """u just before output time k > 0; ``u`` has the rows of all output times."""
        return np.asarray(u[k - 1])


@dataclass(frozen=True)
class Linear(Held):
    """One row of u for each output time, and straight lines between them."""

    t: Array

    @property
    def numbers(self) -> int:
        return 2 * int(self.table.shape[1]) + 1

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX) -> ca.MX:
        n = self.table.shape[1]
        return numbers[:n] + (t - numbers[2 * n]) * numbers[n : 2 * n]

    def interval(self, k: int, x: Array) -> Array:
        slope = (self.table[k + 1] - self.table[k]) / (self.t[k + 1] - self.t[k])
        return np.concatenate([self.table[k], slope, self.t[k : k + 1]])

    def before(self, k: int, u: Array) -> Array:
        return np.asarray(u[k])


@dataclass(frozen=True)
class Graph:
    """A ``casadi.Function`` (t, x) → u, or a Python callable in the shape of one."""

    function: ca.Function
    numbers: int = 0

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX) -> ca.MX:
        return self.function(t, x)

    def interval(self, k: int, x: Array) -> Array:
        return np.empty(0)

    def at(self, k: int, t: float, x: Array) -> Array:
        return np.asarray(self.function(t, x).full().ravel())

    def before(self, k: int, u: Array) -> Array:
        return np.asarray(u[k])


@dataclass(frozen=True)
class Sampled:
    """A Python callable that is asked at the output times, and its answer held until the next."""

    law: Feedback
    numbers: int
    answers: dict[int, Array] = field(default_factory=dict)

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX) -> ca.MX:
        return numbers

    def interval(self, k: int, x: Array) -> Array:
        return self.at(k, float(self.law.times[k]), x)

    def at(self, k: int, t: float, x: Array) -> Array:
        if k not in self.answers:  # asked once at each time, and in their order: it may remember
            self.answers[k] = self.law.answer(t, x)
        return self.answers[k]

    def before(self, k: int, u: Array) -> Array:
        return np.asarray(u[k - 1])


Control = Held | Linear | Graph | Sampled


class Feedback(ca.Callback):
    """A Python callable as (t, x) → u; derivatives are differences.

    CasADi cannot carry an exception: the first one is kept in ``error``, and from then on u is not a number, so that
    the integrator gives up.
    """

    def __init__(self, law: Law, nq: int, nv: int, nu: int, times: Array) -> None:
        ca.Callback.__init__(self)
        self.law, self.nq, self.nv, self.nu, self.times = law, nq, nv, nu, times
        self.error: BaseException | None = None
        self.reason = ""
        self.construct("u", {"enable_fd": True})

    def get_n_in(self) -> int:
        return 2

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self.nq + self.nv if i else 1, 1)

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self.nu, 1)

    def _asked(self, t: float, x: Array) -> Array:
        self.reason = "u raised an exception, see above"
        answer = self.law(t, x[: self.nq].copy(), x[self.nq :].copy())
        self.reason = f"u did not return {self.nu} real numbers at t = {t:g} s"
        said = f"simulate: u(t, q, v) returned {answer!r} at t = {t:g} s"
        try:
            u = real(answer)
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"{said}; return {self.nu} real numbers") from None
        row = isinstance(answer, ca.DM) and u.shape == (1, self.nu)
        if u.shape not in ((self.nu,), (self.nu, 1)) and not row:
            raise ArgumentError(f"{said}; return {self.nu} finite numbers")
        if not np.all(np.isfinite(u)):
            self.reason = f"u returned something not finite at t = {t:g} s"
            raise ArgumentError(f"{said}; return {self.nu} finite numbers")
        return u.ravel()

    def answer(self, t: float, x: Array) -> Array:
        """What the callable says, or not a number."""
        if self.error is None and np.all(np.isfinite(x)):
            try:
                return self._asked(t, x)
            except BaseException as error:  # KeyboardInterrupt must not be lost either
                self.error = error
        return np.full(self.nu, np.nan)

    def eval(self, arg: Sequence[ca.DM]) -> list[ca.DM]:
        return [ca.DM(self.answer(float(arg[0]), arg[1].full().ravel()))]


def control(u: Any, t: Array, nq: int, nv: int, nu: int, hold: bool) -> tuple[Control, Feedback | None]:
    """What ``simulate`` was given as u, checked; and the callable among it.

    Raises:
        ArgumentTypeError, ArgumentError: if it cannot drive the model.
    """
    if u is None:
        return Held(np.zeros((len(t), nu))), None
    if isinstance(u, ca.Function):
        return _graph(u, nq + nv, nu, hold), None
    if callable(u):
        _check_arguments(u)
        law = Feedback(u, nq, nv, nu, t)
        return (Sampled(law, nu) if hold else Graph(law)), law
    try:
        table = real(u.full().ravel() if isinstance(u, ca.DM) and u.is_column() else u)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"simulate: u is {u!r}; give real numbers, a casadi.Function (t, x) -> u, or a callable (t, q, v) -> u"
        ) from None
    if table.shape not in ((nu,), (len(t), nu)):
        raise ArgumentError(
            f"simulate: u has shape {table.shape}; give ({nu},) for a constant, or ({len(t)}, {nu}) with one row "
            "for each output time"
        )
    numbers("simulate: u", table)
    if table.ndim == 1:
        return Held(np.tile(table, (len(t), 1))), None
    return (Held(table) if hold else Linear(table, t)), None


def _check_arguments(law: Law) -> None:
    """Refuse a callable that does not take (t, q, v), where Python can tell."""
    try:
        signature = inspect.signature(law)
    except (TypeError, ValueError):
        return
    try:
        signature.bind("t", "q", "v")
    except TypeError:
        n = len(signature.parameters)
        raise ArgumentTypeError(f"simulate: u takes {n} argument{'' if n == 1 else 's'}; give u(t, q, v)") from None


def _graph(u: ca.Function, nx: int, nu: int, hold: bool) -> Graph:
    if hold:
        raise ArgumentError("simulate: hold=True takes rows of u or a callable, not a casadi.Function; drop hold")
    shapes = [u.size_in(i) for i in range(u.n_in())], [u.size_out(i) for i in range(u.n_out())]
    if shapes != ([(1, 1), (nx, 1)], [(nu, 1)]):
        raise ArgumentError(f"simulate: u is {u}; give a Function (t, x[{nx}]) -> (u[{nu}])")
    return Graph(u)
