"""Series and closed forms of exponential coordinates and quaternions."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

from gdalembert import spatial
from tests.helpers.models import relative_error

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
