"""``benchmarks/learning``: the gradients that are measured, and the table; not how long anything takes."""

from __future__ import annotations

import numpy as np
import pytest

import gdalembert as gd
from benchmarks.learning import gradients
from tests.helpers.models import relative_error


@pytest.mark.parametrize("name", gradients.TASKS)
def test_the_compiled_gradient_is_that_of_the_jacobian(name: str) -> None:
    function = getattr(gd.NewtonEuler(gd.load_urdf("puma560_3")), name)
    *state, w = np.random.default_rng(0).uniform(-1, 1, (4, 3))
    found = gradients.products(function, gradients.TASKS[name][2])(*state, w)
    jacobians = function.jacobian()(*state, function(*state))
    for gradient, jacobian in zip(found, jacobians, strict=True):
        assert relative_error(gradient.full().ravel(), jacobian.full().T @ w) < 1e-12


def test_the_table_has_nanoseconds_and_ratios() -> None:
    ways = (gradients.COMPILED, gradients.THREADED, gradients.EXPORTED, gradients.MJX)
    seconds = dict(zip(ways, (1e-6, 5e-7, 3e-6, 4e-5), strict=True))
    ratios = {way: each / 1e-6 for way, each in seconds.items()}
    row = gradients.Row("inverse_dynamics", True, "float64", seconds, ratios, dict.fromkeys(ways, 1.0), 1e-12)
    assert gradients.table([row], 10)[-1] == (
        "| gradient of wᵀ τ(q, v, a) | float64 | 100 | 50 | 300 | 4,000 | 3.0× | 40.0× |"
    )
