"""A problem as a program of stages: what each interval, each instant of the grid and both ends ask of its variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.nlp.entries import Indices, Label
from gdalembert.nlp.stage_program import StageProgram
from gdalembert.nlp.stage_terms import FixedEntries, Rows, StageParts, StageTerm, Variables
from gdalembert.ocp.constraints import CLOSED, MOTION, Bound, LimitedExpression
from gdalembert.ocp.couplings import couplings
from gdalembert.ocp.ends import End, EndpointConstraints
from gdalembert.ocp.formulation import (
    Formulation,
    Instant,
    InstantCost,
    Integral,
    StageParameters,
    instants_of_interval,
)
from gdalembert.ocp.initial import plain_states
from gdalembert.ocp.parameters import matrices_of
from gdalembert.ocp.stage import Motion, Step
from gdalembert.spatial.arrays import Array


class _Interval(NamedTuple):
    """The stage of an interval, as expressions.

    Attributes:
        symbols: x, u (at both ends if it is linear), and the unknowns of the step. ``entries``: where they are among
            all variables, a column for each interval. ``numbers``: the parameters.
        step: what it leads to. ``stages``, ``begin``: its quantities at the stages, and where it begins.
        cost: of its stages. ``residuals``: whose squares are said to be parts of it; ``rest``: without these.
    """

    symbols: list[ca.MX]
    entries: list[Indices]
    numbers: StageParameters
    step: Step
    stages: Instant
    begin: Instant
    cost: ca.MX
    residuals: ca.MX
    rest: ca.MX


class Transcription:
    """The stages of a problem."""

    def __init__(self, formulation: Formulation) -> None:
        self._f, self._motion, self._inputs = formulation, formulation.motion, formulation.inputs
        self._scales = formulation.initial.scales() if formulation.scales is None else formulation.scales
        self._states = self._motion.entries(self._motion.state)

    def program(self, *, stagewise: bool, fixing: bool = False) -> StageProgram:
        """The program; ``stagewise``: every instant has constants of its own, and all that is fixed is an equation.

        ``fixing``: that such a program fixes variables nevertheless.
        """
        motion, parts = self._motion, self.parts(stagewise=stagewise, fixing=fixing)
        return StageProgram(
            parts.variables,
            [*parts.terms, *parts.of_ends, *parts.others],
            parts.fixed,
            self._inputs.p,
            intervals=motion.intervals,
            states=motion.state.shape[0],
            overlap=motion.overlap,
            equations_as_rows=stagewise and not fixing,
        )

    def parts(self, *, stagewise: bool, fixing: bool = False) -> StageParts:
        """What the program is made of."""
        fixed, of_ends = self._fixed(as_rows=stagewise and not fixing)
        others = couplings(self._motion, self._inputs, self._f.others, self._f.relations)
        terms = [self._stage(stagewise=stagewise), *self._grid()]
        return StageParts(self._variables(stagewise=stagewise), terms, of_ends, [*others], fixed)

    # Variables.

    def _variables(self, *, stagewise: bool) -> Variables:
        motion, modes = self._motion, self._scales.modes
        groups, intervals, scales, lower, upper, names = ([] for _ in range(6))
        shapes: list[ca.DM] = []
        psi, size = modes.shapes, len(modes.shapes)
        nq, first = motion.system.positions, motion.dyn.tree.nq - size  # as modes and rotors are the last entries
        for group, (matrix, width) in enumerate(motion.blocks):
            rows, columns = matrix.shape
            groups.append(np.full(matrix.numel(), group))
            intervals.append(np.repeat(np.arange(columns) // width, rows))
            block, low, high, name = np.ones(rows), np.full(rows, -np.inf), np.full(rows, np.inf), [""] * rows
            spread = ca.DM.eye(rows)
            if matrix is motion.state:
                block = self._scales.state
                low, high, name = self._bounds_of_states()
                for begin in (first, nq + motion.dyn.tree.nv - size) if size else ():
                    own = slice(begin, begin + size)
                    spread[own, own] = ca.DM(psi)
            elif matrix is motion.u:
                block, low, high = motion.effort, motion.bounds.u_lower, motion.bounds.u_upper
                name = ["bounds of u"] * rows
            elif matrix is motion.k:
                block = self._scales.unknowns
                if size:
                    own = slice(motion.dyn.tree.nv - size, motion.dyn.tree.nv)
                    spread[own, own] = ca.DM(psi)
            scales.append(np.tile(block, columns))
            lower.append(np.tile(low, columns))
            upper.append(np.tile(high, columns))
            names += name * columns
            shapes += [ca.sparsify(spread)] * columns
        copies = np.arange(sum(map(len, groups)))
        if not stagewise and motion.state.shape[0] > motion.size:
            constants = self._states[motion.size :, :]
            copies[constants] = constants[:, :1]
        arrays = [np.concatenate(each) for each in (groups, intervals, scales, lower, upper)]
        return Variables(arrays[0], arrays[1], copies, arrays[2], ca.diagcat(*shapes), arrays[3], arrays[4], names)

    def _bounds_of_states(self) -> tuple[Array, Array, list[str]]:
        motion, bounds, parameters = self._motion, self._motion.bounds, self._motion.parameters
        by, time = motion.system.fixed_by, [motion.range[i : i + 1] for i in range(2)]
        lower = np.concatenate(
            [np.r_[bounds.q_lower, bounds.v_lower][by], *time[:1][: motion.free_time], parameters.lower]
        )
        upper = np.concatenate(
            [np.r_[bounds.q_upper, bounds.v_upper][by], *time[1:][: motion.free_time], parameters.upper]
        )
        plain = plain_states(motion.system, self._scales.modes)
        mixed = np.setdiff1d(np.arange(motion.size), plain)
        lower[mixed], upper[mixed] = -np.inf, np.inf
        nq = motion.system.positions
        names = [
            f"bounds of {'qv'[i >= nq]} at the grid" if np.isfinite([lower[i], upper[i]]).any() else ""
            for i in range(motion.size)
        ]
        return lower, upper, names + ["duration"] * motion.free_time + ["bounds of p"] * len(parameters.chosen)

    # What is fixed.

    def _fixed(self, *, as_rows: bool) -> tuple[list[FixedEntries], list[StageTerm]]:
        """What ends fix: entries, and as rows what is none of a solver's variables alone."""
        entries, terms, psi = [], [], self._scales.modes.shapes
        size, motion = len(psi), self._motion
        drifting = {id(endpoint.end): endpoint for endpoint in self._f.endpoints if endpoint.drifts}
        for end in () if motion.system.moves_ends else self._f.ends:
            if endpoint := drifting.get(id(end)):
                if sum(endpoint.counts):
                    terms.append(self._reached_end(endpoint))
                continue
            rows: list[tuple[str, list[int], ca.MX]] = []
            for name, states, value, measured in end.fixed_states():
                stop = motion.system.positions if name.startswith("q") else motion.size
                modal = [i for i in states if stop - size <= i < stop]
                if as_rows or (modal and len(modal) < size):
                    rows.append((name, states, value))
                    continue
                if modal:  # all of them, so that natural modes are fixed, too
                    plain = [k for k, i in enumerate(states) if i not in modal]
                    last = [k for k, i in enumerate(states) if i in modal]
                    inverse = ca.DM(np.linalg.inv(psi))
                    states = [states[k] for k in plain] + modal
                    value = ca.vertcat(value[plain], inverse @ value[last])
                label = Label(name, where=f"at grid point {end.column}")
                where = self._states[states, end.column]
                entries.append(FixedEntries(label, where, self._inputs.of(value), measured))
            if rows or end.rotations() is not None:
                terms.append(self._end_term(end, rows))
        return entries, terms

    def _end_term(self, end: End, fixed: Sequence[tuple[str, list[int], ca.MX]]) -> StageTerm:
        groups: list[tuple[Any, Any]] = []
        for name, states, value in fixed:
            groups.append((Label(name), lambda instant, x, i=states, of=value: x[i] - self._local(of, instant)))
        if (turned := end.rotations()) is not None:
            value = end.symbols[0]
            groups.append(
                (
                    Label(f"rotations of {end.name}"),
                    lambda instant, x: turned(instant.values["q"], self._local(value, instant)),
                )
            )
        return self._instants(np.array([end.column]), groups, extra=[end.symbols[0]])

    def _reached_end(self, endpoint: EndpointConstraints) -> StageTerm:
        """What an end fixes, in combinations that do not follow from the constraints."""
        end, fixed, turned = endpoint.end, [*endpoint.end.fixed_states()], endpoint.end.rotations()
        value, groups = end.symbols[0], []
        for key, combined, count in zip("qv", endpoint.symbols, endpoint.counts, strict=True):

            def values(
                instant: Instant, x: ca.MX, key: str = key, combined: ca.MX = combined, count: int = count
            ) -> ca.MX:
                rows = [x[states] - self._local(of, instant) for name, states, of, _ in fixed if name[0] == key]
                if key == "q" and turned is not None:
                    rows.append(turned(instant.values["q"], self._local(value, instant)))
                left = ca.vertcat(*rows)
                return ca.MX(instant.of_ends[hash(combined)][:count, : left.shape[0]] @ left)

            if count:
                groups.append((Label(f"{key} of {end.name}"), values))
        return self._instants(np.array([end.column]), groups, extra=[value, *endpoint.symbols])

    def _local(self, value: ca.MX, instant: Instant) -> ca.MX:
        """An expression of a symbol that a stage takes beside the others."""
        own = ca.symvar(value)
        graph = ca.Function("local", own, [value])
        return ca.MX(graph.call([instant.of_ends[hash(x)] for x in own], True, False)[0])

    # The stage of an interval.

    def _interval(self) -> _Interval:
        motion, n = self._motion, self._motion.intervals
        s = len(motion.rule.c)
        numbers = StageParameters(self._inputs, motion, np.arange(n), interval=True)
        x, u = ca.MX.sym("x", motion.state.shape[0]), ca.MX.sym("u", motion.u.shape[0])
        symbols, entries, after = [x, u], [self._states[:, :-1], motion.entries(motion.u)[:, :n]], u
        if motion.control == "linear":
            after = ca.MX.sym("u_next", motion.u.shape[0])
            symbols.append(after)
            entries.append(motion.entries(motion.u)[:, 1:])
        k, moved = None, None
        if motion.k is not None:
            k = ca.MX.sym("k", motion.k.shape[0], s)
            symbols.append(k)
            entries.append(motion.entries(motion.k).reshape(motion.k.shape[0] * s, n, order="F"))
        if motion.s is not None:
            moved = ca.MX.sym("s", motion.s.shape[0])
            symbols.append(moved)
            entries.append(motion.entries(motion.s))
        design = x[motion.size + motion.free_time :]
        parts = [design, numbers.others] if len(motion.parameters) else []
        stages, step = motion.step(x, u, after, k, moved, parts)
        duration, whole = motion.durations_of(x), x[: motion.size]
        if k is not None:
            whole = motion.system.at_instant(whole, k, motion.rule, last=False)
        known = numbers.named | ({"p": ca.MX(motion.parameters.assembled(*parts))} if len(motion.parameters) else {})
        nq, times = motion.dyn.tree.nq, (duration * numbers.fraction, duration / n)
        begin, at_stages = instants_of_interval(motion.rule, (whole[:nq], whole[nq:]), stages, times, known)
        cost, rest, residuals = ca.MX(0), ca.MX(0), [ca.MX(0, 1)]
        for integral in self._f.integrals:
            weight = integral.shares[0] * self._weight(integral, numbers) * times[1]
            value = weight * (at_stages(integral.graph) @ ca.DM(motion.rule.b))
            cost += value
            if integral.residuals is None:
                rest += value
            else:
                weights = ca.sqrt(weight * ca.DM(motion.rule.b).T)
                rows = at_stages(integral.residuals)
                residuals.append(ca.vec(ca.repmat(weights, rows.shape[0], 1) * rows))
        return _Interval(symbols, entries, numbers, step, at_stages, begin, cost, ca.vertcat(*residuals), rest)

    def _stage(self, *, stagewise: bool) -> StageTerm:
        interval, n = self._interval(), self._motion.intervals
        rows, expressions = self._rows_of_step(interval.step, interval.symbols[0], stagewise=stagewise)
        more = self._rows_at_stages(interval.stages, interval.begin)
        rows, expressions = rows + [kind for kind, _ in more], expressions + [x for _, x in more]
        numbers = interval.numbers
        return StageTerm(
            function=_function(interval.symbols, numbers.symbols, ca.vertcat(*map(ca.vec, expressions)), interval.cost),
            squares=_function(interval.symbols, numbers.symbols, interval.residuals, interval.rest),
            variables=np.vstack(interval.entries),
            parameters=numbers.parameters,
            intervals=np.arange(n),
            where="in interval",
            rows=rows,
        )

    def stage(self) -> ca.Function:
        """(x, u, w, t, parameters …) → (x_next, equations, rows, residuals, cost), as :attr:`Problem.stage`."""
        motion, interval = self._motion, self._interval()
        x, numbers = interval.symbols[0], interval.numbers
        width = 1 + (motion.control == "linear")
        u, rest = ca.horzcat(*interval.symbols[1 : 1 + width]), interval.symbols[1 + width :]
        rows = [ca.vec(value) for _, value in self._rows_at_stages(interval.stages, interval.begin)]
        outputs = {
            "x_next": ca.vertcat(interval.step.reached, x[motion.size :]),
            "equations": ca.vec(interval.step.residual),
            "rows": ca.vertcat(ca.MX(0, 1), *rows),
            "residuals": interval.residuals,
            "cost": interval.cost,
        }
        graph = ca.Function("stage", [*interval.symbols, *numbers.symbols], list(outputs.values()))
        t, w = ca.MX.sym("t"), ca.MX.sym("w", sum(part.numel() for part in rest))
        given = ca.MX.sym("u", *u.shape)
        inputs = {"x": x, "u": given, "w": w, "t": t} | numbers.named
        inputs |= {"p": numbers.others} if numbers.others.numel() else {}
        values = graph.call(
            [x, *ca.horzsplit(given), *matrices_of(w, rest), t / motion.durations_of(x), *numbers.symbols[1:]],
            True,
            False,
        )
        return ca.Function("stage", list(inputs.values()), values, list(inputs), list(outputs))

    def _weight(self, term: Integral | InstantCost, numbers: StageParameters) -> ca.MX:
        motion = self._motion
        named = {name: x for name, x in self._inputs.named.items() if x.shape[1] == 1}
        symbols = [*named.values(), *[motion.parameters.fixed][: len(motion.parameters.others)]]
        graph = ca.Function("weight", symbols, [term.weight])
        given = [*(numbers.named[name] for name in named), *[numbers.others][: len(motion.parameters.others)]]
        return ca.MX(graph.call(given, True, False)[0])

    def _rows_of_step(self, step: Any, x: ca.MX, *, stagewise: bool) -> tuple[list[Rows], list[ca.MX]]:
        """The gap to the next interval, and the equations of motion."""
        motion, scales, n = self._motion, self._scales, self._motion.intervals
        nx, size = x.shape[0], len(scales.modes.shapes)
        label, zero = Label(MOTION, rank=0), np.zeros(nx)
        spread = ca.DM.eye(nx)
        if size:
            inverse = ca.DM(np.linalg.inv(scales.modes.shapes))
            for stop in (motion.system.positions, motion.size):
                spread[stop - size : stop, stop - size : stop] = inverse
        left_out = np.zeros((nx, n), dtype=bool)
        left_out[motion.size :, :] = not stagewise
        gap = Rows(
            label=label,
            lower=zero,
            upper=zero,
            transform=ca.sparsify(ca.diag(ca.DM(1 / scales.state)) @ spread),
            left_out=left_out,
            next_state=self._states[:, 1:],
        )
        reached = ca.vertcat(step.reached, x[motion.size :])
        rows, expressions = [gap], [-reached]
        if motion.k is not None:
            m, s = step.residual.shape
            spread = ca.DM.eye(m)
            if size:
                own = slice(motion.dyn.tree.nv - size, motion.dyn.tree.nv)
                spread[own, own] = ca.DM(scales.modes.shapes.T)
            transform = ca.sparsify(ca.diag(ca.DM(1 / scales.equations)) @ spread)
            none = np.zeros(m * s)
            rows.append(Rows(label=label, lower=none, upper=none, transform=ca.diagcat(*[transform] * s)))
            expressions.append(step.residual)
        return rows, expressions

    def _rows_at_stages(self, at_stages: Instant, begin: Instant) -> list[tuple[Rows, ca.MX]]:
        motion, inner = self._motion, self._motion.inner
        found: list[tuple[Rows, ca.MX]] = []
        if self._f.bounds_at_stages and inner:
            for key in "qv":
                lower, upper = (getattr(motion.bounds, f"{key}_{end}") for end in ("lower", "upper"))
                own = np.flatnonzero(np.isfinite(lower) | np.isfinite(upper)).tolist()
                if own:
                    values = at_stages.values[key][own, inner]
                    limits = [np.tile(each[own], len(inner)) for each in (lower, upper)]
                    found.append((Rows.unscaled(Label(f"bounds of {key} at stages"), *limits), values))
        for each in self._f.limited:
            every = list(range(at_stages.columns))
            at: dict[str | int, list[int]] = {"stages": every, "everywhere": every, "inner": inner, "intervals": [0]}
            if each.places[0] == "everywhere" and motion.sees_midpoints_alone:
                found.append((self._limited_rows(each, 1), begin(each.graph)))
                continue
            if chosen := at.get(each.places[0], []):
                values = at_stages(each.graph)[:, chosen]
                found.append((self._limited_rows(each, len(chosen)), values))
        return found

    def _limited_rows(self, each: LimitedExpression, count: int, left_out: Any = None) -> Rows:
        """The rows of an expression at so many stages."""
        limits: list[Bound] = []
        for bound in (each.lower, each.upper):
            if isinstance(bound, ca.MX):
                limits.append(ca.repmat(self._inputs.of(bound), count, 1))
            else:
                limits.append(np.tile(bound, count))
        if each.lower is each.upper:
            limits[1] = limits[0]
        user = each.name.startswith(("path", "at"))
        return Rows.unscaled(Label(each.name, user=user), *limits, left_out=left_out)

    # Instants of the grid.

    def _grid(self) -> Iterator[StageTerm]:
        n, system = self._motion.intervals, self._motion.system
        start = self._f.start
        single = sorted({place for each in self._f.limited for place in each.places if isinstance(place, int)})
        places: list[tuple[str | int, Indices]] = [("grid", np.arange(n + 1)), *((k, np.array([k])) for k in single)]
        for where, instants in places:
            groups = []
            for each in self._f.limited:
                if where in each.places:
                    makes_way = each.makes_way and start.measured == "qv"
                    groups.append((each, makes_way))
            if groups:
                yield from self._limited_at(instants, groups)
        yield from self._bounded_modes()
        if system.projections and n > 1:
            yield self._closed(np.arange(1, n))
        for endpoint in self._f.endpoints:
            if sum(endpoint.counts) + sum(endpoint.kept) and not endpoint.drifts:
                yield self._closed_at_end(endpoint)
        if on_grid := [each for each in self._f.integrals if each.has_grid]:
            yield from self._cost_of_grid(on_grid)
        for cost in self._f.instants:
            yield self._instants(np.array([cost.instant]), [], costs=[cost], of_u="u" in cost.graph.name_in())

    def _limited_at(self, instants: Indices, groups: Sequence[tuple[LimitedExpression, bool]]) -> Iterator[StageTerm]:
        def rows_of(places: Indices) -> list[tuple[Any, ...]]:
            found = []
            for each, makes_way in groups:
                count = each.graph.size1_out(0)
                left_out = np.zeros((count, len(places)), dtype=bool)
                left_out[:, places == 0] = makes_way
                rows = self._limited_rows(each, 1, left_out)
                found.append((rows, lambda instant, x, graph=each.graph: instant(graph)))
            return found

        of_u = any("u" in each.graph.name_in() for each, _ in groups)
        yield from self._split_last(instants, rows_of, of_u=of_u)

    def _bounded_modes(self) -> Iterator[StageTerm]:
        """Bounds of entries of q and v that are no variables of the solver."""
        motion, bounds = self._motion, self._motion.bounds
        plain = set(plain_states(motion.system, self._scales.modes))
        by = motion.system.fixed_by
        mixed = [i for i in range(motion.x.shape[0]) if i not in {by[state] for state in plain}]
        lower, upper = np.r_[bounds.q_lower, bounds.v_lower], np.r_[bounds.q_upper, bounds.v_upper]
        nq = motion.dyn.tree.nq
        groups = []
        for key, own in (("q", [i for i in mixed if i < nq]), ("v", [i for i in mixed if i >= nq])):
            own = [i for i in own if np.isfinite([lower[i], upper[i]]).any()]
            if own:
                groups.append((f"bounds of {key} at the grid", own))
        if not groups:
            return

        def rows_of(places: Indices) -> list[tuple[Any, ...]]:
            return [
                (
                    Rows.unscaled(Label(name), lower[own], upper[own]),
                    lambda instant, x, i=own: ca.vertcat(instant.values["q"], instant.values["v"])[i],
                )
                for name, own in groups
            ]

        yield from self._split_last(np.arange(motion.intervals + 1), rows_of)

    def _split_last(
        self, instants: Indices, rows_of: Callable[[Indices], list[tuple[Any, ...]]], *, of_u: bool = False
    ) -> Iterator[StageTerm]:
        """A term for instants; where deflections follow their loads, the last one takes those before it."""
        n = self._motion.intervals
        parts = [instants]
        if self._motion.system.stiff and n in instants:
            parts = [instants[instants < n], np.array([n])]
        for places in parts:
            if len(places):
                yield self._instants(places, rows_of(places), of_u=of_u)

    def _closed(self, instants: Indices) -> StageTerm:
        labels = self._labels_of_constraints()
        count = len(labels)
        rows = Rows.unscaled(Label(f"{CLOSED} between the ends"), np.zeros(count), np.zeros(count), labels=labels)
        term = self._instants(instants, [(rows, lambda instant, x: constraint_rows_at(self._motion, instant))])
        return replace(term, of_end=True)

    def _labels_of_constraints(self) -> list[Label]:
        system = self._motion.system
        return [Label(name, rank=2) for each in (system.places, system.rows) for name in each.names]

    def _closed_at_end(self, endpoint: EndpointConstraints) -> StageTerm:
        system, groups = self._motion.system, []
        sizes = [len(system.places), len(system.rows)]
        first = 0
        parts = zip(
            ("positions", "velocities"),
            endpoint.symbols,
            sizes,
            endpoint.counts,
            (system.places, system.rows),
            strict=False,
        )
        for what, symbol, size, count, of in parts:
            if count:
                labels = [Label(name, rank=2) for name in of.names[:count]]
                rows = Rows.unscaled(
                    Label(f"{CLOSED}: {what} at the {endpoint.end.name}"),
                    np.zeros(count),
                    np.zeros(count),
                    labels=labels,
                )
                begin = first

                def values(
                    instant: Instant, x: ca.MX, symbol: Any = symbol, i: int = begin, m: int = size, r: int = count
                ) -> ca.MX:
                    combined = instant.of_ends[hash(symbol)]
                    return ca.MX((combined @ constraint_rows_at(self._motion, instant)[i : i + m])[:r])

                groups.append((rows, values))
            first += size
        groups += self._fixed_beside(endpoint)
        extra = [*endpoint.symbols, *endpoint.end.symbols[: len(endpoint.fixing)]]
        return self._instants(np.array([endpoint.end.column]), groups, extra=extra)

    def _fixed_beside(self, endpoint: EndpointConstraints) -> Iterator[tuple[Any, ...]]:
        """What an end fixes still where deflections that follow their loads make it move."""
        end = endpoint.end
        for i, (symbol, count) in enumerate(zip(endpoint.fixing, endpoint.kept, strict=True)):

            def values(instant: Instant, x: ca.MX, i: int = i, symbol: ca.MX = symbol, r: int = count) -> ca.MX:
                apart = endpoint.differences(x, instant.of_ends[hash(end.symbols[0])])[i]
                return ca.MX((instant.of_ends[hash(symbol)] @ apart)[:r])

            if count:
                yield Label(f"{'qv'[i]} of {end.name}"), values
        if endpoint.fixing and (turning := end.turning_at_start):
            yield Label(f"q of {end.name}"), lambda instant, x: ca.vertcat(*(ca.sumsqr(x[i:j]) - 1 for i, j in turning))

    def _cost_of_grid(self, integrals: Sequence[Integral]) -> Iterator[StageTerm]:
        """The part of integrals by Simpson's rule that is at the grid, by the trapezoidal rule."""
        n = self._motion.intervals
        for instants, factor in ((np.arange(1, n), 1.0), (np.array([0]), 0.5), (np.array([n]), 0.5)):
            if len(instants):
                yield self._instants(instants, [], costs=integrals, factor=factor / n)

    def _instants(
        self,
        instants: Indices,
        groups: Sequence[tuple[Any, ...]],
        *,
        extra: Sequence[ca.MX] = (),
        costs: Sequence[Integral | InstantCost] = (),
        factor: float = 0.0,
        of_u: bool = False,
    ) -> StageTerm:
        """Rows and costs at instants of the grid; ``factor``: of integrals, over the duration; ``of_u``: of u, too."""
        motion, nq, system = self._motion, self._motion.dyn.tree.nq, self._motion.system
        numbers = StageParameters(self._inputs, motion, instants, interval=False)
        x = ca.MX.sym("x", motion.state.shape[0])
        symbols, entries, whole = [x], [self._states[:, instants]], x[: motion.size]
        if system.stiff:
            assert motion.k is not None
            s, n = len(motion.rule.c), motion.intervals
            k = ca.MX.sym("k", motion.k.shape[0], s)
            last = bool(instants[0] == n)
            at = np.minimum(instants, n - 1)
            symbols.append(k)
            entries.append(motion.entries(motion.k).reshape(motion.k.shape[0] * s, n, order="F")[:, at])
            whole = system.at_instant(whole, k, motion.rule, last=last)
        duration, design = motion.durations_of(x), x[motion.size + motion.free_time :]
        values = {"q": whole[:nq], "v": whole[nq:], "t": numbers.fraction * duration} | numbers.named
        if of_u:
            values["u"] = ca.MX.sym("u", motion.u.shape[0])
            symbols.append(values["u"])
            entries.append(motion.entries(motion.u)[:, np.minimum(instants, motion.u.shape[1] - 1)])
        if len(motion.parameters):
            values["p"] = ca.MX(motion.parameters.assembled(design, numbers.others))
        instant = Instant(values, 1, {hash(symbol): numbers.add(symbol) for symbol in extra})
        rows, expressions, cost = [], [ca.MX(0, 1)], ca.MX(0)
        for head, make in groups:
            value = ca.vec(make(instant, x[: motion.size]))
            expressions.append(value)
            zero = np.zeros(value.shape[0])
            rows.append(head if isinstance(head, Rows) else Rows.unscaled(head, zero, zero))
        rest, residuals = ca.MX(0), [ca.MX(0, 1)]
        for term in costs:
            weight = self._weight(term, numbers)
            weight *= factor * term.shares[1] * duration if isinstance(term, Integral) else 1.0
            cost += weight * instant(term.graph)
            if term.residuals is None:
                rest += weight * instant(term.graph)
            else:
                residuals.append(ca.sqrt(weight) * instant(term.residuals))
        return StageTerm(
            function=_function(symbols, numbers.symbols, ca.vertcat(*expressions), cost),
            squares=_function(symbols, numbers.symbols, ca.vertcat(*residuals), rest),
            variables=np.vstack(entries),
            parameters=numbers.parameters,
            intervals=instants,
            where="at grid point",
            rows=rows,
        )


