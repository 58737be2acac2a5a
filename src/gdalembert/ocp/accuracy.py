"""How far a solution is from the motion that its u causes, by finer steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.physical import columns
from gdalembert.ocp.bounds import NEGLIGIBLE, Bounds
from gdalembert.ocp.systems import System
from gdalembert.spatial.arrays import Array

_FEWEST, _MOST = 16, 4096
"""Limits of the number of Runge–Kutta steps in an interval."""
_RESOLVED = 0.5
"""Phase of the fastest vibration in one of these steps [rad]: it loses 1e-4 of its amplitude."""
_AT_REST = 1e-6
"""[rad/s, m/s] A robot that is slower is at rest, and a part of this is what its errors are compared with."""
_NONE = np.zeros(0)
"""The parameters of a robot without any."""


@dataclass(frozen=True, eq=False)
class FollowedPath:
    """A path of q and v at a solution: its expression, its bounds, and the values of its other inputs.

    ``constants`` have one column, or one for each instant of the grid.
    """

    graph: ca.Function
    lower: Array
    upper: Array
    constants: Mapping[str, Array]

    def excess(self, t: Array, q: Array, v: Array, grid: Array) -> float:
        """The largest violation by a motion, a row for each time."""
        states = {"q": q.T, "v": v.T, "t": t[None, :]}
        inputs = [states[name] if name in states else self._along(name, t, grid) for name in self.graph.name_in()]
        x = self.graph(*inputs).full()
        return float(np.maximum(self.lower[:, None] - x, x - self.upper[:, None]).max())

    def _along(self, name: str, t: Array, grid: Array) -> Array:
        value = self.constants[name]
        if value.shape[1] == 1:
            return np.tile(value, (1, len(t)))
        return np.array([np.interp(t, grid, row) for row in value])


@dataclass(frozen=True, eq=False)
class Accuracy:
    """A solution beside finer steps, which are taken when they are asked for.

    Args:
        system, bounds, control, p: of the solution.
        t, x, u: a row for each instant of the grid, or interval.
        paths: by name.
    """

    system: System
    bounds: Bounds
    control: str
    t: Array
    x: Array
    u: Array
    p: Array
    paths: Mapping[str, FollowedPath]

    @cached_property
    def _motion(self) -> tuple[float, Array, Array]:
        return finer_motion(self.system.dynamics, self.system.finer, self.t, self.x, self.u, self.control, self.p)

    @property
    def step_error(self) -> float:
        """As :attr:`~gdalembert.ocp.Solution.step_error`."""
        return self._motion[0]

    @cached_property
    def excess(self) -> dict[str, float]:
        """As :attr:`~gdalembert.ocp.Solution.excess`."""
        t, x = self._motion[1:] if np.isfinite(self.step_error) else (self.t, self.x)
        q, v = x[:, : self.system.robot.tree.nq], x[:, self.system.robot.tree.nq :]
        found = self.bounds.excess(q, v)
        over = {name: path.excess(t, q, v, self.t) for name, path in self.paths.items()}
        return found | {name: x for name, x in over.items() if x > NEGLIGIBLE}


def finer_motion(
    dyn: Dynamics, finer: ca.Function, t: Array, x: Array, u: Array, control: str, p: Array = _NONE
) -> tuple[float, Array, Array]:
    """The step error, infinite if the finer steps diverge; and times and states of all finer steps."""
    h = np.diff(t)
    reached, nq = ca.DM(x[:-1].T), dyn.tree.nq
    steps = min(max(_FEWEST, math.ceil(h.max() * _highest_frequency(dyn, x[0, :nq], p) / _RESOLVED)), _MOST)
    motion, times = [x[:1].T], [t[:1]]
    for i in range(steps):
        middle = (i + 0.5) / steps
        held = u if control == "constant" else (1 - middle) * u[:-1] + middle * u[1:]
        reached = finer(reached, held.T, h[None, :] / steps, *columns(p, len(h)))[0]
        motion.append(reached.full())
        times.append(t[:-1] + (i + 1) / steps * h)
    missed = (reached[nq:, :] - x[1:, nq:].T).full()
    energies = dyn.kinetic_energy(ca.DM(x[1:, :nq].T), missed, *columns(p, len(h))).full()
    kinetic = dyn.kinetic_energy(x[:, :nq].T, x[:, nq:].T, *columns(p, len(x))).full()
    slow = dyn.kinetic_energy(x[0, :nq], np.full(dyn.tree.nv, _AT_REST), *columns(p, 1))
    largest = max(np.abs(kinetic).max(), float(slow), np.finfo(float).tiny)
    error = float(np.sqrt(np.abs(energies).max() / largest))
    return error if np.isfinite(error) else math.inf, np.concatenate(times), np.hstack(motion).T


def _highest_frequency(dyn: Dynamics, q: Array, p: Array) -> float:
    """The highest natural frequency under springs and elasticity, at q [rad/s]."""
    stiffness = dyn.force_stiffness(q, p)
    if not stiffness.any():
        return 0.0
    squares = np.linalg.eigvals(np.linalg.solve(dyn.mass_matrix(q, *columns(p, 1)).full(), stiffness)).real
    return math.sqrt(max(squares.max(), 0.0))
