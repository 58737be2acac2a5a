"""The physically consistent fit: least squares under linear matrix inequalities.

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
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, GdalembertError
from gdalembert.identification.least_squares import Estimate, LeastSquaresProblem
from gdalembert.identification.scaling import Body
from gdalembert.model.inertia import pseudo_inertia_of
from gdalembert.spatial.arguments import required
from gdalembert.spatial.arrays import Array

_ACCURACIES = (1e-10, 1e-8, 1e-6)
"""Of the solver, one attempt after the other: the second is its own default."""
_NEAR = 1e-6
"""Part of a size that counts as none: the accuracy of the solver."""
_INACCURATE = 1e-4
"""Part of a size by which an inaccurate solution may lie outside the limits, to which it is moved."""


class IdentificationError(GdalembertError, RuntimeError):
    """A fit that the solver could not finish."""


def consistent(
    where: str,
    problem: LeastSquaresProblem,
    estimate: Estimate,
    limits: tuple[Array, Array],
    margin: float,
    *,
    bounded: bool,
) -> Array:
    """p (n_p) of bodies that exist, as near to the data as possible.

    Args:
        where: the function, for messages.
        problem: the parameters.
        estimate: by least squares.
        limits: the least and the largest value of each parameter (n_p).
        margin: the least eigenvalue of each pseudo-inertia, in units of the size of its body.
        bounded: whether some of the limits were given, so that perhaps nothing satisfies them.

    Raises:
        ArgumentError: if no such parameters exist within the limits.
        IdentificationError: if the solver fails.
        MissingPackageError: if CVXPY or Clarabel is missing.
    """
    required(where, "clarabel")
    cvxpy = required(where, "cvxpy")
    units = _units(estimate)
    z = cvxpy.Variable(len(units))
    p = problem.torque.nominal + problem.sizes * estimate.s + (problem.sizes[:, None] * units) @ z
    constraints = [_pseudo_inertia(cvxpy, p, body) >> margin * np.eye(4) for body in problem.bodies]
    for bound, sign in zip(limits, (1, -1), strict=True):
        at = np.flatnonzero(np.isfinite(bound))
        if len(at):
            constraints.append(cvxpy.multiply(sign / problem.sizes[at], p[at] - bound[at]) >= 0)
    task = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(z)), constraints)

    def found() -> Array | None:
        """p of the last attempt, if it is that of bodies which exist."""
        if p.value is None or not np.all(np.isfinite(p.value)):
            return None
        inside = np.asarray(np.clip(p.value, *limits))
        near = np.abs(inside - p.value) <= _INACCURATE * problem.sizes
        exist = all(least > 0 for least in least_eigenvalues(problem.bodies, inside).values())
        return inside if exist and near.all() else None

    return _solved(where, cvxpy, task, found, bounded=bounded)


def _units(estimate: Estimate) -> Array:
    """The columns of ds/dz (n_p × n_p): excited directions by their standard deviations, then the others by 1."""
    excited = estimate.base.inverse @ estimate.factor
    rest = np.linalg.svd(estimate.base.matrix)[2][len(estimate.values) :].T
    return np.hstack([excited, rest])


def _solved(where: str, cvxpy: Any, task: Any, found: Callable[[], Array | None], *, bounded: bool) -> Array:
    """The first solution, or the last inaccurate one that is found to satisfy the constraints."""
    inaccurate, statuses = None, []
    for accuracy in _ACCURACIES:
        options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), accuracy)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an inaccurate solution is checked below
            try:
                task.solve(solver=cvxpy.CLARABEL, **options)
                status = str(task.status)
            except cvxpy.error.SolverError as error:
                status = str(error).strip().splitlines()[0]
        statuses.append(status)
        if status in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE) and (p := found()) is not None:
            if status == cvxpy.OPTIMAL:
                return p
            inaccurate = p
    if inaccurate is not None:
        return inaccurate
    if bounded and statuses[-1] in (cvxpy.INFEASIBLE, cvxpy.INFEASIBLE_INACCURATE):
        raise ArgumentError(
            f"{where}: bounds: no bodies that can exist, with armature and friction of at least 0, lie within them; "
            "widen the bounds"
        )
    raise IdentificationError(
        f"{where}: the solver Clarabel finds no physically consistent parameters: {statuses[-1]}; check that tau "
        "are the measured torques, gravity included, give priors with standard deviations or a motion "
        "that excites more, or take method='weighted'"
    )


def _pseudo_inertia(cvxpy: Any, p: Any, body: Body) -> Any:
    """J (4 × 4) of a body in units of its mass and length, as an expression of p."""
    unit = np.diag([1 / body.length] * 3 + [1.0]) / np.sqrt(body.mass)
    columns = np.column_stack([(unit @ _matrix(each) @ unit).ravel() for each in np.eye(10)])
    return cvxpy.reshape(columns @ p[list(body.indices)], (4, 4), order="C")


def _matrix(p: Array) -> Array:
    return np.asarray(pseudo_inertia_of(ca.DM(p)).full())


def at_bounds(problem: LeastSquaresProblem, p: Array, limits: tuple[Array, Array], margin: float) -> tuple[str, ...]:
    """The names of parameters at one of their limits, and of bodies at the margin."""
    near = [np.abs(p - bound) <= _NEAR * problem.sizes for bound in limits]
    names = [name for name, reached in zip(problem.torque.names, near[0] | near[1], strict=True) if reached]
    for body in problem.bodies:
        unit = np.diag([1 / body.length] * 3 + [1.0]) / np.sqrt(body.mass)
        if np.linalg.eigvalsh(unit @ _matrix(p[list(body.indices)]) @ unit)[0] <= margin + _NEAR:
            names.append(f"body of {body.name}")
    return tuple(names)


def least_eigenvalues(found: tuple[Body, ...], p: Array) -> dict[str, float]:
    """The least eigenvalue of the pseudo-inertia of each body, by name."""
    return {body.name: float(np.linalg.eigvalsh(_matrix(p[list(body.indices)]))[0]) for body in found}
