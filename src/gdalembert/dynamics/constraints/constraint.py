"""What a robot can be held by: contacts with its surroundings, and loops between two of its frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdalembert.dynamics.frames import find_frame
from gdalembert.errors import ArgumentError
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.arguments import checked_transform, choice, numbers, vector
from gdalembert.spatial.arrays import Array, ByValue, frozen

KINDS = ("3D", "6D")
"""A point is held in three directions, a frame in six."""


class Constraint(ABC):
    """A constraint on the motion of a frame; its forces act on the robot at that frame, in the axes of that frame.

    Attributes:
        name: for messages.
        kind: ``"3D"`` or ``"6D"``.
        stiffness, damping: of a stabilisation of its own [1/s², 1/s].
        is_world_aligned: whether the acceleration of two moving frames (6D) that are not at rest against each other is
            the difference of their accelerations in the universe, and not the rate of the relative twist.
    """

    kind: str
    stiffness: float = 0.0
    damping: float = 0.0
    is_world_aligned: bool = False

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


@dataclass(frozen=True, eq=False)
class Contact(ByValue, Constraint):
    """A frame of the robot that the surroundings hold: a point of it (3D), or all of it (6D).

    Args:
        frame: name, or index in ``model.frames``.
        kind: ``"3D"``: the origin of the frame stands still, as a foot that cannot slip; ``"6D"``: the frame does.
        anchor: where it is held, in the universe: a point (3) [m] for a 3D contact; a ``pin.SE3`` or 4 × 4 numbers.
            By default wherever the frame is: velocities and accelerations need nothing else, and
            :meth:`~gdalembert.ConstrainedDynamics.anchored` fills it in for what needs positions.

    Raises:
        ArgumentTypeError, ArgumentError: if ``kind`` or ``anchor`` cannot be used.
    """

    frame: str | int
    kind: str = "6D"
    anchor: Any = None

    def __post_init__(self) -> None:
        choice(f"{self.name}: kind", self.kind, KINDS)
        if self.anchor is not None:
            object.__setattr__(self, "anchor", _anchor(f"{self.name}: anchor", self.anchor, self.kind))

    @property
    def name(self) -> str:
        return f"Contact({self.frame!r}, {self.kind!r})"

    @property
    def is_anchored(self) -> bool:
        return self.anchor is not None

    def frames(self, tree: Tree) -> tuple[Frame, Frame]:
        frame = tree.frames[find_frame(tree, self.frame)]
        if frame.joint < 0:
            raise ArgumentError(f"{self.name}: no joint moves this frame; give a frame of a link that moves")
        at = np.eye(4) if self.anchor is None else self.anchor
        return frame, Frame("anchor", -1, frozen(at[:3, :3]), frozen(at[:3, 3]))


@dataclass(frozen=True)
class Loop(Constraint):
    """Two frames of the robot that are held together: their origins (3D), or the frames (6D).

    A URDF is a tree; a loop closes it: the pin of a four-bar linkage is a 3D loop, or a 6D loop between two links with
    one joint more.

    Args:
        first, second: names, or indices in ``model.frames``; one of them may be fixed in the universe. Forces act on
            the first, in its axes, and with the opposite sign on the second.
        kind: ``"3D"`` or ``"6D"``.

    Raises:
        ArgumentTypeError, ArgumentError: if ``kind`` cannot be used.
    """

    first: str | int
    second: str | int
    kind: str = "6D"

    def __post_init__(self) -> None:
        choice(f"{self.name}: kind", self.kind, KINDS)

    @property
    def name(self) -> str:
        return f"Loop({self.first!r}, {self.second!r}, {self.kind!r})"

    def frames(self, tree: Tree) -> tuple[Frame, Frame]:
        first, second = (tree.frames[find_frame(tree, frame)] for frame in (self.first, self.second))
        check_two_links(self.name, first, second)
        return first, second


def check_two_links(name: str, first: Frame, second: Frame) -> None:
    """Refuse two frames that cannot move against each other.

    Raises:
        ArgumentError: if they cannot.
    """
    if first.joint == second.joint:
        link = "the same link" if first.joint >= 0 else "the universe"
        raise ArgumentError(f"{name}: both frames are fixed in {link}; give frames of two links")


def _anchor(what: str, given: Any, kind: str) -> Array:
    """The placement (4 × 4) of an anchor in the universe."""
    expected = "a pin.SE3 or 4 × 4 numbers"
    entries = numbers(what, getattr(given, "homogeneous", given), expected=expected, finite=False)
    if kind == "3D" and (entries.ndim == 1 or entries.shape == (3, 1)):
        placement = np.eye(4)
        placement[:3, 3] = vector(what, entries, 3, names="xyz")
        return frozen(placement)
    return frozen(checked_transform(what, entries, expected=expected))
