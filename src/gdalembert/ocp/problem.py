"""Problem: an optimal control problem of a robot, as a ``casadi.Opti`` with its transcribed motion."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.ocp.backends import backend, checked_options, same_options
from gdalembert.ocp.bounds import Bounds
from gdalembert.ocp.closing import close
from gdalembert.ocp.constraints import Constraints, same_bounds, symbolic_bounds
from gdalembert.ocp.ends import End, Fixed
from gdalembert.ocp.expressions import Expression, check_cost
from gdalembert.ocp.friction import Cone, Sole, friction_cones
from gdalembert.ocp.guess import Guess
from gdalembert.ocp.initial import Initial
from gdalembert.ocp.inputs import Fixing, Inputs
from gdalembert.ocp.model_parameters import Design, ModelParameters
from gdalembert.ocp.parameters import Parameters
from gdalembert.ocp.programs import Assembly, ProblemProgram
from gdalembert.ocp.quantities import Quantities
from gdalembert.ocp.quasi_static import AUTO, system_of
from gdalembert.ocp.report import PathOfStates, Report
from gdalembert.ocp.solution import OptimizationError, Solution, SolutionWarning, doubts
from gdalembert.ocp.solver import Solver
from gdalembert.ocp.steps import CONTROLS
from gdalembert.ocp.systems import Robot
from gdalembert.ocp.transcription import METHODS, Motion, Scheme, checked_duration, magnitudes
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arguments import choice, integer
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.interrupts import interruptible

PLACES = ("stages", "grid")
"""Where bounds can hold."""
_PATHS = (*PLACES, "start", "end")
"""Where paths can hold."""


class Problem:
    """An optimal control problem: the motion of a robot under its equations of motion and bounds, and a cost.

        problem = Problem(dyn, duration=(0.5, 3.0), intervals=30, bounds=Bounds.of(dyn, model))
        problem.start(q_start)
        problem.end(q_end)
        problem.minimize(problem.duration)
        solution = problem.solve()

    ``opti`` is its ``casadi.Opti``: add any constraint of your own there, with the expressions below.

    Args:
        dyn: rigid or flexible, or a :class:`~gdalembert.ConstrainedDynamics`; under wrenches: ``dyn.under(wrenches)``.
        duration: [s], or (shortest, longest) if it is free.
        intervals: number N of steps.
        bounds: of q, v and u; none by default.
        method: ``"collocation"``: implicit, by inverse dynamics (:func:`~gdalembert.ocp.collocation`); ``"rk4"``:
            explicit, by forward dynamics (:func:`~gdalembert.ocp.rk4`).
        degree, scheme: of the collocation, as for :func:`~gdalembert.ocp.collocation`.
        control: ``"constant"`` over each interval, or ``"linear"``, without jumps.
        bounds_at: ``"stages"``: q and v obey their bounds at the grid and at the stages between; ``"grid"``: only at
            the grid, which is easier to solve and may violate them in between.
        p: the parameters of ``dyn``, all values (n_p) or some by name, the others being those of the model; by default
            those of the model. Any solve may set others, which hold until the next change: nothing is built again.
        design: the entries of p that are optimised with the motion, ``{name: (lower, upper)}``; the solver starts at
            their values in ``p``, within these bounds.
        quasi_static: [Hz]: natural modes of a flexible arm above it follow their loads without inertia; none if None.
            ``"auto"``: those of more than four periods in the shortest interval, with collocation, of an arm without
            rotors, contacts, loops and a design.
        compiled: evaluate the steps, the expressions and their derivatives as machine code, which needs a C compiler:
            for problems that are solved for long or often. It takes seconds to minutes to compile, the first time; the
            cache is that of :func:`~gdalembert.compile`.

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

    @interruptible
    def __init__(
        self,
        dyn: Robot,
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
        quasi_static: float | str | None = AUTO,
        compiled: bool = False,
    ) -> None:
        intervals, time = integer("intervals", intervals, 1, 1_000_000), checked_duration(duration)
        choice("method", method, METHODS)
        self._system = system_of(dyn, quasi_static, p, method, float(np.min(time)) / intervals, design)
        choice("control", control, CONTROLS)
        choice("bounds_at", bounds_at, PLACES)
        if not isinstance(bounds, Bounds | None):
            raise ArgumentTypeError(f"bounds: expected Bounds.of(dyn, model), got {type(bounds).__name__}")
        self._system.check(method)
        self.dyn, self.intervals, self.method, self.control = dyn, intervals, method, control
        self.bounds = Bounds.of(dyn) if bounds is None else bounds
        if (self.bounds.v_names, self.bounds.u_names) != ((own := Bounds.of(dyn)).v_names, own.u_names):
            raise ArgumentError(f"the bounds are not those of {dyn.tree.name}; make them by Bounds.of(dyn, model)")
        self.bounds.check_drives(dyn.tree)
        self.opti = ca.Opti()
        self._robot = ModelParameters(self.opti, self._system.dynamics, p, design)
        self._parameters = Parameters(self.opti, intervals)
        self._constraints = Constraints(self.opti)
        self._cost: ca.MX | None = None
        self._built: tuple[Any, Mapping[str, Any], Solver[Solution]] | None = None
        self._paths: dict[str, PathOfStates] = {}
        self._cones: list[Cone] = []
        how = Scheme(method, degree, scheme, control, compiled)
        self._motion = Motion(self.opti, self._system, intervals, time, how, magnitudes(self.bounds), self._robot)
        self.duration: Any = self._motion.duration if self._motion.free_time else self._motion.range[0]
        nq = dyn.tree.nq
        self.q, self.v, self.u = self._motion.x[:nq, :], self._motion.x[nq:, :], self._motion.u
        self.t, self.stages, self.p = self._motion.t, self._motion.stages, self._robot.p
        self._bound(bounds_at)
        ends = (("start", 0), ("end", intervals))
        self._ends = [End(name, self._motion, column, self._constraints, self.bounds) for name, column in ends]
        self._initial = Initial(self._motion, self.bounds, self._ends, self._robot)
        self._quantities = Quantities(self._motion, self._parameters, self._robot)
        self._closings = close(self._motion, self._constraints, self._robot, self._ends, self._initial)
        self._fixed: list[Fixing] = [*self._ends, *self._closings]
        self._constraints.claim()

    def __repr__(self) -> str:
        return f"Problem({self.dyn!r}, intervals={self.intervals}, method={self.method!r}, control={self.control!r})"

    def _bound(self, at: str) -> None:
        b = self.bounds
        kept = [(self.q, b.q_lower, b.q_upper), (self.v, b.v_lower, b.v_upper), (self.u, b.u_lower, b.u_upper)]
        if at == "stages":
            q, v = self._motion.inside(self.stages.q), self._motion.inside(self.stages.v)
            kept += [(q, b.q_lower, b.q_upper), (v, b.v_lower, b.v_upper)]
        names = ("q at the grid", "v at the grid", "u", "q at stages", "v at stages")
        for name, given in zip(names, kept, strict=False):
            self._constraints.bound(f"bounds of {name}", *given)
        if self._motion.free_time:
            self.opti.subject_to(self.opti.bounded(self._motion.range[0], self.duration, self._motion.range[1]))
        self._robot.bound(self._constraints)

    def parameter(self, name: str, size: int = 1, *, at: str | None = None) -> ca.MX:
        """A new parameter: numbers that every solve is given by this name.

        It may stand in the start, the end, expressions of paths and integrals and their bounds, and the cost.

        Args:
            name: a Python identifier.
            size: number of entries.
            at: ``"grid"``: a reference over the motion, with a column for each instant of the grid (size × (N + 1)).
                Expressions take it as an input of its name, interpolated at the stages.

        Raises:
            ArgumentTypeError, ArgumentError: if the name is taken or is no identifier, or the size is not positive.
        """
        return self._parameters.make(name, size, at)

    def start(self, q: Fixed = None, v: Fixed = 0.0) -> None:
        """Fix the start, again at any time: q (nq) and v (nv, or one number; zero by default); ``None`` frees them.

        Args:
            q, v: numbers; an MX of parameters; or some entries by name, ``{"joint2": 0.3}``, the others being free.
                Numbers must satisfy unit lengths, contacts and loops; what parameters give as all of q or v is moved
                there, if it is near: :attr:`Solution.corrections`.

        Raises:
            ArgumentTypeError, ArgumentError, UnknownNameError: if their length is wrong, or they are not finite or not
                within the bounds, or have symbols that are no parameters.
        """
        self._ends[0].fix(self._parameters, q, v)

    def end(self, q: Fixed = None, v: Fixed = 0.0) -> None:
        """Fix the end, as :meth:`start`; ``path(…, at="end")`` fixes a frame.

        Quaternions and pairs (cos, sin) are fixed as rotations; the motion determines their lengths.

        Raises:
            As :meth:`start`.
        """
        self._ends[1].fix(self._parameters, q, v)

    def path(
        self,
        expression: Expression,
        lower: npt.ArrayLike | ca.MX = -np.inf,
        upper: npt.ArrayLike | ca.MX = np.inf,
        *,
        at: str | None = None,
    ) -> None:
        """Keep an expression of the motion between two bounds.

        Args:
            expression: a ``casadi.Function`` or a callable whose inputs are named q, v, a, u, t, as ``lambda q: …``, or
                as parameters of the problem, and p if the robot has parameters; its only value is a number or a matrix.
            lower, upper: bounds of the same shape, or one number; or an MX of parameters. Equal ones make an equation.
            at: ``"stages"``, or ``"grid"``: the N + 1 instants of the grid, ``"start"`` or ``"end"``: the first or the
                last of them, where only q, v and t are available. By default the stages, and for inequalities of q and
                v the grid too; these make way at the start for q and v that parameters give.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used.
        """
        if at is not None:
            choice("path: at", at, _PATHS)
        found = self._quantities.evaluate(expression, at or "stages")
        for key, bound in (("lower", lower), ("upper", upper)):
            self._parameters.check_bound("path", key, bound)
        low, high = symbolic_bounds(lower, upper, found.values.shape[0])
        name, values, leeway = self._constraints.next_path(), found.values, None
        if at in (None, *PLACES) and not {"a", "u", "forces"} & set(found.graph.name_in()):
            known = {"p": self.p} | self._parameters.symbols
            constants = {key: known[key] for key in found.graph.name_in() if key in known}
            self._paths[name] = PathOfStates(found, low, high, constants)
            if at != "stages" and not same_bounds(low, high):
                between = self._motion.inside(values) if at is None else values[:, []]
                grid = values if at == "grid" else self._quantities.evaluate(expression, "grid").values
                values = ca.horzcat(between, grid)
                leeway = ca.MX(1, values.shape[1])
                leeway[0, between.shape[1]] = self._ends[0].leeway
        self._constraints.bound(name, values, low, high, leeway)

    def friction(
        self,
        mu: float,
        contacts: Sequence[str] | None = None,
        *,
        normal: npt.ArrayLike | None = None,
        form: str = "inscribed",
        half_length: float | None = None,
        half_width: float | None = None,
        sole: Any = None,
    ) -> None:
        """Keep forces of contacts in their friction cones at every stage: the ground pushes, and feet do not slip.

        Args:
            mu: coefficient of friction.
            contacts: frames of contacts; all by default.
            normal: of the ground under points (3D), in the universe; by default (0, 0, 1).
            form: of the cone, as for :func:`~gdalembert.friction_cone` (3D) and :func:`~gdalembert.wrench_cone` (6D):
                linear by default, in the axes of the universe or the sole.
            half_length, half_width, sole: of 6D contacts, as for :func:`~gdalembert.wrench_cone`.

        Raises:
            ArgumentTypeError, ArgumentError: if there are no contacts, or an argument cannot be used.
            UnknownNameError: if no contact has a name.
        """
        shape = Sole(half_length, half_width, sole)
        for cone in friction_cones(self._system.con, contacts, mu, normal, form, shape):
            margins = self._quantities.evaluate(cone.margin, "stages").values
            size = margins.shape[0]
            self._constraints.bound(f"friction of {cone.name}", margins, np.zeros(size), np.full(size, np.inf))
            self._cones.append(cone)

    def integral(self, expression: Expression) -> ca.MX:
        """∫ expression dt over the motion, by the quadrature of the method: a column of the entries of the expression.

        Args:
            expression: as in :meth:`path`.
        """
        return self._motion.integral(self._quantities.evaluate(expression, "stages").values)

    def minimize(self, cost: ca.MX) -> None:
        """Set the cost: an expression of ``duration``, :meth:`integral`, ``q``, ``v``, ``u``.

        Raises:
            ArgumentTypeError, ArgumentError: if it is no expression, not scalar, constant, or has a foreign symbol.
        """
        check_cost(self.opti, cost)
        self.opti.minimize(cost)
        self._cost = cost

    def guess(self, motion: Guess | Simulation | Solution) -> None:
        """Set the initial guess; the default is :func:`rest_to_rest` between q of :meth:`start` and :meth:`end`.

        Its time is scaled to the fixed duration, or into the range of a free one. For a flexible arm it may be a motion
        of the rigid robot: modes and rotors then deflect by the forces that it exerts on them.
        """
        self._initial.set(motion)

    @interruptible
    def solver(self, solver: str = "ipopt", options: Mapping[str, Any] | None = None) -> Solver[Solution]:
        """Build a solver once, which is called with the parameters of each solve: for receding horizons.

        It solves the problem as it is now: what is added later needs another one.

        Args:
            solver, options: as in :meth:`solve`.

        Raises:
            ArgumentError: if nothing is to be minimised, or CasADi refuses the options.
            UnsupportedError: if the solver needs constraints and costs of one interval each, and one connects two; or
                if it takes no ``"max_wall_time"``.
        """
        if self._cost is None:
            raise ArgumentError("nothing is to be minimised; call minimize(problem.duration) or of an integral")
        given, stagewise = checked_options("solver", options), backend(solver).stagewise
        return Solver(ProblemProgram(self._assembled(), stagewise=stagewise), solver, given)

    def _assembled(self) -> Assembly:
        """What a solver is made of, as the problem is now."""
        for closing in self._closings:
            closing.prepare()
        modes = self._initial.set_scales()
        opti = self.opti.advanced
        opti.bake()
        inputs = Inputs(opti, self._parameters, self._robot, self._fixed)
        report = Report(self._motion, opti, self.bounds, self._constraints, self._robot, self._paths, self._ends)
        return Assembly(self._motion, modes, opti, inputs, report, self._constraints, self._initial.variables)

    def _set(self, p: Values, values: Mapping[str, Any]) -> None:
        """Take the values of a solve."""
        of_robot = self._robot.checked("solve", p)
        self._parameters.set("solve", values)
        self._robot.set(of_robot)
        for end in self._fixed:
            end.set(self._parameters)

    @interruptible
    def solve(
        self,
        solver: str = "ipopt",
        options: Mapping[str, Any] | None = None,
        *,
        p: Values = None,
        **values: npt.ArrayLike,
    ) -> Solution:
        """Solve the problem.

        Args:
            solver: name of a CasADi NLP solver: ``"ipopt"``, ``"fatrop"``, ``"sqpmethod"`` …
            options: of the ``casadi.nlpsol``, as ``{"ipopt.max_iter": 200}``, which override ours; and of these three
                solvers ``"max_wall_time"``, at which a solve ends without a solution [s].
            p: the parameters of the robot, all values or some by name; those that are missing keep their last values,
                at first those of the problem. What is optimised starts at these values. A solve that differs from the
                last one in p, parameters, ends and the guess alone builds nothing.
            values: the parameters of the problem by name; those that are missing keep their last values.

        Returns:
            The solution; also one that the solver calls acceptable only: see ``status``.

        Raises:
            ArgumentError: if nothing is to be minimised, there is no guess, CasADi refuses the options, no robot has
                the parameters p, or a value is missing.
            ArgumentTypeError, UnknownNameError: if p or a value cannot be used.
            UnsupportedError: as :meth:`solver`.
            OptimizationError: if the solver stops without a solution; it has the last iterate.

        Warns:
            SolutionWarning: if the steps are too coarse for the motion, see :attr:`Solution.step_error`; or if no robot
                has the optimum of p.
        """
        wanted = checked_options("solve", options)
        self._set(p, values)
        key = solver, [end.pattern for end in self._fixed], self._contents()
        if self._built is None or self._built[0] != key or not same_options(self._built[1], wanted):
            self._built = key, wanted, self.solver(solver, wanted)
        solution = self._built[2].cold()
        if not solution.solved:
            raise OptimizationError(solution)
        for doubt in doubts(solution):
            warnings.warn(f"{self.dyn.tree.name}: {doubt}", SolutionWarning, stacklevel=3)
        return solution

    def value(self, expression: ca.MX) -> Array:
        """An expression of the variables and parameters of ``opti``, such as an integral, where :meth:`solve` ended.

        Raises:
            ArgumentTypeError, ArgumentError: if it is none, or nothing was solved.
        """
        if self._built is None:
            raise ArgumentError("value: nothing was solved; call solve first")
        return self._built[2].value(expression)

    def _contents(self) -> tuple[int, ...]:
        """What tells whether the constraints or the cost of ``opti`` have changed."""
        opti = self.opti.advanced
        return tuple(x.__hash__() for x in (*opti.constraints(), opti.objective()))
