"""Several motions as the program of one row of stages: phases, scenarios, and schedules.

Each is a segment: its variables, parameters and terms have places among all. Segments may share variables, and terms of
several segments, as what holds where two meet, connect them.

In a schedule one of several motions holds over each interval. States and controls are common to all, and the other
variables of an interval are those of the motion that holds there. Rows and costs of an instant are of the interval that
begins there, at the last one of the last interval. Where a state jumps, an interval begins with other variables than
the one before it ended with, and rows connect both:

    x_k = f_A(x_k-1, w_k-1)      r(x_k, x⁺, λ) = 0      x_k+1 = f_B(x⁺, w_k)

x⁺ and λ are variables of the interval behind the jump, beside its controls: only the gaps connect intervals. Phases are
so for solvers of stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.errors import UnsupportedError
from gdalembert.nlp.entries import NOWHERE, Indices, Label
from gdalembert.nlp.stage_program import StageProgram
from gdalembert.nlp.stage_terms import Mask, Rows, Segment, StageParts, StageTerm, Variables
from gdalembert.nlp.terms import RowsAndCost
from gdalembert.spatial.arrays import Array

MANY = 100
"""More than the groups of variables of any segment."""


def side_by_side(
    parts: Sequence[StageParts], numbers: Sequence[int], names: Sequence[str], firsts: Sequence[int]
) -> tuple[Variables, list[Segment]]:
    """The variables and segments of whole motions: of each the parameters, its name, and where its intervals begin."""
    chosen, segments, begin = list[Variables](), list[Segment](), 0
    for k, (part, count, name, first) in enumerate(zip(parts, numbers, names, firsts, strict=True)):
        variables = part.variables
        chosen.append(
            variables._replace(
                groups=variables.groups + k * MANY,
                intervals=variables.intervals + first,
                names=[name + bound if bound else "" for bound in variables.names],
            )
        )
        places = begin + np.arange(len(variables.groups))
        terms = [*part.terms, *part.of_ends, *part.others]
        segments.append(Segment(terms, part.fixed, count, places, places, name, first))
        begin += len(places)
    return joined(chosen), segments


def joined(chosen: Sequence[Variables]) -> Variables:
    """Variables behind variables other."""
    counts = np.cumsum([0, *(len(variables.groups) for variables in chosen)])
    columns = {
        name: np.concatenate([getattr(variables, name) for variables in chosen])
        for name in ("groups", "intervals", "scales", "lower", "upper")
    }
    return Variables(
        copies=np.concatenate([variables.copies + first for variables, first in zip(chosen, counts, strict=False)]),
        shapes=ca.diagcat(*(variables.shapes for variables in chosen)),
        names=[name for variables in chosen for name in variables.names],
        **columns,
    )


def sharing(variables: Variables, shared: Indices) -> Variables:
    """Variables of which some are those of the first segment (``shared``: segments × m)."""
    copies = variables.copies.copy()
    copies[shared] = shared[0]
    return variables._replace(copies=copies[copies])  # those that were copies of one that is shared, too


def free_variables(group: int, interval: int, sizes: Array) -> Variables:
    """Variables that are of no motion, without bounds."""
    n, endless = len(sizes), np.full(len(sizes), np.inf)
    groups, intervals = np.full(n, group), np.full(n, interval)
    return Variables(groups, intervals, np.arange(n), sizes, ca.DM.eye(n), -endless, endless, [""] * n)


def weighted(segments: Sequence[Segment], weight: float) -> list[Segment]:
    """Segments whose costs have a weight."""
    return [segment._replace(terms=[_weighted(term, weight) for term in segment.terms]) for segment in segments]


def largest(segments: Sequence[Segment], entry: int, label: Label) -> tuple[list[Segment], StageTerm]:
    """Segments whose cost is the mean, and a term for what the largest one is above it, a variable at this entry.

    The mean keeps the curvature of the cost while the multipliers of the segments are not found.
    """
    n = len(segments)
    above, zero = np.eye(n) - 1 / n, np.zeros(n)
    rows = Rows(label=label, lower=zero - np.inf, upper=zero, transform=ca.DM.eye(n), summed=True)
    made = [
        segment._replace(terms=[_weighted(term, 1 / n, rows, above[:, k]) for term in segment.terms])
        for k, segment in enumerate(segments)
    ]
    y, p = ca.MX.sym("y"), ca.MX.sym("p", 0)
    term = StageTerm(
        function=ca.Function("term", [y, p], [-y * ca.DM.ones(n), y]),
        variables=np.array([[entry]]),
        parameters=np.zeros((0, 1), dtype=int),
        intervals=np.array([NOWHERE]),
        rows=[rows],
    )
    return made, term


def _weighted(term: StageTerm, weight: float, *summed: Any) -> StageTerm:
    """A term whose cost has a weight; ``summed``: rows to which it is added with other weights, and these."""
    y, p = (ca.MX.sym(name, term.function.numel_in(i)) for i, name in enumerate("yp"))
    rows, cost = term.function.call([y, p], True, False)
    if summed:
        rows = ca.vertcat(ca.vec(rows), ca.DM(summed[1]) * cost)
    function = ca.Function("term", [y, p], [ca.densify(rows), weight * cost])
    return replace(term, function=function, rows=[*term.rows, *summed[:1]], squares=None)


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
    """Intervals that begin with another state than the one before them ended with.

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
        self._parts, self._holds, self._jumps = parts, holds, jumps
        variables, segments, jumped = self._place()
        first_numbers = np.cumsum([0, *(part.numbers for part in parts)]).tolist()
        terms = []
        for jump, others in zip(jumps, jumped, strict=True):
            k = int(holds[jump.instant])
            terms.append(_jump_term(jump, [segments[k].reached[jump.state], *others], first_numbers[k]))
        super().__init__(
            segments,
            variables,
            terms,
            p,
            further=[unknowns for _, unknowns in jumped],
            known=known,
            intervals=len(holds) - 1,
            states=[states] * len(holds),
            overlap=overlap,
            equations_as_rows=equations_as_rows,
        )

    def _place(self) -> tuple[Variables, list[Segment], list[tuple[Indices, Indices]]]:
        """All variables: states and controls, the others of each part where it holds, x⁺ and λ of each jump.

        The segments have x⁺ in the places of a state that jumps.
        """
        parts, count = self._parts, len(self._parts[0].shared)
        chosen = [_chosen(parts[0].of, parts[0].shared)]
        reached = [np.full(part.size, NOWHERE) for part in parts]
        for k, (part, places) in enumerate(zip(parts, reached, strict=True)):
            places[part.shared] = np.arange(len(part.shared))
            if part.of is not None:
                others = np.setdiff1d(np.arange(part.size), part.shared)
                others = others[self._holds[part.of.variables.intervals[others]] == k]
                places[others] = count + np.arange(len(others))
                count += len(others)
                chosen.append(_chosen(part.of, others, k * MANY))
        begun, jumped = [places.copy() for places in reached], list[tuple[Indices, Indices]]()
        for jump in self._jumps:
            k, group, size = int(self._holds[jump.instant]), len(parts) * MANY, len(jump.jumps)
            chosen += [_chosen(parts[k].of, jump.jumps, group)]
            chosen += [free_variables(group + MANY, jump.instant, jump.unknowns)]
            numbers = count + np.arange(size + len(jump.unknowns))
            jumped.append((numbers[:size], numbers[size:]))
            begun[k][jump.jumps] = numbers[:size]
            count += len(numbers)
            before = reached[k][jump.jumps]
            chosen[0].lower[before], chosen[0].upper[before] = -np.inf, np.inf
        segments = [
            Segment(self._terms_of(k), part.of.fixed if part.of else (), part.numbers, begun[k], reached[k])
            for k, part in enumerate(parts)
        ]
        return joined(chosen), segments, jumped

    def _terms_of(self, k: int) -> list[StageTerm]:
        """The terms of a part, where it holds."""
        if (of := self._parts[k].of) is None:
            return []
        terms = list(of.of_ends)
        for term in (*of.terms, *of.others):
            places = np.flatnonzero(self._ends(k, term) if term.of_end else self._holds_at(k, term, of.variables))
            if len(places):
                terms.append(self._asked(k, term.at(places)) if term.of_end else term.at(places))
        return terms

    def _holds_at(self, k: int, term: StageTerm, variables: Variables) -> Mask:
        """Mask of the places of a term at which a part holds."""
        if any(rows.next_state is not None for rows in term.rows):
            return np.asarray(self._holds[term.intervals] == k)
        holds = self._holds[variables.intervals[term.variables]] == k
        if not len(holds):
            return np.full(len(term.intervals), self._holds[-1] == k)
        if np.any(holds.any(axis=0) & ~holds.all(axis=0)):
            name = term.rows[0].label.name if term.rows else "the cost"
            raise UnsupportedError(
                f"{self._parts[k].name}: {name} connects instants of which some are of other problems; give rows and "
                "costs of one instant each"
            )
        return np.asarray(holds.all(axis=0))

    def _ends(self, k: int, term: StageTerm) -> Mask:
        """Mask of the places of a term at which a part asks rows of the end of an interval."""
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


