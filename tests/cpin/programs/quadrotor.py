"""A quadrotor flies to a point: multiple shooting on the manifold, integrate for the steps, difference for the goal."""

import casadi as ca
import numpy as np
import pinocchio as pin
from pinocchio import casadi as cpin

model = pin.Model()
body = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
model.appendBodyToJoint(body, pin.Inertia.FromBox(1.2, 0.4, 0.4, 0.1), pin.SE3.Identity())
cmodel = cpin.Model(model)
cdata = cmodel.createData()
q, v, u, dt = ca.SX.sym("q", 7), ca.SX.sym("v", 6), ca.SX.sym("u", 4), 0.1
arms = 0.2 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
torque = ca.vertcat(0, 0, ca.sum1(u), ca.dot(arms[:, 1], u), -ca.dot(arms[:, 0], u), 0.05 * (u[0] - u[1] + u[2] - u[3]))
a = cpin.aba(cmodel, cdata, q, v, torque)
v_next = v + dt * a
step = ca.Function("step", [q, v, u], [cpin.integrate(cmodel, q, dt * v_next), v_next])
moved = ca.Function("moved", [q, v], [cpin.integrate(cmodel, q, v)])
apart = ca.Function("apart", [q, v], [cpin.difference(cmodel, q, ca.vertcat(1.0, 0.5, 0.8, 0, 0, 0, 1))])

n, opti = 15, ca.Opti()
start = pin.neutral(model)
dq, vs, us = opti.variable(6, n + 1), opti.variable(6, n + 1), opti.variable(4, n)
cost = 0
for k in range(n):
    here, there = moved(start, dq[:, k]), moved(start, dq[:, k + 1])
    q_next, reached = step(here, vs[:, k], us[:, k])
    opti.subject_to(
        ca.Function("gap", [q, v], [cpin.difference(cmodel, q, cpin.integrate(cmodel, start, v))])(q_next, dq[:, k + 1])
        == 0
    )
    opti.subject_to(vs[:, k + 1] == reached)
    cost += 1e-2 * ca.sumsqr(us[:, k] - 1.2 * 9.81 / 4) + 1e-2 * ca.sumsqr(vs[:, k])
opti.subject_to(dq[:, 0] == 0)
opti.subject_to(vs[:, 0] == 0)
opti.subject_to(apart(moved(start, dq[:, n]), vs[:, n]) == 0)
opti.subject_to(vs[:, n] == 0)
opti.subject_to(opti.bounded(0, ca.vec(us), 8))
opti.minimize(cost)
opti.set_initial(us, 1.2 * 9.81 / 4)
opti.solver("ipopt", {"print_time": False}, {"print_level": 0})
solution = opti.solve()
at, speed, data = start, np.zeros(6), model.createData()
thrusts = solution.value(us)
for k in range(n):  # Pinocchio flies the plan
    f = thrusts[:, k]
    tau = np.array([0, 0, f.sum(), arms[:, 1] @ f, -arms[:, 0] @ f, 0.05 * (f[0] - f[1] + f[2] - f[3])])
    speed = speed + dt * pin.aba(model, data, at, speed, tau)
    at = pin.integrate(model, at, dt * speed)
assert np.abs(pin.difference(model, at, np.array([1.0, 0.5, 0.8, 0, 0, 0, 1]))).max() < 1e-6
print("a quadrotor at its goal in", n, "steps")
