"""An arm with two flexible links reaches for targets, by one Gauss–Newton step of its dynamics a tick.

    python examples/flexible_arm_reaches.py            4 s, with two targets; needs a C compiler
    python examples/flexible_arm_reaches.py --plot flexible_arm_reaches.png    needs matplotlib

Each link bends in two modes, whose coordinates and velocities are known to the controller. A plan has 20 intervals of
50 ms, within limits of torques and joint speeds. Torques are held for a tick.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

import gdalembert as gd
from gdalembert import ocp

START = np.array([0.6625, -1.5395, 0.0, 0.0, 0.0, 0.0])  # rad, rad; modes of the links
TARGETS = ((0.0, (1.3, 0.4)), (2.0, (1.4, -0.2)))  # s: from when on; m: x, y of the tip
TICK, INTERVALS = 0.05, 20  # s; ticks in a plan
TORQUE, SPEED = 3.0, 2.0  # N m, rad/s of each joint


class Loop(NamedTuple):
    """What happened: a row for each tick."""

    q: np.ndarray
    tip: np.ndarray  # x, y [m]
    target: np.ndarray
    deflection: np.ndarray  # of the tip from where rigid links would have it [m]
    torque: np.ndarray  # [N m]
    seconds: np.ndarray  # of the wall clock
    solved: np.ndarray


def build() -> gd.FlexibleArm:
    """The shipped robot with beams of EI = 10 N m² for its two links, each with two modes of 1 % damping."""
    model = gd.load_urdf("two_link_flexible")
    beams = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
    shapes = gd.modes.hermite()
    links = {name: gd.FlexibleLink(beam, bending_y=shapes, modal_damping=0.01) for name, beam in beams.items()}
    return gd.FlexibleArm(model, links)


def solver_of(arm: gd.FlexibleArm, tip: ca.Function) -> ocp.RealTimeSolver:
    """The solver, with the parameters q0, v0 and target (2)."""
    torques = dict.fromkeys(arm.actuator_names, TORQUE)
    speeds = dict.fromkeys(ocp.Bounds.of(arm).v_names[:2], SPEED)
    limits, nv = ocp.Bounds.of(arm, u=torques, v=speeds), arm.tree.nv
    problem = ocp.Problem(arm, TICK * INTERVALS, INTERVALS, bounds=limits, quasi_static=None)
    problem.start(problem.parameter("q0", nv), problem.parameter("v0", nv))
    problem.parameter("target", 2)
    away = problem.integral(lambda q, target: 100 * ca.sumsqr(tip(q)[:2, 3] - target))
    calm = problem.integral(lambda v: 1e-1 * ca.sumsqr(v[:2]) + 1e-2 * ca.sumsqr(v[2:]))
    problem.minimize(away + calm + problem.integral(lambda u: 1e-2 * ca.sumsqr(u)))
    problem.guess(ocp.rest_to_rest(arm, START, START, TICK * INTERVALS))
    return problem.solver("rti", {"iterations": 8})


def run(arm: gd.FlexibleArm, duration: float) -> Loop:
    """Close the loop."""
    tip = gd.Kinematics(arm.tree).frame_placement("tip")
    solver, q, v, rows = solver_of(arm, tip), START, np.zeros(arm.tree.nv), []
    for tick in range(round(duration / TICK)):
        target = np.array(next(at for t, at in reversed(TARGETS) if t <= TICK * tick + 1e-9))
        begin = time.perf_counter()
        plan = solver(q0=q, v0=v, target=target, shift=min(tick, 1))
        seconds = time.perf_counter() - begin
        here, rigid = (tip(each).full()[:2, 3] for each in (q, np.r_[q[:2], np.zeros(len(q) - 2)]))
        rows.append((q, here, target, np.linalg.norm(here - rigid), plan.u[0], seconds, plan.solved))
        motion = gd.simulate(arm, (q, v), [0, TICK], plan.u[0])
        q, v = motion.q[-1], motion.v[-1]
    return Loop(*(np.array(column) for column in zip(*rows, strict=True)))


def plot(path: str, loop: Loop) -> None:
    """The way of the tip, its distance from the target, the deflections and the torques."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    (way, error), (torque, deflection) = figure.subplots(2, 2)
    t = TICK * np.arange(len(loop.q))
    way.plot(loop.tip[:, 0], loop.tip[:, 1], ".-", markersize=3, linewidth=1)
    way.plot(loop.target[:, 0], loop.target[:, 1], "C3x", label="targets", linestyle="none")
    way.set(xlabel="x of the tip [m]", ylabel="y [m]", aspect="equal", xlim=(0.9, 1.9))
    error.plot(t, 1e3 * np.linalg.norm(loop.tip - loop.target, axis=1))
    error.set(ylabel="tip off its target [mm]", yscale="log")
    torque.step(t, loop.torque, where="post", label=["joint 1", "joint 2"])
    for limit in (-TORQUE, TORQUE):
        torque.axhline(limit, color="0.5", linestyle="--", linewidth=0.8)
    torque.set(ylabel="torque [N m]", xlabel="time [s]")
    deflection.plot(t, 1e3 * loop.deflection)
    deflection.set(ylabel="deflection of the tip [mm]", xlabel="time [s]", ylim=(0, None))
    for axes in (way, torque):
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--duration", type=float, default=4.0, metavar="S", help="of the motion (4)")
    parser.add_argument("--plot", metavar="FILE", help="draw the tip, its errors, torques and deflections")
    given = parser.parse_args(arguments)

    loop = run(build(), given.duration)
    error, milliseconds = 1e3 * np.linalg.norm(loop.tip - loop.target, axis=1), 1e3 * loop.seconds[1:]
    print(f"ticks solved: {int(loop.solved.sum())} of {len(loop.solved)}")
    print(f"time of a tick: {np.median(milliseconds):.2f} ms (median), at most {milliseconds.max():.2f} ms")
    ends = [*(round(t / TICK) for t, _ in TARGETS if 0 < t < given.duration), len(error)]
    print(f"off its targets at their ends: {', '.join(f'{error[k - 1]:.2f}' for k in ends)} mm")
    print(f"deflections up to {1e3 * loop.deflection.max():.0f} mm, ", end="")
    print(f"torques up to {np.abs(loop.torque).max():.2f} N m of {TORQUE:g}")
    if given.plot:
        plot(given.plot, loop)


if __name__ == "__main__":
    main()
