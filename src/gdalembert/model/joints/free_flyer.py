"""The free-flyer joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from gdalembert import spatial
from gdalembert.model.joints.joint_type import JointType
from gdalembert.model.joints.spherical import Spherical
from gdalembert.spatial.algebra import Matrix


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
