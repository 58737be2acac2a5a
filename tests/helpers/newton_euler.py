"""Trees of joints of many types, and where their links are."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pinocchio as pin

from benchmarks.common import robots
from gdalembert.dynamics.newton_euler.links import Link
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.regrouping import prepare
from gdalembert.model.tree import Tree
from tests.helpers.models import JOINTS, build

Array = np.ndarray


def everything(seed: int, *, free: bool, mimic: bool = False) -> pin.Model:
    """A tree of joints of many types, most of them revolute, with parallel and antiparallel axes among them."""
    rng = np.random.default_rng(seed)
    names = [*(["FreeFlyer"] if free else ["RevoluteUnaligned"]), "RX", "RX", "RZ", "PZ", "RZ", "HX", "RX", "Spherical"]
    model = build(rng, names, [0, 1, 2, 3, 4, 5, 1, 7, 2], mimic=3 if mimic else None)
    for k, turn in ((3, (0.4, 0, 0)), (5, (0, 0, 0)), (6, (0, np.pi, 0)), (8, (0.2, 0, 0))):
        model.jointPlacements[k] = pin.SE3(pin.rpy.rpyToMatrix(*map(float, turn)), model.jointPlacements[k].translation)
    return model


def legs() -> pin.Model:
    """Legs of parallel joints under a free base: links that keep the axes of their joints."""
    return robots.load("solo12")


MODELS: dict[str, Callable[[], pin.Model]] = {
    "fixed": lambda: everything(1, free=False),
    "free": lambda: everything(2, free=True),
    "mimic": lambda: everything(3, free=False, mimic=True),
    "ur5": lambda: robots.load("ur5"),
    "legs": legs,
    "all": lambda: build(np.random.default_rng(4), sorted(JOINTS), [0, *(k // 2 for k in range(1, len(JOINTS)))]),
}


def matrix(rotation: object) -> Array:
    return (rotation @ ca.DM.eye(3)).full()


def composed(links: list[Link]) -> list[tuple[Array, Array]]:
    """R and p of each link, in the universe frame."""
    placed: list[tuple[Array, Array]] = []
    for link in links:
        r, p = (np.eye(3), np.zeros(3)) if link.joint.parent < 0 else placed[link.joint.parent]
        placed.append((r @ matrix(link.rotation), p + r @ ca.DM(link.origin).full().ravel()))
    return placed


def prepared(model: pin.Model) -> Tree:
    return prepare(read_tree(model))
