"""A real arm with two flexible links: its gauges from the motion of its hubs, on windows that the fit did not see.

    python -m benchmarks.identification.quanser FOLDER [OTHER]

The folders hold windows of a Quanser 2-DOF serial flexible link, measured by the author of the public repository
basta/quanser-2-dof-serial-flexible-link (MIT), as CSV files with the columns ``t_s``, ``theta1_rad``, ``theta2_rad``,
``gauge1_rad`` and ``gauge2_rad``: encoders, and strain gauges without the low-pass filter of the rig. The data are not
part of this package. Some windows of FOLDER are fitted; of all others, those of OTHER if it is given, the gauges are
predicted from the encoders, each from the values and rates that its gauges have in the first 0.1 s. A line for each
window is the root mean square of the error in parts of the gauge's own [%], without its mean.
"""

from __future__ import annotations

import argparse
import textwrap
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.tables import RESULTS, markdown
from gdalembert.errors import IdentificationWarning
from gdalembert.identification import OutputFit, Record, filtered, fit_outputs

Array = npt.NDArray[np.float64]
STEEL = {"density": 7850.0, "youngs_modulus": 2.068427e11}
LENGTHS, CLAMPS = (0.202, 0.20185), (0.079, 0.0166)
"""Of the beams, and from the axes to their roots [m], by the manual, as all numbers here."""
SECTIONS = ((0.00127, 0.0762), (0.000889, 0.0381))
"""Thickness, which bends, and height [m]."""
MASSES = (1.578, 0.157)
"""At the end of link 1, with all that it carries, and the load at the end of link 2 [kg]."""
LOAD_SIDES = (0.0445, 0.0224)
TRAINED = {"lqg_05": 1.0, "lqg_02": 1.0, "lqr": 0.3}
"""How the names of the windows to fit begin, and their weights: with 1 the last one, in which the arm
swings farthest, is explained at the cost of the others. The first three if there are none of these."""
LONGEST = 4.0
"""What is fitted of a window [s]."""
SHORTEST = 1.9
"""What is left of a window that is cut in mid-swing [s]."""
CUTOFF = 30.0
"""Of the filter of the encoders [Hz]."""
PHYSICAL = {"motor.m": (0.3, 3.0), "load.m": (0.02, 0.5), "gravity.x": (-1.0, 1.0)}
"""Bounds of the mass at the end of link 1 and of the load [kg], and of the weight in the plane, for a base that is not
level [m/s²]: gauge 1 at rest depends on the angle of the first hub."""
FACTORS = ["link1.stiffness_factor", "link2.stiffness_factor", "link1.damping_factor"]
BEGIN = {
    "link1.stiffness_factor": 0.45,
    "link2.stiffness_factor": 0.85,
    "link1.damping_factor": 0.6,
    "link2.damping_factor": 0.0,  # where fits put it
    "motor.Izz": 0.006,
    "motor.m": MASSES[0] - MASSES[1],
    "load.m": MASSES[1],
}
"""Where the fit begins, and where what it does not estimate stays."""


def urdf() -> str:
    """The arm, its tip masses left out, since these are parameters."""

    def body(mass: float, x: float, inertia: float) -> str:
        tensor = f'ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"'
        return f'<inertial><origin xyz="{x} 0 0"/><mass value="{mass}"/><inertia {tensor}/></inertial>'

    beams = [STEEL["density"] * s[0] * s[1] * length for s, length in zip(SECTIONS, LENGTHS, strict=True)]
    reach = [clamp + length for clamp, length in zip(CLAMPS, LENGTHS, strict=True)]
    load = MASSES[1] * sum(side**2 for side in LOAD_SIDES) / 12
    links = [
        f'<link name="link{k}">{body(m, clamp + length / 2, m * length**2 / 12)}</link>'
        for k, (m, clamp, length) in enumerate(zip(beams, CLAMPS, LENGTHS, strict=True), 1)
    ]
    limit = '<axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="10" velocity="10"/>'
    return f"""<robot name="serial flexible link"><link name="base"/>{links[0]}{links[1]}
<link name="motor">{body(1e-3, 0.0, 1e-3)}</link><link name="load">{body(1e-3, 0.0, load)}</link>
<joint name="joint1" type="revolute"><parent link="base"/><child link="link1"/>{limit}</joint>
<joint name="fixed motor" type="fixed"><parent link="link1"/><child link="motor"/><origin xyz="{reach[0]} 0 0"/></joint>
<joint name="joint2" type="revolute"><parent link="link1"/><child link="link2"/><origin xyz="{reach[0]} 0 0"/>{limit}
</joint><joint name="fixed load" type="fixed"><parent link="link2"/><child link="load"/><origin xyz="{reach[1]} 0 0"/>
</joint></robot>"""