def _function(variables: Sequence[ca.MX], numbers: Sequence[ca.MX], *outputs: ca.MX) -> ca.Function:
    """(y, p) → columns, of symbols that are the parts of y and p."""
    y, p = (ca.MX.sym(name, sum(x.numel() for x in each)) for name, each in (("y", variables), ("p", numbers)))
    graph = ca.Function("graph", [*variables, *numbers], [*outputs])
    found = graph.call([*matrices_of(y, variables), *matrices_of(p, numbers)], True, False)
    return ca.Function("term", [y, p], [*map(ca.densify, found)])


def constraint_rows(motion: Motion, x: ca.MX) -> ca.MX:
    """Independent rows of c(q) and J v at the instants of the grid (columns)."""
    system, n = motion.system, motion.intervals + 1
    p = motion.columns_of_p(n)
    positions = system.places.residual.map(n)(x, *p) if len(system.places) else ca.MX(0, n)
    return ca.vertcat(positions, system.rows.velocity.map(n)(x, *p))


def constraint_rows_at(motion: Motion, instant: Instant) -> ca.MX:
    """The same at one instant."""
    system, x = motion.system, ca.vertcat(instant.values["q"], instant.values["v"])
    p = [instant.values["p"]] if "p" in instant.values else []
    positions = system.places.residual(x, *p) if len(system.places) else ca.MX(0, 1)
    return ca.MX(ca.vertcat(positions, system.rows.velocity(x, *p)))
