"""The Panda lifts 3 kg along a plan without payload, with and without the payload's statics as feed-forward.

python examples/payload_lifting.py
python examples/payload_lifting.py --plot lifting.png    needs matplotlib

A servo keeps the loaded robot on the plan. Its feed-forward is the torques of the plan alone, or also those that hold
the payload still: Jᵀ times its weight. The reference is a plan with the payload, within the torque limits.
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

TOOL = "flange"
MASS, CENTER, INERTIA = (
    3.0,
    np.array([0.05, 0.0, 0.05]),
    np.diag([5e-3, 5e-3, 5e-3]),
)  # kg, m, kg m², in axes of the tool
START = np.array([-0.6, 1.4, 0.0, -0.7, 0.0, 2.1, 0.0])  # rad, with the arm far out
GOAL = np.array([0.6, 0.2, 0.0, -1.3, 0.0, 1.5, 0.0])
DURATION, AFTER = 1.0, 1.0  # s: of the plan, and of holding its end
PLANNED = 0.95  # of the torque limits; the rest is left to the servo
SMOOTHING = 0.01  # s²: weight of the squared torque rates against the squared torques, both relative to the limits
STIFFNESS = np.array([800.0, 800, 800, 800, 200, 200, 200])  # of the servo, N m/rad
DAMPING = np.array([80.0, 80, 80, 80, 4, 4, 4])  # N m s/rad


class Lift(NamedTuple):
    """A simulation of the loaded robot, and the distance of its tool from that of the plan (n) [m]."""

    simulation: gd.Simulation
    error: np.ndarray


def loaded(model: pin.Model) -> pin.Model:
    """The robot with the payload fixed to its tool."""
    with_payload = model.copy()
    tool = model.frames[model.getFrameId(TOOL)]
    with_payload.appendBodyToJoint(tool.parentJoint, pin.Inertia(MASS, CENTER, INERTIA), tool.placement)
    return with_payload


def problem(model: pin.Model, intervals: int) -> ocp.Problem:
    """Least effort from rest to rest; the plan begins and ends with the torques that hold the robot still."""
    dyn, limits = gd.NewtonEuler(model), model.effortLimit
    bounds = ocp.Bounds.of(dyn, model, u=dict(zip(dyn.tree.velocity_names, PLANNED * limits, strict=True)))
    p = ocp.Problem(dyn, DURATION, intervals, bounds=bounds, degree=2, control="linear")
    p.start(START)
    p.end(GOAL)
    p.subject_to(p.u[:, 0] == dyn.generalized_gravity(START))
    p.subject_to(p.u[:, -1] == dyn.generalized_gravity(GOAL))
    step = DURATION / intervals
    rates = ca.mtimes(ca.diag(1 / limits), ca.diff(p.u, 1, 1)) / step
    p.minimize(p.integral(lambda u: ca.sumsqr(u / limits)) + SMOOTHING * step * ca.sumsqr(rates))
    return p


def follow(plan: ocp.Solution, dyn: gd.Dynamics, limits: np.ndarray, feed_forward: np.ndarray | float = 0.0) -> Lift:
    """The robot under a servo that follows a plan; ``feed_forward`` (rows as of ``plan.u``) is added to its torques."""
    t, x = ca.MX.sym("t"), ca.MX.sym("x", 14)
    now = ca.fmin(t, plan.duration)
    u = ca.interpolant("u", "linear", [plan.t], (plan.u + feed_forward).ravel())
    q = ca.interpolant("q", "bspline", [plan.t], plan.q.ravel())
    v = ca.interpolant("v", "bspline", [plan.t], plan.v.ravel())
    torques = u(now) + STIFFNESS * (q(now) - x[:7]) + DAMPING * (v(now) - x[7:])
    law = ca.Function("servo", [t, x], [ca.fmax(-limits, ca.fmin(limits, torques))])
    times = np.linspace(0, plan.duration + AFTER, 381)
    simulation = gd.simulate(dyn, (plan.q[0], plan.v[0]), times, law, method="bdf")
    tool = gd.Kinematics(dyn.tree).frame_placement(TOOL)
    planned = q(np.minimum(times, plan.duration)[None, :])
    places = [tool(rows).full().reshape(4, -1, 4)[:3, :, 3] for rows in (simulation.q.T, planned)]
    return Lift(simulation, np.linalg.norm(places[0] - places[1], axis=0))


def plot(path: str, lifts: dict[str, Lift], limits: np.ndarray) -> None:
    """Torque of joint 2 above, error of the tool below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for (name, lift), colour in zip(lifts.items(), ("#D55E00", "#E69F00", "#0072B2"), strict=True):
        above.plot(lift.simulation.t, lift.simulation.u[:, 1], color=colour, label=name)
        below.plot(lift.simulation.t, 1000 * lift.error, color=colour)
    for axes in (above, below):
        axes.axvline(DURATION, color="#8A8A8A", linewidth=1)
        axes.spines[["top", "right"]].set_visible(False)
    above.axhline(-limits[1], color="#222222", linewidth=1, linestyle=":")
    above.text(2 * DURATION, -limits[1], "limit", ha="right", va="bottom", color="#606060")
    below.text(DURATION, 1, "  end of the plan", va="top", color="#606060", transform=below.get_xaxis_transform())
    above.set_ylabel("torque of joint 2 [N m]")
    above.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    below.set_ylabel("error of the tool [mm]")
    below.set_xlabel("time [s]")
    figure.savefig(path, dpi=150)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="fewer intervals")
    parser.add_argument("--plot", metavar="FILE", help="draw torques and errors")
    given = parser.parse_args(arguments)
    intervals = 30 if given.coarse else 60

    model = gd.load_urdf("panda7")
    with_payload = loaded(model)
    dyn, limits = gd.NewtonEuler(with_payload), with_payload.effortLimit
    plans = {
        "plan without payload": problem(model, intervals).solve(),
        "plan with payload": problem(with_payload, intervals).solve(),
    }
    for name, plan in plans.items():
        again = plan.simulate()
        print(f"{name}: {plan}")
        print(f"  simulated, it misses its end by {np.abs(again.q[-1] - plan.q[-1]).max():.1e} rad;", end=" ")
        print(f"energies balance to {again.relative_balance:.1e};", end=" ")
        print(f"at most {np.abs(plan.u / limits).max():.0%} of a torque limit")
    ignorant, knowing = plans.values()
    weight = gd.payload_torques(model, TOOL, MASS, CENTER)
    lifts = {
        "servo alone": follow(ignorant, dyn, limits),
        "with statics": follow(ignorant, dyn, limits, weight(ignorant.q.T).full().T),
        "plan with payload": follow(knowing, dyn, limits),
    }
    for name, lift in lifts.items():
        moving = lift.simulation.t <= DURATION
        print(
            f"{name:18} error of the tool: {1000 * lift.error[moving].max():.3g} mm moving, "
            f"{1000 * lift.error[-1]:.2g} mm at the end; "
            f"at most {np.abs(lift.simulation.u / limits).max():.0%} of a torque limit; "
            f"energies balance to {lift.simulation.relative_balance:.1e}"
        )
    if given.plot:
        plot(given.plot, lifts, limits)


if __name__ == "__main__":
    main()
