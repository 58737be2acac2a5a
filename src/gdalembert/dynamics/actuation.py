"""Actuators: tau(q, u), linear in u by B, of tendons or by a Function, and the names of the entries of u.

A tendon is a cable through points that are fixed in frames of the robot, straight between them. It has no mass, no
friction at the points, and one tension u [N] along all of its length

    l(q) = Σ_k |x_{k+1}(q) − x_k(q)|

Shortening is the work of the tension, δW = −u δl, so that the torque on the joints is

    tau = B(q) u,    B = −(∂l/∂q)ᵀ,    vᵀ tau = −u dl/dt

with the derivative in the tangent space of q. l is an extension function and B a column of the coupling matrix of
Murray, Li and Sastry, A Mathematical Introduction to Robotic Manipulation, 1994, chapter 6; the sign, by which a
tension is positive where it pulls, is ours. Between points of rods and flexible links, which move with stations, these
are the discrete form of the tendon routing of Rucker and Webster, IEEE Trans. Robotics 27(6), 2011.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, TypeAlias

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.frames import asked_frame
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError, shown
from gdalembert.model.configuration import random_configuration
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.rounding import SAME_PLACE
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import numbers, vector
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.functions import function, symbols
from gdalembert.spatial.interrupts import interruptible

_STEPS, _SMALL = 50, 1e-12
"""Steps (for each tendon) for the u of a torque, and the relative size that counts as zero."""


@interruptible
@dataclass(frozen=True, init=False)
class Tendon(Brief):
    """A tendon as an actuator: ``actuation={"flexor": gd.Tendon([("base", (0, 0, 0.02)), ("link1", (0.1, 0, 0))])}``.

    Its effort is the tension [N], at least 0: a tendon pulls, and shortening is positive work.

    Args:
        points: (frame, position [m] in that frame) of each point that it runs through, from end to end: at least two.
            The frame is a name or an index in ``model.frames`` that is not a joint's, too; ``"universe"`` is one.

    Raises:
        ArgumentTypeError: if the points are not pairs of a frame and a position.
        ArgumentError: if there are fewer than two points, or a position does not consist of three finite numbers.
    """

    points: tuple[tuple[str | int, tuple[float, ...]], ...]

    def __init__(self, points: Sequence[tuple[str | int, npt.ArrayLike]]) -> None:
        if isinstance(points, str) or not isinstance(points, Sequence):
            raise ArgumentTypeError(f"Tendon: got {shown(points)}; give [(frame, position), …]")
        pairs = []
        for k, point in enumerate(points):
            if isinstance(point, str) or not isinstance(point, Sequence) or len(point) != 2:
                raise ArgumentTypeError(f"Tendon: point {k} is {point!r}; give (frame, position)")
            position: Array = vector(f"Tendon: the position of point {k}", point[1], 3)
            pairs.append((point[0], tuple(position.tolist())))
        if len(pairs) < 2:
            raise ArgumentError(f"Tendon: got {len(pairs)} points; give at least two, as [(frame, position), …]")
        object.__setattr__(self, "points", tuple(pairs))

    def parts(self, tree: Tree, q: Matrix) -> list[Matrix]:
        """The lengths of the straight parts [m], each in the axes of the last link that both of its ends move with."""
        points = ((tree.frames[asked_frame(tree, frame)], position) for frame, position in self.points)
        placed = [(tree.path(at.joint), spatial.constant(at.translation + at.rotation @ x)) for at, x in points]
        lengths = []
        for (path, x), (other, y) in pairwise(placed):
            # from the last link of both: in the universe the joints before it would be there, too, 295 instructions
            # of ∂l/∂q in place of 23 between two links of the wrist of a PUMA 560
            start = sum(i == j for i, j in zip(path, other, strict=False))
            lengths.append(ca.norm_2(_moved(tree, other[start:], y, q) - _moved(tree, path[start:], x, q)))
        return lengths

    def length(self, model: pin.Model | Tree) -> ca.Function:
        """(q, v) → (length, rate): l [m] and dl/dt [m/s], of a model, or of the ``nominal`` tree of any Dynamics."""
        tree = read_tree(model)
        s = symbols(q=tree.nq, v=tree.nv)
        length = ca.SX(sum(self.parts(tree, s["q"])))
        rate = ca.jtimes(length, s["q"], tree.configuration_rate(s["q"], s["v"]))
        return function("length", s, {"length": length, "rate": rate})


def _moved(tree: Tree, path: Sequence[int], x: Matrix, q: Matrix) -> Matrix:
    """A point of the last link of a path, seen from the link before its first one."""
    for i in reversed(path):
        r, p = tree.joints[i].placement(q)
        x = p + r @ x
    return x


Actuation: TypeAlias = npt.ArrayLike | Mapping[str, npt.ArrayLike | Tendon] | ca.Function
"""The actuators of a robot: B (nv × nu) of tau = B u; columns or tendons by name; or a Function (q, u) → tau."""


class Actuators:
    """The torque tau(q, u) (nv) of the efforts u of ``nu`` actuators: a Function, whose inputs behind q are u."""

    kind: ClassVar[str] = "a Function"
    are_default = False
    """True if nothing was said of them, so that each joint has one."""

    def __init__(self, function: ca.Function, tree: Tree) -> None:
        self.function, self.tree = function, tree
        self._sizes = [int(function.size1_in(i)) for i in range(1, function.n_in())]
        self.nu = sum(self._sizes)

    def tau(self, q: Matrix, u: Matrix) -> Matrix:
        """The torque, an expression."""
        return self.function(q, *ca.vertsplit(u, np.cumsum([0, *self._sizes]).tolist()))

    def torque(self, q: Array, u: Array) -> Array:
        """The torque (nv), in numbers."""
        return np.array(ca.DM(self.tau(ca.DM(q), ca.DM(u))).full().ravel())

    def names(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """A name for each entry of u: that of its input, with ``[k]`` appended to those of several entries.

        ``coordinates`` are the names of the entries of v.
        """
        inputs = zip(self.function.name_in()[1:], self._sizes, strict=True)
        return tuple(f"{name}[{k}]" if size > 1 else name for name, size in inputs for k in range(size))

    def derivatives(self, q: Array, u: Array) -> tuple[Array, Array]:
        """Derivatives ∂tau/∂q in the tangent space of q (nv × nv), and ∂tau/∂u (nv × nu)."""
        by_q, by_u = self._derivatives(q, u)
        return by_q.full(), by_u.full()

    @cached_property
    def _derivatives(self) -> ca.Function:
        q, u = ca.SX.sym("q", self.tree.nq), ca.SX.sym("u", self.nu)
        tau = self.tau(q, u)
        by_q = ca.jacobian(tau, q) @ self.tree.tangent_map(q)
        return ca.Function("derivatives", [q, u], [by_q, ca.jacobian(tau, u)])

    def efforts(self, q: Array, tau: Array) -> Array:
        """Efforts u (nu) of the least squares of tau(q, u) − tau."""
        u = np.ones(self.nu)  # and not 0, where a tau of squares or products of u has no slope
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

    def effort_limits(self, coordinates: Sequence[str], torques: Mapping[str, float]) -> tuple[Array, Array]:
        """Least and largest effort of each actuator (nu), from the largest torques by name; infinite if unknown."""
        return np.full(self.nu, -np.inf), np.full(self.nu, np.inf)

    def matrix(self, context: str) -> Array:
        """B, or an UnsupportedError if there is no such matrix of numbers."""
        raise UnsupportedError(
            f"{context}: the actuators of {self.tree.name} are {self.kind}; give the robot a matrix B"
        )


class LinearActuators(Actuators):
    """Actuators with tau = B u, whose columns have names of their own, or those of the coordinates that they drive."""

    def __init__(self, tree: Tree, b: Array, names: tuple[str, ...] | None = None, are_default: bool = False) -> None:
        s = symbols(q=tree.nq, u=b.shape[1])
        super().__init__(function("tau", s, {"tau": spatial.constant(b) @ s["u"]}), tree)
        self.b, self.own_names, self.are_default = b, names, are_default

    def tau(self, q: Matrix, u: Matrix) -> Matrix:
        return spatial.constant(self.b) @ u

    def names(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """Names of the columns, by default that of the coordinate which each drives alone."""
        rows = self._rows(coordinates)
        alone = (f"u[{k}]" if row is None else coordinates[row] for k, row in enumerate(rows))
        return self.own_names or tuple(alone)

    def efforts(self, q: Array, tau: Array) -> Array:
        # at once and not by the steps of the base class, which begin at 1: of redundant actuators the least efforts
        return np.asarray(np.linalg.lstsq(self.b, tau, rcond=None)[0])

    def matrix(self, context: str) -> Array:
        return self.b

    def effort_limits(self, coordinates: Sequence[str], torques: Mapping[str, float]) -> tuple[Array, Array]:
        """Limits by |tau| = |entry of B| |u|, of actuators that drive one coordinate alone."""
        columns = zip(self.b.T, self._rows(coordinates), strict=True)
        limits = (
            np.inf if k is None else torques.get(coordinates[k], np.inf) / abs(column[k]) for column, k in columns
        )
        largest = np.array(list(limits))
        return -largest, largest

    def _rows(self, coordinates: Sequence[str]) -> list[int | None]:
        """The only non-zero entry of each column, if no other has its only one at a coordinate of this name."""
        rows = [np.flatnonzero(column) for column in self.b.T]
        alone = [int(row[0]) if len(row) == 1 else None for row in rows]
        count = Counter(coordinates[row] for row in alone if row is not None)
        return [row if row is not None and count[coordinates[row]] == 1 else None for row in alone]


class TendonActuators(Actuators):
    """Actuators with tau = B(q) u, of tendons and of other actuators by columns of numbers."""

    kind: ClassVar[str] = "tendons"

    def __init__(self, tree: Tree, columns: Mapping[str, npt.ArrayLike | Tendon]) -> None:
        q, u = ca.SX.sym("q", tree.nq), ca.SX.sym("u", len(columns))
        here, b, tau = random_configuration(tree, np.random.default_rng(0)), np.zeros((tree.nv, len(columns))), ca.SX(0)
        pulls = np.array([isinstance(column, Tendon) for column in columns.values()])
        tangent = tree.tangent_map(q)
        for k, (name, column) in enumerate(columns.items()):
            if not isinstance(column, Tendon):
                b[:, k] = vector(f"actuation: column {name!r}", column, tree.nv)
                continue
            if min(float(part) for part in column.parts(tree, here)) < SAME_PLACE:
                raise ArgumentError(
                    f"actuation: two points in a row of {name!r} are always at the same place; leave one of them out"
                )
            by_q = (ca.jacobian(ca.SX(sum(column.parts(tree, q))), q) @ tangent).T
            if not np.abs(ca.Function("by_q", [q], [by_q])(here).full()).max() > SAME_PLACE:
                raise ArgumentError(f"actuation: no joint changes the length of {name!r}; give other points")
            tau -= by_q * u[k]
        self.columns, self.pulls = LinearActuators(tree, frozen(b), tuple(columns)), pulls
        super().__init__(function("tau", {"q": q, "u": u}, {"tau": self.columns.tau(q, u) + tau}), tree)

    def names(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        return self.columns.names(coordinates)

    def effort_limits(self, coordinates: Sequence[str], torques: Mapping[str, float]) -> tuple[Array, Array]:
        """The limits of the other actuators; a tendon pulls, as hard as it may."""
        least, most = self.columns.effort_limits(coordinates, torques)
        return np.where(self.pulls, 0.0, least), most

    def efforts(self, q: Array, tau: Array) -> Array:
        """Efforts with tensions of at least 0: Lawson and Hanson, Solving Least Squares Problems, 1974, NNLS."""
        # written here, since scipy.optimize.nnls bounds all unknowns, and SciPy is an extra
        b = self.derivatives(q, np.ones(self.nu))[1]
        used, u = ~self.pulls, np.zeros(self.nu)
        for _ in range(_STEPS * self.nu):
            new = np.zeros(self.nu)
            new[used] = np.linalg.lstsq(b[:, used], tau, rcond=None)[0]
            if (slack := self.pulls & (new < 0)).any():
                u = u + np.min(u[slack] / (u - new)[slack]) * (new - u)
                used &= ~self.pulls | (u > _SMALL * np.abs(u).max())
                continue
            u = new
            gain = np.where(used, 0.0, b.T @ (tau - b @ u))
            if gain.max() <= _SMALL * np.linalg.norm(b) * np.linalg.norm(tau):
                break
            used[gain.argmax()] = True
        return u


def check_tendons(tree: Tree, actuation: Actuation | None) -> None:
    """Refuse tendons of a robot whose placements are parameters: their torque is a Function of (q, u) alone."""
    if tree.has_displacements and isinstance(actuation, Mapping):
        for name in (name for name, column in actuation.items() if isinstance(column, Tendon)):
            raise UnsupportedError(
                f"actuation: tendon {name!r}: {tree.name} has placements as parameters, and its points are placed by "
                "numbers; give the tendon to a robot without them"
            )


def actuators_of(tree: Tree, actuation: Actuation | None, default_b: Array | None = None) -> Actuators:
    """The actuators of a robot, as its argument ``actuation`` gives them; by default those of its own B, which is 1."""
    if actuation is None:
        return LinearActuators(tree, frozen(np.eye(tree.nv) if default_b is None else default_b), are_default=True)
    if isinstance(actuation, ca.Function):
        wanted = f"give a casadi.Function (q, u) -> (tau) with q ({tree.nq}), u (nu), tau ({tree.nv})"
        inputs = [actuation.size_in(i) for i in range(actuation.n_in())]
        outputs = [actuation.size_out(i) for i in range(actuation.n_out())]
        if len(inputs) < 2 or inputs[0] != (tree.nq, 1) or outputs != [(tree.nv, 1)]:
            raise ArgumentError(f"actuation: the Function has inputs {inputs} and outputs {outputs}; {wanted}")
        if any(rows == 0 or columns != 1 for rows, columns in inputs):
            raise ArgumentError(f"actuation: the Function has inputs {inputs}; {wanted}")
        q, *u = (ca.SX.sym("x", rows) for rows, _ in inputs)
        try:
            tau = actuation(q, *u)
        except RuntimeError:
            raise ArgumentError(
                "actuation: the Function does not evaluate symbols of SX; write it in scalars"
            ) from None
        if not any(ca.which_depends(tau, ca.vertcat(*u), 1, True)):
            raise ArgumentError(f"actuation: tau of the Function does not depend on u; {wanted}")
        return Actuators(actuation, tree)
    if isinstance(actuation, Tendon):
        raise ArgumentTypeError("actuation: got a Tendon without a name; give {name: tendon}")
    if isinstance(actuation, Mapping):
        names: tuple[str, ...] | None = tuple(actuation)
        if not all(isinstance(name, str) for name in actuation):
            raise ArgumentTypeError(f"actuation: the names are {list(actuation)}; give {{name: column of B (nv)}}")
        if any(isinstance(column, Tendon) for column in actuation.values()):
            return TendonActuators(tree, actuation)
        b = frozen(numbers("actuation", list(actuation.values())).T)
    else:
        names, b = None, numbers("actuation", actuation)
    if b.ndim != 2 or b.shape[0] != tree.nv or not b.shape[1]:
        raise ArgumentError(f"actuation: got shape {b.shape}; give B ({tree.nv} × nu) of tau = B u")
    if not b.any():
        raise ArgumentError("actuation: all entries of B are 0, so that nothing drives the robot; give tau = B u")
    return LinearActuators(tree, b, names)
