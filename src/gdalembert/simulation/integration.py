"""A robot as an integrator sees it, ẋ = f(x, u), and what integrates it: by CasADi, and by the methods of SciPy.

The integrators are restarted for every piece of the output times, and print nothing on stderr.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from gdalembert.compilation.machine_code import external
from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.model.configuration import Blocks, lengths, projected, unit_and_scale, unit_blocks
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.simulation.control import Control, ControlFailure
from gdalembert.spatial.arguments import required
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import Evaluation, function, symbols
from gdalembert.spatial.interrupts import Interrupts
from gdalembert.spatial.progress import current

INTEGRALS = ("work", "dissipated", "constraint_work", "action")
"""Integrals beside the state, of: the power of the actuators and wrenches, of the dampers and of the constraints'
forces [W], and the kinetic energy [J]."""
ADAPTIVE: dict[str, tuple[str, dict[str, Any]]] = {
    "adams": ("cvodes", {"linear_multistep_method": "adams", "nonlinear_solver_iteration": "functional"}),
    "bdf": ("cvodes", {"linear_multistep_method": "bdf", "nonlinear_solver_iteration": "newton"}),
    "idas": ("idas", {}),
}
FIXED: dict[str, tuple[str, dict[str, Any]]] = {
    "collocation": ("collocation", {"collocation_scheme": "legendre"}),
    "rk4": ("rk", {}),
}
U_FAILED = "u failed"
RUNS_AWAY = "the motion runs away"
FASTEST = 1e6
"""Speed [m/s, rad/s]: a motion that grows beyond it takes ever shorter steps, thousands of them, to no end."""
_KEPT = 32
"""Number of integrators that a robot keeps: more than the pieces of a motion at times of any spacing."""
_PIECES = 20
"""Number of pieces of the output times: a failed integration loses at most one piece, the progress advances by one
piece, and a restart costs a multistep method about ten short steps."""


class Kept:
    """Integrators built for motions of one robot, kept for the next ones: building takes far longer than use.

    Whoever borrows it has it alone, since an integrator counts its steps, and u may simulate the same robot.
    """

    def __init__(self) -> None:
        # a second motion of panda7 takes 0.1 s, where the first takes 1.9 s
        self._made: dict[int, tuple[Hashable, Array, Any]] = {}
        self._count = itertools.count()

    @contextlib.contextmanager
    def borrowed(
        self, key: Hashable, make: Callable[[], Any], times: Array | None = None, rounding: float = 0.0
    ) -> Iterator[Any]:
        """Lend what was made for this key and these times, but for their rounding, or make it now."""
        grid = np.empty(0) if times is None else times
        taken = None
        for number, (other, known, _) in reversed(list(self._made.items())):
            if other == key and known.shape == grid.shape and np.all(np.abs(known - grid) <= rounding):
                taken = self._made.pop(number, None)
            if taken is not None:
                break
        taken = (key, grid, make()) if taken is None else taken
        try:
            yield taken[2]
        finally:
            self._made[next(self._count)] = taken
            for number in list(self._made)[:-_KEPT]:
                self._made.pop(number, None)


@dataclass(frozen=True)
class Plant:
    """A robot, alone or held by constraints.

    Attributes:
        unit: (x) → (projection), x with unit lengths in q.
        flow: (x, u) → (xdot, power, forces): the rates of x and of ``INTEGRALS``, and the forces of the constraints.
            Behind the efforts of the actuators u has the wrenches that are an input, column by column. If the robot has
            parameters, p is the last input.
        observed: (x) → (potential, residual): potential energy, and residual of the constraints; p as in ``flow``.
        kept: what integrates and evaluates it.
    """

    nq: int
    blocks: Blocks
    unit: ca.Function
    flow: ca.Function
    observed: ca.Function
    kept: Kept = field(init=False, compare=False, default_factory=Kept)

    def driven(self, control: Control, t: ca.MX, x: ca.MX, numbers: ca.MX, p: ca.MX, called: Any = None) -> list[ca.MX]:
        """The rates of x and of ``INTEGRALS`` under a control."""
        u = control.expression(t, self.unit(x) if self.blocks else x, numbers, p, called)
        xdot, power, _ = self.flow(x, u, *([p] if p.numel() else []))
        return [xdot, power]

    def flow_at(self, x: Array, u: Array, p: Array) -> list[Array]:
        """``flow`` where x and u are the rows of arrays, N × … each."""
        return self._evaluated(self.flow, [x, u], p)

    def observed_at(self, x: Array, p: Array) -> list[Array]:
        """``observed`` where x are the rows of an array, N × … each."""
        return self._evaluated(self.observed, [x], p)

    def _evaluated(self, function: ca.Function, rows: list[Array], p: Array) -> list[Array]:
        def make() -> Evaluation:
            # arrays that are kept: a call of the Function converts each matrix, which takes longer than the dynamics
            inputs, outputs = range(function.n_in()), range(function.n_out())
            return Evaluation(
                function,
                [np.zeros(function.size1_in(i)) for i in inputs],
                [np.zeros(function.size1_out(i)) for i in outputs],
            )

        with self.kept.borrowed(function.name(), make) as kept:
            evaluation: Evaluation = kept
            return evaluation.rows(*rows, *([p] if len(p) else []))


# by the robot, which they end with, and not an attribute of it: dynamics knows no integrators
_PLANTS: WeakKeyDictionary[Dynamics | ConstrainedDynamics, dict[bool, Plant]] = WeakKeyDictionary()


def plant(robot: Dynamics | ConstrainedDynamics, compiled: bool = False) -> Plant:
    """The plant of a robot, built once, its ``flow`` also as machine code: its dynamics see unit lengths.

    dq/dt of a quaternion, or of a pair (cos, sin), is linear in it, so that a drift of its length does not change the
    rate of its direction.
    """
    made = _PLANTS.setdefault(robot, {})
    if False not in made:
        made[False] = _new_plant(ConstrainedDynamics.of("simulate", robot))
    if compiled and True not in made:
        made[True] = replace(made[False], flow=external(made[False].flow, 1, f"simulate: {robot.tree.name}"))
    return made[compiled]


def _new_plant(con: ConstrainedDynamics) -> Plant:
    dyn, outside = con.dynamics, con.dynamics.external_wrenches
    tree, nq, nu, blocks = dyn.tree, dyn.tree.nq, dyn.nu, unit_blocks(dyn.tree)
    s = symbols(x=nq + tree.nv, u=nu + math.prod(outside.shape) * outside.is_input) | (named := dyn.symbols())
    p = list(named.values())
    wrenches = [ca.reshape(s["u"][nu:], *outside.shape)] if outside.is_input else []
    q, scale = unit_and_scale(s["x"][:nq], blocks)
    v, tau = s["x"][nq:], dyn.actuators.tau(q, s["u"][:nu])
    a, forces = con.forward_dynamics(q, v, tau, *wrenches, *p)
    pushed = dyn.wrench_torque_expression(q, outside.columns(*wrenches) if wrenches else outside.constant)
    power = (
        ca.dot(v, tau - pushed),
        dyn.dissipated_power_expression(q, v) + ca.dot(v, tau - dyn.without_load_expression(q, v, tau)),
        ca.dot(forces, con.velocity(q, v, *p)),
        dyn.kinetic_energy(q, v, *p),
    )
    rates = ca.vertcat(scale * tree.configuration_rate(q, v), a)
    unit = function("unit", {"x": s["x"]}, {"projection": ca.vertcat(q, v)})
    flow = function("flow", s, {"xdot": rates, "power": ca.vertcat(*power), "forces": forces})
    residual = con.residual(s["x"][:nq], *p) if con.nc else ca.SX(0, 1)
    potential = dyn.potential_energy(s["x"][:nq], *p)
    observed = function("observed", {"x": s["x"]} | named, {"potential": potential, "residual": residual})
    return Plant(nq, blocks, unit, flow, observed)


@dataclass
class Integrator(ABC):
    """An integrator of the pieces of a motion of a robot with the parameters p (n_p)."""

    plant: Plant
    control: Control
    p: Array

    @abstractmethod
    def piece(self, t: Array, x0: Array, numbers: Array) -> tuple[Array, Array, int]:
        """States and ``INTEGRALS``, from t[0] on, at t[1:], and the number of steps; RuntimeError if that fails.

        ``numbers`` are those of the control, a column for each interval.
        """


@dataclass
class PartialMotion:
    """The motion up to output time ``reached``.

    Attributes:
        x: states at all output times, projected (N × nx).
        integrals: those of ``INTEGRALS`` up to each output time (N × 4) [J, J s].
        drift: that of unit lengths before the projection (N).
        steps: number of steps of the integrator.
        failure: the message of the integrator if it failed before the end.
    """

    x: Array
    integrals: Array
    drift: Array
    reached: int = 0
    steps: int = 0
    failure: str | None = None


def integrate(
    integrator: Integrator,
    failure: ControlFailure,
    t: Array,
    x0: Array,
    unit: str,
    interrupts: Interrupts,
) -> PartialMotion:
    """The motion from x0 at t[0] through all output times, or up to a failure or interrupt; ``unit``: what its progress
    counts."""
    n, nq, control = len(t), integrator.plant.nq, integrator.control
    motion = PartialMotion(np.tile(x0, (n, 1)), np.zeros((n, len(INTEGRALS))), np.zeros(n))
    size = 1 if control.is_sampled else math.ceil((n - 1) / _PIECES)
    interrupts.is_raised = False
    while (k := motion.reached) < n - 1 and interrupts.error is None:
        stop = min(k + size, n - 1)
        try:
            interrupts.stops = True
            numbers = np.column_stack([control.interval(i, motion.x[i]) for i in range(k, stop)])
            _check(failure)
            x, integrals, steps = integrator.piece(t[k : stop + 1], motion.x[k], numbers)
            _check(failure)
            _check_speed(x[:, nq:], x0[nq:])
            if not (np.all(np.isfinite(x)) and np.all(np.isfinite(integrals))):
                raise RuntimeError("the state is not finite")
            interrupts.stops = False
        except BaseException as error:
            interrupts.stops = False
            if interrupts.error is not None:
                return motion
            if not isinstance(error, RuntimeError):
                raise
            # once more, interval by interval, so that the motion up to the one that fails is kept
            if stop - k == 1:
                motion.failure = U_FAILED if failure.error is not None else str(error)
                return motion
            size, failure.error = 1, None
            continue
        rows, q = slice(k + 1, stop + 1), x[:, :nq]
        motion.drift[rows] = np.abs(lengths(q, integrator.plant.blocks) - 1).max(axis=1, initial=0)
        motion.x[rows] = np.hstack([projected(q, integrator.plant.blocks), x[:, nq:]])
        motion.integrals[rows] = motion.integrals[k] + integrals
        motion.reached, motion.steps = stop, motion.steps + steps
        current().count(stop, n - 1, unit)
    return motion


def _check_speed(v: Array, start: Array) -> None:
    """Raise RuntimeError where a motion from the velocity ``start`` runs away."""
    if np.abs(v).max() > max(FASTEST, 10 * np.abs(start).max()):
        raise RuntimeError(RUNS_AWAY)


def _check(failure: ControlFailure) -> None:
    if failure.error is not None:
        raise RuntimeError(U_FAILED)


@dataclass
class Integrators(Integrator):
    """The integrators of CasADi for the pieces of the output times; pieces with the same times share one.

    Time is counted from the start t0 of a piece, in units of its length, so that the next piece, and the next motion,
    may begin and end at any time: both are inputs, next to the numbers of the control.

    ``INTEGRALS`` are states of Adams' method, whose iteration takes them with x at once; as quadratures of CVODES they
    take an evaluation in each step besides, of the whole graph. In the Jacobians of the other methods they would count.
    """

    method: str
    step: float | None
    options: Mapping[str, Any]

    def __post_init__(self) -> None:
        if name := next((shown(key) for key in self.options if not isinstance(key, str)), None):
            raise ArgumentTypeError(f"simulate: options: got the name {name}; give those of the integrator, as texts")
        self._has_integrals = self.method == "adams"
        options = self.options.items()
        is_known = not self.control.laws and all(isinstance(x, str | bool | int | float) for _, x in options)
        self._kept = (
            self.plant.kept if is_known else Kept()
        )  # Python callables, and Functions in options, are this call's
        self._key = (self.method, self.control.key, tuple(sorted((name, repr(x)) for name, x in options)))

    def piece(self, t: Array, x0: Array, numbers: Array) -> tuple[Array, Array, int]:
        times = t[1:] - t[0]
        unit = 1.0 if {*self.options} - {"reltol", "abstol"} else float(times[-1])  # other options may be in seconds
        rounding = 4 * np.finfo(float).eps * np.abs(t).max() / unit
        elements, steps = 0, 0
        if self.step is not None:
            # so that at most one step of each interval is shorter
            elements = max(1, math.ceil(times[-1] / self.step * (1 - ROUND_OFF)))
            steps = int(np.ceil(np.diff(times, prepend=0.0) / self.step * (1 - ROUND_OFF)).sum())
        key, make = (*self._key, elements), lambda: self._new(times / unit, elements)
        u = np.vstack([numbers, np.tile([[t[0]], [unit]], numbers.shape[1])])
        # an integrator for each row of times, since CasADi takes its grid where it is built
        with self._kept.borrowed(key, make, times / unit, rounding) as solver, self._quiet():
            start = np.pad(x0, (0, solver.size1_in("x0") - len(x0)))
            result = solver(x0=start, u=u, p=self.p)
            x, integrals = np.split(np.hstack([result["xf"].full().T, result["qf"].full().T]), [len(x0)], axis=1)
            return x, integrals, solver.stats().get("nsteps", steps)

    def _new(self, times: Array, elements: int) -> ca.Function:
        """An integrator, with so many steps if that is fixed."""
        numbers = self.control.numbers
        nx = self.plant.flow.size1_in(0)
        y = ca.MX.sym("y", nx + len(INTEGRALS) * self._has_integrals)
        since, p = ca.MX.sym("t"), ca.MX.sym("p", len(self.p))
        constants = ca.MX.sym("u", numbers + 2)
        start, unit = constants[numbers], constants[numbers + 1]
        xdot, power = self.plant.driven(self.control, start + unit * since, y[:nx], constants[:numbers], p)
        rates = {"ode": ca.vertcat(xdot, power)} if self._has_integrals else {"ode": xdot, "quad": power}
        problem = {"x": y, "t": since, "u": constants, "p": p} | {name: unit * rate for name, rate in rates.items()}
        kind, defaults = (ADAPTIVE | FIXED)[self.method]
        settings: dict[str, Any] = {"show_eval_warnings": False} | defaults
        if self.step is None:
            # a diverging motion must fail within seconds
            settings["max_num_steps"] = 100_000 if not self.control.laws else 10_000
            settings |= {"disable_internal_warnings": True, "quad_err_con": True}
        else:
            settings["number_of_finite_elements"] = elements
        settings |= self.options
        with self._quiet():
            try:
                return ca.integrator("motion", kind, problem, 0.0, times.tolist(), settings)
            except Exception as error:
                lines = str(error).strip().splitlines()
                line = next((line for line in lines if "Unknown option" in line), lines[-1])
                reason = re.sub(r"^\S+\.[ch]pp:\d+: ", "", line)
                raise ArgumentError(f"simulate: options={dict(self.options)}: CasADi refuses them: {reason}") from None

    def _quiet(self) -> contextlib.AbstractContextManager[Any]:
        """Drop what SUNDIALS prints; the exception says it too."""
        if self.method in ("idas", "collocation"):
            return contextlib.redirect_stderr(io.StringIO())
        return contextlib.nullcontext()


@dataclass
class AdaptiveRungeKutta(Integrator):
    """A Runge–Kutta method that chooses its steps.

    Attributes:
        reltol, abstol: tolerances of x and of ``INTEGRALS``; for v, ``abstol`` is divided by the length of the step
            [s], since an error of v moves q by so much in a step. That is ours.
        max_steps: between two output times.
    """

    reltol: float
    abstol: float
    max_steps: float


_FIRST = 1e-6
"""Length [s] of the first step of :class:`Dop853`; it grows tenfold from step to step."""
_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 10.0
_STABILIZED = 0.04
"""Exponent of the error before: steps that stability limits then do not fail again and again (section IV.2 of volume
II)."""
_TINY, _SMALL = 1e-300, 1e-4
_CHECKED = 100
"""Steps from one look at the speed to the next."""


@dataclass
class Dop853(AdaptiveRungeKutta):
    """The explicit method of order 8 of Dormand and Prince, for what is evaluated fast, as machine code.

    E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 1993, section II.5. A step takes
    twelve evaluations and is stable up to about six times the time in which the fastest mode turns by one radian, where
    Adams' method takes ten steps or more. SciPy has the coefficients; a step is one Function, on y = [x;
    ``INTEGRALS``] in arrays that are kept. Steps end at each output time.
    """

    def __post_init__(self) -> None:
        tableau = required("simulate: method='dop853'", "scipy.integrate", "simulation").DOP853
        key = ("dop853", self.control.key, self.reltol, self.abstol)
        kept = Kept() if self.control.laws else self.plant.kept
        with kept.borrowed(key, lambda: self._step(tableau)) as made:
            function = made
        arguments = [*(np.zeros(function.size1_in(i)) for i in range(4)), np.array(self.p)]
        results = [np.zeros(function.size1_out(i)) for i in range(2)]
        self._t, self._h, self._y, self._numbers, _ = arguments
        self._after, self._estimate = results
        self._evaluation = Evaluation(function, arguments, results)
        self._length, self._error = _FIRST, _SMALL

    def piece(self, t: Array, x0: Array, numbers: Array) -> tuple[Array, Array, int]:
        nq, nx, steps = self.plant.nq, len(x0), 0
        rows = np.zeros((len(t) - 1, nx + len(INTEGRALS)))
        self._y[:nx], self._y[nx:] = x0, 0.0
        for k, row in enumerate(rows):
            self._numbers[:] = numbers[:, k]
            now, end, tried, grow = float(t[k]), float(t[k + 1]), 0, _GROW
            while now < end:
                proposed = min(self._length, end - now)
                self._t[0], self._h[0] = now, proposed
                self._evaluation.evaluate()
                error = float(self._estimate[0])
                if self._evaluation.failed() or math.isnan(error):
                    error = math.inf
                tried += 1
                if error < 1:
                    factor = _SAFETY * (error + _TINY) ** (0.75 * _STABILIZED - 1 / 8) * self._error**_STABILIZED
                    self._error = max(error, _SMALL)
                    self._y[:] = self._after
                    now = end if proposed == end - now else now + proposed
                    longer = proposed * min(grow, max(_SHRINK, factor))
                    self._length, grow = max(longer, self._length) if now == end else longer, _GROW
                else:
                    self._length, grow = proposed * max(_SHRINK, _SAFETY * error ** (-1 / 8)), 1.0
                if tried % _CHECKED == 0:
                    _check_speed(self._y[nq:nx], x0[nq:])
                if tried > self.max_steps:
                    raise RuntimeError("TOO_MUCH_WORK")
                if self._length < 10 * np.spacing(max(abs(now), abs(end))):
                    self._length = _FIRST
                    raise RuntimeError("the steps are too short")
            steps += tried
            row[:] = self._y
        return rows[:, :nx], rows[:, nx:], steps

    def _step(self, tableau: Any) -> ca.Function:
        """(t, h, y, numbers, p) → (y after the step, its error as a part of the tolerances)."""
        plant, stages = self.plant, 12
        nx = plant.flow.size1_in(0)
        n = nx + len(INTEGRALS)
        t, h, y = ca.MX.sym("t"), ca.MX.sym("h"), ca.MX.sym("y", n)
        numbers, p = ca.MX.sym("numbers", self.control.numbers), ca.MX.sym("p", len(self.p))
        rates = ca.MX(n, 0)
        for stage in range(stages):
            x = (y + h * (rates @ ca.DM(tableau.A[stage, :stage])) if stage else y)[:nx]
            rate = plant.driven(self.control, t + tableau.C[stage] * h, x, numbers, p)
            rates = ca.horzcat(rates, ca.vertcat(*rate))
        after = y + h * (rates @ ca.DM(tableau.B[:stages]))
        of_q, of_v = ca.DM(plant.nq * [self.abstol]), ca.repmat(self.abstol * (1 + 1 / h), nx - plant.nq)
        absolute = ca.vertcat(of_q, of_v, ca.DM((n - nx) * [self.abstol]))
        tolerance = absolute + self.reltol * ca.fmax(ca.fabs(y), ca.fabs(after))
        fifth, third = (ca.sumsqr((rates @ ca.DM(e[:stages])) / tolerance) for e in (tableau.E5, tableau.E3))
        error = h * fifth / ca.sqrt(n * (fifth + 0.01 * third + _TINY))
        return ca.Function("step", [t, h, y, numbers, p], [after, error])


_DIFFERENCE = 1e-8
"""Relative step of the differences that make the Jacobian of :class:`Radau`."""


@dataclass
class Radau(AdaptiveRungeKutta):
    """SciPy's Radau IIA method of order 5, for feedback written in Python and for stiff vibrations.

    u is called here, not from a graph, and steps are long where fast modes hardly vibrate.
    """

    def __post_init__(self) -> None:
        # SciPy's, which takes 0.2 s of processor time where a method of our own took 0.7 s, for modes of 7 kHz
        self._solver: Any = required("simulate: method='radau'", "scipy.integrate", "simulation").Radau
        self._length: float | None = None
        self._called = sum(law.driver.size for law in self.control.laws)
        self._nx = self.plant.flow.size1_in(0)
        with self.plant.kept.borrowed(("radau", self.control.key), self._rates) as made:
            self._one, self._neighbours = (self._buffered(rates) for rates in made)

    def _rates(self) -> list[ca.Function]:
        """The rates of y = [x; ``INTEGRALS``] at one state and at nx states."""
        t, x, p = ca.MX.sym("t"), ca.MX.sym("x", self._nx), ca.MX.sym("p", len(self.p))
        w = ca.MX.sym("w", self._called + self.control.numbers)  # what Python returns, then the numbers of the control
        flow = self.plant.driven(self.control, t, x, w[self._called :], p, w[: self._called])
        rates = ca.Function("rates", [t, x, w, p], [ca.vertcat(*flow)])
        return [rates.map(f"rates_{k}", "serial", k, [3], []) for k in (1, self._nx)]

    def _buffered(self, mapped: ca.Function) -> Evaluation:
        """Rates at the rows of arrays (t, x, w) that are kept."""
        rows = [np.zeros(mapped.size_in(i)[::-1]) for i in range(3)]
        return Evaluation(mapped, [*rows, np.array(self.p)], [np.zeros(mapped.size_out(0)[::-1])])

    def _evaluated(self, columns: Evaluation, t: float, x: Array) -> Array:
        """Rates dy/dt (k × (nx + 4)) in states x; RuntimeError if u fails, or the evaluation does."""
        times, states, w, _ = columns.arguments
        times[:], states[:] = t, x
        if laws := self.control.laws:
            nq, blocks = self.plant.nq, self.plant.blocks
            for row, state in zip(w, states, strict=True):
                unit = np.concatenate([projected(state[:nq], blocks), state[nq:]]) if blocks else state
                row[: self._called] = np.concatenate([law.value(float(t), unit) for law in laws])
                _check(laws[0].failure)
        columns.evaluate()
        if columns.failed():
            raise RuntimeError("the evaluation fails")
        return columns.results[0]

    def _rate(self, t: float, y: Array) -> Array:
        return np.array(self._evaluated(self._one, t, y[: self._nx])[0])

    def _jacobian(self, t: float, y: Array) -> Array:
        """Jacobian ∂(dy/dt)/∂y, with that of u, by differences."""
        # and not by CasADi, whose graph does not know how u depends on x where Python returns it
        x, rate = y[: self._nx], self._rate(t, y)
        steps = _DIFFERENCE * np.maximum(1.0, np.abs(x))
        moved = self._evaluated(self._neighbours, t, x + np.diag(steps))
        jacobian = np.zeros((len(y), len(y)))
        jacobian[:, : self._nx] = ((moved - rate) / steps[:, None]).T
        if not np.all(np.isfinite(jacobian)):
            raise RuntimeError("the Jacobian is not finite")
        return jacobian

    def piece(self, t: Array, x0: Array, numbers: Array) -> tuple[Array, Array, int]:
        rows, steps = [np.concatenate([x0, np.zeros(len(INTEGRALS))])[None]], 0
        jumps = 1 + np.flatnonzero((numbers[:, 1:] != numbers[:, :-1]).any(axis=0))
        for first, last in itertools.pairwise([0, *jumps.tolist(), numbers.shape[1]]):
            for columns in (self._one, self._neighbours):
                columns.arguments[2][:, self._called :] = numbers[:, first]
            states, made = self._stretch(t[first : last + 1], rows[-1][-1])
            rows, steps = [*rows, states], steps + made
        y = np.concatenate(rows[1:])
        return y[:, : len(x0)], y[:, len(x0) :], steps

    def _stretch(self, t: Array, y: Array) -> tuple[Array, int]:
        """States y at t[1:], from t[0] on, and the number of steps, where the control does not jump.

        The first step is as long as the last stretch ended with.
        """
        rows, done, steps, since = np.zeros((len(t) - 1, len(y))), 0, 0, 0
        start, end, speeds = float(t[0]), float(t[-1]), slice(self.plant.nq, self._nx)
        first = None if self._length is None else min(self._length, end - start)
        settings = {"rtol": self.reltol, "atol": self._tolerance(1.0), "jac": self._jacobian, "first_step": first}
        solver = self._solver(self._rate, start, y, end, **settings)
        while done < len(rows):
            proposed = solver.h_abs
            solver.atol = self._tolerance(proposed)
            try:
                message = solver.step()
            except (ValueError, np.linalg.LinAlgError) as error:  # of what is not finite
                raise RuntimeError(str(error)) from None
            if solver.status == "failed":
                raise RuntimeError(message)
            self._length = max(proposed, solver.h_abs)  # a step cut short says little
            steps, since = steps + 1, since + 1
            _check_speed(solver.y[speeds], y[speeds])
            reached = int(np.searchsorted(t, solver.t, side="right")) - 1
            if reached > done:
                rows[done:reached] = solver.dense_output()(t[done + 1 : reached + 1]).T
                since, done = 0, reached
            if since > self.max_steps:
                raise RuntimeError("TOO_MUCH_WORK")
        return rows, steps

    def _tolerance(self, h: float) -> Array:
        """The absolute tolerances of y in a step of length h."""
        tolerance = np.full(self._nx + len(INTEGRALS), self.abstol)
        tolerance[self.plant.nq : self._nx] += self.abstol / h
        return tolerance
