"""Equal up to sign: the repeats that ``ca.cse`` leaves behind.

``ca.cse`` finds what is written twice in the same way. Robots are symmetrical, and a left arm's constants are a right
arm's with other signs: a + b and b + a, x (−c) and −(x c), a − b and b − a are one value here, and a sign costs
nothing as long as a sum or an output downstream can take it.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

Value = tuple[int, bool]
"""A number in the table, and whether it is meant with a minus."""

_EVEN = {ca.OP_COS, ca.OP_FABS}
_ODD = {ca.OP_SIN, ca.OP_TWICE, ca.OP_INV}


class _Table:
    """Every value once, each but a constant without a sign of its own."""

    def __init__(self) -> None:
        self.expressions: list[ca.SX] = []
        self._numbers: dict[tuple[object, ...], int] = {}

    def add(self, key: tuple[object, ...], expression: ca.SX) -> int:
        """The number of a new value."""
        self._numbers[key] = len(self.expressions)
        self.expressions.append(expression)
        return self._numbers[key]

    def leaf(self, key: tuple[object, ...], expression: ca.SX) -> int:
        """The number of an input or a constant."""
        return self._numbers[key] if key in self._numbers else self.add(key, expression)

    def with_sign(self, value: Value) -> int:
        """The number of the value with its sign taken in."""
        number, minus = value
        if not minus:
            return number
        key = ("minus", number)
        return self._numbers[key] if key in self._numbers else self.add(key, -self.expressions[number])

    def product(self, a: Value, b: Value) -> Value:
        """a b, the sign apart."""
        x, y = sorted((a[0], b[0]))
        key = ("product", x, y)
        if key not in self._numbers:
            self.add(key, self.expressions[x] * self.expressions[y])
        return self._numbers[key], a[1] != b[1]

    def sum(self, a: Value, b: Value) -> Value:
        """a + b; a difference is kept the way round in which it is met first."""
        if a[1] == b[1]:
            x, y = sorted((a[0], b[0]))
            key = ("sum", x, y)
            if key not in self._numbers:
                self.add(key, self.expressions[x] + self.expressions[y])
            return self._numbers[key], a[1]
        x, y = (b[0], a[0]) if a[1] else (a[0], b[0])
        key, other_way_round = ("difference", x, y), ("difference", y, x)
        if other_way_round in self._numbers:
            return self._numbers[other_way_round], True
        if key not in self._numbers:
            self.add(key, self.expressions[x] - self.expressions[y])
        return self._numbers[key], False

    def function(self, op: int, a: Value) -> Value:
        """An operation on one value."""
        x = a[0] if op in _EVEN | _ODD else self.with_sign(a)
        key = (op, x)
        if key not in self._numbers:
            self.add(key, ca.SX.unary(op, self.expressions[x]))
        return self._numbers[key], a[1] and op in _ODD

    def operation(self, op: int, a: Value, b: Value) -> Value:
        """Any other operation on two values."""
        x, y = (a[0], b[0]) if op == ca.OP_DIV else (self.with_sign(a), self.with_sign(b))
        key = (op, x, y)
        if key not in self._numbers:
            self.add(key, ca.SX.binary(op, self.expressions[x], self.expressions[y]))
        return self._numbers[key], op == ca.OP_DIV and a[1] != b[1]


def without_repeats(inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> list[ca.SX]:
    """The outputs (dense) with every value of their graph computed once, be it with a plus or with a minus."""
    plain = ca.cse(list(outputs))
    graph = ca.Function("graph", list(inputs), plain)
    if any(graph.instruction_id(k) == ca.OP_CALL for k in range(graph.n_instructions())):
        return plain
    entries = [[x[k] for k in range(x.numel())] for x in inputs]
    results = [[ca.SX(0)] * x.numel() for x in outputs]
    table = _Table()
    work: dict[int, Value] = {}
    for k in range(graph.n_instructions()):
        op, places = graph.instruction_id(k), graph.instruction_output(k)
        if op == ca.OP_INPUT:
            i, j = graph.instruction_input(k)
            work[places[0]] = table.leaf(("input", i, j), entries[i][j]), False
            continue
        if op == ca.OP_CONST:
            c = graph.instruction_constant(k)
            work[places[0]] = table.leaf(("constant", abs(c)), ca.SX(abs(c))), c < 0
            continue
        operands = [work[i] for i in graph.instruction_input(k)]
        if op == ca.OP_OUTPUT:
            results[places[0]][places[1]] = table.expressions[table.with_sign(operands[0])]
        elif op == ca.OP_NEG:
            work[places[0]] = _minus(operands[0])
        elif op == ca.OP_ADD:
            work[places[0]] = table.sum(*operands)
        elif op == ca.OP_SUB:
            work[places[0]] = table.sum(operands[0], _minus(operands[1]))
        elif op == ca.OP_SQ:
            work[places[0]] = table.product(*operands, *operands)
        elif op == ca.OP_MUL:
            work[places[0]] = table.product(*operands)
        elif len(operands) == 1:
            work[places[0]] = table.function(op, operands[0])
        else:
            work[places[0]] = table.operation(op, *operands)
    condensed = [ca.reshape(ca.vertcat(*entries), *x.shape) for entries, x in zip(results, outputs, strict=True)]
    size = ca.Function("condensed", list(inputs), condensed).n_instructions()
    return condensed if size < graph.n_instructions() else plain


def _minus(value: Value) -> Value:
    return value[0], not value[1]
