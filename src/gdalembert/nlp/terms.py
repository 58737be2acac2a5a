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

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

from gdalembert.nlp.entries import NOWHERE, Indices


class RowsAndCost:
    """Rows and a cost of variables y and parameters p, with their derivatives, by scalar operations where it can be.

    Attributes:
        squares: (y, p) → (residuals, rest), where the cost is said to be the sum of their squares and the rest.
    """

    def __init__(self, y: ca.MX, p: ca.MX, rows: ca.MX, cost: ca.MX, squares: ca.Function | None = None) -> None:
        self.squares = squares
        self._y, self._p, self._rows, self._cost = y, p, ca.densify(rows), cost

    @property
    def key(self) -> str:
        """A text that is the same for the same expressions."""
        return str(ca.Function("term", [self._y, self._p], [self._rows, self._cost]).serialize())

    @cached_property
    def rows(self) -> ca.Function:
        """(y, p) → rows."""
        return self._function(self._rows)

    @cached_property
    def cost(self) -> ca.Function:
        """(y, p) → cost."""
        return self._function(self._cost)

    @cached_property
    def slope(self) -> ca.Function:
        """(y, p) → (cost, ∂cost/∂y)."""
        cost = self.cost.call([self._y, self._p], True, False)[0]
        return self._function(cost, ca.gradient(cost, self._y))

    @cached_property
    def jacobian(self) -> ca.Function:
        """(y, p) → (rows, ∂rows/∂y)."""
        return self._function(self._rows, ca.jacobian(self._rows, self._y))

    @cached_property
    def hessian(self) -> ca.Function:
        """(y, p, λ_f, λ) → (∂L/∂y, ∂²L/∂y²)."""
        of_cost, of_rows = ca.MX.sym("lam_f"), ca.MX.sym("lam", self._rows.numel())
        curvature, slope = ca.hessian(of_cost * self._cost + ca.dot(of_rows, self._rows), self._y)
        return self._function(slope, curvature, factors=[of_cost, of_rows])

    def _function(self, *outputs: ca.MX, factors: Sequence[ca.MX] = ()) -> ca.Function:
        return expanded(ca.Function("term", [self._y, self._p, *factors], list(outputs)))


def expanded(function: ca.Function) -> ca.Function:
    """A Function of scalar operations; itself where it calls what has none, as a Callback."""
    try:
        return function.expand()
    except RuntimeError:
        return function


class Term(NamedTuple):
    """Rows and a cost at n places of a program.

    Attributes:
        function: of the variables and parameters of a place. ``places``: n.
        of_z: E, which takes the variables of all places from z. ``of_p``: what takes their parameters from p.
        of_rows: R, which adds the rows of all places to g.
    """

    function: RowsAndCost
    places: int
    of_z: ca.DM
    of_p: ca.DM
    of_rows: ca.DM


