"""Derivatives of forward dynamics by articulated bodies, in the axes of the root: an entry takes a few dot products.

Motions are (linear; angular) and wrenches (force; moment), 6 × k. When the parent of a subtree accelerates by A, and
the points of the subtree besides by a field φ + c × 2ẋ (``derivatives``), the subtree, whose joints are free,

    needs the wrench Ia (A + φ) + Ba c and accelerates its first joint by −Gᵀ (A + φ) − h c.

The robot gives way by −Ω w to a wrench w that a link has to pass on besides. A displacement of joint j is a field on
its subtree and turns the wrench W_j that the joint passes on, so all joints answer to what their parent has to give:

    w = Ia φ + Ba c + e_j × W_j

A unit effort of joint i moves its parent by −y and its own link by S β − y, with y = Ω G and β = D⁻¹ + Gᵀ y, which is
its entry of M⁻¹. Two families carry motions and wrenches on, from link to link:

    given[k, i]   the acceleration of link k for a unit effort of joint i above it,
    felt[k, i]    the wrench on link i for a unit effort of joint k below it: if link i accelerates by A,
                  joint k does by −feltᵀ A, and besides by −lag c if the field begins at link i.

(Ours; the articulated bodies are Featherstone's.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.aba import Articulated
from gdalembert.dynamics.newton_euler.crba import at_rates
from gdalembert.dynamics.newton_euler.derivatives import CompositeRate, Field, displacement
from gdalembert.dynamics.newton_euler.links import Link, LinkMotion, demanded_wrench
from gdalembert.dynamics.newton_euler.rnea import joint_wrenches
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.dynamics.newton_euler.root_axes import place_in_root_axes
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.factorization import Factorization

Block: TypeAlias = tuple[int, int, Matrix]

_NULL = ca.DM(6, 1)


@dataclass(frozen=True)
class Body:
    """A link with the subtrees that hang on it."""

    inertia: Matrix  # I, 6 × 6
    carried: Matrix  # B, 6 × 3: the wrench that a field c × 2ẋ needs
    bias: Matrix  # the wrench at zero joint accelerations, 6

    def __add__(self, other: Body) -> Body:
        return Body(self.inertia + other.inertia, self.carried + other.carried, self.bias + other.bias)


@dataclass(frozen=True)
class Subtree:
    """How a subtree whose joints are free answers to its parent."""

    columns: Matrix  # S, 6 × k
    gain: Matrix  # G = I S D⁻¹, 6 × k
    lag: Matrix  # h = D⁻¹ Sᵀ B, k × 3
    mobility: Matrix  # D⁻¹, k × k
    effort: Matrix  # D⁻¹ (tau − Sᵀ bias), k
    passed_on: Body  # what the parent has of it

    @classmethod
    def of(cls, link: Link, body: Body, tau: Matrix, armature: Matrix) -> Subtree:
        """Release the joint of a link."""
        s, own = link.columns.vector, link.joint.velocity(armature)
        wrench = body.inertia @ s
        factorization = Factorization(s.T @ wrench + ca.diag(own))
        is_free = link.joint.parent < 0 and link.joint.type.is_free and not own.nnz()
        gain = ca.DM.eye(6) if is_free else factorization.solve(wrench.T).T
        lag = factorization.solve(s.T @ body.carried)
        effort = factorization.solve(link.rate * link.joint.velocity(tau) - s.T @ body.bias)
        passed_on = Body(
            spatial.symmetric(body.inertia - gain @ wrench.T),
            body.carried - wrench @ lag,
            body.bias + wrench @ effort,
        )
        return cls(s, gain, lag, factorization.inverse, effort, passed_on)


@dataclass(frozen=True)
class Yielding:
    """How a link that the robot holds gives way."""

    omega: Matrix  # Ω of the link, 6 × 6
    shift: Matrix  # y: the parent moves by −y for a unit effort of the joint, 6 × k
    own: Matrix  # β: so does the joint, k × k
    motion: Matrix  # S β − y: so does the link, 6 × k

    @classmethod
    def of(cls, subtree: Subtree, omega: Matrix) -> Yielding:
        """From Ω of the parent."""
        s, shift = subtree.columns, omega @ subtree.gain
        own = subtree.mobility + subtree.gain.T @ shift
        motion = s @ own - shift
        return cls(spatial.symmetric(omega + motion @ s.T - s @ shift.T), shift, own, motion)


@dataclass(frozen=True)
class ArticulatedRobot:
    """A robot with free joints: all links in the axes of the root, and how subtrees and links answer."""

    tree: Tree
    placed: RobotAtQ
    subtrees: list[Subtree]

    @classmethod
    def of(cls, tree: Tree, q: Matrix, v: Matrix, tau: Matrix) -> ArticulatedRobot:
        """Inward, joint by joint."""
        placed, armature = RobotAtQ.of(tree, q, place_in_root_axes), spatial.constant(tree.armature)
        links, motions = placed.links, placed.motions(q, v, ca.DM(tree.nv, 1), Gravity(tree).base_acceleration)
        origins = origin_velocities(links, v)
        bodies = [body_of(link, motions[i], origins[i]) for i, link in enumerate(links)]
        subtrees: list[Subtree] = []
        for link in reversed(links):
            subtrees.insert(0, Subtree.of(link, bodies.pop(), tau, armature))
            if link.joint.parent >= 0:
                bodies[link.joint.parent] += subtrees[0].passed_on
        return cls(tree, placed, subtrees)

    @property
    def links(self) -> list[Link]:
        """By their index in the tree."""
        return self.placed.links

    def parent(self, i: int) -> int:
        """The link that carries joint i; −1 is the universe."""
        return self.links[i].joint.parent

    @property
    def acceleration(self) -> Matrix:
        """a, nv."""
        moved, found = {-1: _NULL}, []
        for i, subtree in enumerate(self.subtrees):
            above = moved[self.parent(i)]
            own = subtree.effort - subtree.gain.T @ above
            moved[i] = above + subtree.columns @ own
            found.append(self.links[i].rate * own)
        return self.tree.vector(found)

    @cached_property
    def yielding(self) -> list[Yielding]:
        """Outward: how links give way."""
        found: list[Yielding] = []
        for i, subtree in enumerate(self.subtrees):
            parent = self.parent(i)
            found.append(Yielding.of(subtree, found[parent].omega if parent >= 0 else ca.DM(6, 6)))
        return found

    @cached_property
    def given(self) -> dict[tuple[int, int], Matrix]:
        """By (link, joint at or above it)."""
        found: dict[tuple[int, int], Matrix] = {}
        for k, subtree in enumerate(self.subtrees):
            found[k, k] = self.yielding[k].motion
            for i in self.tree.path(k)[:-1]:
                above = found[self.parent(k), i]
                found[k, i] = above - subtree.columns @ (subtree.gain.T @ above)
        return found

    @cached_property
    def felt(self) -> dict[tuple[int, int], tuple[Matrix, Matrix]]:
        """By (joint, link above it): the wrench, and the lag."""
        found: dict[tuple[int, int], tuple[Matrix, Matrix]] = {}
        for k, subtree in enumerate(self.subtrees):
            felt, lag = subtree.gain, subtree.lag
            for i in reversed(self.tree.path(k)[:-1]):
                found[k, i] = felt, lag
                work = felt.T @ self.subtrees[i].columns
                felt, lag = felt - self.subtrees[i].gain @ work.T, lag - work @ self.subtrees[i].lag
        return found

    def below(self, i: int) -> list[int]:
        """The joints further out than joint i."""
        return [k for k in range(i + 1, len(self.links)) if i in self.tree.path(k)]

    def inverse(self) -> Iterator[Block]:
        """M⁻¹ at and above the diagonal."""
        entries: dict[tuple[int, int], Matrix] = {}
        for j, yielding in enumerate(self.yielding):
            yield j, j, yielding.own
            for i in self.tree.path(j)[:-1]:
                entries[i, j] = -self.given[self.parent(j), i].T @ self.subtrees[j].gain
                yield i, j, entries[i, j]
            rows = {i: entries[i, j] for i in self.tree.path(j)[:-1]}
            for k, block in self._elsewhere(j, -yielding.shift, rows):
                if k < j:
                    yield k, j, block

    def displaced(self, j: int, field: Matrix, carried: Matrix, turned: Matrix) -> Iterator[Block]:
        """The accelerations of all joints for a field (φ; c) on subtree j and a wrench on its parent (6 × k each)."""
        subtree, parent = self.subtrees[j], self.parent(j)
        wrench = subtree.passed_on.inertia @ field + subtree.passed_on.carried @ carried + turned
        own = self.yielding[j].shift.T @ wrench - (subtree.gain.T @ field + subtree.lag @ carried)
        yield j, j, own
        rows = {i: -self.given[parent, i].T @ wrench for i in self.tree.path(j)[:-1]}
        for i, row in rows.items():
            yield i, j, row
        motion = -self.yielding[parent].omega @ wrench if parent >= 0 else ca.DM(*field.shape)
        for k, block in self._elsewhere(j, motion, rows):
            yield k, j, block
        moved = motion + field + subtree.columns @ own
        for k in self.below(j):
            felt, lag = self.felt[k, j]
            yield k, j, -(felt.T @ moved + lag @ carried)

    def _elsewhere(self, j: int, motion: Matrix, rows: dict[int, Matrix]) -> Iterator[tuple[int, Matrix]]:
        """The joints of other limbs, from the motion of the parent of joint j and the rows of the joints above."""
        path = self.tree.path(j)
        for i, towards in zip(path[-2::-1], path[:0:-1], strict=True):
            for k in self.below(i):
                if k != towards and towards not in self.tree.path(k):
                    yield k, -self.felt[k, i][0].T @ motion
            motion = motion - self.subtrees[i].columns @ rows[i]


def origin_velocities(links: list[Link], v: Matrix) -> list[Matrix]:
    """Twice the velocity of each link's point at the origin of the root's axes, against the root's."""
    found: list[Matrix] = []
    for link in links:
        parent = link.joint.parent
        found.append(found[parent] + 2 * link.velocity(v).linear if parent >= 0 else ca.DM(3, 1))
    return found


