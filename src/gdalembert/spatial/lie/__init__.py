"""Rotations and rigid motions: exponential, logarithm, their Jacobians, inverse, adjoint, quaternions (``gd.lie``).

Names and conventions are Pinocchio's. R is a rotation matrix (3 × 3), T = [R p; 0 1] a rigid motion (4 × 4), w a
rotation vector (3) [rad], a twist is (linear; angular) (6) in the axes of the moving frame, and a quaternion is
(x, y, z, w).

Numbers, a ``pin.SE3`` and a ``pin.Motion`` give NumPy arrays; SX, MX and DM give their own kind. Numbers are checked:
R must be a rotation, to 1e-6. Symbols cannot be.

All are exact with their first and second derivatives at and near the identity, and finite everywhere. Logarithms are
those of angles from 0 to π. At π two vectors, w and −w, have the same rotation: there a logarithm is one of them, its
derivatives are those of its side, and it jumps on the way across.

Raises:
    ArgumentTypeError: by each function, if the argument is of the wrong type.
    ArgumentError: by each function, if its shape is wrong, a number is not finite, or it is not a rotation.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from gdalembert.errors import ArgumentError
from gdalembert.spatial.algebra import Matrix, skew
from gdalembert.spatial.algebra import transform as _transform
from gdalembert.spatial.arguments import UNIT_ERROR, checked_rotation, checked_transform, vector
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.lie import maps

__all__ = [
    *("Jexp3", "Jexp6", "Jlog3", "Jlog6", "adjoint", "adjoint_dual", "adjoint_inverse", "exp3", "exp6", "inverse"),
    *("log3", "log6", "quaternion_of", "rotation_of"),
]

_EXPECTED = "numbers, or one SX or MX (casadi.vertcat)"


def exp3(w: Any) -> Any:
    """The rotation matrix R of a rotation vector: equals ``pin.exp3``."""
    return _like(w, maps.rotation_exp(_checked("w", w, 3)))


def log3(R: Any) -> Any:
    """The rotation vector w, of length at most π, of a rotation matrix: equals ``pin.log3``."""
    return _like(R, maps.rotation_log(_checked("R", R, 3, 3)))


def exp6(twist: Any) -> Any:
    """The rigid motion T that a constant twist leads to in unit time: equals ``pin.exp6``."""
    return _like(twist, maps.motion_exp(_checked("twist", twist, 6)))


def log6(T: Any) -> Any:
    """The twist that leads to T in unit time, by an angle of at most π: equals ``pin.log6``."""
    return _like(T, maps.motion_log(_checked("T", T, 4, 4)))


def Jexp3(w: Any) -> Any:
    """The Jacobian J (3 × 3) of exp3(w + δ) = exp3(w) exp3(J δ), to first order: equals ``pin.Jexp3``."""
    return _like(w, maps.screw_shift(-_checked("w", w, 3)))


def Jlog3(R: Any) -> Any:
    """The Jacobian J (3 × 3) of log3(R exp3(δ)) = log3(R) + J δ, to first order: equals ``pin.Jlog3``."""
    return _like(R, maps.inverse_screw_shift(-maps.rotation_log(_checked("R", R, 3, 3))))


def Jexp6(twist: Any) -> Any:
    """The Jacobian J (6 × 6) of exp6(twist + δ) = exp6(twist) exp6(J δ), to first order: equals ``pin.Jexp6``."""
    return _like(twist, maps.motion_exp_jacobian(_checked("twist", twist, 6)))


def Jlog6(T: Any) -> Any:
    """The Jacobian J (6 × 6) of log6(T exp6(δ)) = log6(T) + J δ, to first order: equals ``pin.Jlog6``."""
    return _like(T, maps.motion_log_jacobian(_checked("T", T, 4, 4)))


def inverse(T: Any) -> Any:
    """The inverse T⁻¹ = [Rᵀ, −Rᵀ p; 0, 1]: equals ``pin.SE3.inverse``."""
    r, p = _parts(T)
    return _like(T, _transform(r.T, -r.T @ p))


def adjoint(T: Any) -> Any:
    """The matrix X (6 × 6): X twist is the twist of the frame placed at T, seen from the frame that it is placed in.

    Equals ``pin.SE3.toActionMatrix``; for numbers ``gd.transform_twist`` is its inverse applied.
    """
    r, p = _parts(T)
    return _like(T, ca.blockcat([[r, skew(p) @ r], [ca.DM(3, 3), r]]))


def adjoint_inverse(T: Any) -> Any:
    """The matrix X⁻¹ (6 × 6): equals ``pin.SE3.toActionMatrixInverse``."""
    r, p = _parts(T)
    return _like(T, ca.blockcat([[r.T, -r.T @ skew(p)], [ca.DM(3, 3), r.T]]))


def adjoint_dual(T: Any) -> Any:
    """The matrix X⁻ᵀ (6 × 6): the same change for wrenches (force; moment); equals ``pin.SE3.toDualActionMatrix``."""
    r, p = _parts(T)
    return _like(T, ca.blockcat([[r, ca.DM(3, 3)], [skew(p) @ r, r]]))


def quaternion_of(R: Any) -> Any:
    """The unit quaternion (x, y, z, w) of a rotation matrix: equals ``pin.Quaternion(R).coeffs()``, its sign too."""
    return _like(R, maps.quaternion_of(_checked("R", R, 3, 3)))


def rotation_of(x: Any) -> Any:
    """The rotation matrix of a unit quaternion (x, y, z, w), not normalised: ``pin.Quaternion.toRotationMatrix``."""
    column = _checked("quaternion", x, 4)
    if isinstance(column, ca.DM) and not abs(float(ca.norm_2(column)) - 1) <= UNIT_ERROR:
        raise ArgumentError(f"quaternion: its length is {float(ca.norm_2(column)):.9g}; normalise it")
    return _like(x, maps.quaternion_rotation(column))


def _parts(T: Any) -> tuple[Matrix, Matrix]:
    t = _checked("T", T, 4, 4)
    return t[:3, :3], t[:3, 3]


# What these functions take and return: numbers as NumPy arrays, or one kind of CasADi matrix.


def _checked(argument: str, value: Any, rows: int, columns: int = 1) -> Matrix:
    """A vector, a rotation matrix (3 × 3) or a rigid motion (4 × 4): numbers, Pinocchio's, or a CasADi matrix."""
    if isinstance(value, ca.SX | ca.MX):
        if value.shape != (rows, columns):
            shape = f"{value.shape[0]} × {value.shape[1]}"
            raise ArgumentError(f"{argument}: got a matrix of {shape}; give {rows} × {columns}")
        return value
    if columns == 1:
        return ca.DM(vector(argument, getattr(value, "vector", value), rows))
    check = checked_rotation if rows == 3 else checked_transform
    return ca.DM(check(argument, value, expected=_EXPECTED))


def _like(argument: Any, result: Matrix) -> Any:
    """The result in the kind of an argument: a dense CasADi matrix of that kind, or an array, a column as a vector."""
    if isinstance(argument, ca.SX | ca.MX | ca.DM):
        return ca.densify(result)
    values = ca.DM(result).full()
    return values.ravel() if values.shape[1] == 1 else values


for _name in __all__:
    globals()[_name] = interruptible(globals()[_name])
