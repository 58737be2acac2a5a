"""One reciprocal where there are many divisions, none where there are few; the values stay."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from gdalembert.spatial.functions import function
from gdalembert.spatial.instructions import operations
from gdalembert.spatial.reciprocals import share_reciprocals
from tests.helpers.models import relative_error

X, P = ca.SX.sym("x", 9), ca.SX.sym("p", 2)
RNG = np.random.default_rng(0)


def entries(x: ca.SX) -> list[ca.SX]:
    return [x[k] for k in range(x.numel())]


def divisions(graph: ca.Function) -> int:
    return sum(op in (ca.OP_DIV, ca.OP_INV) for op in operations(graph))


@pytest.mark.parametrize("divisor", [P[0], P[0] - P[1], P[0] * P[1], ca.sin(P[0])])
@pytest.mark.parametrize(("number", "left"), [(7, 7), (8, 1), (9, 1)])
def test_many_divisions_become_one(divisor: ca.SX, number: int, left: int) -> None:
    plain = [X[:number] / divisor]
    shared = share_reciprocals([X, P], plain)
    before, after = (ca.Function("f", [X, P], x) for x in (plain, shared))
    assert (divisions(before), divisions(after)) == (number, left)
    assert after.n_instructions() <= before.n_instructions() + (3 if left == 1 else 0)  # 2, 2 p, 2 / (2 p)
    at = [RNG.normal(size=9), RNG.normal(size=2)]
    assert relative_error(after(*at).full(), before(*at).full()) < 1e-15


def test_a_reciprocal_that_is_there_is_shared() -> None:
    graph = ca.Function("f", [X, P], share_reciprocals([X, P], [ca.vertcat(X / P[0], 1 / P[0])]))
    assert divisions(graph) == 1


def test_each_divisor_counts_for_itself() -> None:
    graph = ca.Function("f", [X, P], share_reciprocals([X, P], [X / P[0], X[:5] / P[1]]))
    assert divisions(graph) == 1 + 5


def test_a_function_keeps_its_reciprocals_where_it_is_called() -> None:
    graph = function("f", {"x": X, "p": P}, {"y": X / (P[0] + P[1])})
    again = ca.Function("again", [X, P], ca.cse(graph.call([X, P])))
    assert divisions(graph) == divisions(again) == 1


def test_each_constant_counts_for_itself() -> None:
    threes, others = X[:8], X[:7]
    plain = [
        ca.vertcat(
            *(
                ca.SX.binary(ca.OP_DIV, x, ca.SX(c))
                for x, c in [
                    *((x, 3.0) for x in entries(threes)),
                    *((x, 7.0 + k) for k, x in enumerate(entries(others))),
                ]
            )
        )
    ]
    before, after = (ca.Function("f", [X, P], x) for x in (plain, share_reciprocals([X, P], plain)))
    assert (divisions(before), divisions(after)) == (15, 7)
    x = RNG.normal(size=9)
    assert relative_error(after(x, 0).full(), before(x, 0).full()) < 1e-15


def test_shapes_stay() -> None:
    shared = share_reciprocals([X, P], [ca.reshape(X, 3, 3) / P[0], P])
    assert [x.shape for x in shared] == [(3, 3), (2, 1)]
