"""Real-time iterations: one Gauss–Newton step of a problem each tick (Diehl, Bock, Schlöder 2005), as machine code.

States are x = (q, v) at the grid, controls u over the intervals. With the implicit midpoint rule,

    q⁺ = q + h v + h²/2 a,   v⁺ = v + h a,     r(q̄, v̄, a, u) = 0,   q̄ = q + h/2 v + h²/4 a,   v̄ = v + h/2 a,

the acceleration is eliminated where the plan is: Δa = −(M + h/2 ∂r/∂v + h²/4 ∂r/∂q)⁻¹ (r + ∂r/∂z Δz), z = (u, x). Each
square w e² of the cost becomes w (e + J Δz)²: the cost is seen at the grid, q and v by the trapezoidal rule. A stage
Function writes the quadratic program into the memory of :class:`~gdalembert.nlp.stage_qp.StageQP` (ours).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.compilation.compiled_function import compile as compiled_function
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.configuration import unit_blocks
from gdalembert.nlp.program import SolutionWarning
from gdalembert.nlp.stage_qp import StageQP
from gdalembert.ocp.ends import End
from gdalembert.ocp.initial import Initial
from gdalembert.ocp.parameters import ProblemParameters, RobotParameters
from gdalembert.ocp.solution import Accuracy, FollowedPath, OptimizationError, Solution
from gdalembert.ocp.transcription import Stages, TranscribedMotion
from gdalembert.spatial.arguments import integer, number
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function, symbols

STATUS = "Real_Time_Iteration"
_FIRST_STEPS, _SMALL = 30, 1e-6
"""Steps of the first tick at most, and the relative step at which it ends."""
_LARGE = 1e6
"""A relative step that no plan survives."""


class RealTimeProblem(NamedTuple):
    """What the steps of a problem are made of.

    Attributes:
        motion, parameters, robot, start, end, initial, paths: of the problem.
        terms: of the cost: a weight, and an integral by its Function, or another expression of the motion.
        has_other_constraints: whether ``opti`` has constraints that are not those of the problem.
        has_other_paths: whether a path has a, u or forces, or holds at one end.
    """

    motion: TranscribedMotion
    parameters: ProblemParameters
    robot: RobotParameters
    start: End
    end: End
    initial: Initial
    paths: Mapping[str, FollowedPath]
    terms: list[tuple[ca.MX, ca.Function | None, ca.MX]]
    has_other_constraints: bool
    has_other_paths: bool


@dataclass(frozen=True)
class Square:
    """A term w e² of a cost; w is free of the motion."""

    weight: ca.SX
    residual: ca.SX


def squares(cost: ca.SX, motion: ca.SX, where: str) -> list[Square]:
    """The squares that a cost is the sum of, but for terms free of the motion.

    Raises:
        UnsupportedError: if a term is no square of an expression, or has a number below zero as its weight.
    """
    found: list[Square] = []
    left = [(cost, ca.SX(1))]
    while left:
        term, weight = left.pop()
        if not ca.depends_on(term, motion):
            continue
        op = ca.OP_PARAMETER if term.is_symbolic() else term.op()
        less = weight.is_constant() and float(weight) < 0
        parts = [] if term.is_symbolic() else [term.dep(k) for k in range(term.n_dep())]
        fixed = [part for part in parts if not ca.depends_on(part, motion)]
        moving = [part for part in parts if ca.depends_on(part, motion)]
        if not less and (op == ca.OP_SQ or (op == ca.OP_MUL and ca.is_equal(parts[0], parts[1], 4))):
            found.append(Square(weight, parts[0]))
        elif op in (ca.OP_ADD, ca.OP_SUB):
            left += [(parts[0], weight), (parts[1], weight if op == ca.OP_ADD else -weight)]
        elif op == ca.OP_NEG:
            left.append((parts[0], -weight))
        elif op == ca.OP_TWICE:
            left.append((parts[0], 2 * weight))
        elif op == ca.OP_MUL and fixed:
            left.append((moving[0], weight * fixed[0]))
        elif op == ca.OP_DIV and not ca.depends_on(parts[1], motion):
            left.append((parts[0], weight / parts[1]))
        else:
            raise UnsupportedError(f"rti: {where} is no sum of squares of q, v, a and u; take 'ipopt'")
    return found


class _Stage:
    """What a stage of the quadratic program is made of: (q, v, u, a; the next q and v; weights; t; parameters) → it.

    Attributes:
        names: of the parameters among the inputs. ``rows``: the number of rows of paths.
    """

    def __init__(self, problem: RealTimeProblem, h: float) -> None:
        self._problem, self._h, dyn = problem, h, problem.motion.dyn
        nv, nu = dyn.tree.nv, dyn.nu
        self._s = symbols(q=nv, v=nv, u=nu, a=nv, q_next=nv, v_next=nv, weights=3, t=1)
        symbols_of = problem.parameters.symbols
        self._known = {name: ca.SX.sym(name, x.shape[0]) for name, x in symbols_of.items()}
        if dyn.parameters:
            self._known["p"] = ca.SX.sym("p", len(dyn.parameters))
        self.names = list(self._known)
        self._paths = list(problem.paths.items())
        self.rows = sum(path.graph.numel_out(0) for _, path in self._paths)

    def _value(self, graph: ca.Function) -> ca.SX:
        """An expression of the motion at this stage."""
        given = self._s | self._known
        try:
            return graph.expand().call([given[name] for name in graph.name_in()])[0]
        except RuntimeError as error:
            raise UnsupportedError(f"rti: an expression is not of scalar operations; take 'ipopt' ({error})") from None

    def _of_parameters(self, expression: ca.MX) -> ca.SX:
        """A weight or a bound, which has parameters alone."""
        graph = _function_of_parameters(self._problem, expression).expand()
        return graph.call([self._at(name, graph.size2_in(name)) for name in graph.name_in()])[0]

    def _at(self, name: str, columns: int) -> ca.SX:
        """A parameter; of one of every instant, the last column is this stage's, for what ends the motion."""
        own = self._known[name]
        return own if columns == 1 else ca.horzcat(ca.SX.sym("other", own.shape[0], columns - 1), own)

    def _squares(self) -> Iterator[tuple[int, Square]]:
        """The squares of the cost, each with the number of its weight."""
        motion = ca.vertcat(*(self._s[name] for name in "qvua"))
        rest = ca.MX(0)
        for weight, graph, term in self._problem.terms:
            if graph is None:
                rest += weight * term
                continue
            kind = 1 if {"a", "u"} & set(graph.name_in()) else 0
            for square in squares(self._of_parameters(weight) * self._value(graph), motion, "an integral of the cost"):
                yield kind, square
        if ca.symvar(rest):
            yield from ((2, square) for square in self._terminal(rest, motion))

    def _terminal(self, rest: ca.MX, motion: ca.SX) -> list[Square]:
        """The squares of the state at the end."""
        state, named = self._problem.motion.state, self._problem.parameters.symbols
        own = [x for x in (state, *named.values()) if ca.depends_on(rest, x)]
        ends = {hash(x): self._at(name, x.shape[1]) for name, x in named.items()}
        others = ca.SX.sym("others", state.shape[0], state.shape[1] - 1)
        ends[hash(state)] = ca.horzcat(others, ca.vertcat(self._s["q"], self._s["v"]))
        where, instead = "rti: what is no integral in the cost", "; make an integral of it, or take 'ipopt'"
        try:
            graph = ca.Function("rest", own, [rest]).expand()
        except RuntimeError:
            raise UnsupportedError(f"{where} has more than q and v of the end{instead}") from None
        value = graph.call([ends[hash(x)] for x in own])[0]
        known = ca.vertcat(motion, *self._known.values())
        if any(not ca.depends_on(known, x) for x in ca.symvar(value)):
            raise UnsupportedError(f"{where} has more than q and v of the end{instead}")
        return squares(value, motion, "the cost of the end")

    def function(self, wide: int, limits: int) -> ca.Function:
        """The stage Function; its matrices are as wide as the rows of the program."""
        s, h, dyn = self._s, self._h, self._problem.motion.dyn
        q, v, u, a = (s[name] for name in "qvua")
        z = ca.vertcat(u, q, v)
        slope, offset = self._acceleration()
        one, zero = ca.DM.eye(dyn.tree.nv), ca.DM(dyn.tree.nv, dyn.nu)
        gained = a + offset
        dynamics = ca.vertcat(
            ca.horzcat(zero, one, h * one) + h**2 / 2 * slope, ca.horzcat(zero, 0 * one, one) + h * slope
        )
        offsets = ca.vertcat(q + h * v + h**2 / 2 * gained - s["q_next"], v + h * gained - s["v_next"])
        hessian, gradient, cost = ca.SX(z.numel(), z.numel()), ca.SX(z.numel(), 1), ca.SX(0)
        for kind, square in self._squares():
            by_a = ca.jacobian(square.residual, a)
            row = ca.jacobian(square.residual, z) + by_a @ slope
            residual = square.residual + by_a @ offset
            weight = s["weights"][kind] * square.weight
            hessian += 2 * weight * (row.T @ row)
            gradient += 2 * weight * row.T * residual
            cost += weight * residual**2
        rows, lower, upper = self._limits(z, wide, limits)
        outputs = {"A": _filled(dynamics, wide), "b": offsets, "H": _filled(hessian, wide)}
        outputs |= {"g": _filled(gradient.T, wide).T} | ({"G": _filled(rows, wide)} if self.rows else {})
        outputs |= {"lower": lower, "upper": upper, "cost": cost}
        return function("stage", s | self._known, outputs)

    def _acceleration(self) -> tuple[ca.SX, ca.SX]:
        """How a changes with z (nv × nz), and what it gains at z (nv)."""
        s, h, dyn = self._s, self._h, self._problem.motion.system.dynamics
        q, v, u, a = (s[name] for name in "qvua")
        p = [self._known["p"]] if dyn.parameters else []
        at = q + h / 2 * v + h**2 / 4 * a, v + h / 2 * a, a
        x, force = ca.SX.sym("x", q.numel()), dyn.actuators.tau
        by_q, by_v = dyn.inverse_dynamics_derivatives(*at, *p)
        driven = ca.substitute(ca.horzcat(ca.jacobian(force(x, u), x), ca.jacobian(force(x, u), u)), x, at[0])
        by_q = by_q - driven[:, : q.numel()]
        residual = dyn.inverse_dynamics(*at, *p) - force(at[0], u)
        matrix = dyn.mass_matrix(at[0], *p) + h / 2 * by_v + h**2 / 4 * by_q
        right = ca.horzcat(driven[:, q.numel() :], -by_q, -(by_v + h / 2 * by_q), -residual)
        found = _solved(matrix, right)
        return found[:, :-1], found[:, -1]

    def _limits(self, z: ca.SX, wide: int, limits: int) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Rows of paths (rows × nz), and the limits of z and of these rows, less their values."""
        bounds = self._problem.motion.bounds
        rows, ends = [ca.SX(0, z.numel())], {-1: [ca.SX(0, 1)], 1: [ca.SX(0, 1)]}
        for _, path in self._paths:
            value = self._value(path.graph)
            rows.append(ca.jacobian(value, z))
            for side, bound in ((-1, path.lower), (1, path.upper)):
                limit = self._of_parameters(bound) if isinstance(bound, ca.MX) else ca.SX(ca.DM(bound))
                ends[side].append(limit + 0 * value if limit.numel() == 1 else limit)
                ends[side][-1] = _less(ends[side][-1], value)
        found = []
        for side, end in ((-1, "lower"), (1, "upper")):
            given = np.concatenate([getattr(bounds, f"{name}_{end}") for name in "uqv"])
            own, none = _less(ca.SX(ca.DM(given)), z), ca.SX(ca.DM([side * np.inf]))
            of_rows = ca.vertcat(*ends[side])
            parts = [own, ca.repmat(none, wide - z.numel(), 1), of_rows]
            found.append(ca.vertcat(*parts, ca.repmat(none, limits - wide - of_rows.numel(), 1)))
        return ca.vertcat(*rows), found[0], found[1]


def _function_of_parameters(problem: RealTimeProblem, expression: ca.MX) -> ca.Function:
    """An expression of parameters of a problem, with those that it has as inputs."""
    named = {name: x for name, x in problem.parameters.symbols.items() if ca.depends_on(expression, x)}
    return ca.Function("value", list(named.values()), [expression], list(named), ["value"])


def _less(limit: ca.SX, value: ca.SX) -> ca.SX:
    """limit − value, where the limit is infinite the limit itself."""
    entries = []
    for k in range(limit.numel()):
        endless = limit[k].is_constant() and not np.isfinite(float(limit[k]))
        entries.append(limit[k] if endless else limit[k] - value[k])
    return ca.vertcat(ca.SX(0, 1), *entries)


def _filled(matrix: ca.SX, wide: int) -> ca.SX:
    """The rows, filled up with zeros."""
    return ca.horzcat(matrix, ca.SX(matrix.shape[0], wide - matrix.shape[1]))


def _solved(matrix: ca.SX, right: ca.SX) -> ca.SX:
    """matrix⁻¹ right by Gauss's elimination; the diagonal dominates, as that of M."""
    n = matrix.shape[0]
    a, b = [[matrix[i, j] for j in range(n)] for i in range(n)], [right[i, :] for i in range(n)]
    for i in range(n):
        pivot = 1 / a[i][i]
        for j in (j for j in range(i + 1, n) if a[j][i].nnz() and not a[j][i].is_zero()):
            factor = a[j][i] * pivot
            for c in range(i + 1, n):
                a[j][c] = a[j][c] - factor * a[i][c]
            b[j] = b[j] - factor * b[i]
    for i in reversed(range(n)):
        for c in range(i + 1, n):
            b[i] = b[i] - a[i][c] * b[c]
        b[i] = b[i] / a[i][i]
    return ca.vertcat(*b)


