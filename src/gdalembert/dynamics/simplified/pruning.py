"""The largest contribution of a term to the torques, and the terms that can be left out.

A term δ = A X cos(φ + phase) of D_ij = D_ji, left out, changes the torques, by Lagrange's equations, by

    row i    δ a_j + δ̇ v_j − ∂δ/∂q_i v_i v_j          row j    likewise with i and j exchanged
    row l    −∂δ/∂q_l v_i v_j                         of every other joint l

and if i = j by δ a_i + δ̇ v_i − ½ ∂δ/∂q_i v_i² and −½ ∂δ/∂q_l v_i². A term of V changes row l by ∂δ/∂q_l. With
|v| ≤ v_max, |a| ≤ a_max, any angles and all distances within their range, |x_l| ≤ half_l:

    |δ| ≤ F = A Π half_l^m_l,    |∂δ/∂q_l| ≤ F_l = |κ_l| F of an angle, m_l / half_l F of a distance.

In row i, ∂δ/∂q_i v_i v_j cancels what δ̇ v_j has of it (half of it if i = j). δ a_j goes with the cosine of the phase
and what the angles make of δ̇ with its sine: together they are at most the root of the sum of their squares. So, the
first sum over the angles, the second over the distances, l = i left out of both (taken half if i = j),

    |row i| ≤ F √(a_j² + (Σ |κ_l| v_l v_j)²) + Σ F_l v_l v_j,    |row l| ≤ F_l v_i v_j   (half of it if i = j).

All of it is ours. The plain sum A (a_j + |κ|·v_max v_j) is never smaller.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.simplified.limits import Limits
from gdalembert.dynamics.simplified.series import Coordinates, Term
from gdalembert.spatial.arrays import Array


def largest(coordinates: Coordinates, term: Term) -> float:
    """F, the largest value of a term."""
    return float(term.amplitude * np.prod(coordinates.half ** np.array(term.shape.powers)))


def contributions(coordinates: Coordinates, limits: Limits, terms: Sequence[Term]) -> Array:
    """The most that each term adds to each torque (terms × nv)."""
    return np.array([_contribution(coordinates, limits, term) for term in terms]).reshape(-1, len(limits.tau))


def _contribution(coordinates: Coordinates, limits: Limits, term: Term) -> Array:
    size = largest(coordinates, term)
    turning = size * np.abs(term.shape.frequencies)
    sliding = size * np.array(term.shape.powers) / coordinates.half
    slopes: Array = turning + sliding
    if term.entry is None:
        return slopes
    i, j = term.entry
    v, a = limits.v, limits.a
    rows: Array = slopes * v[i] * v[j] * (0.5 if i == j else 1)
    for row, other in ((i, j), (j, i)):
        own = np.ones(len(v))
        own[row] = 0.5 if i == j else 0
        rows[row] = np.hypot(size * a[other], own @ (turning * v) * v[other]) + own @ (sliding * v) * v[other]
    return rows


def droppable(contributions: Array, allowed: Array) -> npt.NDArray[np.bool_]:
    """The terms to leave out: the smallest first, relative to the allowed error, while no row's sum exceeds it."""
    dropped, total = np.zeros(len(contributions), dtype=bool), np.zeros(len(allowed))
    if np.any(allowed > 0):
        for k in np.argsort((contributions / allowed).max(axis=1), kind="stable"):
            if np.all(total + contributions[k] <= allowed):
                total += contributions[k]
                dropped[k] = True
    return dropped
