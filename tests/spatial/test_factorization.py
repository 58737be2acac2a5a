"""The factorization beside NumPy's solutions, and its structural zeros."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from gdalembert import spatial
from tests.helpers.models import relative_error

RNG = np.random.default_rng(0)

TWO_LEAVES = ca.Sparsity(3, 3, [0, 3, 5, 7], [0, 1, 2, 0, 1, 0, 2])
"""Joints 1 and 2 are moved by joint 0 and not by each other."""

DENSE = np.array([[4, 0.5, 0.7], [0.5, 3, 0], [0.7, 0, 2]])


@pytest.mark.parametrize("n", [1, 2, 5])
def test_factorization(n: int) -> None:
    b = RNG.normal(size=(n, n))
    m, x, y = b @ b.T + np.eye(n), RNG.normal(size=(n, 2)), RNG.normal(size=(n, 3))
    factorization = spatial.Factorization(ca.DM(m))
    half, other_half = factorization.half_solve(ca.DM(x)), factorization.half_solve(ca.DM(y))
    solved = np.linalg.solve(m, y)
    assert relative_error(factorization.solve(ca.DM(y)).full(), solved) < 1e-12
    assert relative_error(spatial.symmetric_solve(ca.DM(m), ca.DM(y)).full(), solved) < 1e-12
    assert relative_error(factorization.finish(other_half).full(), solved) < 1e-12
    assert relative_error((factorization.half_inverse.T @ factorization.divide(other_half)).full(), solved) < 1e-12
    inverse = factorization.inverse.full()
    assert relative_error(inverse, np.linalg.inv(m)) < 1e-12
    assert np.array_equal(inverse, inverse.T)
    assert relative_error((half.T @ factorization.divide(other_half)).full(), x.T @ solved) < 1e-12
    assert relative_error(np.prod([float(pivot) for pivot in factorization.pivots]), np.linalg.det(m)) < 1e-12


def test_a_tree_fills_in_nothing() -> None:
    """Two leaves on one root: no instruction couples the leaves."""
    m, b = ca.SX.sym("m", TWO_LEAVES), ca.SX.sym("b", 3)
    graph = ca.Function("x", [m, b], [spatial.symmetric_solve(m, b)])
    divisions = [graph.instruction_id(k) for k in range(graph.n_instructions())].count(ca.OP_DIV)
    assert divisions == 5  # two factors and three quotients
    given = ca.DM(TWO_LEAVES, DENSE[DENSE != 0])
    assert relative_error(graph(given, [1, 2, 3]).full().ravel(), np.linalg.solve(DENSE, [1, 2, 3])) < 1e-14


def test_half_solves_keep_the_zeros_of_a_branch() -> None:
    """A column of a leaf reaches its ancestors, not the other leaf."""
    factorization = spatial.Factorization(ca.SX.sym("m", TWO_LEAVES))
    half = factorization.half_solve(ca.SX.eye(3))
    assert np.array_equal(ca.DM(half.sparsity(), 1).full(), [[1, 1, 1], [0, 1, 0], [0, 0, 1]])
