"""Robots of the tests of optimal control."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import gdalembert as gd


def slider(mass: float = 2.0, effort: float = 3.0) -> pin.Model:
    """A mass that slides along x."""
    model = pin.Model()
    model.name = "slider"
    joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slide")
    model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    model.effortLimit, model.velocityLimit = np.array([effort]), np.array([10.0])
    model.lowerPositionLimit, model.upperPositionLimit = np.array([-4.0]), np.array([5.0])
    return model


def turning(joint: pin.JointModel, inertia: float = 0.5) -> gd.NewtonEuler:
    """A body that turns about its centre of mass."""
    model = pin.Model()
    model.name = "turning"
    model.gravity = pin.Motion.Zero()
    index = model.addJoint(0, joint, pin.SE3.Identity(), "turn")
    model.appendBodyToJoint(index, pin.Inertia(1.0, np.zeros(3), inertia * np.eye(3)), pin.SE3.Identity())
    return gd.NewtonEuler(model)


def quadrotor() -> gd.NewtonEuler:
    """Four rotors, which push up and twist by reaction."""
    model = pin.Model()
    model.name = "quadrotor"
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    inertia = pin.Inertia(0.6, np.zeros(3), np.diag([2e-3, 2e-3, 4e-3]))
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    arm, drag = 0.15, 0.02
    rotors = [[0, arm, 0, -arm], [-arm, 0, arm, 0], [drag, -drag, drag, -drag]]
    return gd.NewtonEuler(model, actuation=np.vstack([np.zeros((2, 4)), np.ones(4), rotors]))


def biped() -> pin.Model:
    """A free-flyer with two legs of two joints, whose feet are points."""
    model = pin.Model()
    model.name = "biped"
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(base, pin.Inertia(2.0, np.array([0.01, 0, 0.02]), 0.02 * np.eye(3)), pin.SE3.Identity())
    for name, y in (("left", 0.1), ("right", -0.1)):
        hip = pin.SE3(np.eye(3), np.array([0.0, y, 0.0]))
        thigh = model.addJoint(base, pin.JointModelRX() if name == "left" else pin.JointModelRY(), hip, f"{name}_hip")
        inertia = pin.Inertia(0.2, np.array([0, 0, -0.1]), 1e-3 * np.eye(3))
        model.appendBodyToJoint(thigh, inertia, pin.SE3.Identity())
        knee = pin.SE3(np.eye(3), np.array([0, 0, -0.2]))
        shank = model.addJoint(thigh, pin.JointModelRY(), knee, f"{name}_knee")
        model.appendBodyToJoint(shank, inertia, pin.SE3.Identity())
        sole = pin.SE3(np.eye(3), np.array([0, 0, -0.2]))
        model.addFrame(pin.Frame(name, shank, sole, pin.FrameType.OP_FRAME))
    return model
