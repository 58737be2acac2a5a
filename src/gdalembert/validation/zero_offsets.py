"""Constant offsets of q that turn one mass matrix, and one torque, into another: joints that are zero elsewhere.

An entry M_ij, joint i below joint j or the same, depends on the joints between them and on those beyond j. From the
tips inwards, each joint is therefore the only unknown of some entries: its offset is looked for alone, on a grid, and
refined. What M leaves open, as the first joint's, gravity tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np
import pinocchio as pin

from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array
from gdalembert.validation.references import Reference
from gdalembert.validation.states import States, decompose, largest

_STATES = 6
_EQUAL = 1e-7
"""Relative difference at which an offset explains an entry."""
_TURNS = np.pi / 8 * np.array([0, 4, 8, -4, 2, -2, 6, -6, 1, -1, 3, -3, 5, -5, 7, -7])
_SLIDES = np.array([0.0, 0.25, -0.25, 1.0, -1.0])
_MOST = 8
"""Sets of offsets that are kept from joint to joint: M may be the same after half a turn."""
_MOST_OPEN = 3
_STEP = 1e-5
_NEWTON_STEPS = 12
_ROUND = np.pi / 12
"""Angles are rounded to multiples of this where they miss them by rounding."""

Residual = Callable[[Array], Array]
"""Relative differences, a vector, of offsets."""


def zero_offsets(reference: Reference, states: States, mass_matrix: Array, tau: Array) -> Array | None:
    """Offsets (nv) with which the reference has a mass matrix and a torque; ``None`` if there are none, or all are 0.

    They are velocities that lead from q to Pinocchio's q in unit time: also continuous joints, (cos, sin), have them.

    Args:
        reference: a reference with numbers, without mimic joints.
        states: n, in Pinocchio's coordinates but for the offsets.
        mass_matrix: M (n × nv × nv) at these states. ``tau``: likewise (n × nv), in Pinocchio's coordinates.
    """
    regular = largest(states.v) < 5  # where velocity terms do not hide the rest
    chosen = np.zeros(len(states), dtype=bool)
    chosen[np.flatnonzero(regular & (largest(states.q) > 0))[-_STATES:]] = True
    if np.sum(chosen) < 2 or not np.all(np.isfinite(mass_matrix)):
        return None
    few, target = states[chosen], mass_matrix[chosen]
    tree, scale = reference.tree, np.maximum(largest(target), 1e-300)[:, None, None]

    of_model = _mass_matrix(reference, few)

    def of_matrix(offsets: Array) -> Array:
        return np.asarray((of_model(moved_by(reference, few.q, offsets)) - target) / scale)

    def of_torque(offsets: Array) -> Array:
        size = np.maximum(1, largest(tau[chosen]))[:, None]
        moved = moved_by(reference, few.q, offsets)
        return np.asarray((reference.torque(moved, few.v, few.a) - tau[chosen]) / size).ravel()

    open_joints, sets = _by_mass_matrix(tree, of_matrix)
    for offsets in sorted(sets, key=lambda x: (np.count_nonzero(x), float(np.abs(x).sum()))):  # the least that is off
        if (completed_offsets := _completed(offsets, open_joints, of_torque)) is not None:
            return completed_offsets if np.any(completed_offsets) else None
    return None


def moved_by(reference: Reference, q: Array, offsets: Array) -> Array:
    """The configurations q (n × nq) with offsets (nv)."""
    return np.asarray(reference.reached(q, np.tile(offsets, (len(q), 1))))


def _mass_matrix(reference: Reference, states: States) -> Callable[[Array], Array]:
    """The mass matrix M (n × nv × nv) of q (n × nq), with the constant inertia of motors, which Pinocchio's lacks.

    ``pin.crba`` is quick, and wrong where joints were not added depth first: then the columns are torques.
    """
    model = reference.model
    assert model is not None
    data = model.createData()

    def of_links(q: Array) -> Array:
        upper = np.triu(np.array([pin.crba(model, data, x, pin.Convention.LOCAL) for x in q]))
        return np.asarray(upper + np.triu(upper, 1).transpose(0, 2, 1))

    def of_torques(q: Array) -> Array:
        rest = np.zeros((len(q), model.nv))
        return decompose(reference.torque, States(q, rest, rest)).mass_matrix

    motors = of_torques(states.q) - of_links(states.q)
    is_constant = np.abs(motors - motors[0]).max() <= _EQUAL * np.abs(motors + of_links(states.q)).max()
    return (lambda q: of_links(q) + motors[0]) if is_constant else of_torques


def _by_mass_matrix(tree: Tree, residual: Callable[[Array], Array]) -> tuple[list[Joint], list[Array]]:
    """The joints whose offset no entry of M tells alone, and the sets of offsets of the others that explain M."""
    joints, open_joints, sets = _with_zeros(tree), [], [np.zeros(tree.nv)]
    unknown = {id(joint) for joint in joints}
    depends_on = _dependencies(tree)
    for joint in reversed(joints):
        unknown.discard(id(joint))
        entries = [entry for entry, of in depends_on.items() if id(joint) in of and unknown.isdisjoint(of)]
        if not entries:
            open_joints.append(joint)
            continue
        kept: list[Array] = []
        is_open = False
        for offsets in sets:
            of_one = partial(_at_entries, residual, np.array(entries).T, joint, offsets)
            grid = [(float(x), of_one(np.array([x]))) for x in _grid(joint)]
            if np.ptp([r for _, r in grid], axis=0).max() > _EQUAL:
                kept += [_with(offsets, [joint], np.array([x])) for x in _solutions(joint, of_one, grid)]
            elif np.abs(grid[0][1]).max() <= _EQUAL:
                is_open = True
                kept.append(offsets)
        if is_open:
            open_joints.append(joint)
        sets = kept[:_MOST]
    return open_joints[:_MOST_OPEN], sets


def _at_entries(residual: Callable[[Array], Array], entries: Array, joint: Joint, offsets: Array, x: Array) -> Array:
    """The residual of some entries (2 × k) of M, of one joint's offset x."""
    return np.asarray(residual(_with(offsets, [joint], x))[:, entries[0], entries[1]]).ravel()


