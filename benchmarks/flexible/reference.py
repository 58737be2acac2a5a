"""The accuracy of flexible arms against references without modes: a lumped chain, and exudyn where it is installed.

    python -m benchmarks.flexible.reference                           chains of 20 and 40 segments a link
    python -m benchmarks.flexible.reference --segments 8 --without-exudyn

The arm has two links of 1 m and 0.5 kg/m. It starts at rest at q = (0.3, -0.5) rad and moves for 2 s. The situations
are ours: the paper (Cetinkunt and Book 1988, section IV) prints no lengths, masses or torques. The reference is
Pinocchio on rigid segments with springs between them (``tests/helpers/chain.py``), extrapolated from two lengths of
segments. exudyn's cable elements (ANCF) are a second, independent reference. The tables go to standard output and with
a figure to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import math
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt

import gdalembert as gd
from benchmarks.common.tables import BLUE, GREEN, GREY, ORANGE, PURPLE, heading, label, markdown, panels, write
from gdalembert.errors import TipWarning
from tests.helpers import chain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]

START = np.array([0.3, -0.5])
TIMES = np.linspace(0, 2, 401)
STEPS = 10_000
"""The steps of RK4 for the arms."""

URDF = """
<robot name="two_equal_links">
  <link name="base"/>
  <link name="link1">{body}</link>
  <joint name="joint1" type="revolute">
    <parent link="base"/><child link="link1"/><axis xyz="0 0 1"/>
    <limit lower="-100" upper="100" effort="100" velocity="100"/>
  </joint>
  <link name="link2">{body}</link>
  <joint name="joint2" type="revolute">
    <parent link="link1"/><child link="link2"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-100" upper="100" effort="100" velocity="100"/>
  </joint>
  <link name="tip"/>
  <joint name="tip_joint" type="fixed"><parent link="link2"/><child link="tip"/><origin xyz="1 0 0"/></joint>
