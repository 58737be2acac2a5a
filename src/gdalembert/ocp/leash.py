"""What ends a solver from outside: a signal, or its budget of wall time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.spatial.arguments import number
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import Interrupts

BUDGET = "max_wall_time"
"""The option of every solver that limits the wall time of a solve [s]."""
OUT_OF_TIME = "Maximum_WallTime_Exceeded"
"""IPOPT's status of a solve that took more."""


def without_budget(options: Mapping[str, Any]) -> tuple[dict[str, Any], float | None]:
    """The options of CasADi, and the budget of wall time [s]; ``None`` if there is none.

    Raises:
        ArgumentTypeError, ArgumentError: if the budget is not a positive number.
    """
    own = dict(options)
    budget = own.pop(BUDGET, None)
    return own, None if budget is None else number(f"solve: options: {BUDGET}", budget, "s")


class Leash(ca.Callback):
    """1 if the solver that runs now is to end, else 0: asked once in an iteration, by Python.

    Args:
        inputs: numbers of entries of the inputs, of which the first is the iterate.
        budget: of wall time [s]; ``None``: no limit.

    Attributes:
        is_out_of_time: whether the last solve ended for its budget.
        iterate: where it did. ``iterations``: in which one.
    """

    iterate: Array
    iterations = -1

    def __init__(self, inputs: Sequence[int], budget: float | None) -> None:
        super().__init__()
        self._inputs, self._budget = tuple(inputs), budget
        self._interrupts: Interrupts | None = None
        self._end = float("inf")
        self.is_out_of_time = False
        self.construct("leash")

    def get_n_in(self) -> int:
        return len(self._inputs)

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._inputs[i])

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arg: Sequence[Any], res: Sequence[Any]) -> int:
        self.iterations += 1
        self.is_out_of_time = time.monotonic() > self._end
        if self.is_out_of_time:
            self.iterate = np.frombuffer(arg[0]).copy()
        stopped = self._interrupts is not None and self._interrupts.error is not None
        np.frombuffer(res[0])[0] = float(stopped or self.is_out_of_time)
        return 0

    @contextlib.contextmanager
    def held(self, interrupts: Interrupts) -> Iterator[None]:
        """Around a solve."""
        self._interrupts, self.is_out_of_time, self.iterations = interrupts, False, -1
        self._end = float("inf") if self._budget is None else time.monotonic() + self._budget
        try:
            yield
        finally:
            self._interrupts, self._end = None, float("inf")


def leashed(jacobian: ca.Function, leash: Leash) -> ca.Function:
    """(x, p) → (g, dg/dx), the latter zero if the solver is to end: fatrop refuses gaps that are not of its form."""
    x, p = jacobian.mx_in()
    g, slopes = jacobian.call([x, p], True, False)
    end = leash.call([x], True, False)[0]
    return ca.Function(jacobian.name(), [x, p], [g, (1 - end) * slopes], jacobian.name_in(), jacobian.name_out())
