"""An implicit integrator for stiff vibrations: Radau IIA of order 9 with steps of variable length, in NumPy.

u is called here, not from a graph, once for each stage of an iteration, and steps are long where fast modes hardly
vibrate: for feedback written in Python, and for flexible robots. After Hairer, Wanner 1996, IV.8; the tolerance of v is
ours.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.model.configuration import projected
from gdalembert.simulation.control import Control, PythonLaw
from gdalembert.simulation.integration import U_FAILED
from gdalembert.simulation.plant import INTEGRALS, Plant
from gdalembert.simulation.radau_scheme import RadauScheme
from gdalembert.spatial.arrays import Array

SCHEME = RadauScheme.of(5)
MAX_STEPS = 10_000
"""Between two output times, by default: a diverging motion must fail within seconds."""

_ITERATIONS = 10
_NEWTON = 0.01
"""Part of the tolerance: what Newton's iteration may leave."""
_SLOW = 0.1
"""A rate of convergence above which the next step computes the Jacobian anew."""
_DIFFERENCE = 1e-8
"""Relative step of the differences that make the Jacobian."""
_FIRST = 100.0
"""How many tolerances the first step may go."""
_SAFETY, _LEAST, _MOST, _KEPT = 0.9, 0.2, 8.0, 1.2
"""Of the factor from one length of step to the next; a length that may grow by less than the last one is kept."""
_SAME = 1e-3
"""Relative: lengths of steps that share their factors."""
_ORDER = len(SCHEME.nodes) + 1
"""The power of the length of a step with which the estimated error goes."""
_SHORTEST = 1e-14
"""Relative to the time."""


class Columns:
    """xdot and power at k states, of the rates (t, x, w, p), in arrays that are kept.

    Attributes:
        t: k × 1. ``x``: k × nx. ``w``: k × (what the Python callable returns, then the numbers of the control).
        xdot: k × nx. ``power``: k × 4, the rates of ``INTEGRALS``.
    """

    def __init__(self, rates: ca.Function, k: int, p: Array) -> None:
        mapped = rates.map(f"{rates.name()}_{k}", "serial", k, [3], [])
        self.t, self.x, self.w = (np.zeros(mapped.size_in(i)[::-1]) for i in range(3))
        self.xdot, self.power = (np.zeros(mapped.size_out(i)[::-1]) for i in range(2))
        self._p = np.array(p)
        self._buffer, self._evaluate = mapped.buffer()
        for i, array in enumerate((self.t, self.x, self.w, self._p)):
            self._buffer.set_arg(i, memoryview(array))  # type: ignore[arg-type, call-arg]
        for i, array in enumerate((self.xdot, self.power)):
            self._buffer.set_res(i, memoryview(array))  # type: ignore[arg-type, call-arg]

    def evaluate(self) -> None:
        """Raise RuntimeError if that fails."""
        self._evaluate()
        if self._buffer.ret():
            raise RuntimeError("the evaluation fails")