</robot>
""".format(
    body="""
    <inertial>
      <origin xyz="0.5 0 0"/><mass value="0.5"/>
      <inertia ixx="0" iyy="0.041666666666666664" izz="0.041666666666666664" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  """
)


class Situation(NamedTuple):
    """The bending stiffness of both links, gravity, and the amplitudes of the joint torques.

    The torques are u_1 sin(π t) and u_2 sin(2 π t).
    """

    stiffness: float
    gravity: Array
    torques: tuple[float, float]

    @property
    def beam(self) -> gd.Beam:
        """The beam of either link."""
        return gd.Beam(1.0, 0.5, EI_z=self.stiffness)

    def torque(self, t: Any, sin: Callable[[Any], Any] = math.sin) -> list[Any]:
        """u(t)."""
        return [u * sin((k + 1) * math.pi * t) for k, u in enumerate(self.torques)]


NONE, DOWN = np.zeros(3), np.array([0, -9.81, 0])

SITUATIONS = {
    "S1, EI = 10": Situation(10.0, NONE, (0.6, -0.25)),
    "S1, EI = 100": Situation(100.0, NONE, (0.6, -0.25)),
    "S2, EI = 100": Situation(100.0, DOWN, (0.0, 0.0)),
    "S3, EI = 10": Situation(10.0, DOWN, (0.0, 0.0)),
}


class Model(NamedTuple):
    """The description of both links. Without modes they are rigid, or, if ``by_role``, have the modes of their role."""

    bending: gd.modes.ModeSet | None = None
    exact: bool = True
    foreshortening: bool = True
    by_role: bool = False


RIGID, DEFAULT, PAPER = "rigid", "**default: modes by role**", "**paper: clamped-free 2, first order**"
FOUR = "**Craig-Bampton 4**"

MODELS = {
    RIGID: Model(),
    "clamped-clamped 2": Model(gd.modes.clamped_clamped(2)),
    PAPER: Model(gd.modes.clamped_free(2), exact=False, foreshortening=False),
    "clamped-free 2, no foreshortening": Model(gd.modes.clamped_free(2), foreshortening=False),
    "clamped-free 2": Model(gd.modes.clamped_free(2)),
    "clamped-free 4, no foreshortening": Model(gd.modes.clamped_free(4), foreshortening=False),
    "clamped-free 4": Model(gd.modes.clamped_free(4)),
    "Hermite 2, first order": Model(gd.modes.hermite(), exact=False, foreshortening=False),
    "Hermite 2": Model(gd.modes.hermite()),
    "Craig-Bampton 3": Model(gd.modes.craig_bampton(1)),
    FOUR: Model(gd.modes.craig_bampton(2)),
    DEFAULT: Model(by_role=True),
}


class Motion(NamedTuple):
    """The positions of the tip at :data:`TIMES` (401, 3), and the computing time over the duration of the motion."""

    tip: Array
    ratio: float


class Result(NamedTuple):
    """Largest distance of the tip from the reference [m], its change with half the step, and the ratio of the times."""

    error: float
    change: float
    ratio: float

    def __str__(self) -> str:
        return f"{'~ ' if not self.change <= 0.1 * self.error else ''}{self.error:.1e}"


Results = dict[str, dict[str, Result]]
"""Results by model (or chain, or exudyn), for each situation."""


def arm(model: Model, situation: Situation) -> gd.FlexibleArm:
    """The arm with the links of a model."""
    rigid = gd.load_urdf(URDF)
    rigid.gravity.linear = situation.gravity
    if model.bending is None and not model.by_role:
        return gd.FlexibleArm(rigid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TipWarning)  # of clamped-clamped modes: the table shows it
        bending = {} if model.bending is None else {"bending_y": model.bending}
        link = gd.FlexibleLink(situation.beam, **bending, foreshortening=model.foreshortening)
        links = {"link1": link, "link2": link}
        return (gd.FlexibleArm if model.exact else gd.FirstOrderArm)(rigid, links)


def arm_motion(dyn: gd.FlexibleArm, situation: Situation, steps: int = STEPS) -> Motion:
    """The motion of an arm, by RK4 in CasADi; the steps are a multiple of 400."""
    h = TIMES[-1] / steps
    state, start = ca.SX.sym("x", 2 * dyn.tree.nv), ca.SX.sym("t")

    def rate(t: ca.SX, x: ca.SX) -> ca.SX:
        return dyn.state_derivative(x, ca.vertcat(*situation.torque(t, ca.sin)))

    step = ca.Function("step", [state, start], [chain.rk4(rate, start, state, h)])
    run = step.mapaccum(steps)
    x = np.zeros(2 * dyn.tree.nv)
    x[:2] = START
    began = time.perf_counter()
    states = run(x, h * np.arange(steps)[None])
    ratio = (time.perf_counter() - began) / TIMES[-1]
    every = steps // (len(TIMES) - 1)
    q = np.column_stack([x, states[:, every - 1 :: every].full()])[: dyn.tree.nq]
    placement = gd.Kinematics(dyn.tree).frame_placement("tip")
    return Motion(np.array([placement(each).full()[:3, 3] for each in q.T]), ratio)


def chain_motion(situation: Situation, segments: int) -> Motion:
    """The motion of a lumped chain, by RK4 in Python."""
    lumped = chain.chain([situation.beam] * 2, segments)
    began = time.perf_counter()
    tip = chain.tip_path(lumped, START, situation.torque, situation.gravity, TIMES)
    return Motion(tip, (time.perf_counter() - began) / TIMES[-1])


def reference(coarse: Motion, fine: Motion) -> Array:
    """The limit to which the chains converge."""
    return chain.extrapolated(coarse.tip, fine.tip)


def apart(one: Array, other: Array) -> float:
    """The largest distance between two paths [m]; infinite if a motion was lost."""
    distance = float(np.linalg.norm(one - other, axis=1).max())
    return distance if math.isfinite(distance) else math.inf


# exudyn

ELEMENTS, EXUDYN_STEPS, AXIAL_STIFFNESS = 8, 16_000, 3e7
"""exudyn's cable elements a link, steps, and EA [N], which is infinite in the other models."""


def has_exudyn() -> bool:
    """Whether exudyn is installed; if not, a sentence says so."""
    found = importlib.util.find_spec("exudyn") is not None
    if not found:
        print("exudyn is not installed and not compared: pip install '.[benchmark]'", file=sys.stderr)
    return found


