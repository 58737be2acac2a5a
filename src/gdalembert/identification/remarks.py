"""What is to be said of a fit, one sentence each: why the estimate is not to be trusted as it is.

The efforts of the nominal model are compared with what was measured as well: a model is wrong by some per cent, a
swapped column is another curve.
"""

from __future__ import annotations

import numpy as np

from gdalembert.dynamics.friction import SMOOTHING
from gdalembert.errors import ArgumentError
from gdalembert.identification.least_squares import Descent, Estimate
from gdalembert.identification.problem import LeastSquaresProblem
from gdalembert.identification.result import BaseEstimate, Torques, root_mean_square
from gdalembert.identification.unknowns import element
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
_ALIKE, _UNLIKE = 0.8, 0.5
"""Correlation of curves that are the same, and of curves that are not."""
_FACTOR = 10.0
"""How many times larger or smaller than those of the nominal model torques of the right unit are not."""
_UNIT = 100.0
"""How many times larger currents of one run are not than those of another, in the same unit."""
_NOTABLE, _FOLLOWS = 0.1, 0.4
"""A residual in parts of what was measured that is looked at, and the part of it that another axis explains."""
_MOST = 2000
"""Samples that are looked at."""
_ADVICE = "check signs and units of the torques, and gravity and friction of the model, and free more parameters"


def check_gains(problem: LeastSquaresProblem, descent: Descent) -> None:
    """Refuse gains that the data cannot know.

    Raises:
        ArgumentError: if torques and currents can be scaled together.
    """
    names, n = problem.names, len(problem.names)
    at = np.arange(n - len(problem.unknowns.gains), n)
    unknown = [element(names[k]) for k in at if not np.isfinite(descent.estimate.deviation(np.eye(n)[k : k + 1])[0])]
    if unknown:
        listed = ", ".join(map(repr, unknown[:_SHOWN])) + (", …" if len(unknown) > _SHOWN else "")
        raise ArgumentError(
            f"fit: the gains of {len(unknown)} actuators cannot be known: {listed}; torques and currents scale "
            "together while no number of the robot is known; give gains=, or a run with a load, known={'tool.m': mass}"
        )


def remarks(
    problem: LeastSquaresProblem, descent: Descent, estimate: Estimate, base: BaseEstimate, s: Array, fitted: Torques
) -> tuple[str, ...]:
    """One sentence each, for the warnings and the report: what looks wrong, what is uncertain, and unexplained."""
    said = [*_suspicions(problem)]
    joints, random_rows = problem.efforts.sensors.names, problem.random_rows(s)
    random_torques = np.sqrt(np.sum(random_rows**2, axis=0))
    count, rank = int(estimate.reduced.counts.sum()), len(estimate.base.own)
    if not descent.has_converged:
        said.append("the steps did not converge; the samples leave gains or friction nearly free: give priors for them")
    if count < _ENOUGH * rank:
        said.append(
            f"{count} torques are few for {rank} base parameters and their noise: noise and standard deviations mean "
            f"little; give at least {_ENOUGH * rank}"
        )
    torques = estimate.reduced.torques
    errors = (random_torques[:, list(estimate.base.own)] * np.linalg.norm(estimate.factor, axis=1)).T
    least = np.maximum(torques, _LOUD * torques.max(initial=0)) + np.finfo(float).tiny
    uncertain = np.flatnonzero((errors > least).any(axis=1))
    if len(uncertain):
        first = [base.names[k].split(" ")[0] for k in uncertain[:_SHOWN]]  # of a long formula
        shown = ", ".join(map(repr, first)) + (", …" if len(uncertain) > _SHOWN else "")
        said.append(
            f"{len(uncertain)} of {len(base)} base parameters are uncertain: one standard deviation of {shown} changes "
            "a torque by more than all of the measured one where joints move at 1 rad/s and rad/s² (m/s and m/s²); "
            "excite them, or give priors with standard deviations"
        )
    if not rank and problem.structure.own:
        fastest = max(float(np.abs(run.samples.v).max(initial=0)) for run in problem.runs)
        said.append(
            f"the samples excite none of {len(problem.structure.own)} base parameters, at speeds of at most "
            f"{fastest:.3g}; all values are those of the prior: give a motion"
        )
    said += _couplings(problem, fitted)
    if much := _unexplained(joints, estimate, s, fitted):
        said.append(f"the model cannot explain the data: the residual of {much}; {_ADVICE}")
    return tuple(said)


def _unexplained(joints: tuple[str, ...], estimate: Estimate, s: Array, fitted: Torques) -> str:
    """Which residual is too large, or nothing."""
    residuals, noise = estimate.residuals(s), estimate.torque_noise
    if not estimate.weighted:  # one noise for all joints says nothing of one of them
        total = np.sqrt(np.nanmean(residuals**2))
        residuals, noise = (np.full(len(joints), x) for x in (total, np.sqrt(np.nanmean(noise**2))))
    size = np.nan_to_num(root_mean_square(fitted.measured))
    with np.errstate(invalid="ignore", divide="ignore"):
        above = np.where(fitted.rms > _ACCURATE * size, residuals / noise, 0.0)
    loud = size > _LOUD * size.max(initial=0)
    relative = np.where(loud & np.isfinite(residuals), fitted.relative, 0.0)
    if np.nanmax(above, initial=0) > _MUCH:
        k = int(np.nanargmax(above))
        return f"{joints[k]!r} is {fitted.rms[k]:.3g}, {above[k]:.3g} times the noise that least squares find"
    if relative.max(initial=0) > _HALF:
        k = int(relative.argmax())
        return f"{joints[k]!r} is {fitted.rms[k]:.3g}, {relative[k]:.0%} of its torque"
    return ""


