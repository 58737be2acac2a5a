"""Periodic motions of joints as finite Fourier series, whose derivatives are exact, and what they may do and measure.

With ω = 2π / period and K harmonics, for each joint (Swevers et al., "Optimal robot excitation and identification",
IEEE Transactions on Robotics and Automation 13(5), 1997)

    q(t) = q_0 + Σ_l  a_l / (ω l) sin(ω l t) − b_l / (ω l) cos(ω l t)
    v(t) =       Σ_l  a_l cos(ω l t) + b_l sin(ω l t)
    a(t) =       Σ_l  ω l (b_l cos(ω l t) − a_l sin(ω l t))                     l = 1, …, K

so that each of them is a row, which depends on t alone, times the column (q_0, a_1, …, a_K, b_1, …, b_K).

The rows of W are those of the measured torques at N instants, each divided by its noise; a column is the derivative of
the torques with respect to one parameter. The covariance of the least squares estimate is (Wᵀ W)⁻¹.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.model.limits import Bounds
from gdalembert.spatial.arguments import instance, integer, listed, number, numbers, table
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.expressions import evaluate, path_bounds
from gdalembert.spatial.functions import Function, symbols

Path = tuple[Any, Any, Any]
"""(expression of q, v, a; lower, upper)."""

INSTANTS = 12
"""Instants for each harmonic."""
_FIRST = 0.6
"""Part of the limits that a random motion uses."""
_OFF_CENTRE = 0.3
"""The largest distance of its centre from the middle of the limits, in half of their range."""
_MOST = 10**8
"""Samples that memory holds."""
_NOISE = 1e-14
"""Rounding of entries of the order of 1."""


def rows(t: npt.ArrayLike, period: float, harmonics: int) -> dict[str, Array]:
    """The rows (N × (1 + 2 K)) that give q, v and a at instants t (N) [s]."""
    w = 2 * math.pi / period * np.arange(1, harmonics + 1)
    phase = np.outer(np.asarray(t, dtype=float), w)
    sine, cosine, column = np.sin(phase), np.cos(phase), np.ones((len(phase), 1))
    return {
        "q": np.hstack([column, sine / w, -cosine / w]),
        "v": np.hstack([0 * column, cosine, sine]),
        "a": np.hstack([0 * column, -w * sine, w * cosine]),
    }


def coefficients_at_rest(harmonics: int) -> Array:
    """An orthonormal basis ((1 + 2 K) × (2 K − 1)) of the coefficients with v = a = 0 at t = 0 and at each period.

    These are Σ_l a_l = 0 and Σ_l l b_l = 0.
    """
    ends = np.zeros((2, 1 + 2 * harmonics))
    ends[0, 1 : 1 + harmonics] = 1.0
    ends[1, 1 + harmonics :] = np.arange(1, harmonics + 1)
    return frozen(np.linalg.svd(ends)[2][2:].T)


@dataclass(frozen=True, eq=False)
class Excitation:
    """A periodic motion of joints for the identification of a robot, as :func:`excitation` computes it.

    Attributes:
        model: name of the robot.
        joints: names of the joints that move.
        period: duration of the motion before it repeats [s].
        coefficients: (1 + 2 K) × joints: q_0 [rad, m], a_1 … a_K and b_1 … b_K [rad/s, m/s] of each joint.
        hold: the configuration (nq) of the joints that do not move.
        q_indices, v_indices: the entries of q and of v that the joints move.
        nv: length of v.
        parameters: names of the parameters, or combinations of them, that the motion excites: the columns of W.
        condition_number: that of W, the regressor of one period in rows divided by the noise of each torque, with
            columns of unit length; ``first_condition_number`` that of the best random motion, which the optimisation
            began with.
        limits: by name, as ``"velocity of joint2"``, the part of each limit that the motion uses, between samples too.
        excess: by name, the largest violation of a limit, where it is above 1e-6 of its range; empty in what
            :func:`excitation` returns.
        cost: the criterion that the coefficients minimise. ``status``: that of the solver.
    """

    model: str
    joints: tuple[str, ...]
    period: float
    coefficients: Array
    hold: Array
    q_indices: tuple[int, ...]
    v_indices: tuple[int, ...]
    nv: int
    parameters: tuple[str, ...]
    condition_number: float
    first_condition_number: float
    limits: Mapping[str, float]
    excess: Mapping[str, float]
    cost: float
    status: str

    @property
    def harmonics(self) -> int:
        """The number of harmonics K."""
        return len(self.coefficients) // 2

    @property
    def duration(self) -> float:
        """The period [s]."""
        return self.period

    def q(self, t: npt.ArrayLike) -> Array:
        """Configuration at an instant (nq), or one row for each of N instants (N × nq)."""
        return self._series("q", t, self.hold, self.q_indices)

    def v(self, t: npt.ArrayLike) -> Array:
        """Velocity (nv, or N × nv) [rad/s, m/s], the exact derivative of q."""
        return self._series("v", t, np.zeros(self.nv), self.v_indices)

    def a(self, t: npt.ArrayLike) -> Array:
        """Acceleration (nv, or N × nv) [rad/s², m/s²], the exact derivative of v."""
        return self._series("a", t, np.zeros(self.nv), self.v_indices)

    def _series(self, letter: str, t: npt.ArrayLike, held: Array, moving: tuple[int, ...]) -> Array:
        """The series q, v or a, of which some entries move and the others are held."""
        times = numbers(f"{letter}: t", t)
        every = np.tile(held, (times.size, 1))
        every[:, list(moving)] = rows(times.ravel(), self.period, self.harmonics)[letter] @ self.coefficients
        return every.reshape(*times.shape, len(held))

    @cached_property
    def function(self) -> ca.Function:
        """The Function (t) → (q, v, a), as columns: a reference for simulations and controllers in CasADi."""
        t = ca.SX.sym("t")
        w = 2 * math.pi / self.period * np.arange(1, self.harmonics + 1)
        # As in ``rows``, whose arrays of numbers take no symbol.
        phases = ca.DM(w) * t
        sine, cosine = ca.sin(phases), ca.cos(phases)
        first, in_sine, in_cosine = self.coefficients[0], *np.split(self.coefficients[1:], 2)
        q, v, a = ca.SX(self.hold), ca.SX(self.nv, 1), ca.SX(self.nv, 1)
        q[list(self.q_indices)] = first + ca.mtimes(in_sine.T, sine / w) - ca.mtimes(in_cosine.T, cosine / w)
        v[list(self.v_indices)] = ca.mtimes(in_sine.T, cosine) + ca.mtimes(in_cosine.T, sine)
        a[list(self.v_indices)] = ca.mtimes(in_cosine.T, w * cosine) - ca.mtimes(in_sine.T, w * sine)
        return Function("excitation", [t], [q, v, a], ["t"], ["q", "v", "a"])

    def samples(self, rate: float, periods: int = 1) -> tuple[Array, Array, Array, Array]:
        """The samples t (N), q (N × nq), v (N × nv), a (N × nv) at equal steps, both ends of the motion included.

        Args:
            rate: samples per second [Hz]; the steps are made a little shorter where they do not divide the period.
            periods: number of times that the motion is repeated.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used, or there are fewer than two samples for
                each period of the highest harmonic.
        """
        rate = number("samples: rate", rate, "Hz")
        periods = integer("samples: periods", periods, 1)
        # So that the motion may be repeated: with the rate as given, the last step would be shorter than the others.
        steps = math.ceil(rate * self.period - 1e-9)
        if steps <= 2 * self.harmonics:
            raise ArgumentError(
                f"samples: {rate:g} Hz is at most twice the highest frequency of the motion, "
                f"{self.harmonics / self.period:g} Hz; give more"
            )
        if periods * steps > _MOST:
            raise ArgumentError(f"samples: more than {_MOST:.0e} would be made; give fewer periods, or a lower rate")
        t = np.asarray(np.arange(periods * steps + 1) * (self.period / steps), dtype=float)
        return t, self.q(t), self.v(t), self.a(t)

    def to_dict(self) -> dict[str, Any]:
        """All attributes, ready for ``json.dumps``."""
        everything = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        plain = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in everything.items()}
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in plain.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Excitation:
        """The motion of :meth:`to_dict`.

        Raises:
            ArgumentTypeError, ArgumentError: if the values are not those of a motion.
        """
        names = [entry.name for entry in fields(cls)]
        instance("Excitation.from_dict", values, Mapping, "a mapping")
        if missing := [name for name in names if name not in values]:
            raise ArgumentError(f"Excitation.from_dict: no {missing[0]!r}; give what to_dict returned")
        return cls(**{name: values[name] for name in names} | _checked("Excitation.from_dict", values))

    def __str__(self) -> str:
        most: dict[str, tuple[float, str]] = {}
        for name, used in self.limits.items():
            kind, _, of = name.partition(" of ")
            most[kind] = max(most.get(kind, (0.0, "")), (used, of))
        parts = [f"{kind} {used:.0%}{of and f' ({of})'}" for kind, (used, of) in most.items()]
        return (
            f"{self.model}: {self.harmonics} harmonics in {self.period:g} s excite {len(self.parameters)} parameters\n"
            f"  condition number {self.condition_number:.4g}, that of the random motion before "
            f"{self.first_condition_number:.4g}\n"
            f"  at most, of a limit: {', '.join(parts) or 'none is finite'}"
        )

    def __repr__(self) -> str:
        return (
            f"Excitation({self.model!r}, period={self.period:g}, harmonics={self.harmonics}, "
            f"condition_number={self.condition_number:.4g})"
        )


def _checked(context: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a motion, of their types and lengths."""
    entries: dict[str, Any] = {}
    for name in ("model", "status"):
        if not isinstance(values[name], str):
            raise ArgumentTypeError(f"{context}: {name} is {shown(values[name])}; give a text")
    for name in ("joints", "parameters"):
        entries[name] = tuple(listed(values[name]) or ())
        if not entries[name] or not all(isinstance(x, str) for x in entries[name]):
            raise ArgumentTypeError(f"{context}: {name} is {shown(values[name])}; give a list of names")
    entries["period"] = number(f"{context}: period", values["period"], "s")
    entries["cost"] = number(f"{context}: cost", values["cost"], least=-np.inf)
    entries["hold"], moving = numbers(f"{context}: hold", values["hold"]), len(entries["joints"])
    entries["coefficients"] = table(f"{context}: coefficients", values["coefficients"], moving)
    if entries["hold"].ndim != 1 or len(entries["coefficients"]) % 2 == 0:
        raise ArgumentError(f"{context}: hold and coefficients have other shapes than to_dict gave them; give those")
    entries["nv"] = integer(f"{context}: nv", values["nv"], moving)
    for name, length in (("q_indices", len(entries["hold"])), ("v_indices", entries["nv"])):
        indices = listed(values[name])
        if indices is None or len(indices) != moving:
            raise ArgumentTypeError(f"{context}: {name} is {shown(values[name])}; give {moving} integers")
        entries[name] = tuple(integer(f"{context}: {name}", k, 0, length - 1) for k in indices)
    for name in ("condition_number", "first_condition_number"):
        if not (isinstance(values[name], float) and values[name] == math.inf):
            number(f"{context}: {name}", values[name], least=1 - _NOISE, inclusive=True)
    for name in ("limits", "excess"):
        if not isinstance(values[name], Mapping):
            raise ArgumentTypeError(f"{context}: {name} is {shown(values[name])}; give numbers by name")
        entries[name] = {key: number(f"{context}: {name}", x, inclusive=True) for key, x in values[name].items()}
    return entries


