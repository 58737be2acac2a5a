"""What an experiment may do and what it measures: the motion of the joints, its limits, and the regressor.

The rows of W are those of the measured torques at N instants, each divided by its noise; a column is the derivative of
the torques with respect to one parameter. The covariance of the least squares estimate is (Wᵀ W)⁻¹.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.identification.fourier import coefficients_at_rest, rows
from gdalembert.model.limits import Bounds
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.expressions import evaluate, path_bounds
from gdalembert.spatial.functions import symbols

Path = tuple[Any, Any, Any]
"""(expression of q, v, a; lower, upper)."""

_INSTANTS = 12
"""Instants for each harmonic."""
_FIRST = 0.6
"""Part of the limits that a random motion uses."""
_OFF_CENTRE = 0.3
"""The largest distance of its centre from the middle of the limits, in half of their range."""
_NOISE = 1e-14
"""Rounding of entries of the order of 1."""


class Limit(NamedTuple):
    """Rows (a column for each instant) between two bounds; scaled to ±1 where both are finite."""

    names: tuple[str, ...]
    rows: Any
    lower: Array
    upper: Array

    @property
    def two_sided(self) -> npt.NDArray[np.bool_]:
        """Which rows have two finite bounds."""
        return np.isfinite(self.lower) & np.isfinite(self.upper)

    @property
    def range(self) -> tuple[Array, Array]:
        """The middle and half of the range of each row; 0 and 1 where a bound is infinite."""
        both = self.two_sided
        lower, upper = np.where(both, self.lower, -1.0), np.where(both, self.upper, 1.0)
        return (lower + upper) / 2, (upper - lower) / 2

    @property
    def bounded(self) -> list[int]:
        """The rows with a finite bound."""
        return np.flatnonzero(np.isfinite(self.lower) | np.isfinite(self.upper)).tolist()

    def scaled(self, part: float = 1.0) -> tuple[Any, Array, Array]:
        """The rows with a bound in units of half of their range, and the bounds of this part of the range."""
        (middle, half), both, at = self.range, self.two_sided, self.bounded
        lower, upper = np.where(both, -part, self.lower), np.where(both, part, self.upper)
        return ((self.rows - middle[:, None]) / half[:, None])[at, :], lower[at], upper[at]


@dataclass(frozen=True, eq=False)
class Experiment:
    """Joints that move as Fourier series, others that are held, and torques that are measured.

    Attributes:
        dyn, bounds: the robot and its limits.
        columns: the entries of v that move; the other joints are held.
        hold: configuration (nq) of the others.
        acceleration: limits of the entries that move [rad/s², m/s²], infinite if there are none.
        paths: expressions of q, v and a, with their bounds.
        period, harmonics: of the series. ``at_rest``: whether each period begins and ends at rest.
        efforts: the entries of u that are measured. ``noise``: their standard deviations.
        margin: part of each limit of a joint and its effort that is left free.
    """

    dyn: Dynamics
    bounds: Bounds
    columns: tuple[int, ...]
    hold: Array
    acceleration: Array
    paths: Sequence[Path]
    period: float
    harmonics: int
    at_rest: bool
    efforts: tuple[int, ...]
    noise: Array
    margin: float

    @cached_property
    def entries(self) -> tuple[int, ...]:
        """The entries of q that move."""
        own = {
            joint.idx_v + k: joint.idx_q + k for joint in self.dyn.tree.independent_joints for k in range(joint.type.nv)
        }
        return tuple(own[column] for column in self.columns)

    @property
    def instants(self) -> int:
        """The number of instants N at which a search keeps the limits."""
        return _INSTANTS * self.harmonics

    @property
    def at_instants(self) -> float:
        """The part of the limits at these instants with which q, v and a keep the margin at all times.

        A trigonometric polynomial of degree K is at most 1 / cos(π K / N) times its largest value at N equidistant
        instants (Ehlich and Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", Mathematische Zeitschrift 86,
        1964).
        """
        return (1 - self.margin) * math.cos(math.pi / _INSTANTS)

    @cached_property
    def basis(self) -> Array:
        """The basis ((1 + 2 K) × n) of the coefficients that are allowed."""
        return coefficients_at_rest(self.harmonics) if self.at_rest else frozen(np.eye(1 + 2 * self.harmonics))

    @cached_property
    def q_range(self) -> tuple[Array, Array]:
        """The middle and half of the range of each moving entry of q; 0 and 1 where the range is infinite."""
        at = list(self.entries)
        return Limit(self.bounds.q_names, None, self.bounds.q_lower[at], self.bounds.q_upper[at]).range

    @cached_property
    def speed(self) -> Array:
        """The velocity limits of the entries that move."""
        return np.asarray(np.minimum(-self.bounds.v_lower, self.bounds.v_upper)[list(self.columns)])

    def times(self, finer: int = 1) -> Array:
        """Equidistant instants of one period."""
        return np.asarray(np.arange(finer * self.instants) * (self.period / (finer * self.instants)), dtype=float)

    def coefficients(self, x: Any) -> Any:
        """The coefficients ((1 + 2 K) × joints) of the unknowns x (n × joints), which are of the order of 1."""
        middle, half = self.q_range
        size = np.vstack([half, np.tile(self.speed, (2 * self.harmonics, 1))])
        offset = np.vstack([middle, np.zeros((2 * self.harmonics, len(middle)))])
        return offset + size * ca.mtimes(ca.sparsify(ca.DM(self.basis), _NOISE), x)

    def motion(self, coefficients: Any, t: Array) -> tuple[Any, Any, Any]:
        """q, v and a, a column for each instant."""
        q, v, a = (ca.mtimes(ca.DM(part), coefficients).T for part in rows(t, self.period, self.harmonics))
        held = self.hold.copy()
        held[list(self.entries)] = 0.0
        # sparse, so that a row of q depends on its own coefficients alone
        into_q, into_v = (
            ca.sparsify(ca.DM(np.eye(n)[:, list(at)]))
            for n, at in ((len(held), self.entries), (self.dyn.tree.nv, self.columns))
        )
        return held + ca.mtimes(into_q, q), ca.mtimes(into_v, v), ca.mtimes(into_v, a)

    def random(self, rng: np.random.Generator) -> Array:
        """Unknowns of a random motion well within the limits of position, velocity and acceleration."""
        basis, (middle, half) = self.basis, self.q_range
        x = basis.T @ rng.standard_normal((len(basis), len(middle)))
        series = self.coefficients(x).full()
        series[0] = 0.0
        q, v, a = (np.abs(part @ series).max(axis=0) for part in rows(self.times(), self.period, self.harmonics))
        x *= _FIRST * np.minimum(half / q, np.minimum(self.speed / v, self.acceleration / a))
        x -= np.outer(basis[0], basis[0] @ x)
        return x + np.outer(basis[0], rng.uniform(-_OFF_CENTRE, _OFF_CENTRE, len(middle)))

    def limits(self, q: Any, v: Any, a: Any) -> list[Limit]:
        """Limits of the joints and of the efforts, of a motion in columns."""
        bounds, moving, efforts = self.bounds, list(self.columns), list(self.efforts)
        parts = [
            ("position", bounds.q_names, list(self.entries), q, bounds.q_lower, bounds.q_upper),
            ("velocity", bounds.v_names, moving, v, bounds.v_lower, bounds.v_upper),
            ("effort", bounds.u_names, efforts, self._efforts(q, v, a), bounds.u_lower, bounds.u_upper),
        ]
        found = [
            Limit(tuple(f"{kind} of {names[i]}" for i in at), x[at, :], lower[at], upper[at])
            for kind, names, at, x, lower, upper in parts
        ]
        names = tuple(f"acceleration of {bounds.v_names[i]}" for i in moving)
        return [*found, Limit(names, a[moving, :], -self.acceleration, self.acceleration)]

    def path_limits(self, q: Any, v: Any, a: Any) -> list[Limit]:
        """Limits of the paths, of a motion in columns."""
        found = []
        for k, (expression, lower, upper) in enumerate(self.paths, 1):
            values = evaluate(expression, {"q": q, "v": v, "a": a}, "instants").values
            names = tuple(f"path {k}" for _ in range(values.shape[0]))
            found.append(Limit(names, values, *path_bounds(lower, upper, values.shape[0])))
        return found

    def _efforts(self, q: Any, v: Any, a: Any) -> Any:
        """u, in columns; by a call for each instant of a search.

        CasADi differentiates a call by the Jacobian of the Function, of 3 nv columns, and a map in the direction of
        every coefficient, which takes three times as long.
        """
        if not isinstance(q, ca.MX):
            return self.effort.map(q.shape[1])(q, v, a)
        return ca.horzcat(*(self.effort(*each) for each in zip(*map(ca.horzsplit, (q, v, a)), strict=True)))

    @cached_property
    def effort(self) -> ca.Function:
        """(q, v, a) → (u), at the nominal parameters."""
        q, v, a, tau, _ = self._expressions
        return ca.Function("effort", [q, v, a], [ca.mtimes(ca.DM(np.linalg.inv(self.dyn.actuation)), tau)])

    @cached_property
    def _expressions(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
        """q, v, a; tau, and its derivatives with respect to the parameters."""
        dyn = self.dyn
        q, v, a = symbols(q=dyn.tree.nq, v=dyn.tree.nv, a=dyn.tree.nv).values()
        if not len(dyn.parameters):
            return q, v, a, dyn.inverse_dynamics(q, v, a), dyn.base_regressor(q, v, a)
        p, nominal = dyn.parameters.symbols, ca.DM(dyn.parameters.values)
        tau = dyn.inverse_dynamics(q, v, a, p)
        tau, by_p = ca.substitute([tau, ca.jacobian(tau, p)], [p], [nominal])
        return q, v, a, tau, by_p

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the columns of the regressor."""
        return self.dyn.parameters.names if len(self.dyn.parameters) else self.dyn.base_parameters.names

    @cached_property
    def regressor(self) -> ca.Function:
        """(q, v, a) → the transpose of one instant's rows of W, columns that depend on others included."""
        q, v, a, _, by_p = self._expressions
        of_efforts = ca.mtimes(ca.DM(np.linalg.inv(self.dyn.actuation)), by_p)[list(self.efforts), :]
        return ca.Function("regressor", [q, v, a], [(of_efforts / self.noise).T])

    def rows_of_w(self, coefficients: Any, columns: Sequence[int] | None = None) -> Any:
        """Wᵀ of one period, or of some of its columns."""
        times = self.times()
        of_instants = self.regressor.map(len(times))(*self.motion(coefficients, times))
        return of_instants if columns is None else of_instants[list(columns), :]
