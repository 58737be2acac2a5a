"""The case study of Cetinkunt and Book 1988, section IV: a planar arm of two flexible links, two modes each.

    python -m benchmarks.flexible.case_study

The links are rigid or have EI = 10, 100, 1,000 and 10,000 N m²; flexible links have clamped-free or clamped-clamped
modes with the paper's kinematics, or the default model. They move for two seconds under joint torques. The tables go to
standard output with the time of each simulation, and without it and with a figure to ``benchmarks/results``.
"""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.tables import BLUE, GREEN, INK, ORANGE, heading, label, markdown, panels, write
from gdalembert.errors import TipWarning

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

LENGTH, MASS_PER_LENGTH = 1.0, 0.5
START = (0.3, -0.5)
DURATION = 2.0
SAMPLES = 401
STIFFNESSES = (10.0, 100.0, 1e3, 1e4)
DRAWN = (10.0, 100.0)
RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-9, 1e-11

RIGID, FREE, CLAMPED, DEFAULT = "rigid", "clamped-free", "clamped-clamped", "default"
COLOURS = {RIGID: INK, FREE: BLUE, CLAMPED: ORANGE, DEFAULT: GREEN}

URDF = """\
<robot name="case_study">
  <link name="base"/>
  <link name="link1">
    <inertial><origin xyz="0.5 0 0"/><mass value="0.5"/>
      <inertia ixx="0" ixy="0" ixz="0" iyy="{0}" iyz="0" izz="{0}"/></inertial>
  </link>
  <joint name="joint1" type="revolute">
    <parent link="base"/><child link="link1"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="10" velocity="20"/>
  </joint>
  <link name="link2">
    <inertial><origin xyz="0.5 0 0"/><mass value="0.5"/>
      <inertia ixx="0" ixy="0" ixz="0" iyy="{0}" iyz="0" izz="{0}"/></inertial>
  </link>
  <joint name="joint2" type="revolute">
    <parent link="link1"/><child link="link2"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="10" velocity="20"/>
  </joint>
  <link name="tip"/>
  <joint name="end" type="fixed"><parent link="link2"/><child link="tip"/><origin xyz="1 0 0"/></joint>
</robot>
""".format(MASS_PER_LENGTH * LENGTH**3 / 12)
"""Two thin rods; gravity is across their plane of motion."""


def model(*, in_gravity: bool = False) -> pin.Model:
    """The rigid skeleton; with ``in_gravity``, gravity is in the plane, along −y."""
    skeleton = gd.load_urdf(URDF)
    if in_gravity:
        skeleton.gravity.linear = np.array([0, -9.81, 0])
    return skeleton


def arm(name: str, stiffness: float, *, in_gravity: bool = False) -> gd.FlexibleArm:
    """One of the models by name; ``stiffness`` is EI [N m²]."""
    skeleton = model(in_gravity=in_gravity)
    if name == RIGID:
        return gd.FlexibleArm(skeleton)
    beam = gd.Beam(LENGTH, MASS_PER_LENGTH, EI_z=stiffness)
    if name == DEFAULT:
        link = gd.FlexibleLink(beam)
        return gd.FlexibleArm(skeleton, {"link1": link, "link2": link})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TipWarning)  # of clamped-clamped modes: the study shows it
        modes = gd.modes.clamped_free(2) if name == FREE else gd.modes.clamped_clamped(2)
        link = gd.FlexibleLink(beam, bending_y=modes, foreshortening=False)
    return gd.FirstOrderArm(skeleton, {"link1": link, "link2": link})


def torques(t: ca.SX) -> ca.SX:
    """The torques of the joints [N m]."""
    return ca.vertcat(0.6 * ca.sin(ca.pi * t), -0.25 * ca.sin(2 * ca.pi * t))


class Motion(NamedTuple):
    """A simulation.

    Attributes:
        t: times (n).
        state: q and v (2 nv × n).
        work: of the torques up to each time (n) [J].
        tip: x and y of the tip (2 × n) [m].
        deflection: of each link's tip, along y of the link (2 × n) [m].
        seconds: of processor time that the integration took.
    """

    t: Array
    state: Array
    work: Array
    tip: Array
    deflection: Array
    seconds: float

    @property
    def joints(self) -> Array:
        """The joint angles (2 × n)."""
        return self.state[:2]


def simulate(dyn: gd.FlexibleArm, *, driven: bool = True) -> Motion:
    """Two seconds from rest, by CVODES: Adams' methods, which suit vibrations without damping."""
    nv = dyn.tree.nv
    x, t = ca.SX.sym("x", 2 * nv), ca.SX.sym("t")
    u = torques(t) if driven else ca.DM(2, 1)
    problem = {"x": x, "t": t, "ode": dyn.state_derivative(x, u), "quad": ca.dot(u, x[nv : nv + 2])}
    options = {
        "reltol": RELATIVE_TOLERANCE,
        "abstol": ABSOLUTE_TOLERANCE,
        "linear_multistep_method": "adams",
        "nonlinear_solver_iteration": "functional",
        "max_num_steps": 100_000,
    }
    times = np.linspace(0, DURATION, SAMPLES)
    integrate = ca.integrator("motion", "cvodes", problem, 0.0, times[1:].tolist(), options)
    start = np.zeros(2 * nv)
    start[:2] = START
    begun = time.process_time()
    found = integrate(x0=start)
    seconds = time.process_time() - begun
    state = np.column_stack([start, found["xf"].full()])
    work = np.append(0.0, found["qf"].full())
    tip, deflection = (part.full() for part in places(dyn)(state[:nv]))
    return Motion(times, state, work, tip, deflection, seconds)


