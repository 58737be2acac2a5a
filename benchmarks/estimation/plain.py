"""The same filter in a few lines of NumPy: a covariance, one gain of all outputs, no square roots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gdalembert as gd
from gdalembert.spatial.arrays import Array


class PlainFilter:
    """An extended Kalman filter that begins as an :class:`~gdalembert.Estimator` is, without a gate.

    Args:
        estimator: whose Functions it evaluates. ``evaluated``: what evaluates them, as ``gd.compile``.
    """

    def __init__(self, estimator: gd.Estimator, evaluated: Callable[[Any], Callable[..., Any]] = gd.compile) -> None:
        model, fields = estimator._model, estimator._fields
        self.rate, self.outputs, self.retract = map(evaluated, (model.rate, model.outputs, model.retract))
        self.n, self.p = model.n, estimator._p.copy()
        self.x, self.noise, self.variance = (fields[name].copy() for name in ("x", "noise", "variance"))
        self.covariance = estimator.covariance

    def step(self, u: Array, y: Array, dt: float) -> Array:
        """x after a step, with all of y measured."""
        f, a, g = (np.asarray(part).ravel() for part in self.rate(self.x, u, self.p))
        t = dt * a.reshape(self.n, self.n)
        one = np.eye(self.n)
        smooth = np.linalg.inv(one - t / 2 + t @ t / 12)
        transition, driven = one + smooth @ t, smooth @ (g.reshape(self.n, -1) * self.noise)
        self.x = np.asarray(self.retract(self.x, smooth @ (dt * f))).ravel()
        covariance = transition @ self.covariance @ transition.T + dt * driven @ driven.T
        expected, h = (np.asarray(part).ravel() for part in self.outputs(self.x, u, self.p))
        h = h.reshape(-1, self.n)
        gain = np.linalg.solve(h @ covariance @ h.T + np.diag(self.variance), h @ covariance).T
        self.covariance = covariance - gain @ h @ covariance
        self.x = np.asarray(self.retract(self.x, gain @ (y - expected))).ravel()
        return self.x
