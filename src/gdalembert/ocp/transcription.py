"""A robot as a transcription sees it, and its motion: variables that the equations of motion connect, step by step."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.compilation.machine_code import external
from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics, check_driven_by_u
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.physical_parameters import columns
from gdalembert.errors import ArgumentError, SolutionWarning, UnsupportedError, shown
from gdalembert.model.configuration import neutral, unit_and_scale, unit_blocks
from gdalembert.model.limits import Bounds
from gdalembert.ocp import steps
from gdalembert.ocp.parameters import RobotParameters, step_of_parts
from gdalembert.ocp.steps import RungeKutta, explicit_step, free_rates
from gdalembert.spatial import constant
from gdalembert.spatial.arguments import choice, number, numbers, warn
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import brief
from gdalembert.spatial.expressions import EvaluatedExpression, Expression, evaluate
from gdalembert.spatial.functions import function, symbols
from gdalembert.spatial.interrupts import interruptible

Robot = Dynamics | ConstrainedDynamics
"""What can be planned for."""


class System:
    """A robot as a transcription sees it; of a flexible arm, natural modes above a frequency may follow their loads.

    These are the modes of its links at the neutral configuration, joints locked, and have no inertia: their amplitudes
    are unknowns of each stage, not states. Rotors of flexible joints keep theirs.

    Attributes:
        robot: as given. ``con``: the same with its constraints, which may be none. ``dynamics``: without them.
        rows: of all constraints. ``places``: of those that are anchored, the rates of residuals.
        independent: the number of forces that are unknowns.
        projections: the number of unknowns that move the end of a step.
        stiff: the number of natural modes that follow their loads. Then ``shapes`` Φ (nv × nv) gives v by the
            velocities of joints, other natural modes, rotors, and these modes; 0 × 0 otherwise.
        order: the entry of v in whose place each column of Φ stands.
    """

    def __init__(self, where: str, robot: Robot) -> None:
        self.robot, self.con = robot, ConstrainedDynamics.of(where, robot)
        self.dynamics: Dynamics = self.con.dynamics
        check_driven_by_u(where, self.dynamics)
        self.rows = steps.IndependentRows.of(self.con)
        self.places = steps.IndependentRows.of(steps.anchored_part(self.con), positions=True)
        self.independent = len(self.rows)
        self.projections = self.independent + len(self.places)
        self.stiff, self.shapes, self.order = 0, np.zeros((0, 0)), [*range(self.con.nv)]

    def relax(self, cutoff: float, p: Array) -> None:
        """Let modes above a frequency [Hz] follow their loads, of an arm with parameters p (n_p), if there are any."""
        limit, dyn, modes = number("quasi_static", cutoff, "Hz"), self.dynamics, self.dynamics.modes
        if self.con.nc or not modes:
            what = "contacts or loops" if self.con.nc else "no modes"
            raise UnsupportedError(f"quasi_static: {dyn.tree.name} has {what}; leave it out")
        frequencies, natural = locked_modes(dyn, p)
        self.stiff = int(np.sum(frequencies > limit))
        if not self.stiff:
            raise ArgumentError(
                f"quasi_static={limit:g} Hz: no mode of {dyn.tree.name} is above it, the highest is at "
                f"{frequencies[-1]:.4g} Hz; give a lower one, or leave it out"
            )
        kept, shapes = len(modes) - self.stiff, np.eye(dyn.nv)
        shapes[np.ix_(modes, modes)] = natural
        self.order = [*range(modes.start), *modes[:kept], *range(modes.stop, dyn.nv), *modes[kept:]]
        self.shapes = shapes[:, self.order]

    def vibrating(self, p: Array) -> Array:
        """Frequencies [Hz] of modes with inertia and of rotors, rising, with all joints locked and neutral."""
        dyn, modes = self.dynamics, locked_modes(self.dynamics, p)[0]
        rotors = locked_vibrations(dyn, p, range(dyn.modes.stop, dyn.nv))[0]
        return np.sort(np.concatenate([modes[: len(modes) - self.stiff], rotors]))

    def check(self, method: str, rule: RungeKutta) -> None:
        """Refuse a method that cannot be used, or a robot whose M is singular, by an UnsupportedError."""
        if rule.is_explicit and (self.stiff or self.con.nc):
            what = "unknowns for quasi_static" if self.stiff else "forces of contacts and loops"
            raise UnsupportedError(f"{self.con.tree.name}: method={method!r} has no {what}; take 'collocation'")
        if not self.con.nc:
            _ = self.finer

    def drift(self, x: Array, p: Array) -> float:
        """The largest residual of contacts and loops that are anchored, at states [q; v] (rows) [m, rad]."""
        if not len(self.places):
            return 0.0
        return float(np.abs(self.places.residual(x.T, *columns(p, len(x))).full()).max())

    @property
    def states(self) -> int:
        """The number of entries of q and v that are states."""
        return int(self.con.tree.nq + self.con.tree.nv - 2 * self.stiff)

    def states_of(self, x: Any) -> Any:
        """The states of [q; v] (columns)."""
        if not self.stiff:
            return x
        nq, nv, s = self.con.tree.nq, self.con.tree.nv, self.stiff
        back = np.asarray(np.linalg.inv(self.shapes), dtype=float)
        return ca.vertcat(_along(back, nq)[: nq - s, :] @ x[:nq, :], _along(back, nv)[: nv - s, :] @ x[nq:, :])

    @property
    def fixed_by(self) -> list[int]:
        """For each state, the entry of [q; v] with which it is fixed."""
        nq, nv, s = self.con.tree.nq, self.con.tree.nv, self.stiff
        of_q = [*range(nq - nv), *(nq - nv + k for k in self.order)]
        return [*of_q[: nq - s], *(nq + k for k in self.order[: nv - s])]

    def on_grid(self, states: ca.MX, k: ca.MX | None, rule: RungeKutta) -> ca.MX:
        """q and v at the N + 1 instants of the grid, of states there and unknowns k at the stages."""
        if not self.stiff or k is None:
            return states
        nv, degree, n = self.con.tree.nv, len(rule.c), states.shape[1] - 1
        begin, end = extrapolation(rule.c)
        eta = k[nv - self.stiff : nv, :]
        at_grid = ca.horzcat(eta @ ca.kron(ca.DM.eye(n), ca.DM(begin)), eta[:, (n - 1) * degree :] @ ca.DM(end))
        return ca.MX(ca.vertcat(*self._with_stiff(states, at_grid)))

    def unknowns(self, q: Array, a: Array) -> Array:
        """The first nv rows of k (columns) in a motion (a row for each stage)."""
        if not self.stiff:
            return a.T
        at, second = (np.linalg.solve(self.shapes, x[:, -self.con.tree.nv :].T) for x in (q, a))
        return np.vstack([second[: -self.stiff], at[-self.stiff :]])

    def points(self, rule: RungeKutta, x: ca.MX, k: ca.MX, h: ca.MX) -> tuple[ca.MX, ca.MX, ca.MX, ca.MX]:
        """q, v and the unknowns of :attr:`stage`, a column for each collocation point, and the states after each step.

        ``x`` and ``h`` are states and length at the start of each step, ``k`` the unknowns at each point.
        """
        tree, s = self.con.tree, self.stiff
        if not s:
            moving = k[: k.shape[0] - self.independent, :]
            q, v, x_next = steps.interpolated(tree, rule, x, moving, h)
            return ca.MX(q), ca.MX(v), k, ca.MX(x_next)
        slow, eta, rates = k[: tree.nv - s, :], k[tree.nv - s : tree.nv, :], k[tree.nv :, :]
        at, rate, x_next = steps.interpolated(tree, rule, x, ca.vertcat(slow, rates), h, s)
        q, v = self._with_stiff(ca.vertcat(at, rate), eta)
        return q, v, ca.vertcat(self._without_stiff(slow), rates), ca.MX(x_next)

    def _with_stiff(self, states: Any, eta: Any) -> tuple[Any, Any]:
        """q and v (columns) of states and the amplitudes of stiff modes."""
        nq = self.con.tree.nq
        q = _along(self.shapes, nq) @ ca.vertcat(states[: nq - self.stiff, :], eta)
        return q, self._without_stiff(states[nq - self.stiff :, :])

    def _without_stiff(self, rates: Any) -> Any:
        """v or a (nv) of those of the states."""
        return _along(self.shapes, self.con.tree.nv)[:, : -self.stiff] @ rates

    @cached_property
    def finer(self) -> Callable[..., Any]:
        """A step of the classical Runge–Kutta method (x, u, h) → (x_next, …), which shows the error of other steps.

        What constraints hold takes it from the equations of a stage, since the graph of its forward dynamics takes
        longer to build than a problem to solve.
        """
        return steps.HeldStep(self.con, self.stage) if self.con.nc else steps.rk4(self.robot)

    def kinetic_energies(self, q: Array, v: Array, *p: Array) -> Array:
        """Kinetic energies (n) [J] of columns q, v and p."""
        if isinstance(self.finer, steps.HeldStep):
            return self.finer.kinetic_energies(q, v, *p)
        return np.asarray(self.dynamics.kinetic_energy(q, v, *p).full().ravel())

    @cached_property
    def stage(self) -> ca.Function:
        """The equations of motion at a collocation point, as :func:`~gdalembert.ocp.steps.stage`."""
        return steps.stage(self.rows, _along(self.shapes, self.con.nv) if self.stiff else None)

    @cached_property
    def projection(self) -> ca.Function:
        """(x, s) → (moved): how s moves the end of a step that begins at x onto the constraints."""
        con, nq, p = self.con, self.con.nq, self.con.symbols()
        s = symbols(x=self.states, s=self.projections) | p
        q, s_q, s_v = s["x"][:nq], s["s"][: len(self.places), :], s["s"][len(self.places) :, :]
        unit, _ = unit_and_scale(q, unit_blocks(con.tree))
        along = self.places.jacobian(unit, [*p.values()]).T @ s_q
        moved = ca.vertcat(con.tree.configuration_rate(q, along), self.rows.jacobian(unit, [*p.values()]).T @ s_v)
        return steps.differentiable(function("projection", s, {"moved": moved}))

    def forces(self, k: ca.MX) -> ca.MX:
        """The forces of all constraints (nc), of unknowns (columns)."""
        return ca.MX(constant(self.rows.basis).T @ k[k.shape[0] - self.independent :, :])

    def closed(self, q: Array, hold: Sequence[str] = ()) -> Array:
        """A configuration near q that satisfies the constraints where that can be, with some joints as they are."""
        if len(self.places):
            with contextlib.suppress(ArgumentError):
                return np.array(self.places.con.closed_configuration(q, hold))
        return q

    def consistent(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """A motion nearby (a row for each time) that satisfies the constraints where that is possible."""
        p = steps.values_of(self.con)
        q, v, a = np.array([self.closed(each) for each in q]), v.copy(), a.copy()
        for i, here in enumerate(q if self.independent else ()):
            jacobian = self.rows.numbers(here)
            inverse = np.linalg.pinv(jacobian)
            v[i] -= inverse @ jacobian @ v[i]
            bias = self.rows.basis @ self.con.bias_acceleration(here, v[i], *p).full().ravel()
            a[i] -= inverse @ (jacobian @ a[i] + bias)
        return q, v, a

    def efforts(self, q: Array, v: Array, a: Array, p: Array, u: Array | None = None) -> tuple[Array, Array]:
        """u (N × nu) and the independent forces of the constraints that come nearest to a motion (a row for each time).

        With u given, the forces alone.
        """
        actuators, tree, one = self.dynamics.actuators, self.dynamics.tree, np.ones(self.dynamics.nu)
        idle = [i for joint in tree.joints if not joint.type.is_actuated for i in joint.columns]
        by_u = actuators.derivatives(neutral(tree).full().ravel(), one)[1][np.setdiff1d(np.arange(tree.nv), idle)]
        driven = np.flatnonzero(np.any(by_u, axis=0)).tolist()  # whatever drives anything but a free-flyer
        torques = self.dynamics.inverse_dynamics(q.T, v.T, a.T, *columns(p, len(q))).full().T
        inputs = np.zeros((len(q), self.dynamics.nu)) if u is None else u
        forces = np.zeros((len(q), self.independent))
        for i, (here, tau) in enumerate(zip(q, torques, strict=True)):
            if not self.independent and u is None:
                inputs[i] = actuators.efforts(here, tau)
            elif self.independent:
                pushed = self.rows.jacobian(ca.DM(here), columns(p, 1)).full().T
                left = tau - actuators.torque(here, one if u is None else u[i])
                if u is None:
                    b = actuators.derivatives(here, one)[1]
                    pushed, left = np.hstack([b[:, driven], pushed]), left + b @ one
                found = np.linalg.lstsq(pushed, left, rcond=None)[0]
                forces[i] = found[len(found) - self.independent :]
                if u is None:
                    inputs[i, driven] = found[: len(driven)]
        return inputs, forces


def locked_modes(dyn: Dynamics, p: Array) -> tuple[Array, Array]:
    """Frequencies [Hz] and shapes of an arm's links at the neutral configuration, joints locked; none of a rigid robot.

    Rotors of flexible joints have no part in them, as springs connect these with the joints alone.
    """
    return locked_vibrations(dyn, p, dyn.modes)


def locked_vibrations(dyn: Dynamics, p: Array, chosen: range) -> tuple[Array, Array]:
    """Frequencies [Hz], rising, and shapes of some coordinates at the neutral configuration, the others held."""
    if not chosen:
        return np.zeros(0), np.zeros((0, 0))
    q, index = neutral(dyn.tree).full().ravel(), np.ix_(chosen, chosen)
    squares, shapes = vibrations(dyn.mass_matrix(q, *columns(p, 1)).full()[index], dyn.force_stiffness(q, p)[index])
    return np.sqrt(squares) / (2 * np.pi), shapes


def _along(shapes: Array, size: int) -> ca.DM:
    """Φ as a sparse matrix (size × size), for v, or for q, which begins with entries that are no coordinates of Φ."""
    return ca.diagcat(ca.DM.eye(size - len(shapes)), ca.sparsify(ca.DM(shapes)))


def vibrations(mass: Array, stiffness: Array) -> tuple[Array, Array]:
    """ω² and mass-normalised shapes Ψ of M and the symmetric part of K; zero where K drives away."""
    half = np.linalg.inv(np.linalg.cholesky(mass))
    squares, vectors = np.linalg.eigh(half @ (stiffness + stiffness.T) @ half.T / 2)
    return np.maximum(squares, 0.0), half.T @ vectors


AUTO = "auto"
"""What lets modes follow their loads where the intervals are too long for them."""
PERIODS = 4.0
"""A mode of more periods in the shortest interval is far too fast for its stages, fewer than one a period."""


def system_of(robot: Robot, quasi_static: float | str | None, p: Array, rule: RungeKutta, interval: float) -> System:
    """The system of a robot with parameters p, modes of a flexible arm above ``quasi_static`` following their loads.

    ``"auto"``: those of more than :data:`PERIODS` periods in an ``interval`` [s], the shortest one, where that can be.

    Warns:
        SolutionWarning: if these vibrate all the same, as contacts or loops hold the robot, or steps are explicit.
    """
    system, limit = System("Problem", robot), PERIODS / interval
    if isinstance(quasi_static, str):
        choice("quasi_static", quasi_static, (AUTO,))
        stays = "the steps are explicit" if rule.is_explicit else "contacts or loops hold it" if system.con.nc else ""
        modes = system.vibrating(p) if rule.is_explicit else locked_modes(system.dynamics, p)[0]
        if not len(modes) or modes[-1] <= limit:
            return system
        if not stays:
            system.relax(limit, p)
            return system
        warn(
            f"Problem: {system.con.tree.name}: vibrations of up to {modes[-1]:.3g} Hz have "
            f"{modes[-1] * interval:.2g} periods in an interval, which no stage resolves, and cannot follow their "
            f"loads since {stays}; the solver may find no plan: take fewer modes or more intervals, or "
            "quasi_static=None to leave it so",
            SolutionWarning,
        )
    elif quasi_static is not None:
        system.relax(quasi_static, p)
    return system


def extrapolation(c: Array) -> tuple[Array, Array]:
    """The weights of values at c, by which their polynomial has its values at 0 and at 1."""
    powers = np.arange(len(c))
    to_coefficients = np.linalg.inv(c[:, None] ** powers)
    return to_coefficients[0], to_coefficients.sum(axis=0)


class Stages(NamedTuple):
    """The motion at the stages of all intervals: one column for each in a problem, one row in a solution."""

    t: Any
    q: Any
    v: Any
    a: Any
    u: Any
    forces: Any

    def __repr__(self) -> str:
        return brief(self)


class TranscribedMotion:
    """The variables of a motion, those of an interval apart from those of any other.

    The duration and the entries of p that are optimised are constants of the motion: states whose rate is zero. Thus
    only the gaps connect two intervals, and these are linear in the later one.

    Attributes:
        range: the shortest and the longest duration [s].
        effort: typical magnitudes of u (nu).
        state: a column for each of the N + 1 instants: q, v, and the constants, without what follows its load alone;
            ``size``: the number of entries before the constants. ``x``: all of q and v.
        u: a column for each interval, or instant if it is linear.
        k: the unknowns of implicit steps, a column for each stage: a, the rates of the entries ``free`` of q, and
            independent forces of constraints. ``s``: what moves the ends of the steps onto the constraints.
        t: times of the grid (1 × (N + 1)) [s].
        stages: t, q, v, a, u at the stages, a column for each; ``fractions`` are their times over the duration.
        reached: the state at the end of each interval, that the steps give.
        equations: residuals of the equations of motion. ``gaps``: the number of the constraint that connects the
            intervals.
    """

    def __init__(
        self,
        opti: ca.Opti,
        system: System,
        parameters: RobotParameters,
        bounds: Bounds,
        intervals: int,
        duration: float | tuple[float, float],
        rule: RungeKutta,
        control: str,
        *,
        compiled: bool,
    ) -> None:
        self.opti, self.system, self.parameters, self.bounds = opti, system, parameters, bounds
        self.intervals, self.rule, self.control, self._compiled = intervals, rule, control, compiled
        self.dyn = dyn = system.robot
        largest = np.maximum(np.abs(bounds.u_lower), np.abs(bounds.u_upper))
        self.effort = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
        n, self.size = intervals, system.states
        self.free_time = isinstance(duration, tuple)
        self.range = duration if isinstance(duration, tuple) else (duration, duration)
        self.state = opti.variable(self.size + self.free_time + len(parameters.chosen), n + 1)
        constants = self.state[self.size :, :]
        parameters.variables = constants[int(self.free_time) :, :]
        self._durations = constants[0, :] if self.free_time else ca.MX(ca.DM.ones(1, n + 1) * self.range[0])
        self.u = opti.variable(dyn.nu, n + (control == "linear"))
        self.t = self._durations * ca.DM(np.linspace(0, 1, n + 1)).T
        self.fractions = (np.arange(n)[:, None] + rule.c).ravel() / n
        self.k: ca.MX | None = None
        self.s = opti.variable(system.projections, n) if system.projections else None
        self.free: list[int] = []
        self._connect()
        self.x = system.on_grid(self.state[: self.size, :], self.k, rule)

    @property
    def duration(self) -> ca.MX:
        """The duration as the first interval knows it [s]."""
        return self._durations[0]

    @property
    def overlap(self) -> str:
        """Why intervals share variables; empty if none do."""
        if self.control == "constant":
            return ""
        return (
            "control='linear' connects intervals, each of which ends with the u that the next one begins with; take "
            "control='constant'"
        )

    @property
    def blocks(self) -> list[tuple[ca.MX, int]]:
        """Each matrix of variables, and how many of its columns belong to an interval."""
        matrices = (self.state, 1), (self.k, len(self.rule.c)), (self.s, 1), (self.u, 1)
        return [(matrix, width) for matrix, width in matrices if matrix is not None]

    def at_stages(self, rows: ca.MX) -> ca.MX:
        """A column for each stage, of a matrix with one for each instant of the grid: that of its interval's start."""
        return ca.kron(rows[:, : self.intervals], ca.DM.ones(1, len(self.rule.c)))

    def columns_of_p(self, n: int) -> list[ca.MX]:
        """p, if there is any, a column for each of n states, at the instants of the grid or at the stages."""
        if not len(self.parameters):
            return []
        p = self.parameters.along
        return [ca.repmat(p, 1, n) if p.shape[1] == 1 else p if p.shape[1] == n else self.at_stages(p)]

    def inside(self, columns: ca.MX) -> ca.MX:
        """The columns, of one for each stage, of those stages that are not at an instant of the grid."""
        c = self.rule.c
        return columns[:, np.flatnonzero(np.tile((c > 0) & (c < 1), self.intervals)).tolist()]

    @interruptible
    def integral(self, values: ca.MX) -> ca.MX:
        """The integral over the motion of values, a column for each stage."""
        weights = np.tile(self.rule.b, self.intervals) / self.intervals
        return ca.MX(values @ (self.at_stages(self._durations) * ca.DM(weights).T).T)

    @property
    def sees_midpoints_alone(self) -> bool:
        """Whether the only stage of an interval is inside it."""
        return len(self.rule.c) == 1 and bool(0 < self.rule.c[0] < 1)

    def integral_over_grid(self, values: ca.MX) -> ca.MX:
        """The integral of values by the trapezoidal rule, a column for each instant of the grid."""
        weights = np.r_[0.5, np.ones(self.intervals - 1), 0.5] / self.intervals
        return ca.MX(values @ (self._durations * ca.DM(weights).T).T)

    @interruptible
    def evaluate(self, expression: Expression, at: str, named: Mapping[str, ca.MX]) -> EvaluatedExpression:
        """An expression of q, v, a, u, t, p and the parameters ``named`` of the problem, compiled if steps are.

        ``at``: each of the ``"stages"``, each instant of the ``"grid"``, or the first or last one.
        """
        compiled = partial(external, order=2, where=f"Problem: {self.dyn.tree.name}") if self._compiled else None
        others = ({"p": self.parameters.along} if self.dyn.parameters else {}) | dict(named)
        if at == "stages":
            names = ("q", "v", "a", "u", "t", *["forces"][: self.system.con.nc])
            states = {name: getattr(self.stages, name) for name in names}
            for name, x in others.items():
                if x.shape[1] > 1:
                    others[name] = (
                        self.at_stages(x) if name == "p" else x @ _spread(self.intervals, self.rule.c, "linear")
                    )
            return evaluate(expression, states | others, at, named, compiled=compiled)
        nq, column = self.dyn.tree.nq, {"start": [0], "end": [self.intervals]}.get(at, slice(None))
        x = self.x[:, column]
        states = {"q": x[:nq, :], "v": x[nq:, :], "t": self.t[:, column]}
        others = {name: x[:, column] if x.shape[1] > 1 else x for name, x in others.items()}
        return evaluate(expression, states | others, at, named, compiled=compiled)

    def _connect(self) -> None:
        """Add the equations of motion, and that each interval begins where the one before ends."""
        opti, system, n, dyn, parameters = self.opti, self.system, self.intervals, self.dyn, self.parameters
        rule, control, points = self.rule, self.control, self.intervals * len(self.rule.c)
        p = parameters.columns(n) if len(parameters) else []
        begins, steps = self.state[: self.size, :-1], self._durations[:, :-1] / n
        u = self.u @ _spread(n, rule.c, control)

        def mapped(step: ca.Function, count: int) -> ca.Function:
            graph = step_of_parts(step, parameters) if p else step
            return (external(graph, 2, f"Problem: {dyn.tree.name}") if self._compiled else graph).map(count)

        residual, forces = ca.MX(0, 1), ca.MX(0, points)
        if rule.is_explicit:
            both = (np.repeat(np.arange(n), 2) + np.tile([0, 1], n)).tolist()
            ends = self.u if control == "constant" else self.u[:, both]
            x_next, q, v, a = mapped(explicit_step(dyn, rule, control), n)(begins, ends, steps, *p)
        else:
            self.free = free_rates(dyn.tree)[0]
            self.k = opti.variable(dyn.tree.nv + len(self.free) + system.independent, points)
            q, v, k, x_next = system.points(rule, begins, self.k, steps)
            unit, residual = mapped(system.stage, points)(q, v, k, u, *map(self.at_stages, p))
            q, a, forces = (unit if unit_blocks(dyn.tree) else q), k[: dyn.tree.nv, :], system.forces(k)
            if self.s is not None:
                x_next += mapped(system.projection, n)(begins, self.s, *p)
            rest = neutral(dyn.tree).full().ravel()
            efforts = np.abs(system.dynamics.actuators.derivatives(rest, self.effort)[1]) @ self.effort
            sizes = np.concatenate([np.where(efforts > 0, efforts, 1.0), np.ones(len(self.free) + system.independent)])
            sizes[: dyn.tree.nv] = sizes[system.order]
            opti.subject_to(ca.vec(residual) == 0, np.tile(sizes, points))
        self.reached = ca.vertcat(x_next, self.state[self.size :, :-1])
        gaps = ca.vec(self.state[:, 1:] - self.reached)
        self.gaps = len(opti.advanced.constraints())
        opti.subject_to(gaps == 0)
        self.equations = ca.vertcat(ca.vec(residual), gaps)
        times = self.at_stages(self._durations) * ca.DM(self.fractions).T
        self.stages = Stages(times, q, v, a, u, forces)


def _spread(n: int, c: Array, control: str) -> ca.DM:
    """The matrix that turns u into a column for each stage, at fractions c of n intervals."""
    if control == "constant":
        return ca.kron(ca.DM.eye(n), ca.DM.ones(1, len(c)))
    eye, none = ca.DM.eye(n), ca.DM(1, n)
    return ca.sparsify(ca.kron(ca.vertcat(eye, none), ca.DM(1 - c).T) + ca.kron(ca.vertcat(none, eye), ca.DM(c).T))


def checked_duration(duration: float | tuple[float, float]) -> float | tuple[float, float]:
    """A number [s], or (shortest, longest); an ArgumentTypeError or an ArgumentError if it is neither."""
    if not isinstance(duration, Sequence | np.ndarray):
        return number("duration", duration, "s")
    ends = numbers("duration", duration)
    if ends.shape == ():
        return number("duration", ends.item(), "s")
    if ends.shape != (2,) or not 0 < ends[0] < ends[1]:
        raise ArgumentError(f"duration: got {shown(duration)}; give one number [s], or (shortest, longest)")
    return float(ends[0]), float(ends[1])
