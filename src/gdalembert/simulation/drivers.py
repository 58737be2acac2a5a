"""The arguments u and wrenches of ``simulate``, checked, and the control that they make."""

from __future__ import annotations

import contextlib
import inspect
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.simulation.control import (
    ContinuousFeedback,
    Control,
    Driver,
    Failure,
    FirstOrderHold,
    Law,
    PythonFeedback,
    SampledFeedback,
    SideBySide,
    ZeroOrderHold,
)
from gdalembert.simulation.grid import Grid
from gdalembert.spatial.arguments import MASKED, is_masked, numbers, real
from gdalembert.spatial.arrays import Array


def is_python(given: Any) -> bool:
    """Whether an argument is a Python callable."""
    return callable(given) and not isinstance(given, ca.Function)


def control(
    dyn: Dynamics, u: Any, wrenches: Any, grid: Grid, p: Array, failure: Failure, *, hold: bool, sampled: bool
) -> Control:
    """What drives a robot: the arguments u and wrenches of ``simulate``.

    Feedback that takes the parameters is given ``p`` (n_p). A callable u is sampled with ``hold`` too; a callable of
    wrenches never is, since the surroundings are no digital controller.

    Raises:
        ArgumentTypeError, ArgumentError: if they cannot drive the robot.
    """
    reader = _Reader(grid, dyn.tree.nq, dyn.tree.nv, p, failure)
    efforts = reader.read(Driver("u", (dyn.nu,)), u, hold=hold or sampled)
    external = dyn.external_wrenches
    if not external.is_input:
        if wrenches is not None:
            raise ArgumentError(
                f"simulate: wrenches are given, but {dyn.tree.name} takes none; drop them, or make the robot with "
                "wrenches={frame: reference}"
            )
        return efforts
    acting = reader.read(Driver("wrenches", (6, len(external))), wrenches, hold=hold and not callable(wrenches))
    return SideBySide(efforts, acting, dyn.nu)


@dataclass(frozen=True)
class _Reader:
    """Reads what drives a robot in a motion."""

    grid: Grid
    nq: int
    nv: int
    p: Array
    failure: Failure

    def read(self, driver: Driver, given: Any, *, hold: bool) -> Control:
        """The control that an argument is."""
        if given is None:
            return ZeroOrderHold(np.zeros((len(self.grid.t), driver.size)))
        if isinstance(given, ca.Function):
            return self._graph(driver, given, hold)
        if callable(given) and not isinstance(given, type):
            p = (self.p,) if _takes_parameters(driver, given, bool(len(self.p))) else ()
            law = PythonFeedback(given, self.nq, self.nv, driver, self.failure, p)
            return SampledFeedback(law, self.grid, driver.size) if hold else ContinuousFeedback(law)
        return self._table(driver, given, hold)

    def _table(self, driver: Driver, given: Any, hold: bool) -> Control:
        name, outputs = driver.name, self.grid.t[self.grid.is_output]
        if is_masked(given):
            raise ArgumentError(f"simulate: {name}: {MASKED}")
        try:
            values = real(given.full().ravel() if isinstance(given, ca.DM) and given.is_column() else given)
        except (TypeError, ValueError):
            raise ArgumentTypeError(
                f"simulate: {name} is {shown(given)}; give real numbers, a casadi.Function (t, x) -> {name}, or a "
                f"callable (t, q, v) -> {name}"
            ) from None
        table = driver.rows(values)
        if table is None:
            table = driver.rows(values, len(outputs))
        if table is None:
            raise ArgumentError(
                f"simulate: {name} has shape {values.shape}; give {driver.shape} for a constant, or "
                f"{(len(outputs), *driver.shape)} with one row for each output time"
            )
        numbers(f"simulate: {name}", values)
        if table.ndim == 1:
            return ZeroOrderHold(np.tile(table, (len(self.grid.t), 1)))
        if hold:
            return ZeroOrderHold(table[np.searchsorted(outputs, self.grid.t, side="right") - 1])
        on_grid = np.column_stack([np.interp(self.grid.t, outputs, column) for column in table.T])
        return FirstOrderHold(on_grid, self.grid.t)

    def _graph(self, driver: Driver, given: ca.Function, hold: bool) -> ContinuousFeedback:
        name, nx, n_p = driver.name, self.nq + self.nv, len(self.p)
        if hold:
            raise ArgumentError(
                f"simulate: hold=True takes rows of {name} or a callable, not a casadi.Function; drop hold"
            )
        inputs = [given.size_in(i) for i in range(given.n_in())]
        outputs = [given.size_out(i) for i in range(given.n_out())]
        fits = outputs == [(*driver.shape, 1)[:2]]
        if n_p and fits and inputs == [(1, 1), (nx, 1), (n_p, 1)]:
            return ContinuousFeedback(given, (self.p,))
        if not fits or inputs != [(1, 1), (nx, 1)]:
            result = f"({name}[{'x'.join(map(str, driver.shape))}])"
            wanted = f"(t, x[{nx}]) -> {result}" + f" or (t, x[{nx}], p[{n_p}]) -> {result}" * bool(n_p)
            raise ArgumentError(f"simulate: {name} is {given}; give a Function {wanted}")
        return ContinuousFeedback(given)


def _takes_parameters(driver: Driver, law: Law, parametric: bool) -> bool:
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
    name, n = driver.name, len(signature.parameters)
    wanted = f"{name}(t, q, v)" + f" or {name}(t, q, v, p)" * parametric
    raise ArgumentTypeError(f"simulate: {name} takes {n} argument{'' if n == 1 else 's'}; give {wanted}")
