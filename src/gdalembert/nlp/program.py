"""Nonlinear programs: the numbers that they take, and the solutions that they have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import casadi as ca

from gdalembert.errors import ArgumentError
from gdalembert.nlp.stage_program import StageProgram
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief

NO_NUMBER = "Invalid_Number_Detected"
"""The status of a solver that found numbers that are not finite."""
EXCEPTIONS = ("NonIpopt_Exception_Thrown", "Unrecoverable_Exception", "Insufficient_Memory", "Internal_Error")
"""The statuses of a solver that ended by an exception, its own or that of a Function that it called."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome(Brief):
    """Report of a solver on a solution."""

    status: str
    iterations: int
    cost: float
    constraint_violation: float
    violations: dict[str, float]
    stats: dict[str, Any]
    solved: bool = True
    hints: tuple[str, ...] = ()


Found = TypeVar("Found", bound=Outcome)


class Solvable(Protocol[Found]):
    """Nonlinear program, made of what a user knows by name."""

    @property
    def nlp(self) -> StageProgram: ...

    @property
    def name(self) -> str:
        """Name in messages."""

    @property
    def named(self) -> Mapping[str, ca.MX]:
        """The parameters by name."""

    @property
    def symbols(self) -> list[ca.MX]:
        """Variables and parameters, as the user has them in expressions."""

    def numbers(self, where: str, p: Any, values: Mapping[str, Any]) -> Array:
        """The parameters of the program, of what a solve is given; InvalidStartError if no solution starts there."""

    def restoring(self) -> Callable[[], None]:
        """Function that sets the parameters to those of now."""

    def current(self) -> Array:
        """The parameters of the program at their last values."""

    def expression(self) -> ca.MX:
        """The parameters of the program as an expression of the parameters by name."""

    def begin(self, guess: Any) -> Array:
        """The scaled variables in a guess; in that of the user's problem, if it is ``None``."""

    def checked_shift(self, shift: int) -> int:
        """The number of intervals by which a solution is shifted; ArgumentError if it cannot be."""

    def unscaled(self, z: Any, numbers: Any) -> list[Any]:
        """The values of ``symbols``, numbers or expressions."""

    def rows(self, z: ca.MX, numbers: ca.MX) -> dict[str, ca.MX]:
        """Quantities that the user reads off scaled variables, by name."""

    def solution(self, z: Array, numbers: Array, status: str, stats: Mapping[str, Any], solved: bool) -> Found:
        """The solution at scaled variables."""

    def tightened(self, solution: Found) -> Array | None:
        """The parameters with which it is solved again, for what a solution violates between instants; or None."""

    def remedies(self, solution: Found) -> Iterator[str]:
        """Advice where a solve failed."""

    def warnings(self, solution: Found, *, again: bool) -> Iterator[str]:
        """Why a solution may be none; ``again``: what is worth a warning in every tick of a receding horizon anew."""

    def error(self, solution: Found) -> Exception:
        """Error that is raised where there is no solution."""


class InvalidStartError(ArgumentError):
    """Parameters at which no solution starts: where there is a last solution, it stands for the next one."""
