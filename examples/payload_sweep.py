"""A thousand arms with two flexible links and random payload and stiffness, on one core or on a cluster.

python examples/payload_sweep.py                                     a process on each core of this machine
python examples/payload_sweep.py --scheduler tcp://10.0.0.1:8786     any Dask cluster whose workers have gdalembert
python examples/payload_sweep.py --samples 50 --serial --csv sweep.csv --plot sweep.png

The same controller, which knows neither payload nor stiffness, moves each arm and holds it. A sample that fails is
listed with its numbers and its message. A thousand samples take 4.5 minutes of processor time, which the
processes share; every hundredth is told on stderr.
"""

from __future__ import annotations

import argparse
import csv
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd

PAYLOAD, STIFFNESS = (0.05, 0.5), (100.0, 400.0)  # kg, N m²: limits of uniform distributions
GOAL = (0.6, -0.4)  # rad
MOVING, DURATION, STEP = 0.4, 1.2, 1e-3  # s
TIMES = 241

DRAWN = ("payload [kg]", "EI [N m²]")
MEASURED = ("peak deflection [m]", "residual vibration [m]", "first frequency [Hz]", "relative balance")

Sample = tuple[float, float]
Outcome = dict[str, float | str]


def samples(n: int, seed: int) -> list[Sample]:
    """Payload [kg] and EI [N m²] of n arms; all are drawn here, so that the order of simulation does not matter."""
    low, high = zip(PAYLOAD, STIFFNESS, strict=True)
    return [(float(m), float(ei)) for m, ei in np.random.default_rng(seed).uniform(low, high, size=(n, 2))]


def build(robot: pin.Model, payload: float, ei: float) -> gd.FlexibleArm:
    """One clamped-free mode a link, so that a thousand arms are built quickly, and a point mass on the tip."""
    one = gd.modes.clamped_free(1)
    body = pin.Inertia(payload, np.zeros(3), np.zeros((3, 3)))
    upper = gd.FlexibleLink(gd.Beam(1.0, 0.6, EI_z=ei), one, foreshortening=False)
    lower = gd.FlexibleLink(gd.Beam(0.8, 0.45, EI_z=ei), one, tip_body=body, foreshortening=False)
    return gd.FlexibleArm(robot, {"link1": upper, "link2": lower})


def controller(nv: int) -> ca.Function:
    """(t, x) → u: springs and dampers at the joints, which pull them along a polynomial to ``GOAL``."""
    t, x = ca.SX.sym("t"), ca.SX.sym("x", 2 * nv)
    s = ca.fmin(t / MOVING, 1)
    way, rate = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2 / MOVING
    goal, joints = ca.DM(GOAL), slice(nv, nv + len(GOAL))
    torques = ca.DM([30, 10]) * (way * goal - x[: len(GOAL)]) + ca.DM([6, 2]) * (rate * goal - x[joints])
    return ca.Function("controller", [t, x], [torques], ["t", "x"], ["u"])


def simulate(sample: Sample, robot: pin.Model) -> Outcome:
    """The outcome of one sample: numbers, or the message of its error."""
    outcome: Outcome = dict(zip(DRAWN, sample, strict=True))
    try:
        arm = build(robot, *sample)
        nv = arm.tree.nv
        times = np.linspace(0.0, DURATION, TIMES)
        motion = gd.simulate(arm, np.zeros(2 * nv), times, controller(nv), method="rk4", step=STEP)
        first = arm.natural_frequencies(np.zeros(nv))[0] / (2 * np.pi)
    except gd.errors.GdalembertError as error:
        return outcome | {"error": f"{type(error).__name__}: {error}"}
    tip = arm.tip_placement("link2")(motion.q.T).full().reshape(4, -1, 4)[:2, :, 3]
    rigid = gd.Kinematics(robot).frame_placement("tip")(motion.q[:, :2].T).full().reshape(4, -1, 4)
    across = np.sum(rigid[:2, :, 1] * (tip - rigid[:2, :, 3]), axis=0)  # y of the tip on a rigid arm with these joints
    residual = np.ptp(across[times >= MOVING]) / 2
    found = (np.abs(across).max(), residual, first, motion.relative_balance)
    return outcome | dict(zip(MEASURED, map(float, found), strict=True))


