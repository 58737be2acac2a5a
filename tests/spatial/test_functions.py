"""How Functions are made, and how their cost is counted."""

from __future__ import annotations

import casadi as ca
import numpy as np

from gdalembert.spatial.functions import count, function, symbols


def test_outputs_are_named_and_dense() -> None:
    s = symbols(q=2)
    graph = function("f", s, {"M": ca.diag(s["q"]), "zero": ca.DM(2, 1)})
    assert (graph.name_in(), graph.name_out()) == (["q"], ["M", "zero"])
    assert graph.sparsity_out("M").is_dense()
    assert graph(q=[1, 2])["M"].full().tolist() == [[1, 0], [0, 2]]


def test_common_subexpressions_are_computed_once() -> None:
    s = symbols(q=1)
    graph = function("f", s, {"a": ca.sin(s["q"]) * 2, "b": ca.sin(s["q"]) + 1})
    assert [graph.instruction_id(k) for k in range(graph.n_instructions())].count(ca.OP_SIN) == 1


def test_the_count_is_of_instructions_products_and_sums() -> None:
    s = symbols(x=2)
    x, y = s["x"][0], s["x"][1]
    graph = function("f", s, {"z": x * y + x - y})
    # two inputs, one product, two sums, one output
    assert count(graph) == {"instructions": 6, "multiplications": 1, "additions": 2}
    assert np.isclose(float(graph([2, 3])), 5)
