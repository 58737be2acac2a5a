"""What an environment with crocoddyl runs: a solver of a robot that follows a reference, a tick for each line of JSON.

The first line describes the problem (``crocoddyl.py`` writes it). Each further one has the state, the references of all
nodes, and whether a loop begins; the answer has the plan, and the seconds of the processor.
"""

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import crocoddyl
import numpy as np
import pinocchio as pin

FIRST_ITERATIONS = 30
ASCENT = 1e3
"""Of the cost, with which a step is still taken, as multiples of what was expected: those of a tick are whole."""
Follow = Callable[[np.ndarray], None]


class Robot:
    """Nodes of a robot; where ``feet`` are given, on these feet."""

    def __init__(self, given: dict[str, Any]) -> None:
        floating = [pin.JointModelFreeFlyer()] if given["feet"] else []
        self.model = pin.buildModelFromUrdf(given["urdf"], *floating)
        self.model.armature[:] = given["armature"]
        self.state = crocoddyl.StateMultibody(self.model)
        kind = crocoddyl.ActuationModelFloatingBase if floating else crocoddyl.ActuationModelFull
        self.actuation = kind(self.state)
        self.given, self.nu = given, self.actuation.nu
        self.most = np.array(given["most"])[-self.nu :]
        self.cones: dict[str, Any] = {}

    def node(self, scale: float, step: float) -> tuple[Any, Follow]:
        """A node, whose costs are scaled, and what gives it its reference."""
        costs, limits = crocoddyl.CostModelSum(self.state, self.nu), self.given["limits"]
        follow = self._follow(costs, scale)
        effort = crocoddyl.ResidualModelControl(self.state, self.nu)
        costs.addCost("u", crocoddyl.CostModelResidual(self.state, effort), 2 * scale * self.given["of_u"])
        if limits is not None:
            at = crocoddyl.ResidualModelState(self.state, self.state.zero(), self.nu)
            within = crocoddyl.ActivationModelQuadraticBarrier(crocoddyl.ActivationBounds(*map(np.array, limits)))
            costs.addCost("limits", crocoddyl.CostModelResidual(self.state, within, at), scale * self.given["barrier"])
        if self.given["feet"]:
            contacts = self._contacts(costs, scale)
            free = crocoddyl.DifferentialActionModelContactFwdDynamics(
                self.state, self.actuation, contacts, costs, 0.0, True
            )
        else:
            free = crocoddyl.DifferentialActionModelFreeFwdDynamics(self.state, self.actuation, costs)
        made = crocoddyl.IntegratedActionModelEuler(free, step, False)
        made.u_lb, made.u_ub = -self.most, self.most
        return made, follow

    def _follow(self, costs: Any, scale: float) -> Follow:
        """The cost of the distance from a reference: of a frame, or of the whole state."""
        weights = 2 * np.array(self.given["of_x"])
        if (frame := self.given["frame"]) is None:
            whole = crocoddyl.ResidualModelState(self.state, self.state.zero(), self.nu)
            weighted = crocoddyl.ActivationModelWeightedQuad(weights)
            costs.addCost("x", crocoddyl.CostModelResidual(self.state, weighted, whole), scale)
            return lambda reference: setattr(whole, "reference", reference)
        place = crocoddyl.ResidualModelFrameTranslation(self.state, self.model.getFrameId(frame), np.zeros(3), self.nu)
        costs.addCost("place", crocoddyl.CostModelResidual(self.state, place), 2 * scale * self.given["of_frame"])
        calm = crocoddyl.ResidualModelState(self.state, self.state.zero(), self.nu)
        weighted = crocoddyl.ActivationModelWeightedQuad(weights)
        costs.addCost("x", crocoddyl.CostModelResidual(self.state, weighted, calm), scale)
        return lambda reference: setattr(place, "reference", reference)

    def _contacts(self, costs: Any, scale: float) -> Any:
        """Of the feet; their friction is a penalty."""
        contacts = crocoddyl.ContactModelMultiple(self.state, self.nu)
        for foot in self.given["feet"]:
            frame, axes = self.model.getFrameId(foot), pin.LOCAL_WORLD_ALIGNED
            gains = np.array([0.0, 20.0])
            contacts.addContact(foot, crocoddyl.ContactModel3D(self.state, frame, np.zeros(3), axes, self.nu, gains))
            cone = crocoddyl.FrictionCone(np.eye(3), self.given["mu"], 4, True)
            bounds = crocoddyl.ActivationModelQuadraticBarrier(crocoddyl.ActivationBounds(cone.lb, cone.ub))
            force = crocoddyl.ResidualModelContactFrictionCone(self.state, frame, cone, self.nu)
            own = crocoddyl.CostModelResidual(self.state, bounds, force)
            costs.addCost(f"friction of {foot}", own, scale * self.given["barrier"])
            self.cones[f"friction of {foot}"] = cone
        return contacts


class Ticks:
    """A solver, whose plan is shifted from tick to tick."""

    def __init__(self, robot: Robot) -> None:
        n, h = robot.given["n"], robot.given["h"]
        nodes, self._follow = zip(
            *[robot.node(1.0, h) for _ in range(n)], robot.node(h / 2, 0.0), strict=True
        )  # a node of no step has its cost as it is
        self._problem = crocoddyl.ShootingProblem(robot.state.zero(), list(nodes[:-1]), nodes[-1])
        self._problem.nthreads = 1
        self._solver = crocoddyl.SolverBoxFDDP(self._problem)
        self._solver.th_acceptNegStep = ASCENT
        self._n, self._nv, self._cones = n, robot.model.nv, robot.cones

    def __call__(self, asked: dict[str, Any]) -> dict[str, Any]:
        x = np.array(asked["x"])
        for follow, reference in zip(self._follow, asked["references"], strict=True):
            follow(np.array(reference))
        self._problem.x0 = x
        if asked["begins"]:
            xs, us = [x] * (self._n + 1), list(self._problem.quasiStatic([x] * self._n))
        else:
            xs, us = list(self._solver.xs), list(self._solver.us)
            xs, us = [*xs[1:], xs[-1]], [*us[1:], us[-1]]
        begin = time.thread_time()
        self._solver.solve(xs, us, FIRST_ITERATIONS if asked["begins"] else 1, False)
        seconds = time.thread_time() - begin
        plan = [np.array(list(each)) for each in (self._solver.us, self._solver.xs)]
        solved = all(np.isfinite(each).all() for each in plan) and math.isfinite(self._solver.cost)
        found = {"u": plan[0].tolist(), "v": plan[1][:, -self._nv :].tolist(), "solved": solved, "seconds": seconds}
        return found | {"violations": self._violations()}

    def _violations(self) -> dict[str, float]:
        """By how much forces leave their pyramids [N]."""
        self._problem.calc(self._solver.xs, self._solver.us)
        costs = [data.differential.costs.costs.todict() for data in self._problem.runningDatas]
        found = {}
        for name, cone in self._cones.items():
            forces = np.array([np.array(each[name].residual.r) for each in costs])
            found[name] = float(np.maximum(np.maximum(cone.lb - forces, forces - cone.ub).max(), 0.0))
        return found


ticks = Ticks(Robot(json.loads(sys.stdin.readline())))
print(json.dumps({}), flush=True)
for line in sys.stdin:
    print(json.dumps(ticks(json.loads(line))), flush=True)
