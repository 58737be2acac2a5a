"""Rows that are linear in one variable, which solvers take as bounds of it: they keep these at every iterate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import casadi as ca
import numpy as np

from gdalembert.nlp.entries import Indices
from gdalembert.nlp.stage_terms import BoundedEntries, Limit, Rows, StageTerm, Variables


def simple_bounds(
    term: StageTerm, variables: Variables, p: ca.MX, *, equations_as_rows: bool
) -> tuple[StageTerm, list[BoundedEntries]]:
    """A term without rows that are bounds of one variable at each place, and these.

    ``equations_as_rows``: whether equations are left alone.
    """
    rows, bounded, first = list[Rows](), list[BoundedEntries](), 0
    graph: ca.Function | None = None
    for kind in term.rows:
        chosen = range(first, first + kind.count)
        first += kind.count
        rows.append(kind)
        if kind.next_state is not None or not kind.transform.sparsity().is_diag() or kind.free.all():
            continue
        if not ca.is_equal(kind.transform, ca.DM.eye(kind.count)):
            continue
        graph = _scalar(term.function) if graph is None else graph
        if graph is None:
            return term, []
        left_out = np.zeros((kind.count, len(term.intervals)), dtype=bool) if kind.left_out is None else kind.left_out
        taken = left_out.copy()
        for i, entry, slope, offset in _linear_rows(graph, chosen):
            entries = term.variables[entry]
            if (equations_as_rows and kind.equal[i]) or kind.free[i] or not _are_variables(entries, variables):
                continue
            kept = np.flatnonzero(~left_out[i])
            if len(kept):
                bounded.append(
                    BoundedEntries(
                        labels=[term.label_of(kind, i, k) for k in kept.tolist()],
                        entries=entries[kept],
                        slope=slope,
                        offset=_at_places(offset, term.parameters[:, kept], p),
                        lower=_limit(kind.lower, i),
                        upper=_limit(kind.upper, i),
                        is_equation=bool(kind.equal[i]),
                    )
                )
            taken[i] = True
        rows[-1] = replace(kind, left_out=taken)
    return replace(term, rows=rows), bounded


def _scalar(function: ca.Function) -> ca.Function | None:
    """The Function by scalar operations; none if it calls what has none, as a Callback."""
    try:
        return function.expand()
    except RuntimeError:
        return None


def _linear_rows(graph: ca.Function, chosen: range) -> Iterator[tuple[int, int, float, ca.Function]]:
    """Of the chosen rows those that are s y_j + o(p), with a number s: the row among them, j, s and o."""
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
    """Whether each entry of x is a variable of its own, in its place and with its unit."""
    if len(np.unique(variables.copies[entries])) < len(entries):
        return False
    own = variables.shapes[entries.tolist(), :]
    return bool(np.all(np.bincount(own.sparsity().get_triplet()[0]) == 1)) and all(x == 1 for x in own.nonzeros())


def _at_places(offset: ca.Function, parameters: Indices, p: ca.MX) -> ca.MX:
    """A column with the offset at each place."""
    count = parameters.shape[1]
    own = ca.reshape(p[parameters.ravel(order="F").tolist()], *parameters.shape)
    return ca.vec(ca.densify(offset.map(count).call([own], True, False)[0]))


def _limit(limit: Limit, i: int) -> ca.MX:
    return ca.MX(limit[i])
