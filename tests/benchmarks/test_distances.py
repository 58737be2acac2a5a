"""``benchmarks/distances``: covers, plans, and the least time of a straight line."""

from __future__ import annotations

import json

import numpy as np
import pinocchio as pin
import pytest

from benchmarks.distances import covers, plans, scenes
from benchmarks.distances.straight import least_time
from gdalembert.distances import selection


def single_joint(torque: float, speed: float) -> pin.Model:
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.diag([0.5, 0.5, 0.5])), pin.SE3.Identity())
    model.effortLimit, model.velocityLimit = np.array([torque]), np.array([speed])
    return model


@pytest.mark.parametrize(
    ("speed", "expected"), [(100.0, 2 * np.sqrt(2.0 * 0.5 / 3.0)), (1.0, 2.0 / 1.0 + 1.0 * 0.5 / 3.0)]
)
def test_the_least_time_of_one_joint_is_that_of_a_double_integrator(speed: float, expected: float) -> None:
    """Over 2 rad, inertia 0.5 and torque 3: half the way up and half down, and with a limit of speed between."""
    found = least_time(single_joint(3.0, speed), np.zeros(1), np.array([2.0]))
    assert found == pytest.approx(expected, rel=5e-3)  # of 400 steps


@pytest.mark.extras
@pytest.mark.parametrize("name", ["Panda", "UR5"])  # the others take minutes
def test_covers_of_robots_miss_no_contact_of_their_meshes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the benchmark, of fewer configurations, and of covers that are cut only where they overlap always."""
    for constant, count in (("CONFIGURATIONS", 2000), ("TRIED", 500)):
        monkeypatch.setattr(selection, constant, count)
    rows = [dict(zip(covers.HEAD, row, strict=True)) for row in covers.measured(name, 200, pays=1.0)]
    assert [row["pairs by"] for row in rows] == ["SRDF", "sampling"]
    for row in rows:
        assert row["missed"] == 0
        assert float(row["a corner outside"].split()[0]) <= 0


@pytest.mark.extras
@pytest.mark.parametrize("name", sorted(json.loads(plans.RECORDED.read_text(encoding="utf-8"))))
def test_recorded_plans_reach_their_goals_within_limits_and_without_collisions(name: str) -> None:
    """At 1 kHz, but for the meshes, which are looked at every 5 ms."""
    model, _ = scenes.arm()
    h, stages = json.loads(plans.RECORDED.read_text(encoding="utf-8"))[name]
    scene = next(scene for scene in scenes.scenes() if scene.name == name)
    q, v, a = plans.followed(h, scene.start, np.array(stages))
    assert np.abs(q[-1] - scene.goal).max() < 1e-3  # a has three digits behind the point
    assert np.abs(v[-1]).max() < 1e-3
    assert (np.abs(v) <= model.velocityLimit).all()
    assert (q >= model.lowerPositionLimit - 5e-4).all()  # they hold at the instants, and between them nearly
    assert (q <= model.upperPositionLimit + 5e-4).all()
    data = model.createData()
    assert all((np.abs(pin.rnea(model, data, *row)) <= model.effortLimit).all() for row in zip(q, v, a, strict=True))
    assert scenes.Meshes(scene).collisions(q[::5]) == []
