"""The placements of a robot from measured poses: Gauss–Newton on the least squares of identification.

Each step is a linear problem in p: rows of positions and rows of angles with a noise each, estimated along what the
samples excite; what they cannot know stays as near to the model as it can be (Hollerbach and Wampler, "The calibration
index and taxonomy for robot kinematic calibration methods", Int. J. Robotics Research 15(6), 1996; the combinations
that nobody could know are found by numbers, as base parameters are; that and the names are ours).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.calibration.measurement import Measurement, Samples, measured_array
from gdalembert.calibration.result import Calibration
from gdalembert.dynamics.kinematics import Kinematics
from gdalembert.errors import ArgumentError, ArgumentTypeError, CalibrationWarning
from gdalembert.identification.least_squares import Estimate, base_estimate, estimated, excited, not_identifiable
from gdalembert.identification.regression import Reduced, triangular
from gdalembert.spatial.arguments import warn
from gdalembert.spatial.arrays import Array, frozen

_STEPS = 50
_CONVERGED = 1e-6
"""Change of the residuals by a step, relative to the noise, below which it is the last one."""
_ROUNDING = 1e-9
"""Relative change of the cost that is none."""
_HALVINGS = 10
_FAR = 100.0
"""Measured positions this many times as far from each other as the robot moves the frame are in another unit."""
_UNEXPLAINED = 0.05
"""Noise that is this part of how far the frame moves: no sensor is so bad."""


def fit(
    kin: Kinematics,
    frame: str | int | Sequence[str | int],
    q: npt.ArrayLike,
    measured: Any = None,
    *,
    model: pin.Model | None = None,
    weights: npt.ArrayLike | None = None,
    held_back: float | tuple[npt.ArrayLike, Any] | None = None,
) -> Calibration:
    """The placements of joints and frames with which a robot is where it was measured.

    Positions and angles have a noise each, which follows from the residuals. Combinations of placements that the
    samples tell are estimated, however large their standard deviations are; along all others the estimate is as near
    to the model as it can be, and ``not_identifiable`` names them. Standard deviations are those of independent errors.

    Args:
        kin: with ``parameters={"placement": names}``: joints and frames whose placements are estimated. Its first joint
            takes in where the robot stands in the frame of the measurements, the measured frame itself how the tool or
            the target is fixed, and the rotation of a joint about its axis the offset of its encoder.
        frame: that is measured, by name or index; or two frames: the second is measured in the first.
        q: configurations, a row for each of N samples (N × nq).
        measured: poses (N × 4 × 4, or ``pin.SE3`` objects) or positions (N × 3) [m], in the universe; NaN where nothing
            was measured. Of two frames by default the identity: a loop that closes in each sample; zeros (N × 3) for a
            point that both have in common.
        model: the ``pin.Model`` that ``kin`` was made of, for ``result.model``.
        weights: of the squared residuals, relative, at least 0: of samples (N) or of their rows (N × 6 or N × 3).
        held_back: the fraction of the samples, the last ones, that is predicted and not fitted; or (q, measured).

    Raises:
        ArgumentTypeError, ArgumentError, UnknownNameError: if an argument cannot be used, or there are too few samples.

    Warns:
        CalibrationWarning: if the calibrated robot does not explain the measurements, or the steps do not converge.
    """
    pair = isinstance(frame, Sequence) and not isinstance(frame, str)
    if measured is None:
        if not pair:
            raise ArgumentError("fit: got no measured poses or positions; only a loop of two frames needs none")
        measured = np.broadcast_to(np.eye(4), (np.shape(q)[0], 4, 4))
    measurement = Measurement(kin, frame, measured_array("fit", measured).ndim == 3, "fit")
    samples = measurement.samples("fit", q, measured, weights)
    samples, others = _split(measurement, samples, held_back)
    _check_unit(measurement, samples)
    p, estimate, remarks = _descended(measurement, samples)
    nominal, sizes, names = np.zeros(len(p)), np.ones(len(p)), measurement.names
    structure = measurement.structure(nominal)  # of the model, since corrections couple what is apart in it
    known = excited(_reduced(measurement, samples, nominal), structure, names, _no_priors(p))
    noise = estimate.noise / np.array([1.0, measurement.length])[: len(estimate.noise)]
    if estimate.noise.max() > _UNEXPLAINED * measurement.length:
        remarks = [
            f"after the fit {measurement.label} is off by {1e3 * estimate.noise[0]:.3g} mm, "
            f"{estimate.noise.max() / measurement.length:.0%} of how far it moves; check units, the frame that was "
            "measured, and the order and signs of q"
        ]
    for remark in remarks:
        warn(f"fit: {remark}", CalibrationWarning)
    return Calibration(
        robot=kin.tree.name,
        frame=measurement.label,
        names=names,
        values=frozen(p),
        standard_deviation=frozen(estimate.deviation(np.eye(len(p)))),
        base=base_estimate(estimate, names, sizes, nominal, p, structure.torques),
        structural_rank=len(measurement.structure(p).own),
        not_identifiable=not_identifiable(known, structure, names, sizes),
        condition_number=estimate.condition_number,
        noise=frozen(noise),
        weights=samples.weights,
        before=frozen(measurement.residuals(samples, nominal)),
        residuals=frozen(measurement.residuals(samples, p)),
        held_back=None if others is None else frozen(measurement.residuals(others, p)),
        remarks=tuple(remarks),
        _model=None if model is None else kin.parameters.write(model, p),
    )


def _split(measurement: Measurement, samples: Samples, held_back: Any) -> tuple[Samples, Samples | None]:
    """The samples to fit, and those to predict: the last ones, a fraction of all, or others (q, measured)."""
    if held_back is None:
        return samples, None
    if isinstance(held_back, list | tuple) and len(held_back) == 2:
        return samples, measurement.samples("fit: held_back", *held_back)
    if isinstance(held_back, bool) or not isinstance(held_back, int | float | np.floating):
        raise ArgumentTypeError(
            f"fit: held_back: expected a fraction of the samples or (q, measured), got {type(held_back).__name__}"
        )
    count = round(held_back * len(samples)) if 0 < held_back < 1 else 0
    if not 0 < count < len(samples):
        raise ArgumentError(
            f"fit: held_back={held_back!r} of {len(samples)} samples leaves none to fit or none to predict; give a "
            "fraction between 0 and 1"
        )
    last = len(samples) - count
    return samples.part(slice(0, last)), samples.part(slice(last, None))


def _check_unit(measurement: Measurement, samples: Samples) -> None:
    """Refuse positions in millimetres."""
    x = samples.measured[samples.weights[:, 0] > 0]
    x = x[:, 12:15] if measurement.is_pose else x
    spread = float(np.sqrt(np.mean(np.sum((x - x.mean(axis=0)) ** 2, axis=1)))) if len(x) else 0.0
    if spread > _FAR * measurement.length:
        raise ArgumentError(
            f"fit: measured positions of {measurement.label} lie {spread:.3g} m from their mean, the robot moves it by "
            f"{measurement.length:.3g} m; give metres"
        )


def _reduced(measurement: Measurement, samples: Samples, p: Array) -> Reduced:
    """The triangular factors of [J | r + J p] of each group of rows."""
    rows = measurement.rows(samples, p)
    rows[..., -1] += rows[..., :-1] @ p
    rows *= np.sqrt(samples.weights)[..., None]
    factors = np.array([triangular(rows[:, group].reshape(-1, len(p) + 1)) for group in measurement.groups])
    counts = np.array([np.count_nonzero(samples.weights[:, group]) for group in measurement.groups], dtype=float)
    sums = np.array([samples.weights[:, group].sum() for group in measurement.groups])
    return Reduced(factors, counts, sums / np.maximum(counts, 1), np.full(len(counts), measurement.length))


def _no_priors(p: Array) -> Array:
    return np.zeros((0, len(p) + 1))


def _descended(measurement: Measurement, samples: Samples) -> tuple[Array, Estimate, list[str]]:
    """p, the last linear problem, and what is to be said of it."""
    p, names = np.zeros(len(measurement.names)), measurement.names
    for _ in range(_STEPS):
        structure, reduced = measurement.structure(p), _reduced(measurement, samples, p)
        count, rank = int(reduced.counts.sum()), len(structure.own)
        if count <= rank:
            raise ArgumentError(
                f"fit: {len(samples)} samples have {count} numbers with a weight, for {rank} combinations of "
                "placements and their noise; give more samples"
            )
        estimate = estimated(reduced, structure, names, _no_priors(p), np.zeros(len(p)), weighted=True)
        weights = 1 / estimate.noise

        def cost(at: Array, weights: Array = weights) -> float:
            rows = measurement.rows(samples, at)[..., -1] * np.sqrt(samples.weights)
            return float(sum(np.sum((w * rows[:, g]) ** 2) for w, g in zip(weights, measurement.groups, strict=True)))

        before, step = cost(p), estimate.s - p
        for _ in range(_HALVINGS):
            if cost(p + step) <= before * (1 + _ROUNDING) + _ROUNDING:
                break
            step = step / 2
        moved = measurement.slopes(samples.q, p) @ step
        p = p + step
        if np.abs(moved).max() <= _CONVERGED * estimate.noise.min():
            return p, estimate, []
    return p, estimate, [f"the steps did not converge in {_STEPS} iterations; the samples leave directions nearly free"]
