"""Base parameters, by structure and in the data, and their least squares."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.errors import IdentificationWarning
from gdalembert.identification import experiment, fit
from gdalembert.identification.least_squares import in_p, named
from tests.helpers import models
from tests.helpers.identification import (
    PARAMETERS,
    fitted,
    fourier,
    panda,
    problem_of,
    stacked,
    with_friction,
)
from tests.helpers.sets import quick, with_extras


@cache
def arm() -> tuple[pin.Model, gd.NewtonEuler, tuple[np.ndarray, ...]]:
    """A two-link arm with armatures and friction, its dynamics of a data sheet that mentions none, and a motion."""
    real = gd.load_urdf("two_link_arm")
    real.armature, real.damping, real.friction = np.array([20.0, 5.0]), np.array([2.0, 0.5]), np.array([1.0, 3.0])
    dyn = with_friction(gd.load_urdf("two_link_arm"), PARAMETERS)
    return real, dyn, fourier(np.random.default_rng(3), 2, 400)


def torques(real: pin.Model, motion: tuple[np.ndarray, ...], noise: float) -> np.ndarray:
    """With noise as a part of the root mean square of each."""
    exact = with_friction(real).inverse_dynamics(*(part.T for part in motion)).full().T
    return exact + noise * np.sqrt(np.mean(exact**2, axis=0)) * np.random.default_rng(0).normal(size=exact.shape)


@pytest.mark.parametrize("method", ["weighted", "ordinary"])
def test_noise_does_not_decide_what_is_excited(method: Any) -> None:
    real, dyn, motion = arm()
    exact = fit(dyn, *motion, torques(real, motion, 0.0), method=method)
    noisy = fit(dyn, *motion, torques(real, motion, 0.3), method=method)
    assert len(noisy.base) == noisy.structural_rank == 11
    assert noisy.base.names == exact.base.names
    assert np.abs(noisy.base.matrix).max() == 1.0
    assert noisy.not_identifiable.not_excited == ()
    assert noisy.not_identifiable.directions.shape == (0, 26)
    off = (noisy.base.values - exact.base.values) / noisy.base.standard_deviation
    assert np.abs(off).max() < 4
    armature = noisy.names.index("joint2.armature")  # 0 in the data sheet
    assert noisy.standard_deviation[armature] < 0.1 * noisy.values[armature]


@pytest.mark.filterwarnings("ignore:fit. the torque of .* check its unit")
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_data_sheet_does_not_decide_what_is_excited(scale: float) -> None:
    """Friction and armature of the data sheet, and the unit of its masses."""
    real, _, motion = arm()
    nominal = real.copy()
    nominal.armature, nominal.damping, nominal.friction = (scale * each for each in (real.armature,) * 3)
    for k in (1, 2):
        nominal.inertias[k] = pin.Inertia(*(scale * x if k != 1 else x for k, x in enumerate(parts(real.inertias[k]))))
    result = fit(with_friction(nominal, PARAMETERS), *motion, torques(real, motion, 0.1), method="weighted")
    assert len(result.base) == result.structural_rank == 11
    assert result.parameters["joint2.coulomb"] == pytest.approx(3.0, rel=0.05)


def parts(body: pin.Inertia) -> tuple[float, np.ndarray, np.ndarray]:
    return body.mass, body.lever, body.inertia


@pytest.mark.filterwarnings("ignore:fit. the speed of .* is at most")
def test_a_joint_that_does_not_move_keeps_the_data_sheet() -> None:
    real, dyn, (q, v, a) = arm()
    q[:, 1], v[:, 1], a[:, 1] = 0.4, 0.0, 0.0
    result = fit(dyn, q, v, a, torques(real, (q, v, a), 0.01), method="weighted")
    hidden = {"joint2.armature", "joint2.viscous", "joint2.coulomb"}
    assert hidden <= set(result.not_identifiable.not_excited)
    assert len(result.base) == 11 - len(result.not_identifiable.directions) == 8
    for name in hidden:
        assert result.parameters[name] == pytest.approx(0, abs=1e-12)  # of the data sheet
        assert result.standard_deviation[result.names.index(name)] == np.inf
    assert np.abs(result.fitted.relative).max() < 0.015
    assert "not excited by the samples: " in str(result)


def test_a_joint_at_constant_speed_tells_the_sum_of_its_friction() -> None:
    real, dyn, (q, v, a) = arm()
    q[:, 1], v[:, 1], a[:, 1] = np.linspace(0, 6, 400), 0.3, 0.0
    result = fit(dyn, q, v, a, torques(real, (q, v, a), 0.01), method="weighted")
    assert {"joint2.viscous", "joint2.coulomb", "joint2.armature"} <= set(result.not_identifiable.not_excited)
    assert result.parameters["joint2.armature"] == pytest.approx(0, abs=1e-12)
    found = [k for k, name in enumerate(result.base.names) if "joint2.viscous" in name]
    assert [result.base.names[k] for k in found] == ["joint2.viscous + 3.33333*joint2.coulomb"]
    assert result.base.values[found] == pytest.approx(0.5 + 3.0 / 0.3, rel=0.01)


@pytest.mark.filterwarnings("ignore:fit. the speed of .* is at most")
@pytest.mark.parametrize("speed", [1e-3, 1e-5, 1e-7, 1e-9])
def test_the_noise_of_an_encoder_tells_no_friction(speed: float) -> None:
    """A joint that is held, whose velocity is noise: viscous and Coulomb friction look the same, 100 times apart."""
    real, dyn, (q, v, a) = arm()
    q[:, 1], v[:, 1], a[:, 1] = 0.4, 0.0, 0.0
    tau = torques(real, (q, v, a), 0.01)
    rng = np.random.default_rng(1)
    v[:, 1], a[:, 1] = speed * rng.normal(size=400), 100 * speed * rng.normal(size=400)
    result = fit(dyn, q, v, a, tau, method="weighted")
    assert "joint2.viscous" in result.not_identifiable.not_excited
    assert abs(result.parameters["joint2.viscous"]) < 0.5
    assert len(result.base) < 11


@pytest.mark.long
def test_a_joint_that_stands_still_is_reported_with_names() -> None:
    e = panda(600, "joint7")
    with pytest.warns(IdentificationWarning, match=r"the speed of 'joint7' is at most 0 in all samples"):
        result = fitted(e, method="weighted", held_back=0.25)
    missing = result.not_identifiable
    assert result.structural_rank == 62
    assert len(result.base) == 62 - len(missing.directions)
    assert {"joint7.armature", "joint7.viscous", "joint7.coulomb"} <= set(missing.not_excited)
    assert {"joint7.armature", "joint7.viscous", "joint7.coulomb"} <= set(missing.parameters)
    assert all("joint7" in name for name in missing.not_excited)
    assert "not excited by the samples: " in str(result)
    assert "joint7.viscous" in str(result)
    assert result.held_back is not None
    assert result.held_back.rms == pytest.approx(e.sigma, rel=0.2)
    for name in ("joint7.armature", "joint7.viscous", "joint7.coulomb"):
        k = result.names.index(name)
        assert result.standard_deviation[k] == np.inf
        assert result.values[k] == pytest.approx(0, abs=1e-12)  # the model's
    y = stacked(e)
    scale = np.abs(y).max()
    assert np.all(np.abs(y @ missing.directions.T) <= 1e-2 * scale * np.abs(missing.directions).max(axis=1))


@pytest.mark.long
def test_parameters_that_no_motion_tells_are_reported_apart() -> None:
    missing = fitted(panda(), method="weighted").not_identifiable
    assert {"joint1.m", "joint1.mx", "joint1.Ixx"} <= set(missing.without_effect)
    assert {"joint7.m", "joint3.mz"} <= set(missing.combined)
    assert missing.not_excited == ()
    assert missing.directions.shape == (0, 91)
    assert set(missing.parameters) == {*missing.without_effect, *missing.combined}


RANKS = [("puma560_benchmark", 36), ("panda7", 43), ("ur5", 36), ("panda", 51), ("solo12", 94)]


@pytest.mark.parametrize(("robot", "rank"), [*quick(RANKS[:2], RANKS[0]), *with_extras(quick(RANKS[2:]))])
def test_the_structural_rank_is_that_of_the_literature(robot: str, rank: int) -> None:
    dyn = gd.NewtonEuler(robots.load(robot), parameters=["inertia"])
    problem = problem_of(dyn)
    by_geometry = dyn.base_parameters.matrix * problem.sizes
    assert len(problem.structure.pivots) == len(by_geometry) == rank
    basis, _ = np.linalg.qr(by_geometry.T)  # the same row space
    rows, _ = np.linalg.qr(problem.structure.matrix.T)
    assert np.abs(rows - basis @ (basis.T @ rows)).max() < 1e-9  # the tolerance of the rank


@pytest.mark.long
def test_base_parameters_have_the_factor_one_for_their_own_parameter() -> None:
    base = fitted(panda(), method="weighted").base
    own = [panda().dyn.parameters.names.index(name.split()[0]) for name in base.names]
    assert np.array_equal(base.matrix[:, own], np.eye(62))
    assert "joint1.Izz + joint2.Iyy + joint1.armature" in base.names
    assert base.nominal == pytest.approx(base.matrix @ panda().dyn.parameters.values, rel=1e-12)


@pytest.mark.long
def test_base_parameters_of_a_free_flyer_belong_to_the_link_nearest_to_the_base() -> None:
    """The mass of a whole robot stands first in its formula."""
    model = models.build(np.random.default_rng(0), ["FreeFlyer", "RZ"], [0, 1])
    problem = problem_of(gd.NewtonEuler(model, parameters=["inertia"]))
    own = problem.structure.pivots
    assert named(in_p(problem.structure, problem.sizes)[0], own[0], problem.names) == "FreeFlyer_0.m + RZ_1.m"
    assert [problem.names[k] for k in own[:10]] == list(problem.names[:10])
    assert not {"RZ_1.m", "RZ_1.mz", "RZ_1.Iyy"} & {problem.names[k] for k in own}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:fit. .* of 57 base parameters are uncertain")
def test_values_that_small_motion_tells_are_not_listed() -> None:
    """The directions that it does not excite have small parts of every parameter."""
    real = gd.load_urdf("panda7")
    real.armature, real.damping, real.friction = np.full(7, 0.1), np.full(7, 1.0), np.full(7, 0.5)
    motion = tuple(0.02 * part for part in fourier(np.random.default_rng(3), 7, 400))
    dyn = with_friction(gd.load_urdf("panda7"), PARAMETERS)
    result = fit(dyn, *motion, torques(real, motion, 0.1), method="weighted")
    assert len(result.base) < result.structural_rank
    known = {f"joint{k}.{name}" for k in range(1, 8) for name in ("coulomb", "viscous")}
    assert known.isdisjoint(result.not_identifiable.not_excited)
    friction = [result.names.index(name) for name in sorted(known) if name.endswith("coulomb")]
    assert np.abs((result.values[friction] - 0.5) / result.standard_deviation[friction]).max() < 4


@pytest.mark.long
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


@cache
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
    monkeypatch.setattr(experiment, "_AT_ONCE", 250)
    parts = fitted(e, method="weighted")
    assert models.relative_error(parts.values, whole.values) < 1e-10  # times the condition of the data
    assert models.relative_error(parts.fitted.predicted, whole.fitted.predicted) < 1e-12


@pytest.mark.long
@pytest.mark.parametrize("weighted", [True, False])
def test_standard_deviations_cover_the_true_base_parameters(weighted: bool) -> None:
    """Over 10 seeds the sum of (b − true)ᵀ cov⁻¹ (b − true) is chi-square with 10 r degrees of freedom.

    Bounds at four standard deviations; the estimated noise adds 2 / N. Of single deviations 95 % lie within 1.96.
    """
    e = panda(300)
    sigma = e.sigma if weighted else np.full(7, 0.1)
    torques = [e.exact + sigma * np.random.default_rng(seed).normal(size=e.exact.shape) for seed in range(10)]
    chi_square, inside = [], []
    for tau in torques:
        problem = problem_of(e.dyn, e.q, e.v, e.a, tau)
        descent = problem.estimate(weighted=weighted)
        base = problem.base(descent.estimate, problem.x(descent.s))
        error = base.values - base.matrix @ e.p
        chi_square.append(error @ np.linalg.solve(base.covariance, error) / len(base))
        inside.append(np.abs(error) < 1.96 * base.standard_deviation)
    spread = np.sqrt(2 / (10 * 62))
    assert len(base) == 62
    assert abs(np.mean(chi_square) - 1 - 2 / 300) < 4 * spread
    assert abs(np.mean(inside) - 0.95) < 0.03


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
