"""What a candidate is held against: random states of a robot, and what is right there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pinocchio as pin

from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array
from gdalembert.validation.diagnosis import Case, Parts, decompose
from gdalembert.validation.states import States, batches, configuration_rates, integration, rnea


class Truth(ABC):
    """What is right about a robot.

    Attributes:
        tree: the robot's numbers. ``title``: what this is, in words.
        names: of the entries of v. ``names_of_q``: of those of q.
    """

    tree: Tree
    title: str
    names: tuple[str, ...]
    names_of_q: tuple[str, ...]

    @abstractmethod
    def states(self, samples: int, seed: int, size: int) -> Iterator[States]:
        """Random states, ``size`` at a time; which ones does not depend on ``size``."""

    @abstractmethod
    def parts(self, states: States) -> tuple[Parts, Parts]:
        """The parts of tau without springs and dampers, and with them."""

    @abstractmethod
    def rates(self, states: States) -> Array:
        """dq/dt (n × nq) of (q, v), good to about 1e-11."""

    @abstractmethod
    def case(self, states: States, tolerance: float) -> Case:
        """What a diagnosis goes by."""


class PinocchioTruth(Truth):
    """``pin.rnea`` of a model; ``springs`` (n × nv) at n configurations, of which Pinocchio knows nothing."""

    title = "Pinocchio"

    def __init__(self, model: pin.Model, tree: Tree, springs: Callable[[Array], Array] | None = None) -> None:
        self.model, self.tree, self.names = model, tree, tree.velocity_names
        own = sorted((joint for joint in tree.joints if joint.scaling is None), key=lambda joint: joint.idx_q)
        self.names_of_q = tuple(joint.name for joint in own for _ in range(joint.type.nq))
        self._rnea, self._springs = rnea(model), springs

    def states(self, samples: int, seed: int, size: int) -> Iterator[States]:
        return batches(self.model, samples, seed, size)

    def parts(self, states: States) -> tuple[Parts, Parts]:
        free = decompose(self._rnea, states)
        if self._springs is None:
            return free, free
        springs = self._springs(states.q)
        return free, replace(free, tau=free.tau + springs, gravity=free.gravity + springs)

    def rates(self, states: States) -> Array:
        return configuration_rates(integration(self.model), states)

    def case(self, states: States, tolerance: float) -> Case:
        free, truth = self.parts(states)
        springs, units = truth.gravity - free.gravity, units_of_inertia(self.tree)
        return Case(self.model, self.tree, self._torque, states, truth, springs, tolerance, self.names, units)

    def _torque(self, q: Array, v: Array, a: Array) -> Array:
        return self._rnea(q, v, a) + (0 if self._springs is None else self._springs(q))


def units_of_inertia(tree: Tree) -> tuple[str, ...]:
    """Of each entry of v: kg m² where the joint turns, kg where it slides."""
    units = [""] * tree.nv
    for joint in tree.joints:
        if joint.scaling is None:
            _, angular = joint.type.subspace(joint.type.neutral())
            turns = np.any(np.array(angular, dtype=float), axis=0)
            for k, column in enumerate(joint.columns):
                units[column] = "kg m²" if turns[k] else "kg"
    return tuple(units)
