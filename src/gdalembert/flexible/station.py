"""Stations of a flexible link, and the joints of a tree that they are.

The joint of a link moves the *link frame*. The *clamped frame* stands at the root of the beam, fixed in the link frame,
x along the undeformed beam, y and z along the principal axes of its cross section. A *station* is a cross section, or a
node, with a frame of its own, which has the axes of the clamped frame where nothing is deformed; the modes move it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.model.joints.deflection import Deflection
from gdalembert.model.modal_inertia import ModalInertia, SegmentInertia
from gdalembert.model.rounding import clean_matrix, least_moment
from gdalembert.model.tree import Joint
from gdalembert.spatial.arrays import Array, frozen, homogeneous
from gdalembert.spatial.brief import Brief

NO_BODY = frozen(np.zeros((4, 4)))
"""The pseudo-inertia of no body."""


@dataclass(frozen=True, eq=False)
class BeamStation:
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
        self, clamped: Array, names: tuple[str, ...] = (), kind: type[Deflection] = Deflection
    ) -> Deflection:
        """The motion of the section in a frame in which the clamped frame is placed at ``clamped`` (4 × 4)."""
        r = clamped[:3, :3]
        return kind(
            frozen(clean_matrix(clamped[:3, 3] + r @ self.position)),
            frozen(clean_matrix(r @ self.translation)),
            frozen(clean_matrix(r @ self.rotation)),
            frozen(self.shortening),
            frozen(clean_matrix(r[:, 0])),
            names,
        )


def root(modes: int, body: Array = NO_BODY) -> BeamStation:
    """The root of a link with a number of modes: the clamped frame, which no mode moves."""
    zero = np.zeros((3, modes))
    return BeamStation(np.zeros(3), zero, zero, np.zeros((modes, modes)), body)


@dataclass(frozen=True, eq=False)
class Attachment:
    """The joint of the tree that moves a child joint or frame, by index, and the placement in its frame (4 × 4)."""

    joint: int
    placement: Array


@dataclass(frozen=True)
class Carrier:
    """The joint that carries a beam.

    Attributes:
        joint: the joint, with the rigid link on it. ``index``: its place in the tree.
        mode_idx_q, mode_idx_v: where the modal coordinates of the link start in q and v.
        deflection: the class that says how sections turn.
    """

    joint: Joint
    index: int
    mode_idx_q: int
    mode_idx_v: int
    deflection: type[Deflection] = Deflection


@dataclass(frozen=True, eq=False)
class CarriedBeam:
    """A beam on the joint that carries it.

    Attributes:
        inertia: that of the link in the clamped frame. ``clamped``: that frame in the link frame (4 × 4).
        stations: stations, root first. ``names``: those of the modal coordinates.
    """

    carrier: Carrier
    inertia: ModalInertia
    clamped: Array
    stations: Sequence[BeamStation]
    names: tuple[str, ...] = ()

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joint with the beam on it, and the stations that its modes move, which share its modal coordinates."""
        carrier, body = self.carrier, self.inertia.placed(self.clamped).rigid
        moving = []
        for k, station in enumerate(self.stations):
            frame = self._frame(k)
            load = frame @ station.body @ frame.T
            if not self._moves(k):
                body = body + load
                continue
            kind = station.deflection(self.clamped, self.names, carrier.deflection)
            shared = () if k == 1 else (1.0, 0.0)
            place, at = (np.eye(3), np.zeros(3)), (carrier.mode_idx_q, carrier.mode_idx_v)
            load = frozen(clean_matrix(load))
            moving.append(Joint(f"{carrier.joint.name} station {k}", kind, carrier.index, *place, load, *at, *shared))
        return replace(carrier.joint, pseudo_inertia=frozen(clean_matrix(body))), *moving

    def attachment(self, station: int, placement: Array) -> Attachment:
        """Attachment of what stands at a placement (4 × 4) in the frame of a station."""
        joint = self.carrier.index + station if self._moves(station) else self.carrier.index
        return Attachment(joint, self._frame(station) @ placement)

    def _moves(self, station: int) -> bool:
        """True if the modes move a station, so that it is a joint of the tree; the root is at rest."""
        return station > 0 and self.inertia.modes > 0

    def _frame(self, station: int) -> Array:
        """The frame of a station in that of the joint that moves it (4 × 4)."""
        if self._moves(station):
            return homogeneous(self.clamped[:3, :3], np.zeros(3))
        return np.asarray(self.clamped @ homogeneous(np.eye(3), self.stations[station].position))


