"""References: random states and external wrenches of a robot, and the values of tau and its terms there.

That of a rigid robot is Pinocchio; that of a flexible arm is a second computation of tau, independent of the arm's own
recursion: the 4 × 4 recursion (Book 1984) for exact kinematics, and the explicit equations (CB32–CB34) for first-order
kinematics. The former and the arm's Functions share how a section moves with its modes
(:mod:`gdalembert.model.joints.deflection`); the laws and the power balance check that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics import frame_motion
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.friction import LEAST_TORQUE
from gdalembert.dynamics.parameters.groups import inertia_of
from gdalembert.dynamics.parameters.parameters import ModelParameters
from gdalembert.dynamics.wrenches import ExternalWrenches
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.flexible.attach import model_joint_name
from gdalembert.flexible.elastic_forces import ModalDamping
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.flexible.reference import book_1984, cetinkunt_book_1988
from gdalembert.model import configuration
from gdalembert.model.from_pinocchio import name_of, read_tree
from gdalembert.model.inertia import dynamic_parameters
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, frozen, homogeneous
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.functions import BatchFunction, function, symbols
from gdalembert.validation.report import listed
from gdalembert.validation.states import (
    States,
    TermSizes,
    Torque,
    TorqueTerms,
    decompose,
    differences_along,
    draws,
    eigenvalues,
    largest,
    rnea,
    times,
)

_NEWTON_STEPS = 20
_SLOPE = 0.05
"""Standard deviation of the slope [rad] of a link, or of its deflection by length, due to each mode alone."""
_MOST_COORDINATES = 30
"""Up to which the explicit equations are used: they grow with the cube of the number of links."""


@dataclass(frozen=True, eq=False)
class ReferenceSample(Brief):
    """All that is known of a reference at some states.

    Attributes:
        without: tau and its terms without springs and dampers. ``terms``: those with them.
        springs: the part of the terms that what acts at rest adds to gravity (n × nv): springs, elasticity, offsets.
        dampers: the part that dampers and friction add to the velocity terms (n × nv).
        offsets: constant friction, which is among the springs, though it has no energy (n × nv).
        tolerance: above which a relative difference counts in a diagnosis.
    """

    reference: Reference
    states: States
    without: TorqueTerms
    terms: TorqueTerms
    springs: Array
    dampers: Array
    offsets: Array
    tolerance: float

    @cached_property
    def tau(self) -> Array:
        """The torque (n × nv) with the friction that grows with the load, which is in none of the terms."""
        return self.reference.under_load(self.states.q, self.states.v, self.terms.tau)

    @cached_property
    def nle(self) -> Array:
        """The torque at a = 0 (n × nv), likewise."""
        return self.reference.under_load(self.states.q, self.states.v, self.terms.nle)

    @cached_property
    def sizes(self) -> TermSizes:
        """Sizes of the addends of the torques."""
        mass, v, a = (largest(values) for values in (self.terms.mass_matrix, self.states.v, self.states.a))
        return TermSizes(mass * np.abs(self.reference.tree.gravity).max(), mass * v, mass * v**2, mass * a)

    @cached_property
    def condition(self) -> Array:
        """The condition number of M (n)."""
        least, most = eigenvalues(self.terms.mass_matrix)
        return np.asarray(most / np.maximum(least, 1e-300))

    @property
    def kinetic_energy(self) -> Array:
        """The kinetic energy ½ v·M v (n)."""
        v = self.states.v
        return np.asarray(0.5 * np.sum(v * times(self.terms.mass_matrix, v), axis=1))

    @property
    def power(self) -> Array:
        """The power g·v (n), springs included: the rate of the potential energy."""
        return np.asarray(np.sum((self.terms.gravity - self.offsets) * self.states.v, axis=1))


class Reference(ABC):
    """The reference that a system under test is compared with.

    Attributes:
        tree: the robot's numbers.
        model: the robot as Pinocchio sees it; ``None`` if other gravity fields and other bodies are not to be
            considered.
        title: the reference, in words. ``source``: the origin of tau. ``owner``: whose a value is, after "2
            times".
        velocity_names: names of the entries of v. ``configuration_names``: those of q.
        units: units of the inertias of the entries of v: kg m² where the joint rotates, kg where it translates.
        scales, scales_of_q: scales of random entries of v, and of the velocity that leads from the neutral
            configuration to q.
        neutral: the configuration (nq) from which random ones are reached.
        active_torque: tau (n × nv) of (q, v, a) without springs and dampers, with the rotors of motors.
        reached: the configurations (n × nq) that are reached from q with constant v in unit time.
    """

    title, source, owner = "Pinocchio", "Pinocchio's rnea", "Pinocchio's"
    model: pin.Model | None = None
    neutral: Array
    active_torque: Torque
    reached: Callable[[Array, Array], Array]

    def __init__(self, tree: Tree, system: Dynamics | None) -> None:
        self.tree, self.velocity_names = tree, tree.velocity_names
        self.scales = self.scales_of_q = np.ones(tree.nv)
        names, units = [""] * tree.nq, [""] * tree.nv
        for joint in tree.independent_joints:
            entries = slice(joint.idx_q, joint.idx_q + joint.type.nq)
            names[entries] = joint.type.coordinate_names or [joint.name] * joint.type.nq
            units[joint.columns.start : joint.columns.stop] = ["kg" if x else "kg m²" for x in joint.type.linear]
        self.configuration_names, self.units = tuple(names), tuple(units)
        self.external = ExternalWrenches() if system is None else system.external_wrenches
        s = symbols(q=tree.nq, v=tree.nv) if system is None else system.symbols("q", "v")
        added, zero = () if system is None else system.added_forces, ca.DM(tree.nv, 1)
        friction, others = (
            sum((force.torque(s["q"], s["v"]) for force in added if force.is_friction == which), zero)
            for which in (True, False)
        )
        loads = [load for force in added if (load := force.load(s["v"])) is not None]
        self._has_load = bool(loads)
        columns = ca.horzcat(others + friction, friction, sum(loads, zero))
        self._forces = BatchFunction(ca.Function("forces", list(s.values()), [ca.densify(columns)]), tree.nv, 3)
        inertias = [inertia for force in added if (inertia := force.inertia()) is not None]
        inputs, total = [*s.values()][2:], sum(inertias, ca.DM(tree.nv, tree.nv))
        self._rotors = ca.Function("rotors", inputs, [ca.densify(total)]) if inertias else None

    def at(self, p: Array) -> Self:
        """The reference with other values of the parameters."""
        twin = copy(self)
        twin._set_parameters(p)
        return twin

    def _set_parameters(self, p: Array | None) -> None:
        self._forces = self._forces.at(p)

    @abstractmethod
    def torque_of_wrenches(self, states: States, wrenches: Array) -> Array:
        """The part of tau (n × nv) that external wrenches (n × 6 n_frames) add."""

    def passive(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Torques at rest, as of springs, those that dampers and friction add, and the friction at rest (n × nv)."""
        at_rest = self._forces(q, np.zeros_like(v))
        return at_rest[..., 0], self._forces(q, v)[..., 0] - at_rest[..., 0], at_rest[..., 1]

    def _with_rotors(self, torque: Torque, p: Array | None) -> Torque:
        """A torque, and what the rotors of motors add to it: B J Bᵀ a."""
        if self._rotors is None:
            return torque
        inertia = self._rotors.call([] if p is None else [p])[0].full()
        return lambda q, v, a: torque(q, v, a) + a @ inertia

    def under_load(self, q: Array, v: Array, tau: Array) -> Array:
        """The torque (n × nv) with the friction that grows with the load, of tau with all the rest."""
        if not self._has_load:
            return tau
        _, friction, part = np.moveaxis(self._forces(q, v), 2, 0)
        return np.asarray(tau + part * (np.hypot(tau - friction, LEAST_TORQUE) - LEAST_TORQUE))

    def without_load(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """The torque (n × nv) without it, and the derivative of the whole by that, entry by entry.

        It is the x of x + part |x| = y, by Newton's method.
        The whole grows by at least 1 − part with x, and is convex or concave in it, so that the steps converge.
        """
        if not self._has_load:
            return tau, np.ones_like(tau)
        _, friction, part = np.moveaxis(self._forces(q, v), 2, 0)
        whole = tau - friction
        x = whole / (1 + part * np.sign(whole))
        # The quadratic has a closed form, which the formulations use: a second way has to be another one.
        for _ in range(_NEWTON_STEPS):
            size = np.hypot(x, LEAST_TORQUE)
            slope = 1 + part * x / size
            x = x - (x + part * (size - LEAST_TORQUE) - whole) / slope
        return x + friction, 1 + part * x / np.hypot(x, LEAST_TORQUE)

    def active_terms(self, states: States) -> TorqueTerms:
        """The torque and its terms without springs and dampers."""
        return decompose(self.active_torque, states)

    def torque(self, q: Array, v: Array, a: Array) -> Array:
        """The torque (n × nv), springs and dampers included, without what grows with the load."""
        springs, dampers, _ = self.passive(q, v)
        return self.active_torque(q, v, a) + springs + dampers

    def sample(self, states: States, tolerance: float = 0.0) -> ReferenceSample:
        """The torque and its terms at n states."""
        without, passive = self.active_terms(states), self.passive(states.q, states.v)
        return ReferenceSample(self, states, without, without.plus(*passive[:2]), *passive, tolerance)

    def rates(self, states: States) -> Array:
        """The rate dq/dt (n × nq) at (q, v), accurate to about 1e-11 of the largest |v|."""
        scale = np.maximum(1, largest(states.v))[:, None]
        rates: Array = differences_along(lambda step: self.reached(states.q, step / scale * states.v)) * scale
        return rates

    def random_states(self, samples: int, seed: int, size: int) -> Iterator[States]:
        """States, ``size`` at a time; they do not depend on ``size``.

        q lies on the configuration manifold and is finite for joints without limits.
        """
        for x, v, a in draws(self.tree.nv, samples, seed, size):
            neutral = np.broadcast_to(self.neutral, (len(x), self.tree.nq))
            yield States(self.reached(neutral, x * self.scales_of_q), v * self.scales, a * self.scales)

    def wrenches(self, states: States) -> Array:
        """The wrenches at n states (n × 6 n_frames): constant ones, or a fixed random combination of v and a.

        The latter are normally distributed, and the same in the same state.
        """
        if not self.external.is_input:
            return np.tile(ca.DM(self.external.constant).full().ravel(order="F"), (len(states), 1))
        # Of the state, not drawn anew: the same state is evaluated more than once, and has to have the same wrenches.
        rates, size = np.hstack([states.v, states.a]), 6 * len(self.external)
        combination = np.random.default_rng(size).normal(size=(rates.shape[1], size)) / np.sqrt(rates.shape[1])
        no_moments = np.tile(np.arange(6), len(self.external)) >= np.repeat(self.external.rows, 6)
        combination[:, no_moments] = 0
        return np.asarray(rates @ combination)


class PinocchioReference(Reference):
    """The reference ``pin.rnea`` of a model, and the force elements of a Dynamics, which Pinocchio does not have."""

    model: pin.Model

    def __init__(self, model: pin.Model | None, system: Dynamics | None = None) -> None:
        tree = tree_of(model)
        if system is not None and (system.tree.nq, system.tree.nv) != (tree.nq, tree.nv):
            raise ArgumentError(
                f"the system under test was made for {system.tree.name!r} with nq = {system.tree.nq}, "
                f"nv = {system.tree.nv}; {tree.name!r} has nq = {tree.nq}, nv = {tree.nv}"
            )
        super().__init__(tree, system)
        self.model, self._given, self.neutral = model, model, pin.neutral(model)
        parameters = None if system is None else system.parameters
        self.active_torque = self._with_rotors(rnea(model), parameters.values if parameters else None)
        self._parameters = parameters if isinstance(parameters, ModelParameters) else None  # formulas: the model has p

    def _set_parameters(self, p: Array | None) -> None:
        super()._set_parameters(p)
        if self._parameters is not None:
            self.model = model = self._parameters.write(self._given, p)
            self.tree = replace(self.tree, armature=frozen(model.armature), gravity=frozen(model.gravity.linear))
        self.active_torque = self._with_rotors(rnea(self.model), p)

    def reached(self, q: Array, v: Array) -> Array:
        return np.array([pin.integrate(self.model, *pair) for pair in zip(q, v, strict=True)])

    def torque_of_wrenches(self, states: States, wrenches: Array) -> Array:
        """The part of tau that external wrenches add, as Pinocchio's fext."""
        model, external = self.model, self.external
        data, frames = model.createData(), []
        for index, name in zip(external.frames, external.names, strict=True):
            if not (index < model.nframes and model.frames[index].name == name):
                if not model.existFrame(name):
                    raise ArgumentError(
                        f"{name_of(model)!r} has no frame {name!r}, at which wrenches act on the system under test"
                    )
                index = int(model.getFrameId(name))
            frames.append(index)
        tau = []
        for q, v, a, of_frames in zip(states.q, states.v, states.a, wrenches.reshape(len(states), -1, 6), strict=True):
            pin.framesForwardKinematics(model, data, q)
            fext = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
            for index, reference, wrench in zip(frames, external.references, of_frames, strict=True):
                frame, placed, force = model.frames[index], data.oMf[index], pin.Force(wrench)
                if reference == pin.WORLD:
                    force = placed.actInv(force)
                elif reference == pin.LOCAL_WORLD_ALIGNED:
                    force = pin.SE3(placed.rotation, np.zeros(3)).actInv(force)
                fext[frame.parentJoint] += frame.placement.act(force)
            tau.append(pin.rnea(model, data, q, v, a, fext).copy())
        return np.array(tau) - rnea(model)(states.q, states.v, states.a)


def tree_of(model: object) -> Tree:
    """The tree of the model to compare with, if Pinocchio's rnea is right for it."""
    if isinstance(model, Tree):
        raise ArgumentTypeError("against must be the pin.Model, got a Tree; Pinocchio's rnea needs the model")
    if model is None:
        raise ArgumentTypeError("against is None; give the pin.Model to compare with")
    tree = read_tree(model)
    for joint in tree.joints:
        if joint.scaling is not None and joint.type.can_rotate and joint.type.can_translate:
            raise UnsupportedError(
                f"{tree.name}: joint {joint.name!r}: mimics a helical joint, whose pitch Pinocchio's rnea then loses; "
                "there is nothing to compare with"
            )
    return tree


class ReferenceRecursion(Reference):
    """A second computation of an arm's tau, with armature, K q, D v and force elements added.

    Attributes:
        stiffness_of_links: K_f (nv × nv).
        undeformed: the arm beside a given model, or ``None``.
        missing: why there is no second computation, so that the reference is the arm's own tau; or "".
    """

    title, source, missing = "a second computation", "the second computation", ""

    def __init__(self, arm: Arm, model: pin.Model | None = None) -> None:
        super().__init__(arm.nominal, arm)
        self._arm, self._model, tree = arm, model, arm.nominal
        if model is not None:
            _check_joints(arm, tree_of(model))
        self._explicit: BatchFunction | None = None
        self._set_up_links(arm)
        self.owner = f"that of {self.source}"
        self.neutral = configuration.neutral(tree).full().ravel()
        s = symbols(q=tree.nq, v=tree.nv)
        self.reached = BatchFunction(function("reached", s, {"q_next": configuration.integrate(tree, **s)}), tree.nq)
        self._index_in_q = np.full(tree.nv, -1)  # where no entry of q is the integral
        for joint in tree.independent_joints:
            if joint.type.velocity_is_rate:
                self._index_in_q[joint.columns] = range(joint.idx_q, joint.idx_q + joint.type.nq)
        units = ["" if k in arm.modes else unit for k, unit in enumerate(self.units)]
        for rotor, column in rotor_columns(arm):
            units[rotor] = units[column]
        self.units, self.scales = tuple(units), _coordinate_scales(arm)
        self.scales_of_q = np.where(np.isin(np.arange(tree.nv), arm.modes), _SLOPE * self.scales, 1.0)
        damping = next(force for force in arm.forces if isinstance(force, ModalDamping))
        matrices = arm.elasticity.matrix, damping.matrix, _stiffness_of_links(arm)
        inputs = [arm.parameters.symbols]
        self._matrices = ca.Function("matrices", inputs, [ca.densify(ca.SX(matrix)) for matrix in matrices])
        self._set_parameters(None)

    def _set_up_links(self, arm: Arm) -> None:
        """Prepare the torque of the links and the armature: no springs, no dampers."""
        s, nv = arm.symbols("q", "v", "a"), arm.tree.nv
        q, v, a, armature = s["q"], s["v"], s["a"], ca.SX(arm.tree.armature)
        if arm.kinematics == "exact":
            tau = book_1984.inverse_dynamics(arm.tree, q, v, a) + armature * a
        elif nv <= _MOST_COORDINATES:  # M, C and G are evaluated each by itself rather than taken from tau
            m = cetinkunt_book_1988.mass_matrix(arm.nominal, q) + ca.diag(armature)
            c = cetinkunt_book_1988.coriolis_vector(arm.nominal, q, v)
            g = cetinkunt_book_1988.gravity_vector(arm.nominal, q)
            tau, terms = m @ a + c + g, ca.densify(ca.horzcat(m, c, g))
            self._explicit = BatchFunction(ca.Function("terms", [q, v], [terms]), nv, nv + 2)
        else:
            self.title = self.source = "its own inverse dynamics"
            self.missing = f"a second computation of tau: the explicit equations are too large for {nv} coordinates"
            tau = arm.inverse_dynamics_expression(q, v, a) + armature * a
        self._links = BatchFunction(ca.Function("links", list(s.values()), [ca.densify(tau)]), nv)

    def _set_parameters(self, p: Array | None) -> None:
        super()._set_parameters(p)
        arm, self.active_torque = self._arm, self._links.at(p)
        self.tree = arm.nominal if p is None else arm.parameters.substitute(ca.DM(p))[0]
        if p is None or arm.tree.has_displacements:
            self._virtual_work = virtual_work(self.tree, arm.external_wrenches)
        matrices = self._matrices.call([ca.DM(arm.parameters.values if p is None else p)])
        self._stiffness, self._damping, self.stiffness_of_links = (matrix.full() for matrix in matrices)
        self.undeformed = None if self._model is None else UndeformedArm(arm, self.tree, self._model)

    def active_terms(self, states: States) -> TorqueTerms:
        if self._explicit is None:
            return super().active_terms(states)
        parts = self._explicit(states.q, states.v)
        mass_matrix, velocity, gravity = parts[:, :, :-2], parts[:, :, -2], parts[:, :, -1]
        return TorqueTerms(times(mass_matrix, states.a) + velocity + gravity, mass_matrix, velocity, gravity)

    def torque_of_wrenches(self, states: States, wrenches: Array) -> Array:
        return self._virtual_work(states.q, wrenches)

    def passive(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """The torques K q and D v (n × nv each), with the force elements added to the arm; and the friction at rest."""
        springs, dampers, offsets = super().passive(q, v)
        return self.elastic(q) + springs, v @ self._damping.T + dampers, offsets

    def elastic(self, q: Array) -> Array:
        """The torque K q (n × nv)."""
        return np.asarray(self.linear_coordinates(q) @ self._stiffness.T)

    def linear_coordinates(self, q: Array) -> Array:
        """The vector that K multiplies (n × nv): q where v is its rate, else 0."""
        return np.where(self._index_in_q >= 0, q[:, self._index_in_q], 0.0)


def virtual_work(tree: Tree, external: ExternalWrenches) -> BatchFunction:
    """The Function (q, wrenches) → −Σ Jᵀ w (nv), by differentiating the placements of the frames.

    w does the work f·ẋ + m·ω, ẋ and [ω×] = Ṙ Rᵀ being the rates of the placement.
    """
    q, v, w = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv), ca.SX.sym("w", 6, len(external))
    rate, power = tree.configuration_rate(q, v), ca.SX(0)
    for frame, reference, wrench in external.at_frames(tree, w):
        r, x = (ca.SX(part) for part in frame_motion.placement(tree, frame, q))
        x_rate, r_rate = ca.jtimes(x, q, rate), ca.reshape(ca.jtimes(ca.vec(r), q, rate), 3, 3)
        turning = r_rate @ r.T
        omega = ca.vertcat(turning[2, 1], turning[0, 2], turning[1, 0])
        force, moment = wrench[:3], wrench[3:]
        if reference == pin.LOCAL:
            force, moment = r @ force, r @ moment
        elif reference == pin.WORLD:
            moment = moment - ca.cross(x, force)
        power = power + ca.dot(force, x_rate) + ca.dot(moment, omega)
    torque = -ca.jtimes(power, v, ca.DM.eye(tree.nv)).T
    return BatchFunction(ca.Function("virtual_work", [q, ca.vec(w)], [ca.densify(torque)]), tree.nv)


def _coordinate_scales(arm: Arm) -> Array:
    """Scale of each entry of v: 1, or for a mode what causes a slope of 1 rad, or a deflection as large as the link."""
    tree, scales = arm.nominal, np.ones(arm.nominal.nv)
    for beam in arm.flexibility.beams.values():
        inertia, sections = tree.assumed_modes[beam.link], tree.sections(beam.link)
        for j, column in enumerate(arm.modes_of(beam.name)):
            mean = np.sqrt(np.trace(inertia.second[j, j]) / inertia.rigid[3, 3])
            deflections = [np.linalg.norm(section.translation[:, j]) / beam.length for section in sections]
            slopes = [np.linalg.norm(section.rotation[:, j]) for section in sections]
            scales[column] = 1 / max(float(mean) / beam.length, *map(float, deflections + slopes))
    return scales


def rotor_columns(arm: Arm) -> Iterator[tuple[int, int]]:
    """The entries of v of each rotor and of its joint."""
    joints, rotors = {joint.name: joint for joint in arm.nominal.joints}, arm.flexibility.rotors
    for k, name in enumerate(rotors, arm.tree.nv - len(rotors)):
        yield k, joints[name].idx_v


def _stiffness_of_links(arm: Arm) -> Matrix:
    """K_f of all links (nv × nv), from the inertia of their modes, with springs, and the factors of the arm."""
    k: Matrix = ca.SX(arm.tree.nv, arm.tree.nv)
    for name, columns in arm.flexibility.springs.items():
        block = slice(columns.start, columns.stop)
        k[block, block] = ca.DM(arm.flexibility.stiffness[name][block, block]) * arm.elasticity.factors.get(name, 1.0)
    for i, inertia in arm.nominal.modal.items():
        columns = arm.nominal.joints[arm.nominal.first_station(i)].columns
        name = next(name for name, link in arm.flexibility.links.items() if columns.start in link.modes)
        modes = slice(columns.start, columns.stop)
        k[modes, modes] = ca.DM(inertia.stiffness) * arm.elasticity.factors.get(name, 1.0)
    return k


class UndeformedArm:
    """The arm with modes and their rates at zero, and with rotors that turn with their joints, in Pinocchio.

    Attributes:
        model: the given one, with rigid beams in place of its flexible links, rotors added to its armature, and p.
        velocity_map: G (nv × nv of the model): v of the arm is G times v of the model; torques are Gᵀ times the arm's.
    """

    def __init__(self, arm: Arm, at_p: Tree, model: pin.Model) -> None:
        self.model = _with_rigid_links(arm, at_p, model)
        self.velocity_map, self._configuration_map = np.eye(arm.tree.nv, model.nv), np.eye(arm.tree.nq, model.nq)
        idx_q = {joint.idx_v: joint.idx_q for joint in arm.nominal.joints}
        for rotor, column in rotor_columns(arm):
            self.velocity_map[rotor, column] = 1.0
            self._configuration_map[rotor + arm.tree.nq - arm.tree.nv, idx_q[column]] = 1.0

    def states(self, states: States) -> tuple[States, States]:
        """The model's part of the arm's states, and the arm's states that belong to it."""
        nq, nv, g = self.model.nq, self.model.nv, self.velocity_map
        of_model = States(states.q[:, :nq], states.v[:, :nv], states.a[:, :nv])
        return of_model, States(of_model.q @ self._configuration_map.T, of_model.v @ g.T, of_model.a @ g.T)


def _with_rigid_links(arm: Arm, at_p: Tree, model: pin.Model) -> pin.Model:
    """The model with the bodies, places, the armature and the gravity that p changes, beside rigid beams and rotors.

    What a Cosserat rod carries stands where the rod at rest ends, not where the model's straight link does.
    """
    rigid, nominal = model.copy(), arm.nominal
    change, bodies, changed = at_p.armature - nominal.armature, _rigid_bodies(nominal), _rigid_bodies(at_p)
    undeformed = _undeformed(nominal)
    carriers = {*nominal.modal, *(undeformed[i][0] for i, joint in enumerate(nominal.joints) if joint.type.springs_at)}
    for name, i in zip(nominal.joint_names, nominal.links, strict=True):
        if i in carriers or not np.array_equal(changed[i], bodies[i]):
            parameters = dynamic_parameters((changed[i] + changed[i].T) / 2).full().ravel()
            rigid.inertias[model.getJointId(name)] = inertia_of(name, parameters)
    moved_by_p = ((model_joint_name(nominal, i), moved) for i, moved in _displaced(nominal, at_p))
    for name, moved in (*_moved_by_rest(arm), *moved_by_p):
        rigid.jointPlacements[model.getJointId(name)] = pin.SE3(moved) * model.jointPlacements[model.getJointId(name)]
    armature = np.array(model.armature)
    for rotor, column in rotor_columns(arm):
        # a rotor without an inertia of its own has the joint's armature, which the model already includes
        included = 0.0 if armature[column] > 0 and nominal.armature[column] == 0 else nominal.armature[rotor]
        armature[column] += included + change[rotor]
    rigid.armature = armature + change[: model.nv]
    rigid.gravity.linear = np.array(model.gravity.linear) + at_p.gravity - nominal.gravity
    return rigid


def _rigid_bodies(tree: Tree) -> dict[int, Array]:
    """The pseudo-inertia (4 × 4) of each undeformed link with what it moves by modes and springs, by its joint."""
    bodies: dict[int, Array] = {}
    for joint, (link, placement) in zip(tree.joints, _undeformed(tree), strict=True):
        bodies[link] = bodies.get(link, 0) + placement @ joint.pseudo_inertia @ placement.T
    return bodies


def _moved_by_rest(arm: Arm) -> Iterator[tuple[str, Array]]:
    """The joints of the model on Cosserat rods and springs, and how these at rest move them in their link (4 × 4)."""
    tree, undeformed = arm.nominal, _undeformed(arm.nominal)
    rods = {rod.link for rod in arm.flexibility.rods.values()}
    on_straight = {joint.name: homogeneous(joint.rotation, joint.translation) for joint in arm.rigid_tree.joints}
    for i, joint in enumerate(tree.joints):
        link, placement = undeformed[joint.parent]
        on_springs = joint.parent >= 0 and tree.joints[joint.parent].type.springs_at is not None
        if joint.name in on_straight and joint.parent >= 0 and (link in rods or on_springs):
            at_rest = placement @ homogeneous(joint.rotation, joint.translation)
            yield model_joint_name(tree, i), at_rest @ np.linalg.inv(on_straight[joint.name])


def _displaced(tree: Tree, other: Tree) -> Iterator[tuple[int, Array]]:
    """The joints that stand elsewhere in the other tree, and what moves them there, in the link before (4 × 4)."""
    for i, joints in enumerate(zip(tree.joints, other.joints, strict=True)):
        here, there = (homogeneous(joint.rotation, joint.translation) for joint in joints)
        if not np.array_equal(here, there):
            yield i, there @ np.linalg.inv(here)


def _undeformed(tree: Tree) -> list[tuple[int, Array]]:
    """The index of the joint of each joint's link, and its placement in the undeformed link (4 × 4)."""
    placements: list[tuple[int, Array]] = []
    for i, joint in enumerate(tree.joints):
        link, placement = i, np.eye(4)
        if joint.type.is_modal or joint.type.springs_at is not None or not joint.type.nv:
            link, placement = placements[joint.parent] if joint.parent >= 0 else (-1, np.eye(4))
            r, p = (ca.DM(x).full() for x in joint.type.placement(joint.type.neutral()))
            placement = placement @ homogeneous(joint.rotation, joint.translation) @ homogeneous(r, p[:, 0])
        placements.append((link, placement))
    return placements


def _check_joints(arm: Arm, tree: Tree) -> None:
    in_arm, in_model = arm.rigid_tree.joints, tree.joints
    names, model_names = [joint.name for joint in in_arm], [joint.name for joint in in_model]
    if names != model_names:
        raise ArgumentError(
            f"the arm was made from {arm.tree.name!r} with the joints {listed(map(repr, names))}; {tree.name!r} has "
            f"{listed(map(repr, model_names))}; give the model that the arm was made from"
        )
    for joint, other in zip(in_arm, in_model, strict=True):
        if joint.type.kind != other.type.kind or joint.parent != other.parent:
            raise ArgumentError(
                f"joint {other.name!r} of {tree.name!r} is {_described(other, model_names)}; that of the arm is "
                f"{_described(joint, names)}; give the model that the arm was made from"
            )


def _described(joint: Joint, names: list[str]) -> str:
    return f"{joint.type.kind} on {names[joint.parent] if joint.parent >= 0 else 'the universe'!r}"
