"""A flexible arm comes to rest: by plans alone, and by feedback of a state that is estimated from its sensors.

python examples/flexible_feedback.py                       needs a C compiler
python examples/flexible_feedback.py --plot motion.png     needs matplotlib

The arm has two links with two modes each, and encoders, whose noise is 0.1 mrad; strain gauges at the roots of the
links are there or not. Four controllers move it by the same angles in the same time: the plan of a rigid arm and that
of the flexible arm, each with a joint servo, and real-time iterations that follow the flexible plan from the state that
an estimator has of the encoders alone, or of encoders and gauges. Each moves the arm that its model says, and one whose
links are 20 % softer.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import ocp

START, GOAL = np.array([0.0, 0.0]), np.array([0.5, -0.35])  # rad
DURATION, AFTER = 1.25, 1.25  # s; of the motion, and behind it
SAMPLE, TICK, AHEAD = 0.005, 0.01, 50  # s, s; ticks in a plan that follows
STIFFNESS, DAMPING = np.array([60.0, 20.0]), np.array([12.0, 4.0])  # of the servo: N m/rad, N m s/rad
ENCODER, GAUGE, FIBRE = 1e-4, 2e-6, 0.005  # rad, strain; m from the axis
ROTORS = (0.2, 0.1)  # kg m² at the joints
SMOOTHING = 0.1  # s²: weight of the squared torque rates beside the squared torques
Controller = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


def rigid_model() -> pin.Model:
    """The shipped robot, with rotors at its joints."""
    model = gd.load_urdf("two_link_flexible")
    model.armature[:] = ROTORS
    return model


def build(softer: float = 0.0) -> gd.FlexibleArm:
    """The shipped robot with beams of EI = 10 N m², or softer, for its links, each with two modes of 1 % damping."""
    stiffness = 10.0 * (1 - softer)
    beams = {"link1": gd.Beam(1.0, 0.6, EI_z=stiffness), "link2": gd.Beam(0.8, 0.45, EI_z=stiffness)}
    shapes = gd.modes.hermite()
    links = {name: gd.FlexibleLink(beam, bending_y=shapes, modal_damping=0.01) for name, beam in beams.items()}
    return gd.FlexibleArm(rigid_model(), links)


def plan_of(dyn: gd.Dynamics) -> ocp.Solution:
    """Least effort from rest to rest, modes included; torques begin and end at zero."""
    start, goal = np.zeros(dyn.nq), np.zeros(dyn.nq)
    start[:2], goal[:2], intervals = START, GOAL, 160
    problem = ocp.Problem(dyn, DURATION, intervals, degree=2, control="linear")
    problem.start(start)
    problem.end(goal)
    problem.subject_to(problem.u[:, 0] == 0)
    problem.subject_to(problem.u[:, -1] == 0)
    rates = ca.diff(problem.u, 1, 1) * (intervals / DURATION)
    problem.minimize(problem.integral(lambda u: ca.sumsqr(u)) + SMOOTHING * ca.sumsqr(rates) * (DURATION / intervals))
    return problem.solve()


def at(plan: ocp.Solution, rows: np.ndarray, t: Any) -> np.ndarray:
    """Rows of a plan at times, those at its end behind it."""
    now = np.minimum(t, plan.duration)
    return np.array([np.interp(now, plan.t, column) for column in rows.T])


def servo(plan: ocp.Solution) -> Controller:
    """The torques of a plan and a joint servo, whose rates are those of the last two samples."""
    last: list[np.ndarray] = []

    def control(t: float, y: np.ndarray, _: np.ndarray) -> np.ndarray:
        rate = (y[:2] - last[-1]) / SAMPLE if last else np.zeros(2)
        last.append(y[:2].copy())
        off, slow = at(plan, plan.q[:, :2], t) - y[:2], at(plan, plan.v[:, :2], t) - rate
        return at(plan, plan.u, t + SAMPLE / 2) + STIFFNESS * off + DAMPING * slow

    return control


def follower(arm: gd.FlexibleArm, plan: ocp.Solution, gauges: bool) -> Controller:
    """Real-time iterations each tick, from the state that an estimator has each sample."""
    outputs: dict[str, Any] = {"encoders": lambda q: q[:2]}
    deviations = {"encoders": ENCODER}
    if gauges:
        outputs |= {name: arm.strain(name, fibre=FIBRE) for name in ("link1", "link2")}
        deviations |= dict.fromkeys(("link1", "link2"), GAUGE)
    estimator = gd.Estimator(arm, outputs, deviations, effort_noise=0.02, gate=None, substeps=2)
    estimator.reset(START, q_deviation=1e-3, v_deviation=1e-2)
    n = arm.nv
    problem = ocp.Problem(arm, TICK * AHEAD, AHEAD, quasi_static=None)
    problem.start(problem.parameter("q0", n), problem.parameter("v0", n))
    for name, size in (("q_ref", n), ("v_ref", n), ("u_ref", 2)):
        problem.parameter(name, size, at="grid")
    problem.squares(lambda q, q_ref: q - q_ref, 100)
    problem.squares(lambda v, v_ref: v - v_ref, [1, 1, 0.1, 0.1, 0.1, 0.1])
    problem.squares(lambda u, u_ref: u - u_ref, 1)
    solver, ahead, u = problem.solver("rti"), np.arange(AHEAD + 1) * TICK, np.zeros(2)
    number = len(deviations)

    def control(t: float, y: np.ndarray, before: np.ndarray) -> np.ndarray:
        nonlocal u
        q, v = estimator.step(before, y[: 2 if number == 1 else 4], SAMPLE)
        if round(t / SAMPLE) % round(TICK / SAMPLE) == 0:
            reference = {"q_ref": at(plan, plan.q, t + ahead), "v_ref": at(plan, plan.v, t + ahead)}
            reference["u_ref"] = at(plan, plan.u, t + ahead + TICK / 2)
            u = solver(q0=q, v0=v, shift=int(t > 0), **reference).u[0]
        return u

    return control


def run(arm: gd.FlexibleArm, control: Controller, seed: int = 0) -> np.ndarray:
    """q of each sample; sensors have noise."""
    rng = np.random.default_rng(seed)
    gauges = [arm.strain(name, fibre=FIBRE) for name in ("link1", "link2")]
    q, v, u, rows = np.r_[START, np.zeros(arm.nv - 2)], np.zeros(arm.nv), np.zeros(2), []
    for k in range(round((DURATION + AFTER) / SAMPLE)):
        strain = [float(gauge(q)) + GAUGE * rng.normal() for gauge in gauges]
        u = control(k * SAMPLE, np.r_[q[:2] + ENCODER * rng.normal(size=2), strain], u)
        motion = gd.simulate(arm, (q, v), [0, SAMPLE], u)
        q, v = motion.q[-1], motion.v[-1]
        rows.append(q)
    return np.array(rows)


def off_goal(arm: gd.FlexibleArm, rows: np.ndarray) -> np.ndarray:
    """The distance of the tip from where it should rest [m], with its sign along the way of link 2."""
    tip = arm.tip_placement("link2")
    goal = tip(np.r_[GOAL, np.zeros(arm.nv - 2)]).full()
    return np.array([(tip(q).full()[:3, 3] - goal[:3, 3]) @ goal[:3, 1] for q in rows])


def plot(path: str, ways: dict[str, dict[str, np.ndarray]]) -> None:
    """The tip about its goal, behind the motion."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    for axes, (robot, runs) in zip(figure.subplots(1, 2, sharey=True), ways.items(), strict=True):
        for (name, off), colour in zip(runs.items(), ("#D55E00", "#0072B2", "#009E73", "#CC79A7"), strict=True):
            axes.plot(SAMPLE * np.arange(1, len(off) + 1), 1e3 * off, color=colour, label=name, linewidth=1.2)
        axes.axvline(DURATION, color="#8A8A8A", linewidth=1)
        axes.set(title=robot, xlabel="time [s]", ylim=(-60, 60), xlim=(1.0, DURATION + AFTER))
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylabel("tip off its goal [mm]")
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="draw the tip about its goal")
    given = parser.parse_args(arguments)

    arm = build()
    rigid, flexible = plan_of(gd.NewtonEuler(rigid_model())), plan_of(arm)
    ways: dict[str, dict[str, np.ndarray]] = {}
    for robot, plant in {"as its model": arm, "20 % softer": build(0.2)}.items():
        controllers = {
            "rigid plan": servo(rigid),
            "flexible plan": servo(flexible),
            "rti, encoders": follower(arm, flexible, gauges=False),
            "rti, encoders and gauges": follower(arm, flexible, gauges=True),
        }
        ways[robot] = {name: off_goal(plant, run(plant, control)) for name, control in controllers.items()}
        print(f"the arm is {robot}; its tip behind the motion, peak to peak in two halves of {AFTER / 2:g} s [mm]:")
        for name, off in ways[robot].items():
            halves = np.split(off[-2 * (round(AFTER / SAMPLE) // 2) :], 2)
            print(f"  {name}: {', '.join(f'{1e3 * np.ptp(half):.3g}' for half in halves)}")
    if given.plot:
        plot(given.plot, ways)


if __name__ == "__main__":
    main()
