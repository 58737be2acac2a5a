"""Placements of joints and frames as parameters: what a robot as built has besides what its model says.

A placement M becomes M exp6(δ): δ = (x, y, z, rx, ry, rz) [m, rad] is the twist, in the axes of the joint or frame
itself, that leads in unit time from where the model has it to where it is. It is zero in the model, and exp6 is exact
there with all derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.parameters.groups import ParameterGroup
from gdalembert.errors import ArgumentError, UnknownNameError, UnsupportedError
from gdalembert.model.from_pinocchio import name_of, read_tree
from gdalembert.model.rounding import PRODUCT_ERROR, drop
from gdalembert.model.tree import DisplacedJoint, Frame, Joint, Tree
from gdalembert.spatial import lie
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arrays import Array, homogeneous
from gdalembert.spatial.lie.maps import motion_exp

_QUANTITIES = ("x", "y", "z", "rx", "ry", "rz")
_SPREAD = np.array([3e-3] * 3 + [2e-2] * 3)
"""Standard deviations of random displacements [m, rad]."""


class Placement(ParameterGroup):
    """Displacements of joints, with all that hangs on them, and of frames alone.

    A joint that is a sequence of elementary ones has its placement in the first of them.

    Attributes:
        nominal: the placements in the model (n × 4 × 4), each in the link frame before it.
    """

    kind: ClassVar[str] = "placement"

    def __init__(self, tree: Tree, elements: Sequence[str]) -> None:
        self.elements = tuple(elements)
        self.nominal = [_placement(_element(tree, name)) for name in elements]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{name}.{x}" for name in self.elements for x in _QUANTITIES)

    @classmethod
    def select(cls, tree: Tree, chosen: Sequence[str] | None) -> Placement:
        if chosen is None:
            return cls(tree, [name for name in tree.joint_names if not _displaced_by(tree, name)])
        for k, name in enumerate(chosen):
            if name in chosen[:k]:
                raise ArgumentError(f"parameters: placement of {name!r} occurs twice; give each element once")
            if reason := _displaced_by(tree, name):
                raise UnsupportedError(
                    f"parameters: placement of {name!r}: it stands on {reason}; give joints and frames on rigid links"
                )
        return cls(tree, chosen)

    def values(self, tree: Tree) -> Array:
        return np.zeros(len(self.names))

    def values_of(self, tree: Tree, nominal: Tree) -> Array:
        """log6(M⁻¹ M′) of the nominal placements M and those of the tree M′; zero where it is rounding."""
        theirs = (_placement(_element(tree, name)) for name in self.elements)
        displacements = (_displacement(*pair) for pair in zip(self.nominal, theirs, strict=True))
        return np.concatenate([np.zeros(0), *displacements])

    def random(self, tree: Tree, rng: np.random.Generator) -> Array:
        return np.asarray((_SPREAD * rng.normal(size=(len(self.elements), 6))).ravel())

    def substitute(self, tree: Tree, p: Matrix) -> Tree:
        parts: dict[str, list[Any]] = {"joints": list(tree.joints), "frames": list(tree.frames)}
        for k, name in enumerate(self.elements):
            group, index = _find(tree, name)
            parts[group][index] = _displaced(parts[group][index], p[6 * k : 6 * k + 6])
        changed: Any = {group: tuple(elements) for group, elements in parts.items()}
        return replace(tree, **changed)

    def write_to_model(self, model: pin.Model, p: Array) -> None:
        tree = read_tree(model)
        for name, nominal, displacement in zip(self.elements, self.nominal, p.reshape(-1, 6), strict=True):
            placed = pin.SE3(nominal) * pin.exp6(displacement)
            if model.existJointName(name):
                index = model.getJointId(name)
                first = pin.SE3(_placement(_element(tree, name)))  # in the joint, of a composite one
                model.jointPlacements[index] = placed * first.inverse() * model.jointPlacements[index]
            elif model.existFrame(name):
                model.frames[model.getFrameId(name)].placement = placed
            else:
                raise UnsupportedError(
                    f"parameters: placement of {name!r}: {name_of(model)!r} has no such frame; take dyn.at(p)"
                )


def _find(tree: Tree, name: str) -> tuple[str, int]:
    """The place of an element in a tree: its first joint of this name, or else its first frame."""
    if name in tree.joint_names:
        return "joints", tree.first_part(tree.links[tree.joint_names.index(name)])
    for i, frame in enumerate(tree.frames):
        if frame.name == name:
            return "frames", i
    raise UnknownNameError("joint or frame", name, dict.fromkeys([*tree.joint_names, *(f.name for f in tree.frames)]))


def _element(tree: Tree, name: str) -> Joint | Frame:
    group, index = _find(tree, name)
    return tree.joints[index] if group == "joints" else tree.frames[index]


def _displaced_by(tree: Tree, name: str) -> str:
    """What moves the place of an element, a flexible link or springs at a frame, in words; none if it is fixed."""
    element = _element(tree, name)
    before = element.parent if isinstance(element, Joint) else element.joint
    if before < 0:
        return ""
    if tree.joints[before].type.is_modal:
        return "a flexible link, where its beam places it"
    return "springs, which place it" if tree.joints[before].type.springs_at is not None else ""


def _placement(element: Joint | Frame) -> Array:
    return homogeneous(element.rotation, element.translation)


def _displacement(nominal: Array, other: Array) -> Array:
    """The twist (6) from one placement to another, both 4 × 4."""
    if np.array_equal(nominal, other):
        return np.zeros(6)
    twist = lie.log6(lie.inverse(nominal) @ other)
    return drop(twist, PRODUCT_ERROR * (1 + np.abs(nominal[:3, 3]).max()))


def _displaced(element: Any, twist: Matrix) -> Any:
    """A joint or a frame at M exp6(twist), numbers or symbols."""
    r, p, change = spatial.constant(element.rotation), spatial.constant(element.translation), motion_exp(twist)
    placed = {"rotation": entries(r @ change[:3, :3]), "translation": entries(p + r @ change[:3, 3])}
    if isinstance(element, Frame) or not isinstance(placed["rotation"], ca.SX):
        return replace(element, **placed)
    return DisplacedJoint(**vars(element) | placed, nominal=_placement(element), displacement=twist)
