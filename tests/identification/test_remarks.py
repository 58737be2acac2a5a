"""What a fit says of itself: data that tell nothing, and data that the model cannot explain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gdalembert.identification import IdentificationError, IdentificationWarning, decimated, fit
from gdalembert.identification.fit import METHODS
from tests.helpers.identification import Experiment, fitted, panda, with_friction

pytestmark = pytest.mark.extras


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["friction", "armature"])
def test_data_that_know_nothing_leave_everything_as_it_was(kind: str, method: Any) -> None:
    e = panda()
    still = np.zeros_like(e.v)
    exact = with_friction(e.nominal).inverse_dynamics(e.q.T, still.T, still.T).full().T
    tau = exact + e.sigma * np.random.default_rng(0).normal(size=exact.shape)
    dyn = with_friction(e.nominal, {kind: True})
    result = fit(dyn, e.q, still, still, tau, model=e.nominal, method=method)
    assert len(result.base) == 0
    assert result.not_identifiable.not_excited == result.not_identifiable.parameters == tuple(dyn.parameters.names)
    assert np.all(np.isinf(result.standard_deviation))
    assert result.values == pytest.approx(result.nominal, abs=1e-5)  # the accuracy of the solver
    assert f"base parameters   0 of {result.structural_rank} excited" in str(result)


def test_torques_without_gravity_are_told() -> None:
    e = panda()
    floating = e.truth.copy()
    floating.gravity.linear = np.zeros(3)
    exact = with_friction(floating).inverse_dynamics(e.q.T, e.v.T, e.a.T).full().T
    with pytest.warns(IdentificationWarning, match=r"^fit: the model cannot explain the data: the residual of 'jo"):
        result = fit(e.dyn, e.q, e.v, e.a, exact)
    assert result.remarks[0].startswith("the model cannot explain the data: the residual of 'joint")
    assert result.remarks[0] in str(result)
    assert fitted(e).remarks == ()


def test_torques_that_are_0_do_not_blame_bounds_that_nobody_gave() -> None:
    e = panda()
    told = r"^fit: the solver Clarabel finds no physically consistent parameters: .*; check that tau are the measured"
    with pytest.raises(IdentificationError, match=told):
        fit(e.dyn, e.q, e.v, e.a, np.zeros_like(e.exact))


def test_few_samples_are_told() -> None:
    e = panda()
    few = [part[::50] for part in (e.q, e.v, e.a, e.measured(0))]
    with pytest.warns(IdentificationWarning, match=r"^fit: 84 torques are few for 62 base .*; give at least 124$"):
        result = fit(e.dyn, *few, method="weighted")
    assert result.remarks[0] in str(result)


def slow() -> tuple[Experiment, Any, np.ndarray]:
    """A motion too slow for armatures and products of inertia, with noise of 3 %."""
    e = panda()
    motion = e.q, e.v / 30, e.a / 900
    exact = with_friction(e.truth).inverse_dynamics(*(part.T for part in motion)).full().T
    return e, motion, exact + 3 * e.sigma * np.random.default_rng(0).normal(size=exact.shape)


def test_base_parameters_that_are_uncertain_are_told() -> None:
    """They are estimated, to deviations that include the truth, and that other motions would suffer from."""
    e, motion, tau = slow()
    with pytest.warns(IdentificationWarning, match=r"^fit: \d+ of 62 base parameters are uncertain: one standard dev"):
        result = fit(e.dyn, *motion, tau, method="weighted")
    assert len(result.base) == result.structural_rank == 62
    assert result.not_identifiable.not_excited == ()
    assert result.remarks[0] in str(result)
    off = (result.base.values - result.base.matrix @ e.p) / result.base.standard_deviation
    assert np.sqrt(np.mean(off**2)) < 1.4
    k = result.names.index("joint7.armature")
    assert np.isfinite(result.standard_deviation[k])
    assert result.standard_deviation[k] > 0.5
    assert fitted(e, method="weighted").remarks == ()


def test_noise_is_that_of_torques_whatever_the_weights_are() -> None:
    e = panda()
    plain = fitted(e, method="weighted")
    for weights in (np.full(600, 100.0), np.tile([1.0, 100, 1, 1, 1, 1, 0.01], (600, 1))):
        result = fitted(e, method="weighted", weights=weights)
        assert result.noise == pytest.approx(plain.noise, rel=1e-5)  # where the iteration ends
        assert result.residual == pytest.approx(plain.fitted.rms, rel=1e-5)
        assert result.base.standard_deviation == pytest.approx(plain.base.standard_deviation, rel=1e-5)
    without = fitted(e, method="weighted", weights=np.tile([1.0, 0, 1, 1, 1, 1, 1], (600, 1)))
    assert np.flatnonzero(np.isnan(without.noise)).tolist() == [1]
    assert np.flatnonzero(np.isnan(without.residual)).tolist() == [1]


def test_noise_and_residuals_are_those_of_the_same_rows() -> None:
    """The residual of decimated rows is the decimated residual."""
    e = panda()
    result = fitted(e, method="weighted", decimation=5)
    rows = decimated(result.fitted.residuals, 5)
    assert result.residual == pytest.approx(np.sqrt(np.mean(rows**2, axis=0)), rel=1e-9)
    free = 1 - 62 / rows.size
    assert result.noise == pytest.approx(result.residual / np.sqrt(free), rel=1e-5)  # where the iteration ends


def test_what_a_bound_decided_is_told() -> None:
    e = panda()
    result = fitted(e, bounds={"joint7.coulomb": (None, fitted(e).parameters["joint7.coulomb"] - 1e-3)})
    assert "joint7.coulomb" in result.at_bounds
    assert "at a bound: joint7.coulomb" in str(result)
    noisy = fit(e.dyn, e.q, e.v, e.a, e.exact + 30 * (e.measured(1) - e.exact))
    assert any(name.startswith("body of joint") for name in noisy.at_bounds)
    assert fitted(e, method="weighted").at_bounds == ()


def test_bodies_that_were_not_estimated_are_neither_consistent_nor_not() -> None:
    e = panda()
    result = fit(with_friction(e.truth, ["friction"]), e.q, e.v, e.a, e.exact, model=e.truth, method="weighted")
    assert result.is_consistent is None
    assert result.model.nv == 7


@pytest.mark.parametrize("method", METHODS)
def test_torques_that_are_noise_alone_are_told(method: Any) -> None:
    e = panda()
    noise = np.random.default_rng(0).normal(size=e.exact.shape)
    with pytest.warns(
        IdentificationWarning,
        match=r"^fit: the model cannot explain the data: .*% of its torque; check|times the noise",
    ):
        fit(e.dyn, e.q, e.v, e.a, noise, method=method)


def test_bounds_against_the_data_are_told() -> None:
    e = panda()
    with pytest.warns(IdentificationWarning, match=r"of 'joint7' is .* times the noise that least squares find; check"):
        result = fitted(e, bounds={"joint7.viscous": (30.0, None)})
    assert np.all(result.residual[6] > 1.5 * result.noise[6])
