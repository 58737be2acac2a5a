"""A beam on a link of the model: where it runs, what it replaces, and where joints and frames are attached to it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, BeamWarning, UnknownNameError
from gdalembert.flexible.flexible_link import BeamLink
from gdalembert.flexible.station import (
    AttachedLink,
    BeamSite,
    BeamStation,
    Carrier,
    Replacement,
    ahead,
    pseudo_inertia_of,
)
from gdalembert.model.rounding import MOMENT_TOLERANCE, NEGLIGIBLE, SAME_PLACE
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.arguments import warn
from gdalembert.spatial.arrays import Array, frozen, homogeneous, turned_to

_SAME_LENGTH = 1e-6
"""Relative: tolerance of a given length, and of being at the tip."""
_STUBBY = 10.0
"""Length over radius of gyration, where shear is 10 % (round) to 16 % (thin tube) of bending."""
_DIFFERENT = 1e-2
"""Difference in mass, or in the centre of mass over the length of the beam, that is warned about."""


@dataclass(frozen=True, eq=False)
class RigidLink:
    """A link of a tree, by the index of the joint that moves it; ``name``: of its body frame."""

    tree: Tree
    index: int
    name: str = ""

    @property
    def joint(self) -> Joint:
        """The joint that moves the link."""
        return self.tree.joints[self.index]

    @cached_property
    def children(self) -> dict[str, Joint]:
        """Child joints, by the model's names."""
        joints = enumerate(self.tree.joints)
        return {model_joint_name(self.tree, k): child for k, child in joints if child.parent == self.index}

    @cached_property
    def placements(self) -> dict[str, Array]:
        """The placements (4 × 4) of child joints and frames on the link, by the model's names."""
        placements = {name: homogeneous(child.rotation, child.translation) for name, child in self.children.items()}
        for f in self.tree.frames:
            if f.joint == self.index:
                placements.setdefault(f.name, homogeneous(f.rotation, f.translation))
        return placements

    @property
    def merged_bodies(self) -> list[Frame]:
        """Body frames on the link beside its own, whose inertia the model has merged with the link's own."""
        here = [f for f in self.tree.frames if f.joint == self.index]
        fixed = {f.name for f in here if f.type == "FIXED_JOINT"}
        bodies = [f for f in here if f.type == "BODY"]
        own_name = next((f.name for f in bodies if is_link_frame(f)), None)
        return [f for f in bodies if f.name != own_name and self.tree.frames[f.previous].name not in fixed]

    def fixture(self, name: str) -> str:
        """The outermost fixed joint on the link that carries a child joint or frame; itself if there is none."""
        frames = self.tree.frames
        if name in self.children:
            joint_frame = next((f for f in frames if f.name == name and f.type == "JOINT"), None)
            here = len(frames) if joint_frame is None else joint_frame.previous
        else:
            here = next(k for k, f in enumerate(frames) if f.name == name and f.joint == self.index)
        outermost = name
        while here < len(frames) and frames[here].joint == self.index:
            if frames[here].type == "FIXED_JOINT":
                outermost = frames[here].name
            if frames[here].previous >= here:
                break
            here = frames[here].previous
        return outermost

    def fixed_bodies(self, inertias: Mapping[str, pin.Inertia]) -> list[tuple[str, Array]]:
        """Name and pseudo-inertia (4 × 4, in the link frame) of the bodies that are fixed to the link.

        Those of a URDF are on its fixed joints; those of a model made by hand are given, by the name of their frame.
        """
        merged = self.merged_bodies
        if missing := [f.name for f in merged if f.name not in inertias]:
            asked = ", ".join(f"{name!r}: pin.Inertia(...)" for name in missing)
            raise ArgumentError(
                f"link {self.name!r}: the model does not tell its own body from what is fixed to it; give the inertia "
                f"of each in its frame: fixed_bodies={{{asked}}}"
            )
        here = [f for f in self.tree.frames if f.joint == self.index and f.type == "FIXED_JOINT"]
        fixed = [(f, f.pseudo_inertia) for f in here if f.pseudo_inertia[3, 3] > 0]
        fixed += [(f, pseudo_inertia_of(inertias[f.name])) for f in merged]
        placed = [(f.name, homogeneous(f.rotation, f.translation), body) for f, body in fixed]
        return [(name, placement @ body @ placement.T) for name, placement, body in placed]

    def own_body(self, fixed: list[tuple[str, Array]]) -> Array:
        """The pseudo-inertia (4 × 4) of the link's own body, in the link frame."""
        whole = self.joint.pseudo_inertia
        body_alone: Array = whole - sum((body for _, body in fixed), np.zeros((4, 4)))
        if body_alone[3, 3] < -MOMENT_TOLERANCE * whole[3, 3]:
            raise ArgumentError(
                f"link {self.name!r}: what is fixed to it has {whole[3, 3] - body_alone[3, 3]:.6g} kg, and the model "
                f"gives it and the link's own body {whole[3, 3]:.6g} kg together; give less in fixed_bodies"
            )
        return body_alone


