"""A guess out of collision: an elastic band (Quinlan and Khatib 1993), which gaps push and which its length contracts.

With knots q_k and samples between them, each of which has gaps d_i, the band minimises

    w² K Σ |q_{k+1} ⊖ q_k|² + c² Σ max(0, m − d_i)²

by steps of Levenberg and Marquardt, in the tangent spaces of the knots. (The sizes are ours.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gdalembert.model.configuration import difference, integrate, unit_blocks
from gdalembert.model.limits import Bounds
from gdalembert.ocp.system.guess import Guess
from gdalembert.ocp.system.system import System
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function, symbols

_INTERVALS, _SAMPLES = 20, 5
"""K, and the samples in each of its intervals."""
_LENGTH, _GAPS = 0.05, 20.0
"""w [1/rad, 1/m] and c [1/m]."""
_FURTHER, _CLOSE = 0.018, 0.02
"""By how much gaps shall be larger than their margin, and may be smaller in a guess that stays as it is [m]: a solver
mends it in fewer iterations than a band takes, which has lost the velocities of a motion that is nearly clear."""
_STEPS, _TRIES, _SETTLED = 80, 8, 1e-4
"""The most steps, the most bands, which begin with other bulges, and a part of the cost that is worth no further step.
"""

_LONGEST = 0.5
"""The longest step [rad, m]: with longer ones the shortest way between two knots of a continuous joint became the one
around the other side, and guesses made a turn."""

GapsAt = Callable[[Array, Array], tuple[Array, Array]]
"""Gaps less their margins, and their slopes by v (gaps × nv), at fractions of the duration and configurations there
(n × nq): gaps × n, and gaps × n × nv."""


def cleared(
    guess: Guess, gaps: GapsAt, system: System, bounds: Bounds, durations: tuple[float, float], p: Array
) -> Guess:
    """The guess itself where it is nearly clear, or one from rest to rest between its ends, along a band beside it."""
    band = _Band(gaps, system, bounds)
    t, n = guess.t - guess.t[0], len(guess.t)
    bent = np.diff(t)[:, None] * (guess.v[:-1] - guess.v[1:]) / 8  # straight pieces leave the way by centimetres
    q = np.vstack([guess.q, band.moved(guess.q[:-1], band.ways(guess.q) / 2 + bent)])
    least = gaps(np.r_[t, (t[:-1] + t[1:]) / 2] / t[-1], q)[0].min(axis=0)
    enough = min(0.0, least[0], least[n - 1])
    if least.min() >= enough - _CLOSE:
        return guess
    begin = band.between(guess.q)
    rng, best, clearest = np.random.default_rng(0), begin, -np.inf
    for bulge in range(_TRIES):
        settled = band.settled(band.bulged(begin, rng, bulge) if bulge else begin)
        if (gap := band.least(settled).min()) > clearest:
            best, clearest = settled, gap
        if clearest >= enough:
            break
    return _along(best, band, system, bounds, durations, len(guess.t), p)


class _Band:
    """Robot and gaps of an elastic band, whose knots are rows of q."""

    def __init__(self, gaps: GapsAt, system: System, bounds: Bounds) -> None:
        self._gaps, self._lower, self._upper = gaps, bounds.q_lower, bounds.q_upper
        tree = system.dynamics.tree
        s = symbols(q=tree.nq, q_next=tree.nq, part=1, v=tree.nv)
        way = difference(tree, s["q"], s["q_next"])
        self._way = function("way", {name: s[name] for name in ("q", "q_next")}, {"way": way})
        self._step = function(
            "step", {name: s[name] for name in ("q", "v")}, {"reached": integrate(tree, s["q"], s["v"])}
        )
        self._nv = tree.nv

    def ways(self, q: Array) -> Array:
        """The displacements from each row to the next."""
        return np.asarray(self._way.map(len(q) - 1)(q[:-1].T, q[1:].T).full().T)

    def moved(self, q: Array, v: Array) -> Array:
        """Rows of q after displacements."""
        return np.asarray(self._step.map(len(q))(q.T, v.T).full().T)

    def at(self, q: Array, places: Array) -> Array:
        """Configurations at places of a path, of which 0 is the first row and len(q) − 1 the last."""
        rows = np.minimum(places.astype(int), len(q) - 2)
        return self.moved(q[rows], (places - rows)[:, None] * self.ways(q)[rows])

    def between(self, q: Array) -> Array:
        """Knots at equal distances along a path."""
        along = np.r_[0.0, np.cumsum(np.linalg.norm(self.ways(q), axis=1))]
        wanted = np.linspace(0.0, along[-1], _INTERVALS + 1)
        return self.at(q, np.interp(wanted, along, np.arange(len(q))) if along[-1] else np.zeros(_INTERVALS + 1))

    def bulged(self, q: Array, rng: np.random.Generator, number: int) -> Array:
        """A path with a bulge of some direction, the larger the later it is tried."""
        limited = np.isfinite(self._lower) & np.isfinite(self._upper)
        size = np.median((self._upper - self._lower)[limited]) / 4 if limited.any() else np.pi / 2
        bulge = min(1.0, 0.3 + 0.1 * number) * size * rng.normal(size=self._nv)
        return self._within(self.moved(q, np.sin(np.pi * np.linspace(0, 1, len(q)))[:, None] * bulge), q)

    def _within(self, q: Array, ends: Array) -> Array:
        return np.vstack([ends[:1], np.clip(q[1:-1], self._lower, self._upper), ends[-1:]])

    def _values(self, q: Array) -> tuple[Array, Array, Array]:
        """Places between knots, and gaps and slopes there."""
        places = np.arange((len(q) - 1) * _SAMPLES + 1) / _SAMPLES
        gaps, slopes = self._gaps(places / (len(q) - 1), self.at(q, places))
        return places, gaps, slopes

    def least(self, q: Array) -> Array:
        """The least gap less its margin at each sample."""
        return np.asarray(self._values(q)[1].min(axis=0))

    def settled(self, q: Array) -> Array:
        """The band where its steps have become small."""
        damping, n = 1e-3, (len(q) - 2) * self._nv
        tension = np.diff(np.eye(len(q)), axis=0)[:, 1:-1]
        stiffness = np.kron(tension.T @ tension, np.eye(self._nv)) * _LENGTH**2 * _INTERVALS
        cost, values = self._cost(q)
        for _ in range(_STEPS):
            gradient = _LENGTH**2 * _INTERVALS * (tension.T @ self.ways(q)).ravel()
            slope, hessian = self._of_gaps(*values)
            gradient, hessian = gradient + slope, stiffness + hessian
            while True:
                step = -np.linalg.solve(hessian + damping * np.eye(n), gradient).reshape(-1, self._nv)
                step /= max(1.0, np.abs(step).max() / _LONGEST)
                reached = self._within(self.moved(q, np.pad(step, ((1, 1), (0, 0)))), q)
                cost_there, values_there = self._cost(reached)
                if cost_there < cost or damping > 1e6:
                    break
                damping *= 4
            if not cost_there < cost:
                break
            gain, q, cost, values, damping = cost - cost_there, reached, cost_there, values_there, damping / 3
            if gain < _SETTLED * cost:
                break
        return q

    def _cost(self, q: Array) -> tuple[float, tuple[Array, Array, Array]]:
        values = self._values(q)
        short = np.maximum(0.0, _FURTHER - values[1])
        return float(_LENGTH**2 * _INTERVALS * (self.ways(q) ** 2).sum() + _GAPS**2 * (short**2).sum()), values

    def _of_gaps(self, places: Array, gaps: Array, slopes: Array) -> tuple[Array, Array]:
        """The gradient and the Gauss–Newton Hessian of what gaps cost, by steps of the inner knots (halved)."""
        row, sample = np.nonzero(gaps < _FURTHER)
        knot = np.minimum(places[sample].astype(int), _INTERVALS - 1)
        part = (places[sample] - knot)[:, None]
        by = np.zeros((len(row), _INTERVALS + 1, self._nv))
        by[np.arange(len(row)), knot] = (1 - part) * slopes[row, sample]
        by[np.arange(len(row)), knot + 1] = part * slopes[row, sample]
        flat = _GAPS * by[:, 1:-1].reshape(len(row), (_INTERVALS - 1) * self._nv)
        return -flat.T @ (_GAPS * (_FURTHER - gaps[row, sample])), flat.T @ flat


def _along(
    q: Array, band: _Band, system: System, bounds: Bounds, durations: tuple[float, float], count: int, p: Array
) -> Guess:
    """Motion from rest to rest along a path, in twice the time with v at its bounds, if durations allow it."""
    tau = np.linspace(0, 1, count)
    along = np.r_[0.0, np.cumsum(np.linalg.norm(band.ways(q), axis=1))]
    places = np.interp((10 * tau**3 - 15 * tau**4 + 6 * tau**5) * along[-1], along, np.arange(len(q)))
    rows = band.at(q, places)
    ways = band.ways(rows) * (count - 1)
    v = np.vstack([0 * ways[:1], (ways[1:] + ways[:-1]) / 2, 0 * ways[:1]])
    duration = float(np.clip(2 * (np.abs(v) / bounds.v_upper).max(), *durations))
    v = v / duration
    a = np.gradient(v, duration * tau, axis=0)
    rows, v, a = system.consistent(rows, v, a)
    return Guess(duration * tau, rows, v, a, system.efforts(rows, v, a, p)[0], unit_blocks(system.dynamics.tree))
