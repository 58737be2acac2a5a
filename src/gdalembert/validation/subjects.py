"""What can be validated: a Dynamics, or a torque function, each taken apart into quantities that have a true value."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, UnsupportedError
from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.batch import BatchFunction
from gdalembert.spatial.functions import directional_derivative, symbols
from gdalembert.validation import diagnosis
from gdalembert.validation.diagnosis import Case, Finding, Parts, decompose
from gdalembert.validation.references import PinocchioTruth, Truth
from gdalembert.validation.report import Check
from gdalembert.validation.states import States, Torque, torque_of_callable

EXACT, CLEANED, SOLVED, LAW = 1e-12, 1e-9, 1e-9, 1e-11
"""Default tolerances: with ``clean=0``; with cleaning, and of functions; of forward dynamics; of the laws."""

DQ_DT, DV_DT = "state_derivative (dq/dt)", "state_derivative (a)"
"""The halves of xdot."""

ROUNDING, _SINGULAR = 1e-14, 1e12


class Pair(NamedTuple):
    """A quantity at n states, found and true: n, n × k or n × k × k.

    ``ease`` divides the error at each state; ``where`` (n booleans) leaves states out; ``names`` are those of the
    entries, if they are not the entries of v.
    """

    name: str
    part: str
    found: Array
    true: Array
    ease: Array | float = 1.0
    where: npt.NDArray[np.bool_] | None = None
    names: tuple[str, ...] | None = None


class Subject(ABC):
    """What is validated, and the truth it is held against."""

    name: str
    batch: int = 500

    def __init__(self, truth: Truth) -> None:
        self.truth, self.tree = truth, truth.tree
        self.torque: Torque

    @property
    def against(self) -> str:
        """What it is held against, in words."""
        return self.truth.title

    @property
    def not_checked(self) -> tuple[str, ...]:
        """What was left out so far, and why."""
        return ()

    @abstractmethod
    def pairs(self, states: States) -> Iterator[Pair]:
        """All quantities at some states."""

    @abstractmethod
    def tolerance(self, name: str) -> float:
        """The default tolerance of a quantity."""

    @abstractmethod
    def diagnose(self, failed: Mapping[str, Check], states: States) -> tuple[str, ...]:
        """Sentences about what is wrong."""

    def names(self, pair: Pair) -> tuple[str, ...]:
        """A name for each entry of a vector, row or column."""
        if pair.names is not None:
            return pair.names
        return self.truth.names_of_q if pair.name == DQ_DT else self.truth.names

    def case(self, states: States, failed: Mapping[str, Check]) -> Case:
        """What a diagnosis goes by."""
        return self.truth.case(states, max(CLEANED, *(check.tolerance for check in failed.values())))


def subject_of(candidate: object, model: pin.Model, tree: Tree) -> Subject:
    """Take a candidate as what it is.

    Raises:
        ArgumentTypeError: if it is nothing that can be validated.
        ArgumentError: if it does not fit the model.
    """
    if not isinstance(candidate, Dynamics):
        return TorqueSubject(candidate, PinocchioTruth(model, tree))
    own = candidate.tree
    if (own.nq, own.nv) != (tree.nq, tree.nv):
        raise ArgumentError(
            f"the candidate was made for {own.name!r} with nq = {own.nq}, nv = {own.nv}; "
            f"{tree.name!r} has nq = {tree.nq}, nv = {tree.nv}"
        )
    return DynamicsSubject(candidate, PinocchioTruth(model, tree, spring_torque(candidate)))


def spring_torque(dynamics: Dynamics) -> Callable[[Array], Array] | None:
    """That of the springs (n × nv) at n configurations; ``None`` without springs."""
    if not dynamics.springs:
        return None
    (q,) = symbols(q=dynamics.tree.nq).values()
    torque = ca.Function("springs", [q], [ca.densify(dynamics.spring_torque(q))])
    return BatchFunction(torque, dynamics.tree.nv)


class TorqueSubject(Subject):
    """A Function or callable (q, v, a) → tau."""

    def __init__(self, candidate: object, truth: Truth) -> None:
        super().__init__(truth)
        tree = self.tree
        if isinstance(candidate, ca.Function):
            self.name = candidate.name()
            _check_function(candidate, tree)
            self.torque = BatchFunction(candidate, tree.nv)
        elif isinstance(candidate, type) or not callable(candidate):
            raise ArgumentTypeError(_not_a_candidate(candidate))
        else:
            self.name = getattr(candidate, "__name__", type(candidate).__name__)
            _check_signature(candidate)
            self.torque = torque_of_callable(candidate, tree.nv)
            self.batch = 20  # so that progress is seen

    def pairs(self, states: States) -> Iterator[Pair]:
        found, (_, truth) = decompose(self.torque, states), self.truth.parts(states)
        yield Pair("tau", "tau", found.tau, truth.tau)
        yield Pair("M", "mass matrix", found.mass, truth.mass)
        yield Pair("C v", "velocity terms", found.velocity, truth.velocity)
        yield Pair("g", "gravity", found.gravity, truth.gravity)
        yield Pair("tau = M a + C v + g", "tau", found.tau, found.sum(states.a))

    def tolerance(self, name: str) -> float:
        return CLEANED

    def diagnose(self, failed: Mapping[str, Check], states: States) -> tuple[str, ...]:
        findings = diagnosis.explain(decompose(self.torque, states), self.case(states, failed))
        return tuple(finding.text for finding in findings)


def _check_function(function: ca.Function, tree: Tree) -> None:
    name = f"the Function {function.name()!r}"
    inputs, wanted = function.name_in(), ["q", "v", "a"]
    if function.n_in() != 3 or "tau" in inputs or (sorted(inputs) == sorted(wanted) and inputs != wanted):
        raise ArgumentError(f"{name} takes ({', '.join(inputs)}); it must take (q, v, a)")
    if function.n_out() != 1:
        raise ArgumentError(f"{name} has {function.n_out()} outputs; it must have one, tau")
    if function.has_free():
        raise ArgumentError(f"{name} has free variables: {', '.join(function.get_free())}; give them values")
    shapes = [function.size_in(k) for k in range(3)] + [function.size_out(0)]
    for what, (rows, columns), n in zip((*wanted, "tau"), shapes, (tree.nq, *[tree.nv] * 3), strict=True):
        if (rows, columns) != (n, 1):
            raise ArgumentError(f"{name}: {what} is {rows} × {columns}; for {tree.name!r} it must be {n} × 1")


def _check_signature(candidate: Callable[..., object]) -> None:
    try:
        signature = inspect.signature(candidate)
    except (TypeError, ValueError):  # made in another language
        return
    try:
        signature.bind(0, 0, 0)
    except TypeError:
        raise ArgumentError(f"the candidate takes {signature}; it must take (q, v, a)") from None


def _not_a_candidate(candidate: object) -> str:
    if isinstance(candidate, type):
        return f"the candidate is the class {candidate.__name__}; make an object of it: {candidate.__name__}(model)"
    return f"cannot validate {type(candidate).__name__}; give a Dynamics, or a Function or callable (q, v, a) -> tau"


_SYMMETRIC, _POSITIVE, _SKEW = "M symmetric", "M positive definite", "dM/dt - 2C skew"

FOLLOWS: dict[str, tuple[str, ...]] = {
    "nle": ("inverse_dynamics",),
    _SYMMETRIC: ("mass_matrix",),
    _POSITIVE: ("mass_matrix",),
    _SKEW: ("mass_matrix", "coriolis_matrix"),
    "forward_dynamics": ("inverse_dynamics", "mass_matrix"),
    DV_DT: ("forward_dynamics",),
    "kinetic_energy": ("mass_matrix",),
    "potential_energy": ("generalized_gravity",),
}
"""What is no news when one of those fails."""

OTHERWISE: dict[str, str] = {
    _SYMMETRIC: "mass matrix is not symmetric",
    _POSITIVE: "mass matrix is not positive definite",
    _SKEW: "C v is right but dM/dt − 2C is not skew: C is not the matrix of the trace form (of Christoffel's symbols)",
    "forward_dynamics": "a is not the one that inverse_dynamics, which is right, made tau from",
    DV_DT: "a is wrong, though forward_dynamics is right",
    DQ_DT: "dq/dt is not the rate of q that v stands for",
    "kinetic_energy": "kinetic energy is not ½ v·M v, though mass_matrix is right",
    "potential_energy": "dV/dt is not g·v, though generalized_gravity is right",
}


class DynamicsSubject(Subject):
    """A Dynamics, with all its Functions.

    ``follows`` says of a check which others make it no news; ``otherwise`` what its failure means without an
    explanation.
    """

    follows = FOLLOWS
    otherwise = OTHERWISE

    def __init__(self, dynamics: Dynamics, truth: Truth) -> None:
        super().__init__(truth)
        nq, nv = self.tree.nq, self.tree.nv
        self.name = getattr(dynamics, "name", type(dynamics).__name__)
        self._exact = dynamics.clean == 0
        # a handful of cleaned constants may add up
        self._noise = max(ROUNDING, 10 * dynamics.clean if dynamics.changes else 0.0)
        self._missing: list[str] = []
        self._states = self._singular = 0
        shapes: dict[str, tuple[int, ...]] = {
            "inverse_dynamics": (nv,),
            "mass_matrix": (nv, nv),
            "nle": (nv,),
            "generalized_gravity": (nv,),
            "coriolis_matrix": (nv, nv),
            "forward_dynamics": (nv,),
            "state_derivative": (nq + nv,),
            "kinetic_energy": (),
        }
        self._functions: dict[str, BatchFunction] = {}
        for name, shape in shapes.items():
            try:
                function = built(dynamics, name)
            except UnsupportedError as error:
                self._missing.append(f"{name}: {error}")
                continue
            self._functions[name] = batched(function, name, shape)
        q, v = symbols(q=nq, v=nv).values()
        potential = built(dynamics, "potential_energy")
        power = directional_derivative(potential(q), q, self.tree.configuration_rate(q, v))
        rate = dynamics.mass_matrix_rate(q, v)
        self._power = BatchFunction(ca.Function("power", [q, v], [ca.densify(power)]))
        self._rate = BatchFunction(ca.Function("mass_matrix_rate", [q, v], [ca.densify(rate)]), nv, nv)
        self.torque = self._functions["inverse_dynamics"]

    @property
    def not_checked(self) -> tuple[str, ...]:
        if not self._singular:
            return tuple(self._missing)
        count = f"{self._singular} of {self._states} states"
        return (*self._missing, f"forward_dynamics and {DV_DT} at {count}, where M is singular (cond(M) > 1e12)")

    def tolerance(self, name: str) -> float:
        if name in (_SYMMETRIC, _POSITIVE, _SKEW):
            return LAW
        if name in ("forward_dynamics", DV_DT, DQ_DT):
            return SOLVED
        return EXACT if self._exact else CLEANED

    def pairs(self, states: States) -> Iterator[Pair]:
        f, q, v, a = self._functions, states.q, states.v, states.a
        free, truth = self.truth.parts(states)
        mass = f["mass_matrix"](q)
        smallest, largest = eigenvalues(self._scaled(mass, truth.mass))
        condition = _condition(truth.mass)
        regular = condition <= _SINGULAR
        self._states += len(states)
        self._singular += int(np.sum(~regular)) if "forward_dynamics" in f else 0
        yield Pair("inverse_dynamics", "tau", self.torque(q, v, a), truth.tau)
        yield Pair("mass_matrix", "mass matrix", mass, truth.mass)
        yield Pair("nle", "velocity terms and gravity", f["nle"](q, v), truth.nle)
        yield Pair("generalized_gravity", "gravity", f["generalized_gravity"](q), free.gravity)
        if "coriolis_matrix" in f:
            coriolis = f["coriolis_matrix"](q, v)
            yield Pair("coriolis_matrix", "velocity terms", times(coriolis, v), free.velocity)
        if "forward_dynamics" in f:
            ease = self._ease(condition, truth, a)
            yield Pair("forward_dynamics", "forward dynamics", f["forward_dynamics"](q, v, truth.tau), a, ease, regular)
        if "state_derivative" in f:
            u, a_of_u = self._driven(truth, a, regular)
            rate, a_too = np.split(f["state_derivative"](np.hstack([q, v]), u), [self.tree.nq], axis=1)
            yield Pair(DQ_DT, "kinematics", rate, self.truth.rates(states))
            yield Pair(DV_DT, "forward dynamics", a_too, a_of_u, self._ease(condition, truth, a_of_u), regular)
        energy = 0.5 * np.sum(v * times(truth.mass, v), axis=1)
        yield Pair("kinetic_energy", "energy", f["kinetic_energy"](q, v), energy)
        power = np.sum(truth.gravity * v, axis=1)
        yield Pair(
            "potential_energy", "energy", self._power(q, v), power, at_stake(np.abs(truth.gravity * v).sum(1), power)
        )
        yield Pair(_SYMMETRIC, "law", mass, mass.transpose(0, 2, 1))
        yield Pair(_POSITIVE, "law", np.minimum(smallest, 0) / largest, np.zeros(len(states)))
        if "coriolis_matrix" in f:
            yield Pair(_SKEW, "law", coriolis + coriolis.transpose(0, 2, 1), self._rate(q, v))

    def _ease(self, condition: Array, truth: Parts, a: Array) -> Array:
        """What divides the error of accelerations: the digits that solving with M may lose."""
        return np.maximum(condition * self._noise / SOLVED, 1)

    def _driven(self, truth: Parts, a: Array, regular: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
        """u of the state derivative, and the accelerations that it makes."""
        return truth.tau, a

    def _scaled(self, mass: Array, truth: Array) -> Array:
        """The mass matrix of which the eigenvalues are taken."""
        return mass

    def diagnose(self, failed: Mapping[str, Check], states: States) -> tuple[str, ...]:
        return diagnosis.group(self._findings(failed, self.case(states, failed)))

    def _findings(self, failed: Mapping[str, Check], case: Case) -> Iterator[tuple[str, str]]:
        for name, check in failed.items():
            if found := list(self._explain(name, case)):
                yield from ((finding.text, name) for finding in found)
            elif not any(cause in failed for cause in self.follows.get(name, ())):
                where = f", worst at joint {' × '.join(map(repr, check.entry))}" if check.entry else ""
                yield f"{self.otherwise.get(name, 'wrong, with no simple cause')}{where}", name

    def _explain(self, name: str, case: Case) -> list[Finding]:
        f, q, v = self._functions, case.states.q, case.states.v
        if name == "inverse_dynamics":
            return diagnosis.explain(decompose(self.torque, case.states), case)
        if name == "mass_matrix":
            return diagnosis.explain_mass(f[name](q), case)
        if name == "generalized_gravity":
            return diagnosis.explain_gravity(f[name](q) + case.springs, case)
        if name == "nle":
            at_rest = f[name](q, np.zeros_like(v))
            return [
                *diagnosis.explain_velocity(f[name](q, v) - at_rest, case),
                *diagnosis.explain_gravity(at_rest, case),
            ]
        if name == "coriolis_matrix":
            return diagnosis.explain_velocity(times(f[name](q, v), v), case)
        if name == "kinetic_energy":
            return diagnosis.explain_kinetic(f[name](q, v), 0.5 * np.sum(v * times(case.truth.mass, v), axis=1), case)
        if name == "potential_energy":
            return diagnosis.explain_potential(self._power(q, v), np.sum(case.truth.gravity * v, axis=1), case)
        return []


def built(dynamics: Dynamics, name: str) -> ca.Function:
    """A Function of a Dynamics, whatever may go wrong in the user's code while it is built."""
    try:
        function: ca.Function = getattr(dynamics, name)
    except GdalembertError:
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
        raise ArgumentError(f"the candidate's {name} cannot be built: {reason}") from error
    return function


