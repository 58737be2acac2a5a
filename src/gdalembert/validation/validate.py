"""A formulation, ours or yours, against Pinocchio's recursive Newton–Euler algorithm.

``pin.rnea`` is right for every joint type and every order of joints, so that it is the only dynamics of Pinocchio's
that is trusted here: g, h = C v and the columns of M are what it gives at rest, at a = 0, and at unit accelerations.
What cannot be compared with it is held against the laws of mechanics. Of a flexible arm Pinocchio knows nothing but
what it is undeformed: it is compared with a second computation besides (:mod:`gdalembert.validation.flexible_arm`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.flexible.flexible_arm import FlexibleArm
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.joints import Helical
from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array
from gdalembert.validation import diagnosis
from gdalembert.validation.flexible_arm import ArmSubject, SecondComputation, undeformed
from gdalembert.validation.report import Check, Report, State
from gdalembert.validation.states import States
from gdalembert.validation.subjects import Pair, Subject, subject_of

__all__ = ["Candidate", "Check", "Report", "State", "validate"]

Candidate = Dynamics | ca.Function | Callable[[Array, Array, Array], npt.ArrayLike]
"""What can be validated: a Dynamics, or anything (q, v, a) → tau."""

_STATES_OF_DIAGNOSIS = 64


def validate(
    candidate: Candidate,
    against: pin.Model | None = None,
    samples: int = 1000,
    seed: int = 0,
    tolerance: float | None = None,
    progress: bool = False,
) -> Report:
    """Compare a formulation with Pinocchio at random states, and check the laws that it must obey.

    States are q = ``pin.integrate(model, neutral, x)`` and v, a, with x, v, a normally distributed (rad, m, s; standard
    deviation 1). The same seed gives the same states, and more samples only add to them. Errors are relative:
    max|Δ| / max(1, max|reference|) at each state; what is not a finite number has the error inf.

    Of a :class:`~gdalembert.Dynamics`, every Function is compared (``coriolis_matrix`` by C v = h,
    ``forward_dynamics`` by the a that tau was made from, ``potential_energy`` by dV/dt = (g + springs)·v, relative to
    Σ |g_i v_i|, ``kinetic_energy`` with ½ v·M v, dq/dt in ``state_derivative`` with differences of ``pin.integrate``,
    good to 1e-11), and the laws: M symmetric, M positive definite (the error is how far its smallest eigenvalue lies
    below zero, relative to the largest), dM/dt = C + Cᵀ. Of any other candidate, tau is compared, and its parts as they
    can be told from outside: g = f(q, 0, 0), C v = f(q, v, 0) − g, columns of M = f(q, 0, e_j) − g, and that tau is
    their sum.

    Of a :class:`~gdalembert.FlexibleArm`, every Function is compared in the same way with a second
    computation of M, C v and g, the 4 × 4 recursion (of first-order kinematics the explicit equations, up to 30
    coordinates), with K q and damping v added: its states have modal coordinates of which each alone makes a slope of
    0.05 rad at some section, or that deflection by length (standard deviation; rates 20 times as large). Besides,
    ``elastic_energy`` is compared with ½ q·K q, ``terms`` with the blocks that they are, and the power of tau less that
    of the dampers with the rate of the energies. With modes and their rates zero and rotors turning with their joints,
    tau, M, nle and g of the joints are compared with ``pin.rnea`` of the model, in which undeformed beams stand for the
    bodies of flexible links.

    Args:
        candidate: a ``Dynamics``; a ``casadi.Function`` (q, v, a) → tau; or any callable that takes three NumPy
            vectors (nq, nv, nv) and gives nv numbers.
        against: the ``pin.Model`` to compare with; of an arm the one that it was made of, and without it all but the
            comparison with Pinocchio is done.
        samples: number of states. ``seed``: of the random generator, an integer from 0.
        tolerance: of all checks. By default 1e-12 for a ``Dynamics`` with ``clean=0`` and for the second computation
            of an arm, 1e-9 for others; 1e-9 for ``forward_dynamics`` and ``state_derivative``, whose error is divided
            by cond(M) δ / 1e-9 where that is above 1, δ being 1e-14, or 1e-10 after the default cleaning, and which
            are left out where cond(M) is above 1e12 (of an arm δ is 1e-14, and to cond(M) is added what rounding of the
            forces makes of the accelerations); 1e-11 for the laws, which hold to rounding whatever was cleaned.
        progress: print how far it is to stderr.

    Returns:
        A report: ``report.ok``, ``str(report)``, ``report.raise_for_failure()``, ``report.to_dict()``.

    Raises:
        ArgumentTypeError: if ``against`` is not a ``pin.Model``, or the candidate nothing that can be validated.
        ModelError: if the model holds numbers without a meaning.
        UnsupportedError: if a joint mimics a helical joint, where Pinocchio is wrong or crashes.
        ArgumentError: if the candidate does not fit the model, raises an exception, or another argument is no use.
    """
    tree = None if isinstance(candidate, FlexibleArm) and against is None else _tree_of(against)
    _check_arguments(samples, seed, tolerance, progress)
    subject = _subject_of(candidate, against, tree)
    worst: dict[str, _Worst] = {}
    looked_at = next(subject.truth.states(min(samples, _STATES_OF_DIAGNOSIS), seed, _STATES_OF_DIAGNOSIS))
    done = 0
    for states in subject.truth.states(samples, seed, subject.batch):
        for pair in subject.pairs(states):
            if pair.where is None or np.any(pair.where):
                own = subject.tolerance(pair.name) if tolerance is None else tolerance
                worst.setdefault(pair.name, _Worst(pair, own, subject.names(pair))).update(pair, states)
        done += len(states)
        if progress:
            _show(f"{subject.tree.name}: {subject.name}: {done} of {samples} states", last=done == samples)
    checks = tuple(w.check() for w in worst.values())
    return Report(
        model=subject.tree.name,
        candidate=subject.name,
        samples=samples,
        seed=seed,
        checks=checks,
        not_checked=subject.not_checked,
        diagnosis=_diagnose(subject, checks, looked_at),
        against=subject.against,
    )


def _subject_of(candidate: object, model: pin.Model, tree: Tree | None) -> Subject:
    if isinstance(candidate, FlexibleArm):
        rigid = None if tree is None else undeformed(candidate, model, tree)
        return ArmSubject(candidate, SecondComputation(candidate), rigid)
    assert tree is not None
    return subject_of(candidate, model, tree)


def _tree_of(model: object) -> Tree:
    if isinstance(model, Tree):
        raise ArgumentTypeError("against must be the pin.Model, got a Tree; Pinocchio's rnea needs the model")
    if model is None:
        raise ArgumentTypeError("against is None; give the pin.Model to compare with")
    tree = read_tree(model)
    for joint in tree.joints:
        if joint.scaling is not None and isinstance(joint.type, Helical):
            raise UnsupportedError(
                f"{tree.name}: joint {joint.name!r}: mimics a helical joint, whose pitch Pinocchio's rnea then loses; "
                "there is nothing to compare with"
            )
    return tree


def _check_arguments(samples: object, seed: object, tolerance: object, progress: object) -> None:
    for name, value, least in (("samples", samples, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise ArgumentTypeError(f"{name} must be an integer, not {type(value).__name__}")
        if value < least:
            raise ArgumentError(f"{name} is {value}; give at least {least}")
    if not isinstance(progress, bool):
        raise ArgumentTypeError(f"progress must be True or False, not {type(progress).__name__}")
    if tolerance is None:
        return
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float | np.number):
        raise ArgumentTypeError(f"tolerance must be a number, not {type(tolerance).__name__}")
    if not 0 < float(tolerance) < math.inf:
        raise ArgumentError(f"tolerance is {tolerance}; give a positive finite number")


def _show(line: str, last: bool) -> None:
    print(f"\r{line}", end="\n" if last else "", file=sys.stderr, flush=True)


class _Worst:
    """The worst of one quantity so far."""

    def __init__(self, pair: Pair, tolerance: float, names: tuple[str, ...]) -> None:
        self._name, self._part, self._tolerance, self._names = pair.name, pair.part, tolerance, names
        self._per_entry = np.zeros(pair.found.shape[1:])
        self._error = -1.0
        self._state: State
        self._entry: tuple[str, ...]

    def update(self, pair: Pair, states: States) -> None:
        """Take account of more states."""
        errors = _relative_errors(pair)
        if pair.where is not None:
            errors, states = errors[pair.where], states[pair.where]
        self._per_entry = np.maximum(self._per_entry, errors.max(axis=0))
        k, *entry = (int(i) for i in np.unravel_index(np.argmax(errors), errors.shape))
        if errors[k, *entry] > self._error:
            self._error = float(errors[k, *entry])
            self._entry = tuple(self._names[i] for i in entry)
            self._state = State(states.q[k], states.v[k], states.a[k])

    def check(self) -> Check:
        """The outcome."""
        per_joint: dict[str, float] = {}
        for index in np.ndindex(self._per_entry.shape):
            for name in (self._names[i] for i in index):
                per_joint[name] = max(per_joint.get(name, 0.0), float(self._per_entry[index]))
        entry = self._entry if self._error > 0 else ()
        return Check(self._name, self._part, self._error, self._tolerance, entry, per_joint, self._state)


def _relative_errors(pair: Pair) -> Array:
    """|Δ| / max(1, max|reference|), inf where a value is not finite; the shape of the values."""
    with np.errstate(invalid="ignore", over="ignore"):
        largest = np.abs(pair.true).reshape(len(pair.true), -1).max(axis=1)
        scale = np.where(np.isfinite(largest), np.maximum(1, largest), 1) * pair.ease
        errors = np.abs(pair.found - pair.true) / scale.reshape(-1, *[1] * (pair.found.ndim - 1))
    return np.where(np.isfinite(errors), errors, math.inf)


def _diagnose(subject: Subject, checks: tuple[Check, ...], states: States) -> tuple[str, ...]:
    """Sentences about the checks that failed, judged by the first states and those where they failed worst."""
    failed = {check.name: check for check in checks if not check.ok}
    large = {name: check for name, check in failed.items() if check.error > diagnosis.SMALL}
    if large:
        for check in large.values():
            states = states.join(States(check.state.q[None], check.state.v[None], check.state.a[None]))
        return subject.diagnose(large, states)
    if failed:
        worst = max(check.error for check in failed.values())
        return (
            f"differences are small, at most {worst:.1e}: rounding, or constants that are cleaned or rounded, "
            "rather than a wrong formula",
        )
    return ()
