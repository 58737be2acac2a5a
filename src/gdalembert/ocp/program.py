"""An optimal control problem as one program: parts, each a motion, and what joins them."""

from __future__ import annotations

import contextlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError, SolutionWarning, UnknownNameError, UnsupportedError
from gdalembert.model.configuration import lengths, projected, unit_blocks
from gdalembert.nlp.backends import Backend, checked_options, same_options
from gdalembert.nlp.joined_program import side_by_side
from gdalembert.nlp.program import EXCEPTIONS
from gdalembert.nlp.solver import Solver
from gdalembert.nlp.stage_program import StageProgram
from gdalembert.nlp.stage_terms import Segment, Variables
from gdalembert.ocp import solution as solutions
from gdalembert.ocp.formulation import Formulation, RowOfStages
from gdalembert.ocp.solution import Accuracy, FollowedPath, JoinedSolution, Solution, unsolved
from gdalembert.ocp.solvers.registry import Cold, solver_of, watched
from gdalembert.ocp.stage import Stages
from gdalembert.ocp.system.constraints import CLOSED, OF_INTERVAL
from gdalembert.ocp.system.parameters import matrices_of
from gdalembert.spatial.arguments import flag, integer, vector
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.interrupts import interruptible

Planned = TypeVar("Planned", bound=Solution | JoinedSolution)
Ended = tuple[str, Mapping[str, Any], bool]
"""How a solver ended: its status, its statistics, and whether it found a solution."""

_KINKS = {"ipopt.mu_strategy": "adaptive"}
"""Of problems with gaps, whose slopes jump where closest points do: a monotone barrier stops there, as that of a Panda
whose hand is parallel to a shelf, after 800 iterations; an adaptive one finds the plan in 100."""


