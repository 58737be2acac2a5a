"""A real UR10e from its motor currents: validation beside published parameters, and drive gains found from a load.

    python -m benchmarks.identification.ur10e FOLDER

The folder holds the motions of Mamedov and Mikhel, "Practical Aspects of Model-Based Collision Detection", Frontiers in
Robotics and AI 7, 2020 (github.com/shamilmamedov/dynamic_calibration; the data have no licence and are not part of this
package) as CSV files of the names below: t, q (6), v (6), currents (6), … in rows; ``ur10e.urdf``; and
``published_parameters.txt``, theirs. Rows are those that the authors use. The table goes to standard output and to
``benchmarks/results/identification.md``.
"""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
from scipy.signal import butter, filtfilt

import gdalembert as gd
from benchmarks.common.tables import markdown
from benchmarks.identification.folders import Array, relative, row, write_page
from gdalembert.dynamics.friction import SMOOTHING
from gdalembert.identification import Experiment, Identification, Signals, filtered, fit

ROWS = {
    "fit_30s_12_harmonics": (635, 3510),
    "validation_point_to_point": (700, 4200),
    "unloaded_50s_14_harmonics": (195, 4966),
    "loaded_50s_14_harmonics": (308, 5071),
}
"""First and last row of each file."""
GAINS = np.array([14.87, 13.26, 11.13, 10.62, 11.03, 11.47])
"""N m/A: De Luca's, as the authors of the data give them."""
LOAD = 2.805
"""kg; its other nine parameters are unknown."""
CUTOFF, RATE, DECIMATION = 7.5, 93.86, 10
"""Of the filter [Hz], of the samples [Hz], and how many become one row."""
SLOW = 0.01
"""rad/s, below which a joint may stick."""
JOINTS = range(1, 7)


def signals(folder: Path, name: str) -> Signals:
    """The motion of a file, with currents in place of torques."""
    first, last = ROWS[name]
    rows = np.loadtxt(folder / f"{name}.csv", delimiter=",")[first - 1 : last]
    return filtered(rows[:, 0] - rows[0, 0], rows[:, 1:7], rows[:, 13:19], cutoff=CUTOFF, rate=RATE)


def measured(of: Signals) -> Array:
    """Unfiltered currents."""
    assert of.unfiltered_tau is not None
    return of.unfiltered_tau


def experiment(of: Signals, **known: Any) -> Experiment:
    """Currents as measured: the fit filters them as it does the regressor."""
    return Experiment(of.q, of.v, of.a, current=of.unfiltered_tau, **known)


def robot(model: pin.Model, *, load: bool, payload: Sequence[str] = (), smoothing: float = SMOOTHING) -> gd.NewtonEuler:
    """The UR10e whose bodies, armatures and friction are unknown."""
    names = [name for name in model.names if name != "universe"]
    friction = {name: gd.Friction(load=0.0 if load else None, smoothing=smoothing) for name in names}
    kinds: dict[str, bool | Sequence[str]] = {"inertia": True, "armature": True, "friction": True}
    return gd.NewtonEuler(model, friction=friction, parameters=kinds | ({"payload": payload} if payload else {}))


def with_their_filters(folder: Path, name: str) -> Signals:
    """The motion of a file as the authors of the data filter it: measured v, and central differences of it."""
    first, last = ROWS[name]
    rows = np.loadtxt(folder / f"{name}.csv", delimiter=",")[first - 1 : last]
    t, low = rows[:, 0], butter(5, 0.15)
    v = filtfilt(*low, rows[:, 7:13], axis=0)
    a = np.zeros_like(v)
    a[1:-1] = (v[2:] - v[:-2]) / (t[2:] - t[:-2])[:, None]
    return Signals(t, RATE, rows[:, 1:7], v, filtfilt(*low, a, axis=0), None, rows[:, 13:19], 0.0)


