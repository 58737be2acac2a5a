"""Other readings of the same state or robot: exchanged arguments, orders of quaternions, transposed rotations.

Each reading gives the torque that the reference has if it is read so; a system under test that equals it everywhere is
right but for the reading.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gdalembert.model.tree import Joint
from gdalembert.spatial.arrays import Array
from gdalembert.validation.differences import accounts_for
from gdalembert.validation.references import ReferenceSample
from gdalembert.validation.states import rnea

_LINEAR_THEN_ANGULAR = (True,) * 3 + (False,) * 3


def reading(torque: Array, sample: ReferenceSample) -> str | None:
    """What was read differently, in words, if it accounts for the torque (n × nv) at all states."""
    for text, expected in _readings(sample):
        if accounts_for(expected, torque, sample.terms.tau):
            return text
    return None


def _readings(sample: ReferenceSample) -> Iterator[tuple[str, Array]]:
    q, v, a = sample.states.q, sample.states.v, sample.states.a
    yield "v and a are exchanged", sample.torque(q, a, v)
    yield from _of_free_flyers(sample)
    for text, other in _configurations(sample):
        yield text, sample.torque(other, v, a)
    yield from _placements(sample)


def _of_free_flyers(sample: ReferenceSample) -> Iterator[tuple[str, Array]]:
    q, v, a = sample.states.q, sample.states.v, sample.states.a
    for joint in _own_joints(sample):
        if not (joint.type.has_quasi_velocities and joint.type.linear == _LINEAR_THEN_ANGULAR):
            continue
        linear, angular = (range(joint.idx_v + k, joint.idx_v + k + 3) for k in (0, 3))
        crossed = np.cross(v[:, angular], v[:, linear])
        for sign, fault in ((-1, "is left out"), (1, "is counted twice")):
            changed = a.copy()
            changed[:, linear] += sign * crossed
            text = f"ω × v of the free-flyer {joint.name!r} {fault}: its classical acceleration is a + ω × v"
            yield text, sample.torque(q, v, changed)


def _configurations(sample: ReferenceSample) -> Iterator[tuple[str, Array]]:
    """Other q at the same v and a."""
    q = sample.states.q

    def changed(own: slice, values: Array) -> Array:
        other = q.copy()
        other[:, own] = values
        return other

    for joint in _own_joints(sample):
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
    angles = [k for joint in _own_joints(sample) if joint.type.is_revolute for k in _angle(joint)]
    everywhere = q.copy()
    everywhere[:, angles] = np.deg2rad(q[:, angles])
    yield "angles are read in degrees", everywhere


def _placements(sample: ReferenceSample) -> Iterator[tuple[str, Array]]:
    """Rotations of joint frames that are transposed."""
    if sample.model is None:
        return
    q, v, a = sample.states.q, sample.states.v, sample.states.a
    forces = sample.terms.tau - rnea(sample.model)(q, v, a)
    for k in range(1, sample.model.njoints):
        other = sample.model.copy()
        other.jointPlacements[k].rotation = other.jointPlacements[k].rotation.T.copy()
        text = f"the rotation of the joint frame of {other.names[k]!r} in its parent is transposed"
        yield text, rnea(other)(q, v, a) + forces


def _own_joints(sample: ReferenceSample) -> tuple[Joint, ...]:
    return tuple(sample.tree.independent_joints)


def _angle(joint: Joint) -> range:
    return range(joint.idx_q, joint.idx_q + 1) if joint.type.velocity_is_rate else range(0)
