"""External wrenches in the recursion: a link needs so much less from its joint (ours).

A wrench that acts on a link at a frame stands in link axes, about the link's origin, and enters the inward sums with
the sign opposite to that of what the motion of the link demands. A LOCAL one is placed there by a constant, and a
LOCAL_WORLD_ALIGNED one is turned outward from the universe. A WORLD one, whose lever would be shifted outward only to
be shifted inward again, gives each joint on its way its part Sᵀ w.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.links import Link
from gdalembert.dynamics.newton_euler.rotations import Rotation
from gdalembert.dynamics.wrenches import NO_WRENCHES, ExternalWrenches
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench


class Aligned(NamedTuple):
    """A wrench that keeps its direction, and the point that it acts at, seen from the origin of a link."""

    lever: Matrix
    wrench: Wrench

    def turned(self, r: Rotation) -> Aligned:
        """The same in other axes, R x for x."""
        return Aligned(r @ self.lever, self.wrench.turned(r))

    def carried(self, e: Motion) -> Matrix:
        """δx × f of columns e of the joint that moves the point by δx."""
        moved = e.linear - spatial.skew(self.lever) @ e.angular
        return -spatial.skew(self.wrench.force) @ moved


@dataclass(frozen=True)
class Loads:
    """Wrenches (6 × n) at frames, as the recursion of a tree with these frames takes them in."""

    at: ExternalWrenches = field(default_factory=ExternalWrenches)
    wrenches: Matrix = field(default_factory=lambda: NO_WRENCHES)

    @staticmethod
    def of(at: ExternalWrenches, wrenches: Matrix) -> Loads:
        """Wrenches at frames; none if there are no columns."""
        return Loads(at, wrenches) if wrenches.shape[1] else UNLOADED

    def given_in(self, references: Collection[pin.ReferenceFrame]) -> Loads:
        """Those that are given in some references."""
        at, which = self.at.given_in(references)
        return Loads(at, self.wrenches[:, which])

    def on(self, tree: Tree, links: Sequence[Link]) -> list[Wrench]:
        """What acts on each link at its frames, in link axes about its origin, WORLD wrenches apart."""
        acting = [Wrench(ca.DM(3, 1), ca.DM(3, 1)) for _ in links]
        for frame, reference, wrench in self._on_links(tree):
            r, p = links[frame.joint].frame(frame)
            if reference == pin.LOCAL:
                acting[frame.joint] += wrench.to_parent(r, p)
            elif reference == pin.LOCAL_WORLD_ALIGNED:
                for i in tree.path(frame.joint):
                    wrench = wrench.turned(links[i].rotation.T)
                acting[frame.joint] += wrench.about(-p)
        return acting

    def aligned(self, tree: Tree, links: Sequence[Link]) -> list[list[Aligned]]:
        """The LOCAL_WORLD_ALIGNED wrenches that each joint bears, in joint axes."""
        borne: list[list[Aligned]] = [[] for _ in links]
        for frame, reference, wrench in self._on_links(tree):
            path = tree.path(frame.joint) if reference == pin.LOCAL_WORLD_ALIGNED else []
            _, lever = links[frame.joint].frame(frame)
            levers: dict[int, Matrix] = {}
            for i in reversed(path):
                levers[i] = links[i].turn @ lever
                lever = links[i].origin + links[i].fixed @ levers[i]
            for i in path:
                at_joint = wrench.turned(links[i].fixed.T)
                borne[i].append(Aligned(levers[i], at_joint))
                wrench = at_joint.turned(links[i].turn.T)
        return borne

    def world_torques(self, tree: Tree, links: Sequence[Link]) -> list[Matrix]:
        """Sᵀ w of the WORLD wrenches at each joint."""
        torques: list[Matrix] = [ca.DM(link.joint.type.nv, 1) for link in links]
        for frame, reference, wrench in self._on_links(tree):
            for i in tree.path(frame.joint) if reference == pin.WORLD else []:
                wrench = wrench.seen_from(*links[i].placement)
                torques[i] = torques[i] + links[i].torque(wrench)
        return torques

    def _on_links(self, tree: Tree) -> Iterator[tuple[Frame, pin.ReferenceFrame, Wrench]]:
        for frame, reference, w in self.at.at_frames(tree, self.wrenches):
            if frame.joint >= 0:
                yield frame, reference, Wrench(tree.unit * w[:3], w[3:])


UNLOADED = Loads()
