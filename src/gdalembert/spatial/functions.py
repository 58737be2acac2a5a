"""The one place that makes ``casadi.Function`` objects: named, dense, and with every value computed once."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.common_subexpressions import eliminate_common_subexpressions


def function(name: str, inputs: Mapping[str, ca.SX], outputs: Mapping[str, Matrix]) -> ca.Function:
    """A Function with named inputs and outputs; every output is dense, so that its shape is all a caller must know.

    A ``casadi.Function`` behaves as CasADi's functions do: it takes numbers, SX or MX, by position or by name; a
    missing keyword is 0, a scalar is broadcast.
    """
    dense = [ca.densify(ca.SX(output)) for output in outputs.values()]
    arguments = list(inputs.values())
    small = eliminate_common_subexpressions(arguments, dense)
    return ca.Function(name, arguments, small, list(inputs), list(outputs))


def symbols(**lengths: int) -> dict[str, ca.SX]:
    """Symbolic vectors by name."""
    return {name: ca.SX.sym(name, length) for name, length in lengths.items()}


def directional_derivative(expression: ca.SX, x: ca.SX, direction: ca.SX) -> ca.SX:
    """d/ds expression(x + s direction) at s = 0."""
    return ca.jtimes(expression, x, direction)


def derivative_along(expression: Matrix, x: Matrix, directions: Matrix) -> Matrix:
    """∂expression/∂x @ directions, differentiated forward (column by column) or in reverse (row by row).

    Which makes the smaller graph depends on the expression, so both are tried.
    """
    forward = ca.jtimes(expression, x, directions)
    reverse = ca.jtimes(expression, x, ca.DM.eye(expression.shape[0]), True).T @ directions
    return smaller(forward, reverse)


def smaller(one: Matrix, other: Matrix) -> Matrix:
    """The one of two equal expressions that has fewer operations; the first that consists of numbers, if one does."""
    for each in (one, other):
        if isinstance(each, ca.DM):
            return each
    return min(ca.cse([one])[0], ca.cse([other])[0], key=ca.n_nodes)