def _is_equation(path: FollowedPath) -> bool:
    if isinstance(path.lower, ca.MX) or isinstance(path.upper, ca.MX):
        return path.lower is path.upper
    return bool(np.any(path.lower == path.upper))


def _check(problem: RealTimeProblem) -> None:
    """Refuse what has no such step."""
    dyn, system, motion = problem.motion.dyn, problem.motion.system, problem.motion
    tree, rng = dyn.tree, np.random.default_rng(0)
    reasons = {
        "contacts and loops": bool(system.con.nc),
        "a free duration": motion.free_time,
        "a design": bool(motion.parameters.chosen),
        "control='linear'": motion.control != "constant",
        "quasi-static modes (give quasi_static=None)": bool(system.stiff),
        "a fixed end": any(each.any() for each in problem.end.fixed),
        "a start of which some entries are free": not all(each.all() for each in problem.start.fixed),
        "opti.subject_to": problem.has_other_constraints,
        "paths of a, u, forces or one end": problem.has_other_paths,
        "paths that are equations": any(_is_equation(path) for path in problem.paths.values()),
    }
    if tree.nq == tree.nv:
        q, v = rng.normal(size=(2, tree.nv))
        rate = np.ravel(ca.DM(ca.evalf(ca.SX(tree.configuration_rate(ca.DM(q), ca.DM(v))))).full())
        straight = not unit_blocks(tree) and np.allclose(rate, v, rtol=0, atol=1e-12)
    else:
        straight = False
    reasons["configurations that are no vectors"] = not straight
    if what := next((reason for reason, there in reasons.items() if there), None):
        raise UnsupportedError(f"rti: {tree.name}: the problem has {what}; take 'ipopt'")


