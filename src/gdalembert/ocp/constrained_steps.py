"""A step of a robot that contacts and loops hold, with their forces as unknowns.

At each collocation point, with the forces f of the constraints,

    tau(q_i, v_i, a_i) − Jᵀ f_i = B u_i        J a_i + J̇ v_i + damping J v_i + stiffness c = 0

and at the end of the step, where these accelerations alone let the constraints drift by an error of the order of the
step, c(q) = 0 and J v = 0 hold as well: q̇ and v are moved there along the rows of J at the start of the step (projected
collocation: U. Ascher and L. Petzold, SIAM J. Numer. Anal. 28 (1991), 1097–1120),

    q_next = q + h Σ b_i dq_i + T(q) Jᵀ s_q        v_next = v + h Σ b_i a_i + Jᵀ s_v

so that there are as many unknowns s as rows, and no equation depends on the others. Of redundant constraints, only
independent combinations of rows are used: N f = 0 for the others, which makes f the smallest of all.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.constraints.checks import NEARLY_DEPENDENT, rank
from gdalembert.dynamics.constraints.constrained_dynamics import ConstrainedDynamics
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.configuration import random_configuration, unit_and_scale, unit_blocks
from gdalembert.model.rounding import clean_matrix
from gdalembert.ocp.steps import (
    collocation_method,
    control_at,
    differentiable,
    free_rates,
    interpolated,
    step_symbols,
)
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function, symbols

_TRIES = 3
"""Configurations at which the rows of constraints are compared."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Independent combinations of the rows of constraints.

    Attributes:
        con: the constraints.
        basis: orthonormal coefficients (r × nc).
    """

    con: ConstrainedDynamics
    basis: Array

    @classmethod
    def of(cls, con: ConstrainedDynamics) -> Rows:
        """Those of a robot.

        Raises:
            UnsupportedError: if what is redundant turns with q.
        """
        return cls(con, independent_rows(con))

    def __len__(self) -> int:
        return len(self.basis)

    @property
    def names(self) -> list[str]:
        """The constraint that each combination is of, the first one if there are several."""
        of = [each.name for each, n in zip(self.con.constraints, self.con._set.rows, strict=True) for _ in range(n)]
        return [of[int(np.argmax(np.abs(row) > 0))] for row in self.basis]

    def jacobian(self, q: Matrix, p: Sequence[Matrix]) -> Matrix:
        """J (r × nv)."""
        return spatial.constant(self.basis) @ self.con.jacobian(q, *p)

    def numbers(self, q: Array) -> Array:
        """J (r × nv) as numbers, at the parameters of the model."""
        return np.asarray(self.jacobian(ca.DM(q), values_of(self.con)).full())

    @cached_property
    def residual(self) -> ca.Function:
        """(x) → (r): c(q), of constraints that are anchored."""
        return self._at_state(lambda q, v, p: self.con.residual(q, *p))

    @cached_property
    def velocity(self) -> ca.Function:
        """(x) → (r): J v."""
        return self._at_state(lambda q, v, p: self.con.velocity(q, v, *p))

    def _at_state(self, rows: Callable[[Matrix, Matrix, list[ca.SX]], Matrix]) -> ca.Function:
        nq = self.con.nq
        s = symbols(x=nq + self.con.nv) | self.con.symbols()
        q, _ = unit_and_scale(s["x"][:nq], unit_blocks(self.con.tree))
        values = rows(q, s["x"][nq:], list(self.con.symbols().values()))
        return function("rows", s, {"rows": spatial.constant(self.basis) @ values})


def anchored_part(con: ConstrainedDynamics) -> ConstrainedDynamics | None:
    """The constraints whose places are known; ``None`` if there are none."""
    known = tuple(each for each in con.constraints if each.is_anchored)
    if len(known) in (0, len(con.constraints)):
        return con if known else None
    return ConstrainedDynamics(con.dynamics, known, regularization=con.regularization)


def values_of(con: ConstrainedDynamics) -> list[Array]:
    """p of the model, as the last input of a Function."""
    return [con.parameters.values] if con.parameters else []


def independent_rows(con: ConstrainedDynamics) -> Array:
    """Orthonormal combinations (r × nc) of the rows that are not redundant, unit vectors where they can be.

    Raises:
        UnsupportedError: if other rows are redundant at other configurations.
    """
    if not con.regularization:
        return np.eye(con.nc)
    samples = [con.jacobian(q, *values_of(con)).full() for q in _configurations(con)]
    left, sizes, _ = np.linalg.svd(np.hstack(samples))
    number = int(np.sum(sizes > NEARLY_DEPENDENT * sizes[0]))
    if any(rank(each, NEARLY_DEPENDENT) < number for each in samples):
        raise UnsupportedError(
            f"{con.tree.name}: which rows of its constraints are redundant changes with q, so that no combination of "
            "them is independent on a whole motion; hold less, as by '3D' in place of '6D'"
        )
    range_of_rows = left[:, :number] @ left[:, :number].T
    found: list[Array] = []
    for _ in range(number):
        column = range_of_rows[:, int(np.argmax(np.linalg.norm(range_of_rows, axis=0).round(9)))]
        found.append(column / np.linalg.norm(column))
        range_of_rows = range_of_rows - np.outer(found[-1], found[-1] @ range_of_rows)
    return clean_matrix(np.array(found))


def _configurations(con: ConstrainedDynamics) -> list[Array]:
    """Random ones, closed as far as they can be."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(_TRIES):
        q = np.asarray(ca.DM(random_configuration(con.tree, rng)).full().ravel())
        with contextlib.suppress(ArgumentError):
            q = con.closed_configuration(q)
        found.append(q)
    return found


