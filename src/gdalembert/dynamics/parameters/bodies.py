"""Bodies as parameters: the inertia of links, and payloads at frames."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert import spatial
from gdalembert.dynamics.parameters.kind import Kind, selected
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.from_pinocchio import name_of
from gdalembert.model.inertia import DYNAMIC_PARAMETERS, dynamic_parameters, pseudo_inertia_of, transformed
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.algebra import Matrix, entries
from gdalembert.spatial.arrays import Array, frozen, homogeneous

_FAINT = 1e-150
"""Mass [kg] that is added to that of a link without one, so that its centre of mass is its origin, and not 0/0."""


@dataclass(frozen=True)
class Place:
    """Where a body is: its name, the index of the joint that carries it, and its frame in the link frame (4 × 4)."""

    name: str
    joint: int
    frame: Array


class Bodies(Kind):
    """Ten dynamic parameters for each body, in the order of ``pin.Inertia.toDynamicParameters``.

    m [kg], m c [kg m] and the inertia tensor [kg m²], all about the origin and in the axes of the body's frame.

    Attributes:
        places: of the bodies.
    """

    def __init__(self, places: Iterable[Place]) -> None:
        self.places = tuple(places)
        self.elements = tuple(place.name for place in self.places)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{name}.{x}" for name in self.elements for x in DYNAMIC_PARAMETERS)

    def bodies(self, p: Matrix) -> list[Matrix]:
        """The pseudo-inertia of each body, in its own frame."""
        return [pseudo_inertia_of(p[10 * k : 10 * k + 10]) for k in range(len(self.places))]

    @abstractmethod
    def carried(self, joint: Joint) -> Matrix:
        """The pseudo-inertia of a link without the bodies."""

    def put(self, tree: Tree, p: Matrix) -> Tree:
        joints = list(tree.joints)
        without = {place.joint: self.carried(joints[place.joint]) for place in self.places}
        for place, body in zip(self.places, self.bodies(p), strict=True):
            without[place.joint] = without[place.joint] + _placed(place.frame, body)
        for i, body in without.items():
            if isinstance(body, ca.SX) and not spatial.constant(joints[i].pseudo_inertia)[3, 3].nnz():
                body[3, 3] += _FAINT
            joints[i] = replace(joints[i], pseudo_inertia=entries(body))
        return replace(tree, joints=tuple(joints))


class Inertia(Bodies):
    """The inertia of the links, each in the frame of its joint."""

    kind: ClassVar[str] = "inertia"

    @classmethod
    def choose(cls, tree: Tree, chosen: Sequence[str] | None) -> Inertia:
        names = selected("joint", chosen, tree.body_names)
        places = (Place(name, *tree.body_frame(name)) for name in names)
        return cls(places)

    def values(self, tree: Tree) -> Array:
        return np.asarray(ca.DM(self.dynamic_parameters(tree)).full().ravel())

    def dynamic_parameters(self, tree: Tree) -> Matrix:
        """Those of the bodies of a tree, numbers or symbols."""

        def own(place: Place) -> Matrix:
            to_frame = frozen(np.linalg.inv(place.frame))
            return dynamic_parameters(transformed(to_frame, tree.joints[place.joint].pseudo_inertia))

        return ca.vertcat(ca.DM(0, 1), *map(own, self.places))

    def random(self, tree: Tree, rng: np.random.Generator) -> Array:
        own = self.values(tree).reshape(-1, 10)
        return np.concatenate([np.zeros(0), *(_random_body(values, rng) for values in own)])

    def carried(self, joint: Joint) -> Matrix:
        return ca.DM(4, 4)

    def write(self, model: pin.Model, p: Array) -> None:
        for place, values in zip(self.places, p.reshape(-1, 10), strict=True):
            model.inertias[model.getJointId(place.name)] = inertia_of(place.name, values)


class Payload(Bodies):
    """Bodies that are fixed to frames, beside the bodies that are there; zero in the model."""

    kind: ClassVar[str] = "payload"

    @classmethod
    def choose(cls, tree: Tree, chosen: Sequence[str] | None) -> Payload:
        if chosen is None:
            raise ArgumentError("parameters: 'payload': give the names of the frames that carry one")
        selected("frame", chosen, (frame.name for frame in tree.frames))
        return cls(_at_frame(tree, name) for name in chosen)

    def values(self, tree: Tree) -> Array:
        return np.zeros(len(self.names))

    def random(self, tree: Tree, rng: np.random.Generator) -> Array:
        return np.concatenate([np.zeros(0), *(_random_body(np.zeros(10), rng) for _ in self.places)])

    def carried(self, joint: Joint) -> Matrix:
        return spatial.constant(joint.pseudo_inertia)

    def write(self, model: pin.Model, p: Array) -> None:
        for place, values in zip(self.places, p.reshape(-1, 10), strict=True):
            if not model.existFrame(place.name):
                raise UnsupportedError(
                    f"parameters: payload at {place.name!r}: {name_of(model)!r} has no such frame; take dyn.at(p)"
                )
            frame = model.frames[model.getFrameId(place.name)]
            model.inertias[frame.parentJoint] += frame.placement.act(inertia_of(place.name, values))


def inertia_of(name: str, values: Array) -> pin.Inertia:
    """Pinocchio's inertia of ten dynamic parameters.

    Raises:
        ArgumentError: if a body without mass has a first moment, which Pinocchio cannot hold.
    """
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


_RADIUS = 0.1
"""Radius of gyration [m] of random bodies at places that have none."""


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


def _at_frame(tree: Tree, name: str) -> Place:
    frame = next(frame for frame in tree.frames if frame.name == name)
    if frame.joint < 0:
        raise ArgumentError(f"parameters: payload at {name!r}: the frame is fixed to the base; no joint moves it")
    return Place(name, frame.joint, homogeneous(frame.rotation, frame.translation))


def _placed(frame: Array, body: Matrix) -> Matrix:
    """The body in the link frame; exactly itself where both frames are the same."""
    if np.array_equal(frame, np.eye(4)):
        return body
    return transformed(frame, body if isinstance(body, ca.SX) else ca.DM(body).full())
