"""Real-time iterations: one Gauss–Newton step of a problem each tick (Diehl, Bock, Schlöder 2005), as machine code.

:mod:`~gdalembert.ocp.real_time.linear_stage` has the equations, ``nlp.gauss_newton`` the step.
"""

from __future__ import annotations

import itertools
import math
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.compilation.compiled_function import compile as compiled_function
from gdalembert.compilation.compiled_function import dtype_name
from gdalembert.errors import ArgumentError, ArgumentTypeError, SolutionWarning, shown
from gdalembert.model.configuration import check_unit_lengths, lengths, unit_blocks
from gdalembert.nlp.gauss_newton import GaussNewton, Sizes
from gdalembert.nlp.program import InvalidStartError
from gdalembert.nlp.step_code import StepCode, arrays_read
from gdalembert.ocp.real_time.generated import check_names, exported_arrays
from gdalembert.ocp.real_time.linear_stage import NEXT, LinearStage
from gdalembert.ocp.real_time.problem import (
    NEAR,
    FixedEnds,
    RealTimeProblem,
    StageOutcome,
    arrays_of_grid,
    check,
    layouts_of,
    limits_of_u,
    paths_at,
)
from gdalembert.ocp.solution import Accuracy, JoinedSolution, RealTimeSolution, Solution, beyond_soft_limits, unsolved
from gdalembert.ocp.stage import Stages as StageValues
from gdalembert.spatial.arguments import UNIT_ERROR, c_file, integer, number, warn
from gdalembert.spatial.arrays import Array, Uncopied
from gdalembert.spatial.interrupts import Interrupts, interruptible
from gdalembert.spatial.progress import Watchable, current, progress
from gdalembert.spatial.source_text import check_stem, comment_text, write_whole

STATUS = "Real_Time_Iteration"
_FAILED = "Invalid_Number_Detected"
_CAPPED = "Maximum_Iterations_Exceeded"
_UNMET = 0.5
"""The part of violations that may be left by the iterations of a tick; then its plan is not told to be solved."""
_FIRST_STEPS, _SEARCHED_STEPS, _FIRST_ITERATIONS, _SMALL, _SETTLED = 200, 100, 60, 1e-6, 1e-3
"""Steps of the first tick at most, without a line search and with one, iterations of each, the relative step at which
it ends, and that of an optimum."""
_OPTIONS = {"iterations": 3, "penalty": None, "first_gap": None, "levenberg_marquardt": 0.3}

