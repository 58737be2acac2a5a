"""Newton–Euler with flexible links: links as joints with n degrees of freedom (ours).

A link is moved by its joint; its modes f deform it, and carry its stations, where children stand:

    station    p = p̄ + U f − ½ (fᵀ s f) e_x,  R_E = exp([ϑ×]),  ϑ = Θ f
               ẍ_E = ẍ + U p + 2 ω × ṗ + p̈,   ω_E = R_Eᵀ ω + J ḟ

What the link asks for, in trace form, with U = [α×] + [ω×][ω×], Σ and c of the deformed link, N_r = ∫ h φ_rᵀ:

    f   = m ẍ + U c + 2 ω × P ḟ + P f̈
    n   = vee(Φ − Φᵀ) + c × ẍ,   Φ = U Σ + 2 [ω×] (Σ ḟ_j N_j)ᵀ + (Σ f̈_j N_j)ᵀ
    g_r = tr(U N_r) + P_r·ẍ + 2 tr([ω×] Σ ḟ_k C_kr) + Σ M_rk f̈_k

A rigid link is the case without modes, and runs through the same code as in :class:`~gdalembert.NewtonEuler`. A beam
that shortens has more shapes than modes, with the coordinates g(f), G = ∂g/∂f and ġ = G ḟ: the equations are those of
the shapes, g̈ = G f̈ + Σ ∂²g ḟ ḟ, and what a mode feels is Gᵀ of what the shapes feel.
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
class Section:
    """A station at modal coordinates f, in link axes."""

    rotation: Matrix  # R_E
    origin: Matrix  # p
    linear: Matrix  # ∂p/∂f, 3 × n
    angular: Matrix  # J, 3 × n, in station axes


def section_of(deflection: Deflection, f: Matrix) -> Section:
    """Where a station is, and how its modes move it."""
    rotation, origin = deflection.placement(f)
    _, angular = deflection.subspace(f)
    return Section(rotation, origin, deflection.displacement(f), angular)


def carried_by(
    section: Section, deflection: Deflection, link: LinkMotion, f: Matrix, v: Matrix, a: Matrix
) -> LinkMotion:
    """The motion of a station on a link, from that of the link."""
    r = section.rotation
    rate = section.linear @ v
    second_rate = section.linear @ a + deflection.displacement_rate(v) @ v
    carried, turning = r.T @ link.omega, deflection.angular_velocity(f, v)
    omega = carried + turning
    alpha = r.T @ link.alpha + ca.cross(carried, turning) + deflection.angular_acceleration(f, v, a)
    return LinkMotion(
        omega=omega,
        alpha=alpha,
        spin=spin_of(alpha, omega),
        velocity=r.T @ (link.velocity + ca.cross(link.omega, section.origin) + rate),
        acceleration=r.T
        @ (link.acceleration + link.spin @ section.origin + 2 * ca.cross(link.omega, rate) + second_rate),
    )


@dataclass(frozen=True)
class State:
    """The robot at q: links, and for flexible ones what the modes make of them."""

    flexible: FlexibleTree
    links: list[Link]
    bodies: dict[int, DeformedLink]
    sections: dict[int, Section]
    modes: dict[int, Matrix]  # f by link and by station
    deflections: dict[int, Deflection]

    def __iter__(self) -> Iterator[tuple[int, Link]]:
        return iter(enumerate(self.links))

    def inward(self) -> Iterator[tuple[int, Link]]:
        """From the tips to the base."""
        return reversed(list(enumerate(self.links)))


def state_of(flexible: FlexibleTree, q: Matrix) -> State:
    """The robot at q."""
    tree = flexible.tree
    modes: dict[int, Matrix] = {}
    for i, joint in enumerate(tree.joints):
        if isinstance(joint.type, Deflection):
            modes[i] = modes[joint.parent] = joint.configuration(q)
    deflections = {i: joint.type for i, joint in enumerate(tree.joints) if isinstance(joint.type, Deflection)}
    sections = {i: section_of(deflection, modes[i]) for i, deflection in deflections.items()}
    bodies = {i: deformed(modal, modes[i]) for i, modal in flexible.modal.items()}
    return State(flexible, place(tree, q), bodies, sections, modes, deflections)


def move(state: State, q: Matrix, v: Matrix, a: Matrix, base_acceleration: Matrix) -> Motions:
    """Outward: the motion of all links and stations."""
    motions = {-1: base_motion(base_acceleration)}
    for i, link in state:
        parent, joint = motions[link.joint.parent], link.joint
        if i in state.sections:
            motions[i] = carried_by(
                state.sections[i], state.deflections[i], parent, state.modes[i], joint.velocity(v), joint.velocity(a)
            )
        else:
            motions[i] = moved(link, parent, q, v, a)
    return motions


def demanded(body: DeformedLink, motion: LinkMotion, v: Matrix, a: Matrix) -> tuple[Wrench, Matrix]:
    """What the motion of a flexible link asks of it: the wrench at its joint, and the modal forces g."""
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

    def felt(shape: int) -> Matrix:
        """tr(U N_a) + P_a·ẍ + 2 ω·Σ_b ġ_b ∫ φ_b × φ_a of a shape a."""
        n = body.shapes[shape]
        coupled = weighted([spatial.constant(x) for x in body.modal.second[:, shape]], g_rate)
        return (
            ca.trace(spin @ n[:3, :3]) + ca.dot(n[3, :3].T, motion.acceleration) + 2 * ca.dot(omega, crossed(coupled))
        )

    forces = ca.vertcat(*(felt(shape) for shape in range(body.modal.shapes))) + body.masses @ g_second_rate
    return Wrench(force, moment), body.jacobian.T @ forces


def inverse_dynamics(flexible: FlexibleTree, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
    """tau of the links and modes (nv), gravity included; no stiffness, no damping, no armature."""
    tree = flexible.tree
    state = state_of(flexible, q)
    motions = move(state, q, v, a, -ca.DM(tree.gravity))
    wrenches, torques = demands(state, motions, v, a)
    for i, link in state.inward():
        if i in state.sections:
            section = state.sections[i]
            torques[i] = torques[i] + state.deflections[i].modal_forces(state.modes[i], wrenches[i].moment)
            on_link = wrenches[i].turned(section.rotation)
            torques[i] = torques[i] + section.linear.T @ on_link.force
            wrenches[link.joint.parent] += on_link.about(-section.origin)
        else:
            torques[i] = link.torque(wrenches[i])
            if link.joint.parent >= 0:
                wrenches[link.joint.parent] += wrenches[i].to_parent(*link.placement)
    return tree.vector(torques)


def demands(state: State, motions: Motions, v: Matrix, a: Matrix) -> tuple[list[Wrench], list[Matrix]]:
    """What the motion asks of each link and station alone, and of the modes at their first station."""
    wrenches: list[Wrench] = []
    torques: list[Matrix] = [ca.DM(link.joint.type.nv, 1) for _, link in state]
    for i, link in state:
        if i not in state.bodies:
            wrenches.append(demanded_wrench(link, motions[i]))
            continue
        first = state.flexible.first_station(i)
        joint = state.links[first].joint
        wrench, forces = demanded(state.bodies[i], motions[i], joint.velocity(v), joint.velocity(a))
        wrenches.append(wrench)
        torques[first] = forces
    return wrenches, torques


def mass_matrix(flexible: FlexibleTree, q: Matrix) -> Matrix:
    """M of the links and modes (nv × nv) by composite bodies; the modes' columns start at their link."""
    tree = flexible.tree
    state = state_of(flexible, q)
    bodies = [
        Composite(state.bodies[i].mass, state.bodies[i].first, state.bodies[i].second)
        if i in state.bodies
        else Composite(link.mass, link.first, link.second)
        for i, link in state
    ]
    for i, link in state.inward():
        if i in state.sections:
            section = state.sections[i]
            bodies[link.joint.parent] += bodies[i].turned(Full(section.rotation)).shifted(section.origin)
        elif link.joint.parent >= 0:
            bodies[link.joint.parent] += bodies[i].to_parent(link)

    def blocks() -> Iterator[tuple[int, int, Matrix]]:
        for j, link in state:
            if j in state.sections:
                continue
            if j in state.bodies:
                own, wrench = modal_columns(state, bodies, j)
                modes = flexible.first_station(j)
                yield modes, modes, own
                yield j, modes, link.work(wrench)
                yield from above(j, modes, wrench.turned(link.turn))
            body = bodies[j].turned(link.turn)
            wrench = body.wrench(link.columns)
            yield j, j, link.work(wrench)
            yield from above(j, j, wrench)

    def above(i: int, column: int, wrench: Wrench) -> Iterator[tuple[int, int, Matrix]]:
        """What the joints and modes above link i feel of a column, given in the axes of its joint."""
        link = state.links[i]
        while (parent := link.joint.parent) >= 0:
            wrench = wrench.to_parent(link.fixed, link.origin)
            if parent in state.sections:
                section = state.sections[parent]
                parent = state.links[parent].joint.parent
                moment = section.angular.T @ wrench.moment
                wrench = wrench.turned(section.rotation)
                modes = flexible.first_station(parent)
                yield modes, column, section.linear.T @ wrench.force + moment
                wrench = wrench.about(-section.origin)
            link = state.links[parent]
            yield parent, column, link.work(wrench)
            wrench = wrench.turned(link.turn)

    return tree.symmetric_matrix(at_rates(state.links, blocks()))


