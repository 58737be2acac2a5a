"""The stage of a motion: variables that the equations of motion connect, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.compilation.machine_code import external
from gdalembert.dynamics.constrained.constrained_dynamics import check_driven_by_u
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, shown
from gdalembert.model.configuration import unit_blocks
from gdalembert.model.limits import Bounds
from gdalembert.model.tree import Tree
from gdalembert.nlp.entries import Indices
from gdalembert.ocp import steps
from gdalembert.ocp.parameters import RobotParameters, entries_of, step_of_parts
from gdalembert.ocp.steps import RungeKutta, explicit_step
from gdalembert.ocp.system import System
from gdalembert.spatial.arguments import number, numbers
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import brief
from gdalembert.spatial.expressions import EvaluatedExpression, Expression, evaluate
from gdalembert.spatial.functions import function
from gdalembert.spatial.interrupts import interruptible


class Step(NamedTuple):
    """What steps lead to: the states behind each, and the residual of the equations, a column for each stage."""

    reached: ca.MX
    residual: ca.MX


class Stages(NamedTuple):
    """The motion at the stages of all intervals: one column for each in a problem, one row in a solution."""

    t: Any
    q: Any
    v: Any
    a: Any
    u: Any
    forces: Any

    def __repr__(self) -> str:
        return brief(self)


class Motion:
    """The variables of a motion, and the stage that connects two instants of its grid.

    The duration and the entries of p that are optimised are constants of the motion: states whose rate is zero. Thus
    only the gaps connect two intervals, and these are linear in the later one.

    Attributes:
        range: the shortest and the longest duration [s].
        effort: typical magnitudes of u (nu).
        state: a column for each of the N + 1 instants: q, v, and the constants, without what follows its load alone;
            ``size``: the number of entries before the constants. ``x``: all of q and v.
        u: a column for each interval, or instant if it is linear. ``u_before``: that of the interval before each
            instant, a state from which rates of u count; without columns if it is linear.
        k: the unknowns of implicit steps, a column for each stage: a, the rates of displacements of ``curved`` joints,
            and independent forces of constraints. ``s``: what moves the ends of the steps onto the constraints.
        t: times of the grid (1 × (N + 1)) [s].
        stages: t, q, v, a, u at the stages, a column for each; ``fractions`` are their times over the duration.
    """

    def __init__(
        self,
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
        self.system, self.parameters, self.bounds = system, parameters, bounds
        self.intervals, self.rule, self.control, self._compiled = intervals, rule, control, compiled
        self.dyn = dyn = system.robot
        largest = np.maximum(np.abs(bounds.u_lower), np.abs(bounds.u_upper))
        self.effort = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
        n, self.size = intervals, system.states
        self.free_time = isinstance(duration, tuple)
        self.range = duration if isinstance(duration, tuple) else (duration, duration)
        self.state = ca.MX.sym("x", self.size + self.free_time + len(parameters.chosen), n + 1)
        parameters.variables = self.state[self.size + self.free_time :, :]
        self.u = ca.MX.sym("u", dyn.nu, n + (control == "linear"))
        self.u_before = ca.MX.sym("u_before", dyn.nu, (n + 1) * (control == "constant"))
        self.fractions = (np.arange(n)[:, None] + rule.c).ravel() / n
        self.k: ca.MX | None = None
        self.s = ca.MX.sym("s", system.projections, n) if system.projections and not rule.is_explicit else None
        self.curved = [] if rule.is_explicit or len(rule.c) == 1 else curved_velocities(dyn.tree)
        if not rule.is_explicit:
            rows = dyn.tree.nv + len(self.curved) + system.independent
            self.k = ca.MX.sym("k", rows, n * len(rule.c))
        self._durations = self.durations_of(self.state)
        self.t = self._durations * ca.DM(np.linspace(0, 1, n + 1)).T
        self.x = system.on_grid(self.state[: self.size, :], self.k, rule)
        begin, end = (self.u, self.u) if control == "constant" else (self.u[:, :-1], self.u[:, 1:])
        p = parameters.columns(n) if len(parameters) else []
        stages, _ = self.step(self.state[:, :-1], begin, end, self.k, self.s, p)
        self.stages = stages._replace(t=self.at_stages(self._durations) * ca.DM(self.fractions).T)

    def durations_of(self, state: ca.MX) -> ca.MX:
        """The duration in each column of states [s]."""
        if self.free_time:
            return state[self.size, :]
        return ca.MX(ca.DM.ones(1, state.shape[1]) * self.range[0])

    @property
    def duration(self) -> ca.MX:
        """The duration as the first interval knows it [s]."""
        return self._durations[0]

    def rate(self, u: ca.MX, other: ca.MX, duration: ca.MX) -> ca.MX:
        """du of intervals (columns), of u where they begin and, at their ends if it is linear, or before them."""
        change = u - other if self.control == "constant" else other - u
        return ca.MX(change / ca.repmat(duration / self.intervals, change.shape[0], 1))

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
        matrices = (self.state, 1), (self.u_before, 1), (self.k, len(self.rule.c)), (self.s, 1), (self.u, 1)
        return [(matrix, width) for matrix, width in matrices if matrix is not None]

    @property
    def variables(self) -> list[ca.MX]:
        """The matrices of variables."""
        return [matrix for matrix, _ in self.blocks]

    def entries(self, matrix: ca.MX) -> Indices:
        """The numbers of a matrix's entries among those of all variables, column by column."""
        return entries_of(matrix, self.variables)

    def at_stages(self, rows: ca.MX) -> ca.MX:
        """A column for each stage, of a matrix with one for each instant of the grid: that of its interval's start."""
        return ca.kron(rows[:, : self.intervals], ca.DM.ones(1, len(self.rule.c)))

    def columns_of_p(self, n: int) -> list[ca.MX]:
        """p, if there is any, a column for each of n states, at the instants of the grid or at the stages."""
        if not len(self.parameters):
            return []
        p = self.parameters.along
        return [ca.repmat(p, 1, n) if p.shape[1] == 1 else p if p.shape[1] == n else self.at_stages(p)]

    @property
    def inner(self) -> list[int]:
        """The stages of an interval, of two and more, that are at none of its ends: q and v are limited there, too."""
        if self.sees_midpoints_alone:
            return []
        return np.flatnonzero((self.rule.c > 0) & (self.rule.c < 1)).tolist()

    @interruptible
    def integral(self, values: ca.MX) -> ca.MX:
        """The integral over the motion of values, a column for each stage."""
        weights = np.tile(self.rule.b, self.intervals) / self.intervals
        return ca.MX(values @ (self.at_stages(self._durations) * ca.DM(weights).T).T)

    @property
    def sees_midpoints_alone(self) -> bool:
        """Whether the only stage of an interval is inside it."""
        return len(self.rule.c) == 1 and bool(0 < self.rule.c[0] < 1)

    def integral_over_grid(self, values: ca.MX) -> ca.MX:
        """The integral of values by the trapezoidal rule, a column for each instant of the grid."""
        weights = np.r_[0.5, np.ones(self.intervals - 1), 0.5] / self.intervals
        return ca.MX(values @ (self._durations * ca.DM(weights).T).T)

    def compiled(self, graph: ca.Function) -> ca.Function:
        """A Function as machine code, if the problem asks for it."""
        return external(graph, 2, f"Problem: {self.dyn.tree.name}") if self._compiled else graph

    @interruptible
    def evaluate(self, expression: Expression, at: str, named: Mapping[str, ca.MX]) -> EvaluatedExpression:
        """An expression of q, v, a, u, du, t, p and the parameters ``named`` of the problem, compiled if steps are.

        ``at``: each of the ``"stages"``, each instant of the ``"grid"``, or the first or last one.
        """
        compiled = partial(external, order=2, where=f"Problem: {self.dyn.tree.name}") if self._compiled else None
        others = ({"p": self.parameters.along} if self.dyn.parameters else {}) | dict(named)
        if at == "stages":
            u, n = self.u[:, : self.intervals], self.intervals
            other = self.u_before[:, :n] if self.control == "constant" else self.u[:, 1:]
            rate = self.at_stages(self.rate(u, other, self._durations[:, :n]))
            names = ("q", "v", "a", "u", "du", "t", *["forces"][: self.system.con.nc])
            states = {name: rate if name == "du" else getattr(self.stages, name) for name in names}
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

    def evaluate_at(self, expression: Expression, k: int, named: Mapping[str, ca.MX]) -> EvaluatedExpression:
        """An expression of q, v, u, t, p and parameters at one instant of the grid."""
        others = ({"p": self.parameters.along} if self.dyn.parameters else {}) | dict(named)
        nq, x, u = self.dyn.tree.nq, self.x[:, k], self.u[:, min(k, self.u.shape[1] - 1)]
        states = {"q": x[:nq], "v": x[nq:], "u": u, "t": self.t[:, k]}
        others = {name: x[:, k] if x.shape[1] > 1 else x for name, x in others.items()}
        return evaluate(expression, states | others, f"instant {k}", named)

    def step(
        self, x: ca.MX, begin: ca.MX, end: ca.MX, k: ca.MX | None, s: ca.MX | None, p: Sequence[ca.MX]
    ) -> tuple[Stages, Step]:
        """The stages of n steps, and what they lead to: a column of x, u at both ends, s and p for each.

        ``k`` has a column for each stage.
        """
        system, _dyn, rule, n = self.system, self.dyn, self.rule, x.shape[1]
        points, h = n * len(rule.c), self.durations_of(x) / self.intervals
        u = begin @ _both(n, 1 - rule.c) + end @ _both(n, rule.c)

        def mapped(step: ca.Function, count: int, *inputs: ca.MX) -> Any:
            own = list(p) if count == n else [ca.kron(each, ca.DM.ones(1, len(rule.c))) for each in p]
            graph = self.compiled(step_of_parts(step, self.parameters) if p else step)
            return (graph.map(count) if count > 1 else graph)(*inputs, *own)

        states = x[: self.size, :]
        if k is None:
            both = begin
            if self.control == "linear":
                both = ca.reshape(ca.vertcat(begin, end), begin.shape[0], 2 * n)
            reached, q, v, a = mapped(self._explicit, n, states, both, h)
            return Stages(ca.MX(1, points), q, v, a, u, ca.MX(0, points)), Step(reached, ca.MX(0, points))
        stages, step = implicit_step(system, rule, self.curved, states, u, k, s, h, mapped)
        return stages, step

    @cached_property
    def _explicit(self) -> ca.Function:
        return explicit_step(self.dyn, self.rule, self.control)


