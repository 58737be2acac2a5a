"""Expressions of a motion, with inputs by name, and their bounds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError, ArgumentTypeError, reason_of, shown
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.arrays import Array

Expression = ca.Function | Callable[..., Any]
"""A ``casadi.Function`` or a callable whose inputs are named q, v, a, u, t, forces, or p: the robot's parameters."""

_COMPARISONS = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR)

_NONE: Mapping[str, ca.MX] = {}


class EvaluatedExpression(NamedTuple):
    """An expression as a Function with named inputs, what evaluates it, and its values, a column for each instant."""

    graph: ca.Function
    evaluated: ca.Function
    values: ca.MX


def evaluate(
    expression: Expression,
    available: Mapping[str, ca.MX],
    at: str,
    parameters: Mapping[str, ca.MX] = _NONE,
    *,
    compiled: Callable[[ca.Function], ca.Function] | None = None,
) -> EvaluatedExpression:
    """The expression at each column of the ``available`` quantities; a single column, as that of p, is for all of them.

    It may contain the symbols of ``parameters`` too, which become inputs of its Function. ``compiled``: what evaluates
    a Function of scalar operations in its place. ``at`` is for messages.
    """
    if isinstance(expression, ca.Function):
        names = expression.name_in()
    elif callable(expression):
        try:
            arguments = inspect.signature(expression).parameters.values()
        except ValueError:  # of what is written in C
            raise ArgumentTypeError(f"{shown(expression)} does not say what its inputs are; give a lambda") from None
        names = [argument.name for argument in arguments if argument.default is inspect.Parameter.empty]
    else:
        hint = "give a casadi.Function, or a callable of q, v, a, u"
        raise ArgumentTypeError(f"{shown(expression)} is not an expression; {hint}")
    if not names or any(name not in available for name in names):
        hint = f"give them names among {list(available)}"
        raise ArgumentError(f"an expression at the {at} has the inputs {names}; {hint}")
    if names == ["p"]:
        raise ArgumentError(f"an expression at the {at} of p alone is the same all the time; take problem.p itself")
    symbols = [ca.MX.sym(name, available[name].shape[0]) for name in names]
    try:
        value = expression(*symbols)
    except Exception as error:
        raise ArgumentError(f"an expression of {names} fails: {reason_of(error)}") from error
    if isinstance(value, tuple | list | dict):
        raise ArgumentError("an expression has one value; pick it, as lambda q, v: f(q, v)[0]")
    try:
        value = ca.MX(value)
    except NotImplementedError:
        raise ArgumentTypeError(f"an expression gives {value!r}; give a number or a matrix of CasADi's") from None
    used = {name: symbol for name, symbol in parameters.items() if ca.depends_on(value, symbol)}
    _check_symbols(value, symbols, used)
    if not any(ca.depends_on(value, symbol) for symbol in symbols):
        raise ArgumentError("an expression depends on none of its inputs; write it with the inputs it is given")
    if any(value.is_op(op) for op in _COMPARISONS):
        raise ArgumentError("an expression is a comparison; give what is compared, with its bounds as lower and upper")
    for name, symbol in zip(names, symbols, strict=True):
        if name in used:
            value = ca.substitute(value, used.pop(name), symbol)
    names = [*names, *used]
    graph = ca.Function("expression", [*symbols, *used.values()], [ca.vec(value)], names, ["value"])
    n = max(available[name].shape[1] for name in names)
    columns = (ca.repmat(x, 1, n // x.shape[1]) for x in (available[name] for name in names))
    fast = _fast(graph, compiled)
    return EvaluatedExpression(graph, fast, fast.map(n)(*columns))


def _check_symbols(value: ca.MX, inputs: list[ca.MX], parameters: Mapping[str, ca.MX]) -> None:
    """Refuse symbols that are neither inputs nor parameters of one column."""
    for name, symbol in parameters.items():
        if symbol.shape[1] > 1:
            hint = f"take it as an input, as lambda q, {name}: …"
            raise ArgumentError(f"an expression has the parameter {name!r} of every instant; {hint}")
    if other := foreign(value, [*inputs, *parameters.values()]):
        raise ArgumentError(
            f"an expression has the symbol {other[0].name()!r}, which is neither an input of it nor a parameter of the "
            "problem; give it another input, or make it by problem.parameter(name, size)"
        )


def _fast(graph: ca.Function, compiled: Callable[[ca.Function], ca.Function] | None) -> ca.Function:
    """Function of scalar operations, if it has no others; unless it is linear, with whole Jacobians, or compiled."""
    try:
        scalar = graph.expand()
    except RuntimeError:
        return graph
    inputs, by_jacobian = scalar.sx_in(), {"enable_forward": False}
    values = scalar.call(inputs)
    if not any(ca.which_depends(values[0], ca.veccat(*inputs), 2)):
        return scalar
    options: dict[str, Any] = by_jacobian | {"reverse_options": by_jacobian}
    whole = ca.Function("expression", inputs, values, graph.name_in(), graph.name_out(), options)
    return whole if compiled is None else compiled(whole)


def foreign(expression: ca.MX, known: Iterable[ca.MX]) -> list[ca.MX]:
    """The symbols of an expression that are not among the known ones."""
    known_hashes = {symbol.__hash__() for symbol in known}
    return [symbol for symbol in ca.symvar(expression) if symbol.__hash__() not in known_hashes]


def path_bounds(lower: npt.ArrayLike, upper: npt.ArrayLike, size: int) -> tuple[Array, Array]:
    """The bounds of an expression with so many entries, a matrix column by column."""
    low, high = (path_bound(name, bound, size) for name, bound in (("lower", lower), ("upper", upper)))
    if np.any(low > high):
        raise ArgumentError(f"path: a lower bound is above the upper one: {low} and {high}")
    if not np.any(np.isfinite(low) | np.isfinite(high)):
        raise ArgumentError("path: neither lower nor upper is finite; give one of them")
    return low, high


def path_bound(name: str, bound: Any, size: int) -> Array:
    """The numbers of a bound, one for each entry."""
    array = numbers(f"path: {name}", bound, finite=False)
    if np.any(np.isnan(array)):
        raise ArgumentError(f"path: {name} is not a number; give numbers, or leave it out")
    if array.size not in (1, size):
        raise ArgumentError(f"path: {name} has {array.size} numbers; give {size}, or one")
    return np.broadcast_to(array.ravel(order="F"), size)
