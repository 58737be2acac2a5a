"""Groups of parameters that stand in the tree of a robot: rotors, gravity, inertia of links, payloads, placements.

A placement M becomes M exp6(δ): δ = (x, y, z, rx, ry, rz) [m, rad] is the twist, in the axes of the joint or frame
itself, that leads in unit time from where the model has it to where it is. It is zero in the model, and exp6 is exact
there with all derivatives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert import spatial
from gdalembert.errors import ArgumentError, UnknownNameError, UnsupportedError
from gdalembert.model.from_pinocchio import name_of, read_tree
from gdalembert.model.inertia import DYNAMIC_PARAMETERS, dynamic_parameters, pseudo_inertia_of, transformed
from gdalembert.model.rounding import PRODUCT_ERROR, drop
from gdalembert.model.tree import DisplacedJoint, Frame, Joint, Tree
from gdalembert.spatial import lie
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arrays import Array, homogeneous
from gdalembert.spatial.lie.maps import motion_exp

_FAINT = 1e-150
"""Mass [kg] that is added to that of a link without one, so that its centre of mass is its origin, and not 0/0."""
_RADIUS = 0.1
"""Radius of gyration [m] of random bodies at places that have none."""
_DISPLACEMENTS = ("x", "y", "z", "rx", "ry", "rz")
_SPREAD = np.array([3e-3] * 3 + [2e-2] * 3)
"""Standard deviations of random displacements [m, rad]."""


class ParameterGroup(ABC):
    """Constants of a tree that are parameters.

    Attributes:
        kind: what the argument ``parameters`` calls them.
        elements: the names of what has them.
    """

    kind: ClassVar[str]
    elements: tuple[str, ...]

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """A name for each parameter, ``element.quantity``."""

    @classmethod
    @abstractmethod
    def select(cls, tree: Tree, chosen: Sequence[str] | None) -> ParameterGroup:
        """Parameters of the elements that are chosen by name, or of all (``None``).

        Raises:
            UnknownNameError: if there is no such element.
            ArgumentError: if the element has no such parameters.
        """

    @abstractmethod
    def values(self, tree: Tree) -> Array:
        """Values of the parameters in a tree."""

    def values_of(self, tree: Tree, nominal: Tree) -> Array:
        """Values in the tree of another model; ``nominal`` is the tree of the robot."""
        return type(self).select(tree, self.elements).values(tree)

    @abstractmethod
    def random(self, tree: Tree, rng: np.random.Generator) -> Array:
        """Random values that a robot like that of the tree can have."""

    @abstractmethod
    def substitute(self, tree: Tree, p: Matrix) -> Tree:
        """The tree with p, symbols (SX) or numbers (DM), in their place."""

    @abstractmethod
    def write_to_model(self, model: pin.Model, p: Array) -> None:
        """Set the parameters p in a model."""


def selected(kind: str, chosen: Sequence[str] | None, known: Iterable[str]) -> tuple[str, ...]:
    """The names that are chosen, all by default; an UnknownNameError if one of them is not known."""
    available = tuple(known)
    for name in chosen or ():
        if name not in available:
            raise UnknownNameError(kind, name, available)
    return available if chosen is None else tuple(chosen)


class VectorEntries(ParameterGroup):
    """Some entries of a vector of the tree that has the name of the kind."""

    columns: tuple[int, ...]

    def values(self, tree: Tree) -> Array:
        return np.array(getattr(tree, self.kind))[list(self.columns)]

    def substitute(self, tree: Tree, p: Matrix) -> Tree:
        column = [spatial.constant(x) for x in getattr(tree, self.kind)]
        for k, i in enumerate(self.columns):
            column[i] = p[k]
        changed: Any = {self.kind: entries(ca.vertcat(*column))}
        return replace(tree, **changed)


@dataclass(frozen=True)
class Armature(VectorEntries):
    """Rotor inertias on the diagonal of M [kg m², kg], one for each of some entries of v and their names."""

    kind: ClassVar[str] = "armature"

    elements: tuple[str, ...]
    columns: tuple[int, ...]
    labels: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{label}.armature" for label in self.labels)

    @classmethod
    def select(cls, tree: Tree, chosen: Sequence[str] | None) -> Armature:
        by_name = {joint.name: joint for joint in tree.joints_with_armature}
        elements = selected("joint", chosen, by_name)
        columns = tuple(i for name in elements for i in by_name[name].columns)
        return cls(elements, columns, tuple(tree.velocity_names[i] for i in columns))

    def values_of(self, tree: Tree, nominal: Tree) -> Array:
        """Rotors of flexible joints keep their values, which no model has."""
        values = dict(zip(self.labels, self.values(nominal), strict=True))
        other = Armature.select(tree, None)
        values |= {x: y for x, y in zip(other.labels, other.values(tree), strict=True) if x in values}
        return np.array(list(values.values()))

    def random(self, tree: Tree, rng: np.random.Generator) -> Array:
        armature = self.values(tree)
        return np.where(armature > 0, armature, 1.0) * rng.uniform(0.1, 2.0, len(armature))

    def write_to_model(self, model: pin.Model, p: Array) -> None:
        for column, value in zip(self.columns, p, strict=True):
            if column < model.nv:  # rotors of flexible joints are not in a model
                model.armature[column] = value


@dataclass(frozen=True)
class GravityVector(VectorEntries):
    """The acceleration of gravity in the universe frame [m/s²]; its elements are x, y, z."""

    kind: ClassVar[str] = "gravity"

    elements: tuple[str, ...]
    columns: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"gravity.{axis}" for axis in self.elements)

    @classmethod
    def select(cls, tree: Tree, chosen: Sequence[str] | None) -> GravityVector:
        axes = selected("component of gravity", chosen, "xyz")
        return cls(axes, tuple("xyz".index(axis) for axis in axes))

    def random(self, tree: Tree, rng: np.random.Generator) -> Array:
        return 5.0 * rng.normal(size=len(self.elements))

    def write_to_model(self, model: pin.Model, p: Array) -> None:
        linear = np.array(model.gravity.linear)
        linear[list(self.columns)] = p
        model.gravity.linear = linear


Place = tuple[str, int, Array | ca.SX]
"""A body: its name, the index of the joint that carries it, and its frame in the link frame (4 × 4)."""


class Bodies(ParameterGroup):
    """Ten dynamic parameters for each body, in the order of ``pin.Inertia.toDynamicParameters``.

    m [kg], m c [kg m] and the inertia tensor [kg m²], all about the origin and in the axes of the body's frame.
    """

    replaces: ClassVar[bool]
    """True if they are all the inertia of a link, and not added to it."""

    def __init__(self, places: Iterable[Place]) -> None:
        self.places = tuple(places)
        self.elements = tuple(name for name, *_ in self.places)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{name}.{x}" for name in self.elements for x in DYNAMIC_PARAMETERS)

    def placed_in(self, tree: Tree) -> tuple[Place, ...]:
        """The bodies in a tree, whose frames may have been displaced."""
        return self.places

    def random(self, tree: Tree, rng: np.random.Generator) -> Array:
        bodies = self.values(tree).reshape(-1, 10)
        return np.concatenate([np.zeros(0), *(_random_body(values, rng) for values in bodies)])

    def substitute(self, tree: Tree, p: Matrix) -> Tree:
        joints = list(tree.joints)
        inertias = {i: spatial.constant(joints[i].pseudo_inertia) for _, i, _ in self.places}
        without = {i: ca.DM(4, 4) if self.replaces else inertia for i, inertia in inertias.items()}
        for k, (_, i, frame) in enumerate(self.placed_in(tree)):
            body = pseudo_inertia_of(p[10 * k : 10 * k + 10])
            if isinstance(frame, ca.SX) or not np.array_equal(frame, np.eye(4)):
                body = transformed(frame, body if isinstance(body, ca.SX) else ca.DM(body).full())
            without[i] = without[i] + body
        for i, body in without.items():
            if isinstance(body, ca.SX) and not inertias[i][3, 3].nnz():
                body[3, 3] += _FAINT
            joints[i] = replace(joints[i], pseudo_inertia=entries(body))
        return replace(tree, joints=tuple(joints))


class LinkInertias(Bodies):
    """The inertia of the links, each in the frame of its joint."""

    kind: ClassVar[str] = "inertia"
    replaces: ClassVar[bool] = True

    @classmethod
    def select(cls, tree: Tree, chosen: Sequence[str] | None) -> LinkInertias:
        if reason := next(filter(None, (no_inertia_because(tree, name) for name in chosen or ())), ""):
            raise UnsupportedError(
                f"parameters: 'inertia': {reason}; give other joints, or 'payload' at a frame of the link"
            )
        names = selected("joint", chosen, tree.body_names)
        joints = dict(zip(tree.joint_names, tree.links, strict=True))
        return cls((name, joints[name], np.eye(4)) for name in names)

    def values(self, tree: Tree) -> Array:
        return np.asarray(ca.DM(self.dynamic_parameters(tree)).full().ravel())

    def dynamic_parameters(self, tree: Tree) -> Matrix:
        """Dynamic parameters of the bodies of a tree, numbers or symbols."""
        parameters = (dynamic_parameters(tree.joints[i].pseudo_inertia) for _, i, _ in self.places)
        return ca.vertcat(ca.DM(0, 1), *parameters)

    def write_to_model(self, model: pin.Model, p: Array) -> None:
        for name, values in zip(self.elements, p.reshape(-1, 10), strict=True):
            model.inertias[model.getJointId(name)] = inertia_of(name, values)


def no_inertia_because(tree: Tree, joint: str) -> str:
    """Why a joint's link has no parameters of inertia, or "" if it has, or there is no such joint."""
    if joint not in tree.joint_names or joint in tree.body_names:
        return ""
    is_beam = tree.links[tree.joint_names.index(joint)] in tree.modal
    reason = "is flexible, and its body is that of its beam" if is_beam else "has a part on springs"
    return f"the link of {joint!r} {reason}"


