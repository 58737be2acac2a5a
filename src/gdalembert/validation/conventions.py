"""Conventions: tau of a right formulation that reads q, v, a or tau, or the model's numbers, in another one.

A convention is a map of the state, and one of the torque back: of a state it makes that of Pinocchio, and of
Pinocchio's torque there what the formulation calls tau. A system under test that equals it at all states is right but
for the reading.

* Joints: another order in q, v, a and tau (:func:`orders`), reversed directions, angles
  against the universe in place of the parent, other zeros (:mod:`gdalembert.validation.zero_offsets`), degrees.
* Free-flyers, planar and spherical joints: axes of the universe for the linear part (MuJoCo, "hybrid"), or for both
  (adam, iDynTree, "mixed"); the velocity at the origin of the universe ("spatial", ``pin.WORLD``); the angular part
  first (Featherstone, RBDL); the order of the quaternion; ω × v left out of a.
* Bodies: inertia about the origin of the joint, the sign of the products of inertia; transposed joint placements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.model.tree import Joint, Tree
from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief
from gdalembert.spatial.functions import BatchFunction
from gdalembert.validation.references import Reference, ReferenceSample
from gdalembert.validation.report import listed
from gdalembert.validation.states import States, Torque, TorqueTerms, decompose, largest, rnea
from gdalembert.validation.zero_offsets import moved_by, zero_offsets

_UNIT_COEFFICIENT = 1e-6
"""Largest distance of a fitted coefficient of a changed body from 0 or 1."""
_EQUAL = 1e-8
"""Relative difference up to which two torques may be of the same joint."""
_MOST = 24
"""Orders that are tried where joints are alike."""
_MOST_STEPS = 20_000
_STATES = 2


@dataclass(frozen=True)
class Convention(Brief):
    """A way to read a state and to write tau.

    Attributes:
        text: the convention, in words.
        read: Pinocchio's states of those that the formulation is given.
        write: what the formulation calls tau (n × nv), of Pinocchio's states and tau.
    """

    text: str
    read: Callable[[States], States]
    write: Callable[[States, Array], Array] = lambda _, tau: tau

    def torque(self, reference: Reference) -> Torque:
        """The torque of a right formulation in this convention."""

        def torque(q: Array, v: Array, a: Array) -> Array:
            read = self.read(States(q, v, a))
            return self.write(read, reference.torque(read.q, read.v, read.a))

        return torque


def expected_torques(torque: Torque, tested: TorqueTerms, sample: ReferenceSample) -> Iterator[tuple[str, Array]]:
    """Each convention in words, and the torque (n × nv) of a right formulation in it; those that cost little first.

    Args:
        torque: that of the system under test. ``tested``: it and its terms at the states of the sample.
        sample: the sample of the reference.
    """
    reference, states = sample.reference, sample.states
    moving = [convention for joint in reference.tree.independent_joints for convention in _of_moving_axes(joint)]
    absolute = list(_absolute_angles(reference.tree))
    for convention in (*_simple(sample), *moving, *absolute):
        yield convention.text, convention.torque(reference)(states.q, states.v, states.a)
    yield from _placements(sample)
    yield from _bodies(tested, sample)
    if reference.model is None or reference.tree.has_mimic:
        return
    yield from _joint_orders(torque, sample, moving)
    yield from _zeros(tested, sample, absolute)


def _same(states: States) -> States:
    return states


def _simple(sample: ReferenceSample) -> Iterator[Convention]:
    """Conventions with q, v and a exchanged, with other signs or in other units, joint by joint."""
    tree = sample.reference.tree
    yield Convention("v and a are exchanged", lambda s: States(s.q, s.a, s.v))
    for joint in tree.independent_joints:
        if joint.type.is_free:
            yield from _acceleration_of_free_flyer(joint)
    for joint in tree.independent_joints:
        yield from _configuration(joint)
    angles = [x.idx_q for x in tree.independent_joints if x.type.is_revolute and x.type.velocity_is_rate]
    yield Convention("angles are read in degrees", lambda s: replace(s, q=_changed(s.q, angles, np.deg2rad)))
    one_axis = [x for x in tree.independent_joints if x.type.axis is not None and x.type.velocity_is_rate]
    for reversed_joints in (*([x] for x in one_axis), one_axis):
        name = "every joint" if reversed_joints is one_axis else f"joint {reversed_joints[0].name!r}"
        yield _reversed(name, [x.idx_q for x in reversed_joints], [x.idx_v for x in reversed_joints])


def _changed(values: Array, columns: slice | Sequence[int], change: Callable[[Array], Array]) -> Array:
    """Values of which some columns are changed."""
    other = values.copy()
    other[:, columns] = change(values[:, columns])
    return other


def _reversed(name: str, q: Sequence[int], v: Sequence[int]) -> Convention:
    def read(s: States) -> States:
        return States(_changed(s.q, q, np.negative), _changed(s.v, v, np.negative), _changed(s.a, v, np.negative))

    text = f"the positive direction of {name} is reversed in q, v, a and tau"
    return Convention(text, read, lambda _, tau: _changed(tau, v, np.negative))


def _acceleration_of_free_flyer(joint: Joint) -> Iterator[Convention]:
    linear, angular = (range(joint.idx_v + k, joint.idx_v + k + 3) for k in (0, 3))
    for sign, fault in ((-1, "is left out"), (1, "is counted twice")):

        def read(s: States, sign: int = sign) -> States:
            crossed = sign * np.cross(s.v[:, angular], s.v[:, linear])
            return replace(s, a=_changed(s.a, linear, lambda a: a + crossed))

        text = f"ω × v of the free-flyer {joint.name!r} {fault}: its classical acceleration is a + ω × v"
        yield Convention(text, read)


def _configuration(joint: Joint) -> Iterator[Convention]:
    """Conventions that read q alone otherwise."""

    def of(text: str, columns: slice, change: Callable[[Array], Array]) -> Convention:
        return Convention(text, lambda s: replace(s, q=_changed(s.q, columns, change)))

    start, stop = joint.type.unit_length or (0, 0)
    if stop - start == 4:
        columns = slice(joint.idx_q + start, joint.idx_q + stop)
        is_read = f"the quaternion (x, y, z, w) of joint {joint.name!r} is read as"
        yield of(f"{is_read} (w, x, y, z)", columns, lambda x: x[:, [1, 2, 3, 0]])
        yield of(f"{is_read} (y, z, w, x)", columns, lambda x: x[:, [3, 0, 1, 2]])
        yield of(f"{is_read} its inverse", columns, lambda x: x * [-1, -1, -1, 1])
    elif joint.type.axis is not None and joint.type.velocity_is_rate:
        columns = slice(joint.idx_q, joint.idx_q + 1)
        yield of(f"q of joint {joint.name!r} has the opposite sign", columns, np.negative)
        if joint.type.can_rotate:
            yield of(f"q of joint {joint.name!r} is read in degrees", columns, np.deg2rad)


# Joints that move in axes of their own: free-flyers, planar and spherical joints.

_IN_WORDS = {
    "body": "in the axes of the body",
    "hybrid": "linear in the axes of the universe and angular in those of the body, as in MuJoCo",
    "mixed": "in the axes of the universe, as in adam and iDynTree (mixed)",
    "spatial": "at the origin of the universe and in its axes (pin.WORLD, inertial-fixed)",
    "universe": "in the axes of the universe",
}


def _of_moving_axes(joint: Joint) -> Iterator[Convention]:
    """Conventions with other axes of v, a and tau, and another order of their parts and of the quaternion."""
    if not joint.type.has_quasi_velocities or joint.type.unit_length is None or joint.type.nv not in (3, 6):
        return
    frames = ("body", "hybrid", "mixed", "spatial") if joint.type.is_free else ("body", "universe")
    start, stop = joint.type.unit_length
    quaternion = slice(joint.idx_q + start, joint.idx_q + stop)
    for reordered, frame, angular_first in product((False, True), frames, (False, True)):
        if (angular_first and not joint.type.is_free) or (reordered and stop - start != 4):
            continue
        if (frame, angular_first) == ("body", False):
            continue  # among the simple ones
        axes = _IN_WORDS[frame] if joint.parent < 0 else _IN_WORDS[frame].replace("universe", "joint frame")
        parts = [f"v, a and tau of joint {joint.name!r} are {axes}"]
        parts += ["with the angular part first, as in RBDL"] if angular_first else []
        parts += ["and its quaternion is (w, x, y, z)"] if reordered else []
        convention = _MovingAxes(joint, frame, angular_first).convention(", ".join(parts))
        if reordered:
            convention = _after(quaternion, convention)
        yield convention


def _after(quaternion: slice, convention: Convention) -> Convention:
    """The convention with a quaternion that is read as (w, x, y, z)."""

    def read(s: States) -> States:
        return convention.read(replace(s, q=_changed(s.q, quaternion, lambda x: x[:, [1, 2, 3, 0]])))

    return replace(convention, read=read)


class _MovingAxes:
    """A convention in which v is X v of Pinocchio, and tau is X⁻ᵀ tau, with X of the placement of the joint."""

    def __init__(self, joint: Joint, frame: str, angular_first: bool) -> None:
        self.frame, self.joint = frame, joint
        nv = joint.type.nv
        self.columns = slice(joint.idx_v, joint.idx_v + nv)
        self.order = [3, 4, 5, 0, 1, 2] if angular_first else list(range(nv))
        q = ca.SX.sym("q", joint.type.nq)
        r, p = joint.type.placement(q)
        if joint.parent < 0:  # else the axes are those of the joint frame, which is fixed in the parent
            r, p = ca.DM(joint.rotation) @ r, ca.DM(joint.translation) + ca.DM(joint.rotation) @ p
        self.placement = BatchFunction(ca.Function("placement", [q], [ca.densify(ca.horzcat(r, p))]), 3, 4)

    def convention(self, text: str) -> Convention:
        """The convention, in words that are given."""
        return Convention(text, self.read, self.write)

    def matrix(self, q: Array) -> Array:
        """The matrix X (n × nv × nv), of Pinocchio's q (n × nq)."""
        nq, nv = self.joint.type.nq, self.joint.type.nv
        pose = self.placement(q[:, self.joint.idx_q : self.joint.idx_q + nq])
        r, p = pose[:, :, :3], pose[:, :, 3]
        x = np.tile(np.eye(nv), (len(q), 1, 1))
        if self.frame in ("hybrid", "mixed", "spatial"):
            x[:, :3, :3] = r
        if self.frame in ("mixed", "spatial"):
            x[:, 3:, 3:] = r
        if self.frame == "spatial":
            x[:, :3, 3:] = np.cross(p[:, :, None], r, axis=1)
        if self.frame == "universe":
            part = 3 if not self.joint.type.can_translate else 2  # a planar joint turns about z alone
            x[:, :part, :part] = r[:, :part, :part]
        return x[:, self.order]

    def read(self, s: States) -> States:
        """The states as Pinocchio has them: a is the rate of v, and has −ω × v in turning axes."""
        inverse = np.linalg.inv(self.matrix(s.q))
        v, a = (np.einsum("nij,nj->ni", inverse, motion[:, self.columns]) for motion in (s.v, s.a))
        if self.frame in ("hybrid", "mixed"):
            a[:, :3] -= np.cross(v[:, 3:], v[:, :3])
        if self.frame == "universe" and self.joint.type.can_translate:
            a[:, :2] -= v[:, 2:] * np.stack([-v[:, 1], v[:, 0]], axis=1)
        return States(s.q, _changed(s.v, self.columns, lambda _: v), _changed(s.a, self.columns, lambda _: a))

    def write(self, read: States, tau: Array) -> Array:
        """The torque that has the same power for every v."""
        inverse = np.linalg.inv(self.matrix(read.q))
        return _changed(tau, self.columns, lambda of_joint: np.einsum("nji,nj->ni", inverse, of_joint))


