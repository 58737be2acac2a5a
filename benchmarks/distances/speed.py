"""Gaps of the Panda's capsules and their derivatives: sizes of graphs, and times beside coal and NumPy; and those of a
tick of real-time iterations that keeps them.

    python -m benchmarks.distances.speed
    python -m benchmarks.distances.speed --rounds 3

The same capsules and pairs go to ``gd.compile``, to ``pin.computeDistances``, which calls coal's C++ for every pair,
and to the formula of PyRoki (closest points of segments by clamps) over arrays of NumPy. All run in turns in one
process, on one core, and a time is the least of all rounds. The page goes to ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import coal
import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common.tables import RESULTS, markdown, with_section
from benchmarks.distances.loops import Arm, ticks
from benchmarks.distances.scenes import Panda, panda
from benchmarks.speed.speed import machine
from gdalembert.errors import SolutionWarning
from gdalembert.spatial.arrays import Array

Pairs = list[tuple[str, str]]
STATES = 1000
SECONDS = 0.05
"""What a round of one measurement takes at least, of the processor."""
HALF_SIZES = (0.2, 0.3, 0.02)


def distances(robot: Panda, pairs: Pairs, obstacles: Any = None) -> gd.Distances:
    return gd.Distances(robot.model, robot.shapes[0], obstacles, pairs=pairs)


def per_pair(robot: Panda) -> list[float]:
    """Instructions that a further pair takes, of gaps and with derivatives: of capsules, of a capsule and a box turned
    as another, and of one that is turned otherwise.

    Those of all pairs less those of some that have the same capsules, so that none counts that places them.
    """
    few: Pairs = []
    for pair in robot.pairs:
        if not set(pair) <= {name for both in few for name in both}:
            few.append(pair)
    moving = [item.name for item in robot.shapes[0].geometryObjects if item.parentJoint]
    places = [((0.0, 0.0, 0.4), 0.3), ((0.0, 0.0, 0.4), 0.6), ((0.3, 0.2, 0.1), 0.9)]
    boxes = {
        f"box {k}": gd.Box(pin.SE3(pin.rpy.rpyToMatrix(*angles), np.array([0.4, 0.2, height])), HALF_SIZES)
        for k, (angles, height) in enumerate(places)
    }
    few_boxes = [
        distances(robot, [(name, box) for box in names for name in moving], {box: boxes[box] for box in names})
        for names in ([*boxes][:count] for count in (1, 2, 3))
    ]
    of_capsules = [distances(robot, chosen) for chosen in (few, robot.pairs)]
    found: list[float] = []
    for less, more in (of_capsules, few_boxes[:2], few_boxes[1:]):
        added = len(more.pairs) - len(less.pairs)
        found += [(_size(more, name) - _size(less, name)) / added for name in ("distance", "derivatives")]
    return found


def _size(shapes: gd.Distances, name: str) -> int:
    return int(getattr(shapes, name).n_instructions())


def of_coal(robot: Panda, pairs: Pairs) -> tuple[pin.GeometryModel, pin.GeometryData]:
    geometry = robot.shapes[0].copy()
    geometry.removeAllCollisionPairs()
    for pair in pairs:
        geometry.addCollisionPair(pin.CollisionPair(*map(geometry.getGeometryId, pair)))
    return geometry, pin.GeometryData(geometry)


class PyRoki:
    """Gaps of capsules by closest points of segments, clamped, over arrays (n × pairs × 3)."""

    def __init__(self, robot: Panda, pairs: Pairs) -> None:
        geometry, self._kinematics = robot.shapes[0], gd.Kinematics(robot.model)
        self._names = [name for name in robot.model.names if name != "universe"]
        self._items = [[geometry.geometryObjects[geometry.getGeometryId(name)] for name in pair] for pair in pairs]
        self._radii = np.array([sum(item.geometry.radius for item in both) for both in self._items])

    def ends(self, robot: Panda, q: Array) -> list[Array]:
        """Both ends of the first and of the second capsules (n × pairs × 3 each), of which the time does not count."""
        data, found = robot.model.createData(), []
        for row in q:
            pin.forwardKinematics(robot.model, data, row)
            found.append(
                [
                    data.oMi[item.parentJoint].act(item.placement.act(np.array([0.0, 0.0, sign * _half(item)])))
                    for side in (0, 1)
                    for sign in (-1, 1)
                    for item in (both[side] for both in self._items)
                ]
            )
        return [*np.array(found).reshape(len(q), 4, -1, 3).transpose(1, 0, 2, 3).copy()]

    def gaps(self, p: Array, p_end: Array, o: Array, o_end: Array) -> Array:
        a, b, apart = p_end - p, o_end - o, p - o
        aa, bb, ab = (np.einsum("...i,...i", x, y) for x, y in ((a, a), (b, b), (a, b)))
        along_a, along_b = np.einsum("...i,...i", a, apart), np.einsum("...i,...i", b, apart)
        s = np.clip((ab * along_b - along_a * bb) / (aa * bb - ab * ab + 1e-6), 0, 1)
        t = np.clip((ab * s + along_b) / bb, 0, 1)
        s = np.clip((ab * t - along_a) / aa, 0, 1)
        way = apart + s[..., None] * a - t[..., None] * b
        return np.asarray(np.sqrt(np.einsum("...i,...i", way, way)) - self._radii)


def _half(item: Any) -> float:
    assert isinstance(item.geometry, coal.Capsule)
    return float(item.geometry.halfLength)


def least(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least time of each call [s], measured in turns."""
    counts = {}
    for name, call in calls.items():
        count, taken = 1, 0.0
        while taken < SECONDS:
            count = max(2 * count, 1) if taken else count
            taken = _taken(call, count)
        counts[name] = count
    found = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            found[name] = min(found[name], _taken(call, counts[name]) / counts[name])
    return found


