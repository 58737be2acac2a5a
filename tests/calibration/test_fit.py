"""Calibration: placements that were displaced are found, and what the measurements cannot tell is named."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import least_squares

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.calibration.fit import _reduced
from gdalembert.calibration.measurement import Measurement
from gdalembert.errors import ArgumentError, ArgumentTypeError, CalibrationWarning, UnknownNameError, UnsupportedError
from gdalembert.identification.least_squares import _determined, _solve
from tests.helpers.models import relative_error

NOISE = 1e-4, 2e-4
"""Of positions [m] and angles [rad]."""
POSITIONS = np.repeat([1.0, 0.0], 3) * np.ones((10, 6))


@pytest.fixture(scope="module")
def model() -> pin.Model:
    """An arm of six joints with offsets, as a UR."""
    return gd.load_urdf("puma560")


@cache
def kinematics(model: pin.Model, *names: str) -> gd.Kinematics:
    return gd.Kinematics(model, parameters={"placement": list(names or [*model.names[1:], "tool"])})


def displaced(kin: gd.Kinematics, rng: np.random.Generator, size: float = 3e-3) -> np.ndarray:
    return size * rng.normal(size=len(kin.parameters.names))


def measured(model: pin.Model, q: np.ndarray, frame: str, rng: np.random.Generator, noise: Any = NOISE) -> np.ndarray:
    data, found = model.createData(), []
    for each in q:
        pin.framesForwardKinematics(model, data, each)
        error = np.concatenate([noise[0] * rng.normal(size=3), noise[1] * rng.normal(size=3)])
        found.append((data.oMf[model.getFrameId(frame)] * pin.exp6(error)).homogeneous)
    return np.array(found)


def off(model: pin.Model, other: pin.Model, frame: str, rng: np.random.Generator) -> np.ndarray:
    """log6 from one robot's frame to the other's in configurations that neither was fitted to."""
    data, theirs = model.createData(), other.createData()
    errors = []
    for _ in range(50):
        q = rng.uniform(-3, 3, model.nq)
        for each, own in ((model, data), (other, theirs)):
            pin.framesForwardKinematics(each, own, q)
        errors.append(pin.log6(data.oMf[model.getFrameId(frame)].actInv(theirs.oMf[model.getFrameId(frame)])).vector)
    return np.array(errors)


def test_exact_poses_give_the_robot_back(model: pin.Model) -> None:
    """Errors of all placements, of which 30 combinations can be known: the robot is the same everywhere."""
    rng = np.random.default_rng(0)
    kin = kinematics(model)
    real = kin.parameters.write(model, displaced(kin, rng))
    q = rng.uniform(-3, 3, (60, 6))
    result = gd.calibration.fit(kin, "tool", q, measured(real, q, "tool", rng, (0.0, 0.0)), model=model)
    assert np.abs(off(result.model, real, "tool", rng)).max() < 1e-10
    assert np.abs(result.residuals).max() < 1e-11
    assert (len(result.base), result.structural_rank) == (30, 30)
    assert result.not_identifiable.not_excited == ()


def test_a_fit_that_tells_its_steps_finds_the_same(model: pin.Model, capfd: pytest.CaptureFixture[str]) -> None:
    rng, kin = np.random.default_rng(0), kinematics(model)
    q = rng.uniform(-3, 3, (30, 6))
    poses = measured(kin.parameters.write(model, displaced(kin, rng)), q, "tool", rng)
    silent, shown = (gd.calibration.fit(kin, "tool", q, poses, progress=progress) for progress in (False, True))
    np.testing.assert_array_equal(shown.values, silent.values)
    assert capfd.readouterr().err.startswith("puma560: fit of placements: step ")
    with pytest.raises(ArgumentTypeError, match=r"^fit: progress is 1; give True or False$"):
        gd.calibration.fit(kin, "tool", q, poses, progress=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_sixty_noisy_poses_give_all_combinations_within_three_deviations(model: pin.Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    kin = kinematics(model)
    real = kin.parameters.write(model, displaced(kin, rng))
    q = gd.calibration.poses(kin, "tool", 60, model, candidates=200)
    exact = gd.calibration.fit(
        kin, "tool", q, measured(real, q, "tool", rng, (0.0, 0.0))
    )  # the errors that can be known
    result = gd.calibration.fit(kin, "tool", q, measured(real, q, "tool", rng), model=model)
    errors = result.base.values - result.base.matrix @ exact.values
    assert (
        np.abs(errors / result.base.standard_deviation).max() < 3.0 + 0.5
    )  # of 30, the largest is 3.0 in 1 of 12 runs
    assert np.abs(off(result.model, real, "tool", rng)).max() < 1e-3 < np.abs(result.before).max()
    assert result.noise == pytest.approx(NOISE, rel=0.15)


@pytest.mark.long
def test_standard_deviations_are_those_of_repeated_measurements(model: pin.Model) -> None:
    """The mean of squared errors in standard deviations, over 15 runs of 30 combinations, is 1 within 4 of its own."""
    rng = np.random.default_rng(2)
    kin = kinematics(model)
    real = kin.parameters.write(model, displaced(kin, rng))
    q = gd.calibration.poses(kin, "tool", 60, model, candidates=200)
    exact = gd.calibration.fit(kin, "tool", q, measured(real, q, "tool", rng, (0.0, 0.0))).values
    squares = []
    for _ in range(15):
        result = gd.calibration.fit(kin, "tool", q, measured(real, q, "tool", rng))
        squares.append(((result.base.values - result.base.matrix @ exact) / result.base.standard_deviation) ** 2)
    assert np.mean(squares) == pytest.approx(1.0, abs=4 * np.sqrt(2 / np.size(squares)))


@pytest.mark.long
def test_the_estimate_minimises_what_scipy_does(model: pin.Model) -> None:
    """Two ways: SciPy's Levenberg–Marquardt on Pinocchio's log6, with the noise that was found."""
    rng = np.random.default_rng(3)
    kin = kinematics(model, "joint2", "joint4", "tool")
    real = kin.parameters.write(model, displaced(kin, rng))
    q = rng.uniform(-3, 3, (30, 6))
    given = measured(real, q, "tool", rng)
    result = gd.calibration.fit(kin, "tool", q, given, model=model)
    tool, weights = model.getFrameId("tool"), 1 / np.repeat(result.noise, 3)

    def residuals(p: np.ndarray) -> np.ndarray:
        robot = kin.parameters.write(model, p)
        data, found = robot.createData(), []
        for each, pose in zip(q, given, strict=True):
            pin.framesForwardKinematics(robot, data, each)
            found.append(weights * pin.log6(data.oMf[tool].actInv(pin.SE3(pose))).vector)
        return np.concatenate(found)

    other = least_squares(residuals, result.values, method="lm", xtol=1e-15, ftol=1e-15)
    cost = 0.5 * np.sum((result.residuals * weights) ** 2)
    assert cost == pytest.approx(other.cost, rel=1e-9)
    assert (
        relative_error(result.base.matrix @ other.x / 1e-3, result.base.values / 1e-3) < 1e-4
    )  # of mm; by differences


def test_redundant_directions_are_told_by_name(model: pin.Model) -> None:
    kin = kinematics(model)
    q = np.random.default_rng(4).uniform(-3, 3, (40, 6))
    result = gd.calibration.fit(kin, "tool", q, measured(model, q, "tool", np.random.default_rng(5)))
    assert {"joint1.rz - joint2.ry", "joint6.rz + tool.rz"} <= set(result.base.names)
    combined = set(result.not_identifiable.combined)
    assert {"joint1.z", "joint2.y", "joint6.rz", "tool.rz"} <= combined
    assert {"joint1.x", "joint3.x"}.isdisjoint(combined)
    unknown = [k for k, name in enumerate(kin.parameters.names) if name in combined]
    assert np.isinf(result.standard_deviation[unknown]).all()
    assert "known in combinations alone: joint1.z - joint2.y; joint1.rz - joint2.ry; " in str(result)
    assert len(str(result).splitlines()) <= 24
    assert max(map(len, str(result).splitlines())) <= 120
    assert len(str(result).splitlines()) < 25


def test_positions_alone_do_not_tell_how_the_tool_is_turned(model: pin.Model) -> None:
    rng = np.random.default_rng(6)
    kin = kinematics(model, "joint3", "tool")
    truth = np.concatenate([displaced(gd.Kinematics(model, parameters={"placement": ["joint3"]}), rng), np.zeros(6)])
    real = kin.parameters.write(model, truth)
    q = rng.uniform(-3, 3, (40, 6))
    given = measured(real, q, "tool", rng)[:, :3, 3]
    result = gd.calibration.fit(kin, "tool", q, given, model=model)
    assert result.not_identifiable.without_effect == ("tool.rx", "tool.ry", "tool.rz")
    assert result.residuals.shape == (40, 3)
    assert len(result.noise) == 1
    assert np.abs(off(result.model, real, "tool", rng)[:, :3]).max() < 4e-4


def test_unknown_base_and_tool(model: pin.Model) -> None:
    """The tracker stands anywhere, and the target is fixed somewhere: displacements of half a metre and a radian."""
    rng = np.random.default_rng(7)
    kin = kinematics(model, "joint1", "tool")
    real = kin.parameters.write(model, 0.5 * rng.normal(size=12))
    q = rng.uniform(-3, 3, (30, 6))
    result = gd.calibration.fit(kin, "tool", q, measured(real, q, "tool", rng), model=model)
    assert np.abs(off(result.model, real, "tool", rng)).max() < 5e-4
    assert result.not_identifiable.parameters == ()


@pytest.mark.parametrize("is_pose", [True, False])
def test_combinations_are_within_their_deviations_far_from_the_model(model: pin.Model, is_pose: bool) -> None:
    """Base and tool a metre and 3 rad away, joints by a millimetre: squared errors by their covariance.

    They are χ² of as many degrees of freedom as there are combinations. Poses give the placements themselves back; of
    positions, which do not tell how the tool is turned, those are known that a fit without noise finds.
    """
    kin, rng, squares, count = kinematics(model), np.random.default_rng(22), 0.0, 0
    for _ in range(3):
        truth = np.concatenate([rng.normal(size=6), displaced(kin, rng, 1e-3)[:30], 0.3 * rng.normal(size=6)])
        truth[3:6] *= 3 / np.linalg.norm(truth[3:6])
        real = kin.parameters.write(model, truth)
        q = rng.uniform(-3, 3, (40, 6))
        given, exact = (measured(real, q, "tool", rng, each) for each in (NOISE, (0.0, 0.0)))
        if not is_pose:
            given, exact = given[:, :3, 3], exact[:, :3, 3]
            truth = gd.calibration.fit(kin, "tool", q, exact).values
        result = gd.calibration.fit(kin, "tool", q, given, model=model)
        errors = result.base.matrix @ truth - result.base.values
        squares, count = squares + errors @ np.linalg.solve(result.base.covariance, errors), count + len(errors)
        assert np.abs(result.values - truth)[6:36].max() < 5e-3  # what the joints share with the ends is left to these
        assert np.abs(off(result.model, real, "tool", rng)[:, : 6 if is_pose else 3]).max() < 5e-4
        infinite = {name for name, x in zip(result.names, result.standard_deviation, strict=True) if np.isinf(x)}
        assert infinite == set(result.not_identifiable.parameters)
        assert set(result.not_identifiable.without_effect) == (set() if is_pose else {f"tool.r{x}" for x in "xyz"})
    assert squares / count == pytest.approx(1.0, abs=4 * np.sqrt(2 / count))


def test_what_is_known_is_that_of_the_fitted_placements(model: pin.Model) -> None:
    """Two ways: Pinocchio's regressor of the calibrated robot, and what a hundredth of it says of each parameter."""
    kin, rng = kinematics(model), np.random.default_rng(23)
    truth = np.concatenate([0.5 * rng.normal(size=6), displaced(kin, rng)[:30], 0.3 * rng.normal(size=6)])
    q = rng.uniform(-3, 3, (40, 6))
    real = kin.parameters.write(model, truth)
    result = gd.calibration.fit(kin, "tool", q, measured(real, q, "tool", rng), model=model)
    robot = result.model
    data, tool, rows = robot.createData(), robot.getFrameId("tool"), []
    for each in q:
        pin.forwardKinematics(robot, data, each)
        rows.append(np.hstack([pin.computeFrameKinematicRegressor(robot, data, tool, pin.LOCAL), np.eye(6)]))
        for k in range(0, 42, 6):
            rows[-1][:, k : k + 6] @= pin.Jexp6(pin.Motion(result.values[k : k + 6]))
    unit = np.concatenate(rows) / np.linalg.norm(np.concatenate(rows), axis=0)
    _, values, vt = np.linalg.svd(unit)
    assert values[30] < 1e-12 < 1e-3 < values[29]
    unknown = vt[30:].T / np.linalg.norm(np.concatenate(rows), axis=0)[:, None]
    assert np.abs(result.base.matrix @ unknown).max() < 1e-9
    outside = np.linalg.norm(vt[30:], axis=0)
    assert np.isinf(result.standard_deviation).tolist() == (outside > 0.01).tolist()


