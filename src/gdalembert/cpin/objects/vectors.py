"""Motions and forces: twists and wrenches, linear first."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.cpin.matrices import matrix
from gdalembert.cpin.objects.parts import Additive, MatrixPart, of_symbols
from gdalembert.cpin.objects.placements import SE3
from gdalembert.spatial.algebra import Matrix, skew


class _SpatialVector(Additive):
    """Two vectors: (linear, angular), or one column (6)."""

    _names = ("linear", "angular")
    _wanted = "(linear, angular), or one column (6)"
    _dual: ClassVar[type[Any]]
    linear = MatrixPart(3)
    angular = MatrixPart(3)

    def _set(self, *args: Any) -> None:
        column = matrix(type(self).__name__, args[0], 6) if args else ca.DM.zeros(6)
        self.linear, self.angular = column[:3], column[3:]

    @property
    def vector(self) -> Matrix:
        return ca.vertcat(self.linear, self.angular)

    @vector.setter
    def vector(self, column: Any) -> None:
        self._set(column)

    np = property(lambda self: self.vector)

    @abstractmethod
    def se3Action(self, M: Any) -> Any:
        """Transform this to the frame in which its own frame has the placement M."""

    def se3ActionInverse(self, M: Any) -> Any:
        return self.se3Action(SE3(M).inverse())

    def dot(self, other: Any) -> Matrix:
        """The power of a force on a motion."""
        return ca.dot(self.vector, self._dual(other).vector)

    def __add__(self, other: Any) -> Self:
        return type(self)(self.vector + type(self)(other).vector)

    def __sub__(self, other: Any) -> Self:
        return type(self)(self.vector - type(self)(other).vector)

    def __neg__(self) -> Self:
        return type(self)(-self.vector)

    def __mul__(self, factor: Any) -> Self:
        return type(self)(self.vector * matrix(f"{type(self).__name__}: factor", factor, 1))

    def __rmul__(self, other: Any) -> Any:
        return self * other if (product := super().__rmul__(other)) is NotImplemented else product

    def __truediv__(self, divisor: Any) -> Self:
        return type(self)(self.vector / matrix(f"{type(self).__name__}: divisor", divisor, 1))


class Motion(_SpatialVector):
    """A twist, or its rate: linear and angular (3 each), or one column (6)."""

    pin = pin.Motion

    @property
    def homogeneous(self) -> Matrix:
        """The matrix [[ω×], v; 0, 0] (4 × 4): the rate of a placement at the identity."""
        return spatial.twist(self.linear, self.angular)

    @property
    def action(self) -> Matrix:
        """The matrix [v×] (6 × 6) of motions; ``dualAction``, −[v×]ᵀ, is that of forces."""
        w = skew(self.angular)
        return ca.blockcat([[w, skew(self.linear)], [ca.DM(3, 3), w]])

    dualAction = property(lambda self: -self.action.T)

    def cross(self, other: Any) -> Any:
        """The cross product v × m with a motion, v ×* f with a force."""
        v, w = self.parts
        if isinstance(other := of_symbols(other), Force):
            force, moment = other.parts
            return Force(ca.cross(w, force), ca.cross(w, moment) + ca.cross(v, force))
        linear, angular = Motion(other).parts
        return Motion(ca.cross(w, linear) + ca.cross(v, angular), ca.cross(w, angular))

    __xor__ = cross

    def se3Action(self, M: Any) -> Motion:
        r, p = SE3(M).parts
        angular = r @ self.angular
        return Motion(r @ self.linear + ca.cross(p, angular), angular)


class Force(_SpatialVector):
    """A wrench: force and moment (3 each), or one column (6)."""

    pin = pin.Force
    _dual = Motion

    def se3Action(self, M: Any) -> Force:
        r, p = SE3(M).parts
        force = r @ self.linear
        return Force(force, r @ self.angular + ca.cross(p, force))


Motion._dual = Force
