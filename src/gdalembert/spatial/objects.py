"""Placements, motions, forces, inertias and quaternions of SX, MX and numbers, with Pinocchio's names and operators.

Each is made of its parts, of one matrix, or of another object, Pinocchio's too. Twists and wrenches are linear first, a
quaternion has the coefficients (x, y, z, w). Numbers stay numbers (DM), so that they meet SX and MX alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert import spatial
from gdalembert.errors import ArgumentTypeError, UnknownNameError, UnsupportedError
from gdalembert.spatial.algebra import Matrix, skew
from gdalembert.spatial.arguments import taken
from gdalembert.spatial.lie import maps
from gdalembert.spatial.matrices import is_constant, matrix, number_of, shape_of

__all__ = ["SE3", "AngleAxis", "Force", "Frame", "Inertia", "Motion", "Quaternion", "Symmetric3"]

AngleAxis = pin.AngleAxis


class _Part:
    """A matrix of an object, checked when it is set; one that was put off is made when it is first read."""

    def __init__(self, rows: int, columns: int = 1) -> None:
        self._shape = rows, columns

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, x: Any, owner: type | None = None) -> Any:
        if self._name not in x.__dict__:
            x.__dict__[self._name] = x._later[self._name]()
        return x.__dict__[self._name]

    def __set__(self, x: Any, given: Any) -> None:
        own = matrix(f"{type(x).__name__}.{self._name}", given, *self._shape)
        x.__dict__[self._name] = type(own)(own)  # which CasADi would change where an entry of what was given is set


class Spatial(ABC):
    """An object of parts, which Pinocchio's class ``pin`` names alike."""

    pin: ClassVar[Any]
    _names: ClassVar[tuple[str, ...]]
    _later: dict[str, Callable[[], Matrix]]

    def __init__(self, *given: Any, **parts: Any) -> None:
        given += tuple(parts.pop(name) for name in self._names[len(given) :] if name in parts)
        if parts:
            raise UnknownNameError(f"part of {type(self).__name__}", next(iter(parts)), self._names)
        if len(given) == len(self._names) > 1:
            for name, part in zip(self._names, given, strict=True):
                setattr(self, name, part)
        elif len(given) == 1 and isinstance(given[0], type(self) | self.pin):
            for name in self._names:
                setattr(self, name, getattr(given[0], name))
        elif len(given) > 1 or isinstance(given[0] if given else None, Spatial):
            got = ", ".join(type(x).__name__ for x in given)
            raise ArgumentTypeError(f"{type(self).__name__}: got ({got}); give ({', '.join(self._names)})")
        else:
            self._set(*given)

    @abstractmethod
    def _set(self, *given: Any) -> None:
        """Read the parts of one matrix; without one, of the neutral object."""

    @property
    @abstractmethod
    def np(self) -> Matrix:
        """All of it in one matrix."""

    @property
    def parts(self) -> tuple[Matrix, ...]:
        return tuple(getattr(self, name) for name in self._names)

    def numbers(self) -> Any:
        """Pinocchio's object, where all parts are numbers.

        Raises:
            UnsupportedError: if there are symbols.
        """
        if not all(map(is_constant, self.parts)):
            raise UnsupportedError(f"{type(self).__name__}: has symbols, which have no value yet; give numbers here")
        return self.pin(*map(number_of, self.parts))

    def copy(self) -> Self:
        return type(self)(self)

    def isApprox(self, other: Any, prec: float = 1e-12) -> bool:
        return bool(self.numbers().isApprox(type(self)(other).numbers(), prec))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.parts))})"


