"""The planar joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from gdalembert import spatial
from gdalembert.model.joints.joint_type import NO_COLUMN, JointType
from gdalembert.model.joints.unbounded_revolute import UnboundedRevolute
from gdalembert.spatial.algebra import Matrix


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
