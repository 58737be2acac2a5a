"""What a fit says of itself that is no error: data that the model does not explain."""

from __future__ import annotations

import numpy as np

from gdalembert.identification.estimates import Torques
from gdalembert.identification.least_squares import Estimate
from gdalembert.spatial.arrays import Array

_MUCH = 1.5
"""A residual in units of the noise of least squares, above which something other than the data decided."""
_HALF, _LOUD = 0.5, 0.05
"""A residual in units of the measured torque, which is too large where the torque is at least this part of the largest:
a joint with less may show noise alone."""
_ACCURATE = 1e-3
"""A residual in units of the measured torque that is small whatever the noise is."""
_ENOUGH = 2
"""Torques for each base parameter."""
_ADVICE = "check signs and units of the torques, and gravity and friction of the model, and free more parameters"


def remarks(joints: tuple[str, ...], estimate: Estimate, s: Array, fitted: Torques) -> tuple[str, ...]:
    """One sentence each, for the warnings and the report.

    Args:
        joints: names of the entries of tau.
        estimate: by least squares. ``s``: the parameters that were chosen, in its units.
        fitted: the torques.
    """
    return tuple(text for text in (_few(estimate), _unexplained(joints, estimate, s, fitted)) if text)


def _few(estimate: Estimate) -> str:
    """That there are too few samples to estimate their noise, or nothing."""
    count, rank = int(estimate.reduced.counts.sum()), estimate.knowledge.directions.shape[1]
    if count >= _ENOUGH * rank:
        return ""
    return (
        f"{count} torques are few for {rank} base parameters and their noise: noise and standard deviations mean "
        f"little; give at least {_ENOUGH * rank}"
    )


def _unexplained(joints: tuple[str, ...], estimate: Estimate, s: Array, fitted: Torques) -> str:
    """Why the residuals are too large, or nothing."""
    residuals, noise = estimate.residuals(s), estimate.torque_noise
    if not estimate.weighted:  # one noise for all joints says nothing of one of them
        total = np.sqrt(np.nanmean(residuals**2))
        residuals, noise = (np.full(len(joints), x) for x in (total, np.sqrt(np.nanmean(noise**2))))
    size = np.sqrt(np.mean(fitted.measured**2, axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        above = np.where(fitted.relative > _ACCURATE, residuals / noise, 0.0)
    loud = size > _LOUD * size.max(initial=0)
    relative = np.where(loud & np.isfinite(residuals), fitted.relative, 0.0)
    if np.nanmax(above, initial=0) > _MUCH:
        k = int(np.nanargmax(above))
        much = f"{above[k]:.3g} times the noise that least squares find"
    elif relative.max(initial=0) > _HALF:
        k = int(relative.argmax())
        much = f"{relative[k]:.0%} of its torque"
    else:
        return ""
    return f"the model cannot explain the data: the residual of {joints[k]!r} is {fitted.rms[k]:.3g}, {much}; {_ADVICE}"
