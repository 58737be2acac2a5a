"""Generalized d'Alembert equations of motion (Lee, Lee and Nigam, RSD-TR-8-82, 1982, eqs. 28–33).

    tau_i = Σ_j D_ij a_j + H_i^tra + H_i^rot + G_i

All vectors are free vectors in the axes of one inertial frame. With the partial velocities of link s due to joint i

    a_i           angular, z_{i−1} of a rotary joint, 0 of a prismatic one
    J_is          of the centre of mass r_s: z_{i−1} × (r_s − p_{i−1}), or z_{i−1}

d'Alembert's principle: inertia forces and moments do no work on the motions that the joints allow,

    tau_i = Σ_{s ≥ i} [ m_s (r̈_s − g)·J_is + a_i·(Ī_s α_s + ω_s × Ī_s ω_s) ],

and eqs. 28–33 are its parts: D (30) at rest, H^tra (31) and H^rot (32) at a = 0, G (33) at v = a = 0. The sums over
s are taken once, from the tips to the base (suffix sums: n instead of n³ for H and G, n² for D).

A link whose inertia are symbols has its origin as r_s, its first moment d_s about it, and Ī_s there (force m_s r̈_s +
U_s d_s, moment d_s × r̈_s beside Euler's): nothing is divided by its mass, which p may take away. ``terms`` and
``link_torques`` alone are of centres of mass.

Ours: prismatic joints, trees, joints of several columns (a_i and J_is have one column for each), the suffix sums, and
the choice of the inertial frame: the one that coincides with the root link of the branch at this instant. Nothing but
the direction of g depends on that choice, and the root link's own pose drops out of D and H.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.sources import Source
from gdalembert.dynamics.wrenches import NO_WRENCHES
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.functions import function

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class InertialLink:
    """A link and the joint that moves it, in the axes of the inertial frame."""

    to_inertial: Matrix  # R_s (3 × 3), from the axes of the link
    origin: Matrix  # p: a point on the joint's axis, the origin of the link frame
    com: Matrix  # r_s
    mass: Matrix  # m_s
    moment: Matrix  # d_s, about r_s: 0 where that is the centre of mass
    inertia: Matrix  # Ī_s = R_s I_s R_sᵀ, about r_s
    angular: Matrix  # a_i, a column for each velocity of the joint
    linear: Matrix  # velocity of p, so that J_is = linear + a_i × (r_s − p)
    gravity: Matrix  # g


@dataclass(frozen=True)
class InertialMotion:
    """Velocities and accelerations of a link."""

    omega: Matrix  # ω
    alpha: Matrix  # α
    velocity: Matrix  # of the origin
    acceleration: Matrix  # of the origin
    com_velocity: Matrix
    com_acceleration: Matrix  # r̈_s
    moment_rate: Matrix  # ω × d_s
    moment_acceleration: Matrix  # U_s d_s


_AT_REST = InertialMotion(*[_NULL] * 8)


def place(tree: Tree, q: Matrix, *, central: bool = False) -> list[InertialLink]:
    """Placement of all links at q; ``central``: r_s are centres of mass, also where inertia is a symbol."""
    links: list[InertialLink] = []
    for joint in tree.joints:
        r, p = joint.placement(q)
        if joint.parent < 0:
            # the inertial frame is turned with the root link, and g against it, so that r stands in no product but this
            gravity = r.T @ spatial.constant(tree.gravity)
            r, p = ca.DM.eye(3), _NULL
        else:
            parent = links[joint.parent]
            gravity = parent.gravity
            r, p = parent.to_inertial @ r, parent.origin + parent.to_inertial @ p
        linear, angular = joint.subspace(q)
        if central or not isinstance(joint.pseudo_inertia, ca.SX):
            com, moment, inertia = p + r @ spatial.constant(joint.com), _NULL, spatial.constant(joint.inertia)
        else:
            j = joint.pseudo_inertia
            com, moment, inertia = p, r @ j[:3, 3], spatial.inertia_of(j[:3, :3])
        inertia = spatial.congruence(r, inertia)
        links.append(InertialLink(r, p, com, joint.mass, moment, inertia, r @ angular, r @ linear, gravity))
    return links


def move(tree: Tree, links: list[InertialLink], q: Matrix, v: Matrix, a: Matrix) -> list[InertialMotion]:
    """The motion of all links: ω_k, α_k and r̈_s of sections 2 and 3, with the accelerations a put in."""
    motions: list[InertialMotion] = []
    for joint, link in zip(tree.joints, links, strict=True):
        parent, before = (links[joint.parent], motions[joint.parent]) if joint.parent >= 0 else (link, _AT_REST)
        v_i, a_i = joint.velocity(v), joint.velocity(a)
        linear_rate, angular_rate = joint.subspace_rate(q, v)
        turning, sliding = link.angular @ v_i, link.linear @ v_i

        omega = before.omega + turning
        alpha = before.alpha + link.angular @ a_i + ca.cross(before.omega, turning)
        alpha = alpha + link.to_inertial @ (angular_rate @ v_i)
        arm = link.origin - parent.origin
        velocity = before.velocity + ca.cross(before.omega, arm) + sliding
        acceleration = before.acceleration + spatial.spin(before.alpha, before.omega) @ arm + link.linear @ a_i
        acceleration = acceleration + ca.cross(before.omega + omega, sliding) + link.to_inertial @ (linear_rate @ v_i)
        to_com = link.com - link.origin
        com_velocity = velocity + ca.cross(omega, to_com)
        turning = spatial.spin(alpha, omega)  # U_s
        com_acceleration = acceleration + turning @ to_com
        rate, second = ca.cross(omega, link.moment), turning @ link.moment
        motions.append(
            InertialMotion(omega, alpha, velocity, acceleration, com_velocity, com_acceleration, rate, second)
        )
    return motions


def translational_torques(
    tree: Tree, links: list[InertialLink], accelerations: list[Matrix], motions: list[InertialMotion] | None = None
) -> Matrix:
    """Torques Σ_s m_s r̈_s·J_is (eq. 31 at a = 0; G of eq. 33 with −g for r̈_s), nv, and what d_s adds to that."""
    turned = [motion.moment_acceleration for motion in motions or [_AT_REST] * len(links)]
    every = list(zip(links, accelerations, turned, strict=True))
    forces = [link.mass * r_ddot + second for link, r_ddot, second in every]
    force = tree.suffix_sums(forces)
    moment = tree.suffix_sums(
        [
            ca.cross(link.com, f) + ca.cross(link.moment, r_ddot)
            for (link, r_ddot, _), f in zip(every, forces, strict=True)
        ]
    )
    return tree.vector(
        [
            link.linear.T @ f + link.angular.T @ (k - ca.cross(link.origin, f))
            for link, f, k in zip(links, force, moment, strict=True)
        ]
    )


def rotational_torques(tree: Tree, links: list[InertialLink], motions: list[InertialMotion]) -> Matrix:
    """Torques Σ_s a_i·(Ī_s α_s + ω_s × Ī_s ω_s) (eq. 32 at a = 0), nv."""
    moment = tree.suffix_sums([euler_moment(link, motion) for link, motion in zip(links, motions, strict=True)])
    return tree.vector([link.angular.T @ n for link, n in zip(links, moment, strict=True)])


def euler_moment(link: InertialLink, motion: InertialMotion) -> Matrix:
    """Euler's moment Ī_s α_s + ω_s × Ī_s ω_s of a link, about r_s."""
    return link.inertia @ motion.alpha + ca.cross(motion.omega, link.inertia @ motion.omega)


