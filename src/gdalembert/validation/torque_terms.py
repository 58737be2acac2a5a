"""The terms of tau = M(q) a + h(q, v) + g(q), from tau alone.

Every inverse dynamics, whoever wrote it, can be taken apart from outside: tau at rest is g, tau at a = 0 is h + g, and
unit accelerations at rest give the columns of M.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gdalembert.spatial.arrays import Array
from gdalembert.validation.states import States, Torque


@dataclass(frozen=True, eq=False)
class TorqueTerms:
    """tau and its terms at n states: tau, velocity (h = C v), gravity n × nv; mass_matrix n × nv × nv."""

    tau: Array
    mass_matrix: Array
    velocity: Array
    gravity: Array

    @property
    def nle(self) -> Array:
        """h + g, n × nv."""
        return self.velocity + self.gravity

    def sum(self, a: Array) -> Array:
        """M a + h + g, n × nv, which tau should equal."""
        return times(self.mass_matrix, a) + self.nle

    def sizes(self, states: States, gravity: Array) -> Sizes:
        """How large is what adds up to the torques, with the acceleration of gravity (3)."""
        mass = np.abs(self.mass_matrix).max(axis=(1, 2))
        v, a = (np.abs(rates).max(axis=1) for rates in (states.v, states.a))
        return Sizes(mass * np.abs(gravity).max(), mass * v, mass * v**2, mass * a)

    def plus(self, springs: Array, dampers: Array) -> TorqueTerms:
        """With torques (n × nv each) that act at rest, which count as gravity, and with those due to v."""
        return replace(
            self,
            tau=self.tau + springs + dampers,
            velocity=self.velocity + dampers,
            gravity=self.gravity + springs,
        )


class Sizes(NamedTuple):
    """Sizes (n) of what adds up to g, to dM/dt, to h = C v, and to M a.

    The sums may be much smaller: a body that turns about a fixed axis has no h, but forces as large as M v².
    """

    gravity: Array
    rate: Array
    velocity: Array
    inertial: Array

    @property
    def motion(self) -> Array:
        """Of M a + h."""
        return np.maximum(self.inertial, self.velocity)

    @property
    def nle(self) -> Array:
        """Of h + g."""
        return np.maximum(self.velocity, self.gravity)

    @property
    def tau(self) -> Array:
        """Of M a + h + g."""
        return np.maximum(self.motion, self.gravity)


def decompose(torque: Torque, states: States) -> TorqueTerms:
    """g = f(q, 0, 0), h = f(q, v, 0) − g, columns of M = f(q, 0, e_j) − g."""
    q, v, a = states.q, states.v, states.a
    zero = np.zeros_like(v)
    gravity = torque(q, zero, zero)
    unit = np.eye(v.shape[1])
    columns = [torque(q, zero, np.broadcast_to(e_j, v.shape)) - gravity for e_j in unit]
    return TorqueTerms(torque(q, v, a), np.stack(columns, axis=2), torque(q, v, zero) - gravity, gravity)


def times(matrix: Array, vector: Array) -> Array:
    """Matrix (n × k × k) times vector (n × k) at each state."""
    return np.asarray(np.einsum("nij,nj->ni", matrix, vector))