@dataclass(frozen=True)
class Published:
    """The authors' parameters: gains, drive inertias, viscous, Coulomb and offset of each joint, and bodies."""

    gains: Array
    drives: Array
    friction: Array
    bodies: Array

    @classmethod
    def read(cls, folder: Path) -> Published:
        text = (folder / "published_parameters.txt").read_text(encoding="utf-8")

        def numbers(name: str) -> Array:
            found = re.search(rf"{name}\s*=\s*\[([^\]]*)\]", text)
            if found is None:
                raise SystemExit(f"published_parameters.txt has no {name} = […]")
            return np.array([float(x) for x in found.group(1).split()])

        bodies = numbers("pi_rgd").reshape(6, 10)[:, [9, 6, 7, 8, 0, 1, 3, 2, 4, 5]]  # Pinocchio's order
        return cls(numbers("drvGains"), numbers("pi_drvs"), numbers("pi_frcn").reshape(6, 3), bodies)

    def torques(self, model: pin.Model, motion: Signals, *, held: bool = False) -> Array:
        """With their sign(v), of all samples; ``held``: of slow joints the nearest that their friction can hold."""
        data, found = model.createData(), []
        viscous, coulomb, offset = self.friction.T
        for q, v, a in zip(motion.q, motion.v, motion.a, strict=True):
            rigid = pin.computeJointTorqueRegressor(model, data, q, v, a) @ self.bodies.ravel()
            found.append(rigid + self.drives * a + viscous * v + offset)
        free, torque = np.array(found), measured(motion) * self.gains
        moved = free + coulomb * np.sign(motion.v)
        nearest = np.clip(torque, free - coulomb, free + coulomb)
        return np.where(held & (np.abs(motion.v) < SLOW), nearest, moved)


def moving(predicted: Array, measured: Array, motion: Signals) -> Array:
    """Relative residuals of the samples whose joint is not slow."""
    fast = np.abs(motion.v) >= SLOW
    return relative(np.where(fast, predicted, 0.0), np.where(fast, measured, 0.0))


def last_direction(v: Array) -> Array:
    """The sign of each joint's speed when it last was not slow (N × n)."""
    found, last = np.zeros_like(v), np.zeros(v.shape[1])
    for k, speeds in enumerate(v):
        last = found[k] = np.where(np.abs(speeds) < SLOW, last, np.sign(speeds))
    return found


@dataclass(frozen=True, eq=False)
class Validation:
    """Rows of relative residuals by how samples at rest are judged, and of friction that grows with the load.

    ``sides``: all ways of the last fit, and the samples at rest; ``count``: of how many.
    """

    sides: list[list[object]]
    held: list[list[object]]
    moving: list[list[object]]
    all_samples: list[list[object]]
    loads: list[list[object]]
    count: int


def validation(folder: Path, model: pin.Model) -> Validation:
    """A fit of one motion, and what it predicts of another, beside the published parameters."""
    seen, unseen = (signals(folder, name) for name in list(ROWS)[:2])
    own, published = with_their_filters(folder, list(ROWS)[1]), Published.read(folder)
    torque, rows = measured(unseen) * GAINS, Validation([], [], [], [], [], len(unseen.q))
    by_urdf = gd.NewtonEuler(model).inverse_dynamics(unseen.q.T, unseen.v.T, unseen.a.T).full().T
    rows.all_samples.append(row("the URDF as it is", relative(by_urdf, torque)))
    for what, motion in (("published parameters, with their filters", own), ("published parameters", unseen)):
        truth, predicted = measured(motion) * published.gains, published.torques(model, motion)
        rows.held.append(row(what, relative(published.torques(model, motion, held=True), truth), None))
        rows.moving.append(row(what, moving(predicted, truth, motion)))
        rows.all_samples.append(row(what, relative(predicted, truth)))
    gains = dict(zip(model.names[1:], GAINS.tolist(), strict=True))
    for what, load, sticking in (
        ("fit", False, None),
        ("fit, friction under load", True, None),
        ("fit", False, SLOW),
        ("fit, friction under load", True, SLOW),
    ):
        begun = time.process_time()
        result = fit(
            robot(model, load=load), experiments=[experiment(seen)], gains=gains, model=model, sticking=sticking,
            decimation=DECIMATION, held_back=[experiment(unseen)],
        )  # fmt: skip
        seconds = f"{time.process_time() - begun:.0f}"
        assert result.held_back is not None
        if sticking:
            rows.held.append(row(what, 100 * result.held_back.relative, seconds))
            rows.moving.append(row(what, 100 * result.held_back.moving.relative))
        else:
            rows.all_samples.append(row(what, 100 * result.held_back.relative))
    judged = result.held_back
    rows.sides.extend(
        [
            row("every sample, predicted from q, v and a", 100 * judged.every_sample.relative),
            row("at rest what is beyond Coulomb friction", 100 * judged.relative),
            row("moving, without samples at rest", 100 * judged.moving.relative),
            ["samples at rest", *(str(x) for x in judged.at_rest.sum(axis=0))],
            row("samples at rest, %", 100 * judged.at_rest.mean(axis=0)),
        ]
    )
    named = zip(result.parameters.items(), result.standard_deviation, strict=True)
    rows.loads.append(["load", *(f"{x:.3f} ± {s:.3f}" for (name, x), s in named if name.endswith(".load"))])
    rows.all_samples.extend(with_dry_friction(model, result, unseen, own))
    return rows


