"""What a problem asks of no interval alone: costs of the whole motion, and rows of any instants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentTypeError, shown
from gdalembert.nlp.entries import NOWHERE, Label
from gdalembert.nlp.stage_terms import Rows, StageTerm
from gdalembert.nlp.terms import of_its_variables
from gdalembert.ocp.constraints import Bound
from gdalembert.ocp.parameters import Inputs, matrices_of
from gdalembert.ocp.stage import Motion
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


def couplings(
    motion: Motion, inputs: Inputs, costs: Sequence[ca.MX], relations: Sequence[Relation]
) -> Iterator[StageTerm]:
    """A term for each cost that is no integral, and for each relation.

    Args:
        costs: scalars, of the variables of ``motion`` and the parameters of ``inputs``.
        relations: rows of these, between bounds that are numbers or expressions of parameters.
    """
    for cost in costs:
        yield _coupled(motion, inputs, ca.MX(0, 1), cost, None)
    for relation in relations:
        yield _coupled(motion, inputs, ca.vec(relation.rows), ca.MX(0), relation)


def _coupled(motion: Motion, inputs: Inputs, rows: ca.MX, cost: ca.MX, relation: Relation | None) -> StageTerm:
    """Rows and a cost, of the variables that they have."""
    variables, p = motion.variables, ca.MX.sym("p", inputs.p.numel())
    total = ca.MX.sym("all", sum(x.numel() for x in variables))
    graph = ca.Function("graph", [*variables, *inputs.symbols], [ca.densify(ca.vertcat(rows, cost))])
    both = graph.call([*matrices_of(total, variables), *inputs.split(p)], True, False)[0]
    entries, y, values = of_its_variables(both, total, p)
    widths = [np.repeat(np.arange(x.shape[1]) // width, x.shape[0]) for x, width in motion.blocks]
    intervals = np.concatenate(widths)[entries]
    kinds = []
    if relation is not None:
        label = relation.label
        if len(set(intervals.tolist())) == 1:
            label = label._replace(where=f"at grid point {intervals[0]}")
        lower, upper = relation.lower, relation.upper
        limits = [inputs.of(x) if isinstance(x, ca.MX) else x for x in (lower, upper)]
        kinds = [Rows.unscaled(label, limits[0], limits[0] if lower is upper else limits[1])]
    return StageTerm(
        function=ca.Function("term", [y, p], [values[:-1], values[-1]]),
        variables=entries[:, None],
        parameters=np.arange(p.numel())[:, None],
        intervals=np.array([intervals.min() if len(intervals) else NOWHERE]),
        where="",
        rows=kinds,
    )
