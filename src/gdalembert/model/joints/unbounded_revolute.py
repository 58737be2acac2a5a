"""The continuous joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from gdalembert.model.joints.joint_type import Vector3, axis_of
from gdalembert.model.joints.revolute import Revolute
from gdalembert.spatial.algebra import Matrix


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
