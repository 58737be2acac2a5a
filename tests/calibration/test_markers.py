"""Calibration from the positions of several markers, each in each sample."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import least_squares

import gdalembert as gd
from gdalembert.calibration.fit import ends
from gdalembert.calibration.measurement import Measurement
from gdalembert.errors import ArgumentError

MARKERS = ["marker1", "marker2", "marker3"]
OFFSETS = np.array([[0.1, 0.0, 0.05], [-0.05, 0.1, 0.05], [0.0, -0.1, 0.1]])
NOISE = 2e-4


@cache
def model() -> pin.Model:
    """A PUMA with three markers on its tool."""
    found = gd.load_urdf("puma560")
    tool = found.frames[found.getFrameId("tool")]
    for name, offset in zip(MARKERS, OFFSETS, strict=True):
        placement = tool.placement * pin.SE3(np.eye(3), offset)
        found.addFrame(pin.Frame(name, tool.parentJoint, placement, pin.OP_FRAME))
    return found


@cache
def kinematics(*joints: str) -> gd.Kinematics:
    return gd.Kinematics(model(), parameters={"placement": [*joints, *MARKERS]})


@cache
def data(joints: tuple[str, ...], seed: int, count: int = 40) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """p of a robot that stands 2 m away and turned, q, and measured positions of each marker."""
    kin, rng = kinematics(*joints), np.random.default_rng(seed)
    p = 3e-3 * rng.normal(size=len(kin.parameters.names))
    p[:6] = [1.5, -1.0, 0.4, 0.3, -0.2, 1.2]
    q = rng.uniform(-2, 2, (count, 6))
    placed = kin.frame_placements(MARKERS)
    x = np.array([[each[:3, 3].full().ravel() for each in placed(row, p)] for row in q])
    x += NOISE * rng.normal(size=x.shape)
    return p, q, [x[:, k] for k in range(3)]


@pytest.mark.long
def test_markers_tell_together_what_a_pose_tells() -> None:
    """The robot is where it is, from 2 m away, to the noise; each estimate is off by its own standard deviations."""
    joints, off = tuple(model().names[1:]), []
    for seed in range(2):
        p, q, measured = data(joints, seed)
        held_back = (q[30:], [x[30:] for x in measured])
        result = gd.calibration.fit(
            kinematics(*joints), MARKERS, q[:30], [x[:30] for x in measured], held_back=held_back, model=model()
        )
        assert result.noise == pytest.approx([NOISE], rel=0.2)
        assert result.residuals.shape == (30, 9)
        assert result.frames == tuple(MARKERS)
        assert np.array(result.rms(result.held_back)) == pytest.approx(np.sqrt(3) * NOISE, rel=0.5)
        assert "marker2 [mm]" in result.report
        assert result.remarks == ()
        off.append((result.base.values - result.base.matrix @ p) / result.base.standard_deviation)
    assert len(result.base) == result.structural_rank == 33  # 4 of each revolute joint, and 3 of each marker
    small = [k for k, name in enumerate(result.base.names) if not name.startswith("joint1")]
    assert 0.6 < np.sqrt(np.mean(np.array(off)[:, small] ** 2)) < 1.6


def test_the_start_has_the_base_and_each_marker_where_they_are() -> None:
    """From 2 m away: what is left of exact positions, where nothing but the ends is displaced."""
    kin = kinematics("joint1")
    p, q, _ = data(("joint1",), 0)
    p = np.where(np.arange(len(p)) >= 6, 30 * p, p)  # markers some cm away
    placed = kin.frame_placements(MARKERS)
    x = np.array([[each[:3, 3].full().ravel() for each in placed(row, p)] for row in q])
    measurement = Measurement(kin, MARKERS, False, "test", of_markers=True)
    samples = measurement.samples("test", q, [x[:, k] for k in range(3)])
    begin = measurement.residuals(samples, ends(measurement, samples))
    assert np.abs(begin).max() < 1e-6


def test_markers_are_at_the_minimum_of_scipy() -> None:
    p, q, measured = data(("joint1", "joint3"), 3, 12)
    kin = kinematics("joint1", "joint3")
    result = gd.calibration.fit(kin, MARKERS, q, measured)
    placed = kin.frame_placements(MARKERS)

    def residuals(at: np.ndarray) -> np.ndarray:
        found = [
            x - np.vstack(each) for x, each in zip(np.swapaxes(measured, 0, 1), map(positions(at), q), strict=True)
        ]
        return np.ravel(found)

    def positions(at: np.ndarray) -> Any:
        return lambda row: [each[:3, 3].full().ravel() for each in placed(row, at)]

    best = least_squares(residuals, p, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert np.sum(result.residuals**2) == pytest.approx(2 * best.cost, rel=1e-6)
    assert residuals(result.values) == pytest.approx(result.residuals.ravel(), abs=1e-12)


def test_one_marker_in_a_list_is_that_marker_and_a_missing_position_has_no_weight() -> None:
    _, q, measured = data(("joint1", "joint2"), 1)
    kin = kinematics("joint1", "joint2")
    one, same = (
        gd.calibration.fit(kin, frame, q, x) for frame, x in (("marker1", measured[0]), (["marker1"], measured[:1]))
    )
    assert one.values == pytest.approx(same.values, abs=1e-9)
    assert one.base.standard_deviation == pytest.approx(same.base.standard_deviation, rel=1e-9)
    gone, weights = [np.array(x) for x in measured], np.ones((40, 9))
    gone[1][3:9], weights[3:9, 3:6] = np.nan, 0.0
    spoiled = [np.array(x) for x in measured]
    spoiled[1][3:9] += 1.0
    by_nan = gd.calibration.fit(kin, MARKERS, q, gone)
    by_weight = gd.calibration.fit(kin, MARKERS, q, spoiled, weights=weights)
    assert by_nan.values == pytest.approx(by_weight.values, abs=1e-9)
    assert np.isnan(by_nan.residuals[3:9, 3:6]).all()


def test_two_frames_with_one_array_stay_a_loop() -> None:
    """Positions of the second in the first, as before; with a list of two, they are markers."""
    _, q, measured = data(("joint1", "joint2"), 1)
    kin = kinematics("joint1", "joint2")
    assert gd.calibration.fit(kin, MARKERS[:2], q, np.tile(OFFSETS[1] - OFFSETS[0], (40, 1))).residuals.shape == (40, 3)
    assert gd.calibration.fit(kin, MARKERS[:2], q, measured[:2]).residuals.shape == (40, 6)


def test_derivatives_of_markers_are_those_of_differences() -> None:
    kin = kinematics("joint1", "joint2", "joint5")
    measurement, rng = Measurement(kin, MARKERS, False, "test", of_markers=True), np.random.default_rng(0)
    p, q = 0.3 * rng.normal(size=36), rng.uniform(-2, 2, (4, 6))
    samples, h = measurement.samples("test", q, [np.zeros((4, 3))] * 3), 1e-6
    found = [
        (measurement.residuals(samples, p - d) - measurement.residuals(samples, p + d)) / (2 * h)
        for d in h * np.eye(36)
    ]
    assert measurement.slopes(q, p) == pytest.approx(np.moveaxis(found, 0, 2), abs=1e-8)  # of central differences


@pytest.mark.parametrize(
    ("frame", "measured", "told"),
    [
        (
            MARKERS,
            [np.zeros((8, 3))] * 2,
            r"fit: measured: give positions \(N, 3\) of each of 'marker1', 'marker2', 'm",
        ),
        (
            MARKERS,
            [np.zeros((8, 3)), np.zeros((7, 3)), np.zeros((8, 3))],
            r"measured\[1\] has shape \(7, 3\); give \(8, 3\)",
        ),
        (["marker1"] * 2, [np.zeros((8, 3))] * 2, "fit: a marker stands twice in 'marker1', 'marker1'; give each once"),
        (
            MARKERS,
            np.zeros((8, 3)),
            "fit: got 3 frames; give one, two that a loop joins, or of several markers positions",
        ),
        (MARKERS, [np.zeros((7, 3))] * 3, "fit: q has 8 rows, measured has 7; give one for each sample"),
    ],
    ids=["two", "ragged", "twice", "one", "short"],
)
def test_refusals(frame: Any, measured: Any, told: str) -> None:
    with pytest.raises(ArgumentError, match=told):
        gd.calibration.fit(
            kinematics("joint1", "joint2"), frame, np.random.default_rng(0).uniform(-2, 2, (8, 6)), measured
        )
