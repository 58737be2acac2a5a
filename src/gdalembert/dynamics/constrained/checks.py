"""Checks of constraints: what they are, their gains, and whether they are redundant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.constraints.constraint import Constraint, is_from_pinocchio, is_list, listed, read_constraint
from gdalembert.dynamics.constraints.constraint_set import ConstraintSet, motion_type
from gdalembert.dynamics.constraints.constraint_types import ChosenRows, Frame6D, Point3D, RowSelection
from gdalembert.dynamics.constraints.relative_motion import FramePair
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, shortened, shown
from gdalembert.model.configuration import random_configuration
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.arguments import UNIT_ERROR, number, vector
from gdalembert.spatial.arrays import Array, frozen, homogeneous

DEPENDENT = 1e-9
"""Relative: a smaller singular value of the Jacobian is zero."""
NEARLY_DEPENDENT = 1e-6
"""Relative singular value at a configuration that satisfies the constraints by no more than that."""

_CONFIGURATIONS = 3
"""Redundant constraints are so in all of them, but for a set of measure zero."""
_WAY_OUT = "give regularization=1e-6 (mu of ProximalSettings) for the smallest forces"
_Rows = npt.NDArray[np.signedinteger[Any]]


def checked_constraints(dynamics: object, value: Any) -> tuple[Constraint, ...]:
    """The constraints of a robot as a tuple, each of which is given once."""
    if not isinstance(dynamics, Dynamics):
        raise ArgumentTypeError(
            f"ConstrainedDynamics takes a Dynamics, as gd.NewtonEuler(model), not {type(dynamics).__name__}"
        )
    wanted = "give a list of gd.Contact and gd.Loop, or of Pinocchio's constraint models"
    if not is_list(value):
        alone = value.name if isinstance(value, Constraint) else f"one {type(value).__name__}"
        is_one = isinstance(value, Constraint) or is_from_pinocchio(value)
        raise ArgumentTypeError(f"constraints: got {f'{alone} alone' if is_one else shortened(repr(value))}; {wanted}")
    tree, held = dynamics.nominal, dict[Any, Constraint]()
    for item in listed(value):
        if not isinstance(item, Constraint) and not is_from_pinocchio(item):
            raise ArgumentTypeError(f"constraints: got {shortened(repr(item))}; {wanted}")
        constraint = item if isinstance(item, Constraint) else read_constraint(tree, item)
        selected = constraint.holds if isinstance(constraint.holds, RowSelection) else None
        places = selected, frozenset(map(_place, constraint.frames(tree)))
        if places in held:
            raise ArgumentError(
                f"constraints: {held[places].name} and {constraint.name} hold the same frames; give each constraint "
                "once"
            )
        held[places] = constraint
    return tuple(held.values())


def _place(frame: Frame) -> tuple[int, bytes, bytes]:
    """The link and the placement of a frame, which tell two frames apart; anchors are all the same."""
    if frame.joint < 0:
        return -1, b"", b""
    return frame.joint, frame.rotation.tobytes(), frame.translation.tobytes()


def gains(argument: str, value: Any, pairs: Sequence[FramePair], most: float = np.inf) -> Array:
    """A number for each row of the constraints, from one number, or one for each constraint or for each of its rows."""
    if not isinstance(value, Sequence | np.ndarray) or (isinstance(value, np.ndarray) and not value.ndim):
        value = [value] * len(pairs)
    if isinstance(value, str) or len(value) != len(pairs):
        raise ArgumentError(
            f"{argument}: got {shown(value)}; give one number, or one for each of the {len(pairs)} constraints"
        )
    rows = [np.zeros(0)]
    for x, pair in zip(value, pairs, strict=True):
        entry, several = f"{argument} of {pair.name}", isinstance(x, Sequence | np.ndarray)
        array = vector(entry, x, pair.rows) if several else np.full(pair.rows, number(entry, x, inclusive=True))
        if array.min() < 0 or array.max() > most:
            limits = "of at least 0" if np.isinf(most) else f"from 0 to {most:g}"
            wrong = array.min() if array.min() < 0 else array.max()
            raise ArgumentError(f"{entry}: got {wrong:g}; give numbers {limits}")
        rows.append(array)
    return frozen(np.concatenate(rows))


def with_own(quantity: str, value: Any, constraints: Sequence[Constraint], pairs: Sequence[FramePair]) -> Array:
    """Gains for each row; constraints with a gain of their own keep it, and take no other one."""
    array = gains(quantity, value, pairs)
    corrector_gains = gains(quantity, [getattr(constraint, quantity) for constraint in constraints], pairs)
    for row in np.flatnonzero((corrector_gains != 0) & (array != 0)):
        name = [pair.name for pair in pairs for _ in range(pair.rows)][row]
        raise ArgumentError(
            f"{quantity} of {name}: got {array[row]:g}, its own corrector has {corrector_gains[row]:g}; give one of "
            "them, 0 for the other"
        )
    return frozen(array + corrector_gains)


def check_consistent(tree: Tree, constraints: Sequence[Constraint]) -> None:
    """Refuse constraints of the same two links that contradict each other, as far as these are known."""
    known = []
    for constraint in constraints:
        if constraint.is_anchored and not isinstance(constraint.holds, RowSelection):
            frames = sorted(constraint.frames(tree), key=lambda frame: frame.joint)
            placed = [homogeneous(frame.rotation, frame.translation) for frame in frames]
            known.append((constraint, [frame.joint for frame in frames], placed))
    for (one, links, held), (other, others, held_too) in combinations(known, 2):
        points = isinstance(one.holds, Point3D), isinstance(other.holds, Point3D)
        gap = _gap(held, held_too, *points) if links == others else 0.0
        if gap > UNIT_ERROR:
            raise ArgumentError(
                f"constraints: {one.name} and {other.name} contradict each other by {gap:.3g}: no placement of the two "
                "links that they hold satisfies both; correct one of them, or leave it out"
            )


def _gap(one: Sequence[Array], other: Sequence[Array], is_point: bool, other_is_point: bool) -> float:
    """The least error that any placement of two links leaves of two constraints [m, 1], by their frames (4 × 4)."""
    if is_point and other_is_point:
        first, second = (np.linalg.norm(a[:3, 3] - b[:3, 3]) for a, b in zip(one, other, strict=True))
        return float(abs(first - second))
    if is_point:
        return _gap(other, one, other_is_point, is_point)
    error = other[0] - one[0] @ np.linalg.inv(one[1]) @ other[1]
    return float(np.abs(error[:3, 3:] if other_is_point else error).max())


def check_independent(tree: Tree, constraints: ConstraintSet) -> None:
    """Refuse constraints that hold nothing, and without a regularization redundant ones; of numbers alone."""
    if not constraints.pairs or not tree.is_numeric:
        return
    rng = np.random.default_rng(0)
    q = ca.SX.sym("q", tree.nq)
    jacobian = ca.Function("jacobian", [q], [ca.densify(constraints.jacobian(tree, q))])
    # in numbers: ca.sprank, the structural rank, takes parallel rows, as those of a planar linkage, for independent
    samples = [jacobian(random_configuration(tree, rng)).full() for _ in range(_CONFIGURATIONS)]
    for pair, rows in zip(constraints.pairs, _rows(constraints), strict=True):
        if _redundant(samples, [rows]) == pair.rows:
            raise ArgumentError(f"{pair.name}: no joint moves what it holds; give frames that move, or leave it out")
        _check_rotations(tree, pair)
    if not constraints.regularization:
        for name, redundant, less in _redundancies(samples, constraints):
            raise ArgumentError(f"{name}: {redundant}, so that its forces are not determined; {less}, or {_WAY_OUT}")


def _check_rotations(tree: Tree, pair: FramePair) -> None:
    """Refuse one rotation of a frame that turns about other axes, too: it is no constraint on q."""
    if not isinstance(pair.holds, ChosenRows) or pair.holds.units.count("rad") != 1:
        return
    q, rng = ca.SX.sym("q", tree.nq), np.random.default_rng(0)
    rotation = next(row for row in pair.holds.rows if row.startswith("r"))
    others = replace(pair, holds=ChosenRows(tuple(row for row in ("rx", "ry", "rz") if row != rotation)))
    turning = ca.Function("turning", [q], [motion_type(others).of(tree, others, q).jacobian])
    if np.abs(turning(random_configuration(tree, rng)).full()).max() > DEPENDENT:
        raise ArgumentError(
            f"{pair.name}: the frame turns about other axes than {rotation[1]}, so that {rotation} alone is no "
            "constraint on q; give two or three rotations, or none"
        )


def check_independent_at(context: str, jacobians: Sequence[Array], constraints: ConstraintSet, there: str) -> None:
    """Refuse, without a regularization, constraints that are redundant where they have these Jacobians."""
    if not constraints.regularization:
        for name, redundant, _ in _redundancies(jacobians, constraints, NEARLY_DEPENDENT):
            raise ArgumentError(
                f"{context}{name}: {redundant} {there}, so that its forces are not determined; {_WAY_OUT}"
            )


def _rows(constraints: ConstraintSet) -> list[_Rows]:
    """The rows of the Jacobian that belong to each constraint."""
    return [np.arange(end - n, end) for n, end in zip(constraints.rows, np.cumsum(constraints.rows), strict=True)]


def _redundancies(
    samples: Sequence[Array], constraints: ConstraintSet, tolerance: float = DEPENDENT
) -> Iterator[tuple[str, str, str]]:
    """The constraints that add less than all of their rows at all samples, what is redundant, and what to do."""
    rows = _rows(constraints)
    if not constraints.pairs or not _redundant(samples, rows, tolerance):
        return
    for k, pair in enumerate(constraints.pairs):
        redundant = _redundant(samples, rows[: k + 1], tolerance)
        if redundant:
            needed = [n for n in range(k) if _redundant(samples, rows[:n] + rows[n + 1 : k + 1], tolerance) < redundant]
            others = ", ".join(constraints.pairs[n].name for n in needed or range(k))
            of = f"{redundant} of its {pair.rows} rows {'is' if redundant == 1 else 'are'} redundant"
            less = "hold less ('3D')" if isinstance(pair.holds, Frame6D) else "leave it out"
            yield pair.name, f"{of}{f' beside {others}' if others else ''}", less


def _redundant(samples: Sequence[Array], rows: Sequence[_Rows], tolerance: float = DEPENDENT) -> int:
    """The number of rows of the Jacobian that depend on the others at all samples."""
    held = np.concatenate(rows)
    return len(held) - max(rank(j[held], tolerance) for j in samples)


def rank(j: Array, tolerance: float = DEPENDENT) -> int:
    """The number of rows of a Jacobian that are independent."""
    values = np.linalg.svd(j, compute_uv=False)
    return int(np.sum(values > tolerance * max(1.0, values.max(initial=0))))
