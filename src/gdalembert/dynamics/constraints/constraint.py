"""Constraints of a robot: contacts with its surroundings, and loops between two of its frames; Pinocchio's too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.constraints.constraint_types import (
    ConstraintType,
    Frame6D,
    Point3D,
    RowSelection,
    constraint_type,
)
from gdalembert.dynamics.frames import asked_frame, joint_frame
from gdalembert.errors import ArgumentError, UnsupportedError, shown
from gdalembert.model.rounding import clean_matrix
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arguments import checked_transform, number, numbers, vector
from gdalembert.spatial.arrays import Array, ByValue, frozen
from gdalembert.spatial.brief import Brief

_HELD = (pin.RigidConstraintModel, pin.PointAnchorConstraintModel, pin.FrameAnchorConstraintModel)
_BOUNDED = (pin.PointContactConstraintModel, pin.JointLimitConstraintModel, pin.JointFrictionConstraintModel)
_MODELS = (*_HELD, *_BOUNDED, pin.ConstraintModel)
_LISTS = tuple(getattr(pin, f"StdVec_{model.__name__}") for model in _MODELS)
_KINDS = {pin.ContactType.CONTACT_3D: "3D", pin.ContactType.CONTACT_6D: "6D"}
_DESIRED = (
    *(f"desired_contact_{quantity}" for quantity in ("placement", "velocity", "acceleration")),
    *(f"desired_constraint_{quantity}" for quantity in ("offset", "velocity", "acceleration")),
)


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
        """The constraint in messages, as it would be written in code."""

    @property
    def is_anchored(self) -> bool:
        """True if it is known where the frame is held."""
        return True

    @abstractmethod
    def frames(self, tree: Tree) -> tuple[Frame, Frame]:
        """The two frames that are held together.

        Raises:
            UnknownNameError, ArgumentError, ArgumentTypeError: if a frame cannot be used.
        """


class _Held(Constraint):
    """A constraint of a kind and its options, which a user writes down."""

    options: tuple[tuple[str, Any], ...]

    def _hold(self, places: dict[str, str | int], kind: str, options: dict[str, Any]) -> str:
        """Set the fields but for an anchor; returns the constraint without its options, for messages."""
        context = f"{type(self).__name__}({', '.join(map(repr, (*places.values(), kind)))})"
        # vectors as tuples, so that constraints of the same numbers are equal
        by_value = ((name, tuple(x) if isinstance(x, list | np.ndarray) else x) for name, x in sorted(options.items()))
        fields = places | {"kind": kind, "holds": constraint_type(context, kind, options), "options": tuple(by_value)}
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        return context


def _call(held: _Held, *frames: str | int) -> str:
    """A constraint as it is written in code."""
    options = (f"{name}={shown(value)}" for name, value in held.options)
    return f"{type(held).__name__}({', '.join([*map(repr, (*frames, held.kind)), *options])})"


@dataclass(frozen=True, eq=False, init=False)
class Contact(ByValue, _Held):
    """A frame of the robot that the surroundings hold.

    Args:
        frame: name, or index in ``model.frames`` that is not a joint's, too.
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
        context = self._hold({"frame": frame}, kind, options)
        placed = None if anchor is None else _anchor(f"{context}: anchor", anchor, self.holds)
        object.__setattr__(self, "anchor", placed)

    @property
    def name(self) -> str:
        return _call(self, self.frame)

    @property
    def is_anchored(self) -> bool:
        return self.anchor is not None

    def frames(self, tree: Tree) -> tuple[Frame, Frame]:
        frame = tree.frames[asked_frame(tree, self.frame)]
        if frame.joint < 0:
            raise ArgumentError(f"{self.name}: no joint moves this frame; give a frame of a link that moves")
        at: Any = np.eye(4) if self.anchor is None else self.anchor
        parts: Any = (x if isinstance(x, ca.SX) else frozen(x) for x in (at[:3, :3], at[:3, 3]))
        rotation, point = parts
        if isinstance(self.holds, RowSelection):  # rows stay in the axes of the universe, and the frame is turned
            if not self.holds.can_turn:
                turned: Any = entries(spatial.constant(frame.rotation) @ spatial.constant(at[:3, :3].T))
                if not isinstance(turned, ca.SX):
                    turned = frozen(clean_matrix(turned))
                frame = replace(frame, rotation=turned)
            rotation = frozen(np.eye(3))
        return frame, Frame("anchor", -1, rotation, point)

    def touching_point(self, r: Matrix, x: Matrix) -> Matrix:
        """The point (3) that is held of a frame at R and x."""
        return self.holds.touching_point(r, x) if isinstance(self.holds, RowSelection) else x

    def with_anchor(self, anchor: Array | ca.SX) -> Contact:
        """A copy that is held at [R p], numbers (4 × 4) or symbols (3 × 4)."""
        held = copy(self)
        object.__setattr__(held, "anchor", anchor)
        return held


