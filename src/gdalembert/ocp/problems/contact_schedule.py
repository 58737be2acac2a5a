"""Contact schedules: problems of one robot on different feet, of which a gait says which holds when.

Where contacts take hold behind an interval, its end x⁻ = (q, v⁻) and the start x⁺ = (q, v⁺) of the next one differ:

    M(q) (v⁺ − v⁻) = J(q)ᵀ Λ        J(q) v⁺ = 0

with v⁺ and the impulses Λ as unknowns of the later interval, beside its u, a and f. Real-time iterations take v⁺ as a
function of x⁻.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.nlp.backends import Backend, checked_options, same_options
from gdalembert.nlp.entries import Label
from gdalembert.nlp.joined_program import Jump, ScheduledPart, ScheduledProgram
from gdalembert.nlp.solver import Solver
from gdalembert.nlp.terms import RowsAndCost
from gdalembert.ocp.ends.ends import EndpointConstraints
from gdalembert.ocp.joined_solution import PhasesSolution, joined_outcome, whole_motion
from gdalembert.ocp.problems.problem import Problem
from gdalembert.ocp.program import Ended, OptimalControlProblem, Part, own_values
from gdalembert.ocp.real_time.sequences import ContactScheduleSolver, numbered
from gdalembert.ocp.solution import Solution
from gdalembert.ocp.solvers.registry import solver_of
from gdalembert.ocp.system.constraints import MOTION
from gdalembert.ocp.system.parameters import BoundaryCondition, Inputs
from gdalembert.spatial.arrays import Array, Uncopied
from gdalembert.spatial.brief import first_of
from gdalembert.spatial.functions import function, symbols
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.progress import Watchable

_KEPT = 8
"""The number of schedules whose programs are kept."""


@interruptible
class ContactSchedule:
    """Problems of one robot with different contacts and costs, one of which holds over each interval.

        gait = ContactSchedule({"stand": stand, "left": on_left_feet, "right": on_right_feet})
        plan = gait.solve(["stand"] * 4 + ["left"] * 10 + ["stand"] * 6, q0=q, v0=v)
        solver = gait.solver("rti")
        plan = solver(q0=q, v0=v, schedule=["stand"] * 4 + ["left"] * 10 + ["stand"] * 6)

    The schedule moves with the horizon: each call is given that of its own intervals. Where contacts of the next
    interval do not hold in this one, they take hold by an impact, without restitution. Costs and rows of an instant are
    those of the interval that begins there, at the end those of the last one; a cost of ``duration`` is that of the
    first interval.

    Args:
        problems: by name; of one robot, with the same duration, intervals and bounds. The start and the guess are those
            of the first, the end is that of the one that holds last.

    Raises:
        ArgumentTypeError, ArgumentError: if they are no such problems.
    """

    def __init__(self, problems: Mapping[str, Problem]) -> None:
        if not isinstance(problems, Mapping) or not all(isinstance(each, Problem) for each in problems.values()):
            raise ArgumentTypeError(
                f"ContactSchedule: got {type(problems).__name__}; give gd.ocp.Problem by names, as {{'stand': problem}}"
            )
        if not problems:
            raise ArgumentError("ContactSchedule: got no problems; give one for each set of contacts")
        self.problems = dict(problems)
        first, *others = self.problems.items()
        for name, problem in others:
            for what, (one, other) in _common(first[1], problem).items():
                if not np.array_equal(one, other):
                    raise ArgumentError(
                        f"ContactSchedule: {what} of {name!r} differ from those of {first[0]!r}; give the same"
                    )
        self._scheduled, self._known = dict[tuple[int, ...], ScheduledProblem](), dict[str, RowsAndCost]()
        self._built: tuple[Any, Mapping[str, Any], ContactScheduleSolver] | None = None

    def __repr__(self) -> str:
        return f"ContactSchedule([{first_of([*map(repr, self.problems)])}])"

    def solve(
        self,
        schedule: Sequence[str],
        solver: str = "ipopt",
        options: Mapping[str, Any] | None = None,
        *,
        p: Any = None,
        progress: bool = False,
        **values: npt.ArrayLike,
    ) -> PhasesSolution:
        """Solve for a schedule, from the guess of the first problem.

        Another schedule is another program, which takes the derivatives of its stages over from those before it. The
        programs of the last eight are kept: with another p, other parameters or another guess nothing is built again,
        with another solver or options all but the derivatives.

        Args:
            schedule: the name of a problem for each interval (N).
            solver, options, p, progress, values: as of :meth:`Problem.solve`.

        Returns:
            A phase for each run of intervals with the same problem; at an impact, one ends with v⁻, and the next one
            begins with v⁺.

        Raises:
            UnknownNameError, ArgumentTypeError, ArgumentError, UnsupportedError, OptimizationError: as
                :meth:`Problem.solve`; also if the schedule is none, contacts that take hold have a restitution, or a
                row or a cost connects instants of several problems.

        Warns:
            SolutionWarning: as :meth:`Problem.solve`.
        """
        problem = self._for(self._numbered("solve", schedule))
        return problem.solve(solver, options, p=p, progress=progress, **values)

    def solver(self, solver: str = "rti", options: Mapping[str, Any] | None = None, *, progress: bool = False) -> Any:
        """Build a solver that is called with the schedule and the parameters of each solve.

        Args:
            solver, options, progress: as of :meth:`Problem.solver`; ``"rti"`` takes one step a tick.

        Returns:
            A :class:`ContactScheduleSolver` of ``"rti"``, which builds all problems once; of other solvers a
            :class:`ScheduledSolver`, which builds a program for each schedule.

        Raises:
            ArgumentError, UnsupportedError: as :meth:`Problem.solver`.
            CompilationError: if ``"rti"`` finds no C compiler.
        """
        _check_costs(self.problems)
        robot = next(iter(self.problems.values())).dyn.tree.name
        return solver_of(self, robot, solver, options, progress=progress)

    def nonlinear_solver(
        self,
        solver: str,
        options: Mapping[str, Any] | None = None,
        kind: type[Solver[PhasesSolution]] = Solver,
    ) -> ScheduledSolver:
        """A solver of the nonlinear program of each schedule, as of :meth:`Problem.nonlinear_solver`."""
        if kind is not Solver:
            raise UnsupportedError(f"{solver}: a schedule: it takes one problem, not several; take 'ipopt' or 'rti'")
        kind.form(solver)
        return ScheduledSolver(self, solver, checked_options("solver", options))

    def real_time_solver(self, options: Mapping[str, Any] | None = None) -> ContactScheduleSolver:
        """A solver of one Gauss–Newton step a tick, as of :meth:`Problem.real_time_solver`."""
        formulated = {name: problem._real_time_problem() for name, problem in self.problems.items()}
        return ContactScheduleSolver(formulated, options or {})

    def _steps(self, options: Mapping[str, Any]) -> ContactScheduleSolver:
        """The solver of real-time iterations for :meth:`solve`, of all schedules; built anew where problems changed."""
        key = [problem._contents(ends=True) for problem in self.problems.values()]
        if self._built is None or self._built[0] != key or not same_options(self._built[1], options):
            self._built = key, options, self.real_time_solver(options)
        return self._built[2]

    def _numbered(self, where: str, schedule: Any) -> tuple[int, ...]:
        return tuple(numbered(where, schedule, list(self.problems), next(iter(self.problems.values())).intervals))

    def _for(self, schedule: tuple[int, ...]) -> ScheduledProblem:
        """The problem of a schedule; those of the last ones are kept."""
        found = self._scheduled.pop(schedule, None)
        found = found or ScheduledProblem(self.problems, schedule, self._known, self._steps)
        self._scheduled[schedule] = found
        if len(self._scheduled) > _KEPT:
            del self._scheduled[next(iter(self._scheduled))]
        return found


def _common(one: Problem, other: Problem) -> dict[str, tuple[Any, Any]]:
    """Quantities that problems of a schedule have in common."""
    found: dict[str, tuple[Any, Any]] = {
        "names of q and v": (one.bounds.q_names + one.bounds.v_names, other.bounds.q_names + other.bounds.v_names),
        "intervals": (one.intervals, other.intervals),
        "durations": (one._motion.range, other._motion.range),
        "parameters of the robot": (one.dyn.parameters.names, other.dyn.parameters.names),
        "actuators": (one.bounds.u_names, other.bounds.u_names),
        "kinds of control": (one.control, other.control),
        "designs": (_design(one), _design(other)),
        "modes that follow their loads (quasi_static)": (one._system.shapes, other._system.shapes),
    }
    names = [f"{name}_{end}" for name in "qvu" for end in ("lower", "upper")]
    return found | {f"bounds ({name})": (getattr(one.bounds, name), getattr(other.bounds, name)) for name in names}


def _check_costs(problems: Mapping[str, Problem]) -> None:
    """Refuse problems of which one has nothing to minimise."""
    if name := next((name for name, problem in problems.items() if problem._cost is None), None):
        raise ArgumentError(f"ContactSchedule: {name!r} minimises nothing; call its squares or minimize")


def _design(problem: Problem) -> Array:
    return np.array([problem._robot.chosen, problem._robot.lower, problem._robot.upper])


class ScheduledProblem(OptimalControlProblem[PhasesSolution]):
    """Problems of a schedule as one: ``schedule`` has the number of one of them for each interval.

    ``known``: terms that other schedules share with it; ``steps``: makes real-time iterations of all schedules.
    """

    def __init__(
        self,
        problems: Mapping[str, Problem],
        schedule: Sequence[int],
        known: dict[str, RowsAndCost],
        steps: Callable[[Mapping[str, Any]], ContactScheduleSolver],
    ) -> None:
        self._names, self.problems, self._known = tuple(problems), tuple(problems.values()), known
        self._steps = steps
        self._holds = np.array([*schedule, schedule[-1]])
        self._check_impacts()
        first, n = self.problems[0], len(schedule)
        self._start, self._end = first._ends[0], self.problems[schedule[-1]]._ends[1]
        self._endpoints = {
            row: EndpointConstraints(end, problem._system, partial(first._initial.configuration, row))
            for row, end in ((0, self._start), (-1, self._end))
            if len((problem := self.problems[schedule[row]])._system.rows)
        }
        starts = np.flatnonzero(np.diff(schedule)) + 1
        self._runs = [range(*ends) for ends in pairwise([0, *starts.tolist(), n])]

    def __repr__(self) -> str:
        return f"ScheduledProblem([{first_of([*map(repr, self._names)])}], {len(self._holds) - 1} intervals)"

    @property
    def _robot_name(self) -> str:
        return self.problems[0].dyn.tree.name

    @property
    def _landings(self) -> list[int]:
        """The instants where contacts take hold."""
        pairs = enumerate(pairwise(self._holds.tolist()), start=1)
        return [k for k, (before, after) in pairs if self._takes_hold(before, after)]

    def _takes_hold(self, before: int, after: int) -> bool:
        return self.problems[after]._system.takes_hold(self.problems[before]._system)

    def _check_impacts(self) -> None:
        for name, problem in zip(self._names, self.problems, strict=True):
            if problem._system.moves_ends:
                raise UnsupportedError(
                    f"ContactSchedule: {name!r}: contacts or loops hold where fast modes follow their loads; give "
                    "Problem quasi_static=None"
                )
        for k in self._landings:
            self.problems[self._holds[k]]._system.check_impact("interval")

    def real_time_solver(self, options: Mapping[str, Any] | None = None) -> SettledSchedule:
        return SettledSchedule(self, self._steps(options or {}))

    def _check_costs(self) -> None:
        _check_costs(dict(zip(self._names, self.problems, strict=True)))

    def _fixed(self, k: int) -> list[BoundaryCondition]:
        """Conditions that fix states of a part; the first knows the start, where constraints of another part hold."""
        own: list[BoundaryCondition] = [self._start, self.problems[0]._before] if k == 0 else []
        own += [endpoint for row, endpoint in self._endpoints.items() if row == 0 and k in (0, self._holds[0])]
        own += [self._end] if k == self._holds[-1] else []
        return own + [endpoint for row, endpoint in self._endpoints.items() if row and k == self._holds[-1]]

    def _set(self, p: Any, values: Mapping[str, Any]) -> None:
        own = own_values(values, [problem._parameters.symbols for problem in self.problems])
        checked = [problem._robot.checked("solve", p) for problem in self.problems]
        for problem, named, numbers in zip(self.problems, own, checked, strict=True):
            problem._parameters.set("solve", named)
            problem._robot.set(numbers)
        self._start.set(self.problems[0]._parameters)
        self._end.set(self.problems[self._holds[-1]]._parameters)
        for condition in (self.problems[0]._before, *self._endpoints.values()):
            condition.set(self.problems[0]._parameters)

    def _contents(self, *, ends: bool) -> object:
        fixed = self._start, self.problems[0]._before, self._end, *self._endpoints.values()
        return [problem._contents(ends=ends) for problem in self.problems], [end.pattern for end in fixed]

    def _each_p(self, p: Any) -> Sequence[Any]:
        return [p] * len(self.problems)

    def _each_guess(self, guess: Any) -> Sequence[Any]:
        motion = whole_motion(guess) if isinstance(guess, PhasesSolution) else guess
        return [self.problems[0]._initial.motion(motion)] * len(self.problems)

    def _parts(self, *, stagewise: bool) -> list[Part]:
        for endpoint in self._endpoints.values():
            endpoint.prepare()
        n, guess = len(self._holds) - 1, self.problems[0]._initial.default_guess()
        inputs = [Inputs(n, each._parameters, each._robot, self._fixed(k)) for k, each in enumerate(self.problems)]
        common = self.problems[0]._initial.scales_of(guess)
        parts, remembers = list[Part](), any(problem._formulation().remembers for problem in self.problems)
        for k, (problem, own) in enumerate(zip(self.problems, inputs, strict=True)):
            scales = problem._initial.scales_of(guess)._replace(modes=common.modes, state=common.state)
            fixed = self._fixed(k)
            formulation = problem._formulation(own, scales)._replace(
                start=self._start,
                before=self.problems[0]._before,
                remembers=remembers,
                ends=[each for each in (self._start, self._end) if each in fixed],
                endpoints=[each for row, each in self._endpoints.items() if self._holds[row] == k],
            )
            parts.append(Part(formulation, ca.MX(0)))
        return parts

    def _joined(self, parts: Sequence[Part], p: ca.MX, form: Backend) -> ScheduledProgram:
        scheduled, used = [], {0, *self._holds.tolist()}
        for k, part in enumerate(parts):
            motion = part.motion
            matrices = motion.state, motion.u_before, motion.u
            shared = [motion.entries(each).ravel(order="F") for each in matrices]
            scheduled.append(
                ScheduledPart(
                    name=f"{self._names[k]!r}",
                    of=part.row_of_stages.parts(stagewise=form.stagewise) if k in used else None,
                    shared=np.concatenate(shared),
                    size=sum(x.numel() for x in motion.variables),
                    numbers=part.inputs.p.numel(),
                )
            )
        motion = parts[0].motion
        return ScheduledProgram(
            scheduled,
            self._holds,
            [self._jump(k, parts[self._holds[k]]) for k in self._landings],
            self._known,
            p,
            states=parts[0].row_of_stages.states,
            overlap=motion.overlap,
            equations_as_rows=form.equations_as_rows,
        )

    def _jump(self, k: int, part: Part) -> Jump:
        """The impact at an instant, of the contacts of a part."""
        motion, system, inputs = part.motion, part.motion.system, part.inputs
        con, state = system.con, motion.entries(motion.state)[:, k]
        nq, nv, count = con.nq, con.nv, len(system.rows)
        others = motion.parameters.fixed
        numbers = inputs.entries(others).ravel(order="F") if motion.parameters.others else np.zeros(0, dtype=int)
        s = symbols(state=len(state), after=nv, impulses=count, p=len(numbers))
        q, v = s["state"][:nq], s["state"][nq : nq + nv]
        design = s["state"][motion.size + motion.free_time :]
        p = [motion.parameters.assembled(design, s["p"])] if len(motion.parameters) else []
        balance, rates = system.balance(q, s["after"] - v, s["impulses"], p), system.rows.jacobian(q, p) @ s["after"]
        graph = function("impact", s, {"rows": ca.vertcat(balance, rates)})
        y = ca.MX.sym("y", len(state) + nv + count)
        given = ca.MX.sym("p", len(numbers))
        rows = graph.call([*ca.vertsplit(y, [0, len(state), len(state) + nv, y.numel()]), given], True, False)[0]
        asks = [~system.places.known(self.problems[self._holds[k - 1]]._system.con.constraints)]
        return Jump(
            instant=k,
            state=state,
            jumps=state[nq : nq + nv],
            unknowns=np.full(count, system.mass),
            function=ca.Function("term", [y, given], [ca.densify(rows), ca.MX(0)]),
            rows=np.concatenate([np.full(nv, system.mass), np.ones(count)]),
            label=Label(MOTION, rank=0),
            parameters=numbers,
            asks=np.concatenate([*asks, np.zeros(count, dtype=bool)]),
        )

    def _solutions(
        self, parts: Sequence[tuple[Part, Any, Any]], nlp: Any, z: Array, numbers: Array, ended: Ended
    ) -> tuple[Solution, ...]:
        found, n = [], len(self._holds) - 1
        values = {k: parts[k][0].values(*parts[k][1:]) for k in set(self._holds.tolist())}
        for run in self._runs:
            k, among = int(self._holds[run.start]), range(run.start, run.stop + (run.stop == n))
            cost, violations = nlp.cost(z, numbers, among), nlp.violations(z, numbers, among)
            ends = [end for end, at in ((self._start, 0), (self._end, n)) if at in (run.start, run.stop)]
            moved = {name: by for end in ends for name, by in end.corrections.items()}
            phase = parts[k][0].stretch(values[k], run, cost, violations, *ended)
            found.append(replace(phase, corrections=moved))
        return tuple(found)

    def _solution(self, parts: tuple[Solution, ...], nlp: Any, z: Array, numbers: Array) -> PhasesSolution:
        hits = dict(zip(self._landings, nlp.further(z), strict=True))
        impulses = [
            self.problems[self._holds[run.start]]._system.rows.basis.T @ hits[run.start]
            if run.start in hits
            else np.zeros(0)
            for run in self._runs
        ]
        return PhasesSolution(
            phases=parts, impulses=tuple(impulses), **joined_outcome("phase", parts, nlp.cost(z, numbers))
        )


class SettledSchedule(NamedTuple):
    """Real-time iterations of one schedule, from the guess until they are small."""

    of: ScheduledProblem
    steps: ContactScheduleSolver

    @property
    def progress(self) -> bool:
        """Whether the first steps are shown on stderr."""
        return self.steps.progress

    @progress.setter
    def progress(self, value: bool) -> None:
        self.steps.progress = value

    def cold(self) -> PhasesSolution:
        """Solve at the values that the problems have now."""
        problems, holds = self.of.problems, self.of._holds[:-1].tolist()
        values: dict[str, Any] = {name: x for problem in problems for name, x in problem._parameters.values.items()}
        p = problems[0]._robot.last if problems[0].dyn.parameters else None
        schedule = [self.of._names[k] for k in holds]
        return self.steps(schedule=schedule, guess=problems[0]._initial.motion(None), p=p, **values)


class ScheduledSolver(Watchable, Uncopied):
    """A solver of problems with different contacts by a program for each schedule: made by ``ContactSchedule.solver``.

    A schedule that is among the last eight is solved by the program that was built for it, of the problems as they were
    then. Where the schedule of a call is that of the last one, the solver begins at its solution, primal and dual, and
    otherwise at its motion.

    Attributes:
        last: the last solution; ``None`` before the first one.
        progress: whether builds and iterations are shown on stderr.
    """

    def __init__(self, gait: ContactSchedule, solver: str, options: Mapping[str, Any]) -> None:
        self._gait, self._name, self._options = gait, solver, options
        self._solvers = dict[tuple[int, ...], Solver[PhasesSolution]]()
        self._schedule: tuple[int, ...] | None = None
        self.last: PhasesSolution | None = None

    def __repr__(self) -> str:
        return f"ScheduledSolver({self._name!r}, {len(self._solvers)} schedules)"

    def __call__(
        self,
        *,
        schedule: Sequence[str] | None = None,
        shift: int = 0,
        guess: Any = None,
        p: Any = None,
        **values: Any,
    ) -> PhasesSolution:
        """Solve at these parameters, as :meth:`Solver.__call__`.

        Args:
            schedule: the name of a problem for each interval (N); the last one by default.
            shift, guess, p, values: as of :meth:`Solver.__call__`; a guess may be a solution of these problems.

        Returns:
            A phase for each run of intervals with the same problem.

        Raises:
            UnknownNameError, ArgumentTypeError, ArgumentError, UnsupportedError: as :meth:`ContactSchedule.solve`.
            OptimizationError: as of :meth:`Solver.__call__`; also if there is no solution of another schedule than the
                last one.

        Warns:
            SolutionWarning: as of :meth:`Solver.__call__`.
        """
        if schedule is None and self._schedule is None:
            raise ArgumentError("solver: no schedule; give schedule=…, the name of a problem for each interval")
        chosen = self._schedule if schedule is None else self._gait._numbered("solver", schedule)
        assert chosen is not None
        if (solver := self._solvers.pop(chosen, None)) is None:
            solver = self._gait._for(chosen).solver(self._name, self._options, progress=self.progress)
        self._solvers[chosen] = solver
        if len(self._solvers) > _KEPT:
            del self._solvers[next(iter(self._solvers))]
        if chosen != self._schedule:
            by = solver._program.checked_shift(shift)
            solver.forget()
            if guess is None and self.last is not None:
                guess = whole_motion(self.last, by)
        solver.progress = self.progress
        self.last = solver(shift=shift, guess=guess, p=p, **values)
        self._schedule = chosen
        return self.last
