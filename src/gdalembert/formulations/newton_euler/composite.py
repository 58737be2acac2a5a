"""Composite bodies: mass matrix, Coriolis matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.formulations.newton_euler.links import Link, move, place
from gdalembert.rotations import Rotation
from gdalembert.screws import Wrench
from gdalembert.spatial import Matrix
from gdalembert.tree import Tree

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class Composite:
    """A subtree locked in its pose: m, h = Σ m x and J = Σ m x xᵀ about the origin of its root link, in its axes."""

    mass: float
    first: Matrix
    second: Matrix

    def __add__(self, other: Composite) -> Composite:
        return Composite(self.mass + other.mass, self.first + other.first, self.second + other.second)

    def turned(self, r: Rotation) -> Composite:
        """The same in other axes, R x for x."""
        return Composite(self.mass, r @ self.first, r.conjugate(self.second))

    def to_parent(self, link: Link) -> Composite:
        """The same masses about the parent's origin, in the parent's axes."""
        turned, p = self.turned(link.rotation), link.origin
        shifted = turned.first + self.mass * p
        second = turned.second + turned.first @ p.T + p @ shifted.T
        return Composite(self.mass, shifted, spatial.symmetric(second))

    def wrench(self, linear: Matrix, angular: Matrix) -> Wrench:
        """What accelerations (columns linear; angular) from rest ask of the subtree."""
        h = spatial.skew(self.first)
        return Wrench(self.mass * linear - h @ angular, h @ linear + spatial.inertia_of(self.second) @ angular)


def composites(links: list[Link]) -> list[Composite]:
    """The composite body of each link's subtree."""
    bodies = [Composite(link.mass, link.first, link.second) for link in links]
    for i, link in reversed(list(enumerate(links))):
        if link.joint.parent >= 0:
            bodies[link.joint.parent] += bodies[i].to_parent(link)
    return bodies


def mass_matrix(tree: Tree, q: Matrix) -> Matrix:
    """M by composite bodies, nv × nv: unit accelerations of joint j ask wrenches that all joints above j pass on.

    What a joint feels is read in joint axes, before its turn: a turn about z leaves the columns as they are.
    """
    links = place(tree, q)
    bodies = composites(links)

    def blocks() -> Iterable[tuple[int, int, Matrix]]:
        for j, link in enumerate(links):
            yield j, j, link.work(bodies[j].wrench(link.linear, link.angular))
            wrench = bodies[j].turned(link.turn).wrench(link.linear, link.angular)
            child = link
            for i in reversed(tree.path(j)[:-1]):
                wrench = wrench.to_parent(child.fixed, child.origin).turned(links[i].turn)
                yield i, j, links[i].work(wrench)
                child = links[i]

    return tree.symmetric_matrix(blocks())


@dataclass(frozen=True)
class CompositeRate:
    """R = Σ m ẋ xᵀ and r = Σ m ẋ of a moving subtree, x and ẋ against the origin of its root link, in its axes."""

    second: Matrix
    first: Matrix

    def __add__(self, other: CompositeRate) -> CompositeRate:
        return CompositeRate(self.second + other.second, self.first + other.first)


def coriolis_matrix(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """C by composite bodies and their rates, nv × nv.

    C_ij = Σ m φ_i·dφ_j/dt over all points below both joints, with φ_j = linear_j + angular_j × x the velocity field of
    column j. For i above j, C_ij needs the wrench of dφ_j/dt, and C_ji that of φ_j with η = Σ m ẋ × φ_j:
    C_ji = (d linear_i/dt)·f + (d angular_i/dt)·n + angular_i·η.
    """
    links = place(tree, q)
    motions = move(links, q, v, ca.DM(tree.nv, 1), _NULL)
    bodies = composites(links)
    # the velocity of each origin against the parent's, in the parent's axes
    lever_rates = [
        (ca.cross(motions[link.joint.parent].omega, link.origin) if link.joint.parent >= 0 else _NULL)
        + link.rotation @ (link.linear @ link.joint.velocity(v))
        for link in links
    ]
    rates = [
        CompositeRate(spatial.skew(motion.omega) @ link.second, ca.cross(motion.omega, link.first))
        for link, motion in zip(links, motions, strict=True)
    ]
    for i, link in reversed(list(enumerate(links))):
        if link.joint.parent >= 0:
            r, p, u = link.rotation, link.origin, lever_rates[i]
            first, shifted = r @ rates[i].first, r @ bodies[i].first + bodies[i].mass * p
            second = r.conjugate(rates[i].second) + u @ shifted.T + first @ p.T
            rates[link.joint.parent] += CompositeRate(second, first + bodies[i].mass * u)

    column_rates: list[tuple[Matrix, Matrix]] = []
    for link, motion in zip(links, motions, strict=True):
        linear_rate, angular_rate = link.joint.subspace_rate(q, v)
        # a single column is not turned by the joint's own motion
        turning = spatial.skew(motion.carried if link.joint.type.nv == 1 else motion.omega)
        column_rates.append((turning @ link.linear + linear_rate, turning @ link.angular + angular_rate))

    def blocks() -> Iterable[tuple[int, int, Matrix]]:
        for j, link in enumerate(links):
            body, rate = bodies[j], rates[j]
            of_rate = body.wrench(*column_rates[j]) + Wrench(
                -spatial.skew(rate.first) @ link.angular, spatial.inertia_of(rate.second) @ link.angular
            )
            of_column = body.wrench(link.linear, link.angular)
            eta = spatial.skew(rate.first) @ link.linear + spatial.inertia_of(rate.second.T) @ link.angular
            for i in reversed(tree.path(j)):
                yield i, j, links[i].work(of_rate)
                if i != j:
                    linear_rate, angular_rate = column_rates[i]
                    row = linear_rate.T @ of_column.force + angular_rate.T @ of_column.moment
                    yield j, i, (row + links[i].angular.T @ eta).T
                of_rate, of_column = of_rate.to_parent(*links[i].placement), of_column.to_parent(*links[i].placement)
                eta = links[i].rotation @ eta + spatial.skew(lever_rates[i]) @ of_column.force

    return tree.matrix(blocks())
