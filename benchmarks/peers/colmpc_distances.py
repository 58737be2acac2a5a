"""What an environment with colmpc runs: its residual of the distance of a capsule from a ball, with the derivatives."""

import json
import sys
from importlib.metadata import version

import coal
import numpy as np
import pinocchio as pin  # before colmpc, whose wheel does not find its libraries alone

import colmpc  # isort: skip
import crocoddyl  # isort: skip

asked = json.load(sys.stdin)
model = pin.buildModelFromUrdf(asked["urdf"])
frame = model.getFrameId(asked["frame"])
placed = pin.SE3(np.eye(3), np.array(asked["ball"][:3]))
geometry = pin.GeometryModel()
for body in (
    pin.GeometryObject(
        "tool", model.frames[frame].parentJoint, frame, pin.SE3.Identity(), coal.Capsule(*asked["tool"])
    ),
    pin.GeometryObject("ball", 0, 0, placed, coal.Sphere(asked["ball"][3])),
):
    geometry.addGeometryObject(body)
geometry.addCollisionPair(pin.CollisionPair(0, 1))
state = crocoddyl.StateMultibody(model)
residual = colmpc.ResidualDistanceCollision(state, model.nv, geometry, 0)
shared = crocoddyl.DataCollectorMultibody(model.createData())
data, still = residual.createData(shared), np.zeros(model.nv)
found = {"version": version("colmpc"), "crocoddyl": version("crocoddyl"), "distances": [], "derivatives": []}
for q in asked["q"]:
    x = np.concatenate([q, still])
    pin.forwardKinematics(model, shared.pinocchio, x[: model.nq])
    pin.computeJointJacobians(model, shared.pinocchio, x[: model.nq])
    pin.updateFramePlacements(model, shared.pinocchio)
    residual.calc(data, x, still)
    residual.calcDiff(data, x, still)
    found["distances"].append(float(np.ravel(data.r)[0]))
    found["derivatives"].append(np.ravel(data.Rx)[: model.nv].tolist())
print(json.dumps(found))
