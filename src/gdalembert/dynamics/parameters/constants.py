"""Vectors of a tree as parameters: rotor inertias and gravity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pinocchio as pin

from gdalembert.dynamics.parameters.kind import Kind, selected, with_entries
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True)
class Armature(Kind):
    """Rotor inertias on the diagonal of M [kg m², kg], one for each velocity.

    Attributes:
        columns: the entries of v. ``labels``: their names.
    """

    kind: ClassVar[str] = "armature"

    elements: tuple[str, ...]
    columns: tuple[int, ...]
    labels: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{label}.armature" for label in self.labels)

    @classmethod
    def choose(cls, tree: Tree, chosen: Sequence[str] | None) -> Armature:
        own = {joint.name: joint for joint in tree.joints_with_armature}
        elements = selected("joint", chosen, own)
        columns = tuple(i for name in elements for i in own[name].columns)
        return cls(elements, columns, tuple(tree.velocity_names[i] for i in columns))

    def values(self, tree: Tree) -> Array:
        return np.array(tree.armature)[list(self.columns)]

    def of(self, tree: Tree, nominal: Tree) -> Array:
        """Rotors of flexible joints keep their values, which no model has."""
        values = dict(zip(self.labels, self.values(nominal), strict=True))
        other = Armature.choose(tree, None)
        values |= {x: y for x, y in zip(other.labels, other.values(tree), strict=True) if x in values}
        return np.array(list(values.values()))

    def random(self, tree: Tree, rng: np.random.Generator) -> Array:
        own = self.values(tree)
        return np.where(own > 0, own, 1.0) * rng.uniform(0.1, 2.0, len(own))

    def put(self, tree: Tree, p: Matrix) -> Tree:
        armature: Any = with_entries(tree.armature, self.columns, p)
        return replace(tree, armature=armature)

    def write(self, model: pin.Model, p: Array) -> None:
        for column, value in zip(self.columns, p, strict=True):
            if column < model.nv:  # rotors of flexible joints are not in a model
                model.armature[column] = value


@dataclass(frozen=True)
class GravityVector(Kind):
    """The acceleration of gravity in the universe frame [m/s²]; its elements are x, y, z."""

    kind: ClassVar[str] = "gravity"

    elements: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"gravity.{axis}" for axis in self.elements)

    @property
    def rows(self) -> list[int]:
        """The entries of the vector."""
        return ["xyz".index(axis) for axis in self.elements]

    @classmethod
    def choose(cls, tree: Tree, chosen: Sequence[str] | None) -> GravityVector:
        return cls(selected("component of gravity", chosen, "xyz"))

    def values(self, tree: Tree) -> Array:
        return np.array(tree.gravity)[self.rows]

    def random(self, tree: Tree, rng: np.random.Generator) -> Array:
        return 5.0 * rng.normal(size=len(self.elements))

    def put(self, tree: Tree, p: Matrix) -> Tree:
        gravity: Any = with_entries(tree.gravity, self.rows, p)
        return replace(tree, gravity=gravity)

    def write(self, model: pin.Model, p: Array) -> None:
        linear = np.array(model.gravity.linear)
        linear[self.rows] = p
        model.gravity.linear = linear
