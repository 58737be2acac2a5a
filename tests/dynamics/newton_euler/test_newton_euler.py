"""How large the graphs of Newton–Euler may be, and which forward dynamics it takes."""

from __future__ import annotations

import numpy as np
import pytest

import gdalembert as gd
from benchmarks.common import robots
from tests.helpers.models import build
from tests.helpers.sets import with_extras

FUNCTIONS = (
    "inverse_dynamics",
    "nle",
    "generalized_gravity",
    "mass_matrix",
    "coriolis_matrix",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
)


# Instructions of each of FUNCTIONS, at most.
LIMITS = {
    "puma560_benchmark": (389, 352, 88, 262, 1213, 837, 1848),
    "panda7": (633, 606, 128, 472, 1599, 1197, 3676),
    "ur5": (317, 275, 54, 189, 1082, 566, 1323),
    "panda": (768, 705, 147, 622, 2017, 1498, 5050),
    "kinova": (512, 489, 137, 385, 1473, 1059, 2263),
    "solo12": (1273, 1188, 286, 1108, 4656, 3177, 5784),
    "go2": (1487, 1405, 304, 1187, 4781, 3353, 6422),
    "talos": (3808, 3752, 796, 4853, 13471, 8577, 30337),
}


@pytest.mark.parametrize("name", with_extras(LIMITS, "puma560_benchmark", "panda7"))
def test_graphs_stay_within_their_limits(name: str) -> None:
    dyn = gd.NewtonEuler(robots.load(name))
    found = {function: getattr(dyn, function).n_instructions() for function in FUNCTIONS}
    limits = dict(zip(FUNCTIONS, LIMITS[name], strict=True))
    assert {f: n for f, n in found.items() if n > limits[f]} == {}


@pytest.mark.parametrize(("number", "deep"), [(7, False), (20, False), (60, True)])
def test_long_chains_are_deep(number: int, deep: bool) -> None:
    assert gd.NewtonEuler(robots.chain(number))._is_deep == deep


def test_many_short_branches_are_not_deep() -> None:
    model = build(np.random.default_rng(13), ["FreeFlyer"] + ["RX", "RY", "RZ"] * 10, legs_of(10, 3))
    assert not gd.NewtonEuler(model)._is_deep


def legs_of(number: int, length: int) -> list[int]:
    return [0, *(1 if k == 0 else 1 + leg * length + k for leg in range(number) for k in range(length))]


@pytest.mark.long
def test_a_long_chain_needs_no_mass_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("M was built")

    monkeypatch.setattr(gd.NewtonEuler, "mass_matrix_expression", refuse)
    with pytest.raises(AssertionError, match="M was built"):
        _ = gd.NewtonEuler(robots.chain(6)).forward_dynamics
    for number in (36, 48):
        chain = build(np.random.default_rng(14), ["RevoluteUnaligned"] * number, range(number))
        assert gd.NewtonEuler(chain).forward_dynamics.n_instructions() < 600 * number
