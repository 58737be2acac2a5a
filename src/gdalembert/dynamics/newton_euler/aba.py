"""Articulated bodies: forward dynamics of robots that are free, and of those that constraints hold.

A unit force of each row of the constraints is a wrench K on its links. −K is passed on inward beside the biases of the
articulated bodies, and each joint, and the modes of each link, are asked for u = Sᵀ K. With D and d = tau − Sᵀ bias,

    J M⁻¹ Jᵀ = Σ uᵀ D⁻¹ u          J M⁻¹ (tau − nle) = Σ uᵀ D⁻¹ d          K ← K − U D⁻¹ u,

so that the forces f are known at the base, and the outward pass finds the accelerations under the biases and f
(Popov and Vereshchagin; Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.constraints.constraint_set import ConstraintSet, Selection, motion_type
from gdalembert.dynamics.constraints.constraint_types import RowSelection
from gdalembert.dynamics.constraints.relative_motion import FramePair, MotionAtPoint
from gdalembert.dynamics.frame_motion import fixed_placement
from gdalembert.dynamics.newton_euler.composite import nothing
from gdalembert.dynamics.newton_euler.links import UNLOADED, LinkMotion, Loads, Motions, Rotation
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.factorization import Factorization
from gdalembert.spatial.spatial_vectors import Motion, Wrench

_NULL = ca.DM(3, 1)
_ONE = ca.DM.eye(3)


@dataclass(frozen=True)
class Articulated:
    """Articulated-body inertia, (f; n) = [[M, H], [Hᵀ, I]] (linear; angular): M, I symmetric."""

    linear: Matrix  # M
    coupling: Matrix  # H
    angular: Matrix  # I

    @classmethod
    def of(cls, mass: Matrix, first: Matrix, second: Matrix) -> Articulated:
        """Inertia of a rigid body."""
        return cls(mass * ca.DM.eye(3), -spatial.skew(first), spatial.inertia_of(second))

    def __add__(self, other: Articulated) -> Articulated:
        return Articulated(self.linear + other.linear, self.coupling + other.coupling, self.angular + other.angular)

    def wrench(self, linear: Matrix, angular: Matrix) -> Wrench:
        """The wrench of accelerations (columns linear; angular)."""
        return Wrench(self.linear @ linear + self.coupling @ angular, self.coupling.T @ linear + self.angular @ angular)

    def without(self, wrench: Wrench, gain: Wrench) -> Articulated:
        """The inertia across a joint that is free to move: minus wrench gainᵀ."""
        return Articulated(
            spatial.symmetric(self.linear - wrench.force @ gain.force.T),
            self.coupling - wrench.force @ gain.moment.T,
            spatial.symmetric(self.angular - wrench.moment @ gain.moment.T),
        )

    def turned(self, r: Rotation) -> Articulated:
        """A rotation into other axes, R x for x."""
        return Articulated(r.conjugate(self.linear), r.conjugate(self.coupling), r.conjugate(self.angular))

    def shifted(self, p: Matrix) -> Articulated:
        """A shift to a point from which the origin is seen at p."""
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
        """The part of the body that the carrier feels, I − U D⁻¹ Uᵀ."""
        return self.body.without(self.wrench, self.gain)

    @cached_property
    def carried_bias(self) -> Wrench:
        """The part of the biases that the carrier feels: with what the efforts transmit, U D⁻¹ d."""
        return self.bias + Wrench(self.wrench.force @ self.effort, self.wrench.moment @ self.effort)

    def accelerations(self, carrier: Motion, x: Matrix) -> Matrix:
        """D⁻¹ (d x − Uᵀ a)."""
        return self.effort @ x - self.gain.work(carrier.linear, carrier.angular).T


@dataclass
class ArticulatedBodies:
    """Articulated bodies, gathered from the tips inward.

    Attributes:
        bodies: of stations. ``biases``: the wrenches that they need at zero accelerations of all coordinates, and
            others beside them (k columns).
        own: what elements need so for their own mass: wrenches at their frames, and efforts (n × k).
    """

    robot: RobotAtQ
    bodies: dict[int, Articulated]
    biases: dict[int, Wrench]
    own: dict[int, tuple[Wrench, Matrix]]

    @staticmethod
    def of(robot: RobotAtQ, motions: Motions, v: Matrix, acting: Sequence[Wrench] = ()) -> ArticulatedBodies:
        """Each station and element alone, in motion at a = 0 under the wrench that acts on it."""
        biases, still = robot.demands(motions), ca.DM(*v.shape)
        for i, wrench in enumerate(acting):
            biases[i] -= wrench
        bodies = {i: Articulated.of(*body) for i, body in robot.rigid.items()}
        own = {each.index: each.demanded(motions[each.carrier], v, still) for each in robot.elements}
        return ArticulatedBodies(robot, bodies, biases, own)

    def beside(
        self, *others: Mapping[int, Wrench], own: Mapping[int, tuple[Wrench, Matrix]] | None = None
    ) -> ArticulatedBodies:
        """A copy with other wrenches, by the index of the station, and what is the elements' own beside the biases."""
        biases = dict(self.biases)
        for other in others:
            none = nothing(next(iter(other.values())).force.shape[1])
            biases = {i: _side_by_side(bias, other.get(i, none)) for i, bias in biases.items()}
        efforts = dict(self.own)
        for i, (wrench, effort) in (own or {}).items():
            efforts[i] = _side_by_side(efforts[i][0], wrench), ca.horzcat(efforts[i][1], effort)
        return replace(self, biases=biases, own=efforts)

    def eliminated(self, tau: Matrix) -> ArticulatedRobot:
        """All elements eliminated, from the tips to the base; tau (nv) acts beside the first column."""
        eliminations: dict[int, Elimination] = {}
        bodies, biases, armature = self.bodies, self.biases, spatial.constant(self.robot.tree.armature)
        for element in self.robot.inward():
            (fixed, origin), joint, rate = element.frame, element.joint, element.rate
            body, inertia, wrench = Articulated.of(*element.body), element.own, element.columns
            bias, bias_effort = self.own[element.index]
            for station in element.stations:
                on_station = bodies[station.index].turned(station.turn)
                needed, borne = on_station.wrench(*station.motions), biases[station.index].turned(station.turn)
                inertia = inertia + needed.work(*station.motions)
                wrench = wrench + needed.about(-station.origin)
                bias_effort = _sum(bias_effort, borne.work(*station.motions))
                body += on_station.shifted(station.origin)
                bias = Wrench(*map(_sum, bias, borne.about(-station.origin)))
            rotor = joint.velocity(armature)
            moved = Factorization(inertia + ca.diag(rotor) / rate**2)
            demand = _sum(joint.velocity(tau) / rate, -bias_effort)
            is_free = element.carrier < 0 and joint.type.is_free and not rotor.nnz()
            own = eliminations[element.index] = Elimination(body, bias, wrench, moved, demand, is_free)
            bodies[element.carrier] += own.carried_body.turned(fixed).shifted(origin)
            biases[element.carrier] += own.carried_bias.to_parent(fixed, origin)
        return ArticulatedRobot(self.robot, eliminations)


