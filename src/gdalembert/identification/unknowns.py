"""The unknowns of a fit: parameters of the robot, what belongs to sensors, to columns, to single runs, and gains.

    x = (p, c, o, those that runs have of their own, θ)

with the coefficients c of columns, offsets o of sensors, and gains exp(θ), which are positive. Each run sees
z = (p, c, o), of which some entries are in x, at the same place in all runs or at its own, and the others are known.

The estimate is that of s = (x − x₀) / size, so that all columns have the unit of an effort.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.identification.efforts import Efforts
from gdalembert.identification.experiment import Known, Run
from gdalembert.model.inertia import DYNAMIC_PARAMETERS, pseudo_inertia_of
from gdalembert.model.tree import Tree
from gdalembert.spatial.arguments import instance, number, numbers
from gdalembert.spatial.arrays import Array

_OFFSET, _GAIN = "sensor_offset", "gain"
_NOT_NEGATIVE = (
    "m",
    "armature",
    "viscous",
    "coulomb",
    "load",
    "inertia",
    "stiffness",
    "damping",
    "stiffness_factor",
    "damping_factor",
)
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


def element(name: str) -> str:
    """The element of a parameter: ``"joint7"`` of ``"joint7.m"``."""
    return name.rpartition(".")[0]


def quantity(name: str) -> str:
    """The quantity that a parameter is: ``"m"`` of ``"joint7.m"``."""
    return name.rpartition(".")[2]


@dataclass(frozen=True, eq=False)
class View:
    """The entries of x that one run sees: z[k] is x[index[k]], or known[k] where the index is −1 (n_z)."""

    index: Any
    known: Array

    def of(self, x: Array) -> Array:
        """The vector z (n_z) of the run."""
        return np.where(self.index >= 0, x[self.index], self.known)

    @property
    def free(self) -> Any:
        """Mark the entries of z that are in x."""
        return self.index >= 0


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
        """The sizes m, m l and m l² of the ten parameters."""
        return self.mass * np.repeat([1.0, self.length, self.length**2], [1, 3, 6])

    def in_units(self, p: Array) -> Array:
        """The pseudo-inertia (4 × 4) of ten parameters, in units of its mass and length."""
        unit = np.diag([1 / self.length] * 3 + [1.0]) / np.sqrt(self.mass)
        return np.asarray(unit @ pseudo_inertia_of(ca.DM(p)).full() @ unit)


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The vector x of unknowns.

    Attributes:
        names: names of its entries (n_x), parameters of the robot first.
        nominal: x of the model: 0 for what it does not have, gains of 1.
        local: names of z (n_z), the first entries of x.
        sensors: the row whose offset z has at each of its last entries. ``gains``: the rows whose gains x has last.
        fixed: entries of x that some run knows and none tells, with their values.
        views: the entries that each run sees.
    """

    names: tuple[str, ...]
    nominal: Array
    local: tuple[str, ...]
    sensors: tuple[int, ...]
    gains: tuple[int, ...]
    fixed: Mapping[int, float]
    views: tuple[View, ...]

    @classmethod
    def of(cls, efforts: Efforts, runs: Sequence[Run], offsets: bool | Sequence[str]) -> Unknowns:
        """The unknowns of all runs."""
        sensors = efforts.sensors
        with_offset = _with_offset(offsets, sensors.names[: sensors.width])
        local = (*efforts.names, *(f"{sensors.names[k]}.{_OFFSET}" for k in with_offset))
        nominal = np.concatenate([efforts.nominal, np.zeros(len(with_offset))])
        local_names = dict.fromkeys(f"{run.label}/{name}" for run in runs for name in _chosen(run, run.own, local))
        names = (*local, *local_names, *(f"{sensors.names[k]}.{_GAIN}" for k in sensors.unknown))
        values = [nominal[local.index(name.rpartition("/")[2])] for name in local_names]
        x = np.concatenate([nominal, values, np.zeros(len(sensors.unknown))])
        unknowns = cls(names, x, local, with_offset, sensors.unknown, {}, ())
        return replace(unknowns, views=tuple(map(unknowns.view, runs)), fixed=unknowns._fixed_by(runs))

    def view(self, run: Run) -> View:
        """The entries of x that a run sees."""
        index, known = np.arange(len(self.local)), np.array(self.nominal[: len(self.local)])
        for name in _chosen(run, run.own, self.local):
            local_name = f"{run.label}/{name}"
            if local_name not in self.names:
                raise ArgumentError(
                    f"{run.context}: own: no run with the label {run.label!r} tells {name!r}; drop it there"
                )
            index[self.local.index(name)] = self.names.index(local_name)
        for name, value in known_values(run.context, run.known, self.local).items():
            k = self.local.index(name)
            index[k], known[k] = -1, value
        return View(index, known)

    def _fixed_by(self, runs: Sequence[Run]) -> dict[int, float]:
        """Entries that some run knows and none tells; what a run knows of a part of a body comes first."""
        parts, whole, seen = dict[int, float](), dict[int, float](), set[int]()
        for run in runs:
            values = known_values(run.context, run.known, self.local)
            free = self.view(replace(run, known={})).index
            seen |= {int(k) for k in self.view(run).index}
            for name, value in values.items():
                is_part = _is_part(name, values, self.local)
                k = int(free[self.local.index(name)])
                _fix(parts if is_part else whole, k, value, name, run, refuse=is_part)
        return {k: value for k, value in (whole | parts).items() if k not in seen and not np.isnan(value)}

    def bodies(self, tree: Tree) -> tuple[Body, ...]:
        """The bodies whose inertia is among the parameters."""
        place = {name: k for k, name in enumerate(self.names)}
        links = [joint.pseudo_inertia for joint in tree.joints if joint.pseudo_inertia[3, 3] > 0]
        known = [(j[3, 3], np.sqrt(np.trace(j[:3, :3]) / j[3, 3])) for j in links]
        mean_mass, mean_length = np.mean(known, axis=0) if known else (1.0, 1.0)
        bodies = []
        for name in dict.fromkeys(element(name) for name in self.names if quantity(name) == "Ixx"):
            indices = tuple(place[f"{name}.{parameter}"] for parameter in DYNAMIC_PARAMETERS)
            p = self.nominal[list(indices)]
            radius = np.sqrt(max((p[4] + p[6] + p[9]) / 2, 0) / p[0]) if p[0] > 0 else 0.0
            mass, length = (
                float(size if size >= _PART * mean else mean)
                for size, mean in ((p[0], mean_mass), (radius, mean_length))
            )
            bodies.append(Body(name, indices, mass, length))
        return tuple(bodies)

    def sizes(self, efforts: Efforts, bodies: Sequence[Body]) -> Array:
        """The size of each unknown (n_x): of a body's by its mass and length; of others by the torque that they make.

        Ours. A parameter of its size makes a tenth of the torques, where it acts: those of the nominal robot and of
        bodies of their sizes, at random states. A nominal value that is 0 or tiny, as a placeholder is, tells no size.
        Gains are changed by a tenth.
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
        offsets = _PART * np.sqrt(np.mean(tau**2, axis=0))[list(self.sensors)]
        local = np.concatenate([size, np.where(offsets > 0, offsets, 1.0)])
        sizes = np.full(len(self), _PART)
        for view in self.views:
            sizes[view.index[view.free]] = local[view.free]
        sizes[: len(local)] = local
        return sizes

    def limits(self, bounds: Bounds | None) -> tuple[Array, Array]:
        """The least and the largest value of each unknown (n_x): armature, friction and stiffness are at least 0."""
        lower, upper = limits_by_name("fit", bounds, self.names)
        for k, value in self.fixed.items():
            lower[k] = upper[k] = value
        return lower, upper

    def priors(self, prior: Prior | None) -> tuple[Array, dict[int, float]]:
        """The value of each parameter before the data (n_p), and the standard deviations of those that have one."""
        return priors_by_name("fit", prior, self.names, self.nominal)

    def __len__(self) -> int:
        return len(self.names)


def limits_by_name(context: str, bounds: Bounds | None, names: tuple[str, ...]) -> tuple[Array, Array]:
    """The least and the largest value of each unknown: masses, armature, friction and stiffness are at least 0."""
    lower = np.array([0.0 if quantity(name) in _NOT_NEGATIVE else -np.inf for name in names])
    upper = np.array([_MOST_LOAD if quantity(name) == "load" else np.inf for name in names])
    for name, pair in _by_name(f"{context}: bounds", bounds, names).items():
        argument, k = f"{context}: bounds[{name!r}]", names.index(name)
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
    return lower, upper


def priors_by_name(
    context: str, prior: Prior | None, names: tuple[str, ...], nominal: Array
) -> tuple[Array, dict[int, float]]:
    """The value of each unknown before the data, by default the nominal one, and standard deviations that are given."""
    values, deviations = np.array(nominal), dict[int, float]()
    for name, value in _by_name(f"{context}: prior", prior, names).items():
        argument, k = f"{context}: prior[{name!r}]", names.index(name)
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
    by_name: Mapping[str, Any] = instance(argument, values, Mapping, "a mapping of names of parameters")
    for name in by_name:
        if name not in names:
            raise UnknownNameError("parameter", name, names)
    return by_name


def _is_part(name: str, known: Mapping[str, float], names: tuple[str, ...]) -> bool:
    """True if a run knows this number of a body, and not all of its numbers."""
    if quantity(name) not in DYNAMIC_PARAMETERS:
        return False
    body = [f"{element(name)}.{parameter}" for parameter in DYNAMIC_PARAMETERS]
    return any(parameter in names and parameter not in known for parameter in body)


def _fix(fixed: dict[int, float], k: int, value: float, name: str, run: Run, *, refuse: bool) -> None:
    """Take a value for an entry of x, if no run knows another one."""
    other = fixed.get(k, value)
    if refuse and other != value:
        raise ArgumentError(
            f"{run.context}: known[{name!r}] is {value:g} here and {other:g} in another run, and the rest of the body "
            f"is the same in both; give the runs labels and own=[{element(name)!r}]"
        )
    fixed[k] = value if other == value else np.nan


def _with_offset(offsets: bool | Sequence[str], names: tuple[str, ...]) -> tuple[int, ...]:
    if isinstance(offsets, bool):
        return tuple(range(len(names))) if offsets else ()
    if isinstance(offsets, str) or not isinstance(offsets, Sequence):
        raise ArgumentTypeError(f"fit: offsets={shown(offsets)}; give True, or a list of names of sensors")
    for name in offsets:
        if name not in names:
            raise UnknownNameError("sensor", name, names)
    return tuple(k for k, name in enumerate(names) if name in offsets)


def _chosen(run: Run, chosen: Iterable[str], names: tuple[str, ...]) -> list[str]:
    """The names of parameters, or of all of an element's; of a body all ten."""
    names_of_entries: dict[str, None] = {}
    for name in chosen:
        matching = [name] if name in names else [candidate for candidate in names if element(candidate) == name]
        if not matching:
            raise UnknownNameError(f"parameter or element ({run.context}: own)", name, names)
        if any(quantity(candidate) in DYNAMIC_PARAMETERS for candidate in matching):
            matching += [f"{element(matching[0])}.{parameter}" for parameter in DYNAMIC_PARAMETERS]
        names_of_entries |= dict.fromkeys(candidate for candidate in matching if candidate in names)
    return list(names_of_entries)


def known_values(context: str, known: Known, names: tuple[str, ...]) -> dict[str, float]:
    """Known values by the name of a parameter.

    Raises:
        UnknownNameError, ArgumentError: if a name is not that of a parameter or element, or values are not its own.
    """
    values_by_name: dict[str, float] = {}
    for name, value in known.items():
        argument = f"{context}: known[{name!r}]"
        matching = [name] if name in names else [candidate for candidate in names if element(candidate) == name]
        if isinstance(value, pin.Inertia):
            matching = [candidate for candidate in matching if quantity(candidate) in DYNAMIC_PARAMETERS]
            value = value.toDynamicParameters()
        if not matching:
            raise UnknownNameError(f"parameter or element ({context}: known)", name, names)
        values = numbers(argument, value).ravel()
        if len(values) != len(matching):
            raise ArgumentError(
                f"{argument} has {len(values)} numbers; give {len(matching)}: {', '.join(map(quantity, matching))}"
            )
        values_by_name |= dict(zip(matching, values.tolist(), strict=True))
    return values_by_name