def body_of(link: Link, motion: LinkMotion, velocity: Matrix) -> Body:
    """A link alone, from its motion and from twice the velocity of its origin."""
    inertia = Articulated.of(link.mass, link.first, link.second)
    omega = 2 * motion.omega
    rate = CompositeRate(
        ca.cross(omega, link.first) + link.mass * velocity,
        spatial.skew(omega) @ link.second + velocity @ link.first.T,
    )
    return Body(inertia.matrix, rate.wrench(ca.DM.eye(3)).vector, demanded_wrench(link, motion).vector)


def forward_dynamics_derivatives(tree: Tree, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
    """∂a/∂q, ∂a/∂v and M⁻¹, nv × 3 nv, columns in the tangent space; for joints whose columns are constant."""
    robot = ArticulatedRobot.of(tree, q, v, tau)
    links, a = robot.links, robot.acceleration
    motions = robot.placed.motions(q, v, a, Gravity(tree).base_acceleration)
    (wrenches, _), origins = joint_wrenches(robot.placed, motions, v, a), origin_velocities(links, v)
    by_q: list[Block] = []
    by_v: list[Block] = []

    def about_root(field: Field, j: int) -> tuple[Matrix, Matrix]:
        """φ and c of a field whose velocities are those against the origin of link j."""
        return ca.vertcat(field.linear + spatial.skew(origins[j]) @ field.carried, field.angular), field.carried

    for j, link in enumerate(links):
        velocity, acceleration = displacement(link, motions[link.joint.parent], v)
        by_v += robot.displaced(j, *about_root(velocity, j), ca.DM(6, link.joint.type.nv))
        by_q += robot.displaced(j, *about_root(acceleration, j), link.columns.carry(wrenches[j]).vector)
    found = (tree.matrix(at_rates(links, blocks)) for blocks in (by_q, by_v))
    return ca.horzcat(*found, tree.symmetric_matrix(at_rates(links, robot.inverse())))
