"""What the cleaning of a robot's constants does to its motion, in numbers (ours)."""

from __future__ import annotations

import warnings

import casadi as ca
import numpy as np

from gdalembert.dynamics.newton_euler.aba import forward_dynamics
from gdalembert.dynamics.newton_euler.rnea import inverse_dynamics
from gdalembert.errors import CleaningWarning
from gdalembert.model.configuration import random_configuration
from gdalembert.model.tree import Tree

_NOTICED = 1e-9
"""Relative change of tau or of accelerations from which on cleaning is more than rounding."""


def warn_of_cleaning(given: Tree, cleaned: Tree, tolerance: float) -> None:
    """Warn if cleaning changes tau or accelerations by more than 1e-9 of their size, at one random state.

    What rounding alone does to accelerations, if M is badly conditioned, is no matter of cleaning.
    """
    rng = np.random.default_rng(0)
    q = ca.DM(random_configuration(given, rng))
    v, a = (ca.DM(rng.normal(size=given.nv)) for _ in range(2))
    tau = inverse_dynamics(given, q, v, a)
    in_tau = _change(inverse_dynamics(cleaned, q, v, a), tau)
    in_a = _change(forward_dynamics(cleaned, q, v, tau), a)
    if in_a > _NOTICED:
        in_a -= _change(forward_dynamics(given, q, v, tau), a)
    if max(in_tau, in_a) > _NOTICED:
        warnings.warn(
            f"{given.name}: clean={tolerance:g} changes tau by {in_tau:.1e} and accelerations by {max(in_a, 0):.1e} of "
            "their size; give a smaller tolerance, or clean=0 to take every number as it is",
            CleaningWarning,
            stacklevel=3,
        )


def _change(found: ca.DM, wanted: ca.DM) -> float:
    """max|Δ| / max|wanted|; 0 where that is no number, as for a robot without inertia."""
    change = float(ca.norm_inf(found - wanted) / ca.norm_inf(wanted))
    return change if np.isfinite(change) else 0.0
