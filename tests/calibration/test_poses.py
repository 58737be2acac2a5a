"""The choice of poses for a calibration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.calibration.measurement import Measurement
from gdalembert.errors import ArgumentError, ArgumentTypeError


@pytest.fixture(scope="module")
def model() -> pin.Model:
    return gd.load_urdf("puma560")


@pytest.fixture(scope="module")
def kin(model: pin.Model) -> gd.Kinematics:
    return gd.Kinematics(model, parameters={"placement": ["joint2", "joint3", "joint5", "tool"]})


def information(kin: gd.Kinematics, positions: bool = False) -> Callable[[np.ndarray], float]:
    """ln det of Σ JᵀJ of some poses, in the combinations that can be known."""
    measurement = Measurement(kin, "tool", not positions, "test")
    p = np.zeros(len(measurement.names))
    space = measurement.structure(p).space

    def of(q: np.ndarray) -> float:
        rows = (measurement.slopes(q, p) @ space).reshape(-1, space.shape[1])
        return float(np.linalg.slogdet(rows.T @ rows)[1])

    return of


@pytest.mark.long
def test_chosen_poses_tell_more_than_random_ones(model: pin.Model, kin: gd.Kinematics) -> None:
    q = gd.calibration.poses(kin, "tool", 12, model, candidates=150)
    assert q.shape == (12, 6)
    assert (q >= model.lowerPositionLimit).all()
    assert (q <= model.upperPositionLimit).all()
    rng = np.random.default_rng(0)
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    known = information(kin)
    others = [known(rng.uniform(lower, upper, (12, 6))) for _ in range(20)]
    assert known(q) > max(others) + 1
    again = gd.calibration.poses(kin, "tool", 12, (lower, upper), candidates=150)
    assert (again == q).all()
    assert (gd.calibration.poses(kin, "tool", 12, model, candidates=150, seed=1) != q).any()


@pytest.mark.long
def test_no_single_exchange_tells_more(kin: gd.Kinematics) -> None:
    limits = -np.full(6, 2.0), np.full(6, 2.0)
    q = gd.calibration.poses(kin, "tool", 6, limits, candidates=40)
    everything = gd.calibration.poses(kin, "tool", 40, limits, candidates=40)
    known = information(kin)
    best = known(q)
    for place in range(6):
        for other in everything:
            changed = np.array(q)
            changed[place] = other
            assert known(changed) < best + 1e-5  # the information before the first pose is 1e-6 of one


@pytest.mark.long
def test_positions_alone_need_more_poses(kin: gd.Kinematics) -> None:
    limits = -np.full(6, 2.0), np.full(6, 2.0)
    q = gd.calibration.poses(kin, "tool", 12, limits, positions=True, candidates=100)
    assert np.isfinite(information(kin, positions=True)(q))
    finer = gd.calibration.poses(kin, "tool", 12, limits, noise=(1e-3, 1e-6), candidates=100)
    assert (finer != gd.calibration.poses(kin, "tool", 12, limits, candidates=100)).any()


@pytest.mark.long
def test_what_is_not_accepted_is_not_chosen(kin: gd.Kinematics) -> None:
    limits = -np.full(6, 2.0), np.full(6, 2.0)
    q = gd.calibration.poses(kin, "tool", 10, limits, accept=lambda x: x[0] > 1.0, candidates=50)
    assert (q[:, 0] > 1.0).all()
    with pytest.raises(ArgumentError, match="accept takes 0 of 500 random configurations, of which 10 are needed"):
        gd.calibration.poses(kin, "tool", 10, limits, accept=lambda x: False, candidates=10)


def test_noise_counts_by_how_precise_a_coordinate_is_beside_an_angle(kin: gd.Kinematics) -> None:
    """Poses chosen for one ratio tell more at that ratio than those that were chosen for the inverse one."""
    limits = -np.full(6, 2.0), np.full(6, 2.0)
    measurement = Measurement(kin, "tool", True, "test")
    p = np.zeros(len(measurement.names))
    space = measurement.structure(p).space
    ratios = (1e-5, 1e-2), (1e-2, 1e-5)
    chosen = [gd.calibration.poses(kin, "tool", 8, limits, noise=noise, candidates=40) for noise in ratios]

    def known(q: np.ndarray, noise: tuple[float, float]) -> float:
        rows = measurement.slopes(q, p) @ space / np.repeat([noise[0], noise[1] * measurement.length], 3)[:, None]
        rows = rows.reshape(-1, space.shape[1])
        return float(np.linalg.slogdet(rows.T @ rows)[1])

    for own, other, noise in ((chosen[0], chosen[1], ratios[0]), (chosen[1], chosen[0], ratios[1])):
        assert known(own, noise) > known(other, noise) + 0.1


def test_what_refuses_nearly_all_is_told_soon(kin: gd.Kinematics) -> None:
    """After some attempts, not after all 50,000."""
    count = []
    limits = -np.full(6, 2.0), np.full(6, 2.0)
    with pytest.raises(ArgumentError, match="accept takes 0 of 1000 random configurations, of which 1000 are needed"):
        gd.calibration.poses(kin, "tool", 10, limits, accept=lambda q: bool(count.append(1)))
    assert len(count) == 1000


def test_free_directions_are_drawn_as_they_are() -> None:
    model = pin.Model()
    model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    model.addJoint(1, pin.JointModelRUBZ(), pin.SE3(np.eye(3), np.array([0, 0.3, 0.1])), "wheel")
    model.addFrame(pin.Frame("tip", 2, pin.SE3(np.eye(3), np.array([0.2, 0, 0])), pin.OP_FRAME))
    kin = gd.Kinematics(model, parameters={"placement": ["wheel"]})
    q = gd.calibration.poses(kin, "tip", 5, model, candidates=20)
    assert np.linalg.norm(q[:, :4], axis=1) == pytest.approx(1.0)
    assert np.linalg.norm(q[:, 4:], axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"count": 0}, ArgumentError, "poses: count: got 0; give an integer of at least 1"),
        ({"candidates": 3}, ArgumentError, "poses: candidates: got 3; give an integer of at least 10"),
        ({"bounds": 3}, ArgumentTypeError, r"poses: bounds: give the pin.Model, Bounds, or \(lower, upper\)"),
        ({"bounds": (np.zeros(5), np.ones(6))}, ArgumentError, r"poses: lower bounds has shape \(5,\); give \(6,\)"),
        ({"bounds": (np.ones(6), np.zeros(6))}, ArgumentError, "'joint1' has the lower limit 1 above the upper one 0"),
        ({"accept": 3}, ArgumentTypeError, "poses: accept: expected a function of q, got int"),
        ({"accept": np.array}, ArgumentTypeError, r"poses: accept\(q\) is array.*; give True or False"),
        ({"positions": np.nan}, ArgumentTypeError, "poses: positions is nan; give True or False"),
        ({"positions": np.zeros(0)}, ArgumentTypeError, "poses: positions is array.*; give True or False"),
        ({"seed": -1}, ArgumentError, "poses: seed: got -1; give an integer of at least 0"),
        ({"noise": (1e-4, 0.0)}, ArgumentError, "poses: noise is 0; give more than 0"),
        ({"noise": 1e-4}, ArgumentError, r"poses: noise has shape \(\); give \(2,\)"),
        (
            {"count": 3},
            ArgumentError,
            "3 poses have 18 numbers, for \\d+ combinations of placements and their noise; give",
        ),
        ({"count": 4, "positions": True}, ArgumentError, "4 positions have 12 numbers, for .* give at least [678]"),
    ],
    ids=str,
)
def test_refusals(kin: gd.Kinematics, change: dict[str, Any], error: type[Exception], message: str) -> None:
    given = {"count": 10, "bounds": (-np.ones(6), np.ones(6)), "candidates": 20} | change
    with pytest.raises(error, match=message):
        gd.calibration.poses(kin, "tool", **given)


def test_a_sliding_joint_needs_limits() -> None:
    model = gd.load_urdf("cart_pendulum")
    kin = gd.Kinematics(model, parameters={"placement": True})
    free = -np.full(2, np.inf), np.full(2, np.inf)
    with pytest.raises(ArgumentError, match=r"joint '\w+' has no limits; give finite ones"):
        gd.calibration.poses(kin, model.nframes - 1, 5, free)
