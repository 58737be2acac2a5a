"""What a user may give for a constant: a number, a name, a formula in a string, or a SymPy expression."""

from __future__ import annotations

import ast
import io
import math
import numbers
import re
import tokenize
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import sympy
from sympy.parsing.sympy_parser import parse_expr, rationalize, standard_transformations

from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.rounding import CLEANED
from gdalembert.symbolic.trigonometric import rational, symbol

Formula: TypeAlias = float | str | sympy.Expr
Vector: TypeAlias = Sequence[Formula] | npt.NDArray[Any] | sympy.MatrixBase | sympy.Tuple

_FUNCTIONS = {"sin": sympy.sin, "cos": sympy.cos, "sqrt": sympy.sqrt, "pi": sympy.pi}
_CONSTRUCTORS = {"Integer": sympy.Integer, "Float": sympy.Float, "Rational": sympy.Rational}
_RIGHT_ANGLE = math.pi / 2
_LARGEST_EXPONENT = 99


def formula(value: Formula) -> sympy.Expr:
    """The SymPy expression that was meant: exact, without floating-point numbers, in real symbols.

    A string is read as a formula, in which every name but sin, cos, sqrt and pi is a symbol: ``"m_2*l_2**2/12"``.
    0.1 is 1/10.

    Raises:
        ArgumentTypeError: if it is not of these types.
        ArgumentError: if a number is not finite, or a string is not a formula or has exponents above 99.
    """
    if isinstance(value, str):
        return _parsed(value)
    if isinstance(value, sympy.Expr):
        exact = value.replace(lambda x: isinstance(x, sympy.Float), lambda x: _number(float(x)))
        return exact.xreplace({x: symbol(x.name) for x in exact.free_symbols if isinstance(x, sympy.Symbol)})
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise ArgumentError(f"{value!r} is not finite; give a finite number or a name")
        return _number(float(value))
    raise ArgumentTypeError(f"{value!r}: give a number, a name, a formula in a string, or a SymPy expression")


def angle(value: Formula) -> sympy.Expr:
    """The formula of an angle [rad]; a number within 1e-11 of a multiple of π/2 is that multiple."""
    meant = formula(value)
    if meant.is_number and meant.is_real:
        turns = round(float(meant) / _RIGHT_ANGLE)
        if abs(float(meant) - turns * _RIGHT_ANGLE) <= CLEANED:
            return turns * sympy.pi / 2
    return meant


def formulas(values: Vector | Formula, length: int, what: str) -> list[sympy.Expr]:
    """``length`` formulas from a sequence, an array, a SymPy matrix, or a single formula.

    Raises:
        ArgumentError: if there are more or fewer of them.
    """
    entries: list[Any] = [values]
    if isinstance(values, np.ndarray):
        entries = values.ravel().tolist()
    elif isinstance(values, Sequence | sympy.MatrixBase | sympy.Tuple) and not isinstance(values, str):
        entries = list(values)
    if len(entries) != length:
        raise ArgumentError(f"{what}: has {length} entries, got {len(entries)}: {values!r}")
    return [formula(x) for x in entries]


def _number(x: float) -> sympy.Rational:
    meant = rational(x)
    return sympy.Rational(meant.numerator, meant.denominator)


def _parsed(text: str) -> sympy.Expr:
    if text.isidentifier() and text not in _FUNCTIONS:
        return symbol(text)
    try:
        if not re.fullmatch(r"[\w\s+\-*/().]+", text):
            raise ValueError
        _check_exponents(text)
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        names = {token.string for token in tokens if token.type == tokenize.NAME} - set(_FUNCTIONS)
        parsed = parse_expr(
            text,
            local_dict={name: symbol(name) for name in names},
            global_dict=_FUNCTIONS | _CONSTRUCTORS,
            transformations=(*standard_transformations, rationalize),
        )
    except ArgumentError:
        raise
    except Exception:
        parsed = None
    if not isinstance(parsed, sympy.Expr):
        raise ArgumentError(f"{text!r} is not a formula; write it as 'm_2*l_2**2/12'")
    return parsed


def _check_exponents(text: str) -> None:
    """Refuse exponents that would take forever: with powers in them, or with numbers whose product is above 99."""
    for power in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(power, ast.BinOp) and isinstance(power.op, ast.Pow):
            inside = list(ast.walk(power.right))
            sizes = [
                max(1.0, abs(x.value))
                for x in inside
                if isinstance(x, ast.Constant) and isinstance(x.value, int | float)
            ]
            if math.prod(sizes) > _LARGEST_EXPONENT or any(isinstance(x, ast.Pow) for x in inside):
                raise ArgumentError(
                    f"{text!r}: its exponent {ast.unparse(power.right)} is above {_LARGEST_EXPONENT}; "
                    "write the number that it stands for, or a name"
                )
