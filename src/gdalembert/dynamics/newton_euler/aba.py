"""Articulated bodies: forward dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.external import UNLOADED, Loads
from gdalembert.dynamics.newton_euler.links import Link
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.dynamics.newton_euler.rotations import Full, Rotation
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench


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

    @property
    def matrix(self) -> Matrix:
        """6 × 6."""
        return ca.vertcat(ca.horzcat(self.linear, self.coupling), ca.horzcat(self.coupling.T, self.angular))

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

    def to_parent(self, link: Link) -> Articulated:
        """The same inertia in the parent's axes, about the parent's origin."""
        return self.turned(link.rotation).shifted(link.origin)

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
class ArticulatedBodies:
    """Articulated bodies, gathered from the tips inward.

    Attributes:
        robot: the robot at q.
        bodies: of links and stations.
        biases: the wrenches that links and stations demand at zero accelerations of joints and modes.
        modes: of flexible links.
    """

    robot: RobotAtQ
    bodies: list[Articulated]
    biases: list[Wrench]
    modes: dict[int, ArticulatedModes]

    @staticmethod
    def of(robot: RobotAtQ, q: Matrix, v: Matrix, acting: Sequence[Wrench]) -> ArticulatedBodies:
        """Each link and station alone, under the wrench that acts on it."""
        zero = ca.DM(robot.tree.nv, 1)
        demands, forces = robot.demands(robot.motions(q, v, zero, Gravity(robot.tree).base_acceleration), v, zero)
        biases = [demand - wrench for demand, wrench in zip(demands, acting, strict=True)]
        bodies = [Articulated.of(body.mass, body.first, body.second) for body in robot.inertias]
        modes = {
            i: ArticulatedModes(body.own, body.columns, forces[robot.tree.first_station(i)])
            for i, body in robot.bodies.items()
        }
        return ArticulatedBodies(robot, bodies, biases, modes)

    def add_station(self, i: int) -> None:
        """Add a station to its link, and to the modes of that link."""
        station, parent = self.robot.stations[i], self.robot.links[i].joint.parent
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
        modes, joint = self.modes[i], self.robot.links[self.robot.tree.first_station(i)].joint
        found = Elimination.of(modes.inertia, modes.columns, joint.velocity(tau) - modes.bias)
        self.bodies[i], self.biases[i] = found.body(self.bodies[i]), found.bias(self.biases[i])
        return found

    def release_joint(self, i: int, tau: Matrix) -> Elimination:
        """Eliminate the joint of a link, and add the link to its parent."""
        link = self.robot.links[i]
        parent, armature = link.joint.parent, link.joint.velocity(spatial.constant(self.robot.tree.armature))
        wrench = self.bodies[i].wrench(link.columns.linear, link.columns.angular)
        inertia = link.work(wrench) + ca.diag(armature) / link.rate**2
        found = Elimination.of(inertia, wrench, link.joint.velocity(tau) / link.rate - link.work(self.biases[i]))
        if parent >= 0:
            self.bodies[parent] += found.body(self.bodies[i]).to_parent(link)
            self.biases[parent] += found.bias(self.biases[i]).to_parent(*link.placement)
        return found


def forward_dynamics(tree: Tree, q: Matrix, v: Matrix, tau: Matrix, loads: Loads = UNLOADED) -> Matrix:
    """a of the links and modes (nv) by articulated bodies; modes release their stations, as joints their links."""
    robot = RobotAtQ.of(tree, q)
    tau = tau + tree.vector(loads.world_torques(tree, robot.links))
    articulated = ArticulatedBodies.of(robot, q, v, loads.on(tree, robot.links))
    joints: dict[int, Elimination] = {}
    modes: dict[int, Elimination] = {}
    for i, _ in robot.inward():
        if i in robot.stations:
            articulated.add_station(i)
            continue
        if i in robot.bodies:
            modes[i] = articulated.release_modes(i, tau)
        joints[i] = articulated.release_joint(i, tau)
    return tree.vector(_accelerations(robot, joints, modes))


def _accelerations(robot: RobotAtQ, joints: dict[int, Elimination], modes: dict[int, Elimination]) -> list[Matrix]:
    """The accelerations of joints and modes, outward; those of modes at the first station of their link."""
    found: list[Matrix] = [ca.DM(link.joint.type.nv, 1) for _, link in robot]
    changes: dict[int, Motion] = {-1: Motion(ca.DM(3, 1), ca.DM(3, 1))}  # against zero accelerations
    for i, link in robot:
        parent = changes[link.joint.parent]
        if i in robot.stations:
            station, a = robot.stations[i], found[robot.tree.first_station(link.joint.parent)]
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
            found[robot.tree.first_station(i)] = modes[i].accelerations(changes[i])
    return found
