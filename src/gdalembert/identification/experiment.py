"""Experiments: runs of a robot with what was measured in them, and what is known of each run alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, shown
from gdalembert.identification.sensors import Sensors
from gdalembert.model.configuration import check_samples, neutral
from gdalembert.spatial.arguments import numbers, sample_rows, sample_weights
from gdalembert.spatial.arrays import Array, SampleArrays, frozen
from gdalembert.spatial.brief import Brief

_AT_ONCE = 4096
"""Samples that are evaluated in one call: bounds the memory."""
_STILL = 1e-9
"""Range of every entry of q, and largest v and a, below which a run is one state."""
Known: TypeAlias = Mapping[str, float | pin.Inertia | npt.ArrayLike]
"""Values by the name of a parameter, or of an element: ``{"tool": pin.Inertia.Zero()}``, ``{"tool.m": 2.0}``,
``{"gravity": (0, 0, -9.81)}``."""


@dataclass(frozen=True, eq=False)
class Experiment(Brief):
    """A run of a robot: samples of its motion in rows, what was measured, and what is known of this run alone.

    NaN in ``tau`` or ``current`` is a sensor that tells nothing of that sample; NaN in q, v or a leaves the sample out.

    Args:
        q, v, a: a row for each of N samples (N × nq, N × nv, N × nv) [rad, m, s].
        tau: measured torques of the joints (N × nv) [N m, N]; 0 for those of a free base, which nothing drives.
        current: measured currents of the actuators (N × nu) [A], in place of tau; torques of motors with ``gains=1``.
        weights: relative weights of the squared residuals, at least 0: of samples (N) or single measurements (as tau).
        known: what parameters of the robot are in this run: ``{"tool": pin.Inertia.Zero()}`` without a load,
            ``{"tool.m": 2.0}`` with one of which the mass is known; ``{"gravity": (0, 0, -9.81)}`` of a base that is
            placed otherwise. The others are the same in all runs.
        own: parameters or elements that have values of their own in the runs of this label: ``["tool"]`` of another
            load in each, ``["joint1.viscous"]`` of a warm gearbox.
        label: the name of the run in reports and messages; by default its number, from 1. Runs of one label share what
            is their own.
        wrenches: measured wrenches (N × 6 × n, or as the input of the robot is), if it takes any [N, N m].
    """

    q: npt.ArrayLike
    v: npt.ArrayLike
    a: npt.ArrayLike
    tau: npt.ArrayLike | None = None
    current: npt.ArrayLike | None = field(default=None, kw_only=True)
    weights: npt.ArrayLike | None = field(default=None, kw_only=True)
    known: Known | None = field(default=None, kw_only=True)
    own: Sequence[str] = field(default=(), kw_only=True)
    label: str | None = field(default=None, kw_only=True)
    wrenches: npt.ArrayLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if (self.tau is None) == (self.current is None):
            got = "neither tau nor current" if self.tau is None else "both tau and current"
            raise ArgumentError(f"Experiment: got {got}; give one of them")
        if not isinstance(self.known, Mapping | None):
            raise ArgumentTypeError(f"Experiment: known={shown(self.known)}; give {{name: value}}")
        if (
            isinstance(self.own, str)
            or not isinstance(self.own, Sequence)
            or not all(isinstance(name, str) for name in self.own)
        ):
            raise ArgumentTypeError(f"Experiment: own={shown(self.own)}; give a list of names")
        if not isinstance(self.label, str | None):
            raise ArgumentTypeError(f"Experiment: label={shown(self.label)}; give a word")


@dataclass(frozen=True, eq=False)
class Samples(SampleArrays):
    """A motion, what its m sensors measured, and weights of squared residuals: a row for each of N samples.

    ``wrenches`` are columns of the input, one below the other (N × …). ``slow``: measurements (N × m) at which an axis
    sticks. What has no weight is 0.
    """

    q: Array
    v: Array
    a: Array
    wrenches: Array
    measured: Array
    weights: Array
    slow: npt.NDArray[np.bool_]

    def parts(self) -> Iterator[Samples]:
        """The samples in parts of some thousand, which bounds the memory."""
        return (self.part(slice(start, start + _AT_ONCE)) for start in range(0, len(self), _AT_ONCE))

    @property
    def states(self) -> tuple[Array, Array, Array, Array]:
        """The arrays q, v, a and the wrenches."""
        return self.q, self.v, self.a, self.wrenches


@dataclass(frozen=True, eq=False)
class Run:
    """An experiment that was checked: the head of messages about it, its label, samples, and what is known of it."""

    context: str
    label: str
    samples: Samples
    known: Known
    own: tuple[str, ...]

    def part(self, rows: slice) -> Run:
        """The run with some of its samples."""
        return replace(self, samples=self.samples.part(rows))


def checked_runs(
    dyn: Dynamics,
    sensors: Sensors,
    experiments: Sequence[Experiment],
    sticking: float | None,
    *,
    context: str = "fit",
    even: bool = False,
) -> tuple[Run, ...]:
    """The runs of all experiments; ``even``: each sensor has one weight in all samples, but for those that stick."""
    runs = []
    for number, experiment in enumerate(experiments, start=1):
        label = experiment.label or str(number)
        at = context if len(experiments) == 1 and experiment.label is None else f"{context}: run {label!r}"
        samples = _checked_samples(dyn, sensors, experiment, sticking, at)
        if even:
            _check_even(at, samples)
        runs.append(Run(at, label, samples, dict(experiment.known or {}), tuple(experiment.own)))
    return tuple(runs)


def _checked_samples(
    dyn: Dynamics, sensors: Sensors, experiment: Experiment, sticking: float | None, context: str
) -> Samples:
    """The samples as arrays, with the weight 0 where there is NaN."""
    tree = dyn.nominal
    values, width = getattr(experiment, sensors.kind), sensors.width
    if values is None:
        other = "current" if sensors.kind == "tau" else "tau"
        raise ArgumentError(f"{context}: got {other}, where other runs have {sensors.kind}; give the same in all runs")
    arrays = {"q": (experiment.q, tree.nq), "v": (experiment.v, tree.nv), "a": (experiment.a, tree.nv)}
    arrays[sensors.kind] = values, width
    rows = {name: _rows(f"{context}: {name}", *array) for name, array in arrays.items()}
    count = len(rows["q"])
    for name, array in rows.items():
        if len(array) != count:
            raise ArgumentError(f"{context}: q has {count} rows, {name} has {len(array)}; give one row for each sample")
    q, v, a, measured = rows.values()
    wrenches = _wrenches(dyn, experiment.wrenches, count, context)
    weights = sample_weights(context, experiment.weights, count, width)
    base = np.repeat(weights.max(axis=1, keepdims=True), len(sensors.names) - width, axis=1)  # rows that nothing drives
    left_out = np.asarray(np.isnan(np.hstack([q, v, a, wrenches])).any(axis=1))
    # A sample that any sensor has counts for what nothing drives, which is 0 without being measured.
    weights = np.hstack([np.where(np.isnan(measured), 0.0, weights), base])
    weights[left_out] = 0.0
    # The rows stay, with weight 0: filters and shifts in time need samples that follow each other.
    q = np.where(left_out[:, None], neutral(tree).full().ravel(), q)
    v, a, wrenches = (np.where(left_out[:, None], 0.0, column) for column in (v, a, wrenches))
    check_samples(context, q, tree)
    _check_motion(context, q[~left_out], v[~left_out], a[~left_out], weights)
    slow = np.zeros(weights.shape, bool)
    if sticking is not None:
        slow = sensors.slow(v, sticking, dyn.parameters.names) & (weights > 0)
    values = np.hstack([np.where(weights[:, :width] > 0, measured, 0.0), np.zeros_like(base)])
    return Samples(q, v, a, wrenches, frozen(values), frozen(np.where(slow, 0.0, weights)), slow)


def _rows(argument: str, samples: Any, width: int) -> Array:
    """Numbers or NaN (N × width)."""
    array = sample_rows(argument, samples, width, finite=False)
    if len(wrong := np.argwhere(np.isinf(array))):
        row, column = (int(k) for k in wrong[0])
        raise ArgumentError(f"{argument} is {array[row, column]} in row {row}, column {column}; leave that sample out")
    return array


def _wrenches(dyn: Dynamics, wrenches: Any, count: int, context: str) -> Array:
    """Columns of the input wrenches, one below the other (N × …)."""
    external = dyn.external_wrenches
    if not external.is_input:
        if wrenches is not None:
            raise ArgumentError(f"{context}: wrenches: no wrench acts on {dyn!r}; make it with wrenches={{frame: …}}")
        return np.zeros((count, 0))
    height, n = external.shape
    if wrenches is None:
        raise ArgumentError(
            f"{context}: the wrenches at {', '.join(external.names)} are an input; give Experiment(…, wrenches=) the "
            f"measured ones, ({count}, {height}, {n}), or the robot dyn.under()"
        )
    array = numbers(f"{context}: wrenches", wrenches, finite=False)
    if array.ndim == 2 and n == 1:
        array = array[:, :, None]
    if array.shape != (count, height, n) or np.isinf(array).any():
        raise ArgumentError(
            f"{context}: wrenches has shape {array.shape}; give ({count}, {height}, {n}), finite or NaN"
        )
    return np.asarray(array.transpose(0, 2, 1).reshape(count, height * n))


def _check_motion(context: str, q: Array, v: Array, a: Array, weights: Array) -> None:
    """Refuse a run without a sample that counts, and one that is a single state."""
    if not weights.any():
        raise ArgumentError(f"{context}: none of its {len(weights)} samples has a measurement of weight; leave it out")
    largest = max(float(np.abs(rates).max(initial=0)) for rates in (v, a))
    if len(q) > 1 and max(float(np.ptp(q, axis=0).max(initial=0)), largest) <= _STILL:
        raise ArgumentError(
            f"{context}: nothing moves: all {len(q)} samples are at the same q, at rest; give a run with a motion"
        )


def _check_even(context: str, samples: Samples) -> None:
    """Refuse samples that are left out, or of weights of their own, where a filter mixes them with others."""
    weights = np.where(samples.slow, np.nan, samples.weights)
    first = np.nanmax(np.where(samples.slow.all(axis=0), 0.0, weights), axis=0)
    if len(wrong := np.argwhere((weights != first) & ~np.isnan(weights))):
        row, column = (int(k) for k in wrong[0])
        raise ArgumentError(
            f"{context}: decimation filters across neighbouring samples, and row {row}, column {column} has another "
            "weight (NaN has 0) than others; cut the run in two there, or drop decimation"
        )