def test_what_a_narrow_motion_does_not_tell_is_named(model: pin.Model) -> None:
    rng = np.random.default_rng(8)
    kin = kinematics(model, "joint2", "joint3")
    q = rng.uniform(-3, 3, (30, 6))
    q[:, :3] = 0.3  # joints 1 to 3 rest: what is displaced at joint 2 and at joint 3 looks the same
    result = gd.calibration.fit(kin, "tool", q, measured(model, q, "tool", rng))
    assert len(result.base) == 6 < result.structural_rank
    assert result.not_identifiable.not_excited
    assert "not excited by the samples" in str(result)


def test_one_joint_that_moves_far_from_the_model(model: pin.Model) -> None:
    """Of 42 numbers 10 are told: the way to the least of the others is long, and would leave the samples."""
    rng = np.random.default_rng(25)
    kin = kinematics(model)
    truth = np.concatenate([[1, 2, 0.5, 0.3, -1, 2], displaced(kin, rng)[:30], [0.1, 0.05, 0.2, 1, 0.3, -0.7]])
    q = np.full((40, 6), 0.3)
    q[:, 0] = rng.uniform(-3, 3, 40)
    result = gd.calibration.fit(kin, "tool", q, measured(kin.parameters.write(model, truth), q, "tool", rng))
    assert result.remarks == ()
    assert len(result.base) == 10
    assert result.noise == pytest.approx(NOISE, rel=0.3)