class SE3(Spatial):
    """A placement: rotation (3 × 3, or a quaternion) and translation (3, m), or a matrix (4 × 4)."""

    pin = pin.SE3
    _names = ("rotation", "translation")
    rotation = _Part(3, 3)
    translation = _Part(3)

    def __init__(self, *given: Any, **parts: Any) -> None:
        if len(given) == 2 and isinstance(given[0], Quaternion | pin.Quaternion):
            given = Quaternion(given[0]).matrix(), given[1]
        super().__init__(*given, **parts)

    def _set(self, *given: Any) -> None:
        placed = matrix("SE3", given[0], 4, 4) if given else ca.DM.eye(4)
        self.rotation, self.translation = placed[:3, :3], placed[:3, 3]

    @classmethod
    def later(cls, rotation: Callable[[], Matrix], translation: Callable[[], Matrix]) -> SE3:
        """A placement whose parts are made when they are first read."""
        placed = cls.__new__(cls)
        placed._later = {"rotation": rotation, "translation": translation}
        return placed

    @classmethod
    def Identity(cls) -> SE3:
        return cls()

    @classmethod
    def Random(cls) -> SE3:
        return cls(pin.SE3.Random())

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
        """X (6 × 6) of twists; ``dualAction``, X⁻ᵀ, is that of wrenches."""
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

    def act(self, x: Any) -> Any:
        """What is seen from this frame, seen from the frame that this one is placed in: an object, or a point (3)."""
        for kind in (SE3, Motion, Force, Inertia):
            if isinstance(x, kind | kind.pin):
                return kind(x).se3Action(self)
        return self.rotation @ matrix("SE3.act", x, 3) + self.translation

    __mul__ = __matmul__ = act

    def actInv(self, x: Any) -> Any:
        """What :meth:`act` gives x of."""
        if isinstance(x, Motion | Force | Inertia | Motion.pin | Force.pin | Inertia.pin):
            return self.inverse().act(x)
        r, p = self.rotation.T, self.translation
        if not isinstance(x, SE3 | pin.SE3):
            return r @ (matrix("SE3.actInv", x, 3) - p)
        return SE3(r @ SE3(x).rotation, r @ (SE3(x).translation - p))

    def se3Action(self, placed: SE3) -> SE3:
        r = placed.rotation
        return SE3(r @ self.rotation, placed.translation + r @ self.translation)

    def setIdentity(self) -> None:
        self._set()

    def isIdentity(self, prec: float = 1e-12) -> bool:
        return self.isApprox(SE3(), prec)


class _Pair(Spatial):
    """Two vectors: (linear, angular), or one column (6)."""

    _names = ("linear", "angular")
    _other: ClassVar[type[Any]]
    linear = _Part(3)
    angular = _Part(3)

    def _set(self, *given: Any) -> None:
        if given and isinstance(given[0], self._other.pin):
            raise ArgumentTypeError(f"{type(self).__name__}: got a {self._other.__name__}; it is of the other kind")
        column = matrix(type(self).__name__, given[0], 6) if given else ca.DM.zeros(6)
        self.linear, self.angular = column[:3], column[3:]

    @classmethod
    def Zero(cls) -> Self:
        return cls()

    @classmethod
    def Random(cls) -> Self:
        return cls(cls.pin.Random())

    @property
    def vector(self) -> Matrix:
        return ca.vertcat(self.linear, self.angular)

    @vector.setter
    def vector(self, column: Any) -> None:
        self._set(column)

    np = vector

    def setZero(self) -> None:
        self._set()

    def isZero(self, prec: float = 1e-12) -> bool:
        return all(map(is_constant, self.parts)) and bool(self.numbers().isZero(prec))

    @abstractmethod
    def se3Action(self, placed: Any) -> Any:
        """This, seen from the frame that another one is placed in."""

    def se3ActionInverse(self, placed: Any) -> Any:
        return self.se3Action(SE3(placed).inverse())

    def dot(self, other: Any) -> Matrix:
        """The power of a wrench on a twist."""
        return ca.dot(self.vector, self._other(other).vector)

    def __add__(self, other: Any) -> Self:
        return type(self)(self.vector + type(self)(other).vector)

    def __sub__(self, other: Any) -> Self:
        return type(self)(self.vector - type(self)(other).vector)

    def __neg__(self) -> Self:
        return type(self)(-self.vector)

    def __mul__(self, factor: Any) -> Self:
        return type(self)(self.vector * matrix(f"{type(self).__name__}: factor", factor, 1))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Self:
        return type(self)(self.vector / matrix(f"{type(self).__name__}: divisor", divisor, 1))


