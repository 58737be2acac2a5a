"""``examples/panda_from_shelf.py``: no mesh of the robot hits the shelf, another mesh, or a bottle."""

from __future__ import annotations

import coal
import numpy as np
import pinocchio as pin
import pytest
from scipy.interpolate import CubicHermiteSpline

import gdalembert as gd
from tests.helpers.scripts import example

pytestmark = [pytest.mark.extras, pytest.mark.long]

SCRIPT = example("panda_from_shelf")


def test_no_mesh_hits_anything_at_1_khz() -> None:
    model, geometry = SCRIPT.build()
    shapes = gd.Distances(model, geometry, SCRIPT.obstacles())
    plan = SCRIPT.fastest(gd.NewtonEuler(model), model, shapes, 16)
    whole, robot = geometry.copy(), geometry.ngeoms
    for name, solid in SCRIPT.obstacles().items():
        box = isinstance(solid, gd.Box)
        middle = pin.SE3(solid.placement) if box else pin.SE3(np.eye(3), (solid.a + solid.b) / 2)
        body = coal.Box(*(2 * solid.half_sizes)) if box else coal.Cylinder(solid.radius, SCRIPT.HEIGHT)
        k = whole.addGeometryObject(pin.GeometryObject(name, 0, middle, body))
        for i in range(robot):
            if whole.geometryObjects[i].parentJoint:
                whole.addCollisionPair(pin.CollisionPair(i, k))
    data, of_geometry = model.createData(), whole.createData()
    motion = CubicHermiteSpline(plan.t, plan.q, plan.v)
    for q in motion(np.arange(0, plan.duration, 1e-3)):
        assert not pin.computeCollisions(model, data, whole, of_geometry, q, True)
    assert np.abs(plan.stages.u / plan.bounds.u_upper).max() < 1 + 1e-6
