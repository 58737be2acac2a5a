"""What contacts and loops ask of the grid: c(q) = 0 and J v = 0 at each instant, unless the ends are fixed there.

At an end some entries of q and v may be fixed. Rows that follow from them would depend on the others, and no multiplier
would be determined; so there Q c(q) = 0 takes the place of c(q) = 0, where the rows of Q J are independent of what is
fixed: Q is an orthonormal basis of the range of J Z, and Z one of the motions that leave the fixed entries alone.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.constraints.checks import NEARLY_DEPENDENT
from gdalembert.errors import ArgumentError
from gdalembert.ocp.constraints import Constraints
from gdalembert.ocp.ends import End
from gdalembert.ocp.initial import Initial
from gdalembert.ocp.measured import FarStateError, closed, consistent
from gdalembert.ocp.model_parameters import ModelParameters
from gdalembert.ocp.parameters import Parameters
from gdalembert.ocp.solution import CLOSED
from gdalembert.ocp.transcription import Motion
from gdalembert.spatial.arrays import Array

_FREE = 1e30
"""As in :mod:`gdalembert.ocp.ends`."""

Mask = npt.NDArray[np.bool_]


def close(
    motion: Motion, constraints: Constraints, robot: ModelParameters, ends: list[End], initial: Initial
) -> list[Closing]:
    """Add what constraints ask of the states at the grid: at the ends, what does not follow from what is fixed."""
    system, x, n = motion.system, motion.x, motion.intervals + 1
    if system.rows is None:
        return []
    positions = closure(motion, robot, x)
    velocities = ca.MX(system.rows.velocity.map(n)(x, *_columns(motion, robot, n)))
    both = ca.vertcat(positions, velocities)
    if n > 2:
        zero = np.zeros(both.shape[0])
        labels = [f"{CLOSED}: {name}" for rows in (system.places, system.rows) if rows for name in rows.names]
        constraints.bound(f"{CLOSED} between the ends", both[:, 1:-1], zero, zero, labels=labels)
    constraints.note(CLOSED, both)
    return [
        Closing(end, motion, constraints, initial, positions[:, column], velocities[:, column], row)
        for end, column, row in zip(ends, (0, motion.intervals), (0, -1), strict=True)
    ]


def closure(motion: Motion, robot: ModelParameters, x: ca.MX) -> ca.MX:
    """Independent rows of c(q) at states (columns): at the instants of the grid or at the stages."""
    places, n = motion.system.places, x.shape[1]
    return ca.MX(0, n) if places is None else ca.MX(places.residual.map(n)(x, *_columns(motion, robot, n)))


def _columns(motion: Motion, robot: ModelParameters, n: int) -> list[ca.MX]:
    """p, if there is any, a column for each of n states."""
    if not len(robot):
        return []
    p = robot.along
    if p.shape[1] == 1:
        return [ca.repmat(p, 1, n)]
    return [p if p.shape[1] == n else motion.at_stages(p)]


class Closing:
    """What constraints ask of one end.

    Args:
        end: what is fixed there. ``motion``: of a robot. ``constraints``: of the problem.
        initial: a motion, where only some entries are fixed. ``row``: the first (0) or last (−1) of it.
        position, velocity: independent rows of c(q) and J v there.

    Attributes:
        known: whether each row holds already because the phase before says so.
    """

    def __init__(
        self,
        end: End,
        motion: Motion,
        constraints: Constraints,
        initial: Initial,
        position: ca.MX,
        velocity: ca.MX,
        row: int,
    ) -> None:
        assert motion.system.rows is not None
        self._end, self._opti, self._system, self._rows = end, motion.opti, motion.system, motion.system.rows
        self._initial, self._row = initial, row
        sizes = position.shape[0], velocity.shape[0]
        self.known: tuple[Mask, Mask] = np.zeros(sizes[0], dtype=bool), np.zeros(sizes[1], dtype=bool)
        self._symbols: list[ca.MX] = []
        self._last: list[Array] = []
        parts = (("positions", position, self._system.places), ("velocities", velocity, self._rows))
        for (what, x, rows), size in zip(parts, sizes, strict=True):
            if size:
                combined, slack = self._opti.parameter(size, size), self._opti.parameter(size)
                self._symbols += [combined, slack]
                labels = [f"{CLOSED}: {name}" for name in rows.names] if rows else None
                constraints.bound(f"{CLOSED}: {what} at the {end.name}", combined @ x, -slack, slack, labels=labels)
        self._take([np.eye(size) for size in sizes])

    @property
    def symbols(self) -> list[ca.MX]:
        """Q and slack, for positions and velocities, as parameters of the ``Opti``."""
        return self._symbols

    @property
    def numbers(self) -> list[Array]:
        """Their values in the last solve."""
        return self._last

    @property
    def pattern(self) -> tuple[bool, ...]:
        """Which rows are there."""
        return tuple(bool(x == 0) for slack in self._last[1::2] for x in slack)

    @property
    def expression(self) -> ca.MX:
        """The value of the first symbol."""
        return ca.MX(ca.DM(self._last[0]))

    def filled(self, number: float) -> Array:
        """The value of the first symbol; no solve sets it to any value."""
        return self._last[0]

    def set(self, parameters: Parameters) -> None:
        """Take what is fixed at this end; what parameters give is moved onto the constraints.

        Raises:
            ArgumentError: if all of it is fixed, and violates a constraint; a FarStateError, if parameters give it.
        """
        if self._end.fixed[0].all():
            self._check_state()
        self.prepare()

    def _check_state(self) -> None:
        """Move what parameters give onto the constraints, and refuse what is far from them."""
        end, measured = self._end, self._end.measured
        if "q" in measured:
            end.move("q", *closed(self._system, end.values[0]))
        con = self._rows.con.anchored(end.values[0])
        if "v" in measured:
            end.move("v", *consistent(con, *end.values))
        q, v = end.values
        try:
            con.check_state(f"{end.name} of the motion", q, v if end.fixed[1].all() else np.zeros_like(v))
        except ArgumentError as error:
            raise FarStateError(str(error)) if measured else error from None

    def prepare(self) -> None:
        """Choose the rows that do not follow from what is fixed."""
        (_, v), (q_fixed, v_fixed) = self._end.values, self._end.fixed
        self._take([self._positions(q_fixed), self._velocities(q_fixed, v, v_fixed)])

    def _positions(self, fixed: Mask) -> Array:
        """Q (rows × r) of c."""
        size, places = len(self.known[0]), self._system.places
        if fixed.all() or places is None:
            return np.zeros((0, size))
        if not fixed.any():
            return np.eye(size)[~self.known[0]]
        q = self._configuration()
        tangent = ca.DM(ca.evalf(places.con.tree.tangent_map(ca.SX(ca.DM(q))))).full()
        return _independent(places.numbers(q), _null(tangent[fixed]), ~self.known[0])

    def _velocities(self, q_fixed: Mask, v: Array, fixed: Mask) -> Array:
        """Q (rows × r) of J v."""
        size = len(self.known[1])
        if not fixed.any() or (v.any() and not q_fixed.all()):
            return np.eye(size)[~self.known[1]]
        if fixed.all():
            return np.zeros((0, size))
        free = np.eye(len(v))[:, ~fixed]
        return _independent(self._rows.numbers(self._configuration()), free, ~self.known[1])

    def _configuration(self) -> Array:
        """q at this end, its free entries as in the guess."""
        found = self._end.configuration(self._initial.configuration(self._row))
        return self._initial.configuration(self._row) if found is None else found

    def _take(self, combinations: list[Array]) -> None:
        self._last = []
        for rows in combinations:
            size = rows.shape[1]
            if size:
                padded = np.vstack([rows, np.zeros((size - len(rows), size))])
                self._last += [padded, np.where(np.arange(size) < len(rows), 0.0, np.inf)]
        for symbol, x in zip(self._symbols, self._last, strict=True):
            self._opti.set_value(symbol, np.minimum(x, _FREE))


def _independent(jacobian: Array, motions: Array, chosen: Mask) -> Array:
    """Orthonormal combinations of the chosen rows that are independent of what leaves only these motions (columns)."""
    if not motions.shape[1] or not chosen.any():
        return np.zeros((0, len(jacobian)))
    left, sizes, _ = np.linalg.svd(jacobian[chosen] @ motions)
    number = int(np.sum(sizes > NEARLY_DEPENDENT * max(1.0, np.abs(jacobian).max())))
    found = np.zeros((number, len(jacobian)))
    found[:, chosen] = left[:, :number].T
    return found


def _null(a: Array) -> Array:
    """An orthonormal basis (columns) of what a maps to zero."""
    _, sizes, right = np.linalg.svd(a)
    return np.asarray(right[int(np.sum(sizes > NEARLY_DEPENDENT)) :].T)
