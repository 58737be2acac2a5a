"""A real Stäubli TX40 from the currents of its motors: a wrist whose motors are coupled, beside published figures.

    python -m benchmarks.identification.tx40 FOLDER

The folder is a checkout of the authors' repository thanhndv212/figaroh-examples (Apache 2.0; the data are not part of
this package), or holds ``pos_read_data.csv`` and ``curr_data.csv``, angles of the motors [rad] and what drives them
[N m], six columns at 5 kHz below a line of names, and ``tx40_mdh_modified.urdf``. The same samples as in the authors'
comparison are fitted and predicted. The page goes to standard output and to ``benchmarks/results/tx40.md``.
"""

from __future__ import annotations

import textwrap
import warnings
from pathlib import Path

import numpy as np

import gdalembert as gd
from benchmarks.common.tables import markdown
from benchmarks.identification.folders import Array, file_in, row, write_page
from gdalembert.errors import IdentificationWarning
from gdalembert.identification import Experiment, Identification, Signals, filtered, fit

RATIOS = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
RATIOS[5, 4] = 32.0
"""Angles of the motors by those of the joints: motor 6 turns with joints 5 and 6."""
ZERO = np.array([0.0, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0])
"""Angles of the joints where those of the motors are 0 [rad]."""
GEARS = np.abs(np.diag(RATIOS))
B = (RATIOS / GEARS[:, None]).T
"""Torques of joints by those of motors behind their gears."""
ROWS = {"fitted": slice(0, 24750), "held back": slice(29250, 45000)}
"""Of the authors' comparison."""
RATE, CUTOFF, DECIMATION = 5000.0, 100.0, 20
"""Of the samples [Hz], of the authors' filter [Hz], and how many samples become one row."""
SLOW = 0.01
"""rad/s behind the gear, below which a motor may stick."""
PUBLISHED = {
    "published, the URDF with fitted friction": [8.10, 10.32, 4.13, 1.70, 2.68, 1.72],
    "published, their fit of bodies that can exist": [6.40, 8.21, 4.13, 1.72, 2.71, 1.73],
}
"""Root mean squares of residuals of the samples held back [N m], from docs/development/physical-comparison-d4.md."""
FRICTION = {
    "viscous": [8.05, 5.53, 1.97, 1.11, np.nan, 0.616],
    "coulomb": [7.14, 8.26, 6.34, 2.48, 3.03, 1.95],
}
"""Of motors, from the authors' configuration, where that of joint 5 has motor 6 in it [N m s/rad, N m]."""


def signals(folder: Path, rows: slice) -> Signals:
    """Filtered motion of the joints, and torques of the motors behind their gears."""
    motors, currents = (
        np.loadtxt(file_in(folder, name), delimiter=",", skiprows=1)[rows]
        for name in ("pos_read_data.csv", "curr_data.csv")
    )
    q = np.linalg.solve(RATIOS, motors.T).T + ZERO
    return filtered(np.arange(len(q)) / RATE, q, currents * GEARS, cutoff=CUTOFF)


def experiment(of: Signals) -> Experiment:
    """Torques of the motors as measured: the fit filters them as it does the regressor."""
    return Experiment(of.q, of.v, of.a, current=of.unfiltered_tau)


def robot(folder: Path) -> gd.NewtonEuler:
    """The TX40 whose bodies, rotors and friction at the motors are unknown."""
    model = gd.load_urdf(str(file_in(folder, "tx40_mdh_modified.urdf")), check="off")
    model.armature[:] = 1e-9  # the last body moves no inertia about its axis; the rotor does
    columns = {f"motor {k + 1}": column.tolist() for k, column in enumerate(B.T)}
    motors = {name: gd.Motor() for name in columns}
    return gd.NewtonEuler(model, actuation=columns, motors=motors, parameters={"inertia": True, "motors": True})


def of_joints(residuals: Array) -> Array:
    """Root mean squares of torques of the joints [N m]."""
    return np.asarray(np.sqrt(np.mean((residuals @ B.T) ** 2, axis=0)))


def friction(result: Identification) -> list[list[object]]:
    rows: list[list[object]] = []
    for kind, values in FRICTION.items():
        rows.append([f"{kind}, fit", *(f"{result.parameters[f'motor {k}.{kind}']:.2f}" for k in range(1, 7))])
        rows.append([f"{kind}, published", *(None if np.isnan(x) else f"{x:.2f}" for x in values)])
    return rows


def page(folder: Path) -> str:
    """The tables with what they are."""
    seen, unseen = (signals(folder, rows) for rows in ROWS.values())
    dyn, torques = robot(folder), list[list[object]]()
    assert unseen.unfiltered_tau is not None
    torques.append(row("what was measured", of_joints(unseen.unfiltered_tau)))
    torques += [[title, *(f"{x:.2f}" for x in values)] for title, values in PUBLISHED.items()]
    for title, sticking in (("fit", None), ("fit, sticking=0.01", SLOW)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IdentificationWarning)  # the page has the remarks
            result = fit(
                dyn, experiments=[experiment(seen)], gains=1.0, held_back=[experiment(unseen)],
                decimation=DECIMATION, sticking=sticking,
            )  # fmt: skip
        judged = result.held_back
        assert judged is not None
        torques.append([title, *(f"{x:.2f}" for x in of_joints(judged.every_sample.residuals))])
    sides = [
        row("fitted, every sample", 100 * result.fitted.every_sample.relative),
        row("held back, every sample", 100 * judged.every_sample.relative),
        row("held back, at rest beyond friction", 100 * judged.relative),
        row("held back, moving", 100 * judged.moving.relative),
        row("held back, at rest", 100 * judged.at_rest.mean(axis=0)),
    ]
    joints, motors = ([f"{kind} 1", *"23456"] for kind in ("joint", "motor"))
    return "\n".join(
        [
            "# A real TX40 from the currents of its motors",
            "",
            "One motion at 5 kHz from the public repository thanhndv212/figaroh-examples (Apache 2.0), which calls it",
            "a recording of a real robot: `python -m benchmarks.identification.tx40` FOLDER. The first",
            f"{ROWS['fitted'].stop} samples are fitted, those from {ROWS['held back'].start} on predicted from q, v",
            "and a alone, as in the authors' comparison, which takes 600 of them: root mean squares of the residuals",
            "of unfiltered torques.",
            "",
            *markdown(["N m, held back", *joints], torques),
            "",
            "Torques of the motors, behind their gears, of the last fit:",
            "",
            *markdown(["%", *motors], sides),
            "",
            "Friction of the motors behind their gears, beside the authors' configuration [N m s/rad, N m]:",
            "",
            *markdown(["", *motors], friction(result)),
            "",
            f"{len(result.base)} of {result.structural_rank} combinations of {len(dyn.parameters)} parameters are",
            "known. What the fit remarks:",
            "",
            *(textwrap.fill(f"* {remark}", 120, subsequent_indent="  ") for remark in result.remarks or ["nothing"]),
            "",
        ]
    )


def main() -> None:
    write_page(__doc__, page, "tx40")


if __name__ == "__main__":
    main()
