"""The constraints of a problem by name, how far a solution violates them, and friction cones of contacts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert import spatial
from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.dynamics.constraints.constraint import Contact
from gdalembert.dynamics.constraints.constraint_types import Frame6D, RowSelection
from gdalembert.dynamics.constraints.friction_cones import friction_cone, wrench_cone
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.frame_motion import placement
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, UnsupportedError, shown
from gdalembert.model.limits import Bounds
from gdalembert.nlp.program import Label
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import vector
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.expressions import path_bound, path_bounds
from gdalembert.spatial.functions import function, symbols
from gdalembert.spatial.interrupts import interruptible

Bound = Array | ca.MX
"""A number for each row, or an expression of parameters."""
MOTION = "the equations of motion"
"""The name of what the transcription itself asks for."""
CLOSED = "contacts and loops"
"""The name of the largest violation of c(q) = 0 and J v = 0 on the grid."""
_PATH = "path"
"""How the names of paths begin."""


class Constraints:
    """Bounds of rows of expressions, a column for each instant, in an ``Opti``."""

    def __init__(self, opti: ca.Opti) -> None:
        self._opti = opti
        self._rows: dict[str, tuple[ca.MX, Bound, Bound]] = {}
        self._own: dict[int, str] = {}

    def claim(self) -> None:
        """Count the constraints that the ``Opti`` has now among those of the problem."""
        for number in range(len(self._opti.advanced.constraints())):
            self._own.setdefault(number, MOTION)

    def note(self, name: str, x: ca.MX) -> None:
        """Count violations of x = 0, which holds by constraints that were added elsewhere."""
        zero = np.zeros(x.shape[0])
        self._rows[name] = x, zero, zero

    def bound(
        self,
        name: str,
        x: ca.MX,
        lower: Bound,
        upper: Bound,
        relaxation: ca.MX | None = None,
        *,
        labels: Sequence[str] | None = None,
    ) -> None:
        """lower ≤ x ≤ upper in each column; rows without a finite bound are left out.

        ``relaxation``: by how much each column may violate inequalities (1 × n); none by default. ``labels``: names of
        the rows; by default that of all.
        """
        self._rows[name] = x, lower, upper
        for i in range(x.shape[0]):
            low, high = _entry(lower, i), _entry(upper, i)
            if low is None and high is None:
                continue
            self._own[len(self._opti.advanced.constraints())] = labels[i] if labels else name
            if lower is upper or (isinstance(low, float) and low == high):
                self._opti.subject_to(x[i, :] == (low if isinstance(low, ca.MX) else np.full((1, x.shape[1]), low)))
            else:
                by = 0.0 if relaxation is None else relaxation
                ends = -np.inf if low is None else low - by, np.inf if high is None else high + by
                self._opti.subject_to(self._opti.bounded(ends[0], x[i, :], ends[1]))

    def label(self, opti: ca.OptiAdvanced, number: int, row: int) -> Label:
        """What a constraint of the ``Opti`` stands for. ``row``: its first one."""
        name = self._own.get(number)
        if name is not None:
            rank = 0 if name == MOTION else 2 if name.startswith(CLOSED) else 1
            return Label(name.removeprefix(f"{CLOSED}: "), user=name.startswith(_PATH), rank=rank)
        called = re.search(r"called from (.+):(\d+)", opti.g_describe(row))
        place = f" of {Path(called[1]).name}, line {called[2]}," if called else f" {number}"
        return Label(f"opti.subject_to{place}", user=True)

    def next_path(self) -> str:
        """The name of the next path."""
        return f"{_PATH} {self.paths + 1}"

    @property
    def paths(self) -> int:
        """The number of paths."""
        return sum(name.startswith(_PATH) for name in self._rows)

    def has_others(self) -> bool:
        """Whether the ``Opti`` has constraints that were added elsewhere."""
        return len(self._opti.advanced.constraints()) > len(self._own)

    def violations(self, opti: ca.OptiAdvanced) -> dict[str, ca.MX]:
        """The largest violation of each constraint, as an expression; those of ``opti.subject_to`` together."""
        found = {}
        for name, (x, lower, upper) in self._rows.items():
            low, high = (
                ca.repmat(ca.MX(ca.DM(b) if isinstance(b, np.ndarray) else b), 1, x.shape[1]) for b in (lower, upper)
            )
            over = ca.fmax(low - x, x - high)
            found[name] = ca.fmax(ca.mmax(over), 0) if x.numel() else ca.MX(0)
        others = [opti.get_meta_con(x) for i, x in enumerate(opti.constraints()) if i not in self._own]
        if rows := [row for each in others for row in range(each.start, each.stop)]:
            over = ca.fmax(opti.lbg[rows] - opti.g[rows], opti.g[rows] - opti.ubg[rows])
            found["opti.subject_to"] = ca.fmax(ca.mmax(over), 0)
        return found


def _entry(bound: Bound, i: int) -> float | ca.MX | None:
    """One row of a bound; ``None`` if it is infinite."""
    if isinstance(bound, ca.MX):
        return bound[i]
    return float(bound[i]) if np.isfinite(bound[i]) else None


def symbolic_bounds(lower: Any, upper: Any, size: int) -> tuple[Bound, Bound]:
    """Bounds as of :func:`path_bounds`, where expressions of parameters may be among them."""
    if not isinstance(lower, ca.MX) and not isinstance(upper, ca.MX):
        return path_bounds(lower, upper, size)
    found: list[Bound] = []
    for name, bound in (("lower", lower), ("upper", upper)):
        if not isinstance(bound, ca.MX):
            found.append(path_bound(name, bound, size))
            continue
        if bound.numel() not in (1, size):
            raise ArgumentError(f"path: {name} has {bound.numel()} entries; give {size}, or one")
        found.append(ca.repmat(bound, size, 1) if bound.numel() == 1 else ca.vec(bound))
    return (found[0], found[0]) if lower is upper else (found[0], found[1])


def checked_bounds(dyn: Dynamics | ConstrainedDynamics, bounds: Any) -> Bounds:
    """The bounds of q, v and u of a robot; none by default, and an error if they are not those of the robot."""
    if not isinstance(bounds, Bounds | None):
        raise ArgumentTypeError(f"bounds: expected Bounds.of(dyn, model), got {type(bounds).__name__}")
    none = Bounds.of(dyn)
    if bounds is None:
        return none
    if (bounds.v_names, bounds.u_names) != (none.v_names, none.u_names):
        raise ArgumentError(f"the bounds are not those of {dyn.tree.name}; make them by Bounds.of(dyn, model)")
    return bounds


@interruptible
def check_cost(opti: ca.Opti, cost: object) -> None:
    """Refuse what :meth:`Problem.minimize` cannot take."""
    if not isinstance(cost, ca.MX):
        hint = "nothing can change it" if isinstance(cost, int | float) else "it is not an expression"
        raise ArgumentTypeError(f"minimize: {hint}; give one of duration, where it is free, q, v, u, or an integral")
    if not cost.is_scalar():
        raise ArgumentError(f"minimize: the cost has {cost.numel()} entries; give one, as ca.sum1 of them")
    symbols = ca.symvar(cost)
    if not symbols:
        raise ArgumentError("minimize: nothing can change the cost; give an expression of q, v, u, or an integral")
    for symbol in symbols:
        try:
            opti.debug.get_meta(symbol)
        except RuntimeError:
            raise ArgumentError(
                f"minimize: the cost has the symbol {symbol.name()!r}, which is none of the problem; make parameters "
                "by problem.parameter(name, size), or variables by problem.opti.variable()"
            ) from None


def check_places(robot: Dynamics | ConstrainedDynamics) -> None:
    """Refuse contacts and loops of a robot whose placements are parameters: states are checked in numbers."""
    if isinstance(robot, ConstrainedDynamics) and robot.nc and robot.tree.has_displacements:
        raise UnsupportedError(
            f"Problem: {robot.tree.name}: its placements are parameters, and contacts and loops are held by numbers; "
            "give con.at(p)"
        )


def friction_cones(
    con: ConstrainedDynamics,
    contacts: Sequence[str] | None,
    mu: float,
    normal: npt.ArrayLike | None,
    form: str,
    **sole: Any,
) -> list[tuple[str, ca.Function]]:
    """Names and cones of contacts, of the frames of :meth:`Problem.friction`.

    A cone is (q, forces) → (margin), at least 0 where the contact holds; forces are those of all constraints (nc).
    ``sole``: half_length, half_width and sole of 6D contacts, as for :func:`~gdalembert.wrench_cone`.
    """
    starts = np.cumsum([0, *con._set.rows]).tolist()
    pairs = zip(con.constraints, starts, strict=False)
    every = {each.frame: (each, start) for each, start in pairs if isinstance(each, Contact)}
    if not every:
        raise ArgumentError(
            "friction: the robot has no contacts; give gd.ConstrainedDynamics with gd.Contact to Problem"
        )
    if isinstance(contacts, str) or not isinstance(contacts, Sequence | None):
        raise ArgumentTypeError(f"friction: contacts={shown(contacts)}; give a list of frames")
    for name in contacts or ():
        if not isinstance(name, str) or name not in every:
            raise UnknownNameError("contact", name, tuple(str(frame) for frame in every))
    chosen = [every[frame] for frame in (every if contacts is None else dict.fromkeys(contacts))]
    soles = [isinstance(contact.holds, Frame6D) for contact, _ in chosen]
    if any(each is not None for each in sole.values()) and not any(soles):
        raise ArgumentError(
            "friction: points have no half_length, half_width or sole; drop them, or give '6D' contacts"
        )
    if normal is not None and all(soles):
        raise ArgumentError(
            "friction: normal is of the ground under '3D' contacts, and all of these are '6D'; drop it, or give sole="
        )
    upward = (0.0, 0.0, 1.0) if normal is None else normal
    s, cones = symbols(q=con.nq, forces=con.nc), []
    for contact, start in chosen:
        holds = contact.holds
        rows = s["forces"][start : start + len(holds.units)]
        if isinstance(holds, Frame6D):
            if sole["half_length"] is None or sole["half_width"] is None:
                raise ArgumentError(f"friction: {contact.name} is a sole; give half_length and half_width [m]")
            margin: Matrix = wrench_cone(mu, form=form, **sole)(rows)
        else:
            if isinstance(holds, RowSelection):
                directions = ca.evalf(holds.force(ca.DM.eye(len(holds.units)), ca.DM.eye(3), ca.DM(3, 1))).full()
                if not (vector("friction: normal", upward, 3, names="xyz") @ directions).any():
                    raise ArgumentError(
                        f"friction: {contact.name} bears no force along the normal; leave it out of contacts="
                    )
            one, other = contact.frames(con.tree)
            r, x = placement(con.tree, one, s["q"])
            force = holds.force(rows, r, x - spatial.constant(other.translation))
            margin = friction_cone(mu, upward, form=form)(force)
        cones.append((contact.name, function("margin", s, {"margin": margin})))
    return cones
