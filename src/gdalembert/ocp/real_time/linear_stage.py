"""A stage about a plan, as Gauss–Newton steps take it: of a quadratic program, with a and f eliminated.

States are x = (q, v) at the grid, controls u over the intervals. The stage is that of ``degree=1``, with steps Δq in
the tangent space: its equations r(x, u, w) = 0, w = (a, f), give Δw, and with z = (u, Δq, Δv)

    ∂r/∂w Δw = −r − ∂r/∂z z        x⁺ + ∂x⁺/∂z z + ∂x⁺/∂w Δw        Σ ω (ρ + ∂ρ/∂z z + ∂ρ/∂w Δw)²

where squares ω ρ² are the cost. Where expressions have rates of u, the u before the interval is in x, too. Where feet
land, v jumps behind the interval: v⁺ = impact(q⁺, v + h a). (Ours, after Diehl, Bock, Schlöder 2005.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.errors import UnsupportedError
from gdalembert.model.configuration import difference, integrate, unit_and_scale, unit_blocks
from gdalembert.nlp.least_squares import defined
from gdalembert.ocp.real_time.problem import GRID, INTERVAL, RATES, Layout, Place, RealTimeProblem, place_of
from gdalembert.ocp.stage import Instant, Step, implicit_step, instants_of_interval
from gdalembert.ocp.system.constraints import CLOSED, Gaps
from gdalembert.ocp.system.steps import collocation_method, free_rates
from gdalembert.ocp.system.tangent_space import TangentSystem
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function, symbols

NEXT = "_next"
"""The end of the name of an array that begins with the next row of another: the parameter at the end of an interval."""
_GAPS = 30.0
"""The unit of gaps [1/m], whose violations cost as much more: with 1 more motions cut corners of obstacles, with 1,000
the interior point does not get ready in three iterations.
"""
_BY_ROWS = {"helper_options": {"ad_weight": 1.0}}
MIDPOINTS = collocation_method(1, "legendre")


class _Squares(NamedTuple):
    """Squares ω ρ² of the cost, whose weights are 0 where they do not count."""

    weights: ca.MX
    residuals: ca.MX
    place: Place


class LimitedRow(NamedTuple):
    """An expression that is limited, and where; its name is empty if no violations are told of it alone.

    ``unit``: by which it is multiplied, and with it what its violations cost.
    """

    name: str
    value: ca.MX
    lower: ca.MX
    upper: ca.MX
    place: Place
    is_of_end: bool = False
    unit: float = 1.0


class LinearStage:
    """The Functions of a problem, of arrays by the names of :class:`~gdalembert.nlp.gauss_newton.GaussNewton`.

    Beside them there are, for each of the places of a layout, ``weights`` of costs and ``off``, infinite where rows do
    not hold; the time ``t``; ``x_end``, [q; v] as the end fixes them; ``combined``, the matrices that combine rows of
    an end; and :attr:`inputs`.

    Args:
        problem: of which they are. ``layout``: where its inputs and forces are among all.
        inputs: the names of the arrays of parameters, by those of the parameters.
        damping: of steps, by the curvature of residuals.
    """

    def __init__(self, problem: RealTimeProblem, layout: Layout, inputs: Mapping[str, str], damping: float) -> None:
        self._damping, self._problem, self._layout, self._h = damping, problem, layout, problem.interval
        self.system = problem.system
        self.tree = self.system.con.tree
        nq, nv, kept = self.tree.nq, self.tree.nv, len(layout.remembered)
        self.nx, self.state, self.nu = 2 * nv + kept, nq + nv + kept, len(layout.selection)
        self.eliminated = nv + layout.forces
        sizes = {"x": self.state, "u": self.nu, "w": self.eliminated, "t": 1, "weights": len(layout.places)}
        sizes |= {"off": len(layout.places), "x_end": nq + nv, "combined": layout.combined}
        known = {name: len(problem.robot) for name in problem.names if name == "p"}
        known |= {name: x.shape[0] for name, x in problem.parameters.symbols.items()}
        self.inputs = {name: inputs[name] for name in problem.names}
        sizes |= {key: known[name] for name, key in self.inputs.items()}
        varying = [name for name, x in problem.parameters.symbols.items() if x.shape[1] > 1]
        sizes |= {inputs[name] + NEXT: known[name] for name in varying}
        self._s = s = {name: ca.MX.sym(name, size) for name, size in sizes.items()}
        self._delta, self._zero = ca.MX.sym("delta", self.nx), ca.MX.sym("zero")
        self._known = {
            name: ca.horzcat(s[key], s[key + NEXT]) if name in varying else s[key] for name, key in self.inputs.items()
        }
        self._rows_of_w = [*range(nv), *(nv + i for i in layout.held)]
        self._begin, self._step, self._middle = self._instants()
        self._squares, self._rows = list(self._squares_of_cost()), list(self._limited_rows())

    def _instants(self) -> tuple[Instant, Step, Instant | None]:
        """The instant where the interval begins, the step that it is, and its middle, if it has one."""
        s, nq, nv, layout = self._s, self.tree.nq, self.tree.nv, self._layout
        space = TangentSystem(self.system)
        self.con = space.equations.con
        begin = ca.vertcat(s["x"][:nq], self._delta[:nv], self._zero), self._velocity()
        u = ca.DM(layout.fixed) + ca.DM(layout.selection).T @ s["u"]
        p = [s[self.inputs["p"]]] if "p" in self.inputs else []

        def mapped(graph: Any, count: int, *values: ca.MX) -> Any:
            return graph(*values, *p)

        w = s["w"][self._rows_of_w]
        at, step = implicit_step(space, MIDPOINTS, [], ca.vertcat(*begin), u, w, None, ca.MX(self._h), mapped)
        at = at._replace(q=space.configuration(at.q))
        state, times = (space.configuration(begin[0]), begin[1]), (s["t"], ca.MX(self._h))
        rates = {"du": self._rates(u)} if layout.remembered else {}
        first, middle = instants_of_interval(MIDPOINTS, state, at, times, self._known | rates)
        return first, step, middle

    def _velocity(self) -> ca.MX:
        """v where the interval begins."""
        nq, nv = self.tree.nq, self.tree.nv
        return ca.MX(self._s["x"][nq : nq + nv] + self._delta[nv : 2 * nv])

    def _rates(self, u: ca.MX) -> ca.MX:
        """du in the interval; 0 of entries that nothing drives, and where no u is known before the motion."""
        nq, nv, kept = self.tree.nq, self.tree.nv, self._layout.remembered
        before = self._s["x"][nq + nv :] + self._delta[2 * nv :]
        entries = ca.DM.eye(u.shape[0])[:, kept]
        return ca.MX(self._s["weights"][self._layout.places.index(RATES)] * (entries @ (u[kept] - before)) / self._h)

    # Terms of the problem, at the instants of a stage.

    def _squares_of_cost(self) -> Iterator[_Squares]:
        """The squares of the cost that may count in the stage."""
        for squares in self._problem.squares:
            if self._has(squares.place):
                instant, factor = self._at(squares.place), self._s["weights"][self._layout.places.index(squares.place)]
                rows, weight = instant(squares.residuals), self._of_parameters(squares.weight)
                by = ca.DM.ones(rows.shape[0]) if squares.weights is None else instant(squares.weights)
                # not √ω ρ, as residuals of an Interval are: that takes 3 % more operations of an arm of seven joints
                yield _Squares(factor * (weight * by), rows, squares.place)

    def _has(self, place: Place) -> bool:
        """True if a cost or a row of this place may hold in the stage."""
        return self._middle is not None or place in (GRID, self._problem.motion.intervals)

    def _at(self, place: str | int) -> Instant:
        """The middle of the interval, or where it begins."""
        of_middle = place in (INTERVAL, "stages", "intervals")
        return self._middle if of_middle and self._middle is not None else self._begin

    def _limited_rows(self) -> Iterator[LimitedRow]:
        """Rows of paths, of both ends, and of bounds of those entries of q whose rates are no entries of v."""
        for path in self._problem.formulation.limited:
            if self._has(place := place_of(path)):
                instant = self._at(path.places[-1])
                value = instant(path.graph) if path.gaps is None else self._gaps(path.gaps, instant)
                lower, upper = (self._limit(bound, value.numel()) for bound in (path.lower, path.upper))
                unit = 1.0 if path.gaps is None else _GAPS
                yield LimitedRow(path.name, unit * value, unit * lower, unit * upper, place, unit=unit)
        bounds = self._problem.motion.bounds
        limited = np.isfinite(bounds.q_lower) | np.isfinite(bounds.q_upper)
        if turned := [i for i in free_rates(self.tree)[0] if limited[i]]:
            lower, upper = (ca.MX(ca.DM(bound[turned])) for bound in (bounds.q_lower, bounds.q_upper))
            yield LimitedRow("", self._begin.values["q"][turned], lower, upper, GRID)
        if self._layout.closes and self._has(0):
            yield from self._rows_of_start()
        yield from self._rows_of_end()

    def _gaps(self, gaps: Gaps, instant: Instant) -> ca.MX:
        """Gaps; less half of what they change by in an interval, where they are kept between instants."""
        return instant(gaps.with_rates(self._h) if gaps.guarded else gaps.graph)

    def _rows_of_start(self) -> Iterator[LimitedRow]:
        """Rows of contacts and loops, in combinations that do not follow from what is fixed of the start."""
        p, sizes = [self._known["p"]] if self.system.con.parameters else [], self._problem.of_start
        rows = self.system.constraint_rows(ca.vertcat(*(self._begin.values[name] for name in "qv")), *p)
        parts = self._combined(ca.vertsplit(rows, [0, sizes[0], sum(sizes)]))
        for kind, part in zip(("positions", "velocities"), parts, strict=True):
            if count := part.numel():
                zero = ca.MX.zeros(count)
                yield LimitedRow(f"{CLOSED}: {kind} at the start", part, zero, zero, 0)

    def _rows_of_end(self) -> Iterator[LimitedRow]:
        """Rows of the end; where contacts or loops hold, in combinations that these leave."""
        end, fixed, turned = self._problem.end, self._s["x_end"], self._problem.end.turned
        q, v = (self._begin.values[name] for name in "qv")
        x, none = ca.vertcat(q, v), ca.MX.zeros(*fixed.shape)
        # limits are those of states and of displacements, not of differences: thus most are bounds of steps, which cost
        # an interior point less than rows
        sides: list[tuple[ca.MX, ...]]
        sides = [(end.differences(key, x, none), -end.differences(key, none, fixed)) for key in "qv"]
        if (rotations := end.rotations()) is not None:
            far = rotations(q, fixed), ca.MX.zeros(len(turned))  # combinations may leave a part of it, with its slopes
            way = self._delta[turned], self._way_to_end(self._s["x"], fixed)
            sides[0] = tuple(map(ca.vertcat, sides[0], far if self._problem.con.nc else way))
        if self._problem.con.nc:
            combined = self._combined([value - limit for value, limit in sides])
            sides = [(value, ca.MX.zeros(value.numel())) for value in combined]
        for key, (value, limit) in zip("qv", sides, strict=True):
            if value.numel():
                name, n = f"{key} of {end.name}", self._problem.motion.intervals
                yield LimitedRow(name, value, limit, limit, n, is_of_end=True)

    def _combined(self, parts: Sequence[ca.MX]) -> list[ca.MX]:
        """Columns of rows of an end, each multiplied by a matrix of combinations."""
        first, products = 0, []
        for part in parts:
            count = part.numel()
            products.append(ca.reshape(self._s["combined"][first : first + count**2], count, count) @ part)
            first += count**2
        return products

    @property
    def _way_to_end(self) -> ca.Function:
        """(x, x_end) → (way): the rotations that the end fixes, from those of x."""
        s = symbols(x=self.state, x_end=self.tree.nq + self.tree.nv)
        to, _ = unit_and_scale(s["x_end"][: self.tree.nq], unit_blocks(self.tree))
        way = difference(self.tree, s["x"][: self.tree.nq], to)
        return function("way", s, {"way": ca.SX(way)[self._problem.end.turned]})

    def _limit(self, bound: Array | ca.MX, count: int) -> ca.MX:
        limit = self._of_parameters(bound) if isinstance(bound, ca.MX) else ca.MX(ca.DM(bound))
        return ca.repmat(limit, count, 1) if limit.numel() == 1 else limit

    def _of_parameters(self, expression: ca.MX) -> ca.MX:
        """A weight or a limit, which has parameters alone."""
        graph = self._problem.of_parameters(expression)
        if wide := [name for name in graph.name_in() if graph.size2_in(name) > 1]:
            raise UnsupportedError(
                f"rti: a limit has the parameter {wide[0]!r} of every instant; subtract it in the expression, as "
                f"lambda q, {wide[0]}: q - {wide[0]}, or take 'ipopt'"
            )
        return ca.MX(graph.call([self._known[name] for name in graph.name_in()], True, False)[0])

    # The stage as a quadratic program has it.

    @cached_property
    def _parts(self) -> dict[str, list[ca.SX]]:
        """Values of a stage, and their derivatives by u, by steps of the state, and by a and forces.

        Raises:
            UnsupportedError: if an expression is not of scalar operations.
        """
        nq, nv, s, step = self.tree.nq, self.tree.nv, self._s, self._step
        moved = ca.vertcat(step.reached[nq : nq + nv], step.reached[-nv:], self._kept(s, self._delta[2 * nv :]))
        columns = {"equations": step.residual, "moved": moved}
        columns["residuals"] = ca.vertcat(ca.MX(0, 1), *(square.residuals for square in self._squares))
        columns["rows"] = ca.vertcat(ca.MX(0, 1), *(row.value for row in self._rows))
        values = {
            "reached": step.reached[:nq],
            "middle": ca.MX(0, 1) if self._middle is None else self._middle.values["q"],
            "weights": ca.vertcat(ca.MX(0, 1), *(squares.weights for squares in self._squares)),
        }
        values |= {
            key: ca.vertcat(ca.MX(0, 1), *(getattr(row, key) for row in self._rows)) for key in ("lower", "upper")
        }
        outputs, sizes = list(values.values()), dict.fromkeys(values, 1)
        for name, column in columns.items():
            slopes = (ca.jacobian(column, x, _BY_ROWS) for x in (s["u"], self._delta, s["w"]))
            outputs += [column, *slopes]
            sizes[name] = 4
        graph = ca.Function("stage", [*s.values(), self._delta, self._zero], outputs)
        try:
            scalar = graph.expand()
        except RuntimeError as error:
            raise UnsupportedError(f"rti: an expression is not of scalar operations; take 'ipopt' ({error})") from None
        values_of = iter(scalar.call([*self._symbols.values(), ca.SX(self.nx, 1), ca.SX(0)]))
        parts = {name: [ca.sparsify(next(values_of)) for _ in range(size)] for name, size in sizes.items()}
        parts["residuals"] = defined(self._counts(), parts["residuals"])
        parts["rows"] = defined([x == 0 for x in ca.vertsplit(self._off())], parts["rows"])
        return parts

    def _kept(self, values: Mapping[str, Matrix], change: Matrix) -> Matrix:
        """The entries of u from which the next interval counts its rates; ``change``: the step of those before."""
        kept = self._layout.remembered
        return ca.DM(self._layout.fixed[kept]) + ca.DM(self._layout.selection[:, kept]).T @ values["u"]

    def _counts(self) -> list[ca.SX]:
        """Mask of the residuals that count at an instant: all of the grid do."""
        weights, places = self._symbols["weights"], self._layout.places
        return [
            ca.SX(1) if squares.place == GRID else weights[places.index(squares.place)] != 0
            for squares in self._squares
            for _ in range(squares.residuals.numel())
        ]

    @cached_property
    def _symbols(self) -> dict[str, ca.SX]:
        """The inputs of Functions, as they are in graphs of scalar operations."""
        return {name: ca.SX.sym(name, x.shape[0]) for name, x in self._s.items()}

    @property
    def rows(self) -> int:
        """The number of expressions that are limited, without bounds of steps."""
        return len(self._plain_rows)

    @cached_property
    def _bounds_at_end(self) -> dict[int, int]:
        """The entry of a step of the state for each row that the end fixes and that it changes alone, by as much."""
        of_end = [row.is_of_end for row in self._rows for _ in range(row.value.numel())]
        slopes, bounds = ca.horzcat(*self._parts["rows"][1:]), dict[int, int]()
        for k in np.flatnonzero(of_end).tolist():
            row = slopes[k, :]
            if row.nnz() == 1 and row.nz[0].is_one():
                bounds[k] = row.sparsity().get_triplet()[1][0] - self.nu
        return bounds

    @cached_property
    def _plain_rows(self) -> list[int]:
        """The rows that are no bounds of steps."""
        return [k for k in range(self._parts["rows"][0].numel()) if k not in self._bounds_at_end]

    @cached_property
    def _driven(self) -> list[int]:
        """The residuals that a and forces change."""
        pattern = self._parts["residuals"][3].sparsity()
        return sorted({int(row) for row in pattern.get_triplet()[0]})

    @property
    def squares(self) -> int:
        """The number of squares of the cost that a and forces change."""
        return len(self._driven)

    @property
    def order(self) -> list[int]:
        """The order of a and forces in which they are eliminated: from the leaves of the tree to its root."""
        return [*reversed(range(self.tree.nv)), *range(self.tree.nv, self.eliminated)]

    def stage(self, wide: int, limits: int, rows: int, squares: int) -> tuple[ca.Function, dict[str, ca.Sparsity]]:
        """A stage, and the patterns of E, F and D; matrices are as wide as the rows of the program.

        ``rows`` and ``squares`` are the numbers of all problems.
        """
        nq, parts = self.tree.nq, self._parts
        y = ca.SX.sym("y", self.state)
        _, by_u, by_state, by_w = parts["moved"]
        gap = difference(self.tree, y[:nq], parts["reached"][0])
        v_next, kept = self._velocity_reached(), self._kept(self._symbols, ca.SX(len(self._layout.remembered), 1))
        outputs = self._eliminated(wide) | {
            "A": _filled(ca.horzcat(by_u, by_state), wide),
            "b": ca.vertcat(gap, ca.vertcat(v_next, kept) - y[nq:]),
        }
        outputs |= self._quadratic_cost(wide)
        sparse = {"E": by_w, "F": ca.SX(rows, self.eliminated), "D": ca.SX(squares, self.eliminated)}
        if rows:
            _, of_u, of_state, of_w = (part[self._plain_rows, :] for part in parts["rows"])
            outputs["G"] = _tall(_filled(ca.horzcat(of_u, of_state), wide), rows)
            sparse["F"] = _tall(of_w, rows)
        outputs |= self._limits(wide, limits)
        if squares:
            values, of_u, of_state, of_w = (part[self._driven, :] for part in parts["residuals"])
            outputs["S"] = _tall(_filled(ca.horzcat(of_u, of_state), wide), squares)
            outputs |= {"s": _tall(values, squares), "w_s": _tall(parts["weights"][0][self._driven], squares)}
            sparse["D"] = _tall(of_w, squares)
        sparse = {name: ca.sparsify(part) for name, part in sparse.items()}
        outputs |= {name: part.nz[:] for name, part in sparse.items() if part.nnz()}
        patterns = {name: part.sparsity() for name, part in sparse.items()}
        return function("stage", self._symbols | {"y": y}, outputs), patterns

    def _velocity_reached(self) -> ca.SX:
        nq, nv = self.tree.nq, self.tree.nv
        return self._symbols["x"][nq : nq + nv] + self._h * self._symbols["w"][:nv]

    def _eliminated(self, wide: int) -> dict[str, ca.SX]:
        """The equations of a and of the forces of all constraints; a force of other problems becomes 0."""
        residual, by_u, by_state, by_w = self._parts["equations"]
        matrix, right = ca.SX.eye(self.eliminated), ca.SX(self.eliminated, self.nu + self.nx)
        values, rows = -self._symbols["w"], self._rows_of_w
        if rows:
            matrix[rows, :] = by_w
            right[rows, :] = -ca.horzcat(by_u, by_state)
            values[rows] = -residual
        return {"L": matrix[self.order, self.order], "K": _filled(right, wide), "k": values}

    def _quadratic_cost(self, wide: int) -> dict[str, ca.SX]:
        """The cost of squares that z alone changes, with a stand-in for the curvature of residuals."""
        (weights,), (values, by_u, by_state, _) = self._parts["weights"], self._parts["residuals"]
        rows, size = ca.horzcat(by_u, by_state), self.nu + self.nx
        hessian, gradient, cost = ca.SX(size, size), ca.SX(size, 1), ca.SX(0)
        driven = set(self._driven)
        for k in range(len(self._layout.driven), self.nu):  # what u has here for other problems stays what it is
            hessian[k, k] = 1.0
        for k in range(values.numel()):
            row = ca.sparsify(rows[k, :])
            hessian += self._curvature(weights[k], values[k], row)
            if k not in driven:
                hessian += 2 * weights[k] * (row.T @ row)
                gradient += 2 * weights[k] * row.T * values[k]
                cost += weights[k] * values[k] ** 2
        return {"H": _filled(hessian, wide), "g": _filled(gradient.T, wide).T, "cost": cost}

    def _curvature(self, weight: ca.SX, residual: ca.SX, row: ca.SX) -> ca.SX:
        """A stand-in for the curvature of a residual, which Gauss and Newton leave out: 2 w |s| (|∂s/∂q| + |s| / 10).

        It vanishes with s, and keeps steps short where the goal is out of reach, the shorter the further it is away
        (Levenberg and Marquardt, and with s² Yamashita and Fukushima 2001; the sizes are ours).
        """
        added = ca.SX(row.shape[1], 1)
        motion = ca.vertcat(*(self._symbols[name] for name in "xuw"))
        if self._damping and ca.depends_on(row, motion):
            of_q = slice(self.nu, self.nu + self.tree.nv)
            moves, size = ca.DM(ca.sparsify(row[:, of_q]).sparsity().T, 1), ca.fabs(residual)
            added[of_q] = 2 * self._damping * weight * size * (ca.norm_2(row[:, of_q].T) + size / 10) * moves
        return ca.diag(added)

    def _off(self) -> ca.SX:
        """Infinite where a row does not hold."""
        off = {place: self._symbols["off"][k] for k, place in enumerate(self._layout.places)}
        off[GRID] = ca.SX(0)
        return ca.vertcat(ca.SX(0, 1), *(ca.repmat(off[row.place], row.value.numel(), 1) for row in self._rows))

    def _limits(self, wide: int, limits: int) -> dict[str, ca.SX]:
        """The limits of z and of what is limited beside it, less their values."""
        s, bounds, nq, nv = self._symbols, self._problem.motion.bounds, self.tree.nq, self.tree.nv
        _, follows = free_rates(self.tree)
        entry = {j: i for i, j in zip(*follows.sparsity().get_triplet(), strict=True)}  # of q, of an entry of v
        q = ca.vertcat(*(s["x"][entry[j]] if j in entry else ca.SX(0) for j in range(nv)))
        z, limits_of_z = ca.vertcat(s["u"], q, s["x"][nq : nq + nv]), {}
        values, off, chosen = self._parts["rows"][0], self._off(), self._plain_rows
        for end, none, sign, nearer in (("lower", -np.inf, -1, ca.fmax), ("upper", np.inf, 1, ca.fmin)):
            of_u, of_q, of_v = (getattr(bounds, f"{name}_{end}") for name in "uqv")
            of_q = np.array([of_q[entry[j]] if j in entry else none for j in range(nv)])
            idle = np.full(self.nu - len(self._layout.driven), none)
            of_z = _less(ca.SX(ca.DM(np.concatenate([of_u[self._layout.driven], idle, of_q, of_v]))), z)
            of_rows = _less(self._parts[end][0], values) + sign * off
            for k, j in self._bounds_at_end.items():
                of_z[self.nu + j] = nearer(of_z[self.nu + j], of_rows[k])
            of_rows = ca.vertcat(ca.SX(0, 1), *(of_rows[k] for k in chosen))  # a scalar[[]] is not empty
            parts = of_z, _endless(none, wide - of_z.numel()), of_rows, _endless(none, limits - wide - of_rows.numel())
            limits_of_z[end] = ca.vertcat(*parts)
        return limits_of_z

    # Other Functions of a plan.

    @property
    def names(self) -> list[str]:
        """The names of rows whose excess is told."""
        return [row.name for row in self._rows if row.name]

    def outcome(self) -> ca.Function:
        """q in the middle of an interval, and by how much each named row is beyond its limits; −∞ where it does not
        hold.
        """
        values, off, first, excess = self._parts["rows"][0], self._off(), 0, [ca.SX(0, 1)]
        lower, upper = (_less(self._parts[end][0], values) for end in ("lower", "upper"))
        for row in self._rows:
            rows = slice(first, first := first + row.value.numel())
            if row.name:
                beyond = ca.mmax(ca.vertcat(lower[rows] - off[rows], -upper[rows] - off[rows]))
                excess.append(beyond / row.unit)
        outputs = {"q": self._parts["middle"][0], "excess": ca.vertcat(*excess)}
        used = {name: x for name, x in self._symbols.items() if ca.depends_on(ca.vertcat(*outputs.values()), x)}
        return function("outcome", used, outputs)

    def jump(self) -> ca.Function:
        """The state behind an interval after the impact of contacts, and its derivatives."""
        s = {name: self._symbols[name] for name in ("x", "w")} | symbols(x_next=self.state)
        nq, nv, kept = self.tree.nq, self.tree.nv, len(self._layout.remembered)
        known = {key: self._symbols[key] for name, key in self.inputs.items() if name == "p"}
        q, v = s["x_next"][:nq], s["x"][nq : nq + nv] + self._h * s["w"][:nv]
        after, impulse = self.con.impact(q, v, *known.values())
        impulses = ca.SX(self._layout.forces, 1)
        impulses[self._layout.held] = impulse
        by_q, by_v, _, _ = self.con.impact_derivatives(q, v, *known.values())
        slope = ca.blockcat([[ca.DM.eye(nv), ca.DM(nv, nv)], [by_q, by_v]])
        outputs = {"y": ca.vertcat(q, v, s["x_next"][nq + nv :]), "J": ca.diagcat(slope, ca.SX.eye(kept))}
        left = after - s["x_next"][nq : nq + nv]
        outputs |= {"j": ca.vertcat(ca.DM(nv, 1), left, ca.DM(kept, 1)), "impulse": impulses}
        return function("jump", s | known, outputs)

    def start(self) -> ca.Function:
        """The step from the plan to the measured state."""
        s = symbols(x=self.state, x_0=self.state)
        nq, before = self.tree.nq, self._problem.formulation.before
        measured, _ = unit_and_scale(s["x_0"][:nq], unit_blocks(self.tree))
        delta = ca.vertcat(difference(self.tree, s["x"][:nq], measured), s["x_0"][nq:] - s["x"][nq:])
        delta[self._problem.free] = 0
        delta[2 * self.tree.nv :] *= before.is_given
        return function("start", s, {"delta": delta})

    def retract(self, wide: int, limits: tuple[Array, Array]) -> ca.Function:
        """The next plan of a step; u within its limits to the last digit."""
        s = {name: self._symbols[name] for name in "xuw"} | symbols(z=wide, change=self.eliminated)
        nq, nu, nv = self.tree.nq, self.nu, self.tree.nv
        step = s["z"][nu : nu + self.nx]
        q = integrate(self.tree, s["x"][:nq], step[:nv])
        lower, upper = map(ca.DM, limits)
        u = ca.fmin(ca.fmax(s["u"] + s["z"][:nu], lower), upper)
        unit, _ = unit_and_scale(q, unit_blocks(self.tree))
        x = ca.vertcat(unit, s["x"][nq:] + step[nv:])
        return function("retract", s, {"next_x": x, "next_u": u, "next_w": s["w"] + s["change"]})


def _endless(limit: float, count: int) -> ca.SX:
    return ca.SX(ca.DM([limit] * count)) if count else ca.SX(0, 1)


def _less(limit: ca.SX, value: ca.SX) -> ca.SX:
    """limit − value, where the limit is infinite the limit itself."""
    entries = []
    for k in range(limit.numel()):
        endless = limit[k].is_constant() and not np.isfinite(float(limit[k]))
        entries.append(limit[k] if endless else limit[k] - value[k])
    return ca.vertcat(ca.SX(0, 1), *entries)


def _filled(matrix: Matrix, wide: int) -> ca.SX:
    """The rows, filled up with zeros."""
    return ca.horzcat(matrix, ca.SX(matrix.shape[0], wide - matrix.shape[1]))


def _tall(matrix: Matrix, rows: int) -> ca.SX:
    """The columns, filled up with zeros."""
    return ca.vertcat(matrix, ca.SX(rows - matrix.shape[0], matrix.shape[1]))