@pytest.mark.long
def test_a_loop_that_closes_calibrates_two_arms(model: pin.Model) -> None:
    """Both hold one rigid bar: no measurement but that it is rigid."""
    both = _two_arms()
    kin = gd.Kinematics(both, parameters={"placement": ["right_joint3", "right_tool"]})
    rng = np.random.default_rng(9)
    truth = displaced(kin, rng)
    real = kin.parameters.write(both, truth)
    q = np.array([_closed(real, rng) for _ in range(20)])
    result = gd.calibration.fit(kin, ("left_tool", "right_tool"), q, model=both)
    assert np.abs(result.residuals).max() < 1e-9
    assert relative_error(result.base.values, result.base.matrix @ truth) < 1e-4
    points = gd.calibration.fit(kin, ("left_tool", "right_tool"), q, np.zeros((20, 3)))
    assert points.residuals.shape == (20, 3)


@pytest.mark.long
def test_loops_measure_no_length() -> None:
    """A robot that is larger closes its loops as well: all lengths in proportion are a direction that is not known."""
    both = _two_arms()
    elements = [*list(both.names)[1:], "left_tool", "right_tool"]
    kin = gd.Kinematics(both, parameters={"placement": elements})
    rng = np.random.default_rng(21)
    q = np.array([_closed(both, rng) for _ in range(30)])
    result = gd.calibration.fit(kin, ("left_tool", "right_tool"), q)
    joints = {name: both.jointPlacements[k] for k, name in enumerate(both.names)}
    placed = [joints[name] if name in joints else both.frames[both.getFrameId(name)].placement for name in elements]
    larger = np.concatenate([[*each.rotation.T @ each.translation, 0, 0, 0] for each in placed])
    assert np.abs(result.base.matrix @ larger).max() < 1e-6  # the samples close to 1e-12, and tell singular values
    moved = Measurement(kin, ("left_tool", "right_tool"), True, "test").slopes(q, np.zeros(len(larger))) @ larger
    assert np.abs(moved).max() < 1e-11
    assert len(result.base) < result.structural_rank
    assert len(result.not_identifiable.not_excited) > 0


