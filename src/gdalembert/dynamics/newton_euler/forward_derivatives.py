"""Derivatives of forward dynamics by articulated bodies: an entry takes a few dot products.

A displacement of joint j is a field on its subtree, φ + c × 2ẋ (``rnea_derivatives``), and turns the wrench W_j that
the joint passes on. All joints answer to what their parent has to give:

    w = Ia φ + Ba c + e_j × W_j

Where S depends on q, the joint has to give (∂S/∂q)ᵀ W_j besides. The modes of a link displace its stations, each with a
field on its subtree, and deform its own body.

The answers are in the axes of the root; motions are (linear; angular) and wrenches (force; moment), 6 × k. When the
parent of a subtree accelerates by A, and its points besides by a field, the subtree, whose joints are free,

    needs the wrench Ia (A + φ) + Ba c and accelerates its first joint by −Gᵀ (A + φ) − h c.

The robot gives way by −Ω w to a wrench w that a link has to pass on besides. A unit effort of joint i moves its parent
by −y and its own link by S β − y, with y = Ω G and β = D⁻¹ + Gᵀ y, which is its entry of M⁻¹. Two families carry
motions and wrenches on, from link to link:

    motion_propagators[k, i]   the acceleration of link k for a unit effort of joint i above it,
    force_propagators[k, i]    the wrench F on link i for a unit effort of joint k below it: if link i accelerates by A,
                               joint k does by −Fᵀ A, and besides by −lag c if the field begins at link i.

The modes of a link are a joint with several links, its stations, each with columns of its own: to the limbs on a
station those on another one are other limbs. In long chains all links are in the axes of the root; arms, and joints
whose columns depend on q, are eliminated in axes of their own, and then seen from the root. (Ours; the articulated
bodies are Featherstone's.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.aba import Articulated, ArticulatedBodies, ArticulatedRobot, Elimination
from gdalembert.dynamics.newton_euler.crba import Placement, at_rates, axes_in_root, place_in_root_axes
from gdalembert.dynamics.newton_euler.links import Full, place
from gdalembert.dynamics.newton_euler.rnea import joint_wrenches
from gdalembert.dynamics.newton_euler.rnea_derivatives import (
    CompositeRate,
    DisplacedRobot,
    Field,
    displacement_of_joint,
    moving,
    stiffness_of_joint,
)
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench

Block: TypeAlias = tuple[int, int, Matrix]

Fields: TypeAlias = dict[int, tuple[Matrix, Matrix]]
"""(φ; c), 6 × k and 3 × k, by the link or station whose subtree they are on."""

_NULL = ca.DM(3, 1)


class Mobility(NamedTuple):
    """How a link or a station that the robot holds gives way."""

    omega: Matrix  # Ω of the link, 6 × 6
    shift: Matrix  # y: the parent moves by −y for a unit effort of the joint, 6 × k
    motion: Matrix  # S β − y: so does the link, 6 × k


@dataclass(frozen=True)
class Response:
    """How a robot with free joints and modes answers to efforts, wrenches and fields, in the axes of the root.

    By the index of links and stations in the tree; the modes of a link have that of its first station.
    """

    robot: RobotAtQ
    bodies: ArticulatedBodies  # in link axes
    free: ArticulatedRobot  # in link axes, under biases and −B
    axes: list[Placement]  # R and p of links and stations, in the axes of the root
    origins: list[Matrix]  # twice the velocities of their origins against the root's, in these axes

    @classmethod
    def of(cls, robot: RobotAtQ, q: Matrix, v: Matrix, tau: Matrix) -> Response:
        """Inward, joint by joint; B of a link alone has 3 columns."""
        axes = axes_in_root(robot.links, robot.stations)
        motions = robot.motions(q, v, ca.DM(robot.tree.nv, 1))
        origins: list[Matrix] = []
        for link, rate in zip(robot.links, moving(robot, motions, v).lever_rates, strict=True):
            parent = link.joint.parent
            carrier = robot.links[parent].joint.parent if parent in robot.stations else parent
            origins.append(_NULL if parent < 0 else origins[parent] + axes[carrier][0] @ (2 * rate))
        carried: dict[int, Wrench] = {}
        modal: dict[int, Matrix] = {}
        for i, body in enumerate(robot.inertias):
            (r, _), omega = axes[i], motions[i].omega
            velocity = r.T @ origins[i]
            if i in robot.bodies:
                rates = robot.modal_velocity(i, v)
                first, second = robot.bodies[i].rates(omega, rates, times=2)
                eta = robot.modes_in_motion(i, motions[i], rates, rates).eta(times=2)
                modal[i] = -(r @ (eta + spatial.skew(velocity) @ robot.bodies[i].columns.force)).T
            else:
                first, second = ca.cross(2 * omega, body.first), spatial.skew(2 * omega) @ body.second
            rate = CompositeRate(first + body.mass * velocity, second + velocity @ body.first.T)
            wrench = rate.wrench(ca.DM.eye(3))
            carried[i] = -Wrench((r @ wrench.force.T).T, (r @ wrench.moment.T).T)
        nothing = [Wrench(_NULL, _NULL) for _ in robot.links]
        bodies = ArticulatedBodies.of(robot, motions, v, nothing).beside(carried, modes=modal)
        return cls(robot, bodies, bodies.eliminated(tau), axes, origins)

    @property
    def tree(self) -> Tree:
        """The robot."""
        return self.robot.tree

    def parent(self, i: int) -> int:
        """The link that carries joint i; −1 is the universe."""
        return self.tree.joints[i].parent

    def node(self, i: int) -> int:
        """The joint i, or the first station of the link that carries station i."""
        return self.tree.first_station(self.parent(i)) if i in self.robot.stations else i

    @cached_property
    def nodes(self) -> list[int]:
        """Joints and modes, by their index."""
        return [i for i, _ in self.robot if self.node(i) == i]

    def elimination(self, i: int) -> Elimination:
        """Columns of a joint, or of the modes that move a station."""
        return self.free.modes[self.parent(i)] if i in self.robot.stations else self.free.joints[i]

    def seen(self, i: int, wrench: Wrench) -> Matrix:
        """A wrench in the axes of link i, in those of the root (6 × k)."""
        r, p = self.axes[i]
        return wrench.turned(r).about(-p).vector

    @cached_property
    def columns(self) -> list[Matrix]:
        """S of joints and stations, 6 × k."""
        found = []
        for i, link in self.robot:
            (r, p), columns = self.axes[i], link.columns
            if i in self.robot.stations:
                (r, _), columns = self.axes[self.parent(i)], self.robot.stations[i].columns
            found.append(columns.turned(r).about(-p).vector)
        return found

    @cached_property
    def gains(self) -> list[Matrix]:
        """G of joints and of the modes that move a station, 6 × k."""
        stations = self.robot.stations
        carried = [self.parent(i) if i in stations else i for i, _ in self.robot]
        return [self.seen(carried[i], self.elimination(i).gain) for i, _ in self.robot]

    @cached_property
    def lags(self) -> list[Matrix]:
        """h of joints and modes, k × 3: their efforts under −B."""
        return [self.elimination(i).effort[:, 1:] for i, _ in self.robot]

    @cached_property
    def mobilities(self) -> list[Mobility]:
        """Outward: how links and stations give way."""
        found: list[Mobility] = []
        for i, columns in enumerate(self.columns):
            parent, gain = self.parent(i), self.gains[i]
            omega = found[parent].omega if parent >= 0 else ca.DM(6, 6)
            shift = omega @ gain
            own = self.elimination(i).inertia.inverse + shift.T @ gain
            motion = columns @ own - shift
            omega = spatial.symmetric(omega + motion @ columns.T - columns @ shift.T)
            found.append(Mobility(omega, shift, motion))
        return found

    @cached_property
    def motion_propagators(self) -> dict[tuple[int, int], Matrix]:
        """By (link, joint at or above it)."""
        found: dict[tuple[int, int], Matrix] = {}
        for k, columns in enumerate(self.columns):
            found[k, k] = self.mobilities[k].motion
            for i in self.tree.path(k)[:-1]:
                above = found[self.parent(k), i]
                found[k, i] = above - columns @ (self.gains[k].T @ above)
        return found

    @cached_property
    def force_propagators(self) -> dict[tuple[int, int], tuple[Matrix, Matrix]]:
        """By (joint, link above it): the wrench, and the lag."""
        found: dict[tuple[int, int], tuple[Matrix, Matrix]] = {}
        for k in self.nodes:
            wrench, lag = self.gains[k], self.lags[k]
            for i in reversed(self.tree.path(k)[:-1]):
                found[k, i] = wrench, lag
                work = wrench.T @ self.columns[i]
                wrench, lag = wrench - self.gains[i] @ work.T, lag - work @ self.lags[i]
        return found

    def below(self, i: int) -> list[int]:
        """The joints and modes further out than joint or station i."""
        return [k for k in self.nodes if k > i and i in self.tree.path(k)]

    def inverse(self) -> Iterator[Block]:
        """M⁻¹ at and above the diagonal."""
        for j in self.nodes:
            inertia = self.elimination(j).inertia
            yield from (each for each in self.answers(j, self.gains[j], -inertia.inverse, {}) if each[0] <= j)

    def answers(self, j: int, wrench: Matrix, yielded: Matrix, fields: Fields) -> Iterator[Block]:
        """The accelerations of all joints and modes where joint or modes j are displaced (blocks of k columns).

        Args:
            j: the joint, or the first station of the modes.
            wrench: what their parent has to pass on besides (6 × k).
            yielded: what they would decelerate by, if their parent did not move (n × k).
            fields: on the subtrees that they move.
        """
        parent = self.parent(j)
        own = self.mobilities[j].shift.T @ wrench - yielded
        yield j, j, own
        rows = {i: -self.motion_propagators[parent, i].T @ wrench for i in self.tree.path(j)[:-1]}
        for i, row in rows.items():
            yield self.node(i), j, row
        motion = -self.mobilities[parent].omega @ wrench if parent >= 0 else ca.DM(*wrench.shape)
        for k, block in self._elsewhere(j, motion, rows):
            yield k, j, block
        for s, (field, carried) in fields.items():
            moved = motion + field + self.columns[s] @ own
            for k in self.below(s):
                propagator, lag = self.force_propagators[k, s]
                yield k, j, -(propagator.T @ moved + lag @ carried)

    def _elsewhere(self, j: int, motion: Matrix, rows: dict[int, Matrix]) -> Iterator[tuple[int, Matrix]]:
        """The joints of other limbs, from the motion of the parent of joint j and the rows of the joints above."""
        path = self.tree.path(j)
        for i, towards in zip(path[-2::-1], path[:0:-1], strict=True):
            stations = self.tree.stations(i) if towards in self.robot.stations else []
            for k in self.below(i):
                if not {towards, *stations} & set(self.tree.path(k)):
                    yield k, -self.force_propagators[k, i][0].T @ motion
            for s in stations if towards in rows else []:
                if s != towards:
                    moved = motion + self.columns[s] @ rows[towards]
                    yield from ((k, -self.force_propagators[k, s][0].T @ moved) for k in self.below(s))
            motion = motion - self.columns[i] @ rows[i]


def forward_dynamics_derivatives(tree: Tree, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
    """∂a/∂q, ∂a/∂v and M⁻¹, nv × 3 nv, columns in the tangent space; of joints that share no coordinates."""
    is_constant = all(joint.type.has_constant_subspace for joint in tree.joints)
    robot = RobotAtQ.of(tree, q, place_in_root_axes if is_constant else place)
    response = Response.of(robot, q, v, tau)
    a = response.free.accelerations(ca.vertcat(1, _NULL))
    motions = robot.motions(q, v, a)
    wrenches, _ = joint_wrenches(robot, motions, v, a)
    state = DisplacedRobot(robot, q, v, a, motions, wrenches, [[]] * len(wrenches), times=2)
    displaced = _Displaced(response, state)
    by_q: list[Block] = []
    by_v: list[Block] = []
    for j in response.nodes:
        of_v, of_q = displaced.modes(j) if j in robot.stations else displaced.joint(j)
        by_q += of_q
        by_v += of_v
    found = (tree.matrix(at_rates(robot.links, blocks)) for blocks in (by_q, by_v))
    return ca.horzcat(*found, tree.symmetric_matrix(at_rates(robot.links, response.inverse())))


@dataclass(frozen=True)
class _Displaced:
    """The robot with joints or modes displaced from a state: blocks of ∂a/∂v, and of ∂a/∂q."""

    response: Response
    state: DisplacedRobot

    def joint(self, j: int) -> list[Iterator[Block]]:
        """Joint j."""
        response, state, wrench = self.response, self.state, self.state.wrenches[j]
        link, joint = response.robot.links[j], response.free.joints[j]
        motions = state.motions[link.joint.parent], state.motions[j]
        velocity, acceleration = displacement_of_joint(link, motions, state.q, state.v, state.a, state.times)
        turned, stiffness = link.columns.carry(wrench), stiffness_of_joint(link, state.q, wrench)
        found = []
        for field, is_turned in ((velocity, 0), (acceleration, 1)):
            phi, c = self._against_root(j, j, field.turned(link.turn.T))
            needed = _needed(joint.carried_body, joint.carried_bias, phi, c)
            yielded = joint.gain.work(phi.linear, phi.angular).T + response.lags[j] @ c
            if is_turned:
                yielded += joint.inertia.inverse @ stiffness
                needed = needed + turned - joint.gain.times(stiffness)
            about_root = {j: (self._in_root(j, j, phi), c)}
            found.append(response.answers(j, response.seen(j, needed), yielded, about_root))
        return found

    def modes(self, j: int) -> list[Iterator[Block]]:
        """The modes whose first station is j."""
        response, link = self.response, self.response.parent(j)
        modes, own, (inward, efforts) = response.free.modes[link], response.bodies, self.state.body(link)
        stations = {s: self.state.station(s) for s in response.tree.stations(link)}
        found = []
        for k, (needed, effort) in enumerate(zip(inward.fields, efforts, strict=True)):
            about_root: Fields = {}
            for s, (moved, turned) in stations.items():
                phi, c = self._against_root(link, s, moved.fields[k].times(moved.weights))
                station = response.robot.stations[s]
                r = Full(station.rotation)
                on_station = passed_on = _needed(own.bodies[s].turned(r), own.biases[s].turned(r), phi, c)
                if k:
                    on_station = replace(on_station, force=on_station.force + turned.transmitted @ moved.weights)
                    passed_on, effort = passed_on + turned.passed_on.times(moved.weights), effort + turned.stiffness
                effort = effort + moved.work(on_station)
                needed = needed + passed_on.about(-station.origin)
                about_root[s] = self._in_root(link, s, phi), c
            passed_on = response.seen(link, needed - modes.gain.times(effort))
            found.append(response.answers(j, passed_on, modes.inertia.inverse @ effort, about_root))
        return found

    def _against_root(self, link: int, i: int, field: Field) -> tuple[Motion, Matrix]:
        """φ in link axes about the origin of i, and c, of a field there whose velocities are those against it."""
        r, _ = self.response.axes[link]
        linear = field.linear + spatial.skew(r.T @ self.response.origins[i]) @ field.carried
        return Motion(linear, field.angular), r @ field.carried

    def _in_root(self, link: int, i: int, phi: Motion) -> Matrix:
        """Fields φ (6 × k) in the axes of the root."""
        return phi.turned(self.response.axes[link][0]).about(-self.response.axes[i][1]).vector


def _needed(body: Articulated, bias: Wrench, phi: Motion, c: Matrix) -> Wrench:
    """The wrench that a field needs of a body whose biases are followed by −B."""
    return body.wrench(phi.linear, phi.angular) - Wrench(bias.force[:, 1:] @ c, bias.moment[:, 1:] @ c)
