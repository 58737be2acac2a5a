"""A nonlinear program as a sum of terms: Functions of few variables, each repeated at many places.

An optimal control problem has one term for the stages of all intervals, one for rows of the grid, one for the cost of
the end. Such programs are *group partially separable* (Griewank and Toint 1982): with the variables y_k = E_k z of a
term at its place k,

    f(z) = Σ f_k(y_k)        g(z) = A z + Σ R_k g_k(y_k)

    dg/dz = A + Σ R_k g_k' E_k        ∇²L = Σ E_kᵀ ∇²(λ_f f_k + (R_kᵀ λ)ᵀ g_k) E_k

Each term is differentiated alone and mapped over its places; its numbers are then put where they belong. CasADi's own
derivatives of the whole graph are carried along directions through all intervals: for Solo 12 on four feet they take
minutes to build.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from gdalembert.nlp.entries import NOWHERE, Indices


@dataclass(frozen=True, eq=False)
class Term:
    """Rows and a cost of some variables, at n places of a program.

    Attributes:
        function: (y, p) → (rows, cost).
        variables: m × n, the entries of z that are y at each place.
        parameters: k × n, the entries of p.
        rows: r × n, the rows of g; :data:`~gdalembert.nlp.entries.NOWHERE` for those that are left out.
        squares: (y, p) → (residuals whose squares are said to be parts of the cost, the rest of it).
    """

    function: ca.Function
    variables: Indices
    parameters: Indices
    rows: Indices
    squares: ca.Function | None = None

    def __post_init__(self) -> None:
        assert self.function.numel_in(0) == len(self.variables), (self.function, self.variables.shape)
        assert self.function.numel_in(1) == len(self.parameters), (self.function, self.parameters.shape)
        assert self.function.numel_out(0) == len(self.rows), (self.function, self.rows.shape)

    @property
    def places(self) -> int:
        """The number of places."""
        return int(self.variables.shape[1])

    @cached_property
    def values(self) -> ca.Function:
        """(y, p) → rows, of scalar operations where it can be."""
        y, p, rows, _ = self._expressions()
        return _expanded([y, p], [rows])

    @cached_property
    def cost(self) -> ca.Function:
        """(y, p) → cost, alike."""
        y, p, _, cost = self._expressions()
        return _expanded([y, p], [cost])

    @cached_property
    def slope(self) -> ca.Function:
        """(y, p) → (cost, ∂cost/∂y)."""
        y, p = self._expressions()[:2]
        cost = self.cost.call([y, p], True, False)[0]
        return _expanded([y, p], [cost, ca.gradient(cost, y)])

    @cached_property
    def jacobian(self) -> ca.Function:
        """(y, p) → (rows, ∂rows/∂y)."""
        y, p, rows, _ = self._expressions()
        return _expanded([y, p], [rows, ca.jacobian(rows, y)])

    @cached_property
    def hessian(self) -> ca.Function:
        """(y, p, λ_f, λ) → (∂L/∂y, ∂²L/∂y²)."""
        y, p, rows, cost = self._expressions()
        of_cost, of_rows = ca.MX.sym("lam_f"), ca.MX.sym("lam", rows.numel())
        curvature, slope = ca.hessian(of_cost * cost + ca.dot(of_rows, rows), y)
        return _expanded([y, p, of_cost, of_rows], [slope, curvature])

    def _expressions(self) -> tuple[ca.MX, ca.MX, ca.MX, ca.MX]:
        """y, p, rows and cost."""
        y, p = (ca.MX.sym(name, self.function.numel_in(i)) for i, name in enumerate("yp"))
        rows, cost = self.function.call([y, p], True, False)
        return y, p, ca.MX(rows), ca.MX(cost)

    def moved(self, variables: Indices, first_parameter: int, first_row: int) -> Term:
        """The term in a program of several: entry i of z there is ``variables[i]``, p and g begin at the firsts."""
        rows = np.where(self.rows == NOWHERE, NOWHERE, self.rows + first_row)
        return self.placed(variables[self.variables], self.parameters + first_parameter, rows)

    def placed(self, variables: Indices, parameters: Indices, rows: Indices) -> Term:
        """The same rows and cost, with the same derivatives, at other places."""
        moved = Term(self.function, variables, parameters, rows)
        for name in ("values", "cost", "slope", "jacobian", "hessian"):  # which cost as much as all the rest
            if name in self.__dict__:
                moved.__dict__[name] = self.__dict__[name]
        return moved


def _expanded(inputs: list[ca.MX], outputs: list[ca.MX]) -> ca.Function:
    """A Function of scalar operations; of others where it calls what has none, as a Callback."""
    function = ca.Function("part", inputs, outputs)
    try:
        return function.expand()
    except RuntimeError:
        return function


class Sum:
    """f, g and their derivatives of terms and a linear part A z.

    Args:
        terms: of it. ``size``, ``numbers``, ``rows``: the lengths of z, p and g.
        linear: A (rows × size), sparse.
    """

    def __init__(self, terms: Sequence[Term], size: int, numbers: int, rows: int, linear: ca.DM) -> None:
        self.terms = [term for term in terms if term.places]
        self._moving = [term for term in self.terms if len(term.variables)]  # the others are of parameters alone
        self.size, self.numbers, self.rows, self.linear = size, numbers, rows, linear

    def cost(self, z: ca.MX, p: ca.MX) -> ca.MX:
        """f."""
        return self._total(
            term.cost.map(term.places).call(self._inputs(term, z, p), False, False)[0] for term in self.terms
        )

    def constraints(self, z: ca.MX, p: ca.MX) -> ca.MX:
        """g."""
        values = [term.values.map(term.places).call(self._inputs(term, z, p), False, False)[0] for term in self.terms]
        return self._placed(z, self.terms, values)

    @cached_property
    def gradient(self) -> ca.Function:
        """(x, p) → (f, df/dx)."""
        z, p = ca.MX.sym("z", self.size), ca.MX.sym("p", self.numbers)
        costs, places, slopes = [], [np.zeros(0, dtype=int)], [ca.MX(0, 1)]
        for term in self.terms:
            cost, slope = term.slope.map(term.places).call(self._inputs(term, z, p), False, False)
            costs.append(cost)
            if slope.nnz():
                places.append(term.variables.ravel(order="F"))
                slopes.append(ca.vec(ca.densify(slope)))
        where = np.concatenate(places)
        spread = selection(where, np.arange(len(where)), (self.size, len(where)))
        outputs = [self._total(costs), ca.densify(spread @ ca.vertcat(*slopes))]
        return ca.Function("nlp_grad_f", [z, p], outputs, ["x", "p"], ["f", "grad_f_x"])

    @cached_property
    def pattern(self) -> ca.Sparsity:
        """Which variables each row has."""
        rows, columns = (list(each) for each in self.linear.sparsity().get_triplet())
        for term in self._moving:
            i, j = _triplet(term.values.jac_sparsity(0, 0))
            row, column = term.rows[i].ravel(), term.variables[j].ravel()
            kept = row != NOWHERE
            rows += row[kept].tolist()
            columns += column[kept].tolist()
        return ca.Sparsity.triplet(self.rows, self.size, rows, columns)

    @cached_property
    def jacobian(self) -> ca.Function:
        """(x, p) → (g, dg/dx)."""
        z, p = ca.MX.sym("z", self.size), ca.MX.sym("p", self.numbers)
        parts, values = [], []
        for term in self.terms:
            if not len(term.variables):
                values += term.values.map(term.places).call(self._inputs(term, z, p), False, False)
                continue
            rows, slopes = term.jacobian.map(term.places).call(self._inputs(term, z, p), False, False)
            i, j = _triplet(term.jacobian.sparsity_out(1))
            parts.append((term.rows[i], term.variables[j], slopes))
            values.append(rows)
        matrix = self._assembled(parts, (self.rows, self.size), self.linear)
        constraints = self._placed(z, self.terms, values)
        return ca.Function("nlp_jac_g", [z, p], [constraints, matrix], ["x", "p"], ["g", "jac_g_x"])

    @cached_property
    def hessian(self) -> ca.Function:
        """(x, p, λ_f, λ) → (∇L, ∇²L)."""
        z, p = ca.MX.sym("z", self.size), ca.MX.sym("p", self.numbers)
        of_cost, of_rows = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.rows)
        gradient, parts = self.linear.T @ of_rows, []
        padded = ca.vertcat(of_rows, 0)
        for term in self._moving:
            weights = ca.reshape(padded[term.rows.ravel(order="F").tolist()], *term.rows.shape)  # -1 is the 0 behind
            inputs = [*self._inputs(term, z, p), ca.repmat(of_cost, 1, term.places), weights]
            slopes, curved = term.hessian.map(term.places).call(inputs, False, False)
            where = term.variables.ravel(order="F")
            if slopes.nnz():
                gradient += selection(where, np.arange(len(where)), (self.size, len(where))) @ ca.vec(slopes)
            i, j = _triplet(term.hessian.sparsity_out(1))
            parts.append((term.variables[i], term.variables[j], curved))
        matrix = self._assembled(parts, (self.size, self.size), ca.DM(self.size, self.size))
        names = ["x", "p", "lam_f", "lam_g"]
        return ca.Function(
            "nlp_hess_l", [z, p, of_cost, of_rows], [gradient, matrix], names, ["grad_gamma_x", "hess_gamma_x_x"]
        )

    def _total(self, costs: Iterable[ca.MX]) -> ca.MX:
        """The sum of costs, a column for each place."""
        return sum((ca.sum2(columns) for columns in costs if columns.nnz()), ca.MX(0))

    def _placed(self, z: ca.MX, terms: Sequence[Term], values: Sequence[ca.MX]) -> ca.MX:
        """g of the rows of terms, a column for each place."""
        places, columns = [np.zeros(0, dtype=int)], [ca.MX(0, 1)]
        for term, rows in zip(terms, values, strict=True):
            where = term.rows.ravel(order="F")
            kept = np.flatnonzero(where != NOWHERE)
            if len(kept):
                places.append(where[kept])
                columns.append(ca.vec(ca.densify(rows))[kept.tolist()])
        where, column = np.concatenate(places), ca.vertcat(*columns)
        if len(where) == self.rows and len(np.unique(where)) == self.rows:  # picked, for which no matrix is multiplied
            return self.linear @ z + column[np.argsort(where).tolist()]
        return self.linear @ z + selection(where, np.arange(len(where)), (self.rows, len(where))) @ column

    def _inputs(self, term: Term, z: ca.MX, p: ca.MX) -> list[ca.MX]:
        """y and p of a term, a column for each place."""
        parts = ((z, term.variables), (p, term.parameters))
        return [ca.reshape(x[where.ravel(order="F").tolist()], *where.shape) for x, where in parts]

    def _assembled(
        self, parts: Sequence[tuple[Indices, Indices, ca.MX]], shape: tuple[int, int], constant: ca.DM
    ) -> ca.MX:
        """A matrix of numbers with their rows and columns, of which those of one place add up, and a constant one."""
        i, j = _triplet(constant.sparsity())
        rows, columns = [i], [j]
        values = [ca.MX(ca.DM(constant.nonzeros()))]
        for row, column, numbers in parts:
            flat = row.ravel(order="F"), column.ravel(order="F")
            kept = np.flatnonzero(flat[0] != NOWHERE)
            rows.append(flat[0][kept])
            columns.append(flat[1][kept])
            values.append(ca.vec(numbers.nz[:])[kept.tolist()])
        row, column = np.concatenate(rows), np.concatenate(columns)
        pattern = ca.Sparsity.triplet(*shape, row.tolist(), column.tolist())
        key, (i, j) = row + shape[0] * column.astype(np.int64), _triplet(pattern)
        where = np.searchsorted(i + shape[0] * j.astype(np.int64), key)
        return ca.MX(pattern, selection(where, np.arange(len(key)), (pattern.nnz(), len(key))) @ ca.vertcat(*values))


def _triplet(pattern: ca.Sparsity) -> tuple[Indices, Indices]:
    i, j = pattern.get_triplet()
    return np.array(i, dtype=int), np.array(j, dtype=int)


def selection(i: Indices, j: Indices, shape: tuple[int, int]) -> ca.DM:
    """The matrix of ones at these places."""
    return ca.DM.triplet(i.tolist(), j.tolist(), ca.DM.ones(len(i)), *shape)
