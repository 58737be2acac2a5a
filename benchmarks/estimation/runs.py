"""The tip of an arm of 3 joints and 8 modes in space from its encoders: how far filters are off in random runs.

    python -m benchmarks.estimation.runs
    python -m benchmarks.estimation.runs --runs 8

Each run is a random motion of a simulated arm under a joint servo that knows the nominal weight. The encoders have
noise; the filter reads them and the torques, at 1 kHz. Errors are those of the tip, in the whole run: of a rigid arm
with the angles of the encoders, and of the filter. Then the arm has 20 % more load and 10 % less EI than its model,
and a filter estimates both beside the motion, or does not. The page goes to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.tables import RESULTS, markdown
from gdalembert.errors import BeamWarning
from gdalembert.spatial.arrays import Array

URDF = """<robot name="spatial_arm"><link name="base"/>
<link name="column"><inertial><mass value="2"/><origin xyz="0 0 0.15"/>
  <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="upper"/><link name="fore"/>
<link name="tip"><inertial><mass value="1"/>
  <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="pan" type="revolute"><parent link="base"/><child link="column"/><axis xyz="0 0 1"/>
  <limit lower="-3" upper="3" velocity="3" effort="100"/></joint>
<joint name="shoulder" type="revolute"><parent link="column"/><child link="upper"/><origin xyz="0 0 0.3"/>
  <axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="3" effort="100"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="0.8 0 0"/>
  <axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="3" effort="100"/></joint>
