"""Models that no formulation is right for: numbers without a meaning, and singular mass matrices."""

from __future__ import annotations

import itertools
import math

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert import spatial
from gdalembert.errors import ArgumentError, ModelError
from gdalembert.model.configuration import random_configuration
from gdalembert.model.rounding import LARGEST, NO_INERTIA, SINGULAR, least_moment
from gdalembert.model.tree import Frame, Joint, Tree
from gdalembert.spatial.arguments import UNIT_ERROR
from gdalembert.spatial.arrays import Array


def check_body(where: str, body: pin.Inertia, whose: str = "its link") -> None:
    """Refuse what is not the inertia of a body.

    It looks at the numbers as given, before the pseudo-inertia is made of them. Messages begin with ``where``, and say
    ``whose`` inertia it is.

    Raises:
        ModelError: with the joint, the number, and what to do.
    """
    for what, given in (("mass", body.mass), ("com", body.lever), ("inertia", body.inertia)):
        _check_size(where, what, np.atleast_1d(given))
    if body.mass < 0:
        raise ModelError(f"{where}: {whose} has the negative mass {body.mass:.9g} kg; give a mass of at least 0")
    if (moment := least_moment(body.inertia, body.mass)) < 0:
        raise ModelError(
            f"{where}: {whose} has the negative principal moment {moment:.9g} kg m² about the centre of mass; "
            "check the signs of the inertia's off-diagonal entries"
        )


def _check_size(where: str, what: str, values: Array) -> None:
    if not np.all(np.isfinite(values)):
        raise ModelError(f"{where}: its {what} is not finite: {values.tolist()}; give finite numbers")
    if np.abs(values).max() > LARGEST:
        raise ModelError(f"{where}: its {what} is too large: {values.tolist()}; give numbers up to {LARGEST:g}")


def check_same_joints(where: str, tree: Tree, other: Tree) -> None:
    """Refuse a robot that has not the same joints in the same order.

    Raises:
        ArgumentError: with the first joint that differs.
    """
    own, found = tree.rigid_joints, other.rigid_joints
    for name, theirs in itertools.zip_longest(own, found):
        if name != theirs:
            raise ArgumentError(
                f"{where}: {other.name!r} has {'no further joint' if theirs is None else f'a joint {theirs!r}'} where "
                f"{tree.name!r} has {'none' if name is None else repr(name)}; give a model with the same joints in the "
                "same order"
            )


def check_numbers(tree: Tree) -> None:
    """Refuse numbers without a meaning.

    Raises:
        ModelError: with the joint, the number, and what to do.
    """
    if not tree.joints:
        raise ModelError(f"{tree.name}: has no joint that moves; there are no equations of motion")
    for joint in tree.joints:
        where = f"{tree.name}: joint {joint.name!r}"
        _check_placement(where, joint)
        axis = joint.type.axis
        if axis is not None and not abs(math.hypot(*axis) - 1) < UNIT_ERROR:
            raise ModelError(f"{where}: its axis {axis} has length {math.hypot(*axis):.9g}; give a unit vector")
        if not np.all(np.isfinite(joint.type.constants)):
            raise ModelError(f"{where}: its {joint.type.kind} parameters are not finite; give finite numbers")
    for frame in tree.frames:
        _check_placement(f"{tree.name}: frame {frame.name!r}", frame)
    for what in ("armature", "damping", "friction", "gravity"):
        if not np.all(np.isfinite(getattr(tree, what))):
            raise ModelError(f"{tree.name}: its {what} is not finite: {getattr(tree, what).tolist()}")
    for what in ("armature", "damping", "friction"):
        for name, value in zip(tree.velocity_names, getattr(tree, what), strict=True):
            if value < 0:
                raise ModelError(f"{tree.name}: joint {name!r}: has the negative {what} {value:.9g}; give at least 0")


