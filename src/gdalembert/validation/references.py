"""References: random states and external wrenches of a robot, and the values of tau and its terms there.

That of a rigid robot is Pinocchio; that of a flexible arm is a second computation of tau, independent of the arm's own
recursion: the 4 × 4 recursion (Book 1984) for exact kinematics, and the explicit equations (CB32–CB34) for first-order
kinematics. The former and the arm's Functions share how a section moves with its modes
(:mod:`gdalembert.model.joints.deflection`); the laws and the power balance check that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Self

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.frame_motion import placement
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.dynamics.wrenches import ExternalWrenches
from gdalembert.errors import ArgumentError
from gdalembert.flexible.elastic_forces import ModalDamping
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.flexible.reference import book_1984, cetinkunt_book_1988
from gdalembert.model.configuration import neutral
from gdalembert.model.from_pinocchio import name_of
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import BatchFunction
from gdalembert.validation.states import (
    States,
    TorqueTerms,
    batches,
    configuration_rates,
    decompose,
    draws,
    integration,
    rnea,
    times,
)

_SLOPE = 0.05
"""Standard deviation of the slope [rad] of a link, or of its deflection by length, due to each mode alone."""

_MOST_COORDINATES = 30
"""Up to which the explicit equations are used: they grow with the cube of the number of links."""

LOADED = ("inverse_dynamics", "forward_dynamics", "state_derivative")
"""The Functions that are compared under wrenches."""


def under_some(dynamics: Dynamics) -> Dynamics:
    """The robot under constant random wrenches, if they are an input."""
    external = dynamics.external_wrenches
    if not external.is_input:
        return dynamics
    return dynamics.under(np.random.default_rng(0).normal(size=(6, len(external))))


class WrenchesUnderTest:
    """The wrenches of a robot at many states, and its Functions under them.

    Where the wrenches are an input, they are a fixed random combination of v and a: normally distributed, and the same
    in the same state.

    Attributes:
        external: the frames.
        functions: by name, of the inputs without wrenches, then the wrenches as a vector (6 n), column by column.
    """

    def __init__(
        self, dynamics: Dynamics, functions: dict[str, ca.Function], shapes: dict[str, tuple[int, ...]]
    ) -> None:
        self.external, nv = dynamics.external_wrenches, dynamics.tree.nv
        size = 6 * len(self.external)
        self._combination = np.random.default_rng(size).normal(size=(2 * nv, size)) / np.sqrt(2 * nv)
        self.functions = {
            name: BatchFunction(self._of_vector(graph), *shapes[name]) for name, graph in functions.items()
        }

    def at(self, p: Array | None) -> Self:
        """Functions under wrenches at p."""
        twin = copy(self)
        twin.functions = {name: function.at(p) for name, function in self.functions.items()}
        return twin

    def of(self, states: States) -> Array:
        """The wrenches at n states (n × 6 n_frames)."""
        if self.external.is_input:
            return np.asarray(np.hstack([states.v, states.a]) @ self._combination)
        return np.tile(ca.DM(self.external.constant).full().ravel(order="F"), (len(states), 1))

    def _of_vector(self, graph: ca.Function) -> ca.Function:
        s = {name: ca.SX.sym(name, *graph.size_in(name)) for name in graph.name_in()}
        w = ca.SX.sym("w", 6 * len(self.external))
        given = s | ({"wrenches": ca.reshape(w, 6, -1)} if "wrenches" in s else {})
        first = [x for name, x in s.items() if name not in ("wrenches", "p")]
        last = [x for name, x in s.items() if name == "p"]
        return ca.Function(graph.name(), [*first, w, *last], [graph(*given.values())])


def torque_under_wrenches(model: pin.Model, external: ExternalWrenches, states: States, wrenches: Array) -> Array:
    """tau (n × nv) of ``pin.rnea`` under wrenches (n × 6 n_frames), as Pinocchio's fext.

    Raises:
        ArgumentError: if the model has no such frame.
    """
    data = model.createData()
    frames = [_index(model, k, name) for k, name in zip(external.frames, external.names, strict=True)]
    tau = []
    for q, v, a, each in zip(states.q, states.v, states.a, wrenches.reshape(len(states), -1, 6), strict=True):
        pin.framesForwardKinematics(model, data, q)
        fext = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
        for index, reference, wrench in zip(frames, external.references, each, strict=True):
            frame, placed, force = model.frames[index], data.oMf[index], pin.Force(wrench)
            if reference == pin.WORLD:
                force = placed.actInv(force)
            elif reference == pin.LOCAL_WORLD_ALIGNED:
                force = pin.SE3(placed.rotation, np.zeros(3)).actInv(force)
            fext[frame.parentJoint] += frame.placement.act(force)
        tau.append(pin.rnea(model, data, q, v, a, fext).copy())
    return np.array(tau)


def _index(model: pin.Model, index: int, name: str) -> int:
    if index < model.nframes and model.frames[index].name == name:
        return index
    if not model.existFrame(name):
        raise ArgumentError(f"{name_of(model)!r} has no frame {name!r}, at which wrenches act on the system under test")
    return int(model.getFrameId(name))


def virtual_work(tree: Tree, external: ExternalWrenches) -> BatchFunction:
    """(q, wrenches) → −Σ Jᵀ w (nv), by differentiating the placements of the frames.

    w does the work f·ẋ + m·ω, ẋ and [ω×] = Ṙ Rᵀ being the rates of the placement.
    """
    q, v, w = ca.SX.sym("q", tree.nq), ca.SX.sym("v", tree.nv), ca.SX.sym("w", 6, len(external))
    rate, power = tree.configuration_rate(q, v), ca.SX(0)
    for frame, reference, wrench in external.at_frames(tree, w):
        r, x = (ca.SX(each) for each in placement(tree, frame, q))
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


@dataclass(frozen=True, eq=False)
class ReferenceSample:
    """All that a diagnosis needs to know of a reference, at some states.

    Attributes:
        reference: the reference.
        states: at which the diagnosis is made. ``terms``: of tau there, springs and dampers included.
        springs: the part of the terms that springs and elasticity add to gravity (n × nv).
        dampers: the part that dampers add to the velocity terms (n × nv).
        tolerance: above which a relative difference counts.
    """

    reference: Reference
    states: States
    terms: TorqueTerms
    springs: Array
    dampers: Array
    tolerance: float


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
        tree: the robot's numbers.
        model: as Pinocchio sees it; ``None`` if other gravity fields and other bodies are not to be considered.
        title: what the reference is, in words. ``source``: where tau comes from. ``owner``: whose a value is, after "2
            times".
        velocity_names: of the entries of v. ``configuration_names``: of those of q.
        units: of the inertias of the entries of v.
        scales: of random entries of v.
    """

    tree: Tree
    model: pin.Model | None = None
    title: str
    source: str
    owner: str
    velocity_names: tuple[str, ...]
    configuration_names: tuple[str, ...]
    units: tuple[str, ...]
    scales: Array

    @abstractmethod
    def states(self, samples: int, seed: int, size: int) -> Iterator[States]:
        """States, ``size`` at a time; they do not depend on ``size``."""

    @abstractmethod
    def active_torque(self, q: Array, v: Array, a: Array) -> Array:
        """tau (n × nv) without springs and dampers."""

    @abstractmethod
    def passive(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The torques of springs and of dampers (n × nv each)."""

    @abstractmethod
    def loaded_torque(self, states: States, external: ExternalWrenches, wrenches: Array) -> Array:
        """tau (n × nv) under external wrenches (n × 6 n_frames), springs and dampers included."""

    @abstractmethod
    def integrate(self, q: Array, v: Array) -> Array:
        """The configurations (n × nq) that are reached from q with constant v in unit time."""

    def torque(self, q: Array, v: Array, a: Array) -> Array:
        """tau (n × nv), springs and dampers included."""
        springs, dampers = self.passive(q, v)
        return self.active_torque(q, v, a) + springs + dampers

    def active_terms(self, states: States) -> TorqueTerms:
        """tau and its terms without springs and dampers."""
        return decompose(self.active_torque, states)

    def terms(self, states: States) -> tuple[TorqueTerms, TorqueTerms]:
        """tau and its terms without springs and dampers, and with them."""
        without = self.active_terms(states)
        return without, without.plus(*self.passive(states.q, states.v))

    def rates(self, states: States) -> Array:
        """dq/dt (n × nq) at (q, v), accurate to about 1e-11."""
        return configuration_rates(self.integrate, states)

    def sample(self, states: States, tolerance: float) -> ReferenceSample:
        """What a diagnosis needs to know."""
        return ReferenceSample(
            self, states, self.terms(states)[1], *self.passive(states.q, states.v), tolerance=tolerance
        )


class PinocchioReference(Reference):
    """``pin.rnea`` of a model, and the force elements of a Dynamics, which Pinocchio does not have."""

    title, source, owner = "Pinocchio", "Pinocchio's rnea", "Pinocchio's"
    model: pin.Model

    def __init__(self, model: pin.Model, tree: Tree, forces: AddedForces | None = None) -> None:
        self.model, self.tree, self.velocity_names = model, tree, tree.velocity_names
        own = tree.independent_joints
        self.configuration_names = tuple(joint.name for joint in own for _ in range(joint.type.nq))
        self.scales, self.units, self._rnea, self._forces = (
            np.ones(tree.nv),
            units_of_inertia(tree),
            rnea(model),
            forces,
        )

    def states(self, samples: int, seed: int, size: int) -> Iterator[States]:
        return batches(self.model, samples, seed, size)

    def active_torque(self, q: Array, v: Array, a: Array) -> Array:
        return self._rnea(q, v, a)

    def passive(self, q: Array, v: Array) -> tuple[Array, Array]:
        return (np.zeros_like(v), np.zeros_like(v)) if self._forces is None else self._forces.parts(q, v)

    def loaded_torque(self, states: States, external: ExternalWrenches, wrenches: Array) -> Array:
        forces = 0 if self._forces is None else self._forces.torque(states.q, states.v)
        return torque_under_wrenches(self.model, external, states, wrenches) + forces

    def integrate(self, q: Array, v: Array) -> Array:
        return integration(self.model)(q, v)


def units_of_inertia(tree: Tree) -> tuple[str, ...]:
    """Units by entry of v: kg m² where the joint rotates, kg where it translates."""
    units = [""] * tree.nv
    for joint in tree.independent_joints:
        for column, linear in zip(joint.columns, joint.type.linear, strict=True):
            units[column] = "kg" if linear else "kg m²"
    return tuple(units)


class ReferenceRecursion(Reference):
    """A second computation of an arm's tau, with armature, K q, D v and force elements added.

    Attributes:
        stiffness_of_links: K_f (nv × nv).
        missing: why there is no second computation, so that the reference is the arm's own tau; or "".
    """

    def __init__(self, arm: Arm, p: Array | None = None) -> None:
        self._arm, self.tree, self.velocity_names = arm, arm.nominal, arm.layout
        self._links, self._forces = _links_of(arm), AddedForces(arm)
        self.title, self.source, self.missing = self._links.title, self._links.source, self._links.missing
        self.owner, self.units = f"that of {self.source}", _units(arm)
        self._integrate = BatchFunction(Kinematics(arm.nominal).integrate, arm.tree.nq)
        self.scales = _coordinate_scales(arm)
        self._is_modal = np.isin(np.arange(arm.tree.nv), arm.modes)
        self._virtual_work = virtual_work(arm.nominal, arm.external_wrenches)
        self._set_up_configuration(arm)
        self._set_parameters(p)

    def at(self, p: Array | None) -> Self:
        """The reference with other values of the parameters."""
        twin = copy(self)
        twin._set_parameters(p)
        return twin

    def _set_parameters(self, p: Array | None) -> None:
        arm = self._arm
        self.tree = tree_at(arm, p)
        damping = next(force for force in arm.forces if isinstance(force, ModalDamping))
        self._stiffness, self._damping = _at(arm, arm.elasticity.matrix, p), _at(arm, damping.matrix, p)
        self.stiffness_of_links = _at(arm, _stiffness_of_links(arm), p)
        self._links, self._forces = self._links.at(p), self._forces.at(p)

    def _set_up_configuration(self, arm: Arm) -> None:
        """The neutral configuration, the names of q, and the index in q of the integral of each entry of v."""
        tree = arm.nominal
        self._index_in_q = np.full(tree.nv, -1)  # where no entry of q is the integral
        self._neutral = neutral(tree).full().ravel()
        names = [""] * tree.nq
        for joint in tree.independent_joints:
            own = range(joint.idx_q, joint.idx_q + joint.type.nq)
            for k, name in zip(own, joint.type.coordinate_names or [joint.name] * len(own), strict=True):
                names[k] = name
            if joint.type.velocity_is_rate:
                self._index_in_q[joint.columns] = own
        self.configuration_names = tuple(names)

    def states(self, samples: int, seed: int, size: int) -> Iterator[States]:
        scale_of_q = np.where(self._is_modal, _SLOPE * self.scales, 1.0)
        for x, v, a in draws(self.tree.nv, samples, seed, size):
            neutral = np.broadcast_to(self._neutral, (len(x), self.tree.nq))
            yield States(self._integrate(neutral, x * scale_of_q), v * self.scales, a * self.scales)

    def active_torque(self, q: Array, v: Array, a: Array) -> Array:
        return self._links.torque(q, v, a) + self.tree.armature * a

    def active_terms(self, states: States) -> TorqueTerms:
        links, armature = self._links.terms(states), self.tree.armature
        return replace(links, tau=links.tau + armature * states.a, mass_matrix=links.mass_matrix + np.diag(armature))

    def loaded_torque(self, states: States, external: ExternalWrenches, wrenches: Array) -> Array:
        return self.terms(states)[1].tau + self._virtual_work(states.q, wrenches)

    def passive(self, q: Array, v: Array) -> tuple[Array, Array]:
        """K q and D v (n × nv each), with the force elements that were added to the arm."""
        springs, dampers = self._forces.parts(q, v)
        return self.elastic(q) + springs, v @ self._damping.T + dampers

    def elastic(self, q: Array) -> Array:
        """K q (n × nv)."""
        return np.asarray(self.linear_coordinates(q) @ self._stiffness.T)

    def linear_coordinates(self, q: Array) -> Array:
        """What K acts on (n × nv): q where v is its rate, else 0."""
        return np.where(self._index_in_q >= 0, q[:, self._index_in_q], 0.0)

    def integrate(self, q: Array, v: Array) -> Array:
        return self._integrate(q, v)


class _Links:
    """tau of the links alone: no armature, no springs, no dampers."""

    title = "a second computation"
    source = "the second computation"
    missing = ""

    def __init__(self, symbols: dict[str, ca.SX], tau: Matrix) -> None:
        links = ca.Function("links", list(symbols.values()), [ca.densify(tau)])
        self.torque = BatchFunction(links, symbols["v"].shape[0])

    def at(self, p: Array | None) -> Self:
        """The links with p."""
        twin = copy(self)
        twin.torque = self.torque.at(p)
        return twin

    def terms(self, states: States) -> TorqueTerms:
        """tau and its terms at n states."""
        return decompose(self.torque, states)


class _MatrixRecursion(_Links):
    """The 4 × 4 recursion of Book 1984."""

    def __init__(self, arm: Arm) -> None:
        s = arm.symbols("q", "v", "a")
        super().__init__(s, book_1984.inverse_dynamics(arm.tree, s["q"], s["v"], s["a"]))


class _ExplicitEquations(_Links):
    """M, C and G of Cetinkunt and Book 1988, each evaluated by itself rather than taken from tau; they have no p."""

    def __init__(self, arm: Arm) -> None:
        s = arm.symbols("q", "v", "a")
        q, v, a, nv = s["q"], s["v"], s["a"], arm.tree.nv
        m = cetinkunt_book_1988.mass_matrix(arm.nominal, q)
        c = cetinkunt_book_1988.coriolis_vector(arm.nominal, q, v)
        g = cetinkunt_book_1988.gravity_vector(arm.nominal, q)
        super().__init__(s, m @ a + c + g)
        self._mass_matrix = BatchFunction(ca.Function("M", [q], [ca.densify(m)]), nv, nv)
        self._velocity = BatchFunction(ca.Function("C", [q, v], [ca.densify(c)]), nv)
        self._gravity = BatchFunction(ca.Function("G", [q], [ca.densify(g)]), nv)

    def terms(self, states: States) -> TorqueTerms:
        q, v, a = states.q, states.v, states.a
        mass_matrix, velocity, gravity = self._mass_matrix(q), self._velocity(q, v), self._gravity(q)
        return TorqueTerms(times(mass_matrix, a) + velocity + gravity, mass_matrix, velocity, gravity)


class _OwnInverseDynamics(_Links):
    """The arm's own tau, with which its other Functions are compared."""

    title = source = "its own inverse dynamics"

    def __init__(self, arm: Arm) -> None:
        s = arm.symbols("q", "v", "a")
        super().__init__(s, arm.inverse_dynamics_expression(s["q"], s["v"], s["a"]))
        self.missing = (
            f"a second computation of tau: the explicit equations are too large for {arm.tree.nv} coordinates"
        )


def _links_of(arm: Arm) -> _Links:
    if arm.kinematics == "exact":
        return _MatrixRecursion(arm)
    return _ExplicitEquations(arm) if arm.tree.nv <= _MOST_COORDINATES else _OwnInverseDynamics(arm)


def _units(arm: Arm) -> tuple[str, ...]:
    """Units of inertias; modal coordinates have none."""
    units = ["" if k in arm.modes else unit for k, unit in enumerate(units_of_inertia(arm.nominal))]
    for rotor, column in rotor_columns(arm):
        units[rotor] = units[column]
    return tuple(units)


def _coordinate_scales(arm: Arm) -> Array:
    """Scale of each entry of v: 1, or for a mode what causes a slope of 1 rad, or a deflection as large as the link."""
    tree, scales = arm.nominal, np.ones(arm.nominal.nv)
    for beam in arm.flexibility.beams.values():
        inertia, sections = tree.assumed_modes[beam.link], tree.sections(beam.link)
        for j, column in enumerate(arm.modes_of(beam.name)):
            mean = np.sqrt(np.trace(inertia.second[j, j]) / inertia.rigid[3, 3])
            deflections = [np.linalg.norm(each.translation[:, j]) / beam.length for each in sections]
            slopes = [np.linalg.norm(each.rotation[:, j]) for each in sections]
            scales[column] = 1 / max(float(mean) / beam.length, *map(float, deflections + slopes))
    return scales


def tree_at(arm: Arm, p: Array | None) -> Tree:
    """The tree of an arm in numbers, with p."""
    return arm.nominal if p is None else arm.parameters.substitute(ca.DM(p))[0]


def rotor_columns(arm: Arm) -> Iterator[tuple[int, int]]:
    """The entries of v of each rotor and of its joint."""
    joints, rotors = {joint.name: joint for joint in arm.nominal.joints}, arm.flexibility.rotors
    for k, name in enumerate(rotors, arm.tree.nv - len(rotors)):
        yield k, joints[name].idx_v


def _at(arm: Arm, matrix: Matrix, p: Array | None) -> Array:
    """A matrix of symbols p in numbers."""
    values = arm.parameters.values if p is None else p
    return np.asarray(ca.Function("matrix", [arm.parameters.symbols], [ca.densify(ca.SX(matrix))])(values).full())


def _stiffness_of_links(arm: Arm) -> Matrix:
    """K_f of all links (nv × nv), from the inertia of their modes and the factors of the arm."""
    k: Matrix = ca.SX(arm.tree.nv, arm.tree.nv)
    for i, inertia in arm.nominal.modal.items():
        columns = arm.nominal.joints[arm.nominal.first_station(i)].columns
        name = next(name for name, link in arm.flexibility.links.items() if columns.start in link.modes)
        own = slice(columns.start, columns.stop)
        k[own, own] = ca.DM(inertia.stiffness) * arm.elasticity.factors.get(name, 1.0)
    return k
