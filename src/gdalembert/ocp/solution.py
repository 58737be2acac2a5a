"""Solutions, how far they are from the motions that their u causes, and the error if there is none."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import casadi as ca
import numpy as np

from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.physical_parameters import columns, physical_parameters
from gdalembert.errors import ArgumentError, OptimizationError
from gdalembert.model.configuration import difference, integrate, unit_blocks
from gdalembert.model.limits import NEGLIGIBLE, Bounds
from gdalembert.model.tree import Tree
from gdalembert.nlp.program import EXCEPTIONS, NO_NUMBER, Outcome
from gdalembert.ocp.stage import Stages
from gdalembert.ocp.system.constraints import CLOSED, Gaps, LimitedExpression
from gdalembert.ocp.system.guess import Guess
from gdalembert.ocp.system.system import Robot, System, locked_modes
from gdalembert.simulation.result import Simulation
from gdalembert.simulation.simulate import simulate
from gdalembert.spatial.arguments import integer
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.functions import function, symbols

COARSE = 0.05
"""A larger step error, relative to the velocity, is worth a warning."""
_FEASIBLE = 1e-6
"""The largest violation of a constraint that counts as satisfied."""
_NOTABLE = 1e-3
"""A larger violation of limits that are soft is worth a warning."""
_FEWEST, _MOST = 16, 4096
"""Limits of the number of Runge–Kutta steps in an interval."""
_RESOLVED = 0.5
"""Phase of the fastest vibration in one of these steps [rad]: it loses 1e-4 of its amplitude."""
_CLOSE = 1e-5
"""How much less than its margin a gap may be between instants without a warning [m]."""
_DENSE = 1e-3
"""The longest time between two instants at which gaps are looked at [s]."""
_AT_REST = 1e-6
"""[rad/s, m/s] A robot that is slower is at rest, and a part of this is what its errors are compared with."""


@dataclass(frozen=True, eq=False)
class FollowedPath(Brief):
    """A path of q and v: its expression, its bounds, and its other inputs; at a solution, their values.

    ``constants`` have one column, or one for each instant of the grid. ``gaps``: whether it keeps any.
    """

    graph: ca.Function
    lower: Any
    upper: Any
    constants: Mapping[str, Any]
    gaps: Gaps | None = None

    @classmethod
    def of(cls, path: LimitedExpression, constants: Mapping[str, Any]) -> Self:
        """A path, of the values by name of all that is none of the motion; gaps without what raises their margin."""
        graph, lower = (path.graph, path.lower) if path.gaps is None else (path.gaps.graph, path.gaps.margin)
        used = {name: constants[name] for name in graph.name_in() if name in constants}
        return cls(graph, lower, path.upper, used, path.gaps)

    def values(self, t: Array, q: Array, v: Array, grid: Array) -> Array:
        """The expression along a motion, a column for each row of this."""
        inputs = {"q": q.T, "v": v.T, "t": t[None, :]}
        for name, x in self.constants.items():
            held = x.shape[1] == 1
            inputs[name] = np.tile(x, (1, len(t))) if held else np.array([np.interp(t, grid, row) for row in x])
        return np.asarray(self.graph(*(inputs[name] for name in self.graph.name_in())).full())

    def excess(self, t: Array, q: Array, v: Array, grid: Array) -> float:
        """The largest violation by a motion, a row for each time."""
        values = self.values(t, q, v, grid)
        return float(np.maximum(self.lower[:, None] - values, values - self.upper[:, None]).max())


class Clearance(NamedTuple):
    """The least gap of a motion.

    Attributes:
        gap: [m], negative where two shapes overlap. ``pair``: their names. ``time``: of it [s].
    """

    gap: float
    pair: tuple[str, str]
    time: float


@dataclass(frozen=True, eq=False)
class Accuracy(Brief):
    """A solution (t, x, u: a row for each instant of the grid) beside finer steps, which are taken when asked for."""

    system: System
    bounds: Bounds
    control: str
    t: Array
    x: Array
    u: Array
    p: Array
    paths: Mapping[str, FollowedPath]

    @property
    def step_error(self) -> float:
        """The error of the steps, :attr:`~gdalembert.ocp.Solution.step_error`."""
        return self.finer_motion[0]

    @cached_property
    def excess(self) -> dict[str, float]:
        """The violations between grid points, :attr:`~gdalembert.ocp.Solution.excess`."""
        t, x = self.finer_motion[1:] if np.isfinite(self.step_error) else (self.t, self.x)
        q, v = x[:, : self.system.robot.tree.nq], x[:, self.system.robot.tree.nq :]
        over = {name: path.excess(t, q, v, self.t) for name, path in self.paths.items()}
        return self.bounds.excess(q, v) | {name: x for name, x in over.items() if x > NEGLIGIBLE}

    @cached_property
    def finer_motion(self) -> tuple[float, Array, Array]:
        """The step error, infinite if the finer steps diverge; and times and states of all finer steps.

        There are so many that the highest natural frequency under springs and elasticity is resolved.
        """
        dyn, t, x, u, h, nq = self.system.dynamics, self.t, self.x, self.u, np.diff(self.t), self.system.con.nq
        one, at_grid, ends = (columns(self.p, n) for n in (1, len(x), len(h)))
        stiffness, fastest = dyn.force_stiffness(x[0, :nq], self.p), 0.0
        if stiffness.any():
            squares = np.linalg.eigvals(np.linalg.solve(dyn.mass_matrix(x[0, :nq], *one).full(), stiffness)).real
            fastest = math.sqrt(max(squares.max(), 0.0))
        steps = min(max(_FEWEST, math.ceil(h.max() * fastest / _RESOLVED)), _MOST)
        reached, motion, times = ca.DM(x[:-1].T), [x[:1].T], [t[:1]]
        for i in range(steps):
            middle = (i + 0.5) / steps
            held = u if self.control == "constant" else (1 - middle) * u[:-1] + middle * u[1:]
            reached = self.system.finer(reached, held.T, h[None, :] / steps, *ends)[0]
            motion.append(reached.full())
            times.append(t[:-1] + (i + 1) / steps * h)
        missed = (reached[nq:, :] - x[1:, nq:].T).full()
        energies = self.system.kinetic_energies(x[1:, :nq].T, missed, *ends)
        kinetic = self.system.kinetic_energies(x[:, :nq].T, x[:, nq:].T, *at_grid)
        slow = self.system.kinetic_energies(x[:1, :nq].T, np.full((dyn.tree.nv, 1), _AT_REST), *one)
        largest = max(np.abs(kinetic).max(), slow.max(), np.finfo(float).tiny)
        error = float(np.sqrt(np.abs(energies).max() / largest))
        return error if np.isfinite(error) else math.inf, np.concatenate(times), np.hstack(motion).T

    @cached_property
    def dense_motion(self) -> tuple[Array, Array]:
        """Times at most 1 ms apart (a row for each interval), and q there (a column for each, row by row).

        They are on cubics through the finer steps; where these diverge, through the grid.
        """
        if not np.isfinite(self.step_error):
            return self.through_grid
        n, (_, finer, motion) = len(self.t) - 1, self.finer_motion
        times = np.vstack([self.t[None, :-1], finer[1:].reshape(-1, n)])
        return self._between(times, np.concatenate([self.x[None, :-1], motion[1:].reshape(len(times) - 1, n, -1)]))

    @cached_property
    def through_grid(self) -> tuple[Array, Array]:
        """Times and q as of :attr:`dense_motion`, on cubics through the grid: u need not cause the motion."""
        return self._between(np.stack([self.t[:-1], self.t[1:]]), np.stack([self.x[:-1], self.x[1:]]))

    def _between(self, times: Array, states: Array) -> tuple[Array, Array]:
        """Times and q between those of each interval (a column, or rows of states)."""
        tree, n, h = self.system.robot.tree, len(self.t) - 1, np.diff(times, axis=0)
        parts = np.arange(count := max(1, math.ceil(h.max() / _DENSE)) + 1) / (count - 1)
        t = (times[:-1, :, None] + h[:, :, None] * parts).transpose(1, 0, 2).reshape(n, -1)
        ends = (np.repeat(x.transpose(1, 0, 2).reshape(h.size, -1), count, axis=0).T for x in (states[:-1], states[1:]))
        inputs = *ends, np.repeat(h.T.ravel(), count)[None, :], np.tile(parts, h.size)[None, :]
        return t, cubic(tree).map(h.size * count)(*inputs).full()

    def gaps(self, path: FollowedPath, motion: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        """Gaps that a path keeps along a dense motion (pairs × intervals × times of each), and the times."""
        t, q = self.dense_motion if motion is None else motion
        return path.values(t.ravel(), q.T, np.zeros((q.shape[1], 0)), self.t).reshape(-1, *t.shape), t

    def missing(self, path: FollowedPath) -> Array:
        """Margins less the least gaps of each interval (pairs × intervals) [m]."""
        assert path.gaps is not None
        return np.asarray(path.gaps.margin[:, None] - self.gaps(path)[0].min(axis=2))

    @cached_property
    def clearance(self) -> Clearance | None:
        """The least of all gaps that paths keep; None if none does."""
        least = []
        for path in self.paths.values():
            if path.gaps is not None:
                gaps, t = self.gaps(path)
                pair, *at = np.unravel_index(gaps.argmin(), gaps.shape)
                least.append(Clearance(float(gaps.min()), path.gaps.pairs[int(pair)], float(t[tuple(at)])))
        return min(least, default=None)


def cubic(tree: Tree) -> ca.Function:
    """(x, x_next, h, part) → (q): q between two states x = [q; v], h [s] apart, at a part of the way."""
    s = symbols(x=tree.nq + tree.nv, x_next=tree.nq + tree.nv, h=1, part=1)
    (q, v), (q_next, v_next) = (ca.vertsplit(s[key], [0, tree.nq, tree.nq + tree.nv]) for key in ("x", "x_next"))
    r, h = s["part"], s["h"]
    slopes = h * ((r - 2 * r**2 + r**3) * v + (r**3 - r**2) * v_next)
    way = slopes + (3 * r**2 - 2 * r**3) * difference(tree, q, q_next)
    return function("cubic", s, {"q": integrate(tree, q, way)})


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution(Outcome):
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
        violations: by name, the largest violation of each kind of equations and inequalities of the problem; those of
            ``problem.subject_to`` and ``problem.at`` by ``"subject_to 1"``, ``"at 5"``.
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
    t: Array
    q: Array
    v: Array
    u: Array
    p: Array
    stages: Stages
    length_violation: float
    accuracy: Accuracy
    corrections: dict[str, float] = field(default_factory=dict)

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
        """The largest violation, by name, of the bounds of q and v, and of paths of q and v, by these finer steps.

        It counts between the instants of the grid too, where it is above 1e-6; it is computed when first asked for.
        """
        return self.accuracy.excess

    @cached_property
    def constraint_drift(self) -> float:
        """The largest residual of contacts and loops at the stages, between the instants of the grid [m, rad].

        Of plans with one stage, which keep velocities alone, it counts at the grid too. Contacts without an anchor have
        none. It is computed when first asked for.
        """
        states = np.hstack([self.stages.q, self.stages.v])
        if not self.accuracy.system.projections:
            states = np.vstack([self.accuracy.x, states])
        return self.accuracy.system.drift(states, self.p)

    @property
    def clearance(self) -> Clearance:
        """The least gap that ``keep_clear`` keeps: ``gap`` [m], ``pair`` of names, and ``time`` [s].

        It is that of the motion that u causes, at times 1 ms apart, by the finer steps of :attr:`step_error`; it is
        computed when it is first asked for.

        Raises:
            ArgumentError: if the problem has no ``keep_clear``.
        """
        if (least := self.accuracy.clearance) is None:
            raise ArgumentError("clearance: the problem keeps nothing clear; call problem.keep_clear(shapes) first")
        return least

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
        """A copy of the motion as the guess of another problem."""
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
        v = self.v[0]
        if dyn is None:
            dyn, options = self.dyn, {"p": self.p} | options
            if isinstance(dyn, ConstrainedDynamics) and dyn.nc:  # with one stage they drift, by the error of steps
                v = dyn.consistent_velocity(self.q[0], v)
        return simulate(dyn, (self.q[0], v), t, u, hold=hold, **options)

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


@dataclass(frozen=True, eq=False, kw_only=True)
class JoinedSolution(Outcome, ABC):
    """Solution of problems in phases or in scenarios."""

    kind: ClassVar[str]
    """What each problem is."""

    @property
    def parts(self) -> tuple[Solution, ...]:
        """The solution of each problem: ``phases`` or ``scenarios``."""
        return tuple(getattr(self, f"{self.kind}s"))

    @property
    def dyn(self) -> Robot:
        """The robot of the first problem."""
        return self.parts[0].dyn

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return self.parts[0].duration

    @property
    def step_error(self) -> float:
        """The largest :attr:`Solution.step_error` of any of them."""
        return max(each.step_error for each in self.parts)

    @property
    def excess(self) -> dict[str, float]:
        """:attr:`Solution.excess` of all, by names with the number of the problem."""
        return {f"{label}: {name}": x for label, each in self.labelled() for name, x in each.excess.items()}

    @property
    def clearance(self) -> Clearance:
        """The least :attr:`Solution.clearance` of those that have one; its time counts from the start of all.

        Raises:
            ArgumentError: if no problem has ``keep_clear``.
        """
        begins = zip(self._begins, self.parts, strict=True)
        least = [x._replace(time=begin + x.time) for begin, part in begins if (x := part.accuracy.clearance)]
        return min(least) if least else self.parts[0].clearance

    @property
    def _begins(self) -> Sequence[float]:
        """When each motion begins [s]."""
        return [0.0] * len(self.parts)

    def labelled(self) -> Iterator[tuple[str, Solution]]:
        """The solution of each problem, with what it is: ``"phase 2"``."""
        return ((f"{self.kind} {k}", each) for k, each in enumerate(self.parts, start=1))

    def simulate(self, **options: Any) -> list[Simulation]:
        """Each motion under its u, from its start: :meth:`Solution.simulate`."""
        return [each.simulate(**options) for each in self.parts]

    def __str__(self) -> str:
        head = (
            f"{self.dyn.tree.name}: {self.status} after {self.iterations} iterations: cost {self.cost:.6g}, "
            f"{self.duration:.6g} s in {len(self.parts)} {self.kind}s, constraints violated by "
            f"{self.constraint_violation:.1e}"
        )
        rows = [f"  {label}: {self._about(k, each)}" for k, (label, each) in enumerate(self.labelled())]
        return "\n".join([head, *rows])

    @abstractmethod
    def _about(self, k: int, part: Solution) -> str:
        """A row of the printed solution."""


class Deferred:
    """A solution of which some attributes are computed, all at once, when one of them is first read."""

    @classmethod
    def of(cls, at_once: Mapping[str, Any], deferred: Callable[[], Mapping[str, Any]]) -> Self:
        """One with these attributes, and with those that ``deferred`` returns."""
        self = cls.__new__(cls)
        self.__dict__.update(at_once, _deferred=deferred)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or "_deferred" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._compute()
        return getattr(self, name)

    def __getstate__(self) -> dict[str, Any]:
        """All attributes: what computes them is not pickled."""
        if "_deferred" in self.__dict__:
            self._compute()
        return self.__dict__

    def _compute(self) -> None:
        """Add what is deferred; where that is interrupted, it stays deferred."""
        self.__dict__.update(self.__dict__["_deferred"]())
        del self.__dict__["_deferred"]


class RealTimeSolution(Deferred, Solution):
    """A plan of a tick: its motion is there at once, its stages, violations and accuracy when they are read."""


def by_part(solution: Solution | JoinedSolution) -> Iterator[tuple[str, Solution]]:
    """The solution of each problem, with how messages about it begin."""
    if isinstance(solution, Solution):
        return iter([("", solution)])
    return ((f"{label}: ", each) for label, each in solution.labelled())


def warnings_about(solution: Solution | JoinedSolution) -> Iterator[str]:
    """Why a solution may be none: each is worth a warning."""
    yield from solution.hints
    for part, each in by_part(solution):
        yield from (part + inconsistency for inconsistency in inconsistencies(each))
        if not np.isfinite(each.step_error):
            yield (
                f"{part}the accuracy is unknown, since the finer steps that measure it diverge: a mode vibrates or "
                "decays too fast for them; leave out the stiffest springs and their dampers, or look at "
                'solution.simulate(method="radau")'
            )
        elif each.step_error > COARSE:
            yield (
                f"{part}the steps are too coarse: velocities after one miss those of the motion by "
                f"{each.step_error:.1%}; take more intervals, a higher degree or fewer modes, and look at "
                "solution.simulate()"
            )
        alone = ConstrainedDynamics.of("solution", each.dyn).dynamics
        yield from (part + line for line in alone.bending_warnings(each.q))
        try:
            physical_parameters("the optimum of p", alone, each.p)
        except ArgumentError as error:
            yield f"{part}{error}; or give narrower bounds in design"


def beyond_soft_limits(solution: Solution | JoinedSolution) -> Iterator[str]:
    """What a plan of real-time iterations violates notably."""
    for part, each in by_part(solution):
        if (beyond := each.constraint_violation) > _NOTABLE:
            limit = max(each.violations, key=each.violations.__getitem__)
            yield (
                f"{part}{limit} violated by {beyond:.2g}, since real-time iterations take limits and ends as soft; "
                "where the motion could keep them, give a larger {'penalty': …}, or take 'ipopt'"
            )


def inconsistencies(solution: Solution | JoinedSolution) -> Iterator[str]:
    """Advice where what is fixed at the ends violates contacts or loops, in every tick of a receding horizon anew."""
    for part, each in by_part(solution):
        if (gap := each.violations.get(CLOSED, 0.0)) > _FEASIBLE:
            yield f"{part}start and end violate contacts and loops by {gap:.2g}; fix fewer entries, or others"
        for path in each.accuracy.paths.values():
            if path.gaps is None or not path.gaps.guarded or (short := each.accuracy.missing(path)).max() <= _CLOSE:
                continue
            first, second = path.gaps.pairs[int(short.max(axis=1).argmax())]
            yield (
                f"{part}the gap of {first} and {second} falls {short.max():.2g} m below its margin between instants, "
                "see solution.clearance; take more intervals, or give a larger margin"
            )


def too_fast(system: System, solution: Solution) -> Iterator[str]:
    """Advice where modes vibrate that the intervals of a motion do not resolve."""
    interval, vibrating = solution.duration / (len(solution.t) - 1), system.vibrating(solution.p)
    if not len(vibrating) or (times := vibrating[-1] * interval) <= 1:
        return
    highest = f"modes of up to {vibrating[-1]:.3g} Hz vibrate {times:.2g} times in an interval"
    modes = locked_modes(system.dynamics, solution.p)[0]
    if not np.any(modes[: len(modes) - system.stiff] * interval > 1):
        yield f"{highest}; take fewer modes or more intervals"
    else:
        yield f"{highest}; let them follow their loads, quasi_static={1 / interval:.3g}, or take more intervals"


_RAISED = "an exception ended it; look at the Python functions and Callbacks that the problem calls"
_STATES = dict.fromkeys(EXCEPTIONS, _RAISED) | {
    "Invalid_Problem_Definition": "ends, bounds and paths contradict each other, or there are more equations than "
    "unknowns",
    NO_NUMBER: "the cost, a constraint or a derivative of them is not finite there; look at roots, logarithms and "
    "quotients in expressions, or try another guess",
}
"""What the statuses of a solver mean."""


def _in_the_way(solution: Solution) -> Iterator[str]:
    """The pair whose gap is furthest below its margin, or next to it, along the last iterate, of each path with gaps.

    Also between instants: iterates often jump through what is in the way, and violate other rows.
    """
    for path in solution.accuracy.paths.values():
        if path.gaps is not None:
            gaps, t = solution.accuracy.gaps(path, solution.accuracy.through_grid)
            spare = gaps - path.gaps.margin[:, None, None]
            pair, *at = (int(i) for i in np.unravel_index(spare.argmin(), spare.shape))
            what = "" if spare.min() < -_FEASIBLE else "no gap is below its margin, and "
            first, second = path.gaps.pairs[pair]
            yield f"{what}the gap of {first} and {second} is {gaps[pair, *at]:.3g} m at {t[*at]:.3g} s"


def unsolved(solution: Solution | JoinedSolution) -> OptimizationError:
    """The error of a problem that was not solved, with the last iterate."""
    what = ", ".join(f"{name} by {x:.2g}" for name, x in solution.violations.items() if x > _FEASIBLE)
    state = (
        f"constraints violated by {solution.constraint_violation:.2g} ({what}); try another guess, "
        "more time, fewer or wider bounds, or more iterations"
        if solution.constraint_violation > _FEASIBLE
        else "all constraints hold, but it is not known to be an optimum; try another guess or more iterations"
    )
    if solution.status in _STATES:
        state = _STATES[solution.status] + (f" ({what})" if what else "")
    if solution.status not in (*EXCEPTIONS, NO_NUMBER):
        state += "".join(f"; {part}{line}" for part, each in by_part(solution) for line in _in_the_way(each))
    return OptimizationError(
        f"{solution.dyn.tree.name}: the solver stopped with {solution.status!r} after {solution.iterations} "
        f"iterations and {solution.duration:.4g} s of motion: {'; '.join([state, *solution.hints])}; "
        ".solution has what it had",
        solution,
    )
