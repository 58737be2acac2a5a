"""Remarks on a fit of outputs, one sentence each: what the data do not tell, and what looks wrong in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gdalembert.identification.least_squares import Descent
from gdalembert.identification.result import root_mean_square
from gdalembert.identification.simulation_errors import Prediction, SimulationErrors, mean_of_seen
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import first_named

_SHOWN = 4
"""Names in a sentence."""
_VAGUE = 0.5
"""Deviation of an unknown in parts of its value above which it is hardly told."""
_UNIT = 30.0
"""Ratio of what was measured to what is simulated with the parameters to begin with, beyond which units are doubted."""
_HALF = 0.5
"""The part of an output that is left and is told."""
_DEPENDENT = 0.5
"""Correlation of successive residuals above which deviations mean little: of white noise it is 0.03 in 1000 samples."""
_OFTEN, _VALUES = 0.03, 10
"""The part of the samples at an extreme of an input, and how many values it has, if it is saturated; a switched input
has few."""


def remarks(
    problem: SimulationErrors,
    descent: Descent,
    x: Array,
    deviation: Array,
    reached: Sequence[str],
    records: Mapping[str, Prediction],
) -> Iterator[str]:
    """Sentences for the warnings and the report."""
    names = problem.names
    if not descent.has_converged:
        yield (
            f"the steps did not converge: the sum of squares still falls by {descent.fall:.2g} of itself; begin "
            "nearer, with p=, others= or prior="
        )
    yield from _inputs(problem)
    yield from _units(problem)
    untold = [name for name, sigma in zip(names, deviation, strict=False) if not np.isfinite(sigma)]
    if untold:
        yield f"the data do not tell {first_named(untold, _SHOWN)}: other values explain them as well; give priors"
    vague = [k for k in range(len(names)) if np.isfinite(deviation[k]) and deviation[k] > _VAGUE * abs(x[k])]
    if vague:
        shown = first_named([f"{names[k]} ({x[k]:.3g} ± {deviation[k]:.2g})" for k in vague], _SHOWN)
        yield f"the data hardly tell {shown}"
    if reached:
        yield f"at a bound, which decided it and not the data alone: {first_named(list(reached), _SHOWN)}"
    for label, record in records.items():
        for name, left in zip(record.names, record.relative, strict=True):
            if left > _HALF:
                yield f"output {name!r} of record {label!r} is not explained: {left:.0%} of it is left"
    if problem.turns and any((record.relative > _HALF).any() for record in records.values()):
        yield problem.turns
    yield from _correlated(records)


def _inputs(problem: SimulationErrors) -> Iterator[str]:
    for samples in problem.samples:
        for k, u in enumerate(samples.u.T):
            name, unique = problem.model.dyn.actuator_names[k], len(np.unique(u))
            for extreme, word in ((u.max(), "largest"), (u.min(), "least")):
                stays = (u == extreme)[1:] & (u == extreme)[:-1]
                if unique > _VALUES and stays.mean() > _OFTEN:
                    yield (
                        f"u of {name!r} in record {samples.label!r} stays at its {word} value {extreme:.4g} in "
                        f"{stays.mean():.0%} of the samples: if it is saturated, give what the actuator had"
                    )


def _units(problem: SimulationErrors) -> Iterator[str]:
    begun = problem.paced_by(problem.first)
    for i, samples in enumerate(problem.samples):
        before = begun.prediction(i, problem.whole)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = root_mean_square(before.measured - mean_of_seen(before.measured)) / np.std(before.predicted, axis=0)
        for name, ratio in zip(before.names, size, strict=True):
            if ratio > _UNIT or ratio < 1 / _UNIT:
                yield (
                    f"output {name!r} of record {samples.label!r} is {ratio:.3g} times as large as with the parameters "
                    "to begin with; check its unit"
                )


def _correlated(records: Mapping[str, Prediction]) -> Iterator[str]:
    worst = (_DEPENDENT, "", "")
    for label, record in records.items():
        left = np.nan_to_num(record.residuals - mean_of_seen(record.residuals))
        squares = np.sum(left**2, axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            correlation = np.nan_to_num(np.sum(left[1:] * left[:-1], axis=0) / squares)
        k = int(correlation.argmax())
        worst = max(worst, (float(correlation[k]), record.names[k], label))
    if worst[1]:
        yield (
            f"residuals follow each other, those of {worst[1]!r} in record {worst[2]!r} with a correlation of "
            f"{worst[0]:.2g}: the model is not the robot, or noise was filtered, and standard deviations are too small"
        )
