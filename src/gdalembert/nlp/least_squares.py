"""The squares that a cost is the sum of, found by a walk over its graph: what Gauss and Newton take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from gdalembert.errors import UnsupportedError
from gdalembert.spatial.arrays import Array

_NO_EIGENVALUE = 1e-12
"""Of a matrix of weights whose diagonal is scaled to ones; and an entry of its factors that is rounding."""
_NO_ENTRY = 1e-14
_DEPTH = 4
"""Operations down to which two expressions are compared."""

_UNDEFINED = {
    getattr(ca, f"OP_{name}")
    for name in ("DIV", "INV", "LOG", "LOG1P", "SQRT", "POW", "CONSTPOW", "ASIN", "ACOS", "ACOSH", "ATANH", "TAN")
}
"""Operations that are not finite at some numbers."""


class Square(NamedTuple):
    """A term w s² of a cost; w is free of the motion."""

    weight: ca.SX
    residual: ca.SX


class _Product(NamedTuple):
    """A term of a cost: a number, a weight of parameters, and two factors, the same of a square."""

    number: float
    weight: ca.SX
    one: ca.SX
    other: ca.SX


def residuals_of(graph: ca.Function, parameters: Sequence[str], name: str) -> tuple[ca.Function, ca.Function]:
    """The weights and the residuals of the squares that an expression is the sum of, as Functions of its inputs.

    Args:
        graph: of scalar operations. ``parameters``: its inputs that are free of the motion.
        name: of it, for messages.

    Raises:
        UnsupportedError: if it is no such sum, or not of scalar operations.
    """
    try:
        scalar = graph.expand()
    except RuntimeError as error:
        raise UnsupportedError(f"rti: {name} is not of scalar operations; take 'ipopt' ({error})") from None
    inputs = dict(zip(scalar.name_in(), scalar.sx_in(), strict=True))
    motion = ca.vertcat(ca.SX(0, 1), *(x for name, x in inputs.items() if name not in parameters))
    summands = squares(scalar.call([*inputs.values()])[0], motion, name)
    whole: dict[str, Any] = {"enable_forward": False, "reverse_options": {"enable_forward": False}}

    def column(name: str, entries: Sequence[ca.SX]) -> ca.Function:
        rows = ca.vertcat(ca.SX(0, 1), *entries)
        return ca.Function(name, [*inputs.values()], [rows], [*inputs], [name], whole)

    weights, residuals = zip(*summands, strict=True) if summands else ((), ())
    return column("weights", weights), column("residuals", residuals)


def defined(conditions: Sequence[ca.SX], columns: Sequence[ca.SX]) -> list[ca.SX]:
    """The rows of expressions that may not be finite, 0 where their condition is."""
    guarded = []
    for x in columns:
        graph = ca.Function("rows", ca.symvar(x), [x])
        if any(graph.instruction_id(k) in _UNDEFINED for k in range(graph.n_instructions())):
            rows = x.sparsity().get_triplet()[0]
            x = ca.SX(x.sparsity(), ca.if_else(ca.vertcat(*(conditions[row] for row in rows)), ca.vec(x.nz[:]), 0))
        guarded.append(x)
    return guarded


def squares(cost: ca.SX, motion: ca.SX, name: str) -> list[Square]:
    """The squares that a cost is the sum of, but for terms free of the motion.

    Products of different factors, as in eᵀ W e, make a quadratic form with the squares of these factors. Its matrix is
    factored by Cholesky's method with pivots: W = Σ d l lᵀ gives the squares d (lᵀ e)², as many as its rank.

    Raises:
        UnsupportedError: if a term is no product of two expressions, or a quadratic form is negative somewhere.
    """
    summands: list[Square] = []
    for weight, products in _by_weight(_products(cost, motion, name)):
        forms = _Forms(products)
        for atoms, members in forms.connected():
            plain = all(one is other for _, _, one, other in members)
            if plain and not (weight.is_constant() and any(number < 0 for number, *_ in members)):
                summands += [Square(number * weight, root) for number, _, root, _ in members]
                continue
            for number, row in _factored(forms.matrix(atoms, members), name):
                terms = (
                    atom if factor == 1 else factor * atom for factor, atom in zip(row, atoms, strict=True) if factor
                )
                summands.append(Square(number * weight, sum(terms, ca.SX(0))))
    return summands


def _products(cost: ca.SX, motion: ca.SX, name: str) -> list[_Product]:
    """The terms of a cost that are not free of the motion."""
    products = []
    left = [(cost, 1.0, ca.SX(1))]
    while left:
        term, number, weight = left.pop()
        if not ca.depends_on(term, motion):
            continue
        if _operation(term) in (ca.OP_ADD, ca.OP_SUB):
            sign = 1 if _operation(term) == ca.OP_ADD else -1
            left += [(term.dep(0), number, weight), (term.dep(1), sign * number, weight)]
            continue
        scale, of_parameters, moving = _factors(term, motion)
        if (root := _root(moving)) is not None:
            products.append(_Product(number * scale, weight * of_parameters, root, root))
            continue
        scale, of_parameters, inner = _unscaled(term, motion)
        number, weight = number * scale, weight * of_parameters
        if _operation(inner) == ca.OP_MUL:
            factors = []
            for factor in (inner.dep(0), inner.dep(1)):
                scale, of_parameters, root = _unscaled(factor, motion)
                number, weight = number * scale, weight * of_parameters
                factors.append(root)
            products.append(_Product(number, weight, *factors))
        elif not ca.is_equal(inner, term):
            left.append((inner, number, weight))
        else:
            raise UnsupportedError(
                f"rti: {name} is no sum of squares of q, v, a, u and forces; write it as one, or take 'ipopt'"
            )
    return products


def _operation(x: ca.SX) -> int:
    return int(ca.OP_PARAMETER if x.is_symbolic() else x.op())


def _unscaled(x: ca.SX, motion: ca.SX) -> tuple[float, ca.SX, ca.SX]:
    """An expression without the factors that are free of the motion: a number, one of parameters, and the rest."""
    number, weight = 1.0, ca.SX(1)
    while True:
        op = _operation(x)
        if op in (ca.OP_NEG, ca.OP_TWICE):
            number, x = number * (-1 if op == ca.OP_NEG else 2), x.dep(0)
            continue
        if op not in (ca.OP_MUL, ca.OP_DIV):
            return number, weight, x
        inner, factor = x.dep(0), x.dep(1)
        if op == ca.OP_MUL and not ca.depends_on(inner, motion):
            inner, factor = factor, inner
        if ca.depends_on(factor, motion):
            return number, weight, x
        if factor.is_constant():
            number = number * float(factor) if op == ca.OP_MUL else number / float(factor)
        else:
            weight = weight * factor if op == ca.OP_MUL else weight / factor
        x = inner


def _factors(term: ca.SX, motion: ca.SX) -> tuple[float, ca.SX, list[ca.SX]]:
    """A number, the factor of parameters of a product, and those of the motion; a square is twice one factor."""
    number, weight, moving, left = 1.0, ca.SX(1), list[ca.SX](), [term]
    while left:
        scale, of_parameters, x = _unscaled(left.pop(), motion)
        number, weight = number * scale, weight * of_parameters
        if _operation(x) == ca.OP_MUL:
            left += [x.dep(0), x.dep(1)]
        else:
            moving += [x.dep(0)] * 2 if _operation(x) == ca.OP_SQ else [x]
    return number, weight, moving


def _root(factors: list[ca.SX]) -> ca.SX | None:
    """The root of a product of factors that occur twice."""
    root, left = ca.SX(1), list(factors)
    while left:
        x = left.pop()
        other = next((k for k, y in enumerate(left) if ca.is_equal(x, y, _DEPTH)), None)
        if other is None:
            return None
        root *= left.pop(other)
    return root


def _by_weight(products: Sequence[_Product]) -> Iterator[tuple[ca.SX, list[_Product]]]:
    """The products of each weight of parameters."""
    groups: list[tuple[ca.SX, list[_Product]]] = []
    for product in products:
        alike = next((group for weight, group in groups if ca.is_equal(weight, product.weight, _DEPTH)), None)
        if alike is None:
            groups.append((product.weight, alike := []))
        alike.append(product)
    return iter(groups)


class _Forms:
    """The quadratic forms that products are the terms of.

    The factors of products are their atoms, but for those that are sums of multiples of others, as W e is.
    """

    def __init__(self, products: Sequence[_Product]) -> None:
        self._atoms: list[ca.SX] = []
        self._places: dict[int, int] = {}
        self._known: dict[int, dict[int, float] | None] = {}
        self._products = products
        for _, _, one, other in products:
            for factor in (one, other):
                self._place(factor)
        self._sums = [self._combination(atom) or {} for atom in self._atoms]

    def connected(self) -> Iterator[tuple[list[ca.SX], list[_Product]]]:
        """The atoms and the products of each form."""
        atoms_of = [{atom for x in (product.one, product.other) for atom in self._sum(x)} for product in self._products]
        parts: list[tuple[set[int], list[int]]] = []
        for k, atoms in enumerate(atoms_of):
            joined = [part for part in parts if part[0] & atoms]
            parts = [part for part in parts if not part[0] & atoms]
            members = [i for _, numbers in joined for i in numbers]
            parts.append((atoms.union(*(other for other, _ in joined)), [*members, k]))
        for atoms, numbers in sorted(parts, key=lambda part: min(part[1])):
            yield [self._atoms[k] for k in sorted(atoms)], [self._products[k] for k in sorted(numbers)]

    def matrix(self, atoms: Sequence[ca.SX], products: Sequence[_Product]) -> Array:
        """Symmetric, of the form of these products in their atoms."""
        row = {self._place(atom): k for k, atom in enumerate(atoms)}
        form = np.zeros((len(row), len(row)))
        for number, _, one, other in products:
            for i, x in self._sum(one).items():
                for j, y in self._sum(other).items():
                    form[row[i], row[j]] += number * x * y
        symmetric: Array = (form + form.T) / 2
        return symmetric

    def _sum(self, factor: ca.SX) -> dict[int, float]:
        return self._sums[self._place(factor)]

    def _place(self, factor: ca.SX) -> int:
        """The number of a factor, which it is given where no other is the same."""
        place = self._known_place(factor)
        if place is None:
            place = self._places[factor.element_hash()] = len(self._atoms)
            self._atoms.append(factor)
        return place

    def _known_place(self, x: ca.SX) -> int | None:
        key = x.element_hash()
        if key not in self._places:
            same = (k for k, atom in enumerate(self._atoms) if _operation(atom) == _operation(x))
            alike = next((k for k in same if ca.is_equal(self._atoms[k], x, _DEPTH)), None)
            if alike is None:
                return None
            self._places[key] = alike
        return self._places[key]

    def _combination(self, x: ca.SX) -> dict[int, float] | None:
        """An expression as a sum of multiples of atoms: of an atom itself, where it is none of others."""
        key = x.element_hash()
        if key not in self._known:
            terms = self._of_parts(x)
            if terms is None and (place := self._known_place(x)) is not None:
                terms = {place: 1.0}
            self._known[key] = terms
        return self._known[key]

    def _of_parts(self, x: ca.SX) -> dict[int, float] | None:
        op = _operation(x)
        if op in (ca.OP_NEG, ca.OP_TWICE):
            parts = [(-1.0 if op == ca.OP_NEG else 2.0, x.dep(0))]
        elif op in (ca.OP_ADD, ca.OP_SUB):
            parts = [(1.0, x.dep(0)), (1.0 if op == ca.OP_ADD else -1.0, x.dep(1))]
        elif op == ca.OP_MUL and x.dep(0).is_constant():
            parts = [(float(x.dep(0)), x.dep(1))]
        elif op == ca.OP_MUL and x.dep(1).is_constant():
            parts = [(float(x.dep(1)), x.dep(0))]
        elif op == ca.OP_DIV and x.dep(1).is_constant():
            parts = [(1 / float(x.dep(1)), x.dep(0))]
        else:
            return None
        terms: dict[int, float] = {}
        for factor, part in parts:
            if (inner := self._combination(part)) is None:
                return None
            for place, number in inner.items():
                terms[place] = terms.get(place, 0.0) + factor * number
        return terms


def _factored(matrix: Array, name: str) -> Iterator[tuple[float, Array]]:
    """The d and l of W = Σ d l lᵀ, in the order of pivots; an l is 1 where its pivot is."""
    size = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    size[size == 0] = 1.0
    left = matrix / np.outer(size, size)
    none, is_finite = _NO_EIGENVALUE * len(left), bool(np.isfinite(matrix).all())
    if not (is_finite and np.linalg.eigvalsh(left)[0] >= -none):
        smallest = np.linalg.eigvalsh(matrix)[0] if is_finite else np.nan
        raise UnsupportedError(
            f"rti: {name} is no sum of squares: a quadratic form in it has the eigenvalue {smallest:.3g}; give a "
            "matrix of weights that is positive semidefinite, one of parameters, W = L Lᵀ, as ca.sumsqr(L.T @ e), or "
            "take 'ipopt'"
        )
    while (pivot := left.diagonal().max()) > none:
        k = int(left.diagonal().argmax())
        row = np.where(np.abs(left[k]) > _NO_ENTRY, left[k], 0.0) / pivot
        left = left - pivot * np.outer(row, row)
        left[k], left[:, k] = 0.0, 0.0
        yield float(pivot * size[k] ** 2), row * size / size[k]
