"""The program of a row of stages: variables and rows interval by interval, simple bounds apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.errors import UnsupportedError
from gdalembert.nlp.entries import NOWHERE, Indices, IntervalIndex, Label, Labels
from gdalembert.nlp.simple_bounds import simple_bounds
from gdalembert.nlp.stage_terms import BoundedEntries, Limit, Rows, Segment, StageTerm, Variables
from gdalembert.nlp.terms import RowsAndCost, Sum, Term, picked
from gdalembert.spatial.arrays import Array


class PlacedRows(NamedTuple):
    """Rows of a term, and their places in g (rows × places); :data:`NOWHERE` for those that are none of the program."""

    term: StageTerm
    rows: Rows
    places: Indices


class StageProgram:
    """The nonlinear program of stages: min f(z, p) subject to lbx ≤ z ≤ ubx and lbg ≤ g(z, p) ≤ ubg.

    z are the scaled variables x, interval by interval.

    Args:
        segments: the motions that it is of.
        variables: of all, with copies where segments share them, ``shared`` (segments × m).
        terms: of all variables and parameters. ``p``: the parameters of all segments behind each other.
        further: groups of variables that are of no motion.
        known: the Functions of other programs by what they compute, whose derivatives are taken over.
        intervals: N. ``states``: their numbers at the N + 1 instants.
        overlap: why intervals share variables, if they do.
        equations_as_rows: whether an equation of one variable stays a row, as for solvers of stages, which take no
            variable that is fixed.

    Attributes:
        problem: z, p, f, g, for ``casadi.nlpsol``. ``sum``: f and g as a sum of terms, with its derivatives.
        limits: (p) → (lbx, ubx, lbg, ubg), a Function.
        equal: whether a row of g is an equation.
        gaps, of_step: whether it is one between intervals, or of a step.
        variables, constraints: the intervals of the entries of z and g.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        variables: Variables,
        terms: Sequence[StageTerm],
        p: ca.MX,
        *,
        intervals: int,
        states: Sequence[int],
        overlap: str,
        equations_as_rows: bool,
        further: Sequence[Indices] = (),
        shared: Indices | None = None,
        known: dict[str, RowsAndCost] | None = None,
    ) -> None:
        self._segments, self._variables, self._further, self._shared = segments, variables, further, shared
        self._intervals, self._states, self._overlap, self._known = intervals, states, overlap, known
        self._first_numbers = np.cumsum([0, *(segment.numbers for segment in segments)]).tolist()
        self._fixed = [fixed for segment in segments for fixed in segment.fixed_entries]
        self._terms, self._bounded = list[StageTerm](), list[BoundedEntries]()
        placed = (segment.placed(*first) for segment, *first in zip(segments, self._first_numbers, strict=False))
        for term in chain(*placed, terms):
            left, bounded = simple_bounds(term, variables, p, equations_as_rows=equations_as_rows)
            self._terms.append(left)
            self._bounded += bounded
        order, self._of_x = _in_order(variables)
        self.variables = IntervalIndex(variables.groups[order], variables.intervals[order])
        self._scales = variables.scales[order]
        self._from_z = variables.shapes @ picked(self._of_x, len(order)) @ ca.diag(ca.DM(self._scales))
        self._from_x = ca.diag(ca.DM(1 / self._scales)) @ _inverse(variables.shapes)[order.tolist(), :]
        self._rows = self._placed_rows()
        linear = ca.DM(len(self.equal), len(order))
        for gap in (placed for placed in self._rows if placed.rows.next_state is not None):
            linear += self._of_rows(gap.places) @ picked(self._of_x[gap.rows.next_state], len(order))
        self.sum = Sum([self._term(term, p.numel()) for term in self._terms], ca.sparsify(linear))
        z = ca.MX.sym("z", len(order))
        self.problem = {"x": z, "p": p, "f": self.sum.cost(z, p), "g": self.sum.constraints(z, p)}
        self.limits = self._limits(p)

    def _placed_rows(self) -> list[PlacedRows]:
        """The rows of all terms with their places in g: by interval, gaps first."""
        kinds = [(term, rows, rows.kept(len(term.intervals))) for term in self._terms for rows in term.rows]
        keys, first = [np.zeros((4, 0), dtype=int)], True
        equal, of_step = [np.zeros(0, dtype=bool)], [np.zeros(0, dtype=bool)]
        for number, (term, rows, kept) in enumerate(kinds):
            if rows.summed:  # the first place has the rows of all
                kept[:, int(first) :] = False
                first = False
            row, place = np.nonzero(kept)
            same, intervals = np.ones(len(row), dtype=int), NOWHERE if rows.summed else term.intervals[place]
            keys.append(np.stack([intervals * same, (rows.next_state is None) * same, number * same, row]))
            equal.append(rows.equal[row])
            of_step.append(np.full(len(row), rows.of_step))
        interval, is_no_gap, number, row = np.concatenate(keys, axis=1)
        order = np.lexsort((row, number, is_no_gap, _by_interval(interval)))
        self.equal, self.of_step = np.concatenate(equal)[order], np.concatenate(of_step)[order]
        self.constraints = IntervalIndex(number[order], interval[order])
        self.gaps = is_no_gap[order] == 0
        ranks = np.empty(len(order), dtype=int)
        ranks[order] = np.arange(len(order))
        placed, begin, total = [], 0, np.zeros((0, 1), dtype=int)
        for term, rows, kept in kinds:
            places = np.full(kept.shape, NOWHERE)
            places[kept] = ranks[begin : begin + kept.sum()]
            begin += kept.sum()
            if rows.summed:
                total = places[:, :1] if kept.any() else total
                places = np.repeat(total, len(term.intervals), axis=1)
            placed.append(PlacedRows(term, rows, places))
        return placed

    def _of_rows(self, places: Indices) -> ca.DM:
        """Matrix that adds rows, those of all places below each other, to g."""
        return picked(places, len(self.equal)).T

    def _rows_of(self, term: StageTerm) -> tuple[Indices, ca.DM]:
        """The places of all rows of a term in g (rows × places), and the matrix by which they are multiplied."""
        kinds = [placed for placed in self._rows if placed.term is term]
        places = [np.zeros((0, len(term.intervals)), dtype=int), *(placed.places for placed in kinds)]
        return np.vstack(places), ca.diagcat(ca.DM(0, 0), *(placed.rows.transform for placed in kinds))

    def _term(self, term: StageTerm, numbers: int) -> Term:
        """The term in the variables of the solver, without rows that are none of it."""
        n, (places, transform) = len(term.intervals), self._rows_of(term)
        of_rows = self._of_rows(places) @ ca.kron(ca.DM.eye(n), transform)
        chosen = np.unique(np.array(of_rows.sparsity().get_triplet()[1], dtype=int) % max(len(places), 1))
        columns = (np.arange(n)[:, None] * len(places) + chosen).ravel()
        y, p = (ca.MX.sym(name, term.function.numel_in(i)) for i, name in enumerate("yp"))
        rows, cost = term.function.call([y, p], True, False)
        own = rows[chosen.tolist()] if len(chosen) else ca.MX(0, 1)
        return Term(
            self._differentiable(RowsAndCost(y, p, own, cost, term.squares)),
            n,
            picked(term.variables, len(self._of_x)) @ self._from_z,
            picked(term.parameters, numbers),
            of_rows[:, columns.tolist()],
        )

    def _differentiable(self, function: RowsAndCost) -> RowsAndCost:
        """A Function, or the same one whose derivatives are known."""
        return function if self._known is None else self._known.setdefault(function.key, function)

    # Numbers.

    @property
    def size(self) -> int:
        """Number of variables z."""
        return int(self.problem["x"].numel())

    def split(self, z: Any) -> list[Any]:
        """All variables x of each segment, 0 where they are none of the program."""
        x = self.unscaled(z)
        padded = ca.vertcat(x, 0) if isinstance(x, ca.MX) else np.append(x, 0.0)
        return [padded[segment.places.tolist()] for segment in self._segments]

    def split_numbers(self, p: Any) -> list[Any]:
        """The parameters of each segment."""
        return [p[i:j] for i, j in pairwise(self._first_numbers)]

    def merged(self, parts: Sequence[Array]) -> Array:
        """The scaled variables, of the variables x of each segment: what they share is the mean, what is further 0."""
        x = np.zeros(len(self._variables.groups))
        for maps in ([each.reached for each in self._segments], [each.places for each in self._segments]):
            for values, places in zip(parts, maps, strict=True):
                x[places[places != NOWHERE]] = values[places != NOWHERE]
        if self._shared is not None:
            x[self._shared] = x[self._shared].mean(axis=0)
        return self.scaled(x)

    def further(self, z: Array) -> list[Array]:
        """The variables that are of no motion, group by group."""
        x = self.unscaled(z)
        return [x[entries] for entries in self._further]

    def with_further(self, z: Array, values: Array) -> Array:
        """Scaled variables, of which those that are of no motion are these."""
        places, changed = self._of_x[np.concatenate(self._further)], z.copy()
        changed[places] = values / self._scales[places]
        return changed

    def _limits(self, p: ca.MX) -> ca.Function:
        """(p) → (lbx, ubx, lbg, ubg): bounds of z and g."""
        lower, upper = np.full(len(self._scales), -np.inf), np.full(len(self._scales), np.inf)
        np.maximum.at(lower, self._of_x, self._variables.lower)
        np.minimum.at(upper, self._of_x, self._variables.upper)
        ends = {"lbx": ca.MX(ca.DM(lower)), "ubx": ca.MX(ca.DM(upper))}
        for bounded in self._bounded:
            entries = self._of_x[bounded.entries].tolist()
            ends["lbx"][entries] = ca.fmax(ends["lbx"][entries], bounded.lower)
            ends["ubx"][entries] = ca.fmin(ends["ubx"][entries], bounded.upper)
        for fixed in self._fixed:
            entries = self._of_x[fixed.entries].tolist()
            for key, inner in (("lbx", ca.fmax), ("ubx", ca.fmin)):
                ends[key][entries] = fixed.value if fixed.measured else inner(ends[key][entries], fixed.value)
        ends = {key: bound / ca.DM(self._scales) for key, bound in ends.items()}
        for key, name in (("lbg", "lower"), ("ubg", "upper")):
            ends[key] = ca.MX(len(self.equal), 1)
            for placed in self._rows:
                limit = _scaled_limit(placed.rows.transform, getattr(placed.rows, name))
                ends[key] += self._of_rows(placed.places) @ ca.repmat(limit, placed.places.shape[1], 1)
        return ca.Function("limits", [p], [ca.densify(end) for end in ends.values()], ["p"], list(ends))

    def scaled(self, x: Array) -> Array:
        """z of x."""
        return np.asarray((self._from_x @ x).full().ravel())

    def unscaled(self, z: Any) -> Any:
        """x of z: numbers, or an expression."""
        x = self._from_z @ z
        return x if isinstance(x, ca.MX) else x.full().ravel()

    def violations(self, z: Array, p: Array, among: range | None = None) -> dict[str, float]:
        """The largest violation of each kind of bounds and rows, in the units of x and of the rows.

        ``among``: the intervals and instants that count; all by default.
        """
        largest: dict[str, float] = {}
        for name, excess, intervals in self._excesses(self.unscaled(z), p):
            counted = excess if among is None else excess[..., np.isin(intervals, among)]
            if among is None or counted.size:
                largest[name] = max(largest.get(name, 0.0), float(counted.max(initial=0.0)))
        return largest

    def _excesses(self, x: Array, p: Array) -> Iterator[tuple[str, Array, Indices]]:
        """Violations of bounds and rows, negative where they hold, with the interval of each column."""
        variables = self._variables
        over, names = np.maximum(variables.lower - x, x - variables.upper), np.array(variables.names, dtype=object)
        for name in dict.fromkeys(variables.names):
            if name and np.isfinite(over[names == name]).any():
                yield name, over[names == name], variables.intervals[names == name]
        for bounded in self._bounded:
            value, (low, high) = x[bounded.entries, None], self._at(p, bounded.lower, bounded.upper)
            over = (bounded.unit * np.maximum(low - value, value - high)).ravel()
            yield bounded.labels[0].name, over, variables.intervals[bounded.entries]
        for term in self._terms:
            values = term.values(x, p)[0] if term.rows else np.zeros((0, 0))
            first = 0
            for rows in term.rows:
                value = values[first : first + rows.count]
                first += rows.count
                if rows.summed:  # of one term and place alone, of which nothing is asked
                    continue
                if rows.next_state is not None:
                    value = value + x[rows.next_state]
                low, high = self._at(p, rows.lower, rows.upper)
                over = np.maximum(low - value, value - high)
                if term.of_end and rows.left_out is not None:
                    over = np.where(rows.left_out, 0.0, over)
                yield rows.label.name, over, term.intervals

    def _at(self, p: Array, *limits: Limit) -> list[Array]:
        """Limits as columns of numbers."""
        graph = ca.Function(
            "limits", [self.problem["p"]], [ca.MX(ca.DM(x)) if isinstance(x, np.ndarray) else x for x in limits]
        )
        return [column.full() for column in graph.call([p])]

    def cost(self, z: Array, p: Array, among: range | None = None) -> float:
        """The cost; ``among``: the intervals and instants whose part of it is asked for."""
        x, total = self.unscaled(z), 0.0
        for term in self._terms:
            chosen = term if among is None else term.at(np.flatnonzero(np.isin(term.intervals, among)))
            total += float(chosen.values(x, p)[1].sum())
        return total

    # What rows stand for.

    def labels(self) -> Labels:
        """Origins of the rows of g and of the fixed variables."""
        labels: list[Label] = [Label("")] * len(self.equal)
        for term, rows, places in self._rows:
            for i, k in zip(*np.nonzero(places != NOWHERE), strict=True):
                labels[places[i, k]] = term.label_of(rows, i, k)
        held = {int(self._of_x[i]): fixed.label for fixed in self._fixed for i in fixed.entries.tolist()}
        for bounded in self._bounded:
            if bounded.is_equation:
                held |= dict(zip(self._of_x[bounded.entries].tolist(), bounded.labels, strict=True))
        return labels, held

    def structure(self) -> dict[str, int | list[int]]:
        """The numbers of intervals, states, other variables and constraints without gaps, interval by interval.

        Raises:
            UnsupportedError: if anything but the gaps connects two intervals.
        """
        intervals = self.variables.intervals
        for term in self._terms:
            columns = intervals[self._of_x[term.variables]]
            first, last = columns.min(axis=0, initial=self._intervals), columns.max(axis=0, initial=NOWHERE)
            apart = np.flatnonzero((last > first) & (last != NOWHERE))
            if len(apart):
                if self._overlap:
                    raise UnsupportedError(f"{self._overlap}, or another solver, as 'ipopt'")
                name = term.rows[0].label.name if term.rows else "the cost"
                raise UnsupportedError(
                    f"the intervals {first[apart[0]]} and {last[apart[0]]} are connected by {name}; give constraints "
                    "and costs of one interval each, or take another solver, as 'ipopt'"
                )
        n = self._intervals
        constraints = np.bincount(self.constraints.intervals[~self.gaps], minlength=n + 1)
        others = np.bincount(intervals, minlength=n + 1) - self._states
        return {"N": n, "nx": list(self._states), "nu": others.tolist(), "ng": constraints.tolist()}


