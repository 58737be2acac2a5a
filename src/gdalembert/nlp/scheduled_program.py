"""The program of a row of stages that are those of several programs: one of them holds over each interval.

States and controls are common to all, and the other variables of an interval are those of the program that holds there.
Rows and costs of an instant are of the interval that begins there, at the last one of the last interval. Where a state
jumps, an interval begins with other variables than the one before it ended with, and rows connect both:

    x_k = f_A(x_k-1, w_k-1)      r(x_k, x⁺, λ) = 0      x_k+1 = f_B(x⁺, w_k)

x⁺ and λ are variables of the interval behind the jump, beside its controls: only the gaps connect intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.errors import UnsupportedError
from gdalembert.nlp.entries import Indices, Label
from gdalembert.nlp.stage_program import StageProgram
from gdalembert.nlp.stage_terms import FixedEntries, Mask, Rows, StageParts, StageTerm, Variables
from gdalembert.nlp.terms import RowsAndCost
from gdalembert.spatial.arrays import Array

_MANY = 100
"""More than the groups of variables of any program."""


class ScheduledPart(NamedTuple):
    """A program of which some stages hold.

    Attributes:
        name: of it, in messages. ``of``: what it is made of; ``None`` if none of it holds.
        shared: its states and controls, as entries of x, of which it has ``size``.
        numbers: how many parameters it has.
    """

    name: str
    of: StageParts | None
    shared: Indices
    size: int
    numbers: int


class Jump(NamedTuple):
    """Where an interval begins with another state than the one before it ended with.

    Attributes:
        instant: of it.
        state: entries of x of the part that holds behind it: the state at this instant; ``jumps``: which are others.
        unknowns: the sizes of the further unknowns λ.
        function: (state, x⁺, λ; p) → (rows, 0), equations, with sizes ``rows``. ``label``: what they are.
        parameters: the entries of p, of that part.
        asks: which rows of terms ``of_end`` that part asks of the instant, which the one before does not know.
    """

    instant: int
    state: Indices
    jumps: Indices
    unknowns: Array
    function: ca.Function
    rows: Array
    label: Label
    parameters: Indices
    asks: Mask


class ScheduledProgram(StageProgram):
    """The program of the stages of several programs.

    Args:
        parts: the programs; the first one gives the magnitudes and bounds of states and controls.
        holds: the number of the part that holds behind each instant; of the last one, that before it.
        jumps: at instants between two parts, at most one at each.
        known: the Functions of terms of other schedules by what they compute, whose derivatives are taken over.
        p: the parameters of all parts.
        states, overlap, equations_as_rows: as of a :class:`StageProgram`.

    Raises:
        UnsupportedError: if a row or a cost connects instants of several parts.
    """

    kind = "phase"

    def __init__(
        self,
        parts: Sequence[ScheduledPart],
        holds: Indices,
        jumps: Sequence[Jump],
        known: dict[str, RowsAndCost],
        p: ca.MX,
        *,
        states: int,
        overlap: str,
        equations_as_rows: bool,
    ) -> None:
        self._parts, self._holds, self._jumps, self._known = parts, holds, jumps, known
        variables = self._place()
        self._first_numbers = np.cumsum([0, *(part.numbers for part in parts)])
        terms, fixed = list[StageTerm](), list[FixedEntries]()
        for k, part in enumerate(parts):
            if part.of is not None:
                terms += [self._placed(k, term) for term in self._chosen(k, part.of)]
                fixed += [each._replace(entries=self._plain[k][each.entries]) for each in part.of.fixed]
        terms += [self._jump_term(*each) for each in zip(jumps, self._jumped, strict=True)]
        super().__init__(
            variables,
            terms,
            fixed,
            p,
            intervals=len(holds) - 1,
            states=states,
            overlap=overlap,
            equations_as_rows=equations_as_rows,
        )

    # Variables.

    def _place(self) -> Variables:
        """All variables: states and controls, the others of each part where it holds, x⁺ and λ of each jump.

        ``_plain`` has where the variables of each part are among them, −1 where they are nowhere; in ``_begin`` x⁺ is
        in the place of a state that jumps. ``_jumped`` are x⁺ and λ.
        """
        parts, count = self._parts, len(self._parts[0].shared)
        chosen = [_chosen(parts[0].of, parts[0].shared)]
        self._plain = [np.full(part.size, -1) for part in parts]
        for k, (part, where) in enumerate(zip(parts, self._plain, strict=True)):
            where[part.shared] = np.arange(len(part.shared))
            if part.of is not None:
                own = np.setdiff1d(np.arange(part.size), part.shared)
                own = own[self._holds[part.of.variables.intervals[own]] == k]
                where[own] = count + np.arange(len(own))
                count += len(own)
                chosen.append(_chosen(part.of, own, k * _MANY))
        self._begin, self._jumped = [where.copy() for where in self._plain], list[tuple[Indices, Indices]]()
        for jump in self._jumps:
            k, group, size = int(self._holds[jump.instant]), len(parts) * _MANY, len(jump.unknowns)
            chosen += [_chosen(parts[k].of, jump.jumps, group), _free(group + _MANY, jump)]
            numbers = count + np.arange(len(jump.jumps) + size)
            self._jumped.append((numbers[: len(jump.jumps)], numbers[len(jump.jumps) :]))
            self._begin[k][jump.jumps] = self._jumped[-1][0]
            count += len(numbers)
            before = self._plain[k][jump.jumps]
            chosen[0].lower[before], chosen[0].upper[before] = -np.inf, np.inf
        return _joined(chosen)

    def split(self, z: Any) -> list[Any]:
        """All variables x of each part, 0 where it does not hold."""
        x = self.unscaled(z)
        padded = ca.vertcat(x, 0) if isinstance(x, ca.MX) else np.append(x, 0.0)
        return [padded[where.tolist()] for where in self._begin]

    def split_numbers(self, p: Any) -> list[Any]:
        return [p[i:j] for i, j in pairwise(self._first_numbers.tolist())]

    def merged(self, parts: Sequence[Array], numbers: Callable[[], Array]) -> Array:
        """The scaled variables, of all variables x of each part; λ is 0."""
        x = np.zeros(len(self._variables.groups))
        for maps in (self._plain, self._begin):
            for own, where in zip(parts, maps, strict=True):
                x[where[where >= 0]] = own[where >= 0]
        return self.scaled(x)

    def further(self, z: Array) -> list[Array]:
        """λ of each jump."""
        x = self.unscaled(z)
        return [x[where] for _, where in self._jumped]

    # Terms.

    def _chosen(self, k: int, of: StageParts) -> list[StageTerm]:
        """The terms of a part, where it holds."""
        found = list(of.of_ends)
        for term in (*of.terms, *of.others):
            places = np.flatnonzero(self._ends(k, term) if term.of_end else self._holds_at(k, term, of.variables))
            if len(places):
                found.append(self._asked(k, term.at(places)) if term.of_end else term.at(places))
        return found

    def _holds_at(self, k: int, term: StageTerm, variables: Variables) -> Mask:
        """Whether a part holds at each place of a term."""
        if any(rows.next_state is not None for rows in term.rows):
            return np.asarray(self._holds[term.intervals] == k)
        own = self._holds[variables.intervals[term.variables]] == k
        if not len(own):
            return np.full(len(term.intervals), self._holds[-1] == k)
        if np.any(own.any(axis=0) & ~own.all(axis=0)):
            name = term.rows[0].label.name if term.rows else "the cost"
            raise UnsupportedError(
                f"{self._parts[k].name}: {name} connects instants of which some are of other problems; give rows and "
                "costs of one instant each"
            )
        return np.asarray(own.all(axis=0))

    def _ends(self, k: int, term: StageTerm) -> Mask:
        """Whether a part asks rows of the end of an interval at each place of a term."""
        jumped = [jump.instant for jump in self._jumps if self._holds[jump.instant] == k]
        return np.asarray((self._holds[term.intervals - 1] == k) | np.isin(term.intervals, jumped))

    def _asked(self, k: int, term: StageTerm) -> StageTerm:
        """Rows of ends of intervals, behind a jump those alone that the part before does not ask."""
        left_out = np.zeros((sum(rows.count for rows in term.rows), len(term.intervals)), dtype=bool)
        for jump in self._jumps:
            if self._holds[jump.instant] == k:
                left_out[:, term.intervals == jump.instant] = ~jump.asks[:, None]
        (rows,) = term.rows
        return replace(term, rows=[replace(rows, left_out=left_out)])

    def _placed(self, k: int, term: StageTerm) -> StageTerm:
        """A term of a part, in all variables and parameters."""
        plain, where = self._plain[k], self._begin[k]
        rows = [
            each if each.next_state is None else replace(each, next_state=plain[each.next_state]) for each in term.rows
        ]
        parameters = term.parameters + self._first_numbers[k]
        return replace(term, variables=where[term.variables], parameters=parameters, rows=rows)

    def _differentiable(self, function: RowsAndCost) -> RowsAndCost:
        return self._known.setdefault(function.key, function)

    def _jump_term(self, jump: Jump, jumped: tuple[Indices, Indices]) -> StageTerm:
        k, zero = int(self._holds[jump.instant]), np.zeros(len(jump.rows))
        transform = ca.diag(ca.DM(1 / jump.rows))
        return StageTerm(
            function=jump.function,
            variables=np.concatenate([self._plain[k][jump.state], *jumped])[:, None],
            parameters=jump.parameters[:, None] + self._first_numbers[k],
            intervals=np.array([jump.instant]),
            where="at grid point",
            rows=[Rows(label=jump.label, lower=zero, upper=zero, transform=ca.sparsify(transform))],
        )


def _chosen(of: StageParts | None, entries: Indices, group: int = 0) -> Variables:
    """Some variables, with groups from this one on."""
    assert of is not None
    own, numbers = of.variables, np.full(len(of.variables.groups), -1)
    numbers[entries] = np.arange(len(entries))
    copies = numbers[own.copies[entries]]
    arrays = (array[entries] for array in (own.scales, own.lower, own.upper))
    shapes = own.shapes[entries.tolist(), entries.tolist()]
    return Variables(
        own.groups[entries] + group,
        own.intervals[entries],
        np.where(copies < 0, np.arange(len(entries)), copies),
        next(arrays),
        shapes,
        next(arrays),
        next(arrays),
        [own.names[i] for i in entries.tolist()],
    )


def _free(group: int, jump: Jump) -> Variables:
    """The further unknowns of a jump."""
    n = len(jump.unknowns)
    groups, intervals, endless = np.full(n, group), np.full(n, jump.instant), np.full(n, np.inf)
    return Variables(groups, intervals, np.arange(n), jump.unknowns, ca.DM.eye(n), -endless, endless, [""] * n)


def _joined(chosen: Sequence[Variables]) -> Variables:
    """Variables behind each other."""
    counts = np.cumsum([0, *(len(each.groups) for each in chosen)])
    copies = [each.copies + first for each, first in zip(chosen, counts, strict=False)]
    columns = [np.concatenate(each) for each in zip(*(each[:2] for each in chosen), strict=True)]
    scales, lower, upper = (
        np.concatenate([getattr(each, name) for each in chosen]) for name in ("scales", "lower", "upper")
    )
    names = [name for each in chosen for name in each.names]
    shapes = ca.diagcat(*(each.shapes for each in chosen))
    return Variables(columns[0], columns[1], np.concatenate(copies), scales, shapes, lower, upper, names)
