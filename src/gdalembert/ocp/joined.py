"""Several problems that are solved as one: what phases and scenarios have in common."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.ocp.backends import checked_options
from gdalembert.ocp.dependence import Label
from gdalembert.ocp.joined_solution import JoinedSolution
from gdalembert.ocp.places import Indices, Places
from gdalembert.ocp.problem import Problem
from gdalembert.ocp.programs import ProblemProgram
from gdalembert.ocp.solution import OptimizationError, Solution, SolutionWarning, contradictions, doubts
from gdalembert.ocp.solver import Solver
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import interruptible

Joint = TypeVar("Joint", bound=JoinedSolution)


@dataclass(frozen=True)
class JoinedNLP:
    """The nonlinear programs of several problems as one: a :class:`~gdalembert.ocp.backends.NonlinearProgram`."""

    kind: str
    problem: dict[str, ca.MX]
    limits: ca.Function
    equal: Indices
    variables: Places
    constraints: Places

    @property
    def size(self) -> int:
        """Number of variables z."""
        return int(self.problem["x"].numel())

    def structure(self) -> dict[str, int | list[int]]:
        """Refuse it: there is none.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(f"{self.kind}s are not one sequence of intervals; take another solver, as 'ipopt'")


class JoinedProgram(ABC, Generic[Joint]):
    """The program of several problems; of the same name is the same parameter.

    Args:
        kind: what each problem is.
        problems: assembled as they are now.

    Raises:
        ArgumentError: if parameters of one name have different shapes.
    """

    nlp: JoinedNLP

    def __init__(self, kind: str, problems: Sequence[Problem]) -> None:
        self.kind = kind
        self.parts = [ProblemProgram(problem._assembled(), stagewise=False) for problem in problems]
        self.named: dict[str, ca.MX] = {}
        for k, part in enumerate(self.parts, start=1):
            for name, symbol in part.named.items():
                shape = self.named.setdefault(name, symbol).shape
                if symbol.shape != shape:
                    raise ArgumentError(
                        f"{kind}s: the parameter {name!r} has shape {symbol.shape} in {kind} {k}, {shape} before; of "
                        "one name it is one parameter: give one size, or another name"
                    )

    @property
    def name(self) -> str:
        return self.parts[0].name

    @property
    def symbols(self) -> list[ca.MX]:
        return [symbol for part in self.parts for symbol in part.symbols]

    @abstractmethod
    def each_p(self, p: Any) -> Sequence[Values]:
        """The parameters of the robot for each problem."""

    def numbers(self, where: str, p: Any, values: Mapping[str, Any]) -> Array:
        """As of :class:`~gdalembert.ocp.programs.Program`."""
        own = own_values(values, [part.named for part in self.parts])
        given = zip(self.parts, self.each_p(p), own, strict=True)
        return np.concatenate([part.numbers(where, each, named) for part, each, named in given])

    def current(self) -> Array:
        """As of :class:`~gdalembert.ocp.programs.Program`."""
        return np.concatenate([part.current() for part in self.parts])

    def expression(self) -> ca.MX:
        """As of :class:`~gdalembert.ocp.programs.Program`."""
        graphs = [ca.Function("p", list(part.named.values()), [part.expression()]) for part in self.parts]
        known = [[self.named[name] for name in part.named] for part in self.parts]
        return ca.vertcat(*(graph.call(each, True, False)[0] for graph, each in zip(graphs, known, strict=True)))

    def scaled_guesses(self, guess: Any) -> list[Array]:
        """The scaled variables of each program in a guess: none, such a solution, or one guess for each."""
        guesses = [None] * len(self.parts) if guess is None else guess
        guesses = guesses.parts if isinstance(guesses, JoinedSolution) else guesses
        if not isinstance(guesses, Sequence) or len(guesses) != len(self.parts):
            raise ArgumentTypeError(
                f"solver: guess: got {type(guess).__name__}; give a solution of these {self.kind}s, or a list of "
                f"{len(self.parts)} guesses"
            )
        return [part.begin(each) for part, each in zip(self.parts, guesses, strict=True)]

    @abstractmethod
    def scaled(self, z: Any) -> list[Any]:
        """The scaled variables of each program."""

    def unscaled(self, z: Any, numbers: Any) -> list[Any]:
        """As of :class:`~gdalembert.ocp.programs.Program`."""
        pairs = zip(self.parts, self.scaled(z), self.split_numbers(numbers), strict=True)
        return [x for part, own, p in pairs for x in part.unscaled(own, p)]

    def part_labels(self) -> list[tuple[list[Label], dict[int, Label]]]:
        """What the rows and fixed variables of each program stand for."""
        found = []
        for k, part in enumerate(self.parts, start=1):
            rows, fixed = part.labels()
            name = f"{self.kind} {k}"
            found.append(([x.within(name) for x in rows], {i: x.within(name) for i, x in fixed.items()}))
        return found

    def remedies(self, solution: Joint) -> Iterator[str]:
        """As of :class:`~gdalembert.ocp.programs.Program`."""
        for part, (label, each) in zip(self.parts, solution.labelled(), strict=True):
            yield from (f"{label}: {remedy}" for remedy in part.remedies(each))

    @abstractmethod
    def labels(self) -> tuple[list[Label], dict[int, Label]]:
        """As of :class:`~gdalembert.ocp.programs.Program`."""

    def split_numbers(self, numbers: Any) -> list[Any]:
        """The parameters of each program."""
        return split(numbers, [part.nlp.problem["p"].numel() for part in self.parts])

    def part_rows(self, z: ca.MX, numbers: ca.MX) -> list[dict[str, ca.MX]]:
        """q, v, u and t of each problem."""
        pairs = zip(self.parts, self.scaled(z), self.split_numbers(numbers), strict=True)
        return [part.rows(own, p) for part, own, p in pairs]

    def part_solutions(self, z: Array, numbers: Array, *outcome: Any) -> tuple[Solution, ...]:
        """The solution of each problem."""
        pairs = zip(self.parts, self.scaled(z), self.split_numbers(numbers), strict=True)
        return tuple(part.solution(own, p, *outcome) for part, own, p in pairs)

    def cost(self, z: Array, numbers: Array) -> float:
        """That of all problems."""
        graph = ca.Function("cost", [self.nlp.problem["x"], self.nlp.problem["p"]], [self.nlp.problem["f"]])
        return float(graph(z, numbers))

    def doubts(self, solution: Joint) -> Iterator[str]:
        """As of :class:`~gdalembert.ocp.programs.Program`."""
        yield from solution.hints
        yield from (f"{label}: {doubt}" for label, each in solution.labelled() for doubt in doubts(each))

    def contradictions(self, solution: Joint) -> Iterator[str]:
        """As of :class:`~gdalembert.ocp.programs.Program`."""
        return (f"{label}: {doubt}" for label, each in solution.labelled() for doubt in contradictions(each))