class Rates:
    """The rates of a motion under a control: a Function (t, x, w, p) → (xdot, power), and w.

    w is what the Python callable returns, if there is one, then the constant numbers of the control in the interval.
    """

    def __init__(self, plant: Plant, control: Control, p: Array) -> None:
        self.plant, self.law = plant, control.law
        nx = plant.flow.size1_in(0)
        t, x, given = ca.MX.sym("t"), ca.MX.sym("x", nx), ca.MX.sym("p", len(p))
        self._called = self.law.nu if self.law else 0
        w = ca.MX.sym("w", self._called + control.numbers)
        called, numbers = w[: self._called], w[self._called :]
        u = control.expression(t, plant.unit(x) if plant.blocks else x, numbers, called)
        outputs = plant.flow(x, u, *([given] if len(p) else []))
        function = ca.Function("rates", [t, x, w, given], list(outputs))
        self.one, self.stages, self.neighbours = (Columns(function, k, p) for k in (1, len(SCHEME.nodes), nx))

    def hold(self, numbers: Array) -> None:
        """Take these as the numbers of the control."""
        for each in (self.one, self.stages, self.neighbours):
            each.w[:, self._called :] = numbers

    def at(self, columns: Columns, t: float | Array, x: Array) -> Array:
        """xdot (k × nx) at times and states; ``columns.power`` are the powers there.

        Raises:
            RuntimeError: if u fails, or the evaluation does.
        """
        columns.t[:, 0], columns.x[:] = t, x
        if self.law is not None:
            for k in range(len(columns.w)):
                columns.w[k, : self._called] = self._u(self.law, float(columns.t[k, 0]), columns.x[k])
        columns.evaluate()
        return columns.xdot

    def _u(self, law: PythonLaw, t: float, x: Array) -> Array:
        nq, blocks = self.plant.nq, self.plant.blocks
        u = law.value(t, np.concatenate([projected(x[:nq], blocks), x[nq:]]) if blocks else x)
        if law.failure.error is not None:
            raise RuntimeError(U_FAILED)
        return u

    def jacobian(self, t: float, x: Array, rate: Array) -> Array:
        """∂xdot/∂x, with that of u, by differences from the rate at (t, x)."""
        steps = _DIFFERENCE * np.maximum(1.0, np.abs(x))
        return np.asarray(((self.at(self.neighbours, t, x + np.diag(steps)) - rate) / steps[:, None]).T)


@dataclass
class Newton:
    """Simplified iteration of Newton for the stages of a step; Jacobian and factors are kept as long as they serve.

    Attributes:
        rate: of convergence.
        iterations: of the last step.
        is_fresh: whether the Jacobian is that of the start of the step.
    """

    rates: Rates
    rate: float = 0.0
    iterations: int = 0
    is_fresh: bool = False
    _jacobian: Array | None = None
    _length: float = 0.0
    _inverses: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))

    def prepare(self, t: float, x: Array, xdot: Array, h: float) -> None:
        """The inverses of μ/h − J for a step from (t, x)."""
        if self._jacobian is None:
            self._jacobian, self.is_fresh, self._length = self.rates.jacobian(t, x, xdot), True, 0.0
        if abs(self._length - h) > _SAME * h:
            shifts = (SCHEME.eigenvalues / h)[:, None, None] * np.eye(len(x))
            if not np.all(np.isfinite(self._jacobian)):
                raise RuntimeError("the Jacobian is not finite")
            self._inverses, self._length = np.asarray(np.linalg.inv(shifts - self._jacobian)), h

    def accepted(self) -> None:
        """The step is made: the Jacobian is old, and dropped if it converges slowly."""
        self.is_fresh = False
        if self.rate > _SLOW:
            self.drop()

    def drop(self) -> None:
        """Compute the Jacobian anew for the next step."""
        self._jacobian, self.is_fresh = None, False

    def filtered(self, residual: Array) -> Array:
        """(μ₀/h − J)⁻¹ times a vector."""
        return np.asarray(self._inverses[0].real @ residual)

    def stages(self, t: float, x: Array, h: float, z: Array, tolerance: Array) -> Array | None:
        """The stages z of a step (s × nx), from a first guess; ``None`` if the iteration does not converge."""
        times, waves = t + h * SCHEME.nodes, SCHEME.to_eigen @ z
        before = 0.0
        for k in range(_ITERATIONS):
            xdot = self.rates.at(self.rates.stages, times, x + z)
            residual = SCHEME.to_eigen @ xdot - (SCHEME.eigenvalues / h)[:, None] * waves
            change = np.matmul(self._inverses, residual[:, :, None])[:, :, 0]
            waves = waves + change
            dz = (SCHEME.from_eigen @ change).real
            z = z + dz
            size = norm(dz, tolerance)
            if not size < math.inf:
                return None
            if k:
                self.rate = size / before
                if self.rate >= 1:
                    return None
                if size * self.rate / (1 - self.rate) <= _NEWTON:
                    break
                if size * self.rate ** (_ITERATIONS - 1 - k) / (1 - self.rate) > _NEWTON and k > 1:
                    return None
            elif size <= _NEWTON**2:
                break
            before = size
        else:
            return None
        self.iterations = k + 1
        return z


