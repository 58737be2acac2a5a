"""Parameters of a robot from samples of its motion and torques: least squares, and the physically consistent fit.

A body with positive density everywhere in it, or mass points that span its space, has a positive definite
pseudo-inertia, and every positive definite one is that of such a body: Wensing, Kim and Slotine, "Linear matrix
inequalities for physically consistent inertial parameter identification", IEEE Robotics and Automation Letters 3(1),
2018, eq. 12. Least squares under such inequalities: Sousa and Cortesão, "Physical feasibility of robot base inertial
parameter identification", International Journal of Robotics Research 33(6), 2014.

Ours: of all bodies that can exist, those with the least ‖z‖ are the result, where z are distances from the estimate of
least squares: along the directions that the data excite in their standard deviations, which makes the least increase of
the weighted residuals, and along the others in sizes of the parameters, from the prior. Where least squares, completed
by the prior, are such bodies already, z is 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Literal

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, GdalembertError, IdentificationWarning
from gdalembert.identification import regression
from gdalembert.identification.least_squares import Estimate, LeastSquaresProblem
from gdalembert.identification.regression import Bounds, Prior, Samples
from gdalembert.identification.result import BaseEstimate, Identification, Torques
from gdalembert.model.inertia import pseudo_inertia_of
from gdalembert.spatial.arguments import choice, integer, number, required
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
_REGROUPED = ("Jxx", "Jxy", "Jxz", "Jyy", "Jyz", "Jzz", "hx", "hy", "hz")
"""Base parameters, beside masses."""
_ACCURACIES = (1e-10, 1e-8, 1e-6)
"""Accuracies of the solver, one attempt after the other: the second is its own default."""
_NEAR = 1e-6
"""Part of a size that counts as none: the accuracy of the solver."""
_INACCURATE = 1e-4
"""Part of a size by which an inaccurate solution may lie outside the limits, to which it is moved."""
_ADVICE = "check signs and units of the torques, and gravity and friction of the model, and free more parameters"


class IdentificationError(GdalembertError, RuntimeError):
    """A fit that the solver could not finish."""


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
    has_base = _check_robot(dyn, method, model)
    limits = regression.limits(dyn.parameters.names, bounds)
    given = regression.checked_samples(dyn.nominal, q, v, a, tau, weights)
    samples, unseen = regression.split(dyn.nominal, given, held_back)
    problem = LeastSquaresProblem.of(dyn, prior)
    estimate = problem.estimate(samples, weighted=method != "ordinary", decimation=decimation)
    if method == "consistent":
        p = _consistent(problem, estimate, limits, margin, bounded=bool(bounds))
        reached = _at_bounds(problem, p, limits, margin)
    else:
        p, reached = problem.torque.nominal + problem.sizes * estimate.s, ()
    written = None if has_base else model
    found = _identification(dyn, written, method, problem, estimate, samples, unseen, p, at_bounds=reached)
    for remark in found.remarks:
        warnings.warn(f"fit: {remark}", IdentificationWarning, stacklevel=3)
    return found


def _identification(
    dyn: Dynamics,
    model: pin.Model | None,
    method: str,
    problem: LeastSquaresProblem,
    estimate: Estimate,
    samples: Samples,
    unseen: Samples | None,
    p: Array,
    *,
    at_bounds: tuple[str, ...],
) -> Identification:
    """The result: the parameters p with their errors, torques and remarks, and the model with them if it can exist."""
    eigenvalues = _least_eigenvalues(problem, p)
    if model is not None and min(eigenvalues.values(), default=1) > 0:
        model = dyn.parameters.write(model, p)
    torque, s = problem.torque, (p - problem.torque.nominal) / problem.sizes
    fitted = samples.part(np.asarray(samples.weights.any(axis=1)))
    torques = Torques(fitted.tau, torque.torque(fitted, p))
    base = problem.base(estimate, p)
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
        remarks=_remarks(dyn.coordinate_names, estimate, base, problem.random_torques, s, torques),
        at_bounds=at_bounds,
        fitted=torques,
        held_back=None if unseen is None else Torques(unseen.tau, torque.torque(unseen, p)),
        least_eigenvalues=eigenvalues,
        _model=model,
    )


def _check_robot(dyn: Dynamics, method: str, model: pin.Model | None) -> bool:
    """Whether base parameters are among what is to be identified; what cannot be is refused."""
    if not isinstance(dyn, Dynamics):
        raise ArgumentTypeError(f"fit: expected a Dynamics, got {type(dyn).__name__}")
    if not len(dyn.parameters):
        raise ArgumentError(
            f"fit: {dyn!r} has no parameters to identify; make it with parameters={{'inertia': True, 'armature': True, "
            "'friction': True}, friction='model'"
        )
    dyn.external_wrenches.refuse("fit")
    has_base = any(regression.quantity(name) in _REGROUPED for name in dyn.parameters.names)
    if method == "consistent" and has_base:
        raise ArgumentError(
            "fit: base parameters are not those of bodies that could exist or not; make the robot with 'inertia' in "
            "place of 'base', or take method='weighted'"
        )
    if model is not None:
        if not isinstance(model, pin.Model):
            raise ArgumentTypeError(f"fit: model: expected a pin.Model, got {type(model).__name__}")
        dyn.parameters.of(model)
    return has_base


def _consistent(
    problem: LeastSquaresProblem, estimate: Estimate, limits: tuple[Array, Array], margin: float, *, bounded: bool
) -> Array:
    """p (n_p) of bodies that exist, as near to the data as possible, with no pseudo-inertia below the margin.

    ``bounded``: whether some of the limits were given, so that perhaps nothing satisfies them.
    """
    required("fit", "clarabel", "identification")
    cvxpy = required("fit", "cvxpy", "identification")
    # ds/dz: excited directions by their standard deviations, then the others by 1
    rest = np.linalg.svd(estimate.base.matrix)[2][len(estimate.base.own) :].T
    units = np.hstack([estimate.base.inverse @ estimate.factor, rest])
    z = cvxpy.Variable(len(units))
    p = problem.torque.nominal + problem.sizes * estimate.s + (problem.sizes[:, None] * units) @ z
    constraints = []
    for body in problem.bodies:
        columns = np.column_stack([body.in_units(each).ravel() for each in np.eye(10)])
        pseudo_inertia = cvxpy.reshape(columns @ p[list(body.indices)], (4, 4), order="C")
        constraints.append(pseudo_inertia >> margin * np.eye(4))
    for bound, sign in zip(limits, (1, -1), strict=True):
        at = np.flatnonzero(np.isfinite(bound))
        if len(at):
            constraints.append(cvxpy.multiply(sign / problem.sizes[at], p[at] - bound[at]) >= 0)
    task = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(z)), constraints)
    inaccurate = None  # the last such solution that satisfies the constraints
    for status in _attempts(cvxpy, task):
        if status in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE) and p.value is not None:
            inside = np.asarray(np.clip(p.value, *limits))
            near = np.abs(inside - p.value) <= _INACCURATE * problem.sizes
            if near.all() and min(_least_eigenvalues(problem, inside).values(), default=1) > 0:
                if status == cvxpy.OPTIMAL:
                    return inside
                inaccurate = inside
    if inaccurate is not None:
        return inaccurate
    if bounded and status in (cvxpy.INFEASIBLE, cvxpy.INFEASIBLE_INACCURATE):
        raise ArgumentError(
            "fit: bounds: no bodies that can exist, with armature and friction of at least 0, lie within them; widen "
            "the bounds"
        )
    raise IdentificationError(
        f"fit: the solver Clarabel finds no physically consistent parameters: {status}; check that tau are the "
        "measured torques, gravity included, give priors with standard deviations or a motion that excites more, or "
        "take method='weighted'"
    )


def _attempts(cvxpy: Any, task: Any) -> Iterator[str]:
    """What the solver says, one attempt after the other."""
    for accuracy in _ACCURACIES:
        options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), accuracy)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an inaccurate solution is checked
            try:
                task.solve(solver=cvxpy.CLARABEL, **options)
                status = str(task.status)
            except cvxpy.error.SolverError as error:
                status = str(error).strip().splitlines()[0]
        yield status


def _at_bounds(problem: LeastSquaresProblem, p: Array, limits: tuple[Array, Array], margin: float) -> tuple[str, ...]:
    """The names of parameters at one of their limits, and of bodies at the margin."""
    near = [np.abs(p - bound) <= _NEAR * problem.sizes for bound in limits]
    names = [name for name, reached in zip(problem.torque.names, near[0] | near[1], strict=True) if reached]
    of_bodies = {body.name: body.in_units(p[list(body.indices)]) for body in problem.bodies}
    at_margin = [name for name, j in of_bodies.items() if np.linalg.eigvalsh(j)[0] <= margin + _NEAR]
    return (*names, *(f"body of {name}" for name in at_margin))


def _least_eigenvalues(problem: LeastSquaresProblem, p: Array) -> dict[str, float]:
    """The least eigenvalue of the pseudo-inertia of each body, by name."""
    matrices = {body.name: pseudo_inertia_of(ca.DM(p[list(body.indices)])).full() for body in problem.bodies}
    return {name: float(np.linalg.eigvalsh(matrix)[0]) for name, matrix in matrices.items()}


def _remarks(
    joints: tuple[str, ...], estimate: Estimate, base: BaseEstimate, random_torques: Array, s: Array, fitted: Torques
) -> tuple[str, ...]:
    """One sentence each, for the warnings and the report: too few torques, what is uncertain, and unexplained.

    ``random_torques``: the root mean square of the torque of each joint that each entry of s makes in random motions
    (nv × n_p).
    """
    said = []
    count, rank = int(estimate.reduced.counts.sum()), len(estimate.base.own)
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
    if much := _unexplained(joints, estimate, s, fitted):
        said.append(f"the model cannot explain the data: the residual of {much}; {_ADVICE}")
    return tuple(said)


def _unexplained(joints: tuple[str, ...], estimate: Estimate, s: Array, fitted: Torques) -> str:
    """Which residual is too large, or nothing."""
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
        return f"{joints[k]!r} is {fitted.rms[k]:.3g}, {above[k]:.3g} times the noise that least squares find"
    if relative.max(initial=0) > _HALF:
        k = int(relative.argmax())
        return f"{joints[k]!r} is {fitted.rms[k]:.3g}, {relative[k]:.0%} of its torque"
    return ""
