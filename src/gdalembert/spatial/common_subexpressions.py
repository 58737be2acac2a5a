"""Common subexpressions that are equal up to sign: those that ``ca.cse`` leaves behind.

``ca.cse`` finds what is written twice in the same way. Robots are symmetrical, and a left arm's constants are a right
arm's with other signs: a + b and b + a, x (−c) and −(x c), a − b and b − a are one value here, and a sign costs
nothing as long as a sum or an output downstream can take it.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from gdalembert.spatial.instructions import evaluate, operations

Value = tuple[int, bool]
"""The number of an expression in the table, and whether the value is minus that expression."""

_EVEN = {ca.OP_COS, ca.OP_FABS}
_ODD = {ca.OP_SIN, ca.OP_TWICE, ca.OP_INV}


class _Table:
    """Every expression once, each but a constant without a sign of its own."""

    def __init__(self) -> None:
        self.expressions: list[ca.SX] = []
        self._numbers: dict[tuple[object, ...], int] = {}

    def add(self, key: tuple[object, ...], expression: ca.SX) -> int:
        """The number of a new expression."""
        self._numbers[key] = len(self.expressions)
        self.expressions.append(expression)
        return self._numbers[key]

    def input(self, entry: ca.SX) -> Value:
        """An entry of an input; each is given once."""
        return self.add(("input", len(self.expressions)), entry), False

    def constant(self, x: float) -> Value:
        """A number."""
        key = ("constant", abs(x))
        return self._numbers[key] if key in self._numbers else self.add(key, ca.SX(abs(x))), x < 0

    def operation(self, op: int, *operands: Value) -> Value:
        """The result of ``ca.OP_…``."""
        if op == ca.OP_NEG:
            return _minus(*operands)
        if op == ca.OP_ADD:
            return self._sum(*operands)
        if op == ca.OP_SUB:
            return self._sum(operands[0], _minus(operands[1]))
        if op == ca.OP_SQ:
            return self._product(*operands, *operands)
        if op == ca.OP_MUL:
            return self._product(*operands)
        return self._unary(op, *operands) if len(operands) == 1 else self._binary(op, *operands)

    def signed(self, value: Value) -> ca.SX:
        """The expression of a value with its sign."""
        return self.expressions[self._with_sign(value)]

    def _with_sign(self, value: Value) -> int:
        """The number of the value with its sign taken in."""
        number, minus = value
        if not minus:
            return number
        key = ("minus", number)
        return self._numbers[key] if key in self._numbers else self.add(key, -self.expressions[number])

    def _product(self, a: Value, b: Value) -> Value:
        """a b, the sign apart."""
        x, y = sorted((a[0], b[0]))
        key = ("product", x, y)
        if key not in self._numbers:
            self.add(key, self._combined(ca.OP_MUL, x, y))
        return self._numbers[key], a[1] != b[1]

    def _sum(self, a: Value, b: Value) -> Value:
        """a + b; a difference is kept the way round in which it is met first."""
        if a[1] == b[1]:
            x, y = sorted((a[0], b[0]))
            key = ("sum", x, y)
            if key not in self._numbers:
                self.add(key, self._combined(ca.OP_ADD, x, y))
            return self._numbers[key], a[1]
        x, y = (b[0], a[0]) if a[1] else (a[0], b[0])
        key, other_way_round = ("difference", x, y), ("difference", y, x)
        if other_way_round in self._numbers:
            return self._numbers[other_way_round], True
        if key not in self._numbers:
            self.add(key, self._combined(ca.OP_SUB, x, y))
        return self._numbers[key], False

    def _unary(self, op: int, a: Value) -> Value:
        """An operation on one value."""
        x = a[0] if op in _EVEN | _ODD else self._with_sign(a)
        key = (op, x)
        if key not in self._numbers:
            self.add(key, ca.SX.unary(op, self.expressions[x]))
        return self._numbers[key], a[1] and op in _ODD

    def _combined(self, op: int, x: int, y: int) -> ca.SX:
        """The result of ``ca.OP_…`` on two numbered expressions; Python's operators take six times as long."""
        return ca.SX.binary(op, self.expressions[x], self.expressions[y])

    def _binary(self, op: int, a: Value, b: Value) -> Value:
        """Any other operation on two values."""
        x, y = (a[0], b[0]) if op == ca.OP_DIV else (self._with_sign(a), self._with_sign(b))
        key = (op, x, y)
        if key not in self._numbers:
            self.add(key, self._combined(op, x, y))
        return self._numbers[key], op == ca.OP_DIV and a[1] != b[1]


def eliminate_common_subexpressions(inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> list[ca.SX]:
    """The outputs (dense) with every value of their graph computed once, up to sign.

    Args:
        inputs: symbols, dense.
        outputs: dense.
    """
    plain = ca.cse(list(outputs))
    graph = ca.Function("graph", list(inputs), plain)
    if ca.OP_CALL in operations(graph):
        return plain
    table = _Table()
    entries = [[table.input(x[k]) for k in range(x.numel())] for x in inputs]
    results = evaluate(graph, entries, table.constant, table.operation)
    condensed = [
        ca.reshape(ca.vertcat(*map(table.signed, values)), *x.shape) for values, x in zip(results, outputs, strict=True)
    ]
    size = ca.Function("condensed", list(inputs), condensed).n_instructions()
    return condensed if size < graph.n_instructions() else plain


def _minus(value: Value) -> Value:
    return value[0], not value[1]
