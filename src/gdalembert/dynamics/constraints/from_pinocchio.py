"""Constraints that are given as Pinocchio's objects: rigid constraint models, point and frame anchors, and lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.dynamics.constraints.constraint import Constraint, check_two_links
from gdalembert.dynamics.constraints.constraint_types import ConstraintType, Frame6D, Point3D
from gdalembert.dynamics.frames import joint_frame
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.rounding import clean_matrix
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.arguments import checked_transform, number
from gdalembert.spatial.arrays import Array, ByValue, frozen

_HELD = (pin.RigidConstraintModel, pin.PointAnchorConstraintModel, pin.FrameAnchorConstraintModel)
_BOUNDED = (pin.PointContactConstraintModel, pin.JointLimitConstraintModel, pin.JointFrictionConstraintModel)
_MODELS = (*_HELD, *_BOUNDED, pin.ConstraintModel)
_LISTS = tuple(getattr(pin, f"StdVec_{model.__name__}") for model in _MODELS)
_KINDS = {pin.ContactType.CONTACT_3D: "3D", pin.ContactType.CONTACT_6D: "6D"}


@dataclass(frozen=True, eq=False)
class JointPair(ByValue, Constraint):
    """What one of Pinocchio's constraint models says: two frames that are held together, each on a joint.

    Attributes:
        title: for messages.
        kind, holds, stiffness, damping: as of a :class:`Constraint`.
        joints: Pinocchio's names of them; ``"universe"`` is one.
        placement_1, placement_2: of the frames in those of the joints (4 × 4).
    """

    title: str
    kind: str
    holds: ConstraintType
    joints: tuple[str, str]
    placement_1: Array
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


def is_list(given: Any) -> bool:
    """Whether it is a list of constraints, or what a parser of Pinocchio returns."""
    return isinstance(given, (Sequence, Mapping, *_LISTS)) and not isinstance(given, str)


def listed(given: Any) -> Iterator[Any]:
    """All constraints of a list, those of lists in it too."""
    for each in given.values() if isinstance(given, Mapping) else given:
        if is_list(each):
            yield from listed(each)
        else:
            yield each


def is_from_pinocchio(given: Any) -> bool:
    """Whether it is one of Pinocchio's constraint models."""
    return isinstance(given, _MODELS)


def read_constraint(tree: Tree, given: Any) -> JointPair:
    """One of Pinocchio's constraint models, of the model that the tree was read from.

    Raises:
        UnsupportedError: if it is of a kind without equations of motion, asks for a motion, or is compliant.
        ArgumentError: if it does not belong to the model, or a corrector or a placement cannot be used.
    """
    given = given.extract() if isinstance(given, pin.ConstraintModel) else given
    model = type(given).__name__
    if not isinstance(given, _HELD):
        raise UnsupportedError(
            f"constraints: {model}: its forces have bounds, which a ConstrainedDynamics does not know; leave it out"
        )
    joints = _joint_name(tree, given, 1), _joint_name(tree, given, 2)
    kind = _kind(given)
    title = f"{model} {given.name!r}" if given.name else f"{model}({joints[0]!r}, {joints[1]!r}, {kind!r})"
    _check(title, given, tree)
    is_aligned = getattr(given, "reference_frame", pin.LOCAL) == pin.LOCAL_WORLD_ALIGNED
    corrector = getattr(given, "baumgarte_corrector_parameters", None) or given.m_baumgarte_parameters
    return JointPair(
        title=title,
        kind=kind,
        holds=Point3D() if kind == "3D" else Frame6D(is_aligned),
        joints=joints,
        placement_1=_placement(title, given, 1),
        placement_2=_placement(title, given, 2),
        stiffness=number(f"{title}: Kp", corrector.Kp, inclusive=True),
        damping=number(f"{title}: Kd", corrector.Kd, inclusive=True),
    )


def _joint_name(tree: Tree, given: Any, k: int) -> str:
    names, index = ("universe", *tree.joint_names), getattr(given, f"joint{k}_id")
    if index >= len(names):
        raise ArgumentError(
            f"constraints: {type(given).__name__}: joint{k}_id is {index}, the last joint of {tree.name} is "
            f"{len(names) - 1}; give a constraint of this model"
        )
    return str(names[index])


def _kind(given: Any) -> str:
    if not isinstance(given, pin.RigidConstraintModel):
        return "3D" if isinstance(given, pin.PointAnchorConstraintModel) else "6D"
    if given.type not in _KINDS:
        raise ArgumentError(
            f"constraints: RigidConstraintModel: its type is {given.type}; give CONTACT_3D or CONTACT_6D"
        )
    return _KINDS[given.type]


def _check(title: str, given: Any, tree: Tree) -> None:
    """Refuse what a constraint model says beyond two frames and a corrector."""
    nv = len(tree.friction)  # of the model
    if getattr(given, "nv", nv) != nv:
        raise ArgumentError(f"{title}: it is of a model with nv={given.nv}, {tree.name} has nv={nv}")
    if getattr(given, "reference_frame", pin.LOCAL) not in (pin.LOCAL, pin.LOCAL_WORLD_ALIGNED):
        raise UnsupportedError(
            f"{title}: reference_frame is {given.reference_frame}; give pin.LOCAL or pin.LOCAL_WORLD_ALIGNED"
        )
    wanted = {name: _numbers(getattr(given, name)) for name in _DESIRED if hasattr(given, name)}
    for name, values in (wanted | {"compliance": given.retrieveCompliance()}).items():
        if np.any(values != 0):
            raise UnsupportedError(f"{title}: its {name} is {np.round(values, 6).tolist()}; only zero is known here")


_DESIRED = (
    *(f"desired_contact_{what}" for what in ("placement", "velocity", "acceleration")),
    *(f"desired_constraint_{what}" for what in ("offset", "velocity", "acceleration")),
)


def _numbers(desired: Any) -> Array:
    """What is asked for as numbers that are 0 for the identity and for rest."""
    if isinstance(desired, pin.SE3):
        return np.asarray(desired.homogeneous - np.eye(4))
    return np.asarray(getattr(desired, "vector", desired))


def _placement(title: str, given: Any, k: int) -> Array:
    name = f"joint{k}_placement"
    return frozen(checked_transform(f"{title}: {name}", getattr(given, name), expected="a pin.SE3"))
