"""The solution of a problem, and the error if there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gdalembert.dynamics.parameters.physical import physical_parameters
from gdalembert.errors import ArgumentError, GdalembertError
from gdalembert.model.configuration import unit_blocks
from gdalembert.ocp.accuracy import Accuracy
from gdalembert.ocp.bounds import Bounds
from gdalembert.ocp.guess import Guess
from gdalembert.ocp.systems import Robot, robot_alone
from gdalembert.simulation.result import Simulation
from gdalembert.simulation.simulate import simulate
from gdalembert.spatial.arguments import integer
from gdalembert.spatial.arrays import Array

COARSE = 0.05
"""A larger step error, relative to the velocity, is worth a warning."""
CLOSED = "contacts and loops"
"""The name of the largest violation of c(q) = 0 and J v = 0 on the grid."""
NO_NUMBER = "Invalid_Number_Detected"
"""The status of a solver that found numbers that are not finite."""
EXCEPTIONS = ("NonIpopt_Exception_Thrown", "Unrecoverable_Exception", "Insufficient_Memory", "Internal_Error")
"""The statuses of a solver that ended by an exception, its own or that of a Function that it called."""
_FEASIBLE = 1e-6
"""The largest violation of a constraint that counts as satisfied."""


class Stages(NamedTuple):
    """The motion at the stages of all intervals: one column for each in a problem, one row in a solution."""

    t: Any
    q: Any
    v: Any
    a: Any
    u: Any
    forces: Any


@dataclass(frozen=True, eq=False)
class Solution:
    """The motion that solves a problem, one row for each of the N + 1 instants of the grid.

    Attributes:
        dyn, bounds, control: of the problem; ``control`` is ``"constant"`` or ``"linear"``.
        status, iterations, stats: of the solver. ``cost``: its minimum.
        t: N + 1 [s].
        q, v: (N + 1) × nq and (N + 1) × nv.
        u: N × nu (constant) or (N + 1) × nu (linear) [N m, N].
        p: the parameters of the robot (n_p), the optimum of those that are optimised; empty if it has none.
        stages: ``t, q, v, a, u, forces`` at the stages, one row for each; ``forces`` are those of contacts and loops
            (nc), as of :class:`~gdalembert.ConstrainedDynamics`.
        constraint_violation: the largest of any equation or inequality of the problem, yours included.
        length_violation: the largest deviation of the length of a quaternion, or of a pair (cos, sin), from one.
        constraint_drift: the largest residual of contacts and loops at the stages [m, rad], between the instants of the
            grid, where they hold.
        violations: by name, the largest violation of each kind of equations and inequalities of the problem; of all
            constraints of ``problem.opti`` by ``"opti.subject_to"``.
        accuracy: the comparison with finer steps, from which :attr:`step_error` and :attr:`excess` come.
        solved: whether the solver found it; ``False`` for the last plan in place of one that was not found, whose
            ``status`` says why (:class:`~gdalembert.ocp.Solver`).
        corrections: of ``"q of start"``, ``"v of start"``, and those of the end, where parameters give them: how far
            the largest entry was moved onto unit lengths, contacts and loops [rad, m, 1; rad/s, m/s].
        hints: where a solve from a guess failed, or took more than 50 iterations: which constraints depend on others.
    """

    dyn: Robot
    bounds: Bounds
    control: str
    status: str
    iterations: int
    cost: float
    t: Array
    q: Array
    v: Array
    u: Array
    p: Array
    stages: Stages
    constraint_violation: float
    length_violation: float
    constraint_drift: float
    violations: dict[str, float]
    stats: dict[str, Any]
    accuracy: Accuracy
    solved: bool = True
    corrections: dict[str, float] = field(default_factory=dict)
    hints: tuple[str, ...] = ()

    @property
    def step_error(self) -> float:
        """Error of the steps; it is computed when it is first asked for.

        It is the kinetic energy of the difference between v at the end of an interval and v after many Runge–Kutta
        steps from its start, the largest over the largest kinetic energy of the motion; its square root, so that 0.01
        is a hundredth of the velocity.
        """
        return self.accuracy.step_error

    @property
    def excess(self) -> dict[str, float]:
        """By name, the largest violation of the bounds of q and v, and of paths of q and v, by these finer steps.

        It counts between the instants of the grid too, where it is above 1e-6; it is computed when first asked for.
        """
        return self.accuracy.excess

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return float(self.t[-1])

    @property
    def parameters(self) -> dict[str, float]:
        """p by name."""
        return dict(zip(self.dyn.parameters.names, self.p.tolist(), strict=True))

    @property
    def robot(self) -> Robot:
        """The robot with the numbers p in place of parameters, ``dyn.at(p)``."""
        return self.dyn.at(self.p)

    @property
    def evaluation_time(self) -> float:
        """Time that the solver spent in the functions of the problem and their derivatives [s]."""
        return float(sum(x for key, x in self.stats.items() if key.startswith("t_wall_nlp_")))

    def guess(self) -> Guess:
        """The same motion as the guess of another problem."""
        a = np.column_stack([np.interp(self.t, self.stages.t.ravel(), column) for column in self.stages.a.T])
        return Guess(self.t, self.q, self.v, a, self._rows_of_u, unit_blocks(self.dyn.tree))

    @property
    def _rows_of_u(self) -> Array:
        """A row for each instant of the grid; the last one is repeated if u is constant over the intervals."""
        return np.vstack([self.u, self.u[-1:]]) if self.control == "constant" else self.u

    def simulate(self, dyn: Robot | None = None, *, samples: int = 1, **options: Any) -> Simulation:
        """The motion under this u, by :func:`gdalembert.simulate`: it shows the error of the steps of the problem.

        Args:
            dyn: another model, which starts at the same q and v; by default that of the problem, at :attr:`p`.
            samples: number of output times in each interval.
            options: options of ``simulate``.

        Raises:
            ArgumentError: if there is no sample in an interval; and as :func:`gdalembert.simulate`.
        """
        samples = integer("Solution.simulate: samples", samples, 1)
        n = len(self.t) - 1
        fractions = np.arange(n * samples + 1) / samples
        t = np.interp(fractions, np.arange(n + 1), self.t)
        if hold := self.control == "constant":
            u = self._rows_of_u[fractions.astype(int)]
        else:
            u = np.column_stack([np.interp(fractions, np.arange(n + 1), column) for column in self.u.T])
        if dyn is None:
            dyn, options = self.dyn, {"p": self.p} | options
        return simulate(dyn, (self.q[0], self.v[0]), t, u, hold=hold, **options)

    def __str__(self) -> str:
        worst = max(self.excess.items(), key=lambda item: item[1], default=None)
        beyond = "" if worst is None else f", {worst[0]} {worst[1]:.2g} beyond its bound between grid points"
        drift = "" if not unit_blocks(self.dyn.tree) else f", unit lengths off by {self.length_violation:.1e}"
        between = f", contacts and loops by {self.constraint_drift:.1e} between" if self.stages.forces.size else ""
        return (
            f"{self.dyn.tree.name}: {self.status} after {self.iterations} iterations: cost {self.cost:.6g}, "
            f"{self.duration:.6g} s, constraints violated by {self.constraint_violation:.1e}{between}{drift}{beyond}, "
            f"steps off by {self.step_error:.1e} of the velocity"
        )


class SolutionWarning(UserWarning):
    """A solution whose steps are too coarse, or whose parameters no robot has."""


def doubts(solution: Solution) -> Iterator[str]:
    """Why a solution may be none: each is worth a warning."""
    yield from solution.hints
    yield from contradictions(solution)
    if not solution.step_error <= COARSE:
        yield (
            "the steps are too coarse: velocities after one miss those of the motion by "
            f"{solution.step_error:.1%}; take more intervals, a higher degree or fewer modes, and look at "
            "solution.simulate()"
        )
    try:
        physical_parameters("the optimum of p", robot_alone(solution.dyn), solution.p)
    except ArgumentError as error:
        yield f"{error}; or give narrower bounds in design"


def contradictions(solution: Solution) -> Iterator[str]:
    """Where what is fixed at the ends violates contacts or loops, in every tick of a receding horizon anew."""
    if (gap := solution.violations.get(CLOSED, 0.0)) > _FEASIBLE:
        yield f"start and end violate contacts and loops by {gap:.2g}; fix fewer entries, or others"


class OptimizationError(GdalembertError, RuntimeError):
    """A problem that was not solved.

    Attributes:
        solution: the last iterate of the solver, of the kind that a solve returns.
    """

    def __init__(self, solution: Any) -> None:
        self.solution = solution
        what = ", ".join(f"{name} by {x:.2g}" for name, x in solution.violations.items() if x > _FEASIBLE)
        state = (
            f"constraints violated by {solution.constraint_violation:.2g} ({what}); try another guess, "
            "more time, fewer or wider bounds, or more iterations"
            if solution.constraint_violation > _FEASIBLE
            else "all constraints hold, but it is not known to be an optimum; try another guess or more iterations"
        )
        if solution.status == "Invalid_Problem_Definition":
            state = "ends, bounds and paths contradict each other, or there are more equations than unknowns"
        if solution.status == NO_NUMBER:
            state = (
                "the cost, a constraint or a derivative of them is not finite there; look at roots, logarithms and "
                "quotients in expressions, or try another guess"
            )
        if solution.status in EXCEPTIONS:
            state = "an exception ended it; look at the Python functions and Callbacks that the problem calls"
        super().__init__(
            f"{solution.dyn.tree.name}: the solver stopped with {solution.status!r} after {solution.iterations} "
            f"iterations and {solution.duration:.4g} s of motion: {'; '.join([state, *solution.hints])}; "
            ".solution has what it had"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return OptimizationError, (self.solution,)
