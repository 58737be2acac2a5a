"""Phases: motions of a robot in sequence, under different constraints."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.configuration import random_configuration
from gdalembert.ocp.dependence import Label
from gdalembert.ocp.joined import JoinedNLP, JoinedProblems, JoinedProgram, checked_problems, split
from gdalembert.ocp.joined_solution import JoinedSolution
from gdalembert.ocp.junctions import Junction
from gdalembert.ocp.places import NOWHERE, Indices, Places
from gdalembert.ocp.problem import Problem
from gdalembert.ocp.relations import Relation
from gdalembert.ocp.solution import Solution
from gdalembert.ocp.transcription import checked_duration
from gdalembert.spatial.arrays import Array

RELATIONS = "constraints of several phases"
"""The name of those that :meth:`Phases.subject_to` adds."""
_ALIKE = 1e-9
"""The relative difference of two mass matrices of one robot, whose constants may be cleaned otherwise."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PhasesSolution(JoinedSolution):
    """The motions that solve a problem in phases.

    Attributes:
        phases: the solution of each phase; their times begin at 0.
        impulses: those of the constraints (nc) at the start of each phase [N s, N m s]; none where nothing takes hold.
        status, iterations, stats: of the solver. ``cost``: its minimum, the sum of the phases' costs.
        constraint_violation: the largest of any equation or inequality.
        violations: by name, the largest violation of each kind, in each phase and where they meet.
        solved: whether the solver found it.
        hints: as of a :class:`Solution`.
    """

    kind: ClassVar[str] = "phase"

    phases: tuple[Solution, ...]
    impulses: tuple[Array, ...]

    @property
    def parts(self) -> tuple[Solution, ...]:
        """The solution of each phase."""
        return self.phases

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
    def u(self) -> Array:
        """A row for each of these times; where u is constant, that of the interval that begins there.

        Raises:
            ArgumentError: if actuators or the kind of control differ from phase to phase.
        """
        if len({(phase.control, phase.bounds.u_names) for phase in self.phases}) > 1:
            raise ArgumentError("u of phases: their actuators or their control differ; take u of each of phases")
        return np.vstack([phase._rows_of_u for phase in self.phases])

    @property
    def control(self) -> str:
        """As of the first phase: ``"constant"`` or ``"linear"``."""
        return self.phases[0].control

    def _about(self, k: int, part: Solution) -> str:
        impulses = self.impulses[k]
        hit = f", after impulses up to {np.abs(impulses).max():.3g} N s or N m s" if impulses.size else ""
        return f"{part.duration:.4g} s, steps off by {part.step_error:.1e}{hit}"


class Phases(JoinedProblems[PhasesSolution]):
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
        self._relations: list[Relation] = []
        self._junctions = [Junction(*pair) for pair in zip(self.problems, self.problems[1:], strict=False)]

    def __repr__(self) -> str:
        return f"Phases([{', '.join(map(repr, self.problems))}])"

    def subject_to(self, constraint: ca.MX) -> None:
        """Add a constraint of the variables of several phases, as ``last.q[:, -1] == first.q[:, 0]`` of a gait.

        Those of one phase are added to its ``opti``.

        Args:
            constraint: an equation or inequality of two expressions, by ``==``, ``<=`` or ``>=``.

        Raises:
            ArgumentTypeError, ArgumentError: if it is none, or has symbols that are none of the problems.
        """
        known = [symbol for problem in self.problems for symbol in problem.opti.advanced.symvar()]
        self._relations.append(Relation(constraint, known))

    def _check_costs(self) -> None:
        if not any(problem._cost is not None for problem in self.problems):
            raise ArgumentError("nothing is to be minimised; call minimize of at least one phase")

    def _each_p(self, p: Any) -> Sequence[Values]:
        takes_p = any(problem.dyn.parameters for problem in self.problems)
        return [p if problem.dyn.parameters or not takes_p else None for problem in self.problems]

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        """While each phase asks of its start only what does not hold already at the end of the one before."""
        with contextlib.ExitStack() as stack:
            for junction in self._junctions:
                stack.enter_context(junction.connected())
            for problem in self.problems:
                for closing in problem._closings:
                    closing.prepare()
            yield

    def _program(self) -> _PhasesProgram:
        self._set_boundaries()
        with self._connected():
            return _PhasesProgram(self)

    def _set_boundaries(self) -> None:
        """Tell phases without a guess the configurations that are known next to them."""
        known: list[Array | None] = [None] * (len(self.problems) + 1)
        for k, problem in enumerate(self.problems):
            guess = problem._initial._guess
            guessed = (None, None) if guess is None else (guess.q[0], guess.q[-1])
            fixed = (each.configuration(None) for each in problem._ends)
            start, end = (q if x is None else x for x, q in zip(fixed, guessed, strict=True))
            known[k] = known[k] if start is None else start
            known[k + 1] = end
        there = [k for k, q in enumerate(known) if q is not None]
        for k, problem in enumerate(self.problems):
            if there:
                first, last = (known[min(there, key=lambda n: abs(n - at))] for at in (k, k + 1))
                problem._initial.nearby = first, last


