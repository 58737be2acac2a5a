"""From rest to rest in one period of the first mode: a plan for the rigid arm and a plan for the flexible one.

python examples/flexible_rest_to_rest.py
python examples/flexible_rest_to_rest.py --plot motion.png    needs matplotlib

Both plans have the same duration and the least effort. The second one has five modes. Both are applied to the same arm,
which has eight modes. The same servo keeps the joints on the plan during and after the motion; without it they drift. A
second comparison has no servo.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import ocp

GOAL = (0.5, -0.35)  # rad, from zero
DURATION = 1.25  # s; the first mode has 0.80 Hz
SMOOTHING = 0.1  # s²: weight of the squared torque rates beside the squared torques
STIFFNESS, DAMPING = ca.DM([60, 20]), ca.DM([12, 4])  # of the servo: N m/rad, N m s/rad


class Motion(NamedTuple):
    """A simulation of the arm, and the deflection of its tip [m]."""

    simulation: gd.Simulation
    deflection: np.ndarray


def build(model: pin.Model, **modes: gd.modes.ModeSet) -> gd.FlexibleArm:
    """An arm with beams of EI = 10 N m² and 1 % of critical damping for both links, with modes by the name of the link.

    By default a link has four modes.
    """
    beams = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
    links = {name: gd.FlexibleLink(beam, modal_damping=0.01) for name, beam in beams.items()}
    chosen = {name: links[name].with_modes(bending_y=own) for name, own in modes.items()}
    return gd.FlexibleArm(model, links | chosen)


def problem(dyn: gd.Dynamics, model: pin.Model, intervals: int) -> ocp.Problem:
    """Least effort from rest to rest, modes included; torques begin and end at zero and have no jumps.

    An interval must be shorter than the period of the highest mode (115 Hz with free joints): torques with one corner
    in a period can hardly bring the mode to rest, and the effort for it spoils the plan.
    """
    start, goal = np.zeros(dyn.tree.nq), np.zeros(dyn.tree.nq)
    goal[:2] = GOAL
    p = ocp.Problem(dyn, DURATION, intervals, bounds=ocp.Bounds.of(dyn, model), degree=2, control="linear")
    p.start(start)
    p.end(goal)
    p.subject_to(p.u[:, 0] == 0)
    p.subject_to(p.u[:, -1] == 0)
    rates = ca.diff(p.u, 1, 1) * (intervals / DURATION)
    p.minimize(p.integral(lambda u: ca.sumsqr(u)) + SMOOTHING * ca.sumsqr(rates) * (DURATION / intervals))
    return p


def follow(plan: ocp.Solution, arm: gd.FlexibleArm, servo: bool, after: float) -> Motion:
    """The arm under the torques of a plan, with or without the servo, and for ``after`` seconds after it."""
    nv = arm.tree.nv
    t, x = ca.MX.sym("t"), ca.MX.sym("x", 2 * nv)
    now = ca.fmin(t, plan.duration)
    u = ca.interpolant("u", "linear", [plan.t], plan.u.ravel())(now)
    if servo:
        q = ca.interpolant("q", "bspline", [plan.t], plan.q[:, :2].ravel())(now)
        v = ca.interpolant("v", "bspline", [plan.t], plan.v[:, :2].ravel())(now)
        u += STIFFNESS * (q - x[:2]) + DAMPING * (v - x[nv : nv + 2])
    times = np.linspace(0, plan.duration + after, round(400 * (plan.duration + after)) + 1)
    simulation = gd.simulate(arm, np.zeros(2 * nv), times, ca.Function("law", [t, x], [u]), reltol=1e-6, abstol=1e-8)
    return Motion(simulation, tip_deflection(arm, simulation.q))


def tip_deflection(arm: gd.FlexibleArm, q: np.ndarray) -> np.ndarray:
    """The distance of the tip, across link 2, from that of a rigid arm with the same joint angles (n) [m]."""
    straight = q * (np.arange(arm.tree.nq) < 2)
    placement = arm.tip_placement("link2")
    bent, rigid = (placement(rows.T).full().reshape(4, -1, 4) for rows in (q, straight))
    return np.sum((bent - rigid)[:2, :, 3] * rigid[:2, :, 1], axis=0)


def residual(motion: Motion) -> float:
    """Vibration after the end of the plan, peak to peak [m]."""
    return float(np.ptp(motion.deflection[motion.simulation.t >= DURATION]))


def plot(path: str, motions: dict[str, Motion]) -> None:
    """Torques of the motors above, servo included, tip deflection below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for (name, motion), colour in zip(motions.items(), ("#D55E00", "#0072B2"), strict=True):
        times, torques = motion.simulation.t, motion.simulation.u
        for joint, dashes in enumerate(("-", "--")):
            above.plot(times, torques[:, joint], dashes, color=colour, label=f"{name}, joint {joint + 1}")
        below.plot(times, 1000 * motion.deflection, color=colour)
    for axes in (above, below):
        axes.axvline(DURATION, color="#8A8A8A", linewidth=1)
        axes.spines[["top", "right"]].set_visible(False)
    below.text(DURATION, 1, "  end of the plan", color="#606060", va="top", transform=below.get_xaxis_transform())
    above.set_ylabel("torque [N m]")
    above.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    below.set_ylabel("tip deflection [mm]")
    below.set_xlabel("time [s]")
    figure.savefig(path, dpi=150)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--coarse", action="store_true", help="fewer intervals, and a shorter simulation after the plan"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw torques and deflections")
    given = parser.parse_args(arguments)
    intervals, after = (160, 0.75) if given.coarse else (200, 2 * DURATION)

    model = gd.load_urdf("two_link_flexible")
    arm = build(model)
    models = {
        "rigid plan": gd.NewtonEuler(model),
        "flexible plan": build(model, link1=gd.modes.craig_bampton(1), link2=gd.modes.clamped_free(2)),
    }
    plans = {name: problem(dyn, model, intervals).solve() for name, dyn in models.items()}
    motions = {}
    for name, plan in plans.items():
        again = plan.simulate()
        print(f"{name}: {plan}")
        print(f"  simulated, it misses its end by {np.abs(again.q[-1] - plan.q[-1]).max():.1e} rad or m;", end=" ")
        print(f"energies balance to {again.relative_balance:.1e}")
        motions[name] = follow(plan, arm, True, after)
    print("vibration of the arm after the plan, peak to peak:")
    for servo in (True, False):
        found = motions if servo else {name: follow(plan, arm, False, after) for name, plan in plans.items()}
        left = {name: 1000 * residual(motion) for name, motion in found.items()}
        numbers = ", ".join(f"{name} {x:.3g} mm" for name, x in left.items())
        ratio = left["rigid plan"] / left["flexible plan"]
        worst = max(motion.simulation.relative_balance for motion in found.values())
        print(
            f"  {'joints held' if servo else 'joints free'}: {numbers}: 1/{ratio:.3g}; energies balance to {worst:.1e}"
        )
    if given.plot:
        plot(given.plot, motions)


if __name__ == "__main__":
    main()
