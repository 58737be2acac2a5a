"""The force elements of flexible links and joints: stiffness and damping, with a factor for each link and joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import casadi as ca

from gdalembert import spatial
from gdalembert.dynamics.forces import Force
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True, eq=False)
class _Parts(Force):
    """Σ factor · matrix (nv × nv) over the flexible links and joints of an arm, by name; factors are 1 by default."""

    tree: Tree
    parts: Mapping[str, Array]
    factors: Mapping[str, Matrix] = field(default_factory=dict)

    @property
    def matrix(self) -> Matrix:
        """The sum (nv × nv)."""
        total: Matrix = ca.DM(self.tree.nv, self.tree.nv)
        for name, part in self.parts.items():
            total = total + self.factors.get(name, 1.0) * spatial.constant(part)
        return total

    @property
    def parameters(self) -> dict[str, float]:
        return {f"{name}.{self.name}_factor": 1.0 for name in self.parts}

    def with_parameters(self, values: Mapping[str, Matrix]) -> Force:
        suffix = f".{self.name}_factor"
        return replace(self, factors={name.removesuffix(suffix): value for name, value in values.items()})


class Stiffness(_Parts):
    """The stiffness of the modes, and of the springs between joints and rotors: torque K q."""

    name: ClassVar[str] = "stiffness"
    not_negative: ClassVar[tuple[str, ...]] = ("stiffness_factor",)

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """K x, with x the coordinates of modes, flexible joints and rotors."""
        return self.matrix @ self._coordinates(q)

    def energy(self, q: Matrix) -> Matrix:
        """½ xᵀ K x [J]."""
        x = self._coordinates(q)
        return 0.5 * ca.dot(x, self.matrix @ x)

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """0."""
        return ca.DM(0)

    def _coordinates(self, q: Matrix) -> Matrix:
        """x (nv), structurally zero where no stiffness is."""
        held = {k for part in self.parts.values() for k in spatial.constant(part).sparsity().get_col()}
        moves = [joint.scaling is None and bool(held & set(joint.columns)) for joint in self.tree.joints]
        pairs = zip(self.tree.joints, moves, strict=True)
        return self.tree.vector([j.configuration(q) if moved else ca.DM(j.type.nv, 1) for j, moved in pairs])


class ModalDamping(_Parts):
    """The damping of the modes and of flexible joints: torque D v."""

    name: ClassVar[str] = "damping"
    not_negative: ClassVar[tuple[str, ...]] = ("damping_factor",)

    def torque(self, q: Matrix, v: Matrix) -> Matrix:
        """D v."""
        return self.matrix @ v

    def power(self, q: Matrix, v: Matrix) -> Matrix:
        """vᵀ D v [W]."""
        return ca.dot(v, self.matrix @ v)
