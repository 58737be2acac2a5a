"""Plans of the Panda in least time among shelves, boxes and tables: 20 problems of MotionBenchMaker.

    python -m benchmarks.distances.plans              all problems
    python -m benchmarks.distances.plans box  those whose names begin so

Each plan keeps the limits of q, v and torque of the model, all pairs of links that the SRDF leaves, and all obstacles.
It begins at the straight line, which ``keep_clear`` pushes out of obstacles, and where the solver fails at lines that
are bent at random and pushed likewise. Rows are those of pairs that this guess
comes near. At 1 kHz, pairs that come too near are added or guarded between instants, joints that are too fast get a
lower limit, and it is solved again from there. Then torques and meshes are looked at. The page goes to
``benchmarks/results``, and some plans beside this module.
"""

from __future__ import annotations

import argparse
import json
import textwrap
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.tables import RESULTS, markdown
from benchmarks.distances import scenes
from benchmarks.distances.scenes import Meshes, Scene
from benchmarks.distances.straight import least_time
from benchmarks.speed.speed import machine
from gdalembert import ocp
from gdalembert.spatial.arrays import Array

MARGIN = 0.002
"""Of all gaps [m]: grasps leave 3 mm."""
TOUCHING = 5e-4
"""A pair with a smaller gap between instants [m] is guarded there in a further solve."""
FINE = 0.02
"""The distance at which gaps along a guess are looked at [rad]."""
NEAR = 0.12
"""Pairs that a guess comes nearer have rows [m]."""
GRASP = 0.025
"""What is nearer to a finger at the goal is compared with its box, all else with its capsule [m]."""
INTERVALS, LONGEST, BUDGET = 40, 6.0, 60.0
"""Of a plan: intervals, its longest duration [s], and the time of the processor [s]."""
LINES, BEND = 4, 0.3
"""The straight line and bent ones; the size of the first bend [rad]."""
ROUNDS, ITERATIONS = 5, 200
"""How often a problem is solved from a line, and iterations of a solve."""
PART = 0.96
"""Of the limits of v and u that plans may take at the stages, between which they go a little beyond."""
EFFORTS, JERKS = 1e-3, 1e-5
"""Weights of the squares of u and du, in parts of the limits: without du links of small inertia beside each other swing
to and fro within an interval, 23 % faster than their limits."""
SPARSE = 10
"""The least gap of the meshes is looked for at 100 Hz, collisions at 1 kHz."""
RECORDED = Path(__file__).parent / "plans.json"
"""The last plan of each kind of problem, which a test looks at again."""


Pair = tuple[str, str]


class Result(NamedTuple):
    """A plan of a scene, or what told that there is none.

    Attributes:
        line: 0 for the straight one, or the number of the bent one. ``rows``: pairs in the problem, of ``pairs``.
        seconds: of the processor, for guesses and solves. ``duration``, ``length``: of the plan [s, rad].
        torque, speed: the largest part of a limit, at 1 kHz.
        gap: the least one of meshes [m], and its pair. ``collisions``: instants of them.
        h, stages: the length of an interval [s], and a at the stages of each (intervals × 2 × 7).
    """

    scene: Scene
    told: str = ""
    line: int = 0
    rows: int = 0
    pairs: int = 0
    seconds: float = 0.0
    duration: float = 0.0
    length: float = 0.0
    torque: float = 0.0
    speed: float = 0.0
    gap: float = 0.0
    pair: tuple[str, str] = ("", "")
    collisions: int = 0
    h: float = 0.0
    stages: Array = np.zeros((0, 2, 7))


class Gaps:
    """The gaps of several distances, at configurations (n × 7)."""

    def __init__(self, shapes: Sequence[gd.Distances]) -> None:
        self._shapes = shapes
        self.pairs = [pair for one in shapes for pair in one.pairs]

    def __call__(self, q: Array) -> Array:
        return np.vstack([one.distance(q.T).full() for one in self._shapes]).T

    def near(self, path: Array, within: float) -> list[tuple[str, str]]:
        """Pairs that come within a distance along straight pieces (n × 7)."""
        pieces = [
            first + np.linspace(0, 1, 2 + int(np.linalg.norm(second - first) / FINE))[:, None] * (second - first)
            for first, second in pairwise(path)
        ]
        gaps = self(np.vstack(pieces)).min(axis=0)
        return [pair for pair, gap in zip(self.pairs, gaps, strict=True) if gap < within]


