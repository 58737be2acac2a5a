"""A beam on a link of the model: where it runs, what it replaces, and where joints and frames are attached to it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, UnknownNameError
from gdalembert.flexible.beam_link import BeamLink, stack_level
from gdalembert.flexible.beams.modal_integrals import largest_eigenvalue, modal_mass
from gdalembert.flexible.flexible_link import FlexibleLink
from gdalembert.flexible.rigid_link import FixedBody, RigidLink
from gdalembert.flexible.rods.cosserat_rod import CosseratRod
from gdalembert.flexible.rods.joints import LINK, RodJoints
from gdalembert.flexible.station import Attachment, CarriedBeam, Carrier, Station, pseudo_inertia_of
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.model.rounding import NEGLIGIBLE, clean_matrix
from gdalembert.model.segment_inertia import SegmentInertia
from gdalembert.model.tree import Joint
from gdalembert.spatial.arrays import Array, frozen, homogeneous, turned_to

_SAME_LENGTH = 1e-6  # relative: tolerance of a given length, and of being at the tip
_STUBBY = 10.0  # length over radius of gyration, where shear is 10 % (round) to 16 % (thin tube) of bending
Link = TypeVar("Link", bound=BeamLink)

_DIFFERENT = 1e-2  # in mass, or in the centre of mass over the length of the beam: warned about


@dataclass(frozen=True)
class Replacement:
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
    """A link of a tree with flexible links, and the attachments of all child joints and frames on it, by name.

    Attributes:
        joints: the joint that moves the link, and the stations on it; parents are indices in the tree.
        attachments: by name.
        beam: what of the link is flexible; ``None`` for a rigid link.
    """

    joints: tuple[Joint, ...]
    attachments: dict[str, Attachment]
    beam: AttachedBeam | AttachedRod | None = None

    @property
    def modes(self) -> int:
        """The number of modal coordinates."""
        return 0 if self.beam is None else len(self.beam.stiffness)


@dataclass(frozen=True, eq=False)
class AttachedRod:
    """The beam of a flexible link where it is attached; n modal coordinates.

    Attributes:
        inertias: of the modes, in the frame of the link or station with that index in the tree, which carries them.
        stiffness, damping: of the modal coordinates (n × n).
        root, tip: where frames there are attached.
        length: [m].
        replacement: ``None`` if the link's own body stays.
    """

    inertias: Mapping[int, ModalInertia | SegmentInertia]
    stiffness: Array
    damping: Array
    root: Attachment
    tip: Attachment
    length: float
    replacement: Replacement | None


@dataclass(frozen=True, eq=False)
class AttachedBeam(AttachedRod):
    """An attached link in assumed modes.

    Attributes:
        buckling_load: of the bare beam [N].
        frequency: the first one of the clamped link, with the bodies on it but without child joints [rad/s].
    """

    buckling_load: float
    frequency: float


def attach(
    carrier: Carrier, rigid: RigidLink, beam: FlexibleLink | CosseratRod, fixed_bodies: Mapping[str, pin.Inertia]
) -> AttachedLink:
    """Put a beam on a link.

    Args:
        carrier: the joint that moves the link.
        rigid: the link.
        beam: the flexible link.
        fixed_bodies: the inertia of bodies that the model merges with a link's own body.

    Raises:
        UnknownNameError: if ``to`` or a child is not on the link.
        ArgumentError: if the beam does not fit there.
    """
    for child in beam.children:
        if child not in rigid.placements:
            raise UnknownNameError(f"child of link {rigid.name!r}", child, rigid.placements)
    end = _end(rigid, beam)
    clamped, beam = _line(rigid, beam, end)
    abscissae = _abscissae(rigid, beam, clamped, end)
    fixed = rigid.fixed_bodies(fixed_bodies)
    loaded = [abscissae[child] for child in rigid.children] + [abscissae[body.name] for body in fixed]
    if isinstance(beam, FlexibleLink):
        beam = beam.by_role(carries=any(eta > 0 for eta in loaded) or beam.tip_body is not None)
    etas = [0.0, beam.length, *sorted(set(abscissae.values()) - {0.0, beam.length})]
    bare = {eta: beam.station(eta) for eta in etas}
    to_station = {eta: bare[eta].to_axis(0) @ np.linalg.inv(clamped) for eta in etas}
    own_body = rigid.own_body(fixed)
    bodies = _station_bodies(beam, own_body, bare, to_station, [(each, abscissae[each.name]) for each in fixed])
    _check_slender(rigid.name, beam)
    replacement = None if beam.keep_body else _replacement(rigid.name, own_body, clamped, beam)
    if isinstance(beam, CosseratRod):
        return _rod(carrier, rigid, beam, clamped, bodies, abscissae, replacement)
    _check_sag(rigid.name, beam)
    stations = tuple(replace(bare[eta], body=frozen(bodies[eta])) for eta in etas)
    inertia = beam.inertia()
    names = tuple(f"{rigid.name} {mode}" for mode in beam.mode_names)
    carried = CarriedBeam(carrier, inertia, clamped, stations, names)
    return AttachedLink(
        carried.joints,
        {
            name: carried.attachment(etas.index(eta), to_station[eta] @ rigid.placements[name])
            for name, eta in abscissae.items()
        },
        AttachedBeam(
            inertias={carrier.index: inertia.placed(clamped)} if inertia.modes else {},
            stiffness=inertia.stiffness,
            damping=beam.damping_matrix(),
            root=carried.attachment(0, np.eye(4)),
            tip=carried.attachment(1, stations[1].to_axis(beam.length)),
            length=beam.length,
            buckling_load=beam.buckling_load(),
            frequency=1 / np.sqrt(largest_eigenvalue(inertia.stiffness, modal_mass(inertia, *stations))),
            replacement=replacement,
        ),
    )


def _rod(
    carrier: Carrier,
    rigid: RigidLink,
    rod: CosseratRod,
    clamped: Array,
    bodies: Mapping[float, Array],
    abscissae: Mapping[str, float],
    replacement: Replacement | None,
) -> AttachedLink:
    """A Cosserat rod on its link, with bodies in the frames of the sections."""
    axes = homogeneous(clamped[:3, :3], np.zeros(3))
    on_sections = {eta: axes @ body @ axes.T for eta, body in bodies.items() if eta > 0}
    made = RodJoints.of(rod.beam, rod.settings, clamped, on_sections, rigid.name)
    index = {LINK: carrier.index, **{k: carrier.index + 1 + k for k in range(len(made.joints))}}
    body = made.inertias[LINK].rigid + clamped @ bodies[0.0] @ clamped.T
    joints = [replace(carrier.joint, pseudo_inertia=frozen(clean_matrix(body)))]
    for joint in made.joints:
        idx_q, idx_v = carrier.mode_idx_q + joint.idx_q, carrier.mode_idx_v + joint.idx_v
        joints.append(replace(joint, parent=index[joint.parent], idx_q=idx_q, idx_v=idx_v))

    def attached(eta: float, placement: Array) -> Attachment:
        """Of a placement in the link frame of the straight rod."""
        root = np.zeros(3) if eta == 0 else -(clamped @ _ahead(eta))[:3, 3]
        return Attachment(index[made.at[eta]], homogeneous(np.eye(3), root) @ placement)

    beam = AttachedRod(
        inertias={index[k]: inertia for k, inertia in made.inertias.items()},
        stiffness=made.stiffness,
        damping=rod.damping_matrix(),
        root=attached(0.0, clamped),
        tip=attached(rod.length, clamped @ _ahead(rod.length)),
        length=rod.length,
        replacement=replacement,
    )
    found = {name: attached(eta, rigid.placements[name]) for name, eta in abscissae.items()}
    return AttachedLink(tuple(joints), found, beam)


def _station_bodies(
    beam: BeamLink,
    own_body: Array,
    bare: Mapping[float, Station],
    to_station: Mapping[float, Array],
    fixed: Sequence[tuple[FixedBody, float]],
) -> dict[float, Array]:
    """The pseudo-inertias (4 × 4) of the bodies on each station, in its frame, by abscissa.

    Args:
        beam: the beam, with hub and tip body.
        own_body: of the link, which stays as a hub with ``keep_body``; in the link frame (4 × 4).
        bare: the stations without bodies. ``to_station``: the link frame in the frame of each (4 × 4).
        fixed: bodies that are fixed to the link, each with its abscissa.
    """
    bodies = {eta: np.zeros((4, 4)) for eta in bare}
    for body, eta in fixed:
        placement = to_station[eta] @ body.placement
        bodies[eta] += placement @ body.body @ placement.T
    for given, eta in ((beam.hub, 0.0), (beam.tip_body, beam.length)):
        if given is not None:
            placement = bare[eta].to_axis(eta)
            bodies[eta] += placement @ pseudo_inertia_of(given) @ placement.T
    if beam.keep_body:
        bodies[0.0] += to_station[0.0] @ own_body @ to_station[0.0].T
    return bodies


def _check_slender(name: str, beam: FlexibleLink | CosseratRod) -> None:
    """Warn of stubby beams without shear."""
    if isinstance(beam, CosseratRod) and beam.shears:
        return
    radius = float(np.sqrt(beam.body.diagonal()[1:3].max() / beam.body[3, 3]))
    if beam.length < _STUBBY * radius:
        warnings.warn(
            f"link {name!r}: it is {beam.length / radius:.3g} times as long as the radius of gyration of its sections; "
            f"below {_STUBBY:g}, shear, which is left out, softens it by a tenth or more; take the link as rigid, or "
            "check the units (m)",
            stacklevel=stack_level(),
        )


def _check_sag(name: str, beam: FlexibleLink) -> None:
    """Warn of numbers that seem to be in other units."""
    inertia, tip = beam.inertia(), beam.station("tip")
    weight = 9.81 * inertia.first[: inertia.modes, 3, :3]
    sag = float(np.abs(tip.translation[1:] @ np.linalg.solve(inertia.stiffness, weight)[:, 1:]).max())
    if sag > beam.length:
        warnings.warn(
            f"link {name!r}: its own weight would bend it by {sag:.3g} m, and it is {beam.length:g} m long; check the "
            "units (N m², Pa, kg/m, kg/m³)",
            stacklevel=stack_level(),
        )


def _ahead(eta: float) -> Array:
    return homogeneous(np.eye(3), np.array([eta, 0.0, 0.0]))


def _end(rigid: RigidLink, beam: BeamLink) -> str | None:
    """The child joint or frame that the beam runs to: the named one, or the only child joint."""
    if beam.to is not None:
        if beam.to not in rigid.placements:
            raise UnknownNameError(f"joint or frame on link {rigid.name!r}", beam.to, rigid.placements)
        return beam.to
    return next(iter(rigid.children)) if len(rigid.children) == 1 else None


def _line(rigid: RigidLink, beam: Link, end: str | None) -> tuple[Array, Link]:
    """The clamped frame in the link frame, and the link with its length.

    Without a root the beam runs straight from the link frame to its end; z, about which it bends in y, is as near to
    the joint's axis as that allows.
    """
    what = f"its child joint {end!r}" if end in rigid.children else f"{end!r}"
    if end is None and (not beam.has_length or (beam.root is None and rigid.children)):
        n = len(rigid.children)
        ahead = ", ".join(repr(name) for name, at in rigid.placements.items() if at[:3, 3].any())
        raise ArgumentError(
            f"link {rigid.name!r}: it has {f'{n} child joints' if n else 'no child joint'}; say with to= on which of "
            f"{ahead} the beam ends, or give root= and the beam's length"
        )
    if beam.root is not None:
        return _line_from_root(rigid, beam, end, what)
    if end is None:
        towards, what = 2 * rigid.joint.com, "twice its centre of mass"
    else:
        towards = rigid.placements[end][:3, 3]
    length = float(np.linalg.norm(towards))
    if length == 0:
        raise ArgumentError(
            f"link {rigid.name!r}: {what} lies in the link's frame, so that the beam has no direction; say with root= "
            "where it begins and runs"
        )
    if beam.has_length:
        _require_length(rigid, beam, end, length, f"{what} is {length:g} m from the link's frame")
    else:
        beam = beam.with_length(length)
    x = towards / length
    axis = np.array(rigid.joint.type.axis if rigid.joint.type.is_revolute else (0.0, 0.0, 1.0))
    across = axis - x * (x @ axis)
    z = across / np.linalg.norm(across) if np.linalg.norm(across) > NEGLIGIBLE else turned_to(x)[:, 0]
    return homogeneous(np.column_stack([x, np.cross(z, x), z]), np.zeros(3)), beam


def _line_from_root(rigid: RigidLink, beam: Link, end: str | None, what: str) -> tuple[Array, Link]:
    """Line from a given root: a beam without a length ends at the abscissa of its end."""
    clamped = np.asarray(beam.root)
    if end is None:
        return clamped, beam
    length = float((np.linalg.inv(clamped) @ rigid.placements[end])[0, 3])
    if beam.has_length:
        if beam.to is not None:
            _require_length(rigid, beam, end, length, f"{what} is {length:g} m along x of root=")
        return clamped, beam
    if length <= 0:
        raise ArgumentError(
            f"link {rigid.name!r}: {what} lies at {length:.6g} m along x of root=, so that the beam has no length; "
            "turn x of root= towards it, or give the beam a length"
        )
    return clamped, beam.with_length(length)


def _require_length(rigid: RigidLink, beam: BeamLink, end: str | None, length: float, where: str) -> None:
    if abs(length - beam.length) > _SAME_LENGTH * beam.length and end not in beam.children:
        raise ArgumentError(
            f"link {rigid.name!r}: the beam is {beam.length:g} m long, but {where}; give that length or none, say with "
            "children= where on the beam that is attached, or with to= or root= where the beam runs"
        )


def _abscissae(rigid: RigidLink, beam: BeamLink, clamped: Array, end: str | None) -> dict[str, float]:
    """The abscissa at which each child joint and frame is attached to the beam [m].

    Those that are fixed to each other are attached together: where ``children`` says for one of them; at the tip, if
    the beam ends at one of them; otherwise where the outermost of them lies.
    """
    fixtures = {name: rigid.fixture(name) for name in rigid.placements}
    declared: dict[str, str | float] = {}
    for name, where in beam.children.items():
        declared.setdefault(fixtures[name], where)
    inverse = np.linalg.inv(clamped)
    ends_there = end is not None and abs((inverse @ rigid.placements[end])[0, 3] / beam.length - 1) <= _SAME_LENGTH
    abscissae: dict[str, float] = {}
    for name, fixture in fixtures.items():
        given: str | float | None = beam.children[name] if name in beam.children else declared.get(fixture)
        if given is None and ends_there and end is not None and fixture == fixtures[end]:
            given = "tip"
        if given is None:
            lies = float((inverse @ rigid.placements[fixture])[0, 3])
            if name in rigid.children and lies > beam.length * (1 + _SAME_LENGTH):
                raise ArgumentError(
                    f"link {rigid.name!r}: child joint {name!r} lies at {lies:g} m, beyond the tip of the beam of "
                    f"{beam.length:g} m; give a longer beam, or say with children={{{name!r}: 'tip'}} that it is "
                    "attached to the tip"
                )
            given = min(max(lies, 0.0), beam.length)
        eta = given if not isinstance(given, str) else beam.length if given == "tip" else 0.0
        ends = (e for e in (0.0, beam.length) if abs(eta - e) <= _SAME_LENGTH * beam.length)
        abscissae[name] = next(ends, float(eta))
    return abscissae


def _replacement(name: str, own: Array, clamped: Array, beam: BeamLink) -> Replacement:
    """What the beam replaces: the link's own body (4 × 4). Warn if they differ.

    A hub is part of the link's own body. A tip body may be part of it too, or may be a payload in addition.
    """
    alone = beam.body + (0 if beam.hub is None else pseudo_inertia_of(beam.hub))
    found, counted = _compared(name, own, clamped @ alone @ clamped.T), ""
    if beam.tip_body is not None and _differ(found, beam):
        at_tip = _ahead(beam.length)
        whole = alone + at_tip @ pseudo_inertia_of(beam.tip_body) @ at_tip.T
        with_tip = _compared(name, own, clamped @ whole @ clamped.T)
        counted = f", with its tip_body {float(whole[3, 3]):.3g} kg"
        found = found if _differ(with_tip, beam) else with_tip
    if _differ(found, beam):
        warnings.warn(
            f"{found}{counted}; give a hub= or tip_body= for what is left, or keep_body=True to have both",
            stacklevel=stack_level(),
        )
    return found


def _compared(name: str, own: Array, new: Array) -> Replacement:
    com = own[:3, 3] / own[3, 3] if own[3, 3] > 0 else np.zeros(3)
    return Replacement(name, float(own[3, 3]), float(new[3, 3]), frozen(com), frozen(new[:3, 3] / new[3, 3]))


def _differ(found: Replacement, beam: BeamLink) -> bool:
    heavier = abs(found.mass - found.beam_mass) > _DIFFERENT * max(found.mass, found.beam_mass)
    return bool(heavier or np.abs(found.com - found.beam_com).max() > _DIFFERENT * beam.length)
