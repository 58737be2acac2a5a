"""Remarks on a fit, one sentence each: why the estimate is not to be trusted as it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gdalembert.dynamics.friction import SMOOTHING
from gdalembert.errors import ArgumentError
from gdalembert.identification.least_squares import Descent, LinearEstimate
from gdalembert.identification.problem import LeastSquaresProblem
from gdalembert.identification.result import BaseEstimate, Torques, root_mean_square
from gdalembert.identification.unknowns import element
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import first_named

_MUCH = 1.5
"""A residual in units of the noise of least squares, above which something other than the data decided: bounds, or
bodies that exist. Without them both are the same but for degrees of freedom, 1.4 at two torques for each parameter."""
_HALF, _ROUNDING = 0.5, 1e-9
"""A residual in units of the measured torque that is too large, and a torque in parts of the largest that is none. No
joint is judged by another one: a wrist has a hundredth of the torque of a shoulder."""
_ACCURATE = 1e-3
"""A residual in units of the measured torque that is small whatever the noise is; gains are not known by less."""
_NEARLY_ALL = 0.9
"""The part of a current that is left where the model explains nothing of it."""
_VAGUE = 0.2
"""Relative deviation of a gain that is not known: what little tells it may be that |tau| of a load is rounded."""
_ENOUGH = 2
"""Torques for each base parameter: with fewer, residuals are less than 0.7 of the noise, and tell little of it."""
_SHOWN = 3
"""Names of base parameters in a sentence."""
_NOTABLE, _FOLLOWS = 0.1, 0.4
"""A residual in parts of what was measured that is looked at, and the part of it that another axis explains."""
_OFTEN, _MOSTLY = 0.05, 0.5
"""The part of the samples at rest, and that of the squared residual that they make, which is told."""
_ADVICE = (
    "check signs and units of q, v, a and torques, whether a sensor shows noise alone, and gravity and friction of the "
    "model, and free more parameters"
)


def check_gains(problem: LeastSquaresProblem, descent: Descent, suspected: Sequence[str]) -> None:
    """Refuse gains that the data cannot know, by what looks wrong in them, if anything does; and gains with which the
    model explains nothing of a current, which the steps may have lost.

    Raises:
        ArgumentError: if torques and currents can be scaled together, or the steps led to where a sensor tells nothing.
    """
    names, n, estimate = problem.names, len(problem.names), descent.estimate
    at = np.arange(n - len(problem.unknowns.gains), n)
    sizes = np.nan_to_num(root_mean_square(np.vstack([run.samples.measured for run in problem.runs])))
    with np.errstate(divide="ignore"):
        exactness = float(np.nanmax(_ACCURATE * sizes / estimate.torque_noise, initial=1.0))
    deviations = min(exactness, 1e12) * problem.sizes[at] * estimate.deviation(np.eye(n)[at])  # of logarithms
    unknown = np.flatnonzero(~(deviations < _VAGUE))
    if not len(unknown):
        return
    sensors = np.array(problem.unknowns.gains)[unknown]
    left = estimate.residuals(descent.s)[sensors] > _NEARLY_ALL * estimate.reduced.torques[sensors]
    chosen = unknown[left] if left.any() else unknown
    of = [element(names[at[k]]) for k in chosen]
    listed = first_named(of, _SHOWN)
    subject = f"gains of {len(of)} actuators" if len(of) > 1 else "gain of an actuator"
    if suspected:
        raise ArgumentError(f"fit: the {subject} cannot be known: {listed}; {suspected[0]}")
    if left.any():
        raise ArgumentError(
            f"fit: the {subject} was not found: {listed}; the steps ended where the model explains nothing of this "
            f"current: begin near it, gains={{{of[0]!r}: (value, standard deviation)}}, if the sensor shows more than "
            "noise"
        )
    raise ArgumentError(
        f"fit: the {subject} cannot be known: {listed}; torques and currents scale together while no number of the "
        "robot is known; give gains=, or a run with a load, known={'tool.m': mass}"
    )


def remarks(
    problem: LeastSquaresProblem,
    descent: Descent,
    estimate: LinearEstimate,
    base: BaseEstimate,
    s: Array,
    torques_of: tuple[Torques, Torques | None],
) -> tuple[str, ...]:
    """Sentences for the warnings and the report: what looks wrong, what is uncertain, and what is not explained.

    ``torques_of``: torques of the samples that were fitted, and of those held back.
    """
    said, (fitted, held_back) = list[str](), torques_of
    joints, random_rows = problem.efforts.sensors.names, problem.random_rows(s)
    random_torques = np.sqrt(np.sum(random_rows**2, axis=0))
    count, rank = int(estimate.reduced.counts.sum()), len(estimate.base.pivots)
    if not descent.has_converged:
        said.append(
            f"the steps did not converge: the sum of squares still falls by {descent.fall:.2g} of itself; begin "
            "nearer, with priors for gains or for friction under load"
        )
    if count < _ENOUGH * rank:
        said.append(
            f"{count} torques are few for {rank} base parameters and their noise: noise and standard deviations mean "
            f"little; give at least {_ENOUGH * rank}"
        )
    torques = estimate.reduced.torques
    errors = (random_torques[:, list(estimate.base.pivots)] * np.linalg.norm(estimate.factor, axis=1)).T
    least = np.maximum(torques, root_mean_square(fitted.predicted)) + _ROUNDING * torques.max(initial=0)
    uncertain = np.flatnonzero((errors > least).any(axis=1))
    if len(uncertain):
        shown = first_named([base.names[k].split(" ")[0] for k in uncertain], _SHOWN)  # formulas are long
        said.append(
            f"{len(uncertain)} of {len(base)} base parameters are uncertain: one standard deviation of {shown} changes "
            "a torque by more than all of the measured one where joints move at 1 rad/s and rad/s² (m/s and m/s²); "
            "excite them, or give priors with standard deviations"
        )
    if not rank and problem.structure.pivots:
        fastest = max(float(np.abs(run.samples.v).max(initial=0)) for run in problem.runs)
        said.append(
            f"the samples excite none of {len(problem.structure.pivots)} base parameters, at speeds of at most "
            f"{fastest:.3g}; all values are those of the prior: give a motion"
        )
    said += _couplings(problem, fitted)
    if much := _unexplained(joints, estimate, s, fitted):
        said.append(f"the model cannot explain the data: the residual of {much}; {_ADVICE}")
    said += _unforeseen(problem, fitted, held_back)
    return tuple(said)


def _unexplained(joints: tuple[str, ...], estimate: LinearEstimate, s: Array, fitted: Torques) -> str:
    """The residual that is too large, in words; empty if none is."""
    residuals, noise = estimate.residuals(s), estimate.torque_noise
    if not estimate.weighted:  # one noise for all joints says nothing of one of them
        total = np.sqrt(np.nanmean(residuals**2))
        residuals, noise = (np.full(len(joints), x) for x in (total, np.sqrt(np.nanmean(noise**2))))
    size = np.nan_to_num(root_mean_square(fitted.measured))
    with np.errstate(invalid="ignore", divide="ignore"):
        above = np.where(fitted.rms > _ACCURATE * size, residuals / noise, 0.0)
    is_known = np.isfinite(residuals) & (size > _ROUNDING * size.max(initial=0))
    relative = np.where(is_known, fitted.relative, 0.0)
    if np.nanmax(above, initial=0) > _MUCH:
        k = int(np.nanargmax(above))
        return f"{joints[k]!r} is {fitted.rms[k]:.3g}, {above[k]:.3g} times the noise that least squares find"
    large = sorted(np.flatnonzero(relative > _HALF), key=lambda k: -relative[k])
    if not large:
        return ""
    others = "".join(f", of {joints[k]!r} {relative[k]:.0%}" for k in large[1:_SHOWN])
    more = ", …" if len(large) > _SHOWN else ""
    return f"{joints[large[0]]!r} is {fitted.rms[large[0]]:.3g}, {relative[large[0]]:.0%} of its torque{others}{more}"


def _unforeseen(problem: LeastSquaresProblem, fitted: Torques, held_back: Torques | None) -> list[str]:
    """A sentence for the sensors whose residual is too large in the samples held back, and not in those fitted."""
    if held_back is None:
        return []
    names, size = problem.efforts.sensors.names, np.nan_to_num(root_mean_square(held_back.measured))
    there, here = (np.nan_to_num(torques.relative) for torques in (held_back, fitted))
    far = np.flatnonzero((there > _HALF) & (here <= _HALF) & (size > _ROUNDING * size.max(initial=0)))
    if not len(far):
        return []
    k = max(far, key=lambda k: float(there[k]))
    others = "".join(f", of {names[j]!r} {there[j]:.0%}" for j in far[far != k][: _SHOWN - 1])
    more = ", …" if len(far) > _SHOWN else ""
    return [
        f"the residual of {names[k]!r} in the samples held back is {there[k]:.0%} of its torque{others}{more}, and "
        f"{here[k]:.0%} in those fitted: they do not tell it of other motions; fit a motion that excites more, as "
        "rests, reversals and loads of those held back"
    ]


def _couplings(problem: LeastSquaresProblem, fitted: Torques) -> list[str]:
    """A sentence for each sensor whose residual follows the speed, or the effort, of another one."""
    names, said = problem.efforts.sensors.names, list[str]()
    effort = "torque" if problem.efforts.sensors.kind == "tau" else "current"
    b = getattr(problem.efforts.dyn.actuators, "b", np.eye(1))
    is_coupled = (np.count_nonzero(b, axis=1) > 1).any()
    advice = (
        "are motors coupled otherwise than the columns of actuation= say, or is a rotor not in motors=?"
        if is_coupled
        else "joints whose motors are coupled? Give actuation={motor: column of B} and motors="
    )
    seen = np.isfinite(fitted.measured)
    residuals, measured = (np.where(seen, x, 0.0) for x in (fitted.residuals, fitted.measured))
    for i in np.flatnonzero(np.nan_to_num(fitted.relative) > _NOTABLE):
        best = (_FOLLOWS, "", "")
        for j in (k for k in range(len(names)) if k != i):
            speed = fitted.speeds[:, j]
            # With tanh of the speed, as Coulomb friction of the other axis would be, beside its viscous part.
            for of, curves in (
                ("speed", np.column_stack([speed, np.tanh(speed / SMOOTHING)])),
                (effort, measured[:, [j]]),
            ):
                rest = residuals[:, i] - curves @ np.linalg.lstsq(curves, residuals[:, i], rcond=None)[0]
                part = 1 - float(rest @ rest) / float(residuals[:, i] @ residuals[:, i])
                best = max(best, (part, of, names[j]))
        if best[1]:
            said.append(
                f"the residual of {names[i]!r} follows the {best[1]} of {best[2]!r} ({best[0]:.0%} of it): {advice}"
            )
    return said


def resting(problem: LeastSquaresProblem, fitted: Torques, held_back: Torques | None) -> list[str]:
    """A sentence for each sensor whose residual is mostly that of samples at rest, where ``sticking`` is not given."""
    judged, suffix = (fitted, "") if held_back is None else (held_back, " held back")
    seen = np.isfinite(judged.measured)
    at_rest = seen & (np.abs(judged.speeds) < SMOOTHING)
    squares, said = np.where(seen, judged.residuals, 0.0) ** 2, list[str]()
    names = problem.efforts.sensors.names
    for i in (j for j in problem.coulomb if judged.relative[j] > _NOTABLE):
        often = np.count_nonzero(at_rest[:, i]) / np.count_nonzero(seen[:, i])
        of_residual = squares[at_rest[:, i], i].sum() / squares[:, i].sum()
        if _OFTEN < often < 1 and of_residual > _MOSTLY:
            said.append(
                f"{names[i]!r} is slower than {SMOOTHING:g} in {often:.0%} of the samples{suffix}, "
                f"and they make {of_residual:.0%} of its squared residual: friction holds it there by any torque up to "
                f"its Coulomb friction; sticking={SMOOTHING:g} leaves them out, and tells the residual with and without"
            )
    return said