def _side_by_side(one: Wrench, other: Wrench) -> Wrench:
    """Columns of wrenches beside others."""
    return Wrench(*map(ca.horzcat, one, other))


def _sum(x: Matrix, y: Matrix) -> Matrix:
    """The sum of columns side by side, of which the one or the other has fewer."""
    n, k = x.shape[0], max(x.shape[1], y.shape[1])
    x, y = (ca.horzcat(each, ca.DM(n, k - each.shape[1])) for each in (x, y))
    return x + y


@dataclass(frozen=True)
class ArticulatedRobot:
    """A robot whose elements are free: their eliminations, by the index of the element."""

    robot: RobotAtQ
    eliminations: dict[int, Elimination]

    def accelerations(self, x: Matrix) -> Matrix:
        """a (nv), outward, under bias wrenches that occur x times each."""
        accelerations: dict[int, Matrix] = {}
        changes: dict[int, Motion] = {-1: Motion(_NULL, _NULL)}  # against zero accelerations
        for element in self.robot.elements:
            own, carrier = self.eliminations[element.index], changes[element.carrier].seen_from(*element.frame)
            is_root = element.carrier < 0  # where no effort is passed on
            a = own.inertia.solve(own.demand @ x) if is_root else own.accelerations(carrier, x)
            accelerations[element.index] = a / element.rate
            for station in element.stations:
                change = carrier.about(station.origin) + station.motions.times(a)
                changes[station.index] = change.turned(station.turn.T)
        return self.robot.vector(accelerations)


def forward_dynamics(tree: Tree, q: Matrix, v: Matrix, tau: Matrix, loads: Loads = UNLOADED) -> Matrix:
    """a of the links and modes (nv) by articulated bodies; modes release their stations, as joints their links."""
    bodies, _, effort = _driven(tree, q, v, tau, loads)
    return bodies.eliminated(effort).accelerations(ca.DM(1))


def _driven(tree: Tree, q: Matrix, v: Matrix, tau: Matrix, loads: Loads) -> tuple[ArticulatedBodies, Motions, Matrix]:
    """The bodies and their motions at a = 0 under external wrenches, and the efforts that drive the joints."""
    robot = RobotAtQ.of(tree, q)
    motions = robot.motions(v, ca.DM(tree.nv, 1))
    bodies = ArticulatedBodies.of(robot, motions, v, loads.on(tree, robot.links))
    return bodies, motions, tau + loads.world_torques(tree, robot.links)


def constrained_forward_dynamics(
    tree: Tree,
    constraints: ConstraintSet,
    q: Matrix,
    v: Matrix,
    tau: Matrix,
    correction: Matrix,
    loads: Loads = UNLOADED,
) -> tuple[Matrix, Matrix]:
    """a (nv), and the forces; these, and what corrects the constraints, are in the axes of the first frames."""
    bodies, motions, effort = _driven(tree, q, v, tau, loads)
    return _swept(bodies, constraints, motions, effort, correction)


