"""Composite bodies in motion: the Coriolis matrix and the derivatives of inverse dynamics.

A *field* gives each point x of a subtree a vector:

    φ(x) = linear + angular × x + carried × ẋ

x is seen from the origin of the subtree's root link, ẋ is its velocity against that origin. With the sums over the
subtree m, h = Σ m x, J = Σ m x xᵀ, r = Σ m ẋ, R = Σ m ẋ xᵀ, a field needs the wrench Σ m φ, Σ x × m φ. The columns
e_i of a motion subspace are such fields, and with sums over all points below both joints

    C_ij = Σ m e_i·ė_j
    ∂tau_i/∂v_j = Σ m e_i·(ė_j + e_j′)         ∂tau_i/∂q_j = Σ m e_i·e_j″ + e_i·(e_j × W_j)

ė_j is the rate of a column that turns with its link, e_j′ and e_j″ the first and second rate of a displacement along
it, which is fixed in the parent, about a point that moves with it. (With a single axis ė_j = e_j′: ∂tau/∂v = 2 C.)
W_j is the wrench that subtree j needs; it is turned and shifted for the joints above j alone.

Fields of the lower joint rise to the upper one as wrenches. For those of the upper joint the wrench (f; n) of the lower
column rises, with η = Σ m ẋ × e_j:

    Σ m φ·e_j = linear·f + angular·n + carried·η

(Ours. Axes as in :mod:`~gdalembert.dynamics.newton_euler.crba`.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.crba import Composite, at_rates, composites
from gdalembert.dynamics.newton_euler.external import UNLOADED, Aligned, Loads
from gdalembert.dynamics.newton_euler.links import Link, LinkMotion, Placing, place
from gdalembert.dynamics.newton_euler.rnea import joint_wrenches
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.dynamics.newton_euler.rotations import Rotation
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class CompositeRate:
    """r = Σ m ẋ and R = Σ m ẋ xᵀ of a moving subtree, in the axes of its root link."""

    first: Matrix
    second: Matrix

    def __add__(self, other: CompositeRate) -> CompositeRate:
        return CompositeRate(self.first + other.first, self.second + other.second)

    def turned(self, r: Rotation) -> CompositeRate:
        """The same in other axes, R x for x."""
        return CompositeRate(r @ self.first, r.conjugate(self.second))

    def to_parent(self, link: Link, body: Composite, lever_rate: Matrix) -> CompositeRate:
        """The same masses about the parent's origin, which the own one leaves at ``lever_rate``, in parent's axes."""
        turned, p = self.turned(link.rotation), link.origin
        shifted = link.rotation @ body.first + body.mass * p
        return CompositeRate(
            turned.first + body.mass * lever_rate, turned.second + lever_rate @ shifted.T + turned.first @ p.T
        )

    def wrench(self, carried: Matrix) -> Wrench:
        """The wrench that fields carried × ẋ need in the subtree."""
        return Wrench(-spatial.skew(self.first) @ carried, spatial.inertia_of(self.second) @ carried)

    def eta(self, e: Motion) -> Matrix:
        """η = Σ m ẋ × e of columns e."""
        return spatial.skew(self.first) @ e.linear + spatial.inertia_of(self.second.T) @ e.angular


@dataclass(frozen=True)
class Moving:
    """All subtrees in motion: their sums, and the velocity of each link origin against the parent's, in its axes."""

    bodies: list[Composite]
    rates: list[CompositeRate]
    lever_rates: list[Matrix]

    def turned(self, j: int, r: Rotation) -> tuple[Composite, CompositeRate]:
        """The sums of subtree j in other axes, R x for x."""
        return self.bodies[j].turned(r), self.rates[j].turned(r)


def moving(robot: RobotAtQ, omegas: dict[int, Matrix], v: Matrix) -> Moving:
    """The subtrees of links that turn with ω, for joint velocities v."""
    links, bodies = robot.links, composites(robot)
    lever_rates = [
        ca.cross(omegas[link.joint.parent], link.origin) + link.rotation @ link.velocity(v).linear for link in links
    ]
    rates = [
        CompositeRate(ca.cross(omegas[i], link.first), spatial.skew(omegas[i]) @ link.second)
        for i, link in enumerate(links)
    ]
    for i, link in reversed(list(enumerate(links))):
        if link.joint.parent >= 0:
            rates[link.joint.parent] += rates[i].to_parent(link, bodies[i], lever_rates[i])
    return Moving(bodies, rates, lever_rates)


