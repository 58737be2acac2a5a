"""Scenarios: motions of several robots under one u, as of one arm with several payloads."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.ocp.backends import backend, checked_options, last_line, nlpsol
from gdalembert.ocp.nlp import NLP
from gdalembert.ocp.problem import Problem
from gdalembert.ocp.solution import OptimizationError, Solution, SolutionWarning, doubts
from gdalembert.ocp.systems import Robot
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arguments import choice
from gdalembert.spatial.arrays import Array

COSTS = ("mean", "sum", "worst")
"""What is minimised of the costs of all scenarios."""


@dataclass(frozen=True, eq=False)
class ScenariosSolution:
    """The motions under the u that solves a problem in scenarios.

    Attributes:
        scenarios: the solution of each, all with the same ``t`` and ``u``.
        status, iterations, stats: of the solver. ``cost``: its minimum, of the costs of the scenarios.
        constraint_violation: the largest of any equation or inequality.
        violations: by name, the largest violation of each kind, in each scenario.
        solved: whether the solver found it.
    """

    scenarios: tuple[Solution, ...]
    status: str
    iterations: int
    cost: float
    constraint_violation: float
    violations: dict[str, float]
    stats: dict[str, Any]
    solved: bool

    @property
    def dyn(self) -> Robot:
        """The robot of the first scenario."""
        return self.scenarios[0].dyn

    @property
    def t(self) -> Array:
        """Times of the grid (N + 1) [s]."""
        return self.scenarios[0].t

    @property
    def u(self) -> Array:
        """The efforts that all scenarios share, a row for each interval or instant."""
        return self.scenarios[0].u

    @property
    def duration(self) -> float:
        """Duration of the motions [s]."""
        return self.scenarios[0].duration

    @property
    def costs(self) -> Array:
        """The cost of each scenario."""
        return np.array([each.cost for each in self.scenarios])

    @property
    def step_error(self) -> float:
        """The largest of any scenario: :attr:`Solution.step_error`."""
        return max(each.step_error for each in self.scenarios)

    @property
    def excess(self) -> dict[str, float]:
        """:attr:`Solution.excess` of all scenarios, by names with the number of the scenario."""
        return {
            f"scenario {k}: {name}": x
            for k, each in enumerate(self.scenarios, start=1)
            for name, x in each.excess.items()
        }

    def simulate(self, **options: Any) -> list[Simulation]:
        """Each scenario under u, from its start: :meth:`Solution.simulate`."""
        return [each.simulate(**options) for each in self.scenarios]

    def __str__(self) -> str:
        head = (
            f"{self.dyn.tree.name}: {self.status} after {self.iterations} iterations: cost {self.cost:.6g}, "
            f"{self.duration:.6g} s in {len(self.scenarios)} scenarios, constraints violated by "
            f"{self.constraint_violation:.1e}"
        )
        rows = [
            f"  scenario {k}: cost {each.cost:.6g}, steps off by {each.step_error:.1e}"
            for k, each in enumerate(self.scenarios, start=1)
        ]
        return "\n".join([head, *rows])


class Scenarios:
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

    def solve(
        self,
        solver: str = "ipopt",
        options: Mapping[str, Any] | None = None,
        *,
        p: Sequence[Values] | None = None,
        **values: npt.ArrayLike,
    ) -> ScenariosSolution:
        """Find the u for all scenarios.

        Args:
            solver, options: as of :meth:`Problem.solve`.
            p: the parameters of the robot in each scenario, as of :meth:`Problem.solve`.
            values: the parameters of the problems by name; those of the same name get the same value.

        Raises:
            ArgumentError: if a scenario has no cost, p is not as many, or as :meth:`Problem.solve`.
            UnknownNameError: if no problem has a parameter of a name.
            UnsupportedError: if the solver needs one sequence of intervals, as ``"fatrop"``.
            OptimizationError: if the solver stops without a solution; it has the last iterate.

        Warns:
            SolutionWarning: as :meth:`Problem.solve`, for each scenario.
        """
        if backend(solver).stagewise:
            raise UnsupportedError(
                f"{solver}: scenarios are not one sequence of intervals; take another solver, as 'ipopt'"
            )
        for k, problem in enumerate(self.problems, start=1):
            if problem._cost is None:
                raise ArgumentError(f"Scenarios: scenario {k} minimises nothing; call its minimize")
        given = [None] * len(self.problems) if p is None else list(p)
        if len(given) != len(self.problems):
            raise ArgumentError(f"Scenarios: p has {len(given)} entries; give one for each of {len(self.problems)}")
        known = {name for problem in self.problems for name in problem._parameters.symbols}
        for name in values:
            if name not in known:
                raise UnknownNameError("parameter of the problems", name, sorted(known))
        for problem, each in zip(self.problems, given, strict=True):
            own = {name: value for name, value in values.items() if name in problem._parameters.symbols}
            problem._set(each, own)
        solution = _Joined(self.problems, self.cost, solver, checked_options("solve", options)).solution()
        if not solution.solved:
            raise OptimizationError(solution)
        for k, scenario in enumerate(solution.scenarios, start=1):
            for doubt in doubts(scenario):
                warnings.warn(f"{scenario.dyn.tree.name}, scenario {k}: {doubt}", SolutionWarning, stacklevel=2)
        return solution


class _Joined:
    """The programs of all scenarios as one, whose variables are those of the first and what the others do not share.

    The largest cost is the mean and what it is above the mean, a variable: the mean keeps the curvature of the cost
    while the multipliers of the scenarios are not found. Each scenario has a scalar row, because CasADi 3.8 loses
    entries of the Jacobian of a vector less a scalar in reverse mode.
    """

    def __init__(self, problems: Sequence[Problem], cost: str, solver: str, options: dict[str, Any]) -> None:
        self._parts = [problem._assembled() for problem in problems]
        self._numbers = [part.inputs.current() for part in self._parts]
        self._nlps = [
            NLP(
                part.motion,
                part.modes,
                part.opti,
                part.inputs.filled(0.25),
                part.inputs.filled(0.5),
                stagewise=False,
            )
            for part in self._parts
        ]
        self._share()
        z = ca.MX.sym("z", self._size)
        programs = [
            ca.Function("program", [nlp.problem["x"], nlp.problem["p"]], [nlp.problem["f"], nlp.problem["g"]])
            for nlp in self._nlps
        ]
        p = [nlp.problem["p"] for nlp in self._nlps]
        found = [
            program.call([ca.DM(factor) * z[where.tolist()], each], True, False)
            for program, factor, where, each in zip(programs, self._factors, self._where, p, strict=True)
        ]
        costs = ca.vertcat(*(f for f, _ in found))
        self.problem = {"x": z, "p": ca.vertcat(*p), "f": ca.sum1(costs), "g": ca.vertcat(*(g for _, g in found))}
        self._worst = cost == "worst"
        mean = self.problem["f"] / len(self._nlps)
        if cost == "mean":
            self.problem["f"] = mean
        if self._worst:
            above = ca.MX.sym("above")
            self.problem |= {
                "x": ca.vertcat(z, above),
                "f": mean + above,
                "g": ca.vertcat(self.problem["g"], *(f - mean - above for f, _ in found)),
            }
        self._costs = ca.Function("costs", [z, self.problem["p"]], [costs])
        self._solver = nlpsol(solver, self.problem, backend(solver).options, options)

    def _share(self) -> None:
        """Where the variables of each program are among all, and what these are to be multiplied by."""
        first = self._nlps[0]
        common, sizes = _shared(first)
        self._size = first.size
        self._where, self._factors = [np.arange(first.size)], [np.ones(first.size)]
        for nlp in self._nlps[1:]:
            own, own_sizes = _shared(nlp)
            where, factors = np.full(nlp.size, -1), np.ones(nlp.size)
            where[own], factors[own] = common, sizes / own_sizes
            others = np.flatnonzero(where < 0)
            where[others] = self._size + np.arange(len(others))
            self._size += len(others)
            self._where.append(where)
            self._factors.append(factors)

    def _limits(self) -> dict[str, Array]:
        """lbx, ubx, lbg, ubg."""
        lbx, ubx = np.full(self._size, -np.inf), np.full(self._size, np.inf)
        lbg, ubg = [], []
        for nlp, p, where, factors in zip(self._nlps, self._numbers, self._where, self._factors, strict=True):
            found = {name: each.full().ravel() for name, each in nlp.limits(p=p).items()}
            lbx[where] = np.maximum(lbx[where], found["lbx"] / factors)
            ubx[where] = np.minimum(ubx[where], found["ubx"] / factors)
            lbg.append(found["lbg"])
            ubg.append(found["ubg"])
        if self._worst:
            lbx, ubx = np.append(lbx, -np.inf), np.append(ubx, np.inf)
            lbg.append(np.full(len(self._nlps), -np.inf))
            ubg.append(np.zeros(len(self._nlps)))
        return {"lbx": lbx, "ubx": ubx, "lbg": np.concatenate(lbg), "ubg": np.concatenate(ubg)}

    def _initial(self) -> Array:
        """The guesses of all; what they share is the mean of them."""
        total, counts = np.zeros(self._size), np.zeros(self._size)
        for nlp, part, where, factors in zip(self._nlps, self._parts, self._where, self._factors, strict=True):
            total[where] += nlp.scaled(part.initial(None)) / factors
            counts[where] += 1
        return total / counts

    def solution(self) -> ScenariosSolution:
        """What the solver finds."""
        z, p, limits = self._initial(), np.concatenate(self._numbers), self._limits()
        if np.any(limits["lbx"] > limits["ubx"]):
            return self._read(z, np.nan, {"return_status": "Invalid_Problem_Definition", "success": False})
        begin = np.append(z, np.abs(self._costs(z, p).full()).max()) if self._worst else z
        try:
            found = self._solver(x0=begin, p=p, **limits)
        except RuntimeError as error:
            raise ArgumentError(f"solve: CasADi refuses the problem: {last_line(error)}") from error
        return self._read(found["x"].full().ravel()[: self._size], float(found["f"]), self._solver.stats())

    def _read(self, z: Array, cost: float, stats: Mapping[str, Any]) -> ScenariosSolution:
        status, solved = str(stats["return_status"]), bool(stats["success"])
        scenarios = tuple(
            part.report(nlp.unscaled(factors * z[where]), p, status, stats, solved)
            for part, nlp, p, where, factors in zip(
                self._parts, self._nlps, self._numbers, self._where, self._factors, strict=True
            )
        )
        return ScenariosSolution(
            scenarios,
            status,
            int(stats.get("iter_count", 0)),
            cost,
            max(each.constraint_violation for each in scenarios),
            {
                f"scenario {k}: {name}": x
                for k, each in enumerate(scenarios, start=1)
                for name, x in each.violations.items()
            },
            dict(stats),
            solved,
        )


def _shared(nlp: NLP) -> tuple[npt.NDArray[Any], Array]:
    """The variables u and the constants of a motion in a program, and their sizes."""
    motion = nlp.motion
    return nlp.positions(ca.veccat(motion.u, motion.state[motion.x.shape[0] :, 0]))


def _checked(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    if not isinstance(problems, Sequence) or not all(isinstance(each, Problem) for each in problems):
        raise ArgumentTypeError(f"Scenarios: got {type(problems).__name__}; give a list of gd.ocp.Problem")
    if len(problems) < 2 or len(set(map(id, problems))) < len(problems):
        raise ArgumentError("Scenarios: give at least two problems, each once")
    first = _kind(problems[0])
    for k, problem in enumerate(problems[1:], start=2):
        for (what, own), expected in zip(_kind(problem).items(), first.values(), strict=True):
            if own != expected:
                raise ArgumentError(
                    f"Scenarios: {what} of scenario {k}: {own}, of the first one: {expected}; they share u, so give "
                    "the same"
                )
    return tuple(problems)


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
