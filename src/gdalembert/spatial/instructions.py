"""The one walk over a graph's instructions: everything that knows how CasADi stores an SX Function.

An SX Function is a list of instructions on a work vector. Each instruction takes values from places of the vector, or
an entry of an input, or a constant, and puts its result into a place, or into an entry of an output. Entries of sparse
inputs and outputs are numbered among those that are stored.

It is also how a graph gets every value once, up to its sign, and one reciprocal of what is divided by many times.
``ca.cse`` finds what is written twice in the same way. Robots are symmetrical, and a left arm's constants are a right
arm's with other signs: a + b and b + a, x (−c) and −(x c), a − b and b − a are one value here, and a sign costs
nothing as long as a sum or an output downstream can take it. A division takes several times as long as a
multiplication.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import casadi as ca

Value = TypeVar("Value")

_MULTIPLICATIONS = {ca.OP_MUL, ca.OP_SQ, ca.OP_TWICE, ca.OP_DIV, ca.OP_INV}
_ADDITIONS = {ca.OP_ADD, ca.OP_SUB}
_DIVISIONS = {ca.OP_DIV, ca.OP_INV}


def evaluate(
    graph: ca.Function,
    inputs: Sequence[Sequence[Value]],
    constant: Callable[[float], Value],
    operation: Callable[..., Value],
) -> list[list[Value]]:
    """All entries of each output of an SX Function in any algebra: of formulas, of text, of numbered values.

    Entries are listed column by column; those that the graph does not store are not looked at in inputs, and
    ``constant(0.0)`` in outputs. ``operation(op, *operands)`` carries out ``ca.OP_…`` on one value or on two.
    """
    stored = [graph.sparsity_in(i).find() for i in range(graph.n_in())]
    places = [graph.sparsity_out(i).find() for i in range(graph.n_out())]
    outputs = [[constant(0.0)] * graph.numel_out(i) for i in range(graph.n_out())]
    work: dict[int, Value] = {}
    operands_of, results_of = graph.instruction_input, graph.instruction_output
    for k, op in enumerate(operations(graph)):
        operands, results = operands_of(k), results_of(k)
        if op == ca.OP_OUTPUT:
            outputs[results[0]][places[results[0]][results[1]]] = work[operands[0]]
        elif op == ca.OP_INPUT:
            work[results[0]] = inputs[operands[0]][stored[operands[0]][operands[1]]]
        elif op == ca.OP_CONST:
            work[results[0]] = constant(graph.instruction_constant(k))
        else:
            work[results[0]] = operation(op, *(work[place] for place in operands))
    return outputs


def operations(graph: ca.Function) -> list[int]:
    """The operation (``ca.OP_…``) of each instruction."""
    return [graph.instruction_id(k) for k in range(graph.n_instructions())]


def operation_name(op: int) -> str:
    """CasADi's name of an operation, as ``"OP_ATAN2"``."""
    # Searched each time: it is for messages, and a table would be made at each import.
    return next((name for name in dir(ca) if name.startswith("OP_") and getattr(ca, name) == op), f"operation {op}")


def count(graph: ca.Function) -> dict[str, int]:
    """The cost of an SX Function: ``instructions``, and how many of them are ``multiplications`` and ``additions``."""
    codes = operations(graph)
    return {
        "instructions": len(codes),
        "multiplications": sum(op in _MULTIPLICATIONS for op in codes),
        "additions": sum(op in _ADDITIONS for op in codes),
    }


Signed = tuple[int, bool]
"""The number of an expression in the table, and whether the value is minus that expression."""

_EVEN = {ca.OP_COS, ca.OP_FABS}
_ODD = {ca.OP_SIN, ca.OP_TWICE, ca.OP_INV}
_EVEN_OR_ODD = _EVEN | _ODD

_MANY = 12
"""Divisions by each value, on average, in a graph that has reciprocals, as those have that solve for the columns of a
matrix. A reciprocal takes two instructions more: solving for a vector is smaller without."""
_SEVERAL = 8
"""Divisions by one value from which on such a graph makes its reciprocal."""


class _CallError(Exception):
    """The graph calls a Function, whose results are not one value."""


