"""A flexible boom from rest to rest: input shaping (ZV, ZVD) beside optimal plans, with an uncertain stiffness.

python examples/input_shaping.py
python examples/input_shaping.py --plot shaping.png    needs matplotlib

The motor turns a boom with a payload in a horizontal plane. Shapers (Singer and Seering 1990) convolve the torques of
the fastest rigid motion with two or three impulses, from the first natural frequency. The first optimal plan is the
fastest for the flexible boom; the second one has the time of the ZVD shaper and the least mean energy at its end, for
five stiffnesses (gd.ocp.Scenarios). All torques are applied to booms with more modes, as stiff as planned, softer and
stiffer.
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

LENGTH, PAYLOAD = 1.5, 1.0  # m, kg
TURN, TORQUE, RATE = 0.5, 6.0, 60.0  # rad, N m, N m/s
FACTORS = (0.8, 0.9, 1.0, 1.1, 1.2)  # of the stiffness
MODES = 2  # of the plans, those that the boom vibrates in when it turns freely
AFTER = 1.5  # s

URDF = f"""<robot name="boom">
  <link name="base"/>
  <link name="boom"><inertial><origin xyz="{LENGTH / 2} 0 0"/><mass value="1.2"/>
    <inertia ixx="0" ixy="0" ixz="0" iyy="0.225" iyz="0" izz="0.225"/></inertial></link>
  <joint name="joint" type="revolute"><parent link="base"/><child link="boom"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="{TORQUE}" velocity="10"/></joint>
  <link name="tip"><inertial><mass value="{PAYLOAD}"/><inertia ixx="0.002" ixy="0" ixz="0" iyy="0.002" iyz="0"
    izz="0.002"/></inertial></link>
  <joint name="tip_joint" type="fixed"><parent link="boom"/><child link="tip"/><origin xyz="{LENGTH} 0 0"/></joint>
</robot>"""


class Torques(NamedTuple):
    """Torques u [N m] at times t [s], and on straight lines between."""

    t: np.ndarray
    u: np.ndarray

    @property
    def duration(self) -> float:
        return float(self.t[-1])


def boom(model: pin.Model, shapes: gd.modes.ModeSet) -> gd.FlexibleArm:
    """The boom, with its stiffness as a parameter."""
    beam = gd.Beam(LENGTH, 0.8, EI_z=40.0)
    link = gd.FlexibleLink(beam, shapes, to="tip", modal_damping=0.005)
    return gd.FlexibleArm(model, {"boom": link}, parameters={"stiffness": True})


def problem(arm: gd.Dynamics, model: pin.Model, duration: float | tuple[float, float], intervals: int) -> ocp.Problem:
    """From rest, within the limits of the torque and its rate; it begins and ends with none."""
    made = ocp.Problem(arm, duration, intervals, bounds=ocp.Bounds.of(arm, model), control="linear")
    made.start(np.zeros(arm.tree.nq))
    made.subject_to(made.u[0] == 0)
    made.subject_to(made.u[-1] == 0)
    most = RATE / intervals * made.duration
    change = ca.vec(ca.diff(made.u, 1, 1)) / most
    made.subject_to(change <= 1)
    made.subject_to(change >= -1)
    return made


def fastest(dyn: gd.Dynamics, model: pin.Model, intervals: int) -> ocp.Solution:
    """The least time from rest to rest."""
    made = problem(dyn, model, (0.3, 2.0), intervals)
    made.end([TURN, *np.zeros(dyn.tree.nq - 1)])
    made.minimize(made.duration + 1e-4 * made.integral(lambda u: ca.sumsqr(u)))
    return made.solve()


def robust(arm: gd.FlexibleArm, model: pin.Model, duration: float, intervals: int) -> ocp.ScenariosSolution:
    """The torques with the least mean energy at the end, of all stiffnesses."""
    scenarios = []
    for _ in FACTORS:
        made = problem(arm, model, duration, intervals)
        made.end({"joint": TURN}, v=None)
        q, v = made.q[:, -1], made.v[:, -1]
        energy = arm.kinetic_energy(q, v, made.p) + arm.elastic_energy(q, made.p)
        made.minimize(energy + 1e-5 * made.integral(lambda u: ca.sumsqr(u)))
        scenarios.append(made)
    given = [{"boom.stiffness_factor": factor} for factor in FACTORS]
    return ocp.Scenarios(scenarios).solve(p=given)


def impulses(arm: gd.FlexibleArm, derivative: bool) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and heights of a ZV shaper, or of a ZVD shaper, for the first vibration of the boom that turns freely.

    Its damping ratio is that of the eigenvalues of the linearised boom.
    """
    roots = np.linalg.eigvals(arm.at().linearize(np.zeros(arm.tree.nq))[0])
    root = min((x for x in roots if x.imag > 1), key=abs)
    ratio = np.exp(np.pi * root.real / root.imag)
    heights = np.array([1, 2 * ratio, ratio**2]) if derivative else np.array([1, ratio])
    return np.pi / root.imag * np.arange(len(heights)), heights / heights.sum()


