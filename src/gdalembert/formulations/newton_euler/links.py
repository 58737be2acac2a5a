"""Links and their motion, outward from the base to the tips."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.preparation import PreparedJoint
from gdalembert.rotations import (
    NO_TURN,
    AboutZ,
    Product,
    Rotation,
    fixed_turn,
    is_parallel,
    rotations_of,
    turns_about_z,
)
from gdalembert.screws import Motion, Wrench
from gdalembert.spatial import Matrix
from gdalembert.tree import Joint, Tree

_NULL = ca.DM(3, 1)
_Z = ca.DM([0, 0, 1])


@dataclass(frozen=True)
class Link:
    """A link and the joint that moves it, in link axes."""

    joint: Joint
    turn: AboutZ  # link axes to joint axes
    fixed: Rotation  # joint axes to the parent's axes
    origin: Matrix  # p: link origin in the parent's axes, from its origin
    columns: Motion  # S, 3 × nv and 3 × nv
    mass: float  # m
    first: Matrix  # h = ∫ x
    second: Matrix  # J = ∫ x xᵀ

    @property
    def rotation(self) -> Rotation:
        """R: link axes to the parent's axes."""
        return Product(self.fixed, self.turn)

    @property
    def placement(self) -> tuple[Rotation, Matrix]:
        """R and p."""
        return self.rotation, self.origin

    def velocity(self, v: Matrix) -> Motion:
        """S v: the motion against the parent."""
        own = self.joint.velocity(v)
        return Motion(self.columns.linear @ own, self.columns.angular @ own)

    def acceleration(self, q: Matrix, v: Matrix, a: Matrix) -> Motion:
        """S a + dS/dt v."""
        rates, own = self.column_rates(q, v), self.joint.velocity(v)
        return self.velocity(a) + Motion(rates.linear @ own, rates.angular @ own)

    def column_rates(self, q: Matrix, v: Matrix) -> Motion:
        """dS/dt, which is zero for all joints but the ellipsoid."""
        return Motion(*self.joint.subspace_rate(q, v))

    def work(self, wrench: Wrench) -> Matrix:
        """Sᵀ (f; n)."""
        return wrench.work(self.columns.linear, self.columns.angular)


@dataclass(frozen=True)
class LinkMotion:
    """Motion of a link, in link axes."""

    omega: Matrix  # ω
    alpha: Matrix  # α
    spin: Matrix  # U
    velocity: Matrix  # of the origin
    acceleration: Matrix  # ẍ of the origin


Motions = dict[int, LinkMotion]
"""By the index of the link; −1 is the base."""


def place(tree: Tree, q: Matrix) -> list[Link]:
    """All links at q.

    The axes of a link that ``keeps`` those of its joint do not turn with it: its constants and its children's places
    turn instead. At the base, where nothing is passed on, link axes and joint axes are one.
    """
    links: list[Link] = []
    held: list[AboutZ] = []  # the turn of each link that its axes do not take part in
    for joint in tree.joints:
        turn, fixed = rotations_of(joint, q)
        _, origin = joint.placement(q)
        above = held[joint.parent] if joint.parent >= 0 else NO_TURN
        if is_parallel(joint) and turns_about_z(joint):
            turn, fixed = above.after(fixed_turn(joint)).after(turn), NO_TURN
        else:
            fixed = Product(above, fixed)
        keeps = isinstance(joint, PreparedJoint) and joint.keeps
        held.append(turn if keeps else NO_TURN)
        if keeps:
            turn = NO_TURN
        if joint.parent < 0:
            turn, fixed = NO_TURN, Product(fixed, turn)
        body = joint.pseudo_inertia
        links.append(
            Link(
                joint=joint,
                turn=turn,
                fixed=fixed,
                origin=above @ origin,
                columns=Motion(*joint.subspace(q)),
                mass=float(body[3, 3]),
                first=held[-1] @ body[:3, 3],
                second=held[-1].conjugate(body[:3, :3]),
            )
        )
    return links


def move(links: list[Link], q: Matrix, v: Matrix, a: Matrix, base_acceleration: Matrix) -> Motions:
    """Outward: the motion of all links."""
    motions = {-1: LinkMotion(_NULL, _NULL, ca.DM(3, 3), _NULL, base_acceleration)}
    for i, link in enumerate(links):
        parent = motions[link.joint.parent]
        own, own_rate = link.velocity(v), link.acceleration(q, v, a)
        to_link = link.rotation.T

        carried = to_link @ parent.omega
        omega = carried + own.angular
        alpha = to_link @ parent.alpha + own_rate.angular + ca.cross(carried, own.angular)
        spin = spatial.spin(alpha, omega)
        if turns_about_z(link.joint):
            on_axis = parent.spin @ (link.rotation @ _Z)
            alpha, spin = spin_about_axis(to_link @ on_axis, omega, alpha[2])
        acceleration = (
            to_link @ (parent.acceleration + parent.spin @ link.origin)
            + own_rate.linear
            + ca.cross(carried + omega, own.linear)
        )
        velocity = to_link @ (parent.velocity + ca.cross(parent.omega, link.origin)) + own.linear
        motions[i] = LinkMotion(omega, alpha, spin, velocity, acceleration)
    return motions


def spin_about_axis(on_axis: Matrix, omega: Matrix, alpha_z: Matrix) -> tuple[Matrix, Matrix]:
    """α and U of a link that turns about its z axis, from U e_z: points of the axis move with the parent too.

    With that column given, α_x and α_y follow from U_yz = ω_y ω_z − α_x and U_xz = ω_x ω_z + α_y.
    """
    x, y, z = omega[0], omega[1], omega[2]
    xy, xz, yz = x * y, x * z, y * z
    alpha = ca.vertcat(yz - on_axis[1], on_axis[0] - xz, alpha_z)
    spin = spatial.rows(
        (-(y * y + z * z), xy - alpha_z, on_axis[0]),
        (xy + alpha_z, -(x * x + z * z), on_axis[1]),
        (xz - alpha[1], yz + alpha[0], on_axis[2]),
    )
    return alpha, spin


def demanded_wrench(link: Link, motion: LinkMotion) -> Wrench:
    """What a link's motion asks of it: Newton's and Euler's equation in trace form."""
    force = link.mass * motion.acceleration + motion.spin @ link.first
    moment = spatial.vee_of_product(motion.spin, link.second) + ca.cross(link.first, motion.acceleration)
    return Wrench(force, moment)
