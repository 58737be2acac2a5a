"""Scenarios: motions of several robots under one u, as of one arm with several payloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.ocp.dependence import Label
from gdalembert.ocp.joined import JoinedNLP, JoinedProblems, JoinedProgram, checked_problems
from gdalembert.ocp.joined_solution import JoinedSolution
from gdalembert.ocp.nlp import NLP
from gdalembert.ocp.places import NOWHERE, Indices, Places
from gdalembert.ocp.problem import Problem
from gdalembert.ocp.solution import Solution
from gdalembert.spatial.arguments import choice, integer
from gdalembert.spatial.arrays import Array

COSTS = ("mean", "sum", "worst")
"""What is minimised of the costs of all scenarios."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ScenariosSolution(JoinedSolution):
    """The motions under the u that solves a problem in scenarios.

    Attributes:
        scenarios: the solution of each, all with the same ``t`` and ``u``.
        status, iterations, stats: of the solver. ``cost``: its minimum, of the costs of the scenarios.
        constraint_violation: the largest of any equation or inequality.
        violations: by name, the largest violation of each kind, in each scenario.
        solved: whether the solver found it.
        hints: as of a :class:`Solution`.
    """

    kind: ClassVar[str] = "scenario"

    scenarios: tuple[Solution, ...]

    @property
    def parts(self) -> tuple[Solution, ...]:
        """The solution of each scenario."""
        return self.scenarios

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

    def __init__(self, problems: Sequence[Problem], *, cost: str = "mean") -> None:
        choice("cost", cost, COSTS)
        self.problems, self.cost = _checked(problems), cost

    def __repr__(self) -> str:
        return f"Scenarios([{', '.join(map(repr, self.problems))}], cost={self.cost!r})"

    def _program(self) -> _ScenariosProgram:
        return _ScenariosProgram(self)

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


