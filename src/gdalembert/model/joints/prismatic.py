"""The prismatic joint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from gdalembert import spatial
from gdalembert.model.joints.joint_type import NO_COLUMN, NO_ROTATION, JointType, Vector3, axis_of
from gdalembert.model.joints.translation import DIRECTIONS
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True)
class Prismatic(JointType):
    """Translation along a unit axis of the joint frame, q = distance [m]."""

    can_rotate: ClassVar[bool] = False
    pinocchio_names: ClassVar[tuple[str, ...]] = ("PX", "PY", "PZ", "PrismaticUnaligned")

    axis: Vector3 = field()  # required: None of JointType is not a default

    @classmethod
    def from_pinocchio(cls, joint: Any) -> Prismatic:
        return cls(axis_of(joint))

    def with_axis(self, axis: Vector3) -> Prismatic:
        return Prismatic(axis)

    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return NO_ROTATION, spatial.constant(self.axis) * q

    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        return spatial.constant(self.axis), NO_COLUMN

    @property
    def shared_with_parent(self) -> Array:
        """The projection on directions: the link rotates as its parent does, with all of its second moments."""
        return DIRECTIONS
