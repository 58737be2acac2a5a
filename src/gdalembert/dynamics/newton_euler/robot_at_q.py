"""A robot at q: the placements, motions and inertial forces of its links and stations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.deformed_inertia import DeformedLink, deformed
from gdalembert.dynamics.newton_euler.links import (
    Link,
    LinkMotion,
    Motions,
    Placing,
    base_motion,
    demanded_wrench,
    moved,
    place,
    spin_of,
)
from gdalembert.dynamics.newton_euler.rotations import NO_TURN, Full
from gdalembert.dynamics.newton_euler.strained_segment import StrainedSegment, StrainedStation
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.joints.strain_segment import SegmentAtQ, StrainStation
from gdalembert.model.segment_inertia import SegmentInertia
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench


@dataclass(frozen=True)
class DeflectedStation:
    """A station at modal coordinates f, in link axes."""

    deflection: Deflection
    f: Matrix
    rotation: Matrix  # R_E
    origin: Matrix  # p
    linear: Matrix  # ∂p/∂f, 3 × n
    turning: Matrix  # J_l B, 3 × m, in link axes

    @staticmethod
    def of(deflection: Deflection, f: Matrix) -> DeflectedStation:
        """From a deflection and the modal coordinates."""
        rotation, origin = deflection.placement(f)
        still = ca.DM(deflection.nv, 1)
        turning, *_ = deflection.turning(f, still, still)
        return DeflectedStation(deflection, f, rotation, origin, deflection.displacement(f), turning)

    @property
    def columns(self) -> Motion:
        """The motions of the station per unit of each modal rate, in link axes."""
        return Motion(self.linear, self.turning @ self.turns)

    @property
    def turns(self) -> Matrix:
        """Θ_B: the turns about m axes in each mode (m × n)."""
        return spatial.constant(self.deflection.turns[1])

    @property
    def translations_and_turns(self) -> tuple[Motion, Matrix]:
        """Columns of n translations and m turns, in link axes, and the weights of these in each mode (n + m × n)."""
        m, n = self.turns.shape
        columns = Motion(ca.horzcat(self.linear, ca.DM(3, m)), ca.horzcat(ca.DM(3, n), self.turning))
        return columns, ca.vertcat(ca.DM.eye(n), self.turns)

    def work(self, wrench: Wrench) -> Matrix:
        """The modal forces of wrenches in link axes, about the station."""
        return self.linear.T @ wrench.force + self.turns.T @ (self.turning.T @ wrench.moment)

    def modal_forces(self, wrench: Wrench) -> Matrix:
        """(n) of a wrench on the station, in station axes."""
        force = self.rotation @ wrench.force
        return self.deflection.modal_forces(self.f, wrench.moment) + self.linear.T @ force

    def motion(self, link: LinkMotion, v: Matrix, a: Matrix) -> LinkMotion:
        """The motion of the station from that of its link, with modal rates v and accelerations a."""
        r = self.rotation
        carried, relative = r.T @ link.omega, self.deflection.angular_velocity(self.f, v)
        omega = carried + relative
        alpha = r.T @ link.alpha + ca.cross(carried, relative) + self.deflection.angular_acceleration(self.f, v, a)
        velocity = r.T @ (link.velocity + ca.cross(link.omega, self.origin) + self.linear @ v)
        return LinkMotion(omega, alpha, spin_of(alpha, omega), velocity, r.T @ self.acceleration(link, v, a))

    def acceleration(self, link: LinkMotion, v: Matrix, a: Matrix) -> Matrix:
        """That of the origin, in link axes."""
        carried = link.acceleration + link.spin @ self.origin + 2 * ca.cross(link.omega, self.linear @ v)
        return carried + (self.linear @ a + self.deflection.displacement_bias(v))

    def lever_rate(self, omega: Matrix, v: Matrix, times: float = 1) -> Matrix:
        """The velocity of the origin against that of the link, so many times, in link axes."""
        return ca.cross(times * omega, self.origin) + times * (self.linear @ v)

    def force_stiffness(self, wrench: Wrench) -> Matrix:
        """∂/∂f of the modal forces of a force in link axes and a moment in station axes that keep them (n × n)."""
        return self.deflection.force_stiffness(self.f, wrench.force, wrench.moment)


Station: TypeAlias = DeflectedStation | StrainedStation
Body: TypeAlias = DeformedLink | StrainedSegment


@dataclass(frozen=True)
class RobotAtQ:
    """The robot at q; links and stations by their index in the tree."""

    tree: Tree
    links: list[Link]
    bodies: dict[int, Body]  # of flexible links, and of stations that carry a strain segment
    stations: dict[int, Station]

    @staticmethod
    def of(tree: Tree, q: Matrix, placed: Placing = place) -> RobotAtQ:
        """The robot at q."""
        stations = {i: _station(joint, q) for i, joint in enumerate(tree.joints) if joint.type.is_modal}
        bodies: dict[int, Body] = {}
        for i, modal in tree.modal.items():
            body, f = tree.joints[i].pseudo_inertia, tree.joints[tree.first_station(i)].configuration(q)
            if isinstance(modal, SegmentInertia):
                bodies[i] = StrainedSegment.of(modal, body, f)
            else:
                bodies[i] = deformed(body, modal, f)
        return RobotAtQ(tree, placed(tree, q), bodies, stations)

    def __iter__(self) -> Iterator[tuple[int, Link]]:
        """From the base to the tips."""
        return iter(enumerate(self.links))

    def inward(self) -> Iterator[tuple[int, Link]]:
        """From the tips to the base."""
        return reversed(list(enumerate(self.links)))

    @cached_property
    def upright(self) -> list[Link]:
        """The links and stations in axes that do not turn at stations, where composite bodies are summed.

        A station has the axes of its link, and what it carries is turned into them at once, by one rotation.
        """
        return [self._upright(i, link) for i, link in self]

    def _upright(self, i: int, link: Link) -> Link:
        if (station := self.stations.get(i)) is not None:
            r = Full(station.rotation)
            body = {"first": r @ link.first, "second": r.conjugate(link.second)}
            return replace(link, turn=NO_TURN, fixed=NO_TURN, origin=station.origin, **body)
        if (station := self.stations.get(link.joint.parent)) is not None:
            rotation = Full(station.rotation @ (link.rotation @ ca.DM.eye(3)))
            return replace(link, turn=NO_TURN, fixed=rotation, origin=station.rotation @ link.origin)
        return link

    @property
    def inertias(self) -> list[Link | Body]:
        """What has m, h and J of each link and station, deformed at q."""
        return [self.bodies.get(i, link) for i, link in self]

    def motions(self, q: Matrix, v: Matrix, a: Matrix, base_acceleration: Matrix) -> Motions:
        """The motions of all links and stations, outward."""
        motions = {-1: base_motion(base_acceleration)}
        for i, link in self:
            parent, joint = motions[link.joint.parent], link.joint
            if i in self.stations:
                motions[i] = self.stations[i].motion(parent, joint.velocity(v), joint.velocity(a))
            else:
                motions[i] = moved(link, parent, q, v, a)
        return motions

    @property
    def segments(self) -> dict[int, StrainedSegment]:
        """The strain segments, by the link or station that carries their root."""
        return {i: body for i, body in self.bodies.items() if isinstance(body, StrainedSegment)}

    def modal_velocity(self, i: int, v: Matrix) -> Matrix:
        """The part of v (or of a) that belongs to the modes of link i."""
        return self.links[self.tree.first_station(i)].joint.velocity(v)

    def demands(
        self, motions: Motions, v: Matrix, a: Matrix, *, segments: bool = True
    ) -> tuple[list[Wrench], list[Matrix]]:
        """The wrench that its motion demands of each link and station alone, and the modal forces at first stations.

        Those of strain segments can be left out.
        """
        wrenches: list[Wrench] = []
        torques: list[Matrix] = [ca.DM(link.joint.type.nv, 1) for _, link in self]
        for i, link in self:
            if (body := self.bodies.get(i)) is None:
                wrenches.append(demanded_wrench(link, motions[i]))
            elif segments or isinstance(body, DeformedLink):
                wrench, torques[self.tree.first_station(i)] = body.demanded(
                    motions[i], self.modal_velocity(i, v), self.modal_velocity(i, a)
                )
                wrenches.append(wrench)
            else:
                wrenches.append(Wrench(ca.DM(3, 1), ca.DM(3, 1)))
        return wrenches, torques


def _station(joint: Joint, q: Matrix) -> Station:
    f = joint.configuration(q)
    if isinstance(joint.type, StrainStation):
        return StrainedStation(joint.type, SegmentAtQ(joint.type.segment, f))
    if isinstance(joint.type, Deflection):
        return DeflectedStation.of(joint.type, f)
    raise TypeError(joint.type)
