"""Even functions of an angle θ as functions of x = θ², right at and near zero with all their derivatives.

Below x = 1/4 each is a Taylor polynomial, whose remainder is below rounding there; above it the closed form, whose root
is kept away from zero. Each function takes and returns CasADi scalars of any kind (``SX``, ``MX``, ``DM``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import casadi as ca

from gdalembert.spatial.algebra import Matrix

_SERIES_BELOW = 0.25


def even(x: Matrix, coefficients: Sequence[float], closed: Callable[[Matrix], Matrix]) -> Matrix:
    """A function of x = θ² by its Taylor polynomial near zero and, of θ, by its closed form elsewhere."""
    series: Matrix = 0
    for c in reversed(coefficients):
        series = series * x + c
    small = x < _SERIES_BELOW
    return ca.if_else(small, series, closed(ca.sqrt(ca.if_else(small, 1, x))))


def _reciprocal_factorials(first: int) -> list[float]:
    return [(-1) ** k / math.factorial(2 * k + first) for k in range(10)]


def cosine(x: Matrix) -> Matrix:
    """cos θ of x = θ²."""
    return even(x, _reciprocal_factorials(0), ca.cos)


def sine_over_angle(x: Matrix) -> Matrix:
    """sin θ / θ of x = θ²."""
    return even(x, _reciprocal_factorials(1), lambda t: ca.sin(t) / t)


def versine_over_square(x: Matrix) -> Matrix:
    """(1 − cos θ) / θ² of x = θ²."""
    return even(x, _reciprocal_factorials(2), lambda t: (1 - ca.cos(t)) / (t * t))


def sine_defect_over_cube(x: Matrix) -> Matrix:
    """(θ − sin θ) / θ³ of x = θ²."""
    return even(x, _reciprocal_factorials(3), lambda t: (t - ca.sin(t)) / (t * t * t))


def versine_over_square_slope(x: Matrix) -> Matrix:
    """The derivative by x of :func:`versine_over_square`: (sin θ / θ − 2 (1 − cos θ) / θ²) / 2 θ²."""
    return even(
        x,
        _slopes(_reciprocal_factorials(2)),
        lambda t: (ca.sin(t) / t - 2 * (1 - ca.cos(t)) / (t * t)) / (2 * t * t),
    )


def sine_defect_over_cube_slope(x: Matrix) -> Matrix:
    """The derivative by x of :func:`sine_defect_over_cube`: ((1 − cos θ) / θ² − 3 (θ − sin θ) / θ³) / 2 θ²."""
    return even(
        x,
        _slopes(_reciprocal_factorials(3)),
        lambda t: ((1 - ca.cos(t)) / (t * t) - 3 * (t - ca.sin(t)) / (t * t * t)) / (2 * t * t),
    )


# |B_2k| / (2k)!, k = 1, 2, …, the Bernoulli numbers B: the coefficients of (1 − (θ/2) cot(θ/2)) / θ²
_BERNOULLI = (1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510, 43867 / 798, 174611 / 330)
_COTANGENT = [b / math.factorial(2 * k) for k, b in enumerate(_BERNOULLI, 1)]


def cotangent_defect_over_square(x: Matrix) -> Matrix:
    """(1 − (θ/2) cot(θ/2)) / θ² of x = θ²."""
    half, small = x / 4, x < _SERIES_BELOW
    closed = (1 - cosine(half) / sine_over_angle(half)) / ca.if_else(small, 1, x)
    return ca.if_else(small, sum(c * x**i for i, c in enumerate(_COTANGENT[:7])), closed)


def cotangent_defect_over_square_slope(x: Matrix) -> Matrix:
    """The derivative by x of :func:`cotangent_defect_over_square`.

    ((1 + sin θ / θ) / 4 sin²(θ/2) − 2 / θ²) / 2 θ².
    """
    return even(
        x,
        _slopes(_COTANGENT),
        lambda t: ((1 + ca.sin(t) / t) / (4 * ca.sin(t / 2) ** 2) - 2 / (t * t)) / (2 * t * t),
    )


def _slopes(coefficients: Sequence[float]) -> list[float]:
    return [k * c for k, c in enumerate(coefficients)][1:]
