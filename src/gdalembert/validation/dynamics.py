"""A Dynamics under test: all its Functions, and the laws that hold between them.

Derivatives are compared along one direction with those of its own ``inverse_dynamics``, which CasADi differentiates and
which is compared with the reference itself. Differences would not do: they lose all digits where smooth Coulomb
friction changes its sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Self

import casadi as ca
import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, GdalembertError, UnsupportedError
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import BatchFunction, directional_derivative
from gdalembert.validation import diagnosis
from gdalembert.validation.diagnosis import (
    DQ_DT,
    DV_DT,
    POSITIVE_DEFINITE,
    SKEW,
    SYMMETRIC,
    UNDER_WRENCHES,
    Explanation,
)
from gdalembert.validation.references import LOADED, Reference, ReferenceSample, WrenchesUnderTest, under_some
from gdalembert.validation.report import (
    AFTER_CLEANING,
    EXACT,
    LAW,
    SOLVED,
    Check,
    Residual,
    condition_numbers,
    eigenvalues,
    power_scale,
)
from gdalembert.validation.states import Mask, States, TorqueTerms, decompose, times
from gdalembert.validation.systems import SystemUnderTest

TORQUE_ALONG = "inverse_dynamics_along"
"""tau differentiated by CasADi."""

TORQUE_UNDER_WRENCHES = "inverse_dynamics_under_constant_wrenches"
"""tau that is differentiated, where wrenches act."""

OF_TORQUE, OF_ACCELERATION = "inverse_dynamics_derivatives", "forward_dynamics_derivatives"
ROUNDING = 1e-14
"""Relative error of M and tau by rounding alone."""
_SINGULAR = 1e12
"""Condition number of M above which accelerations are not judged."""
Explain = Callable[[], list[Explanation]]
"""What explains a check that failed."""
ReferenceAt = Callable[[Array | None], Reference]
"""The reference that has p."""
POWER, MASS_MATRIX_RATE = "power", "mass_matrix_rate"
"""Functions made of those of the system under test."""


def direction_of(scales: Array) -> Array:
    """d (nv): in which no entry of a matrix hides, each entry of the size of its coordinate."""
    direction: Array = scales * np.random.default_rng(0).uniform(0.5, 1.5, len(scales))
    return direction


def tau_along(dynamics: Dynamics, inverse_dynamics: ca.Function, d: Array) -> BatchFunction:
    """(q, v, a, p) → the derivatives of tau as q, and as v, moves along d (2 nv)."""
    s = dynamics.symbols("q", "v", "a")
    q, v, *_ = inputs = list(s.values())
    tau, moved = inverse_dynamics(*inputs), dynamics.tree.configuration_rate(q, ca.SX(d))
    return _stacked(
        TORQUE_ALONG, inputs, directional_derivative(tau, q, moved), directional_derivative(tau, v, ca.SX(d))
    )


def times_direction(dynamics: Dynamics, derivatives: ca.Function, d: Array) -> BatchFunction:
    """The matrices of a Function of derivatives times d, one below the other."""
    s = dynamics.symbols(*derivatives.name_in()[:3])
    inputs = [*s.values()]
    return _stacked(derivatives.name(), inputs, *(matrix @ ca.DM(d) for matrix in derivatives.call(inputs)))


def _stacked(name: str, inputs: list[ca.SX], *outputs: Matrix) -> BatchFunction:
    stacked = ca.densify(ca.vertcat(*outputs))
    return BatchFunction(ca.Function(name, inputs, [stacked]), stacked.shape[0])


def shapes_of_functions(tree: Tree) -> dict[str, tuple[int, ...]]:
    """The Functions that are evaluated, and the shape of each one's output."""
    nq, nv = tree.nq, tree.nv
    return {
        "inverse_dynamics": (nv,),
        "mass_matrix": (nv, nv),
        "mass_matrix_inverse": (nv, nv),
        "nle": (nv,),
        "generalized_gravity": (nv,),
        "coriolis_matrix": (nv, nv),
        "forward_dynamics": (nv,),
        "state_derivative": (nq + nv,),
        "kinetic_energy": (),
    }


