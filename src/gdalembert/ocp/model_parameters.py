"""The parameters p of a robot in a problem: numbers that every solve can set anew, and entries that are optimised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.parameters import Values
from gdalembert.dynamics.parameters.physical import physical_parameters, replaced
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.ocp.constraints import Constraints
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, frozen

Design = Mapping[str, tuple[float, float]]
"""The entries of p that are optimised, with their bounds: ``{name: (lower, upper)}``."""


class ModelParameters:
    """p in an ``Opti``: variables for the entries of the design, parameters for the others.

    Args:
        opti: the ``casadi.Opti``.
        dyn: the robot.
        p: values; those of the design are where the solver starts.
        design: bounds of the entries that are optimised.

    Attributes:
        last: p (n_p) of the last solve, or that of the problem before the first one.
        chosen: the entries of the design in p. ``others``: the other ones.
        fixed: the parameters (of ``others``) of the ``Opti``.

    Raises:
        UnknownNameError, ArgumentTypeError, ArgumentError: if p or the design cannot be used.
    """

    def __init__(self, opti: ca.Opti, dyn: Dynamics, p: Values, design: Design | None) -> None:
        self._opti, self._dyn = opti, dyn
        self.chosen, self.lower, self.upper = _ranges(dyn, design)
        self.others = [i for i in range(len(dyn.parameters)) if i not in self.chosen]
        self.last = self._typical = self.within(physical_parameters("Problem", dyn, p))
        self.fixed = opti.parameter(len(self.others)) if self.others else ca.MX(0, 1)
        self._variables = ca.MX(0, 1)

    def __len__(self) -> int:
        return len(self.last)

    def place(self, variables: ca.MX) -> None:
        """Give the design its variables, a column for each instant of the grid."""
        self._variables = variables

    @property
    def p(self) -> ca.MX:
        """All of p, in order (n_p × 1)."""
        return ca.MX(self.assembled(self._variables[:, 0], self.fixed))

    @property
    def along(self) -> ca.MX:
        """p of each instant of the grid, if any of it is optimised; or one column for all."""
        if not self.chosen:
            return self.p
        variables = self._variables
        return ca.MX(self.assembled(variables, ca.repmat(self.fixed, 1, variables.shape[1])))

    @property
    def sizes(self) -> Array:
        """Typical magnitudes of the design."""
        ends = np.abs([self._typical[self.chosen], self.lower, self.upper])
        size = np.where(np.isfinite(ends), ends, 0.0).max(axis=0)
        return np.where(size > 0, size, 1.0)

    def columns(self, n: int) -> list[ca.MX]:
        """The parts of p, design and others, a column for each of the n intervals."""
        return [self._variables[:, :n], ca.repmat(self.fixed, 1, n)]

    def assembled(self, chosen: Matrix, others: Matrix) -> Matrix:
        """p of its two parts."""
        order = np.argsort([*self.chosen, *self.others]).tolist()
        both: Matrix = ca.vertcat(chosen, others)
        return both[order, :] if order else chosen

    def bound(self, constraints: Constraints) -> None:
        """Add the bounds of the design."""
        if self.chosen:
            constraints.bound("bounds of p", self._variables[:, 0], self.lower, self.upper)

    def checked(self, where: str, p: Values) -> Array:
        """The values of p, all or some by name; those that are missing are the last ones.

        Raises:
            UnknownNameError, ArgumentTypeError, ArgumentError: if they cannot be used.
        """
        if p is None:
            return self.last
        return self.within(physical_parameters(where, self._dyn, replaced(self._dyn, self.last, p)))

    def set(self, values: Array) -> None:
        """Give a solve its values of p, and keep them as the last ones."""
        if self.others:
            self._opti.set_value(self.fixed, values[self.others])
        self.last = values

    def within(self, values: Array) -> Array:
        """The values, those of the design within their bounds."""
        found = np.array(values)
        found[self.chosen] = np.clip(found[self.chosen], self.lower, self.upper)
        return frozen(found)


def step_of_parts(step: ca.Function, parameters: ModelParameters) -> ca.Function:
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
        raise ArgumentTypeError(f"Problem: design={design!r}; give {{name of a parameter: (lower, upper)}}")
    found: dict[int, tuple[float, float]] = {}
    for name, ends in (design or {}).items():
        try:
            lower, upper = (float(x) for x in ends)
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"Problem: design: {name!r}: got {ends!r}; give (lower, upper)") from None
        if not lower < upper:
            raise ArgumentError(f"Problem: design: {name!r}: got ({lower:.9g}, {upper:.9g}); give lower below upper")
        found[dyn.parameters.index(name)] = lower, upper
    chosen = sorted(found)
    ranges = np.array([found[i] for i in chosen]).reshape(-1, 2)
    return chosen, ranges[:, 0], ranges[:, 1]
