"""One reciprocal of what is divided by many times: a division takes several times as long as a multiplication."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import TypeAlias

import casadi as ca

from gdalembert.spatial.instructions import evaluate, operations

_MANY = 8
"""Divisions by one value from which on its reciprocal is made, which takes two instructions more."""

_Name: TypeAlias = int | tuple[float]
"""Entries of inputs and results of operations, numbered as they come; constants by their value."""


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
    numbers = count()
    reciprocals: dict[_Name, ca.SX] = {}

    def operation(op: int, *operands: tuple[_Name, ca.SX]) -> tuple[_Name, ca.SX]:
        names, values = zip(*operands, strict=True)
        own, divisor = next(numbers), names[-1]
        if op not in (ca.OP_DIV, ca.OP_INV) or divisor not in divisors:
            return own, ca.SX.unary(op, *values) if len(values) == 1 else ca.SX.binary(op, *values)
        if divisor not in reciprocals:
            reciprocals[divisor] = 2 / (2 * values[-1])
        return own, reciprocals[divisor] if op == ca.OP_INV else values[0] * reciprocals[divisor]

    entries: list[list[tuple[_Name, ca.SX]]] = [[(next(numbers), x[k]) for k in range(x.numel())] for x in inputs]
    results = evaluate(graph, entries, lambda x: ((x,), ca.SX(x)), operation)
    return [
        ca.reshape(ca.vertcat(*(value for _, value in values)), *x.shape)
        for values, x in zip(results, outputs, strict=True)
    ]


def _divisors(graph: ca.Function) -> set[_Name]:
    """What is divided by many times."""
    numbers, divisions = count(), Counter[_Name]()

    def operation(op: int, *operands: _Name) -> _Name:
        if op == ca.OP_DIV:
            divisions[operands[1]] += 1
        return next(numbers)

    entries: list[list[_Name]] = [[next(numbers) for _ in range(graph.numel_in(i))] for i in range(graph.n_in())]
    evaluate(graph, entries, lambda x: (x,), operation)
    return {name for name, number in divisions.items() if number >= _MANY}
