"""A nonlinear program as a sum of terms: Functions of few variables, each repeated at many places.

An optimal control problem has one term for the stages of all intervals, one for rows of the grid, one for the cost of
the end. Such programs are *group partially separable* (Griewank and Toint 1982): with the variables y_k = E_k z of a
term at its place k,

    f(z) = Σ f_k(y_k)        g(z) = A z + Σ R_k g_k(y_k)

    dg/dz = A + Σ R_k g_k' E_k        ∇²L = Σ E_kᵀ ∇²(λ_f f_k + (R_kᵀ λ)ᵀ g_k) E_k

Each term is differentiated alone and mapped over its places. CasADi's own derivatives of the whole graph are carried
along directions through all intervals: for Solo 12 on four feet they take minutes to build.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    """

    function: ca.Function
    variables: Indices
    parameters: Indices
    rows: Indices

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
        self.size, self.numbers, self.rows, self.linear = size, numbers, rows, linear
        self._of_z = _picked([term.variables for term in self.terms], size)  # E
        self._of_p = _picked([term.parameters for term in self.terms], numbers)
        self._of_rows = _picked([term.rows for term in self.terms], rows).T  # R

    def cost(self, z: ca.MX, p: ca.MX) -> ca.MX:
        """f."""
        return _total([_mapped(term.cost, *inputs)[0] for term, *inputs in self._inputs(z, p)])

    def constraints(self, z: ca.MX, p: ca.MX) -> ca.MX:
        """g."""
        return self._placed(z, [_mapped(term.values, *inputs)[0] for term, *inputs in self._inputs(z, p)])

    @cached_property
    def gradient(self) -> ca.Function:
        """(x, p) → (f, df/dx)."""
        z, p = ca.MX.sym("z", self.size), ca.MX.sym("p", self.numbers)
        values = [_mapped(term.slope, *inputs) for term, *inputs in self._inputs(z, p)]
        gradient = ca.densify(self._of_z.T @ _column([slopes for _, slopes in values]))
        outputs = [_total([cost for cost, _ in values]), gradient]
        return ca.Function("nlp_grad_f", [z, p], outputs, ["x", "p"], ["f", "grad_f_x"])

    @cached_property
    def pattern(self) -> ca.Sparsity:
        """Which variables each row has."""
        blocks = ca.DM(self._diagonal([term.values.jac_sparsity(0, 0) for term in self.terms]), 1)
        return (ca.DM(self.linear.sparsity(), 1) + self._of_rows @ blocks @ self._of_z).sparsity()

    @cached_property
    def jacobian(self) -> ca.Function:
        """(x, p) → (g, dg/dx)."""
        z, p = ca.MX.sym("z", self.size), ca.MX.sym("p", self.numbers)
        values = [_mapped(term.jacobian, *inputs) for term, *inputs in self._inputs(z, p)]
        blocks = self._on_diagonal([term.jacobian for term in self.terms], [slopes for _, slopes in values])
        outputs = [self._placed(z, [rows for rows, _ in values]), self.linear + self._of_rows @ blocks @ self._of_z]
        return ca.Function("nlp_jac_g", [z, p], outputs, ["x", "p"], ["g", "jac_g_x"])

    @cached_property
    def hessian(self) -> ca.Function:
        """(x, p, λ_f, λ) → (∇L, ∇²L)."""
        z, p = ca.MX.sym("z", self.size), ca.MX.sym("p", self.numbers)
        of_cost, multipliers = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.rows)
        weights = _columns(self._of_rows.T @ multipliers, [term.rows for term in self.terms])
        values = [
            _mapped(term.hessian, *inputs, ca.repmat(of_cost, 1, term.places), own)
            for (term, *inputs), own in zip(self._inputs(z, p), weights, strict=True)
        ]
        blocks = self._on_diagonal([term.hessian for term in self.terms], [curvatures for _, curvatures in values])
        gradient = self.linear.T @ multipliers + self._of_z.T @ _column([slopes for slopes, _ in values])
        inputs = {"x": z, "p": p, "lam_f": of_cost, "lam_g": multipliers}
        outputs = {"grad_gamma_x": gradient, "hess_gamma_x_x": self._of_z.T @ blocks @ self._of_z}
        return ca.Function("nlp_hess_l", [*inputs.values()], [*outputs.values()], [*inputs], [*outputs])

    def _inputs(self, z: ca.MX, p: ca.MX) -> Iterator[tuple[Term, ca.MX, ca.MX]]:
        """Each term with y and p, a column for each place."""
        variables = _columns(self._of_z @ z, [term.variables for term in self.terms])
        parameters = _columns(self._of_p @ p, [term.parameters for term in self.terms])
        return zip(self.terms, variables, parameters, strict=True)

    def _placed(self, z: ca.MX, values: Sequence[ca.MX]) -> ca.MX:
        """g of the rows of terms, a column for each place."""
        return self.linear @ z + self._of_rows @ _column(values)

    def _on_diagonal(self, functions: Sequence[ca.Function], blocks: Sequence[ca.MX]) -> ca.MX:
        """The second values of Functions, side by side for all places of a term, on the diagonal of a matrix."""
        pattern = self._diagonal([function.sparsity_out(1) for function in functions])
        return ca.MX(pattern, ca.vertcat(*(ca.vec(values.nz[:]) for values in blocks)))

    def _diagonal(self, blocks: Sequence[ca.Sparsity]) -> ca.Sparsity:
        """The pattern with the block of each term on the diagonal, once for each place."""
        return ca.diagcat(*(block for term, block in zip(self.terms, blocks, strict=True) for _ in range(term.places)))


def _mapped(function: ca.Function, *inputs: ca.MX) -> list[ca.MX]:
    """The values of a Function at columns."""
    return list(function.map(inputs[0].shape[1]).call(list(inputs), False, False))


def _total(costs: Sequence[ca.MX]) -> ca.MX:
    """The sum of costs, a column for each place."""
    return sum((ca.sum2(columns) for columns in costs), ca.MX(0))


def _column(values: Sequence[ca.MX]) -> ca.MX:
    """The columns of all values below each other."""
    return ca.densify(ca.veccat(*values))


def _columns(column: ca.MX, indices: Sequence[Indices]) -> list[ca.MX]:
    """A column as matrices of the shapes of these indices."""
    ends = np.cumsum([0, *(places.size for places in indices)]).tolist()
    return [ca.reshape(part, *places.shape) for part, places in zip(ca.vertsplit(column, ends), indices, strict=True)]


def _picked(indices: Sequence[Indices], size: int) -> ca.DM:
    """The matrix that picks these entries of a vector, column by column; no entry where an index is nowhere."""
    flat = np.concatenate([np.zeros(0, dtype=int), *(places.ravel(order="F") for places in indices)])
    kept = np.flatnonzero(flat != NOWHERE)
    return selection(kept, flat[kept], (len(flat), size))


def selection(i: Indices, j: Indices, shape: tuple[int, int]) -> ca.DM:
    """The matrix of ones at these places."""
    return ca.DM.triplet(i.tolist(), j.tolist(), ca.DM.ones(len(i)), *shape)