# Angles, zeros and orders of joints.


@dataclass(frozen=True)
class LinearConvention(Convention):
    """Coordinates that are combined: v is rates @ v of Pinocchio, whose tau is torques @ tau."""

    rates: Array = field(kw_only=True)
    torques: Array = field(kw_only=True)


def _absolute_angles(tree: Tree) -> Iterator[LinearConvention]:
    """Angles against the universe, in chains of parallel axes: θ = L q."""
    rates = np.eye(tree.nv)
    relative = []
    for joint in tree.independent_joints:
        if (parallel := _parallel_ancestor(tree, joint)) is not None:
            ancestor, sign = parallel
            rates[joint.idx_v] += sign * rates[ancestor.idx_v]
            relative.append(repr(joint.name))
    if not relative or tree.has_mimic:
        return
    angles = [joint for joint in tree.independent_joints if _turns(joint)]
    q, v = [joint.idx_q for joint in angles], [joint.idx_v for joint in angles]
    inverse = np.linalg.inv(rates)

    def read(s: States) -> States:
        of_q = _changed(s.q, q, lambda columns: columns @ inverse[np.ix_(v, v)].T)
        return States(of_q, s.v @ inverse.T, s.a @ inverse.T)

    text = f"the angles of joint {listed(relative)} are absolute, not relative to the parent"
    of_angles = f"{text}, and tau belongs to them"
    yield LinearConvention(of_angles, read, lambda _, tau: tau @ inverse, rates=rates, torques=rates.T)
    yield LinearConvention(f"{text}, though tau acts at the joints", read, rates=rates, torques=np.eye(tree.nv))


