"""Parts of a row of stages: its variables, Functions of some of them, and what is fixed or bounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.nlp.entries import NOWHERE, Indices, Label
from gdalembert.spatial.arrays import Array

Mask = npt.NDArray[np.bool_]
Limit = Array | ca.MX
"""A number for each row, or an expression of p."""


class Variables(NamedTuple):
    """The variables x of a program, which it has as x = Ψ s z, entry by entry of x.

    Attributes:
        groups, intervals: what repeats in each interval, and the interval.
        copies: the entry whose variable each has: its own, or of a constant that of the first instant.
        scales: s. ``shapes``: Ψ, the identity but for natural modes in the place of modal coordinates.
        lower, upper: simple bounds; none where Ψ mixes entries.
        names: of the bounds of each entry.
    """

    groups: Indices
    intervals: Indices
    copies: Indices
    scales: Array
    shapes: ca.DM
    lower: Array
    upper: Array
    names: Sequence[str]


class FixedEntries(NamedTuple):
    """Entries of x that a solve fixes, at values of p.

    ``measured``: whether they replace the bounds of these entries, which they may violate.
    """

    label: Label
    entries: Indices
    value: ca.MX
    measured: bool


class BoundedEntries(NamedTuple):
    """Entries of x, each once, of which rows are linear functions: lower ≤ x ≤ upper.

    Attributes:
        labels: what the rows stand for.
        entries: of x. ``lower``, ``upper``: of p.
        unit: by how much a row changes with its entry.
        is_equation: whether lower and upper are the same.
    """

    labels: Sequence[Label]
    entries: Indices
    lower: ca.MX
    upper: ca.MX
    unit: float
    is_equation: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """Rows of a stage at all its places.

    Attributes:
        label: what they stand for. ``labels``: of single rows.
        lower, upper: limits, numbers or expressions of p; equal ones make equations.
        transform: the matrix that they are multiplied by, for a solver.
        left_out: which rows are none of the program (rows × places).
        next_state: the entries of x from which they are subtracted (rows × places): the gap between two intervals.
        of_step: whether they are the equations of a step, as many as it has unknowns.
        summed: whether they are added to all others that are, of any term and place, as their limits are.
    """

    label: Label
    lower: Limit
    upper: Limit
    transform: ca.DM
    labels: Sequence[Label] = ()
    left_out: Mask | None = None
    next_state: Indices | None = None
    of_step: bool = False
    summed: bool = False

    @classmethod
    def unscaled(
        cls, label: Label, lower: Limit, upper: Limit, *, left_out: Mask | None = None, labels: Sequence[Label] = ()
    ) -> Rows:
        """Rows that a solver takes as they are."""
        eye = ca.DM.eye(lower.shape[0])
        return cls(label=label, lower=lower, upper=upper, transform=eye, left_out=left_out, labels=labels)

    @property
    def count(self) -> int:
        """The number of rows."""
        return int(self.transform.shape[0])

    @property
    def equal(self) -> Mask:
        """Mask of rows that are equations."""
        if isinstance(self.lower, ca.MX) or isinstance(self.upper, ca.MX):
            return np.full(self.count, self.lower is self.upper)
        return np.asarray(self.lower == self.upper)

    def kept(self, places: int) -> Mask:
        """Mask of the rows of a program, at each of its places: those that have a limit and are not left out."""
        kept = np.ones((self.count, places), dtype=bool) if self.left_out is None else ~self.left_out
        return np.asarray(kept & ~self.free[:, None])

    @property
    def free(self) -> Mask:
        """Mask of rows without a limit."""
        endless = [
            np.zeros(self.count, dtype=bool) if isinstance(limit, ca.MX) else np.isinf(limit)
            for limit in (self.lower, self.upper)
        ]
        return np.logical_and(*endless)


@dataclass(frozen=True, eq=False, kw_only=True)
class StageTerm:
    """A Function of some entries of x, and what its rows are, at all places where it holds.

    Attributes:
        function: (x, p) → (rows, cost). ``squares``: (x, p) → (residuals, rest) of the cost.
        variables: m × n, the entries of x. ``parameters``: k × n, those of p.
        intervals: of each place. ``where``: how messages call it, as ``"in interval"``; ``first``: which they call 0.
        rows: from the first to the last.
        of_end: whether places are instants that belong to the interval before them, which ends there.
    """

    function: ca.Function
    variables: Indices
    parameters: Indices
    intervals: Indices
    where: str = ""
    rows: Sequence[Rows] = ()
    squares: ca.Function | None = None
    of_end: bool = False
    first: int = 0

    def at(self, places: Indices) -> StageTerm:
        """The term at some of its places."""
        rows = [
            replace(
                kind,
                left_out=None if kind.left_out is None else kind.left_out[:, places],
                next_state=None if kind.next_state is None else kind.next_state[:, places],
            )
            for kind in self.rows
        ]
        return replace(
            self,
            variables=self.variables[:, places],
            parameters=self.parameters[:, places],
            intervals=self.intervals[places],
            rows=rows,
        )

    def values(self, x: Array, p: Array) -> list[Array]:
        """The rows and the cost, a column for each place."""
        if not len(self.intervals):
            return [np.zeros((self.function.size1_out(i), 0)) for i in range(2)]
        columns = self.function.map(len(self.intervals)).call([x[self.variables], p[self.parameters]])
        return [values.full() for values in columns]

    def label_of(self, rows: Rows, i: int, k: int) -> Label:
        """Origin of row i at place k."""
        label = rows.labels[i] if rows.labels else rows.label
        if label.where or not self.where:
            return label
        return label._replace(where=f"{self.where} {self.intervals[k] - self.first}")


class StageParts(NamedTuple):
    """Parts of the program of a row of stages.

    Attributes:
        variables: of it. ``fixed``: those that a solve fixes.
        terms: of intervals and of instants. ``of_ends``: what is fixed at both ends, as rows.
        others: rows and costs of any instants, each at one place.
    """

    variables: Variables
    terms: Sequence[StageTerm]
    of_ends: Sequence[StageTerm]
    others: Sequence[StageTerm]
    fixed: Sequence[FixedEntries]


class Segment(NamedTuple):
    """A motion of a program.

    Attributes:
        terms, fixed: of it. ``numbers``: how many parameters it has.
        places: of its variables x among all, :data:`NOWHERE` if they are none.
        reached: the same of states that an interval ends with, which are others where a state jumps.
        name: how labels begin, as ``"phase 2: "``. ``first``: the interval that they call 0.
    """

    terms: Sequence[StageTerm]
    fixed: Sequence[FixedEntries]
    numbers: int
    places: Indices
    reached: Indices
    name: str = ""
    first: int = 0

    def placed(self, first_number: int) -> list[StageTerm]:
        """Terms of the stage, in all variables and in all parameters, of which its own begin there."""
        return [
            replace(
                term,
                variables=self.places[term.variables],
                parameters=term.parameters + first_number,
                intervals=np.where(term.intervals == NOWHERE, NOWHERE, term.intervals + self.first),
                first=self.first,
                rows=[self._rows(rows) for rows in term.rows],
            )
            for term in self.terms
        ]

    def _rows(self, rows: Rows) -> Rows:
        label, *labels = (self._named(label) for label in (rows.label, *rows.labels))
        reached = None if rows.next_state is None else self.reached[rows.next_state]
        return replace(rows, label=rows.label if rows.summed else label, labels=labels, next_state=reached)

    def _named(self, label: Label) -> Label:
        return label._replace(name=self.name + label.name)

    @property
    def fixed_entries(self) -> list[FixedEntries]:
        """Entries of the stage that are fixed, in all variables."""
        return [
            entry._replace(label=self._named(entry.label), entries=self.places[entry.entries]) for entry in self.fixed
        ]
