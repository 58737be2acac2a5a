"""A robot at q: the placements, motions and inertial forces of its links and stations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.deformed_inertia import DeformedLink, crossed, deformed, weighted
from gdalembert.dynamics.newton_euler.links import (
    Link,
    LinkMotion,
    Motions,
    Placing,
    base_motion,
    demanded_wrench,
    moved,
    place,
)
from gdalembert.dynamics.newton_euler.spin import spin_of
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.tree import Tree
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
    angular: Matrix  # J, 3 × n, in station axes

    @staticmethod
    def of(deflection: Deflection, f: Matrix) -> DeflectedStation:
        """From a deflection and the modal coordinates."""
        rotation, origin = deflection.placement(f)
        _, angular = deflection.subspace(f)
        return DeflectedStation(deflection, f, rotation, origin, deflection.displacement(f), angular)

    @property
    def columns(self) -> Motion:
        """The motions of the station per unit of each modal rate, in link axes."""
        return Motion(self.linear, self.rotation @ self.angular)

    def motion(self, link: LinkMotion, v: Matrix, a: Matrix) -> LinkMotion:
        """The motion of the station from that of its link, with modal rates v and accelerations a."""
        r = self.rotation
        rate = self.linear @ v
        second_rate = self.linear @ a + self.deflection.displacement_bias(v)
        carried, relative = r.T @ link.omega, self.deflection.angular_velocity(self.f, v)
        omega = carried + relative
        alpha = r.T @ link.alpha + ca.cross(carried, relative) + self.deflection.angular_acceleration(self.f, v, a)
        return LinkMotion(
            omega=omega,
            alpha=alpha,
            spin=spin_of(alpha, omega),
            velocity=r.T @ (link.velocity + ca.cross(link.omega, self.origin) + rate),
            acceleration=r.T
            @ (link.acceleration + link.spin @ self.origin + 2 * ca.cross(link.omega, rate) + second_rate),
        )


@dataclass(frozen=True)
class RobotAtQ:
    """The robot at q; links and stations by their index in the tree."""

    tree: Tree
    links: list[Link]
    bodies: dict[int, DeformedLink]  # of flexible links
    stations: dict[int, DeflectedStation]

    @staticmethod
    def of(tree: Tree, q: Matrix, placed: Placing = place) -> RobotAtQ:
        """The robot at q."""
        stations = {
            i: DeflectedStation.of(joint.type, joint.configuration(q))
            for i, joint in enumerate(tree.joints)
            if isinstance(joint.type, Deflection)
        }
        bodies = {
            i: deformed(tree.joints[i].pseudo_inertia, modal, stations[tree.first_station(i)].f)
            for i, modal in tree.modal.items()
        }
        return RobotAtQ(tree, placed(tree, q), bodies, stations)

    def __iter__(self) -> Iterator[tuple[int, Link]]:
        """From the base to the tips."""
        return iter(enumerate(self.links))

    def inward(self) -> Iterator[tuple[int, Link]]:
        """From the tips to the base."""
        return reversed(list(enumerate(self.links)))

    @property
    def inertias(self) -> list[Link | DeformedLink]:
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

    def demands(self, motions: Motions, v: Matrix, a: Matrix) -> tuple[list[Wrench], list[Matrix]]:
        """The wrench that its motion demands of each link and station alone, and the modal forces at first stations."""
        wrenches: list[Wrench] = []
        torques: list[Matrix] = [ca.DM(link.joint.type.nv, 1) for _, link in self]
        for i, link in self:
            if i not in self.bodies:
                wrenches.append(demanded_wrench(link, motions[i]))
                continue
            first = self.tree.first_station(i)
            rates = (self.links[first].joint.velocity(x) for x in (v, a))
            wrench, torques[first] = demanded(self.bodies[i], motions[i], *rates)
            wrenches.append(wrench)
        return wrenches, torques


def demanded(body: DeformedLink, motion: LinkMotion, v: Matrix, a: Matrix) -> tuple[Wrench, Matrix]:
    """The wrench at its joint that the motion of a flexible link demands, and the modal forces g."""
    omega, spin = motion.omega, motion.spin
    n_rate, n_second_rate = weighted(body.fields, v), weighted(body.fields, a)
    force = (
        body.mass * motion.acceleration
        + spin @ body.first
        + 2 * ca.cross(omega, n_rate[3, :3].T)
        + n_second_rate[3, :3].T
    )
    phi = 2 * spatial.skew(omega) @ n_rate[:3, :3].T + n_second_rate[:3, :3].T
    moment = spin.moment(body.second) + crossed(phi.T) + ca.cross(body.first, motion.acceleration)

    def modal_force(r: int) -> Matrix:
        """tr(U N_r) + P_r·ẍ + 2 ω·Σ_k ḟ_k ∫ φ_k × φ_r."""
        n = body.fields[r]
        coupled = weighted([spatial.constant(x) for x in body.modal.second[:, r]], v)
        return (
            ca.trace(spin @ n[:3, :3]) + ca.dot(n[3, :3].T, motion.acceleration) + 2 * ca.dot(omega, crossed(coupled))
        )

    return Wrench(force, moment), ca.vertcat(*(modal_force(r) for r in range(body.modal.modes))) + body.own @ a
