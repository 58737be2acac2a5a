"""The numbers that a solve needs: parameters of the problem and of the robot, and the ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import casadi as ca
import numpy as np

from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.errors import ArgumentError
from gdalembert.ocp.model_parameters import ModelParameters
from gdalembert.ocp.parameters import Parameters
from gdalembert.spatial.arrays import Array


class Fixing(Protocol):
    """What fixes a state by parameters of the ``Opti``, which every solve sets anew."""

    @property
    def symbols(self) -> Sequence[ca.MX]:
        """The parameters."""

    @property
    def numbers(self) -> Sequence[Array]:
        """Their values in the last solve."""

    @property
    def pattern(self) -> tuple[bool, ...]:
        """Which rows are there."""

    @property
    def expression(self) -> ca.MX:
        """The value of the first of them, as an expression of parameters with names."""

    def set(self, parameters: Parameters) -> None:
        """Take the values of a solve."""

    def filled(self, number: float) -> Array:
        """The value of the first of them, with a number in place of what a solve may set to any value."""


class Inputs:
    """The parameters of an ``Opti``, as a vector.

    Args:
        opti: the problem, baked.
        parameters: those with names. ``robot``: p. ``ends``: start and end, which fix the same entries ever after.

    Attributes:
        named: the parameters with names, as they are now.
    """

    def __init__(
        self, opti: ca.OptiAdvanced, parameters: Parameters, robot: ModelParameters, ends: Sequence[Fixing]
    ) -> None:
        self._opti, self._parameters, self._robot, self._ends = opti, parameters, robot, ends
        self._pattern = [end.pattern for end in ends]
        self.symbols = ca.symvar(opti.p)
        self._vector = ca.Function("p", self.symbols, [opti.p])
        self.named = dict(parameters.symbols)
        named = {symbol.__hash__(): name for name, symbol in self.named.items()}
        self._names = [named.get(symbol.__hash__()) for symbol in self.symbols]

    def __call__(self, where: str, p: Values, values: Mapping[str, Any]) -> Array:
        """The vector, of what a solve is given; what is missing is as in the last one.

        Raises:
            As :meth:`Solver.__call__`.
        """
        of_robot = self._robot.checked(where, p)
        self._parameters.set(where, values, self.named)
        self._robot.set(of_robot)
        for end in self._ends:
            end.set(self._parameters)
        if [end.pattern for end in self._ends] != self._pattern:
            raise ArgumentError(
                f"{where}: start or end fix other entries than when the solver was built; call problem.solver() again"
            )
        return self.current()

    def current(self) -> Array:
        """The vector of the last values."""
        return np.array(self.vector(self.numbers(self._parameters.values)).full().ravel())

    def filled(self, number: float) -> Array:
        """The vector, with one number in place of all that a solve may set to any value."""
        values = {name: np.full(x.shape, number) for name, x in self.named.items()}
        ends = {end.symbols[0].__hash__(): end.filled(number) for end in self._ends}
        pairs = zip(self.symbols, self.numbers(values), strict=True)
        return np.array(self.vector([ends.get(symbol.__hash__(), x) for symbol, x in pairs]).full().ravel())

    def expression(self) -> ca.MX:
        """The vector, as an expression of the parameters with names; the others have their last values."""
        ends = {end.symbols[0].__hash__(): end.expression for end in self._ends}
        pairs = zip(self.symbols, self.numbers(self.named), strict=True)
        return ca.MX(self.vector([ends.get(symbol.__hash__(), x) for symbol, x in pairs]))

    def vector(self, values: Sequence[Any]) -> Any:
        """The vector of values or expressions of all symbols."""
        return self._vector.call(list(values))[0]

    def numbers(self, values: Mapping[str, Any]) -> list[Any]:
        """The values of all symbols, those with names from ``values``."""
        hidden = {
            symbol.__hash__(): x for end in self._ends for symbol, x in zip(end.symbols, end.numbers, strict=True)
        }
        if self._robot.others:
            hidden[self._robot.fixed.__hash__()] = self._robot.last[self._robot.others]
        return [
            values[name] if name is not None
            else hidden[symbol.__hash__()] if symbol.__hash__() in hidden
            else self._value(symbol)
            for name, symbol in zip(self._names, self.symbols, strict=True)
        ]  # fmt: skip

    def _value(self, symbol: ca.MX) -> Any:
        try:
            return self._opti.value(symbol)
        except RuntimeError:
            raise ArgumentError(
                f"{symbol.name()}, of size {symbol.shape[0]} × {symbol.shape[1]}, has no value: call "
                "problem.opti.set_value, or make it by problem.parameter(name, size)"
            ) from None
