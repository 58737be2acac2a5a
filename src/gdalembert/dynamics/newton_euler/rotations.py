"""Rotations that are applied, not multiplied out: R = F R_z(q) changes two components, then F is constant.

They are written like matrices: ``r @ x``, ``r.T @ x``, and ``r.conjugate(s)`` for R S Rᵀ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import casadi as ca

from gdalembert import spatial
from gdalembert.model.tree import Joint
from gdalembert.spatial.algebra import Matrix


class Rotation(ABC):
    """R, 3 × 3."""

    @abstractmethod
    def __matmul__(self, x: Matrix) -> Matrix:
        """R x, x of 3 × n."""

    @property
    @abstractmethod
    def T(self) -> Rotation:
        """Rᵀ."""

    def conjugate(self, s: Matrix) -> Matrix:
        """R S Rᵀ, S of 3 × 3."""
        return (self @ (self @ s).T).T


@dataclass(frozen=True)
class Full(Rotation):
    """A rotation matrix without structure."""

    matrix: Matrix

    def __matmul__(self, x: Matrix) -> Matrix:
        return self.matrix @ x

    @property
    def T(self) -> Rotation:
        return Full(self.matrix.T)


@dataclass(frozen=True)
class AboutZ(Rotation):
    """Rotation about z by the angle with the given cosine and sine."""

    cosine: Matrix
    sine: Matrix

    def __matmul__(self, x: Matrix) -> Matrix:
        c, s = self.cosine, self.sine
        return ca.vertcat(c * x[0, :] - s * x[1, :], s * x[0, :] + c * x[1, :], x[2, :])

    def after(self, other: AboutZ) -> AboutZ:
        """The rotation by both angles together."""
        c, s = self.cosine, self.sine
        return AboutZ(c * other.cosine - s * other.sine, s * other.cosine + c * other.sine)

    @property
    def T(self) -> AboutZ:
        return AboutZ(self.cosine, -self.sine)

    def conjugate(self, s: Matrix) -> Matrix:
        """R S Rᵀ: the 2 × 2 block [[a, b], [d, e]] needs one product t = s (a − e) + c (b + d) instead of four."""
        sine, cosine = self.sine, self.cosine
        a, b, d, e = s[0, 0], s[0, 1], s[1, 0], s[1, 1]
        t = sine * (a - e) + cosine * (b + d)
        last_column, last_row = (self @ s[:, 2])[:2], (self @ s[2, :].T)[:2].T
        block = spatial.rows((a - sine * t, cosine * t - d), (cosine * t - b, e + sine * t))
        return spatial.rows((block, last_column), (last_row, s[2, 2]))


@dataclass(frozen=True)
class Product(Rotation):
    """The outer rotation after the inner one."""

    outer: Rotation
    inner: Rotation

    def __matmul__(self, x: Matrix) -> Matrix:
        return self.outer @ (self.inner @ x)

    @property
    def T(self) -> Rotation:
        return Product(self.inner.T, self.outer.T)

    def conjugate(self, s: Matrix) -> Matrix:
        return self.outer.conjugate(self.inner.conjugate(s))


@dataclass(frozen=True)
class NoTurn(AboutZ):
    """The identity."""

    cosine: Matrix = field(default_factory=lambda: ca.DM(1))
    sine: Matrix = field(default_factory=lambda: ca.DM(1, 1))

    def __matmul__(self, x: Matrix) -> Matrix:
        return x

    @property
    def T(self) -> AboutZ:
        return self

    def conjugate(self, s: Matrix) -> Matrix:
        return s


NO_TURN = NoTurn()


def turns_about_z(joint: Joint) -> bool:
    """Whether the joint turns about the z axis of its link."""
    axis = joint.type.axis
    return axis is not None and joint.type.can_rotate and axis[:2] == (0.0, 0.0)


def is_parallel(joint: Joint) -> bool:
    """Whether the joint's frame and its parent's link frame share the direction of z."""
    z = spatial.constant(joint.rotation)[:, 2]
    return not z[:2].nnz() and z[2].is_constant() and float(z[2]) > 0


def fixed_turn(joint: Joint) -> AboutZ:
    """The constant rotation of a joint's frame in its parent's, where they share the direction of z."""
    fixed = spatial.constant(joint.rotation)
    return AboutZ(fixed[0, 0], fixed[1, 0])


def rotations_of(joint: Joint, q: Matrix) -> tuple[AboutZ, Rotation]:
    """T and F with R = F T of a joint's placement (link axes to the parent's): T a turn about z, or none."""
    fixed = spatial.constant(joint.rotation)
    turned, _ = joint.type.placement(joint.configuration(q))
    if turns_about_z(joint):
        return AboutZ(turned[0, 0], turned[1, 0]), Full(fixed)
    return NO_TURN, Full(fixed @ turned)
