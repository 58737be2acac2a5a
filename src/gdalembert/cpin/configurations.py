"""The configuration space: integrate, difference and their derivatives, neutral and random configurations."""

from __future__ import annotations

from typing import Any

import casadi as ca
import pinocchio as pin

from gdalembert.cpin.matrices import is_constant, matrix
from gdalembert.cpin.model import Model
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from gdalembert.spatial.algebra import Matrix

__all__ = [
    *("dDifference", "dIntegrate", "difference", "distance", "integrate", "interpolate"),
    *("neutral", "normalize", "randomConfiguration", "squaredDistance"),
]


def _call(model: Model, algorithm: str, name: str, *configurations: Any, v: Any = None) -> Any:
    """Evaluate a Function of configurations, and of a velocity."""
    arguments = [matrix(f"{algorithm}: q", q, model.nq) for q in configurations]
    arguments += [] if v is None else [matrix(f"{algorithm}: v", v, model.nv)]
    return getattr(model.configurations, name)(*arguments)


def integrate(model: Model, q: Any, v: Any) -> Matrix:
    """The configuration (nq) that v leads to from q in unit time."""
    return _call(model, "integrate", "integrate", q, v=v)


def difference(model: Model, q1: Any, q2: Any) -> Matrix:
    """The velocity (nv) that leads from q1 to q2 in unit time."""
    return _call(model, "difference", "difference", q1, q2)


def interpolate(model: Model, q1: Any, q2: Any, alpha: Any) -> Matrix:
    """The configuration between q1 (alpha = 0) and q2 (1)."""
    return integrate(model, q1, matrix("interpolate: alpha", alpha, 1) * difference(model, q1, q2))


def squaredDistance(model: Model, q1: Any, q2: Any) -> Matrix:
    """The squared distance of each joint (njoints − 1)."""
    velocity, joints = difference(model, q1, q2), range(1, model.njoints)
    return ca.vertcat(*(ca.sumsqr(velocity[model.idx_vs[k] : model.idx_vs[k] + model.nvs[k]]) for k in joints))


def distance(model: Model, q1: Any, q2: Any) -> Matrix:
    """The length of the velocity that leads from q1 to q2 in unit time."""
    return ca.norm_2(difference(model, q1, q2))


def _at_position(algorithm: str, both: Any, position: Any) -> Any:
    """Both derivatives, or that by the argument at this position."""
    if position not in (None, 0, 1):
        raise ArgumentError(f"{algorithm}: got the position {position!r} of an argument; give ARG0, ARG1, or none")
    return both if position is None else both[int(position)]


def dIntegrate(model: Model, q: Any, v: Any, argument_position: Any = None) -> Any:
    """Derivatives of integrate by q and by v (nv × nv each), in tangent spaces; or one of them, by ARG0 or ARG1."""
    return _at_position("dIntegrate", _call(model, "dIntegrate", "integrate_derivatives", q, v=v), argument_position)


def dDifference(model: Model, q1: Any, q2: Any, argument_position: Any = None) -> Any:
    """Derivatives of difference by q1 and by q2 (nv × nv each), in tangent spaces; or one of them, by ARG0 or ARG1."""
    return _at_position("dDifference", _call(model, "dDifference", "difference_derivatives", q1, q2), argument_position)


def normalize(model: Model, q: Any) -> Matrix:
    """The configuration q with quaternions, and cosines and sines, of unit length."""
    return _call(model, "normalize", "normalize", q)


def _numbers(model: Model, algorithm: str, q: Any) -> Any:
    configuration = matrix(f"{algorithm}: q", q, model.nq)
    if not is_constant(configuration):
        raise UnsupportedError(f"{algorithm}: q has symbols, which have no value yet; give numbers")
    return ca.evalf(configuration).full().ravel()


def neutral(model: Model) -> ca.DM:
    """The neutral configuration (nq)."""
    return ca.DM(pin.neutral(model.pin))


def randomConfiguration(model: Model, lower_bound: Any = None, upper_bound: Any = None) -> ca.DM:
    """A random configuration within the position limits, or within bounds (numbers)."""
    bounds = [q for q in (lower_bound, upper_bound) if q is not None]
    if len(bounds) == 1:
        raise ArgumentTypeError("randomConfiguration: got one bound; give lower_bound and upper_bound, or none")
    return ca.DM(pin.randomConfiguration(model.pin, *(_numbers(model, "randomConfiguration", q) for q in bounds)))
