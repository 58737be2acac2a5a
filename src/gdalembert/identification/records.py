"""Records: what was commanded and what was measured of a robot in one run, where q of modes was not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.outputs import output_functions
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError, shown
from gdalembert.spatial.arguments import flag, number, numbers, required, vector
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.expressions import Expression

Initial: TypeAlias = str | tuple[npt.ArrayLike, npt.ArrayLike]
INITIAL = ("free", "measured")
_EVEN = 1e-2
"""Relative difference of the steps of a filter, which has one step."""


@dataclass(frozen=True, eq=False)
class Sensor(Brief):
    """An output behind the dynamics of its sensor: ω² / (s² + 2 ζ ω s + ω²), and a delay.

    Attributes:
        output: a Function or a callable of (q, v, a, u, p), as any output.
        low_pass: (ω / 2π [Hz], ζ) of a second-order filter; the samples have equal steps then.
        delay: how much later the samples show it [s].
    """

    output: Expression
    low_pass: tuple[float, float] | None = field(default=None, kw_only=True)
    delay: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "delay", number("Sensor: delay", self.delay, "s", inclusive=True))
        if self.low_pass is not None:
            frequency, damping = vector("Sensor: low_pass", self.low_pass, 2)
            pair = number("Sensor: low_pass", frequency, "Hz"), number("Sensor: low_pass: ζ", damping)
            object.__setattr__(self, "low_pass", pair)

    @property
    def lag(self) -> float:
        """The delay of slow signals [s]."""
        return self.delay + (self.low_pass[1] / (np.pi * self.low_pass[0]) if self.low_pass else 0.0)

    def seen(self, t: Array, y: Array, first: Array) -> Array:
        """Reading of the sensor of y (N × …), linear between its samples; ``first``: value and rate of it (2 × …)."""
        if self.low_pass is not None:
            y = self._filtered(t, y, first)
        if self.delay:
            late = np.clip(t - self.delay, t[0], None)
            at = np.clip(np.searchsorted(t, late, side="right") - 1, 0, len(t) - 2)
            part = ((late - t[at]) / (t[at + 1] - t[at])).reshape(-1, *[1] * (y.ndim - 1))
            y = (1 - part) * y[at] + part * y[at + 1]
        return y

    def _filtered(self, t: Array, y: Array, first: Array) -> Array:
        """Output of the filter for y."""
        if self.low_pass is None:
            return y
        # Exact for what is linear between samples: the exponential of the filter, in (y, ẏ / ω), with its input and the
        # change of it behind. As states of the robot it would cost as much as two modes.
        omega, damping = 2 * np.pi * self.low_pass[0], self.low_pass[1]
        angle, rates = omega * float(t[-1] - t[0]) / (len(t) - 1), np.zeros((4, 4))
        rates[[0, 1, 1, 1, 2], [1, 0, 1, 2, 3]] = angle, -angle, -2 * damping * angle, angle, 1.0
        over = required("Sensor: low_pass", "scipy.linalg", "identification").expm(rates)[:2]
        z, filtered = first / np.array([1.0, omega]).reshape(2, *[1] * (y.ndim - 1)), y.copy()
        for k in range(len(y)):
            filtered[k] = z[0]
            change = y[min(k + 1, len(y) - 1)] - y[k]
            z = np.tensordot(over, np.stack([*z, y[k], change]), 1)
        return filtered


Output: TypeAlias = Expression | Sensor


@dataclass(frozen=True, eq=False)
class Outputs(Brief):
    """Outputs as Functions of (q, v, a, u[, p][, others]), with the dynamics of their sensors, and a name for each row.

    ``slices``: the rows of each.
    """

    functions: Mapping[str, ca.Function]
    sensors: Mapping[str, Sensor]
    slices: Mapping[str, slice]

    @classmethod
    def of(cls, dyn: Dynamics, outputs: Mapping[str, Output], others: Mapping[str, int]) -> Outputs:
        """Outputs that a user gave."""
        alone: Any = outputs
        if isinstance(outputs, Mapping):
            alone = {name: x.output if isinstance(x, Sensor) else x for name, x in outputs.items()}
        functions = output_functions("fit_outputs", dyn, alone, others)
        sensors = {name: x if isinstance(x, Sensor) else Sensor(x) for name, x in outputs.items()}
        ends = np.cumsum([0, *(function.size1_out(0) for function in functions.values())]).tolist()
        slices = {name: slice(*pair) for name, *pair in zip(functions, ends[:-1], ends[1:], strict=True)}
        return cls(functions, sensors, slices)

    @property
    def lags(self) -> Array:
        """The delay of slow signals [s] of each number (m)."""
        return np.concatenate([np.full(at.stop - at.start, self.sensors[name].lag) for name, at in self.slices.items()])

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each number: that of the output, with an index if it has several."""
        return tuple(
            name if rows.stop - rows.start == 1 else f"{name}[{k}]"
            for name, rows in self.slices.items()
            for k in range(rows.stop - rows.start)
        )