class Point(NamedTuple):
    """A state x at t, with the rates of both x and ``INTEGRALS`` there."""

    t: float
    x: Array
    xdot: Array
    power: Array


class Step(NamedTuple):
    """A step of length h that was made, with its stages z and the powers there; ``integrals`` as it began.

    ``last`` is the time that it ended at, which is not always ``start.t + h`` in floating-point numbers.
    """

    start: Point
    h: float
    last: float
    z: Array
    power: Array
    integrals: Array


@dataclass
class StepLength:
    """The lengths of steps, from estimated errors in tolerances.

    Attributes:
        h: the length that the next step may have [s].
        is_trial: whether the step before was none, or rejected.
    """

    h: float
    is_trial: bool = True
    _h: float = 0.0
    _error: float = 1.0

    def until(self, t: float, end: float) -> float:
        """The length of the next step, which may end at ``end``.

        Raises:
            RuntimeError: if no time would pass.
        """
        left = end - t
        h = left if left < 1.01 * self.h else min(self.h, left / 2)
        if h < _SHORTEST * max(abs(t), end - t):
            raise RuntimeError("no step is short enough")
        return h

    def reject(self, h: float, error: float, iterations: int) -> None:
        """A step of length h is too long."""
        self.h, self.is_trial = h * max(_LEAST, self._factor(error, iterations)), True

    def accept(self, h: float, error: float, iterations: int) -> None:
        """A step of length h is made; the next error is foreseen from the last two (Gustafsson)."""
        factor = self._factor(error, iterations)
        if not self.is_trial:
            factor = min(factor, factor * h / self._h * (self._error / error) ** (1 / _ORDER))
        kept = 1 <= factor < _KEPT
        proposed = h if kept else h * min(_MOST, max(_LEAST, factor))
        self.h = max(self.h, proposed) if h < self.h else proposed  # a step cut short says little
        self.is_trial, self._h, self._error = False, h, max(error, 0.01)

    @staticmethod
    def _factor(error: float, iterations: int) -> float:
        few = (2 * _ITERATIONS + 1) / (2 * _ITERATIONS + iterations)
        return float(_SAFETY * few * error ** (-1 / _ORDER))