class Payload(Bodies):
    """Bodies that are fixed to frames, beside the bodies that are there; zero in the model."""

    kind: ClassVar[str] = "payload"
    replaces: ClassVar[bool] = False

    @classmethod
    def select(cls, tree: Tree, chosen: Sequence[str] | None) -> Payload:
        if chosen is None:
            raise ArgumentError("parameters: 'payload': give the names of the frames that carry one")
        by_name = {frame.name: frame for frame in reversed(tree.frames)}
        frames = [by_name[name] for name in selected("frame", chosen, (frame.name for frame in tree.frames))]
        if fixed := [frame.name for frame in frames if frame.joint < 0]:
            raise ArgumentError(
                f"parameters: payload at {fixed[0]!r}: the frame is fixed to the base; no joint moves it"
            )
        placed = (spatial.transform(spatial.constant(f.rotation), spatial.constant(f.translation)) for f in frames)
        return cls((f.name, f.joint, entries(place)) for f, place in zip(frames, placed, strict=True))

    def placed_in(self, tree: Tree) -> tuple[Place, ...]:
        return Payload.select(tree, self.elements).places

    def values(self, tree: Tree) -> Array:
        return np.zeros(len(self.names))

    def write_to_model(self, model: pin.Model, p: Array) -> None:
        for name, values in zip(self.elements, p.reshape(-1, 10), strict=True):
            if not model.existFrame(name):
                raise UnsupportedError(
                    f"parameters: payload at {name!r}: {name_of(model)!r} has no such frame; take dyn.at(p)"
                )
            frame = model.frames[model.getFrameId(name)]
            model.inertias[frame.parentJoint] += frame.placement.act(inertia_of(name, values))


