"""Bounds and priors by the names of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.identification.sizes import NOT_NEGATIVE, quantity
from gdalembert.spatial.arguments import number
from gdalembert.spatial.arrays import Array

Bounds: TypeAlias = Mapping[str, tuple[float | None, float | None]]
"""Least and largest value by the name of a parameter; ``None`` for no limit."""
Prior: TypeAlias = Mapping[str, float | tuple[float, float]]
"""A value, or a value with its standard deviation, by the name of a parameter."""


def limits(where: str, names: tuple[str, ...], bounds: Bounds | None) -> tuple[Array, Array]:
    """The least and the largest value of each parameter (n_p): armature, friction and stiffness are at least 0.

    Raises:
        ArgumentTypeError: if a bound is not a pair of numbers.
        UnknownNameError: if there is no such parameter.
        ArgumentError: if nothing lies between the bounds of a parameter.
    """
    lower = np.array([0.0 if quantity(name) in (*NOT_NEGATIVE, "m") else -np.inf for name in names])
    upper = np.full(len(names), np.inf)
    for name, pair in _checked(f"{where}: bounds", bounds, names).items():
        if not isinstance(pair, list | tuple | np.ndarray) or len(pair) != 2:
            raise ArgumentTypeError(f"{where}: bounds[{name!r}]: expected (least, largest), got {pair!r}")
        k = names.index(name)
        least, most = (_end(f"{where}: bounds[{name!r}]", x, end) for x, end in zip(pair, (-1, 1), strict=True))
        if least > most or most < lower[k]:
            zero = "" if least > most else f", and {quantity(name)} is at least 0"
            raise ArgumentError(f"{where}: bounds[{name!r}]: nothing lies between {least:g} and {most:g}{zero}")
        lower[k], upper[k] = max(lower[k], least), most
    return lower, upper


def _end(what: str, given: Any, sign: int) -> float:
    if given is None or given == sign * np.inf:
        return sign * np.inf
    return number(what, given, least=-np.inf)


def priors(where: str, names: tuple[str, ...], nominal: Array, prior: Prior | None) -> tuple[Array, dict[int, float]]:
    """The value of each parameter before the data (n_p), and the standard deviations of those that have one.

    Raises:
        ArgumentTypeError: if a value is not a number, or a pair of them.
        UnknownNameError: if there is no such parameter.
        ArgumentError: if a value is not finite, or a standard deviation not above 0.
    """
    values, deviations = np.array(nominal), {}
    for name, given in _checked(f"{where}: prior", prior, names).items():
        what, k = f"{where}: prior[{name!r}]", names.index(name)
        if isinstance(given, list | tuple | np.ndarray):
            if len(given) != 2:
                raise ArgumentTypeError(f"{what}: expected a value or (value, standard deviation), got {given!r}")
            deviations[k] = number(f"{what}: standard deviation", given[1])
            given = given[0]
        values[k] = number(what, given, least=-np.inf)
    return values, deviations


def _checked(what: str, given: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(f"{what}: expected a mapping of names of parameters, got {type(given).__name__}")
    for name in given:
        if name not in names:
            raise UnknownNameError("parameter", name, names)
    return given
