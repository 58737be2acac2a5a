"""Two arms of a humanoid follow their hands' targets: an Opti problem in a class, warm started, as in teleoperation."""

import casadi as ca
import numpy as np
import pinocchio as pin
from pinocchio import casadi as cpin


class TwoArms:
    def __init__(self, model):
        self.model, self.data = model, model.createData()
        self.hands = [model.getFrameId(name) for name in ("larm_wrist2_joint", "rarm_wrist2_joint")]
        self.cmodel = cpin.Model(model)
        self.cdata = self.cmodel.createData()
        self.cq = ca.SX.sym("q", model.nq, 1)
        self.targets = [ca.SX.sym(f"target{k}", 4, 4) for k in range(2)]
        cpin.framesForwardKinematics(self.cmodel, self.cdata, self.cq)
        placed = [self.cdata.oMf[hand] for hand in self.hands]
        self.translation = ca.Function(
            "translation",
            [self.cq, *self.targets],
            [ca.vertcat(*(m.translation - t[:3, 3] for m, t in zip(placed, self.targets, strict=True)))],
        )
        self.rotation = ca.Function(
            "rotation",
            [self.cq, *self.targets],
            [ca.vertcat(*(cpin.log3(m.rotation @ t[:3, :3].T) for m, t in zip(placed, self.targets, strict=True)))],
        )
        self.opti = ca.Opti()
        self.q, self.last = self.opti.variable(model.nq), self.opti.parameter(model.nq)
        self.wanted = [self.opti.parameter(4, 4) for _ in range(2)]
        away, turned = (f(self.q, *self.wanted) for f in (self.translation, self.rotation))
        lower, upper = model.lowerPositionLimit, model.upperPositionLimit
        self.opti.subject_to(self.opti.bounded(lower, self.q, upper))
        near, smooth = ca.sumsqr(self.q), ca.sumsqr(self.q - self.last)
        self.opti.minimize(50 * ca.sumsqr(away) + 5 * ca.sumsqr(turned) + 1e-4 * near + 1e-4 * smooth)
        self.opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "max_iter": 60, "tol": 1e-8})

    def solve(self, targets, q):
        self.opti.set_initial(self.q, q)
        self.opti.set_value(self.last, q)
        for wanted, target in zip(self.wanted, targets, strict=True):
            self.opti.set_value(wanted, target.homogeneous)
        return self.opti.solve().value(self.q)


def upper_body():
    whole = pin.buildSampleModelHumanoid(False)
    locked = [k for k, name in enumerate(whole.names) if k and "arm" not in name]
    model = pin.buildReducedModel(whole, locked, pin.neutral(whole))
    model.lowerPositionLimit, model.upperPositionLimit = -2.5 * np.ones(model.nq), 2.5 * np.ones(model.nq)
    return model


model = upper_body()
arms, rng = TwoArms(model), np.random.default_rng(0)
q = goal = 0.3 * np.ones(model.nq)
for _ in range(5):
    goal = goal + 0.1 * rng.uniform(-1, 1, model.nq)
    pin.framesForwardKinematics(model, arms.data, goal)
    targets = [arms.data.oMf[hand].copy() for hand in arms.hands]
    q = arms.solve(targets, q)
    pin.framesForwardKinematics(model, arms.data, q)
    errors = [pin.log6(arms.data.oMf[hand].actInv(t)).vector for hand, t in zip(arms.hands, targets, strict=True)]
    assert np.abs(errors).max() < 2e-2, errors
print("two arms reach", len(targets), "targets")
