"""Trigonometric polynomials in a unique form that decides equality.

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

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import sympy

from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, UnsupportedError

Angle: TypeAlias = tuple[tuple[str, int], ...]
"""k·x: names and their factors, sorted by name; the first factor is positive, none is zero."""
Wave: TypeAlias = tuple[bool, Angle]
"""sin(k·x) if true, else cos(k·x); (False, ()) is 1."""
Monomial: TypeAlias = tuple[tuple[str, int], ...]
"""Names and powers, sorted by name; no power is zero."""

_Integers: TypeAlias = dict[int, int]
"""Coefficients by packed monomial."""
_Waves: TypeAlias = dict[tuple[bool, int], _Integers]
"""Those by sine (or cosine) and packed angle, which is positive."""

_ONE: tuple[bool, int] = (False, 0)
_BITS = 32
_LARGEST = 99
"""Largest power, and largest factor of an angle; far from what 32 bits hold."""
_PLACES: dict[str, int] = {}
"""The place of each name in a packed vector."""


def symbol(name: str) -> sympy.Symbol:
    """The real SymPy symbol of this name; all symbols of the package are real."""
    return sympy.Symbol(name, real=True)


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

    def __init__(self, waves: _Waves, denominator: int = 1) -> None:
        """From packed coefficients of doubled waves, without zeros; users call :meth:`of`."""
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
        raise ArgumentTypeError(f"{value!r} is not a formula; give a number or a SymPy expression")

    @staticmethod
    def symbol(name: str) -> TrigonometricPolynomial:
        """A symbol alone."""
        return TrigonometricPolynomial({_ONE: {_packed(name, 1): 1}})

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

    def __reduce__(self) -> tuple[Callable[..., TrigonometricPolynomial], tuple[object]]:
        """By names, because packed integers mean something in one process only."""
        return _from_terms, (self.terms,)

    def __repr__(self) -> str:
        return str(self.to_sympy())

    def __neg__(self) -> TrigonometricPolynomial:
        return self._scaled(-1, 1)

    def __add__(self, other: object) -> TrigonometricPolynomial:
        return self._plus(TrigonometricPolynomial.of(other), 1)

    def __sub__(self, other: object) -> TrigonometricPolynomial:
        return self._plus(TrigonometricPolynomial.of(other), -1)

    def __rsub__(self, other: object) -> TrigonometricPolynomial:
        return TrigonometricPolynomial.of(other) - self

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
        result = TrigonometricPolynomial.of(1)
        for _ in range(int(exponent)):
            result = result * self
        return result

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
        """Its value if it has no symbols, else ``None``."""
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

    def _plus(self, other: TrigonometricPolynomial, sign: int) -> TrigonometricPolynomial:
        denominator = math.lcm(self._denominator, other._denominator)
        own, others = denominator // self._denominator, sign * denominator // other._denominator
        total = {wave: {m: c * own for m, c in integers.items()} for wave, integers in self._waves.items()}
        for wave, integers in other._waves.items():
            _accumulate(total, wave, integers, others)
        return TrigonometricPolynomial(total, denominator)

    def _as_angle(self, function: str) -> int:
        """The packed vector k if this is k·x."""
        symbols = {_packed(name, 1): name for name in _PLACES}
        linear = self._waves.get(_ONE, {})
        if (
            self._waves.keys() <= {_ONE}
            and linear.keys() <= symbols.keys()
            and self._denominator == 1
            and all(abs(k) <= _LARGEST for k in linear.values())
        ):
            return sum(k * one for one, k in linear.items())
        raise UnsupportedError(
            f"{function}({self}): the argument is not a sum of whole multiples of symbols; write it as one symbol"
        )


def polynomial_to_sympy(polynomial: Mapping[Monomial, Fraction]) -> sympy.Expr:
    """The polynomial in real SymPy symbols."""
    return sympy.Add(*(_number(c) * monomial_to_sympy(monomial) for monomial, c in sorted(polynomial.items())))


def monomial_to_sympy(monomial: Monomial) -> sympy.Expr:
    """The product of powers in real SymPy symbols."""
    return sympy.Mul(*(symbol(name) ** power for name, power in monomial))


def wave_to_sympy(wave: Wave) -> sympy.Expr:
    """sin(k·x) or cos(k·x) in real SymPy symbols."""
    sine, angle = wave
    argument = sympy.Add(*(k * symbol(name) for name, k in angle))
    return sympy.sin(argument) if sine else sympy.cos(argument)


def _number(x: Fraction) -> sympy.Rational:
    return sympy.Rational(x.numerator, x.denominator)


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


def _from_terms(terms: Mapping[Wave, Mapping[Monomial, Fraction]]) -> TrigonometricPolynomial:
    """The polynomial that has these terms."""
    denominator = 2 * math.lcm(*(c.denominator for polynomial in terms.values() for c in polynomial.values()))
    waves: _Waves = {}
    for (sine, angle), polynomial in terms.items():
        packed = sum(_packed(*each) for each in angle)
        factor = denominator if not angle else -denominator // 2 if sine and packed < 0 else denominator // 2
        waves[sine, abs(packed)] = {sum(_packed(*each) for each in m): int(c * factor) for m, c in polynomial.items()}
    return TrigonometricPolynomial(waves, denominator)


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


def _of_sympy(expression: sympy.Expr) -> TrigonometricPolynomial:
    if isinstance(expression, sympy.Symbol):
        return TrigonometricPolynomial.symbol(expression.name)
    if isinstance(expression, sympy.Rational):
        return TrigonometricPolynomial.of(Fraction(int(expression.p), int(expression.q)))
    if isinstance(expression, sympy.Float):
        return TrigonometricPolynomial.of(float(expression))
    rule = _RULES.get(expression.func)
    if rule is None:
        raise UnsupportedError(f"{expression}: is not a polynomial in symbols, sines and cosines")
    return rule(*expression.args)


def _sum(*parts: sympy.Expr) -> TrigonometricPolynomial:
    return sum((_of_sympy(part) for part in parts), TrigonometricPolynomial({}))


def _multiplied(*parts: sympy.Expr) -> TrigonometricPolynomial:
    result = TrigonometricPolynomial.of(1)
    for part in parts:
        result = result * _of_sympy(part)
    return result


def _power(base: sympy.Expr, exponent: sympy.Expr) -> TrigonometricPolynomial:
    if not exponent.is_Integer or exponent < 0:
        raise UnsupportedError(f"{base}**({exponent}): is not a polynomial in symbols, sines and cosines")
    return _of_sympy(base) ** int(exponent)


_RULES: dict[object, Callable[..., TrigonometricPolynomial]] = {
    sympy.Add: _sum,
    sympy.Mul: _multiplied,
    sympy.Pow: _power,
    sympy.sin: lambda x: _of_sympy(x).sin(),
    sympy.cos: lambda x: _of_sympy(x).cos(),
}