def implicit_step(
    system: System,
    rule: RungeKutta,
    curved: Sequence[int],
    states: ca.MX,
    u: ca.MX,
    k: ca.MX,
    s: ca.MX | None,
    h: ca.MX,
    mapped: Callable[..., Any],
) -> tuple[Stages, Step]:
    """The stages of n steps of an implicit method, and what they lead to.

    With the displacements d_i of q, their rates σ_j and the accelerations a_j,

        v_i = v + h Σ A_ij a_j     d_i = h Σ A_ij σ_j     q_i = q ⊕ d_i     tau(q_i, v_i, a_i) = tau of u_i

    σ = v where displacements add up; where they do not, as those of a free-flyer, J(d_i) σ_i = v_i with the right
    Jacobian J of ⊕ (Munthe-Kaas 1999): the order of the method is that in a vector space, and unit lengths stay.

    Args:
        states: a column for each step. ``u``, ``k``: one for each stage. ``s``: of projections, if there are any.
        h: the length of each step [s] (1 × n).
        mapped: (Function, count, inputs …) → its values, with p behind the inputs.
    """
    n, degree, nv = states.shape[1], len(rule.c), system.con.tree.nv
    once, count = ca.DM.ones(1, degree), states.shape[1] * degree
    positions, v_begin = states[: system.positions, :], states[system.positions :, :]
    moving, sums = k[system.moving, :], _both(n, rule.a)
    long = ca.repmat(ca.kron(h, once), moving.shape[0], 1)
    rate = ca.kron(v_begin, once) + long * (moving @ sums)
    rates = ca.MX(rate)
    if curved:
        rates[list(curved), :] = k[nv : nv + len(curved), :]
    displaced = long * (rates @ sums)
    q = system.with_stiff(_mapped(system.moved, count, ca.kron(positions, once), displaced), k)
    v, a = system.with_stiff_rates(rate), system.accelerations(k)
    forces = k[k.shape[0] - system.independent :, :]
    unit, residual = mapped(system.stage, count, q, v, a, forces, u)
    if curved:
        left = _mapped(system.rates_left(curved), count, displaced, rates, rate)
        residual = ca.vertcat(residual[:nv, :], left, residual[nv:, :])
    last, whole = _both(n, rule.b[None, :]), ca.repmat(h, moving.shape[0], 1)
    to, v_next = whole * (rates @ last), v_begin + whole * (moving @ last)
    if s is not None:
        by_q, by_v = mapped(system.projection, n, system.at_starts(states, k, rule), s)
        to, v_next = to + by_q, v_next + by_v
    q_next = _mapped(system.moved, n, positions, to)
    at = Stages(ca.MX(1, count), unit if unit_blocks(system.con.tree) else q, v, a, u, system.forces(k))
    return at, Step(ca.vertcat(q_next, v_next), residual)


