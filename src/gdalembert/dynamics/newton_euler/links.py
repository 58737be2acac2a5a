"""Links and their motion, outward from the base to the tips."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.rotations import (
    NO_TURN,
    AboutZ,
    Product,
    Rotation,
    fixed_turn,
    is_parallel,
    rotations_of,
    turns_about_z,
)
from gdalembert.model.regrouping import keeps_joint_axes, sense_of
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)
_Z = ca.sparsify(ca.DM([0, 0, 1]))


@dataclass(frozen=True)
class Link:
    """A link and the joint that moves it, in link axes."""

    joint: Joint
    turn: AboutZ  # link axes to joint axes
    fixed: Rotation  # joint axes to the parent's axes
    origin: Matrix  # p: link origin in the parent's axes, from its origin
    columns: Motion  # S, 3 × nv and 3 × nv, per unit of rate
    rate: float  # how many times v the joint moves along them
    held: AboutZ  # the turn of what is fixed in the link, where link axes keep those of the joint
    mass: Matrix  # m
    first: Matrix  # h = ∫ x
    second: Matrix  # J = ∫ x xᵀ

    def frame(self, frame: Frame) -> tuple[Matrix, Matrix]:
        """R and p of an operational frame of the link, in link axes."""
        return self.held @ spatial.constant(frame.rotation), self.held @ spatial.constant(frame.translation)

    @property
    def rotation(self) -> Rotation:
        """R: link axes to the parent's axes."""
        return Product(self.fixed, self.turn)

    @property
    def turns_about_z(self) -> bool:
        """Whether z is the axis of the joint in link axes, too."""
        return turns_about_z(self.joint) and self.columns.angular.sparsity() == _Z.sparsity()

    @property
    def placement(self) -> tuple[Rotation, Matrix]:
        """R and p."""
        return self.rotation, self.origin

    def velocity(self, v: Matrix) -> Motion:
        """S v: the motion against the parent."""
        own = self.rate * self.joint.velocity(v)
        return Motion(self.columns.linear @ own, self.columns.angular @ own)

    def acceleration(self, q: Matrix, v: Matrix, a: Matrix) -> Motion:
        """S a + dS/dt v."""
        rates, own = self.column_rates(q, v), self.joint.velocity(v)
        return self.velocity(a) + Motion(rates.linear @ own, rates.angular @ own)

    def column_rates(self, q: Matrix, v: Matrix) -> Motion:
        """dS/dt, which is zero for all joints but the ellipsoid."""
        return Motion(*self.joint.subspace_rate(q, v))

    def work(self, wrench: Wrench) -> Matrix:
        """Sᵀ (f; n), per unit of rate."""
        return wrench.work(self.columns.linear, self.columns.angular)

    def torque(self, wrench: Wrench) -> Matrix:
        """Sᵀ (f; n)."""
        return self.rate * self.work(wrench)


@dataclass(frozen=True)
class Spin:
    """The second derivative of a rotation, U = [α×] + [ω×][ω×]: a point at x accelerates by U x against the origin.

    The diagonal enters moments by its differences (U_zz − U_yy, U_xx − U_zz, U_yy − U_xx) alone.
    """

    matrix: Matrix
    differences: tuple[Matrix, Matrix, Matrix]

    def __matmul__(self, x: Matrix) -> Matrix:
        """U x, x of 3 × n."""
        return self.matrix @ x

    def moment(self, j: Matrix) -> Matrix:
        """vee(U J − (U J)ᵀ) that a symmetric pseudo-inertia J needs, with 15 products instead of 18."""
        u, (zy, xz, yx) = self.matrix, self.differences
        return ca.vertcat(
            zy * j[1, 2] + u[2, 0] * j[0, 1] + u[2, 1] * j[1, 1] - u[1, 0] * j[0, 2] - u[1, 2] * j[2, 2],
            xz * j[0, 2] + u[0, 1] * j[1, 2] + u[0, 2] * j[2, 2] - u[2, 0] * j[0, 0] - u[2, 1] * j[0, 1],
            yx * j[0, 1] + u[1, 0] * j[0, 0] + u[1, 2] * j[0, 2] - u[0, 1] * j[1, 1] - u[0, 2] * j[1, 2],
        )


NO_SPIN = Spin(ca.DM(3, 3), (ca.DM(1, 1), ca.DM(1, 1), ca.DM(1, 1)))


def spin_of(alpha: Matrix, omega: Matrix) -> Spin:
    """U of a link that turns with ω and α."""
    return Spin(spatial.spin(alpha, omega), _differences(omega))