class Motion(_Pair):
    """A twist, or its rate: linear and angular (3 each), or one column (6)."""

    pin = pin.Motion

    @property
    def action(self) -> Matrix:
        """[v×] (6 × 6) of motions; ``dualAction``, −[v×]ᵀ, is that of forces."""
        w = skew(self.angular)
        return ca.blockcat([[w, skew(self.linear)], [ca.DM(3, 3), w]])

    dualAction = property(lambda self: -self.action.T)

    def cross(self, other: Any) -> Any:
        """v × m of a motion, v ×* f of a force."""
        v, w = self.parts
        if isinstance(other, Force | pin.Force):
            force, moment = Force(other).parts
            return Force(ca.cross(w, force), ca.cross(w, moment) + ca.cross(v, force))
        linear, angular = Motion(other).parts
        return Motion(ca.cross(w, linear) + ca.cross(v, angular), ca.cross(w, angular))

    __xor__ = cross

    def se3Action(self, placed: Any) -> Motion:
        r, p = SE3(placed).parts
        angular = r @ self.angular
        return Motion(r @ self.linear + ca.cross(p, angular), angular)


class Force(_Pair):
    """A wrench: force and moment (3 each), or one column (6)."""

    pin = pin.Force
    _other = Motion

    def se3Action(self, placed: Any) -> Force:
        r, p = SE3(placed).parts
        force = r @ self.linear
        return Force(force, r @ self.angular + ca.cross(p, force))


Motion._other = Force


class Symmetric3(Spatial):
    """A symmetric matrix (3 × 3), or its entries xx, xy, yy, xz, yz, zz."""

    pin = pin.Symmetric3
    _names = ("_matrix",)
    _matrix = _Part(3, 3)

    def __init__(self, *given: Any) -> None:
        if len(given) == 6:
            given = (list(given),)
        if len(given) == 1 and isinstance(given[0], Symmetric3 | pin.Symmetric3):
            given = (given[0].matrix(),)
        super().__init__(*given)

    def _set(self, *given: Any) -> None:
        if given and shape_of(given[0]) == (3, 3):
            self._matrix = spatial.symmetric(matrix("Symmetric3", given[0], 3, 3))
        else:
            xx, xy, yy, xz, yz, zz = ca.vertsplit(matrix("Symmetric3", given[0], 6) if given else ca.DM.zeros(6))
            self._matrix = spatial.rows((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))

    def matrix(self) -> Matrix:
        return self._matrix

    np = property(matrix)

    @property
    def data(self) -> Matrix:
        return ca.vertcat(*(self._matrix[i, k] for i in range(3) for k in range(i + 1)))

    def rotate(self, R: Any) -> Symmetric3:
        return Symmetric3(spatial.congruence(matrix("Symmetric3.rotate", R, 3, 3), self._matrix))

    def rhsMult(self, v: Any) -> Matrix:
        return self._matrix @ matrix("Symmetric3.rhsMult", v, 3)

    __mul__ = rhsMult

    def vtiv(self, v: Any) -> Matrix:
        return ca.dot(matrix("Symmetric3.vtiv", v, 3), self.rhsMult(v))

    def __add__(self, other: Any) -> Symmetric3:
        return Symmetric3(self._matrix + Symmetric3(other).matrix())

    def __sub__(self, other: Any) -> Symmetric3:
        return Symmetric3(self._matrix - Symmetric3(other).matrix())


def _scalars(what: str, *given: Any) -> list[Matrix]:
    """Numbers or symbols, one each."""
    return [matrix(what, x, 1) for x in given]


