"""Expressions of a motion, by the names of their inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca

from gdalembert.errors import ArgumentError, ArgumentTypeError

Expression = ca.Function | Callable[..., Any]
"""Of q, v, a, u: a ``casadi.Function``, or a callable, whose inputs have these names."""


def along(expression: Expression, available: Mapping[str, ca.MX], at: str) -> ca.MX:
    """The values of an expression, a column for each column of what is ``available`` by name.

    Raises:
        ArgumentTypeError, ArgumentError: if it is no expression of these names with one value; ``at`` says where.
    """
    if isinstance(expression, ca.Function):
        names = expression.name_in()
    elif callable(expression):
        names = list(inspect.signature(expression).parameters)
    else:
        raise ArgumentTypeError(f"{expression!r} is no expression; give a casadi.Function, or a callable of q, v, a, u")
    if not names or any(name not in available for name in names):
        raise ArgumentError(
            f"an expression at the {at} has the inputs {names}; give them names among {list(available)}"
        )
    symbols = [ca.MX.sym(name, available[name].shape[0]) for name in names]
    value = expression(*symbols)
    if isinstance(value, tuple | list | dict):
        raise ArgumentError("an expression has one value; pick it, as lambda q, v: f(q, v)[0]")
    value = ca.MX(value)
    if not ca.symvar(value):
        raise ArgumentError("an expression depends on none of its inputs; write it with the inputs it is given")
    graph = ca.Function("expression", symbols, [ca.vec(value)])
    return graph.map(available[names[0]].shape[1])(*(available[name] for name in names))
