"""Measured states: what parameters give at an end, moved onto unit lengths, contacts and loops if it is near them."""

from __future__ import annotations

import contextlib

import casadi as ca
import numpy as np

from gdalembert.dynamics.constraints.constrained_dynamics import ConstrainedDynamics
from gdalembert.errors import ArgumentError
from gdalembert.model.configuration import check_unit_lengths, difference, lengths, projected, unit_blocks
from gdalembert.model.tree import Tree
from gdalembert.ocp.systems import System
from gdalembert.spatial.arrays import Array

NEAR_Q, NEAR_V = 0.05, 0.2
"""The farthest that an entry of q [rad, m], a unit length, and of v [rad/s, m/s, relative to v above 1] is moved."""


class FarStateError(ArgumentError):
    """A state, given by parameters, that is far from unit lengths, contacts or loops."""


def with_unit_lengths(what: str, q: Array, tree: Tree) -> tuple[Array, float]:
    """q with unit lengths, and how far one was off.

    Raises:
        FarStateError: if one is off by more than :data:`NEAR_Q`.
    """
    try:
        check_unit_lengths(what, q, tree, NEAR_Q)
    except ArgumentError as error:
        raise FarStateError(str(error)) from None
    blocks = unit_blocks(tree)
    return projected(q, blocks), float(np.abs(lengths(q, blocks) - 1).max(initial=0))


def with_signs_of(last: Array, q: Array, tree: Tree) -> Array:
    """q with the quaternions that are nearer to those of the last q: q and −q are one rotation, but no warm start."""
    q = q.copy()
    for _, start, stop in unit_blocks(tree):
        if stop - start == 4 and q[start:stop] @ last[start:stop] < 0:
            q[start:stop] *= -1
    return q


def closed(system: System, q: Array) -> tuple[Array, float]:
    """The configuration near q that satisfies contacts and loops, and how far q was moved; q itself if none is near."""
    reached = system.closed(q)
    moved = float(np.abs(ca.evalf(difference(system.dynamics.tree, ca.DM(q), ca.DM(reached))).full()).max(initial=0))
    return (reached, moved) if moved <= NEAR_Q else (q, 0.0)


def consistent(con: ConstrainedDynamics, q: Array, v: Array) -> tuple[Array, float]:
    """The velocity near v that satisfies contacts and loops, and how far v was moved; v itself if none is near."""
    reached = v
    with contextlib.suppress(ArgumentError):
        reached = con.consistent_velocity(q, v)
    moved = float(np.abs(reached - v).max(initial=0))
    return (reached, moved) if moved <= NEAR_V * max(1.0, np.abs(v).max(initial=0)) else (v, 0.0)
