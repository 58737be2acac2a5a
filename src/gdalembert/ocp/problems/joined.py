"""Several problems as one: phases, motions in sequence under different constraints; and scenarios, under one u.

Where two phases meet, q goes on, and v too, unless new constraints take hold by an impact:

    q⁺ = q⁻        M (v⁺ − v⁻) = Jᵀ Λ        J v⁺ = 0

with the impulses Λ of all constraints of the later phase as unknowns, as of ``ConstrainedDynamics.impact`` without
restitution. J v⁺ = 0 and c(q⁺) = 0 are what the later phase asks of its start; rows that hold already, because the
constraint holds in the phase before, are left out there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.model.configuration import difference, integrate, random_configuration
from gdalembert.model.tree import Tree
from gdalembert.nlp.backends import Backend
from gdalembert.nlp.entries import NOWHERE, Indices, Label
from gdalembert.nlp.joined_program import (
    MANY,
    free_variables,
    joined,
    largest,
    sharing,
    weighted,
)
from gdalembert.nlp.stage_program import StageProgram
from gdalembert.nlp.stage_terms import Rows, StageTerm, Variables
from gdalembert.ocp.ends.ends import LastInput
from gdalembert.ocp.formulation import equations
from gdalembert.ocp.joined_solution import PhasesSolution, ScenariosSolution, joined_outcome
from gdalembert.ocp.problems.problem import Problem
from gdalembert.ocp.program import OptimalControlProblem, Part, Program, own_values
from gdalembert.ocp.real_time.sequences import RealTimePhases
from gdalembert.ocp.solution import JoinedSolution, Solution
from gdalembert.ocp.stage import checked_duration
from gdalembert.ocp.system.constraints import Relation, Whole, relation
from gdalembert.spatial.arguments import choice
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import first_of
from gdalembert.spatial.expressions import foreign

Joint = TypeVar("Joint", bound=JoinedSolution)

_JUNCTIONS, _FRICTION = "junctions of the phases", "friction of impulses"
_RELATIONS, _DURATION = "constraints of several phases", "duration"
_LINKS = (_JUNCTIONS, _FRICTION, _RELATIONS, _DURATION)
"""The names of what connects phases."""
_ALIKE = 1e-9
"""The relative difference of two mass matrices of one robot, whose constants may be cleaned otherwise."""


class JoinedProblems(OptimalControlProblem[Joint]):
    """Problems that are solved as one: at least two, each once."""

    problems: tuple[Problem, ...]

    @property
    def _robot_name(self) -> str:
        return self.problems[0].dyn.tree.name

    def _set(self, p: Any, values: Mapping[str, Any]) -> None:
        own = own_values(values, [problem._parameters.symbols for problem in self.problems])
        self._check_costs()
        for problem, numbers, named in zip(self.problems, self._each_p(p), own, strict=True):
            problem._set(numbers, named)

    def _parts(self, *, stagewise: bool) -> list[Part]:
        return [problem._part() for problem in self.problems]

    def _label(self, k: int) -> str:
        return f"{self._kind} {k}: "

    def _each_guess(self, guess: Any) -> Sequence[Any]:
        if guess is None:
            return [None] * len(self.problems)
        guesses = guess.parts if isinstance(guess, JoinedSolution) else guess
        if not isinstance(guesses, Sequence) or len(guesses) != len(self.problems):
            raise ArgumentTypeError(
                f"solver: guess: got {type(guess).__name__}; give a solution of these {self._kind}s, or a list of "
                f"{len(self.problems)} guesses"
            )
        return guesses


def checked_problems(what: str, problems: Any) -> tuple[Problem, ...]:
    """Checks for at least two problems, each once; an ArgumentTypeError or an ArgumentError if they are not."""
    if not isinstance(problems, Sequence) or not all(isinstance(each, Problem) for each in problems):
        raise ArgumentTypeError(f"{what}: got {type(problems).__name__}; give a list of gd.ocp.Problem")
    if len(problems) < 2 or len(set(map(id, problems))) < len(problems):
        raise ArgumentError(f"{what}: give at least two problems, each once")
    return tuple(problems)


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
    = 0. The rate ``du`` of u in the first interval of a phase counts from the last u of the phase before, if both have
    the same actuators, unless the phase has a ``start(u=…)``. The cost is the sum of the costs of the phases.

    ``"fatrop"`` takes phases that nothing but their junctions connects. ``solver("rti")`` takes those of fixed lengths:
    it is a :class:`~gdalembert.ocp.RealTimePhases`.

    Args:
        problems: of one robot, with or without constraints, at least two.
        duration: of all phases [s], or (shortest, longest); by default whatever the phases take.

    Raises:
        ArgumentTypeError, ArgumentError: if they are no problems of one robot, one has a design, or a constraint that
            takes hold has a restitution.
        UnsupportedError: if redundant rows combine constraints that hold already with others; or if other fast modes
            of a flexible arm follow their loads (``quasi_static``) in one phase than in another.
    """

    _kind = "phase"
    _unshiftable = "phases cannot be shifted, since their intervals differ"

    def __init__(self, problems: Sequence[Problem], *, duration: float | tuple[float, float] | None = None) -> None:
        self.problems = _checked(problems)
        total = (0.0, np.inf) if duration is None else checked_duration(duration)
        self._range = total if isinstance(total, tuple) else (total, total)
        self._relations: list[Relation] = []
        self._junctions = [Junction(*pair) for pair in zip(self.problems, self.problems[1:], strict=False)]

    def __repr__(self) -> str:
        return f"Phases([{first_of([*map(repr, self.problems)])}])"

    def subject_to(self, constraint: ca.MX) -> None:
        """Add a constraint of the variables of several phases, as ``last.q[:, -1] == first.q[:, 0]`` of a gait.

        Those of one phase are added to it: ``landing.subject_to(…)``.

        Args:
            constraint: an equation or inequality of two expressions, by ``==``, ``<=`` or ``>=``.

        Raises:
            ArgumentTypeError, ArgumentError: if it is none, or has symbols that are none of the problems.
        """
        rows, lower, upper = relation("subject_to", constraint)
        known = [x for problem in self.problems for x in (*problem._motion.variables, *problem._symbols)]
        _check_symbols(rows, known)
        self._relations.append(Relation(Label(_RELATIONS, user=True), rows, lower, upper))

    def _check_costs(self) -> None:
        if not any(problem._cost is not None for problem in self.problems):
            raise ArgumentError("nothing is to be minimised; call minimize of at least one phase")

    def _each_p(self, p: Any) -> Sequence[Values]:
        takes_p = any(problem.dyn.parameters for problem in self.problems)
        return [p if problem.dyn.parameters or not takes_p else None for problem in self.problems]

    def real_time_solver(self, options: Mapping[str, Any] | None = None) -> RealTimePhases:
        if self._relations:
            raise UnsupportedError("rti: the phases have rows of subject_to; take 'ipopt'")
        shortest, longest = (sum(problem._motion.range[end] for problem in self.problems) for end in (0, 1))
        if not (self._range[0] <= longest and shortest <= self._range[1]):
            raise ArgumentError(
                f"rti: the phases take {shortest:g} s, and Phases asks for {self._range[0]:g} to {self._range[1]:g} s; "
                "give durations that fit"
            )
        impacts = [(each.after._cones, ~each.known[0]) if each.takes_hold else None for each in self._junctions]
        problems = [problem._real_time_problem() for problem in self.problems]
        return RealTimePhases(problems, options or {}, impacts, self._each_guess)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        """While each phase asks of its start only what does not hold already at the end of the one before."""
        starts = [(endpoint, each.known) for each in self._junctions for endpoint in each.after._endpoints[:1]]
        alone = [(endpoint, endpoint.known) for endpoint, _ in starts]
        for endpoint, known in starts:
            endpoint.known = known
        try:
            for endpoint in (each for problem in self.problems for each in problem._endpoints):
                endpoint.prepare()
            yield
        finally:
            for endpoint, asked in alone:
                endpoint.known = asked

    def _parts(self, *, stagewise: bool) -> list[Part]:
        self._set_boundaries()
        goes_on = [junction.u_goes_on for junction in self._junctions]
        with self._connected():
            changes: list[dict[str, Any]] = [{"continues": k > 0} for k in range(len(self.problems))]
            for k in np.flatnonzero(goes_on).tolist():
                changes[k + 1]["before"] = LastInput(self.problems[k + 1].dyn.nu)
                if stagewise and self.problems[k + 1]._formulation().remembers:  # its last u is a state
                    changes[k]["remembers"] = self.problems[k].control == "constant"
            return [problem._part(**change) for problem, change in zip(self.problems, changes, strict=True)]

    def _each_guess(self, guess: Any) -> Sequence[Any]:
        self._set_boundaries()
        return super()._each_guess(guess)

    def _joined(self, parts: Sequence[Part], p: ca.MX, form: Backend) -> StageProgram:
        """The program of all phases.

        For solvers of stages an interval behind a junction has the start of its phase and the impulses beside its
        controls, as that behind a jump of a schedule: only the gaps connect intervals. Other solvers take the phases as
        they are, and what connects them behind all.
        """
        counts = [part.motion.intervals + (not form.stagewise) for part in parts]
        firsts = np.cumsum([0, *counts]).tolist()
        motions, segments = self._segments(parts, form, firsts)
        behind = [first if form.stagewise else NOWHERE for first in firsts[1:-1]]
        group = len(parts) * MANY
        impulses = [
            free_variables(group + k, interval, junction.size)
            for k, (junction, interval) in enumerate(zip(self._junctions, behind, strict=True))
        ]
        variables = joined([motions, *impulses])
        n = firsts[-1] if form.stagewise else firsts[-1] - 1
        states = [part.row_of_stages.states for part, count in zip(parts, counts, strict=True) for _ in range(count)]
        ends = len(motions.groups) + np.cumsum([0, *(junction.size.size for junction in self._junctions)])
        return StageProgram(
            segments,
            variables,
            self._links(parts, variables, behind, form),
            p,
            further=[np.arange(*pair) for pair in pairwise(ends.tolist())],
            intervals=n,
            states=[parts[0].row_of_stages.states, *states][: n + 1],
            overlap=next((part.motion.overlap for part in parts if part.motion.overlap), ""),
            equations_as_rows=form.equations_as_rows,
        )

    def _links(
        self, parts: Sequence[Part], variables: Variables, behind: Sequence[int], form: Backend
    ) -> list[StageTerm]:
        """Terms that connect the phases."""
        matrices = [x for part in parts for x in part.motion.variables]
        matrices += [junction.impulses for junction in self._junctions]
        numbers = [x for part in parts for x in part.inputs.symbols]
        whole, limited = Whole(matrices, variables.intervals, numbers), list[tuple[int | None, Rows, ca.MX]]()
        for junction, part, interval in zip(self._junctions, parts[1:], behind, strict=True):
            follows = junction.u_goes_on and part.remembers
            for rows in (junction.rows, junction.change_of_u) if follows else (junction.rows,):
                limited.append((interval, equations(_JUNCTIONS, rows.numel()), rows))
            zero = np.zeros(junction.margins.numel())
            limited.append((interval, Rows.unscaled(Label(_FRICTION), zero, zero + np.inf), junction.margins))
        elsewhere = None if form.stagewise else NOWHERE
        for link in self._relations:
            _check_symbols(link.rows, [*matrices, *numbers])
            limited.append((elsewhere, Rows.unscaled(link.label, link.lower, link.upper), link.rows))
        shortest, longest = (sum(problem._motion.range[end] for problem in self.problems) for end in (0, 1))
        # without this row, which is never active then, IPOPT's barrier takes other ways, by an iteration more or less
        if not form.stagewise or shortest < self._range[0] or self._range[1] < longest:
            total = sum((part.motion.duration for part in parts), ca.MX(0))
            limited.append((elsewhere, Rows.unscaled(Label(_DURATION), *np.array(self._range)[:, None]), total))
        alone = [whole.term([(rows, x)]) for at, rows, x in limited if at is None]
        places = sorted({at for at, _, _ in limited if at is not None})
        return [whole.term([(rows, x) for at, rows, x in limited if at == k], interval=k) for k in places] + alone

    def _rows(self, parts: list[dict[str, ca.MX]]) -> dict[str, ca.MX]:
        start, most = ca.MX(0), max(rows["u"].shape[0] for rows in parts)
        for rows in parts:
            u, t = rows["u"], rows["t"]
            rows["u"], rows["t"] = ca.vertcat(u, ca.MX(most - u.shape[0], u.shape[1])), ca.vec(t) + start
            start = rows["t"][-1]
        found = {key: ca.horzcat(*(each[key] for each in parts)) for key in ("q", "v", "u")}
        return found | {"t": ca.vertcat(*(each["t"] for each in parts))}

    def _solution(self, parts: tuple[Solution, ...], nlp: Any, z: Array, numbers: Array) -> PhasesSolution:
        outcome, links = joined_outcome(self._kind, parts, nlp.cost(z, numbers)), dict.fromkeys(_LINKS, 0.0)
        links |= {name: by for name, by in nlp.violations(z, numbers).items() if name in links}
        outcome["constraint_violation"] = max(outcome["constraint_violation"], *links.values())
        outcome["violations"] = links | outcome["violations"]
        impulses = (junction.of_all(x) for junction, x in zip(self._junctions, nlp.further(z), strict=True))
        return PhasesSolution(phases=parts, impulses=(np.zeros(0), *impulses), **outcome)

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
        lengths = [float(np.mean(problem._motion.range)) for problem in self.problems]
        found = _between(self.problems[0].dyn.tree, known, np.cumsum([0.0, *lengths]))
        for problem, ends in zip(self.problems, pairwise(found), strict=True):
            problem._initial.nearby = ends