def _jump_term(jump: Jump, places: Sequence[Indices], first_number: int) -> StageTerm:
    zero, transform = np.zeros(len(jump.rows)), ca.diag(ca.DM(1 / jump.rows))
    return StageTerm(
        function=jump.function,
        variables=np.concatenate(places)[:, None],
        parameters=jump.parameters[:, None] + first_number,
        intervals=np.array([jump.instant]),
        where="at grid point",
        rows=[Rows(label=jump.label, lower=zero, upper=zero, transform=ca.sparsify(transform))],
    )


def _chosen(of: StageParts | None, entries: Indices, group: int = 0) -> Variables:
    """Some variables, with groups from this one on."""
    assert of is not None
    variables, numbers = of.variables, np.full(len(of.variables.groups), -1)
    numbers[entries] = np.arange(len(entries))
    copies = numbers[variables.copies[entries]]
    return Variables(
        groups=variables.groups[entries] + group,
        intervals=variables.intervals[entries],
        copies=np.where(copies < 0, np.arange(len(entries)), copies),
        scales=variables.scales[entries],
        shapes=variables.shapes[entries.tolist(), entries.tolist()],
        lower=variables.lower[entries],
        upper=variables.upper[entries],
        names=[variables.names[i] for i in entries.tolist()],
    )
