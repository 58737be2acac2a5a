"""The ends of a motion: what is fixed there, by numbers or parameters, and what contacts and loops ask of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.constrained.checks import NEARLY_DEPENDENT
from gdalembert.errors import ArgumentError, UnknownNameError
from gdalembert.model import configuration
from gdalembert.model.configuration import neutral, projected, unit_blocks
from gdalembert.nlp.program import InvalidStartError
from gdalembert.ocp.stage import Motion
from gdalembert.ocp.system.parameters import BoundaryCondition, ProblemParameters
from gdalembert.ocp.system.steps import closed_configurations, differentiable
from gdalembert.ocp.system.system import System
from gdalembert.spatial.arguments import number, vector
from gdalembert.spatial.arrays import Array, independent_columns
from gdalembert.spatial.functions import function, symbols

Fixed = npt.ArrayLike | ca.MX | Mapping[str, Any] | None
"""All entries, as numbers or an MX of parameters; some of them by name; or none."""

Mask = npt.NDArray[np.bool_]


class End(BoundaryCondition):
    """The start or the end of a motion: [q; v] at some entries, which are parameters of the program.

    Quaternions and pairs (cos, sin) are fixed as rotations at any column but the first, because the motion determines
    their lengths.

    Attributes:
        column: of the grid.
        fixed: which entries of q and of v are fixed. ``values``: q and v of the last solve, its free entries of no
            meaning.
        corrections: how far q and v were moved in the last solve where parameters give them, by their names.
    """

    def __init__(self, name: str, motion: Motion, column: int) -> None:
        self._system = system = motion.system
        self._tree, self._bounds, self.name, self.column = system.robot.tree, motion.bounds, name, column
        self._value = ca.MX.sym(name, self._tree.nq + self._tree.nv)
        self.symbols = [self._value]
        self._given: list[Array | ca.MX] = [neutral(self._tree).full().ravel(), np.zeros(self._tree.nv)]
        self.fixed = [np.zeros(self._tree.nq, dtype=bool), np.zeros(self._tree.nv, dtype=bool)]
        self.corrections: dict[str, float] = {}
        self._measured: Array | None = None
        self._set(self._given)

    @property
    def _turning(self) -> list[int]:
        """The entries of q that are fixed as rotations."""
        blocks = unit_blocks(self._tree) if self.column else ()
        return [i for _, start, stop in blocks for i in range(start, stop)]

    def turning_at_start(self, *, fixed: bool) -> list[tuple[int, int]]:
        """The first and last entries of unit vectors that the start fixes, or leaves free; steps keep their lengths."""
        blocks = unit_blocks(self._tree) if not self.column else ()
        return [(start, stop) for _, start, stop in blocks if self.fixed[0][start] == fixed]

    def fixed_states(self, key: str) -> list[int]:
        """The states that are fixed by q or v, without those of rotations."""
        by, places = self._system.fixed_by, self._system.positions
        fixed, turning = np.concatenate(self.fixed)[by], self._turning
        states = range(places) if key == "q" else range(places, len(by))
        return [i for i in states if fixed[i] and i not in turning]

    def differences(self, key: str, x: ca.MX, value: ca.MX) -> ca.MX:
        """Difference of states and a value of this end."""
        states = self.fixed_states(key)
        return ca.MX(x[states] - self._system.states_of(value)[states])

    @property
    def turned(self) -> list[int]:
        """The entries of a displacement that are rotations of joints whose rotation is fixed."""
        blocks = [block for block in unit_blocks(self._tree) if self.fixed[0][block[1]]] if self.column else []
        joints = {joint.name: joint for joint in self._tree.joints}
        shifts = [(joints[name], joints[name].type.nq - (stop - start)) for name, start, stop in blocks]
        return [i for joint, shift in shifts for i in list(joint.columns)[shift:]]

    def rotations(self) -> ca.Function | None:
        """(q, value) → (rotations): those from the value to q, of joints whose rotation is fixed."""
        if not (rows := self.turned):
            return None
        nq = self._tree.nq
        s = symbols(q=nq, value=nq + self._tree.nv)
        way = configuration.difference(self._tree, s["value"][:nq], s["q"])
        return differentiable(function("rotations", s, {"rotations": ca.SX(way)[rows]}))

    def missed(self, x: Array, value: Array) -> dict[str, float]:
        """Distance of [q; v] from what is fixed, of a value of this end."""
        nq, turning = self._tree.nq, self._turning
        distances = {}
        for key, part, fixed in (("q", slice(0, nq), self.fixed[0]), ("v", slice(nq, None), self.fixed[1])):
            entries = [i for i in np.flatnonzero(fixed).tolist() if key == "v" or i not in turning]
            left = np.abs((value[part] - x[part])[entries]).max(initial=0.0)
            if key == "q" and (turned := self.turned):
                to = projected(value[:nq], unit_blocks(self._tree))
                way = ca.evalf(configuration.difference(self._tree, ca.DM(x[:nq]), ca.DM(to))).full().ravel()
                left = max(left, np.abs(way[turned]).max())
            if fixed.any():
                distances[f"{key} of {self.name}"] = float(left)
        return distances

    @property
    def said(self) -> tuple[Any, ...]:
        return tuple(hash(x) if isinstance(x, ca.MX) else tuple(x.tolist()) for x in self._given)

    @property
    def pattern(self) -> tuple[bool, ...]:
        """Mask of the entries of [q; v] that are fixed, and true if parameters give all of them."""
        return *np.concatenate(self.fixed).tolist(), self.measured == "qv"

    def fix(self, parameters: ProblemParameters, q: Fixed, v: Fixed) -> None:
        """Fix q and v, and free what is not given, as of :meth:`Problem.start`."""
        tree = self._tree
        rest = neutral(tree).full().ravel(), np.zeros(tree.nv)
        found = [self._entries(key, x, own, parameters) for key, x, own in (("q", q, rest[0]), ("v", v, rest[1]))]
        for key, (_, fixed) in zip("qv", found, strict=True):
            dyn = self._system.dynamics
            modes = fixed[len(fixed) - dyn.nv :][dyn.modes.start : dyn.modes.stop]
            if self._system.stiff and modes.any() and not modes.all():
                raise ArgumentError(
                    f"{self.name}: {key} fixes some modal coordinates; with quasi_static fix all of them, or none; or "
                    "give quasi_static=None"
                )
        self._given, self.fixed = [given for given, _ in found], [fixed for _, fixed in found]
        if not any(isinstance(given, ca.MX) for given in self._given):
            self._set(self._given)

    def set(self, parameters: ProblemParameters) -> None:
        """Give a solve the values of the end; what parameters give is moved onto unit lengths, or refused."""
        self.corrections = dict.fromkeys((f"{key} of {self.name}" for key in self.measured), 0.0)
        self._set([self._number(key, given, parameters) for key, given in zip("qv", self._given, strict=True)])

    def move(self, key: str, value: Array, by: float, most: float) -> None:
        """Replace q or v of a solve by values that were moved ``by`` so much, unless this is too far."""
        if by > most:
            return
        self._set([value if each == key else last for each, last in zip("qv", self.values, strict=True)])
        what = f"{key} of {self.name}"
        self.corrections[what] = max(self.corrections[what], by)

    @property
    def numbers(self) -> list[Array]:
        """[q; v] of the last solve."""
        return [np.concatenate(self.values)]

    @property
    def expression(self) -> ca.MX:
        """The values, as an expression of parameters."""
        return ca.vertcat(*(x if isinstance(x, ca.MX) else ca.DM(x) for x in self._given))

    def parameters_of(self, parameters: ProblemParameters) -> list[str]:
        """The names of the parameters that q and v are; "" where one is none, but numbers or another expression."""
        return [parameters.name_of(given) for given in self._given]

    def is_measured(self, key: str) -> bool:
        """True if q or v has parameters."""
        return isinstance(self._given["qv".index(key)], ca.MX)

    @property
    def measured(self) -> str:
        """``"q"``, ``"v"``, ``"qv"`` or ``""``: what parameters give as a whole."""
        given = zip("qv", self._given, self.fixed, strict=True)
        return "".join(key for key, x, fixed in given if isinstance(x, ca.MX) and fixed.all())

    def configuration(self, otherwise: Array | None) -> Array | None:
        """q at this end, if it is fixed, its free entries those of another configuration."""
        fixed = self.fixed[0]
        if not fixed.any() or (otherwise is None and not fixed.all()):
            return None
        free = self.values[0] if otherwise is None else otherwise
        return projected(np.where(fixed, self.values[0], free), unit_blocks(self._tree))

    def _set(self, given: list[Any]) -> None:
        self.values = [np.asarray(x, dtype=float) for x in given]

    def _entries(self, key: str, given: Any, rest: Array, parameters: ProblemParameters) -> tuple[Any, Mask]:
        """The values of all entries of q or v, and which are fixed."""
        what, length = f"{self.name}: {key}", len(rest)
        if given is None:
            return rest, np.zeros(length, dtype=bool)
        if isinstance(given, Mapping):
            return self._some(what, key, given, rest, parameters)
        fixed = np.ones(length, dtype=bool)
        if isinstance(given, ca.MX):
            if given.shape != (length, 1):
                raise ArgumentError(f"{what} has shape {given.shape}; give ({length}, 1)")
            parameters.check(what, given)
            return given, fixed
        if key == "q":
            found = configuration.checked_configuration(what, given, self._tree)
        else:
            found = vector(what, given, length, repeat=True)
        found = self._bounds.within(what, found, key)
        return projected(found, unit_blocks(self._tree)) if key == "q" else found, fixed

    def _some(
        self, what: str, key: str, given: Mapping[str, Any], rest: Array, parameters: ProblemParameters
    ) -> tuple[Any, Mask]:
        """Entries as of :meth:`_entries`, where some are given by name."""
        names = getattr(self._bounds, f"{key}_names")
        turning = [i for _, start, stop in unit_blocks(self._tree) for i in range(start, stop)] if key == "q" else []
        entries, fixed = list(rest), np.zeros(len(rest), dtype=bool)
        for name, value in given.items():
            if name not in names:
                raise UnknownNameError(f"entry of {key}", name, names)
            i = names.index(name)
            if i in turning:
                raise ArgumentError(f"{what}: {name!r} is an entry of a unit vector; give all of q")
            if isinstance(value, ca.MX):
                if not value.is_scalar():
                    raise ArgumentError(f"{what}: {name!r} has shape {value.shape}; give (1, 1)")
                parameters.check(f"{what}: {name!r}", value)
            else:
                alone = np.full(len(rest), np.nan)
                alone[i] = number(f"{what}: {name!r}", value, least=-np.inf)
                value = float(self._bounds.within(what, alone, key)[i])
            entries[i], fixed[i] = value, True
        symbolic = any(isinstance(entry, ca.MX) for entry in entries)
        return ca.vertcat(*entries) if symbolic else np.array(entries, dtype=float), fixed

    def _number(self, key: str, given: Array | ca.MX, parameters: ProblemParameters) -> Array:
        """The values of a solve, with unit lengths, of quaternions with the signs of the last ones.

        q and −q are one rotation, but no warm start.
        """
        if not isinstance(given, ca.MX):
            return given
        found, blocks = parameters.of(given).ravel(), unit_blocks(self._tree)
        if not np.all(np.isfinite(found)):
            raise ArgumentError(f"{self.name}: {key} is {found}; give parameters with which it is finite")
        if key == "v":
            return found
        try:
            configuration.check_unit_lengths(f"{self.name}: q", found, self._tree, NEAR_Q)
        except ArgumentError as error:
            raise InvalidStartError(str(error)) from None
        self.corrections[f"q of {self.name}"] = float(np.abs(configuration.lengths(found, blocks) - 1).max(initial=0))
        found = projected(found, blocks)
        last = found if self._measured is None else self._measured
        for _, start, stop in blocks:
            if stop - start == 4 and found[start:stop] @ last[start:stop] < 0:
                found[start:stop] *= -1
        self._measured = found
        return found


class InputBefore(BoundaryCondition):
    """u before the motion, from which its rate in the first interval counts: numbers or parameters, or none.

    ``is_given``: whether there is any.
    """

    def __init__(self, nu: int) -> None:
        self._value: Array | ca.MX | None = None
        self.symbols = [ca.MX.sym("u_before", nu)]
        self._last = np.zeros(nu)

    @property
    def numbers(self) -> list[Array]:
        return [self._last]

    @property
    def is_given(self) -> bool:
        return self._value is not None

    @property
    def said(self) -> tuple[Any, ...]:
        return (hash(self._value),) if isinstance(self._value, ca.MX) else tuple(self._last.tolist())

    @property
    def pattern(self) -> tuple[bool, ...]:
        return (self.is_given,)

    @property
    def expression(self) -> ca.MX:
        return self._value if isinstance(self._value, ca.MX) else super().expression

    def fix(self, parameters: ProblemParameters, u: npt.ArrayLike | ca.MX | None) -> None:
        """Take u, or none, as of :meth:`Problem.start`."""
        shape = self.symbols[0].shape
        if isinstance(u, ca.MX):
            if u.shape != shape:
                raise ArgumentError(f"start: u has shape {u.shape}; give {shape}")
            parameters.check("start: u", u)
        elif u is not None:
            u = vector("start: u", u, shape[0], repeat=True)
            self._last = u
        self._value = u

    def set(self, parameters: ProblemParameters) -> None:
        if isinstance(self._value, ca.MX):
            self._last = parameters.of(self._value).ravel()
            if not np.all(np.isfinite(self._last)):
                raise ArgumentError(f"start: u is {self._last}; give parameters with which it is finite")


class LastInput(InputBefore):
    """The last u of the motion before, to which rows connect u before this one: no parameter fixes it."""

    is_given = True


NEAR_Q, NEAR_V = 0.05, 0.2
"""The farthest that an entry of q [rad, m], a unit length, and of v [rad/s, m/s, relative to v above 1] is moved."""


class EndpointConstraints(BoundaryCondition):
    """Conditions of contacts and loops at one end, c(q) = 0 and J v = 0, beside what is fixed there.

    No multiplier of rows that follow from others is determined. So Q r = 0 takes the place of those r = 0 that make
    way for others: Q is an orthonormal basis of the range of R Z, with R = ∂r and Z those motions that leave the others
    alone. Constraints make way for what is fixed; but what is fixed makes way for them where deflections follow their
    loads and move the end, and at the end of a motion whose residuals may drift, which asks for no constraint.

    Attributes:
        known: whether each row holds already because the phase before says so.
        drifts: whether residuals may drift up to here. ``gives_way``: whether what is fixed makes way.
        symbols: Q of positions and velocities, as parameters of the program: of constraints, and of what is fixed if
            that makes way.
    """

    def __init__(self, end: End, system: System, guess: Callable[[], Array]) -> None:
        self.end, self._system, self._guess = end, system, guess
        self.drifts = bool(end.column) and not system.projections
        self.gives_way = self.drifts or system.moves_ends
        self._rows = system.places, system.rows
        self.known: tuple[Mask, ...] = tuple(np.zeros(len(rows), dtype=bool) for rows in self._rows)
        sizes = [len(rows) for rows in self._rows]
        sizes += [system.positions, len(system.moving)] if self.gives_way else []
        self.symbols = [ca.MX.sym("combined", size, size) for size in sizes]
        self._combinations = [np.eye(size) for size in sizes]
        self._counted: dict[tuple[bool, ...], list[int]] = {}

    @property
    def counts(self) -> list[int]:
        """The numbers of rows of each symbol."""
        return [len(rows) for rows in self._combinations]

    @property
    def pattern(self) -> tuple[bool, ...]:
        rows = zip(self.symbols, self.counts, strict=True)
        return tuple(k < count for symbol, count in rows for k in range(symbol.shape[0]))

    @property
    def numbers(self) -> list[Array]:
        padded = [np.zeros(symbol.shape) for symbol in self.symbols]
        for whole, rows in zip(padded, self._combinations, strict=True):
            whole[: len(rows), : rows.shape[1]] = rows
        return padded

    def set(self, parameters: ProblemParameters) -> None:
        """Take what is fixed at this end; what parameters give is moved onto the constraints, or refused if far."""
        if self.end.fixed[0].all():
            self._check_state()
        self.prepare()

    def _check_state(self) -> None:
        end, measured = self.end, self.end.measured
        if "q" in measured:
            q, reached = end.values[0], self._system.closed(end.values[0])
            apart = configuration.difference(self._system.dynamics.tree, ca.DM(q), ca.DM(reached))
            end.move("q", reached, float(np.abs(ca.evalf(apart).full()).max(initial=0)), NEAR_Q)
        q, v = end.values
        con = self._system.rows.con.anchored(q)
        if "v" in measured:
            with contextlib.suppress(ArgumentError):
                reached = con.consistent_velocity(q, v)
                far = NEAR_V * max(1.0, np.abs(v).max(initial=0))
                end.move("v", reached, float(np.abs(reached - v).max(initial=0)), far)
        try:
            con.check_state(f"{end.name} of the motion", q, end.values[1] if end.fixed[1].all() else np.zeros_like(v))
        except ArgumentError as error:
            raise InvalidStartError(str(error)) if measured else error from None

    def prepare(self) -> None:
        """Choose the rows that do not follow from what is fixed, or from the constraints."""
        end, system, guess = self.end, self._system, self._guess()
        q = end.configuration(guess)
        q = guess if q is None else q
        fixed = [self._slopes(key, q) for key in "qv"]
        held = [system.of_states(rows.numbers(q)) for rows in self._rows]
        asked = [np.eye(len(known))[~known & (not self.drifts)] for known in self.known]
        if self.gives_way:
            counts = self._usual_counts() if end.measured and not self.drifts else (0, 0)
            asked += [independent_of(*rows) for rows in zip(fixed, held, counts, strict=True)]
        else:
            if end.values[1].any() and not end.fixed[0].all():
                fixed[1] = fixed[1][:0]  # whether J v = 0 follows from v alone depends on q
            rows = zip(asked, held, fixed, strict=True)
            asked = [independent_of(chosen @ jacobian, others) @ chosen for chosen, jacobian, others in rows]
        self._combinations = asked

    def _usual_counts(self) -> Sequence[int]:
        """The numbers of combinations at nearly all configurations, so that a solver takes a start wherever it is."""
        if self.end.pattern not in self._counted:
            counts = []
            for q in closed_configurations(self._system.places.con):
                held = [self._system.of_states(rows.numbers(q)) for rows in self._rows]
                rows = zip("qv", held, strict=True)
                counts.append([len(independent_of(self._slopes(key, q), others)) for key, others in rows])
            self._counted[self.end.pattern] = np.max(counts, axis=0).tolist()
        return self._counted[self.end.pattern]

    def _slopes(self, key: str, q: Array) -> Array:
        """The derivatives of what is fixed of q or v, by motions of states."""
        system, tree = self._system, self._system.dynamics.tree
        rates = ca.vertcat(ca.evalf(tree.tangent_map(ca.SX(ca.DM(q)))), ca.DM.eye(tree.nv))
        of_states = system.of_states(np.eye(tree.nv))
        slopes = ca.DM(system.states_of(rates)).full()[self.end.fixed_states(key)] @ of_states
        return slopes if key == "v" else np.vstack([slopes, of_states[self.end.turned]])


def independent_of(rows: Array, others: Array, count: int = 0) -> Array:
    """Q (r × m): orthonormal combinations of m rows that motions which leave the others alone change.

    With a count, so many of them, which are changed most.
    """
    if not len(others):
        return np.eye(len(rows))
    _, sizes, right = np.linalg.svd(others)
    motions = right[int(np.sum(sizes > NEARLY_DEPENDENT * sizes.max(initial=1.0))) :].T
    changes = np.asarray(rows @ motions)
    if count:
        return np.asarray(np.linalg.svd(changes)[0][:, :count].T)
    _, basis = independent_columns(changes, NEARLY_DEPENDENT * max(1.0, np.abs(rows).max(initial=0.0)))
    return np.eye(len(rows)) if basis.shape[1] == len(rows) else np.asarray(basis.T)
