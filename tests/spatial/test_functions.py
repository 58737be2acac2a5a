"""Functions: inputs and outputs by name, and their values at many states in one call."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from gdalembert.errors import ArgumentError
from gdalembert.spatial.functions import BatchFunction, function, symbols


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


def test_a_foreign_symbol_is_named() -> None:
    s = symbols(q=1, v=1)
    message = "^f: its expression has the symbol k, which is none of its inputs q, v; give a number in its place"
    with pytest.raises(ArgumentError, match=message):
        function("f", s, {"a": ca.sin(s["q"]), "b": ca.SX.sym("k") * s["v"]})


def product() -> ca.Function:
    s = symbols(x=2, y=2)
    return function("product", s, {"matrix": s["x"] @ s["y"].T})


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 100])
def test_a_matrix_of_each_state(n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(2, n, 2))
    assert np.array_equal(BatchFunction(product(), 2, 2)(x, y), x[:, :, None] * y[:, None, :])


def test_vectors_and_numbers() -> None:
    s = symbols(x=3)
    x = np.arange(12.0).reshape(4, 3)
    assert np.array_equal(BatchFunction(function("f", s, {"y": 2 * s["x"]}), 3)(x), 2 * x)
    assert np.array_equal(BatchFunction(function("f", s, {"y": ca.sum1(s["x"])}))(x), x.sum(axis=1))


class Python(ca.Callback):
    """A Function with Python in it."""

    def __init__(self, *, fails: bool) -> None:
        super().__init__()
        self.fails = fails
        self.construct("own", {})

    def eval(self, arg: list[ca.DM]) -> list[ca.DM]:
        if self.fails:
            raise ValueError("no number")
        return [arg[0] * 3]


def test_python_runs_on_one_thread() -> None:
    callback = Python(fails=False)
    x = np.arange(6.0)[:, None]
    assert np.array_equal(BatchFunction(callback)(x), 3 * x[:, 0])


def test_what_cannot_be_evaluated_is_named() -> None:
    callback = Python(fails=True)
    with pytest.raises(ArgumentError, match=r"^the Function 'own' cannot be evaluated: "):
        BatchFunction(callback)(np.ones((2, 1)))
