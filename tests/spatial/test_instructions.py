"""The walk over a graph's instructions, in an algebra of numbers, and what it counts."""

from __future__ import annotations

import operator

import casadi as ca
import numpy as np
import pytest

import gdalembert.symbolic as gs
from gdalembert.errors import UnsupportedError
from gdalembert.spatial.functions import function, symbols
from gdalembert.spatial.instructions import count, evaluate, operation_name, operations

NUMBERS = {ca.OP_ADD: operator.add, ca.OP_SUB: operator.sub, ca.OP_MUL: operator.mul, ca.OP_SIN: np.sin}


def test_entries_are_column_by_column_also_of_sparse_matrices() -> None:
    m, d = ca.SX.sym("M", 2, 3), ca.SX.sym("d", ca.Sparsity.diag(2))
    outputs = [m.T @ d - 3, ca.sparsify(ca.diag(ca.sin(m[:, 0]))), ca.SX(0, 2)]
    graph = ca.Function("f", [m, d], outputs)
    values = [np.arange(1.0, 7.0).reshape(2, 3), np.diag([0.5, 2.0])]
    entries = [x.ravel(order="F").tolist() for x in values]
    found = evaluate(graph, entries, float, lambda op, *operands: NUMBERS[op](*operands))
    for x, expected in zip(found, graph.call(values), strict=True):
        assert x == pytest.approx(expected.full().ravel(order="F").tolist(), rel=1e-15)


def test_calls_of_functions_are_operations() -> None:
    """With several results; no algebra of ours has them, and each says so by name."""
    x = ca.SX.sym("x", 2)
    called = ca.Function("called", [x], [ca.sin(x), x[0]], {"never_inline": True})
    graph = ca.Function("f", [x], [sum(ca.sum1(y) for y in called(x))], ["x"], ["y"])
    assert ca.OP_CALL in operations(graph)
    with pytest.raises(UnsupportedError, match="f: its operation OP_CALL has no form in SymPy"):
        gs.to_sympy(graph)


def test_operations_have_names() -> None:
    assert operation_name(ca.OP_ATAN2) == "OP_ATAN2"
    assert operation_name(-7) == "operation -7"


def test_the_count_is_of_instructions_products_and_sums() -> None:
    s = symbols(x=2)
    x, y = s["x"][0], s["x"][1]
    graph = function("f", s, {"z": x * y + x - y})
    # two inputs, one product, two sums, one output
    assert count(graph) == {"instructions": 6, "multiplications": 1, "additions": 2}
    assert np.isclose(float(graph([2, 3])), 5)