def model_joint_name(tree: Tree, i: int) -> str:
    """The name in the model of the joint that an elementary joint is a part of, or of the frame at which it springs."""
    if (springs_at := tree.joints[i].type.springs_at) is not None:
        return springs_at
    return tree.joint_names[bisect_left(tree.links, i)]


def is_link_frame(frame: Frame) -> bool:
    """True if a frame coincides with the link frame."""
    off = homogeneous(frame.rotation, frame.translation) - np.eye(4)
    return bool(np.abs(off).max() <= SAME_PLACE)


def beam_on_link(
    carrier: Carrier, rigid: RigidLink, beam: BeamLink, fixed_bodies: Mapping[str, pin.Inertia]
) -> AttachedLink:
    """Put a beam on the link that a joint of the tree carries.

    Raises:
        UnknownNameError: if ``to`` or a child is not on the link.
        ArgumentError: if the beam does not fit there.
    """
    for child in beam.children:
        if child not in rigid.placements:
            raise UnknownNameError(f"child of link {rigid.name!r}", child, rigid.placements)
    if beam.to is not None and beam.to not in rigid.placements:
        raise UnknownNameError(f"joint or frame on link {rigid.name!r}", beam.to, rigid.placements)
    end = next(iter(rigid.children)) if beam.to is None and len(rigid.children) == 1 else beam.to
    fixed = rigid.fixed_bodies(fixed_bodies)
    own_body = rigid.own_body(fixed)
    clamped_to_link, beam = _line(rigid, own_body, beam, end)
    abscissae = _abscissae(rigid, beam, clamped_to_link, end)
    loaded = [abscissae[name] for name in (*rigid.children, *(name for name, _ in fixed))]
    beam = beam.by_role(carries=any(eta > 0 for eta in loaded) or beam.tip_body is not None)
    on_link = [(abscissae[name], body) for name, body in fixed]
    if beam.keep_body:
        on_link.append((0.0, own_body))
    stations = _loaded_stations(beam, clamped_to_link, abscissae.values(), on_link)
    _check_proportions(rigid.name, beam)
    replacement = None if beam.keep_body else _replacement(rigid.name, own_body, clamped_to_link, beam)
    return beam.on_link(
        BeamSite(carrier, rigid.name, clamped_to_link, stations, abscissae, rigid.placements, replacement)
    )


def _loaded_stations(
    beam: BeamLink,
    clamped_to_link: Array,
    abscissae: Iterable[float],
    on_link: list[tuple[float, Array]],
) -> dict[float, BeamStation]:
    """The stations of a beam by abscissa [m], root and tip first, with the bodies there, hub and tip body included.

    Bodies on the link are given by abscissa, in the link frame.
    """
    etas = [0.0, beam.length, *sorted(set(abscissae) - {0.0, beam.length})]
    bare = {eta: beam.station(eta) for eta in etas}
    bodies = {eta: np.zeros((4, 4)) for eta in etas}
    for eta, body in on_link:
        link_to_station = bare[eta].to_axis(0) @ np.linalg.inv(clamped_to_link)
        bodies[eta] += link_to_station @ body @ link_to_station.T
    for inertia, eta in ((beam.hub, 0.0), (beam.tip_body, beam.length)):
        if inertia is not None:
            body_to_station = bare[eta].to_axis(eta)
            bodies[eta] += body_to_station @ pseudo_inertia_of(inertia) @ body_to_station.T
    return {eta: replace(station, body=frozen(bodies[eta])) for eta, station in bare.items()}


