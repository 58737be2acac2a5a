"""The Panda carries a full glass from one place to another in the least time without spilling.

python examples/panda_time_optimal.py
python examples/panda_time_optimal.py --plot panda_glass.png    needs matplotlib

The water stays in the glass while the specific force on it, (acceleration − gravity) in the axes of the glass, stays
within 10° of the axis of the glass. So the glass may lean, and must lean where it accelerates. The script compares the
motion with that of an empty glass, without this constraint.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import ocp

SPILL, PLANNED = 10.0, 9.5  # degrees: the plan leaves a margin for the motion between the collocation points
GLASS = 0.15, 0.4  # below the flange [m], mass [kg]
EFFORT, JUMPS = 0.01, 0.0025  # small weights of torques and their changes: they make the optimum unique


def upright(joint1: float, joint2: float, joint4: float) -> np.ndarray:
    """A configuration in which the glass is upright."""
    return np.array([joint1, joint2, 0, joint4, 0, joint2 - joint4, 0.8])


START, END = upright(-0.8, -0.3, -2.4), upright(0.8, 0.5, -1.5)


def build() -> pin.Model:
    """The shipped robot with a glass below its flange, whose z axis points down."""
    model = gd.load_urdf("panda7")
    flange = model.frames[model.getFrameId("flange")]
    place = flange.placement * pin.SE3(np.eye(3), np.array([0, 0, GLASS[0]]))
    model.addFrame(pin.Frame("glass", flange.parentJoint, place, pin.FrameType.OP_FRAME))
    model.appendBodyToJoint(flange.parentJoint, pin.Inertia(GLASS[1], np.zeros(3), np.zeros((3, 3))), place)
    return model


def specific_force(model: pin.Model) -> ca.Function:
    """(q, v, a) → (force): on the water, 3, in the axes of the glass, in units of its weight; (0, 0, −1) at rest."""
    kinematics = gd.Kinematics(model)
    placement = kinematics.frame_placement("glass")
    acceleration = kinematics.frame_classical_acceleration("glass", pin.LOCAL)
    q, v, a = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv), ca.SX.sym("a", model.nv)
    gravity = ca.DM(model.gravity.linear)
    force = acceleration(q, v, a)[:3] - placement(q)[:3, :3].T @ gravity
    return ca.Function("specific_force", [q, v, a], [force / ca.norm_2(gravity)], ["q", "v", "a"], ["force"])


def lean(force: np.ndarray) -> np.ndarray:
    """Angles [degrees] between forces (N × 3) and the axis of the glass."""
    return np.degrees(np.arctan2(np.hypot(force[:, 0], force[:, 1]), -force[:, 2]))


def fastest(model: pin.Model, intervals: int, *, full: bool, guess: ocp.Solution | None = None) -> ocp.Solution:
    """The plan from rest to rest in the least time, with a full glass or an empty one."""
    dyn = gd.NewtonEuler(model)
    bounds = ocp.Bounds.of(dyn, model)
    limit = ca.DM(bounds.u_upper)
    problem = ocp.Problem(dyn, (0.3, 5.0), intervals, bounds=bounds, control="linear")
    problem.start(START)
    problem.end(END)
    if full:
        force, slope = specific_force(model), np.tan(np.radians(PLANNED))
        problem.path(lambda q, v, a: ca.sumsqr(force(q, v, a)[:2]) - (slope * force(q, v, a)[2]) ** 2, upper=0)
        problem.path(lambda q, v, a: force(q, v, a)[2], upper=-0.1)  # the sign, which the cone leaves open
    effort = problem.integral(lambda u: ca.sumsqr(u / limit))
    jumps = intervals * ca.sumsqr(ca.diff(problem.u, 1, 1) / ca.repmat(limit, 1, intervals))
    problem.minimize(problem.duration + EFFORT * effort + JUMPS * jumps)
    problem.guess(guess or ocp.rest_to_rest(dyn, START, END, 3.0))  # slow, with the glass upright at both ends
    return problem.solve()


def replay(solution: ocp.Solution, times: np.ndarray) -> tuple[gd.Simulation, np.ndarray, np.ndarray, np.ndarray]:
    """The simulation of the solution's torques, and its q, v, a at the times."""
    motion = solution.simulate()
    q, v = motion.at(times)
    u = np.column_stack([np.interp(times, solution.t, column) for column in solution.u.T])
    return motion, q, v, solution.dyn.forward_dynamics(q.T, v.T, u.T).full().T


