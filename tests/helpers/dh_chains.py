"""Serial chains in standard (distal) Denavit–Hartenberg form, as three of the sources have them, and as ``pin.Model``.

Frame i is fixed in link i, z_{i−1} is the axis of joint i, ^{i−1}A_i = Rot_z(θ) Trans_z(d) Trans_x(a) Rot_x(α), and q_i
is added to θ of a rotary joint, to d of a prismatic one. A link's centre of mass and inertia are given in its frame i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from tests.helpers.models import relative_error

Array = np.ndarray
Rng = np.random.Generator

FORMULATIONS = sorted(gd.formulations())
ROUNDING = 1e-12
"""Relative error of formulas that are right."""
WRONG = 1e-3
"""Relative error that a formula in need of an erratum exceeds."""


def skew(x: Array) -> Array:
    """[x×]."""
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def dh_matrix(theta: complex, d: complex, a: float, alpha: float) -> Array:
    """^{i−1}A_i, 4 × 4."""
    c, s, ca_, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -ca_ * s, sa * s, a * c], [s, ca_ * c, -sa * c, a * s], [0, sa, ca_, d], [0, 0, 0, 1]])


@dataclass(frozen=True)
class Chain:
    """A chain of n links: one row for each link in every array."""

    rotary: tuple[bool, ...]
    theta: Array
    d: Array
    a: Array
    alpha: Array
    mass: Array
    com: Array  # n × 3, from the origin of frame i, in its axes
    inertia: Array  # n × 3 × 3, about the centre of mass, in the axes of frame i
    armature: Array
    gravity: Array

    @property
    def n(self) -> int:
        return len(self.rotary)

    def matrices(self, q: Array) -> list[Array]:
        """^0A_1 … ^{n−1}A_n."""
        return [
            dh_matrix(theta + q_i * rotary, d + q_i * (not rotary), a, alpha)
            for rotary, theta, d, a, alpha, q_i in zip(
                self.rotary, self.theta, self.d, self.a, self.alpha, q, strict=True
            )
        ]

    def placements(self, q: Array) -> list[Array]:
        """^0A_0 … ^0A_n; complex q gives the derivatives of the entries exactly (complex step)."""
        placed = [np.eye(4)]
        for matrix in self.matrices(q):
            placed.append(placed[-1] @ matrix)
        return placed

    def tail(self, i: int) -> pin.SE3:
        """From Pinocchio's moved joint frame i (1-based) to frame i: what of ^{i−1}A_i is constant."""
        k = i - 1
        matrix = dh_matrix(self.theta[k], self.d[k], self.a[k], self.alpha[k])
        return pin.SE3(matrix[:3, :3], matrix[:3, 3])

    def model(self) -> pin.Model:
        """The same chain for Pinocchio, whose frames sit at the joints."""
        model = pin.Model()
        placement = pin.SE3.Identity()
        for i, rotary in enumerate(self.rotary, start=1):
            joint = model.addJoint(i - 1, pin.JointModelRZ() if rotary else pin.JointModelPZ(), placement, f"joint{i}")
            placement = self.tail(i)
            body = pin.Inertia(self.mass[i - 1], self.com[i - 1], self.inertia[i - 1])
            model.appendBodyToJoint(joint, placement.act(body), pin.SE3.Identity())
        model.armature = self.armature
        model.gravity.linear = self.gravity
        return model

    def with_parts(self, mass: float = 1.0, inertia: float = 1.0) -> Chain:
        """The same chain with masses and rotational inertias scaled; 0 takes them away."""
        return replace(self, mass=mass * self.mass, inertia=inertia * self.inertia)


def random_chain(rng: Rng, rotary: Sequence[bool], **given: object) -> Chain:
    """A chain with nothing special about it, apart from what is given."""
    n = len(rotary)
    parts: dict[str, object] = {
        "theta": rng.uniform(-np.pi, np.pi, n),
        "d": rng.uniform(-0.5, 0.5, n),
        "a": rng.uniform(-0.5, 0.5, n),
        "alpha": rng.uniform(-np.pi, np.pi, n),
        "mass": rng.uniform(0.5, 3, n),
        "com": rng.uniform(-0.3, 0.3, (n, 3)),
        "inertia": np.array([random_inertia(rng) for _ in rotary]),
        "armature": rng.uniform(0, 0.5, n),
        "gravity": rng.uniform(-10, 10, 3),
    }
    return Chain(rotary=tuple(bool(r) for r in rotary), **(parts | given))


def random_rotary_and_prismatic(rng: Rng, n: int) -> Chain:
    return random_chain(rng, rng.random(n) < 0.6)


def random_inertia(rng: Rng) -> Array:
    """A full inertia tensor that a body can have (∫ x xᵀ dm is positive)."""
    x = rng.normal(size=(3, 3)) * 0.3
    second = x @ x.T
    return np.trace(second) * np.eye(3) - second


def random_state(rng: Rng, n: int) -> tuple[Array, Array, Array]:
    """q, v, a."""
    return rng.uniform(-np.pi, np.pi, n), rng.uniform(-2, 2, n), rng.uniform(-2, 2, n)


def evaluate(function: ca.Function, *arguments: Array) -> dict[str, Array]:
    """The outputs of a ``casadi.Function`` as 2-D arrays, by name."""
    outputs = function.call([ca.DM(np.asarray(x, dtype=float)) for x in arguments])
    return dict(zip(function.name_out(), (out.full() for out in outputs), strict=True))


def value(function: ca.Function, *arguments: Array) -> Array:
    """The single output."""
    (only,) = evaluate(function, *arguments).values()
    return only


def error(value: Array, reference: Array) -> float:
    """Relative error; columns may be compared with vectors."""
    reference = np.asarray(reference)
    return relative_error(np.reshape(value, reference.shape), reference)


def check(value: Array, reference: Array, what: object = "") -> None:
    """Assert that two results are the same to rounding."""
    assert error(value, reference) < ROUNDING, what


def check_erratum(printed: Array, corrected: Array, reference: Array) -> None:
    """Assert that the corrected formula agrees to rounding, and that the printed one is far from it."""
    check(corrected, reference, "the corrected formula is wrong")
    off = error(printed, reference)
    assert off > WRONG, f"the formula as printed is off by {off:.1e} only: no erratum"
