"""The ellipsoid joint, the only one whose motion subspace depends on q."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from gdalembert import spatial
from gdalembert.model.joints.joint_type import NO_COLUMN, JointType, Vector3
from gdalembert.spatial.algebra import Matrix

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