@dataclass(frozen=True, init=False)
class Loop(Brief, _Held):
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
        self._hold({"first": first, "second": second}, kind, options)

    @property
    def name(self) -> str:
        return _call(self, self.first, self.second)

    def frames(self, tree: Tree) -> tuple[Frame, Frame]:
        first, second = (tree.frames[asked_frame(tree, frame)] for frame in (self.first, self.second))
        check_two_links(self.name, first, second)
        return first, second


def check_two_links(name: str, first: Frame, second: Frame) -> None:
    """Refuse two frames that cannot move against each other."""
    if first.joint == second.joint:
        link = "the same link" if first.joint >= 0 else "the universe"
        raise ArgumentError(f"{name}: both frames are fixed in {link}; give frames of two links")


def _anchor(argument: str, value: Any, held: ConstraintType) -> Array:
    """The placement (4 × 4) of an anchor in the universe."""
    expected = "a pin.SE3 or 4 × 4 numbers"
    entries = numbers(argument, getattr(value, "homogeneous", value), expected=expected, finite=False)
    if held.can_turn and (entries.ndim == 1 or entries.shape == (3, 1)):
        placement = np.eye(4)
        placement[:3, 3] = vector(argument, entries, 3, names="xyz")
        return frozen(placement)
    return frozen(checked_transform(argument, entries, expected=expected))


@dataclass(frozen=True, eq=False)
class JointPair(ByValue, Constraint):
    """Constraint of one of Pinocchio's models: two frames that are held together, each on a joint."""

    title: str  # for messages
    kind: str
    holds: ConstraintType
    joints: tuple[str, str]  # Pinocchio's names of them; ``"universe"`` is one
    placement_1: Array  # of the frames in those of the joints, 4 × 4
    placement_2: Array
    stiffness: float
    damping: float

    @property
    def name(self) -> str:
        return self.title

    def frames(self, tree: Tree) -> tuple[Frame, Frame]:
        places = zip(self.joints, (self.placement_1, self.placement_2), strict=True)
        first, second = (self._frame(tree, joint, placement) for joint, placement in places)
        check_two_links(self.name, first, second)
        return first, second

    def _frame(self, tree: Tree, joint: str, placement: Array) -> Frame:
        if joint not in ("universe", *tree.body_names):
            raise UnsupportedError(
                f"{self.name}: the body of joint {joint!r} is flexible, so that a placement on it is not one frame; "
                "give gd.Contact or gd.Loop with frames of the arm"
            )
        body = joint_frame(tree, joint)
        r = body.rotation @ placement[:3, :3]
        p = body.rotation @ placement[:3, 3] + body.translation
        return Frame(f"{self.name} on {joint}", body.joint, frozen(clean_matrix(r)), frozen(clean_matrix(p)))