def translational_mass_matrix(tree: Tree, links: list[InertialLink]) -> Matrix:
    """Mass matrix D^tra (30), nv × nv: the work on J_is of the forces that unit accelerations of joint j need."""
    mass = tree.suffix_sums([link.mass for link in links])
    first = tree.suffix_sums([first_moment(link) for link in links])  # S = Σ m r + d
    second = tree.suffix_sums([point_inertia(link) for link in links])  # Q = Σ m (|r|² 1 − r rᵀ)

    columns = []  # of forces, and of moments about the inertial frame's origin
    for link, m, s, inertia in zip(links, mass, first, second, strict=True):
        at_origin = link.linear - spatial.cross_columns(link.angular, link.origin)
        force = m * at_origin - spatial.skew(s) @ link.angular
        columns.append((force, spatial.skew(s) @ at_origin + inertia @ link.angular))
    return tree.symmetric_matrix((i, j, work(links[i], *columns[j])) for i, j in tree.pairs())


def work(link: InertialLink, force: Matrix, moment: Matrix) -> Matrix:
    """Power of forces with the given moments about the inertial origin (a column each) in the joint's own motions."""
    return link.linear.T @ force + link.angular.T @ (moment - spatial.skew(link.origin) @ force)


def first_moment(link: InertialLink) -> Matrix:
    """First moment m r + d, about the inertial frame's origin."""
    return link.mass * link.com + link.moment


