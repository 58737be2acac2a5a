"""One reciprocal of what is divided by many times: a division takes several times as long as a multiplication."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count

import casadi as ca

from gdalembert.spatial.instructions import evaluate, operations

_MANY = 8
"""Divisions by one value from which on its reciprocal is made, which takes two instructions more."""

_CONSTANT = -1
"""The number of all constants, none of which gets a reciprocal."""


def share_reciprocals(inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> list[ca.SX]:
    """The outputs with x · (2 / (2 p)) in place of each x / p where there are many divisions by p.

    It is not x · (1 / p), of which CasADi makes x / p again.

    Args:
        inputs: symbols, dense.
        outputs: dense.
    """
    graph = ca.Function("graph", list(inputs), list(outputs))
    found = operations(graph)
    if ca.OP_CALL in found or found.count(ca.OP_DIV) < _MANY:
        return list(outputs)
    divisors = _divisors(graph)
    numbers, reciprocals = count(), {}

    def operation(op: int, *operands: tuple[int, ca.SX]) -> tuple[int, ca.SX]:
        places, values = zip(*operands, strict=True)
        number = next(numbers)
        if op not in (ca.OP_DIV, ca.OP_INV) or places[-1] not in divisors:
            return number, ca.SX.unary(op, *values) if len(values) == 1 else ca.SX.binary(op, *values)
        if places[-1] not in reciprocals:
            reciprocals[places[-1]] = 2 / (2 * values[-1])
        return number, reciprocals[places[-1]] if op == ca.OP_INV else values[0] * reciprocals[places[-1]]

    entries = [[(next(numbers), x[k]) for k in range(x.numel())] for x in inputs]
    results = evaluate(graph, entries, lambda x: (_CONSTANT, ca.SX(x)), operation)
    return [
        ca.reshape(ca.vertcat(*(value for _, value in values)), *x.shape)
        for values, x in zip(results, outputs, strict=True)
    ]


def _divisors(graph: ca.Function) -> set[int]:
    """What is divided by many times: entries of inputs and results of operations, numbered as they come."""
    numbers, divisions = count(), Counter[int]()

    def operation(op: int, *operands: int) -> int:
        if op == ca.OP_DIV:
            divisions[operands[1]] += 1
        return next(numbers)

    entries = [[next(numbers) for _ in range(graph.numel_in(i))] for i in range(graph.n_in())]
    evaluate(graph, entries, lambda x: _CONSTANT, operation)
    return {number for number, divided in divisions.items() if divided >= _MANY and number != _CONSTANT}
