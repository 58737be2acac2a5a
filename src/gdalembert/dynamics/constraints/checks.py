"""Checks of constraints: what they are, their gains, and whether they are redundant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from gdalembert.dynamics.constraints.constraint import Constraint
from gdalembert.dynamics.constraints.constraint_set import ConstraintSet
from gdalembert.dynamics.constraints.relative_motion import FramePair
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError
from gdalembert.model.configuration import random_configuration
from gdalembert.model.tree import Tree
from gdalembert.spatial.arguments import number, vector
from gdalembert.spatial.arrays import Array, frozen

DEPENDENT = 1e-9
"""Relative: a smaller singular value of the Jacobian is zero."""


def checked_constraints(dynamics: object, given: Any) -> tuple[Constraint, ...]:
    """The constraints of a robot as a tuple.

    Raises:
        ArgumentTypeError: if the robot is not a Dynamics, or one of them is not a constraint.
        ArgumentError: if there is none, or one is given twice.
    """
    if not isinstance(dynamics, Dynamics):
        raise ArgumentTypeError(
            f"ConstrainedDynamics takes a Dynamics, as gd.NewtonEuler(model), not {type(dynamics).__name__}"
        )
    if isinstance(given, Constraint) or not isinstance(given, Sequence):
        raise ArgumentTypeError(f"constraints: got {given!r}; give a list of gd.Contact and gd.Loop")
    for each in given:
        if not isinstance(each, Constraint):
            raise ArgumentTypeError(f"constraints: got {each!r}; give gd.Contact and gd.Loop")
    if not given:
        raise ArgumentError("constraints: got none; give at least one, or take the Dynamics itself")
    frames = Counter(frozenset(map(_place, each.frames(dynamics.nominal))) for each in given)
    for each in given:
        if frames[frozenset(map(_place, each.frames(dynamics.nominal)))] > 1:
            raise ArgumentError(f"constraints: {each.name}: the same frames are held twice; give each constraint once")
    return tuple(given)


def _place(frame: Any) -> tuple[int, bytes, bytes]:
    """What tells two frames apart; anchors are all the same."""
    if frame.joint < 0:
        return -1, b"", b""
    return frame.joint, frame.rotation.tobytes(), frame.translation.tobytes()


def gains(what: str, given: Any, pairs: Sequence[FramePair], most: float = np.inf) -> Array:
    """A number for each row of the constraints, from one number, or one for each constraint or for each of its rows.

    Raises:
        ArgumentTypeError, ArgumentError: if it is none of these, negative, or above ``most``.
    """
    if np.ndim(given) == 0 and not isinstance(given, str):
        given = [given] * len(pairs)
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str) or len(given) != len(pairs):
        raise ArgumentError(f"{what}: got {given!r}; give one number, or one for each of the {len(pairs)} constraints")
    rows = [_gain(f"{what} of {pair.name}", x, pair.rows) for x, pair in zip(given, pairs, strict=True)]
    all_rows = np.concatenate(rows)
    if all_rows.max(initial=0) > most:
        raise ArgumentError(f"{what}: got {all_rows.max():g}; give numbers up to {most:g}")
    return frozen(all_rows)


def _gain(what: str, given: Any, rows: int) -> Array:
    if np.ndim(given) == 0:
        return np.full(rows, number(what, given, inclusive=True))
    array = vector(what, given, rows)
    if array.min() < 0:
        raise ArgumentError(f"{what}: got {array.min():g}; give numbers of at least 0")
    return array


def check_independent(tree: Tree, constraints: ConstraintSet) -> None:
    """Refuse constraints that are redundant wherever the robot is.

    Raises:
        ArgumentError: with the first one that adds less than all of its rows.
    """
    rng = np.random.default_rng(0)
    q = ca.SX.sym("q", tree.nq)
    jacobian = ca.Function("jacobian", [q], [ca.densify(constraints.jacobian(tree, q))])
    samples = [jacobian(random_configuration(tree, rng)).full() for _ in range(_CONFIGURATIONS)]
    ends = np.cumsum(constraints.rows)
    for pair, end in zip(constraints.pairs, ends, strict=True):
        found = max(rank(j[:end]) for j in samples)
        if found < end:
            added = found - (end - pair.rows)
            before = " together with those before it" if end > pair.rows else ""
            raise ArgumentError(
                f"{pair.name}: {pair.rows - added} of its {pair.rows} rows are redundant{before}, so that its forces "
                "are not determined; hold less ('3D'), or give regularization=1e-6 for the smallest forces"
            )


_CONFIGURATIONS = 3
"""Redundant constraints are so in all of them, but for a set of measure zero."""


def rank(j: Array) -> int:
    """The number of rows of a Jacobian that are independent."""
    values = np.linalg.svd(j, compute_uv=False)
    return int(np.sum(values > DEPENDENT * max(1.0, values.max(initial=0))))
