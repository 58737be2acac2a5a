"""How a robot with free joints and modes answers to efforts, wrenches and displacements, in the axes of its root.

Motions are (linear; angular) and wrenches (force; moment), 6 × k. When the parent of a subtree accelerates by A, and
the points of the subtree besides by a field φ + c × 2ẋ (``derivatives``), the subtree, whose joints are free,

    needs the wrench Ia (A + φ) + Ba c and accelerates its first joint by −Gᵀ (A + φ) − h c.

The robot gives way by −Ω w to a wrench w that a link has to pass on besides. A unit effort of joint i moves its parent
by −y and its own link by S β − y, with y = Ω G and β = D⁻¹ + Gᵀ y, which is its entry of M⁻¹. Two families carry
motions and wrenches on, from link to link:

    given[k, i]   the acceleration of link k for a unit effort of joint i above it,
    felt[k, i]    the wrench on link i for a unit effort of joint k below it: if link i accelerates by A,
                  joint k does by −feltᵀ A, and besides by −lag c if the field begins at link i.

The modes of a link are a joint with several links, its stations, each with columns of its own: to the limbs on a
station those on another one are other limbs. (Ours; the articulated bodies are Featherstone's.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.aba import ArticulatedBodies, ArticulatedRobot, Elimination
from gdalembert.dynamics.newton_euler.derivatives import CompositeRate, modes_in_motion, moving
from gdalembert.dynamics.newton_euler.links import LinkMotion, Motions
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.dynamics.newton_euler.root_axes import Placement, axes_of
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench

Block: TypeAlias = tuple[int, int, Matrix]

Fields: TypeAlias = dict[int, tuple[Matrix, Matrix]]
"""(φ; c), 6 × k and 3 × k, by the link or station whose subtree they are on."""

_NULL = ca.DM(3, 1)


@dataclass(frozen=True)
class Yielding:
    """How a link or a station that the robot holds gives way."""

    omega: Matrix  # Ω of the link, 6 × 6
    shift: Matrix  # y: the parent moves by −y for a unit effort of the joint, 6 × k
    own: Matrix  # β: so does the joint, k × k
    motion: Matrix  # S β − y: so does the link, 6 × k


@dataclass(frozen=True)
class Response:
    """How a robot with free joints and modes answers to efforts, wrenches and fields, in the axes of the root.

    By the index of links and stations in the tree; the modes of a link have that of its first station.

    Attributes:
        bodies: articulated, in link axes.
        free: the eliminations, in link axes, of biases and −B.
        axes: R and p of links and stations, in the axes of the root.
        origins: twice the velocities of their origins against the root's, in these axes.
    """

    bodies: ArticulatedBodies
    free: ArticulatedRobot
    axes: list[Placement]
    origins: list[Matrix]

    @classmethod
    def of(cls, robot: RobotAtQ, q: Matrix, v: Matrix, tau: Matrix) -> Response:
        """Inward, joint by joint."""
        tree, axes = robot.tree, axes_of(robot)
        motions = robot.motions(q, v, ca.DM(tree.nv, 1), Gravity(tree).base_acceleration)
        nothing = [Wrench(ca.DM(3, 1), ca.DM(3, 1)) for _ in robot.links]
        origins = origin_velocities(robot, motions, axes, v)
        carried: dict[int, Wrench] = {}
        modal: dict[int, Matrix] = {}
        for i, (r, _) in enumerate(axes):
            wrench, forces = carried_wrench(robot, i, motions[i], r.T @ origins[i], v)
            carried[i] = -Wrench((r @ wrench.force.T).T, (r @ wrench.moment.T).T)
            if i in robot.bodies:
                modal[i] = -(r @ forces.T).T
        bodies = ArticulatedBodies.of(robot, motions, v, nothing).beside(carried, modes=modal)
        return cls(bodies, bodies.eliminated(tau), axes, origins)

    @property
    def robot(self) -> RobotAtQ:
        """The robot at q."""
        return self.free.robot

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
        """That of a joint, or of the modes that move a station."""
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

    @property
    def acceleration(self) -> Matrix:
        """a, nv."""
        return self.free.accelerations(ca.vertcat(1, ca.DM(3, 1)))

    @cached_property
    def yielding(self) -> list[Yielding]:
        """Outward: how links and stations give way."""
        found: list[Yielding] = []
        for i, columns in enumerate(self.columns):
            parent, gain = self.parent(i), self.gains[i]
            omega = found[parent].omega if parent >= 0 else ca.DM(6, 6)
            shift = omega @ gain
            own = self.elimination(i).inertia.inverse + shift.T @ gain
            motion = columns @ own - shift
            omega = spatial.symmetric(omega + motion @ columns.T - columns @ shift.T)
            found.append(Yielding(omega, shift, own, motion))
        return found

    @cached_property
    def given(self) -> dict[tuple[int, int], Matrix]:
        """By (link, joint at or above it)."""
        found: dict[tuple[int, int], Matrix] = {}
        for k, columns in enumerate(self.columns):
            found[k, k] = self.yielding[k].motion
            for i in self.tree.path(k)[:-1]:
                above = found[self.parent(k), i]
                found[k, i] = above - columns @ (self.gains[k].T @ above)
        return found

    @cached_property
    def felt(self) -> dict[tuple[int, int], tuple[Matrix, Matrix]]:
        """By (joint, link above it): the wrench, and the lag."""
        found: dict[tuple[int, int], tuple[Matrix, Matrix]] = {}
        for k in self.nodes:
            felt, lag = self.gains[k], self.lags[k]
            for i in reversed(self.tree.path(k)[:-1]):
                found[k, i] = felt, lag
                work = felt.T @ self.columns[i]
                felt, lag = felt - self.gains[i] @ work.T, lag - work @ self.lags[i]
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
        own = self.yielding[j].shift.T @ wrench - yielded
        yield j, j, own
        rows = {i: -self.given[parent, i].T @ wrench for i in self.tree.path(j)[:-1]}
        for i, row in rows.items():
            yield self.node(i), j, row
        motion = -self.yielding[parent].omega @ wrench if parent >= 0 else ca.DM(*wrench.shape)
        for k, block in self._elsewhere(j, motion, rows):
            yield k, j, block
        for s, (field, carried) in fields.items():
            moved = motion + field + self.columns[s] @ own
            for k in self.below(s):
                felt, lag = self.felt[k, s]
                yield k, j, -(felt.T @ moved + lag @ carried)

    def _elsewhere(self, j: int, motion: Matrix, rows: dict[int, Matrix]) -> Iterator[tuple[int, Matrix]]:
        """The joints of other limbs, from the motion of the parent of joint j and the rows of the joints above."""
        path = self.tree.path(j)
        for i, towards in zip(path[-2::-1], path[:0:-1], strict=True):
            stations = self.tree.stations(i) if towards in self.robot.stations else []
            for k in self.below(i):
                if not {towards, *stations} & set(self.tree.path(k)):
                    yield k, -self.felt[k, i][0].T @ motion
            for s in stations if towards in rows else []:
                if s != towards:
                    moved = motion + self.columns[s] @ rows[towards]
                    yield from ((k, -self.felt[k, s][0].T @ moved) for k in self.below(s))
            motion = motion - self.columns[i] @ rows[i]


def origin_velocities(robot: RobotAtQ, motions: Motions, axes: list[Placement], v: Matrix) -> list[Matrix]:
    """Twice the velocity of the origin of each link and station against the root's, in the axes of the root."""
    found: list[Matrix] = []
    for link, rate in zip(robot.links, moving(robot, motions, v).lever_rates, strict=True):
        parent = link.joint.parent
        carrier = robot.links[parent].joint.parent if parent in robot.stations else parent
        found.append(_NULL if parent < 0 else found[parent] + axes[carrier][0] @ (2 * rate))
    return found


def carried_wrench(robot: RobotAtQ, i: int, motion: LinkMotion, velocity: Matrix, v: Matrix) -> tuple[Wrench, Matrix]:
    """B of a link alone, 3 columns, and its modal forces, from its motion and twice the velocity of its origin."""
    body, omega, forces = robot.inertias[i], 2 * motion.omega, ca.DM(0, 3)
    if i in robot.bodies:
        rates = robot.modal_velocity(i, v)
        first, second = robot.bodies[i].rates(motion.omega, rates, times=2)
        eta = modes_in_motion(robot, i, motion, rates, rates).eta(times=2)
        forces = (eta + spatial.skew(velocity) @ robot.bodies[i].columns.force).T
    else:
        first, second = ca.cross(omega, body.first), spatial.skew(omega) @ body.second
    rate = CompositeRate(first + body.mass * velocity, second + velocity @ body.first.T)
    return rate.wrench(ca.DM.eye(3)), forces