def arm() -> gd.FlexibleArm:
    """Two static shapes for each link; damped by 4 ms of their stiffness."""
    model = pin.buildModelFromXML(urdf())
    model.gravity.linear = np.zeros(3)
    links = {}
    for k, (length, section, clamp) in enumerate(zip(LENGTHS, SECTIONS, CLAMPS, strict=True), 1):
        beam = gd.Beam.rectangle(length, *section, **STEEL)
        root = pin.SE3(np.eye(3), np.array([clamp, 0.0, 0.0]))
        links[f"link{k}"] = gd.FlexibleLink(beam, gd.modes.hermite(), None, root=root, rayleigh=(0.0, 0.004))
    kinds = {"stiffness": True, "damping": True, "payload": ["motor", "load"], "gravity": ["x"]}
    return gd.FlexibleArm(model, links, parameters=kinds)


def record(path: Path, longest: float = np.inf, begin: float = 0.0) -> Record:
    """A window, or some seconds of it: the motion of the hubs, smoothed, and the gauges."""
    rows = np.genfromtxt(path, delimiter=",", names=True)
    rows = rows[rows["t_s"] > rows["t_s"][0] + begin - 1e-6]
    rows = rows[rows["t_s"] < rows["t_s"][0] + longest]
    t, hubs = rows["t_s"], np.column_stack([rows["theta1_rad"], rows["theta2_rad"]])
    smooth = filtered(t, hubs, cutoff=CUTOFF, trim=0.0)
    motion = {f"joint{k + 1}": np.column_stack([smooth.q[:, k], smooth.v[:, k], smooth.a[:, k]]) for k in range(2)}
    gauges = {"gauge 1": rows["gauge1_rad"], "gauge 2": rows["gauge2_rad"]}
    return Record(t, motion=motion, outputs=gauges, initial="measured", label=path.stem)


def outputs(of: gd.FlexibleArm) -> dict[str, Callable[..., ca.SX]]:
    """Gauge angles: strain at the roots, as the angle at the axis to the tip that it makes, times a gain."""
    strains = [of.strain(f"link{k + 1}", fibre=SECTIONS[k][0] / 2) for k in range(2)]
    scales = [-2 * length / section[0] for length, section in zip(LENGTHS, SECTIONS, strict=True)]
    return {
        "gauge 1": lambda q, gain1: gain1 * scales[0] * strains[0](q),
        "gauge 2": lambda q, gain2: gain2 * scales[1] * strains[1](q),
    }


