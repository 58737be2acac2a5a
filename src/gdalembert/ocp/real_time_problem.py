"""What real-time iterations read of a problem, and what they refuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.compilation.compiled_function import CompiledFunction
from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.errors import UnsupportedError
from gdalembert.ocp.constraints import LimitedExpression
from gdalembert.ocp.ends import End
from gdalembert.ocp.formulation import Formulation
from gdalembert.ocp.parameters import ProblemParameters, RobotParameters
from gdalembert.ocp.solution import FollowedPath
from gdalembert.ocp.stage import InstantCost, Motion
from gdalembert.ocp.steps import free_rates
from gdalembert.ocp.system import System
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.expressions import foreign


class LimitedPaths(NamedTuple):
    """The paths of a problem, and by how much each is exceeded at an instant, of the arrays of the plan.

    Attributes:
        names: of the paths.
        of_state: those of q and v alone.
    """

    names: tuple[str, ...]
    excess: CompiledFunction
    arrays: list[Array]
    of_state: list[int]

    def inputs(self, first: int, end: int) -> list[Array]:
        """A copy of the arrays from one instant to another."""
        return [x[first : end + 1].copy() if x.ndim > 1 else x.copy() for x in self.arrays]

    def violations(self, inputs: Sequence[Array], *, measured: bool) -> dict[str, float]:
        """Of these arrays; ``measured``: q and v at their first instant are measured, which no plan changes."""
        beyond = self.excess.batch(*inputs)
        if measured:
            beyond[0, self.of_state] = 0.0
        return dict(zip(self.names, beyond.max(axis=0, initial=0.0).tolist(), strict=True))


class PathOfParameters(NamedTuple):
    """A path of q and v, whose limits, and whose other inputs, are those of parameters.

    Attributes:
        graph: the expression. ``limits``: its two limits, by parameters. ``names``: of its other inputs.
    """

    graph: ca.Function
    limits: ca.Function
    names: tuple[str, ...]

    @property
    def parameters(self) -> list[str]:
        """All that the path depends on."""
        return [*self.limits.name_in(), *self.names]

    @classmethod
    def of(cls, path: FollowedPath, symbols: Mapping[str, ca.MX]) -> PathOfParameters:
        limits = [ca.MX(ca.DM(x)) if isinstance(x, np.ndarray) else x for x in (path.lower, path.upper)]
        named = {name: x for name, x in symbols.items() if any(ca.depends_on(limit, x) for limit in limits)}
        graph = ca.Function("limits", list(named.values()), limits, list(named), ["lower", "upper"])
        return cls(path.graph, graph, tuple(path.constants))


class PathAtParameters(NamedTuple):
    """A path at values of its parameters, a column for each instant of the grid, of some of these instants."""

    path: PathOfParameters
    values: Mapping[str, Array]
    instants: slice

    def excess(self, t: Array, q: Array, v: Array, grid: Array) -> float:
        """The largest violation by a motion, a row for each time."""
        graph, limits, names = self.path
        lower, upper = (x.full().ravel() for x in limits.call([self.values[name] for name in limits.name_in()]))
        constants = {name: self.values[name].reshape(len(self.values[name]), -1) for name in names}
        own = {name: x[:, self.instants] if x.shape[1] > 1 else x for name, x in constants.items()}
        return FollowedPath(graph, lower, upper, own).excess(t, q, v, grid)


class RealTimeProblem(NamedTuple):
    """A problem as it is formulated, with what a tick sets.

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
    def limited(self) -> Sequence[LimitedExpression]:
        """The expressions between bounds."""
        return self.formulation.limited

    @property
    def followed(self) -> dict[str, PathOfParameters]:
        """The paths of q and v alone."""
        known = {"p": self.robot.p} | self.parameters.symbols
        paths = {}
        for path in self.limited:
            if path.is_of_motion and not path.is_of_interval:
                constants = {name: known[name] for name in path.graph.name_in() if name in known}
                followed = FollowedPath(path.graph, path.lower, path.upper, constants)
                paths[path.name] = PathOfParameters.of(followed, self.parameters.symbols)
        return paths

    @property
    def interval(self) -> float:
        """The length of an interval [s]."""
        return self.motion.range[0] / self.motion.intervals

    @property
    def times(self) -> tuple[Array, Array]:
        """Those of the grid, and of the middles of intervals."""
        instants = frozen(self.interval * np.arange(self.motion.intervals + 1.0))
        return instants, frozen(instants[:-1, None] + self.interval / 2)

    @property
    def instants(self) -> set[int]:
        """Instants that have costs of their own."""
        return {cost.instant for cost in self.costs_of_instants}

    @property
    def places(self) -> set[str | int]:
        """Where rows hold that do not hold at all instants of the grid, and the end, if anything is fixed there."""
        places = {place_of(path) for path in self.limited} - {"grid"}
        return places | {self.motion.intervals} if self.has_end else places

    @property
    def has_end(self) -> bool:
        """Whether the end fixes anything."""
        return any(fixed.any() for fixed in self.end.fixed)

    @property
    def of_end(self) -> tuple[int, int]:
        """The numbers of rows of q and of v that the end fixes where contacts or loops hold, which move it."""
        if not self.con.nc:
            return 0, 0
        return len(self.end.fixed_states("q")) + len(self.end.turned), len(self.end.fixed_states("v"))

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
            own = of_q[joint.idx_q : joint.idx_q + joint.type.nq]
            if own.any() and not own.all() and any(joint.idx_q <= i < joint.idx_q + joint.type.nq for i in turning):
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
        at_end += [(path.name, path.graph) for path in self.limited if path.places[-1] == n]
        if name := next((name for name, graph in at_end if "u" in graph.name_in()), ""):
            raise UnsupportedError(
                f"rti: {name} has u at the end, which is that of the interval before it; give at={n - 1}, or take "
                "'ipopt'"
            )

    @property
    def costs_of_instants(self) -> list[InstantCost]:
        """The costs of single instants; what else is no integral is one of the end.

        Raises:
            UnsupportedError: if it has more than q and v of the end.
        """
        return [*self.formulation.instants, *map(self._of_end, self.formulation.others)]

    def _of_end(self, cost: ca.MX) -> InstantCost:
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
        return InstantCost(ca.MX(1), graph, self.motion.intervals)

    @property
    def names(self) -> list[str]:
        """Of what is given to each stage: the parameters of the problem, and p of the robot."""
        return [*self.parameters.symbols, *["p"][: len(self.motion.dyn.parameters)]]

    def of_parameters(self, expression: ca.MX) -> ca.Function:
        """An expression of parameters, with those that it has as inputs."""
        named = {name: x for name, x in self.parameters.symbols.items() if ca.depends_on(expression, x)}
        return ca.Function("value", list(named.values()), [expression], list(named), ["value"])


