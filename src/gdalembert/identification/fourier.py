"""Periodic motions of joints as finite Fourier series, whose derivatives are exact.

With ω = 2π / period and K harmonics, for each joint (Swevers et al., "Optimal robot excitation and identification",
IEEE Transactions on Robotics and Automation 13(5), 1997)

    q(t) = q_0 + Σ_l  a_l / (ω l) sin(ω l t) − b_l / (ω l) cos(ω l t)
    v(t) =       Σ_l  a_l cos(ω l t) + b_l sin(ω l t)
    a(t) =       Σ_l  ω l (b_l cos(ω l t) − a_l sin(ω l t))                     l = 1, …, K

so that each of them is a row, which depends on t alone, times the column (q_0, a_1, …, a_K, b_1, …, b_K).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.spatial.arguments import integer, number, numbers
from gdalembert.spatial.arrays import Array, frozen


class FourierRows(NamedTuple):
    """The rows (N × (1 + 2 K)) that give q, v and a at N instants."""

    q: Array
    v: Array
    a: Array


def rows(t: npt.ArrayLike, period: float, harmonics: int) -> FourierRows:
    """The rows of the series and of its derivatives at instants t (N) [s]."""
    w = 2 * math.pi / period * np.arange(1, harmonics + 1)
    phase = np.outer(np.asarray(t, dtype=float), w)
    sine, cosine, column = np.sin(phase), np.cos(phase), np.ones((len(phase), 1))
    return FourierRows(
        np.hstack([column, sine / w, -cosine / w]),
        np.hstack([0 * column, cosine, sine]),
        np.hstack([0 * column, -w * sine, w * cosine]),
    )


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
        condition_number: of W, the regressor of one period in rows divided by the noise of each torque, with columns of
            unit length; ``first_condition_number`` that of the best random motion, which the optimisation began with.
        limits: by name, as ``"velocity of joint2"``, the part of each limit that the motion uses, between samples too.
        excess: by name, the largest violation of a limit, where it is above 1e-6 of its range; empty in what
            :func:`excitation` returns.
        cost: the criterion that the coefficients minimise. ``status``: of the solver.
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
        """K."""
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
        """q, v or a, of which some entries move and the others are held."""
        times = numbers(f"{letter}: t", t)
        every = np.tile(held, (times.size, 1))
        every[:, list(moving)] = getattr(rows(times.ravel(), self.period, self.harmonics), letter) @ self.coefficients
        return every.reshape(*times.shape, -1)

    @cached_property
    def function(self) -> ca.Function:
        """(t) → (q, v, a), as columns: a reference for simulations and controllers in CasADi."""
        t = ca.SX.sym("t")
        phases = [2 * math.pi / self.period * k * t for k in range(1, self.harmonics + 1)]
        w = 2 * math.pi / self.period * np.arange(1, self.harmonics + 1)
        sine, cosine = ca.vertcat(*map(ca.sin, phases)), ca.vertcat(*map(ca.cos, phases))
        first, in_sine, in_cosine = self.coefficients[0], *np.split(self.coefficients[1:], 2)
        own = (
            first + ca.mtimes(in_sine.T, sine / w) - ca.mtimes(in_cosine.T, cosine / w),
            ca.mtimes(in_sine.T, cosine) + ca.mtimes(in_cosine.T, sine),
            ca.mtimes(in_cosine.T, w * cosine) - ca.mtimes(in_sine.T, w * sine),
        )
        q, v, a = ca.SX(self.hold), ca.SX(self.nv, 1), ca.SX(self.nv, 1)
        for every, at, part in ((q, self.q_indices, 0), (v, self.v_indices, 1), (a, self.v_indices, 2)):
            every[list(at)] = own[part]
        return ca.Function("excitation", [t], [q, v, a], ["t"], ["q", "v", "a"])

    def samples(self, rate: float, periods: int = 1) -> tuple[Array, Array, Array, Array]:
        """t (N), q (N × nq), v (N × nv) and a (N × nv) at equal steps, both ends of the motion included.

        Args:
            rate: samples per second [Hz]; the steps are made a little shorter where they do not divide the period.
            periods: how often the motion is repeated.

        Raises:
            ArgumentTypeError, ArgumentError: if an argument cannot be used, or there are fewer than two samples for
                each period of the highest harmonic.
        """
        rate = number("samples: rate", rate, "Hz")
        periods = integer("samples: periods", periods, 1)
        steps = math.ceil(rate * self.period - 1e-9)
        if steps <= 2 * self.harmonics:
            raise ArgumentError(
                f"samples: {rate:g} Hz is at most twice the highest frequency of the motion, "
                f"{self.harmonics / self.period:g} Hz; give more"
            )
        t = np.asarray(np.arange(periods * steps + 1) * (self.period / steps), dtype=float)
        return t, self.q(t), self.v(t), self.a(t)

    def to_dict(self) -> dict[str, Any]:
        """All attributes, ready for ``json.dumps``."""
        everything = {each.name: getattr(self, each.name) for each in fields(self)}
        plain = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in everything.items()}
        return {name: dict(value) if isinstance(value, Mapping) else value for name, value in plain.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Excitation:
        """The motion of :meth:`to_dict`.

        Raises:
            ArgumentTypeError, ArgumentError: if the values are not those of a motion.
        """
        names = [each.name for each in fields(cls)]
        if not isinstance(values, Mapping):
            raise ArgumentTypeError(f"Excitation.from_dict: expected a mapping, got {type(values).__name__}")
        if missing := [name for name in names if name not in values]:
            raise ArgumentError(f"Excitation.from_dict: no {missing[0]!r}; give what to_dict returned")
        arrays = {name: frozen(values[name]) for name in ("coefficients", "hold")}
        tuples = {name: tuple(values[name]) for name in ("joints", "q_indices", "v_indices", "parameters")}
        return cls(**{name: values[name] for name in names} | arrays | tuples)

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
