"""Derivatives of a Dynamics under test, along one direction, beside those of its own ``inverse_dynamics``.

CasADi differentiates tau(q, v, a), which is compared with the reference itself. Differences would not do: they lose all
digits where smooth Coulomb friction changes its sign.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.batch import BatchFunction
from gdalembert.spatial.functions import directional_derivative

ALONG = "inverse_dynamics_along"
"""tau differentiated by CasADi."""

TAU = "inverse_dynamics_under_constant_wrenches"
"""tau that is differentiated, where wrenches act."""

OF_TORQUE, OF_ACCELERATION = "inverse_dynamics_derivatives", "forward_dynamics_derivatives"


def direction_of(scales: Array) -> Array:
    """d (nv): in which no entry of a matrix hides, each entry of the size of its coordinate."""
    direction: Array = scales * np.random.default_rng(0).uniform(0.5, 1.5, len(scales))
    return direction


def tau_along(dynamics: Dynamics, inverse_dynamics: ca.Function, d: Array) -> BatchFunction:
    """(q, v, a, p) → the derivatives of tau as q, and as v, moves along d (2 nv)."""
    s = dynamics.symbols("q", "v", "a")
    q, v, *_ = inputs = list(s.values())
    tau, moved = inverse_dynamics(*inputs), dynamics.tree.configuration_rate(q, ca.SX(d))
    return _batched(ALONG, inputs, directional_derivative(tau, q, moved), directional_derivative(tau, v, ca.SX(d)))


def times_direction(dynamics: Dynamics, derivatives: ca.Function, d: Array) -> BatchFunction:
    """The matrices of a Function of derivatives times d, one below the other."""
    s = dynamics.symbols(*derivatives.name_in()[:3])
    inputs = [*s.values()]
    return _batched(derivatives.name(), inputs, *(matrix @ ca.DM(d) for matrix in derivatives.call(inputs)))


def _batched(name: str, inputs: list[ca.SX], *outputs: Matrix) -> BatchFunction:
    stacked = ca.densify(ca.vertcat(*outputs))
    return BatchFunction(ca.Function(name, inputs, [stacked]), stacked.shape[0])
