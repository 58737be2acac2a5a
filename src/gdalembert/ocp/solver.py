"""A solver that is built once and called with the parameters of each solve, as for receding horizons."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError
from gdalembert.ocp.backends import backend, last_line, make
from gdalembert.ocp.inputs import Inputs
from gdalembert.ocp.measured import FarStateError
from gdalembert.ocp.natural_modes import NaturalModes
from gdalembert.ocp.nlp import NLP
from gdalembert.ocp.report import Report
from gdalembert.ocp.solution import OptimizationError, Solution, SolutionWarning, contradictions, doubts
from gdalembert.ocp.transcription import Motion
from gdalembert.spatial.arguments import integer
from gdalembert.spatial.arrays import Array


class Assembly(NamedTuple):
    """What a solver is made of.

    Attributes:
        motion, opti: of a problem, baked. ``modes``: those that take the place of modal coordinates.
        inputs: its parameters. ``report``: of its solutions.
        initial: gives the variables where a solve begins: (guess) → x.
    """

    motion: Motion
    modes: NaturalModes
    opti: ca.OptiAdvanced
    inputs: Inputs
    report: Report
    initial: Callable[[Any], Array]


class Solver:
    """A problem's solver: made by :meth:`Problem.solver`, it is built once and solves for any parameters.

    ``solver(q0=…, target=…, shift=1)`` solves at these values of the parameters of the problem. It begins at the last
    solution, primal and dual, from which the first ``shift`` intervals are cut.

    Attributes:
        last: the last solution; ``None`` before the first one.
    """

    def __init__(
        self,
        motion: Motion,
        modes: NaturalModes,
        opti: ca.OptiAdvanced,
        inputs: Inputs,
        report: Report,
        initial: Callable[[Any], Array],
        name: str,
        options: Mapping[str, Any],
    ) -> None:
        self._motion, self._report, self._inputs, self._initial = motion, report, inputs, initial
        self._opti, self._name, self._options = opti, name, dict(options)
        self._iterate: tuple[Array, Array] | None = None
        self._nlp = NLP(motion, modes, opti, inputs.filled(0.25), inputs.filled(0.5), stagewise=backend(name).stagewise)
        self._cold = make(name, self._nlp, options)
        self._warm: ca.Function | None = None
        self.last: Solution | None = None
        self._found: tuple[Array, Array, Array] | None = None

    def __repr__(self) -> str:
        return f"Solver({self._motion.dyn.tree.name}, {self._name!r}, intervals={self._motion.intervals})"

    def __call__(self, *, shift: int = 0, guess: Any = None, p: Values = None, **values: Any) -> Solution:
        """Solve at these parameters.

        Args:
            shift: number of intervals by which the last solution is shifted: those that have passed since. Its last
                instant is repeated at the end.
            guess: where to begin instead of the last solution, as in :meth:`Problem.guess`.
            p: the parameters of the robot, as in :meth:`Problem.solve`.
            values: the parameters of the problem by name; those that are missing keep their last values.

        Returns:
            The solution. If the solver finds none, but there is a last one: that one, shifted, with ``solved=False``
            and the ``status`` of the solver, or ``"Invalid_Start"`` if a state that the parameters give is far from
            unit lengths, contacts or loops.

        Raises:
            UnknownNameError, ArgumentTypeError, ArgumentError: if a value cannot be used, or is missing.
            OptimizationError: if the solver finds no solution and there is no last one; it has the last iterate.

        Warns:
            SolutionWarning: if the last plan stands for a solution that was not found, or what is fixed at the ends
                violates contacts or loops; and, without a last solution, as :meth:`Problem.solve`.
        """
        shift = integer("solver: shift", shift, 0, self._motion.intervals)
        try:
            numbers = self._inputs("solver", p, values)
        except FarStateError as error:
            if self.last is None:
                raise
            return self._previous("Invalid_Start", {}, str(error), shift)
        begin = None if guess is not None or self._found is None else self._shifted(shift)
        solution = self._solve(numbers, self._initial(guess) if begin is None else None, begin)
        if not solution.solved and self.last is not None:
            why = f"the solver stopped with {solution.status!r} after {solution.iterations} iterations"
            return self._previous(solution.status, solution.stats, why, shift)
        if not solution.solved:
            raise OptimizationError(solution)
        for doubt in doubts(solution) if begin is None else contradictions(solution):
            warnings.warn(f"{self._motion.dyn.tree.name}: {doubt}", SolutionWarning, stacklevel=2)
        return solution

    def cold(self) -> Solution:
        """Solve from the guess of the problem with the values that it has; the solution may be none (``solved``)."""
        return self._solve(self._inputs.current(), self._initial(None), None)

    def value(self, expression: ca.MX) -> Array:
        """An expression of the problem's variables and parameters at the last iterate."""
        if self._iterate is None:
            raise ArgumentError("value: nothing was solved; call solve first")
        graph = ca.Function("value", [self._opti.x, self._opti.p], [expression])
        return np.array(graph(*self._iterate).full().squeeze())

    def stationarity(self) -> float:
        """max|∇ Lagrangian| / max|∇ cost| at the last solution, in the solver's scaled variables.

        Raises:
            ArgumentError: if there is no solution yet.
        """
        if self._found is None or self._iterate is None:
            raise ArgumentError("stationarity: nothing was solved; call the solver first")
        z, p, f, g = (self._nlp.problem[key] for key in ("x", "p", "f", "g"))
        lam_x, lam_g = ca.MX.sym("lam_x", z.numel()), ca.MX.sym("lam_g", g.numel())
        gradients = [ca.gradient(f + ca.dot(lam_g, g), z) + lam_x, ca.gradient(f, z)]
        graph = ca.Function("gradients", [z, lam_x, lam_g, p], [ca.norm_inf(each) for each in gradients])
        lagrangian, cost = (float(each) for each in graph(*self._found, self._iterate[1]))
        return lagrangian / cost

    def function(self) -> ca.Function:
        """The solver as one Function of the parameters of the problem, for graphs and for C code.

        Returns:
            (parameters by name …, z0, lam_x0, lam_g0) → (q, v, u, t, cost, z, lam_x, lam_g): z are the solver's own
            variables, scaled and ordered by intervals, with their multipliers; those of one solution begin the next.
            The parameters of the robot, and ends that are numbers, are those of the last solve. States are taken as
            they are: with unit lengths, and on contacts and loops.
        """
        nlp, p = self._nlp, self._inputs.expression()
        begin = {"z0": nlp.size, "lam_x0": nlp.size, "lam_g0": len(nlp.equal)}
        inputs = self._inputs.named | {name: ca.MX.sym(name, size) for name, size in begin.items()}
        found = self._cold(x0=inputs["z0"], lam_x0=inputs["lam_x0"], lam_g0=inputs["lam_g0"], p=p, **nlp.limits(p=p))
        motion, nq = self._motion, self._motion.dyn.tree.nq
        rows = ca.Function(
            "rows", [self._opti.x, self._opti.p], [motion.x, motion.u, motion.t], {"always_inline": True}
        )
        x, u, t = rows(nlp.unscaled(found["x"]), p)
        outputs = {"q": x[:nq, :], "v": x[nq:, :], "u": u, "t": t, "cost": found["f"], "z": found["x"]}
        outputs |= {name: found[name] for name in ("lam_x", "lam_g")}
        return ca.Function("solver", list(inputs.values()), list(outputs.values()), list(inputs), list(outputs))

    def generate(self, path: str | Path) -> Path:
        """Write C code of :meth:`function`, or, where CasADi cannot, of the functions of the NLP and their derivatives.

        The code of ``"ipopt"`` and ``"fatrop"`` is linked with these libraries; that of ``"sqpmethod"`` with none.

        Args:
            path: of the file, as ``"solver.c"``.

        Raises:
            ArgumentError: if the name is not that of a C file in an existing folder.
        """
        file = Path(path)
        if file.suffix != ".c" or not file.stem.isidentifier() or not file.parent.is_dir():
            raise ArgumentError(f"generate: got {str(path)!r}; give a file name.c in a folder that exists")
        try:
            text = _code(file.stem, [self.function()])
        except RuntimeError:
            text = _code(file.stem, [self._cold.get_function(name) for name in self._cold.get_function()])
        file.write_text(text, encoding="utf-8")
        return file

    # One solve.

    def _solve(self, numbers: Array, x: Array | None, begin: tuple[Array, Array, Array] | None) -> Solution:
        nlp = self._nlp
        limits = nlp.limits(p=numbers)
        arguments: dict[str, Any] = limits | {"p": numbers}
        if begin is None:
            solver, arguments["x0"] = self._cold, nlp.scaled(np.asarray(x))
        else:
            if self._warm is None:
                self._warm = make(self._name, nlp, self._options, self._cold)
            solver = self._warm
            arguments |= dict(zip(("x0", "lam_x0", "lam_g0"), begin, strict=True))
        if np.any(limits["lbx"].full() > limits["ubx"].full()):
            stats = {"return_status": "Invalid_Problem_Definition"}
            return self._report(nlp.unscaled(np.array(arguments["x0"])), numbers, stats["return_status"], stats, False)
        try:
            found = solver(**arguments)
        except RuntimeError as error:
            raise ArgumentError(f"solve: CasADi refuses the problem: {last_line(error)}") from error
        z, lam_x, lam_g = (found[key].full().ravel() for key in ("x", "lam_x", "lam_g"))
        stats = solver.stats()
        self._iterate = nlp.unscaled(z), numbers
        solution = self._report(*self._iterate, str(stats["return_status"]), stats, bool(stats["success"]))
        if solution.solved:
            self._found, self.last = (z, np.nan_to_num(lam_x), np.nan_to_num(lam_g)), solution
        return solution

    def _shifted(self, by: int) -> tuple[Array, Array, Array]:
        assert self._found is not None
        z, lam_x, lam_g = self._found
        if not by:
            return self._found
        variables, constraints = self._nlp.variables.shifted(by), self._nlp.constraints.shifted(by)
        return z[variables], lam_x[variables], lam_g[constraints]

    def _previous(self, status: str, stats: Mapping[str, Any], why: str, shift: int) -> Solution:
        """The last plan in the place of a solution that was not found."""
        self._found = self._shifted(shift)
        x = self._nlp.unscaled(self._found[0])
        self.last = self._report(x, self._inputs.current(), status, stats, False)
        warnings.warn(
            f"{self._motion.dyn.tree.name}: {why}; the last plan, shifted by {shift} intervals, stands for the "
            "solution",
            SolutionWarning,
            stacklevel=3,
        )
        return self.last


def _code(name: str, functions: list[ca.Function]) -> str:
    generator = ca.CodeGenerator(name)
    for each in functions:
        generator.add(each)
    return str(generator.dump())
