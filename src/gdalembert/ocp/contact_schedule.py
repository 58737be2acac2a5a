"""Contact schedules: problems of one robot on different feet, of which a gait says which holds when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.ocp.joined import PhasesSolution, RealTimePhasesSolution
from gdalembert.ocp.linear_stage import RealTimeProblem
from gdalembert.ocp.problem import Problem
from gdalembert.ocp.program import own_values
from gdalembert.ocp.real_time import RealTimeSteps, Schedule, finite
from gdalembert.spatial.brief import first_of
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.source_text import comment_text


@interruptible
class ContactSchedule:
    """Problems of one robot with different contacts and costs, one of which holds over each interval.

        gait = ContactSchedule({"stand": stand, "left": on_left_feet, "right": on_right_feet})
        solver = gait.solver("rti")
        plan = solver(q0=q, v0=v, schedule=["stand"] * 4 + ["left"] * 10 + ["stand"] * 6)

    The schedule moves with the horizon: each call is given that of its own intervals. Where contacts of the next
    interval do not hold in this one, they take hold by an impact, without restitution.

    Args:
        problems: by name; of one robot, with the same duration, intervals and bounds. The start is that of the first.

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

    def __repr__(self) -> str:
        return f"ContactSchedule([{first_of([*map(repr, self.problems)])}])"

    def solver(self, solver: str = "rti", options: Mapping[str, Any] | None = None) -> ContactScheduleSolver:
        """Build a solver of one step a tick; options are those of :meth:`Problem.solver`.

        Raises:
            ArgumentError, UnsupportedError: as :meth:`Problem.solver`; also of any other solver.
            CompilationError: if there is no C compiler.
        """
        if not isinstance(solver, str) or solver != "rti":
            raise UnsupportedError(
                f"ContactSchedule: {shown(solver)} does not move a schedule; take 'rti', or gd.ocp.Phases, whose "
                "phases are solved at once"
            )
        formulated = {name: problem._real_time_problem() for name, problem in self.problems.items()}
        return ContactScheduleSolver(formulated, {} if options is None else options)


def _common(one: Problem, other: Problem) -> dict[str, tuple[Any, Any]]:
    """What problems of a schedule have in common."""
    found: dict[str, tuple[Any, Any]] = {
        "names of q and v": (one.bounds.q_names + one.bounds.v_names, other.bounds.q_names + other.bounds.v_names),
        "intervals": (one.intervals, other.intervals),
        "durations": (one._motion.range, other._motion.range),
        "parameters of the robot": (one.dyn.parameters.names, other.dyn.parameters.names),
        "actuators": (one.bounds.u_names, other.bounds.u_names),
    }
    names = [f"{name}_{end}" for name in "qvu" for end in ("lower", "upper")]
    return found | {f"bounds ({name})": (getattr(one.bounds, name), getattr(other.bounds, name)) for name in names}


class ContactScheduleSolver(RealTimeSteps[PhasesSolution]):
    """A solver of one step a tick of problems with different contacts: made by ``ContactSchedule.solver``.

    Attributes:
        last: the last plan; ``None`` before the first one.
    """

    def __init__(self, problems: Mapping[str, RealTimeProblem], options: Mapping[str, Any]) -> None:
        self._names = list(problems)
        held = [problem.con.constraints for problem in problems.values()]
        self._takes_hold = [[any(each not in before for each in after) for after in held] for before in held]
        reached = [k for k in range(len(held)) if any(row[k] for row in self._takes_hold)]
        super().__init__(list(problems.values()), options, reached)

    def prepare(self, *, schedule: Sequence[str] | None = None, shift: int = 1, p: Any = None, **values: Any) -> None:
        """As :meth:`RealTimeSolver.prepare`, for the schedule of the next call.

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

    def _checked(self, schedule: Sequence[str] | None, where: str) -> Schedule | None:
        """A schedule by numbers; ``None`` for the last one."""
        n = len(self._q) - 1
        if schedule is None:
            if self.last is None:
                raise ArgumentError(f"{where}: no schedule; give schedule=…, the name of a problem for each interval")
            return None
        if isinstance(schedule, str) or not isinstance(schedule, Sequence):
            raise ArgumentTypeError(f"{where}: schedule: got {shown(schedule)}; give a list of {n} names")
        if len(schedule) != n:
            raise ArgumentError(f"{where}: schedule: got {len(schedule)} names; give one for each of {n} intervals")
        if other := next((name for name in schedule if name not in self._names), None):
            raise UnknownNameError("problem of the schedule", other, self._names)
        found = np.array([self._names.index(name) for name in schedule] + [self._names.index(schedule[-1])])
        lands = [after if self._takes_hold[before][after] else -1 for before, after in pairwise(found.tolist())]
        return found, np.array(lands)

    def _schedule_in_c(self, stem: str) -> str:
        n, count = len(self._q) - 1, range(len(self._names))
        impacts = [f"from {one} to {other}" for one in count for other in count if self._takes_hold[one][other]]
        problems = "".join(f"\n      {k}  {comment_text(name)}" for k, name in enumerate(self._names))
        return f"""The schedule is that of the horizon behind the shift, and it is not shifted here.
   int64_t {stem}_set[{n + 1}] has the number of the problem of each interval, and as its last entry that of the last
   interval once more:{problems}
   int64_t {stem}_lands[{n}] has, for each interval k, {stem}_set[k + 1] where an impact is between k and k + 1, and
   otherwise -1. There is one where contacts take hold: {", ".join(impacts) or "nowhere"}."""

    def _own(self, values: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        return own_values(values, [problem.parameters.symbols for problem in self._problems])

    def _solution(self, *, solved: bool) -> PhasesSolution:
        sets, n = self._steps.set, len(self._q) - 1
        starts = [0, *(np.flatnonzero(np.diff(sets[:n])) + 1).tolist(), n]
        phases, impulses = [], []
        for first, end in pairwise(starts):
            k = int(sets[first])
            phases.append(self._part(k, first, end, solved=solved))
            hit = first > 0 and self._steps.lands[first - 1] >= 0
            impulses.append(self._impulses[first - 1, self._layouts[k].own] if hit else np.zeros(0))

        def deferred() -> dict[str, Any]:
            named = {f"phase {k}: {name}": x for k, each in enumerate(phases, 1) for name, x in each.violations.items()}
            return {"constraint_violation": max(named.values()), "violations": named}

        found = {"phases": tuple(phases), "impulses": tuple(impulses), "cost": finite(self._steps.cost)}
        return RealTimePhasesSolution.of(self._outcome(solved=solved) | found, deferred)
