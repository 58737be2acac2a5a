"""Formulation of a problem as a row of stages: terms of intervals, of instants of the grid and of both ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.nlp.entries import Indices, Label
from gdalembert.nlp.stage_terms import FixedEntries, Mask, Rows, StageParts, StageTerm, Variables
from gdalembert.ocp.ends.ends import End, EndpointConstraints, InputBefore
from gdalembert.ocp.ends.initial import Initial, Scales, plain_states
from gdalembert.ocp.stage import CostTerm, Instant, Interval, Motion, StageSymbols
from gdalembert.ocp.system.constraints import CLOSED, MOTION, LimitedExpression, Relation, Whole, couplings
from gdalembert.ocp.system.parameters import Inputs, matrices_of
from gdalembert.spatial.arrays import Array


class Formulation(NamedTuple):
    """Requirements of a problem, as it is now.

    Attributes:
        motion, inputs: of it. ``start``: where it begins. ``ends``: those that it fixes; ``endpoints``: what contacts
            and loops ask of both.
        before: u before it, which a term fixes if it is among the inputs.
        initial: where a solve begins. ``scales``: other ones than those of its variables there.
        limited: expressions between bounds. ``relations``: rows of any instants.
        integrals, instants, others: terms of the cost: integrals, those of single instants, and all others.
        bounds_at_stages: whether q and v obey their bounds between the instants of the grid, too.
        remembers: whether u before each instant is a state, as rates of u count from there.
        continues: whether the motion begins where another one ends, whose unit vectors it takes over.
    """

    motion: Motion
    inputs: Inputs
    start: End
    before: InputBefore
    ends: Sequence[End]
    endpoints: Sequence[EndpointConstraints]
    initial: Initial
    scales: Scales | None
    limited: Sequence[LimitedExpression]
    relations: Sequence[Relation]
    integrals: Sequence[CostTerm]
    instants: Sequence[CostTerm]
    others: Sequence[ca.MX]
    bounds_at_stages: bool
    remembers: bool
    continues: bool = False

    def evaluated_by(self, graph_of: Callable[[ca.Function], ca.Function]) -> Formulation:
        """The same, with other graphs of expressions."""
        return self._replace(
            limited=[each._replace(graph=graph_of(each.graph)) for each in self.limited],
            integrals=[each._replace(graph=graph_of(each.graph)) for each in self.integrals],
            instants=[each._replace(graph=graph_of(each.graph)) for each in self.instants],
        )


class RowOfStages:
    """The stages of a problem, and what instants of the grid ask beside them."""

    def __init__(self, formulation: Formulation) -> None:
        self._f, self._motion, self._inputs = formulation, formulation.motion, formulation.inputs
        self._scales = formulation.initial.scales() if formulation.scales is None else formulation.scales
        self._limited = [*self._bounds(), *formulation.limited]
        self._states = self._x = self._motion.entries(self._motion.state)
        if formulation.remembers:
            self._x = np.vstack([self._states, self._motion.entries(self._motion.u_before)])

    @property
    def states(self) -> int:
        """The number of entries of x that an interval begins with."""
        return len(self._x)

    def uncompiled(self) -> RowOfStages:
        """The same, of graphs alone: for solvers that compile their program as a whole."""
        f = self._f.evaluated_by(self._motion.graph_of)
        return RowOfStages(f._replace(motion=self._motion.uncompiled()))

    def parts(self, *, stagewise: bool, fixing: bool = False) -> StageParts:
        """Parts of a program; ``stagewise``: every instant has constants of its own, and all that is fixed is an
        equation. ``fixing``: that such a program fixes variables nevertheless.
        """
        fixed, of_ends = self._fixed(as_rows=stagewise and not fixing)
        variables = self._variables(stagewise=stagewise)
        whole = Whole(self._motion.variables, variables.intervals, self._inputs.symbols)
        others = couplings(whole, self._inputs, self._f.others, self._f.relations)
        terms = [self._stage(stagewise=stagewise), *self._grid()]
        return StageParts(variables, terms, of_ends, [*others], fixed)

    # Variables.

    def _variables(self, *, stagewise: bool) -> Variables:
        motion, columns = self._motion, list[tuple[Any, ...]]()
        shapes, names = list[ca.DM](), list[str]()
        for group, (matrix, width) in enumerate(motion.blocks):
            rows, count = matrix.shape
            size, low, high, name = np.ones(rows), np.full(rows, -np.inf), np.full(rows, np.inf), [""] * rows
            shape = ca.DM.eye(rows)
            if matrix is motion.state:
                size, shape = self._scales.state, self._with_modes(rows, self._scales.modes.shapes, *self._modal)
                low, high, name = self._bounds_of_states()
            elif matrix is motion.u_before:
                size = motion.effort
            elif matrix is motion.u:
                size, low, high = motion.effort, motion.bounds.u_lower, motion.bounds.u_upper
                name = ["bounds of u"] * rows
            elif matrix is motion.k:
                size = self._scales.unknowns
                shape = self._with_modes(rows, self._scales.modes.shapes, motion.dyn.tree.nv)
            places = np.full(rows * count, group), np.repeat(np.arange(count) // width, rows)
            columns.append((*places, *(np.tile(x, count) for x in (size, low, high))))
            names += name * count
            shapes += [shape] * count
        groups, intervals, scales, lower, upper = (np.concatenate(x) for x in zip(*columns, strict=True))
        copies = np.arange(len(groups))
        if not stagewise and motion.state.shape[0] > motion.size:
            constants = self._states[motion.size :, :]
            copies[constants] = constants[:, :1]
        if motion.control == "constant":
            before, u = motion.entries(motion.u_before), motion.entries(motion.u)
            if not self._f.remembers:
                copies[before[:, 0]] = u[:, 0]
            if not (self._f.remembers and stagewise):
                copies[before[:, 1:]] = u
        return Variables(groups, intervals, copies, scales, ca.diagcat(*shapes), lower, upper, names)

    @property
    def _modal(self) -> tuple[int, int]:
        """Ends of the states of q and of v, of which the last are those of modes and rotors."""
        return self._motion.system.positions, self._motion.size

    @staticmethod
    def _with_modes(rows: int, block: Array, *stops: int) -> ca.DM:
        """The identity with a block on its diagonal that ends at each of these rows."""
        whole, size = np.eye(rows), len(block)
        for stop in stops:
            whole[stop - size : stop, stop - size : stop] = block
        return ca.sparsify(ca.DM(whole))

    def _bounds_of_states(self) -> tuple[Array, Array, list[str]]:
        motion, parameters = self._motion, self._motion.parameters
        mixed = np.setdiff1d(np.arange(motion.size), plain_states(motion.system, self._scales.modes))
        ends = list[Array]()
        for side, endless in (("lower", -np.inf), ("upper", np.inf)):
            of_q, of_v = (getattr(motion.bounds, f"{key}_{side}") for key in "qv")
            limits = np.concatenate([of_q, of_v])[motion.system.fixed_by]
            limits[mixed] = endless
            duration = [motion.range[side == "upper"]] * motion.free_time
            ends.append(np.concatenate([limits, duration, getattr(parameters, side)]))
        bounded = (np.isfinite(ends[0]) | np.isfinite(ends[1]))[: motion.size]
        keys = ["qv"[i >= motion.system.positions] for i in range(motion.size)]
        names = [f"bounds of {key} at the grid" if found else "" for key, found in zip(keys, bounded, strict=True)]
        names += ["duration"] * motion.free_time + ["bounds of p"] * len(parameters.chosen)
        return ends[0], ends[1], names

    # What is fixed.

    def _fixed(self, *, as_rows: bool) -> tuple[list[FixedEntries], list[StageTerm]]:
        """Conditions of the ends: entries, and as rows what is none of a solver's variables alone."""
        entries, terms, psi = list[FixedEntries](), list[StageTerm](), self._scales.modes.shapes
        size, motion = len(psi), self._motion
        giving_way = {id(endpoint.end): endpoint for endpoint in self._f.endpoints if endpoint.gives_way}
        for end in self._f.ends:
            if endpoint := giving_way.get(id(end)):
                terms += self._combined(endpoint)
                continue
            keys = ""
            for key in "qv":
                states, value = end.fixed_states(key), motion.system.states_of(end.symbols[0])
                stop = motion.system.positions if key == "q" else motion.size
                modal = [i for i in states if stop - size <= i < stop]
                if as_rows or (modal and len(modal) < size):
                    keys += key if states else ""
                    continue
                if not states:
                    continue
                value = value[states]
                if modal:  # all of them, so that natural modes are fixed, too
                    plain = [k for k, i in enumerate(states) if i not in modal]
                    last = [k for k, i in enumerate(states) if i in modal]
                    inverse = ca.DM(np.linalg.inv(psi))
                    states = [states[k] for k in plain] + modal
                    value = ca.vertcat(value[plain], inverse @ value[last])
                label = Label(f"{key} of {end.name}", where=f"at grid point {end.column}")
                places = self._states[states, end.column]
                entries.append(FixedEntries(label, places, self._inputs.of(value), end.is_measured(key)))
            if keys or end.turned:
                terms.append(self._end_term(end, keys))
        begins = self._f.start in self._f.ends and not self._f.continues
        if begins and (turning := self._f.start.turning_at_start(fixed=False)):
            at = self._at(np.array([0]))
            terms.append(at.term([(equations("unit lengths of start", len(turning)), at.lengths(turning))]))
        if self._f.remembers and (before := self._f.before) in self._inputs.ends:
            places = motion.entries(motion.u_before)[:, 0]
            if before.is_given and not as_rows:
                label = Label("u before start")
                entries.append(FixedEntries(label, places, self._inputs.of(before.symbols[0]), measured=True))
            else:
                at = self._at(np.array([0]))
                u = at.symbols.local(before.symbols[0]) if before.is_given else at.u
                kept = at.symbols.variable("u_before", places[:, None])
                terms.append(at.term([(equations("u before start", len(places)), kept - u)]))
        return entries, terms

    def _end_term(self, end: End, keys: str) -> StageTerm:
        """Rows that an end fixes: q, v, and rotations."""
        at = self._at(np.array([end.column]))
        value = at.symbols.local(end.symbols[0])
        groups = [(f"{key} of {end.name}", end.differences(key, at.x, value)) for key in keys]
        if (rotations := end.rotations()) is not None:
            groups.append((f"rotations of {end.name}", rotations(at.values["q"], value)))
        return at.term([(equations(name, rows.numel()), rows) for name, rows in groups])

    def _combined(self, endpoint: EndpointConstraints) -> Iterator[StageTerm]:
        """Rows that an end fixes, in combinations that do not follow from the constraints."""
        end, at, groups = endpoint.end, self._at(np.array([endpoint.end.column])), list[tuple[str, ca.MX]]()
        value = at.symbols.local(end.symbols[0])
        for key, combined, count in zip("qv", endpoint.symbols[2:], endpoint.counts[2:], strict=True):
            rows = end.differences(key, at.x, value)
            if key == "q" and (rotations := end.rotations()) is not None:
                rows = ca.vertcat(rows, rotations(at.values["q"], value))
            if count:
                groups.append((f"{key} of {end.name}", at.symbols.local(combined)[:count, : rows.shape[0]] @ rows))
        if turning := end.turning_at_start(fixed=True):
            groups.append((f"q of {end.name}", at.lengths(turning)))
        if groups:
            yield at.term([(equations(name, rows.numel()), rows) for name, rows in groups])

    # The stage of an interval.

    def _interval(self) -> Interval:
        return Interval.of(self._motion, self._inputs, self._f.integrals, self._x)

    def _stage(self, *, stagewise: bool) -> StageTerm:
        interval = self._interval()
        rows = [*self._rows_of_step(interval, stagewise=stagewise), *self._rows_at_stages(interval)]
        return interval.symbols.term("in interval", rows, interval.cost, (interval.residuals, interval.rest))

    def stage(self) -> ca.Function:
        """(x, u, w, t, parameters …) → (x_next, equations, rows, residuals, cost), as :attr:`Problem.stage`."""
        motion, interval = self._motion, self._interval()
        symbols, width = interval.symbols, 1 + (motion.control == "linear")
        x, rest = symbols.variables[0], symbols.variables[1 + width :]
        rows = [ca.vec(value) for _, value in self._rows_at_stages(interval)]
        outputs = {
            "x_next": interval.x_next,
            "equations": ca.vec(interval.equations),
            "rows": ca.vertcat(ca.MX(0, 1), *rows),
            "residuals": interval.residuals,
            "cost": interval.cost,
        }
        graph = ca.Function("stage", [*symbols.variables, *symbols.parameters], list(outputs.values()))
        t, w = ca.MX.sym("t"), ca.MX.sym("w", sum(part.numel() for part in rest))
        u = ca.MX.sym("u", motion.dyn.nu, width)
        inputs = {"x": x, "u": u, "w": w, "t": t} | symbols.named | ({"p": symbols.p} if symbols.p.numel() else {})
        begin = t / motion.durations_of(x)
        values = graph.call([x, *ca.horzsplit(u), *matrices_of(w, rest), begin, *symbols.parameters[1:]], True, False)
        return ca.Function("stage", list(inputs.values()), values, list(inputs), list(outputs))

    def _rows_of_step(self, interval: Interval, *, stagewise: bool) -> Iterator[tuple[Rows, ca.MX]]:
        """The gap to the next interval, and the equations of motion."""
        motion, scales, n = self._motion, self._scales, self._motion.intervals
        nx, label = len(self._x), Label(MOTION, rank=0)
        sizes = np.concatenate([scales.state, motion.effort])[:nx]
        left_out = np.zeros((nx, n), dtype=bool)
        left_out[motion.size :, :] = not stagewise
        inverse, zero = np.asarray(np.linalg.inv(scales.modes.shapes), dtype=float), np.zeros(nx)
        transform = ca.diag(ca.DM(1 / sizes)) @ self._with_modes(nx, inverse, *self._modal)
        gap = Rows(
            label=label, lower=zero, upper=zero, transform=transform, left_out=left_out, next_state=self._x[:, 1:]
        )
        yield gap, -interval.x_next
        if motion.k is not None:
            m, count = interval.equations.shape
            modal = self._with_modes(m, scales.modes.shapes.T, motion.dyn.tree.nv)
            transform, zero = ca.diag(ca.DM(1 / scales.equations)) @ modal, np.zeros(m * count)
            transform = ca.diagcat(*[transform] * count)
            rows = Rows(label=label, lower=zero, upper=zero, transform=transform, of_step=True)
            yield rows, interval.equations

    def _bounds(self) -> Iterator[LimitedExpression]:
        """Bounds of q and v where these are no variables of the solver: at stages, and of natural modes at the grid."""
        motion, bounds, by = self._motion, self._motion.bounds, self._motion.system.fixed_by
        plain = {by[state] for state in plain_states(motion.system, self._scales.modes)}
        for place, name in (("inner", "at stages"), ("grid", "at the grid")):
            for first, key in ((0, "q"), (motion.dyn.tree.nq, "v")):
                lower, upper = (getattr(bounds, f"{key}_{end}") for end in ("lower", "upper"))
                chosen = np.isfinite(lower) | np.isfinite(upper)
                chosen &= [place == "inner" or first + i not in plain for i in range(len(lower))]
                if chosen.any() and (place == "grid" or self._f.bounds_at_stages):
                    x, entries = ca.MX.sym(key, len(lower)), np.flatnonzero(chosen).tolist()
                    graph = ca.Function("bounded", [x], [x[entries]], [key], ["value"])
                    yield LimitedExpression(f"bounds of {key} {name}", graph, lower[entries], upper[entries], (place,))

    def _rows_at_stages(self, interval: Interval) -> Iterator[tuple[Rows, ca.MX]]:
        motion, every = self._motion, list(range(interval.stages.columns))
        at: dict[str | int, list[int]] = {"stages": every, "everywhere": every, "inner": motion.inner, "intervals": [0]}
        for limited in self._limited:
            if limited.places[0] == "everywhere" and motion.sees_midpoints_alone:
                values = interval.begin(limited.graph)
            elif chosen := at.get(limited.places[0], []):
                values = interval.stages(limited.graph)[:, chosen]
            else:
                continue
            left_out = np.zeros((values.numel(), motion.intervals), dtype=bool)
            left_out[:, 0] = limited.is_of_rates and self._f.remembers and not self._f.before.is_given
            yield self._limited_rows(limited, values.shape[1], left_out), values

    def _limited_rows(self, limited: LimitedExpression, count: int, left_out: Mask) -> Rows:
        """The rows of an expression at so many stages."""
        limits = [
            ca.repmat(self._inputs.of(bound), count, 1) if isinstance(bound, ca.MX) else np.tile(bound, count)
            for bound in (limited.lower, limited.upper)
        ]
        if limited.lower is limited.upper:
            limits[1] = limits[0]
        user = limited.name.startswith(("path", "at"))
        pairs = [] if limited.gaps is None else limited.gaps.pairs
        labels = [Label(f"the gap of {first} and {second}", user=True) for first, second in pairs] * count
        return Rows.unscaled(Label(limited.name, user=user), *limits, left_out=left_out, labels=labels)

    # Instants of the grid.

    def _grid(self) -> Iterator[StageTerm]:
        n, system = self._motion.intervals, self._motion.system
        single = sorted({place for limited in self._limited for place in limited.places if isinstance(place, int)})
        for place, instants in (("grid", np.arange(n + 1)), *((k, np.array([k])) for k in single)):
            if limited := [each for each in self._limited if place in each.places]:
                yield from self._limited_at(instants, limited)
        if system.projections and n > 1:
            yield self._closed(np.arange(1, n))
        for endpoint in self._f.endpoints:
            if sum(endpoint.counts[:2]):
                yield self._closed_at_end(endpoint)
        integrals = [integral for integral in self._f.integrals if integral.has_grid]
        for instants, factor in ((np.arange(1, n), 1.0), (np.array([0]), 0.5), (np.array([n]), 0.5)):
            if integrals and len(instants):  # by the trapezoidal rule
                at = self._at(instants)
                share = factor / n * at.duration
                yield at.costs([(share * i.shares[1] * at.symbols.local(i.weight), i) for i in integrals])
        for cost in self._f.instants:
            at = self._at(np.array([cost.instant]))
            yield at.costs([(at.symbols.local(cost.weight), cost)])

    def _limited_at(self, instants: Indices, expressions: Sequence[LimitedExpression]) -> Iterator[StageTerm]:
        """A term for instants; where deflections follow their loads, the last one takes those before it."""
        n = self._motion.intervals
        for places in [instants[instants < n], instants[instants == n]] if self._motion.system.stiff else [instants]:
            if not len(places):
                continue
            at, rows = self._at(places), list[tuple[Rows, ca.MX]]()
            for limited in expressions:
                left_out = np.zeros((limited.graph.size1_out(0), len(places)), dtype=bool)
                left_out[:, places == 0] = limited.makes_way and self._f.start.measured == "qv"
                rows.append((self._limited_rows(limited, 1, left_out), at(limited.graph)))
            yield at.term(rows)

    def _closed(self, instants: Indices) -> StageTerm:
        """Term of constraints that hold between the ends."""
        system, at = self._motion.system, self._at(instants)
        rows = equations(f"{CLOSED} between the ends", 0, [*system.places.names, *system.rows.names])
        return replace(at.term([(rows, at.constraint_rows())]), of_end=True)

    def _closed_at_end(self, endpoint: EndpointConstraints) -> StageTerm:
        system, at = self._motion.system, self._at(np.array([endpoint.end.column]))
        parts = ca.vertsplit(at.constraint_rows(), [0, len(system.places), len(system.places) + len(system.rows)])
        kinds, rows = (("positions", system.places), ("velocities", system.rows)), list[tuple[Rows, ca.MX]]()
        for k, (kind, held) in enumerate(kinds):
            if count := endpoint.counts[k]:
                combined = at.symbols.local(endpoint.symbols[k])[:count, :] @ parts[k]
                label = f"{CLOSED}: {kind} at the {endpoint.end.name}"
                rows.append((equations(label, count, held.names[:count]), combined))
        return at.term(rows)

    def _at(self, instants: Indices) -> GridPoint:
        return GridPoint(self._motion, self._inputs, self._states, instants)


