"""Measurements that look wrong, one sentence each: of another sensor, sign or unit, or of another motion.

What is measured is compared with the efforts of the nominal model, which is wrong by some per cent; with the span of
the regressor of each sensor, whatever the parameters are; and with other runs. The three of q, v and a are compared
with each other, and efforts with the rates of the fitted ones, where samples follow each other in time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.friction import SMOOTHING
from gdalembert.identification.experiment import Run, Samples
from gdalembert.identification.problem import LeastSquaresProblem
from gdalembert.identification.unknowns import View
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import first_named

# The limits stand between what right and wrong columns show in 24 simulated logs of a PUMA 560 and a Panda. Their
# masses, centres of mass and inertias are off by 20 % (standard deviation), friction makes 30 % of the torques, noise
# 3 %. A remark on a right log costs the user's trust: where both overlap, the limit spares all right columns and misses
# some wrong ones.
_ALIKE = 0.8
"""Correlation of curves that are the same: of 156 right torques with their nominal ones it is above in 63 %, and never
below −0.05, so that the opposite sign is told for as many. Torques of other joints reach 0.86 and −0.97: correlation
tells signs and units of a sensor, not which sensor it is."""
_FACTOR = 10.0
"""Ratio of torques to those of the nominal model, beyond which they are not of the right unit: of right ones that are
alike it is 0.5 to 1.4. N mm are off by 1000; lbf ft, by 1.36, cannot be told from another mass."""
_UNIT = 100.0
"""Ratio of the currents of two runs, beyond which they are not in the same unit: friction makes the currents of a light
wrist many times those of a model without friction, so that the factor above would tell right ones."""
_MOST, _FEW, _SHOWN = 2000, 1000, 3
"""Samples that are looked at, and for a shift in time, which bound the time of a fit of a long log; and names that are
listed."""
_ENOUGH = 5
"""Samples for each parameter, below which a regressor explains any curve: noise alone leaves √(1 − 1/5) = 0.9 of it."""
_DEPENDENT = 1e-6
"""Relative singular value of a regressor below which it is 0."""
_OTHER = 0.5
"""The part of what its own regressor leaves of a measurement that another one leaves, if it is that of the other: at
least 0.97 of right columns, below 0.5 of 73 % and below 0.7 of 98 % of those that were exchanged with a neighbour's."""
_LEFT, _MORE = 0.2, 3.0
"""The part that a fit of all runs leaves of a measurement, and in units of what a fit of its run alone leaves, if runs
contradict each other: at most 0.10 and 2.2 of right runs; above both limits are 98 % of columns with the opposite sign
in one of two runs, and 77 % of those with half of the torque."""
_RESTS = SMOOTHING
"""Speed [rad/s, m/s], and part of the largest speed, below which a joint rests: there Coulomb friction, smoothed by
tanh(v / 0.01), is below 0.76 of its size."""
_STEADY, _UNSTEADY, _RATE = 0.2, 0.5, 1.25
"""Median deviation of dq / v from dt, relative to it, of curves that belong to each other and of others; and how many
times larger dt by dq / v is not than dt by dv / a. Right columns of filtered logs deviate by at most 2e-4, q of another
joint by at least 0.34 and in 99 % by more than 0.5: between the two limits nothing is said."""
_LATEST, _STEPS = 0.2, 10
"""The largest shift in time that is looked for [s], and in how many steps."""
_LEAST, _CERTAIN, _EXPLAINED = 0.5, 5.0, 0.35
"""The least shift that is told, in samples and in standard deviations, and the least part of what is left of some
measurement that it explains. Currents of a UR10e look late by 0.7 to 1.1 samples, which explain at most 0.23 of it:
that is what friction holds at rest, and without these samples at most 0.4 of a sample is left."""


_NOTHING = 1e-100
"""Efforts below it are those of bodies whose mass is there for its sign alone."""


