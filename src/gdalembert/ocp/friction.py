"""Friction cones of the contacts of a problem, as functions of q and the forces of all constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy.typing as npt

from gdalembert.dynamics.constraints.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.constraints.constraint import Contact
from gdalembert.dynamics.constraints.friction_cones import friction_cone, wrench_cone
from gdalembert.dynamics.frame_motion import placement
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.spatial.functions import function, symbols


@dataclass(frozen=True)
class Sole:
    """The rectangle of a 6D contact, as :func:`~gdalembert.wrench_cone` takes it.

    Attributes:
        half_length, half_width: [m].
        placement: of its centre in the frame of the contact; ``None`` for that frame.
    """

    half_length: float | None
    half_width: float | None
    placement: Any = None

    @property
    def is_given(self) -> bool:
        """Whether anything is known of it."""
        return any(each is not None for each in (self.half_length, self.half_width, self.placement))


@dataclass(frozen=True)
class Cone:
    """The friction cone of a contact.

    Attributes:
        name: of the contact.
        margin: (q, forces) → (margin), at least 0 where the contact holds; forces are those of all constraints (nc).
    """

    name: str
    margin: ca.Function


def friction_cones(
    con: ConstrainedDynamics | None,
    contacts: Sequence[str] | None,
    mu: float,
    normal: npt.ArrayLike | None,
    form: str,
    sole: Sole,
) -> list[Cone]:
    """The cones of contacts, by the names of their frames; of all by default.

    Raises:
        ArgumentTypeError, ArgumentError: if there is no contact, or an argument cannot be used.
        UnknownNameError: if no contact has a name.
    """
    every = _places(con)
    if con is None or not every:
        raise ArgumentError(
            "friction: the robot has no contacts; give gd.ConstrainedDynamics with gd.Contact to Problem"
        )
    if isinstance(contacts, str) or not isinstance(contacts, Sequence | None):
        raise ArgumentTypeError(f"friction: contacts={contacts!r}; give a list of frames")
    for name in contacts or ():
        if name not in every:
            raise UnknownNameError("contact", name, tuple(str(frame) for frame in every))
    chosen = {frame: every[frame] for frame in (every if contacts is None else contacts)}
    if sole.is_given and all(contact.kind == "3D" for contact, _ in chosen.values()):
        raise ArgumentError(
            "friction: points have no half_length, half_width or sole; drop them, or give '6D' contacts"
        )
    if normal is not None and all(contact.kind == "6D" for contact, _ in chosen.values()):
        raise ArgumentError(
            "friction: normal is of the ground under '3D' contacts, and all of these are '6D'; drop it, or give sole="
        )
    upward = (0.0, 0.0, 1.0) if normal is None else normal
    return [_cone(con, contact, start, mu, upward, form, sole) for contact, start in chosen.values()]


def _places(con: ConstrainedDynamics | None) -> dict[str | int, tuple[Contact, int]]:
    """The contacts by frame, and their first rows in the forces."""
    found: dict[str | int, tuple[Contact, int]] = {}
    start = 0
    for each in con.constraints if con is not None else ():
        if isinstance(each, Contact):
            found[each.frame] = each, start
        start += 3 if each.kind == "3D" else 6
    return found


def _cone(
    con: ConstrainedDynamics, contact: Contact, start: int, mu: float, normal: npt.ArrayLike, form: str, sole: Sole
) -> Cone:
    s = symbols(q=con.nq, forces=con.nc)
    if contact.kind == "6D":
        if sole.half_length is None or sole.half_width is None:
            raise ArgumentError(f"friction: {contact.name} is a sole; give half_length and half_width [m]")
        cone = wrench_cone(mu, sole.half_length, sole.half_width, form=form, sole=sole.placement)
        return Cone(contact.name, function("margin", s, {"margin": cone(s["forces"][start : start + 6])}))
    turned, _ = placement(con.tree, contact.frames(con.tree)[0], s["q"])
    force = turned @ s["forces"][start : start + 3]
    return Cone(contact.name, function("margin", s, {"margin": friction_cone(mu, normal, form=form)(force)}))
