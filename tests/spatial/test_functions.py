"""How Functions are made."""

from __future__ import annotations

import casadi as ca

from gdalembert.spatial.functions import function, symbols


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
