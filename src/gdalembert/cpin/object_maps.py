"""Exponentials, logarithms and their Jacobians, quaternions, and roll, pitch and yaw, with Pinocchio's names.

All use the maps of :mod:`gdalembert.spatial.lie`: exact with their derivatives at and near the identity, never NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.cpin.calls import refusing, submodule, synonyms
from gdalembert.cpin.matrices import matrix, shape_of
from gdalembert.cpin.objects import SE3, Motion, Quaternion
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.lie import maps

__all__ = [
    *("Jexp3", "Jexp6", "Jlog3", "Jlog6", "SE3ToXYZQUAT", "SE3ToXYZQUATtuple", "XYZQUATToSE3", "exp", "exp3"),
    *("exp3_quat", "exp6", "exp6_quat", "log", "log3", "log3_quat", "log6", "log6_quat", "rpy", "skew", "skewSquare"),
    *("unSkew", "utils"),
]


def _map(
    name: str, shape: tuple[int, int], function: Callable[[Matrix], Any], doc: str, *keywords: str
) -> Callable[..., Any]:
    """Make a function of one checked matrix, with Pinocchio's keywords for it."""

    def checked(x: Any) -> Any:
        return function(matrix(name, x, *shape))

    checked.__name__, checked.__doc__ = name, doc
    vars(checked)["__signature__"] = Signature([Parameter(keywords[0], Parameter.POSITIONAL_OR_KEYWORD)])
    return refusing(synonyms(**dict.fromkeys(keywords[1:], keywords[0]))(checked))


exp3 = _map("exp3", (3, 1), maps.rotation_exp, "The rotation matrix (3 × 3) of a rotation vector.", "w")
exp3_quat = _map("exp3_quat", (3, 1), maps.quaternion_exp, "The quaternion (x, y, z, w) of a rotation vector.", "w")
exp6 = _map(
    "exp6",
    (6, 1),
    lambda v: SE3(maps.motion_exp(v)),
    "The placement that a twist leads to in unit time.",
    "v",
    "motion",
)
exp6_quat = _map(
    "exp6_quat", (6, 1), lambda v: SE3ToXYZQUAT(maps.motion_exp(v)), "Entries of exp6 (x, y, z; quaternion).", "v"
)
log6 = _map(
    "log6",
    (4, 4),
    lambda t: Motion(maps.motion_log(t)),
    "The twist that leads to a placement in unit time.",
    "M",
    "homegeneous_matrix",
)
log6_quat = _map("log6_quat", (7, 1), lambda x: log6(XYZQUATToSE3(x)), "The twist log6 of (x, y, z; quaternion).", "q")
Jexp3 = _map("Jexp3", (3, 1), lambda w: maps.screw_shift(-w), "The J of exp3(w + δ) = exp3(w) exp3(J δ).", "w")
Jlog3 = _map(
    "Jlog3",
    (3, 3),
    lambda r: maps.inverse_screw_shift(-maps.rotation_log(r)),
    "The J of log3(R exp3(δ)) = log3(R) + J δ.",
    "R",
)
Jexp6 = _map("Jexp6", (6, 1), maps.motion_exp_jacobian, "The J of exp6(v + δ) = exp6(v) exp6(J δ).", "v", "motion")
Jlog6 = _map("Jlog6", (4, 4), maps.motion_log_jacobian, "The J of log6(M exp6(δ)) = log6(M) + J δ.", "M")
skew = _map("skew", (3, 1), spatial.skew, "The matrix [v×] (3 × 3).", "u")
unSkew = _map("unSkew", (3, 3), lambda m: ca.inv_skew((m - m.T) / 2), "The vector v (3) of [v×].", "U")


def log3_quat(quaternion: Any) -> Matrix:
    """The rotation vector (3) of a unit quaternion (x, y, z, w)."""
    return maps.quaternion_log(Quaternion(quaternion).coeffs())