class _Table:
    """Every expression once, each but a constant without a sign of its own: an operation on numbers of others."""

    def __init__(self) -> None:
        self.nodes: list[tuple[int, ...] | ca.SX] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self.given_signs: set[Signed] = set()
        """The values that a minus is put before in the given graph."""
        self._zero, self._one, self._two = (self.constant(float(x))[0] for x in range(3))

    def input(self, entry: ca.SX) -> Signed:
        """An entry of an input; each is given once."""
        self.nodes.append(entry)
        return len(self.nodes) - 1, False

    def constant(self, x: float) -> Signed:
        """The value of a number."""
        return self._number("constant", abs(x)), x < 0

    def first_met(self, x: float) -> Signed:
        """A number, kept with the sign that it has here, where sums of its products need no minus then."""
        number = self._numbers.setdefault(("constant", abs(x)), len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(ca.SX(x))
        return number, not ca.is_equal(self.nodes[number], ca.SX(x))

    def operation(self, op: int, *operands: Signed) -> Signed:
        """The result of ``ca.OP_…``."""
        if op == ca.OP_NEG:
            self.given_signs.update(operands)
            return _minus(*operands)
        if op == ca.OP_ADD:
            return self._sum(*operands)
        if op == ca.OP_SUB:
            return self._sum(operands[0], _minus(operands[1]))
        if op == ca.OP_SQ:
            return self._product(*operands, *operands)
        if op == ca.OP_MUL:
            return self._product(*operands)
        if op == ca.OP_DIV:
            return self._quotient(*operands)
        if op in _EVEN_OR_ODD:
            ((x, minus),) = operands
            return self._number(op, x), minus and op in _ODD
        if op == ca.OP_CALL:
            raise _CallError
        return self._number(op, *map(self.with_sign, operands)), False

    def with_sign(self, value: Signed) -> int:
        """The number of the value with its sign taken in."""
        number, minus = value
        return self._number(ca.OP_NEG, number) if minus else number

    def with_sign_in_difference(self, value: Signed) -> int:
        """The number of the value with its sign taken in, −(x − y) as y − x, which costs nothing if x − y is unused."""
        number, minus = value
        node = self.nodes[number]
        if minus and isinstance(node, tuple) and node[0] == ca.OP_SUB:
            return self._number(ca.OP_SUB, *node[:0:-1])
        return self.with_sign(value)

    def _number(self, *node: Any) -> int:
        """The number of (``ca.OP_…``, numbers of its operands), or of ("constant", x)."""
        if node not in self._numbers:
            self._numbers[node] = len(self.nodes)
            self.nodes.append(ca.SX(node[1]) if node[0] == "constant" else node)
        return self._numbers[node]

    def _product(self, a: Signed, b: Signed) -> Signed:
        """The product a b, the sign apart."""
        for one, other in ((a, b), (b, a)):
            if one[0] == self._zero:
                return one
            if one[0] == self._one:
                return other[0], a[1] != b[1]
            if one[0] == self._two:
                return self._number(ca.OP_TWICE, other[0]), a[1] != b[1]
            if isinstance(node := self.nodes[one[0]], tuple) and node[0] == ca.OP_INV:
                return self._quotient(other, (node[1], one[1]))
        return self._number(ca.OP_MUL, *sorted((a[0], b[0]))), a[1] != b[1]

    def _sum(self, a: Signed, b: Signed) -> Signed:
        """The sum a + b; a difference is kept the way round in which it is met first."""
        if a[0] == self._zero:
            return b
        if b[0] == self._zero:
            return a
        if a[0] == b[0]:
            return (self._number(ca.OP_TWICE, a[0]), a[1]) if a[1] == b[1] else (self._zero, False)
        if a[1] == b[1]:
            return self._number(ca.OP_ADD, *sorted((a[0], b[0]))), a[1]
        x, y = (b[0], a[0]) if a[1] else (a[0], b[0])
        if (other_way_round := self._numbers.get((ca.OP_SUB, y, x))) is not None:
            return other_way_round, True
        return self._number(ca.OP_SUB, x, y), False

    def _quotient(self, a: Signed, b: Signed) -> Signed:
        """The quotient a / b, the sign apart."""
        if a[0] == self._zero:
            return a
        if a[0] == b[0]:
            return self._one, a[1] != b[1]
        node = (ca.OP_INV, b[0]) if a[0] == self._one else (ca.OP_DIV, a[0], b[0])
        return self._number(*node), a[1] != b[1]

    def needed(self, wanted: Iterable[int], known: Mapping[int, ca.SX]) -> set[int]:
        """The numbers of the wanted expressions and of what they are made of, but for those that are known."""
        needed = set(wanted) - known.keys()
        for number in range(len(self.nodes) - 1, -1, -1):
            if number in needed and isinstance(node := self.nodes[number], tuple):
                needed.update(set(node[1:]) - known.keys())
        return needed

    def expressions(self, wanted: Iterable[int], known: Mapping[int, ca.SX] = MappingProxyType({})) -> dict[int, ca.SX]:
        """Expressions with the wanted numbers, and what they are made of, beside those that are known."""
        order = sorted(self.needed(wanted, known))
        shared, reciprocals = self._shared_divisors(order), dict[int, ca.SX]()
        made = dict(known)
        for number in order:
            node = self.nodes[number]
            if isinstance(node, ca.SX):
                made[number] = node
            elif node[0] in _DIVISIONS and node[-1] in shared:
                if node[-1] not in reciprocals:
                    reciprocals[node[-1]] = 2 / (2 * made[node[-1]])
                reciprocal = reciprocals[node[-1]]
                made[number] = reciprocal if node[0] == ca.OP_INV else made[node[1]] * reciprocal
            elif len(node) == 2:
                made[number] = ca.SX.unary(node[0], made[node[1]])
            else:
                made[number] = ca.SX.binary(node[0], made[node[1]], made[node[2]])
        return made

    def _shared_divisors(self, numbers: Iterable[int]) -> set[int]:
        """The divisors that divide so often that their reciprocals are made."""
        nodes = (self.nodes[number] for number in numbers)
        divisions = Counter(node[2] for node in nodes if isinstance(node, tuple) and node[0] == ca.OP_DIV)
        if sum(divisions.values()) < _MANY * len(divisions):
            return set()
        return {x for x, times in divisions.items() if times >= _SEVERAL}


class SharedSubexpressions:
    """Expressions that are made one after another: a value that one of them has, up to sign, is not made again.

    They are written in symbols, for which any expressions are put in.
    """

    def __init__(self, inputs: Sequence[ca.SX], values: Sequence[ca.SX]) -> None:
        self._inputs, self._table, self._made = list(inputs), _Table(), dict[int, ca.SX]()
        self._entries = [[self._value(x[k]) for k in range(x.numel())] for x in values]

    def _value(self, x: ca.SX) -> Signed:
        return self._table.first_met(float(x)) if x.is_constant() else self._table.input(x)

    def of(self, *ways: ca.SX) -> ca.SX:
        """An expression in the symbols, dense, in the one of several ways to write it that adds the fewest values."""
        numbers = min(map(self._numbers, ways), key=self._added)
        self._made = self._table.expressions(numbers, self._made)
        return ca.reshape(ca.vertcat(*(self._made[number] for number in numbers)), *ways[0].shape)

    def added_by(self, expression: ca.SX) -> int:
        """The number of values that an expression would add."""
        return self._added(self._numbers(expression))

    def _added(self, numbers: list[int]) -> int:
        return len(self._table.needed(numbers, self._made))

    def _numbers(self, expression: ca.SX) -> list[int]:
        graph = ca.Function("graph", self._inputs, [ca.densify(expression)])
        (result,) = evaluate(graph, self._entries, self._table.first_met, self._table.operation)
        return [self._table.with_sign_in_difference(x) for x in result]


def eliminate_common_subexpressions(inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> list[ca.SX]:
    """The outputs with every value of their graph computed once, up to sign.

    Where there are many divisions by p, x / p becomes x · (2 / (2 p)). It is not x · (1 / p), of which CasADi makes
    x / p again. The inputs are dense symbols.
    """
    graph = ca.Function("graph", list(inputs), list(outputs))
    table = _Table()
    entries = [[table.input(x[k]) for k in range(x.numel())] for x in inputs]
    try:
        results = evaluate(graph, entries, table.constant, table.operation)
    except _CallError:
        return ca.cse(list(outputs))
    patterns = [x.sparsity() for x in outputs]
    stored = [[table.with_sign(x[k]) for k in pattern.find()] for x, pattern in zip(results, patterns, strict=True)]
    made = table.expressions(itertools.chain.from_iterable(stored))
    entries_of = (ca.vertcat(*(made[number] for number in numbers)) for numbers in stored)
    condensed = list(map(ca.SX, patterns, entries_of))
    if sum(isinstance(node, tuple) and node[0] == ca.OP_NEG for node in table.nodes) <= len(table.given_signs):
        return condensed
    simplified = ca.cse(list(outputs))
    return min(simplified, condensed, key=lambda made: ca.Function("graph", list(inputs), made).n_instructions())


def _minus(value: Signed) -> Signed:
    return value[0], not value[1]
