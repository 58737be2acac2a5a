"""Formulas that users give for constants, and trigonometric polynomials in a unique form that decides equality.

A constant is a number, a name, a formula in a string, or a SymPy expression.

Every product of sines and cosines is a sum of sines and cosines of multiple angles, and those are linearly independent:
a polynomial in symbols x, cos x and sin x is, in exactly one way, a sum

    Σ c(x) cos(k·x) + Σ s(x) sin(k·x),      c, s polynomials with rational coefficients,

over integer vectors k whose first nonzero entry is positive. Two expressions are equal if and only if these sums are.
A symbol may stand both inside and outside of a sine.

For speed all coefficients are integers over one denominator. Waves are kept doubled (2 cos, 2 sin), so that a product
of two is a sum of two without a half. Vectors k and the powers of monomials are packed into integers, 32 bits for each
name, so that adding vectors is adding integers; the sign of a packed k is that of one of its entries.
"""

from __future__ import annotations

import ast
import math
import numbers
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import sympy
from sympy.parsing.sympy_parser import parse_expr, rationalize, standard_transformations

from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, UnsupportedError, shown
from gdalembert.model.rounding import CLEANED

Angle: TypeAlias = tuple[tuple[str, int], ...]
"""k·x: names and their factors, sorted by name; the first factor is positive, none is zero."""
Wave: TypeAlias = tuple[bool, Angle]
"""sin(k·x) if true, else cos(k·x); (False, ()) is 1."""
Monomial: TypeAlias = tuple[tuple[str, int], ...]
"""Names and powers, sorted by name; no power is zero."""

_Integers: TypeAlias = dict[int, int]
"""Coefficients by packed monomial."""
_Waves: TypeAlias = dict[tuple[bool, int], _Integers]
"""Integers by sine (or cosine) and packed angle, which is positive."""

_ONE: tuple[bool, int] = (False, 0)
_BITS = 32
_LARGEST = 99
"""Largest power, and largest factor of an angle; far from what 32 bits hold, and what takes no time to raise to."""
_PLACES: dict[str, int] = {}
"""The place of each name in a packed vector."""
Formula: TypeAlias = float | str | sympy.Expr
Vector: TypeAlias = Sequence[Formula] | npt.NDArray[Any] | sympy.MatrixBase | sympy.Tuple
_FUNCTIONS = {"sin": sympy.sin, "cos": sympy.cos, "sqrt": sympy.sqrt, "pi": sympy.pi}
_CONSTRUCTORS = {"Integer": sympy.Integer, "Float": sympy.Float, "Rational": sympy.Rational}
_RIGHT_ANGLE = math.pi / 2


def symbol(name: str) -> sympy.Symbol:
    """The real SymPy symbol of this name; all symbols of the package are real."""
    return sympy.Symbol(_name(name), real=True)


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise ArgumentTypeError(f"symbol: got {shown(name)}; give a name")
    return name


def rational(x: float) -> Fraction:
    """The fraction that x stands for: with a denominator up to a million within 4 ulp of x, or else x as it prints."""
    simple = Fraction(x).limit_denominator(1_000_000)
    near = simple and abs(simple - Fraction(x)) <= 4 * Fraction(math.ulp(x))
    return simple if near else Fraction(repr(float(x)))