def point_inertia(link: InertialLink) -> Matrix:
    """Inertia m (|r|² 1 − r rᵀ) of a link's mass gathered at its centre; with d, what Ī_s lacks of it."""
    cross = link.com @ link.moment.T
    return spatial.inertia_of(link.mass * spatial.outer(link.com) + cross + cross.T)


def rotational_mass_matrix(tree: Tree, links: list[InertialLink]) -> Matrix:
    """Mass matrix D^rot (30), nv × nv: Σ_s a_i·Ī_s a_j."""
    inertia = tree.suffix_sums([link.inertia for link in links])
    columns = [inertia[j] @ links[j].angular for j in range(len(links))]
    return tree.symmetric_matrix((i, j, links[i].angular.T @ columns[j]) for i, j in tree.pairs())


class GeneralizedDAlembert(Dynamics):
    """Dynamics by the generalized d'Alembert equations (Lee, Lee and Nigam 1982); see the module for the equations.

    Arguments, errors and all common Functions: :class:`~gdalembert.Dynamics`.
    """

    name: ClassVar[str] = "generalized_dalembert"
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "lee1982",
            "techreport",
            "An Efficient Formulation of Robot Arm Dynamics for Control Analysis and Manipulator Design",
            ("C. S. G. Lee", "B. H. Lee", "R. Nigam"),
            "generalized_dalembert",
            {"number": "RSD-TR-8-82", "institution": "University of Michigan", "year": "1982"},
            equations="generalized d'Alembert equations of motion (28) to (33)",
        ),
        Source(
            "horn1977",
            "techreport",
            "Dynamics of a Three Degree of Freedom Kinematic Chain",
            ("B. K. P. Horn", "K. Hirokawa", "V. V. Vazirani"),
            "generalized_dalembert, link_torques",
            {"number": "AI Memo 478", "institution": "Massachusetts Institute of Technology", "year": "1977"},
        ),
    )

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        """Torque tau (nv), eq. (28): translational and rotational part, gravity as an acceleration of all masses.

        The base class knows the part of the wrenches, −Σ Jᵀ w, and adds armature and the other forces to the result.
        """
        tree, links = self.tree, place(self.tree, q)
        motions = move(tree, links, q, v, a)
        specific_forces = [motion.com_acceleration - link.gravity for motion, link in zip(motions, links, strict=True)]
        tau = translational_torques(tree, links, specific_forces, motions) + rotational_torques(tree, links, motions)
        return tau + self.wrench_torque_expression(q, wrenches)

    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        links = place(self.tree, q)
        return translational_mass_matrix(self.tree, links) + rotational_mass_matrix(self.tree, links)

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        """Coriolis matrix C (nv × nv): C_ij = Σ_s m_s J_is·dJ_js/dt + a_i·(Ī_s da_j/dt − [ω_s×] Σ_s a_j), ours.

        Σ_s = ½ tr(Ī_s) 1 − Ī_s is the pseudo-inertia: the second part is Σ over points x of (a_i × x)·d/dt(a_j × x).
        """
        tree, links = self.tree, place(self.tree, q)
        motions = move(tree, links, q, v, ca.DM(tree.nv, 1))
        both = list(zip(links, motions, strict=True))
        mass = tree.suffix_sums([link.mass for link in links])
        first = tree.suffix_sums([first_moment(link) for link in links])
        first_rate = tree.suffix_sums([link.mass * motion.com_velocity + motion.moment_rate for link, motion in both])
        # about the origin: B + Q for da_j/dt, and of Σ m ṙ rᵀ + [ω×] Σ_s for a_j
        second = tree.suffix_sums([link.inertia + point_inertia(link) for link in links])
        turnings = [spatial.skew(motion.omega) @ spatial.pseudo_inertia_of(link.inertia) for link, motion in both]
        second_rate = tree.suffix_sums(
            [
                (link.mass * motion.com_velocity + motion.moment_rate) @ link.com.T
                + motion.com_velocity @ link.moment.T
                + x
                for (link, motion), x in zip(both, turnings, strict=True)
            ]
        )
        rates: list[tuple[Matrix, Matrix]] = []  # of the columns at the origin, of the joint's own columns
        for joint, (link, motion) in zip(tree.joints, both, strict=True):
            # a single column is not turned by the joint's own motion
            turned = motion if joint.type.nv > 1 else motions[joint.parent] if joint.parent >= 0 else _AT_REST
            linear, angular = joint.subspace_rate(q, v)
            linear = spatial.skew(turned.omega) @ link.linear + link.to_inertial @ linear
            angular = spatial.skew(turned.omega) @ link.angular + link.to_inertial @ angular
            moved = spatial.cross_columns(link.angular, motion.velocity)
            rates.append((linear - spatial.cross_columns(angular, link.origin) - moved, angular))

        def column(j: int, s: int) -> tuple[Matrix, Matrix]:
            """Force and moment of the column rates of joint j in the subtree of s."""
            (linear, angular), axes = rates[j], links[j].angular
            force = mass[s] * linear - spatial.skew(first[s]) @ angular - spatial.skew(first_rate[s]) @ axes
            moment = spatial.skew(first[s]) @ linear + second[s] @ angular + spatial.inertia_of(second_rate[s]) @ axes
            return force, moment

        upper = [(i, j, work(links[i], *column(j, j))) for i, j in tree.pairs()]
        return tree.matrix([*upper, *((j, i, work(links[j], *column(i, j))) for i, j in tree.pairs() if i != j)])

    def kinetic_energy_expression(self, q: Matrix, v: Matrix) -> Matrix:
        """Energy ½ Σ m_s |ṙ_s|² + ½ Σ ω_s·Ī_s ω_s, and Σ ṙ_s·(ω_s × d_s)."""
        links = place(self.tree, q)
        motions = move(self.tree, links, q, v, ca.DM(self.tree.nv, 1))
        return 0.5 * sum(
            link.mass * ca.sumsqr(motion.com_velocity)
            + 2 * ca.dot(motion.com_velocity, motion.moment_rate)
            + ca.dot(motion.omega, link.inertia @ motion.omega)
            for link, motion in zip(links, motions, strict=True)
        )

    @cached_property
    def terms(self) -> ca.Function:
        """(q, v) → (D_tra, D_rot, H_tra, H_rot, G, I_act): the parts of tau = (D_tra + D_rot + diag(I_act)) a + H + G.

        D_tra, D_rot are nv × nv, the others nv; "tra" comes from ½ m |ṙ|², "rot" from ½ ω·Ī ω, link by link, and each
        is Lagrangian by itself. Armature is in I_act alone.
        """
        self._require_bodies("terms")
        tree, s = self.tree, self.symbols("q", "v")
        links = place(tree, s["q"], central=True)
        motions = move(tree, links, s["q"], s["v"], ca.DM(tree.nv, 1))
        d_tra, d_rot = translational_mass_matrix(tree, links), rotational_mass_matrix(tree, links)
        h_tra = translational_torques(tree, links, [motion.com_acceleration for motion in motions])
        h_rot = rotational_torques(tree, links, motions)
        g = translational_torques(tree, links, [-link.gravity for link in links])
        parts = {"D_tra": d_tra, "D_rot": d_rot, "H_tra": h_tra, "H_rot": h_rot, "G": g, "I_act": self._armature}
        return function("terms", s, parts)

    @cached_property
    def link_torques(self) -> ca.Function:
        """(q, v, a) → (links), nv × (njoints − 1): the torque at each joint due to each link, without gravity.

        Horn's T_ij, links in Pinocchio's order: the sum of the columns, I_act a and g make tau (without springs and
        other forces).
        """
        self._require_bodies("link_torques")
        tree, s = self.tree, self.symbols("q", "v", "a")
        links = place(tree, s["q"], central=True)
        motions = move(tree, links, s["q"], s["v"], s["a"])
        columns = []
        for j in tree.links:
            force = links[j].mass * motions[j].com_acceleration
            moment = ca.cross(links[j].com, force) + euler_moment(links[j], motions[j])
            parts: list[Matrix] = [ca.DM(joint.type.nv, 1) for joint in tree.joints]
            for i in tree.path(j):
                parts[i] = work(links[i], force, moment)
            columns.append(tree.vector(parts))
        return function("link_torques", s, {"links": ca.horzcat(*columns)})
