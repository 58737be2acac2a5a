"""References: random states of a robot, and the values of tau and its terms there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.wrenches import ExternalWrenches
from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.batch import BatchFunction
from gdalembert.validation.states import States, Torque, batches, configuration_rates, integration, rnea
from gdalembert.validation.torque_terms import TorqueTerms, decompose
from gdalembert.validation.wrenches import FextOfModel


@dataclass(frozen=True, eq=False)
class ReferenceSample:
    """All that a diagnosis needs to know of a reference, at some states.

    Attributes:
        model: as Pinocchio sees it; ``None`` if other gravity fields and other bodies are not to be considered.
        tree: the robot's numbers.
        torque: of the reference. ``integrate``: (q, v) to the configuration after unit time.
        states: at which the diagnosis is made. ``terms``: of tau there, springs and dampers included.
        springs: the part of the terms that springs and elasticity add to gravity (n × nv).
        dampers: the part that dampers add to the velocity terms (n × nv).
        tolerance: above which a relative difference counts.
        names: of the entries of v. ``units``: of their inertias.
        source: where ``torque`` comes from, in words. ``owner``: whose a value is, after "2 times".
    """

    model: pin.Model | None
    tree: Tree
    torque: Torque
    integrate: Callable[[Array, Array], Array]
    states: States
    terms: TorqueTerms
    springs: Array
    dampers: Array
    tolerance: float
    names: tuple[str, ...]
    units: tuple[str, ...]
    source: str = "Pinocchio's rnea"
    owner: str = "Pinocchio's"


class AddedForces:
    """The force elements that were added to a robot, at n states; with parameters, at p."""

    def __init__(self, dynamics: Dynamics) -> None:
        s, nv = dynamics.symbols("q", "v"), dynamics.tree.nv
        torque = sum((force.torque(s["q"], s["v"]) for force in dynamics.added_forces), ca.DM(nv, 1))
        self.torque = BatchFunction(ca.Function("forces", list(s.values()), [ca.densify(torque)]), nv)

    def at(self, p: Array | None) -> AddedForces:
        """The force elements with p."""
        twin = copy(self)
        twin.torque = self.torque.at(p)
        return twin

    def parts(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The torque at rest, and what v adds to it (n × nv each)."""
        at_rest = self.torque(q, np.zeros_like(v))
        return at_rest, self.torque(q, v) - at_rest


class Reference(ABC):
    """What a system under test is compared with.

    Attributes:
        tree: the robot's numbers. ``title``: what the reference is, in words.
        velocity_names: of the entries of v. ``configuration_names``: of those of q.
        scales: of random entries of v.
    """

    tree: Tree
    title: str
    velocity_names: tuple[str, ...]
    configuration_names: tuple[str, ...]
    scales: Array

    @abstractmethod
    def states(self, samples: int, seed: int, size: int) -> Iterator[States]:
        """States, ``size`` at a time; they do not depend on ``size``."""

    @abstractmethod
    def terms(self, states: States) -> tuple[TorqueTerms, TorqueTerms]:
        """tau and its terms without springs and dampers, and with them."""

    @abstractmethod
    def loaded_torque(self, states: States, external: ExternalWrenches, wrenches: Array) -> Array:
        """tau (n × nv) under external wrenches (n × 6 n_frames), springs and dampers included."""

    @abstractmethod
    def integrate(self, q: Array, v: Array) -> Array:
        """The configurations (n × nq) that are reached from q with constant v in unit time."""

    def rates(self, states: States) -> Array:
        """dq/dt (n × nq) at (q, v), accurate to about 1e-11."""
        return configuration_rates(self.integrate, states)

    @abstractmethod
    def sample(self, states: States, tolerance: float) -> ReferenceSample:
        """What a diagnosis needs to know."""


class PinocchioReference(Reference):
    """``pin.rnea`` of a model, and the force elements of a Dynamics, which Pinocchio does not have."""

    title = "Pinocchio"

    def __init__(self, model: pin.Model, tree: Tree, forces: AddedForces | None = None) -> None:
        self.model, self.tree, self.velocity_names = model, tree, tree.velocity_names
        own = tree.independent_joints
        self.configuration_names = tuple(joint.name for joint in own for _ in range(joint.type.nq))
        self.scales, self._rnea, self._forces = np.ones(tree.nv), rnea(model), forces

    def states(self, samples: int, seed: int, size: int) -> Iterator[States]:
        return batches(self.model, samples, seed, size)

    def terms(self, states: States) -> tuple[TorqueTerms, TorqueTerms]:
        without = decompose(self._rnea, states)
        return without, without if self._forces is None else without.plus(*self._forces.parts(states.q, states.v))

    def loaded_torque(self, states: States, external: ExternalWrenches, wrenches: Array) -> Array:
        forces = 0 if self._forces is None else self._forces.torque(states.q, states.v)
        return FextOfModel(self.model, external).torque(states, wrenches) + forces

    def integrate(self, q: Array, v: Array) -> Array:
        return integration(self.model)(q, v)

    def sample(self, states: States, tolerance: float) -> ReferenceSample:
        without, terms = self.terms(states)
        return ReferenceSample(
            model=self.model,
            tree=self.tree,
            torque=self._torque,
            integrate=self.integrate,
            states=states,
            terms=terms,
            springs=terms.gravity - without.gravity,
            dampers=terms.velocity - without.velocity,
            tolerance=tolerance,
            names=self.velocity_names,
            units=units_of_inertia(self.tree),
        )

    def _torque(self, q: Array, v: Array, a: Array) -> Array:
        return self._rnea(q, v, a) + (0 if self._forces is None else self._forces.torque(q, v))


def units_of_inertia(tree: Tree) -> tuple[str, ...]:
    """For each entry of v: kg m² where the joint rotates, kg where it translates."""
    units = [""] * tree.nv
    for joint in tree.independent_joints:
        for column, linear in zip(joint.columns, joint.type.linear, strict=True):
            units[column] = "kg" if linear else "kg m²"
    return tuple(units)
