"""What data and the structure of a robot let anyone know, and what is reported as unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.identification import fit
from gdalembert.identification.identifiability import named
from gdalembert.identification.problem import Problem
from tests.helpers import models
from tests.helpers.identification import PARAMETERS, fitted, fourier, panda, stacked, with_friction
from tests.helpers.sets import quick, with_extras


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
    problem = Problem.of("fit", dyn)
    by_geometry = dyn.base_parameters.matrix * problem.sizes
    assert len(problem.structure.own) == len(by_geometry) == rank
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
    problem = Problem.of("fit", gd.NewtonEuler(model, parameters=["inertia"]))
    own = problem.structure.own
    assert named(problem.in_p(problem.structure)[0], own[0], problem.torque.names) == "FreeFlyer_0.m + RZ_1.m"
    assert [problem.torque.names[k] for k in own[:10]] == list(problem.torque.names[:10])
    assert not {"RZ_1.m", "RZ_1.mz", "RZ_1.Iyy"} & {problem.torque.names[k] for k in own}


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
