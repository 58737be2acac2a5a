"""Parameters of a robot from samples of its motion and efforts: least squares, and the physically consistent fit."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, IdentificationWarning, shown
from gdalembert.identification.consistent import at_bounds, consistent, least_eigenvalues
from gdalembert.identification.efforts import Columns, Efforts
from gdalembert.identification.experiment import Experiment, Run, checked_runs
from gdalembert.identification.least_squares import Descent
from gdalembert.identification.problem import LeastSquaresProblem
from gdalembert.identification.remarks import check_gains, remarks, resting
from gdalembert.identification.result import METHODS, Identification
from gdalembert.identification.sensors import Gains, Sensors
from gdalembert.identification.suspicions import contradictions, shifted, suspicions
from gdalembert.identification.unknowns import Bounds, Prior, quantity
from gdalembert.spatial.arguments import choice, flag, held_back_counts, instance, integer, number
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.interrupts import interruptible
from gdalembert.spatial.progress import progress as show_progress

Method = Literal["ordinary", "weighted", "consistent"]
HeldBack = float | tuple[npt.ArrayLike, ...] | Experiment | Sequence[Experiment]
_REGROUPED = ("Jxx", "Jxy", "Jxz", "Jyy", "Jyz", "Jzz", "hx", "hy", "hz")
"""Base parameters, beside masses."""


@interruptible
def fit(
    dyn: Dynamics,
    q: npt.ArrayLike | None = None,
    v: npt.ArrayLike | None = None,
    a: npt.ArrayLike | None = None,
    tau: npt.ArrayLike | None = None,
    *,
    current: npt.ArrayLike | None = None,
    gains: Gains | None = None,
    experiments: Sequence[Experiment] | None = None,
    columns: Columns | None = None,
    offsets: bool | Sequence[str] = False,
    sticking: float | None = None,
    model: pin.Model | None = None,
    method: Method = "consistent",
    weights: npt.ArrayLike | None = None,
    bounds: Bounds | None = None,
    prior: Prior | None = None,
    held_back: HeldBack | None = None,
    decimation: int = 1,
    margin: float = 1e-6,
    progress: bool = False,
) -> Identification:
    """The parameters of a robot with which its equations of motion have the measured efforts.

    tau must be affine in p, as it is in inertia, payload, armature and friction. ``"ordinary"`` least squares give each
    effort the same noise, ``"weighted"`` ones each sensor its own, which follows from the residuals; what data do not
    see is nearest to the prior. ``"consistent"`` is the weighted fit among bodies that can exist: pseudo-inertias are
    positive definite, armature and friction are not negative.

    Base parameters that the data excite are estimated, however large their standard deviations are; the others keep
    the values of the prior. Standard deviations are those of least squares where errors are in what was measured alone
    and independent of each other. Errors that are correlated, as filtered signals have them, make the true ones larger;
    with ``decimation`` they nearly are independent.

    Args:
        dyn: the robot, whose ``parameters=``, as ``{"inertia": True, "armature": True, "friction": True}``, are
            estimated.
        q, v, a, tau: a row for each of N samples (N × nq, N × nv, N × nv, N × nv), of one run. NaN in tau is a sensor
            that tells nothing of that sample; NaN in q, v or a leaves the sample out.
        current: currents of the actuators (N × nu) in place of tau [A], whose gains are estimated as well: the noise is
            that of currents. Torques of motors are currents with ``gains=1``.
        gains: drive gains [N m/A, N/A]: one of all, or ``{actuator: 11.0}``, or ``(11.0, 0.5)`` with its standard
            deviation; the others are estimated, which takes a number that is known, as the mass of a load in one run.
        experiments: several runs (:class:`~gdalembert.identification.Experiment`), in place of q, v, a and tau.
        columns: what acts beside the robot, ``{"cable": function}``: CasADi columns (nv × k) as functions of (q, v, a),
            on the side of tau; their coefficients are estimated. They have names, as ``"cable"`` or ``"cable[1]"``, in
            ``prior``, ``bounds`` and the result.
        offsets: whether what each sensor measures has a constant offset, or the names of those that have one. They are
            ``"joint1.sensor_offset"`` in ``prior`` and ``bounds``, in the unit of a torque.
        sticking: a speed [rad/s, m/s]: slower axes may stick, held by any torque up to their Coulomb friction. These
            measurements are left out, and predicted as the nearest such torque. The report has the residuals of every
            sample from the motion alone (``held_back.every_sample``), those beyond friction (``held_back``), and those
            without samples at rest (``held_back.moving``) side by side, and how many samples are at rest.
        model: the ``pin.Model`` that ``dyn`` was made of, for ``result.model``.
        method: ``"ordinary"``, ``"weighted"`` or ``"consistent"``.
        weights: relative weights of the squared residuals, at least 0: of samples (N) or single measurements (as tau).
        bounds: ``{"joint7.m": (0.5, None)}``, least and largest value; for the consistent fit.
        prior: ``{"joint7.m": 0.7}``, a value to be near to where data do not see it, by default the model's; or
            ``(0.7, 0.02)``, a measurement with its standard deviation, which counts as data do.
        held_back: the fraction of the samples, the last ones of each run, that is predicted and not fitted; or
            (q, v, a, tau); or experiments.
        decimation: number of samples, at equal steps, that become one row; the same low-pass filter
            (:func:`~gdalembert.identification.decimated`) acts on the efforts and on each column of the regressor.
            ``noise`` is then that of these rows.
        margin: the least eigenvalue of a pseudo-inertia in units of the mass and the radius of gyration of its body.
        progress: show the progress on stderr.

    Raises:
        ArgumentTypeError, ArgumentError, UnknownNameError: if an argument cannot be used, or the data cannot know a
            gain.
        UnsupportedError: if tau has other inputs, or currents do not follow from the motion.
        MissingPackageError: if CVXPY or Clarabel is not installed.
        IdentificationError: if the solver fails.

    Warns:
        IdentificationWarning: if the residuals are far larger than the noise, or half of a torque; if the data excite a
            base parameter so little that torques of other motions cannot be predicted; if measurements look like those
            of another sensor, sign or unit, or as if they were shifted in time; if samples at rest make most of
            a residual.
    """
    choice("fit: method", method, METHODS)
    number("fit: margin", margin)
    flag("fit: progress", progress)
    decimation = integer("fit: decimation", decimation, 1)
    if isinstance(bounds, Mapping) and bounds and method != "consistent":
        raise ArgumentError(f"fit: method={method!r} takes no bounds; take method='consistent'")
    has_base = _check_robot(dyn, method, model)
    experiments = _experiments(q, v, a, tau, current, weights, experiments)
    sensors = Sensors.of(dyn, "tau" if experiments[0].current is None else "current", gains)
    slow = None if sticking is None else number("fit: sticking", sticking, "rad/s, m/s")
    runs = checked_runs(dyn, sensors, experiments, slow, even=decimation > 1)
    runs, unseen = _split(dyn, sensors, runs, held_back, slow)
    with show_progress(f"{dyn.nominal.name}: fit", shown=progress) as line:
        line.show(f"regressor of {sum(len(run.samples) for run in runs)} samples")
        efforts = Efforts(dyn, sensors, columns)
        problem = LeastSquaresProblem.of(efforts, runs, prior=prior, offsets=offsets, decimation=decimation)
        limits = problem.unknowns.limits(bounds)
        suspected = suspicions(problem)
        descent = problem.estimate(weighted=method != "ordinary")
        check_gains(problem, descent, suspected)
        reached: tuple[str, ...] = ()
        x = problem.x(descent.s)
        if method == "consistent":
            line.show("physically consistent parameters")
            x = consistent(problem, descent, limits, margin, bounded=bool(bounds))
            reached = at_bounds(problem, x, limits, margin)
        line.show("residuals and remarks")
        told = None if has_base else model
        result = _identification(problem, descent, x, unseen, told, method, reached, suspected, slow)
        line.show("")
    # The result has them, too: a warning is shown once, or nowhere, and a report is read later.
    for remark in result.remarks:
        warnings.warn(f"fit: {remark}", IdentificationWarning, stacklevel=3)
    return result


def _identification(
    problem: LeastSquaresProblem,
    descent: Descent,
    x: Array,
    unseen: tuple[Run, ...] | None,
    model: pin.Model | None,
    method: str,
    reached: tuple[str, ...],
    suspected: Sequence[str],
    sticking: float | None,
) -> Identification:
    """The result: the unknowns x with their errors, efforts and remarks, and the model with them if it can exist."""
    dyn, sensors, unknowns = problem.efforts.dyn, problem.efforts.sensors, problem.unknowns
    s = (x - unknowns.nominal) / problem.sizes
    estimate = replace(descent.estimate, reduced=problem.linearized(s))
    n, last = len(dyn.parameters), len(x) - len(unknowns.gains)
    eigenvalues = least_eigenvalues(problem, x)
    if model is not None and min(eigenvalues.values(), default=1) > 0:
        model = dyn.parameters.write(model, x[:n])
    deviation = problem.sizes * estimate.deviation(np.eye(len(x)))
    fitted = problem.torques(problem.runs, x, fitted=True)
    held_back = None if unseen is None else problem.torques(unseen, x)
    base = problem.base(estimate, x)
    gains, errors = problem.gains(x)[: sensors.width], np.zeros(sensors.width)
    errors[list(unknowns.gains)] = gains[list(unknowns.gains)] * deviation[last:]
    has_gains = sensors.kind == "current"
    return Identification(
        robot=dyn.nominal.name,
        method=method,
        names=tuple(dyn.parameters.names),
        joints=sensors.names,
        nominal=frozen(dyn.parameters.values),
        values=frozen(x[:n]),
        standard_deviation=frozen(deviation[:n]),
        unknowns=unknowns.names,
        gains=dict(zip(sensors.names, gains.tolist(), strict=False)) if has_gains else {},
        gains_standard_deviation=dict(zip(sensors.names, errors.tolist(), strict=False)) if has_gains else {},
        coefficients=dict(zip(unknowns.names[n:last], x[n:last].tolist(), strict=True)),
        coefficients_standard_deviation=dict(zip(unknowns.names[n:last], deviation[n:last].tolist(), strict=True)),
        base=base,
        structural_rank=len(problem.structure_at(s).pivots),
        not_identifiable=problem.not_identifiable(estimate, s),
        condition_number=estimate.condition_number,
        noise=frozen(estimate.torque_noise),
        residual=frozen(estimate.residuals(s)),
        remarks=(
            *suspected,
            *remarks(problem, descent, estimate, base, s, (fitted, held_back)),
            *contradictions(problem, x),
            *shifted(problem, x),
            *([] if sticking else resting(problem, fitted, held_back)),
        ),
        at_bounds=reached,
        sticking=sticking,
        fitted=fitted,
        held_back=held_back,
        least_eigenvalues=eigenvalues,
        _dynamics=dyn,
        _model=model,
    )


def _experiments(
    q: Any, v: Any, a: Any, tau: Any, current: Any, weights: Any, experiments: Sequence[Experiment] | None
) -> list[Experiment]:
    """The runs, one of the samples that were given or several."""
    if experiments is None:
        for name, samples in (("q", q), ("v", v), ("a", a)):
            if samples is None:
                raise ArgumentError(f"fit: no {name} is given; give q, v, a and tau or current, or experiments=[…]")
        if (tau is None) == (current is None):
            raise ArgumentError(f"fit: got {'neither' if tau is None else 'both'} of tau and current; give one of them")
        return [Experiment(q, v, a, tau, current=current, weights=weights)]
    if any(samples is not None for samples in (q, v, a, tau, current, weights)):
        raise ArgumentError("fit: experiments have q, v, a, tau, current and weights; give them there")
    return _checked_experiments("fit: experiments", experiments)


def _checked_experiments(argument: str, experiments: Any) -> list[Experiment]:
    if isinstance(experiments, Experiment):
        experiments = [experiments]
    if not isinstance(experiments, Sequence) or not all(isinstance(x, Experiment) for x in experiments):
        raise ArgumentTypeError(f"{argument}: got {shown(experiments)}; give a list of gd.identification.Experiment")
    if not experiments:
        raise ArgumentError(f"{argument}: the list is empty; give at least one")
    return list(experiments)


def _split(
    dyn: Dynamics, sensors: Sensors, runs: tuple[Run, ...], held_back: Any, sticking: float | None
) -> tuple[tuple[Run, ...], tuple[Run, ...] | None]:
    """The runs to fit, and those to predict: the last samples, a fraction of each run, or other runs."""
    if held_back is None:
        return runs, None
    argument = "fit: held_back"
    if isinstance(held_back, list | tuple) and len(held_back) == 4 and not isinstance(held_back[0], Experiment):
        q, v, a, measured = held_back
        held_back = Experiment(q, v, a, **{sensors.kind: measured})
    if isinstance(held_back, Experiment | list | tuple):
        return runs, checked_runs(dyn, sensors, _checked_experiments(argument, held_back), sticking, context=argument)
    counts = held_back_counts(argument, held_back, [len(run.samples) for run in runs], "(q, v, a, tau)")
    first = [slice(0, len(run.samples) - count) for run, count in zip(runs, counts, strict=True)]
    last = [slice(rows.stop, None) for rows in first]
    split = (tuple(run.part(rows) for run, rows in zip(runs, slices, strict=True)) for slices in (first, last))
    fitted, unseen = split
    return fitted, unseen


def _check_robot(dyn: Dynamics, method: str, model: pin.Model | None) -> bool:
    """Refuse what cannot be identified, and return whether base parameters are among the rest."""
    instance("fit", dyn, Dynamics, "a Dynamics")
    if not len(dyn.parameters):
        raise ArgumentError(
            f"fit: {dyn!r} has no parameters to identify; make it with parameters={{'inertia': True, 'armature': True, "
            "'friction': True}, friction='model'"
        )
    has_base = any(quantity(name) in _REGROUPED for name in dyn.parameters.names)
    if method == "consistent" and has_base:
        raise ArgumentError(
            "fit: base parameters are not those of bodies that could exist or not; make the robot with 'inertia' in "
            "place of 'base', or take method='weighted'"
        )
    if model is not None:
        instance("fit: model", model, pin.Model, "a pin.Model")
        dyn.parameters.of(model)
    return has_base
