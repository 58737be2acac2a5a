"""Exponential and logarithm of rotations and of rigid motions, and their derivatives, as matrices.

With W = [w×], x = |w|² and the even functions b, c, d of :mod:`gdalembert.spatial.lie.series`, a screw motion by the
twist (u; w) turns by exp(W) and shifts by V(w) u,

    V(w) = ∫₀¹ exp(s W) ds = 1 + b(x) W + c(x) W²          V(w)⁻¹ = 1 − W/2 + d(x) W²

V(−w) is the derivative of the exponential of rotations. That of motions is the same function of the 6 × 6 matrix
[[W, [u×]], [0, W]], whose upper right block is therefore the derivative of V(−w) along −u. (Ours; the 3 × 3 blocks are
in Murray, Li and Sastry, A Mathematical Introduction to Robotic Manipulation, appendix A.)

Each function takes and returns CasADi matrices of any kind (``SX``, ``MX``, ``DM``).
"""

from __future__ import annotations

import casadi as ca

from gdalembert.spatial.algebra import Matrix, skew, transform
from gdalembert.spatial.lie.quaternions import quaternion_log, quaternion_of
from gdalembert.spatial.lie.series import (
    cotangent_defect_over_square,
    cotangent_defect_over_square_slope,
    sine_defect_over_cube,
    sine_defect_over_cube_slope,
    sine_over_angle,
    versine_over_square,
    versine_over_square_slope,
)

_ONE = ca.DM.eye(3)


def rotation_exp(w: Matrix) -> Matrix:
    """exp [w×], 3 × 3 (Rodrigues)."""
    x, k = ca.sumsqr(w), skew(w)
    return _ONE + sine_over_angle(x) * k + versine_over_square(x) * (k @ k)


def rotation_log(r: Matrix) -> Matrix:
    """The rotation vector w (3), of length at most π, of a rotation matrix."""
    return quaternion_log(quaternion_of(r))


def screw_shift(w: Matrix) -> Matrix:
    """V(w) = ∫₀¹ exp(s [w×]) ds: what turns a constant velocity in moving axes into the shift in unit time."""
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
    """T (4 × 4) that a constant twist (linear; angular) in the axes of the moving frame leads to in unit time."""
    u, w = twist[:3], twist[3:]
    return transform(rotation_exp(w), screw_shift(w) @ u)


def motion_log(t: Matrix) -> Matrix:
    """The twist (6) that leads to T (4 × 4) in unit time."""
    w = rotation_log(t[:3, :3])
    return ca.vertcat(inverse_screw_shift(w) @ t[:3, 3], w)


def motion_exp_jacobian(twist: Matrix) -> Matrix:
    """J (6 × 6): exp(twist + δ) = exp(twist) exp(J δ), to first order."""
    u, w = twist[:3], twist[3:]
    return _block_triangular(screw_shift(-w), screw_shift_along(-w, -u))


def motion_log_jacobian(t: Matrix) -> Matrix:
    """J (6 × 6): log(T exp(δ)) = log(T) + J δ, to first order."""
    twist = motion_log(t)
    u, w = twist[:3], twist[3:]
    return _block_triangular(inverse_screw_shift(-w), inverse_screw_shift_along(-w, -u))


def _block_triangular(diagonal: Matrix, upper: Matrix) -> Matrix:
    return ca.vertcat(ca.horzcat(diagonal, upper), ca.horzcat(ca.DM(3, 3), diagonal))