@refusing
@synonyms(quat="R")
def log3(R: Any, theta: Any = None) -> Matrix:
    """The rotation vector (3) of a rotation matrix, or of a quaternion; its length is written into an array theta."""
    is_quaternion = isinstance(R, Quaternion | pin.Quaternion) or shape_of(R) in ((4,), (4, 1))
    w = log3_quat(R) if is_quaternion else maps.rotation_log(matrix("log3", R, 3, 3))
    if hasattr(theta, "__setitem__"):
        angle = ca.norm_2(w)
        theta[0] = float(angle) if isinstance(angle, ca.DM) else angle
    return w


def exp(x: Any) -> Any:
    """The exponential: exp6 of a Motion or of 6 entries, else exp3."""
    return exp6(x) if isinstance(x, Motion | pin.Motion) or shape_of(x)[:1] == (6,) else exp3(x)


def log(x: Any) -> Any:
    """The logarithm: log6 of a placement, else log3."""
    return log6(x) if isinstance(x, SE3 | pin.SE3) or shape_of(x) == (4, 4) else log3(x)


def skewSquare(u: Any, v: Any) -> Matrix:
    """The product [u×] [v×] (3 × 3)."""
    return skew(u) @ skew(v)


def SE3ToXYZQUAT(M: Any) -> Matrix:
    """The entries (x, y, z; quaternion (x, y, z, w)) (7) of a placement."""
    placed = SE3(M)
    return ca.vertcat(placed.translation, maps.quaternion_of(placed.rotation))


def SE3ToXYZQUATtuple(M: Any) -> tuple[float | Matrix, ...]:
    """The seven entries of :func:`SE3ToXYZQUAT`, apart; numbers as floats."""
    return tuple(float(x) if isinstance(x, ca.DM) else x for x in ca.vertsplit(SE3ToXYZQUAT(M)))


@refusing
@synonyms(tuple="array", list="array")
def XYZQUATToSE3(array: Any) -> SE3:
    """The placement of (x, y, z; unit quaternion (x, y, z, w)) (7)."""
    column = matrix("XYZQUATToSE3", array, 7)
    return SE3(maps.quaternion_rotation(column[3:]), column[:3])


@refusing
def _rotate(axis: str, angle: Any) -> Matrix:
    """The matrix (3 × 3) of a rotation by an angle [rad] about ``"x"``, ``"y"`` or ``"z"``."""
    radians = matrix("rpy.rotate: angle", angle, 1)
    if not isinstance(axis, str) or axis not in ("x", "y", "z"):
        raise ArgumentError(f"rpy.rotate: got the axis {shown(axis)}; give 'x', 'y' or 'z'")
    return spatial.axis_rotation([float(letter == axis) for letter in "xyz"], ca.cos(radians), ca.sin(radians))


@refusing
@synonyms(rpy="roll")
def _rpy_matrix(roll: Any, pitch: Any = None, yaw: Any = None) -> Matrix:
    """The rotation R = Rz(yaw) Ry(pitch) Rx(roll), of three angles or of one column."""
    angles = roll if pitch is None and yaw is None else [roll, pitch, yaw]
    x, y, z = ca.vertsplit(matrix("rpy.rpyToMatrix", angles, 3))
    return ca.densify(_rotate("z", z) @ _rotate("y", y) @ _rotate("x", x))


def _rpy_of(r: Matrix) -> Matrix:
    """Roll, pitch and yaw (3); the pitch by atan2, since asin loses half of the digits near ±π/2."""
    pitch = ca.atan2(-r[2, 0], ca.sqrt(r[2, 1] ** 2 + r[2, 2] ** 2))
    return ca.vertcat(ca.atan2(r[2, 1], r[2, 2]), pitch, ca.atan2(r[1, 0], r[0, 0]))


def _is_local(function: str, reference_frame: Any) -> bool:
    if not isinstance(reference_frame, pin.ReferenceFrame):
        raise ArgumentTypeError(f"rpy.{function}: got {shown(reference_frame)}; give LOCAL or WORLD")
    return bool(reference_frame == pin.LOCAL)