@dataclass(frozen=True, eq=False)
class Record(Brief):
    """A run of a robot: inputs and measured outputs, a row for each of N samples.

    Args:
        t: instants (N) [s], rising.
        u: what drives the actuators (N × nu): efforts [N m, N], or what ``drive`` of the fit makes efforts of. Linear
            between its rows.
        hold: rows of u are held until the next one, as by a digital controller.
        motion: the motion of joints that is trusted, by the name of a coordinate (``dyn.coordinate_names``):
            positions (N), through which a spline is laid, or positions, velocities and accelerations (N × 3). Smooth
            measured ones before, as by :func:`~gdalembert.identification.filtered`.
        outputs: what was measured, by the name of the output: (N) or (N × k).
        weights: relative weights of squared residuals, by the name of the output: a number, or (N); 0 where nothing was
            measured, which may be NaN there.
        initial: the state at the first instant, in place of ``initial`` of the fit: ``"free"``, ``"measured"``, or
            (q, v).
        label: the name of the run in messages; by default its number, from 1.
    """

    t: npt.ArrayLike
    u: npt.ArrayLike | None = field(default=None, kw_only=True)
    hold: bool = field(default=False, kw_only=True)
    motion: Mapping[str, npt.ArrayLike] | None = field(default=None, kw_only=True)
    outputs: Mapping[str, npt.ArrayLike] = field(default_factory=dict, kw_only=True)
    weights: Mapping[str, Any] | None = field(default=None, kw_only=True)
    initial: Initial | None = field(default=None, kw_only=True)
    label: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class Samples:
    """A record that was checked: m outputs side by side.

    Attributes:
        context: the head of messages. ``label``: the name of the run.
        t: (N). ``u``: N × nu. ``motion``: by coordinate, N × 3 each.
        y, weights: N × m.
    """

    context: str
    label: str
    t: Array
    u: Array
    hold: bool
    motion: Mapping[str, Array]
    y: Array
    weights: Array
    initial: Initial

    def part(self, rows: slice) -> Samples:
        """Some samples that follow each other."""
        motion = {name: x[rows] for name, x in self.motion.items()}
        arrays = {name: getattr(self, name)[rows] for name in ("t", "u", "y", "weights")}
        return replace(self, motion=motion, **arrays)

    def segments(self, count: int) -> list[Samples]:
        """Parts of about equal length; all but the first begin in a state that is free."""
        ends = np.linspace(0, len(self.t), count + 1).round().astype(int).tolist()
        parts = [self.part(slice(*pair)) for pair in pairwise(ends)]
        return [replace(x, label=f"{x.label}/{k}", initial="free") if k else x for k, x in enumerate(parts)]


def checked(
    context: str, dyn: Dynamics, outputs: Outputs, record: Any, label: str, initial: Any, held: Collection[str] | None
) -> Samples:
    """The samples of a record, which prescribes the motion of the coordinates that are ``held``, if that is known.

    Raises:
        ArgumentTypeError, ArgumentError, UnknownNameError: if a channel cannot be used; the message names it.
    """
    if not isinstance(record, Record):
        raise ArgumentTypeError(f"{context}: expected a gd.identification.Record, got {type(record).__name__}")
    label = label if record.label is None else record.label
    head = f"{context}: record {label!r}"
    t = numbers(f"{head}: t", record.t)
    if t.ndim != 1 or len(t) < 4:
        raise ArgumentError(f"{head}: t has shape {t.shape}; give (N,) instants, at least 4")
    if (row := int(np.argmax(np.diff(t) <= 0))) or t[1] <= t[0]:
        raise ArgumentError(f"{head}: t does not rise at row {row + 1}, from {t[row]:g} to {t[row + 1]:g} s")
    motion = {name: _motion(head, dyn, t, name, rows) for name, rows in _by_name(head, "motion", record.motion)}
    if held is not None and {*motion} != {*held}:
        raise ArgumentError(
            f"{head}: motion is that of {[*motion]}, and of {[*held]} in the first; give the same of all"
        )
    if record.u is None and not motion:
        raise ArgumentError(f"{head}: it has neither u nor motion; give what moves the robot")
    u = np.zeros((len(t), dyn.nu)) if record.u is None else _rows(f"{head}: u", record.u, len(t), dyn.nu)
    y, weights = _measured(head, outputs, record, len(t))
    for name, sensor in outputs.sensors.items():
        if sensor.low_pass and np.ptp(np.diff(t)) > _EVEN * np.diff(t).mean():
            raise ArgumentError(f"{head}: the steps of t are unequal, and output {name!r} is filtered; give equal ones")
    return Samples(
        head,
        label,
        t,
        u,
        flag(f"{head}: hold", record.hold),
        motion,
        y,
        weights,
        _initial(head, dyn, record.initial or initial),
    )


