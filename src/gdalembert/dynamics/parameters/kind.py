"""The contract of a kind of parameters that stand in the tree of a robot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert import spatial
from gdalembert.errors import UnknownNameError
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arrays import Array


class Kind(ABC):
    """Constants of a tree that are parameters.

    Attributes:
        kind: what the argument ``parameters`` calls them.
        elements: the names of what has them.
    """

    kind: ClassVar[str]
    elements: tuple[str, ...]

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """A name for each parameter, ``element.quantity``."""

    @classmethod
    @abstractmethod
    def choose(cls, tree: Tree, chosen: Sequence[str] | None) -> Kind:
        """Those of the elements that are chosen by name, or of all (``None``).

        Raises:
            UnknownNameError: if there is no such element.
            ArgumentError: if the element has no such parameters.
        """

    @abstractmethod
    def values(self, tree: Tree) -> Array:
        """Their values in a tree."""

    def of(self, tree: Tree, nominal: Tree) -> Array:
        """Their values in the tree of another model; ``nominal`` is that of the robot."""
        return type(self).choose(tree, self.elements).values(tree)

    @abstractmethod
    def random(self, tree: Tree, rng: np.random.Generator) -> Array:
        """Random values that a robot like that of the tree can have."""

    @abstractmethod
    def put(self, tree: Tree, p: Matrix) -> Tree:
        """The tree with p, symbols (SX) or numbers (DM), in their place."""

    @abstractmethod
    def write(self, model: pin.Model, p: Array) -> None:
        """Set them in a model."""


def selected(what: str, chosen: Sequence[str] | None, known: Iterable[str]) -> tuple[str, ...]:
    """The names that are chosen, all by default.

    Raises:
        UnknownNameError: if there is no such name.
    """
    available = tuple(known)
    if chosen is None:
        return available
    for name in chosen:
        if name not in available:
            raise UnknownNameError(what, name, available)
    return tuple(chosen)


def with_entries(values: Array, index: Sequence[int], p: Matrix) -> Any:
    """A vector with p in some of its entries, as a tree holds it."""
    column = [spatial.constant(x) for x in values]
    for k, i in enumerate(index):
        column[i] = p[k]
    return entries(ca.vertcat(*column))
