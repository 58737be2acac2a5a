"""A robot at q: the placements, motions and inertial forces of its links and stations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.links import (
    NO_TURN,
    Full,
    Link,
    LinkMotion,
    Motions,
    Placing,
    moved,
    place,
    spin_of,
)
from gdalembert.dynamics.newton_euler.strained_segment import StrainedSegment, StrainedStation, Straining
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.joints.strain_segment import SegmentAtQ, StrainStation
from gdalembert.model.modal_inertia import ModalInertia, SegmentInertia
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class DeformedLink:
    """The inertia of a flexible link at modal coordinates f, about the link origin: integrals (CB20, CB21)."""

    modal: ModalInertia
    mass: Matrix
    first: Matrix  # c = ∫ h
    second: Matrix  # Σ = ∫ h hᵀ
    fields: list[Matrix]  # N_r = ∫ ĥ φ̂_rᵀ of each mode, 4 × 4

    @staticmethod
    def of(modal: ModalInertia, body: Array, f: Matrix) -> DeformedLink:
        """At modal coordinates f, from the undeformed pseudo-inertia (4 × 4)."""
        first = [spatial.constant(x) for x in modal.first]
        fields = [x + weighted([spatial.constant(y) for y in modal.second[:, r]], f) for r, x in enumerate(first)]
        half = weighted([x + y for x, y in zip(first, fields, strict=True)], f / 2)
        whole = spatial.constant(body) + half + half.T
        return DeformedLink(modal, whole[3, 3], whole[:3, 3], whole[:3, :3], fields)

    @property
    def own(self) -> Matrix:
        """M_ff, entries tr C_jk."""
        return spatial.constant(np.trace(self.modal.second, axis1=2, axis2=3))

    @property
    def columns(self) -> Wrench:
        """The wrench at the joint of the link per unit of modal acceleration: P, and ∫ h × φ_r of each mode."""
        force = _side_by_side(x[3, :3].T for x in self.fields)
        return Wrench(force, _side_by_side(crossed(x[:3, :3]) for x in self.fields))

    def rates(self, omega: Matrix, v: Matrix, times: float = 1) -> tuple[Matrix, Matrix]:
        """∫ ḣ (3) and ∫ ḣ hᵀ (3 × 3), so many times, where the link turns with ω and the modes have the rates v."""
        omega, bending = times * omega, weighted(self.fields, times * v)
        first = ca.cross(omega, self.first) + bending[3, :3].T
        return first, spatial.skew(omega) @ self.second + bending[:3, :3].T

    def demanded(self, motion: LinkMotion, v: Matrix, a: Matrix) -> tuple[Wrench, Matrix]:
        """The wrench at its joint that the motion of the link demands, and the modal forces g."""
        n_rate, n_second_rate = weighted(self.fields, v), weighted(self.fields, a)
        phi = 2 * spatial.skew(motion.omega) @ n_rate[:3, :3].T + n_second_rate[:3, :3].T
        bending = 2 * ca.cross(motion.omega, n_rate[3, :3].T) + n_second_rate[3, :3].T
        wrench = motion.demanded(self.mass, self.first, self.second) + Wrench(bending, crossed(phi.T))
        forces = []
        for r, n in enumerate(self.fields):  # tr(U N_r) + P_r·ẍ + 2 ω·Σ_k ḟ_k ∫ φ_k × φ_r
            coupled = crossed(weighted([spatial.constant(x) for x in self.modal.second[:, r]], v))
            carried = ca.trace(motion.spin @ n[:3, :3]) + ca.dot(n[3, :3].T, motion.acceleration)
            forces.append(carried + 2 * ca.dot(motion.omega, coupled))
        return wrench, ca.vertcat(*forces) + self.own @ a


@dataclass(frozen=True)
class Bending:
    """The modes of a link's own body in motion, whose points stand at h and are displaced by φ_j, in link axes."""

    body: DeformedLink
    motion: LinkMotion
    v: Matrix  # the rates of its modes
    a: Matrix  # the second rates of its modes

    @property
    def columns(self) -> Wrench:
        """The wrench at the joint of the link per unit of each second rate."""
        return self.body.columns

    @property
    def _fields(self) -> list[Matrix]:
        """∫ h φ_jᵀ."""
        return [n[:3, :3] for n in self.body.fields]

    def _with_rates(self, j: int, rates: Matrix) -> Matrix:
        """∫ φ_j ḣᵀ with rates of the modes."""
        return weighted([spatial.constant(x) for x in self.body.modal.second[j]], rates)[:3, :3]

    def eta(self, times: float = 1) -> Matrix:
        """η (3 × n) of the columns, with so many times the velocities."""
        turning, v = spatial.skew(times * self.motion.omega), times * self.v
        return _side_by_side(crossed(turning @ n + self._with_rates(j, v).T) for j, n in enumerate(self._fields))

    def rates(self, times: float = 1) -> Wrench:
        """The wrenches of e′ (3 × n each), with so many times the velocities."""
        turning = spatial.skew(times * self.motion.omega)
        return Wrench(turning @ self.columns.force, _side_by_side(crossed(n @ turning.T) for n in self._fields))

    def second_rates(self) -> Wrench:
        """The wrenches of e″, with what displaced points need already (3 × n each)."""
        turning, spin, point = spatial.skew(self.motion.omega), self.motion.spin, self.motion.acceleration
        shifts = self.columns.force

        def moment(j: int, n: Matrix) -> Matrix:
            relative = self._with_rates(j, 2 * self.v) @ turning.T + self._with_rates(j, self.a)
            return spin.moment(n + n.T) + ca.cross(shifts[:, j], point) + crossed(relative)

        return Wrench(spin @ shifts, _side_by_side(moment(j, n) for j, n in enumerate(self._fields)))

    def by_f(self, borne: Sequence[tuple[Any, Wrench]]) -> Matrix:
        """∂/∂f of the modal forces (n × n), tr(U C_jr), with those of the forces and moments that stations bear.

        Such forces are in link axes and keep their direction there; moments are in station axes and turn with them.
        """
        own = self._of_pairs(lambda c: ca.trace(self.motion.spin @ c))
        return sum((station.force_stiffness(wrench) for station, wrench in borne), own)

    def by_v(self, times: float = 1) -> Matrix:
        """∫ φ_r·(ω × φ_j), so many times (n × n)."""
        return self._of_pairs(lambda c: ca.dot(times * self.motion.omega, crossed(c)))

    def _of_pairs(self, value: Callable[[Matrix], Matrix]) -> Matrix:
        """A value of each ∫ φ_j φ_rᵀ (rows r)."""
        second = self.body.modal.second[:, :, :3, :3]
        modes = range(self.body.modal.modes)
        return spatial.rows(*([value(spatial.constant(second[j, r])) for j in modes] for r in modes))


