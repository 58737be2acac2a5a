"""Centroidal gaps of a legged robot: A a + dA v is the rate of the momentum that contact forces and weight make."""

import casadi as ca
import numpy as np
import pinocchio as pin
from pinocchio import casadi as cpin

model = pin.Model()
base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
model.appendBodyToJoint(base, pin.Inertia.FromBox(6.0, 0.5, 0.3, 0.1), pin.SE3.Identity())
feet = []
for leg, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1))):
    hip = model.addJoint(base, pin.JointModelRX(), pin.SE3(np.eye(3), np.array([x, y, 0])), f"hip{leg}")
    thigh = model.addJoint(hip, pin.JointModelRY(), pin.SE3.Identity(), f"thigh{leg}")
    shank = model.addJoint(thigh, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0, 0, -0.2])), f"shank{leg}")
    for joint in (hip, thigh, shank):
        model.appendBodyToJoint(joint, pin.Inertia.FromSphere(0.3, 0.04), pin.SE3(np.eye(3), np.array([0, 0, -0.1])))
    feet.append(
        model.addFrame(pin.Frame(f"foot{leg}", shank, pin.SE3(np.eye(3), np.array([0, 0, -0.2])), pin.OP_FRAME))
    )

cmodel = cpin.Model(model)
cdata = cmodel.createData()
q, v, a, f = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv), ca.SX.sym("a", model.nv), ca.SX.sym("f", 3, 4)
A = cpin.computeCentroidalMap(cmodel, cdata, q)
dA = cpin.dccrba(cmodel, cdata, q, v)
cpin.forwardKinematics(cmodel, cdata, q, v, a)
cpin.updateFramePlacements(cmodel, cdata)
cpin.centerOfMass(cmodel, cdata, q, v)
center = cdata.com[0]
mass = cpin.computeTotalMass(cmodel, cdata)
moments = [ca.cross(cdata.oMf[foot].translation - center, f[:, k]) for k, foot in enumerate(feet)]
rate = ca.vertcat(ca.sum2(f) + mass * ca.DM([0, 0, -9.81]), sum(moments))
gap = ca.Function("gap", [q, v, a, f], [A @ a + dA @ v - rate])
momentum = ca.Function("momentum", [q, v], [cpin.computeCentroidalMomentum(cmodel, cdata, q, v).vector, A @ v])

fext = [cpin.Force.Zero() for _ in range(model.njoints)]
for k, foot in enumerate(feet):
    joint = model.frames[foot].parentJoint
    to_joint = cpin.SE3(
        cdata.oMi[joint].rotation.T @ cdata.oMf[foot].rotation, cdata.oMi[joint].actInv(cdata.oMf[foot].translation)
    )
    local = cpin.Force(cdata.oMf[foot].rotation.T @ f[:, k], np.zeros(3))
    fext[joint] = to_joint.act(local)
torque = ca.Function("torque", [q, v, a, f], [cpin.rnea(cmodel, cdata, q, v, a, fext)])

rng = np.random.default_rng(0)
data = model.createData()
at = pin.integrate(model, pin.neutral(model), 0.5 * rng.normal(size=model.nv))
speed, push = rng.normal(size=model.nv), 20 * rng.normal(size=(3, 4))
h, by_map = momentum(at, speed)
assert np.abs((h - by_map).full()).max() < 1e-12
pin.framesForwardKinematics(model, data, at)
forces = pin.StdVec_Force()
for _ in range(model.njoints):
    forces.append(pin.Force.Zero())
for k, foot in enumerate(feet):
    joint, place = model.frames[foot].parentJoint, data.oMf[foot]
    forces[joint] = model.frames[foot].placement.act(pin.Force(place.rotation.T @ push[:, k], np.zeros(3)))
free = pin.aba(model, data, at, speed, np.zeros(model.nv), forces)
assert np.abs(gap(at, speed, free, push).full()).max() < 1e-10
expected = pin.rnea(model, data, at, speed, free, forces)
assert np.abs(torque(at, speed, free, push).full().ravel() - expected).max() < 1e-10
print("no gap in the centroidal dynamics")
