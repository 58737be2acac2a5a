"""The stage of a motion: what an interval is, as one Function of x, u, unknowns of the step, and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
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
from gdalembert.nlp.stage_terms import Rows, StageTerm
from gdalembert.ocp.system import steps
from gdalembert.ocp.system.parameters import Inputs, RobotParameters, entries_of, matrices_of, step_of_parts
from gdalembert.ocp.system.steps import RungeKutta, explicit_step
from gdalembert.ocp.system.system import System
from gdalembert.spatial.arguments import number, numbers
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import brief
from gdalembert.spatial.expressions import EvaluatedExpression, Expression, evaluate
from gdalembert.spatial.functions import function
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.progress import progress as show_progress


class Step(NamedTuple):
    """Result of a step: the state behind it, and the residual of the equations, a column for each stage."""

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
        progress: bool,
    ) -> None:
        self.system, self.parameters, self.bounds = system, parameters, bounds
        self.intervals, self.rule, self.control = intervals, rule, control
        self._compiled, self._progress = compiled, progress
        self._graphs: dict[int, tuple[ca.Function, ca.Function]] = {}
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
        inputs = [self.state[:, :-1], begin, end, self.k, self.s, *self.parameters.columns(n)]
        graph = self._stages_of_interval()
        values = (graph.map(n) if n > 1 else graph).call([x for x in inputs if x is not None])
        self.stages = Stages(self.at_stages(self._durations) * ca.DM(self.fractions).T, *values)

    def _stages_of_interval(self) -> ca.Function:
        """(x, u at both ends, unknowns, parts of p) → (q, v, a, u, forces): the stages of an interval."""
        x, nu, parts = ca.MX.sym("x", self.state.shape[0]), self.dyn.nu, self.parameters.symbols()
        u = [ca.MX.sym(name, nu) for name in ("u", "u_next")]
        k = None if self.k is None else ca.MX.sym("k", self.k.shape[0], len(self.rule.c))
        s = None if self.s is None else ca.MX.sym("s", self.s.shape[0])
        stages, _ = self.step(x, u[0], u[1], k, s, parts)
        return ca.Function("stages", [y for y in (x, *u, k, s, *parts) if y is not None], list(stages[1:]))

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
        """True if the only stage of an interval is inside it."""
        return len(self.rule.c) == 1 and bool(0 < self.rule.c[0] < 1)

    def integral_over_grid(self, values: ca.MX) -> ca.MX:
        """The integral of values by the trapezoidal rule, a column for each instant of the grid."""
        weights = np.r_[0.5, np.ones(self.intervals - 1), 0.5] / self.intervals
        return ca.MX(values @ (self._durations * ca.DM(weights).T).T)

    def compiled(self, graph: ca.Function) -> ca.Function:
        """A Function as machine code, if the problem asks for it."""
        return self._compile(graph) if self._compiled else graph

    def _compile(self, graph: ca.Function) -> ca.Function:
        with show_progress(f"{self.dyn.tree.name}: machine code of {graph.name()}", shown=self._progress) as line:
            compiled = external(graph, 2, f"Problem: {self.dyn.tree.name}")
            line.show("")
        self._graphs[hash(compiled)] = compiled, graph
        return compiled

    def uncompiled(self) -> Motion:
        """The same, whose steps are graphs."""
        motion = copy(self)
        motion._compiled = False
        return motion

    def graph_of(self, function: ca.Function) -> ca.Function:
        """The Function of which one is the machine code, or that one itself."""
        return self._graphs.get(hash(function), (function, function))[1]

    @interruptible
    def evaluate(self, expression: Expression, at: str | int, named: Mapping[str, ca.MX]) -> EvaluatedExpression:
        """An expression of q, v, a, u, du, t, p and the parameters ``named`` of the problem, compiled if steps are.

        ``at``: each of the ``"stages"``, each instant of the ``"grid"``, or the number of one, where u is available.
        """
        compiled = self._compile if self._compiled else None
        others, n = ({"p": self.parameters.along} if self.dyn.parameters else {}) | dict(named), self.intervals
        if at == "stages":
            u, other = self.u[:, :n], self.u_before[:, :n] if self.control == "constant" else self.u[:, 1:]
            rate = self.at_stages(self.rate(u, other, self._durations[:, :n]))
            names = ("q", "v", "a", "u", "du", "t", *["forces"][: self.system.con.nc])
            known = {name: rate if name == "du" else getattr(self.stages, name) for name in names}
            for name, x in others.items():
                if x.shape[1] > 1:
                    others[name] = self.at_stages(x) if name == "p" else x @ _spread(n, self.rule.c)
            return evaluate(expression, known | others, at, named, compiled=compiled)
        columns, nq = [at] if isinstance(at, int) else slice(None), self.dyn.tree.nq
        known = {"q": self.x[:nq, columns], "v": self.x[nq:, columns], "t": self.t[:, columns]}
        if isinstance(at, int):
            known["u"] = self.u[:, min(at, self.u.shape[1] - 1)]
        others = {name: x[:, columns] if x.shape[1] > 1 else x for name, x in others.items()}
        return evaluate(
            expression, known | others, at if isinstance(at, str) else f"instant {at}", named, compiled=compiled
        )

    def step(
        self, x: ca.MX, begin: ca.MX, end: ca.MX, k: ca.MX | None, s: ca.MX | None, p: Sequence[ca.MX]
    ) -> tuple[Stages, Step]:
        """The stages of a step, and what it leads to, of x, u at both ends, k, s and the parts of p."""
        count, h, c = len(self.rule.c), self.durations_of(x) / self.intervals, ca.DM(self.rule.c).T
        is_linear = self.control == "linear"
        u = begin @ (1 - c) + end @ c if is_linear else ca.repmat(begin, 1, count)

        def mapped(step: ca.Function, count: int, *inputs: ca.MX) -> Any:
            graph = self.compiled(step_of_parts(step, self.parameters) if p else step)
            return mapped_over(graph, count, *inputs, *(ca.repmat(part, 1, count) for part in p))

        state = x[: self.size]
        if k is None:
            reached, q, v, a = mapped(self._explicit, 1, state, ca.horzcat(begin, end) if is_linear else begin, h)
            return Stages(ca.MX(1, count), q, v, a, u, ca.MX(0, count)), Step(reached, ca.MX(0, count))
        return implicit_step(self.system, self.rule, self.curved, state, u, k, s, h, mapped)

    @cached_property
    def _explicit(self) -> ca.Function:
        return explicit_step(self.dyn, self.rule, self.control)


def implicit_step(
    system: System,
    rule: RungeKutta,
    curved: Sequence[int],
    state: ca.MX,
    u: ca.MX,
    k: ca.MX,
    s: ca.MX | None,
    h: ca.MX,
    mapped: Callable[..., Any],
) -> tuple[Stages, Step]:
    """The stages of a step of an implicit method, and what it leads to.

    With the displacements d_i of q, their rates σ_j and the accelerations a_j,

        v_i = v + h Σ A_ij a_j     d_i = h Σ A_ij σ_j     q_i = q ⊕ d_i     tau(q_i, v_i, a_i) = tau of u_i

    σ = v where displacements add up; where they do not, as those of a free-flyer, J(d_i) σ_i = v_i with the right
    Jacobian J of ⊕ (Munthe-Kaas 1999): the order of the method is that in a vector space, and unit lengths stay.

    Args:
        u, k: a column for each stage. ``s``: of projections, if there are any. ``h``: the length of the step [s].
        mapped: (Function, count, inputs …) → its values at so many columns, with p behind the inputs.
    """
    count, nv = len(rule.c), system.con.tree.nv
    position, velocity = state[: system.positions], state[system.positions :]
    moving, sums, last = k[system.moving, :], ca.sparsify(ca.DM(rule.a).T), ca.DM(rule.b)
    rate = ca.repmat(velocity, 1, count) + h * (moving @ sums)
    rates = ca.MX(rate)
    if curved:
        rates[list(curved), :] = k[nv : nv + len(curved), :]
    displaced = h * (rates @ sums)
    q = system.with_stiff(mapped_over(system.moved, count, ca.repmat(position, 1, count), displaced), k)
    v, a = system.with_stiff_rates(rate), system.accelerations(k)
    forces = k[k.shape[0] - system.independent :, :]
    unit, residual = mapped(system.stage, count, q, v, a, forces, u)
    if curved:
        left = mapped_over(system.rates_left(curved), count, displaced, rates, rate)
        residual = ca.vertcat(residual[:nv, :], left, residual[nv:, :])
    to, v_next = h * (rates @ last), velocity + h * (moving @ last)
    if s is not None:
        by_q, by_v = mapped(system.projection, 1, system.at_instant(state, k, rule, last=False), s)
        to, v_next = to + by_q, v_next + by_v
    at = Stages(ca.MX(1, count), unit if unit_blocks(system.con.tree) else q, v, a, u, system.forces(k))
    return at, Step(ca.vertcat(system.moved(position, to), v_next), residual)


def mapped_over(graph: ca.Function, count: int, *inputs: ca.MX) -> Any:
    """A Function at many columns."""
    return (graph.map(count) if count > 1 else graph)(*inputs)


class CostTerm(NamedTuple):
    """A term of a cost: a weight of parameters times ∫ graph dt, or times an expression at one instant of the grid.

    Attributes:
        weight, graph: of it. ``instant``: that of an expression; −1 of an integral.
        has_grid: whether an integral is taken by Simpson's rule, which has the grid in it.
        residuals: those of which ``graph`` is the sum of squares, if it was said so.
    """

    weight: ca.MX
    graph: ca.Function
    instant: int = -1
    has_grid: bool = False
    residuals: ca.Function | None = None

    @property
    def shares(self) -> tuple[float, float]:
        """The shares of the quadrature at the stages, and of the trapezoidal rule at the grid."""
        return (2 / 3, 1 / 3) if self.has_grid else (1.0, 0.0)


class Instant(NamedTuple):
    """Quantities by name at one or several instants, a column for each."""

    values: Mapping[str, ca.MX]
    columns: int

    def __call__(self, graph: ca.Function) -> ca.MX:
        """An expression, a column for each instant."""
        inputs = [self.values[name] for name in graph.name_in()]
        inputs = [ca.repmat(x, 1, self.columns // x.shape[1]) for x in inputs]
        return ca.MX((graph.map(self.columns) if self.columns > 1 else graph).call(inputs)[0])


def instants_of_interval(
    rule: RungeKutta,
    state: tuple[ca.MX, ca.MX],
    stages: Stages,
    times: tuple[ca.MX, ca.MX],
    known: Mapping[str, ca.MX],
) -> tuple[Instant, Instant]:
    """Quantities where an interval begins, with its a, u and forces, and at its stages.

    Args:
        state: q and v where it begins. ``stages``: of the motion. ``times``: where it begins, and its length [s].
        known: parameters by name: a column, or two of what varies, at both ends.
    """
    c = ca.DM(rule.c).T
    values = stages._asdict() | {"t": times[0] + times[1] * c}
    values |= {name: x @ ca.vertcat(1 - c, c) if x.shape[1] == 2 else x for name, x in known.items()}
    begin = {"q": state[0], "v": state[1], "t": times[0]} | {name: x[:, 0] for name, x in known.items()}
    first = {name: x[:, 0] for name, x in stages._asdict().items()}
    return Instant(first | begin, 1), Instant(values, len(rule.c))


class StageSymbols:
    """Variables and parameters of a stage as symbols, and where these are at each of its places.

    Attributes:
        fraction: that of the duration where a place begins. ``p``: the robot's parameters but for the design.
        named: the parameters of the problem; of those of every instant, columns at both ends of an interval.
        variables, parameters: all symbols.
    """

    def __init__(self, inputs: Inputs, motion: Motion, instants: Indices, *, interval: bool) -> None:
        self._inputs, self._instants, self._local = inputs, instants, dict[int, ca.MX]()
        self.variables, self._of_x = list[ca.MX](), list[Indices]()
        self.fraction = ca.MX.sym("fraction")
        self.parameters, self._of_p = [self.fraction], [inputs.entries(inputs.fractions)[instants, 0][None, :]]
        self.p = self.local(motion.parameters.fixed) if motion.parameters.others else ca.MX(0, 1)
        self.named: dict[str, ca.MX] = {}
        for name, x in inputs.named.items():
            if x.shape[1] == 1:
                self.named[name] = self.local(x)
                continue
            entries = inputs.entries(x)
            columns = [entries[:, instants], entries[:, instants + 1]] if interval else [entries[:, instants]]
            self.named[name] = ca.MX.sym(name, x.shape[0], len(columns))
            self.parameters.append(self.named[name])
            self._of_p.append(np.vstack(columns))

    def variable(self, name: str, entries: Indices, columns: int = 1) -> ca.MX:
        """A matrix of variables, whose entries (m × n) are among all variables at the n places."""
        self.variables.append(ca.MX.sym(name, len(entries) // columns, columns))
        self._of_x.append(entries)
        return self.variables[-1]

    def local(self, expression: ca.MX) -> ca.MX:
        """An expression of parameters that are the same at all places, as one of the symbols of the stage."""
        symbols = ca.symvar(expression)
        for symbol in symbols:
            if hash(symbol) not in self._local:
                self._local[hash(symbol)] = ca.MX.sym(symbol.name(), *symbol.shape)
                self.parameters.append(self._local[hash(symbol)])
                entries = self._inputs.entries(symbol).ravel(order="F")[:, None]
                self._of_p.append(np.tile(entries, (1, len(self._instants))))
        graph = ca.Function("local", symbols, [expression])
        return ca.MX(graph.call([self._local[hash(symbol)] for symbol in symbols], True, False)[0])

    def term(
        self, place: str, rows: Sequence[tuple[Rows, ca.MX]], cost: ca.MX | float = 0.0, squares: Sequence[ca.MX] = ()
    ) -> StageTerm:
        """The stage as a term of a program; ``squares``: residuals and the rest of the cost beside their squares."""
        kinds = ("y", self.variables), ("p", self.parameters)
        y, p = (ca.MX.sym(name, sum(x.numel() for x in symbols)) for name, symbols in kinds)
        expressions = ca.vertcat(ca.MX(0, 1), *(ca.vec(x) for _, x in rows))
        graph = ca.Function("graph", [*self.variables, *self.parameters], [expressions, cost, *squares])
        values = graph.call([*matrices_of(y, self.variables), *matrices_of(p, self.parameters)], True, False)
        return StageTerm(
            function=ca.Function("term", [y, p], [ca.densify(values[0]), values[1]]),
            variables=np.vstack(self._of_x),
            parameters=np.vstack(self._of_p),
            intervals=self._instants,
            where=place,
            rows=[kind for kind, _ in rows],
            squares=ca.Function("squares", [y, p], values[2:]) if squares else None,
        )


class Interval(NamedTuple):
    """The stage of an interval, as expressions.

    Attributes:
        symbols: x, u (at both ends if it is linear), the unknowns of the step, and the parameters.
        x_next, equations: what it leads to, and its equations of motion, a column for each stage.
        stages, begin: its quantities at the stages, and where it begins.
        cost: of its stages. ``residuals``: whose squares are parts of it. ``rest``: without these.
    """

    symbols: StageSymbols
    x_next: ca.MX
    equations: ca.MX
    stages: Instant
    begin: Instant
    cost: ca.MX
    residuals: ca.MX
    rest: ca.MX

    @classmethod
    def of(cls, motion: Motion, inputs: Inputs, integrals: Sequence[CostTerm], states: Indices) -> Interval:
        """The stage with these terms of the cost, and ``states`` at the instants of the grid, as entries of x."""
        n, count, parameters = motion.intervals, len(motion.rule.c), motion.parameters
        symbols = StageSymbols(inputs, motion, np.arange(n), interval=True)
        whole = symbols.variable("x", states[:, :-1])
        u = after = symbols.variable("u", motion.entries(motion.u)[:, :n])
        if motion.control == "linear":
            after = symbols.variable("u_next", motion.entries(motion.u)[:, 1:])
        x, before = ca.vertsplit(whole, [0, motion.state.shape[0], whole.shape[0]])
        k = moves = None
        if motion.k is not None:
            entries = motion.entries(motion.k)
            k = symbols.variable("k", entries.reshape(len(entries) * count, n, order="F"), count)
        if motion.s is not None:
            moves = symbols.variable("s", motion.entries(motion.s))
        design = x[motion.size + motion.free_time :]
        parts = [design, symbols.p] if len(parameters) else []
        stages, step = motion.step(x, u, after, k, moves, parts)
        duration, state = motion.durations_of(x), x[: motion.size]
        state = state if k is None else motion.system.at_instant(state, k, motion.rule, last=False)
        known = symbols.named | ({"p": ca.MX(parameters.assembled(*parts))} if parts else {})
        if before.numel() or motion.control == "linear":
            known["du"] = motion.rate(u, before if before.numel() else after, duration)
        nq, times = motion.dyn.tree.nq, (duration * symbols.fraction, duration / n)
        begin, at_stages = instants_of_interval(motion.rule, (state[:nq], state[nq:]), stages, times, known)
        cost, rest, residuals = ca.MX(0), ca.MX(0), [ca.MX(0, 1)]
        for integral in integrals:
            weight = integral.shares[0] * symbols.local(integral.weight) * times[1]
            value = weight * (at_stages(integral.graph) @ ca.DM(motion.rule.b))
            cost += value
            if integral.residuals is None:
                rest += value
            else:
                weights = ca.sqrt(weight * ca.DM(motion.rule.b).T)
                rows = at_stages(integral.residuals)
                residuals.append(ca.vec(ca.repmat(weights, rows.shape[0], 1) * rows))
        x_next = ca.vertcat(step.reached, x[motion.size :], *[u][: bool(before.numel())])
        return cls(symbols, x_next, step.residual, at_stages, begin, cost, ca.vertcat(*residuals), rest)


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
    c = ca.DM(rule.c).T
    at_stages = begin @ (1 - c) + end @ c

    def mapped(graph: ca.Function, count: int, *values: ca.MX) -> Any:
        return mapped_over(graph, count, *values, *(ca.repmat(part, 1, count) for part in p))

    at, step = implicit_step(system, rule, curved, x, at_stages, k, None, h, mapped)
    outputs = [step.reached, ca.vec(step.residual), at.q, at.v, at.a]
    names = ["x_next", "residual", "q", "v", "a"]
    graph = ca.Function("collocation", list(inputs.values()), outputs, list(inputs), names)
    values = graph.expand().call(list(s.values()))
    return steps.differentiable(function("collocation", s, dict(zip(names, values, strict=True))))


def curved_velocities(tree: Tree) -> list[int]:
    """The entries of v of joints whose displacements do not add up, as rotations about several axes."""
    found: list[int] = []
    for joint in tree.independent_joints:
        _, along = joint.type.integrate_derivatives(ca.SX.sym("v", joint.type.nv))
        if not (isinstance(along, ca.DM) and ca.is_equal(along, ca.DM.eye(joint.type.nv))):
            found += list(joint.columns)
    return found


def _spread(n: int, c: Array) -> ca.DM:
    """The matrix that turns columns at the n + 1 instants of the grid into those at the stages, at fractions c."""
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
