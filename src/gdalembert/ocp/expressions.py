"""Expressions of a motion, with inputs by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import casadi as ca

from gdalembert.compilation.external import external
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.ocp.parameters import foreign
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.interrupts import interruptible

Expression = ca.Function | Callable[..., Any]
"""A ``casadi.Function`` or a callable whose inputs are named q, v, a, u, t, forces, or p: the robot's parameters."""

_COMPARISONS = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR)


_NONE: Mapping[str, ca.MX] = {}


class EvaluatedExpression(NamedTuple):
    """An expression as a Function with named inputs, and its values, a column for each instant."""

    graph: ca.Function
    values: ca.MX


def evaluate(
    expression: Expression,
    available: Mapping[str, ca.MX],
    at: str,
    parameters: Mapping[str, ca.MX] = _NONE,
    *,
    compile_for: str | None = None,
) -> EvaluatedExpression:
    """The expression at each column of the ``available`` quantities; a single column, as that of p, is for all of them.

    It may contain the symbols of ``parameters`` too, which become inputs of its Function. ``compile_for``: evaluate it
    as machine code; a message names this.

    Raises:
        CompilationError: if it cannot be compiled.
        ArgumentTypeError, ArgumentError: if it is not an expression of these with one value; the message names ``at``.
    """
    if isinstance(expression, ca.Function):
        names = expression.name_in()
    elif callable(expression):
        arguments = inspect.signature(expression).parameters.values()
        names = [each.name for each in arguments if each.default is inspect.Parameter.empty]
    else:
        raise ArgumentTypeError(
            f"{expression!r} is not an expression; give a casadi.Function, or a callable of q, v, a, u"
        )
    if not names or any(name not in available for name in names):
        raise ArgumentError(
            f"an expression at the {at} has the inputs {names}; give them names among {list(available)}"
        )
    if names == ["p"]:
        raise ArgumentError(f"an expression at the {at} of p alone is the same all the time; take problem.p itself")
    symbols = [ca.MX.sym(name, available[name].shape[0]) for name in names]
    try:
        value = expression(*symbols)
    except (RuntimeError, NotImplementedError, TypeError) as error:
        raise ArgumentError(f"an expression of {names} fails: {str(error).strip().splitlines()[-1]}") from error
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
    return EvaluatedExpression(graph, _fast(graph, compile_for).map(n)(*columns))


def _check_symbols(value: ca.MX, inputs: list[ca.MX], parameters: Mapping[str, ca.MX]) -> None:
    """Refuse symbols that are neither inputs nor parameters of one column."""
    for name, symbol in parameters.items():
        if symbol.shape[1] > 1:
            raise ArgumentError(
                f"an expression has the parameter {name!r} of every instant; take it as an input, as lambda q, "
                f"{name}: …"
            )
    if other := foreign(value, [*inputs, *parameters.values()]):
        raise ArgumentError(
            f"an expression has the symbol {other[0].name()!r}, which is neither an input of it nor a parameter of the "
            "problem; give it another input, or make it by problem.parameter(name, size)"
        )


def _fast(graph: ca.Function, compile_for: str | None) -> ca.Function:
    """The same of scalar operations, if it has no others; unless it is linear, with whole Jacobians, or compiled."""
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
    return whole if compile_for is None else external(whole, 2, compile_for)


def evaluable(where: str, expression: Any, known: Iterable[ca.MX]) -> ca.MX:
    """An expression, or numbers, that have a value where a solver ended.

    Raises:
        ArgumentTypeError, ArgumentError: if it is neither, or has symbols that are not known.
    """
    if not isinstance(expression, ca.MX):
        return ca.MX(ca.DM(numbers(where, expression, expected="an expression of the problem, as problem.q")))
    if other := foreign(expression, known):
        raise ArgumentError(
            f"{where}: the expression has the symbol {other[0].name()!r}, which was not in the problem that was "
            "solved; take problem.q, v, u, t, integrals and parameters"
        )
    return expression


@interruptible
def check_cost(opti: ca.Opti, cost: object) -> None:
    """Refuse what cannot be minimised.

    Raises:
        ArgumentTypeError, ArgumentError: if it is no expression, not scalar, constant, or has a foreign symbol.
    """
    if not isinstance(cost, ca.MX):
        hint = "nothing can change it" if isinstance(cost, int | float) else "it is not an expression"
        raise ArgumentTypeError(f"minimize: {hint}; give one of duration, where it is free, q, v, u, or an integral")
    if not cost.is_scalar():
        raise ArgumentError(f"minimize: the cost has {cost.numel()} entries; give one, as ca.sum1 of them")
    symbols = ca.symvar(cost)
    if not symbols:
        raise ArgumentError("minimize: nothing can change the cost; give an expression of q, v, u, or an integral")
    for symbol in symbols:
        try:
            opti.debug.get_meta(symbol)
        except RuntimeError:
            raise ArgumentError(
                f"minimize: the cost has the symbol {symbol.name()!r}, which is none of the problem; make parameters "
                "by problem.parameter(name, size), or variables by problem.opti.variable()"
            ) from None
