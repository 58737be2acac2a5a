"""Parameters of a problem by name, those of its robot, and the vector of both that a solve takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from keyword import iskeyword
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.dynamics.physical_parameters import physical_parameters, replaced
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.nlp.entries import Indices
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import integer, numbers
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.expressions import foreign

RESERVED = (
    *("q", "v", "a", "u", "du", "t", "p", "forces"),
    *("self", "solver", "options", "progress", "shift", "guess"),
    *("z0", "lam_x0", "lam_g0", "cost", "z", "lam_x", "lam_g", "violation"),
)
"""Names of other inputs and outputs of expressions, of ``solve``, and of solvers."""
_RELAXED = 1e-7
"""How far beyond its bounds a solver may leave a design, of its size; IPOPT relaxes them by 1e-8."""


class ProblemParameters:
    """The parameters of a problem by name: ``symbols``, and the ``values`` that a solve was given last.

    They are size × 1, or size × (N + 1) with a column for each instant of the grid.
    """

    def __init__(self, intervals: int) -> None:
        self._intervals = intervals
        self.symbols: dict[str, ca.MX] = {}
        self.values: dict[str, Array] = {}

    def make(self, name: str, size: int, at: str | None) -> ca.MX:
        """A new parameter, as of :meth:`Problem.parameter`."""
        if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
            raise ArgumentTypeError(f"parameter: got the name {shown(name)}; give a Python identifier, as 'target'")
        if name in self.symbols:
            raise ArgumentError(f"parameter: there is a parameter {name!r} already; give another name")
        if name in RESERVED:
            raise ArgumentError(
                f"parameter: {name!r} is the name of an input or output of expressions and solvers, as all of "
                f"{', '.join(RESERVED)}; give another"
            )
        size = integer(f"parameter: size of {name!r}", size, 1)
        if at is not None and (not isinstance(at, str) or at != "grid"):
            raise ArgumentError(f"parameter: at: got {shown(at)}; give 'grid', or leave it out")
        made: ca.MX = ca.MX.sym(name, size, 1 if at is None else self._intervals + 1)
        self.symbols[name] = made
        return made

    def set(self, where: str, given: Mapping[str, Any], names: Collection[str] | None = None) -> Mapping[str, Array]:
        """Take the values of a solve, of all or some names; those that are missing keep their last ones."""
        taken, names = {}, self.symbols if names is None else names
        for name, value in given.items():
            if name not in names:
                raise UnknownNameError("parameter of the problem", name, tuple(names))
            shape, array = self.symbols[name].shape, numbers(f"{where}: {name}", value)
            if array.ndim == 1 and 1 in shape and array.size == max(shape):
                array = array.reshape(shape)
            if array.size != 1 and array.shape != shape:
                wanted = f"({shape[0]},)" if shape[1] == 1 else str(shape)
                raise ArgumentError(f"{where}: {name} has shape {array.shape}; give {wanted}, or one number")
            taken[name] = np.full(shape, array.item()) if array.size == 1 else np.array(array)
        missing = [name for name in names if name not in taken and name not in self.values]
        if missing:
            raise ArgumentError(f"{where}: no value of the parameter {missing[0]!r}; give {missing[0]}=…")
        self.values |= taken
        return taken

    def of(self, expression: ca.MX) -> Array:
        """The value of an expression of these parameters alone."""
        names = [name for name, symbol in self.symbols.items() if ca.depends_on(expression, symbol)]
        graph = ca.Function("value", [self.symbols[name] for name in names], [expression])
        return np.array(graph.call([self.values[name] for name in names])[0].full())

    def name_of(self, value: Array | ca.MX) -> str:
        """The name of the parameter that a value is; "" if it is numbers or another expression."""
        names = {hash(symbol): name for name, symbol in self.symbols.items()}
        return names.get(hash(value), "") if isinstance(value, ca.MX) else ""

    def check(self, where: str, expression: ca.MX) -> None:
        """Refuse an expression of anything but these parameters, by an ArgumentError."""
        if other := foreign(expression, self.symbols.values()):
            raise ArgumentError(
                f"{where}: the expression has the symbol {other[0].name()!r}, which is no parameter of the problem; "
                "make it by problem.parameter(name, size)"
            )

    def check_bound(self, where: str, key: str, bound: Any) -> None:
        """Refuse a bound that has other symbols than these, or a column for each instant, by an ArgumentError."""
        if not isinstance(bound, ca.MX):
            return
        self.check(where, bound)
        grid = [name for name, x in self.symbols.items() if x.shape[1] > 1 and ca.depends_on(bound, x)]
        if grid and bound.shape[1] > 1:
            raise ArgumentError(
                f"{where}: {key} has the parameter {grid[0]!r} of every instant; subtract it in the expression, as "
                f"lambda q, {grid[0]}: q - {grid[0]}, and give {key}=0"
            )


Design = Mapping[str, tuple[float, float]]
"""The entries of p that are optimised, with their bounds: ``{name: (lower, upper)}``."""


class RobotParameters:
    """p in a problem: variables for the entries of the design, parameters for the others.

    Attributes:
        last: p (n_p) of the last solve, or that of the problem before the first one.
        chosen: the entries of the design in p. ``others``: the other ones.
        fixed: the parameters (of ``others``). ``variables``: of the design, a column for each instant.
    """

    def __init__(self, dyn: Dynamics, design: Design | None) -> None:
        self._dyn = dyn
        self.chosen, self.lower, self.upper = _ranges(dyn, design)
        self.others = [i for i in range(len(dyn.parameters)) if i not in self.chosen]
        self.fixed = ca.MX.sym("p", len(self.others)) if self.others else ca.MX(0, 1)
        self.variables = ca.MX(0, 1)

    def __len__(self) -> int:
        return len(self._dyn.parameters)

    def start_at(self, p: Values) -> None:
        """Take the values at which the first solve begins, within the bounds of the design."""
        self.last = self._typical = self.within(physical_parameters("Problem", self._dyn, p))

    @property
    def p(self) -> ca.MX:
        """All of p, in order (n_p × 1)."""
        return ca.MX(self.assembled(self.variables[:, 0], self.fixed))

    @property
    def along(self) -> ca.MX:
        """p of each instant of the grid, if any of it is optimised; or one column for all."""
        if not self.chosen:
            return self.p
        variables = self.variables
        return ca.MX(self.assembled(variables, ca.repmat(self.fixed, 1, variables.shape[1])))

    @property
    def sizes(self) -> Array:
        """Typical magnitudes of the design."""
        ends = np.abs([self._typical[self.chosen], self.lower, self.upper])
        size = np.where(np.isfinite(ends), ends, 0.0).max(axis=0)
        return np.where(size > 0, size, 1.0)

    def columns(self, n: int) -> list[ca.MX]:
        """The parts of p, design and others, a column for each of the n intervals; none if there is no p."""
        return [self.variables[:, :n], ca.repmat(self.fixed, 1, n)] if len(self) else []

    def symbols(self) -> list[ca.MX]:
        """Symbols of these parts."""
        sizes = {"design": len(self.chosen), "p": len(self.others)}
        return [ca.MX.sym(name, size) for name, size in sizes.items()] if len(self) else []

    def assembled(self, chosen: Matrix, others: Matrix) -> Matrix:
        """p of its two parts."""
        order = np.argsort([*self.chosen, *self.others]).tolist()
        both: Matrix = ca.vertcat(chosen, others)
        return both[order, :] if order else chosen

    def checked(self, where: str, p: Values) -> Array:
        """The values of p, all or some by name; those that are missing are the last ones."""
        if p is None:
            return self.last
        return self.within(physical_parameters(where, self._dyn, replaced(self._dyn, self.last, p)))

    def set(self, values: Array) -> None:
        """Give a solve its values of p, and keep them as the last ones."""
        self.last = values

    def within(self, values: Array) -> Array:
        """The values, those of the design within their bounds."""
        found = np.array(values)
        found[self.chosen] = np.clip(found[self.chosen], self.lower, self.upper)
        return frozen(found)

    def rounded(self, values: Array) -> Array:
        """The values, those of the design at their bounds where a solver's tolerance alone leaves them beyond."""
        within = self.within(values) if self.chosen else values
        beyond = np.abs(within - values)[self.chosen]
        return within if self.chosen and np.all(beyond <= _RELAXED * self.sizes) else values


