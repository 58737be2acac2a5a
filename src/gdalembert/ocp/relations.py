"""Constraints of the variables of several problems."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.ocp.parameters import foreign
from gdalembert.spatial.arrays import Array

_RELATIONS = (ca.OP_EQ, ca.OP_LE, ca.OP_LT)


class Relation:
    """An equation or inequality of two expressions.

    Args:
        constraint: by ``==``, ``<=`` or ``>=``. ``known``: the symbols that it may have.

    Attributes:
        rows: the first expression less the second, at most 0. ``least``: their lower bounds, 0 in an equation.

    Raises:
        ArgumentTypeError, ArgumentError: if it is none, or has other symbols.
    """

    def __init__(self, constraint: ca.MX, known: Sequence[ca.MX]) -> None:
        if not isinstance(constraint, ca.MX) or not any(constraint.is_op(op) for op in _RELATIONS):
            raise ArgumentTypeError(
                f"subject_to: got {constraint!r}; give an equation or inequality, as last.q[:, -1] == first.q[:, 0]"
            )
        self._constraint = constraint
        self.check(known)
        left, right = (constraint.dep(i) for i in range(2))
        shape = max(left.shape, right.shape)
        whole = [ca.repmat(side, *shape) if side.is_scalar() else side for side in (left, right)]
        self.rows = ca.vec(whole[0] - whole[1])
        self.least: Array = np.full(self.rows.shape[0], 0.0 if constraint.is_op(ca.OP_EQ) else -np.inf)

    def check(self, known: Sequence[ca.MX]) -> None:
        """Refuse symbols that are not known.

        Raises:
            ArgumentError: if it has one.
        """
        if other := foreign(self._constraint, known):
            raise ArgumentError(
                f"subject_to: the constraint has the symbol {other[0].name()!r}, which is in none of the phases; give "
                "variables and parameters of theirs"
            )
