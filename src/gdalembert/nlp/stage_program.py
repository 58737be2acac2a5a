"""The program of a row of stages: variables and rows interval by interval, simple bounds apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.errors import UnsupportedError
from gdalembert.nlp.entries import NOWHERE, Indices, IntervalIndex, Label, Labels
from gdalembert.nlp.program import NonlinearProgram
from gdalembert.nlp.simple_bounds import simple_bounds
from gdalembert.nlp.stage_terms import BoundedEntries, FixedEntries, Mask, Rows, StageTerm, Variables
from gdalembert.nlp.terms import Sum, Term
from gdalembert.spatial.arrays import Array


class StageProgram(NonlinearProgram):
    """The program of stages: z are the scaled variables, interval by interval.

    Args:
        variables: of it. ``terms``: stages, rows of the grid, costs.
        fixed: entries with values of p. ``p``: the parameters.
        intervals: N. ``states``: the number of states. ``overlap``: why intervals share variables, if they do.
        equations_as_rows: whether an equation of one variable stays a row, as for solvers of stages, which take no
            variable that is fixed.
    """

    def __init__(
        self,
        variables: Variables,
        terms: Sequence[StageTerm],
        fixed: Sequence[FixedEntries],
        p: ca.MX,
        *,
        intervals: int,
        states: int,
        overlap: str = "",
        equations_as_rows: bool = False,
    ) -> None:
        self._variables, self._fixed = variables, fixed
        self._intervals, self._states, self._overlap = intervals, states, overlap
        self._stage_terms: list[StageTerm] = []
        self._bounded: list[BoundedEntries] = []
        for term in terms:
            left, bounded = simple_bounds(term, variables, p, equations_as_rows=equations_as_rows)
            self._stage_terms.append(left)
            self._bounded += bounded
        order, self._of_x = _in_order(variables)
        self._order, self._scales = order, variables.scales[order]
        self._from_x = _inverse(variables.shapes)
        self.variables = IntervalIndex(variables.groups[order], variables.intervals[order])
        self._number_rows()
        size, numbers = len(order), p.numel()
        self.terms = [self._term(term, rows) for term, rows in zip(terms, self._rows_of_terms, strict=True)]
        self.sum = Sum(self.terms, size, numbers, len(self.equal), self._linear(size))
        z = ca.MX.sym("z", size)
        self.problem = {"x": z, "p": p, "f": self.sum.cost(z, p), "g": self.sum.constraints(z, p)}
        self.limits = self._limits(p)

    def _number_rows(self) -> None:
        """Give the rows that are none of all terms their places in g: by interval, gaps first."""
        keys: list[tuple[Indices, Indices, Indices, Indices]] = []
        shapes, equal, count = [], [], 0
        self._found: list[tuple[Rows, StageTerm, Mask]] = []
        for number, term in enumerate(self._stage_terms):
            for rows in term.rows:
                n = len(term.intervals)
                kept = np.ones((rows.count, n), dtype=bool) if rows.left_out is None else ~rows.left_out
                kept = kept & ~rows.free[:, None]
                self._found.append((rows, term, kept))
                gap = rows.next_state is None
                when = np.broadcast_to(term.intervals, (rows.count, n))
                keys.append(
                    (when[kept], np.full(kept.sum(), int(gap)), np.full(kept.sum(), count), np.nonzero(kept)[0])
                )
                equal.append(np.broadcast_to(rows.equal[:, None], kept.shape)[kept])
                shapes.append(number)
                count += 1
        parts = [np.concatenate([key[i] for key in keys] or [np.zeros(0, dtype=int)]) for i in range(4)]
        order = np.lexsort((parts[3], parts[2], parts[1], parts[0]))
        places = np.empty(len(order), dtype=int)
        places[order] = np.arange(len(order))
        self.equal = np.concatenate(equal or [np.zeros(0, dtype=bool)])[order]
        self.constraints = IntervalIndex(parts[2][order], parts[0][order])
        self._is_gap = parts[1][order] == 0
        self._rows_of_terms: list[Indices] = [
            np.zeros((0, len(term.intervals)), dtype=int) for term in self._stage_terms
        ]
        begin = 0
        self._places: list[Indices] = []
        for (_, _, kept), number in zip(self._found, shapes, strict=True):
            where = np.full(kept.shape, NOWHERE)
            where[kept] = places[begin : begin + kept.sum()]
            begin += int(kept.sum())
            self._places.append(where)
            self._rows_of_terms[number] = np.vstack([self._rows_of_terms[number], where])

    def _term(self, term: StageTerm, rows: Indices) -> Term:
        """The term in the variables of the solver."""
        first = term.variables[:, 0].astype(int)
        change = self._variables.shapes[first.tolist(), first.tolist()] @ ca.diag(ca.DM(self._variables.scales[first]))
        y, p = ca.MX.sym("y", len(first)), ca.MX.sym("p", len(term.parameters))
        values, cost = term.function.call([change @ y, p], True, False)
        parts = [ca.MX(0, 1)]
        for each in term.rows:
            begin = sum(part.shape[0] for part in parts)
            parts.append(each.transform @ values[begin : begin + each.count])
        kept = np.flatnonzero((rows != NOWHERE).any(axis=1))
        outputs = [ca.densify(ca.vertcat(*parts))[kept.tolist()] if len(kept) else ca.MX(0, 1), cost]
        squares = term.squares
        if squares is not None:
            squares = ca.Function("squares", [y, p], squares.call([change @ y, p], True, False))
        function = ca.Function("term", [y, p], outputs)
        return Term(function, self._of_x[term.variables], term.parameters, rows[kept], squares)

    def _linear(self, size: int) -> ca.DM:
        """That the next state stands in each gap."""
        row, column = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
        for (rows, _, kept), places in zip(self._found, self._places, strict=True):
            if rows.next_state is not None:
                row.append(places[kept])
                column.append(self._of_x[rows.next_state[kept]])
        i, j = np.concatenate(row), np.concatenate(column)
        return ca.DM.triplet(i.tolist(), j.tolist(), ca.DM.ones(len(i)), len(self.equal), size)

    # Numbers.

    def _limits(self, p: ca.MX) -> ca.Function:
        """(p) → (lbx, ubx, lbg, ubg): bounds of z and g."""
        own = self._variables
        ends = {}
        for key, bound, tighter in (("lbx", own.lower, np.maximum), ("ubx", own.upper, np.minimum)):
            found = np.full(len(self._order), -np.inf if key == "lbx" else np.inf)
            tighter.at(found, self._of_x, bound)
            ends[key] = ca.MX(ca.DM(found))
        for bounded in self._bounded:
            where = self._of_x[bounded.entries].tolist()
            low, high = ((limit - bounded.offset) / bounded.slope for limit in (bounded.lower, bounded.upper))
            if bounded.slope < 0:
                low, high = high, low
            ends["lbx"][where] = ca.fmax(ends["lbx"][where], low)
            ends["ubx"][where] = ca.fmin(ends["ubx"][where], high)
        for fixed in self._fixed:
            where = self._of_x[fixed.entries].tolist()
            for key, inner in (("lbx", ca.fmax), ("ubx", ca.fmin)):
                ends[key][where] = fixed.value if fixed.measured else inner(ends[key][where], fixed.value)
        ends = {key: bound / ca.DM(self._scales) for key, bound in ends.items()}
        for key, name in (("lbg", "lower"), ("ubg", "upper")):
            parts, places = [ca.MX(0, 1)], [np.zeros(0, dtype=int)]
            for (rows, _, kept), where in zip(self._found, self._places, strict=True):
                limit = getattr(rows, name)
                column = _scaled_limit(rows.transform, limit if isinstance(limit, ca.MX) else ca.MX(ca.DM(limit)))
                numbers = np.broadcast_to(np.arange(rows.count)[:, None], kept.shape)[kept]
                parts.append(ca.vec(column[numbers.tolist()]))  # of a single row CasADi makes a row of them
                places.append(where[kept])
            order = np.argsort(np.concatenate(places)).tolist()
            ends[key] = ca.vertcat(*parts)[order]
        return ca.Function("limits", [p], list(ends.values()), ["p"], list(ends))

    def scaled(self, x: Array) -> Array:
        """z of x."""
        return np.asarray((self._from_x @ x).full().ravel()[self._order] / self._scales)

    def unscaled(self, z: Any) -> Any:
        """x of z: numbers, or an expression."""
        if isinstance(z, ca.MX):
            return self._variables.shapes @ ca.MX((ca.DM(self._scales) * z)[self._of_x.tolist()])
        return (self._variables.shapes @ (z * self._scales)[self._of_x]).full().ravel()

    def positions(self, entries: Indices) -> tuple[Indices, Array]:
        """The entries of z that stand for entries of x, and their sizes."""
        where = self._of_x[entries]
        return where, self._scales[where]

    def violations(self, z: Array, p: Array, among: range | None = None) -> dict[str, float]:
        """The largest violation of each kind of bounds and rows, in the units of x and of the rows.

        ``among``: the intervals and instants that count; all by default.
        """
        x, found, when = self.unscaled(z), dict[str, float](), self._variables.intervals

        def note(name: str, over: Array, intervals: Indices) -> None:
            own = over if among is None else over[..., np.isin(intervals, among)]
            if among is None or own.size:
                found[name] = max(found.get(name, 0.0), float(own.max(initial=0.0)))

        over = np.maximum(self._variables.lower - x, x - self._variables.upper)
        names = np.array(self._variables.names, dtype=object)
        for name in dict.fromkeys(self._variables.names):
            if name and np.isfinite(over[names == name]).any():
                note(name, over[names == name], when[names == name])
        for each in self._fixed:
            value = ca.Function("value", [self.problem["p"]], [each.value])(p).full().ravel()
            note(each.label.name, np.abs(self._variables_at(z)[each.entries] - value), when[each.entries])
        for bounded in self._bounded:
            ends = [bounded.offset, bounded.lower, bounded.upper]
            offset, low, high = (x.full().ravel() for x in ca.Function("ends", [self.problem["p"]], ends).call([p]))
            own = bounded.slope * self._variables_at(z)[bounded.entries] + offset
            note(bounded.labels[0].name, np.maximum(low - own, own - high), when[bounded.entries])
        for term in self._stage_terms:
            if not term.rows:
                continue
            columns = x[term.variables], p[term.parameters]
            values = term.function.map(len(term.intervals)).call(list(columns))[0].full()
            begin = 0
            for rows in term.rows:
                own = values[begin : begin + rows.count]
                begin += rows.count
                if rows.next_state is not None:
                    own = own + x[rows.next_state]
                low, high = (
                    ca.Function("limit", [self.problem["p"]], [limit])(p).full()
                    if isinstance(limit, ca.MX)
                    else limit[:, None]
                    for limit in (rows.lower, rows.upper)
                )
                over = np.maximum(low - own, own - high)
                if term.of_end and rows.left_out is not None:
                    over = np.where(rows.left_out, 0.0, over)
                note(rows.label.name, over, term.intervals)
        return found

    def cost(self, z: Array, p: Array, among: range | None = None) -> float:
        """The cost; ``among``: the intervals and instants whose part of it is asked for."""
        x, total = self.unscaled(z), 0.0
        for term in self._stage_terms:
            own = np.flatnonzero(np.isin(term.intervals, term.intervals if among is None else among))
            if len(own):
                columns = [x[term.variables[:, own]], p[term.parameters[:, own]]]
                total += float(term.function.map(len(own)).call(columns)[1].full().sum())
        return total

    def _variables_at(self, z: Array) -> Array:
        """The entries in whose place z stands, with their sizes, in the order of x."""
        return np.asarray((z * self._scales)[self._of_x])

    # What rows stand for.

    def labels(self) -> Labels:
        found: list[Label] = [Label("")] * len(self.equal)
        for (rows, term, kept), places in zip(self._found, self._places, strict=True):
            for i, k in zip(*np.nonzero(kept), strict=True):
                found[places[i, k]] = term.label_of(rows, i, k)
        held = {int(self._of_x[i]): fixed.label for fixed in self._fixed for i in fixed.entries.tolist()}
        for bounded in self._bounded:
            if bounded.is_equation:
                held |= dict(zip(self._of_x[bounded.entries].tolist(), bounded.labels, strict=True))
        return found, held

    def structure(self) -> dict[str, int | list[int]]:
        where = self.variables.intervals
        for term in self.terms:
            if not len(term.variables):
                continue
            own = where[term.variables]
            apart = np.flatnonzero((own.max(axis=0) > own.min(axis=0)) & (own.max(axis=0) != NOWHERE))
            if len(apart):
                if self._overlap:
                    raise UnsupportedError(f"{self._overlap}, or another solver, as 'ipopt'")
                stage = self._stage_terms[self.terms.index(term)]
                name = stage.rows[0].label.name if stage.rows else "the cost"
                raise UnsupportedError(
                    f"{name} connects the intervals {own[:, apart[0]].min()} and {own[:, apart[0]].max()}; give "
                    "constraints and costs of one interval each, or take another solver, as 'ipopt'"
                )
        n = self._intervals
        own = np.bincount(self.constraints.intervals[~self._is_gap], minlength=n + 1)
        others = np.bincount(where, minlength=n + 1) - self._states
        return {"N": n, "nx": [self._states] * (n + 1), "nu": others.tolist(), "ng": own.tolist()}


def _scaled_limit(transform: ca.DM, limit: ca.MX) -> ca.MX:
    """Limits of rows that are multiplied by a matrix: of equations any, of others a diagonal one."""
    if transform.sparsity().is_diag():
        return ca.MX(ca.diag(transform)) * limit
    return ca.MX(transform @ limit)


def _in_order(variables: Variables) -> tuple[Indices, Indices]:
    """The entries of x that are variables, by interval and group; and the number of that of each entry."""
    last = np.iinfo(int).max
    when = np.where(variables.intervals == NOWHERE, last, variables.intervals)
    n = len(when)
    order = np.lexsort((np.arange(n), variables.groups, when))
    order = order[variables.copies[order] == order]
    numbers = np.empty(n, dtype=int)
    numbers[order] = np.arange(len(order))
    return order, numbers[variables.copies]


def _inverse(shapes: ca.DM) -> ca.DM:
    """The inverse of a matrix of small blocks."""
    if shapes.nnz() == shapes.shape[0]:
        return ca.diag(1 / ca.diag(shapes))
    return ca.sparsify(ca.solve(shapes, ca.DM.eye(shapes.shape[0]), "csparse", {}))
