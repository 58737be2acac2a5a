"""What needs a C compiler, on a machine that has none: by that of the package ziglang, which the tests install."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from gdalembert import ocp
from tests.helpers.models import relative_error

pytestmark = pytest.mark.usefixtures("no_system_compiler", "empty_cache")

MODEL = gd.load_urdf("two_link_arm")
DYN = gd.NewtonEuler(MODEL)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GDALEMBERT_CACHE", str(tmp_path / "cache"))


@pytest.mark.long
def test_a_function_is_compiled() -> None:
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    tau = gd.compile(DYN.inverse_dynamics, flags="-O1")(q, v, a)
    assert relative_error(tau, DYN.inverse_dynamics(q, v, a).full().ravel()) < 1e-14


@pytest.mark.long
def test_real_time_iterations_settle_at_the_optimum() -> None:
    """Their stage, their tick and the interior point are C; the optimum is that of IPOPT."""
    problem = ocp.Problem(DYN, 0.5, 5, degree=1, bounds=ocp.Bounds.of(DYN, MODEL))
    problem.start(problem.parameter("q0", 2))
    problem.squares(lambda u: u, 1e-4)
    problem.squares(lambda q: q - ca.DM([0.4, 0.3]), 10)
    solver = problem.solver("rti")
    for _ in range(10):
        plan = solver(q0=[0.1, 0.2])
    optimum = problem.solve(q0=[0.1, 0.2])
    assert plan.solved
    assert plan.cost == pytest.approx(optimum.cost, rel=1e-9)
    assert np.abs(plan.q - optimum.q).max() < 1e-7  # the tolerance of IPOPT


def test_a_quadratic_program_of_stages_is_solved() -> None:
    """x⁺ = x + u, least Σ (x² + u²)/2 from x = 1, u at least −0.4: by hand, over two intervals.

    Without the limit u_0 = −0.6, u_1 = −0.2; with it u_0 = −0.4, and of x_1 = 0.6 is left u_1 = −0.3.
    """
    qp = ocp.StageQP(1, 1, 2)
    qp.dynamics[:] = [[1.0, 1.0]]
    qp.hessian[:] = np.eye(2)
    qp.lower[:, 0] = -0.4
    solution = qp([1.0])
    np.testing.assert_allclose(solution.u.ravel(), [-0.4, -0.3], rtol=0, atol=1e-8)  # the gap that is left
    np.testing.assert_allclose(solution.x.ravel(), [1.0, 0.6, 0.3], rtol=0, atol=1e-8)