def _check_proportions(name: str, beam: BeamLink) -> None:
    """Warn of stubby beams without shear, and of numbers that seem to be in other units."""
    # of the planes in which it bends; of nodes, which do not say, of both
    planes = [k for k, plane in enumerate(("bending_y", "bending_z"), 1) if plane in beam.strained]
    planes = planes if beam.strained else [1, 2]
    radius = float(np.sqrt(beam.body.diagonal()[planes].max(initial=0) / beam.body[3, 3]))
    if beam.length < _STUBBY * radius and not beam.shears:
        warn(
            f"link {name!r}: it is {beam.length / radius:.3g} times as long as the radius of gyration of its sections; "
            f"below {_STUBBY:g}, shear, which is left out, softens it by a tenth or more; take the link as rigid, or "
            "check the units (m)",
            BeamWarning,
        )
    if beam.sag > beam.length:
        warn(
            f"link {name!r}: its own weight would bend it by {beam.sag:.3g} m, and it is {beam.length:g} m long; check "
            "the units (N m², Pa, kg/m, kg/m³)",
            BeamWarning,
        )


def _line(rigid: RigidLink, own_body: Array, beam: BeamLink, end: str | None) -> tuple[Array, BeamLink]:
    """The clamped frame in the link frame, and the link with its length."""
    if end is None and (not beam.has_length or (beam.root is None and rigid.children)):
        n = len(rigid.children)
        ahead = ", ".join(repr(name) for name, at in rigid.placements.items() if at[:3, 3].any())
        raise ArgumentError(
            f"link {rigid.name!r}: it has {f'{n} child joints' if n else 'no child joint'}; say with to= on which of "
            f"{ahead} the beam ends, or give root= and the beam's length"
        )
    end_name = f"its child joint {end!r}" if end in rigid.children else f"{end!r}"
    if beam.root is not None:
        if end is None or (beam.has_length and beam.to is None):
            return np.asarray(beam.root), beam
        clamped_to_link, length, reason = _from_root(rigid, beam, end, end_name)
    elif end is not None:
        clamped_to_link, length, reason = _straight(rigid, rigid.placements[end][:3, 3], end_name)
    else:
        # of its own body: with a payload that is fixed to it, a beam as long as the link was refused
        com = own_body[:3, 3] / own_body[3, 3] if own_body[3, 3] > 0 else rigid.joint.com
        clamped_to_link, length, reason = _straight(rigid, 2 * com, "twice its centre of mass")
    if not beam.has_length:
        return clamped_to_link, beam.with_length(length)
    if abs(length - beam.length) > _SAME_LENGTH * beam.length and end not in beam.children:
        raise ArgumentError(
            f"link {rigid.name!r}: the beam is {beam.length:g} m long, but {reason}; give that length or none, say "
            "with children= where on the beam that is attached, or with to= or root= where the beam runs"
        )
    return clamped_to_link, beam


def _from_root(rigid: RigidLink, beam: BeamLink, end: str, end_name: str) -> tuple[Array, float, str]:
    """The clamped frame at the root that is given, the abscissa of the end [m], and where that is, in words."""
    clamped_to_link = np.asarray(beam.root)
    length = float((np.linalg.inv(clamped_to_link) @ rigid.placements[end])[0, 3])
    if length <= 0 and not beam.has_length:
        raise ArgumentError(
            f"link {rigid.name!r}: {end_name} lies at {length:.6g} m along x of root=, so that the beam has no length; "
            "turn x of root= towards it, or give the beam a length"
        )
    return clamped_to_link, length, f"{end_name} is {length:g} m along x of root="


