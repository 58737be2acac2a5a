"""The motion of a link against its joint frame, and what the rest of the package asks about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from gdalembert.model.inertia import transformed
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array

Vector3 = tuple[float, float, float]


class JointType(ABC):
    """Motion of a link against its joint frame; q and v below are the joint's own, of lengths ``nq`` and ``nv``.

    The methods take SX, MX and DM, and give DM for DM.

    Attributes:
        nq, nv: lengths of q and v.
        axis: the unit vector, fixed in both frames, that the joint moves about or along; ``None`` if there is none.
        can_rotate, can_translate: whether the joint changes the orientation of its link, and the position of the
            origin of the link frame.
        has_constant_subspace: whether S does not depend on q.
        is_free: whether S is the identity: the joint moves its link along and about all axes of the link.
        has_quasi_velocities: whether v contains components of a twist that are not rates of any coordinates. If not,
            C is Christoffel's matrix.
        unit_length: first entry of the part of q that has unit length (a quaternion, or cos and sin), and the entry
            behind its last; ``None`` if there is no such part.
        is_actuated: whether something drives the joint; nothing drives a free-flyer.
        is_modal: whether the coordinates are modes of the link that carries the joint, which all its joints of this
            kind share.
        is_first_order: whether R(q) is a rotation to first order alone.
        springs_at: the joint or frame of the model at which springs hold the coordinates; ``None`` if none do.
        coordinate_names: a name for each entry of v that has one of its own; by default entries have the joint's.
        pinocchio_names: names of Pinocchio's joint models of this type, without ``JointModel``.
    """

    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    axis: Vector3 | None = None
    can_rotate: ClassVar[bool] = True
    can_translate: ClassVar[bool] = True
    has_constant_subspace: ClassVar[bool] = True
    is_free: ClassVar[bool] = False
    has_quasi_velocities: ClassVar[bool] = False
    unit_length: ClassVar[tuple[int, int] | None] = None
    is_actuated: ClassVar[bool] = True
    is_modal: ClassVar[bool] = False
    is_first_order: ClassVar[bool] = False
    springs_at: str | None = None
    coordinate_names: tuple[str, ...] = ()
    pinocchio_names: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_pinocchio(cls, joint: Any) -> JointType:
        """The type with the constants of Pinocchio's joint model, as ``extract()`` gives it."""
        return cls()

    def neutral(self) -> ca.DM:
        """The configuration at which the link frame is the joint frame."""
        return ca.DM.zeros(self.nq)

    @abstractmethod
    def placement(self, q: Matrix) -> tuple[Matrix, Matrix]:
        """The rotation R(q) (3 × 3) and the position p(q) (3) of the moved link in the joint frame."""

    @abstractmethod
    def subspace(self, q: Matrix) -> tuple[Matrix, Matrix]:
        """The linear and the angular half of S(q), 3 × nv each, in the axes of the moved link."""

    def subspace_rate(self, q: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
        """The rate dS/dt along v, in the same halves and axes."""
        return ca.DM(3, self.nv), ca.DM(3, self.nv)

    def configuration_rate(self, q: Matrix, v: Matrix) -> Matrix:
        """The rate dq/dt of (q, v)."""
        return v

    def integrate(self, q: Matrix, v: Matrix) -> Matrix:
        """The configuration that is reached from q with the constant velocity v in unit time."""
        return q + v

    def difference(self, q0: Matrix, q1: Matrix) -> Matrix:
        """The velocity that leads from q0 to q1 in unit time."""
        return q1 - q0

    def integrate_derivatives(self, v: Matrix) -> tuple[Matrix, Matrix]:
        """Derivatives of the configuration that is reached from any q with v, by q and by v (nv × nv), in tangent
        spaces."""
        return ca.DM.eye(self.nv), ca.DM.eye(self.nv)

    def mimicked(self, q: Matrix, scaling: float, offset: float) -> Matrix:
        """The configuration of a joint that mimics one at q."""
        return scaling * q + offset

    def cosine_and_sine(self, q: Matrix) -> tuple[Matrix, Matrix]:
        """The cosine and the sine of the angle about the axis."""
        return ca.cos(q), ca.sin(q)

    @property
    def velocity_is_rate(self) -> bool:
        """True if v = dq/dt, entry by entry."""
        return self.nq == self.nv

    def in_minimal_coordinates(self) -> JointType:
        """The motion with nq = nv, where one angle can replace (cos, sin); else the type itself."""
        return self

    @property
    def kind(self) -> str:
        """The name of the type, for messages and tables."""
        return type(self).__name__

    @property
    def is_revolute(self) -> bool:
        """True if the joint rotates about its axis and does nothing else."""
        return self.axis is not None and not self.can_translate

    @property
    def is_prismatic(self) -> bool:
        """True if the joint translates along its axis and does nothing else."""
        return self.axis is not None and not self.can_rotate

    @property
    def linear(self) -> tuple[bool, ...]:
        """True for each entry of v that is a translation [m/s]; False for an angular velocity [rad/s]."""
        _, angular = self.subspace(self.neutral())
        return tuple(angular[:, k].nnz() == 0 for k in range(self.nv))

    @property
    def configuration_units(self) -> tuple[str, ...]:
        """The unit of each entry of q: m, rad, or 1 for cos, sin and quaternions."""
        if self.velocity_is_rate:
            return tuple("m" if linear else "rad" for linear in self.linear)
        start, stop = self.unit_length or (0, 0)
        return tuple("1" if start <= k < stop else "m" for k in range(self.nq))

    @property
    def velocity_units(self) -> tuple[str, ...]:
        """The unit of each entry of v."""
        return tuple("m/s" if linear else "rad/s" for linear in self.linear)

    @property
    def effort_units(self) -> tuple[str, ...]:
        """The unit of each entry of tau."""
        return tuple("N" if linear else "N m" for linear in self.linear)

    @property
    def constants(self) -> tuple[float, ...]:
        """The numbers of the joint: its axis, pitch or radii."""
        numbers = (value for name, value in vars(self).items() if name not in ("coordinate_names", "springs_at"))
        return tuple(float(x) for value in numbers for x in np.ravel(value))

    def with_axis(self, axis: Vector3) -> JointType:
        """The motion about or along another unit vector; a joint without an axis is returned as it is."""
        return self

    @property
    def shared_with_parent(self) -> Array:
        """The projection P (4 × 4) of points x̂ = (x, 1) on what moves with the parent link as well.

        A link that does not rotate has all of its second moments in common with its parent: those of directions.
        """
        return np.zeros((4, 4)) if self.can_rotate else np.diag([1.0, 1.0, 1.0, 0.0])

    def inertia_shared_with_parent(self, inertia: Array | ca.SX) -> Any:
        """The part P J P of the link's pseudo-inertia (4 × 4, link frame) that moves with the parent link as well.

        It can be added to the parent's instead, without any effect on joint torques (regrouping of base parameters).
        """
        return transformed(self.shared_with_parent, inertia)