Planned = TypeVar("Planned", bound=Solution | JoinedSolution)
Schedule = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Of each instant the set of its stage, and of each interval the set of the jump behind it, or −1."""


def _numbers_of(options: Any) -> tuple[int, float, float, float]:
    """The values of options, or an error if they are none."""
    if not isinstance(options, Mapping):
        raise ArgumentTypeError(f"rti: options: got {shown(options)}; give {{name: value}}")
    if other := next((name for name in options if name not in _OPTIONS), None):
        raise ArgumentError(f"rti: got the option {shown(other)}; give any of {', '.join(_OPTIONS)}")
    chosen = _OPTIONS | dict(options)
    penalty, first_gap = (
        0.0 if chosen[k] is None else number(f"rti: {k}", chosen[k]) for k in ("penalty", "first_gap")
    )
    damping = number("rti: levenberg_marquardt", chosen["levenberg_marquardt"], inclusive=True)
    return integer("rti: iterations", chosen["iterations"], 1, 1000), penalty, first_gap, damping


def finite(x: float) -> float:
    """A number; the largest in place of one that is beyond it, or of none."""
    return min(max(x, -sys.float_info.max), sys.float_info.max) if x == x else sys.float_info.max


class RealTimeSteps(Watchable, Uncopied, ABC, Generic[Planned]):
    """Steps of problems of one robot that differ in contacts and costs, one of which holds over each interval.

    Args:
        problems: of it. ``options``: of the solver. ``reached``: those that an impact leads to.
        in_sequence: whether each of them has intervals of its own; then there is an instant of no length where two meet
            (:class:`~gdalembert.ocp.real_time.sequences.JunctionStage`).

    Attributes:
        last: the last plan; ``None`` before the first one.
    """

    _takes_hold: Sequence[Sequence[bool]] = ()
    """Of a schedule, whether contacts take hold from one problem (row) to another (column)."""

    def __init__(
        self,
        problems: Sequence[RealTimeProblem],
        options: Mapping[str, Any],
        reached: Sequence[int],
        *,
        in_sequence: bool = False,
    ) -> None:
        self._iterations, penalty, first_gap, damping = _numbers_of(options)
        for problem in problems:
            check(problem)
        self._problems, self._first, self._tree = problems, problems[0], problems[0].con.tree
        lengths_of = [problem.motion.intervals for problem in problems if in_sequence] or [problems[0].motion.intervals]
        firsts = np.cumsum([0, *(count + 1 for count in lengths_of)]).tolist()
        self._spans, self._ending = [slice(*ends) for ends in itertools.pairwise(firsts)], set(firsts)
        names = list(dict.fromkeys(name for problem in problems for name in problem.names))
        self._inputs = inputs = {name: f"parameter_{k}" for k, name in enumerate(names)}
        self._layouts = layouts_of(problems, in_sequence=in_sequence)
        stages = self._stages(inputs, damping)
        n, first, rows = firsts[-1] - 1, stages[0], max(stage.rows for stage in stages)
        self._padded: dict[str, Array] = {}
        self._given, arrays = self._buffers(names, n), arrays_of_grid(problems, self._layouts, self._spans)
        self._times = [problem.times for problem in problems]
        self._ends = FixedEnds(problems, self._layouts, self._spans, in_sequence=in_sequence)
        arrays |= self._ends.arrays
        self._impulses = arrays["impulse"] = np.zeros((n, max(1, first.eliminated - self._tree.nv)))
        arrays |= {inputs[name]: array for name, array in self._given.items()}
        arrays |= {inputs[name]: buffer[:-1] for name, buffer in self._padded.items()}
        arrays |= {inputs[name] + NEXT: buffer[1:] for name, buffer in self._padded.items()}
        squares = max(stage.squares for stage in stages)
        free = tuple(self._first.free)
        sizes = Sizes(first.nx, first.state, first.nu, first.eliminated, n, rows, squares, free)
        self._steps = GaussNewton(sizes, first.order, arrays, penalty=penalty, first_gap=first_gap)
        self._apart = [
            None if free or not problem.con.nc or (in_sequence and k) else compiled_function(problem.apart(inputs))
            for k, problem in enumerate(problems)
        ]
        self._connect(stages, reached)
        x, u, w = (self._steps.arrays[name] for name in "xuw")
        nq, nv = self._tree.nq, self._tree.nv
        self._q, self._v, self._before = x[:, :nq], x[:, nq : nq + nv], x[:, nq + nv :]
        self._u, self._a, self._forces = u, w[:, :nv], w[:, nv:]
        kept = self._layouts[0].remembered
        before = self._first.formulation.before.expression[kept] if kept else ca.MX(0, 1)
        self._start = self._first.of_parameters(ca.vertcat(self._first.start.expression, before))
        self._of_start = set(self._start.name_in())
        self._plain, self._blocks = self._first.start.parameters_of(self._first.parameters), unit_blocks(self._tree)
        if before.is_constant():
            self._steps.arrays["x_0"][nq + nv :] = ca.evalf(before).full().ravel()
        else:
            self._plain.append(self._first.parameters.name_of(self._first.formulation.before.expression))
        self._outcomes = [self._outcome_of(*pair) for pair in zip(problems, stages, strict=False)]
        self._systems = [stage.system for stage in stages]
        self._followed = [problem.followed for problem in problems]
        graphs = [[x for path, limits in paths.values() for x in (path.graph, limits)] for paths in self._followed]
        self._used = [{name for graph in pairs for name in graph.name_in()} & self._given.keys() for pairs in graphs]
        self._conditions = [condition for problem in problems for condition in problem.formulation.inputs.ends]
        self._numbers = {name: array.T for name, array in self._given.items()}
        self._prepared, self._known = False, set[str]()
        self.last: Planned | None = None

    def _connect(self, stages: Sequence[LinearStage], reached: Sequence[int]) -> None:
        """Give the steps their Functions, as machine code."""
        wide, limits, sizes = self._steps.qp.wide, self._steps.qp.limits, self._steps.sizes
        made = []
        for k, stage in enumerate(stages, start=1):
            current().show(f"derivatives, stage {k} of {len(stages)}")
            made.append(stage.stage(wide, limits, sizes.rows, sizes.squares))
        self._steps.connect(
            [compiled_function(graph) for graph, _ in made],
            {name: [patterns[name] for _, patterns in made] for name in made[0][1]},
            [compiled_function(stage.jump()) if k in reached else None for k, stage in enumerate(stages)],
            compiled_function(stages[0].start()),
            compiled_function(stages[0].retract(wide, limits_of_u(self._problems, self._layouts))),
        )
        if any(far is not None for far in self._apart):  # for C
            self._steps.functions["apart"], self._steps.arrays["apart"] = self._apart, np.zeros(1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._tree.name}, {len(self._q) - 1} intervals, {self._iterations} iterations)"

    @contextmanager
    def _whole(self, schedule: Schedule | None = None, *, at_once: bool = False) -> Iterator[Interrupts]:
        """A call that changes all that it changes or, if it raises, nothing; what signal handlers raise waits for its
        end, or for whoever asks. ``at_once``: whether nothing in it raises.
        """
        with Interrupts() as interrupts, interrupts.around_solver(evaluations_end_it=False):
            restore = None if at_once else self._restoring()
            try:
                if schedule is not None:
                    self._prepared = self._prepared and np.array_equal(schedule[0], self._steps.set)
                    self._steps.set[:], self._steps.lands[:] = schedule
                yield interrupts
            except BaseException:
                if restore is not None:
                    restore()
                raise

    def _restoring(self) -> Callable[[], None]:
        """A function that sets the plan, the parameters and the schedule to those of now."""
        steps, problems = self._steps, self._problems
        plan = (steps.arrays[name] for name in "xuw")
        arrays: list[Any] = [*plan, *self._given.values(), *self._padded.values(), steps.set, steps.lands]
        copies = [array.copy() for array in arrays]
        parameters = [(dict(problem.parameters.values), problem.robot.last) for problem in problems]
        weight, raised, known = steps.tick.weight, steps.tick.raised, self._known

        def restore() -> None:
            for array, copy in zip(arrays, copies, strict=True):
                array[...] = copy
            for problem, (values, p) in zip(problems, parameters, strict=True):
                problem.parameters.values.clear()
                problem.parameters.values.update(values)
                problem.robot.set(p)
            steps.tick.weight, steps.tick.raised, self._known, self._prepared = weight, raised, known, False

        return restore

    def _prepare(self, shift: int, p: Any, values: Mapping[str, Any], schedule: Schedule | None = None) -> None:
        if self.last is None:
            raise ArgumentError("prepare: there is no plan yet; call the solver first")
        by = integer("prepare: shift", shift, 0, len(self._q) - 1)
        with self._whole(schedule):
            self._set("prepare", p, values)
            self._prepared = False  # also if the next line raises
            self._prepared = self._steps.prepare(by)

    def _call(
        self, shift: int, guess: Any, p: Any, values: Mapping[str, Any], schedule: Schedule | None = None
    ) -> Planned:
        by = integer("solver: shift", shift, 0, len(self._q) - 1)
        first = self.last is None or guess is not None
        checked = self._blocks or self._ends.moved
        ready = p is None and not checked and all(self._plain) and self._are_ready(values)
        with self._whole(schedule, at_once=ready and not first) as interrupts:
            self._set("solver", p, values)
            of_start = p is None and not by and values.keys() <= self._of_start
            prepared, self._prepared = self._prepared and of_start and not first, False
            for condition in self._conditions:
                condition.check(self._numbers)
            self._measure()
            refusal = self._refusal()
            if refusal and first:
                raise InvalidStartError(refusal)
            if first:
                reason = self._first_steps(guess, interrupts)
            else:
                reason = self._steps.step(self._iterations, None if prepared else by)
            if reason and first:  # there is no plan that could stand for it
                raise unsolved(self._solution(solved=False))
            solved, warning = self._judged(reason, first=first)
            warning = warning or (refusal and f"{refusal}; the plan begins there")
            self.last = plan = self._solution(solved=solved)
        beyond = beyond_soft_limits(plan) if first and solved else ()
        for fault in filter(None, (warning, *beyond)):
            warn(f"{self._tree.name}: {fault}", SolutionWarning)
        return plan

    def _judged(self, reason: str, *, first: bool) -> tuple[bool, str]:
        """Verdict on a step: true if it solves its problem, and what to warn of; ``reason``: why it was not taken."""
        left, size = self._steps.found["infeasibility"], self._steps.found["step"]
        if reason:
            return False, f"the step {reason}; the last plan stands for it"
        if left > _UNMET:
            return False, (
                f"{left:.0%} of violations of the start, of limits and of the dynamics are left after "
                f"{self._steps.iterations} iterations; give more, or a plan nearby"
            )
        if first and size > _SETTLED:
            return True, (
                f"the last of {_FIRST_STEPS + _SEARCHED_STEPS} first steps is {size:.1g} of the plan, which is no "
                "optimum; begin nearer, or at guess=…"
            )
        return True, ""

    def _first_steps(self, guess: Any, interrupts: Interrupts) -> str:
        """Steps from a guess until they are small; why the last one was not taken, or "" if it was."""
        self._begin(guess)
        steps = itertools.count(1)

        def check() -> None:
            if interrupts.error is not None:
                raise interrupts.error
            former = f", the one before {self._steps.found['step']:.1e} of the plan" if (k := next(steps)) > 1 else ""
            line.show(f"step {k}{former}")

        with progress(f"{self._tree.name}: first steps", shown=self.progress) as line:
            return self._steps.settle(_FIRST_ITERATIONS, _FIRST_STEPS, _SEARCHED_STEPS, _SMALL, check)

    @interruptible
    def generate(self, path: str | os.PathLike[str], *, width: int = 1, dtype: str | type = "float64") -> Path:
        """Write a tick as C99, without a library, with its header beside it, for a controller that has no Python.

        The files of ``tick.c`` have ``int tick(int shift)``, which cuts off intervals and takes one step. Before it,
        its caller writes ``tick_x_0``, [q; v] as measured and, if expressions have ``du``, the u before (of the
        actuators that are not fixed), the parameters that more than the ends read, ``tick_target``, and, if the end of
        the motion is fixed, ``tick_x_end``, [q; v] there. Behind it there is the plan, ``tick_x`` (each row as
        ``tick_x_0``) and ``tick_u`` (of the actuators that are not fixed), which begins as the last one of this solver.
        ``tick.h`` has each array with its size, its units and the order of its entries. It returns

        * 0 if the step is taken; 1 or 2 if the last plan, shifted, stands for one that is not finite, or far too long;
        * 3 if it is taken, from a start so far off contacts or loops that Python warns of it;
        * 4 if it is taken, but more than half of the violations are left (``solved=False``);
        * −1 or −2 if nothing is done, since ``shift`` is out of range, or the schedule names no problem or ends in two.

        ``tick_step``, ``tick_gap`` and ``tick_infeasibility`` are what ``plan.stats`` has. Of a
        :class:`ContactSchedule` the caller writes the schedule too, that of the horizon behind the shift:
        ``tick_set[k]``, the number of the problem of interval k, in the order in which they were given (the last entry
        as the one before it). Of phases the shift is 0, rows of ``tick_x`` are the instants of one phase after the
        other, and the end of a phase is in the row of its last instant.

        The head of the file has the lines that compile it, the bytes of its static data, about those of its code, and
        an example of a call, none of which depends on the machine that writes it.

        Args:
            path: of the file, whose stem is a C identifier; it is returned.
            width: numbers in a register. 1: C99 without extensions, for microcontrollers and any compiler. 2, 4, 8 or
                16: vectors of gcc and clang: of double precision 2 for NEON and SSE2, 4 for AVX2, 8 for AVX-512.
            dtype: the type of all numbers, ``"float64"`` or ``"float32"``, as of :func:`gdalembert.compile`.

        Raises:
            ArgumentTypeError, ArgumentError: if there is no plan yet, the path is none, or its stem no such name, the
                width or the type is none of these, or a parameter has the name of an array, or none of C.
            OSError: if it cannot be written; then a file that was there is as before.
        """
        target, real = c_file(path, "tick.c"), dtype_name("generate", dtype)
        if integer("generate: width", width, 1, 16) & (width - 1):
            raise ArgumentError(f"generate: width is {width}; give 1, 2, 4, 8 or 16")
        if self.last is None:
            raise ArgumentError("generate: there is no plan yet; call the solver first")
        stem, read = target.stem, arrays_read(self._steps)
        parameters = {key: name for name, key in self._inputs.items() if key in read}
        of_caller = {"scheduled": bool(self._takes_hold), "ends": self._ends.are_fixed}
        exported = exported_arrays(self._first, self._layouts, parameters, self._padded, **of_caller)
        taken = [array.name for key, array in exported.items() if key not in parameters]
        check_names(stem, parameters.values(), [*taken, *self._steps.found], self._steps.functions)
        about, remarks = f"Real-time iterations of {comment_text(self._tree.name)}", self._remarks_in_c(stem)
        limits = self._most_shift, self._iterations, _UNMET
        near = NEAR if "apart" in self._steps.functions else ""
        rest = exported, self._takes_hold, near, about, remarks, *limits, width, real
        check_stem(stem, lambda other: StepCode(self._steps, other, *rest).texts())
        code, header = StepCode(self._steps, stem, *rest).texts()
        write_whole({target.with_suffix(".h"): header, target: code})
        return target

    def _remarks_in_c(self, stem: str) -> str:
        """Remarks of the head of generated C on the schedule, or on phases; "" if there are none."""
        return ""

    @property
    def _most_shift(self) -> int:
        """The largest number of intervals that a tick may cut off."""
        return len(self._q) - 1

    # Values of parameters and guesses.

    def _stages(self, inputs: Mapping[str, str], damping: float) -> list[LinearStage]:
        """The stages of all problems, and behind them others."""
        return [LinearStage(*pair, inputs, damping) for pair in zip(self._problems, self._layouts, strict=True)]

    def _buffers(self, names: Sequence[str], n: int) -> dict[str, Array]:
        """An array for the numbers of each parameter, with rows for those of every instant."""
        buffers = {}
        for name in names:
            k, problem = next((k, problem) for k, problem in enumerate(self._problems) if name in problem.names)
            size = (len(problem.robot), 1) if name == "p" else problem.parameters.symbols[name].shape
            if size[1] == 1:
                buffers[name] = np.zeros(size[0])
            else:
                self._padded[name] = np.zeros((n + 2, size[0]))
                buffers[name] = self._padded[name][self._span(k)]
        if "p" in buffers:
            buffers["p"][:] = self._first.robot.last
        return buffers

    def _set(self, caller: str, p: Any, values: Mapping[str, Any]) -> None:
        """Take all that is given, or nothing of it."""
        numbers = None if p is None else self._first.robot.checked(caller, p)
        if self._are_ready(values):
            for name, x in values.items():
                self._given[name][...] = x.T
        else:
            pairs = zip(self._problems, self._values_of_problems(values), strict=True)
            taken = [problem.parameters.set(caller, named) for problem, named in pairs]
            for name, x in (item for numbers_by_name in taken for item in numbers_by_name.items()):
                self._given[name][...] = x.T if x.shape[1] > 1 else x[:, 0]
            for problem in self._problems:  # whose values are those given from now on, however they are taken
                for name in problem.parameters.symbols:
                    array = self._given[name]
                    problem.parameters.values[name] = array.T if array.ndim > 1 else array[:, None]
            self._known = set(self._given)
        for buffer in self._padded.values():
            buffer[-1] = buffer[-2]
        self._ends.set(int(self._steps.set[0]), int(self._steps.set[-1]))
        if numbers is not None and "p" in self._given:
            for problem in self._problems:
                problem.robot.set(numbers)
            self._given["p"][:] = numbers

    def _span(self, k: int) -> slice:
        """The instants of a problem: its own, or those of all."""
        return self._spans[min(k, len(self._spans) - 1)]

    def _are_ready(self, values: Mapping[str, Any]) -> bool:
        """True if numbers are as they should be, and need no check."""
        return (
            bool(self._known)
            and values.keys() <= self._known
            and all(
                type(x) is np.ndarray
                and x.dtype == np.float64
                and x.shape == self._given[name].T.shape
                and math.isfinite(x.sum())
                for name, x in values.items()
            )
        )

    def _values_of_problems(self, values: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The values of each problem."""
        return [values]

    def _measure(self) -> None:
        """Take the state where the motion starts."""
        x_0, nq, nv = self._steps.arrays["x_0"], self._tree.nq, self._tree.nv
        if all(self._plain):
            x_0[:nq], x_0[nq : nq + nv] = (self._given[name] for name in self._plain[:2])
            for name in self._plain[2:]:
                x_0[nq + nv :] = self._given[name][self._layouts[0].remembered]
        else:
            values = self._first.parameters.values
            x_0[:] = self._start.call([values[name] for name in self._start.name_in()])[0].full().ravel()
        entries = x_0.tolist()
        if any(abs(math.hypot(*entries[start:stop]) - 1) > UNIT_ERROR for _, start, stop in self._blocks):
            check_unit_lengths("solver: q of start", x_0[:nq], self._tree)

    def _refusal(self) -> str:
        """Why the start is none, or "": it is farther off contacts and loops than what is measured may be."""
        first, x = int(self._steps.set[0]), self._steps.arrays["x_0"][: self._tree.nq + self._tree.nv]
        p = [self._given["p"]] if "p" in self._given else []
        is_far = (apart := self._apart[first]) is not None and apart(x, *p) > 1
        return self._problems[first].refusal(x) if is_far else ""

    def _guesses(self, guess: Any) -> Sequence[Any]:
        """A guess for each problem that has intervals of its own."""
        return [guess]

    def _begin(self, guess: Any) -> None:
        """The plan of a guess; the efforts and forces are those that come nearest to its equations of motion."""
        for problem in self._problems[: len(self._spans)]:
            checks = (each for each in problem.formulation.inputs.ends if not each.symbols)
            for end in (*problem.formulation.ends, *checks):
                end.set(problem.parameters)
        efforts, accelerations = np.zeros((len(self._q), self._first.motion.u.shape[0])), np.zeros_like(self._v)
        spans = zip(self._spans, self._problems, self._layouts, self._guesses(guess), strict=False)
        for span, problem, layout, guess_of_problem in spans:
            motion = problem.motion
            begun = problem.formulation.initial.motion(guess_of_problem)
            q, v, accelerations[span], u = begun.at(np.linspace(0, 1, motion.intervals + 1), motion.range[0])
            self._q[span], self._v[span] = q, v
            efforts[span] = np.clip(u, motion.bounds.u_lower, motion.bounds.u_upper)
            self._u[span] = efforts[span] @ layout.selection.T
            self._a[span][:-1] = np.diff(self._v[span], axis=0) / problem.interval
        self._before[:] = efforts[np.maximum(np.arange(len(efforts)) - 1, 0)][:, self._layouts[0].remembered]
        self._forces[:] = 0.0
        for k, (problem, layout) in enumerate(zip(self._problems, self._layouts, strict=True)):
            at = np.flatnonzero(self._steps.set == k)
            if len(at) and layout.held:
                system, p = problem.motion.system, problem.robot.last
                _, forces = system.efforts(self._q[at], self._v[at], accelerations[at], p, efforts[at])
                self._forces[at[:, None], layout.held] = forces

    # Plans.

    @abstractmethod
    def _solution(self, *, solved: bool) -> Planned:
        """The plan as it is now."""

    def _outcome(self, *, solved: bool) -> dict[str, Any]:
        stats = {name: finite(x) for name, x in self._steps.found.items()}
        unsolved = _CAPPED if _UNMET < stats["infeasibility"] < 1 else _FAILED
        return {
            "status": STATUS if solved else unsolved,
            "iterations": self._steps.iterations,
            "stats": stats,
            "solved": solved,
        }

    def _outcome_of(self, problem: RealTimeProblem, stage: LinearStage) -> StageOutcome:
        graph = compiled_function(stage.outcome())
        of_state = [k for k, path in enumerate(problem.formulation.limited) if not path.is_of_interval]
        return StageOutcome(stage.names, graph, [self._steps.arrays[name] for name in graph.inputs], of_state)

    def _part(self, k: int, first: int, end: int, *, solved: bool) -> RealTimeSolution:
        """The plan of a problem from one instant to another; where it ends with a jump, the state before it."""
        problem, layout, (instants, middles) = self._problems[k], self._layouts[k], self._times[k]
        motion, nq, h, last = problem.motion, self._tree.nq, problem.interval, end + 1 in self._ending
        x, w = (self._steps.arrays[name][first : end + 1].copy() for name in "xw")
        x, t, p = x[:, : nq + self._tree.nv], instants[: end - first + 1], problem.robot.last
        lands = int(not last and self._steps.lands[end - 1] >= 0)
        if lands:  # v⁻, which has no bounds
            x[-1, nq:] = x[-2, nq:] + h * w[-2, : self._tree.nv]
        u = layout.fixed + self._u[first:end] @ layout.selection
        for array in (x, u):
            array.setflags(write=False)  # deferred results read them
        outcome, begin = self._outcomes[k], self._span(k).start
        inputs, values = outcome.inputs(first, end), {name: np.array(self._given[name].T) for name in self._used[k]}
        measured = not first and not self._steps.sizes.free

        def deferred() -> dict[str, Any]:
            v, a = x[:-1, nq:], w[:-1, : self._tree.nv]
            forces = w[:-1, self._tree.nv :][:, layout.held] if layout.held else np.zeros((end - first, 0))
            q, exceeded = outcome.values(inputs, measured=measured)
            paths = paths_at(self._followed[k], values, slice(first - begin, end + 1 - begin))
            stages = StageValues(middles[: end - first], q, v + h / 2 * a, a, u, forces)
            bounds = [[getattr(motion.bounds, f"{name}_{side}") for name in "qv"] for side in ("lower", "upper")]
            lower, upper = map(np.concatenate, bounds)
            beyond = np.maximum(lower - x, x - upper)[int(measured) : len(x) - lands].max(axis=0, initial=0.0).tolist()
            bounded = {"bounds of q at the grid": max(beyond[:nq]), "bounds of v at the grid": max(beyond[nq:])}
            violations = bounded | exceeded
            return {
                "stages": stages,
                "constraint_violation": max(violations.values()),
                "length_violation": float(np.abs(lengths(x, self._blocks) - 1).max()) if self._blocks else 0.0,
                "violations": violations,
                "accuracy": Accuracy(self._systems[k], motion.bounds, "constant", t, x, u, p, paths),
            }

        at_once = self._outcome(solved=solved) | {
            "dyn": motion.dyn,
            "bounds": motion.bounds,
            "control": "constant",
            "cost": finite(float(self._steps.arrays["cost"][first : end + int(last)].sum())),
            "t": t,
            "q": x[:, :nq],
            "v": x[:, nq:],
            "u": u,
            "p": p,
            "corrections": {},
        }
        return RealTimeSolution.of(at_once, deferred)