class JoinedProblems(ABC, Generic[Joint]):
    """Problems that are solved as one.

    Attributes:
        problems: at least two, each once.
    """

    problems: tuple[Problem, ...]
    _built: Solver[Joint] | None = None

    @abstractmethod
    def _program(self) -> Any:
        """The program of all, as the problems are now."""

    @abstractmethod
    def _each_p(self, p: Any) -> Sequence[Values]:
        """The parameters of the robot for each problem."""

    @abstractmethod
    def _check_costs(self) -> None:
        """Refuse problems that have nothing to minimise."""

    @interruptible
    def solver(self, solver: str = "ipopt", options: Mapping[str, Any] | None = None) -> Solver[Joint]:
        """Build a solver once, which is called with the parameters of each solve, as :meth:`Problem.solver`.

        It solves the problems as they are now. A parameter that several problems have by one name is one parameter.

        Args:
            solver, options: as of :meth:`Problem.solve`.

        Raises:
            ArgumentError: if nothing is to be minimised, parameters of one name have different shapes, or as
                :meth:`Problem.solver`.
            UnsupportedError: if the solver needs one sequence of intervals, as ``"fatrop"``.
        """
        self._check_costs()
        return Solver(self._program(), solver, checked_options("solver", options))

    @interruptible
    def solve(
        self,
        solver: str = "ipopt",
        options: Mapping[str, Any] | None = None,
        *,
        p: Any = None,
        **values: npt.ArrayLike,
    ) -> Joint:
        """Solve all problems at once.

        A phase without a guess begins between the configurations that are fixed or guessed next to it.

        Args:
            solver, options: as of :meth:`Problem.solve`.
            p: the parameters of the robot, as of :meth:`Problem.solve`; of scenarios a list, one for each.
            values: the parameters of the problems by name; those of one name get one value.

        Raises:
            ArgumentTypeError, ArgumentError: if nothing is to be minimised, no configuration is known, p is not as many
                as scenarios, or as :meth:`Problem.solve`.
            UnknownNameError: if no problem has a parameter of a name.
            UnsupportedError: as :meth:`solver`.
            OptimizationError: if the solver stops without a solution; it has the last iterate.

        Warns:
            SolutionWarning: as :meth:`Problem.solve`, for each problem.
        """
        own = own_values(values, [problem._parameters.symbols for problem in self.problems])
        self._check_costs()
        for problem, numbers, named in zip(self.problems, self._each_p(p), own, strict=True):
            problem._set(numbers, named)
        self._built = self.solver(solver, options)
        solution = self._built.cold()
        if not solution.solved:
            raise OptimizationError(solution)
        for doubt in self._built.doubts(solution):
            warnings.warn(f"{solution.dyn.tree.name}: {doubt}", SolutionWarning, stacklevel=3)
        return solution

    def value(self, expression: ca.MX) -> Array:
        """An expression of the variables and parameters of all problems, where :meth:`solve` ended.

        Raises:
            ArgumentError: if nothing was solved.
        """
        if self._built is None:
            raise ArgumentError("value: nothing was solved; call solve first")
        return self._built.value(expression)


def split(values: Any, sizes: Sequence[int]) -> list[Any]:
    """A vector in parts of these sizes."""
    return [values[i:j] for i, j in pairwise(np.cumsum([0, *sizes]).tolist())]


def own_values(values: Mapping[str, Any], known: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The values for each problem, of those that it knows.

    Raises:
        UnknownNameError: if no problem knows one.
    """
    names = {name for each in known for name in each}
    for name in values:
        if name not in names:
            raise UnknownNameError("parameter of the problems", name, sorted(names))
    return [{name: value for name, value in values.items() if name in each} for each in known]


def checked_problems(what: str, problems: Any) -> tuple[Problem, ...]:
    """At least two problems, each once.

    Raises:
        ArgumentTypeError, ArgumentError: if they are not.
    """
    if not isinstance(problems, Sequence) or not all(isinstance(each, Problem) for each in problems):
        raise ArgumentTypeError(f"{what}: got {type(problems).__name__}; give a list of gd.ocp.Problem")
    if len(problems) < 2 or len(set(map(id, problems))) < len(problems):
        raise ArgumentError(f"{what}: give at least two problems, each once")
    return tuple(problems)
