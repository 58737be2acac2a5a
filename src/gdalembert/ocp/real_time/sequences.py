"""Real-time iterations of problems in sequence: of phases, and of schedules of contacts that move with the horizon."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.ocp.ends.ends import Mask
from gdalembert.ocp.joined_solution import PhasesSolution, RealTimePhasesSolution
from gdalembert.ocp.program import own_values
from gdalembert.ocp.real_time.linear_stage import LimitedRow, LinearStage
from gdalembert.ocp.real_time.problem import GRID, Layout, RealTimeProblem
from gdalembert.ocp.real_time.solver import RealTimeSteps, Schedule, finite
from gdalembert.ocp.solution import Solution
from gdalembert.ocp.stage import Instant, Step
from gdalembert.ocp.system.tangent_space import TangentSystem
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.source_text import comment_text


def numbered(caller: str, schedule: Any, names: Sequence[str], n: int) -> list[int]:
    """A schedule by numbers of problems, or an error if it is none of n intervals."""
    if isinstance(schedule, str) or not isinstance(schedule, Sequence):
        raise ArgumentTypeError(f"{caller}: schedule: got {shown(schedule)}; give a list of {n} names")
    if len(schedule) != n:
        raise ArgumentError(f"{caller}: schedule: got {len(schedule)} names; give one for each of {n} intervals")
    if other := next((name for name in schedule if name not in names), None):
        raise UnknownNameError("problem of the schedule", other, names)
    return [names.index(name) for name in schedule]


class RealTimeSequence(RealTimeSteps[PhasesSolution]):
    """Steps of problems of which one holds after the other."""

    def _values_of_problems(self, values: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        return own_values(values, [problem.parameters.symbols for problem in self._problems])

    @abstractmethod
    def _runs(self) -> list[tuple[int, int, int, Array]]:
        """The problem of each phase, its first and its last instant, and the impulses where it begins."""

    def _missed(self, phases: Sequence[Solution], impulses: Sequence[Array]) -> dict[str, float]:
        """Violations by name of what is asked where phases meet."""
        return {}

    def _solution(self, *, solved: bool) -> PhasesSolution:
        runs = self._runs()
        phases = [self._part(k, first, end, solved=solved) for k, first, end, _ in runs]
        impulses = tuple(hit.copy() for *_, hit in runs)

        def deferred() -> dict[str, Any]:
            violations = ((k, item) for k, phase in enumerate(phases, 1) for item in phase.violations.items())
            named = {f"phase {k}: {name}": x for k, (name, x) in violations}
            named |= self._missed(phases, impulses)
            return {"constraint_violation": max(named.values()), "violations": named}

        plan = {"phases": tuple(phases), "impulses": impulses, "cost": finite(self._steps.cost)}
        return RealTimePhasesSolution.of(self._outcome(solved=solved) | plan, deferred)


class ContactScheduleSolver(RealTimeSequence):
    """A solver of one step a tick of problems with different contacts: made by ``ContactSchedule.solver``.

    Attributes:
        last: the last plan; ``None`` before the first one.
    """

    def __init__(self, problems: Mapping[str, RealTimeProblem], options: Mapping[str, Any]) -> None:
        self._names = list(problems)
        systems = [problem.motion.system for problem in problems.values()]
        self._takes_hold = [[after.takes_hold(before) for after in systems] for before in systems]
        reached = [k for k, _ in enumerate(systems) if any(row[k] for row in self._takes_hold)]
        super().__init__(list(problems.values()), options, reached)

    def prepare(self, *, schedule: Sequence[str] | None = None, shift: int = 1, p: Any = None, **values: Any) -> None:
        """Prepare the next call, as :meth:`RealTimeSolver.prepare`, for its schedule.

        Raises:
            ArgumentTypeError, ArgumentError, UnknownNameError: as a call; or if there is no plan yet.
        """
        self._prepare(shift, p, values, self._checked(schedule, "prepare"))

    def __call__(
        self,
        *,
        schedule: Sequence[str] | None = None,
        shift: int = 0,
        guess: Any = None,
        p: Any = None,
        **values: Any,
    ) -> PhasesSolution:
        """Take one step at these parameters, as :meth:`RealTimeSolver.__call__`.

        Args:
            schedule: the name of a problem for each interval (N); the last one by default.
            shift, guess, p, values: as of :meth:`RealTimeSolver.__call__`.

        Returns:
            The plan: a phase for each run of intervals with the same problem. Impulses are those of the plan before
            the step.

        Raises:
            ArgumentTypeError, ArgumentError, UnknownNameError: if a value cannot be used, or is missing.
            OptimizationError: if the first step is not finite.

        Warns:
            SolutionWarning: as of :meth:`RealTimeSolver.__call__`.
        """
        return self._call(shift, guess, p, values, self._checked(schedule, "solver"))

    def _checked(self, schedule: Sequence[str] | None, caller: str) -> Schedule | None:
        """A schedule by numbers; ``None`` for the last one."""
        n = len(self._q) - 1
        if schedule is None:
            if self.last is None:
                raise ArgumentError(f"{caller}: no schedule; give schedule=…, the name of a problem for each interval")
            return None
        numbers = numbered(caller, schedule, self._names, n)
        sets = np.array([*numbers, numbers[-1]])
        lands = [after if self._takes_hold[before][after] else -1 for before, after in pairwise(sets.tolist())]
        return sets, np.array(lands)

    def _remarks_in_c(self, stem: str) -> str:
        count = range(len(self._names))
        impacts = [f"from {one} to {other}" for one in count for other in count if self._takes_hold[one][other]]
        problems = "".join(f"\n      {k}  {comment_text(name)}" for k, name in enumerate(self._names))
        return f"""The schedule is that of the horizon behind the shift, and it is not shifted here.
   {stem}_set has the number of the problem of each interval, and as its last entry that of the last
   interval once more:{problems}
   There is an impact where contacts take hold: {", ".join(impacts) or "nowhere"}."""

    def _runs(self) -> list[tuple[int, int, int, Array]]:
        sets, n = self._steps.set, len(self._q) - 1
        starts = [0, *(np.flatnonzero(np.diff(sets[:n])) + 1).tolist(), n]
        runs = []
        for first, end in pairwise(starts):
            k = int(sets[first])
            hit = first > 0 and self._steps.lands[first - 1] >= 0
            runs.append((k, first, end, self._impulses[first - 1, self._layouts[k].held] if hit else np.zeros(0)))
        return runs


class RealTimePhases(RealTimeSequence):
    """A solver of one step a tick of phases of fixed lengths: made by ``Phases.solver("rti")``.

    Each call takes one step of the whole sequence, from the start as measured to the end of the last phase: the horizon
    neither moves nor shrinks. What has a horizon that moves is a :class:`ContactSchedule`.

    Attributes:
        last: the last plan; ``None`` before the first one.
    """

    def __init__(
        self,
        problems: Sequence[RealTimeProblem],
        options: Mapping[str, Any],
        impacts: Sequence[tuple[Sequence[ca.Function], Mask] | None],
        guesses: Callable[[Any], Sequence[Any]],
    ) -> None:
        _check_phases(problems)
        self._impacts, self._guesses_of = impacts, guesses
        super().__init__(problems, options, [], in_sequence=True)
        for k, span in enumerate(self._spans):
            self._steps.set[span] = k
            if k < len(impacts):
                self._steps.set[span.stop - 1] = len(problems) + k

    def prepare(self, *, p: Any = None, **values: Any) -> None:
        """Prepare the next call, as :meth:`RealTimeSolver.prepare`, without a shift.

        Raises:
            ArgumentError: if there is no plan yet.
        """
        self._prepare(0, p, values)

    def cold(self) -> PhasesSolution:
        """Take steps from the guess of the phases until they are small, at the values that they have now."""
        values = {name: x for problem in self._problems for name, x in problem.parameters.values.items()}
        p = self._first.robot.last if "p" in self._given else None
        return self._call(0, [None] * len(self._problems), p, values)

    def __call__(self, *, guess: Any = None, p: Any = None, **values: Any) -> PhasesSolution:
        """Take one step at these parameters, as :meth:`RealTimeSolver.__call__`, without a shift.

        Args:
            guess: where to begin instead of the last plan: a solution of these phases, or a list of a guess for each.
            p, values: as of :meth:`RealTimeSolver.__call__`.

        Raises:
            ArgumentTypeError, ArgumentError, UnknownNameError: if a value cannot be used, or is missing.
            OptimizationError: if the first step is not finite.

        Warns:
            SolutionWarning: as of :meth:`RealTimeSolver.__call__`.
        """
        return self._call(0, guess, p, values)

    @property
    def _most_shift(self) -> int:
        return 0

    def _remarks_in_c(self, stem: str) -> str:
        spans = [(span.start, span.stop - 1) for span in self._spans]
        rows = "".join(f"\n      phase {k}  rows {first} to {last}" for k, (first, last) in enumerate(spans, 1))
        ends = f"\n   The end of a phase is in row b of {stem}_x_end." if self._ends.are_fixed else ""
        return f"""Phases cannot be shifted: shift is 0. A phase has rows a to b of {stem}_x and of parameters of every
   instant, and rows a to b - 1 of {stem}_u:{rows}{ends}"""

    def _stages(self, inputs: Mapping[str, str], damping: float) -> list[LinearStage]:
        junctions = []
        for k, cones_and_rows in enumerate(self._impacts):
            problem, after, held = self._problems[k], self._problems[k + 1], self._layouts[k + 1].held
            impact = None if cones_and_rows is None else Impact(after, held, *cones_and_rows)
            junctions.append(JunctionStage(problem, self._layouts[k], inputs, damping, impact))
        return [*super()._stages(inputs, damping), *junctions]

    def _guesses(self, guess: Any) -> Sequence[Any]:
        return self._guesses_of(guess)

    def _begin(self, guess: Any) -> None:
        super()._begin(guess)
        for k, impact in enumerate(self._impacts):
            if impact is not None:
                at, held, problem = self._spans[k].stop - 1, self._layouts[k + 1].held, self._problems[k + 1]
                p = [problem.robot.last] if problem.con.parameters else []
                after, impulses = problem.con.impact(self._q[at], self._v[at], *p)
                self._a[at], self._forces[at, held] = after.full().ravel(), impulses.full().ravel()

    def _runs(self) -> list[tuple[int, int, int, Array]]:
        runs = []
        for k, (span, impact) in enumerate(zip(self._spans, [None, *self._impacts], strict=True)):
            hit = np.zeros(0) if impact is None else self._forces[span.start - 1, self._layouts[k].held]
            runs.append((k, span.start, span.stop - 1, hit))
        return runs

    def _missed(self, phases: Sequence[Solution], impulses: Sequence[Array]) -> dict[str, float]:
        friction, places = [0.0], [0.0]
        for k, (phase, impact) in enumerate(zip(phases, self._impacts, strict=False), start=1):
            if impact is not None:
                (cones, asked), system = impact, self._problems[k].motion.system
                friction += [-float(ca.mmin(cone(phase.q[-1], impulses[k]))) for cone in cones]
                p = [phase.p] if system.con.parameters else []
                left = system.places.residual(np.concatenate([phase.q[-1], phase.v[-1]]), *p).full().ravel()
                places.append(float(np.abs(left[asked]).max(initial=0.0)))
        return {"friction of impulses": max(friction), "contacts and loops where phases meet": max(places)}


def _check_phases(problems: Sequence[RealTimeProblem]) -> None:
    """Refuse phases that differ in what all stages have one array of."""
    first, shapes = problems[0], dict[str, tuple[int, int]]()
    for k, problem in enumerate(problems, start=1):
        f = problem.formulation
        starts = k > 1 and any(fixed.any() for fixed in problem.start.fixed)
        reasons = {
            "a start of its own; give it as the end of the phase before": starts,
            "u before it; give it to the first one": k > 1 and f.before.is_given,
            "other actuators than the first one": problem.motion.bounds.u_names != first.motion.bounds.u_names,
            "other p than the first one": not np.array_equal(problem.robot.last, first.robot.last),
            "nothing to minimise; give it squares of u": not (f.integrals or f.instants or f.others),
        }
        for name, symbol in problem.parameters.symbols.items():
            differs = shapes.setdefault(name, symbol.shape) != symbol.shape
            twice = symbol.shape[1] > 1 and any(name in other.names for other in problems[: k - 1])
            reasons[f"the parameter {name!r}, as another phase; give it a name of its own"] = differs or twice
        if refused := next((reason for reason, holds in reasons.items() if holds), None):
            raise UnsupportedError(f"rti: phase {k} has {refused}, or take 'ipopt'")


class Impact(NamedTuple):
    """Contacts and loops that take hold where the next phase begins.

    Attributes:
        problem: the next phase. ``forces``: the places of its forces among those of all problems.
        cones: of its contacts: (q, forces) → margins, at least 0.
        asked: which rows of positions do not hold already.
    """

    problem: RealTimeProblem
    forces: list[int]
    cones: Sequence[ca.Function]
    asked: Mask


class JunctionStage(LinearStage):
    """The Functions of the end of a phase, a stage of no length behind which the next phase begins.

    q and the u before go on, and v too, unless contacts of the next phase take hold: then w = (v⁺, Λ) are the unknowns
    of an impact,

        M(q) (v⁺ − v) − J(q)ᵀ Λ = 0        J(q) v⁺ = 0

    as accelerations and forces are those of an interval, and the impulses Λ may be in friction cones. (Not a jump as
    those of schedules, which takes Λ for a function of the state: cones of Λ are rows of a stage.)

    Args:
        impact: what takes hold there, if anything does.
    """

    def __init__(
        self,
        problem: RealTimeProblem,
        layout: Layout,
        inputs: Mapping[str, str],
        damping: float,
        impact: Impact | None,
    ) -> None:
        self._impact, self._of_impact = impact, list[LimitedRow]()
        idle = layout._replace(driven=[], selection=np.zeros_like(layout.selection), held=[])
        super().__init__(problem, idle, inputs, damping)

    def _instants(self) -> tuple[Instant, Step, Instant | None]:
        s, nq, nv = self._s, self.tree.nq, self.tree.nv
        point, v = ca.vertcat(s["x"][:nq], self._delta[:nv], self._zero), self._velocity()
        q = TangentSystem(self.system).configuration(point)
        values = {"q": q, "v": v, "t": s["t"]} | {name: x[:, 0] for name, x in self._known.items()}
        here = Instant(values, 1)
        self._rows_of_w = []
        if self._impact is None:
            return here, Step(ca.vertcat(point, v), ca.MX(0, 1)), None
        system = self._impact.problem.motion.system
        self._rows_of_w = [*range(nv), *(nv + i for i in self._impact.forces)]
        after, impulses = s["w"][:nv], s["w"][self._rows_of_w[nv:]]
        p = [s[self.inputs["p"]]] if "p" in self.inputs and system.con.parameters else []
        for cone in self._impact.cones:
            margins = cone(q, impulses)
            zero = ca.MX(ca.DM.zeros(margins.shape[0]))
            self._of_impact.append(LimitedRow("", margins, zero, zero + ca.inf, GRID))
        if self._impact.asked.any():
            left = system.places.residual(ca.vertcat(q, v), *p)[np.flatnonzero(self._impact.asked).tolist()]
            zero = ca.MX(ca.DM.zeros(left.shape[0]))
            self._of_impact.append(LimitedRow("", left, zero, zero, GRID))
        residual = ca.vertcat(system.balance(q, after - v, impulses, p), system.rows.jacobian(q, p) @ after)
        return here, Step(ca.vertcat(point, after), residual), None

    def _kept(self, values: Mapping[str, Matrix], change: Matrix) -> Matrix:
        return values["x"][self.tree.nq + self.tree.nv :] + change

    def _velocity_reached(self) -> ca.SX:
        nq, nv = self.tree.nq, self.tree.nv
        return self._symbols["x"][nq : nq + nv] if self._impact is None else self._symbols["w"][:nv]

    def _limited_rows(self) -> Iterator[LimitedRow]:
        yield from super()._limited_rows()
        yield from self._of_impact
