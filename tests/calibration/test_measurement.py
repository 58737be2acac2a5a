"""The rows that a calibration takes: residuals and their derivatives, two ways."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.calibration.measurement import Measurement
from tests.helpers.models import relative_error
from tests.helpers.sets import quick


def arm() -> pin.Model:
    """A composite joint with a displaced inner one, a ball, a joint with cos and sin; two tools and a target."""
    composite = pin.JointModelComposite(pin.JointModelRX(), pin.SE3.Random())
    composite.addJoint(pin.JointModelPY(), pin.SE3.Random())
    model = pin.Model()
    first = model.addJoint(0, composite, pin.SE3.Random(), "composite")
    second = model.addJoint(first, pin.JointModelRZ(), pin.SE3.Random(), "second")
    third = model.addJoint(second, pin.JointModelSpherical(), pin.SE3.Random(), "ball")
    other = model.addJoint(first, pin.JointModelRUBX(), pin.SE3.Random(), "other")
    for name, parent in (("tool", third), ("hand", other), ("target", 0)):
        model.addFrame(pin.Frame(name, parent, pin.SE3.Random(), pin.OP_FRAME))
    return model


ELEMENTS = ["composite", "ball", "other", "tool", "hand", "target"]


MEASURED = [("tool", True), (("hand", "tool"), False), (("target", "hand"), True), (("tool", "tool"), True)]


@pytest.mark.parametrize(("frame", "is_pose"), quick(MEASURED, *MEASURED[:2]))
def test_derivatives_are_those_of_casadi(frame: Any, is_pose: bool) -> None:
    """At placements and measurements that are far away, against CasADi's derivative of the residual itself."""
    model = arm()
    kin = gd.Kinematics(model, parameters={"placement": ELEMENTS})
    measurement = Measurement(kin, frame, is_pose, "test")
    rng = np.random.default_rng(1)
    p = 0.5 * rng.normal(size=36)
    q = np.array([pin.normalize(model, pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq)))] * 1)
    poses = np.array([pin.SE3.Random().homogeneous])
    samples = measurement.samples("test", q, poses if is_pose else poses[:, :3, 3])
    s = ca.SX.sym("p", 36)
    placed = measurement.placement(ca.DM(q[0]), s)
    at = gd.lie.inverse(placed) @ ca.DM(poses[0])
    residual = gd.lie.log6(at) if is_pose else ca.DM(poses[0, :3, 3]) - placed[:3, 3]
    both = ca.Function("both", [s], [residual, -ca.jacobian(residual, s)])(p)
    units = np.array([1.0] * 3 + [measurement.length] * 3)[: both[0].shape[0], None]
    rows = measurement.rows(samples, p)[0]
    assert relative_error(rows, units * np.hstack([both[1].full(), both[0].full()])) < 1e-12
    assert relative_error(measurement.residuals(samples, p)[0], both[0].full().ravel()) < 1e-12


def test_the_slope_is_the_kinematic_regressor() -> None:
    """Pinocchio's, where p is zero, of joints that are one."""
    model = gd.load_urdf("puma560")
    kin = gd.Kinematics(model, parameters={"placement": True})
    measurement = Measurement(kin, "tool", True, "test")
    q = np.random.default_rng(2).uniform(-2, 2, (3, 6))
    rows = measurement.slopes(q, np.zeros(36)) / np.array([1.0] * 3 + [measurement.length] * 3)[:, None]
    data, tool = model.createData(), model.getFrameId("tool")
    for own, each in zip(rows, q, strict=True):
        pin.forwardKinematics(model, data, each)
        regressor = pin.computeFrameKinematicRegressor(model, data, tool, pin.LOCAL)
        assert relative_error(own, regressor) < 1e-12
