"""Limits of a robot: the torques that scale an error, and the motions over which it is bounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.dynamics.simplified.series import Coordinates
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arguments import vector
from gdalembert.spatial.arrays import Array, frozen

Range: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike] | Array
"""(lower, upper)"""

_NO_LIMIT = 1e100  # what stands in a model for no limit is infinite, or the largest double


@dataclass(frozen=True)
class Limits:
    """Largest torque, velocity and acceleration of each entry of v, and the range of each distance.

    Attributes:
        tau: [N m or N]. v: [rad/s or m/s]. a: [rad/s² or m/s²]. All nv, positive and finite.
        lower, upper: of each coordinate [rad or m]; NaN where the model has none that can be used.
    """

    tau: Array
    v: Array
    a: Array
    lower: Array
    upper: Array


def limits_of(
    model: pin.Model | Tree,
    tree: Tree,
    joints: Sequence[Joint],
    *,
    tau_max: npt.ArrayLike | None,
    v_max: npt.ArrayLike | None,
    a_max: npt.ArrayLike,
    q_range: Range | None,
) -> Limits:
    """The limits that are given, or else those of the model: ``effortLimit``, ``velocityLimit``, position limits.

    Raises:
        ArgumentTypeError: if a limit does not consist of numbers.
        ArgumentError: if one is missing, infinite or not positive, with the joint's name.
    """
    own = model if isinstance(model, pin.Model) else None
    columns = [joint.idx_q for joint in joints]
    if q_range is not None:
        try:
            first, last = q_range
        except (TypeError, ValueError):
            message = f"q_range={q_range!r}: give (lower, upper), each {tree.nv} numbers or one"
            raise ArgumentTypeError(message) from None
        lower, upper = (vector("q_range", x, tree.nv, finite=False, repeat=True) for x in (first, last))
    elif own is not None:
        lower, upper = own.lowerPositionLimit[columns], own.upperPositionLimit[columns]
    else:
        lower, upper = np.full((2, tree.nv), np.nan)
    return Limits(
        tau=_positive("tau_max", tau_max, "effortLimit", own, tree),
        v=_positive("v_max", v_max, "velocityLimit", own, tree),
        a=_positive("a_max", a_max, None, own, tree),
        lower=frozen(lower),
        upper=frozen(upper),
    )


def coordinates_of(tree: Tree, joints: tuple[Joint, ...], limits: Limits, relevant: set[int]) -> Coordinates:
    """x, with the ranges of the distances among the entries ``relevant`` of q; others have no effect on torques.

    Raises:
        ArgumentError: if one of these has no finite range.
    """
    centre, half = np.zeros(tree.nv), np.full(tree.nv, np.pi)
    for k, joint in enumerate(joints):
        if joint.type.is_prismatic:
            half[k] = 1.0
            if joint.idx_q in relevant:
                lower, upper = limits.lower[k], limits.upper[k]
                if not -_NO_LIMIT < lower < upper < _NO_LIMIT:
                    raise ArgumentError(
                        f"{tree.name}: joint {joint.name!r}: its range is from {lower:.9g} to {upper:.9g} m, and "
                        "inertia or gravity depends on it; give a finite q_range"
                    )
                centre[k], half[k] = (lower + upper) / 2, (upper - lower) / 2
    return Coordinates(tree, joints, frozen(centre), frozen(half))


def _positive(
    name: str, given: npt.ArrayLike | None, attribute: str | None, model: pin.Model | None, tree: Tree
) -> Array:
    if given is not None:
        values, where = vector(name, given, tree.nv, finite=False, repeat=True), name
    elif model is not None and attribute is not None:
        values, where = np.array(getattr(model, attribute), dtype=float), f"model.{attribute}"
    else:
        raise ArgumentError(f"{tree.name}: {name} is missing; give {tree.nv} positive numbers, or one for all joints")
    for joint, value in zip(tree.velocity_names, values, strict=True):
        if not 0 < value < _NO_LIMIT:
            hint = "give a positive finite number" if where == name else f"give a positive finite {name}"
            raise ArgumentError(f"{tree.name}: joint {joint!r}: {where} is {value:.9g}; {hint}")
    return frozen(values)