def _two_arms() -> pin.Model:
    first, second = _renamed(gd.load_urdf("puma560"), "left"), _renamed(gd.load_urdf("puma560"), "right")
    return pin.appendModel(first, second, 0, pin.SE3(np.eye(3), np.array([0, 1.0, 0])))


def _renamed(model: pin.Model, prefix: str) -> pin.Model:
    for k in range(1, model.njoints):
        model.names[k] = f"{prefix}_{model.names[k]}"
    for frame in model.frames:
        frame.name = f"{prefix}_{frame.name}" if frame.name != "universe" else frame.name
    return model


def _closed(model: pin.Model, rng: np.random.Generator) -> np.ndarray:
    """A configuration in which both tools are at one place."""
    data = model.createData()
    left, right = (model.getFrameId(name) for name in ("left_tool", "right_tool"))
    q = np.concatenate([[0.8, -0.4, 0.6, 0.3, 0.8, 0.2], [-0.8, -0.4, 0.6, 0.3, 0.8, 0.2]]) + 0.3 * rng.normal(size=12)
    for _ in range(200):
        pin.framesForwardKinematics(model, data, q)
        error = data.oMf[left].actInv(data.oMf[right])
        jacobian = pin.computeFrameJacobian(model, data, q, right, pin.LOCAL)
        jacobian = jacobian - error.toActionMatrixInverse() @ pin.computeFrameJacobian(model, data, q, left, pin.LOCAL)
        twist = pin.log6(error).vector
        if np.abs(twist).max() < 1e-14:
            break
        q = q - np.linalg.lstsq(pin.Jlog6(error) @ jacobian, twist, rcond=1e-8)[0]
    assert np.abs(twist).max() < 1e-12
    return q


