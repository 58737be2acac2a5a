"""The reference for flexible arms: a second computation of tau, independent of the arm's own recursion.

It is the 4 × 4 recursion (Book 1984) for exact kinematics, and the explicit equations (CB32–CB34) for first-order
kinematics. The former and the arm's Functions share how a section moves with its modes
(:mod:`gdalembert.model.joints.deflection`); the laws and the power balance check that.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Self

import casadi as ca
import numpy as np

from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.dynamics.wrenches import ExternalWrenches
from gdalembert.flexible.assembly import Assembly
from gdalembert.flexible.flexible_arm import Arm
from gdalembert.flexible.reference import book_1984, cetinkunt_book_1988
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.batch import BatchFunction
from gdalembert.validation.arm_with_parameters import assembly_at, elastic_matrices, stiffness_of_links
from gdalembert.validation.references import AddedForces, Reference, ReferenceSample, units_of_inertia
from gdalembert.validation.states import States, draws
from gdalembert.validation.torque_terms import TorqueTerms, decompose, times
from gdalembert.validation.undeformed_arm import rotor_index
from gdalembert.validation.wrenches import virtual_work

_SLOPE = 0.05
"""Standard deviation of the slope [rad] of a link, or of its deflection by length, due to each mode alone."""

_MOST_COORDINATES = 30
"""Up to which the explicit equations are used: they grow with the cube of the number of links."""


class ReferenceRecursion(Reference):
    """A second computation of an arm's tau, with armature, K q, D v and force elements added.

    Attributes:
        stiffness_of_links: K_f (nv × nv).
        source: the reference, in a sentence of a diagnosis.
        missing: why there is no second computation, so that the reference is the arm's own tau; or "".
    """

    def __init__(self, arm: Arm, p: Array | None = None) -> None:
        self._arm, self.tree, self.velocity_names = arm, arm.nominal, arm.layout
        self._links, self._forces = _links_of(arm), AddedForces(arm)
        self.title, self.source, self.missing = self._links.title, self._links.source, self._links.missing
        self._integrate = BatchFunction(Kinematics(arm.nominal).integrate, arm.tree.nq)
        self.scales = _coordinate_scales(arm.assembly)
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
        self._assembly = arm.assembly if p is None else assembly_at(arm, ca.DM(p))
        self._stiffness, self._damping = elastic_matrices(arm, p)
        self.stiffness_of_links = stiffness_of_links(arm, p)
        self.tree = replace(arm.nominal, armature=self._assembly.armature, gravity=self._assembly.gravity)
        self._links, self._forces = self._links.at(p), self._forces.at(p)

    def _set_up_configuration(self, arm: Arm) -> None:
        """The neutral configuration, the names of q, and the index in q of the integral of each entry of v."""
        nq, nv = arm.tree.nq, arm.tree.nv
        # −1 where no entry of q is the integral
        self._index_in_q = np.where(np.arange(nv) >= arm.modes.start, np.arange(nv) + nq - nv, -1)
        self._neutral = np.zeros(nq)
        names = dict(zip(self._index_in_q, arm.layout, strict=True))
        for e in arm.assembly.links:
            own = range(e.idx_q, e.idx_q + e.type.nq)
            self._neutral[own] = e.type.neutral().full().ravel()
            names |= dict.fromkeys(own, e.name)
            if e.type.velocity_is_rate:
                self._index_in_q[e.idx_v : e.idx_v + e.type.nv] = own
        self.configuration_names = tuple(names[k] for k in range(nq))

    def states(self, samples: int, seed: int, size: int) -> Iterator[States]:
        scale_of_q = np.where(self._is_modal, _SLOPE * self.scales, 1.0)
        for x, v, a in draws(self.tree.nv, samples, seed, size):
            neutral = np.broadcast_to(self._neutral, (len(x), self.tree.nq))
            yield States(self._integrate(neutral, x * scale_of_q), v * self.scales, a * self.scales)

    def terms(self, states: States) -> tuple[TorqueTerms, TorqueTerms]:
        links, armature = self._links.terms(states), self._assembly.armature
        without = replace(links, tau=links.tau + armature * states.a, mass_matrix=links.mass_matrix + np.diag(armature))
        return without, without.plus(*self.passive(states.q, states.v))

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

    def sample(self, states: States, tolerance: float) -> ReferenceSample:
        _, terms = self.terms(states)
        springs, dampers = self.passive(states.q, states.v)
        return ReferenceSample(
            model=None,
            tree=self.tree,
            torque=self._torque,
            integrate=self.integrate,
            states=states,
            terms=terms,
            springs=springs,
            dampers=dampers,
            tolerance=tolerance,
            names=self.velocity_names,
            units=self._units(),
            source=self.source,
            owner=f"that of {self.source}",
        )

    def _units(self) -> tuple[str, ...]:
        """Of inertias; modal coordinates have none."""
        rigid = units_of_inertia(self.tree)
        units = ["" if modal else unit for unit, modal in zip(rigid, self._is_modal, strict=True)]
        for e in self._assembly.links:
            if e.name in self._assembly.rotors:
                units[rotor_index(self._assembly, e)] = units[e.idx_v]
        return tuple(units)

    def _torque(self, q: Array, v: Array, a: Array) -> Array:
        springs, dampers = self.passive(q, v)
        return self._links.torque(q, v, a) + self._assembly.armature * a + springs + dampers


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
        s, rotors = arm.symbols("q", "v", "a"), len(arm.assembly.rotors)
        assembly = assembly_at(arm, arm.parameters.symbols)
        without_rotors = (s[name][: s[name].shape[0] - rotors] for name in ("q", "v", "a"))
        tau = book_1984.inverse_dynamics(assembly.links, assembly.gravity, *without_rotors)
        super().__init__(s, ca.vertcat(tau, ca.SX(rotors, 1)))


class _ExplicitEquations(_Links):
    """M, C and G of Cetinkunt and Book 1988, each evaluated by itself rather than taken from tau; they have no p."""

    def __init__(self, arm: Arm) -> None:
        s = arm.symbols("q", "v", "a")
        q, v, a = s["q"], s["v"], s["a"]
        links, nv, rotors = arm.assembly.links, arm.tree.nv, len(arm.assembly.rotors)
        own_q, own_v, still = q[: arm.tree.nq - rotors], v[: nv - rotors], ca.SX(rotors, 1)
        m = ca.diagcat(cetinkunt_book_1988.mass_matrix(links, own_q, exact=False), ca.SX(rotors, rotors))
        c = ca.vertcat(cetinkunt_book_1988.coriolis_vector(links, own_q, own_v, exact=False), still)
        g = ca.vertcat(cetinkunt_book_1988.gravity_vector(links, arm.assembly.gravity, own_q, exact=False), still)
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


def _coordinate_scales(assembly: Assembly) -> Array:
    """For each entry of v: 1, or for a mode what causes a slope of 1 rad, or a deflection as large as the link."""
    scales = np.ones(assembly.nv)
    for e in assembly.links:
        length = max(float(np.linalg.norm(station.position)) for station in e.stations) or 1.0
        for j in range(e.inertia.modes):
            mean = np.sqrt(np.trace(e.inertia.second[j, j]) / e.inertia.rigid[3, 3])
            deflections = [np.linalg.norm(station.translation[:, j]) / length for station in e.stations]
            slopes = [np.linalg.norm(station.rotation[:, j]) for station in e.stations]
            scales[e.mode_idx_v + j] = 1 / max(float(mean) / length, *map(float, deflections + slopes))
    return scales
