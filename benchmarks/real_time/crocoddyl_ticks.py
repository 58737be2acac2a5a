"""What an environment with crocoddyl runs: ticks of a quadruped on its feet, from JSON to JSON."""

import json
import sys
import time
from typing import Any

import crocoddyl
import numpy as np
import pinocchio as pin

given = json.load(sys.stdin)
model = pin.buildModelFromUrdf(given["urdf"], pin.JointModelFreeFlyer())
state = crocoddyl.StateMultibody(model)
actuation = crocoddyl.ActuationModelFloatingBase(state)
start, n, h, nu = np.array(given["start"]), given["n"], given["h"], actuation.nu
references = [np.r_[q, np.zeros(model.nv)] for q in given["references"]]


def action(last: bool) -> tuple[Any, Any]:
    """A node, and the residual that has its reference."""
    costs, contacts = crocoddyl.CostModelSum(state, nu), crocoddyl.ContactModelMultiple(state, nu)
    residual = crocoddyl.ResidualModelState(state, references[0], nu)
    weights = crocoddyl.ActivationModelWeightedQuad(np.r_[given["q"], given["v"]])
    costs.addCost("x", crocoddyl.CostModelResidual(state, weights, residual), 100.0)
    costs.addCost("u", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, nu)), 100 * given["u"])
    for foot in given["feet"]:
        frame = model.getFrameId(foot)
        axes, gains = pin.LOCAL_WORLD_ALIGNED, np.array([0.0, 20.0])
        contacts.addContact(foot, crocoddyl.ContactModel3D(state, frame, np.zeros(3), axes, nu, gains))
        cone = crocoddyl.FrictionCone(np.eye(3), given["mu"], 4, True)
        bounds = crocoddyl.ActivationModelQuadraticBarrier(crocoddyl.ActivationBounds(cone.lb, cone.ub))
        force = crocoddyl.ResidualModelContactFrictionCone(state, frame, cone, nu)
        costs.addCost(f"cone of {foot}", crocoddyl.CostModelResidual(state, bounds, force), 100.0)
    free = crocoddyl.DifferentialActionModelContactFwdDynamics(state, actuation, contacts, costs, 0.0, True)
    made = crocoddyl.IntegratedActionModelEuler(free, 0.0 if last else h)
    return made, residual


def ticks(kind: type) -> dict[str, list[float]]:
    """A closed loop: seconds and errors of the base."""
    nodes, residuals = zip(*(action(k == n) for k in range(n + 1)), strict=True)
    x = np.r_[start, np.zeros(model.nv)]
    problem = crocoddyl.ShootingProblem(x, list(nodes[:-1]), nodes[-1])
    problem.nthreads = 1
    if kind is crocoddyl.SolverBoxFDDP:
        for node in nodes[:-1]:
            node.u_ub = np.array(given["most"])[-nu:]
            node.u_lb = -node.u_ub
    solver = kind(problem)
    us, xs = list(problem.quasiStatic([x] * n)), [x] * (n + 1)
    found: dict[str, list[float]] = {"seconds": [], "errors": []}
    for k in range(len(references) - n - 1):
        for j, residual in enumerate(residuals):
            residual.reference = references[k + j]
        problem.x0 = x
        begin = time.thread_time()
        solver.solve(xs, us, 1 if k else 30, False)
        found["seconds"].append(time.thread_time() - begin)
        found["errors"].append(float(np.linalg.norm(x[:3] - references[k][:3])))
        xs, us = list(solver.xs), list(solver.us)
        x = _next(nodes[0], x, us[0])
        xs, us = [*xs[1:], xs[-1]], [*us[1:], us[-1]]
    return found


def _next(node: Any, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    data = node.createData()
    node.calc(data, x, u)
    return np.array(data.xnext)


solvers = {"FDDP": crocoddyl.SolverFDDP, "BoxFDDP": crocoddyl.SolverBoxFDDP}
answer = {"crocoddyl": crocoddyl.__version__, "pin": pin.__version__}
print(json.dumps(answer | {"ticks": {name: ticks(kind) for name, kind in solvers.items()}}))