def _scaled_limit(transform: ca.DM, limit: Limit) -> ca.MX:
    """Limits of rows that are multiplied by a matrix: of equations any, of others a diagonal one."""
    column = limit if isinstance(limit, ca.MX) else ca.DM(limit)
    return ca.MX(ca.diag(transform) * column if transform.sparsity().is_diag() else transform @ column)


def _in_order(variables: Variables) -> tuple[Indices, Indices]:
    """The entries of x that are variables, by interval and group; and the number of that of each entry."""
    n = len(variables.groups)
    order = np.lexsort((np.arange(n), variables.groups, _by_interval(variables.intervals)))
    order = order[variables.copies[order] == order]
    numbers = np.empty(n, dtype=int)
    numbers[order] = np.arange(len(order))
    return order, numbers[variables.copies]


def _by_interval(intervals: Indices) -> Indices:
    """Sorting key by intervals; entries that belong to none are last."""
    return np.asarray(np.where(intervals == NOWHERE, np.iinfo(int).max, intervals))


def _inverse(shapes: ca.DM) -> ca.DM:
    """The inverse of a matrix of small blocks."""
    if shapes.nnz() == shapes.shape[0]:
        return ca.diag(1 / ca.diag(shapes))
    return ca.sparsify(ca.solve(shapes, ca.DM.eye(shapes.shape[0]), "csparse", {}))
