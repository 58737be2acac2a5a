"""The fit: torques that were held back are predicted, parameters found, and what the data cannot tell is said."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.dynamics.friction import SMOOTHING
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.identification import IdentificationError, IdentificationWarning, decimated, fit
from gdalembert.identification.fit import METHODS
from tests.helpers import models
from tests.helpers.identification import (
    PARAMETERS,
    Experiment,
    believed,
    exact_torques,
    fitted,
    fourier,
    panda,
    refused,
    with_friction,
)

JOINTS = (["FreeFlyer", "RevoluteUnaligned", "Spherical"], ["RUBX", "PrismaticUnaligned", "Planar"])
pytestmark = pytest.mark.extras


@pytest.mark.parametrize("method", METHODS)
def test_torques_held_back_are_predicted_to_the_noise(method: Any) -> None:
    """On 150 samples the rms of the noise itself varies by 6 %; least squares add 62 / (7 · 450) of the variance."""
    e = panda()
    result = fitted(e, method=method, held_back=0.25)
    assert result.held_back is not None
    assert result.held_back.measured.shape == (150, 7)
    error = result.held_back.predicted - e.exact[450:]
    if method == "ordinary":  # one noise for all joints: the largest of them
        assert np.sqrt(np.mean(error**2)) < np.sqrt(np.mean(e.sigma**2))
    else:
        assert np.all(np.sqrt(np.mean(error**2, axis=0)) < 0.5 * e.sigma)
        assert result.held_back.rms == pytest.approx(e.sigma, rel=0.2)
        assert result.noise == pytest.approx(e.sigma, rel=0.15)
        assert np.all(result.held_back.relative < 0.02)


def test_the_model_moves_as_the_data_do() -> None:
    """Its torques by Pinocchio, with the friction that it says it has, are those that are predicted."""
    e = panda()
    result = fitted(e, held_back=0.25)
    assert result.held_back is not None
    model, data = result.model, result.model.createData()
    rows = range(450, 600)
    tau = np.array([pin.rnea(model, data, e.q[k], e.v[k], e.a[k]) for k in rows])
    tau += model.damping * e.v[450:] + model.friction * np.tanh(e.v[450:] / SMOOTHING)
    assert models.relative_error(tau, result.held_back.predicted) < 1e-12
    assert with_friction(model, PARAMETERS).parameters.values == pytest.approx(result.values, rel=1e-12, abs=1e-15)
    result.model.inertias[1] = pin.Inertia.Zero()
    assert result.model.inertias[1].mass > 0  # each is a copy


@pytest.mark.parametrize("method", METHODS[1:])
def test_torques_of_another_trajectory_are_predicted_to_the_noise(method: Any) -> None:
    """A trajectory of other frequencies and phases, 600 samples: the rms of its noise varies by 3 %."""
    e = panda()
    motion = fourier(np.random.default_rng(99), 7, 600, seconds=13.0)
    exact = with_friction(e.truth).inverse_dynamics(*(part.T for part in motion)).full().T
    measured = exact + e.sigma * np.random.default_rng(7).normal(size=exact.shape)
    result = fitted(e, method=method, held_back=(*motion, measured))
    assert result.held_back is not None
    assert result.held_back.rms == pytest.approx(e.sigma, rel=0.15)


@pytest.mark.parametrize("method", METHODS)
def test_data_without_noise_give_the_parameters_exactly(method: Any) -> None:
    """To the condition of the data, 1e3, times rounding; of the consistent fit to the accuracy of its solver."""
    e = panda()
    result = fit(e.dyn, e.q, e.v, e.a, e.exact, method=method)
    assert models.relative_error(result.fitted.predicted, e.exact) < 1e-11
    assert models.relative_error(result.base.values, result.base.matrix @ e.p) < 1e-10
    alone = np.isfinite(result.standard_deviation)
    assert 40 > np.count_nonzero(alone) > 30
    assert models.relative_error(result.values[alone], e.p[alone]) < 1e-10


@pytest.mark.parametrize("kinds", JOINTS, ids=["-".join(kinds) for kinds in JOINTS])
def test_any_joint_type(kinds: list[str]) -> None:
    """Free-flyers, quaternions, cos and sin: torques without noise are fitted exactly by bodies that exist."""
    rng = np.random.default_rng(3)
    truth = models.build(rng, kinds, [0, 1, 2])
    states = [np.array(part) for part in zip(*models.states(truth, rng, 150), strict=True)]
    tau = exact_torques(truth, states)
    nominal = believed(truth, rng)
    result = fit(gd.NewtonEuler(nominal, parameters=["inertia"]), *states, tau, model=nominal)
    assert models.relative_error(result.fitted.predicted, tau) < 1e-6  # the accuracy of the solver
    assert result.is_consistent
    assert (
        models.relative_error(exact_torques(result.model, states), result.fitted.predicted) < 1e-9
    )  # a sum of masses from moments about origins


def test_a_payload_is_found() -> None:
    """All ten parameters of a body at a frame: nothing else of the robot is estimated."""
    robot, loaded = gd.load_urdf("panda7"), gd.load_urdf("panda7")
    body = pin.Inertia(1.3, np.array([0.02, -0.03, 0.1]), np.diag([0.004, 0.005, 0.003]))
    frame = robot.frames[robot.getFrameId("link7")]
    loaded.inertias[frame.parentJoint] += frame.placement.act(body)
    motion = fourier(np.random.default_rng(0), 7, 400)
    exact = exact_torques(loaded, motion)
    sigma = 0.01 * np.sqrt(np.mean(exact**2, axis=0))
    tau = exact + sigma * np.random.default_rng(1).normal(size=exact.shape)
    result = fit(gd.NewtonEuler(robot, parameters={"payload": ["link7"]}), *motion, tau, model=robot)
    assert result.structural_rank == len(result.base) == 10
    assert result.not_identifiable.parameters == ()
    error = result.values - body.toDynamicParameters()
    assert np.all(np.abs(error) < 4 * result.standard_deviation)
    assert result.parameters["link7.m"] == pytest.approx(1.3, rel=0.01)
    added = result.model.inertias[7] - robot.inertias[7]
    assert added.mass == pytest.approx(result.parameters["link7.m"], rel=1e-12)


def test_base_parameters_in_place_of_inertia() -> None:
    e = panda()
    dyn = gd.NewtonEuler(e.truth, parameters=["base"])
    exact = gd.NewtonEuler(e.truth).inverse_dynamics(e.q.T, e.v.T, e.a.T).full().T
    tau = exact + e.sigma * np.random.default_rng(0).normal(size=exact.shape)
    result = fit(dyn, e.q, e.v, e.a, tau, model=e.truth, method="weighted")
    assert sorted(result.base.names) == sorted(dyn.parameters.names)
    error = result.values - dyn.parameters.values
    assert 43 - 5 * np.sqrt(86) < error @ np.linalg.solve(covariance_in_order(result), error) < 43 + 5 * np.sqrt(86)
    with pytest.raises(UnsupportedError, match="give model= to fit, and identify bodies, not base parameters"):
        _ = result.model
    with pytest.raises(ArgumentError, match=r"^fit: base parameters are not those of bodies .* in place of 'base', or"):
        refused(dyn=dyn)


def covariance_in_order(result: gd.identification.Identification) -> np.ndarray:
    order = [result.base.names.index(name) for name in result.names]
    return result.base.covariance[np.ix_(order, order)]


def test_a_joint_that_mimics_another() -> None:
    rng = np.random.default_rng(2)
    truth = models.build(rng, ["RX", "RevoluteUnaligned"], [0, 1], mimic=1)
    states = [np.array(part) for part in zip(*models.states(truth, rng, 100), strict=True)]
    tau = gd.NewtonEuler(truth).inverse_dynamics(*(part.T for part in states)).full().T
    result = fit(gd.NewtonEuler(believed(truth, rng), parameters=["inertia"]), *states, tau)
    assert models.relative_error(result.fitted.predicted, tau) < 1e-6  # the accuracy of the solver


def test_a_flexible_arm() -> None:
    """The rigid link of an arm whose other link bends."""
    link = gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=10.0), gd.modes.clamped_free(2))
    truth = gd.load_urdf("two_link_flexible")
    nominal = truth.copy()
    nominal.inertias[1] = pin.Inertia(0.4, np.array([0.3, 0.0, 0.0]), 0.1 * np.eye(3))
    true, arm = (gd.FlexibleArm(model, {"link2": link}, parameters=["inertia"]) for model in (truth, nominal))
    rng, nv = np.random.default_rng(0), arm.nominal.nv
    states = [0.1 * rng.normal(size=(60, nv)), rng.normal(size=(60, nv)), rng.normal(size=(60, nv))]
    tau = true.at().inverse_dynamics(*(part.T for part in states)).full().T
    result = fit(arm, *states, tau)
    assert result.base.names == ("joint1.Izz",)
    assert result.joints == arm.coordinate_names
    assert result.parameters["joint1.Izz"] == pytest.approx(true.parameters["joint1.Izz"], rel=1e-10)


def test_other_samples_can_be_held_back() -> None:
    e = panda()
    parts = (e.q[:50], e.v[:50], e.a[:50], e.exact[:50])
    result = fitted(e, held_back=parts, method="weighted")
    assert result.held_back is not None
    assert np.array_equal(result.held_back.measured, e.exact[:50])
    assert len(result.fitted.measured) == 600


def test_the_report_is_a_screen_and_details_say_everything() -> None:
    result = fitted(panda(), held_back=0.25)
    text = str(result)
    assert text == result.report
    assert text.startswith("panda7: 91 parameters by the consistent fit of 450 samples, 150 held back\n")
    assert "base parameters   62 of 62 excited, condition number " in text
    for words in ("held back  relative", "known in combinations alone", "without effect on any torque", "coulomb"):
        assert words in text
    lines = text.splitlines()
    assert len(lines) <= 49
    assert max(map(len, lines)) <= 120
    assert all(name in result.details for name in ("joint7.m ", "joint1.Izz + joint2.Iyy", "base parameter"))
    assert max(map(len, result.details.splitlines())) < 250
    assert repr(result) == "Identification('panda7', method='consistent', 62 base parameters)"


def test_results_can_be_pickled() -> None:
    result = fitted(panda(), held_back=0.25)
    again = pickle.loads(pickle.dumps(result))
    assert str(again) == str(result)
    assert again.model == result.model


def test_without_a_model_there_is_none() -> None:
    with pytest.raises(UnsupportedError, match="there is no model: give model= to fit, and identify bodies"):
        _ = refused(method="ordinary").model


def test_decimation_makes_errors_independent() -> None:
    """Noise of a tenth of the band, as filtered torques have it: too small standard deviations without decimation.

    The mean square of 15 to 20 errors in units of their standard deviations is 1 ± 0.4; without decimation it is ten.
    """
    rng = np.random.default_rng(8)
    model = gd.load_urdf("puma560_3")
    dyn = gd.NewtonEuler(model, parameters={"inertia": True, "armature": True})
    q, v, a = fourier(rng, model.nv, 4000)
    exact = dyn.inverse_dynamics(q.T, v.T, a.T, dyn.parameters.values).full().T
    off = {1: [], 10: []}
    for _ in range(5):
        white = rng.normal(size=(10 * len(q) + 10, model.nv))
        noise = np.array([np.convolve(column, np.ones(10) / 10, "same") for column in white.T]).T[: len(q)]
        for decimation, found in off.items():
            result = fit(dyn, q, v, a, exact + noise, method="weighted", decimation=decimation)
            error = result.base.values - result.base.matrix @ dyn.parameters.values
            found.append(np.mean((error / result.base.standard_deviation) ** 2))
    assert np.mean(off[1]) > 5
    assert 0.5 < np.mean(off[10]) < 2


def test_decimation_does_not_change_what_is_exact() -> None:
    """Friction that jumps included: both sides pass the same filter."""
    e = panda()
    result = fit(e.dyn, e.q, e.v, e.a, e.exact, method="weighted", decimation=5)
    assert result.base.values == pytest.approx(result.base.matrix @ e.p, rel=1e-6, abs=1e-6)
    with pytest.raises(ArgumentError, match=r"^fit: decimation: got 0; give an integer of at least 1$"):
        fitted(e, decimation=0)
    with pytest.raises(ArgumentError, match=r"^fit: decimation filters across .* row 7, column 0 has another"):
        fitted(e, decimation=5, weights=np.where(np.arange(600) == 7, 0.0, 1.0))
    with pytest.raises(ArgumentError, match=r"^decimated: 600 rows are too few for factor 50; give at least 1201$"):
        fitted(e, decimation=50)


@pytest.mark.parametrize(("kind", "method"), [("friction", METHODS[0]), *(("armature", each) for each in METHODS[1:])])
def test_data_that_know_nothing_leave_everything_as_it_was(kind: str, method: Any) -> None:
    e = panda()
    still = np.zeros_like(e.v)
    exact = with_friction(e.nominal).inverse_dynamics(e.q.T, still.T, still.T).full().T
    tau = exact + e.sigma * np.random.default_rng(0).normal(size=exact.shape)
    dyn = with_friction(e.nominal, {kind: True})
    told = rf"^fit: the samples excite none of {len(dyn.parameters)} base parameters, at speeds of at most 0; all"
    with pytest.warns(IdentificationWarning) as caught:  # and that joint1, whose axis is vertical, shows noise alone
        result = fit(dyn, e.q, still, still, tau, model=e.nominal, method=method)
    assert any(re.match(told, str(warning.message)) for warning in caught)
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
    assert result.remarks[0] in said(result)
    assert fitted(e).remarks == ()


def test_torques_that_are_0_do_not_blame_bounds_that_nobody_gave() -> None:
    e = panda()
    told = r"^fit: the solver Clarabel finds no physically consistent parameters: .*; check that tau are the measured"
    with pytest.raises(IdentificationError, match=told):
        fit(e.dyn, e.q, e.v, e.a, np.zeros_like(e.exact))


def test_a_torque_that_is_0_has_no_relative_residual() -> None:
    e = panda()
    tau = e.exact.copy()
    tau[:, 2] = 0
    with pytest.warns(IdentificationWarning, match=r"the torque of 'joint3' is 0 in all samples, though it moves"):
        report = str(fit(e.dyn, e.q, e.v, e.a, tau, method="ordinary"))
    row = next(line.split() for line in report.splitlines() if e.dyn.coordinate_names[2] in line.split()[:1])
    assert row[-1] == "–"
    assert "nan" not in report
    assert "inf" not in report


def test_few_samples_are_told() -> None:
    e = panda()
    few = [part[::50] for part in (e.q, e.v, e.a, e.measured(0))]
    with pytest.warns(IdentificationWarning, match=r"^fit: 84 torques are few for 62 base .*; give at least 124$"):
        result = fit(e.dyn, *few, method="weighted")
    assert result.remarks[0] in said(result)


def said(result: gd.identification.Identification) -> str:
    """The report without the breaks of lines."""
    return " ".join(str(result).split())


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
    assert result.remarks[0] in said(result)
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
        match=r"^fit: the model cannot explain the data: .*% of its torque, .*; check|times the noise",
    ):
        fit(e.dyn, e.q, e.v, e.a, noise, method=method)


def test_bounds_against_the_data_are_told() -> None:
    e = panda()
    with pytest.warns(IdentificationWarning, match=r"of 'joint7' is .* times the noise that least squares find; check"):
        result = fitted(e, bounds={"joint7.viscous": (30.0, None)})
    assert np.all(result.residual[6] > 1.5 * result.noise[6])


def held_back(e: Experiment, nominal: pin.Model, method: Any) -> gd.identification.Identification:
    result = fit(with_friction(nominal, PARAMETERS), e.q, e.v, e.a, e.measured(0), method=method, held_back=0.25)
    assert result.held_back is not None
    assert result.held_back.rms == pytest.approx(e.sigma, rel=0.2)
    assert len(result.base) == result.structural_rank == 62
    assert result.not_identifiable.not_excited == ()
    return result


@pytest.mark.parametrize("method", ["weighted", "consistent"])
@pytest.mark.parametrize("tiny", [1e-2, 1e-3, 1e-5])
def test_tiny_nominal_friction_and_armature_are_found(tiny: float, method: Any) -> None:
    e = panda()
    nominal = e.nominal.copy()
    nominal.armature, nominal.damping, nominal.friction = (np.full(7, tiny) for _ in range(3))
    result = held_back(e, nominal, method)
    for k, name in enumerate(result.names):
        if name.endswith(("viscous", "coulomb")):
            assert abs(result.values[k] - e.p[k]) < 5 * result.standard_deviation[k] < np.inf


@pytest.mark.parametrize("part", [1e-4, 1e-7])
def test_a_body_that_nominally_weighs_nothing_is_found(part: float) -> None:
    e = panda()
    nominal = e.nominal.copy()
    last = nominal.inertias[7]
    nominal.inertias[7] = pin.Inertia(part * last.mass, last.lever, part * last.inertia)
    found = held_back(e, nominal, "weighted")
    off = (found.base.values - found.base.matrix @ e.p) / found.base.standard_deviation
    assert np.sqrt(np.mean(off**2)) < 1.4
    assert held_back(e, nominal, "consistent").is_consistent
