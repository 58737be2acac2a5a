"""Algebra, each function beside its definition."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert import spatial
from tests.helpers.models import relative_error

RNG = np.random.default_rng(0)


def test_spin_is_what_a_turning_point_feels() -> None:
    alpha, omega, x = RNG.normal(size=(3, 3))
    felt = np.cross(alpha, x) + np.cross(omega, np.cross(omega, x))
    assert relative_error((spatial.spin(ca.DM(alpha), ca.DM(omega)) @ x).full().ravel(), felt) < 1e-14


def test_congruence_is_symmetric_to_the_last_bit() -> None:
    r, s = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))
    value = spatial.congruence(ca.DM(r), ca.DM(s + s.T)).full()
    assert np.array_equal(value, value.T)
    assert relative_error(value, r @ (s + s.T) @ r.T) < 1e-14


def test_pseudo_inertia_and_back() -> None:
    body = pin.Inertia.Random()
    at_com = pin.Inertia(body.mass, np.zeros(3), body.inertia)
    assert relative_error(spatial.pseudo_inertia_of(ca.DM(body.inertia)).full(), at_com.toPseudoInertia().sigma) < 1e-14
    second = spatial.pseudo_inertia_of(ca.DM(body.inertia))
    assert relative_error(spatial.inertia_of(second).full(), body.inertia) < 1e-14


@pytest.mark.parametrize("n", [1, 2, 5])
def test_symmetric_solve(n: int) -> None:
    b = RNG.normal(size=(n, n))
    m, y = b @ b.T + np.eye(n), RNG.normal(size=(n, 2))
    assert relative_error(spatial.symmetric_solve(ca.DM(m), ca.DM(y)).full(), np.linalg.solve(m, y)) < 1e-12


def test_symmetric_solve_makes_no_fill_in_on_a_tree() -> None:
    """Two leaves on one root: no instruction couples the leaves."""
    m = ca.SX.sym("m", ca.Sparsity(3, 3, [0, 3, 5, 7], [0, 1, 2, 0, 1, 0, 2]))
    b = ca.SX.sym("b", 3)
    x = spatial.symmetric_solve(m, b)
    # without b[2], the second leaf enters the first one's row only through the root: 4 divisions, no coupling factor
    graph = ca.Function("x", [m, b], [x])
    divisions = [graph.instruction_id(k) for k in range(graph.n_instructions())].count(ca.OP_DIV)
    assert divisions == 5
    values = np.array([4.0, 0.5, 0.7, 0.5, 3.0, 0.7, 2.0])
    dense = np.array([[4, 0.5, 0.7], [0.5, 3, 0], [0.7, 0, 2]])
    given = ca.DM(m.sparsity(), values)
    assert relative_error(graph(given, [1, 2, 3]).full().ravel(), np.linalg.solve(dense, [1, 2, 3])) < 1e-14
