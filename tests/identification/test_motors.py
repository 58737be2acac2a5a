"""A wrist whose motors are coupled: everything at once, and the coupling that residuals suggest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import IdentificationWarning
from gdalembert.identification import Experiment, fit
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


def runs(noise: float, offsets: np.ndarray = OFFSETS) -> list[Experiment]:
    """Currents without a load, and with one of which the mass is known."""
    b, found = np.column_stack(list(COLUMNS.values())), []
    for seed, loaded in enumerate([False, True]):
        model, motion = wrist(), tuple(2.0 * part for part in fourier(np.random.default_rng(seed), 3, 2500))
        if loaded:
            frame = model.frames[model.getFrameId("tool")]
            model.inertias[frame.parentJoint] += frame.placement.act(LOAD)
        dyn = gd.NewtonEuler(model, friction=FRICTION, actuation=COLUMNS, motors=MOTORS)
        tau = dyn.inverse_dynamics(*(part.T for part in motion)).full()
        current = np.linalg.solve(b, tau).T / GAINS + offsets / GAINS
        sigma = noise * np.sqrt(np.mean(current**2, axis=0))
        known = {"tool.m": 2.0} if loaded else {"tool": pin.Inertia.Zero()}
        measured = current + sigma * np.random.default_rng(seed).normal(size=current.shape)
        found.append(Experiment(*motion, current=measured, known=known, label="loaded" if loaded else "free"))
    return found


@pytest.mark.long
def test_a_coupled_wrist_is_found_from_its_currents() -> None:
    """2 % of noise: each true value within 5 % or 3 deviations, gains within 3 %."""
    dyn = gd.NewtonEuler(
        wrist(),
        friction={"joint3": gd.Friction(0.0, 0.0, load=0.0)},
        actuation=COLUMNS,
        motors={name: gd.Motor() for name in COLUMNS},
        parameters={"inertia": True, "friction": True, "motors": True, "payload": ["tool"]},
    )
    result = fit(dyn, experiments=runs(0.02), offsets=True, method="weighted")
    assert result.joints == tuple(COLUMNS)
    found = np.array(list(result.gains.values()))
    assert np.abs(found / GAINS - 1).max() < 0.03
    assert np.all(np.abs(found - GAINS) < 4 * np.array(list(result.gains_standard_deviation.values())))
    true = {f"{name}.{what}": getattr(each, what) for name, each in MOTORS.items() for what in ("viscous", "coulomb")}
    true |= {"motor3.inertia": 0.2, "joint3.viscous": 0.2, "joint3.coulomb": 0.5, "joint3.load": 0.15}
    for name, value in true.items():
        close(name, result.parameters[name], value, result.standard_deviation[result.names.index(name)])
    for name, value in zip(COLUMNS, OFFSETS, strict=True):
        own = f"{name}.sensor_offset"
        close(own, result.coefficients[own], value, result.coefficients_standard_deviation[own])
    truth = dict.fromkeys(result.unknowns, 0.0) | dict(zip(dyn.parameters.names, dyn.parameters.values, strict=True))
    truth |= {f"{name}.inertia": each.inertia for name, each in MOTORS.items()} | true
    truth |= dict(zip((f"tool.{x}" for x in ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")),
                      LOAD.toDynamicParameters(), strict=True))  # fmt: skip
    truth |= {f"{name}.sensor_offset": x for name, x in zip(COLUMNS, OFFSETS, strict=True)}
    truth |= {f"{name}.gain": x for name, x in zip(COLUMNS, np.log(GAINS), strict=True)}
    exact = result.base.matrix @ [truth[name] for name in result.unknowns]
    for name, value, own, deviation in zip(
        result.base.names, result.base.values, exact, result.base.standard_deviation, strict=True
    ):
        close(name, value, own, deviation)


def close(name: str, value: float, true: float, deviation: float) -> None:
    assert abs(value - true) < max(0.05 * abs(true), 3.5 * deviation), (name, value, true, deviation)
    assert np.isfinite(deviation), name


@pytest.mark.parametrize("kind", ["tau", "current"])
def test_a_coupling_that_the_robot_does_not_have_is_suggested(kind: str) -> None:
    """Of torques of joints by the friction of the motors, of currents by the currents of the other motor."""
    kinds = {"inertia": True, "armature": True, "friction": True, "payload": ["tool"]}
    dyn = gd.NewtonEuler(wrist(), friction="model", parameters=kinds)
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
