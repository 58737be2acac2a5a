"""Sizes, limits and priors of the unknowns, and the triangular factors of the samples.

The estimate is that of s = (x − x₀) / size, so that all columns have the unit of an effort. Least squares need no more
of N samples than the triangular factor R_j of the rows of each sensor j: the residuals have the norm ‖R_j (s, −1)‖ for
every s, whatever N is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.identification.efforts import Efforts
from gdalembert.identification.unknowns import Unknowns, element, quantity
from gdalembert.model.inertia import DYNAMIC_PARAMETERS, pseudo_inertia_of
from gdalembert.model.tree import Tree
from gdalembert.spatial.arguments import instance, number
from gdalembert.spatial.arrays import Array

_NOT_NEGATIVE = ("m", "armature", "viscous", "coulomb", "load", "inertia", "stiffness", "damping")
"""Parameters that no robot has below 0."""
_MOST_LOAD = 0.99
"""Friction in parts of the transmitted torque, above which a joint is blocked."""
_PART = 0.1
"""Fraction of the nominal torques, which a parameter of its size makes alone, and of the mean link, below which a
nominal mass or length says nothing of its size."""
Bounds: TypeAlias = Mapping[str, tuple[float | None, float | None]]
"""Least and largest value by the name of a parameter; ``None`` for no limit."""
Prior: TypeAlias = Mapping[str, float | tuple[float, float]]
"""A value, or a value with its standard deviation, by the name of a parameter."""


@dataclass(frozen=True)
class Body:
    """The ten parameters of the body of a joint or frame, which have these indices in p, in Pinocchio's order.

    Its size [kg, m] is the nominal mass and radius of gyration about the origin; or those of the mean link, if they are
    less than a tenth of it: a placeholder in a data sheet tells no size.
    """

    name: str
    indices: tuple[int, ...]
    mass: float
    length: float

    @property
    def sizes(self) -> Array:
        """m, m l and m l²."""
        return self.mass * np.repeat([1.0, self.length, self.length**2], [1, 3, 6])

    def in_units(self, p: Array) -> Array:
        """The pseudo-inertia (4 × 4) of ten parameters, in units of its mass and length."""
        unit = np.diag([1 / self.length] * 3 + [1.0]) / np.sqrt(self.mass)
        return np.asarray(unit @ pseudo_inertia_of(ca.DM(p)).full() @ unit)


def bodies(names: tuple[str, ...], nominal: Array, tree: Tree) -> tuple[Body, ...]:
    """The bodies whose inertia is among the parameters."""
    place = {name: k for k, name in enumerate(names)}
    links = [joint.pseudo_inertia for joint in tree.joints if joint.pseudo_inertia[3, 3] > 0]
    known = [(j[3, 3], np.sqrt(np.trace(j[:3, :3]) / j[3, 3])) for j in links]
    mean_mass, mean_length = np.mean(known, axis=0) if known else (1.0, 1.0)
    bodies = []
    for name in dict.fromkeys(element(name) for name in names if quantity(name) == "Ixx"):
        indices = tuple(place[f"{name}.{parameter}"] for parameter in DYNAMIC_PARAMETERS)
        p = nominal[list(indices)]
        radius = np.sqrt(max((p[4] + p[6] + p[9]) / 2, 0) / p[0]) if p[0] > 0 else 0.0
        mass, length = (
            float(size if size >= _PART * mean else mean) for size, mean in ((p[0], mean_mass), (radius, mean_length))
        )
        bodies.append(Body(name, indices, mass, length))
    return tuple(bodies)


def sizes(efforts: Efforts, unknowns: Unknowns, bodies: tuple[Body, ...]) -> Array:
    """The size of each unknown (n_x): of a body's by its mass and length; of others by the torque that they make.

    Ours. A parameter of its size makes a tenth of the torques, where it acts: those of the nominal robot and of bodies
    of their sizes, at random states. A nominal value that is 0 or tiny, as a placeholder is, tells no size. Gains are
    changed by a tenth.
    """
    y, tau = efforts.derivatives(efforts.nominal, *efforts.random_states)
    names = efforts.names
    acts = np.abs(y).max(axis=0) > 0
    size = np.ones(len(names))
    for body in bodies:
        if max(body.indices) < len(names):
            at = list(body.indices)
            size[at] = body.sizes
            tau = np.hypot(tau, np.linalg.norm(y[:, :, at] * body.sizes, axis=2))
    for k in np.flatnonzero([quantity(name) not in DYNAMIC_PARAMETERS for name in names]):
        rows = acts[:, k]
        norm = np.linalg.norm(y[:, rows, k])
        size[k] = (_PART * np.linalg.norm(tau[:, rows]) / norm if norm else 0.0) or 1.0
    offsets = _PART * np.sqrt(np.mean(tau**2, axis=0))[list(unknowns.sensors)]
    local = np.concatenate([size, np.where(offsets > 0, offsets, 1.0)])
    found_sizes = np.full(len(unknowns), _PART)
    for view in unknowns.views:
        found_sizes[view.index[view.free]] = local[view.free]
    found_sizes[: len(local)] = local
    return found_sizes


def limits(names: tuple[str, ...], bounds: Bounds | None, fixed: Mapping[int, float]) -> tuple[Array, Array]:
    """The least and the largest value of each unknown (n_x): armature, friction and stiffness are at least 0."""
    lower = np.array([0.0 if quantity(name) in _NOT_NEGATIVE else -np.inf for name in names])
    upper = np.array([_MOST_LOAD if quantity(name) == "load" else np.inf for name in names])
    for name, pair in _by_name("fit: bounds", bounds, names).items():
        argument, k = f"fit: bounds[{name!r}]", names.index(name)
        if not isinstance(pair, list | tuple | np.ndarray) or len(pair) != 2:
            raise ArgumentTypeError(f"{argument}: expected (least, largest), got {shown(pair)}")
        least, most = (
            end if bound is None or bound == end else number(argument, bound, least=-np.inf)
            for bound, end in zip(pair, (-np.inf, np.inf), strict=True)
        )
        if least > most or most < lower[k]:
            zero = "" if least > most else f", and {quantity(name)} is at least 0"
            raise ArgumentError(f"{argument}: nothing lies between {least:g} and {most:g}{zero}")
        lower[k], upper[k] = max(lower[k], least), min(upper[k], most)
    for k, value in fixed.items():
        lower[k] = upper[k] = value
    return lower, upper


def priors(names: tuple[str, ...], nominal: Array, prior: Prior | None) -> tuple[Array, dict[int, float]]:
    """The value of each parameter before the data (n_p), and the standard deviations of those that have one."""
    values, deviations = np.array(nominal), {}
    for name, value in _by_name("fit: prior", prior, names).items():
        argument, k = f"fit: prior[{name!r}]", names.index(name)
        if isinstance(value, list | tuple | np.ndarray):
            if len(value) != 2:
                raise ArgumentTypeError(
                    f"{argument}: expected a value or (value, standard deviation), got {shown(value)}"
                )
            deviations[k] = number(f"{argument}: standard deviation", value[1])
            value = value[0]
        values[k] = number(argument, value, least=-np.inf)
    return values, deviations


def _by_name(argument: str, values: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    if values is None:
        return {}
    instance(argument, values, Mapping, "a mapping of names of parameters")
    for name in values:
        if name not in names:
            raise UnknownNameError("parameter", name, names)
    return values


@dataclass(frozen=True, eq=False)
class Reduced:
    """The samples, as far as least squares need them.

    Attributes:
        factors: R_j of the rows of each entry of tau (nv × (n_p + 1) × (n_p + 1)), weighted.
        counts: the number of rows with a weight (nv).
        weights: the mean weight of these rows (nv), 1 being that of all rows with a weight; 0 if there are none.
        torques: the root mean square of what was measured in samples with a weight (nv).
    """

    factors: Array
    counts: Array
    weights: Array
    torques: Array

    def norms(self, s: Array) -> Array:
        """The norm of the weighted residuals of each entry of tau (nv)."""
        return np.asarray(np.linalg.norm(self.factors @ np.append(s, -1.0), axis=1))


def triangular(rows: Array) -> Array:
    """A square R (n × n) with Rᵀ R = rowsᵀ rows: the triangular factor of the columns that are not zero."""
    acts = rows.any(axis=0)
    # Cholesky's factor of rowsᵀ rows squares the condition number: of Panda's base parameters (9e3) it leaves errors of
    # 2e-12, this one 7e-15
    factor = np.linalg.qr(rows[:, acts], mode="r")
    r = np.zeros((rows.shape[1], rows.shape[1]))
    r[: len(factor), acts] = factor
    return r
