"""Recursive Newton–Euler equations (Luh, Walker and Paul 1980, as used by Shala and Likaj), in link axes.

Outward, from the base to the tips, with Rᵀ to the axes of link i, p its origin in the parent, S_i = (linear; angular):

    ω = Rᵀ ω_λ + angular v        α = Rᵀ α_λ + angular a + Rᵀ ω_λ × (angular v)
    ẍ = Rᵀ (ẍ_λ + U_λ p) + linear a + (Rᵀ ω_λ + ω) × (linear v),         U = [α×] + [ω×][ω×]

Each link, in trace form, with m, h = m c and the pseudo-inertia J = ∫ x xᵀ about the link-frame origin (ours):

    f = m ẍ + U h                 n = vee(Φ − Φᵀ) + h × ẍ,  Φ = U J

Inward, from the tips to the base:

    f_λ += R f,   n_λ += R n + p × R f,   tau_i = S_iᵀ (f; n)

Gravity is an acceleration −g of the base. The mass matrix comes from composite bodies, forward dynamics from
articulated bodies or from M a = tau − nle, whichever is the smaller graph (Featherstone), the Coriolis matrix from
composite bodies and their rates.

All of it runs on a prepared tree (:mod:`gdalembert.preparation`) with z on the joints' axes. Then a turn touches two
components of what it meets (:mod:`gdalembert.rotations`), and U e_z, the acceleration of the axis, is the parent's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics import Dynamics
from gdalembert.functions import function, smaller
from gdalembert.preparation import prepare
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


def joint_wrenches(links: list[Link], motions: list[LinkMotion]) -> list[Wrench]:
    """Inward: the wrench that each joint passes on to its link, in link axes about the link origin."""
    wrenches = [demanded_wrench(link, motion) for link, motion in zip(links, motions, strict=True)]
    for i, link in reversed(list(enumerate(links))):
        if link.joint.parent >= 0:
            wrenches[link.joint.parent] += wrenches[i].to_parent(*link.placement)
    return wrenches


def inverse_dynamics(tree: Tree, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
    """tau, nv."""
    links = place(tree, q)
    wrenches = joint_wrenches(links, move(links, q, v, a, -ca.DM(tree.gravity)))
    return tree.vector([link.work(wrench) for link, wrench in zip(links, wrenches, strict=True)])


def gravity_torques(tree: Tree, q: Matrix) -> Matrix:
    """g, nv: each joint bears the weight of its subtree, whose mass and h = Σ m x are all that matters."""
    links = place(tree, q)
    masses = tree.suffix_sums([link.mass for link in links])
    firsts: list[Matrix] = [link.first for link in links]
    for i, link in reversed(list(enumerate(links))):
        if link.joint.parent >= 0:
            firsts[link.joint.parent] += link.rotation @ firsts[i] + masses[i] * link.origin
    lifts: list[Matrix] = []  # −g in link axes
    for link in links:
        above = lifts[link.joint.parent] if link.joint.parent >= 0 else -ca.DM(tree.gravity)
        lifts.append(link.rotation.T @ above)
    return tree.vector(
        [
            link.work(Wrench(mass * lift, ca.cross(first, lift)))
            for link, mass, first, lift in zip(links, masses, firsts, lifts, strict=True)
        ]
    )


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


@dataclass(frozen=True)
class Articulated:
    """Articulated-body inertia, (f; n) = [[M, H], [Hᵀ, I]] (linear; angular): M, I symmetric."""

    linear: Matrix  # M
    coupling: Matrix  # H
    angular: Matrix  # I

    def __add__(self, other: Articulated) -> Articulated:
        return Articulated(self.linear + other.linear, self.coupling + other.coupling, self.angular + other.angular)

    def wrench(self, linear: Matrix, angular: Matrix) -> Wrench:
        """The wrench of accelerations (columns linear; angular)."""
        return Wrench(self.linear @ linear + self.coupling @ angular, self.coupling.T @ linear + self.angular @ angular)

    def without(self, wrench: Wrench, gain: Wrench) -> Articulated:
        """What is left when a joint gives way: minus wrench gainᵀ."""
        return Articulated(
            spatial.symmetric(self.linear - wrench.force @ gain.force.T),
            self.coupling - wrench.force @ gain.moment.T,
            spatial.symmetric(self.angular - wrench.moment @ gain.moment.T),
        )

    def to_parent(self, link: Link) -> Articulated:
        """The same inertia in the parent's axes, about the parent's origin."""
        p = spatial.skew(link.origin)
        linear = link.rotation.conjugate(self.linear)
        turned = link.rotation.conjugate(self.coupling)
        coupling = turned - linear @ p
        angular = link.rotation.conjugate(self.angular) + p @ coupling - turned.T @ p
        return Articulated(linear, coupling, spatial.symmetric(angular))


def forward_dynamics(tree: Tree, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
    """a by articulated bodies, nv.

    The outward pass is run with a = 0; its wrenches are the bias, and what the recursion then finds is the change of
    every link's acceleration against that pass.
    """
    links = place(tree, q)
    motions = move(links, q, v, ca.DM(tree.nv, 1), -ca.DM(tree.gravity))
    biases = [demanded_wrench(link, motion) for link, motion in zip(links, motions, strict=True)]
    bodies = [
        Articulated(link.mass * ca.DM.eye(3), -spatial.skew(link.first), spatial.inertia_of(link.second))
        for link in links
    ]
    armature = ca.DM(tree.armature)
    gains: list[Wrench] = [Wrench(_NULL, _NULL)] * len(links)
    efforts: list[Matrix] = [_NULL] * len(links)
    for i, link in reversed(list(enumerate(links))):
        wrench = bodies[i].wrench(link.linear, link.angular)
        own = link.work(wrench) + ca.diag(link.joint.velocity(armature))
        # columns of D⁻¹ [force; moment]ᵀ and D⁻¹ (tau − Sᵀ bias), in one elimination
        demand = link.joint.velocity(tau) - link.work(biases[i])
        solved = spatial.symmetric_solve(own, ca.horzcat(wrench.force.T, wrench.moment.T, demand))
        gains[i], efforts[i] = Wrench(solved[:, :3].T, solved[:, 3:6].T), solved[:, 6]
        if link.joint.parent >= 0:
            bodies[link.joint.parent] += bodies[i].without(wrench, gains[i]).to_parent(link)
            passed_on = biases[i] + Wrench(wrench.force @ efforts[i], wrench.moment @ efforts[i])
            biases[link.joint.parent] += passed_on.to_parent(*link.placement)

    accelerations: list[Matrix] = []
    changes: list[tuple[Matrix, Matrix]] = []
    for link, gain, effort in zip(links, gains, efforts, strict=True):
        linear, angular = changes[link.joint.parent] if link.joint.parent >= 0 else (_NULL, _NULL)
        linear = link.rotation.T @ (linear + ca.cross(angular, link.origin))
        angular = link.rotation.T @ angular
        a_i = effort - gain.force.T @ linear - gain.moment.T @ angular
        accelerations.append(a_i)
        changes.append((linear + link.linear @ a_i, angular + link.angular @ a_i))
    return tree.vector(accelerations)


def kinetic_energy(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """½ Σ (m |ẋ|² + 2 ẋ·(ω × h) + ω·I ω)."""
    links = place(tree, q)
    motions = move(links, q, v, ca.DM(tree.nv, 1), _NULL)
    return 0.5 * sum(
        ca.dot(motion.velocity, link.mass * motion.velocity + 2 * ca.cross(motion.omega, link.first))
        + ca.dot(motion.omega, spatial.inertia_of(link.second) @ motion.omega)
        for link, motion in zip(links, motions, strict=True)
    )


class NewtonEuler(Dynamics):
    """Dynamics by the recursive Newton–Euler equations; see the module for the equations.

    Arguments, errors and all common Functions: :class:`~gdalembert.dynamics.Dynamics`.
    """

    name: ClassVar[str] = "newton_euler"

    @cached_property
    def _prepared(self) -> Tree:
        return prepare(self.tree, self.clean)

    def _inverse_dynamics(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        return inverse_dynamics(self._prepared, q, v, a)

    def _generalized_gravity(self, q: Matrix) -> Matrix:
        return gravity_torques(self._prepared, q)

    def _mass_matrix(self, q: Matrix) -> Matrix:
        return mass_matrix(self._prepared, q)

    def _coriolis_matrix(self, q: Matrix, v: Matrix) -> Matrix:
        return coriolis_matrix(self._prepared, q, v)

    def _forward_dynamics(self, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
        by_elimination = super()._forward_dynamics(q, v, tau)
        if self.tree.has_mimic:  # joints that share a coordinate cannot be let go one by one
            return by_elimination
        return smaller(by_elimination, forward_dynamics(self._prepared, q, v, tau))

    def _kinetic_energy(self, q: Matrix, v: Matrix) -> Matrix:
        return kinetic_energy(self._prepared, q, v)

    @cached_property
    def terms(self) -> ca.Function:
        """(q, v, a) → (force, moment), 3 × (njoints − 1) each: the wrench on each link through its joint.

        In the joint's (moved) frame, about its origin: ``data.f`` of ``pin.rnea``, gravity included, armature not.
        """
        s = self._symbols("q", "v", "a")
        links = place(self.tree, s["q"])
        wrenches = joint_wrenches(links, move(links, s["q"], s["v"], s["a"], -ca.DM(self.tree.gravity)))
        shown = [wrenches[i] for i in self.tree.links]
        return function(
            "terms",
            s,
            {
                "force": ca.horzcat(*(wrench.force for wrench in shown)),
                "moment": ca.horzcat(*(wrench.moment for wrench in shown)),
            },
        )
