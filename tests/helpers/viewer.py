"""Models and bodies of the tests of the viewer."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert.viewer import Viewer
from gdalembert.viewer.scene import Scene
from tests.helpers.models import JOINTS, inertia, placement

ROUNDING = 1e-13
"""Of lengths of some metres, through a few rotations."""


def every_joint(seed: int) -> pin.Model:
    """One after the other, with frames between."""
    rng, model = np.random.default_rng(seed), pin.Model()
    parent = 0
    for name, make in JOINTS.items():
        parent = model.addJoint(parent, make(rng), placement(rng), name)
        model.appendBodyToJoint(parent, inertia(rng), pin.SE3.Identity())
        model.addFrame(pin.Frame(f"frame {name}", parent, 0, placement(rng), pin.FrameType.OP_FRAME))
    return model


def flexible() -> tuple[gd.FlexibleArm, dict[str, gd.FlexibleLink]]:
    links = {
        "link1": gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0)),
        "link2": gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=10.0)),
    }
    return gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links), links


def bent(arm: gd.FlexibleArm, size: float = 1.0) -> np.ndarray:
    """Pulled at its tip."""
    q = np.array([0.4, -0.9, *np.zeros(arm.tree.nq - 2)])
    return arm.static_deflection(q, "link2 tip", [0, size, 0, 0, 0, 0], reference=pin.LOCAL_WORLD_ALIGNED)


def placed(scene: Scene, q: np.ndarray) -> dict[str, pin.SE3]:
    """Of each body, by name."""
    scene.place(q)
    data = scene.visual_model.createData()
    pin.updateGeometryPlacements(scene.model, scene.data, scene.visual_model, data)
    return {body.name: at for body, at in zip(scene.visual_model.geometryObjects, data.oMg, strict=True)}


def pixel(shown: Viewer, point: np.ndarray) -> tuple[int, int]:
    """Row and column where the camera has a point, by the pinhole that the viewer asked for."""
    camera = shown.server.initial_camera
    z = camera.look_at - camera.position
    z /= np.linalg.norm(z)
    x = np.cross(z, [0, 0, 1])
    x /= np.linalg.norm(x)
    seen = np.array([x, np.cross(z, x), z]) @ (point - camera.position)
    focal = 300 / np.tan(camera.fov / 2)
    return round(300 + focal * seen[1] / seen[2]), round(450 + focal * seen[0] / seen[2])