class TrigonometricPolynomial:
    """A polynomial in symbols and in sines and cosines of symbols, in its unique form; immutable.

    ``+ - *``, powers, and division by numbers give another one; ``==`` decides equality. The other operand may be a
    number or a SymPy expression; symbols are told apart by their names alone. Anything else is not equal to it.
    """

    __slots__ = ("_denominator", "_waves")
    # SymPy's expand and TR8 take 0.10 s for the first entry of D of puma560_3; D, h and c take 0.03 s in this form.
    # Polynomials of sympy.polys.rings, whose monomials are tuples, would save few lines: `terms` needs the waves.
    # From the robot to M of puma560 and to g of panda7 they take, in multiples of the time with packed integers:
    #   in sin x and cos x with sin² x = 1 − cos² x:    2.0 and 0.6 (253 terms, which are 2,316 of waves)
    #   as coefficients of the waves:                   2.2 and 2.5
    #   in exp(i x) over the Gaussian rationals:        7.8 and 5.1

    def __init__(self, waves: _Waves, denominator: int = 1) -> None:
        """Polynomial of packed coefficients of doubled waves, without zeros; users call :meth:`of`."""
        common = math.gcd(denominator, *(c for integers in waves.values() for c in integers.values()))
        if common > 1:
            waves = {wave: {m: c // common for m, c in integers.items()} for wave, integers in waves.items()}
        self._waves, self._denominator = waves, denominator // common

    @staticmethod
    def of(value: object) -> TrigonometricPolynomial:
        """The unique form of a number or of a SymPy expression.

        Raises:
            ArgumentTypeError: if it is neither.
            ArgumentError: if a number is not finite.
            UnsupportedError: if the expression is not a trigonometric polynomial; the message names the part.
        """
        if isinstance(value, TrigonometricPolynomial):
            return value
        if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
            if not math.isfinite(value):
                raise ArgumentError(f"{value!r} is not finite; give a finite number")
            value = rational(float(value))
        if isinstance(value, numbers.Rational):
            numerator, denominator = int(value.numerator), int(value.denominator)
            return TrigonometricPolynomial({_ONE: {0: numerator}} if numerator else {}, denominator)
        if isinstance(value, sympy.Expr):
            return _of_sympy(value)
        raise ArgumentTypeError(f"{shown(value)} is not a formula; give a number or a SymPy expression")

    @staticmethod
    def symbol(name: str) -> TrigonometricPolynomial:
        """A symbol alone."""
        return TrigonometricPolynomial({_ONE: {_packed(_name(name), 1): 1}})

    @property
    def terms(self) -> dict[Wave, dict[Monomial, Fraction]]:
        """The sum: coefficients by sine or cosine, and by monomial."""
        names = list(_PLACES)
        terms: dict[Wave, dict[Monomial, Fraction]] = {}
        for (sine, packed), integers in self._waves.items():
            angle = _unpacked(packed, names)
            flipped = bool(angle) and angle[0][1] < 0
            factor = 1 if not angle else -2 if sine and flipped else 2
            angle = tuple((name, -k) for name, k in angle) if flipped else angle
            terms[sine, angle] = {
                _unpacked(m, names): Fraction(factor * c, self._denominator) for m, c in integers.items()
            }
        return terms

    def __len__(self) -> int:
        """The number of terms: monomial times sine or cosine."""
        return sum(len(integers) for integers in self._waves.values())

    def __bool__(self) -> bool:
        return bool(self._waves)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TrigonometricPolynomial | sympy.Expr | numbers.Real):
            return NotImplemented
        try:
            other = TrigonometricPolynomial.of(other)
        except GdalembertError:
            return False
        return self._denominator == other._denominator and self._waves == other._waves

    def __hash__(self) -> int:
        if (number := self.as_number()) is not None:
            return hash(number)
        return hash(frozenset((wave, frozenset(integers.items())) for wave, integers in self._waves.items()))

    def __reduce__(self) -> tuple[Callable[[object], TrigonometricPolynomial], tuple[sympy.Expr]]:
        """Pickled as a formula, because packed integers mean something in one process only."""
        return TrigonometricPolynomial.of, (self.to_sympy(),)

    def __repr__(self) -> str:
        return str(self.to_sympy())

    def __neg__(self) -> TrigonometricPolynomial:
        return self._scaled(-1, 1)

    def __add__(self, other: object) -> TrigonometricPolynomial:
        other = TrigonometricPolynomial.of(other)
        denominator = math.lcm(self._denominator, other._denominator)
        factor = denominator // self._denominator
        total = {wave: {m: c * factor for m, c in integers.items()} for wave, integers in self._waves.items()}
        for wave, integers in other._waves.items():
            _accumulate(total, wave, integers, denominator // other._denominator)
        return TrigonometricPolynomial(total, denominator)

    def __sub__(self, other: object) -> TrigonometricPolynomial:
        return self + -TrigonometricPolynomial.of(other)

    def __rsub__(self, other: object) -> TrigonometricPolynomial:
        return -self + other

    def __mul__(self, other: object) -> TrigonometricPolynomial:
        other = TrigonometricPolynomial.of(other)
        total: _Waves = {}
        for wave_b, b in other._waves.items():
            for wave_a, a in self._waves.items():
                product = _product(a, b)
                for wave, factor in _wave_product(wave_a, wave_b):
                    _accumulate(total, wave, product, factor)
        return TrigonometricPolynomial(total, self._denominator * other._denominator)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: object) -> TrigonometricPolynomial:
        divisor = TrigonometricPolynomial.of(other)
        if not divisor:
            raise ZeroDivisionError("division of a trigonometric polynomial by 0")
        if (number := divisor.as_number()) is None:
            raise UnsupportedError(f"division by {divisor}: the result is not a trigonometric polynomial")
        return self._scaled(number.denominator, number.numerator)

    def __pow__(self, exponent: int) -> TrigonometricPolynomial:
        if exponent != int(exponent) or not 0 <= exponent <= _LARGEST:
            raise UnsupportedError(f"the power {exponent} of {self}: only 0, 1, … {_LARGEST} can be multiplied out")
        return math.prod([self] * int(exponent), start=TrigonometricPolynomial.of(1))

    def cos(self) -> TrigonometricPolynomial:
        """The cosine of a sum of whole multiples of symbols.

        Raises:
            UnsupportedError: if this polynomial is not such a sum.
        """
        angle = abs(self._as_angle("cos"))
        return TrigonometricPolynomial({(False, angle): {0: 1}}, 2 if angle else 1)

    def sin(self) -> TrigonometricPolynomial:
        """The sine of a sum of whole multiples of symbols.

        Raises:
            UnsupportedError: if this polynomial is not such a sum.
        """
        angle = self._as_angle("sin")
        return TrigonometricPolynomial({(True, abs(angle)): {0: 1 if angle > 0 else -1}} if angle else {}, 2)

    def as_number(self) -> Fraction | None:
        """Value of the polynomial if it has no symbols, else ``None``."""
        if not self._waves:
            return Fraction(0)
        constant = self._waves.get(_ONE, {})
        return Fraction(constant[0], self._denominator) if len(self) == 1 and 0 in constant else None

    def to_sympy(self) -> sympy.Expr:
        """The sum as it stands, Σ c cos(k·x) + Σ s sin(k·x), in real SymPy symbols."""
        return sympy.Add(*(polynomial_to_sympy(p) * wave_to_sympy(wave) for wave, p in sorted(self.terms.items())))

    def _scaled(self, numerator: int, denominator: int) -> TrigonometricPolynomial:
        if denominator < 0:
            numerator, denominator = -numerator, -denominator
        waves = {wave: {m: c * numerator for m, c in integers.items()} for wave, integers in self._waves.items()}
        return TrigonometricPolynomial(waves, self._denominator * denominator)

    def _as_angle(self, function: str) -> int:
        """The packed vector k if this is k·x."""
        symbols = {_packed(name, 1) for name in _PLACES}
        linear = self._waves.get(_ONE, {})
        is_linear = self._waves.keys() <= {_ONE} and linear.keys() <= symbols and self._denominator == 1
        if is_linear and all(abs(k) <= _LARGEST for k in linear.values()):
            return sum(k * one for one, k in linear.items())
        raise UnsupportedError(
            f"{function}({self}): the argument is not a sum of whole multiples of symbols; write it as one symbol"
        )


def polynomial_to_sympy(polynomial: Mapping[Monomial, Fraction]) -> sympy.Expr:
    """The polynomial in real SymPy symbols."""
    return sympy.Add(*(sympy.Rational(c) * monomial_to_sympy(monomial) for monomial, c in sorted(polynomial.items())))


def monomial_to_sympy(monomial: Monomial) -> sympy.Expr:
    """The product of powers in real SymPy symbols."""
    return sympy.Mul(*(symbol(name) ** power for name, power in monomial))


def wave_to_sympy(wave: Wave) -> sympy.Expr:
    """sin(k·x) or cos(k·x) in real SymPy symbols."""
    sine, angle = wave
    argument = sympy.Add(*(k * symbol(name) for name, k in angle))
    return sympy.sin(argument) if sine else sympy.cos(argument)


def _packed(name: str, number: int) -> int:
    """The packed vector with this number for this name, and zeros."""
    return number << _BITS * _PLACES.setdefault(name, len(_PLACES))


def _unpacked(packed: int, names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """The nonzero entries of a packed vector by name, sorted by name."""
    numbers_by_name = []
    for name in names:
        if not packed:
            break
        number = packed & (1 << _BITS) - 1
        if number >> _BITS - 1:
            number -= 1 << _BITS
        if number:
            numbers_by_name.append((name, number))
        packed = (packed - number) >> _BITS
    return tuple(sorted(numbers_by_name))


def _wave_product(one: tuple[bool, int], other: tuple[bool, int]) -> tuple[tuple[tuple[bool, int], int], ...]:
    """The product of two doubled waves as a sum: doubled waves with factors."""
    (sine_a, a), (sine_b, b) = one, other
    if not a or not b:
        return ((other if not a else one, 1),)
    total, difference = a + b, a - b
    if sine_a == sine_b:
        of_total = (False, total), -1 if sine_a else 1
        return ((False, abs(difference)), 1) if difference else (_ONE, 2), of_total
    of_total = (True, total), 1
    if not difference:
        return (of_total,)
    return of_total, ((True, abs(difference)), 1 if sine_a == (difference > 0) else -1)


def _product(a: _Integers, b: _Integers) -> _Integers:
    product: _Integers = {}
    for x, c in a.items():
        for y, d in b.items():
            product[x + y] = product.get(x + y, 0) + c * d
    return product


def _accumulate(total: _Waves, wave: tuple[bool, int], integers: _Integers, factor: int) -> None:
    """Add a multiple of ``integers`` to those of ``wave``, without keeping zeros."""
    here = total.setdefault(wave, {})
    for monomial, c in integers.items():
        if value := here.get(monomial, 0) + c * factor:
            here[monomial] = value
        else:
            here.pop(monomial, None)
    if not here:
        del total[wave]


def _of_sympy(x: sympy.Expr) -> TrigonometricPolynomial:
    parts = map(_of_sympy, x.args)
    match x:
        case sympy.Symbol():
            return TrigonometricPolynomial.symbol(x.name)
        case sympy.Rational():
            return TrigonometricPolynomial.of(Fraction(int(x.p), int(x.q)))
        case sympy.Float():
            return TrigonometricPolynomial.of(float(x))
        case sympy.Add():
            return sum(parts, TrigonometricPolynomial({}))
        case sympy.Mul():
            return math.prod(parts, start=TrigonometricPolynomial.of(1))
        case sympy.Pow() if x.exp.is_Integer and x.exp >= 0:
            return next(parts) ** int(x.exp)
        case sympy.sin():
            return next(parts).sin()
        case sympy.cos():
            return next(parts).cos()
    raise UnsupportedError(f"{x}: is not a polynomial in symbols, sines and cosines")


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
        exact = value.replace(lambda x: isinstance(x, sympy.Float), lambda x: sympy.Rational(rational(float(x))))
        return exact.xreplace({x: symbol(x.name) for x in exact.free_symbols if isinstance(x, sympy.Symbol)})
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise ArgumentError(f"{shown(value)} is not finite; give a finite number or a name")
        return sympy.Rational(rational(number))
    raise ArgumentTypeError(f"{shown(value)}: give a number, a name, a formula in a string, or a SymPy expression")


def angle(value: Formula) -> sympy.Expr:
    """The formula of an angle [rad]; a number within 1e-11 of a multiple of π/2 is that multiple."""
    meant = formula(value)
    if meant.is_number and meant.is_real:
        turns = round(float(meant) / _RIGHT_ANGLE)
        if abs(float(meant) - turns * _RIGHT_ANGLE) <= CLEANED:
            return turns * sympy.pi / 2
    return meant


def formulas(values: Vector | Formula, length: int, argument: str) -> list[sympy.Expr]:
    """``length`` formulas from a sequence, an array, a SymPy matrix, or a single formula."""
    entries: list[Any] = [values]
    if isinstance(values, np.ndarray):
        entries = values.ravel().tolist()
    elif isinstance(values, Sequence | sympy.MatrixBase | sympy.Tuple) and not isinstance(values, str):
        entries = list(values)
    if len(entries) != length:
        raise ArgumentError(f"{argument}: has {length} entries, got {len(entries)}: {shown(values)}")
    return [formula(x) for x in entries]


def _parsed(text: str) -> sympy.Expr:
    if text.isidentifier() and text not in _FUNCTIONS:
        return symbol(text)
    try:
        if not re.fullmatch(r"[\w\s+\-*/().]+", text):
            raise ValueError
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
        for power in nodes:  # exponents that would take forever
            if isinstance(power, ast.BinOp) and isinstance(power.op, ast.Pow):
                inside = list(ast.walk(power.right))
                constants = [x.value for x in inside if isinstance(x, ast.Constant)]
                size = math.prod(max(1.0, abs(x)) for x in constants if isinstance(x, int | float))
                if size > _LARGEST or any(isinstance(x, ast.Pow) for x in inside):
                    raise ArgumentError(
                        f"{text!r}: its exponent {ast.unparse(power.right)} is above {_LARGEST}; "
                        "write the number that it stands for, or a name"
                    )
        names = {node.id for node in nodes if isinstance(node, ast.Name)} - set(_FUNCTIONS)
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
