"""The parts of q that have unit length: quaternions, and pairs (cos, sin)."""

from __future__ import annotations

import casadi as ca
import numpy as np

from gdalembert.errors import ArgumentError
from gdalembert.model.joints import FreeFlyer, JointType, Planar, Spherical, UnboundedRevolute
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arrays import Array

Blocks = tuple[tuple[str, int, int], ...]
"""(joint, first entry of q, the entry behind the last)."""

_WITHIN: dict[type[JointType], tuple[int, int]] = {
    UnboundedRevolute: (0, 2),
    Planar: (2, 4),
    Spherical: (0, 4),
    FreeFlyer: (3, 7),
}


def unit_blocks(tree: Tree) -> Blocks:
    """Where q has them; joints that mimic another have none of their own."""
    return tuple(
        (joint.name, joint.idx_q + _WITHIN[type(joint.type)][0], joint.idx_q + _WITHIN[type(joint.type)][1])
        for joint in tree.joints
        if joint.scaling is None and type(joint.type) in _WITHIN
    )


def lengths(q: Array, blocks: Blocks) -> Array:
    """Their lengths, in the last axis, of configurations in the rows of q."""
    columns = [np.linalg.norm(q[..., start:stop], axis=-1) for _, start, stop in blocks]
    return np.stack(columns, axis=-1) if columns else np.empty((*q.shape[:-1], 0))


def check_unit_lengths(what: str, q: Array, tree: Tree) -> None:
    """That these lengths are one, of a configuration (nq) or of one in each row, but for rounding.

    Raises:
        ArgumentError: if one is off by more than 1e-6.
    """
    off = np.abs(lengths(q, blocks := unit_blocks(tree)) - 1)
    if np.any(off > 1e-6):
        joint = blocks[int(off.argmax()) % len(blocks)][0]
        raise ArgumentError(f"{what}: q of joint {joint!r} is off unit length by {off.max():.3g}; normalise it")


def projected(q: Array, blocks: Blocks) -> Array:
    """A copy of q in which they have unit length."""
    q = q.copy()
    for (_, start, stop), length in zip(blocks, np.moveaxis(lengths(q, blocks), -1, 0), strict=True):
        q[..., start:stop] /= length[..., None]
    return q


def unit_and_scale(q: ca.SX, blocks: Blocks) -> tuple[Matrix, Matrix]:
    """q with unit lengths, and by what each entry of it (nq) was divided."""
    scale = ca.SX.ones(q.shape[0])
    for _, start, stop in blocks:
        scale[start:stop] = ca.sqrt(ca.sumsqr(q[start:stop]))
    return q / scale, scale
