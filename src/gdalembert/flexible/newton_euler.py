"""Newton–Euler recursion with flexible links: a link with its n modes is moved like a joint with n velocities (ours).

The joint moves the link; the modal coordinates f deform it and move its stations, which carry the child joints:

    station    p = p̄ + U f − ½ (fᵀ s f) e_x,  R_E = exp([ϑ×]),  ϑ = Θ f
               ẍ_E = ẍ + U p + 2 ω × ṗ + p̈,   ω_E = R_Eᵀ ω + J ḟ

The motion of a flexible link demands, in trace form, with U = [α×] + [ω×][ω×], Σ and c of the deformed link and
N_r = ∫ h φ_rᵀ,

    f   = m ẍ + U c + 2 ω × P ḟ + P f̈
    n   = vee(Φ − Φᵀ) + c × ẍ,   Φ = U Σ + 2 [ω×] (Σ ḟ_j N_j)ᵀ + (Σ f̈_j N_j)ᵀ
    g_r = tr(U N_r) + P_r·ẍ + 2 tr([ω×] Σ ḟ_k C_kr) + Σ M_rk f̈_k

A rigid link is the case without modes and takes the same code as in :class:`~gdalembert.NewtonEuler`. With
foreshortening a beam has more shapes than modes. Its equations are those of the shapes, with coordinates g(f),
G = ∂g/∂f, ġ = G ḟ and g̈ = G f̈ + Σ ∂²g ḟ ḟ; the modal forces are Gᵀ times the forces on the shapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.aba import Articulated
from gdalembert.dynamics.newton_euler.crba import Composite, at_rates
from gdalembert.dynamics.newton_euler.links import (
    Link,
    LinkMotion,
    Motions,
    base_motion,
    demanded_wrench,
    moved,
    place,
)
from gdalembert.dynamics.newton_euler.rotations import Full
from gdalembert.dynamics.newton_euler.spin import spin_of
from gdalembert.flexible.deflection import Deflection
from gdalembert.flexible.deformed_inertia import DeformedLink, crossed, deformed, weighted
from gdalembert.flexible.tree import FlexibleTree
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
        second_rate = self.linear @ a + self.deflection.displacement_rate(v) @ v
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
class DeformedArm:
    """The robot at q; links and stations by their index in the tree."""

    tree: FlexibleTree
    links: list[Link]
    bodies: dict[int, DeformedLink]  # of flexible links
    stations: dict[int, DeflectedStation]

    @staticmethod
    def of(tree: FlexibleTree, q: Matrix) -> DeformedArm:
        """The robot at q."""
        stations = {
            i: DeflectedStation.of(joint.type, joint.configuration(q))
            for i, joint in enumerate(tree.joints)
            if isinstance(joint.type, Deflection)
        }
        bodies = {i: deformed(modal, stations[tree.first_station(i)].f) for i, modal in tree.modal.items()}
        return DeformedArm(tree, place(tree, q), bodies, stations)

    def __iter__(self) -> Iterator[tuple[int, Link]]:
        """From the base to the tips."""
        return iter(enumerate(self.links))

    def inward(self) -> Iterator[tuple[int, Link]]:
        """From the tips to the base."""
        return reversed(list(enumerate(self.links)))

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
    g_rate, g_second_rate = body.jacobian @ v, body.jacobian @ a + body.modal.coordinates_bias(v)
    n_rate, n_second_rate = weighted(body.shapes, g_rate), weighted(body.shapes, g_second_rate)
    force = (
        body.mass * motion.acceleration
        + spin @ body.first
        + 2 * ca.cross(omega, n_rate[3, :3].T)
        + n_second_rate[3, :3].T
    )
    phi = 2 * spatial.skew(omega) @ n_rate[:3, :3].T + n_second_rate[:3, :3].T
    moment = spin.moment(body.second) + crossed(phi.T) + ca.cross(body.first, motion.acceleration)

    def shape_force(shape: int) -> Matrix:
        """tr(U N_a) + P_a·ẍ + 2 ω·Σ_b ġ_b ∫ φ_b × φ_a of a shape a."""
        n = body.shapes[shape]
        coupled = weighted([spatial.constant(x) for x in body.modal.second[:, shape]], g_rate)
        return (
            ca.trace(spin @ n[:3, :3]) + ca.dot(n[3, :3].T, motion.acceleration) + 2 * ca.dot(omega, crossed(coupled))
        )

    forces = ca.vertcat(*(shape_force(shape) for shape in range(body.modal.shapes))) + body.masses @ g_second_rate
    return Wrench(force, moment), body.jacobian.T @ forces


def inverse_dynamics(tree: FlexibleTree, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
    """tau of the links and modes (nv), gravity included; without stiffness, damping and armature."""
    arm = DeformedArm.of(tree, q)
    motions = arm.motions(q, v, a, -ca.DM(tree.gravity))
    wrenches, torques = arm.demands(motions, v, a)
    for i, link in arm.inward():
        if i in arm.stations:
            station = arm.stations[i]
            torques[i] = torques[i] + station.deflection.modal_forces(station.f, wrenches[i].moment)
            on_link = wrenches[i].turned(station.rotation)
            torques[i] = torques[i] + station.linear.T @ on_link.force
            wrenches[link.joint.parent] += on_link.about(-station.origin)
        else:
            torques[i] = link.torque(wrenches[i])
            if link.joint.parent >= 0:
                wrenches[link.joint.parent] += wrenches[i].to_parent(*link.placement)
    return tree.vector(torques)


# The mass matrix.


def mass_matrix(tree: FlexibleTree, q: Matrix) -> Matrix:
    """M of the links and modes (nv × nv) by composite bodies; the columns of the modes begin at their link."""
    arm = DeformedArm.of(tree, q)
    return tree.symmetric_matrix(at_rates(arm.links, _blocks(arm, composites(arm))))


def composites(arm: DeformedArm) -> list[Composite]:
    """The composite body of the subtree of each link and station."""
    bodies = [Composite(body.mass, body.first, body.second) for body in (arm.bodies.get(i, link) for i, link in arm)]
    for i, link in arm.inward():
        if i in arm.stations:
            station = arm.stations[i]
            bodies[link.joint.parent] += bodies[i].turned(Full(station.rotation)).shifted(station.origin)
        elif link.joint.parent >= 0:
            bodies[link.joint.parent] += bodies[i].to_parent(link)
    return bodies


def _blocks(arm: DeformedArm, bodies: list[Composite]) -> Iterator[tuple[int, int, Matrix]]:
    """The blocks (i, j, M_ij) of joints and modes, i at or above j."""
    for j, link in arm:
        if j in arm.stations:
            continue
        if j in arm.bodies:
            own, wrench = modal_columns(arm, bodies, j)
            modes = arm.tree.first_station(j)
            yield modes, modes, own
            yield j, modes, link.work(wrench)
            yield from _blocks_above(arm, j, modes, wrench.turned(link.turn))
        wrench = bodies[j].turned(link.turn).wrench(link.columns)
        yield j, j, link.work(wrench)
        yield from _blocks_above(arm, j, j, wrench)


def _blocks_above(arm: DeformedArm, i: int, column: int, wrench: Wrench) -> Iterator[tuple[int, int, Matrix]]:
    """The blocks of the joints and modes above link i, from the wrench of a column in the axes of its joint."""
    link = arm.links[i]
    while (parent := link.joint.parent) >= 0:
        wrench = wrench.to_parent(link.fixed, link.origin)
        if parent in arm.stations:
            station = arm.stations[parent]
            parent = arm.links[parent].joint.parent
            moment = station.angular.T @ wrench.moment
            wrench = wrench.turned(station.rotation)
            yield arm.tree.first_station(parent), column, station.linear.T @ wrench.force + moment
            wrench = wrench.about(-station.origin)
        link = arm.links[parent]
        yield parent, column, link.work(wrench)
        wrench = wrench.turned(link.turn)


def modal_columns(arm: DeformedArm, bodies: list[Composite], i: int) -> tuple[Matrix, Wrench]:
    """M_ff of a link with all it carries, and the wrench at its joint per unit of modal acceleration, in link axes."""
    own: Matrix = arm.bodies[i].own
    wrench = arm.bodies[i].columns
    for s in arm.tree.stations(i):
        station = arm.stations[s]
        columns = station.columns
        on_station = bodies[s].turned(Full(station.rotation)).wrench(columns)
        own = own + on_station.work(columns.linear, columns.angular)
        wrench = wrench + on_station.about(-station.origin)
    return own, wrench


# Forward dynamics.


@dataclass(frozen=True)
class Elimination:
    """The accelerations of a joint or of modes, as they follow from the motion of the frame that carries them.

    With U the wrench per unit of them, D = Sᵀ U their inertia and u the effort that accelerates them.
    """

    wrench: Wrench  # U
    gain: Wrench  # U D⁻¹
    effort: Matrix  # D⁻¹ u

    @staticmethod
    def of(inertia: Matrix, wrench: Wrench, effort: Matrix) -> Elimination:
        """From D, U and u, by one factorization."""
        solved = spatial.symmetric_solve(inertia, ca.horzcat(wrench.force.T, wrench.moment.T, effort))
        return Elimination(wrench, Wrench(solved[:, :3].T, solved[:, 3:6].T), solved[:, 6])

    def body(self, body: Articulated) -> Articulated:
        """The articulated body without the inertia that they release."""
        return body.without(self.wrench, self.gain)

    def bias(self, bias: Wrench) -> Wrench:
        """The bias wrench with what their efforts transmit."""
        return bias + Wrench(self.wrench.force @ self.effort, self.wrench.moment @ self.effort)

    def accelerations(self, carrier: Motion) -> Matrix:
        """D⁻¹ (u − Uᵀ a) from the acceleration of the frame that carries them."""
        return self.effort - self.gain.work(carrier.linear, carrier.angular).T


@dataclass
class ArticulatedModes:
    """The modes of a link, gathered from its stations."""

    inertia: Matrix  # M_ff
    columns: Wrench  # per unit of modal acceleration, at the joint of the link
    bias: Matrix  # modal forces at zero accelerations of joints and modes


@dataclass
class ArticulatedArm:
    """Articulated bodies, gathered from the tips inward.

    Attributes:
        arm: the robot at q.
        bodies: of links and stations.
        biases: the wrenches that links and stations demand at zero accelerations of joints and modes.
        modes: of flexible links.
    """

    arm: DeformedArm
    bodies: list[Articulated]
    biases: list[Wrench]
    modes: dict[int, ArticulatedModes]

    @staticmethod
    def of(arm: DeformedArm, q: Matrix, v: Matrix) -> ArticulatedArm:
        """Each link and station alone."""
        zero = ca.DM(arm.tree.nv, 1)
        biases, forces = arm.demands(arm.motions(q, v, zero, -ca.DM(arm.tree.gravity)), v, zero)
        bodies = [
            Articulated.of(body.mass, body.first, body.second) for body in (arm.bodies.get(i, link) for i, link in arm)
        ]
        modes = {
            i: ArticulatedModes(body.own, body.columns, forces[arm.tree.first_station(i)])
            for i, body in arm.bodies.items()
        }
        return ArticulatedArm(arm, bodies, biases, modes)

    def add_station(self, i: int) -> None:
        """Add a station to its link, and to the modes of that link."""
        station, parent = self.arm.stations[i], self.arm.links[i].joint.parent
        columns, modes = station.columns, self.modes[parent]
        body, bias = self.bodies[i].turned(Full(station.rotation)), self.biases[i].turned(station.rotation)
        wrench = body.wrench(columns.linear, columns.angular)
        modes.inertia = modes.inertia + wrench.work(columns.linear, columns.angular)
        modes.columns = modes.columns + wrench.about(-station.origin)
        modes.bias = modes.bias + bias.work(columns.linear, columns.angular)
        self.bodies[parent] += body.shifted(station.origin)
        self.biases[parent] += bias.about(-station.origin)

    def release_modes(self, i: int, tau: Matrix) -> Elimination:
        """Eliminate the modes of a link."""
        modes, joint = self.modes[i], self.arm.links[self.arm.tree.first_station(i)].joint
        found = Elimination.of(modes.inertia, modes.columns, joint.velocity(tau) - modes.bias)
        self.bodies[i], self.biases[i] = found.body(self.bodies[i]), found.bias(self.biases[i])
        return found

    def release_joint(self, i: int, tau: Matrix) -> Elimination:
        """Eliminate the joint of a link, and add the link to its parent."""
        link = self.arm.links[i]
        parent, armature = link.joint.parent, link.joint.velocity(ca.DM(self.arm.tree.armature))
        wrench = self.bodies[i].wrench(link.columns.linear, link.columns.angular)
        inertia = link.work(wrench) + ca.diag(armature) / link.rate**2
        found = Elimination.of(inertia, wrench, link.joint.velocity(tau) / link.rate - link.work(self.biases[i]))
        if parent >= 0:
            self.bodies[parent] += found.body(self.bodies[i]).to_parent(link)
            self.biases[parent] += found.bias(self.biases[i]).to_parent(*link.placement)
        return found


def forward_dynamics(tree: FlexibleTree, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
    """a of the links and modes (nv) by articulated bodies; modes release their stations, as joints their links."""
    arm = DeformedArm.of(tree, q)
    articulated = ArticulatedArm.of(arm, q, v)
    joints: dict[int, Elimination] = {}
    modes: dict[int, Elimination] = {}
    for i, _ in arm.inward():
        if i in arm.stations:
            articulated.add_station(i)
            continue
        if i in arm.bodies:
            modes[i] = articulated.release_modes(i, tau)
        joints[i] = articulated.release_joint(i, tau)
    return tree.vector(_accelerations(arm, joints, modes))


def _accelerations(arm: DeformedArm, joints: dict[int, Elimination], modes: dict[int, Elimination]) -> list[Matrix]:
    """The accelerations of joints and modes, outward; those of modes at the first station of their link."""
    found: list[Matrix] = [ca.DM(link.joint.type.nv, 1) for _, link in arm]
    changes: dict[int, Motion] = {-1: Motion(ca.DM(3, 1), ca.DM(3, 1))}  # against zero accelerations
    for i, link in arm:
        parent = changes[link.joint.parent]
        if i in arm.stations:
            station, a = arm.stations[i], found[arm.tree.first_station(link.joint.parent)]
            linear = parent.linear + ca.cross(parent.angular, station.origin) + station.linear @ a
            angular = station.rotation.T @ parent.angular + station.angular @ a
            changes[i] = Motion(station.rotation.T @ linear, angular)
            continue
        linear = link.rotation.T @ (parent.linear + ca.cross(parent.angular, link.origin))
        angular = link.rotation.T @ parent.angular
        a = joints[i].accelerations(Motion(linear, angular))
        found[i] = a / link.rate
        changes[i] = Motion(linear + link.columns.linear @ a, angular + link.columns.angular @ a)
        if i in modes:
            found[arm.tree.first_station(i)] = modes[i].accelerations(changes[i])
    return found