class RealTimeSolver:
    """A problem's solver of one step a tick: made by ``problem.solver("rti")``.

    ``solver(q0=…, target=…, shift=1)`` takes one Gauss–Newton step from the last plan, from which the first ``shift``
    intervals are cut; the first call takes as many as it needs. ``prepare`` does beforehand all that does not depend on
    the start. Limits of u are hard; those of q, v and paths are soft.

    Attributes:
        last: the last plan; ``None`` before the first one.
    """

    def __init__(self, problem: RealTimeProblem, options: Mapping[str, Any]) -> None:
        known = {"iterations": 3, "penalty": None, "first_gap": None}
        if other := next((name for name in options if name not in known), None):
            raise ArgumentError(f"rti: got the option {other!r}; give any of {', '.join(known)}")
        chosen = known | dict(options)
        self._iterations = integer("rti: iterations", chosen["iterations"], 1, 1000)
        self._penalty, self._first_gap = (
            None if chosen[name] is None else number(f"rti: {name}", chosen[name]) for name in ("penalty", "first_gap")
        )
        _check(problem)
        self._problem, motion = problem, problem.motion
        self._dyn, self._n = motion.dyn, motion.intervals
        self._h = motion.range[0] / self._n
        stage = _Stage(problem, self._h)
        nv, nu, n = self._dyn.tree.nv, self._dyn.nu, self._n
        self._qp = StageQP(2 * nv, nu, n, rows=stage.rows)
        self._function = compiled_function(stage.function(self._qp.wide, self._qp.limits))
        self._names = stage.names
        self._q, self._v = np.zeros((n + 1, nv)), np.zeros((n + 1, nv))
        self._u, self._a = np.zeros((n + 1, nu)), np.zeros((n + 1, nv))
        self._start = _function_of_parameters(problem, problem.start.expression)
        self._plain, self._gap = problem.start.parameters_of(problem.parameters), 1.0
        self._weight = 0.0
        ones = np.ones(n + 1)
        self._weights = np.column_stack([ones, ones, 0 * ones]) * self._h
        self._weights[[0, -1], 0] /= 2
        self._weights[-1, 1:] = 0.0, 1.0
        self._cost = np.zeros((n + 1, 1))
        names = ("A", "b", "H", "g", *["G"][: stage.rows], "lower", "upper")
        self._out = (*(self._qp.memory[name] for name in names), self._cost)
        self._prepared, self._used = False, 0
        self._stats: dict[str, float] = {}
        self.last: Solution | None = None

    def __repr__(self) -> str:
        return f"RealTimeSolver({self._dyn.tree.name}, {self._n} intervals, {self._iterations} iterations)"

    def prepare(self, *, shift: int = 1, p: Any = None, **values: Any) -> None:
        """Shift the last plan and linearise there: what a tick can do before it knows where it starts.

        Args:
            shift: number of intervals by which the last plan is shifted.
            p, values: as of a call; those of the start may be given there.

        Raises:
            ArgumentError: if there is no plan yet.
        """
        if self.last is None:
            raise ArgumentError("prepare: there is no plan yet; call the solver first")
        self._set("prepare", p, values)
        self._shift(shift)
        self._linearise()
        self._prepared = True

    def __call__(self, *, shift: int = 0, guess: Any = None, p: Any = None, **values: Any) -> Solution:
        """Take one step at these parameters; after :meth:`prepare`, from there, if those given are the start's alone.

        Args:
            shift, p, values: as of :meth:`~gdalembert.ocp.Solver.__call__`.
            guess: where to begin instead of the last plan, as in :meth:`Problem.guess`.

        Returns:
            The plan, with the status ``"Real_Time_Iteration"`` and the cost before the step; ``stats`` has the size of
            the step, and what the interior point left of its gap and of violations (0 to 1). If the step is not finite,
            or a million times as large as the plan: the last plan, shifted, with ``solved=False``.

        Raises:
            UnknownNameError, ArgumentTypeError, ArgumentError: if a value cannot be used, or is missing.
            OptimizationError: if the first step is such a one.

        Warns:
            SolutionWarning: if the last plan stands for such a step.
        """
        self._set("solver", p, values)
        first = self.last is None or guess is not None
        of_start = p is None and not shift and set(values) <= set(self._start.name_in())
        prepared, self._prepared = self._prepared and of_start and not first, False
        if first:
            self._begin(guess)
        else:
            self._shift(shift)
        for _ in range(_FIRST_STEPS if first else 1):
            if not prepared:
                self._linearise()
            self._scale()
            step = self._step(60 if first else self._iterations)
            if step is None and first:
                raise OptimizationError(self._solution(solved=False))
            if step is None:
                warnings.warn(
                    f"{self._dyn.tree.name}: the step is not finite, or out of all proportion; the last plan stands "
                    "for it",
                    SolutionWarning,
                    stacklevel=2,
                )
                break
            if step < _SMALL:
                break
        self.last = self._solution(solved=step is not None)
        return self.last

    # One step.

    def _set(self, where: str, p: Any, values: Mapping[str, Any]) -> None:
        problem = self._problem
        if p is not None:
            problem.robot.set(problem.robot.checked(where, p))
        problem.parameters.taken(where, values)

    def _begin(self, guess: Any) -> None:
        self._problem.start.set(self._problem.parameters)
        found = self._problem.initial.motion(guess)
        q, v, _, u = found.at(np.linspace(0, 1, self._n + 1), self._problem.motion.range[0])
        bounds = self._problem.motion.bounds
        self._q[:], self._v[:], self._u[:] = q, v, np.clip(u, bounds.u_lower, bounds.u_upper)
        self._a[:-1] = np.diff(self._v, axis=0) / self._h

    def _shift(self, by: int) -> None:
        by = integer("solver: shift", by, 0, self._n)
        if by:
            n = self._n
            for rows in (self._q, self._v, self._u[:n], self._a[:n]):  # the last instant has neither u nor a
                kept = max(len(rows) - by, 1)
                rows[:kept] = rows[-kept:].copy()
                rows[kept:] = rows[kept - 1]

    def _linearise(self) -> None:
        ahead = (np.concatenate([rows[1:], rows[-1:]]) for rows in (self._q, self._v))
        inputs = [self._q, self._v, self._u, self._a, *ahead, self._weights, self._times]
        values = self._problem.parameters.values
        for name in self._names:
            x = self._problem.robot.last if name == "p" else values[name]
            inputs.append(np.ascontiguousarray(x.T) if x.ndim == 2 and x.shape[1] > 1 else np.ravel(x))
        self._function.batch(*inputs, out=self._out)

    @property
    def _times(self) -> Array:
        return self._h * np.arange(self._n + 1.0)[:, None]

    def _step(self, iterations: int) -> float | None:
        """Add the step to the plan; its size relative to the plan, or ``None`` if it is not finite."""
        nv, gap = self._dyn.tree.nv, self._gap
        x_0 = self._measured() - np.concatenate([self._q[0], self._v[0]])
        found = self._qp(x_0, iterations=iterations, first_gap=gap, tolerance=1e-6 * gap)
        size = float(np.abs(found.x).max() / max(1.0, np.abs(self._q).max(), np.abs(self._v).max()))
        if found.status == "not finite" or size > _LARGE:
            return None
        self._q += found.x[:, :nv]
        self._v += found.x[:, nv:]
        self._u[:-1] += found.u
        bounds = self._problem.motion.bounds
        np.clip(self._u, bounds.u_lower, bounds.u_upper, out=self._u)  # to the last digit
        self._a[:-1] = np.diff(self._v, axis=0) / self._h
        self._used = found.iterations
        self._stats = {"step": size, "gap": found.gap, "infeasibility": found.infeasibility}
        return size

    def _measured(self) -> Array:
        """[q; v] where the motion starts."""
        values = self._problem.parameters.values
        if all(self._plain):
            return np.concatenate([values[name].ravel() for name in self._plain])
        return np.array(self._start(*(values[name] for name in self._start.name_in())).full().ravel())

    def _scale(self) -> None:
        """Weigh limits by the steepest cost so far, and begin the interior point by the cost of the plan."""
        steepest = max(-float(self._qp.gradient.min()), float(self._qp.gradient.max()), 1e-6)
        penalty = 10 * steepest if self._penalty is None else self._penalty
        if penalty > self._weight:
            self._weight = penalty
            self._qp.soften(penalty, penalty)
        self._gap = max(1e-9, 1e-3 * float(self._cost.sum()) / self._n) if self._first_gap is None else self._first_gap

    def _solution(self, *, solved: bool) -> Solution:
        problem, bounds, h = self._problem, self._problem.motion.bounds, self._h
        q, v, u, a = self._q.copy(), self._v.copy(), self._u[:-1].copy(), self._a[:-1].copy()
        t = h * np.arange(self._n + 1.0)
        middle = q[:-1] + h / 2 * v[:-1] + h**2 / 4 * a
        stages = Stages(t[:-1, None] + h / 2, middle, v[:-1] + h / 2 * a, a, u, np.zeros((self._n, 0)))
        x = np.hstack([q, v])
        violations = {
            f"bounds of {name} at the grid": float(np.maximum(low - rows, rows - high)[1:].max(initial=0.0))
            for name, rows, low, high in (
                ("q", q, bounds.q_lower, bounds.q_upper),
                ("v", v, bounds.v_lower, bounds.v_upper),
            )
        }
        p = problem.robot.last
        return Solution(
            dyn=self._dyn,
            bounds=bounds,
            control="constant",
            status=STATUS if solved else "Invalid_Number_Detected",
            iterations=self._used,
            cost=float(self._cost.sum()),
            t=t,
            q=q,
            v=v,
            u=u,
            p=p,
            stages=stages,
            constraint_violation=max(violations.values()),
            length_violation=0.0,
            constraint_drift=0.0,
            violations=violations,
            stats=dict(self._stats),
            accuracy=Accuracy(problem.motion.system, bounds, "constant", t, x, u, p, problem.paths),
            solved=solved,
        )
