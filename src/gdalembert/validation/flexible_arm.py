"""A FlexibleArm under test: its Functions beside a second computation, and undeformed beside Pinocchio."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.groups import inertia_of
from gdalembert.errors import ArgumentError
from gdalembert.flexible.attach import model_joint_name
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.model.inertia import dynamic_parameters
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array, homogeneous
from gdalembert.spatial.functions import BatchFunction, directional_derivative
from gdalembert.validation import diagnosis
from gdalembert.validation.diagnosis import ELASTIC_ENERGY, POWER_BALANCE, Explanation, listed
from gdalembert.validation.dynamics import POWER, ROUNDING, DynamicsUnderTest, Explain, batched, built
from gdalembert.validation.references import (
    ReferenceRecursion,
    ReferenceSample,
    WrenchesUnderTest,
    rotor_columns,
    tree_at,
)
from gdalembert.validation.report import EXACT, LAW, SOLVED, Residual, eigenvalues, power_scale
from gdalembert.validation.states import States, TorqueTerms, decompose, rnea, times

_ENERGY_RATE = "energy_rate"


class UndeformedArm:
    """The arm with modes and their rates at zero, and with rotors that turn with their joints.

    Attributes:
        model: the given one, with rigid beams in place of its flexible links, rotors added to its armature, and p.

    Raises:
        ArgumentError: if the arm was made from another model.
    """

    def __init__(self, arm: Arm, model: pin.Model, tree: Tree, p: Array | None = None) -> None:
        _check_joints(arm, tree)
        self._rotors, self._nq, self._nv = list(rotor_columns(arm)), arm.tree.nq, arm.tree.nv
        self._joints = arm.nominal.joints
        self.model = _with_rigid_links(arm, tree_at(arm, p), model)

    @property
    def velocity_map(self) -> Array:
        """G (nv × nv of the model): v of the arm is G times v of the model; torques are Gᵀ times the arm's."""
        g = np.eye(self._nv, self.model.nv)
        for rotor, column in self._rotors:
            g[rotor, column] = 1.0
        return g

    def states(self, states: States) -> tuple[States, States]:
        """The model's part of the arm's states, and the arm's states that belong to it."""
        model, g = self.model, self.velocity_map
        own = States(states.q[:, : model.nq], states.v[:, : model.nv], states.a[:, : model.nv])
        q = np.zeros_like(states.q)
        q[:, : model.nq] = own.q
        idx_q = {joint.idx_v: joint.idx_q for joint in self._joints}
        for rotor, column in self._rotors:
            q[:, rotor + self._nq - self._nv] = own.q[:, idx_q[column]]
        return own, States(q, own.v @ g.T, own.a @ g.T)


def _with_rigid_links(arm: Arm, at_p: Tree, model: pin.Model) -> pin.Model:
    """The model with the bodies, the armature and the gravity that p changes, beside rigid beams and rotors.

    What a Cosserat rod carries stands where the rod at rest ends, not where the model's straight link does.
    """
    rigid, nominal = model.copy(), arm.nominal
    change, bodies, changed = at_p.armature - nominal.armature, _rigid_bodies(nominal), _rigid_bodies(at_p)
    for name, i in zip(nominal.joint_names, nominal.links, strict=True):
        if i in nominal.modal or not np.array_equal(changed[i], bodies[i]):
            parameters = dynamic_parameters((changed[i] + changed[i].T) / 2).full().ravel()
            rigid.inertias[model.getJointId(name)] = inertia_of(name, parameters)
    for name, moved in _moved_by_rest(arm):
        rigid.jointPlacements[model.getJointId(name)] = pin.SE3(moved) * model.jointPlacements[model.getJointId(name)]
    armature = np.array(model.armature)
    for rotor, own in rotor_columns(arm):
        # a rotor without an inertia of its own has the joint's armature, which the model already includes
        given = 0.0 if armature[own] > 0 and nominal.armature[own] == 0 else nominal.armature[rotor]
        armature[own] += given + change[rotor]
    rigid.armature = armature + change[: model.nv]
    rigid.gravity.linear = np.array(model.gravity.linear) + at_p.gravity - nominal.gravity
    return rigid


def _rigid_bodies(tree: Tree) -> dict[int, Array]:
    """The pseudo-inertia (4 × 4) of each undeformed link with all that its modes move, by the index of its joint."""
    found: dict[int, Array] = {}
    for joint, (link, placement) in zip(tree.joints, _undeformed(tree), strict=True):
        found[link] = found.get(link, 0) + placement @ joint.pseudo_inertia @ placement.T
    return found