def sweep(drawn: Sequence[Sample], workers: int | None = None, scheduler: str | None = None) -> list[Outcome]:
    """All outcomes in the order of the samples, by a cluster of ``workers`` processes here, or by a ``scheduler``."""
    from dask.distributed import Client, LocalCluster, as_completed

    robot = gd.load_urdf("two_link_flexible")
    with ExitStack() as stack:
        cluster = scheduler or stack.enter_context(
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
        )
        client = stack.enter_context(Client(cluster))
        futures = client.map(simulate, drawn, robot=robot, pure=False)
        for k, _ in enumerate(as_completed(futures), start=1):
            tell(k, len(drawn))
        return list(client.gather(futures))


def serial(drawn: Sequence[Sample]) -> list[Outcome]:
    """The same in this process."""
    robot = gd.load_urdf("two_link_flexible")
    outcomes = []
    for k, sample in enumerate(drawn, start=1):
        outcomes.append(simulate(sample, robot))
        tell(k, len(drawn))
    return outcomes


def tell(done: int, total: int) -> None:
    """Say on stderr how far it is, at every hundredth simulation."""
    if not done % 100:
        print(f"{done} of {total} simulations", file=sys.stderr)


def summary(outcomes: Sequence[Outcome]) -> str:
    """Percentiles of the outcomes, and every failure."""
    good, bad = ([o for o in outcomes if ("error" in o) is failed] for failed in (False, True))
    lines = [f"{len(good)} simulations, {len(bad)} failures"]
    if good:
        lines.append(f"{'percentile':<24}" + "".join(f"{p:>12}" for p in (0, 5, 50, 95, 100)))
        for name in MEASURED:
            found = np.percentile([float(o[name]) for o in good], (0, 5, 50, 95, 100))
            lines.append(f"{name:<24}" + "".join(f"{x:>12.3g}" for x in found))
    lines += ["failed: " + ", ".join(f"{name} {o[name]}" for name in (*DRAWN, "error")) for o in bad]
    return "\n".join(lines)


def write(path: str, outcomes: Sequence[Outcome]) -> None:
    """A row for each sample; failures have a message in place of numbers."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, [*DRAWN, *MEASURED, "error"])
        table.writeheader()
        table.writerows(outcomes)


def plot(path: str, outcomes: Sequence[Outcome]) -> None:
    """Residual vibration over payload and stiffness."""
    from matplotlib.figure import Figure

    good = [outcome for outcome in outcomes if "error" not in outcome]
    payload, ei, residual = ([float(o[name]) for o in good] for name in (*DRAWN, "residual vibration [m]"))
    figure = Figure(figsize=(6, 4.2), layout="constrained")
    axes = figure.subplots()
    points = axes.scatter(payload, ei, c=[1000 * x for x in residual], s=14)
    figure.colorbar(points).set_label("residual vibration [mm]", labelpad=10)
    axes.set_xlabel(DRAWN[0])
    axes.set_ylabel(DRAWN[1])
    figure.savefig(path, dpi=150)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000, metavar="N")
    parser.add_argument("--coarse", action="store_true", help="12 samples, regardless of --samples")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--workers", type=int, metavar="N", help="processes on this machine; by default one a core")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, in place of this machine")
    parser.add_argument("--serial", action="store_true", help="in this process, without Dask")
    parser.add_argument("--csv", metavar="FILE", help="write a row for each sample")
    parser.add_argument("--plot", metavar="FILE", help="draw the residual vibration; needs matplotlib")
    given = parser.parse_args(arguments)

    drawn = samples(12 if given.coarse else given.samples, given.seed)
    print(f"{len(drawn)} arms, about {0.27 * len(drawn):.0f} s of processor time", flush=True)
    outcomes = serial(drawn) if given.serial else sweep(drawn, given.workers, given.scheduler)
    print(summary(outcomes))
    if given.csv:
        write(given.csv, outcomes)
    if given.plot:
        plot(given.plot, outcomes)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the cluster is closed, and leaves nothing
    main()
