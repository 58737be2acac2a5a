"""What a fit says of itself that is no error: data that tell little, and data that the model does not explain."""

from __future__ import annotations

import numpy as np

from gdalembert.identification.estimates import BaseEstimate, Torques
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
_SHOWN = 3
"""Names of base parameters in a sentence."""
_ADVICE = "check signs and units of the torques, and gravity and friction of the model, and free more parameters"


def remarks(
    joints: tuple[str, ...], estimate: Estimate, base: BaseEstimate, random_torques: Array, s: Array, fitted: Torques
) -> tuple[str, ...]:
    """One sentence each, for the warnings and the report.

    Args:
        joints: names of the entries of tau.
        estimate: by least squares. ``base``: the same for the report. ``s``: the parameters that were chosen.
        random_torques: the root mean square of the torque of each joint that each entry of s makes in random motions
            (nv × n_p).
        fitted: the torques.
    """
    said = (_few(estimate), _uncertain(estimate, base, random_torques), _unexplained(joints, estimate, s, fitted))
    return tuple(text for text in said if text)


def _few(estimate: Estimate) -> str:
    """That there are too few samples to estimate their noise, or nothing."""
    count, rank = int(estimate.reduced.counts.sum()), len(estimate.base.own)
    if count >= _ENOUGH * rank:
        return ""
    return (
        f"{count} torques are few for {rank} base parameters and their noise: noise and standard deviations mean "
        f"little; give at least {_ENOUGH * rank}"
    )


def _uncertain(estimate: Estimate, base: BaseEstimate, random_torques: Array) -> str:
    """Which base parameters are so uncertain that torques of other motions are, or nothing."""
    torques = estimate.reduced.torques
    errors = (random_torques[:, list(estimate.base.own)] * estimate.standard_deviation).T
    least = np.maximum(torques, _LOUD * torques.max(initial=0)) + np.finfo(float).tiny
    uncertain = np.flatnonzero((errors > least).any(axis=1))
    if not len(uncertain):
        return ""
    first = [base.names[k].split(" ")[0] for k in uncertain[:_SHOWN]]  # of a long formula
    shown = ", ".join(map(repr, first)) + (", …" if len(uncertain) > _SHOWN else "")
    return (
        f"{len(uncertain)} of {len(base)} base parameters are uncertain: one standard deviation of {shown} changes a "
        "torque by more than all of the measured one where joints move at 1 rad/s and rad/s² (m/s and m/s²); excite "
        "them, or give priors with standard deviations"
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