def _initial(head: str, dyn: Dynamics, initial: Any) -> Initial:
    if isinstance(initial, str):
        if initial in INITIAL:
            return initial
    elif isinstance(initial, list | tuple) and len(initial) == 2:
        return dyn.configuration(f"{head}: initial q", initial[0]), vector(
            f"{head}: initial v", initial[1], dyn.tree.nv
        )
    raise ArgumentError(f"{head}: initial={shown(initial)}; give 'free', 'measured' or (q, v)")


def _by_name(head: str, channel: str, values: Any) -> list[tuple[str, Any]]:
    if values is None:
        return []
    if not isinstance(values, Mapping):
        raise ArgumentTypeError(f"{head}: {channel}: expected a dict by name, got {type(values).__name__}")
    return list(values.items())


def _rows(argument: str, values: Any, count: int, width: int, *, finite: bool = True) -> Array:
    """Numbers (count × width); one number a row may come without its brackets."""
    rows = numbers(argument, values, finite=False)
    rows = rows[:, None] if rows.ndim == 1 and width == 1 else rows
    if rows.ndim == 2 and rows.shape[1] == width and len(rows) != count:
        raise ArgumentError(f"{argument} has {len(rows)} rows, and t has {count}; give a row for each instant")
    if rows.shape != (count, width):
        raise ArgumentError(f"{argument} has shape {rows.shape}; give ({count}, {width}), a row for each instant")
    if finite and not np.isfinite(rows).all():
        row = int(np.argwhere(~np.isfinite(rows))[0][0])
        raise ArgumentError(f"{argument}: row {row} is {rows[row].tolist()}; give finite numbers")
    return rows


def _motion(head: str, dyn: Dynamics, t: Array, name: str, values: Any) -> Array:
    """q, v and a (N × 3) of a coordinate."""
    if name not in dyn.coordinate_names:
        raise UnknownNameError(f"coordinate ({head}: motion)", name, dyn.coordinate_names)
    rows = numbers(f"{head}: motion of {name!r}", values, finite=False)
    if rows.ndim == 2 and rows.shape[1] == 3:
        return _rows(f"{head}: motion of {name!r}", rows, len(t), 3)
    q = _rows(f"{head}: motion of {name!r}", rows, len(t), 1)[:, 0]
    spline = required("fit_outputs", "scipy.interpolate", "identification").make_interp_spline(
        t, q, k=min(5, len(t) - 1)
    )
    return frozen(np.column_stack([q, spline(t, 1), spline(t, 2)]))


def _measured(head: str, outputs: Outputs, record: Record, count: int) -> tuple[Array, Array]:
    """The outputs side by side (N × m), and their weights."""
    m = len(outputs.names)
    y, weights = np.zeros((count, m)), np.zeros((count, m))
    factors = dict(_by_name(head, "weights", record.weights))
    measured = dict(_by_name(head, "outputs", record.outputs))
    for name in (*measured, *factors):
        if name not in outputs.slices:
            raise UnknownNameError(f"output ({head})", name, outputs.slices)
    if not measured:
        raise ArgumentError(f"{head}: it has no outputs; give what was measured, {{{next(iter(outputs.slices))!r}: …}}")
    for name, values in measured.items():
        argument, at = f"{head}: output {name!r}", outputs.slices[name]
        rows = _rows(argument, values, count, at.stop - at.start, finite=False)
        w = numbers(f"{argument}: weights", factors.get(name, 1.0))
        if w.shape not in ((), (count,)) or np.any(w < 0):
            raise ArgumentError(f"{argument}: weights {shown(factors[name])}; give a number or ({count},), at least 0")
        w = np.broadcast_to(w, (count,))
        wrong = ~np.isfinite(rows).all(axis=1) & (w > 0)
        if wrong.any():
            row = int(wrong.argmax())
            raise ArgumentError(
                f"{argument}: row {row} is {rows[row].tolist()}; give numbers, or weight 0 where nothing was measured"
            )
        y[:, at], weights[:, at] = np.where(np.isfinite(rows), rows, 0.0), w[:, None]
        if (w > 0).any() and not np.ptp(rows[w > 0], axis=0).any():
            raise ArgumentError(
                f"{argument} is {rows[w > 0][0].tolist()} in every sample, as of a dead sensor or a robot at rest; "
                "leave it out, or give a motion that excites it"
            )
    return frozen(y), frozen(weights)
