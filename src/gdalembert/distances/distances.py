"""Distances: gaps between the links of a robot, and between them and obstacles, as graphs of q."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca

from gdalembert.distances.closest import Closest, closest
from gdalembert.distances.placed import Body, RobotWithShapes
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.spatial.functions import function


class Distances:
    def __init__(self, kinematics: Kinematics, bodies: Sequence[Body], pairs: Sequence[tuple[int, int]]) -> None:
        self.kinematics, self.bodies, self._pairs = kinematics, bodies, pairs
        self.tree = kinematics.tree

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return [(self.bodies[i].name, self.bodies[k].name) for i, k in self._pairs]

    @cached_property
    def _inputs(self) -> dict[str, ca.SX]:
        count = sum(sum(body.shape.sizes.values()) for body in self.bodies if isinstance(body.shape, type))
        named = self.kinematics.symbols("q")
        return (
            {"q": named["q"]}
            | ({"obstacles": ca.SX.sym("obstacles", count)} if count else {})
            | {k: x for k, x in named.items() if k != "q"}
        )

    @cached_property
    def _closest(self) -> tuple[RobotWithShapes, list[Closest]]:
        s = self._inputs
        robot, first, placed = RobotWithShapes(self.tree, s["q"]), 0, []
        used = {i for pair in self._pairs for i in pair}
        for i, body in enumerate(self.bodies):
            numbers = None
            if isinstance(body.shape, type):
                size = sum(body.shape.sizes.values())
                numbers, first = s["obstacles"][first : first + size], first + size
            placed.append(robot.placed(body, numbers) if i in used else None)
        return robot, [closest(placed[i], placed[k]) for i, k in self._pairs]

    @cached_property
    def distance(self) -> ca.Function:
        gaps = [c.gap for c in self._closest[1]]
        return function("distance", self._inputs, {"d": ca.vertcat(*gaps)})

    @cached_property
    def derivatives(self) -> ca.Function:
        robot, found = self._closest
        return function(
            "distance_derivatives",
            self._inputs,
            {"d": ca.vertcat(*(c.gap for c in found)), "dd_dq": ca.vertcat(*(robot.slopes(c) for c in found))},
        )
