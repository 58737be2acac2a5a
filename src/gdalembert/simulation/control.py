"""The control of a motion: u as an expression of (t, x) and of numbers that are constant between two output times.

Feedback may depend on the parameters p of the robot, too, which are constant in a motion.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.simulation.grid import Grid
from gdalembert.spatial.arguments import numbers, real
from gdalembert.spatial.arrays import Array

Law = Callable[[float, Array, Array], npt.ArrayLike] | Callable[[float, Array, Array, Array], npt.ArrayLike]
"""(t, q, v) → u, or (t, q, v, p) → u."""


@dataclass(frozen=True)
class ZeroOrderHold:
    """One row of u for each output time, held until the next one."""

    table: Array
    law: ClassVar[PythonFeedback | None] = None
    """The Python callable, if u is one that is evaluated within the intervals."""

    @property
    def numbers(self) -> int:
        """How many constant numbers an interval needs."""
        return int(self.table.shape[1])

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX) -> ca.MX:
        """u within an interval."""
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

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX) -> ca.MX:
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
    def law(self) -> PythonFeedback | None:
        return self.function if isinstance(self.function, PythonFeedback) else None

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX) -> ca.MX:
        return self.function(t, x, *self.p)

    def interval(self, k: int, x: Array) -> Array:
        return np.empty(0)

    def at(self, k: int, t: float, x: Array) -> Array:
        return np.asarray(self.function(t, x, *self.p).full().ravel())

    def before(self, k: int, u: Array) -> Array:
        return np.asarray(u[k])


@dataclass(frozen=True)
class SampledFeedback:
    """A Python callable that is called at the samples of a grid only; its value is held until the next one."""

    sampled: PythonFeedback
    grid: Grid
    numbers: int
    values: dict[int, Array] = field(default_factory=dict)
    law: ClassVar[PythonFeedback | None] = None

    def expression(self, t: ca.MX, x: ca.MX, numbers: ca.MX) -> ca.MX:
        return numbers

    def interval(self, k: int, x: Array) -> Array:
        return self.at(k, float(self.grid.t[k]), x)

    def at(self, k: int, t: float, x: Array) -> Array:
        if k not in self.values:  # called once at each time, and in this order: it may have a memory
            self.values[k] = self.sampled.value(t, x) if self.grid.is_sample[k] else self.values[k - 1]
        return self.values[k]

    def before(self, k: int, u: Array) -> Array:
        return np.asarray(u[k - 1])


Control = ZeroOrderHold | FirstOrderHold | ContinuousFeedback | SampledFeedback


class PythonFeedback(ca.Callback):
    """A Python callable as (t, x) → u; its derivatives are finite differences.

    CasADi cannot pass an exception on: the first one is kept in ``error``, and u is NaN from then on, so that the
    integrator fails.
    """

    def __init__(self, law: Law, nq: int, nv: int, nu: int, p: tuple[Array, ...] = ()) -> None:
        ca.Callback.__init__(self)
        self.nq, self.nv, self.nu, self.p = nq, nv, nu, p
        self.law: Callable[..., npt.ArrayLike] = law
        self.error: BaseException | None = None
        self.reason = ""
        self._nan = np.full(nu, np.nan)
        self.construct("u", {"enable_fd": True})

    def get_n_in(self) -> int:
        return 2

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self.nq + self.nv if i else 1, 1)

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self.nu, 1)

    def _called(self, t: float, x: Array) -> Array:
        self.reason = "u raised an exception, see above"
        answer = self.law(t, x[: self.nq].copy(), x[self.nq :].copy(), *(p.copy() for p in self.p))
        self.reason = ""
        try:
            u = _one_or_more(real(answer), self.nu)
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"{self._said(answer, t)}; return {self.nu} real numbers") from None
        row = isinstance(answer, ca.DM) and u.shape == (1, self.nu)
        if u.shape not in ((self.nu,), (self.nu, 1)) and not row:
            raise ArgumentError(f"{self._said(answer, t)}; return {self.nu} finite numbers")
        if not np.isfinite(u).all():
            self.reason = f"u returned something not finite at t = {t:g} s"
            raise ArgumentError(f"{self._said(answer, t)}; return {self.nu} finite numbers")
        return u.ravel()

    def _said(self, answer: Any, t: float) -> str:
        self.reason = self.reason or f"u did not return {self.nu} real numbers at t = {t:g} s"
        return f"simulate: u(t, q, v) returned {answer!r} at t = {t:g} s"

    def value(self, t: float, x: Array) -> Array:
        """What the callable returns, or NaN."""
        try:
            if self.error is None and np.all(np.isfinite(x)):
                return self._called(t, x)
        except BaseException as error:  # KeyboardInterrupt must not be lost
            self.error = error
        return self._nan

    def eval(self, arg: Sequence[ca.DM]) -> list[ca.DM]:
        return [ca.DM(self.value(float(arg[0]), arg[1].full().ravel()))]


def control(
    u: Any, grid: Grid, nq: int, nv: int, nu: int, hold: bool, p: Array
) -> tuple[Control, PythonFeedback | None]:
    """The argument u of ``simulate``, checked; and the Python callable in it, if it is one.

    Feedback that takes the parameters is given ``p`` (n_p).

    Raises:
        ArgumentTypeError, ArgumentError: if u cannot drive the model.
    """
    t = grid.t
    if u is None:
        return ZeroOrderHold(np.zeros((len(t), nu))), None
    if isinstance(u, ca.Function):
        return _graph(u, nq + nv, nu, hold, p), None
    if callable(u):
        law = PythonFeedback(u, nq, nv, nu, (p,) if _takes_parameters(u, bool(len(p))) else ())
        return (SampledFeedback(law, grid, nu) if hold else ContinuousFeedback(law)), law
    try:
        table = _one_or_more(real(u.full().ravel() if isinstance(u, ca.DM) and u.is_column() else u), nu)
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
        return ZeroOrderHold(np.tile(table, (len(t), 1))), None
    return (ZeroOrderHold(table) if hold else FirstOrderHold(table, t)), None


def _one_or_more(u: Array, nu: int) -> Array:
    """u, where one number is the effort of the only actuator."""
    return u.reshape(1) if nu == 1 and u.ndim == 0 else u


def _takes_parameters(law: Law, parametric: bool) -> bool:
    """Whether a callable takes (t, q, v, p), not (t, q, v); the latter if Python does not know its signature.

    Raises:
        ArgumentTypeError: if it takes neither.
    """
    try:
        signature = inspect.signature(law)
    except (TypeError, ValueError):
        return False
    for names in ("tqv", "tqvp")[: 1 + parametric]:
        with contextlib.suppress(TypeError):
            signature.bind(*names)
            return len(names) == 4
    n = len(signature.parameters)
    wanted = "u(t, q, v)" + " or u(t, q, v, p)" * parametric
    raise ArgumentTypeError(f"simulate: u takes {n} argument{'' if n == 1 else 's'}; give {wanted}")


def _graph(u: ca.Function, nx: int, nu: int, hold: bool, p: Array) -> ContinuousFeedback:
    if hold:
        raise ArgumentError("simulate: hold=True takes rows of u or a callable, not a casadi.Function; drop hold")
    shapes = [u.size_in(i) for i in range(u.n_in())], [u.size_out(i) for i in range(u.n_out())]
    if len(p) and shapes == ([(1, 1), (nx, 1), (len(p), 1)], [(nu, 1)]):
        return ContinuousFeedback(u, (p,))
    if shapes != ([(1, 1), (nx, 1)], [(nu, 1)]):
        wanted = f"(t, x[{nx}]) -> (u[{nu}])" + f" or (t, x[{nx}], p[{len(p)}]) -> (u[{nu}])" * bool(len(p))
        raise ArgumentError(f"simulate: u is {u}; give a Function {wanted}")
    return ContinuousFeedback(u)
