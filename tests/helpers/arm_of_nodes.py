"""A flexible arm of nodes beside the axis of its beam."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import gdalembert as gd
from tests.helpers.validated_arms import BY_KINEMATICS

SHIFT = np.array([0.02, -0.036, 0.015])
TIP = np.array([1.0, 0.03, -0.02])
"""The outermost node, beside the axis of the beam."""


def arm_of_nodes(origin: np.ndarray = SHIFT, kinematics: str = "exact") -> gd.FlexibleArm:
    """One arm of four nodes, in bending and torsion; the clamped frame stands at an origin in the link frame."""
    at = np.array([0.25, 0.5, 0.75, 1.0])
    positions = np.column_stack([at, 0.03 * at, -0.02 * at])
    translations, rotations = np.zeros((2, 3, 4, 3))
    translations[0, :, 1], rotations[0, :, 2] = at**2, 2 * at
    translations[1, :, 2], rotations[1, :, 1] = at**3, -3 * at**2
    translations[2], rotations[2, :, 0] = np.cross([1, 0, 0], positions) * at[:, None], at
    nodes = gd.Nodes(
        np.array([0.25, 0.15, 0.15, 0.05]),
        positions - origin,
        translations,
        np.diag([40.0, 120.0, 30.0]),
        rotations=rotations,
        shortening=np.einsum("jk,m->jkm", np.diag([1.3, 1.8, 0.0]), at**3),
    )
    tip_body = pin.Inertia(0.2, np.array([0.1, 0.02, 0.0]) + TIP, np.diag([1.0, 2.0, 3.0]) * 1e-3)
    tip_body.lever = tip_body.lever - origin - [1.0 - origin[0], 0, 0]  # from the point of the x axis at the tip's x
    root = pin.SE3(np.eye(3), origin)
    links = {"link1": gd.FlexibleLink(nodes, root=root, tip_body=tip_body, children={"joint2": "tip"})}
    model = gd.load_urdf("two_link_flexible")
    model.addFrame(
        pin.Frame("eye", 1, model.getFrameId("link1"), pin.SE3(np.eye(3), np.array([0.5, 0.2, 0])), pin.OP_FRAME)
    )
    return BY_KINEMATICS[kinematics](model, links)