def batched(function: ca.Function, name: str, shape: tuple[int, ...]) -> BatchFunction:
    wanted = (*shape, 1, 1)[:2]
    if tuple(function.size_out(0)) != wanted:
        given = " × ".join(map(str, function.size_out(0)))
        raise ArgumentError(f"the candidate's {name} gives {given} numbers; it must give {wanted[0]} × {wanted[1]}")
    return BatchFunction(function, *shape)


def at_stake(sum_of_powers: Array, power: Array) -> Array:
    """What makes the error of a power relative to the sum of |powers| that it consists of."""
    return np.asarray(np.maximum(1, sum_of_powers) / np.maximum(1, np.abs(power)))


def times(matrix: Array, vector: Array) -> Array:
    """Matrix times vector at each state."""
    return np.asarray(np.einsum("nij,nj->ni", matrix, vector))


def eigenvalues(matrices: Array) -> tuple[Array, Array]:
    """The smallest and the largest of each symmetric matrix (n × k × k); NaN of one that is not finite."""
    finite = np.isfinite(matrices).all(axis=(1, 2))
    values = np.full(matrices.shape[:2], math.nan)
    values[finite] = np.linalg.eigvalsh(matrices[finite])
    return values[:, 0], np.maximum(np.abs(values).max(axis=1), 1e-300)


def _condition(matrices: Array) -> Array:
    smallest, largest = eigenvalues(matrices)
    return np.asarray(largest / np.maximum(smallest, 1e-300))
