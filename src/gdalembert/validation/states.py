"""Random states of a model, and Pinocchio's torques at many states at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from gdalembert.spatial.arrays import Array

Mask = npt.NDArray[np.bool_]

Torque = Callable[[Array, Array, Array], Array]
"""tau (n × nv) of q (n × nq), v, a (n × nv): n states at once."""

_STEP = 5e-4
"""Of fourth-order differences: truncation and rounding are both about 1e-12."""


@dataclass(frozen=True, eq=False)
class States:
    """n states: q (n × nq), v, a (n × nv)."""

    q: Array
    v: Array
    a: Array

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, which: slice | Mask) -> States:
        """Some of them."""
        return States(self.q[which], self.v[which], self.a[which])

    def join(self, other: States) -> States:
        """These, then those."""
        return States(*(np.vstack(pair) for pair in ((self.q, other.q), (self.v, other.v), (self.a, other.a))))


def batches(model: pin.Model, samples: int, seed: int, size: int) -> Iterator[States]:
    """Random states, ``size`` at a time; the states do not depend on ``size``.

    q = integrate(neutral, x), v and a, with x, v, a normally distributed: q lies on the configuration manifold and is
    finite for joints without limits.
    """
    integrate, neutral = integration(model), pin.neutral(model)
    for x, v, a in draws(model.nv, samples, seed, size):
        yield States(integrate(np.broadcast_to(neutral, (len(x), model.nq)), x), v, a)


def draws(nv: int, samples: int, seed: int, size: int) -> Iterator[Array]:
    """Normally distributed x, v and a (3 × n × nv), ``size`` states at a time."""
    rng = np.random.default_rng(seed)
    for done in range(0, samples, size):
        yield rng.standard_normal((min(size, samples - done), 3, nv)).transpose(1, 0, 2).copy()


def integration(model: pin.Model) -> Callable[[Array, Array], Array]:
    """``pin.integrate`` for n configurations and velocities at once."""
    return lambda q, v: np.array([pin.integrate(model, *pair) for pair in zip(q, v, strict=True)])


def configuration_rates(integrate: Callable[[Array, Array], Array], states: States) -> Array:
    """dq/dt (n × nq) at (q, v) by differences of ``integrate``, accurate to about 1e-11."""
    back2, back, on, on2 = (integrate(states.q, k * _STEP * states.v) for k in (-2, -1, 1, 2))
    return np.asarray((8 * (on - back) - (on2 - back2)) / (12 * _STEP))


def rnea(model: pin.Model) -> Torque:
    """tau of ``pin.rnea``."""
    data = model.createData()

    def torque(q: Array, v: Array, a: Array) -> Array:
        return np.array([pin.rnea(model, data, *state) for state in zip(q, v, a, strict=True)])

    return torque
