"""Rotations and rigid motions by exponential coordinates: quaternions, and series that are right at and near zero.

Each function takes and returns CasADi matrices of any kind (``SX``, ``MX``, ``DM``). Quaternions are (x, y, z, w).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import casadi as ca

from gdalembert.spatial.algebra import Matrix, rows, skew


def quaternion_rotation(x: Matrix) -> Matrix:
    """Rotation of a unit quaternion (x, y, z, w), Pinocchio's order."""
    xx, yy, zz = 2 * x[0] * x[0], 2 * x[1] * x[1], 2 * x[2] * x[2]
    xy, xz, yz = 2 * x[0] * x[1], 2 * x[0] * x[2], 2 * x[1] * x[2]
    wx, wy, wz = 2 * x[3] * x[0], 2 * x[3] * x[1], 2 * x[3] * x[2]
    return rows(
        (1 - (yy + zz), xy - wz, xz + wy),
        (xy + wz, 1 - (xx + zz), yz - wx),
        (xz - wy, yz + wx, 1 - (xx + yy)),
    )


# Functions of x = θ², with all their derivatives right at and near zero: below x = 1/4 a Taylor polynomial (its
# remainder is below rounding there), above it the closed form, whose root is kept away from zero.
_SERIES_BELOW = 0.25


def _even(x: Matrix, coefficients: Sequence[float], closed: Callable[[Matrix], Matrix]) -> Matrix:
    series: Matrix = 0
    for c in reversed(coefficients):
        series = series * x + c
    small = x < _SERIES_BELOW
    return ca.if_else(small, series, closed(ca.sqrt(ca.if_else(small, 1, x))))


def _reciprocal_factorials(first: int) -> list[float]:
    return [(-1) ** k / math.factorial(2 * k + first) for k in range(10)]


def cosine(x: Matrix) -> Matrix:
    """cos θ of x = θ²."""
    return _even(x, _reciprocal_factorials(0), ca.cos)


def sine_over_angle(x: Matrix) -> Matrix:
    """sin θ / θ of x = θ²."""
    return _even(x, _reciprocal_factorials(1), lambda t: ca.sin(t) / t)


def versine_over_square(x: Matrix) -> Matrix:
    """(1 − cos θ) / θ² of x = θ²."""
    return _even(x, _reciprocal_factorials(2), lambda t: (1 - ca.cos(t)) / (t * t))


def sine_defect_over_cube(x: Matrix) -> Matrix:
    """(θ − sin θ) / θ³ of x = θ²."""
    return _even(x, _reciprocal_factorials(3), lambda t: (t - ca.sin(t)) / (t * t * t))


def quaternion_product(a: Matrix, b: Matrix) -> Matrix:
    """The quaternion a b, both (x, y, z, w): the rotation a after the rotation b."""
    return ca.vertcat(a[3] * b[:3] + b[3] * a[:3] + ca.cross(a[:3], b[:3]), a[3] * b[3] - ca.dot(a[:3], b[:3]))


def quaternion_conjugate(a: Matrix) -> Matrix:
    """The inverse of a unit quaternion (x, y, z, w)."""
    return ca.vertcat(-a[:3], a[3])


def quaternion_exp(w: Matrix) -> Matrix:
    """The quaternion (x, y, z, w) of a rotation vector."""
    x = ca.sumsqr(w) / 4
    return ca.vertcat(sine_over_angle(x) * w / 2, cosine(x))


def quaternion_log(a: Matrix) -> Matrix:
    """The rotation vector, of length at most π, of a unit quaternion (x, y, z, w)."""
    sign = ca.if_else(a[3] < 0, -1, 1)
    x = ca.sumsqr(a[:3])
    # 2 asin(√x) / √x as a series, and 2 atan2(√x, w) / √x where the series ends
    series = [2 * math.comb(2 * k, k) / (4**k * (2 * k + 1)) for k in range(24)]
    return sign * _even(x, series, lambda root: 2 * ca.atan2(root, sign * a[3]) / root) * a[:3]


def screw_shift(w: Matrix) -> Matrix:
    """∫₀¹ exp(s [w×]) ds: what turns a constant velocity in moving axes into the shift in unit time."""
    x, k = ca.sumsqr(w), skew(w)
    return ca.DM.eye(3) + versine_over_square(x) * k + sine_defect_over_cube(x) * (k @ k)


def inverse_screw_shift(w: Matrix) -> Matrix:
    """The inverse of :func:`screw_shift`."""
    x, k = ca.sumsqr(w), skew(w)
    half = x / 4
    # (1 − (θ/2) cot(θ/2)) / θ²
    series = [1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600]
    closed = (1 - cosine(half) / sine_over_angle(half)) / ca.if_else(x < _SERIES_BELOW, 1, x)
    factor = ca.if_else(x < _SERIES_BELOW, sum(c * x**i for i, c in enumerate(series)), closed)
    return ca.DM.eye(3) - k / 2 + factor * (k @ k)
