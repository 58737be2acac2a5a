"""Unit quaternions (x, y, z, w), Pinocchio's order: products, exponential, logarithm, rotation matrices.

Each function takes and returns CasADi matrices of any kind (``SX``, ``MX``, ``DM``).
"""

from __future__ import annotations

import math

import casadi as ca

from gdalembert.spatial.algebra import Matrix, rows
from gdalembert.spatial.lie.series import cosine, even, sine_over_angle


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


def quaternion_of(r: Matrix) -> Matrix:
    """The unit quaternion of a rotation matrix, with the sign of ``pin.Quaternion(R)``.

    The columns of 4 a aᵀ are linear in R, and each is a up to its length. The one with the largest diagonal entry is
    never near zero (Shepperd's method): w where tr R > 0, else that of the largest diagonal entry of R.
    """
    xx, yy, zz = r[0, 0], r[1, 1], r[2, 2]
    xy, xz, yz = r[1, 0] + r[0, 1], r[2, 0] + r[0, 2], r[2, 1] + r[1, 2]
    wx, wy, wz = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    by_x = ca.vertcat(1 + xx - yy - zz, xy, xz, wx)
    by_y = ca.vertcat(xy, 1 - xx + yy - zz, yz, wy)
    by_z = ca.vertcat(xz, yz, 1 - xx - yy + zz, wz)
    by_w = ca.vertcat(wx, wy, wz, 1 + xx + yy + zz)
    by_xy = ca.if_else(yy > xx, by_y, by_x)
    by_xyz = ca.if_else(zz > ca.fmax(xx, yy), by_z, by_xy)
    column = ca.if_else(xx + yy + zz > 0, by_w, by_xyz)
    return column / ca.sqrt(ca.sumsqr(column))


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
    return sign * even(x, series, lambda root: 2 * ca.atan2(root, sign * a[3]) / root) * a[:3]
