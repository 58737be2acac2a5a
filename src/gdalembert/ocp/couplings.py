"""What a problem asks of no interval alone: costs of the whole motion, and rows of any instants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentTypeError, shown
from gdalembert.nlp.entries import NOWHERE, Indices, Label
from gdalembert.nlp.stage_terms import Rows, StageTerm
from gdalembert.nlp.terms import of_its_variables
from gdalembert.ocp.constraints import Bound
from gdalembert.ocp.parameters import Inputs, matrices_of
from gdalembert.spatial.arrays import Array


class Relation(NamedTuple):
    """Rows of variables at any instants: lower ≤ rows ≤ upper."""

    label: Label
    rows: ca.MX
    lower: Bound
    upper: Bound


_RELATIONS = (ca.OP_EQ, ca.OP_LE, ca.OP_LT)


def relation(where: str, constraint: Any) -> tuple[ca.MX, Array, Array]:
    """The first expression of an equation or inequality less the second, at most 0; at least 0, too, in an equation."""
    if not isinstance(constraint, ca.MX) or not any(constraint.is_op(op) for op in _RELATIONS):
        raise ArgumentTypeError(
            f"{where}: got {shown(constraint)}; give an equation or inequality, as last.q[:, -1] == first.q[:, 0]"
        )
    left, right = (constraint.dep(i) for i in range(2))
    shape = max(left.shape, right.shape)
    whole = [ca.repmat(side, *shape) if side.is_scalar() else side for side in (left, right)]
    rows = ca.vec(whole[0] - whole[1])
    zeros = np.zeros(rows.shape[0])
    return rows, zeros if constraint.is_op(ca.OP_EQ) else zeros - np.inf, zeros


class Whole(NamedTuple):
    """All variables and parameters of motions, which expressions of several instants have.

    Attributes:
        variables: matrices, whose entries are those of x behind each other. ``intervals``: of these entries.
        parameters: matrices, whose entries are those of p.
    """

    variables: Sequence[ca.MX]
    intervals: Indices
    parameters: Sequence[ca.MX]

    def term(
        self, rows: Sequence[tuple[Rows, ca.MX]], cost: ca.MX | float = 0.0, *, interval: int | None = None
    ) -> StageTerm:
        """Rows and a cost, of the variables that they have; by default of the first interval of these."""
        total, p = (ca.MX.sym("all", sum(x.numel() for x in given)) for given in (self.variables, self.parameters))
        both = ca.densify(ca.vertcat(*(ca.vec(x) for _, x in rows), cost))
        graph = ca.Function("graph", [*self.variables, *self.parameters], [both])
        given = matrices_of(total, self.variables), matrices_of(p, self.parameters)
        entries, y, values = of_its_variables(graph.call([*given[0], *given[1]], True, False)[0], total, p)
        if interval is None:
            interval = self.intervals[entries].min(initial=max(self.intervals)) if len(entries) else NOWHERE
        return StageTerm(
            function=ca.Function("term", [y, p], [values[:-1], values[-1]]),
            variables=entries[:, None],
            parameters=np.arange(p.numel())[:, None],
            intervals=np.array([interval]),
            where="at grid point" if len(set(self.intervals[entries].tolist())) == 1 else "",
            rows=[kind for kind, _ in rows],
        )


def couplings(
    whole: Whole, inputs: Inputs, costs: Sequence[ca.MX], relations: Sequence[Relation]
) -> Iterator[StageTerm]:
    """A term for each cost that is no integral, and for each relation.

    Args:
        costs: scalars, of the variables and parameters of a motion.
        relations: rows of these, between bounds that are numbers or expressions of parameters.
    """
    for cost in costs:
        yield whole.term([], cost)
    for relation in relations:
        low = inputs.of(relation.lower) if isinstance(relation.lower, ca.MX) else relation.lower
        high = inputs.of(relation.upper) if isinstance(relation.upper, ca.MX) else relation.upper
        limits = low, low if relation.lower is relation.upper else high
        yield whole.term([(Rows.unscaled(relation.label, *limits), ca.vec(relation.rows))])
