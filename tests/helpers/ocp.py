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