def step_of_parts(step: ca.Function, parameters: RobotParameters) -> ca.Function:
    """A step whose last input p is replaced by its two parts; derivatives are taken with respect to the first alone.

    Without a design no derivative of the step has a column more than it has for numbers in place of p.
    """
    *inputs, _ = step.sx_in()
    parts = ca.SX.sym("chosen", len(parameters.chosen)), ca.SX.sym("others", len(parameters.others))
    names = [*step.name_in()[:-1], "chosen", "others"]
    by_jacobian: dict[str, Any] = {"enable_forward": False, "is_diff_in": [True] * (len(names) - 1) + [False]}
    outputs = step.call([*inputs, ca.SX(parameters.assembled(*parts))])
    options: dict[str, Any] = by_jacobian | {"reverse_options": {"enable_forward": False}}
    return ca.Function(step.name(), [*inputs, *parts], outputs, names, step.name_out(), options)


def _ranges(dyn: Dynamics, design: Design | None) -> tuple[list[int], Array, Array]:
    """The entries of p that are optimised, in order, and their bounds."""
    if not isinstance(design, Mapping | None):
        raise ArgumentTypeError(f"Problem: design={shown(design)}; give {{name of a parameter: (lower, upper)}}")
    found: dict[int, tuple[float, float]] = {}
    for name, ends in (design or {}).items():
        try:
            lower, upper = (float(x) for x in ends)
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"Problem: design: {name!r}: got {shown(ends)}; give (lower, upper)") from None
        if not lower < upper:
            raise ArgumentError(f"Problem: design: {name!r}: got ({lower:.9g}, {upper:.9g}); give lower below upper")
        found[dyn.parameters.index(name)] = lower, upper
    chosen = sorted(found)
    ranges = np.array([found[i] for i in chosen]).reshape(-1, 2)
    return chosen, ranges[:, 0], ranges[:, 1]


