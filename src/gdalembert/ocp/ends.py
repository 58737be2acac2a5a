"""The ends of a motion: q and v that are fixed there."""

from __future__ import annotations

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.model.configuration import Blocks, checked_configuration, difference, projected, unit_blocks
from gdalembert.model.tree import Tree
from gdalembert.ocp.bounds import Bounds
from gdalembert.ocp.constraints import Constraints
from gdalembert.spatial.arguments import vector
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.functions import function, symbols


def checked_end(
    name: str, tree: Tree, bounds: Bounds, q: npt.ArrayLike | None, v: npt.ArrayLike | None
) -> tuple[Array | None, Array | None]:
    """q (nq, with unit lengths) and v (nv) of an end, where they are given.

    Raises:
        ArgumentTypeError, ArgumentError: if their length is wrong, or they are not finite or not within the bounds.
    """
    configuration = speed = None
    if q is not None:
        given = checked_configuration(f"{name}: q", q, tree)
        bounds.check(f"{name}: q", given, "q")
        configuration = projected(given, unit_blocks(tree))
    if v is not None:
        speed = vector(f"{name}: v", v, tree.nv, repeat=True)
        bounds.check(f"{name}: v", speed, "v")
    return configuration, speed


def fix_configuration(
    name: str, opti: ca.Opti, constraints: Constraints, tree: Tree, q: ca.MX, given: Array, *, as_rotations: bool
) -> None:
    """q = given; quaternions and pairs (cos, sin) as rotations, if the motion determines their lengths."""
    blocks = unit_blocks(tree)
    if not as_rotations or not blocks:
        constraints.fix(f"q of {name}", q, given)
        return
    turning = {i for _, start, stop in blocks for i in range(start, stop)}
    for i in set(range(tree.nq)) - turning:
        opti.subject_to(q[i] == given[i])
    s = symbols(q0=tree.nq, q1=tree.nq)
    apart = function("difference", s, {"v": difference(tree, s["q0"], s["q1"])})(given, q)
    opti.subject_to(apart[_turning_columns(tree, blocks)] == 0)
    constraints.note(f"q of {name}", apart, np.zeros(tree.nv))


def _turning_columns(tree: Tree, blocks: Blocks) -> list[int]:
    """The entries of v that rotate quaternions and pairs (cos, sin)."""
    turning = []
    for name, start, stop in blocks:
        joint = next(joint for joint in tree.joints if joint.name == name)
        shifts = joint.type.nq - (stop - start)
        turning += list(joint.columns)[shifts:]
    return turning
