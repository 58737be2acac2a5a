"""A graph as assignments, one for each operation, in the syntax of a language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca

from gdalembert.errors import UnsupportedError
from gdalembert.spatial.instructions import evaluate, operation_name

FUNCTIONS = {
    ca.OP_SIN: "sin",
    ca.OP_COS: "cos",
    ca.OP_TAN: "tan",
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_ATAN2: "atan2",
    ca.OP_SQRT: "sqrt",
    ca.OP_EXP: "exp",
    ca.OP_LOG: "log",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
    ca.OP_TANH: "tanh",
}
"""Functions with the same name in all languages."""
_ARITHMETIC = {
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_INV: "1.0 / {0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "2.0 * {0}",
    ca.OP_ASSIGN: "{0}",
}


@dataclass(frozen=True)
class Language:
    """How operations (``ca.OP_…``) and entries of inputs (name, index from 0) are written."""

    name: str
    operations: Mapping[int, str]
    entry: Callable[[str, int], str]


@dataclass(frozen=True)
class Statements:
    """Assignments ``name = expression`` in order, and the entries of each output, column by column, as expressions."""

    assignments: list[tuple[str, str]]
    outputs: list[list[str]]


def statements(function: ca.Function, language: Language) -> Statements:
    """The statements of an SX Function; constants keep all their digits.

    Raises:
        UnsupportedError: if the graph has an operation, or a constant that is not finite, that cannot be written.
    """
    templates = _ARITHMETIC | dict(language.operations)
    assignments: list[tuple[str, str]] = []

    def constant(x: float) -> str:
        return _number(x, function.name())

    def operation(op: int, *operands: str) -> str:
        if op not in templates:
            raise UnsupportedError(
                f"{function.name()}: its operation {operation_name(op)} cannot be written in {language.name}; export "
                "it to C"
            )
        assignments.append((f"w{len(assignments) + 1}", templates[op].format(*operands)))
        return assignments[-1][0]

    inputs = [
        [language.entry(name, k) for k in range(function.numel_in(i))] for i, name in enumerate(function.name_in())
    ]
    return Statements(assignments, evaluate(function, inputs, constant, operation))


def _number(x: float, name: str) -> str:
    if x - x != 0:
        raise UnsupportedError(f"{name}: its graph holds the constant {x}, which is not finite; look at the model")
    return repr(float(x)) if x >= 0 else f"({float(x)!r})"
