"""The parts of the result of a fit, beside their definitions."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import IdentificationWarning
from gdalembert.identification import fit
from gdalembert.identification.result import Torques
from tests.helpers.identification import exact_torques, fourier
from tests.helpers.sets import quick


def test_residuals_are_measured_by_their_root_mean_square() -> None:
    """Of the errors 3, −4, 0 N m it is 5/√3 N m, whatever the other torques; a torque that is always 0 has no share."""
    measured = np.array([[10.0, 2.0, 0.0, 0.0], [-10.0, 2.0, 0.0, 0.0], [10.0, 2.0, 0.0, 0.0]])
    errors = np.array([[3.0, 1.0, 0.0, 1.0], [-4.0, -1.0, 0.0, 1.0], [0.0, 1.0, 0.0, -1.0]])
    torques = Torques(measured, measured - errors, measured - 2 * errors, 0 * errors, errors > 2.0)
    assert torques.residuals[:, 0] == pytest.approx([3.0, -4.0, 0.0])
    assert torques.rms == pytest.approx([5 / np.sqrt(3), 1.0, 0.0, 1.0])
    assert torques.relative[:2] == pytest.approx([0.5 / np.sqrt(3), 0.5])
    assert np.isnan(torques.relative[2:]).all()
    assert torques.moving.rms == pytest.approx([4 / np.sqrt(2), 1.0, 0.0, 1.0])
    assert torques.every_sample.rms == pytest.approx([10 / np.sqrt(3), 2.0, 0.0, 2.0])


@cache
def puma() -> tuple[pin.Model, gd.NewtonEuler]:
    model = gd.load_urdf("puma560")
    return model, gd.NewtonEuler(model, parameters=["inertia"])


def with_quiet_wrist(wrong: float, rows: slice) -> tuple[gd.NewtonEuler, list[np.ndarray]]:
    """A PUMA whose sixth torque, a hundredth of the second one, is noise in some of the samples."""
    (model, dyn), rng = puma(), np.random.default_rng(0)
    motion = fourier(rng, 6, 600)
    tau = exact_torques(model, motion)
    size = np.sqrt(np.mean(tau**2, axis=0))
    assert size[5] < 0.02 * size.max()
    tau[rows, 5] = wrong * size[5] * rng.normal(size=600)[rows]
    return dyn, [*motion, tau + 0.01 * size * rng.normal(size=tau.shape)]


@pytest.mark.parametrize("wrong", quick([0.3, 1.0, 8.0], 1.0, 8.0))
def test_a_sensor_of_noise_is_told_however_quiet_it_is(wrong: float) -> None:
    dyn, samples = with_quiet_wrist(wrong, slice(None))
    with pytest.warns(
        IdentificationWarning, match=r"fit: the model cannot explain the data: the residual of 'joint6' is"
    ):
        result = fit(dyn, *samples, method="weighted")
    assert result.fitted.relative[5] > 0.9
    assert not any("'joint5'" in remark for remark in result.remarks)


def test_several_sensors_of_noise_are_told_together() -> None:
    dyn, samples = with_quiet_wrist(1.0, slice(None))
    samples[3][:, 3] = 1.5 * np.random.default_rng(1).normal(size=600)
    with pytest.warns(
        IdentificationWarning, match=r"the residual of 'joint\d' is \S+, \d+% of its torque, of 'joint\d' \d+%; "
    ):
        fit(dyn, *samples, method="weighted")


def test_residuals_held_back_are_told_where_those_fitted_are_small() -> None:
    dyn, samples = with_quiet_wrist(1.0, slice(480, None))
    with pytest.warns(IdentificationWarning) as warnings:
        result = fit(dyn, *samples, method="weighted", held_back=0.2)
    assert result.held_back is not None
    assert result.fitted.relative[5] < 0.1
    there = f"{result.held_back.relative[5]:.0%}"
    told = [str(each.message) for each in warnings]
    assert any(
        f"fit: the residual of 'joint6' in the samples held back is {there} of its torque, and" in x for x in told
    )
