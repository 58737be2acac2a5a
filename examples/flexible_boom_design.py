"""The wall of a flexible boom and its motion, designed together: stiffer is heavier.

python examples/flexible_boom_design.py
python examples/flexible_boom_design.py --plot design.png    needs matplotlib

A tube turns a payload in a horizontal plane, from rest to rest, within a limit of the deflection of the tip. Mass and
stiffness of a thin tube are proportional to its wall. The stiffness is a parameter of the flexible arm; the mass that
is added to the thinnest wall is that of payloads at frames along the boom, tied to the stiffness by equations.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import ocp

LENGTH, DIAMETER, THINNEST, THICKEST = 2.0, 0.05, 0.0005, 0.004  # m
DENSITY, YOUNG = 2700.0, 70e9  # kg/m³, N/m²
PAYLOAD, TURN, DURATION = 3.0, 1.2, 1.0  # kg, rad, s
DEFLECTION = 0.02  # m: the largest of the tip
SMOOTHING = 0.003  # s²: weight of the squared torque rates beside the squared torques
POINTS = 8
"""Where the mass of the wall is added: in the middle of as many equal parts of the boom."""


def urdf(wall: float = THINNEST) -> str:
    """The rigid boom of a wall, with its payload and a frame for each of the points."""
    mass = DENSITY * area(wall) * LENGTH
    inertia = mass * LENGTH**2 / 12
    parts = [
        f'<link name="wall{k}"/><joint name="at{k}" type="fixed"><parent link="boom"/><child link="wall{k}"/>'
        f'<origin xyz="{LENGTH * (k + 0.5) / POINTS} 0 0"/></joint>'
        for k in range(POINTS)
    ]
    return f"""<robot name="boom"><link name="base"/>
      <link name="boom"><inertial><origin xyz="{LENGTH / 2} 0 0"/><mass value="{mass}"/>
        <inertia ixx="0" ixy="0" ixz="0" iyy="{inertia}" iyz="0" izz="{inertia}"/></inertial></link>
      <joint name="joint" type="revolute"><parent link="base"/><child link="boom"/><axis xyz="0 0 1"/>
        <limit lower="-3" upper="3" effort="300" velocity="10"/></joint>
      <link name="tip"><inertial><mass value="{PAYLOAD}"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0"
        izz="0.01"/></inertial></link>
      <joint name="tip_joint" type="fixed"><parent link="boom"/><child link="tip"/><origin xyz="{LENGTH} 0 0"/></joint>
      {"".join(parts)}</robot>"""


def area(wall: float) -> float:
    """Of a thin tube [m²]."""
    return np.pi * DIAMETER * wall


def beam(wall: float) -> gd.Beam:
    """A thin tube: mass and stiffness are proportional to the wall."""
    return gd.Beam(LENGTH, DENSITY * area(wall), EI_z=YOUNG * area(wall) * DIAMETER**2 / 8)


def adjustable(model: pin.Model) -> gd.FlexibleArm:
    """The boom with the thinnest wall, and what a thicker one adds as parameters."""
    link = gd.FlexibleLink(beam(THINNEST), gd.modes.hermite(), to="tip", modal_damping=0.01)
    walls = [f"wall{k}" for k in range(POINTS)]
    return gd.FlexibleArm(model, {"boom": link}, parameters={"stiffness": True, "payload": walls})


def exact(wall: float) -> gd.FlexibleArm:
    """A boom with that wall, in numbers."""
    link = gd.FlexibleLink(beam(wall), gd.modes.craig_bampton(2), to="tip", modal_damping=0.01)
    return gd.FlexibleArm(gd.load_urdf(urdf(wall)), {"boom": link})


def masses(factor: float | ca.MX) -> float | ca.MX:
    """What each point carries [kg] for a factor of the wall."""
    return (factor - 1) * DENSITY * area(THINNEST) * LENGTH / POINTS


def problem(arm: gd.FlexibleArm, model: pin.Model, intervals: int, wall: float | None = None) -> ocp.Problem:
    """The least effort with a given wall, or with the best one."""
    factor = 2.0 if wall is None else wall / THINNEST
    p = {"boom.stiffness_factor": factor} | {f"wall{k}.m": masses(factor) for k in range(POINTS)}
    most = THICKEST / THINNEST
    design = {"boom.stiffness_factor": (1.0, most)} | {f"wall{k}.m": (0.0, masses(most)) for k in range(POINTS)}
    made = ocp.Problem(
        arm,
        DURATION,
        intervals,
        bounds=ocp.Bounds.of(arm, model),
        control="linear",
        degree=2,
        p=p,
        design=None if wall is not None else design,
    )
    made.start(np.zeros(arm.tree.nq))
    made.end([TURN, *np.zeros(arm.tree.nq - 1)])
    made.subject_to(made.u[:, 0] == 0)
    made.subject_to(made.u[:, -1] == 0)
    if wall is None:
        names = arm.parameters.names
        stiffness = made.p[names.index("boom.stiffness_factor")]
        for k in range(POINTS):
            made.subject_to(made.p[names.index(f"wall{k}.m")] == masses(stiffness))
        made.path(lambda q: q[1], -DEFLECTION, DEFLECTION)
    rates = ca.diff(made.u, 1, 1) * (intervals / DURATION)
    made.minimize(made.integral(lambda u: ca.sumsqr(u)) + SMOOTHING * ca.sumsqr(rates) * (DURATION / intervals))
    return made


def plot(path: str, plans: dict[str, ocp.Solution]) -> None:
    """Torque above, deflection below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for (name, plan), colour in zip(plans.items(), ("#E69F00", "#0072B2", "#8A8A8A"), strict=True):
        above.plot(plan.t, plan.u[:, 0], color=colour, label=name)
        below.plot(plan.t, 1000 * plan.q[:, 1], color=colour)
    for side in (-1, 1):
        below.axhline(1000 * side * DEFLECTION, color="#222222", linewidth=1, linestyle=":")
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    above.set_ylabel("torque [N m]")
    above.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    below.set_ylabel("deflection of the tip [mm]")
    below.set_xlabel("time [s]")
    figure.savefig(path, dpi=150)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="fewer intervals")
    parser.add_argument("--plot", metavar="FILE", help="draw torques and deflections")
    given = parser.parse_args(arguments)
    intervals = 40 if given.coarse else 80

    model = gd.load_urdf(urdf())
    arm = adjustable(model)
    best = problem(arm, model, intervals).solve()
    wall = THINNEST * best.parameters["boom.stiffness_factor"]
    plans = {
        f"wall of {1000 * THINNEST} mm": problem(arm, model, intervals, THINNEST).solve(),
        f"best wall, {1000 * wall:.2f} mm": best,
        f"wall of {1000 * THICKEST:.0f} mm": problem(arm, model, intervals, THICKEST).solve(),
    }
    for name, plan in plans.items():
        print(f"{name}: {plan}")
        print(f"  the tip deflects by up to {1000 * np.abs(plan.q[:, 1]).max():.3g} mm")
    tube = exact(wall)
    frequencies = [robot.natural_frequencies(np.zeros(robot.tree.nq))[0] / (2 * np.pi) for robot in (best.robot, tube)]
    print("first frequency with added masses {:.3f} Hz, of the tube {:.3f} Hz".format(*frequencies))
    start = np.zeros(tube.tree.nq)
    again = gd.simulate(tube, (start, start), best.t, best.u)
    print(
        f"the tube under these torques: deflection up to {1000 * np.abs(again.q[:, 1]).max():.3g} mm, "
        f"{abs(again.q[-1, 0] - TURN):.1e} rad from the goal; energies balance to {again.relative_balance:.1e}"
    )
    if given.plot:
        plot(given.plot, plans)


if __name__ == "__main__":
    main()
