"""Friction that grows with the load, and joints that stick."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import gdalembert as gd
from gdalembert.errors import ArgumentError, IdentificationWarning
from gdalembert.identification import fit
from tests.helpers.identification import exact_torques, fourier

KINDS = {"inertia": True, "armature": True, "friction": True}
TRUE = {
    "joint1": gd.Friction(2.0, 1.0, offset=0.5, load=0.12),
    "joint2": gd.Friction(0.5, 3.0, offset=-0.3, load=0.05),
}
SHEET = {name: gd.Friction(0.0, 0.0, offset=0.0, load=0.0) for name in TRUE}


@cache
def exact_data() -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    model = gd.load_urdf("two_link_arm")
    model.armature = np.array([2.0, 0.5])
    motion = fourier(np.random.default_rng(3), 2, 1500)
    return motion, gd.NewtonEuler(model, friction=TRUE).inverse_dynamics(*(part.T for part in motion)).full().T


def data(noise: float, seed: int = 0) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    motion, tau = exact_data()
    sigma = noise * np.sqrt(np.mean(tau**2, axis=0))
    return motion, tau + sigma * np.random.default_rng(seed).normal(size=tau.shape)


def true_values() -> dict[str, float]:
    return {
        f"{name}.{what}": getattr(each, what)
        for name, each in TRUE.items()
        for what in ("viscous", "coulomb", "offset", "load")
    }


def test_friction_that_grows_with_the_load_is_found() -> None:
    """tau is not affine in it: exact data give exact values, 2 % of noise give them to their deviations."""
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), friction=SHEET, parameters=KINDS)
    motion, exact = data(0.0)
    result = fit(dyn, *motion, exact, method="weighted")
    assert result.fitted.relative.max() < 1e-6
    for name, value in true_values().items():
        assert result.parameters[name] == pytest.approx(value, rel=1e-4, abs=1e-4)
    motion, noisy = data(0.02)
    result = fit(dyn, *motion, noisy, method="weighted")
    for name, value in true_values().items():
        deviation = result.standard_deviation[result.names.index(name)]
        assert abs(result.parameters[name] - value) < 4 * deviation < 1.0
    assert result.fitted.relative == pytest.approx([0.02, 0.02], rel=0.1)


@pytest.mark.extras
def test_the_consistent_fit_keeps_the_load_within_its_limits() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), friction=SHEET, parameters=KINDS)
    motion, noisy = data(0.02)
    result = fit(dyn, *motion, noisy, model=gd.load_urdf("two_link_arm"))
    assert result.is_consistent
    assert 0.1 < result.parameters["joint1.load"] < 0.14
    simulated = gd.simulate(result.dynamics, ([0.1, 0.2], [0.0, 0.0]), 0.2)
    assert simulated.relative_balance < 1e-6


def test_a_load_friction_that_is_known_is_no_unknown() -> None:
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), friction=TRUE, parameters=["inertia", "armature"])
    motion, exact = data(0.0)
    result = fit(dyn, *motion, exact, method="weighted")
    assert result.fitted.relative.max() < 1e-6
    assert result.parameters["joint2.armature"] == pytest.approx(0.5, rel=1e-3)


def test_products_of_parameters_are_refused_beside_friction_under_load() -> None:
    """Of masses and gravity; the friction, which is such a product itself, is none of them."""
    parameters = ["inertia", "friction", "gravity"]
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), friction=SHEET, parameters=parameters)
    motion, exact = data(0.0)
    with pytest.raises(
        ArgumentError, match=r"^fit: tau is not affine in 'joint1\.m.*; free only some of them"
    ) as error:
        fit(dyn, *motion, exact, method="weighted")
    assert ".load" not in str(error.value)


def test_samples_that_stick_are_left_out_and_predicted_within_the_friction() -> None:
    """A joint that rests in every other second, held by torques that nothing determines."""
    model, rng = gd.load_urdf("two_link_arm"), np.random.default_rng(0)
    model.friction = np.array([1.0, 3.0])
    q, v, a = fourier(rng, 2, 1200)
    rests = (np.arange(1200) // 60) % 2 == 0
    q[rests, 1], v[rests, 1], a[rests, 1] = 0.4, 0.0, 0.0
    tau = exact_torques(model, (q, v, a)) + model.friction * np.tanh(v / 0.01)
    stiction = rng.uniform(-3.0, 3.0, 1200) * rests
    tau[:, 1] += stiction
    tau += 0.01 * rng.normal(size=tau.shape)
    sheet = gd.NewtonEuler(gd.load_urdf("two_link_arm"), friction="model", parameters=["inertia", "friction"])
    result = fit(sheet, q, v, a, tau, sticking=0.02, method="weighted")
    assert result.parameters["joint2.coulomb"] == pytest.approx(3.0, abs=0.01)
    assert result.fitted.rms == pytest.approx([0.01, 0.01], rel=0.3)
    assert len(result.fitted.measured) == 1200
    assert np.array_equal(result.fitted.at_rest[:, 1], np.abs(v[:, 1]) < 0.02)
    assert result.fitted.moving.rms == pytest.approx([0.01, 0.01], rel=0.1)
    sides, count = result.fitted, int(result.fitted.at_rest[:, 1].sum())
    percent = [f"{100 * each.relative[1]:.1f}%" for each in (sides.every_sample, sides, sides.moving)]
    shown = f"joint2 {' '.join(percent)} {count} of 1200 ({count / 1200:.1%})"
    assert shown in [" ".join(line.split()) for line in result.report.splitlines()]
    assert sides.every_sample.rms[1] > 1.0
    assert np.array_equal(sides.from_motion[~sides.at_rest], sides.predicted[~sides.at_rest])
    with pytest.warns(IdentificationWarning, match=r"'joint2' is slower than 0.01 in 50% .*; sticking=0.01 leaves"):
        without = fit(sheet, q, v, a, tau, method="weighted", held_back=(q, v, a, tau))
    assert without.fitted.rms[1] > 1.0
    with pytest.raises(ArgumentError, match=r"^fit: sticking: got -1; give one finite number \[rad/s, m/s\], above 0$"):
        fit(sheet, q, v, a, tau, sticking=-1)
    with pytest.raises(ArgumentError, match=r"^fit: sticking: no sensor has Coulomb friction among the parameters"):
        fit(gd.NewtonEuler(model, parameters=["inertia"]), q, v, a, tau, sticking=0.1)