def suspicions(problem: LeastSquaresProblem) -> list[str]:
    """A sentence for each measurement that looks like that of another sign, sensor or unit, run by run."""
    said, ratios, sizes = _resting(problem), list[Array](), list[Array]()
    for run, view in zip(problem.runs, problem.unknowns.views, strict=True):
        samples = _some(problem, run)
        seen = samples.weights > 0
        measured = samples.measured * seen
        nominal = problem.predicted(samples, view, problem.unknowns.nominal) * seen
        nominal[np.abs(nominal) < _NOTHING] = 0.0  # as of a URDF without inertia, to which nothing is compared
        sizes.append(np.sqrt(np.mean(measured**2, axis=0)))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios.append(sizes[-1] / np.sqrt(np.mean(nominal**2, axis=0)))
        prefix = f"in run {run.label!r} " if len(problem.runs) > 1 else ""
        suspected = [*_of_another_motion(problem, run), *_constant(problem, samples)]
        suspected += _of_others(problem, _left(problem, samples, view))
        suspected += _looks(problem, samples, view, measured, nominal, ratios[-1])
        said += [prefix + remark for remark in suspected]
    for i in problem.unknowns.gains:
        of_runs, size = (np.array([values[i] for values in by_run]) for by_run in (ratios, sizes))
        one, other = int(size.argmax()), int(size.argmin())
        name, labels = problem.efforts.sensors.names[i], [run.label for run in problem.runs]
        if 0 < _UNIT * size[other] < size[one] and of_runs[one] > _FACTOR * of_runs[other]:
            said.append(
                f"the current of {name!r} is {size[one] / size[other]:.3g} times as large in run {labels[one]!r} as in "
                f"run {labels[other]!r}; check its unit"
            )
    return said


def contradictions(problem: LeastSquaresProblem, x: Array) -> list[str]:
    """A sentence for the measurement that the fit of all runs explains worst beside one of its run alone."""
    if len(problem.runs) < 2:
        return []
    worst, said = _MORE, list[str]()
    for run, view in zip(problem.runs, problem.unknowns.views, strict=True):
        samples = _some(problem, run)
        if (left_alone := _left(problem, samples, view)) is None:
            continue
        seen = samples.weights > 0
        rest = np.linalg.norm((samples.measured - problem.predicted(samples, view, x)) * seen, axis=0)
        size = np.linalg.norm(samples.measured * seen, axis=0)
        for i, name in enumerate(problem.efforts.sensors.names[: problem.efforts.sensors.width]):
            left, alone = rest[i] / size[i] if size[i] else 0.0, float(left_alone[i, i])
            if left > _LEFT and left > worst * alone:
                worst = left / alone if alone else np.inf
                said = [
                    f"in run {run.label!r} the residual of {name!r} is {left:.2g} times its {_effort(problem)}, and "
                    f"{alone:.2g} times where it is fitted alone: the runs contradict each other; check signs, units, "
                    "the order of columns, and what is known of each run"
                ]
    return said


def shifted(problem: LeastSquaresProblem, x: Array) -> list[str]:
    """A sentence for each run whose efforts were measured later or earlier than its motion."""
    said, names, effort = list[str](), problem.efforts.sensors.names, _effort(problem)
    for run, view in zip(problem.runs, problem.unknowns.views, strict=True):
        if (lag := shift(problem, run, view, x)) is None:
            continue
        k, count = int(lag.explained.argmax()), abs(lag.samples)
        if count > max(_LEAST, _CERTAIN * lag.standard_deviation) and lag.explained[k] > _EXPLAINED:
            prefix = f"in run {run.label!r} " if len(problem.runs) > 1 else ""
            said.append(
                f"{prefix}the {effort}s {'lag behind' if lag.samples > 0 else 'are ahead of'} q, v and a by about "
                f"{1e3 * count * lag.dt:.3g} ms ({count:.3g} samples), which explains {lag.explained[k]:.0%} of "
                f"what is left of that of {names[k]!r}; align them in time, and filter without delay"
            )
    return said


@dataclass(frozen=True, eq=False)
class Shift:
    """The lag of the efforts of a run behind its motion, in samples of dt [s], its standard deviation, and the part of
    what is left of each measurement that it explains (m)."""

    samples: float
    standard_deviation: float
    dt: float
    explained: Array


