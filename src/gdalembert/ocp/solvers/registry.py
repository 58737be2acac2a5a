"""The solvers that are none of CasADi's, by name: each reads a problem, its stage or its nonlinear program.

A solver of your own is a function that is registered: here one that takes the nonlinear program of a problem to
``casadi.nlpsol`` itself.

    @gd.ocp.solver("mine")
    def make(problem, options):
        def solve(**values):
            nlp = problem.nlp(**values)
            solver = casadi.nlpsol("solver", "ipopt", nlp.problem, options)
            return nlp.solution(solver(**nlp.arguments)["x"], solver.stats())

        return solve

    plan = problem.solve("mine", {"ipopt.max_iter": 50}, target=target)

What makes a solver may also call ``problem.nonlinear_solver``, with a subclass of :class:`~gdalembert.ocp.Solver`, or
``problem.real_time_solver``, as those that are here do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, runtime_checkable

from gdalembert.errors import ArgumentTypeError, shown
from gdalembert.nlp.backends import checked_options
from gdalembert.spatial.arguments import flag
from gdalembert.spatial.progress import progress as show_progress
from gdalembert.spatial.registry import Registry

Maker = Callable[[Any, Mapping[str, Any]], Any]
Made = TypeVar("Made", bound=Maker)
SOLVERS = Registry[Maker]("solver", ("problem", "options"), (None, {}))


def solver(name: str) -> Callable[[Made], Made]:
    """Decorator that registers what makes a solver: a function of (problem, options), which are a mapping.

    ``problem.solver(name, options)`` returns what the function makes; ``problem.solve(name, options, **values)`` calls
    that with the parameters, and with p if it is given. Phases, scenarios and schedules ask it alike.

    Raises:
        ArgumentTypeError: if the name is no text, or what is decorated no function of (problem, options).
        ArgumentError: if another function has the name.
    """
    return SOLVERS.register(name)


@runtime_checkable
class Cold(Protocol):
    """A solver whose solves can begin anew, at the values that its problem has: that of ``problem.solve``."""

    def cold(self) -> Any:
        """Solve from the guess of the problem."""


@runtime_checkable
class Watched(Protocol):
    """A solver whose calls show their progress on stderr if they are to."""

    progress: bool


def watched(made: Any, *, progress: bool) -> Any:
    """The solver, which shows its progress or not, if it can."""
    if isinstance(made, Watched) and isinstance(made.progress, bool):
        made.progress = progress
    return made


def made_by(name: str, problem: Any, options: Mapping[str, Any]) -> Any:
    """Solver that the maker of a registered name returns; an error if it cannot be called."""
    made = SOLVERS[name](problem, options)
    if not callable(made) and not isinstance(made, Cold):
        raise ArgumentTypeError(
            f"solver: what is registered as {name!r} returned {shown(made)}; return a function, solve(**values)"
        )
    return made


def solver_of(problem: Any, robot: str, name: Any, options: Any, *, progress: Any) -> Any:
    """The solver of a problem of a robot: what is registered under its name makes it, or else one of CasADi's."""
    given = checked_options("solver", options)
    with show_progress(f"{robot}: build of {name}", shown=flag("solver: progress", progress)) as line:
        known = isinstance(name, str) and name in SOLVERS
        made = made_by(name, problem, given) if known else problem.nonlinear_solver(name, given)
        line.show("")
    return watched(made, progress=progress)


@solver("rti")
def real_time(problem: Any, options: Mapping[str, Any]) -> Any:
    """One Gauss–Newton step a tick, of a problem or a schedule."""
    return problem.real_time_solver(options)