class BoundaryCondition(ABC):
    """Condition that fixes a state by parameters, its ``symbols``, which every solve sets anew."""

    symbols: Sequence[ca.MX]

    @property
    @abstractmethod
    def numbers(self) -> Sequence[Array]:
        """Values of the parameters in the last solve."""

    @property
    def said(self) -> tuple[Any, ...]:
        """Key that tells if the user says the same: numbers, and hashes of expressions."""
        return ()

    @property
    @abstractmethod
    def pattern(self) -> tuple[bool, ...]:
        """Mask of the rows that are there."""

    @property
    def expression(self) -> ca.MX:
        """The value of the first of them, as an expression of parameters with names."""
        return ca.MX(ca.DM(self.numbers[0]))

    @abstractmethod
    def set(self, parameters: ProblemParameters) -> None:
        """Take the values of a solve."""

    def check(self, values: Mapping[str, Array]) -> None:  # noqa: B027 (most refuse nothing)
        """Refuse values of parameters (columns, by name) in a tick, for which conditions are not set anew."""

    def tighten(self, parameters: ProblemParameters, accuracy: Any) -> bool:
        """Ask for more by parameters, where a solution violates something between instants; whether it does."""
        return False


def entries_of(matrix: ca.MX, matrices: Sequence[ca.MX]) -> Indices:
    """The numbers of a matrix's entries among those of several that stand behind each other, column by column."""
    numbers = {hash(other): i for i, other in enumerate(matrices)}
    first = sum(other.numel() for other in matrices[: numbers[hash(matrix)]])
    return first + np.arange(matrix.numel()).reshape(matrix.shape, order="F")