def shift(problem: LeastSquaresProblem, run: Run, view: View, x: Array) -> Shift | None:
    """The shift of all sensors; ``None`` of samples that are few, or that do not follow each other in time.

    An effort that lags by d is f(t − d) = f − d df/dt, to first order in what d is off whole samples. f is that of the
    fit, and d is fitted beside the regressor of the sensor and friction of all axes, since what the parameters, or
    friction and coupled motors that the model has not, explain as well is no shift.
    """
    samples, width = run.samples, problem.efforts.sensors.width
    if len(samples) <= _ENOUGH:
        return None
    dt, off = min((_step(v, a) for v, a in zip(samples.v.T, samples.a.T, strict=True)), key=lambda step: step[1])
    if off > _STEADY or dt <= 0:
        return None
    seen = samples.weights > 0
    known = zip(samples.measured.T, (seen | samples.slow).T, strict=True)
    measured = np.column_stack([_bridged(*column) for column in known])[:, :width]
    # Of predicted efforts: differences of measured ones would be mostly their noise.
    rates = np.gradient(np.where(seen, problem.predicted(samples, view, x), np.nan), axis=0)[:, :width]
    most = min(len(samples) // 4, round(_LATEST / dt))
    some = slice(most, len(samples) - most, max(1, len(samples) // _FEW))
    rows = np.arange(len(samples))[some]
    usable = np.isfinite(rates[rows]) & problem.efforts.sensors.is_driven[:width]
    bases = _bases_beside_friction(problem, samples.part(some), view, usable)

    def left(values: Array) -> Array:
        values = np.where(usable, values, 0.0)
        return np.column_stack([y - basis @ (basis.T @ y) for y, basis in zip(values.T, bases, strict=True)])

    # of what these leave: a UR10e's log has shifts of 0.7 to 1.1 samples so, and shifted by 5 samples of 5.8 to 6.1
    direction, before = left(rates[rows]), left(measured[rows])
    free = np.maximum(np.count_nonzero(usable, axis=0) - [basis.shape[1] for basis in bases], 1)
    squares, least = np.sum(direction**2, axis=0), _DEPENDENT * np.var(measured, axis=0)
    whole = 0
    for _ in range(_STEPS):
        rest = left(measured[rows + whole])
        along = -np.sum(direction * rest, axis=0)
        lags = np.divide(along, squares, out=np.zeros(width), where=squares > 0)
        noise = np.maximum(np.sum((rest + lags * direction) ** 2, axis=0) / free, least)
        weights = np.divide(squares, noise, out=np.zeros(width), where=noise > 0)
        if not weights.any():
            return None
        beyond = float(weights @ lags / weights.sum())
        if abs(beyond) <= _LEAST or abs(whole + round(beyond)) > most:
            break
        whole += round(beyond)
    if abs(beyond) > 1:
        return None
    total, after = np.sum(before**2, axis=0), np.sum((rest + beyond * direction) ** 2, axis=0)
    explained = 1 - np.divide(after, total, out=np.ones(width), where=total > 0)
    return Shift(whole + beyond, float(weights.sum() ** -0.5), dt, explained)


def _bases_beside_friction(
    problem: LeastSquaresProblem, samples: Samples, view: View, usable: npt.NDArray[np.bool_]
) -> list[Array]:
    """Orthonormal bases of each sensor's regressor, an offset and friction of all axes; few rows are not usable."""
    speeds = samples.v @ problem.efforts.sensors.speeds.T
    beside = np.column_stack([np.ones(len(samples)), speeds, np.tanh(speeds / SMOOTHING)])
    y, known, free = _regressor(problem, samples, view)
    bases = []
    for j in range(usable.shape[1]):
        columns = np.column_stack([y[:, j, free], known[:, j], beside])
        if np.count_nonzero(usable[:, j]) < _ENOUGH * columns.shape[1]:
            usable[:, j] = False
        bases.append(_basis(columns * usable[:, [j]]) if usable[:, j].any() else np.zeros((len(samples), 0)))
    return bases


def _bridged(values: Array, seen: npt.NDArray[np.bool_]) -> Array:
    """Values with straight lines across what was not seen."""
    at = np.arange(len(values))
    return np.asarray(np.interp(at, at[seen], values[seen])) if seen.any() else np.zeros(len(values))


def _effort(problem: LeastSquaresProblem) -> str:
    return "torque" if problem.efforts.sensors.kind == "tau" else "current"


def _some(problem: LeastSquaresProblem, run: Run) -> Samples:
    """The samples of a run that are looked at, evenly spaced."""
    return run.samples.part(slice(None, None, max(1, sum(len(other.samples) for other in problem.runs) // _MOST)))


def _left(problem: LeastSquaresProblem, samples: Samples, view: View) -> Array | None:
    """The part (m × m) of the measurements of each sensor that the regressor of each other one leaves, whatever the
    parameters are; ``None`` of too few samples."""
    n, m = len(problem.efforts.names), len(problem.efforts.sensors.names)
    some = np.asarray((samples.weights > 0)[:, : problem.efforts.sensors.width].all(axis=1))
    if np.count_nonzero(some) < _ENOUGH * (np.count_nonzero(view.free[:n]) + 1):
        return None
    samples = samples.part(some)
    y, known, free = _regressor(problem, samples, view)
    measured = samples.measured
    size = np.linalg.norm(measured, axis=0)
    left = np.ones((m, m))
    for j in range(m):
        # With an offset, which a sensor may have, and which no joint is to be told from another one by.
        u = _basis(np.column_stack([y[:, j, free], known[:, j], np.ones(len(y))]))
        left[:, j] = np.linalg.norm(measured - u @ (u.T @ measured), axis=0)
    return np.asarray(np.divide(left, size[:, None], out=np.zeros((m, m)), where=size[:, None] > 0))


def _regressor(problem: LeastSquaresProblem, samples: Samples, view: View) -> tuple[Array, Array, npt.NDArray[np.intp]]:
    """The regressor Y about the nominal parameters, the efforts of what is known, and the places of the free ones."""
    n = len(problem.efforts.names)
    free, z = np.flatnonzero(view.free[:n]), view.of(problem.unknowns.nominal)[:n]
    y, f = problem.efforts.derivatives(z, *samples.states)
    return y, f - y[..., free] @ z[free], free


def _basis(columns: Array) -> Array:
    """Orthonormal columns of the same span."""
    norms = np.linalg.norm(columns, axis=0)
    u, values, _ = np.linalg.svd(columns[:, norms > 0] / norms[norms > 0], full_matrices=False)
    return np.asarray(u[:, values > _DEPENDENT * values[0]])


def _of_others(problem: LeastSquaresProblem, left: Array | None) -> Iterator[str]:
    """Sentences on measurements that the regressor of another sensor explains, and their own does not."""
    if left is None:
        return
    names, effort, width = problem.efforts.sensors.names, _effort(problem), problem.efforts.sensors.width
    best = {i: int(k) for i, k in enumerate(left[:width, :width].argmin(axis=1))}
    others = {i: j for i, j in best.items() if left[i, j] < _OTHER * min(left[i, i], 1.0)}
    for i, j in others.items():
        beside = f"(its motion leaves {left[i, j]:.0%} of it, and that of its own {left[i, i]:.0%})"
        if others.get(j) == i:
            if i < j:
                yield (
                    f"the {effort} of {names[i]!r} looks like that of {names[j]!r} and the other way round {beside}; "
                    "check the order of columns"
                )
        elif j in others:  # else its own motion explains it, and much else, as that of all joints behind it does
            yield f"the {effort} of {names[i]!r} looks like that of {names[j]!r} {beside}; check the order of columns"


def _looks(
    problem: LeastSquaresProblem, samples: Samples, view: View, measured: Array, nominal: Array, ratio: Array
) -> Iterator[str]:
    """Sentences on one run, by the correlations of measured and nominal efforts, and their ratios (m)."""
    effort = _effort(problem)
    for i, (name, alike) in enumerate(
        zip(problem.efforts.sensors.names, _correlations(measured, nominal), strict=True)
    ):
        if alike < -_ALIKE:
            yield (
                f"the {effort} of {name!r} has the opposite sign of that of the nominal model "
                f"(correlation {alike:.2f}); check its sign"
            )
        is_scaled = alike > _ALIKE and not 1 / _FACTOR < ratio[i] < _FACTOR and i not in problem.unknowns.gains
        if is_scaled and not _made_by_rotors(problem, samples, view, i):
            yield (
                f"the {effort} of {name!r} is as that of the nominal model over time and {ratio[i]:.3g} times as "
                "large; check its unit"
            )


def _made_by_rotors(problem: LeastSquaresProblem, samples: Samples, view: View, sensor: int) -> bool:
    """Whether rotors and friction that are 0 in the nominal model can make an effort other than the nominal one.

    So they can if they explain most of the nominal effort as well, as the inertia of a light wrist, or if what they
    leave of both has nearly one scale.
    """
    y, _, free = _regressor(problem, samples, view)
    z, seen = view.of(problem.unknowns.nominal), samples.weights[:, sensor] > 0
    of_bodies = {k for body in problem.bodies for k in body.indices}
    columns = y[seen, sensor][:, [k for k in free if z[k] == 0 and k not in of_bodies]]
    if not columns.any():
        return False
    u = _basis(columns)
    nominal = problem.predicted(samples, view, problem.unknowns.nominal)[seen, sensor]
    rest, measured = (x - u @ (u.T @ x) for x in (nominal, samples.measured[seen, sensor]))
    if np.linalg.norm(rest) < _OTHER * np.linalg.norm(nominal):
        return True
    return bool(1 / _FACTOR < rest @ measured / (rest @ rest) < _FACTOR)


def _correlations(measured: Array, nominal: Array) -> Array:
    """Correlation of each measured column with the nominal one (m); 0 where one of them does not vary."""
    one, other = (columns - columns.mean(axis=0) for columns in (measured, nominal))
    norms = np.linalg.norm(one, axis=0) * np.linalg.norm(other, axis=0)
    return np.asarray(np.divide(np.sum(one * other, axis=0), norms, out=np.zeros_like(norms), where=norms > 0))


def _constant(problem: LeastSquaresProblem, samples: Samples) -> Iterator[str]:
    """Sentences on sensors that always measure the same, though their axes move."""
    sensors = problem.efforts.sensors
    speeds = samples.v @ sensors.speeds.T
    for i, name in enumerate(sensors.names[: sensors.width]):
        seen = samples.weights[:, i] > 0
        values = samples.measured[seen, i]
        if len(values) > 1 and np.ptp(values) == 0 and sensors.is_driven[i] and np.ptp(speeds[seen, i]) > _RESTS:
            yield (
                f"the {_effort(problem)} of {name!r} is {values[0]:.4g} in all samples, though it moves; give NaN "
                "where it was not measured"
            )


def _resting(problem: LeastSquaresProblem) -> list[str]:
    """Sentences on joints that rest in all runs, and on runs in which all joints do."""
    speeds = np.array([np.abs(run.samples.v).max(axis=0) for run in problem.runs])
    fastest = speeds.max(axis=0)
    at_rest = np.flatnonzero(fastest < _RESTS * min(1.0, float(fastest.max())))
    names = problem.efforts.dyn.coordinate_names
    said = []
    if len(at_rest):
        resting = first_named([names[k] for k in at_rest], _SHOWN)
        said.append(
            f"the speed of {resting} is at most {fastest[at_rest].max():.2g} in all "
            "samples; what their motion alone tells, as friction, stays as in the prior: move them"
        )
    for run, run_speeds in zip(problem.runs, speeds, strict=True):
        if run_speeds.max() < _RESTS <= fastest.max():
            said.append(f"in run {run.label!r} no speed is above {run_speeds.max():.2g}; it tells gravity alone")
    return said


def _of_another_motion(problem: LeastSquaresProblem, run: Run) -> Iterator[str]:
    """Sentences on joints whose q does not change as v says, where v changes as a says; likewise v and a."""
    samples, tree = run.samples, problem.efforts.dyn.nominal
    if len(samples) <= len(tree.joints) * _ENOUGH:
        return
    others: dict[str, list[str]] = {"q": [], "v": []}
    scaled: dict[str, list[str]] = {}
    fastest = np.sqrt(np.mean(samples.v**2))
    for joint in tree.independent_joints:
        if not joint.type.velocity_is_rate:
            continue
        for i, k in enumerate(joint.columns):
            v = samples.v[:, k]
            size = np.sqrt(np.mean(v**2))
            if size <= _RESTS * fastest or np.std(v) <= _STEADY * size:  # it rests, or is as fast in all samples
                continue
            (by_v, of_v), (by_a, of_a) = _step(samples.q[:, joint.idx_q + i], v), _step(v, samples.a[:, k])
            if of_v > _UNSTEADY and of_a < _STEADY:
                others["q"].append(joint.name)
            elif of_a > _UNSTEADY and of_v < _STEADY:
                others["v"].append(joint.name)
            elif max(of_v, of_a) < _STEADY and not 1 / _RATE < by_v / by_a < _RATE:
                scaled.setdefault(f"{by_v / by_a:.3g}", []).append(joint.name)
    for of, names in others.items():
        if names:
            rate, shown = {"q": "v", "v": "a"}[of], first_named(names, _SHOWN)
            yield f"{of} of {shown} does not change as {rate} says; check the order of their columns"
    for ratio, names in scaled.items():
        shown = first_named(names, _SHOWN)
        yield (
            f"q of {shown} changes {ratio} times as much in a step as v does by a; check units and signs of q, v and a"
        )


def _step(x: Array, rate: Array) -> tuple[float, float]:
    """The step dt of x(t) with dx/dt = rate, by the median of dx / rate, and the median deviation from it, relative."""
    mean = (rate[1:] + rate[:-1]) / 2
    fast = np.abs(mean) > _OTHER * np.sqrt(np.mean(mean**2))
    if not fast.any():
        return 0.0, np.inf
    steps = np.diff(x)[fast] / mean[fast]
    dt = float(np.median(steps))
    return dt, float(np.median(np.abs(steps - dt)) / abs(dt)) if dt else np.inf
