"""Rows that are linear in one variable, which solvers take as bounds of it: they keep these at every iterate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import casadi as ca
import numpy as np

from gdalembert.nlp.entries import Indices
from gdalembert.nlp.stage_terms import BoundedEntries, Rows, StageTerm, Variables
from gdalembert.nlp.terms import expanded


def simple_bounds(
    term: StageTerm, variables: Variables, p: ca.MX, *, equations_as_rows: bool
) -> tuple[StageTerm, list[BoundedEntries]]:
    """A term without rows that are bounds of one variable at each place, and these.

    ``equations_as_rows``: whether equations are left alone.
    """
    kinds, bounded, first = list[Rows](), list[BoundedEntries](), 0
    candidates = [_may_be_bounds(rows) for rows in term.rows]
    graph = expanded(term.function) if any(candidates) else term.function
    if not graph.is_a("SXFunction"):  # it calls what has no scalar operations, as a Callback
        return term, []
    for rows, is_candidate in zip(term.rows, candidates, strict=True):
        chosen = range(first, first + rows.count)
        first += rows.count
        bounds = np.zeros(rows.count, dtype=bool)
        kept = rows.kept(len(term.intervals))
        for i, entry, slope, offset in _linear_rows(graph, chosen) if is_candidate else ():
            entries, places = term.variables[entry], np.flatnonzero(kept[i])
            if (equations_as_rows and rows.equal[i]) or rows.free[i] or not _are_variables(entries, variables):
                continue
            bounds[i] = True
            if len(places):
                shift = _at_places(offset, term.parameters[:, places], p)
                ends = [(ca.MX(limit[i]) - shift) / slope for limit in (rows.lower, rows.upper)]
                bounded.append(
                    BoundedEntries(
                        labels=[term.label_of(rows, i, k) for k in places.tolist()],
                        entries=entries[places],
                        lower=ends[slope < 0],
                        upper=ends[slope > 0],
                        unit=abs(slope),
                        is_equation=bool(rows.equal[i]),
                    )
                )
        kinds.append(replace(rows, left_out=~kept | bounds[:, None]) if bounds.any() else rows)
    return replace(term, rows=kinds), bounded


def _may_be_bounds(rows: Rows) -> bool:
    """True if a solver takes the rows as they are, and some have a limit."""
    as_they_are = rows.next_state is None and not rows.summed and ca.is_equal(rows.transform, ca.DM.eye(rows.count))
    return as_they_are and not bool(rows.free.all())


def _linear_rows(graph: ca.Function, chosen: range) -> Iterator[tuple[int, int, float, ca.Function]]:
    """Rows, of those chosen, that are s y_j + o(p), with a number s: the row among them, j, s and o."""
    y, p = ca.SX.sym("y", graph.numel_in(0)), ca.SX.sym("p", graph.numel_in(1))
    rows = graph.call([y, p])[0][chosen.start : chosen.stop]
    row, column = (np.array(index, dtype=int) for index in ca.jacobian_sparsity(rows, y).get_triplet())
    alone = np.flatnonzero(np.bincount(row, minlength=len(chosen)) == 1)
    entries = dict(zip(row.tolist(), column.tolist(), strict=True))
    for i in alone.tolist():
        slope = ca.jacobian(rows[i], y[entries[i]])
        if slope.is_constant() and (number := float(slope)):
            offset = ca.substitute(rows[i], y[entries[i]], 0)
            yield i, entries[i], number, ca.Function("offset", [p], [offset])


def _are_variables(entries: Indices, variables: Variables) -> bool:
    """True if each entry of x is a variable of its own, in its place and with its unit."""
    if len(np.unique(variables.copies[entries])) < len(entries):
        return False
    shapes = variables.shapes[entries.tolist(), :]
    return bool(np.all(np.bincount(shapes.sparsity().get_triplet()[0]) == 1)) and all(x == 1 for x in shapes.nonzeros())


def _at_places(offset: ca.Function, parameters: Indices, p: ca.MX) -> ca.MX:
    """A column with the offset at each place."""
    columns = ca.reshape(p[parameters.ravel(order="F").tolist()], *parameters.shape)
    return ca.vec(ca.densify(offset.map(parameters.shape[1]).call([columns], True, False)[0]))