def spin_about_axis(on_axis: Matrix, omega: Matrix, alpha_z: Matrix) -> tuple[Matrix, Spin]:
    """α and U of a link that turns about its z axis, from U e_z: points of the axis move with the parent as well.

    With that column given, α_x and α_y follow from U e_z = (ω_x ω_z + α_y, ω_y ω_z − α_x, −ω_x² − ω_y²).
    """
    alpha = ca.vertcat(omega[1] * omega[2] - on_axis[1], on_axis[0] - omega[0] * omega[2], alpha_z)
    matrix = spatial.spin(alpha, omega)
    return alpha, Spin(ca.horzcat(matrix[:, :2], on_axis), _differences(omega))


def _differences(omega: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    xx, yy, zz = omega[0] * omega[0], omega[1] * omega[1], omega[2] * omega[2]
    return zz - yy, xx - zz, yy - xx


@dataclass(frozen=True)
class LinkMotion:
    """Motion of a link, in link axes."""

    omega: Matrix  # ω
    alpha: Matrix  # α
    spin: Spin  # U
    velocity: Matrix  # of the origin
    acceleration: Matrix  # ẍ of the origin


Placing: TypeAlias = Callable[[Tree, Matrix], list[Link]]
"""All links of a tree at q, in axes of a choice."""

Motions = dict[int, LinkMotion]
"""By the index of the link; −1 is the base."""


def place(tree: Tree, q: Matrix) -> list[Link]:
    """All links at q.

    The axes of a link that keeps those of its joint do not turn with the link: its constants and the placements of its
    children turn instead. At the base, where nothing is passed on, link axes and joint axes are the same.
    """
    links: list[Link] = []
    held: list[AboutZ] = []  # the turn of each link whose axes do not turn with it
    for joint in tree.joints:
        turn, fixed = rotations_of(joint, q)
        _, origin = joint.placement(q)
        above = held[joint.parent] if joint.parent >= 0 else NO_TURN
        if is_parallel(joint) and turns_about_z(joint):
            turn, fixed = above.after(fixed_turn(joint)).after(turn), NO_TURN
        else:
            fixed = Product(above, fixed)
        keeps = keeps_joint_axes(joint)
        held.append(turn if keeps else NO_TURN)
        if keeps:
            turn = NO_TURN
        if joint.parent < 0:
            turn, fixed = NO_TURN, Product(fixed, turn)
        body = spatial.constant(joint.pseudo_inertia)
        sense = sense_of(joint.type)
        linear, angular = joint.type.subspace(joint.configuration(q))
        links.append(
            Link(
                joint=joint,
                turn=turn,
                fixed=fixed,
                origin=above @ origin,
                columns=Motion(sense * linear, sense * angular),
                rate=sense if joint.scaling is None else sense * joint.scaling,
                held=held[-1],
                mass=body[3, 3],
                first=held[-1] @ body[:3, 3],
                second=held[-1].conjugate(body[:3, :3]),
            )
        )
    return links


def base_motion(acceleration: Matrix) -> LinkMotion:
    """A base that does not turn."""
    return LinkMotion(_NULL, _NULL, NO_SPIN, _NULL, acceleration)


def moved(link: Link, parent: LinkMotion, q: Matrix, v: Matrix, a: Matrix) -> LinkMotion:
    """The motion of a link, from that of what it is joined to."""
    own, own_rate = link.velocity(v), link.acceleration(q, v, a)
    to_link = link.rotation.T

    carried = to_link @ parent.omega
    omega = carried + own.angular
    alpha = to_link @ parent.alpha + own_rate.angular + ca.cross(carried, own.angular)
    if link.turns_about_z:
        on_axis = to_link @ (parent.spin @ (link.rotation @ _Z))
        alpha, spin = spin_about_axis(on_axis, omega, alpha[2])
    else:
        spin = spin_of(alpha, omega)
    acceleration = (
        to_link @ (parent.acceleration + parent.spin @ link.origin)
        + own_rate.linear
        + ca.cross(carried + omega, own.linear)
    )
    velocity = to_link @ (parent.velocity + ca.cross(parent.omega, link.origin)) + own.linear
    return LinkMotion(omega, alpha, spin, velocity, acceleration)


def demanded_wrench(link: Link, motion: LinkMotion) -> Wrench:
    """The wrench that the motion of a link needs: Newton's and Euler's equations in trace form."""
    force = link.mass * motion.acceleration + motion.spin @ link.first
    moment = motion.spin.moment(link.second) + ca.cross(link.first, motion.acceleration)
    return Wrench(force, moment)
