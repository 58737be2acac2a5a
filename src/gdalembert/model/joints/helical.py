"""The helical joint."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import casadi as ca

from gdalembert import spatial
from gdalembert.model.joints.joint_type import JointType, Vector3, axis_of
from gdalembert.spatial.algebra import Matrix


@dataclass(frozen=True)
class Helical(JointType):
    """Screw motion about a unit axis of the joint frame, q = angle [rad], pitch in m/rad."""

    pinocchio_names: ClassVar[tuple[str, ...]] = ("HX", "HY", "HZ", "HelicalUnaligned")

    axis: Vector3 = field()  # required: None of JointType is not a default
    pitch: float

    @classmethod
    def from_pinocchio(cls, joint: Any) -> Helical:
        return cls(axis_of(joint), float(joint.pitch))

    def with_axis(self, axis: Vector3) -> Helical:
        return replace(self, axis=axis)

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return spatial.axis_rotation(self.axis, ca.cos(q), ca.sin(q)), self.pitch * spatial.constant(self.axis) * q

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return self.pitch * spatial.constant(self.axis), spatial.constant(self.axis)
