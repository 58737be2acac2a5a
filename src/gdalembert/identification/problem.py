"""The least squares of a fit: the unknowns of all runs, and the rows of all samples, linear or linearized.

With the gains exp(θ), z of x, and f(z) of :mod:`gdalembert.identification.efforts` and offsets, the row of sensor j is

    r_j = y_j − exp(−θ_j) f_j(z),        −∂r_j/∂z = exp(−θ_j) [Y C 1]_j,        −∂r_j/∂θ_j = −exp(−θ_j) f_j

All of them follow from the triangular factor of [Y C 1 | f(z₀) | y]_j, whatever θ is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.identification.efforts import Efforts
from gdalembert.identification.experiment import Run, Samples
from gdalembert.identification.least_squares import (
    Combinations,
    Descent,
    LinearEstimate,
    Reduced,
    base_estimate,
    descended,
    estimated,
    not_identifiable,
    triangular,
)
from gdalembert.identification.result import BaseEstimate, NotIdentifiable, Torques
from gdalembert.identification.signals import decimated
from gdalembert.identification.unknowns import Body, Prior, Unknowns, View, quantity
from gdalembert.spatial.arrays import Array

_MOST = 30.0
"""Logarithm of a gain, beyond which a step went too far."""
_LONGEST = 1.0
"""The longest step of a logarithm of a gain, and of friction in parts of the load. Where the others fit so much better
that losing a sensor pays, a longer one ends where exp(−θ) f is 0, whatever the parameters are, and never comes back."""


@dataclass(frozen=True, eq=False)
class Factors:
    """Triangular factors of [Y C 1 | f(z₀) | y] of each sensor (m × (n_z + 2) × (n_z + 2)), of runs with one view."""

    view: View
    reference: Array
    blocks: Array

    def efforts(self, x: Array) -> Array:
        """The efforts f(z) in the rows of the factors (m × (n_z + 2)), where f is affine."""
        return np.asarray(self.blocks[..., -2] + self.blocks[..., :-2] @ (self.view.of(x) - self.reference))


@dataclass(frozen=True, eq=False)
class LeastSquaresProblem:
    """The unknowns as s = (x − x₀) / size, and what runs tell of them.

    Attributes:
        efforts, unknowns, runs: what is measured, of what, and when.
        decimation: number of samples that become one row.
        bodies: those among the unknowns.
        sizes: sizes of the unknowns (n_x).
        completion: the prior (n_x).
        measured: rows of unknowns with a measured value, (unit vector, value) / standard deviation (k × (n_x + 1)).
    """

    efforts: Efforts
    unknowns: Unknowns
    runs: tuple[Run, ...]
    decimation: int
    bodies: tuple[Body, ...]
    sizes: Array
    completion: Array
    measured: Array

    @classmethod
    def of(
        cls,
        efforts: Efforts,
        runs: Sequence[Run],
        *,
        prior: Prior | None = None,
        offsets: bool | Sequence[str] = False,
        decimation: int = 1,
    ) -> LeastSquaresProblem:
        """The problem of some runs."""
        unknowns, sensors = Unknowns.of(efforts, runs, offsets), efforts.sensors
        n = len(efforts.names)
        for free, known in {(tuple(view.free[:n]), tuple(view.known[:n])) for view in unknowns.views}:
            efforts.check_affine(np.array(free), np.array(known))
        values, deviations = unknowns.priors(prior)
        for place, k in enumerate(unknowns.gains, start=len(unknowns) - len(unknowns.gains)):
            if np.isfinite(sensors.deviations[k]):
                values[place] = np.log(sensors.expected[k])
                deviations[place] = sensors.deviations[k] / sensors.expected[k]
        for k, value in unknowns.fixed.items():
            values[k] = value
        bodies = tuple(
            body
            for body in unknowns.bodies(efforts.dyn.nominal)
            if not set(body.indices) <= set(unknowns.fixed)  # a body that is known in all runs
        )
        size = unknowns.sizes(efforts, bodies)
        completion = (values - unknowns.nominal) / size
        at = list(deviations)
        rows = np.column_stack([np.eye(len(size))[at], completion[at]])
        measured = rows * (size[at] / np.array(list(deviations.values())))[:, None]
        return cls(efforts, unknowns, tuple(runs), decimation, bodies, size, completion, measured)

    # x, s, and what a run sees

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the unknowns."""
        return self.unknowns.names

    def x(self, s: Array) -> Array:
        """The unknowns x (n_x) of s."""
        return np.asarray(self.unknowns.nominal + self.sizes * s)

    def gains(self, x: Array) -> Array:
        """The gain of each sensor (m)."""
        gains = np.array(self.efforts.sensors.known)
        # Logarithms, so that no step makes a gain 0 or negative, which would explain a current of the wrong sign.
        gains[list(self.unknowns.gains)] = np.exp(np.clip(x[self._first_gain :], -_MOST, _MOST))
        return gains

    def predicted(self, samples: Samples, view: View, x: Array) -> Array:
        """Predict what the sensors measure (N × m) from the unknowns x."""
        z, n = view.of(x), len(self.efforts.names)
        f = self.efforts.values(samples, z[:n])
        f[:, list(self.unknowns.sensors)] += z[n:]
        return np.asarray(f / self.gains(x))

    # Rows, and their factors

    @cached_property
    def weights(self) -> list[Array]:
        """Weights of the rows of each run, 1 being their mean in all runs without those that are 0."""
        rows = [_thinned(run.samples, self.decimation) for run in self.runs]
        total, count = sum(weights.sum() for weights in rows), sum(np.count_nonzero(weights) for weights in rows)
        return [weights * (count / (total or 1.0)) for weights in rows]

    def _rows(self, run: Run, z: Array) -> Iterator[Array]:
        """The rows [Y C 1 | f(z) | y] of a run (… × m × (n_z + 2)), some thousand at a time."""
        n, m = len(self.efforts.names), len(self.efforts.sensors.names)
        ones = np.eye(m)[:, list(self.unknowns.sensors)]

        def of(part: Samples) -> Array:
            y, f = self.efforts.derivatives(z[:n], *part.states)
            f = f + ones @ z[n:]
            beside = np.broadcast_to(ones, (len(part), *ones.shape))
            return np.concatenate([y, beside, f[..., None], part.measured[..., None]], axis=2)

        blocks: Iterator[Array] = map(of, run.samples.parts())
        if self.decimation > 1:
            blocks = iter([decimated(np.concatenate(list(blocks)), self.decimation)])
        return blocks

    @cached_property
    def _nominal_factors(self) -> tuple[Factors, ...]:
        return self._factors_about(self.unknowns.nominal)

    def factors(self, x: Array) -> tuple[Factors, ...]:
        """Triangular factors of all runs, one for each view: about x where the efforts are not affine in it."""
        return self._nominal_factors if self.efforts.is_affine else self._factors_about(x)

    def _factors_about(self, x: Array) -> tuple[Factors, ...]:
        factors: list[Factors] = []
        for run, view, weights in zip(self.runs, self.unknowns.views, self.weights, strict=True):
            z = view.of(x)
            at = next((k for k, group in enumerate(factors) if _same(group.view, view)), len(factors))
            if at == len(factors):
                factors.append(Factors(view, z, np.zeros((weights.shape[1], len(z) + 2, len(z) + 2))))
            blocks, start = np.array(factors[at].blocks), 0
            for rows in self._rows(run, z):
                rows = rows * np.sqrt(weights[start : start + len(rows)])[..., None]
                start += len(rows)
                for j in range(len(blocks)):
                    # The factor of the samples so far beside the next ones: all rows of a long log at once would fill
                    # the memory.
                    blocks[j] = triangular(np.vstack([blocks[j], rows[:, j]]))
            factors[at] = replace(factors[at], blocks=blocks)
        return tuple(factors)

    @cached_property
    def _counts(self) -> tuple[Array, Array, Array]:
        """The number of rows with a weight of each sensor, their mean weight, and the size of what was measured."""
        weights = np.vstack(self.weights)
        counts = np.count_nonzero(weights, axis=0).astype(float)
        seen = np.vstack([run.samples.weights for run in self.runs]) > 0
        squares = np.vstack([run.samples.measured for run in self.runs]) ** 2 * seen
        rms = np.sqrt(squares.sum(axis=0) / np.maximum(np.count_nonzero(seen, axis=0), 1))
        size = self.sizes[: len(self.unknowns.local)]
        made = sum(np.sum((group.blocks[..., :-2] * size) ** 2, axis=(1, 2)) for group in self._nominal_factors)
        by_sizes = np.sqrt(made / np.maximum(weights.sum(axis=0), np.finfo(float).tiny))
        rms = np.where(self.efforts.sensors.is_driven, rms, by_sizes)  # what nothing drives measures 0
        return counts, weights.sum(axis=0) / np.maximum(counts, 1), rms

    def linearized(self, s: Array) -> Reduced:
        """Triangular factors of [J | r + J s] at s, J being that of what sensors measure."""
        x, m = self.x(s), len(self.efforts.sensors.names)
        gains = self.gains(x)
        stacked: list[list[Array]] = [[] for _ in range(m)]
        for factors in self.factors(x):
            free, f = factors.view.free, factors.efforts(x)
            for j in range(m):
                block = factors.blocks[j]
                rows = np.zeros((len(block), len(s) + 1))
                rows[:, factors.view.index[free]] = block[:, :-2][:, free] / gains[j]
                if j in self.unknowns.gains:
                    rows[:, self._place_of_gain(j)] = -f[j] / gains[j]
                rows[:, :-1] *= self.sizes
                rows[:, -1] = block[:, -1] - f[j] / gains[j] + rows[:, :-1] @ s
                stacked[j].append(rows)
        return Reduced(np.array([triangular(np.vstack(rows)) for rows in stacked]), *self._counts)

    def norms(self, s: Array) -> Array:
        """The norm of the weighted residuals of each sensor (m) at s, without their derivatives."""
        if self.efforts.is_affine:
            return self.linearized(s).norms(s)
        x, squares = self.x(s), np.zeros(len(self.efforts.sensors.names))
        for run, view, weights in zip(self.runs, self.unknowns.views, self.weights, strict=True):
            # A step that is tried needs residuals alone; with their derivatives it would take as long as a step.
            residuals = run.samples.measured - self.predicted(run.samples, view, x)
            if self.decimation > 1:
                residuals = decimated(residuals, self.decimation)
            squares += np.sum(weights * residuals**2, axis=0)
        return np.asarray(np.sqrt(squares))

    @property
    def _first_gain(self) -> int:
        return len(self.names) - len(self.unknowns.gains)

    def _place_of_gain(self, sensor: int) -> int:
        return self._first_gain + self.unknowns.gains.index(sensor)

    @cached_property
    def _nominal_derivatives(self) -> list[tuple[View, Array, Array, Array]]:
        return self._random_derivatives(self.unknowns.nominal)

    def _random_derivatives(self, x: Array) -> list[tuple[View, Array, Array, Array]]:
        """The different views, each with its z, and [Y C 1] and f of random motions there."""
        derivatives: list[tuple[View, Array, Array, Array]] = []
        n, ones = len(self.efforts.names), np.eye(len(self.efforts.sensors.names))[:, list(self.unknowns.sensors)]
        for view in self.unknowns.views:
            if not any(_same(view, other) for other, *_ in derivatives):
                z = view.of(x)
                y, f = self.efforts.derivatives(z[:n], *self.efforts.random_states)
                beside = np.broadcast_to(ones, (len(y), *ones.shape))
                derivatives.append((view, z, np.concatenate([y, beside], axis=2), f + ones @ z[n:]))
        return derivatives

    def random_rows(self, s: Array) -> Array:
        """The rows (… × m × n_x) of random motions, under what each run knows, in units of the root mean square."""
        x, blocks = self.x(s), []
        gains = self.gains(x)
        about = self._nominal_derivatives if self.efforts.is_affine else self._random_derivatives(x)
        for view, reference, y, f in about:
            rows, free = np.zeros((*f.shape, len(s))), view.free
            rows[..., view.index[free]] = y[..., free]
            f = f + y @ (view.of(x) - reference)
            for j in self.unknowns.gains:
                rows[:, j, self._place_of_gain(j)] = -f[:, j]
            blocks.append(rows / gains[:, None] * self.sizes)
        every = np.concatenate(blocks)
        return np.asarray(every / np.sqrt(len(every)))

    def structure_at(self, s: Array) -> Combinations:
        """The combinations of s that the structure of the robot, and priors, let anyone know."""
        rows = self.random_rows(s)
        return Combinations.of_structure(np.vstack([*rows, np.sign(self.measured[:, :-1])]), self.names)

    @cached_property
    def structure(self) -> Combinations:
        """The combinations that the structure of the nominal robot lets anyone know."""
        return self.structure_at(np.zeros(len(self.names)))

    # Estimates

    def estimate(self, *, weighted: bool) -> Descent:
        """Ordinary or weighted least squares."""
        count, rank = int(self._counts[0].sum()), len(self.structure.pivots)
        if count <= rank:
            samples = sum(len(run.samples) for run in self.runs)
            raise ArgumentError(
                f"fit: {samples} samples have {count} torques with a weight, for {rank} base parameters and their "
                "noise; give more samples"
            )
        if not self.unknowns.gains and self.efforts.is_affine:
            reduced = self.linearized(np.zeros(len(self.names)))
            estimate = estimated(reduced, self.structure, self.names, self.measured, self.completion, weighted)
            return Descent(estimate, estimate.s, 0.0)
        return descended(
            self.linearized,
            self.norms,
            self.structure_at,
            self.names,
            self.measured,
            self.completion,
            self._start(weighted),
            weighted=weighted,
            longest=np.where(
                [quantity(name) in ("gain", "load") for name in self.names], _LONGEST / self.sizes, np.inf
            ),
        )

    def _start(self, weighted: bool) -> Array:
        """The start s: gains that make the nominal efforts as large as the measured ones, and the best p with these.

        Friction that grows with the load begins as in the prior.
        """
        s = np.array(self.completion)
        norms = np.zeros((2, len(self.efforts.sensors.names)))
        for factors in self._nominal_factors:
            norms[0] += np.sum(factors.efforts(self.x(s)) ** 2, axis=1)
            norms[1] += np.sum(factors.blocks[..., -1] ** 2, axis=1)
        for j in self.unknowns.gains:
            k = self._place_of_gain(j)
            if not np.isfinite(self.efforts.sensors.deviations[j]) and norms[:, j].all():
                s[k] = 0.5 * np.log(norms[0, j] / norms[1, j]) / self.sizes[k]
        if self.efforts.is_affine:
            return s
        outer = [k for k, name in enumerate(self.names) if quantity(name) == "load" or k >= self._first_gain]
        reduced = self.linearized(s)
        without = np.array(reduced.factors)
        without[..., outer] = 0.0
        structure = self.structure_at(s)
        estimate = estimated(
            replace(reduced, factors=without), structure, self.names, self.measured, self.completion, weighted
        )
        estimate.s[outer] = s[outer]
        return estimate.s

    def base(self, estimate: LinearEstimate, x: Array) -> BaseEstimate:
        """The base parameters that the data excite."""
        return base_estimate(estimate, self.names, self.sizes, self.unknowns.nominal, x)

    def not_identifiable(self, estimate: LinearEstimate, s: Array) -> NotIdentifiable:
        """The parameters that the data cannot know."""
        return not_identifiable(estimate.base, self.structure_at(s), self.names, self.sizes)

    # Measured and predicted efforts

    def torques(self, runs: Sequence[Run], x: Array, *, fitted: bool = False) -> Torques:
        """Measured and predicted efforts of runs; of those that were fitted, samples with a weight alone."""
        torques = [self._torques(run, self.unknowns.view(run), x, fitted) for run in runs]
        return Torques(*(np.concatenate(parts) for parts in zip(*torques, strict=True)))

    def _torques(self, run: Run, view: View, x: Array, fitted: bool) -> tuple[Any, ...]:
        samples = run.samples
        counts = np.asarray((samples.weights > 0) | samples.slow)
        if fitted:
            some = np.asarray(counts.any(axis=1))
            samples, counts = samples.part(some), counts[some]
        from_motion = self.predicted(samples, view, x)
        predicted = np.array(from_motion)
        held = np.asarray(samples.slow.any(axis=1))
        if held.any():
            z, at = view.of(x), self.coulomb
            part, gains = samples.part(held), self.gains(x)
            y, _ = self.efforts.derivatives(z[: len(self.efforts.names)], *part.states)
            for j, (k, load) in at.items():
                dry = y[:, j, k] * z[k] + (0.0 if load is None else y[:, j, load] * z[load])
                free = predicted[held, j] - dry / gains[j]
                most = z[k] / gains[j] + (0.0 if load is None else z[load] * np.abs(free))
                nearest = np.clip(part.measured[:, j], free - most, free + most)
                predicted[held, j] = np.where(part.slow[:, j], nearest, predicted[held, j])
        measured = np.where(counts, samples.measured, np.nan)
        return measured, predicted, from_motion, samples.v @ self.efforts.sensors.speeds.T, samples.slow

    @cached_property
    def coulomb(self) -> dict[int, tuple[int, int | None]]:
        """The places in z of the Coulomb friction of each sensor that has one, and of what grows with the load."""
        place = {name: k for k, name in enumerate(self.efforts.names)}
        of_sensors = ((j, f"{name}.coulomb", f"{name}.load") for j, name in enumerate(self.efforts.sensors.names))
        return {j: (place[name], place.get(load)) for j, name, load in of_sensors if name in place}


def _same(one: View, other: View) -> bool:
    return np.array_equal(one.index, other.index) and np.array_equal(
        one.known[one.index < 0], other.known[other.index < 0]
    )


def _thinned(samples: Samples, decimation: int) -> Array:
    """Weights of decimated rows: 0 where one of the samples that it stands for has none."""
    if decimation == 1:
        return samples.weights
    weights, half = samples.weights, decimation // 2
    thinned = np.array(weights[::decimation])
    for row in range(len(thinned)):
        thinned[row] = weights[max(row * decimation - half, 0) : row * decimation + half + 1].min(axis=0)
    return thinned
