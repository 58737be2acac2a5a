"""A reference that knows no modes: links as fine chains of rigid segments with springs between them, in Pinocchio.

Each link is cut into segments of equal length h, with a spring of stiffness EI/h where two of them meet: the bending
of half a segment on either side. Where a link is clamped, and where a body stands on its tip, the half segment there
has its own spring of twice that stiffness. What is computed then converges with h².
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from gdalembert.flexible.beams.beam import Beam
from gdalembert.spatial.arrays import Array


@dataclass(frozen=True)
class Chain:
    """A lumped chain.

    Attributes:
        model: without gravity; its only frame of the kind ``pin.OP_FRAME`` is ``"tip"``.
        stiffness: of all springs (nv × nv).
        joints: where in v the joints between links are; none if they are locked.
    """

    model: pin.Model
    stiffness: Array
    joints: tuple[int, ...]


def compliance(beam: Beam, at: float, axes: Sequence[int]) -> Array:
    """Curvature per unit of moment about some of the axes x, y, z [1/(N m²)]."""
    names = [("GJ", "EI_y", "EI_z")[k] for k in axes]
    return np.diag([1 / float(beam.along(name, at)[0]) for name in names])


def segment(beam: Beam, start: float, h: float) -> pin.Inertia:
    """The rigid body of a segment, in its root's frame."""
    middle = start + h / 2
    mass = h * float(beam.along("mass_per_length", middle)[0])
    j_y, j_z = (h * float(j[0]) for j in beam.section_inertias(middle))
    across = mass * h**2 / 12
    return pin.Inertia(mass, np.array([h / 2, 0, 0]), np.diag([j_y + j_z, across + j_y, across + j_z]))


def chain(
    beams: Sequence[Beam],
    segments: int,
    *,
    roots: Sequence[pin.SE3] | None = None,
    spatial: bool = False,
    locked: bool = False,
    payload: pin.Inertia | None = None,
) -> Chain:
    """Links one after another, along x, each cut into so many segments.

    Args:
        roots: of each link, in the tip frame of the one before; by default collinear.
        spatial: three springs at each node, and locked joints; else the links bend in y only.
        locked: whether the links are clamped to each other, and the first to the world; else each has a joint about z.
        payload: a body on the last tip, in its frame.
    """
    model, axes = pin.Model(), (0, 1, 2) if spatial else (2,)
    model.gravity.setZero()
    joint = pin.JointModelSpherical() if spatial else pin.JointModelRZ()
    springs: list[Array] = []
    joints: list[int] = []
    parent, placement, half = 0, pin.SE3.Identity(), np.zeros((len(axes), len(axes)))

    def add(body: pin.Inertia, stiffness: Array) -> None:
        nonlocal parent
        parent = model.addJoint(parent, joint, placement, f"node {len(springs)}")
        model.appendBodyToJoint(parent, body, pin.SE3.Identity())
        springs.append(stiffness)

    for beam, root in zip(beams, roots or [pin.SE3.Identity()] * len(beams), strict=True):
        h = beam.length / segments
        turn = root.rotation[np.ix_(axes, axes)]
        between = turn.T @ half @ turn + compliance(beam, 0.0, axes) * h / 2
        placement = placement * root
        for k in range(segments):
            if k == 0 and not locked and not spatial:
                joints.append(len(springs))
                spring = np.zeros((1, 1))
            else:
                spring = np.linalg.inv(between if k == 0 else compliance(beam, k * h, axes) * h)
            add(segment(beam, k * h, h), spring)
            placement = pin.SE3(np.eye(3), np.array([h, 0, 0]))
        half = compliance(beam, beam.length, axes) * h / 2
    if payload is not None:
        add(payload, np.linalg.inv(half))
        placement = pin.SE3.Identity()
    model.addFrame(pin.Frame("tip", parent, 0, placement, pin.OP_FRAME))
    stiffness = np.zeros((model.nv, model.nv))
    for k, spring in enumerate(springs):
        own = slice(k * len(axes), (k + 1) * len(axes))
        stiffness[own, own] = spring
    return Chain(model, stiffness, tuple(joints))


def frequencies(given: Chain) -> Array:
    """Of small vibrations about the undeformed chain, lowest first [rad/s]."""
    m = pin.crba(given.model, given.model.createData(), pin.neutral(given.model))
    half = np.linalg.inv(np.linalg.cholesky(np.triu(m) + np.triu(m, 1).T))
    return np.sqrt(np.maximum(np.linalg.eigvalsh(half @ given.stiffness @ half.T), 0))


def tip_path(given: Chain, q: Array, torque: Callable[[float], Sequence[float]], gravity: Array, times: Array) -> Array:
    """Positions of the tip (len(times), 3) from rest at the joint angles q.

    RK4 with steps of 2 over the highest frequency (it is stable up to 2.8), far below the periods that matter.
    """
    model = given.model.copy()
    model.gravity.linear = gravity
    data, tip, joints = model.createData(), model.getFrameId("tip"), list(given.joints)
    springs, tau = np.diag(given.stiffness), np.zeros(model.nv)
    n = model.nv

    def rate(t: float, x: Array) -> Array:
        np.multiply(springs, -x[:n], out=tau)
        tau[joints] += torque(t)
        return np.concatenate([x[n:], pin.aba(model, data, x[:n], x[n:], tau)])

    x = np.zeros(2 * n)
    x[joints] = q
    highest = frequencies(given)[-1]
    path = []
    for k, t in enumerate(times):
        if k:
            steps = math.ceil((t - times[k - 1]) * highest / 2)
            h = (t - times[k - 1]) / steps
            for i in range(steps):
                x = rk4(rate, times[k - 1] + i * h, x, h)
        pin.framesForwardKinematics(model, data, x[:n])
        path.append(data.oMf[tip].translation.copy())
    return np.array(path)


def rk4(rate: Callable[[Any, Any], Any], t: Any, x: Any, h: float) -> Any:
    """One step of the classical Runge-Kutta method."""
    k1 = rate(t, x)
    k2 = rate(t + h / 2, x + h / 2 * k1)
    k3 = rate(t + h / 2, x + h / 2 * k2)
    k4 = rate(t + h, x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def extrapolated(coarse: Array, fine: Array) -> Array:
    """Richardson's limit of two results that converge with h², the second with segments half as long."""
    return fine + (fine - coarse) / 3
