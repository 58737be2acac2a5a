"""Parameters of a robot from samples of its motion and torques."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, IdentificationWarning
from gdalembert.identification.consistent import at_bounds, consistent, least_eigenvalues
from gdalembert.identification.least_squares import Estimate, LeastSquaresProblem
from gdalembert.identification.regression import Samples, check_dynamics, checked_samples, split
from gdalembert.identification.result import BaseEstimate, Identification, Torques
from gdalembert.identification.scaling import REGROUPED, Bounds, Prior, limits, quantity
from gdalembert.spatial.arguments import choice, integer, number
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.interrupts import interruptible

METHODS = ("ordinary", "weighted", "consistent")
Method = Literal["ordinary", "weighted", "consistent"]
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


@interruptible
def fit(
    dyn: Dynamics,
    q: npt.ArrayLike,
    v: npt.ArrayLike,
    a: npt.ArrayLike,
    tau: npt.ArrayLike,
    *,
    model: pin.Model | None = None,
    method: Method = "consistent",
    weights: npt.ArrayLike | None = None,
    bounds: Bounds | None = None,
    prior: Prior | None = None,
    held_back: float | tuple[npt.ArrayLike, ...] | None = None,
    decimation: int = 1,
    margin: float = 1e-6,
) -> Identification:
    """The parameters of a robot with which its equations of motion have the measured torques.

    tau must be affine in p, as it is in inertia, payload, armature and friction. ``"ordinary"`` least squares give each
    torque the same noise, ``"weighted"`` ones each joint its own, which follows from the residuals; what data do not
    see is nearest to the prior. ``"consistent"`` is the weighted fit among bodies that can exist: pseudo-inertias are
    positive definite, armature and friction are not negative.

    Base parameters that the data excite are estimated, however large their standard deviations are; the others keep
    the values of the prior. Standard deviations are those of least squares where errors are in tau alone and
    independent of each other. Errors that are correlated, as filtered signals have them, make the true ones larger;
    with ``decimation`` they nearly are independent.

    Args:
        dyn: with ``parameters=``, as ``{"inertia": True, "armature": True, "friction": True}``: what is estimated.
        q, v, a, tau: a row for each of N samples (N × nq, N × nv, N × nv, N × nv).
        model: the ``pin.Model`` that ``dyn`` was made of, for ``result.model``.
        method: ``"ordinary"``, ``"weighted"`` or ``"consistent"``.
        weights: of the squared residuals, relative, at least 0: of samples (N) or single torques (N × nv).
        bounds: ``{"joint7.m": (0.5, None)}``, least and largest value; for the consistent fit.
        prior: ``{"joint7.m": 0.7}``, a value to be near to where data do not see it, by default the model's; or
            ``(0.7, 0.02)``, a measurement with its standard deviation, which counts as data do.
        held_back: the fraction of the samples, the last ones, that is predicted and not fitted; or (q, v, a, tau).
        decimation: how many samples, at equal steps, become one row; the same low-pass filter
            (:func:`~gdalembert.identification.decimated`) acts on the torques and on each column of the regressor.
            ``noise`` is then that of these rows.
        margin: the least eigenvalue of a pseudo-inertia in units of the mass and the radius of gyration of its body.

    Raises:
        ArgumentTypeError, ArgumentError, UnknownNameError: if an argument cannot be used.
        UnsupportedError: if tau has other inputs.
        MissingPackageError: if CVXPY or Clarabel is not installed.
        IdentificationError: if the solver fails.

    Warns:
        IdentificationWarning: if the residuals are far larger than the noise, or half of a torque; or if the data
            excite a base parameter so little that torques of other motions cannot be predicted.
    """
    choice("fit: method", method, METHODS)
    number("fit: margin", margin)
    decimation = integer("fit: decimation", decimation, 1)
    if bounds and method != "consistent":
        raise ArgumentError(f"fit: method={method!r} takes no bounds; take method='consistent'")
    if weights is not None and decimation > 1:
        raise ArgumentError(
            "fit: decimation filters across neighbouring samples, so that weights leave none out; give one of both"
        )
    check_dynamics("fit", dyn)
    if method == "consistent" and _has_base(dyn):
        raise ArgumentError(
            "fit: base parameters are not those of bodies that could exist or not; make the robot with 'inertia' in "
            "place of 'base', or take method='weighted'"
        )
    if model is not None:
        if not isinstance(model, pin.Model):
            raise ArgumentTypeError(f"fit: model: expected a pin.Model, got {type(model).__name__}")
        dyn.parameters.of(model)
    limited = limits("fit", dyn.parameters.names, bounds)
    samples, unseen = split("fit", dyn.nominal, checked_samples("fit", dyn.nominal, q, v, a, tau, weights), held_back)
    problem = LeastSquaresProblem.of("fit", dyn, prior)
    estimate = problem.estimate("fit", samples, weighted=method != "ordinary", decimation=decimation)
    if method == "consistent":
        p = consistent("fit", problem, estimate, limited, margin, bounded=bool(bounds))
    else:
        p = problem.torque.nominal + problem.sizes * estimate.s
    reached = at_bounds(problem, p, limited, margin) if method == "consistent" else ()
    return _result(dyn, method, problem, estimate, p, samples, unseen, model, reached)


def _result(
    dyn: Dynamics,
    method: str,
    problem: LeastSquaresProblem,
    estimate: Estimate,
    p: Array,
    samples: Samples,
    unseen: Samples | None,
    model: pin.Model | None,
    reached: tuple[str, ...],
) -> Identification:
    torque = problem.torque
    s = (p - torque.nominal) / problem.sizes
    eigenvalues = least_eigenvalues(problem.bodies, p)
    if _has_base(dyn):
        model = None
    elif model is not None and min(eigenvalues.values(), default=1) > 0:
        model = dyn.parameters.write(model, p)
    fitted = samples.part(np.asarray(samples.weights.any(axis=1)))
    torques = Torques(fitted.tau, torque.torque(fitted, p))
    base = problem.base(estimate, p)
    said = _remarks(dyn.coordinate_names, estimate, base, problem.random_torques, s, torques)
    for remark in said:
        warnings.warn(f"fit: {remark}", IdentificationWarning, stacklevel=4)
    held_back = None if unseen is None else Torques(unseen.tau, torque.torque(unseen, p))
    return Identification(
        robot=dyn.nominal.name,
        method=method,
        names=torque.names,
        joints=dyn.coordinate_names,
        nominal=frozen(torque.nominal),
        values=frozen(p),
        standard_deviation=frozen(problem.sizes * estimate.deviation(np.eye(len(p)))),
        base=base,
        structural_rank=len(problem.structure.own),
        not_identifiable=problem.not_identifiable(estimate),
        condition_number=estimate.condition_number,
        noise=frozen(estimate.torque_noise),
        residual=frozen(estimate.residuals(s)),
        remarks=said,
        at_bounds=reached,
        fitted=torques,
        held_back=held_back,
        least_eigenvalues=eigenvalues,
        _model=model,
    )


def _has_base(dyn: Dynamics) -> bool:
    return any(quantity(name) in REGROUPED for name in dyn.parameters.names)


def _remarks(
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
        above = np.where(fitted.rms > _ACCURATE * size, residuals / noise, 0.0)
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
