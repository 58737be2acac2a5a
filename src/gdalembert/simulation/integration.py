"""The integrators of CasADi, restarted for every piece of the output times, without messages on stderr."""

from __future__ import annotations

import contextlib
import io
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.model.configuration import lengths, projected
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.simulation.control import Control, ControlFailure
from gdalembert.simulation.plant import INTEGRALS, Plant
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import Interrupts

ADAPTIVE: dict[str, tuple[str, dict[str, Any]]] = {
    "adams": ("cvodes", {"linear_multistep_method": "adams", "nonlinear_solver_iteration": "functional"}),
    "bdf": ("cvodes", {"linear_multistep_method": "bdf", "nonlinear_solver_iteration": "newton"}),
    "idas": ("idas", {}),
}
FIXED: dict[str, tuple[str, dict[str, Any]]] = {
    "collocation": ("collocation", {"collocation_scheme": "legendre"}),
    "rk4": ("rk", {}),
}
U_FAILED = "u failed"
RUNS_AWAY = "the motion runs away"
FASTEST = 1e6
"""[m/s, rad/s] A motion that grows beyond it takes ever shorter steps, thousands of them, to no end."""

_PIECES = 20
"""Number of pieces of the output times: a failed integration loses at most one piece, the progress advances by one
piece, and a restart costs a multistep method about ten short steps."""


@dataclass
class Integrator(ABC):
    """What integrates the pieces of a motion.

    Attributes:
        p: the parameters of the robot (n_p); empty if it has none.
    """

    plant: Plant
    control: Control
    p: Array

    @abstractmethod
    def piece(self, t: Array, x0: Array, numbers: Array) -> tuple[Array, Array, int]:
        """States and ``INTEGRALS``, from t[0] on, at t[1:], and the number of steps; RuntimeError if that fails.

        ``numbers`` are those of the control, a column for each interval.
        """


@dataclass
class AdaptiveRungeKutta(Integrator):
    """A Runge–Kutta method that chooses its steps.

    Attributes:
        reltol, abstol: tolerances of x and of ``INTEGRALS``; for v, ``abstol`` is divided by the length of the step
            [s], since an error of v moves q by so much in a step.
        max_steps: between two output times.
    """

    reltol: float
    abstol: float
    max_steps: float


@dataclass
class PartialMotion:
    """The motion up to output time ``reached``.

    Attributes:
        x: states at all output times, projected (N × nx).
        integrals: of ``INTEGRALS`` up to each output time (N × 4) [J, J s].
        drift: of unit lengths before the projection (N).
        steps: number of steps of the integrator.
        failure: the message of the integrator if it failed before the end.
    """

    x: Array
    integrals: Array
    drift: Array
    reached: int = 0
    steps: int = 0
    failure: str | None = None


def integrate(
    integrators: Integrator,
    failure: ControlFailure,
    t: Array,
    x0: Array,
    advance: Callable[[int], None],
    sampled: bool,
    interrupts: Interrupts,
) -> PartialMotion:
    """The motion from x0 at t[0] through all output times, or up to a failure or interrupt; ``advance`` counts them."""
    n, plant, control = len(t), integrators.plant, integrators.control
    motion = PartialMotion(np.tile(x0, (n, 1)), np.zeros((n, len(INTEGRALS))), np.zeros(n))
    size = 1 if sampled else math.ceil((n - 1) / _PIECES)
    interrupts.is_raised = False
    while (k := motion.reached) < n - 1 and interrupts.error is None:
        stop = min(k + size, n - 1)
        try:
            interrupts.stops = True
            numbers = np.column_stack([control.interval(i, motion.x[i]) for i in range(k, stop)])
            _check(failure)
            x, integrals, steps = integrators.piece(t[k : stop + 1], motion.x[k], numbers)
            _check(failure)
            check_speed(x[:, plant.nq :], x0[plant.nq :])
            if not (np.all(np.isfinite(x)) and np.all(np.isfinite(integrals))):
                raise RuntimeError("the state is not finite")
            interrupts.stops = False
        except BaseException as error:
            interrupts.stops = False
            if interrupts.error is not None:
                return motion
            if not isinstance(error, RuntimeError):
                raise
            if stop - k == 1:
                motion.failure = U_FAILED if failure.error is not None else str(error)
                return motion
            size, failure.error = 1, None
            continue
        rows = slice(k + 1, stop + 1)
        motion.drift[rows] = np.abs(lengths(x[:, : plant.nq], plant.blocks) - 1).max(axis=1, initial=0)
        motion.x[rows, : plant.nq] = projected(x[:, : plant.nq], plant.blocks)
        motion.x[rows, plant.nq :] = x[:, plant.nq :]
        motion.integrals[rows] = motion.integrals[k] + integrals
        motion.reached, motion.steps = stop, motion.steps + steps
        advance(stop - k)
    return motion


