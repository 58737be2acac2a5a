"""Derivatives of forward dynamics by articulated bodies: an entry takes a few dot products.

A displacement of element j is a field on the subtree of each of its stations, φ + c × 2ẋ (``rnea_derivatives``), and
turns the wrench W that the station bears; it needs w and the efforts g, with what its own mass needs. All joints answer
to what its carrier has to give:

    w = Σ I φ + B c + e_j × W        g = Σ Sᵀ (I φ + B c) + ∂Sᵀ/∂q W        w − G g

The answers are in the axes of the root; motions are (linear; angular) and wrenches (force; moment), 6 × k. When the
parent of a subtree accelerates by A, and its points besides by a field, the subtree, whose joints are free,

    needs the wrench Ia (A + φ) + Ba c and accelerates its first joint by −Gᵀ (A + φ) − h c.

The robot gives way by −Ω w to a wrench w that a link has to pass on besides. A unit effort of joint i moves its parent
by −y and its own link by S β − y, with y = Ω G and β = D⁻¹ + Gᵀ y, which is its entry of M⁻¹. Two families carry
motions and wrenches on, from link to link:

    motion_propagators[k, i]   the acceleration of link k for a unit effort of joint i above it,
    force_propagators[k, i]    the wrench F on link i for a unit effort of joint k below it: if link i accelerates by A,
                               joint k does by −Fᵀ A, and besides by −lag c if the field begins at link i.

An element can move several stations, each with columns of its own: to the limbs on one of them those on another one are
other limbs. In long chains all links are in the axes of the root; arms, and joints
whose columns depend on q, are eliminated in axes of their own, and then seen from the root. (Ours; the articulated
bodies are Featherstone's.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.newton_euler.aba import Articulated, ArticulatedBodies, ArticulatedRobot
from gdalembert.dynamics.newton_euler.composite import Composite
from gdalembert.dynamics.newton_euler.crba import at_rates, place_in_root_axes
from gdalembert.dynamics.newton_euler.displacements import CompositeRate, Field
from gdalembert.dynamics.newton_euler.elements import ElementAtQ
from gdalembert.dynamics.newton_euler.links import NO_TURN, Motions, Rotation, place, together
from gdalembert.dynamics.newton_euler.rnea import joint_wrenches
from gdalembert.dynamics.newton_euler.rnea_derivatives import DisplacedRobot
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench

Block: TypeAlias = tuple[int, int, Matrix]

Fields: TypeAlias = dict[int, tuple[Matrix, Matrix]]
"""(φ; c), 6 × k and 3 × k, by the station whose subtree they are on."""

_NULL = ca.DM(3, 1)


class Mobility(NamedTuple):
    """Compliance of a station that the robot holds."""

    omega: Matrix  # Ω of the station, 6 × 6
    motion: Matrix  # S β − y: so does the station for a unit effort of its element, 6 × k


@dataclass(frozen=True)
class InRoot:
    """R and p of stations and of the frames of elements in the axes of the root, with twice the velocities of origins.

    The axes of the root are those of the first frame of its tree, which has no velocity.
    """

    stations: dict[int, tuple[Rotation, Matrix, Matrix]]
    frames: dict[int, tuple[Rotation, Matrix, Matrix]]

    @staticmethod
    def of(robot: RobotAtQ, motions: Motions, v: Matrix) -> InRoot:
        """Placements of all stations and frames, outward."""
        at_root: tuple[Rotation, Matrix, Matrix] = NO_TURN, _NULL, _NULL
        stations, frames = {-1: at_root}, dict[int, tuple[Rotation, Matrix, Matrix]]()
        for element in robot.elements:
            (above, p, p_rate), (fixed, origin) = stations[element.carrier], element.frame
            frame_rate, lever_rates = element.levers(motions[element.carrier].omega, v, times=1)
            on_carrier = together(above, fixed), p + above @ origin, p_rate + above @ (2 * frame_rate)
            r, p, p_rate = frames[element.index] = at_root if element.carrier < 0 else on_carrier
            for at, rate in zip(element.stations, lever_rates, strict=True):
                stations[at.index] = together(r, at.turn), p + r @ at.origin, p_rate + r @ (2 * rate)
        return InRoot(stations, frames)


@dataclass(frozen=True)
class Response:
    """Answer of a robot with free elements to efforts, wrenches and fields, in the axes of the root.

    Attributes:
        robot, bodies, free: in the axes of stations, under biases and −B.
        at: its stations and frames in the axes of the root.
    """

    robot: RobotAtQ
    bodies: ArticulatedBodies
    free: ArticulatedRobot
    at: InRoot

    @classmethod
    def of(cls, robot: RobotAtQ, v: Matrix, tau: Matrix) -> Response:
        """Eliminations inward, element by element; B of a station alone has 3 columns."""
        motions = robot.motions(v, ca.DM(*v.shape))
        at = InRoot.of(robot, motions, v)
        carried: dict[int, Wrench] = {}
        own: dict[int, tuple[Wrench, Matrix]] = {}
        for i, body in robot.rigid.items():
            omega, (r, _, velocity) = 2 * motions[i].omega, at.stations[i]
            rate = CompositeRate(ca.cross(omega, body.first), spatial.skew(omega) @ body.second)
            carried[i] = _followed(rate, body, r, r.T @ velocity)
        for element in robot.elements:
            carrier, (r, _, root_velocity) = motions[element.carrier], at.frames[element.index]
            velocity, rate = r.T @ root_velocity, element.body_rate(carrier.omega, v, times=2)
            eta = element.eta(carrier, v, times=2) + spatial.skew(velocity) @ element.columns.force
            own[element.index] = _followed(rate, element.body, r, velocity), -(r @ eta).T
        bodies = ArticulatedBodies.of(robot, motions, v).beside(carried, own=own)
        return cls(robot, bodies, bodies.eliminated(tau), at)

    def path(self, station: int) -> list[int]:
        """The elements that move a station, from the base on."""
        elements: list[int] = []
        while station >= 0:
            element, _ = self.robot.movers[station]
            elements.append(element.index)
            station = element.carrier
        return elements[::-1]

    @cached_property
    def columns(self) -> dict[int, Matrix]:
        """S of stations, 6 × k."""
        columns = {}
        for element in self.robot.elements:
            r, *_ = self.at.frames[element.index]
            for station in element.stations:
                _, p, _ = self.at.stations[station.index]
                columns[station.index] = station.motions.turned(r).about(-p).vector
        return columns

    def seen(self, element: ElementAtQ, wrench: Wrench) -> Matrix:
        """A wrench at the frame of an element, in the axes of the root (6 × k)."""
        r, p, _ = self.at.frames[element.index]
        return wrench.turned(r).about(-p).vector

    @cached_property
    def gains(self) -> dict[int, Matrix]:
        """G of elements, 6 × k."""
        return {each.index: self.seen(each, self.free.eliminations[each.index].gain) for each in self.robot.elements}

    @cached_property
    def lags(self) -> dict[int, Matrix]:
        """h of elements, k × 3: their efforts under −B."""
        return {i: own.effort[:, 1:] for i, own in self.free.eliminations.items()}

    @cached_property
    def shifts(self) -> dict[int, Matrix]:
        """y of elements: their carrier moves by −y for a unit effort, 6 × k."""
        omegas = {element.index: self.mobilities[element.carrier].omega for element in self.robot.elements}
        return {i: omega @ self.gains[i] for i, omega in omegas.items()}

    @cached_property
    def mobilities(self) -> dict[int, Mobility]:
        """Compliances of stations, outward."""
        mobilities = {-1: Mobility(ca.DM(6, 6), ca.DM(6, 0))}
        for element in self.robot.elements:
            carrier, gain = mobilities[element.carrier].omega, self.gains[element.index]
            shift = carrier @ gain
            own = self.free.eliminations[element.index].inertia.inverse + shift.T @ gain
            for i in element.element.stations:
                columns = self.columns[i]
                motion = columns @ own - shift
                mobilities[i] = Mobility(spatial.symmetric(carrier + motion @ columns.T - columns @ shift.T), motion)
        return mobilities

    @cached_property
    def motion_propagators(self) -> dict[tuple[int, int], Matrix]:
        """Accelerations by (station, element that moves it, or one above)."""
        propagators: dict[tuple[int, int], Matrix] = {}
        for element in self.robot.elements:
            for k in element.element.stations:
                columns = self.columns[k]
                propagators[k, element.index] = self.mobilities[k].motion
                for i in self.path(element.carrier):
                    above = propagators[element.carrier, i]
                    propagators[k, i] = above - columns @ (self.gains[element.index].T @ above)
        return propagators

    @cached_property
    def force_propagators(self) -> dict[tuple[int, int], tuple[Matrix, Matrix]]:
        """Wrenches and lags by (element, station above it)."""
        propagators: dict[tuple[int, int], tuple[Matrix, Matrix]] = {}
        for element in self.robot.elements:
            wrench, lag, station = self.gains[element.index], self.lags[element.index], element.carrier
            while station >= 0:
                propagators[element.index, station] = wrench, lag
                above, _ = self.robot.movers[station]
                work = wrench.T @ self.columns[station]
                wrench, lag = wrench - self.gains[above.index] @ work.T, lag - work @ self.lags[above.index]
                station = above.carrier
        return propagators

    def below(self, station: int) -> list[int]:
        """The elements further out than a station."""
        return [element.index for element in self.robot.elements if (element.index, station) in self.force_propagators]

    def inverse(self) -> Iterator[Block]:
        """M⁻¹ at and above the diagonal."""
        for element in self.robot.elements:
            j = element.index
            inverse = self.free.eliminations[j].inertia.inverse
            yield from (each for each in self.answers(element, self.gains[j], -inverse, {}) if each[0] <= j)

    def answers(self, element: ElementAtQ, wrench: Matrix, yielded: Matrix, fields: Fields) -> Iterator[Block]:
        """The accelerations of all elements where one is displaced (blocks of k columns).

        Args:
            element: which one.
            wrench: what its carrier has to pass on besides (6 × k).
            yielded: what it would decelerate by, if its carrier did not move (n × k).
            fields: on the subtrees of its stations.
        """
        j, carrier = element.index, element.carrier
        own = self.shifts[j].T @ wrench - yielded
        yield j, j, own
        rows = {i: -self.motion_propagators[carrier, i].T @ wrench for i in self.path(carrier)}
        for i, row in rows.items():
            yield i, j, row
        motion = -self.mobilities[carrier].omega @ wrench
        for k, block in self._elsewhere(element, motion, rows):
            yield k, j, block
        for s, (field, carried) in fields.items():
            moved = motion + field + self.columns[s] @ own
            for k in self.below(s):
                propagator, lag = self.force_propagators[k, s]
                yield k, j, -(propagator.T @ moved + lag @ carried)

    def _elsewhere(self, element: ElementAtQ, motion: Matrix, rows: dict[int, Matrix]) -> Iterator[tuple[int, Matrix]]:
        """The elements of other limbs, from the motion of the carrier of an element and the rows of those above."""
        while (station := element.carrier) >= 0:
            towards = {element.index, *(k for i in element.element.stations for k in self.below(i))}
            yield from self._pulled(set(self.below(station)) - towards, station, motion)
            element, _ = self.robot.movers[station]
            motion = motion - self.columns[station] @ rows[element.index]
            for other in set(element.element.stations) - {station}:
                yield from self._pulled(self.below(other), other, motion + self.columns[other] @ rows[element.index])

    def _pulled(self, elements: Iterable[int], station: int, motion: Matrix) -> Iterator[tuple[int, Matrix]]:
        """The accelerations of elements behind a station that moves."""
        return ((k, -self.force_propagators[k, station][0].T @ motion) for k in sorted(elements))


def _followed(rate: CompositeRate, body: Composite, r: Rotation, velocity: Matrix) -> Wrench:
    """−B (3 columns, in the axes of the root) of a body in motion whose origin has a velocity, in axes of its own."""
    moved = CompositeRate(rate.first + body.mass * velocity, rate.second + velocity @ body.first.T)
    return -Wrench(*((r @ half.T).T for half in moved.wrench(ca.DM.eye(3))))


def forward_dynamics_derivatives(tree: Tree, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
    """∂a/∂q, ∂a/∂v and M⁻¹, nv × 3 nv, columns in the tangent space; of joints that share no coordinates."""
    robot = RobotAtQ.of(tree, q, place_in_root_axes if tree.has_constant_subspaces else place)
    response = Response.of(robot, v, tau)
    a = response.free.accelerations(ca.vertcat(1, _NULL))
    motions = robot.motions(v, a)
    wrenches, _ = joint_wrenches(robot, motions, v, a)
    displaced = _Displaced(response, DisplacedRobot(robot, v, a, motions, wrenches, [()] * len(robot.links), times=2))
    by_v, by_q = ([block for each in robot.elements for block in displaced.answers(each, k)] for k in (0, 1))
    found = (tree.matrix(at_rates(robot.links, blocks)) for blocks in (by_q, by_v))
    return ca.horzcat(*found, tree.symmetric_matrix(at_rates(robot.links, response.inverse())))


@dataclass(frozen=True)
class _Displaced:
    """The robot with its elements displaced from a state."""

    response: Response
    state: DisplacedRobot

    def answers(self, element: ElementAtQ, order: int) -> Iterator[Block]:
        """Blocks of ∂a/∂v (order 0), or of ∂a/∂q (1)."""
        response, at = self.response, self.state.at(element)
        elimination, (inward, efforts) = response.free.eliminations[element.index], element.own_displaced(at)
        needed, effort, yielded = inward.fields[order], efforts[order], 0
        about_root: Fields = {}
        for station, displaced in zip(element.stations, element.displaced(at), strict=True):
            i, weights = station.index, station.weights
            phi, c = self._against_root(element, i, displaced.fields[order].times(weights))
            about_root[i] = self._in_root(element, i, phi), c
            if element.moves_one_body:  # what this passes on is known: the legs of a robot take 7 % less than otherwise
                needed += _needed(elimination.carried_body, elimination.carried_bias, phi, c)
                yielded = elimination.gain.work(phi.linear, phi.angular).T + response.lags[element.index] @ c
            else:
                body = response.bodies.bodies[i].turned(station.turn)
                bias = response.bodies.biases[i].turned(station.turn)
                on_station = _needed(body, bias, phi, c)
                needed = needed + on_station.about(-station.origin)
                effort = effort + station.work(on_station)
            if order:
                needed = needed + displaced.passed_on.times(weights).about(-station.origin)
                turned = Wrench(displaced.transmitted @ weights, ca.DM(3, weights.shape[1]))
                effort = effort + displaced.stiffness + station.work(turned)
        passed_on = response.seen(element, needed - elimination.gain.times(effort))
        yielded = yielded + elimination.inertia.inverse @ effort
        yield from response.answers(element, passed_on, yielded, about_root)

    def _against_root(self, element: ElementAtQ, i: int, field: Field) -> tuple[Motion, Matrix]:
        """φ in the frame's axes about station i, and c, of a field there whose velocities are those against it."""
        (r, *_), (*_, velocity) = self.response.at.frames[element.index], self.response.at.stations[i]
        linear = field.linear + spatial.skew(r.T @ velocity) @ field.carried
        return Motion(linear, field.angular), r @ field.carried

    def _in_root(self, element: ElementAtQ, i: int, phi: Motion) -> Matrix:
        """Fields φ (6 × k) in the axes of the root."""
        (r, *_), (_, p, _) = self.response.at.frames[element.index], self.response.at.stations[i]
        return phi.turned(r).about(-p).vector


def _needed(body: Articulated, bias: Wrench, phi: Motion, c: Matrix) -> Wrench:
    """The wrench that a field needs of a body whose biases are followed by −B."""
    return body.wrench(phi.linear, phi.angular) - Wrench(bias.force[:, 1:] @ c, bias.moment[:, 1:] @ c)
