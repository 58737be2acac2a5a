"""The small algebra: identities, and derivatives at and near zero."""

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


SERIES = {
    spatial.cosine: np.cos,
    spatial.sine_over_angle: lambda t: np.sinc(t / np.pi),
    spatial.versine_over_square: lambda t: 0.5 * np.sinc(t / 2 / np.pi) ** 2,
    spatial.sine_defect_over_cube: lambda t: (t - np.sin(t)) / t**3,
}


@pytest.mark.parametrize("ours", SERIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("angle", [0.1, 0.49999, 0.50001, 2.0])
def test_even_functions_on_both_sides_of_the_switch(ours: object, angle: float) -> None:
    value = float(ours(ca.DM(angle**2)))
    # the plain quotient on the right loses digits like 1/θ³ · rounding
    assert abs(value - SERIES[ours](angle)) < 3e-13


@pytest.mark.parametrize("ours", SERIES, ids=lambda f: f.__name__)
def test_even_functions_are_smooth_at_zero(ours: object) -> None:
    x = ca.SX.sym("x")
    first = ca.gradient(ours(x), x)
    derivatives = ca.Function("d", [x], [first, ca.gradient(first, x)])
    at_zero = [float(d) for d in derivatives(0)]
    leading = {spatial.cosine: 0, spatial.sine_over_angle: 1, spatial.versine_over_square: 2}.get(ours, 3)
    factorial = [1, 1, 2, 6, 24, 120, 720, 5040]
    assert at_zero[0] == pytest.approx(-1 / factorial[leading + 2], rel=1e-14)
    assert at_zero[1] == pytest.approx(2 / factorial[leading + 4], rel=1e-14)
    # just above the switch the closed form's second derivative agrees with the series just below
    below, above = derivatives(0.25 - 1e-9)[1], derivatives(0.25 + 1e-9)[1]
    assert float(below) == pytest.approx(float(above), rel=1e-8)


@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-3, 1.0, 3.0])
def test_quaternion_exp_and_log(scale: float) -> None:
    w = scale * np.array([0.6, 0.0, -0.8])
    quaternion = spatial.quaternion_exp(ca.DM(w))
    assert relative_error(spatial.quaternion_rotation(quaternion).full(), pin.exp3(w)) < 1e-14
    assert relative_error(spatial.quaternion_log(quaternion).full().ravel(), w) < 1e-14
    assert relative_error(spatial.quaternion_log(-quaternion).full().ravel(), w) < 1e-14


@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-3, 0.4999, 0.5001, 1.0, 3.0])
def test_screw_shift_and_its_inverse(scale: float) -> None:
    w = ca.DM(scale * np.array([0.6, 0.0, -0.8]))
    product = (spatial.screw_shift(w) @ spatial.inverse_screw_shift(w)).full()
    assert relative_error(product, np.eye(3)) < 1e-14