def constrained_collocation(rows: Rows, places: Rows | None, *, degree: int, scheme: str, control: str) -> ca.Function:
    """A step of collocation, as :func:`~gdalembert.ocp.steps.collocation`, with the forces of constraints.

    Args:
        rows: of all constraints. ``places``: of those that are anchored.
        degree, scheme, control: as there.

    Returns:
        (x, k, s, u, h) → (x_next, residual, q, v, a, forces): k has the independent forces in its last rows, and
        ``residual`` the accelerations of the constraints. ``s``: s_q and s_v. ``forces`` (nc), a column for each
        stage. If the robot has parameters, p is the last input.
    """
    con = rows.con
    tree, method, nv = con.tree, collocation_method(degree, scheme), con.nv
    free, _ = free_rates(tree)
    moved = 0 if places is None else len(places)
    s = step_symbols(con, control, k=(nv + len(free) + len(rows), degree), s=(moved + len(rows), 1))
    p, nq = list(con.symbols().values()), tree.nq
    k, x = s["k"][: nv + len(free), :], s["x"]
    q, v, x_next = interpolated(tree, method, x, k, s["h"])
    basis = spatial.constant(rows.basis)
    blocks, actuators = unit_blocks(tree), con.dynamics.actuators
    forces = basis.T @ s["k"][nv + len(free) :, :]
    stages, residual = [], []
    for i in range(degree):
        unit, _ = unit_and_scale(q[:, i], blocks)
        stages.append(unit)
        residual += [
            con.inverse_dynamics(unit, v[:, i], k[:nv, i], forces[:, i], *p)
            - actuators.tau(unit, control_at(s["u"], method.c[i])),
            k[nv:, i] - tree.configuration_rate(q[:, i], v[:, i])[free, 0],
            basis @ con.acceleration_error(unit, v[:, i], k[:nv, i], *p),
        ]
    unit, _ = unit_and_scale(x[:nq], blocks)
    q_moved = ca.SX(nq, 1)
    if places is not None:
        q_moved = tree.configuration_rate(x[:nq], places.jacobian(unit, p).T @ s["s"][:moved])
    v_moved = rows.jacobian(unit, p).T @ s["s"][moved:]
    outputs = {
        "x_next": x_next + ca.vertcat(q_moved, v_moved),
        "residual": ca.vertcat(*residual),
        "q": ca.horzcat(*stages),
        "v": v,
        "a": k[:nv, :],
        "forces": forces,
    }
    return differentiable(function("constrained_collocation", s, outputs))
