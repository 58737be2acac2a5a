"""The centreline of a deformed link: its cross sections in the universe, for plots and viewers.

The cross section at η is a station of the link, like those that carry joints, or fixed to one. The station is at
R_0 (p̄ + U f − ½ (fᵀ s f) e_x) + p_0 with the axes R_0 exp([Θ f ×]), where the clamped frame is at R_0, p_0 (Cetinkunt
and Book 1988, eq. 4; rotation and shortening are ours).
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.frame_motion import placement
from gdalembert.dynamics.frames import find_frame
from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.flexible.flexible_arm import Arm, require_flexible_arm
from gdalembert.flexible.flexible_link import Links
from gdalembert.flexible.placed_links import placed_link
from gdalembert.spatial.algebra import constant
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.functions import function, symbols

_PIECES_OF_MODES, _PIECES_OF_RODS = 4, 8
"""Pieces of an axis: between its ends one that turns by φ over its length ℓ leaves the straight line by ℓ φ / 8."""


def centreline(arm: Arm, name: str, abscissae: npt.ArrayLike, *, links: Links | None = None) -> ca.Function:
    """(q) → (positions, rotations): n sections of a flexible link in the universe, 3 × n [m] and 3 × 3n.

    (q, p) → (positions, rotations) where placements of the arm are parameters.

    Column k of ``positions`` is the centre of the section at the abscissa k, and columns 3k … 3k + 2 of ``rotations``
    are its axes, x along the beam, y and z as those of the clamped frame. The section at the tip is
    ``arm.tip_placement(name)``. Of a ``FirstOrderArm`` the axes are not orthonormal, as in the arm.

    Args:
        arm: the arm.
        name: that of the flexible link.
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
    beam = arm.flexibility.link(name)
    s, behind = arm.symbols("q") if arm.tree.has_displacements else symbols(q=arm.tree.nq), arm.tree.nq - arm.tree.nv
    r_clamped, p_clamped = placement(arm.tree, arm.tree.frames[find_frame(arm.tree, beam.root)], s["q"])
    f = s["q"][beam.modes.start + behind : beam.modes.stop + behind]
    frames = placed_link(arm, name, links).sections(at, f, arm.deflection)
    positions = ca.horzcat(*(p_clamped + r_clamped @ p_in_clamped for _, p_in_clamped in frames))
    rotations = ca.horzcat(*(r_clamped @ r_in_clamped for r_in_clamped, _ in frames))
    return function("centreline", s, {"positions": positions, "rotations": rotations})


class AxisPiece(NamedTuple):
    """A piece of the axis of a flexible link, straight between its ends.

    Attributes:
        name: of the flexible link. ``link``: the index of its joint in the tree.
        points: (f) → the ends of all pieces of the link (3 × n), in its frame [m], at its coordinates f.
        first: the column of the first end of the piece; the next one is the other.
        columns: of f in v.
        radius: that of the circle about all cross sections [m].
    """

    name: str
    link: int
    points: ca.Function
    first: int
    columns: range
    radius: float


def axis_pieces(robot: object) -> list[AxisPiece]:
    """The axes of the flexible links of a robot, in pieces of equal length; none of a robot whose links are rigid.

    Raises:
        ArgumentError: if the arm was pickled or copied, or a beam has neither a section nor a ``radius``.
        UnsupportedError: if the placement of a flexible link is a parameter.
    """
    return (
        [piece for name in robot.flexibility.links for piece in _pieces(robot, name)] if isinstance(robot, Arm) else []
    )


def _pieces(arm: Arm, name: str) -> list[AxisPiece]:
    beam, link = arm.flexibility.link(name), placed_link(arm, name)
    root = arm.tree.frames[find_frame(arm.tree, beam.root)]
    if isinstance(root.rotation, ca.SX):
        raise UnsupportedError(
            f"{arm.tree.name}: the placement of flexible link {name!r} is a parameter; give a number"
        )
    count = _PIECES_OF_MODES if beam.kind.has_assumed_modes else _PIECES_OF_RODS
    abscissae, f = np.linspace(0.0, beam.length, count + 1), ca.SX.sym("f", len(beam.modes))
    sections = link.sections(abscissae, f, arm.deflection)
    places = [constant(root.translation) + constant(root.rotation) @ ca.SX(p) for _, p in sections]
    points, pieces = ca.Function("points", [f], [ca.horzcat(*places)]), []
    for k in range(count):
        radius = link.radius_between(abscissae[k], abscissae[k + 1])
        if radius is None:
            raise ArgumentError(
                f"{arm.tree.name}: the beam of flexible link {name!r} has no section, so that its shape is unknown; "
                "give the link radius= [m]"
            )
        pieces.append(AxisPiece(name, beam.link, points, k, beam.modes, radius))
    return pieces