def fitted(of: gd.FlexibleArm, records: list[Record]) -> OutputFit:
    """Eight unknowns: stiffness of both links, damping of the first, gains of both gauges, and PHYSICAL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)  # the remarks are printed
        return fit_outputs(
            of,
            records,
            outputs(of),
            parameters=[*FACTORS, *PHYSICAL],
            others={"gain1": 0.3, "gain2": 0.45},
            p=BEGIN,
            bounds=PHYSICAL,
        )


def windows(folder: Path, longest: float = np.inf) -> dict[str, Record]:
    """The windows of a folder by name: files that have the columns."""
    chosen = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8") as file:
            if "gauge1_rad" in file.readline():
                chosen[path.stem] = record(path, longest)
    if not chosen:
        raise SystemExit(f"{folder}: no CSV file with the column gauge1_rad; give the folder of the windows")
    return chosen


def cut(folder: Path, records: dict[str, Record]) -> dict[str, Record]:
    """Windows that begin in mid-swing, at each whole second of those of a folder."""
    return {
        f"{name} from {begin} s": replace(record(folder / f"{name}.csv", LONGEST, begin), label=f"{name} {begin}")
        for name, whole in records.items()
        for begin in range(1, 1 + int(np.ptp(np.asarray(whole.t)) - SHORTEST))
    }


def with_free_starts(fit: OutputFit, records: dict[str, Record]) -> dict[str, Array]:
    """The errors [%] where the whole window tells its initial state, and all of them the zeros of the gauges."""
    of = fit.dynamics
    assert isinstance(of, gd.FlexibleArm)
    gauges = outputs(of)
    free = [replace(window, initial="free") for window in records.values()]
    gain1, gain2 = (fit.parameters[name] for name in ("gain1", "gain2"))
    zeros = {
        "gauge 1": lambda q, zero1: gauges["gauge 1"](q, gain1) + zero1,
        "gauge 2": lambda q, zero2: gauges["gauge 2"](q, gain2) + zero2,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)
        told = fit_outputs(of, free, zeros, others={"zero1": 0.0, "zero2": 0.0})
    return {name: 100 * x.relative for name, x in zip(records, told.records.values(), strict=True)}


def shares(errors: Array) -> list[list[str]]:
    """Rows of a table: median and worst."""
    return [[word, *(f"{x:.1f}" for x in f(errors, axis=0))] for word, f in (("median", np.median), ("worst", np.max))]


def in_mid_swing(swinging: dict[str, tuple[Array, Array]]) -> list[str]:
    """The table of windows that are cut in mid-swing, if any is long enough."""
    if not swinging:
        return []
    errors = {name: np.concatenate(both) for name, both in swinging.items()}
    rows = [[name, *(f"{x:.1f}" for x in row)] for name, row in errors.items()]
    rows += shares(np.array([*errors.values()]))
    return [
        "Windows that begin while the arm swings, cut from those above at whole seconds, at most",
        f"{LONGEST:g} s long, and beside them what is left with an initial state fitted to the whole window and",
        "with zeros of the gauges fitted to all of them together: about the least that a reading of the first",
        "samples could leave.",
        "",
        *markdown(["window", "gauge 1", "gauge 2", "free, 1", "free, 2"], rows),
        "",
    ]


def page(
    fit: OutputFit,
    errors: dict[str, Array],
    trained: list[str],
    modes: Array,
    seconds: float,
    swinging: dict[str, tuple[Array, Array]],
) -> str:
    """The tables with what they are; ``swinging``: errors of windows cut in mid-swing, and with free starts."""
    unseen = np.array([error for name, error in errors.items() if name not in trained])
    rows = [[name, *(f"{x:.1f}" for x in error), "fitted" if name in trained else ""] for name, error in errors.items()]
    unknowns = zip(fit.names, fit.values, fit.standard_deviation, strict=True)
    return "\n".join(
        [
            "# A real arm with two flexible links",
            "",
            "A Quanser 2-DOF serial flexible link, measured by the author of the public repository",
            "basta/quanser-2-dof-serial-flexible-link (MIT). Strain gauges are predicted from the encoders of both",
            "hubs: the root mean square of the error in parts of the gauge's own, without its mean [%]. Each window",
            "begins in the state from which the model has the values and rates of the gauges in the first 25 samples",
            f"(0.1 s), and nothing else of it is fitted, but the first {LONGEST:g} s of {len(trained)}:",
            "`python -m benchmarks.identification.quanser` FOLDER.",
            "",
            *markdown(["window", "gauge 1", "gauge 2", ""], rows),
            "",
            "Of the windows that the fit did not see; of those fitted that are longer, the rest is in the table above:",
            "",
            *markdown(["", "gauge 1", "gauge 2"], shares(unseen)),
            "",
            *in_mid_swing(swinging),
            f"The first two modes with locked hubs are {modes[0]:.2f} and {modes[1]:.2f} Hz; the gauges show 1.83 and",
            f"5.55 Hz. The fit took {seconds:.0f} s of processor time. Eight numbers, of which factors are those of",
            "the manual's stiffness and of a damping of 4 ms of it:",
            "",
            *markdown(["", "estimate", "± std. dev."], [[name, f"{x:.4g}", f"{d:.1g}"] for name, x, d in unknowns]),
            "",
            "What the fit remarks:",
            "",
            *(textwrap.fill(f"* {remark}", 120, subsequent_indent="  ") for remark in fit.remarks),
            "",
            "These numbers explain the gauges; they are not the arm's own. With prescribed hubs no effort is known, so",
            "that stiffness, damping and all masses scale together but for the beams' own mass. Driven by its",
            "currents, the arm is not predicted: friction of its harmonic drives decides there. `gravity.x` says that",
            f"the base leans by {np.degrees(fit.parameters['gravity.x'] / 9.81):.1f}°: gauge 1 at rest depends on the",
            "angle of its hub.",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="of the windows")
    parser.add_argument("other", type=Path, nargs="?", help="of windows to predict in place of the others")
    arguments = parser.parse_args()
    of, records = arm(), windows(arguments.folder)
    trained = [name for start in TRAINED for name in records if name.startswith(start)] or [*records][:3]
    begun = time.process_time()
    first = windows(arguments.folder, LONGEST)
    weights = [next((w for start, w in TRAINED.items() if name.startswith(start)), 1.0) for name in trained]
    fit = fitted(
        of,
        [
            replace(first[name], weights=dict.fromkeys(first[name].outputs, w))
            for name, w in zip(trained, weights, strict=True)
        ],
    )
    seconds = time.process_time() - begun
    judged = records if arguments.other is None else windows(arguments.other)
    errors = {name: 100 * fit.predict(window).relative for name, window in judged.items()}
    for name, error in errors.items():
        print(name, *(f"{x:.1f}" for x in error))
    modes = fit.dynamics.natural_frequencies(np.zeros(of.tree.nq), joints="locked") / (2 * np.pi)
    print(f"modes {modes[0]:.3f} {modes[1]:.3f}")
    print(f"parameters {len(fit.names)}")
    print(*(f"# {remark}" for remark in fit.remarks), sep="\n")
    if arguments.other is None:
        swung = cut(arguments.folder, records)
        floor = with_free_starts(fit, swung) if swung else {}
        swinging = {name: (100 * fit.predict(window).relative, floor[name]) for name, window in swung.items()}
        (RESULTS / "quanser.md").write_text(page(fit, errors, trained, modes, seconds, swinging), encoding="utf-8")


if __name__ == "__main__":
    main()
