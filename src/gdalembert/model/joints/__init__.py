"""The joint types: placement, motion subspace, configuration space, and what callers ask about them.

A joint moves its link against the joint frame by R(q), p(q). The velocity of the link, in its own axes, is S(q) v; the
two halves of the motion subspace S stay apart: ``linear`` and ``angular``, each 3 × nv, with the columns in Pinocchio's
order. Where S depends on q (the ellipsoid alone) the type gives its rate too. A joint that is a sequence of simpler
ones (universal, spherical ZYX, composite) is that sequence in a ``Tree``.

Every type follows Pinocchio's conventions: quaternions (x, y, z, w), a continuous joint as (cos, sin), velocities of
spherical, planar and free-flyer joints in the axes of the moved link.

Code outside this package never tests for a type: it asks :class:`JointType`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.model.joints.joint_type import JointType as JointType
from gdalembert.model.joints.joint_type import Vector3 as Vector3
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.lie import adjoint_inverse, maps

_NO_ROTATION = ca.DM.eye(3)
_NO_COLUMN = ca.DM(3, 1)


@dataclass(frozen=True)
class OneAxis(JointType):
    """A joint that moves about or along a unit axis of the joint frame."""

    axis: Vector3 = field()  # required: None of JointType is not a default
    springs_at: str | None = field(default=None, kw_only=True, repr=False)

    @classmethod
    def from_pinocchio(cls, joint: Any) -> JointType:
        return cls(cls._axis_of(joint))

    @staticmethod
    def _axis_of(joint: Any) -> Vector3:
        """The last letter of the name (RX, RUBY, HZ), what the joint model says itself, or what its S is."""
        letter = type(joint).__name__[-1]
        if letter in "XYZ":
            x, y, z = np.eye(3)["XYZ".index(letter)]
        elif hasattr(joint, "axis"):
            x, y, z = np.ravel(joint.axis)
        else:  # RevoluteUnboundedUnaligned
            data, q = joint.createData(), np.zeros(joint.idx_q + 2)
            q[joint.idx_q] = 1
            joint.calc(data, q)
            x, y, z = np.ravel(data.S)[3:]
        return float(x), float(y), float(z)

    def with_axis(self, axis: Vector3) -> JointType:
        return replace(self, axis=axis)


@dataclass(frozen=True)
class Revolute(OneAxis):
    """Rotation about a unit axis of the joint frame, q = angle [rad]."""

    can_translate = False
    pinocchio_names = ("RX", "RY", "RZ", "RevoluteUnaligned")

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return spatial.axis_rotation(self.axis, *self.cosine_and_sine(q)), _NO_COLUMN

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return _NO_COLUMN, spatial.constant(self.axis)

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

    nq = 2
    unit_length = (0, 2)
    pinocchio_names = ("RUBX", "RUBY", "RUBZ", "RevoluteUnboundedUnaligned")

    def neutral(self) -> ca.DM:
        return ca.DM([1, 0])

    def configuration_rate(self, q: Matrix, v: Matrix) -> Matrix:
        return ca.vertcat(-q[1], q[0]) * v

    def integrate(self, q: Matrix, v: Matrix) -> Matrix:
        c, s = ca.cos(v), ca.sin(v)
        return ca.vertcat(c * q[0] - s * q[1], s * q[0] + c * q[1])

    def difference(self, q0: Matrix, q1: Matrix) -> Matrix:
        # The angle between both, not the difference of two angles, which jumps by 2π.
        return ca.atan2(q0[0] * q1[1] - q0[1] * q1[0], q0[0] * q1[0] + q0[1] * q1[1])

    def mimicked(self, q: Matrix, scaling: float, offset: float) -> Matrix:
        angle = scaling * ca.atan2(q[1], q[0]) + offset
        return ca.vertcat(ca.cos(angle), ca.sin(angle))

    def cosine_and_sine(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return q[0], q[1]

    def in_minimal_coordinates(self) -> Revolute:
        return Revolute(self.axis)


@dataclass(frozen=True)
class Prismatic(OneAxis):
    """Translation along a unit axis of the joint frame, q = distance [m]."""

    can_rotate = False
    pinocchio_names = ("PX", "PY", "PZ", "PrismaticUnaligned")

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return _NO_ROTATION, spatial.constant(self.axis) * q

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return spatial.constant(self.axis), _NO_COLUMN


@dataclass(frozen=True)
class Helical(OneAxis):
    """Screw motion about a unit axis of the joint frame, q = angle [rad], pitch in m/rad."""

    pinocchio_names = ("HX", "HY", "HZ", "HelicalUnaligned")

    pitch: float

    @classmethod
    def from_pinocchio(cls, joint: Any) -> Helical:
        return cls(cls._axis_of(joint), float(joint.pitch))

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return spatial.axis_rotation(self.axis, ca.cos(q), ca.sin(q)), self.pitch * spatial.constant(self.axis) * q

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return self.pitch * spatial.constant(self.axis), spatial.constant(self.axis)


@dataclass(frozen=True)
class Translation(JointType):
    """Translation in space, q = (x, y, z) [m]."""

    nq, nv = 3, 3
    can_rotate = False
    pinocchio_names = ("Translation",)

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return _NO_ROTATION, q

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return ca.DM.eye(3), ca.DM(3, 3)


@dataclass(frozen=True)
class Planar(JointType):
    """Motion in the x-y plane, q = (x, y, cos, sin), v = (v_x, v_y, ω_z) in the axes of the moved link."""

    nq, nv = 4, 3
    has_quasi_velocities = True
    unit_length = (2, 4)
    pinocchio_names = ("Planar",)

    def neutral(self) -> ca.DM:
        return ca.DM([0, 0, 1, 0])

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return spatial.axis_rotation((0, 0, 1), q[2], q[3]), ca.vertcat(q[0], q[1], 0)

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        x, y, z = ca.horzsplit(ca.DM.eye(3))
        return ca.horzcat(x, y, _NO_COLUMN), ca.horzcat(_NO_COLUMN, _NO_COLUMN, z)

    def configuration_rate(self, q: Matrix, v: Matrix) -> Matrix:
        c, s = q[2], q[3]
        return ca.vertcat(c * v[0] - s * v[1], s * v[0] + c * v[1], -s * v[2], c * v[2])

    def integrate(self, q: Matrix, v: Matrix) -> Matrix:
        x = v[2] * v[2]
        along, across = maps.sine_over_angle(x), v[2] * maps.versine_over_square(x)
        shift = self.configuration_rate(q, ca.vertcat(along * v[0] - across * v[1], across * v[0] + along * v[1], 0))
        return ca.vertcat(q[:2] + shift[:2], UnboundedRevolute((0, 0, 1)).integrate(q[2:], v[2]))

    def difference(self, q0: Matrix, q1: Matrix) -> Matrix:
        angle = UnboundedRevolute((0, 0, 1)).difference(q0[2:], q1[2:])
        half = angle / 2
        stretch = maps.cosine(half * half) / maps.sine_over_angle(half * half)
        dx, dy = q1[0] - q0[0], q1[1] - q0[1]
        x, y = q0[2] * dx + q0[3] * dy, -q0[3] * dx + q0[2] * dy
        return ca.vertcat(stretch * x + half * y, -half * x + stretch * y, angle)

    def integrate_derivatives(self, v: Matrix) -> tuple[Matrix, Matrix]:
        in_plane = [0, 1, 5]
        by_q, by_v = FreeFlyer().integrate_derivatives(ca.vertcat(v[:2], ca.DM(3, 1), v[2]))
        return by_q[in_plane, in_plane], by_v[in_plane, in_plane]


@dataclass(frozen=True)
class Spherical(JointType):
    """Rotation about a point, q = unit quaternion (x, y, z, w), v = ω in the axes of the moved link."""

    nq, nv = 4, 3
    can_translate = False
    has_quasi_velocities = True
    unit_length = (0, 4)
    pinocchio_names = ("Spherical",)

    def neutral(self) -> ca.DM:
        return ca.DM([0, 0, 0, 1])

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return maps.quaternion_rotation(q), _NO_COLUMN

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return ca.DM(3, 3), ca.DM.eye(3)

    def configuration_rate(self, q: Matrix, v: Matrix) -> Matrix:
        return maps.quaternion_product(q, ca.vertcat(v / 2, 0))

    def integrate(self, q: Matrix, v: Matrix) -> Matrix:
        return maps.quaternion_product(q, maps.quaternion_exp(v))

    def difference(self, q0: Matrix, q1: Matrix) -> Matrix:
        return maps.quaternion_log(maps.quaternion_product(maps.quaternion_conjugate(q0), q1))

    def integrate_derivatives(self, v: Matrix) -> tuple[Matrix, Matrix]:
        return maps.rotation_exp(v).T, maps.screw_shift(-v)


@dataclass(frozen=True)
class FreeFlyer(JointType):
    """Free motion, q = (x, y, z, unit quaternion), v = (linear, angular) velocity in the axes of the moved link."""

    nq, nv = 7, 6
    is_free = True
    has_quasi_velocities = True
    unit_length = (3, 7)
    is_actuated = False
    pinocchio_names = ("FreeFlyer",)

    def neutral(self) -> ca.DM:
        return ca.DM([0, 0, 0, 0, 0, 0, 1])

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return maps.quaternion_rotation(q[3:]), q[:3]

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return ca.horzcat(ca.DM.eye(3), ca.DM(3, 3)), ca.horzcat(ca.DM(3, 3), ca.DM.eye(3))

    def configuration_rate(self, q: Matrix, v: Matrix) -> Matrix:
        r, _ = self.placement(q)
        return ca.vertcat(r @ v[:3], Spherical().configuration_rate(q[3:], v[3:]))

    def integrate(self, q: Matrix, v: Matrix) -> Matrix:
        r, p = self.placement(q)
        return ca.vertcat(p + r @ (maps.screw_shift(v[3:]) @ v[:3]), Spherical().integrate(q[3:], v[3:]))

    def difference(self, q0: Matrix, q1: Matrix) -> Matrix:
        r, p = self.placement(q0)
        omega = Spherical().difference(q0[3:], q1[3:])
        return ca.vertcat(maps.inverse_screw_shift(omega) @ (r.T @ (q1[:3] - p)), omega)

    def integrate_derivatives(self, v: Matrix) -> tuple[Matrix, Matrix]:
        # In closed form: CasADi would differentiate integrate by q, which has one entry more than v.
        return adjoint_inverse(maps.motion_exp(v)), maps.motion_exp_jacobian(v)


_XYZ: tuple[Vector3, Vector3, Vector3] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Ellipsoid(JointType):
    """Sliding on an ellipsoid with the given radii [m], q = angles about x, then y, then the normal n.

    With D = diag(radii) the origin of the moved link is p = D n, n = R_x(q_0) R_y(q_1) e_z. In the joint frame's axes
    the columns are w_0 = e_x, w_1 = R_x e_y, w_2 = n (angular) and D (w_j × n) (linear); w_j turns with the columns
    before it, n with all of them.
    """

    nq, nv = 3, 3
    has_constant_subspace = False
    pinocchio_names = ("Ellipsoid",)

    radii: Vector3

    @classmethod
    def from_pinocchio(cls, joint: Any) -> Ellipsoid:
        return cls((float(joint.radius_x), float(joint.radius_y), float(joint.radius_z)))

    def _columns(self, q: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """The columns w_0, w_1, w_2 = n in the joint frame's axes."""
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
        linear = d @ ca.horzcat(ca.cross(w0, n), ca.cross(w1, n), _NO_COLUMN)
        return r.T @ linear, r.T @ ca.horzcat(w0, w1, n)

    def subspace_rate(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        w0, w1, n = self._columns(q)
        r, _ = self.placement(q)
        d = ca.diag(ca.DM(self.radii))
        w1_rate = ca.cross(w0, w1) * v[0]
        n_rate = ca.cross(w0, n) * v[0] + ca.cross(w1, n) * v[1]
        linear_rate = d @ ca.horzcat(ca.cross(w0, n_rate), ca.cross(w1_rate, n) + ca.cross(w1, n_rate), _NO_COLUMN)
        angular_rate = ca.horzcat(_NO_COLUMN, w1_rate, n_rate)
        # d/dt(Rᵀ x) = Rᵀ ẋ − (Rᵀ ω) × Rᵀ x
        linear, angular = self.subspace(q)
        omega = spatial.skew(angular @ v)
        return r.T @ linear_rate - omega @ linear, r.T @ angular_rate - omega @ angular


@dataclass(frozen=True)
class Fixed(JointType):
    """A joint without motion: a link on a station of another one."""

    nq, nv = 0, 0
    can_rotate = False
    can_translate = False
    is_actuated = False

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return _NO_ROTATION, ca.DM(3, 1)

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return ca.DM(3, 0), ca.DM(3, 0)


_WITH_AXIS = (Revolute, UnboundedRevolute, Prismatic, Helical)
JOINT_TYPES: tuple[type[JointType], ...] = (*_WITH_AXIS, Translation, Planar, Spherical, FreeFlyer, Ellipsoid)
"""A new type is added here and is known everywhere."""