class Limit(NamedTuple):
    """Rows (a column for each instant) between two bounds; scaled to ±1 where both are finite."""

    names: tuple[str, ...]
    rows: Any
    lower: Array
    upper: Array

    @property
    def two_sided(self) -> npt.NDArray[np.bool_]:
        """The rows that have two finite bounds."""
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
class Plan:
    """Joints that move as Fourier series, others that are held, and torques that are measured.

    Attributes:
        columns: the entries of v that move; ``hold`` is the configuration (nq) of the others.
        acceleration: limits (nv) [rad/s², m/s²], infinite if there are none.
        efforts: the entries of u that are measured. ``noise``: their standard deviations.
        margin: part of each limit of a joint and its effort that is left free.
        known: what is known of the parameters in each of the runs in which the motion is made.
        with_gains: whether the gains of the measured efforts are to be determined as well.
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
    known: tuple[Mapping[str, float], ...]
    with_gains: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of W: parameters that some run does not know, or base parameters, and gains."""
        gains = tuple(f"{self.bounds.u_names[k]}.gain" for k in self.efforts) if self.with_gains else ()
        if not len(self.dyn.parameters):
            return (*self.dyn.base_parameters.names, *gains)
        return (*(name for name in self.dyn.parameters.names if any(name not in run for run in self.known)), *gains)

    @cached_property
    def entries(self) -> tuple[int, ...]:
        """The entries of q that move."""
        joints = self.dyn.tree.independent_joints
        entry_of_column = {joint.idx_v + k: joint.idx_q + k for joint in joints for k in range(joint.type.nv)}
        return tuple(entry_of_column[column] for column in self.columns)

    @cached_property
    def basis(self) -> Array:
        """An orthonormal basis ((1 + 2 K) × n) of the coefficients that are allowed."""
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
        """Equidistant instants of one period; those at which a search keeps the limits, or finer ones."""
        n = finer * INSTANTS * self.harmonics
        return np.asarray(np.arange(n) * (self.period / n), dtype=float)

    def coefficients(self, x: Any) -> Any:
        """The coefficients ((1 + 2 K) × joints) of the unknowns x (n × joints), which are of the order of 1."""
        middle, half = self.q_range
        size = np.vstack([half, np.tile(self.speed, (2 * self.harmonics, 1))])
        offset = np.vstack([middle, np.zeros((2 * self.harmonics, len(middle)))])
        return offset + size * ca.mtimes(ca.sparsify(ca.DM(self.basis), _NOISE), x)

    def motion(self, coefficients: Any, t: Array) -> tuple[Any, Any, Any]:
        """The motion q, v and a, a column for each instant."""
        q, v, a = (ca.mtimes(ca.DM(part), coefficients).T for part in rows(t, self.period, self.harmonics).values())
        held = self.hold.copy()
        held[list(self.entries)] = 0.0
        # sparse, so that a row of q depends on its own coefficients alone
        into_q = ca.sparsify(ca.DM(np.eye(len(held))[:, list(self.entries)]))
        into_v = ca.sparsify(ca.DM(np.eye(self.dyn.tree.nv)[:, list(self.columns)]))
        return held + ca.mtimes(into_q, q), ca.mtimes(into_v, v), ca.mtimes(into_v, a)

    def random(self, rng: np.random.Generator) -> Array:
        """Unknowns of a random motion well within the limits of position, velocity and acceleration."""
        basis, (middle, half) = self.basis, self.q_range
        x = basis.T @ rng.standard_normal((len(basis), len(middle)))
        series = self.coefficients(x).full()
        series[0] = 0.0
        parts = rows(self.times(), self.period, self.harmonics).values()
        q, v, a = (np.abs(part @ series).max(axis=0) for part in parts)
        x *= _FIRST * np.minimum(half / q, np.minimum(self.speed / v, self.acceleration[list(self.columns)] / a))
        x -= np.outer(basis[0], basis[0] @ x)
        return x + np.outer(basis[0], rng.uniform(-_OFF_CENTRE, _OFF_CENTRE, len(middle)))

    def limits(self, q: Any, v: Any, a: Any, part: float) -> list[tuple[Limit, float]]:
        """Limits of joints and efforts, of which this part may be used, and of paths, of a motion in columns."""
        bounds, moving, most = self.bounds, list(self.columns), self.acceleration
        parts = (
            ("position", bounds.q_names, list(self.entries), q, bounds.q_lower, bounds.q_upper),
            ("velocity", bounds.v_names, moving, v, bounds.v_lower, bounds.v_upper),
            *self._effort_limits(self._efforts(q, v, a)),
            ("acceleration", bounds.v_names, moving, a, -most, most),
        )
        limits = [
            (Limit(tuple(f"{kind} of {names[i]}" for i in at), x[at, :], lower[at], upper[at]), part)
            for kind, names, at, x, lower, upper in parts
        ]
        motion = {"q": ca.MX(q), "v": ca.MX(v), "a": ca.MX(a)}
        for k, (expression, low, high) in enumerate(self.paths, 1):
            values = evaluate(expression, motion, "instants").values
            n = values.shape[0]
            limits.append((Limit((f"path {k}",) * n, values, *path_bounds(low, high, n)), 1.0))
        return limits

    def _effort_limits(self, efforts: Any) -> list[tuple[Any, ...]]:
        """Limits of the efforts of each run."""
        bounds, nu = self.bounds, len(self.bounds.u_names)
        limits: list[tuple[Any, ...]] = []
        for k in range(len(self.known)):
            kind = "effort" if not k else f"effort (run {k + 1})"
            rows = efforts[k * nu : (k + 1) * nu, :]
            limits.append((kind, bounds.u_names, list(self.efforts), rows, bounds.u_lower, bounds.u_upper))
        return limits

    def _efforts(self, q: Any, v: Any, a: Any) -> Any:
        """The efforts u of each run, one below the other, in columns; by a call for each instant of a search.

        CasADi differentiates a call by the Jacobian of the Function, of 3 nv columns, and a map in the direction of
        every coefficient, which takes three times as long.
        """
        if not isinstance(q, ca.MX):
            return self.functions[0].map(q.shape[1])(q, v, a)
        return ca.horzcat(*(self.functions[0](*instant) for instant in zip(*map(ca.horzsplit, (q, v, a)), strict=True)))

    @cached_property
    def functions(self) -> tuple[ca.Function, ca.Function]:
        """The Functions (q, v, a) → (u) of each run's nominal parameters, and → one instant's rows of W, transposed.

        The rows have columns that depend on others, too.
        """
        q, v, a = symbols(q=self.dyn.tree.nq, v=self.dyn.tree.nv, a=self.dyn.tree.nv).values()
        runs = [self._run(known, q, v, a) for known in self.known]
        efforts, w = (ca.vertcat(*parts) for parts in zip(*runs, strict=True))
        return ca.Function("effort", [q, v, a], [efforts]), ca.Function("regressor", [q, v, a], [w.T])

    def _run(self, known: Mapping[str, float], q: ca.SX, v: ca.SX, a: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The efforts u and the rows of W in a run that knows some parameters."""
        dyn, parameters = self.dyn, self.dyn.parameters
        if len(parameters):
            tau = dyn.inverse_dynamics(q, v, a, parameters.symbols)
            both = [tau, ca.jacobian(tau, parameters.symbols)]
            tau, by_p = ca.substitute(both, [parameters.symbols], [ca.DM(parameters.vector(known))])
            free = ca.diag(ca.DM([name not in known for name in parameters.names]))
            by_p = ca.mtimes(by_p, ca.sparsify(free))[:, [k for k, x in enumerate(parameters.names) if x in self.names]]
        else:
            tau, by_p = dyn.inverse_dynamics(q, v, a), dyn.base_regressor(q, v, a)
        of_tau = ca.DM(np.linalg.inv(dyn.actuation))
        u, by_p = ca.mtimes(of_tau, tau), ca.mtimes(of_tau, by_p)
        if self.with_gains:
            by_p = ca.horzcat(by_p, ca.diag(u)[:, list(self.efforts)])
        return u, by_p[list(self.efforts), :] / self.noise

    def rows_of_w(self, coefficients: Any, columns: Sequence[int] | None = None) -> Any:
        """The transpose of W, or of some of its columns, for one period."""
        times = self.times()
        of_instants = self.functions[1].map(len(times))(*self.motion(coefficients, times))
        return of_instants if columns is None else of_instants[list(columns), :]