def _between(tree: Tree, known: Sequence[Array | None], t: Array) -> list[Array | None]:
    """Configurations at instants, on the way from those that are known before to those behind, or the nearest one."""
    there, found = {k: q for k, q in enumerate(known) if q is not None}, list(known)
    for k in (k for k, q in enumerate(known) if q is None and there):
        before = max((i for i in there if i < k), default=min(there))
        after = min((i for i in there if i > k), default=max(there))
        part = 0.0 if before == after else (t[k] - t[before]) / (t[after] - t[before])
        start, end = ca.DM(there[before]), ca.DM(there[after])
        found[k] = ca.evalf(integrate(tree, start, part * difference(tree, start, end))).full().ravel()
    return found


def _checked(given: Sequence[Problem]) -> tuple[Problem, ...]:
    problems = checked_problems("Phases", given)
    first = problems[0].dyn.tree
    for k, tree in enumerate((problem.dyn.tree for problem in problems), start=1):
        if (tree.name, tree.nq, tree.nv) != (first.name, first.nq, first.nv):
            raise ArgumentError(
                f"Phases: phase {k} is of {tree.name!r}, the first one of {first.name!r}; give one robot"
            )
    q = ca.evalf(random_configuration(first, np.random.default_rng(0)))
    masses = [np.array(problem._system.dynamics.at().mass_matrix(q)) for problem in problems]
    for k, mass in enumerate(masses[1:], start=2):
        if np.abs(mass - masses[0]).max() > _ALIKE * np.abs(masses[0]).max():
            raise ArgumentError(
                f"Phases: phase {k} has another mass matrix than the first one, and momentum would jump; give one "
                "robot, with what varies as parameters"
            )
    if any(problem._robot.chosen for problem in problems):
        raise ArgumentError("Phases: a phase has a design, which would differ from phase to phase; drop design")
    systems = [problem._system for problem in problems]
    counts = [system.stiff for system in systems]
    if len(set(counts)) > 1:
        between = systems[0].cutoff(max(counts), problems[0]._robot.last)
        most, least = (f"{n} in phase {counts.index(n) + 1}" for n in (max(counts), min(counts)))
        raise UnsupportedError(
            f"Phases: of the fast modes {most} follow their loads, {least}; give all Problems "
            f"quasi_static={between:.3g} (Hz), or None"
        )
    if not all(np.array_equal(system.shapes, systems[0].shapes) for system in systems):
        raise UnsupportedError("Phases: modes that follow their loads differ from phase to phase; give all one p")
    return problems


