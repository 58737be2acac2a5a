"""The ends of a motion: what is fixed there, by numbers or parameters, and what contacts and loops ask of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.constrained.checks import NEARLY_DEPENDENT
from gdalembert.errors import ArgumentError, UnknownNameError
from gdalembert.model import configuration
from gdalembert.model.configuration import neutral, projected, unit_blocks
from gdalembert.nlp.program import InvalidStartError
from gdalembert.ocp.parameters import BoundaryCondition, ProblemParameters
from gdalembert.ocp.stage import Motion
from gdalembert.ocp.steps import IndependentRows, differentiable
from gdalembert.ocp.system import System
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

    @property
    def turning_at_start(self) -> list[tuple[int, int]]:
        """The first and last entries of unit vectors whose lengths nothing but the start gives."""
        blocks = unit_blocks(self._tree) if not self.column else ()
        return [(start, stop) for _, start, stop in blocks if self.fixed[0][start]]

    def fixed_states(self) -> Iterator[tuple[str, list[int], ca.MX, bool]]:
        """The names of q and v here, which states they fix, the values of these, and whether parameters give them."""
        by, values = self._system.fixed_by, self._system.states_of(self._value)
        fixed, turning, places = np.concatenate(self.fixed)[by], self._turning, self._system.positions
        for key, first, stop in (("q", 0, places), ("v", places, len(by))):
            rows = [i for i in range(first, stop) if fixed[i] and i not in turning]
            if rows:
                measured = isinstance(self._given["qv".index(key)], ca.MX)
                yield f"{key} of {self.name}", rows, values[rows], measured

    @property
    def turned(self) -> list[int]:
        """The entries of a displacement that are rotations of joints whose rotation is fixed."""
        blocks = [block for block in unit_blocks(self._tree) if self.fixed[0][block[1]]] if self.column else []
        joints = {joint.name: joint for joint in self._tree.joints}
        shifts = [(joints[name], joints[name].type.nq - (stop - start)) for name, start, stop in blocks]
        return [i for joint, shift in shifts for i in list(joint.columns)[shift:]]

    def rotations(self) -> ca.Function | None:
        """(q, value) → (left): the rotations from the value to q, of joints whose rotation is fixed."""
        if not (rows := self.turned):
            return None
        nq = self._tree.nq
        s = symbols(q=nq, value=nq + self._tree.nv)
        way = configuration.difference(self._tree, s["value"][:nq], s["q"])
        return differentiable(function("rotations", s, {"left": ca.SX(way)[rows]}))

    def missed(self, x: Array, value: Array) -> dict[str, float]:
        """By how much [q; v] misses what is fixed, of a value of this end."""
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
    def pattern(self) -> tuple[bool, ...]:
        """Which entries of [q; v] are fixed, and whether parameters give all of them."""
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
        names = {hash(symbol): name for name, symbol in parameters.symbols.items()}
        return [names.get(hash(given), "") if isinstance(given, ca.MX) else "" for given in self._given]

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
        """As :meth:`_entries`, where some are given by name."""
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


NEAR_Q, NEAR_V = 0.05, 0.2
"""The farthest that an entry of q [rad, m], a unit length, and of v [rad/s, m/s, relative to v above 1] is moved."""


class EndpointConstraints(BoundaryCondition):
    """What contacts and loops ask of one end: c(q) = 0 and J v = 0, as far as they do not follow from what is fixed.

    Rows that follow from it would depend on the others, and no multiplier would be determined; so Q c(q) = 0 takes the
    place of c(q) = 0, where the rows of Q J are independent of what is fixed: Q is an orthonormal basis of the range of
    J Z, and Z one of the motions that leave the fixed entries alone.

    Where residuals may drift, the end of a motion asks no such thing, and what is fixed there, e = 0, depends on the
    constraints: Q e = 0 takes its place, with an orthonormal basis Q of the range of E Z, E = ∂e and Z one of the
    motions that keep the constraints.

    Attributes:
        known: whether each row holds already because the phase before says so.
        drifts: whether residuals may drift up to here.
        symbols: Q, for positions and velocities, as parameters of the program; and, where modes follow their loads,
            what is fixed still: rows E of displacements and of rates of states, for all of c(q) = 0 and J v = 0 are
            asked then, and what contradicts them makes way: E is orthogonal to the rows of J that fixed states form.
    """

    def __init__(self, end: End, system: System, guess: Callable[[], Array]) -> None:
        self.end, self._system, self._guess = end, system, guess
        self.drifts = bool(end.column) and not system.projections
        sizes = [len(rows) for rows in (system.places, system.rows)]
        self.known: tuple[Mask, ...] = tuple(np.zeros(size, dtype=bool) for size in sizes)
        sizes = [system.dynamics.tree.nv] * 2 if self.drifts else sizes
        self.symbols = [ca.MX.sym("combined", size, size) for size in sizes]
        self._combinations = [np.eye(size) for size in sizes]
        widths = [system.positions, len(system.moving)] if system.moves_ends else []
        self.fixing = [ca.MX.sym("fixing", n, n) for n in widths]
        self.symbols += self.fixing
        self._kept = [np.zeros((0, n)) for n in widths]
        self._depending: dict[tuple[bool, bytes], int] = {}

    @property
    def counts(self) -> list[int]:
        """The numbers of rows of positions and velocities."""
        return [len(rows) for rows in self._combinations]

    @property
    def kept(self) -> list[int]:
        """The numbers of rows E of positions and velocities."""
        return [len(rows) for rows in self._kept]

    @property
    def pattern(self) -> tuple[bool, ...]:
        rows = zip(self.symbols, [*self._combinations, *self._kept], strict=True)
        return tuple(k < len(own) for symbol, own in rows for k in range(symbol.shape[0]))

    @property
    def numbers(self) -> list[Array]:
        padded = [np.zeros(symbol.shape) for symbol in self.symbols]
        for whole, rows in zip(padded, [*self._combinations, *self._kept], strict=True):
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
        if self.drifts:
            self._combinations = [self._reachable(*parts) for parts in self._of_fixed()]
            return
        (_, v), (q_fixed, v_fixed), system = self.end.values, self.end.fixed, self._system
        any_v = v.any() and not q_fixed.all()
        fixed = q_fixed, np.zeros_like(v_fixed) if any_v else v_fixed
        if self.fixing:
            self._combinations = [np.eye(len(known))[~known] for known in self.known]
            states, n = np.concatenate(self.end.fixed)[system.fixed_by], system.positions
            self._kept = [self._kept_rows(states[:n], of_q=True), self._kept_rows(states[n:], of_q=False)]
            return
        parts = zip((system.places, system.rows), fixed, self.known, strict=True)
        self._combinations = [self._free_rows(rows, entries, ~known) for rows, entries, known in parts]

    def _of_fixed(self) -> Iterator[tuple[IndependentRows, Array, Array]]:
        """The constraints of q and of v, a configuration, and the derivatives of what the end fixes of each."""
        tree, system = self._system.dynamics.tree, self._system
        guess = self._guess()
        q = self.end.configuration(guess)
        q = guess if q is None else q
        by_state = system.states_of(ca.vertcat(ca.evalf(tree.tangent_map(ca.SX(ca.DM(q)))), ca.DM.eye(tree.nv)))
        slopes: dict[str, list[Array]] = {"q": [], "v": []}
        for name, states, *_ in self.end.fixed_states():
            slopes[name[0]].append(ca.DM(by_state).full()[states])
        slopes["q"].append(np.eye(tree.nv)[self.end.turned])
        for key, rows in (("q", system.places), ("v", system.rows)):
            yield rows, q, np.vstack([np.zeros((0, tree.nv)), *slopes[key]])

    def _reachable(self, rows: IndependentRows, q: Array, slopes: Array) -> Array:
        """Q (r × m): orthonormal combinations of m fixed rows that motions which keep the constraints change."""
        if not len(slopes):
            return np.zeros((0, 0))
        jacobian = rows.numbers(q)
        _, sizes, right = np.linalg.svd(jacobian)
        motions = right[int(np.sum(sizes > NEARLY_DEPENDENT * sizes.max(initial=1.0))) :].T
        if not motions.shape[1]:
            return np.zeros((0, len(slopes)))
        _, basis = independent_columns(slopes @ motions, NEARLY_DEPENDENT)
        return np.eye(len(slopes)) if basis.shape[1] == len(slopes) else np.asarray(basis.T)

    def _kept_rows(self, entries: Mask, *, of_q: bool) -> Array:
        """E (r × n) for fixed states of q or v, n as :meth:`differences` has them; as many rows at any q."""
        guess = self._guess()
        q = self.end.configuration(guess)
        key = of_q, entries.tobytes()
        if key not in self._depending:
            tried = [np.vstack(self._fixed_and_held(x, entries, of_q=of_q)) for x in self._system.rows.configurations]
            self._depending[key] = len(tried[0]) - max(np.linalg.matrix_rank(x, tol=_dependent(x)) for x in tried)
        fixed, held = self._fixed_and_held(guess if q is None else q, entries, of_q=of_q)
        depending, places = self._depending[key], np.flatnonzero(entries)
        alike = np.linalg.svd(np.vstack([fixed, held]).T)[2][len(fixed) + len(held) - depending :, : len(fixed)]
        found = np.zeros((len(fixed) - depending, len(entries)))
        found[:, np.arange(len(fixed)) if of_q and entries.all() else places] = np.linalg.svd(alike)[2][depending:]
        return found

    def _fixed_and_held(self, q: Array, entries: Mask, *, of_q: bool) -> tuple[Array, Array]:
        """What is fixed and what constraints hold, as rows that are multiplied by rates of states."""
        system = self._system
        held = system.of_states((system.places if of_q else system.rows).numbers(q))
        if of_q and not entries.all():
            return system.displaced(q)[entries], held
        return np.eye(len(system.moving))[slice(None) if of_q else entries], held

    def differences(self, state: ca.MX, value: ca.MX) -> list[ca.MX]:
        """What E is multiplied by: displacements of q, or differences of entries if not all are fixed; those of v."""
        system, places = self._system, self._system.positions
        (q, v), (q_value, v_value) = ((x[:places], x[places:]) for x in (state, system.states_of(value)))
        if not self.end.fixed[0].all():
            return [q - q_value, v - v_value]
        way = system.apart(q_value, q)
        return [ca.vertcat(way, ca.MX(places - way.shape[0], 1)), v - v_value]

    def _free_rows(self, rows: IndependentRows, fixed: Mask, chosen: Mask) -> Array:
        """Q (r × rows): orthonormal combinations of the chosen rows that do not follow from fixed entries of q or v."""
        if not fixed.any():
            return np.eye(len(rows))[chosen]
        if fixed.all() or not chosen.any():
            return np.zeros((0, len(rows)))
        tree, guess = rows.con.tree, self._guess()
        q = self.end.configuration(guess)
        q = guess if q is None else q
        by_v = tree.tangent_map(ca.SX(ca.DM(q))) if rows is self._system.places else ca.SX.eye(tree.nv)
        _, sizes, right = np.linalg.svd(ca.DM(ca.evalf(by_v)).full()[fixed])
        jacobian, motions = rows.numbers(q), right[int(np.sum(sizes > NEARLY_DEPENDENT)) :].T
        if not motions.shape[1]:
            return np.zeros((0, len(rows)))
        _, basis = independent_columns(jacobian[chosen] @ motions, NEARLY_DEPENDENT * max(1.0, np.abs(jacobian).max()))
        found = np.zeros((basis.shape[1], len(rows)))
        found[:, chosen] = basis.T
        return found


def _dependent(rows: Array) -> float:
    """The singular values of rows that are none."""
    return NEARLY_DEPENDENT * float(np.linalg.norm(rows, 2)) if rows.size else 0.0
