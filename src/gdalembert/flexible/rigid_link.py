"""The rigid links of a tree: the joints, frames and bodies on them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError
from gdalembert.flexible.station import pseudo_inertia_of
from gdalembert.model.rounding import MOMENT_TOLERANCE, SAME_PLACE
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.arrays import Array, homogeneous


@dataclass(frozen=True, eq=False)
class FixedBody:
    """A rigid body that is fixed to a link.

    Attributes:
        name: of its frame. ``placement``: that frame in the link frame (4 × 4). ``body``: pseudo-inertia in it (4 × 4).
    """

    name: str
    placement: Array
    body: Array

    @property
    def in_link(self) -> Array:
        """The pseudo-inertia in the link frame (4 × 4)."""
        return np.asarray(self.placement @ self.body @ self.placement.T)


@dataclass(frozen=True, eq=False)
class RigidLink:
    """A link of a tree, and what is attached to it.

    Attributes:
        name: of its body frame. ``joint``: the joint that moves it. ``index``: of that joint in the tree.
        children: child joints, by name.
        placements: in the link frame (4 × 4), of child joints and of all frames, by name.
    """

    tree: Tree
    name: str
    joint: Joint
    index: int
    children: dict[str, Joint]
    placements: Mapping[str, Array]

    @staticmethod
    def of(tree: Tree, i: int, name: str) -> RigidLink:
        """The link that joint ``i`` of the tree moves."""
        children = {model_joint_name(tree, k): child for k, child in enumerate(tree.joints) if child.parent == i}
        return RigidLink(tree, name, tree.joints[i], i, children, placements_on(tree, i))

    def fixture(self, name: str) -> str:
        """The outermost fixed joint on the link that carries a child joint or frame; itself if there is none."""
        frames = self.tree.frames
        if name in self.children:
            own = next((f for f in frames if f.name == name and f.type == "JOINT"), None)
            here = len(frames) if own is None else own.previous
        else:
            here = next(k for k, f in enumerate(frames) if f.name == name and f.joint == self.index)
        found = name
        while here < len(frames) and frames[here].joint == self.index:
            if frames[here].type == "FIXED_JOINT":
                found = frames[here].name
            if frames[here].previous >= here:
                break
            here = frames[here].previous
        return found

    def fixed_bodies(self, given: Mapping[str, pin.Inertia]) -> list[FixedBody]:
        """The bodies that are fixed to the link.

        Those of a URDF are on its fixed joints; those of a model made by hand are given, by the name of their frame.
        """
        merged = merged_bodies(self.tree, self.index)
        if missing := [f.name for f in merged if f.name not in given]:
            asked = ", ".join(f"{name!r}: pin.Inertia(...)" for name in missing)
            raise ArgumentError(
                f"link {self.name!r}: the model does not tell its own body from what is fixed to it; give the inertia "
                f"of each in its frame: fixed_bodies={{{asked}}}"
            )
        here = [f for f in self.tree.frames if f.joint == self.index and f.type == "FIXED_JOINT"]
        fixed = [(f, f.pseudo_inertia) for f in here if f.pseudo_inertia[3, 3] > 0]
        fixed += [(f, pseudo_inertia_of(given[f.name])) for f in merged]
        return [FixedBody(f.name, homogeneous(f.rotation, f.translation), body) for f, body in fixed]

    def own_body(self, fixed: list[FixedBody]) -> Array:
        """The pseudo-inertia (4 × 4) of the link's own body, in the link frame."""
        whole = self.joint.pseudo_inertia
        own: Array = whole - sum((each.in_link for each in fixed), np.zeros((4, 4)))
        if own[3, 3] < -MOMENT_TOLERANCE * whole[3, 3]:
            raise ArgumentError(
                f"link {self.name!r}: what is fixed to it has {whole[3, 3] - own[3, 3]:.6g} kg, and the model gives it "
                f"and the link's own body {whole[3, 3]:.6g} kg together; give less in fixed_bodies"
            )
        return own


@dataclass(frozen=True)
class BodyFrames:
    """The body frames of a tree by what they are fixed to.

    Attributes:
        links: of links that a joint moves: the index of the link.
        fixed: of bodies that are fixed to such a link: its name.
        grounded: of bodies that are fixed to the universe.
    """

    links: dict[str, int]
    fixed: dict[str, str]
    grounded: set[str]

    @staticmethod
    def of(tree: Tree) -> BodyFrames:
        """The first body frame that coincides with a joint frame is that of the link."""
        found = BodyFrames({}, {}, set())
        first: dict[int, str] = {}
        for frame in tree.frames:
            if frame.type != "BODY":
                continue
            if frame.joint < 0:
                found.grounded.add(frame.name)
            elif frame.joint not in first and _is_link_frame(frame):
                first[frame.joint] = frame.name
                found.links[frame.name] = frame.joint
            else:
                found.fixed[frame.name] = first.get(frame.joint, model_joint_name(tree, frame.joint))
        return found


def model_joint_name(tree: Tree, i: int) -> str:
    """The name in the model of the joint that an elementary joint is a part of."""
    return tree.joint_names[bisect_left(tree.links, i)]


def placements_on(tree: Tree, i: int) -> dict[str, Array]:
    """The placements (4 × 4) of child joints and frames on a link, by the model's names."""
    found = {
        model_joint_name(tree, k): homogeneous(child.rotation, child.translation)
        for k, child in enumerate(tree.joints)
        if child.parent == i
    }
    for f in tree.frames:
        if f.joint == i:
            found.setdefault(f.name, homogeneous(f.rotation, f.translation))
    return found


def merged_bodies(tree: Tree, i: int) -> list[Frame]:
    """Body frames on a link beside its own, whose inertia the model has merged with the link's own."""
    here = [f for f in tree.frames if f.joint == i]
    fixed = {f.name for f in here if f.type == "FIXED_JOINT"}
    bodies = [f for f in here if f.type == "BODY"]
    own = next((f.name for f in bodies if _is_link_frame(f)), None)
    return [f for f in bodies if f.name != own and tree.frames[f.previous].name not in fixed]


def _is_link_frame(frame: Frame) -> bool:
    """Whether a frame coincides with the link frame."""
    off = homogeneous(frame.rotation, frame.translation) - np.eye(4)
    return bool(np.abs(off).max() <= SAME_PLACE)