def test_missing_measurements_and_weights_leave_samples_out(model: pin.Model) -> None:
    rng = np.random.default_rng(10)
    kin = kinematics(model, "joint2", "tool")
    q = rng.uniform(-3, 3, (30, 6))
    given = measured(model, q, "tool", rng)
    kept = gd.calibration.fit(kin, "tool", q[5:], given[5:])
    spoilt = np.array(given)
    spoilt[:5] = np.nan
    for result in (
        gd.calibration.fit(kin, "tool", q, spoilt),
        gd.calibration.fit(kin, "tool", q, given, weights=np.repeat([0.0, 1.0], [5, 25])),
    ):
        assert relative_error(result.values / 1e-3, kept.values / 1e-3) < 1e-9
        assert relative_error(result.noise, kept.noise) < 1e-12


def test_held_back_samples_are_predicted(model: pin.Model) -> None:
    rng = np.random.default_rng(11)
    kin = kinematics(model, "joint2", "tool")
    q = rng.uniform(-3, 3, (40, 6))
    given = measured(model, q, "tool", rng)
    result = gd.calibration.fit(kin, "tool", q, [pin.SE3(x) for x in given], held_back=0.25)
    other = gd.calibration.fit(kin, "tool", q[:30], given[:30], held_back=(q[30:], given[30:]))
    assert relative_error(result.held_back, other.held_back) < 1e-15
    assert result.held_back.shape == (10, 6)
    assert result.parameters["joint2.x"] == result.values[0]
    with pytest.raises(UnsupportedError, match="there is no model: give model= to fit"):
        result.model  # noqa: B018


@pytest.mark.long
def test_measurements_that_nothing_explains_are_told(model: pin.Model) -> None:
    rng = np.random.default_rng(12)
    kin = kinematics(model, "joint2", "tool")
    q = rng.uniform(-3, 3, (30, 6))
    given = measured(model, q, "tool", rng)
    with pytest.warns(
        CalibrationWarning, match="check units, the frame that was measured, and the order and signs of q"
    ):
        gd.calibration.fit(kin, "tool", q[:, ::-1], given)
    with pytest.raises(ArgumentError, match=r"lie \d+ m from their mean, the robot moves it by .* m; give metres"):
        gd.calibration.fit(kin, "tool", q, 1e3 * given[:, :3, 3])