def places(dyn: gd.FlexibleArm) -> ca.Function:
    """(q) → (tip, deflection), see :class:`Motion`."""
    kinematics = gd.Kinematics(dyn.tree)
    q = ca.SX.sym("q", dyn.tree.nq)
    first, second, tip = (kinematics.frame_placement(name)(q) for name in ("link1", "link2", "tip"))
    across = [(ca.inv(below) @ above)[1, 3] for below, above in ((first, second), (second, tip))]
    return ca.Function("places", [q], [tip[:2, 3], ca.vertcat(*across)])


Study = dict[float, dict[str, Motion]]
"""Motions by model, for each EI."""


def measure(stiffnesses: tuple[float, ...] = STIFFNESSES) -> Study:
    """All models under torques, without gravity in the plane."""
    rigid = simulate(arm(RIGID, 0.0))
    return {
        stiffness: {RIGID: rigid, **{name: simulate(arm(name, stiffness)) for name in (FREE, CLAMPED, DEFAULT)}}
        for stiffness in stiffnesses
    }


def largest(x: Array) -> Array:
    """The largest absolute value of each row over time."""
    return np.asarray(np.abs(x).max(axis=1))


def apart(one: Motion, other: Motion) -> float:
    """The largest distance between the tips of two motions [m]."""
    return float(np.linalg.norm(one.tip - other.tip, axis=0).max())


def cell(x: float) -> str:
    """Two digits, or zero for rounding noise."""
    return "0" if x < 1e-12 else f"{x:.1e}"


NOTES = """\
# Case study: two flexible links

![joint angles and deflections over time](flexible_case_study.png)

The arm of Cetinkunt and Book 1988, section IV, with our lengths, masses and torques. The table has the largest values
over 2 s: differences of the joint angles from those of the rigid arm, deflections of the tips of the links, and the
distance of the arm's tip from that of the default model.
"""

DROPPED_NOTES = """\
## Dropped in the plane, EI = 10 N m²

The same start, with gravity along −y and no torques: the distance of the arm's tip from that of the default model.
"""


def table(study: Study, *, times: bool = False) -> str:
    """One row for each model and EI."""
    head = ["", "EI [N m²]", "Δq1 [rad]", "Δq2 [rad]", "link 1 [m]", "link 2 [m]", "tip from default [m]"]
    rows = []
    for name in (RIGID, FREE, CLAMPED, DEFAULT):
        for stiffness, motions in study.items():
            motion = motions[name]
            numbers = [
                *largest(motion.joints - motions[RIGID].joints),
                *largest(motion.deflection),
                apart(motion, motions[DEFAULT]),
            ]
            ratio = [f"{DURATION / motion.seconds:.1f}"] * times
            rows.append((name, f"{stiffness:g}", *(cell(x) for x in numbers), *ratio))
    return "\n".join([NOTES, *markdown(head + ["motion / computing time"] * times, rows)]) + "\n"


def dropped(name: str) -> Motion:
    """The arm of EI = 10 N m² in gravity, without torques."""
    return simulate(arm(name, 10.0, in_gravity=True), driven=False)


def dropped_table() -> str:
    """One row for each model."""
    default = dropped(DEFAULT)
    rows = [(name, cell(apart(dropped(name), default))) for name in (RIGID, FREE, CLAMPED)]
    return "\n".join([DROPPED_NOTES, *markdown(["", "tip from default [m]"], rows)]) + "\n"


def draw(study: Study) -> Figure:
    """Joint angles, their differences from the rigid arm's, and deflections over time: a column for each EI."""
    figure, axes = panels(5, len(DRAWN), (8.6, 9.4), sharex=True)
    styles = {RIGID: ("-", 2.4), DEFAULT: ("-", 2.4), FREE: ("-", 1.0), CLAMPED: ("--", 1.2)}
    for column, stiffness in zip(axes.T, DRAWN, strict=True):
        rigid = study[stiffness][RIGID]
        for name, (line, width) in styles.items():
            motion = study[stiffness][name]
            rows = [*(1000 * (motion.joints - rigid.joints)), *(1000 * motion.deflection)]
            style = {"color": COLOURS[name], "linestyle": line, "linewidth": width}
            column[0].plot(motion.t, motion.joints[0], label=name, **style)
            column[0].plot(motion.t, motion.joints[1], **style)
            for axis, y in zip(column[1:], rows, strict=True):
                axis.plot(motion.t, y, **style)
        for axis, title in zip(column, (f"EI = {stiffness:g} N m²", "", "", "", ""), strict=True):
            label(axis, title)
        column[0].text(0, START[0] + 0.15, "joint 1", fontsize=8, color=INK)
        column[0].text(0, START[1] - 0.15, "joint 2", fontsize=8, color=INK, va="top")
        column[-1].set_xlabel("time [s]", fontsize=8, color=INK)
    names = (
        "joint angles [rad]",
        "joint 1 − rigid [mrad]",
        "joint 2 − rigid [mrad]",
        "tip of link 1 [mm]",
        "tip of link 2 [mm]",
    )
    for axis, name in zip(axes[:, 0], names, strict=True):
        axis.set_ylabel(name, fontsize=8, color=INK)
    figure.align_ylabels(axes[:, 0])
    heading(figure, axes[0, 0], "Joint angles, and deflections across the links, under the same torques")
    return figure


def main() -> None:
    study = measure()
    behind = dropped_table()
    print(f"{table(study, times=True)}\n{behind}")
    write("flexible_case_study", f"{table(study)}\n{behind}", lambda: draw(study))


if __name__ == "__main__":
    main()
