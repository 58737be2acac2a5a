"""Orders in which a formulation may have the joints, from its torques at states in which all joints do the same.

Where q, v and a of all joints are equal, the state is the same in every order, and torques and the mass matrix are only
permuted. What belongs to one joint (its torque, its inertia, a row of M) tells which joint it is; where several are
alike, as in robots with equal limbs, pairs of joints decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gdalembert.model.tree import Joint
from gdalembert.spatial.arrays import Array
from gdalembert.validation.references import Reference
from gdalembert.validation.states import States, TorqueTerms, largest

_EQUAL = 1e-8
"""Relative difference up to which two torques may be of the same joint."""
_MOST = 24
"""Orders that are tried where joints are alike."""
_MOST_STEPS = 20_000
_STATES = 2


def alike(joints: Sequence[Joint]) -> list[list[int]]:
    """The joints, by their places, that may stand in each other's places: whose q and v have the same lengths."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for k, joint in enumerate(joints):
        groups.setdefault((joint.type.nq, joint.type.nv, joint.type.unit_length), []).append(k)
    return list(groups.values())


def equal_joints(reference: Reference) -> States:
    """States in which joints that are alike have the same q, v and a."""
    tree, rng = reference.tree, np.random.default_rng(0)
    groups = alike(tree.independent_joints)
    x, v, a = np.zeros((3, _STATES, tree.nv))
    for group in groups:
        for values in (x, v, a):
            common = rng.normal(size=(_STATES, tree.independent_joints[group[0]].type.nv))
            for k in group:
                columns = tree.independent_joints[k].columns
                values[:, columns.start : columns.stop] = common
    neutral = np.broadcast_to(reference.neutral, (_STATES, tree.nq))
    return States(reference.reached(neutral, x), v, a)


def orders(tested: TorqueTerms, expected: TorqueTerms, joints: Sequence[Joint]) -> Iterator[list[int]]:
    """Orders of the joints that turn the expected terms into those of a formulation: [joint at each place].

    Args:
        tested: terms of the formulation in the states of :func:`equal_joints`. ``expected``: those in Pinocchio's
            order.
        joints: those with coordinates of their own.
    """
    if not all(np.all(np.isfinite(terms)) for terms in (tested.tau, tested.mass_matrix, expected.tau)):
        return
    sides = [_of_joints(terms, joints) for terms in (tested, expected)]
    matrices = [terms.mass_matrix / _scale(expected)[:, None, None] for terms in (tested, expected)]
    candidates: list[list[int]] = [[] for _ in joints]
    for group in alike(joints):
        for i in group:
            candidates[i] = [k for k in group if np.abs(sides[0][i] - sides[1][k]).max() <= _EQUAL]
    if not all(candidates):
        return
    blocks = [list(joint.columns) for joint in joints]

    def fits(i: int, k: int, order: dict[int, int]) -> bool:
        return all(
            np.abs(matrices[0][:, blocks[i]][:, :, blocks[j]] - matrices[1][:, blocks[k]][:, :, blocks[of_j]]).max()
            <= _EQUAL
            for j, of_j in order.items()
        )

    places = sorted(range(len(joints)), key=lambda i: len(candidates[i]))
    steps = 0

    def completed(order: dict[int, int]) -> Iterator[list[int]]:
        nonlocal steps
        steps += 1
        if len(order) == len(places):
            yield [order[i] for i in range(len(places))]
            return
        i = places[len(order)]
        for k in candidates[i]:
            if steps < _MOST_STEPS and k not in order.values() and fits(i, k, order):
                yield from completed({**order, i: k})

    all_orders = (order for order in completed({}) if order != list(range(len(order))))
    yield from (order for order, _ in zip(all_orders, range(_MOST), strict=False))


def _scale(terms: TorqueTerms) -> Array:
    return np.maximum(1e-300, np.maximum(largest(terms.tau), largest(terms.mass_matrix)))


def _of_joints(terms: TorqueTerms, joints: Sequence[Joint]) -> list[Array]:
    """Numbers that belong to each joint, whatever its place: torques, its block of M, the sum of its rows of M."""
    scale = _scale(terms)[:, None]
    of_all = np.stack([terms.tau, terms.velocity, terms.gravity, terms.mass_matrix.sum(axis=2)], axis=2)
    invariants = []
    for joint in joints:
        columns = list(joint.columns)
        block = terms.mass_matrix[:, columns][:, :, columns]
        parts = of_all[:, columns].reshape(_STATES, -1), block.reshape(_STATES, -1)
        invariants.append(np.hstack(parts) / scale)
    return invariants