@dataclass(frozen=True)
class Replacement(Brief):
    """A link's own body and the beam that replaces it: masses [kg], centres of mass in the link frame [m].

    The beam is meant with its hub, and with its tip body if the link's own body is equal to all three.
    """

    link: str
    mass: float
    beam_mass: float
    com: Array
    beam_com: Array

    def __str__(self) -> str:
        return (
            f"link {self.link!r}: its body of {self.mass:.6g} kg at {np.round(self.com, 6).tolist()} m is now a beam "
            f"of {self.beam_mass:.6g} kg at {np.round(self.beam_com, 6).tolist()} m"
        )


@dataclass(frozen=True, eq=False)
class AttachedLink:
    """A link of a tree with flexible links.

    Attributes:
        joints: the joint that moves the link, and the stations on it; parents are indices in the tree.
        attachments: those of all child joints and frames on the link, by name.
        beam: what of the link is flexible; ``None`` for a rigid link.
    """

    joints: tuple[Joint, ...]
    attachments: dict[str, Attachment]
    beam: AttachedBeam | None = None

    @property
    def modes(self) -> int:
        """The number of modal coordinates."""
        return 0 if self.beam is None else len(self.beam.stiffness)


@dataclass(frozen=True, eq=False)
class AttachedBeam:
    """The beam of a flexible link where it is attached; n modal coordinates.

    Attributes:
        inertias: those of the modes, in the frame of the link or station with that index in the tree, which carries
            them.
        stiffness, damping: matrices of the modal coordinates (n × n).
        root, tip: where frames there are attached.
        length: [m]. ``kind``: the class of the link.
        replacement: ``None`` if the link's own body stays.
        buckling_load: that of the bare beam [N]; nan of a rod.
        frequency: the first one of the clamped link, with the bodies on it but without child joints [rad/s]; nan of a
            rod.
    """

    inertias: Mapping[int, ModalInertia | SegmentInertia]
    stiffness: Array
    damping: Array
    root: Attachment
    tip: Attachment
    length: float
    kind: type[Any]
    replacement: Replacement | None
    buckling_load: float = math.nan
    frequency: float = math.nan


@dataclass(frozen=True, eq=False)
class BeamSite:
    """A link of a tree where a beam is to stand.

    Attributes:
        carrier: the joint that carries the link. ``name``: that of the link.
        clamped: the clamped frame in the link frame (4 × 4).
        stations: of the beam by abscissa [m], root and tip first, with the bodies there.
        abscissae: where child joints and frames are attached [m]. ``placements``: of them in the link frame (4 × 4).
        replacement: what the beam replaces; ``None`` if the link's own body stays.
    """

    carrier: Carrier
    name: str
    clamped: Array
    stations: Mapping[float, BeamStation]
    abscissae: Mapping[str, float]
    placements: Mapping[str, Array]
    replacement: Replacement | None


def ahead(eta: float) -> Array:
    """The frame at an abscissa [m] on the undeformed axis, in the clamped frame (4 × 4)."""
    return homogeneous(np.eye(3), np.array([eta, 0.0, 0.0]))


def check_body(argument: str, body: Any) -> None:
    """Refuse anything but the inertia of a rigid body, a ``pin.Inertia``."""
    if not isinstance(body, pin.Inertia):
        raise ArgumentTypeError(f"{argument}: expected a pin.Inertia, got {shown(body)}")
    mass, lever, tensor = float(body.mass), np.array(body.lever), np.array(body.inertia)
    if not (math.isfinite(mass) and np.all(np.isfinite(lever)) and np.all(np.isfinite(tensor))):
        raise ArgumentError(f"{argument}: a number is not finite; give a pin.Inertia of finite numbers")
    if mass < 0 or least_moment(tensor, mass) < 0:
        least = float(np.linalg.eigvalsh(tensor)[0])
        raise ArgumentError(
            f"{argument}: its mass is {mass:g} kg and its least principal moment {least:g} kg m²; give at least 0"
        )


def pseudo_inertia_of(body: pin.Inertia) -> Array:
    """The 4 × 4 matrix ∫ x̂ x̂ᵀ dm of a body, about the origin of its frame."""
    return np.asarray(body.toPseudoInertia().toMatrix())
