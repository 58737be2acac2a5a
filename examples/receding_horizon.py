"""Model predictive control: the tool of a UR10 follows a moving pose past a sphere, with a load that no plan knows.

    python examples/receding_horizon.py            100 ticks of 50 ms, each a plan of 0.6 s; needs example-robot-data
    python examples/receding_horizon.py --coarse   60 ticks

The solver is built once. Each tick begins at the last plan, primal and dual, shifted by one interval. Its torques move
a robot that carries 1 kg more than the model of the plan; until the next tick, the drives damp what its velocities
differ from the planned ones. Plans keep away from the sphere by a margin, into which the load pulls the tool: they come
back within a tick. In one tick the sphere is measured where the tool is: that has no plan, and the last one goes on. A
plan is used as soon as its tick begins, as if solving took no time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import ocp

ROBOT, TOOL = "ur_description/urdf/ur10_robot.urdf", "tool0"
HOME = np.array([-0.7, -1.2, 1.6, -1.97, -1.57, 0.0])  # rad, the tool points down
TICK, INTERVALS = 0.05, 12  # s; ticks in a plan
LENGTH, DURATION = 0.8, 5.0  # m, s: of the way of the pose
RADIUS, MARGIN = 0.12, 0.01  # m, around the sphere
LOAD = pin.Inertia(1.0, np.array([0.0, 0.1, 0.0]), 1e-3 * np.eye(3))  # at the last joint: along the axis of the tool
WRONG = 20  # the tick in which the sphere is measured where the tool is
COLD = 10  # so many ticks are solved from rest as well, to count iterations


class Loop(NamedTuple):
    """What happened: a row for each tick."""

    distance: np.ndarray  # of the tool from the centre of the sphere [m]
    position: np.ndarray  # of the tool from that of the pose [m]
    angle: np.ndarray  # of the tool from that of the pose [rad]
    iterations: np.ndarray
    cold: np.ndarray  # iterations from rest; nan where they were not counted
    seconds: np.ndarray  # of the processor
    solved: np.ndarray


def build() -> pin.Model:
    """The UR10 of example-robot-data."""
    folder = metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    return gd.load_urdf(Path(str(folder)) / ROBOT, check="off")


def pose(start: np.ndarray, t: float) -> np.ndarray:
    """Where the tool should be (4 × 4): it moves along y, and turns about the vertical and to the side."""
    way = (1 - np.cos(np.pi * t / DURATION)) / 2
    tilt = 0.3 * np.sin(2 * np.pi * t / DURATION) ** 2
    placement = start.copy()
    placement[:3, :3] = start[:3, :3] @ pin.rpy.rpyToMatrix(tilt, 0.0, 0.6 * way)
    placement[1, 3] += LENGTH * way
    return placement


def targets(start: np.ndarray, tick: int) -> np.ndarray:
    """The poses in the instants of a plan: columns of position and rotation matrix (12 × (N + 1))."""
    return np.column_stack([pose(start, TICK * (tick + k))[:3, [3, 0, 1, 2]].ravel("F") for k in range(INTERVALS + 1)])


def solver_of(dyn: gd.Dynamics, model: pin.Model) -> ocp.Solver:
    """The solver, with the parameters q0, v0, target (12 × (N + 1)) and centre (3)."""
    placement = gd.Kinematics(model).frame_placement(TOOL)
    problem = ocp.Problem(dyn, TICK * INTERVALS, INTERVALS, bounds=ocp.Bounds.of(dyn, model), degree=2)
    problem.start(problem.parameter("q0", dyn.nq), problem.parameter("v0", dyn.nv))
    problem.parameter("target", 12, at="grid")
    centre = problem.parameter("centre", 3)

    def away(q: ca.MX, target: ca.MX) -> ca.MX:
        """|Δp|² + 0.05 |ΔR|², which for a rotation by θ is 0.4 sin²(θ/2)."""
        here = placement(q)
        return ca.sumsqr(here[:3, 3] - target[:3]) + 0.05 * ca.sumsqr(ca.vec(here[:3, :3]) - target[3:])

    problem.path(lambda q: ca.sumsqr(placement(q)[:3, 3] - centre), lower=(RADIUS + MARGIN) ** 2, at="grid")
    calm = problem.integral(lambda v, u: 1e-2 * ca.sumsqr(v) + 1e-6 * ca.sumsqr(u))
    problem.minimize(100 * problem.integral(away) + calm)
    problem.guess(at_rest(dyn, HOME))
    return problem.solver("ipopt", {"ipopt.tol": 1e-6, "ipopt.max_iter": 30})


def at_rest(dyn: gd.Dynamics, q: np.ndarray) -> ocp.Guess:
    """The guess of a cold start."""
    return ocp.rest_to_rest(dyn, q, q, TICK * INTERVALS)


def law(plan: ocp.Solution, damping: np.ndarray) -> ca.Function:
    """(t, x) → u until the next tick: the planned torques, and a damping of what v differs from the planned one."""
    t, x = ca.MX.sym("t"), ca.MX.sym("x", 2 * len(damping))
    planned = plan.v[0] + t / TICK * ca.DM(plan.v[1] - plan.v[0])
    return ca.Function("u", [t, x], [plan.u[0] + damping * (planned - x[len(damping) :])])


def run(model: pin.Model, ticks: int) -> Loop:
    """Close the loop with a robot that carries more than the plan knows."""
    heavy = model.copy()
    heavy.inertias[model.frames[model.getFrameId(TOOL)].parentJoint] += LOAD
    dyn, robot, placement = gd.NewtonEuler(model), gd.NewtonEuler(heavy), gd.Kinematics(model).frame_placement(TOOL)
    solver, from_rest = solver_of(dyn, model), solver_of(dyn, model)
    damping = model.effortLimit / model.velocityLimit
    q, v = HOME, np.zeros(model.nv)
    start = here = placement(q).full()
    sphere, rows = pose(start, DURATION / 2)[:3, 3] + np.array([0.02, 0.0, -0.04]), []
    for tick in range(ticks):
        measured = {"q0": q, "v0": v, "target": targets(start, tick)}
        measured["centre"] = here[:3, 3] if tick == WRONG else sphere
        begin = time.process_time()
        plan = solver(**measured, shift=min(tick, 1))
        seconds = time.process_time() - begin
        cold = from_rest(**measured, guess=at_rest(dyn, q)).iterations if tick % COLD == 0 and tick != WRONG else np.nan
        motion = gd.simulate(robot, (q, v), [0, TICK], law(plan, damping))
        q, v = motion.q[-1], motion.v[-1]
        here, wanted = placement(q).full(), pose(start, TICK * (tick + 1))
        off = np.linalg.norm(here[:3, 3] - wanted[:3, 3]), np.linalg.norm(pin.log3(here[:3, :3].T @ wanted[:3, :3]))
        rows.append((np.linalg.norm(here[:3, 3] - sphere), *off, plan.iterations, cold, seconds, plan.solved))
    return Loop(*np.array(rows).T)


def plot(path: str, loop: Loop) -> None:
    """Time and iterations of each tick, distance from the sphere, errors of the pose."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    (seconds, distance), (iterations, error) = figure.subplots(2, 2, sharex=True)
    t = TICK * np.arange(len(loop.seconds))
    failed = loop.solved == 0
    for axes, values in ((seconds, 1e3 * loop.seconds), (iterations, loop.iterations)):
        axes.bar(t, values, TICK, align="edge", color=np.where(failed, "C3", "C0"))
    seconds.axhline(1e3 * TICK, color="0.3", linestyle="--", linewidth=0.8, label="length of a tick")
    seconds.set(ylabel="processor time of a tick [ms]", ylim=(0, 4e3 * TICK))
    for k in np.flatnonzero(loop.seconds > 4 * TICK):
        seconds.text(t[k] + 2 * TICK, 3.7e3 * TICK, f"{1e3 * loop.seconds[k]:.0f} ms", fontsize=8, va="top")
    iterations.plot(t, loop.cold, "k_", markersize=9, markeredgewidth=1.5, label="from rest")
    iterations.bar(0, 0, color="C3", label="no plan: the last one goes on")
    iterations.set(ylabel="iterations of a tick", xlabel="time [s]")
    distance.plot(t + TICK, 100 * loop.distance)
    distance.axhline(100 * RADIUS, color="C3", linestyle="--", linewidth=0.8, label="sphere")
    distance.axhline(100 * (RADIUS + MARGIN), color="0.5", linestyle="--", linewidth=0.8, label="margin")
    distance.set(ylabel="tool from the centre [cm]", ylim=(0, None))
    error.plot(t + TICK, 1e3 * loop.position, label="position [mm]")
    error.plot(t + TICK, np.rad2deg(loop.angle), label="angle [°]")
    error.set(ylabel="tool off its pose", xlabel="time [s]", yscale="log")
    for axes in (seconds, iterations, distance, error):
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="60 ticks in place of 100")
    parser.add_argument("--plot", metavar="FILE", help="draw time, iterations, distance and errors of the ticks")
    given = parser.parse_args(arguments)

    loop = run(build(), 60 if given.coarse else 100)
    later, far = loop.solved[1:] == 1, loop.distance > 2 * RADIUS
    print(f"ticks solved: {int(loop.solved.sum())} of {len(loop.solved)}")
    warm = np.median(loop.iterations[1:][later])
    print(f"iterations: {warm:.0f} (median), from rest {np.nanmedian(loop.cold):.0f}")
    milliseconds = 1e3 * loop.seconds
    print(f"time of a tick: {np.median(milliseconds):.0f} ms (median), at most {milliseconds.max():.0f} ms; ", end="")
    unsolved = "none" if loop.solved.all() else f"{milliseconds[loop.solved == 0].max():.0f} ms"
    print(f"the first {milliseconds[0]:.0f} ms, the unsolved {unsolved}")
    print(f"tool to the centre of the sphere: at least {100 * loop.distance.min():.1f} cm, allowed {100 * RADIUS:g} cm")
    print(f"tool off its pose, far from the sphere: {1e3 * loop.position[far].max():.1f} mm, ", end="")
    print(f"{np.rad2deg(loop.angle[far].max()):.1f}°")
    if given.plot:
        plot(given.plot, loop)


if __name__ == "__main__":
    main()
