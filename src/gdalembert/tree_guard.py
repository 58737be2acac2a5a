"""What no formulation can give a right answer for: numbers without a meaning, and mass matrices that are singular."""

from __future__ import annotations

import math
from dataclasses import fields

import casadi as ca
import numpy as np

from gdalembert import spatial
from gdalembert.errors import ModelError
from gdalembert.tree import Array, Tree

PHYSICAL_TOLERANCE = 1e-9
"""How far below zero a principal moment may lie, relative to the largest one, and still count as rounding noise."""

NOISE_PER_MASS = 1e-15
"""The same per mass [m²], for bodies so slender that rounding of the parallel-axis terms is all there is."""


def check_numbers(tree: Tree) -> None:
    """Refuse numbers without a meaning.

    Raises:
        ModelError: with the joint, the number, and what to do.
    """
    if not tree.joints:
        raise ModelError(f"{tree.name}: has no joint that moves; there are no equations of motion")
    for joint in tree.joints:
        where = f"{tree.name}: joint {joint.name!r}"
        for what in ("rotation", "translation", "mass", "com", "inertia"):
            values = np.atleast_1d(getattr(joint, what))
            if not np.all(np.isfinite(values)):
                raise ModelError(f"{where}: its {what} is not finite: {values.tolist()}; give finite numbers")
        if not np.allclose(joint.rotation @ joint.rotation.T, np.eye(3), rtol=0, atol=1e-6):
            raise ModelError(f"{where}: the rotation of its placement is not orthogonal; normalise it")
        axis = getattr(joint.type, "axis", (1.0, 0.0, 0.0))
        if not abs(math.hypot(*axis) - 1) < 1e-6:
            raise ModelError(f"{where}: its axis {axis} has length {math.hypot(*axis):.9g}; give a unit vector")
        if not all(math.isfinite(x) for f in fields(joint.type) for x in np.ravel(getattr(joint.type, f.name))):
            raise ModelError(f"{where}: its {type(joint.type).__name__} parameters are not finite; give finite numbers")
        if joint.mass < 0:
            raise ModelError(f"{where}: its link has the negative mass {joint.mass:.9g} kg; give a mass of at least 0")
        moments = np.linalg.eigvalsh(joint.inertia)
        if moments[0] < -max(PHYSICAL_TOLERANCE * moments[-1], NOISE_PER_MASS * joint.mass):
            raise ModelError(
                f"{where}: its link has the negative principal moment {moments[0]:.9g} kg m² about the centre of mass; "
                "check the signs of the inertia's off-diagonal entries"
            )
    for what in ("armature", "gravity"):
        if not np.all(np.isfinite(getattr(tree, what))):
            raise ModelError(f"{tree.name}: its {what} is not finite: {getattr(tree, what).tolist()}")
    for name, armature in zip(tree.velocity_names, tree.armature, strict=True):
        if armature < 0:
            raise ModelError(f"{tree.name}: joint {name!r}: has the negative armature {armature:.9g}; give at least 0")


def idle(tree: Tree) -> tuple[str, ...]:
    """Names of the joints that move no inertia and have no armature, so that M is singular in every configuration."""
    m = generic_mass_matrix(tree)
    scale = max(np.abs(m).max(), 1e-300)
    own = {joint.name: m[np.ix_(joint.columns, joint.columns)] for joint in tree.joints if joint.scaling is None}
    return tuple(name for name, block in own.items() if np.linalg.eigvalsh(block)[0] <= 1e-15 * scale)


def is_singular(tree: Tree) -> bool:
    """Whether M is singular in every configuration, as for a free-flyer on a link without mass."""
    m = generic_mass_matrix(tree)
    unit = 1 / np.sqrt(np.diag(m))
    return bool(np.linalg.eigvalsh(unit[:, None] * m * unit)[0] < 1e-13)


def generic_mass_matrix(tree: Tree) -> Array:
    """M (nv × nv), armature included, at one configuration with nothing special about it: the same for equal trees.

    Ours: M is an analytic function of q, so what is singular at a generic point is singular everywhere.
    """
    rng = np.random.default_rng(20260101)
    q = ca.DM(tree.nq, 1)
    for joint in tree.joints:
        if joint.scaling is None:
            reached = joint.type.integrate(joint.type.neutral(), ca.DM(rng.normal(size=joint.type.nv)))
            q[joint.idx_q : joint.idx_q + joint.type.nq] = reached

    # M_ij = Tr(Q̂_i P_j Q̂_jᵀ), everything in the universe's axes
    placed = [spatial.transform(r, p).full() for r, p in tree.placements(q)]
    bodies = tree.suffix_sums(
        [a @ joint.pseudo_inertia.full() @ a.T for a, joint in zip(placed, tree.joints, strict=True)]
    )
    twists = []
    for a, joint in zip(placed, tree.joints, strict=True):
        linear, angular = joint.subspace(q)
        own = [spatial.twist(linear[:, k], angular[:, k]).full() for k in range(joint.type.nv)]
        twists.append(np.array([a @ twist @ np.linalg.inv(a) for twist in own]))
    m = np.diag(tree.armature)
    for i, j in tree.pairs():
        block = np.einsum("aij,bij->ab", twists[i], twists[j] @ bodies[j])
        rows, columns = tree.joints[i].columns, tree.joints[j].columns
        m[np.ix_(rows, columns)] += block
        if i != j:
            m[np.ix_(columns, rows)] += block.T
    return m
