"""Formulas of a ``casadi.Function``: its instructions, evaluated in another algebra.

The algebra is SymPy's (:func:`to_sympy`) or that of trigonometric polynomials (:func:`to_trigonometric`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
import numpy.typing as npt
import sympy

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.spatial.arguments import integer
from gdalembert.spatial.instructions import evaluate, operation_name
from gdalembert.symbolic.formula import Formula, TrigonometricPolynomial, formula, rational

Formulas: TypeAlias = npt.NDArray[np.object_]
"""A matrix of :class:`~gdalembert.symbolic.formula.TrigonometricPolynomial`, two-dimensional."""
Inputs: TypeAlias = Mapping[str, Sequence[Formula]]
"""A formula (a number, a string, an expression) for each entry of inputs of a Function."""

MAX_TERMS = 1_000_000
"""The default limit of products of two terms: a few seconds of work."""


@dataclass(frozen=True)
class Algebra:
    """How constants and operations (``ca.OP_…``) are evaluated."""

    name: str
    constant: Callable[[float], Any]
    operations: Mapping[int, Callable[..., Any]]


def to_sympy(function: ca.Function, inputs: Inputs | None = None) -> dict[str, sympy.Matrix]:
    """The outputs of a Function as SymPy matrices, by name.

    The expressions have the structure of the graph; nothing is multiplied out. Constants of the graph become the
    fractions that they stand for: 0.25 is 1/4.

    Args:
        function: any ``casadi.Function`` of elementary operations, SX or MX.
        inputs: ``{input: formulas}``, one for each entry, column by column. By default entry k of q is the
            real symbol ``q_k``, from q_1 on; entry (i, j) of a matrix ``M_i_j``.

    Raises:
        ArgumentTypeError: if it is not a ``casadi.Function``, or a formula is not one.
        UnknownNameError: if ``inputs`` names an input that does not exist.
        ArgumentError: if ``inputs`` has the wrong number of entries or a string that is not a formula, or uses the
            name of another input's entry.
        UnsupportedError: if SymPy lacks an operation of the graph; the message names it.
    """
    results = _evaluated(_expanded(function), _values(function, inputs), _SYMPY)
    return {name: sympy.Matrix(result) for name, result in results.items()}


def to_trigonometric(
    function: ca.Function,
    inputs: Inputs | None = None,
    *,
    outputs: Iterable[str] | None = None,
    max_terms: int = MAX_TERMS,
) -> dict[str, Formulas]:
    """The outputs of a Function in the unique form of trigonometric polynomials, by name.

    Args:
        function, inputs: as for :func:`to_sympy`; expressions must be trigonometric polynomials.
        outputs: names of the wanted outputs; by default all.
        max_terms: the number of products of two terms at which to give up; a million take seconds.

    Raises:
        ArgumentTypeError, ArgumentError: as :func:`to_sympy`.
        UnknownNameError: if there is no such input or output.
        UnsupportedError: if the graph is not a trigonometric polynomial, or takes more than ``max_terms`` products.
    """
    graph = _with_outputs(_expanded(function), outputs)
    values = [[TrigonometricPolynomial.of(x) for x in entries] for entries in _values(function, inputs)]
    parameters = values[graph.index_in("p")] if "p" in graph.name_in() else []
    budget = _Budget(graph, max_terms, any(x.as_number() is None for x in parameters))
    algebra = Algebra(
        "a trigonometric polynomial",
        TrigonometricPolynomial.of,
        _POLYNOMIAL | {ca.OP_MUL: budget.product, ca.OP_SQ: lambda x: budget.product(x, x)},
    )
    return _evaluated(graph, values, algebra)


class _Budget:
    """Counts the products of terms, and gives up when there are too many."""

    def __init__(self, graph: ca.Function, max_terms: int, parametric: bool) -> None:
        max_terms = integer("max_terms", max_terms, 1)
        self.graph, self.max_terms, self.spent, self.products = graph, max_terms, 0, 0
        self.advice = "give numbers for parameters, " if parametric else ""

    def product(self, a: TrigonometricPolynomial, b: TrigonometricPolynomial) -> TrigonometricPolynomial:
        self.spent += len(a) * len(b)
        self.products += 1
        if self.spent > self.max_terms:
            graph = self.graph
            entries = sum(graph.numel_in(i) for i in range(graph.n_in()))
            raise UnsupportedError(
                f"{graph.name()}: too large for closed forms: its {graph.n_instructions()} instructions in {entries} "
                f"symbols take more than max_terms={self.max_terms} products of terms (the graph's product "
                f"{self.products} alone is {len(a)} by {len(b)} terms); ask for fewer outputs, {self.advice}"
                "or raise max_terms"
            )
        return a * b


def _expanded(function: ca.Function) -> ca.Function:
    if not isinstance(function, ca.Function):
        raise ArgumentTypeError(f"expected a casadi.Function, got {type(function).__name__}")
    if function.is_a("SXFunction"):
        return function
    try:
        return function.expand()
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1]
        raise UnsupportedError(f"{function.name()}: cannot be expanded to scalar operations: {reason}") from None


def _with_outputs(function: ca.Function, outputs: Iterable[str] | None) -> ca.Function:
    if outputs is None:
        return function
    wanted = [outputs] if isinstance(outputs, str) else list(outputs)
    for name in wanted:
        if name not in function.name_out():
            raise UnknownNameError("output", name, function.name_out())
    symbols = function.sx_in()
    results = dict(zip(function.name_out(), function.call(symbols), strict=True))
    return ca.Function(function.name(), symbols, [results[name] for name in wanted], function.name_in(), wanted)


def _values(function: ca.Function, inputs: Inputs | None) -> list[list[sympy.Expr]]:
    given = dict(inputs or {})
    for name in given:
        if name not in function.name_in():
            raise UnknownNameError("input", name, function.name_in())
    values = []
    for i, name in enumerate(function.name_in()):
        entries = list(given[name]) if name in given else _names(name, *function.size_in(i))
        if len(entries) != function.numel_in(i):
            raise ArgumentError(f"input {name!r}: has {function.numel_in(i)} entries, got {len(entries)} names")
        values.append([x if isinstance(x, sympy.Expr) else formula(x) for x in entries])
        _check_names(name, values[-1], function, given)
    return values


def _check_names(name: str, entries: Sequence[sympy.Expr], function: ca.Function, given: Inputs) -> None:
    """Refuse a symbol that would have two meanings."""
    used = {x.name for each in entries for x in each.free_symbols}
    for i, other in enumerate(function.name_in()):
        taken = set() if other == name or other in given else used & set(_names(other, *function.size_in(i)))
        if taken:
            raise ArgumentError(
                f"input {name!r}: the name {min(taken)} is that of an entry of {other!r} too; rename it, or give "
                f"inputs={{{other!r}: […]}} other names"
            )


def _names(name: str, rows: int, columns: int) -> list[str]:
    if columns == 1:
        return [f"{name}_{k + 1}" for k in range(rows)]
    return [f"{name}_{i + 1}_{j + 1}" for j, i in itertools.product(range(columns), range(rows))]


def _evaluated(function: ca.Function, inputs: Sequence[Sequence[Any]], algebra: Algebra) -> dict[str, Formulas]:
    """The outputs as matrices by name."""

    def operation(op: int, *operands: Any) -> Any:
        if op not in algebra.operations:
            raise UnsupportedError(
                f"{function.name()}: its operation {operation_name(op)} has no form in {algebra.name}; write it with "
                "sums, products, quotients, powers and elementary functions"
            )
        return algebra.operations[op](*operands)

    results = {}
    for name, entries in zip(function.name_out(), evaluate(function, inputs, algebra.constant, operation), strict=True):
        column = np.empty(len(entries), dtype=object)
        column[:] = entries
        results[name] = column.reshape(function.size_out(name), order="F")
    return results


def _sympy_number(x: float) -> sympy.Expr:
    if not np.isfinite(x):
        return sympy.nan if np.isnan(x) else sympy.oo if x > 0 else -sympy.oo
    return sympy.Rational(rational(x))


def _truth(condition: sympy.Expr) -> Any:
    """CasADi's truth values are the numbers 1 and 0; SymPy's are not numbers."""
    return sympy.Piecewise((1, condition), (0, True))


_COMMON: dict[int, Callable[..., Any]] = {
    ca.OP_ADD: lambda x, y: x + y,
    ca.OP_SUB: lambda x, y: x - y,
    ca.OP_MUL: lambda x, y: x * y,
    ca.OP_DIV: lambda x, y: x / y,
    ca.OP_NEG: lambda x: -x,
    ca.OP_INV: lambda x: 1 / x,
    ca.OP_SQ: lambda x: x * x,
    ca.OP_TWICE: lambda x: x * 2,
    ca.OP_ASSIGN: lambda x: x,
}

_NAMES = "sqrt exp log sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf sign floor"
_SYMPY = Algebra(
    "SymPy",
    _sympy_number,
    _COMMON
    | {getattr(ca, f"OP_{name.upper()}"): getattr(sympy, name) for name in _NAMES.split()}
    | {
        ca.OP_POW: sympy.Pow,
        ca.OP_CONSTPOW: sympy.Pow,
        ca.OP_EXPM1: lambda x: sympy.exp(x) - 1,
        ca.OP_LOG1P: lambda x: sympy.log(1 + x),
        ca.OP_HYPOT: lambda x, y: sympy.sqrt(x**2 + y**2),
        ca.OP_FABS: sympy.Abs,
        ca.OP_CEIL: sympy.ceiling,
        ca.OP_FMIN: sympy.Min,
        ca.OP_FMAX: sympy.Max,
        ca.OP_LT: lambda x, y: _truth(sympy.Lt(x, y)),
        ca.OP_LE: lambda x, y: _truth(sympy.Le(x, y)),
        ca.OP_EQ: lambda x, y: _truth(sympy.Eq(x, y)),
        ca.OP_NE: lambda x, y: _truth(sympy.Ne(x, y)),
        ca.OP_NOT: lambda x: _truth(sympy.Eq(x, 0)),
        ca.OP_AND: lambda x, y: _truth(sympy.And(sympy.Ne(x, 0), sympy.Ne(y, 0))),
        ca.OP_OR: lambda x, y: _truth(sympy.Or(sympy.Ne(x, 0), sympy.Ne(y, 0))),
        ca.OP_IF_ELSE_ZERO: lambda condition, x: sympy.Piecewise((x, sympy.Ne(condition, 0)), (0, True)),
    },
)


def _power(x: TrigonometricPolynomial, exponent: TrigonometricPolynomial) -> TrigonometricPolynomial:
    number = exponent.as_number()
    if number is None or number.denominator != 1:
        raise UnsupportedError(f"({x})**({exponent}): is not a trigonometric polynomial")
    return x ** int(number)


_POLYNOMIAL = _COMMON | {
    ca.OP_INV: lambda x: TrigonometricPolynomial.of(1) / x,
    ca.OP_SIN: TrigonometricPolynomial.sin,
    ca.OP_COS: TrigonometricPolynomial.cos,
    ca.OP_POW: _power,
    ca.OP_CONSTPOW: _power,
}
