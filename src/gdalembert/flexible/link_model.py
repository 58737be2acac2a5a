"""The numbers of a flexible robot, link by link: a joint, the link that it moves, and the stations on that link.

Frames of a link: the joint moves the *link frame*. The *clamped frame* stands at the root of the beam, fixed in the
link frame, x along the undeformed beam, y and z along the principal axes of its cross section. A *station* is a cross
section, or a node, with a frame of its own, which has the axes of the clamped frame where nothing is deformed; the
modes move it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.joints import JointType
from gdalembert.model.joints.deflection import Deflection, FirstOrderDeflection
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.rounding import clean_matrix, least_moment
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array, frozen, homogeneous


@dataclass(frozen=True, eq=False)
class Station:
    """A cross section of a link, to which child joints, frames and rigid bodies are attached. n: number of modes.

    Attributes:
        position: undeformed, in the clamped frame (3, m).
        translation: U, displacement per unit of each modal coordinate (3 × n).
        rotation: Θ, small rotation vector per unit of each modal coordinate (3 × n).
        shortening: s (n × n, symmetric): foreshortening moves the section by −½ fᵀ s f along x; zero without it.
        body: pseudo-inertia (4 × 4) of the rigid bodies attached to it, in the station's frame.
    """

    position: Array
    translation: Array
    rotation: Array
    shortening: Array
    body: Array

    def to_axis(self, eta: float) -> Array:
        """The frame at an abscissa [m] on the axis, in the station's frame (4 × 4); a node may stand beside it."""
        return homogeneous(np.eye(3), np.array([eta, 0.0, 0.0]) - self.position)

    def deflection(
        self,
        rotation: npt.ArrayLike = ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        translation: npt.ArrayLike = (0, 0, 0),
        *,
        exact: bool = True,
    ) -> Deflection:
        """The motion of the section in a frame in which the clamped frame is placed at (R, p)."""
        r, kind = np.asarray(rotation, dtype=float), Deflection if exact else FirstOrderDeflection
        return kind(
            frozen(clean_matrix(np.asarray(translation, dtype=float) + r @ self.position)),
            frozen(clean_matrix(r @ self.translation)),
            frozen(clean_matrix(r @ self.rotation)),
            frozen(self.shortening),
            frozen(clean_matrix(r[:, 0])),
        )


def root(modes: int, body: Array | None = None) -> Station:
    """The root of a link with a number of modes: the clamped frame, which no mode moves."""
    zero = np.zeros((3, modes))
    return Station(np.zeros(3), zero, zero, np.zeros((modes, modes)), np.zeros((4, 4)) if body is None else body)


@dataclass(frozen=True, eq=False)
class LinkModel:
    """A joint and the link that it moves; the joint's attributes are named as in :class:`~gdalembert.model.tree.Joint`.

    Attributes:
        name: of the joint.
        type: the joint's motion.
        parent: index of the parent link, −1 for the universe.
        parent_station: index of the parent's station that carries the joint; 0 is the root.
        placement: P, the joint frame in that station's frame (4 × 4).
        clamped: Q, the clamped frame in the link frame (4 × 4).
        inertia: of the link.
        stations: root first, then the tip of a flexible link.
        idx_q, idx_v: where the joint's coordinates start in q and v.
        mode_idx_q, mode_idx_v: where the modal coordinates start in q and v.
        mode_names: ``"y1"``, …
    """

    name: str
    type: JointType
    parent: int
    parent_station: int
    placement: Array
    clamped: Array
    inertia: ModalInertia
    stations: tuple[Station, ...]
    idx_q: int
    idx_v: int
    mode_idx_q: int
    mode_idx_v: int
    mode_names: tuple[str, ...] = field(default=())

    def joint_configuration(self, q: Matrix) -> Matrix:
        """The joint's own part of q."""
        return q[self.idx_q : self.idx_q + self.type.nq]

    def joint_velocity(self, v: Matrix) -> Matrix:
        """The joint's own part of v (or of a)."""
        return v[self.idx_v : self.idx_v + self.type.nv]

    def modal_configuration(self, q: Matrix) -> Matrix:
        """f, the modal coordinates in q."""
        return q[self.mode_idx_q : self.mode_idx_q + self.inertia.modes]

    def modal_velocity(self, v: Matrix) -> Matrix:
        """The part of v (or of a) that belongs to the modes."""
        return v[self.mode_columns.start : self.mode_columns.stop]

    @property
    def mode_columns(self) -> range:
        """The indices of the modal coordinates in v."""
        return range(self.mode_idx_v, self.mode_idx_v + self.inertia.modes)


def check_body(what: str, body: Any) -> None:
    """Refuse anything but the inertia of a rigid body.

    Raises:
        ArgumentTypeError: if it is not a ``pin.Inertia``.
        ArgumentError: if a number is not finite, or mass or a principal moment is negative.
    """
    if not isinstance(body, pin.Inertia):
        raise ArgumentTypeError(f"{what}: expected a pin.Inertia, got {body!r}")
    mass, lever, tensor = float(body.mass), np.array(body.lever), np.array(body.inertia)
    if not (math.isfinite(mass) and np.all(np.isfinite(lever)) and np.all(np.isfinite(tensor))):
        raise ArgumentError(f"{what}: a number is not finite; give a pin.Inertia of finite numbers")
    if mass < 0 or least_moment(tensor, mass) < 0:
        least = float(np.linalg.eigvalsh(tensor)[0])
        raise ArgumentError(
            f"{what}: its mass is {mass:g} kg and its least principal moment {least:g} kg m²; give at least 0"
        )


def pseudo_inertia_of(body: pin.Inertia) -> Array:
    """The 4 × 4 matrix ∫ x̂ x̂ᵀ dm of a body, about the origin of its frame."""
    return np.asarray(body.toPseudoInertia().toMatrix())
