"""A robot at q: its elements, the motions of its stations, and what these need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca

from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.assumed_modes import ModesAtQ
from gdalembert.dynamics.newton_euler.composite import MASSLESS, Composite
from gdalembert.dynamics.newton_euler.elements import ElementAtQ, Station
from gdalembert.dynamics.newton_euler.joint_at_q import JointAtQ
from gdalembert.dynamics.newton_euler.links import NO_TURN, Link, LinkMotion, Motions, Placing, Rotation, place, spin_of
from gdalembert.dynamics.newton_euler.strained_segment import StrainAtQ
from gdalembert.model.modal_inertia import ModalInertia, SegmentInertia
from gdalembert.model.tree import Element, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench

_NULL = ca.DM(3, 1)

DEFORMING: dict[type, Callable[[Element, Tree, Matrix], ElementAtQ]] = {
    ModalInertia: ModesAtQ.of,
    SegmentInertia: StrainAtQ.of,
}
"""Elements with mass of their own, by the type of their inertia."""


@dataclass(frozen=True)
class RobotAtQ:
    """The robot at q; links and sections are stations, by their index in the tree, −1 is the universe.

    Attributes:
        links: of all stations, also sections: where they are, against the stations that carry them.
        elements: from the base to the tips.
        rigid: the inertia of what is fixed to each station, but for what an element takes over.
    """

    tree: Tree
    links: list[Link]
    elements: list[ElementAtQ]
    rigid: dict[int, Composite]

    @staticmethod
    def of(tree: Tree, q: Matrix, placed: Placing = place) -> RobotAtQ:
        """The robot at q."""
        links, elements = placed(tree, q), list[ElementAtQ]()
        for element in tree.elements:
            if element.inertia is None:
                elements.append(JointAtQ(element, tree.joints[element.index], links[element.index]))
            else:
                elements.append(DEFORMING[type(element.inertia)](element, tree, q))
        rigid = {i: Composite(link.mass, link.first, link.second) for i, link in enumerate(links)}
        return RobotAtQ(tree, links, elements, rigid | dict.fromkeys([-1, *tree.modal], MASSLESS))

    def inward(self) -> Iterator[ElementAtQ]:
        """The elements from the tips to the base."""
        return reversed(self.elements)

    @cached_property
    def movers(self) -> dict[int, tuple[ElementAtQ, Station]]:
        """The element that moves each station, and the station in the frame of that element."""
        return {station.index: (element, station) for element in self.elements for station in element.stations}

    @cached_property
    def turns(self) -> dict[int, Rotation]:
        """The turn of each station from its axes into those that it has in the robot that is :attr:`upright`."""
        return self._upright[1]

    @cached_property
    def upright(self) -> RobotAtQ:
        """The robot whose sections have the axes of their links, in which sums over subtrees are smaller."""
        elements, turns = self._upright
        return replace(self, elements=elements, rigid={i: body.turned(turns[i]) for i, body in self.rigid.items()})

    @cached_property
    def _upright(self) -> tuple[list[ElementAtQ], dict[int, Rotation]]:
        turns: dict[int, Rotation] = {-1: NO_TURN}
        elements: list[ElementAtQ] = []
        for element in self.elements:
            upright, turns_of_stations = element.upright(turns[element.carrier])
            elements.append(upright)
            turns |= zip(element.element.stations, turns_of_stations, strict=True)
        return elements, turns

    @property
    def composites(self) -> dict[int, Composite]:
        """The composite body of the subtree of each station."""
        return self._composites[0]

    @property
    def subtrees(self) -> dict[int, Composite]:
        """The composite body of all that each element moves, and its own mass, in its frame."""
        return self._composites[1]

    @cached_property
    def _composites(self) -> tuple[dict[int, Composite], dict[int, Composite]]:
        bodies, subtrees = dict(self.rigid), dict[int, Composite]()
        for element in self.inward():
            subtree = element.body
            for station in element.stations:
                subtree += bodies[station.index].to_parent(station.turn, station.origin)
            subtrees[element.index] = subtree
            bodies[element.carrier] += subtree.to_parent(*element.frame)
        return bodies, subtrees

    def motions(self, v: Matrix, a: Matrix, base_acceleration: Matrix | None = None) -> Motions:
        """The motions of all stations, outward; gravity is an acceleration −g of the base."""
        pull = Gravity(self.tree).base_acceleration if base_acceleration is None else base_acceleration
        motions = {-1: LinkMotion(_NULL, _NULL, spin_of(_NULL, _NULL), _NULL, pull)}
        for element in self.elements:
            motions |= zip(element.element.stations, element.motions(motions[element.carrier], v, a), strict=True)
        return motions

    def demands(self, motions: Motions) -> dict[int, Wrench]:
        """The wrench that the motion of each station demands of what is fixed to it."""
        return {i: motions[i].demanded(*body) for i, body in self.rigid.items()}

    def vector(self, efforts: Mapping[int, Matrix]) -> Matrix:
        """nv numbers from those of each element, by its index."""
        return self.tree.vector([efforts.get(i, ca.DM(link.joint.type.nv, 1)) for i, link in enumerate(self.links)])
