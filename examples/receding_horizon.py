"""Model predictive control: a Panda's flange follows a moving point, past a sphere that stands in its way.

    python examples/receding_horizon.py            100 ticks of 50 ms, each a plan of 0.6 s
    python examples/receding_horizon.py --coarse   30 ticks

The solver is built once. Each tick begins at the last plan, primal and dual, shifted by one interval; the first u of
the new plan moves a robot that carries 0.5 kg more than the plan knows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import ocp

TICK, INTERVALS = 0.05, 12
"""Length of a tick [s], and of the plan in ticks."""
HOME = np.array([0.0, -0.6, 0.0, -2.0, 0.0, 1.5, 0.0])
RADIUS = 0.08
"""The flange stays so far from the centre of the sphere [m]."""


class Loop(NamedTuple):
    """What happened: a row for each tick."""

    distance: np.ndarray  # from the centre of the sphere [m]
    error: np.ndarray  # from the point that is followed [m]
    iterations: np.ndarray
    seconds: np.ndarray
    solved: np.ndarray


def point(start: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Where the flange should be: 3 × len(t) [m]."""
    return start[:, None] + np.array([0 * t, 0.2 * (1 - np.cos(1.5 * t)), 0.04 * np.sin(1.5 * t)])


def build(model: pin.Model) -> ocp.Solver:
    """The solver, with the parameters q0, v0, target (3 × (N + 1)) and centre (3)."""
    dyn = gd.NewtonEuler(model)
    placement = gd.Kinematics(model).frame_placement("flange")
    problem = ocp.Problem(dyn, TICK * INTERVALS, INTERVALS, bounds=ocp.Bounds.of(dyn, model), degree=2)
    problem.start(problem.parameter("q0", 7), problem.parameter("v0", 7))
    problem.parameter("target", 3, at="grid")
    centre = problem.parameter("centre", 3)
    problem.path(lambda q: ca.sumsqr(placement(q)[:3, 3] - centre), lower=RADIUS**2)
    away = problem.integral(lambda q, target: ca.sumsqr(placement(q)[:3, 3] - target))
    calm = problem.integral(lambda v, u: 1e-2 * ca.sumsqr(v) + 1e-5 * ca.sumsqr(u))
    problem.minimize(100 * away + calm)
    problem.guess(ocp.rest_to_rest(dyn, HOME, HOME, TICK * INTERVALS))
    return problem.solver("ipopt", {"ipopt.tol": 1e-6})


def run(solver: ocp.Solver, model: pin.Model, ticks: int) -> Loop:
    """Close the loop with a robot that carries more than the plan knows."""
    heavy = model.copy()
    joint = model.frames[model.getFrameId("flange")].parentJoint
    heavy.inertias[joint] += pin.Inertia(0.5, np.array([0.0, 0.0, 0.1]), 1e-3 * np.eye(3))
    robot, placement = gd.NewtonEuler(heavy), gd.Kinematics(model).frame_placement("flange")
    q, v = HOME, np.zeros(7)
    start = placement(q).full()[:3, 3]
    centre = start + np.array([0.0, 0.2, 0.06])
    rows = []
    for tick in range(ticks):
        times = TICK * (tick + np.arange(INTERVALS + 1))
        begin = time.perf_counter()
        plan = solver(q0=q, v0=v, target=point(start, times), centre=centre, shift=min(tick, 1))
        seconds = time.perf_counter() - begin
        motion = gd.simulate(robot, (q, v), [0, TICK], plan.u[0])
        q, v = motion.q[-1], motion.v[-1]
        reached = placement(q).full()[:3, 3]
        followed = point(start, times[1:2]).ravel()
        distances = np.linalg.norm(reached - centre), np.linalg.norm(reached - followed)
        rows.append((*distances, plan.iterations, seconds, plan.solved))
    return Loop(*np.array(rows).T)


def plot(path: str, loop: Loop) -> None:
    """Time and iterations of each tick; distance from the sphere and from the point."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.4), layout="constrained")
    ticks, (upper, lower) = np.arange(len(loop.seconds)), figure.subplots(2, 1, sharex=True)
    upper.bar(ticks, 1e3 * loop.seconds, color="C0")
    upper.set(ylabel="time of a tick [ms]")
    lower.plot(ticks, loop.distance, label="from the centre of the sphere")
    lower.plot(ticks, loop.error, label="from the point")
    lower.axhline(RADIUS, color="0.5", linestyle="--", linewidth=0.8)
    lower.set(xlabel="tick", ylabel="distance of the flange [m]")
    lower.set_ylim(0, 1.35 * loop.distance.max())
    lower.legend(frameon=False, fontsize=8, ncols=2, loc="upper center")
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="30 ticks in place of 100")
    parser.add_argument("--plot", metavar="FILE", help="draw time and distances")
    given = parser.parse_args(arguments)

    model = gd.load_urdf("panda7")
    loop = run(build(model), model, 30 if given.coarse else 100)
    print(f"ticks solved: {int(loop.solved.sum())} of {len(loop.solved)}")
    print(f"iterations: first {int(loop.iterations[0])}, then {np.median(loop.iterations[1:]):.0f} (median)")
    milliseconds = 1e3 * loop.seconds
    print(f"time of a tick: first {milliseconds[0]:.0f} ms, then {np.median(milliseconds[1:]):.0f} ms (median)")
    print(f"distance from the centre of the sphere: at least {loop.distance.min():.4f} m, allowed {RADIUS} m")
    print(f"distance from the point where the sphere is far: {loop.error[loop.distance > 2 * RADIUS].max():.4f} m")
    if given.plot:
        plot(given.plot, loop)


if __name__ == "__main__":
    main()