def _suspicions(problem: LeastSquaresProblem) -> list[str]:
    """A sentence for each measurement that looks like that of another sign, sensor or unit, run by run."""
    step = max(1, sum(len(run.samples) for run in problem.runs) // _MOST)
    said, ratios, sizes = list[str](), list[Array](), list[Array]()
    for run, view in zip(problem.runs, problem.unknowns.views, strict=True):
        samples = run.samples.part(slice(None, None, step))
        seen = samples.weights > 0
        measured = samples.measured * seen
        nominal = problem.predicted(samples, view, problem.unknowns.nominal) * seen
        sizes.append(np.sqrt(np.mean(measured**2, axis=0)))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios.append(sizes[-1] / np.sqrt(np.mean(nominal**2, axis=0)))
        where = f"in run {run.label!r} " if len(problem.runs) > 1 else ""
        said += [where + each for each in _looks(problem, _correlations(measured, nominal), ratios[-1])]
    for i in problem.unknowns.gains:
        of_runs, size = (np.array([each[i] for each in found]) for found in (ratios, sizes))
        one, other = int(size.argmax()), int(size.argmin())
        name, labels = problem.efforts.sensors.names[i], [run.label for run in problem.runs]
        if 0 < _UNIT * size[other] < size[one] and of_runs[one] > _FACTOR * of_runs[other]:
            said.append(
                f"the current of {name!r} is {size[one] / size[other]:.3g} times as large in run {labels[one]!r} as in "
                f"run {labels[other]!r}; check its unit"
            )
    return said


def _looks(problem: LeastSquaresProblem, alike: Array, ratio: Array) -> list[str]:
    """Sentences on one run, by the correlations (m × m) of measured and nominal efforts, and their ratios (m)."""
    sensors, said = problem.efforts.sensors, list[str]()
    what = "torque" if sensors.kind == "tau" else "current"
    for i, name in enumerate(sensors.names):
        if alike[i, i] < -_ALIKE:
            said.append(
                f"the {what} of {name!r} has the opposite sign of that of the nominal model (correlation "
                f"{alike[i, i]:.2f}); check its sign"
            )
        for j in range(i + 1, len(sensors.names)):
            own, other = max(alike[i, i], alike[j, j]), min(alike[i, j], alike[j, i])
            if other > _ALIKE and own < _UNLIKE:
                said.append(
                    f"the {what} of {name!r} looks like that of {sensors.names[j]!r} and the other way round "
                    f"(correlations {alike[i, j]:.2f} and {alike[j, i]:.2f}); check the order of columns"
                )
        is_scaled = alike[i, i] > _ALIKE and not 1 / _FACTOR < ratio[i] < _FACTOR
        if is_scaled and i not in problem.unknowns.gains:
            said.append(
                f"the {what} of {name!r} is as that of the nominal model over time and {ratio[i]:.3g} times as large; "
                "check its unit"
            )
    return said


def _couplings(problem: LeastSquaresProblem, fitted: Torques) -> list[str]:
    """A sentence for each sensor whose residual follows the speed, or the effort, of another one."""
    names, said = problem.efforts.sensors.names, list[str]()
    what = "torque" if problem.efforts.sensors.kind == "tau" else "current"
    seen = np.isfinite(fitted.measured)
    residuals, measured = (np.where(seen, x, 0.0) for x in (fitted.residuals, fitted.measured))
    for i in np.flatnonzero(np.nan_to_num(fitted.relative) > _NOTABLE):
        best = (_FOLLOWS, "", "")
        for j in (k for k in range(len(names)) if k != i):
            speed = fitted.speeds[:, j]
            for of, curves in (
                ("speed", np.column_stack([speed, np.tanh(speed / SMOOTHING)])),
                (what, measured[:, [j]]),
            ):
                rest = residuals[:, i] - curves @ np.linalg.lstsq(curves, residuals[:, i], rcond=None)[0]
                part = 1 - float(rest @ rest) / float(residuals[:, i] @ residuals[:, i])
                best = max(best, (part, of, names[j]))
        if best[1]:
            said.append(
                f"the residual of {names[i]!r} follows the {best[1]} of {best[2]!r} ({best[0]:.0%} of it): joints "
                "whose motors are coupled? Give actuation={motor: column of B} and motors="
            )
    return said


def _correlations(measured: Array, nominal: Array) -> Array:
    """Correlation of each measured column with each nominal one (m × m); 0 where one of them does not vary."""
    one, other = (each - each.mean(axis=0) for each in (measured, nominal))
    norms = np.linalg.norm(one, axis=0)[:, None] * np.linalg.norm(other, axis=0)
    return np.asarray(np.divide(one.T @ other, norms, out=np.zeros_like(norms), where=norms > 0))
