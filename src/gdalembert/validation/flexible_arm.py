"""A flexible arm: its Functions against a second computation, and undeformed against Pinocchio.

The second computation is the 4 × 4 recursion (Book 1984) where sections turn by a rotation, and the explicit equations
(CB32–CB34) where they turn to first order. The former shares with the arm's Functions how a section moves with its
modes (:mod:`gdalembert.flexible.deflection`), which the laws and the power balance check.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError
from gdalembert.flexible.assembly import Assembly
from gdalembert.flexible.element import Element, Station
from gdalembert.flexible.flexible_arm import FlexibleArm
from gdalembert.flexible.reference import book_1984 as matrix_recursion
from gdalembert.flexible.reference import cetinkunt_book_1988 as explicit
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.batch import BatchFunction
from gdalembert.spatial.functions import directional_derivative, symbols
from gdalembert.validation import diagnosis
from gdalembert.validation.diagnosis import Case, Finding, Parts, decompose, listed
from gdalembert.validation.references import Truth, units_of_inertia
from gdalembert.validation.states import States, configuration_rates, draws, rnea
from gdalembert.validation.subjects import (
    CLEANED,
    EXACT,
    FOLLOWS,
    LAW,
    OTHERWISE,
    ROUNDING,
    SOLVED,
    DynamicsSubject,
    Pair,
    at_stake,
    batched,
    built,
    eigenvalues,
    spring_torque,
    times,
)

_SLOPE = 0.05
"""Standard deviation of what each mode alone does to its link: slope [rad], or deflection by length."""

_MOST = 30
"""Coordinates up to which the explicit equations, which grow like the cube of the links, are used."""

_ELASTIC, _POWER = "elastic_energy", "power balance"
_UNDEFORMED = ("undeformed tau", "undeformed M", "undeformed nle", "undeformed g")
_TERMS = ("terms (m)", "terms (C)", "terms (G)", "terms (K_f)")

_FOLLOWS = {
    _POWER: ("inverse_dynamics", "kinetic_energy", "potential_energy", "mass_matrix"),
    "potential_energy": ("generalized_gravity", _ELASTIC),
    "terms (m)": ("mass_matrix",),
    "terms (C)": ("nle", "coriolis_matrix", "generalized_gravity"),
    "terms (G)": ("generalized_gravity",),
    "undeformed tau": ("inverse_dynamics",),
    "undeformed M": ("mass_matrix",),
    "undeformed nle": ("nle",),
    "undeformed g": ("generalized_gravity",),
}
"""What is no news when one of those fails."""

_OTHER_LINKS = (
    "undeformed, the arm is not the rigid robot of the model with beams in the place of its flexible links: a link, a "
    "placement or gravity is another one"
)

_OTHERWISE = {
    _ELASTIC: "elastic energy is not ½ q·K q",
    _POWER: "power of tau, less that of the dampers, is not the rate of kinetic and potential energy",
    **dict.fromkeys(_UNDEFORMED, _OTHER_LINKS),
    **dict.fromkeys(_TERMS, "terms are not the parts of the equation of motion"),
}


def undeformed(arm: FlexibleArm, model: pin.Model, tree: Tree) -> pin.Model:
    """The model with rigid beams in the place of its flexible links, and rotors that turn with their joints.

    Raises:
        ArgumentError: if the arm was made of another model.
    """
    _check_joints(arm, tree)
    rigid, assembly = model.copy(), arm.assembly
    armature = np.array(model.armature)
    for element in assembly.elements:
        if element.inertia.modes:
            rigid.inertias[model.getJointId(element.name)] = _body(element)
        own = element.idx_v
        # without an inertia of its own the rotor has the joint's armature, which is the model's already
        if element.name in assembly.rotors and not (armature[own] > 0 and assembly.armature[own] == 0):
            armature[own] += assembly.armature[_rotor(assembly, element)]
    rigid.armature = armature
    return rigid


def _check_joints(arm: FlexibleArm, tree: Tree) -> None:
    elements = arm.assembly.elements
    own, given = [e.name for e in elements], [joint.name for joint in tree.joints]
    if own != given:
        raise ArgumentError(
            f"the arm was made of {arm.tree.name!r} with the joints {listed(map(repr, own))}; {tree.name!r} has "
            f"{listed(map(repr, given))}; give the model that the arm was made of"
        )
    for element, joint in zip(elements, tree.joints, strict=True):
        if type(element.type) is not type(joint.type) or element.parent != joint.parent:
            raise ArgumentError(
                f"joint {joint.name!r} of {tree.name!r} is {_described(joint, given)}; that of the arm is "
                f"{_described(element, own)}; give the model that the arm was made of"
            )


def _described(joint: Joint | Element, names: list[str]) -> str:
    return f"{type(joint.type).__name__} on {names[joint.parent] if joint.parent >= 0 else 'the universe'!r}"


def _rotor(assembly: Assembly, element: Element) -> int:
    """Where in v the rotor of a flexible joint stands."""
    return assembly.nv - len(assembly.rotors) + assembly.rotors.index(element.name)


def _body(element: Element) -> pin.Inertia:
    """The undeformed link with all that stands on it, in the link frame."""

    def at(station: Station) -> Array:
        placement = np.eye(4)
        placement[:3, 3] = station.position
        return np.asarray(placement @ station.body @ placement.T)

    body = element.inertia.rigid + sum(at(station) for station in element.stations)
    seen = element.clamped @ body @ element.clamped.T
    return pin.Inertia.FromPseudoInertia(pin.PseudoInertia.FromMatrix((seen + seen.T) / 2))


class SecondComputation(Truth):
    """An arm's torques, computed in another way.

    Attributes:
        source: what it is when it is spoken of again.
        missing: why there is no second computation, so that the parts of tau are taken from the arm's own; or "".
    """

    title = "a second computation"
    source = "the second computation"
    missing = ""

    def __init__(self, arm: FlexibleArm) -> None:
        self.tree, self.names, self.assembly = arm.tree, arm.layout, arm.assembly
        nq, nv, modes = arm.tree.nq, arm.tree.nv, arm.modes
        self._integrate = BatchFunction(Kinematics(arm.tree).integrate, nq)
        self._springs = spring_torque(arm)
        self._size = _sizes(arm.assembly)
        self._modal = np.isin(np.arange(nv), modes)
        # where in q stands what an entry of v is the rate of; −1 if there is no such place
        self._place = np.where(np.arange(nv) >= modes.start, np.arange(nv) + nq - nv, -1)
        self._neutral = np.zeros(nq)
        names = dict(zip(self._place, arm.layout, strict=True))
        for e in arm.assembly.elements:
            own = range(e.idx_q, e.idx_q + e.type.nq)
            self._neutral[own] = e.type.neutral().full().ravel()
            names |= dict.fromkeys(own, e.name)
            if e.type.nq == e.type.nv:
                self._place[e.idx_v : e.idx_v + e.type.nv] = own
        self.names_of_q = tuple(names[k] for k in range(nq))
        self._explicit: tuple[BatchFunction, ...] = ()
        self._links = self._computed(arm)

    def _computed(self, arm: FlexibleArm) -> BatchFunction:
        """tau of the links alone."""
        elements, gravity, nv = arm.assembly.elements, arm.assembly.gravity, arm.tree.nv
        given = list(symbols(q=arm.tree.nq, v=nv, a=nv).values())
        rotors = len(arm.assembly.rotors)
        q, v, a = (x[: x.shape[0] - rotors] for x in given)
        still = ca.SX(rotors, 1)
        if arm.kinematics == "exact":
            tau = ca.vertcat(matrix_recursion.inverse_dynamics(elements, gravity, q, v, a), still)
        elif nv <= _MOST:
            m = ca.diagcat(explicit.mass_matrix(elements, q, exact=False), ca.SX(rotors, rotors))
            h = ca.vertcat(explicit.coriolis_vector(elements, q, v, exact=False), still)
            g = ca.vertcat(explicit.gravity_vector(elements, gravity, q, exact=False), still)
            self._explicit = (
                BatchFunction(ca.Function("M", given[:1], [ca.densify(m)]), nv, nv),
                BatchFunction(ca.Function("C", given[:2], [ca.densify(h)]), nv),
                BatchFunction(ca.Function("G", given[:1], [ca.densify(g)]), nv),
            )
            tau = m @ given[2] + h + g
        else:
            self.title = self.source = "its own inverse dynamics"
            self.missing = f"a second computation of tau: the explicit equations are too large for {nv} coordinates"
            tau = arm.inverse_dynamics_expression(*given)
        return BatchFunction(ca.Function("links", given, [ca.densify(tau)]), nv)

    def states(self, samples: int, seed: int, size: int) -> Iterator[States]:
        at_rest = np.where(self._modal, _SLOPE * self._size, 1.0)
        for x, v, a in draws(self.tree.nv, samples, seed, size):
            neutral = np.broadcast_to(self._neutral, (len(x), self.tree.nq))
            yield States(self._integrate(neutral, x * at_rest), v * self._size, a * self._size)

    def links(self, states: States) -> Parts:
        """The parts of tau of the links alone."""
        if not self._explicit:
            return decompose(self._links, states)
        q, v, a = states.q, states.v, states.a
        mass, velocity, gravity = (f(*x) for f, x in zip(self._explicit, ((q,), (q, v), (q,)), strict=True))
        return Parts(times(mass, a) + velocity + gravity, mass, velocity, gravity)

    def parts(self, states: States) -> tuple[Parts, Parts]:
        links, armature = self.links(states), self.assembly.armature
        free = replace(links, tau=links.tau + armature * states.a, mass=links.mass + np.diag(armature))
        elastic, damping = self.elastic(states.q), self.damping(states.v)
        return free, replace(
            free,
            tau=free.tau + elastic + damping,
            velocity=free.velocity + damping,
            gravity=free.gravity + elastic,
        )

    def elastic(self, q: Array) -> Array:
        """K q and the torque of the springs (n × nv)."""
        springs = 0 if self._springs is None else self._springs(q)
        return self.stretch(q) @ self.assembly.stiffness.T + springs

    def stretch(self, q: Array) -> Array:
        """What K is multiplied with (n × nv): q where v is its rate, else 0."""
        return np.where(self._place >= 0, q[:, self._place], 0.0)

    def damping(self, v: Array) -> Array:
        """D v (n × nv)."""
        return np.asarray(v @ self.assembly.damping.T)

    def rates(self, states: States) -> Array:
        return configuration_rates(self._integrate, states)

    def case(self, states: States, tolerance: float) -> Case:
        _, truth = self.parts(states)
        units = ["" if modal else unit for unit, modal in zip(units_of_inertia(self.tree), self._modal, strict=True)]
        for e in self.assembly.elements:
            if e.name in self.assembly.rotors:
                units[_rotor(self.assembly, e)] = units[e.idx_v]
        return Case(
            None,
            self.tree,
            self._torque,
            states,
            truth,
            self.elastic(states.q),
            tolerance,
            self.names,
            tuple(units),
            self.source,
            f"that of {self.source}",
        )

    def _torque(self, q: Array, v: Array, a: Array) -> Array:
        return self._links(q, v, a) + self.assembly.armature * a + self.elastic(q) + self.damping(v)


def _sizes(assembly: Assembly) -> Array:
    """Of each entry of v: 1, or of a mode what makes a slope of 1 rad, or a deflection as large as the link."""
    sizes = np.ones(assembly.nv)
    for e in assembly.elements:
        length = max(float(np.linalg.norm(station.position)) for station in e.stations) or 1.0
        for j in range(e.inertia.modes):
            mean = np.sqrt(np.trace(e.inertia.second[j, j]) / e.inertia.rigid[3, 3])
            moves = [np.linalg.norm(station.translation[:, j]) / length for station in e.stations]
            turns = [np.linalg.norm(station.rotation[:, j]) for station in e.stations]
            sizes[e.first_mode + j] = 1 / max(float(mean) / length, *map(float, moves + turns))
    return sizes


class ArmSubject(DynamicsSubject):
    """A FlexibleArm, with all its Functions; ``rigid`` is the model of it undeformed."""

    truth: SecondComputation
    follows = FOLLOWS | _FOLLOWS
    otherwise = OTHERWISE | _OTHERWISE

    def __init__(self, arm: FlexibleArm, truth: SecondComputation, rigid: pin.Model | None) -> None:
        super().__init__(arm, truth)
        self._cleaned, self._exact, self._noise = not self._exact, True, ROUNDING  # both computations are cleaned
        self._assembly, self._moved = arm.assembly, arm.modes.stop
        nq, nv = arm.tree.nq, arm.tree.nv
        q, v, a = symbols(q=nq, v=nv, a=nv).values()
        self._elastic_energy = batched(built(arm, _ELASTIC), _ELASTIC, ())
        energy = built(arm, "kinetic_energy")(q, v) + built(arm, "potential_energy")(q)
        rates = ca.vertcat(arm.tree.configuration_rate(q, v), a)
        power = directional_derivative(energy, ca.vertcat(q, v), rates)
        self._energy_rate = BatchFunction(ca.Function("energy_rate", [q, v, a], [ca.densify(power)]))
        self._terms = _terms(built(arm, "terms"), q, v)
        self._rigid = rigid

    @property
    def against(self) -> str:
        return self.truth.title if self._rigid is None else f"{self.truth.title} and, undeformed, Pinocchio"

    @property
    def not_checked(self) -> tuple[str, ...]:
        rigid = "the undeformed arm against Pinocchio: give against=model" if self._rigid is None else ""
        return (*super().not_checked, *filter(None, (self.truth.missing, rigid)))

    def tolerance(self, name: str) -> float:
        if name in _UNDEFORMED:
            return CLEANED if self._cleaned else EXACT
        return LAW if name == _POWER else super().tolerance(name)

    def pairs(self, states: States) -> Iterator[Pair]:
        yield from super().pairs(states)
        q, v, a, names = states.q, states.v, states.a, self.truth.names
        free, truth = self.truth.parts(states)
        stretch = self.truth.stretch(q)
        elastic = 0.5 * np.sum(stretch * (stretch @ self._assembly.stiffness), axis=1)
        yield Pair(_ELASTIC, "energy", self._elastic_energy(q), elastic)
        power = np.sum((self.torque(q, v, a) - self.truth.damping(v)) * v, axis=1)
        addends = (times(free.mass, a), free.velocity, truth.gravity)
        stake = at_stake(sum(np.abs(x * v).sum(axis=1) for x in addends), power)
        yield Pair(_POWER, "law", self._energy_rate(q, v, a), power, stake)
        moved = slice(0, self._moved)
        mass = free.mass - np.diag(self._assembly.armature)
        vectors = {"C": free.velocity, "G": free.gravity}
        found = {name: term(q, v) for name, term in self._terms.items()}
        own = names[moved]
        yield Pair("terms (m)", "terms", found["m"], mass[:, moved, moved], names=own)
        for name, vector in vectors.items():
            yield Pair(f"terms ({name})", "terms", found[name], vector[:, moved], names=own)
        stiffness = np.broadcast_to(_stiffness(self._assembly)[moved, moved], found["K"].shape)
        yield Pair("terms (K_f)", "terms", found["K"], stiffness, names=own)
        if self._rigid is not None:
            yield from self._undeformed(self._rigid, states)

    def _undeformed(self, rigid: pin.Model, states: States) -> Iterator[Pair]:
        """Joints and links as they are without deformation, rotors turning with their joints."""
        nv, assembly = rigid.nv, self._assembly
        carried = np.eye(self.tree.nv, nv)
        for e in assembly.elements:
            if e.name in assembly.rotors:
                carried[_rotor(assembly, e), e.idx_v] = 1.0
        own = States(states.q[:, : rigid.nq], states.v[:, :nv], states.a[:, :nv])
        q = np.zeros_like(states.q)
        q[:, : rigid.nq] = own.q
        for e in assembly.elements:
            if e.name in assembly.rotors:
                q[:, _rotor(assembly, e) + self.tree.nq - self.tree.nv] = own.q[:, e.idx_q]
        f, v, a, names = self._functions, own.v @ carried.T, own.a @ carried.T, self.truth.names[:nv]
        springs = self.truth.elastic(q) @ carried
        truth = decompose(rnea(rigid), own)
        yield Pair("undeformed tau", "tau", self.torque(q, v, a) @ carried, truth.tau + springs, names=names)
        mass = carried.T @ f["mass_matrix"](q) @ carried
        yield Pair("undeformed M", "mass matrix", mass, truth.mass, names=names)
        nle = f["nle"](q, v) @ carried
        yield Pair("undeformed nle", "velocity terms and gravity", nle, truth.nle + springs, names=names)
        gravity = f["generalized_gravity"](q) @ carried
        yield Pair("undeformed g", "gravity", gravity, truth.gravity, names=names)

    def _ease(self, condition: Array, truth: Parts, a: Array) -> Array:
        """As of a rigid robot; and a mode that is much stiffer than heavy makes large accelerations of rounding."""
        smallest, _ = eigenvalues(truth.mass)
        forces = sum(np.abs(x).max(axis=1) for x in (truth.tau, truth.velocity, truth.gravity))
        lost = condition + forces / np.maximum(smallest, 1e-300) / np.maximum(1, np.abs(a).max(axis=1))
        return np.asarray(np.maximum(lost * self._noise / SOLVED, 1))

    def _driven(self, truth: Parts, a: Array, regular: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
        b = self._assembly.actuation
        u, driven = truth.tau @ b, np.zeros_like(a)
        force = (u @ b.T - truth.nle)[regular, :, None]
        driven[regular] = np.linalg.solve(truth.mass[regular], force)[..., 0]
        return u, driven

    def _scaled(self, mass: Array, truth: Array) -> Array:
        """With 1 on the diagonal: the units of modal coordinates are anyone's choice."""
        unit = 1 / np.sqrt(np.maximum(np.diagonal(truth, axis1=1, axis2=2), 1e-300))
        return unit[:, :, None] * mass * unit[:, None, :]

    def _explain(self, name: str, case: Case) -> list[Finding]:
        q, v, a = case.states.q, case.states.v, case.states.a
        stretched, damped = self.truth.stretch(q) @ self._assembly.stiffness, self.truth.damping(v)
        found: list[Finding] = []
        if name in ("inverse_dynamics", "nle"):
            tau = self.torque(q, v, a) - case.truth.tau
            difference = tau if name == "inverse_dynamics" else self._functions[name](q, v) - case.truth.nle
            found = [
                *diagnosis.explain_addend("damping D v", difference, damped, case),
                *diagnosis.explain_addend("stiffness K q", difference, stretched, case),
            ]
        if name == "coriolis_matrix":
            product = times(self._functions[name](q, v), v)
            return diagnosis.explain_velocity(product + damped, case)
        if name == "potential_energy":
            difference = self._power(q, v) - np.sum(case.truth.gravity * v, axis=1)
            found = diagnosis.explain_addend("elastic energy", difference, np.sum(stretched * v, axis=1), case)
        return found or super()._explain(name, case)


