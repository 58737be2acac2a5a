"""Measurements that look wrong, one sentence each: of another sensor, sign or unit, or of another motion.

What is measured is compared with the efforts of the nominal model, which is wrong by some per cent; with the span of
the regressor of each sensor, whatever the parameters are; and with other runs. The three of q, v and a are compared
with each other where samples follow each other in time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gdalembert.identification.experiment import Run, Samples
from gdalembert.identification.problem import LeastSquaresProblem
from gdalembert.identification.unknowns import View
from gdalembert.spatial.arrays import Array

_ALIKE = 0.8
"""Correlation of curves that are the same."""
_FACTOR = 10.0
"""How many times larger or smaller than those of the nominal model torques of the right unit are not."""
_UNIT = 100.0
"""How many times larger currents of one run are not than those of another, in the same unit."""
_MOST, _SHOWN = 2000, 3
"""Samples that are looked at, and names that are listed."""
_ENOUGH = 5
"""Samples for each parameter, below which a regressor explains any curve."""
_DEPENDENT = 1e-6
"""Relative singular value of a regressor below which it is 0."""
_OTHER = 0.5
"""The part of what its own regressor leaves of a measurement that another one leaves, if it is that of the other."""
_LEFT, _MORE = 0.2, 3.0
"""What a fit of all runs leaves of a measurement, and in units of what a fit of its run alone leaves, if runs
contradict each other."""
_RESTS = 0.01
"""Speed [rad/s, m/s], and part of the largest speed, below which a joint rests."""
_STEADY, _UNSTEADY, _RATE = 0.2, 0.5, 1.25
"""Median deviation of dq / v from dt, relative to it, of curves that belong to each other and of others; and how many
times larger dt by dq / v is not than dt by dv / a."""


def suspicions(problem: LeastSquaresProblem) -> list[str]:
    """A sentence for each measurement that looks like that of another sign, sensor or unit, run by run."""
    said, ratios, sizes = _resting(problem), list[Array](), list[Array]()
    for run, view in zip(problem.runs, problem.unknowns.views, strict=True):
        samples = _some(problem, run)
        seen = samples.weights > 0
        measured = samples.measured * seen
        nominal = problem.predicted(samples, view, problem.unknowns.nominal) * seen
        sizes.append(np.sqrt(np.mean(measured**2, axis=0)))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios.append(sizes[-1] / np.sqrt(np.mean(nominal**2, axis=0)))
        where = f"in run {run.label!r} " if len(problem.runs) > 1 else ""
        found = [*_of_another_motion(problem, run), *_constant(problem, samples)]
        found += [*_of_others(problem, _left(problem, samples, view)), *_looks(problem, measured, nominal, ratios[-1])]
        said += [where + each for each in found]
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


def contradictions(problem: LeastSquaresProblem, x: Array) -> list[str]:
    """A sentence for the measurement that the fit of all runs explains worst beside one of its run alone."""
    if len(problem.runs) < 2:
        return []
    worst, said = _MORE, list[str]()
    for run, view in zip(problem.runs, problem.unknowns.views, strict=True):
        samples = _some(problem, run)
        if (alone := _left(problem, samples, view)) is None:
            continue
        seen = samples.weights > 0
        rest = np.linalg.norm((samples.measured - problem.predicted(samples, view, x)) * seen, axis=0)
        size = np.linalg.norm(samples.measured * seen, axis=0)
        for i, name in enumerate(problem.efforts.sensors.names[: problem.efforts.sensors.width]):
            left, own = rest[i] / size[i] if size[i] else 0.0, float(alone[i, i])
            if left > _LEFT and left > worst * own:
                worst = left / own if own else np.inf
                said = [
                    f"in run {run.label!r} the residual of {name!r} is {left:.2g} times its {_effort(problem)}, and "
                    f"{own:.2g} times where it is fitted alone: the runs contradict each other; check signs, units, "
                    "the order of columns, and what is known of each run"
                ]
    return said


def _effort(problem: LeastSquaresProblem) -> str:
    return "torque" if problem.efforts.sensors.kind == "tau" else "current"


def _some(problem: LeastSquaresProblem, run: Run) -> Samples:
    """Some of the samples of a run, evenly."""
    return run.samples.part(slice(None, None, max(1, sum(len(each.samples) for each in problem.runs) // _MOST)))


def _left(problem: LeastSquaresProblem, samples: Samples, view: View) -> Array | None:
    """The part (m × m) of the measurements of each sensor that the regressor of each other one leaves, whatever the
    parameters are; ``None`` of too few samples."""
    n, m = len(problem.efforts.names), len(problem.efforts.sensors.names)
    some = np.asarray((samples.weights > 0)[:, : problem.efforts.sensors.width].all(axis=1))
    free = np.flatnonzero(view.free[:n])
    if np.count_nonzero(some) < _ENOUGH * (len(free) + 1):
        return None
    samples = samples.part(some)
    z = view.of(problem.unknowns.nominal)[:n]
    y, f = problem.efforts.derivatives(z, *samples.states)
    known = f - y[..., free] @ z[free]
    measured = samples.measured
    size = np.linalg.norm(measured, axis=0)
    left = np.ones((m, m))
    for j in range(m):
        columns = np.column_stack([y[:, j, free], known[:, j], np.ones(len(y))])
        norms = np.linalg.norm(columns, axis=0)
        u, values, _ = np.linalg.svd(columns[:, norms > 0] / norms[norms > 0], full_matrices=False)
        u = u[:, values > _DEPENDENT * values[0]]
        left[:, j] = np.linalg.norm(measured - u @ (u.T @ measured), axis=0)
    return np.asarray(np.divide(left, size[:, None], out=np.zeros((m, m)), where=size[:, None] > 0))


def _of_others(problem: LeastSquaresProblem, left: Array | None) -> Iterator[str]:
    """Sentences on measurements that the regressor of another sensor explains, and their own does not."""
    if left is None:
        return
    names, what, width = problem.efforts.sensors.names, _effort(problem), problem.efforts.sensors.width
    best = left[:width, :width].argmin(axis=1)
    for i, j in enumerate(int(k) for k in best):
        if left[i, j] >= _OTHER * left[i, i] or left[i, j] >= _OTHER:
            continue
        beside = f"(its motion leaves {left[i, j]:.0%} of it, and that of its own {left[i, i]:.0%})"
        if best[j] == i and left[j, i] < _OTHER * left[j, j]:
            if i < j:
                yield (
                    f"the {what} of {names[i]!r} looks like that of {names[j]!r} and the other way round {beside}; "
                    "check the order of columns"
                )
        else:
            yield f"the {what} of {names[i]!r} looks like that of {names[j]!r} {beside}; check the order of columns"


def _looks(problem: LeastSquaresProblem, measured: Array, nominal: Array, ratio: Array) -> Iterator[str]:
    """Sentences on one run, by the correlations of measured and nominal efforts, and their ratios (m)."""
    what = _effort(problem)
    for i, (name, alike) in enumerate(
        zip(problem.efforts.sensors.names, _correlations(measured, nominal), strict=True)
    ):
        if alike < -_ALIKE:
            yield (
                f"the {what} of {name!r} has the opposite sign of that of the nominal model (correlation {alike:.2f}); "
                "check its sign"
            )
        is_scaled = alike > _ALIKE and not 1 / _FACTOR < ratio[i] < _FACTOR
        if is_scaled and i not in problem.unknowns.gains:
            yield (
                f"the {what} of {name!r} is as that of the nominal model over time and {ratio[i]:.3g} times as large; "
                "check its unit"
            )


def _correlations(measured: Array, nominal: Array) -> Array:
    """Correlation of each measured column with the nominal one (m); 0 where one of them does not vary."""
    one, other = (each - each.mean(axis=0) for each in (measured, nominal))
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
        said.append(
            f"the speed of {_listed([names[k] for k in at_rest])} is at most {fastest[at_rest].max():.2g} in all "
            "samples; what their motion alone tells, as friction, stays as in the prior: move them"
        )
    for run, own in zip(problem.runs, speeds, strict=True):
        if own.max() < _RESTS <= fastest.max():
            said.append(f"in run {run.label!r} no speed is above {own.max():.2g}; it tells gravity alone")
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
            rate = {"q": "v", "v": "a"}[of]
            yield f"{of} of {_listed(names)} does not change as {rate} says; check the order of their columns"
    for ratio, names in scaled.items():
        yield (
            f"q of {_listed(names)} changes {ratio} times as much in a step as v does by a; check units and signs of "
            "q, v and a"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_SHOWN])) + (", …" if len(names) > _SHOWN else "")


def _step(x: Array, rate: Array) -> tuple[float, float]:
    """dt of x(t) with dx/dt = rate, by the median of dx / rate, and the median deviation from it, relative."""
    mean = (rate[1:] + rate[:-1]) / 2
    fast = np.abs(mean) > _OTHER * np.sqrt(np.mean(mean**2))
    if not fast.any():
        return 0.0, np.inf
    steps = np.diff(x)[fast] / mean[fast]
    dt = float(np.median(steps))
    return dt, float(np.median(np.abs(steps - dt)) / abs(dt)) if dt else np.inf
