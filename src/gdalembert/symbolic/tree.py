"""Trees whose constants are formulas, and the formulations on them.

A formulation is a set of plain functions of (tree, q, v, a). Here masses, lengths and inertias of the tree are formulas
in symbols, as ``m*l**2/12``; the Functions of the formulation have one more input, p, with the values of the symbols
(:mod:`gdalembert.dynamics.parameters`). Constants whose formula is a number are numbers in the graphs.

Numbers of a graph are floating-point numbers, from which exact closed forms cannot be made. They are made of a second
tree of the same robot, ``exact``, where each formula is a symbol of its own. Nothing is derived a second time.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import casadi as ca
import numpy as np
import sympy
from sympy.core.function import Application

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.forces import Force
from gdalembert.dynamics.parameters.parameters import Parameters, mapped, parameters_of, substituted
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array

_CASADI = {
    "sin": ca.sin,
    "cos": ca.cos,
    "tan": ca.tan,
    "asin": ca.asin,
    "acos": ca.acos,
    "atan": ca.atan,
    "sqrt": ca.sqrt,
    "exp": ca.exp,
    "log": ca.log,
    "Abs": ca.fabs,
    "pi": math.pi,
}
"""What formulas are made of in CasADi, by the names that SymPy writes."""


@dataclass(frozen=True, eq=False)
class SymbolicTree(Tree):
    """A tree whose constants are formulas: wherever ``Tree`` has an array, this may have an ``SX``.

    :func:`~gdalembert.symbolic.parameters.symbolic_tree` makes one of a model,
    :func:`~gdalembert.symbolic.denavit_hartenberg.from_denavit_hartenberg` of rows. Every formulation takes it.

    Attributes:
        p: the symbols (SX, n_p) that the constants are written in.
        formulas: what each of them stands for: a SymPy symbol; in the tree ``exact`` a formula.
        numbers: the value of each SymPy symbol in the robot, where it is known; those of angles, which are symbols in
            closed forms alone, too.
        spring_constants: (stiffness, rest) by joint.
        exact: the tree that closed forms are made of; ``None`` if it is this.
    """

    p: ca.SX
    formulas: tuple[sympy.Expr, ...]
    numbers: Mapping[str, float]
    spring_constants: Mapping[str, tuple[Any, Any]]
    exact: SymbolicTree | None = field(default=None, repr=False)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("p", "exact")}
        constants: list[ca.SX] = []

        def numbered(constant: ca.SX) -> _Numbered:
            constants.append(constant)
            return _Numbered(len(constants) - 1)

        skeleton = mapped(own, ca.SX, numbered)
        return _restored, (skeleton, ca.Function("constants", [self.p], constants), self.exact)

    @property
    def constants(self) -> Tree:
        return Tree(**{each.name: getattr(self, each.name) for each in fields(Tree)})

    @property
    def symbols(self) -> ca.SX:
        return self.p

    @property
    def symbol_names(self) -> tuple[str, ...]:
        return tuple(str(x) for x in self.formulas)

    @property
    def symbol_values(self) -> Array:
        symbols = sorted({x for each in self.formulas for x in each.free_symbols}, key=str)
        values = sympy.lambdify(symbols, list(self.formulas), "math")
        return np.array(values(*(self.numbers.get(x.name, math.nan) for x in symbols)), dtype=float)

    @property
    def springs(self) -> Mapping[str, tuple[Any, Any]]:
        return self.spring_constants

    @property
    def parameters(self) -> Parameters:
        """Names and values of p, NaN where no value is known; ``parameters.vector({name: value})`` is p in numbers."""
        return parameters_of(self, (), None, 0.0)

    def inputs(self) -> dict[str, Sequence[sympy.Expr]]:
        """The formulas that the entries of the input p stand for."""
        return {"p": self.formulas} if self.formulas else {}

    def dynamics(self, formulation: type[Dynamics], forces: Sequence[Force] | None = None) -> Dynamics:
        """The formulation on this tree, as ``formulation(tree, forces=forces)`` gives it.

        Each of its Functions has p, the values of the symbols, as its last input; ``dyn.parameters`` has their names.

        Args:
            formulation: any formulation, or a subclass of ``Dynamics`` that takes the constants of a tree by
                :func:`gdalembert.spatial.algebra.constant`.
            forces: further force elements.

        Raises:
            ArgumentTypeError: if it is not a formulation.
        """
        if not isinstance(formulation, type) or not issubclass(formulation, Dynamics):
            raise ArgumentTypeError(f"{formulation!r} is not a formulation; give gd.LagrangeEuler, for example")
        return formulation(self, clean=0, forces=forces)


def in_symbols(exact: SymbolicTree, fixed: Collection[str]) -> SymbolicTree:
    """The robot in the symbols that occur in its formulas.

    Args:
        exact: the tree with a symbol for each formula.
        fixed: names of symbols that are numbers here.

    Raises:
        ArgumentError: if a formula has a function that graphs do not have.
    """
    found = dict.fromkeys(x for each in exact.formulas for x in sorted(each.free_symbols, key=str))
    symbols = tuple(x for x in found if x.name not in fixed)
    p = _column(ca.SX.sym(x.name) for x in symbols)
    known = dict(zip(symbols, ca.vertsplit(p), strict=True)) if symbols else {}
    known |= {x: exact.numbers[x.name] for x in found if x.name in fixed}
    values = _column(_in_casadi(each, known, exact.name) for each in exact.formulas)
    own = {name: substituted(x, exact.p, values) for name, x in vars(exact).items() if name not in _SYMBOLS}
    return SymbolicTree(**own, p=p, formulas=symbols, numbers=exact.numbers, exact=exact)


_SYMBOLS = ("p", "formulas", "numbers", "exact")
"""The fields of a SymbolicTree that are about its symbols."""


def _in_casadi(each: sympy.Expr, known: Mapping[sympy.Symbol, Any], robot: str) -> ca.SX:
    """A formula as an expression of CasADi."""
    if unknown := sorted({x.func.__name__ for x in each.atoms(Application)} - set(_CASADI)):
        raise ArgumentError(f"{robot}: the formula {each} has {unknown[0]}, which graphs do not; give it one symbol")
    own = sorted(each.free_symbols, key=str)
    return ca.SX(sympy.lambdify(own, each, [_CASADI])(*(known[x] for x in own)))


def _column(parts: Iterable[ca.SX]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *parts)


@dataclass(frozen=True)
class _Numbered:
    """The place of a constant in a pickle: SX keep their symbols only as outputs of one Function."""

    index: int


def _restored(skeleton: dict[str, Any], function: ca.Function, exact: SymbolicTree | None) -> SymbolicTree:
    formulas = skeleton["formulas"]
    p = _column(ca.SX.sym(str(x)) for x in formulas)
    constants = function.call([p])
    own = mapped(skeleton, _Numbered, lambda place: constants[place.index])
    return SymbolicTree(**own, p=p, exact=exact)
