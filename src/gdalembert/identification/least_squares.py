"""Ordinary and weighted least squares on triangular factors.

The torque of joint j has the standard deviation σ_j, the same in all samples of weight 1. Ordinary least squares take
one σ for all joints; weighted least squares estimate each σ_j from the residuals of the last estimate, until they agree
(Gautier and Poignet, "Extended Kalman filtering and weighted least squares dynamic identification of robot", Control
Engineering Practice 9(12), 2001).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdalembert.identification.identifiability import Combinations
from gdalembert.identification.regression import Reduced, triangular
from gdalembert.spatial.arrays import Array

_AGREE = 1e-6
"""Relative change of the noise at which the iteration ends."""
_ITERATIONS = 50
_LEAST_NOISE = 1e-6
"""Least noise, as part of the torque: data without noise have that of rounding, which would be too good a weight."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Least squares, in s = (p − p₀) / size.

    Attributes:
        reduced: the samples. ``weighted``: whether each torque has a noise of its own.
        noise: the standard deviation of each torque of weight 1 (nv).
        base: the base parameters β = C s that the data excite (k).
        values: their estimates (k). ``factor``: T (k × k) of their covariance T Tᵀ.
        completion: the point (n_p) that the rest of s is nearest to.
        condition_number: of the weighted regressor of β, with columns of unit length.
    """

    reduced: Reduced
    weighted: bool
    noise: Array
    base: Combinations
    values: Array
    factor: Array
    completion: Array
    condition_number: float

    @property
    def s(self) -> Array:
        """The estimate (n_p) that is nearest to the completion."""
        return np.asarray(self.completion + self.base.inverse @ self.from_completion)

    @property
    def from_completion(self) -> Array:
        """The estimates minus the base parameters of the completion (k)."""
        return np.asarray(self.values - self.base.matrix @ self.completion)

    @property
    def standard_deviation(self) -> Array:
        """Of the base parameters (k)."""
        return np.asarray(np.linalg.norm(self.factor, axis=1))

    def deviation(self, combinations: Array) -> Array:
        """The standard deviation of any combinations (… × n_p) of s; inf where the data do not excite them."""
        found = np.linalg.norm(combinations[:, list(self.base.own)] @ self.factor, axis=1)
        return np.where(self.base.spans(combinations), found, np.inf)

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


def least_squares(
    reduced: Reduced, base: Combinations, priors: Array, completion: Array, *, weighted: bool
) -> Estimate:
    """The estimate from samples.

    Args:
        reduced: the samples.
        base: the base parameters that they excite, or priors.
        priors: rows of measured parameters, (unit vector, value) / standard deviation (k × (n_p + 1)).
        completion: what data do not see is nearest to that (n_p).
        weighted: whether each torque has a noise of its own.
    """
    scale = np.sqrt(np.mean(reduced.torques**2))
    scale = scale or 1.0  # of torques that are all 0
    least = _LEAST_NOISE * np.maximum(reduced.torques, _LEAST_NOISE * scale)
    noise = np.full(len(reduced.counts), scale)
    for _ in range(_ITERATIONS):
        values, *_ = _solve(reduced, base, priors, noise)
        before, noise = noise, np.maximum(_noise(reduced, base, values, weighted), least)
        if np.all(np.abs(noise - before) <= _AGREE * before):
            break
    values, factor, condition = _solve(reduced, base, priors, noise)
    return Estimate(reduced, weighted, noise, base, values, factor, completion, condition)


def _solve(reduced: Reduced, base: Combinations, priors: Array, noise: Array) -> tuple[Array, Array, float]:
    """β (k), T (k × k) and the condition number, by the singular values of columns of unit length."""
    rows = triangular(np.vstack([*(reduced.factors / noise[:, None, None]), priors]))
    columns = rows[:, list(base.own)]
    lengths = np.linalg.norm(columns, axis=0)
    u, values, vt = np.linalg.svd(columns / lengths, full_matrices=False)
    factor = vt.T / values / lengths[:, None]
    condition = float(values[0] / values[-1]) if len(values) else np.inf
    return factor @ (u.T @ rows[:, -1]), factor, condition


def _noise(reduced: Reduced, base: Combinations, values: Array, weighted: bool) -> Array:
    """σ_j from the residuals, whose degrees of freedom are shared among the samples of all joints."""
    s = np.zeros(base.matrix.shape[1])
    s[list(base.own)] = values
    norms, counts = reduced.norms(s), reduced.counts
    free = 1 - len(values) / counts.sum()
    if not weighted:
        return np.full(len(counts), np.sqrt(np.sum(norms**2) / (counts.sum() * free)))
    return np.asarray(norms / np.sqrt(np.maximum(counts, 1) * free))