@refusing
def _rpy_jacobian(rpy: Any, reference_frame: pin.ReferenceFrame = pin.LOCAL) -> Matrix:
    """The Jacobian J (3 × 3) of ω = J d(rpy)/dt, in LOCAL axes or in those of the universe."""
    roll, pitch, _ = ca.vertsplit(matrix("rpy.computeRpyJacobian", rpy, 3))
    x, y, z = (ca.DM.eye(3)[:, k] for k in range(3))
    local = ca.horzcat(x, _rotate("x", roll).T @ y, _rotate("x", roll).T @ _rotate("y", pitch).T @ z)
    return ca.densify(local if _is_local("computeRpyJacobian", reference_frame) else _rpy_matrix(rpy) @ local)


@refusing
def _rpy_jacobian_inverse(rpy: Any, reference_frame: pin.ReferenceFrame = pin.LOCAL) -> Matrix:
    """The inverse J⁻¹ (3 × 3) of d(rpy)/dt = J⁻¹ ω; it is not finite where the pitch is ±π/2."""
    roll, pitch, yaw = ca.vertsplit(matrix("rpy.computeRpyJacobianInverse", rpy, 3))
    tangent, cosine = ca.tan(pitch), ca.cos(pitch)
    if _is_local("computeRpyJacobianInverse", reference_frame):
        s, c = ca.sin(roll), ca.cos(roll)
        return ca.densify(spatial.rows((1, s * tangent, c * tangent), (0, c, -s), (0, s / cosine, c / cosine)))
    s, c = ca.sin(yaw), ca.cos(yaw)
    return ca.densify(spatial.rows((c / cosine, s / cosine, 0), (-s, c, 0), (c * tangent, s * tangent, 1)))


@refusing
def _rpy_jacobian_rate(rpy: Any, rpydot: Any, reference_frame: pin.ReferenceFrame = pin.LOCAL) -> Matrix:
    """The rate dJ/dt (3 × 3) at angles and their rates."""
    name = "rpy.computeRpyJacobianTimeDerivative"
    x, rate = (ca.SX.sym(name, 3) for name in ("rpy", "rpydot"))
    _is_local("computeRpyJacobianTimeDerivative", reference_frame)
    # By a Function of SX: the angles may be numbers or expressions, by which nothing can be differentiated.
    change = ca.jtimes(ca.vec(_rpy_jacobian(x, reference_frame)), x, rate)
    jacobian_rate = ca.Function("jacobian_rate", [x, rate], [ca.densify(ca.reshape(change, 3, 3))])
    return jacobian_rate(matrix(f"{name}: rpy", rpy, 3), matrix(f"{name}: rpydot", rpydot, 3))


rpy = submodule(
    "rpy",
    rpyToMatrix=_rpy_matrix,
    matrixToRpy=_map("rpy.matrixToRpy", (3, 3), _rpy_of, "Roll, pitch, yaw (3), the pitch from −π/2 to π/2.", "R"),
    rotate=_rotate,
    computeRpyJacobian=_rpy_jacobian,
    computeRpyJacobianInverse=_rpy_jacobian_inverse,
    computeRpyJacobianTimeDerivative=_rpy_jacobian_rate,
)
"""Roll, pitch and yaw: ``rpyToMatrix``, ``matrixToRpy``, ``rotate``; ``computeRpyJacobian``, its inverse and rate."""
utils = submodule(
    "utils",
    **{name: getattr(pin.utils, name) for name in pin.utils.__all__}
    | {name: getattr(rpy, name) for name in ("rpyToMatrix", "matrixToRpy", "rotate")},
    SE3ToXYZQUAT=SE3ToXYZQUAT,
    XYZQUATToSE3=XYZQUATToSE3,
)
"""``pinocchio.utils``, with the maps of symbols in place of those of numbers."""
