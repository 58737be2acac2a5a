"""Bodies and parameters: what is large and what is small for each of them, and their bounds and priors by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.identification.regression import AffineTorque
from gdalembert.model.inertia import DYNAMIC_PARAMETERS
from gdalembert.model.tree import Tree
from gdalembert.spatial.arguments import number
from gdalembert.spatial.arrays import Array

NOT_NEGATIVE = ("armature", "viscous", "coulomb", "stiffness", "damping")
"""Parameters of other kinds that no robot has below 0."""
REGROUPED = ("Jxx", "Jxy", "Jxz", "Jyy", "Jyz", "Jzz", "hx", "hy", "hz")
"""Base parameters, beside masses."""
_PART = 0.1
"""Of the nominal torques, which a parameter of its size makes alone, and of the mean link, below which a nominal
mass or length says nothing of its size."""
Bounds: TypeAlias = Mapping[str, tuple[float | None, float | None]]
"""Least and largest value by the name of a parameter; ``None`` for no limit."""
Prior: TypeAlias = Mapping[str, float | tuple[float, float]]
"""A value, or a value with its standard deviation, by the name of a parameter."""


@dataclass(frozen=True)
class Body:
    """The ten parameters of a body.

    Attributes:
        name: of the joint or frame.
        indices: of its parameters in p, in Pinocchio's order.
        mass, length: its size [kg, m]: nominal mass, and radius of gyration about the origin; or those of the mean
            link, if they are less than a tenth of it.
    """

    name: str
    indices: tuple[int, ...]
    mass: float
    length: float

    @property
    def sizes(self) -> Array:
        """m, m l and m l²."""
        return self.mass * np.repeat([1.0, self.length, self.length**2], [1, 3, 6])


def element(name: str) -> str:
    """``"joint7"`` of ``"joint7.m"``."""
    return name.rpartition(".")[0]


def quantity(name: str) -> str:
    """``"m"`` of ``"joint7.m"``."""
    return name.rpartition(".")[2]


def bodies(names: tuple[str, ...], nominal: Array, tree: Tree) -> tuple[Body, ...]:
    """The bodies whose inertia is among the parameters."""
    place = {name: k for k, name in enumerate(names)}
    links = [joint.pseudo_inertia for joint in tree.joints if joint.pseudo_inertia[3, 3] > 0]
    known = [(j[3, 3], np.sqrt(np.trace(j[:3, :3]) / j[3, 3])) for j in links]
    mean_mass, mean_length = np.mean(known, axis=0) if known else (1.0, 1.0)
    found = []
    for name in dict.fromkeys(element(name) for name in names if quantity(name) == "Ixx"):
        indices = tuple(place[f"{name}.{each}"] for each in DYNAMIC_PARAMETERS)
        p = nominal[list(indices)]
        second = (p[4] + p[6] + p[9]) / 2
        mass = _usual(p[0], mean_mass)
        length = _usual(np.sqrt(max(second, 0) / p[0]) if p[0] > 0 else 0.0, mean_length)
        found.append(Body(name, indices, mass, length))
    return tuple(found)


def _usual(nominal: float, mean: float) -> float:
    """The nominal value, or the mean where that is far larger: a placeholder in a data sheet tells no size."""
    return float(nominal if nominal >= _PART * mean else mean)


def sizes(torque: AffineTorque, found: tuple[Body, ...]) -> Array:
    """The size of each parameter (n_p): of a body's by its mass and length; of others by the torque that they make.

    Ours. A parameter of its size makes a tenth of the torques, where it acts: those of the nominal robot and of bodies
    of their sizes, at random states. A nominal value that is 0 or tiny, as a placeholder is, tells no size.
    """
    y, tau = torque(*torque.random_states)
    acts = np.abs(y).max(axis=0) > 0
    size = np.ones(len(torque.names))
    for body in found:
        at = list(body.indices)
        size[at] = body.sizes
        tau = np.hypot(tau, np.linalg.norm(y[:, :, at] * body.sizes, axis=2))
    for k in np.flatnonzero([quantity(name) not in DYNAMIC_PARAMETERS for name in torque.names]):
        rows = acts[:, k]
        norm = np.linalg.norm(y[:, rows, k])
        size[k] = (_PART * np.linalg.norm(tau[:, rows]) / norm if norm else 0.0) or 1.0
    return size


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