def exudyn_motion(situation: Situation) -> Motion:
    """The motion of exudyn's planar cable elements, by its generalized-α integrator."""
    import exudyn
    from exudyn import itemInterface as item

    container = exudyn.SystemContainer()
    system = container.AddSystem()
    beam, size = situation.beam, 1 / ELEMENTS
    joint = system.AddMarker(item.MarkerBodyPosition(bodyNumber=system.AddObject(item.ObjectGround())))

    def push(cable: Any, at: float, torque: Callable[[float], float]) -> None:
        where = system.AddMarker(item.MarkerBodyRigid(bodyNumber=cable, localPosition=[at, 0, 0]))
        load = item.LoadTorqueVector(markerNumber=where, loadVectorUserFunction=lambda _, t, __: [0, 0, torque(t)])
        system.AddLoad(load)

    root, cables = np.zeros(2), []
    for k, angle in enumerate(np.cumsum(START)):
        along = np.array([math.cos(angle), math.sin(angle)])
        points = [[*(root + i * size * along), *along] for i in range(ELEMENTS + 1)]
        nodes = [system.AddNode(item.NodePoint2DSlope1(referenceCoordinates=x)) for x in points]
        carrying = cables[-1:]
        cables = [
            system.AddObject(
                item.ObjectANCFCable2D(
                    nodeNumbers=list(pair),
                    length=size,
                    massPerLength=beam.mass_per_length,
                    bendingStiffness=beam.EI_z,
                    axialStiffness=AXIAL_STIFFNESS,
                )
            )
            for pair in itertools.pairwise(nodes)
        ]
        for cable in cables:
            mass = system.AddMarker(item.MarkerBodyMass(bodyNumber=cable))
            system.AddLoad(item.LoadMassProportional(markerNumber=mass, loadVector=situation.gravity))
        own_root, tip = (system.AddMarker(item.MarkerNodePosition(nodeNumber=node)) for node in (nodes[0], nodes[-1]))
        system.AddObject(item.ObjectJointRevolute2D(markerNumbers=[joint, own_root]))
        push(cables[0], 0.0, lambda t, k=k: situation.torque(t)[k])
        for cable in carrying:
            push(cable, size, lambda t, k=k: -situation.torque(t)[k])
        joint, root = tip, root + along
    sensor = system.AddSensor(
        item.SensorNode(
            nodeNumber=nodes[-1],
            outputVariableType=exudyn.OutputVariableType.Position,
            storeInternal=True,
            writeToFile=False,
        )
    )
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = EXUDYN_STEPS
    settings.timeIntegration.endTime = TIMES[-1]
    settings.timeIntegration.adaptiveStep = False
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.relativeTolerance = 1e-6
    settings.timeIntegration.newton.absoluteTolerance = 1e-5
    settings.linearSolver.solverType = exudyn.LinearSolverType.EigenSparse
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = TIMES[1]
    began = time.perf_counter()
    system.SolveDynamic(settings)
    ratio = (time.perf_counter() - began) / TIMES[-1]
    found = system.GetSensorStoredData(sensor)
    if not np.allclose(found[:, 0], TIMES, rtol=0, atol=1e-9):
        raise RuntimeError("exudyn's sensor was not read at the times of the others")
    return Motion(found[:, 1:], ratio)


# The tables


def measure(
    situations: Mapping[str, Situation] = SITUATIONS,
    models: Mapping[str, Model] = MODELS,
    segments: int = 20,
    steps: int = STEPS,
    exudyn: bool = True,
) -> Results:
    """All models and references in all situations; the chains have ``segments`` and twice as many a link."""
    results: Results = {}
    for name, situation in situations.items():
        chains = {n: chain_motion(situation, n) for n in (segments, 2 * segments)}
        true = reference(*chains.values())
        row = results[name] = {}
        for model, choice in models.items():
            dyn = arm(choice, situation)
            motion, finer = (arm_motion(dyn, situation, n) for n in (steps, 2 * steps))
            row[model] = Result(apart(finer.tip, true), apart(finer.tip, motion.tip), motion.ratio)
        for n, motion in chains.items():
            row[f"chain of {n} segments a link"] = Result(apart(motion.tip, true), 0.0, motion.ratio)
        if exudyn:
            motion = exudyn_motion(situation)
            row[f"exudyn, {ELEMENTS} cable elements a link"] = Result(apart(motion.tip, true), 0.0, motion.ratio)
    return results


