"""A problem as real-time iterations read it: terms at places of the grid, numbers of both ends, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.compilation.compiled_function import CompiledFunction
from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.nlp.least_squares import residuals_of
from gdalembert.ocp.ends.ends import NEAR_Q, NEAR_V, End, EndpointConstraints
from gdalembert.ocp.formulation import Formulation
from gdalembert.ocp.solution import FollowedPath
from gdalembert.ocp.stage import CostTerm, Motion
from gdalembert.ocp.system.constraints import LimitedExpression, parts_of_residuals, parts_of_state
from gdalembert.ocp.system.parameters import ProblemParameters, RobotParameters
from gdalembert.ocp.system.steps import free_rates
from gdalembert.ocp.system.system import System
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.expressions import foreign

GRID, INTERVAL, RATES = "grid", "interval", "rates"
NEAR = f"{NEAR_Q} m or rad off contacts and loops, or {NEAR_V} of a rate"
"""The farthest that solvers move a measured start, for texts."""
Place = str | int
"""All instants of the grid, each interval, each interval before which u is known, or the number of one instant."""


def place_of(path: LimitedExpression) -> Place:
    """The place where the rows of an expression hold."""
    place = path.places[-1]
    if path.is_of_rates:
        return RATES
    return place if isinstance(place, int) or place == GRID else INTERVAL


class PlacedSquares(NamedTuple):
    """Squares weight ω ρ² of the cost, as two Functions of the motion, and where they count.

    Attributes:
        weight: an expression of parameters. ``weights``: ω, or ``None`` where all are 1.
        residuals: ρ. ``place``: at which they count.
    """

    weight: ca.MX
    weights: ca.Function | None
    residuals: ca.Function
    place: Place


class StageOutcome(NamedTuple):
    """Quantities of a plan at its stages beside its arrays: q in the middles of intervals, and excess of named rows.

    Attributes:
        names: of the rows. ``graph``: :meth:`LinearStage.outcome`, of ``arrays``.
        of_state: the numbers of those rows that have q and v alone.
    """

    names: Sequence[str]
    graph: CompiledFunction
    arrays: list[Array]
    of_state: list[int]

    def inputs(self, first: int, end: int) -> list[Array]:
        """A copy of the arrays from one instant to another."""
        return [x[first : end + 1].copy() if x.ndim > 1 else x.copy() for x in self.arrays]

    def values(self, inputs: Sequence[Array], *, measured: bool) -> tuple[Array, dict[str, float]]:
        """q in the middles, and the largest excess of each row that holds at any of these instants.

        ``measured``: whether q and v at the first instant are measured, which no plan changes.
        """
        middles, beyond = self.graph.batch(*inputs)
        if measured:
            beyond[0, self.of_state] = np.minimum(beyond[0, self.of_state], 0.0)
        largest = dict(zip(self.names, beyond.max(axis=0).tolist(), strict=True))
        return middles[:-1], {name: max(x, 0.0) for name, x in largest.items() if x != -np.inf}


def paths_at(
    followed: Mapping[str, tuple[FollowedPath, ca.Function]], values: Mapping[str, Array], instants: slice
) -> dict[str, FollowedPath]:
    """Paths at values of parameters, which have a column, or one for each instant of the grid, of some of these."""
    paths = {}
    for name, (path, limits) in followed.items():
        graph = path.graph
        lower, upper = limits.call([values[key] for key in limits.name_in()])[0].full().T
        columns = {key: x.reshape(len(x), -1) for key, x in values.items() if key in graph.name_in()}
        constants = {key: x[:, instants] if x.shape[1] > 1 else x for key, x in columns.items()}
        paths[name] = FollowedPath(graph, lower, upper, constants, path.gaps)
    return paths


class RealTimeProblem(NamedTuple):
    """A problem as it is formulated, with the parameters that a tick sets.

    Attributes:
        formulation, parameters, robot: of the problem.
    """

    formulation: Formulation
    parameters: ProblemParameters
    robot: RobotParameters

    @property
    def motion(self) -> Motion:
        return self.formulation.motion

    @property
    def start(self) -> End:
        return self.formulation.ends[0]

    @property
    def end(self) -> End:
        return self.formulation.ends[1]

    @property
    def con(self) -> ConstrainedDynamics:
        """The robot with its contacts and loops, which may be none."""
        return self.motion.system.con

    @property
    def system(self) -> System:
        """The robot, of which velocities that violate constraints decay within some intervals."""
        return self.motion.system.decaying(1 / self.interval)

    @property
    def followed(self) -> dict[str, tuple[FollowedPath, ca.Function]]:
        """The paths of q and v alone, and (parameters) → (lower, upper) of each."""
        paths = [path for path in self.formulation.limited if path.is_of_motion and not path.is_of_interval]
        followed = {path.name: FollowedPath.of(path, {}) for path in paths}
        return {
            name: (path, self.of_parameters(ca.MX(ca.horzcat(path.lower, path.upper))))
            for name, path in followed.items()
        }

    @property
    def interval(self) -> float:
        """The length of an interval [s]."""
        return self.motion.range[0] / self.motion.intervals

    @property
    def times(self) -> tuple[Array, Array]:
        """The times of the grid, and of the middles of intervals [s]."""
        instants = frozen(self.interval * np.arange(self.motion.intervals + 1.0))
        return instants, frozen(instants[:-1, None] + self.interval / 2)

    def apart(self, inputs: Mapping[str, str]) -> ca.Function:
        """(x_0) → how far [q; v] is off contacts and loops, over the farthest that solvers move a start onto them;
        p is its second input, by the name in ``inputs``.
        """
        places, rows, nq = self.motion.system.places, self.motion.system.rows, self.con.tree.nq
        x, p = ca.MX.sym("x", nq + self.con.tree.nv), [ca.MX.sym("p", len(self.robot))] if len(self.robot) else []
        of_q, of_v = ca.norm_inf(places.residual(x, *p)), ca.norm_inf(rows.velocity(x, *p))
        far = ca.fmax(of_q / NEAR_Q, of_v / (NEAR_V * ca.fmax(1, ca.norm_inf(x[nq:]))))
        return ca.Function("apart", [x, *p], [far], ["x_0", *(inputs["p"] for _ in p)], ["apart"])

    def refusal(self, x: Array) -> str:
        """Why [q; v] is no start: the contact or loop that it violates, and by how much."""
        nq = self.con.tree.nq
        try:
            self.con.anchored(x[:nq]).check_state("start of the motion", x[:nq], x[nq : nq + self.con.tree.nv])
        except ArgumentError as error:
            return str(error)
        return ""

    @property
    def squares(self) -> Iterator[PlacedSquares]:
        """The squares of which the cost is the sum.

        Raises:
            UnsupportedError: if the cost is no such sum, or has terms of several instants.
        """
        for integral in self.formulation.integrals:
            said = integral.residuals
            parts = parts_of_state(integral.graph) if said is None else parts_of_residuals(said)
            for part, is_of_state in parts:
                weights, residuals = (None, part) if said else self._residuals(part, "an integral of the cost")
                shares = integral._replace(has_grid=is_of_state).shares
                for place, share in zip((INTERVAL, GRID), shares, strict=True):
                    if share:
                        yield PlacedSquares(share * integral.weight, weights, residuals, place)
        for cost in self.costs_of_instants:
            if cost.residuals is not None:
                yield PlacedSquares(cost.weight, None, cost.residuals, cost.instant)
            else:
                at_end = cost.instant == self.motion.intervals
                name = "the cost of the end" if at_end else "the cost of an instant"
                yield PlacedSquares(cost.weight, *self._residuals(cost.graph, name), cost.instant)

    def _residuals(self, graph: ca.Function, name: str) -> tuple[ca.Function, ca.Function]:
        return residuals_of(graph, [*self.names, "t"], name)

    @property
    def places(self) -> set[Place]:
        """The places of rows and of costs of single instants; and the end, if anything is fixed there."""
        places = {cost.instant for cost in self.costs_of_instants} | {
            place_of(path) for path in self.formulation.limited
        }
        return places | {self.motion.intervals} if self.has_end else places

    def shares(self, places: Sequence[Place], *, counts: bool) -> Array:
        """Weights of terms of these places at each instant: lengths of intervals [s], those of the trapezoidal rule on
        the grid, or 1; 0 where terms do not count.

        ``counts``: whether u before the motion is known.
        """
        n = self.motion.intervals
        shares = np.zeros((n + 1, len(places)))
        for column, place in zip(shares.T, places, strict=True):
            if isinstance(place, int):
                column[place : place + 1] = 1.0
                continue
            column[:n] = 1.0 if place == RATES else self.interval
            if place == GRID:
                column[[0, n]] = self.interval / 2
            elif place == RATES and not counts:
                column[0] = 0.0
        return shares

    @property
    def has_end(self) -> bool:
        """True if the end fixes anything."""
        return any(fixed.any() for fixed in self.end.fixed)

    @property
    def of_end(self) -> tuple[int, int]:
        """The numbers of rows of q and of v that the end fixes."""
        return len(self.end.fixed_states("q")) + len(self.end.turned), len(self.end.fixed_states("v"))

    @property
    def of_start(self) -> tuple[int, int]:
        """The numbers of rows of contacts and loops: of positions and of velocities."""
        return len(self.system.places), len(self.system.rows)

    @property
    def is_free(self) -> bool:
        """True if some entries of the start are free."""
        return not all(fixed.all() for fixed in self.start.fixed)

    @property
    def free(self) -> list[int]:
        """The entries of steps of the first state that nothing fixes.

        Raises:
            UnsupportedError: if a part of q is fixed of a joint that turns about several axes.
        """
        tree, (of_q, of_v) = self.con.tree, self.start.fixed
        turning, follows = free_rates(tree)
        entry = {j: i for i, j in zip(*follows.sparsity().get_triplet(), strict=True)}  # of q, of an entry of v
        for joint in tree.joints:
            fixed = of_q[joint.idx_q : joint.idx_q + joint.type.nq]
            if fixed.any() and not fixed.all() and any(joint.idx_q <= i < joint.idx_q + joint.type.nq for i in turning):
                raise UnsupportedError(
                    f"rti: {tree.name}: the start fixes a part of q of {joint.name!r}; fix all of it, or none, or take "
                    "'ipopt'"
                )
            entry |= {j: joint.idx_q for j in joint.columns if j not in entry}
        return [j for j, i in sorted(entry.items()) if not of_q[i]] + [
            tree.nv + j for j in np.flatnonzero(~of_v).tolist()
        ]

    def check_end(self) -> None:
        """Refuse costs and rows of the end that have u, by an UnsupportedError."""
        n = self.motion.intervals
        at_end = [("a cost", cost.graph) for cost in self.formulation.instants if cost.instant == n]
        at_end += [(path.name, path.graph) for path in self.formulation.limited if path.places[-1] == n]
        if name := next((name for name, graph in at_end if "u" in graph.name_in()), ""):
            raise UnsupportedError(
                f"rti: {name} has u at the end, which is that of the interval before it; give at={n - 1}, or take "
                "'ipopt'"
            )

    @property
    def costs_of_instants(self) -> list[CostTerm]:
        """The costs of single instants; what else is no integral is one of the end.

        Raises:
            UnsupportedError: if it has more than q and v of the end.
        """
        return [*self.formulation.instants, *map(self._of_end, self.formulation.others)]

    def _of_end(self, cost: ca.MX) -> CostTerm:
        tree, state = self.con.tree, self.motion.state
        ends = {"q": ca.MX.sym("q", tree.nq), "v": ca.MX.sym("v", tree.nv)}
        known = dict(self.parameters.symbols) | ({"p": self.robot.fixed} if len(self.robot) else {})
        ends |= {name: ca.MX.sym(name, x.shape[0]) for name, x in known.items() if ca.depends_on(cost, x)}
        columns = [(state, ca.vertcat(ends["q"], ends["v"]))]
        columns += [(known[name], end) for name, end in ends.items() if name in known]
        before = [ca.MX.sym("before", x.shape[0], x.shape[1] - 1) for x, _ in columns]
        wide = [ca.horzcat(*pair) for pair in zip(before, (end for _, end in columns), strict=True)]
        value = ca.substitute([cost], [x for x, _ in columns], wide)[0]
        if foreign(value, [*before, *ends.values()]) or any(ca.depends_on(value, x) for x in before):
            raise UnsupportedError(
                "rti: what is no integral in the cost has more than q and v of the end; make an integral of it, or "
                "squares(…, at=…) of one instant, or take 'ipopt'"
            )
        value = ca.substitute([value], before, [ca.MX.zeros(*x.shape) for x in before])[0]
        graph = ca.Function("end", [*ends.values()], [value], [*ends], ["value"])
        return CostTerm(ca.MX(1), graph, self.motion.intervals)

    @property
    def names(self) -> list[str]:
        """The names of the parameters of the problem, and of p of the robot."""
        return [*self.parameters.symbols, *["p"][: len(self.motion.dyn.parameters)]]

    def of_parameters(self, expression: ca.MX) -> ca.Function:
        """An expression of parameters, with those that it has as inputs."""
        named = {name: x for name, x in self.parameters.symbols.items() if ca.depends_on(expression, x)}
        return ca.Function("value", list(named.values()), [expression], list(named), ["value"])


class Layout(NamedTuple):
    """Places of the numbers of a problem among those of several, with other contacts.

    Attributes:
        driven: the entries of u that are not fixed by their bounds. ``selection``: them, as rows of an identity matrix,
            and rows of zeros for what other problems have more of. ``fixed``: u where they are zero.
        remembered: the entries of u that change over the motion, if any expression has rates of u.
        forces: the number of forces of all constraints. ``held``: the numbers of those of the problem among them.
        places: where terms of any problem count.
        combined: the largest number of entries of the matrices that combine rows of one end.
        closes: whether contacts and loops are rows at the start, of which parts are free.
    """

    driven: list[int]
    selection: Array
    fixed: Array
    remembered: list[int]
    forces: int
    held: list[int]
    places: list[Place]
    combined: int
    closes: bool


def layouts_of(problems: Sequence[RealTimeProblem], *, in_sequence: bool) -> list[Layout]:
    """The inputs that are not fixed, and the forces of all constraints that any of the problems has.

    ``in_sequence``: whether the first one alone has a start.
    """
    bounds = [problem.motion.bounds for problem in problems]
    driven = [np.flatnonzero(limits.u_lower < limits.u_upper).tolist() for limits in bounds]
    fixed = [np.where(limits.u_lower < limits.u_upper, 0.0, limits.u_lower) for limits in bounds]
    most, forces = max(map(len, driven)), list[tuple[Any, range]]()
    held = [[i for rows in _forces_of(problem.con, forces) for i in rows] for problem in problems]
    changing = set().union(*driven, np.flatnonzero(np.ptp(fixed, axis=0)).tolist())
    remembers = any(problem.formulation.remembers for problem in problems)
    closing = [k == 0 or not in_sequence for k in range(len(problems))]
    closing = [
        closes and problem.con.nc > 0 and problems[0].is_free for closes, problem in zip(closing, problems, strict=True)
    ]
    places: set[Place] = {GRID, INTERVAL, *[RATES][: int(remembers)], *[0][: int(any(closing))]}
    places = places.union(*(problem.places for problem in problems))
    sizes = [problem.of_start if closes else (0, 0) for problem, closes in zip(problems, closing, strict=True)]
    sizes += [problem.of_end for problem in problems if problem.con.nc]
    layouts = []
    for moved, rest, numbers, closes in zip(driven, fixed, held, closing, strict=True):
        selection = np.zeros((most, len(rest)))
        selection[np.arange(len(moved)), moved] = 1.0
        layouts.append(
            Layout(
                driven=moved,
                selection=selection,
                fixed=rest,
                remembered=sorted(changing) if remembers else [],
                forces=forces[-1][1].stop if forces else 0,
                held=numbers,
                places=sorted(places, key=str),
                combined=max((sum(count**2 for count in counts) for counts in sizes), default=0),
                closes=closes,
            )
        )
    return layouts


def _forces_of(con: ConstrainedDynamics, known: list[tuple[Any, range]]) -> Iterator[range]:
    """The numbers of the forces of each constraint among those of all that are known, to which new ones are added."""
    for constraint, rows in zip(con.constraints, con._set.rows, strict=True):
        # compared one by one, since constraints hold placements, which have no hash
        numbers = next((numbers for other, numbers in known if other == constraint), None)
        if numbers is None:
            first = known[-1][1].stop if known else 0
            known.append((constraint, numbers := range(first, first + rows)))
        yield numbers


def limits_of_u(problems: Sequence[RealTimeProblem], layouts: Sequence[Layout]) -> tuple[Array, Array]:
    """The widest limits of the inputs that any problem has."""
    ends = []
    for name, widest, none in (("u_lower", np.minimum, -np.inf), ("u_upper", np.maximum, np.inf)):
        rows = np.full((len(problems), len(layouts[0].selection)), none)
        for row, problem, layout in zip(rows, problems, layouts, strict=True):
            row[: len(layout.driven)] = getattr(problem.motion.bounds, name)[layout.driven]
        ends.append(widest.reduce(rows))
    return ends[0], ends[1]


def arrays_of_grid(
    problems: Sequence[RealTimeProblem], layouts: Sequence[Layout], spans: Sequence[slice]
) -> dict[str, Array]:
    """The arrays ``t``, ``weights`` and ``off`` of a ``LinearStage``, with a row for each instant.

    ``spans``: the instants of each problem, or of all.
    """
    rows, t = list[Array](), list[Array]()
    for k, problem in enumerate(problems[: len(spans)]):
        rows.append(problem.shares(layouts[0].places, counts=k > 0 or problem.formulation.before.is_given))
        t.append(problem.times[0][:, None])
    weights = np.vstack(rows)
    return {"weights": weights, "off": np.where(weights > 0, 0.0, np.inf), "t": np.vstack(t)}


class FixedEnds:
    """[q; v] at the ends of problems, and how contacts and loops that hold there combine with what is fixed of it.

    Args:
        problems: of a schedule, which begins and ends with one of them, or in sequence. ``layouts``: of their numbers.
        spans: the instants of each problem in sequence, or of all.
        in_sequence: whether each problem has an end of its own.

    Attributes:
        arrays: ``x_end`` of a :class:`~gdalembert.ocp.real_time.linear_stage.LinearStage`, the same for all stages, or
            with a row for each instant of problems in sequence; and ``combined``, of which the first and the last
            instants of problems are read.
        moved: by problem and instant, ends that contacts or loops move, and starts of which parts are free.
    """

    def __init__(
        self,
        problems: Sequence[RealTimeProblem],
        layouts: Sequence[Layout],
        spans: Sequence[slice],
        *,
        in_sequence: bool,
    ) -> None:
        self._problems, self._spans, self._in_sequence = problems, spans, in_sequence
        tree, rows = problems[0].con.tree, spans[-1].stop
        self.arrays: dict[str, Array] = {"combined": np.zeros((rows, layouts[0].combined))}
        self.arrays["x_end"] = np.zeros((*[rows][: int(in_sequence)], tree.nq + tree.nv))
        self._ends = {(k, -1): problem.end for k, problem in enumerate(problems) if problem.has_end}
        self._ends |= {(k, 0): problems[0].start for k, layout in enumerate(layouts) if layout.closes}
        self._values = {place: problems[place[0]].of_parameters(end.expression) for place, end in self._ends.items()}
        self.moved = {place: self._endpoint(*place) for place in self._ends if problems[place[0]].con.nc}
        self._last: dict[tuple[int, int], Array] = {}

    @property
    def are_fixed(self) -> bool:
        """True if any end of a motion fixes anything."""
        return any(instant for _, instant in self._ends)

    def _endpoint(self, k: int, instant: int) -> EndpointConstraints:
        initial = self._problems[k if self._in_sequence else 0].formulation.initial
        return EndpointConstraints(
            self._ends[k, instant], self._problems[k].system, partial(initial.configuration, instant)
        )

    def set(self, first: int, last: int) -> None:
        """Take the parameters of problems as they are now; ``first``, ``last``: those of the ends of a schedule.

        Raises:
            ArgumentError: if contacts or loops hold there, and the values cannot be those of an end.
        """
        for (k, instant), end in self._ends.items():
            if not self._in_sequence and k != (last if instant else first):
                continue
            problem, place, graph = self._problems[k], (k, instant), self._values[k, instant]
            known, span = problem.parameters.values, self._spans[min(k, len(self._spans) - 1)]
            values: Array = graph.call([known[name] for name in graph.name_in()])[0].full().ravel()
            if endpoint := self.moved.get(place):
                if (former := self._last.pop(place, None)) is None or not np.array_equal(former, values):
                    end.set(problem.parameters)
                    endpoint.prepare()
                self._last[place], values = values, np.concatenate(end.values)
                numbers, sizes = endpoint.numbers, problem.of_end if instant else problem.of_start
                matrices = zip(numbers[2:] if instant else numbers[:2], sizes, strict=True)
                entries = np.concatenate([x[:size, :size].ravel(order="F") for x, size in matrices])
                self.arrays["combined"][span.stop - 1 if instant else span.start, : len(entries)] = entries
            if instant:
                self.arrays["x_end"][span if self._in_sequence else ...] = values


def check(problem: RealTimeProblem) -> None:
    """Refuse a problem that has no such step, by an UnsupportedError."""
    motion, con = problem.motion, problem.con
    reasons = {
        "redundant contacts or loops (regularization)": bool(con.regularization),
        "a restitution": bool(con._set.restitution.any()),
        "a free duration": motion.free_time,
        "a design": bool(motion.parameters.chosen),
        "control='linear'": motion.control != "constant",
        "quasi-static modes (give quasi_static=None)": bool(motion.system.stiff),
        "rows of subject_to": bool(problem.formulation.relations),
    }
    if refused := next((reason for reason, holds in reasons.items() if holds), None):
        raise UnsupportedError(f"rti: {con.tree.name}: the problem has {refused}; take 'ipopt'")
    problem.check_end()
