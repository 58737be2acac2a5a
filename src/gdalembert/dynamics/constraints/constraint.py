"""What a robot can be held by: contacts with its surroundings, and loops between two of its frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.dynamics.constraints.constraint_types import ConstraintType, RowSelection, constraint_type
from gdalembert.dynamics.frames import find_frame
from gdalembert.errors import ArgumentError
from gdalembert.model.rounding import clean_matrix
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.algebra import Matrix, transform
from gdalembert.spatial.arguments import checked_transform, numbers, vector
from gdalembert.spatial.arrays import Array, ByValue, frozen


class Constraint(ABC):
    """A constraint on the motion of a frame; its forces act on the robot at that frame, in the axes of that frame.

    Attributes:
        name: for messages.
        kind: the name of its type, as ``"3D"`` or ``"6D"``. ``holds``: that type.
        stiffness, damping: of a stabilisation of its own [1/s², 1/s].
    """

    kind: str
    holds: ConstraintType
    stiffness: float = 0.0
    damping: float = 0.0

    @property
    @abstractmethod
    def name(self) -> str:
        """For messages."""

    @property
    def is_anchored(self) -> bool:
        """Whether it is known where the frame is held."""
        return True

    @abstractmethod
    def frames(self, tree: Tree) -> tuple[Frame, Frame]:
        """The two frames that are held together.

        Raises:
            UnknownNameError, ArgumentError, ArgumentTypeError: if a frame cannot be used.
        """


@dataclass(frozen=True, eq=False, init=False)
class Contact(ByValue, Constraint):
    """A frame of the robot that the surroundings hold.

    Args:
        frame: name, or index in ``model.frames``.
        kind: what is held:

            * ``"6D"``: the frame stands still.
            * ``"3D"``: the origin of the frame stands still, as a foot that cannot slip.
            * ``"2D"``: the origin slides along a line, ``direction=(x, y, z)``; by default along y.
            * ``"1D"``: the origin slides on a plane, ``normal=(x, y, z)``; by default along z.
            * ``"rolling"``: the frame is the centre of a ball of a ``radius`` [m], or of a wheel with an ``axle=(x, y,
              z)`` in the axes of the frame, which rolls without slip on a plane, ``normal=(x, y, z)``.

            ``rows=``, of ``"6D"`` and ``"3D"``: only these rows, of ``x, y, z, rx, ry, rz``, as ``("x", "z")`` of a
            robot in a plane. Lines, planes and rows are in the axes of the universe, and forces along them, too.
        anchor: where it is held, in the universe: a point (3) [m] if the frame may turn, of the ground if it rolls; a
            ``pin.SE3`` or 4 × 4 numbers. By default wherever the frame is: velocities and accelerations need nothing
            else, and :meth:`~gdalembert.ConstrainedDynamics.anchored` fills it in for what needs positions.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used.
    """

    frame: str | int
    kind: str
    anchor: Array | None
    options: tuple[tuple[str, Any], ...]
    holds: ConstraintType

    def __init__(self, frame: str | int, kind: str = "6D", anchor: Any = None, **options: Any) -> None:
        held = constraint_type(f"Contact({frame!r}, {kind!r})", kind, options)
        at = None if anchor is None else _anchor(f"Contact({frame!r}, {kind!r}): anchor", anchor, held)
        values = {"frame": frame, "kind": kind, "anchor": at, "options": _by_value(options), "holds": held}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        return f"Contact({', '.join([repr(self.frame), repr(self.kind), *_shown(self.options)])})"

    @property
    def is_anchored(self) -> bool:
        return self.anchor is not None

    def frames(self, tree: Tree) -> tuple[Frame, Frame]:
        frame = tree.frames[find_frame(tree, self.frame)]
        if frame.joint < 0:
            raise ArgumentError(f"{self.name}: no joint moves this frame; give a frame of a link that moves")
        at = np.eye(4) if self.anchor is None else self.anchor
        if isinstance(self.holds, RowSelection):  # rows stay in the axes of the universe, and the frame is turned
            if not self.holds.can_turn:
                frame = replace(frame, rotation=frozen(clean_matrix(frame.rotation @ at[:3, :3].T)))
            return frame, Frame("anchor", -1, frozen(np.eye(3)), frozen(at[:3, 3]))
        return frame, Frame("anchor", -1, frozen(at[:3, :3]), frozen(at[:3, 3]))

    def held_at(self, r: Matrix, x: Matrix) -> Contact:
        """The same with the anchor where the frame is placed in the universe, at R (3 × 3) and x (3)."""
        place = self.holds.touching_point(r, x) if isinstance(self.holds, RowSelection) else x
        anchor = ca.evalf(transform(r, place)).full()
        if not np.isfinite(anchor).all():
            raise ArgumentError(
                f"{self.name}: no point touches at this q, as of a wheel whose axle is along the normal; begin from "
                "another q"
            )
        return Contact(self.frame, self.kind, anchor, **dict(self.options))


@dataclass(frozen=True, init=False)
class Loop(Constraint):
    """Two frames of the robot that are held together, or one of which moves in a way that the other one prescribes.

    A URDF is a tree; a loop closes it: the pin of a four-bar linkage is a 3D loop, or a 6D loop between two links with
    one joint more; a pin in a slot is a 2D loop.

    Args:
        first, second: names, or indices in ``model.frames``; one of them may be fixed in the universe. Forces act on
            the first, and with the opposite sign on the second.
        kind, options: as of :class:`~gdalembert.Contact`; the first frame slides or rolls on what is fixed in the
            second, lines and planes going through its origin and being in its axes.

    Raises:
        ArgumentTypeError, ArgumentError: if an argument cannot be used.
    """

    first: str | int
    second: str | int
    kind: str
    options: tuple[tuple[str, Any], ...]
    holds: ConstraintType

    def __init__(self, first: str | int, second: str | int, kind: str = "6D", **options: Any) -> None:
        held = constraint_type(f"Loop({first!r}, {second!r}, {kind!r})", kind, options)
        values = {"first": first, "second": second, "kind": kind, "options": _by_value(options), "holds": held}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        return f"Loop({', '.join([repr(self.first), repr(self.second), repr(self.kind), *_shown(self.options)])})"

    def frames(self, tree: Tree) -> tuple[Frame, Frame]:
        first, second = (tree.frames[find_frame(tree, frame)] for frame in (self.first, self.second))
        check_two_links(self.name, first, second)
        return first, second


def check_two_links(name: str, first: Frame, second: Frame) -> None:
    """Refuse two frames that cannot move against each other."""
    if first.joint == second.joint:
        link = "the same link" if first.joint >= 0 else "the universe"
        raise ArgumentError(f"{name}: both frames are fixed in {link}; give frames of two links")


def _by_value(options: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Arguments of a kind, in the order of their names, with vectors as tuples."""
    return tuple((name, tuple(x) if isinstance(x, list | np.ndarray) else x) for name, x in sorted(options.items()))


def _shown(options: tuple[tuple[str, Any], ...]) -> list[str]:
    return [f"{name}={value!r}" for name, value in options]


def _anchor(what: str, given: Any, held: ConstraintType) -> Array:
    """The placement (4 × 4) of an anchor in the universe."""
    expected = "a pin.SE3 or 4 × 4 numbers"
    entries = numbers(what, getattr(given, "homogeneous", given), expected=expected, finite=False)
    if held.can_turn and (entries.ndim == 1 or entries.shape == (3, 1)):
        placement = np.eye(4)
        placement[:3, 3] = vector(what, entries, 3, names="xyz")
        return frozen(placement)
    return frozen(checked_transform(what, entries, expected=expected))