def _turns(joint: Joint) -> bool:
    return joint.scaling is None and joint.type.is_revolute and joint.type.nq == joint.type.nv == 1


def _parallel_ancestor(tree: Tree, joint: Joint) -> tuple[Joint, float] | None:
    """The nearest joint below that turns, if its axis is parallel to the joint's in any configuration; its sign."""
    if not _turns(joint):
        return None
    axis, parent = joint.rotation @ np.array(joint.type.axis), joint.parent
    while parent >= 0 and not tree.joints[parent].type.can_rotate:
        axis, parent = tree.joints[parent].rotation @ axis, tree.joints[parent].parent
    if parent < 0 or not _turns(tree.joints[parent]):
        return None
    cosine = float(axis @ np.array(tree.joints[parent].type.axis))
    return (tree.joints[parent], float(np.sign(cosine))) if abs(abs(cosine) - 1) < _UNIT_COEFFICIENT else None


def _joint_orders(torque: Torque, sample: ReferenceSample, others: Sequence[Convention]) -> Iterator[tuple[str, Array]]:
    """Joints in another order in q, v, a and tau, by themselves and beside other conventions of a free-flyer."""
    reference, tree, states = sample.reference, sample.reference.tree, sample.states
    joints = tree.independent_joints
    if not any(len(group) > 1 for group in alike(joints)):
        return
    chosen = equal_joints(reference)
    tested = decompose(torque, chosen)
    quaternions = [x for joint in joints if joint.type.is_free for x in _configuration(joint)]
    for other in (Convention("", _same), *quaternions, *others):
        unordered = other.torque(reference)
        for order in orders(tested, decompose(unordered, chosen), joints):
            q, v = np.arange(tree.nq), np.arange(tree.nv)
            for joint, stands in zip(joints, (joints[k] for k in order), strict=True):
                for index, start, in_place, size in (
                    (q, stands.idx_q, joint.idx_q, joint.type.nq),
                    (v, stands.idx_v, joint.idx_v, joint.type.nv),
                ):
                    index[start : start + size] = range(in_place, in_place + size)
            moved = [
                f"{joints[k].name!r} in the place of {joint.name!r}"
                for joint, k in zip(joints, order, strict=True)
                if joints[k] is not joint
            ]
            text = f"q, v, a and tau have the joints in another order: {listed(moved)}"
            tau = unordered(states.q[:, q], states.v[:, v], states.a[:, v])
            yield "; ".join(filter(None, (text, other.text))), tau[:, np.argsort(v)]


