"""The unknowns of a fit: parameters of the robot, what belongs to sensors, to columns, to single runs, and gains.

    x = (p, c, o, those that runs have of their own, θ)

with the coefficients c of columns, offsets o of sensors, and gains exp(θ), which are positive. Each run sees
z = (p, c, o), of which some entries are in x, at the same place in all runs or at its own, and the others are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.identification.efforts import Efforts
from gdalembert.identification.experiment import Known, Run
from gdalembert.model.inertia import DYNAMIC_PARAMETERS
from gdalembert.spatial.arguments import numbers
from gdalembert.spatial.arrays import Array

_OFFSET, _GAIN = "sensor_offset", "gain"


def element(name: str) -> str:
    """``"joint7"`` of ``"joint7.m"``."""
    return name.rpartition(".")[0]


def quantity(name: str) -> str:
    """``"m"`` of ``"joint7.m"``."""
    return name.rpartition(".")[2]


@dataclass(frozen=True, eq=False)
class View:
    """The entries of x that one run sees: z[k] is x[index[k]], or known[k] where the index is −1 (n_z)."""

    index: Any
    known: Array

    def of(self, x: Array) -> Array:
        """z (n_z)."""
        return np.where(self.index >= 0, x[self.index], self.known)

    @property
    def free(self) -> Any:
        """Mark the entries of z that are in x."""
        return self.index >= 0


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The vector x.

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

    def __len__(self) -> int:
        return len(self.names)


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