def constrained_impact(tree: Tree, constraints: ConstraintSet, q: Matrix, change: Matrix) -> tuple[Matrix, Matrix]:
    """The change of v (nv), and the impulses, as accelerations and forces at rest, from that of the constraints' v."""
    robot, still = RobotAtQ.of(tree, q), ca.DM(tree.nv, 1)
    motions = robot.motions(still, still, _NULL)
    return _swept(ArticulatedBodies.of(robot, motions, still), constraints, motions, still, -change)


def _swept(
    bodies: ArticulatedBodies, constraints: ConstraintSet, motions: Motions, tau: Matrix, correction: Matrix
) -> tuple[Matrix, Matrix]:
    held = [_rows(bodies.robot, motions, pair) for pair in constraints.pairs]
    needed = ({i: -wrench for i, wrench in rows.wrenches.items()} for rows in held)
    free = bodies.beside(*needed).eliminated(tau)
    total: Matrix = 0  # Σ uᵀ D⁻¹ (d, u) beside each other
    for released in free.eliminations.values():
        half = released.inertia.half_solve(released.demand)
        total = total + released.inertia.divide(half).T @ half
    corrections = zip(held, constraints.split(correction), strict=True)
    biases = (rows.bias + rows.scale * (rows.axes @ x) for rows, x in corrections)
    target, scale = -ca.vertcat(*biases) - total[1:, 0], ca.vertcat(*(rows.scale for rows in held))
    forces = constraints.solve(spatial.symmetric(total[1:, 1:]), target, scale)
    parts = zip(held, constraints.split(forces), strict=True)
    shown = ca.vertcat(*(rows.axes.T @ (rows.scale * f) for rows, f in parts))
    return free.accelerations(ca.vertcat(1, forces)), shown


class _Rows(NamedTuple):
    """A constraint, with rows in the axes of the link of its first frame, and lengths in units of the tree.

    There K of a contact is constant.
    """

    wrenches: dict[int, Wrench]  # K, by the index of the link that it acts on, in link axes about the link origin
    bias: Matrix  # Ė at a = 0
    axes: Matrix  # from those of the first frame to those of the rows, of all rows
    scale: Matrix  # of the rows, whose forces are those of the first frame divided by it


def _rows(robot: RobotAtQ, motions: Motions, pair: FramePair) -> _Rows:
    """The constraint of two frames."""
    tree, links, kind = robot.tree, robot.links, motion_type(pair)
    (first, second), (inward, outward) = pair.frames(tree), pair.paths(tree)

    def seen_from_first(x: Matrix) -> Matrix:
        """Columns in the axes of the link of the second frame, in those of the link of the first."""
        for i in reversed(outward):
            x = links[i].rotation @ x
        for i in inward:
            x = links[i].rotation.T @ x
        return x

    def on_second(x: Matrix) -> Matrix:
        """A point of the link of the first frame, seen from the link of the second."""
        for i in reversed(inward):
            x = links[i].origin + links[i].rotation @ x
        for i in outward:
            x = links[i].rotation.T @ (x - links[i].origin)
        return x

    placed = [links[each.joint].frame(each) if each.joint >= 0 else fixed_placement(each) for each in (first, second)]
    (r_1, x_1), (r_2, x_2) = placed
    wrenches = {first.joint: kind.unit_wrenches(_ONE, x_1)}
    moved = _motion_of(motions[first.joint], x_1)
    if second.joint < 0:  # all that the base does is accelerate
        still = MotionAtPoint(Motion(_NULL, _NULL), seen_from_first(motions[-1].acceleration), _NULL)
    else:
        turn, point = seen_from_first(_ONE), x_2 if kind.has_two_points else on_second(x_1)
        wrenches[second.joint] = kind.unit_wrenches(-turn.T, point)
        still = _motion_of(motions[second.joint], point).turned(turn)
    moving = {i: wrench for i, wrench in wrenches.items() if i >= 0}
    if isinstance(pair.holds, RowSelection):
        axes = seen_from_first(r_2)
        x = tree.unit * r_2.T @ (on_second(x_1) - x_2)
        selection = Selection(pair.holds, axes, axes.T @ r_1, x, tree.unit)
        moving = {i: wrench.times(selection.rows.T) for i, wrench in moving.items()}
        return _Rows(moving, selection.acceleration(moved, still), ca.DM.eye(pair.rows), ca.DM.ones(pair.rows))
    scale = ca.DM([1 / tree.unit] * 3 + [1.0] * (pair.rows - 3))
    return _Rows(moving, kind.acceleration(moved, still), ca.diagcat(*[r_1] * (pair.rows // 3)), scale)


def _motion_of(link: LinkMotion, x: Matrix) -> MotionAtPoint:
    """The motion of the point x of a link."""
    twist = Motion(link.velocity, link.omega).about(x)
    return MotionAtPoint(twist, link.acceleration + link.spin @ x, link.alpha)
