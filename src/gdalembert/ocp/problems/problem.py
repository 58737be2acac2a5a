"""Problem: an optimal control problem of a robot, as a row of stages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError, SolutionWarning
from gdalembert.model.limits import Bounds
from gdalembert.nlp.entries import Label
from gdalembert.ocp.clearance.keep_clear import KeepsClear
from gdalembert.ocp.ends.ends import End, EndpointConstraints, Fixed, InputBefore
from gdalembert.ocp.ends.initial import Initial, Scales
from gdalembert.ocp.formulation import Formulation, RowOfStages
from gdalembert.ocp.program import OptimalControlProblem, Part
from gdalembert.ocp.real_time.problem import RealTimeProblem
from gdalembert.ocp.real_time.solver import RealTimeSolver
from gdalembert.ocp.solution import Solution
from gdalembert.ocp.stage import CostTerm, Motion, checked_duration
from gdalembert.ocp.system import constraints
from gdalembert.ocp.system.constraints import OF_INTERVAL, Bound, LimitedExpression, Relation, relation
from gdalembert.ocp.system.guess import Guess
from gdalembert.ocp.system.parameters import BoundaryCondition, Design, Inputs, ProblemParameters, RobotParameters
from gdalembert.ocp.system.steps import CONTROLS, method_of
from gdalembert.ocp.system.system import AUTO, Robot, system_of
from gdalembert.simulation.result import Simulation
from gdalembert.spatial.arguments import choice, flag, integer, warn
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.expressions import EvaluatedExpression, Expression, foreign

PLACES = ("stages", "grid")
"""Where bounds can hold."""
_PATHS = (*PLACES, "start", "end")
"""Where paths can hold."""


class Problem(KeepsClear, OptimalControlProblem[Solution]):
    """An optimal control problem: the motion of a robot under its equations of motion and bounds, and a cost.

        problem = Problem(dyn, duration=(0.5, 3.0), intervals=30, bounds=Bounds.of(dyn, model))
        problem.start(q_start)
        problem.end(q_end)
        problem.minimize(problem.duration)
        solution = problem.solve()

    Args:
        dyn: rigid or flexible, or a :class:`~gdalembert.ConstrainedDynamics`; under wrenches: ``dyn.under(wrenches)``.
        duration: [s], or (shortest, longest) if it is free.
        intervals: number N of steps.
        bounds: of q, v and u; none by default.
        method: ``"collocation"``: implicit, by inverse dynamics (:func:`~gdalembert.ocp.collocation`); ``"rk4"``:
            explicit, by forward dynamics (:func:`~gdalembert.ocp.rk4`); or the name of a Runge–Kutta method of your own
            (:func:`~gdalembert.ocp.transcription`).
        degree, scheme: of the collocation, as for :func:`~gdalembert.ocp.collocation`.
        control: ``"constant"`` over each interval, or ``"linear"``, without jumps.
        bounds_at: ``"stages"``: q and v obey their bounds at the grid and, of two and more, at the stages between;
            ``"grid"``: only at the grid, which is easier to solve and may violate them in between.
        p: the parameters of ``dyn``, all values (n_p) or some by name, the others being those of the model; by default
            those of the model. Any solve may set others, which hold until the next change: nothing is built again.
        design: the entries of p that are optimised with the motion, ``{name: (lower, upper)}``; the solver starts at
            their values in ``p``, within these bounds.
        quasi_static: [Hz]: natural modes of a flexible arm above it follow their loads without inertia; none if None.
            ``"auto"``: those of more than four periods in the shortest interval, with collocation. Where contacts or
            loops hold the arm, they hold by its joints, rotors and slower modes, and what ends fix gives way along
            their normals, by what the deflections of fast modes take. A constraint that holds by the fast ones alone is
            refused, or with ``"auto"`` warned of, and all of them vibrate.
        compiled: evaluate the steps, the expressions and their derivatives as machine code, which needs a C compiler:
            for problems that are solved for long or often. It takes seconds to minutes to compile, the first time; the
            cache is that of :func:`~gdalembert.compile`.
        progress: show on stderr what is compiled, also by what adds expressions.

    Attributes:
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
        progress: bool = False,
    ) -> None:
        intervals, time = integer("intervals", intervals, 1, 1_000_000), checked_duration(duration)
        rule = method_of(method, degree, scheme)
        constraints.check_places(dyn)
        self._robot = RobotParameters(ConstrainedDynamics.of("Problem", dyn).dynamics, design)
        self._robot.start_at(p)
        shortest = float(np.min(time)) / intervals
        self._system = system_of(dyn, quasi_static, self._robot.last, rule, shortest)
        choice("control", control, CONTROLS)
        flag("Problem: compiled", compiled)
        choice("bounds_at", bounds_at, PLACES)
        self.bounds = constraints.checked_bounds(dyn, bounds)
        self._system.check(method, rule)
        self.dyn, self.intervals, self.method, self.control = dyn, intervals, method, control
        self.bounds.check_drives(dyn.tree)
        self._parameters = ProblemParameters(intervals)
        self._cost: ca.MX | None = None
        self._minimized: ca.MX | None = None
        self._squares: list[ca.MX] = []
        self._limited: list[LimitedExpression] = []
        self._relations: list[Relation] = []
        self._cones: list[ca.Function] = []
        self._terms: dict[int, tuple[ca.MX, list[CostTerm]]] = {}
        how = {"compiled": compiled, "progress": flag("Problem: progress", progress)}
        self._motion = Motion(self._system, self._robot, self.bounds, intervals, time, rule, control, **how)
        self._bounds_at_stages = bounds_at == "stages"
        self.duration: Any = self._motion.duration if self._motion.free_time else self._motion.range[0]
        self.q, self.v = self._motion.x[: dyn.tree.nq, :], self._motion.x[dyn.tree.nq :, :]
        self.t, self.u, self.stages, self.p = self._motion.t, self._motion.u, self._motion.stages, self._robot.p
        self._ends = [End(name, self._motion, column) for name, column in (("start", 0), ("end", intervals))]
        self._before = InputBefore(dyn.nu)
        self._initial = Initial(self._motion, self._ends)
        self._endpoints = [
            EndpointConstraints(end, self._system, partial(self._initial.configuration, row))
            for end, row in zip(self._ends, (0, -1), strict=True)
            if len(self._system.rows)
        ]
        self._fixed: list[BoundaryCondition] = [*self._ends, self._before, *self._endpoints]

    def __repr__(self) -> str:
        return f"Problem({self.dyn!r}, intervals={self.intervals}, method={self.method!r}, control={self.control!r})"

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

    def start(self, q: Fixed = None, v: Fixed = 0.0, u: npt.ArrayLike | ca.MX | None = None) -> None:
        """Fix the start, again at any time: q (nq) and v (nv, or one number; zero by default); ``None`` frees them.

        Args:
            q, v: numbers; an MX of parameters; or some entries by name, ``{"joint2": 0.3}``, the others being free.
                Numbers must satisfy unit lengths, contacts and loops; what parameters give as all of q or v is moved
                there, if it is near: :attr:`Solution.corrections`.
            u: before the motion (nu), from which its rate ``du`` in the first interval counts: numbers, or an MX of
                parameters. Without it ``du`` is 0 there, and limits of it hold.

        Raises:
            ArgumentTypeError, ArgumentError, UnknownNameError: if their length is wrong, or they are not finite or not
                within the bounds, or have symbols that are no parameters; or if ``control="linear"``, whose rate
                counts from u at the start.
        """
        if u is not None and self.control == "linear":
            raise ArgumentError(
                "start: u: with control='linear' the rate of u counts from u at the start; fix that by "
                "problem.at('start', lambda u: u, value, value)"
            )
        self._ends[0].fix(self._parameters, q, v)
        self._before.fix(self._parameters, u)

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
            expression: a ``casadi.Function`` or a callable whose inputs are named q, v, a, u, du, t, as
                ``lambda q: …``, or as parameters of the problem, and p if the robot has parameters; its only value is a
                number or a matrix. ``du`` is the rate of u [unit of u per s]: from an interval to the next one, the
                first one from ``u`` of :meth:`start`; with ``control="linear"`` within the interval.
            lower, upper: bounds of the same shape, or one number; or an MX of parameters. Equal ones make an equation.
            at: ``"stages"``, or ``"grid"``: the N + 1 instants of the grid, ``"start"`` or ``"end"``: the first or the
                last of them, as :meth:`at`. By default the stages, and for inequalities of q and v the grid too; these
                make way at the start for q and v that parameters give. With one stage, which is in the middle of its
                interval, inequalities hold at the grid alone: of a, u, du and forces, with those of the interval that
                begins there.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used.
        """
        if at is not None:
            choice("path: at", at, _PATHS)
        place = self._instant("path: at", at) if at in ("start", "end") else at or "stages"
        graph, low, high = self._between("path", expression, place, lower, upper)
        symbolic = isinstance(low, ca.MX) or isinstance(high, ca.MX)
        is_equation = low is high if symbolic else bool(np.any(low == high))
        inputs = set(graph.name_in())
        places: tuple[str | int, ...] = (place,)
        if at is None and not is_equation:
            places = ("everywhere",) if OF_INTERVAL & inputs else ("inner", "grid")
        held = {"du", *["u"][: self.control == "constant"]}
        held |= {key for key, x in self._parameters.symbols.items() if x.shape[1] == 1}
        if places[0] in ("stages", "everywhere") and inputs <= held:
            places = ("intervals",)  # its rows at all stages are the same, and equations would be dependent
        name = f"path {1 + sum(limited.name.startswith('path') for limited in self._limited)}"
        makes_way = "grid" in places and not is_equation
        self._limited.append(LimitedExpression(name, graph, low, high, places, makes_way))

    def _between(
        self, where: str, expression: Expression, at: str | int, lower: Any, upper: Any
    ) -> tuple[ca.Function, Bound, Bound]:
        """An expression, and the bounds of its entries."""
        graph = self._motion.evaluate(expression, at, self._parameters.symbols).evaluated
        for key, bound in (("lower", lower), ("upper", upper)):
            self._parameters.check_bound(where, key, bound)
        return graph, *constraints.symbolic_bounds(lower, upper, graph.size1_out(0))

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
        shape = {"half_length": half_length, "half_width": half_width, "sole": sole}
        for name, cone in constraints.friction_cones(self._system.con, contacts, mu, normal, form, **shape):
            margins = self._motion.evaluate(cone, "stages", self._parameters.symbols).evaluated
            zero = np.zeros(margins.size1_out(0))
            self._limited.append(
                LimitedExpression(f"friction of {name}", margins, zero, zero + np.inf, ("everywhere",))
            )
            self._cones.append(cone)

    def integral(self, expression: Expression) -> ca.MX:
        """∫ expression dt over the motion, by the quadrature of the method: a column of the entries of the expression.

        A method of one stage inside the interval, as collocation of ``degree=1``, would not see q and v swing from
        instant to instant: what is added of them alone is integrated by Simpson's rule, which has the grid in it.

        Args:
            expression: as in :meth:`path`.

        Warns:
            SolutionWarning: if such a method sees q or v at midpoints alone, in a term with a, u or forces.
        """
        found = self._motion.evaluate(expression, "stages", self._parameters.symbols)
        return self._whole([(*part, None) for part in self._parts_of_integrand(found)])

    def _whole(self, parts: Sequence[tuple[ca.Function, bool, ca.Function | None]]) -> ca.MX:
        """The sum of the integrals of Functions, with the grid in them or not, known as such in a cost; and residuals,
        of those that are sums of their squares.
        """
        whole, integrals, symbols = ca.MX(0), [], self._parameters.symbols
        for graph, has_grid, residuals in parts:
            integrand = self._motion.evaluate(graph, "stages", symbols)
            integral = self._motion.integral(integrand.values)
            if has_grid:
                at_grid = self._motion.evaluate(graph, "grid", symbols).values
                integral = (2 * integral + self._motion.integral_over_grid(at_grid)) / 3
            whole += integral
            integrals.append(CostTerm(ca.MX(1), integrand.evaluated, -1, has_grid, residuals))
        self._terms[hash(whole)] = whole, integrals
        return whole

    def _parts_of_integrand(self, found: EvaluatedExpression) -> list[tuple[ca.Function, bool]]:
        """The parts of an integrand that a quadrature of its own takes, and whether it has the grid in it.

        Beside a, u and forces, what is added of q and v alone is taken apart from the rest.
        """
        inputs = set(found.graph.name_in())
        if not (self._motion.sees_midpoints_alone and inputs & {"q", "v"}):
            return [(found.graph, False)]
        if not inputs & OF_INTERVAL:
            return [(found.graph, True)]
        parts = [*constraints.parts_of_state(found.graph)]
        self._warn_of_midpoints(parts)
        return parts

    def _warn_of_midpoints(self, parts: Iterable[tuple[ca.Function, bool]]) -> None:
        names = {name for graph, has_grid in parts if not has_grid for name in graph.name_in()}
        if names & {"q", "v"}:
            warn(
                f"{self.dyn.tree.name}: the integral of {', '.join(sorted(names))} sees q and v at midpoints alone, "
                "where what swings from instant to instant is hidden; take degree=2, or terms without "
                f"{' and '.join(sorted(names & OF_INTERVAL))}",
                SolutionWarning,
            )

    def solver(self, solver: str = "ipopt", options: Mapping[str, Any] | None = None, *, progress: bool = False) -> Any:
        """Build a solver once, which is called with the parameters of each solve: for receding horizons.

        Args:
            solver: as of :meth:`solve`; or ``"rti"``: one Gauss–Newton step a call, as machine code
                (:class:`~gdalembert.ocp.RealTimeSolver`), of the problem with ``degree=1``, whose cost is a sum of
                squares.
            options: as of :meth:`solve`; of ``"rti"``: ``"iterations"`` of the interior point (3); ``"penalty"`` of
                limits of q, v and paths, by default after the cost, more where the first plan needs it to keep them,
                and ten times as large of equations and the end;
                ``"first_gap"``, where the interior point begins, by default after the cost; and
                ``"levenberg_marquardt"`` (0.3), which shortens steps towards what is out of reach, 0 for plain ones.
            progress: as of :meth:`OptimalControlProblem.solver`.

        Returns:
            A :class:`~gdalembert.ocp.Solver`, or a :class:`~gdalembert.ocp.RealTimeSolver`.

        Raises:
            ArgumentError, UnsupportedError: as :meth:`OptimalControlProblem.solver`; also, of ``"rti"``, if the problem
                has what it cannot take, which the message names.
            CompilationError: if ``"rti"`` finds no C compiler.
        """
        return super().solver(solver, options, progress=progress)

    def real_time_solver(self, options: Mapping[str, Any] | None = None) -> RealTimeSolver:
        self._check_costs()
        return RealTimeSolver(self._real_time_problem(), options or {})

    def _real_time_problem(self) -> RealTimeProblem:
        plain = self._formulation().evaluated_by(self._motion.graph_of)  # which is compiled as a whole
        return RealTimeProblem(plain, self._parameters, self._robot)

    def squares(
        self, residual: Expression, weight: npt.ArrayLike | ca.MX = 1.0, *, at: str | int | None = None
    ) -> None:
        """Add a weighted sum of squares to the cost, which every solver takes: ∫ Σ w_i r_i² dt, or Σ w_i r_i² at an
        instant.

        Args:
            residual: r, an expression as in :meth:`path`, of any function of the motion: ``lambda q: ca.log(2 + q)``.
            weight: w, a number for all entries of r or one for each, from 0 on; or a scalar expression of parameters.
            at: ``None``: over the motion; ``"start"``, ``"end"`` or, as for :meth:`at`, the number of an instant.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used.
        """
        symbols, instant = self._parameters.symbols, None if at is None else self._instant("squares: at", at)
        graph = self._motion.evaluate(residual, "stages" if instant is None else instant, symbols).graph
        factors, common = constraints.square_weights(weight, graph.size1_out(0))
        inputs = [ca.MX.sym(name, *graph.size_in(name)) for name in graph.name_in()]
        rows = factors * graph.call(inputs, True, False)[0]
        residuals = ca.Function("residuals", inputs, [rows], graph.name_in(), ["residuals"])
        if instant is None:
            alone = self._motion.sees_midpoints_alone
            parts = [*constraints.parts_of_residuals(residuals)] if alone else [(residuals, False)]
            self._warn_of_midpoints(parts if alone else ())
            term = common * self._whole([(constraints.squared(part), has_grid, part) for part, has_grid in parts])
        else:
            found = self._motion.evaluate(constraints.squared(residuals), instant, symbols)
            cost = CostTerm(ca.MX(1), found.evaluated, instant, residuals=residuals)
            self._terms[hash(found.values)] = found.values, [cost]
            term = common * found.values
        constraints.check_cost("squares", term, [*self._motion.variables, *self._symbols])
        self._squares.append(term)
        self._add_costs()

    def _add_costs(self) -> None:
        """Take what is minimised and all squares for the cost."""
        terms = [*self._squares] if self._minimized is None else [self._minimized, *self._squares]
        self._cost = sum(terms[1:], terms[0])

    def _instant(self, where: str, k: Any) -> int:
        """The number of an instant, of its name, or of one from the start or, negative, from the end."""
        if isinstance(k, str):
            return {"start": 0, "end": self.intervals}[choice(where, k, ("start", "end"))]
        return integer(where, k, -self.intervals - 1, self.intervals) % (self.intervals + 1)

    def minimize(self, cost: ca.MX) -> None:
        """Set the cost beside that of :meth:`squares`: an expression of ``duration``, :meth:`integral`, ``q``, ``v``,
        ``u``.

        Raises:
            ArgumentTypeError, ArgumentError: if it is no expression, not scalar, constant, or has a foreign symbol.
        """
        constraints.check_cost("minimize", cost, [*self._motion.variables, *self._symbols])
        self._minimized = cost
        self._add_costs()

    def at(
        self,
        k: int | str,
        expression: Expression,
        lower: npt.ArrayLike | ca.MX = -np.inf,
        upper: npt.ArrayLike | ca.MX = np.inf,
    ) -> None:
        """Keep an expression between two bounds at one instant of the grid.

        Args:
            k: the number of the instant, from 0 to N; from −1 on those from the end; ``"start"`` or ``"end"``.
            expression: as in :meth:`path`, of q, v, t, parameters, and u: that of the interval that begins there, or
                of the instant if ``control="linear"``; of the last interval at the end.
            lower, upper: as in :meth:`path`.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used.
        """
        number = self._instant("at: k", k)
        graph, low, high = self._between("at", expression, number, lower, upper)
        self._limited.append(LimitedExpression(f"at {number}", graph, low, high, (number,)))

    def subject_to(self, constraint: ca.MX) -> None:
        """Add an equation or inequality of variables at any instants, as ``problem.q[0, 2] == problem.q[0, 5]``.

        What a single instant obeys is said by :meth:`at` and :meth:`path`, which any solver takes; ``"rti"`` takes no
        rows of several.

        Args:
            constraint: an equation or inequality of two expressions, by ``==``, ``<=`` or ``>=``.

        Raises:
            ArgumentTypeError, ArgumentError: if it is none, or has symbols that are none of the problem.
        """
        rows, lower, upper = relation("subject_to", constraint)
        if other := foreign(rows, [*self._motion.variables, *self._symbols]):
            raise ArgumentError(
                f"subject_to: the constraint has the symbol {other[0].name()!r}, which is none of the problem; give "
                "its variables and parameters"
            )
        self._relations.append(Relation(Label(f"subject_to {len(self._relations) + 1}", user=True), rows, lower, upper))

    @property
    def stage(self) -> ca.Function:
        """The stage of an interval: (x, u, w, t, parameters …) → (x_next, equations, rows, residuals, cost).

        It is what every solver reads, by CasADi's inputs and outputs of these names; the problem is that x_next is the
        x of the next interval, ``equations`` are zero and ``rows`` within their bounds, and the cost is the sum of
        those of stages, of instants of the grid and of the end.

        * x: the states: q, v (without what follows its load alone), a free duration [s], the design, and, if ``du``
          is in any expression, the u before the interval.
        * u: of the interval; with ``control="linear"`` a column for each of its ends.
        * w: the unknowns of the step: for each stage a (nv), the rates of joints that turn about several axes, and
          independent forces; below them what moves the end of the step onto contacts and loops. None if it is explicit.
        * t: where the interval begins [s].
        * parameters: by their names, of every instant at both ends; ``p``: the robot's, but for the design.
        * equations: tau less that of u, a stage after the other, and what constraints miss.
        * rows: of :meth:`path` and :meth:`friction` that hold in intervals, and bounds between instants of the grid.
        * residuals: of :meth:`squares`, with the roots of their weights. cost: of the interval, with these squares.

        Raises:
            ArgumentError: if nothing is to be minimised.
        """
        self._check_costs()
        return RowOfStages(self._formulation()).stage()

    @property
    def _symbols(self) -> list[ca.MX]:
        """The symbols of parameters."""
        return [*self._parameters.symbols.values(), *ca.symvar(self._robot.fixed)]

    def guess(self, motion: Guess | Simulation | Solution) -> None:
        """Set the initial guess; the default is :func:`rest_to_rest` between q of :meth:`start` and :meth:`end`.

        Its time is scaled to the fixed duration, or into the range of a free one. For a flexible arm it may be a motion
        of the rigid robot: modes and rotors then deflect by the forces that it exerts on them.
        """
        self._initial.set(motion)

    def _costs(self) -> tuple[list[CostTerm], list[CostTerm], list[ca.MX]]:
        """The terms of the cost: integrals and costs of instants, where parameters alone weight them, and others."""
        terms, others = list[CostTerm](), list[ca.MX]()
        motion = self._motion.variables
        left = [] if self._cost is None else [(self._cost, ca.MX(1))]

        def moves(part: ca.MX) -> bool:
            return any(ca.depends_on(part, x) for x in motion)

        while left:
            term, weight = left.pop()
            op, parts = term.op(), [term.dep(k) for k in range(term.n_dep())]
            if hash(term) in self._terms and self._is_of_parameters(weight):
                terms += [part._replace(weight=weight) for part in self._terms[hash(term)][1]]
            elif op in (ca.OP_ADD, ca.OP_SUB) and all(part.is_scalar() for part in parts):
                left += [(parts[0], weight), (parts[1], weight if op == ca.OP_ADD else -weight)]
            elif op in (ca.OP_NEG, ca.OP_TWICE):
                left.append((parts[0], -weight if op == ca.OP_NEG else 2 * weight))
            elif op == ca.OP_MUL and not all(moving := [moves(part) for part in parts]) and any(moving):
                left.append((parts[moving.index(True)], weight * parts[moving.index(False)]))
            elif op == ca.OP_DIV and not moves(parts[1]):
                left.append((parts[0], weight / parts[1]))
            else:
                others.append(weight * term)
        integrals = [part for part in terms if part.instant < 0]
        return integrals, [part for part in terms if part.instant >= 0], others

    def _check_costs(self) -> None:
        if self._cost is None:
            raise ArgumentError("nothing is to be minimised; call minimize(problem.duration) or of an integral")

    @property
    def _robot_name(self) -> str:
        return self.dyn.tree.name

    def _set(self, p: Values, values: Mapping[str, Any]) -> None:
        of_robot = self._robot.checked("solve", p)
        self._parameters.set("solve", values)
        self._robot.set(of_robot)
        for end in self._fixed:
            end.set(self._parameters)

    def _contents(self, *, ends: bool) -> object:
        patterns = [(end.pattern, end.said if ends else ()) for end in self._fixed]
        return patterns, len(self._limited), len(self._relations), hash(self._cost)

    def _parts(self, *, stagewise: bool) -> list[Part]:
        return [self._part()]

    def _part(self, **changes: Any) -> Part:
        """The motion, of its formulation with changes."""
        for endpoint in self._endpoints:
            endpoint.prepare()
        return Part(self._formulation()._replace(**changes), ca.MX(0) if self._cost is None else self._cost)

    def _formulation(self, inputs: Inputs | None = None, scales: Scales | None = None) -> Formulation:
        own = Inputs(self.intervals, self._parameters, self._robot, self._fixed) if inputs is None else inputs
        integrals, instants, others = self._costs()
        graphs = [*(path.graph for path in self._limited), *(term.graph for term in integrals)]
        coupled = [*others, *(relation.rows for relation in self._relations)]
        has_rates = any("du" in graph.name_in() for graph in graphs) or any(
            ca.depends_on(x, self._motion.u_before) for x in coupled
        )
        return Formulation(
            motion=self._motion,
            inputs=own,
            start=self._ends[0],
            before=self._before,
            ends=self._ends,
            endpoints=self._endpoints,
            initial=self._initial,
            scales=scales,
            limited=self._limited,
            relations=self._relations,
            integrals=integrals,
            instants=instants,
            others=others,
            bounds_at_stages=self._bounds_at_stages,
            remembers=has_rates and self.control == "constant",
        )

    def _is_of_parameters(self, weight: ca.MX) -> bool:
        """True if a weight has parameters of no instant alone."""
        known = [x for x in self._parameters.symbols.values() if x.shape[1] == 1]
        return not foreign(weight, [*known, *ca.symvar(self._robot.fixed)])

    def _solution(self, parts: tuple[Solution, ...], nlp: Any, z: Array, numbers: Array) -> Solution:
        return parts[0]