def _check_placement(where: str, element: Joint | Frame) -> None:
    for what in ("rotation", "translation"):
        _check_size(where, what, getattr(element, what))
    rotation = element.rotation
    if not np.allclose(rotation @ rotation.T, np.eye(3), rtol=0, atol=UNIT_ERROR):
        raise ModelError(f"{where}: the rotation of its placement is not orthogonal; normalise it")
    if np.linalg.det(rotation) < 0:
        raise ModelError(f"{where}: the rotation of its placement is left-handed; change the sign of one of its axes")


def idle_joints(tree: Tree) -> tuple[str, ...]:
    """Names of the joints that move no inertia and have no armature, so that M is singular in every configuration.

    Whether it is none is judged by the rounding error of the joint's own block of M, whatever other joints move.
    """
    m, rounding = np.diag(tree.armature), np.diag(tree.armature)
    for joint, twists, body in zip(tree.joints, *_generic_twists(tree), strict=True):
        own = np.ix_(joint.columns, joint.columns)
        m[own] += _inner(twists, twists @ body)
        rounding[own] += _inner(np.abs(twists), np.abs(twists) @ np.abs(body))
    blocks = {joint.name: np.ix_(joint.columns, joint.columns) for joint in tree.joints if joint.scaling is None}
    noise = {name: NO_INERTIA * np.abs(rounding[own]).max() for name, own in blocks.items()}
    return tuple(name for name, own in blocks.items() if np.linalg.eigvalsh(m[own])[0] <= noise[name])


def is_singular(tree: Tree) -> bool:
    """Whether M is singular in every configuration, as for a free-flyer on a link without mass."""
    if not tree.is_numeric:
        return False
    twists, bodies = _generic_twists(tree)
    m = np.diag(tree.armature)
    for i, j in tree.pairs():
        block = _inner(twists[i], twists[j] @ bodies[j])
        rows, columns = tree.joints[i].columns, tree.joints[j].columns
        m[np.ix_(rows, columns)] += block
        if i != j:
            m[np.ix_(columns, rows)] += block.T
    unit = 1 / np.sqrt(np.maximum(np.diag(m), 1e-300))
    return bool(np.linalg.eigvalsh(unit[:, None] * m * unit)[0] < SINGULAR)


def _generic_twists(tree: Tree) -> tuple[list[Array], list[Array]]:
    """Twists and inertias: for each joint its Q̂ (nv × 4 × 4), and P of its subtree, so that M_ij = Tr(Q̂_i P_j Q̂_jᵀ).

    They are taken at one generic configuration, the same for equal trees, in the axes of the root link of the branch.
    Ours: M is an analytic function of q, so that what is singular at a generic point is singular everywhere.
    """
    q = random_configuration(tree, np.random.default_rng(20260101))
    placed: list[Array] = []
    twists: list[Array] = []
    for joint in tree.joints:
        placement, (linear, angular) = joint.placement(q), joint.subspace(q)
        if any(isinstance(x, ca.SX | ca.MX) for x in (*placement, linear, angular)):
            raise ModelError(
                f"{tree.name}: joint {joint.name!r}: placement and subspace of its type {joint.type.kind} give symbols "
                "for numbers; give DM for DM, and begin matrices with ca.DM in place of ca.SX"
            )
        a = np.eye(4) if joint.parent < 0 else placed[joint.parent] @ spatial.transform(*placement).full()
        own = [spatial.twist(linear[:, k], angular[:, k]).full() for k in range(joint.type.nv)]
        twists.append(np.array([a @ twist @ np.linalg.inv(a) for twist in own]))
        placed.append(a)
    bodies = [a @ joint.pseudo_inertia @ a.T for a, joint in zip(placed, tree.joints, strict=True)]
    return twists, tree.suffix_sums(bodies)


def _inner(x: Array, y: Array) -> Array:
    """Tr(X_a Y_bᵀ) of all pairs."""
    return np.asarray(np.einsum("aij,bij->ab", x, y))