def _taken(call: Callable[[], object], count: int) -> float:
    begin = time.process_time()
    for _ in range(count):
        call()
    return time.process_time() - begin


def measure(robot: Panda, rounds: int) -> tuple[dict[str, float], float]:
    """Times by name [s], and the largest difference of gaps of capsules that are apart, from coal [m]."""
    shapes, model, data = distances(robot, robot.pairs), robot.model, robot.model.createData()
    gaps, slopes = gd.compile(shapes.distance), gd.compile(shapes.derivatives)
    geometry, geometry_data = of_coal(robot, shapes.pairs)
    q = np.random.default_rng(0).uniform(model.lowerPositionLimit, model.upperPositionLimit, (STATES, model.nq))
    formula = PyRoki(robot, shapes.pairs)
    ends = formula.ends(robot, q)
    off = 0.0
    for row, own, other in zip(q, gaps.batch(q), formula.gaps(*ends), strict=True):
        pin.computeDistances(model, data, geometry, geometry_data, row)
        of_peer = np.array([one.min_distance for one in geometry_data.distanceResults])
        off = max(off, float(np.abs(own - of_peer)[of_peer > 0].max()))
        assert np.abs(own - other)[of_peer > 0].max() < 1e-2  # its 1e-6 m⁴ moves points of short capsules
    one, single = q[0].copy(), [x[:1] for x in ends]
    calls = {
        "ours": lambda: gaps(one),
        "ours, derivatives": lambda: slopes(one),
        "coal": lambda: pin.computeDistances(model, data, geometry, geometry_data, one),
        "NumPy": lambda: formula.gaps(*single),
        "ours, batch": lambda: gaps.batch(q),
        "ours, derivatives, batch": lambda: slopes.batch(q),
        "NumPy, batch": lambda: formula.gaps(*ends),
    }
    times = least(calls, rounds)
    return {name: x / (STATES if "batch" in name else 1) for name, x in times.items()}, off


TEXT = """# Distances: sizes and speed

The Panda with its hand: {bodies} capsules, {pairs} pairs that its SRDF leaves: `python -m benchmarks.distances.speed`.
"""


def page(robot: Panda, rounds: int) -> str:
    shapes = distances(robot, robot.pairs)
    further = [f"{count:.0f}" for count in per_pair(robot)]
    sizes = [
        ("all pairs, with kinematics", _size(shapes, "distance"), _size(shapes, "derivatives")),
        ("a further pair of capsules", *further[:2]),
        ("a further pair of a capsule and a box, turned as another", *further[2:4]),
        ("and turned otherwise", *further[4:]),
    ]
    times, off = measure(robot, rounds)
    peers = ("ours", "ours, derivatives", "coal", "NumPy")
    singles = [f"{1e6 * times[name]:.2f}" for name in peers]
    ratios = [f"{times[name] / times['ours']:.2f}" for name in peers]
    batches = [times[f"{name}, batch"] if name != "coal" else times["coal"] for name in peers]
    cells = [f"{1e6 * x:.2f}" for x in batches]
    batch_ratios = [f"{x / batches[0]:.2f}" for x in batches]
    head = ("", "gaps", "gaps and derivatives", "coal, gaps", "PyRoki's formula in NumPy, gaps")
    rows = [
        ("one state [µs]", *singles),
        ("relative to our gaps", *ratios),
        (f"of {STATES:,} states, each [µs]", *cells),
        (f"relative to our gaps, {STATES:,} states", *batch_ratios),
    ]
    return "\n\n".join(
        [
            TEXT.format(bodies=len(robot.shapes[0].geometryObjects), pairs=len(shapes.pairs)).strip(),
            "\n".join(markdown(("instructions", "gaps", "gaps and derivatives"), sizes)),
            "Times of the same pairs, called from Python, the least of turns in one process on one core. coal is\n"
            "`pin.computeDistances`, with kinematics and with data that is made once; it has no batch. The formula of\n"
            "PyRoki has no kinematics in it: it begins at the ends of capsules. Where capsules are apart, gaps equal\n"
            f"coal's to {off:.0e} m.",
            "\n".join(markdown(head, rows)),
            machine(),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", SolutionWarning)
    text, section = page(panda(), arguments.rounds), ticks(Arm(), arguments.rounds)
    print(text, section, sep="\n\n")
    if arguments.rounds == parser.get_default("rounds"):
        path = RESULTS / "distances.md"
        _, *others = path.read_text(encoding="utf-8").split("\n## ")
        path.write_text(with_section("\n\n## ".join([text, *others]), section), encoding="utf-8")


if __name__ == "__main__":
    main()
