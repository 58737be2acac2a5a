"""The centreline of a deformed link: its cross sections in the universe, for plots and viewers.

The cross section at η is a station of the link, like those that carry joints, or fixed to one. The station is at
R_0 (p̄ + U f − ½ (fᵀ s f) e_x) + p_0 with the axes R_0 exp([Θ f ×]), where the clamped frame is at R_0, p_0 (Cetinkunt
and Book 1988, eq. 4; rotation and shortening are ours).
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.dynamics.frame_motion import placement
from gdalembert.dynamics.frames import find_frame
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.flexible.first_order_arm import straight
from gdalembert.flexible.flexible_arm import Arm, require_flexible_arm
from gdalembert.flexible.flexible_link import FlexibleLink
from gdalembert.flexible.link_model import LinkModel
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.functions import function, symbols

_ROUNDING = 1e-9
"""Relative to the largest number: the difference between integrals of one link on different machines."""


def centreline(
    arm: Arm, name: str, abscissae: npt.ArrayLike, *, links: Mapping[str, FlexibleLink] | None = None
) -> ca.Function:
    """(q) → (positions, rotations): n sections of a flexible link in the universe, 3 × n [m] and 3 × 3n.

    Column k of ``positions`` is the centre of the section at the abscissa k, and columns 3k … 3k + 2 of ``rotations``
    are its axes, x along the beam, y and z as those of the clamped frame. The section at the tip is
    ``arm.tip_placement(name)``. Of a ``FirstOrderArm`` the axes are not orthonormal, as in the arm.

    Args:
        arm: the arm.
        name: of the flexible link.
        abscissae: (n,) from 0 to the length of the beam [m].
        links: the dict of flexible links that the arm was made from; an arm that was pickled or copied needs it.

    Raises:
        UnknownNameError: if there is no such flexible link.
        ArgumentError: if ``links`` are needed or others than the arm's, or an abscissa does not lie on the link.
        ArgumentTypeError: if ``arm`` or one of ``links`` is not one, or abscissae are not numbers.
    """
    require_flexible_arm("centreline", arm)
    at = numbers("centreline: abscissae", abscissae)
    if at.ndim != 1 or not at.size:
        raise ArgumentError(f"centreline: abscissae have shape {at.shape}; give (n,) numbers [m]")
    own = placed_link(arm, name, links)
    beam = arm.assembly.beams[name]
    root = arm.tree.frames[find_frame(arm.tree, beam.root)]
    s = symbols(q=arm.tree.nq)
    r, p = placement(arm.tree, root, s["q"])
    f = arm.assembly.links[beam.link].modal_configuration(s["q"])
    positions, rotations = [], []
    for eta in at:
        station = own.station(float(eta))
        turned, shifted = station.deflection(exact=arm.kinematics == "exact").placement(f)
        positions.append(p + r @ (shifted + turned @ spatial.constant(station.to_axis(float(eta))[:3, 3])))
        rotations.append(r @ turned)
    return function("centreline", s, {"positions": ca.horzcat(*positions), "rotations": ca.horzcat(*rotations)})


def links_of(arm: Arm, links: Mapping[str, FlexibleLink] | None = None) -> Mapping[str, FlexibleLink]:
    """The flexible links that an arm was made of, or those given in their place.

    Raises:
        ArgumentError: if none are given and the arm, pickled or copied, has none.
        ArgumentTypeError: if they are not a dict.
        UnknownNameError: if one of the arm is not among them, or the arm has none of that name.
    """
    beams = arm.assembly.beams
    given = arm.links if links is None else links
    if given is None:
        if beams:
            raise ArgumentError(
                f"{arm.tree.name}: an arm that was pickled or copied has no shapes of its modes; give links=, the dict "
                "of flexible links that it was made of"
            )
        return {}
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(f"links: expected a dict by name, got {type(given).__name__}")
    for name in given:
        if name not in beams:
            raise UnknownNameError("flexible link", name, beams)
    for name in beams:
        if name not in given:
            raise UnknownNameError("flexible link in links", name, given)
    return given


def placed_link(arm: Arm, name: str, links: Mapping[str, FlexibleLink] | None = None) -> FlexibleLink:
    """A flexible link with the length and the modes that it has in the arm.

    Args:
        arm: the arm.
        name: of the link.
        links: as in :func:`links_of`.

    Raises:
        As :func:`links_of`.
        UnknownNameError: if the arm has no such flexible link.
        ArgumentTypeError: if what is given is none.
        ArgumentError: if the arm was made of another one.
    """
    if name not in arm.assembly.beams:
        raise UnknownNameError("flexible link", name, arm.assembly.beams)
    link = links_of(arm, links)[name]
    if not isinstance(link, FlexibleLink):
        raise ArgumentTypeError(f"link {name!r}: expected a FlexibleLink, got {type(link).__name__}")
    beam = arm.assembly.beams[name]
    sized = link if link.has_length else link.with_length(beam.length)
    sized = sized if arm.kinematics == "exact" else straight(sized)
    resting: list[dict[str, None]] = [{}, *({each: None} for each in sized.directions_by_role)]
    for carries, left_out in itertools.product((True, False), resting):
        with contextlib.suppress(ArgumentError):
            own = sized.with_modes(**left_out).by_role(carries=carries)
            if _is(own, arm.assembly.links[beam.link]):
                return own
    raise ArgumentError(
        f"link {name!r}: this is not the link of {beam.length:g} m that the arm was made of; give the same FlexibleLink"
    )


def _is(link: FlexibleLink, model: LinkModel) -> bool:
    if link.mode_names != model.mode_names:
        return False
    ours, theirs = link.station("tip"), model.stations[1]
    pairs = [(getattr(ours, name), getattr(theirs, name)) for name in ("position", "translation", "rotation")]
    pairs += [(ours.shortening, theirs.shortening), (link.inertia().stiffness, model.inertia.stiffness)]
    return all(np.abs(a - b).max(initial=0) <= _ROUNDING * np.abs(b).max(initial=0) for a, b in pairs)
