"""The times at which a motion is interrupted: output times, and those at which a digital controller acts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError
from gdalembert.spatial.arguments import number
from gdalembert.spatial.arrays import Array

_ROUNDING = 1e-9
"""Relative to the period: an output time as near to a sample as this is that sample."""
_MOST = 10_000_000


@dataclass(frozen=True, eq=False)
class Grid:
    """All these times, rising.

    Attributes:
        t: the times (N) [s].
        is_output: whether each of them is an output time (N).
        is_sample: whether a callable that is held is called there (N).
    """

    t: Array
    is_output: npt.NDArray[np.bool_]
    is_sample: npt.NDArray[np.bool_]

    @staticmethod
    def of(outputs: Array, period: float | None) -> Grid:
        """From output times; a callable that is held is called at all of them, or each ``period`` from the first on.

        Raises:
            ArgumentTypeError, ArgumentError: if the period cannot be used.
        """
        if period is None:
            every = np.ones(len(outputs), dtype=bool)
            return Grid(outputs, every, every)
        duration = outputs[-1] - outputs[0]
        if (count := duration / number("simulate: period", period, "s")) > _MOST:
            raise ArgumentError(f"simulate: period={period:g} s makes {count:.3g} samples; give at most {_MOST:g}")
        samples = outputs[0] + period * np.arange(int(count + _ROUNDING) + 1)
        after = np.clip(np.searchsorted(outputs, samples), 1, len(outputs) - 1)
        near = np.where(samples - outputs[after - 1] < outputs[after] - samples, outputs[after - 1], outputs[after])
        samples = np.where(np.abs(samples - near) <= _ROUNDING * period, near, samples)
        t = np.union1d(outputs, samples)
        return Grid(t, np.isin(t, outputs), np.isin(t, samples))
