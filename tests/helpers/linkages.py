"""Planar linkages in the plane x, y, with gravity along −y, as trees that a loop closes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

import gdalembert as gd

GRAVITY = 9.81


def linkage(chains: Mapping[float, Sequence[tuple[str, float]]]) -> pin.Model:
    """Chains of uniform bars (name, length), 1 kg/m, by the place of their first joint on the x axis.

    The joint of a bar has its name, its link is "<name> bar", and the frame at its end "<name> end".
    """
    model = pin.Model()
    model.name = "linkage"
    model.gravity = pin.Motion(np.array([0, -GRAVITY, 0]), np.zeros(3))
    for start, bars in chains.items():
        joint, at = 0, start
        for name, length in bars:
            joint = model.addJoint(joint, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([at, 0, 0])), name)
            bar = pin.Inertia.FromCylinder(length, 0.01, length)
            lying = pin.SE3(pin.utils.rotate("y", np.pi / 2), np.array([length / 2, 0, 0]))
            model.appendBodyToJoint(joint, bar, lying)
            model.addBodyFrame(f"{name} bar", joint, pin.SE3.Identity(), 0)
            end = pin.Frame(f"{name} end", joint, 0, pin.SE3(np.eye(3), np.array([length, 0, 0])), pin.OP_FRAME)
            model.addFrame(end)
            at = length
    return model


CRANK, COUPLER, ROCKER, BASE = 0.3, 0.9, 0.6, 1.0


def four_bar() -> pin.Model:
    """q = (crank, coupler against crank, rocker)."""
    return linkage({0.0: [("crank", CRANK), ("coupler", COUPLER)], BASE: [("rocker", ROCKER)]})


def four_bar_loop(kind: str = "3D", **options: Any) -> gd.ConstrainedDynamics:
    """The four-bar linkage, closed; a planar loop is redundant across the plane."""
    loop = gd.Loop("coupler end", "rocker end", kind)
    return gd.ConstrainedDynamics(gd.NewtonEuler(four_bar()), [loop], regularization=1e-6, **options)


def closed_four_bar(crank: float) -> np.ndarray:
    """q in closed form, the coupler above: the triangle of the diagonal from the crank's end to the rocker's joint."""
    end = CRANK * np.exp(1j * crank)
    diagonal = BASE - end
    d = abs(diagonal)
    coupler = np.angle(diagonal) + np.arccos((COUPLER**2 + d**2 - ROCKER**2) / (2 * COUPLER * d))
    rocker = np.angle(end + COUPLER * np.exp(1j * coupler) - BASE)
    return np.array([crank, coupler - crank, rocker])


def five_bar_loop(**options: Any) -> gd.ConstrainedDynamics:
    """Two arms of two bars, driven at both shoulders and joined at their hands: q = (a1, a2, b1, b2)."""
    model = linkage({0.0: [("a1", 0.5), ("a2", 0.8)], 0.6: [("b1", 0.5), ("b2", 0.8)]})
    loop = gd.Loop("a2 end", "b2 end", "3D")
    actuation = np.eye(4)[:, [0, 2]]
    dyn = gd.NewtonEuler(model, actuation=actuation)
    return gd.ConstrainedDynamics(dyn, [loop], regularization=1e-6, **options)
