"""The variables of a motion in an ``Opti``, connected by the equations of motion: one step for each interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.compilation.machine_code import external
from gdalembert.errors import ArgumentError, shown
from gdalembert.model.configuration import neutral, unit_blocks
from gdalembert.model.limits import Bounds
from gdalembert.ocp.parameters import RobotParameters, step_of_parts
from gdalembert.ocp.steps import RungeKutta, explicit_step, free_rates
from gdalembert.ocp.systems import System
from gdalembert.spatial.arguments import number, numbers
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.expressions import EvaluatedExpression, Expression, evaluate
from gdalembert.spatial.interrupts import interruptible


class Stages(NamedTuple):
    """The motion at the stages of all intervals: one column for each in a problem, one row in a solution."""

    t: Any
    q: Any
    v: Any
    a: Any
    u: Any
    forces: Any


class TranscribedMotion:
    """The variables of a motion, those of an interval apart from those of any other.

    The duration and the entries of p that are optimised are constants of the motion: states whose rate is zero. Thus
    only the gaps connect two intervals, and these are linear in the later one.

    Attributes:
        range: the shortest and the longest duration [s].
        effort: typical magnitudes of u (nu).
        state: a column for each of the N + 1 instants: q, v, and the constants, without what follows its load alone;
            ``size``: the number of entries before the constants. ``x``: all of q and v.
        u: a column for each interval, or instant if it is linear.
        k: the unknowns of implicit steps, a column for each stage: a, the rates of the entries ``free`` of q, and
            independent forces of constraints. ``s``: what moves the ends of the steps onto the constraints.
        t: times of the grid (1 × (N + 1)) [s].
        stages: t, q, v, a, u at the stages, a column for each; ``fractions`` are their times over the duration.
        reached: the state at the end of each interval, that the steps give.
        equations: residuals of the equations of motion. ``gaps``: the number of the constraint that connects the
            intervals.
    """

    def __init__(
        self,
        opti: ca.Opti,
        system: System,
        parameters: RobotParameters,
        bounds: Bounds,
        intervals: int,
        duration: float | tuple[float, float],
        rule: RungeKutta,
        control: str,
        *,
        compiled: bool,
    ) -> None:
        self.opti, self.system, self.parameters, self.bounds = opti, system, parameters, bounds
        self.intervals, self.rule, self.control, self._compiled = intervals, rule, control, compiled
        self.dyn = dyn = system.robot
        largest = np.maximum(np.abs(bounds.u_lower), np.abs(bounds.u_upper))
        self.effort = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
        n, self.size = intervals, system.states
        self.free_time = isinstance(duration, tuple)
        self.range = duration if isinstance(duration, tuple) else (duration, duration)
        self.state = opti.variable(self.size + self.free_time + len(parameters.chosen), n + 1)
        constants = self.state[self.size :, :]
        parameters.place(constants[int(self.free_time) :, :])
        self._durations = constants[0, :] if self.free_time else ca.MX(ca.DM.ones(1, n + 1) * self.range[0])
        self.u = opti.variable(dyn.nu, n + (control == "linear"))
        self.t = self._durations * ca.DM(np.linspace(0, 1, n + 1)).T
        self.fractions = (np.arange(n)[:, None] + rule.c).ravel() / n
        self.k: ca.MX | None = None
        self.s = opti.variable(system.projections, n) if system.projections else None
        self.free: list[int] = []
        self._connect()
        self.x = system.on_grid(self.state[: self.size, :], self.k, rule)

    @property
    def duration(self) -> ca.MX:
        """The duration as the first interval knows it [s]."""
        return self._durations[0]

    @property
    def overlap(self) -> str:
        """Why intervals share variables; empty if none do."""
        if self.control == "constant":
            return ""
        return (
            "control='linear' connects intervals, each of which ends with the u that the next one begins with; take "
            "control='constant'"
        )

    @property
    def blocks(self) -> list[tuple[ca.MX, int]]:
        """Each matrix of variables, and how many of its columns belong to an interval."""
        matrices = (self.state, 1), (self.k, len(self.rule.c)), (self.s, 1), (self.u, 1)
        return [(matrix, width) for matrix, width in matrices if matrix is not None]

    def at_stages(self, rows: ca.MX) -> ca.MX:
        """A column for each stage, of a matrix with one for each instant of the grid: that of its interval's start."""
        return ca.kron(rows[:, : self.intervals], ca.DM.ones(1, len(self.rule.c)))

    def columns_of_p(self, n: int) -> list[ca.MX]:
        """p, if there is any, a column for each of n states, at the instants of the grid or at the stages."""
        if not len(self.parameters):
            return []
        p = self.parameters.along
        return [ca.repmat(p, 1, n) if p.shape[1] == 1 else p if p.shape[1] == n else self.at_stages(p)]

    def inside(self, columns: ca.MX) -> ca.MX:
        """The columns, of one for each stage, of those stages that are not at an instant of the grid."""
        c = self.rule.c
        return columns[:, np.flatnonzero(np.tile((c > 0) & (c < 1), self.intervals)).tolist()]

    @interruptible
    def integral(self, values: ca.MX) -> ca.MX:
        """The integral over the motion of values, a column for each stage."""
        weights = np.tile(self.rule.b, self.intervals) / self.intervals
        return ca.MX(values @ (self.at_stages(self._durations) * ca.DM(weights).T).T)

    @interruptible
    def evaluate(self, expression: Expression, at: str, named: Mapping[str, ca.MX]) -> EvaluatedExpression:
        """An expression of q, v, a, u, t, p and the parameters ``named`` of the problem, compiled if steps are.

        ``at``: each of the ``"stages"``, each instant of the ``"grid"``, or the first or last one.
        """
        compiled = partial(external, order=2, where=f"Problem: {self.dyn.tree.name}") if self._compiled else None
        others = ({"p": self.parameters.along} if self.dyn.parameters else {}) | dict(named)
        if at == "stages":
            names = ("q", "v", "a", "u", "t", *["forces"][: self.system.con.nc])
            states = {name: getattr(self.stages, name) for name in names}
            for name, x in others.items():
                if x.shape[1] > 1:
                    others[name] = (
                        self.at_stages(x) if name == "p" else x @ _spread(self.intervals, self.rule.c, "linear")
                    )
            return evaluate(expression, states | others, at, named, compiled=compiled)
        nq, column = self.dyn.tree.nq, {"start": [0], "end": [self.intervals]}.get(at, slice(None))
        x = self.x[:, column]
        states = {"q": x[:nq, :], "v": x[nq:, :], "t": self.t[:, column]}
        others = {name: x[:, column] if x.shape[1] > 1 else x for name, x in others.items()}
        return evaluate(expression, states | others, at, named, compiled=compiled)

    def _connect(self) -> None:
        """Add the equations of motion, and that each interval begins where the one before ends."""
        opti, system, n, dyn, parameters = self.opti, self.system, self.intervals, self.dyn, self.parameters
        rule, control, points = self.rule, self.control, self.intervals * len(self.rule.c)
        p = parameters.columns(n) if len(parameters) else []
        begins, steps = self.state[: self.size, :-1], self._durations[:, :-1] / n
        u = self.u @ _spread(n, rule.c, control)

        def mapped(step: ca.Function, count: int) -> ca.Function:
            graph = step_of_parts(step, parameters) if p else step
            return (external(graph, 2, f"Problem: {dyn.tree.name}") if self._compiled else graph).map(count)

        residual, forces = ca.MX(0, 1), ca.MX(0, points)
        if rule.is_explicit:
            both = (np.repeat(np.arange(n), 2) + np.tile([0, 1], n)).tolist()
            ends = self.u if control == "constant" else self.u[:, both]
            x_next, q, v, a = mapped(explicit_step(dyn, rule, control), n)(begins, ends, steps, *p)
        else:
            self.free = free_rates(dyn.tree)[0]
            self.k = opti.variable(dyn.tree.nv + len(self.free) + system.independent, points)
            q, v, k, x_next = system.points(rule, begins, self.k, steps)
            unit, residual = mapped(system.stage, points)(q, v, k, u, *map(self.at_stages, p))
            q, a, forces = (unit if unit_blocks(dyn.tree) else q), k[: dyn.tree.nv, :], system.forces(k)
            if self.s is not None:
                x_next += mapped(system.projection, n)(begins, self.s, *p)
            rest = neutral(dyn.tree).full().ravel()
            efforts = np.abs(system.dynamics.actuators.derivatives(rest, self.effort)[1]) @ self.effort
            sizes = np.concatenate([np.where(efforts > 0, efforts, 1.0), np.ones(len(self.free) + system.independent)])
            opti.subject_to(ca.vec(residual) == 0, np.tile(sizes, points))
        self.reached = ca.vertcat(x_next, self.state[self.size :, :-1])
        gaps = ca.vec(self.state[:, 1:] - self.reached)
        self.gaps = len(opti.advanced.constraints())
        opti.subject_to(gaps == 0)
        self.equations = ca.vertcat(ca.vec(residual), gaps)
        times = self.at_stages(self._durations) * ca.DM(self.fractions).T
        self.stages = Stages(times, q, v, a, u, forces)


def _spread(n: int, c: Array, control: str) -> ca.DM:
    """The matrix that turns u into a column for each stage, at fractions c of n intervals."""
    if control == "constant":
        return ca.kron(ca.DM.eye(n), ca.DM.ones(1, len(c)))
    eye, none = ca.DM.eye(n), ca.DM(1, n)
    return ca.sparsify(ca.kron(ca.vertcat(eye, none), ca.DM(1 - c).T) + ca.kron(ca.vertcat(none, eye), ca.DM(c).T))


def checked_duration(duration: float | tuple[float, float]) -> float | tuple[float, float]:
    """[s], or (shortest, longest), refused by an ArgumentTypeError or an ArgumentError if it is neither."""
    if not isinstance(duration, Sequence | np.ndarray):
        return number("duration", duration, "s")
    ends = numbers("duration", duration)
    if ends.shape == ():
        return number("duration", ends.item(), "s")
    if ends.shape != (2,) or not 0 < ends[0] < ends[1]:
        raise ArgumentError(f"duration: got {shown(duration)}; give one number [s], or (shortest, longest)")
    return float(ends[0]), float(ends[1])
