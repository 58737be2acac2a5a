"""Compiled steps: the same solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.errors import CompilationError
from gdalembert.ocp import Problem, Solution
from tests.helpers.models import relative_error

MODEL = gd.load_urdf("two_link_arm")


def lifted(compiled: bool, parameters: Any = None, p: Any = None, **options: Any) -> Solution:
    dyn = gd.NewtonEuler(MODEL, parameters=parameters or {})
    problem = Problem(dyn, 1.0, 5, compiled=compiled, **options)
    problem.start([0, 0])
    problem.end([0.5, -0.7])
    problem.minimize(problem.integral(lambda u, a: ca.sumsqr(u) + ca.sumsqr(a)))
    problem.solve()
    return problem.solve(p=p)


@pytest.mark.system
@pytest.mark.parametrize(
    "options",
    [
        {"degree": 2},
        {"degree": 2, "control": "linear", "parameters": {"gravity": True}, "p": {"gravity.z": -5}},
        {"degree": 1, "parameters": {"gravity": True}, "design": {"gravity.z": (-9, -8)}},
        {"method": "rk4"},
    ],
    ids=["collocation", "parameters", "design", "rk4"],
)
def test_the_solution_is_that_of_the_graphs(options: dict[str, Any]) -> None:
    """To what the solver leaves of the optimality conditions, 1e-8."""
    compiled, interpreted = lifted(True, **options), lifted(False, **options)
    assert compiled.iterations == interpreted.iterations
    for name in ("q", "v", "u", "p", "cost"):
        assert relative_error(getattr(compiled, name), getattr(interpreted, name)) < 1e-8


@pytest.mark.system
def test_what_two_problems_share_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GDALEMBERT_CACHE", str(tmp_path / "cache"))
    first = lifted(True, degree=1)
    assert np.array_equal(lifted(True, degree=1).q, first.q)
    assert len(list((tmp_path / "cache").iterdir())) == 2  # the step and the cost
    lifted(False, degree=2)
    assert len(list((tmp_path / "cache").iterdir())) == 2


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_it_is_a_sentence() -> None:
    with pytest.raises(CompilationError, match=r"^Problem: two_link_arm: no C compiler: .*; drop compiled=True$"):
        Problem(gd.NewtonEuler(MODEL), 1.0, 5, compiled=True)
