"""A Panda makes way for a ball that flies through the place of its hand, by one Gauss–Newton step a tick.

    python examples/panda_past_ball.py        needs a C compiler

The arm has four capsules, each with a gap to the ball and to the floor. The ball is an input of the distances, and so a
parameter of the problem: each tick gets where it is expected at the instants of the plan. The hand stays at its place,
gives way to the ball by the margin, and comes back.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import ocp

HOME = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.785])  # rad
TICK, INTERVAL, INTERVALS = 0.005, 0.03, 20  # s, s; intervals of a plan
RADIUS, MARGIN, SPEED = 0.1, 0.02, 0.8  # m, m, m/s
OFFSET = np.array([0.06, 0.0, -0.06])  # m, of its centre beside the place of the flange
CAPSULES = {  # joint: ends in its axes [m], radius [m]
    "joint2": ((0, 0, 0), (0, -0.316, 0), 0.09),
    "joint4": ((-0.0825, 0.05, 0), (-0.0825, 0.384, 0), 0.08),
    "joint6": ((0, 0, 0), (0.088, 0, 0), 0.08),
    "joint7": ((0, 0, 0.05), (0, 0, 0.15), 0.07),
}


class Loop(NamedTuple):
    """What happened: a row for each tick."""

    q: np.ndarray  # rad
    gap: np.ndarray  # the least one [m]
    off: np.ndarray  # the flange from its place [m]
    torque: np.ndarray  # of each joint, as a part of its limit
    seconds: np.ndarray  # of the wall clock
    solved: np.ndarray


def build() -> tuple[pin.Model, pin.GeometryModel]:
    """The shipped robot with its capsules, of which none is compared with another."""
    model, geometry = gd.load_urdf("panda7"), pin.GeometryModel()
    for joint, (a, b, radius) in CAPSULES.items():
        way = np.subtract(b, a)
        turned = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), way).matrix()
        solid = coal.Capsule(radius, float(np.linalg.norm(way)))
        placement = pin.SE3(turned, np.add(a, b) / 2)
        geometry.addGeometryObject(pin.GeometryObject(joint, model.getJointId(joint), placement, solid))
    return model, geometry


def ball(place: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Centre and radius of the ball (4 × len(t)): it flies along y, and holds the place inside after 0.8 s."""
    centre = (place + OFFSET)[:, None] + np.outer([0, SPEED, 0], t - 0.8)
    return np.vstack([centre, np.full(len(t), RADIUS)])


def solver_of(dyn: gd.Dynamics, model: pin.Model, shapes: gd.Distances, place: np.ndarray) -> ocp.RealTimeSolver:
    """The solver, with the parameters q0, v0 and ball (4 × (N + 1))."""
    flange = gd.Kinematics(model).frame_placement("flange")
    problem = ocp.Problem(dyn, INTERVAL * INTERVALS, INTERVALS, bounds=ocp.Bounds.of(dyn, model))
    problem.start(problem.parameter("q0", 7), problem.parameter("v0", 7))
    problem.parameter("ball", 4, at="grid")
    problem.keep_clear(shapes, MARGIN)
    problem.squares(lambda q: flange(q)[:3, 3] - place, 100)
    problem.squares(lambda q: q - HOME, 0.1)
    problem.squares(lambda v: v, 0.1)
    problem.squares(lambda u: u, 1e-6)
    problem.guess(ocp.rest_to_rest(dyn, HOME, HOME, INTERVAL * INTERVALS))
    return problem.solver("rti", {"iterations": 6})


def distances(model: pin.Model, geometry: pin.GeometryModel) -> gd.Distances:
    """Those of each capsule to the ball and to the floor, but for the shoulder, which stands near it."""
    obstacles = {"ball": gd.Sphere, "floor": gd.HalfSpace([0, 0, 1])}
    pairs = [(joint, name) for joint in CAPSULES for name in obstacles if (joint, name) != ("joint2", "floor")]
    return gd.Distances(model, geometry, obstacles, pairs=pairs)


def run(duration: float, *, blind: bool = False) -> Loop:
    """Close the loop: torques are held for a tick; a blind robot expects the ball far away."""
    model, geometry = build()
    dyn, flange = gd.NewtonEuler(model), gd.Kinematics(model).frame_placement("flange")
    shapes = distances(model, geometry)
    place, grid = flange(HOME).full()[:3, 3], INTERVAL * np.arange(INTERVALS + 1)
    solver = solver_of(dyn, model, shapes, place)
    q, v, rows = HOME, np.zeros(7), []
    for t in TICK * np.arange(round(duration / TICK)):
        expected = ball(9 + place if blind else place, t + grid)
        begin = time.perf_counter()
        plan = solver(q0=q, v0=v, ball=expected)
        seconds = time.perf_counter() - begin
        gap = shapes.distance(q, ball(place, np.array([t]))[:, 0]).full().min()
        off = np.linalg.norm(flange(q).full()[:3, 3] - place)
        rows.append((q, gap, off, np.abs(plan.u[0] / model.effortLimit), seconds, plan.solved))
        motion = gd.simulate(dyn, (q, v), [0, TICK], plan.u[0])
        q, v = motion.q[-1], motion.v[-1]
    return Loop(*(np.array(column) for column in zip(*rows, strict=True)))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--duration", type=float, default=2.0, metavar="S", help="of the motion (2)")
    given = parser.parse_args(arguments)

    for name, blind in (("does not know of the ball", True), ("makes way", False)):
        loop = run(given.duration, blind=blind)
        off = 1e3 * loop.off
        print(f"{name}: ticks solved: {int(loop.solved.sum())} of {len(loop.solved)}, ", end="")
        print(f"least gap {1e3 * loop.gap.min():.1f} mm of {1e3 * MARGIN:g} mm")
        print(f"  flange off its place: {off.max():.0f} mm, at the end {off[-1]:.1f} mm; ", end="")
        print(f"torques up to {loop.torque.max():.0%} of their limits")
        milliseconds = 1e3 * loop.seconds[1:]
        print(f"  time of a tick: {np.median(milliseconds):.2f} ms (median), at most {milliseconds.max():.2f} ms")


if __name__ == "__main__":
    main()
