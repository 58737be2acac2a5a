"""Phases: motions of a robot in sequence, under different constraints."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.model.configuration import random_configuration
from gdalembert.ocp.backends import backend, checked_options, last_line, nlpsol
from gdalembert.ocp.junctions import Junction
from gdalembert.ocp.nlp import NLP
from gdalembert.ocp.problem import Problem
from gdalembert.ocp.programs import Assembly
from gdalembert.ocp.solution import OptimizationError, Solution, SolutionWarning, doubts
from gdalembert.ocp.systems import Robot
from gdalembert.ocp.transcription import checked_duration
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arrays import Array

_ALIKE = 1e-9
"""The relative difference of two mass matrices of one robot, whose constants may be cleaned otherwise."""


@dataclass(frozen=True, eq=False)
class PhasesSolution:
    """The motions that solve a problem in phases.

    Attributes:
        phases: the solution of each phase; their times begin at 0.
        impulses: those of the constraints (nc) at the start of each phase [N s, N m s]; none where nothing takes hold.
        status, iterations, stats: of the solver. ``cost``: its minimum, the sum of the phases' costs.
        constraint_violation: the largest of any equation or inequality.
        violations: by name, the largest violation of each kind, in each phase and where they meet.
        solved: whether the solver found it.
    """

    phases: tuple[Solution, ...]
    impulses: tuple[Array, ...]
    status: str
    iterations: int
    cost: float
    constraint_violation: float
    violations: dict[str, float]
    stats: dict[str, Any]
    solved: bool

    @property
    def dyn(self) -> Robot:
        """The robot of the first phase."""
        return self.phases[0].dyn

    @property
    def duration(self) -> float:
        """Duration of all phases [s]."""
        return float(sum(phase.duration for phase in self.phases))

    @property
    def t(self) -> Array:
        """Times of the grids of all phases [s]; where two meet, there are two rows, before and after an impact."""
        starts = np.cumsum([0.0, *(phase.duration for phase in self.phases[:-1])])
        return np.concatenate([start + phase.t for start, phase in zip(starts, self.phases, strict=True)])

    @property
    def q(self) -> Array:
        """A row for each of these times."""
        return np.vstack([phase.q for phase in self.phases])

    @property
    def v(self) -> Array:
        """A row for each of these times."""
        return np.vstack([phase.v for phase in self.phases])

    @property
    def step_error(self) -> float:
        """The largest of any phase."""
        return max(phase.step_error for phase in self.phases)

    @property
    def excess(self) -> dict[str, float]:
        """:attr:`Solution.excess` of all phases, by names with the number of the phase."""
        return {f"phase {k + 1}: {name}": x for k, phase in enumerate(self.phases) for name, x in phase.excess.items()}

    def simulate(self, **options: Any) -> list[Simulation]:
        """Each phase under its u, from its start: :meth:`Solution.simulate`."""
        return [phase.simulate(**options) for phase in self.phases]

    def __str__(self) -> str:
        head = (
            f"{self.dyn.tree.name}: {self.status} after {self.iterations} iterations: cost {self.cost:.6g}, "
            f"{self.duration:.6g} s in {len(self.phases)} phases, constraints violated by "
            f"{self.constraint_violation:.1e}"
        )
        rows = []
        for k, (phase, impulses) in enumerate(zip(self.phases, self.impulses, strict=True)):
            hit = f", after impulses up to {np.abs(impulses).max():.3g} N s or N m s" if impulses.size else ""
            rows.append(f"  phase {k + 1}: {phase.duration:.4g} s, steps off by {phase.step_error:.1e}{hit}")
        return "\n".join([head, *rows])


class Phases:
    """Problems of one robot in sequence: each is a phase with constraints of its own, and goes on where the last ends.

        stance = Problem(on_feet, (0.1, 0.4), 8, bounds=bounds)
        flight = Problem(dyn, (0.1, 0.4), 6, bounds=bounds)
        landing = Problem(on_feet, 0.3, 8, bounds=bounds)
        stance.start(q)
        landing.end(q)
        landing.minimize(landing.integral(lambda u: ca.sumsqr(u)))
        solution = Phases([stance, flight, landing]).solve()

    q goes on from phase to phase. So does v where constraints are released. Where others take hold, M (v⁺ − v⁻) = Jᵀ Λ,
    with the impulses Λ of all constraints of the next phase as unknowns, in the friction cones of that phase, and J v⁺
    = 0. The cost is the sum of the costs of the phases.

    Args:
        problems: of one robot, with or without constraints, at least two.
        duration: of all phases [s], or (shortest, longest); by default whatever the phases take.

    Raises:
        ArgumentTypeError, ArgumentError: if they are no problems of one robot, one has a design, or a constraint that
            takes hold has a restitution.
        UnsupportedError: if redundant rows combine constraints that hold already with others.
    """

    def __init__(self, problems: Sequence[Problem], *, duration: float | tuple[float, float] | None = None) -> None:
        self.problems = _checked(problems)
        total = (0.0, np.inf) if duration is None else checked_duration(duration)
        self._range = total if isinstance(total, tuple) else (total, total)
        self._junctions = [Junction(*pair) for pair in zip(self.problems, self.problems[1:], strict=False)]

    def __repr__(self) -> str:
        return f"Phases([{', '.join(map(repr, self.problems))}])"

    def solve(
        self,
        solver: str = "ipopt",
        options: Mapping[str, Any] | None = None,
        *,
        p: Values = None,
        **values: npt.ArrayLike,
    ) -> PhasesSolution:
        """Solve all phases at once.

        A phase begins at its own guess, or between the configurations that are fixed next to it.

        Args:
            solver, options: as of :meth:`Problem.solve`.
            p: the parameters of the robot, as of :meth:`Problem.solve`.
            values: the parameters of the problems by name; those of the same name get the same value.

        Raises:
            ArgumentError: if no phase has a cost, no configuration is known, or as :meth:`Problem.solve`.
            UnknownNameError: if no problem has a parameter of a name.
            UnsupportedError: if the solver needs one sequence of intervals, as ``"fatrop"``.
            OptimizationError: if the solver stops without a solution; it has the last iterate.

        Warns:
            SolutionWarning: as :meth:`Problem.solve`, for each phase.
        """
        if backend(solver).stagewise:
            raise UnsupportedError(
                f"{solver}: phases are not one sequence of intervals; take another solver, as 'ipopt'"
            )
        if not any(problem._cost is not None for problem in self.problems):
            raise ArgumentError("nothing is to be minimised; call minimize of at least one phase")
        known = {name for problem in self.problems for name in problem._parameters.symbols}
        for name in values:
            if name not in known:
                raise UnknownNameError("parameter of the problems", name, sorted(known))
        takes_p = any(problem.dyn.parameters for problem in self.problems)
        for problem in self.problems:
            own = {name: value for name, value in values.items() if name in problem._parameters.symbols}
            problem._set(p if problem.dyn.parameters or not takes_p else None, own)
        self._set_boundaries()
        solution = self._joined(solver, checked_options("solve", options)).solution()
        if not solution.solved:
            raise OptimizationError(solution)
        for k, phase in enumerate(solution.phases):
            for doubt in doubts(phase):
                warnings.warn(f"{phase.dyn.tree.name}, phase {k + 1}: {doubt}", SolutionWarning, stacklevel=2)
        return solution

    def _joined(self, solver: str, options: Mapping[str, Any]) -> _Joined:
        """The program of all phases, as the problems are now."""
        with contextlib.ExitStack() as stack:
            for junction in self._junctions:
                stack.enter_context(junction.connected())
            return _Joined(self.problems, self._junctions, self._range, solver, options)

    def _set_boundaries(self) -> None:
        """Tell phases without a guess the configurations that are known next to them."""
        known: list[Array | None] = [None] * (len(self.problems) + 1)
        for k, problem in enumerate(self.problems):
            start, end = (each.configuration(None) for each in problem._ends)
            known[k] = known[k] if start is None else start
            known[k + 1] = end
        there = [k for k, q in enumerate(known) if q is not None]
        for k, problem in enumerate(self.problems):
            if there:
                first, last = (known[min(there, key=lambda n: abs(n - at))] for at in (k, k + 1))
                problem._initial.nearby = first, last


class _Joined:
    """The programs of all phases and their junctions as one."""

    def __init__(
        self,
        problems: Sequence[Problem],
        junctions: Sequence[Junction],
        duration: tuple[float, float],
        solver: str,
        options: Mapping[str, Any],
    ) -> None:
        self._junctions = junctions
        self._parts: list[Assembly] = [problem._assembled() for problem in problems]
        self._numbers = [part.inputs.current() for part in self._parts]
        self._nlps = [
            NLP(part.motion, part.modes, part.opti, part.inputs.filled(0.25), part.inputs.filled(0.5), stagewise=False)
            for part in self._parts
        ]
        impulses = [junction.impulses for junction in junctions]
        total = sum((part.motion.duration for part in self._parts), ca.MX(0))
        symbols = [symbol for part in self._parts for symbol in (part.opti.x, part.opti.p)]
        rows = ca.vertcat(*(junction.rows for junction in junctions))
        margins = ca.vertcat(ca.MX(0, 1), *(junction.margins for junction in junctions))
        linked = ca.Function("junctions", [*symbols, *impulses], [rows, margins, total])
        beyond = ca.fmax(ca.fmax(duration[0] - total, total - duration[1]), 0)
        slips = ca.fmax(ca.mmax(-margins), 0) if margins.numel() else ca.MX(0)
        self._at = ca.Function("junctions", [*symbols, *impulses], [ca.norm_inf(rows), slips, beyond])
        scaled = [ca.MX.sym("z", junction.impulses.shape[0]) for junction in junctions]
        self._sizes = [junction.size for junction in junctions]
        inputs = [each for nlp in self._nlps for each in (nlp.unscaled(nlp.problem["x"]), nlp.problem["p"])]
        unscaled = [size * z for size, z in zip(self._sizes, scaled, strict=True)]
        links = linked.call([*inputs, *unscaled], True, False)
        self._z = [nlp.problem["x"] for nlp in self._nlps] + scaled
        self.problem = {
            "x": ca.vertcat(*self._z),
            "p": ca.vertcat(*(nlp.problem["p"] for nlp in self._nlps)),
            "f": sum((nlp.problem["f"] for nlp in self._nlps), ca.MX(0)),
            "g": ca.vertcat(*(nlp.problem["g"] for nlp in self._nlps), *links),
        }
        self._lower = [np.zeros(rows.shape[0]), np.zeros(margins.shape[0]), np.array([duration[0]])]
        self._upper = [np.zeros(rows.shape[0]), np.full(margins.shape[0], np.inf), np.array([duration[1]])]
        self._solver = nlpsol(solver, self.problem, backend(solver).options, options)

    def limits(self) -> dict[str, Array]:
        """lbx, ubx, lbg, ubg."""
        limits = [nlp.limits(p=x) for nlp, x in zip(self._nlps, self._numbers, strict=True)]
        free = np.full(sum(each.numel() for each in self._z[len(self._nlps) :]), np.inf)
        more = {"lbx": [-free], "ubx": [free], "lbg": self._lower, "ubg": self._upper}
        return {
            name: np.concatenate([*(each[name].full().ravel() for each in limits), *rest])
            for name, rest in more.items()
        }

    def solution(self) -> PhasesSolution:
        """What the solver finds."""
        begin = [nlp.scaled(part.initial(None)) for nlp, part in zip(self._nlps, self._parts, strict=True)]
        begin += [np.zeros(each.numel()) for each in self._z[len(begin) :]]
        try:
            found = self._solver(x0=np.concatenate(begin), p=np.concatenate(self._numbers), **self.limits())
        except RuntimeError as error:
            raise ArgumentError(f"solve: CasADi refuses the problem: {last_line(error)}") from error
        self.found = found["x"].full().ravel()
        return self._read(self.found, float(found["f"]), self._solver.stats())

    def _read(self, z: Array, cost: float, stats: Mapping[str, Any]) -> PhasesSolution:
        status, solved = str(stats["return_status"]), bool(stats["success"])
        parts = np.split(z, np.cumsum([each.numel() for each in self._z])[:-1])
        states = [nlp.unscaled(part) for nlp, part in zip(self._nlps, parts, strict=False)]
        impulses = [size * part for size, part in zip(self._sizes, parts[len(states) :], strict=True)]
        phases = tuple(
            part.report(x, p, status, stats, solved)
            for part, x, p in zip(self._parts, states, self._numbers, strict=True)
        )
        inputs = [each for pair in zip(states, self._numbers, strict=True) for each in pair]
        gaps = (float(each) for each in self._at.call([*inputs, *impulses]))
        joints = dict(zip(("junctions of the phases", "friction of impulses", "duration"), gaps, strict=True))
        of_constraints = [each.of_constraints(x) for each, x in zip(self._junctions, impulses, strict=True)]
        violations = {
            f"phase {k + 1}: {name}": x for k, phase in enumerate(phases) for name, x in phase.violations.items()
        }
        return PhasesSolution(
            phases,
            (np.zeros(0), *of_constraints),
            status,
            int(stats.get("iter_count", 0)),
            cost,
            max(*joints.values(), *(phase.constraint_violation for phase in phases)),
            joints | violations,
            dict(stats),
            solved,
        )


def _checked(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    if not isinstance(problems, Sequence) or not all(isinstance(each, Problem) for each in problems):
        raise ArgumentTypeError(f"Phases: got {type(problems).__name__}; give a list of gd.ocp.Problem")
    if len(problems) < 2 or len(set(map(id, problems))) < len(problems):
        raise ArgumentError("Phases: give at least two problems, each once")
    first = problems[0].dyn.tree
    for k, tree in _trees(problems):
        if (tree.name, tree.nq, tree.nv) != (first.name, first.nq, first.nv):
            raise ArgumentError(
                f"Phases: phase {k} is of {tree.name!r}, the first one of {first.name!r}; give one robot"
            )
    for k, problem in enumerate(problems[1:], start=2):
        if not _moves_alike(problems[0]._system.dynamics, problem._system.dynamics):
            raise ArgumentError(
                f"Phases: phase {k} has another mass matrix than the first one, and momentum would jump; give one "
                "robot, with what varies as parameters"
            )
    if any(problem._robot.chosen for problem in problems):
        raise ArgumentError("Phases: a phase has a design, which would differ from phase to phase; drop design")
    return tuple(problems)


def _moves_alike(one: Dynamics, other: Dynamics) -> bool:
    """Whether both have one mass matrix, in a random configuration and with the parameters of their models."""
    if one is other:
        return True
    q = ca.evalf(random_configuration(one.tree, np.random.default_rng(0)))
    matrices = [np.array(dyn.at().mass_matrix(q)) for dyn in (one, other)]
    return float(np.abs(matrices[0] - matrices[1]).max()) <= _ALIKE * float(np.abs(matrices[0]).max())


def _trees(problems: Sequence[Problem]) -> Iterator[tuple[int, Any]]:
    return enumerate((problem.dyn.tree for problem in problems), start=1)
