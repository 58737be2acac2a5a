"""The Radau IIA integrator: its coefficients, what it is for, and that few calls of u suffice."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import gdalembert as gd
from benchmarks.flexible.case_study import DEFAULT, START, arm
from gdalembert.simulation.radau_scheme import RadauScheme
from gdalembert.spatial.arrays import Array

TWO_SECONDS = np.linspace(0, 2, 401)


def moved(scheme: RadauScheme, z: complex) -> complex:
    """One step of x' = λ x from 1, with z = λ h: 1 + z bᵀ (1 − z A)⁻¹ 1."""
    s = len(scheme.nodes)
    a = np.linalg.solve(np.vander(scheme.nodes, s, increasing=True).T, (scheme.nodes[:, None] ** _1(s) / _1(s)).T).T
    return complex(1 + z * scheme.weights @ np.linalg.solve(np.eye(s) - z * a, np.ones(s)))


def _1(s: int) -> Array:
    return np.arange(1.0, s + 1)


@pytest.mark.parametrize("stages", [3, 5, 7])
def test_the_coefficients_are_those_of_radau(stages: int) -> None:
    """Order 2 s − 1: ∫ θ^k dθ is exact for k < 2 s − 1; A-stable, and 0 at infinity."""
    scheme = RadauScheme.of(stages)
    k = np.arange(2 * stages - 1)
    np.testing.assert_allclose(scheme.weights @ scheme.nodes[:, None] ** k, 1 / (k + 1), rtol=0, atol=1e-14)
    assert abs(scheme.weights @ scheme.nodes ** (2 * stages - 1) - 1 / (2 * stages)) > 1e-9
    assert abs(moved(scheme, 0.01) - np.exp(0.01)) < 1e-15
    assert all(abs(moved(scheme, 1j * w)) <= 1 + 1e-13 for w in np.logspace(-2, 6, 200))
    assert abs(moved(scheme, -1e8)) < 1e-6
    # the two forms of A⁻¹, and what polynomials of degree s have between nodes
    rows = (scheme.from_eigen * scheme.eigenvalues) @ scheme.to_eigen
    z = scheme.nodes**3  # ∫ 3 θ²
    np.testing.assert_allclose(rows.real @ z, 3 * scheme.nodes**2, rtol=0, atol=1e-11)
    theta = np.array([0.0, 0.3, 1.0, 1.5])
    # rounding grows outside the step, with the power s of θ
    np.testing.assert_allclose(scheme.between(theta) @ z, theta**3, rtol=0, atol=1e-11)
    np.testing.assert_allclose(scheme.integral(theta) @ (3 * scheme.nodes**2), theta**3, rtol=0, atol=1e-11)
    np.testing.assert_allclose(scheme.extrapolated(z[:, None], 0.5)[:, 0], (1 + scheme.nodes / 2) ** 3 - 1, atol=1e-11)


def feedback(calls: list[float]) -> Any:
    """Torques of the case study, and weak joint feedback."""

    def law(t: float, q: Array, v: Array) -> Array:
        calls.append(t)
        torque = np.array([0.6 * np.sin(np.pi * t), -0.25 * np.sin(2 * np.pi * t)])
        return torque - np.array([0.5, 0.3]) * (q[:2] - START) - np.array([0.1, 0.05]) * v[:2]

    return law


def graph(nx: int) -> ca.Function:
    """The same as a graph."""
    t, x = ca.SX.sym("t"), ca.SX.sym("x", nx)
    torque = ca.vertcat(0.6 * ca.sin(ca.pi * t), -0.25 * ca.sin(2 * ca.pi * t))
    back = ca.vertcat(0.5, 0.3) * (x[:2] - ca.DM(START)) + ca.vertcat(0.1, 0.05) * x[nx // 2 : nx // 2 + 2]
    return ca.Function("u", [t, x], [torque - back])


def at_rest(dyn: gd.FlexibleArm) -> Array:
    x0 = np.zeros(2 * dyn.tree.nv)
    x0[:2] = START
    return x0


def test_a_flexible_arm_needs_few_calls_of_python() -> None:
    """Two seconds of the case study, whose fastest mode makes 550 turns: each step of Adams' method has two calls."""
    dyn, calls = arm(DEFAULT, 10.0), []
    motion = gd.simulate(dyn, at_rest(dyn), TWO_SECONDS, feedback(calls))
    assert motion.method == "radau"
    assert motion.steps < 450
    assert len(calls) < 9000
    assert motion.relative_balance < 1e-7
    adams = gd.simulate(dyn, at_rest(dyn), TWO_SECONDS[:41], graph(20), method="adams")
    assert adams.steps > 2 * motion.steps  # in a tenth of the time
    assert np.abs(adams.q - motion.q[:41]).max() < 1e-9
    same = gd.simulate(dyn, at_rest(dyn), TWO_SECONDS[:41], graph(20), method="radau")
    assert np.abs(same.q - motion.q[:41]).max() < 1e-9


def test_steps_do_not_shrink_with_what_hardly_vibrates() -> None:
    """A mode of 8.7 kHz: Adams' method makes 110,000 steps in a second."""
    dyn, calls = arm(DEFAULT, 1e4), []
    motion = gd.simulate(dyn, at_rest(dyn), TWO_SECONDS[:41], feedback(calls))
    assert dyn.natural_frequencies(motion.q[0], joints="free")[-1] > 4e4  # rad/s
    assert motion.steps < 700
    assert motion.relative_balance < 1e-6
    rigid = gd.simulate(arm("rigid", 0.0), [*START, 0, 0], TWO_SECONDS[:41], feedback([]))
    assert np.abs(motion.q[:, :2] - rigid.q).max() < 1e-4


def test_rows_and_parameters_are_those_of_adams() -> None:
    start = [0.1, 0.2], [0.3, 0.4]
    dyn = gd.NewtonEuler(gd.load_urdf("two_link_arm"), parameters=["armature"])
    times = np.linspace(0, 1, 11)
    rows = np.column_stack([np.sin(times), np.cos(times)])
    for hold in (False, True):
        one, other = (
            gd.simulate(dyn, start, times, rows, hold=hold, method=method, p=[0.1, 0.2], reltol=1e-10, abstol=1e-12)
            for method in ("adams", "radau")
        )
        assert np.abs(one.x - other.x).max() < 1e-8  # of Adams' method, whose errors add up
        assert other.relative_balance < 1e-9


def test_every_output_time_is_reached() -> None:
    """A last step of length end − t ends at the end, even where t + (end − t) is rounded to less."""
    model = gd.load_urdf("two_link_arm")
    model.gravity.setZero()
    dyn, rng = gd.NewtonEuler(model), np.random.default_rng(0)
    times = [(t, end) for t, end in rng.uniform([0, 1], [0.5, 2], size=(200, 2)) if t + (end - t) < end]
    assert len(times) == 8
    for t, end in times:
        result = gd.simulate(dyn, [1.5, 1.0, 0.0, 0.0], [t, end], method="radau")
        assert result.q.tolist() == [[1.5, 1.0], [1.5, 1.0]]
