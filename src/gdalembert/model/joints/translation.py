"""The translation joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

from gdalembert.model.joints.joint_type import NO_ROTATION, JointType
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, frozen

DIRECTIONS = frozen(np.diag([1, 1, 1, 0]))


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

    @property
    def shared_with_parent(self) -> Array:
        """The projection on directions: the link rotates as its parent does, with all of its second moments."""
        return DIRECTIONS
