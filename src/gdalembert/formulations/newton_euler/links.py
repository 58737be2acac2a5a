"""Links and their motion, outward from the base to the tips."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.rotations import Product, Rotation, rotations_of, turns_about_z
from gdalembert.screws import Wrench
from gdalembert.spatial import Matrix
from gdalembert.tree import Joint, Tree

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class Link:
    """A link and the joint that moves it, in link axes."""

    joint: Joint
    turn: Rotation  # link axes to joint axes: about z, or none
    fixed: Rotation  # joint axes to the parent's
    origin: Matrix  # p: link origin in the parent's frame
    linear: Matrix  # S, 3 × nv
    angular: Matrix
    mass: float  # m
    first: ca.DM  # h = ∫ x
    second: ca.DM  # J = ∫ x xᵀ

    @property
    def rotation(self) -> Rotation:
        """R: link axes to the parent's axes."""
        return Product(self.fixed, self.turn)

    @property
    def placement(self) -> tuple[Rotation, Matrix]:
        """R and p."""
        return self.rotation, self.origin

    def work(self, wrench: Wrench) -> Matrix:
        """Sᵀ (f; n)."""
        return wrench.work(self.linear, self.angular)


@dataclass(frozen=True)
class LinkMotion:
    """Motion of a link, in link axes."""

    omega: Matrix  # ω
    spin: Matrix  # U
    velocity: Matrix  # of the origin
    acceleration: Matrix  # ẍ of the origin
    carried: Matrix  # Rᵀ ω_λ
    alpha: Matrix  # α

    def spin_of(self, child: Link) -> Matrix:
        """U_λ of a child's joint axis z, which is fixed in both links."""
        return self.spin @ (child.rotation @ ca.DM([0, 0, 1]))


def place(tree: Tree, q: Matrix) -> list[Link]:
    """All links at q."""
    links = []
    for joint in tree.joints:
        turn, fixed = rotations_of(joint, q)
        _, origin = joint.placement(q)
        linear, angular = joint.subspace(q)
        body = joint.pseudo_inertia
        links.append(
            Link(
                joint=joint,
                turn=turn,
                fixed=fixed,
                origin=origin,
                linear=linear,
                angular=angular,
                mass=float(body[3, 3]),
                first=body[:3, 3],
                second=body[:3, :3],
            )
        )
    return links


def move(links: list[Link], q: Matrix, v: Matrix, a: Matrix, base_acceleration: Matrix) -> list[LinkMotion]:
    """Outward: the motion of all links."""
    base = LinkMotion(_NULL, ca.DM(3, 3), _NULL, base_acceleration, _NULL, _NULL)
    motions: list[LinkMotion] = []
    for link in links:
        joint = link.joint
        parent = motions[joint.parent] if joint.parent >= 0 else base
        v_i, a_i = joint.velocity(v), joint.velocity(a)
        linear_rate, angular_rate = joint.subspace_rate(q, v)
        to_link = link.rotation.T
        turning, sliding = link.angular @ v_i, link.linear @ v_i

        carried = to_link @ parent.omega
        omega = carried + turning
        alpha = to_link @ parent.alpha + link.angular @ a_i + ca.cross(carried, turning) + angular_rate @ v_i
        spin = spatial.spin(alpha, omega)
        if turns_about_z(joint):
            alpha, spin = spin_about_axis(to_link @ parent.spin_of(link), omega, alpha[2])
        acceleration = (
            to_link @ (parent.acceleration + parent.spin @ link.origin)
            + link.linear @ a_i
            + ca.cross(carried + omega, sliding)
            + linear_rate @ v_i
        )
        velocity = to_link @ (parent.velocity + ca.cross(parent.omega, link.origin)) + sliding
        motions.append(LinkMotion(omega, spin, velocity, acceleration, carried, alpha))
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