def check_speed(v: Array, start: Array) -> None:
    """Raise RuntimeError where a motion from the velocity ``start`` runs away."""
    if np.abs(v).max() > max(FASTEST, 10 * np.abs(start).max()):
        raise RuntimeError(RUNS_AWAY)


def _check(failure: ControlFailure) -> None:
    if failure.error is not None:
        raise RuntimeError(U_FAILED)


@dataclass
class Integrators(Integrator):
    """The integrators of CasADi for the pieces of the output times; pieces with the same times share one.

    Time is counted from the start t0 of a piece, which is a parameter next to the numbers of the control.
    """

    method: str
    step: float | None
    options: Mapping[str, Any]
    made: list[tuple[Array, ca.Function, int]] = field(default_factory=list)

    def piece(self, t: Array, x0: Array, numbers: Array) -> tuple[Array, Array, int]:
        solver, steps = self._like(t)
        u = np.vstack([numbers, np.full((1, numbers.shape[1]), t[0])])
        with self._quiet():
            found = solver(x0=x0, u=u, p=self.p)
        return found["xf"].full().T, found["qf"].full().T, solver.stats().get("nsteps", steps)

    def _like(self, t: Array) -> tuple[ca.Function, int]:
        """The integrator for these times, equal up to rounding, and its number of steps if that is fixed."""
        times = t[1:] - t[0]
        rounding = 4 * np.finfo(float).eps * np.abs(t).max()
        for known, solver, steps in self.made:
            if known.shape == times.shape and np.all(np.abs(known - times) <= rounding):
                return solver, steps
        solver, steps = self._new(times)
        self.made.append((times, solver, steps))
        return solver, steps

    def _new(self, times: Array) -> tuple[ca.Function, int]:
        plant, numbers = self.plant, self.control.numbers
        x, since, constants = ca.MX.sym("x", plant.flow.size1_in(0)), ca.MX.sym("t"), ca.MX.sym("u", numbers + 1)
        now = constants[numbers] + since
        u = self.control.expression(now, plant.unit(x) if plant.blocks else x, constants[:numbers])
        p = ca.MX.sym("p", len(self.p))
        xdot, power = plant.flow(x, u, *([p] if len(self.p) else []))
        problem = {"x": x, "t": since, "u": constants, "p": p, "ode": xdot, "quad": power}
        kind, own = (ADAPTIVE | FIXED)[self.method]
        settings: dict[str, Any] = {"show_eval_warnings": False} | own
        steps = 0
        if self.step is None:
            # a diverging motion must fail within seconds
            settings["max_num_steps"] = 100_000 if not self.control.laws else 10_000
            settings |= {"disable_internal_warnings": True, "quad_err_con": True}
        else:
            # so that at most one step of each interval is shorter
            settings["number_of_finite_elements"] = max(1, math.ceil(times[-1] / self.step * (1 - ROUND_OFF)))
            steps = int(np.ceil(np.diff(times, prepend=0.0) / self.step * (1 - ROUND_OFF)).sum())
        settings |= self.options
        with self._quiet():
            try:
                return ca.integrator("motion", kind, problem, 0.0, times.tolist(), settings), steps
            except Exception as error:
                lines = str(error).strip().splitlines()
                line = next((line for line in lines if "Unknown option" in line), lines[-1])
                reason = re.sub(r"^\S+\.[ch]pp:\d+: ", "", line)
                raise ArgumentError(f"simulate: options={dict(self.options)}: CasADi refuses them: {reason}") from None

    def _quiet(self) -> contextlib.AbstractContextManager[Any]:
        """Drop what SUNDIALS prints; the exception says it too."""
        if self.method in ("idas", "collocation"):
            return contextlib.redirect_stderr(io.StringIO())
        return contextlib.nullcontext()
