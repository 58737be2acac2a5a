"""Currents, drive gains, offsets, and measurements that are missing or wrong."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import minimize

import gdalembert as gd
from gdalembert.errors import ArgumentError, IdentificationWarning, UnknownNameError, UnsupportedError
from gdalembert.identification import Experiment, fit
from tests.helpers import models
from tests.helpers.identification import PARAMETERS, exact_torques, fourier, problem_of, with_friction

GAINS = np.array([12.0, 8.0])
LOAD = pin.Inertia(3.0, np.array([0.1, -0.05, 0.02]), np.diag([0.02, 0.03, 0.04]))


def arm() -> pin.Model:
    """Two links with armature and friction."""
    real = gd.load_urdf("two_link_arm")
    real.armature, real.damping, real.friction = np.array([2.0, 0.5]), np.array([2.0, 0.5]), np.array([1.0, 3.0])
    return real


@cache
def exact(loaded: bool) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """A motion and its torques."""
    motion, robot = fourier(np.random.default_rng(3 + loaded), 2, 600), arm()
    if loaded:
        frame = robot.frames[robot.getFrameId("link2")]
        robot.inertias[frame.parentJoint] += frame.placement.act(LOAD)
    return motion, with_friction(robot).inverse_dynamics(*(part.T for part in motion)).full().T


def run(loaded: bool, noise: float, seed: int, **known: Any) -> Experiment:
    """Currents of a motion, with noise as a part of their root mean square."""
    motion, tau = exact(loaded)
    current = tau / GAINS
    size = np.sqrt(np.mean(current**2, axis=0))
    return Experiment(
        *motion, current=current + noise * size * np.random.default_rng(seed).normal(size=current.shape), **known
    )


def runs(noise: float, seed: int = 0) -> list[Experiment]:
    return [
        run(False, noise, 2 * seed, known={"link2": pin.Inertia.Zero()}, label="unloaded"),
        run(True, noise, 2 * seed + 1, known={"link2.m": LOAD.mass}, label="loaded"),
    ]


@cache
def sheet() -> gd.NewtonEuler:
    return with_friction(gd.load_urdf("two_link_arm"), PARAMETERS | {"payload": ["link2"]})


@pytest.mark.long
def test_gains_follow_from_a_run_without_a_load_and_one_of_which_the_mass_is_known() -> None:
    """To the accuracy that their deviations say, of 1 % of noise and 4 seeds; the other numbers of the load too."""
    off = []
    for seed in range(4):
        result = fit(sheet(), experiments=runs(0.01, seed), method="weighted")
        found = np.array(list(result.gains.values()))
        assert np.abs(found / GAINS - 1).max() < 0.03
        off.append((found - GAINS) / list(result.gains_standard_deviation.values()))
    assert 0.3 < np.sqrt(np.mean(np.square(off))) < 1.5
    assert result.parameters["link2.m"] == LOAD.mass
    assert result.parameters["link2.mx"] == pytest.approx(0.3, rel=0.05)
    assert tuple(result.gains) == ("joint1", "joint2")
    assert result.unknowns[-2:] == ("joint1.gain", "joint2.gain")


@pytest.mark.extras
def test_exact_currents_give_exact_gains_and_bodies_that_exist() -> None:
    result = fit(sheet(), experiments=runs(0.0), model=gd.load_urdf("two_link_arm"))
    assert list(result.gains.values()) == pytest.approx(GAINS, rel=1e-8)
    assert result.is_consistent
    assert result.parameters["link2.m"] == pytest.approx(LOAD.mass, rel=1e-9)  # a constraint of the solver
    assert result.model.nv == 2


@pytest.mark.long
def test_gains_are_those_of_the_largest_likelihood() -> None:
    """Of all gains those with the least Σ log |i − f / k|², each with the best p: by a search over them."""
    given, dyn = runs(0.05), sheet()
    result = fit(dyn, experiments=given, method="weighted")
    unloaded, loaded = (
        problem_of(with_friction(arm(), kinds), *_states(each))
        for each, kinds in zip(given, ({**PARAMETERS, "payload": ["link2"]},) * 2, strict=True)
    )
    y = []
    for problem, each, is_loaded in ((unloaded, given[0], False), (loaded, given[1], True)):
        rows, fixed = problem.efforts.derivatives(np.zeros(len(problem.efforts.names)), *problem.runs[0].samples.states)
        payload = [k for k, name in enumerate(problem.efforts.names) if name.startswith("link2.")]
        fixed = fixed + rows[:, :, payload[0]] * (LOAD.mass if is_loaded else 0.0)
        rows[:, :, payload if not is_loaded else payload[:1]] = 0.0
        y.append((rows, fixed, np.asarray(each.current)))
    rows, fixed, current = (np.concatenate(part) for part in zip(*y, strict=True))

    def cost(log_gains: np.ndarray) -> float:
        gains, noise = np.exp(log_gains), np.ones(2)
        for _ in range(30):
            scale = 1 / (gains * noise)
            left = (rows * scale[:, None]).reshape(-1, rows.shape[2])
            right = (current / noise - fixed * scale).ravel()
            residuals = (right - left @ np.linalg.lstsq(left, right, rcond=1e-10)[0]).reshape(-1, 2) * noise
            noise = np.sqrt(np.mean(residuals**2, axis=0))
        return float(np.sum(np.log(noise)))

    best = minimize(cost, np.log(GAINS), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-13})
    assert list(result.gains.values()) == pytest.approx(np.exp(best.x), rel=2e-5)


def _states(each: Experiment) -> list[np.ndarray]:
    return [np.asarray(part) for part in (each.q, each.v, each.a, each.current)]


def test_gains_that_nothing_tells_are_refused() -> None:
    told = r"^fit: the gains of 2 actuators cannot be known: 'joint1', 'joint2'; .*; give gains=, or a run with a load"
    with pytest.raises(ArgumentError, match=told):
        fit(sheet(), experiments=[run(False, 0.01, 0)], method="weighted")
    with pytest.raises(UnknownNameError, match=r"no actuator named 'joint3'"):
        fit(sheet(), experiments=runs(0.01), gains={"joint3": 1.0})
    with pytest.raises(
        ArgumentError, match=r"^fit: gains\['joint1'\]: got -2; give one finite number \[N m/A\], above"
    ):
        fit(sheet(), experiments=runs(0.01), gains={"joint1": -2})
    with pytest.raises(
        ArgumentError, match=r"^fit: gains are those of currents; give current= in place of tau, or drop"
    ):
        fit(sheet(), *_states(run(False, 0.01, 0)), gains=2.0)


def test_a_gain_that_is_given_tells_the_others() -> None:
    one = run(False, 0.01, 0)
    result = fit(sheet(), one.q, one.v, one.a, current=one.current, gains={"joint1": 12.0}, method="weighted")
    assert result.gains["joint1"] == 12.0
    assert result.gains_standard_deviation["joint1"] == 0
    assert abs(result.gains["joint2"] - 8) < 4 * result.gains_standard_deviation["joint2"] < 0.4
    prior = fit(sheet(), one.q, one.v, one.a, current=one.current, gains={"joint1": (12.0, 0.6)}, method="weighted")
    assert prior.gains["joint1"] == pytest.approx(12.0, rel=1e-6)
    assert prior.gains_standard_deviation["joint1"] == pytest.approx(0.6, rel=1e-6)


def test_currents_with_gains_are_torques() -> None:
    one = run(False, 0.01, 0)
    tau = fit(sheet(), one.q, one.v, one.a, np.asarray(one.current) * GAINS, method="weighted")
    gains = dict(zip(("joint1", "joint2"), GAINS.tolist(), strict=True))
    current = fit(sheet(), one.q, one.v, one.a, current=one.current, gains=gains, method="weighted")
    assert current.values == pytest.approx(tau.values, rel=1e-8, abs=1e-8)
    assert current.noise * GAINS == pytest.approx(tau.noise, rel=1e-6)
    assert current.fitted.relative == pytest.approx(tau.fitted.relative, rel=1e-6)


def test_efforts_of_motors_that_drive_several_joints() -> None:
    """u = B⁻¹ tau, of the names that the actuators have."""
    b = np.array([[1.0, 0.0], [0.5, 2.0]])
    columns = {"motor1": b[:, 0], "motor2": b[:, 1]}
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), friction="model", actuation=columns, parameters=PARAMETERS)
    motion = fourier(np.random.default_rng(3), 2, 400)
    tau = with_friction(arm()).inverse_dynamics(*(part.T for part in motion)).full().T
    result = fit(dyn, *motion, current=np.linalg.solve(b, tau.T).T, gains=1.0, method="weighted")
    assert result.joints == ("motor1", "motor2")
    assert result.base.values == pytest.approx(result.base.matrix @ dyn.parameters.of(arm()), rel=1e-8, abs=1e-8)
    with pytest.raises(UnsupportedError, match=r"the 3 actuators of two_link_arm drive 2 directions"):
        fit(
            gd.NewtonEuler(
                gd.load_urdf("two_link_arm"), actuation=np.ones((2, 3)) + np.eye(2, 3), parameters=["inertia"]
            ),
            *motion,
            current=np.ones((400, 3)),
        )


def test_a_floating_base_is_told_by_its_six_rows_and_by_currents() -> None:
    """Base rows alone, with the torques of joints NaN; and currents of the joints, where nothing drives the base."""
    rng = np.random.default_rng(3)
    truth = models.build(rng, ["FreeFlyer", "RevoluteUnaligned", "RY"], [0, 1, 2])
    q, v, _ = (np.array(part) for part in zip(*models.states(truth, rng, 150), strict=True))
    dyn = gd.NewtonEuler(
        truth, actuation=np.eye(8)[:, 6:], parameters=["inertia"], wrenches={"body_2": pin.LOCAL_WORLD_ALIGNED}
    )
    wrenches = rng.normal(size=(150, 6, 1))
    tau = np.hstack([np.zeros((150, 6)), 2 * rng.normal(size=(150, 2))])  # of the motors; the base follows
    forward = dyn.at().forward_dynamics
    a = np.array([forward(*x).full().ravel() for x in zip(q, v, tau, wrenches, strict=True)])
    base = np.where(np.arange(8) < 6, tau, np.nan)
    exact = dyn.parameters.values
    for given in ({"tau": base}, {"current": tau[:, 6:] / 3.0}):
        result = fit(dyn, experiments=[Experiment(q, v, a, wrenches=wrenches, **given)], method="weighted")
        assert result.base.values == pytest.approx(
            result.base.matrix[:, : len(exact)] @ exact + _gains(result), rel=1e-6
        )
    assert list(result.gains.values()) == pytest.approx([3.0, 3.0], rel=1e-8)


def _gains(result: gd.identification.Identification) -> np.ndarray:
    n = len(result.names)
    return result.base.matrix[:, n:] @ np.log(3.0 * np.ones(result.base.matrix.shape[1] - n))


def test_offsets_of_sensors_are_found() -> None:
    one = run(False, 0.0, 0)
    tau = np.asarray(one.current) * GAINS
    noise = 0.01 * np.sqrt(np.mean(tau**2, axis=0)) * np.random.default_rng(0).normal(size=tau.shape)
    result = fit(sheet(), one.q, one.v, one.a, tau + noise + np.array([0.7, -0.4]), offsets=True, method="weighted")
    for name, true in (("joint1.sensor_offset", 0.7), ("joint2.sensor_offset", -0.4)):
        assert abs(result.coefficients[name] - true) < 4 * result.coefficients_standard_deviation[name] < 0.5
    other = fit(sheet(), one.q, one.v, one.a, tau + np.array([0.0, 5.0]), offsets=["joint2"], method="weighted")
    assert tuple(other.coefficients) == ("joint2.sensor_offset",)
    assert other.coefficients["joint2.sensor_offset"] == pytest.approx(5.0, abs=1e-6)
    with pytest.raises(UnknownNameError, match=r"no sensor named 'joint9'"):
        fit(sheet(), one.q, one.v, one.a, tau, offsets=["joint9"])


def test_what_is_missing_is_nan_or_has_no_weight() -> None:
    """Numbers without a weight enter nothing, the least noise neither."""
    one = run(False, 0.01, 0)
    q, v, a, tau = (np.array(each) for each in (one.q, one.v, one.a, np.asarray(one.current) * GAINS))
    weights = np.ones(tau.shape)
    weights[50:80, 1], weights[200] = 0.0, 0.0
    plain = fit(sheet(), q, v, a, tau, weights=weights, method="weighted")
    missing, spoiled, still = tau.copy(), tau.copy(), v.copy()
    missing[50:80, 1], spoiled[50:80, 1], spoiled[200] = np.nan, 1e6, 1e6
    v[200, 0] = np.nan
    for result in (
        fit(sheet(), q, v, a, missing, method="weighted"),
        fit(sheet(), q, still, a, spoiled, weights=weights, method="weighted"),
    ):
        assert result.values == pytest.approx(plain.values, rel=1e-9, abs=1e-9)
        assert result.noise == pytest.approx(plain.noise, rel=1e-9)
        assert result.fitted.relative == pytest.approx(plain.fitted.relative, rel=1e-9)
    alone = fit(
        sheet(), q, still, a, np.where([True, False], tau, 1e6), weights=np.tile([1, 0], (600, 1)), method="weighted"
    )
    other = fit(sheet(), q, still, a, np.where([True, False], tau, np.nan), method="weighted")
    assert alone.noise[0] == other.noise[0] == pytest.approx(plain.noise[0], rel=0.1)
    assert np.isnan(alone.noise[1])


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda tau: tau[:, ::-1], "the torque of 'joint1' looks like that of 'joint2' and the other way round"),
        (lambda tau: tau * [1, -1], "the torque of 'joint2' has the opposite sign of that of the nominal model"),
        (lambda tau: tau * [1000, 1], "the torque of 'joint1' is as that of the nominal model .* check its unit"),
    ],
    ids=["swapped", "sign", "unit"],
)
def test_measurements_of_another_sensor_sign_or_unit_are_told(spoil: Any, told: str) -> None:
    model = gd.load_urdf("two_link_arm")
    rng = np.random.default_rng(1)
    q, v, a = (
        2.0 * rng.normal(size=(300, 2)),
        rng.normal(size=(300, 2)),
        np.diag([1.0, 6.0]) @ rng.normal(size=(2, 300)),
    )
    tau = exact_torques(model, (q, v, a.T))
    with pytest.warns(IdentificationWarning) as warnings:
        fit(gd.NewtonEuler(model, parameters=["inertia"]), q, v, a.T, spoil(tau), method="weighted")
    assert any(told.split(" .*")[0] in str(each.message) for each in warnings)


@pytest.mark.parametrize(
    ("unit", "wrong"), [([1.0, 1.0], []), ([1000.0, 1.0], ["motor1"])], ids=["light wrist", "other unit"]
)
def test_rotors_that_the_nominal_model_has_not_are_no_other_unit(unit: list[float], wrong: list[str]) -> None:
    """Of a light last body a rotor makes the effort 300 times the nominal one; gravity of the first tells its unit."""
    model = gd.load_urdf("two_link_arm")
    model.inertias[2] = pin.Inertia(1e-3, np.zeros(3), 1e-3 * np.eye(3))
    motors = {"motor1": [1.0, 0.0], "motor2": [0.0, 1.0]}
    real = gd.NewtonEuler(model, actuation=motors, motors={"motor1": gd.Motor(0.1, 0.2, 0.3), "motor2": gd.Motor(0.3)})
    q, v, a = fourier(np.random.default_rng(5), 2, 400)
    current = real.inverse_dynamics(q.T, v.T, a.T).full().T * unit
    dyn = gd.NewtonEuler(
        model, actuation=motors, motors=dict.fromkeys(motors, gd.Motor()), parameters=["inertia", "motors"]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)
        remarks = fit(dyn, q, v, a, current=current, gains=1.0, method="weighted").remarks
    assert re.findall("current of '(.*?)' .* check its unit", "\n".join(map(str, remarks))) == wrong


@pytest.mark.parametrize(("delay", "order", "told"), [(25, [0, 1, 2], 0), (0, [1, 2, 0], 3)], ids=["late", "cycle"])
def test_a_column_looks_like_that_of_another_joint_where_that_one_is_wrong_too(
    delay: int, order: list[int], told: int
) -> None:
    """The motion of joint 2, which moves joint 3, too, explains much of many a curve, as of joint 3 when it is late."""
    model, t = gd.load_urdf("puma560_3"), np.arange(0, 10, 0.05)[:, None]
    rng, q, v, a = np.random.default_rng(0), *np.zeros((3, 200, 3))
    for w in 0.2 * np.pi * np.arange(1, 5):
        x, y = 0.44 * rng.normal(size=(2, 3)) / w
        q, v = q + x * np.sin(w * t) + y * np.cos(w * t), v + w * (x * np.cos(w * t) - y * np.sin(w * t))
        a = a - w**2 * (x * np.sin(w * t) + y * np.cos(w * t))
    tau = exact_torques(model, (q, v, a))[:, order]
    tau[:, 2] = np.roll(tau[:, 2], delay)
    with pytest.warns(IdentificationWarning):
        remarks = fit(gd.NewtonEuler(model, parameters=["inertia"]), q, v, a, tau, method="weighted").remarks
    assert sum("looks like that of" in str(remark) for remark in remarks) == told


def test_a_run_with_currents_of_another_unit_is_told() -> None:
    """Gains that are unknown take any unit, but only one."""
    free, loaded = runs(0.01)
    spoiled = replace(loaded, current=1000 * np.asarray(loaded.current))
    with pytest.warns(IdentificationWarning) as warnings:
        fit(sheet(), experiments=[free, spoiled], method="weighted")
    told = [str(each.message) for each in warnings if "check its unit" in str(each.message)]
    assert told[0].startswith("fit: the current of 'joint1' is ")
    assert " times as large in run 'loaded' as in run 'unloaded'; check its unit" in told[0]


def told_of(*experiments: Experiment) -> list[str]:
    with pytest.warns(IdentificationWarning) as warnings:
        fit(sheet(), experiments=experiments, method="weighted", gains={"joint1": 12.0, "joint2": 8.0})
    return [str(each.message) for each in warnings]


def test_wrong_columns_of_one_run_are_told_by_run_joint_and_number() -> None:
    """Currents in another order, as the regressors tell, whatever the model is; a sensor that is dead; q of another
    joint, or in degrees; and runs that contradict each other."""
    free, loaded = runs(0.01)
    current, q = np.asarray(loaded.current), np.asarray(loaded.q)
    told = told_of(free, replace(loaded, current=current[:, ::-1]))
    swapped = "fit: in run 'loaded' the current of 'joint1' looks like that of 'joint2' and the other way round (its"
    assert any(each.startswith(swapped) for each in told)
    told = told_of(free, replace(loaded, current=current * [1.0, 0.0]))
    assert any("in run 'loaded' the current of 'joint2' is 0 in all samples, though it moves;" in each for each in told)
    told = told_of(free, replace(loaded, q=q[:, ::-1]))
    assert any("in run 'loaded' q of 'joint1', 'joint2' does not change as v says;" in each for each in told)
    told = told_of(free, replace(loaded, q=np.rad2deg(q)))
    assert any("in run 'loaded' q of 'joint1', 'joint2' changes 57.3 times as much in a step" in each for each in told)
    told = told_of(free, replace(loaded, current=-current))
    pattern = re.compile(r"in run '(un)?loaded' the residual of 'joint\d' is \S+ times its current, and 0\.0\S+ times")
    assert any(pattern.search(each) for each in told)


def test_what_rests_is_told() -> None:
    free, loaded = runs(0.01)
    still = [np.array(part) for part in (loaded.q, loaded.v, loaded.a)]
    still = [1e-4 * part for part in still]
    told = told_of(free, replace(loaded, q=still[0] + 0.3, v=still[1], a=still[2]))
    assert any(re.search(r"in run 'loaded' no speed is above \S+; it tells gravity alone", each) for each in told)
    held = [np.column_stack([part[:, 0], 0 * part[:, 1]]) for part in map(np.asarray, (free.q, free.v, free.a))]
    told = told_of(Experiment(*held, current=free.current))
    assert any(
        "fit: the speed of 'joint2' is at most 0 in all samples; what their motion alone" in each for each in told
    )
