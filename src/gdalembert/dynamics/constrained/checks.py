"""Checks of constraints: what they are, their gains, and whether they are redundant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.constraints.constraint import Constraint
from gdalembert.dynamics.constraints.constraint_set import ConstraintSet
from gdalembert.dynamics.constraints.constraint_types import ConstraintType, Frame6D, Point3D, Rows, RowSelection
from gdalembert.dynamics.constraints.from_pinocchio import is_from_pinocchio, is_list, listed, read_constraint
from gdalembert.dynamics.constraints.relative_motion import FramePair
from gdalembert.dynamics.constraints.selected_rows import motion_type
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, shortened
from gdalembert.model.configuration import random_configuration
from gdalembert.model.tree import Frame, Tree
from gdalembert.spatial.arguments import UNIT_ERROR, number, vector
from gdalembert.spatial.arrays import Array, frozen, homogeneous

DEPENDENT = 1e-9
"""Relative: a smaller singular value of the Jacobian is zero."""
NEARLY_DEPENDENT = 1e-6
"""The same at a configuration that satisfies the constraints by no more than that."""


def checked_constraints(dynamics: object, given: Any) -> tuple[Constraint, ...]:
    """The constraints of a robot as a tuple.

    Raises:
        ArgumentTypeError: if the robot is not a Dynamics, or one of them is not a constraint.
        ArgumentError: if one is given twice.
    """
    if not isinstance(dynamics, Dynamics):
        raise ArgumentTypeError(
            f"ConstrainedDynamics takes a Dynamics, as gd.NewtonEuler(model), not {type(dynamics).__name__}"
        )
    if not is_list(given):
        raise ArgumentTypeError(f"constraints: got {_shown(given)}; {_WANTED}")
    constraints = tuple(_constraint(dynamics.nominal, each) for each in listed(given))
    held: dict[tuple[ConstraintType | None, frozenset[_Place]], str] = {}
    for each in constraints:
        selected = each.holds if isinstance(each.holds, RowSelection) else None
        places = selected, frozenset(map(_place, each.frames(dynamics.nominal)))
        if places in held:
            raise ArgumentError(
                f"constraints: {held[places]} and {each.name} hold the same frames; give each constraint once"
            )
        held[places] = each.name
    return constraints


_WANTED = "give a list of gd.Contact and gd.Loop, or of Pinocchio's constraint models"


def _constraint(tree: Tree, given: Any) -> Constraint:
    if isinstance(given, Constraint):
        return given
    if is_from_pinocchio(given):
        return read_constraint(tree, given)
    raise ArgumentTypeError(f"constraints: got {_shown(given)}; {_WANTED}")


def _shown(given: Any) -> str:
    if isinstance(given, Constraint):
        return f"{given.name} alone"
    return f"one {type(given).__name__} alone" if is_from_pinocchio(given) else shortened(repr(given))


_Place = tuple[int, bytes, bytes]


def _place(frame: Frame) -> _Place:
    """What tells two frames apart; anchors are all the same."""
    if frame.joint < 0:
        return -1, b"", b""
    return frame.joint, frame.rotation.tobytes(), frame.translation.tobytes()


def gains(what: str, given: Any, pairs: Sequence[FramePair], most: float = np.inf) -> Array:
    """A number for each row of the constraints, from one number, or one for each constraint or for each of its rows.

    Raises:
        ArgumentTypeError, ArgumentError: if it is none of these, negative, or above ``most``.
    """
    if not isinstance(given, Sequence | np.ndarray) or (isinstance(given, np.ndarray) and not given.ndim):
        given = [given] * len(pairs)
    if isinstance(given, str) or len(given) != len(pairs):
        raise ArgumentError(f"{what}: got {given!r}; give one number, or one for each of the {len(pairs)} constraints")
    rows = (_gain(f"{what} of {pair.name}", x, pair.rows, most) for x, pair in zip(given, pairs, strict=True))
    return frozen(np.concatenate([np.zeros(0), *rows]))


def _gain(what: str, given: Any, rows: int, most: float) -> Array:
    several = isinstance(given, Sequence | np.ndarray)
    array = vector(what, given, rows) if several else np.full(rows, number(what, given, inclusive=True))
    if array.min() < 0 or array.max() > most:
        limits = "of at least 0" if np.isinf(most) else f"from 0 to {most:g}"
        wrong = array.min() if array.min() < 0 else array.max()
        raise ArgumentError(f"{what}: got {wrong:g}; give numbers {limits}")
    return array


def with_own(what: str, given: Array, constraints: Sequence[Constraint], pairs: Sequence[FramePair]) -> Array:
    """Gains for each row, with those that constraints have of their own.

    Raises:
        ArgumentError: if a constraint with a gain of its own is given another one.
    """
    each_own = (np.full(pair.rows, getattr(each, what)) for each, pair in zip(constraints, pairs, strict=True))
    own, names = np.concatenate([np.zeros(0), *each_own]), [pair.name for pair in pairs for _ in range(pair.rows)]
    for row in np.flatnonzero((own != 0) & (given != 0)):
        raise ArgumentError(
            f"{what} of {names[row]}: got {given[row]:g}, its own corrector has {own[row]:g}; give one of them, 0 for "
            "the other"
        )
    return frozen(given + own)


def check_consistent(tree: Tree, constraints: Sequence[Constraint]) -> None:
    """Refuse constraints of the same two links that contradict each other, as far as these are known."""
    whole = (each for each in constraints if not isinstance(each.holds, RowSelection))
    known = [_Hold.of(tree, each) for each in whole if each.is_anchored]
    for one, other in combinations(known, 2):
        gap = one.gap(other) if one.links == other.links else 0.0
        if gap > UNIT_ERROR:
            raise ArgumentError(
                f"constraints: {one.name} and {other.name} contradict each other by {gap:.3g}: no placement of the two "
                "links that they hold satisfies both; correct one of them, or leave it out"
            )


@dataclass(frozen=True)
class _Hold:
    """A constraint as seen from the two links it holds: its frames in them (4 × 4), in the order of the links."""

    name: str
    is_point: bool
    links: tuple[int, ...]
    frames: tuple[Array, ...]

    @classmethod
    def of(cls, tree: Tree, constraint: Constraint) -> _Hold:
        frames = sorted(constraint.frames(tree), key=lambda frame: frame.joint)
        placed = tuple(homogeneous(frame.rotation, frame.translation) for frame in frames)
        is_point, links = isinstance(constraint.holds, Point3D), tuple(frame.joint for frame in frames)
        return cls(constraint.name, is_point, links, placed)

    def gap(self, other: _Hold) -> float:
        """By how much no placement of the two links satisfies both [m, 1]."""
        if self.is_point and other.is_point:
            first, second = (
                np.linalg.norm(a[:3, 3] - b[:3, 3]) for a, b in zip(self.frames, other.frames, strict=True)
            )
            return float(abs(first - second))
        if self.is_point:
            return other.gap(self)
        between = self.frames[0] @ np.linalg.inv(self.frames[1])
        error = other.frames[0] - between @ other.frames[1]
        return float(np.abs(error[:3, 3:] if other.is_point else error).max())


def check_independent(tree: Tree, constraints: ConstraintSet) -> None:
    """Refuse constraints that hold nothing, and without a regularization redundant ones.

    Raises:
        ArgumentError: with the first one that holds nothing, or adds less than all of its rows.
    """
    if not constraints.pairs:
        return
    rng = np.random.default_rng(0)
    q = ca.SX.sym("q", tree.nq)
    jacobian = ca.Function("jacobian", [q], [ca.densify(constraints.jacobian(tree, q))])
    samples = [jacobian(random_configuration(tree, rng)).full() for _ in range(_CONFIGURATIONS)]
    for pair, own in zip(constraints.pairs, _rows(constraints), strict=True):
        if _redundant(samples, [own]) == pair.rows:
            raise ArgumentError(f"{pair.name}: no joint moves what it holds; give frames that move, or leave it out")
        _check_rotations(tree, pair)
    if not constraints.regularization:
        for name, redundant, less in _redundancies(samples, constraints):
            raise ArgumentError(f"{name}: {redundant}, so that its forces are not determined; {less}, or {_WAY_OUT}")


def _check_rotations(tree: Tree, pair: FramePair) -> None:
    """Refuse one rotation of a frame that turns about other axes, too: it is no constraint on q."""
    if not isinstance(pair.holds, Rows) or pair.holds.units.count("rad") != 1:
        return
    q, rng = ca.SX.sym("q", tree.nq), np.random.default_rng(0)
    own = next(row for row in pair.holds.rows if row.startswith("r"))
    others = replace(pair, holds=Rows(tuple(row for row in ("rx", "ry", "rz") if row != own)))
    turning = ca.Function("turning", [q], [motion_type(others).of(tree, others, q).jacobian])
    if np.abs(turning(random_configuration(tree, rng)).full()).max() > DEPENDENT:
        raise ArgumentError(
            f"{pair.name}: the frame turns about other axes than {own[1]}, so that {own} alone is no constraint on q; "
            "give two or three rotations, or none"
        )


def check_independent_at(where: str, jacobians: Sequence[Array], constraints: ConstraintSet, there: str) -> None:
    """Refuse, without a regularization, constraints that are redundant where they have these Jacobians.

    Raises:
        ArgumentError: with the first one that adds less than all of its rows there.
    """
    if not constraints.regularization:
        for name, redundant, _ in _redundancies(jacobians, constraints, NEARLY_DEPENDENT):
            raise ArgumentError(
                f"{where}{name}: {redundant} {there}, so that its forces are not determined; {_WAY_OUT}"
            )


_Rows = npt.NDArray[np.signedinteger[Any]]
_WAY_OUT = "give regularization=1e-6 for the smallest forces"


def _rows(constraints: ConstraintSet) -> list[_Rows]:
    """Those of each constraint."""
    return [np.arange(end - n, end) for n, end in zip(constraints.rows, np.cumsum(constraints.rows), strict=True)]


def _redundancies(
    samples: Sequence[Array], constraints: ConstraintSet, tolerance: float = DEPENDENT
) -> Iterator[tuple[str, str, str]]:
    """The constraints that add less than all of their rows at all samples, what is redundant, and what to do."""
    rows = _rows(constraints)
    for k, pair in enumerate(constraints.pairs):
        redundant = _redundant(samples, rows[: k + 1], tolerance)
        if redundant:
            needed = [n for n in range(k) if _redundant(samples, rows[:n] + rows[n + 1 : k + 1], tolerance) < redundant]
            others = ", ".join(constraints.pairs[n].name for n in needed or range(k))
            of = f"{redundant} of its {pair.rows} rows {'is' if redundant == 1 else 'are'} redundant"
            less = "hold less ('3D')" if isinstance(pair.holds, Frame6D) else "leave it out"
            yield pair.name, f"{of}{f' beside {others}' if others else ''}", less


def _redundant(samples: Sequence[Array], rows: Sequence[_Rows], tolerance: float = DEPENDENT) -> int:
    """How many of the rows of the Jacobian depend on the others at all samples."""
    held = np.concatenate(rows)
    return len(held) - max(rank(j[held], tolerance) for j in samples)


_CONFIGURATIONS = 3
"""Redundant constraints are so in all of them, but for a set of measure zero."""


def rank(j: Array, tolerance: float = DEPENDENT) -> int:
    """The number of rows of a Jacobian that are independent."""
    values = np.linalg.svd(j, compute_uv=False)
    return int(np.sum(values > tolerance * max(1.0, values.max(initial=0))))
