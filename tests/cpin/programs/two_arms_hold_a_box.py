"""Two arms keep a box between their hands: the placement of one hand in the other by actInv, as a constraint."""

import casadi as ca
import numpy as np
import pinocchio as pin
from pinocchio import casadi as cpin


def two_arms():
    model = pin.Model()
    for name, y in (("left", 0.2), ("right", -0.2)):
        parent, placement = 0, pin.SE3(np.eye(3), np.array([0.0, y, 0.0]))
        for k, joint in enumerate(
            (pin.JointModelRZ, pin.JointModelRY, pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ, pin.JointModelRY)
        ):
            parent = model.addJoint(parent, joint(), placement, f"{name}{k}")
            model.appendBodyToJoint(parent, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
            placement = pin.SE3(np.eye(3), np.array([0.25 if k % 2 else 0.0, 0.0, 0.0]))
        model.addFrame(pin.Frame(f"{name}_hand", parent, pin.SE3(np.eye(3), np.array([0.1, 0, 0])), pin.OP_FRAME))
    return model


model = two_arms()
cmodel = cpin.Model(model)
cdata, left, right = cmodel.createData(), model.getFrameId("left_hand"), model.getFrameId("right_hand")
cq = ca.SX.sym("q", model.nq)
cpin.forwardKinematics(cmodel, cdata, cq)
cpin.updateFramePlacements(cmodel, cdata)
box = cpin.SE3(np.eye(3), np.array([0.0, -0.3, 0.0]))
held = ca.Function("held", [cq], [cpin.log6(cdata.oMf[left].actInv(cdata.oMf[right]).actInv(box)).vector])
reach = ca.Function("reach", [cq], [cdata.oMf[left].translation])
opti = ca.Opti()
q = opti.variable(model.nq)
opti.subject_to(held(q) == 0)
opti.minimize(ca.sumsqr(reach(q) - np.array([0.4, 0.15, 0.1])) + 1e-4 * ca.sumsqr(q))
opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "tol": 1e-10})
opti.set_initial(q, 0.1 + 0.05 * np.arange(model.nq))
found = opti.solve().value(q)
data = model.createData()
pin.framesForwardKinematics(model, data, found)
between = data.oMf[left].actInv(data.oMf[right])
error = pin.log6(between.actInv(pin.SE3(np.eye(3), np.array([0.0, -0.3, 0.0])))).vector
assert np.abs(error).max() < 1e-8, error
print("a box of 0.3 m between two hands")