def test_weights_are_relative(model: pin.Model) -> None:
    """The unit of weights changes nothing; noise is that of a row of mean weight."""
    rng = np.random.default_rng(14)
    kin = kinematics(model, "joint2", "tool")
    q = rng.uniform(-3, 3, (30, 6))
    given, weights = measured(model, q, "tool", rng), rng.uniform(0.5, 2, (30, 6))
    one, other = (gd.calibration.fit(kin, "tool", q, given, weights=factor * weights) for factor in (1e-9, 1e9))
    assert other.remarks == ()
    for name in ("values", "standard_deviation", "noise", "weights"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-6, abs=1e-12), name  # iterated noise
    assert other.noise == pytest.approx(NOISE, rel=0.3)


@pytest.mark.long
def test_few_poses_do_not_hide_their_noise(model: pin.Model) -> None:
    """Positions 100 times as good as angles determine 13 of 17 combinations, and keep 5 degrees of freedom of 18."""
    rng = np.random.default_rng(15)
    kin, noise = kinematics(model, "joint2", "joint4", "tool"), (1e-5, 1e-3)
    q = rng.uniform(-3, 3, (6, 6))
    found = [gd.calibration.fit(kin, "tool", q, measured(model, q, "tool", rng, noise)).noise for _ in range(20)]
    # the mean of 20 squares with 5 degrees of freedom has the deviation 0.14; degrees shared by all give 0.6 and 1.6
    assert np.mean(np.square(found), axis=0) == pytest.approx(np.square(noise), rel=0.4)


def test_each_value_is_determined_by_the_rows_of_all_groups(model: pin.Model) -> None:
    """The trace of the hat matrix, with rows weighted by any noise, is the number of combinations."""
    rng = np.random.default_rng(16)
    kin = kinematics(model, "joint2", "joint3", "tool")
    q = rng.uniform(-3, 3, (12, 6))
    measurement = Measurement(kin, "tool", True, "test")
    p = np.zeros(18)
    reduced = _reduced(measurement, measurement.samples("test", q, measured(model, q, "tool", rng)), p)
    noise = np.array([1e-3, 1.0])
    _, factor, _ = _solve(reduced, measurement.of_model, np.zeros((0, 19)), noise)
    determined = _determined(reduced, measurement.of_model, factor, noise)
    assert determined.sum() == pytest.approx(len(measurement.of_model.pivots), rel=1e-9)
    assert determined[0] > determined[1] > 0


def test_what_was_not_measured_has_no_residual(model: pin.Model) -> None:
    rng = np.random.default_rng(17)
    kin = kinematics(model, "joint2", "tool")
    q = rng.uniform(-3, 3, (30, 6))
    given = measured(model, q, "tool", rng)
    given[[2, 29]] = np.nan
    result = gd.calibration.fit(kin, "tool", q, given, held_back=0.2)
    assert np.isnan(result.residuals).all(axis=1).tolist() == [k == 2 for k in range(24)]
    assert np.isnan(result.held_back).all(axis=1).tolist() == [k == 5 for k in range(6)]
    assert max(result.rms(result.held_back)) < 1e-3
    for wrong in (None, np.zeros(3), np.zeros((3, 1)), "x"):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=r"^rms: residuals"):
            result.rms(wrong)  # type: ignore[arg-type]
    positions = given[:, :3, 3]
    positions[4, 1] = np.nan
    result = gd.calibration.fit(kin, "tool", q, positions)
    assert np.isnan(result.residuals).sum() == 7
    assert "nan" not in str(result)


def test_orientations_alone(model: pin.Model) -> None:
    """Positions of no weight have no noise, and what moves them alone is not known."""
    rng = np.random.default_rng(18)
    kin = kinematics(model, "joint2", "tool")
    q = rng.uniform(-3, 3, (30, 6))
    weights = np.repeat([0.0, 1.0], 3) * np.ones((30, 6))
    result = gd.calibration.fit(kin, "tool", q, measured(model, q, "tool", rng), weights=weights)
    assert np.isnan(result.noise[0])
    assert result.noise[1] == pytest.approx(NOISE[1], rel=0.3)
    assert {name for name in kin.parameters.names if name in result.not_identifiable.parameters} == {
        f"{element}.{axis}" for element in ("joint2", "tool") for axis in "xyz"
    }