class Planner:
    """Plans of the Panda."""

    def __init__(self) -> None:
        self.robot = scenes.panda()
        self.dyn = gd.NewtonEuler(self.robot.model)
        self.bounds = self._bounds(np.ones(self.dyn.nv))

    def _bounds(self, parts: Array) -> ocp.Bounds:
        """Parts of those of v of each joint, and of u."""
        model = self.robot.model
        limits = PART * parts * model.velocityLimit, PART * model.effortLimit
        v, u = (dict(zip(model.names[1:], x, strict=True)) for x in limits)
        return ocp.Bounds.of(self.dyn, model, v=v, u=u)

    def pairs(self, scene: Scene) -> list[tuple[str, str]]:
        """Links; boxes of fingers and what they grasp; capsules and all else."""
        gaps = Meshes(scene).gaps(scene.goal)
        grasped = {second for (first, second), gap in gaps.items() if "finger" in first and gap < GRASP}
        chosen = [*self.robot.pairs]
        capsules, *boxes = (list(shapes.geometryObjects) for shapes in self.robot.shapes)
        for name in scene.solids:
            chosen += [
                (item.name, name)
                for item in capsules
                if item.parentJoint and not ("finger" in item.name and name in grasped)
            ]
            chosen += [(item.name, name) for (item,) in boxes if name in grasped]
        return chosen

    def plan(self, scene: Scene) -> Result:
        """A plan, or what told that there is none."""
        begin, whole = time.process_time(), Gaps(self._shapes(scene, self.pairs(scene)))
        ends = np.array([scene.start, scene.goal])
        for name, gaps in zip(("start", "goal"), whole(ends), strict=True):
            if gaps.min() < MARGIN:
                first, second = whole.pairs[int(gaps.argmin())]
                least = min(Meshes(scene).gaps(scene.start if name == "start" else scene.goal).values())
                told = (
                    f"{first} and {second} are {1e3 * gaps.min():.1f} mm apart at the {name}; meshes {1e3 * least:.1f}"
                )
                return Result(scene, told=told, pairs=len(whole.pairs))
        told = ""
        for line in range(LINES):
            result = self._from(self._guess(scene, line), scene, whole, begin)
            if isinstance(result, Result):
                return result._replace(line=line)
            told = told or result
        return Result(scene, told=told, seconds=time.process_time() - begin, pairs=len(whole.pairs))

    def _from(self, guess: ocp.Guess, scene: Scene, whole: Gaps, begin: float) -> Result | str:
        """A plan from a guess, or what told that there is none; ``begin``: of the time of the processor [s]."""
        motion, parts, told = guess, np.ones(self.dyn.nv), ""
        rows, guarded = set(whole.near(guess.q, NEAR)), set[Pair]()
        for _ in range(ROUNDS):
            if (seconds := time.process_time() - begin) > BUDGET:
                return told or f"no time is left after {seconds:.0f} s"
            try:
                motion = self._solve(scene, motion, (rows - guarded, guarded), parts, BUDGET - seconds)
            except gd.errors.GdalembertError as error:
                return _told(error)
            q, v, _ = _followed(motion)
            gaps, speeds = whole(q).min(axis=0), np.abs(v).max(axis=0) / self.robot.model.velocityLimit
            missed = {pair: gap for pair, gap in zip(whole.pairs, gaps, strict=True) if gap < TOUCHING}
            seconds = time.process_time() - begin
            if not missed and speeds.max() <= 1 and seconds <= BUDGET:
                return self._result(scene, motion, (len(rows), len(whole.pairs)), seconds)
            told = f"a joint moves at {speeds.max():.1%} of its limit between instants"
            if missed:
                pair = min(missed, key=lambda pair: missed[pair])
                told = f"{pair[0]} and {pair[1]} came too near, {1e3 * missed[pair]:.1f} mm"
            parts /= np.maximum(speeds / 0.995, 1)
            guarded |= rows & set(missed)
            rows |= {*missed, *whole.near(motion.q, NEAR)}
        return told

    def _shapes(self, scene: Scene, pairs: Sequence[tuple[str, str]]) -> list[gd.Distances]:
        """The distances of pairs, of each geometry that has any."""
        distances = []
        for shapes in self.robot.shapes:
            names = {item.name for item in shapes.geometryObjects}
            own = [pair for pair in pairs if pair[0] in names]
            if own:
                used = {second for _, second in own}
                obstacles = {name: shape for name, shape in scene.obstacles.items() if name in used}
                distances.append(gd.Distances(self.dyn, shapes, obstacles, pairs=own, bounds=self.bounds))
        return distances

    def _guess(self, scene: Scene, k: int) -> ocp.Guess:
        """The straight line, or one that is bent at random, as ``keep_clear`` pushes it out of all obstacles."""
        problem = self._problem(scene, self.bounds)
        for shapes in self._shapes(scene, self.pairs(scene)):
            problem.keep_clear(shapes, MARGIN, between=False)
        if k:
            line = ocp.rest_to_rest(self.dyn, scene.start, scene.goal, LONGEST / 3)
            bend = BEND * k * np.random.default_rng(k).normal(size=self.dyn.nv)
            q = line.q + np.sin(np.pi * line.t / line.t[-1])[:, None] ** 2 * bend
            q = np.clip(q, self.bounds.q_lower, self.bounds.q_upper)
            problem.guess(ocp.Guess(line.t, q, np.gradient(q, line.t, axis=0), line.a, line.u))
        return problem._initial.motion(None)

    def _problem(self, scene: Scene, bounds: ocp.Bounds) -> ocp.Problem:
        problem = ocp.Problem(self.dyn, (0.3, LONGEST), INTERVALS, bounds=bounds, degree=2)
        problem.start(scene.start)
        problem.end(scene.goal)
        problem.minimize(problem.duration)
        return problem

    def _solve(self, scene: Scene, motion: Any, rows: tuple[set[Pair], set[Pair]], parts: Array, seconds: float) -> Any:
        """A motion that keeps some pairs apart at instants, and others also between them."""
        problem = self._problem(scene, self._bounds(parts))
        problem.squares(lambda u: u / self.robot.model.effortLimit, weight=EFFORTS)
        problem.squares(lambda du: du / self.robot.model.effortLimit, weight=JERKS)
        for pairs, between in zip(rows, (False, True), strict=True):
            for shapes in self._shapes(scene, sorted(pairs)):
                problem.keep_clear(shapes, MARGIN, between=between)
        problem.guess(motion)
        return problem.solve(options={"ipopt.max_iter": ITERATIONS, "ipopt.max_cpu_time": seconds})

    def _result(self, scene: Scene, solution: Any, rows: tuple[int, int], seconds: float) -> Result:
        model, meshes, (q, v, a) = self.robot.model, Meshes(scene), _followed(solution)
        gaps, data = [meshes.gaps(row) for row in q[::SPARSE]], model.createData()
        torques = np.array([pin.rnea(model, data, *rows) for rows in zip(q, v, a, strict=True)])
        least = {pair: min(one[pair] for one in gaps) for pair in gaps[0]}
        pair = min(least, key=lambda pair: least[pair])
        return Result(
            scene,
            rows=rows[0],
            pairs=rows[1],
            seconds=seconds,
            duration=solution.duration,
            length=float(np.linalg.norm(np.diff(q, axis=0), axis=1).sum()),
            torque=float(np.max(np.abs(torques) / model.effortLimit)),
            speed=float(np.max(np.abs(v) / model.velocityLimit)),
            gap=least[pair],
            pair=pair,
            collisions=len(meshes.collisions(q)),
            h=solution.duration / INTERVALS,
            stages=solution.stages.a.reshape(INTERVALS, 2, -1),
        )


