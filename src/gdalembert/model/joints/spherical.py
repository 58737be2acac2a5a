"""The spherical joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from gdalembert import spatial
from gdalembert.model.joints.joint_type import NO_COLUMN, JointType
from gdalembert.spatial.algebra import Matrix


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
