"""Anchors of contacts that are given none: in numbers, or as further parameters of the robot.

A motion holds them where they are at its start, which differs from motion to motion; as parameters behind p, anchors
make one graph for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import casadi as ca
import numpy as np

from gdalembert.dynamics.constraints.constraint import Constraint, Contact, check_touching
from gdalembert.dynamics.constraints.relative_motion import FramePair
from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.frame_motion import placement
from gdalembert.dynamics.parameters.parameters import Parameters
from gdalembert.model.tree import Tree
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function

Held = Iterable[tuple[Constraint, FramePair]]
"""Constraints, each with the pair of frames that it holds together."""


def held_where_they_are(tree: Tree, held: Held, q: Array) -> tuple[Constraint, ...]:
    """The constraints, those without an anchor held where their frames are at q."""

    def anchored(constraint: Constraint, pair: FramePair) -> Constraint:
        if constraint.is_anchored or not isinstance(constraint, Contact):
            return constraint
        return constraint.held_at(*placement(tree, tree.frames[pair.first], ca.DM(q)))

    return tuple(anchored(constraint, pair) for constraint, pair in held)


def held_at_symbols(constraints: Sequence[Constraint]) -> tuple[tuple[Constraint, ...], ca.SX]:
    """The constraints, those without an anchor held at placements [R p] of symbols; and these, column by column."""
    held: list[Constraint] = []
    symbols = ca.SX(0, 1)
    for k, constraint in enumerate(constraints):
        if isinstance(constraint, Contact) and not constraint.is_anchored:
            anchor = ca.SX.sym(f"anchor_{k}", 3, 4)
            symbols, constraint = ca.vertcat(symbols, ca.vec(anchor)), constraint.with_anchor(anchor)
        held.append(constraint)
    return tuple(held), symbols


def places(robot: Dynamics, held: Held) -> ca.Function:
    """(q) → (anchors): [R p] of all contacts without an anchor, column by column, as :func:`held_at_symbols` has them.

    p is the last input where the robot has parameters.
    """
    s, columns = robot.symbols("q"), [ca.SX(0, 1)]
    for constraint, pair in held:
        if isinstance(constraint, Contact) and not constraint.is_anchored:
            r, x = placement(robot.tree, robot.tree.frames[pair.first], s["q"])
            columns.append(ca.vec(ca.densify(ca.SX(ca.horzcat(r, constraint.touching_point(r, x))))))
    return function("anchors", s, {"anchors": ca.vertcat(*columns)})


def check_places(constraints: Sequence[Constraint], places: Array) -> None:
    """Refuse anchors that are not defined."""
    missing = (constraint for constraint in constraints if not constraint.is_anchored)
    for constraint, anchor in zip(missing, places.reshape(-1, 12), strict=True):
        check_touching(constraint.name, anchor)


def with_parameters(robot: Dynamics, further: ca.SX) -> Dynamics:
    """The robot with symbols behind its parameters, whose values are not known."""
    parameters, twin = robot.parameters, robot._on(robot.tree)
    names = (*parameters.names, *(f"anchors[{k}]" for k in range(further.numel())))
    values = np.concatenate([parameters.values, np.full(further.numel(), np.nan)])
    twin.parameters = Parameters(names, values, ca.vertcat(parameters.symbols, further), robot.tree, robot.forces)
    return twin
