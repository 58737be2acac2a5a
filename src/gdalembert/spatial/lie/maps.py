"""Even functions of an angle, unit quaternions (x, y, z, w), and the exponential maps of rotations and rigid motions.

The even functions of θ are functions of x = θ², right at and near zero with all their derivatives: below x = 1/4 a
Taylor polynomial, whose remainder is below rounding there, above it the closed form, whose root is kept away from zero.

With W = [w×], x = |w|² and the even functions b, c, d, a screw motion by the twist (u; w) turns by exp(W) and shifts by
V(w) u,

    V(w) = ∫₀¹ exp(s W) ds = 1 + b(x) W + c(x) W²          V(w)⁻¹ = 1 − W/2 + d(x) W²

V(−w) is the derivative of the exponential of rotations. That of motions is the same function of the 6 × 6 matrix
[[W, [u×]], [0, W]], whose upper right block is therefore the derivative of V(−w) along −u. (Ours; the 3 × 3 blocks are
in Murray, Li and Sastry, A Mathematical Introduction to Robotic Manipulation, appendix A.)

Each function takes and returns CasADi matrices of any kind (``SX``, ``MX``, ``DM``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import casadi as ca

from gdalembert.spatial.algebra import Matrix, kernel, rows, skew, transform

_SERIES_BELOW = 0.25
# |B_2k| / (2k)!, k = 1, 2, …, the Bernoulli numbers B: the coefficients of (1 − (θ/2) cot(θ/2)) / θ²
_BERNOULLI = (1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510, 43867 / 798, 174611 / 330)
_COTANGENT = [b / math.factorial(2 * k) for k, b in enumerate(_BERNOULLI, 1)]
_ONE = ca.DM.eye(3)


def even(x: Matrix, coefficients: Sequence[float], closed: Callable[[Matrix], Matrix]) -> Matrix:
    """A function of x = θ² by its Taylor polynomial near zero and, of θ, by its closed form elsewhere."""
    series: Matrix = 0
    for c in reversed(coefficients):
        series = series * x + c
    small = x < _SERIES_BELOW
    # Both sides are evaluated: the derivative of √0 on the other side would be infinite times 0.
    return ca.if_else(small, series, closed(ca.sqrt(ca.if_else(small, 1, x))))


def _reciprocal_factorials(first: int) -> list[float]:
    return [(-1) ** k / math.factorial(2 * k + first) for k in range(10)]


def cosine(x: Matrix) -> Matrix:
    """The cosine of θ, of x = θ²."""
    return even(x, _reciprocal_factorials(0), ca.cos)


def sine_over_angle(x: Matrix) -> Matrix:
    """The function sin θ / θ of x = θ²."""
    return even(x, _reciprocal_factorials(1), lambda t: ca.sin(t) / t)


def versine_over_square(x: Matrix) -> Matrix:
    """The function (1 − cos θ) / θ² of x = θ²."""
    return even(x, _reciprocal_factorials(2), lambda t: (1 - ca.cos(t)) / (t * t))


def sine_defect_over_cube(x: Matrix) -> Matrix:
    """The function (θ − sin θ) / θ³ of x = θ²."""
    return even(x, _reciprocal_factorials(3), lambda t: (t - ca.sin(t)) / (t * t * t))


def versine_over_square_slope(x: Matrix) -> Matrix:
    """The derivative by x of :func:`versine_over_square`: (sin θ / θ − 2 (1 − cos θ) / θ²) / 2 θ²."""
    return even(
        x,
        _slopes(_reciprocal_factorials(2)),
        lambda t: (ca.sin(t) / t - 2 * (1 - ca.cos(t)) / (t * t)) / (2 * t * t),
    )


def sine_defect_over_cube_slope(x: Matrix) -> Matrix:
    """The derivative by x of :func:`sine_defect_over_cube`: ((1 − cos θ) / θ² − 3 (θ − sin θ) / θ³) / 2 θ²."""
    return even(
        x,
        _slopes(_reciprocal_factorials(3)),
        lambda t: ((1 - ca.cos(t)) / (t * t) - 3 * (t - ca.sin(t)) / (t * t * t)) / (2 * t * t),
    )


def cotangent_defect_over_square(x: Matrix) -> Matrix:
    """The function (1 − (θ/2) cot(θ/2)) / θ² of x = θ²."""
    half, small = x / 4, x < _SERIES_BELOW
    closed = (1 - cosine(half) / sine_over_angle(half)) / ca.if_else(small, 1, x)
    return ca.if_else(small, sum(c * x**i for i, c in enumerate(_COTANGENT[:7])), closed)


def cotangent_defect_over_square_slope(x: Matrix) -> Matrix:
    """The derivative by x of :func:`cotangent_defect_over_square`.

    ((1 + sin θ / θ) / 4 sin²(θ/2) − 2 / θ²) / 2 θ².
    """
    return even(
        x,
        _slopes(_COTANGENT),
        lambda t: ((1 + ca.sin(t) / t) / (4 * ca.sin(t / 2) ** 2) - 2 / (t * t)) / (2 * t * t),
    )


def _slopes(coefficients: Sequence[float]) -> list[float]:
    return [k * c for k, c in enumerate(coefficients)][1:]


@kernel
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
    # By atan2: acos of w loses half of the digits near the identity.
    sign = ca.if_else(a[3] < 0, -1, 1)
    x = ca.sumsqr(a[:3])
    # 2 asin(√x) / √x as a series, and 2 atan2(√x, w) / √x where the series ends
    series = [2 * math.comb(2 * k, k) / (4**k * (2 * k + 1)) for k in range(24)]
    return sign * even(x, series, lambda root: 2 * ca.atan2(root, sign * a[3]) / root) * a[:3]


def rotation_exp(w: Matrix) -> Matrix:
    """The rotation matrix exp [w×], 3 × 3 (Rodrigues)."""
    x, k = ca.sumsqr(w), skew(w)
    return _ONE + sine_over_angle(x) * k + versine_over_square(x) * (k @ k)


def rotation_log(r: Matrix) -> Matrix:
    """The rotation vector w (3), of length at most π, of a rotation matrix."""
    # Not acos((tr R − 1) / 2), which loses half of the digits near 0 and π, and the axis at π.
    return quaternion_log(quaternion_of(r))


def screw_shift(w: Matrix) -> Matrix:
    """The matrix V(w) = ∫₀¹ exp(s [w×]) ds, which turns a constant velocity in moving axes into a shift."""
    x, k = ca.sumsqr(w), skew(w)
    return _ONE + versine_over_square(x) * k + sine_defect_over_cube(x) * (k @ k)


def inverse_screw_shift(w: Matrix) -> Matrix:
    """The inverse of :func:`screw_shift`."""
    x, k = ca.sumsqr(w), skew(w)
    return _ONE - k / 2 + cotangent_defect_over_square(x) * (k @ k)


def screw_shift_along(w: Matrix, u: Matrix) -> Matrix:
    """The derivative of :func:`screw_shift` at w along u, 3 × 3."""
    x, rate, k, k_u = ca.sumsqr(w), 2 * ca.dot(w, u), skew(w), skew(u)
    b, c = versine_over_square(x), sine_defect_over_cube(x)
    b_rate, c_rate = rate * versine_over_square_slope(x), rate * sine_defect_over_cube_slope(x)
    return b * k_u + c * (k @ k_u + k_u @ k) + b_rate * k + c_rate * (k @ k)


def inverse_screw_shift_along(w: Matrix, u: Matrix) -> Matrix:
    """The derivative of :func:`inverse_screw_shift` at w along u, 3 × 3."""
    x, rate, k, k_u = ca.sumsqr(w), 2 * ca.dot(w, u), skew(w), skew(u)
    d, d_rate = cotangent_defect_over_square(x), rate * cotangent_defect_over_square_slope(x)
    return -k_u / 2 + d * (k @ k_u + k_u @ k) + d_rate * (k @ k)


def motion_exp(twist: Matrix) -> Matrix:
    """The motion T (4 × 4) of a constant twist (linear; angular), in the axes of the moving frame, in unit time."""
    u, w = twist[:3], twist[3:]
    x, k = ca.sumsqr(w), skew(w)
    b, c, square = versine_over_square(x), sine_defect_over_cube(x), k @ k
    shift = _ONE + b * k + c * square  # V, and exp [w×] = 1 + [w×] V with [w×]³ = −x [w×]
    return transform(_ONE + (1 - c * x) * k + b * square, shift @ u)


def motion_log(t: Matrix) -> Matrix:
    """The twist (6) that leads to T (4 × 4) in unit time."""
    w = rotation_log(t[:3, :3])
    return ca.vertcat(inverse_screw_shift(w) @ t[:3, 3], w)


def motion_exp_jacobian(twist: Matrix) -> Matrix:
    """The Jacobian J (6 × 6): exp(twist + δ) = exp(twist) exp(J δ), to first order."""
    u, w = twist[:3], twist[3:]
    turn = screw_shift(-w)
    return ca.blockcat([[turn, screw_shift_along(-w, -u)], [ca.DM(3, 3), turn]])


def motion_log_jacobian(t: Matrix) -> Matrix:
    """The Jacobian J (6 × 6): log(T exp(δ)) = log(T) + J δ, to first order."""
    twist = motion_log(t)
    u, w = twist[:3], twist[3:]
    turn = inverse_screw_shift(-w)
    return ca.blockcat([[turn, inverse_screw_shift_along(-w, -u)], [ca.DM(3, 3), turn]])
