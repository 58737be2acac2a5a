"""The Panda with its hand open, and the shelves, boxes and tables of MotionBenchMaker (Chamzas et al. 2022).

Links have one capsule each, the hand two, and each finger its box; the numbers of the problems are in ``scenes.json``.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import coal
import numpy as np
import pinocchio as pin

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.distances.covers import CoveredPart, smallest_capsule, surface_of
from gdalembert.spatial.arrays import Array

OPENING = 0.04
"""How far each finger is open [m]."""
_WIDER = 1e-3
"""By how much the capsule around a cylinder is wider than it [m]: its half-balls then stand out 7 mm less."""
_ACROSS = np.array([0.0, 0.0, 1.0])
"""The normal of the plane that cuts the hand in two capsules."""


class Panda(NamedTuple):
    """The arm with a hand that does not move.

    Attributes:
        model: of 7 joints. ``meshes``: of its links, with the pairs that its SRDF leaves.
        shapes: what is compared with obstacles: capsules, and for what is grasped the box of each finger, which is a
            geometry of its own, since boxes of one link would be covered by capsules.
        pairs: of capsules, for the pairs of links that the SRDF leaves.
    """

    model: pin.Model
    meshes: pin.GeometryModel
    shapes: tuple[pin.GeometryModel, ...]
    pairs: list[tuple[str, str]]


class Scene(NamedTuple):
    """A problem: two configurations (7 each) among obstacles, ``(kind, position, quaternion, sizes)`` each."""

    name: str
    start: Array
    goal: Array
    solids: dict[str, tuple[str, pin.SE3, Any]]

    @property
    def obstacles(self) -> dict[str, gd.Box | gd.Capsule]:
        """Boxes, and capsules around cylinders."""
        return {name: _obstacle(*solid) for name, solid in self.solids.items()}


@cache
def arm() -> tuple[pin.Model, pin.GeometryModel]:
    """The model, and the meshes of its links with the pairs that its SRDF leaves."""
    urdf = robots.path("panda")
    whole = pin.buildModelFromUrdf(str(urdf))
    packages = str(urdf).split("example-robot-data")[0]
    geometry = pin.buildGeomFromUrdf(whole, str(urdf), pin.GeometryType.COLLISION, package_dirs=[packages])
    fingers = [whole.getJointId(name) for name in whole.names if "finger" in name]
    q = pin.neutral(whole)
    for joint in fingers:
        q[whole.joints[joint].idx_q] = OPENING
    model, meshes = pin.buildReducedModel(whole, geometry, fingers, q)
    meshes.addAllCollisionPairs()
    pin.removeCollisionPairs(model, meshes, str(urdf.parents[1] / "srdf" / "panda.srdf"))
    return model, meshes


@cache
def panda() -> Panda:
    """The arm with the shapes of its links."""
    model, meshes = arm()
    shapes = _shapes(meshes)
    links = [
        {meshes.geometryObjects[i].name.rsplit("_", 1)[0] for i in (pair.first, pair.second)}
        for pair in meshes.collisionPairs
    ]
    names = [item.name for item in shapes[0].geometryObjects]
    pairs = [both for both in combinations(names, 2) if {name.split("_0")[0] for name in both} in links]
    return Panda(model, meshes, shapes, pairs)


def _shapes(meshes: pin.GeometryModel) -> tuple[pin.GeometryModel, ...]:
    shapes, boxes_alone = pin.GeometryModel(), []
    for item in meshes.geometryObjects:
        if "finger" in item.name:
            continue
        surface = surface_of(item)
        parts = [CoveredPart([surface])]
        if "hand" in item.name:
            middle = float(np.mean([surface.points[:, 2].min(), surface.points[:, 2].max()]))
            parts = [CoveredPart([surface.beyond(sign * _ACROSS, sign * middle)]) for sign in (1, -1)]
        for k, part in enumerate(parts):
            shapes.addGeometryObject(_capsule(f"{item.name}.{k}", item.parentJoint, part.capsule))
    for side in ("left", "right"):
        boxes = [item for item in meshes.geometryObjects if f"{side}finger" in item.name]
        joint, rotation = boxes[0].parentJoint, boxes[0].placement.rotation
        points = np.vstack([surface_of(box).points for box in boxes])
        along = points @ rotation
        middle, sizes = (along.max(axis=0) + along.min(axis=0)) / 2, np.ptp(along, axis=0)
        around = pin.GeometryObject(f"{side}finger", joint, pin.SE3(rotation, rotation @ middle), coal.Box(*sizes))
        boxes_alone.append(pin.GeometryModel())
        boxes_alone[-1].addGeometryObject(around)
        name = boxes[0].name.rsplit("_", 1)[0]
        shapes.addGeometryObject(_capsule(f"{name}_0.0", joint, smallest_capsule(points)))
    return shapes, *boxes_alone


def _capsule(name: str, joint: int, capsule: gd.Capsule) -> pin.GeometryObject:
    way = capsule.b - capsule.a
    length = float(np.linalg.norm(way))
    turned = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), way / length).toRotationMatrix()
    place = pin.SE3(turned, (capsule.a + capsule.b) / 2)
    return pin.GeometryObject(name, joint, place, coal.Capsule(capsule.radius, length))


def scenes() -> list[Scene]:
    """All problems."""
    text = (Path(__file__).parent / "scenes.json").read_text(encoding="utf-8")
    found = []
    for problem in json.loads(text)["problems"]:
        solids = {}
        for k, (kind, position, quaternion, sizes) in enumerate(problem["obstacles"], start=1):
            place = pin.SE3(pin.Quaternion(np.array(quaternion)).toRotationMatrix(), np.array(position))
            solids[f"{kind} {k}"] = (kind, place, sizes)
        found.append(Scene(problem["name"], np.array(problem["start"]), np.array(problem["goal"]), solids))
    return found


def _obstacle(kind: str, place: pin.SE3, sizes: Any) -> gd.Box | gd.Capsule:
    if kind == "box":
        return gd.Box(place, np.array(sizes) / 2)
    height, radius = sizes
    reach = height / 2 - np.sqrt((2 * radius + _WIDER) * _WIDER)
    along = reach * place.rotation[:, 2]
    return gd.Capsule(place.translation - along, place.translation + along, radius + _WIDER)


class Meshes:
    """The collision meshes of the robot among the obstacles of a scene, by coal."""

    def __init__(self, scene: Scene) -> None:
        self._model, meshes = arm()
        self.geometry = meshes.copy()
        links = len(self.geometry.geometryObjects)
        for name, (kind, place, sizes) in scene.solids.items():
            solid = coal.Box(*sizes) if kind == "box" else coal.Cylinder(sizes[1], sizes[0])
            self.geometry.addGeometryObject(pin.GeometryObject(name, 0, place, solid))
        for link in range(links):
            for solid in range(links, len(self.geometry.geometryObjects)):
                if self.geometry.geometryObjects[link].parentJoint:
                    self.geometry.addCollisionPair(pin.CollisionPair(link, solid))
        self._data, self._geometry_data = self._model.createData(), pin.GeometryData(self.geometry)

    def names(self, k: int) -> tuple[str, str]:
        pair = self.geometry.collisionPairs[k]
        first, second = (self.geometry.geometryObjects[i].name for i in (pair.first, pair.second))
        return first, second

    def gaps(self, q: Array) -> dict[tuple[str, str], float]:
        """The distance of each pair [m]."""
        pin.computeDistances(self._model, self._data, self.geometry, self._geometry_data, q)
        distances = [result.min_distance for result in self._geometry_data.distanceResults]
        return {self.names(k): distance for k, distance in enumerate(distances)}

    def collisions(self, motion: Array) -> list[tuple[int, tuple[str, str]]]:
        """The rows of a motion (n × 7) in which a pair collides, and the first such pair of each."""
        found = []
        for row, q in enumerate(motion):
            if pin.computeCollisions(self._model, self._data, self.geometry, self._geometry_data, q, True):
                results = self._geometry_data.collisionResults
                found.append((row, self.names(next(k for k, one in enumerate(results) if one.isCollision()))))
        return found