def inertia_of(name: str, values: Array) -> pin.Inertia:
    """Pinocchio's inertia of ten dynamic parameters; it cannot hold a first moment without mass."""
    if values[0] != 0:
        return pin.Inertia.FromDynamicParameters(values)
    if values[1:4].any():
        raise ArgumentError(
            f"parameters: the body of {name!r} has the mass 0 and the first moment {values[1:4].tolist()} kg m, which "
            "no pin.Inertia holds; give it a mass"
        )
    xx, xy, yy, xz, yz, zz = values[4:]
    body = pin.Inertia.Zero()
    body.inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return body


def _random_body(like: Array, rng: np.random.Generator) -> Array:
    """Ten dynamic parameters of a random body about as heavy and large as another one: J is positive definite."""
    mass = float(like[0]) if like[0] > 0 else 1.0
    second = np.trace(pseudo_inertia_of(ca.DM(like)).full()[:3, :3])
    radius = np.sqrt(second / mass) if second > 0 else _RADIUS
    axes = radius * np.column_stack([rng.normal(size=(4, 3)), np.zeros(4)])
    axes[3] = 0, 0, 0, 1
    axes[:3, 3] = radius * rng.normal(size=3)
    body = mass * rng.uniform(0.5, 2.0) * axes @ axes.T
    return np.asarray(dynamic_parameters(body).full().ravel())


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
        return tuple(f"{name}.{x}" for name in self.elements for x in _DISPLACEMENTS)

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
        """Displacements log6(M⁻¹ M′) of nominal placements M and those M′ of the tree; zero where it is rounding."""
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
    """The flexible link or the springs that move the place of an element, in words; none if it is fixed."""
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
