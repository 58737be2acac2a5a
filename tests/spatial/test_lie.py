"""Exponential maps, their Jacobians and quaternions: against Pinocchio, and the laws between them at every angle."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert import spatial
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.spatial.lie import maps
from tests.helpers.models import relative_error

SERIES = {
    maps.cosine: np.cos,
    maps.sine_over_angle: lambda t: np.sinc(t / np.pi),
    maps.versine_over_square: lambda t: 0.5 * np.sinc(t / 2 / np.pi) ** 2,
    maps.sine_defect_over_cube: lambda t: (t - np.sin(t)) / t**3,
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
    leading = {maps.cosine: 0, maps.sine_over_angle: 1, maps.versine_over_square: 2}.get(ours, 3)
    factorial = [1, 1, 2, 6, 24, 120, 720, 5040]
    assert at_zero[0] == pytest.approx(-1 / factorial[leading + 2], rel=1e-14)
    assert at_zero[1] == pytest.approx(2 / factorial[leading + 4], rel=1e-14)
    # just above the switch the closed form's second derivative agrees with the series just below
    below, above = derivatives(0.25 - 1e-9)[1], derivatives(0.25 + 1e-9)[1]
    assert float(below) == pytest.approx(float(above), rel=1e-8)


@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-3, 1.0, 3.0])
def test_quaternion_exp_and_log(scale: float) -> None:
    w = scale * np.array([0.6, 0.0, -0.8])
    quaternion = maps.quaternion_exp(ca.DM(w))
    assert relative_error(maps.quaternion_rotation(quaternion).full(), pin.exp3(w)) < 1e-14
    assert relative_error(maps.quaternion_log(quaternion).full().ravel(), w) < 1e-14
    assert relative_error(maps.quaternion_log(-quaternion).full().ravel(), w) < 1e-14


@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-3, 0.4999, 0.5001, 1.0, 3.0])
def test_screw_shift_and_its_inverse(scale: float) -> None:
    w = ca.DM(scale * np.array([0.6, 0.0, -0.8]))
    product = (maps.screw_shift(w) @ maps.inverse_screw_shift(w)).full()
    assert relative_error(product, np.eye(3)) < 1e-14


ANGLES = (0.0, 1e-12, 1e-8, 1e-4, 0.4999, 0.5001, 1.0, 2.5, np.pi - 1e-4, np.pi - 1e-9, np.pi)
AXES = np.array([[0.6, 0.0, -0.8], [-0.36, 0.48, 0.8], [0.0, -1.0, 0.0], [2 / 3, -2 / 3, 1 / 3]])
LIE = gd.lie


@pytest.mark.parametrize("angle", ANGLES)
def test_equals_pinocchio(angle: float) -> None:
    for axis in AXES:
        twist = np.array([0.3, -1.2, 0.7, *(angle * axis)])
        w, motion = twist[3:], pin.Motion(twist)
        R, T = pin.exp3(w), pin.exp6(motion)
        pairs = {
            "exp3": (LIE.exp3(w), R),
            "exp6": (LIE.exp6(twist), T.homogeneous),
            "Jexp3": (LIE.Jexp3(w), pin.Jexp3(w)),
            "Jexp6": (LIE.Jexp6(motion), pin.Jexp6(motion)),
            "Jlog3": (LIE.Jlog3(R), pin.Jlog3(R)),
            "Jlog6": (LIE.Jlog6(T), pin.Jlog6(T)),
            "log3": (LIE.log3(R), pin.log3(R)),
            "log6": (LIE.log6(T), pin.log6(T).vector),
            "inverse": (LIE.inverse(T), T.inverse().homogeneous),
            "adjoint": (LIE.adjoint(T), T.toActionMatrix()),
            "adjoint_inverse": (LIE.adjoint_inverse(T), T.toActionMatrixInverse()),
            "adjoint_dual": (LIE.adjoint_dual(T), T.toDualActionMatrix()),
            "quaternion_of": (LIE.quaternion_of(R), pin.Quaternion(R).coeffs()),
            "rotation_of": (LIE.rotation_of(pin.Quaternion(R).coeffs()), R),
        }
        # Pinocchio's own series in Jexp3 and Jexp6 leave 1e-13 at 1e-4
        errors = {name: relative_error(*pair) for name, pair in pairs.items()}
        assert max(errors.values()) < 1e-12, errors
        # and the truth
        assert relative_error(LIE.log3(R), w) < 1e-14
        assert relative_error(LIE.log6(T), twist) < 1e-14
        assert relative_error(LIE.Jlog6(T) @ LIE.Jexp6(twist), np.eye(6)) < 1e-14


@pytest.mark.parametrize("axis", np.eye(3))
def test_logarithm_at_an_angle_of_exactly_pi(axis: np.ndarray) -> None:
    R = 2 * np.outer(axis, axis) - np.eye(3)
    assert np.array_equal(LIE.log3(R), np.pi * axis)
    assert np.array_equal(pin.log3(R), np.pi * axis)
    assert relative_error(LIE.exp3(LIE.log3(R)), R) < 1e-15
    assert np.all(np.isfinite(LIE.Jlog6(pin.SE3(R, np.ones(3)))))


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
@pytest.mark.parametrize("direct", [LIE.exp3, LIE.exp6], ids=["exp3", "exp6"])
def test_logarithms_invert_with_first_and_second_derivatives(kind: type, direct: object) -> None:
    n, back, jacobian = {LIE.exp3: (3, LIE.log3, LIE.Jexp3), LIE.exp6: (6, LIE.log6, LIE.Jexp6)}[direct]
    x = kind.sym("x", n)
    there = direct(x)
    again = back(there)
    identity = ca.jacobian(again, x)
    zero = ca.jacobian(ca.vec(identity), x)
    rate = ca.jacobian(ca.vec(there), x)
    graph = ca.Function("laws", [x], [there, again, identity, zero, rate, jacobian(x)])
    for axis, angle in [(axis, angle) for axis in AXES for angle in ANGLES[:-1]]:
        at = np.array([0.3, -1.2, 0.7, *(angle * axis)])[-n:]
        t, again_0, identity_0, zero_0, rate_0, j = (value.full() for value in graph(at))
        assert relative_error(again_0.ravel(), at) < 1e-14
        assert relative_error(identity_0, np.eye(n)) < 1e-13
        # second derivatives of closed forms divide by powers of the angle
        assert relative_error(zero_0, np.zeros((n * n, n))) < 1e-12
        # d exp(x) = exp(x) [J dx]
        for k in range(n):
            hat = ca.DM(ca.skew(j[-3:, k]))
            if n == 6:
                hat = spatial.twist(ca.DM(j[:3, k]), ca.DM(j[3:, k]))
            assert relative_error(rate_0[:, k], (t @ hat.full()).ravel(order="F")) < 1e-14


@pytest.mark.parametrize("angle", ANGLES)
def test_jacobian_of_the_logarithm_is_its_derivative(angle: float) -> None:
    delta = ca.SX.sym("delta", 6)
    T = pin.exp6(pin.Motion(np.array([0.3, -1.2, 0.7, *(angle * AXES[1])])))
    log = LIE.log6(ca.SX(T.homogeneous) @ LIE.exp6(delta))
    graph = ca.Function("derivatives", [delta], [ca.jacobian(log, delta), ca.jacobian(ca.jacobian(log, delta), delta)])
    first, second = (x.full() for x in graph(0))
    assert relative_error(first, LIE.Jlog6(T)) < 1e-13
    assert np.all(np.isfinite(second))


def test_results_are_of_the_kind_of_the_arguments() -> None:
    T = LIE.exp6([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert type(T) is np.ndarray
    assert LIE.log6(T).shape == (6,)
    for kind in (ca.DM, ca.SX, ca.MX):
        value = LIE.log6(kind(T))
        assert type(value) is kind
        assert value.shape == (6, 1)
        assert relative_error(ca.evalf(value).full().ravel(), LIE.log6(T)) < 1e-15
    assert LIE.adjoint(ca.SX.sym("T", 4, 4)).is_dense()
    assert np.array_equal(
        LIE.exp3(LIE.log3([[0, -1, 0], [1, 0, 0], [0, 0, 1]])).round(15), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: LIE.exp3([1, 2]), ArgumentError, "w has shape (2,); give (3,)"),
        (lambda: LIE.exp6(ca.SX.sym("x", 3)), ArgumentError, "twist: got a matrix of 3 × 1; give 6 × 1"),
        (lambda: LIE.log3(np.eye(4)), ArgumentError, "R: got numbers of shape (4, 4); give 3 × 3"),
        (
            lambda: LIE.log3(np.diag([1, 1, 2])),
            ArgumentError,
            "R: its columns n, o, a are not orthonormal: a·a is 4, not 1; give the axes of the frame as unit vectors",
        ),
        (
            lambda: LIE.quaternion_of(np.diag([1, 1, -1])),
            ArgumentError,
            "R: its columns n, o, a are left-handed: n × o is −a; change the sign of one of them",
        ),
        (lambda: LIE.log6(np.eye(3)), ArgumentError, "T: got numbers of shape (3, 3); give 4 × 4, [n o a p; 0 0 0 1]"),
        (lambda: LIE.rotation_of([0, 0, 0, 2]), ArgumentError, "quaternion: its length is 2; normalise it"),
        (lambda: LIE.exp3([0, np.nan, 0]), ArgumentError, "w: entry [1] is nan; give finite numbers"),
        (lambda: LIE.exp3("abc"), ArgumentTypeError, "w: expected numbers, got 'abc'"),
    ],
)
def test_bad_arguments(call: object, error: type, message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
