"""Actuators: tau(q, u), linear in u by B or given by a Function, and the names of the entries of u."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.arrays import Array, frozen

Actuation: TypeAlias = npt.ArrayLike | Mapping[str, npt.ArrayLike] | ca.Function
"""What a robot takes: B (nv × nu) of tau = B u; its columns by the actuators' names; or a Function (q, u) → tau."""

_STEPS, _SMALL = 50, 1e-12
"""Gauss–Newton steps for the u of a torque, and the relative step that ends them."""


class Actuators(ABC):
    """The torque tau (nv) of the actuators' efforts u (nu) at q."""

    @property
    @abstractmethod
    def nu(self) -> int:
        """The number of actuators."""

    @abstractmethod
    def tau(self, q: Matrix, u: Matrix) -> Matrix:
        """The torque, an expression."""

    @abstractmethod
    def names(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """A name for each entry of u; ``coordinates`` are those of v."""

    @abstractmethod
    def derivatives(self, q: Array, u: Array) -> tuple[Array, Array]:
        """∂tau/∂q in the tangent space of q (nv × nv), and ∂tau/∂u (nv × nu)."""

    @abstractmethod
    def efforts(self, q: Array, tau: Array) -> Array:
        """u (nu) of the least squares of tau(q, u) − tau."""

    @abstractmethod
    def matrix(self, where: str) -> Array:
        """B.

        Raises:
            UnsupportedError: if they are a Function.
        """

    def torque(self, q: Array, u: Array) -> Array:
        """The torque (nv), in numbers."""
        return np.array(ca.DM(self.tau(ca.DM(q), ca.DM(u))).full().ravel())

    def effort_limits(self, coordinates: Sequence[str], torques: Mapping[str, float]) -> Array:
        """The largest effort of each actuator (nu), from the largest torques by name; infinite if unknown."""
        return np.full(self.nu, np.inf)

    @property
    def are_default(self) -> bool:
        """Whether nothing was said of them, so that each joint has its own."""
        return False


@dataclass(frozen=True, eq=False)
class LinearActuators(Actuators):
    """tau = B u.

    Args:
        b: B (nv × nu).
        own_names: of the columns; by default those of the coordinates that they drive.
        are_default: whether B is that of a robot of which nothing else was said.
    """

    b: Array
    own_names: tuple[str, ...] | None = None
    are_default: bool = False

    @property
    def nu(self) -> int:
        return int(self.b.shape[1])

    def tau(self, q: Matrix, u: Matrix) -> Matrix:
        return spatial.constant(self.b) @ u

    def names(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """A column has the name of the coordinate that it drives alone."""
        rows = self._rows(coordinates)
        alone = (f"u[{k}]" if row is None else coordinates[row] for k, row in enumerate(rows))
        return self.own_names or tuple(alone)

    def derivatives(self, q: Array, u: Array) -> tuple[Array, Array]:
        return np.zeros((len(self.b), len(self.b))), self.b

    def efforts(self, q: Array, tau: Array) -> Array:
        return np.asarray(np.linalg.lstsq(self.b, tau, rcond=None)[0])

    def matrix(self, where: str) -> Array:
        return self.b

    def effort_limits(self, coordinates: Sequence[str], torques: Mapping[str, float]) -> Array:
        """|tau| = |entry of B| |u| of an actuator that drives one coordinate alone."""

        def limit(column: Array, row: int | None) -> float:
            return np.inf if row is None else torques.get(coordinates[row], np.inf) / abs(column[row])

        return np.array([limit(*each) for each in zip(self.b.T, self._rows(coordinates), strict=True)])

    def _rows(self, coordinates: Sequence[str]) -> list[int | None]:
        """The only non-zero entry of each column, if no other has its only one at a coordinate of this name."""
        rows = [np.flatnonzero(column) for column in self.b.T]
        alone = [int(row[0]) if len(row) == 1 else None for row in rows]
        count = Counter(coordinates[row] for row in alone if row is not None)
        return [row if row is not None and count[coordinates[row]] == 1 else None for row in alone]


@dataclass(frozen=True, eq=False)
class FunctionOfActuators(Actuators):
    """tau(q, u).

    Args:
        function: (q, u …) → (tau); u are all inputs behind q.
        tree: of the robot.
    """

    function: ca.Function
    tree: Tree

    @property
    def nu(self) -> int:
        return sum(self._sizes)

    def tau(self, q: Matrix, u: Matrix) -> Matrix:
        return self.function(q, *ca.vertsplit(u, np.cumsum([0, *self._sizes]).tolist()))

    def names(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """That of the input, with ``[k]`` appended to those of several entries."""
        inputs = self.function.name_in()[1:]
        return tuple(
            f"{name}[{k}]" if size > 1 else name
            for name, size in zip(inputs, self._sizes, strict=True)
            for k in range(size)
        )

    def derivatives(self, q: Array, u: Array) -> tuple[Array, Array]:
        by_q, by_u = self._derivatives(q, u)
        return by_q.full(), by_u.full()

    def efforts(self, q: Array, tau: Array) -> Array:
        u = np.ones(self.nu)
        best, smallest = u, np.inf
        for _ in range(_STEPS):
            left = self.torque(q, u) - tau
            if (size := float(left @ left)) < smallest:
                best, smallest = u, size
            step = np.linalg.lstsq(self.derivatives(q, u)[1], -left, rcond=None)[0]
            u = u + step
            if np.abs(step).max() <= _SMALL * max(1.0, np.abs(u).max()):
                break
        return best

    def matrix(self, where: str) -> Array:
        raise UnsupportedError(f"{where}: the actuators of {self.tree.name} are a Function; give the robot a matrix B")

    @property
    def _sizes(self) -> list[int]:
        return [int(self.function.size1_in(i)) for i in range(1, self.function.n_in())]

    @cached_property
    def _derivatives(self) -> ca.Function:
        q, u = ca.SX.sym("q", self.tree.nq), ca.SX.sym("u", self.nu)
        tau = self.tau(q, u)
        by_q = ca.jacobian(tau, q) @ self.tree.tangent_map(q)
        return ca.Function("derivatives", [q, u], [by_q, ca.jacobian(tau, u)])


def actuators_of(tree: Tree, given: Actuation | None, own: Array | None = None) -> Actuators:
    """The actuators of a robot; by default those of its own B, which is 1.

    Raises:
        ArgumentTypeError: if it is neither a matrix of numbers, nor a mapping of columns, nor a Function.
        ArgumentError: if B has not nv rows, no column, a number that is not finite, or zeros alone; or if a Function is
            not one of q and u with the value tau, or does not depend on u.
    """
    if given is None:
        return LinearActuators(frozen(np.eye(tree.nv) if own is None else own), are_default=True)
    if isinstance(given, ca.Function):
        return _function_of_actuators(tree, given)
    if isinstance(given, Mapping):
        names: tuple[str, ...] | None = tuple(given)
        if not all(isinstance(name, str) for name in given):
            raise ArgumentTypeError(f"actuation: the names are {list(given)}; give {{name: column of B (nv)}}")
        b = frozen(numbers("actuation", list(given.values())).T)
    else:
        names, b = None, numbers("actuation", given)
    if b.ndim != 2 or b.shape[0] != tree.nv or not b.shape[1]:
        raise ArgumentError(f"actuation: got shape {b.shape}; give B ({tree.nv} × nu) of tau = B u")
    if not b.any():
        raise ArgumentError("actuation: all entries of B are 0, so that nothing drives the robot; give tau = B u")
    return LinearActuators(b, names)


def _function_of_actuators(tree: Tree, function: ca.Function) -> FunctionOfActuators:
    wanted = f"give a casadi.Function (q, u) -> (tau) with q ({tree.nq}), u (nu), tau ({tree.nv})"
    inputs = [function.size_in(i) for i in range(function.n_in())]
    outputs = [function.size_out(i) for i in range(function.n_out())]
    if len(inputs) < 2 or inputs[0] != (tree.nq, 1) or outputs != [(tree.nv, 1)]:
        raise ArgumentError(f"actuation: the Function has inputs {inputs} and outputs {outputs}; {wanted}")
    if any(rows == 0 or columns != 1 for rows, columns in inputs):
        raise ArgumentError(f"actuation: the Function has inputs {inputs}; {wanted}")
    q, *u = (ca.SX.sym("x", rows) for rows, _ in inputs)
    try:
        tau = function(q, *u)
    except RuntimeError:
        raise ArgumentError("actuation: the Function does not evaluate symbols of SX; write it in scalars") from None
    if not any(ca.which_depends(tau, ca.vertcat(*u), 1, True)):
        raise ArgumentError(f"actuation: tau of the Function does not depend on u; {wanted}")
    return FunctionOfActuators(function, tree)
