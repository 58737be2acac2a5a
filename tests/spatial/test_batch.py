"""Functions at many states in one call."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from gdalembert.errors import ArgumentError
from gdalembert.spatial.batch import BatchFunction
from gdalembert.spatial.functions import function, symbols


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