def is_list(value: Any) -> bool:
    """True for a list of constraints, and for the list or map that a parser of Pinocchio returns."""
    return isinstance(value, (Sequence, Mapping, *_LISTS)) and not isinstance(value, str)


def listed(constraints: Any) -> Iterator[Any]:
    """All constraints of a list, those of lists in it too."""
    for item in constraints.values() if isinstance(constraints, Mapping) else constraints:
        if is_list(item):
            yield from listed(item)
        else:
            yield item


def is_from_pinocchio(value: Any) -> bool:
    """True for one of Pinocchio's constraint models."""
    return isinstance(value, _MODELS)


def read_constraint(tree: Tree, model: Any) -> JointPair:
    """One of Pinocchio's constraint models, of the model that the tree was read from."""
    model = model.extract() if isinstance(model, pin.ConstraintModel) else model
    class_name = type(model).__name__
    if not isinstance(model, _HELD):
        raise UnsupportedError(
            f"constraints: {class_name}: its forces have bounds, which a ConstrainedDynamics does not know; leave it "
            "out"
        )
    names, indices = ("universe", *tree.joint_names), (model.joint1_id, model.joint2_id)
    for k, index in enumerate(indices, 1):
        if index >= len(names):
            raise ArgumentError(
                f"constraints: {class_name}: joint{k}_id is {index}, the last joint of {tree.name} is "
                f"{len(names) - 1}; give a constraint of this model"
            )
    joints = names[indices[0]], names[indices[1]]
    kind = "3D" if isinstance(model, pin.PointAnchorConstraintModel) else "6D"
    if isinstance(model, pin.RigidConstraintModel):
        if model.type not in _KINDS:
            raise ArgumentError(f"constraints: {class_name}: its type is {model.type}; give CONTACT_3D or CONTACT_6D")
        kind = _KINDS[model.type]
    title = f"{class_name} {model.name!r}" if model.name else f"{class_name}({joints[0]!r}, {joints[1]!r}, {kind!r})"
    _check_plain(title, model, tree)
    first, second = (
        checked_transform(f"{title}: {name}", getattr(model, name), expected="a pin.SE3")
        for name in ("joint1_placement", "joint2_placement")
    )
    is_aligned = getattr(model, "reference_frame", pin.LOCAL) == pin.LOCAL_WORLD_ALIGNED
    corrector = getattr(model, "baumgarte_corrector_parameters", None) or model.m_baumgarte_parameters
    return JointPair(
        title=title,
        kind=kind,
        holds=Point3D() if kind == "3D" else Frame6D(is_aligned),
        joints=joints,
        placement_1=frozen(first),
        placement_2=frozen(second),
        stiffness=number(f"{title}: Kp", corrector.Kp, inclusive=True),
        damping=number(f"{title}: Kd", corrector.Kd, inclusive=True),
    )


def _check_plain(title: str, model: Any, tree: Tree) -> None:
    """Refuse a constraint model that says more than two frames and a corrector."""
    nv = len(tree.friction)  # of the model
    if getattr(model, "nv", nv) != nv:
        raise ArgumentError(f"{title}: it is of a model with nv={model.nv}, {tree.name} has nv={nv}")
    if getattr(model, "reference_frame", pin.LOCAL) not in (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED):
        raise UnsupportedError(
            f"{title}: reference_frame is {model.reference_frame}; give pin.LOCAL or pin.LOCAL_WORLD_ALIGNED"
        )
    wanted: dict[str, Array] = {}
    for name in _DESIRED:  # 0 for the identity and for rest
        if isinstance(desired := getattr(model, name, None), pin.SE3):
            wanted[name] = desired.homogeneous - np.eye(4)
        elif desired is not None:
            wanted[name] = np.asarray(getattr(desired, "vector", desired))
    for name, values in (wanted | {"compliance": model.retrieveCompliance()}).items():
        if np.any(values != 0):
            raise UnsupportedError(f"{title}: its {name} is {np.round(values, 6).tolist()}; only zero is known here")