class DynamicsUnderTest(SystemUnderTest):
    """A :class:`~gdalembert.Dynamics`. Functions that it does not support are not checked.

    Args:
        dynamics: the system under test.
        reference_at: the reference that has p.
        p: values of the parameters; ``None`` without parameters.

    Raises:
        ArgumentError: if a Function cannot be built, or gives another shape.
    """

    def __init__(self, dynamics: Dynamics, reference_at: ReferenceAt, p: Array | None = None) -> None:
        super().__init__(reference_at(p))
        self._reference_at, self.p, self.parameter_names = reference_at, p, dynamics.parameters.names
        self.name = getattr(dynamics, "name", type(dynamics).__name__)
        self._actuators = dynamics.actuators
        self._tolerance = EXACT if dynamics.clean == 0 else AFTER_CLEANING
        # a handful of cleaned constants may add up
        self._noise = max(ROUNDING, 10 * dynamics.clean if dynamics.changes else 0.0)
        self._unsupported: list[str] = []
        self._counts = {"states": 0, "singular": 0}  # at all p
        self._functions: dict[str, BatchFunction] = {}
        external = dynamics.external_wrenches
        free = dynamics.under(np.zeros((6, len(external)))) if external else dynamics
        for name, shape in shapes_of_functions(self.tree).items():
            try:
                self._functions[name] = batched(built(free, name), name, shape).at(p)
            except UnsupportedError as error:
                self._unsupported.append(f"{name}: {error}")
        made = _rates(free) | self._derivatives(under_some(dynamics))
        self._functions |= {name: function.at(p) for name, function in made.items()}
        self.torque = self._functions["inverse_dynamics"]
        self._wrenches = self._loaded(dynamics, p)

    def _loaded(self, dynamics: Dynamics, p: Array | None) -> WrenchesUnderTest | None:
        """The Functions under wrenches, those that are supported; ``None`` if the robot takes no wrenches."""
        if not dynamics.external_wrenches:
            return None
        functions = {name: built(dynamics, name) for name in LOADED if name in self._functions}
        return WrenchesUnderTest(dynamics, functions, shapes_of_functions(self.tree)).at(p)

    def _derivatives(self, dynamics: Dynamics) -> dict[str, BatchFunction]:
        d = direction_of(self.reference.scales)
        tau = built(dynamics, "inverse_dynamics")
        made = {TORQUE_ALONG: tau_along(dynamics, tau, d)}
        if dynamics.external_wrenches:
            made[TORQUE_UNDER_WRENCHES] = BatchFunction(tau, self.tree.nv)
        for name in (OF_TORQUE, OF_ACCELERATION):
            try:
                made[name] = times_direction(dynamics, built(dynamics, name), d)
            except UnsupportedError as error:
                self._unsupported.append(f"{name}: {error}")
        return made

    def changed(self, p: Array) -> Self:
        twin = copy(self)
        twin.p, twin.reference = p, self._reference_at(p)
        twin.tree = twin.reference.tree
        twin._functions = {name: function.at(p) for name, function in self._functions.items()}
        twin.torque = twin._functions["inverse_dynamics"]
        twin._wrenches = None if self._wrenches is None else self._wrenches.at(p)
        return twin

    @property
    def not_checked(self) -> tuple[str, ...]:
        if not self._counts["singular"]:
            return tuple(self._unsupported)
        count = f"{self._counts['singular']} of {self._counts['states']} states"
        solved = f"mass_matrix_inverse, forward_dynamics and {DV_DT}"
        return (*self._unsupported, f"{solved} at {count}, where M is singular (cond(M) > 1e12)")

    # Where residuals are made.

    def residuals(self, states: States) -> Iterator[Residual]:
        without, reference = self.reference.terms(states)
        yield from self._torques(states, without, reference)
        yield from self._accelerations(states, reference)
        yield from self._derivative_residuals(states, reference)
        yield from self._energies(states, reference)
        yield from self._laws(states, reference)
        if self._wrenches is not None:
            yield from self._under(self._wrenches, states, reference)

    def _torques(self, states: States, without: TorqueTerms, reference: TorqueTerms) -> Iterator[Residual]:
        """``without`` are the terms without springs and dampers, which ``generalized_gravity`` and C leave out."""
        f, q, v, a, tolerance = self._functions, states.q, states.v, states.a, self._tolerance
        sizes = reference.sizes(states, self.tree.gravity)
        yield Residual("inverse_dynamics", "tau", self.torque(q, v, a), reference.tau, tolerance, addends=sizes.tau)
        yield Residual("mass_matrix", "mass matrix", f["mass_matrix"](q), reference.mass_matrix, tolerance)
        part = "velocity terms and gravity"
        yield Residual("nle", part, f["nle"](q, v), reference.nle, tolerance, addends=sizes.nle)
        own, name = f["generalized_gravity"](q), "generalized_gravity"
        yield Residual(name, "gravity", own, without.gravity, tolerance, addends=sizes.gravity)
        if "coriolis_matrix" in f:
            product = times(f["coriolis_matrix"](q, v), v)
            part = "velocity terms"
            yield Residual("coriolis_matrix", part, product, without.velocity, tolerance, addends=sizes.velocity)

    def _accelerations(self, states: States, reference: TorqueTerms) -> Iterator[Residual]:
        f, q, v, a, part = self._functions, states.q, states.v, states.a, "forward dynamics"
        condition = condition_numbers(reference.mass_matrix)
        regular = condition <= _SINGULAR
        self._counts["states"] += len(states)
        self._counts["singular"] += int(np.sum(~regular)) if "forward_dynamics" in f else 0
        if "mass_matrix_inverse" in f:
            inverse = np.zeros_like(reference.mass_matrix)
            inverse[regular] = np.linalg.inv(reference.mass_matrix[regular])
            scale = np.maximum(condition * self._noise / SOLVED, 1)
            own = f["mass_matrix_inverse"](q)
            yield Residual("mass_matrix_inverse", "mass matrix", own, inverse, SOLVED, scale, regular)
        if "forward_dynamics" in f:
            own, scale = f["forward_dynamics"](q, v, reference.tau), self._acceleration_scale(condition, reference, a)
            yield Residual("forward_dynamics", part, own, a, SOLVED, scale, regular)
        if "state_derivative" in f:
            u, a_of_u = self._actuated(q, reference, a, regular)
            rate, own = np.split(f["state_derivative"](np.hstack([q, v]), u), [self.tree.nq], axis=1)
            names = self.reference.configuration_names
            yield Residual(DQ_DT, "kinematics", rate, self.reference.rates(states), SOLVED, names=names)
            scale = self._acceleration_scale(condition, reference, a_of_u)
            yield Residual(DV_DT, part, own, a_of_u, SOLVED, scale, regular)

    def _derivative_residuals(self, states: States, reference: TorqueTerms) -> Iterator[Residual]:
        """Derivatives of a by the implicit function theorem: M da = −dtau."""
        f, q, v, a, part = self._functions, states.q, states.v, states.a, "derivatives"
        by_q, by_v = np.split(f[TORQUE_ALONG](q, v, a), 2, axis=1)
        if OF_TORQUE in f:
            own = np.split(f[OF_TORQUE](q, v, a), 2, axis=1)
            sizes = reference.sizes(states, self.tree.gravity)
            each = zip(diagnosis.TORQUE_DERIVATIVES, own, (by_q, by_v), (sizes.tau, sizes.rate), strict=True)
            for name, value, expected, size in each:
                yield Residual(name, part, value, expected, LAW, addends=size)
        if OF_ACCELERATION in f:
            condition = condition_numbers(reference.mass_matrix)
            scale = self._acceleration_scale(condition, reference, a)
            pushed = f[TORQUE_UNDER_WRENCHES](q, v, a) - self.torque(q, v, a) if TORQUE_UNDER_WRENCHES in f else 0.0
            own = np.split(f[OF_ACCELERATION](q, v, reference.tau + pushed), 3, axis=1)
            d = np.broadcast_to(direction_of(self.reference.scales), v.shape)
            expected_of = dict(zip(diagnosis.ACCELERATION_DERIVATIVES, (-by_q, -by_v, d), strict=True))
            for value, (name, expected) in zip(own, expected_of.items(), strict=True):
                torque = times(reference.mass_matrix, value)
                yield Residual(name, part, torque, expected, SOLVED, scale, condition <= _SINGULAR)

    def _energies(self, states: States, reference: TorqueTerms) -> Iterator[Residual]:
        q, v = states.q, states.v
        kinetic = self._functions["kinetic_energy"](q, v)
        yield Residual("kinetic_energy", "energy", kinetic, _kinetic_energy(reference, v), self._tolerance)
        power = _power(reference, v)
        scale = power_scale(np.abs(reference.gravity * v).sum(axis=1), power)
        yield Residual("potential_energy", "energy", self._functions[POWER](q, v), power, self._tolerance, scale)

    def _laws(self, states: States, reference: TorqueTerms) -> Iterator[Residual]:
        f, q, v = self._functions, states.q, states.v
        mass_matrix = f["mass_matrix"](q)
        smallest, largest = eigenvalues(self._normalized(mass_matrix, reference.mass_matrix))
        yield Residual(SYMMETRIC, "law", mass_matrix, mass_matrix.transpose(0, 2, 1), LAW)
        yield Residual(POSITIVE_DEFINITE, "law", np.minimum(smallest, 0) / largest, np.zeros(len(states)), LAW)
        if "coriolis_matrix" in f:
            c = f["coriolis_matrix"](q, v)
            rate, sizes = f[MASS_MATRIX_RATE](q, v), reference.sizes(states, self.tree.gravity)
            yield Residual(SKEW, "law", c + c.transpose(0, 2, 1), rate, LAW, addends=sizes.rate)

    def _under(self, wrenches: WrenchesUnderTest, states: States, reference: TorqueTerms) -> Iterator[Residual]:
        """The Functions under wrenches, where tau has so much less to give."""
        f, q, v, a, w = wrenches.functions, states.q, states.v, states.a, wrenches.of(states)
        tau = self.reference.loaded_torque(states, wrenches.external, w)
        own, sizes = f["inverse_dynamics"](q, v, a, w), reference.sizes(states, self.tree.gravity)
        yield Residual(UNDER_WRENCHES[0], "tau", own, tau, self._tolerance, addends=sizes.tau)
        condition = condition_numbers(reference.mass_matrix)
        regular, scale = condition <= _SINGULAR, self._acceleration_scale(condition, reference, a)
        if "forward_dynamics" in f:
            own = f["forward_dynamics"](q, v, tau, w)
            yield Residual(UNDER_WRENCHES[1], "forward dynamics", own, a, SOLVED, scale, regular)
        if "state_derivative" in f:
            loaded = replace(reference, tau=tau, gravity=reference.gravity + tau - reference.tau)
            u, a_of_u = self._actuated(q, loaded, a, regular)
            own = f["state_derivative"](np.hstack([q, v]), u, w)[:, self.tree.nq :]
            scale = self._acceleration_scale(condition, reference, a_of_u)
            yield Residual(UNDER_WRENCHES[2], "forward dynamics", own, a_of_u, SOLVED, scale, regular)

    def _acceleration_scale(self, condition: Array, reference: TorqueTerms, a: Array) -> Array:
        """The tolerance scale of accelerations: solving with M may lose as many digits as cond(M) has.

        What velocity terms and gravity have beyond M a cancels in tau − h − g, and loses digits likewise.
        """
        inertial = np.abs(reference.mass_matrix).max(axis=(1, 2)) * np.maximum(1, np.abs(a).max(axis=1))
        cancelled = np.maximum(1, np.abs(reference.nle).max(axis=1) / np.maximum(inertial, 1e-300))
        return np.asarray(np.maximum(condition * cancelled * self._noise / SOLVED, 1))

    def _actuated(self, q: Array, reference: TorqueTerms, a: Array, regular: Mask) -> tuple[Array, Array]:
        """u of the state derivative, and the accelerations that follow from its tau."""
        own = self._actuators
        slopes = (own.derivatives(x, np.ones(own.nu))[1] for x in q)
        u = np.array([tau @ slope for tau, slope in zip(reference.tau, slopes, strict=True)])
        tau, accelerations = np.array([own.torque(*each) for each in zip(q, u, strict=True)]), np.zeros_like(a)
        if np.array_equal(tau, reference.tau):
            return u, a
        force = (tau - reference.nle)[regular, :, None]
        accelerations[regular] = np.linalg.solve(reference.mass_matrix[regular], force)[..., 0]
        return u, accelerations

    def _normalized(self, mass_matrix: Array, reference: Array) -> Array:
        """The mass matrix whose eigenvalues are judged."""
        return mass_matrix

    # What explains a check that failed.

    def diagnose(self, failed: Mapping[str, Check], sample: ReferenceSample) -> tuple[str, ...]:
        explain = self._explanations(sample)
        return diagnosis.sentences(failed, {name: explain[name]() if name in explain else [] for name in failed})

    def _explanations(self, sample: ReferenceSample) -> dict[str, Explain]:
        """Explanations by name of the check; the laws have none but that they fail."""
        f, states, terms = self._functions, sample.states, sample.terms
        q, v = states.q, states.v
        kinetic, power = _kinetic_energy(terms, v), _power(terms, v)
        return {
            "inverse_dynamics": lambda: diagnosis.explain_torque(decompose(self.torque, states), sample),
            "mass_matrix": lambda: diagnosis.explain_mass_matrix(f["mass_matrix"](q), sample),
            "nle": lambda: self._explain_nle(sample),
            "generalized_gravity": lambda: diagnosis.explain_gravity(
                f["generalized_gravity"](q) + sample.springs, sample
            ),
            "coriolis_matrix": lambda: diagnosis.explain_velocity(
                times(f["coriolis_matrix"](q, v), v) + sample.dampers, sample
            ),
            UNDER_WRENCHES[0]: lambda: self._explain_under_wrenches(sample),
            "kinetic_energy": lambda: diagnosis.explain_kinetic_energy(f["kinetic_energy"](q, v), kinetic, sample),
            "potential_energy": lambda: diagnosis.explain_scalar("potential energy", f[POWER](q, v), power, sample),
        }

    def _explain_nle(self, sample: ReferenceSample) -> list[Explanation]:
        q, v, nle = sample.states.q, sample.states.v, self._functions["nle"]
        at_rest = nle(q, np.zeros_like(v))
        return [
            *diagnosis.explain_velocity(nle(q, v) - at_rest, sample),
            *diagnosis.explain_gravity(at_rest, sample),
        ]

    def _explain_under_wrenches(self, sample: ReferenceSample) -> list[Explanation]:
        if self._wrenches is None:
            return []
        states, w = sample.states, self._wrenches.of(sample.states)
        q, v, a = states.q, states.v, states.a
        own = self._wrenches.functions["inverse_dynamics"](q, v, a, w) - self.torque(q, v, a)
        reference = self.reference.loaded_torque(states, self._wrenches.external, w) - sample.terms.tau
        return diagnosis.explain_wrenches(own, sample, reference)