@dataclass(frozen=True)
class Field:
    """linear + angular × x + carried × ẋ, 3 × k each for k fields side by side."""

    linear: Matrix
    angular: Matrix
    carried: Matrix

    def wrench(self, body: Composite, rate: CompositeRate) -> Wrench:
        """The wrench that the fields need in a subtree."""
        return body.wrench(Motion(self.linear, self.angular)) + rate.wrench(self.carried)

    def meet(self, column: Wrench, eta: Matrix) -> Matrix:
        """Σ m φ·e of the fields (rows) with columns e of a joint further out, from their wrench and η."""
        return self.linear.T @ column.force + self.angular.T @ column.moment + self.carried.T @ eta


@dataclass(frozen=True)
class Rising:
    """What a joint passes on to the joints above it.

    Attributes:
        fields: wrenches of its fields. ``column``, ``eta``: the wrench and η of its columns.
        turning: for each column what a turn of the joint above adds to its torque, by wrenches that do not turn.
    """

    fields: tuple[Wrench, ...]
    column: Wrench
    eta: Matrix
    turning: Matrix

    def to_parent(self, link: Link, lever_rate: Matrix) -> Rising:
        """The same in the axes and about the origin of the link's parent."""
        fields = tuple(wrench.to_parent(link.fixed, link.origin) for wrench in self.fields)
        column = self.column.to_parent(link.fixed, link.origin)
        eta = link.fixed @ self.eta + spatial.skew(lever_rate) @ column.force
        return Rising(fields, column, eta, link.fixed @ self.turning)

    def turned(self, r: Rotation) -> Rising:
        """The same in other axes, R x for x."""
        fields = tuple(wrench.turned(r) for wrench in self.fields)
        return Rising(fields, self.column.turned(r), r @ self.eta, r @ self.turning)


def rise(tree: Tree, links: list[Link], everything: Moving, j: int, rising: Rising) -> Iterator[tuple[int, Rising]]:
    """What rises from joint j, at each joint i above it, in the axes of joint i."""
    child = j
    for i in reversed(tree.path(j)[:-1]):
        rising = rising.to_parent(links[child], everything.lever_rates[child]).turned(links[i].turn)
        yield i, rising
        child = i


def coriolis_matrix(tree: Tree, q: Matrix, v: Matrix, placed: Placing = place) -> Matrix:
    """C by composite bodies and their rates, nv × nv."""
    robot = RobotAtQ.of(tree, q, placed)
    links, motions = robot.links, robot.motions(q, v, ca.DM(tree.nv, 1), _NULL)
    everything = moving(robot, {i: motion.omega for i, motion in motions.items()}, v)
    rates: list[Field] = []

    def blocks() -> Iterable[tuple[int, int, Matrix]]:
        for j, link in enumerate(links):
            e, e_rate = link.columns, link.column_rates(q, v)
            turning = spatial.skew(link.fixed.T @ motions[link.joint.parent].omega + link.velocity(v).angular)
            rates.append(Field(turning @ e.linear + e_rate.linear, turning @ e.angular + e_rate.angular, e.angular))
            body, rate = everything.turned(j, link.turn)
            wrench = rates[j].wrench(body, rate)
            yield j, j, link.work(wrench)
            for i, here in rise(tree, links, everything, j, Rising((wrench,), body.wrench(e), rate.eta(e), _NULL)):
                yield i, j, links[i].work(here.fields[0])
                yield j, i, rates[i].meet(here.column, here.eta).T

    return tree.matrix(at_rates(links, blocks()))


