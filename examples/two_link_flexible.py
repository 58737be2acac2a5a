"""An arm with two flexible links: natural frequencies, static deflection, and two seconds of motion.

python examples/two_link_flexible.py
python examples/two_link_flexible.py --plot motion.png    needs matplotlib
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd

DURATION, SAMPLES = 2.0, 401


def build() -> gd.FlexibleArm:
    """The shipped robot with beams of EI = 10 N m² for its two links and default modes."""
    model = gd.load_urdf("two_link_flexible")
    upper = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=10.0))  # length [m], mass per length [kg/m], EI [N m²]
    lower = gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=10.0))
    return gd.FlexibleArm(model, {"link1": upper, "link2": lower})


def simulate(arm: gd.FlexibleArm, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """The times (n), and q and v (2 nv × n), of a motion from rest under joint torques."""
    nv = arm.tree.nv
    x, t = ca.SX.sym("x", 2 * nv), ca.SX.sym("t")
    u = ca.vertcat(0.6 * ca.sin(ca.pi * t), -0.25 * ca.sin(2 * ca.pi * t))
    times = np.linspace(0.0, duration, SAMPLES)
    options = {
        "reltol": 1e-8,
        "abstol": 1e-10,
        "max_num_steps": 100_000,
        "linear_multistep_method": "adams",  # for undamped vibrations
        "nonlinear_solver_iteration": "functional",
    }
    problem = {"x": x, "t": t, "ode": arm.state_derivative(x, u)}
    integrate = ca.integrator("motion", "cvodes", problem, 0.0, times[1:].tolist(), options)
    start = np.zeros(2 * nv)
    start[:2] = 0.3, -0.5
    return times, np.column_stack([start, integrate(x0=start)["xf"].full()])


def tip_deflection(arm: gd.FlexibleArm, q: np.ndarray) -> np.ndarray:
    """The deflection of link 2 across the link (n) [m], at configurations (nq × n)."""
    kinematics = gd.Kinematics(arm.tree)
    s = ca.SX.sym("q", arm.tree.nq)
    link, tip = kinematics.frame_placement("link2")(s), kinematics.frame_placement("tip")(s)
    return ca.Function("deflection", [s], [(ca.inv(link) @ tip)[1, 3]])(q).full().ravel()


def plot(path: str, times: np.ndarray, joints: np.ndarray, deflection: np.ndarray) -> None:
    """Joint angles above, tip deflection below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(times, joints.T, label=["joint 1", "joint 2"])
    above.set_ylabel("angle [rad]")
    above.legend()
    below.plot(times, 1000 * deflection)
    below.set_ylabel("deflection of link 2 [mm]")
    below.set_xlabel("time [s]")
    figure.savefig(path, dpi=150)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="a quarter of a second in place of two")
    parser.add_argument("--plot", metavar="FILE", help="draw the motion")
    given = parser.parse_args(arguments)

    arm = build()
    stretched = np.zeros(arm.tree.nq)
    print("coordinates:", ", ".join(arm.layout))
    print("first frequencies [Hz]:", arm.natural_frequencies(stretched)[:3] / (2 * np.pi))
    held = arm.static_deflection(stretched, "tip", [0, 0.1, 0, 0, 0, 0], reference=pin.LOCAL)
    print("tip under 0.1 N across [m]:", gd.Kinematics(arm.tree).frame_placement("tip")(held).full()[1, 3])

    times, x = simulate(arm, 0.25 if given.coarse else DURATION)
    deflection = tip_deflection(arm, x[: arm.tree.nq])
    print(f"joint angles after {times[-1]:g} s [rad]:", x[:2, -1])
    print("largest deflection of link 2 [m]:", np.abs(deflection).max())
    if given.plot:
        plot(given.plot, times, x[:2], deflection)


if __name__ == "__main__":
    main()
