"""The ``Opti`` of a motion as a nonlinear program, by intervals and with simple bounds apart; and several as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import UnsupportedError
from gdalembert.nlp.program import NOWHERE, Indices, IntervalIndex, Label, Labels, NonlinearProgram
from gdalembert.spatial.arrays import Array

_LAST = np.iinfo(int).max


class Transcribed(Protocol):
    """A motion of N intervals, transcribed into an ``Opti``.

    Attributes:
        intervals: N.
        state: variables, a column for each of the N + 1 instants; those from row ``size`` on are constants of the
            motion.
        reached: the state at the end of each interval, by an expression of variables of that interval.
        gaps: the number of the constraint that ``reached`` is the next state.
    """

    intervals: int
    state: ca.MX
    size: int
    reached: ca.MX
    gaps: int

    @property
    def blocks(self) -> Sequence[tuple[ca.MX, int]]:
        """Each matrix of variables, and how many of its columns belong to an interval."""

    @property
    def overlap(self) -> str:
        """Why intervals share variables; empty if none do."""


class ChangeOfVariables(NamedTuple):
    """Variables η in the place of some variables x of a motion, x = Ψ η, and the equations that are theirs, times Ψᵀ.

    Attributes:
        shapes: Ψ (n × n).
        variables: matrices of variables, and the row where x begins in each of their columns.
        equations: rows of the constraint before the gaps, those of x a row for each column. ``sizes``: of these.
    """

    shapes: Array
    variables: Sequence[tuple[ca.MX, int]]
    equations: Indices
    sizes: Array


class SimpleBounds(NamedTuple):
    """Rows that bound one entry of x each: row = slope x[entry] + offset(p)."""

    rows: Indices
    entries: Indices
    slopes: Array
    offset: ca.Function


class ConstraintRows(NamedTuple):
    """All rows of ``opti.g``: the number of their ``subject_to``, whether they are equations, and what they touch.

    ``measured`` are equations with a value that parameters give, which replace the bounds of a variable. ``free`` rows
    have no bound. ``row``, ``column`` are the entries of the Jacobian; ``simple`` the rows that bound one variable.
    """

    group: Indices
    equal: Indices
    measured: Indices
    free: Indices
    row: Indices
    column: Indices
    simple: SimpleBounds


class StagewiseProgram(NonlinearProgram):
    """The program of an ``Opti``: z are its scaled variables, interval by interval.

    Args:
        motion: how the intervals stand in the ``Opti``. ``coordinates``: those that take the place of variables.
        opti: the problem, baked.
        p, other_p: the parameters of the ``Opti`` as numbers; they differ in those that a solve may set to any value.
        stagewise: whether the constants of the motion have a variable in each interval, not one for all, and equations
            of one variable stay constraints, instead of becoming a pair of equal bounds.
        label: (number, row) → what a constraint of the ``Opti`` stands for, by its number and its first row.
    """

    def __init__(
        self,
        motion: Transcribed,
        coordinates: ChangeOfVariables,
        opti: ca.OptiAdvanced,
        p: Array,
        other_p: Array,
        *,
        stagewise: bool,
        label: Callable[[int, int], Label],
    ) -> None:
        self._motion, self._opti, self._x, self._label = motion, opti, opti.x, label
        groups, intervals = self._variable_places()
        when = np.where(intervals == NOWHERE, _LAST, intervals)
        first_copy = self._first_copies(stagewise)
        self._order, self._of_x = _in_order(when, groups, first_copy)
        self.variables = IntervalIndex(groups[self._order], intervals[self._order])
        scales = np.array(opti.x_linear_scale, dtype=float).ravel()
        self._scales = scales[self._order]
        replaced, shapes = self._replaced(coordinates), coordinates.shapes
        self._to_x, self._from_x = (_spread(block, replaced, opti.nx) for block in (shapes, np.linalg.inv(shapes)))
        changed = np.isin(np.arange(opti.nx), replaced)
        self._rows = rows = self._all_rows(p, other_p, not stagewise, first_copy, changed)
        gaps = opti.get_meta_con(opti.constraints()[motion.gaps])
        self._gaps = np.zeros(opti.ng, dtype=bool)
        self._gaps[gaps.start : gaps.stop] = True
        first = np.full(opti.ng, _LAST)
        np.minimum.at(first, rows.row, when[rows.column])
        self._kept = self._constraint_order(first, stagewise)
        first[first == _LAST] = NOWHERE
        self.constraints = IntervalIndex(rows.group[self._kept], first[self._kept])
        self.equal = rows.equal[self._kept]
        before = opti.get_meta_con(opti.constraints()[max(motion.gaps - 1, 0)])
        equations = before.start + coordinates.equations
        self._sizes = self._constraint_sizes(coordinates, equations, scales)
        self.problem, self.limits = self._scaled(coordinates, equations), self._scaled_limits()

    def _replaced(self, coordinates: ChangeOfVariables) -> Indices:
        """The entries of ``opti.x`` in whose place η is, a row for each x."""
        size = len(coordinates.shapes)
        entries = [
            self._entries(matrix[i : i + size, :]).reshape(matrix.shape[1], size) for matrix, i in coordinates.variables
        ]
        return np.vstack(entries)

    def _constraint_order(self, first: Indices, stagewise: bool) -> Indices:
        """The rows of ``opti.g`` that stay constraints, by their first interval, the gaps of each before the others."""
        motion, kept = self._motion, ~self._rows.free
        kept[self._rows.simple.rows] = False
        if not stagewise:  # a constant with one variable has no gap
            constant = np.arange(motion.state.shape[0]) >= motion.size
            kept[self._gaps] &= ~np.tile(constant, motion.intervals)
        rows = np.flatnonzero(kept)
        return rows[np.lexsort((rows, ~self._gaps[rows], first[rows]))]

    def _constraint_sizes(self, coordinates: ChangeOfVariables, equations: Indices, scales: Array) -> Array:
        """The size of each constraint: of the equations, that of η; of a gap, that of its state."""
        sizes = np.array(self._opti.g_linear_scale, dtype=float).ravel()
        sizes[equations] = coordinates.sizes
        sizes[self._gaps] = scales[self._entries(self._motion.state[:, 1:])]
        return sizes[self._kept]

    def _scaled(self, coordinates: ChangeOfVariables, equations: Indices) -> dict[str, ca.MX]:
        """z, p, f, g, with η in the place of x; ``equations``: rows of those that are theirs."""
        motion, opti, size = self._motion, self._opti, len(coordinates.shapes)
        states, columns = motion.state.shape[0], np.arange(motion.intervals)[:, None]
        begins = [i for matrix, i in coordinates.variables if matrix is motion.state]
        in_states = np.vstack([states * columns + i + np.arange(size) for i in begins])
        to_states = _spread(np.linalg.inv(coordinates.shapes), in_states, states * motion.intervals)
        z = ca.MX.sym("z", len(self._order))
        all_of = ca.Function("nlp", [opti.x, opti.p], [opti.f, opti.g, ca.vec(motion.reached)])
        f, g, reached = all_of.call([self.unscaled(z), opti.p], True, False)
        begun = self._unordered(z)[self._entries(motion.state[:, 1:]).tolist()]
        gaps = opti.get_meta_con(opti.constraints()[motion.gaps])
        g = ca.vertcat(g[: gaps.start], begun - to_states @ reached, g[gaps.stop :])
        g = _spread(coordinates.shapes.T, equations[:, :size], opti.ng) @ g
        return {"x": z, "p": opti.p, "f": f, "g": g[self._kept.tolist()] / ca.DM(self._sizes)}

    # Numbers.

    def _scaled_limits(self) -> ca.Function:
        """(p) → (lbx, ubx, lbg, ubg): bounds of z and g at the parameters of the ``Opti``."""
        opti, simple = self._opti, self._rows.simple
        kept, order, rows = self._kept.tolist(), self._order.tolist(), simple.rows.tolist()
        offset, falling = simple.offset(opti.p), np.flatnonzero(simple.slopes < 0).tolist()
        ends = [(bound[rows] - offset) / ca.DM(simple.slopes) for bound in (opti.lbg, opti.ubg)]
        low, high = ca.MX(ends[0]), ca.MX(ends[1])
        if falling:
            low[falling], high[falling] = ends[1][falling], ends[0][falling]
        lbx, ubx = ca.MX(-ca.inf * ca.DM.ones(opti.nx)), ca.MX(ca.inf * ca.DM.ones(opti.nx))
        measured = self._rows.measured[simple.rows]
        for layer in _layers(simple.entries, np.flatnonzero(~measured)):
            where, of = simple.entries[layer].tolist(), layer.tolist()
            lbx[where], ubx[where] = ca.fmax(lbx[where], low[of]), ca.fmin(ubx[where], high[of])
        if of := np.flatnonzero(measured).tolist():
            where = simple.entries[of].tolist()
            lbx[where], ubx[where] = low[of], high[of]
        variables = [bound[order] / ca.DM(self._scales) for bound in (lbx, ubx)]
        constraints = [bound[kept] / ca.DM(self._sizes) for bound in (opti.lbg, opti.ubg)]
        return ca.Function("limits", [opti.p], [*variables, *constraints], ["p"], ["lbx", "ubx", "lbg", "ubg"])

    def positions(self, part: ca.MX) -> tuple[Indices, Array]:
        """The entries of z that stand for a matrix of variables, column by column, and their sizes."""
        entries = self._of_x[self._entries(part)]
        return entries, self._scales[entries]

    def scaled(self, x: Array) -> Array:
        """z of ``opti.x``."""
        return np.asarray((self._from_x @ x).full().ravel()[self._order] / self._scales)

    def unscaled(self, z: Any) -> Any:
        """``opti.x`` of z: numbers, or an expression."""
        if isinstance(z, ca.MX):
            return self._to_x @ self._unordered(z)
        return (self._to_x @ (z * self._scales)[self._of_x]).full().ravel()

    def _unordered(self, z: ca.MX) -> ca.MX:
        """z in the order and the units of ``opti.x``, with η in the place of x."""
        return ca.MX((ca.DM(self._scales) * z)[self._of_x.tolist()])

    def structure(self) -> dict[str, int | list[int]]:
        states, n = self._motion.state.shape[0], self._motion.intervals
        where = self.variables.intervals
        if NOWHERE in where:
            raise UnsupportedError("a variable of opti belongs to no interval; take another solver, as 'ipopt'")
        in_order = np.empty(len(where), dtype=int)
        in_order[self._order] = where
        last = np.full(len(self._gaps), NOWHERE)
        np.maximum.at(last, self._rows.row, in_order[self._rows.column])
        kept, first = self._kept, self.constraints.intervals
        reach = last[kept] - first - self._gaps[kept]
        if (apart := np.flatnonzero(reach > 0)).size:
            if self._motion.overlap:
                raise UnsupportedError(f"{self._motion.overlap}, or another solver, as 'ipopt'")
            i = int(apart[0])
            what = self._opti.g_describe(int(kept[i])).splitlines()[0]
            raise UnsupportedError(
                f"the constraint {what} connects the intervals {first[i]} and {last[kept[i]]}; give constraints of one "
                "interval each, or take another solver, as 'ipopt'"
            )
        own = np.bincount(first[~self._gaps[kept]], minlength=n + 1)
        others = np.bincount(where, minlength=n + 1) - states
        return {"N": n, "nx": [states] * (n + 1), "nu": others.tolist(), "ng": own.tolist()}

    def labels(self) -> Labels:
        opti, rows = self._opti, self._rows
        metas = [opti.get_meta_con(each) for each in opti.constraints()]
        labels = [self._label(number, meta.start) for number, meta in enumerate(metas)]
        at = np.full((2, opti.ng), NOWHERE)
        at[0] = _LAST
        groups, intervals = self._variable_places()
        np.minimum.at(at[0], rows.row, intervals[rows.column])
        np.maximum.at(at[1], rows.row, intervals[rows.column])
        between = np.zeros(opti.ng, dtype=bool)
        np.logical_or.at(between, rows.row, groups[rows.column] > 0)

        def label(row: int) -> Label:
            first, last = at[:, row]
            where = "" if first in (NOWHERE, _LAST) else f"at grid point {first}"
            if where and (between[row] or first != last):
                where = f"in interval {first}"
            return labels[int(rows.group[row])]._replace(where=where)

        simple = rows.simple
        fixed = {
            int(i): label(int(row))
            for row, i in zip(simple.rows, self._of_x[simple.entries], strict=True)
            if rows.equal[row]
        }
        return [label(row) for row in self._kept.tolist()], fixed

    # Rows and columns.

    def _entries(self, part: ca.MX) -> Indices:
        """The entries of ``opti.x`` that make a matrix of variables, column by column."""
        where = ca.Function("where", [self._x], [ca.vec(part)])(np.arange(self._x.numel()))
        return np.array(where.full().ravel(), dtype=int)

    def _first_copies(self, stagewise: bool) -> Indices:
        """For each entry of ``opti.x`` the one whose variable it has: of a constant, that of the first instant."""
        found = np.arange(self._x.numel())
        constants = self._motion.state[self._motion.size :, :]
        if not stagewise and constants.numel():
            entries = self._entries(constants).reshape(constants.shape[1], -1)
            found[entries] = entries[0]
        return found

    def _variable_places(self) -> tuple[Indices, Indices]:
        n = self._x.numel()
        groups, intervals = np.full(n, len(self._motion.blocks)), np.full(n, NOWHERE)
        for group, (matrix, width) in enumerate(self._motion.blocks):
            own = self._entries(matrix)
            groups[own] = group
            intervals[own] = np.repeat(np.arange(matrix.shape[1]) // width, matrix.shape[0])
        return groups, intervals

    def _all_rows(self, p: Array, other_p: Array, fix: bool, first_copy: Indices, replaced: Indices) -> ConstraintRows:
        opti = self._opti
        limits = ca.Function("limits", [opti.p], [opti.lbg, opti.ubg])
        both = [[bound.full().ravel() for bound in limits(each)] for each in (p, other_p)]
        equal = np.logical_and(*(lower == upper for lower, upper in both))
        free = np.logical_and(*(np.isneginf(lower) & np.isposinf(upper) for lower, upper in both))
        measured = equal & (both[0][0] != both[1][0])
        row, column = (np.array(each, dtype=int) for each in ca.jacobian_sparsity(opti.g, opti.x).get_triplet())
        alone = np.bincount(row, minlength=opti.ng) == 1
        group = np.zeros(opti.ng, dtype=int)
        candidates = []
        for number, constraint in enumerate(opti.constraints()):
            meta = opti.get_meta_con(constraint)
            own = slice(meta.start, meta.stop)
            group[own] = number
            if alone[own].any():
                candidates.append(meta)
        entry = np.zeros(opti.ng, dtype=int)
        entry[row] = column
        bounds = _simple_bounds(opti, candidates, entry, alone & ~free & ~replaced[entry] & (fix | ~equal))
        bounds = bounds._replace(entries=first_copy[bounds.entries])
        return ConstraintRows(group, equal, measured, free, row, column, bounds)


def _in_order(when: Indices, groups: Indices, first_copy: Indices) -> tuple[Indices, Indices]:
    """The entries of ``opti.x`` that are variables, by interval and group; and the number of that of each entry."""
    n = len(when)
    order = np.lexsort((np.arange(n), groups, when))
    order = order[first_copy[order] == order]
    numbers = np.empty(n, dtype=int)
    numbers[order] = np.arange(len(order))
    return order, numbers[first_copy]


def _simple_bounds(
    opti: ca.OptiAdvanced, candidates: list[ca.MetaCon], entry: Indices, usable: Indices
) -> SimpleBounds:
    """The usable rows of some constraints, which depend on one variable each, if they are linear in x and p."""
    rows = np.concatenate([np.arange(meta.start, meta.stop) for meta in candidates] or [np.zeros(0, dtype=int)])
    w = ca.MX.sym("w", opti.nx + opti.np)
    expressions = ca.vertcat(ca.MX(0, 1), *(ca.vec(meta.canon) for meta in candidates))
    graph = ca.Function("rows", [opti.x, opti.p], [expressions])
    values = graph.call([w[: opti.nx], w[opti.nx :]], True, False)[0]
    nonlinear = np.array(ca.which_depends(values, w, 2, True), dtype=bool) if len(rows) else np.zeros(0, dtype=bool)
    chosen = np.flatnonzero(~nonlinear & usable[rows])
    jacobian = ca.Function("slopes", [w], [ca.jacobian(values, w)])(0)
    slopes = [float(jacobian[int(i), int(entry[rows[i]])]) for i in chosen]
    offset = ca.Function("offset", [opti.p], [graph(ca.DM.zeros(opti.nx), opti.p)[chosen.tolist()]])
    return SimpleBounds(rows[chosen], entry[rows[chosen]], np.array(slopes), offset)


def _spread(block: npt.NDArray[Any], rows: Indices, n: int) -> ca.DM:
    """The n × n matrix that is one but for this block at each row of indices."""
    size, plain = len(block), np.setdiff1d(np.arange(n), rows)
    i = np.concatenate([np.repeat(rows, size, axis=1).ravel(), plain])
    j = np.concatenate([np.tile(rows, (1, size)).ravel(), plain])
    values = np.concatenate([np.tile(block.ravel(), len(rows)), np.ones(len(plain))])
    return ca.DM.triplet(i.tolist(), j.tolist(), ca.DM(values), n, n)


def _layers(entries: Indices, of: Indices) -> list[Indices]:
    """Numbers of entries in as few groups as possible, in each of which no entry is repeated."""
    layers: list[list[int]] = []
    counts: dict[int, int] = {}
    for i in of.tolist():
        layer = counts[entries[i]] = counts.get(entries[i], -1) + 1
        if layer == len(layers):
            layers.append([])
        layers[layer].append(i)
    return [np.array(layer, dtype=int) for layer in layers]


class LinkRows(NamedTuple):
    """A constraint that connects parts, lower ≤ rows ≤ upper; ``user``: whether the user asked for it."""

    name: str
    rows: ca.MX
    lower: Array
    upper: Array
    user: bool = False


class Connection(NamedTuple):
    """How parts are joined: the cost of all, links, and where the variables begin that are of no part."""

    cost: ca.MX
    links: list[LinkRows]
    begin: ca.MX


class JoinedProgram(NonlinearProgram):
    """Several nonlinear programs as one.

    Its variables are those of the first part, what the others do not share with it, and ``further`` ones of its own.

    ``connect`` gives its cost and links, ``shared`` are the matrices of variables in the ``Opti`` of each part that are
    the same in all. ``z`` are the variables of each part as expressions, ``kind`` is what a part is called.
    """

    def __init__(
        self,
        kind: str,
        parts: Sequence[StagewiseProgram],
        further: int,
        connect: Callable[[JoinedProgram], Connection],
        shared: Sequence[ca.MX] = (),
    ) -> None:
        self.kind, self._parts = kind, parts
        self._place(shared)
        x, p = ca.MX.sym("z", self._size + further), ca.vertcat(*(part.problem["p"] for part in parts))
        self.z, self.further = self.split(x), x[self._size :]
        found = []
        for part, z in zip(parts, self.z, strict=True):
            own, of_p, f, g = (part.problem[key] for key in "xpfg")
            found.append(ca.Function("program", [own, of_p], [f, g]).call([z, of_p], True, False))
        self.costs = [f for f, _ in found]
        self.problem = {"x": x, "p": p}
        cost, self.links, begin = connect(self)
        self.problem |= {"f": cost, "g": ca.vertcat(*(g for _, g in found), *(link.rows for link in self.links))}
        of_links = [np.equal(link.lower, link.upper) for link in self.links]
        self.equal = np.concatenate([*(part.equal for part in parts), *of_links])
        self.limits = self._limits(p, further)
        self._link_rows = ca.Function("links", [x, p], [link.rows for link in self.links])
        self._begin, self._cost = ca.Function("begin", [x, p], [begin]), ca.Function("cost", [x, p], [cost])
        self.variables = _joined_index([part.variables for part in parts], self._own, further)
        rows = [part.constraints for part in parts]
        self.constraints = _joined_index(rows, [slice(None)] * len(parts), sum(map(len, of_links)))

    def _place(self, shared: Sequence[ca.MX]) -> None:
        """Find where the variables of each part are among all, and what these are to be multiplied by."""
        self._size, self._where, self._factors, self._own = 0, [], [], []
        common: list[tuple[Indices, Array]] = []
        for k, part in enumerate(self._parts):
            where, factors = np.full(part.size, NOWHERE), np.ones(part.size)
            if shared:
                entries, sizes = part.positions(shared[k])
                if common:
                    where[entries], factors[entries] = common[0][0], common[0][1] / sizes
                common.append((entries, sizes))
            own = np.flatnonzero(where == NOWHERE)
            where[own] = self._size + np.arange(len(own))
            self._size += len(own)
            self._where.append(where)
            self._factors.append(factors)
            self._own.append(own)

    def _limits(self, p: ca.MX, further: int) -> ca.Function:
        """(p) → (lbx, ubx, lbg, ubg)."""
        parameters = self.split_numbers(p)
        found = [part.limits(p=own) for part, own in zip(self._parts, parameters, strict=True)]
        ends = {}
        for key, tighter in (("lbx", ca.fmax), ("ubx", ca.fmin)):
            each_own = zip(found, self._own, strict=True)
            bound = ca.MX(ca.vertcat(*(each[key][own.tolist()] for each, own in each_own)))
            for each, where, factors, own in zip(found, self._where, self._factors, self._own, strict=True):
                if others := np.setdiff1d(np.arange(len(where)), own).tolist():
                    at = where[others].tolist()
                    bound[at] = tighter(bound[at], each[key][others] / ca.DM(factors[others]))
            ends[key] = ca.vertcat(bound, (ca.inf if key == "ubx" else -ca.inf) * ca.DM.ones(further))
        lower, upper = [link.lower for link in self.links], [link.upper for link in self.links]
        ends["lbg"] = ca.vertcat(*(each["lbg"] for each in found), *lower)
        ends["ubg"] = ca.vertcat(*(each["ubg"] for each in found), *upper)
        return ca.Function("limits", [p], list(ends.values()), ["p"], list(ends))

    def split(self, z: Any) -> list[Any]:
        """The variables of each part."""
        parts = [(z[where.tolist()], factors) for where, factors in zip(self._where, self._factors, strict=True)]
        symbolic = isinstance(z, ca.MX)
        return [
            own if np.all(factors == 1) else (ca.DM(factors) if symbolic else factors) * own for own, factors in parts
        ]

    def split_numbers(self, p: Any) -> list[Any]:
        """The parameters of each part."""
        ends = np.cumsum([0, *(part.problem["p"].numel() for part in self._parts)]).tolist()
        return [p[i:j] for i, j in pairwise(ends)]

    def merged(self, parts: Sequence[Array], numbers: Callable[[], Array]) -> Array:
        """The variables, of those of each part: what they share is the mean."""
        total, counts = np.zeros(self._size), np.zeros(self._size)
        for z, where, factors in zip(parts, self._where, self._factors, strict=True):
            total[where] += z / factors
            counts[where] += 1
        begun = np.concatenate([total / counts, np.zeros(self.further.numel())])
        if len(begun) > self._size:
            begun[self._size :] = self._begin(begun, numbers()).full().ravel()
        return begun

    def labels(self) -> Labels:
        """What the rows and fixed variables stand for, each with the name of its part."""
        rows: list[Label] = []
        fixed: dict[int, Label] = {}
        for k, (part, where) in enumerate(zip(self._parts, self._where, strict=True), start=1):
            own, held = part.labels()
            rows += [label._replace(name=f"{self.kind} {k}: {label.name}") for label in own]
            fixed |= {int(where[i]): x._replace(name=f"{self.kind} {k}: {x.name}") for i, x in held.items()}
        for link in self.links:
            rows += [Label(link.name, user=link.user)] * len(link.lower)
        return rows, fixed

    def violations(self, z: Array, p: Array) -> dict[str, float]:
        """The largest violation of each link."""
        values = (rows.full().ravel() for rows in self._link_rows.call([z, p]))
        return {
            link.name: float(np.maximum(link.lower - rows, rows - link.upper).max(initial=0.0))
            for link, rows in zip(self.links, values, strict=True)
        }

    def cost(self, z: Array, p: Array) -> float:
        """The cost of all parts."""
        return float(self._cost(z, p))

    def structure(self) -> dict[str, int | list[int]]:
        raise UnsupportedError(f"{self.kind}s are not one sequence of intervals; take another solver, as 'ipopt'")


def _joined_index(parts: Sequence[IntervalIndex], chosen: Sequence[Any], further: int) -> IntervalIndex:
    """The chosen entries of all parts, and further ones that are nowhere."""
    groups = [part.groups[own] * len(parts) + k for k, (part, own) in enumerate(zip(parts, chosen, strict=True))]
    intervals = [part.intervals[own] for part, own in zip(parts, chosen, strict=True)]
    nowhere = np.full(further, NOWHERE)
    return IntervalIndex(np.concatenate([*groups, nowhere]), np.concatenate([*intervals, nowhere]))
