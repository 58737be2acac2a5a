"""The least time of a straight line in joint space: TOPP-RA (Pham and Pham 2018), for one path of torques and speeds.

Along q(s) = q₀ + s (q₁ − q₀), with x = (ds/dt)² and w = d²s/dt², torques are m(s) w + c(s) x + g(s), and x rises over a
step by 2 w. From the end on, the largest x from which the rest can be gone is that of a linear program of x and w; from
the start on, the largest x is taken.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pinocchio as pin

from gdalembert.spatial.arrays import Array

STEPS = 400


def least_time(model: pin.Model, start: Array, goal: Array) -> float:
    """[s] from rest to rest, within the limits of v and tau of the model."""
    data, way, zero = model.createData(), goal - start, np.zeros(model.nv)
    h = 1 / STEPS
    rows, reached = [], [0.0]
    for s in np.linspace(0, 1, STEPS + 1)[:-1] + h / 2:
        q = start + s * way
        g = pin.rnea(model, data, q, zero, zero).copy()
        m = pin.rnea(model, data, q, zero, way) - g
        c = pin.rnea(model, data, q, way, zero) - g
        limits = np.array([model.effortLimit - g, model.effortLimit + g])
        rows.append((np.concatenate([m, -m]), np.concatenate([c, -c]), limits.ravel()))
    fastest = float(np.min((model.velocityLimit / np.maximum(np.abs(way), 1e-12)) ** 2))
    for w, x, most in reversed(rows):
        reached.append(_largest_before(w, x, most, h, fastest, reached[-1]))
    reached.reverse()
    squares = [0.0]
    for (w, x, most), above in zip(rows, reached[1:], strict=True):
        squares.append(_largest_after(w, x, most, h, above, squares[-1]))
    speeds = np.sqrt(squares)
    return float(np.sum(2 * h / (speeds[:-1] + speeds[1:])))


def _largest_before(w: Array, x: Array, most: Array, h: float, fastest: float, after: float) -> float:
    """The largest x at the beginning of a step, with w x̄ at its middle, from which 0 … after is reached at its end."""
    a = np.array([*np.column_stack([x + 0 * w, w + h * x]), (1, 0), (-1, 0), (1, 2 * h), (-1, -2 * h)])
    b = np.array([*most, fastest, 0, after, 0])
    best = 0.0
    for i, k in combinations(range(len(a)), 2):
        both = a[[i, k]]
        if abs(np.linalg.det(both)) > 1e-12:
            point = np.linalg.solve(both, b[[i, k]])
            if point[0] > best and (a @ point <= b + 1e-7 * (1 + np.abs(b))).all():
                best = float(point[0])
    return best


def _largest_after(w: Array, x: Array, most: Array, h: float, above: float, before: float) -> float:
    """The largest x at the end of a step, at most ``above``."""
    slopes, left = w + h * x, most - x * before
    w_most = float(np.min(left[slopes > 1e-12] / slopes[slopes > 1e-12], initial=np.inf))
    return float(np.clip(before + 2 * h * w_most, 0.0, above))