class Part:
    """A motion as it is formulated now: its nonlinear program, the numbers that it takes, and its solutions.

    Its variables x are all of the motion, without scales, and the parameters p those of its inputs. ``begin`` gives x
    where a solve begins, of a guess. ``remembers`` tells whether u before each instant is a state.
    """

    def __init__(self, formulation: Formulation, cost: ca.MX) -> None:
        self.motion, self.inputs, self.begin = formulation.motion, formulation.inputs, formulation.initial.variables
        self._ends, self.remembers = formulation.ends, formulation.remembers
        motion, inputs = self.motion, self.inputs
        self.symbols = [*motion.variables, *inputs.symbols]
        self.row_of_stages = RowOfStages(formulation)
        known = dict(inputs.named) | {"p": motion.parameters.p}
        self.keeps_clear = any(limited.gaps is not None for limited in formulation.limited)
        self._paths = {
            each.name: FollowedPath.of(each, known)
            for each in formulation.limited
            if not OF_INTERVAL & set(each.graph.name_in()) and each.is_of_motion
        }
        outputs = {"x": motion.x, "t": motion.t, "u": motion.u, "p": motion.parameters.p, "cost": cost}
        outputs |= {f"stages_{name}": value for name, value in motion.stages._asdict().items()}
        for name, path in self._paths.items():
            outputs[f"{name} lower"], outputs[f"{name} upper"] = ca.MX(path.lower), ca.MX(path.upper)
            outputs |= {f"{name} {key}": value for key, value in path.constants.items()}
        if motion.system.projections:
            outputs["closed"] = motion.system.constraint_rows(motion.x, *motion.columns_of_p(motion.intervals + 1))
        self._keys = list(outputs)
        self._graph = ca.Function("solution", self.symbols, list(outputs.values()))

    def matrices(self, x: Any, numbers: Any) -> list[Any]:
        """The values of ``symbols``, numbers or expressions."""
        x, p = (column if isinstance(column, ca.MX) else ca.DM(column) for column in (x, numbers))
        return [*matrices_of(x, self.motion.variables), *self.inputs.split(p)]

    def rows(self, x: ca.MX, numbers: ca.MX) -> dict[str, ca.MX]:
        """q, v, u and t, a column for each instant."""
        motion, nq = self.motion, self.motion.dyn.tree.nq
        graph = ca.Function("rows", self.symbols, [motion.x, motion.u, motion.t], {"always_inline": True})
        x, u, t = graph(*self.matrices(x, numbers))
        return {"q": x[:nq, :], "v": x[nq:, :], "u": u, "t": t}

    def values(self, x: Array, numbers: Array) -> dict[str, Array]:
        """Quantities of solutions, at all instants and stages, in columns; and the cost."""
        values = self._graph.call(self.matrices(x, numbers))
        return dict(zip(self._keys, (each.full() for each in values), strict=True))

    def stretch(
        self,
        found: Mapping[str, Array],
        intervals: range,
        cost: float,
        violations: Mapping[str, float],
        status: str,
        stats: Mapping[str, Any],
        solved: bool,
    ) -> Solution:
        """The motion over intervals behind each other, from time 0, of :meth:`values`."""
        motion, (first, end), s = self.motion, (intervals.start, intervals.stop), len(self.motion.rule.c)
        instants, points = slice(first, end + 1), slice(first * s, end * s)
        states, t = found["x"].T[instants], found["t"].ravel()[instants]
        p = motion.parameters.rounded(found["p"].ravel())
        u = found["u"].T[first : end + (motion.control == "linear")]
        q, blocks = states[:, : motion.dyn.tree.nq], unit_blocks(motion.dyn.tree)
        stages = Stages(*(found[f"stages_{name}"].T[points] for name in Stages._fields))
        named, largest = dict(violations), max(violations.values(), default=0.0)
        if "closed" in found:
            named = {name: x for name, x in named.items() if not name.startswith(CLOSED)}
            named[CLOSED] = float(np.abs(found["closed"][:, instants]).max(initial=0.0))
        paths = {name: self._followed(name, path, found, instants, t[0]) for name, path in self._paths.items()}
        return Solution(
            dyn=motion.dyn,
            bounds=motion.bounds,
            control=motion.control,
            status=status,
            iterations=0 if status in ("Invalid_Problem_Definition", *EXCEPTIONS) else int(stats.get("iter_count", 0)),
            cost=cost,
            t=t - t[0],
            q=projected(q, blocks),
            v=states[:, q.shape[1] :],
            u=u,
            p=p,
            stages=stages._replace(t=stages.t - t[0]),
            constraint_violation=max(largest, named.get(CLOSED, 0.0)),
            length_violation=float(np.abs(lengths(q, blocks) - 1).max(initial=0)),
            violations=named,
            stats=dict(stats),
            accuracy=Accuracy(motion.system, motion.bounds, motion.control, t - t[0], states, u, p, paths),
            solved=solved,
            corrections={name: by for end in self._ends for name, by in end.corrections.items()},
        )

    def _followed(
        self, name: str, path: FollowedPath, found: Mapping[str, Array], instants: slice, begin: float
    ) -> FollowedPath:
        """A path at these instants, whose times begin at 0."""
        graph = path.graph
        if begin and "t" in graph.name_in():
            inputs = {key: ca.MX.sym(key, *graph.size_in(key)) for key in graph.name_in()}
            later = inputs | {"t": inputs["t"] + begin}
            graph = ca.Function("path", list(inputs.values()), graph.call(list(later.values())), list(inputs), ["path"])
        constants = {key: found[f"{name} {key}"] for key in path.constants}
        constants = {key: x[:, instants] if x.shape[1] > 1 else x for key, x in constants.items()}
        return FollowedPath(graph, found[f"{name} lower"].ravel(), found[f"{name} upper"].ravel(), constants, path.gaps)


@dataclass(frozen=True, eq=False, repr=False)
class FormulatedProgram(Brief, Generic[Planned]):
    """A problem as the nonlinear program min f(x, p), lbg ≤ g(x, p) ≤ ubg, lbx ≤ x ≤ ubx.

    Attributes:
        problem: x, p, f and g, for ``casadi.nlpsol``. Its x are the variables over their magnitudes.
        arguments: x0, p, lbx, ubx, lbg and ubg: numbers, at the values of parameters and the guess.
        names: what each row of g stands for.
    """

    problem: dict[str, ca.MX]
    arguments: dict[str, ca.DM]
    names: list[str]
    _program: Program[Planned]

    def solution(self, x: Any, stats: Mapping[str, Any] | None = None) -> Planned:
        """The motion that x stands for (as long as x0), with ``stats`` of the solver that found it.

        Raises:
            ArgumentTypeError, ArgumentError: if x cannot be used.
        """
        known = {} if stats is None else dict(stats)
        z, p = vector("solution: x", x, self.problem["x"].numel()), self.arguments["p"].full().ravel()
        status = str(known.get("return_status", "unknown"))
        return self._program.solution(z, p, status, known, bool(known.get("success", True)))


