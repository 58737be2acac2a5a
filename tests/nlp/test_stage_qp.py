"""Quadratic programs of stages: against general solvers, with limits hard and soft, and what cannot be solved."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
import scipy.linalg

from gdalembert import ocp
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError
from tests.helpers.models import relative_error

pytestmark = pytest.mark.system


def drawn(seed: int, nx: int, nu: int, intervals: int, rows: int, size: float) -> ocp.StageQP:
    """A random program, with limits of about a size."""
    rng = np.random.default_rng(seed)
    qp = ocp.StageQP(nx, nu, intervals, rows=rows)
    nz = nx + nu
    qp.dynamics[:] = np.hstack([0.3 * rng.normal(size=(nx, nu)), np.eye(nx) + 0.1 * rng.normal(size=(nx, nx))])
    qp.offset[:] = 0.05 * rng.normal(size=qp.offset.shape)
    for k in range(intervals + 1):
        residual = rng.normal(size=(nz, nz)) / nz
        qp.hessian[k] = residual.T @ residual + 0.05 * np.eye(nz)
    qp.gradient[:] = rng.normal(size=qp.gradient.shape)
    qp.lower[:], qp.upper[:] = -size, size
    qp.rows[:] = rng.normal(size=qp.rows.shape) / np.sqrt(nz)
    qp.rows_lower[:], qp.rows_upper[:] = -size, np.inf
    return qp


def reference(qp: ocp.StageQP, x_0: np.ndarray, w1: float, w2: float, plugin: str) -> tuple[np.ndarray, float]:
    """z and the cost by a solver of CasADi; limits of x and rows are soft if a weight is not zero."""
    n, nx, nu = qp.intervals, qp.nx, qp.nu
    nz, count = nx + nu, qp.rows.shape[1]
    z, s = ca.SX.sym("z", nz, n + 1), ca.SX.sym("s", nz + count, n + 1)
    soft = np.r_[np.zeros(nu), np.ones(nx + count)] * bool(w1 or w2)
    cost, g, lower, upper = ca.SX(0), [], [], []
    for k in range(n + 1):
        h, c = qp.hessian[k].copy(), qp.gradient[k].copy()
        if k == n:
            h[:nu], h[:, :nu], c[:nu] = 0, 0, 0
        cost += ca.bilin(ca.DM(h), z[:, k], z[:, k]) / 2 + ca.dot(c, z[:, k])
        cost += ca.dot(soft, w1 * s[:, k] + w2 * s[:, k] ** 2 / 2)
        if k < n:
            g.append(z[nu:, k + 1] - ca.DM(qp.dynamics[k]) @ z[:, k] - qp.offset[k])
            lower, upper = [*lower, np.zeros(nx)], [*upper, np.zeros(nx)]
        limited = ca.vertcat(z[:, k], ca.DM(qp.rows[k]) @ z[:, k])
        kept = [i for i in range(nz + count) if not ((k == 0 and nu <= i < nz) or (k == n and i < nu))]
        for sign, end in ((-1, "upper"), (1, "lower")):
            g.append((limited + sign * soft * s[:, k])[kept])
            limit = np.r_[getattr(qp, end)[k], getattr(qp, f"rows_{end}")[k]][kept]
            lower.append(limit if end == "lower" else np.full(len(kept), -np.inf))
            upper.append(limit if end == "upper" else np.full(len(kept), np.inf))
    least, most = np.full((n + 1, nz), -np.inf), np.full((n + 1, nz), np.inf)
    least[0, nu:] = most[0, nu:] = x_0
    least[n, :nu] = most[n, :nu] = 0
    program = {"x": ca.vertcat(ca.vec(z), ca.vec(s)), "f": cost, "g": ca.vertcat(*g)}
    options = {"piqp": {"piqp": {"eps_abs": 1e-11, "eps_rel": 1e-11}}, "proxqp": {"proxqp": {"eps_abs": 1e-10}}}[plugin]
    solver = ca.qpsol("reference", plugin, program, {"error_on_fail": True} | options)
    found = solver(
        lbx=np.r_[least.ravel(), np.zeros(s.numel())],
        ubx=np.r_[most.ravel(), np.tile(np.where(soft > 0, np.inf, 0), n + 1)],
        lbg=np.concatenate(lower),
        ubg=np.concatenate(upper),
    )
    return found["x"].full().ravel()[: nz * (n + 1)].reshape(n + 1, nz), float(found["f"])


def cost_of(qp: ocp.StageQP, found: Any, w1: float, w2: float) -> float:
    """The cost, penalties included."""
    z = np.hstack([np.vstack([found.u, np.zeros((1, qp.nu))]), found.x])
    cost = sum(z[k] @ qp.hessian[k] @ z[k] / 2 + qp.gradient[k] @ z[k] for k in range(len(z)))
    rows = np.einsum("kij,kj->ki", qp.rows, z)
    over = [np.maximum(qp.lower - z, 0)[1:, qp.nu :], np.maximum(z - qp.upper, 0)[1:, qp.nu :]]
    over += [np.maximum(qp.rows_lower - rows, 0), np.maximum(rows - qp.rows_upper, 0)]
    return float(cost + sum(np.sum(w1 * s + w2 * s**2 / 2) for s in over))


def assert_dynamics(qp: ocp.StageQP, found: Any, x_0: np.ndarray) -> None:
    z = np.hstack([found.u, found.x[:-1]])
    moved = np.einsum("kij,kj->ki", qp.dynamics, z) + qp.offset
    assert np.abs(found.x[1:] - moved).max() < 1e-7
    assert found.x[0] == pytest.approx(x_0, abs=1e-7)
    assert np.all(found.u <= qp.upper[:-1, : qp.nu] + 1e-12)
    assert np.all(found.u >= qp.lower[:-1, : qp.nu] - 1e-12)


SIZES = [(1, 1, 3, 0), (2, 1, 10, 1), (3, 5, 8, 2), (7, 3, 12, 0), (14, 7, 20, 3), (13, 4, 5, 9)]


@pytest.mark.parametrize("weights", [(0.0, 0.0), (3.0, 0.0), (0.0, 20.0), (2.0, 5.0)], ids=str)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_costs_are_those_of_a_general_solver(size: tuple[int, int, int, int], weights: tuple[float, float]) -> None:
    for seed in range(3):
        qp = drawn(seed, *size, 1.0 if any(weights) else 4.0)
        x_0 = 0.5 * np.random.default_rng(seed).normal(size=qp.nx)
        if any(weights):
            qp.soften(*weights)
        found = qp(x_0, tolerance=1e-11)
        z, cost = reference(qp, x_0, *weights, "piqp")
        assert found.solved
        assert_dynamics(qp, found, x_0)
        assert cost_of(qp, found, *weights) == pytest.approx(cost, rel=1e-6, abs=1e-6)
        error = np.abs(found.x - z[:, qp.nu :]).max()
        assert 0.05 * error**2 / 2 < 1e-6 * max(1.0, abs(cost))  # H is at least 0.05


def test_without_limits_it_is_the_linear_quadratic_regulator() -> None:
    a, b = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.005], [0.1]])
    q, r = np.diag([2.0, 0.3]), np.array([[0.1]])
    p = scipy.linalg.solve_discrete_are(a, b, q, r)
    gain = np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
    qp = ocp.StageQP(2, 1, 15)
    qp.dynamics[:] = np.hstack([b, a])
    qp.hessian[:-1], qp.hessian[-1, 1:, 1:] = scipy.linalg.block_diag(r, q), p
    found = qp([1.0, -0.5])
    assert (found.iterations, found.gap) == (1, 0.0)
    assert np.abs(found.u + found.x[:-1] @ gain.T).max() < 1e-12


def test_a_start_beyond_limits_comes_back_by_soft_limits_alone() -> None:
    """A mass at a speed that no force within its limits can stop before the wall."""
    qp = ocp.StageQP(2, 1, 60)
    qp.dynamics[:] = [[0.005, 1, 0.1], [0.1, 0, 1]]
    qp.hessian[:] = np.diag([1e-3, 1.0, 0.1])
    qp.lower[:], qp.upper[:] = [-1.0, -np.inf, -np.inf], [1.0, 1.0, np.inf]
    hard = qp([0.9, 1.5])
    assert not hard.solved
    assert np.isfinite(hard.x).all()
    qp.soften(100.0, 10.0)
    soft = qp([0.9, 1.5])
    assert soft.solved
    assert soft.x[:, 0].max() > 1.5
    assert abs(soft.x[-1, 0]) < 0.3
    assert soft.u[:8] == pytest.approx(np.full((8, 1), -1.0), abs=1e-6)  # braking as hard as it can
    qp.soften(100.0, 10.0, x=False)
    assert not qp([0.9, 1.5]).solved


@pytest.mark.parametrize("weight", [1e2, 1e3, 1e4, 1e6])
def test_equal_limits_are_equations(weight: float) -> None:
    """At the end on both sides of the free one, of a state and of a row: the KKT conditions have the same z.

    To 5e-4 of numbers up to 10: stiffness ends at 1e10, where forces times slacks are 1e-11 of the square of the
    weight; it rounds off 1e-4 of them there, all of them beyond.
    """
    qp = drawn(3, 4, 2, 8, 2, np.inf)
    qp.soften(weight, weight)
    x_0, n, nz = np.array([0.3, -0.2, 0.1, 0.4]), 8, 6
    qp.lower[n, 2:5] = qp.upper[n, 2:5] = [0.7, -0.9, 0.2]
    qp.rows_lower[4, 1] = qp.rows_upper[4, 1] = 0.3
    size = (n + 1) * nz
    hessian, equations, right = np.zeros((size, size)), [], []
    gradient = qp.gradient.ravel().copy()
    gradient[n * nz : n * nz + 2] = 0
    for k in range(n + 1):
        own = np.triu(qp.hessian[k])
        hessian[k * nz : (k + 1) * nz, k * nz : (k + 1) * nz] = own + np.triu(own, 1).T
    hessian[n * nz : n * nz + 2] = hessian[:, n * nz : n * nz + 2] = 0
    hessian[n * nz : n * nz + 2, n * nz : n * nz + 2] = np.eye(2)
    for k in range(n):
        gap = np.zeros((4, size))
        gap[:, (k + 1) * nz + 2 : (k + 2) * nz] = np.eye(4)
        gap[:, k * nz : (k + 1) * nz] = -qp.dynamics[k]
        equations.append(gap)
        right.append(qp.offset[k])
    single = np.zeros((8, size))
    single[:4, 2:6] = np.eye(4)
    single[4:7, n * nz + 2 : n * nz + 5] = np.eye(3)
    single[7, 4 * nz : 5 * nz] = qp.rows[4, 1]
    a = np.vstack([*equations, single])
    b = np.concatenate([*right, x_0, [0.7, -0.9, 0.2], [0.3]])
    zero = np.zeros((len(a), len(a)))
    z = np.linalg.solve(np.block([[hessian, a.T], [a, zero]]), np.r_[-gradient, b])[:size].reshape(n + 1, nz)
    found = qp(x_0, iterations=100, tolerance=1e-12)
    assert found.status == "solved"
    assert np.abs(found.x - z[:, 2:]).max() < 5e-4
    assert np.abs(found.u - z[:n, :2]).max() < 5e-4


def test_a_cap_of_iterations() -> None:
    qp = drawn(3, 6, 2, 15, 2, 3.0)
    x_0 = np.full(6, 0.2)
    whole = qp(x_0)
    few = qp(x_0, iterations=3)
    assert (few.status, few.iterations) == ("iterations", 3)
    assert few.gap > whole.gap
    assert np.array_equal(qp(x_0).u, whole.u)


def test_the_unit_of_a_row_changes_no_iterate() -> None:
    """It is that of its limits and of its penalty; also where a search begins close to limits, or beyond."""
    found = []
    for unit in (0.25, 0.001):
        qp = drawn(6, 4, 2, 6, 2, 0.4)
        qp.soften(5.0, 5.0)
        qp.rows[..., : qp.nu] = 0.0  # out of reach of u
        qp.rows[:] *= unit / np.abs(qp.rows).max(axis=2, keepdims=True)
        qp.rows_lower[:] = unit * np.linspace(-0.05, 0.01, 7)[:, None]
        first = qp.wide
        qp.memory["w1"][first : first + 2] /= unit
        qp.memory["w2"][first : first + 2] /= unit**2
        found.append(qp(np.full(4, 0.1), iterations=3, first_gap=1e-3))
    assert found[0].gap == pytest.approx(found[1].gap, rel=1e-9)
    assert relative_error(found[0].u, found[1].u) < 1e-9
    assert relative_error(found[0].x, found[1].x) < 1e-9


@pytest.mark.parametrize("rows", [9, 20])
def test_rows_without_limits_are_not_read(rows: int) -> None:
    """Other ones at each instant, of all of them at the last but one."""
    few, many = (drawn(3, 4, 2, 6, count, 0.5) for count in (2, rows))
    places = np.random.default_rng(0).permuted(np.tile(np.arange(rows), (7, 1)), axis=1)[:, :2]
    few.soften(10.0, 1.0)
    many.soften(10.0, 1.0)
    for name in ("dynamics", "offset", "hessian", "gradient"):
        getattr(many, name)[:] = getattr(few, name)
    many.rows[:], many.rows_lower[:], many.rows_upper[:] = np.nan, -np.inf, np.inf
    for k, chosen in enumerate(places):
        many.rows[k, chosen], many.rows_lower[k, chosen] = few.rows[k], few.rows_lower[k]
    few.rows_lower[5], many.rows_lower[5] = -np.inf, -np.inf
    expected, found = few(np.full(4, 0.4)), many(np.full(4, 0.4))
    assert found.iterations == expected.iterations
    np.testing.assert_allclose(found.x, expected.x, rtol=0, atol=1e-12)


def test_nothing_that_is_not_finite_comes_out() -> None:
    qp = drawn(4, 3, 2, 6, 1, 2.0)
    qp.gradient[2, 1] = np.nan
    found = qp(np.zeros(3))
    assert found.status == "not finite"
    assert np.isfinite(found.u).all()
    assert np.isfinite(found.x).all()
    qp = drawn(4, 3, 2, 6, 1, 2.0)
    qp.hessian[:] = -np.eye(5)  # no minimum
    assert not qp(np.zeros(3)).solved


def braking() -> ocp.StageQP:
    """A mass that is pushed by at most 1."""
    qp = ocp.StageQP(2, 1, 20, rows=1)
    qp.dynamics[:] = [[0.005, 1, 0.1], [0.1, 0, 1]]
    qp.hessian[:] = np.diag([1e-3, 1.0, 0.1])
    qp.lower[:, 0], qp.upper[:, 0] = -1, 1
    return qp


@pytest.mark.parametrize("name", ["lower", "upper", "rows_lower", "rows_upper"])
@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
def test_a_limit_that_is_no_number_is_not_taken_for_none(name: str, soft: bool) -> None:
    qp = braking()
    qp.rows[:], qp.rows_upper[:] = [0, 1, 1], 100
    if soft:
        qp.soften(10.0, 10.0)
    assert qp([5.9, 0.5]).solved
    getattr(qp, name)[3] = np.nan
    found = qp([5.9, 0.5])
    assert found.status == "not finite"
    assert np.abs(found.u).max() <= 1


def test_arrays_are_filled_and_never_replaced() -> None:
    qp = braking()
    for name in ("dynamics", "offset", "hessian", "gradient", "lower", "upper", "rows", "rows_lower", "rows_upper"):
        with pytest.raises(ArgumentError, match=f"StageQP: {name} is read where it is, and cannot be replaced; write"):
            setattr(qp, name, getattr(qp, name) * 0.1)
    with pytest.raises(UnknownNameError, match=r"^no attribute of StageQP named 'uper'; nearest: 'upper'"):
        qp.uper = np.ones(2)
    with pytest.raises(ArgumentError, match=r"^StageQP: intervals is \d+ and remains so; make another StageQP$"):
        qp.intervals = 2
    with pytest.raises(ArgumentError, match=r"^StageQP: upper is read at each call, and cannot be deleted$"):
        del qp.upper
    qp.upper *= 0.1
    qp.lower *= 0.1
    found = qp([5.9, 0.5])
    assert found.solved
    assert np.abs(found.u).max() == pytest.approx(0.1, abs=1e-9)


def test_limits_that_contradict_each_other_have_no_solution() -> None:
    qp = braking()
    qp.lower[:, 0], qp.upper[:, 0] = 1, -1
    found = qp([0.9, 0.5])
    assert found.status == "iterations"
    assert np.isfinite(found.u).all()


@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_works_in_memory_of_its_own_is_not_copied(take: Callable[[object], object]) -> None:
    with pytest.raises(UnsupportedError, match="StageQP: it works in memory of its own, and cannot be copied"):
        take(braking())


def test_refusals() -> None:
    qp = ocp.StageQP(2, 1, 3)
    for call, kind, message in (
        (lambda: ocp.StageQP(0, 1, 3), ArgumentError, "StageQP: nx: got 0; give an integer from 1 to 100"),
        (lambda: ocp.StageQP(2, 1.0, 3), ArgumentTypeError, "StageQP: nu: expected an integer, got 1.0"),
        (lambda: qp.soften(0.0, 0.0), ArgumentError, "soften: both weights are 0, so that limits would cost nothing"),
        (lambda: qp.soften(-1.0, 0.0), ArgumentError, "soften: linear"),
        (lambda: qp.soften(1.0, 0.0, x="no"), ArgumentTypeError, "soften: x is 'no'; give True or False"),
        (lambda: qp([1.0]), ArgumentError, "StageQP: x_0"),
        (lambda: qp([np.nan, 1.0]), ArgumentError, "StageQP: x_0"),
        (lambda: qp([0, 0], iterations=0), ArgumentError, "StageQP: iterations: got 0"),
    ):
        with pytest.raises(kind, match=message):
            call()