class GridPoint:
    """Instants of the grid, as one of them for all: its quantities as symbols.

    Attributes:
        x: the states. ``values``: q, v, t, and parameters; ``duration``: of the motion [s].
    """

    def __init__(self, motion: Motion, inputs: Inputs, states: Indices, instants: Indices) -> None:
        self._motion, self._instants = motion, instants
        self.symbols = symbols = StageSymbols(inputs, motion, instants, interval=False)
        whole, n, nq = symbols.variable("x", states[:, instants]), motion.intervals, motion.dyn.tree.nq
        self.x = state = whole[: motion.size]
        if motion.system.stiff and motion.k is not None:
            entries, count = motion.entries(motion.k), len(motion.rule.c)
            entries = entries.reshape(len(entries) * count, n, order="F")[:, np.minimum(instants, n - 1)]
            last = bool(instants[0] == n)
            state = motion.system.at_instant(state, symbols.variable("k", entries, count), motion.rule, last=last)
        self.duration = motion.durations_of(whole)
        self.values = {"q": state[:nq], "v": state[nq:], "t": symbols.fraction * self.duration} | symbols.named
        if len(motion.parameters):
            design = whole[motion.size + motion.free_time :]
            self.values["p"] = ca.MX(motion.parameters.assembled(design, symbols.p))

    @property
    def u(self) -> ca.MX:
        """u of the interval or the instant; at the end, of the last one."""
        if "u" not in self.values:
            u = self._motion.u
            entries = self._motion.entries(u)[:, np.minimum(self._instants, u.shape[1] - 1)]
            self.values["u"] = self.symbols.variable("u", entries)
        return self.values["u"]

    def __call__(self, graph: ca.Function) -> ca.MX:
        """An expression."""
        if "u" in graph.name_in():
            _ = self.u
        return Instant(self.values, 1)(graph)

    def lengths(self, blocks: Sequence[tuple[int, int]]) -> ca.MX:
        """Excess over 1 of the squared lengths of vectors, of which these are the first and last entries."""
        return ca.vertcat(*(ca.sumsqr(self.x[first:stop]) - 1 for first, stop in blocks))

    def constraint_rows(self) -> ca.MX:
        """Independent rows of c(q) and J v."""
        p = [self.values["p"]] if "p" in self.values else []
        return self._motion.system.constraint_rows(ca.vertcat(self.values["q"], self.values["v"]), *p)

    def term(self, rows: Sequence[tuple[Rows, ca.MX]]) -> StageTerm:
        """The term of a program that rows are."""
        return self.symbols.term("at grid point", rows)

    def costs(self, terms: Sequence[tuple[ca.MX, CostTerm]]) -> StageTerm:
        """The term of a program that weighted costs are."""
        rest, residuals = ca.MX(0), [ca.MX(0, 1)]
        for weight, term in terms:
            if term.residuals is None:
                rest += weight * self(term.graph)
            else:
                residuals.append(ca.sqrt(weight) * self(term.residuals))
        cost = sum((weight * self(term.graph) for weight, term in terms), ca.MX(0))
        return self.symbols.term("at grid point", [], cost, (ca.vertcat(*residuals), rest))


def equations(name: str, count: int, names: Sequence[str] = ()) -> Rows:
    """Rows that are zero; ``names``: of constraints that each is of."""
    zero = np.zeros(len(names) or count)
    return Rows.unscaled(Label(name), zero, zero, labels=[Label(own, rank=2) for own in names])
