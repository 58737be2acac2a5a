"""Constants of a robot as formulas, and the tree that has them.

A constant of the graphs is a symbol for each formula, in the tree that closed forms are made of, or an expression in
the symbols that occur in the formulas, which are the parameters p of every Function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import sympy
from sympy.core.function import Application

from gdalembert.dynamics.dynamics import Dynamics, Options
from gdalembert.dynamics.forces import Force
from gdalembert.dynamics.parameters.parameters import Parameters, mapped, parameters_of, substituted
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.flexible.assembly import Flexibility
from gdalembert.model.tree import Tree, TreeOfSymbols
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.interrupts import interruptible
from gdalembert.symbolic.formula import Formula, TrigonometricPolynomial, angle, formula, symbol

AXES = "xyz"
_CASADI = {name: getattr(ca, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sqrt", "exp", "log")}
_CASADI |= {"Abs": ca.fabs, "pi": math.pi}
"""Functions and constants of CasADi, by the names that SymPy writes in formulas."""


@dataclass(frozen=True, eq=False, repr=False)
class ArmParts(Brief):
    """Parts of a flexible arm beside its tree with formulas.

    Attributes:
        kind: the class of the arm.
        rigid: the robot that it was made from, with rigid links and joints, in numbers.
        flexibility: its flexible parts, stiffness and damping with formulas.
        modal_indices: the index of each modal coordinate by its entry of v: ``"12"`` is that of mode 2 of link 1.
        options: the other arguments of the arm.
    """

    kind: type[Dynamics]
    rigid: Tree
    flexibility: Flexibility
    modal_indices: Mapping[int, str]
    options: Options


@interruptible
@dataclass(frozen=True, eq=False)
class SymbolicTree(TreeOfSymbols):
    """A tree whose constants are formulas.

    :func:`~gdalembert.symbolic.symbolic_tree` makes one of a model,
    :func:`~gdalembert.symbolic.from_denavit_hartenberg` of rows. Every formulation takes it.

    Attributes:
        formulas: what each symbol of p stands for: a SymPy symbol; in the tree ``exact`` a formula.
        numbers: the value of each SymPy symbol in the robot, where it is known; those of angles, which are symbols in
            closed forms alone, too.
        spring_constants: (stiffness, rest) by joint.
        exact: the tree that closed forms are made of; ``None`` if it is this.
        arm: what a flexible arm has beside its tree; ``None`` of a robot with rigid links and joints.
    """

    formulas: tuple[sympy.Expr, ...]
    numbers: Mapping[str, float]
    spring_constants: Mapping[str, tuple[Any, Any]]
    exact: SymbolicTree | None = field(default=None, repr=False)
    arm: ArmParts | None = field(default=None, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        attributes = {
            attribute.name: getattr(self, attribute.name)
            for attribute in fields(self)
            if attribute.name not in ("p", "exact")
        }
        constants: list[ca.SX] = []  # SX keep their symbols only as outputs of one Function

        def numbered(constant: ca.SX) -> _Numbered:
            constants.append(constant)
            return _Numbered(len(constants) - 1)

        skeleton = mapped(attributes, ca.SX, numbered)
        return _restored, (skeleton, ca.Function("constants", [self.p], constants), self.exact)

    @property
    def symbol_names(self) -> tuple[str, ...]:
        return tuple(str(x) for x in self.formulas)

    @property
    def symbol_values(self) -> Array:
        symbols = sorted({x for constant in self.formulas for x in constant.free_symbols}, key=str)
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
        """The formulas of the entries of inputs: of p; of q, v and a of an arm, whose modes have f_ij, v_ij, a_ij."""
        names: dict[str, Sequence[sympy.Expr]] = {"p": self.formulas} if self.formulas else {}
        if self.arm is not None:
            modal = self.arm.modal_indices
            for name, letter in zip("qva", "fva", strict=True):
                texts = (f"{letter}_{modal[k]}" if k in modal else f"{name}_{k + 1}" for k in range(self.nv))
                names[name] = tuple(map(symbol, texts))
        return names

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


class _Numbered(int):
    """The place of a constant in a pickle."""


def _restored(skeleton: dict[str, Any], function: ca.Function, exact: SymbolicTree | None) -> SymbolicTree:
    p = column(ca.SX.sym(str(x)) for x in skeleton["formulas"])
    return SymbolicTree(**mapped(skeleton, _Numbered, function.call([p]).__getitem__), p=p, exact=exact)


@dataclass(repr=False)
class Constants(Brief):
    """Formulas as entries of SX matrices: 0, 1 and −1 are numbers, equal formulas share a symbol.

    ``symbols``: the symbol of each formula; ``numbers``: the values of SymPy symbols; ``fixed``: names of those that
    stand for numbers, and are symbols in closed forms alone; ``others``: what numbers of a robot become, "symbols" or
    "numbers".
    """

    symbols: dict[sympy.Expr, ca.SX] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    others: str = "symbols"

    def entry(self, expression: sympy.Expr) -> Any:
        """A number, or an SX symbol with a sign."""
        if expression in (0, 1, -1):
            return float(expression)
        if expression.could_extract_minus_sign():
            return -self.entry(-expression)
        return self.symbols.setdefault(expression, ca.SX.sym(f"p_{len(self.symbols) + 1}"))

    def matrix(self, rows: Sequence[Sequence[sympy.Expr]]) -> ca.SX:
        """A sparse SX matrix from rows of formulas."""
        return ca.sparsify(ca.vertcat(*(ca.horzcat(*(ca.SX(self.entry(x)) for x in row)) for row in rows)))

    def vector(self, entries: Iterable[sympy.Expr]) -> ca.SX:
        """A sparse SX column from formulas."""
        return self.matrix([[x] for x in entries])

    def named(self, name: str, value: float) -> sympy.Expr:
        """A symbol for a number, and 0 for 0."""
        if value == 0:
            return sympy.Integer(0)
        self.numbers[name] = float(value)
        return symbol(name)

    def angle(self, name: str, value: float) -> sympy.Expr:
        """A number that closed forms have as a symbol."""
        self.fixed.add(name)
        return self.named(name, value)

    def number(self, name: str, value: float) -> sympy.Expr:
        """A number of a robot, or a symbol for it."""
        return self.named(name, value) if self.others == "symbols" else formula(float(value))

    def rotation(self, axis: str, by: Formula, name: str, context: str) -> sympy.Matrix:
        """The exact rotation (3 × 3) about x, y or z; a number that is not a multiple of π/2 gets a symbol."""
        x = angle(by)
        if x.is_number and x.is_real:
            right = (2 * x / sympy.pi).is_Integer
            return turned_about(axis, x if right else self.angle(name, float(x)))
        try:
            TrigonometricPolynomial.of(sympy.sin(x))
        except UnsupportedError:
            reason = f"{by!r} is not a sum of whole multiples of symbols and right angles; give it one symbol"
            raise ArgumentError(f"{context}: {reason}, as {name!r}") from None
        return turned_about(axis, x)

    def tree(
        self, tree: Tree, springs: Mapping[str, tuple[ca.SX, ca.SX]] | None = None, arm: ArmParts | None = None
    ) -> SymbolicTree:
        """The robot, whose entries are made here, in the symbols that occur in its formulas."""
        exact = SymbolicTree(
            **vars(tree),
            p=column(self.symbols.values()),
            formulas=tuple(self.symbols),
            numbers=self.numbers,
            spring_constants=springs or {},
            arm=arm,
        )
        coordinates = {x.name for name, entries in exact.inputs().items() if name != "p" for x in entries}
        if taken := coordinates & {x.name for constant in exact.formulas for x in constant.free_symbols}:
            raise ArgumentError(f"{tree.name}: {min(taken)} is a coordinate or rate of the arm; rename that symbol")
        occurring = dict.fromkeys(x for constant in exact.formulas for x in sorted(constant.free_symbols, key=str))
        symbols = tuple(x for x in occurring if x.name not in self.fixed)
        p = column(ca.SX.sym(x.name) for x in symbols)
        known = dict(zip(symbols, ca.vertsplit(p), strict=True)) if symbols else {}
        known |= {x: self.numbers[x.name] for x in occurring if x.name in self.fixed}
        values = column(_in_casadi(constant, known, exact.name) for constant in exact.formulas)
        about_symbols = ("p", "formulas", "numbers", "exact")
        attributes = {
            name: substituted(x, exact.p, values) for name, x in vars(exact).items() if name not in about_symbols
        }
        return SymbolicTree(**attributes, p=p, formulas=symbols, numbers=self.numbers, exact=exact)


def _in_casadi(constant: sympy.Expr, known: Mapping[sympy.Symbol, Any], robot: str) -> ca.SX:
    """A formula as an expression of CasADi."""
    if unknown := sorted({x.func.__name__ for x in constant.atoms(Application)} - set(_CASADI)):
        raise ArgumentError(
            f"{robot}: the formula {constant} has {unknown[0]}, which graphs do not; give it one symbol"
        )
    unknowns = sorted(constant.free_symbols, key=str)
    return ca.SX(sympy.lambdify(unknowns, constant, [_CASADI])(*(known[x] for x in unknowns)))


def column(parts: Iterable[ca.SX]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *parts)


def turned_about(axis: str, x: sympy.Expr) -> sympy.Matrix:
    """The rotation (3 × 3) about x, y or z by an angle [rad]."""
    rotations = (sympy.rot_ccw_axis1, sympy.rot_ccw_axis2, sympy.rot_ccw_axis3)
    return rotations[AXES.index(axis)](x)


def rotation_formula(r: Array, i: str, named: Callable[[str, float], sympy.Expr]) -> sympy.Matrix:
    """A rotation (3 × 3), exact by right angles; others have ``beta_i`` or ``roll_i``, ``pitch_i``, ``yaw_i``."""
    if np.all(np.isin(r, (-1, 0, 1))):
        return sympy.Matrix(3, 3, [int(x) for x in r.ravel()])
    for k, axis in enumerate(AXES):
        if r[k, k] == 1:
            a, b = (k + 1) % 3, (k + 2) % 3
            return turned_about(axis, named(f"beta_{i}", math.atan2(r[b, a], r[a, a])))
    parts = zip("zyx", ("yaw", "pitch", "roll"), pin.rpy.matrixToRpy(r)[::-1], strict=True)
    z, y, x = (turned_about(axis, named(f"{name}_{i}", value)) for axis, name, value in parts)
    return z * y * x