class _Link(NamedTuple):
    """What connects phases, by the name of its violations."""

    name: str
    rows: ca.MX
    lower: Array
    upper: Array

    @property
    def equal(self) -> Indices:
        """Whether each row is an equation."""
        return np.equal(self.lower, self.upper)

    def violation(self, rows: Array) -> float:
        """The largest one, at the values of ``rows``."""
        return float(np.maximum(self.lower - rows, rows - self.upper).max(initial=0.0))


class _PhasesProgram(JoinedProgram[PhasesSolution]):
    """The programs of all phases and their junctions as one."""

    def __init__(self, phases: Phases) -> None:
        super().__init__("phase", phases.problems)
        self._phases, self._junctions = phases, list(phases._junctions)
        nlps, impulses = [part.nlp for part in self.parts], [each.impulses for each in self._junctions]
        scaled = [ca.MX.sym("z", each.shape[0]) for each in impulses]
        self._z = [nlp.problem["x"] for nlp in nlps] + scaled
        self._links = list(self._all_links())
        inputs = [*self.symbols, *impulses]
        self._linked = ca.Function("links", inputs, [link.rows for link in self._links])
        problem = {
            "x": ca.vertcat(*self._z),
            "p": ca.vertcat(*(nlp.problem["p"] for nlp in nlps)),
            "f": sum((nlp.problem["f"] for nlp in nlps), ca.MX(0)),
        }
        unscaled = [*self.unscaled(problem["x"], problem["p"]), *self._impulses(problem["x"])]
        links = self._linked.call(unscaled, True, False)
        problem["g"] = ca.vertcat(*(nlp.problem["g"] for nlp in nlps), *links)
        equal = np.concatenate([*(nlp.equal for nlp in nlps), *(link.equal for link in self._links)])
        nowhere = [Places(np.zeros(n, dtype=int), np.full(n, NOWHERE)) for n in (problem["x"].numel(), len(equal))]
        self.nlp = JoinedNLP("phase", problem, self._limits(problem["p"]), equal, *nowhere)

    def _all_links(self) -> Iterator[_Link]:
        """What connects the phases."""
        rows = ca.vertcat(*(each.rows for each in self._junctions))
        margins = ca.vertcat(ca.MX(0, 1), *(each.margins for each in self._junctions))
        relations = self._phases._relations
        for each in relations:
            each.check(ca.symvar(ca.veccat(*self.symbols)))
        own = ca.vertcat(ca.MX(0, 1), *(each.rows for each in relations))
        total = sum((part.motion.duration for part in self.parts), ca.MX(0))
        zeros = [np.zeros(each.shape[0]) for each in (rows, margins, own)]
        yield _Link("junctions of the phases", rows, zeros[0], zeros[0])
        yield _Link("friction of impulses", margins, zeros[1], np.full(len(zeros[1]), np.inf))
        least = np.concatenate([np.zeros(0), *(each.least for each in relations)])
        yield _Link(RELATIONS, own, least, zeros[2])
        shortest, longest = self._phases._range
        yield _Link("duration", total, np.array([shortest]), np.array([longest]))

    def _limits(self, p: ca.MX) -> ca.Function:
        """(p) → (lbx, ubx, lbg, ubg)."""
        found = [part.nlp.limits(p=own) for part, own in zip(self.parts, self.split_numbers(p), strict=True)]
        free = ca.inf * ca.DM.ones(sum(each.numel() for each in self._z[len(self.parts) :]))
        more: dict[str, list[Any]] = {
            "lbx": [-free],
            "ubx": [free],
            "lbg": [link.lower for link in self._links],
            "ubg": [link.upper for link in self._links],
        }
        limits = [ca.vertcat(*(each[name] for each in found), *rest) for name, rest in more.items()]
        return ca.Function("limits", [p], limits, ["p"], list(more))

    def each_p(self, p: Any) -> Sequence[Values]:
        return self._phases._each_p(p)

    def numbers(self, where: str, p: Any, values: Mapping[str, Any]) -> Array:
        with self._phases._connected():
            return super().numbers(where, p, values)

    def current(self) -> Array:
        with self._phases._connected():
            return super().current()

    def expression(self) -> ca.MX:
        with self._phases._connected():
            return super().expression()

    def begin(self, guess: Any) -> Array:
        """The guesses of all, without impulses."""
        self._phases._set_boundaries()
        guesses = self.scaled_guesses(guess)
        return np.concatenate([*guesses, *(np.zeros(each.numel()) for each in self._z[len(guesses) :])])

    def checked_shift(self, shift: int) -> int:
        if shift:
            raise ArgumentError(
                f"solver: shift: got {shift!r}; phases cannot be shifted, since their intervals differ; leave it out"
            )
        return 0

    def scaled(self, z: Any) -> list[Any]:
        return self._split(z)[: len(self.parts)]

    def labels(self) -> tuple[list[Label], dict[int, Label]]:
        rows: list[Label] = []
        fixed: dict[int, Label] = {}
        firsts = np.cumsum([0, *(each.numel() for each in self._z)]).tolist()
        for (own, held), first in zip(self.part_labels(), firsts, strict=False):
            rows += own
            fixed |= {first + i: label for i, label in held.items()}
        for link in self._links:
            rows += [Label(link.name, "", link.name == RELATIONS)] * len(link.lower)
        return rows, fixed

    def _impulses(self, z: Any) -> list[Any]:
        """Those of the junctions."""
        pairs = zip(self._junctions, self._split(z)[len(self.parts) :], strict=True)
        return [junction.size * each for junction, each in pairs]

    def _split(self, z: Any) -> list[Any]:
        return split(z, [each.numel() for each in self._z])

    def rows(self, z: ca.MX, numbers: ca.MX) -> dict[str, ca.MX]:
        found, start, most = self.part_rows(z, numbers), ca.MX(0), max(part.motion.u.shape[0] for part in self.parts)
        for rows in found:
            u, t = rows["u"], rows["t"]
            rows["u"], rows["t"] = ca.vertcat(u, ca.MX(most - u.shape[0], u.shape[1])), ca.vec(t) + start
            start = rows["t"][-1]
        rows = {key: ca.horzcat(*(each[key] for each in found)) for key in ("q", "v", "u")}
        return rows | {"t": ca.vertcat(*(each["t"] for each in found))}

    def solution(self, z: Array, numbers: Array, status: str, stats: Mapping[str, Any], solved: bool) -> PhasesSolution:
        phases, impulses = self.part_solutions(z, numbers, status, stats, solved), self._impulses(z)
        values = self._linked.call([*self.unscaled(z, numbers), *impulses])
        links = {link.name: link.violation(rows.full().ravel()) for link, rows in zip(self._links, values, strict=True)}
        named = {f"phase {k}: {name}": x for k, each in enumerate(phases, 1) for name, x in each.violations.items()}
        pairs = zip(self._junctions, impulses, strict=True)
        return PhasesSolution(
            phases=phases,
            impulses=(np.zeros(0), *(junction.of_constraints(each) for junction, each in pairs)),
            status=status,
            iterations=phases[0].iterations,
            cost=self.cost(z, numbers),
            constraint_violation=max(*links.values(), *(each.constraint_violation for each in phases)),
            violations=links | named,
            stats=dict(stats),
            solved=solved,
        )


def _checked(given: Sequence[Problem]) -> tuple[Problem, ...]:
    problems = checked_problems("Phases", given)
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
    if any(problem._system.stiff for problem in problems):
        raise UnsupportedError(
            "Phases: fast modes of a phase follow their loads, so that deflections may jump to those of the next; give "
            "quasi_static=None to its Problem, or more intervals"
        )
    return problems


def _moves_alike(one: Dynamics, other: Dynamics) -> bool:
    """Whether both have one mass matrix, in a random configuration and with the parameters of their models."""
    if one is other:
        return True
    q = ca.evalf(random_configuration(one.tree, np.random.default_rng(0)))
    matrices = [np.array(dyn.at().mass_matrix(q)) for dyn in (one, other)]
    return float(np.abs(matrices[0] - matrices[1]).max()) <= _ALIKE * float(np.abs(matrices[0]).max())


def _trees(problems: Sequence[Problem]) -> Iterator[tuple[int, Any]]:
    return enumerate((problem.dyn.tree for problem in problems), start=1)
