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
from gdalembert.distances.sampling import configurations
from gdalembert.distances.selection import ChosenPairs, Item, select
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
HEAD = (
    *("robot", "pairs by", "rows", "capsules", "meshes touch", "false alarms", "missed", "always overlapping"),
    *("a corner outside", "seconds"),
)
ALWAYS, COUNT = 0.99, 10_000
TEXT = f"""# Covers of meshes by capsules

In {COUNT:,} configurations at random within the limits, of another seed than those of the choice, against coal:
`python -m benchmarks.distances.covers`, `--robots` for some. *Missed* are configurations in which objects of a pair
touch and its covers do not; *always overlapping*, pairs whose covers overlap in 99 % of the configurations in which
their objects do not touch; those *told* are named by the `DistanceWarning`, and count only here and as missed, since
they are to be left out; sampling leaves them out, so that their contacts are missed. Pairs whose objects touch in 99 %
count nowhere. Seconds are those of the choice.
"""
Pair = tuple[int, int]


def load(name: str) -> tuple[pin.Model, pin.GeometryModel, Path]:
    """The model of a robot, its collision geometry, and its SRDF."""
    urdf, srdf, locked, is_free = ROBOTS[name]
    share = Path(str(metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    folder = share / "example-robot-data" / "robots"
    path = str(folder / urdf)
    model = pin.buildModelFromUrdf(path, *([pin.JointModelFreeFlyer()] if is_free else []))
    geometry = pin.buildGeomFromUrdf(model, path, pin.GeometryType.COLLISION, package_dirs=[str(share)])
    if locked:
        joints = [model.getJointId(joint) for joint in model.names if locked in joint]
        model, geometry = pin.buildReducedModel(model, geometry, joints, pin.neutral(model))
    return model, geometry, folder / srdf


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
    """Whether objects touch at configurations (rows), by pair of the geometry, where balls around them overlap."""
    data, results = model.createData(), pin.GeometryData(geometry)
    solids = [item.geometry for item in geometry.geometryObjects]
    for solid in solids:
        solid.computeLocalAABB()
    first, second = np.array([(pair.first, pair.second) for pair in geometry.collisionPairs]).T
    radii = np.array([solid.aabb_radius for solid in solids])
    reach = radii[first] + radii[second]
    touching = np.zeros((len(q), len(first)), dtype=bool)
    for k, configuration in enumerate(q):
        pin.updateGeometryPlacements(model, data, geometry, results, configuration)
        centres = np.array([place.act(solid.aabb_center) for place, solid in zip(results.oMg, solids, strict=True)])
        for pair in np.flatnonzero(np.linalg.norm(centres[first] - centres[second], axis=1) <= reach):
            touching[k, pair] = pin.computeCollision(geometry, results, int(pair))
    return touching


def pairs_of(model: pin.Model, tree: Tree, geometry: pin.GeometryModel, srdf: Path) -> tuple[list[Pair], list[Pair]]:
    """Pairs of objects that an SRDF leaves, and all of different links that are no neighbours."""
    links = [-1, *tree.links]
    geometry.addAllCollisionPairs()
    every = [(pair.first, pair.second) for pair in geometry.collisionPairs]
    pin.removeCollisionPairs(model, geometry, str(srdf))
    by_srdf = [(pair.first, pair.second) for pair in geometry.collisionPairs]
    of = [links[item.parentJoint] for item in geometry.geometryObjects]
    return by_srdf, [(i, k) for i, k in every if tree.joints[max(of[i], of[k])].parent != min(of[i], of[k])]


def measured(name: str, count: int, **options: Any) -> Iterator[list[Any]]:
    """The rows of a robot in the table: by its SRDF, and by sampling."""
    model, geometry, srdf = load(name)
    tree = read_tree(model)
    links = [-1, *tree.links]
    chosen = pairs_of(model, tree, geometry, srdf)
    geometry.removeAllCollisionPairs()
    every = sorted({*chosen[0], *chosen[1]})
    for pair in every:
        geometry.addCollisionPair(pin.CollisionPair(*pair))
    q = configurations(tree, model.lowerPositionLimit, model.upperPositionLimit, count, seed=1)
    touching = dict(zip(every, contacts(model, geometry, q).T, strict=True))
    items = [Item(o.name, links[o.parentJoint], o) for o in geometry.geometryObjects]
    limits: dict[str, Any] = {"lower": model.lowerPositionLimit, "upper": model.upperPositionLimit}
    for how, pairs in zip(("SRDF", "sampling"), chosen, strict=True):
        begin = time.process_time()
        selection = select(tree, items, pairs if how == "SRDF" else None, **limits, **options)
        seconds = time.process_time() - begin
        said = overlaps(tree, selection, q)
        by_links: dict[frozenset[int], Any] = {}
        for i, k in pairs:
            if touching[i, k].mean() < ALWAYS:  # what touches always tells nothing
                both = frozenset((items[i].link, items[k].link))
                by_links[both] = by_links.get(both, False) | touching[i, k]
        none = np.zeros(count, dtype=bool)
        by_name = {item.name: item.link for item in items}
        told = {frozenset(by_name[name.split(" and ")[0]] for name in both) for both in selection.inseparable}
        missed = np.any([none, *(mask & ~said.get(both, none) for both, mask in by_links.items())], axis=0)
        by_links = {both: mask for both, mask in by_links.items() if both not in told}
        touch = np.any([none, *by_links.values()], axis=0)
        alarms = np.any([none, *(mask for both, mask in said.items() if both in by_links)], axis=0) & ~touch
        stuck = sum(said[both][~mask].mean() > ALWAYS for both, mask in by_links.items() if both in said)
        yield [
            name,
            how,
            len(selection.rows),
            len({(body.link, id(body.shape)) for row in selection.rows for body in row}),
            *(f"{100 * mask.mean():.1f} %" for mask in (touch, alarms)),
            int(missed.sum()),
            f"{stuck}, {len(told)} told" if told else stuck,
            f"{max(cover.outside for cover in selection.covers):.0e} m",
            f"{seconds:.0f}",
        ]


def table(names: list[str], count: int) -> Iterator[list[Any]]:
    for name in names:
        for row in measured(name, count):
            print(*row, sep=" | ", flush=True)
            yield row


def recorded(page: Path, rows: list[list[Any]]) -> list[list[Any]]:
    """Rows beside those of other robots on a page, in the order of :data:`ROBOTS`."""
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    known = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")][1:]
    new = {row[0] for row in rows}
    every = [*rows, *(row for row in known if row[0] in ROBOTS and row[0] not in new)]
    return sorted(every, key=lambda row: list(ROBOTS).index(row[0]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    parser.add_argument("--count", type=int, default=COUNT, help="of configurations")
    arguments = parser.parse_args()
    rows = list(table(arguments.robots, arguments.count))
    if arguments.count == COUNT:  # of some robots, which takes minutes each, beside the others of the page
        page = RESULTS / "distance_covers.md"
        page.write_text("\n".join([TEXT, *markdown(HEAD, recorded(page, rows))]) + "\n", encoding="utf-8")
