"""The flexible links of an arm again, with the lengths and modes that they have in it, and the strain of their fibres.

An arm keeps the numbers of its links, and the links themselves only as they were given: without the length that the
model gave them, and without the modes of their role.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import casadi as ca
import numpy as np

from gdalembert.dynamics.frames import find_frame
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.flexible.assembly import Flexibility, PlacedBeam
from gdalembert.flexible.flexible_link import BeamLink, Links
from gdalembert.model.rounding import ROUND_OFF
from gdalembert.model.tree import Tree
from gdalembert.spatial.arguments import number, numbers
from gdalembert.spatial.arrays import homogeneous
from gdalembert.spatial.functions import function, symbols


class FlexibleRobot(Protocol):
    """A robot whose links may be flexible, as :class:`~gdalembert.FlexibleArm`."""

    @property
    def tree(self) -> Tree: ...
    @property
    def kinematics(self) -> str: ...
    @property
    def flexibility(self) -> Flexibility: ...
    @property
    def links(self) -> Links | None: ...


def strain(arm: FlexibleRobot, name: str, at: Any, fibre: Any, links: Links | None) -> ca.Function:
    """See :meth:`~gdalembert.FlexibleArm.strain`."""
    context, beam = f"strain of link {name!r}", arm.flexibility.link(name)
    link = placed_link(arm, name, links)
    place = number(f"{context}: at", at, inclusive=True)
    if place > 1 + ROUND_OFF:
        raise ArgumentError(f"{context}: at: got {place:g}; give a fraction of its length, from 0 (root) to 1 (tip)")
    abscissa = min(place, 1.0) * beam.length
    offset = numbers(f"{context}: fibre", fibre)
    if offset.shape not in ((), (2,)):
        raise ArgumentError(f"{context}: fibre has shape {offset.shape}; give (y, z) from the axis, or one number [m]")
    if offset.ndim == 0:
        planes = [plane for plane in ("bending_y", "bending_z") if plane in link.strained]
        if len(planes) != 1:
            bends = "in y and z" if planes else "in neither y nor z"
            raise ArgumentError(f"{context}: it bends {bends}, and fibre is one number; give (y, z) from the axis [m]")
        offset = np.array([offset, 0.0] if planes == ["bending_y"] else [0.0, offset])
    radius = link.radius_between(abscissa, abscissa)
    if radius is not None and (off := float(np.hypot(*offset))) > radius * (1 + ROUND_OFF):
        raise ArgumentError(
            f"{context}: the fibre is {off:.4g} m from the axis, and the section reaches {radius:.4g} m; give metres"
        )
    row, s = link.fibre_strain(abscissa, *map(float, offset)), symbols(q=arm.tree.nq)
    behind = arm.tree.nq - arm.tree.nv
    f = s["q"][beam.modes.start + behind : beam.modes.stop + behind]
    return function("strain", s, {"strain": ca.sparsify(ca.DM(row)).T @ f})


def links_of(arm: FlexibleRobot, links: Links | None = None) -> Links:
    """The flexible links that an arm was made of, or those given in their place.

    Raises:
        ArgumentError: if none are given and the arm, pickled or copied, has none.
        ArgumentTypeError: if they are not a dict.
        UnknownNameError: if one of the arm is not among them, or the arm has none of that name.
    """
    beams = arm.flexibility.links
    flexible_links = arm.links if links is None else links
    if flexible_links is None:
        if beams:
            raise ArgumentError(
                f"{arm.tree.name}: an arm that was pickled or copied has no shapes of its modes; give links=, the dict "
                "of flexible links that it was made of"
            )
        return {}
    if not isinstance(flexible_links, Mapping):
        raise ArgumentTypeError(f"links: expected a dict by name, got {type(flexible_links).__name__}")
    for name in flexible_links:
        if name not in beams:
            raise UnknownNameError("flexible link", name, beams)
    for name in beams:
        if name not in flexible_links:
            raise UnknownNameError("flexible link in links", name, flexible_links)
    return flexible_links


def placed_link(arm: FlexibleRobot, name: str, links: Links | None = None) -> BeamLink:
    """A flexible link with the length and the modes that it has in the arm; another one is refused."""
    beam, link = arm.flexibility.link(name), links_of(arm, links)[name]
    if type(link) is not beam.kind:
        raise ArgumentTypeError(f"link {name!r}: expected a {beam.kind.__name__}, got {type(link).__name__}")
    sized = link if link.has_length else link.with_length(beam.length)
    sized = sized if arm.kinematics == "exact" else sized.straight()
    resting: list[dict[str, None]] = [{}, *({direction: None} for direction in sized.directions_by_role)]
    for carries, left_out in itertools.product((True, False), resting):
        with contextlib.suppress(ArgumentError):
            selected = replace(sized, **left_out).by_role(carries=carries)  # type: ignore[arg-type]  # of any field
            if _is(selected, arm.tree, beam):
                return selected
    raise ArgumentError(
        f"link {name!r}: this is not the link of {beam.length:g} m that the arm was made of; give the same FlexibleLink"
    )


def _is(link: BeamLink, tree: Tree, beam: PlacedBeam) -> bool:
    """True if a link is the one on which a beam of a tree stands."""
    tip, root = tree.joints[tree.first_station(beam.link)].type, tree.frames[find_frame(tree, beam.root)]
    names = tuple(f"{beam.name} {mode}" for mode in link.mode_names)
    clamped = homogeneous(root.rotation, root.translation)
    return names == tree.velocity_names[beam.modes.start : beam.modes.stop] and link.stands_as(
        tip, tree.modal[beam.link], clamped
    )