def _rates(dynamics: Dynamics) -> dict[str, BatchFunction]:
    """(q, v, p) → dV/dt, dM/dt."""
    s, nv = dynamics.symbols("q", "v"), dynamics.tree.nv
    q, v, *p = s.values()
    potential = built(dynamics, "potential_energy")
    power = directional_derivative(potential(q, *p), q, dynamics.tree.configuration_rate(q, v))
    rate = dynamics.mass_matrix_rate(q, v)
    inputs = list(s.values())
    return {
        POWER: BatchFunction(ca.Function(POWER, inputs, [ca.densify(power)])),
        MASS_MATRIX_RATE: BatchFunction(ca.Function(MASS_MATRIX_RATE, inputs, [ca.densify(rate)]), nv, nv),
    }


def built(dynamics: Dynamics, name: str) -> ca.Function:
    """A Function of a Dynamics; what goes wrong in the user's code while it is built becomes an ArgumentError."""
    try:
        function: ca.Function = getattr(dynamics, name)
    except GdalembertError:
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
        raise ArgumentError(f"the system under test: {name} cannot be built: {reason}") from error
    return function


def batched(function: ca.Function, name: str, shape: tuple[int, ...]) -> BatchFunction:
    """A Function of a Dynamics at many states.

    Raises:
        ArgumentError: if its output has another shape.
    """
    wanted = (*shape, 1, 1)[:2]
    if tuple(function.size_out(0)) != wanted:
        given = " × ".join(map(str, function.size_out(0)))
        raise ArgumentError(f"the system under test: {name} is {given}; it must be {wanted[0]} × {wanted[1]}")
    return BatchFunction(function, *shape)


def _kinetic_energy(terms: TorqueTerms, v: Array) -> Array:
    """½ v·M v (n)."""
    return np.asarray(0.5 * np.sum(v * times(terms.mass_matrix, v), axis=1))


def _power(terms: TorqueTerms, v: Array) -> Array:
    """g·v (n), springs included: the rate of the potential energy."""
    return np.asarray(np.sum(terms.gravity * v, axis=1))
