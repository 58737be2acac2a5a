"""The configurations of a motion at the times of its frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.configuration import check_unit_lengths, projected, unit_blocks
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.model.tree import Tree
from gdalembert.ocp.phases import PhasesSolution
from gdalembert.ocp.solution import Solution
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arguments import number, numbers, table
from gdalembert.spatial.arrays import Array
from gdalembert.viewer.scene import interpolation

Interpolant = Callable[[float], Array]
"""t [s] → q (nq)."""


def motion_of(tree: Tree, given: Any) -> tuple[float, float, Interpolant]:
    """Start [s] and end [s] of a motion, and its interpolant.

    Args:
        tree: the robot.
        given: a :class:`~gdalembert.simulation.result.Simulation`, a :class:`~gdalembert.ocp.Solution`, a
            :class:`~gdalembert.ocp.PhasesSolution`, or a pair (t, q) of increasing times (N) [s] and configurations
            (N × nq); the last three are interpolated on the configuration space.

    Raises:
        ArgumentTypeError: if it is none of these.
        ArgumentError: if shapes do not fit, times do not increase, or a unit length in q is off.
    """
    if isinstance(given, Simulation):
        if given.q.shape[1] != tree.nq:
            raise ArgumentError(f"play: the motion has q of {given.q.shape[1]} numbers; {tree.name} has {tree.nq}")
        return float(given.t[0]), float(given.t[-1]), lambda time: given.at(time)[0]
    if isinstance(given, Solution):
        given = (given.t, given.q)
    if isinstance(given, PhasesSolution):
        later = np.append(True, np.diff(given.t) > 0)
        given = (given.t[later], given.q[later])
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ArgumentTypeError(f"play: expected a Simulation, a Solution or a pair (t, q), got {type(given).__name__}")
    t = numbers("play: t", given[0])
    if t.ndim != 1 or t.size < 2:
        raise ArgumentError(f"play: t has shape {t.shape}; give at least two times (N,) [s]")
    q = table(f"play: q of {tree.name}", given[1], tree.nq, t.size)
    if np.any(np.diff(t) <= 0):
        k = int(np.argmax(np.diff(t) <= 0))
        raise ArgumentError(f"play: t: {t[k + 1]:g} s comes after {t[k]:g} s; give increasing times")
    check_unit_lengths("play: q", q, tree)
    q = projected(q, unit_blocks(tree))
    interpolate = interpolation(tree)

    def at(time: float) -> Array:
        k = min(int(np.searchsorted(t, time, side="right")) - 1, t.size - 2)
        return np.asarray(interpolate(q[k], q[k + 1], (time - t[k]) / (t[k + 1] - t[k])).full().ravel())

    return float(t[0]), float(t[-1]), at


def frame_times(start: float, end: float, speed: float, fps: float) -> tuple[Array, Array]:
    """Times of the frames after the first one, by the clock and in the motion [s].

    Raises:
        ArgumentTypeError: if ``speed`` or ``fps`` is not a number.
        ArgumentError: if one is not positive and finite.
    """
    speed, fps = number("play: speed", speed), number("play: fps", fps, "1/s")
    last = (end - start) / speed
    clock = np.append(np.arange(0, last * (1 - ROUND_OFF), 1 / fps), last)
    return clock, np.append(start + speed * clock[:-1], end)
