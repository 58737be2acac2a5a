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
from gdalembert.model.configuration import difference, integrate, neutral, random_configuration
from gdalembert.model.tree import Tree
from gdalembert.nlp.joined_program import Connection, JoinedProgram, LinkRows
from gdalembert.ocp.couplings import relation
from gdalembert.ocp.joined_solution import PhasesSolution, ScenariosSolution, joined_outcome
from gdalembert.ocp.problem import Problem
from gdalembert.ocp.program import OptimalControlProblem, Part, own_values
from gdalembert.ocp.real_time_sequences import RealTimePhases
from gdalembert.ocp.solution import JoinedSolution, Solution
from gdalembert.ocp.stage import checked_duration
from gdalembert.ocp.steps import values_of
from gdalembert.spatial.arguments import choice
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import first_of
from gdalembert.spatial.expressions import foreign

Joint = TypeVar("Joint", bound=JoinedSolution)

_ALIKE = 1e-9
"""The relative difference of two mass matrices of one robot, whose constants may be cleaned otherwise."""


class JoinedProblems(OptimalControlProblem[Joint]):
    """Problems that are solved as one: at least two, each once."""

    problems: tuple[Problem, ...]

    def _set(self, p: Any, values: Mapping[str, Any]) -> None:
        own = own_values(values, [problem._parameters.symbols for problem in self.problems])
        self._check_costs()
        for problem, numbers, named in zip(self.problems, self._each_p(p), own, strict=True):
            problem._set(numbers, named)

    def _parts(self, *, stagewise: bool) -> list[Part]:
        return [part for problem in self.problems for part in problem._parts(stagewise=False)]

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
    """At least two problems, each once; an ArgumentTypeError or an ArgumentError if they are not."""
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

    ``solver("rti")`` takes phases of fixed lengths: it is a :class:`~gdalembert.ocp.RealTimePhases`.

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
        self._relations: list[LinkRows] = []
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
        self._relations.append(LinkRows("constraints of several phases", rows, lower, upper, user=True))

    def _check_costs(self) -> None:
        if not any(problem._cost is not None for problem in self.problems):
            raise ArgumentError("nothing is to be minimised; call minimize of at least one phase")

    def _each_p(self, p: Any) -> Sequence[Values]:
        takes_p = any(problem.dyn.parameters for problem in self.problems)
        return [p if problem.dyn.parameters or not takes_p else None for problem in self.problems]

    def _real_time(self, options: Mapping[str, Any]) -> RealTimePhases:
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
        return RealTimePhases(problems, options, impacts, self._each_guess)

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
        with self._connected():
            parts = self.problems[0]._parts(stagewise=False)
            for junction in self._junctions:
                parts += junction.after._parts(stagewise=False, continues=True, follows=junction.u_goes_on)
            return parts

    def _each_guess(self, guess: Any) -> Sequence[Any]:
        self._set_boundaries()
        return super()._each_guess(guess)

    def _joined(self, parts: list[Part]) -> JoinedProgram:
        """The programs of all phases as one, whose further variables are the impulses."""

        def connect(joined: JoinedProgram) -> Connection:
            numbers = joined.split_numbers(joined.problem["p"])
            unscaled = [x for part, z, p in zip(parts, joined.z, numbers, strict=True) for x in part.unscaled(z, p)]
            symbols = [symbol for part in parts for symbol in part.symbols]
            links = self._links(parts, symbols)
            impulses = [each.impulses for each in self._junctions]
            graph = ca.Function("links", [*symbols, *impulses], [link.rows for link in links])
            rows = graph.call([*unscaled, *self._scaled(joined.further)], True, False)
            links = [link._replace(rows=x) for link, x in zip(links, rows, strict=True)]
            none = np.zeros((0, len(parts))), np.zeros((0, further))
            begin = ca.MX(ca.DM.zeros(further))
            return Connection((np.ones(len(parts)), np.zeros(further)), links, begin, none)

        further = sum(each.impulses.numel() for each in self._junctions)
        return JoinedProgram("phase", [part.nlp for part in parts], further, connect)

    def _links(self, parts: list[Part], symbols: list[ca.MX]) -> list[LinkRows]:
        """What connects the phases, in their variables and parameters."""
        changes = [
            junction.change_of_u
            for junction, part in zip(self._junctions, parts[1:], strict=True)
            if junction.u_goes_on and part.remembers
        ]
        rows = ca.vertcat(*(each.rows for each in self._junctions), *changes)
        margins, own = (
            ca.vertcat(ca.MX(0, 1), *each)
            for each in ((each.margins for each in self._junctions), (each.rows for each in self._relations))
        )
        _check_symbols(own, symbols)
        total = sum((part.motion.duration for part in parts), ca.MX(0))
        least = np.concatenate([np.zeros(0), *(each.lower for each in self._relations)])
        zero, none, most = (np.zeros(each.shape[0]) for each in (rows, margins, own))
        return [
            LinkRows("junctions of the phases", rows, zero, zero),
            LinkRows("friction of impulses", margins, none, none + np.inf),
            LinkRows("constraints of several phases", own, least, most, user=True),
            LinkRows("duration", total, np.array(self._range[:1]), np.array(self._range[1:])),
        ]

    def _scaled(self, further: Any) -> list[Any]:
        """The impulses of each junction."""
        ends = np.cumsum([0, *(each.impulses.numel() for each in self._junctions)]).tolist()
        pairs = zip(self._junctions, pairwise(ends), strict=True)
        return [ca.DM(each.size) * further[i:j] if j > i else further[i:j] for each, (i, j) in pairs]

    def _rows(self, parts: list[dict[str, ca.MX]]) -> dict[str, ca.MX]:
        start, most = ca.MX(0), max(rows["u"].shape[0] for rows in parts)
        for rows in parts:
            u, t = rows["u"], rows["t"]
            rows["u"], rows["t"] = ca.vertcat(u, ca.MX(most - u.shape[0], u.shape[1])), ca.vec(t) + start
            start = rows["t"][-1]
        found = {key: ca.horzcat(*(each[key] for each in parts)) for key in ("q", "v", "u")}
        return found | {"t": ca.vertcat(*(each["t"] for each in parts))}

    def _solution(self, parts: tuple[Solution, ...], nlp: Any, z: Array, numbers: Array) -> PhasesSolution:
        links, outcome = nlp.violations(z, numbers), joined_outcome(parts, nlp, z, numbers)
        outcome["constraint_violation"] = max(outcome["constraint_violation"], *links.values())
        outcome["violations"] = links | outcome["violations"]
        further = z[len(z) - nlp.further.numel() :]
        pairs = zip(self._junctions, self._scaled(further), strict=True)
        impulses = (each.of_all(np.array(ca.DM(x).full()).ravel()) for each, x in pairs)
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
        self.takes_hold = any(each not in kept for each in con.constraints)
        self.known = system.places.known(kept), np.full(len(system.rows), not self.takes_hold)
        self.size, self.impulses, self._q = np.ones(0), ca.MX(0, 1), y[:nq]
        states = [each._motion.state[: system.states, i] for each, i in ((before, -1), (after, 0))]
        if not self.takes_hold and not system.moves_ends:
            self.rows = states[1] - states[0]
            return
        if con._set.restitution.any():
            raise ArgumentError(
                f"{con.tree.name}: its constraints have a restitution, and what rebounds does not hold in the next "
                "phase; give restitution=0"
            )
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
        momentum = con.dynamics.mass_matrix(reached, *p) @ system.with_stiff_rates(v_start - v_end)
        left = system.of_states((momentum - con.jacobian(reached, *p).T @ self._of_all).T).T
        self.rows = ca.vertcat(q_start - q_end, left)
        largest = float(np.abs(con.dynamics.mass_matrix(neutral(con.tree), *values_of(con)).full()).max())
        self.size = np.r_[np.ones(len(shifts)), np.full(len(system.rows), largest)]

    def of_all(self, found: Array) -> Array:
        """The impulses of all constraints (nc), of what was found; none if nothing takes hold."""
        return self.basis.T @ found[len(found) - len(self.basis) :] if self.takes_hold else np.zeros(0)

    @property
    def u_goes_on(self) -> bool:
        """Whether rates of u in the next phase count from the last u of this one."""
        same = self.before.bounds.u_names == self.after.bounds.u_names
        return same and self.after.control == "constant" and not self.after._before.is_given

    @property
    def change_of_u(self) -> ca.MX:
        """u before the next phase less the last u of this one, by typical magnitudes."""
        motion = self.after._motion
        return ca.MX((motion.u_before[:, 0] - self.before._motion.u[:, -1]) / ca.DM(motion.effort))

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

    def _joined(self, parts: list[Part]) -> JoinedProgram:
        """The programs of all scenarios as one, which share u and the constants of the motions."""
        shared = []
        for motion in (part.motion for part in parts):
            constants = motion.entries(motion.state)[motion.size :, 0]
            shared.append(np.concatenate([motion.entries(motion.u).ravel(order="F"), constants]))
        return JoinedProgram("scenario", [part.nlp for part in parts], int(self.cost == "worst"), self._connect, shared)

    def _connect(self, joined: JoinedProgram) -> Connection:
        """The cost.

        The largest one is the mean and what it is above the mean, a variable: the mean keeps the curvature of the cost
        while the multipliers of the scenarios are not found.
        """
        n = len(self.problems)
        if self.cost != "worst":
            weights = np.full(n, 1.0 if self.cost == "sum" else 1 / n)
            return Connection((weights, np.zeros(0)), [], ca.MX(0, 1), (np.zeros((0, n)), np.zeros((0, 0))))
        rows = np.eye(n) - np.full((n, n), 1 / n), -np.ones((n, 1))
        largest = ca.mmax(ca.fabs(ca.vertcat(*joined.costs)))
        return Connection((np.full(n, 1 / n), np.ones(1)), [], largest, rows)

    def _solution(self, parts: tuple[Solution, ...], nlp: Any, z: Array, numbers: Array) -> ScenariosSolution:
        return ScenariosSolution(scenarios=parts, **joined_outcome(parts, nlp, z, numbers))


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
    """What scenarios have in common."""
    names = problem._system.dynamics.parameters.names
    return {
        "actuators": problem.bounds.u_names,
        "intervals": problem.intervals,
        "control": problem.control,
        "duration": problem._motion.range,
        "design": tuple(names[i] for i in problem._robot.chosen),
    }
