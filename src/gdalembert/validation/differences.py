"""What two sets of numbers at n states have in common: a factor, an order of entries, a cause, a misread convention.

Each convention error gives the torque that the reference has if q, v or a is read so; a system under test that equals
it everywhere is right but for the reading.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio as pin

from gdalembert.spatial.arrays import Array
from gdalembert.validation.references import ReferenceSample
from gdalembert.validation.states import Mask, States, differences_along, rnea

EXPLAINED = 1e-6
"""How well an explanation must account for a difference, relative to the quantity itself."""
_LINEAR_THEN_ANGULAR = (True,) * 3 + (False,) * 3


def differs(value: Array, reference: Array, tolerance: float) -> Mask:
    """Which entries differ at any state by more than the tolerance, relative to max(1, max|reference|) there."""
    with np.errstate(invalid="ignore", over="ignore"):
        scale = np.maximum(1, np.abs(reference).reshape(len(reference), -1).max(axis=1))
        errors = np.abs(value - reference) / scale.reshape(-1, *[1] * (reference.ndim - 1))
    wrong: Mask = ~(errors <= tolerance).all(axis=0)
    return wrong


def accounts_for(explanation: Array, value: Array, reference: Array) -> bool:
    """Whether an explanation equals the value at every state, on the scale of value and reference there.

    The scale of a state is at least that of the median state: a torque may pass through zero.
    """
    if not np.all(np.isfinite(explanation)):
        return False
    sizes = np.maximum(_largest(reference), _largest(value))
    return bool(np.all(_largest(value - explanation) <= EXPLAINED * np.maximum(sizes, np.median(sizes))))


def _largest(values: Array) -> Array:
    """The largest magnitude at each state (n)."""
    return np.asarray(np.abs(values).reshape(len(values), -1).max(axis=1))


def factor(value: Array, reference: Array) -> float | None:
    """s with value = s reference at all states; ``None`` if there is none."""
    if not np.any(reference) or not np.all(np.isfinite(value)):
        return None
    square = float(np.sum(reference * reference))
    s = float(np.sum(value * reference)) / square
    return s if accounts_for(s * reference, value, reference) else None


def factors(value: Array, reference: Array, wrong: Mask) -> list[float | None]:
    """The factor of each wrong entry by itself."""
    return [factor(value[:, j], reference[:, j]) for j in np.flatnonzero(wrong)]


def permutation(value: Array, reference: Array) -> list[int] | None:
    """Permutation: for each entry of the value the entry of the reference that it equals; ``None`` if there is none."""
    n = reference.shape[1]
    order = [
        next((k for k in range(n) if accounts_for(reference[:, k], value[:, i], reference)), None) for i in range(n)
    ]
    known = [k for k in order if k is not None]
    return known if len(set(known)) == n and known != list(range(n)) else None


def damping(difference: Array, v: Array) -> Array:
    """The coefficients (nv) with which v accounts best for a difference in torque (n × nv).

    Each state has the same weight, as the velocity terms of large v lose the digits of small differences.
    """
    weight = 1 / np.maximum(1, np.abs(v).max(axis=1, keepdims=True)) ** 2
    return np.asarray(np.sum(weight * difference * v, axis=0) / np.sum(weight * v**2, axis=0))


def transposed_coriolis(sample: ReferenceSample) -> Array:
    """Cᵀ v (n × nv) of a matrix C with dM/dt = C + Cᵀ: the rate of M times v, minus C v."""
    q, v, zero = sample.states.q, sample.states.v, np.zeros_like(sample.states.v)
    largest = np.maximum(1, np.abs(v).max(axis=1, keepdims=True))

    def momentum(step: float) -> Array:
        moved = sample.reference.integrate(q, step / largest * v)
        return sample.reference.torque(moved, zero, v / largest) - sample.reference.torque(moved, zero, zero)

    rate: Array = differences_along(momentum) * largest**2
    return rate - sample.terms.velocity


def centrifugal(sample: ReferenceSample) -> Array:
    """The velocity terms due to each velocity alone (n × nv), those with v_j²."""
    q, v, zero = sample.states.q, sample.states.v, np.zeros_like(sample.states.v)
    alone = [np.where(e_j, v, 0.0) for e_j in np.eye(v.shape[1], dtype=bool)]
    return np.asarray(sum(sample.reference.torque(q, v_j, zero) - sample.terms.gravity for v_j in alone))


def gravity_field(model: pin.Model, states: States, torque: Array, reference: Array) -> Array | None:
    """The field (3, m/s²) that accounts for a torque at rest (n × nv); ``None`` if there is none."""
    in_field, zero = model.copy(), np.zeros(model.nv)
    data = in_field.createData()
    torques = []
    for e in np.eye(3):
        in_field.gravity.linear = e
        torques.append([pin.rnea(in_field, data, q, zero, zero) for q in states.q])
    per_field = np.stack(torques, axis=2)
    field, *_ = np.linalg.lstsq(per_field.reshape(-1, 3), torque.ravel(), rcond=1e-9)
    return np.asarray(field) if accounts_for(per_field @ field, torque, reference) else None


def bodies(difference: Array, sample: ReferenceSample) -> list[str]:
    """Joints whose body's ten inertial parameters alone account for a difference in tau (n × nv)."""
    if sample.reference.model is None or sample.reference.tree.has_mimic:  # Pinocchio has no regressor for these
        return []
    data = sample.reference.model.createData()
    states = zip(sample.states.q, sample.states.v, sample.states.a, strict=True)
    regressors = [pin.computeJointTorqueRegressor(sample.reference.model, data, *state).copy() for state in states]
    by_body = np.array(regressors).reshape(difference.size, -1, 10)
    accounting = []
    for k, name in enumerate(sample.reference.tree.joint_names):
        parameters, *_ = np.linalg.lstsq(by_body[:, k], difference.ravel(), rcond=1e-12)
        left = np.abs(by_body[:, k] @ parameters - difference.ravel()).max()
        if left <= EXPLAINED * np.abs(difference).max():
            accounting.append(name)
    return accounting