def _check_symbols(constraint: ca.MX, known: Sequence[ca.MX]) -> None:
    """Refuse symbols that are not known, by an ArgumentError."""
    if other := foreign(constraint, known):
        raise ArgumentError(
            f"subject_to: the constraint has the symbol {other[0].name()!r}, which is in none of the phases; give "
            "variables and parameters of theirs"
        )


class Junction:
    """The end of a phase and the start of the next one.

    Attributes:
        before, after: the problems of both. ``takes_hold``: whether it has constraints that the phase before has not.
        impulses: independent ones (r × 1), of no rows if nothing takes hold; where modes follow their loads, of all
            that holds, behind the shifts of what held before. ``size``: their typical magnitudes. ``basis``: of
            impulses in those of all constraints.
        known: whether each independent row of positions and velocities holds already.
        rows: zero where the phases are connected.
    """

    def __init__(self, before: Problem, after: Problem) -> None:
        system, y = after._system, after._motion.x[:, 0]
        nq = system.dynamics.tree.nq
        kept = before._system.con.constraints
        self.before, self.after, self.basis, con = before, after, system.rows.basis, system.con
        self.takes_hold = system.takes_hold(before._system)
        self.known = system.places.known(kept), np.full(len(system.rows), not self.takes_hold)
        self.size, self.impulses, self._q = np.ones(0), ca.MX(0, 1), y[:nq]
        states = [each._motion.state[: system.states, i] for each, i in ((before, -1), (after, 0))]
        if not self.takes_hold and not system.moves_ends:
            self.rows = states[1] - states[0]
            return
        system.check_impact("phase")
        p, places = [after.p] if con.parameters else [], system.positions
        shifts = np.flatnonzero(self.known[0]) if system.moves_ends else np.zeros(0, dtype=int)
        self.impulses = ca.MX.sym("impulses", len(shifts) + len(system.rows))
        self._of_all = ca.DM(self.basis).T @ self.impulses[len(shifts) :]
        reached, (q_end, v_end), (q_start, v_start) = y[:nq], *((x[:places], x[places:]) for x in states)
        if len(shifts):
            along = system.of_states(system.places.jacobian(reached, p))[shifts.tolist(), :]
            q_end = system.moved(q_end, along.T @ self.impulses[: len(shifts)])
        if system.moves_ends:  # loads jump, and deflections with them: what holds moves the states, and holds anew
            self.known = np.zeros_like(self.known[0]), np.zeros_like(self.known[1])
        left = system.balance(reached, system.with_stiff_rates(v_start - v_end), self.impulses[len(shifts) :], p)
        self.rows = ca.vertcat(q_start - q_end, system.of_states(left.T).T)
        self.size = np.r_[np.ones(len(shifts)), np.full(len(system.rows), system.mass)]

    def of_all(self, found: Array) -> Array:
        """The impulses of all constraints (nc), of what was found; none if nothing takes hold."""
        return self.basis.T @ found[len(found) - len(self.basis) :] if self.takes_hold else np.zeros(0)

    @property
    def u_goes_on(self) -> bool:
        """True if rates of u in the next phase count from the last u of this one."""
        same = self.before.bounds.u_names == self.after.bounds.u_names
        return same and self.after.control == "constant" and not self.after._before.is_given

    @property
    def change_of_u(self) -> ca.MX:
        """u before the next phase less the last u of this one, by typical magnitudes."""
        motion, last = self.after._motion, self.before._motion
        u = last.u_before if self.before.control == "constant" else last.u
        return ca.MX((motion.u_before[:, 0] - u[:, -1]) / ca.DM(motion.effort))

    @property
    def margins(self) -> ca.MX:
        """Margins of the impulses in the friction cones of the later phase, at least 0."""
        cones = self.after._cones if self.takes_hold else []
        return ca.vertcat(ca.MX(0, 1), *(margin(self._q, self._of_all) for margin in cones))


