"""Placements, and frames that are placed on links."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import casadi as ca
import pinocchio as pin

from gdalembert import spatial
from gdalembert.cpin.calls import taken
from gdalembert.cpin.matrices import matrix
from gdalembert.cpin.objects.parts import MatrixPart, SpatialObject, filled, of_symbols
from gdalembert.cpin.objects.rotations import Quaternion
from gdalembert.errors import ArgumentTypeError
from gdalembert.spatial.algebra import Matrix, skew
from gdalembert.spatial.brief import LONGEST, brief
from gdalembert.spatial.lie import maps


class SE3(SpatialObject):
    """A placement: rotation (3 × 3, or a quaternion) and translation (3, m), or a matrix (4 × 4)."""

    pin = pin.SE3
    _names = ("rotation", "translation")
    _wanted = "(rotation, translation), or one matrix (4 × 4)"
    rotation = MatrixPart(3, 3)
    translation = MatrixPart(3)

    def __init__(self, *args: Any, **parts: Any) -> None:
        if len(args) == 2 and isinstance(turn := of_symbols(args[0]), Quaternion):
            args = turn.matrix(), args[1]
        super().__init__(*args, **parts)

    def _set(self, *args: Any) -> None:
        is_identity = not args or isinstance(args[0], int)  # Pinocchio's SE3(1)
        transform = ca.DM.eye(4) if is_identity else matrix("SE3", args[0], 4, 4)
        self.rotation, self.translation = transform[:3, :3], transform[:3, 3]

    @classmethod
    def later(cls, rotation: Callable[[], Matrix], translation: Callable[[], Matrix]) -> SE3:
        """A placement whose parts are made when they are first read."""
        placed = cls.__new__(cls)
        placed._later = {"rotation": rotation, "translation": translation}
        return placed

    Identity, setIdentity = filled("Identity")
    Random, setRandom = filled("Random")

    @classmethod
    def Interpolate(cls, A: Any, B: Any, alpha: Any) -> SE3:
        """The placement at ``alpha`` on the screw motion from A (0) to B (1)."""
        way = maps.motion_log(cls(A).actInv(cls(B)).homogeneous)
        return cls(maps.motion_exp(matrix("SE3.Interpolate: alpha", alpha, 1) * way)).se3Action(cls(A))

    @property
    def homogeneous(self) -> Matrix:
        return spatial.transform(self.rotation, self.translation)

    @property
    def action(self) -> Matrix:
        """The matrix X (6 × 6) of twists; ``dualAction``, X⁻ᵀ, is that of wrenches."""
        r = self.rotation
        return ca.blockcat([[r, skew(self.translation) @ r], [ca.DM(3, 3), r]])

    np = homogeneous
    actionInverse = property(lambda self: self.inverse().action)
    dualAction = property(lambda self: self.actionInverse.T)

    def toActionMatrix(self) -> Matrix:
        return self.action

    def toActionMatrixInverse(self) -> Matrix:
        return self.actionInverse

    def toDualActionMatrix(self) -> Matrix:
        return self.dualAction

    def inverse(self) -> SE3:
        return SE3(self.rotation.T, -self.rotation.T @ self.translation)

    __invert__ = inverse

    def act(self, x: Any) -> Any:
        """Transform an object, or a point (3), from this frame to the frame that this one is placed in."""
        if hasattr(x := of_symbols(x), "se3Action"):
            return x.se3Action(self)
        return self.rotation @ matrix("SE3.act", x, 3) + self.translation

    __mul__ = __matmul__ = act

    def actInv(self, x: Any) -> Any:
        """Transform an object, or a point (3), back: the inverse of :meth:`act`."""
        if hasattr(x := of_symbols(x), "se3ActionInverse"):
            return x.se3ActionInverse(self)
        return self.rotation.T @ (matrix("SE3.actInv", x, 3) - self.translation)

    def se3Action(self, M: SE3) -> SE3:
        return SE3(M.rotation @ self.rotation, M.translation + M.rotation @ self.translation)

    def se3ActionInverse(self, M: SE3) -> SE3:
        r = M.rotation.T
        return SE3(r @ self.rotation, r @ (self.translation - M.translation))

    def isIdentity(self, prec: float = 1e-12) -> bool:
        return self.isApprox(SE3(), prec)


class Frame:
    """A frame fixed to a link: (name, parentJoint, placement, type), as of ``pin.Frame``, or another frame.

    Attributes:
        placement: in the axes of the joint, which may have symbols.
        pin: the ``pin.Frame`` that has everything else, in numbers.
    """

    placement: SE3

    def __init__(self, *args: Any) -> None:
        placements = [x for x in args if isinstance(x, SE3 | pin.SE3)]
        if len(args) == 1 and isinstance(args[0], Frame | pin.Frame):
            placements = [args[0].placement]
            frame = pin.Frame(args[0].pin if isinstance(args[0], Frame) else args[0])
        elif len(args) == 1:
            raise ArgumentTypeError(f"Frame: got a {type(args[0]).__name__}; give a Frame, or its parts")
        elif len(placements) != 1:
            raise ArgumentTypeError("Frame: got no placement; give (name, parentJoint, placement, type)")
        else:
            numbers = (pin.SE3.Identity() if x is placements[0] else _number(x) for x in args)
            frame = taken("Frame", pin.Frame, *numbers)
        self.__dict__["pin"] = frame
        self.placement = placements[0]

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" or name == "cast":  # which would lose symbols
            raise AttributeError(f"Frame has no attribute {name!r}", name=name, obj=self)
        return getattr(self.__dict__["pin"], name)

    def __setattr__(self, name: str, x: Any) -> None:
        if name == "placement":
            self.__dict__[name] = SE3(x)
        else:
            taken(f"Frame.{name}", partial(setattr, self.pin, name), _number(x))

    @property
    def parts(self) -> tuple[Matrix, ...]:
        return self.placement.parts

    def copy(self) -> Frame:
        return Frame(self)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Frame:
        return self.copy()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frame | pin.Frame):
            return NotImplemented
        frames = Frame(self), Frame(other)
        for frame in frames:
            frame.pin.placement = pin.SE3.Identity()
        return bool(frames[0].pin == frames[1].pin) and self.placement == frames[1].placement

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return f"Frame({self.name!r}, {self.parentJoint}, {self.placement}, {self.type})"

    def __repr__(self) -> str:
        parts = {name: getattr(self, name) for name in ("name", "parentJoint", "placement")}
        return text if len(text := str(self)) <= LONGEST else brief(self, parts)


def _number(x: Any) -> Any:
    """Convert an object without symbols to Pinocchio's; anything else passes as it is."""
    return x.numbers() if isinstance(x, SpatialObject) else x