def _with(offsets: Array, joints: Sequence[Joint], x: Array) -> Array:
    moved = offsets.copy()
    moved[[joint.idx_v for joint in joints]] = x
    return moved


def _with_zeros(tree: Tree) -> list[Joint]:
    return [x for x in tree.independent_joints if x.type.axis is not None and x.type.nv == 1]


def _grid(joint: Joint) -> Array:
    return _TURNS if joint.type.can_rotate else _SLIDES


def _dependencies(tree: Tree) -> dict[tuple[int, int], set[int]]:
    """The joints that each entry of M (of the upper triangle of the chains) depends on."""
    chains: dict[int, list[Joint]] = {}
    for k, joint in enumerate(tree.joints):
        chains[k] = [*(chains[joint.parent] if joint.parent >= 0 else ()), joint]
    dependencies: dict[tuple[int, int], set[int]] = {}
    for outer, chain in chains.items():
        beyond = {id(x) for other in chains.values() if tree.joints[outer] in other for x in other[len(chain) :]}
        for place, inner in enumerate(chain):
            of = beyond | {id(x) for x in chain[place + 1 :]}
            dependencies |= {(i, j): of for i in inner.columns for j in tree.joints[outer].columns}
    return dependencies


def _solutions(joint: Joint, residual: Residual, grid: Sequence[tuple[float, Array]]) -> Iterator[float]:
    """Different offsets of one joint, refined from the best ones of the grid."""
    known: list[float] = []
    for x, _ in sorted(grid, key=lambda point: float(np.abs(point[1]).max()))[:6]:
        solved = float(_refined(np.array([x]), residual)[0])
        solved = _rounded(joint, solved)
        turn = 2 * np.pi if joint.type.can_rotate else np.inf
        apart = [abs(other - solved) for other in known]
        if np.abs(residual(np.array([solved]))).max() <= _EQUAL and all(_EQUAL < d < turn - _EQUAL for d in apart):
            known.append(solved)
            yield solved


def _rounded(joint: Joint, x: float) -> float:
    if not joint.type.can_rotate:
        return round(x, 9) + 0.0
    x = float(np.arctan2(np.sin(x), np.cos(x))) if joint.type.is_revolute else x
    multiple = round(x / _ROUND)
    if abs(x - multiple * _ROUND) > _EQUAL:
        return x
    return np.pi if multiple == -12 else multiple * _ROUND


def _refined(x: Array, residual: Residual) -> Array:
    """Refine offsets by Gauss and Newton's steps, with derivatives by differences."""
    for _ in range(_NEWTON_STEPS):
        steps = _STEP * np.eye(len(x))
        # By differences: the reference may be Pinocchio, which has no graph.
        slope = np.stack([(residual(x + d) - residual(x - d)) / (2 * _STEP) for d in steps], axis=1)
        step, *_ = np.linalg.lstsq(slope, -residual(x), rcond=1e-9)
        x = x + step
        if np.abs(step).max() < 1e-12:
            break
    return x


def _completed(offsets: Array, open_joints: Sequence[Joint], residual: Residual) -> Array | None:
    """Offsets with those of the joints that M leaves open, from gravity; ``None`` if nothing explains the torque."""

    def of_open(x: Array) -> Array:
        return residual(_with(offsets, open_joints, x))

    points = 16 if len(open_joints) == 1 else 4
    for start in product(*(_grid(joint)[:points] for joint in open_joints)):
        x = np.array(start)
        if open_joints and np.abs(of_open(x)).max() > _EQUAL:
            x = _refined(x, of_open)
            x = np.array([_rounded(joint, float(value)) for joint, value in zip(open_joints, x, strict=True)])
        if np.abs(of_open(x)).max() <= _EQUAL:
            return _with(offsets, open_joints, x)
    return None
