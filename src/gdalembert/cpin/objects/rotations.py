"""Quaternions and rotations about an axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.cpin.matrices import matrix, shape_of
from gdalembert.cpin.objects.parts import MatrixPart, SpatialObject, of_symbols
from gdalembert.errors import ArgumentError, shown
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.lie import maps


def _coefficient(k: int) -> property:
    return property(lambda self: self[k], lambda self, x: self.__setitem__(k, x))


class Quaternion(SpatialObject):
    """A quaternion, made of (w, x, y, z), its coefficients (x, y, z, w), a rotation matrix (3 × 3), or an AngleAxis.

    Two vectors make the rotation that takes the direction of the first to that of the second.
    """

    pin = pin.Quaternion
    _names = ("_coefficients",)
    _wanted = "w, x, y, z, or one column (x, y, z, w), a rotation (3 × 3), an AngleAxis, two vectors (3)"
    _coefficients = MatrixPart(4)
    x, y, z, w = map(_coefficient, range(4))

    def __init__(self, *args: Any) -> None:
        if len(args) == 4:
            args = ([*args[1:], args[0]],)
        elif len(args) == 2:
            args = (_between(*args),)
        elif args and isinstance(turn := of_symbols(args[0]), AngleAxis):
            args = (ca.vertcat(ca.sin(turn.angle / 2) * turn.axis, ca.cos(turn.angle / 2)),)
        super().__init__(*args)

    @classmethod
    def _parts_of(cls, x: Any) -> tuple[Any, ...]:
        return (x.coeffs(),)

    def _set(self, *args: Any) -> None:
        turn = args[0] if args else [0.0, 0.0, 0.0, 1.0]
        self._coefficients = maps.quaternion_of(matrix("Quaternion", turn, 3, 3)) if shape_of(turn) == (3, 3) else turn

    @classmethod
    def Identity(cls) -> Self:
        return cls()

    @classmethod
    def FromTwoVectors(cls, a: Any, b: Any) -> Self:
        """The shortest rotation from the direction of a to that of b; if they are opposite, by π about one axis."""
        return cls(a, b)

    def setFromTwoVectors(self, a: Any, b: Any) -> Self:
        return self.assign(Quaternion(a, b))

    def setIdentity(self) -> Self:
        return self.assign(Quaternion())

    def coeffs(self) -> Matrix:
        return self._coefficients

    np = property(coeffs)

    def __len__(self) -> int:
        return 4

    def __iter__(self) -> Iterator[Matrix]:
        return iter(ca.vertsplit(self._coefficients))

    def __getitem__(self, k: int) -> Matrix:
        return self._coefficients[_index(k)]

    def __setitem__(self, k: int, x: Any) -> None:
        entries = [*self]
        entries[_index(k)] = matrix(f"Quaternion[{k}]", x, 1)
        self._coefficients = ca.vertcat(*entries)

    def vec(self) -> Matrix:
        return self._coefficients[:3]

    def matrix(self) -> Matrix:
        return maps.quaternion_rotation(self._coefficients)

    toRotationMatrix = matrix

    def conjugate(self) -> Quaternion:
        return Quaternion(maps.quaternion_conjugate(self._coefficients))

    def squaredNorm(self) -> Matrix:
        return ca.sumsqr(self._coefficients)

    def norm(self) -> Matrix:
        return ca.norm_2(self._coefficients)

    __abs__ = norm

    def inverse(self) -> Quaternion:
        return Quaternion(self.conjugate().coeffs() / self.squaredNorm())

    def normalized(self) -> Quaternion:
        return Quaternion(self._coefficients / self.norm())

    def normalize(self) -> Self:
        return self.assign(self.normalized())

    def dot(self, other: Any) -> Matrix:
        return ca.dot(self._coefficients, Quaternion(other).coeffs())

    def __mul__(self, other: Any) -> Any:
        """A quaternion, or a vector (3) turned by this one."""
        if isinstance(other := of_symbols(other), Quaternion):
            return Quaternion(maps.quaternion_product(self._coefficients, other.coeffs()))
        return self.matrix() @ matrix("Quaternion.__mul__", other, 3)

    def __imul__(self, other: Any) -> Self:
        return self.assign(self * Quaternion(other))

    def _rotation_vector_to(self, other: Any) -> Matrix:
        """The rotation vector, of length at most π, from this unit quaternion to another."""
        return maps.quaternion_log((self.conjugate() * Quaternion(other)).coeffs())

    def angularDistance(self, other: Any) -> Matrix:
        """The angle (0 to π) between two rotations."""
        return ca.norm_2(self._rotation_vector_to(other))

    def slerp(self, t: Any, other: Any) -> Quaternion:
        """Interpolate from this rotation (t = 0) to the other (1) by the shorter way, at constant angular velocity."""
        rotation_vector = matrix("Quaternion.slerp: t", t, 1) * self._rotation_vector_to(other)
        return Quaternion(maps.quaternion_product(self._coefficients, maps.quaternion_exp(rotation_vector)))


def _index(k: int) -> int:
    if k not in range(4):
        raise ArgumentError(f"Quaternion[{shown(k)}]: give 0 (x), 1 (y), 2 (z) or 3 (w)")
    return k


def _between(a: Any, b: Any) -> Matrix:
    """The unit quaternion from the direction of a to that of b.

    It is (a × b / |a + b|, |a + b| / 2). Where a + b vanishes, the axis is the normal of a by Duff and others
    (Building an Orthonormal Basis, Revisited, Journal of Computer Graphics Techniques 6(1), 2017).
    """
    vectors = [matrix("Quaternion: vector", x, 3) for x in (a, b)]
    if any(x.is_zero() for x in vectors):
        raise ArgumentError("Quaternion: got a vector of zeros, which has no direction; give another one")
    a, b = (x / ca.norm_2(x) for x in vectors)
    sign = ca.if_else(a[2] < 0, -1, 1)
    normal = ca.vertcat(1 - a[0] ** 2 / (1 + sign * a[2]), -a[0] * a[1] / (1 + sign * a[2]), -a[0])
    # Of a + b, not of 1 + a·b, which loses half of the digits where both are opposite.
    square = ca.sumsqr(a + b)
    apart = square > 1e-15
    length = ca.sqrt(ca.if_else(apart, square, 1))
    return ca.if_else(apart, ca.vertcat(ca.cross(a, b) / length, length / 2), ca.vertcat(normal, 0))


class AngleAxis(SpatialObject):
    """A rotation by an angle [rad] about a unit axis (3), made of both, a rotation matrix (3 × 3), or a quaternion."""

    pin = pin.AngleAxis
    _names = ("angle", "axis")
    _wanted = "(angle, axis), or a rotation (3 × 3), a Quaternion"
    angle = MatrixPart(1)
    axis = MatrixPart(3)

    def __init__(self, *args: Any, **parts: Any) -> None:
        if len(args) == 1 and isinstance(turn := of_symbols(args[0]), Quaternion):
            args = _angle_and_axis(turn.coeffs())
        super().__init__(*args, **parts)

    def _set(self, *args: Any) -> None:
        turn = maps.quaternion_of(matrix("AngleAxis", args[0], 3, 3)) if args else ca.DM([0, 0, 0, 1])
        self.angle, self.axis = _angle_and_axis(turn)

    @property
    def np(self) -> Matrix:
        return ca.vertcat(self.angle, self.axis)

    def fromRotationMatrix(self, R: Any) -> Self:
        """Become the rotation of a matrix (3 × 3)."""
        self._set(R)
        return self

    def matrix(self) -> Matrix:
        cosine, sine = ca.cos(self.angle), ca.sin(self.angle)
        return cosine * ca.DM.eye(3) + sine * spatial.skew(self.axis) + (1 - cosine) * spatial.outer(self.axis)

    toRotationMatrix = matrix

    def inverse(self) -> AngleAxis:
        return AngleAxis(-self.angle, self.axis)

    def __mul__(self, other: Any) -> Any:
        """The product with a rotation, as a quaternion, or a vector (3) turned by this one."""
        if isinstance(other := of_symbols(other), AngleAxis | Quaternion):
            return Quaternion(self) * Quaternion(other)
        return self.matrix() @ matrix("AngleAxis.__mul__", other, 3)


def _angle_and_axis(quaternion: Matrix) -> tuple[Matrix, Matrix]:
    """The angle (0 to π) and the axis of a unit quaternion; x, where there is no rotation."""
    w = maps.quaternion_log(quaternion)
    turned = ca.sumsqr(w) > 0
    length = ca.sqrt(ca.if_else(turned, ca.sumsqr(w), 1))
    return ca.if_else(turned, length, 0), ca.if_else(turned, w / length, ca.DM([1, 0, 0]))