def collocation(dyn: Dynamics, *, degree: int = 3, scheme: str = "legendre", control: str = "constant") -> ca.Function:
    """A step of implicit collocation with inverse dynamics as the residual: no mass matrix is inverted.

    Args:
        dyn: rigid or flexible.
        degree: number of collocation points, 1 to 9.
        scheme: ``"legendre"``, of order 2 degree; or ``"radau"``, of order 2 degree − 1, which damps stiff dynamics and
            has its last point at the end of the step. Both preserve the lengths of quaternions.
        control: as in :func:`~gdalembert.ocp.rk4`.

    Returns:
        (x, k, u, h) → (x_next, residual, q, v, a): k has a column for each collocation point, the accelerations (nv)
        and below them, with two points or more, the rates of displacements of joints that turn about several axes
        (:func:`curved_velocities`); ``residual`` (as long as k) is zero for the k of the motion: tau(q_i, v_i, a_i)
        less that of u_i, and what these rates miss. If the robot has parameters, p is the last input.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used.
    """
    check_driven_by_u("collocation", dyn)
    system, rule = System("collocation", dyn), steps.collocation_method(degree, scheme)
    curved = curved_velocities(dyn.tree) if degree > 1 else []
    s = steps.step_symbols(dyn, control, k=(dyn.nv + len(curved), degree))
    inputs = {name: ca.MX.sym(name, *x.shape) for name, x in s.items()}
    x, k, u, h, *p = inputs.values()
    begin, end = (u, u) if control == "constant" else (u[:, 0], u[:, 1])
    at_stages = begin @ _both(1, 1 - rule.c) + end @ _both(1, rule.c)

    def mapped(graph: ca.Function, count: int, *given: ca.MX) -> Any:
        return _mapped(graph, count, *given, *(ca.repmat(each, 1, count) for each in p))

    at, step = implicit_step(system, rule, curved, x, at_stages, k, None, h, mapped)
    outputs = [step.reached, ca.vec(step.residual), at.q, at.v, at.a]
    names = ["x_next", "residual", "q", "v", "a"]
    graph = ca.Function("collocation", list(inputs.values()), outputs, list(inputs), names)
    values = graph.expand().call(list(s.values()))
    return steps.differentiable(function("collocation", s, dict(zip(names, values, strict=True))))