def with_dry_friction(model: pin.Model, result: Identification, unseen: Signals, own: Signals) -> list[list[object]]:
    """Rows of the last fit, its Coulomb friction with the sign of v, and at rest with that of the last motion."""
    dry = robot(model, load=True, smoothing=1e-6).at(result.values)

    def predicted(motion: Signals, v: Array) -> Array:
        return dry.inverse_dynamics(motion.q.T, v.T, motion.a.T).full().T

    kept = np.where(np.abs(unseen.v) < SLOW, 1e-4 * last_direction(unseen.v), unseen.v)
    return [
        row("– sign of v, with their filters", relative(predicted(own, own.v), measured(own) * GAINS)),
        row("– at rest the sign of the last motion", relative(predicted(unseen, kept), measured(unseen) * GAINS)),
    ]


def gains_of(folder: Path, model: pin.Model) -> tuple[list[list[object]], Array]:
    """Rows of drive gains: estimated, published, the differences, and the mass that the load has with them; and the
    differences [%] from De Luca's set and from the authors' own (2 × 6)."""
    free, loaded = (signals(folder, name) for name in list(ROWS)[2:])
    without = experiment(free, known={"tool0": pin.Inertia.Zero()}, label="unloaded")
    with_load = experiment(loaded, known={"tool0.m": LOAD}, label="loaded")
    options: dict[str, Any] = {"offsets": True, "sticking": SLOW, "decimation": DECIMATION}
    rows: list[list[object]] = []
    for what, load in (("estimated", True), ("– without friction under load", False)):
        dyn = robot(model, load=load, payload=["tool0"])
        result = fit(dyn, experiments=[without, with_load], model=model, **options)
        found, errors = (np.array(list(x.values())) for x in (result.gains, result.gains_standard_deviation))
        rows.append([what, *(f"{x:.2f} ± {s:.2f}" for x, s in zip(found, errors, strict=True)), LOAD])
        if load:
            estimated = found
    as_columns = gains_as_columns(robot(model, load=False, payload=["tool0"]), free, loaded)
    rows.append(["currents as columns of least squares", *(f"{x:.2f}" for x in as_columns), LOAD])
    unknown, off = experiment(loaded, label="loaded"), list[Array]()
    for what, theirs in (("published, De Luca", GAINS), ("published, authors' own", Published.read(folder).gains)):
        known = dict(zip(model.names[1:], theirs.tolist(), strict=True))
        dyn = robot(model, load=True, payload=["tool0"])
        result = fit(dyn, experiments=[without, unknown], gains=known, method="weighted", **options)
        rows.append([what, *(f"{x:.2f}" for x in theirs), f"{result.parameters['tool0.m']:.2f}"])
        off.append(100 * (estimated / theirs - 1))
        rows.append(["– estimated beside it, %", *(f"{x:+.1f}" for x in off[-1]), None])
    return rows, np.array(off)


def gains_as_columns(dyn: gd.NewtonEuler, free: Signals, loaded: Signals) -> Array:
    """Gains by ordinary least squares of K i − Y p = (what the mass of the load makes): errors of i are those of a
    regressor there."""
    s = dyn.symbols("q", "v", "a")
    y = ca.jacobian(dyn.inverse_dynamics(*s.values()), s["p"])
    regressor = ca.Function("regressor", list(s.values()), [y])
    of_load = np.array([name.startswith("tool0.") for name in dyn.parameters.names])
    mass = dyn.parameters.names.index("tool0.m")
    left, right = list[Array](), list[Array]()
    for motion, load in ((free, 0.0), (loaded, LOAD)):
        found = regressor(motion.q.T, motion.v.T, motion.a.T, np.zeros((len(of_load), len(motion.q)))).full()
        rows = found.reshape(6, len(motion.q), -1)
        unknown = np.array(rows)
        unknown[:, :, of_load if not load else [mass]] = 0.0
        currents, offsets = (
            each[:, :, None] * np.eye(6)[:, None] for each in (measured(motion).T, np.ones(rows.shape[:2]))
        )
        left.append(np.concatenate([currents, offsets, -unknown], axis=2).reshape(-1, 12 + len(of_load)))
        right.append((load * rows[:, :, mass]).ravel())
    columns = np.vstack(left)
    size = np.maximum(np.linalg.norm(columns, axis=0), 1e-12)
    return np.asarray((np.linalg.lstsq(columns / size, np.concatenate(right), rcond=1e-10)[0] / size)[:6])


