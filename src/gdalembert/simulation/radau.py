"""SciPy's Radau IIA method of order 5, for feedback written in Python and for stiff vibrations.

u is called here, not from a graph, and steps are long where fast modes hardly vibrate. The tolerance of v is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.model.configuration import projected
from gdalembert.simulation.control import Control
from gdalembert.simulation.integration import U_FAILED, AdaptiveRungeKutta, check_speed
from gdalembert.simulation.plant import INTEGRALS, Plant
from gdalembert.spatial.arguments import required
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import Evaluation

TOLERANCES = 1e-7, 1e-9
"""``reltol`` and ``abstol`` by default: the estimate, of order 3, is cautious, and errors are as large as those of the
other methods at 1e-8."""
MAX_STEPS = 10_000
"""Between two output times, by default: a diverging motion must fail within seconds."""

_DIFFERENCE = 1e-8
"""Relative step of the differences that make the Jacobian."""


class Columns:
    """Rates of x and of ``INTEGRALS`` at k states, of a Function (t, x, w, p) → rates, in arrays that are kept.

    Attributes:
        t: k × 1. ``x``: k × nx. ``w``: k × (what the Python callables return, then the numbers of the control).
        rates: k × (nx + 4).
    """

    def __init__(self, rates: ca.Function, k: int, p: Array) -> None:
        mapped = rates.map(f"{rates.name()}_{k}", "serial", k, [3], [])
        self.t, self.x, self.w = (np.zeros(mapped.size_in(i)[::-1]) for i in range(3))
        self.rates = np.zeros(mapped.size_out(0)[::-1])
        self._evaluation = Evaluation(mapped, [self.t, self.x, self.w, np.array(p)], [self.rates])

    def evaluate(self) -> None:
        """Raise RuntimeError if that fails."""
        self._evaluation.evaluate()
        if self._evaluation.failed():
            raise RuntimeError("the evaluation fails")


class StateRates:
    """The rates of y = [x; ``INTEGRALS``] in a motion under a control.

    w is what the Python callables return, then the constant numbers of the control in the interval.
    """

    def __init__(self, plant: Plant, control: Control, p: Array) -> None:
        self.plant, self._laws = plant, control.laws
        self.nx = nx = plant.flow.size1_in(0)
        t, x, given = ca.MX.sym("t"), ca.MX.sym("x", nx), ca.MX.sym("p", len(p))
        self._called = sum(law.nu for law in self._laws)
        w = ca.MX.sym("w", self._called + control.numbers)
        called, numbers = w[: self._called], w[self._called :]
        u = control.expression(t, plant.unit(x) if plant.blocks else x, numbers, called)
        outputs = plant.flow(x, u, *([given] if len(p) else []))
        function = ca.Function("rates", [t, x, w, given], [ca.vertcat(*outputs)])
        self._one, self._neighbours = (Columns(function, k, p) for k in (1, nx))

    def hold(self, numbers: Array) -> None:
        """Take these as the numbers of the control."""
        for each in (self._one, self._neighbours):
            each.w[:, self._called :] = numbers

    def at(self, t: float, y: Array) -> Array:
        """dy/dt (nx + 4).

        Raises:
            RuntimeError: if u fails, or the evaluation does.
        """
        return np.array(self._evaluated(self._one, t, y[: self.nx])[0])

    def jacobian(self, t: float, y: Array) -> Array:
        """∂(dy/dt)/∂y, with that of u, by differences.

        Raises:
            RuntimeError: if u or the evaluation fails, or an entry is not finite.
        """
        x, rate = y[: self.nx], self.at(t, y)
        steps = _DIFFERENCE * np.maximum(1.0, np.abs(x))
        jacobian = np.zeros((len(y), len(y)))
        jacobian[:, : self.nx] = ((self._evaluated(self._neighbours, t, x + np.diag(steps)) - rate) / steps[:, None]).T
        if not np.all(np.isfinite(jacobian)):
            raise RuntimeError("the Jacobian is not finite")
        return jacobian

    def _evaluated(self, columns: Columns, t: float, x: Array) -> Array:
        columns.t[:], columns.x[:] = t, x
        if self._laws:
            for row, state in zip(columns.w, columns.x, strict=True):
                row[: self._called] = self._u(t, state)
        columns.evaluate()
        return columns.rates

    def _u(self, t: float, x: Array) -> Array:
        """What the Python callables return."""
        nq, blocks = self.plant.nq, self.plant.blocks
        x = np.concatenate([projected(x[:nq], blocks), x[nq:]]) if blocks else x
        u = np.concatenate([law.value(float(t), x) for law in self._laws])
        if self._laws[0].failure.error is not None:
            raise RuntimeError(U_FAILED)
        return u


@dataclass
class Radau(AdaptiveRungeKutta):
    """SciPy's Radau.

    Raises:
        MissingPackageError: without SciPy.
    """

    def __post_init__(self) -> None:
        self._solver_type: Any = required("simulate: method='radau'", "scipy.integrate").Radau
        self._rates = StateRates(self.plant, self.control, self.p)
        self._length: float | None = None

    def piece(self, t: Array, x0: Array, numbers: Array) -> tuple[Array, Array, int]:
        rows, steps = [np.concatenate([x0, np.zeros(len(INTEGRALS))])[None]], 0
        for first, last in _stretches(numbers):
            self._rates.hold(numbers[:, first])
            found, made = self._stretch(t[first : last + 1], rows[-1][-1])
            rows, steps = [*rows, found], steps + made
        y = np.concatenate(rows[1:])
        return y[:, : len(x0)], y[:, len(x0) :], steps

    def _stretch(self, t: Array, y: Array) -> tuple[Array, int]:
        """y at t[1:], from t[0] on, and the number of steps, where the control does not jump."""
        rows, done, steps, since = np.zeros((len(t) - 1, len(y))), 0, 0, 0
        solver, speeds = self._solver(t, y), slice(self.plant.nq, self._rates.nx)
        while done < len(rows):
            self._step(solver)
            steps, since = steps + 1, since + 1
            check_speed(solver.y[speeds], y[speeds])
            reached = int(np.searchsorted(t, solver.t, side="right")) - 1
            if reached > done:
                rows[done:reached] = solver.dense_output()(t[done + 1 : reached + 1]).T
                since, done = 0, reached
            if since > self.max_steps:
                raise RuntimeError("TOO_MUCH_WORK")
        return rows, steps

    def _solver(self, t: Array, y: Array) -> Any:
        """SciPy's solver from (t[0], y) to the last time; its first step is as long as the last stretch ended with."""
        start, end = float(t[0]), float(t[-1])
        first = None if self._length is None else min(self._length, end - start)
        rates = self._rates
        settings = {"rtol": self.reltol, "atol": self._tolerance(1.0), "jac": rates.jacobian, "first_step": first}
        return self._solver_type(rates.at, start, y, end, **settings)

    def _step(self, solver: Any) -> None:
        """One step.

        Raises:
            RuntimeError: if there is none.
        """
        proposed = solver.h_abs
        solver.atol = self._tolerance(proposed)
        try:
            message = solver.step()
        except (ValueError, np.linalg.LinAlgError) as error:  # of what is not finite
            raise RuntimeError(str(error)) from None
        if solver.status == "failed":
            raise RuntimeError(message)
        self._length = max(proposed, solver.h_abs)  # a step cut short says little

    def _tolerance(self, h: float) -> Array:
        """The absolute tolerances of y in a step of length h."""
        tolerance = np.full(self._rates.nx + len(INTEGRALS), self.abstol)
        tolerance[self.plant.nq : self._rates.nx] += self.abstol / h
        return tolerance


def _stretches(numbers: Array) -> Iterator[tuple[int, int]]:
    """(first, last) of the intervals in a row in which the numbers of the control, a column for each, are the same."""
    n = numbers.shape[1]
    jumps = [k for k in range(1, n) if not np.array_equal(numbers[:, k], numbers[:, k - 1])]
    return itertools.pairwise([0, *jumps, n])
