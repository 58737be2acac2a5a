"""Derivatives of a nonlinear program by the chain rule, block by block.

CasADi differentiates the graph of a whole program along directions, each of which is carried through every interval.
Here the Functions that the graph calls, as the step of all intervals, are differentiated alone, by the Jacobians and
Hessians of one interval; the graph around them, which is linear for the most part, gives constant sparse matrices.

With w = [z; y], the values of the calls y_j = F_j(a_j(w)), where a_j depends on z and earlier values alone,
D_j = ∂a_j/∂w, B_j = dF_j/da_j and T = dw/dz, found from the first call to the last,

    A_j = D_j T        T = [1; B_1 A_1; B_2 A_2; …]        dg/dz = ∂g/∂w T

and with L = λ_f f + λᵀ g, the adjoints σ_j of y_j and π_j = B_jᵀ σ_j of a_j, found from the last call to the first,

    d²L/dz² = Tᵀ ∇²(L + Σ π_jᵀ a_j) T + Σ A_jᵀ ∇²(σ_jᵀ F_j) A_j
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.spatial.algebra import Matrix

Shape = tuple[int, int]


class Call(NamedTuple):
    """A Function that a graph calls for n columns of blocks.

    Attributes:
        function: of one block. ``n``: of blocks.
        arguments: (w, p) → the inputs, below each other.
        rows: those of its values in w, of each output.
    """

    function: ca.Function
    n: int
    arguments: ca.Function
    rows: list[slice]

    def inputs(self, arguments: ca.MX) -> list[ca.MX]:
        """The matrices of its arguments."""
        sizes = [self.function.size_in(i) for i in range(self.function.n_in())]
        return _matrices(arguments, [(rows, columns * self.n) for rows, columns in sizes])

    def values(self, inputs: Sequence[ca.MX]) -> ca.MX:
        """y."""
        return ca.densify(ca.veccat(*self.function.map(self.n).call(list(inputs))))

    def jacobian(self, inputs: Sequence[ca.MX]) -> list[ca.MX]:
        """B, the rows of each output."""
        n_in = self.function.n_in()
        derivative = self.function.jacobian().map(self.n)
        found = derivative.call([*inputs, *_nothing(derivative)[n_in:]])
        return [_diagonal([found[i : i + n_in]], self.n) for i in range(0, len(found), n_in)]

    def hessian(self, inputs: Sequence[ca.MX], adjoints: ca.MX) -> ca.MX:
        """∇²(σᵀ F)."""
        n_in, n_out = self.function.n_in(), self.function.n_out()
        second = _second(self.function).map(self.n)
        nothing, sizes = _nothing(second), [self.function.size_out(i) for i in range(n_out)]
        seeds = _matrices(adjoints, [(rows, columns * self.n) for rows, columns in sizes])
        found = second.call([*inputs, *nothing[n_in : n_in + n_out], *seeds, *nothing[n_in + 2 * n_out :]])
        return _diagonal([found[i : i + n_in] for i in range(0, len(found), n_in)], self.n)


class Passed(NamedTuple):
    """A call as it was passed: its inputs, A, and B of each output."""

    call: Call
    inputs: list[ca.MX]
    a: Matrix
    blocks: list[ca.MX]


class ChainRule:
    """Derivatives of a program (x, p, f, g, as for ``casadi.nlpsol``), taken apart at the Functions that it calls."""

    def __init__(self, problem: Mapping[str, ca.MX]) -> None:
        self._z, self._p = problem["x"], problem["p"]
        graph = ca.Function("nlp", [self._z, self._p], [problem["f"], problem["g"]])
        number = range(graph.n_instructions())
        nodes = [graph.instruction_MX(k) for k in number if graph.instruction_id(k) == ca.OP_CALL]
        functions = [node.which_function() for node in nodes]
        values = [node.get_output(i) for node, f in zip(nodes, functions, strict=True) for i in range(f.n_out())]
        first = self._z.numel()
        self._w = ca.MX.sym("w", first + sum(value.numel() for value in values))
        inputs = [ca.densify(ca.veccat(*(node.dep(i) for i in range(node.n_dep())))) for node in nodes]
        symbols = _matrices(self._w[first:], [value.shape for value in values])
        symbols = [ca.project(symbol, value.sparsity()) for symbol, value in zip(symbols, values, strict=True)]
        apart = ca.graph_substitute([problem["f"], problem["g"], *inputs], values, symbols)
        self._f, self._g, *arguments = ca.substitute(apart, [self._z], [self._w[:first]])
        self._calls = []
        for function, of in zip(functions, arguments, strict=True):
            ends = first + np.cumsum([0, *(function.numel_out(i) for i in range(function.n_out()))])
            rows = [slice(int(low), int(high)) for low, high in pairwise(ends)]
            block, n = (function.info()["f"], function.info()["n"]) if function.is_a("Map") else (function, 1)
            self._calls.append(Call(block, n, ca.Function("arguments", [self._w, self._p], [of]), rows))
            first = int(ends[-1])

    @cached_property
    def jacobian(self) -> ca.Function:
        """(x, p) → (g, dg/dx)."""
        w, along, _ = self._forward
        rows = self._along(ca.jacobian(self._g, self._w), w, along)
        g = self._at([self._g], w)[0]
        return ca.Function("nlp_jac_g", [self._z, self._p], [g, rows], ["x", "p"], ["g", "jac_g_x"])

    @cached_property
    def hessian(self) -> ca.Function:
        """(x, p, λ_f, λ) → (dL/dx, d²L/dx²)."""
        w, along, passed = self._forward
        factors = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self._g.numel())
        around = factors[0] * self._f + ca.dot(factors[1], self._g)
        adjoint = self._at([ca.gradient(around, self._w)], w, factors)[0]
        curved = ca.MX(self._z.numel(), self._z.numel())
        symbols, weights = list(factors), list(factors)
        for call, inputs, a, blocks in reversed(passed):
            own = adjoint[call.rows[0].start : call.rows[-1].stop]
            curved += a.T @ (call.hessian(inputs, own) @ a)
            weight = sum((b.T @ adjoint[rows] for rows, b in zip(call.rows, blocks, strict=True)), ca.MX(0))
            symbol = ca.MX.sym("weight", weight.numel())
            of = call.arguments.call([self._w, self._p], True, False)[0]
            around += ca.dot(symbol, of)
            adjoint += self._at([ca.jtimes(of, self._w, symbol, True)], w, [symbol], [weight])[0]
            symbols.append(symbol)
            weights.append(weight)
        outer = self._at([ca.hessian(around, self._w)[0]], w, symbols, weights)[0]
        for rows, left in along:
            for columns, right in along:
                if (part := outer[rows, columns]).nnz():
                    curved += left.T @ (part @ right)
        inputs = [self._z, self._p, *factors]
        outputs = [adjoint[: self._z.numel()], curved]
        names = ["x", "p", "lam_f", "lam_g"]
        return ca.Function("nlp_hess_l", inputs, outputs, names, ["grad_gamma_x", "hess_gamma_x_x"])

    @cached_property
    def _forward(self) -> tuple[ca.MX, list[tuple[slice, Matrix]], list[Passed]]:
        """w, its rows and those of T, of z and of each output; and all calls, from the first to the last."""
        n, w = self._z.numel(), self._z
        along: list[tuple[slice, Matrix]] = [(slice(0, n), ca.DM.eye(n))]
        passed = []
        for call in self._calls:
            known = ca.vertcat(w, ca.MX.zeros(self._w.numel() - w.numel()))
            of = call.arguments.call([self._w, self._p], True, False)[0]
            inputs = call.inputs(self._at([of], known)[0])
            a, blocks = self._along(ca.jacobian(of, self._w), known, along), call.jacobian(inputs)
            passed.append(Passed(call, inputs, a, blocks))
            along += [(rows, block @ a) for rows, block in zip(call.rows, blocks, strict=True)]
            w = ca.vertcat(w, call.values(inputs))
        return w, along, passed

    def _along(self, derivative: ca.MX, w: ca.MX, along: Sequence[tuple[slice, Matrix]]) -> Matrix:
        """A derivative with respect to w times T."""
        whole = self._at([derivative], w)[0]
        terms = [whole[:, rows] @ matrix for rows, matrix in along if whole[:, rows].nnz()]
        return sum(terms, ca.DM(derivative.shape[0], self._z.numel()))

    def _at(
        self,
        expressions: Sequence[ca.MX],
        w: ca.MX,
        symbols: Sequence[ca.MX] = (),
        values: Sequence[ca.MX] | None = None,
    ) -> list[Matrix]:
        """Expressions of w, p and other symbols at their values; as numbers if they are constant."""
        if not ca.symvar(ca.veccat(*expressions)):
            return [ca.evalf(each) for each in expressions]
        graph = ca.Function("at", [self._w, self._p, *symbols], list(expressions))
        return list(graph.call([w, self._p, *(symbols if values is None else values)], True, False))


def _second(function: ca.Function) -> ca.Function:
    """The second derivatives of a Function with an adjoint for each output, with respect to its inputs."""
    reverse = function.reverse(1)
    whole = reverse.jacobian()
    names = [f"jac_{row}_{column}" for row in reverse.name_out() for column in function.name_in()]
    inputs: Any = whole.sx_in() if whole.is_a("SXFunction") else whole.mx_in()
    outputs = dict(zip(whole.name_out(), whole.call(inputs), strict=True))
    return ca.Function("second", inputs, [outputs[name] for name in names])


def _nothing(function: ca.Function) -> list[ca.MX]:
    """Zeros for all inputs."""
    return [ca.MX(*function.size_in(i)) for i in range(function.n_in())]


def _matrices(column: ca.MX, shapes: Sequence[Shape]) -> list[ca.MX]:
    """A column as matrices of these shapes."""
    if not shapes:
        return []
    ends = np.cumsum([0, *(rows * columns for rows, columns in shapes)]).tolist()
    return [ca.reshape(part, *shape) for part, shape in zip(ca.vertsplit(column, ends), shapes, strict=True)]


def _diagonal(grid: Sequence[Sequence[ca.MX]], n: int) -> ca.MX:
    """A matrix of matrices, each of n blocks side by side, with these blocks on the diagonal."""
    entries = [ca.vec(each.nz[:]) for row in grid for each in row]
    ends = iter(np.cumsum([0, *(each.numel() for each in entries)]).tolist())

    def numbered(wide: ca.MX) -> ca.DM:
        """The number of each entry, from 1, among all."""
        first = next(ends)
        if not wide.nnz():
            return ca.DM(n * wide.shape[0], wide.shape[1])
        numbers = ca.DM(wide.sparsity(), np.arange(1.0, 1 + wide.nnz()) + first)
        return ca.diagcat(*ca.horzsplit(numbers, wide.shape[1] // n))

    numbers = ca.vertcat(*(ca.horzcat(*map(numbered, row)) for row in grid))
    order = np.array(numbers.nonzeros(), dtype=int) - 1
    return ca.MX(numbers.sparsity(), ca.vertcat(*entries)[order.tolist()])
