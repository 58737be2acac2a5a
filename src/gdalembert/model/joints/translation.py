"""The translation joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

from gdalembert.model.joints.joint_type import NO_ROTATION, JointType
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array


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

    def inertia_shared_with_parent(self, inertia: Array) -> Array:
        """The second moments about the centre of mass: the link rotates as its parent does."""
        return central_second_moments(inertia)


def central_second_moments(inertia: Array) -> Array:
    """The pseudo-inertia (4 × 4) that consists of the second moments about the centre of mass alone."""
    central = np.zeros((4, 4))
    first, mass = inertia[:3, 3], inertia[3, 3]
    if mass > 0:
        central[:3, :3] = inertia[:3, :3] - np.outer(first, first) / mass
    return central