def test_a_loop_is_that_of_its_two_frames(model: pin.Model) -> None:
    """As measurements of the identity, or of one point, in a robot whose tool stands still on its last link."""
    robot = model.copy()
    last = robot.njoints - 1
    robot.addFrame(pin.Frame("grip", last, robot.frames[robot.getFrameId("tool")].placement, pin.OP_FRAME))
    robot.addFrame(pin.Frame("socket", 0, pin.SE3.Identity(), pin.OP_FRAME))
    kin = gd.Kinematics(robot, parameters={"placement": ["joint2", "socket"]})
    rng = np.random.default_rng(19)
    q = np.tile(rng.uniform(-1, 1, 6), (20, 1)) + 1e-3 * rng.normal(size=(20, 6))
    data = robot.createData()
    pin.framesForwardKinematics(robot, data, q[0])
    robot.frames[robot.getFrameId("socket")].placement = data.oMf[robot.getFrameId("grip")]
    kin = gd.Kinematics(robot, parameters={"placement": ["socket"]})
    loops = gd.Loop("socket", "grip"), gd.Loop("socket", "grip", "3D")
    for loop, same in zip(loops, (np.tile(np.eye(4), (20, 1, 1)), np.zeros((20, 3))), strict=True):
        result, other = gd.calibration.fit(kin, loop, q), gd.calibration.fit(kin, ("socket", "grip"), q, same)
        assert (result.values == other.values).all()
        assert (result.residuals == other.residuals).all()
    assert (gd.calibration.fit(kin, ("socket", "grip"), q).values == gd.calibration.fit(kin, loops[0], q).values).all()
    with pytest.raises(UnsupportedError, match="give a loop of kind '6D' or '3D', without rows"):
        gd.calibration.fit(kin, gd.Loop("socket", "grip", "1D"), q)
    with pytest.raises(ArgumentError, match="closes in each sample: drop measured, or give its two frames alone"):
        gd.calibration.fit(kin, loops[0], q, np.zeros((20, 3)))


@pytest.mark.parametrize(
    ("name", "frame", "known"), [("shala_likaj_rpr", "tip", 4 * 2 + 2 * 1 + 6), ("panda7", "flange", 4 * 7 + 6)]
)
def test_all_that_can_be_known_are_four_numbers_a_revolute_joint(name: str, frame: str, known: int) -> None:
    """4 R + 2 P + 6 (Everett, Driels and Mooring, "Kinematic modelling for robot calibration", ICRA 1987)."""
    robot = gd.load_urdf(name)
    kin = kinematics(robot, *list(robot.names)[1:], frame)
    assert len(Measurement(kin, frame, True, "test").of_model.pivots) == known