def _straight(rigid: RigidLink, end: Array, end_name: str) -> tuple[Array, float, str]:
    """The clamped frame of a beam from the link frame to its end (3, m), their distance [m], and the same in words.

    z, about which the beam bends in y, is as near to the joint's axis as that allows.
    """
    length = float(np.linalg.norm(end))
    if length == 0:
        raise ArgumentError(
            f"link {rigid.name!r}: {end_name} lies in the link's frame, so that the beam has no direction; say with "
            "root= where it begins and runs"
        )
    x = end / length
    axis = np.array(rigid.joint.type.axis if rigid.joint.type.is_revolute else (0.0, 0.0, 1.0))
    across = axis - x * (x @ axis)
    z = across / np.linalg.norm(across) if np.linalg.norm(across) > NEGLIGIBLE else turned_to(x)[:, 0]
    clamped_to_link = homogeneous(np.column_stack([x, np.cross(z, x), z]), np.zeros(3))
    return clamped_to_link, length, f"{end_name} is {length:g} m from the link's frame"


def _abscissae(rigid: RigidLink, beam: BeamLink, clamped_to_link: Array, end: str | None) -> dict[str, float]:
    """The abscissa at which each child joint and frame is attached to the beam [m].

    Those that are fixed to each other are attached together: where ``children`` says for one of them; at the tip, if
    the beam ends at one of them; otherwise where the outermost of them lies.
    """
    fixtures = {name: rigid.fixture(name) for name in rigid.placements}
    declared: dict[str, str | float] = {}
    for name, abscissa in beam.children.items():
        declared.setdefault(fixtures[name], abscissa)
    link_to_clamped = np.linalg.inv(clamped_to_link)
    ends_there = (
        end is not None and abs((link_to_clamped @ rigid.placements[end])[0, 3] / beam.length - 1) <= _SAME_LENGTH
    )
    abscissae: dict[str, float] = {}
    for name, fixture in fixtures.items():
        place = beam.children.get(name, declared.get(fixture))
        if place is None and ends_there and end is not None and fixture == fixtures[end]:
            place = "tip"
        if place is None:
            lies = float((link_to_clamped @ rigid.placements[fixture])[0, 3])
            if name in rigid.children and lies > beam.length * (1 + _SAME_LENGTH):
                raise ArgumentError(
                    f"link {rigid.name!r}: child joint {name!r} lies at {lies:g} m, beyond the tip of the beam of "
                    f"{beam.length:g} m; give a longer beam, or say with children={{{name!r}: 'tip'}} that it is "
                    "attached to the tip"
                )
            place = min(max(lies, 0.0), beam.length)
        eta = place if not isinstance(place, str) else beam.length if place == "tip" else 0.0
        ends = (e for e in (0.0, beam.length) if abs(eta - e) <= _SAME_LENGTH * beam.length)
        abscissae[name] = next(ends, float(eta))
    return abscissae


def _replacement(name: str, link_body: Array, clamped_to_link: Array, beam: BeamLink) -> Replacement:
    """The replacement of the link's own body (4 × 4) by the beam, with a warning if they differ.

    A hub is part of the link's own body. A tip body may be part of it too, or may be a payload in addition.
    """
    com = link_body[:3, 3] / link_body[3, 3] if link_body[3, 3] > 0 else np.zeros(3)

    def by(body: Array) -> tuple[Replacement, bool]:
        """The replacement by a body in the clamped frame, and whether it differs."""
        mass, new = float(link_body[3, 3]), clamped_to_link @ body @ clamped_to_link.T
        replacement = Replacement(name, mass, float(new[3, 3]), frozen(com), frozen(new[:3, 3] / new[3, 3]))
        heavier = abs(mass - replacement.beam_mass) > _DIFFERENT * max(mass, replacement.beam_mass)
        return replacement, bool(
            heavier or np.abs(replacement.com - replacement.beam_com).max() > _DIFFERENT * beam.length
        )

    alone = beam.body + (0 if beam.hub is None else pseudo_inertia_of(beam.hub))
    (replacement, differs), counted = by(alone), ""
    if beam.tip_body is not None and differs:
        tip_to_clamped = ahead(beam.length)
        whole = alone + tip_to_clamped @ pseudo_inertia_of(beam.tip_body) @ tip_to_clamped.T
        with_tip, differs = by(whole)
        counted = f", with its tip_body {float(whole[3, 3]):.3g} kg"
        replacement = replacement if differs else with_tip
    if differs and link_body.any():  # a link without inertia has nothing to be replaced
        warn(
            f"{replacement}{counted}; give a hub= or tip_body= for what is left, or keep_body=True to have both",
            BeamWarning,
        )
    return replacement
