"""What connects two phases: q goes on, and v too, unless new constraints take hold by an impact.

    q⁺ = q⁻        M (v⁺ − v⁻) = Jᵀ Λ        J v⁺ = 0

with the impulses Λ of all constraints of the later phase as unknowns, as of ``ConstrainedDynamics.impact`` without
restitution. J v⁺ = 0 and c(q⁺) = 0 are what the later phase asks of its start; rows that hold already, because the
constraint holds in the phase before, are left out there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, UnsupportedError
from gdalembert.model.configuration import neutral
from gdalembert.ocp.closing import Mask
from gdalembert.ocp.constrained_steps import Rows, values_of
from gdalembert.spatial.arrays import Array

if TYPE_CHECKING:
    from gdalembert.ocp.problem import Problem


class Junction:
    """The end of a phase and the start of the next one.

    Args:
        before, after: the problems of both.

    Attributes:
        impulses: independent ones (r × 1), of no rows if nothing takes hold. ``size``: their typical magnitude.
        rows: zero where the phases are connected.

    Raises:
        UnsupportedError: if redundant rows combine constraints that hold already with others.
        ArgumentError: if what takes hold is to rebound.
    """

    def __init__(self, before: Problem, after: Problem) -> None:
        system, x, y = after._system, before._motion.x[:, -1], after._motion.x[:, 0]
        nq = system.dynamics.tree.nq
        kept = () if before._system.con is None else before._system.con.constraints
        self._rows, self._after = system.rows, after
        self.takes_hold = self._rows is not None and any(each not in kept for each in self._rows.con.constraints)
        places = np.zeros(0, dtype=bool) if system.places is None else _known(system.places, kept)
        self._known = places, np.full(0 if self._rows is None else len(self._rows), not self.takes_hold)
        q, change = y[:nq], y[nq:] - x[nq:]
        self.size, self.impulses, self._q = 1.0, ca.MX(0, 1), q
        if not self.takes_hold or self._rows is None:
            self.rows = y - x
            return
        con = self._rows.con
        if con._set.restitution.any():
            raise ArgumentError(
                f"{con.tree.name}: its constraints have a restitution, and what rebounds does not hold in the next "
                "phase; give restitution=0"
            )
        p = [after.p] if con.parameters else []
        self.impulses = ca.MX.sym("impulses", len(self._rows))
        pushed = con.jacobian(q, *p).T @ self._of_all
        self.rows = ca.vertcat(q - x[:nq], con.dynamics.mass_matrix(q, *p) @ change - pushed)
        self.size = float(np.abs(con.dynamics.mass_matrix(neutral(con.tree), *values_of(con)).full()).max())

    @property
    def margins(self) -> ca.MX:
        """Of the impulses in the friction cones of the later phase, at least 0."""
        cones = self._after._cones if self.takes_hold else []
        return ca.vertcat(ca.MX(0, 1), *(cone.margin(self._q, self._of_all) for cone in cones))

    @property
    def _of_all(self) -> ca.MX:
        """The impulses of all constraints."""
        assert self._rows is not None
        return ca.MX(ca.DM(self._rows.basis).T @ self.impulses)

    @contextlib.contextmanager
    def connected(self) -> Iterator[None]:
        """While the later phase asks of its start only what does not hold already at the end of the one before."""
        for closing in self._after._closings[:1]:
            alone, closing.known = closing.known, self._known
            try:
                yield
            finally:
                closing.known = alone
            return
        yield

    def of_constraints(self, impulses: Array) -> Array:
        """The impulses of all constraints of the later phase [N s, N m s]."""
        return impulses if self._rows is None or not self.takes_hold else self._rows.basis.T @ impulses


def _known(rows: Rows, kept: tuple[object, ...]) -> Mask:
    """Whether each independent row is one of constraints that are kept."""
    sizes = rows.con._set.rows
    own = np.repeat([each in kept for each in rows.con.constraints], sizes)
    of_kept, of_others = (np.abs(rows.basis[:, chosen]).sum(axis=1) > 0 for chosen in (own, ~own))
    if np.any(of_kept & of_others):
        raise UnsupportedError(
            f"{rows.con.tree.name}: redundant rows combine constraints that hold already with others that take hold; "
            "hold less, as by '3D' in place of '6D'"
        )
    return np.asarray(of_kept)
