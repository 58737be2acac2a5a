"""The explicit Runge–Kutta method of order 8 of Dormand and Prince, for what is evaluated fast, as machine code.

E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 1993, section II.5. A step takes twelve
evaluations and is stable up to about six times the time in which the fastest mode turns by one radian, where Adams'
method takes ten steps or more. The tolerance of v is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.simulation.control import Control
from gdalembert.simulation.integration import AdaptiveRungeKutta, check_speed
from gdalembert.simulation.plant import INTEGRALS, Plant
from gdalembert.spatial.arguments import required
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import Evaluation

MAX_STEPS = 100_000
"""Between two output times, by default: a diverging motion must fail within seconds."""

_STAGES = 12
_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 10.0
_STABILIZED = 0.04
"""Exponent of the error before: steps that stability limits then do not fail again and again (section IV.2 of volume
II)."""
_TINY, _SMALL = 1e-300, 1e-4
_FIRST = 1e-6
"""[s] Length of the first step; it grows tenfold from step to step."""
_CHECKED = 100
"""Steps from one look at the speed to the next."""


@dataclass
class Dop853(AdaptiveRungeKutta):
    """Steps of y = [x; ``INTEGRALS``], in arrays that are kept, which end at each output time.

    Raises:
        MissingPackageError: without SciPy, which has the coefficients.
    """

    def __post_init__(self) -> None:
        tableau = required("simulate: method='dop853'", "scipy.integrate").DOP853
        function = _step(self.plant, self.control, len(self.p), tableau, self.reltol, self.abstol)
        arguments = [np.zeros(function.size1_in(i)) for i in range(5)]
        results = [np.zeros(function.size1_out(i)) for i in range(2)]
        self._t, self._h, self._y, self._numbers, given = arguments
        self._after, self._estimate = results
        given[:] = self.p
        self._evaluation = Evaluation(function, arguments, results)
        self._length, self._error = _FIRST, _SMALL

    def piece(self, t: Array, x0: Array, numbers: Array) -> tuple[Array, Array, int]:
        nx, steps = len(x0), 0
        rows = np.zeros((len(t) - 1, nx + len(INTEGRALS)))
        self._y[:nx], self._y[nx:] = x0, 0.0
        for k, row in enumerate(rows):
            self._numbers[:] = numbers[:, k]
            steps += self._interval(float(t[k]), float(t[k + 1]), x0[self.plant.nq :])
            row[:] = self._y
        return rows[:, :nx], rows[:, nx:], steps

    def _interval(self, t: float, end: float, v0: Array) -> int:
        """Move y from t to the end, in a motion that began with v0; the number of steps.

        Raises:
            RuntimeError: if they are too many, or too short.
        """
        steps, grow = 0, _GROW
        while t < end:
            proposed = min(self._length, end - t)
            error = self._try(t, proposed)
            steps += 1
            if error < 1:
                factor = _SAFETY * (error + _TINY) ** (0.75 * _STABILIZED - 1 / 8) * self._error**_STABILIZED
                self._error = max(error, _SMALL)
                self._y[:] = self._after
                t = end if proposed == end - t else t + proposed
                longer = proposed * min(grow, max(_SHRINK, factor))
                self._length, grow = max(longer, self._length) if t == end else longer, _GROW
            else:
                self._length, grow = proposed * max(_SHRINK, _SAFETY * error ** (-1 / 8)), 1.0
            if steps % _CHECKED == 0:
                check_speed(self._y[self.plant.nq : self.plant.nq + len(v0)], v0)
            if steps > self.max_steps:
                raise RuntimeError("TOO_MUCH_WORK")
            if self._length < 10 * np.spacing(max(abs(t), abs(end))):
                self._length = _FIRST
                raise RuntimeError("the steps are too short")
        return steps

    def _try(self, t: float, h: float) -> float:
        """The error of a step as a part of the tolerances; what is not finite is too large."""
        self._t[0], self._h[0] = t, h
        self._evaluation.evaluate()
        error = float(self._estimate[0])
        return math.inf if self._evaluation.failed() or math.isnan(error) else error


def _step(plant: Plant, control: Control, n_p: int, tableau: Any, reltol: float, abstol: float) -> ca.Function:
    """(t, h, y, numbers, p) → (y after the step, its error as a part of the tolerances)."""
    nx, nq = plant.flow.size1_in(0), plant.nq
    n = nx + len(INTEGRALS)
    t, h, y = ca.MX.sym("t"), ca.MX.sym("h"), ca.MX.sym("y", n)
    numbers, p = ca.MX.sym("numbers", control.numbers), ca.MX.sym("p", n_p)
    rates = ca.MX(n, 0)
    for stage in range(_STAGES):
        x = (y + h * (rates @ ca.DM(tableau.A[stage, :stage])) if stage else y)[:nx]
        u = control.expression(t + tableau.C[stage] * h, plant.unit(x) if plant.blocks else x, numbers)
        rates = ca.horzcat(rates, ca.vertcat(*plant.flow(x, u, *([p] if n_p else []))))
    after = y + h * (rates @ ca.DM(tableau.B[:_STAGES]))
    absolute = ca.vertcat(ca.DM(nq * [abstol]), ca.repmat(abstol * (1 + 1 / h), nx - nq), ca.DM((n - nx) * [abstol]))
    tolerance = absolute + reltol * ca.fmax(ca.fabs(y), ca.fabs(after))
    fifth, third = (ca.sumsqr((rates @ ca.DM(e[:_STAGES])) / tolerance) for e in (tableau.E5, tableau.E3))
    error = h * fifth / ca.sqrt(n * (fifth + 0.01 * third + _TINY))
    return ca.Function("step", [t, h, y, numbers, p], [after, error])
