"""The revolute joint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from gdalembert import spatial
from gdalembert.model.joints.joint_type import NO_COLUMN, JointType, Vector3, axis_of
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True)
class Revolute(JointType):
    """Rotation about a unit axis of the joint frame, q = angle [rad]."""

    can_translate: ClassVar[bool] = False
    pinocchio_names: ClassVar[tuple[str, ...]] = ("RX", "RY", "RZ", "RevoluteUnaligned")

    axis: Vector3 = field()  # required: None of JointType is not a default

    @classmethod
    def from_pinocchio(cls, joint: Any) -> Revolute:
        return cls(axis_of(joint))

    def with_axis(self, axis: Vector3) -> Revolute:
        return type(self)(axis)

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
