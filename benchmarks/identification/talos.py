"""A real TALOS, its torso and left arm, from positions of its gripper: calibration beside the published estimate.

    python -m benchmarks.identification.talos FOLDER

The folder holds two files of the authors of FIGAROH: ``talos_left_arm_02_10_contact.csv``, 61 positions of a point of
the gripper [m] and the angles of the joints [rad], from their repository thanhndv212/figaroh-examples (Apache 2.0), in
``examples/talos/data``; and ``61points_estimation_result.csv``, what they estimated, from thanhndv212/figaroh, in
``data/talos``. Neither is part of this package. The model is ``talos_full_v2.urdf`` of the PyPI package
example-robot-data. The page goes to standard output and to ``benchmarks/results/talos.md``.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares

import gdalembert as gd
from benchmarks.common import robots
from benchmarks.common.tables import markdown
from benchmarks.identification.folders import Array, file_in, write_page
from gdalembert.calibration import Calibration

URDF = "talos_data/robots/talos_full_v2.urdf"
SAMPLES, ESTIMATE = "talos_left_arm_02_10_contact.csv", "61points_estimation_result.csv"
TOOL = "gripper_left_base_link"
LAST = 0.2
"""The fraction of the samples that is held back, in one block or one of every five."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Configurations (N × 9), positions of a point of the gripper (N × 3) [m], and the robot of these joints."""

    q: Array
    x: Array
    model: pin.Model

    @classmethod
    def read(cls, folder: Path) -> Samples:
        rows = np.genfromtxt(file_in(folder, SAMPLES), delimiter=",", names=True)
        joints = [name for name in rows.dtype.names or () if name.endswith("_joint")]
        full = gd.load_urdf(robots.example(URDF), mimic=False, check="off")
        others = [full.getJointId(name) for name in full.names[1:] if name not in joints]
        model = pin.buildReducedModel(full, others, pin.neutral(full))
        q, x = (np.column_stack([rows[name] for name in names]) for names in (model.names[1:], ("x1", "y1", "z1")))
        return cls(q, x, model)

    def distance(self, positions: Array) -> float:
        """The root mean square of the distances from what was measured [mm]."""
        return float(1e3 * np.sqrt(np.mean(np.sum((positions - self.x) ** 2, axis=1))))


def fits(of: Samples, names: Sequence[str]) -> list[Calibration]:
    """Placements of joints and of the tool from all samples, without the last fifth and without every fifth."""
    kin = gd.Kinematics(of.model, parameters={"placement": [*names, TOOL]})
    fifth = np.arange(len(of.q)) % 5 == 4
    return [
        gd.calibration.fit(kin, TOOL, of.q, of.x, model=of.model),
        gd.calibration.fit(kin, TOOL, of.q, of.x, model=of.model, held_back=LAST),
        gd.calibration.fit(kin, TOOL, of.q[~fifth], of.x[~fifth], model=of.model, held_back=(of.q[fifth], of.x[fifth])),
    ]


def positions(of: Samples, p: Array) -> Array:
    """Where the tool is with all placements displaced by exp6(p), by Pinocchio alone."""
    model, frame = of.model.copy(), of.model.getFrameId(TOOL)
    for joint in range(1, model.njoints):
        model.jointPlacements[joint] *= pin.exp6(p[6 * joint - 6 : 6 * joint])
    model.frames[frame].placement *= pin.exp6(p[-6:])
    data, found = model.createData(), []
    for q in of.q:
        pin.framesForwardKinematics(model, data, q)
        found.append(data.oMf[frame].translation.copy())
    return np.array(found)


def second_opinion(of: Samples, start: Array) -> float:
    """The distance that Levenberg–Marquardt of SciPy reaches from ``start`` [mm]."""
    tolerances = dict.fromkeys(("ftol", "xtol", "gtol"), 1e-12)
    found = least_squares(lambda p: (positions(of, p) - of.x).ravel(), start, method="lm", **tolerances)
    return of.distance(positions(of, found.x))


