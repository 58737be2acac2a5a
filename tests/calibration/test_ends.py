"""Where a robot stands and how its tool is fixed: exact for a robot that is the model between its ends."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.calibration.fit import ends
from gdalembert.calibration.measurement import Measurement


@cache
def arm() -> pin.Model:
    """A composite joint at the base, and two joints more."""
    rng = np.random.default_rng(1)
    first, second, third, *others = (pin.exp6(rng.normal(size=6)) for _ in range(6))
    composite = pin.JointModelComposite(pin.JointModelRX(), first)
    composite.addJoint(pin.JointModelRY(), second)
    model = pin.Model()
    last = model.addJoint(0, composite, third, "base")
    for name, joint in (("middle", pin.JointModelRZ()), ("wrist", pin.JointModelRX())):
        last = model.addJoint(last, joint, others.pop(), name)
    model.addFrame(pin.Frame("tool", last, others.pop(), pin.OP_FRAME))
    return model


def displacement(rng: np.random.Generator, angle: float) -> np.ndarray:
    axis = rng.normal(size=3)
    return np.concatenate([2 * rng.normal(size=3), angle * axis / np.linalg.norm(axis)])


@pytest.mark.parametrize("is_pose", [True, False])
@pytest.mark.parametrize("names", [("base", "tool"), ("base", "middle"), ("middle", "tool")])
def test_ends_are_found_wherever_they_are(names: tuple[str, str], is_pose: bool) -> None:
    """Turned by 3 rad; positions do not tell how the tool is turned, and are told of tools that are not too far off."""
    model = arm()
    kin, rng = gd.Kinematics(model, parameters={"placement": list(names)}), np.random.default_rng(0)
    measurement = Measurement(kin, "tool", is_pose, "test")
    for _ in range(5):
        p = np.concatenate([displacement(rng, 3.0), displacement(rng, 3.0 * is_pose) * (1.0 if is_pose else 0.1)])
        p[:6] *= names[0] == "base"
        p[6:] *= names[1] == "tool"
        real = kin.parameters.write(model, p)
        data, q, poses = real.createData(), rng.uniform(-3, 3, (30, 4)), []
        for each in q:
            pin.framesForwardKinematics(real, data, each)
            poses.append(data.oMf[real.getFrameId("tool")].homogeneous)
        given = np.array(poses) if is_pose else np.array(poses)[:, :3, 3]
        given[:3], weights = given[3], np.repeat([0.0, 1.0], [3, 27])  # those of weight 0 are wrong
        found = ends(measurement, measurement.samples("test", q, given, weights))
        assert np.abs(found - p).max() < (1e-12 if is_pose else 1e-5)
