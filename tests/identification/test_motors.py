"""A wrist whose motors are coupled: everything at once, and the coupling that residuals suggest."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from scipy.stats import chi2

import gdalembert as gd
from gdalembert.errors import ArgumentError, IdentificationWarning
from gdalembert.identification import Experiment, Identification, fit
from gdalembert.identification.sensors import Sensors
from gdalembert.model.inertia import DYNAMIC_PARAMETERS
from tests.helpers.identification import fourier

COLUMNS = {
    "motor1": np.array([1.0, 0.0, 0.0]),
    "motor2": np.array([0.0, 1.0, 0.0]),
    "motor3": np.array([0.0, 1.0, -1.5]),
}
MOTORS = {
    "motor1": gd.Motor(0.8, 1.0, 2.0),
    "motor2": gd.Motor(0.5, 0.8, 1.0),
    "motor3": gd.Motor(0.2, 0.4, 0.6),
}
FRICTION = {"joint3": gd.Friction(0.2, 0.5, load=0.15)}
GAINS, OFFSETS = np.array([11.0, 9.0, 6.0]), np.array([0.4, -0.2, 0.1])
LOAD = pin.Inertia(2.0, np.array([0.05, 0.08, 0.02]), np.diag([0.01, 0.012, 0.009]))


def wrist() -> pin.Model:
    """Three joints, the last two about crossing axes."""
    model = pin.Model()
    model.name = "wrist"
    bodies = [(4.0, (0.1, 0.02, 0.2)), (2.0, (0.02, 0.1, 0.05)), (1.0, (0.06, 0.01, 0.1))]
    joint, places = 0, [(0, 0, 0), (0.3, 0, 0.1), (0, 0.1, 0.2)]
    for k, (axis, (mass, center), place) in enumerate(zip("YZX", bodies, places, strict=True), start=1):
        kind = getattr(pin, f"JointModelR{axis}")()
        joint = model.addJoint(joint, kind, pin.SE3(np.eye(3), np.array(place)), f"joint{k}")
        model.appendBodyToJoint(joint, pin.Inertia(mass, np.array(center), 0.02 * mass * np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("tool", joint, pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.1])), pin.FrameType.OP_FRAME))
    return model


@cache
def robot(loaded: bool) -> gd.NewtonEuler:
    """The wrist as it is, with a load or without."""
    model = wrist()
    if loaded:
        frame = model.frames[model.getFrameId("tool")]
        model.inertias[frame.parentJoint] += frame.placement.act(LOAD)
    return gd.NewtonEuler(model, friction=FRICTION, actuation=COLUMNS, motors=MOTORS)


def runs(noise: float, offsets: np.ndarray = OFFSETS, *, seed: int = 0, step: int = 1) -> list[Experiment]:
    """Currents without a load, and with one of which the mass is known; every ``step``-th sample."""
    b, found = np.column_stack(list(COLUMNS.values())), []
    for k, loaded in enumerate([False, True]):
        motion = tuple(2.0 * part[::step] for part in fourier(np.random.default_rng(k), 3, 2500))
        tau = robot(loaded).inverse_dynamics(*(part.T for part in motion)).full()
        current = np.linalg.solve(b, tau).T / GAINS + offsets / GAINS
        sigma = noise * np.sqrt(np.mean(current**2, axis=0))
        known = {"tool.m": 2.0} if loaded else {"tool": pin.Inertia.Zero()}
        measured = current + sigma * np.random.default_rng([seed, k]).normal(size=current.shape)
        found.append(Experiment(*motion, current=measured, known=known, label="loaded" if loaded else "free"))
    return found


@cache
def sheet() -> gd.NewtonEuler:
    """The wrist with all that is to be found."""
    return gd.NewtonEuler(
        wrist(),
        friction={"joint3": gd.Friction(0.0, 0.0, load=0.0)},
        actuation=COLUMNS,
        motors={name: gd.Motor() for name in COLUMNS},
        parameters={"inertia": True, "friction": True, "motors": True, "payload": ["tool"]},
    )


def test_speeds_of_actuators_do_the_power_of_joints() -> None:
    """uᵀ w = tauᵀ v with tau = B u, by which motors stick or not."""
    u, v, b = np.array([1.0, -2.0, 3.0]), np.array([0.3, 0.2, -0.7]), np.column_stack(list(COLUMNS.values()))
    sensors = Sensors.of(sheet(), "current", 1.0)
    assert sensors.speeds == pytest.approx(b.T, abs=1e-15)
    assert u @ (sensors.speeds @ v) == pytest.approx((b @ u) @ v, rel=1e-12)
    assert sensors.matrix @ b == pytest.approx(np.eye(3), abs=1e-12)


def truth(result: Identification, dyn: gd.NewtonEuler) -> dict[str, float]:
    """All unknowns by name."""
    found = dict.fromkeys(result.unknowns, 0.0) | dict(zip(dyn.parameters.names, dyn.parameters.values, strict=True))
    quantities = ("inertia", "viscous", "coulomb")
    found |= {f"{name}.{what}": getattr(each, what) for name, each in MOTORS.items() for what in quantities}
    found |= {"joint3.viscous": 0.2, "joint3.coulomb": 0.5, "joint3.load": 0.15}
    body = (f"tool.{each}" for each in DYNAMIC_PARAMETERS)
    found |= dict(zip(body, LOAD.toDynamicParameters(), strict=True))
    found |= {f"{name}.sensor_offset": x for name, x in zip(COLUMNS, OFFSETS, strict=True)}
    return found | {f"{name}.gain": x for name, x in zip(COLUMNS, np.log(GAINS), strict=True)}


@pytest.mark.long
def test_a_coupled_wrist_is_found_from_its_currents() -> None:
    """2 % of noise: each true value within 5 % or 3 deviations, gains within 3 %."""
    dyn = sheet()
    result = fit(dyn, experiments=runs(0.02), offsets=True, method="weighted")
    assert result.joints == tuple(COLUMNS)
    found = np.array(list(result.gains.values()))
    assert np.abs(found / GAINS - 1).max() < 0.03
    assert np.all(np.abs(found - GAINS) < 3 * np.array(list(result.gains_standard_deviation.values())))
    true = truth(result, dyn)
    coefficients, deviations = result.coefficients, result.coefficients_standard_deviation
    for name, x in coefficients.items():
        close(name, x, true[name], deviations[name])
    alone = [f"{name}.{what}" for name in COLUMNS for what in ("viscous", "coulomb")]
    for name in (*alone, "motor3.inertia", "joint3.viscous", "joint3.coulomb", "joint3.load"):
        close(name, result.parameters[name], true[name], result.standard_deviation[result.names.index(name)])
    base = result.base
    exact = base.matrix @ [true[name] for name in result.unknowns]
    for name, x, own, deviation in zip(base.names, base.values, exact, base.standard_deviation, strict=True):
        close(name, x, own, deviation)


def close(name: str, value: float, true: float, deviation: float) -> None:
    assert abs(value - true) < max(0.05 * abs(true), 3 * deviation), (name, value, true, deviation)
    assert np.isfinite(deviation), name


@pytest.mark.long
def test_deviations_are_those_of_repeated_experiments() -> None:
    """Errors e with the covariance S of the result have eᵀ S⁻¹ e of the χ² distribution, a degree of freedom for each
    base parameter. In four experiments it lies between the quantiles of 0.1 and 99.9 %, beyond which deviations would
    be 25 % too small or too large."""
    dyn, squares, freedom = sheet(), 0.0, 0
    for seed in range(4):
        result = fit(dyn, experiments=runs(0.02, seed=seed, step=5), offsets=True, method="weighted")
        true = truth(result, dyn)
        errors = result.base.values - result.base.matrix @ [true[name] for name in result.unknowns]
        squares += errors @ np.linalg.solve(result.base.covariance, errors)
        freedom += len(errors)
    assert freedom == 4 * 42
    assert chi2.ppf(0.001, freedom) < squares < chi2.ppf(0.999, freedom)


@cache
def uncoupled() -> gd.NewtonEuler:
    """The wrist with all that is to be found of a robot without couplings."""
    kinds = {"inertia": True, "armature": True, "friction": True, "payload": ["tool"]}
    return gd.NewtonEuler(wrist(), friction="model", parameters=kinds)


@pytest.mark.parametrize("kind", ["tau", "current"])
def test_a_coupling_that_the_robot_does_not_have_is_suggested(kind: str) -> None:
    """Of torques of joints by the friction of the motors, of currents by the currents of the other motor."""
    dyn = uncoupled()
    given, b = runs(0.01, 0 * OFFSETS), np.column_stack(list(COLUMNS.values()))
    gains = dict(zip(dyn.coordinate_names, GAINS.tolist(), strict=True)) if kind == "current" else None
    if kind == "tau":
        efforts = [np.asarray(each.current) * GAINS @ b.T for each in given]
        given = [replace(each, tau=tau, current=None) for each, tau in zip(given, efforts, strict=True)]
    with pytest.warns(IdentificationWarning) as warnings:
        fit(dyn, experiments=given, gains=gains, method="weighted")
    what = "speed" if kind == "tau" else "current"
    told = f"the residual of 'joint2' follows the {what} of 'joint3'"
    assert any(told in str(each.message) and "motors are coupled?" in str(each.message) for each in warnings)


def test_a_coupling_that_is_another_one_is_not_asked_for() -> None:
    """Who has given the columns is told to look at them."""
    wrong = COLUMNS | {"motor3": np.array([0.0, -1.0, -1.5])}
    dyn = gd.NewtonEuler(
        wrist(),
        actuation=wrong,
        motors={name: gd.Motor() for name in wrong},
        parameters={"inertia": True, "motors": True, "payload": ["tool"]},
    )
    given, gains = runs(0.01, 0 * OFFSETS, step=4), dict(zip(wrong, GAINS.tolist(), strict=True))
    with pytest.warns(IdentificationWarning) as warnings:
        fit(dyn, experiments=given, gains=gains, method="weighted")
    told = [str(each.message) for each in warnings if "follows the current of 'motor3'" in str(each.message)]
    assert told[0].startswith("fit: the residual of 'motor2' follows")
    assert told[0].endswith("otherwise than the columns of actuation= say, or is a rotor not in motors=?")


@pytest.mark.long
def test_friction_under_load_tells_no_gains() -> None:
    """Its |tau| is rounded at an absolute torque, by which exact currents alone would tell them, and wrongly."""
    free = [runs(0.0, step=4)[0]]
    with pytest.raises(
        ArgumentError, match=r"^fit: the gains of 3 actuators cannot be known: .*; give gains=, or a run"
    ):
        fit(sheet(), experiments=free, method="weighted")
