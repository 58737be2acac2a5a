"""Compiled equations of motion: the same motions, by every method and under every control."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert.errors import CompilationError
from tests.helpers.models import build, relative_error

MODEL = gd.load_urdf("two_link_arm")
DYN = gd.NewtonEuler(MODEL)
X0 = np.array([0.3, -0.5, 1.0, 0.0])
METHODS = {
    "adams": {},
    "bdf": {},
    "idas": {},
    "radau": {},
    "dop853": {},
    "rk4": {"step": 0.01},
    "collocation": {"step": 0.02},
}


def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return -50 * q - 5 * v


def graph() -> ca.Function:
    t, x = ca.SX.sym("t"), ca.SX.sym("x", 4)
    return ca.Function("u", [t, x], [-50 * x[:2] - 5 * x[2:]])


def both(*arguments: Any, **options: Any) -> tuple[gd.simulation.Simulation, gd.simulation.Simulation]:
    compiled, interpreted = (gd.simulate(*arguments, compiled=each, **options) for each in (True, False))
    return compiled, interpreted


@pytest.mark.system
@pytest.mark.parametrize(
    ("method", "u"),
    [*((method, graph()) for method in METHODS), ("adams", None), ("bdf", None), ("radau", law), ("adams", law)],
)
def test_the_motion_is_that_of_the_graphs(method: str, u: Any) -> None:
    """To the tolerance of the integrators, 1e-8, which take other steps after other roundings."""
    compiled, interpreted = both(DYN, X0, 0.1, u, method=method, **METHODS[method])
    for name in ("q", "v", "a", "work"):
        assert relative_error(getattr(compiled, name), getattr(interpreted, name)) < 1e-7


@pytest.mark.system
def test_parameters_stay_inputs() -> None:
    dyn = gd.NewtonEuler(MODEL, parameters={"gravity": True})
    for p in ({}, {"gravity.z": -3.7}):
        compiled, interpreted = both(dyn, X0, 0.2, p=p, method="rk4", step=0.01)
        assert relative_error(compiled.x, interpreted.x) < 1e-12


@pytest.mark.system
def test_quaternions_keep_their_length() -> None:
    dyn = gd.NewtonEuler(build(np.random.default_rng(0), ["Spherical", "RX"], [0, 1]))
    x0 = np.array([0.1, 0.2, -0.3, np.sqrt(0.86), 0.4, 1.0, 2.0, -1.0, 0.5])
    compiled, interpreted = both(dyn, x0, 0.2, method="rk4", step=0.01)
    assert relative_error(compiled.x, interpreted.x) < 1e-12


@pytest.mark.system
def test_a_robot_is_compiled_once_and_only_if_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GDALEMBERT_CACHE", str(tmp_path / "cache"))
    gd.simulate(gd.NewtonEuler(MODEL), X0, 0.1)
    assert not (tmp_path / "cache").exists()
    for _ in range(2):
        motion = gd.simulate(gd.NewtonEuler(MODEL), X0, 0.1, compiled=True)
    assert motion.method == "dop853"
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_it_is_a_sentence() -> None:
    with pytest.raises(CompilationError, match=r"^simulate: two_link_arm: no C compiler: .*; drop compiled=True$"):
        gd.simulate(gd.NewtonEuler(MODEL), X0, 0.1, compiled=True)
