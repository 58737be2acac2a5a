"""The momentum of a flexible arm: the wrenches that its recursions leave at the base.

Its links and stations move as q does, so that, as of a rigid robot (:mod:`gdalembert.dynamics.centroidal`), the wrench
F(q, v, a) that all of them need without gravity is the rate of the momentum, and F(q, 0, v) the momentum. The columns
of its map are the wrenches that the composite body behind each joint needs for the joint's columns, and those that a
link and what it carries need for its modes. (Ours.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import casadi as ca

from gdalembert.dynamics.newton_euler.links import Link
from gdalembert.flexible.newton_euler.crba import composites, modal_columns
from gdalembert.flexible.newton_euler.deformed_arm import DeformedArm
from gdalembert.flexible.newton_euler.rnea import joint_wrenches
from gdalembert.flexible.tree import FlexibleTree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench


@dataclass(frozen=True, eq=False)
class MovingTree(FlexibleTree):
    """A flexible tree that knows its momentum; its stations turn by rotations."""

    @classmethod
    def of(cls, tree: FlexibleTree) -> MovingTree:
        """The same tree."""
        return cls(**{each.name: getattr(tree, each.name) for each in fields(tree)})

    def base_wrench(self, q: Matrix, v: Matrix, a: Matrix) -> Wrench:
        arm = DeformedArm.of(self, q)
        wrenches, _ = joint_wrenches(arm, *arm.demands(arm.motions(q, v, a, ca.DM(3, 1)), v, a))
        total = Wrench(ca.DM(3, 1), ca.DM(3, 1))
        for i, link in arm:
            if link.joint.parent < 0:
                total += wrenches[i].to_parent(*link.placement)
        return total

    def base_columns(self, q: Matrix) -> Wrench:
        columns: list[Matrix] = [ca.DM(6, 1)] * self.nv
        for link, wrench in _column_wrenches(DeformedArm.of(self, q)):
            block = link.rate * wrench.vector
            for k, column in enumerate(link.joint.columns):
                columns[column] = columns[column] + block[:, k]
        whole: Matrix = ca.horzcat(*columns)
        return Wrench(whole[:3, :], whole[3:, :])


def _column_wrenches(arm: DeformedArm) -> Iterator[tuple[Link, Wrench]]:
    """The wrenches that columns of joints, and modes at their first station, need, in the universe about its origin."""
    bodies, placed = composites(arm), {-1: (ca.DM.eye(3), ca.DM(3, 1))}
    for i, link in arm:
        above, p = placed[link.joint.parent]
        if i in arm.stations:
            station = arm.stations[i]
            placed[i] = above @ station.rotation, p + above @ station.origin
            continue
        r, p = (link.fixed.T @ above.T).T, p + above @ link.origin  # of the joint, before its turn
        placed[i] = (link.turn.T @ r.T).T, p
        yield link, bodies[i].turned(link.turn).wrench(link.columns).to_parent(r, p)
        if i in arm.bodies:
            _, wrench = modal_columns(arm, bodies, i)
            yield arm.links[arm.tree.first_station(i)], wrench.to_parent(*placed[i])