def page(folder: Path) -> str:
    """The tables with what they are."""
    model = gd.load_urdf(str(folder / "ur10e.urdf"))
    found = validation(folder, model)
    gains, (of_de_luca, of_authors) = gains_of(folder, model)
    between = 100 * (GAINS / Published.read(folder).gains - 1)
    head = [f"joint {JOINTS[0]}", *map(str, JOINTS[1:])]
    versions: Mapping[str, str] = {name: metadata.version(name) for name in ("casadi", "pin", "cvxpy", "clarabel")}
    return "\n".join(
        [
            "# A real UR10e from its motor currents",
            "",
            "30 s of 12 harmonics are fitted, 37 s of point-to-point motion predicted: the root mean square of the",
            "residuals, % of that of the unfiltered torque, which is De Luca's drive gains times the current",
            "(published parameters: times their own gains): `python -m benchmarks.identification.ur10e` FOLDER.",
            "",
            "Joint 5 rests in 15 % of the samples and joint 6 in 55 %, below 0.01 rad/s. Friction holds a joint there",
            "by any torque up to its Coulomb friction, which no motion determines. Its numbers depend on how these",
            "samples are judged, so that the report of a fit with `sticking=0.01` has all three side by side; here of",
            f"friction under load and {found.count} samples:",
            "",
            *markdown(["%", *head], found.sides),
            "",
            "At rest what is beyond the Coulomb friction of the model, for the published parameters alike:",
            "",
            *markdown(["%, at rest beyond friction", *head, "s"], found.held),
            "",
            "s: processor time of the fit. Without the samples at rest, a prediction from q, v and a alone:",
            "",
            *markdown(["%, moving", *head], found.moving),
            "",
            "All samples predicted from q, v and a alone. At rest tanh(v / 0.01) is 0. The sign of v, which the",
            "published parameters take, is that of what filters leave of v: with their filters measured speeds of",
            "−0.0005 rad/s have the sign of the last motion of joint 5. That a motor keeps holding in the direction of",
            "its last motion is right for joint 5, not for joints 1, 4 and 6:",
            "",
            *markdown(["%, all samples", *head], found.all_samples),
            "",
            "Coulomb friction in parts of the transmitted torque, of the last fit:",
            "",
            *markdown(["", *head], found.loads),
            "",
            "Drive gains [N m/A] from a run without and one with a load of 2.805 kg, of which the other nine",
            "parameters are unknown, with offsets, friction under load and without samples that stick. Of gains that",
            "are given, the mass that the same two runs tell of the load:",
            "",
            *markdown(["", *head, "load, kg"], gains),
            "",
            "Two sets are published: De Luca's, which the authors of the data give beside their own, and their own.",
            f"De Luca's are {between.min():.0f} to {between.max():.0f} % larger. The estimate is within",
            f"{np.abs(of_de_luca[1:]).max():.1f} % of De Luca's on joints 2 to 6; it is",
            f"{of_authors[1:4].min():+.1f} to {of_authors[1:4].max():+.1f} % off the authors' own on joints 2 to 4,",
            f"and at most {np.abs(of_authors[4:]).max():.1f} % on joints 5 and 6. The mass of the load lies between",
            "what the two make of it. The authors' own are near to those of least squares in which currents are",
            "columns, where the errors of currents make gains too small; the 10.00 of joint 1 is a bound of their",
            "search.",
            "Joint 1 does not lift the load: its gain follows from accelerations alone. Deviations are those of",
            "independent errors.",
            "",
            f"Measured with Python {platform.python_version()}, {', '.join(f'{k} {v}' for k, v in versions.items())}.",
            "",
        ]
    )


def main() -> None:
    write_page(__doc__, page, "identification")


if __name__ == "__main__":
    main()
