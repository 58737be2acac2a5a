"""The outcome of a validation: residuals, judged by their tolerances, checks, and a report that prints as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from gdalembert.errors import UnknownNameError, ValidationError
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief, aligned, as_json, html_table
from gdalembert.validation.states import Mask, States, largest

EXACT, AFTER_CLEANING, SOLVED, LAW = 1e-12, 1e-9, 1e-9, 1e-11
"""Default tolerances: with ``clean=0``; with cleaning, and of functions; of forward dynamics; of the laws."""


_HEAD = ("quantity", "worst error", "tolerance", "worst joint", "")


@dataclass(frozen=True, eq=False)
class State(Brief):
    """The vectors q (nq), v (nv) and a (nv) of one random state, and p (n_p) of a system with parameters."""

    q: Array
    v: Array
    a: Array
    p: Array | None = None

    def to_dict(self) -> dict[str, list[float]]:
        """The vectors as lists."""
        return {name: values for name, values in as_json(self).items() if values is not None}


@dataclass(frozen=True, eq=False)
class Check(Brief):
    """A quantity or law, at its worst over all states.

    Attributes:
        name: that of the quantity, as ``"mass_matrix"``.
        part: the part of the equations of motion that it belongs to, as ``"mass matrix"``.
        error: the largest relative error, as :func:`~gdalembert.validate` defines it; inf where a value is not finite.
        tolerance: the largest error with which the check is ``ok``.
        entry: names of the joints of the worst entry: none for a scalar, one for a vector, row and column for a matrix.
        per_joint: the largest relative error in the entries (rows and columns) of each joint; empty for a scalar.
        state: the state of the largest error.
    """

    name: str
    part: str
    error: float
    tolerance: float
    entry: tuple[str, ...]
    per_joint: Mapping[str, float]
    state: State

    @property
    def ok(self) -> bool:
        """True if the error is within the tolerance."""
        return self.error <= self.tolerance

    @property
    def joint(self) -> str | None:
        """The joint with the largest error; ``None`` for a scalar, or if there is no error at all."""
        return self.entry[0] if self.entry else None

    def to_dict(self) -> dict[str, Any]:
        """Everything as ``json.dumps`` takes it; an infinite error is the string ``"inf"``."""
        return {**as_json(self), "ok": self.ok, "joint": self.joint, "state": self.state.to_dict()}


@dataclass(frozen=True, eq=False)
class Report(Brief):
    """The outcome of :func:`~gdalembert.validation.validate.validate`; ``str(report)`` is a table.

    Attributes:
        model: name of the robot. ``system``: name of the system under test.
        samples: number of random states. ``seed``: that of their generator.
        checks: quantities and laws.
        not_checked: what could not be checked, and why.
        diagnosis: if a check failed, sentences about what is wrong and where.
        against: what the system was compared with, in words.
        p: the values of the parameters (n_p each) that the states were shared out over; none without parameters.
    """

    model: str
    system: str
    samples: int
    seed: int
    checks: tuple[Check, ...]
    not_checked: tuple[str, ...]
    diagnosis: tuple[str, ...]
    against: str = "Pinocchio"
    p: tuple[Array, ...] = ()

    @property
    def ok(self) -> bool:
        """True if every check is ok."""
        return all(check.ok for check in self.checks)

    def __getitem__(self, name: str) -> Check:
        """The check of that name; an unknown one raises an UnknownNameError."""
        by_name = {check.name: check for check in self.checks}
        if name not in by_name:
            raise UnknownNameError("check", name, by_name)
        return by_name[name]

    def __str__(self) -> str:
        lines = [self._head(), *aligned([_HEAD, *self._rows()], left=(0, 3, 4))]
        lines += [f"  not checked: {reason}" for reason in self.not_checked]
        if not self.ok:
            failed = sum(not check.ok for check in self.checks)
            lines += [f"FAILED: {failed} of {len(self.checks)} checks", *(f"  - {text}" for text in self.diagnosis)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        passed = sum(check.ok for check in self.checks)
        of_all = f"{passed} of {len(self.checks)} checks on {self.samples} states"
        return f"Report({self.model!r}, {self.system!r}, {'ok' if self.ok else 'FAILED'}: {of_all})"

    def _repr_html_(self) -> str:
        notes = [*(f"not checked: {reason}" for reason in self.not_checked), *self.diagnosis]
        title = f"{self._head()}: {'ok' if self.ok else 'FAILED'}"
        return html_table(title, _HEAD, self._rows(), notes)

    def _at_p(self) -> str:
        """Values of p, in words."""
        if not self.p:
            return ""
        others = len(self.p) - 1
        return " at one p" if not others else f" at p of the model and {others} random p"

    def _head(self) -> str:
        states = "1 state" if self.samples == 1 else f"{self.samples} states"
        return f"{self.model}: {self.system} against {self.against} on {states}{self._at_p()} (seed {self.seed})"

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (c.name, f"{c.error:.1e}", f"{c.tolerance:.0e}", " × ".join(c.entry) or "–", "ok" if c.ok else "FAIL")
            for c in self.checks
        ]

    def raise_for_failure(self) -> None:
        """Raise a :class:`~gdalembert.errors.ValidationError` with this report unless every check is ok."""
        if not self.ok:
            raise ValidationError(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``json.dumps`` takes it."""
        return {**as_json(self), "ok": self.ok, "checks": [check.to_dict() for check in self.checks]}