NOTES = """\
# Flexible arms beside references without modes

![distance of the tip from the reference](flexible_reference.png)

Largest distance [m], over 2 s, of the tip from that of a lumped chain in Pinocchio, extrapolated from {segments}
segments a link. The arm has two links of 1 m and 0.5 kg/m with equal EI [N m²] and starts at rest at
q = (0.3, −0.5) rad. S1: torques 0.6 sin(π t) and −0.25 sin(2 π t) N m, no gravity. S2, S3: no torques, gravity of
9.81 m/s² in the plane. Rotations are exact and beams shorten as they bend, unless a row says otherwise. The number
behind a set is that of the modes of one link. By role, the first link has Craig-Bampton 4 and the last clamped-free 4.

The arms are integrated by RK4 with {steps} steps in CasADi's interpreter. The distances are those with half the
step; ~ marks where halving the step changes the path by more than a tenth of the distance. The last column is the
computing time over the 2 s of the motion, for the slowest case; it depends on the machine.{exudyn}
"""

EXUDYN = """
exudyn {version}: planar cable elements (ANCF) with EA = {stiffness} N, {steps} steps.
"""


def table(results: Results, steps: int = STEPS) -> str:
    """One row for each model, then the references."""
    rows = list(next(iter(results.values())))
    lengths = [row.split()[2] for row in rows if row.startswith("chain of")]
    exudyn = ""
    if any(row.startswith("exudyn") for row in rows):
        version = metadata.version("exudyn")
        exudyn = (
            "\n"
            + EXUDYN.format(version=version, stiffness=f"{AXIAL_STIFFNESS:,.0f}", steps=f"{EXUDYN_STEPS:,}").rstrip()
        )
    head = ["", *results, "time / real time"]
    body = [
        (row, *(each[row] for each in results.values()), f"{max(each[row].ratio for each in results.values()):.2g}")
        for row in rows
    ]
    notes = NOTES.format(segments=" and ".join(lengths), steps=f"{steps:,}", exudyn=exudyn)
    return "\n".join([notes.rstrip(), "", *markdown(head, body)]) + "\n"


KINDS = {
    "rigid": GREY,
    "first-order rotation": PURPLE,
    "exact rotation, no foreshortening": ORANGE,
    "exact rotation and foreshortening": BLUE,
    "references": GREEN,
}


def kind(row: str) -> str:
    """The kind of a row, one of :data:`KINDS`."""
    model = MODELS.get(row)
    if model is None:
        return "references"
    if row == RIGID:
        return "rigid"
    if not model.exact:
        return "first-order rotation"
    return "exact rotation and foreshortening" if model.foreshortening else "exact rotation, no foreshortening"


def draw(results: Results) -> Figure:
    """A panel for each situation: the distance of each row, logarithmic."""
    figure, axes = panels(1, len(results), (9.2, 3.6), sharey=True)
    rows = list(next(iter(results.values())))
    for axis, (situation, found) in zip(axes[0], results.items(), strict=True):
        for name, colour in KINDS.items():
            places = [k for k, row in enumerate(rows) if kind(row) == name]
            errors = [found[rows[k]].error for k in places]
            axis.plot(errors, places, "o", color=colour, markersize=5, label=name)
        axis.set_xscale("log")
        axis.set_yticks(range(len(rows)), [row.replace("*", "") for row in rows])
        axis.set_ylim(len(rows) - 0.5, -0.5)
        label(axis, situation, x="m", grid="both")
    heading(figure, axes[0, 0], "Largest distance of the tip from the extrapolated chain over 2 s")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--segments", type=int, default=20, help="of a link in the shorter chain (20)")
    parser.add_argument("--without-exudyn", action="store_true", help="compare with the chain alone")
    arguments = parser.parse_args()
    results = measure(segments=arguments.segments, exudyn=not arguments.without_exudyn and has_exudyn())
    text = table(results)
    print(text)
    if arguments.segments == 20:
        write("flexible_reference", text, lambda: draw(results))


if __name__ == "__main__":
    main()
