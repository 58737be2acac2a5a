"""Scenarios: motions of several robots under one u, as of one arm with several payloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.nlp.joined import Connection, JoinedProgram, LinkRows
from gdalembert.ocp.problem import JoinedProblems, Problem, checked_problems, joined_outcome
from gdalembert.ocp.program import Part
from gdalembert.ocp.solution import JoinedSolution, Solution
from gdalembert.spatial.arguments import choice
from gdalembert.spatial.arrays import Array

COSTS = ("mean", "sum", "worst")
"""What is minimised of the costs of all scenarios."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ScenariosSolution(JoinedSolution):
    """The motions under the u that solves a problem in scenarios.

    Attributes:
        scenarios: the solution of each, all with the same ``t`` and ``u``.
        cost: the minimum, of the costs of the scenarios.
        violations: by name, the largest violation of each kind, in each scenario.
        status, iterations, stats, constraint_violation, solved, hints: as of a :class:`Solution`.
    """

    kind: ClassVar[str] = "scenario"

    scenarios: tuple[Solution, ...]

    @property
    def t(self) -> Array:
        """Times of the grid (N + 1) [s]."""
        return self.scenarios[0].t

    @property
    def u(self) -> Array:
        """The efforts that all scenarios share, a row for each interval or instant."""
        return self.scenarios[0].u

    @property
    def costs(self) -> Array:
        """The cost of each scenario."""
        return np.array([each.cost for each in self.scenarios])

    def _about(self, k: int, part: Solution) -> str:
        return f"cost {part.cost:.6g}, steps off by {part.step_error:.1e}"


class Scenarios(JoinedProblems[ScenariosSolution]):
    """Problems that share u, duration and design: each is a scenario, with p, ends, paths and a cost of its own.

        problems = [Problem(dyn, 1.0, 20, bounds=bounds, p={"tip.m": mass}) for mass in (0.0, 2.0, 5.0)]
        for problem in problems:
            problem.start(q)
            problem.minimize(problem.integral(lambda q: ca.sumsqr(q - goal)))
        solution = Scenarios(problems, cost="worst").solve()

    Args:
        problems: at least two, of robots with the same actuators, with the same intervals, duration and design.
        cost: ``"mean"``, ``"sum"``, or ``"worst"``: the largest of the costs of the problems.

    Raises:
        ArgumentTypeError, ArgumentError: if they are no such problems.
    """

    _kind = "scenario"

    def __init__(self, problems: Sequence[Problem], *, cost: str = "mean") -> None:
        choice("cost", cost, COSTS)
        self.problems, self.cost = _checked(problems), cost

    def __repr__(self) -> str:
        return f"Scenarios([{', '.join(map(repr, self.problems))}], cost={self.cost!r})"

    def _each_p(self, p: Any) -> Sequence[Values]:
        if p is None:
            return [None] * len(self.problems)
        if not isinstance(p, Sequence) or isinstance(p, str):
            raise ArgumentTypeError(
                f"Scenarios: p: got {type(p).__name__}; give a list, one p for each of {len(self.problems)}"
            )
        if len(p) != len(self.problems):
            raise ArgumentError(f"Scenarios: p has {len(p)} entries; give one for each of {len(self.problems)}")
        return p

    def _check_costs(self) -> None:
        for k, problem in enumerate(self.problems, start=1):
            if problem._cost is None:
                raise ArgumentError(f"Scenarios: scenario {k} minimises nothing; call its minimize")

    def _joined(self, parts: list[Part]) -> JoinedProgram:
        """The programs of all scenarios as one, which share u and the constants of the motions."""
        shared = [ca.veccat(part.motion.u, part.motion.state[part.motion.size :, 0]) for part in parts]
        return JoinedProgram("scenario", [part.nlp for part in parts], int(self.cost == "worst"), self._connect, shared)

    def _connect(self, joined: JoinedProgram) -> Connection:
        """The cost.

        The largest one is the mean and what it is above the mean, a variable: the mean keeps the curvature of the cost
        while the multipliers of the scenarios are not found. Each scenario has a scalar row, because CasADi 3.8 loses
        entries of the Jacobian of a vector less a scalar in reverse mode.
        """
        costs, total = joined.costs, sum(joined.costs, ca.MX(0))
        mean, zero = total / len(costs), np.zeros(1)
        if self.cost != "worst":
            return Connection(total if self.cost == "sum" else mean, [], ca.MX(0, 1))
        links = [LinkRows("the largest cost", cost - mean - joined.further, zero - np.inf, zero) for cost in costs]
        return Connection(mean + joined.further, links, ca.mmax(ca.fabs(ca.vertcat(*costs))))

    def _solution(self, parts: tuple[Solution, ...], nlp: Any, z: Array, numbers: Array) -> ScenariosSolution:
        return ScenariosSolution(scenarios=parts, **joined_outcome(parts, nlp, z, numbers))


def _checked(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    found = checked_problems("Scenarios", problems)
    first = _kind(found[0])
    for k, problem in enumerate(found[1:], start=2):
        for (what, own), expected in zip(_kind(problem).items(), first.values(), strict=True):
            if own != expected:
                raise ArgumentError(
                    f"Scenarios: {what} of scenario {k}: {own}, of the first one: {expected}; they share u, so give "
                    "the same"
                )
    return found


def _kind(problem: Problem) -> dict[str, Any]:
    """What scenarios have in common."""
    names = problem._system.dynamics.parameters.names
    return {
        "actuators": problem.bounds.u_names,
        "intervals": problem.intervals,
        "control": problem.control,
        "duration": problem._motion.range,
        "design": tuple(names[i] for i in problem._robot.chosen),
    }