class Inertia(Spatial):
    """A body: mass [kg], centre of mass ``lever`` (3, m), and ``inertia`` about it (3 × 3, kg m²)."""

    pin = pin.Inertia
    _names = ("mass", "lever", "inertia")
    mass = _Part(1)
    lever = _Part(3)
    inertia = _Part(3, 3)

    def __init__(self, *given: Any, **parts: Any) -> None:
        if len(given) == 3:
            given = *given[:2], Symmetric3(given[2]).matrix()
        super().__init__(*given, **parts)

    def _set(self, *given: Any) -> None:
        if given:
            raise ArgumentTypeError("Inertia: give (mass, lever, inertia about the centre of mass), or an Inertia")
        self.mass, self.lever, self.inertia = 0.0, [0.0] * 3, ca.DM.zeros(3, 3)

    @classmethod
    def Zero(cls) -> Inertia:
        return cls()

    @classmethod
    def Identity(cls) -> Inertia:
        return cls(pin.Inertia.Identity())

    @classmethod
    def Random(cls) -> Inertia:
        return cls(pin.Inertia.Random())

    @classmethod
    def FromDynamicParameters(cls, parameters: Any) -> Inertia:
        """Of m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin."""
        p = matrix("Inertia.FromDynamicParameters", parameters, 10)
        c = p[1:4] / p[0]
        return cls(p[0], c, Symmetric3(p[4:]).matrix() + p[0] * (skew(c) @ skew(c)))

    @classmethod
    def FromEllipsoid(cls, mass: Any, x: Any, y: Any, z: Any) -> Inertia:
        """A solid ellipsoid by its half axes; FromSphere by its radius, FromBox by its edges."""
        mass, x, y, z = _scalars("Inertia of a solid", mass, x, y, z)
        return cls(mass, [0.0] * 3, mass / 5 * ca.diag(ca.vertcat(y * y + z * z, x * x + z * z, x * x + y * y)))

    @classmethod
    def FromSphere(cls, mass: Any, radius: Any) -> Inertia:
        return cls.FromEllipsoid(mass, radius, radius, radius)

    @classmethod
    def FromBox(cls, mass: Any, x: Any, y: Any, z: Any) -> Inertia:
        scale, (x, y, z) = (5 / 12) ** 0.5, _scalars("Inertia.FromBox", x, y, z)
        return cls.FromEllipsoid(mass, scale * x, scale * y, scale * z)

    @classmethod
    def FromCylinder(cls, mass: Any, radius: Any, length: Any) -> Inertia:
        """A cylinder along z."""
        mass, radius, length = _scalars("Inertia.FromCylinder", mass, radius, length)
        across = radius * radius / 4 + length * length / 12
        return cls(mass, [0.0] * 3, mass * ca.diag(ca.vertcat(across, across, radius * radius / 2)))

    def matrix(self) -> Matrix:
        """6 × 6, about the origin."""
        m, c = self.mass, skew(self.lever)
        return ca.blockcat([[m * ca.DM.eye(3), -m * c], [m * c, self.inertia - m * (c @ c)]])

    np = property(matrix)

    def toDynamicParameters(self) -> Matrix:
        m, c = self.mass, skew(self.lever)
        return ca.vertcat(m, m * self.lever, Symmetric3(self.inertia - m * (c @ c)).data)

    def se3Action(self, placed: Any) -> Inertia:
        r, p = SE3(placed).parts
        return Inertia(self.mass, p + r @ self.lever, spatial.congruence(r, self.inertia))

    def se3ActionInverse(self, placed: Any) -> Inertia:
        return self.se3Action(SE3(placed).inverse())

    def __add__(self, other: Any) -> Inertia:
        """Both bodies as one."""
        more = Inertia(other)
        for body, rest in ((self, more), (more, self)):
            if all(map(is_constant, body.parts)) and body.numbers().isZero(0.0):
                return rest.copy()
        return Inertia.FromDynamicParameters(self.toDynamicParameters() + more.toDynamicParameters())

    def __mul__(self, v: Any) -> Force:
        """The momentum of a twist."""
        linear, angular = Motion(v).parts
        force = self.mass * (linear + ca.cross(angular, self.lever))
        return Force(force, self.inertia @ angular + ca.cross(self.lever, force))

    def vxiv(self, v: Any) -> Any:
        return Motion(v).cross(self * v)

    def vtiv(self, v: Any) -> Matrix:
        return Motion(v).dot(self * v)

    def vxi(self, v: Any) -> Matrix:
        return Motion(v).dualAction @ self.matrix()

    def ivx(self, v: Any) -> Matrix:
        return self.matrix() @ Motion(v).action