def _followed(solution: Any) -> tuple[Array, Array, Array]:
    """q, v, a of a plan at 1 kHz (n × 7 each)."""
    a = solution.stages.a.reshape(len(solution.t) - 1, 2, -1)
    return followed(solution.duration / len(a), solution.q[0], a)


def followed(h: float, q: Array, stages: Array) -> tuple[Array, Array, Array]:
    """q, v, a (n × 7 each) at 1 kHz from rest at q: a is linear in each interval of h [s], through both its stages."""
    slopes = np.sqrt(3) * (stages[:, 1] - stages[:, 0])  # Gauss–Legendre: they are 1 / √3 of the interval apart
    first = (stages[:, 0] + stages[:, 1] - slopes) / 2
    s = h * np.linspace(0, 1, 1 + int(np.ceil(1e3 * h)))[:, None]
    v, rows = np.zeros_like(q), []
    for a, rate in zip(first, slopes / h, strict=True):
        rows.append((q + s * v + s**2 * (a / 2 + s * rate / 6), v + s * (a + s * rate / 2), a + s * rate))
        q, v = rows[-1][0][-1], rows[-1][1][-1]
    at_q, at_v, at_a = (np.vstack(part) for part in zip(*rows, strict=True))
    return at_q, at_v, at_a


def _told(error: Exception) -> str:
    """The status of a solver, and what it says of the pair in the way, or its worst violation."""
    solution = getattr(error, "solution", None)
    worst = max(getattr(solution, "violations", {}).items(), key=lambda item: item[1], default=("", 0.0))
    pairs = [part for part in str(error).split("; ") if part.startswith("the gap of ")]
    why = " and ".join(pairs) or f"{worst[0]} violated by {worst[1]:.2g}"
    return f"{getattr(solution, 'status', type(error).__name__)}: {why}"


HEAD = (
    *("", "guess", "rows of pairs", "CPU [s]", "time [s]", "straight", "ratio", "length [rad]", "straight", "ratio"),
    *("most torque / limit", "most speed / limit", "least gap of meshes [mm]", "of"),
)


