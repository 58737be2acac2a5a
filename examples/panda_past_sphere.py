"""The Panda follows a curve past a sphere at 500 Hz, by one Gauss–Newton step of its dynamics a tick.

    python examples/panda_past_sphere.py            1.6 s; needs a C compiler
    python examples/panda_past_sphere.py --plot panda_past_sphere.png    needs matplotlib

The curve leads through the sphere. A plan has 20 intervals of 50 ms, within all limits of the URDF; 25 ticks pass in
each of them, in which the plan stays where it is and the reference moves on.
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

HOME = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.785])  # rad
TICK, INTERVAL, INTERVALS = 0.002, 0.05, 20  # s, s; intervals of a plan
RADIUS, MARGIN = 0.08, 0.01  # m, around the sphere
WAY = np.array([0.0, 0.32, 0.16])  # m, of the reference
SPHERE = np.array([0.03, 0.17, 0.08])  # m, its centre from where the flange begins


class Loop(NamedTuple):
    """What happened: a row for each tick."""

    place: np.ndarray  # of the flange [m]
    target: np.ndarray
    torque: np.ndarray  # of each joint [N m]
    seconds: np.ndarray  # of the wall clock
    solved: np.ndarray


def curve(begin: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Where the flange should be (3 × len(t)): it rises and moves to the side, from rest to rest, in 1.5 s."""
    way = np.clip(t / 1.5, 0, 1)
    smooth = way**3 * (10 - 15 * way + 6 * way**2)
    return begin[:, None] + WAY[:, None] * smooth


def solver_of(model: pin.Model, placement: ca.Function) -> ocp.RealTimeSolver:
    """The solver, with the parameters q0, v0, target (3 × (N + 1)) and centre (3)."""
    dyn = gd.NewtonEuler(model)
    problem = ocp.Problem(dyn, INTERVAL * INTERVALS, INTERVALS, bounds=ocp.Bounds.of(dyn, model))
    problem.start(problem.parameter("q0", 7), problem.parameter("v0", 7))
    problem.parameter("target", 3, at="grid")
    centre = problem.parameter("centre", 3)
    problem.path(lambda q: ca.sumsqr(placement(q)[:3, 3] - centre), lower=(RADIUS + MARGIN) ** 2, at="grid")
    away = problem.integral(lambda q, target: 100 * ca.sumsqr(placement(q)[:3, 3] - target))
    calm = problem.integral(lambda v: 1e-2 * ca.sumsqr(v)) + problem.integral(lambda u: 1e-6 * ca.sumsqr(u))
    problem.minimize(away + calm)
    problem.guess(ocp.rest_to_rest(dyn, HOME, HOME, INTERVAL * INTERVALS))
    return problem.solver("rti", {"iterations": 3})


def run(model: pin.Model, duration: float) -> Loop:
    """Close the loop: torques are held for a tick."""
    dyn, placement = gd.NewtonEuler(model), gd.Kinematics(model).frame_placement("flange")
    solver, grid = solver_of(model, placement), INTERVAL * np.arange(INTERVALS + 1)
    q, v, rows = HOME, np.zeros(7), []
    begin = placement(q).full()[:3, 3]
    for tick in range(round(duration / TICK)):
        target = curve(begin, TICK * tick + grid)
        start = time.perf_counter()
        plan = solver(q0=q, v0=v, target=target, centre=begin + SPHERE)
        seconds = time.perf_counter() - start
        rows.append((placement(q).full()[:3, 3], target[:, 0], plan.u[0], seconds, plan.solved))
        motion = gd.simulate(dyn, (q, v), [0, TICK], plan.u[0])
        q, v = motion.q[-1], motion.v[-1]
    return Loop(*(np.array(column) for column in zip(*rows, strict=True)))


def distances(loop: Loop) -> np.ndarray:
    """Of the flange from the centre of the sphere [m]."""
    return np.linalg.norm(loop.place - loop.target[0] - SPHERE, axis=1)


def plot(path: str, loop: Loop, model: pin.Model) -> None:
    """The way past the sphere, the distance from it, the error and the torques."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    figure = Figure(figsize=(8, 5), layout="constrained")
    (way, distance), (torque, error) = figure.subplots(2, 2)
    t, place, target = TICK * np.arange(len(loop.place)), *(100 * (x - x[0]) for x in (loop.place, loop.target))
    along = WAY / np.linalg.norm(WAY)
    way.add_patch(Circle((100 * SPHERE @ along, 100 * SPHERE[0]), 100 * RADIUS, color="C3", alpha=0.3, linewidth=0))
    way.plot(target @ along, target[:, 0], "--", color="0.4", label="reference")
    way.plot(place @ along, place[:, 0], label="flange")
    way.set(xlabel="along the reference [cm]", ylabel="x [cm]", aspect="equal")
    distance.plot(t, 100 * distances(loop))
    distance.axhline(100 * RADIUS, color="C3", linestyle="--", linewidth=0.8, label="sphere")
    distance.axhline(100 * (RADIUS + MARGIN), color="0.5", linestyle="--", linewidth=0.8, label="margin")
    distance.set(ylabel="flange from the centre [cm]", ylim=(0, None))
    torque.plot(t, loop.torque / model.effortLimit, linewidth=1, label=[f"joint {k}" for k in range(1, 8)])
    torque.set(ylabel="torque / limit", xlabel="time [s]")
    error.plot(t, 10 * np.linalg.norm(place - target, axis=1))
    error.set(ylabel="flange off the reference [mm]", xlabel="time [s]", ylim=(0, None))
    for axes in (way, distance):
        axes.legend(frameon=False, fontsize=8)
    torque.legend(frameon=False, fontsize=7, ncols=2)
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--duration", type=float, default=1.6, metavar="S", help="of the motion (1.6)")
    parser.add_argument("--plot", metavar="FILE", help="draw the way, distances, torques and errors")
    given = parser.parse_args(arguments)

    model = gd.load_urdf("panda7")
    loop = run(model, given.duration)
    error, milliseconds = np.linalg.norm(loop.place - loop.target, axis=1), 1e3 * loop.seconds[1:]
    print(f"ticks solved: {int(loop.solved.sum())} of {len(loop.solved)}")
    print(f"time of a tick: {np.median(milliseconds):.2f} ms (median), at most {milliseconds.max():.2f} ms")
    print(f"flange to the centre of the sphere: at least {100 * distances(loop).min():.2f} cm, ", end="")
    print(f"allowed {100 * RADIUS:g} cm, with a margin {100 * (RADIUS + MARGIN):g} cm")
    print(f"off the reference: {1e3 * error.max():.0f} mm at the sphere, {1e3 * error[-1]:.2f} mm at the end")
    print(f"torques up to {(np.abs(loop.torque) / model.effortLimit).max():.0%} of their limits")
    if given.plot:
        plot(given.plot, loop, model)


if __name__ == "__main__":
    main()