class RealTimeSolver(RealTimeSteps[Solution]):
    """A problem's solver of one step a tick: made by ``problem.solver("rti")``.

    ``solver(q0=…, target=…, shift=1)`` takes one Gauss–Newton step from the last plan, from which the first ``shift``
    intervals are cut; the first call takes as many as it needs. ``prepare`` does beforehand all that does not depend on
    the start. Limits of u are hard; those of q, v, paths and friction are soft.

    Attributes:
        last: the last plan; ``None`` before the first one.
    """

    def __init__(self, problem: RealTimeProblem, options: Mapping[str, Any]) -> None:
        super().__init__([problem], options, [])

    def cold(self) -> Solution:
        """Take steps from the guess of the problem until they are small, at the values that it has now."""
        problem = self._first
        p = problem.robot.last if "p" in self._given else None
        return self._call(0, problem.formulation.initial.motion(None), p, dict(problem.parameters.values))

    def prepare(self, *, shift: int = 1, p: Any = None, **values: Any) -> None:
        """Shift the last plan and linearise there: what a tick can do before it knows where it starts.

        Args:
            shift: number of intervals by which the last plan is shifted.
            p, values: as of a call; those of the start may be given there.

        Raises:
            ArgumentError: if there is no plan yet.
        """
        self._prepare(shift, p, values)

    def __call__(self, *, shift: int = 0, guess: Any = None, p: Any = None, **values: Any) -> Solution:
        """Take one step at these parameters; after :meth:`prepare`, from there, if those given are the start's alone.

        Args:
            shift, p, values: as of :meth:`~gdalembert.ocp.Solver.__call__`.
            guess: where to begin instead of the last plan, as in :meth:`Problem.guess`.

        Returns:
            The plan, with the status ``"Real_Time_Iteration"`` and the cost before the step; ``stats`` has the size of
            the step, and what the interior point left of its gap and of violations (0 to 1). If more than a half of
            these is left, it is ``solved=False``; if the step is not finite, or a million times as large as the plan,
            the last plan, shifted, stands for it. The largest number stands for a cost beyond it, as of a target at
            1e200.

        Raises:
            UnknownNameError, ArgumentTypeError, ArgumentError: if a value cannot be used, or is missing.
            OptimizationError: if the first step is such a one.
            KeyboardInterrupt: by Ctrl-C, as any other exception of a signal handler, after a whole tick or none. What
                raises before leaves the last plan and its parameters as they were.

        Warns:
            SolutionWarning: if it is not solved, the first steps do not become small or lead beyond soft limits, as
                :meth:`Problem.solve`, or a tick begins far off contacts or loops, of which the first one is refused.
        """
        return self._call(shift, guess, p, values)

    def _solution(self, *, solved: bool) -> Solution:
        return self._part(0, 0, len(self._q) - 1, solved=solved)
