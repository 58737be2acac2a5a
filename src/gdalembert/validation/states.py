"""States of a model, and Pinocchio's torques at many states at once.

Every second state is random. Those between them are made of random ones by setting parts to what a formula may take for
a special case: rest, the neutral configuration, quarter and half turns, one velocity alone, small angles, velocities
and accelerations 10 and 100 times as large. Once each of these has been drawn, all states are random.
"""

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
"""Of fourth-order differences, in rad or m: truncation and rounding are both about 1e-12."""

_SMALL_ANGLES = (1e-2, 1e-4, 1e-6)
_TURNS = (np.pi, np.pi / 2, -np.pi, -np.pi / 2)


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
    """States, ``size`` at a time; the states do not depend on ``size``.

    q = integrate(neutral, x), v and a: q lies on the configuration manifold and is finite for joints without limits.
    """
    integrate, neutral = integration(model), pin.neutral(model)
    for x, v, a in draws(model.nv, samples, seed, size):
        yield States(integrate(np.broadcast_to(neutral, (len(x), model.nq)), x), v, a)


def draws(nv: int, samples: int, seed: int, size: int) -> Iterator[Array]:
    """x, v and a (3 × n × nv), ``size`` states at a time: normally distributed, every second one with a structure."""
    rng = np.random.default_rng(seed)
    factors, offsets = structures(nv)
    for done in range(0, samples, size):
        drawn = rng.standard_normal((min(size, samples - done), 3, nv))
        own = np.arange(done + 1 - done % 2, min(done + len(drawn), 2 * len(factors)), 2)
        drawn[own - done] = factors[own // 2] * drawn[own - done] + offsets[own // 2]
        yield drawn.transpose(1, 0, 2).copy()


def structures(nv: int) -> tuple[Array, Array]:
    """What random x, v and a are multiplied by, and what is then added to them (k × 3 × nv each), first k states."""
    zero, one = np.zeros(nv), np.ones(nv)
    rest, still, slow = (zero, zero, zero), (one, zero, zero), (one, zero, one)
    scaled = [(zero, one, one), rest, (one, one, zero), slow, still]
    scaled += [(one, k * one, one) for k in (10, 100)] + [(one, one, k * one) for k in (10, 100)]
    scaled += [(small * one, one, one) for small in _SMALL_ANGLES]
    factors = [np.array(each) for each in scaled]
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


def integration(model: pin.Model) -> Callable[[Array, Array], Array]:
    """``pin.integrate`` for n configurations and velocities at once."""
    return lambda q, v: np.array([pin.integrate(model, *pair) for pair in zip(q, v, strict=True)])


def configuration_rates(integrate: Callable[[Array, Array], Array], states: States) -> Array:
    """dq/dt (n × nq) at (q, v) by differences of ``integrate``, accurate to about 1e-11 of the largest |v|."""
    largest = np.maximum(1, np.abs(states.v).max(axis=1, keepdims=True))
    rates: Array = differences_along(lambda step: integrate(states.q, step / largest * states.v)) * largest
    return rates


def differences_along(values: Callable[[float], Array]) -> Array:
    """The derivative of the values by a step from 0."""
    back2, back, on, on2 = (values(k * _STEP) for k in (-2, -1, 1, 2))
    return np.asarray((8 * (on - back) - (on2 - back2)) / (12 * _STEP))


def rnea(model: pin.Model) -> Torque:
    """tau of ``pin.rnea``."""
    data = model.createData()

    def torque(q: Array, v: Array, a: Array) -> Array:
        return np.array([pin.rnea(model, data, *state) for state in zip(q, v, a, strict=True)])

    return torque