def modal_columns(state: State, bodies: list[Composite], i: int) -> tuple[Matrix, Wrench]:
    """M_ff of a link and all it carries, and what unit accelerations of its modes ask at its joint, in link axes."""
    own: Matrix = state.bodies[i].own
    wrench = state.bodies[i].columns
    for s in state.flexible.stations[state.flexible.links.index(i)]:
        section = state.sections[s]
        angular = section.rotation @ section.angular
        asked = bodies[s].turned(Full(section.rotation)).wrench(Motion(section.linear, angular))
        own = own + asked.work(section.linear, angular)
        wrench = wrench + asked.about(-section.origin)
    return own, wrench


def forward_dynamics(flexible: FlexibleTree, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
    """a of the links and modes (nv) by articulated bodies: a joint lets go of its link, the modes of their stations."""
    tree = flexible.tree
    state = state_of(flexible, q)
    zero = ca.DM(tree.nv, 1)
    motions = move(state, q, v, zero, -ca.DM(tree.gravity))
    biases, modal_biases = demands(state, motions, v, zero)
    armature = ca.DM(tree.armature)
    bodies = [
        Articulated.of(state.bodies[i].mass, state.bodies[i].first, state.bodies[i].second)
        if i in state.bodies
        else Articulated.of(link.mass, link.first, link.second)
        for i, link in state
    ]
    # of modes: columns of the wrench on their link and M_ff, gathered from their stations
    columns = {i: body.columns for i, body in state.bodies.items()}
    masses: dict[int, Matrix] = {i: body.own for i, body in state.bodies.items()}
    gains: dict[int, Wrench] = {}
    efforts: dict[int, Matrix] = {}
    modal_gains: dict[int, Wrench] = {}
    modal_efforts: dict[int, Matrix] = {}

    for i, link in state.inward():
        parent = link.joint.parent
        if i in state.sections:
            section = state.sections[i]
            angular = section.rotation @ section.angular
            body = bodies[i].turned(Full(section.rotation))
            bias = biases[i].turned(section.rotation)
            asked = body.wrench(section.linear, angular)
            masses[parent] = masses[parent] + asked.work(section.linear, angular)
            columns[parent] = columns[parent] + asked.about(-section.origin)
            first = flexible.first_station(parent)
            modal_biases[first] = modal_biases[first] + bias.work(section.linear, angular)
            bodies[parent] += body.shifted(section.origin)
            biases[parent] += bias.about(-section.origin)
            continue
        if i in state.bodies:
            first = flexible.first_station(i)
            modes = state.links[first].joint
            demand = modes.velocity(tau) - modal_biases[first]
            modal_gains[i], modal_efforts[i] = let_go(masses[i], columns[i], demand)
            biases[i] += Wrench(columns[i].force @ modal_efforts[i], columns[i].moment @ modal_efforts[i])
            bodies[i] = bodies[i].without(columns[i], modal_gains[i])
        wrench = bodies[i].wrench(link.columns.linear, link.columns.angular)
        own = link.work(wrench) + ca.diag(link.joint.velocity(armature)) / link.rate**2
        gains[i], efforts[i] = let_go(own, wrench, link.joint.velocity(tau) / link.rate - link.work(biases[i]))
        if parent >= 0:
            bodies[parent] += bodies[i].without(wrench, gains[i]).to_parent(link)
            passed_on = biases[i] + Wrench(wrench.force @ efforts[i], wrench.moment @ efforts[i])
            biases[parent] += passed_on.to_parent(*link.placement)

    accelerations: list[Matrix] = [ca.DM(link.joint.type.nv, 1) for _, link in state]
    changes: dict[int, Motion] = {-1: Motion(ca.DM(3, 1), ca.DM(3, 1))}
    for i, link in state:
        above = changes[link.joint.parent]
        if i in state.sections:
            section = state.sections[i]
            a = accelerations[flexible.first_station(link.joint.parent)]
            linear = above.linear + ca.cross(above.angular, section.origin) + section.linear @ a
            changes[i] = Motion(section.rotation.T @ linear, section.rotation.T @ above.angular + section.angular @ a)
            continue
        linear = link.rotation.T @ (above.linear + ca.cross(above.angular, link.origin))
        angular = link.rotation.T @ above.angular
        a = efforts[i] - gains[i].work(linear, angular).T
        accelerations[i] = a / link.rate
        changes[i] = Motion(linear + link.columns.linear @ a, angular + link.columns.angular @ a)
        if i in state.bodies:
            accelerations[flexible.first_station(i)] = modal_efforts[i] - (
                modal_gains[i].work(changes[i].linear, changes[i].angular).T
            )
    return tree.vector(accelerations)


def let_go(own: Matrix, columns: Wrench, demand: Matrix) -> tuple[Wrench, Matrix]:
    """D⁻¹ (force; moment)ᵀ as columns, and D⁻¹ demand, in one elimination."""
    solved = spatial.symmetric_solve(own, ca.horzcat(columns.force.T, columns.moment.T, demand))
    return Wrench(solved[:, :3].T, solved[:, 3:6].T), solved[:, 6]
