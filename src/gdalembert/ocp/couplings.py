"""What a problem asks of no interval alone: costs of the whole motion, and rows of any instants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import casadi as ca
import numpy as np

from gdalembert.nlp.entries import NOWHERE
from gdalembert.nlp.stage_program import BoundedEntries, Rows, StageTerm
from gdalembert.ocp.constraints import Bound, Relation
from gdalembert.ocp.initial import NaturalModes, plain_states
from gdalembert.ocp.parameters import Inputs, matrices_of
from gdalembert.ocp.stage import Motion


class Couplings:
    """Terms of a cost that are no integrals, and relations, of any variables of a motion.

    Args:
        modes: in whose place the solver has modal coordinates.
        equations_as_rows: whether an equation of one variable stays a row, as for solvers of stages, which take no
            variable that is fixed.

    Attributes:
        bounded: bounds of one variable each, which are no rows: of the relations that :meth:`terms` has seen.
    """

    def __init__(self, motion: Motion, inputs: Inputs, modes: NaturalModes, *, equations_as_rows: bool) -> None:
        self._motion, self._inputs, self._equations_as_rows = motion, inputs, equations_as_rows
        self._variables = motion.variables
        self._size = sum(x.numel() for x in self._variables)
        self._states = motion.entries(motion.state)
        plain = [*plain_states(motion.system, modes), *range(motion.size, motion.state.shape[0])]
        self._plain = {*self._states[plain, :].ravel().tolist(), *motion.entries(motion.u).ravel().tolist()}
        self.bounded: list[BoundedEntries] = []

    def terms(self, costs: Sequence[ca.MX], relations: Sequence[Relation]) -> Iterator[StageTerm]:
        """A term for each cost, and for each relation that is more than bounds of single variables."""
        for cost in costs:
            yield self._term(ca.MX(0, 1), cost, [])
        for relation in relations:
            rows, lower, upper = self._without_simple_bounds(relation)
            if rows.numel():
                yield self._term(rows, ca.MX(0), [Rows.unscaled(relation.label, lower, upper)])

    def _of_all(self, expressions: Sequence[ca.MX], total: ca.MX, p: ca.MX) -> list[ca.MX]:
        """Expressions, with the variables as parts of one column, and the parameters of another."""
        graph = ca.Function("graph", [*self._variables, *self._inputs.symbols], list(expressions))
        return list(graph.call([*matrices_of(total, self._variables), *self._inputs.split(p)], True, False))

    def _without_simple_bounds(self, relation: Relation) -> tuple[ca.MX, Bound, Bound]:
        """The rows that are more than bounds of one variable each; the others become bounds."""
        p, total = self._inputs.p, ca.MX.sym("all", self._size)
        values = self._of_all([ca.vec(relation.rows)], total, p)[0]
        slopes = ca.jacobian(values, total)
        bounds = (x if isinstance(x, ca.MX) else ca.MX(ca.DM(x)) for x in (relation.lower, relation.upper))
        limits = [self._inputs.of(x) for x in bounds]
        offset = ca.Function("offset", [total, p], [values])(ca.DM.zeros(self._size), p)
        slope = ca.Function("slope", [total, p], [slopes])(0, 0)
        simple = self._simple_rows(relation, values, slopes, total)
        for i, entry in simple.items():
            self.bounded.append(
                BoundedEntries(
                    relation.label._replace(where=self._place(entry)),
                    np.array([entry]),
                    np.array([float(slope[i, entry])]),
                    offset[i],
                    limits[0][i],
                    limits[1][i],
                    relation.is_equation,
                )
            )
        left = [i for i in range(values.numel()) if i not in simple]
        lower, upper = relation.lower[left], relation.upper[left]
        if relation.lower is relation.upper:  # which makes them equations
            upper = lower
        return ca.vec(relation.rows)[left], lower, upper

    def _simple_rows(self, relation: Relation, values: ca.MX, slopes: ca.MX, total: ca.MX) -> dict[int, int]:
        """The rows that are linear in one variable of the solver, with a slope that is a number, and the variables."""
        if self._equations_as_rows and relation.is_equation:
            return {}
        rows, columns = slopes.sparsity().get_triplet()
        alone = np.bincount(rows, minlength=values.numel()) == 1
        linear = ~np.array(ca.which_depends(values, total, 2, True), dtype=bool)
        entries = dict(zip(rows, columns, strict=True))
        return {
            i: entries[i]
            for i in np.flatnonzero(alone & linear).tolist()
            if entries[i] in self._plain and not ca.depends_on(slopes[i, entries[i]], self._inputs.p)
        }

    def _place(self, entry: int) -> str:
        """Where a variable is, for messages."""
        return f"at grid point {entry // len(self._states)}" if entry < self._states.size else ""

    def _term(self, rows: ca.MX, cost: ca.MX, kinds: Sequence[Rows]) -> StageTerm:
        """Rows and a cost, of the variables that they have."""
        total, p = ca.MX.sym("all", self._size), ca.MX.sym("p", self._inputs.p.numel())
        both = ca.densify(ca.vertcat(*self._of_all([rows, cost], total, p)))
        entries = np.array([], dtype=int)
        if ca.depends_on(both, total):
            entries = np.unique(np.array(ca.jacobian_sparsity(both, total).get_triplet()[1], dtype=int))
        y, count = ca.MX.sym("y", len(entries)), list(range(len(entries)))
        spread = ca.DM.triplet(entries.tolist(), count, ca.DM.ones(len(entries)), self._size, len(entries))
        values = ca.Function("values", [total, p], [both]).call([spread @ y, p], True, False)[0]
        widths = [np.repeat(np.arange(x.shape[1]) // width, x.shape[0]) for x, width in self._motion.blocks]
        intervals = np.concatenate(widths)[entries]
        if len(set(intervals.tolist())) == 1:
            kinds = [each.at(f"at grid point {intervals[0]}") for each in kinds]
        return StageTerm(
            function=ca.Function("term", [y, p], [values[:-1], values[-1]]),
            variables=entries[:, None],
            parameters=np.arange(p.numel())[:, None],
            intervals=np.array([intervals.min() if len(intervals) else NOWHERE]),
            where="",
            rows=kinds,
        )
