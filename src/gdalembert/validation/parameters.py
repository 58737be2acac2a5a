"""Values of the parameters at which a system is validated, and which of them a failure is due to."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.parameters.parameters import ModelParameters, Values
from gdalembert.errors import ArgumentError
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.validation.residuals import WorstResiduals
from gdalembert.validation.states import States
from gdalembert.validation.systems import SystemUnderTest
from gdalembert.validation.wording import listed

_RANDOM = 4
"""Random p beside that of the model."""


def values_of_parameters(dynamics: Dynamics, p: Values, seed: int) -> list[Array]:
    """The p that the states are shared out over; none of a robot without parameters.

    Raises:
        ArgumentError: if p is given for a robot without parameters; and as
            :meth:`~gdalembert.dynamics.parameters.parameters.Parameters.vector`.
    """
    parameters = dynamics.parameters
    if not parameters:
        if p is not None:
            raise ArgumentError(f"validate: p: {dynamics.tree.name!r} has no parameters; leave p out")
        return []
    values = parameters.vector(p, "validate: p")
    if p is not None or not isinstance(parameters, ModelParameters):
        return [values]
    rng = np.random.default_rng(seed)
    return [values, *(parameters.random(rng) for _ in range(_RANDOM))]


def explain_by_parameters(
    nominal: SystemUnderTest, wrong: SystemUnderTest, failed: Collection[str], states: States
) -> str:
    """Which parameters make checks fail that are right at p of the model.

    Args:
        nominal, wrong: the system under test at p of the model, and at a p where checks fail.
        failed: the names of these checks.
        states: at which it fails.
    """

    def fails(p: Array) -> bool:
        worst = WorstResiduals(nominal.reference.velocity_names, None)
        worst.update(nominal.changed(frozen(p)).residuals(states), states)
        return any(check.name in failed and not check.ok for check in worst.checks())

    assert nominal.p is not None
    assert wrong.p is not None
    names, start = nominal.parameter_names, np.array(nominal.p)
    # a massless body has no first moment: Pinocchio divides by the mass
    masses = [k for k, name in enumerate(names) if name.endswith(".m") and start[k] == 0]
    alone = [k for k in masses if fails(_with(start, k, wrong.p))]
    if not alone:
        start[masses] = wrong.p[masses]
        alone = [k for k in range(len(names)) if k not in masses and fails(_with(start, k, wrong.p))]
    text = "right at p of the model, wrong at other values of"
    return f"{text} {listed(repr(names[k]) for k in alone)}" if alone else f"{text} p, though of no single parameter"


def _with(p: Array, k: int, other: Array) -> Array:
    changed = np.array(p)
    changed[k] = other[k]
    return changed
