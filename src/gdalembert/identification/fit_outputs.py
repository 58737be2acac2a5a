"""Parameters of a robot from outputs, where its motion was not measured as a whole: simulation errors of least squares.

The residuals of a record are what its sensors showed less what they show of the simulated motion, from an initial state
that is unknown, too, or read from the first samples. Gauss and Newton's steps are those of
:mod:`gdalembert.identification.least_squares`, with a noise of each output, priors, and bounds.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.outputs import INPUTS
from gdalembert.errors import (
    ArgumentError,
    ArgumentTypeError,
    IdentificationWarning,
    UnknownNameError,
    UnsupportedError,
    shown,
)
from gdalembert.identification.least_squares import Combinations, Descent, base_estimate, not_identifiable
from gdalembert.identification.output_fit import OutputFit
from gdalembert.identification.output_model import OutputModel
from gdalembert.identification.output_remarks import remarks
from gdalembert.identification.records import Initial, Output, Outputs, Record, Samples, checked
from gdalembert.identification.result import root_mean_square
from gdalembert.identification.simulation_errors import SimulationErrors, mean_of_seen
from gdalembert.identification.unknowns import Bounds, Prior, limits_by_name, priors_by_name
from gdalembert.spatial.arguments import flag, instance, integer, listed, number
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.expressions import Expression
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.progress import progress as show_progress

_LEAST = 10
"""Samples of a segment."""


@interruptible
def fit_outputs(
    dyn: Dynamics,
    records: Sequence[Record],
    outputs: Mapping[str, Output],
    *,
    parameters: Sequence[str] | str | None = None,
    others: Mapping[str, float] | None = None,
    drive: Expression | None = None,
    p: Mapping[str, float] | npt.ArrayLike | None = None,
    bounds: Bounds | None = None,
    prior: Prior | None = None,
    initial: Initial = "free",
    segments: int = 1,
    progress: bool = False,
) -> OutputFit:
    """The parameters of a robot with which its simulated outputs are the measured ones.

    It takes any parameter, linear or not, and any output of (q, v, a, u, p): joint angles, strain, accelerations of a
    frame, tip positions. Each output has a noise of its own, which follows from the residuals. Standard deviations are
    those of independent errors; where the model is wrong, residuals are not, and a remark says so.

    Args:
        dyn: the robot, with ``parameters=``.
        records: the runs (:class:`~gdalembert.identification.Record`).
        outputs: by name, a Function or a callable of (q, v, a, u, p) and of ``others``, or a
            :class:`~gdalembert.identification.Sensor` with one: ``lambda q, gain: gain * strain(q)``.
        parameters: names of parameters of the robot, or one: those estimated, by default all. Others are as in ``p``.
        others: unknowns that the robot does not have, with the values to begin with: gains and offsets of sensors and
            motors, ``{"gain": 1.0}``, inputs of ``outputs`` and ``drive``.
        drive: efforts of the actuators (nu), of u and ``others``: ``lambda u, gain: gain * u``; by default they are u.
        p: values of parameters, to begin with or to stay; by default those of the model.
        bounds, prior: as in :func:`~gdalembert.identification.fit`, of parameters and of ``others``; values of
            ``prior`` are those to begin with, too.
        initial: the state of each record at its first instant, of what is not prescribed: ``"free"``, which is
            estimated with the parameters; ``"measured"``, that from which the outputs have the values and rates that
            they show in the first 25 samples, energy counting as their noise does; or (q, v), as it is known.
        segments: parts of each record that are fitted first, from free states, to begin nearer: for values far off.
        progress: show the progress on stderr.

    Raises:
        ArgumentTypeError, ArgumentError, UnknownNameError: if an argument or a channel of a record cannot be used.
        UnsupportedError: if the motion of a joint is prescribed that has no rate of its own.
        MissingPackageError: if positions alone are prescribed, or a sensor filters, and SciPy is not installed.

    Warns:
        IdentificationWarning: if steps did not converge; if the data do not tell, or hardly tell, what an unknown is;
            if one ends at a bound; if an output is not explained, or looks like one in other units; if an input is
            saturated; if residuals are not independent.
    """
    flag("fit_outputs: progress", progress)
    problem = _problem(dyn, records, outputs, parameters, others, drive, p, prior, initial)
    _, deviations = priors_by_name("fit_outputs", prior, problem.names, problem.start)
    limits = limits_by_name("fit_outputs", bounds, problem.names)
    _check_start(problem, limits)
    with show_progress(f"{dyn.nominal.name}: fit_outputs", shown=progress):
        result = _result(*_descended(problem, deviations, limits, segments), limits)
    for remark in result.remarks:
        warnings.warn(f"fit_outputs: {remark}", IdentificationWarning, stacklevel=3)
    return result


def _problem(
    dyn: Dynamics, records: Any, outputs: Any, parameters: Any, others: Any, drive: Any, p: Any, prior: Any,
    initial: Any,
) -> SimulationErrors:  # fmt: skip
    """The least squares of checked arguments."""
    context = "fit_outputs"
    instance(f"{context}: dyn", dyn, Dynamics, "a robot with equations of motion")
    if dyn.external_wrenches.is_input:
        raise UnsupportedError(f"{context}: wrenches are inputs of the robot; give dyn.under(wrenches)")
    others = {} if others is None else dict(instance(f"{context}: others", others, Mapping, "{name: value}"))
    known = dyn.parameters.names if dyn.parameters else ()
    chosen = _chosen(known, parameters)
    for name, value in others.items():
        if name in (*INPUTS, "p", *known):
            raise ArgumentError(f"{context}: others: {name!r} is the name of another quantity; give it another one")
        others[name] = number(f"{context}: others[{name!r}]", value, least=-np.inf)
    names = (*chosen, *others)
    if not names:
        raise ArgumentError(f"{context}: nothing is unknown; give dyn parameters=, or others=")
    checked_outputs = Outputs.of(dyn, outputs, dict.fromkeys(others, 1))
    if isinstance(records, Record) or not isinstance(records, Sequence) or not len(records):
        raise ArgumentTypeError(f"{context}: records: got {shown(records)}; give a list of gd.identification.Record")
    samples = list[Samples]()
    for k, record in enumerate(records, 1):
        first = samples[0].motion if samples else None
        samples.append(checked(context, dyn, checked_outputs, record, str(k), initial, first))
    labels = [x.label for x in samples]
    if (twice := next((label for label in labels if labels.count(label) > 1), None)) is not None:
        raise ArgumentError(f"{context}: records: {twice!r} is the label of two; give each its own")
    values = dyn.parameters.vector(p) if dyn.parameters else np.zeros(0)
    at = [known.index(name) for name in chosen]
    start, _ = priors_by_name(context, prior, names, np.concatenate([values[at], list(others.values())]))
    held = sorted(dyn.coordinate_names.index(name) for name in samples[0].motion)
    model = OutputModel(dyn, checked_outputs, drive, values, at, tuple(others), held)
    y, seen = (np.vstack([getattr(x, name) for x in samples]) for name in ("y", "weights"))
    y = np.where(seen > 0, y, np.nan)
    scales = np.nan_to_num(root_mean_square(y - mean_of_seen(y)))
    return SimulationErrors(model, names, tuple(samples), start, np.where(scales > 0, scales, 1.0))


def _check_start(problem: SimulationErrors, limits: tuple[Array, Array]) -> None:
    """Refuse values to begin with that are beyond their bounds."""
    if (out := np.flatnonzero((problem.start < limits[0]) | (problem.start > limits[1]))).size:
        k = int(out[0])
        raise ArgumentError(
            f"fit_outputs: {problem.names[k]} begins at {problem.start[k]:g}, beyond its bounds {limits[0][k]:g} and "
            f"{limits[1][k]:g}; give another value in p, others or prior"
        )


def _descended(
    problem: SimulationErrors, deviations: Mapping[int, float], limits: tuple[Array, Array], segments: int
) -> tuple[SimulationErrors, Descent, Array]:
    """The problem, behind its segments if there are several, the end of the steps, and the sizes of the unknowns.

    Where vibrations at the estimate take other integration steps than those at the start, it goes on with these.
    """
    _check_segments(problem, segments)
    try:
        if segments > 1:
            problem = problem.of_segments(segments, deviations, *limits)
        descent, sizes = problem.descended(deviations, *limits)
        x = problem.whole + sizes * descent.s
        refined = problem.paced_by(x[: len(problem.names)])
        if all(refined.steps(samples) == problem.steps(samples) for samples in problem.samples):
            return problem, descent, sizes
        return refined, *refined.descended(deviations, *limits, x)
    except np.linalg.LinAlgError:  # of rows that are not finite
        raise problem.astray from None


def _check_segments(problem: SimulationErrors, segments: Any) -> None:
    """Refuse segments that leave too few samples to each."""
    integer("fit_outputs: segments", segments, least=1)
    shortest = min(problem.samples, key=lambda samples: len(samples.t))
    if segments > 1 and (most := len(shortest.t) // _LEAST) < segments:
        raise ArgumentError(
            f"fit_outputs: segments={segments}: record {shortest.label!r} has {len(shortest.t)} samples; give at most "
            f"{max(most, 1)}, {_LEAST} samples for each"
        )


def _chosen(known: Sequence[str], parameters: Any) -> tuple[str, ...]:
    """The names of the parameters that are estimated: all, one, or a list."""
    names = [parameters] if isinstance(parameters, str) else listed(known if parameters is None else parameters)
    if names is None:
        raise ArgumentTypeError(f"fit_outputs: parameters={shown(parameters)}; give a list of names")
    for k, name in enumerate(names):
        if name not in known:
            raise UnknownNameError("parameter", name, known)
        if name in names[:k]:
            raise ArgumentError(f"fit_outputs: parameters: {name!r} is named twice; name it once")
    return tuple(names)


def _result(problem: SimulationErrors, descent: Descent, sizes: Array, limits: tuple[Array, Array]) -> OutputFit:
    """The result at the end of the descent."""
    n, estimate = len(problem.names), descent.estimate
    x = problem.whole + sizes * descent.s
    deviation = sizes * estimate.deviation(np.eye(len(x)))
    records = {samples.label: problem.prediction(i, x) for i, samples in enumerate(problem.samples)}
    anything = Combinations.of_structure(np.eye(len(x)), problem.unknowns)
    effects = np.sqrt(np.sum(estimate.reduced.factors[..., :-1] ** 2, axis=(0, 1)))
    near = 1e-6 * sizes[:n]
    reached = [name for k, name in enumerate(problem.names) if min(x[k] - limits[0][k], limits[1][k] - x[k]) <= near[k]]
    return OutputFit(
        robot=problem.model.dyn.nominal.name,
        names=problem.names,
        values=frozen(x[:n]),
        standard_deviation=frozen(deviation[:n]),
        base=base_estimate(estimate, problem.unknowns, sizes, problem.whole, x, effects),
        structural_rank=len(x),
        not_identifiable=not_identifiable(estimate.base, anything, problem.unknowns, sizes, effects),
        condition_number=estimate.condition_number,
        remarks=tuple(remarks(problem, descent, x, deviation, reached, records)),
        _model=None,
        nominal=frozen(problem.start),
        outputs=problem.model.outputs.names,
        noise=frozen(estimate.torque_noise * problem.scales),
        records=records,
        at_bounds=tuple(reached),
        _errors=problem,
    )
