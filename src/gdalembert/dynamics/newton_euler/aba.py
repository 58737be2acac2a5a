"""Articulated bodies: forward dynamics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.external import UNLOADED, Loads
from gdalembert.dynamics.newton_euler.links import Motions
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.dynamics.newton_euler.rotations import Full, Rotation
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.factorization import Factorization
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class Articulated:
    """Articulated-body inertia, (f; n) = [[M, H], [Hᵀ, I]] (linear; angular): M, I symmetric."""

    linear: Matrix  # M
    coupling: Matrix  # H
    angular: Matrix  # I

    @classmethod
    def of(cls, mass: Matrix, first: Matrix, second: Matrix) -> Articulated:
        """That of a rigid body."""
        return cls(mass * ca.DM.eye(3), -spatial.skew(first), spatial.inertia_of(second))

    def __add__(self, other: Articulated) -> Articulated:
        return Articulated(self.linear + other.linear, self.coupling + other.coupling, self.angular + other.angular)

    def wrench(self, linear: Matrix, angular: Matrix) -> Wrench:
        """The wrench of accelerations (columns linear; angular)."""
        return Wrench(self.linear @ linear + self.coupling @ angular, self.coupling.T @ linear + self.angular @ angular)

    def without(self, wrench: Wrench, gain: Wrench) -> Articulated:
        """The inertia felt across a joint that is free to move: minus wrench gainᵀ."""
        return Articulated(
            spatial.symmetric(self.linear - wrench.force @ gain.force.T),
            self.coupling - wrench.force @ gain.moment.T,
            spatial.symmetric(self.angular - wrench.moment @ gain.moment.T),
        )

    def turned(self, r: Rotation) -> Articulated:
        """The same in other axes, R x for x."""
        return Articulated(r.conjugate(self.linear), r.conjugate(self.coupling), r.conjugate(self.angular))

    def shifted(self, p: Matrix) -> Articulated:
        """The same about a point from which the origin is seen at p."""
        lever = spatial.skew(p)
        coupling = self.coupling - self.linear @ lever
        angular = self.angular + lever @ coupling - self.coupling.T @ lever
        return Articulated(self.linear, coupling, spatial.symmetric(angular))


@dataclass(frozen=True)
class Elimination:
    """A joint, or the modes of a link, that is free to accelerate: Featherstone's elimination, for all sweeps.

    Per unit of their accelerations they need the wrench U at the frame that carries them, and D of their own efforts.
    Under bias wrenches side by side (k columns) they are left with d = tau − Sᵀ bias, and accelerate by

        D⁻¹ (d x − Uᵀ a)

    where the carrier accelerates by a and the biases occur x times each (k).

    Attributes:
        body, bias: the articulated body that they move, and its bias wrenches.
        wrench: U. ``inertia``: D. ``demand``: d (n × k).
        is_free: whether S is the identity, and U is D.
    """

    body: Articulated
    bias: Wrench
    wrench: Wrench
    inertia: Factorization
    demand: Matrix
    is_free: bool = False

    @cached_property
    def gain(self) -> Wrench:
        """U D⁻¹."""
        if self.is_free:
            return Wrench(*ca.vertsplit(ca.DM.eye(6), 3))
        solved = self.inertia.solve(ca.horzcat(self.wrench.force.T, self.wrench.moment.T))
        return Wrench(solved[:, :3].T, solved[:, 3:].T)

    @cached_property
    def effort(self) -> Matrix:
        """D⁻¹ d (n × k)."""
        return self.inertia.solve(self.demand)

    @cached_property
    def carried_body(self) -> Articulated:
        """What the carrier feels of the body, I − U D⁻¹ Uᵀ."""
        return self.body.without(self.wrench, self.gain)

    @cached_property
    def carried_bias(self) -> Wrench:
        """What the carrier feels of the biases: with what the efforts transmit, U D⁻¹ d."""
        return self.bias + Wrench(self.wrench.force @ self.effort, self.wrench.moment @ self.effort)

    def accelerations(self, carrier: Motion, x: Matrix) -> Matrix:
        """D⁻¹ (d x − Uᵀ a)."""
        return self.effort @ x - self.gain.work(carrier.linear, carrier.angular).T

    def accelerations_at_base(self, x: Matrix) -> Matrix:
        """D⁻¹ d x, solved for once: at the base no effort is passed on."""
        return self.inertia.solve(self.demand @ x)


@dataclass
class ArticulatedModes:
    """The modes of a link, gathered from its stations."""

    inertia: Matrix  # M_ff
    columns: Wrench  # per unit of modal acceleration, at the joint of the link
    bias: Matrix  # modal forces at zero accelerations of joints and modes (n × k)


@dataclass
class ArticulatedBodies:
    """Articulated bodies, gathered from the tips inward.

    Attributes:
        robot: the robot at q.
        bodies: of links and stations.
        biases: the wrenches that links and stations need at zero accelerations of joints and modes, and others beside
            them (k columns).
        modes: of flexible links.
    """

    robot: RobotAtQ
    bodies: list[Articulated]
    biases: list[Wrench]
    modes: dict[int, ArticulatedModes]

    @staticmethod
    def of(robot: RobotAtQ, motions: Motions, v: Matrix, acting: Sequence[Wrench]) -> ArticulatedBodies:
        """Each link and station alone, in motion at a = 0 under the wrench that acts on it."""
        demands, forces = robot.demands(motions, v, ca.DM(*v.shape))
        biases = [demand - wrench for demand, wrench in zip(demands, acting, strict=True)]
        bodies = [Articulated.of(body.mass, body.first, body.second) for body in robot.inertias]
        modes = {
            i: ArticulatedModes(body.own, body.columns, forces[robot.tree.first_station(i)])
            for i, body in robot.bodies.items()
        }
        return ArticulatedBodies(robot, bodies, biases, modes)

    def beside(self, *others: Mapping[int, Wrench], modes: Mapping[int, Matrix] | None = None) -> ArticulatedBodies:
        """The same with other wrenches, by the index of the link or station, and modal forces beside the biases."""
        biases = [(bias.force, bias.moment) for bias in self.biases]
        for other in others:
            nothing = ca.DM(*next(iter(other.values())).force.shape)
            for i, (force, moment) in enumerate(biases):
                added = other.get(i, Wrench(nothing, nothing))
                biases[i] = ca.horzcat(force, added.force), ca.horzcat(moment, added.moment)
        for i, forces in (modes or {}).items():
            self.modes[i].bias = ca.horzcat(self.modes[i].bias, forces)
        return replace(self, biases=[Wrench(*bias) for bias in biases])

    def eliminated(self, tau: Matrix) -> ArticulatedRobot:
        """All joints and modes eliminated, from the tips to the base; tau (nv) acts beside the first column."""
        joints: dict[int, Elimination] = {}
        modes: dict[int, Elimination] = {}
        for i, _ in self.robot.inward():
            if i in self.robot.stations:
                self._add_station(i)
                continue
            if i in self.modes:
                modes[i] = self._release_modes(i, tau)
            joints[i] = self._release_joint(i, tau)
        return ArticulatedRobot(self.robot, joints, modes)

    def _add_station(self, i: int) -> None:
        """Add a station to its link, and to the modes of that link."""
        station, parent = self.robot.stations[i], self.robot.links[i].joint.parent
        columns, modes = station.columns, self.modes[parent]
        body, bias = self.bodies[i].turned(Full(station.rotation)), self.biases[i].turned(station.rotation)
        wrench = body.wrench(columns.linear, columns.angular)
        modes.inertia = modes.inertia + wrench.work(columns.linear, columns.angular)
        modes.columns = modes.columns + wrench.about(-station.origin)
        modes.bias = _sum(modes.bias, bias.work(columns.linear, columns.angular))
        self.bodies[parent] += body.shifted(station.origin)
        self.biases[parent] += bias.about(-station.origin)

    def _release_modes(self, i: int, tau: Matrix) -> Elimination:
        """Eliminate the modes of a link."""
        modes, joint = self.modes[i], self.robot.links[self.robot.tree.first_station(i)].joint
        demand = _sum(joint.velocity(tau), -modes.bias)
        found = Elimination(self.bodies[i], self.biases[i], modes.columns, Factorization(modes.inertia), demand)
        self.bodies[i], self.biases[i] = found.carried_body, found.carried_bias
        return found

    def _release_joint(self, i: int, tau: Matrix) -> Elimination:
        """Eliminate the joint of a link, and add the link to its parent."""
        link = self.robot.links[i]
        parent, armature = link.joint.parent, link.joint.velocity(spatial.constant(self.robot.tree.armature))
        wrench = self.bodies[i].wrench(link.columns.linear, link.columns.angular)
        inertia = Factorization(link.work(wrench) + ca.diag(armature) / link.rate**2)
        demand = _sum(link.joint.velocity(tau) / link.rate, -link.work(self.biases[i]))
        is_free = parent < 0 and link.joint.type.is_free and not armature.nnz()
        found = Elimination(self.bodies[i], self.biases[i], wrench, inertia, demand, is_free)
        if parent >= 0:
            self.bodies[parent] += found.carried_body.turned(link.rotation).shifted(link.origin)
            self.biases[parent] += found.carried_bias.to_parent(*link.placement)
        return found


def _sum(x: Matrix, y: Matrix) -> Matrix:
    """The sum of columns side by side, of which the one or the other has fewer."""
    n, k = x.shape[0], max(x.shape[1], y.shape[1])
    x, y = (ca.horzcat(each, ca.DM(n, k - each.shape[1])) for each in (x, y))
    return x + y


@dataclass(frozen=True)
class ArticulatedRobot:
    """A robot whose joints and modes are free: their eliminations, by the index of the link."""

    robot: RobotAtQ
    joints: dict[int, Elimination]
    modes: dict[int, Elimination]

    def accelerations(self, x: Matrix) -> Matrix:
        """a (nv), outward, under bias wrenches that occur x times each."""
        robot = self.robot
        found: list[Matrix] = [ca.DM(link.joint.type.nv, 1) for _, link in robot]
        changes: dict[int, Motion] = {-1: Motion(_NULL, _NULL)}  # against zero accelerations
        for i, link in robot:
            carrier = changes[link.joint.parent]
            if i in robot.stations:
                station, a = robot.stations[i], found[robot.tree.first_station(link.joint.parent)]
                changes[i] = (carrier.about(station.origin) + station.columns.times(a)).turned(station.rotation.T)
                continue
            carrier = carrier.seen_from(*link.placement)
            joint, is_root = self.joints[i], link.joint.parent < 0
            a = joint.accelerations_at_base(x) if is_root else joint.accelerations(carrier, x)
            found[i] = a / link.rate
            changes[i] = carrier + link.columns.times(a)
            if i in self.modes:
                found[robot.tree.first_station(i)] = self.modes[i].accelerations(changes[i], x)
        return robot.tree.vector(found)


def forward_dynamics(tree: Tree, q: Matrix, v: Matrix, tau: Matrix, loads: Loads = UNLOADED) -> Matrix:
    """a of the links and modes (nv) by articulated bodies; modes release their stations, as joints their links."""
    robot = RobotAtQ.of(tree, q)
    motions = robot.motions(q, v, ca.DM(tree.nv, 1), Gravity(tree).base_acceleration)
    tau = tau + tree.vector(loads.world_torques(tree, robot.links))
    articulated = ArticulatedBodies.of(robot, motions, v, loads.on(tree, robot.links))
    return articulated.eliminated(tau).accelerations(ca.DM(1))
