"""Derivatives of forward dynamics by articulated bodies: an entry takes a few dot products.

A displacement of joint j is a field on its subtree, φ + c × 2ẋ (``derivatives``), and turns the wrench W_j that the
joint passes on. All joints answer to what their parent has to give (``response``):

    w = Ia φ + Ba c + e_j × W_j

Where S depends on q, the joint has to give (∂S/∂q)ᵀ W_j besides. The modes of a link displace its stations, each with a
field on its subtree, and deform its own body.

In long chains all links are in the axes of the root; arms, and joints whose columns depend on q, are eliminated in
axes of their own, and then seen from the root. (Ours.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.aba import Articulated
from gdalembert.dynamics.newton_euler.crba import at_rates
from gdalembert.dynamics.newton_euler.derivatives import (
    Displacement,
    Field,
    displacement_of_joint,
    stiffness_of_joint,
)
from gdalembert.dynamics.newton_euler.links import place
from gdalembert.dynamics.newton_euler.response import Block, Fields, Response
from gdalembert.dynamics.newton_euler.rnea import joint_wrenches
from gdalembert.dynamics.newton_euler.rnea_derivatives import DisplacedRobot, Turned
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.dynamics.newton_euler.root_axes import place_in_root_axes
from gdalembert.dynamics.newton_euler.rotations import Full
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Motion, Wrench


def forward_dynamics_derivatives(tree: Tree, q: Matrix, v: Matrix, tau: Matrix) -> Matrix:
    """∂a/∂q, ∂a/∂v and M⁻¹, nv × 3 nv, columns in the tangent space; of joints that share no coordinates."""
    is_constant = all(joint.type.has_constant_subspace for joint in tree.joints)
    robot = RobotAtQ.of(tree, q, place_in_root_axes if is_constant else place)
    response = Response.of(robot, q, v, tau)
    a = response.acceleration
    motions = robot.motions(q, v, a, Gravity(tree).base_acceleration)
    wrenches, _ = joint_wrenches(robot, motions, v, a)
    state = DisplacedRobot(robot, q, v, a, motions, wrenches, [[]] * len(wrenches), times=2)
    displaced = _Displaced(response, state)
    by_q: list[Block] = []
    by_v: list[Block] = []
    for j in response.nodes:
        of_q, of_v = displaced.modes(j) if j in robot.stations else displaced.joint(j)
        by_q += of_q
        by_v += of_v
    found = (tree.matrix(at_rates(robot.links, blocks)) for blocks in (by_q, by_v))
    return ca.horzcat(*found, tree.symmetric_matrix(at_rates(robot.links, response.inverse())))


@dataclass(frozen=True)
class _Displaced:
    """The robot with joints or modes displaced from a state: blocks of ∂a/∂q, and of ∂a/∂v."""

    response: Response
    state: DisplacedRobot

    def joint(self, j: int) -> tuple[Iterator[Block], Iterator[Block]]:
        """Joint j."""
        response, state, wrench = self.response, self.state, self.state.wrenches[j]
        link, joint = response.robot.links[j], response.free.joints[j]
        motions = state.motions[link.joint.parent], state.motions[j]
        velocity, acceleration = displacement_of_joint(link, motions, state.q, state.v, state.a, state.times)

        def answers(field: Field, turned: Wrench, stiffness: Matrix) -> Iterator[Block]:
            phi, c = self._against_root(j, j, field.turned(link.turn.T))
            needed = _needed(joint.carried_body, joint.carried_bias, phi, c) + turned
            yielded = joint.gain.work(phi.linear, phi.angular).T + response.lags[j] @ c
            yielded += joint.inertia.inverse @ stiffness
            passed_on = response.seen(j, needed - joint.gain.times(stiffness))
            return response.answers(j, passed_on, yielded, {j: (self._in_root(j, j, phi), c)})

        turned, stiffness = link.columns.carry(wrench), stiffness_of_joint(link, state.q, wrench)
        none = Wrench(ca.DM(*turned.force.shape), ca.DM(*turned.moment.shape)), ca.DM(*stiffness.shape)
        return answers(acceleration, turned, stiffness), answers(velocity, *none)

    def modes(self, j: int) -> tuple[Iterator[Block], Iterator[Block]]:
        """The modes whose first station is j."""
        link = self.response.parent(j)
        rising, own = self.state.body(link)
        stations = {s: self.state.station(s) for s in self.response.robot.tree.stations(link)}
        of_v, of_q = (self._bent(j, k, rising.fields[k], own[k], stations) for k in range(2))
        return of_q, of_v

    def _bent(
        self, j: int, k: int, needed: Wrench, efforts: Matrix, stations: dict[int, tuple[Displacement, Turned]]
    ) -> Iterator[Block]:
        """The blocks of modes j by velocities (k = 0) or by positions (1).

        Args:
            needed, efforts: the wrench and the modal forces that the body of the link needs itself.
            stations: those that the modes move.
        """
        response, link = self.response, self.response.parent(j)
        modes = response.free.modes[link]
        about_root: Fields = {}
        for s, (moved, turned) in stations.items():
            phi, c = self._against_root(link, s, moved.fields[k].times(moved.weights))
            station, own = response.robot.stations[s], response.bodies
            r = Full(station.rotation)
            felt = passed_on = _needed(own.bodies[s].turned(r), own.biases[s].turned(r), phi, c)
            if k:
                felt = replace(felt, force=felt.force + turned.felt @ moved.weights)
                passed_on, efforts = passed_on + turned.passed_on.times(moved.weights), efforts + turned.stiffness
            efforts = efforts + moved.work(felt)
            needed = needed + passed_on.about(-station.origin)
            about_root[s] = self._in_root(link, s, phi), c
        passed_on = response.seen(link, needed - modes.gain.times(efforts))
        return response.answers(j, passed_on, modes.inertia.inverse @ efforts, about_root)

    def _against_root(self, link: int, i: int, field: Field) -> tuple[Motion, Matrix]:
        """φ in link axes about the origin of i, and c, of a field there whose velocities are those against it."""
        r, _ = self.response.axes[link]
        linear = field.linear + spatial.skew(r.T @ self.response.origins[i]) @ field.carried
        return Motion(linear, field.angular), r @ field.carried

    def _in_root(self, link: int, i: int, phi: Motion) -> Matrix:
        """The same φ (6 × k) in the axes of the root."""
        return phi.turned(self.response.axes[link][0]).about(-self.response.axes[i][1]).vector


def _needed(body: Articulated, bias: Wrench, phi: Motion, c: Matrix) -> Wrench:
    """The wrench that a field needs of a body whose biases are followed by −B."""
    return body.wrench(phi.linear, phi.angular) - Wrench(bias.force[:, 1:] @ c, bias.moment[:, 1:] @ c)
