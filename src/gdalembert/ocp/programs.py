"""What a solver solves: a nonlinear program, the numbers that it takes, and the solutions that it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import casadi as ca

from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.ocp.backends import NonlinearProgram
from gdalembert.ocp.constraints import Constraints
from gdalembert.ocp.dependence import Label
from gdalembert.ocp.inputs import Inputs
from gdalembert.ocp.joined_solution import JoinedSolution
from gdalembert.ocp.natural_modes import NaturalModes
from gdalembert.ocp.nlp import NLP
from gdalembert.ocp.quasi_static import too_fast
from gdalembert.ocp.report import Report
from gdalembert.ocp.solution import Solution, contradictions, doubts
from gdalembert.ocp.transcription import Motion
from gdalembert.spatial.arguments import integer
from gdalembert.spatial.arrays import Array

Found = TypeVar("Found", bound=Solution | JoinedSolution)


class Program(Protocol[Found]):
    """What a solver solves, for one problem or for several that are joined."""

    @property
    def nlp(self) -> NonlinearProgram:
        """The nonlinear program."""

    @property
    def name(self) -> str:
        """Of the robot."""

    @property
    def named(self) -> Mapping[str, ca.MX]:
        """The parameters by name."""

    @property
    def symbols(self) -> list[ca.MX]:
        """Variables and parameters of the problems."""

    def numbers(self, where: str, p: Any, values: Mapping[str, Any]) -> Array:
        """The parameters of the nonlinear program, of what a solve is given.

        Raises:
            UnknownNameError, ArgumentTypeError, ArgumentError: if a value cannot be used, or is missing.
        """

    def current(self) -> Array:
        """The same, of the last values."""

    def expression(self) -> ca.MX:
        """The same, of the parameters with names."""

    def begin(self, guess: Any) -> Array:
        """The scaled variables in a guess; in that of the problem, if it is ``None``.

        Raises:
            ArgumentTypeError, ArgumentError: if there is none, or it is of no motion of these problems.
        """

    def checked_shift(self, shift: int) -> int:
        """The number of intervals by which a solution is shifted.

        Raises:
            ArgumentError: if it cannot be shifted by so many.
        """

    def unscaled(self, z: Any, numbers: Any) -> list[Any]:
        """The values of ``symbols``, numbers or expressions."""

    def rows(self, z: ca.MX, numbers: ca.MX) -> dict[str, ca.MX]:
        """q, v, u and t of scaled variables."""

    def labels(self) -> tuple[list[Label], dict[int, Label]]:
        """What the rows of g stand for, and those variables that a constraint fixes by equal bounds."""

    def remedies(self, solution: Found) -> Iterator[str]:
        """What may help where a solve failed."""

    def solution(self, z: Array, numbers: Array, status: str, stats: Mapping[str, Any], solved: bool) -> Found:
        """The solution at scaled variables."""

    def doubts(self, solution: Found) -> Iterator[str]:
        """Why a solution may be none: each is worth a warning."""

    def contradictions(self, solution: Found) -> Iterator[str]:
        """Those of them that every tick of a receding horizon may have anew."""


class Assembly(NamedTuple):
    """What the program of a problem is made of.

    Attributes:
        motion, opti: of a problem, baked. ``modes``: those that take the place of modal coordinates.
        inputs: its parameters. ``report``: of its solutions. ``constraints``: their names.
        initial: gives the variables where a solve begins: (guess) → x.
    """

    motion: Motion
    modes: NaturalModes
    opti: ca.OptiAdvanced
    inputs: Inputs
    report: Report
    constraints: Constraints
    initial: Callable[[Any], Array]


class ProblemProgram:
    """The program of one problem.

    Args:
        assembly: of the problem. ``stagewise``: as of :class:`NLP`.
    """

    def __init__(self, assembly: Assembly, *, stagewise: bool) -> None:
        self.motion, modes, self._opti, self.inputs, self._report, self._constraints, self._initial = assembly
        filled = (self.inputs.filled(number) for number in (0.25, 0.5))
        self.nlp = NLP(self.motion, modes, self._opti, *filled, stagewise=stagewise)

    @property
    def name(self) -> str:
        return self.motion.dyn.tree.name

    @property
    def named(self) -> Mapping[str, ca.MX]:
        return self.inputs.named

    @property
    def symbols(self) -> list[ca.MX]:
        return [self._opti.x, self._opti.p]

    def numbers(self, where: str, p: Values, values: Mapping[str, Any]) -> Array:
        return self.inputs(where, p, values)

    def current(self) -> Array:
        return self.inputs.current()

    def expression(self) -> ca.MX:
        return self.inputs.expression()

    def begin(self, guess: Any) -> Array:
        return self.nlp.scaled(self._initial(guess))

    def checked_shift(self, shift: int) -> int:
        return integer("solver: shift", shift, 0, self.motion.intervals)

    def unscaled(self, z: Any, numbers: Any) -> list[Any]:
        return [self.nlp.unscaled(z), numbers]

    def rows(self, z: ca.MX, numbers: ca.MX) -> dict[str, ca.MX]:
        motion, nq = self.motion, self.motion.dyn.tree.nq
        graph = ca.Function("rows", self.symbols, [motion.x, motion.u, motion.t], {"always_inline": True})
        x, u, t = graph(*self.unscaled(z, numbers))
        return {"q": x[:nq, :], "v": x[nq:, :], "u": u, "t": t}

    def remedies(self, solution: Solution) -> Iterator[str]:
        return too_fast(self.motion.system, solution)

    def labels(self) -> tuple[list[Label], dict[int, Label]]:
        return self.nlp.labels(self._constraints)

    def solution(self, z: Array, numbers: Array, status: str, stats: Mapping[str, Any], solved: bool) -> Solution:
        return self._report(self.nlp.unscaled(z), numbers, status, stats, solved)

    def doubts(self, solution: Solution) -> Iterator[str]:
        return doubts(solution)

    def contradictions(self, solution: Solution) -> Iterator[str]:
        return contradictions(solution)
