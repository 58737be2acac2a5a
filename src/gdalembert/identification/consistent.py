"""The physically consistent fit: of all bodies that can exist, those that are nearest to the estimate of least squares.

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
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError, IdentificationError
from gdalembert.identification.least_squares import Descent
from gdalembert.identification.problem import LeastSquaresProblem
from gdalembert.model.inertia import pseudo_inertia_of
from gdalembert.spatial.arguments import required
from gdalembert.spatial.arrays import Array

_ACCURACIES = (1e-10, 1e-8, 1e-6)
"""Accuracies of the solver, one attempt after the other: the second is its own default."""
_NEAR = 1e-6
"""Part of a size that counts as none: the accuracy of the solver."""
_INACCURATE = 1e-4
"""Part of a size by which an inaccurate solution may lie outside the limits, to which it is moved."""


def consistent(
    problem: LeastSquaresProblem, descent: Descent, limits: tuple[Array, Array], margin: float, *, bounded: bool
) -> Array:
    """The unknowns x (n_x) of bodies that exist, as near to the data as possible, no pseudo-inertia below the margin.

    ``bounded``: whether some of the limits were given, so that perhaps nothing satisfies them.

    Raises:
        MissingPackageError: if CVXPY or Clarabel is not installed.
        ArgumentError: if no such bodies lie within the bounds.
        IdentificationError: if the solver fails.
    """
    required("fit", "clarabel", "identification")
    cvxpy = required("fit", "cvxpy", "identification")
    # ds/dz: excited directions by their standard deviations, then the others by 1
    estimate = descent.estimate
    rest = np.linalg.svd(estimate.base.matrix)[2][len(estimate.base.pivots) :].T
    units = np.hstack([estimate.base.inverse @ estimate.factor, rest])
    # Not p itself, whose least change would weigh kg as kg m², whatever the data know of them.
    z = cvxpy.Variable(len(units))
    p = problem.x(descent.s) + (problem.sizes[:, None] * units) @ z
    constraints = []
    for body in problem.bodies:
        columns = np.column_stack([body.in_units(direction).ravel() for direction in np.eye(10)])
        pseudo_inertia = cvxpy.reshape(columns @ p[list(body.indices)], (4, 4), order="C")
        constraints.append(pseudo_inertia >> margin * np.eye(4))
    equal = limits[0] == limits[1]
    if equal.any():
        at = np.flatnonzero(equal)
        # One equality: between two equal bounds an interior-point method has no interior.
        constraints.append(cvxpy.multiply(1 / problem.sizes[at], p[at] - limits[0][at]) == 0)
    for bound, sign in zip(limits, (1, -1), strict=True):
        at = np.flatnonzero(np.isfinite(bound) & ~equal)
        if len(at):
            constraints.append(cvxpy.multiply(sign / problem.sizes[at], p[at] - bound[at]) >= 0)
    task = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(z)), constraints)
    inaccurate = None  # the last such solution that satisfies the constraints
    for status in _attempts(cvxpy, task):
        if status in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE) and p.value is not None:
            # A solver leaves the limits by its accuracy, and Friction refuses a coefficient of −1e-9.
            inside = np.asarray(np.clip(p.value, *limits))
            near = np.abs(inside - p.value) <= _INACCURATE * problem.sizes
            if near.all() and min(least_eigenvalues(problem, inside).values(), default=1) > 0:
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
    """Solve at one accuracy after the other, and yield what the solver says of each."""
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


def at_bounds(problem: LeastSquaresProblem, p: Array, limits: tuple[Array, Array], margin: float) -> tuple[str, ...]:
    """The names of parameters at one of their limits, and of bodies at the margin."""
    near = [np.abs(p - bound) <= _NEAR * problem.sizes for bound in limits]
    names = [name for name, reached in zip(problem.names, near[0] | near[1], strict=True) if reached]
    of_bodies = {body.name: body.in_units(p[list(body.indices)]) for body in problem.bodies}
    at_margin = [name for name, j in of_bodies.items() if np.linalg.eigvalsh(j)[0] <= margin + _NEAR]
    return (*names, *(f"body of {name}" for name in at_margin))


def least_eigenvalues(problem: LeastSquaresProblem, p: Array) -> dict[str, float]:
    """The least eigenvalue of the pseudo-inertia of each body, by name."""
    matrices = {body.name: pseudo_inertia_of(ca.DM(p[list(body.indices)])).full() for body in problem.bodies}
    return {name: float(np.linalg.eigvalsh(matrix)[0]) for name, matrix in matrices.items()}