def displacement(link: Link, parent: LinkMotion, v: Matrix) -> tuple[Field, Field]:
    """ė + e′ and e″ of the columns e of a joint, as fields for sums of twice ẋ:

    ė + e′ = … + e.angular × 2 ẋ,   e″ = … + e′.angular × 2 ẋ
    """
    e, own, to_joint = link.columns, link.velocity(v), link.fixed.T
    sliding, omega = spatial.skew(own.linear), to_joint @ parent.omega
    turning = spatial.skew(2 * omega + own.angular)
    velocity = Field(turning @ e.linear - sliding @ e.angular, turning @ e.angular, e.angular)

    def spun(x: Matrix) -> Matrix:
        return to_joint @ (parent.spin @ (link.fixed @ x))

    point = spatial.skew(to_joint @ (parent.acceleration + parent.spin @ link.origin))
    carried = spatial.skew(omega) @ e.angular
    acceleration = Field(spun(e.linear) - 2 * sliding @ carried + point @ e.angular, spun(e.angular), carried)
    return velocity, acceleration


def pushed_by(e: Motion, aligned: Sequence[Aligned]) -> tuple[Matrix, Matrix]:
    """Σ δx × f of columns e, and η = Σ m × angular − δx × f (3 × k each), of wrenches that do not turn.

    As joint i moves the points x_k of a joint j at or below it, or above it,

        ∂tau_j/∂q_i = … + angular_i·η_j          ∂tau_i/∂q_j = … − angular_i·Σ δx × f
    """
    pushed = turning = ca.DM(*e.angular.shape)
    for each in aligned:
        carried = each.carried(e)
        pushed = pushed + carried
        turning = turning - carried + spatial.skew(each.wrench.moment) @ e.angular
    return pushed, turning


def inverse_dynamics_derivatives(
    tree: Tree, q: Matrix, v: Matrix, a: Matrix, loads: Loads = UNLOADED, placed: Placing = place
) -> tuple[Matrix, Matrix]:
    """∂tau/∂q and ∂tau/∂v, nv × nv each, columns in the tangent space; for joints whose columns are constant.

    Args:
        loads: LOCAL wrenches, which move with their links as W_j does, and LOCAL_WORLD_ALIGNED ones.
        placed: in which axes; under loads in link axes.
    """
    robot = RobotAtQ.of(tree, q, placed)
    links, motions = robot.links, robot.motions(q, v, a, Gravity(tree).base_acceleration)
    wrenches, _ = joint_wrenches(robot, motions, v, a, loads.given_in([pin.LOCAL]).on(tree, links))
    aligned = loads.aligned(tree, links)
    everything = moving(robot, {i: 2 * motion.omega for i, motion in motions.items()}, 2 * v)  # sums of twice ẋ
    velocities: list[Field] = []
    accelerations: list[Field] = []
    by_q: list[tuple[int, int, Matrix]] = []
    by_v: list[tuple[int, int, Matrix]] = []
    for j, link in enumerate(links):
        e = link.columns
        velocity, acceleration = displacement(link, motions[link.joint.parent], v)
        velocities.append(velocity)
        accelerations.append(acceleration)
        body, rate = everything.turned(j, link.turn)
        of_velocity, of_acceleration = velocity.wrench(body, rate), acceleration.wrench(body, rate)
        by_v.append((j, j, link.work(of_velocity)))
        pushed, turning = pushed_by(e, aligned[j])
        by_q.append((j, j, link.work(of_acceleration) + turning.T @ e.angular))
        moved = of_acceleration + e.carry(wrenches[j].turned(link.turn)) - Wrench(ca.DM(*pushed.shape), pushed)
        rising = Rising((of_velocity, moved), body.wrench(e), rate.eta(e), turning)
        for i, here in rise(tree, links, everything, j, rising):
            by_v.append((i, j, links[i].work(here.fields[0])))
            by_q.append((i, j, links[i].work(here.fields[1])))
            by_v.append((j, i, velocities[i].meet(here.column, here.eta).T))
            by_q.append(
                (j, i, accelerations[i].meet(here.column, here.eta).T + here.turning.T @ links[i].columns.angular)
            )
    return tree.matrix(at_rates(links, by_q)), tree.matrix(at_rates(links, by_v))
