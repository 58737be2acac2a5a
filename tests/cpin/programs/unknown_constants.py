"""Constants as unknowns: a load by the regressor, a displaced joint by exp6, a mass by its symbol, on an arm."""

import casadi as ca
import numpy as np
import pinocchio as pin
from pinocchio import casadi as cpin

model = pin.buildSampleModelManipulator()
cmodel = cpin.Model(model)
cdata = cmodel.createData()
q, v, a = (ca.SX.sym(name, model.nv) for name in "qva")
p, d, g = ca.SX.sym("p", 10), ca.SX.sym("d", 6), ca.SX.sym("g", 3)
joint, tool = model.njoints - 1, model.nframes - 1

cmodel.inertias[joint] = cpin.Inertia.FromDynamicParameters(p)
cmodel.gravity.linear = g
torque = cpin.rnea(cmodel, cdata, q, v, a)
slope = ca.Function("slope", [q, v, a, p, g], [ca.jacobian(torque, p), torque])

other = cpin.Model(model)
moved = other.createData()
other.jointPlacements[3] = other.jointPlacements[3] * cpin.exp6(d)
cpin.framesForwardKinematics(other, moved, q)
target = cpin.SE3(ca.SX.sym("T", 4, 4))
error = cpin.log6(moved.oMf[tool].actInv(target)).vector
fit = ca.Function("fit", [q, d, ca.vec(target.homogeneous[:3, :])], [error, ca.jacobian(error, d)])

rng = np.random.default_rng(0)
state = [rng.normal(size=model.nv) for _ in range(3)]
gravity = np.array([0.0, 0.0, -1.62])
values = model.inertias[joint].toDynamicParameters()
Y, tau = slope(*state, values, gravity)
moon = pin.Model(model)
moon.gravity = pin.Motion(gravity, np.zeros(3))
data = moon.createData()
assert np.abs(tau.full().ravel() - pin.rnea(moon, data, *state)).max() < 1e-10
regressor = pin.computeJointTorqueRegressor(moon, data, *state)[:, 10 * (joint - 1) : 10 * joint]
assert np.abs(Y.full() - regressor).max() < 1e-9

truth = 0.02 * rng.normal(size=6)
real = pin.Model(model)
real.jointPlacements[3] = real.jointPlacements[3] * pin.exp6(truth)
found, data = np.zeros(6), real.createData()
configurations = rng.uniform(-2, 2, (10, model.nq))
for _ in range(5):  # Gauss–Newton
    rows = []
    for each in configurations:
        pin.framesForwardKinematics(real, data, each)
        rows.append(fit(each, found, data.oMf[tool].homogeneous[:3].ravel(order="F")))
    r, J = (np.vstack([x[k].full() for x in rows]) for k in range(2))
    found = found - np.linalg.lstsq(J, r, rcond=None)[0].ravel()
assert np.abs(found - truth).max() < 1e-9, found - truth
print("a load, a moon and a displaced joint")
