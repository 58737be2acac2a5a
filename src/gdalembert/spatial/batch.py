"""Functions evaluated at many states in one call."""

from __future__ import annotations

import os
from copy import copy
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.spatial.arrays import Array

_THREADS = min(4, os.cpu_count() or 1)


class BatchFunction:
    """A Function of vectors, with the one output ``shape`` (nothing, n, or n × n), at many states in one call.

    Functions without Python in them are spread over threads.
    """

    def __init__(self, function: ca.Function, *shape: int) -> None:
        self._function, self._shape = function, shape
        self._mapped: dict[int, ca.Function] = {}
        self._p: Array | None = None

    def at(self, p: Array | None) -> BatchFunction:
        """The Function of all inputs but the last one, which is p at every state; ``None``: of all inputs."""
        twin = copy(self)
        twin._p = p
        return twin

    def __call__(self, *columns: Array) -> Array:
        n = len(columns[0])
        if self._p is not None:
            columns = (*columns, np.broadcast_to(self._p, (n, len(self._p))))
        try:
            values = self._map(n)(*(column.T for column in columns)).full()
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[-1]
            raise ArgumentError(f"the Function {self._function.name()!r} cannot be evaluated: {reason}") from error
        if not self._shape:
            return np.asarray(values[0])
        side_by_side = values.reshape(self._shape[0], n, -1).transpose(1, 0, 2)
        return np.asarray(side_by_side.reshape(n, *self._shape))

    def _map(self, n: int) -> Any:
        if n not in self._mapped:
            self._mapped[n] = (
                self._function.map(n, "thread", _THREADS)
                if self._function.is_a("SXFunction") and n >= _THREADS > 1
                else self._function.map(n)
            )
        return self._mapped[n]
