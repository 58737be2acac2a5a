"""Least squares beside those of NumPy on Pinocchio's regressor, and what their standard deviations promise."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.identification import fit, regression
from gdalembert.identification.problem import Problem
from gdalembert.identification.samples import checked_samples
from tests.helpers import models
from tests.helpers.identification import (
    fitted,
    fourier,
    panda,
    stacked,
    with_friction,
)
from tests.helpers.sets import quick


def test_ordinary_least_squares_are_those_of_the_stacked_regressor() -> None:
    e = panda()
    y, tau = stacked(e), e.measured(2)
    result = fitted(e, 2, method="ordinary")
    p, *_ = np.linalg.lstsq(y, tau.ravel(), rcond=1e-10)
    assert models.relative_error(result.fitted.predicted.ravel(), y @ p) < 1e-10
    assert models.relative_error(result.base.values, result.base.matrix @ p) < 1e-9  # times the condition of the data
    freedom = tau.size - len(result.base)
    sigma = np.sqrt(np.sum((tau.ravel() - y @ p) ** 2) / freedom)
    assert result.noise == pytest.approx(np.full(7, sigma), rel=1e-6)
    covariance = sigma**2 * result.base.matrix @ np.linalg.pinv(y.T @ y, rcond=1e-12) @ result.base.matrix.T
    # normal equations square the condition
    assert result.base.covariance == pytest.approx(covariance, rel=1e-4, abs=1e-9 * covariance.max())


def test_weighted_least_squares_are_those_of_rows_over_their_noise() -> None:
    e = panda()
    y, tau = stacked(e), e.measured(2)
    result = fitted(e, 2, method="weighted")
    over = np.tile(result.noise, len(tau))
    p, *_ = np.linalg.lstsq(y / over[:, None], tau.ravel() / over, rcond=1e-10)
    assert models.relative_error(result.fitted.predicted.ravel(), y @ p) < 1e-10
    residuals = (tau.ravel() - y @ p).reshape(tau.shape)
    free = 1 - len(result.base) / tau.size
    assert result.noise == pytest.approx(np.sqrt(np.mean(residuals**2, axis=0) / free), rel=1e-5)  # where it ends


@lru_cache(maxsize=1)
def puma() -> tuple[gd.NewtonEuler, tuple[np.ndarray, ...], np.ndarray]:
    """A PUMA 560 whose data sheet has no friction, a motion, and its torques: the wrist makes 0.01 N m without it."""
    sheet = gd.load_urdf("puma560")
    real = sheet.copy()
    real.friction = real.damping = np.array([8.0, 8, 5, 2, 2, 2])
    motion = fourier(np.random.default_rng(0), 6, 3000)
    exact = with_friction(real).inverse_dynamics(*(part.T for part in motion)).full().T
    return with_friction(sheet, {"base": True, "friction": True}), motion, exact


@pytest.mark.parametrize("noise", quick([0.02, 0.1], 0.1))
@pytest.mark.parametrize("method", ["ordinary", "weighted"])
def test_friction_of_a_light_wrist_is_found(method: Any, noise: float) -> None:
    dyn, motion, exact = puma()
    size = np.sqrt(np.mean(exact**2, axis=0))
    tau = exact + noise * size * np.random.default_rng(1).normal(size=exact.shape)
    result = fit(dyn, *motion, tau, method=method)
    assert len(result.base) == result.structural_rank == 48
    off = np.sqrt(np.mean((result.fitted.predicted - exact) ** 2, axis=0)) / size
    assert off.max() < 0.25 * noise
    assert result.parameters["joint6.coulomb"] == pytest.approx(2.0, rel=0.05)
    assert result.remarks == ()


def test_rows_without_weight_are_left_out_and_rows_of_weight_two_count_twice() -> None:
    e = panda()
    tau = e.measured(3)
    spoiled, weights = tau.copy(), np.ones(600)
    spoiled[100:120], weights[100:120], weights[300:400] = 1e3, 0.0, 2.0
    rows = np.r_[0:100, 120:600, 300:400]
    result = fit(e.dyn, e.q, e.v, e.a, spoiled, weights=weights, method="ordinary")
    other = fit(e.dyn, e.q[rows], e.v[rows], e.a[rows], tau[rows], method="ordinary")
    assert models.relative_error(result.base.values, other.base.values) < 1e-9  # times the condition of the data
    assert len(result.fitted.measured) == 580
    assert np.abs(result.fitted.measured).max() < 1e3
    single = fit(e.dyn, e.q, e.v, e.a, spoiled, weights=np.tile(weights[:, None], 7), method="ordinary")
    assert np.array_equal(single.values, result.values)


def test_the_fit_does_not_depend_on_how_many_samples_are_evaluated_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    e = panda()
    whole = fitted(e, method="weighted")
    monkeypatch.setattr(regression, "_AT_ONCE", 250)
    parts = fitted(e, method="weighted")
    assert models.relative_error(parts.values, whole.values) < 1e-10  # times the condition of the data
    assert models.relative_error(parts.fitted.predicted, whole.fitted.predicted) < 1e-12


@pytest.mark.long
@pytest.mark.parametrize("weighted", [True, False])
def test_standard_deviations_cover_the_true_base_parameters(weighted: bool) -> None:
    """Over 100 seeds the sum of (b − true)ᵀ cov⁻¹ (b − true) is chi-square with 100 r degrees of freedom.

    Bounds at four standard deviations; the estimated noise adds 2 / N. Of single deviations 95 % lie within 1.96.
    """
    e = panda(300)
    problem = Problem.of("fit", e.dyn)
    sigma = e.sigma if weighted else np.full(7, 0.1)
    torques = [e.exact + sigma * np.random.default_rng(seed).normal(size=e.exact.shape) for seed in range(100)]
    chi_square, inside = [], []
    for tau in torques:
        samples = checked_samples("fit", e.dyn.nominal, e.q, e.v, e.a, tau)
        estimate = problem.estimate("fit", samples, weighted=weighted)
        base = problem.base(estimate, problem.torque.nominal + problem.sizes * estimate.s)
        error = base.values - base.matrix @ e.p
        chi_square.append(error @ np.linalg.solve(base.covariance, error) / len(base))
        inside.append(np.abs(error) < 1.96 * base.standard_deviation)
    spread = np.sqrt(2 / (100 * 62))
    assert len(base) == 62
    assert abs(np.mean(chi_square) - 1 - 2 / 300) < 4 * spread
    assert abs(np.mean(inside) - 0.95) < 0.02


def test_a_measured_parameter_counts_as_data_do() -> None:
    """With the mass of link 7 known, others that go with it are known too."""
    e = panda()
    mass = e.truth.inertias[7].mass
    result = fitted(e, method="weighted", prior={"joint7.m": (mass + 0.003, 0.01)})
    k = result.names.index("joint7.m")
    assert result.structural_rank == 63
    assert result.values[k] == pytest.approx(mass + 0.003, abs=1e-6)
    assert result.standard_deviation[k] == pytest.approx(0.01, rel=1e-6)
    assert result.standard_deviation[result.names.index("joint6.mx")] == pytest.approx(0.088 * 0.01, rel=0.1)
