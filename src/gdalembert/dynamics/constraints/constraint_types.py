"""Types of constraints: which rows of the motion of one frame against another are zero.

In the axes of the second frame of a pair let R and x be the orientation and the origin of the first frame, and
V = (v; ω) its twist about that origin. A type selects rows of it,

    E = S(R, x) V = 0                    dE/dt = S dV/dt + dS/dt V = 0

and its forces f are the wrench Sᵀ f on the first frame. Where rows are the rates of a residual c(R, x), as all but
those of wheels and balls that roll, c = 0 holds as well. A new type is one subclass of :class:`RowSelection`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.dynamics.constraints.friction_cones import axes_across, unit_vector
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import choice, number
from gdalembert.spatial.arrays import Array, ByValue
from gdalembert.spatial.lie.maps import rotation_log

TYPES: dict[str, type[ConstraintType]] = {}
"""Each type of constraint that has a ``name``, by that name: the kinds of contacts and loops."""


class ConstraintType(ABC):
    """The part of the motion of its first frame against the second that a constraint holds.

    A subclass with a ``name`` is a kind of :class:`~gdalembert.Contact` and :class:`~gdalembert.Loop`, whose further
    arguments are the fields of the dataclass.

    Attributes:
        name: the kind.
    """

    name: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            taken = TYPES.setdefault(cls.name, cls)
            if (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
                raise ArgumentError(f"{cls.__qualname__}: the kind {cls.name!r} is that of {taken.__qualname__}")
            TYPES[cls.name] = cls

    @property
    @abstractmethod
    def units(self) -> tuple[str, ...]:
        """Unit of each row of the residual, ``"m"`` or ``"rad"``."""

    @property
    def is_holonomic(self) -> tuple[bool, ...]:
        """True for each row that is the rate of a residual."""
        return (True,) * len(self.units)

    def force(self, f: Matrix, r: Matrix, x: Matrix) -> Matrix:
        """The force (3) of rows f on a first frame at R and x, in the axes of the second frame."""
        return r @ f[:3]

    @property
    def can_turn(self) -> bool:
        """True if the first frame may turn against the second in every way."""
        return "rad" not in self.units


@dataclass(frozen=True)
class Point3D(ConstraintType):
    """The origins of both frames are one point; rows are in the axes of the first frame."""

    name: ClassVar[str] = "3D"
    units: ClassVar[tuple[str, ...]] = ("m",) * 3


@dataclass(frozen=True)
class Frame6D(ConstraintType):
    """Both frames are one; rows are in the axes of the first frame.

    Attributes:
        is_world_aligned: whether the acceleration of two moving frames that are not at rest against each other is the
            difference of their accelerations in the universe, as Pinocchio takes it in LOCAL_WORLD_ALIGNED, and not the
            rate of the relative twist.
    """

    name: ClassVar[str] = "6D"
    units: ClassVar[tuple[str, ...]] = ("m",) * 3 + ("rad",) * 3
    is_world_aligned: bool = False


class RowSelection(ConstraintType):
    """A type that is described by its rows S(R, x) and its residual c(R, x)."""

    @abstractmethod
    def selection(self, r: Matrix, x: Matrix) -> Matrix:
        """Selection S (rows × 6), at R (3 × 3) and x (3)."""

    @abstractmethod
    def residual(self, r: Matrix, x: Matrix) -> Matrix:
        """Residual c, zero for rows that are no rates."""

    def force(self, f: Matrix, r: Matrix, x: Matrix) -> Matrix:
        return self.selection(r, x)[:, :3].T @ f

    def touching_point(self, r: Matrix, x: Matrix) -> Matrix:
        """The point (3), in the axes of the second frame, whose place a contact without an anchor keeps."""
        return x

    def selection_rate(self, r: Matrix, x: Matrix, v: Matrix, omega: Matrix) -> Matrix:
        """Rate dS/dt (rows × 6), as the first frame moves with V."""
        r_s, x_s = ca.SX.sym("R", 3, 3), ca.SX.sym("x", 3)
        at, moves = ca.veccat(r_s, x_s), ca.SX.sym("rates", 12)
        rows = ca.SX(self.selection(r_s, x_s))
        rates = ca.reshape(ca.jtimes(ca.vec(ca.densify(rows)), at, moves), rows.shape)
        graph = ca.Function("selection_rate", [r_s, x_s, moves], [ca.sparsify(rates)])
        return graph(r, x, ca.veccat(spatial.skew(omega) @ r, v))


ROWS = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class ChosenRows(RowSelection):
    """Some of the six displacements along, and rotations about, the axes of the second frame are zero."""

    rows: tuple[str, ...]  # of ``x, y, z, rx, ry, rz``, in this order

    @property
    def indices(self) -> list[int]:
        """The indices of the rows among the six."""
        return [ROWS.index(row) for row in self.rows]

    @property
    def units(self) -> tuple[str, ...]:
        return tuple("rad" if row.startswith("r") else "m" for row in self.rows)

    def selection(self, r: Matrix, x: Matrix) -> Matrix:
        return spatial.constant(np.eye(6)[self.indices])

    def residual(self, r: Matrix, x: Matrix) -> Matrix:
        displacement: Matrix = x if self.can_turn else ca.vertcat(x, rotation_log(r))
        return ca.vertcat(*(displacement[k] for k in self.indices))


class Sliding(RowSelection):
    """The origin of the first frame slides on a plane or along a line of the second frame, without friction."""

    @property
    @abstractmethod
    def across(self) -> Array:
        """The directions (rows × 3), in the axes of the second frame, in which the origin is held."""

    def selection(self, r: Matrix, x: Matrix) -> Matrix:
        return ca.horzcat(spatial.constant(self.across), ca.DM(len(self.across), 3))

    def residual(self, r: Matrix, x: Matrix) -> Matrix:
        return spatial.constant(self.across) @ x


@dataclass(frozen=True, eq=False)
class Plane(ByValue, Sliding):
    """The origin slides on a plane with a ``normal`` (3), in the axes of the second frame."""

    name: ClassVar[str] = "1D"
    units: ClassVar[tuple[str, ...]] = ("m",)
    normal: npt.ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "normal", unit_vector("normal", self.normal))

    @property
    def across(self) -> Array:
        return np.asarray(self.normal)[None, :]


@dataclass(frozen=True, eq=False)
class Line(ByValue, Sliding):
    """The origin slides along a line with a ``direction`` (3), in the axes of the second frame."""

    name: ClassVar[str] = "2D"
    units: ClassVar[tuple[str, ...]] = ("m", "m")
    direction: npt.ArrayLike = (0.0, 1.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", unit_vector("direction", self.direction))

    @property
    def across(self) -> Array:
        return axes_across(np.asarray(self.direction))


@dataclass(frozen=True, eq=False)
class Rolling(ByValue, RowSelection):
    """A wheel or a ball rolls without slip on a plane of the second frame, its centre the origin of the first frame.

    The point of it that touches the plane is at rest there, v + ω × d = 0. Of a ball d = −radius n, of a thin wheel
    with the axle a it is the point of the rim below the centre, d = −radius p / |p|, p = n − (n·a) a. The last row,
    along n, is the rate of the height of that point; the others have no residual.

    Attributes:
        radius: [m].
        axle: a (3), in the axes of the first frame; ``None`` for a ball.
        normal: n of the plane (3), in the axes of the second frame.
    """

    name: ClassVar[str] = "rolling"
    units: ClassVar[tuple[str, ...]] = ("m",) * 3
    radius: float
    axle: npt.ArrayLike | None = None
    normal: npt.ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", number("radius", self.radius, "m"))
        object.__setattr__(self, "normal", unit_vector("normal", self.normal))
        if self.axle is not None:
            object.__setattr__(self, "axle", unit_vector("axle", self.axle))

    @property
    def is_holonomic(self) -> tuple[bool, ...]:
        return (False, False, True)

    def _lever(self, r: Matrix) -> Matrix:
        """The lever d (3), from the centre to the point that touches, in the axes of the second frame."""
        n = spatial.constant(self.normal)
        if self.axle is None:
            return -self.radius * n
        axle = r @ spatial.constant(self.axle)
        below = n - ca.dot(n, axle) * axle
        return -self.radius * below / ca.norm_2(below)

    def selection(self, r: Matrix, x: Matrix) -> Matrix:
        axes = spatial.constant(np.vstack([axes_across(np.asarray(self.normal)), self.normal]))
        return axes @ ca.horzcat(ca.DM.eye(3), -spatial.skew(self._lever(r)))

    def residual(self, r: Matrix, x: Matrix) -> Matrix:
        return ca.vertcat(ca.DM(2, 1), ca.dot(spatial.constant(self.normal), self.touching_point(r, x)))

    def touching_point(self, r: Matrix, x: Matrix) -> Matrix:
        return x + self._lever(r)


def constraint_type(context: str, kind: str, options: Mapping[str, Any]) -> ConstraintType:
    """The type of a contact or loop, by its name, with further arguments by name; messages begin with the context."""
    choice(f"{context}: kind", kind, tuple(sorted(TYPES)))
    if "rows" in options and kind in (Point3D.name, Frame6D.name):
        if others := [name for name in options if name != "rows"]:
            raise ArgumentTypeError(f"{context}: rows= goes without {', '.join(others)}; drop one of them")
        rows, some = options["rows"], ROWS[: int(kind[0])]
        if isinstance(rows, str) or not isinstance(rows, Sequence) or not rows:
            raise ArgumentTypeError(
                f"{context}: rows: got {shown(rows)}; give some of {', '.join(some)}, as ('x', 'z')"
            )
        for row in rows:
            choice(f"{context}: rows", row, some)
        if len(set(rows)) < len(rows):
            raise ArgumentError(f"{context}: rows: got {shown(rows)}; give each row once")
        return ChosenRows(tuple(row for row in some if row in rows))
    kind_class: Any = TYPES[kind]  # a dataclass, as all of them are
    known = {field.name: field.default is MISSING for field in fields(kind_class) if field.init}
    for name in options:
        if name not in known:
            raise ArgumentTypeError(f"{context}: {kind!r} takes no {name}; drop it")
    for name, is_needed in known.items():
        if is_needed and name not in options:
            raise ArgumentTypeError(f"{context}: {kind!r} needs {name}; give it")
    try:
        held = TYPES[kind](**options)
    except (ArgumentTypeError, ArgumentError) as error:
        raise type(error)(f"{context}: {error}") from None
    if isinstance(held, RowSelection):
        _check_shapes(context, held)
    return held


def _check_shapes(context: str, held: RowSelection) -> None:
    """Refuse S and c whose rows are not those of the units."""
    at, n = (ca.SX.sym("R", 3, 3), ca.SX.sym("x", 3)), len(held.units)
    for name, wanted in (("selection", (n, 6)), ("residual", (n, 1))):
        shape = ca.SX(getattr(held, name)(*at)).shape
        if shape != wanted:
            raise ArgumentError(f"{context}: {name} has the shape {shape}; of {n} units it must have {wanted}")