def _zeros(
    tested: TorqueTerms, sample: ReferenceSample, absolute: Sequence[LinearConvention]
) -> Iterator[tuple[str, Array]]:
    """Joints that are zero elsewhere, with relative or absolute angles."""
    reference, states = sample.reference, sample.states
    unit = np.eye(reference.tree.nv)
    for other in (LinearConvention("", _same, rates=unit, torques=unit), *absolute):
        read, mass_matrix = other.read(states), np.asarray(other.torques @ tested.mass_matrix @ other.rates)
        offsets = zero_offsets(reference, read, mass_matrix, tested.tau @ other.torques.T)
        if offsets is None:
            continue
        moved = replace(read, q=moved_by(reference, read.q, offsets))
        zeros = [
            f"{joint.name!r} ({float(offsets[joint.idx_v]):+.6g} {'rad' if joint.type.can_rotate else 'm'})"
            for joint in reference.tree.independent_joints
            if joint.type.nv == 1 and offsets[joint.idx_v]
        ]
        text = f"q is zero in another configuration: to become Pinocchio's it needs an offset at joint {listed(zeros)}"
        expected = other.write(moved, reference.torque(moved.q, moved.v, moved.a))
        yield "; ".join(filter(None, (text, other.text))), expected


# Numbers of the model.


