"""Covers of five robots against their meshes: rows, capsules, false alarms, and collisions that are missed.

Configurations are those of another seed than the covers were chosen by.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin

from benchmarks.common.tables import RESULTS, markdown
from gdalembert.distances.closest import closest
from gdalembert.distances.placed import RobotWithShapes
from gdalembert.distances.selection import ChosenPairs, Item, configurations, select
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.tree import Tree

ROBOTS = {
    "Panda": ("panda_description/urdf/panda.urdf", "panda_description/srdf/panda.srdf", "finger", False),
    "UR5": ("ur_description/urdf/ur5_robot.urdf", "ur_description/srdf/ur5.srdf", "", False),
    "Kinova": ("kinova_description/robots/kinova.urdf", "kinova_description/srdf/kinova.srdf", "", False),
    "Solo 12": ("solo_description/robots/solo12.urdf", "solo_description/srdf/solo.srdf", "", True),
    "Talos": ("talos_data/robots/talos_full_v2.urdf", "talos_data/srdf/talos.srdf", "", True),
}
"""Files of each robot, joints that are locked, and whether it has a free-flyer."""
HEAD = ("robot", "pairs by", "rows", "capsules", "meshes touch", "false alarms", "missed", "outside", "seconds")


def load(name: str) -> tuple[pin.Model, pin.GeometryModel, Path]:
    """The model of a robot, its collision geometry, and its SRDF."""
    urdf, srdf, locked, is_free = ROBOTS[name]
    share = Path(str(metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    folder = share / "example-robot-data" / "robots"
    path = str(folder / urdf)
    model = pin.buildModelFromUrdf(path, *([pin.JointModelFreeFlyer()] if is_free else []))
    geometry = pin.buildGeomFromUrdf(model, path, pin.GeometryType.COLLISION, [str(share)])
    if locked:
        joints = [model.getJointId(joint) for joint in model.names if locked in joint]
        model, geometry = pin.buildReducedModel(model, geometry, joints, pin.neutral(model))
    return model, geometry, folder / srdf


def selected(
    model: pin.Model, geometry: pin.GeometryModel, has_pairs: bool, **options: float
) -> tuple[Tree, ChosenPairs]:
    """The choice for the collision pairs of a geometry, or for all."""
    tree = read_tree(model)
    links = [-1, *tree.links]
    items = [Item(o.name, links[o.parentJoint], o) for o in geometry.geometryObjects]
    pairs = [(pair.first, pair.second) for pair in geometry.collisionPairs] if has_pairs else None
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    return tree, select(tree, items, pairs, lower=lower, upper=upper, **options)


def overlaps(tree: Tree, selection: ChosenPairs, q: Any) -> dict[frozenset[int], Any]:
    """Whether shapes overlap at configurations (rows), by the two links."""
    symbol = ca.SX.sym("q", tree.nq)
    robot = RobotWithShapes(tree, symbol)
    placed = {id(body): robot.placed(body) for row in selection.rows for body in row}
    gaps = ca.vertcat(*(closest(placed[id(first)], placed[id(second)]).gap for first, second in selection.rows))
    values = ca.Function("gaps", [symbol], [ca.densify(gaps)]).map(len(q))(q.T).full()
    said: dict[frozenset[int], Any] = {}
    for (first, second), row in zip(selection.rows, values, strict=True):
        links = frozenset((first.link, second.link))
        said[links] = said.get(links, False) | (row < 0)
    return said


def contacts(model: pin.Model, geometry: pin.GeometryModel, q: Any) -> Any:
    """Whether meshes touch at configurations (rows), by pair of the geometry."""
    data, results = model.createData(), pin.GeometryData(geometry)
    touching = np.zeros((len(q), len(geometry.collisionPairs)), dtype=bool)
    for k, configuration in enumerate(q):
        pin.computeCollisions(model, data, geometry, results, configuration, False)
        touching[k] = [result.isCollision() for result in results.collisionResults]
    return touching


def measured(name: str, by_srdf: bool, count: int, **options: float) -> list[Any]:
    """A row of the table."""
    model, geometry, srdf = load(name)
    geometry.addAllCollisionPairs()
    if by_srdf:
        pin.removeCollisionPairs(model, geometry, str(srdf))
    begin = time.process_time()
    tree, selection = selected(model, geometry, by_srdf, **options)
    seconds = time.process_time() - begin
    q = configurations(tree, model.lowerPositionLimit, model.upperPositionLimit, count, seed=1)
    links = [-1, *tree.links]
    objects = geometry.geometryObjects
    of_pairs = [
        frozenset(links[objects[i].parentJoint] for i in (pair.first, pair.second)) for pair in geometry.collisionPairs
    ]
    said, touching = overlaps(tree, selection, q), contacts(model, geometry, q)
    # neighbours, and what touches always, tell nothing
    counted = [
        k
        for k, both in enumerate(of_pairs)
        if touching[:, k].mean() < 0.99 and (by_srdf or tree.joints[max(both)].parent != min(both))
    ]
    usual = {of_pairs[k] for k in counted}
    missed = np.any([touching[:, k] & ~said.get(of_pairs[k], np.zeros(count, dtype=bool)) for k in counted], axis=0)
    touch = touching[:, counted].any(axis=1)
    alarms = np.any([mask for both, mask in said.items() if both in usual], axis=0) & ~touch
    capsules = {(body.link, id(body.shape)) for row in selection.rows for body in row}
    outside = max(cover.outside for cover in selection.covers)
    rates = [f"{100 * mask.mean():.1f} %" for mask in (touch, alarms)]
    how = "SRDF" if by_srdf else "sampling"
    return [
        name,
        how,
        len(selection.rows),
        len(capsules),
        *rates,
        int(missed.sum()),
        f"{outside:.0e} m",
        f"{seconds:.0f}",
    ]


def table(names: list[str], count: int) -> Iterator[list[Any]]:
    for name in names:
        for by_srdf in (True, False):
            row = measured(name, by_srdf, count)
            print(*row, sep=" | ", flush=True)
            yield row


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--count", type=int, default=10_000, help="of configurations")
    arguments = parser.parse_args()
    rows = list(table(arguments.robots, arguments.count))
    if arguments.robots == list(ROBOTS) and arguments.count == parser.get_default("count"):
        (RESULTS / "distance_covers.md").write_text("\n".join(markdown(HEAD, rows)) + "\n", encoding="utf-8")