def weighted(matrices: Sequence[Matrix], weights: Matrix) -> Matrix:
    """Σ_k matrices_k weights_k, 4 × 4."""
    total: Matrix = ca.DM(4, 4)
    for k, matrix in enumerate(matrices):
        total = total + matrix * weights[k]
    return total


def crossed(n: Matrix) -> Matrix:
    """∫ h × φ of N = ∫ h φᵀ."""
    return ca.vertcat(n[1, 2] - n[2, 1], n[2, 0] - n[0, 2], n[0, 1] - n[1, 0])


def _side_by_side(columns: Iterable[Matrix]) -> Matrix:
    """3 × n."""
    return ca.horzcat(ca.DM(3, 0), *columns)


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
        """Acceleration of the origin, in link axes."""
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
        stations: dict[int, Station] = {}
        for i, joint in enumerate(tree.joints):
            if isinstance(own := joint.type, StrainStation):
                stations[i] = StrainedStation(own, SegmentAtQ(own.segment, joint.configuration(q)))
            elif isinstance(own, Deflection):
                stations[i] = DeflectedStation.of(own, joint.configuration(q))
        bodies: dict[int, Body] = {}
        for i, modal in tree.modal.items():
            body, f = tree.joints[i].pseudo_inertia, tree.joints[tree.first_station(i)].configuration(q)
            if isinstance(modal, SegmentInertia):
                bodies[i] = StrainedSegment.of(modal, body, f)
            else:
                bodies[i] = DeformedLink.of(modal, body, f)
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
        links: list[Link] = []
        for i, link in self:
            if (station := self.stations.get(i)) is not None:
                r = Full(station.rotation)
                body = {"first": r @ link.first, "second": r.conjugate(link.second)}
                link = replace(link, turn=NO_TURN, fixed=NO_TURN, origin=station.origin, **body)
            elif (station := self.stations.get(link.joint.parent)) is not None:
                rotation = Full(station.rotation @ (link.rotation @ ca.DM.eye(3)))
                link = replace(link, turn=NO_TURN, fixed=rotation, origin=station.rotation @ link.origin)
            links.append(link)
        return links

    @property
    def inertias(self) -> list[Link | Body]:
        """What has m, h and J of each link and station, deformed at q."""
        return [self.bodies.get(i, link) for i, link in self]

    def motions(self, q: Matrix, v: Matrix, a: Matrix, base_acceleration: Matrix | None = None) -> Motions:
        """The motions of all links and stations, outward; gravity is an acceleration −g of the base."""
        pull = Gravity(self.tree).base_acceleration if base_acceleration is None else base_acceleration
        motions = {-1: LinkMotion(_NULL, _NULL, spin_of(_NULL, _NULL), _NULL, pull)}
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

    def modes_in_motion(self, i: int, motion: LinkMotion, v: Matrix, a: Matrix) -> Bending | Straining:
        """The modes or the strain segment of link i, from its motion, their rates and the rates of these."""
        body = self.bodies[i]
        return Straining(body, motion, v, a) if isinstance(body, StrainedSegment) else Bending(body, motion, v, a)

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
                wrenches.append(motions[i].demanded(link.mass, link.first, link.second))
            elif segments or isinstance(body, DeformedLink):
                wrench, torques[self.tree.first_station(i)] = body.demanded(
                    motions[i], self.modal_velocity(i, v), self.modal_velocity(i, a)
                )
                wrenches.append(wrench)
            else:
                wrenches.append(Wrench(_NULL, _NULL))
        return wrenches, torques