@dataclass
class Radau:
    """The integrator for the pieces of the output times, as :class:`~gdalembert.simulation.integration.Integrators`.

    Attributes:
        p: the parameters of the robot (n_p); empty if it has none.
        reltol, abstol: tolerances of x; for v, ``abstol`` is divided by the length of the step [s], since an error of v
            moves q by so much in a step.
        max_steps: between two output times.
    """

    method: ClassVar[str] = "radau"
    plant: Plant
    control: Control
    p: Array
    reltol: float
    abstol: float
    max_steps: float

    def __post_init__(self) -> None:
        self._rates = Rates(self.plant, self.control, self.p)
        self._newton = Newton(self._rates)
        self._length: StepLength | None = None
        self._integrals = np.zeros(len(INTEGRALS))

    def piece(self, t: Array, x0: Array, numbers: Array) -> tuple[Array, Array, int]:
        """States and ``INTEGRALS``, from t[0] on, at t[1:], and the number of steps."""
        states, integrals, steps = [x0[None]], [np.zeros((1, len(INTEGRALS)))], 0
        for first, last in _stretches(numbers):
            self._rates.hold(numbers[:, first])
            x, integral, made = self._stretch(t[first : last + 1], states[-1][-1])
            states, integrals, steps = [*states, x], [*integrals, integrals[-1][-1] + integral], steps + made
        return np.concatenate(states[1:]), np.concatenate(integrals[1:]), steps

    def _stretch(self, t: Array, x: Array) -> tuple[Array, Array, int]:
        """As :meth:`piece`, where the control does not jump."""
        states, integrals = np.zeros((len(t) - 1, len(x))), np.zeros((len(t) - 1, len(INTEGRALS)))
        done, steps, since, before = 0, 0, 0, self._integrals
        for step in self._steps(float(t[0]), x, float(t[-1])):
            steps, since = steps + 1, since + 1
            reached = int(np.searchsorted(t, step.last, side="right")) - 1
            theta = (t[done + 1 : reached + 1] - step.start.t) / step.h
            states[done:reached] = step.start.x + SCHEME.between(theta) @ step.z
            integrals[done:reached] = step.integrals - before + step.h * SCHEME.integral(theta) @ step.power
            since, done = since if reached == done else 0, reached
            if since > self.max_steps:
                raise RuntimeError("TOO_MUCH_WORK")
        return states, integrals, steps

    def _steps(self, t: float, x: Array, end: float) -> Iterator[Step]:
        """The steps from (t, x) to the end."""
        start, newton, step = self._point(t, x), self._newton, None
        if self._length is None:
            self._length = StepLength(_FIRST / max(norm(start.xdot, self._tolerance(x, 1.0)), 1e-300))
        length = self._length
        length.is_trial = True
        while start.t < end:
            h = length.until(start.t, end)
            newton.prepare(start.t, start.x, start.xdot, h)
            tolerance = self._tolerance(start.x, h)
            z = newton.stages(start.t, start.x, h, self._guess(step, h), tolerance)
            if z is None:
                length.h = h / 2 if newton.is_fresh else h
                newton.drop()
                continue
            last = end if h == end - start.t else start.t + h
            tried = Step(start, h, last, z, self._rates.stages.power.copy(), self._integrals)
            error = max(self._error(tried, tolerance, again=length.is_trial), self._error_of_integrals(tried))
            if error >= 1:
                length.reject(h, error, newton.iterations)
                continue
            length.accept(h, error, newton.iterations)
            newton.accepted()
            step = tried
            self._integrals = step.integrals + h * SCHEME.weights @ step.power
            yield step
            start = self._point(step.last, start.x + z[-1])

    def _guess(self, before: Step | None, h: float) -> Array:
        """The stages of a step as the one before it foresees them."""
        if before is None:
            return np.zeros_like(self._rates.stages.x)
        return SCHEME.extrapolated(before.z, h / before.h)

    def _point(self, t: float, x: Array) -> Point:
        one = self._rates.one
        return Point(t, x, np.array(self._rates.at(one, t, x)[0]), np.array(one.power[0]))

    def _tolerance(self, x: Array, h: float) -> Array:
        tolerance = np.asarray(self.abstol + self.reltol * np.abs(x))
        tolerance[self.plant.nq :] += self.abstol / h
        return tolerance

    def _error(self, step: Step, tolerance: Array, *, again: bool) -> float:
        """The estimated error of x, in tolerances; estimated ``again`` where a first estimate may be too large."""
        start, embedded = step.start, SCHEME.error @ step.z / step.h
        error = self._newton.filtered(start.xdot + embedded)
        size = norm(error, tolerance)
        if size >= 1 and again:
            rate = self._rates.at(self._rates.one, start.t, start.x + error)[0]
            size = norm(self._newton.filtered(rate + embedded), tolerance)
        return max(size, 1e-10)

    def _error_of_integrals(self, step: Step) -> float:
        """The same of the integrals: corners of u show here first."""
        error = step.h * SCHEME.quadrature_error @ np.vstack([step.start.power, step.power])
        return norm(error, self.abstol + self.reltol * np.abs(step.integrals))


def norm(x: Array, tolerance: Array) -> float:
    """The root mean square of x in tolerances; infinite if it is not a number."""
    scaled = (x / tolerance).ravel()
    size = math.sqrt(scaled @ scaled / scaled.size)
    return size if size == size else math.inf


def _stretches(numbers: Array) -> Iterator[tuple[int, int]]:
    """(first, last) of the intervals in a row in which the numbers of the control, a column for each, are the same."""
    n = numbers.shape[1]
    jumps = [k for k in range(1, n) if not np.array_equal(numbers[:, k], numbers[:, k - 1])]
    return itertools.pairwise([0, *jumps, n])
