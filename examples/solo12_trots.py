"""The quadruped Solo 12 stands, shifts its body and trots, by one Gauss–Newton step of its whole-body dynamics a tick.

    python examples/solo12_trots.py            2 s of a trot at 0.3 m/s; needs example-robot-data and a C compiler
    python examples/solo12_trots.py --shift    its body moves and turns above four feet
    python examples/solo12_trots.py --plot solo12_trots.png    needs matplotlib

Each set of feet on the ground has a problem of gd.ocp, and a contact schedule says which holds in each interval of the
horizon, 0.4 s long. Where feet land, the plan has the impact; forces stay in pyramids inside their friction cones, and
torques within their limits. The first run compiles the stages, which takes about three minutes of processor time; a
later one takes about 50 s in all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import ocp

ROBOT = "solo_description/robots/solo12.urdf"
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
SETS = {"stand": FEET, "left": (FEET[0], FEET[3]), "right": (FEET[1], FEET[2])}
HIP = 0.8  # rad, as it stands; the knees bend twice as far
TICK, INTERVALS = 0.02, 20  # s; ticks in a plan
STANCE, SWING, PERIOD = 0.2, 0.2, 0.48  # s: before the first step, of a step, of two steps
SPEED, LIFT = 0.3, 0.05  # m/s, m
FRICTION, TORQUE = 0.5, 2.7  # –, N m of each motor behind its gear
POSE = np.array([300.0, 300.0, 1000.0, 50.0, 50.0, 50.0, *[2.0, 1.0, 1.0] * 4])  # 1/m², 1/rad²
RATE = np.array([5.0, 5.0, 5.0, 1.0, 1.0, 1.0, *[0.02] * 12])  # s²/m², s²/rad²
EFFORT, HEIGHT = 0.05, 2000.0  # 1/(N m)², 1/m²


class Loop(NamedTuple):
    """What happened: a row for each tick."""

    q: np.ndarray
    error: np.ndarray  # of the base, (linear; angular) in its axes [m, rad]
    torque: np.ndarray  # of each joint [N m]
    seconds: np.ndarray  # of the wall clock
    solved: np.ndarray


def build() -> tuple[pin.Model, np.ndarray]:
    """The Solo 12 of example-robot-data, with a free-flyer; and the configuration in which it stands on z = 0."""
    folder = metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    model = gd.load_urdf(Path(str(folder)) / ROBOT, root_joint=pin.JointModelFreeFlyer(), check="off")
    q = pin.neutral(model)
    for leg, forward in (("FL", 1), ("FR", 1), ("HL", -1), ("HR", -1)):
        q[model.joints[model.getJointId(f"{leg}_HFE")].idx_q] = forward * HIP
        q[model.joints[model.getJointId(f"{leg}_KFE")].idx_q] = -2 * forward * HIP
    q[2] -= float(gd.Kinematics(model).frame_placement(FEET[0])(q)[2, 3])
    return model, q


def robots(model: pin.Model, **gains: float) -> dict[str, gd.ConstrainedDynamics]:
    """The robot on each set of feet."""
    dyn = gd.NewtonEuler(model)
    return {
        name: gd.ConstrainedDynamics(dyn, [gd.Contact(foot, "3D") for foot in feet], **gains)
        for name, feet in SETS.items()
    }


def problem_of(
    robot: gd.ConstrainedDynamics, model: pin.Model, standing: np.ndarray, feet: Sequence[str]
) -> ocp.Problem:
    """The base follows poses and velocities, feet in the air heights, with small torques."""
    kin = gd.Kinematics(model)
    difference, place = kin.difference, kin.frame_placements(FEET)
    joints = robot.dynamics.actuator_names[6:]
    limits = ocp.Bounds.of(robot, model, u=dict.fromkeys(joints, TORQUE))
    problem = ocp.Problem(robot, TICK * INTERVALS, INTERVALS, bounds=limits, degree=2)
    problem.start(problem.parameter("q0", model.nq), problem.parameter("v0", model.nv))
    problem.parameter("q_ref", model.nq, at="grid")
    problem.parameter("v_ref", model.nv, at="grid")
    problem.parameter("z_ref", len(FEET), at="grid")
    cost = problem.integral(lambda q, q_ref: ca.dot(ca.DM(POSE), difference(q_ref, q) ** 2))
    cost += problem.integral(lambda v, v_ref: ca.dot(ca.DM(RATE), (v - v_ref) ** 2))
    cost += problem.integral(lambda u: EFFORT * ca.sumsqr(u))
    if swinging := [k for k, foot in enumerate(FEET) if foot not in feet]:
        cost += problem.integral(lambda q, z_ref: HEIGHT * sum((place(q)[k][2, 3] - z_ref[k]) ** 2 for k in swinging))
    problem.minimize(cost)
    problem.friction(FRICTION)
    problem.guess(ocp.rest_to_rest(robot.anchored(standing), standing, standing, TICK * INTERVALS))
    return problem


def feet_at(t: float) -> str:
    """The set of feet on the ground in a trot."""
    phase = (t - STANCE + 1e-9) % PERIOD
    if t < STANCE - 1e-9 or SWING <= phase < PERIOD / 2 or phase >= PERIOD / 2 + SWING:
        return "stand"
    return "left" if phase < SWING else "right"


def heights(t: float) -> np.ndarray:
    """Of the feet in a trot."""
    z, phase = np.zeros(4), (t - STANCE) % PERIOD
    if feet_at(t) != "stand":
        swinging = [1, 2] if feet_at(t) == "left" else [0, 3]
        z[swinging] = LIFT * np.sin(np.pi * (phase % (PERIOD / 2)) / SWING) ** 2
    return z


def base(standing: np.ndarray, t: float, *, trots: bool) -> np.ndarray:
    """The configuration that is to be followed."""
    q, size = standing.copy(), standing[2]
    if trots:
        q[0] += SPEED * max(0.0, t - STANCE - 5 * TICK)
        return q
    slow, fast = np.sin(np.pi * t), np.sin(2 * np.pi * t)
    q[:3] += size * np.array([0.1 * fast, 0.1 * np.sin(1.4 * np.pi * t), -0.06 * (1 - np.cos(2 * np.pi * t))])
    turned = pin.rpy.rpyToMatrix(0.1 * slow, 0.1 * fast, 0.15 * slow)
    q[3:7] = pin.Quaternion(turned).coeffs()
    return q


def references(model: pin.Model, standing: np.ndarray, t: float, *, trots: bool) -> dict[str, np.ndarray]:
    """The parameters of a plan from t on: columns for the instants of its grid."""
    times = t + TICK * np.arange(INTERVALS + 2)
    q = [base(standing, each, trots=trots) for each in times]
    v = [pin.difference(model, *pair) / TICK for pair in pairwise(q)]
    z = [heights(each) if trots else np.zeros(4) for each in times[:-1]]
    return {"q_ref": np.array(q[:-1]).T, "v_ref": np.array(v).T, "z_ref": np.array(z).T}


def run(model: pin.Model, standing: np.ndarray, duration: float, *, trots: bool) -> Loop:
    """Close the loop with the robot on feet that do not slip or miss the ground."""
    planned, ground = robots(model), robots(model, stiffness=1600.0, damping=80.0)
    names = list(SETS) if trots else ["stand"]
    problems = {name: problem_of(planned[name], model, standing, SETS[name]) for name in names}
    solver, on_ground, robot = ocp.ContactSchedule(problems).solver("rti", progress=True), "", ground["stand"]
    q, v, rows = standing, np.zeros(model.nv), []
    for tick in range(round(duration / TICK)):
        times = TICK * (tick + np.arange(INTERVALS))
        schedule = [feet_at(t) if trots else "stand" for t in times]
        if schedule[0] != on_ground:  # what lands stays where it is
            v = ground[schedule[0]].impact(q, v)[0].full().ravel()
            on_ground, robot = schedule[0], ground[schedule[0]].anchored(q)
        given = references(model, standing, times[0], trots=trots)
        begin = time.perf_counter()
        plan = solver(q0=q, v0=v, schedule=schedule, shift=min(tick, 1), **given)
        seconds = time.perf_counter() - begin
        error = pin.difference(model, base(standing, times[0], trots=trots), q)[:6]
        rows.append((q, error, plan.u[0, 6:], seconds, plan.solved))
        motion = gd.simulate(robot, (q, robot.consistent_velocity(q, v)), [0, TICK], plan.u[0])
        q, v = motion.q[-1], motion.v[-1]
    return Loop(*(np.array(column) for column in zip(*rows, strict=True)))


def plot(path: str, loop: Loop, model: pin.Model) -> None:
    """Heights of the feet, errors of the base, torques of a leg, times of the ticks."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    (feet, torque), (error, seconds) = figure.subplots(2, 2, sharex=True)
    t, place = TICK * np.arange(len(loop.q)), gd.Kinematics(model).frame_placements(FEET)
    z = np.array([[float(foot[2, 3]) for foot in place(q)] for q in loop.q])
    feet.plot(t, 100 * z, label=[foot[:2] for foot in FEET])
    feet.set(ylabel="height of the feet [cm]")
    torque.plot(t, loop.torque[:, :3], label=["HAA", "HFE", "KFE"])
    torque.set(ylabel="torque of FL [N m]")
    error.plot(t, 1e3 * loop.error[:, :3], label=["x", "y", "z"])
    error.set(ylabel="base off its pose [mm]", xlabel="time [s]")
    seconds.plot(t[1:], 1e3 * loop.seconds[1:], ".", color="0.3", markersize=4)
    seconds.axhline(1e3 * TICK, color="C3", linestyle="--", linewidth=0.8, label="length of a tick")
    seconds.set(ylabel="time of a tick [ms]", xlabel="time [s]", ylim=(0, None))
    for axes in (feet, torque, error, seconds):
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shift", action="store_true", help="move and turn the body above four feet")
    parser.add_argument("--duration", type=float, default=2.0, metavar="S", help="of the motion (2)")
    parser.add_argument("--plot", metavar="FILE", help="draw feet, torques, errors and times of the ticks")
    given = parser.parse_args(arguments)

    print("machine code of the stages: about three minutes at the first run, then from the cache", flush=True)
    model, standing = build()
    loop = run(model, standing, given.duration, trots=not given.shift)
    milliseconds, error = 1e3 * loop.seconds[1:], np.sqrt(np.mean(loop.error**2, axis=0))
    print(f"ticks solved: {int(loop.solved.sum())} of {len(loop.solved)}")
    print(f"time of a tick: {np.median(milliseconds):.2f} ms (median), at most {milliseconds.max():.2f} ms")
    print(f"base: {np.round(loop.q[-1, 0] - standing[0], 3)} m ahead, off its pose by (root mean square) ", end="")
    print(f"{', '.join(f'{1e3 * x:.1f}' for x in error[:3])} mm, {1e3 * np.linalg.norm(error[3:]):.1f} mrad")
    print(f"torques up to {np.abs(loop.torque).max():.2f} N m of {TORQUE}")
    if given.plot:
        plot(given.plot, loop, model)


if __name__ == "__main__":
    main()