@interruptible
class OptimalControlProblem(ABC, Generic[Planned]):
    """Formulation as one program: a problem, or several that are joined."""

    _built: tuple[Any, Mapping[str, Any], Any] | None = None
    _kind = "problem"
    _unshiftable = ""
    """Why a solution cannot be shifted; empty if it can."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        interruptible(cls)

    def solver(self, solver: str = "ipopt", options: Mapping[str, Any] | None = None, *, progress: bool = False) -> Any:
        """Build a solver once, which is called with the parameters of each solve: for receding horizons.

        It solves the problem, or problems, as they are now: what is added later needs another one. A parameter that
        several problems have by one name is one parameter.

        Args:
            solver, options, progress: as in :meth:`solve`; the progress is that of the build and of all calls.

        Raises:
            ArgumentError: if nothing is to be minimised, CasADi refuses the options, or parameters of one name have
                different shapes.
            ArgumentTypeError: if a registered name makes what cannot be called.
            UnsupportedError: if the solver needs constraints and costs of one interval each, as ``"fatrop"``, and one
                connects two, or scenarios share u, or contacts or loops hold an arm whose fast modes follow their
                loads; or if it takes no ``"max_wall_time"``.
        """
        self._check_costs()
        return solver_of(self, self._robot_name, solver, options, progress=progress)

    def nonlinear_solver(
        self, solver: str, options: Mapping[str, Any] | None = None, kind: type[Solver[Planned]] = Solver
    ) -> Solver[Planned]:
        """A solver of the nonlinear program: what :func:`~gdalembert.ocp.solver` registers may return one.

        Args:
            solver, options: its name, for messages too, and its options, as in :meth:`solve`.
            kind: by default that of CasADi's solvers; or a subclass, whose ``form`` says what it wants of the program,
                as stages, and whose ``_made`` returns what is called as a ``casadi.nlpsol``.

        Raises:
            ArgumentTypeError, ArgumentError, UnsupportedError: as :meth:`solver`.
        """
        chosen = kind.form(solver)
        program = Program(self, chosen)
        if chosen.stagewise and any(part.motion.system.moves_ends for part in program.parts):
            raise UnsupportedError(
                f"{solver}: {program.name}: contacts or loops hold where fast modes follow their loads, which connects "
                "intervals; take 'ipopt', or give Problem quasi_static=None"
            )
        chosen_options = checked_options("solver", options)
        if solver == "ipopt" and any(part.keeps_clear for part in program.parts):
            chosen_options = _KINKS | chosen_options
        return kind(program, solver, chosen_options)

    def real_time_solver(self, options: Mapping[str, Any] | None = None) -> Any:
        """A solver of one Gauss–Newton step a tick, with the options of ``"rti"``.

        Raises:
            ArgumentTypeError, ArgumentError, UnsupportedError: as :meth:`solver`.
        """
        raise UnsupportedError(f"rti: {self._kind}s: real-time iterations are of one problem; take 'ipopt'")

    def solve(
        self,
        solver: str = "ipopt",
        options: Mapping[str, Any] | None = None,
        *,
        p: Any = None,
        progress: bool = False,
        **values: npt.ArrayLike,
    ) -> Planned:
        """Solve the problem, or all problems at once.

        A phase without a guess begins between the configurations that are fixed or guessed next to it.

        Args:
            solver: name of a CasADi NLP solver: ``"ipopt"``, ``"fatrop"``, ``"sqpmethod"`` …
            options: of the ``casadi.nlpsol``, as ``{"ipopt.max_iter": 200}``, which override ours; and of these three
                solvers ``"max_wall_time"``, at which a solve ends without a solution [s].
            p: the parameters of the robot, all values or some by name, of scenarios a list, one for each; those that
                are missing keep their last values, at first those of the problem. What is optimised starts at these
                values. A solve of a problem that differs from the last one in p, parameters, ends and the guess alone
                builds nothing.
            progress: show on stderr what is built, and the iterations, cost and largest violation of a scaled
                constraint. ``"ipopt"``, ``"fatrop"`` and ``"sqpmethod"`` tell of their iterations, ``"rti"`` of its
                first steps; of other solvers, as ``"acados"``, the end alone is shown.
            values: the parameters of the problem by name; those that are missing keep their last values.

        Returns:
            The solution; also one that the solver calls acceptable only: see ``status``.

        Raises:
            ArgumentError: if nothing is to be minimised, there is no guess, CasADi refuses the options, no robot has
                the parameters p, or a value is missing.
            ArgumentTypeError, UnknownNameError: if p or a value cannot be used.
            UnsupportedError: as :meth:`solver`.
            OptimizationError: if the solver stops without a solution; it has the last iterate.

        Warns:
            SolutionWarning: if the steps are too coarse for the motion, see :attr:`Solution.step_error`; if no robot
                has the optimum of p; or if a plan of ``"rti"`` violates limits or ends, which are soft there, by more
                than 1e-3.
        """
        wanted = checked_options("solve", options)
        flag("solve: progress", progress)
        self._set(p, values)
        previous: tuple[Any, Mapping[str, Any], Any] = self._built or (None, {}, None)
        key, known, built = previous
        if key != (solver, self._contents(ends=not isinstance(built, Solver))) or not same_options(known, wanted):
            built = self.solver(solver, wanted, progress=progress)
            self._built = (solver, self._contents(ends=not isinstance(built, Solver))), wanted, built
        built = watched(built, progress=progress)
        if not isinstance(built, Cold):
            planned: Planned = built(**values) if p is None else built(p=p, **values)
            return planned
        solution: Planned = built.cold()
        if not solution.solved:
            raise unsolved(solution)
        for warning in solutions.warnings_about(solution):
            warnings.warn(f"{solution.dyn.tree.name}: {warning}", SolutionWarning, stacklevel=3)
        return solution

    def nlp(self, *, p: Any = None, **values: npt.ArrayLike) -> FormulatedProgram[Planned]:
        """The nonlinear program, for a ``casadi.nlpsol`` of your own.

            nlp = problem.nlp()
            solver = casadi.nlpsol("solver", "ipopt", nlp.problem)
            solution = nlp.solution(solver(**nlp.arguments)["x"], solver.stats())

        Args:
            p, values: parameters of the robot and of the problem, as in :meth:`solve`.

        Raises:
            ArgumentTypeError, ArgumentError, UnknownNameError: as :meth:`solve`.
        """
        self._check_costs()
        self._set(p, values)
        program = Program(self, Backend())
        numbers, nlp = program.current(), program.nlp
        arguments = {"x0": ca.DM(program.begin(None)), "p": ca.DM(numbers)} | nlp.limits(p=numbers)
        return FormulatedProgram(dict(nlp.problem), arguments, [str(label) for label in nlp.labels()[0]], program)

    def value(self, expression: ca.MX) -> Array:
        """An expression of variables and parameters, such as an integral, where :meth:`solve` ended.

        Raises:
            ArgumentTypeError, ArgumentError: if it is none, or nothing was solved.
        """
        if self._built is None:
            raise ArgumentError("value: nothing was solved; call solve first")
        (name, _), _, built = self._built
        if not isinstance(built, Solver):
            raise ArgumentError(f"value: the last solve was by {name!r}, which has other variables; solve by 'ipopt'")
        return built.value(expression)

    # What a program is made of.

    @property
    @abstractmethod
    def _robot_name(self) -> str:
        """The name of the robot, for messages."""

    @abstractmethod
    def _check_costs(self) -> None:
        """Refuse problems that have nothing to minimise."""

    @abstractmethod
    def _set(self, p: Any, values: Mapping[str, Any]) -> None:
        """Take the values of a solve."""

    def _contents(self, *, ends: bool) -> object:
        """Key that tells if a solver that was built is still that of the problem; by default none is.

        ``ends``: whether it is of the numbers that fix ends, too, which others than a :class:`Solver` may have read.
        """
        return object()

    @abstractmethod
    def _parts(self, *, stagewise: bool) -> list[Part]:
        """The motions, as they are formulated now."""

    def _joined(self, parts: Sequence[Part], p: ca.MX, form: Backend) -> StageProgram:
        """The program of all parts, whose parameters are p, in the form that a solver wants."""
        variables, segments = self._segments(parts, form, [0])
        motion, states = parts[0].motion, parts[0].row_of_stages.states
        n, as_rows = motion.intervals, form.equations_as_rows
        return StageProgram(
            segments,
            variables,
            [],
            p,
            intervals=n,
            states=[states] * (n + 1),
            overlap=motion.overlap,
            equations_as_rows=as_rows,
        )

    def _segments(self, parts: Sequence[Part], form: Backend, firsts: Sequence[int]) -> tuple[Variables, list[Segment]]:
        """The variables and terms of all parts, whose intervals begin there."""
        rows = [part.row_of_stages.uncompiled() if form.compiles else part.row_of_stages for part in parts]
        made = [row.parts(stagewise=form.stagewise, fixing=form.fixes) for row in rows]
        numbers, labels = [part.inputs.p.numel() for part in parts], [self._label(k + 1) for k in range(len(parts))]
        return side_by_side(made, numbers, labels, firsts[: len(parts)])

    def _begun(self, program: Program[Planned], z: Array) -> Array:
        """Scaled variables in a guess, with those that are of no part."""
        return z

    def _connected(self) -> contextlib.AbstractContextManager[None]:
        """While each part asks of its start what does not hold already."""
        return contextlib.nullcontext()

    def _each_p(self, p: Any) -> Sequence[Values]:
        """The parameters of the robot for each part."""
        return [p]

    def _each_guess(self, guess: Any) -> Sequence[Any]:
        """The guess of each part."""
        return [guess]

    def _rows(self, parts: list[dict[str, ca.MX]]) -> dict[str, ca.MX]:
        """q, v, u and t of all parts, of those of each."""
        return parts[0] | {key: ca.vertcat(*(each[key] for each in parts)) for key in ("q", "v")}

    def _label(self, k: int) -> str:
        """Beginning of the labels of a part, of which there are several."""
        return ""

    def _solutions(
        self, parts: Sequence[tuple[Part, Any, Any]], nlp: Any, z: Array, numbers: Array, ended: Ended
    ) -> tuple[Solution, ...]:
        """The motions of a solution, of each part with its variables and parameters."""
        found, violations = [], nlp.violations(z, numbers)
        for k, (part, x, p) in enumerate(parts, start=1):
            values, label = part.values(x, p), self._label(k)
            missed = {name.removeprefix(label): by for name, by in violations.items() if name.startswith(label)}
            cost, whole = float(values["cost"][0, 0]), range(part.motion.intervals)
            found.append(part.stretch(values, whole, cost, missed, *ended))
        return tuple(found)

    @abstractmethod
    def _solution(self, parts: tuple[Solution, ...], nlp: Any, z: Array, numbers: Array) -> Planned:
        """The solution, of its motions."""


class Program(Generic[Planned]):
    """The program of a problem, or of several that are joined: a :class:`gdalembert.nlp.program.Solvable`."""

    def __init__(self, of: OptimalControlProblem[Planned], form: Backend) -> None:
        self._of, kind = of, of._kind
        self.parts = of._parts(stagewise=form.stagewise)
        self.named: dict[str, ca.MX] = {}
        for k, part in enumerate(self.parts, start=1):
            for name, symbol in part.inputs.named.items():
                shape = self.named.setdefault(name, symbol).shape
                if symbol.shape != shape:
                    raise ArgumentError(
                        f"{kind}s: the parameter {name!r} has shape {symbol.shape} in {kind} {k}, {shape} before; of "
                        "one name it is one parameter: give one size, or another name"
                    )
        ends = np.cumsum([0, *(part.inputs.p.numel() for part in self.parts)]).tolist()
        p = self.parts[0].inputs.p if len(self.parts) == 1 else ca.MX.sym("p", ends[-1])
        for part, (begin, end) in zip(self.parts, pairwise(ends), strict=True):
            part.inputs.p = p[begin:end] if len(self.parts) > 1 else p
        self.nlp = of._joined(self.parts, p, form)

    @property
    def name(self) -> str:
        return self.parts[0].motion.dyn.tree.name

    @property
    def symbols(self) -> list[ca.MX]:
        return [symbol for part in self.parts for symbol in part.symbols]

    def numbers(self, where: str, p: Any, values: Mapping[str, Any]) -> Array:
        own = own_values(values, [part.inputs.named for part in self.parts])
        with self._of._connected():
            given = zip(self.parts, self._of._each_p(p), own, strict=True)
            return np.concatenate([part.inputs(where, each, named) for part, each, named in given])

    def restoring(self) -> Callable[[], None]:
        """Function that sets the parameters to those of now."""
        parts = [part.inputs.restoring() for part in self.parts]

        def restore() -> None:
            for each in parts:
                each()

        return restore

    def current(self) -> Array:
        with self._of._connected():
            return np.concatenate([part.inputs.current() for part in self.parts])

    def expression(self) -> ca.MX:
        found = []
        with self._of._connected():
            for inputs in (part.inputs for part in self.parts):
                graph = ca.Function("p", list(inputs.named.values()), [inputs.expression()])
                found += graph.call([self.named[name] for name in inputs.named], True, False)
        return ca.vertcat(*found)

    def begin(self, guess: Any) -> Array:
        guesses = zip(self.parts, self._of._each_guess(guess), strict=True)
        return self._of._begun(self, self.nlp.merged([part.begin(own) for part, own in guesses]))

    def checked_shift(self, shift: int) -> int:
        by = integer("solver: shift", shift, 0, self.parts[0].motion.intervals)
        if by and self._of._unshiftable:
            raise ArgumentError(f"solver: shift: got {by}; {self._of._unshiftable}; leave it out")
        return by

    def split(self, z: Any, numbers: Any) -> Iterator[tuple[Part, Any, Any]]:
        """Each part with its variables and its parameters."""
        return zip(self.parts, self.nlp.split(z), self.nlp.split_numbers(numbers), strict=True)

    def unscaled(self, z: Any, numbers: Any) -> list[Any]:
        return [values for part, x, p in self.split(z, numbers) for values in part.matrices(x, p)]

    def rows(self, z: ca.MX, numbers: ca.MX) -> dict[str, ca.MX]:
        return self._of._rows([part.rows(x, p) for part, x, p in self.split(z, numbers)])

    def solution(self, z: Array, numbers: Array, status: str, stats: Mapping[str, Any], solved: bool) -> Planned:
        found = self._of._solutions([*self.split(z, numbers)], self.nlp, z, numbers, (status, stats, solved))
        return self._of._solution(found, self.nlp, z, numbers)

    def tightened(self, solution: Planned) -> Array | None:
        motions = [motion for _, motion in solutions.by_part(solution)]
        if len(motions) != len(self.parts):  # phases of a schedule, of which each part may have several: they are told
            return None
        asked = [part.inputs.tighten(motion.accuracy) for part, motion in zip(self.parts, motions, strict=True)]
        return self.current() if any(asked) else None

    def remedies(self, solution: Planned) -> Iterator[str]:
        for name, each in solutions.by_part(solution):
            yield from (name + remedy for remedy in solutions.too_fast(each.accuracy.system, each))

    def warnings(self, solution: Planned, *, again: bool) -> Iterator[str]:
        return solutions.inconsistencies(solution) if again else solutions.warnings_about(solution)

    def error(self, solution: Planned) -> Exception:
        return unsolved(solution)


def own_values(values: Mapping[str, Any], known: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The values for each part, of those that it knows; a single one is to refuse what it does not."""
    if len(known) == 1:
        return [values]
    names = {name for each in known for name in each}
    for name in values:
        if name not in names:
            raise UnknownNameError("parameter of the problems", name, sorted(names))
    return [{name: value for name, value in values.items() if name in each} for each in known]
