"""A tick of real-time iterations of the Panda with gaps of links and of ten balls, beside the tick without.

    python -m benchmarks.distances.loops
    python -m benchmarks.distances.loops --loops 5

The arm follows a curve through random balls, with all limits of its model. Both solvers close the same loops in turns;
a ratio is of medians of the least times of each tick. Then it does so in random scenes, and the gaps are looked at
every millisecond. The section goes to the page of :mod:`benchmarks.distances.speed`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import numpy as np

import gdalembert as gd
from benchmarks.common.tables import RESULTS, markdown, with_section
from benchmarks.distances.scenes import panda
from benchmarks.real_time.tasks import INTERVALS, Motion, PandaArm
from gdalembert import ocp
from gdalembert.spatial.arrays import Array

BALLS, RADIUS, MARGIN = 10, 0.05, 0.02
TICKS, LOOPS, ROUNDS = 40, 100, 3


class Loop(NamedTuple):
    """Seconds of each tick, ticks with no step, and the least gap every millisecond [m]."""

    seconds: Array
    failed: int
    gap: float


class Arm(PandaArm):
    """The Panda with its hand, which keeps clear of itself and of balls that are inputs."""

    robot, frame = "panda", "panda_hand"

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
        self.shapes = gd.Distances(self.dyn, capsules, dict.fromkeys(self.balls, gd.Sphere), pairs=pairs)
        self.gaps = gd.compile(self.shapes.derivatives)

    def solver(self, name: str = "rti", *, clear: bool = False) -> Any:
        problem = self.problem()
        if clear:
            problem.keep_clear(self.shapes, MARGIN)
        return problem.solver(name, {"iterations": 3})

    def random_balls(self, rng: np.random.Generator, motion: Motion) -> dict[str, Array]:
        """Balls about the curve, none within 4 cm of the arm at the start."""
        line = self.target(np.linspace(0, 3, 30), motion).T
        found: list[Array] = []
        while len(found) < BALLS:
            ball = np.append(line[rng.integers(len(line))] + rng.normal(size=3) * 0.25, RADIUS)
            if self.gaps(self.start, np.tile(ball, BALLS))[0].min() > MARGIN + 0.02:
                found.append(ball)
        return dict(zip(self.balls, found, strict=True))


def loop(arm: Arm, solver: Any, motion: Motion, balls: dict[str, Array], *, clear: bool) -> Loop:
    q, v, seconds, failed, least = arm.start.copy(), np.zeros(7), [], 0, np.inf
    solver.last = None
    numbers = np.concatenate([*balls.values()])
    for k in range(TICKS):
        given = arm.given(k * arm.tick, motion).values
        begin = time.process_time_ns()
        plan = solver(q0=q, v0=v, shift=int(k > 0), **given, **(balls if clear else {}))
        seconds.append(1e-9 * (time.process_time_ns() - begin))
        failed += not plan.solved
        for _ in range(round(1e3 * arm.tick)):
            q, v = arm.step(q, v, plan.u[0], 1e-3)
            least = min(least, float(np.min(arm.gaps(q, numbers)[0])))
    return Loop(np.array(seconds), failed, least)


TEXT = """The Panda with all limits, {intervals} intervals, {rows} rows at each instant: the pairs of links, and
{balls} balls that are inputs: `python -m benchmarks.distances.loops`."""
RANDOM = """In {loops} random scenes of {ticks} ticks the least gap at 1 kHz is {least:.1f} mm, of a margin of
{margin:.0f} mm; in {less} it is more than 1 mm below the margin, and {failed} of {all} ticks told that they were not
solved. The first scene without gaps comes to {free:.1f} mm."""


def section(loops: int, rounds: int) -> str:
    arm, motion = Arm(), Motion()
    solvers = {clear: arm.solver(clear=clear) for clear in (False, True)}
    balls = arm.random_balls(np.random.default_rng(0), motion)
    times = {clear: np.full(TICKS, np.inf) for clear in solvers}
    for _ in range(rounds):
        for clear, solver in solvers.items():
            times[clear] = np.minimum(times[clear], loop(arm, solver, motion, balls, clear=clear).seconds)
    medians, worst = ({clear: f(x[1:]) * 1e6 for clear, x in times.items()} for f in (np.median, np.max))
    rows = [
        ("median [µs]", f"{medians[False]:.0f}", f"{medians[True]:.0f}", f"{medians[True] / medians[False]:.2f}"),
        ("worst [µs]", f"{worst[False]:.0f}", f"{worst[True]:.0f}", f"{worst[True] / worst[False]:.2f}"),
    ]
    rng = np.random.default_rng(1)
    found = [loop(arm, solvers[True], motion, arm.random_balls(rng, motion), clear=True) for _ in range(loops)]
    gaps = np.array([one.gap for one in found])
    free = loop(arm, solvers[False], motion, balls, clear=False).gap
    return "\n\n".join(
        [
            "## A tick of real-time iterations",
            TEXT.format(intervals=INTERVALS, rows=len(arm.shapes.pairs), balls=BALLS),
            "\n".join(markdown(("", "without", "with all gaps", "ratio"), rows)),
            RANDOM.format(
                loops=loops,
                ticks=TICKS,
                least=1e3 * gaps.min(),
                margin=1e3 * MARGIN,
                less=int((gaps < MARGIN - 1e-3).sum()),
                failed=sum(one.failed for one in found),
                all=loops * TICKS,
                free=1e3 * free,
            ),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", type=int, default=LOOPS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    text = section(arguments.loops, arguments.rounds)
    print(text)
    if (arguments.loops, arguments.rounds) == (LOOPS, ROUNDS):
        path = RESULTS / "distances.md"
        path.write_text(with_section(path.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
