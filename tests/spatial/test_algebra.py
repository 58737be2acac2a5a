"""Algebra, each function beside its definition."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert import spatial
from gdalembert.spatial.algebra import Matrix, kernel
from gdalembert.spatial.instructions import count
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


# ---- what is written once and put in is what its operations give, in symbols and in numbers


def written(x: Matrix, y: Matrix) -> Matrix:
    return x @ ca.cos(y) - y[0] * x @ y


put_in = kernel(written)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3)])
def test_the_graph_is_that_of_the_operations(shape: tuple[int, int]) -> None:
    x, y = ca.SX.sym("x", *shape), ca.SX.sym("y", shape[1])
    graphs = [ca.Function("graph", [x, y], [write(x, y)]) for write in (written, put_in)]
    assert count(graphs[0]) == count(graphs[1])
    rng = np.random.default_rng(0)
    given = rng.normal(size=shape), rng.normal(size=shape[1])
    assert np.array_equal(graphs[0](*given).full(), graphs[1](*given).full())
    assert relative_error(put_in(*map(ca.DM, given)).full(), graphs[0](*given).full()) < 1e-15


def test_zeros_are_no_entries() -> None:
    y = ca.SX.sym("y", 3)
    x = ca.sparsify(ca.DM([[0, 2, 0], [0, 0, 0], [1, 0, 0]]))
    found = put_in(x, y)
    assert found.nnz() == 2
    assert not found[1].nnz()


def test_mx_is_not_called() -> None:
    x, y = ca.MX.sym("x", 3, 3), ca.MX.sym("y", 3)
    graph = ca.Function("graph", [x, y], [put_in(x, y)])
    assert ca.OP_CALL not in [graph.instruction_id(k) for k in range(graph.n_instructions())]
