"""Configurations of a tree: neutral, random, integrate, difference, and the parts of q that have unit length."""

from __future__ import annotations

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.errors import ArgumentError
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix
from gdalembert.spatial.arguments import UNIT_ERROR, vector
from gdalembert.spatial.arrays import Array

Blocks = tuple[tuple[str, int, int], ...]
"""Parts of q that have unit length (quaternions, cos and sin): (joint, first entry, the entry behind the last)."""


def neutral(tree: Tree) -> ca.DM:
    """The configuration (nq) in which every link frame is its joint frame; equals ``pin.neutral``."""
    return ca.vertcat(*(joint.type.neutral() for joint in tree.independent_joints))


def integrate(tree: Tree, q: Matrix, v: Matrix) -> Matrix:
    """The configuration (nq) that is reached from q with the constant velocity v in unit time."""
    joints = tree.independent_joints
    return ca.vertcat(*(joint.type.integrate(joint.configuration(q), joint.velocity(v)) for joint in joints))


def difference(tree: Tree, q0: Matrix, q1: Matrix) -> Matrix:
    """The velocity (nv) that leads from q0 to q1 in unit time."""
    joints = tree.independent_joints
    return ca.vertcat(*(joint.type.difference(joint.configuration(q0), joint.configuration(q1)) for joint in joints))


def integrate_derivatives(tree: Tree, v: Matrix) -> tuple[Matrix, Matrix]:
    """Derivatives of the configuration that is reached from any q with v, by q and v (nv × nv), in tangent spaces."""
    joints = tree.independent_joints
    by_q, by_v = zip(*(joint.type.integrate_derivatives(joint.velocity(v)) for joint in joints), strict=True)
    return ca.diagcat(*by_q), ca.diagcat(*by_v)


def random_configuration(tree: Tree, rng: np.random.Generator) -> ca.DM:
    """The configuration (nq) that is reached from the neutral one with a normally distributed velocity."""
    reached: ca.DM = integrate(tree, neutral(tree), ca.DM(rng.normal(size=tree.nv)))
    return reached


def reached(tree: Tree, velocities: Array) -> Array:
    """The configurations (N × nq) that are reached from the neutral one with velocities (N × nv) in unit time.

    One graph for all of them: a configuration in numbers takes as long as the graph.
    """
    v = ca.SX.sym("v", tree.nv)
    # 50 configurations of all joint types took 0.34 s in numbers, one by one, and take 0.013 s.
    graph = ca.Function("reached", [v], [ca.densify(ca.SX(integrate(tree, neutral(tree), v)))])
    return np.asarray(graph.map(len(velocities))(velocities.T).full().T)


def unit_blocks(tree: Tree) -> Blocks:
    """The parts of q that have unit length; joints that mimic another have none of their own."""
    unit_parts = ((joint, joint.type.unit_length) for joint in tree.independent_joints)
    return tuple(
        (joint.name, joint.idx_q + part[0], joint.idx_q + part[1]) for joint, part in unit_parts if part is not None
    )


def lengths(q: Array, blocks: Blocks) -> Array:
    """The lengths of these parts, in the last axis, of configurations in the rows of q."""
    columns = [np.linalg.norm(q[..., start:stop], axis=-1) for _, start, stop in blocks]
    return np.stack(columns, axis=-1) if columns else np.empty((*q.shape[:-1], 0))


def check_unit_lengths(argument: str, q: Array, tree: Tree, tolerance: float = UNIT_ERROR) -> None:
    """Raises ArgumentError unless these lengths are 1, for a configuration (nq) or for one in each row of q."""
    off = np.abs(lengths(q, blocks := unit_blocks(tree)) - 1)
    if np.any(off > tolerance):
        joint = blocks[int(off.argmax()) % len(blocks)][0]
        raise ArgumentError(f"{argument} of joint {joint!r} is off unit length by {off.max():.3g}; normalise it")


def check_samples(context: str, q: Array, tree: Tree) -> None:
    """Refuse rows of q (N × nq) whose unit lengths are off, by the number of the first one."""
    off = np.abs(lengths(q, unit_blocks(tree)) - 1) > UNIT_ERROR
    if off.any():
        row = int(off.any(axis=1).argmax())
        check_unit_lengths(f"{context}: row {row} of q: the part", q[row], tree)


def checked_configuration(argument: str, values: npt.ArrayLike, tree: Tree) -> Array:
    """A configuration (nq): finite, with unit lengths."""
    q = vector(argument, values, tree.nq)
    check_unit_lengths(argument, q, tree)
    return q


def projected(q: Array, blocks: Blocks) -> Array:
    """A copy of q in which these parts have unit length."""
    q = q.copy()
    for (_, start, stop), length in zip(blocks, np.moveaxis(lengths(q, blocks), -1, 0), strict=True):
        q[..., start:stop] /= length[..., None]
    return q


def unit_and_scale(q: ca.SX, blocks: Blocks) -> tuple[Matrix, Matrix]:
    """The configuration q with unit lengths, and the divisor of each of its entries (nq)."""
    scale = ca.SX.ones(q.shape[0])
    for _, start, stop in blocks:
        scale[start:stop] = ca.sqrt(ca.sumsqr(q[start:stop]))
    return q / scale, scale