def _cells(result: Result, model: pin.Model) -> tuple[str, ...]:
    scene = result.scene
    straight, length = least_time(model, scene.start, scene.goal), float(np.linalg.norm(scene.goal - scene.start))
    return (
        *(
            scene.name,
            f"bent {result.line}" if result.line else "line",
            f"{result.rows} of {result.pairs}",
            f"{result.seconds:.0f}",
        ),
        *(f"{result.duration:.3f}", f"{straight:.3f}", f"{result.duration / straight:.2f}"),
        *(f"{result.length:.2f}", f"{length:.2f}", f"{result.length / length:.2f}"),
        *(f"{result.torque:.3f}", f"{result.speed:.3f}"),
        *(f"{1e3 * result.gap:.1f}", " and ".join(result.pair)),
    )


TEXT = """# Plans in least time among obstacles

The Panda with its hand open in {total} problems of MotionBenchMaker (Chamzas et al. 2022), at rest at both ends, within
the limits of q, v and torque of its model: `python -m benchmarks.distances.plans`. Links are covered by one capsule
each, the hand by two; a finger is its box beside what it grasps, and a capsule otherwise. Boxes are exact; a cylinder
is a capsule 1 mm wider. Gaps of links that the SRDF leaves and those to obstacles are at least {margin:.0f} mm at the
instants. *guess*: the straight line in joint space, which `keep_clear` pushes out of obstacles; where that fails, one
that is bent at random before it is pushed. *straight*: the least time of the straight line, through the obstacles, and
its length. Plans have {intervals} intervals, and take
{part:.0%} of the limits of v and torque at their stages. At 1 kHz: the largest torque of inverse dynamics, the largest
speed, and collisions of the meshes, by coal; at 100 Hz their least gap. Where a pair is less than {touching:.1f} mm
apart there, or a joint too fast, the problem is solved again, and keeps the pair apart between instants, too, or a
lower limit.

{solved} of {total} problems are solved, {line} of them from the straight line, in a median of {median:.0f} s of the
processor and at most {worst:.0f} s; {clear} of these have no collision of meshes. Between the instants q leaves its
limits by at most {over:.1f} mrad, in {farthest}. Other programs ran at the same time.
"""


def page(results: Sequence[Result], planner: Planner) -> str:
    planned = [result for result in results if result.duration]
    seconds = [result.seconds for result in planned]
    over = {}
    for result in planned:
        q = followed(result.h, result.scene.start, result.stages)[0]
        over[result.scene.name] = float(np.maximum(q - planner.bounds.q_upper, planner.bounds.q_lower - q).max())
    farthest = max(over, key=lambda name: over[name])
    text = TEXT.format(
        total=len(results),
        intervals=INTERVALS,
        part=PART,
        margin=1e3 * MARGIN,
        touching=1e3 * TOUCHING,
        solved=len(planned),
        line=sum(not result.line for result in planned),
        median=np.median(seconds),
        worst=max(seconds),
        clear=sum(not result.collisions for result in planned),
        over=1e3 * max(0.0, over[farthest]),
        farthest=farthest,
    )
    told = [
        textwrap.fill(f"* {result.scene.name}: {result.told}", 120, subsequent_indent="  ")
        for result in results
        if not result.duration
    ]
    table = markdown(HEAD, [_cells(result, planner.robot.model) for result in planned])
    parts = [text, "\n".join(table), *(["Not solved, and what stood in the way:", "\n".join(told)] if told else [])]
    return "\n\n".join(part.strip() for part in [*parts, machine()]) + "\n"


def recorded(results: Sequence[Result]) -> str:
    """One plan of each kind of problem: the length of an interval [s], and a at the stages, to 1e-3 rad/s²."""
    kinds = {result.scene.name.rsplit(" ", 1)[0]: result for result in results if result.duration}
    lines = []
    for result in kinds.values():
        stages = json.dumps(np.round(result.stages, 3).tolist(), separators=(",", ":"))
        lines.append(f'"{result.scene.name}": [{result.h!r}, {stages}]')
    return "{\n" + ",\n".join(sorted(lines)) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", nargs="*", help="what names begin with; all by default")
    arguments = parser.parse_args()
    planner, results = Planner(), []
    for scene in scenes.scenes():
        if not arguments.scene or scene.name.startswith(tuple(arguments.scene)):
            results.append(planner.plan(scene))
            print(scene.name, results[-1].told or _cells(results[-1], planner.robot.model), flush=True)
    text = page(results, planner)
    print(text)
    if not arguments.scene:
        (RESULTS / "distance_plans.md").write_text(text, encoding="utf-8")
        RECORDED.write_text(recorded(results), encoding="utf-8")


if __name__ == "__main__":
    main()
