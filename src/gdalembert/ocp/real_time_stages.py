"""The stages of real-time iterations: the equations of motion and the cost of a problem, as a quadratic program.

States are x = (q, v) at the grid, controls u over the intervals. With the implicit midpoint rule,

    q⁺ = q ⊕ (h v + h²/2 a)        q̄ = q ⊕ (h/2 v + h²/4 a)        r(q̄, v̄, a, f, u) = 0
    v⁺ = v + h a                   v̄ = v + h/2 a                   e(q̄, v̄, a) = 0

a and the forces f of contacts and loops are eliminated where the plan is: steps Δq are in the tangent space, and

    ┌ ∂r/∂a + h/2 ∂r/∂v + h²/4 ∂r/∂q J    −Jcᵀ ┐ ┌Δa┐     ┌r┐   ┌∂r/∂z┐
    └ Jc    + h/2 ∂e/∂v + h²/4 ∂e/∂q J     0   ┘ └Δf┘ = − └e┘ − └∂e/∂z┘ Δz,    z = (u, q, v),

with the right Jacobian J of ⊕. The error e of the constraints' acceleration lets violated velocities decay within some
steps. Each square w s² of the cost becomes w (s + ∂s/∂z Δz)². Integrals are those of ``degree=1``: squares of q and v
by Simpson's rule, those with a, u or forces at midpoints; paths are seen at the grid. (From instant to instant of the
grid, modes beyond half its rate swing to and fro; plans fight that where costs see the grid alone, and do not see it
where they see midpoints alone.) Where feet land, v jumps behind the interval: v⁺ = impact(q⁺, v + h a). (Ours, after
Diehl, Bock, Schlöder 2005.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from gdalembert.dynamics.constrained.constrained_dynamics import ConstrainedDynamics
from gdalembert.errors import UnsupportedError
from gdalembert.model.configuration import difference, integrate, integrate_derivatives, unit_and_scale, unit_blocks
from gdalembert.ocp.ends import End
from gdalembert.ocp.initial import Initial
from gdalembert.ocp.parameters import ProblemParameters, RobotParameters
from gdalembert.ocp.real_time_paths import PathOfParameters, is_of_interval
from gdalembert.ocp.solution import FollowedPath
from gdalembert.ocp.squares import Square, squares
from gdalembert.ocp.stage import Motion
from gdalembert.ocp.steps import free_rates
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function, symbols

WEIGHTS = 4
"""Of instants of the grid, of midpoints, and of the end; and infinity at the end, which has no interval to limit."""
NEXT = "_next"
"""What the name of an array ends with that begins with its next row: the parameter at the end of an interval."""


class RealTimeProblem(NamedTuple):
    """What the steps of a problem are made of.

    Attributes:
        motion, parameters, robot, start, end, initial: of the problem.
        paths: of the whole motion, by name.
        terms: of the cost: a weight, and an integral by its Function, or another expression of the motion.
        has_other_constraints: whether there are rows of single or several instants, of ``at`` and ``subject_to``.
        has_other_paths: whether a path holds at one end.
    """

    motion: Motion
    parameters: ProblemParameters
    robot: RobotParameters
    start: End
    end: End
    initial: Initial
    paths: Mapping[str, FollowedPath]
    terms: list[tuple[ca.MX, ca.Function | None, ca.MX]]
    has_other_constraints: bool
    has_other_paths: bool

    @property
    def con(self) -> ConstrainedDynamics:
        """The robot with its contacts and loops, which may be none."""
        return self.motion.system.con

    @property
    def followed(self) -> dict[str, PathOfParameters]:
        """The paths of q and v alone."""
        return {
            name: PathOfParameters.of(path, self.parameters.symbols)
            for name, path in self.paths.items()
            if not is_of_interval(path.graph)
        }

    @property
    def interval(self) -> float:
        """The length of an interval [s]."""
        return self.motion.range[0] / self.motion.intervals

    @property
    def of_grid(self) -> list[str]:
        """The parameters of every instant."""
        return [name for name, x in self.parameters.symbols.items() if x.shape[1] > 1]

    @property
    def names(self) -> list[str]:
        """Of what is given to each stage: the parameters of the problem, and p of the robot."""
        return [*self.parameters.symbols, *["p"][: len(self.motion.dyn.parameters)]]

    def of_parameters(self, expression: ca.MX) -> ca.Function:
        """An expression of parameters, with those that it has as inputs."""
        named = {name: x for name, x in self.parameters.symbols.items() if ca.depends_on(expression, x)}
        return ca.Function("value", list(named.values()), [expression], list(named), ["value"])


class Layout(NamedTuple):
    """Where numbers of a problem are among those of several, with other contacts.

    Attributes:
        driven: the entries of u that are not fixed by their bounds. ``selection``: them, as rows of an identity matrix.
        fixed: u where they are zero.
        forces: the number of forces of all constraints. ``own``: those of the problem among them.
    """

    driven: list[int]
    selection: Array
    fixed: Array
    forces: int
    own: list[int]


class _Row(NamedTuple):
    """An expression that is limited: its value, its limits, and whether it has u, a or forces."""

    value: ca.SX
    lower: ca.SX
    upper: ca.SX
    is_of_interval: bool


class Stages:
    """The Functions of a problem, of arrays by the names of :class:`~gdalembert.nlp.gauss_newton.GaussNewton`.

    Beside them there are ``weights`` (:data:`WEIGHTS`), the time ``t``, and what is given by :attr:`inputs`.

    Args:
        problem: of which they are. ``layout``: where its inputs and forces are among all.
        inputs: the names of the arrays of parameters, by those of the parameters.
        damping: of steps, by the curvature of residuals.
    """

    def __init__(self, problem: RealTimeProblem, layout: Layout, inputs: Mapping[str, str], damping: float) -> None:
        self._damping = damping
        self._problem, self._layout, self._h = problem, layout, problem.interval
        self._con = _stabilised(problem.con, 1 / self._h)
        self.tree = problem.con.tree
        self.nx, self.state, self.nu = 2 * self.tree.nv, self.tree.nq + self.tree.nv, len(layout.driven)
        self.eliminated = self.tree.nv + layout.forces
        sizes = {"x": self.state, "u": self.nu, "w": self.eliminated, "y": self.state, "weights": WEIGHTS, "t": 1}
        self._s = symbols(**sizes)
        nq, nv, s = self.tree.nq, self.tree.nv, self._s
        u = ca.SX(ca.DM(layout.fixed))
        u[layout.driven] = s["u"]
        self.inputs = {name: inputs[name] for name in problem.names}
        self._known = {
            name: ca.SX.sym(own, len(problem.robot) if name == "p" else problem.parameters.symbols[name].shape[0])
            for name, own in self.inputs.items()
        }
        self._next = {
            name: ca.SX.sym(self.inputs[name] + NEXT, x.shape[0])
            for name, x in self._known.items()
            if name in problem.of_grid
        }
        self._grid = {"q": s["x"][:nq], "v": s["x"][nq:], "t": s["t"]} | self._known
        self._middle = {"q": ca.SX.sym("q", nq), "v": ca.SX.sym("v", nv), "t": s["t"] + self._h / 2, "u": u}
        self._middle |= {"a": s["w"][:nv], "forces": s["w"][nv:][layout.own]} | self._known
        self._middle |= {name: (self._known[name] + x) / 2 for name, x in self._next.items()}
        self._motion = ca.vertcat(s["x"], s["u"], s["w"], self._middle["q"], self._middle["v"])
        self._p = [self._known["p"]] if "p" in self._known else []

    @property
    def rows(self) -> int:
        """The number of expressions that are limited."""
        return sum(row.value.numel() for row in self._rows)

    @property
    def squares(self) -> int:
        """The number of squares of the cost that a and forces change."""
        return sum(self._is_driven(square.residual) for square in self._squares)

    @property
    def order(self) -> list[int]:
        """The order of a and forces in which they are eliminated: from the leaves of the tree to its root."""
        return [*reversed(range(self.tree.nv)), *range(self.tree.nv, self.eliminated)]

    def stage(self, wide: int, limits: int, rows: int, squares: int) -> tuple[ca.Function, dict[str, ca.Sparsity]]:
        """A stage, and the patterns of E, F and D; matrices are as wide as the rows of the program.

        ``rows`` and ``squares`` are the numbers of all problems.
        """
        s, h, nv, nw = self._s, self._h, self.tree.nv, self.eliminated
        q, v, a = self._grid["q"], self._grid["v"], self._middle["a"]
        matrix, right, values = self._equations
        step = h * v + h**2 / 2 * a
        moved, along = integrate_derivatives(self.tree, step)
        one, zero, none = ca.DM.eye(nv), ca.DM(nv, self.nu), ca.DM(nv, nv)
        dynamics = ca.blockcat([[zero, moved, h * along], [zero, none, one]])
        by_a = ca.horzcat(ca.vertcat(h**2 / 2 * along, h * one), ca.DM(2 * nv, nw - nv))
        gap = difference(self.tree, s["y"][: self.tree.nq], integrate(self.tree, q, step))
        outputs = {"L": matrix[self.order, self.order], "K": _filled(right, wide), "k": values}
        outputs |= {"A": _filled(dynamics, wide), "b": ca.vertcat(gap, v + h * a - s["y"][-nv:])}
        size = self.nu + 2 * nv
        hessian, gradient, cost = ca.SX(size, size), ca.SX(size, 1), ca.SX(0)
        for weight, residual in self._squares:
            row, _ = self._slopes(residual)
            hessian += self._curvature(weight, residual, row)
            if not self._is_driven(residual):
                hessian += 2 * weight * (row.T @ row)
                gradient += 2 * weight * row.T * residual
                cost += weight * residual**2
        outputs |= {"H": _filled(hessian, wide), "g": _filled(gradient.T, wide).T, "cost": cost}
        sparse = {"E": ca.sparsify(by_a), "F": ca.SX(rows, nw), "D": ca.SX(squares, nw)}
        if rows:
            limited, sparse["F"] = self._limited(wide, rows)
            outputs["G"] = limited
        outputs |= self._limits(wide, limits)
        if squares:
            driven = [square for square in self._squares if self._is_driven(square.residual)]
            weights, values = (ca.vertcat(ca.SX(0, 1), *each) for each in zip(*driven, strict=True))
            slopes, by_w = self._slopes(values)
            fill = squares - values.numel()
            outputs["S"] = ca.vertcat(_filled(slopes, wide), ca.SX(fill, wide))
            outputs |= {"s": ca.vertcat(values, ca.SX(fill, 1)), "w_s": ca.vertcat(weights, ca.SX(fill, 1))}
            sparse["D"] = ca.sparsify(ca.vertcat(by_w, ca.SX(fill, nw)))
        for name, part in sparse.items():
            if part.nnz():
                outputs[name] = part.nz[:]
        patterns = {name: part.sparsity() for name, part in sparse.items()}
        middle = integrate(self.tree, q, h / 2 * v + h**2 / 4 * a), v + h / 2 * a
        places = [self._middle["q"], self._middle["v"]]
        outputs = dict(zip(outputs, ca.substitute(list(outputs.values()), places, list(middle)), strict=True))
        following = {self.inputs[name] + NEXT: x for name, x in self._next.items()}
        return function("stage", s | self._inputs | following, outputs), patterns

    def _curvature(self, weight: ca.SX, residual: ca.SX, row: ca.SX) -> ca.SX:
        """What stands for the curvature of a residual, which Gauss and Newton leave out: 2 w |s| (|∂s/∂q| + |s| / 10).

        It vanishes with s, and keeps steps short where the goal is out of reach, the shorter the further it is away
        (Levenberg and Marquardt, and with s² Yamashita and Fukushima 2001; the sizes are ours).
        """
        added = ca.SX(row.shape[1], 1)
        if self._damping and ca.depends_on(row, self._motion):
            own = slice(self.nu, self.nu + self.tree.nv)
            moves, size = ca.DM(ca.sparsify(row[:, own]).sparsity().T, 1), ca.fabs(residual)
            added[own] = 2 * self._damping * weight * size * (ca.norm_2(row[:, own].T) + size / 10) * moves
        return ca.diag(added)

    def excess(self) -> ca.Function:
        """By how much each path is beyond its limits at an instant of the grid."""
        over = [
            ca.mmax(ca.vertcat(_less(row.lower, row.value), -_less(row.upper, row.value)))
            for row in self._rows[: len(self._problem.paths)]
        ]
        s = {name: self._s[name] for name in "xuwt"}
        return function("excess", s | self._inputs, {"excess": ca.vertcat(ca.SX(0, 1), *over)})

    def jump(self) -> ca.Function:
        """What the impact of its contacts makes of the state behind an interval, and its derivatives."""
        s = {name: self._s[name] for name in ("x", "w")} | symbols(x_next=self.state)
        nq, nv = self.tree.nq, self.tree.nv
        q, v = s["x_next"][:nq], s["x"][nq:] + self._h * s["w"][:nv]
        after, impulse = self._con.impact(q, v, *self._p)
        impulses = ca.SX(self._layout.forces, 1)
        impulses[self._layout.own] = impulse
        by_q, by_v, _, _ = self._con.impact_derivatives(q, v, *self._p)
        slope = ca.blockcat([[ca.DM.eye(nv), ca.DM(nv, nv)], [by_q, by_v]])
        outputs = {"y": ca.vertcat(q, v), "J": slope, "j": ca.vertcat(ca.DM(nv, 1), after - s["x_next"][nq:])}
        outputs["impulse"] = impulses
        given = {name: x for name, x in self._inputs.items() if name == self.inputs.get("p")}
        return function("jump", s | given, outputs)

    def middle(self) -> ca.Function:
        """q in the middle of an interval."""
        s, h, nq, nv = {name: self._s[name] for name in "xw"}, self._h, self.tree.nq, self.tree.nv
        step = h / 2 * s["x"][nq:] + h**2 / 4 * s["w"][:nv]
        return function("middle", s, {"q": integrate(self.tree, s["x"][:nq], step)})

    def start(self) -> ca.Function:
        """The step from the plan to the measured state."""
        s = symbols(x=self.state, x_0=self.state)
        nq = self.tree.nq
        measured, _ = unit_and_scale(s["x_0"][:nq], unit_blocks(self.tree))
        way = difference(self.tree, s["x"][:nq], measured)
        return function("start", s, {"delta": ca.vertcat(way, s["x_0"][nq:] - s["x"][nq:])})

    def retract(self, wide: int) -> ca.Function:
        """The next plan of a step; u within its bounds to the last digit."""
        s = {name: self._s[name] for name in "xuw"} | symbols(z=wide, change=self.eliminated)
        nq, nu, nx, bounds = self.tree.nq, self.nu, self.nx, self._problem.motion.bounds
        step = s["z"][nu : nu + nx]
        q = integrate(self.tree, s["x"][:nq], step[: nx // 2])
        lower, upper = (ca.DM(each[self._layout.driven]) for each in (bounds.u_lower, bounds.u_upper))
        u = ca.fmin(ca.fmax(s["u"] + s["z"][:nu], lower), upper)
        unit, _ = unit_and_scale(q, unit_blocks(self.tree))
        x = ca.vertcat(unit, s["x"][nq:] + step[nx // 2 :])
        return function("retract", s, {"next_x": x, "next_u": u, "next_w": s["w"] + s["change"]})

    @property
    def _inputs(self) -> dict[str, ca.SX]:
        return {own: self._known[name] for name, own in self.inputs.items()}

    @cached_property
    def _equations(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """The equations of a and of the forces of all constraints: matrix change = right z + values.

        A force of other problems becomes 0.
        """
        h, nv, nu, con, p = self._h, self.tree.nv, self.nu, self._con, self._p
        middle, rate, u, a, forces = (self._middle[name] for name in ("q", "v", "u", "a", "forces"))
        dyn, (moved, along) = con.dynamics, self._to_middle
        tau = dyn.actuators.tau(middle, u)
        driven = ca.horzcat(ca.jacobian(tau, middle) @ self.tree.tangent_map(middle), ca.jacobian(tau, self._s["u"]))
        if con.nc:
            held = middle, rate, a, forces, *p
            residual, (by_q, by_v) = con.inverse_dynamics(*held), con.inverse_dynamics_derivatives(*held)
        else:
            free = middle, rate, a, *p
            residual, (by_q, by_v) = dyn.inverse_dynamics(*free), dyn.inverse_dynamics_derivatives(*free)
        residual -= tau
        by_q = by_q - driven[:, :nv]
        matrix = ca.SX.eye(self.eliminated)
        right, values = ca.SX(self.eliminated, nu + 2 * nv), -self._s["w"]
        blocks = [(list(range(nv)), dyn.mass_matrix(middle, *p), by_q, by_v, driven[:, nv:], residual)]
        own = [nv + i for i in self._layout.own]
        if con.nc:
            error, by = con.acceleration_error(middle, rate, a, *p), con.acceleration_error_derivatives
            jacobian = ca.sparsify(con.jacobian(middle, *p))
            blocks.append((own, jacobian, *by(middle, rate, a, *p), ca.SX(con.nc, nu), error))
            matrix[own, own] = 0
            matrix[:nv, own] = -jacobian.T
        for rows, by_a, by_q, by_v, by_u, value in blocks:
            by_q, by_v = ca.sparsify(by_q), ca.sparsify(by_v)
            matrix[rows, :nv] = ca.sparsify(by_a) + h / 2 * by_v + h**2 / 4 * (by_q @ along)
            right[rows, :] = -ca.horzcat(-by_u, by_q @ moved, by_v + h / 2 * (by_q @ along))
            values[rows] = -value
        return matrix, right, values

    @property
    def _to_middle(self) -> tuple[ca.SX, ca.SX]:
        """The derivatives of q in the middle by q and by the step to it."""
        return integrate_derivatives(self.tree, self._h / 2 * self._grid["v"] + self._h**2 / 4 * self._middle["a"])

    def _slopes(self, value: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The slopes of an expression of the motion along z, and along a and forces."""
        nv, s, h, (moved, along) = self.tree.nv, self._s, self._h, self._to_middle
        by = {}
        for name, point in (("grid", self._grid), ("middle", self._middle)):
            along_q = ca.jacobian(value, point["q"]) @ self.tree.tangent_map(point["q"])
            by[name] = along_q, ca.jacobian(value, point["v"])
        (by_q, by_v), (by_middle, by_rate) = by["grid"], by["middle"]
        along_q, along_v = by_q + by_middle @ moved, by_v + by_rate + h / 2 * (by_middle @ along)
        along_w = ca.jacobian(value, s["w"])
        along_w[:, :nv] += h / 2 * by_rate + h**2 / 4 * (by_middle @ along)
        return ca.sparsify(ca.horzcat(ca.jacobian(value, s["u"]), along_q, along_v)), ca.sparsify(along_w)

    def _value(self, graph: ca.Function, at: Mapping[str, ca.SX]) -> ca.SX:
        """An expression of the motion at the grid, or in the middle."""
        try:
            return graph.expand().call([at[name] for name in graph.name_in()])[0]
        except RuntimeError as error:
            raise UnsupportedError(f"rti: an expression is not of scalar operations; take 'ipopt' ({error})") from None

    def _of_parameters(self, expression: ca.MX) -> ca.SX:
        """A weight or a bound, which has parameters alone."""
        graph = self._problem.of_parameters(expression).expand()
        return graph.call([self._at(name, graph.size2_in(name)) for name in graph.name_in()])[0]

    def _at(self, name: str, columns: int) -> ca.SX:
        """A parameter; of one of every instant, the last column is this stage's, for what ends the motion."""
        own = self._known[name]
        return own if columns == 1 else ca.horzcat(ca.SX.sym("other", own.shape[0], columns - 1), own)

    @cached_property
    def _squares(self) -> list[Square]:
        """The squares of the cost, with the weights of instants of the grid and of midpoints."""
        return list(self._found_squares())

    def _is_driven(self, residual: ca.SX) -> bool:
        """Whether a and forces change it."""
        return bool(ca.depends_on(residual, ca.vertcat(self._s["w"], self._middle["q"], self._middle["v"])))

    def _found_squares(self) -> Iterator[Square]:
        rest, (of_grid, of_middle, of_end, _) = ca.MX(0), ca.vertsplit(self._s["weights"])
        of_interval = ca.vertcat(self._s["u"], self._s["w"])
        for weight, graph, term in self._problem.terms:
            if graph is None:
                rest += weight * term
                continue
            in_middle, at_grid = (
                squares(
                    self._of_parameters(weight) * self._value(graph, point), self._motion, "an integral of the cost"
                )
                for point in (self._middle, self._middle | self._grid)
            )
            for one, other in zip(in_middle, at_grid, strict=True):
                if ca.depends_on(one.residual, of_interval):
                    yield Square(of_middle * one.weight, one.residual)
                else:
                    yield Square(2 / 3 * of_middle * one.weight, one.residual)
                    yield Square(1 / 3 * of_grid * other.weight, other.residual)
        if ca.symvar(rest):
            yield from (Square(of_end * square.weight, square.residual) for square in self._terminal(rest))

    def _terminal(self, rest: ca.MX) -> list[Square]:
        """The squares of the state at the end."""
        state, named = self._problem.motion.state, self._problem.parameters.symbols
        own = [x for x in (state, *named.values()) if ca.depends_on(rest, x)]
        ends = {hash(x): self._at(name, x.shape[1]) for name, x in named.items()}
        others = ca.SX.sym("others", state.shape[0], state.shape[1] - 1)
        ends[hash(state)] = ca.horzcat(others, self._s["x"])
        where, instead = "rti: what is no integral in the cost", "; make an integral of it, or take 'ipopt'"
        try:
            graph = ca.Function("rest", own, [rest]).expand()
        except RuntimeError:
            raise UnsupportedError(f"{where} has more than q and v of the end{instead}") from None
        value = graph.call([ends[hash(x)] for x in own])[0]
        known = ca.vertcat(self._motion, *self._known.values())
        if any(not ca.depends_on(known, x) for x in ca.symvar(value)):
            raise UnsupportedError(f"{where} has more than q and v of the end{instead}")
        return squares(value, self._motion, "the cost of the end")

    @cached_property
    def _rows(self) -> list[_Row]:
        """What is limited beside u, v and those entries of q whose rates are entries of v."""
        rows, bounds = [], self._problem.motion.bounds
        for path in self._problem.paths.values():
            inside = is_of_interval(path.graph)
            value = self._value(
                path.graph, self._middle | self._grid
            )  # friction at midpoints makes steps go to and fro
            lower, upper = (self._limit(bound, value.numel()) for bound in (path.lower, path.upper))
            rows.append(_Row(value, lower, upper, inside))
        limited = np.isfinite(bounds.q_lower) | np.isfinite(bounds.q_upper)
        if turned := [i for i in free_rates(self.tree)[0] if limited[i]]:
            lower, upper = (ca.SX(ca.DM(each[turned])) for each in (bounds.q_lower, bounds.q_upper))
            rows.append(_Row(self._grid["q"][turned], lower, upper, False))
        return rows

    def _limit(self, bound: Array | ca.MX, count: int) -> ca.SX:
        limit = self._of_parameters(bound) if isinstance(bound, ca.MX) else ca.SX(ca.DM(bound))
        return ca.repmat(limit, count, 1) if limit.numel() == 1 else limit

    def _limited(self, wide: int, rows: int) -> tuple[ca.SX, ca.SX]:
        """The slopes of what is limited along z and along a and forces, with rows of zeros for those of others."""
        slopes, by_w = self._slopes(ca.vertcat(ca.SX(0, 1), *(row.value for row in self._rows)))
        fill = rows - slopes.shape[0]
        filled = ca.vertcat(_filled(slopes, wide), ca.SX(fill, wide))
        return filled, ca.sparsify(ca.vertcat(by_w, ca.SX(fill, self.eliminated)))

    def _limits(self, wide: int, limits: int) -> dict[str, ca.SX]:
        """The limits of z and of what is limited beside it, less their values."""
        s, bounds, nv, off = self._s, self._problem.motion.bounds, self.tree.nv, self._s["weights"][WEIGHTS - 1]
        _, follows = free_rates(self.tree)
        entry = {j: i for i, j in zip(*follows.sparsity().get_triplet(), strict=True)}  # of q, of an entry of v
        q = ca.vertcat(*(self._grid["q"][entry[j]] if j in entry else ca.SX(0) for j in range(nv)))
        z, found = ca.vertcat(s["u"], q, self._grid["v"]), {}
        for end, none in (("lower", -np.inf), ("upper", np.inf)):
            of_u, of_q, of_v = (getattr(bounds, f"{name}_{end}") for name in "uqv")
            of_q = np.array([of_q[entry[j]] if j in entry else none for j in range(nv)])
            own = _less(ca.SX(ca.DM(np.concatenate([of_u[self._layout.driven], of_q, of_v]))), z)
            rows = [ca.SX(0, 1)]
            for row in self._rows:
                limit = _less(getattr(row, end), row.value)
                rows.append(limit + (off if none > 0 else -off) if row.is_of_interval else limit)
            of_rows = ca.vertcat(*rows)
            parts = own, _endless(none, wide - own.numel()), of_rows, _endless(none, limits - wide - of_rows.numel())
            found[end] = ca.vertcat(*parts)
        return found


def _stabilised(con: ConstrainedDynamics, rate: float) -> ConstrainedDynamics:
    """The robot with constraints whose velocities, where they are violated, decay at this rate at least [1/s]."""
    return con.damped(rate) if con.nc else con


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
