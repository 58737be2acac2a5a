"""A leg on the ground: constraintDynamics with a corrector, forwardDynamics with a Jacobian, and an impact."""

import casadi as ca
import numpy as np
import pinocchio as pin
from pinocchio import casadi as cpin

model = pin.Model()
base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
model.appendBodyToJoint(base, pin.Inertia.FromBox(3.0, 0.3, 0.2, 0.1), pin.SE3.Identity())
hip = model.addJoint(base, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.1, 0, 0])), "hip")
model.appendBodyToJoint(hip, pin.Inertia.FromSphere(0.5, 0.05), pin.SE3(np.eye(3), np.array([0, 0, -0.1])))
knee = model.addJoint(hip, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0, 0, -0.2])), "knee")
model.appendBodyToJoint(knee, pin.Inertia.FromSphere(0.3, 0.05), pin.SE3(np.eye(3), np.array([0, 0, -0.1])))
at_foot = pin.SE3(np.eye(3), np.array([0, 0, -0.2]))
foot = model.addFrame(pin.Frame("foot", knee, at_foot, pin.OP_FRAME))

cmodel = cpin.Model(model)
cdata = cmodel.createData()
cq, cv, ctau = (ca.SX.sym(name, n) for name, n in (("q", model.nq), ("v", model.nv), ("tau", model.nv)))
contact = cpin.RigidConstraintModel(cpin.ContactType.CONTACT_3D, cmodel, knee, cpin.SE3(at_foot), cpin.LOCAL)
contact.corrector.Kd[:] = 10.0
held = contact.createData()
cpin.initConstraintDynamics(cmodel, cdata, [contact], [held])
acceleration = cpin.constraintDynamics(
    cmodel, cdata, cq, cv, ctau, [contact], [held], cpin.ProximalSettings(1e-12, 0.0, 1)
)
by_constraint = ca.Function("by_constraint", [cq, cv, ctau], [acceleration, held.contact_force.linear])

other = cmodel.createData()
cpin.computeJointJacobians(cmodel, other, cq)
cpin.forwardKinematics(cmodel, other, cq, cv, 0 * cv)
cpin.updateFramePlacements(cmodel, other)
jacobian = cpin.getFrameJacobian(cmodel, other, foot, cpin.LOCAL)[:3, :]
drift = cpin.getFrameClassicalAcceleration(cmodel, other, foot, cpin.LOCAL).linear + 10.0 * jacobian @ cv
cpin.forwardDynamics(cmodel, other, cq, cv, ctau, jacobian, drift)
by_jacobian = ca.Function("by_jacobian", [cq, cv, ctau], [other.ddq, other.lambda_c])
cpin.impulseDynamics(cmodel, other, cq, cv, jacobian, 0.0)
landing = ca.Function("landing", [cq, cv], [other.dq_after])

rng = np.random.default_rng(0)
q = pin.integrate(model, pin.neutral(model), 0.5 * rng.normal(size=model.nv))
v, tau, data = rng.normal(size=model.nv), rng.normal(size=model.nv), model.createData()
first, second = by_constraint(q, v, tau), by_jacobian(q, v, tau)
pin.computeAllTerms(model, data, q, v)
pin.updateFramePlacements(model, data)
J = pin.getFrameJacobian(model, data, foot, pin.LOCAL)[:3]
pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
gamma = pin.getFrameClassicalAcceleration(model, data, foot, pin.LOCAL).linear + 10.0 * J @ v
expected = pin.forwardDynamics(model, data, q, v, tau, J, gamma)
for a, force in (first, second):
    assert np.abs(a.full().ravel() - expected).max() < 1e-10
    assert np.abs(force.full().ravel() - data.lambda_c).max() < 1e-10
assert np.abs(J @ landing(q, v).full()).max() < 1e-12
print("a foot that stands, in two ways")
