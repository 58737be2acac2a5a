"""Simulation errors of a robot: residuals of measured outputs, their derivatives, and their least squares.

Single shooting: each record is simulated as a whole, with the derivatives of its states. Where the first simulation is
far off, records are cut into segments first, and all but the first ones begin in states that are free (multiple
shooting without continuity),
and the whole begins at what they tell. Of 30 starts of three simulated arms (stiffness × 0.2 to 5, damping × 0.1 to 10,
an offset of a gauge), whole records alone find stiffness to 0.2 % from 16, behind segments from 24: driven, 8 and 10;
clamped, with 5 s of free vibration, 7 and 10; with a free hub, 1 and 4. Continuity as constraints of each step, by
condensing (Bock and Plitt, "A multiple shooting algorithm for direct solution of optimal control problems", IFAC World
Congress 1984), was tried on the first two: driven, as far as segments; clamped, 4 of 6 starts, where segments converge
from 5, in up to seven times the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.identification.least_squares import Combinations, Descent, Reduced, descended, triangular
from gdalembert.identification.output_model import OutputModel
from gdalembert.identification.records import Samples
from gdalembert.identification.result import root_mean_square
from gdalembert.model.configuration import difference
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief

_PART = 0.1
"""The part of the outputs that a change of an unknown by its size makes."""
_DIFFERENCE = 1e-4
"""Relative difference of an unknown, for states that are read."""


@dataclass(frozen=True, eq=False)
class Prediction(Brief):
    """Outputs of a record as they are simulated, and as they were measured: N × m, m numbers with a name each.

    ``measured`` is NaN where a sample has no weight. ``label``: the name of the run. ``t``: instants (N) [s].
    """

    label: str
    t: Array
    names: tuple[str, ...]
    measured: Array
    predicted: Array

    @property
    def residuals(self) -> Array:
        """Measured minus predicted (N × m)."""
        return self.measured - self.predicted

    @property
    def relative(self) -> Array:
        """The root mean square of the residuals in units of that of the measured output without its mean (m)."""
        return np.asarray(
            root_mean_square(self.residuals) / root_mean_square(self.measured - mean_of_seen(self.measured))
        )

    @property
    def fit(self) -> Mapping[str, float]:
        """100 (1 − ``relative``) of each output [%]: 100 explains all of it, 0 as much as its mean does."""
        return dict(zip(self.names, (100 * (1 - self.relative)).tolist(), strict=True))


def mean_of_seen(rows: Array) -> Array:
    """The mean of each column without NaN; 0 of a column of them."""
    seen = np.isfinite(rows)
    return np.asarray(np.where(seen, rows, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1))


@dataclass(frozen=True, eq=False)
class SimulationErrors:
    """The least squares of simulated outputs, in s = (x − start) / sizes.

    x: parameters and other unknowns θ first, then, record by record, the displacement of an initial state that is free.

    Attributes:
        model: the robot along a record. ``samples``: the records. ``start``: θ to begin with, and by its prior.
        scales: the root mean square of each output (m), without its mean, in all records: the unit of residuals.
        near: θ of the first step, where that is an estimate (:meth:`of_segments`).
        pace: θ whose vibrations decide the integration steps, where that is an estimate (:meth:`paced_by`).
    """

    model: OutputModel
    names: tuple[str, ...]
    samples: tuple[Samples, ...]
    start: Array
    scales: Array
    near: Array | None = None
    pace: Array | None = None

    @cached_property
    def free(self) -> list[slice | None]:
        """The entries of x of the initial state of each record, if it is free."""
        first, width, slices = len(self.names), 2 * len(self.model.free), list[slice | None]()
        for samples in self.samples:
            is_free = samples.initial == "free"
            slices.append(slice(first, first := first + width) if is_free else None)
        return slices

    @property
    def unknowns(self) -> tuple[str, ...]:
        """A name for each entry of x."""
        names, labels = list(self.names), self.model.dyn.coordinate_names
        for samples, at in zip(self.samples, self.free, strict=True):
            if at is not None:
                for kind in ("start", "initial speed"):
                    names += [f"{samples.label}/{labels[k]}.{kind}" for k in self.model.free]
        return tuple(names)

    @cached_property
    def begun(self) -> list[tuple[Array, Array]]:
        """q and v about which the initial state of each record is displaced."""
        return [self._begun(samples, self.first) for samples in self.samples]

    def _begun(self, samples: Samples, theta: Array) -> tuple[Array, Array]:
        if isinstance(samples.initial, tuple):
            return self.model.start(samples)
        # One that is free needs no more than a beginning, and many samples lead a wrong model far off.
        lines = {"most": 1} if samples.initial == "free" else {}
        return self.model.measured_start(samples, theta, self.scales, self.steps(samples), **lines)

    def steps(self, samples: Samples) -> int:
        """Steps for each sample of a record."""
        return self.model.steps(samples, self.first if self.pace is None else self.pace)

    def residuals(self, i: int, x: Array, *, derivatives: bool) -> tuple[Array, Array]:
        """Measured less simulated outputs of record i in units of their scales (N × m), and −1 times its derivatives.

        Derivatives (N × m × n_x) are those of the outputs; none if they are not asked for.
        """
        model, samples, at, n = self.model, self.samples[i], self.free[i], len(self.names)
        theta = x[:n]
        if at is None:
            q, v = self._begun(samples, theta)
            x0, slope = (z.full() for z in model.moved(q, v, np.zeros(2 * len(model.free))))
            s0 = self._read_slopes(samples, theta) if derivatives and samples.initial == "measured" else None
            s0 = np.zeros((model.nx, n)) if s0 is None else slope @ s0
        else:
            x0, slope = (z.full() for z in model.moved(*self.begun[i], x[at]))
            s0 = np.hstack([np.zeros((model.nx, n)), slope])
        y, dy = model.simulate(samples, theta, x0, s0 if derivatives else np.zeros((model.nx, 0)), self.steps(samples))
        left, rows = (samples.y - y) / self.scales, np.zeros((*y.shape, len(x) if derivatives else 0))
        if derivatives:
            rows[..., :n] = dy[..., :n]
            if at is not None:
                rows[..., at] = dy[..., n:]
            rows /= self.scales[:, None]
        return left, rows

    def _read_slopes(self, samples: Samples, theta: Array) -> Array:
        """The derivatives by θ (2 n_f × n) of an initial state that is read, by differences."""
        columns, free = [], self.model.free
        for k in range(len(theta)):
            change = np.zeros(len(theta))
            change[k] = _DIFFERENCE * (abs(theta[k]) or 1.0)
            ends = [self._begun(samples, theta + sign * change) for sign in (1, -1)]
            dq = difference(self.model.dyn.tree, *(ca.DM(q) for q, _ in ends[::-1])).full().ravel()[free]
            columns.append(np.concatenate([dq, (ends[0][1] - ends[1][1])[free]]) / (2 * change[k]))
        return np.array(columns).T.reshape(-1, len(theta))

    @cached_property
    def _counted(self) -> tuple[Array, Array]:
        """The number of samples of each output with a weight, and their mean weight."""
        weights = np.vstack([samples.weights for samples in self.samples])
        counts = np.count_nonzero(weights, axis=0).astype(float)
        return counts, weights.sum(axis=0) / np.maximum(counts, 1)

    def reduced(self, x: Array, sizes: Array) -> Reduced:
        """The triangular factors of [J | r + J s] of each output, J by s = (x − start) / sizes."""
        n, m = len(x), len(self.scales)
        stacked: list[list[Array]] = [[] for _ in range(m)]
        for i, samples in enumerate(self.samples):
            left, rows = self.residuals(i, x, derivatives=True)
            rows = rows * sizes
            block = np.concatenate([rows, (left + rows @ ((x - self.whole) / sizes))[..., None]], axis=2)
            block *= np.sqrt(samples.weights)[..., None]
            for j in range(m):
                stacked[j].append(triangular(block[:, j]))
        factors = np.array([triangular(np.vstack(rows)) for rows in stacked]).reshape(m, n + 1, n + 1)
        counts, weights = self._counted
        return Reduced(factors, counts, weights, np.ones(m))

    def norms(self, x: Array) -> Array:
        """The norm of the weighted residuals of each output (m); infinite where the simulation leaves its range."""
        squares = np.zeros(len(self.scales))
        for i, samples in enumerate(self.samples):
            try:
                left, _ = self.residuals(i, x, derivatives=False)
            except np.linalg.LinAlgError:  # M is not positive definite, or what is read is not finite
                return np.full(len(squares), np.inf)
            with np.errstate(over="ignore", invalid="ignore"):
                squares += np.sum(samples.weights * left**2, axis=0)
        return np.where(np.isfinite(squares), np.sqrt(squares), np.inf)

    @property
    def first(self) -> Array:
        """θ of the first step."""
        return self.start if self.near is None else self.near

    @property
    def whole(self) -> Array:
        """The vector x to begin with."""
        return self._whole(self.start)

    def _whole(self, theta: Array) -> Array:
        return np.concatenate([theta, np.zeros(len(self.unknowns) - len(self.names))])

    def sizes(self, widths: Array) -> Array:
        """The size of each unknown: it makes a tenth of the outputs, and is no larger than its value or its bounds."""
        rows = self.reduced(self._whole(self.first), np.ones(len(self.unknowns))).factors[..., :-1]
        effect = np.sqrt(np.sum(rows**2, axis=(0, 1)) / max(self._counted[0].sum(), 1.0))
        with np.errstate(divide="ignore"):
            sizes = np.where(effect > 0, _PART / effect, np.inf)
        natural = np.full(len(sizes), np.inf)
        natural[: len(self.names)] = np.where(self.start != 0, np.abs(self.start), widths)
        sizes = np.minimum(sizes, natural)
        return np.where(np.isfinite(sizes), sizes, 1.0)

    def of(self, samples: tuple[Samples, ...]) -> SimulationErrors:
        """The same of other records."""
        return replace(self, samples=samples)

    def of_segments(self, count: int, deviations: Mapping[int, float], lower: Array, upper: Array) -> SimulationErrors:
        """The same from θ that fits the records cut in segments, which begin in states that are free."""
        cut = self.of(tuple(part for samples in self.samples for part in samples.segments(count)))
        descent, sizes = cut.descended(deviations, lower, upper)
        n = len(self.names)
        near = np.clip(self.start + (sizes * descent.s)[:n], lower, upper)
        is_finite = np.isfinite(self.norms(self._whole(near))).all()  # a whole record may leave all bounds from there
        return replace(self, near=near) if is_finite else self

    def paced_by(self, theta: Array) -> SimulationErrors:
        """The same with integration steps for the vibrations at θ: too long ones damp, by (ω h)⁶ / 144 each."""
        return replace(self, pace=theta)

    def prediction(self, i: int, x: Array) -> Prediction:
        """Measured and simulated outputs of record i."""
        samples = self.samples[i]
        left, _ = self.residuals(i, x, derivatives=False)
        measured = np.where(samples.weights > 0, samples.y, np.nan)
        return Prediction(samples.label, samples.t, self.model.outputs.names, measured, samples.y - left * self.scales)

    @property
    def turns(self) -> str:
        """Advice on the prescribed angle that ranges over most, if that is more than a turn."""
        (angle, name), label = max((self.model.widest(samples), samples.label) for samples in self.samples)
        if angle < 2 * np.pi:
            return ""
        return (
            f"motion of {name!r} in record {label!r} ranges over {angle:.0f} rad; check that its angles are in rad, "
            "not degrees"
        )

    @property
    def astray(self) -> ArgumentError:
        """Error of a simulation that is not finite with the parameters to begin with."""
        cure = "give p= or prior= with which the robot moves as it did, damping above all"
        return ArgumentError(
            "fit_outputs: the motion that is simulated with the parameters to begin with leaves all bounds; "
            + (f"{self.turns}, or {cure}" if self.turns else cure)
        )

    def _check_counts(self) -> None:
        """Refuse as many unknowns as there are numbers: nothing would be left to tell noise by."""
        count, unknown = int(self._counted[0].sum()), len(self.unknowns)
        if count <= unknown:
            raise ArgumentError(
                f"fit_outputs: the records have {count} numbers with a weight, and {unknown} are unknown, "
                f"{unknown - len(self.names)} of them of initial states; give more samples, fewer segments "
                "or initial=(q, v)"
            )

    def descended(
        self, deviations: Mapping[int, float], lower: Array, upper: Array, begin: Array | None = None
    ) -> tuple[Descent, Array]:
        """The last estimate, from x to begin with or the first θ, and the sizes of the unknowns."""
        n, x0, count = len(self.names), self.whole, len(self.unknowns)
        first = self._whole(self.first) if begin is None else begin
        self._check_counts()
        if not np.isfinite(self.norms(first)).all():
            raise self.astray
        sizes = self.sizes(np.where(np.isfinite(upper - lower), upper - lower, np.inf))
        rows = [np.append(np.eye(count)[k], 0.0) / (deviation / sizes[k]) for k, deviation in deviations.items()]
        ends = np.full(count, -np.inf), np.full(count, np.inf)
        ends[0][:n], ends[1][:n] = (lower - self.start) / sizes[:n], (upper - self.start) / sizes[:n]
        anything = Combinations.of_structure(np.eye(count), self.unknowns)
        descent = descended(
            lambda s: self.reduced(x0 + sizes * s, sizes),
            lambda s: self.norms(x0 + sizes * s),
            lambda s: anything,
            self.unknowns,
            np.array(rows).reshape(-1, count + 1),
            np.zeros(count),
            (first - x0) / sizes,
            bounds=ends,
        )
        return descent, sizes