class Residual(NamedTuple):
    """A quantity at n states: n, n × k or n × k × k.

    Attributes:
        name: that of the quantity, as ``"mass_matrix"``. ``part``: its part of the equation of motion, as ``"mass
            matrix"``.
        value: that of the system under test. ``reference``: the value that it should have.
        tolerance: the default tolerance of the relative error.
        tolerance_scale: the factor of the tolerance at each state (n); errors are divided by it.
        mask: which states are judged (n); by default all of them.
        names: names of the entries along each axis; by default those of v.
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

    def errors(self) -> Array:
        """The errors |value − reference| / max(1, max|reference|, addends) / tolerance_scale, shaped as the value.

        inf where a value is not finite; only the states that are judged.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            size = largest(self.reference)
            scale = np.maximum(np.where(np.isfinite(size), np.maximum(1, size), 1), self.addends) * self.tolerance_scale
            errors = np.abs(self.value - self.reference) / scale.reshape(-1, *[1] * (self.value.ndim - 1))
        errors = np.where(np.isfinite(errors), errors, math.inf)
        return errors if self.mask is None else errors[self.mask]

    def check(self, states: States, names: tuple[str, ...], tolerance: float | None, p: Array | None) -> Check:
        """The largest error at the states, beside the tolerance that is given, or the residual's own.

        Args:
            names: names of the entries of v.
            p: values of the parameters, if there are any.
        """
        errors, judged = self.errors(), states if self.mask is None else states[self.mask]
        names, per_entry = names if self.names is None else self.names, errors.max(axis=0)
        k, *worst = (int(i) for i in np.unravel_index(np.argmax(errors), errors.shape))
        error = float(errors[k, *worst])
        per_joint: dict[str, float] = {}
        for index in np.ndindex(per_entry.shape):
            for name in (names[i] for i in index):
                # A joint of several entries, and a row and a column of a matrix, have one number: their largest.
                per_joint[name] = max(per_joint.get(name, 0.0), float(per_entry[index]))
        entry = tuple(names[i] for i in worst) if error > 0 else ()
        state = State(judged.q[k], judged.v[k], judged.a[k], p)
        allowed = self.tolerance if tolerance is None else tolerance
        return Check(self.name, self.part, error, allowed, entry, per_joint, state)


def worst_of(runs: Iterable[Iterable[Check]]) -> tuple[Check, ...]:
    """Each check once, with the largest of its errors."""
    by_name: dict[str, list[Check]] = {}
    for check in chain.from_iterable(runs):
        by_name.setdefault(check.name, []).append(check)
    return tuple(
        replace(
            max(same, key=lambda check: check.error),
            per_joint={name: max(check.per_joint[name] for check in same) for name in same[0].per_joint},
        )
        for same in by_name.values()
    )


def listed(phrases: Iterable[str], most: int = 8) -> str:
    """Phrases separated by commas, only so many of them."""
    items = list(phrases)
    return ", ".join(items) if len(items) <= most else f"{', '.join(items[:most])} and {len(items) - most} more"
