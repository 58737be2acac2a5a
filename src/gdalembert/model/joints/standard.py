"""Pinocchio's joint types, and the fixed joint."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.model.joints.joint_type import NO_COLUMN, NO_ROTATION, JointType, Vector3, axis_of
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True)
class OneAxis(JointType):
    """A joint that moves about or along a unit axis of the joint frame."""

    axis: Vector3 = field()  # required: None of JointType is not a default

    @classmethod
    def from_pinocchio(cls, joint: Any) -> JointType:
        return cls(axis_of(joint))

    def with_axis(self, axis: Vector3) -> JointType:
        return replace(self, axis=axis)


@dataclass(frozen=True)
class Revolute(OneAxis):
    """Rotation about a unit axis of the joint frame, q = angle [rad]."""

    can_translate: ClassVar[bool] = False
    pinocchio_names: ClassVar[tuple[str, ...]] = ("RX", "RY", "RZ", "RevoluteUnaligned")

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return spatial.axis_rotation(self.axis, *self.cosine_and_sine(q)), NO_COLUMN

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return NO_COLUMN, spatial.constant(self.axis)

    @property
    def shared_with_parent(self) -> Array:
        """The projection on the axis, whose points belong to both links: P J P is the line mass along it."""
        projection = np.zeros((4, 4))
        projection[:3, :3] = np.outer(self.axis, self.axis)
        projection[3, 3] = 1
        return projection


@dataclass(frozen=True)
class UnboundedRevolute(Revolute):
    """Rotation without limits about a unit axis of the joint frame, q = (cos, sin) of the angle, v in rad/s."""

    nq: ClassVar[int] = 2
    unit_length: ClassVar[tuple[int, int] | None] = (0, 2)
    pinocchio_names: ClassVar[tuple[str, ...]] = ("RUBX", "RUBY", "RUBZ", "RevoluteUnboundedUnaligned")

    @classmethod
    def from_pinocchio(cls, joint: Any) -> UnboundedRevolute:
        return cls(_unaligned_axis(joint) if type(joint).__name__.endswith("Unaligned") else axis_of(joint))

    def neutral(self) -> ca.DM:
        return ca.DM([1, 0])

    def configuration_rate(self, q: Matrix, v: Matrix) -> Matrix:
        return ca.vertcat(-q[1], q[0]) * v

    def integrate(self, q: Matrix, v: Matrix) -> Matrix:
        c, s = ca.cos(v), ca.sin(v)
        return ca.vertcat(c * q[0] - s * q[1], s * q[0] + c * q[1])

    def difference(self, q0: Matrix, q1: Matrix) -> Matrix:
        return ca.atan2(q0[0] * q1[1] - q0[1] * q1[0], q0[0] * q1[0] + q0[1] * q1[1])

    def mimicked(self, q: Matrix, scaling: float, offset: float) -> Matrix:
        angle = scaling * ca.atan2(q[1], q[0]) + offset
        return ca.vertcat(ca.cos(angle), ca.sin(angle))

    def cosine_and_sine(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return q[0], q[1]

    def in_minimal_coordinates(self) -> Revolute:
        return Revolute(self.axis)


def _unaligned_axis(joint: Any) -> Vector3:
    """The axis of a joint model that does not show it, from its motion subspace."""
    data, q = joint.createData(), np.zeros(joint.idx_q + 2)
    q[joint.idx_q] = 1
    joint.calc(data, q)
    x, y, z = np.ravel(data.S)[3:]
    return float(x), float(y), float(z)


@dataclass(frozen=True)
class Prismatic(OneAxis):
    """Translation along a unit axis of the joint frame, q = distance [m]."""

    can_rotate: ClassVar[bool] = False
    pinocchio_names: ClassVar[tuple[str, ...]] = ("PX", "PY", "PZ", "PrismaticUnaligned")

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return NO_ROTATION, spatial.constant(self.axis) * q

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return spatial.constant(self.axis), NO_COLUMN


@dataclass(frozen=True)
class Helical(OneAxis):
    """Screw motion about a unit axis of the joint frame, q = angle [rad], pitch in m/rad."""

    pinocchio_names: ClassVar[tuple[str, ...]] = ("HX", "HY", "HZ", "HelicalUnaligned")

    pitch: float

    @classmethod
    def from_pinocchio(cls, joint: Any) -> Helical:
        return cls(axis_of(joint), float(joint.pitch))

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return spatial.axis_rotation(self.axis, ca.cos(q), ca.sin(q)), self.pitch * spatial.constant(self.axis) * q

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return self.pitch * spatial.constant(self.axis), spatial.constant(self.axis)


@dataclass(frozen=True)
class Translation(JointType):
    """Translation in space, q = (x, y, z) [m]."""

    nq: ClassVar[int] = 3
    nv: ClassVar[int] = 3
    can_rotate: ClassVar[bool] = False
    pinocchio_names: ClassVar[tuple[str, ...]] = ("Translation",)

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return NO_ROTATION, q

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return ca.DM.eye(3), ca.DM(3, 3)


@dataclass(frozen=True)
class Planar(JointType):
    """Motion in the x-y plane, q = (x, y, cos, sin), v = (v_x, v_y, ω_z) in the axes of the moved link."""

    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3
    has_quasi_velocities: ClassVar[bool] = True
    unit_length: ClassVar[tuple[int, int] | None] = (2, 4)
    pinocchio_names: ClassVar[tuple[str, ...]] = ("Planar",)

    def neutral(self) -> ca.DM:
        return ca.DM([0, 0, 1, 0])

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return spatial.axis_rotation((0, 0, 1), q[2], q[3]), ca.vertcat(q[0], q[1], 0)

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        x, y, z = ca.horzsplit(ca.DM.eye(3))
        return ca.horzcat(x, y, NO_COLUMN), ca.horzcat(NO_COLUMN, NO_COLUMN, z)

    def configuration_rate(self, q: Matrix, v: Matrix) -> Matrix:
        c, s = q[2], q[3]
        return ca.vertcat(c * v[0] - s * v[1], s * v[0] + c * v[1], -s * v[2], c * v[2])

    def integrate(self, q: Matrix, v: Matrix) -> Matrix:
        x = v[2] * v[2]
        along, across = spatial.sine_over_angle(x), v[2] * spatial.versine_over_square(x)
        shift = self.configuration_rate(q, ca.vertcat(along * v[0] - across * v[1], across * v[0] + along * v[1], 0))
        return ca.vertcat(q[:2] + shift[:2], UnboundedRevolute((0, 0, 1)).integrate(q[2:], v[2]))

    def difference(self, q0: Matrix, q1: Matrix) -> Matrix:
        angle = UnboundedRevolute((0, 0, 1)).difference(q0[2:], q1[2:])
        half = angle / 2
        stretch = spatial.cosine(half * half) / spatial.sine_over_angle(half * half)
        dx, dy = q1[0] - q0[0], q1[1] - q0[1]
        x, y = q0[2] * dx + q0[3] * dy, -q0[3] * dx + q0[2] * dy
        return ca.vertcat(stretch * x + half * y, -half * x + stretch * y, angle)


@dataclass(frozen=True)
class Spherical(JointType):
    """Rotation about a point, q = unit quaternion (x, y, z, w), v = ω in the axes of the moved link."""

    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3
    can_translate: ClassVar[bool] = False
    has_quasi_velocities: ClassVar[bool] = True
    unit_length: ClassVar[tuple[int, int] | None] = (0, 4)
    pinocchio_names: ClassVar[tuple[str, ...]] = ("Spherical",)

    def neutral(self) -> ca.DM:
        return ca.DM([0, 0, 0, 1])

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return spatial.quaternion_rotation(q), NO_COLUMN

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return ca.DM(3, 3), ca.DM.eye(3)

    def configuration_rate(self, q: Matrix, v: Matrix) -> Matrix:
        return spatial.quaternion_product(q, ca.vertcat(v / 2, 0))

    def integrate(self, q: Matrix, v: Matrix) -> Matrix:
        return spatial.quaternion_product(q, spatial.quaternion_exp(v))

    def difference(self, q0: Matrix, q1: Matrix) -> Matrix:
        return spatial.quaternion_log(spatial.quaternion_product(spatial.quaternion_conjugate(q0), q1))


@dataclass(frozen=True)
class FreeFlyer(JointType):
    """Free motion, q = (x, y, z, unit quaternion), v = (linear, angular) velocity in the axes of the moved link."""

    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6
    is_free: ClassVar[bool] = True
    has_quasi_velocities: ClassVar[bool] = True
    unit_length: ClassVar[tuple[int, int] | None] = (3, 7)
    is_actuated: ClassVar[bool] = False
    pinocchio_names: ClassVar[tuple[str, ...]] = ("FreeFlyer",)

    def neutral(self) -> ca.DM:
        return ca.DM([0, 0, 0, 0, 0, 0, 1])

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return spatial.quaternion_rotation(q[3:]), q[:3]

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return ca.horzcat(ca.DM.eye(3), ca.DM(3, 3)), ca.horzcat(ca.DM(3, 3), ca.DM.eye(3))

    def configuration_rate(self, q: Matrix, v: Matrix) -> Matrix:
        r, _ = self.placement(q)
        return ca.vertcat(r @ v[:3], Spherical().configuration_rate(q[3:], v[3:]))

    def integrate(self, q: Matrix, v: Matrix) -> Matrix:
        r, p = self.placement(q)
        return ca.vertcat(p + r @ (spatial.screw_shift(v[3:]) @ v[:3]), Spherical().integrate(q[3:], v[3:]))

    def difference(self, q0: Matrix, q1: Matrix) -> Matrix:
        r, p = self.placement(q0)
        omega = Spherical().difference(q0[3:], q1[3:])
        return ca.vertcat(spatial.inverse_screw_shift(omega) @ (r.T @ (q1[:3] - p)), omega)


_XYZ: tuple[Vector3, Vector3, Vector3] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Ellipsoid(JointType):
    """Sliding on an ellipsoid with the given radii [m], q = angles about x, then y, then the normal n.

    With D = diag(radii) the origin of the moved link is p = D n, n = R_x(q_0) R_y(q_1) e_z. In the joint frame's axes
    the columns are w_0 = e_x, w_1 = R_x e_y, w_2 = n (angular) and D (w_j × n) (linear); w_j turns with the columns
    before it, n with all of them.
    """

    nq: ClassVar[int] = 3
    nv: ClassVar[int] = 3
    has_constant_subspace: ClassVar[bool] = False
    pinocchio_names: ClassVar[tuple[str, ...]] = ("Ellipsoid",)

    radii: Vector3

    @classmethod
    def from_pinocchio(cls, joint: Any) -> Ellipsoid:
        return cls((float(joint.radius_x), float(joint.radius_y), float(joint.radius_z)))

    def _columns(self, q: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """w_0, w_1, w_2 = n in the joint frame's axes."""
        c: Matrix = ca.cos(q)
        s: Matrix = ca.sin(q)
        return ca.DM([1, 0, 0]), ca.vertcat(0, c[0], s[0]), ca.vertcat(s[1], -s[0] * c[1], c[0] * c[1])

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        c: Matrix = ca.cos(q)
        s: Matrix = ca.sin(q)
        x, y, z = (spatial.axis_rotation(axis, c[k], s[k]) for k, axis in enumerate(_XYZ))
        _, _, normal = self._columns(q)
        return x @ y @ z, ca.DM(self.radii) * normal

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        w0, w1, n = self._columns(q)
        r, _ = self.placement(q)
        d = ca.diag(ca.DM(self.radii))
        linear = d @ ca.horzcat(ca.cross(w0, n), ca.cross(w1, n), NO_COLUMN)
        return r.T @ linear, r.T @ ca.horzcat(w0, w1, n)

    def subspace_rate(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        w0, w1, n = self._columns(q)
        r, _ = self.placement(q)
        d = ca.diag(ca.DM(self.radii))
        w1_rate = ca.cross(w0, w1) * v[0]
        n_rate = ca.cross(w0, n) * v[0] + ca.cross(w1, n) * v[1]
        linear_rate = d @ ca.horzcat(ca.cross(w0, n_rate), ca.cross(w1_rate, n) + ca.cross(w1, n_rate), NO_COLUMN)
        angular_rate = ca.horzcat(NO_COLUMN, w1_rate, n_rate)
        # d/dt(Rᵀ x) = Rᵀ ẋ − (Rᵀ ω) × Rᵀ x
        linear, angular = self.subspace(q)
        omega = spatial.skew(angular @ v)
        return r.T @ linear_rate - omega @ linear, r.T @ angular_rate - omega @ angular


@dataclass(frozen=True)
class Fixed(JointType):
    """No motion: a link on a station of another one."""

    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0
    can_rotate: ClassVar[bool] = False
    can_translate: ClassVar[bool] = False
    is_actuated: ClassVar[bool] = False

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return NO_ROTATION, ca.DM(3, 1)

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return ca.DM(3, 0), ca.DM(3, 0)