def matrices_of(column: Any, like: Sequence[ca.MX]) -> list[Any]:
    """The parts of a column, in the shapes of other matrices."""
    found, first = [], 0
    for matrix in like:
        found.append(ca.reshape(column[first : first + matrix.numel()], *matrix.shape))
        first += matrix.numel()
    return found


class Inputs:
    """The parameters of a program, as a vector; ``named`` are those with names, as they are now.

    The ends fix the same entries ever after. Behind all others are the fractions of the duration at the grid.
    """

    def __init__(
        self,
        intervals: int,
        parameters: ProblemParameters,
        robot: RobotParameters,
        ends: Sequence[BoundaryCondition],
    ) -> None:
        self._parameters, self._robot, self.ends = parameters, robot, ends
        self._pattern = [end.pattern for end in ends]
        self.named = dict(parameters.symbols)
        self.fractions = ca.MX.sym("fractions", intervals + 1)
        of_ends = [symbol for end in ends for symbol in end.symbols]
        self.symbols = [*self.named.values(), *[robot.fixed][: len(robot.others)], *of_ends, self.fractions]
        self.p = ca.MX.sym("p", sum(symbol.numel() for symbol in self.symbols))

    def __call__(self, where: str, p: Values, values: Mapping[str, Any]) -> Array:
        """The vector, of what a solve is given, as to :meth:`Solver.__call__`."""
        of_robot = self._robot.checked(where, p)
        self._parameters.set(where, values, self.named)
        self._robot.set(of_robot)
        for end in self.ends:
            end.set(self._parameters)
        if [end.pattern for end in self.ends] != self._pattern:
            raise ArgumentError(
                f"{where}: start or end fix other entries than when the solver was built; call problem.solver() again"
            )
        return self.current()

    def tighten(self, accuracy: Any) -> bool:
        """Ask for more, as of :meth:`BoundaryCondition.tighten`."""
        return sum(end.tighten(self._parameters, accuracy) for end in self.ends) > 0

    def restoring(self) -> Callable[[], None]:
        """Function that sets the parameters to those of now."""
        values, p = dict(self._parameters.values), self._robot.last

        def restore() -> None:
            self._parameters.values.clear()
            self._parameters.values.update(values)
            self._robot.set(p)

        return restore

    def entries(self, symbol: ca.MX) -> Indices:
        """The places of a parameter in the vector, column by column."""
        return entries_of(symbol, self.symbols)

    def of(self, expression: ca.MX) -> ca.MX:
        """An expression of the parameters, as one of the vector."""
        return ca.MX(ca.Function("of", self.symbols, [expression]).call(self.split(self.p), True, False)[0])

    def split(self, p: Any) -> list[Any]:
        """The parameters, of the vector."""
        return matrices_of(p, self.symbols)

    def current(self) -> Array:
        """The vector of the last values."""
        return np.array(ca.DM(self._vector(self._parameters.values, {})).full().ravel())

    def expression(self) -> ca.MX:
        """The vector, as an expression of the parameters with names; the others have their last values."""
        expressions = {id(end.symbols[0]): end.expression for end in self.ends if end.symbols}
        return ca.MX(self._vector(self.named, expressions))

    def _vector(self, values: Mapping[str, Any], others: Mapping[int, Any]) -> Any:
        """The vector, of values by name, and of others than the last for some symbols (by id)."""
        found = [values[name] for name in self.named]
        if self._robot.others:
            found.append(self._robot.last[self._robot.others])
        for end in self.ends:
            found += [others.get(id(x), number) for x, number in zip(end.symbols, end.numbers, strict=True)]
        found.append(np.linspace(0, 1, self.fractions.numel()))
        return ca.veccat(*(x if isinstance(x, ca.MX) else ca.DM(x) for x in found))
