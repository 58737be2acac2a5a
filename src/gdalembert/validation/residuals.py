"""Residuals: a quantity of the system under test beside that of the reference, judged by its tolerance."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from gdalembert.spatial.arrays import Array
from gdalembert.validation.report import Check, State
from gdalembert.validation.states import Mask, States

EXACT, AFTER_CLEANING, SOLVED, LAW = 1e-12, 1e-9, 1e-9, 1e-11
"""Default tolerances: with ``clean=0``; with cleaning, and of functions; of forward dynamics; of the laws."""


class Residual(NamedTuple):
    """A quantity at n states: n, n × k or n × k × k.

    Attributes:
        name: of the quantity, as ``"mass_matrix"``. ``part``: of the equation of motion, as ``"mass matrix"``.
        value: of the system under test. ``reference``: the value that it should have.
        tolerance: by default; of the relative error.
        tolerance_scale: the factor of the tolerance at each state (n); errors are divided by it.
        mask: which states are judged (n); by default all of them.
        names: of the entries along each axis; by default those of v.
        addends: the size of what adds up to the value at each state (n), where the sum may be much smaller.
    """

    name: str
    part: str
    value: Array
    reference: Array
    tolerance: float
    tolerance_scale: Array | float = 1.0
    mask: Mask | None = None
    names: tuple[str, ...] | None = None
    addends: Array | float = 1.0

    @property
    def is_judged(self) -> bool:
        """Whether any state is."""
        return self.mask is None or bool(np.any(self.mask))

    def errors(self) -> Array:
        """|value − reference| / max(1, max|reference|, addends) / tolerance_scale, in the shape of the value.

        inf where a value is not finite; only the states that are judged.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            largest = np.abs(self.reference).reshape(len(self.reference), -1).max(axis=1)
            scale = np.where(np.isfinite(largest), np.maximum(1, largest), 1)
            scale = np.maximum(scale, self.addends) * self.tolerance_scale
            errors = np.abs(self.value - self.reference) / scale.reshape(-1, *[1] * (self.value.ndim - 1))
        errors = np.where(np.isfinite(errors), errors, math.inf)
        return errors if self.mask is None else errors[self.mask]


class WorstResiduals:
    """The worst residual of each quantity over all states.

    Args:
        names: of the entries of v.
        tolerance: of all checks, instead of the residuals' own.
        p: values of the parameters, if there are any.
    """

    def __init__(self, names: tuple[str, ...], tolerance: float | None, p: Array | None = None) -> None:
        self._names, self._tolerance, self._p = names, tolerance, p
        self._worst: dict[str, _Worst] = {}

    def update(self, residuals: Iterable[Residual], states: States) -> None:
        """Take more states into account."""
        for residual in residuals:
            if residual.is_judged:
                if residual.name not in self._worst:
                    self._worst[residual.name] = _Worst(residual, self._names, self._tolerance, self._p)
                self._worst[residual.name].update(residual, states)

    def checks(self) -> tuple[Check, ...]:
        """The outcome, in the order in which the residuals came."""
        return tuple(worst.check() for worst in self._worst.values())


def worst_of(given: Iterable[Iterable[Check]]) -> tuple[Check, ...]:
    """Each check once, with the largest of its errors."""
    by_name: dict[str, list[Check]] = {}
    for check in chain.from_iterable(given):
        by_name.setdefault(check.name, []).append(check)
    return tuple(_worst_of(same) for same in by_name.values())


def _worst_of(same: list[Check]) -> Check:
    per_joint = {name: max(check.per_joint[name] for check in same) for name in same[0].per_joint}
    return replace(max(same, key=lambda check: check.error), per_joint=per_joint)


class _Worst:
    """The worst residual of one quantity so far."""

    def __init__(self, residual: Residual, names: tuple[str, ...], tolerance: float | None, p: Array | None) -> None:
        self._name, self._part, self._p = residual.name, residual.part, p
        self._names = names if residual.names is None else residual.names
        self._tolerance = residual.tolerance if tolerance is None else tolerance
        self._per_entry = np.zeros(residual.value.shape[1:])
        self._error = -1.0
        self._state: State
        self._entry: tuple[str, ...]

    def update(self, residual: Residual, states: States) -> None:
        errors = residual.errors()
        judged = states if residual.mask is None else states[residual.mask]
        self._per_entry = np.maximum(self._per_entry, errors.max(axis=0))
        k, *entry = (int(i) for i in np.unravel_index(np.argmax(errors), errors.shape))
        if errors[k, *entry] > self._error:
            self._error = float(errors[k, *entry])
            self._entry = tuple(self._names[i] for i in entry)
            self._state = State(judged.q[k], judged.v[k], judged.a[k], self._p)

    def check(self) -> Check:
        per_joint: dict[str, float] = {}
        for index in np.ndindex(self._per_entry.shape):
            for name in (self._names[i] for i in index):
                per_joint[name] = max(per_joint.get(name, 0.0), float(self._per_entry[index]))
        entry = self._entry if self._error > 0 else ()
        return Check(self._name, self._part, self._error, self._tolerance, entry, per_joint, self._state)


def power_scale(sum_of_powers: Array, power: Array) -> Array:
    """The tolerance scale of a power whose error is to be relative to the sum of its |addends|."""
    return np.asarray(np.maximum(1, sum_of_powers) / np.maximum(1, np.abs(power)))


def eigenvalues(matrices: Array) -> tuple[Array, Array]:
    """The smallest, and the largest in magnitude, of each symmetric matrix (n × k × k); NaN if it is not finite."""
    finite = np.isfinite(matrices).all(axis=(1, 2))
    values = np.full(matrices.shape[:2], math.nan)
    values[finite] = np.linalg.eigvalsh(matrices[finite])
    return values[:, 0], np.maximum(np.abs(values).max(axis=1), 1e-300)


def condition_numbers(matrices: Array) -> Array:
    """Of each symmetric positive definite matrix (n × k × k)."""
    smallest, largest = eigenvalues(matrices)
    return np.asarray(largest / np.maximum(smallest, 1e-300))