def published(folder: Path, of: Samples) -> tuple[float, int]:
    """The distance that the authors' estimate leaves [mm], and the number of their parameters.

    A combination counts as its first parameter, the others in it being 0. Angles are added to roll, pitch and yaw of a
    placement, those of the first joint are where the base stands, and the point is fixed in the last joint.
    """
    with file_in(folder, ESTIMATE).open(encoding="utf-8", newline="") as file:
        rows = {row["BASE PARAMETER"].split(" ")[0]: float(row["VALUE"]) for row in csv.DictReader(file)}

    def numbers(names: str, suffix: str) -> Array:
        return np.array([rows.get(f"{names}{axis}{suffix}", 0.0) for axis in "xyz"])

    model = of.model.copy()
    moved = [pin.SE3(pin.rpy.rpyToMatrix(numbers("d_phi", f"_{x}")), numbers("d_p", f"_{x}")) for x in model.names]
    for joint in range(2, model.njoints):
        place = model.jointPlacements[joint]
        angles = pin.rpy.matrixToRpy(place.rotation) + pin.rpy.matrixToRpy(moved[joint].rotation)
        shifted = place.translation + moved[joint].translation
        model.jointPlacements[joint] = pin.SE3(pin.rpy.rpyToMatrix(angles), shifted)
    data, found = model.createData(), []
    for q in of.q:
        pin.forwardKinematics(model, data, q)
        found.append(moved[1].act(data.oMi[model.njoints - 1].act(numbers("pEE", "_1"))))
    return of.distance(np.array(found)), len(rows)


def page(folder: Path) -> str:
    """The tables with what they are."""
    of = Samples.read(folder)
    rows: list[list[object]] = []
    for what, names in (("base and tool", of.model.names[1:2]), ("all placements", of.model.names[1:])):
        whole, last, fifth = fits(of, list(names))
        distances = (whole.rms(whole.before), whole.rms(whole.residuals), last.rms(last.held_back))
        counts = f"{len(whole.base)} of {whole.structural_rank}"
        shown = [f"{1e3 * x[0]:.3g}" for x in (*distances, fifth.rms(fifth.held_back))]
        rows.append([what, counts, *shown])
    theirs, count = published(folder, of)
    rows.append(["published estimate", count, None, f"{theirs:.3g}", None, None])
    near, far = (second_opinion(of, start) for start in (whole.values, np.zeros(len(whole.values))))
    ours = of.distance(positions(of, whole.values))
    return "\n".join(
        [
            "# A real TALOS from positions of its gripper",
            "",
            f"{len(of.q)} positions of a point of the left gripper, measured by the authors of FIGAROH with the angles",
            "of torso and arm (the public repository thanhndv212/figaroh-examples, Apache 2.0):",
            "`python -m benchmarks.identification.talos` FOLDER. Root mean squares of distances, of the model as it",
            "is, of the calibrated one where it was fitted, and where it was not: the last fifth of the samples, or",
            "every fifth of them, held back:",
            "",
            *markdown(["rms, mm", "combinations", "before", "after", "last fifth", "every fifth"], rows),
            "",
            "`before` is mostly where the base stands in the frame of the measurements. The published estimate is that",
            "of the authors of the data, from the same samples (thanhndv212/figaroh,",
            "`61points_estimation_result.csv`), evaluated here by Pinocchio, with roll, pitch and yaw as in their",
            "script. They print no residual of it, and nothing of samples that it did not see.",
            "",
            "A second opinion: the 60 numbers of all placements by Levenberg–Marquardt of SciPy, with forward",
            "kinematics of Pinocchio:",
            "",
            *markdown(
                ["", "rms, mm"],
                [
                    ["this package", f"{ours:.6f}"],
                    ["SciPy from there", f"{near:.6f}"],
                    ["SciPy from the model", f"{far:.6f}"],
                ],
            ),
            "",
        ]
    )


def main() -> None:
    write_page(__doc__, page, "talos")


if __name__ == "__main__":
    main()
