"""The small algebra that every formulation shares: products of 3-vectors, rotations, pseudo-inertias.

Each function takes and returns CasADi matrices of any kind (``SX``, ``MX``, ``DM``); nothing here knows about robots.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

Matrix: TypeAlias = Any
"""A CasADi matrix of any kind: SX, MX or DM, and what they give when they meet (a union cannot say that to mypy)."""


def constant(values: ArrayLike | ca.SX) -> Matrix:
    """Numbers as a sparse DM, symbols as a sparse SX: a zero of a model never enters a graph."""
    return ca.sparsify(values if isinstance(values, ca.SX) else ca.DM(np.asarray(values, dtype=float)))


def skew(w: Matrix) -> Matrix:
    """[w×], the 3 × 3 matrix with ``skew(w) @ x == cross(w, x)``."""
    return ca.skew(w)


def spin(alpha: Matrix, omega: Matrix) -> Matrix:
    """U = [α×] + [ω×][ω×]: a point at x of a link that turns with ω, α accelerates by U x against the origin."""
    xx, yy, zz = omega[0] * omega[0], omega[1] * omega[1], omega[2] * omega[2]
    xy, xz, yz = omega[0] * omega[1], omega[0] * omega[2], omega[1] * omega[2]
    return rows(
        (-(yy + zz), xy - alpha[2], xz + alpha[1]),
        (xy + alpha[2], -(xx + zz), yz - alpha[0]),
        (xz - alpha[1], yz + alpha[0], -(xx + yy)),
    )


def rows(*entries: Sequence[Any]) -> Matrix:
    """A matrix from its rows."""
    return ca.vertcat(*(ca.horzcat(*row) for row in entries))


def congruence(r: Matrix, s: Matrix) -> Matrix:
    """R S Rᵀ of a symmetric S, each pair of equal entries computed once."""
    return symmetric(r @ s @ r.T)


def symmetric(m: Matrix) -> Matrix:
    """The upper triangle of M, and its mirror image below."""
    n = m.shape[0]
    return rows(*([m[min(i, j), max(i, j)] for j in range(n)] for i in range(n)))


def inertia_of(j: Matrix) -> Matrix:
    """tr(J) 1 − J: the inertia tensor of a 3 × 3 pseudo-inertia J = ∫x xᵀ, and the other way round but for a factor."""
    return ca.diag(ca.vertcat(j[1, 1] + j[2, 2], j[0, 0] + j[2, 2], j[0, 0] + j[1, 1])) - (j - ca.diag(ca.diag(j)))


def pseudo_inertia_of(i: Matrix) -> Matrix:
    """½ tr(I) 1 − I = ∫x xᵀ of an inertia tensor I."""
    return 0.5 * ca.trace(i) * ca.DM.eye(3) - i


def transform(r: Matrix, p: Matrix) -> Matrix:
    """The 4 × 4 homogeneous matrix of a rotation R and a translation p."""
    return ca.vertcat(ca.horzcat(r, p), ca.DM([[0, 0, 0, 1]]))


def axis_rotation(axis: ArrayLike, cosine: Matrix, sine: Matrix) -> Matrix:
    """Rotation about a constant unit axis by the angle with the given cosine and sine (Rodrigues)."""
    a = constant(axis)
    outer = a @ a.T
    return outer + cosine * (ca.DM.eye(3) - outer) + sine * skew(a)


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


def symmetric_solve(m: Matrix, b: Matrix) -> Matrix:
    """x of M x = b for a symmetric positive definite M, by M = Lᵀ D L from the last row up.

    In a tree the last rows belong to the leaves: eliminated in this order, no entry of M that is structurally zero
    fills in (Featherstone's branch-induced sparsity).
    """
    n = m.shape[0]
    pattern = m.sparsity()
    h: list[list[Any]] = [[m[i, j] if pattern.has_nz(i, j) else None for j in range(n)] for i in range(n)]
    x = [b[i, :] for i in range(n)]
    for k in reversed(range(n)):
        above = [i for i in range(k) if h[k][i] is not None]
        factors = {i: h[k][i] / h[k][k] for i in above}
        for i in above:
            for j in (j for j in above if j <= i):
                product = factors[i] * h[k][j]
                h[i][j] = -product if h[i][j] is None else h[i][j] - product
            x[i] = x[i] - factors[i] * x[k]
        h[k][:k] = [factors.get(i) for i in range(k)]
        x[k] = x[k] / h[k][k]
    for k in range(n):
        for i in range(k):
            if h[k][i] is not None:
                x[k] = x[k] - h[k][i] * x[i]
    return ca.vertcat(*x)


def cross_columns(columns: Matrix, x: Matrix) -> Matrix:
    """w × x of each column w."""
    return -skew(x) @ columns


def outer(x: Matrix) -> Matrix:
    """x xᵀ, each pair of equal entries computed once."""
    return congruence(x, ca.DM(1))


def twist(linear: Matrix, angular: Matrix) -> Matrix:
    """The 4 × 4 matrix [[ω×], x; 0, 0] of a twist (x; ω)."""
    return ca.vertcat(ca.horzcat(skew(angular), linear), ca.DM(1, 4))


def translation(x: Matrix) -> Matrix:
    """The 4 × 4 matrix that is zero but for x in its last column."""
    return ca.horzcat(ca.DM(4, 3), ca.vertcat(x, 0))
