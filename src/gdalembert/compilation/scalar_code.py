"""C99 of Functions of scalar operations, one state at a time, without a library: for files that leave this machine."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from gdalembert.compilation.machine_code import REALS, row_major, source_of
from gdalembert.compilation.statements import ARITHMETIC, LENGTH, Statement, body_of, places_of
from gdalembert.errors import UnsupportedError
from gdalembert.spatial.instructions import evaluate, operation_name

_OPERATORS = ARITHMETIC | {
    ca.OP_INV: "1 / {0}",
    ca.OP_LT: "{0} < {1}",
    ca.OP_LE: "{0} <= {1}",
    ca.OP_EQ: "{0} == {1}",
    ca.OP_NE: "{0} != {1}",
    ca.OP_NOT: "{0} == 0",
    ca.OP_AND: "({0} != 0) && ({1} != 0)",
    ca.OP_OR: "({0} != 0) || ({1} != 0)",
    ca.OP_IF_ELSE_ZERO: "({0} != 0) ? {1} : 0",
    ca.OP_SIGN: "({0} > 0) ? 1 : (({0} < 0) ? -1 : {0})",
}
_OF_ONE = (
    *("fabs", "sqrt", "exp", "expm1", "log", "log1p", "erf", "floor", "ceil", "tan"),
    *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
_OF_TWO = ("copysign", "fmin", "fmax", "pow", "atan2", "hypot", "fmod", "remainder")
_CALLS = {getattr(ca, f"OP_{name.upper()}"): name for name in (*_OF_ONE, *_OF_TWO)} | {ca.OP_CONSTPOW: "pow"}

_ANGLES = {ca.OP_SIN: "s", ca.OP_COS: "c"}
_LARGEST_FLOAT = 1e30
_ACCESS = re.compile(r"\b(\w+)\[")


def angles_code(dtype: str) -> str:
    """The C function ``sin_cos``, which what :func:`scalar_code` writes calls; it needs <math.h> and <stdint.h>."""
    return source_of(__package__, {}, f"sin_cos_{REALS[dtype]}.c")


def engine_in(dtype: str, text: str) -> str:
    """C code that is written in double precision, with numbers, functions and variables of this type."""
    if dtype == "float64":
        return text
    text = re.sub(r"\bdouble\b", REALS[dtype], text)
    text = re.sub(r"\b(sqrt|fabs|fmin|fmax)\(", r"\1f(", text)
    numbers = r"(?<![\w.])(?:\d+\.\d+(?:e-?\d+)?|\d+e-?\d+)(?![\w.])"
    return re.sub(numbers, lambda found: f"{min(float(found[0]), _LARGEST_FLOAT)!r}f", text)


class ScalarCode(NamedTuple):
    """C code of a Function.

    Attributes:
        text: of ``static void NAME(const REAL* input, …, REAL* output, …)``. Inputs and outputs are
            vectors, of matrices row by row.
        arguments: the names of the inputs and outputs that it takes; it has none that it does not read or write.
        operations: the number of its operations.
    """

    text: str
    arguments: Sequence[str]
    operations: int


def literal(x: float, dtype: str) -> str:
    """A number in C, in parentheses if it is negative; infinite if the type has none as large."""
    if math.isnan(x):
        return "NAN"
    with np.errstate(over="ignore", under="ignore"):
        rounded = float(np.dtype(dtype).type(x))
    if math.isinf(rounded):
        return "(-INFINITY)" if x < 0 else "INFINITY"
    text = f"{rounded if rounded == 0 else x!r}{'' if dtype == 'float64' else 'f'}"
    return f"({text})" if text.startswith("-") else text


def scalar_code(name: str, function: ca.Function, dtype: str = "float64", length: int = LENGTH) -> ScalarCode:
    """C code of a Function in parts of so many statements, which are functions ``NAME_0``, … if there are several.

    Args:
        name: a C identifier.
        function: whose graph is of scalar operations, and whose inputs and outputs have names of C.
        dtype: ``"float64"`` or ``"float32"``.

    Raises:
        UnsupportedError: if it has an operation that C has not.
    """
    real, suffix = REALS[dtype], "" if dtype == "float64" else "f"
    graph = row_major(function)
    inputs = graph.sx_in()
    graph = ca.Function(name, inputs, graph.call(inputs))
    statements: list[Statement] = []
    number: dict[str, int] = {}  # of the statement that computes a value
    angles: dict[str, int] = {}  # the statement that computes the sine and the cosine of a value

    def add(op: int, *operands: str) -> str:
        """Write an operation; returns its value."""
        k, known = len(statements), [operand for operand in operands if operand in number]
        if op in _ANGLES:
            k = angles.setdefault(operands[0], k)
            if k == len(statements):
                statements.append(
                    Statement(f"{real} s{k}, c{k}; sin_cos({operands[0]}, &s{k}, &c{k});", [f"s{k}", f"c{k}"], known)
                )
                number.update({f"s{k}": k, f"c{k}": k})
            return f"{_ANGLES[op]}{k}"
        if op not in _CALLS and op not in _OPERATORS:
            raise UnsupportedError(f"generate: {function.name()} has {operation_name(op)}, which C has not")
        arguments = ", ".join(operands)
        formula = f"{_CALLS[op]}{suffix}({arguments})" if op in _CALLS else _OPERATORS[op].format(*operands)
        statements.append(Statement(f"const {real} a{k} = {formula};", [f"a{k}"], known))
        number[f"a{k}"] = k
        return f"a{k}"

    entries = [[f"{key}[{k}]" for k in range(graph.numel_in(i))] for i, key in enumerate(function.name_in())]
    results = evaluate(graph, entries, lambda x: literal(x, dtype), add)
    operations = len(statements)
    for key, values in zip(function.name_out(), results, strict=True):
        for k, value in enumerate(values):
            if value not in number:  # an input or a constant
                statements.append(Statement("", [], []))
            statements[number.get(value, -1)].stores.append(f"{key}[{k}] = {value};")
    ports = {key: f"const {real}* {key}" for key in function.name_in()}
    ports |= {key: f"{real}* {key}" for key in function.name_out()}
    return ScalarCode(*_in_parts(name, real, ports, statements, number, length), operations)


def _in_parts(
    name: str, real: str, ports: dict[str, str], statements: list[Statement], number: dict[str, int], length: int
) -> tuple[str, list[str]]:
    """The text, and the ports that it takes."""
    places = places_of(statements, number, length)
    shared, texts, calls, used = max(places.values(), default=-1) + 1, list[str](), list[str](), set[str]()
    parts = [statements[k : k + length] for k in range(0, len(statements), length)]
    ports = ports | {"shared": f"{real}* shared"}
    for k, part in enumerate(parts):
        lines = list(body_of(part, places, real))
        accessed = {key for line in lines for key in _ACCESS.findall(line)}
        taken = [key for key in ports if key in accessed]
        used |= set(taken)
        part_name = f"{name}_{k}" if len(parts) > 1 else name
        head = f"static void {part_name}({', '.join(ports[key] for key in taken) or 'void'}) {{"
        texts.append("\n".join([head, *lines, "}"]))
        calls.append(f"  {part_name}({', '.join(taken)});")
    arguments = [key for key in ports if key in used and key != "shared"]
    if len(parts) != 1:
        head = f"static void {name}({', '.join(ports[key] for key in arguments) or 'void'}) {{"
        texts.append("\n".join([head, *([f"  {real} shared[{shared}];"] if shared else []), *calls, "}"]))
    return "\n\n".join(texts), arguments