def _terms(terms: ca.Function, q: ca.SX, v: ca.SX) -> dict[str, BatchFunction]:
    """M, C, G and K of joints and modes, put together from their blocks."""
    t = terms.call({"q": q, "v": v})
    joints, modes = t["m_r"].shape[0], t["m_f"].shape[0]
    whole = {
        "m": ca.vertcat(ca.horzcat(t["m_r"], t["m_rf"]), ca.horzcat(t["m_rf"].T, t["m_f"])),
        "C": ca.vertcat(t["C_1"], t["C_2"]),
        "G": ca.vertcat(t["G_1"], t["G_2"]),
        "K": ca.diagcat(ca.SX(joints, joints), t["K_f"]),
    }
    n = joints + modes
    shapes = {"m": (n, n), "C": (n,), "G": (n,), "K": (n, n)}
    return {name: BatchFunction(ca.Function(name, [q, v], [ca.densify(x)]), *shapes[name]) for name, x in whole.items()}


def _stiffness(assembly: Assembly) -> Array:
    """K_f of all links, nv × nv."""
    k = np.zeros((assembly.nv, assembly.nv))
    for e in assembly.elements:
        own = slice(e.first_mode, e.first_mode + e.inertia.modes)
        k[own, own] = e.inertia.stiffness
    return k
