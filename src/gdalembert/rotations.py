"""Rotations that are applied rather than multiplied out: R = F R_z(q) touches two components, then F, a constant.

They are written like matrices: ``r @ x``, ``r.T @ x``, and ``r.conjugate(s)`` for R S Rᵀ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca

from gdalembert import spatial
from gdalembert.joints import Helical, Revolute
from gdalembert.spatial import Matrix
from gdalembert.tree import Joint


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
    """A rotation with nothing special about it."""

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

    @property
    def T(self) -> Rotation:
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
    """First the second, then the first."""

    first: Rotation
    second: Rotation

    def __matmul__(self, x: Matrix) -> Matrix:
        return self.first @ (self.second @ x)

    @property
    def T(self) -> Rotation:
        return Product(self.second.T, self.first.T)

    def conjugate(self, s: Matrix) -> Matrix:
        return self.first.conjugate(self.second.conjugate(s))


def turns_about_z(joint: Joint) -> bool:
    """Whether the joint turns about the z axis of its link."""
    return isinstance(joint.type, Revolute | Helical) and joint.type.axis == (0.0, 0.0, 1.0)


def rotations_of(joint: Joint, q: Matrix) -> tuple[Rotation, Rotation]:
    """T and F with R = F T of a joint's placement (link axes to the parent's): T a turn about z, or none."""
    fixed = spatial.constant(joint.rotation)
    turned, _ = joint.type.placement(joint.configuration(q))
    if turns_about_z(joint):
        return AboutZ(turned[0, 0], turned[1, 0]), Full(fixed)
    return Full(ca.DM.eye(3)), Full(fixed @ turned)
