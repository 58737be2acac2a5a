"""States of a model, Pinocchio's torques at many states at once, and the terms that any torque consists of.

Every second state is random. Those between them are made of random ones by setting parts to what a formula may take for
a special case: rest, the neutral configuration, quarter and half turns, one velocity alone, small angles, velocities
and accelerations 10 and 100 times as large. Once each of these has been drawn, all states are random.

Every inverse dynamics, whoever wrote it, can be taken apart from outside: tau at rest is g, tau at a = 0 is h + g, and
unit accelerations at rest give the columns of M.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.spatial.arrays import Array
from gdalembert.spatial.brief import Brief

Mask = npt.NDArray[np.bool_]

Torque = Callable[[Array, Array, Array], Array]
"""tau (n × nv) of q (n × nq), v, a (n × nv): n states at once."""

_STEP = 5e-4
"""Step of fourth-order differences, in rad or m: truncation and rounding are both about 1e-12."""

_SMALL_ANGLES = (1e-2, 1e-4, 1e-6)
_TURNS = (np.pi, np.pi / 2, -np.pi, -np.pi / 2)


@dataclass(frozen=True, eq=False)
class States(Brief):
    """A set of n states: q (n × nq), v, a (n × nv)."""

    q: Array
    v: Array
    a: Array

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, which: slice | Mask) -> States:
        """Some of the states."""
        return States(self.q[which], self.v[which], self.a[which])

    def join(self, other: States) -> States:
        """Both sets of states, one after the other."""
        return States(*(np.vstack(pair) for pair in ((self.q, other.q), (self.v, other.v), (self.a, other.a))))


def draws(nv: int, samples: int, seed: int, size: int) -> Iterator[Array]:
    """Random x, v and a (3 × n × nv), ``size`` states at a time; every second one has a structure."""
    rng = np.random.default_rng(seed)
    factors, offsets = structures(nv)
    for done in range(0, samples, size):
        # State by state, so that a state does not depend on how many are drawn at a time.
        drawn = rng.standard_normal((min(size, samples - done), 3, nv))
        structured = np.arange(done + 1 - done % 2, min(done + len(drawn), 2 * len(factors)), 2)
        drawn[structured - done] = factors[structured // 2] * drawn[structured - done] + offsets[structured // 2]
        yield drawn.transpose(1, 0, 2).copy()


def structures(nv: int) -> tuple[Array, Array]:
    """Factors of random x, v and a, and offsets that are then added (k × 3 × nv each), of the first k states."""
    zero, one = np.zeros(nv), np.ones(nv)
    rest, still, slow = (zero, zero, zero), (one, zero, zero), (one, zero, one)
    scaled = [(zero, one, one), rest, (one, one, zero), slow, still]
    scaled += [(one, k * one, one) for k in (10, 100)] + [(one, one, k * one) for k in (10, 100)]
    scaled += [(small * one, one, one) for small in _SMALL_ANGLES]
    factors = [np.array(scales) for scales in scaled]
    offsets = [np.zeros((3, nv)) for _ in scaled]

    def add(factor: tuple[Array, Array, Array], x: Array) -> None:
        factors.append(np.array(factor))
        offsets.append(np.array([x, zero, zero]))

    for turn in _TURNS[:2]:
        add((zero, one, one), turn * one)
    alone = np.eye(nv)
    for e in alone:  # one coordinate at a half turn, or next to zero; one velocity
        add((one - e, one, one), _TURNS[0] * e)
        add((one - (1 - _SMALL_ANGLES[1]) * e, one, one), zero)
        add((one, e, one), zero)
    for turn in _TURNS[1:]:
        for e in alone:
            add((one - e, one, one), turn * e)
    return np.array(factors), np.array(offsets)


def differences_along(values: Callable[[float], Array]) -> Array:
    """The derivative of the values by a step from 0."""
    # differences of second order have errors of 2e-11 at their best step, for tau of Panda, and these 1e-13
    back2, back, on, on2 = (values(k * _STEP) for k in (-2, -1, 1, 2))
    return np.asarray((8 * (on - back) - (on2 - back2)) / (12 * _STEP))


def rnea(model: pin.Model) -> Torque:
    """The torque function of ``pin.rnea``."""
    data = model.createData()

    def torque(q: Array, v: Array, a: Array) -> Array:
        return np.array([pin.rnea(model, data, *state) for state in zip(q, v, a, strict=True)])

    return torque


@dataclass(frozen=True, eq=False)
class TorqueTerms(Brief):
    """The torque and its terms at n states: tau, velocity (h = C v), gravity n × nv; mass_matrix n × nv × nv."""

    tau: Array
    mass_matrix: Array
    velocity: Array
    gravity: Array

    @property
    def nle(self) -> Array:
        """The sum h + g, n × nv."""
        return self.velocity + self.gravity

    def sum(self, a: Array) -> Array:
        """The sum M a + h + g, n × nv, which tau should equal."""
        return times(self.mass_matrix, a) + self.nle

    def plus(self, springs: Array, dampers: Array) -> TorqueTerms:
        """Sum with torques (n × nv each) that act at rest, which count as gravity, and with those due to v."""
        tau = self.tau + springs + dampers
        return TorqueTerms(tau, self.mass_matrix, self.velocity + dampers, self.gravity + springs)


class TermSizes(NamedTuple):
    """The sizes (n) of what adds up to g, to dM/dt, to h = C v, and to M a.

    The sums may be much smaller: a body that turns about a fixed axis has no h, but forces as large as M v².
    """

    gravity: Array
    rate: Array
    velocity: Array
    inertial: Array

    @property
    def motion(self) -> Array:
        """Size of M a + h."""
        return np.maximum(self.inertial, self.velocity)

    @property
    def nle(self) -> Array:
        """Size of h + g."""
        return np.maximum(self.velocity, self.gravity)

    @property
    def tau(self) -> Array:
        """Size of M a + h + g."""
        return np.maximum(self.motion, self.gravity)


def decompose(torque: Torque, states: States) -> TorqueTerms:
    """The terms g = f(q, 0, 0), h = f(q, v, 0) − g, columns of M = f(q, 0, e_j) − g."""
    q, v, a = states.q, states.v, states.a
    zero = np.zeros_like(v)
    gravity = torque(q, zero, zero)
    unit = np.eye(v.shape[1])
    columns = [torque(q, zero, np.broadcast_to(e_j, v.shape)) - gravity for e_j in unit]
    return TorqueTerms(torque(q, v, a), np.stack(columns, axis=2), torque(q, v, zero) - gravity, gravity)


def times(matrix: Array, vector: Array) -> Array:
    """Matrix (n × k × k) times vector (n × k) at each state."""
    return np.asarray(np.einsum("nij,nj->ni", matrix, vector))


def largest(values: Array) -> Array:
    """The largest magnitude at each state (n)."""
    return np.asarray(np.abs(values).reshape(len(values), -1).max(axis=1))


def eigenvalues(matrices: Array) -> tuple[Array, Array]:
    """The smallest, and the largest in magnitude, of each symmetric matrix (n × k × k); NaN if it is not finite."""
    finite = np.isfinite(matrices).all(axis=(1, 2))
    values = np.full(matrices.shape[:2], np.nan)
    values[finite] = np.linalg.eigvalsh(matrices[finite])
    return values[:, 0], np.maximum(largest(values), 1e-300)