class Layout(NamedTuple):
    """Where numbers of a problem are among those of several, with other contacts.

    Attributes:
        driven: the entries of u that are not fixed by their bounds. ``selection``: them, as rows of an identity matrix,
            and rows of zeros for what other problems have more of. ``fixed``: u where they are zero.
        remembered: the entries of u that change over the motion, if any expression has rates of u.
        forces: the number of forces of all constraints. ``own``: those of the problem among them.
        instants: those that have costs of their own. ``places``: where rows hold, but for the whole grid.
        combined: the largest number of entries of matrices that combine what an end fixes.
    """

    driven: list[int]
    selection: Array
    fixed: Array
    remembered: list[int]
    forces: int
    own: list[int]
    instants: list[int]
    places: list[str | int]
    combined: int

    @property
    def weights(self) -> int:
        """The number of weights of costs, and of rates of u if there are any."""
        return 2 + len(self.instants) + bool(self.remembered)


def layouts_of(problems: Sequence[RealTimeProblem]) -> list[Layout]:
    """The inputs that are not fixed, and the forces of all constraints that any of the problems has."""
    bounds = [problem.motion.bounds for problem in problems]
    driven = [np.flatnonzero(each.u_lower < each.u_upper).tolist() for each in bounds]
    most = max(map(len, driven))
    places: list[tuple[Any, range]] = []
    owned = []
    for con in (problem.con for problem in problems):
        own: list[int] = []
        for constraint, rows in zip(con.constraints, con._set.rows, strict=True):
            if (found := next((place for each, place in places if each == constraint), None)) is None:
                first = places[-1][1].stop if places else 0
                places.append((constraint, found := range(first, first + rows)))
            own += found
        owned.append(own)
    count = places[-1][1].stop if places else 0
    instants = sorted(set().union(*(problem.instants for problem in problems)))
    where = sorted(set().union(*(problem.places for problem in problems)), key=str)
    fixed = [np.where(each.u_lower < each.u_upper, 0.0, each.u_lower) for each in bounds]
    changing = set().union(*driven, np.flatnonzero(np.ptp(fixed, axis=0)).tolist())
    remembered = sorted(changing) if any(problem.formulation.remembers for problem in problems) else []
    combined = max(sum(count**2 for count in problem.of_end) for problem in problems)
    layouts = []
    for moved, rest, own in zip(driven, fixed, owned, strict=True):
        selection = np.zeros((most, len(rest)))
        selection[np.arange(len(moved)), moved] = 1.0
        layouts.append(Layout(moved, selection, rest, remembered, count, own, instants, where, combined))
    return layouts


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
    """What stages read at each instant: ``t``, ``weights`` and ``off``, as of a ``LinearStage``.

    ``spans``: the instants of each problem, or of all.
    """
    instants, places, n = layouts[0].instants, layouts[0].places, spans[-1].stop
    weights, off, t = np.zeros((n, layouts[0].weights)), np.zeros((n, len(places))), np.zeros((n, 1))
    for k, (span, problem) in enumerate(zip(spans, problems, strict=False)):
        t[span, 0] = problem.times[0]
        own, closed, counts = weights[span], off[span], float(k > 0 or problem.formulation.before.is_given)
        own[:, :2] = problem.interval
        own[[0, -1], 0] /= 2
        own[-1, 1] = 0.0
        if layouts[0].remembered:
            own[:, -1], own[0, -1] = 1.0, counts
        for column, instant in enumerate(instants, start=2):
            own[instant : instant + 1, column] = 1.0
        for column, place in enumerate(places):
            if isinstance(place, int):
                closed[:, column] = np.inf
                closed[place : place + 1, column] = 0.0
            else:
                closed[-1, column] = np.inf
                if place == "rates" and not counts:
                    closed[0, column] = np.inf
    return {"weights": weights, "off": off, "t": t}


def place_of(path: LimitedExpression) -> str | int:
    """Where a row holds: at the number of an instant, in each interval or each with rates of u, or on all the grid."""
    place = path.places[-1]
    if path.is_of_rates:
        return "rates"
    return place if isinstance(place, int) or place == "grid" else "interval"


def check(problem: RealTimeProblem, *, starts: bool) -> None:
    """Refuse what has no such step. ``starts``: whether a motion starts where it says."""
    motion, con = problem.motion, problem.con
    reasons = {
        "redundant contacts or loops (regularization)": bool(con.regularization),
        "a restitution": bool(con._set.restitution.any()),
        "a free duration": motion.free_time,
        "a design": bool(motion.parameters.chosen),
        "control='linear'": motion.control != "constant",
        "quasi-static modes (give quasi_static=None)": bool(motion.system.stiff),
        "a start of which some entries are free, beside contacts or loops": bool(starts and con.nc and problem.free),
        "rows of subject_to": bool(problem.formulation.relations),
    }
    if what := next((reason for reason, there in reasons.items() if there), None):
        raise UnsupportedError(f"rti: {con.tree.name}: the problem has {what}; take 'ipopt'")
    problem.check_end()