def plot(path: str, model: pin.Model, full: ocp.Solution, empty: ocp.Solution) -> None:
    """The glass from the side, the angle of the specific force, and the largest torque and velocity."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.4), layout="constrained")
    axes = figure.subplot_mosaic([["side", "side"], ["angle", "limits"]], height_ratios=[1, 1.1])
    placement, force = gd.Kinematics(model).frame_placement("glass"), specific_force(model)
    ends = [placement(q).full()[:2, 3] for q in (START, END)]
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    for solution, colour, name in ((empty, "C1", "empty glass"), (full, "C0", "full glass")):
        times = np.linspace(0, solution.duration, 401)
        _, q, v, a = replay(solution, times)
        axes["angle"].plot(times, lean(force(q.T, v.T, a.T).full().T), color=colour, label=name)
        way, height, top = np.array(
            [
                (along @ (t[:2, 3] - ends[0]), t[2, 3], t[:3, 2] @ [*along, 0])
                for t in (placement(each).full() for each in q)
            ]
        ).T
        side = axes["side"]
        side.plot(way, height, color=colour, linewidth=0.8)
        for k in range(0, 401, 25):
            rim = way[k] - 0.08 * top[k], height[k] - 0.08 * placement(q[k]).full()[2, 2]
            side.plot([way[k], rim[0]], [height[k], rim[1]], color=colour, linewidth=2.5)
    axes["side"].set(aspect="equal", xlabel="way from start to end [m]", ylabel="height [m]")
    axes["angle"].axhline(SPILL, color="0.5", linestyle="--", linewidth=0.8)
    axes["angle"].set(xlabel="time [s]", ylabel="force off the axis [°]")
    axes["angle"].legend(frameon=False, fontsize=8, loc="upper center")
    times = full.stages.t.ravel()
    shares = {
        "velocity": np.abs(full.stages.v) / full.bounds.v_upper,
        "torque": np.abs(full.stages.u) / full.bounds.u_upper,
    }
    for (name, share), colour in zip(shares.items(), ("C4", "C2"), strict=True):
        axes["limits"].plot(times, share.max(axis=1), color=colour, label=name)
    axes["limits"].set(xlabel="time [s]", ylabel="largest share of a limit", ylim=(0, 1.35))
    axes["limits"].legend(frameon=False, fontsize=8, ncols=2, loc="upper center")
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="16 intervals in place of 30")
    parser.add_argument("--plot", metavar="FILE", help="draw the motion")
    given = parser.parse_args(arguments)

    model = build()
    force = specific_force(model)
    found: dict[str, ocp.Solution] = {}
    solution = None
    for name, full in (("full glass", True), ("empty glass", False)):
        solution = found[name] = fastest(model, 16 if given.coarse else 30, full=full, guess=solution)
        stages = solution.stages
        angles = lean(force(stages.q.T, stages.v.T, stages.a.T).full().T)
        velocity, torque = (np.abs(stages.v) / solution.bounds.v_upper), (np.abs(stages.u) / solution.bounds.u_upper)
        motion, q, v, a = replay(solution, np.linspace(0, solution.duration, 2001))
        print(f"{name}: {solution.duration:.4f} s")
        print(solution)
        print(f"largest torque {torque.max():.1%}, velocity {velocity.max():.1%} of a limit")
        print(f"force at most {angles.max():.4f}° off the axis")
        print(f"  and {PLANNED - 0.1:g}° or more in {np.mean(angles > PLANNED - 0.1):.0%} of the stages")
        print(motion)
        print(f"off the end of the plan by {np.abs(motion.q[-1] - END).max():.1e} rad")
        beyond = (f"{entry} by {x:.1e}" for entry, x in solution.bounds.excess(q, v).items())
        print("beyond bounds in the simulation:", ", ".join(beyond) or "nowhere")
        print(f"force in the simulation at most {lean(force(q.T, v.T, a.T).full().T).max():.4g}° off the axis\n")
    if given.plot:
        plot(given.plot, model, found["full glass"], found["empty glass"])


if __name__ == "__main__":
    main()