def shaped(torques: Torques, shaper: tuple[np.ndarray, np.ndarray]) -> Torques:
    """Convolved with impulses."""
    t = np.unique(np.add.outer(shaper[0], torques.t).round(12))
    parts = (height * np.interp(t - delay, *torques, left=0, right=0) for delay, height in zip(*shaper, strict=True))
    return Torques(t, sum(parts))


def follow(torques: Torques, arm: gd.FlexibleArm, factor: float) -> gd.Simulation:
    """A boom with a factor of its stiffness under torques, and after them."""
    t = np.unique(np.concatenate([torques.t, np.linspace(0, torques.duration + AFTER, 400)]))
    start, p = np.zeros(arm.tree.nq), {"boom.stiffness_factor": factor}
    return gd.simulate(arm, (start, start), t, np.interp(t, *torques)[:, None], p=p, method="rk4", step=5e-4)


def residual(motion: gd.Simulation, duration: float) -> float:
    """Peak to peak of the deflection of the tip after the torques [m]."""
    return float(np.ptp(motion.q[motion.t >= duration, 1]))


def plot(
    path: str, torques: dict[str, Torques], motions: dict[str, gd.Simulation], left: dict[str, list[float]]
) -> None:
    """Torques, deflections of the boom as planned, and vibration left over the stiffness."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 7), layout="constrained")
    above, middle, below = figure.subplots(3, 1)
    for (name, held), colour in zip(
        torques.items(), ("#8A8A8A", "#E69F00", "#D55E00", "#0072B2", "#009E73"), strict=True
    ):
        above.plot(*held, color=colour, label=f"{name}: {held.duration:.2f} s")
        middle.plot(motions[name].t, 1000 * motions[name].q[:, 1], color=colour)
        below.semilogy(FACTORS, 1000 * np.array(left[name]), "o-", color=colour)
    above.set_ylabel("torque [N m]")
    above.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    middle.set_ylabel("deflection [mm]")
    middle.set_xlabel("time [s]")
    below.set_ylabel("vibration left [mm]")
    below.set_xlabel("stiffness over that of the plan")
    for axes in (above, middle, below):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="fewer intervals")
    parser.add_argument("--plot", metavar="FILE", help="draw torques, deflections and vibrations")
    given = parser.parse_args(arguments)
    intervals = 40 if given.coarse else 60

    model = gd.load_urdf(URDF)
    shapes = gd.modes.craig_bampton(2)
    real = boom(model, shapes)
    vibrations = real.natural_modes(np.zeros(real.tree.nq), joints="free")[1][1:, 1 : 1 + MODES]
    planned = boom(model, shapes.combined(vibrations.T))
    rigid = fastest(gd.NewtonEuler(model), model, intervals)
    flexible = fastest(planned, model, intervals)
    fast = Torques(rigid.t, rigid.u[:, 0])
    zv, zvd = (shaped(fast, impulses(planned, derivative)) for derivative in (False, True))
    sure = robust(planned, model, zvd.duration, intervals)
    for name, plan in (("rigid", rigid), ("flexible", flexible), ("robust", sure)):
        print(f"{name} plan: {plan}")
    torques = {
        "rigid": fast,
        "ZV": zv,
        "ZVD": zvd,
        "flexible": Torques(flexible.t, flexible.u[:, 0]),
        "robust": Torques(sure.t, sure.u[:, 0]),
    }
    motions = {name: [follow(held, real, factor) for factor in FACTORS] for name, held in torques.items()}
    left = {name: [residual(x, torques[name].duration) for x in motions[name]] for name in torques}
    print("vibration left, peak to peak [mm], for stiffnesses of", ", ".join(f"{x:.0%}" for x in FACTORS))
    for name, found in left.items():
        balance = max(motion.relative_balance for motion in motions[name])
        print(
            f"  {name:8} {torques[name].duration:.3f} s: {', '.join(f'{1000 * x:.3g}' for x in found)}; "
            f"energies balance to {balance:.1e}"
        )
    if given.plot:
        nominal = FACTORS.index(1.0)
        plot(given.plot, torques, {name: each[nominal] for name, each in motions.items()}, left)


if __name__ == "__main__":
    main()