COSTS = ("mean", "sum", "worst")
"""What is minimised of the costs of all scenarios."""


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
        self.problems, self.cost = _alike(problems), cost

    def __repr__(self) -> str:
        return f"Scenarios([{first_of([*map(repr, self.problems)])}], cost={self.cost!r})"

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

    def _joined(self, parts: Sequence[Part], p: ca.MX, form: Backend) -> StageProgram:
        """The program of all scenarios, which share u and the constants of the motions."""
        n, instants = len(parts), parts[0].motion.intervals + 1
        variables, segments = self._segments(parts, form, [k * instants for k in range(n)])
        groups, terms, further = [], list[StageTerm](), list[Indices]()
        for part, segment in zip(parts, segments, strict=True):
            motion = part.motion
            constants = motion.entries(motion.state)[motion.size :, 0]
            groups.append(segment.places[np.r_[motion.entries(motion.u).ravel(order="F"), constants]])
        shared = np.array(groups)
        variables = sharing(variables, shared)
        if self.cost == "worst":
            further = [np.array([len(variables.groups)])]
            variables = joined([variables, free_variables(n * MANY, NOWHERE, np.ones(1))])
            segments, term = largest(segments, int(further[0][0]), Label("the largest cost"))
            terms.append(term)
        elif self.cost == "mean":
            segments = weighted(segments, 1 / n)
        return StageProgram(
            segments,
            variables,
            terms,
            p,
            further=further,
            shared=shared,
            intervals=n * instants - 1,
            states=[parts[0].row_of_stages.states] * (n * instants),
            overlap="scenarios are not one sequence of intervals, since they share u; take one problem",
            equations_as_rows=form.equations_as_rows,
        )

    def _begun(self, program: Program[ScenariosSolution], z: Array) -> Array:
        if self.cost != "worst":
            return z
        costs = [part.values(x, p)["cost"] for part, x, p in program.split(z, program.current())]
        return program.nlp.with_further(z, np.abs(costs).max(keepdims=True).ravel())

    def _solution(self, parts: tuple[Solution, ...], nlp: Any, z: Array, numbers: Array) -> ScenariosSolution:
        return ScenariosSolution(scenarios=parts, **joined_outcome(self._kind, parts, nlp.cost(z, numbers)))


def _alike(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    found = checked_problems("Scenarios", problems)
    first = _common(found[0])
    for k, problem in enumerate(found[1:], start=2):
        for (what, own), expected in zip(_common(problem).items(), first.values(), strict=True):
            if own != expected:
                raise ArgumentError(
                    f"Scenarios: {what} of scenario {k}: {own}, of the first one: {expected}; they share u, so give "
                    "the same"
                )
    return found


def _common(problem: Problem) -> dict[str, Any]:
    """Quantities that scenarios have in common."""
    names = problem._system.dynamics.parameters.names
    return {
        "actuators": problem.bounds.u_names,
        "intervals": problem.intervals,
        "control": problem.control,
        "duration": problem._motion.range,
        "design": tuple(names[i] for i in problem._robot.chosen),
    }
