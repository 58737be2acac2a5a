"""Outputs of a robot: what sensors measure of its motion, as Functions of (q, v, a, u[, p])."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError
from gdalembert.spatial.expressions import Expression, evaluate

INPUTS = ("q", "v", "a", "u")
"""The inputs of an output, in their order; p follows, if the robot has parameters."""


def output_function(
    dyn: Dynamics, name: str, output: Expression, extra: Mapping[str, int] | None = None
) -> ca.Function:
    """(q, v, a, u[, p]) → (y): an output, whichever of these inputs it has.

    Args:
        dyn: the robot.
        name: that of the output, for messages.
        output: a ``casadi.Function`` or a callable whose inputs are named q, v, a, u or p, as ``arm.strain("link1",
            fibre=1e-3)`` or ``lambda q, v: …``; its only value is a number, a column, or a matrix, column by column.
        extra: lengths of other inputs by name, which follow p.

    Raises:
        ArgumentTypeError: if it is neither, or its value is no matrix of CasADi's.
        ArgumentError: if it has other inputs, depends on none of them, or fails.
    """
    sizes = {"q": dyn.tree.nq, "v": dyn.tree.nv, "a": dyn.tree.nv, "u": dyn.actuation.shape[1]}
    sizes |= ({"p": len(dyn.parameters)} if dyn.parameters else {}) | dict(extra or {})
    symbols = {key: ca.MX.sym(key, size) for key, size in sizes.items()}
    try:
        graph = evaluate(output, symbols, "sample").evaluated
    except (ArgumentError, ArgumentTypeError) as error:
        raise type(error)(f"output {name!r}: {error}") from error
    except GdalembertError as error:
        raise ArgumentError(f"output {name!r}: {error}") from error
    y = graph(*(symbols[key] for key in graph.name_in()))
    whole = ca.Function("output", list(symbols.values()), [ca.densify(y)], list(symbols), ["y"])
    try:
        return whole.expand()
    except RuntimeError:  # as of an interpolant, or of a Function of machine code
        return whole


def output_functions(
    context: str, dyn: Dynamics, outputs: Mapping[str, Expression], extra: Mapping[str, int] | None = None
) -> dict[str, ca.Function]:
    """Outputs by name, each as of :func:`output_function`.

    Raises:
        ArgumentTypeError: if they are no mapping of names.
        ArgumentError: if there are none, or one cannot be used.
    """
    if not isinstance(outputs, Mapping) or not all(isinstance(name, str) for name in outputs):
        raise ArgumentTypeError(
            f"{context}: outputs: expected {{name: Function or callable of q, v, a, u, p}}, got "
            f"{type(outputs).__name__}"
        )
    if not outputs:
        raise ArgumentError(f"{context}: outputs: there are none; give at least one")
    return {name: output_function(dyn, name, output, extra) for name, output in outputs.items()}
