"""A FlexibleArm under test: its Functions beside a second computation, and undeformed beside Pinocchio."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.batch import BatchFunction
from gdalembert.spatial.functions import directional_derivative
from gdalembert.validation import diagnosis
from gdalembert.validation.diagnosis import ELASTIC_ENERGY, POWER_BALANCE, Explanation
from gdalembert.validation.dynamics import POWER, ROUNDING, DynamicsUnderTest, Explain, batched, built
from gdalembert.validation.frames_on_nodes import FramesOnNodes
from gdalembert.validation.reference_recursion import ReferenceRecursion
from gdalembert.validation.references import ReferenceSample
from gdalembert.validation.residuals import EXACT, LAW, SOLVED, Residual, eigenvalues, power_scale
from gdalembert.validation.states import States, rnea
from gdalembert.validation.torque_terms import TorqueTerms, decompose, times
from gdalembert.validation.undeformed_arm import UndeformedArm
from gdalembert.validation.wrenches import WrenchesUnderTest

_ENERGY_RATE = "energy_rate"


class FlexibleArmUnderTest(DynamicsUnderTest):
    """A :class:`~gdalembert.FlexibleArm`; with its model, the undeformed arm is compared with Pinocchio as well.

    Raises:
        ArgumentError: as :class:`DynamicsUnderTest`; and if the arm was made from another model.
    """

    reference: ReferenceRecursion

    def __init__(self, arm: Arm, model: pin.Model | None, tree: Tree | None, p: Array | None = None) -> None:
        self._arm, self._model = arm, None if tree is None else (model, tree)
        self._undeformed = self._undeformed_at(p)
        super().__init__(arm, ReferenceRecursion(arm).at, p)
        self._undeformed_tolerance = self._tolerance
        self._tolerance, self._noise = EXACT, ROUNDING  # the reference is computed from the same cleaned constants
        self._rigid_and_modal = slice(0, arm.modes.stop)
        self._frames_on_nodes = FramesOnNodes(arm)
        functions = {ELASTIC_ENERGY: batched(built(arm, ELASTIC_ENERGY), ELASTIC_ENERGY, ())}
        functions |= {_ENERGY_RATE: _energy_rate(arm)} | _terms(arm)
        self._functions |= {name: function.at(p) for name, function in functions.items()}

    def _undeformed_at(self, p: Array | None) -> UndeformedArm | None:
        return None if self._model is None else UndeformedArm(self._arm, *self._model, p)

    def _loaded(self, dynamics: Dynamics, p: Array | None) -> WrenchesUnderTest | None:
        if self._arm.kinematics == "exact":
            return super()._loaded(dynamics, p)
        if dynamics.external_wrenches:
            self._unsupported.append(
                "Functions under wrenches: with first-order kinematics they do work to first order only"
            )
        return None

    def changed(self, p: Array) -> Self:
        twin = super().changed(p)
        twin._undeformed = self._undeformed_at(p)
        return twin

    @property
    def against(self) -> str:
        title = self.reference.title
        return title if self._undeformed is None else f"{title} and, undeformed, Pinocchio"

    @property
    def not_checked(self) -> tuple[str, ...]:
        rigid = "the undeformed arm against Pinocchio: give against=model" if self._undeformed is None else ""
        own = (self.reference.missing, self._frames_on_nodes.missing, rigid)
        return (*super().not_checked, *filter(None, own))

    # Where residuals are made.

    def residuals(self, states: States) -> Iterator[Residual]:
        yield from super().residuals(states)
        without, reference = self.reference.terms(states)
        yield from self._elasticity(states, without, reference)
        yield from self._frames_on_nodes.residuals(states)
        yield from self._blocks(states, without)
        if self._undeformed is not None:
            yield from self._rigid(self._undeformed, states)

    def _elasticity(self, states: States, without: TorqueTerms, reference: TorqueTerms) -> Iterator[Residual]:
        q, v, a = states.q, states.v, states.a
        x = self.reference.linear_coordinates(q)
        elastic = 0.5 * np.sum(x * self.reference.elastic(q), axis=1)
        yield Residual(ELASTIC_ENERGY, "energy", self._functions[ELASTIC_ENERGY](q), elastic, self._tolerance)
        _, dampers = self.reference.passive(q, v)
        power = np.sum((self.torque(q, v, a) - dampers) * v, axis=1)
        addends = (times(without.mass_matrix, a), without.velocity, reference.gravity)
        scale = power_scale(sum(np.abs(torque * v).sum(axis=1) for torque in addends), power)
        yield Residual(POWER_BALANCE, "law", self._functions[_ENERGY_RATE](q, v, a), power, LAW, scale)

    def _blocks(self, states: States, without: TorqueTerms) -> Iterator[Residual]:
        """``terms``: the equation of motion of joints and modes, without armature and rotors."""
        own = self._rigid_and_modal
        k_f = self.reference.stiffness_of_links[own, own]
        references = {
            "terms (m)": (without.mass_matrix - np.diag(self.reference.tree.armature))[:, own, own],
            "terms (C)": without.velocity[:, own],
            "terms (G)": without.gravity[:, own],
            "terms (K_f)": np.broadcast_to(k_f, (len(states), *k_f.shape)),
        }
        names = self.reference.velocity_names[own]
        for name, reference in references.items():
            found = self._functions[name](states.q, states.v)
            yield Residual(name, "terms", found, reference, self._tolerance, names=names)

    def _rigid(self, undeformed: UndeformedArm, states: States) -> Iterator[Residual]:
        """The undeformed arm beside Pinocchio, which has no springs."""
        f, g = self._functions, undeformed.velocity_map
        own, of_arm = undeformed.states(states)
        q, v, a = of_arm.q, of_arm.v, of_arm.a
        springs, dampers = (torque @ g for torque in self.reference.passive(q, v))
        reference = decompose(rnea(undeformed.model), own).plus(springs, dampers)
        names = self.reference.velocity_names[: undeformed.model.nv]
        for name, part, value, expected in (
            ("undeformed tau", "tau", self.torque(q, v, a) @ g, reference.tau),
            ("undeformed M", "mass matrix", g.T @ f["mass_matrix"](q) @ g, reference.mass_matrix),
            ("undeformed nle", "velocity terms and gravity", f["nle"](q, v) @ g, reference.nle),
            ("undeformed g", "gravity", f["generalized_gravity"](q) @ g, reference.gravity - springs),
        ):
            yield Residual(name, part, value, expected, self._undeformed_tolerance, names=names)

    def _acceleration_scale(self, condition: Array, reference: TorqueTerms, a: Array) -> Array:
        """As for a rigid robot; besides, rounding of the forces on a stiff, light mode makes large accelerations."""
        smallest, _ = eigenvalues(reference.mass_matrix)
        forces = sum(np.abs(x).max(axis=1) for x in (reference.tau, reference.velocity, reference.gravity))
        lost = condition + forces / np.maximum(smallest, 1e-300) / np.maximum(1, np.abs(a).max(axis=1))
        return np.asarray(np.maximum(lost * self._noise / SOLVED, 1))

    def _normalized(self, mass_matrix: Array, reference: Array) -> Array:
        """With 1 on the diagonal: the units of modal coordinates are arbitrary."""
        unit = 1 / np.sqrt(np.maximum(np.diagonal(reference, axis1=1, axis2=2), 1e-300))
        return unit[:, :, None] * mass_matrix * unit[:, None, :]

    # What explains a check that failed.

    def _explanations(self) -> dict[str, Explain]:
        rigid = super()._explanations()

        def first(explain: Explain, name: str) -> Explain:
            return lambda sample: explain(sample) or rigid[name](sample)

        return rigid | {
            "inverse_dynamics": first(self._explain_passive_torque, "inverse_dynamics"),
            "nle": first(self._explain_passive_nle, "nle"),
            "potential_energy": first(self._explain_elastic_energy, "potential_energy"),
        }

    def _explain_passive_torque(self, sample: ReferenceSample) -> list[Explanation]:
        q, v, a = sample.states.q, sample.states.v, sample.states.a
        return self._explain_addends(self.torque(q, v, a) - sample.terms.tau, sample)

    def _explain_passive_nle(self, sample: ReferenceSample) -> list[Explanation]:
        nle = self._functions["nle"](sample.states.q, sample.states.v)
        return self._explain_addends(nle - sample.terms.nle, sample)

    def _explain_addends(self, difference: Array, sample: ReferenceSample) -> list[Explanation]:
        stiffness = self.reference.elastic(sample.states.q)
        return [
            *diagnosis.explain_addend("damping D v", difference, sample.dampers, sample),
            *diagnosis.explain_addend("stiffness K q", difference, stiffness, sample),
        ]

    def _explain_elastic_energy(self, sample: ReferenceSample) -> list[Explanation]:
        q, v = sample.states.q, sample.states.v
        difference = self._functions[POWER](q, v) - np.sum(sample.terms.gravity * v, axis=1)
        elastic = np.sum(self.reference.elastic(q) * v, axis=1)
        return diagnosis.explain_addend("elastic energy", difference, elastic, sample)


def _energy_rate(arm: Arm) -> BatchFunction:
    """(q, v, a, p) → the rate of kinetic and potential energy."""
    s = arm.symbols("q", "v", "a")
    q, v, a, *p = s.values()
    energy = built(arm, "kinetic_energy")(q, v, *p) + built(arm, "potential_energy")(q, *p)
    rates = ca.vertcat(arm.tree.configuration_rate(q, v), a)
    power = directional_derivative(energy, ca.vertcat(q, v), rates)
    return BatchFunction(ca.Function("energy_rate", list(s.values()), [ca.densify(power)]))


def _terms(arm: Arm) -> dict[str, BatchFunction]:
    """(q, v, p) → M, C, G and K_f of joints and modes, assembled from their blocks."""
    s = arm.symbols("q", "v")
    t = built(arm, "terms").call(s)
    joints, modes = t["m_r"].shape[0], t["m_f"].shape[0]
    whole = {
        "m": ca.vertcat(ca.horzcat(t["m_r"], t["m_rf"]), ca.horzcat(t["m_rf"].T, t["m_f"])),
        "C": ca.vertcat(t["C_1"], t["C_2"]),
        "G": ca.vertcat(t["G_1"], t["G_2"]),
        "K_f": ca.diagcat(ca.SX(joints, joints), t["K_f"]),
    }
    n = joints + modes
    shapes = {"m": (n, n), "C": (n,), "G": (n,), "K_f": (n, n)}
    functions = {name: ca.Function(name, list(s.values()), [ca.densify(x)]) for name, x in whole.items()}
    return {f"terms ({name})": BatchFunction(function, *shapes[name]) for name, function in functions.items()}
