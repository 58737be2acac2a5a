"""A solver that is built once and called with the parameters of each solve, as for receding horizons."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, SolutionWarning, UnsupportedError
from gdalembert.nlp import backends
from gdalembert.nlp.dependence import SLOW, active, dependent
from gdalembert.nlp.program import EXCEPTIONS, NO_NUMBER, Found, InvalidStartError, Solvable
from gdalembert.spatial import arguments
from gdalembert.spatial.arrays import Array, Uncopied
from gdalembert.spatial.expressions import foreign
from gdalembert.spatial.functions import Function
from gdalembert.spatial.interrupts import Interrupts, interruptible
from gdalembert.spatial.progress import ProgressLine, Watchable, current, progress

_MISSED = 1e-6
"""By how much fixed variables violate a row that no variable can mend, scaled: what solvers tolerate."""

_AGAIN = 4
"""How often a problem is solved again because of what its solution violates between instants."""


class Solver(Watchable, Uncopied, Generic[Found]):
    """A problem's solver: made by ``problem.solver()``, it is built once and solves for any parameters.

    ``solver(q0=…, target=…, shift=1)`` solves at these values of the parameters of the problem. It begins at the last
    solution, primal and dual, from which the first ``shift`` intervals are cut. Those of phases and scenarios are
    called alike; phases are not shifted.

    Attributes:
        last: the last solution; ``None`` before the first one.
        progress: whether iterations are shown on stderr.
    """

    def __init__(self, program: Solvable[Found], name: str, options: Mapping[str, Any]) -> None:
        self._program, self._name, self._nlp = program, name, program.nlp
        self._backend, self._options = self.form(name), dict(options)
        budget = self._options.pop(backends.BUDGET, None)
        self._budget = None if budget is None else arguments.number(f"solve: options: {backends.BUDGET}", budget, "s")
        self._iterate: tuple[Array, Array] | None = None
        self._problem, self._factor = dict(self._nlp.problem), self._cost_factor()
        self._multiplied = 1.0 if self._backend.cost_option else self._factor
        if self._multiplied != 1:
            self._problem["f"] = self._multiplied * self._problem["f"]
        self._leash = backends.leash_for(name, self._backend, self._nlp, self._budget)
        self._functions = backends.derivatives(self._backend, self._nlp, self._multiplied)
        self._cold = self._made(self._leash)
        self._functions = {name: self._cold.get_function(name) for name in self._cold.get_function()} | self._functions
        self._watched: dict[bool, ca.Function] = {}
        self.last: Found | None = None
        self._found: tuple[Array, Array, Array] | None = None

    def __repr__(self) -> str:
        return f"Solver({self._program.name}, {self._name!r}, {self._nlp.size} variables)"

    @classmethod
    def form(cls, name: str) -> backends.Backend:
        """Backend of this name: what it wants of a program, and how it is told; ArgumentError if CasADi has none."""
        return backends.backend(name)

    def __call__(self, *, shift: int = 0, guess: Any = None, p: Any = None, **values: Any) -> Found:
        """Solve at these parameters.

        Args:
            shift: number of intervals by which the last solution is shifted: those that have passed since. Its last
                instant is repeated at the end.
            guess: where to begin instead of the last solution, as in :meth:`Problem.guess`.
            p: the parameters of the robot, all values or some by name.
            values: the parameters of the problem by name. Parameters of both that are missing keep their last values.

        Returns:
            The solution. If the solver finds none, but there is a last one: that one, shifted, with ``solved=False``
            and the ``status`` of the solver, or ``"Invalid_Start"`` if a state that the parameters give is far from
            unit lengths, contacts or loops.

        Raises:
            UnknownNameError, ArgumentTypeError, ArgumentError: if a value cannot be used, or is missing.
            OptimizationError: if the solver finds no solution and there is no last one, or it ended by an exception;
                it has the last iterate.
            KeyboardInterrupt: by Ctrl-C, as any other exception of a signal handler. Then, and where a value cannot be
                used, the last solution and its parameters stay.

        Warns:
            SolutionWarning: if the last plan stands for a solution that was not found, or what is fixed at the ends
                violates contacts or loops; and, without a last solution, as :meth:`Problem.solve`.
        """
        shift, program = self._program.checked_shift(shift), self._program
        with Interrupts(__name__) as interrupts:
            restore = program.restoring()
            begin = None if guess is not None or self._found is None else self._shifted(shift)
            try:
                numbers = program.numbers("solver", p, values)
                solution = self._solve(numbers, program.begin(guess) if begin is None else None, begin, interrupts)
            except InvalidStartError as error:
                if self.last is None:
                    restore()
                    raise
                return self._previous("Invalid_Start", {}, str(error), shift)
            except BaseException:
                with interrupts.around_solver(evaluations_end_it=False):
                    restore()
                raise
            ended = self.last is None or solution.status in EXCEPTIONS
            if begin is None and (solution.solved or ended):
                solution = self._explained(solution)
            if not solution.solved and ended:
                raise program.error(solution)
            if not solution.solved:
                why = f"the solver stopped with {solution.status!r} after {solution.iterations} iterations"
                return self._previous(solution.status, solution.stats, why, shift)
            for warning in program.warnings(solution, again=begin is not None):
                warnings.warn(f"{program.name}: {warning}", SolutionWarning, stacklevel=2)
        return solution

    def forget(self) -> None:
        """Drop the last solution."""
        self.last, self._found = None, None

    def cold(self) -> Found:
        """Solve from the guess of the problem with the values that it has; the solution may be none (``solved``)."""
        with Interrupts(__name__) as interrupts:
            return self._explained(self._solve(self._program.current(), self._program.begin(None), None, interrupts))

    @interruptible
    def value(self, expression: ca.MX) -> Array:
        """An expression of the problem's variables and parameters at the last iterate.

        Raises:
            ArgumentTypeError, ArgumentError: if it is none, or nothing was solved.
        """
        if self._iterate is None:
            raise ArgumentError("value: nothing was solved; call the solver first")
        known = [symbol for x in self._program.symbols for symbol in ca.symvar(x)]
        if not isinstance(expression, ca.MX):
            expected = "an expression of the problem, as problem.q"
            constant = arguments.numbers("value", expression, expected=expected)
            if constant.ndim > 2:
                raise ArgumentError(f"value: got numbers of shape {constant.shape}; give {expected}")
            expression = ca.MX(ca.DM(constant))
        if other := foreign(expression, known):
            raise ArgumentError(
                f"value: the expression has the symbol {other[0].name()!r}, which was not in the problem that was "
                "solved; take problem.q, v, u, t, integrals and parameters"
            )
        graph = ca.Function("value", self._program.symbols, [expression])
        return np.array(graph(*self._program.unscaled(*self._iterate)).full().squeeze())

    @interruptible
    def stationarity(self) -> float:
        """max|∇ Lagrangian| / max|∇ cost| at the last solution, in the solver's scaled variables.

        Raises:
            ArgumentError: if there is no solution yet.
        """
        if self._found is None or self._iterate is None:
            raise ArgumentError("stationarity: nothing was solved; call the solver first")
        z, p, f, g = (self._problem[key] for key in "xpfg")
        lam_x, lam_g = ca.MX.sym("lam_x", z.numel()), ca.MX.sym("lam_g", g.numel())
        gradients = [ca.gradient(f + ca.dot(lam_g, g), z) + lam_x, ca.gradient(f, z)]
        graph = ca.Function("gradients", [z, lam_x, lam_g, p], [ca.norm_inf(gradient) for gradient in gradients])
        lagrangian, cost = (float(size) for size in graph(*self._found, self._iterate[1]))
        return lagrangian / cost

    @interruptible
    def function(self, *, warm: bool = False) -> ca.Function:
        """The solver as one Function of the parameters of the problem, for graphs and for C code.

        CasADi alone runs it: signals may not end it, and ``"max_wall_time"`` ends IPOPT only.

        Args:
            warm: whether it begins near a solution, with its multipliers, as a call after the first one does.

        Returns:
            (parameters by name …, z0, lam_x0, lam_g0) → (q, v, u, t, cost, z, lam_x, lam_g, violation): z are the
            solver's own variables, scaled and ordered by intervals, with their multipliers; those of one solution begin
            the next, and :meth:`begin` gives the first. A Function has no status: ``violation`` is the largest of any
            bound or constraint, scaled, and infinite where an input is not finite; where it is small, the motion is one
            of the robot, if not an optimum. The parameters of the robot, and ends that are numbers, are those of the
            last solve. Inputs are not checked, and states are taken as they are: with unit lengths, and on contacts and
            loops.
        """
        arguments.flag("solver: warm", warm)
        nlp, p = self._nlp, self._program.expression()
        begin = {"z0": nlp.size, "lam_x0": nlp.size, "lam_g0": len(nlp.equal)}
        inputs = dict(self._program.named) | {name: ca.MX.sym(name, size) for name, size in begin.items()}
        limits = nlp.limits(p=p)
        solver = self._made(None, warm=warm) if self._leash is not None else self._warm if warm else self._cold
        optimum = solver(x0=inputs["z0"], lam_x0=inputs["lam_x0"], lam_g0=inputs["lam_g0"], p=p, **limits)
        outputs = self._program.rows(optimum["x"], p) | {"cost": optimum["f"] / self._multiplied, "z": optimum["x"]}
        outputs |= {name: optimum[name] for name in ("lam_x", "lam_g")}
        over = [optimum[key] - limits[f"ub{key}"] for key in "xg"] + [limits[f"lb{key}"] - optimum[key] for key in "xg"]
        known = ca.norm_1(ca.veccat(*inputs.values())) < ca.inf
        outputs["violation"] = ca.if_else(known, ca.fmax(ca.mmax(ca.vertcat(*over)), 0), ca.inf)
        return Function("solver", list(inputs.values()), list(outputs.values()), list(inputs), list(outputs))

    def begin(self, guess: Any = None, shift: int = 0) -> dict[str, Array]:
        """Starting point of :meth:`function`: z0, lam_x0, lam_g0, by name.

        Args:
            guess: as of a call; by default the last solution, and where there is none, the guess of the problem.
            shift: number of intervals that are cut from the last solution.
        """
        if guess is None and self._found is not None:
            z, lam_x, lam_g = self._shifted(self._program.checked_shift(shift))
        else:
            z = self._program.begin(guess)
            lam_x, lam_g = np.zeros(self._nlp.size), np.zeros(len(self._nlp.equal))
        return {"z0": z, "lam_x0": lam_x, "lam_g0": lam_g}

    @interruptible
    def generate(self, path: str | Path, *, warm: bool = False) -> Path:
        """Write C code of :meth:`function`, or, where CasADi cannot, of the functions of the NLP and their derivatives.

        The code of ``"ipopt"`` and ``"fatrop"`` is linked with these libraries; that of ``"sqpmethod"`` with none.

        Args:
            path: of the file, as ``"solver.c"``.
            warm: as of :meth:`function`.

        Raises:
            ArgumentTypeError, ArgumentError: if the name is not that of a C file in an existing folder.
        """
        file = arguments.file_path("generate", path, "the name of a file, as 'solver.c'")
        if file.suffix != ".c" or not file.stem.isidentifier() or not file.parent.is_dir():
            raise ArgumentError(f"generate: got {str(path)!r}; give a file name.c in a folder that exists")
        try:
            text = _code(file.stem, [self.function(warm=warm)])
        except RuntimeError:
            text = _code(file.stem, list(self._functions.values()))
        file.write_text(text, encoding="utf-8")
        return file

    # One solve.

    def _cost_factor(self) -> float:
        """The factor of the cost where the first solve begins; 1 if this is not known yet, or not asked for."""
        if self._backend.cost_factor is None:
            return 1.0
        try:
            numbers = self._program.numbers("solver", None, {})
            return self._backend.cost_factor(abs(float(self._values(self._program.begin(None), numbers)[0])))
        except ArgumentError:
            return 1.0

    def _solve(
        self, numbers: Array, z: Array | None, begin: tuple[Array, Array, Array] | None, interrupts: Interrupts
    ) -> Found:
        """A solution at these parameters; and again from there, where it violates something between instants.

        Where a later solve finds none, the last one that did stands.
        """
        with progress(f"{self._program.name}: {self._name}", shown=self.progress) as line:
            solution = self._solve_once(numbers, z, begin, interrupts)
            for _ in range(_AGAIN):
                if not solution.solved or (tightened := self._program.tightened(solution)) is None:
                    break
                later = self._solve_once(tightened, None, self._found, interrupts)
                if not later.solved and z is not None:  # the motion may have to take another way
                    later = self._solve_once(tightened, z, None, interrupts)
                if not later.solved:
                    break
                solution = later
            line.show(_state(f"{solution.iterations} iterations", solution.cost, solution.constraint_violation))
        return solution

    def _solve_once(
        self, numbers: Array, z: Array | None, begin: tuple[Array, Array, Array] | None, interrupts: Interrupts
    ) -> Found:
        nlp = self._nlp
        limits = nlp.limits(p=numbers)
        arguments: dict[str, Any] = limits | {"p": numbers}
        line, warm = current(), begin is not None
        leash = self._watch if line.shown else self._leash
        solver = self._held(leash, warm=warm)
        arguments |= {"x0": z} if begin is None else dict(zip(("x0", "lam_x0", "lam_g0"), begin, strict=True))
        if begin is None and (fixed := self._contradiction(limits, arguments)) is not None:
            stats = {"return_status": "Invalid_Problem_Definition"}
            return self._program.solution(fixed, numbers, stats["return_status"], stats, False)
        try:
            if self._backend.endless and not np.isfinite(self._values(arguments["x0"], numbers).full()).all():
                return self._program.solution(arguments["x0"], numbers, NO_NUMBER, {"return_status": NO_NUMBER}, False)
            ends = interrupts.around_solver(evaluations_end_it=not self._backend.catches)
            tell = self._telling(numbers, limits, line) if line.shown else None
            with ends, nullcontext() if leash is None else leash.held(interrupts, tell):
                optimum = solver(**arguments)
        except RuntimeError as error:
            if leash is not None and leash.is_out_of_time:
                late: dict[str, Any] = {"iter_count": leash.iterations}
                return self._program.solution(leash.iterate, numbers, backends.OUT_OF_TIME, late, False)
            why = backends.last_line(error)
            if wrong := backends.refused(self._name, self._options):
                raise ArgumentError(f"solve: CasADi refuses {self._name!r} with {wrong}: {why}") from None
            raise ArgumentError(f"solve: the solver refuses the problem, or what it calls: {why}") from error
        z, lam_x, lam_g = (optimum[key].full().ravel() for key in ("x", "lam_x", "lam_g"))
        stats = solver.stats()
        status, solved = str(stats["return_status"]), bool(stats["success"])
        if status.lstrip("-").isdigit():
            status = str(stats["unified_return_status"])
        if leash is not None and leash.is_out_of_time and not solved:
            status = backends.OUT_OF_TIME
        solution = self._program.solution(z, numbers, status, stats, solved)
        self._iterate = z, numbers
        if solution.solved:
            self._found, self.last = (z, np.nan_to_num(lam_x), np.nan_to_num(lam_g)), solution
        return solution

    def _telling(self, numbers: Array, limits: Mapping[str, ca.DM], line: ProgressLine) -> backends.Tell:
        """What shows iterations: their number, the cost, and the largest violation of a scaled constraint."""
        low, high = (np.concatenate([limits[f"{end}b{key}"].full().ravel() for key in "xg"]) for end in "lu")

        def tell(iteration: int, z: Array) -> None:
            if line.is_due:
                cost, *g = self._values(z, numbers).full().ravel()
                x = np.concatenate([z, g])
                line.show(_state(f"iteration {iteration}", cost, np.maximum(low - x, x - high).max(initial=0.0)))

        return tell

    def _contradiction(self, limits: Mapping[str, ca.DM], arguments: Mapping[str, Any]) -> Array | None:
        """The first variables within their bounds, if none are, or if those that are fixed violate a row alone."""
        lower, upper = (limits[key].full().ravel() for key in ("lbx", "ubx"))
        z: Array = np.where(lower < upper, arguments["x0"], lower)
        if np.any(lower > upper):
            return z
        free = np.flatnonzero(lower < upper)
        row, column = (np.array(index, dtype=int) for index in self._nlp.sum.pattern.get_triplet())
        held = np.setdiff1d(np.arange(len(self._nlp.equal)), row[np.isin(column, free)])
        if not len(held):
            return None
        g = self._values(z, arguments["p"]).full().ravel()[1:][held]
        low, high = (limits[key].full().ravel()[held] for key in ("lbg", "ubg"))
        return z if np.any((g < low - _MISSED) | (g > high + _MISSED)) else None

    def _made(self, leash: backends.Leash | None, *, warm: bool = False) -> ca.Function:
        """The solver of CasADi, which a leash ends; ``warm``: to begin at a solution."""
        name, chosen, functions = self._name, self._backend, dict(self._functions)
        settings = {"print_time": False, "record_time": True} | dict(chosen.options)
        if chosen.stagewise:
            try:
                settings |= self._nlp.structure()
                settings |= {"structure_detection": "manual", "equality": self._nlp.equal.tolist()}
            except UnsupportedError as error:
                raise UnsupportedError(f"{name}: {error}") from None
        if chosen.cost_option:
            settings[chosen.cost_option] = self._factor
        if self._budget is not None and chosen.time_option:
            settings[chosen.time_option] = self._budget
        if warm:
            settings |= dict(chosen.warm)
        if leash is not None and chosen.catches:
            functions[backends.JACOBIAN] = backends.leashed(functions[backends.JACOBIAN], leash)
        elif leash is not None:
            settings[chosen.asks] = leash
        settings |= {"cache": functions} if functions else {}
        try:
            return ca.nlpsol("solver", name, self._problem, settings | self._options)
        except Exception as error:
            why = backends.last_line(error)
            wrong = backends.refused(name, self._options) or self._options
            raise ArgumentError(f"solve: CasADi refuses {name!r} with {wrong}: {why}") from None

    def _explained(self, solution: Found) -> Found:
        """The solution with what made it slow, or impossible."""
        if self._iterate is None or "iter_count" not in solution.stats or backends.JACOBIAN not in self._functions:
            return solution
        if solution.status == backends.OUT_OF_TIME or (solution.solved and solution.iterations <= SLOW):
            return solution
        z, numbers = self._iterate
        g, rows = self._functions[backends.JACOBIAN](z, numbers)
        limits = {key: value.full().ravel() for key, value in self._nlp.limits(p=numbers).items()}
        dependences = dependent(active(rows, g.full().ravel(), limits, *self._nlp.labels()))
        remedies = () if solution.solved else self._program.remedies(solution)
        solution = replace(solution, hints=(*dependences, *remedies))
        self.last = solution if solution.solved else self.last
        return solution

    @cached_property
    def _warm(self) -> ca.Function:
        return self._made(self._leash, warm=True)

    @cached_property
    def _watch(self) -> backends.Leash | None:
        """The leash that tells of iterations; ``None`` of a solver that tells nothing of them."""
        known = self._leash
        return known or backends.leash_for(self._name, self._backend, self._nlp, self._budget, watched=True)

    def _held(self, leash: backends.Leash | None, *, warm: bool) -> ca.Function:
        """The solver of CasADi that a leash ends, or none."""
        if leash is self._leash:
            return self._warm if warm else self._cold
        if warm not in self._watched:
            self._watched[warm] = self._made(leash, warm=warm)
        return self._watched[warm]

    @cached_property
    def _values(self) -> ca.Function:
        """(z, p) → cost and constraints."""
        x, p, f, g = (self._nlp.problem[key] for key in "xpfg")
        return ca.Function("values", [x, p], [ca.vertcat(f, g)])

    def _shifted(self, by: int) -> tuple[Array, Array, Array]:
        assert self._found is not None
        z, lam_x, lam_g = self._found
        if not by:
            return self._found
        variables, constraints = self._nlp.variables.shifted(by), self._nlp.constraints.shifted(by)
        return z[variables], lam_x[variables], lam_g[constraints]

    def _previous(self, status: str, stats: Mapping[str, Any], why: str, shift: int) -> Found:
        """The last plan in the place of a solution that was not found."""
        point = self._shifted(shift)
        last = self._program.solution(point[0], self._program.current(), status, stats, False)
        self._found, self.last = point, last
        shifted = f", shifted by {shift} intervals," if shift else ""
        warnings.warn(
            f"{self._program.name}: {why}; the last plan{shifted} stands for the solution",
            SolutionWarning,
            stacklevel=3,
        )
        return last


def _state(iterations: str, cost: float, violation: float) -> str:
    return f"{iterations}, cost {cost:.6g}, violation {violation:.1e}"


def _code(name: str, functions: list[ca.Function]) -> str:
    generator = ca.CodeGenerator(name)
    for function in functions:
        generator.add(function)
    return str(generator.dump())