def _moved_by_rest(arm: Arm) -> Iterator[tuple[str, Array]]:
    """The joints of the model on Cosserat rods, and how the strain of a rod at rest moves them in its link (4 × 4)."""
    tree, undeformed = arm.nominal, _undeformed(arm.nominal)
    rods = {rod.link for rod in arm.flexibility.rods.values()}
    on_straight = {joint.name: homogeneous(joint.rotation, joint.translation) for joint in arm.rigid_tree.joints}
    for i, joint in enumerate(tree.joints):
        link, placement = undeformed[joint.parent]
        if joint.name in on_straight and joint.parent >= 0 and link in rods:
            at_rest = placement @ homogeneous(joint.rotation, joint.translation)
            yield model_joint_name(tree, i), at_rest @ np.linalg.inv(on_straight[joint.name])


def _undeformed(tree: Tree) -> list[tuple[int, Array]]:
    """For each joint the index of that of its link, and its placement in the undeformed link (4 × 4)."""
    found: list[tuple[int, Array]] = []
    for i, joint in enumerate(tree.joints):
        link, placement = i, np.eye(4)
        if joint.type.is_modal or not joint.type.nv:
            link, placement = found[joint.parent]
            r, p = (ca.DM(x).full() for x in joint.type.placement(joint.type.neutral()))
            placement = placement @ homogeneous(joint.rotation, joint.translation) @ homogeneous(r, p[:, 0])
        found.append((link, placement))
    return found


def _check_joints(arm: Arm, tree: Tree) -> None:
    own, found = arm.rigid_tree.joints, tree.joints
    names, given = [joint.name for joint in own], [joint.name for joint in found]
    if names != given:
        raise ArgumentError(
            f"the arm was made from {arm.tree.name!r} with the joints {listed(map(repr, names))}; {tree.name!r} has "
            f"{listed(map(repr, given))}; give the model that the arm was made from"
        )
    for joint, other in zip(own, found, strict=True):
        if joint.type.kind != other.type.kind or joint.parent != other.parent:
            raise ArgumentError(
                f"joint {other.name!r} of {tree.name!r} is {_described(other, given)}; that of the arm is "
                f"{_described(joint, names)}; give the model that the arm was made from"
            )


def _described(joint: Joint, names: list[str]) -> str:
    return f"{joint.type.kind} on {names[joint.parent] if joint.parent >= 0 else 'the universe'!r}"


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
        own = (self.reference.missing, rigid)
        return (*super().not_checked, *filter(None, own))

    # Where residuals are made.

    def residuals(self, states: States) -> Iterator[Residual]:
        yield from super().residuals(states)
        without, reference = self.reference.terms(states)
        yield from self._elasticity(states, without, reference)
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
        """Tolerance scale as of a rigid robot, and for rounding of the forces on stiff, light modes."""
        smallest, _ = eigenvalues(reference.mass_matrix)
        forces = sum(np.abs(x).max(axis=1) for x in (reference.tau, reference.velocity, reference.gravity))
        lost = condition + forces / np.maximum(smallest, 1e-300) / np.maximum(1, np.abs(a).max(axis=1))
        return np.asarray(np.maximum(lost * self._noise / SOLVED, 1))

    def _normalized(self, mass_matrix: Array, reference: Array) -> Array:
        """Mass matrix with 1 on the diagonal: the units of modal coordinates are arbitrary."""
        unit = 1 / np.sqrt(np.maximum(np.diagonal(reference, axis1=1, axis2=2), 1e-300))
        return unit[:, :, None] * mass_matrix * unit[:, None, :]

    # What explains a check that failed.

    def _explanations(self, sample: ReferenceSample) -> dict[str, Explain]:
        rigid, f, terms = super()._explanations(sample), self._functions, sample.terms
        q, v, a = sample.states.q, sample.states.v, sample.states.a
        elastic = self.reference.elastic(q)
        power, of_gravity = np.sum(elastic * v, axis=1), np.sum(terms.gravity * v, axis=1)

        def passive(difference: Array) -> list[Explanation]:
            return [
                *diagnosis.explain_addend("damping D v", difference, sample.dampers, sample),
                *diagnosis.explain_addend("stiffness K q", difference, elastic, sample),
            ]

        own: dict[str, Explain] = {
            "inverse_dynamics": lambda: passive(self.torque(q, v, a) - terms.tau),
            "nle": lambda: passive(f["nle"](q, v) - terms.nle),
            "potential_energy": lambda: diagnosis.explain_addend(
                "elastic energy", f[POWER](q, v) - of_gravity, power, sample
            ),
        }
        return rigid | {name: lambda name=name: own[name]() or rigid[name]() for name in own}


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