def convention_error(torque: Array, sample: ReferenceSample) -> str | None:
    """What was read differently, in words, if it accounts for the torque (n × nv) at all states."""
    for text, expected in _convention_errors(sample):
        if accounts_for(expected, torque, sample.terms.tau):
            return text
    return None


def _convention_errors(sample: ReferenceSample) -> Iterator[tuple[str, Array]]:
    q, v, a = sample.states.q, sample.states.v, sample.states.a
    yield "v and a are exchanged", sample.reference.torque(q, a, v)
    yield from _of_free_flyers(sample)
    for text, other in _configurations(sample):
        yield text, sample.reference.torque(other, v, a)
    yield from _placements(sample)


def _of_free_flyers(sample: ReferenceSample) -> Iterator[tuple[str, Array]]:
    q, v, a = sample.states.q, sample.states.v, sample.states.a
    for joint in sample.reference.tree.independent_joints:
        if not (joint.type.has_quasi_velocities and joint.type.linear == _LINEAR_THEN_ANGULAR):
            continue
        linear, angular = (range(joint.idx_v + k, joint.idx_v + k + 3) for k in (0, 3))
        crossed = np.cross(v[:, angular], v[:, linear])
        for sign, fault in ((-1, "is left out"), (1, "is counted twice")):
            changed = a.copy()
            changed[:, linear] += sign * crossed
            text = f"ω × v of the free-flyer {joint.name!r} {fault}: its classical acceleration is a + ω × v"
            yield text, sample.reference.torque(q, v, changed)


def _configurations(sample: ReferenceSample) -> Iterator[tuple[str, Array]]:
    """Other q at the same v and a."""
    q = sample.states.q

    def changed(own: slice, values: Array) -> Array:
        other = q.copy()
        other[:, own] = values
        return other

    for joint in sample.reference.tree.independent_joints:
        start, stop = joint.type.unit_length or (0, 0)
        if stop - start == 4:
            own = slice(joint.idx_q + start, joint.idx_q + stop)
            x, y, z, w = q[:, own].T
            is_read = f"the quaternion (x, y, z, w) of joint {joint.name!r} is read as"
            yield f"{is_read} (w, x, y, z)", changed(own, np.stack([y, z, w, x], axis=1))
            yield f"{is_read} (y, z, w, x)", changed(own, np.stack([w, x, y, z], axis=1))
            yield f"{is_read} its inverse", changed(own, np.stack([-x, -y, -z, w], axis=1))
        elif joint.type.axis is not None and joint.type.velocity_is_rate:
            own = slice(joint.idx_q, joint.idx_q + 1)
            yield f"q of joint {joint.name!r} has the opposite sign", changed(own, -q[:, own])
            if joint.type.can_rotate:
                yield f"q of joint {joint.name!r} is read in degrees", changed(own, np.deg2rad(q[:, own]))
    joints = sample.reference.tree.independent_joints
    angles = [joint.idx_q for joint in joints if joint.type.is_revolute and joint.type.velocity_is_rate]
    everywhere = q.copy()
    everywhere[:, angles] = np.deg2rad(q[:, angles])
    yield "angles are read in degrees", everywhere


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
