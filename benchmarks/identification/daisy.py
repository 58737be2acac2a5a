"""DaISy's flexible robot arm by two modes: a smoke test, since its record repeats itself.

    python -m benchmarks.identification.daisy FOLDER

FOLDER holds ``daisy_first512.csv``, 512 samples of the reaction torque of a structure and of the acceleration of its
arm, columns ``torque`` and ``acceleration``: of DaISy (De Moor et al., "DAISY: a database for identification of
systems", Journal A 38(3), 1997) by way of the public repository paaraujo/QNN (MIT), without units, geometry or a
sampling period. The rest of that record repeats it with the opposite sign. The data are not part of this package.

Nothing is known of the arm, so that the robot has the form of its modes: masses of 1 on springs with dampers, which the
torque drives alike. The acceleration is a sum of theirs and of their deflections. The first half is fitted, the second
one simulated on from there; a fit is 100 (1 − root mean square of the error / that of the signal without its mean).
"""

from __future__ import annotations

import argparse
import textwrap
import warnings
from pathlib import Path

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.tables import RESULTS, markdown
from benchmarks.identification.folders import file_in
from gdalembert.errors import IdentificationWarning
from gdalembert.identification import OutputFit, Record, fit_outputs

Array = npt.NDArray[np.float64]
FILE = "daisy_first512.csv"
BEGIN = (0.058, 0.127)
"""Peaks of the acceleration over the torque, in parts of the sampling frequency."""
DAMPING = 0.01
"""Of both modes, to begin with, in parts of the critical one."""
GAINS = ("deflection1", "deflection2", "acceleration1", "acceleration2")


def modes() -> gd.NewtonEuler:
    """Two masses that slide, with a spring and a damper each; the unit of time is a sample."""
    model, names = pin.Model(), ("mode1", "mode2")
    model.name = "two modes"
    for name in names:
        joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    rates = dict(zip(names, 2 * np.pi * np.array(BEGIN), strict=True))
    return gd.NewtonEuler(
        model,
        springs={name: (rate**2, 0.0) for name, rate in rates.items()},
        friction={name: gd.Friction(viscous=2 * DAMPING * rate) for name, rate in rates.items()},
        parameters={"springs": True, "friction": True},
    )


def record(path: Path) -> Record:
    """The samples; those of the second half have no weight."""
    rows = np.genfromtxt(path, delimiter=",", names=True)
    torque, acceleration = rows["torque"], rows["acceleration"]
    weights = 1.0 * (np.arange(len(rows)) < len(rows) // 2)
    return Record(
        np.arange(1.0 * len(rows)),
        u=np.column_stack([torque, torque]),
        outputs={"acceleration": acceleration},
        weights={"acceleration": weights},
        label=path.stem,
    )


def acceleration(
    q: ca.SX, a: ca.SX, deflection1: ca.SX, deflection2: ca.SX, acceleration1: ca.SX, acceleration2: ca.SX
) -> ca.SX:
    """The output: a sum over both modes."""
    return deflection1 * q[0] + deflection2 * q[1] + acceleration1 * a[0] + acceleration2 * a[1]


def fitted(of: gd.NewtonEuler, run: Record) -> OutputFit:
    """Eight unknowns: stiffness, damping and both gains of each mode; the initial state is free."""
    chosen = [name for name in of.parameters.names if name.endswith((".stiffness", ".viscous"))]
    begin = dict(zip(GAINS, (0.0, 0.0, -0.3, 0.3), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)  # the remarks are printed
        return fit_outputs(of, [run], {"acceleration": acceleration}, parameters=chosen, others=begin)


def fits(fit: OutputFit, run: Record) -> tuple[float, float]:
    """The parts [%] of the first half and of the second one that are explained."""
    (prediction,) = fit.records.values()
    measured, simulated = np.asarray(run.outputs["acceleration"]), prediction.predicted[:, 0]
    half = len(measured) // 2
    both = [(measured[part], simulated[part]) for part in (slice(half), slice(half, None))]
    first, second = (100 * (1 - float(np.sqrt(np.mean((y - x) ** 2)) / np.std(y))) for y, x in both)
    return first, second


def of_modes(fit: OutputFit) -> Array:
    """Frequency, in parts of the sampling frequency, and damping, in parts of the critical one, of each mode."""
    found = fit.parameters
    rates = np.array([np.sqrt(found[f"mode{k}.stiffness"]) for k in (1, 2)])
    return np.column_stack([rates / (2 * np.pi), [found[f"mode{k}.viscous"] for k in (1, 2)] / (2 * rates)])


def page(fit: OutputFit, run: Record) -> str:
    """The tables with what they are."""
    (first, second), found = fits(fit, run), of_modes(fit)
    rows = [["two modes, 8 numbers, by `fit_outputs`", f"{first:.1f}", f"{second:.1f}"]]
    return "\n".join(
        [
            "# DaISy's robot arm",
            "",
            "512 samples of torque and acceleration of a flexible robot arm, without units or geometry, of DaISy by",
            "way of the public repository paaraujo/QNN (MIT). The first half is fitted, the second one simulated on",
            "from there: 100 (1 − root mean square of the error / that of the signal without its mean) [%].",
            "`python -m benchmarks.identification.daisy` FOLDER.",
            "",
            *markdown(["", "first half", "second half"], rows),
            "",
            "The record repeats itself with the opposite sign behind these samples, so that this is a smoke test of",
            "`fit_outputs`, no validation. The robot is a grey box of two masses on springs with dampers, not an arm.",
            "",
            *markdown(
                ["mode", "frequency/sampling frequency", "damping/critical"],
                [[k, f"{x:.4f}", f"{z:.4f}"] for k, (x, z) in enumerate(found, 1)],
            ),
            "",
            *(textwrap.fill(f"* {remark}", 120, subsequent_indent="  ") for remark in fit.remarks),
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help=f"of {FILE}")
    run = record(file_in(parser.parse_args().folder, FILE))
    fit = fitted(modes(), run)
    print("fit", *(f"{x:.1f}" for x in fits(fit, run)))
    for frequency, damping in of_modes(fit):
        print(f"mode {frequency:.4f} {damping:.4f}")
    print(f"parameters {len(fit.names)}")
    for remark in fit.remarks:
        print("#", remark)
    (RESULTS / "daisy.md").write_text(page(fit, run), encoding="utf-8")


if __name__ == "__main__":
    main()
