"""Systems under test: what each of them has in common, and the simplest one, a torque function (q, v, a) → tau."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from time import perf_counter

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.model.tree import Tree
from gdalembert.spatial.arguments import numbers, vector
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import BatchFunction
from gdalembert.validation import diagnosis
from gdalembert.validation.references import Reference, ReferenceSample
from gdalembert.validation.report import AFTER_CLEANING, Check, Residual
from gdalembert.validation.states import States, Torque, decompose


class SystemUnderTest(ABC):
    """What is validated, and the reference that it is compared with.

    Attributes:
        name: in the report. ``batch``: how many states are evaluated at a time.
        torque: tau at n states.
        p: values of the parameters, if it has any. ``parameter_names``: of the entries of p.
    """

    name: str
    torque: Torque
    batch: int = 500
    p: Array | None = None
    parameter_names: tuple[str, ...] = ()

    def __init__(self, reference: Reference) -> None:
        self.reference, self.tree = reference, reference.tree

    def changed(self, p: Array) -> SystemUnderTest:
        """The system under test at other values of its parameters, beside the reference that has them."""
        raise UnsupportedError(f"{self.name}: no reference at other values of p")

    def effort(self, samples: int) -> tuple[str, float]:
        """Effort of validating, in words and in seconds; nothing for what is fast."""
        return "", 0.0

    @property
    def against(self) -> str:
        """What it is compared with, in words."""
        return self.reference.title

    @property
    def not_checked(self) -> tuple[str, ...]:
        """What has not been checked so far, and why."""
        return ()

    @abstractmethod
    def residuals(self, states: States) -> Iterator[Residual]:
        """Every quantity at n states, beside that of the reference."""

    @abstractmethod
    def diagnose(self, failed: Mapping[str, Check], sample: ReferenceSample) -> tuple[str, ...]:
        """Sentences about the checks that failed, by name."""


class TorqueFunction(SystemUnderTest):
    """A ``casadi.Function`` or a Python callable (q, v, a) → tau, or (q, v, a, p) → tau at one p.

    Raises:
        ArgumentTypeError: if it is neither, or p does not consist of numbers.
        ArgumentError: if it does not fit the reference, or p not the system.
    """

    def __init__(self, system: object, reference: Reference, p: object = None) -> None:
        super().__init__(reference)
        self._is_callable = False
        if isinstance(system, ca.Function):
            self.name = system.name()
            _check_function(system, self.tree, p is not None)
            self.p = None if p is None else vector("validate: p", p, system.size1_in(3))
            self.torque = BatchFunction(system, self.tree.nv).at(self.p)
        elif isinstance(system, type) or not callable(system):
            raise ArgumentTypeError(_not_a_system(system))
        else:
            self.name = getattr(system, "__name__", type(system).__name__)
            _check_signature(system, p is not None)
            self.p = None if p is None else numbers("validate: p", p).ravel()
            self.torque = _torque_of_callable(system, self.tree, self.p)
            self.batch = 20  # slow enough for progress to be seen
            self._is_callable = True

    def effort(self, samples: int) -> tuple[str, float]:
        """Effort of a Python callable, by the time of its first call, whose result is kept."""
        if not self._is_callable:
            return super().effort(samples)
        first = next(self.reference.states(1, 0, 1))
        start = perf_counter()
        self.torque(first.q, 0 * first.v, 0 * first.a)
        calls = samples * (self.tree.nv + 3)
        seconds = calls * (perf_counter() - start)
        return f"at most {calls} calls, about {seconds:.2g} s", seconds

    def residuals(self, states: States) -> Iterator[Residual]:
        own, (_, reference) = decompose(self.torque, states), self.reference.terms(states)
        sizes = reference.sizes(states, self.tree.gravity)
        yield Residual("tau", "tau", own.tau, reference.tau, AFTER_CLEANING, addends=sizes.motion)
        yield Residual("M", "mass matrix", own.mass_matrix, reference.mass_matrix, AFTER_CLEANING)
        yield Residual(
            "C v", "velocity terms", own.velocity, reference.velocity, AFTER_CLEANING, addends=sizes.velocity
        )
        yield Residual("g", "gravity", own.gravity, reference.gravity, AFTER_CLEANING)
        yield Residual("tau = M a + C v + g", "tau", own.tau, own.sum(states.a), AFTER_CLEANING, addends=sizes.motion)

    def diagnose(self, failed: Mapping[str, Check], sample: ReferenceSample) -> tuple[str, ...]:
        explanations = diagnosis.explain_torque(decompose(self.torque, sample.states), sample)
        return tuple(explanation.text for explanation in explanations)


_CALLS_KEPT = 2**16

_GIVE_P = "give p=, the values that the model has"


def _check_function(function: ca.Function, tree: Tree, has_p: bool) -> None:
    name = f"the Function {function.name()!r}"
    inputs, wanted = function.name_in(), ["q", "v", "a"] + ["p"] * has_p
    if "wrenches" in inputs:
        raise ArgumentError(
            f"{name} takes ({', '.join(inputs)}); give the Dynamics, or its Function of dyn.under(), without wrenches"
        )
    if not has_p and function.n_in() == 4 and inputs[:3] in (wanted, ["i0", "i1", "i2"]):
        raise ArgumentError(f"{name} takes ({', '.join(inputs)}); {_GIVE_P}")
    if function.n_in() != len(wanted) or "tau" in inputs or (sorted(inputs) == sorted(wanted) and inputs != wanted):
        raise ArgumentError(f"{name} takes ({', '.join(inputs)}); it must take ({', '.join(wanted)})")
    if function.n_out() != 1:
        raise ArgumentError(f"{name} has {function.n_out()} outputs; it must have one, tau")
    if function.has_free():
        raise ArgumentError(f"{name} has free variables: {', '.join(function.get_free())}; give them values")
    shapes = [function.size_in(k) for k in range(3)] + [function.size_out(0)]
    for what, (rows, columns), n in zip(("q", "v", "a", "tau"), shapes, (tree.nq, *[tree.nv] * 3), strict=True):
        if (rows, columns) != (n, 1):
            raise ArgumentError(f"{name}: {what} is {rows} × {columns}; for {tree.name!r} it must be {n} × 1")


def _check_signature(system: Callable[..., object], has_p: bool) -> None:
    try:
        signature = inspect.signature(system)
    except (TypeError, ValueError):  # written in another language
        return
    if not _takes(signature, 4 if has_p else 3):
        if not has_p and _takes(signature, 4):
            raise ArgumentError(f"the system under test takes {signature}; {_GIVE_P}")
        wanted = "(q, v, a, p)" if has_p else "(q, v, a)"
        raise ArgumentError(f"the system under test takes {signature}; it must take {wanted}")


def _takes(signature: inspect.Signature, number: int) -> bool:
    try:
        signature.bind(*[0] * number)
    except TypeError:
        return False
    return True


def _not_a_system(system: object) -> str:
    if isinstance(system, type):
        return f"the system under test is the class {system.__name__}; give an object of it: {system.__name__}(model)"
    return f"cannot validate {type(system).__name__}; give a Dynamics, or a Function or callable (q, v, a) -> tau"


def _torque_of_callable(system: Callable[..., npt.ArrayLike], tree: Tree, p: Array | None) -> Torque:
    """tau of a Python callable of vectors, called once for each state.

    An exception or a wrong result becomes an ArgumentError.
    """
    last, nq, nv = () if p is None else (p,), tree.nq, tree.nv

    def one(q: Array, v: Array, a: Array) -> Array:
        at = f"at q = {q.tolist()}, v = {v.tolist()}, a = {a.tolist()}"
        try:
            given = system(q.copy(), v.copy(), a.copy(), *(x.copy() for x in last))
        except Exception as error:
            raise ArgumentError(f"the system under test raised {type(error).__name__}: {error}; {at}") from error
        try:
            values = np.array(given)
            if given is None or values.dtype.kind == "c":  # NumPy would take them for NaN, and for their real part
                raise TypeError
            tau = values.astype(float)
        except Exception:
            raise ArgumentError(
                f"the system under test returned {type(given).__name__}, not {nv} numbers, {at}"
            ) from None
        if tau.size != nv or max(tau.shape, default=0) != nv:
            raise ArgumentError(f"the system under test returned the shape {tau.shape}, not {nv} numbers, {at}")
        return tau.ravel()

    @lru_cache(maxsize=_CALLS_KEPT)
    def known(state: bytes) -> Array:
        q, v, a = np.split(np.frombuffer(state), [nq, nq + nv])
        return one(q, v, a)

    def torque(q: Array, v: Array, a: Array) -> Array:
        states = np.hstack([q, v, a]) + 0.0  # −0 is 0
        return np.array([known(state.tobytes()) for state in states])

    return torque
