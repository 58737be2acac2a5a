"""Parameters of a problem by name: numbers that every solve takes anew."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from keyword import iskeyword
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.spatial.arguments import integer, numbers
from gdalembert.spatial.arrays import Array

RESERVED = (
    *("q", "v", "a", "u", "t", "p", "forces"),
    *("self", "solver", "options", "shift", "guess"),
    *("z0", "lam_x0", "lam_g0", "cost", "z", "lam_x", "lam_g", "violation"),
)
"""Names of other inputs and outputs of expressions, of ``solve``, and of solvers."""


class Parameters:
    """The named parameters of an ``Opti``.

    Args:
        opti: the ``casadi.Opti``.
        intervals: number N of steps.

    Attributes:
        symbols: the MX by name, size × 1, or size × (N + 1) if it has a column for each instant of the grid.
        values: the numbers that a solve was given last, by name.
    """

    def __init__(self, opti: ca.Opti, intervals: int) -> None:
        self._opti, self._intervals = opti, intervals
        self.symbols: dict[str, ca.MX] = {}
        self.values: dict[str, Array] = {}

    def make(self, name: str, size: int, at: str | None) -> ca.MX:
        """A new parameter.

        Raises:
            ArgumentTypeError, ArgumentError: if the name is no identifier or is taken, or the size is not positive.
        """
        if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
            raise ArgumentTypeError(f"parameter: got the name {name!r}; give a Python identifier, as 'target'")
        if name in self.symbols:
            raise ArgumentError(f"parameter: there is a parameter {name!r} already; give another name")
        if name in RESERVED:
            raise ArgumentError(
                f"parameter: {name!r} is the name of an input or output of expressions and solvers, as all of "
                f"{', '.join(RESERVED)}; give another"
            )
        size = integer(f"parameter: size of {name!r}", size, 1)
        if at not in (None, "grid"):
            raise ArgumentError(f"parameter: at: got {at!r}; give 'grid', or leave it out")
        made: ca.MX = self._opti.parameter(size, 1 if at is None else self._intervals + 1)
        self.symbols[name] = made
        return made

    def set(self, where: str, given: Mapping[str, Any], names: Collection[str] | None = None) -> None:
        """Take the values of a solve, of all or some names; those that are missing keep their last ones.

        Raises:
            UnknownNameError: if no parameter has a name.
            ArgumentTypeError, ArgumentError: if values cannot be used, or one was never given.
        """
        taken = {}
        names = self.symbols if names is None else names
        for name, value in given.items():
            if name not in names:
                raise UnknownNameError("parameter of the problem", name, tuple(names))
            taken[name] = _fitted(f"{where}: {name}", value, self.symbols[name].shape)
        missing = [name for name in names if name not in taken and name not in self.values]
        if missing:
            raise ArgumentError(f"{where}: no value of the parameter {missing[0]!r}; give {missing[0]}=…")
        self.values |= taken
        for name, array in taken.items():
            self._opti.set_value(self.symbols[name], array)

    def of(self, expression: ca.MX) -> Array:
        """The value of an expression of these parameters alone."""
        names = [name for name, symbol in self.symbols.items() if ca.depends_on(expression, symbol)]
        graph = ca.Function("value", [self.symbols[name] for name in names], [expression])
        return np.array(graph.call([self.values[name] for name in names])[0].full())

    def check(self, where: str, expression: ca.MX) -> None:
        """Refuse an expression of anything but these parameters.

        Raises:
            ArgumentError: if it has another symbol.
        """
        if other := foreign(expression, self.symbols.values()):
            raise ArgumentError(
                f"{where}: the expression has the symbol {other[0].name()!r}, which is no parameter of the problem; "
                "make it by problem.parameter(name, size)"
            )

    def check_bound(self, where: str, key: str, bound: Any) -> None:
        """Refuse a bound that has other symbols than these parameters, or a column for each instant of the grid.

        Raises:
            ArgumentError: if it is so.
        """
        if not isinstance(bound, ca.MX):
            return
        self.check(where, bound)
        grid = [name for name, x in self.symbols.items() if x.shape[1] > 1 and ca.depends_on(bound, x)]
        if grid and bound.shape[1] > 1:
            raise ArgumentError(
                f"{where}: {key} has the parameter {grid[0]!r} of every instant; subtract it in the expression, as "
                f"lambda q, {grid[0]}: q - {grid[0]}, and give {key}=0"
            )


def foreign(expression: ca.MX, known: Iterable[ca.MX]) -> list[ca.MX]:
    """The symbols of an expression that are not among the known ones."""
    own = {symbol.__hash__() for symbol in known}
    return [symbol for symbol in ca.symvar(expression) if symbol.__hash__() not in own]


def _fitted(what: str, value: Any, shape: tuple[int, int]) -> Array:
    """Numbers of a shape: a column may come as a vector, and one number stands for all entries."""
    array = numbers(what, value)
    if array.size == 1:
        return np.full(shape, array.item())
    if array.ndim == 1 and 1 in shape:
        array = array.reshape(shape) if array.size == shape[0] * shape[1] else array
    if array.shape != shape:
        wanted = f"({shape[0]},)" if shape[1] == 1 else str(shape)
        raise ArgumentError(f"{what} has shape {array.shape}; give {wanted}, or one number")
    return np.array(array)
