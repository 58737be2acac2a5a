"""Least squares of rows that are not linear: bounded steps, and when they have converged."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, IdentificationWarning
from gdalembert.identification import Experiment, fit, least_squares, problem
from gdalembert.identification.least_squares import Combinations, Descent, Reduced, descended, triangular
from tests.helpers.identification import fourier, problem_of

FRICTION = {"joint1": gd.Friction(2.0, 1.0, load=0.12), "joint2": gd.Friction(0.5, 3.0, load=0.05)}


def of_a_gain(longest: np.ndarray | None) -> Descent:
    """y₁ = exp(−θ) p x and y₂ = p x of p = 1 and a gain of 2, from p = 0.05: the first step of θ is near 19."""
    rng, x = np.random.default_rng(0), np.linspace(-1, 1, 60)
    measured = np.array([0.5 * x, x]) + 1e-3 * rng.normal(size=(2, 60))

    def rows(s: np.ndarray) -> np.ndarray:
        """[J | r] of both sensors (2 × 60 × 3)."""
        p, f = s[0], np.exp(np.clip(-s[1], -30, 30))
        one = np.column_stack([f * x, -f * p * x, measured[0] - f * p * x])
        return np.array([one, np.column_stack([x, 0 * x, measured[1] - p * x])])

    def linearized(s: np.ndarray) -> Reduced:
        found = rows(s)
        found[..., -1] += found[..., :-1] @ s
        size = np.sqrt(np.mean(measured**2, axis=1))
        return Reduced(np.array([triangular(each) for each in found]), np.full(2, 60.0), np.ones(2), size)

    return descended(
        linearized,
        lambda s: np.linalg.norm(rows(s)[..., -1], axis=1),
        lambda s: Combinations.of_structure(np.eye(2), ("joint1.m", "joint1.gain")),
        ("joint1.m", "joint1.gain"),
        np.zeros((0, 3)),
        np.zeros(2),
        np.array([0.05, 0.0]),
        longest=longest,
    )


def test_a_bounded_step_does_not_lose_a_gain() -> None:
    """Without the bound, the sensor that is lost costs less than the other one gains, and nothing leads back."""
    bounded = of_a_gain(np.array([np.inf, 1.0]))
    assert bounded.has_converged
    assert bounded.s == pytest.approx([1.0, np.log(2)], abs=1e-3)
    assert of_a_gain(None).s[1] > 5


@pytest.mark.long
def test_gains_of_a_panda_are_found_where_a_long_step_loses_one() -> None:
    """Other bodies, friction and gains than the nominal ones; two runs, the second with a load of known mass."""
    model, rng = gd.load_urdf("panda7"), np.random.default_rng(3)
    real, n, t = model.copy(), model.nv, np.arange(0, 20, 0.1)[:, None]
    for j in range(1, model.njoints):
        body = real.inertias[j]
        rng.normal(size=(3, 3))
        real.inertias[j] = pin.Inertia(
            body.mass * rng.uniform(0.8, 1.2),
            body.lever + 0.01 * rng.normal(size=3),
            body.inertia * rng.uniform(0.8, 1.2),
        )
    gains, viscous, coulomb = rng.uniform(3, 15, n), rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, n)
    loaded = real.copy()
    frame = loaded.frames[loaded.getFrameId("flange")]
    body = pin.Inertia(2.0, np.array([0.03, -0.02, 0.08]), 0.004 * np.eye(3))
    loaded.appendBodyToJoint(frame.parentJoint, body, frame.placement)
    lower, upper = np.maximum(model.lowerPositionLimit, -2.6), np.minimum(model.upperPositionLimit, 2.6)
    known, experiments = ({"flange": pin.Inertia.Zero()}, {"flange.m": 2.0}), []
    for robot, own in zip((real, loaded), known, strict=True):
        q, v, a = np.zeros((3, len(t), n))
        for j in range(n):
            c, k = rng.normal(size=(2, 6)) / np.arange(1, 7), np.arange(1, 7) * 4 * np.pi / 20
            sine, cosine = np.sin(t * k), np.cos(t * k)
            x, y, z = sine @ c[0] + cosine @ c[1], cosine @ (k * c[0]) - sine @ (k * c[1]), -(sine @ (k**2 * c[0]))
            z -= cosine @ (k**2 * c[1])
            scale = min(0.6 * (upper[j] - lower[j]) / 2 / np.abs(x).max(), 1.5 / np.abs(y).max())
            q[:, j], v[:, j], a[:, j] = scale * x + (lower[j] + upper[j]) / 2, scale * y, scale * z
        tau = gd.NewtonEuler(robot).inverse_dynamics(q.T, v.T, a.T).full().T + viscous * v + coulomb * np.tanh(v / 0.01)
        experiments.append(Experiment(q, v, a, current=tau / gains + 0.01 * rng.normal(size=tau.shape), known=own))
    dyn = gd.NewtonEuler(model, friction="model", parameters={"inertia": True, "friction": True, "payload": ["flange"]})
    result = fit(dyn, experiments=experiments, method="weighted")
    found, errors = (np.array(list(each.values())) for each in (result.gains, result.gains_standard_deviation))
    assert np.abs(found / gains - 1).max() < 0.06
    assert np.abs((found - gains) / errors).max() < 4


def test_a_gain_that_the_steps_lost_is_not_told_as_one_that_the_data_cannot_know() -> None:
    """Of a sensor that shows noise alone, with which any gain explains nothing."""
    real = gd.load_urdf("two_link_arm")
    motion = fourier(np.random.default_rng(3), 2, 400)
    current = gd.NewtonEuler(real).inverse_dynamics(*(part.T for part in motion)).full().T / [12.0, 8.0]
    current[:, 1] = np.random.default_rng(0).normal(size=400)
    dyn = gd.NewtonEuler(real, parameters=["inertia"])
    known = {"joint1": real.inertias[1], "joint2": real.inertias[2]}
    told = r"^fit: the gain of an actuator was not found: 'joint2'; the steps ended where the model explains nothing of"
    with pytest.raises(ArgumentError, match=told):
        fit(dyn, experiments=[Experiment(*motion, current=current, known=known)], method="weighted")


@cache
def robots() -> tuple[gd.NewtonEuler, gd.NewtonEuler]:
    """One as it is, and as it is known."""
    model, sheet = gd.load_urdf("two_link_arm"), {name: gd.Friction(0.0, 0.0, load=0.0) for name in FRICTION}
    return (
        gd.NewtonEuler(model, friction=FRICTION),
        gd.NewtonEuler(model, friction=sheet, parameters=["inertia", "friction"]),
    )


def data(samples: int = 300, misfit: float = 0.0) -> tuple[gd.NewtonEuler, tuple[np.ndarray, ...], np.ndarray]:
    """A robot whose friction under load is unknown, a motion, and torques with noise and something else."""
    real, dyn = robots()
    q, v, a = fourier(np.random.default_rng(3), 2, samples)
    tau = real.inverse_dynamics(q.T, v.T, a.T).full().T
    size = np.sqrt(np.mean(tau**2, axis=0))
    tau += 0.02 * size * np.random.default_rng(0).normal(size=tau.shape) + misfit * size * np.sin(3 * q) * np.tanh(
        9 * v
    )
    return dyn, (q, v, a), tau


@pytest.mark.parametrize("decimation", [1, 3])
def test_residuals_alone_have_the_norms_of_those_with_derivatives(decimation: int) -> None:
    dyn, motion, tau = data()
    given = problem_of(dyn, *motion, tau)
    given = problem.LeastSquaresProblem.of(given.efforts, given.runs, decimation=decimation)
    s = np.random.default_rng(1).normal(size=len(given.names))
    assert given.norms(s) == pytest.approx(given.linearized(s).norms(s), rel=1e-12)


def test_steps_end_where_the_sum_of_squares_does_not_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    """However the residuals still change along what is nearly free; what is left is told if they ended before."""
    dyn, motion, tau = data(misfit=0.3)
    monkeypatch.setattr(least_squares, "_CONVERGED", 0.0)
    monkeypatch.setattr(least_squares, "_NEAR", -np.inf)  # of steps that converge slowly
    counts: list[list[Any]] = [[], []]
    steps, found = least_squares._steps, []
    for count, level in zip(counts, (least_squares._LEVEL, -1.0), strict=True):
        monkeypatch.setattr(least_squares, "_LEVEL", level)
        monkeypatch.setattr(least_squares, "_steps", lambda *given, c=count: c.append(1) or steps(*given))
        found.append(fit(dyn, *motion, tau, method="weighted"))
    assert found[0].fitted.rms == pytest.approx(found[1].fitted.rms, rel=1e-6)
    assert len(counts[0]) < len(counts[1])
    assert not any("converge" in remark for each in found for remark in each.remarks)
    monkeypatch.setattr(least_squares, "_STEPS", 1)
    with pytest.warns(
        IdentificationWarning, match=r"^fit: the steps did not converge: the sum of squares still falls by "
    ):
        fit(dyn, *motion, tau, method="weighted")


def test_extrapolated_steps_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of residuals that remain: where plain steps converge linearly, extrapolated ones reach the same end in fewer."""
    dyn, motion, tau = data(misfit=0.3)
    counts: list[list[Any]] = [[], []]
    steps, ends = least_squares._steps, []
    for count, near in zip(counts, (least_squares._NEAR, -np.inf), strict=True):
        monkeypatch.setattr(least_squares, "_NEAR", near)
        monkeypatch.setattr(least_squares, "_steps", lambda *given, c=count: c.append(1) or steps(*given))
        ends.append(fit(dyn, *motion, tau, method="weighted").fitted.rms)
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)
    assert len(counts[0]) < len(counts[1])
