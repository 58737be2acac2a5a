"""C code of an SX Function for several states at once: a vector is an entry of all of them (``c/vectors.h``).

Long graphs are cut into parts, each a C function, since the time of a compiler grows faster than the length of a
function. A value that a later part needs is kept in an array, whose places are used again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import casadi as ca

from gdalembert.spatial.instructions import evaluate, operations

LENGTH = 1000
"""Number of statements of a part."""
INLINE_ANGLES = 16
"""Up to so many sines and cosines are written out in place; more would make the code too long."""

_OPERATORS = {
    ca.OP_ASSIGN: "{0}",
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_NEG: "-{0}",
    ca.OP_INV: "ALL(1.0) / {0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "{0} + {0}",
    ca.OP_CONSTPOW: "v_pow({0}, {1})",
}
_OF_ONE = (
    *("not", "fabs", "sign", "sqrt", "exp", "expm1", "log", "log1p", "erf", "floor", "ceil"),
    *("tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
_OF_TWO = (
    *("if_else_zero", "lt", "le", "eq", "ne", "and", "or", "copysign", "fmin", "fmax"),
    *("pow", "atan2", "hypot", "fmod", "remainder"),
)
_TEMPLATES = (
    _OPERATORS
    | {getattr(ca, f"OP_{name.upper()}"): f"v_{name}({{0}})" for name in _OF_ONE}
    | {getattr(ca, f"OP_{name.upper()}"): f"v_{name}({{0}}, {{1}})" for name in _OF_TWO}
)
_ANGLES = {ca.OP_SIN: "s", ca.OP_COS: "c"}
_ELSE = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST}


def vector_code(graph: ca.Function, length: int = LENGTH) -> str | None:
    """The C function ``together`` of a Function of dense vectors; ``None`` if an operation cannot be written.

    Args:
        graph: an SX Function; all that it computes is one number for each state.
        length: number of statements of a part.
    """
    if not graph.is_a("SXFunction") or not set(operations(graph)) <= _TEMPLATES.keys() | _ANGLES.keys() | _ELSE:
        return None
    inputs = _entries("x", [graph.numel_in(i) for i in range(graph.n_in())])
    outputs = _entries("y", [graph.numel_out(i) for i in range(graph.n_out())])
    statements = _Statements()
    values = evaluate(graph, inputs, _constant, statements.add)
    for entries, results in zip(outputs, values, strict=True):
        for entry, value in zip(entries, results, strict=True):
            statements.keep(value, entry)
    places = _places(statements, length)
    parts = [statements.written[k : k + length] for k in range(0, len(statements.written), length)]
    arguments = "const V* restrict x, V* restrict y, V* restrict shared, I* restrict large"
    n_x, n_y, n_shared = sum(map(len, inputs)), sum(map(len, outputs)), max(places.values(), default=-1) + 1
    lines = [
        f"#define SINCOS {'v_sincos' if len(statements.angles) <= INLINE_ANGLES else 'v_sincos_called'}",
        f"enum {{ X = {n_x}, Y = {n_y}, SHARED = {n_shared} }};",
    ]
    for k, part in enumerate(parts):
        lines += [f"static __attribute__((noinline)) void part_{k}({arguments}) {{", *_body(part, places), "}"]
    calls = [f"  part_{k}(x, y, shared, large);" for k in range(len(parts))]
    return "\n".join([*lines, f"static void together({arguments}) {{", *calls, "}", ""])


@dataclass
class _Statement:
    """C code that computes ``values`` from the ``operands`` among the values of other statements."""

    code: str
    values: Sequence[str]
    operands: Sequence[str]
    stores: list[str] = field(default_factory=list)


@dataclass
class _Statements:
    """Statements in order, and which of them computes a value."""

    written: list[_Statement] = field(default_factory=list)
    number: dict[str, int] = field(default_factory=dict)
    angles: dict[str, int] = field(default_factory=dict)

    def add(self, op: int, *operands: str) -> str:
        """Write an operation; returns its value."""
        if op not in _ANGLES:
            name = f"a{len(self.written)}"
            self._append(f"const V {name} = {_TEMPLATES[op].format(*operands)};", [name], operands)
            return name
        k = self.angles.setdefault(operands[0], len(self.angles))
        if f"s{k}" not in self.number:
            self._append(f"V s{k}, c{k}; SINCOS({operands[0]}, &s{k}, &c{k}, large);", [f"s{k}", f"c{k}"], operands)
        return f"{_ANGLES[op]}{k}"

    def keep(self, value: str, place: str) -> None:
        """Store a value as soon as it is computed."""
        if value not in self.number:  # an input or a constant
            self._append("", [], [])
        self.written[self.number.get(value, -1)].stores.append(f"{place} = {value};")

    def _append(self, code: str, values: Sequence[str], operands: Sequence[str]) -> None:
        self.number.update(dict.fromkeys(values, len(self.written)))
        self.written.append(_Statement(code, values, [name for name in operands if name in self.number]))


def _entries(vector: str, sizes: Sequence[int]) -> list[list[str]]:
    numbers = itertools.count()
    return [[f"{vector}[{next(numbers)}]" for _ in range(size)] for size in sizes]


def _constant(x: float) -> str:
    if math.isnan(x):
        return "ALL(NAN)"
    return f"ALL({x!r})" if math.isfinite(x) else f"ALL({'-' if x < 0 else ''}INFINITY)"


def _places(statements: _Statements, length: int) -> dict[str, int]:
    """The place in ``shared`` of each value that a later part needs."""
    last = {name: k // length for k, each in enumerate(statements.written) for name in each.operands}
    places: dict[str, int] = {}
    free_after: list[int] = []  # the last part that needs what is in a place
    for name, k in statements.number.items():
        part = k // length
        if last.get(name, part) > part:
            place = next((i for i, until in enumerate(free_after) if until < part), len(free_after))
            free_after[place : place + 1] = [last[name]]
            places[name] = place
    return places


def _body(part: Sequence[_Statement], places: dict[str, int]) -> Iterator[str]:
    known: set[str] = set()
    for each in part:
        for name in each.operands:
            if name not in known:
                known.add(name)
                yield f"  const V {name} = shared[{places[name]}];"
        known.update(each.values)
        if each.code:
            yield f"  {each.code}"
        yield from (f"  shared[{places[name]}] = {name};" for name in each.values if name in places)
        yield from (f"  {store}" for store in each.stores)
