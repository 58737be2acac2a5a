"""A stage about a plan: what Gauss–Newton steps take of a problem, as a quadratic program with a and f eliminated.

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
from gdalembert.nlp.least_squares import defined, residuals_of
from gdalembert.ocp.constraints import parts_of_residuals, parts_of_state
from gdalembert.ocp.real_time_problem import Layout, RealTimeProblem, place_of
from gdalembert.ocp.stage import Instant, Integral, Step, implicit_step, instants_of_interval
from gdalembert.ocp.steps import collocation_method, free_rates
from gdalembert.ocp.tangent_space import TangentSystem
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function, symbols

NEXT = "_next"
"""What the name of an array ends with that begins with its next row: the parameter at the end of an interval."""
OF_GRID, OF_STAGES, OF_INSTANTS = 0, 1, 2
"""Where the weights of costs are among those of a stage."""
_BY_ROWS = {"helper_options": {"ad_weight": 1.0}}
MIDPOINTS = collocation_method(1, "legendre")


class _Squares(NamedTuple):
    """Squares ω ρ² of the cost, and the number among ``weights`` of that which is 0 where they do not count."""

    weights: ca.MX
    residuals: ca.MX
    factor: int


class LimitedRow(NamedTuple):
    """An expression that is limited, and where: on the whole grid, in intervals, or at the number of an instant."""

    name: str
    value: ca.MX
    lower: ca.MX
    upper: ca.MX
    place: str | int


class LinearStage:
    """The Functions of a problem, of arrays by the names of :class:`~gdalembert.nlp.gauss_newton.GaussNewton`.

    Beside them there are ``weights`` of costs: of instants of the grid, of stages, and of single instants; ``off``,
    infinite where rows do not hold; the time ``t``; ``x_end``, [q; v] as the end fixes them; and :attr:`inputs`.

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
        sizes = {"x": self.state, "u": self.nu, "w": self.eliminated, "t": 1, "weights": layout.weights}
        sizes |= {"off": len(layout.places), "x_end": nq + nv, "combined": layout.combined}
        known = {name: len(problem.robot) for name in problem.names if name == "p"}
        known |= {name: x.shape[0] for name, x in problem.parameters.symbols.items()}
        self.inputs = {name: inputs[name] for name in problem.names}
        sizes |= {own: known[name] for name, own in self.inputs.items()}
        varying = [name for name, x in problem.parameters.symbols.items() if x.shape[1] > 1]
        sizes |= {inputs[name] + NEXT: known[name] for name in varying}
        self._s = s = {name: ca.MX.sym(name, size) for name, size in sizes.items()}
        self._delta, self._zero = ca.MX.sym("delta", self.nx), ca.MX.sym("zero")
        self._known = {
            name: ca.horzcat(s[own], s[own + NEXT]) if name in varying else s[own] for name, own in self.inputs.items()
        }
        self._rows_of_w = [*range(nv), *(nv + i for i in layout.own)]
        self._begin, self._step, self._middle = self._instants()
        self._squares, self._rows = list(self._squares_of_cost()), list(self._limited_rows())

    def _instants(self) -> tuple[Instant, Step, Instant | None]:
        """Where the interval begins, what it leads to, and its middle, if it has one."""
        s, nq, nv, layout = self._s, self.tree.nq, self.tree.nv, self._layout
        space = TangentSystem(self.system)
        self.con = space.equations.con
        begin = ca.vertcat(s["x"][:nq], self._delta[:nv], self._zero), self._velocity()
        u = ca.DM(layout.fixed) + ca.DM(layout.selection).T @ s["u"]
        p = [s[self.inputs["p"]]] if "p" in self.inputs else []

        def mapped(graph: Any, count: int, *given: ca.MX) -> Any:
            return graph(*given, *p)

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
        return ca.MX(self._s["weights"][-1] * (entries @ (u[kept] - before)) / self._h)

    # What the problem says, at the instants of a stage.

    def _squares_of_cost(self) -> Iterator[_Squares]:
        factors = ca.vertsplit(self._s["weights"])
        parameters = [*self._problem.names, "t"]
        for integral in self._problem.formulation.integrals:
            weight = self._of_parameters(integral.weight)
            for residuals, weights, has_grid in self._parts_of(integral, parameters):
                shares = integral._replace(has_grid=has_grid).shares
                places = zip((self._middle, self._begin), (OF_STAGES, OF_GRID), shares, strict=True)
                for instant, factor, share in places:
                    if share and instant is not None:
                        rows = instant(residuals)
                        by = instant(weights) if weights is not None else ca.DM.ones(rows.shape[0])
                        yield _Squares(factors[factor] * (share * weight * by), rows, factor)
        for cost in self._problem.costs_of_instants:
            if not self._has(cost.instant):
                continue
            weight, factor = self._of_parameters(cost.weight), OF_INSTANTS + self._layout.instants.index(cost.instant)
            at_end = cost.instant == self._problem.motion.intervals
            where = "the cost of the end" if at_end else "the cost of an instant"
            if cost.residuals is not None:
                rows, by = self._begin(cost.residuals), ca.DM.ones(cost.residuals.numel_out(0))
            else:
                weights, residuals = residuals_of(cost.graph, parameters, where)
                rows, by = self._begin(residuals), self._begin(weights)
            yield _Squares(factors[factor] * (weight * by), rows, factor)

    def _has(self, place: str | int) -> bool:
        """Whether a cost or a row of this place may hold in the stage."""
        return self._middle is not None or place in ("grid", self._problem.motion.intervals)

    @staticmethod
    def _parts_of(
        integral: Integral, parameters: Sequence[str]
    ) -> Iterator[tuple[ca.Function, ca.Function | None, bool]]:
        """Residuals of an integral and their weights, if they are not 1, with the grid in their quadrature or not."""
        if integral.residuals is not None:
            for residuals, has_grid in parts_of_residuals(integral.residuals):
                yield residuals, None, has_grid
            return
        for graph, has_grid in parts_of_state(integral.graph):
            weights, residuals = residuals_of(graph, parameters, "an integral of the cost")
            yield residuals, weights, has_grid

    def _limited_rows(self) -> Iterator[LimitedRow]:
        """What is limited beside u, v and those entries of q whose rates are entries of v."""
        for path in self._problem.limited:
            place = place_of(path)
            if not self._has(place):
                continue
            middle = self._middle if path.places[-1] in ("stages", "intervals") else None
            instant = self._begin if middle is None else middle
            value = instant(path.graph)
            lower, upper = (self._limit(bound, value.numel()) for bound in (path.lower, path.upper))
            yield LimitedRow(path.name, value, lower, upper, place)
        bounds = self._problem.motion.bounds
        limited = np.isfinite(bounds.q_lower) | np.isfinite(bounds.q_upper)
        if turned := [i for i in free_rates(self.tree)[0] if limited[i]]:
            lower, upper = (ca.MX(ca.DM(bound[turned])) for bound in (bounds.q_lower, bounds.q_upper))
            yield LimitedRow("", self._begin.values["q"][turned], lower, upper, "grid")
        yield from self._rows_of_end()

    def _rows_of_end(self) -> Iterator[LimitedRow]:
        """What the end fixes of other entries; with contacts or loops all of it, in combinations that these leave."""
        end, given = self._problem.end, self._s["x_end"]
        q, v = (self._begin.values[name] for name in "qv")
        if sum(self._problem.of_end):
            turned = end.rotations()
            of_q = end.differences("q", ca.vertcat(q, v), given)
            of_q = of_q if turned is None else ca.vertcat(of_q, turned(q, given))
            sides, first = (of_q, end.differences("v", ca.vertcat(q, v), given)), 0
            for rows, count in zip(sides, self._problem.of_end, strict=True):
                own = self._s["combined"][first : first + count**2]
                value, first = ca.reshape(own, count, count) @ rows, first + count**2
                zero = ca.MX(ca.DM.zeros(count))
                yield LimitedRow("", value, zero, zero, self._problem.motion.intervals)
            return
        turning = {i for _, start, stop in unit_blocks(self.tree) for i in range(start, stop)}
        apart = [i for i in free_rates(self.tree)[0] if end.fixed[0][i] and i not in turning]
        if apart:
            yield LimitedRow("", q[apart], given[apart], given[apart], self._problem.motion.intervals)

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
            "weights": ca.vertcat(ca.MX(0, 1), *(each.weights for each in self._squares)),
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
        found = iter(scalar.call([*self._symbols.values(), ca.SX(self.nx, 1), ca.SX(0)]))
        parts = {name: [ca.sparsify(next(found)) for _ in range(size)] for name, size in sizes.items()}
        parts["residuals"] = defined(self._counts(), parts["residuals"])
        parts["rows"] = defined([x == 0 for x in ca.vertsplit(self._off())], parts["rows"])
        return parts

    def _kept(self, values: Mapping[str, Matrix], change: Matrix) -> Matrix:
        """The entries of u from which the next interval counts its rates; ``change``: the step of those before."""
        kept = self._layout.remembered
        return ca.DM(self._layout.fixed[kept]) + ca.DM(self._layout.selection[:, kept]).T @ values["u"]

    def _counts(self) -> list[ca.SX]:
        """Whether each residual counts at an instant: all of the grid do."""
        weights = self._symbols["weights"]
        return [
            ca.SX(1) if each.factor == OF_GRID else weights[each.factor] != 0
            for each in self._squares
            for _ in range(each.residuals.numel())
        ]

    @cached_property
    def _symbols(self) -> dict[str, ca.SX]:
        """The inputs of Functions, as they are in graphs of scalar operations."""
        return {name: ca.SX.sym(name, x.shape[0]) for name, x in self._s.items()}

    @property
    def rows(self) -> int:
        """The number of expressions that are limited."""
        return sum(row.value.numel() for row in self._rows)

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
            _, of_u, of_state, of_w = parts["rows"]
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
        values, own = -self._symbols["w"], self._rows_of_w
        if own:
            matrix[own, :] = by_w
            right[own, :] = -ca.horzcat(by_u, by_state)
            values[own] = -residual
        return {"L": matrix[self.order, self.order], "K": _filled(right, wide), "k": values}

    def _quadratic_cost(self, wide: int) -> dict[str, ca.SX]:
        """Of squares that z alone changes, and what stands for the curvature of residuals."""
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
        """What stands for the curvature of a residual, which Gauss and Newton leave out: 2 w |s| (|∂s/∂q| + |s| / 10).

        It vanishes with s, and keeps steps short where the goal is out of reach, the shorter the further it is away
        (Levenberg and Marquardt, and with s² Yamashita and Fukushima 2001; the sizes are ours).
        """
        added = ca.SX(row.shape[1], 1)
        motion = ca.vertcat(*(self._symbols[name] for name in "xuw"))
        if self._damping and ca.depends_on(row, motion):
            own = slice(self.nu, self.nu + self.tree.nv)
            moves, size = ca.DM(ca.sparsify(row[:, own]).sparsity().T, 1), ca.fabs(residual)
            added[own] = 2 * self._damping * weight * size * (ca.norm_2(row[:, own].T) + size / 10) * moves
        return ca.diag(added)

    def _off(self) -> ca.SX:
        """Infinite where a row does not hold."""
        off: dict[str | int, ca.SX] = {place: self._symbols["off"][k] for k, place in enumerate(self._layout.places)}
        off["grid"] = ca.SX(0)
        return ca.vertcat(ca.SX(0, 1), *(ca.repmat(off[row.place], row.value.numel(), 1) for row in self._rows))

    def _limits(self, wide: int, limits: int) -> dict[str, ca.SX]:
        """The limits of z and of what is limited beside it, less their values."""
        s, bounds, nq, nv = self._symbols, self._problem.motion.bounds, self.tree.nq, self.tree.nv
        _, follows = free_rates(self.tree)
        entry = {j: i for i, j in zip(*follows.sparsity().get_triplet(), strict=True)}  # of q, of an entry of v
        q = ca.vertcat(*(s["x"][entry[j]] if j in entry else ca.SX(0) for j in range(nv)))
        z, found = ca.vertcat(s["u"], q, s["x"][nq : nq + nv]), {}
        values, off = self._parts["rows"][0], self._off()
        for end, none, sign in (("lower", -np.inf, -1), ("upper", np.inf, 1)):
            of_u, of_q, of_v = (getattr(bounds, f"{name}_{end}") for name in "uqv")
            of_q = np.array([of_q[entry[j]] if j in entry else none for j in range(nv)])
            idle = np.full(self.nu - len(self._layout.driven), none)
            own = _less(ca.SX(ca.DM(np.concatenate([of_u[self._layout.driven], idle, of_q, of_v]))), z)
            for j, left in self._left_at_end(entry).items():
                beyond = left + sign * self._symbols["off"][self._layout.places.index(self._problem.motion.intervals)]
                own[self.nu + j] = ca.fmin(own[self.nu + j], beyond) if sign > 0 else ca.fmax(own[self.nu + j], beyond)
            of_rows = _less(self._parts[end][0], values) + sign * off
            parts = own, _endless(none, wide - own.numel()), of_rows, _endless(none, limits - wide - of_rows.numel())
            found[end] = ca.vertcat(*parts)
        return found

    def _left_at_end(self, entry: Mapping[int, int]) -> dict[int, ca.SX]:
        """What is left to the end of what it fixes, by entries of steps of the state.

        ``entry``: of q, of an entry of v that is its rate.
        """
        nq, nv, (of_q, of_v) = self.tree.nq, self.tree.nv, self._problem.end.fixed
        x, end = self._symbols["x"], self._symbols["x_end"]
        if sum(self._problem.of_end):
            return {}
        left = {j: end[i] - x[i] for j, i in entry.items() if of_q[i]}
        left |= {nv + j: end[nq + j] - x[nq + j] for j in np.flatnonzero(of_v).tolist()}
        if turned := self._problem.end.turned:
            to, _ = unit_and_scale(end[:nq], unit_blocks(self.tree))
            way = difference(self.tree, x[:nq], to)
            left |= {j: way[j] for j in turned}
        return left

    # Other Functions of a plan.

    def excess(self) -> ca.Function:
        """By how much each path is beyond its limits at an instant of the grid; −∞ where it does not hold."""
        values, off, first = self._parts["rows"][0], self._off(), 0
        lower, upper = (_less(self._parts[end][0], values) for end in ("lower", "upper"))
        over = []
        for row in self._rows:
            if row.name:
                own = slice(first, first + row.value.numel())
                over.append(ca.mmax(ca.vertcat(lower[own] - off[own], -upper[own] - off[own])))
            first += row.value.numel()
        return function("excess", self._symbols, {"excess": ca.vertcat(ca.SX(0, 1), *over)})

    def jump(self) -> ca.Function:
        """What the impact of its contacts makes of the state behind an interval, and its derivatives."""
        s = {name: self._symbols[name] for name in ("x", "w")} | symbols(x_next=self.state)
        nq, nv, kept = self.tree.nq, self.tree.nv, len(self._layout.remembered)
        known = {own: self._symbols[own] for name, own in self.inputs.items() if name == "p"}
        q, v = s["x_next"][:nq], s["x"][nq : nq + nv] + self._h * s["w"][:nv]
        after, impulse = self.con.impact(q, v, *known.values())
        impulses = ca.SX(self._layout.forces, 1)
        impulses[self._layout.own] = impulse
        by_q, by_v, _, _ = self.con.impact_derivatives(q, v, *known.values())
        slope = ca.blockcat([[ca.DM.eye(nv), ca.DM(nv, nv)], [by_q, by_v]])
        outputs = {"y": ca.vertcat(q, v, s["x_next"][nq + nv :]), "J": ca.diagcat(slope, ca.SX.eye(kept))}
        left = after - s["x_next"][nq : nq + nv]
        outputs |= {"j": ca.vertcat(ca.DM(nv, 1), left, ca.DM(kept, 1)), "impulse": impulses}
        return function("jump", s | known, outputs)

    def middle(self) -> ca.Function:
        """q in the middle of an interval."""
        h, nq, nv = self._h, self.tree.nq, self.tree.nv
        s = symbols(x=nq + nv, w=self.eliminated)
        step = h / 2 * s["x"][nq:] + h**2 / 4 * s["w"][:nv]
        return function("middle", s, {"q": integrate(self.tree, s["x"][:nq], step)})

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