class Sum:
    """f, g and their derivatives of terms and a linear part A z.

    Attributes:
        terms: of it, of at least one place each.
        linear: A (rows × size), sparse.
    """

    def __init__(self, terms: Sequence[Term], linear: ca.DM) -> None:
        self.terms, self.linear = [term for term in terms if term.places], linear
        self._of_z = ca.vertcat(*(term.of_z for term in self.terms))
        self._of_p = ca.vertcat(*(term.of_p for term in self.terms))
        self._of_rows = ca.horzcat(*(term.of_rows for term in self.terms))

    def cost(self, z: ca.MX, p: ca.MX) -> ca.MX:
        """f."""
        return _total(self._mapped([term.function.cost for term in self.terms], z, p)[0])

    def constraints(self, z: ca.MX, p: ca.MX) -> ca.MX:
        """g."""
        return self._placed(z, self._mapped([term.function.rows for term in self.terms], z, p)[0])

    @cached_property
    def gradient(self) -> ca.Function:
        """(x, p) → (f, df/dx)."""
        z, p = self._symbols()
        costs, slopes = self._mapped([term.function.slope for term in self.terms], z, p)
        outputs = [_total(costs), ca.densify(self._of_z.T @ _column(slopes))]
        return ca.Function("nlp_grad_f", [z, p], outputs, ["x", "p"], ["f", "grad_f_x"])

    @cached_property
    def pattern(self) -> ca.Sparsity:
        """Variables of each row."""
        blocks = ca.DM(self._diagonal([term.function.rows.jac_sparsity(0, 0) for term in self.terms]), 1)
        return (ca.DM(self.linear.sparsity(), 1) + self._of_rows @ blocks @ self._of_z).sparsity()

    @cached_property
    def jacobian(self) -> ca.Function:
        """(x, p) → (g, dg/dx)."""
        z, p = self._symbols()
        functions = [term.function.jacobian for term in self.terms]
        rows, slopes = self._mapped(functions, z, p)
        matrix = self.linear + self._of_rows @ self._on_diagonal(functions, slopes) @ self._of_z
        return ca.Function("nlp_jac_g", [z, p], [self._placed(z, rows), matrix], ["x", "p"], ["g", "jac_g_x"])

    @cached_property
    def hessian(self) -> ca.Function:
        """(x, p, λ_f, λ) → (∇L, ∇²L)."""
        (z, p), of_cost, multipliers = self._symbols(), ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.linear.shape[0])
        functions = [term.function.hessian for term in self.terms]
        factors = ca.repmat(of_cost, sum(term.places for term in self.terms))
        slopes, curvatures = self._mapped(functions, z, p, factors, ca.densify(self._of_rows.T @ multipliers))
        gradient = ca.densify(self.linear.T @ multipliers + self._of_z.T @ _column(slopes))
        matrix = self._of_z.T @ self._on_diagonal(functions, curvatures) @ self._of_z
        names = ["x", "p", "lam_f", "lam_g"], ["grad_gamma_x", "hess_gamma_x_x"]
        return ca.Function("nlp_hess_l", [z, p, of_cost, multipliers], [gradient, matrix], *names)

    def _symbols(self) -> tuple[ca.MX, ca.MX]:
        return ca.MX.sym("z", self._of_z.shape[1]), ca.MX.sym("p", self._of_p.shape[1])

    def _mapped(self, functions: Sequence[ca.Function], z: ca.MX, p: ca.MX, *more: ca.MX) -> list[list[ca.MX]]:
        """Each output of a Function of each term, a column for each place.

        ``more``: inputs behind those of the variables and parameters, of all places below each other.
        """
        inputs = []
        for i, column in enumerate((self._of_z @ z, self._of_p @ p, *more)):
            sizes = [function.numel_in(i) for function in functions]
            ends = np.cumsum([0, *(size * term.places for size, term in zip(sizes, self.terms, strict=True))])
            parts = zip(ca.vertsplit(column, ends.tolist()), sizes, self.terms, strict=True)
            inputs.append([ca.reshape(part, size, term.places) for part, size, term in parts])
        calls = zip(functions, self.terms, zip(*inputs, strict=True), strict=True)
        values = [function.map(term.places).call(list(columns), False, False) for function, term, columns in calls]
        return [list(outputs) for outputs in zip(*values, strict=True)]

    def _placed(self, z: ca.MX, values: Sequence[ca.MX]) -> ca.MX:
        """g of the rows of terms."""
        return self.linear @ z + self._of_rows @ _column(values)

    def _on_diagonal(self, functions: Sequence[ca.Function], blocks: Sequence[ca.MX]) -> ca.MX:
        """The second outputs of Functions, side by side for the places of a term, on the diagonal of a matrix."""
        pattern = self._diagonal([function.sparsity_out(1) for function in functions])
        return ca.MX(pattern, ca.vertcat(*(ca.vec(values.nz[:]) for values in blocks)))

    def _diagonal(self, blocks: Sequence[ca.Sparsity]) -> ca.Sparsity:
        """The pattern with the block of each term on the diagonal, once for each place."""
        return ca.diagcat(*(block for term, block in zip(self.terms, blocks, strict=True) for _ in range(term.places)))


def _total(costs: Sequence[ca.MX]) -> ca.MX:
    """The sum of costs, a column for each place."""
    return sum((ca.sum2(columns) for columns in costs), ca.MX(0))


def _column(values: Sequence[ca.MX]) -> ca.MX:
    """The columns of all values below each other."""
    return ca.densify(ca.veccat(*values))


def picked(entries: Indices, size: int) -> ca.DM:
    """The matrix that takes these entries of a vector, column by column; no entry where an index is nowhere."""
    flat = entries.ravel(order="F")
    kept = np.flatnonzero(flat != NOWHERE)
    return ca.DM.triplet(kept.tolist(), flat[kept].tolist(), ca.DM.ones(len(kept)), len(flat), size)


def of_its_variables(expression: ca.MX, x: ca.MX, p: ca.MX) -> tuple[Indices, ca.MX, ca.MX]:
    """The entries y of x that an expression of x and p has: their numbers, y, and the expression of y and p."""
    entries = np.unique(np.array(ca.jacobian_sparsity(expression, x).get_triplet()[1], dtype=int))
    y = ca.MX.sym("y", len(entries))
    graph = ca.Function("of_x", [x, p], [ca.densify(expression)])
    return entries, y, graph.call([picked(entries, x.numel()).T @ y, p], True, False)[0]
