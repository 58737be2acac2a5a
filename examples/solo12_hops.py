"""The quadruped Solo 12 hops: it pushes off with four feet, flies for a given time, lands with an impact, and stands.

python examples/solo12_hops.py    needs example-robot-data
python examples/solo12_hops.py --plot solo12_hops.png    needs matplotlib

Stance, flight and landing are three problems of gd.ocp, joined by gd.ocp.Phases: the whole-body dynamics of the robot
with its feet held, without, and with them again. Forces and impulses of the feet are unknowns, in pyramids inside their
friction cones. The flight takes as long as its height asks for.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import ocp

ROBOT = "solo_description/robots/solo12.urdf"
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
HIP = 0.9  # rad, as it stands; the knees bend twice as far
HEIGHT = 0.1  # m, that a body rises in the flight that takes as long
STANCE, LANDING = 0.3, 0.3  # s
FRICTION = 0.6
GRAZE = 1e-3  # m, by which feet may be below the ground as the flight begins and ends
GRAVITY = 9.81  # m/s²


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


def thrown(dyn: gd.Dynamics, q: np.ndarray, duration: float) -> ocp.Guess:
    """A guess of the flight: the robot rises and falls as it stands."""
    t, nv = np.linspace(0, duration, 11), dyn.tree.nv
    rows, v, a = np.tile(q, (11, 1)), np.zeros((11, nv)), np.zeros((11, nv))
    rows[:, 2] += GRAVITY / 2 * t * (duration - t)
    v[:, 2], a[:, 2] = GRAVITY * (duration / 2 - t), -GRAVITY
    return ocp.Guess(t, rows, v, a, np.zeros((11, dyn.nu)))


def phases(model: pin.Model, standing: np.ndarray, n: int) -> list[ocp.Problem]:
    """Stance, flight and landing, from rest to rest; n intervals each."""
    dyn, place = gd.NewtonEuler(model), gd.Kinematics(model).frame_placements(FEET)
    feet = gd.ConstrainedDynamics(dyn, [gd.Contact(foot, "3D") for foot in FEET]).anchored(standing)
    flying = 2 * np.sqrt(2 * HEIGHT / GRAVITY)
    of_each = zip((feet, dyn, feet), (STANCE, flying, LANDING), strict=True)
    limits = ocp.Bounds.of(dyn, model)
    problems = [ocp.Problem(each, duration, n, bounds=limits, degree=2) for each, duration in of_each]
    stance, flight, landing = problems
    stance.start(standing)
    landing.end(standing)
    flight.guess(thrown(dyn, standing, flying))
    flight.path(lambda q: ca.vertcat(*(foot[2, 3] for foot in place(q))), lower=-GRAZE, at="grid")
    for problem in (stance, landing):
        problem.friction(FRICTION)
    for problem in problems:
        problem.minimize(problem.integral(lambda u, v: ca.sumsqr(u) + 1e-2 * ca.sumsqr(v)))
    return problems


def hop(model: pin.Model, standing: np.ndarray, n: int) -> ocp.PhasesSolution:
    """The hop with the least ∫ |u|² dt, and little speed."""
    return ocp.Phases(phases(model, standing, n)).solve(options={"ipopt.mu_strategy": "adaptive"})


def plot(path: str, solution: ocp.PhasesSolution, model: pin.Model) -> None:
    """Heights of the base and of a foot; normal forces of the feet; torques of a leg."""
    from matplotlib.figure import Figure

    place = gd.Kinematics(model).frame_placement(FEET[0])
    figure = Figure(figsize=(7, 5), layout="constrained")
    height, force, torque = figure.subplots(3, 1, sharex=True)
    starts = np.cumsum([0.0, *(phase.duration for phase in solution.phases)])
    height.plot(solution.t, solution.q[:, 2], label="base")
    height.plot(solution.t, [float(place(q)[2, 3]) for q in solution.q], label="foot FL")
    height.set_ylabel("height [m]")
    for k, phase in enumerate(solution.phases):
        times = starts[k] + phase.stages.t.ravel()
        normal = phase.stages.forces[:, 2::3] if phase.stages.forces.size else np.zeros((len(times), 4))
        turned = upward(phase, place) if phase.stages.forces.size else normal[:, 0]
        force.plot(times, turned, "C2")
        for i, name in enumerate(("HAA", "HFE", "KFE")):
            torque.plot(times, phase.stages.u[:, 6 + i], f"C{i}", label=name if k == 0 else None)
    force.set_ylabel("force on FL [N]")
    torque.set(ylabel="torque [N m]", xlabel="time [s]")
    for axes in (height, force, torque):
        for start in starts[1:-1]:
            axes.axvline(start, color="0.6", linestyle="--", linewidth=0.8)
    for axes in (height, torque):
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


def upward(phase: ocp.Solution, place: ca.Function) -> np.ndarray:
    """The upward force on the first foot at each stage; forces are in the axes of the foot."""
    rows = zip(phase.stages.q, phase.stages.forces[:, :3], strict=True)
    return np.array([float((place(q)[:3, :3] @ f)[2]) for q, f in rows])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="5 intervals for each phase in place of 10")
    parser.add_argument("--plot", metavar="FILE", help="draw heights, forces and torques")
    given = parser.parse_args(arguments)

    model, standing = build()
    solution = hop(model, standing, 5 if given.coarse else 10)
    print(solution)
    stance, flight, _ = solution.phases
    print(f"the base rises from {standing[2]:.3f} m to {flight.q[:, 2].max():.3f} m")
    print(f"it lands at {-flight.v[-1, 2]:.2f} m/s; impulses of the feet {np.abs(solution.impulses[2]).max():.3f} N s")
    torque = max(np.abs(phase.u).max() for phase in solution.phases)
    print(f"torques up to {torque:.2f} N m, forces of the feet up to {np.abs(stance.stages.forces).max():.1f} N")
    for name, phase, motion in zip(("stance", "flight", "landing"), solution.phases, solution.simulate(), strict=True):
        print(f"{name}, simulated: off the plan by up to {np.abs(motion.q - phase.q).max():.1e} m or rad")
    if given.plot:
        plot(given.plot, solution, model)


if __name__ == "__main__":
    main()
