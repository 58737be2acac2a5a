"""SymPy expressions as LaTeX, in pieces between which a line may be broken.

The formulas are sums and products of symbols, numbers, sines and cosines. Parentheses do not grow, so that a line can
be broken inside of them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import TypeAlias

import sympy

Piece: TypeAlias = tuple[str, int]
"""A summand with its sign, and the number of parentheses around it; a line may be broken before it."""

_BREAK = "\n"
"""Marks a place in a text where a line may be broken."""
_LONGEST_FRACTION = 100
_MOTION = re.compile(r"[va]_\d+")
_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[_^]\{|.", re.DOTALL)
_WIDE = frozenset("mwMWDHGCNUVABEKO")
_WIDTHS = {r"\cos": 14.0, r"\sin": 13.0, r"\mathrm": 0.0, r"\frac": 3.0, r"\cdot": 7.3, " ": 0.0}
_WIDTHS |= (
    {r"\quad": 10.0, r"\qquad": 20.0} | dict.fromkeys("+-=", 12.5) | dict.fromkeys("()", 3.9) | {",": 2.8, ".": 2.8}
)


class Printer:
    """Writes formulas as LaTeX.

    Args:
        shorthand: symbols such as c_23, which are upright, so that they are not mistaken for lengths.

    Attributes:
        rounded: whether a number was rounded.
    """

    def __init__(self, shorthand: frozenset[sympy.Symbol] = frozenset()) -> None:
        self.shorthand = shorthand
        self.rounded = False

    def text(self, expression: sympy.Expr) -> str:
        """The formula in one piece."""
        return self._sum(expression).replace(_BREAK, "")

    def pieces(self, expression: sympy.Expr) -> list[Piece]:
        """The summands of an expression, also those of sums in parentheses."""
        found: list[Piece] = []
        depth = 0
        for text in self._sum(expression).split(_BREAK):
            found.append((text, depth))
            depth += text.count("(") - text.count(")")
        return found

    def decimal(self, x: float) -> str:
        """Six significant digits."""
        text = f"{float(x):.6g}"
        self.rounded |= float(text) != float(x)
        mantissa, _, exponent = text.partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa

    def _sum(self, expression: sympy.Expr) -> str:
        """The terms, a positive one first, with a break before each of the others."""
        terms = [term.as_coeff_Mul() for term in expression.as_ordered_terms()]
        first = next((k for k, (number, _) in enumerate(terms) if number > 0), 0)
        text = ""
        for number, rest in (terms[first], *terms[:first], *terms[first + 1 :]):
            sign = "-" if number < 0 else "+" if text else ""
            text += f"{_BREAK} {sign} " if text else sign
            text += self._product(abs(number), rest)
        return text

    def _product(self, number: sympy.Expr, rest: sympy.Expr) -> str:
        factors = sorted(sympy.Mul.make_args(rest) if rest != 1 else (), key=self._order)
        if number.is_Rational and number.q > _LONGEST_FRACTION and factors and factors[-1].is_Add:
            factors[-1] = sympy.Add(*(number * term for term in factors[-1].args))
            number = sympy.Integer(1)
        text = "" if number == 1 and factors else self._number(number)
        for factor in factors:
            base, exponent = factor.as_base_exp()
            power = "" if exponent == 1 else f"^{{{exponent}}}"
            if base.is_Add:
                text += f"({self._sum(base)}){power}"
            else:
                text += (" " if text else "") + self._factor(base, power)
        return text

    def _factor(self, base: sympy.Expr, power: str) -> str:
        if isinstance(base, sympy.sin | sympy.cos):
            argument = self.text(base.args[0])
            return rf"\{base.func.__name__}{power} " + (argument if base.args[0].is_Symbol else f"({argument})")
        if base.is_Symbol:
            return f"{symbol(base, upright=base in self.shorthand)}{power}"
        return rf"{sympy.latex(base)}{power}"

    def _number(self, number: sympy.Expr) -> str:
        """Fractions such as 1/2 and 1/12, but decimals such as 0.05."""
        if number.is_Integer:
            return str(number)
        if number.is_Rational and number.q <= _LONGEST_FRACTION:
            exact = sympy.Rational(f"{float(number):.6g}") == number
            if number.q < 10 or not exact:
                return rf"\frac{{{number.p}}}{{{number.q}}}"
        return self.decimal(float(number))

    def _order(self, factor: sympy.Expr) -> tuple[int, str]:
        """The key that sorts factors: masses, other symbols, sines and cosines, velocities, sums."""
        base = factor.as_base_exp()[0]
        if base.is_Add:
            return 4, str(base)
        if isinstance(base, sympy.sin | sympy.cos) or base in self.shorthand:
            return 2, str(base)
        name = str(base)
        return (3 if _MOTION.fullmatch(name) else 0 if name.startswith("m_") else 1), name


@functools.cache
def symbol(x: sympy.Symbol, *, upright: bool = False) -> str:
    """The symbol with its index: ``I_act_1`` is I_{act,1}."""
    letter, _, index = x.name.partition("_")
    if upright:
        letter = rf"\mathrm{{{letter}}}"
        if not re.fullmatch(r"[\d_]+", index):
            return f"{letter}_{{{symbol(sympy.Symbol(index))}}}"
    elif len(letter) > 1:
        known = sympy.latex(sympy.Symbol(letter))
        letter = known if known.startswith("\\") else rf"\mathrm{{{letter}}}"
    index = re.sub(r"[a-zA-Z]{2,}(?=,)", r"\\mathrm{\g<0>}", index.replace("_", ","))
    return f"{letter}_{{{index}}}" if index else letter


def broken(pieces: Sequence[Piece], first: float, others: float) -> list[Piece]:
    """Lines of at most ``first`` and ``others`` points, broken inside as few parentheses as possible."""
    lines: list[Piece] = []
    rest = list(pieces)
    while rest:
        room = others if lines else first
        total, fitting = 0.0, 0
        while fitting < len(rest) and (total := total + width(rest[fitting][0])) <= room:
            fitting += 1
        if fitting < len(rest):
            fitting = max(1, fitting)
            late = range(max(1, fitting // 2), fitting + 1)
            fitting = min(late, key=lambda k: (rest[k][1], -k))
        lines.append(("".join(text for text, _ in rest[:fitting]).strip(), rest[0][1]))
        rest = rest[fitting:]
    return lines


def width(text: str) -> float:
    """The width of LaTeX mathematics at 10 pt, in points; an estimate that is seldom too small."""
    total, scales = 0.0, [1.0]
    for token in _TOKEN.findall(text):
        if token in ("_{", "^{"):
            scales.append(0.75 * scales[-1])
            total += 0.5
        elif token == "{":
            scales.append(scales[-1])
        elif token == "}":
            scales.pop()
        else:
            known = _WIDTHS.get(token)
            total += scales[-1] * (9.5 if token in _WIDE else 6.0 if known is None else known)
    return total