<joint name="hand" type="fixed"><parent link="fore"/><child link="tip"/><origin xyz="0.8 0 0"/></joint></robot>"""
JOINTS, LOAD, PERIOD, FINE = 3, 1.0, 1e-3, 4
"""The number of joints, the load at the tip [kg], the period of samples [s], and steps of the simulation in one."""
ROTOR = 0.2
"""The inertia of a rotor at its joint [kg m²]."""
ENCODER, EFFORT_NOISE = 1e-4, 0.02
"""The deviation of an encoder [rad], and the density of the noise of efforts in the filter [N m s^½]."""
LEARNT = {"tip.m": (0.3, 0.0), "upper.stiffness_factor": (0.1, 0.0), "fore.stiffness_factor": (0.1, 0.0)}
"""Parameters that a filter estimates, with their deviations at the beginning; they do not change."""
ROBOTS = {"as the model": {}, "20 % more load, 10 % less EI": {"tip.m": 0.2} | dict.fromkeys(list(LEARNT)[1:], 0.9)}
SAMPLES = 2000
STIFFNESS, DAMPING = np.array([60.0, 60, 30]), np.array([15.0, 15, 6])
"""Of the servo [N m/rad, N m s/rad]."""


def rigid_model() -> pin.Model:
    """The arm with rigid links without mass, whose rotors have 0.2 kg m² at the joints."""
    model = gd.load_urdf(URDF)
    model.armature[:] = ROTOR
    return model


def build(*, planar: bool = False) -> gd.FlexibleArm:
    """The arm, whose load and stiffness are parameters; or two planar links with two modes each."""
    if planar:
        beams = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
        links = {name: gd.FlexibleLink(beam, gd.modes.clamped_free(2)) for name, beam in beams.items()}
        return gd.FlexibleArm(gd.load_urdf("two_link_flexible"), links)
    tube = gd.Beam.tube(None, outer_diameter=0.03, wall=0.002, density=2700, youngs_modulus=70e9)
    both = {"bending_y": gd.modes.clamped_free(2), "bending_z": gd.modes.clamped_free(2), "modal_damping": 0.005}
    links = {"upper": gd.FlexibleLink(tube, **both), "fore": gd.FlexibleLink(tube, to="tip", **both)}
    parameters = {"payload": ["tip"], "stiffness": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeamWarning)
        return gd.FlexibleArm(rigid_model(), links, parameters=parameters)


class Runs(NamedTuple):
    """Random runs, sampled each period: torques over it, and at its end angles of encoders and the motion."""

    start: Array
    u: Array
    encoders: Array
    q: Array


def moves(rng: np.random.Generator, runs: int, samples: int) -> tuple[Array, Array, Array]:
    """Angles, rates and accelerations of minimum jerk to two random goals (samples, runs, 3 each)."""
    centre, width = np.array([0.0, 0.3, -0.6]), np.array([1.0, 0.6, 0.7])
    corners = centre + width * rng.uniform(-1, 1, (3, runs, JOINTS))
    half = samples // 2
    times = np.linspace(0, 1, half, endpoint=False)[:, None, None]
    duration = half * PERIOD
    shape = 10 * times**3 - 15 * times**4 + 6 * times**5
    rate = (30 * times**2 - 60 * times**3 + 30 * times**4) / duration
    second = (60 * times - 180 * times**2 + 120 * times**3) / duration**2
    parts = [(a, b - a) for a, b in pairwise(corners)]
    return (
        np.concatenate([a + by * shape for a, by in parts]),
        np.concatenate([by * rate for _, by in parts]),
        np.concatenate([by * second for _, by in parts]),
    )


def simulate(arm: gd.FlexibleArm, p: Mapping[str, float], runs: int, samples: int, seed: int = 0) -> Runs:
    """Random runs of the arm with these parameters, under a servo that knows a rigid arm without them."""
    rng = np.random.default_rng(seed)
    rigid = gd.compile(gd.NewtonEuler(rigid_model()).inverse_dynamics)
    flow, values, nv = gd.compile(arm.state_derivative), arm.parameters.vector(p), arm.nv
    wanted, rates, seconds = moves(rng, runs, samples)
    x = np.zeros((runs, 2 * nv))
    for k in range(runs):
        x[k, :nv] = arm.static_deflection(wanted[0, k], p=p)
    start, h, columns = x[:, :nv].copy(), PERIOD / FINE, ([], [], [])
    for k in range(samples):
        feed = rigid.batch(wanted[k], rates[k], seconds[k])
        u = feed + STIFFNESS * (wanted[k] - x[:, :JOINTS]) + DAMPING * (rates[k] - x[:, nv : nv + JOINTS])
        for _ in range(FINE):
            first = flow.batch(x, u, values)
            second = flow.batch(x + h / 2 * first, u, values)
            third = flow.batch(x + h / 2 * second, u, values)
            last = flow.batch(x + h * third, u, values)
            x = x + h / 6 * (first + 2 * second + 2 * third + last)
        measured = x[:, :JOINTS] + ENCODER * rng.normal(size=(runs, JOINTS))
        for column, values_of_sample in zip(columns, (u, measured, x[:, :nv]), strict=True):
            column.append(values_of_sample)
    return Runs(start, *map(np.array, columns))


def estimated(arm: gd.FlexibleArm, estimator: gd.Estimator, runs: Runs, k: int) -> Array:
    """q of a filter in a run, which begins where the model would rest."""
    estimator.reset(arm.static_deflection(runs.encoders[0, k]), q_deviation=2e-3, v_deviation=2e-2)
    return np.array([estimator.step(u, y, PERIOD)[0] for u, y in zip(runs.u[:, k], runs.encoders[:, k], strict=True)])


def errors(arm: gd.FlexibleArm, estimator: gd.Estimator, runs: Runs) -> Array:
    """The errors of the tip (runs, 2) [m], RMS of each run: of a rigid arm, and of the filter."""
    tip = arm.tip_placement("fore")

    def places(q: Array) -> Array:
        return np.asarray(tip(q.T).full().reshape(4, -1, 4)[:3, :, 3].T)

    rows = []
    for k in range(runs.q.shape[1]):
        truth = places(runs.q[:, k])
        rigid = np.hstack([runs.encoders[:, k], np.zeros((len(truth), arm.nv - JOINTS))])
        both = [places(q) - truth for q in (rigid, estimated(arm, estimator, runs, k))]
        rows.append([np.sqrt(np.mean(np.sum(off**2, axis=1))) for off in both])
    return np.array(rows)


def estimators(arm: gd.FlexibleArm) -> dict[str, gd.Estimator]:
    """A filter of the motion alone, and one of the load and the stiffness of both links too."""
    outputs, spread = {"encoders": lambda q: q[:JOINTS]}, {"encoders": ENCODER}
    plain = gd.Estimator(arm, outputs, spread, effort_noise=EFFORT_NOISE, gate=None)
    learning = gd.Estimator(arm, outputs, spread, effort_noise=EFFORT_NOISE, gate=None, parameters=LEARNT)
    return {"motion": plain, "motion, load, stiffness": learning}


def row_of(name: str, robot: str, numbers: Array) -> list[str]:
    """A row of the table."""
    rigid, off = np.sqrt(np.mean(numbers**2, axis=0)) * 1e3
    ratio = numbers[:, 1] / numbers[:, 0]
    return [f"{robot}: {name}", f"{rigid:.2f}", f"{off:.2f}", f"{off / rigid:.3f}", f"{ratio.max():.3f}"]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args(arguments).runs
    arm, rows = build(), []
    filters = estimators(arm)
    for robot, p in ROBOTS.items():
        simulated = simulate(arm, p, runs, SAMPLES)
        rows += [row_of(name, robot, errors(arm, estimator, simulated)) for name, estimator in filters.items()]
    head = ["the arm: what is estimated", "rigid tip [mm]", "filter [mm]", "filter/rigid", "worst run"]
    text = "\n".join(
        [
            "# The tip of a flexible arm from its encoders",
            "",
            f"`python -m benchmarks.estimation.runs`: {runs} random runs of {SAMPLES * PERIOD:g} s of an arm of 3",
            "joints and 8 modes in space, RMS over all of them. The rigid tip has the angles of the encoders, whose",
            f"noise has a deviation of {ENCODER:g} rad. Nothing else is measured.",
            "",
            *markdown(head, rows),
            "",
        ]
    )
    print(text)
    if runs == parser.get_default("runs"):
        (RESULTS / "estimation_runs.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
