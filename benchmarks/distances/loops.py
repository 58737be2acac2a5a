"""The Panda among ten balls by real-time iterations: what a tick costs, and how near the arm comes in closed loops.

    python -m benchmarks.distances.loops
    python -m benchmarks.distances.loops --loops 5

The hand follows a curve that leads through random balls, with all limits of the model; every millisecond the gaps are
looked at. The section goes to the page of :mod:`benchmarks.distances.speed`, which has the times of a tick.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any, NamedTuple

import numpy as np

import gdalembert as gd
from benchmarks.common.tables import RESULTS, markdown, with_section
from benchmarks.distances.scenes import panda
from benchmarks.real_time.tasks import INTERVALS, Motion, PandaArm
from gdalembert import ocp
from gdalembert.errors import SolutionWarning
from gdalembert.spatial.arrays import Array

BALLS, RADIUS, MARGIN = 10, 0.05, 0.02
SECONDS, LOOPS = 2.0, 100
NONE, LINKS, ALL = "without", "self pairs", "self pairs and ten obstacles"


class Loop(NamedTuple):
    """Seconds of each tick, ticks that told that they were not solved, and the least gap every millisecond [m]."""

    seconds: Array
    failed: int
    gap: float


class Arm(PandaArm):
    """The Panda with its hand, which keeps clear of itself and of balls that are inputs."""

    robot, frame = "panda", "panda_hand"
    tick = 0.01

    def __init__(self) -> None:
        robot = panda()
        self.model = robot.model
        self.dyn = gd.NewtonEuler(self.model)
        self.bounds = ocp.Bounds.of(self.dyn, self.model)
        self.place = gd.Kinematics(self.model).frame_placement(self.frame)
        self._begin = self.place(self.start).full()[:3, 3]
        self.step = self._plant(self.dyn, 1e-3)
        capsules = robot.shapes[0]
        moving = [item.name for item in capsules.geometryObjects if item.parentJoint]
        self.balls = [f"ball_{k}" for k in range(1, BALLS + 1)]
        pairs = [*robot.pairs, *((name, ball) for ball in self.balls for name in moving)]
        everything = gd.Distances(self.dyn, capsules, dict.fromkeys(self.balls, gd.Sphere), pairs=pairs)
        self.shapes = {LINKS: gd.Distances(self.dyn, capsules, pairs=robot.pairs), ALL: everything}
        self.gaps = gd.compile(everything.distance)

    def solver(self, kind: str = NONE) -> Any:
        problem = self.problem()
        if kind in self.shapes:
            problem.keep_clear(self.shapes[kind], MARGIN)
        return problem.solver("rti", {"iterations": 3})

    def random_balls(self, rng: np.random.Generator, motion: Motion) -> dict[str, Array]:
        """Balls about the curve, none within 4 cm of the arm at the start."""
        line = self.target(np.linspace(0, 3, 30), motion).T
        found: list[Array] = []
        while len(found) < BALLS:
            ball = np.append(line[rng.integers(len(line))] + rng.normal(size=3) * 0.25, RADIUS)
            if self.gaps(self.start, np.tile(ball, BALLS)).min() > MARGIN + 0.02:
                found.append(ball)
        return dict(zip(self.balls, found, strict=True))


def loop(arm: Arm, solver: Any, motion: Motion, balls: dict[str, Array], kind: str) -> Loop:
    q, v, seconds, failed, least = arm.start.copy(), np.zeros(7), [], 0, np.inf
    solver.last = None
    numbers = np.concatenate([*balls.values()])
    for k in range(round(SECONDS / arm.tick)):
        given = {**arm.given(k * arm.tick, motion).values, **(balls if kind == ALL else {})}
        begin = time.process_time_ns()
        plan = solver(q0=q, v0=v, **given)
        seconds.append(1e-9 * (time.process_time_ns() - begin))
        failed += not plan.solved
        for _ in range(round(1e3 * arm.tick)):
            q, v = arm.step(q, v, plan.u[0], 1e-3)
            least = min(least, float(arm.gaps(q, numbers).min()))
    return Loop(np.array(seconds), failed, least)


TICK = """The Panda with all limits, {intervals} intervals of {interval:.0f} ms, 3 iterations. Gaps of {links} pairs of
capsules of its links, and of {others} of a capsule and one of {balls} balls, which are inputs, are kept at and between
instants. The loops are closed in turns, a tick every {tick:.0f} ms; a time is the least of a tick in all turns, by the
clock of the processor, without the first tick."""


def ticks(arm: Arm, rounds: int) -> str:
    """The times of a tick, as a section of a page."""
    motion, solvers = Motion(), {kind: arm.solver(kind) for kind in (NONE, LINKS, ALL)}
    balls = arm.random_balls(np.random.default_rng(0), motion)
    times = dict.fromkeys(solvers, np.array(np.inf))
    for _ in range(rounds):
        for kind, solver in solvers.items():
            times[kind] = np.minimum(times[kind], loop(arm, solver, motion, balls, kind).seconds)
    medians, worst = ([1e6 * f(x[1:]) for x in times.values()] for f in (np.median, np.max))
    rows = [
        ("median [µs]", *(f"{x:.0f}" for x in medians)),
        ("relative to that without", *(f"{x / medians[0]:.2f}" for x in medians)),
        ("worst [µs]", *(f"{x:.0f}" for x in worst)),
    ]
    links, every = (len(arm.shapes[kind].pairs) for kind in (LINKS, ALL))
    sizes = {"intervals": INTERVALS, "interval": 1e3 * arm.interval, "tick": 1e3 * arm.tick}
    text = TICK.format(links=links, others=every - links, balls=BALLS, **sizes)
    return "\n\n".join(["## A tick of real-time iterations", text, "\n".join(markdown(("", *solvers), rows))])


def section(arm: Arm, loops: int) -> str:
    """How near the arm comes to balls, and to itself, as a section of a page."""
    motion, rng, kinds = Motion(), np.random.default_rng(1), (NONE, ALL)
    solvers = {kind: arm.solver(kind) for kind in kinds}
    found: dict[str, list[Loop]] = {kind: [] for kind in kinds}
    for _ in range(loops):
        balls = arm.random_balls(rng, motion)
        for kind, solver in solvers.items():
            found[kind].append(loop(arm, solver, motion, balls, kind))
    gaps = {kind: np.array([one.gap for one in found[kind]]) for kind in kinds}
    rows = [
        (
            f"least gap at 1 kHz, of a margin of {1e3 * MARGIN:.0f} mm [mm]",
            *(f"{1e3 * gaps[k].min():.1f}" for k in kinds),
        ),
        ("scenes in which shapes touch", *(str((gaps[k] < 0).sum()) for k in kinds)),
        ("scenes with a gap 1 mm below the margin", *(str((gaps[k] < MARGIN - 1e-3).sum()) for k in kinds)),
        (
            "ticks that are not solved",
            *(f"{sum(x.failed for x in found[k])} of {sum(map(_ticks, found[k]))}" for k in kinds),
        ),
    ]
    table = "\n".join(markdown(("", *kinds), rows))
    text = (
        f"The same arm closes loops of {SECONDS:g} s in {loops} random scenes: `python -m benchmarks.distances.loops`."
    )
    return "\n\n".join(["## Loops among random balls", text, table])


def _ticks(one: Loop) -> int:
    return len(one.seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", type=int, default=LOOPS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", SolutionWarning)  # they are counted
    text = section(Arm(), arguments.loops)
    print(text)
    if arguments.loops == LOOPS:
        path = RESULTS / "distances.md"
        path.write_text(with_section(path.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
