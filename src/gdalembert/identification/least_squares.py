"""Ordinary and weighted least squares on triangular factors.

The torque of joint j has the standard deviation σ_j, the same in all samples of weight 1. Ordinary least squares take
one σ for all joints; weighted least squares estimate each σ_j from the residuals of the last estimate, until they agree
(Gautier and Poignet, "Extended Kalman filtering and weighted least squares dynamic identification of robot", Control
Engineering Practice 9(12), 2001).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdalembert.identification.identifiability import Knowledge
from gdalembert.identification.regression import Reduced, triangular
from gdalembert.spatial.arrays import Array

_AGREE = 1e-6
"""Relative change of the noise at which the iteration ends."""
_ITERATIONS = 50
_NOT_EXCITED = 1e-10
"""Relative singular value of a direction of which data say nothing."""
_LEAST_NOISE = 1e-6
"""Least noise, as part of the torque: data without noise have that of rounding, which would be too good a weight."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Least squares, in s = (p − p₀) / size.

    Attributes:
        reduced: the samples. ``weighted``: whether each torque has a noise of its own.
        noise: the standard deviation of each torque of weight 1 (nv).
        knowledge: of each direction.
        seen: the estimate in the known directions (r).
        completion: the point (n_p) that the rest of s is nearest to.
        condition_number: of the weighted data in the directions that are known.
    """

    reduced: Reduced
    weighted: bool
    noise: Array
    knowledge: Knowledge
    seen: Array
    completion: Array
    condition_number: float

    @property
    def s(self) -> Array:
        """The estimate (n_p) that is nearest to the completion."""
        known = self.knowledge.known
        return np.asarray(self.completion + known @ (self.seen - known.T @ self.completion))

    @property
    def torque_noise(self) -> Array:
        """The standard deviation of each torque of mean weight (nv) [N m, N]; nan for one without any weight."""
        return self._in_torque(self.noise)

    def residuals(self, s: Array) -> Array:
        """The root mean square of the residuals of each torque (nv) in the rows that were fitted, by their weights."""
        return self._in_torque(self.reduced.norms(s) / np.sqrt(np.maximum(self.reduced.counts, 1)))

    def _in_torque(self, of_weight_one: Array) -> Array:
        weights = self.reduced.weights
        return np.asarray(
            np.divide(of_weight_one, np.sqrt(weights), out=np.full(len(weights), np.nan), where=weights > 0)
        )


def least_squares(reduced: Reduced, space: Array, priors: Array, completion: Array, *, weighted: bool) -> Estimate:
    """The estimate from samples.

    Args:
        reduced: the samples.
        space: what the structure lets anyone know (n_p × r).
        priors: rows of measured parameters, (unit vector, value) / standard deviation (k × (n_p + 1)).
        completion: what data do not see is nearest to that (n_p).
        weighted: whether each torque has a noise of its own.
    """
    scale = np.sqrt(np.mean(reduced.torques**2))
    least = _LEAST_NOISE * np.maximum(reduced.torques, _LEAST_NOISE * scale) + np.finfo(float).tiny
    noise = np.full(len(reduced.counts), scale or 1.0)
    for _ in range(_ITERATIONS):
        knowledge, seen = _solve(reduced, space, priors, noise)
        before, noise = noise, np.maximum(_noise(reduced, knowledge, seen, weighted), least)
        if np.all(np.abs(noise - before) <= _AGREE * before):
            break
    knowledge, seen = _solve(reduced, space, priors, noise)
    known = knowledge.deviations < 1
    deviations = knowledge.deviations[known]
    spread = float(deviations.max() / deviations.min()) if known.any() else np.inf
    return Estimate(reduced, weighted, noise, knowledge, seen[known], completion, spread)


def _solve(reduced: Reduced, space: Array, priors: Array, noise: Array) -> tuple[Knowledge, Array]:
    """The singular directions of the weighted data, and the least squares (r) along them, 0 where there is no data."""
    rows = np.vstack([*(reduced.factors / noise[:, None, None]), priors])
    r = triangular(rows)
    u, values, vt = np.linalg.svd(r[:, :-1] @ space, full_matrices=False)
    excited = values > _NOT_EXCITED * values.max(initial=0)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=excited)
    return Knowledge(space @ vt.T, np.where(excited, inverse, np.inf)), inverse * (u.T @ r[:, -1])


def _noise(reduced: Reduced, knowledge: Knowledge, seen: Array, weighted: bool) -> Array:
    """σ_j from the residuals of all directions with data, whose number is shared among the samples of all joints."""
    norms, counts = reduced.norms(knowledge.directions @ seen), reduced.counts
    free = 1 - np.count_nonzero(seen) / counts.sum()
    if not weighted:
        return np.full(len(counts), np.sqrt(np.sum(norms**2) / (counts.sum() * free)))
    return np.asarray(norms / np.sqrt(np.maximum(counts, 1) * free))