@pytest.mark.extras
def test_a_ur5_is_calibrated() -> None:
    """Three of its axes are parallel; errors of all placements of a millimetre and a milliradian."""
    robot = robots.load("ur5")
    rng = np.random.default_rng(20)
    names = [*list(robot.names)[1:], "tool0"]
    kin = gd.Kinematics(robot, parameters={"placement": names})
    real = kin.parameters.write(robot, displaced(kin, rng, 1e-3))
    q = gd.calibration.poses(kin, "tool0", 60, robot, candidates=200)
    exact = gd.calibration.fit(kin, "tool0", q, measured(real, q, "tool0", rng, (0.0, 0.0)))
    result = gd.calibration.fit(kin, "tool0", q, measured(real, q, "tool0", rng), model=robot)
    errors = (result.base.values - result.base.matrix @ exact.values) / result.base.standard_deviation
    assert len(errors) == 30
    assert np.abs(errors).max() < 3.5  # of 30, one in 70 runs has a larger one
    assert np.abs(off(result.model, real, "tool0", rng)).max() < 3e-4 < np.abs(result.before).max()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"kin": 3}, ArgumentTypeError, "fit: got int; give gd.Kinematics"),
        ({"kin": "plain"}, ArgumentError, "puma560: it has no parameters; give gd.Kinematics"),
        ({"kin": "bodies"}, ArgumentError, "its parameters include 'joint2.m'; give gd.Kinematics"),
        ({"frame": "hand"}, UnknownNameError, "no frame named 'hand'"),
        (
            {"frame": ("tool", "tool", "tool")},
            ArgumentError,
            "got 3 frames; give one, two that a loop joins, or of several markers positions",
        ),
        ({"q": np.zeros((10, 5))}, ArgumentError, r"q has shape \(10, 5\); give \(N, 6\)"),
        ({"q": np.full((10, 6), np.nan)}, ArgumentError, "fit: q: entry"),
        ({"measured": None}, ArgumentError, "got no measured poses or positions; only a loop of two frames needs none"),
        ({"measured": np.zeros((10, 4))}, ArgumentError, r"measured has shape \(10, 4\); give poses \(N, 4, 4\)"),
        ({"measured": np.zeros((9, 3))}, ArgumentError, "q has 10 rows, measured has 9; give one for each sample"),
        ({"measured": np.full((10, 3), np.inf)}, ArgumentError, "measured is infinite in row 0"),
        ({"measured": np.array([2 * np.eye(4)] * 10)}, ArgumentError, "fit: pose 0: its last row is"),
        ({"weights": np.ones(3)}, ArgumentError, r"weights has shape \(3,\); give \(10,\) or \(10, 3\)"),
        ({"weights": -np.ones(10)}, ArgumentError, "the weight of row 0 is negative: -1; give at least 0"),
        ({"held_back": 2.0}, ArgumentError, "held_back=2.0 of 10 samples leaves none"),
        ({"held_back": "last"}, ArgumentTypeError, "held_back: expected a fraction of the samples or"),
        ({"held_back": (np.zeros((1, 6)), [pin.SE3.Identity()])}, ArgumentError, "got poses, and positions are fitted"),
        (
            {"frame": ("tool", "tool"), "measured": None},
            ArgumentError,
            "none of the 12 parameters moves 'tool' in 'tool'",
        ),
        (
            {"frame": "universe"},
            ArgumentError,
            "none of the 12 parameters moves 'universe'; make kin with the placements",
        ),
        (
            {"frame": ("universe", "tool"), "q": None, "measured": None},
            ArgumentTypeError,
            "q: expected numbers, got None",
        ),
        ({"q": np.ones((10, 6))}, ArgumentError, r"all 10 samples have the same q, which tells \d of 9 combinations"),
        (
            {"measured": [pin.SE3.Identity()] * 10, "weights": POSITIONS},
            ArgumentError,
            "no angle has a weight; give pos",
        ),
        ({"measured": np.full((10, 3), np.nan)}, ArgumentError, "10 samples have 0 numbers with a weight, for 9 comb"),
        ({"model": "robot"}, ArgumentTypeError, "model: expected a pin.Model, got str"),
        ({"model": "displaced"}, ArgumentError, r"model: joint2\.x is 0.001 from that of kin; give the model that kin"),
        ({"rows": 1}, ArgumentError, "1 sample has 3 numbers with a weight, for 9"),
        ({"rows": 3}, ArgumentError, "3 samples have 9 numbers with a weight, for 9 combinations of placements"),
    ],
    ids=str,
)
def test_refusals(model: pin.Model, change: dict[str, Any], error: type[Exception], message: str) -> None:
    rng = np.random.default_rng(13)
    q = rng.uniform(-3, 3, (10, 6))[: change.pop("rows", 10)]
    given: dict[str, Any] = {"kin": kinematics(model, "joint2", "tool"), "frame": "tool", "q": q}
    given |= {"measured": measured(model, q, "tool", rng)[:, :3, 3]} | change
    known = {"plain": gd.Kinematics(model), "bodies": gd.Kinematics(model, parameters={"inertia": ["joint2"]})}
    kin = given.pop("kin")
    if given.get("model") == "displaced":
        given["model"] = kin.parameters.write(model, {"joint2.x": 1e-3})
    with pytest.raises(error, match=message):
        gd.calibration.fit(known.get(kin, kin) if isinstance(kin, str) else kin, **given)
