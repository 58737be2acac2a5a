"""Problem: an optimal control problem of a robot, as a ``casadi.Opti`` with its transcribed motion."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.dynamics.parameters.physical import check_mass_matrix
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.configuration import lengths, projected, unit_blocks
from gdalembert.ocp.bounds import Bounds
from gdalembert.ocp.constraints import Constraints, path_bounds
from gdalembert.ocp.ends import checked_end, fix_configuration
from gdalembert.ocp.expressions import EvaluatedExpression, Expression, evaluate
from gdalembert.ocp.guess import Guess, rest_to_rest, typical_sizes
from gdalembert.ocp.model_parameters import Design, ModelParameters
from gdalembert.ocp.solution import OptimizationError, Solution, SolutionWarning, Stages, doubts, finer_motion
from gdalembert.ocp.solver import choose_solver, last_line, same_options
from gdalembert.ocp.steps import CONTROLS, check_driven_by_u, rk4
from gdalembert.ocp.transcription import METHODS, transcribe
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arguments import choice, integer, number, numbers
from gdalembert.spatial.arrays import Array

PLACES = ("stages", "grid")
"""Where bounds and paths can hold."""


class Problem:
    """An optimal control problem: the motion of a robot under its equations of motion and bounds, and a cost.

        problem = Problem(dyn, duration=(0.5, 3.0), intervals=30, bounds=Bounds.of(dyn, model))
        problem.start(q_start)
        problem.end(q_end)
        problem.minimize(problem.duration)
        solution = problem.solve()

    ``opti`` is its ``casadi.Opti``: add any constraint of your own there, with the expressions below.

    Args:
        dyn: rigid or flexible; under wrenches: ``dyn.under(wrenches)``.
        duration: [s], or (shortest, longest) if it is free.
        intervals: number N of steps.
        bounds: of q, v and u; none by default.
        method: ``"collocation"``: implicit, with inverse dynamics as the residual
            (:func:`~gdalembert.ocp.collocation`).
            ``"rk4"``: explicit, with forward dynamics (:func:`~gdalembert.ocp.rk4`).
        degree, scheme: of the collocation, as for :func:`~gdalembert.ocp.collocation`.
        control: ``"constant"`` over each interval, or ``"linear"``, without jumps.
        bounds_at: ``"stages"``: q and v obey their bounds at the grid and at the stages between; ``"grid"``: only at
            the grid, which is easier to solve and may violate them in between.
        p: the parameters of ``dyn``, all values (n_p) or some by name, the others being those of the model; by default
            those of the model. Every solve may set others: nothing is built again.
        design: the entries of p that are optimised with the motion, ``{name: (lower, upper)}``; the solver starts at
            their values in ``p``, within these bounds.
        compiled: evaluate the steps and their derivatives as machine code, which needs a C compiler: for problems that
            are solved for long or often. It takes seconds to minutes to compile, the first time; the cache is that of
            :func:`~gdalembert.compile`.

    Attributes:
        opti: the ``casadi.Opti``.
        duration: the number, or the variable [s].
        t: times of the grid (N + 1) [s].
        q, v: at the grid, nq × (N + 1) and nv × (N + 1).
        u: nu × N (constant) or nu × (N + 1) (linear) [N m, N].
        p: the parameters of the robot (n_p × 1), for costs and constraints; no entries if it has none.
        stages: ``t, q, v, a, u`` where the equations of motion hold, a column for each stage.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used, or no robot has the parameters p.
        UnknownNameError: if a name in ``p`` or ``design`` is not that of a parameter.
        CompilationError: if ``compiled`` steps are wanted, and there is no compiler, or it fails.
    """

    def __init__(
        self,
        dyn: Dynamics,
        duration: float | tuple[float, float],
        intervals: int,
        *,
        bounds: Bounds | None = None,
        method: str = "collocation",
        degree: int = 3,
        scheme: str = "legendre",
        control: str = "constant",
        bounds_at: str = "stages",
        p: Values = None,
        design: Design | None = None,
        compiled: bool = False,
    ) -> None:
        check_driven_by_u("Problem", dyn)
        intervals = integer("intervals", intervals, 1)
        choice("method", method, METHODS)
        choice("control", control, CONTROLS)
        choice("bounds_at", bounds_at, PLACES)
        if not isinstance(bounds, Bounds | None):
            raise ArgumentTypeError(f"bounds: expected Bounds.of(dyn, model), got {type(bounds).__name__}")
        self._finer = rk4(dyn)  # refuses a singular M
        self.dyn, self.intervals, self.method, self.control = dyn, intervals, method, control
        self.bounds = Bounds.of(dyn) if bounds is None else bounds
        if (self.bounds.v_names, self.bounds.u_names) != ((own := Bounds.of(dyn)).v_names, own.u_names):
            raise ArgumentError(f"the bounds are not those of {dyn.tree.name}; make them by Bounds.of(dyn, model)")
        self.opti = ca.Opti()
        self._blocks = unit_blocks(dyn.tree)
        self._ends: dict[str, Array] = {}
        self._fixed: set[str] = set()
        self._constraints = Constraints(self.opti)
        self._guess: Guess | None = None
        self._cost: ca.MX | None = None
        self._built: tuple[str, Mapping[str, Any]] | None = None
        self._parameters = ModelParameters(self.opti, dyn, p, design)
        self._values, self.p = self._parameters.values, self._parameters.p
        nq, nv, nu = dyn.tree.nq, dyn.tree.nv, dyn.nu
        self._x = self.opti.variable(nq + nv, intervals + 1)
        self.q, self.v = self._x[:nq, :], self._x[nq:, :]
        self.u = self.opti.variable(nu, intervals + (control == "linear"))
        self._set_duration(duration)
        self._scale_u()
        h = self.duration / intervals
        how = method, degree, scheme, control, self._parameters, compiled
        self._steps = transcribe(self.opti, dyn, self._x, self.u, h, self._effort, *how)
        fractions = (np.arange(intervals)[:, None] + self._steps.rule.c).ravel() / intervals
        self._fractions = fractions
        self.stages = Stages(self.duration * ca.DM(fractions).T, *self._steps.stages)
        self._bound(bounds_at)
        self._parameters.bound(self._constraints)

    def __repr__(self) -> str:
        return f"Problem({self.dyn!r}, intervals={self.intervals}, method={self.method!r}, control={self.control!r})"

    # The transcription.

    def _set_duration(self, duration: float | tuple[float, float]) -> None:
        if np.ndim(duration) == 0:
            self.duration: Any = number("duration", duration, "s")
            self._range = self.duration, self.duration
        else:
            ends = numbers("duration", duration)
            if ends.shape != (2,) or not 0 < ends[0] < ends[1]:
                raise ArgumentError(f"duration: got {duration!r}; give one number [s], or (shortest, longest)")
            self._range = float(ends[0]), float(ends[1])
            self.duration = self.opti.variable()
            self.opti.subject_to(self.opti.bounded(ends[0], self.duration, ends[1]))
        self.t = self.duration * ca.DM(np.linspace(0, 1, self.intervals + 1)).T

    def _scale_u(self) -> None:
        largest = np.maximum(np.abs(self.bounds.u_lower), np.abs(self.bounds.u_upper))
        self._effort = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
        self.opti.set_linear_scale(self.u, ca.repmat(ca.DM(self._effort), 1, self.u.shape[1]))

    def _bound(self, at: str) -> None:
        b = self.bounds
        kept = [(self.q, b.q_lower, b.q_upper), (self.v, b.v_lower, b.v_upper), (self.u, b.u_lower, b.u_upper)]
        if at == "stages":
            kept += [(self.stages.q, b.q_lower, b.q_upper), (self.stages.v, b.v_lower, b.v_upper)]
        names = ("q at the grid", "v at the grid", "u", "q at stages", "v at stages")
        for name, given in zip(names, kept, strict=False):
            self._constraints.bound(f"bounds of {name}", *given)

    # The user's part.

    def start(self, q: npt.ArrayLike | None = None, v: npt.ArrayLike | None = 0.0) -> None:
        """Fix the start: q (nq) and v (nv, or one number; zero by default); ``None`` leaves them free.

        Raises:
            ArgumentTypeError, ArgumentError: if their length is wrong, or they are not finite or not within the bounds.
        """
        self._fix("start", 0, q, v)

    def end(self, q: npt.ArrayLike | None = None, v: npt.ArrayLike | None = 0.0) -> None:
        """Fix the end: q (nq) and v (nv, or one number; zero by default); ``None`` leaves them free.

        Quaternions and pairs (cos, sin) are fixed as rotations; the motion determines their lengths.

        Raises:
            As :meth:`start`.
        """
        self._fix("end", self.intervals, q, v)

    def _fix(self, name: str, column: int, q: npt.ArrayLike | None, v: npt.ArrayLike | None) -> None:
        if name in self._fixed:
            raise ArgumentError(f"{name} was called before; make a new Problem for other ends")
        tree = self.dyn.tree
        given, speed = checked_end(name, tree, self.bounds, q, v)
        self._fixed.add(name)
        if given is not None:
            self._ends[name] = given
            where = self.q[:, column]
            fix_configuration(name, self.opti, self._constraints, tree, where, given, as_rotations=column > 0)
        if speed is not None:
            self._constraints.fix(f"v of {name}", self.v[:, column], speed)

    def path(
        self,
        expression: Expression,
        lower: npt.ArrayLike = -np.inf,
        upper: npt.ArrayLike = np.inf,
        *,
        at: str | None = None,
    ) -> None:
        """Keep an expression of the motion between two bounds.

        Args:
            expression: a ``casadi.Function`` or a callable whose inputs are named q, v, a, u, as ``lambda q: …``, and p
                if the robot has parameters; its only value is a number or a matrix.
            lower, upper: bounds of the same shape, or one number; equal ones make an equation.
            at: ``"stages"``, or ``"grid"``: the N + 1 instants of the grid, where only q and v are available. By
                default the stages, and for inequalities of q and v the grid too.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used.
        """
        if at is not None:
            choice("path: at", at, PLACES)
        graph, values = self._evaluated(expression, at or "stages")
        low, high = path_bounds(lower, upper, values.shape[0])
        name = self._constraints.next_path()
        if set(graph.name_in()) <= {"q", "v", "p"}:
            self._constraints.follow(name, graph, low, high)
            if at is None and np.all(low < high):
                values = ca.horzcat(values, self._evaluated(expression, "grid").values)
        self._constraints.bound(name, values, low, high)

    def integral(self, expression: Expression) -> ca.MX:
        """∫ expression dt over the motion, by the quadrature of the method, in the shape of the expression.

        Args:
            expression: as in :meth:`path`.
        """
        weights = np.tile(self._steps.rule.b, self.intervals) / self.intervals
        return ca.MX(self.duration * (self._evaluated(expression, "stages").values @ ca.DM(weights)))

    def _evaluated(self, expression: Expression, at: str) -> EvaluatedExpression:
        """An expression at each stage, or at each instant of the grid."""
        p = {"p": self.p} if self.dyn.parameters else {}
        if at == "grid":
            return evaluate(expression, {"q": self.q, "v": self.v} | p, at)
        return evaluate(expression, {name: getattr(self.stages, name) for name in ("q", "v", "a", "u")} | p, at)

    def minimize(self, cost: ca.MX) -> None:
        """Set the cost: an expression of ``duration``, :meth:`integral`, ``q``, ``v``, ``u``.

        Raises:
            ArgumentTypeError, ArgumentError: if it is not an expression, not scalar, or constant.
        """
        if not isinstance(cost, ca.MX):
            hint = "nothing can change it" if isinstance(cost, int | float) else "it is not an expression"
            raise ArgumentTypeError(
                f"minimize: {hint}; give one of duration, where it is free, q, v, u, or an integral"
            )
        if not cost.is_scalar():
            raise ArgumentError(f"minimize: the cost has {cost.numel()} entries; give one, as ca.sum1 of them")
        self.opti.minimize(cost)
        self._cost = cost

    def guess(self, motion: Guess | Simulation | Solution) -> None:
        """Set the initial guess; the default is :func:`rest_to_rest` between q of :meth:`start` and :meth:`end`.

        Its time is scaled to the fixed duration, or into the range of a free one.
        """
        if isinstance(motion, Solution):
            motion = motion.guess()
        if isinstance(motion, Simulation):
            if motion.model != self.dyn.tree.name:
                raise ArgumentError(f"guess: the simulation is of {motion.model!r}, not of {self.dyn.tree.name!r}")
            motion = Guess(motion.t - motion.t[0], motion.q, motion.v, motion.a, motion.u, self._blocks)
        if not isinstance(motion, Guess):
            raise ArgumentTypeError(f"guess takes a Guess, a Simulation or a Solution, not {type(motion).__name__}")
        shapes = motion.q.shape[1], motion.v.shape[1], motion.u.shape[1]
        if shapes != (own := (self.q.shape[0], self.v.shape[0], self.u.shape[0])):
            raise ArgumentError(f"guess: it has nq, nv, nu = {shapes}; {self.dyn.tree.name} has {own}")
        self._guess = motion

    def _rest_to_rest(self) -> Guess:
        """The motion between the fixed ends, within the bounds of v if the duration allows it."""
        if not self._ends:
            raise ArgumentError("there is no motion to start from; call guess(…), or start(q) or end(q)")
        known = [self._ends[name] for name in ("start", "end") if name in self._ends]
        shortest, longest = self._range
        motion = rest_to_rest(self.dyn, known[0], known[-1], 1.0, p=self._values)
        fastest = (np.abs(motion.v) / self.bounds.v_upper).max()
        duration = float(np.clip(1.25 * fastest, shortest, longest))
        return rest_to_rest(self.dyn, known[0], known[-1], duration, p=self._values)

    def _set_initial(self) -> None:
        motion = self._rest_to_rest() if self._guess is None else self._guess
        check_mass_matrix("solve", self.dyn, motion.q[0], self._values)
        duration = float(np.clip(motion.t[-1] - motion.t[0], *self._range))
        q, v, a = typical_sizes(self.dyn, motion, duration, self._values)
        self.opti.set_linear_scale(self._x, ca.repmat(ca.DM(np.concatenate([q, v])), 1, self._x.shape[1]))
        if (k := self._steps.k) is not None:
            sizes = np.concatenate([a, np.ones(len(self._steps.free))])
            self.opti.set_linear_scale(k, ca.repmat(ca.DM(sizes), 1, k.shape[1]))
        if isinstance(self.duration, ca.MX):
            self.opti.set_initial(self.duration, duration)
        grid = np.linspace(0, 1, self.intervals + 1)
        q, v, _, u = motion.at(grid, duration)
        self.opti.set_initial(self._x, np.hstack([q, v]).T)
        lower, upper = self.bounds.u_lower, self.bounds.u_upper
        self.opti.set_initial(self.u, np.clip(u, lower, upper)[: self.u.shape[1]].T)
        if k is not None:
            q, v, a, _ = motion.at(self._fractions, duration)
            rates = [self.dyn.tree.configuration_rate(ca.DM(x), ca.DM(y)) for x, y in zip(q, v, strict=True)]
            self.opti.set_initial(k, ca.vertcat(a.T, ca.horzcat(*rates)[self._steps.free, :]))

    def solve(self, solver: str = "ipopt", options: Mapping[str, Any] | None = None, *, p: Values = None) -> Solution:
        """Solve the problem.

        Args:
            solver: name of a CasADi NLP solver.
            options: options of the ``casadi.nlpsol``, as ``{"ipopt.max_iter": 200}``; they override ours, which make
                it quiet.
            p: the parameters of the robot in this solve, all values or some by name, the others being those of the
                problem; by default those of the problem. What is optimised starts at these values. A solve that differs
                from the last one in p and the guess alone builds nothing.

        Returns:
            The solution; also one that the solver calls acceptable only: see ``status``.

        Raises:
            ArgumentError: if nothing is to be minimised, there is no guess, CasADi refuses the options, or no robot has
                the parameters p.
            ArgumentTypeError, UnknownNameError: if p cannot be used.
            OptimizationError: if the solver stops without a solution; it has the last iterate.

        Warns:
            SolutionWarning: if the steps are too coarse for the motion, see :attr:`Solution.step_error`; or if no robot
                has the optimum of p.
        """
        if self._cost is None:
            raise ArgumentError("nothing is to be minimised; call minimize(problem.duration) or of an integral")
        self._values = self._parameters.set(p)
        self._set_initial()
        wanted = dict(options or {})
        if self._built is None or self._built[0] != solver or not same_options(self._built[1], wanted):
            choose_solver(self.opti, solver, wanted)
            self._built = solver, wanted
        failure = None
        try:
            self.opti.solve()
        except RuntimeError as error:
            failure = error
        try:
            stats = self.opti.stats()
        except RuntimeError:
            raise ArgumentError(f"solve: CasADi refuses the problem: {last_line(failure)}") from failure
        solution = self._solution(stats)
        if failure is not None:
            raise OptimizationError(solution)
        for doubt in doubts(solution):
            warnings.warn(f"{self.dyn.tree.name}: {doubt}", SolutionWarning, stacklevel=2)
        return solution

    def _solution(self, stats: Mapping[str, Any]) -> Solution:
        def value(expression: Any) -> Array:
            return np.array(self.opti.debug.value(ca.MX(expression)), dtype=float, ndmin=2)

        nq = self.q.shape[0]
        x = value(self._x).reshape(self._x.shape).T
        q, v, t, u = x[:, :nq], x[:, nq:], value(self.t).ravel(), value(self.u).reshape(self.u.shape).T
        stages = Stages(*(value(rows).reshape(rows.shape).T for rows in self.stages))
        p = value(self.p).ravel()
        error, finer = finer_motion(self.dyn, self._finer, t, x, u, self.control, p)
        passed = (finer[:, :nq], finer[:, nq:]) if np.isfinite(error) else (stages.q, stages.v)
        g, lower, upper = (value(e).ravel() for e in (self.opti.g, self.opti.lbg, self.opti.ubg))
        return Solution(
            dyn=self.dyn,
            bounds=self.bounds,
            control=self.control,
            status=str(stats["return_status"]),
            iterations=0 if stats["return_status"] == "Invalid_Problem_Definition" else int(stats.get("iter_count", 0)),
            cost=float(value(self._cost)[0, 0]),
            t=t,
            q=projected(q, self._blocks),
            v=v,
            u=u,
            p=p,
            stages=stages,
            constraint_violation=float(np.maximum(lower - g, g - upper).max(initial=0)),
            length_violation=float(np.abs(lengths(q, self._blocks) - 1).max(initial=0)),
            step_error=error,
            excess=self.bounds.excess(*passed) | self._constraints.excess(passed[0], passed[1], p),
            violations={"the equations of motion": float(np.abs(value(self._steps.equations)).max())}
            | self._constraints.violations(value),
            stats=dict(stats),
        )