class Quaternion(Spatial):
    """A quaternion: (w, x, y, z), its coefficients (x, y, z, w), a rotation matrix (3 × 3), or an AngleAxis."""

    pin = pin.Quaternion
    _names = ("_coefficients",)
    _coefficients = _Part(4)

    def __init__(self, *given: Any) -> None:
        if len(given) == 4:
            given = (ca.vertcat(*given[1:], given[0]),)
        if len(given) == 1 and isinstance(given[0], Quaternion | pin.Quaternion):
            given = (given[0].coeffs(),)
        super().__init__(*given)

    def _set(self, *given: Any) -> None:
        turn = given[0].matrix() if given and isinstance(given[0], pin.AngleAxis) else given[0] if given else np.eye(3)
        if shape_of(turn) == (3, 3):
            turn = maps.quaternion_of(matrix("Quaternion", turn, 3, 3))
        self._coefficients = turn

    @classmethod
    def Identity(cls) -> Quaternion:
        return cls()

    def coeffs(self) -> Matrix:
        return self._coefficients

    np = property(coeffs)
    x = property(lambda self: self._coefficients[0])
    y = property(lambda self: self._coefficients[1])
    z = property(lambda self: self._coefficients[2])
    w = property(lambda self: self._coefficients[3])

    def vec(self) -> Matrix:
        return self._coefficients[:3]

    def matrix(self) -> Matrix:
        return maps.quaternion_rotation(self._coefficients)

    toRotationMatrix = matrix

    def conjugate(self) -> Quaternion:
        return Quaternion(maps.quaternion_conjugate(self._coefficients))

    def squaredNorm(self) -> Matrix:
        return ca.sumsqr(self._coefficients)

    def norm(self) -> Matrix:
        return ca.norm_2(self._coefficients)

    def inverse(self) -> Quaternion:
        return Quaternion(self.conjugate().coeffs() / self.squaredNorm())

    def normalized(self) -> Quaternion:
        return Quaternion(self._coefficients / self.norm())

    def normalize(self) -> Quaternion:
        self._coefficients = self.normalized().coeffs()
        return self

    def dot(self, other: Any) -> Matrix:
        return ca.dot(self._coefficients, Quaternion(other).coeffs())

    def __mul__(self, other: Any) -> Any:
        """A quaternion, or a vector (3) turned by this one."""
        if isinstance(other, Quaternion | pin.Quaternion):
            return Quaternion(maps.quaternion_product(self._coefficients, Quaternion(other).coeffs()))
        return self.matrix() @ matrix("Quaternion.__mul__", other, 3)


class Frame:
    """A frame fixed to a link: (name, parentJoint, placement, type), as of ``pin.Frame``, or another frame.

    Attributes:
        pin: the ``pin.Frame`` that has everything else.
    """

    def __init__(self, *given: Any) -> None:
        if len(given) == 1:
            placement = getattr(given[0], "placement", None)
            if placement is None:
                raise ArgumentTypeError(f"Frame: got a {type(given[0]).__name__}; give a Frame, or its parts")
            self.pin = pin.Frame(getattr(given[0], "pin", given[0]))
        else:
            placement = next((x for x in given if isinstance(x, SE3 | pin.SE3)), None)
            if placement is None:
                raise ArgumentTypeError("Frame: got no placement; give (name, parentJoint, placement, type)")
            self.pin = taken("Frame", pin.Frame, *(pin.SE3.Identity() if x is placement else x for x in given))
        self.placement = SE3(placement)

    def __getattr__(self, name: str) -> Any:
        return object.__getattribute__(self, name) if name[:2] == "__" else getattr(self.__dict__["pin"], name)

    @property
    def parts(self) -> tuple[Matrix, ...]:
        return self.placement.parts