def _both(n: int, weights: Array) -> ca.DM:
    """What sums the stages of each of n steps: the transpose of weights (rows of them), on the diagonal."""
    return ca.sparsify(ca.kron(ca.DM.eye(n), ca.DM(np.atleast_2d(weights)).T if weights.ndim > 1 else ca.DM(weights).T))


def _mapped(graph: ca.Function, count: int, *inputs: ca.MX) -> Any:
    """A Function at many columns."""
    return (graph.map(count) if count > 1 else graph)(*inputs)


def curved_velocities(tree: Tree) -> list[int]:
    """The entries of v of joints whose displacements do not add up, as rotations about several axes."""
    found: list[int] = []
    for joint in tree.independent_joints:
        _, along = joint.type.integrate_derivatives(ca.SX.sym("v", joint.type.nv))
        if not (isinstance(along, ca.DM) and ca.is_equal(along, ca.DM.eye(joint.type.nv))):
            found += list(joint.columns)
    return found


def _spread(n: int, c: Array, control: str) -> ca.DM:
    """The matrix that turns u into a column for each stage, at fractions c of n intervals."""
    if control == "constant":
        return ca.kron(ca.DM.eye(n), ca.DM.ones(1, len(c)))
    eye, none = ca.DM.eye(n), ca.DM(1, n)
    return ca.sparsify(ca.kron(ca.vertcat(eye, none), ca.DM(1 - c).T) + ca.kron(ca.vertcat(none, eye), ca.DM(c).T))


def checked_duration(duration: float | tuple[float, float]) -> float | tuple[float, float]:
    """A number [s], or (shortest, longest); an ArgumentTypeError or an ArgumentError if it is neither."""
    if not isinstance(duration, Sequence | np.ndarray):
        return number("duration", duration, "s")
    ends = numbers("duration", duration)
    if ends.shape == ():
        return number("duration", ends.item(), "s")
    if ends.shape != (2,) or not 0 < ends[0] < ends[1]:
        raise ArgumentError(f"duration: got {shown(duration)}; give one number [s], or (shortest, longest)")
    return float(ends[0]), float(ends[1])
