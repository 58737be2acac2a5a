"""Gravity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.forces.force import Force
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix


@dataclass(frozen=True)
class Gravity(Force):
    """The weight of all links, in a field that is the same everywhere: V = −Σ m g·r, torque g = ∂V/∂q.

    A recursion need not add the torque: it gives the base the acceleration −g, which is the same and costs less.

    Attributes:
        tree: the robot; its ``gravity`` (3) is the acceleration [m/s²] in the universe frame.
    """

    name: ClassVar[str] = "gravity"

    tree: Tree

    @property
    def base_acceleration(self) -> Matrix:
        """−g (3) [m/s²]: the acceleration of the base that gravity is equal to."""
        return -spatial.constant(self.tree.gravity)

    def energy(self, q: Matrix) -> Matrix:
        """V = −Σ m g·r [J], zero with all masses at the origin of the universe."""
        return -ca.dot(spatial.constant(self.tree.gravity), self.tree.first_moment(q))

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """g = ∂V/∂q (nv) in the tangent space of q."""
        x = ca.SX.sym("q", self.tree.nq)
        gradient = self.tree.tangent_map(x).T @ ca.gradient(self.energy(x), x)
        if isinstance(q, ca.SX):
            return ca.substitute(gradient, x, q)
        return ca.Function("gravity", [x], [gradient])(q)

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """0."""
        return ca.DM(0)