class _ScenariosProgram(JoinedProgram[ScenariosSolution]):
    """The programs of all scenarios as one, whose variables are those of the first and what the others do not share.

    The largest cost is the mean and what it is above the mean, a variable: the mean keeps the curvature of the cost
    while the multipliers of the scenarios are not found. Each scenario has a scalar row, because CasADi 3.8 loses
    entries of the Jacobian of a vector less a scalar in reverse mode.
    """

    def __init__(self, scenarios: Scenarios) -> None:
        super().__init__("scenario", scenarios.problems)
        self._scenarios = scenarios
        self._worst, self._intervals = scenarios.cost == "worst", scenarios.problems[0].intervals
        nlps = [part.nlp for part in self.parts]
        self._share(nlps)
        z, p = ca.MX.sym("z", self._size), [nlp.problem["p"] for nlp in nlps]
        programs = [
            ca.Function("program", [nlp.problem["x"], nlp.problem["p"]], [nlp.problem["f"], nlp.problem["g"]])
            for nlp in nlps
        ]
        found = [
            program.call([own, each], True, False)
            for program, own, each in zip(programs, self.scaled(z), p, strict=True)
        ]
        costs = [f for f, _ in found]
        total = sum(costs, ca.MX(0))
        problem = {"x": z, "p": ca.vertcat(*p), "f": total, "g": ca.vertcat(*(g for _, g in found))}
        if scenarios.cost == "mean":
            problem["f"] = total / len(nlps)
        if self._worst:
            above, mean = ca.MX.sym("above"), total / len(nlps)
            problem["x"], problem["f"] = ca.vertcat(z, above), mean + above
            problem["g"] = ca.vertcat(problem["g"], *(cost - mean - above for cost in costs))
        self._costs = ca.Function("costs", [z, problem["p"]], [ca.vertcat(*costs)])
        unequal = np.zeros(len(nlps) * self._worst, dtype=bool)
        self.nlp = JoinedNLP(
            "scenario",
            problem,
            self._limits(problem["p"], p, nlps),
            np.concatenate([*(nlp.equal for nlp in nlps), unequal]),
            self._places([nlp.variables for nlp in nlps], self._own, int(self._worst)),
            self._places([nlp.constraints for nlp in nlps], [slice(None)] * len(nlps), len(unequal)),
        )

    def labels(self) -> tuple[list[Label], dict[int, Label]]:
        rows: list[Label] = []
        fixed: dict[int, Label] = {}
        for (own, held), where in zip(self.part_labels(), self._where, strict=True):
            rows += own
            fixed |= {int(where[i]): label for i, label in held.items()}
        return rows + [Label("the largest cost", "", False)] * (len(self.parts) * self._worst), fixed

    def _share(self, nlps: Sequence[NLP]) -> None:
        """Where the variables of each program are among all, and what these are to be multiplied by."""
        first, self._size = nlps[0], nlps[0].size
        common, sizes = _shared(first)
        self._where, self._factors = [np.arange(first.size)], [np.ones(first.size)]
        self._own: list[Any] = [np.arange(first.size)]
        for nlp in nlps[1:]:
            own, own_sizes = _shared(nlp)
            where, factors = np.full(nlp.size, -1), np.ones(nlp.size)
            where[own], factors[own] = common, sizes / own_sizes
            others = np.flatnonzero(where < 0)
            where[others] = self._size + np.arange(len(others))
            self._size += len(others)
            self._where.append(where)
            self._factors.append(factors)
            self._own.append(others)

    @staticmethod
    def _places(all_places: Sequence[Places], chosen: Sequence[Any], more: int) -> Places:
        """The places of the chosen entries of all, and of more that are nowhere."""
        groups: list[Indices] = []
        for k, (places, own) in enumerate(zip(all_places, chosen, strict=True)):
            groups.append(places.groups[own] * len(all_places) + k)
        intervals = [places.intervals[own] for places, own in zip(all_places, chosen, strict=True)]
        return Places(
            np.concatenate([*groups, np.full(more, NOWHERE)]), np.concatenate([*intervals, np.full(more, NOWHERE)])
        )

    def _limits(self, p: ca.MX, each_p: Sequence[ca.MX], nlps: Sequence[NLP]) -> ca.Function:
        """(p) → (lbx, ubx, lbg, ubg)."""
        found = [nlp.limits(p=own) for nlp, own in zip(nlps, each_p, strict=True)]
        lbx, ubx = ca.MX(-ca.inf * ca.DM.ones(self._size)), ca.MX(ca.inf * ca.DM.ones(self._size))
        for each, where, factors in zip(found, self._where, self._factors, strict=True):
            at = where.tolist()
            lbx[at] = ca.fmax(lbx[at], each["lbx"] / ca.DM(factors))
            ubx[at] = ca.fmin(ubx[at], each["ubx"] / ca.DM(factors))
        one, n = int(self._worst), len(nlps) * self._worst
        free = ca.inf * ca.DM.ones(one)
        limits = {
            "lbx": ca.vertcat(lbx, -free),
            "ubx": ca.vertcat(ubx, free),
            "lbg": ca.vertcat(*(each["lbg"] for each in found), -ca.inf * ca.DM.ones(n)),
            "ubg": ca.vertcat(*(each["ubg"] for each in found), ca.DM.zeros(n)),
        }
        return ca.Function("limits", [p], list(limits.values()), ["p"], list(limits))

    def each_p(self, p: Any) -> Sequence[Values]:
        return self._scenarios._each_p(p)

    def begin(self, guess: Any) -> Array:
        """The guesses of all; what they share is the mean of them."""
        total, counts = np.zeros(self._size), np.zeros(self._size)
        for z, where, factors in zip(self.scaled_guesses(guess), self._where, self._factors, strict=True):
            total[where] += z / factors
            counts[where] += 1
        z = total / counts
        return np.append(z, np.abs(self._costs(z, self.current()).full()).max()) if self._worst else z

    def checked_shift(self, shift: int) -> int:
        return integer("solver: shift", shift, 0, self._intervals)

    def scaled(self, z: Any) -> list[Any]:
        pairs = zip(self._where, self._factors, strict=True)
        if isinstance(z, ca.MX):
            return [ca.DM(factors) * z[where.tolist()] for where, factors in pairs]
        return [factors * z[where] for where, factors in pairs]

    def rows(self, z: ca.MX, numbers: ca.MX) -> dict[str, ca.MX]:
        found = self.part_rows(z, numbers)
        return found[0] | {key: ca.vertcat(*(each[key] for each in found)) for key in ("q", "v")}

    def solution(
        self, z: Array, numbers: Array, status: str, stats: Mapping[str, Any], solved: bool
    ) -> ScenariosSolution:
        scenarios = self.part_solutions(z, numbers, status, stats, solved)
        violations = [each.violations for each in scenarios]
        return ScenariosSolution(
            scenarios=scenarios,
            status=status,
            iterations=scenarios[0].iterations,
            cost=self.cost(z, numbers),
            constraint_violation=max(each.constraint_violation for each in scenarios),
            violations={f"scenario {k}: {name}": x for k, each in enumerate(violations, 1) for name, x in each.items()},
            stats=dict(stats),
            solved=solved,
        )


def _shared(nlp: NLP) -> tuple[npt.NDArray[Any], Array]:
    """The variables u and the constants of a motion in a program, and their sizes."""
    motion = nlp.motion
    return nlp.positions(ca.veccat(motion.u, motion.state[motion.size :, 0]))


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
