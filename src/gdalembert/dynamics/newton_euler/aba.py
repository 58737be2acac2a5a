"""Articulated bodies: forward dynamics."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.external import UNLOADED, Loads
from gdalembert.dynamics.newton_euler.links import Link, demanded_wrench, move, place
from gdalembert.dynamics.newton_euler.rotations import Rotation
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.spatial_vectors import Wrench

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


def forward_dynamics(tree: Tree, q: Matrix, v: Matrix, tau: Matrix, loads: Loads = UNLOADED) -> Matrix:
    """a by articulated bodies, nv.

    The outward pass runs with a = 0, and its wrenches are the bias. The recursion then finds by how much the
    acceleration of each link differs from that pass.
    """
    links = place(tree, q)
    motions = move(links, q, v, ca.DM(tree.nv, 1), Gravity(tree).base_acceleration)
    acting, tau = loads.on(tree, links), tau + tree.vector(loads.world_torques(tree, links))
    biases = [demanded_wrench(link, motions[i]) - acting[i] for i, link in enumerate(links)]
    bodies = [Articulated.of(link.mass, link.first, link.second) for link in links]
    armature = spatial.constant(tree.armature)
    gains: list[Wrench] = [Wrench(_NULL, _NULL)] * len(links)
    efforts: list[Matrix] = [_NULL] * len(links)
    for i, link in reversed(list(enumerate(links))):
        wrench = bodies[i].wrench(link.columns.linear, link.columns.angular)
        own = link.work(wrench) + ca.diag(link.joint.velocity(armature)) / link.rate**2
        # columns of D⁻¹ [force; moment]ᵀ and D⁻¹ (tau − Sᵀ bias), in one elimination
        demand = link.joint.velocity(tau) / link.rate - link.work(biases[i])
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
        accelerations.append(a_i / link.rate)
        changes.append((linear + link.columns.linear @ a_i, angular + link.columns.angular @ a_i))
    return tree.vector(accelerations)