def _placements(sample: ReferenceSample) -> Iterator[tuple[str, Array]]:
    """Rotations of joint frames that are transposed."""
    if sample.reference.model is None:
        return
    q, v, a = sample.states.q, sample.states.v, sample.states.a
    forces = sample.terms.tau - rnea(sample.reference.model)(q, v, a)
    for k in range(1, sample.reference.model.njoints):
        other = sample.reference.model.copy()
        other.jointPlacements[k].rotation = other.jointPlacements[k].rotation.T.copy()
        text = f"the rotation of the joint frame of {other.names[k]!r} in its parent is transposed"
        yield text, rnea(other)(q, v, a) + forces


def _steiner(body: pin.Inertia) -> Array:
    c = pin.skew(body.lever)
    return np.asarray(body.mass * c.T @ c)


_OF_BODIES: dict[str, Callable[[pin.Inertia], Array]] = {
    "the inertia of {} is taken about the origin of the joint, not about the centre of mass: m c² is subtracted": (
        lambda body: -_steiner(body)
    ),
    "the inertia of {} about the origin of the joint is taken for that about the centre of mass: m c² counts twice": (
        _steiner
    ),
    "the products of inertia of {} have the opposite sign": (
        lambda body: 2 * (np.diag(np.diag(body.inertia)) - body.inertia)
    ),
}
"""Inertia (3 × 3) that a formulation adds to the one about the centre of mass."""


def _bodies(tested: TorqueTerms, sample: ReferenceSample) -> Iterator[tuple[str, Array]]:
    """Inertia tensors of all bodies, of one, or of some, in another convention."""
    if sample.reference.model is None:
        return
    tau, names = sample.terms.tau, list(sample.reference.model.names)[1:]
    for text, added in _OF_BODIES.items():
        changes = np.array([_of_inertia(sample, k, added) for k in range(1, sample.reference.model.njoints)])
        yield text.format("every body"), tau + np.sum(changes, axis=0)
        for name, change in zip(names, changes, strict=True):
            yield text.format(f"the body at joint {name!r}"), tau + change
        columns = np.moveaxis(changes, 0, -1).reshape(-1, len(changes))
        # All subsets of n bodies are 2 to the n; a share of each, which is 0 or 1 where this explains it, is one
        # solution.
        shares, *_ = np.linalg.lstsq(columns, (tested.tau - tau).ravel(), rcond=1e-12)
        some = np.abs(shares - 1) < _UNIT_COEFFICIENT
        which = listed(repr(name) for name, is_changed in zip(names, some, strict=True) if is_changed)
        yield text.format(f"the bodies at joint {which}"), tau + np.tensordot(some, changes, axes=1)


def _of_inertia(sample: ReferenceSample, k: int, added: Callable[[pin.Inertia], Array]) -> Array:
    """The torque (n × nv) due to what is added to the inertia of one body; Pinocchio takes positive ones alone."""
    model, s = sample.reference.model, sample.states
    assert model is not None
    body, change = model.inertias[k], added(model.inertias[k])
    torques = []
    # The difference of two robots, each with a positive inertia: Pinocchio refuses the change alone.
    for inertia in (change, 0 * change):
        other, positive = model.copy(), body.inertia + 2 * np.linalg.norm(change) * np.eye(3)
        other.inertias[k] = pin.Inertia(body.mass, body.lever, positive + inertia)
        torques.append(rnea(other)(s.q, s.v, s.a))
    return np.asarray(torques[0] - torques[1])


# Orders in which a formulation may have the joints, from its torques at states in which all joints do the same.
#
# Where q, v and a of all joints are equal, the state is the same in every order, and torques and the mass matrix are
# only permuted. What belongs to one joint (its torque, its inertia, a row of M) tells which joint it is; where several
# are alike, as in robots with equal limbs, pairs of joints decide.


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

    # All n! orders would be 5040 for seven joints; the invariants of joints leave a few.
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
