"""A smooth motion through noisy configurations of a floating body with joints; unknowns live in the tangent space."""

import casadi as ca
import numpy as np
import pinocchio as pin
from pinocchio import casadi as cpin

model = pin.Model()
base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
shoulder = model.addJoint(base, pin.JointModelSpherical(), pin.SE3.Identity(), "shoulder")
wheel = model.addJoint(shoulder, pin.JointModelRUBZ(), pin.SE3.Identity(), "wheel")
model.addJoint(wheel, pin.JointModelRX(), pin.SE3.Identity(), "finger")
nq, nv = model.nq, model.nv

rng = np.random.default_rng(4)
nodes, weight = 8, 3.0
truth, speed = pin.randomConfiguration(model, -np.ones(nq), np.ones(nq)), 0.3 * rng.standard_normal(nv)
measured = [pin.integrate(model, truth, k * speed + 0.05 * rng.standard_normal(nv)) for k in range(nodes)]

cmodel = cpin.Model(model)
cq, cq1, cv = ca.SX.sym("q", nq), ca.SX.sym("q1", nq), ca.SX.sym("v", nv)
integrate = ca.Function("integrate", [cq, cv], [cpin.integrate(cmodel, cq, cv)])
difference = ca.Function("difference", [cq, cq1], [cpin.difference(cmodel, cq, cq1)])

opti = ca.Opti()
dxs = opti.variable(nv, nodes)
qs = [integrate(measured[k], dxs[:, k]) for k in range(nodes)]
cost = sum(ca.sumsqr(difference(measured[k], qs[k])) for k in range(nodes))
for k in range(1, nodes - 1):
    cost += weight * ca.sumsqr(difference(qs[k], qs[k + 1]) - difference(qs[k - 1], qs[k]))
opti.minimize(cost)
opti.solver("ipopt", {"print_time": False, "expand": True}, {"print_level": 0, "sb": "yes", "tol": 1e-9})
solution = opti.solve()
smooth = [pin.integrate(model, q, dx) for q, dx in zip(measured, solution.value(dxs).T, strict=True)]


def gradient(k):
    """The derivative of the cost by a step at node k, of Pinocchio's own differences and their derivatives."""
    row = np.zeros(nv)

    def add(residual, derivative):
        row[:] = row + 2 * residual @ derivative

    add(pin.difference(model, measured[k], smooth[k]), pin.dDifference(model, measured[k], smooth[k], pin.ARG1))
    for i in range(1, nodes - 1):
        later, sooner = (smooth[i], smooth[i + 1]), (smooth[i - 1], smooth[i])
        bend = pin.difference(model, *later) - pin.difference(model, *sooner)
        by = {i - 1: -pin.dDifference(model, *sooner, pin.ARG0), i + 1: pin.dDifference(model, *later, pin.ARG1)}
        by[i] = pin.dDifference(model, *later, pin.ARG0) - pin.dDifference(model, *sooner, pin.ARG1)
        if k in by:
            add(weight * bend, by[k])
    return row


steepest = max(np.abs(gradient(k)).max() for k in range(nodes))
assert steepest < 1e-6, steepest
before, after = (
    [np.linalg.norm(pin.difference(model, pin.integrate(model, truth, k * speed), qs[k])) for k in range(nodes)]
    for qs in (measured, smooth)
)
assert np.mean(after) < np.mean(before)
found = difference(smooth[0], smooth[1]).full().ravel()
assert np.allclose(found, pin.difference(model, smooth[0], smooth[1]), atol=1e-12)
print("a smooth motion through", nodes, "configurations")
