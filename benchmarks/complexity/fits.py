"""Counts as functions of n: exact polynomials where there are such, otherwise exponents."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import sympy

N = sympy.Symbol("n")
HELD_OUT = 3
"""How many counts a polynomial must match exactly beyond those that determine it."""
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Fit(NamedTuple):
    """A polynomial that matches every count from n = start on; ``held_out`` were not used to find it."""

    polynomial: sympy.Poly
    start: int
    held_out: tuple[int, ...]


def polynomial(*coefficients: int | str) -> sympy.Poly:
    """The polynomial with these coefficients, the highest power first; ``"128/3"`` is exact."""
    return sympy.Poly.from_list([sympy.Rational(c) for c in coefficients], N)


def exact_fit(counts: Mapping[int, int], highest: int = 5) -> Fit | None:
    """The polynomial of the lowest degree that matches the counts from some n on, exactly; ``None`` if there is none.

    It is interpolated through the first counts and must then match all further ones, of which there are at least
    :data:`HELD_OUT`.
    """
    for degree in range(highest + 1):
        for start in sorted(counts):
            points = [(n, counts[n]) for n in sorted(counts) if n >= start]
            used, rest = points[: degree + 1], points[degree + 1 :]
            if len(rest) >= HELD_OUT:
                found = sympy.Poly(sympy.interpolate(used, N), N)
                if all(found.eval(n) == count for n, count in rest):
                    return Fit(found, start, tuple(n for n, _ in rest))
    return None


def local_exponent(counts: Mapping[int, int]) -> float:
    """The exponent p of n^p between the last two counts."""
    before, last = sorted(counts)[-2:]
    return math.log(counts[last] / counts[before]) / math.log(last / before)


def written(poly: sympy.Poly) -> str:
    """The polynomial as text: 128/3 n⁴ + 512/3 n³ − n."""
    text = ""
    for (power,), coefficient in poly.terms():
        size = abs(coefficient)
        power_of_n = "" if power == 0 else "n" if power == 1 else "n" + str(power).translate(SUPERSCRIPTS)
        factor = "" if size == 1 and power else str(size)
        sign = ("− " if text else "−") if coefficient < 0 else "+ " if text else ""
        text += " " * bool(text) + sign + " ".join(part for part in (factor, power_of_n) if part)
    return text
