"""Frames and joints of a tree by name or index."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.arrays import frozen


class FrameIndex(int):
    """An index in ``tree.frames`` that was found, and so is no joint's."""


def asked_frame(tree: Tree, frame: str | int, otherwise: str = "") -> FrameIndex:
    """The index of a frame as by :func:`find_frame`; one that is a joint's, too, is refused as ambiguous.

    ``model.getJointId`` gives indices from 1, and for an unknown name the number of joints. An index passes if the
    joint moves with that very frame, or if no name says which frame is meant, since several have it.
    """
    index, names = find_frame(tree, frame), ("universe", *tree.joint_names)
    if isinstance(frame, str | FrameIndex) or not 0 < index <= len(names):
        return index
    known = tree.frames[index]
    if sum(other.name == known.name for other in tree.frames) > 1:
        return index
    if index < len(names):
        of_joint = joint_frame(tree, index)
        pairs = ((known.rotation, of_joint.rotation), (known.translation, of_joint.translation))
        if known.joint == of_joint.joint and all(np.array_equal(x, y) for x, y in pairs):
            return index
        other = f"joint {names[index]!r} has that index in model.joints"
    else:
        other = "model.getJointId gives this number for an unknown name"
    raise ArgumentError(
        f"{tree.name}: frame {index}: it is {known.name!r} in model.frames, but {other}; give the frame by its name"
        f"{otherwise}"
    )


def find_frame(tree: Tree, frame: str | int) -> FrameIndex:
    """The index in ``tree.frames`` of a frame given by name or index."""
    if isinstance(frame, str):
        indices = [k for k, known in enumerate(tree.frames) if known.name == frame]
        if not indices:
            raise UnknownNameError("frame", frame, (known.name for known in tree.frames))
        if len(indices) > 1:
            links = [
                "the universe" if (i := tree.frames[k].joint) < 0 else f"joint {tree.joints[i].name!r}" for k in indices
            ]
            listed = ", ".join(f"{k} (on {link})" for k, link in zip(indices, links, strict=True))
            raise ArgumentError(
                f"{tree.name}: frame {frame!r}: {len(indices)} frames have this name: {listed}; pass the index"
            )
        return FrameIndex(indices[0])
    return FrameIndex(_checked_index(tree, "frame", frame, len(tree.frames) - 1))


def joint_frame(tree: Tree, joint: str | int) -> Frame:
    """The frame of one of Pinocchio's joints, given by name or index, on the link that it moves; 0 is the universe."""
    names = ("universe", *tree.joint_names)
    if isinstance(joint, str):
        if joint not in names:
            raise UnknownNameError("joint", joint, names)
        joint = names.index(joint)
    index = _checked_index(tree, "joint", joint, len(names) - 1)
    link = -1 if index == 0 else tree.links[index - 1]
    return Frame(names[index], link, frozen(np.eye(3)), frozen(np.zeros(3)), "JOINT")


def _checked_index(tree: Tree, kind: str, value: Any, last: int) -> int:
    """The index of a frame or a joint of a model."""
    try:
        if isinstance(value, bool | pin.ReferenceFrame):
            raise TypeError
        index = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(
            f"{kind}: expected a name or an index in model.{kind}s, got {type(value).__name__}"
        ) from None
    if not 0 <= index <= last:
        hint = f"; model.get{kind.title()}Id gives this number for an unknown name" if index == last + 1 else ""
        raise ArgumentError(f"{tree.name}: {kind} {index}: give an index from 0 to {last}{hint}")
    return index


def check_reference(reference: pin.ReferenceFrame) -> None:
    """Refuse anything but the three reference frames: none of them is common enough to be the default."""
    if not isinstance(reference, pin.ReferenceFrame):
        raise ArgumentTypeError(
            f"reference: expected pin.LOCAL, pin.WORLD or pin.LOCAL_WORLD_ALIGNED, got {shown(reference)}"
        )
